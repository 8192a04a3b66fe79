//! The classes of `shapetracker.compat.tinygrad`: tinygrad's `View` and `ShapeTracker` over exact ones.
//!
//! They look like the frozen dataclasses that they stand in for: a tracker keeps the views that it was given, and
//! operations act on the last view only. What is asked of a tracker is asked of the exact tracker that its views make.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBool, PyDict, PyList, PySet, PyTuple};
use shapetracker::{Dims, Error, ErrorKind, NotInvertible, Ranges, Unmerged};

use crate::arguments::{described, number, numbers_of, pairs_of, tuple};
use crate::error::layout;
use crate::import::{Imported, module};

mod answers;
use answers::Answers;

/// The native part of `shapetracker.compat.tinygrad`.
#[pymodule(gil_used = false)]
pub(crate) mod tinygrad {
    #[pymodule_export]
    use super::{ShapeTracker, View};
}

/// tinygrad's `View`: a frozen dataclass of shape, strides, offset, mask and whether it is contiguous.
///
/// `View.create` makes one in canonical form. The constructor takes the fields as they are; operations act on the
/// canonical form of them.
#[pyclass(frozen, weakref, module = "shapetracker.compat.tinygrad.view")]
pub(crate) struct View {
    exact: shapetracker::View,
    /// The fields, where they are not those of the canonical form.
    given: Option<Box<Given>>,
}

#[derive(PartialEq, Eq)]
struct Given {
    strides: Dims,
    offset: i64,
    mask: Option<Ranges>,
    contiguous: bool,
}

type Pairs<'py> = Option<Bound<'py, PyTuple>>;

#[pymethods]
impl View {
    #[new]
    fn new(
        shape: &Bound<'_, PyAny>,
        strides: &Bound<'_, PyAny>,
        offset: &Bound<'_, PyAny>,
        mask: Option<&Bound<'_, PyAny>>,
        contiguous: bool,
    ) -> PyResult<Self> {
        const OP: &str = "View";
        let py = shape.py();
        let (shape, strides) = (whole(py, numbers_of(OP, shape))?, whole(py, numbers_of(OP, strides))?);
        let offset = whole(py, number(OP, || "the offset".into(), offset))?;
        let mask: Option<Ranges> = mask.map(|mask| whole(py, pairs_of(OP, |_| None, mask))).transpose()?;
        let exact = canonical(py, &shape, &strides, offset, mask.as_deref())?;
        let given = Given { strides, offset, mask, contiguous };
        let same = exact.strides() == &given.strides[..]
            && exact.offset() == offset
            && exact.mask() == given.mask.as_deref()
            && exact.is_contiguous() == contiguous;
        Ok(View { exact, given: (!same).then(|| Box::new(given)) })
    }

    /// A view in canonical form; without strides the row-major one.
    #[staticmethod]
    #[pyo3(signature = (shape, strides=None, offset=None, mask=None))]
    fn create(
        shape: &Bound<'_, PyAny>,
        strides: Option<&Bound<'_, PyAny>>,
        offset: Option<&Bound<'_, PyAny>>,
        mask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        const OP: &str = "View.create";
        let py = shape.py();
        let shape = whole(py, numbers_of(OP, shape))?;
        let strides = strides.map(|strides| whole(py, numbers_of(OP, strides))).transpose()?;
        let strides = strides.filter(|strides| !strides.is_empty());
        let offset = offset.map_or(Ok(0), |offset| whole(py, number(OP, || "the offset".into(), offset)))?;
        let mask: Option<Ranges> = mask.map(|mask| whole(py, pairs_of(OP, |_| None, mask))).transpose()?;
        let row_major = shapetracker::View::contiguous(&shape).map_err(|err| refused_by(py, &err))?;
        if strides.is_none() && offset == 0 && mask.is_none() {
            return Ok(row_major.into());
        }
        let strides = strides.as_deref().unwrap_or(row_major.strides());
        Ok(canonical(py, &shape, strides, offset, mask.as_deref())?.into())
    }

    #[classattr]
    fn __dataclass_fields__(py: Python<'_>) -> PyResult<Py<PyAny>> {
        dataclass_fields(py, "View", &["shape", "strides", "offset", "mask", "contiguous"])
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str, &'static str) {
        ("shape", "strides", "offset", "mask", "contiguous")
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.exact.shape())
    }

    /// For each axis how far a step along it moves the address, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.given.as_ref().map_or(self.exact.strides(), |given| &given.strides))
    }

    /// The address of the element at index zero, be it masked or not.
    #[getter]
    fn offset(&self) -> i64 {
        self.given.as_ref().map_or(self.exact.offset(), |given| given.offset)
    }

    /// The half-open range of valid entries of each axis; None where nothing is masked.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Pairs<'py>> {
        self.mask_fields().map(|mask| PyTuple::new(py, mask)).transpose()
    }

    /// Whether the view is row-major from address 0, without a mask.
    #[getter]
    fn contiguous(&self) -> bool {
        self.given.as_ref().map_or_else(|| self.exact.is_contiguous(), |given| given.contiguous)
    }

    /// The view of the package `shapetracker` that this one is, in canonical form.
    #[getter]
    fn exact(&self) -> crate::view::View {
        crate::view::View(self.exact.clone())
    }

    /// The number of elements, masked ones included.
    fn size(&self) -> i64 {
        self.exact.numel()
    }

    /// The variables that the view depends on: none, for all sizes are numbers.
    fn vars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PySet>> {
        PySet::empty(py)
    }

    /// The view without bound variables, and their values: itself in canonical form, for there are none.
    fn unbind<'py>(&self, py: Python<'py>) -> (Self, Bound<'py, PyDict>) {
        (self.exact.clone().into(), PyDict::new(py))
    }

    /// The view with values in place of variables: itself in canonical form, for there are none.
    fn substitute(&self, dvars: &Bound<'_, PyAny>) -> Self {
        let _ = dvars;
        self.exact.clone().into()
    }

    /// The address of an element and the condition that it has one; `vexpr` is a condition that is to hold as well.
    #[pyo3(signature = (idxs=None, vexpr=None))]
    fn to_indexed_uops<'py>(
        &self,
        py: Python<'py>,
        idxs: Option<&Bound<'py, PyAny>>,
        vexpr: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let exact = crate::tracker::ShapeTracker(self.exact.clone().into());
        indexed(py)?.call1((exact, idxs, vexpr))
    }

    /// The single view that does what this one and a later one do; None when there is none.
    fn __add__<'py>(slf: &Bound<'py, Self>, later: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Ok(later) = later.cast::<View>() else { return Ok(py.NotImplemented().into_bound(py)) };
        let (below, above) = (&slf.get().exact, &later.get().exact);
        if below.is_contiguous() || above.numel() == 0 {
            return Ok(later.clone().into_any());
        }
        Ok(single(py, shapetracker::merge(below, above))?.into_pyobject(py)?.into_any())
    }

    /// The view that finds the element at each place of a buffer; None when not every place has exactly one.
    fn invert(&self, py: Python<'_>, out_shape: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        const OP: &str = "invert";
        let out = whole(py, numbers_of(OP, out_shape))?;
        let len = shapetracker::View::contiguous(&out).map_err(|err| refused_by(py, &err))?.numel();
        let view = &self.exact;
        let ranges: Ranges = view.mask().map_or_else(|| view.shape().iter().map(|&s| (0, s)).collect(), Into::into);
        let axes = 0..view.rank() as i64;
        let stride = |axis: &i64| view.strides()[*axis as usize];
        let flipped: Dims = axes.clone().filter(|axis| stride(axis) < 0).collect();
        let mut order: Dims = axes.collect();
        order.sort_by_key(|axis| std::cmp::Reverse(stride(axis).unsigned_abs()));
        let ordered = |view: &shapetracker::View| view.shrink(&ranges)?.flip(&flipped)?.permute(&order);
        // The elements that are there, in the order of their addresses, are to fill the buffer.
        let in_memory = ordered(view).map_err(|err| layout(&err))?;
        if !in_memory.is_contiguous() || in_memory.numel() != len {
            return Ok(None);
        }
        let elements = shapetracker::View::contiguous(view.shape()).and_then(|view| ordered(&view));
        elements.map(|view| Some(view.into())).map_err(|err| layout(&err))
    }

    /// The view with as few axes as `merge_dims` leaves, where it is one.
    fn minify(slf: &Bound<'_, Self>) -> PyResult<Py<Self>> {
        let shape: Dims = slf.get().exact.merge_dims().iter().map(|dim| dim.size).collect();
        if shape[..] == *slf.get().exact.shape() {
            return Ok(slf.clone().unbind());
        }
        match single(slf.py(), slf.get().exact.reshape(&shape))? {
            Some(view) => Py::new(slf.py(), view),
            None => Ok(slf.clone().unbind()),
        }
    }

    /// Masked elements `(before, after)` around each axis.
    fn pad(slf: &Bound<'_, Self>, arg: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let py = slf.py();
        let pads: Ranges = whole(py, pairs_of("pad", |_| None, arg))?;
        if pads.len() == slf.get().exact.rank() && pads.iter().all(|pad| *pad == (0, 0)) {
            return Ok(slf.clone().unbind());
        }
        made(py, slf.get().exact.pad(pads))
    }

    /// The half-open range `(begin, end)` of each axis.
    fn shrink(&self, py: Python<'_>, arg: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        made(py, self.exact.shrink(whole(py, pairs_of("shrink", |_| None, arg))?))
    }

    /// Axes of size 1 repeated to the given sizes.
    fn expand(&self, py: Python<'_>, new_shape: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let sizes = whole(py, numbers_of("expand", new_shape))?;
        if let Some(axis) = sizes.iter().position(|&size| size < 0) {
            return Err(refused(py, format!("expand: axis {axis} cannot have the size {}", sizes[axis])));
        }
        made(py, self.exact.expand(sizes))
    }

    /// The axes in another order.
    fn permute(&self, py: Python<'_>, axis: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let axes = whole(py, numbers_of("permute", axis))?;
        if let Some(axis) = axes.iter().find(|&&axis| axis < 0) {
            return Err(refused(py, format!("permute: axes are counted from 0, so that {axis} is none")));
        }
        made(py, self.exact.permute(axes))
    }

    /// Each axis reversed whose entry is true.
    fn flip(&self, py: Python<'_>, arg: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        const OP: &str = "flip";
        let mismatch = || PyTypeError::new_err(format!("{OP}: takes one boolean per axis, not {}", described(arg)));
        let (mut axes, mut given) = (Dims::new(), 0);
        for reversed in arg.try_iter().map_err(|_| mismatch())? {
            if reversed?.is_truthy()? {
                axes.push(given);
            }
            given += 1;
        }
        let rank = self.exact.rank();
        if given != rank as i64 {
            let sentence = format!("{OP}: takes one boolean per axis: the view has {rank}, but {given} were given");
            return Err(refused(py, sentence));
        }
        made(py, self.exact.flip(axes))
    }

    /// The same elements in row-major order under another shape; None when no view can be that.
    fn reshape(slf: &Bound<'_, Self>, new_shape: &Bound<'_, PyAny>) -> PyResult<Option<Py<Self>>> {
        let py = slf.py();
        let shape = sizes(py, "reshape", new_shape)?;
        if shape[..] == *slf.get().exact.shape() {
            return Ok(Some(slf.clone().unbind()));
        }
        single(py, slf.get().exact.reshape(shape))?.map(|view| Py::new(py, view)).transpose()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (shape, strides, offset) = (self.shape(py)?, self.strides(py)?, self.offset());
        let mask = self.mask(py)?.map_or(Ok("None".into()), |mask| Ok::<_, PyErr>(mask.repr()?.to_string()))?;
        let contiguous = if self.contiguous() { "True" } else { "False" };
        Ok(format!("View(shape={shape}, strides={strides}, offset={offset}, mask={mask}, contiguous={contiguous})"))
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        let py = other.py();
        match other.cast::<View>() {
            Ok(other) => PyBool::new(py, self == other.get()).to_owned().into_any(),
            Err(_) => py.NotImplemented().into_bound(py),
        }
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let strides = self.given.as_ref().map_or(self.exact.strides(), |given| &given.strides);
        (self.exact.shape(), strides, self.offset(), self.mask_fields()).hash(&mut hasher);
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
        let (py, view) = (slf.py(), slf.get());
        let fields = (view.shape(py)?, view.strides(py)?, view.offset(), view.mask(py)?, view.contiguous());
        (slf.get_type(), fields).into_pyobject(py)
    }
}

impl View {
    fn mask_fields(&self) -> Option<&[(i64, i64)]> {
        match &self.given {
            Some(given) => given.mask.as_deref(),
            None => self.exact.mask(),
        }
    }
}

impl PartialEq for View {
    fn eq(&self, other: &View) -> bool {
        match (&self.given, &other.given) {
            // Where only one has fields of its own they differ from those of its canonical form.
            (None, None) => self.exact == other.exact,
            (Some(given), Some(others)) => self.exact.shape() == other.exact.shape() && given == others,
            _ => false,
        }
    }
}

impl From<shapetracker::View> for View {
    fn from(exact: shapetracker::View) -> View {
        View { exact, given: None }
    }
}

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
        ShapeTracker::one(shape.py(), Py::new(shape.py(), View::create(shape, strides, None, None)?)?)
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

    /// The tracker of the package `shapetracker` that these views make, at the fewest views.
    #[getter(exact)]
    fn exact_tracker(&self, py: Python<'_>) -> PyResult<crate::tracker::ShapeTracker> {
        Ok(crate::tracker::ShapeTracker(self.exact(py)?.clone()))
    }

    /// Whether the tracker is one row-major view from address 0, without a mask.
    #[getter]
    fn contiguous(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.views.bind(py).len() == 1 && self.last(py)?.get().contiguous())
    }

    /// Whether the tracker is one row-major view from any address, without a mask.
    #[getter]
    fn consecutive(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.views.bind(py).len() == 1 && self.last(py)?.get().exact.is_consecutive())
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.last(py)?.get().shape(py)
    }

    /// The number of elements, masked ones included.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<i64> {
        Ok(self.last(py)?.get().size())
    }

    /// The shape with size 1 at the given axes.
    fn reduce<'py>(&self, py: Python<'py>, axis: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
        let mut shape = Vec::new();
        for (place, &size) in self.last(py)?.get().exact.shape().iter().enumerate() {
            shape.push(if axis.contains(place)? { 1 } else { size });
        }
        PyTuple::new(py, shape)
    }

    /// Views of this package are no part of a graph of tinygrad: always raises.
    fn to_uop(&self) -> PyResult<()> {
        let sentence = "to_uop: there is no graph of tinygrad here that a tracker could be a node of";
        Err(PyTypeError::new_err(format!("{sentence}; to_indexed_uops() gives its address and its condition")))
    }

    /// The address of an element and the condition that it has one, over ridx0, ridx1, .. or what is given for them.
    #[pyo3(signature = (_idxs=None))]
    fn to_indexed_uops<'py>(&self, py: Python<'py>, _idxs: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        indexed(py)?.call1((self.exact_tracker(py)?, _idxs, py.None()))
    }

    /// A bound on the elements that the buffer must have: one more than the largest address of the first view.
    fn real_size(&self, py: Python<'_>) -> PyResult<i128> {
        if self.size(py)? == 0 {
            return Ok(0);
        }
        let views = self.views.bind(py);
        let high = views.get_item(0)?.cast::<View>()?.get().exact.address_range().map_or(0, |(_, high)| high);
        Ok(i128::from(high) + 1)
    }

    /// The variables that the tracker depends on: none, for all sizes are numbers.
    fn vars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PySet>> {
        PySet::empty(py)
    }

    /// The values of bound variables: there are none.
    #[getter]
    fn var_vals<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        PyDict::new(py)
    }

    /// The tracker without bound variables, and their values: itself, for there are none.
    fn unbind<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, Self>, Bound<'py, PyDict>) {
        (slf.clone(), PyDict::new(slf.py()))
    }

    /// The tracker with values in place of variables: its views in canonical form, for there are none.
    fn substitute(&self, py: Python<'_>, dvars: &Bound<'_, PyAny>) -> PyResult<Self> {
        let _ = dvars;
        ShapeTracker::over(py, self.exact_views(py)?)
    }

    /// For each axis its stride where the address is seen to have one; None where not, and where the axis is masked
    /// unless `ignore_valid`. `exact.real_strides()` decides what is left open, and can take long.
    #[pyo3(signature = (ignore_valid=false))]
    fn real_strides<'py>(&self, py: Python<'py>, ignore_valid: bool) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.strides(py, ignore_valid)?)
    }

    /// The axes whose real stride is 1.
    #[pyo3(signature = (ignore_valid=false))]
    fn unit_stride_axes<'py>(&self, py: Python<'py>, ignore_valid: bool) -> PyResult<Bound<'py, PyList>> {
        let strides = self.strides(py, ignore_valid)?;
        PyList::new(py, (0..strides.len()).filter(|&axis| strides[axis] == Some(1)).collect::<Vec<_>>())
    }

    /// Whether some element at hand turns into one that is not there when its index changes along an axis.
    fn axis_is_masked(&self, py: Python<'_>, axis: &Bound<'_, PyAny>) -> PyResult<bool> {
        let axis = number("axis_is_masked", || "the axis".into(), axis)?;
        match usize::try_from(axis) {
            Ok(axis) if axis < self.exact(py)?.rank() => self.answers(py)?.is_masked(axis),
            _ => Ok(false),
        }
    }

    /// The fewest views that are known to do the same.
    fn simplify(slf: &Bound<'_, Self>) -> PyResult<Py<Self>> {
        let (py, st) = (slf.py(), slf.get());
        if st.views.bind(py).len() == 1 {
            return Ok(slf.clone().unbind());
        }
        let views = presented(st.exact(py)?);
        if views.len() >= st.views.bind(py).len() {
            return Ok(slf.clone().unbind());
        }
        Py::new(py, ShapeTracker::over(py, views)?)
    }

    /// This tracker with another one on top, at the fewest views.
    fn __add__<'py>(&self, py: Python<'py>, st: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Ok(st) = st.cast::<ShapeTracker>() else { return Ok(py.NotImplemented().into_bound(py)) };
        let views = self.views.bind(py).as_sequence().concat(st.get().views.bind(py).as_sequence())?.to_tuple()?;
        let both = Bound::new(py, ShapeTracker::of(views.unbind()))?;
        Ok(ShapeTracker::simplify(&both)?.into_bound(py).into_any())
    }

    /// The tracker that finds the element at each place of a buffer; None when not every place has exactly one.
    fn invert(&self, py: Python<'_>, out_shape: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        const OP: &str = "invert";
        let out = whole(py, numbers_of(OP, out_shape))?;
        let inverse = match inverse(self.exact(py)?, &out) {
            Ok(Some(inverse)) => inverse,
            Err(NotInvertible::Error(err)) => return Err(refused_by(py, &err)),
            Ok(None) | Err(_) => return Ok(None),
        };
        let code = inverse.index_expr().map_err(|err| refused_by(py, &err))?;
        let total = inverse.numel() == 0 || code.graph().range(code.valid()) == (1, 1);
        total.then(|| ShapeTracker::over(py, presented(&inverse))).transpose()
    }

    /// Masked elements `(before, after)` around each axis.
    fn pad(&self, py: Python<'_>, arg: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, View::pad(&self.last(py)?, arg)?)
    }

    /// The half-open range `(begin, end)` of each axis.
    fn shrink(&self, py: Python<'_>, arg: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, self.last(py)?.get().shrink(py, arg)?)
    }

    /// Axes of size 1 repeated to the given sizes.
    fn expand(&self, py: Python<'_>, new_shape: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, self.last(py)?.get().expand(py, new_shape)?)
    }

    /// The axes in another order.
    fn permute(&self, py: Python<'_>, axis: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, self.last(py)?.get().permute(py, axis)?)
    }

    /// Each axis reversed whose entry is true.
    fn flip(&self, py: Python<'_>, mul: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.with_last(py, self.last(py)?.get().flip(py, mul)?)
    }

    /// The same elements in row-major order under another shape, with another view on top where no view can be that.
    fn reshape(&self, py: Python<'_>, new_shape: &Bound<'_, PyAny>) -> PyResult<Self> {
        let last = self.last(py)?;
        if let Some(view) = View::reshape(&last, new_shape)? {
            return self.with_last(py, view);
        }
        let shape = sizes(py, "reshape", new_shape)?;
        let mut views = self.exact_views(py)?;
        views.push(shapetracker::View::contiguous(shape).map_err(|err| refused_by(py, &err))?);
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

    fn exact_views(&self, py: Python<'_>) -> PyResult<Vec<shapetracker::View>> {
        self.views.bind(py).iter_borrowed().map(|view| Ok(view.cast::<View>()?.get().exact.clone())).collect()
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

fn is_masked_scalar(view: &shapetracker::View) -> bool {
    view.rank() == 0 && view.is_empty()
}

/// The view if there is one, and one that tinygrad's fields can say.
fn single(py: Python<'_>, found: Result<shapetracker::View, Unmerged>) -> PyResult<Option<View>> {
    match found {
        Ok(view) => Ok(Some(view).filter(|view| !is_masked_scalar(view)).map(Into::into)),
        // Views that do not fit on each other are none, either.
        Err(Unmerged::Error(err)) if err.kind() != ErrorKind::AddressOutside => Err(refused_by(py, &err)),
        Err(_) => Ok(None),
    }
}

fn made(py: Python<'_>, view: Result<shapetracker::View, Error>) -> PyResult<Py<View>> {
    Py::new(py, View::from(view.map_err(|err| refused_by(py, &err))?))
}

/// The canonical view of fields as tinygrad reads them: a mask may reach out of the shape, and one that ends before it
/// begins leaves nothing; that of a scalar says nothing.
fn canonical(
    py: Python<'_>,
    shape: &[i64],
    strides: &[i64],
    offset: i64,
    mask: Option<&[(i64, i64)]>,
) -> PyResult<shapetracker::View> {
    let mask: Option<Ranges> = mask.filter(|mask| !(mask.is_empty() && shape.is_empty())).map(|mask| {
        let clipped = mask.iter().zip(shape.iter().map(Some).chain(std::iter::repeat(None)));
        let clip = |(&(begin, end), size): (&(i64, i64), Option<&i64>)| {
            let (begin, end) = (begin.max(0), size.map_or(end, |&size| end.min(size)));
            if begin < end { (begin, end) } else { (0, 0) }
        };
        clipped.map(clip).collect()
    });
    shapetracker::View::new(shape, strides, offset, mask.as_deref()).map_err(|err| refused_by(py, &err))
}

/// Sizes of a reshape: none of them is inferred.
fn sizes(py: Python<'_>, op: &str, shape: &Bound<'_, PyAny>) -> PyResult<Dims> {
    let shape = whole(py, numbers_of(op, shape))?;
    match shape.iter().position(|&size| size < 0) {
        Some(axis) => Err(refused(py, format!("{op}: axis {axis} cannot have the size {}", shape[axis]))),
        None => Ok(shape),
    }
}

/// Says of what is no number that symbols are none, either.
fn whole<T>(py: Python<'_>, numbers: PyResult<T>) -> PyResult<T> {
    numbers.map_err(|err| {
        if !err.is_instance_of::<PyTypeError>(py) {
            return err;
        }
        let sentence = err.value(py).to_string();
        PyTypeError::new_err(format!("{sentence}; symbolic sizes (Variable, UOp) are not taken here"))
    })
}

/// An exception that is both what tinygrad raises, be it ValueError or AssertionError, and what this package does.
fn refused(py: Python<'_>, sentence: String) -> PyErr {
    static ERROR: Imported = Imported::new("shapetracker.compat.tinygrad.view", "ViewError");
    match ERROR.get(py).and_then(|class| class.call1((&sentence,))) {
        Ok(value) => PyErr::from_value(value),
        Err(_) => PyValueError::new_err(sentence),
    }
}

fn refused_by(py: Python<'_>, err: &Error) -> PyErr {
    match err.kind() {
        ErrorKind::Overflow => layout(err),
        _ => refused(py, err.to_string()),
    }
}

fn frozen(py: Python<'_>, what: &str, name: &str) -> PyErr {
    static ERROR: Imported = Imported::new("dataclasses", "FrozenInstanceError");
    let sentence = format!("cannot {what} field '{name}'");
    match ERROR.get(py).and_then(|class| class.call1((sentence,))) {
        Ok(value) => PyErr::from_value(value),
        Err(err) => err,
    }
}

/// What `dataclasses.fields`, `replace`, `astuple` and `asdict` look for.
fn dataclass_fields(py: Python<'_>, name: &str, fields: &[&str]) -> PyResult<Py<PyAny>> {
    let like = module(py, "dataclasses")?.getattr("make_dataclass")?.call1((name, fields))?;
    Ok(like.getattr("__dataclass_fields__")?.unbind())
}

/// What `copy.replace` calls: a new object with some fields changed.
fn replaced<'py>(object: &Bound<'py, PyAny>, changes: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
    module(object.py(), "dataclasses")?.getattr("replace")?.call((object,), changes)
}

/// The function that makes pairs of expressions.
fn indexed<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static INDEXED: Imported = Imported::new("shapetracker.compat.tinygrad.uop", "indexed");
    INDEXED.get(py)
}
