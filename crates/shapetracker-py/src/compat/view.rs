//! tinygrad's `View` over an exact one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PySet, PyTuple};
use shapetracker::{Dims, Error, ErrorKind, Ranges, Unmerged};

use super::names::{no_number, or_names};
use super::{dataclass_fields, frozen, indexed, is_masked_scalar, refused, refused_by, replaced, sizes, whole};
use crate::arguments::{described, number, numbers_of, pairs_of, tuple};
use crate::error::layout;

/// tinygrad's `View`: a frozen dataclass of shape, strides, offset, mask and whether it is contiguous.
///
/// `View.create` makes one in canonical form. The constructor takes the fields as they are; operations act on the
/// canonical form of them.
#[pyclass(frozen, weakref, module = "shapetracker.compat.tinygrad.view")]
#[derive(Clone)]
pub(crate) struct View(Fields);

#[derive(Clone)]
enum Fields {
    /// Numbers: the view in canonical form, and the fields where they are not those of the canonical form.
    Numbers(shapetracker::View, Option<Box<Given>>),
    /// Shape, strides, offset, mask and whether it is contiguous, where some size is a UOp of tinygrad.
    Names(Arc<Py<PyTuple>>),
}

#[derive(Clone, PartialEq, Eq)]
struct Given {
    strides: Dims,
    offset: i64,
    mask: Option<Ranges>,
    contiguous: bool,
}

#[pymethods]
impl View {
    #[new]
    fn new(
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        strides: &Bound<'_, PyAny>,
        offset: &Bound<'_, PyAny>,
        mask: Option<&Bound<'_, PyAny>>,
        contiguous: bool,
    ) -> PyResult<Self> {
        match View::given(shape, strides, offset, mask, contiguous) {
            Ok(view) => Ok(view),
            Err(err) => {
                let fields = (shape, strides, offset, mask, contiguous);
                let fields = or_names(py, "View", || Ok(py.None().into_bound(py)), fields, Err(err))?;
                Ok(View(Fields::Names(Arc::new(fields))))
            }
        }
    }

    /// A view in canonical form; without strides the row-major one.
    #[staticmethod]
    #[pyo3(signature = (shape, strides=None, offset=None, mask=None))]
    pub(super) fn create(
        py: Python<'_>,
        shape: &Bound<'_, PyAny>,
        strides: Option<&Bound<'_, PyAny>>,
        offset: Option<&Bound<'_, PyAny>>,
        mask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        match View::created(shape, strides, offset, mask) {
            Ok(view) => Ok(view),
            Err(err) => {
                let fields = (shape, strides, offset, mask);
                let view = or_names(py, "View.create", || Ok(py.None().into_bound(py)), fields, Err(err));
                view.map(|view: Py<View>| view.get().clone())
            }
        }
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
        match &self.0 {
            Fields::Numbers(exact, _) => tuple(py, exact.shape()),
            Fields::Names(fields) => Ok(fields.bind(py).get_item(0)?.cast_into()?),
        }
    }

    /// For each axis how far a step along it moves the address, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0 {
            Fields::Numbers(exact, None) => tuple(py, exact.strides()),
            Fields::Numbers(_, Some(given)) => tuple(py, &given.strides),
            Fields::Names(fields) => Ok(fields.bind(py).get_item(1)?.cast_into()?),
        }
    }

    /// The address of the element at index zero, be it masked or not.
    #[getter]
    fn offset<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let offset = match &self.0 {
            Fields::Numbers(exact, None) => exact.offset(),
            Fields::Numbers(_, Some(given)) => given.offset,
            Fields::Names(fields) => return fields.bind(py).get_item(2),
        };
        Ok(offset.into_pyobject(py)?.into_any())
    }

    /// The half-open range of valid entries of each axis; None where nothing is masked.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let mask = match &self.0 {
            Fields::Numbers(exact, None) => exact.mask(),
            Fields::Numbers(_, Some(given)) => given.mask.as_deref(),
            Fields::Names(fields) => return Ok(fields.bind(py).get_item(3)?.extract()?),
        };
        mask.map(|mask| PyTuple::new(py, mask)).transpose()
    }

    /// Whether the view is row-major from address 0, without a mask.
    #[getter]
    pub(super) fn contiguous(&self, py: Python<'_>) -> PyResult<bool> {
        match &self.0 {
            Fields::Numbers(exact, None) => Ok(exact.is_identity()),
            Fields::Numbers(_, Some(given)) => Ok(given.contiguous),
            Fields::Names(fields) => fields.bind(py).get_item(4)?.extract(),
        }
    }

    /// The view of the package `shapetracker` that this one is, in canonical form: one with names where a size is no number.
    #[getter(exact)]
    fn exact_view<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let exact = slf
            .get()
            .exact()
            .and_then(|exact| Ok(Bound::new(slf.py(), crate::view::View::from(exact.clone()))?.into_any()));
        slf.get().or_names(slf.py(), "exact", (), exact)
    }

    /// The number of elements, masked ones included; the largest there can be where a size is no number.
    pub(super) fn size(&self, py: Python<'_>) -> PyResult<i128> {
        self.or_names(py, "size", (), self.exact().map(|exact| exact.numel().into()))
    }

    /// The variables that the view depends on: none where all sizes are numbers.
    fn vars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PySet>> {
        slf.get().or_names(slf.py(), "vars", (), slf.get().exact().and_then(|_| PySet::empty(slf.py())))
    }

    /// The view without bound variables, and their values: itself in canonical form where there are none.
    fn unbind<'py>(slf: &Bound<'py, Self>) -> PyResult<(Py<Self>, Bound<'py, PyDict>)> {
        let (py, view) = (slf.py(), slf.get());
        let same = view.exact().and_then(|exact| Ok((Py::new(py, View::from(exact.clone()))?, PyDict::new(py))));
        slf.get().or_names(slf.py(), "unbind", (), same)
    }

    /// The view with values in place of variables: itself in canonical form where there are none.
    fn substitute(slf: &Bound<'_, Self>, dvars: &Bound<'_, PyAny>) -> PyResult<Py<Self>> {
        let same = slf.get().exact().and_then(|exact| Py::new(slf.py(), View::from(exact.clone())));
        slf.get().or_names(slf.py(), "substitute", (dvars,), same)
    }

    /// The address of an element and the condition that it has one; `vexpr` is a condition that is to hold as well.
    #[pyo3(signature = (idxs=None, vexpr=None))]
    fn to_indexed_uops<'py>(
        slf: &Bound<'py, Self>,
        idxs: Option<&Bound<'py, PyAny>>,
        vexpr: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match slf.get().exact() {
            Ok(exact) => {
                let exact = crate::tracker::ShapeTracker::from(shapetracker::ShapeTracker::from(exact.clone()));
                indexed(slf.py())?.call1((exact, idxs, vexpr))
            }
            Err(err) => slf.get().or_names(slf.py(), "to_indexed_uops", (idxs, vexpr), Err(err)),
        }
    }

    /// The single view that does what this one and a later one do; None when there is none.
    fn __add__<'py>(slf: &Bound<'py, Self>, later: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Ok(above) = later.cast::<View>() else { return Ok(py.NotImplemented().into_bound(py)) };
        let (below, above) = match (slf.get().exact(), above.get().exact()) {
            (Ok(below), Ok(above)) => (below, above),
            (Err(err), _) | (_, Err(err)) => return slf.get().or_names(slf.py(), "__add__", (later,), Err(err)),
        };
        if below.is_identity() || above.numel() == 0 {
            return Ok(later.clone());
        }
        Ok(single(py, shapetracker::merge(below, above))?.into_pyobject(py)?.into_any())
    }

    /// The view that finds the element at each place of a buffer; None when not every place has exactly one.
    fn invert(slf: &Bound<'_, Self>, out_shape: &Bound<'_, PyAny>) -> PyResult<Option<Py<Self>>> {
        let inverse = slf.get().inverse(slf.py(), out_shape);
        slf.get().or_names(slf.py(), "invert", (out_shape,), inverse)
    }

    /// The view with as few axes as `merge_dims` leaves, where it is one.
    fn minify(slf: &Bound<'_, Self>) -> PyResult<Py<Self>> {
        let exact = match slf.get().exact() {
            Ok(exact) => exact,
            Err(err) => return slf.get().or_names(slf.py(), "minify", (), Err(err)),
        };
        let shape: Dims = exact.merge_dims().iter().map(|dim| dim.size).collect();
        if shape[..] == *exact.shape() {
            return Ok(slf.clone().unbind());
        }
        match single(slf.py(), exact.reshape(&shape))? {
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
        match slf.get().reshaped(new_shape)? {
            Reshaped::Same => Ok(Some(slf.clone().unbind())),
            Reshaped::View(view) => Py::new(slf.py(), view).map(Some),
            Reshaped::None => Ok(None),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (shape, strides, offset) = (self.shape(py)?, self.strides(py)?, self.offset(py)?.repr()?);
        let mask = self.mask(py)?.map_or(Ok("None".into()), |mask| Ok::<_, PyErr>(mask.repr()?.to_string()))?;
        let contiguous = if self.contiguous(py)? { "True" } else { "False" };
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
        let fields = (view.shape(py)?, view.strides(py)?, view.offset(py)?, view.mask(py)?, view.contiguous(py)?);
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
        let padded = || {
            let (exact, pads) = (self.exact()?, whole(py, pairs_of::<i64>("pad", |_| None, arg))?);
            if pads.len() == exact.rank() && pads.iter().all(|pad| *pad == (0, 0)) {
                return Ok(None);
            }
            made(py, exact.pad(pads)).map(Some)
        };
        match padded() {
            Err(err) => self.moved("pad", arg, Err(err)).map(Some),
            padded => padded,
        }
    }

    pub(super) fn shrunk(&self, arg: &Bound<'_, PyAny>) -> PyResult<View> {
        let py = arg.py();
        let shrunk = || made(py, self.exact()?.shrink(whole(py, pairs_of::<i64>("shrink", |_| None, arg))?));
        self.moved("shrink", arg, shrunk())
    }

    pub(super) fn expanded(&self, new_shape: &Bound<'_, PyAny>) -> PyResult<View> {
        let py = new_shape.py();
        let expanded = || made(py, self.exact()?.expand(sizes(py, "expand", new_shape)?));
        self.moved("expand", new_shape, expanded())
    }

    pub(super) fn permuted(&self, axis: &Bound<'_, PyAny>) -> PyResult<View> {
        let py = axis.py();
        let permuted = || {
            let (exact, axes) = (self.exact()?, whole(py, numbers_of("permute", axis))?);
            if let Some(axis) = axes.iter().find(|&&axis| axis < 0) {
                return Err(refused(py, format!("permute: axes are counted from 0, so that {axis} is none")));
            }
            made(py, exact.permute(axes))
        };
        self.moved("permute", axis, permuted())
    }

    pub(super) fn flipped(&self, arg: &Bound<'_, PyAny>) -> PyResult<View> {
        const OP: &str = "flip";
        let py = arg.py();
        let mismatch = || PyTypeError::new_err(format!("{OP}: takes one boolean per axis, not {}", described(arg)));
        let flipped = || {
            let exact = self.exact()?;
            let (mut axes, mut given) = (Dims::new(), 0);
            for reversed in arg.try_iter().map_err(|_| mismatch())? {
                if reversed?.is_truthy()? {
                    axes.push(given);
                }
                given += 1;
            }
            let rank = exact.rank();
            // As in tinygrad, what is left over does not matter where it reverses nothing.
            if given < rank as i64 || axes.last().is_some_and(|&axis| axis >= rank as i64) {
                let sentence = format!("{OP}: takes one boolean per axis: the view has {rank}, but {given} were given");
                return Err(refused(py, sentence));
            }
            made(py, exact.flip(axes))
        };
        self.moved(OP, arg, flipped())
    }

    pub(super) fn reshaped(&self, new_shape: &Bound<'_, PyAny>) -> PyResult<Reshaped> {
        let py = new_shape.py();
        let reshaped = || {
            let (exact, shape) = (self.exact()?, sizes(py, "reshape", new_shape)?);
            if shape[..] == *exact.shape() {
                return Ok(Reshaped::Same);
            }
            Ok(single(py, exact.reshape(shape))?.map_or(Reshaped::None, Reshaped::View))
        };
        match reshaped() {
            Err(err) => {
                let view: Option<Py<View>> = self.or_names(py, "reshape", (new_shape,), Err(err))?;
                Ok(view.map_or(Reshaped::None, |view| Reshaped::View(view.get().clone())))
            }
            reshaped => reshaped,
        }
    }

    /// What a movement operation makes of numbers, or of names.
    fn moved(&self, op: &'static str, arg: &Bound<'_, PyAny>, numbers: PyResult<View>) -> PyResult<View> {
        match numbers {
            Err(err) => {
                let view: Py<View> = self.or_names(arg.py(), op, (arg,), Err(err))?;
                Ok(view.get().clone())
            }
            numbers => numbers,
        }
    }

    fn or_names<'py, T, A>(&self, py: Python<'py>, op: &'static str, arguments: A, numbers: PyResult<T>) -> PyResult<T>
    where
        T: FromPyObjectOwned<'py>,
        A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
    {
        or_names(py, op, || Ok(Bound::new(py, self.clone())?.into_any()), arguments, numbers)
    }

    /// The view in canonical form; the error of [`no_number`] where a size is none.
    pub(super) fn exact(&self) -> PyResult<&shapetracker::View> {
        match &self.0 {
            Fields::Numbers(exact, _) => Ok(exact),
            Fields::Names(_) => Err(no_number()),
        }
    }

    /// A view with fields as they are given.
    fn given(
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
        let mask: Option<Ranges> = mask.map(|mask| whole(py, pairs_of::<i64>(OP, |_| None, mask))).transpose()?;
        let exact = canonical(py, &shape, &strides, offset, mask.as_deref())?;
        let given = Given { strides, offset, mask, contiguous };
        let same = exact.strides() == &given.strides[..]
            && exact.offset() == offset
            && exact.mask() == given.mask.as_deref()
            && exact.is_identity() == contiguous;
        Ok(View(Fields::Numbers(exact, (!same).then(|| Box::new(given)))))
    }

    fn created(
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
        let mask: Option<Ranges> = mask.map(|mask| whole(py, pairs_of::<i64>(OP, |_| None, mask))).transpose()?;
        let row_major = shapetracker::View::contiguous(&shape).map_err(|err| refused_by(py, &err))?;
        if strides.is_none() && offset == 0 && mask.is_none() {
            return Ok(row_major.into());
        }
        let strides = strides.as_deref().unwrap_or(row_major.strides());
        Ok(canonical(py, &shape, strides, offset, mask.as_deref())?.into())
    }

    fn inverse(&self, py: Python<'_>, out_shape: &Bound<'_, PyAny>) -> PyResult<Option<Py<Self>>> {
        const OP: &str = "invert";
        let view = self.exact()?;
        let out = whole(py, numbers_of(OP, out_shape))?;
        let len = shapetracker::View::contiguous(&out).map_err(|err| refused_by(py, &err))?.numel();
        let ranges: Ranges = view.mask().map_or_else(|| view.shape().iter().map(|&s| (0, s)).collect(), Into::into);
        let axes = 0..view.rank() as i64;
        let stride = |axis: &i64| view.strides()[*axis as usize];
        let flipped: Dims = axes.clone().filter(|axis| stride(axis) < 0).collect();
        let mut order: Dims = axes.collect();
        order.sort_by_key(|axis| std::cmp::Reverse(stride(axis).unsigned_abs()));
        let ordered = |view: &shapetracker::View| view.shrink(&ranges)?.flip(&flipped)?.permute(&order);
        // The elements that are there, in the order of their addresses, are to fill the buffer.
        let in_memory = ordered(view).map_err(|err| layout(&err))?;
        if !in_memory.is_identity() || in_memory.numel() != len {
            return Ok(None);
        }
        let elements = shapetracker::View::contiguous(view.shape()).and_then(|view| ordered(&view));
        Py::new(py, View::from(elements.map_err(|err| layout(&err))?)).map(Some)
    }
}

impl PartialEq for View {
    fn eq(&self, other: &View) -> bool {
        match (&self.0, &other.0) {
            // Where only one has fields of its own they differ from those of its canonical form.
            (Fields::Numbers(exact, None), Fields::Numbers(other, None)) => exact == other,
            (Fields::Numbers(exact, Some(given)), Fields::Numbers(other, Some(others))) => {
                exact.shape() == other.shape() && given == others
            }
            // UOps are equal where they are the same one.
            (Fields::Names(fields), Fields::Names(others)) => {
                Python::attach(|py| fields.bind(py).eq(others.bind(py)).unwrap_or(false))
            }
            _ => false,
        }
    }
}

impl Eq for View {}

impl Hash for View {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match &self.0 {
            Fields::Numbers(exact, None) => {
                (exact.shape(), exact.strides(), exact.offset(), exact.mask()).hash(hasher);
            }
            Fields::Numbers(exact, Some(given)) => {
                (exact.shape(), &given.strides[..], given.offset, given.mask.as_deref()).hash(hasher);
            }
            Fields::Names(fields) => Python::attach(|py| fields.bind(py).hash().unwrap_or(0)).hash(hasher),
        }
    }
}

impl From<shapetracker::View> for View {
    fn from(exact: shapetracker::View) -> View {
        View(Fields::Numbers(exact, None))
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
