//! `ShapeTracker`: a stack of views.

use std::sync::atomic::{AtomicI64, Ordering};

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PySlice, PyTuple};
use shapetracker::{Dims, Movement};

use crate::arguments::{described, flipped, number, numbers, numbers_of, pairs, tuple};
use crate::contiguous::Contiguous;
use crate::error::{layout, not_invertible, parse, unanswered, undecided, unmerged};
use crate::expr::{Expr, IndexExpr};
use crate::picture;
use crate::symbolic::{SymbolicShapeTracker, has_names};
use crate::view::{View, shown};

/// A tensor's layout after a chain of movement operations, kept at the fewest views; the first is next to memory.
///
/// Operations return a new tracker. Two trackers are equal when their views are; `difference` says whether two are the
/// same map.
#[pyclass(frozen, eq, hash, module = "shapetracker")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct ShapeTracker(pub(crate) shapetracker::ShapeTracker);

/// More views than this are not even read.
const MOST_GIVEN: usize = 1 << 16;

/// A ShapeTracker, or a SymbolicShapeTracker where a size has a name.
type Made<'py> = Bound<'py, PyAny>;

/// The row-major tracker of a shape.
fn row_major<'py>(shape: &Bound<'py, PyTuple>) -> PyResult<Made<'py>> {
    match numbers("contiguous", shape) {
        Ok(sizes) => object(shape.py(), shapetracker::ShapeTracker::contiguous(sizes)),
        Err(err) => or_named(err, shape, || SymbolicShapeTracker::row_major(shape)),
    }
}

type Slices = Vec<(Option<i64>, Option<i64>, i64)>;

#[pymethods]
impl ShapeTracker {
    #[new]
    fn new(views: &Bound<'_, PyAny>) -> PyResult<Self> {
        const OP: &str = "ShapeTracker";
        let mismatch = |what: &Bound<'_, PyAny>| {
            let hint = "ShapeTracker.contiguous(2, 3) makes a tracker from a shape";
            PyTypeError::new_err(format!("{OP}: takes views, not {}; {hint}", described(what)))
        };
        let mut all = Vec::new();
        for view in views.try_iter().map_err(|_| mismatch(views))? {
            let view = view?;
            if all.len() == MOST_GIVEN {
                return Err(PyValueError::new_err(format!("{OP}: takes at most {MOST_GIVEN} views")));
            }
            all.push(view.cast::<View>().map_err(|_| mismatch(&view))?.get().0.clone());
        }
        tracker(shapetracker::ShapeTracker::from_views(all))
    }

    #[classattr]
    fn contiguous() -> Contiguous {
        Contiguous::new(row_major)
    }

    /// Reads a chain, `(3, 2).permute(1, 0).reshape(3, 2)`, or the views that `repr` and `str` write. With `where`, which
    /// says what is known of names and may be empty, sizes may be names: `parse("(B, T).reshape(-1)", where="T=1..4097")`.
    /// The addresses are those of the array that the chain starts with, also after `copy()` and what else copies.
    #[staticmethod]
    #[pyo3(signature = (text, r#where=None))]
    fn parse<'py>(py: Python<'py>, text: &str, r#where: Option<&str>) -> PyResult<Made<'py>> {
        match r#where {
            None => match text.parse() {
                Ok(made) => object(py, Ok(made)),
                Err(err) => Err(parse(py, text, &err)),
            },
            Some(known) => named(py, SymbolicShapeTracker::parse(py, text, known)),
        }
    }

    /// The views, the first next to memory.
    #[getter]
    fn views<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let views: PyResult<Vec<_>> = self.0.views().iter().map(|view| Bound::new(py, View(view.clone()))).collect();
        PyTuple::new(py, views?)
    }

    /// The view, where there is just one; None where there are several.
    fn as_view(&self) -> Option<View> {
        self.0.as_view().cloned().map(View)
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.0.shape())
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.rank()
    }

    /// The number of elements, masked ones included.
    #[getter]
    fn numel(&self) -> i64 {
        self.0.numel()
    }

    /// The address of an element: `address(1, 2)`. None where it is masked or does not exist.
    #[pyo3(signature = (*index))]
    fn address(&self, index: &Bound<'_, PyTuple>) -> PyResult<Option<i64>> {
        Ok(self.0.address(&numbers("address", index)?))
    }

    /// The addresses of all elements in row-major order, None where there is none.
    fn addresses(&self) -> Addresses {
        Addresses { tracker: self.0.clone(), next: 0.into() }
    }

    /// The same elements in row-major order under another shape, of which one size may be -1. Never fails for lack of
    /// a single view: another view goes on top where it must.
    #[pyo3(signature = (*shape))]
    fn reshape<'py>(&self, shape: &Bound<'py, PyTuple>) -> PyResult<Made<'py>> {
        match numbers("reshape", shape) {
            Ok(given) => object(shape.py(), self.0.reshape(given)),
            Err(err) => or_named(err, shape, || self.named().reshape(shape)),
        }
    }

    /// The axes in a new order.
    #[pyo3(signature = (*axes))]
    fn permute(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.permute(numbers("permute", axes)?))
    }

    /// Two axes exchanged.
    fn transpose(&self, first: &Bound<'_, PyAny>, second: &Bound<'_, PyAny>) -> PyResult<Self> {
        const OP: &str = "transpose";
        let axis = |value| number(OP, || "an axis".into(), value);
        tracker(self.0.transpose(axis(first)?, axis(second)?))
    }

    /// Axes of size 1 repeated to the given sizes; -1 for an axis that stays.
    #[pyo3(signature = (*sizes))]
    fn expand<'py>(&self, sizes: &Bound<'py, PyTuple>) -> PyResult<Made<'py>> {
        match numbers("expand", sizes) {
            Ok(given) => object(sizes.py(), self.0.expand(given)),
            Err(err) => or_named(err, sizes, || self.named().expand(sizes)),
        }
    }

    /// Broadcast to a shape as NumPy does it, with new axes in front where it has more.
    #[pyo3(signature = (*shape))]
    fn broadcast_to<'py>(&self, shape: &Bound<'py, PyTuple>) -> PyResult<Made<'py>> {
        match numbers("broadcast_to", shape) {
            Ok(given) => object(shape.py(), self.0.broadcast_to(given)),
            Err(err) => or_named(err, shape, || self.named().broadcast_to(shape)),
        }
    }

    /// Masked elements `(before, after)` per axis; None for an axis that stays.
    #[pyo3(signature = (*pads))]
    fn pad<'py>(&self, pads: &Bound<'py, PyTuple>) -> PyResult<Made<'py>> {
        match pairs("pad", |_| Some((0, 0)), pads) {
            Ok(given) => object(pads.py(), self.0.pad(given)),
            Err(err) => or_named(err, pads, || self.named().pad(pads)),
        }
    }

    /// The half-open range `(begin, end)` of each axis; None for all of it.
    #[pyo3(signature = (*ranges))]
    fn shrink<'py>(&self, ranges: &Bound<'py, PyTuple>) -> PyResult<Made<'py>> {
        match pairs("shrink", |axis| self.0.shape().get(axis).map(|&size| (0, size)), ranges) {
            Ok(given) => object(ranges.py(), self.0.shrink(given)),
            Err(err) => or_named(err, ranges, || self.named().shrink(ranges)),
        }
    }

    /// The named axes reversed; or one True or False per axis.
    #[pyo3(signature = (*axes))]
    fn flip(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.flip(flipped("flip", self.0.rank(), axes)?))
    }

    /// Every step-th element of each axis; a negative step walks from the last element backwards.
    #[pyo3(signature = (*steps))]
    fn step(&self, steps: &Bound<'_, PyTuple>) -> PyResult<Self> {
        tracker(self.0.step(numbers("step", steps)?))
    }

    /// Without the named axes of size 1: `squeeze(0, 2)`. Without an argument, without every axis of size 1; `squeeze(())`
    /// names none and changes nothing, as in NumPy.
    #[pyo3(signature = (*axes))]
    fn squeeze(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        if axes.is_empty() {
            return tracker(self.0.apply(&Movement::SqueezeAll));
        }
        tracker(self.0.squeeze(numbers("squeeze", axes)?))
    }

    /// A new axis of size 1 before the given one; a negative number counts from behind the last axis.
    fn unsqueeze(&self, axis: &Bound<'_, PyAny>) -> PyResult<Self> {
        tracker(self.0.unsqueeze(number("unsqueeze", || "the axis".into(), axis)?))
    }

    /// Any strided view of this tensor's elements in row-major order.
    #[pyo3(signature = (shape, strides, offset=None))]
    fn as_strided<'py>(
        &self,
        shape: &Bound<'py, PyAny>,
        strides: &Bound<'py, PyAny>,
        offset: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Made<'py>> {
        const OP: &str = "as_strided";
        let at = offset.map_or(Ok(0), |offset| number(OP, || "the offset".into(), offset));
        let given = at.and_then(|at| Ok((numbers_of(OP, shape)?, numbers_of(OP, strides)?, at)));
        match given {
            Ok((sizes, strides, at)) => object(shape.py(), self.0.as_strided(sizes, strides, at)),
            Err(err) => {
                let arguments = PyTuple::new(shape.py(), [Some(shape), Some(strides), offset])?;
                or_named(err, &arguments, || self.named().as_strided(shape, strides, offset))
            }
        }
    }

    /// The other tracker over this one: its addresses are positions of this tensor in row-major order.
    fn compose<'py>(&self, over: &Bound<'py, PyAny>) -> PyResult<Made<'py>> {
        match over.cast::<ShapeTracker>() {
            Ok(numbers) => object(over.py(), self.0.compose(&numbers.get().0)),
            Err(_) => named(over.py(), self.named().compose(over)),
        }
    }

    /// Basic indexing as in NumPy: integers, slices, `...` and None.
    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Made<'py>> {
        let only;
        let entries = match index.cast::<PyTuple>() {
            Ok(entries) => entries,
            Err(_) => {
                only = PyTuple::new(index.py(), [index])?;
                &only
            }
        };
        let (slices, shape) = match self.indexed(entries) {
            Ok(indexed) => indexed,
            Err(err) => return or_named(err, entries, || self.named().__getitem__(index)),
        };
        let sliced = self.0.slice(slices);
        object(
            index.py(),
            sliced.and_then(|sliced| match shape[..] == *sliced.shape() {
                true => Ok(sliced),
                false => sliced.reshape(shape),
            }),
        )
    }

    /// Whether the elements lie one after another in row-major order, from any address on, without a mask: what NumPy and
    /// PyTorch call contiguous.
    fn is_contiguous(&self) -> bool {
        self.0.is_contiguous()
    }

    /// Whether the address of each element is its position: one view that is contiguous from address 0.
    fn is_identity(&self) -> bool {
        self.0.is_identity()
    }

    /// The single view that does what all views do. Raises Unmerged, with a witness, when there is provably none.
    fn single_view(&self, py: Python<'_>) -> PyResult<View> {
        self.0.single_view().map(View).map_err(|err| unmerged(py, err))
    }

    /// The smallest and the largest address that is read; None when none is.
    fn address_range(&self) -> PyResult<Option<(i64, i64)>> {
        self.0.address_range().map_err(undecided)
    }

    /// How many elements the buffer must have.
    fn buffer_len(&self) -> PyResult<i64> {
        self.0.buffer_len().map_err(unanswered)
    }

    /// For each axis its stride, where the address is affine along it on the valid indices; None where it is not.
    fn real_strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.real_strides().map_err(undecided)?)
    }

    /// The one affine map that gives the address of every element that has one: its strides, its offset, and the condition
    /// under which an element has an address. None where a division is left in the address.
    ///
    /// A stack of views that no single view can replace may still be one affine map, valid on a set that is no box.
    fn affine<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyTuple>, i64, Expr)>> {
        let Some(map) = self.0.access().map_err(|err| layout(&err))?.affine() else { return Ok(None) };
        let code = self.0.index_expr().map_err(|err| layout(&err))?;
        let valid = Expr::extracted(code.graph(), code.valid())?;
        Ok(Some((PyTuple::new(py, map.strides())?, map.offset(), valid)))
    }

    /// The axes along which neighbours lie next to each other in memory.
    fn unit_stride_axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.unit_stride_axes().map_err(undecided)?)
    }

    /// Whether some valid index turns invalid when its entry at an axis changes.
    fn axis_is_masked(&self, axis: &Bound<'_, PyAny>) -> PyResult<bool> {
        let axis = number("axis_is_masked", || "the axis".into(), axis)?;
        self.0.axis_is_masked(axis).map_err(unanswered)
    }

    /// Two valid indices that read the same address; None when no two do.
    fn collision<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        let collision = self.0.collision().map_err(undecided)?;
        collision.map(|[first, second]| Ok((tuple(py, &first)?, tuple(py, &second)?))).transpose()
    }

    /// An index at which two trackers of one shape differ; None when they are the same map.
    fn difference<'py>(&self, py: Python<'py>, other: &ShapeTracker) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let difference = self.0.difference(&other.0).map_err(unanswered)?;
        difference.map(|index| tuple(py, &index)).transpose()
    }

    /// The tracker over this tensor's elements that finds, for each place of a buffer of a shape, the element that reads
    /// it. Raises NotInvertible, with two indices that read one address where that is why.
    #[pyo3(signature = (*buffer))]
    fn invert(&self, py: Python<'_>, buffer: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let inverse = self.0.invert(numbers("invert", buffer)?);
        inverse.map(ShapeTracker).map_err(|err| not_invertible(py, &err))
    }

    /// The cheapest expressions that we know how to find for the address of an element, and for whether there is one.
    fn index_expr(&self) -> PyResult<IndexExpr> {
        IndexExpr::of(&self.0)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        let views: Vec<String> = self.0.views().iter().map(shown).collect();
        format!("ShapeTracker(views=({}{}))", views.join(", "), if views.len() == 1 { "," } else { "" })
    }

    /// A picture of the elements and of the memory that they read, as SVG of less than 40 kB.
    fn svg(&self, py: Python<'_>) -> String {
        py.detach(|| picture::svg("ShapeTracker", &self.0))
    }

    /// What notebooks show: the picture, the views as a table, and why they are not one.
    fn _repr_html_(&self, py: Python<'_>) -> String {
        py.detach(|| picture::html("ShapeTracker", &self.0))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        (slf.get_type(), (slf.get().views(slf.py())?,)).into_pyobject(slf.py())
    }
}

impl ShapeTracker {
    /// The tracker as one whose sizes may be names.
    #[cold]
    fn named(&self) -> SymbolicShapeTracker {
        SymbolicShapeTracker::of_numbers(&self.0)
    }

    /// The slice of each axis, and the shape that is left when integers drop axes and None makes new ones.
    fn indexed(&self, entries: &Bound<'_, PyTuple>) -> PyResult<(Slices, Dims)> {
        const OP: &str = "indexing";
        let rank = self.0.rank();
        let is_ellipsis = |entry: &Bound<'_, PyAny>| entry.is_instance_of::<PyEllipsis>();
        if entries.iter().filter(is_ellipsis).count() > 1 {
            return Err(PyIndexError::new_err(format!("{OP}: `...` may stand only once")));
        }
        let named = entries.iter().filter(|entry| !entry.is_none() && !is_ellipsis(entry)).count();
        if named > rank {
            return Err(PyIndexError::new_err(format!("{OP}: {named} indices are more than the tensor's {rank} axes")));
        }
        let (mut slices, mut shape) = (Slices::new(), Dims::new());
        let whole = |slices: &mut Slices, shape: &mut Dims, count: usize| {
            for _ in 0..count {
                shape.push(self.0.shape()[slices.len()]);
                slices.push((None, None, 1));
            }
        };
        for entry in entries {
            let axis = slices.len();
            if entry.is_none() {
                shape.push(1);
            } else if is_ellipsis(&entry) {
                whole(&mut slices, &mut shape, rank - named);
            } else if let Ok(slice) = entry.cast::<PySlice>() {
                let bound = |name| {
                    let value = slice.getattr(name)?;
                    let place = || format!("the slice of axis {axis}");
                    match value.is_none() {
                        true => Ok(None),
                        // Python's slices end where the tensor does, however far they reach.
                        false => match number(OP, place, &value) {
                            Err(err) if err.is_instance_of::<PyOverflowError>(value.py()) => {
                                Ok(Some(if value.lt(0)? { i64::MIN } else { i64::MAX }))
                            }
                            bound => bound.map(Some),
                        },
                    }
                };
                let (begin, end, step) = (bound("start")?, bound("stop")?, bound("step")?.unwrap_or(1));
                slices.push((begin, end, step));
                let size = self.0.shape()[axis];
                let one = shapetracker::ShapeTracker::contiguous([size]).and_then(|one| one.slice([slices[axis]]));
                shape.push(one.map_err(|err| layout(&err))?.numel());
            } else if !entry.is_instance_of::<PyBool>() && entry.hasattr("__index__")? {
                let (at, size) = (number(OP, || format!("the index of axis {axis}"), &entry)?, self.0.shape()[axis]);
                if !(-size..size).contains(&at) {
                    let sentence = format!("{OP}: axis {axis} has size {size}, which has no index {at}");
                    return Err(PyIndexError::new_err(sentence));
                }
                let at = if at < 0 { at + size } else { at };
                slices.push((Some(at), Some(at + 1), 1));
            } else {
                let sentence = "takes integers, slices, `...` and None (which need no copy)";
                return Err(PyTypeError::new_err(format!("{OP}: {sentence}, not {}", described(&entry))));
            }
        }
        let missing = rank - slices.len();
        whole(&mut slices, &mut shape, missing);
        Ok((slices, shape))
    }
}

/// A tracker of numbers as an object of Python, made where it stays.
fn object<'py>(py: Python<'py>, made: Result<shapetracker::ShapeTracker, shapetracker::Error>) -> PyResult<Made<'py>> {
    match made {
        Ok(made) => Ok(Bound::new(py, ShapeTracker(made))?.into_any()),
        Err(err) => Err(layout(&err)),
    }
}

/// The same of one whose sizes have names.
#[cold]
fn named(py: Python<'_>, made: PyResult<SymbolicShapeTracker>) -> PyResult<Made<'_>> {
    Ok(Bound::new(py, made?)?.into_any())
}

/// What arguments that are no numbers come to: the tracker that they give with the names among them, or else the error.
#[cold]
fn or_named<'py>(
    err: PyErr,
    arguments: &Bound<'py, PyTuple>,
    made: impl FnOnce() -> PyResult<SymbolicShapeTracker>,
) -> PyResult<Made<'py>> {
    if has_names(arguments) { named(arguments.py(), made()) } else { Err(err) }
}

fn tracker(result: Result<shapetracker::ShapeTracker, shapetracker::Error>) -> PyResult<ShapeTracker> {
    result.map(ShapeTracker).map_err(|err| layout(&err))
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
