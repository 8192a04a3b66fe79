//! Which elements read an address: of a chain the library's answer, of expressions a walk over all elements.

use shapetracker::Dims;

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::{Layout, ravelled, unravelled};
use crate::request::Fields as _;

const MOST_READERS: i64 = 1 << 16;

pub(crate) fn readers(request: &Value) -> Result<Value, Fault> {
    let layout = Layout::of(request, "source")?;
    let address = request.number("address")?;
    let limit = request.number("limit")?.clamp(0, MOST_READERS) as usize;
    let (mut indices, mut note) = (Vec::<Dims>::new(), None);
    let more = || format!("there are more than these {limit} elements");
    match &layout {
        Layout::Chain(tracker) => {
            for reader in tracker.readers(address) {
                match reader {
                    Ok(index) if indices.len() < limit => indices.push(index),
                    Ok(_) => {
                        note = Some(more());
                        break;
                    }
                    Err(_) => note = Some("the search took too long and was ended: there may be more elements".into()),
                }
            }
            // In row-major order, which the positions are; numbers are sorted elsewhere, too.
            let shape = tracker.shape();
            let mut positions: Vec<i64> = indices.iter().map(|index| ravelled(index, shape)).collect();
            positions.sort_unstable();
            indices = positions.into_iter().map(|position| unravelled(position, shape)).collect();
        }
        Layout::Free(_) => match layout.too_many() {
            Some(many) => note = Some(format!("{many} are too many to look at")),
            None => {
                let mut position = 0;
                layout.runs(&mut |run| {
                    if run.valid && run.first == address {
                        if indices.len() < limit {
                            indices.push(unravelled(position, layout.shape()));
                        } else {
                            note = Some(more());
                        }
                    }
                    position += run.count;
                })?;
            }
        },
    }
    Ok(object! {
        "indices": indices.iter().map(|index| Value::from(&index[..])).collect::<Value>(),
        "complete": note.is_none(),
        "note": note,
    })
}
