//! The rows of the library's table of methods, for the methods of trackers that `python/shapetracker/_methods.py` makes of them.

use pyo3::prelude::*;
use shapetracker::Method;

/// What may stand after a dot in the text of a chain: of each method its name, its signature, what it does, and whose it is, None
/// for one of this library.
#[pyfunction]
pub(crate) fn methods() -> Vec<(&'static str, &'static str, &'static str, Option<&'static str>)> {
    Method::ALL.iter().map(|method| (method.name(), method.signature(), method.says(), method.library())).collect()
}
