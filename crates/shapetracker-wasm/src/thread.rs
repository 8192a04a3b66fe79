//! The thread of one element through a chain: where it is before any operation and after each.

use shapetracker::{ChainStart, Dims, Movement, ShapeTracker, Stored};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::{ravelled, read, unravelled};
use crate::request::Fields as _;

pub(crate) fn thread(request: &Value) -> Result<Value, Fault> {
    let source = request.object("source")?;
    let text = source.text("chain").map_err(|fault| fault.in_field("chain"))?;
    let base = source.numbers_or_none("base")?;
    let chain = read(text, base.as_deref())?;
    let from_outside = base.as_deref().filter(|_| chain.start() == &ChainStart::Nothing);
    let mut steps = Vec::new();
    chain.follow(from_outside, |step, _| steps.push(step.clone())).map_err(|err| Fault::chain(&err, text))?;
    let step = usize::try_from(request.number("step")?).ok().filter(|step| *step < steps.len());
    let step = step.ok_or_else(|| Fault::request("`step` counts operations of the chain"))?;
    let index = request.numbers("index")?;
    let here = steps[step].over_newest();
    if index.len() != here.rank() || !index.iter().zip(here.shape()).all(|(i, n)| (0..*n).contains(i)) {
        return Err(Fault::request("`index` lies inside the shape"));
    }

    let mut indices: Vec<Option<Dims>> = vec![None; steps.len()];
    indices[step] = Some(index.clone());
    for (number, op) in chain.ops().iter().enumerate().take(step).rev() {
        let Some(after) = &indices[number + 1] else { break };
        indices[number] = before(&steps[number], op, after)?;
    }
    for (number, op) in chain.ops().iter().enumerate().skip(step) {
        let Some(before) = &indices[number] else { break };
        indices[number + 1] = after(&steps[number], op, before)?;
    }
    let indices: Value =
        indices.into_iter().map(|index| index.map_or(Value::Null, |index| Value::from(&index[..]))).collect();
    Ok(object! { "indices": indices, "address": here.address(&index) })
}

/// The operation as a view of the tensor before it, whose addresses are positions in that tensor.
fn alone(tensor: &Stored, op: &Movement) -> Result<ShapeTracker, Fault> {
    Ok(ShapeTracker::contiguous(tensor.shape())?.apply(op)?)
}

/// The index that an element had before an operation; nothing where the operation brought it in, as padding.
fn before(tensor: &Stored, op: &Movement, after: &[i64]) -> Result<Option<Dims>, Fault> {
    let position = alone(tensor, op)?.address(after);
    Ok(position.map(|position| unravelled(position, tensor.shape())))
}

/// The first index, in row-major order, that an element has after an operation; nothing where the operation cut it off.
fn after(tensor: &Stored, op: &Movement, before: &[i64]) -> Result<Option<Dims>, Fault> {
    let alone = alone(tensor, op)?;
    let first = alone.readers(ravelled(before, tensor.shape())).next();
    Ok(first.transpose()?)
}
