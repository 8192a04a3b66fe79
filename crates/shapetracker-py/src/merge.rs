//! When are two views one? The answer, the evidence against, and the conditions for it.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use shapetracker::Dims;

use crate::arguments::{numbers_of, tuple};
use crate::error::{unanswered, unmerged};
use crate::symbolic;
use crate::view::{View, shown};

/// The single view that does what two do: `later` reads the elements of `earlier` in row-major order.
///
/// Raises Unmerged, whose `witness` anyone can check, when there is provably none. Where one of them has names in it, it is
/// the Answer to the question for which values of the names there is one; `given` are conditions that are known to hold.
#[pyfunction]
#[pyo3(signature = (earlier, later, *, given=None))]
pub(crate) fn merge(
    py: Python<'_>,
    earlier: &Bound<'_, PyAny>,
    later: &Bound<'_, PyAny>,
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Merged> {
    match (numbers(earlier), numbers(later), given) {
        (Some(earlier), Some(later), None) => match shapetracker::merge(earlier, later) {
            Ok(view) => Ok(Merged::View(view.into())),
            Err(err) => Err(unmerged(py, err)),
        },
        _ => symbolic::merge(earlier, later, given).map(Merged::Answer),
    }
}

/// A view of numbers.
fn numbers<'a>(view: &'a Bound<'_, PyAny>) -> Option<&'a shapetracker::View> {
    view.cast::<View>().ok()?.get().numbers("merge").ok()
}

/// The view of numbers, or for which values of names there is one.
#[derive(IntoPyObject)]
pub(crate) enum Merged {
    View(View),
    Answer(symbolic::Answer),
}

/// The exact conditions on the strides of an earlier view of a shape for `later` to merge with it.
///
/// Where the later view or sizes have names, it is the Answer for strides `s1`, `s2`, .. of any integers.
#[pyfunction]
pub(crate) fn conditions(shape: &Bound<'_, PyAny>, later: &Bound<'_, PyAny>) -> PyResult<Asked> {
    match (numbers_of("conditions", shape), numbers(later)) {
        (Ok(shape), Some(later)) => match shapetracker::conditions(&shape, later) {
            Ok(conditions) => Ok(Asked::Conditions(Conditions { conditions, shape, later: later.clone() })),
            Err(err) => Err(unanswered(err)),
        },
        (Err(err), Some(_)) if !symbolic::has_names(&[shape]) => Err(err),
        _ => symbolic::conditions(shape, later).map(Asked::Answer),
    }
}

/// Equations on strides, or the answer where sizes have names.
#[derive(IntoPyObject)]
pub(crate) enum Asked {
    Conditions(Conditions),
    Answer(symbolic::Answer),
}

/// Equations that strides must satisfy: `hold_for(strides)` says whether some do.
#[pyclass(frozen, eq, hash, module = "shapetracker")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Conditions {
    conditions: shapetracker::Conditions,
    shape: Dims,
    later: shapetracker::View,
}

#[pymethods]
impl Conditions {
    /// For each equation a coefficient for each stride; the sum of coefficient times stride is 0.
    #[getter]
    fn equations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let equations: PyResult<Vec<_>> =
            self.conditions.equations().iter().map(|equation| tuple(py, equation)).collect();
        PyTuple::new(py, equations?)
    }

    /// Whether strides satisfy all equations.
    fn hold_for(&self, strides: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.conditions.hold_for(&numbers_of("hold_for", strides)?))
    }

    fn __str__(&self) -> String {
        self.conditions.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("conditions({}, {})", tuple(py, &self.shape)?, shown(&self.later)))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let again = crate::import::module(py, "shapetracker")?.getattr("conditions")?;
        (again, (tuple(py, &self.shape)?, View::from(self.later.clone()))).into_pyobject(py)
    }
}
