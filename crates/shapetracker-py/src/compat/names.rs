//! Where sizes are no numbers: views and trackers whose fields or arguments are tinygrad's UOps.
//!
//! Numbers are tried first and know nothing of names. What they refuse because something is no number is asked of
//! `shapetracker.compat.tinygrad._names`, which answers with trackers of this package whose sizes have names.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::import::Imported;

/// What numbers answer; where a field or an argument is no number, what names do.
///
/// Whoever has no UOps gets the error that the numbers gave.
pub(super) fn or_names<'py, T, A>(
    py: Python<'py>,
    op: &'static str,
    object: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    arguments: A,
    numbers: PyResult<T>,
) -> PyResult<T>
where
    T: FromPyObjectOwned<'py>,
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
{
    match numbers {
        Err(err) if err.is_instance_of::<PyTypeError>(py) => by_names(op, object()?, arguments, err),
        numbers => numbers,
    }
}

#[cold]
fn by_names<'py, T, A>(op: &'static str, object: Bound<'py, PyAny>, arguments: A, err: PyErr) -> PyResult<T>
where
    T: FromPyObjectOwned<'py>,
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
{
    static ANSWER: Imported = Imported::new("shapetracker.compat.tinygrad._names", "answer");
    let py = object.py();
    let arguments = arguments.into_pyobject(py).map_err(Into::into)?;
    let answer = ANSWER.get(py)?.call1((op, &object, arguments))?;
    if answer.is(py.NotImplemented()) {
        return Err(err);
    }
    answer.extract::<T>().map_err(Into::into)
}

/// The error of a view without numbers, which [`or_names`] turns into an answer.
#[cold]
pub(super) fn no_number() -> PyErr {
    PyTypeError::new_err("a size of the view is a UOp of tinygrad, and no number")
}
