//! `View`: one strided view.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use shapetracker::Ranges;

use crate::arguments::{flipped, number, numbers, numbers_of, pairs, pairs_of, tuple};
use crate::error::{layout, parse, unmerged};
use crate::picture;
use crate::symbolic::{SymbolicView, has_names};

/// One strided view in canonical form: `shape`, `strides` and `offset` in elements, and a `mask` of half-open ranges,
/// one per axis, outside of which there is no data.
///
/// Two views of one shape are the same map exactly when they are equal.
#[pyclass(frozen, eq, hash, module = "shapetracker")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct View(pub(crate) shapetracker::View);

type Pairs<'py> = Option<Bound<'py, PyTuple>>;

#[pymethods]
impl View {
    #[new]
    #[pyo3(signature = (shape, strides=None, offset=None, mask=None))]
    fn new(
        shape: &Bound<'_, PyAny>,
        strides: Option<&Bound<'_, PyAny>>,
        offset: Option<&Bound<'_, PyAny>>,
        mask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        View::of(shape, strides, offset, mask).map_err(|err| {
            let given = [Some(shape), strides, offset, mask];
            let named = PyTuple::new(shape.py(), given).is_ok_and(|given| has_names(&given));
            let sentence = "View: takes whole numbers; SymbolicView takes sizes with names";
            if named { PyTypeError::new_err(sentence) } else { err }
        })
    }

    /// The row-major view of a shape: `View.contiguous(2, 3)`.
    #[staticmethod]
    #[pyo3(signature = (*shape))]
    fn contiguous(shape: &Bound<'_, PyTuple>) -> PyResult<Self> {
        view(shapetracker::View::contiguous(numbers("contiguous", shape)?))
    }

    /// Reads `View(shape=(2, 3), strides=(1, 2))`, or `(2, 3):(1, 2) offset 4 mask ((0, 1), (0, 3))` as `str` writes it.
    /// With `where`, which says what is known of names and may be empty, it may have names and is a SymbolicView.
    #[staticmethod]
    #[pyo3(signature = (text, r#where=None))]
    fn parse(py: Python<'_>, text: &str, r#where: Option<&str>) -> PyResult<AnyView> {
        match r#where {
            None => text.parse().map(|view| AnyView::Numbers(View(view))).map_err(|err| parse(py, text, &err)),
            Some(known) => SymbolicView::parse(py, text, known).map(AnyView::Names),
        }
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.0.shape())
    }

    /// For each axis how far a step along it moves the address, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.0.strides())
    }

    /// The address of the element at index zero, be it masked or not.
    #[getter]
    fn offset(&self) -> i64 {
        self.0.offset()
    }

    /// The half-open range of valid entries of each axis; None where nothing is masked.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Pairs<'py>> {
        self.0.mask().map(|mask| PyTuple::new(py, mask)).transpose()
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

    /// Whether no element is valid.
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the elements lie one after another in row-major order, from any address on, without a mask: what NumPy and
    /// PyTorch call contiguous.
    fn is_contiguous(&self) -> bool {
        self.0.is_contiguous()
    }

    /// Whether the address of each element is its position: contiguous from address 0.
    fn is_identity(&self) -> bool {
        self.0.is_identity()
    }

    /// The address of an element: `address(1, 2)`. None where it is masked or does not exist.
    #[pyo3(signature = (*index))]
    fn address(&self, index: &Bound<'_, PyTuple>) -> PyResult<Option<i64>> {
        Ok(self.0.address(&numbers("address", index)?))
    }

    /// The smallest and the largest address that is read; None when none is.
    fn address_range(&self) -> Option<(i64, i64)> {
        self.0.address_range()
    }

    /// The view of the same elements in row-major order under another shape, of which one size may be -1.
    ///
    /// Raises Unmerged, with a witness, when no single view does it.
    #[pyo3(signature = (*shape))]
    fn reshape(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<Self> {
        self.0.reshape(numbers("reshape", shape)?).map(View).map_err(|err| unmerged(py, err))
    }

    /// The axes in a new order.
    #[pyo3(signature = (*axes))]
    fn permute(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        view(self.0.permute(numbers("permute", axes)?))
    }

    /// Axes of size 1 repeated to the given sizes; -1 for an axis that stays.
    #[pyo3(signature = (*sizes))]
    fn expand(&self, sizes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        view(self.0.expand(numbers("expand", sizes)?))
    }

    /// Masked elements `(before, after)` per axis; None for an axis that stays.
    #[pyo3(signature = (*pads))]
    fn pad(&self, pads: &Bound<'_, PyTuple>) -> PyResult<Self> {
        view(self.0.pad(pairs("pad", |_| Some((0, 0)), pads)?))
    }

    /// The half-open range `(begin, end)` of each axis; None for all of it.
    #[pyo3(signature = (*ranges))]
    fn shrink(&self, ranges: &Bound<'_, PyTuple>) -> PyResult<Self> {
        view(self.0.shrink(pairs("shrink", |axis| self.0.shape().get(axis).map(|&size| (0, size)), ranges)?))
    }

    /// The named axes reversed; or one True or False per axis.
    #[pyo3(signature = (*axes))]
    fn flip(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        view(self.0.flip(flipped("flip", self.0.rank(), axes)?))
    }

    /// Every step-th element of each axis; a negative step walks from the last element backwards.
    #[pyo3(signature = (*steps))]
    fn step(&self, steps: &Bound<'_, PyTuple>) -> PyResult<Self> {
        view(self.0.step(numbers("step", steps)?))
    }

    /// Axes joined as far as their strides allow: tuples of size, stride, and size without broadcast.
    fn merge_dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.merge_dims().iter().map(|dim| (dim.size, dim.stride, dim.real)))
    }

    /// The same elements in row-major order with as few axes as a view of theirs can have.
    fn max_merge(&self) -> Self {
        View(self.0.max_merge())
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        shown(&self.0)
    }

    /// A picture of the elements and of the memory that they read, as SVG of less than 40 kB.
    fn svg(&self, py: Python<'_>) -> String {
        py.detach(|| picture::svg("View", &self.0.clone().into()))
    }

    /// What notebooks show: the picture, the views as a table, and why they are not one.
    fn _repr_html_(&self, py: Python<'_>) -> String {
        py.detach(|| picture::html("View", &self.0.clone().into()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, view) = (slf.py(), slf.get());
        (slf.get_type(), (view.shape(py)?, view.strides(py)?, view.0.offset(), view.mask(py)?)).into_pyobject(py)
    }
}

/// A view of numbers, or with names.
#[derive(IntoPyObject)]
enum AnyView {
    Numbers(View),
    Names(SymbolicView),
}

impl View {
    fn of(
        shape: &Bound<'_, PyAny>,
        strides: Option<&Bound<'_, PyAny>>,
        offset: Option<&Bound<'_, PyAny>>,
        mask: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        const OP: &str = "View";
        let shape = numbers_of(OP, shape)?;
        let strides = match strides {
            Some(strides) => numbers_of(OP, strides)?,
            None => shapetracker::View::contiguous(&shape).map_err(|err| layout(&err))?.strides().into(),
        };
        let offset = offset.map_or(Ok(0), |offset| number(OP, || "the offset".into(), offset))?;
        let mask: Option<Ranges> = mask.map(|mask| pairs_of(OP, |_| None, mask)).transpose()?;
        shapetracker::View::new(shape, strides, offset, mask.as_deref()).map(View).map_err(|err| layout(&err))
    }
}

fn view(result: Result<shapetracker::View, shapetracker::Error>) -> PyResult<View> {
    result.map(View).map_err(|err| layout(&err))
}

/// What evaluates to the view: `View(shape=(2, 3), strides=(3, 1), offset=0, mask=None)`.
pub(crate) fn shown(view: &shapetracker::View) -> String {
    let mut text = format!("{view:?}");
    // The text of the field says one thing more, which follows from the rest.
    if let Some(at) = text.rfind(", contiguous=") {
        text.replace_range(at.., ")");
    }
    text
}
