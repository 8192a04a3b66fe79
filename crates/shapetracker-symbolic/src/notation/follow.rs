//! Chains done: each operation on the tracker that there is then.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use indexpr::text::{Place, quoted};
use shapetracker::MAX_RANK;

use super::chain::{Chain, ChainStart, Entry, Op};
use crate::error::{Error, Fault};
use crate::literal::Literal;
use crate::operation::Movement;
use crate::poly::{MOST_STEPS, Poly, within};
use crate::scope::Scope;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// Why a chain that can be read cannot be done: the operation, its place in the text, and the reason.
///
/// `Display` writes the text with carets under the operation, then the reason.
///
/// ```
/// use std::sync::Arc;
/// use shapetracker_symbolic::Question;
///
/// let mut question = Question::default();
/// let chain = question.chain("(B, T).permute(1, 2)")?;
/// let err = chain.tracker(&Arc::new(question.scope()?)).unwrap_err();
/// assert_eq!(err.op(), Some(0));
/// assert_eq!(
///     err.to_string(),
///     "  (B, T).permute(1, 2)\n\
///      \u{20}        ^^^^^^^^^^^^^\n\
///      permute: axis 2 does not exist: the tensor has 2 axes",
/// );
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError {
    place: Place,
    op: Option<usize>,
    cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    /// The chain starts with an operation, or with an array of this name, and no base shape is known.
    NoBase(Option<Box<str>>),
    /// The start of the chain cannot be, or an operation cannot be done.
    Error(Error),
    /// There are so many views where one is asked for.
    Views(usize),
}

impl ChainError {
    /// The place of the operation (or of the start) in the text, which shows itself with carets.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let chain = question.chain("(B, T).flip(2)")?;
    /// let err = chain.tracker(&Arc::new(question.scope()?)).unwrap_err();
    /// assert_eq!(err.place().span(), 7..14);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Which operation could not be done, counted from 0; `None` when it is the start of the chain.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let chain = question.chain("(B, T).flip(2)")?;
    /// let err = chain.tracker(&Arc::new(question.scope()?)).unwrap_err();
    /// assert_eq!(err.op(), Some(0));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn op(&self) -> Option<usize> {
        self.op
    }

    /// Its name in JSON: that of the kind of the error, `base` where a base shape is missing, or `views` where there are
    /// several and one is asked for.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let chain = question.chain("(B, T).flip(2)")?;
    /// let err = chain.tracker(&Arc::new(question.scope()?)).unwrap_err();
    /// assert_eq!(err.name(), "axis_out_of_range");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn name(&self) -> &'static str {
        match &self.cause {
            Cause::NoBase(_) => "base",
            Cause::Error(err) => err.kind().name(),
            Cause::Views(_) => "views",
        }
    }

    /// The reason, without the text and the carets.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let chain = question.chain("(B, T).flip(2)")?;
    /// let err = chain.tracker(&Arc::new(question.scope()?)).unwrap_err();
    /// assert_eq!(err.message(), "flip: axis 2 does not exist: the tensor has 2 axes");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn message(&self) -> String {
        match &self.cause {
            Cause::NoBase(Some(name)) => format!(
                "the shape of the array {} is not known: write it in place of the name, as in `(2, T).permute(1, 0)`",
                quoted(name)
            ),
            Cause::NoBase(None) => {
                "the chain starts with an operation, so that a base shape is missing: write it in front, as \
                              in `(2, T).permute(1, 0)`"
                    .into()
            }
            Cause::Error(err) => err.to_string(),
            Cause::Views(views) => format!("the chain is {views} views, but one is merged with another"),
        }
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.place, self.message())
    }
}

impl std::error::Error for ChainError {}

impl Chain {
    /// The tracker after all operations, over the names of the question's [scope](crate::Question::scope).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::new(["s + L <= N"])?;
    /// let chain = question.chain("(N, D)[s:s+L].T")?;
    /// let tracker = chain.tracker(&Arc::new(question.scope()?)).unwrap();
    /// assert_eq!(tracker.to_string(), "(D, L):(1, D) offset D*s");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// No base shape, views that do not fit each other, an operation that cannot be done for any values.
    pub fn tracker(&self, scope: &Arc<Scope>) -> Result<ShapeTracker, ChainError> {
        self.follow(scope, |_, _| ())
    }

    /// The one view that all operations come to, and what it needs.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let chain = question.chain("(N, D).shrink((s, s + L), (0, D))")?;
    /// let scope = Arc::new(question.scope()?);
    /// let (view, needs) = chain.view(&scope).unwrap();
    /// assert_eq!(view.text(&scope), "(L, D):(D, 1) offset D*s");
    /// assert_eq!(needs[0].text(&scope), "N >= s + L");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker`], and several views.
    pub fn view(&self, scope: &Arc<Scope>) -> Result<(View, Vec<Literal>), ChainError> {
        let tracker = self.tracker(scope)?;
        match tracker.as_view() {
            Some(view) => Ok((view.clone(), tracker.needs().to_vec())),
            None => {
                let place = Place::new(self.text(), 0..self.text().len());
                Err(ChainError { place, op: None, cause: Cause::Views(tracker.views().len()) })
            }
        }
    }

    /// A mistake that the whole chain is about.
    pub(crate) fn error(&self, err: Error) -> ChainError {
        ChainError { place: Place::new(self.text(), 0..self.text().len()), op: None, cause: Cause::Error(err) }
    }

    /// Does the operations one after the other. `each` is shown the tracker before any operation, and then the tracker after
    /// each and what was done, as text.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let (chain, mut shown) = (question.chain("(B, T).flatten()")?, Vec::new());
    /// chain.follow(&Arc::new(question.scope()?), |tracker, op| shown.push((op.to_owned(), tracker.rank()))).unwrap();
    /// assert_eq!(shown, [(String::new(), 2), ("reshape(B*T)".to_owned(), 1)]);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker`]; by then `each` has been shown what could be done.
    pub fn follow(
        &self,
        scope: &Arc<Scope>,
        each: impl FnMut(&ShapeTracker, &str),
    ) -> Result<ShapeTracker, ChainError> {
        // All operations together, so that a chain of many takes no longer than a question.
        within(MOST_STEPS, || self.follow_within(scope, each))
    }

    fn follow_within(
        &self,
        scope: &Arc<Scope>,
        mut each: impl FnMut(&ShapeTracker, &str),
    ) -> Result<ShapeTracker, ChainError> {
        let error_at = |span: Range<usize>, op, cause| ChainError { place: Place::new(self.text(), span), op, cause };
        let start = match self.start() {
            ChainStart::Nothing => {
                let name = self.text().get(self.start_span()).filter(|name| !name.is_empty()).map(Box::from);
                return Err(error_at(self.start_span(), None, Cause::NoBase(name)));
            }
            ChainStart::Shape(shape) => ShapeTracker::in_scope(scope.clone(), shape.clone()),
            ChainStart::Views(views) => ShapeTracker::from_views(scope.clone(), views.clone()),
        };
        let mut tracker = start.map_err(|err| error_at(self.start_span(), None, Cause::Error(err)))?;
        each(&tracker, "");
        for (number, (op, span)) in self.ops.iter().enumerate() {
            tracker = op
                .perform(tracker, &mut each)
                .map_err(|err| error_at(span.clone(), Some(number), Cause::Error(err)))?;
        }
        Ok(tracker)
    }
}

impl Op {
    /// Does the operation, whatever it means to the shape that there is.
    fn perform(
        &self,
        tracker: ShapeTracker,
        each: &mut impl FnMut(&ShapeTracker, &str),
    ) -> Result<ShapeTracker, Error> {
        let mut apply = |tracker: &ShapeTracker, movement: &Movement| {
            let after = tracker.apply(movement)?;
            each(&after, &movement.text(after.scope()));
            Ok(after)
        };
        let rank = tracker.rank();
        let movement = match self {
            Op::Movement(movement) => return apply(&tracker, movement),
            Op::Subscript(entries) => return subscript(tracker, entries, apply),
            Op::Reversed(most) if rank > *most => {
                return Err(Fault::Foreign("`t` is for at most two axes".into()).of("t"));
            }
            Op::Reversed(_) => Movement::Permute((0..rank as i64).rev().collect()),
            Op::Flatten(first, last) => {
                // A scalar has an axis here.
                let axis = |axis| resolved("flatten", axis, rank.max(1));
                let (first, last) = (axis(*first)?, axis(*last)?);
                if first > last {
                    return Err(Fault::Foreign("the first axis comes after the last".into()).of("flatten"));
                }
                let shape = tracker.shape();
                let joined = shape.get(first..=last).unwrap_or_default();
                let size = joined.iter().try_fold(Poly::one(), |product, size| product.mul(size));
                let size = size.map_err(|err| Fault::TooLarge(err).of("flatten"))?;
                let mut sizes = shape.get(..first).unwrap_or_default().to_vec();
                sizes.push(size);
                sizes.extend_from_slice(shape.get(last + 1..).unwrap_or_default());
                Movement::Reshape(sizes)
            }
            Op::MoveAxis(from, to) => {
                let (from, to) = (resolved("moveaxis", *from, rank)?, resolved("moveaxis", *to, rank)?);
                let mut order: Vec<i64> = (0..rank as i64).filter(|axis| *axis != from as i64).collect();
                order.insert(to, from as i64);
                Movement::Permute(order)
            }
            Op::ExpandInFront(sizes) => match sizes.len().checked_sub(rank) {
                // New axes come in front.
                Some(new @ 1..) => {
                    let mut sizes = sizes.clone();
                    for (size, stays) in sizes[new..].iter_mut().zip(tracker.shape()) {
                        if size.number() == Some(-1) {
                            *size = stays.clone();
                        }
                    }
                    Movement::BroadcastTo(sizes)
                }
                _ => Movement::Expand(sizes.clone()),
            },
        };
        apply(&tracker, &movement)
    }
}

/// What a subscript does: a slice, then the one element of each axis that has an index, then axes that come or go.
fn subscript(
    tracker: ShapeTracker,
    entries: &[(Entry, Range<usize>)],
    mut apply: impl FnMut(&ShapeTracker, &Movement) -> Result<ShapeTracker, Error>,
) -> Result<ShapeTracker, Error> {
    const OP: &str = "index";
    let rank = tracker.rank();
    let is_about_an_axis = |entry: &Entry| matches!(entry, Entry::Slice(_) | Entry::Index(_));
    let given = entries.iter().filter(|(entry, _)| is_about_an_axis(entry)).count();
    if given > rank {
        let message = format!("there are {given} indices and slices, but the tensor has {rank} axes");
        return Err(Fault::Foreign(message).of(OP));
    }
    // What is taken of each axis; and of the axes that there are then, which one it was, or nothing for a new one.
    let (mut slices, mut picked, mut axes) = (Vec::new(), Vec::new(), Vec::new());
    let everything = || (None, None, 1);
    let has_dots = entries.iter().any(|(entry, _)| *entry == Entry::Ellipsis);
    let dots = (!has_dots).then_some(&Entry::Ellipsis);
    for entry in entries.iter().map(|(entry, _)| entry).chain(dots) {
        let axis = slices.len();
        match entry {
            Entry::NewAxis => axes.push(None),
            // The axes that no entry is about stand where the ellipsis is, or at the end.
            Entry::Ellipsis => {
                for axis in axis..axis + (rank - given) {
                    slices.push(everything());
                    axes.push(Some(axis));
                }
            }
            Entry::Slice(slice) => {
                slices.push(slice.clone());
                axes.push(Some(axis));
            }
            Entry::Index(index) => {
                // A number less than 0 counts from the end.
                let from_front = match index.number() {
                    Some(..0) => index.add(&tracker.shape()[axis]),
                    _ => Ok(index.clone()),
                };
                slices.push(everything());
                picked.push((axis, from_front.map_err(|err| Fault::TooLarge(err).of(OP))?));
            }
        }
    }
    if axes.len() > MAX_RANK {
        return Err(Fault::TooManyAxes { given: axes.len() }.of(OP));
    }
    let mut tracker = tracker;
    if slices.iter().any(|slice| *slice != everything()) {
        tracker = apply(&tracker, &Movement::Slice(slices))?;
    }
    if !picked.is_empty() {
        let mut ranges: Vec<(Poly, Poly)> = tracker.shape().iter().map(|size| (Poly::zero(), size.clone())).collect();
        for (axis, index) in picked {
            let next = index.plus_number(1).map_err(|err| Fault::TooLarge(err).of(OP))?;
            ranges[axis] = (index, next);
        }
        tracker = apply(&tracker, &Movement::Shrink(ranges))?;
    }
    let to: Vec<Poly> =
        axes.into_iter().map(|axis| axis.map_or_else(Poly::one, |axis| tracker.shape()[axis].clone())).collect();
    if to != tracker.shape() {
        tracker = apply(&tracker, &Movement::Reshape(to))?;
    }
    Ok(tracker)
}

/// An axis that may count from the last one.
fn resolved(op: &'static str, axis: i64, rank: usize) -> Result<usize, Error> {
    let from_front = if axis < 0 { axis.checked_add(rank as i64) } else { Some(axis) };
    let found = from_front.and_then(|axis| usize::try_from(axis).ok()).filter(|&axis| axis < rank);
    found.ok_or_else(|| Fault::AxisOutOfRange { axis, rank }.of(op))
}
