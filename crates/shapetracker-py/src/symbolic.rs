//! Sizes that are names: values to compute with, what layouts made of them hold, and for which values they are one view.

mod advice;
mod answer;
mod arguments;
mod sym;
mod tracker;
mod view;

pub(crate) use advice::{Advised, advised, sizes_with_names};
pub(crate) use answer::{Answer, Leaf, conditions, conjunction, formula, merge, needs_text};
pub(crate) use arguments::{has_names, parsed, past_bits, point, statement, values_wanted};
pub(crate) use sym::{Condition, Sym, made, names};
pub(crate) use tracker::{address_range, certain, for_values, is_contiguous, is_identity, same, tuple, unknown};
pub(crate) use view::NamedView;

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use shapetracker::ErrorKind;

/// The sort of exception that fits a mistake.
pub(crate) fn refused(err: &shapetracker_symbolic::Error) -> PyErr {
    match err.kind() {
        ErrorKind::Overflow => PyOverflowError::new_err(err.to_string()),
        _ => PyValueError::new_err(err.to_string()),
    }
}
