//! What Python passes to a nest: names of loops and accesses, and expressions over them.

use std::ops::Range;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTuple};
use shapetracker::ParseError;
use shapetracker::expr::{self, Binary, Expr as Handle, Graph};

use crate::arguments::{described, is_iterable, items, number};
use crate::error::parse;
use crate::expr::{Expr, refused};
use crate::kind::Refusal;
use crate::symbolic::Sym;

/// Why something is not done, before it is an exception: it is found while other threads of Python run.
pub(super) enum Refused {
    Error(expr::Error),
    Text(String, ParseError),
    Sentence(String),
    Exception(PyErr),
}

impl From<expr::Error> for Refused {
    fn from(err: expr::Error) -> Refused {
        Refused::Error(err)
    }
}

impl From<PyErr> for Refused {
    fn from(err: PyErr) -> Refused {
        Refused::Exception(err)
    }
}

impl Refusal for Refused {
    fn raised(self) -> PyErr {
        match self {
            Refused::Error(err) => refused(&err),
            Refused::Text(text, err) => Python::attach(|py| parse(py, &text, &err)),
            Refused::Sentence(sentence) => PyValueError::new_err(sentence),
            Refused::Exception(err) => err,
        }
    }
}

/// An expression over the loops and parameters of a nest, as it was passed.
pub(super) enum Given {
    Number(i64),
    Condition(bool),
    Text(String),
    Expr(Graph, Handle),
    Size(shapetracker_symbolic::Sym),
}

impl Given {
    /// What stands for an expression at a place such as `the size of loop 'i'`.
    pub(super) fn read(op: &str, place: impl Fn() -> String, value: &Bound<'_, PyAny>) -> PyResult<Given> {
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(Given::Text(text.to_cow()?.into_owned()));
        }
        if let Ok(expr) = value.cast::<Expr>() {
            let (graph, root) = expr.get().parts();
            return Ok(Given::Expr(graph.clone(), root));
        }
        if let Ok(sym) = value.cast::<Sym>() {
            return sym.get().plain(op).map(Given::Size);
        }
        if let Ok(condition) = value.cast::<PyBool>() {
            return Ok(Given::Condition(condition.is_true()));
        }
        number(op, &place, value).map(Given::Number).map_err(|err| {
            if !err.is_instance_of::<PyTypeError>(value.py()) {
                return err;
            }
            let takes = "is to be a number, a text, an Expr or a Sym";
            PyTypeError::new_err(format!("{op}: {} {takes}, not {}", place(), described(value)))
        })
    }

    /// The expression in the graph of a nest.
    pub(super) fn in_nest(self, op: &str, nest: &mut expr::Nest) -> Result<Handle, Refused> {
        match self {
            Given::Number(value) => Ok(nest.graph_mut().int(value)),
            Given::Condition(value) => Ok(nest.graph_mut().bool(value)),
            Given::Text(text) => nest.parse(&text).map_err(|err| Refused::Text(text, err)),
            Given::Expr(from, root) => {
                let mut ranges = Vec::new();
                for variable in from.variables() {
                    let (least, most) = (i128::from(variable.range.start), i128::from(variable.range.end) - 1);
                    ranges.push(known(op, nest, &variable.name, Some(least), Some(most))?);
                }
                let variable =
                    |graph: &mut Graph, at: usize| graph.variable(&from.variables()[at].name, ranges[at].clone());
                Ok(nest.graph_mut().import(&from, &[root], variable)?[0])
            }
            Given::Size(size) => polynomial(op, nest, &size),
        }
    }
}

/// The range of a loop or a parameter, whose values are to be among those that it has in what is given.
fn known(
    op: &str,
    nest: &expr::Nest,
    name: &str,
    least: Option<i128>,
    most: Option<i128>,
) -> Result<Range<i64>, Refused> {
    let variables = nest.graph().variables();
    let Some(variable) = variables.iter().find(|variable| variable.name == name) else {
        let all =
            nest.parameters().iter().map(|parameter| &parameter.name).chain(nest.loops().iter().map(|one| &one.name));
        let all: Vec<String> = all.map(|name| format!("`{name}`")).collect();
        let there = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        let hint = "parameters are declared by `Nest(n=range(1, 4097))`";
        let sentence =
            format!("{op}: `{name}` is neither a loop of the nest nor a parameter; there are {there}, and {hint}");
        return Err(Refused::Sentence(sentence));
    };
    let Range { start, end } = variable.range;
    let is_below = least.is_some_and(|least| i128::from(start) < least);
    if is_below || most.is_some_and(|most| i128::from(end) > most.saturating_add(1)) {
        let shown = |end: Option<i128>| end.map_or_else(String::new, |end| end.to_string());
        let (least, past) = (shown(least), shown(most.map(|most| most.saturating_add(1))));
        let sentence =
            format!("{op}: `{name}` has values in {start}..{end} in the nest, but in {least}..{past} in what is given");
        return Err(Refused::Sentence(sentence));
    }
    Ok(variable.range.clone())
}

/// A polynomial of parameters.
fn polynomial(op: &str, nest: &mut expr::Nest, size: &shapetracker_symbolic::Sym) -> Result<Handle, Refused> {
    let own = size.canonical();
    let (scope, poly) = own.parts().map_err(|err| Refused::Sentence(err.to_string()))?;
    let mut sum = None;
    for (factor, vars) in poly.summands() {
        let past = |_| Refused::Sentence(format!("{op}: in {size} a number is past the range of 64-bit integers"));
        let factor = i64::try_from(factor).map_err(past)?;
        let mut product = None;
        for var in vars {
            let name = &scope.names()[usize::from(var.0)];
            let range = known(op, nest, &name.name, name.lo, name.hi)?;
            let variable = nest.graph_mut().variable(&name.name, range)?;
            product = Some(match product {
                Some(product) => nest.graph_mut().binary(Binary::Mul, product, variable)?,
                None => variable,
            });
        }
        let graph = nest.graph_mut();
        // What is subtracted is written so.
        let (op_of_sum, factor) = match (sum, factor.checked_neg()) {
            (Some(_), Some(less)) if factor < 0 => (Binary::Sub, less),
            _ => (Binary::Add, factor),
        };
        let factor_there = graph.int(factor);
        let summand = match product {
            Some(product) if factor == 1 => product,
            Some(product) => graph.binary(Binary::Mul, product, factor_there)?,
            None => factor_there,
        };
        sum = Some(match sum {
            Some(sum) => graph.binary(op_of_sum, sum, summand)?,
            None => summand,
        });
    }
    Ok(sum.unwrap_or_else(|| nest.graph_mut().int(0)))
}

/// A text, such as the name of a loop.
pub(super) fn text(op: &str, what: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mismatch = || PyTypeError::new_err(format!("{op}: {what} is to be text, not {}", described(value)));
    Ok(value.cast::<PyString>().map_err(|_| mismatch())?.to_cow()?.into_owned())
}

/// What is given one by one or as one sequence.
pub(super) fn each<'py>(op: &str, given: &Bound<'py, PyTuple>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    /// A sequence may have no end, and nothing has so many loops.
    const MOST: usize = 1 << 12;
    if given.len() == 1 {
        let only = given.get_item(0)?;
        if !only.is_instance_of::<PyString>() && is_iterable(&only) {
            let all = items(op, "a sequence", &only)?.take(MOST + 1).collect::<PyResult<Vec<_>>>()?;
            let too_many = || PyValueError::new_err(format!("{op}: more than {MOST} things are given"));
            return if all.len() > MOST { Err(too_many()) } else { Ok(all) };
        }
    }
    Ok(given.iter().collect())
}

/// Names given one by one or as one sequence.
pub(super) fn names(op: &str, what: &str, given: &Bound<'_, PyTuple>) -> PyResult<Vec<String>> {
    each(op, given)?.iter().map(|name| text(op, what, name)).collect()
}
