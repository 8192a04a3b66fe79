//! `View`: one strided view.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use shapetracker_symbolic::{Answer, Scope};

use crate::arguments::{Size, flipped, numbers, pairs, pairs_of, sizes, sizes_of, tuple};
use crate::error::{Undecided, Unmerged, layout, parse, with_attribute};
use crate::kind::{Axes, Kind, Refusal, moved};
use crate::picture::{self, Drawn};
use crate::symbolic::{self, NamedView, has_names, values_wanted};
use crate::witness::witness;

/// One strided view in canonical form: `shape`, `strides` and `offset` in elements, and a `mask` of half-open ranges,
/// one per axis, outside of which there is no data. A size, a stride, the offset or a bound may be a `Sym`: the view then
/// stands for one of numbers for each choice of values, which `at` makes.
///
/// Two views of numbers that have one shape are the same map exactly when they are equal. Views with names are equal where
/// their numbers are the same polynomials.
///
/// >>> from shapetracker import Sym, View
/// >>> h, t = Sym("H"), Sym("T")
/// >>> view = View((h, t), (1, h))
/// >>> view
/// View(shape=(H, T), strides=(1, H), offset=0, mask=None)
/// >>> view.at(H=2, T=3)
/// View(shape=(2, 3), strides=(1, 2), offset=0, mask=None)
/// >>> view == View.parse("(H, T):(1, H)", where="")
/// True
#[pyclass(frozen, eq, hash, generic, module = "shapetracker")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct View(Kind<shapetracker::View, NamedView>);

type Any<'py> = Bound<'py, PyAny>;

#[pymethods]
impl View {
    #[new]
    #[pyo3(signature = (shape, strides=None, offset=None, mask=None))]
    fn new(
        shape: &Any<'_>,
        strides: Option<&Any<'_>>,
        offset: Option<&Any<'_>>,
        mask: Option<&Any<'_>>,
    ) -> PyResult<Self> {
        match read::<i64>(shape, strides, offset, mask) {
            Ok((shape, strides, offset, mask)) => {
                let strides = match strides {
                    Some(strides) => strides,
                    None => shapetracker::View::contiguous(&shape).map_err(|err| layout(&err))?.strides().into(),
                };
                let made = shapetracker::View::new(shape, strides, offset, mask.as_deref());
                made.map(View::from).map_err(|err| layout(&err))
            }
            Err(err) => {
                let given = [Some(shape), strides, offset, mask];
                if !has_names(&given.into_iter().flatten().collect::<Vec<_>>()) {
                    return Err(err);
                }
                let (shape, strides, offset, mask) = read(shape, strides, offset, mask)?;
                NamedView::new(OP, shape, strides, offset, mask).map(View::from)
            }
        }
    }

    /// The row-major view of a shape: `View.contiguous(2, 3)`.
    #[staticmethod]
    #[pyo3(signature = (*shape))]
    fn contiguous<'py>(shape: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        const OP: &str = "contiguous";
        let py = shape.py();
        match numbers(OP, shape) {
            Ok(sizes) => View::of_numbers(py, shapetracker::View::contiguous(sizes)),
            Err(err) if !has_names(&[shape.as_any()]) => Err(err),
            Err(_) => {
                View::of_names(py, OP, shapetracker_symbolic::ShapeTracker::contiguous(sizes::<Named>(OP, shape)?))
            }
        }
    }

    /// Reads `View(shape=(2, 3), strides=(1, 2))`, or `(2, 3):(1, 2) offset 4 mask ((0, 1), (0, 3))` as `str` writes it.
    ///
    /// With `where`, which says what is known of names and may be empty, it may have names in it, and a chain that is one view
    /// may stand for it: `View.parse("(H, T):(1, H)", where="T=1..4097")`. As for the command, there are half-open ranges
    /// (`T=1..4097, T=0.., x=..`), definitions (`H=8*h`) and conditions (`s + L <= N`). A name without a range is at least 1,
    /// or any integer if it occurs in strides only.
    #[staticmethod]
    #[pyo3(signature = (text, r#where=None))]
    fn parse(py: Python<'_>, text: &str, r#where: Option<&str>) -> PyResult<Self> {
        match r#where {
            None => text.parse().map(|view: shapetracker::View| view.into()).map_err(|err| parse(py, text, &err)),
            Some(known) => {
                let named =
                    |scope: &_, chain: shapetracker_symbolic::Chain| Ok(View::over(scope, &chain.view(scope)?.0));
                symbolic::parsed(py, text, known, named)
            }
        }
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0 {
            Kind::Numbers(view) => tuple(py, view.shape()),
            Kind::Names(named) => named.tuple(py, &named.view.shape),
        }
    }

    /// For each axis how far a step along it moves the address, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0 {
            Kind::Numbers(view) => tuple(py, view.strides()),
            Kind::Names(named) => named.tuple(py, &named.view.strides),
        }
    }

    /// The address of the element at index zero, be it masked or not.
    #[getter]
    fn offset<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        match &self.0 {
            Kind::Numbers(view) => Ok(view.offset().into_pyobject(py)?.into_any()),
            Kind::Names(named) => named.size(py, &named.view.offset),
        }
    }

    /// The half-open range of valid entries of each axis; None where nothing is masked.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match &self.0 {
            Kind::Numbers(view) => view.mask().map(|mask| PyTuple::new(py, mask)).transpose(),
            Kind::Names(named) => {
                let Some(mask) = &named.view.mask else { return Ok(None) };
                let pairs = mask.iter().map(|(begin, end)| Ok((named.size(py, begin)?, named.size(py, end)?)));
                PyTuple::new(py, pairs.collect::<PyResult<Vec<_>>>()?).map(Some)
            }
        }
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        match &self.0 {
            Kind::Numbers(view) => view.rank(),
            Kind::Names(named) => named.view.shape.len(),
        }
    }

    /// The number of elements, masked ones included.
    #[getter]
    fn numel<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        match &self.0 {
            Kind::Numbers(view) => Ok(view.numel().into_pyobject(py)?.into_any()),
            Kind::Names(_) => symbolic::made(py, self.names("numel")?.numel()),
        }
    }

    /// The names, each with the least and the greatest value, None where there is none.
    #[getter(names)]
    fn all_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match &self.0 {
            Kind::Numbers(_) => Ok(PyDict::new(py)),
            Kind::Names(named) => symbolic::names(py, &named.scope),
        }
    }

    /// The view where the names have values: `at(n=8)`. Values of other names change nothing; a view of numbers is what it is.
    #[pyo3(signature = (**values))]
    fn at(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        match &self.0 {
            Kind::Numbers(_) => Ok(self.clone()),
            Kind::Names(named) => named.at_values("at", values).map(View::from),
        }
    }

    /// Whether no element is valid. Asked of numbers.
    fn is_empty(&self) -> PyResult<bool> {
        Ok(self.numbers("is_empty")?.is_empty())
    }

    /// Whether the elements lie one after another in row-major order, from any address on, without a mask: what NumPy and
    /// PyTorch call contiguous. With names a TypeError where it depends on the values.
    fn is_contiguous(&self) -> PyResult<bool> {
        match &self.0 {
            Kind::Numbers(view) => Ok(view.is_contiguous()),
            Kind::Names(_) => symbolic::is_contiguous(&*self.names("is_contiguous")?),
        }
    }

    /// Whether the address of each element is its position: contiguous from address 0. With names a TypeError where it
    /// depends on the values.
    fn is_identity(&self) -> PyResult<bool> {
        match &self.0 {
            Kind::Numbers(view) => Ok(view.is_identity()),
            Kind::Names(_) => symbolic::is_identity(&*self.names("is_identity")?),
        }
    }

    /// The address of an element: `address(1, 2)`, with values of the names if there are some: `address(1, 2, n=8)`. None
    /// where it is masked or does not exist.
    #[pyo3(signature = (*index, **values))]
    fn address(&self, index: &Bound<'_, PyTuple>, values: Option<&Bound<'_, PyDict>>) -> PyResult<Option<i64>> {
        const OP: &str = "address";
        match &self.0 {
            Kind::Numbers(view) => Ok(view.address(&numbers(OP, index)?)),
            Kind::Names(named) => Ok(named.at_values(OP, values)?.address(&numbers(OP, index)?)),
        }
    }

    /// The smallest and the largest address that is read; None when none is. With names for all values for which any is;
    /// raises Undecided where they are not known.
    fn address_range<'py>(&self, py: Python<'py>) -> PyResult<Option<(Any<'py>, Any<'py>)>> {
        match &self.0 {
            Kind::Numbers(view) => ends(py, view.address_range()),
            Kind::Names(_) => symbolic::address_range(py, &*self.names("address_range")?).map(Some),
        }
    }

    /// The view of the same elements in row-major order under another shape, of which one size may be -1.
    ///
    /// Raises Unmerged, with a witness, when no single view does it; with names, where none does it for all values.
    #[pyo3(signature = (*shape))]
    fn reshape<'py>(&self, shape: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        moved!(self, shape.py(), "reshape", [shape], sizes::<N>(OP, shape), |view, to| view.reshape(to))
    }

    /// The axes in a new order.
    #[pyo3(signature = (*axes))]
    fn permute<'py>(&self, axes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        let py = axes.py();
        let axes = numbers("permute", axes)?;
        moved!(self, py, "permute", |view| view.permute(&axes))
    }

    /// Axes of size 1 repeated to the given sizes; -1 for an axis that stays.
    #[pyo3(signature = (*sizes))]
    fn expand<'py>(&self, sizes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        moved!(self, sizes.py(), "expand", [sizes], self::sizes::<N>(OP, sizes), |view, to| view.expand(to))
    }

    /// Masked elements `(before, after)` per axis; None for an axis that stays.
    #[pyo3(signature = (*pads))]
    fn pad<'py>(&self, pads: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        moved!(self, pads.py(), "pad", [pads], pairs::<N>(OP, |_| Some((0.into(), 0.into())), pads), |view, by| view
            .pad(by))
    }

    /// The half-open range `(begin, end)` of each axis; None for all of it.
    #[pyo3(signature = (*ranges))]
    fn shrink<'py>(&self, ranges: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        moved!(self, ranges.py(), "shrink", [ranges], pairs::<N>(OP, |axis| view.whole(axis), ranges), |view, to| view
            .shrink(to))
    }

    /// The named axes reversed; or one True or False per axis.
    #[pyo3(signature = (*axes))]
    fn flip<'py>(&self, axes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        let py = axes.py();
        let axes = flipped("flip", self.ndim(), axes)?;
        moved!(self, py, "flip", |view| view.flip(&axes))
    }

    /// Every step-th element of each axis; a negative step walks from the last element backwards.
    #[pyo3(signature = (*steps))]
    fn step<'py>(&self, steps: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, Self>> {
        let py = steps.py();
        let steps = numbers("step", steps)?;
        moved!(self, py, "step", |view| view.step(&steps))
    }

    /// Axes joined as far as their strides allow: tuples of size, stride, and size without broadcast. Asked of numbers.
    fn merge_dims<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let dims = self.numbers("merge_dims")?.merge_dims();
        PyTuple::new(py, dims.iter().map(|dim| (dim.size, dim.stride, dim.real)))
    }

    /// The same elements in row-major order with as few axes as a view of theirs can have; with names as few as are known to
    /// suffice for all values.
    fn max_merge(&self) -> PyResult<Self> {
        match &self.0 {
            Kind::Numbers(view) => Ok(view.max_merge().into()),
            Kind::Names(_) => {
                let tracker = self.names("max_merge")?;
                let merged = tracker.max_merge().map_err(Refusal::raised)?;
                Ok(NamedView::of(tracker.scope(), &merged.view).into())
            }
        }
    }

    fn __str__(&self) -> String {
        match &self.0 {
            Kind::Numbers(view) => view.to_string(),
            Kind::Names(named) => named.view.text(&named.scope),
        }
    }

    pub(crate) fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        match &self.0 {
            Kind::Numbers(view) => Ok(shown(view)),
            Kind::Names(_) => {
                let mask = self.mask(py)?.map_or("None".to_owned(), |mask| mask.to_string());
                let (shape, strides, offset) = (self.shape(py)?, self.strides(py)?, self.offset(py)?);
                Ok(format!("View(shape={shape}, strides={strides}, offset={offset}, mask={mask})"))
            }
        }
    }

    /// A picture of the elements and of the memory that they read, as SVG of less than 40 kB. With names it is one at small values
    /// of them, which it says.
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        let drawn = self.drawn()?.ok_or_else(|| picture::undrawn("svg"))?;
        Ok(py.detach(|| picture::svg(&drawn)))
    }

    /// What notebooks show: the picture, the views as a table, and why they are not one. With names it is that at small values of
    /// them.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        Ok(match self.drawn()? {
            Some(drawn) => py.detach(|| picture::html(&drawn)),
            None => picture::pre(&self.__repr__(py)?),
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, view) = (slf.py(), slf.get());
        (py.get_type::<View>(), (view.shape(py)?, view.strides(py)?, view.offset(py)?, view.mask(py)?))
            .into_pyobject(py)
    }
}

const OP: &str = "View";

type Named = shapetracker_symbolic::Sym;

/// The shape, the strides, the offset and the mask.
type Fields<N> = (<N as Size>::Sizes, Option<<N as Size>::Sizes>, N, Option<<N as Size>::Pairs>);

#[inline]
fn read<N: Size>(
    shape: &Any<'_>,
    strides: Option<&Any<'_>>,
    offset: Option<&Any<'_>>,
    mask: Option<&Any<'_>>,
) -> PyResult<Fields<N>> {
    let shape = sizes_of::<N>(OP, shape)?;
    let strides = strides.map(|strides| sizes_of::<N>(OP, strides)).transpose()?;
    let offset = offset.map_or(Ok(0.into()), |offset| N::read(OP, || "the offset".into(), offset))?;
    let mask = mask.map(|mask| pairs_of::<N>(OP, |_| None, mask)).transpose()?;
    Ok((shape, strides, offset, mask))
}

impl View {
    /// What pictures are of; nothing where no values of the names were found that could be drawn.
    fn drawn(&self) -> PyResult<Option<Drawn<'_>>> {
        Ok(match &self.0 {
            Kind::Numbers(view) => Some(Drawn::of_numbers("View", Cow::Owned(view.clone().into()))),
            Kind::Names(_) => Drawn::of_names("View", &*self.names("svg")?),
        })
    }

    /// The view of numbers, for what is asked of numbers only.
    pub(crate) fn numbers(&self, op: &str) -> PyResult<&shapetracker::View> {
        self.0.numbers(|named| values_wanted(op, &named.scope))
    }

    /// Whether there are names in it.
    pub(crate) fn has_names(&self) -> bool {
        matches!(self.0, Kind::Names(_))
    }

    /// The view as one that may have names in it.
    pub(crate) fn named(&self) -> Cow<'_, NamedView> {
        match &self.0 {
            Kind::Numbers(view) => Cow::Owned(view.into()),
            Kind::Names(named) => Cow::Borrowed(named),
        }
    }

    /// One over the names of an answer.
    pub(crate) fn over(scope: &Arc<Scope>, view: &shapetracker_symbolic::View) -> View {
        NamedView::of(scope, view).into()
    }

    /// The tracker of this view as one of names.
    fn names(&self, op: &'static str) -> PyResult<Cow<'_, shapetracker_symbolic::ShapeTracker>> {
        self.named().tracker(op).map(Cow::Owned)
    }

    /// What an operation on numbers made, as an object of Python that is made where it stays.
    #[inline(always)]
    fn of_numbers<E: Refusal>(py: Python<'_>, made: Result<shapetracker::View, E>) -> PyResult<Bound<'_, View>> {
        match made {
            Ok(made) => Bound::new(py, View(Kind::Numbers(made))),
            Err(err) => Err(err.raised()),
        }
    }

    /// The one view of what an operation made of a view with names.
    fn of_names<'py, E: Refusal>(
        py: Python<'py>,
        op: &'static str,
        made: Result<shapetracker_symbolic::ShapeTracker, E>,
    ) -> PyResult<Bound<'py, View>> {
        let tracker = made.map_err(E::raised)?;
        if let Some(view) = NamedView::of_tracker(&tracker)? {
            return Bound::new(py, View::from(view));
        }
        let answer = tracker.single_view();
        if let (Answer::Always { .. }, Some(view)) = (&answer, answer.view()) {
            return Bound::new(py, View::over(&Arc::new(answer.scope(tracker.scope())), view));
        }
        let sentence = format!("{op}: {}; a ShapeTracker keeps both views", answer.sentence(tracker.scope()));
        Err(match answer.counterexample() {
            None => Undecided::new_err(sentence),
            Some(found) => with_attribute(py, Unmerged::new_err(sentence), "witness", witness(py, &found.witness)),
        })
    }
}

impl From<shapetracker::View> for View {
    fn from(view: shapetracker::View) -> View {
        View(Kind::Numbers(view))
    }
}

/// A view in which no name is left is one of numbers.
impl From<NamedView> for View {
    fn from(named: NamedView) -> View {
        match named.numbers() {
            Some(view) => view.into(),
            None => View(Kind::Names(Box::new(named))),
        }
    }
}

/// The ends of a range of addresses.
pub(crate) fn ends(py: Python<'_>, range: Option<(i64, i64)>) -> PyResult<Option<(Any<'_>, Any<'_>)>> {
    let end = |end: i64| Ok::<_, PyErr>(end.into_pyobject(py)?.into_any());
    range.map(|(low, high)| Ok((end(low)?, end(high)?))).transpose()
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
