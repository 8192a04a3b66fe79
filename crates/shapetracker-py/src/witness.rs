//! Witnesses as objects: evidence that anyone can check.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use shapetracker::{Dims, Witness};

use crate::arguments::{numbers_of, tuple};

/// A witness as an object of Python.
pub(crate) fn witness(py: Python<'_>, witness: &Witness) -> PyResult<Py<PyAny>> {
    match witness {
        Witness::UnevenStep { axis, steps } => {
            Ok(Py::new(py, UnevenStep { axis: *axis, steps: steps.clone() })?.into_any())
        }
        Witness::NotABox { valid, invalid } => {
            Ok(Py::new(py, NotABox { valid: valid.clone(), invalid: invalid.clone() })?.into_any())
        }
        _ => Ok(py.None()),
    }
}

/// A unit step along an axis, from `index` to the index one further: the address before and after it.
#[pyclass(frozen, eq, hash, module = "shapetracker")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Step(shapetracker::UnitStep);

#[pymethods]
impl Step {
    #[new]
    fn new(index: &Bound<'_, PyAny>, before: i64, after: i64) -> PyResult<Self> {
        Ok(Step(shapetracker::UnitStep::new(&numbers_of("Step", index)?, before, after)))
    }

    /// The index that the step starts from.
    #[getter]
    fn index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.0.index)
    }

    /// The address there.
    #[getter]
    fn before(&self) -> i64 {
        self.0.from
    }

    /// The address one further along the axis.
    #[getter]
    fn after(&self) -> i64 {
        self.0.to
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Step(index={}, before={}, after={})", self.index(py)?, self.0.from, self.0.to))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let step = slf.get();
        (slf.get_type(), (step.index(slf.py())?, step.0.from, step.0.to)).into_pyobject(slf.py())
    }
}

/// Proof that views are not one: two unit steps along one axis that move the address by different amounts.
#[pyclass(frozen, eq, hash, module = "shapetracker")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct UnevenStep {
    /// The axis of both steps.
    #[pyo3(get)]
    axis: usize,
    steps: [shapetracker::UnitStep; 2],
}

#[pymethods]
impl UnevenStep {
    #[new]
    fn new(axis: usize, steps: (PyRef<'_, Step>, PyRef<'_, Step>)) -> PyResult<Self> {
        let steps = [steps.0.0.clone(), steps.1.0.clone()];
        if steps.iter().any(|step| axis >= step.index.len()) {
            let sentence = format!("UnevenStep: the steps have no axis {axis}");
            return Err(pyo3::exceptions::PyValueError::new_err(sentence));
        }
        Ok(UnevenStep { axis, steps })
    }

    /// The two steps.
    #[getter]
    fn steps(&self) -> (Step, Step) {
        (Step(self.steps[0].clone()), Step(self.steps[1].clone()))
    }

    fn __str__(&self) -> String {
        Witness::UnevenStep { axis: self.axis, steps: self.steps.clone() }.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (first, second) = self.steps();
        Ok(format!("UnevenStep(axis={}, steps=({}, {}))", self.axis, first.__repr__(py)?, second.__repr__(py)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        (slf.get_type(), (slf.get().axis, slf.get().steps())).into_pyobject(slf.py())
    }
}

/// Proof that views are not one: an invalid index that lies between two valid ones on every axis.
#[pyclass(frozen, eq, hash, module = "shapetracker")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct NotABox {
    valid: [Dims; 2],
    invalid: Dims,
}

#[pymethods]
impl NotABox {
    #[new]
    fn new(valid: (Bound<'_, PyAny>, Bound<'_, PyAny>), invalid: &Bound<'_, PyAny>) -> PyResult<Self> {
        const OP: &str = "NotABox";
        let valid = [numbers_of(OP, &valid.0)?, numbers_of(OP, &valid.1)?];
        Ok(NotABox { valid, invalid: numbers_of(OP, invalid)? })
    }

    /// Two valid indices.
    #[getter]
    fn valid<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)> {
        Ok((tuple(py, &self.valid[0])?, tuple(py, &self.valid[1])?))
    }

    /// The index between them that is not valid.
    #[getter]
    fn invalid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.invalid)
    }

    fn __str__(&self) -> String {
        Witness::NotABox { valid: self.valid.clone(), invalid: self.invalid.clone() }.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (first, second) = self.valid(py)?;
        Ok(format!("NotABox(valid=({first}, {second}), invalid={})", self.invalid(py)?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        (slf.get_type(), (slf.get().valid(py)?, slf.get().invalid(py)?)).into_pyobject(py)
    }
}
