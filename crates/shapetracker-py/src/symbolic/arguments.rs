//! What Python passes where sizes may be names: the names themselves, values of them, and texts.

use std::sync::Arc;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PySlice, PyTuple};
use shapetracker_symbolic::{Chain, ChainError, Literal, Question, Scope, Statement, StatementNest};

use super::refused;
use super::sym::Sym;
use crate::arguments::number;
use crate::error::parse;

/// Whether there is a [`Sym`] among arguments, also inside of lists, tuples and slices. What can be read only once is not
/// looked into.
#[cold]
pub(crate) fn has_names(arguments: &[&Bound<'_, PyAny>]) -> bool {
    /// Arguments are sequences of pairs at most, and a list may contain itself.
    const DEPTH: usize = 3;
    fn has(value: &Bound<'_, PyAny>, depth: usize) -> bool {
        if let Ok(tuple) = value.cast::<PyTuple>() {
            depth > 0 && tuple.iter_borrowed().any(|item| has(&item, depth - 1))
        } else if let Ok(list) = value.cast::<PyList>() {
            depth > 0 && list.iter().any(|item| has(&item, depth - 1))
        } else if let Ok(slice) = value.cast::<PySlice>() {
            ["start", "stop"].iter().any(|name| slice.getattr(name).is_ok_and(|bound| has(&bound, 0)))
        } else {
            value.is_instance_of::<Sym>()
        }
    }
    arguments.iter().any(|argument| has(argument, DEPTH))
}

/// The values of names, one for each name of a scope, given by keywords.
pub(crate) fn point(
    op: &'static str,
    scope: &Scope,
    needs: &[Literal],
    values: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<i128>> {
    let mut given: Vec<(String, i64)> = Vec::new();
    for (name, value) in values.into_iter().flatten() {
        let name: String = name.extract()?;
        let value = number(op, || format!("`{name}`"), &value)?;
        given.push((name, value));
    }
    let given = given.iter().map(|(name, value)| (&name[..], *value));
    scope.point(op, needs, given).map_err(|err| refused(&err))
}

/// What is asked of numbers, and not of names.
#[cold]
pub(crate) fn values_wanted(op: &str, scope: &Scope) -> PyErr {
    const SHOWN: usize = 3;
    let names = scope.names();
    let mut values: Vec<String> =
        names.iter().take(SHOWN).map(|name| format!("{}={}", name.name, name.lo.or(name.hi).unwrap_or(1))).collect();
    if names.len() > SHOWN {
        values.push("..".into());
    }
    let values = values.join(", ");
    PyTypeError::new_err(format!("{op}: takes numbers, and here sizes have names: say values, as `.at({values})` does"))
}

/// What has no value in the integers of a machine.
pub(crate) fn past_bits(op: &str, bits: u32) -> PyErr {
    PyOverflowError::new_err(format!("{op}: at these values a number is past the range of {bits}-bit integers"))
}

/// Reads a text over names of which something is known, and what it means over their scope.
pub(super) fn read<T, U>(
    py: Python<'_>,
    text: &str,
    known: &str,
    read: impl FnOnce(&mut Question) -> Result<T, shapetracker::ParseError>,
    made: impl FnOnce(&Arc<Scope>, T) -> PyResult<U>,
) -> PyResult<U> {
    let mut question = Question::new([known]).map_err(|err| parse(py, known, &err))?;
    let found = read(&mut question).map_err(|err| parse(py, text, &err))?;
    let scope = Arc::new(question.scope().map_err(|err| parse(py, known, &err))?);
    made(&scope, found)
}

/// What a chain or a view comes to that is read over names of which something is known.
pub(crate) fn parsed<T>(
    py: Python<'_>,
    text: &str,
    known: &str,
    made: impl FnOnce(&Arc<Scope>, Chain) -> Result<T, ChainError>,
) -> PyResult<T> {
    let made = |scope: &Arc<Scope>, chain| made(scope, chain).map_err(|err| chain_error(py, text, &err));
    read(py, text, known, |question| question.chain(text), made)
}

/// The loops of a statement that is read over names of which something is known.
pub(crate) fn statement(py: Python<'_>, text: &str, known: &str) -> PyResult<StatementNest> {
    let loops = |scope: &Arc<Scope>, read: Statement| read.nest(scope).map_err(|err| parse(py, text, &err));
    read(py, text, known, |question| question.statement(text), loops)
}

/// What cannot be done with a text that can be read, as the exception for texts: its `span` is that of the operation.
pub(super) fn chain_error(py: Python<'_>, text: &str, err: &ChainError) -> PyErr {
    let err = shapetracker::ParseError::placed(err.message(), err.place().clone());
    parse(py, text, &err)
}
