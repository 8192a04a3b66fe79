//! The operations that can be written after a dot, for completion.

use shapetracker::Method;

use crate::json::{Value, object};

pub(crate) fn operations() -> Value {
    let operations = Method::ALL.iter().map(|method| {
        object! {
            "name": method.name(),
            "signature": method.signature(),
            "says": method.says(),
            "library": method.library(),
        }
    });
    object! { "operations": operations.collect::<Value>() }
}
