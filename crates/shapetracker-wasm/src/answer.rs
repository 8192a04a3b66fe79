//! Dispatch: the answer to a request is made by the function of its `op`.

use crate::fault::Fault;
use crate::json::{self, Answer, object};
use crate::request::Fields as _;
use crate::{
    advice, chain, code, compare, coverage, devices, evaluate, layout, names, operations, readers, thread, tile, trace,
};

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
    let document = match request.text("op")? {
        "tile" => return tile::tile(&request),
        "coverage" => return coverage::coverage(&request),
        "devices" => return devices::devices(&request),
        "advice" => advice::advice(&request),
        "thread" => thread::thread(&request),
        "operations" => Ok(operations::operations()),
        "names" => names::names(&request),
        "chain" => chain::chain(&request),
        "evaluate" => evaluate::evaluate(&request),
        "trace" => trace::trace(&request),
        "readers" => readers::readers(&request),
        "free" => layout::free(&request),
        "compare" => compare::compare(&request),
        "code" => code::code(&request),
        "json" => code::json(&request),
        other => Err(Fault::request(format!("there is no request `{other}`"))),
    };
    document.map(Answer::from)
}
