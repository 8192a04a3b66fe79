//! The operations that can be written after a dot, for completion.

use shapetracker::MovementKind;

use crate::json::{Value, object};

pub(crate) fn operations() -> Value {
    let operations: Value = MovementKind::ALL
        .iter()
        .map(|kind| {
            object! {
                "name": kind.name(),
                "signature": format!("{}({})", kind.name(), kind.arguments().replace('`', "")),
                "says": kind.meaning(),
                "library": Value::Null,
            }
        })
        .collect();
    object! { "operations": operations }
}
