//! Is a chain still one view, and if not, what do NumPy and PyTorch do, and what is the least to copy?

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use shapetracker::advice as library;
use shapetracker::{ArrayLibrary, Buffer, Chain, Unmerged};

use crate::arguments::{number, numbers_of};
use crate::error::parse;
use crate::view::View;
use crate::witness::witness;

/// What NumPy and PyTorch do with a chain or with a line of their code: whether it is one view, the first operation that
/// needs another, the least that must be copied, and the code that copies no more. `base` is the shape of the array where the
/// text does not say it, and numbers that the text has by names are given by these names:
/// `advice("x.transpose(1, 2).view(B, T*C)", (8, 3, 5), B=8, T=3, C=5)`.
#[pyfunction]
#[pyo3(signature = (text, base = None, **names))]
pub(crate) fn advice(
    py: Python<'_>,
    text: &str,
    base: Option<&Bound<'_, PyAny>>,
    names: Option<&Bound<'_, PyDict>>,
) -> PyResult<Advice> {
    const OP: &str = "advice";
    let base = base.map(|base| numbers_of(OP, base)).transpose()?;
    let mut given: Vec<(String, i64)> = Vec::new();
    for (name, value) in names.into_iter().flatten() {
        let name: String = name.extract()?;
        let value = number(OP, || format!("`{name}`"), &value)?;
        given.push((name, value));
    }
    let given: Vec<(&str, i64)> = given.iter().map(|(name, value)| (&name[..], *value)).collect();
    let (chain, wrong) = Chain::read_given(text, base.as_deref(), &given);
    match wrong {
        Some(wrong) => Err(parse(py, text, &wrong)),
        None => chain.advice(base.as_deref()).map(Advice).map_err(|err| parse(py, text, &err.into())),
    }
}

/// The answer of `advice`: true where the chain is one view.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Advice(library::Advice);

#[pymethods]
impl Advice {
    /// Whether the chain is one view of the memory that it starts with, or of the last copy that is written in it; None where
    /// that was not decided within the work limit.
    #[getter]
    fn one_view(&self) -> Option<bool> {
        match &self.0.view {
            Ok(_) => Some(true),
            Err(Unmerged::Witness(_)) => Some(false),
            Err(_) => None,
        }
    }

    fn __bool__(&self) -> bool {
        self.0.view.is_ok()
    }

    /// That view; None where there are several.
    #[getter]
    fn view(&self) -> Option<View> {
        self.0.view.as_ref().ok().cloned().map(View)
    }

    /// The number of the operation that makes the copy that `view` is of, from 0; None where it is of the memory that the chain
    /// starts with.
    #[getter]
    fn of_copy(&self) -> Option<usize> {
        match self.0.buffer {
            Buffer::Copy { op, .. } => Some(op),
            _ => None,
        }
    }

    /// Proof that there is no such view: an UnevenStep or a NotABox.
    #[getter]
    fn witness(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        match &self.0.view {
            Err(Unmerged::Witness(found)) => witness(py, found).map(Some),
            _ => Ok(None),
        }
    }

    /// The answer as a sentence, in which code stands between backticks.
    #[getter]
    fn sentence(&self) -> &str {
        &self.0.sentence
    }

    /// The number of the first operation that needs another view, from 0; None where there is none.
    #[getter]
    fn step(&self) -> Option<usize> {
        self.0.step
    }

    /// How many elements are to be copied: 0 where there is one view, None where it is not known.
    #[getter]
    fn elements(&self) -> Option<i64> {
        match &self.0.copy {
            Some(copy) => Some(copy.elements),
            None => self.0.view.is_ok().then_some(0),
        }
    }

    /// Whether no buffer of fewer elements does.
    #[getter]
    fn smallest(&self) -> bool {
        self.0.copy.as_ref().map_or(self.0.view.is_ok(), |copy| copy.is_smallest)
    }

    /// What NumPy does.
    #[getter]
    fn numpy(&self) -> Option<LibraryAdvice> {
        self.of(ArrayLibrary::NumPy)
    }

    /// What PyTorch does.
    #[getter]
    fn pytorch(&self) -> Option<LibraryAdvice> {
        self.of(ArrayLibrary::PyTorch)
    }

    /// The whole answer as text.
    fn __str__(&self) -> String {
        let mut lines = vec![self.0.sentence.clone()];
        lines.extend(self.0.copy.as_ref().map(ToString::to_string));
        for found in &self.0.libraries {
            lines.push(format!("{}: {}", found.library, found.sentence));
            lines.extend(found.code.iter().flat_map(|code| code.lines()).map(|line| format!("    {line}")));
        }
        lines.join("\n")
    }

    fn __repr__(&self) -> String {
        format!("<Advice: {}>", self.0.sentence)
    }
}

impl Advice {
    fn of(&self, library: ArrayLibrary) -> Option<LibraryAdvice> {
        self.0.libraries.iter().find(|found| found.library == library).cloned().map(LibraryAdvice)
    }
}

/// What one library does with a chain that is written in its own calls.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct LibraryAdvice(library::LibraryAdvice);

#[pymethods]
impl LibraryAdvice {
    /// "view", "raises", "copies", or "cannot" where it has no such array.
    #[getter]
    fn does(&self) -> &'static str {
        self.0.does.name()
    }

    /// The numbers of the operations that copy, each with how many elements; where one raises, as if it were the call that
    /// copies.
    #[getter]
    fn copied<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.0.copied)
    }

    /// The same as sentences, in which code stands between backticks.
    #[getter]
    fn sentence(&self) -> &str {
        &self.0.sentence
    }

    /// What to write instead: Python whose last line is an expression; None where there is nothing to write instead.
    #[getter]
    fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    fn __str__(&self) -> &str {
        &self.0.sentence
    }

    fn __repr__(&self) -> String {
        format!("<LibraryAdvice: {} {}>", self.0.library, self.0.does.name())
    }
}
