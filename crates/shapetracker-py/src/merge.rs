//! When are two views one? The answer, the evidence against, and the conditions for it.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use shapetracker::Dims;

use crate::arguments::{numbers_of, tuple};
use crate::error::{unanswered, unmerged};
use crate::view::{View, shown};

/// The single view that does what two do: `later` reads the elements of `earlier` in row-major order.
///
/// Raises Unmerged, whose `witness` anyone can check, when there is provably none.
#[pyfunction]
pub(crate) fn merge(py: Python<'_>, earlier: &View, later: &View) -> PyResult<View> {
    shapetracker::merge(&earlier.0, &later.0).map(View).map_err(|err| unmerged(py, err))
}

/// The exact conditions on the strides of an earlier view of a shape for `later` to merge with it.
#[pyfunction]
pub(crate) fn conditions(shape: &Bound<'_, PyAny>, later: &View) -> PyResult<Conditions> {
    let shape = numbers_of("conditions", shape)?;
    match shapetracker::conditions(&shape, &later.0) {
        Ok(conditions) => Ok(Conditions { conditions, shape, later: later.0.clone() }),
        Err(err) => Err(unanswered(err)),
    }
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
        (again, (tuple(py, &self.shape)?, View(self.later.clone()))).into_pyobject(py)
    }
}
