//! tinygrad's `ShapeTracker` over an exact one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyList, PySet, PyTuple};
use shapetracker::{ErrorKind, NotInvertible};

use super::answers::Answers;
use super::names::or_names;
use super::view::{Reshaped, View};
use super::{dataclass_fields, frozen, indexed, is_masked_scalar, refused, refused_by, replaced, whole};
use crate::arguments::{described, number, numbers_of};
use crate::import::Imported;

/// tinygrad's `ShapeTracker`: a frozen, ordered dataclass of views, the first next to memory.
///
/// Operations act on the last view; a reshape that no view can be puts another one on top.
#[pyclass(frozen, weakref, module = "shapetracker.compat.tinygrad.shapetracker")]
pub(crate) struct ShapeTracker {
    /// The views below the last one, the first next to memory: nearly always none.
    below: Vec<View>,
    last: View,
    /// The views as objects of Python, once they have been asked for.
    objects: PyOnceLock<Py<PyTuple>>,
    /// The tracker that the views make, once it has been asked for.
    exact: OnceLock<Box<shapetracker::ShapeTracker>>,
    answers: OnceLock<Box<Answers>>,
}

#[pymethods]
impl ShapeTracker {
    #[new]
    fn new(views: &Bound<'_, PyAny>) -> PyResult<Self> {
        const OP: &str = "ShapeTracker";
        let mismatch = |what: &Bound<'_, PyAny>| {
            let hint = "ShapeTracker.from_shape((2, 3)) makes a tracker from a shape";
            PyTypeError::new_err(format!("{OP}: takes a tuple of views, not {}; {hint}", described(what)))
        };
        let views = match views.cast::<PyTuple>() {
            Ok(views) => views.clone(),
            // A tuple of one without its comma, which tinygrad takes as well.
            Err(_) if views.is_instance_of::<View>() => PyTuple::new(views.py(), [views])?,
            Err(_) => {
                let items: PyResult<Vec<_>> = views.try_iter().map_err(|_| mismatch(views))?.collect();
                PyTuple::new(views.py(), items?)?
            }
        };
        let each =
            views.iter_borrowed().map(|view| Ok(view.cast::<View>().map_err(|_| mismatch(&view))?.get().clone()));
        let mut below: Vec<View> = each.collect::<PyResult<_>>()?;
        let Some(last) = below.pop() else {
            return Err(refused(views.py(), format!("{OP}: takes at least one view")));
        };
        let tracker = ShapeTracker::of(below, last);
        let _ = tracker.objects.set(views.py(), views.unbind());
        Ok(tracker)
    }

    /// The tracker of one view: row-major, or with strides.
    #[staticmethod]
    #[pyo3(signature = (shape, strides=None))]
    fn from_shape(shape: &Bound<'_, PyAny>, strides: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        Ok(ShapeTracker::of(Vec::new(), View::create(shape.py(), shape, strides, None, None)?))
    }

    #[classattr]
    fn __dataclass_fields__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        dataclass_fields(py, "ShapeTracker", &["views"])
    }

    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("views",)
    }

    /// The views, the first next to memory.
    #[getter]
    fn views<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let made = || {
            let views: PyResult<Vec<_>> = self.each().map(|view| Bound::new(py, view.clone())).collect();
            Ok::<_, PyErr>(PyTuple::new(py, views?)?.unbind())
        };
        Ok(self.objects.get_or_try_init(py, made)?.bind(py).clone())
    }

    /// The tracker of the package `shapetracker` that these views make, at the fewest views: one of names where a
    /// size is no number.
    #[getter(exact)]
    fn exact_tracker<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let exact = slf
            .get()
            .exact(py)
            .and_then(|exact| Ok(Bound::new(py, crate::tracker::ShapeTracker::from(exact.clone()))?.into_any()));
        named(slf, "tracker.exact", (), exact)
    }

    /// Whether the tracker is one row-major view from address 0, without a mask.
    #[getter]
    fn contiguous(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.below.is_empty() && self.last.contiguous(py)?)
    }

    /// Whether the tracker is one row-major view from any address, without a mask.
    #[getter]
    fn consecutive(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let st = slf.get();
        if !st.below.is_empty() {
            return Ok(false);
        }
        named(slf, "tracker.consecutive", (), st.last.exact().map(shapetracker::View::is_contiguous))
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.last.shape(py)
    }

    /// The number of elements, masked ones included; the largest there can be where a size is no number.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<i128> {
        self.last.size(py)
    }

    /// The shape with size 1 at the given axes.
    fn reduce<'py>(&self, py: Python<'py>, axis: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let mut shape = Vec::new();
        for (place, size) in self.shape(py)?.iter().enumerate() {
            shape.push(if axis.contains(place)? { 1_i64.into_pyobject(py)?.into_any() } else { size });
        }
        PyTuple::new(py, shape)
    }

    /// The node of tinygrad's graph that is this view of nothing in particular. Raises TypeError where tinygrad is not
    /// loaded.
    fn to_uop<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static NODE: Imported = Imported::new("shapetracker.compat.tinygrad.uop", "view_node");
        NODE.get(slf.py())?.call1((slf,))
    }

    /// The address of an element and the condition that it has one, over ridx0, ridx1, .. or what is given for them.
    #[pyo3(signature = (_idxs=None))]
    fn to_indexed_uops<'py>(slf: &Bound<'py, Self>, _idxs: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match slf.get().exact(py) {
            Ok(exact) => {
                let exact = crate::tracker::ShapeTracker::from(exact.clone());
                indexed(py)?.call1((exact, _idxs, py.None()))
            }
            Err(err) => named(slf, "tracker.to_indexed_uops", (_idxs,), Err(err)),
        }
    }

    /// A bound on the elements that the buffer must have: one more than the largest address of the first view.
    fn real_size(slf: &Bound<'_, Self>) -> PyResult<i128> {
        let real_size = || {
            let st = slf.get();
            let first = st.each().next().unwrap_or(&st.last).exact()?;
            if st.last.exact()?.numel() == 0 {
                return Ok(0);
            }
            Ok(i128::from(first.address_range().map_or(0, |(_, high)| high)) + 1)
        };
        named(slf, "tracker.real_size", (), real_size())
    }

    /// The variables that the tracker depends on: none where all sizes are numbers.
    fn vars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PySet>> {
        let none = slf.get().only_numbers().and_then(|()| PySet::empty(slf.py()));
        named(slf, "tracker.vars", (), none)
    }

    /// The values of bound variables: there are none where all sizes are numbers.
    #[getter]
    fn var_vals<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let none = slf.get().only_numbers().map(|()| PyDict::new(slf.py()));
        named(slf, "tracker.var_vals", (), none)
    }

    /// The tracker without bound variables, and their values: itself where there are none.
    fn unbind<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, Self>, Bound<'py, PyDict>)> {
        let same = slf.get().only_numbers().map(|()| (slf.clone(), PyDict::new(slf.py())));
        named(slf, "tracker.unbind", (), same)
    }

    /// The tracker with values in place of variables: its views in canonical form where there are none.
    fn substitute(slf: &Bound<'_, Self>, dvars: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let st = slf.get();
        let canonical = |view: &View| Ok(View::from(view.exact()?.clone()));
        let below = st.below.iter().map(canonical).collect::<PyResult<_>>();
        let same = below.and_then(|below| Py::new(slf.py(), ShapeTracker::of(below, canonical(&st.last)?)));
        named(slf, "tracker.substitute", (dvars,), same)
    }

    /// For each axis its stride where the address is seen to have one; None where not, and where the axis is masked
    /// unless `ignore_valid`. `exact.real_strides()` decides what is left open, and can take long.
    #[pyo3(signature = (ignore_valid=false))]
    fn real_strides<'py>(slf: &Bound<'py, Self>, ignore_valid: bool) -> PyResult<Bound<'py, PyTuple>> {
        let strides = slf.get().strides(slf.py(), ignore_valid).and_then(|strides| PyTuple::new(slf.py(), strides));
        named(slf, "tracker.real_strides", (ignore_valid,), strides)
    }

    /// The axes whose real stride is 1.
    #[pyo3(signature = (ignore_valid=false))]
    fn unit_stride_axes<'py>(slf: &Bound<'py, Self>, ignore_valid: bool) -> PyResult<Bound<'py, PyList>> {
        let unit = slf.get().strides(slf.py(), ignore_valid).and_then(|strides| {
            PyList::new(slf.py(), (0..strides.len()).filter(|&axis| strides[axis] == Some(1)).collect::<Vec<_>>())
        });
        named(slf, "tracker.unit_stride_axes", (ignore_valid,), unit)
    }

    /// Whether some element at hand turns into one that is not there when its index changes along an axis.
    fn axis_is_masked(slf: &Bound<'_, Self>, axis: &Bound<'_, PyAny>) -> PyResult<bool> {
        let axis = number("axis_is_masked", || "the axis".into(), axis)?;
        let masked = || {
            let (py, st) = (slf.py(), slf.get());
            match usize::try_from(axis) {
                Ok(axis) if axis < st.exact(py)?.rank() => st.answers(py)?.is_masked(axis),
                _ => Ok(false),
            }
        };
        named(slf, "tracker.axis_is_masked", (axis,), masked())
    }

    /// The fewest views that are known to do the same.
    fn simplify(slf: &Bound<'_, Self>) -> PyResult<Py<Self>> {
        let (py, st) = (slf.py(), slf.get());
        if st.below.is_empty() {
            return Ok(slf.clone().unbind());
        }
        let exact = match st.exact(py) {
            Ok(exact) => exact,
            Err(err) => return named(slf, "tracker.simplify", (), Err(err)),
        };
        let views = presented(exact);
        if views.len() > st.below.len() {
            return Ok(slf.clone().unbind());
        }
        let Some(simple) = ShapeTracker::over(views) else { return Ok(slf.clone().unbind()) };
        let _ = simple.exact.set(Box::new(exact.clone()));
        Py::new(py, simple)
    }

    /// This tracker with another one on top, at the fewest views.
    fn __add__<'py>(&self, py: Python<'py>, st: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(st) = st.cast::<ShapeTracker>() else { return Ok(py.NotImplemented().into_bound(py)) };
        let st = st.get();
        let below = self.each().chain(&st.below).cloned().collect();
        let both = Bound::new(py, ShapeTracker::of(below, st.last.clone()))?;
        Ok(ShapeTracker::simplify(&both)?.into_bound(py).into_any())
    }

    /// The tracker that finds the element at each place of a buffer; None when not every place has exactly one.
    fn invert(slf: &Bound<'_, Self>, out_shape: &Bound<'_, PyAny>) -> PyResult<Option<Py<Self>>> {
        const OP: &str = "invert";
        let inverted = || {
            let (py, exact) = (slf.py(), slf.get().exact(slf.py())?);
            let out = whole(py, numbers_of(OP, out_shape))?;
            let inverse = match inverse(exact, &out) {
                Ok(Some(inverse)) => inverse,
                Err(NotInvertible::Error(err)) => return Err(refused_by(py, &err)),
                Ok(None) | Err(_) => return Ok(None),
            };
            let code = inverse.index_expr().map_err(|err| refused_by(py, &err))?;
            let total = inverse.numel() == 0 || code.graph().range(code.valid()) == (1, 1);
            let found = total.then(|| ShapeTracker::over(presented(&inverse))).flatten();
            found.map(|found| Py::new(py, found)).transpose()
        };
        named(slf, "tracker.invert", (out_shape,), inverted())
    }

    /// Masked elements `(before, after)` around each axis.
    fn pad(&self, arg: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(self.with_last(self.last.padded(arg)?.unwrap_or_else(|| self.last.clone())))
    }

    /// The half-open range `(begin, end)` of each axis.
    fn shrink(&self, arg: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(self.with_last(self.last.shrunk(arg)?))
    }

    /// Axes of size 1 repeated to the given sizes.
    fn expand(&self, new_shape: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(self.with_last(self.last.expanded(new_shape)?))
    }

    /// The axes in another order.
    fn permute(&self, axis: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(self.with_last(self.last.permuted(axis)?))
    }

    /// Each axis reversed whose entry is true.
    fn flip(&self, mul: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(self.with_last(self.last.flipped(mul)?))
    }

    /// The same elements in row-major order under another shape, with another view on top where no view can be that.
    fn reshape(&self, new_shape: &Bound<'_, PyAny>) -> PyResult<Self> {
        match self.last.reshaped(new_shape)? {
            Reshaped::Same => Ok(self.with_last(self.last.clone())),
            Reshaped::View(view) => Ok(self.with_last(view)),
            Reshaped::None => {
                let top = View::create(new_shape.py(), new_shape, None, None, None)?;
                Ok(ShapeTracker::of(self.each().cloned().collect(), top))
            }
        }
    }

    /// The operation with a name, such as `Ops.RESHAPE` or "RESHAPE".
    fn mop<'py>(
        slf: &Bound<'py, Self>,
        op: &Bound<'py, PyAny>,
        arg: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        static MOPS: Imported = Imported::new("shapetracker.compat.tinygrad.shapetracker", "mops");
        MOPS.get(slf.py())?.get_item(op)?.call1((slf, arg))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("ShapeTracker(views={})", self.views(py)?.repr()?))
    }

    /// Dataclasses compare the tuples of their fields.
    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        compare: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(other) = other.cast::<ShapeTracker>() else { return Ok(py.NotImplemented().into_bound(py)) };
        let other_one = other.get();
        let equal = || self.last == other_one.last && self.below == other_one.below;
        match compare {
            CompareOp::Eq => Ok(PyBool::new(py, equal()).to_owned().into_any()),
            CompareOp::Ne => Ok(PyBool::new(py, !equal()).to_owned().into_any()),
            _ => self.views(py)?.rich_compare(other.get().views(py)?, compare),
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.below, &self.last).hash(&mut hasher);
        hasher.finish()
    }

    fn __setattr__(&self, py: Python<'_>, name: &str, _value: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(frozen(py, "assign to", name))
    }

    fn __delattr__(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        Err(frozen(py, "delete", name))
    }

    #[pyo3(signature = (**changes))]
    fn __replace__<'py>(slf: &Bound<'py, Self>, changes: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        replaced(slf.as_any(), changes)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        (slf.get_type(), (slf.get().views(slf.py())?,)).into_pyobject(slf.py())
    }
}

impl ShapeTracker {
    fn of(below: Vec<View>, last: View) -> ShapeTracker {
        ShapeTracker { below, last, objects: PyOnceLock::new(), exact: OnceLock::new(), answers: OnceLock::new() }
    }

    /// Nothing without views.
    fn over(views: Vec<shapetracker::View>) -> Option<ShapeTracker> {
        let mut below: Vec<View> = views.into_iter().map(View::from).collect();
        let last = below.pop()?;
        Some(ShapeTracker::of(below, last))
    }

    /// The views, the first next to memory.
    fn each(&self) -> impl Iterator<Item = &View> {
        self.below.iter().chain([&self.last])
    }

    fn with_last(&self, view: View) -> ShapeTracker {
        ShapeTracker::of(self.below.clone(), view)
    }

    fn exact_views(&self) -> PyResult<Vec<shapetracker::View>> {
        self.each().map(|view| view.exact().cloned()).collect()
    }

    /// Whether all sizes are numbers, as an error where one is not.
    fn only_numbers(&self) -> PyResult<()> {
        self.each().try_for_each(|view| view.exact().map(drop))
    }

    fn exact(&self, py: Python<'_>) -> PyResult<&shapetracker::ShapeTracker> {
        if let Some(exact) = self.exact.get() {
            return Ok(exact);
        }
        let exact = Box::new(composed(py, self.exact_views()?)?);
        Ok(self.exact.get_or_init(|| exact))
    }

    fn strides(&self, py: Python<'_>, ignore_valid: bool) -> PyResult<Vec<Option<i64>>> {
        let mut strides = self.answers(py)?.strides()?;
        if !ignore_valid {
            for (axis, stride) in strides.iter_mut().enumerate() {
                if self.answers(py)?.is_masked(axis)? {
                    *stride = None;
                }
            }
        }
        Ok(strides)
    }

    fn answers(&self, py: Python<'_>) -> PyResult<&Answers> {
        if let Some(answers) = self.answers.get() {
            return Ok(answers);
        }
        let answers = Box::new(Answers::of(self.exact(py)?).map_err(|err| refused_by(py, &err))?);
        Ok(self.answers.get_or_init(|| answers))
    }
}
/// What numbers answer, or what names do, about a tracker.
fn named<'py, T, A>(
    tracker: &Bound<'py, ShapeTracker>,
    op: &'static str,
    arguments: A,
    numbers: PyResult<T>,
) -> PyResult<T>
where
    T: FromPyObjectOwned<'py>,
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
{
    or_names(tracker.py(), op, || Ok(tracker.clone().into_any()), arguments, numbers)
}

/// The inverse of a tracker over a buffer; None where it reads past the buffer.
fn inverse(
    st: &shapetracker::ShapeTracker,
    buffer: &[i64],
) -> Result<Option<shapetracker::ShapeTracker>, NotInvertible> {
    match st.invert(buffer) {
        Err(NotInvertible::Error(err)) if err.kind() == ErrorKind::AddressOutside => Ok(None),
        inverse => inverse.map(Some),
    }
}
/// The exact tracker that views make.
fn composed(py: Python<'_>, views: Vec<shapetracker::View>) -> PyResult<shapetracker::ShapeTracker> {
    shapetracker::ShapeTracker::from_views(views).map_err(|err| refused_by(py, &err))
}

/// The views of an exact tracker. tinygrad has no single view for a masked scalar: an empty mask is none there.
fn presented(tracker: &shapetracker::ShapeTracker) -> Vec<shapetracker::View> {
    let mut views = tracker.views().to_vec();
    if let Some(last) = views.last_mut()
        && is_masked_scalar(last)
        && let (Ok(axis), Ok(scalar)) = (last.reshape([1]), shapetracker::View::contiguous([]))
    {
        // A masked axis of one element, and the scalar that reads it.
        *last = axis;
        views.push(scalar);
    }
    views
}
