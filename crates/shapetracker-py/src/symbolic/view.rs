//! A strided view whose numbers have names in them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use shapetracker_symbolic::{Condition, Poly, Scope};

use super::arguments::{past_bits, point};
use super::refused;
use super::sym::{Sym, hashed, made};

/// What a `View` holds where its sizes, strides, offset or mask have names in them.
///
/// Two are equal where their numbers are the same polynomials.
#[derive(Clone)]
pub(crate) struct NamedView {
    pub(crate) scope: Arc<Scope>,
    pub(crate) view: shapetracker_symbolic::View,
}

impl NamedView {
    pub(crate) fn of(scope: &Arc<Scope>, view: &shapetracker_symbolic::View) -> NamedView {
        NamedView { scope: scope.clone(), view: view.clone() }
    }

    /// The one view of a tracker, over names of which it is known what the tracker needs.
    pub(crate) fn of_tracker(tracker: &shapetracker_symbolic::ShapeTracker) -> PyResult<Option<NamedView>> {
        let Some(view) = tracker.as_view() else { return Ok(None) };
        let needed = tracker.needs().iter().map(|need| Condition::over(tracker.scope(), need.clone()));
        let known = needed.clone().try_fold(tracker.clone(), |known, need| known.given(&need));
        Ok(Some(NamedView::of(known.map_err(|err| refused(&err))?.scope(), view)))
    }

    /// The view as the tracker that it is.
    pub(crate) fn tracker(&self, op: &'static str) -> PyResult<shapetracker_symbolic::ShapeTracker> {
        let (scope, views) = NamedView::united(op, &[self])?;
        shapetracker_symbolic::ShapeTracker::from_views(scope, views).map_err(|err| refused(&err))
    }

    /// Views over the names of all of them.
    pub(crate) fn united(
        op: &'static str,
        views: &[&NamedView],
    ) -> PyResult<(Arc<Scope>, Vec<shapetracker_symbolic::View>)> {
        let plain = |sym: shapetracker_symbolic::Sym| Sym::of(sym).plain(op);
        let sizes = views.iter().flat_map(|view| view.sizes()).map(plain).collect::<PyResult<Vec<_>>>()?;
        let (scope, polys) = shapetracker_symbolic::Sym::united(op, sizes).map_err(|err| refused(&err))?;
        let mut polys = polys.into_iter();
        let over = |view: &&NamedView| {
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

    /// The view of a shape, strides, an offset and a mask, if there can be one.
    pub(crate) fn new(
        op: &'static str,
        shape: Vec<shapetracker_symbolic::Sym>,
        strides: Option<Vec<shapetracker_symbolic::Sym>>,
        offset: shapetracker_symbolic::Sym,
        mask: Option<Vec<(shapetracker_symbolic::Sym, shapetracker_symbolic::Sym)>>,
    ) -> PyResult<NamedView> {
        let strides = strides.unwrap_or_else(|| {
            let products = (1..=shape.len()).map(|axis| shape[axis..].iter().fold(1.into(), |step, size| step * size));
            products.collect::<Vec<shapetracker_symbolic::Sym>>()
        });
        let ends = mask.iter().flatten().flat_map(|(begin, end)| [begin, end]);
        let all = shape.iter().chain(&strides).chain([&offset]).chain(ends).cloned();
        let (scope, polys) = shapetracker_symbolic::Sym::united(op, all).map_err(|err| refused(&err))?;
        let mut polys = polys.into_iter();
        let view = shapetracker_symbolic::View {
            shape: polys.by_ref().take(shape.len()).collect(),
            strides: polys.by_ref().take(strides.len()).collect(),
            offset: polys.next().unwrap_or_default(),
            mask: mask.map(|_| paired(&polys.collect::<Vec<_>>())),
        };
        shapetracker_symbolic::ShapeTracker::from_views(scope.clone(), [view.clone()]).map_err(|err| refused(&err))?;
        Ok(NamedView { scope, view })
    }

    /// The view of numbers at values that are given by keywords.
    pub(crate) fn at_values(
        &self,
        op: &'static str,
        values: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<shapetracker::View> {
        self.at(op, &point(op, &self.scope, &[], values)?)
    }

    /// The view of numbers at values of the names that are not quotients.
    pub(crate) fn at(&self, op: &'static str, values: &[i128]) -> PyResult<shapetracker::View> {
        let view = self.scope.complete(values).and_then(|point| self.view.at(&point));
        view.ok_or_else(|| past_bits(op, 64))
    }

    /// The view of numbers, where no name is left in it.
    pub(crate) fn numbers(&self) -> Option<shapetracker::View> {
        self.polys().all(|poly| poly.number().is_some()).then(|| self.view.at(&[]))?
    }

    /// All of its numbers, in order.
    fn polys(&self) -> impl Iterator<Item = &Poly> {
        let view = &self.view;
        let ends = view.mask.iter().flatten().flat_map(|(begin, end)| [begin, end]);
        view.shape.iter().chain(&view.strides).chain([&view.offset]).chain(ends)
    }

    fn sizes(&self) -> impl Iterator<Item = shapetracker_symbolic::Sym> {
        self.polys().map(|poly| shapetracker_symbolic::Sym::of(&self.scope, poly.clone()))
    }

    /// What two views that are equal have in common.
    fn parts(&self) -> ([usize; 2], Vec<shapetracker_symbolic::Sym>) {
        let lengths = [self.view.shape.len(), self.view.mask.as_ref().map_or(0, |mask| 1 + mask.len())];
        (lengths, self.sizes().map(|size| size.canonical()).collect())
    }

    pub(crate) fn size<'py>(&self, py: Python<'py>, poly: &Poly) -> PyResult<Bound<'py, PyAny>> {
        made(py, shapetracker_symbolic::Sym::of(&self.scope, poly.clone()))
    }

    pub(crate) fn tuple<'py>(&self, py: Python<'py>, polys: &[Poly]) -> PyResult<Bound<'py, PyTuple>> {
        let sizes = polys.iter().map(|poly| self.size(py, poly));
        PyTuple::new(py, sizes.collect::<PyResult<Vec<_>>>()?)
    }
}

impl From<&shapetracker::View> for NamedView {
    fn from(view: &shapetracker::View) -> NamedView {
        NamedView { scope: Arc::default(), view: view.into() }
    }
}

impl PartialEq for NamedView {
    fn eq(&self, other: &NamedView) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for NamedView {}

impl Hash for NamedView {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (lengths, sizes) = self.parts();
        lengths.hash(state);
        sizes.iter().for_each(|size| hashed(size).hash(state));
    }
}

/// The ends of ranges as ranges.
fn paired(ends: &[Poly]) -> Vec<(Poly, Poly)> {
    ends.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}
