//! tinygrad's `View` over an exact one.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PySet, PyTuple};
use shapetracker::{Dims, Error, ErrorKind, Ranges, Unmerged};

use super::{dataclass_fields, frozen, indexed, is_masked_scalar, refused, refused_by, replaced, sizes, whole};
use crate::arguments::{described, number, numbers_of, pairs_of, tuple};
use crate::error::layout;

/// tinygrad's `View`: a frozen dataclass of shape, strides, offset, mask and whether it is contiguous.
///
/// `View.create` makes one in canonical form. The constructor takes the fields as they are; operations act on the
/// canonical form of them.
#[pyclass(frozen, weakref, module = "shapetracker.compat.tinygrad.view")]
#[derive(Clone)]
pub(crate) struct View {
    pub(super) exact: shapetracker::View,
    /// The fields, where they are not those of the canonical form.
    given: Option<Box<Given>>,
}

#[derive(Clone, PartialEq, Eq)]
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
    pub(super) fn create(
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
    pub(super) fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
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
    pub(super) fn contiguous(&self) -> bool {
        self.given.as_ref().map_or_else(|| self.exact.is_contiguous(), |given| given.contiguous)
    }

    /// The view of the package `shapetracker` that this one is, in canonical form.
    #[getter]
    fn exact(&self) -> crate::view::View {
        crate::view::View(self.exact.clone())
    }

    /// The number of elements, masked ones included.
    pub(super) fn size(&self) -> i64 {
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
        match slf.get().padded(arg)? {
            Some(view) => Py::new(slf.py(), view),
            None => Ok(slf.clone().unbind()),
        }
    }

    /// The half-open range `(begin, end)` of each axis.
    fn shrink(&self, arg: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.shrunk(arg)
    }

    /// Axes of size 1 repeated to the given sizes.
    fn expand(&self, new_shape: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.expanded(new_shape)
    }

    /// The axes in another order.
    fn permute(&self, axis: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.permuted(axis)
    }

    /// Each axis reversed whose entry is true.
    fn flip(&self, arg: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.flipped(arg)
    }

    /// The same elements in row-major order under another shape; None when no view can be that.
    fn reshape(slf: &Bound<'_, Self>, new_shape: &Bound<'_, PyAny>) -> PyResult<Option<Py<Self>>> {
        let py = slf.py();
        match slf.get().reshaped(&sizes(py, "reshape", new_shape)?, py)? {
            Reshaped::Same => Ok(Some(slf.clone().unbind())),
            Reshaped::View(view) => Py::new(py, view).map(Some),
            Reshaped::None => Ok(None),
        }
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
        self.hash(&mut hasher);
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

/// What a reshape of one view comes to.
pub(super) enum Reshaped {
    /// The view has that shape already.
    Same,
    View(View),
    /// No single view.
    None,
}

// The operations of both classes, on their arguments as Python passes them.
impl View {
    /// Nothing where the view stays as it is.
    pub(super) fn padded(&self, arg: &Bound<'_, PyAny>) -> PyResult<Option<View>> {
        let py = arg.py();
        let pads: Ranges = whole(py, pairs_of("pad", |_| None, arg))?;
        if pads.len() == self.exact.rank() && pads.iter().all(|pad| *pad == (0, 0)) {
            return Ok(None);
        }
        made(py, self.exact.pad(pads)).map(Some)
    }

    pub(super) fn shrunk(&self, arg: &Bound<'_, PyAny>) -> PyResult<View> {
        let py = arg.py();
        made(py, self.exact.shrink(whole(py, pairs_of("shrink", |_| None, arg))?))
    }

    pub(super) fn expanded(&self, new_shape: &Bound<'_, PyAny>) -> PyResult<View> {
        let py = new_shape.py();
        made(py, self.exact.expand(sizes(py, "expand", new_shape)?))
    }

    pub(super) fn permuted(&self, axis: &Bound<'_, PyAny>) -> PyResult<View> {
        let py = axis.py();
        let axes = whole(py, numbers_of("permute", axis))?;
        if let Some(axis) = axes.iter().find(|&&axis| axis < 0) {
            return Err(refused(py, format!("permute: axes are counted from 0, so that {axis} is none")));
        }
        made(py, self.exact.permute(axes))
    }

    pub(super) fn flipped(&self, arg: &Bound<'_, PyAny>) -> PyResult<View> {
        const OP: &str = "flip";
        let py = arg.py();
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

    pub(super) fn reshaped(&self, shape: &[i64], py: Python<'_>) -> PyResult<Reshaped> {
        if *shape == *self.exact.shape() {
            return Ok(Reshaped::Same);
        }
        Ok(single(py, self.exact.reshape(shape))?.map_or(Reshaped::None, Reshaped::View))
    }

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

impl Eq for View {}

impl Hash for View {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let strides = self.given.as_ref().map_or(self.exact.strides(), |given| &given.strides);
        (self.exact.shape(), strides, self.offset(), self.mask_fields()).hash(hasher);
    }
}

impl From<shapetracker::View> for View {
    fn from(exact: shapetracker::View) -> View {
        View { exact, given: None }
    }
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
fn made(py: Python<'_>, view: Result<shapetracker::View, Error>) -> PyResult<View> {
    view.map(View::from).map_err(|err| refused_by(py, &err))
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
