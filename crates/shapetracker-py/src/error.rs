//! Rust's errors as Python's exceptions, with the same sentences.

use pyo3::create_exception;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use shapetracker::{Dims, ErrorKind};

use crate::arguments::tuple;
use crate::witness;

create_exception!(
    shapetracker,
    Unmerged,
    PyValueError,
    "Views that provably are not one. `witness` is the evidence: an UnevenStep or a NotABox."
);
create_exception!(
    shapetracker,
    Undecided,
    PyValueError,
    "A question that was given up at its work limit, which happens on deep stacks of millions of elements and on large maps without \
     equations: the answer is not known."
);
create_exception!(
    shapetracker,
    NotInvertible,
    PyValueError,
    "A tracker or map without an inverse, or with none that is known. `indices` are two that read the same address or have the same \
     image, or None."
);
create_exception!(
    shapetracker,
    ParseError,
    PyValueError,
    "Text that is no chain, view or expression. `span` is the half-open range of characters at fault."
);

/// The sort of exception that fits a mistake.
pub(crate) fn layout(err: &shapetracker::Error) -> PyErr {
    match err.kind() {
        ErrorKind::Overflow => PyOverflowError::new_err(err.to_string()),
        _ => PyValueError::new_err(err.to_string()),
    }
}

pub(crate) fn undecided(err: shapetracker::Undecided) -> PyErr {
    Undecided::new_err(err.to_string())
}

pub(crate) fn unanswered(err: shapetracker::Unanswered) -> PyErr {
    match err {
        shapetracker::Unanswered::Error(err) => layout(&err),
        err => Undecided::new_err(err.to_string()),
    }
}

pub(crate) fn unmerged(py: Python<'_>, err: shapetracker::Unmerged) -> PyErr {
    match err {
        shapetracker::Unmerged::Witness(witness) => {
            let err = Unmerged::new_err(witness.to_string());
            with_attribute(py, err, "witness", witness::witness(py, &witness))
        }
        shapetracker::Unmerged::Undecided => Undecided::new_err(err.to_string()),
        shapetracker::Unmerged::Error(err) => layout(&err),
        err => Unmerged::new_err(err.to_string()),
    }
}

pub(crate) fn not_invertible(py: Python<'_>, err: &shapetracker::NotInvertible) -> PyErr {
    let sentence = err.to_string();
    match err {
        shapetracker::NotInvertible::Undecided(_) => Undecided::new_err(sentence),
        shapetracker::NotInvertible::Error(err) => layout(err),
        shapetracker::NotInvertible::Collision { indices, .. } => not_inverted(py, sentence, indices),
        _ => with_attribute(py, NotInvertible::new_err(sentence), "indices", Ok(py.None())),
    }
}

/// There is no inverse, for two indices read one address.
pub(crate) fn not_inverted(py: Python<'_>, sentence: String, indices: &[Dims; 2]) -> PyErr {
    let [a, b] = indices;
    let indices = (|| Ok((tuple(py, a)?, tuple(py, b)?).into_pyobject(py)?.into_any().unbind()))();
    with_attribute(py, NotInvertible::new_err(sentence), "indices", indices)
}

pub(crate) fn parse(py: Python<'_>, text: &str, err: &shapetracker::ParseError) -> PyErr {
    // Rust counts bytes, Python characters.
    let characters = |bytes: usize| text.get(..bytes).map_or(0, |before| before.chars().count());
    let span = err.span();
    let span = (characters(span.start), characters(span.end)).into_pyobject(py).map(|span| span.into_any().unbind());
    with_attribute(py, ParseError::new_err(err.to_string()), "span", span)
}

/// The exception with an attribute.
pub(crate) fn with_attribute(py: Python<'_>, err: PyErr, name: &str, value: PyResult<Py<PyAny>>) -> PyErr {
    match value.and_then(|value| err.value(py).setattr(name, value)) {
        Ok(()) => err,
        Err(failed) => failed,
    }
}
