//! What Python passes: sizes, pairs of them, axes and indices, with errors that name the operation and the place.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PySequence, PyTuple};
use shapetracker::{Dims, Ranges};

use crate::symbolic::Sym;

/// What a size, a stride, an offset or a bound may be: a whole number, or a polynomial of names.
pub(crate) trait Size: Clone + From<i64> {
    /// A size for each axis.
    type Sizes: FromIterator<Self>;
    /// A pair of sizes for each axis.
    type Pairs: FromIterator<(Self, Self)>;

    /// What stands at a place such as `axis 2`.
    fn read(op: &str, place: impl Fn() -> String, value: &Bound<'_, PyAny>) -> PyResult<Self>;

    /// What stands for a bound that is past the 64 bits, if something can.
    fn past(is_negative: bool) -> Option<Self>;
}

impl Size for i64 {
    type Sizes = Dims;
    type Pairs = Ranges;

    fn read(op: &str, place: impl Fn() -> String, value: &Bound<'_, PyAny>) -> PyResult<i64> {
        number(op, place, value)
    }

    fn past(is_negative: bool) -> Option<i64> {
        Some(if is_negative { i64::MIN } else { i64::MAX })
    }
}

impl Size for shapetracker_symbolic::Sym {
    type Sizes = Vec<Self>;
    type Pairs = Vec<(Self, Self)>;

    fn read(op: &str, place: impl Fn() -> String, value: &Bound<'_, PyAny>) -> PyResult<Self> {
        match value.cast::<Sym>() {
            Ok(sym) => sym.get().plain(op),
            Err(_) => number(op, place, value).map(Into::into),
        }
    }

    /// How far that is from the end depends on the values.
    fn past(_: bool) -> Option<Self> {
        None
    }
}

/// One number, for a place such as `axis 2`.
pub(crate) fn number(op: &str, place: impl Fn() -> String, value: &Bound<'_, PyAny>) -> PyResult<i64> {
    value.extract::<i64>().map_err(|err| {
        if err.is_instance_of::<PyOverflowError>(value.py()) {
            let sentence = format!("{op}: {} is past the range of 64-bit integers", place());
            return PyOverflowError::new_err(sentence);
        }
        // Whatever else `__index__` raises is not about numbers.
        if !err.is_instance_of::<PyTypeError>(value.py()) {
            return err;
        }
        PyTypeError::new_err(format!("{op}: {} is to be a whole number, not {}", place(), described(value)))
    })
}

/// What a value is, for a sentence: `1.5 (float)`.
pub(crate) fn described(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    match value.repr() {
        Ok(shown) if shown.to_string_lossy().chars().count() <= 40 => format!("{} ({name})", shown.to_string_lossy()),
        _ => format!("a value of type {name}"),
    }
}

/// Sizes given one by one or as one sequence: `reshape(3, 2)`, `reshape((3, 2))`.
pub(crate) fn sizes<N: Size>(op: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<N::Sizes> {
    if arguments.len() == 1 {
        let only = arguments.get_borrowed_item(0)?;
        if !only.is_instance_of::<PyInt>() && is_iterable(&only) {
            return sizes_of::<N>(op, &only);
        }
    }
    let each = arguments.iter_borrowed().enumerate();
    each.map(|(at, value)| N::read(op, || format!("number {at}"), &value)).collect()
}

/// Sizes in one sequence.
pub(crate) fn sizes_of<N: Size>(op: &str, sequence: &Bound<'_, PyAny>) -> PyResult<N::Sizes> {
    let place = |at: usize| move || format!("number {at}");
    if let Ok(tuple) = sequence.cast::<PyTuple>() {
        return tuple.iter_borrowed().enumerate().map(|(at, value)| N::read(op, place(at), &value)).collect();
    }
    let items = items(op, "numbers", sequence)?.enumerate();
    items.map(|(at, value)| N::read(op, place(few(op, at)?), &value?)).collect()
}

/// Numbers given one by one or as one sequence.
pub(crate) fn numbers(op: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<Dims> {
    sizes::<i64>(op, arguments)
}

/// Numbers in one sequence.
pub(crate) fn numbers_of(op: &str, sequence: &Bound<'_, PyAny>) -> PyResult<Dims> {
    sizes_of::<i64>(op, sequence)
}

/// The axes to reverse: by their numbers, or as one True or False per axis.
pub(crate) fn flipped(op: &str, rank: usize, arguments: &Bound<'_, PyTuple>) -> PyResult<Dims> {
    let (only, mut given) = (arguments.get_item(0).ok(), arguments.clone());
    if let (1, Some(Ok(list))) = (arguments.len(), only.map(|only| only.cast_into::<PySequence>())) {
        given = list.to_tuple()?;
    }
    if given.is_empty() || !given.iter_borrowed().all(|value| value.is_instance_of::<PyBool>()) {
        return numbers(op, arguments);
    }
    if given.len() != rank {
        let sentence = format!("{op}: takes one True or False per axis: the tensor has {rank}, not {}", given.len());
        return Err(PyValueError::new_err(sentence));
    }
    let mut axes = Dims::new();
    for (axis, value) in (0..).zip(&given) {
        if value.is_truthy()? {
            axes.push(axis);
        }
    }
    Ok(axes)
}

/// Pairs given one by one or as one sequence of pairs: `pad((1, 1), (0, 0))`, `pad([(1, 1), (0, 0)])`. Where `none`
/// has a pair for an axis, None stands for it.
pub(crate) fn pairs<N: Size>(
    op: &str,
    none: impl Fn(usize) -> Option<(N, N)>,
    arguments: &Bound<'_, PyTuple>,
) -> PyResult<N::Pairs> {
    if arguments.len() == 1 {
        let only = arguments.get_borrowed_item(0)?;
        // A sequence of pairs, or the pair of a single axis?
        let is_size = |item: Bound<'_, PyAny>| item.is_instance_of::<PyInt>() || item.is_instance_of::<Sym>();
        let is_pair = only.is_none() || first_item(&only).is_some_and(is_size);
        if !is_pair && is_iterable(&only) {
            return pairs_of(op, none, &only);
        }
    }
    arguments.iter().enumerate().map(|(axis, value)| pair(op, none(axis), axis, &value)).collect()
}

/// Pairs in one sequence.
pub(crate) fn pairs_of<N: Size>(
    op: &str,
    none: impl Fn(usize) -> Option<(N, N)>,
    sequence: &Bound<'_, PyAny>,
) -> PyResult<N::Pairs> {
    let items = items(op, "pairs", sequence)?.enumerate();
    items.map(|(axis, value)| pair(op, none(few(op, axis)?), axis, &value?)).collect()
}

fn pair<N: Size>(op: &str, none: Option<(N, N)>, axis: usize, value: &Bound<'_, PyAny>) -> PyResult<(N, N)> {
    if let (Some(pair), true) = (none, value.is_none()) {
        return Ok(pair);
    }
    let place = || format!("axis {axis}");
    if let Ok(tuple) = value.cast::<PyTuple>()
        && tuple.len() == 2
    {
        let (first, second) = (tuple.get_borrowed_item(0)?, tuple.get_borrowed_item(1)?);
        return Ok((N::read(op, place, &first)?, N::read(op, place, &second)?));
    }
    let mismatch =
        || PyTypeError::new_err(format!("{op}: axis {axis} takes a pair of numbers, not {}", described(value)));
    let mut given = Vec::with_capacity(3);
    for item in value.try_iter().map_err(|err| if_type_error(value, err, mismatch))?.take(3) {
        given.push(item?);
    }
    match &given[..] {
        [first, second] => Ok((N::read(op, place, first)?, N::read(op, place, second)?)),
        _ => Err(mismatch()),
    }
}

/// Complains about sequences that may have no end, long after there are more numbers than axes.
fn few(op: &str, at: usize) -> PyResult<usize> {
    const MOST: usize = 1 << 16;
    if at < MOST {
        return Ok(at);
    }
    Err(PyValueError::new_err(format!("{op}: more than {MOST} numbers are given, and a tensor has at most 64 axes")))
}

pub(crate) fn items<'py>(
    op: &str,
    what: &str,
    sequence: &Bound<'py, PyAny>,
) -> PyResult<impl Iterator<Item = PyResult<Bound<'py, PyAny>>> + use<'py>> {
    let mismatch = || PyTypeError::new_err(format!("{op}: takes {what}, not {}", described(sequence)));
    sequence.try_iter().map_err(|err| if_type_error(sequence, err, mismatch))
}

/// An error with a sentence of our own in place of a type error; others are passed on.
fn if_type_error(value: &Bound<'_, PyAny>, err: PyErr, ours: impl FnOnce() -> PyErr) -> PyErr {
    if err.is_instance_of::<PyTypeError>(value.py()) { ours() } else { err }
}

pub(crate) fn is_iterable(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyTuple>() || value.hasattr(intern!(value.py(), "__iter__")).unwrap_or(false)
}

/// The first item of a sequence that can be looked at without using it up.
fn first_item<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    value.get_item(0).ok()
}

/// Numbers as a tuple.
pub(crate) fn tuple<'py>(py: Python<'py>, numbers: &[i64]) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(py, numbers)
}
