//! `SymbolicView`: a strided view whose numbers have names in them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use shapetracker_symbolic::{Poly, Scope};

use super::arguments::{chain_error, pairs_of, past_bits, point, read, size, sizes, sizes_of};
use super::refused;
use super::sym::{Sym, hashed, made, names};
use crate::view::View;

/// A strided view whose sizes, strides, offset and mask may have names in them: what `View` is for numbers.
///
/// >>> from shapetracker import Sym, SymbolicView
/// >>> h, t = Sym("H"), Sym("T")
/// >>> view = SymbolicView((h, t), (1, h))
/// >>> view
/// SymbolicView(shape=(H, T), strides=(1, H), offset=0, mask=None)
/// >>> view.at(H=2, T=3)
/// View(shape=(2, 3), strides=(1, 2), offset=0, mask=None)
/// >>> view == SymbolicView.parse("(H, T):(1, H)")
/// True
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct SymbolicView {
    pub(super) scope: Arc<Scope>,
    pub(super) view: shapetracker_symbolic::View,
}

type Any<'py> = Bound<'py, PyAny>;

#[pymethods]
impl SymbolicView {
    #[new]
    #[pyo3(signature = (shape, strides=None, offset=None, mask=None))]
    fn new(
        shape: &Any<'_>,
        strides: Option<&Any<'_>>,
        offset: Option<&Any<'_>>,
        mask: Option<&Any<'_>>,
    ) -> PyResult<Self> {
        const OP: &str = "SymbolicView";
        let shape = sizes_of(OP, shape)?;
        let strides = match strides {
            Some(strides) => sizes_of(OP, strides)?,
            None => {
                let whole =
                    shapetracker_symbolic::ShapeTracker::contiguous(shape.clone()).map_err(|err| refused(&err))?;
                let of = |stride: &Poly| shapetracker_symbolic::Sym::of(whole.scope(), stride.clone());
                whole.views()[0].strides.iter().map(of).collect()
            }
        };
        let offset = offset.map_or(Ok(0.into()), |offset| size(OP, || "the offset".into(), offset))?;
        let mask = mask.map(|mask| pairs_of(OP, |_| None, mask)).transpose()?;
        let ends = mask.iter().flatten().flat_map(|(begin, end)| [begin, end]);
        let all = shape.iter().chain(&strides).chain([&offset]).chain(ends).cloned();
        let (scope, polys) = shapetracker_symbolic::Sym::united(OP, all).map_err(|err| refused(&err))?;
        let mut polys = polys.into_iter();
        let view = shapetracker_symbolic::View {
            shape: polys.by_ref().take(shape.len()).collect(),
            strides: polys.by_ref().take(strides.len()).collect(),
            offset: polys.next().unwrap_or_default(),
            mask: mask.map(|_| paired(&polys.collect::<Vec<_>>())),
        };
        SymbolicView::checked(scope, view)
    }

    /// The row-major view of a shape: `SymbolicView.contiguous(n, 4)`.
    #[staticmethod]
    #[pyo3(signature = (*shape))]
    fn contiguous(shape: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let whole = shapetracker_symbolic::ShapeTracker::contiguous(sizes("contiguous", shape)?);
        let whole = whole.map_err(|err| refused(&err))?;
        Ok(SymbolicView::of(whole.scope(), &whole.views()[0]))
    }

    /// Reads a view, or a chain that is one: `SymbolicView.parse("(H, T):(1, H)", where="T=1..4097")`.
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
                let (view, _) = chain.view(scope).map_err(|err| chain_error(py, text, &err))?;
                Ok(SymbolicView::of(scope, &view))
            },
        )
    }

    /// The size of each axis.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.tuple(py, &self.view.shape)
    }

    /// For each axis how far a step along it moves the address, in elements.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.tuple(py, &self.view.strides)
    }

    /// The address of the element at index zero, be it masked or not.
    #[getter]
    fn offset<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        self.size(py, &self.view.offset)
    }

    /// The half-open range of valid entries of each axis; None where nothing is masked.
    #[getter]
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(mask) = &self.view.mask else { return Ok(None) };
        let pairs = mask.iter().map(|(begin, end)| Ok((self.size(py, begin)?, self.size(py, end)?)));
        PyTuple::new(py, pairs.collect::<PyResult<Vec<_>>>()?).map(Some)
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self) -> usize {
        self.view.shape.len()
    }

    /// The names, each with the least and the greatest value, None where there is none.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        names(py, &self.scope)
    }

    /// The view where the names have values: `at(n=8)`.
    #[pyo3(signature = (**values))]
    fn at(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<View> {
        const OP: &str = "at";
        let point = point(OP, &self.scope, &[], values)?;
        view_at(OP, &self.scope, &self.view, &point)
    }

    fn __eq__(&self, other: &SymbolicView) -> bool {
        self.parts() == other.parts()
    }

    fn __hash__(&self) -> u64 {
        let (lengths, sizes) = self.parts();
        let mut hasher = DefaultHasher::new();
        lengths.hash(&mut hasher);
        sizes.iter().for_each(|size| hashed(size).hash(&mut hasher));
        hasher.finish()
    }

    fn __str__(&self) -> String {
        self.view.text(&self.scope)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mask = self.mask(py)?.map_or("None".to_owned(), |mask| mask.to_string());
        let (shape, strides, offset) = (self.shape(py)?, self.strides(py)?, self.offset(py)?);
        Ok(format!("SymbolicView(shape={shape}, strides={strides}, offset={offset}, mask={mask})"))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, view) = (slf.py(), slf.get());
        (slf.get_type(), (view.shape(py)?, view.strides(py)?, view.offset(py)?, view.mask(py)?)).into_pyobject(py)
    }
}

impl SymbolicView {
    pub(crate) fn of(scope: &Arc<Scope>, view: &shapetracker_symbolic::View) -> SymbolicView {
        SymbolicView { scope: scope.clone(), view: view.clone() }
    }

    /// A view that there can be.
    fn checked(scope: Arc<Scope>, view: shapetracker_symbolic::View) -> PyResult<SymbolicView> {
        shapetracker_symbolic::ShapeTracker::from_views(scope.clone(), [view.clone()]).map_err(|err| refused(&err))?;
        Ok(SymbolicView { scope, view })
    }

    /// A view of numbers, or one with names.
    pub(super) fn any(value: &Any<'_>) -> Option<SymbolicView> {
        if let Ok(view) = value.cast::<SymbolicView>() {
            return Some(SymbolicView::of(&view.get().scope, &view.get().view));
        }
        let view = value.cast::<View>().ok()?;
        Some(SymbolicView { scope: Arc::default(), view: (&view.get().0).into() })
    }

    /// Views over the names of all of them.
    pub(super) fn united(
        op: &'static str,
        views: &[SymbolicView],
    ) -> PyResult<(Arc<Scope>, Vec<shapetracker_symbolic::View>)> {
        let plain = |sym: shapetracker_symbolic::Sym| Sym::of(sym).plain(op);
        let sizes = views.iter().flat_map(SymbolicView::sizes).map(plain).collect::<PyResult<Vec<_>>>()?;
        let (scope, polys) = shapetracker_symbolic::Sym::united(op, sizes).map_err(|err| refused(&err))?;
        let mut polys = polys.into_iter();
        let over = |view: &SymbolicView| {
            let mut next = |count: usize| polys.by_ref().take(count).collect::<Vec<Poly>>();
            shapetracker_symbolic::View {
                shape: next(view.view.shape.len()),
                strides: next(view.view.strides.len()),
                offset: next(1).pop().unwrap_or_default(),
                mask: view.view.mask.as_ref().map(|mask| paired(&next(2 * mask.len()))),
            }
        };
        let views = views.iter().map(over).collect();
        Ok((scope, views))
    }

    /// All of its numbers, in order.
    fn sizes(&self) -> Vec<shapetracker_symbolic::Sym> {
        let view = &self.view;
        let ends = view.mask.iter().flatten().flat_map(|(begin, end)| [begin, end]);
        let all = view.shape.iter().chain(&view.strides).chain([&view.offset]).chain(ends);
        all.map(|poly| shapetracker_symbolic::Sym::of(&self.scope, poly.clone())).collect()
    }

    /// What two views that are equal have in common.
    fn parts(&self) -> ([usize; 2], Vec<shapetracker_symbolic::Sym>) {
        let lengths = [self.view.shape.len(), self.view.mask.as_ref().map_or(0, |mask| 1 + mask.len())];
        (lengths, self.sizes().iter().map(shapetracker_symbolic::Sym::canonical).collect())
    }

    fn size<'py>(&self, py: Python<'py>, poly: &Poly) -> PyResult<Any<'py>> {
        made(py, shapetracker_symbolic::Sym::of(&self.scope, poly.clone()))
    }

    fn tuple<'py>(&self, py: Python<'py>, polys: &[Poly]) -> PyResult<Bound<'py, PyTuple>> {
        let sizes = polys.iter().map(|poly| self.size(py, poly));
        PyTuple::new(py, sizes.collect::<PyResult<Vec<_>>>()?)
    }
}

/// The ends of ranges as ranges.
fn paired(ends: &[Poly]) -> Vec<(Poly, Poly)> {
    ends.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// The integer view at values of the names that are not quotients.
pub(super) fn view_at(
    op: &'static str,
    scope: &Scope,
    view: &shapetracker_symbolic::View,
    values: &[i128],
) -> PyResult<View> {
    let view = scope.complete(values).and_then(|point| view.at(&point));
    view.map(View).ok_or_else(|| past_bits(op, 64))
}
