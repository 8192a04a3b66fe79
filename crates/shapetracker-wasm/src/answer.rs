//! Dispatch: the answer to a request is made by the function of its `op`.

use crate::fault::Fault;
use crate::json::{self, Answer, Value, object};
use crate::request::Fields as _;
#[cfg(feature = "explore")]
use crate::{chain, coverage, readers, summary, thread, tile, trace};

/// The most bytes of a request: more than two texts of the longest kind take with every character escaped.
const LONGEST: usize = 1 << 20;

/// The answer to a request, as bytes.
pub(crate) fn answer(request: &[u8]) -> Vec<u8> {
    answered(request).unwrap_or_else(|fault| object! { "error": fault.json() }.into()).encoded()
}

/// The answer to a request.
pub(crate) fn answered(request: &[u8]) -> Result<Answer, Fault> {
    if request.len() > LONGEST {
        return Err(Fault::limit(format!("the request has {} bytes, more than the {LONGEST} read", request.len())));
    }
    let text = std::str::from_utf8(request).ok();
    let request = text.and_then(json::parse).ok_or_else(|| Fault::request("a request is JSON"))?;
    let op = request.text("op")?;
    let answer: Option<Result<Answer, Fault>> = None;
    #[cfg(feature = "explore")]
    let answer = answer.or_else(|| explore(op, &request));
    #[cfg(feature = "free")]
    let answer = answer.or_else(|| free(op, &request));
    #[cfg(feature = "code")]
    let answer = answer.or_else(|| code(op, &request));
    #[cfg(feature = "names")]
    let answer = answer.or_else(|| (op == "names").then(|| crate::names::names(&request).map(Answer::from)));
    #[cfg(feature = "nest")]
    let answer = answer.or_else(|| (op == "nest").then(|| crate::nest::nest(&request).map(Answer::from)));
    #[cfg(feature = "devices")]
    let answer = answer.or_else(|| (op == "devices").then(|| crate::devices::devices(&request)));
    #[cfg(feature = "kernels")]
    let answer = answer.or_else(|| kernels(op, &request));
    answer.unwrap_or_else(|| Err(Fault::request(format!("there is no request `{op}` here"))))
}

#[cfg(feature = "explore")]
fn explore(op: &str, request: &Value) -> Option<Result<Answer, Fault>> {
    let document = match op {
        "coverage" => return Some(coverage::coverage(request)),
        "summary" => return Some(summary::summary(request)),
        "tile" => return Some(tile::tile(request)),
        "chain" => chain::chain(request),
        "readers" => readers::readers(request),
        "thread" => thread::thread(request),
        "trace" => trace::trace(request),
        _ => return None,
    };
    Some(document.map(Answer::from))
}

#[cfg(feature = "kernels")]
fn kernels(op: &str, request: &Value) -> Option<Result<Answer, Fault>> {
    let document = match op {
        "algebra" => crate::algebra::algebra(request),
        "kernel" => crate::kernel::kernel(request),
        "owners" => crate::algebra::owners(request),
        _ => return None,
    };
    Some(document.map(Answer::from))
}

#[cfg(feature = "free")]
fn free(op: &str, request: &Value) -> Option<Result<Answer, Fault>> {
    let document = match op {
        "evaluate" => crate::evaluate::evaluate(request),
        "expression" => crate::expression::expression(request),
        "free" => crate::expression::free(request),
        "variables" => crate::expression::variables(request),
        _ => return None,
    };
    Some(document.map(Answer::from))
}

#[cfg(feature = "code")]
fn code(op: &str, request: &Value) -> Option<Result<Answer, Fault>> {
    let document = match op {
        "advice" => crate::advice::advice(request),
        "code" => crate::code::code(request),
        "compare" => crate::compare::compare(request),
        "describe" => crate::describe::describe(request),
        "json" => crate::code::json(request),
        "operations" => Ok(crate::operations::operations()),
        _ => return None,
    };
    Some(document.map(Answer::from))
}
