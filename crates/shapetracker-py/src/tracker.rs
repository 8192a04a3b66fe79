//! `ShapeTracker`: a stack of views.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicI64, Ordering};

use pyo3::exceptions::{PyDeprecationWarning, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange, PyTuple};
use shapetracker::{Dims, ErrorKind, MovementOf};
use shapetracker_symbolic::Sym as Named;

use crate::arguments::{Size, described, flipped, number, numbers, pairs, sizes, sizes_of, tuple};
use crate::contiguous::Contiguous;
use crate::error::{Undecided, layout, not_inverted, not_invertible, parse, unanswered, undecided, unmerged};
use crate::expr::{Expr, IndexExpr};
use crate::import::module;
use crate::indexing::Index;
use crate::kind::{Axes, Kind, Refusal, moved};
use crate::merge::Merged;
use crate::picture::{self, Drawn};
use crate::symbolic::{self, Answer, Condition, NamedView, has_names, needs_text, refused, values_wanted};
use crate::view::{View, ends, shown};

/// A tensor's layout after a chain of movement operations, kept at the fewest views; the first is next to memory.
///
/// Operations return a new tracker. Two trackers are equal when their views are; `difference` says whether two are the
/// same map.
///
/// Sizes may be names: `ShapeTracker.contiguous(n, 32)`, where `n` is a `Sym`, stands for one tracker of numbers for each choice
/// of values, which `at` makes, and any operation makes such a tracker where a `Sym` is among its arguments. Its views are
/// merged where they are one view for all values, in one set of polynomials; elsewhere both are kept, and `single_view` says
/// for which values they are one. What an operation needs of the values is collected in `needs`; an operation that is right for
/// no values is a ValueError. A tracker without any name is one of numbers. Two trackers of names are equal when their
/// views, `names`, `known` and `needs` are, so that none of them equals one of numbers.
///
/// >>> from shapetracker import ShapeTracker, Sym
/// >>> n, s, l = Sym("N"), Sym("s", 0), Sym("L")
/// >>> cut = ShapeTracker.contiguous(n, 64).shrink((s, s + l), None)
/// >>> print(cut)
/// (L, 64):(64, 1) offset 64*s
/// >>> cut.needs
/// (N >= s + L,)
/// >>> cut.at(N=10, s=2, L=3)
/// ShapeTracker(views=(View(shape=(3, 64), strides=(64, 1), offset=128, mask=None),))
#[pyclass(frozen, eq, hash, generic, module = "shapetracker")]
#[derive(Clone)]
pub(crate) struct ShapeTracker(Kind<shapetracker::ShapeTracker, shapetracker_symbolic::ShapeTracker>);

type Any<'py> = Bound<'py, PyAny>;

/// Two indices.
type Indices<'py> = (Bound<'py, PyTuple>, Bound<'py, PyTuple>);

/// More views than this are not even read.
const MOST_GIVEN: usize = 1 << 16;

/// The row-major tracker of a shape.
fn row_major<'py>(shape: &Bound<'py, PyTuple>) -> PyResult<Any<'py>> {
    const OP: &str = "contiguous";
    let py = shape.py();
    let made = match numbers(OP, shape) {
        Ok(sizes) => ShapeTracker::of_numbers(py, shapetracker::ShapeTracker::contiguous(sizes)),
        Err(err) if !has_names(&[shape.as_any()]) => Err(err),
        Err(_) => {
            ShapeTracker::of_names(py, OP, shapetracker_symbolic::ShapeTracker::contiguous(sizes::<Named>(OP, shape)?))
        }
    };
    made.map(Bound::into_any)
}

#[pymethods]
impl ShapeTracker {
    #[new]
    fn new(views: &Any<'_>) -> PyResult<Self> {
        const OP: &str = "ShapeTracker";
        let mismatch = |what: &Any<'_>| {
            let hint = "ShapeTracker.contiguous(2, 3) makes a tracker from a shape";
            PyTypeError::new_err(format!("{OP}: takes views, not {}; {hint}", described(what)))
        };
        let mut all = Vec::new();
        for view in views.try_iter().map_err(|_| mismatch(views))? {
            let view = view?;
            if all.len() == MOST_GIVEN {
                return Err(PyValueError::new_err(format!("{OP}: takes at most {MOST_GIVEN} views")));
            }
            all.push(view.cast::<View>().map_err(|_| mismatch(&view))?.clone());
        }
        if all.iter().any(|view| view.get().has_names()) {
            let named: Vec<_> = all.iter().map(|view| view.get().named()).collect();
            let (scope, views) = NamedView::united(OP, &named.iter().map(|view| &**view).collect::<Vec<_>>())?;
            return ShapeTracker::from_names(shapetracker_symbolic::ShapeTracker::from_views(scope, views));
        }
        let all = all.iter().map(|view| view.get().numbers(OP).cloned()).collect::<PyResult<Vec<_>>>()?;
        shapetracker::ShapeTracker::from_views(all).map(ShapeTracker::from).map_err(|err| layout(&err))
    }

    #[classattr]
    fn contiguous() -> Contiguous {
        Contiguous::new(row_major)
    }

    /// Reads a chain, `(3, 2).permute(1, 0).reshape(3, 2)`, or the views that `repr` and `str` write. The addresses are those
    /// of the array that the chain starts with, also after `copy()` and what else copies.
    ///
    /// With `where`, which says what is known of names and may be empty, sizes may be names:
    /// `ShapeTracker.parse("(B, T).reshape(-1)", where="T=1..4097")`. As for the command, there are half-open ranges
    /// (`T=1..4097, T=0.., x=..`), definitions (`H=8*h`) and conditions (`s + L <= N`). A name without a range is at least 1,
    /// or any integer if it occurs in strides only.
    #[staticmethod]
    #[pyo3(signature = (text, r#where=None))]
    pub(crate) fn parse(py: Python<'_>, text: &str, r#where: Option<&str>) -> PyResult<Self> {
        match r#where {
            None => {
                text.parse().map(|made: shapetracker::ShapeTracker| made.into()).map_err(|err| parse(py, text, &err))
            }
            Some(known) => {
                ShapeTracker::from_names(symbolic::parsed(py, text, known, |scope, chain| chain.tracker(scope)))
            }
        }
    }

    /// The tracker of all that one with names is, as `pickle` keeps it: names with ranges, definitions, what is given, what is
    /// needed, and views, all as numbers and texts.
    #[staticmethod]
    fn of_parts(
        names: Vec<(String, Option<i128>, Option<i128>)>,
        definitions: Vec<(String, String)>,
        given: Vec<shapetracker_symbolic::LiteralParts>,
        needs: Vec<shapetracker_symbolic::LiteralParts>,
        views: Vec<shapetracker_symbolic::ViewParts>,
    ) -> PyResult<Self> {
        let parts = shapetracker_symbolic::Parts { names, definitions, given, needs, views };
        ShapeTracker::from_names(shapetracker_symbolic::ShapeTracker::from_parts(&parts))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let class = py.get_type::<ShapeTracker>();
        match &self.0 {
            Kind::Numbers(_) => (class, (self.views(py)?,)).into_pyobject(py),
            Kind::Names(named) => {
                let shapetracker_symbolic::Parts { names, definitions, given, needs, views } = named.parts();
                (class.getattr("of_parts")?, (names, definitions, given, needs, views)).into_pyobject(py)
            }
        }
    }

    /// The views, the first next to memory.
    #[getter]
    fn views<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0 {
            Kind::Numbers(tracker) => PyTuple::new(py, tracker.views().iter().cloned().map(View::from)),
            Kind::Names(_) => PyTuple::new(py, self.each()),
        }
    }

    /// The view, where there is just one; None where there are several.
    fn as_view(&self) -> Option<View> {
        match &self.0 {
            Kind::Numbers(tracker) => tracker.as_view().cloned().map(View::from),
            Kind::Names(named) => named.as_view().map(|view| View::over(named.scope(), view)),
        }
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0 {
            Kind::Numbers(tracker) => tuple(py, tracker.shape()),
            Kind::Names(named) => symbolic::tuple(py, named.sizes()),
        }
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        match &self.0 {
            Kind::Numbers(tracker) => tracker.rank(),
            Kind::Names(named) => named.rank(),
        }
    }

    /// The number of elements, masked ones included.
    #[getter]
    fn numel<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        match &self.0 {
            Kind::Numbers(tracker) => Ok(tracker.numel().into_pyobject(py)?.into_any()),
            Kind::Names(named) => symbolic::made(py, named.numel()),
        }
    }

    /// The conditions on names without which an operation could not have been done; they hold together.
    #[getter]
    fn needs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let conditions =
            |named: &shapetracker_symbolic::ShapeTracker| symbolic::conjunction(py, named.scope(), named.needs());
        self.named().map_or_else(|| Ok(PyTuple::empty(py)), conditions)
    }

    /// The names, each with the least and the greatest value, None where there is none.
    #[getter(names)]
    fn all_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.named().map_or_else(|| Ok(PyDict::new(py)), |named| symbolic::names(py, named.scope()))
    }

    /// What is known of the names, as `parse` reads it: `"n=1..4097, s=.., s + L <= N"`.
    #[getter]
    fn known(&self) -> String {
        self.named().map_or_else(String::new, |named| named.scope().known())
    }

    /// The tracker of numbers where the names have values: `at(n=8)`. Values of other names change nothing, so that one
    /// environment serves many trackers; a tracker of numbers is what it is.
    ///
    /// Raises ValueError where a name has no value, or where the values do not satisfy `needs` or what is given.
    #[pyo3(signature = (**values))]
    fn at<'py>(slf: &Bound<'py, Self>, values: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, Self>> {
        match &slf.get().0 {
            Kind::Numbers(_) => Ok(slf.clone()),
            Kind::Names(named) => Bound::new(slf.py(), ShapeTracker::from(at("at", named, values)?)),
        }
    }

    /// The same tensor where conditions are known to hold: `given(N >= s + L)`.
    #[pyo3(signature = (*conditions))]
    fn given(&self, conditions: &Bound<'_, PyTuple>) -> PyResult<Self> {
        const OP: &str = "given";
        let mut known = self.names(OP)?.into_owned();
        for condition in conditions {
            let mismatch = || {
                PyTypeError::new_err(format!("{OP}: takes conditions such as n >= 4, not {}", described(&condition)))
            };
            let condition = condition.cast::<Condition>().map_err(|_| mismatch())?.get().plain(OP)?;
            known = known.given(&condition).map_err(|err| refused(&err))?;
        }
        ShapeTracker::from_names(Ok::<_, PyErr>(known))
    }

    /// The address of an element: `address(1, 2)`, with values of the names if there are some: `address(1, 2, n=8)`. None
    /// where it is masked or does not exist.
    #[pyo3(signature = (*index, **values))]
    fn address(&self, index: &Bound<'_, PyTuple>, values: Option<&Bound<'_, PyDict>>) -> PyResult<Option<i64>> {
        const OP: &str = "address";
        match &self.0 {
            Kind::Numbers(tracker) => Ok(tracker.address(&numbers(OP, index)?)),
            Kind::Names(named) => Ok(at(OP, named, values)?.address(&numbers(OP, index)?)),
        }
    }

    /// The addresses of all elements in row-major order, None where there is none. Asked of numbers.
    fn addresses(&self) -> PyResult<Addresses> {
        Ok(Addresses { tracker: self.numbers("addresses")?.clone(), next: 0.into() })
    }

    /// The same elements in row-major order under another shape, of which one size may be -1: of names it is inferred by exact
    /// division. Never fails for lack of a single view: another view goes on top where it must.
    #[pyo3(signature = (*shape))]
    fn reshape<'py>(&self, shape: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        moved!(self, shape.py(), "reshape", [shape], sizes::<N>(OP, shape), |tracker, to| tracker.reshape(to))
    }

    /// The axes in a new order.
    #[pyo3(signature = (*axes))]
    fn permute<'py>(&self, axes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        let py = axes.py();
        let axes = numbers("permute", axes)?;
        moved!(self, py, "permute", |tracker| tracker.permute(&axes))
    }

    /// Two axes exchanged.
    fn transpose<'py>(&self, first: &Any<'py>, second: &Any<'py>) -> PyResult<Bound<'py, Self>> {
        let py = first.py();
        let axis = |value| number("transpose", || "an axis".into(), value);
        let (first, second) = (axis(first)?, axis(second)?);
        moved!(self, py, "transpose", |tracker| tracker.transpose(first, second))
    }

    /// Axes of size 1 repeated to the given sizes; -1 for an axis that stays.
    #[pyo3(signature = (*sizes))]
    fn expand<'py>(&self, sizes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        moved!(self, sizes.py(), "expand", [sizes], self::sizes::<N>(OP, sizes), |tracker, to| tracker.expand(to))
    }

    /// Broadcast to a shape as NumPy does it, with new axes in front where it has more.
    #[pyo3(signature = (*shape))]
    fn broadcast_to<'py>(&self, shape: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        moved!(self, shape.py(), "broadcast_to", [shape], sizes::<N>(OP, shape), |tracker, to| tracker.broadcast_to(to))
    }

    /// Masked elements `(before, after)` per axis; None for an axis that stays.
    #[pyo3(signature = (*pads))]
    fn pad<'py>(&self, pads: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        moved!(self, pads.py(), "pad", [pads], pairs::<N>(OP, |_| Some((0.into(), 0.into())), pads), |tracker, by| {
            tracker.pad(by)
        })
    }

    /// The half-open range `(begin, end)` of each axis; None for all of it. Of names, that it lies inside is a need where it is
    /// not known.
    #[pyo3(signature = (*ranges))]
    fn shrink<'py>(&self, ranges: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        moved!(
            self,
            ranges.py(),
            "shrink",
            [ranges],
            pairs::<N>(OP, |axis| tracker.whole(axis), ranges),
            |tracker, to| tracker.shrink(to)
        )
    }

    /// The named axes reversed; or one True or False per axis.
    #[pyo3(signature = (*axes))]
    fn flip<'py>(&self, axes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        let py = axes.py();
        let axes = flipped("flip", self.ndim(), axes)?;
        moved!(self, py, "flip", |tracker| tracker.flip(&axes))
    }

    /// Every step-th element of each axis; a negative step walks from the last element backwards. Steps are numbers.
    #[pyo3(signature = (*steps))]
    fn step<'py>(&self, steps: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        let py = steps.py();
        let steps = numbers("step", steps)?;
        moved!(self, py, "step", |tracker| tracker.step(&steps))
    }

    /// Without the named axes of size 1: `squeeze(0, 2)`. Without an argument, without every axis of size 1, of names without
    /// those of which that is known; `squeeze(())` names none and changes nothing, as in NumPy.
    #[pyo3(signature = (*axes))]
    fn squeeze<'py>(&self, axes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        let py = axes.py();
        if axes.is_empty() {
            return moved!(self, py, "squeeze", |tracker| tracker.apply(&MovementOf::SqueezeAll));
        }
        let axes = numbers("squeeze", axes)?;
        moved!(self, py, "squeeze", |tracker| tracker.squeeze(&axes))
    }

    /// A new axis of size 1 before the given one; a negative number counts from behind the last axis.
    fn unsqueeze<'py>(&self, axis: &Any<'py>) -> PyResult<Bound<'py, Self>> {
        let py = axis.py();
        let axis = number("unsqueeze", || "the axis".into(), axis)?;
        moved!(self, py, "unsqueeze", |tracker| tracker.unsqueeze(axis))
    }

    /// Any strided view of this tensor's elements in row-major order.
    #[pyo3(signature = (shape, strides, offset=None))]
    fn as_strided<'py>(
        &self,
        shape: &Any<'py>,
        strides: &Any<'py>,
        offset: Option<&Any<'py>>,
    ) -> PyResult<Bound<'py, Self>> {
        moved!(
            self,
            shape.py(),
            "as_strided",
            [shape, strides, offset.unwrap_or(shape)],
            strided::<N>(OP, shape, strides, offset),
            |tracker, (sizes, strides, offset)| tracker.as_strided(sizes, strides, offset)
        )
    }

    /// This tracker and then a later one, a tracker or a view, whose addresses are positions of this tensor in row-major order:
    /// `base.then(later)` reads what `later` reads of the array that `base` makes.
    ///
    /// >>> from shapetracker import ShapeTracker, View
    /// >>> turned = ShapeTracker.contiguous(2, 3).permute(1, 0)
    /// >>> turned.then(View((6,))) == turned.reshape(6)
    /// True
    fn then<'py>(&self, later: &Any<'py>) -> PyResult<Bound<'py, Self>> {
        const OP: &str = "then";
        let py = later.py();
        if let (Kind::Numbers(tracker), Ok(later)) = (&self.0, later.cast::<ShapeTracker>())
            && let Kind::Numbers(later) = &later.get().0
        {
            return ShapeTracker::of_numbers(py, tracker.compose(later));
        }
        let later = ShapeTracker::any(OP, later)?;
        ShapeTracker::of_names(py, OP, self.names(OP)?.compose(&*later.names(OP)?))
    }

    /// The old name of `then`, which is to be called instead.
    fn compose<'py>(&self, over: &Any<'py>) -> PyResult<Bound<'py, Self>> {
        let py = over.py();
        let kind = py.get_type::<PyDeprecationWarning>();
        PyErr::warn(
            py,
            &kind,
            c"compose: it is called `then` now: `base.then(later)` is the later tracker over the base",
            1,
        )?;
        self.then(over)
    }

    /// Basic indexing as in NumPy: integers, slices, `...` and None; indices and bounds may have names in them.
    fn __getitem__<'py>(&self, index: &Any<'py>) -> PyResult<Bound<'py, Self>> {
        moved!(self, index.py(), "indexing", [index], Index::<N>::read(tracker.rank(), index), |tracker, at| at
            .of(tracker))
    }

    /// The trackers of the elements of the first axis, whose size is to be a number.
    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Any<'py>> {
        let py = slf.py();
        let first = match &slf.get().0 {
            Kind::Numbers(tracker) => Some(tracker.shape().first().copied().unwrap_or_default()),
            Kind::Names(named) => {
                let first = named.shape().first().map_or(Some(0), |size| size.number());
                first.and_then(|size| i64::try_from(size).ok())
            }
        };
        let Some(size) = first else {
            let sentence = "a ShapeTracker whose first size has a name is not iterable: how many elements it has depends on the values";
            return Err(PyTypeError::new_err(sentence));
        };
        module(py, "builtins")?
            .getattr("map")?
            .call1((slf.getattr("__getitem__")?, PyRange::new(py, 0, size as isize)?))
    }

    /// Whether the elements lie one after another in row-major order, from any address on, without a mask: what NumPy and
    /// PyTorch call contiguous. With names a TypeError where it depends on the values: `contiguity` says on which.
    fn is_contiguous(&self) -> PyResult<bool> {
        match &self.0 {
            Kind::Numbers(tracker) => Ok(tracker.is_contiguous()),
            Kind::Names(named) => symbolic::is_contiguous(named),
        }
    }

    /// Whether the address of each element is its position: one view that is contiguous from address 0. With names a TypeError
    /// where it depends on the values.
    fn is_identity(&self) -> PyResult<bool> {
        match &self.0 {
            Kind::Numbers(tracker) => Ok(tracker.is_identity()),
            Kind::Names(named) => symbolic::is_identity(named),
        }
    }

    /// The single view that does what all views do. Raises Unmerged, with a witness, when there is provably none.
    ///
    /// With names it is the Answer to the question for which values there is one:
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> n = Sym("n", 1, 4096)
    /// >>> ShapeTracker.contiguous(n, 32).permute(1, 0).reshape(4, -1).single_view()
    /// <Answer: one view if and only if n == 1>
    fn single_view(&self, py: Python<'_>) -> PyResult<Merged> {
        match &self.0 {
            Kind::Numbers(tracker) => match tracker.single_view() {
                Ok(view) => Ok(Merged::View(view.into())),
                Err(err) => Err(unmerged(py, err)),
            },
            Kind::Names(named) => Ok(Merged::Answer(Answer::of_tracker(py, named))),
        }
    }

    /// For which values two trackers of one shape read the same address at every index: of these tuples one must hold, each
    /// of conditions that hold together. Without conditions, `((),)`, that is for all values, and `()` for none.
    ///
    /// Raises Undecided where that is not known.
    fn equality<'py>(&self, py: Python<'py>, other: &Any<'py>) -> PyResult<Bound<'py, PyTuple>> {
        const OP: &str = "equality";
        let other = ShapeTracker::any(OP, other)?;
        if let (Kind::Numbers(one), Kind::Numbers(other)) = (&self.0, &other.0) {
            return symbolic::certain(py, one.difference(other).map_err(unanswered)?.is_none());
        }
        let (named, other) = (self.names(OP)?, other.names(OP)?);
        let equality = named.equality(&other).map_err(|err| refused(&err))?;
        let undecided = || Undecided::new_err("equality: whether stacks of several views are the same is not decided");
        symbolic::for_values(py, named.scope(), equality)?.ok_or_else(undecided)
    }

    /// For which values the elements lie one after the other in row-major order, from whatever address on: a formula, as
    /// `equality` has it, so that `((),)` is for all values and `()` for none.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> ShapeTracker.contiguous(Sym("n"), 4).permute(1, 0).contiguity()
    /// ((n == 1,),)
    ///
    /// Raises Undecided where that is not known.
    fn contiguity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0 {
            Kind::Numbers(tracker) => symbolic::certain(py, tracker.is_contiguous()),
            Kind::Names(named) => {
                let undecided = || Undecided::new_err("contiguity: whether several views lie in order is not decided");
                symbolic::for_values(py, named.scope(), named.contiguity())?.ok_or_else(undecided)
            }
        }
    }

    /// The smallest and the largest address that is read; None when none is.
    ///
    /// With names they are for all values for which any is read. Raises Undecided where they are not known: where there are
    /// several views, or where the sign of a stride or the end of a mask depends on the values.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> ShapeTracker.contiguous(Sym("n"), 4)[:, 1:3].address_range()
    /// (1, 4*n - 2)
    fn address_range<'py>(&self, py: Python<'py>) -> PyResult<Option<(Any<'py>, Any<'py>)>> {
        match &self.0 {
            Kind::Numbers(tracker) => ends(py, tracker.address_range().map_err(undecided)?),
            Kind::Names(named) => symbolic::address_range(py, named).map(Some),
        }
    }

    /// How many elements the buffer must have: one more than the largest address that is read.
    ///
    /// With names for all values for which any is read. Raises Undecided where that is not known, or where an address below 0
    /// may be read.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> ShapeTracker.contiguous(Sym("n"), 4)[:, 1:3].buffer_len()
    /// 4*n - 1
    fn buffer_len<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        match &self.0 {
            Kind::Numbers(tracker) => Ok(tracker.buffer_len().map_err(unanswered)?.into_pyobject(py)?.into_any()),
            Kind::Names(named) => match named.buffer_len() {
                Some(len) => symbolic::made(py, len),
                None => Err(symbolic::unknown("buffer_len")),
            },
        }
    }

    /// For each axis its stride, where the address is affine along it on the valid indices; None where it is not. Asked of
    /// numbers.
    fn real_strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.numbers("real_strides")?.real_strides().map_err(undecided)?)
    }

    /// The one affine map that gives the address of every element that has one: its strides, its offset, and the condition
    /// under which an element has an address. None where a division is left in the address. Asked of numbers.
    ///
    /// A stack of views that no single view can replace may still be one affine map, valid on a set that is no box.
    fn affine<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyTuple>, i64, Expr)>> {
        let tracker = self.numbers("affine")?;
        let Some(map) = tracker.access().map_err(|err| layout(&err))?.affine() else { return Ok(None) };
        let code = tracker.index_expr().map_err(|err| layout(&err))?;
        let valid = Expr::extracted(code.graph(), code.valid())?;
        Ok(Some((PyTuple::new(py, map.strides())?, map.offset(), valid)))
    }

    /// The axes along which neighbours lie next to each other in memory. Asked of numbers.
    fn unit_stride_axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.numbers("unit_stride_axes")?.unit_stride_axes().map_err(undecided)?)
    }

    /// Whether some valid index turns invalid when its entry at an axis changes. Asked of numbers.
    fn axis_is_masked(&self, axis: &Any<'_>) -> PyResult<bool> {
        const OP: &str = "axis_is_masked";
        let axis = number(OP, || "the axis".into(), axis)?;
        self.numbers(OP)?.axis_is_masked(axis).map_err(unanswered)
    }

    /// Two valid indices that read the same address; None when no two do. With names, values of them and two indices that read
    /// the same address there; raises Undecided where it is not known whether two do for some values.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> ShapeTracker.contiguous(1).expand(3).collision()
    /// ((0,), (1,))
    /// >>> ShapeTracker.contiguous(Sym("n"), 4).permute(1, 0).collision()
    /// >>> ShapeTracker.contiguous(1).expand(Sym("n")).collision()
    /// ({'n': 4}, ((0,), (1,)))
    fn collision<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let indices = |[first, second]: [&[i64]; 2]| Ok::<Indices<'py>, PyErr>((tuple(py, first)?, tuple(py, second)?));
        match &self.0 {
            Kind::Numbers(tracker) => match tracker.collision().map_err(undecided)? {
                Some([first, second]) => indices([&first, &second])?.into_pyobject(py).map(Some),
                None => Ok(None),
            },
            Kind::Names(named) => {
                let found = named.collision().map_err(|err| Undecided::new_err(err.to_string()))?;
                let Some(found) = found else { return Ok(None) };
                let values = PyDict::new(py);
                for (name, value) in &found.values {
                    values.set_item(name, value)?;
                }
                let [first, second] = &found.indices;
                (values, indices([first, second])?).into_pyobject(py).map(Some)
            }
        }
    }

    /// An index at which two trackers of one shape differ; None when they are the same map. Asked of numbers: `equality` says
    /// for which values of names two are the same.
    fn difference<'py>(&self, py: Python<'py>, other: &ShapeTracker) -> PyResult<Option<Bound<'py, PyTuple>>> {
        const OP: &str = "difference";
        let difference = self.numbers(OP)?.difference(other.numbers(OP)?).map_err(unanswered)?;
        difference.map(|index| tuple(py, &index)).transpose()
    }

    /// The tracker over this tensor's elements that finds, for each place of a buffer of a shape, the element that reads
    /// it. Raises NotInvertible, with two indices that read one address where that is why; of names where two read one for some
    /// values, which `collision` has. Raises Undecided where that is not known.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> print(ShapeTracker.contiguous(Sym("n"), 4).permute(1, 0).invert(Sym("n"), 4))
    /// (n, 4):(1, n)
    #[pyo3(signature = (*buffer))]
    fn invert(&self, py: Python<'_>, buffer: &Bound<'_, PyTuple>) -> PyResult<Self> {
        const OP: &str = "invert";
        if let Kind::Numbers(tracker) = &self.0 {
            match numbers(OP, buffer) {
                Ok(buffer) => {
                    let inverse = tracker.invert(buffer);
                    return inverse.map(ShapeTracker::from).map_err(|err| not_invertible(py, &err));
                }
                Err(err) if !has_names(&[buffer.as_any()]) => return Err(err),
                Err(_) => {}
            }
        }
        let named = self.names(OP)?;
        let inverse = named.invert(sizes::<Named>(OP, buffer)?).map_err(|err| match (err.kind(), named.collision()) {
            (ErrorKind::Undecided, Ok(Some(found))) => not_inverted(py, err.to_string(), &found.indices),
            (ErrorKind::Undecided, _) => Undecided::new_err(err.to_string()),
            _ => refused(&err),
        });
        ShapeTracker::from_names(inverse)
    }

    /// The last view in row-major order with as few axes as suffice; and, for each axis but the last, the condition on names
    /// under which it advances as one with the next axis, or None.
    fn max_merge<'py>(&self, py: Python<'py>) -> PyResult<(View, Bound<'py, PyTuple>)> {
        match &self.0 {
            Kind::Numbers(tracker) => {
                let views = tracker.views();
                let merged = views[views.len() - 1].max_merge();
                let joins = PyTuple::new(py, (1..merged.rank()).map(|_| py.None()).collect::<Vec<_>>())?;
                Ok((merged.into(), joins))
            }
            Kind::Names(named) => {
                let merged = named.max_merge().map_err(|err| refused(&err))?;
                let scope = named.scope();
                let join = |literal| Condition::of(&shapetracker_symbolic::Condition::over(scope, literal));
                let joins = merged.joins.into_iter().map(|literal| literal.map(join).transpose());
                Ok((View::over(scope, &merged.view), PyTuple::new(py, joins.collect::<PyResult<Vec<_>>>()?)?))
            }
        }
    }

    /// The cheapest expressions that we know how to find for the address of an element, and for whether there is one, over
    /// its index and the names.
    fn index_expr(&self, py: Python<'_>) -> PyResult<IndexExpr> {
        match &self.0 {
            Kind::Numbers(_) => IndexExpr::of(self),
            Kind::Names(_) => py.detach(|| IndexExpr::of(self)),
        }
    }

    fn __str__(&self) -> String {
        match &self.0 {
            Kind::Numbers(tracker) => tracker.to_string(),
            Kind::Names(named) => named.to_string(),
        }
    }

    /// What evaluates to the tracker, and `parse` reads, where its names are those of `Sym`s. One that needs something of the
    /// values says what, and no text evaluates to it.
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        match &self.0 {
            Kind::Names(named) if !named.needs().is_empty() => {
                Ok(format!("<ShapeTracker: {named}{}>", needs_text(named.scope(), named.needs())))
            }
            _ => {
                let views = match &self.0 {
                    Kind::Numbers(tracker) => tracker.views().iter().map(shown).collect(),
                    Kind::Names(_) => self.each().iter().map(|view| view.__repr__(py)).collect::<PyResult<Vec<_>>>()?,
                };
                Ok(format!("ShapeTracker(views=({}{}))", views.join(", "), if views.len() == 1 { "," } else { "" }))
            }
        }
    }

    /// A picture of the elements and of the memory that they read, as SVG of less than 40 kB. With names it is one at small values
    /// of them, which it says.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        let drawn = self.drawn().ok_or_else(|| picture::undrawn("svg"))?;
        Ok(py.detach(|| picture::svg(&drawn)))
    }

    /// What notebooks show: the picture, the views as a table, and why they are not one. With names it is that at small values of
    /// them.
    fn _repr_html_(&self, py: Python<'_>) -> String {
        match (self.drawn(), &self.0) {
            (None, Kind::Names(named)) => picture::pre(&format!("{named}{}", needs_text(named.scope(), named.needs()))),
            (drawn, _) => drawn.map_or_else(String::new, |drawn| py.detach(|| picture::html(&drawn))),
        }
    }
}

impl ShapeTracker {
    /// The tracker of numbers, for what is asked of numbers only.
    pub(crate) fn numbers(&self, op: &str) -> PyResult<&shapetracker::ShapeTracker> {
        self.0.numbers(|named| values_wanted(op, named.scope()))
    }

    /// What pictures are of; nothing where no values of the names were found that could be drawn.
    fn drawn(&self) -> Option<Drawn<'_>> {
        match &self.0 {
            Kind::Numbers(tracker) => Some(Drawn::of_numbers("ShapeTracker", Cow::Borrowed(tracker))),
            Kind::Names(named) => Drawn::of_names("ShapeTracker", named),
        }
    }

    /// The tracker of names, where it is one.
    pub(crate) fn named(&self) -> Option<&shapetracker_symbolic::ShapeTracker> {
        match &self.0 {
            Kind::Numbers(_) => None,
            Kind::Names(named) => Some(named),
        }
    }

    /// The tracker as one whose sizes may be names.
    pub(crate) fn names(&self, _: &'static str) -> PyResult<Cow<'_, shapetracker_symbolic::ShapeTracker>> {
        Ok(match &self.0 {
            Kind::Numbers(tracker) => Cow::Owned(tracker.into()),
            Kind::Names(named) => Cow::Borrowed(named),
        })
    }

    /// A tracker, or a view as one.
    pub(crate) fn any<'a>(op: &'static str, value: &'a Any<'_>) -> PyResult<Cow<'a, ShapeTracker>> {
        let mismatch = || PyTypeError::new_err(format!("{op}: takes a tracker, not {}", described(value)));
        match value.cast::<ShapeTracker>() {
            Ok(tracker) => Ok(Cow::Borrowed(tracker.get())),
            Err(_) => ShapeTracker::of_view(op, value.cast::<View>().map_err(|_| mismatch())?.get()).map(Cow::Owned),
        }
    }

    /// The tracker of one view.
    pub(crate) fn of_view(op: &'static str, view: &View) -> PyResult<ShapeTracker> {
        match view.has_names() {
            false => Ok(shapetracker::ShapeTracker::from(view.numbers(op)?.clone()).into()),
            true => ShapeTracker::from_names(view.named().tracker(op)),
        }
    }

    /// What an operation on numbers made, as an object of Python that is made where it stays.
    #[inline(always)]
    fn of_numbers<E: Refusal>(
        py: Python<'_>,
        made: Result<shapetracker::ShapeTracker, E>,
    ) -> PyResult<Bound<'_, ShapeTracker>> {
        match made {
            Ok(made) => Bound::new(py, ShapeTracker(Kind::Numbers(made))),
            Err(err) => Err(err.raised()),
        }
    }

    /// The same of names.
    fn of_names<'py, E: Refusal>(
        py: Python<'py>,
        _: &'static str,
        made: Result<shapetracker_symbolic::ShapeTracker, E>,
    ) -> PyResult<Bound<'py, ShapeTracker>> {
        Bound::new(py, ShapeTracker::from_names(made)?)
    }

    /// A tracker of names, which is one of numbers where there are no names.
    pub(crate) fn from_names<E: Refusal>(
        made: Result<shapetracker_symbolic::ShapeTracker, E>,
    ) -> PyResult<ShapeTracker> {
        let named = made.map_err(E::raised)?;
        match named.scope().names() {
            [] => named.at_point(&[]).map(ShapeTracker::from).map_err(|err| refused(&err)),
            _ => Ok(ShapeTracker(Kind::Names(Box::new(named)))),
        }
    }

    /// The views as objects of Python.
    fn each(&self) -> Vec<View> {
        match &self.0 {
            Kind::Numbers(tracker) => tracker.views().iter().cloned().map(View::from).collect(),
            Kind::Names(named) => named.views().iter().map(|view| View::over(named.scope(), view)).collect(),
        }
    }
}

/// A shape, strides and an offset.
fn strided<N: Size>(
    op: &str,
    shape: &Any<'_>,
    strides: &Any<'_>,
    offset: Option<&Any<'_>>,
) -> PyResult<(N::Sizes, N::Sizes, N)> {
    let offset = offset.map_or(Ok(0.into()), |offset| N::read(op, || "the offset".into(), offset))?;
    Ok((sizes_of::<N>(op, shape)?, sizes_of::<N>(op, strides)?, offset))
}

/// The tracker of numbers at values of the names.
fn at(
    op: &'static str,
    named: &shapetracker_symbolic::ShapeTracker,
    values: Option<&Bound<'_, PyDict>>,
) -> PyResult<shapetracker::ShapeTracker> {
    let point = symbolic::point(op, named.scope(), named.needs(), values)?;
    named.at_point(&point).map_err(|err| refused(&err))
}

impl From<shapetracker::ShapeTracker> for ShapeTracker {
    fn from(tracker: shapetracker::ShapeTracker) -> ShapeTracker {
        ShapeTracker(Kind::Numbers(tracker))
    }
}

impl PartialEq for ShapeTracker {
    fn eq(&self, other: &ShapeTracker) -> bool {
        match (&self.0, &other.0) {
            (Kind::Numbers(one), Kind::Numbers(other)) => one == other,
            (Kind::Names(one), Kind::Names(other)) => symbolic::same(one, other),
            _ => false,
        }
    }
}

impl Eq for ShapeTracker {}

/// Equal trackers have equal hashes.
impl Hash for ShapeTracker {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Kind::Numbers(tracker) => tracker.hash(state),
            Kind::Names(_) => self.each().hash(state),
        }
    }
}

/// The addresses of a tracker's elements, one after the other.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Addresses {
    tracker: shapetracker::ShapeTracker,
    next: AtomicI64,
}

#[pymethods]
impl Addresses {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    /// The next address is wrapped once more, for None is an address here, too.
    fn __next__(&self) -> Option<Option<i64>> {
        let mut position = self.next.fetch_add(1, Ordering::Relaxed);
        if position >= self.tracker.numel() {
            self.next.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let mut index: Dims = self.tracker.shape().into();
        for entry in index.iter_mut().rev() {
            (position, *entry) = (position / *entry, position % *entry);
        }
        Some(self.tracker.address(&index))
    }
}
