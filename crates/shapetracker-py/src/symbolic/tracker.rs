//! `SymbolicShapeTracker`: a stack of views whose numbers have names in them.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyEllipsis, PySlice, PyTuple};
use shapetracker::ErrorKind;
use shapetracker_symbolic::{Equality, Movement};

use super::answer::{Answer, conjunction, formula, needs_text};
use super::arguments::{Pair, chain_error, pairs, point, read, size, sizes, sizes_of};
use super::index::SymbolicIndexExpr;
use super::refused;
use super::sym::{Condition, Sym, made, names};
use super::view::SymbolicView;
use crate::arguments::{described, flipped, number, numbers, tuple};
use crate::contiguous::Contiguous;
use crate::error::{NotInvertible, Undecided};
use crate::tracker::ShapeTracker;

/// The layout of a tensor whose sizes have names in them, after a chain of movement operations: one `ShapeTracker` for
/// each choice of values, which `at` makes. `ShapeTracker.contiguous(n, 32)` makes one where `n` is a `Sym`.
///
/// Views are merged where they are one view for all values, in one set of polynomials; elsewhere both are kept, and
/// `single_view` says for which values they are one. What an operation needs of the values is collected in `needs`; an
/// operation that is right for no values is a ValueError.
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
#[pyclass(frozen, eq, module = "shapetracker")]
#[derive(PartialEq)]
pub(crate) struct SymbolicShapeTracker(shapetracker_symbolic::ShapeTracker);

type Any<'py> = Bound<'py, PyAny>;
type Made<T> = Result<T, shapetracker_symbolic::Error>;

#[pymethods]
impl SymbolicShapeTracker {
    #[new]
    fn new(views: &Any<'_>) -> PyResult<Self> {
        const OP: &str = "SymbolicShapeTracker";
        const MOST: usize = 1 << 10;
        let mismatch = |what: &Any<'_>| {
            let hint = "SymbolicShapeTracker.contiguous(n, 3) makes a tracker from a shape";
            PyTypeError::new_err(format!("{OP}: takes views, not {}; {hint}", described(what)))
        };
        let mut all = Vec::new();
        for view in views.try_iter().map_err(|_| mismatch(views))? {
            let view = view?;
            if all.len() == MOST {
                return Err(PyValueError::new_err(format!("{OP}: takes at most {MOST} views")));
            }
            all.push(SymbolicView::any(&view).ok_or_else(|| mismatch(&view))?);
        }
        let (scope, all) = SymbolicView::united(OP, &all)?;
        tracker(shapetracker_symbolic::ShapeTracker::from_views(scope, all))
    }

    #[classattr]
    fn contiguous() -> Contiguous {
        Contiguous::new(|shape| Ok(Bound::new(shape.py(), SymbolicShapeTracker::row_major(shape)?)?.into_any()))
    }

    /// Reads a chain: `SymbolicShapeTracker.parse("(B, T, 3*H*D).reshape(B, T, 3, H, D)", where="T=1..4097")`.
    ///
    /// `where` says what is known of the names, as for the command: half-open ranges (`T=1..4097, T=0.., x=..`), definitions
    /// (`H=8*h`) and conditions (`s + L <= N`). A name without a range is at least 1, or any integer if it occurs in strides
    /// only.
    #[staticmethod]
    #[pyo3(signature = (text, r#where=""))]
    pub(crate) fn parse(py: Python<'_>, text: &str, r#where: &str) -> PyResult<Self> {
        read(
            py,
            text,
            r#where,
            |question| question.chain(text),
            |scope, chain| {
                let after = chain.tracker(scope).map_err(|err| chain_error(py, text, &err))?;
                Ok(SymbolicShapeTracker(after))
            },
        )
    }

    /// The tracker of all that one is, as `pickle` keeps it: names with ranges, definitions, what is given, what is needed, and
    /// views, all as numbers and texts.
    #[staticmethod]
    #[pyo3(signature = (names, definitions, given, needs, views))]
    fn of_parts(
        names: Vec<(String, Option<i128>, Option<i128>)>,
        definitions: Vec<(String, String)>,
        given: Vec<shapetracker_symbolic::LiteralParts>,
        needs: Vec<shapetracker_symbolic::LiteralParts>,
        views: Vec<shapetracker_symbolic::ViewParts>,
    ) -> PyResult<Self> {
        let parts = shapetracker_symbolic::Parts { names, definitions, given, needs, views };
        tracker(shapetracker_symbolic::ShapeTracker::from_parts(&parts))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let shapetracker_symbolic::Parts { names, definitions, given, needs, views } = slf.get().0.parts();
        (slf.get_type().getattr("of_parts")?, (names, definitions, given, needs, views)).into_pyobject(slf.py())
    }

    /// The views, the first next to memory.
    #[getter]
    fn views<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.views().iter().map(|view| SymbolicView::of(self.0.scope(), view)))
    }

    /// The view, where there is just one; None where there are several.
    fn as_view(&self) -> Option<SymbolicView> {
        self.0.as_view().map(|view| SymbolicView::of(self.0.scope(), view))
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let sizes = self.0.sizes().into_iter().map(|size| made(py, size));
        PyTuple::new(py, sizes.collect::<PyResult<Vec<_>>>()?)
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.rank()
    }

    /// The number of elements, masked ones included.
    #[getter]
    fn numel<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        made(py, self.0.numel())
    }

    /// The conditions without which an operation could not have been done; they hold together.
    #[getter]
    fn needs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        conjunction(py, self.0.scope(), self.0.needs())
    }

    /// The names, each with the least and the greatest value, None where there is none.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        names(py, self.0.scope())
    }

    /// What is known of the names, as `parse` reads it: `"n=1..4097, s=.., s + L <= N"`.
    #[getter]
    fn known(&self) -> String {
        self.0.scope().known()
    }

    /// The tracker of numbers where the names have values: `at(n=8)`. Values of other names change nothing, so that one
    /// environment serves many trackers.
    ///
    /// Raises ValueError where a name has no value, or where the values do not satisfy `needs` or what is given.
    #[pyo3(signature = (**values))]
    fn at(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<ShapeTracker> {
        let point = point("at", self.0.scope(), self.0.needs(), values)?;
        self.0.at_point(&point).map(ShapeTracker).map_err(|err| refused(&err))
    }

    /// The same tensor where conditions are known to hold: `given(N >= s + L)`.
    #[pyo3(signature = (*conditions))]
    fn given(&self, conditions: &Bound<'_, PyTuple>) -> PyResult<Self> {
        const OP: &str = "given";
        let mut known = self.0.clone();
        for condition in conditions {
            let mismatch = || {
                PyTypeError::new_err(format!("{OP}: takes conditions such as n >= 4, not {}", described(&condition)))
            };
            let condition = condition.cast::<Condition>().map_err(|_| mismatch())?.get().plain(OP)?;
            known = known.given(&condition).map_err(|err| refused(&err))?;
        }
        Ok(SymbolicShapeTracker(known))
    }

    /// The same elements in row-major order under another shape, of which one size may be -1 and is inferred by exact
    /// division.
    #[pyo3(signature = (*shape))]
    pub(crate) fn reshape(&self, shape: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.reshape(sizes("reshape", shape)?))
    }

    /// The axes in a new order.
    #[pyo3(signature = (*axes))]
    fn permute(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.permute(numbers("permute", axes)?))
    }

    /// Two axes exchanged.
    fn transpose(&self, first: &Any<'_>, second: &Any<'_>) -> PyResult<Self> {
        const OP: &str = "transpose";
        let axis = |value| number(OP, || "an axis".into(), value);
        tracker(self.0.transpose(axis(first)?, axis(second)?))
    }

    /// Axes of size 1 repeated to the given sizes; -1 for an axis that stays.
    #[pyo3(signature = (*sizes))]
    pub(crate) fn expand(&self, sizes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.expand(self::sizes("expand", sizes)?))
    }

    /// Broadcast to a shape as NumPy does it, with new axes in front where it has more.
    #[pyo3(signature = (*shape))]
    pub(crate) fn broadcast_to(&self, shape: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.broadcast_to(sizes("broadcast_to", shape)?))
    }

    /// Masked elements `(before, after)` per axis; None for an axis that stays.
    #[pyo3(signature = (*pads))]
    pub(crate) fn pad(&self, pads: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.pad(pairs("pad", |_| Some((0.into(), 0.into())), pads)?))
    }

    /// The half-open range `(begin, end)` of each axis; None for all of it. That it lies inside is a need where it is not
    /// known.
    #[pyo3(signature = (*ranges))]
    pub(crate) fn shrink(&self, ranges: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let sizes = self.0.sizes();
        let whole = |axis: usize| sizes.get(axis).map(|size| (0.into(), size.clone()));
        tracker(self.0.shrink(pairs("shrink", whole, ranges)?))
    }

    /// The named axes reversed; or one True or False per axis.
    #[pyo3(signature = (*axes))]
    fn flip(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.flip(flipped("flip", self.0.rank(), axes)?))
    }

    /// Every step-th element of each axis; a negative step walks from the last element backwards. Steps are numbers.
    #[pyo3(signature = (*steps))]
    fn step(&self, steps: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.step(numbers("step", steps)?))
    }

    /// Without the named axes of size 1: `squeeze(0, 2)`. Without an argument, without every axis that is known to have size
    /// 1; `squeeze(())` names none and changes nothing.
    #[pyo3(signature = (*axes))]
    fn squeeze(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        if axes.is_empty() {
            return tracker(self.0.apply(&Movement::SqueezeAll));
        }
        tracker(self.0.squeeze(numbers("squeeze", axes)?))
    }

    /// A new axis of size 1 before the given one; a negative number counts from behind the last axis.
    fn unsqueeze(&self, axis: &Any<'_>) -> PyResult<Self> {
        tracker(self.0.unsqueeze(number("unsqueeze", || "the axis".into(), axis)?))
    }

    /// Any strided view of this tensor's elements in row-major order.
    #[pyo3(signature = (shape, strides, offset=None))]
    pub(crate) fn as_strided(&self, shape: &Any<'_>, strides: &Any<'_>, offset: Option<&Any<'_>>) -> PyResult<Self> {
        const OP: &str = "as_strided";
        let offset = offset.map_or(Ok(0.into()), |offset| size(OP, || "the offset".into(), offset))?;
        tracker(self.0.as_strided(sizes_of(OP, shape)?, sizes_of(OP, strides)?, offset))
    }

    /// The other tracker, of names or of numbers, over this one: its addresses are positions of this tensor in row-major
    /// order.
    pub(crate) fn compose(&self, over: &Any<'_>) -> PyResult<Self> {
        let mismatch = || PyTypeError::new_err(format!("compose: takes a tracker, not {}", described(over)));
        let over = SymbolicShapeTracker::any(over)?.ok_or_else(mismatch)?;
        tracker(self.0.compose(&over.0))
    }

    /// Basic indexing as in NumPy: integers, slices, `...` and None; indices and bounds may have names in them.
    pub(crate) fn __getitem__(&self, index: &Any<'_>) -> PyResult<Self> {
        let only;
        let entries = match index.cast::<PyTuple>() {
            Ok(entries) => entries,
            Err(_) => {
                only = PyTuple::new(index.py(), [index])?;
                &only
            }
        };
        self.indexed(entries).map(SymbolicShapeTracker)
    }

    /// A first axis whose size has a name has no last element to end with.
    fn __iter__(&self) -> PyResult<Py<PyAny>> {
        Err(PyTypeError::new_err(
            "a SymbolicShapeTracker is not iterable: how many elements it has depends on the values",
        ))
    }

    /// For which values it is one view.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> n = Sym("n", 1, 4096)
    /// >>> ShapeTracker.contiguous(n, 32).permute(1, 0).reshape(4, -1).single_view()
    /// <Answer: one view if and only if n == 1>
    fn single_view(&self, py: Python<'_>) -> Answer {
        let answer = py.detach(|| self.0.single_view());
        Answer::of(self.0.scope(), self.0.needs(), self.0.views().iter().cloned(), answer)
    }

    /// For which values two trackers of one shape read the same address at every index: of these tuples one must hold, each
    /// of conditions that hold together. Without conditions, `((),)`, that is for all values, and `()` for none.
    ///
    /// Raises Undecided where that is not known.
    fn equality<'py>(&self, py: Python<'py>, other: &Any<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mismatch = || PyTypeError::new_err(format!("equality: takes a tracker, not {}", described(other)));
        let other = SymbolicShapeTracker::any(other)?.ok_or_else(mismatch)?;
        let equality = self.0.equality(&other.0).map_err(|err| refused(&err))?;
        let undecided = || Undecided::new_err("equality: whether stacks of several views are the same is not decided");
        for_values(py, self.0.scope(), equality)?.ok_or_else(undecided)
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
        let undecided = || Undecided::new_err("contiguity: whether several views lie in order is not decided");
        for_values(py, self.0.scope(), self.0.contiguity())?.ok_or_else(undecided)
    }

    /// The lowest and the highest address that is read, for all values for which any is. None where that is not known:
    /// where there are several views, or where the sign of a stride or the end of a mask depends on the values.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> ShapeTracker.contiguous(Sym("n"), 4)[:, 1:3].address_range()
    /// (1, 4*n - 2)
    fn address_range<'py>(&self, py: Python<'py>) -> PyResult<Option<(Any<'py>, Any<'py>)>> {
        self.0.address_range().map(|(low, high)| Ok((made(py, low)?, made(py, high)?))).transpose()
    }

    /// How many elements the buffer must have, for all values for which any is read: one more than the highest address. None
    /// where that is not known, or where an address below 0 may be read.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> ShapeTracker.contiguous(Sym("n"), 4)[:, 1:3].buffer_len()
    /// 4*n - 1
    fn buffer_len<'py>(&self, py: Python<'py>) -> PyResult<Option<Any<'py>>> {
        self.0.buffer_len().map(|len| made(py, len)).transpose()
    }

    /// Values of the names and two valid indices that read the same address there; None when no two do for any values.
    ///
    /// Raises Undecided where that is not known.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> ShapeTracker.contiguous(Sym("n"), 4).permute(1, 0).collision()
    /// >>> ShapeTracker.contiguous(1).expand(Sym("n")).collision()
    /// ({'n': 4}, ((0,), (1,)))
    fn collision<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(found) = self.0.collision().map_err(|err| Undecided::new_err(err.to_string()))? else {
            return Ok(None);
        };
        let values = PyDict::new(py);
        for (name, value) in &found.values {
            values.set_item(name, value)?;
        }
        let [first, second] = &found.indices;
        (values, (tuple(py, first)?, tuple(py, second)?)).into_pyobject(py).map(Some)
    }

    /// The tracker over this tensor's elements that finds, for each place of a buffer of a shape, the element that reads it.
    ///
    /// Raises NotInvertible where two elements read one address for some values, which `collision` has, and Undecided where that
    /// is not known.
    ///
    /// >>> from shapetracker import ShapeTracker, Sym
    /// >>> print(ShapeTracker.contiguous(Sym("n"), 4).permute(1, 0).invert(Sym("n"), 4))
    /// (n, 4):(1, n)
    #[pyo3(signature = (*buffer))]
    fn invert(&self, buffer: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let inverse = self.0.invert(sizes("invert", buffer)?);
        inverse.map(SymbolicShapeTracker).map_err(|err| match err.kind() {
            ErrorKind::Undecided if matches!(self.0.collision(), Ok(Some(_))) => {
                NotInvertible::new_err(err.to_string())
            }
            ErrorKind::Undecided => Undecided::new_err(err.to_string()),
            _ => refused(&err),
        })
    }

    /// The last view in row-major order with as few axes as are known to suffice for all values; and, for each axis but the
    /// last, the condition under which it advances as one with the next axis, or None.
    fn max_merge<'py>(&self, py: Python<'py>) -> PyResult<(SymbolicView, Bound<'py, PyTuple>)> {
        let merged = self.0.max_merge().map_err(|err| refused(&err))?;
        let scope = self.0.scope();
        let join = |literal: shapetracker_symbolic::Literal| {
            Condition::of(&shapetracker_symbolic::Condition::over(scope, literal))
        };
        let joins = merged.joins.into_iter().map(|literal| literal.map(join).transpose());
        Ok((SymbolicView::of(scope, &merged.view), PyTuple::new(py, joins.collect::<PyResult<Vec<_>>>()?)?))
    }

    /// Expressions for the address of an element, and for whether there is one, over its index and the names.
    fn index_expr(&self, py: Python<'_>) -> PyResult<SymbolicIndexExpr> {
        py.detach(|| SymbolicIndexExpr::of(&self.0))
    }

    fn __hash__(&self) -> u64 {
        hashed(&self.0)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<SymbolicShapeTracker: {}{}>", self.0, needs_text(self.0.scope(), self.0.needs()))
    }
}

impl SymbolicShapeTracker {
    /// What `single_view` answers, where there is an interpreter.
    pub(super) fn answer(&self) -> PyResult<Answer> {
        Ok(Answer::of(self.0.scope(), self.0.needs(), self.0.views().iter().cloned(), self.0.single_view()))
    }

    /// The row-major tracker of a shape.
    pub(crate) fn row_major(shape: &Bound<'_, PyTuple>) -> PyResult<SymbolicShapeTracker> {
        tracker(shapetracker_symbolic::ShapeTracker::contiguous(sizes("contiguous", shape)?))
    }

    /// A tracker of numbers as one of names, of which it has none.
    pub(crate) fn of_numbers(numbers: &shapetracker::ShapeTracker) -> SymbolicShapeTracker {
        SymbolicShapeTracker(numbers.into())
    }

    /// A tracker or a view, of names or of numbers; None for anything else.
    pub(crate) fn any(value: &Any<'_>) -> PyResult<Option<SymbolicShapeTracker>> {
        if let Ok(tracker) = value.cast::<SymbolicShapeTracker>() {
            return Ok(Some(SymbolicShapeTracker(tracker.get().0.clone())));
        }
        if let Ok(numbers) = value.cast::<ShapeTracker>() {
            return Ok(Some(SymbolicShapeTracker::of_numbers(&numbers.get().0)));
        }
        let Some(view) = SymbolicView::any(value) else { return Ok(None) };
        let (scope, views) = SymbolicView::united("view", &[view])?;
        tracker(shapetracker_symbolic::ShapeTracker::from_views(scope, views)).map(Some)
    }

    /// What an index leaves: the slices first, then the one element of each axis that has an index, then the axes that
    /// come and go.
    fn indexed(&self, entries: &Bound<'_, PyTuple>) -> PyResult<shapetracker_symbolic::ShapeTracker> {
        const OP: &str = "indexing";
        let rank = self.0.rank();
        let is_ellipsis = |entry: &Any<'_>| entry.is_instance_of::<PyEllipsis>();
        if entries.iter().filter(is_ellipsis).count() > 1 {
            return Err(PyIndexError::new_err(format!("{OP}: `...` may stand only once")));
        }
        let named = entries.iter().filter(|entry| !entry.is_none() && !is_ellipsis(entry)).count();
        if named > rank {
            return Err(PyIndexError::new_err(format!("{OP}: {named} indices are more than the tensor's {rank} axes")));
        }
        let everything = (None, None, 1);
        let mut slices = Vec::new();
        // The axes that have an index, with that; and what the axes of the result are: old ones, or new ones.
        let (mut picked, mut axes) = (Vec::new(), Vec::new());
        let whole = |slices: &mut Vec<_>, axes: &mut Vec<_>, count: usize| {
            for _ in 0..count {
                axes.push(Some(slices.len()));
                slices.push(everything.clone());
            }
        };
        for entry in entries {
            let axis = slices.len();
            if entry.is_none() {
                axes.push(None);
            } else if is_ellipsis(&entry) {
                whole(&mut slices, &mut axes, rank - named);
            } else if let Ok(slice) = entry.cast::<PySlice>() {
                let place = || format!("the slice of axis {axis}");
                let step = slice.getattr("step")?;
                let step = if step.is_none() { 1 } else { number(OP, place, &step)? };
                // Slices end where the tensor does, however far they reach: to the one side for the first bound, and to the
                // other for the second.
                let bound = |name, below: bool| {
                    let value = slice.getattr(name)?;
                    if value.is_none() {
                        return Ok(None);
                    }
                    match size(OP, place, &value) {
                        Err(err)
                            if err.is_instance_of::<PyOverflowError>(value.py())
                                && !value.is_instance_of::<Sym>()
                                && value.lt(0)? == below =>
                        {
                            Ok(None)
                        }
                        bound => bound.map(Some),
                    }
                };
                axes.push(Some(axis));
                slices.push((bound("start", step > 0)?, bound("stop", step < 0)?, step));
            } else if entry.is_instance_of::<Sym>()
                || !entry.is_instance_of::<PyBool>() && entry.hasattr("__index__")?
            {
                let at = size(OP, || format!("the index of axis {axis}"), &entry)?;
                picked.push((axis, at));
                slices.push(everything.clone());
            } else {
                let sentence = "takes integers, sizes with names, slices, `...` and None (which need no copy)";
                return Err(PyTypeError::new_err(format!("{OP}: {sentence}, not {}", described(&entry))));
            }
        }
        let missing = rank - slices.len();
        whole(&mut slices, &mut axes, missing);
        let mut after = self.0.clone();
        if slices.iter().any(|(begin, end, step)| begin.is_some() || end.is_some() || *step != 1) {
            after = after.slice(slices).map_err(|err| refused(&err))?;
        }
        if !picked.is_empty() {
            let mut ranges: Vec<Pair> = after.sizes().into_iter().map(|size| (0.into(), size)).collect();
            for (axis, at) in picked {
                let is_negative = at.parts().is_ok_and(|(_, poly)| poly.number().is_some_and(|number| number < 0));
                let at = if is_negative { at + &ranges[axis].1 } else { at };
                ranges[axis] = (at.clone(), at + 1);
            }
            after = after.shrink(ranges).map_err(|err| match err.kind() {
                ErrorKind::RangeOutside => PyIndexError::new_err(format!("{OP}: {}", err.reason())),
                _ => refused(&err),
            })?;
        }
        let sizes = after.sizes();
        let to: Vec<shapetracker_symbolic::Sym> =
            axes.iter().map(|axis| axis.map_or_else(|| 1.into(), |axis: usize| sizes[axis].clone())).collect();
        if axes.len() != rank || axes.iter().enumerate().any(|(place, axis)| *axis != Some(place)) {
            after = after.reshape(to).map_err(|err| refused(&err))?;
        }
        Ok(after)
    }
}

/// Equal trackers have equal hashes.
pub(super) fn hashed(tracker: &shapetracker_symbolic::ShapeTracker) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    tracker.views().hash(&mut hasher);
    hasher.finish()
}

/// The values for which something is equal, as a formula; None where that is not decided.
fn for_values<'py>(
    py: Python<'py>,
    scope: &Arc<shapetracker_symbolic::Scope>,
    equality: Equality,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let (scope, found) = match equality {
        Equality::Always => (scope.clone(), vec![Vec::new()]),
        Equality::When { formula, scope } => (scope, formula),
        Equality::Never => (scope.clone(), Vec::new()),
        Equality::Undecided => return Ok(None),
    };
    formula(py, &scope, &found).map(Some)
}

fn tracker(made: Made<shapetracker_symbolic::ShapeTracker>) -> PyResult<SymbolicShapeTracker> {
    made.map(SymbolicShapeTracker).map_err(|err| refused(&err))
}
