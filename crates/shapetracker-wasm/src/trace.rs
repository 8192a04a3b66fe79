//! The trace of one element through the views of a tracker, the last view first, down to memory.

use shapetracker::View;

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::Layout;
use crate::layout::{ravelled, unravelled};

pub(crate) fn trace(request: &Value) -> Result<Value, Fault> {
    let layout = Layout::of(request, "source")?;
    let at = layout.index(request)?;
    let Layout::Chain(tracker) = &layout else {
        return Err(Fault::request("only a chain has views to trace through"));
    };
    let mut levels = Vec::new();
    let mut index = Some(at);
    let mut address = None;
    for (number, view) in tracker.views().iter().enumerate().rev() {
        let Some(at) = index.take() else { break };
        address = view.address(&at);
        levels.push(level(number, view, &at, address));
        let under = number.checked_sub(1).map(|under| &tracker.views()[under]);
        index = address.zip(under).map(|(address, under)| unravelled(address, under.shape()));
    }
    Ok(object! { "address": address, "levels": Value::List(levels) })
}

fn level(number: usize, view: &View, index: &[i64], address: Option<i64>) -> Value {
    let axes = || index.iter().zip(view.strides()).enumerate();
    let terms = axes().map(|(axis, (&i, &stride))| {
        // A product may leave 64 bits where the axis is masked.
        let product = i
            .checked_mul(stride)
            .map_or_else(|| Value::from((i128::from(i) * i128::from(stride)).to_string()), Value::from);
        object! { "axis": axis, "index": i, "stride": stride, "product": product }
    });
    let masks = view.mask().unwrap_or_default().iter().enumerate();
    let masked = masks.filter(|(axis, (begin, end))| !(*begin..*end).contains(&index[*axis])).map(|(axis, _)| axis);
    object! {
        "view": number,
        "index": index,
        "position": ravelled(index, view.shape()),
        "masked_axes": masked.collect::<Value>(),
        "offset": view.offset(),
        "terms": terms.collect::<Value>(),
        "address": address,
    }
}
