//! The words of the command `shapetracker`, for `python -m shapetracker`.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command `shapetracker` with these words, and returns its exit status: 0 for success, 1 for a negative answer, 2 for what it
/// cannot read.
///
/// It writes to the standard output and the standard error of the process, and takes both, and the signals, to be its own.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| shapetracker_cli::run([OsString::from("shapetracker")].into_iter().chain(words)))
}
