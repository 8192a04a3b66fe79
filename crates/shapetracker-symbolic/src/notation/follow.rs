//! Chains done: each operation on the tracker that there is then.

use std::fmt;
use std::sync::Arc;

use shapetracker_base::text::{Place, quoted, tuple};

use super::chain::{Chain, ChainStart};
use crate::error::Error;
use crate::literal::Literal;
use crate::operation::Movement;
use crate::poly::{MOST_STEPS, Poly, within};
use crate::scope::Scope;
use crate::stored::{Copies, Stored};
use crate::tracker::ShapeTracker;
use crate::view::View;
use shapetracker::BufferOf;

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
    /// The chain starts from a shape that is not that of the base: both, as texts.
    OtherBase(Box<[String; 2]>),
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
            Cause::NoBase(_) | Cause::OtherBase(_) => "base",
            Cause::Error(err) => err.kind().name(),
            Cause::Views(_) => "views",
        }
    }

    /// The error of the operation, or of the start of the chain, where it is one of the tracker's.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let chain = question.chain("(B, T).flip(2)")?;
    /// let err = chain.tracker(&Arc::new(question.scope()?)).unwrap_err();
    /// assert_eq!(err.error().unwrap().operation(), "flip");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn error(&self) -> Option<&Error> {
        match &self.cause {
            Cause::Error(err) => Some(err),
            _ => None,
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
            Cause::OtherBase(shapes) => {
                let [chain, base] = &**shapes;
                format!("the chain starts from shape {chain}, but the base has shape {base}")
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
        within(MOST_STEPS, || {
            let start = self.begin(scope)?;
            (0..self.len()).try_fold(start, |tracker, number| self.step(&tracker, number))
        })
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

    /// Does the operations one after the other. `each` is shown the tensor before any operation, and then the tensor after each,
    /// with the operation and what it copies in the newest buffer; the answer is the last tensor.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let (chain, mut shown) = (question.chain("(B, T).T.contiguous().flatten()")?, Vec::new());
    /// let last = chain.follow(&Arc::new(question.scope()?), |tensor, done| {
    ///     let scope = tensor.over_newest().scope();
    ///     shown.extend(done.map(|(op, copies)| (scope.movement(op), copies.text(scope))));
    /// });
    /// assert_eq!(shown[1], ("contiguous()".into(), Some("copies B*T elements unless B == 1 or T == 1".into())));
    /// assert_eq!(last.unwrap().over_newest().to_string(), "(B*T,):(1,)"); // one view of the copy
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker`]; by then `each` has been shown what could be done.
    pub fn follow(
        &self,
        scope: &Arc<Scope>,
        mut each: impl FnMut(&Stored, Option<(&Movement, Copies)>),
    ) -> Result<Stored, ChainError> {
        // All operations together, so that a chain of many takes no longer than a question.
        within(MOST_STEPS, || {
            let mut tensor = Stored::from(self.begin(scope)?);
            each(&tensor, None);
            for (number, op) in self.ops().iter().enumerate() {
                let copies = tensor.over_newest().copies(op);
                let newest = self.step(tensor.over_newest(), number)?;
                let after = tensor.after(newest, copies.elements().cloned());
                tensor = after.map_err(|err| self.error_in(number, err))?;
                each(&tensor, Some((op, copies)));
            }
            Ok(tensor)
        })
    }

    /// The buffer that the newest elements are in, in words, in which code stands between backticks; `None` for the base,
    /// unless its addresses count elements of another type than that of the array that the chain begins with.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let chain = question.chain("(B, T).copy()")?;
    /// let last = chain.follow(&Arc::new(question.scope()?), |_, _| ()).unwrap();
    /// assert_eq!(chain.copy_in_words(&last).unwrap(), "the buffer of B*T that `.copy()` makes");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn copy_in_words(&self, tensor: &Stored) -> Option<String> {
        let scope = tensor.over_newest().scope();
        match (tensor.buffer(), self.read().unit(), self.start()) {
            (BufferOf::Copy { op, elements }, ..) => {
                let elements = scope.text(&elements);
                Some(format!("the buffer of {elements} that `{}` makes", self.written_call(op)))
            }
            // A start of which the type is read anew has one axis.
            (_, Some(unit), ChainStart::Shape(shape)) => {
                shape.first().map(|len| format!("the buffer read as {} of {unit}", scope.text(len)))
            }
            _ => None,
        }
    }

    /// The tracker before any operation.
    /// The trackers before any operation and after each, over what the chain starts with: copies change none.
    pub(crate) fn trackers(&self, scope: &Arc<Scope>) -> Result<Vec<ShapeTracker>, ChainError> {
        within(MOST_STEPS, || {
            let mut trackers = vec![self.begin(scope)?];
            for number in 0..self.len() {
                let next = self.step(&trackers[number], number)?;
                trackers.push(next);
            }
            Ok(trackers)
        })
    }

    fn begin(&self, scope: &Arc<Scope>) -> Result<ShapeTracker, ChainError> {
        let error = |cause| ChainError { place: Place::new(self.text(), self.start_span()), op: None, cause };
        let of_shape = |shape: &[Poly]| ShapeTracker::in_scope(scope.clone(), shape.to_vec());
        let start = match (self.start(), self.base()) {
            (ChainStart::Shape(shape), Some(base)) if shape != base => {
                let text = |shape: &[Poly]| shape.iter().map(|size| scope.text(size)).collect::<Vec<_>>();
                let [chain, base] = [&shape[..], base].map(|shape| tuple(&text(shape)).to_string());
                return Err(error(Cause::OtherBase([chain, base].into())));
            }
            (ChainStart::Shape(shape), _) => of_shape(shape),
            (ChainStart::Views(views), base) => {
                let views = ShapeTracker::from_views(scope.clone(), views.clone());
                match base {
                    Some(base) => of_shape(base).and_then(|base| base.compose(&views?)),
                    None => views,
                }
            }
            (_, Some(base)) => of_shape(base),
            _ => return Err(error(Cause::NoBase(self.start_name().map(Box::from)))),
        };
        start.map_err(|err| error(Cause::Error(err)))
    }

    /// The tracker after an operation, where what that needs holds.
    fn step(&self, tracker: &ShapeTracker, number: usize) -> Result<ShapeTracker, ChainError> {
        let op = &self.ops()[number];
        let mut needs = self.needs().iter().filter(|need| need.op == number);
        let ready = needs.try_fold(tracker.clone(), |tracker, need| {
            let difference = need.left.sub(&need.right);
            let literal = difference.map(|difference| match need.is_equal {
                true => Literal::equal(difference),
                false => Literal::at_least(difference),
            });
            tracker.needing(op.name(), literal, &need.why)
        });
        ready.and_then(|tracker| tracker.apply(op)).map_err(|err| self.error_in(number, err))
    }

    fn error_in(&self, number: usize, err: Error) -> ChainError {
        ChainError { place: Place::new(self.text(), self.span(number)), op: Some(number), cause: Cause::Error(err) }
    }
}
