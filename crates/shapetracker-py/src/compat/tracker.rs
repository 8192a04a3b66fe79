//! tinygrad's `ShapeTracker` over an exact one.

use std::sync::OnceLock;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyDict, PyList, PySet, PyTuple};
use shapetracker::{ErrorKind, NotInvertible};

use super::answers::Answers;
use super::names::or_names;
use super::view::View;
use super::{dataclass_fields, frozen, indexed, is_masked_scalar, refused, refused_by, replaced, whole};
use crate::arguments::{described, number, numbers_of};
use crate::import::Imported;

/// tinygrad's `ShapeTracker`: a frozen, ordered dataclass of views, the first next to memory.
///
/// Operations act on the last view; a reshape that no view can be puts another one on top.
#[pyclass(frozen, weakref, module = "shapetracker.compat.tinygrad.shapetracker")]
pub(crate) struct ShapeTracker {
    /// At least one, all of them of the class above.
    views: Py<PyTuple>,
    /// The tracker that the views make, once it has been asked for.
    exact: OnceLock<shapetracker::ShapeTracker>,
    answers: OnceLock<Answers>,
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
            Err(_) => {
                let items: PyResult<Vec<_>> = views.try_iter().map_err(|_| mismatch(views))?.collect();
                PyTuple::new(views.py(), items?)?
            }
        };
        if views.is_empty() {
            return Err(refused(views.py(), format!("{OP}: takes at least one view")));
        }
        for view in views.iter_borrowed() {
            view.cast::<View>().map_err(|_| mismatch(&view))?;
        }
        Ok(ShapeTracker::of(views.unbind()))
    }

    /// The tracker of one view: row-major, or with strides.
    #[staticmethod]
    #[pyo3(signature = (shape, strides=None))]
    fn from_shape(shape: &Bound<'_, PyAny>, strides: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        ShapeTracker::one(shape.py(), View::create(shape.py(), shape, strides, None, None)?)
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
    fn views(&self, py: Python<'_>) -> Py<PyTuple> {
        self.views.clone_ref(py)
    }

    /// The tracker of the package `shapetracker` that these views make, at the fewest views: a SymbolicShapeTracker where a
    /// size is no number.
    #[getter(exact)]
    fn exact_tracker<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, st) = (slf.py(), slf.get());
        let exact =
            st.exact(py).and_then(|exact| Ok(Bound::new(py, crate::tracker::ShapeTracker(exact.clone()))?.into_any()));
        or_names(slf, "tracker.exact", (), exact)
    }

    /// Whether the tracker is one row-major view from address 0, without a mask.
    #[getter]
    fn contiguous(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.views.bind(py).len() == 1 && self.last(py)?.get().contiguous(py)?)
    }

    /// Whether the tracker is one row-major view from any address, without a mask.
    #[getter]
    fn consecutive(slf: &Bound<'_, Self>) -> PyResult<bool> {
        let (py, st) = (slf.py(), slf.get());
        if st.views.bind(py).len() != 1 {
            return Ok(false);
        }
        let consecutive = st.last(py)?.get().exact().map(shapetracker::View::is_consecutive);
        or_names(slf, "tracker.consecutive", (), consecutive)
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.last(py)?.get().shape(py)
    }

    /// The number of elements, masked ones included; the largest there can be where a size is no number.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<i128> {
        View::size(&self.last(py)?)
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
                let exact = crate::tracker::ShapeTracker(exact.clone());
                indexed(py)?.call1((exact, _idxs, py.None()))
            }
            Err(err) => or_names(slf, "tracker.to_indexed_uops", (_idxs,), Err(err)),
        }
    }

    /// A bound on the elements that the buffer must have: one more than the largest address of the first view.
    fn real_size(slf: &Bound<'_, Self>) -> PyResult<i128> {
        let real_size = || {
            let (py, st) = (slf.py(), slf.get());
            let (first, last) = (st.views.bind(py).get_item(0)?, st.last(py)?);
            if last.get().exact()?.numel() == 0 {
                return Ok(0);
            }
            let high = first.cast::<View>()?.get().exact()?.address_range().map_or(0, |(_, high)| high);
            Ok(i128::from(high) + 1)
        };
        or_names(slf, "tracker.real_size", (), real_size())
    }

    /// The variables that the tracker depends on: none where all sizes are numbers.
    fn vars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PySet>> {
        let none = slf.get().only_numbers(slf.py()).and_then(|()| PySet::empty(slf.py()));
        or_names(slf, "tracker.vars", (), none)
    }

    /// The values of bound variables: there are none where all sizes are numbers.
    #[getter]
    fn var_vals<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let none = slf.get().only_numbers(slf.py()).map(|()| PyDict::new(slf.py()));
        or_names(slf, "tracker.var_vals", (), none)
    }

    /// The tracker without bound variables, and their values: itself where there are none.
    fn unbind<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, Self>, Bound<'py, PyDict>)> {
        let same = slf.get().only_numbers(slf.py()).map(|()| (slf.clone(), PyDict::new(slf.py())));
        or_names(slf, "tracker.unbind", (), same)
    }

    /// The tracker with values in place of variables: its views in canonical form where there are none.
    fn substitute(slf: &Bound<'_, Self>, dvars: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let py = slf.py();
        let same = slf.get().exact_views(py).and_then(|views| Py::new(py, ShapeTracker::over(py, views)?));
        or_names(slf, "tracker.substitute", (dvars,), same)
    }

    /// For each axis its stride where the address is seen to have one; None where not, and where the axis is masked
    /// unless `ignore_valid`. `exact.real_strides()` decides what is left open, and can take long.
    #[pyo3(signature = (ignore_valid=false))]
    fn real_strides<'py>(slf: &Bound<'py, Self>, ignore_valid: bool) -> PyResult<Bound<'py, PyTuple>> {
        let strides = slf.get().strides(slf.py(), ignore_valid).and_then(|strides| PyTuple::new(slf.py(), strides));
        or_names(slf, "tracker.real_strides", (ignore_valid,), strides)
    }

    /// The axes whose real stride is 1.
    #[pyo3(signature = (ignore_valid=false))]
    fn unit_stride_axes<'py>(slf: &Bound<'py, Self>, ignore_valid: bool) -> PyResult<Bound<'py, PyList>> {
        let unit = slf.get().strides(slf.py(), ignore_valid).and_then(|strides| {
            PyList::new(slf.py(), (0..strides.len()).filter(|&axis| strides[axis] == Some(1)).collect::<Vec<_>>())
        });
        or_names(slf, "tracker.unit_stride_axes", (ignore_valid,), unit)
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
        or_names(slf, "tracker.axis_is_masked", (axis,), masked())
    }

    /// The fewest views that are known to do the same.
    fn simplify(slf: &Bound<'_, Self>) -> PyResult<Py<Self>> {
        let (py, st) = (slf.py(), slf.get());
        if st.views.bind(py).len() == 1 {
            return Ok(slf.clone().unbind());
        }
        let simplified = || {
            let views = presented(st.exact(py)?);
            if views.len() >= st.views.bind(py).len() {
                return Ok(slf.clone().unbind());
            }
            Py::new(py, ShapeTracker::over(py, views)?)
        };
        or_names(slf, "tracker.simplify", (), simplified())
    }

    /// This tracker with another one on top, at the fewest views.
    fn __add__<'py>(&self, py: Python<'py>, st: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(st) = st.cast::<ShapeTracker>() else { return Ok(py.NotImplemented().into_bound(py)) };
        let views = self.views.bind(py).as_sequence().concat(st.get().views.bind(py).as_sequence())?.to_tuple()?;
        let both = Bound::new(py, ShapeTracker::of(views.unbind()))?;
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
            total.then(|| Py::new(py, ShapeTracker::over(py, presented(&inverse))?)).transpose()
        };
        or_names(slf, "tracker.invert", (out_shape,), inverted())
    }

    /// Masked elements `(before, after)` around each axis.
    fn pad(&self, py: Python<'_>, arg: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, View::pad(&self.last(py)?, arg)?)
    }

    /// The half-open range `(begin, end)` of each axis.
    fn shrink(&self, py: Python<'_>, arg: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, View::shrink(&self.last(py)?, arg)?)
    }

    /// Axes of size 1 repeated to the given sizes.
    fn expand(&self, py: Python<'_>, new_shape: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, View::expand(&self.last(py)?, new_shape)?)
    }

    /// The axes in another order.
    fn permute(&self, py: Python<'_>, axis: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, View::permute(&self.last(py)?, axis)?)
    }

    /// Each axis reversed whose entry is true.
    fn flip(&self, py: Python<'_>, mul: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, View::flip(&self.last(py)?, mul)?)
    }

    /// The same elements in row-major order under another shape, with another view on top where no view can be that.
    fn reshape(&self, py: Python<'_>, new_shape: &Bound<'_, PyAny>) -> PyResult<Self> {
        let last = self.last(py)?;
        if let Some(view) = View::reshape(&last, new_shape)? {
            return self.with_last(py, view);
        }
        let top = View::create(py, new_shape, None, None, None)?;
        let Ok(mut views) = self.exact_views(py) else { return self.with(py, top) };
        let Ok(view) = top.get().exact() else { return self.with(py, top) };
        views.push(view.clone());
        if views.len() == 2 {
            return ShapeTracker::over(py, views); // They are known not to be one.
        }
        let given = views.len();
        let fewest = presented(&composed(py, views.clone())?);
        ShapeTracker::over(py, if fewest.len() < given { fewest } else { views })
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
        Ok(format!("ShapeTracker(views={})", self.views.bind(py).repr()?))
    }

    /// Dataclasses compare the tuples of their fields.
    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        compare: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Ok(other) = other.cast::<ShapeTracker>() else { return Ok(py.NotImplemented().into_bound(py)) };
        self.views.bind(py).rich_compare(other.get().views.bind(py), compare)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.views.bind(py).hash()
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
        (slf.get_type(), (slf.get().views(slf.py()),)).into_pyobject(slf.py())
    }
}

impl ShapeTracker {
    fn of(views: Py<PyTuple>) -> ShapeTracker {
        ShapeTracker { views, exact: OnceLock::new(), answers: OnceLock::new() }
    }

    fn one(py: Python<'_>, view: Py<View>) -> PyResult<ShapeTracker> {
        Ok(ShapeTracker::of(PyTuple::new(py, [view])?.unbind()))
    }

    fn over(py: Python<'_>, views: Vec<shapetracker::View>) -> PyResult<ShapeTracker> {
        let views: PyResult<Vec<_>> = views.into_iter().map(|view| Bound::new(py, View::from(view))).collect();
        Ok(ShapeTracker::of(PyTuple::new(py, views?)?.unbind()))
    }

    fn last<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, View>> {
        let views = self.views.bind(py);
        Ok(views.get_item(views.len() - 1)?.cast_into()?)
    }

    fn with_last(&self, py: Python<'_>, view: Py<View>) -> PyResult<ShapeTracker> {
        let views = self.views.bind(py);
        if views.len() == 1 {
            return ShapeTracker::one(py, view);
        }
        let kept = views.iter().take(views.len() - 1);
        let all: Vec<_> = kept.chain([view.into_bound(py).into_any()]).collect();
        Ok(ShapeTracker::of(PyTuple::new(py, all)?.unbind()))
    }

    /// The tracker with another view on top.
    fn with(&self, py: Python<'_>, view: Py<View>) -> PyResult<ShapeTracker> {
        let views = self.views.bind(py).iter().chain([view.into_bound(py).into_any()]);
        Ok(ShapeTracker::of(PyTuple::new(py, views.collect::<Vec<_>>())?.unbind()))
    }

    /// Whether all sizes are numbers, as an error where one is not.
    fn only_numbers(&self, py: Python<'_>) -> PyResult<()> {
        self.views.bind(py).iter_borrowed().try_for_each(|view| view.cast::<View>()?.get().exact().map(drop))
    }

    fn exact_views(&self, py: Python<'_>) -> PyResult<Vec<shapetracker::View>> {
        self.views.bind(py).iter_borrowed().map(|view| Ok(view.cast::<View>()?.get().exact()?.clone())).collect()
    }

    fn exact(&self, py: Python<'_>) -> PyResult<&shapetracker::ShapeTracker> {
        if let Some(exact) = self.exact.get() {
            return Ok(exact);
        }
        let exact = composed(py, self.exact_views(py)?)?;
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
        let answers = Answers::of(self.exact(py)?).map_err(|err| refused_by(py, &err))?;
        Ok(self.answers.get_or_init(|| answers))
    }
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
