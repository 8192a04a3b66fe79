//! A tensor that is spread over devices: what becomes of each operation of a chain, and who holds what is read.

use shapetracker::{Chain, Movement, ShapeTracker};
use shapetracker_shard::{Outcome, Passage, Sharded};

use crate::fault::Fault;
use crate::json::{Answer, Numbers, Value, object};
use crate::request::Fields as _;

/// The most addresses whose holders are asked for at a time.
const MOST_ADDRESSES: usize = 1 << 16;

pub(crate) fn devices(request: &Value) -> Result<Answer, Fault> {
    let text = request.text("text").map_err(|fault| fault.in_field("tensor"))?;
    let tensor: Sharded = text.parse().map_err(|err| Fault::syntax(&err, "tensor", text))?;
    let text = request.text("chain").map_err(|fault| fault.in_field("chain"))?;
    // Without operations there are still the devices that hold what the base reads.
    let chain: Chain = match text.trim() {
        "" => Chain::read("").0,
        text => {
            let (chain, err) = Chain::read_from(text, Some(tensor.shape()));
            err.map_or(Ok(chain), |err| Err(Fault::syntax(&err, "chain", text)))?
        }
    };
    chain.tracker_from(tensor.shape()).map_err(|err| Fault::chain(&err, text))?;
    let passage = tensor.through(chain.ops()).map_err(|err| Fault::new("shard", err.to_string()))?;

    let kind = match &passage.outcome {
        Outcome::Free { .. } => "free",
        Outcome::Unsayable { .. } => "unsayable",
        Outcome::Moves { .. } => "moves",
        _ => "undecided",
    };
    let step = |number: usize| match () {
        () if number < passage.asked.start => "free",
        () if number < passage.asked.end => kind,
        () => "unasked",
    };
    let after = match &passage.outcome {
        Outcome::Free { after } => Some(after.to_string()),
        _ => None,
    };
    let mut sentence = passage.outcome.to_string();
    sentence[..1].make_ascii_uppercase();
    let mesh = tensor.mesh();
    let axes = mesh.names().iter().zip(mesh.sizes());
    let axes: Value = axes.map(|(name, &size)| object! { "name": &name[..], "size": size }).collect();
    let mut numbers = Numbers::default();
    let holders = match request.get("addresses") {
        None | Some(Value::Null) => Value::Null,
        Some(_) => holders(&tensor, request.list("addresses")?, &mut numbers)?,
    };
    let document = object! {
        "mesh": axes,
        "devices": mesh.devices(),
        "steps": (0..chain.ops().len()).map(|number| Value::from(step(number))).collect::<Value>(),
        "sentence": sentence,
        "after": after,
        "moved": moved(&passage, chain.ops()),
        "holders": holders,
    };
    Ok(Answer { document, numbers })
}

/// How many elements must move where a reshape is not free; nothing where none must, or where that is not known.
fn moved(passage: &Passage, ops: &[Movement]) -> Option<Value> {
    let Outcome::Moves { .. } = passage.outcome else { return None };
    let asked = &ops[passage.asked.clone()];
    let reshapes = |op: &Movement| {
        matches!(op, Movement::Reshape(_) | Movement::Squeeze(_) | Movement::SqueezeAll | Movement::Unsqueeze(_))
    };
    if !asked.iter().all(reshapes) {
        return None;
    }
    let mut tracker = ShapeTracker::contiguous(passage.before.shape()).ok()?;
    for op in asked {
        tracker = tracker.apply(op).ok()?;
    }
    let (target, moved) = passage.before.cheapest(tracker.shape()).ok().flatten()?;
    let plural = if moved.elements == 1 { "element has" } else { "elements have" };
    let sentence =
        format!("at least {} {plural} to move between devices to give each an even share: {target}", moved.elements);
    let elements = i64::try_from(moved.elements).map_or_else(|_| moved.elements.to_string().into(), Value::from);
    Some(object! { "elements": elements, "sentence": sentence })
}

/// The lowest device that holds what each address reads: their number in the row-major order of the mesh.
fn holders(tensor: &Sharded, addresses: &[Value], numbers: &mut Numbers) -> Result<Value, Fault> {
    if addresses.len() > MOST_ADDRESSES {
        let given = addresses.len();
        return Err(Fault::limit(format!(
            "{given} addresses, more than the {MOST_ADDRESSES} that are asked for at a time"
        )));
    }
    let holder = |address: &Value| {
        let holders = tensor.holders(address.as_integer()?)?;
        let sizes = tensor.mesh().sizes();
        Some(holders.iter().zip(sizes).fold(0, |device, (at, size)| device * size + at.unwrap_or(0)))
    };
    Ok(numbers.floats(addresses.iter().map(|address| holder(address).map_or(f64::NAN, |device| device as f64))))
}
