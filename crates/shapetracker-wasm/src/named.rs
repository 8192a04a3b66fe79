//! Values of names in requests, and names with their values in answers.

use shapetracker_symbolic::Name;

use crate::json::{Value, object};

/// The values that a request gives to names; those of other names are none of this question.
pub(crate) fn fixed(request: &Value, names: &[Name]) -> Vec<Option<i64>> {
    names.iter().map(|name| request.get("values").and_then(|values| values.get(&name.name)?.as_integer())).collect()
}

/// These values, and of the other names the least ones.
pub(crate) fn least(names: &[Name], fixed: &[Option<i64>]) -> Vec<i64> {
    let least = |name: &Name| name.lo.and_then(|lo| i64::try_from(lo).ok()).unwrap_or(1);
    names.iter().zip(fixed).map(|(name, fixed)| fixed.unwrap_or_else(|| least(name))).collect()
}

/// Names with their ranges and values.
pub(crate) fn listed(names: &[Name], values: &[i64]) -> Value {
    let listed = names.iter().zip(values).map(|(name, &value)| {
        let end = name.hi.and_then(|hi| hi.checked_add(1));
        object! { "name": &*name.name, "begin": bound(name.lo), "end": bound(end), "value": value }
    });
    listed.collect()
}

/// A number that may leave 64 bits.
pub(crate) fn bound(bound: Option<i128>) -> Option<Value> {
    bound.map(|bound| i64::try_from(bound).map_or_else(|_| bound.to_string().into(), Value::from))
}
