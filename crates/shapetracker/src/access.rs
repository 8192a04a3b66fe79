//! From a tracker to how its elements are read: the address as a linear form, the conditions, and both as expressions.

use std::borrow::Cow;
use std::fmt;

use indexpr::{
    Binary, Built, Condition, Divisions, Domain, Expr, Form, Graph, Index, IndexExpr, Linear, QuasiAffine, Term,
    Variable, cheapest, forms,
};
use shapetracker_base::text::tuple;
use smallvec::SmallVec;

use crate::ease;
use crate::error::{Error, Fault};
use crate::merge::level::{Affine, Level};
use crate::merge::stack::Stacked;
use crate::merge::work::Work;
use crate::merge::{Unanswered, Undecided};
use crate::shape::{scattered, unravel};
use crate::{Dims, ShapeTracker, View};

/// How the elements of a tracker are read: the address as a linear form over the axes and floors, and the conditions
/// under which an element has one.
///
/// What a compiler lowers to loops, a copy plans with, and an expression is printed from. Axes are the variables of the
/// forms, outermost first ([`Term::Variable`]); a floor is a division that no rewriting could avoid ([`Term::Floor`]).
/// The conditions are exact at every index. The address is exact wherever they hold, and means nothing elsewhere.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker::expr::Term;
///
/// // Two views, which no single view can replace: what is valid is no box. Yet the address is affine where it is valid.
/// let st = ShapeTracker::contiguous([8])?.pad([(1, 1)])?.as_strided([8, 3], [1, 1], 0)?;
/// assert_eq!(st.views().len(), 2);
/// let access = st.access()?;
/// assert_eq!(access.address().unwrap().to_string(), "i0 + i1 - 1");
/// assert_eq!(access.address().unwrap().coefficient(Term::Variable(1)), 1);
/// let [edge] = access.conditions() else { panic!() };
/// assert_eq!((edge.form.to_string(), edge.least, edge.most), ("i0 + i1".to_owned(), Some(1), Some(8)));
/// let affine = access.affine().unwrap();
/// assert_eq!((&affine.strides()[..], affine.offset()), (&[1, 1][..], -1));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    shape: Dims,
    forms: QuasiAffine,
}

/// One affine map from indices to addresses: `offset + sum strides[l] * index[l]`. `Display` names both.
///
/// ```
/// let map = shapetracker::ShapeTracker::contiguous([3, 2])?.flip([0])?.access()?.affine().unwrap();
/// assert_eq!(map.to_string(), "strides (-2, 1) and offset 4");
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AffineMap {
    strides: Dims,
    offset: i64,
}

impl AffineMap {
    /// How far the address moves per step, for each axis.
    ///
    /// ```
    /// let map = shapetracker::ShapeTracker::contiguous([3, 2])?.access()?.affine().unwrap();
    /// assert_eq!(map.strides(), [2, 1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// The address at index 0, 0, .., whether or not there is an element.
    ///
    /// ```
    /// let map = shapetracker::ShapeTracker::contiguous([3])?.pad([(2, 0)])?.access()?.affine().unwrap();
    /// assert_eq!(map.offset(), -2);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn offset(&self) -> i64 {
        self.offset
    }
}

impl fmt::Display for AffineMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "strides {} and offset {}", tuple(&self.strides), self.offset)
    }
}

impl Access {
    /// The access through one view: its strides and its mask.
    fn of_view(view: &View) -> Access {
        let shape = view.shape().into();
        if view.is_empty() {
            return Access { shape, forms: QuasiAffine::new(Vec::new(), Vec::new(), None) };
        }
        let terms = view.strides().iter().enumerate().map(|(axis, stride)| (Term::Variable(axis), *stride));
        let address = Linear::new(view.offset(), terms);
        let masked = view.mask().unwrap_or_default().iter().enumerate();
        let conditions =
            masked.filter(|(axis, range)| **range != (0, view.shape()[*axis])).map(|(axis, (begin, end))| {
                let (least, most) = ((*begin > 0).then_some(*begin), (*end < view.shape()[axis]).then_some(end - 1));
                Condition::new(Term::Variable(axis).into(), least, most)
            });
        Access { shape, forms: QuasiAffine::new(Vec::new(), conditions.collect(), address) }
    }

    /// An access that is as exact as the others, and has the first forms that are found instead of those of the cheapest
    /// expression: for questions about axes, which have no use for an expression. `None` where numbers leave `i64`.
    pub(crate) fn at_once(st: &ShapeTracker) -> Option<Access> {
        if let Some(view) = st.as_view() {
            return Some(Access::of_view(view));
        }
        let (variables, divisions, work) = (st.variables(), st.divisions(Divisions::Cheapest), &mut { u64::MAX });
        let found = |affine: Option<&Affine>| {
            forms(&variables, divisions, |domain| through(domain, st.views(), affine, &mut { u64::MAX }))
        };
        let mut forms = found(None);
        let divides = |forms: &QuasiAffine| forms.value().is_some_and(|address| !address.is_affine());
        if forms.as_ref().is_none_or(divides) {
            forms = st.affine(work).and_then(|affine| found(Some(&affine))).or(forms);
        }
        let mut forms = forms?;
        if !forms.conditions().is_empty() {
            forms = match st.all_or_none_valid(work) {
                Some(true) => QuasiAffine::new(forms.floors().to_vec(), Vec::new(), forms.value().cloned()),
                Some(false) => QuasiAffine::new(Vec::new(), Vec::new(), None),
                None => forms,
            };
        }
        Some(Access { shape: st.shape().into(), forms })
    }

    /// The shape: axis `l`, which is variable `l` of the forms, ranges over `0..shape[l]`.
    ///
    /// ```
    /// let access = shapetracker::ShapeTracker::contiguous([3, 2])?.access()?;
    /// assert_eq!(access.shape(), [3, 2]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The address wherever all conditions hold; `None` when no element has one.
    ///
    /// ```
    /// let access = shapetracker::ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.access()?;
    /// assert_eq!(access.address().unwrap().to_string(), "i0 + i1*2");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn address(&self) -> Option<&Linear> {
        self.forms.value()
    }

    /// What must all hold for an element to have an address; none of them where all elements have one.
    ///
    /// ```
    /// let access = shapetracker::ShapeTracker::contiguous([3])?.pad([(1, 0)])?.access()?;
    /// assert_eq!((access.conditions().len(), access.conditions()[0].least), (1, Some(1)));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn conditions(&self) -> &[Condition] {
        self.forms.conditions()
    }

    /// The floors in the address and in the conditions, each before those that are made of it.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([6])?;
    /// let access = st.access()?;
    /// assert_eq!(access.address().unwrap().to_string(), "i0*2 - q0*5");
    /// let [floor] = access.floors() else { panic!() };
    /// assert_eq!((floor.numerator.to_string(), floor.divisor), ("i0".to_owned(), 3));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn floors(&self) -> &[indexpr::Floor] {
        self.forms.floors()
    }

    /// All of it as one guarded function of the index.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3])?.pad([(1, 0)])?;
    /// assert_eq!(st.access()?.forms().evaluate(&[3]), Some(2));
    /// assert_eq!(st.access()?.forms().evaluate(&[0]), None);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn forms(&self) -> &QuasiAffine {
        &self.forms
    }

    /// How far the address moves per step along an axis, between any two elements that have one: the coefficient of the
    /// axis, if no floor of the address depends on it.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3, 2, 5])?.permute([1, 0, 2])?.reshape([6, 5])?;
    /// let access = st.access()?;
    /// assert_eq!((access.stride(0), access.stride(1)), (None, Some(1)));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn stride(&self, axis: usize) -> Option<i64> {
        let Some(address) = self.address() else { return Some(0) };
        let divided = self.forms.floors_depend_on(address, axis);
        (!divided).then(|| address.coefficient(Term::Variable(axis)))
    }

    /// Whether some condition depends on an axis; if none does, moving along the axis never leaves or enters the mask.
    ///
    /// ```
    /// let access = shapetracker::ShapeTracker::contiguous([3, 2])?.pad([(0, 0), (1, 1)])?.access()?;
    /// assert!(!access.is_guarded(0) && access.is_guarded(1));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_guarded(&self, axis: usize) -> bool {
        self.conditions().iter().any(|condition| self.forms.depends_on(&condition.form, axis))
    }

    /// The one affine map that gives the address wherever there is one, if it was found: an address without a floor.
    ///
    /// A view is always one. A stack of views that no single view can replace may still be one, valid on a set that is no
    /// box: of the stacks of several views that were recorded from real models, 1,661 of 2,451 are. `None` says that a floor is left, not that there is no
    /// such map: of 708 random stacks that brute force found affine where valid, 3 keep a division.
    /// [`ShapeTracker::real_strides`] decides axis by axis.
    ///
    /// ```
    /// let reshaped = shapetracker::ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([6])?;
    /// assert_eq!(reshaped.access()?.affine(), None);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn affine(&self) -> Option<AffineMap> {
        let address = self.address().filter(|address| address.is_affine())?;
        let mut strides = Dims::from_elem(0, self.shape.len());
        for (term, coefficient) in address.terms() {
            if let Term::Variable(axis) = term {
                strides[*axis] = *coefficient;
            }
        }
        Some(AffineMap { strides, offset: address.constant() })
    }
}

/// Stacks of more views than this are written remainder by remainder: what is taken out of divisions would pile up.
const HIGH: usize = 6;

impl ShapeTracker {
    /// How the elements are read: the address as a linear form over axes and floors, and the conditions.
    ///
    /// The forms are those of the cheapest expression ([`ShapeTracker::index_expr`]), and cost as much to find; those of
    /// one view are read off it.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    ///
    /// // Lowered to loops by hand: where is the element (2, 1)?
    /// let access = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([3, 2])?.access()?;
    /// assert_eq!(access.forms().evaluate(&[2, 1]), Some(5));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// An intermediate value that can leave `i64`.
    pub fn access(&self) -> Result<Access, Error> {
        match self.access_within(&mut { u64::MAX }) {
            Ok(access) => Ok(access),
            Err(Unanswered::Error(err)) => Err(err),
            Err(Unanswered::Undecided(_)) => Err(past()),
        }
    }

    /// [`ShapeTracker::access`] with a limit to the work, from which what is done is taken away.
    ///
    /// It is counted in the terms of the forms that are divided and written, of which each takes about a microsecond; for one
    /// view it is none. With little work fewer ways of writing the address are
    /// tried, so that divisions may be left that could be avoided. The forms are exact all the same, and the same on
    /// every machine.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, Unanswered};
    ///
    /// let st = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([6])?;
    /// let mut work = 1000;
    /// assert_eq!(st.access_within(&mut work)?, st.access()?);
    /// assert!((900..1000).contains(&work));
    /// assert!(matches!(st.access_within(&mut 2), Err(Unanswered::Undecided(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Unanswered::Error`] for an intermediate value that can leave `i64`; [`Unanswered::Undecided`] for too little work for
    /// any way of writing the address.
    pub fn access_within(&self, work: &mut u64) -> Result<Access, Unanswered> {
        if let Some(view) = self.as_view() {
            return Ok(Access::of_view(view));
        }
        let Some(built) = self.built(Divisions::Cheapest, work) else {
            if *work == 0 {
                return Err(Undecided.into());
            }
            let code = self.plain_expr().ok_or_else(past)?;
            let forms = code.graph().quasi_affine(code.index(), code.valid()).map_err(Error::from)?.ok_or_else(past)?;
            return Ok(Access { shape: self.shape().into(), forms });
        };
        let forms = match self.validity(built.code(), work) {
            Some(false) => QuasiAffine::new(Vec::new(), Vec::new(), None),
            Some(true) => built.quasi_affine_everywhere().ok_or_else(past)?,
            None => built.quasi_affine().ok_or_else(past)?,
        };
        Ok(Access { shape: self.shape().into(), forms })
    }

    /// The cheapest expressions that we know how to find for the address of an element and for whether it has one.
    ///
    /// Both are expressions over the variables `idx0`, `idx1`, .., one per axis, outermost first: variable `l` of the
    /// graph is axis `l`. Exact at every index: the condition everywhere, the address wherever it holds. A floor goes
    /// where the boundary test (of merging) or an equation proves it affine on the valid indices. One view takes a
    /// microsecond or two, a stack of two some tens; no cost depends on a size.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker::expr::Syntax;
    ///
    /// let st = ShapeTracker::contiguous([4, 4])?.pad([(1, 1), (0, 0)])?.flip([0])?;
    /// let code = st.index_expr()?;
    /// let text = |expr| code.graph().text(expr, Syntax::Python);
    /// assert_eq!(text(code.index())?, "idx1 - idx0 * 4 + 16");
    /// assert_eq!(text(code.valid())?, "1 <= idx0 < 5");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// Of a tracker that reads below address 0 there are expressions, and no [kernels](IndexExpr::kernel): see
    /// [`ShapeTracker::fits_buffer`].
    ///
    /// # Errors
    /// An intermediate value that can leave `i64`.
    pub fn index_expr(&self) -> Result<IndexExpr, Error> {
        self.code(Divisions::Cheapest)
    }

    /// The same for a compiler that multiplies sums out, `5*(i + j)` into `5*i + 5*j`, as tinygrad does: no product of a sum
    /// in it, and the cheapest of those ([`Divisions::MultipliedOut`]).
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker::expr::Syntax;
    ///
    /// let st = ShapeTracker::contiguous([2, 5])?.permute([1, 0])?.reshape([2, 5])?.permute([1, 0])?.reshape([2, 5])?;
    /// let text = |code: &shapetracker::expr::IndexExpr| code.graph().text(code.index(), Syntax::Python);
    /// let both = "(idx0 + idx1 + (idx0 + idx1) // 2) // 2 * 9";
    /// assert_eq!(text(&st.index_expr()?)?, format!("idx0 + (idx0 + idx1) * 7 - {both}"));
    /// assert_eq!(text(&st.multiplied_out_expr()?)?, format!("idx0 * 8 + idx1 * 7 - {both}"));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// An intermediate value that can leave `i64`.
    pub fn multiplied_out_expr(&self) -> Result<IndexExpr, Error> {
        self.code(Divisions::MultipliedOut)
    }

    /// The code, which knows where it reads below address 0: of that there are no kernels.
    fn code(&self, divisions: Divisions) -> Result<IndexExpr, Error> {
        let lowest = |range: Option<(i64, i64)>| range.map_or(0, |(low, _)| low.min(0));
        let mut low = lowest(self.views()[0].address_range());
        if low < 0 && self.views().len() > 1 {
            // What the view next to memory reads need not all be read. What is not decided must not be handed out.
            low = self.address_range().map_or(low, lowest);
        }
        Ok(self.written(divisions)?.reading_from(low))
    }

    fn written(&self, divisions: Divisions) -> Result<IndexExpr, Error> {
        // One view is written term by term, in half the time and with the same result. In a browser, which has to download
        // it, there is only what takes any tracker.
        if let Some(view) = self.as_view().filter(|_| cfg!(not(target_family = "wasm"))) {
            let forms = Access::of_view(view).forms;
            let affine = |address| IndexExpr::affine(&self.variables(), self.shape(), address, forms.conditions());
            if let Some(code) = forms.value().and_then(affine) {
                return Ok(code);
            }
        }
        let work = &mut { u64::MAX };
        let code = match self.built(divisions, work) {
            Some(built) => built.into_code(),
            None => {
                let what = "an intermediate value of the address, in whatever order it is computed,";
                self.plain_expr().ok_or_else(|| Error::new("index_expr", Fault::Overflow { what }))?
            }
        };
        Ok(match self.validity(&code, work) {
            Some(valid) => code.with_validity(valid),
            None => code,
        })
    }

    /// One variable per axis. A variable always has a value, that of an axis of size 0 as well.
    fn variables(&self) -> Vec<Variable> {
        let named = |(axis, size): (usize, &i64)| Variable::new(format!("idx{axis}"), 0..(*size).max(1));
        self.shape().iter().enumerate().map(named).collect()
    }

    /// The address and the conditions, written as cheaply as can be; `None` where that leaves `i64` in every way tried.
    /// Within some work, which is then less; 0 where it was too little for any way.
    fn built(&self, divisions: Divisions, work: &mut u64) -> Option<Built> {
        let (mut views, variables) = (Cow::Borrowed(self.views()), self.variables());
        let divisions = self.divisions(divisions);
        let written = |views: &[View], divisions, affine: Option<&Affine>, work: &mut u64| {
            cheapest(&variables, self.shape(), divisions, |domain| through(domain, views, affine, work))
        };
        let cost = |built: &Built| (built.code().cost().weight, built.code().cost().ops);
        let mut best = written(&views, divisions, None, work);
        for gaps in [false, true] {
            // What needs no division is as cheap as can be.
            if let Some(best) = &best
                && best.code().cost().weight == best.code().cost().ops
            {
                break;
            }
            if let Some(eased) = ease::eased(self.views(), gaps)
                && let Some(other) = written(&eased, divisions, None, work)
                && best.as_ref().is_none_or(|best| cost(&other) < cost(best))
            {
                (views, best) = (Cow::Owned(eased.to_vec()), Some(other));
            }
        }
        if best.as_ref().is_none_or(|best| best.code().index_divides()) {
            best = self.affine(work).and_then(|affine| written(&views, divisions, Some(&affine), work)).or(best);
        }
        best.or_else(|| written(&views, Divisions::EveryRemainder, None, work))
    }

    /// The expressions as the views define them, with nothing put into anything: what is left where all else leaves
    /// `i64`.
    fn plain_expr(&self) -> Option<IndexExpr> {
        let mut graph = Graph::new();
        let mut valid = graph.bool(true);
        let mut sum = |graph: &mut Graph, terms: &[(Expr, i64, (i64, i64), i64)], offset: i64| {
            let mut sum = graph.int(offset);
            for &(value, stride, (begin, end), size) in terms {
                if (begin, end) != (0, size) {
                    let within = graph.within(value, begin, end).ok()?;
                    valid = graph.binary(Binary::And, valid, within).ok()?;
                }
                let stride = graph.int(stride);
                let term = graph.binary(Binary::Mul, value, stride).ok()?;
                sum = graph.binary(Binary::Add, sum, term).ok()?;
            }
            Some(sum)
        };
        let (mut position, mut terms) = (graph.int(0), Vec::new());
        for (number, view) in self.views().iter().rev().enumerate() {
            terms.clear();
            if number == 0 {
                for (axis, variable) in self.variables().into_iter().enumerate() {
                    let value = graph.variable(&variable.name, variable.range).ok()?;
                    terms.push((value, view.strides()[axis], view.range(axis), view.shape()[axis]));
                }
                position = sum(&mut graph, &terms, view.offset())?;
                continue;
            }
            let level = Level::of(view);
            for (j, digit) in level.digits.iter().enumerate() {
                let weight = graph.int(digit.weight);
                let mut value = graph.binary(Binary::Div, position, weight).ok()?;
                if j + 1 < level.digits.len() {
                    let size = graph.int(digit.size);
                    value = graph.binary(Binary::Mod, value, size).ok()?;
                }
                terms.push((value, digit.stride, (digit.begin, digit.end), digit.size));
            }
            position = sum(&mut graph, &terms, i64::try_from(level.offset).ok()?)?;
        }
        let (index, valid) = graph.simplify_pair(position, valid);
        IndexExpr::new(graph, index, valid, self.shape()).ok()
    }

    /// How divisions are written for a stack that may be high.
    fn divisions(&self, wanted: Divisions) -> Divisions {
        if self.views().len() > HIGH { Divisions::EveryRemainder } else { wanted }
    }

    /// What the address is where it is valid, if it is affine there: divisions may cancel out of it even though none of them
    /// can be done without.
    fn affine(&self, work: &mut u64) -> Option<Affine> {
        let stack = Stacked::of(self.views())?;
        a_little_of(work, self.rank(), |little| stack.affine_where_valid(little).ok()?)
    }

    /// Whether a condition holds for all indices or for none although it does not look like it.
    fn validity(&self, code: &IndexExpr, work: &mut u64) -> Option<bool> {
        if self.views().len() == 1 || code.graph().range(code.valid()) != (0, 1) {
            return None;
        }
        self.all_or_none_valid(work)
    }

    /// Whether all elements have an address or none has one.
    fn all_or_none_valid(&self, work: &mut u64) -> Option<bool> {
        // A few indices nearly always tell: the first, the last, and some in between without any order.
        let mut some = scattered(self.numel()).take(33);
        let is_valid = |position: i64| self.address(&unravel(position, self.shape())).is_some();
        let first = is_valid(some.next()?);
        if some.any(|position| is_valid(position) != first) {
            return None;
        }
        let stack = Stacked::of(self.views())?;
        a_little_of(work, 1, |little| stack.validity(little).ok()?)
    }
}

/// What no way of writing the address avoids.
fn past() -> Error {
    Error::new(
        "access",
        Fault::Overflow { what: "an intermediate value of the address, in whatever order it is computed," },
    )
}

/// Asks a question with a limit of a few milliseconds, and of what is left of some work, if that is enough to look at a sample
/// of elements and to solve equations of so many unknowns.
fn a_little_of<T>(left: &mut u64, unknowns: usize, ask: impl FnOnce(&mut Work) -> Option<T>) -> Option<T> {
    *left = left.checked_sub(8 + (unknowns * unknowns) as u64)?;
    let mut little = Work::a_little_of(left);
    let answer = ask(&mut little);
    little.give_back(left);
    answer
}

/// The address through all views, from the last one down to memory, with every mask required. If the address
/// is known to be affine, the views only give the conditions.
///
/// A division is as much work as forms have terms. Writing it all afterwards grows with the pairs of terms and conditions and
/// faster than the pairs of terms; the numbers were measured. `None` with no work left where it was too little.
fn through(domain: &mut Domain, views: &[View], affine: Option<&Affine>, work: &mut u64) -> Option<Index> {
    if views.iter().any(View::is_empty) {
        return Some(Index::Nowhere);
    }
    let (last, earlier) = views.split_last()?;
    let mut position = Form::constant(last.offset())?;
    for (axis, (&size, &stride)) in last.shape().iter().zip(last.strides()).enumerate() {
        if size == 1 {
            continue;
        }
        let index = domain.variable(axis)?;
        position = position.plus(stride, &index)?;
        let (begin, end) = last.range(axis);
        domain.require(index, begin..end);
    }
    for view in earlier.iter().rev() {
        match Digits::new(domain, Level::apart(view), position, work).address()? {
            Some(address) => position = address,
            None => return Some(Index::Nowhere),
        }
    }
    if let Some(affine) = affine {
        position = Form::constant(affine.constant)?;
        for (axis, &size) in last.shape().iter().enumerate().filter(|(_, size)| **size != 1) {
            debug_assert!(size > 1);
            let index = domain.variable(axis)?;
            position = position.plus(affine.steps[axis], &index)?;
        }
    }
    let (terms, conditions) = (domain.terms() as u64, domain.requirements() as u64);
    *work = work.saturating_sub(10 + 3 * terms * conditions + terms * terms * terms / 32);
    (*work > 0).then_some(Index::At(position))
}

/// A position of a view, split into the digits that are the view's index.
struct Digits<'a> {
    domain: &'a mut Domain,
    level: Level,
    position: Form,
    /// The quotients of the position: divisor, how many conditions were required before, and quotient.
    quotients: SmallVec<[(i64, usize, Form); 8]>,
    /// What is left of the work.
    work: &'a mut u64,
}

impl<'a> Digits<'a> {
    fn new(domain: &'a mut Domain, level: Level, position: Form, work: &'a mut u64) -> Self {
        Digits { domain, level, position, quotients: SmallVec::new(), work }
    }

    /// The address, `Some(None)` when no index is valid, `None` past `i64`.
    fn address(mut self) -> Option<Option<Form>> {
        // What is still open when all affine digits are known gains by what they say.
        let mut open = SmallVec::<[usize; 8]>::new();
        for j in 0..self.level.digits.len() {
            let digit = self.level.digits[j];
            if !digit.is_masked() {
                continue;
            }
            let before = self.domain.terms();
            let under = self.quotient(digit.weight)?;
            let value = if self.domain.terms() == before && j + 1 < self.level.digits.len() {
                match self.domain.unwrapped(&under, digit.size, digit.begin..digit.end) {
                    Some(value) => value,
                    None => self.digit(j)?,
                }
            } else {
                self.digit(j)?
            };
            if self.domain.terms() > before {
                open.push(j);
            } else if !self.domain.require(value, digit.begin..digit.end) {
                return Some(None);
            }
        }
        for j in open {
            let (value, digit) = (self.digit(j)?, self.level.digits[j]);
            if !self.domain.require(value, digit.begin..digit.end) {
                return Some(None);
            }
        }
        let mut address = Form::constant(self.level.offset)?;
        if self.domain.keeps_remainders() {
            // The sum of all digits: coefficients stay small however many views there are.
            for j in 0..self.level.digits.len() {
                let value = self.digit(j)?;
                address = address.plus(self.level.digits[j].stride, &value)?;
            }
            return Some(Some(address));
        }
        for j in 0..self.level.digits.len() {
            // Digit j is q(j) - size * q(j + 1), so that q(j) moves the address by this.
            let digit = self.level.digits[j];
            let under = j.checked_sub(1).map(|under| self.level.digits[under]);
            let wrap = under.map_or(0, |under| i128::from(under.size) * i128::from(under.stride));
            let step = i128::from(digit.stride) - wrap;
            if step != 0 {
                let quotient = self.quotient(digit.weight)?;
                address = address.plus(i64::try_from(step).ok()?, &quotient)?;
            }
        }
        Some(Some(self.domain.with_remainders(address)?))
    }

    /// A quotient of the position; it is kept until more is required.
    fn quotient(&mut self, divisor: i64) -> Option<Form> {
        *self.work = self.work.saturating_sub(self.domain.terms() as u64);
        if *self.work == 0 {
            return None;
        }
        let now = self.domain.requirements();
        let known = self.quotients.iter().find(|(by, when, _)| *by == divisor && *when == now);
        if let Some((_, _, quotient)) = known {
            return Some(quotient.clone());
        }
        let quotient = self.domain.quotient(&self.position, divisor)?;
        self.quotients.push((divisor, now, quotient.clone()));
        Some(quotient)
    }

    /// A digit of the position.
    fn digit(&mut self, j: usize) -> Option<Form> {
        let digit = self.level.digits[j];
        let value = self.quotient(digit.weight)?;
        let Some(above) = self.level.digits.get(j + 1).map(|above| above.weight) else { return Some(value) };
        if self.domain.keeps_remainders() {
            return self.domain.remainder(&value, digit.size);
        }
        let above = self.quotient(above)?;
        self.domain.with_remainders(value.plus(-digit.size, &above)?)
    }
}
