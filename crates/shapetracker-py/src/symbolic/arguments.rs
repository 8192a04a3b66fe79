//! What Python passes where sizes may be names: sizes, pairs of them, values of names, and texts.

use std::sync::Arc;

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PySlice, PyTuple};
use shapetracker_symbolic::{ChainError, Literal, Question, Scope};

use super::refused;
use super::sym::Sym;
use crate::arguments::{described, is_iterable, items, number};
use crate::error::parse;

/// Whether there is a [`Sym`] among arguments, also inside of lists, tuples and slices. What can be read only once is not
/// looked into.
pub(crate) fn has_names(arguments: &Bound<'_, PyTuple>) -> bool {
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
    has(arguments.as_any(), DEPTH)
}

/// A size, a stride, an offset or a bound: a whole number, or a value with names in it.
pub(super) fn size(
    op: &str,
    place: impl Fn() -> String,
    value: &Bound<'_, PyAny>,
) -> PyResult<shapetracker_symbolic::Sym> {
    match value.cast::<Sym>() {
        Ok(sym) => sym.get().plain(op),
        Err(_) => number(op, place, value).map(Into::into),
    }
}

/// Sizes given one by one or as one sequence.
pub(super) fn sizes(op: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<Vec<shapetracker_symbolic::Sym>> {
    if arguments.len() == 1 {
        let only = arguments.get_item(0)?;
        if !only.is_instance_of::<PyInt>() && !only.is_instance_of::<Sym>() && is_iterable(&only) {
            return sizes_of(op, &only);
        }
    }
    sizes_of(op, arguments)
}

/// Sizes in one sequence.
pub(super) fn sizes_of(op: &str, sequence: &Bound<'_, PyAny>) -> PyResult<Vec<shapetracker_symbolic::Sym>> {
    let items = items(op, "sizes", sequence)?.enumerate();
    items.map(|(at, value)| size(op, || format!("number {at}"), &value?)).take(MOST).collect()
}

/// More sizes than that are not read: they are too many for any tensor already.
const MOST: usize = 1 << 16;

/// A pair of sizes.
pub(super) type Pair = (shapetracker_symbolic::Sym, shapetracker_symbolic::Sym);

/// Pairs given one by one or as one sequence of pairs. Where `none` has a pair for an axis, None stands for it.
pub(super) fn pairs(
    op: &str,
    none: impl Fn(usize) -> Option<Pair>,
    arguments: &Bound<'_, PyTuple>,
) -> PyResult<Vec<Pair>> {
    if arguments.len() == 1 {
        let only = arguments.get_item(0)?;
        let is_size = |item: Bound<'_, PyAny>| item.is_instance_of::<PyInt>() || item.is_instance_of::<Sym>();
        // A sequence of pairs, or the pair of a single axis?
        let is_pair = only.is_none() || only.get_item(0).is_ok_and(is_size);
        if !is_pair && is_iterable(&only) {
            return pairs_of(op, none, &only);
        }
    }
    pairs_of(op, none, arguments)
}

/// Pairs in one sequence.
pub(super) fn pairs_of(
    op: &str,
    none: impl Fn(usize) -> Option<Pair>,
    sequence: &Bound<'_, PyAny>,
) -> PyResult<Vec<Pair>> {
    let items = items(op, "pairs", sequence)?.enumerate();
    items.map(|(axis, value)| pair(op, none(axis), axis, &value?)).take(MOST).collect()
}

fn pair(op: &str, none: Option<Pair>, axis: usize, value: &Bound<'_, PyAny>) -> PyResult<Pair> {
    if let (Some(pair), true) = (none, value.is_none()) {
        return Ok(pair);
    }
    let mismatch =
        || PyTypeError::new_err(format!("{op}: axis {axis} takes a pair of sizes, not {}", described(value)));
    let mut given = Vec::with_capacity(3);
    for item in value.try_iter().map_err(|_| mismatch())?.take(3) {
        given.push(item?);
    }
    let place = || format!("axis {axis}");
    match &given[..] {
        [first, second] => Ok((size(op, place, first)?, size(op, place, second)?)),
        _ => Err(mismatch()),
    }
}

/// The values of names, one for each name of a scope, given by keywords.
pub(super) fn point(
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

/// What has no value in the integers of a machine.
pub(super) fn past_bits(op: &str, bits: u32) -> PyErr {
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

/// What cannot be done with a text that can be read, as the exception for texts: its `span` is that of the operation.
pub(super) fn chain_error(py: Python<'_>, text: &str, err: &ChainError) -> PyErr {
    let err = shapetracker::ParseError::placed(err.message(), err.place().clone());
    parse(py, text, &err)
}
