//! What a chain or a line of code does whose sizes are names.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use shapetracker_symbolic::{Poly, Question, Scope};

use super::arguments::chain_error;
use super::refused;
use super::sym::Sym;
use crate::arguments::Size;
use crate::error::parse;

/// The answer, over the names that it is written in.
pub(crate) struct Advised {
    pub(crate) scope: Arc<Scope>,
    pub(crate) advice: shapetracker_symbolic::Advice,
}

/// The sizes of a tuple or a list that has names in it, as texts, and what is known of the names; nothing where all are
/// numbers.
pub(crate) fn sizes_with_names(op: &'static str, base: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<String>, String)>> {
    if !base.is_instance_of::<PyTuple>() && !base.is_instance_of::<PyList>() {
        return Ok(None);
    }
    let (mut texts, mut syms, mut has_names) = (Vec::new(), Vec::new(), false);
    for (place, item) in base.try_iter()?.enumerate() {
        let item = item?;
        if let Ok(text) = item.cast::<PyString>() {
            has_names = true;
            texts.push(text.to_string());
            continue;
        }
        has_names |= item.is_instance_of::<Sym>();
        let size = <shapetracker_symbolic::Sym as Size>::read(op, || format!("number {place}"), &item)?;
        texts.push(size.to_string());
        syms.push(size);
    }
    if !has_names {
        return Ok(None);
    }
    let (scope, _) = shapetracker_symbolic::Sym::united(op, syms).map_err(|err| refused(&err))?;
    Ok(Some((texts, scope.known())))
}

/// The answer for a text on an array whose sizes are texts; nothing where there are no names.
pub(crate) fn advised(
    py: Python<'_>,
    text: &str,
    sizes: Option<Vec<String>>,
    known: [String; 2],
    given: &[(String, i64)],
) -> PyResult<Option<Advised>> {
    let occurs = |name: &str| {
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let texts = sizes.iter().flatten().map(String::as_str).chain([text]);
        texts.flat_map(|text| text.split(|c| !is_letter(c))).any(|word| word == name)
    };
    // Values of names that there are not change nothing.
    let given = given.iter().filter(|(name, _)| occurs(name)).map(|(name, value)| format!("{name}={value}"));
    let given = given.collect::<Vec<_>>().join(", ");
    let mut question = Question::default();
    let texts = [known[0].clone(), known[1].clone(), given];
    let wrong = |text: &str, err: &shapetracker::ParseError| parse(py, text, err);
    if texts.iter().any(|text| !text.is_empty()) {
        question = Question::new(texts.iter().filter(|text| !text.is_empty())).map_err(|err| wrong(&known[1], &err))?;
    }
    let mut size = |text: &String| question.number(text).map_err(|err| wrong(text, &err));
    let base = sizes.map(|sizes| sizes.iter().map(&mut size).collect::<PyResult<Vec<Poly>>>()).transpose()?;
    let chain = match &base {
        Some(base) => question.chain_from(text, base),
        None => question.chain(text),
    };
    if question.names().next().is_none() {
        return Ok(None);
    }
    let chain = chain.map_err(|err| wrong(text, &err))?;
    let scope = Arc::new(question.scope().map_err(|err| wrong(&known[1], &err))?);
    let advice = chain.advice(&scope).map_err(|err| chain_error(py, text, &err))?;
    Ok(Some(Advised { scope, advice }))
}
