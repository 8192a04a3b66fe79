//! The classes of `shapetracker.compat.tinygrad`: tinygrad's `View` and `ShapeTracker` over exact ones.
//!
//! They look like the frozen dataclasses that they stand in for: a tracker keeps the views that it was given, and
//! operations act on the last view only. What is asked of a tracker is asked of the exact tracker that its views make.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use shapetracker::{Dims, Error, ErrorKind};

use crate::arguments::numbers_of;
use crate::error::layout;
use crate::import::{Imported, module};

mod answers;
mod expression;
mod names;
mod nodes;
mod tracker;
mod view;

/// The native part of `shapetracker.compat.tinygrad`.
#[pymodule(gil_used = false)]
pub(crate) mod tinygrad {
    #[pymodule_export]
    use super::expression::{over_ranges, written};
    #[pymodule_export]
    use super::nodes::{index_nodes, pair_nodes};
    #[pymodule_export]
    use super::tracker::ShapeTracker;
    #[pymodule_export]
    use super::view::View;
}

fn is_masked_scalar(view: &shapetracker::View) -> bool {
    view.rank() == 0 && view.is_empty()
}

/// Sizes of a reshape: none of them is inferred.
fn sizes(py: Python<'_>, op: &str, shape: &Bound<'_, PyAny>) -> PyResult<Dims> {
    let shape = whole(py, numbers_of(op, shape))?;
    match shape.iter().position(|&size| size < 0) {
        Some(axis) => Err(refused(py, format!("{op}: axis {axis} cannot have the size {}", shape[axis]))),
        None => Ok(shape),
    }
}

/// Says of what is no number which symbols there are.
fn whole<T>(py: Python<'_>, numbers: PyResult<T>) -> PyResult<T> {
    numbers.map_err(|err| {
        if !err.is_instance_of::<PyTypeError>(py) {
            return err;
        }
        let sentence = err.value(py).to_string();
        PyTypeError::new_err(format!("{sentence}; symbolic sizes are UOps of a tinygrad that is loaded"))
    })
}

/// An exception that is both what tinygrad raises, be it ValueError or AssertionError, and what this package does.
fn refused(py: Python<'_>, sentence: String) -> PyErr {
    static ERROR: Imported = Imported::new("shapetracker.compat.tinygrad.view", "ViewError");
    match ERROR.get(py).and_then(|class| class.call1((&sentence,))) {
        Ok(value) => PyErr::from_value(value),
        Err(_) => PyValueError::new_err(sentence),
    }
}

fn refused_by(py: Python<'_>, err: &Error) -> PyErr {
    match err.kind() {
        ErrorKind::Overflow => layout(err),
        _ => refused(py, err.to_string()),
    }
}

fn frozen(py: Python<'_>, what: &str, name: &str) -> PyErr {
    static ERROR: Imported = Imported::new("dataclasses", "FrozenInstanceError");
    let sentence = format!("cannot {what} field '{name}'");
    match ERROR.get(py).and_then(|class| class.call1((sentence,))) {
        Ok(value) => PyErr::from_value(value),
        Err(err) => err,
    }
}

/// What `dataclasses.fields`, `replace`, `astuple` and `asdict` look for.
fn dataclass_fields(py: Python<'_>, name: &str, fields: &[&str]) -> PyResult<Py<PyAny>> {
    let like = module(py, "dataclasses")?.getattr("make_dataclass")?.call1((name, fields))?;
    Ok(like.getattr("__dataclass_fields__")?.unbind())
}

/// What `copy.replace` calls: a new object with some fields changed.
fn replaced<'py>(object: &Bound<'py, PyAny>, changes: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
    module(object.py(), "dataclasses")?.getattr("replace")?.call((object,), changes)
}

/// The function that makes pairs of expressions.
fn indexed<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static INDEXED: Imported = Imported::new("shapetracker.compat.tinygrad.uop", "indexed");
    INDEXED.get(py)
}
