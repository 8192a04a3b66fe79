//! How a layout lies in memory, and what takes it as it is, in sentences.

use shapetracker::describe::{Memory, describe as described};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::Layout;
use crate::request::Fields as _;

/// The most bytes of an element.
const MOST_BYTES: u32 = 1 << 12;

/// The lines of a description, each with what it is about, and whether two elements share an address. `bytes` is how many bytes an element
/// has.
pub(crate) fn describe(request: &Value) -> Result<Value, Fault> {
    let Layout::Chain(tracker) = Layout::of(request, "source")? else {
        return Err(Fault::request("`source` is a chain"));
    };
    let bytes = request.number_or("bytes", 0)?;
    let memory = u32::try_from(bytes).ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes)).map(Memory::of);
    let found = described(&tracker, memory);
    let lines = found.lines().into_iter().map(|line| object! { "topic": line.topic, "text": line.text });
    Ok(object! { "shared": matches!(found.collision, Ok(Some(_))), "lines": lines.collect::<Value>() })
}
