//! Sizes that are names: values to compute with, layouts made of them, and for which values they are one view.

mod advice;
mod answer;
mod arguments;
mod index;
mod sym;
mod tracker;
mod view;

pub(crate) use advice::{Advised, advised, sizes_with_names};
pub(crate) use answer::{Answer, Leaf, conditions, explain_view, formula, merge};
pub(crate) use arguments::has_names;
pub(crate) use index::SymbolicIndexExpr;
pub(crate) use sym::{Condition, Sym, made};
pub(crate) use tracker::SymbolicShapeTracker;
pub(crate) use view::SymbolicView;

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use shapetracker::ErrorKind;

/// The sort of exception that fits a mistake.
fn refused(err: &shapetracker_symbolic::Error) -> PyErr {
    match err.kind() {
        ErrorKind::Overflow => PyOverflowError::new_err(err.to_string()),
        _ => PyValueError::new_err(err.to_string()),
    }
}
