//! Answers about sharded tensors as documents of JSON: the one place that says which fields they have.
//!
//! | from | fields |
//! |---|---|
//! | [`Sharded`] | `text`, `shape`, `mesh` (a list of `name`, `size`), `placements` (texts, one per mesh axis), `spec` (JAX's partition: a list of mesh axes per tensor axis; null where no partition says it) |
//! | [`Outcome`] | `kind` (`free`, `unsayable`, `moves` or `undecided`), `after` (a tensor; null unless it is free), `parts`, `witness`, `reason` (a text; each null where there is none) |
//! | [`Check`] | `kind` (`proved`, `refuted` or `undecided`), `witness`, `reason` |
//! | [`Witness`] | `device` (its coordinates), `local` (two numbers in its local tensor), `global` (their two positions, or nulls), `missing` (a position, or null), `sentence` |
//! | [`Parts`] | `shape` (of the whole), `views` (of the mesh axes and the local axes, the first next to memory; null where they differ from device to device), `sentence` |
//! | [`Moved`] | `elements`, `most` (by one device), `device` |
//!
//! Positions count elements in the row-major order of the whole tensor. A number that does not fit `i64` is a text of digits.
//!
//! ```
//! use shapetracker::json::Value;
//! use shapetracker_shard::Sharded;
//!
//! let tensor: Sharded = "(4, 4) @ dp=2 : S(0)".parse().unwrap();
//! let document = Value::from(&tensor.reshape([2, 8])?);
//! assert_eq!(document.get("kind"), Some(&Value::from("free")));
//! assert_eq!(document.get("after").and_then(|after| after.get("text")), Some(&Value::from("(2, 8) @ dp=2 : S(0)")));
//! # Ok::<(), shapetracker_shard::Error>(())
//! ```

use shapetracker::json::Value;

use crate::{Check, Moved, Outcome, Parts, Sharded, Witness};

impl From<&Sharded> for Value {
    fn from(sharded: &Sharded) -> Value {
        let mesh = sharded.mesh();
        let axes = mesh.names().iter().zip(mesh.sizes());
        let axes: Value = axes.map(|(name, &size)| Value::Null.with("name", &name[..]).with("size", size)).collect();
        let placements: Value =
            sharded.placements().iter().map(|placement| Value::Text(placement.to_string())).collect();
        let names = |names: Vec<&str>| names.into_iter().map(Value::from).collect::<Value>();
        let spec = sharded.spec().map_or(Value::Null, |spec| spec.into_iter().map(names).collect());
        Value::Null
            .with("text", &sharded.to_string()[..])
            .with("shape", sharded.shape())
            .with("mesh", axes)
            .with("placements", placements)
            .with("spec", spec)
    }
}

impl From<&Outcome> for Value {
    fn from(outcome: &Outcome) -> Value {
        let (mut after, mut parts, mut witness, mut reason) = (Value::Null, Value::Null, Value::Null, Value::Null);
        let kind = match outcome {
            Outcome::Free { after: free } => {
                after = free.into();
                "free"
            }
            Outcome::Unsayable { parts: held } => {
                parts = held.into();
                reason = Value::Text(held.to_string());
                "unsayable"
            }
            Outcome::Moves { why } => {
                witness = why.into();
                reason = Value::Text(why.to_string());
                "moves"
            }
            Outcome::Undecided { why } => {
                reason = Value::Text(why.to_string());
                "undecided"
            }
        };
        Value::Null
            .with("kind", kind)
            .with("after", after)
            .with("parts", parts)
            .with("witness", witness)
            .with("reason", reason)
    }
}

impl From<&Check> for Value {
    fn from(check: &Check) -> Value {
        let (kind, witness, reason) = match check {
            Check::Proved => ("proved", Value::Null, Value::Null),
            Check::Refuted(why) => ("refuted", why.into(), Value::Text(why.to_string())),
            Check::Undecided(why) => ("undecided", Value::Null, Value::Text(why.to_string())),
        };
        Value::Null.with("kind", kind).with("witness", witness).with("reason", reason)
    }
}

impl From<&Witness> for Value {
    fn from(witness: &Witness) -> Value {
        Value::Null
            .with("device", &witness.device[..])
            .with("local", &witness.local[..])
            .with("global", witness.global.iter().map(|&position| Value::from(position)).collect::<Value>())
            .with("missing", witness.missing)
            .with("sentence", &witness.sentence[..])
    }
}

impl From<&Parts> for Value {
    fn from(parts: &Parts) -> Value {
        let views = parts.view().map_or(Value::Null, |tracker| tracker.views().iter().map(Value::from).collect());
        Value::Null.with("shape", parts.shape()).with("views", views).with("sentence", &parts.to_string()[..])
    }
}

impl From<&Moved> for Value {
    fn from(moved: &Moved) -> Value {
        Value::Null
            .with("elements", number(moved.elements))
            .with("most", number(moved.most))
            .with("device", &moved.device[..])
    }
}

/// A number, or its digits where it does not fit.
fn number(number: i128) -> Value {
    i64::try_from(number).map_or_else(|_| Value::Text(number.to_string()), Value::Int)
}
