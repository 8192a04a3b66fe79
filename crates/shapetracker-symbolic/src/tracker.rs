//! A stack of views whose sizes may be names: the layout of a tensor after any chain of movement operations.

use std::fmt;
use std::sync::{Arc, OnceLock};

use shapetracker::{MAX_VIEWS, check_count, distinct_axes, inferred_axis, resolve_axis, resolve_new_axis};

use crate::answer::Answer;
use crate::ask::Ask;
use crate::error::{Error, Fault, Mistake, PolyText};
use crate::literal::Literal;
use crate::merge::merge_stack;
use crate::movement::{Moved, need_inside, need_range, need_shape, product};
use crate::operation::Movement;
use crate::poly::{Poly, TooLarge};
use crate::scope::Scope;
use crate::sym::{Condition, Sym, adopt, united};
use crate::view::View;

/// The layout of a tensor whose sizes may be names: a stack of views, the first next to memory.
///
/// It stands for one integer tracker for each choice of values that its scope and its [needs](ShapeTracker::needs) allow,
/// which [`ShapeTracker::at`] makes. An operation that is right for some values only adds what it needs; one that is right
/// for none is an error.
///
/// Views are merged where they are one view for all values, in one set of polynomials. Elsewhere both are kept, and
/// [`ShapeTracker::boundary`] says for which values they are one.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let (n, s, l) = (Sym::new("N", 1..), Sym::new("s", 0..), Sym::new("L", 1..));
/// let cut = ShapeTracker::contiguous([n, 64.into()])?.shrink([(s.clone(), s + l), (0.into(), 64.into())])?;
/// assert_eq!(cut.views()[0].text(cut.scope()), "(L, 64):(64, 1) offset 64*s");
/// assert_eq!(cut.needs()[0].text(cut.scope()), "N >= s + L");
///
/// let at = cut.at([("N", 10), ("s", 2), ("L", 3)])?;
/// assert_eq!(at.to_string(), "(3, 64):(64, 1) offset 128");
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone)]
pub struct ShapeTracker {
    scope: Arc<Scope>,
    needs: Vec<Literal>,
    views: Vec<View>,
    decided: Decided,
}

/// What was decided of a stack of views; empty until it is asked.
#[derive(Clone, Default)]
struct Decided {
    /// For each pair of neighbouring views, from memory on, for which values they are one view.
    boundaries: Vec<OnceLock<Answer>>,
    /// For which values three views and more are one; what is cloned shares it.
    whole: Arc<OnceLock<Answer>>,
}

impl Decided {
    /// Nothing, of so many views.
    fn nothing(views: usize) -> Decided {
        Decided { boundaries: vec![OnceLock::new(); views - 1], whole: Arc::default() }
    }

    /// Nothing any more.
    fn forget(&mut self) {
        *self = Decided::nothing(self.boundaries.len() + 1);
    }

    /// One view more, after the others.
    fn push(&mut self) {
        self.boundaries.push(OnceLock::new());
        self.whole = Arc::default();
    }

    /// Another view in a place: of its neighbours and it nothing is decided.
    fn replaced(&mut self, place: usize) {
        for boundary in place.saturating_sub(1)..(place + 1).min(self.boundaries.len()) {
            self.boundaries[boundary] = OnceLock::new();
        }
        self.whole = Arc::default();
    }

    /// One view in the place of two.
    fn merged(&mut self, place: usize) {
        self.boundaries.remove(place);
        self.replaced(place);
    }
}

impl ShapeTracker {
    /// A contiguous tensor of a shape, from address 0.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("B", 1..), Sym::new("T", 1..), 64.into()])?;
    /// assert_eq!(st.to_string(), "(B, T, 64):(64*T, 64, 1)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// Too many axes, a size that is never 0 or more, what went wrong when the sizes were made.
    pub fn contiguous(shape: impl IntoIterator<Item: Into<Sym>>) -> Result<Self, Error> {
        const OP: &str = "shape";
        let mut scope = Arc::default();
        let shape = polys(OP, &mut scope, shape)?;
        ShapeTracker::in_scope(scope, shape)
    }

    /// A contiguous tensor whose sizes are polynomials over the names of a scope.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Poly, Scope, ShapeTracker};
    ///
    /// let mut scope = Scope::new();
    /// let n = scope.declare("n", Some(1), None).unwrap();
    /// let st = ShapeTracker::in_scope(Arc::new(scope), vec![Poly::from(n), Poly::from(4)])?;
    /// assert_eq!(st.to_string(), "(n, 4):(4, 1)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::contiguous`].
    pub fn in_scope(scope: Arc<Scope>, shape: Vec<Poly>) -> Result<Self, Error> {
        let mut ask = Ask::new("shape", &scope, Vec::new());
        need_shape(&mut ask, &shape)?;
        let view = ask.made(View::row_major(&shape))?;
        let needs = ask.into_needs();
        Ok(ShapeTracker { scope, needs, views: vec![view], decided: Decided::default() })
    }

    /// A stack of views over the names of a scope, the first next to memory.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Poly, Scope, ShapeTracker, View};
    ///
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), None).unwrap());
    /// let view = View { shape: vec![n], strides: vec![Poly::from(2)], offset: Poly::from(0), mask: None };
    /// assert_eq!(ShapeTracker::from_views(Arc::new(scope), [view])?.to_string(), "(n,):(2,)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// No views, lists of different lengths, sizes or masks that no values allow, a view that reads an address which the
    /// view under it never has, or one for which that depends on the unknown sign of a stride.
    pub fn from_views(scope: Arc<Scope>, views: impl IntoIterator<Item = View>) -> Result<Self, Error> {
        const OP: &str = "views";
        let views: Vec<View> = views.into_iter().collect();
        let mut ask = Ask::new(OP, &scope, Vec::new());
        if views.is_empty() {
            return Err(ask.err(Fault::NoViews));
        }
        let mut under: Option<Poly> = None;
        for view in &views {
            need_view(&mut ask, view)?;
            if let Some(len) = under {
                need_inside(&mut ask, view, &len)?;
            }
            under = Some(ask.made(view.numel())?);
        }
        let needs = ask.into_needs();
        ShapeTracker { scope, needs, decided: Decided::nothing(views.len()), views }.reduced(OP)
    }

    /// A stack of views that was made before under these needs. What made it knew more than can be proved of it now, so that
    /// what is neither proved nor refuted is taken as it is.
    pub(crate) fn made_before(
        op: &'static str,
        scope: Arc<Scope>,
        needs: Vec<Literal>,
        views: Vec<View>,
    ) -> Result<Self, Error> {
        let ask = || Ask::new(op, &scope, needs.clone());
        if views.is_empty() {
            return Err(ask().err(Fault::NoViews));
        }
        views.iter().try_for_each(|view| need_counts(&mut ask(), view))?;
        for pair in views.windows(2) {
            let len = ask().made(pair[0].numel())?;
            match need_inside(&mut ask(), &pair[1], &len) {
                Err(err) if !err.is_of_unknown_sign() => return Err(err),
                _ => {}
            }
        }
        ShapeTracker { scope, needs, decided: Decided::nothing(views.len()), views }.reduced(op)
    }

    /// The same tensor where a condition is known to hold, which is taken as given from now on.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let (n, k) = (Sym::new("n", 1..), Sym::new("k", 1..));
    /// let st = ShapeTracker::contiguous([n.clone()])?.given(&n.at_least(&k))?;
    /// assert!(st.shrink([(0.into(), k)])?.needs().is_empty());
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A condition that no values satisfy.
    pub fn given(&self, condition: &Condition) -> Result<Self, Error> {
        const OP: &str = "given";
        let (other, literal) = condition.parts()?;
        let (mut scope, renamed) = united(OP, &self.scope, other)?;
        scope.require(literal.renamed(|var| renamed[usize::from(var.0)]));
        // One that is refuted leaves no values.
        let mut ask = Ask::new(OP, &scope, self.needs.clone());
        if ask.known(&literal.renamed(|var| renamed[usize::from(var.0)]))? == Some(false) {
            return Err(ask.err(Mistake::NoValues));
        }
        let (views, decided) = (self.views.clone(), Decided::nothing(self.views.len()));
        ShapeTracker { scope: Arc::new(scope), needs: self.needs.clone(), views, decided }.reduced(OP)
    }

    /// The names, their ranges, and what is known of them.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..)])?;
    /// assert_eq!(&*st.scope().names()[0].name, "n");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn scope(&self) -> &Arc<Scope> {
        &self.scope
    }

    /// The conditions without which an operation could not have been done. They hold together, in the order in which they
    /// came up.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let n = Sym::new("n", 1..);
    /// let st = ShapeTracker::contiguous([n])?.reshape([4, 8])?;
    /// assert_eq!(st.needs()[0].text(st.scope()), "n == 32");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn needs(&self) -> &[Literal] {
        &self.needs
    }

    /// The views, the first next to memory.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
    /// assert_eq!(st.views()[0].text(st.scope()), "(n, 4):(4, 1)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The only view, when there is only one.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// assert!(ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?.permute([1, 0])?.as_view().is_some());
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn as_view(&self) -> Option<&View> {
        match &self.views[..] {
            [view] => Some(view),
            _ => None,
        }
    }

    /// For which values the view at a place and the next one are one view; `None` where there is no such pair.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// assert_eq!(ShapeTracker::contiguous([Sym::new("n", 1..)])?.boundary(0), None);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// Cost: that of [`merge`](crate::merge()) the first time, nothing after that.
    pub fn boundary(&self, place: usize) -> Option<&Answer> {
        let answer = self.decided.boundaries.get(place)?;
        let pair = [&self.views[place], &self.views[place + 1]];
        Some(answer.get_or_init(|| crate::merge(&self.scope, &self.needs, pair[0], pair[1])))
    }

    /// For which values the whole stack is one view.
    pub(crate) fn whole(&self) -> &Answer {
        match self.boundary(0) {
            Some(answer) if self.views.len() == 2 => answer,
            _ => self.decided.whole.get_or_init(|| merge_stack(&self.scope, &self.needs, &self.views)),
        }
    }

    /// The shape: one size per axis, outermost first.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
    /// assert_eq!(st.scope().text(&st.shape()[0]), "n");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn shape(&self) -> &[Poly] {
        &self.last().shape
    }

    /// The shape as values to compute with.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
    /// assert_eq!((st.sizes()[0].clone() * 2).to_string(), "2*n");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn sizes(&self) -> Vec<Sym> {
        self.shape().iter().map(|size| Sym::of(&self.scope, size.clone())).collect()
    }

    /// The number of axes.
    ///
    /// ```
    /// assert_eq!(shapetracker_symbolic::ShapeTracker::contiguous([3, 2])?.rank(), 2);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// The number of elements, masked ones included.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
    /// assert_eq!(st.numel().to_string(), "4*n");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn numel(&self) -> Sym {
        self.sizes().into_iter().fold(Sym::from(1), |product, size| product * size)
    }

    /// The integer tracker for one choice of values, one for each name.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?.permute([1, 0])?;
    /// assert_eq!(st.at([("n", 3)])?.to_string(), "(4, 3):(1, 4)");
    /// assert_eq!(
    ///     st.at([("n", 0)]).unwrap_err().to_string(),
    ///     "at: 0 is not a value of n, which is 1 or more",
    /// );
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// Values of other names, as an environment has them, change nothing.
    ///
    /// # Errors
    /// A name without a value, or a value outside its range; a condition or need that does not hold; a number past `i64`.
    pub fn at<'n>(
        &self,
        values: impl IntoIterator<Item = (&'n str, i64)>,
    ) -> Result<shapetracker::ShapeTracker, Error> {
        self.at_point(&self.scope.point("at", &self.needs, values)?)
    }

    /// [`ShapeTracker::at`] with the values in the order of the scope's names.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
    /// assert_eq!(st.at_point(&[3])?.to_string(), "(3, 4):(4, 1)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::at`].
    pub fn at_point(&self, point: &[i128]) -> Result<shapetracker::ShapeTracker, Error> {
        const OP: &str = "at";
        self.scope.check_point(OP, &self.needs, point)?;
        let views = self.views.iter().map(|view| {
            view.at(point).ok_or_else(|| Error::new(OP, Fault::Overflow { what: "at these values a number" }))
        });
        let views = views.collect::<Result<Vec<_>, _>>()?;
        Ok(shapetracker::ShapeTracker::from_views(views)?)
    }

    /// Performs one movement operation whose polynomials are over the names of this tracker's scope.
    ///
    /// [`Movement::SqueezeAll`] takes the axes away whose size is known to be 1 for all values: how many axes there are does not
    /// depend on values.
    ///
    /// ```
    /// use shapetracker_symbolic::{Movement, ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..), 4.into()])?;
    /// assert_eq!(st.apply(&Movement::Permute([1, 0].into()))?, st.permute([1, 0])?);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the method of the same name.
    pub fn apply(&self, op: &Movement) -> Result<Self, Error> {
        match op {
            Movement::Reshape(shape) => self.reshaped("reshape", shape),
            Movement::Permute(axes) => self.permute(axes),
            Movement::Expand(sizes) => self.expanded("expand", sizes),
            Movement::Pad(pads) => self.padded(pads),
            Movement::Shrink(ranges) => self.shrunk(ranges),
            Movement::Flip(axes) => self.flip(axes),
            Movement::FlipEach(reversed) => {
                check_count("flip", "boolean", self.rank(), reversed.len())?;
                let reversed = (0..).zip(reversed.iter()).filter(|(_, reversed)| **reversed);
                self.flip(reversed.map(|(axis, _)| axis).collect::<Vec<i64>>())
            }
            Movement::Step(steps) => self.step(steps),
            Movement::AsStrided(shape, strides, offset) => self.strided(shape, strides, offset),
            Movement::Transpose(a, b) => self.transpose(*a, *b),
            Movement::Squeeze(axes) => self.squeeze(axes),
            Movement::SqueezeAll => self.squeezed(),
            Movement::Unsqueeze(axis) => self.unsqueeze(*axis),
            Movement::BroadcastTo(shape) => self.broadcasted("broadcast_to", shape),
            Movement::Slice(slices) => self.sliced(slices),
            // Copies change where elements are, and the addresses are those of the base.
            Movement::Contiguous | Movement::Copy => Ok(self.clone()),
            _ => Err(Error::new(op.name(), Mistake::Foreign("the operation is not one that is known here".into()))),
        }
    }

    /// The same elements in row-major order under a new shape; one size may be -1 and is inferred by exact division of
    /// polynomials.
    ///
    /// Where the numbers of elements are not the same polynomial, that they are equal is a need.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let (b, d) = (Sym::new("B", 1..), Sym::new("D", 1..));
    /// let st = ShapeTracker::contiguous([b.clone() * 6, d])?.reshape([b * 2, (-1).into()])?;
    /// assert_eq!(st.sizes()[1].to_string(), "3*D");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number of elements that is never the same, a size that cannot be inferred, too many axes.
    pub fn reshape(&self, shape: impl IntoIterator<Item: Into<Sym>>) -> Result<Self, Error> {
        let (base, shape) = self.with_polys("reshape", shape)?;
        base.reshaped("reshape", &shape)
    }

    fn reshaped(&self, op: &'static str, to: &[Poly]) -> Result<Self, Error> {
        let mut ask = self.ask(op);
        let inferred = inferred_axis(op, to)?;
        let have = ask.made(self.last().numel())?;
        let mut shape = to.to_vec();
        if let Some(axis) = inferred {
            // A product that can be 0 leaves the size open there.
            for size in to.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, size)| size) {
                ask.need_at_least(size, &Poly::one(), |_| Fault::InferZero { axis })?;
            }
            shape[axis] = Poly::one();
            let known = ask.made(product(&shape))?;
            let Some(quotient) = ask.made(have.div_exact(&known))? else {
                return Err(ask.err(Fault::InferUneven { axis, have: ask.text(&have), known: ask.text(&known) }));
            };
            shape[axis] = quotient;
        } else {
            need_shape(&mut ask, &shape)?;
            let need = ask.made(product(&shape))?;
            let difference = ask.made(have.sub(&need))?;
            ask.need(Literal::equal(difference), |ask| Fault::SizeMismatch {
                from: ask.texts(self.shape()),
                to: ask.texts(&shape),
                have: ask.text(&have),
                need: ask.text(&need),
            })?;
        }
        let view = ask.made(View::row_major(&shape))?;
        let needs = ask.into_needs();
        if shape == self.shape() {
            return self.with_last(op, needs, self.last().clone());
        }
        self.with_pushed(op, needs, view)
    }

    /// The axes in another order: new axis `l` is old axis `axes[l]`; a negative number counts from the last axis.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("H", 1..), Sym::new("T", 1..)])?.permute([1, 0])?;
    /// assert_eq!(st.to_string(), "(T, H):(1, T)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis that is missing, repeated or does not exist.
    pub fn permute(&self, axes: impl AsRef<[i64]>) -> Result<Self, Error> {
        check_count("permute", "axis number", self.rank(), axes.as_ref().len())?;
        let order = distinct_axes("permute", axes.as_ref(), self.rank())?;
        Ok(self.with_same_merges(self.last().permute(&order)))
    }

    /// Two axes exchanged; a negative number counts from the last axis.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("H", 1..), Sym::new("T", 1..)])?.transpose(0, -1)?;
    /// assert_eq!(st.to_string(), "(T, H):(1, T)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis that does not exist.
    pub fn transpose(&self, a: i64, b: i64) -> Result<Self, Error> {
        let (a, b) = (resolve_axis("transpose", a, self.rank())?, resolve_axis("transpose", b, self.rank())?);
        let mut order: Vec<usize> = (0..self.rank()).collect();
        order.swap(a, b);
        Ok(self.with_same_merges(self.last().permute(&order)))
    }

    /// Axes of size 1 repeated to the given sizes; -1 (or the size itself) leaves an axis as it is.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let (n, g) = (Sym::new("n", 1..), Sym::new("G", 1..));
    /// let st = ShapeTracker::contiguous([n, 1.into()])?.expand([(-1).into(), g])?;
    /// assert_eq!(st.to_string(), "(n, G):(1, 0)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A size that is not known to be 1 and would change, a size that is never 0 or more, a wrong number of sizes.
    pub fn expand(&self, sizes: impl IntoIterator<Item: Into<Sym>>) -> Result<Self, Error> {
        let (base, sizes) = self.with_polys("expand", sizes)?;
        base.expanded("expand", &sizes)
    }

    fn expanded(&self, op: &'static str, sizes: &[Poly]) -> Result<Self, Error> {
        let mut ask = self.ask(op);
        let view = self.last().expand(&mut ask, sizes)?;
        self.with_last(op, ask.into_needs(), view)
    }

    /// Broadcast to a shape by the usual rule: new axes appear in front, axes of size 1 are repeated.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let (n, b) = (Sym::new("n", 1..), Sym::new("B", 1..));
    /// let st = ShapeTracker::contiguous([n.clone()])?.broadcast_to([b, n])?;
    /// assert_eq!(st.rank(), 2);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fewer axes than the tensor has, and those of [`ShapeTracker::expand`].
    pub fn broadcast_to(&self, shape: impl IntoIterator<Item: Into<Sym>>) -> Result<Self, Error> {
        const OP: &str = "broadcast_to";
        let (base, to) = self.with_polys(OP, shape)?;
        base.broadcasted(OP, &to)
    }

    fn broadcasted(&self, op: &'static str, to: &[Poly]) -> Result<Self, Error> {
        let Some(new) = to.len().checked_sub(self.rank()) else {
            return Err(Error::new(op, Fault::BroadcastRank { rank: self.rank(), given: to.len() }));
        };
        if new == 0 {
            return self.expanded(op, to);
        }
        let ones = std::iter::repeat_n(Poly::one(), new).chain(self.shape().iter().cloned());
        self.reshaped(op, &ones.collect::<Vec<_>>())?.expanded(op, to)
    }

    /// Masked elements around the tensor: `(before, after)` for each axis.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let (n, p) = (Sym::new("n", 1..), Sym::new("p", 0..));
    /// let st = ShapeTracker::contiguous([n])?.pad([(p.clone(), p)])?;
    /// assert_eq!(st.to_string(), "(n + 2*p,):(1,) offset -p mask ((p, n + p),)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A pad that is never 0 or more, a wrong number of pads.
    pub fn pad(&self, pads: impl IntoIterator<Item = (Sym, Sym)>) -> Result<Self, Error> {
        let (base, pads) = self.with_pairs("pad", pads)?;
        base.padded(&pads)
    }

    fn padded(&self, pads: &[(Poly, Poly)]) -> Result<Self, Error> {
        let mut ask = self.ask("pad");
        let view = self.last().pad(&mut ask, pads)?;
        let needs = ask.into_needs();
        if needs == self.needs { Ok(self.with_same_merges(view)) } else { self.with_last("pad", needs, view) }
    }

    /// The half-open range `(begin, end)` of each axis. That `0 <= begin <= end <= size` is a need where it is not known.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let (n, k) = (Sym::new("n", 1..), Sym::new("k", 0..));
    /// let st = ShapeTracker::contiguous([n])?.shrink([(0.into(), k)])?;
    /// assert_eq!(st.needs()[0].text(st.scope()), "n >= k");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A range that is never one of its axis, a wrong number of ranges.
    pub fn shrink(&self, ranges: impl IntoIterator<Item = (Sym, Sym)>) -> Result<Self, Error> {
        let (base, ranges) = self.with_pairs("shrink", ranges)?;
        base.shrunk(&ranges)
    }

    fn shrunk(&self, ranges: &[(Poly, Poly)]) -> Result<Self, Error> {
        let mut ask = self.ask("shrink");
        let moved = self.last().shrink(&mut ask, ranges)?;
        self.with_moved("shrink", ask.into_needs(), moved)
    }

    /// The slice `begin:end:step` of each axis, with Python's meaning for missing ends; every step is a number other than 0.
    ///
    /// A bound that is known to be negative counts from the end, and one that is known to lie past the axis is cut off
    /// there. Where neither is known, that the bound lies inside the axis is a need.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let n = Sym::new("n", 4..);
    /// let st = ShapeTracker::contiguous([n.clone()])?.slice([(Some(1.into()), Some((-1).into()), 1)])?;
    /// assert_eq!(st.to_string(), "(n - 2,):(1,) offset 1");
    /// assert!(st.needs().is_empty());
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A step of 0, a step of more than 1 along an axis whose size modulo the step is not known, a wrong number of slices.
    pub fn slice(&self, slices: impl IntoIterator<Item = (Option<Sym>, Option<Sym>, i64)>) -> Result<Self, Error> {
        const OP: &str = "slice";
        let mut base = self.clone();
        let mut polys = Vec::new();
        for (begin, end, step) in slices {
            let mut bound = |bound: Option<Sym>| bound.map(|bound| base.poly(OP, &bound)).transpose();
            polys.push((bound(begin)?, bound(end)?, step));
        }
        base.sliced(&polys)
    }

    fn sliced(&self, slices: &[(Option<Poly>, Option<Poly>, i64)]) -> Result<Self, Error> {
        const OP: &str = "slice";
        let mut ask = self.ask(OP);
        check_count(OP, "slice (begin, end, step)", self.rank(), slices.len())?;
        let zero = Poly::zero();
        let mut ranges = Vec::new();
        for (axis, ((begin, end, step), size)) in slices.iter().zip(self.shape()).enumerate() {
            if *step == 0 {
                return Err(ask.err(Fault::ZeroStep { axis }));
            }
            let place = |ask: &mut Ask<'_>, bound: &Option<Poly>, missing: &Poly| match bound {
                None => Ok(missing.clone()),
                Some(bound) => from_end(ask, bound, size),
            };
            ranges.push(if *step > 0 {
                let begin = place(&mut ask, begin, &zero)?;
                let begin = cut(&mut ask, axis, &begin, &zero, size, size)?;
                let end = place(&mut ask, end, size)?;
                let end = cut(&mut ask, axis, &end, &begin, size, size)?;
                (begin, end)
            } else {
                // Backwards, `begin` is the last element taken and `end` the one before the first; one more than both is
                // the range.
                let up = |ask: &Ask<'_>, poly: Poly| ask.made(poly.plus_number(1));
                let top = ask.made(size.plus_number(-1))?;
                let last = place(&mut ask, begin, &top)?;
                let end_of_range = up(&ask, last)?;
                let end_of_range = cut(&mut ask, axis, &end_of_range, &zero, size, size)?;
                let before = place(&mut ask, end, &Poly::from(-1_i128))?;
                let first = up(&ask, before)?;
                (cut(&mut ask, axis, &first, &zero, &end_of_range, size)?, end_of_range)
            });
        }
        let moved = self.last().shrink(&mut ask, &ranges)?;
        let steps: Vec<i64> = slices.iter().map(|slice| slice.2).collect();
        self.with_moved(OP, ask.into_needs(), moved)?.stepped(OP, &steps)
    }

    /// The named axes reversed; a negative number counts from the last axis.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..)])?.flip([0])?;
    /// assert_eq!(st.to_string(), "(n,):(-1,) offset n - 1");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis that does not exist or is named twice.
    pub fn flip(&self, axes: impl AsRef<[i64]>) -> Result<Self, Error> {
        let ask = self.ask("flip");
        let axes = distinct_axes(ask.op, axes.as_ref(), self.rank())?;
        Ok(self.with_same_merges(self.last().flip(&ask, &axes)?))
    }

    /// Every step-th element of each axis, as the slice `[::step]` does: a negative step walks back from the last. Steps
    /// are numbers.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let k = Sym::new("k", 1..);
    /// let st = ShapeTracker::contiguous([k * 2 + 1])?.step([2])?;
    /// assert_eq!(st.to_string(), "(k + 1,):(2,)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A step of 0, a wrong number of steps, an axis whose size modulo the step is not known.
    pub fn step(&self, steps: impl AsRef<[i64]>) -> Result<Self, Error> {
        self.stepped("step", steps.as_ref())
    }

    fn stepped(&self, op: &'static str, steps: &[i64]) -> Result<Self, Error> {
        let mut ask = self.ask(op);
        let moved = self.last().step(&mut ask, steps)?;
        self.with_moved(op, ask.into_needs(), moved)
    }

    /// The named axes, which have size 1, taken away; a negative number counts from the last axis.
    ///
    /// That a size is 1 is a need where it is not known.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([1.into(), Sym::new("n", 1..)])?.squeeze([0])?;
    /// assert_eq!(st.rank(), 1);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis whose size is never 1, does not exist or is named twice.
    pub fn squeeze(&self, axes: impl AsRef<[i64]>) -> Result<Self, Error> {
        const OP: &str = "squeeze";
        let mut ask = self.ask(OP);
        let axes = distinct_axes(OP, axes.as_ref(), self.rank())?;
        for &axis in &axes {
            let size = &self.shape()[axis];
            let from_one = ask.made(size.plus_number(-1))?;
            ask.need(Literal::equal(from_one), |ask| Fault::Squeeze { axis, size: ask.text(size) })?;
        }
        let base = self.with_last(OP, ask.into_needs(), self.last().clone())?;
        let kept = self.shape().iter().enumerate().filter(|(axis, _)| !axes.contains(axis));
        base.reshaped(OP, &kept.map(|(_, size)| size.clone()).collect::<Vec<_>>())
    }

    /// Every axis taken away whose size is known to be 1. Where a size that is not known to be 1 is 1 all the same, other
    /// axes would be left: that it is not 1 is a need.
    fn squeezed(&self) -> Result<Self, Error> {
        const OP: &str = "squeeze";
        let mut ask = self.ask(OP);
        let mut kept = Vec::new();
        for (axis, size) in self.shape().iter().enumerate() {
            if ask.equal(size, &Poly::one())? != Some(true) {
                let from_one = ask.made(size.plus_number(-1))?;
                ask.need(Literal::not_equal(from_one), |ask| Fault::Squeeze { axis, size: ask.text(size) })?;
                kept.push(size.clone());
            }
        }
        let base = self.with_last(OP, ask.into_needs(), self.last().clone())?;
        base.reshaped(OP, &kept)
    }

    /// A new axis of size 1 before the given one; a negative number counts from behind the last axis.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let st = ShapeTracker::contiguous([Sym::new("n", 1..)])?.unsqueeze(0)?;
    /// assert_eq!(st.rank(), 2);
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A place past the last axis, too many axes.
    pub fn unsqueeze(&self, axis: i64) -> Result<Self, Error> {
        const OP: &str = "unsqueeze";
        let axis = resolve_new_axis(OP, axis, self.rank())?;
        let mut shape = self.shape().to_vec();
        shape.insert(axis, Poly::one());
        self.reshaped(OP, &shape)
    }

    /// The elements in row-major order read as memory, with a shape, strides and an offset of their own.
    ///
    /// That all addresses lie inside is a need where it is not known.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let (n, k) = (Sym::new("N", 1..), Sym::new("K", 1..));
    /// let windows = ShapeTracker::contiguous([n.clone()])?.as_strided([n - &k + 1, k], [1, 1], 0)?;
    /// assert_eq!(windows.needs()[0].text(windows.scope()), "N + 1 >= K");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A wrong number of strides, a size that is never 0 or more, addresses that never lie inside, a stride whose sign is
    /// not known.
    pub fn as_strided(
        &self,
        shape: impl IntoIterator<Item: Into<Sym>>,
        strides: impl IntoIterator<Item: Into<Sym>>,
        offset: impl Into<Sym>,
    ) -> Result<Self, Error> {
        const OP: &str = "as_strided";
        let (base, shape) = self.with_polys(OP, shape)?;
        let (mut base, strides) = base.with_polys(OP, strides)?;
        let offset = base.poly(OP, &offset.into())?;
        base.strided(&shape, &strides, &offset)
    }

    fn strided(&self, shape: &[Poly], strides: &[Poly], offset: &Poly) -> Result<Self, Error> {
        const OP: &str = "as_strided";
        let mut ask = self.ask(OP);
        need_shape(&mut ask, shape)?;
        check_count(OP, "stride", shape.len(), strides.len())?;
        let view = View { shape: shape.to_vec(), strides: strides.to_vec(), offset: offset.clone(), mask: None };
        let len = ask.made(self.last().numel())?;
        need_inside(&mut ask, &view, &len)?;
        self.with_pushed(OP, ask.into_needs(), view)
    }

    /// The other tracker over this one: its addresses are positions of this tensor in row-major order.
    ///
    /// What both need is needed, and that the first view of the other reads inside this tensor where that is not known.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let n = Sym::new("n", 1..);
    /// let flipped = ShapeTracker::contiguous([n.clone()])?.flip([0])?;
    /// let both = ShapeTracker::contiguous([n])?.compose(&flipped)?;
    /// assert_eq!(both.sizes()[0].to_string(), "n");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// One name with two ranges, needs that contradict each other, addresses that never lie inside this tensor, a stride
    /// whose sign is not known.
    pub fn compose(&self, over: &ShapeTracker) -> Result<Self, Error> {
        const OP: &str = "compose";
        let (scope, renamed) = united(OP, &self.scope, &over.scope)?;
        let rename = |var: crate::Var| renamed[usize::from(var.0)];
        let mut ask = Ask::new(OP, &scope, self.needs.clone());
        for literal in &over.needs {
            ask.need(literal.renamed(rename), |_| Mistake::NoValues)?;
        }
        let views: Vec<View> = over.views.iter().map(|view| view.renamed(rename)).collect();
        let len = ask.made(self.last().numel())?;
        need_inside(&mut ask, &views[0], &len)?;
        let needs = ask.into_needs();
        // What was known of this one's boundaries still is; under more conditions more may be one view.
        let mut composed = self.with_needs(needs);
        if scope != *self.scope {
            composed.scope = Arc::new(scope);
            composed.decided.forget();
        }
        for view in views {
            composed.views.push(view);
            composed.decided.push();
        }
        composed.reduced(OP)
    }

    fn last(&self) -> &View {
        &self.views[self.views.len() - 1]
    }

    fn ask(&self, op: &'static str) -> Ask<'_> {
        Ask::new(op, &self.scope, self.needs.clone())
    }

    pub(crate) fn tuple(&self, list: &[Poly]) -> String {
        let list: Vec<String> = list.iter().map(|poly| self.scope.text(poly)).collect();
        format!("({}{})", list.join(", "), if list.len() == 1 { "," } else { "" })
    }

    /// A value as a polynomial over this tracker's names, which become more if it has others.
    fn poly(&mut self, op: &'static str, value: &Sym) -> Result<Poly, Error> {
        let before = self.scope.given().len();
        let (scope, poly) = value.parts()?;
        let poly = adopt(op, &mut self.scope, scope, poly)?;
        if self.scope.given().len() != before {
            self.decided.forget();
        }
        Ok(poly)
    }

    /// This tracker with the names of values, and the values as polynomials.
    pub(crate) fn with_polys(
        &self,
        op: &'static str,
        values: impl IntoIterator<Item: Into<Sym>>,
    ) -> Result<(Self, Vec<Poly>), Error> {
        let mut base = self.clone();
        let polys = values.into_iter().map(|value| base.poly(op, &value.into())).collect::<Result<_, _>>()?;
        Ok((base, polys))
    }

    fn with_pairs(
        &self,
        op: &'static str,
        pairs: impl IntoIterator<Item = (Sym, Sym)>,
    ) -> Result<(Self, Vec<(Poly, Poly)>), Error> {
        let mut base = self.clone();
        let mut polys = Vec::new();
        for (first, second) in pairs {
            polys.push((base.poly(op, &first)?, base.poly(op, &second)?));
        }
        Ok((base, polys))
    }

    /// The tracker under more conditions; where they are more, what was decided before is open again.
    pub(crate) fn with_needs(&self, needs: Vec<Literal>) -> Self {
        let mut tracker = self.clone();
        if needs != tracker.needs {
            tracker.needs = needs;
            tracker.decided.forget();
        }
        tracker
    }

    /// One view over the same names, where the same is needed.
    pub(crate) fn with_view(&self, view: View) -> Self {
        let (scope, needs) = (self.scope.clone(), self.needs.clone());
        ShapeTracker { scope, needs, views: vec![view], decided: Decided::default() }
    }

    fn with_moved(&self, op: &'static str, needs: Vec<Literal>, moved: Moved) -> Result<Self, Error> {
        match moved {
            Moved::Within(view) => self.with_last(op, needs, view),
            Moved::Over(view) => self.with_pushed(op, needs, view),
        }
    }

    fn with_pushed(&self, op: &'static str, needs: Vec<Literal>, view: View) -> Result<Self, Error> {
        let mut tracker = self.with_needs(needs);
        tracker.views.push(view);
        tracker.decided.push();
        tracker.reduced(op)
    }

    /// The same tracker where something holds that an operation needs; `why` is what is wrong where it does not.
    pub(crate) fn needing(
        &self,
        op: &'static str,
        literal: Result<Literal, TooLarge>,
        why: &str,
    ) -> Result<Self, Error> {
        let mut ask = self.ask(op);
        let literal = ask.made(literal)?;
        ask.need(literal, |_| Mistake::Foreign(why.into()))?;
        let needs = ask.into_needs();
        if needs == self.needs { Ok(self.clone()) } else { self.with_last(op, needs, self.last().clone()) }
    }

    /// Replaces the last view by one that may merge where the old one did not.
    fn with_last(&self, op: &'static str, needs: Vec<Literal>, view: View) -> Result<Self, Error> {
        self.with_needs(needs).with_same_merges(view).reduced(op)
    }

    /// Replaces the last view by one that merges exactly where the old one did: permuting, flipping and padding change
    /// neither whether differences are constant nor whether the valid indices are a box. For which values that is comes to
    /// the same; the views in the answer are others, so that it is asked again when somebody wants to know.
    fn with_same_merges(&self, view: View) -> Self {
        let mut tracker = self.clone();
        let top = tracker.views.len() - 1;
        if tracker.views[top] != view {
            tracker.views[top] = view;
            tracker.decided.replaced(top);
        }
        tracker
    }

    /// Merges neighbours that are one polynomial view for all values, until no pair is.
    ///
    /// What is known of a pair is not asked again, so that this costs one decision for each pair that changed. Three views of
    /// which no two are one are not tried together: of thousands of random chains none ends in three that are one for all
    /// values, while the integers have such stacks.
    fn reduced(mut self, op: &'static str) -> Result<Self, Error> {
        let mut place = 0;
        while place + 1 < self.views.len() {
            // A view in names of quotients, which the scope has not, stays an answer about the pair.
            let named = self.scope.names().len();
            if let Some(Answer::Always { view: Some(view), .. }) = self.boundary(place)
                && view.is_within(named)
            {
                self.views[place] = view.clone();
                self.views.remove(place + 1);
                // Both neighbours of the new view are asked.
                self.decided.merged(place);
                place = place.saturating_sub(1);
            } else {
                place += 1;
            }
        }
        if self.views.len() > MAX_VIEWS {
            return Err(Error::new(op, Fault::TooManyViews { given: self.views.len() }));
        }
        Ok(self)
    }
}

/// Values as polynomials over one scope.
fn polys(
    op: &'static str,
    scope: &mut Arc<Scope>,
    values: impl IntoIterator<Item: Into<Sym>>,
) -> Result<Vec<Poly>, Error> {
    let mut poly = |value: Sym| value.parts().and_then(|(other, poly)| adopt(op, scope, other, poly));
    values.into_iter().map(|value| poly(value.into())).collect()
}

/// Makes a view one that has a size, a stride and perhaps a range for each axis. Ranges are cut off at the ends of their axes:
/// one that serves for several cases of values may be past them for some, where it is that of no element.
fn need_counts(ask: &mut Ask<'_>, view: &View) -> Result<(), Error> {
    need_shape(ask, &view.shape)?;
    check_count(ask.op, "stride", view.shape.len(), view.strides.len())?;
    let ranges = view.mask.as_ref().map_or(view.shape.len(), Vec::len);
    Ok(check_count(ask.op, "range of the mask", view.shape.len(), ranges)?)
}

/// Makes a view one that may be: a size, a stride and a range for each axis, and ranges that lie in their axes.
pub(crate) fn need_view(ask: &mut Ask<'_>, view: &View) -> Result<(), Error> {
    need_counts(ask, view)?;
    let Some(mask) = &view.mask else { return Ok(()) };
    for (axis, ((begin, end), size)) in mask.iter().zip(&view.shape).enumerate() {
        let reversed = |[begin, end, size]: [PolyText; 3]| Fault::MaskReversed { axis, begin, end, size };
        let outside = |[begin, end, size]: [PolyText; 3]| Fault::MaskOutside { axis, begin, end, size };
        need_range(ask, [begin, end, size], reversed, outside)?;
    }
    Ok(())
}

/// A bound of a slice counted from the begin: one that is known to be negative counts from the end.
fn from_end(ask: &mut Ask<'_>, bound: &Poly, size: &Poly) -> Result<Poly, Error> {
    match ask.at_least(bound, &Poly::zero())? {
        Some(true) => Ok(bound.clone()),
        Some(false) => ask.made(bound.add(size)),
        None => {
            ask.need_at_least(bound, &Poly::zero(), |_| Mistake::NoValues)?;
            Ok(bound.clone())
        }
    }
}

/// A bound of a slice cut off at two ends, the first of which is at most the second; where it is not known on which side
/// of an end it lies, that it lies inside is needed.
fn cut(ask: &mut Ask<'_>, axis: usize, bound: &Poly, low: &Poly, high: &Poly, size: &Poly) -> Result<Poly, Error> {
    if ask.at_least(low, bound)? == Some(true) {
        return Ok(low.clone());
    }
    if ask.at_least(bound, high)? == Some(true) {
        return Ok(high.clone());
    }
    let fault = |ask: &Ask<'_>| {
        let [begin, end, size] = [low, bound, size].map(|poly| ask.text(poly));
        Fault::RangeOutside { axis, begin, end, size }
    };
    ask.need_at_least(bound, low, fault)?;
    ask.need_at_least(high, bound, fault)?;
    Ok(bound.clone())
}

/// The views from the last to the one next to memory, with `over` between them.
impl fmt::Display for ShapeTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, view) in self.views.iter().rev().enumerate() {
            let over = if place > 0 { " over " } else { "" };
            write!(f, "{over}{}", view.text(&self.scope))?;
        }
        Ok(())
    }
}

/// The text, and what is needed.
impl fmt::Debug for ShapeTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        for (place, need) in self.needs.iter().enumerate() {
            write!(f, "{}{}", if place == 0 { " needs " } else { " and " }, need.text(&self.scope))?;
        }
        Ok(())
    }
}

/// A tracker of numbers as one of names, of which it has none; [`ShapeTracker::at`] is the way back.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let numbers = shapetracker::ShapeTracker::contiguous([4, 6])?.permute([1, 0])?;
/// let tracker = ShapeTracker::from(&numbers);
/// assert_eq!(tracker.at([])?, numbers);
/// let n = Sym::new("n", 1..);
/// let repeated = tracker.unsqueeze(2)?.expand([6.into(), 4.into(), n])?;
/// assert_eq!(repeated.to_string(), "(6, 4, n):(1, 6, 0)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl From<&shapetracker::ShapeTracker> for ShapeTracker {
    fn from(numbers: &shapetracker::ShapeTracker) -> ShapeTracker {
        let views: Vec<View> = numbers.views().iter().map(View::from).collect();
        let decided = Decided::nothing(views.len());
        ShapeTracker { scope: Arc::default(), needs: Vec::new(), views, decided }
    }
}

/// The same views, under the same conditions, in the same names.
impl PartialEq for ShapeTracker {
    fn eq(&self, other: &ShapeTracker) -> bool {
        self.scope == other.scope && self.needs == other.needs && self.views == other.views
    }
}

impl Eq for ShapeTracker {}
