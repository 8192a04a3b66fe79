//! Answers of the library as documents of JSON: the one place that says which fields they have.
//!
//! A [`Value`] is a document of JSON that has not been written yet. Everything that the library answers and that people
//! store or send has a conversion into one; the command, the explorer's engine and other programs take their fields from
//! here, and may leave out fields or add their own.
//!
//! | from | fields |
//! |---|---|
//! | [`View`] | `shape`, `strides`, `offset`, `mask` (a list of half-open ranges, or null) |
//! | [`Witness::UnevenStep`] | `kind` (`uneven_step`), `axis`, `steps`: two of `index`, `next` (the index one further along the axis), `from`, `to` (the addresses at both), `moved` (their difference) |
//! | [`Witness::NotABox`] | `kind` (`not_a_box`), `valid` (two indices), `invalid` (an index) |
//! | [`Unmerged`] | `sentence`, `witness` (null where there is none) |
//! | [`Obstacle`] | `kind`, `old_axes`, `new_axes`, `sentence`; `stride` and `needed` where `kind` is `strides`, `range` where it is `mask` |
//! | [`Cost`] | `ops`, `divmods`, `weight` |
//! | [`LeastCopy`] | `elements` (copied), `of`, `smallest` (whether no less will do), `sentence` |
//! | [`library`] | `library`, `name` (as its authors write it), `does`, `sentence`, `code` (or null) |
//! | [`Description`](crate::describe::Description) | `shape`, `views`, `bytes`, `dense`, `order` (`names`, `digits`: of each `axis`, `size`, `weight`, `stride`; `backwards`, `repeated`), `valid`, `range`, `distinct`, `holes`, `injective`, `collision` (`indices`, `address`, `sentence`), `matrix` (`rows`, `columns`, `forms`: of each `operation`, `leading`; `batch`), `no_matrix` and `no_tensor_map` (`kind`, `sentence`), `nearest_dense`, `nearest_matrix` and `nearest_tensor_map` (`view`, `elements`), `tensor_map` (`dims`: of each `axes`, `size`, `stride`; `address`, `box_multiple`), `formats` (`library`, `name`), `vector` (`elements`, `run`), `reported` (`library`, `strides`, `minor_to_major`, `says`, `none`), `lines` (`topic`, `text`) |
//! | [`Overlap`](crate::describe::Overlap) | `sentence`, `kind` (`shared`, `nothing`, `ranges`, `residues` or `searched`); `indices` and `address` where they share one, `ranges`, or `modulus` and `residues`, where they are the reason |
//! | [`Error`] | `kind`, `message` |
//!
//! Of a view these are the fields that the feature `serde` reads and writes.
//!
//! ```
//! use shapetracker::View;
//! use shapetracker::json::Value;
//!
//! let view = View::contiguous([3, 2])?.permute([1, 0])?;
//! assert_eq!(
//!     Value::from(&view).to_string(),
//!     r#"{"shape":[2,3],"strides":[1,2],"offset":0,"mask":null}"#,
//! );
//! let reason = view.reshape([6]).unwrap_err();
//! assert_eq!(
//!     Value::from(&reason).get("witness").unwrap().to_string(),
//!     r#"{"kind":"uneven_step","axis":0,"steps":[{"index":[0],"next":[1],"from":0,"to":2,"moved":2},"#.to_owned()
//!         + r#"{"index":[2],"next":[3],"from":4,"to":1,"moved":-3}]}"#,
//! );
//! # Ok::<(), shapetracker::Error>(())
//! ```

use std::fmt::{self, Write};

use crate::advice::{Does, LeastCopy};
use crate::expr::Cost;
use crate::fit::{Axis, Obstacle};
use crate::{ArrayLibrary, Error, UnitStep, Unmerged, View, Witness};

/// A document of JSON: what an answer says, before it is written as text or handed to a library for JSON.
///
/// There will be no other kinds of value: all numbers of the library are integers. `Display` writes JSON without white
/// space; with the feature `serde` a value can be serialized. Both recurse into lists and objects.
///
/// ```
/// use shapetracker::json::Value;
///
/// let value = Value::Null.with("shape", &[2, 3][..]).with("mask", None::<i64>).with("contiguous", true);
/// assert_eq!(value.to_string(), r#"{"shape":[2,3],"mask":null,"contiguous":true}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing: what is not there, or not known.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A text.
    Text(String),
    /// Values in order.
    List(Vec<Value>),
    /// Named values in the order in which they are written; no name stands twice.
    Object(Vec<(String, Value)>),
}

/// The largest integer up to which a floating-point number of 64 bits tells every integer from the next: 2^53 - 1.
pub const MAX_SAFE_INTEGER: i64 = (1 << 53) - 1;

impl Value {
    /// The object with one field more, after those that it has; a field that has the name already gets the new value.
    /// A value that is no object becomes one with this field only, so that objects can begin with [`Value::Null`].
    ///
    /// ```
    /// use shapetracker::json::Value;
    ///
    /// let value = Value::Null.with("axis", 0i64).with("size", 3i64).with("axis", 1i64);
    /// assert_eq!(value.to_string(), r#"{"axis":1,"size":3}"#);
    /// ```
    #[must_use]
    pub fn with(self, name: &str, value: impl Into<Value>) -> Value {
        self.with_value(name, value.into())
    }

    // One function for all types of values: what is generic is compiled once for each of them.
    #[inline(never)]
    fn with_value(self, name: &str, value: Value) -> Value {
        let mut fields = if let Value::Object(fields) = self { fields } else { Vec::new() };
        match fields.iter_mut().find(|(field, _)| field == name) {
            Some((_, old)) => *old = value,
            None => fields.push((name.to_owned(), value)),
        }
        Value::Object(fields)
    }

    /// The same document without the fields of some names, in it and in everything that it holds.
    ///
    /// ```
    /// use shapetracker::json::Value;
    ///
    /// let step = Value::Null.with("from", 0i64).with("to", 4i64).with("moved", 4i64);
    /// let steps = Value::Null.with("steps", vec![step]);
    /// assert_eq!(steps.without(&["moved"]).to_string(), r#"{"steps":[{"from":0,"to":4}]}"#);
    /// ```
    #[must_use]
    pub fn without(self, names: &[&str]) -> Value {
        match self {
            Value::List(items) => items.into_iter().map(|item| item.without(names)).collect(),
            Value::Object(fields) => {
                let kept = fields.into_iter().filter(|(name, _)| !names.contains(&&name[..]));
                Value::Object(kept.map(|(name, value)| (name, value.without(names))).collect())
            }
            leaf => leaf,
        }
    }

    /// The value of a field; `None` where there is no such field, or no object.
    ///
    /// ```
    /// use shapetracker::json::Value;
    ///
    /// let value = Value::Null.with("axis", 1i64);
    /// assert_eq!(value.get("axis"), Some(&Value::Int(1)));
    /// assert_eq!(value.get("size"), None);
    /// ```
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Value::Object(fields) => fields.iter().find(|(field, _)| field == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The integer that this is, as a number or as a text of digits; see [`to_i_json`](Value::to_i_json).
    ///
    /// ```
    /// use shapetracker::json::Value;
    ///
    /// assert_eq!(Value::Int(-3).as_integer(), Some(-3));
    /// assert_eq!(Value::from("9223372036854775807").as_integer(), Some(i64::MAX));
    /// assert_eq!(Value::from("x").as_integer(), None);
    /// ```
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Text(digits) => digits.parse().ok(),
            _ => None,
        }
    }

    /// The document as I-JSON (RFC 7493), which every reader understands alike: an integer past
    /// [`MAX_SAFE_INTEGER`] is a text of digits, because a reader that takes numbers as floating-point ones, as
    /// JavaScript does, would change it.
    ///
    /// ```
    /// use shapetracker::json::Value;
    ///
    /// let value = Value::from(&[4, i64::MAX][..]);
    /// assert_eq!(value.to_i_json(), r#"[4,"9223372036854775807"]"#);
    /// assert_eq!(value.to_string(), "[4,9223372036854775807]");
    /// ```
    pub fn to_i_json(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, MAX_SAFE_INTEGER);
        text
    }

    /// Writes JSON in which integers whose magnitude exceeds `largest` are texts.
    fn write(&self, out: &mut dyn Write, largest: i64) -> fmt::Result {
        match self {
            Value::Null => out.write_str("null"),
            Value::Bool(value) => out.write_str(if *value { "true" } else { "false" }),
            Value::Int(value) if value.unsigned_abs() <= largest.unsigned_abs() => write!(out, "{value}"),
            Value::Int(value) => write!(out, "\"{value}\""),
            Value::Text(text) => quote(out, text),
            Value::List(items) => {
                out.write_char('[')?;
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.write_char(',')?;
                    }
                    item.write(out, largest)?;
                }
                out.write_char(']')
            }
            Value::Object(fields) => {
                out.write_char('{')?;
                for (place, (name, value)) in fields.iter().enumerate() {
                    if place > 0 {
                        out.write_char(',')?;
                    }
                    quote(out, name)?;
                    out.write_char(':')?;
                    value.write(out, largest)?;
                }
                out.write_char('}')
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The magnitude of the smallest integer is one more than that of the largest.
        self.write(f, i64::MIN)
    }
}

/// Writes a string of JSON (RFC 8259, section 7): quotation marks, backslashes and control characters are escaped.
fn quote(out: &mut dyn Write, text: &str) -> fmt::Result {
    out.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            c if c < ' ' => write!(out, "\\u{:04x}", u32::from(c))?,
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

#[cfg(feature = "serde")]
impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(items) => serializer.collect_seq(items),
            Value::Object(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (name, value))),
        }
    }
}

/// What a library does with a chain, whose sizes are numbers or names.
///
/// ```
/// let chain: shapetracker::Chain = "(4, 6).T.flatten()".parse()?;
/// let advice = chain.advice(None).unwrap();
/// let found = &advice.libraries[0];
/// let value = shapetracker::json::library(found.library, found.does, &found.sentence, found.code.as_deref());
/// assert_eq!(value.get("does").unwrap().to_string(), r#""copies""#);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
pub fn library(library: ArrayLibrary, does: Does, sentence: &str, code: Option<&str>) -> Value {
    Value::Null
        .with("library", library.name())
        .with("name", library.to_string())
        .with("does", does.name())
        .with("sentence", sentence)
        .with("code", code)
}

impl From<&LeastCopy> for Value {
    fn from(copy: &LeastCopy) -> Value {
        Value::Null
            .with("elements", copy.elements)
            .with("of", copy.of)
            .with("smallest", copy.is_smallest)
            .with("sentence", copy.to_string())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}

/// Differences of addresses may take one bit more than addresses: past `i64` they are a text of digits.
impl From<i128> for Value {
    fn from(value: i128) -> Value {
        i64::try_from(value).map_or_else(|_| Value::Text(value.to_string()), Value::Int)
    }
}

/// Counts of what lies in memory, such as axes or bytes: they fit `i64`.
impl From<usize> for Value {
    fn from(value: usize) -> Value {
        Value::from(value as i128)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<&[i64]> for Value {
    fn from(numbers: &[i64]) -> Value {
        numbers.iter().copied().collect()
    }
}

/// A range, or the smallest and the largest of some numbers: a list of two.
impl From<(i64, i64)> for Value {
    fn from((low, high): (i64, i64)) -> Value {
        Value::List(vec![low.into(), high.into()])
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, T::into)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(values: Vec<T>) -> Value {
        values.into_iter().collect()
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Value {
        Value::List(values.into_iter().map(T::into).collect())
    }
}

impl From<&View> for Value {
    fn from(view: &View) -> Value {
        Value::Null
            .with("shape", view.shape())
            .with("strides", view.strides())
            .with("offset", view.offset())
            .with("mask", view.mask().map(|mask| mask.iter().copied().collect::<Value>()))
    }
}

impl From<&Witness> for Value {
    fn from(witness: &Witness) -> Value {
        match witness {
            Witness::UnevenStep { axis, steps } => {
                let step = |step: &UnitStep| {
                    Value::Null
                        .with("index", &step.index[..])
                        .with("next", &step.next(*axis)[..])
                        .with("from", step.from)
                        .with("to", step.to)
                        .with("moved", step.moved())
                };
                let steps: Value = steps.iter().map(step).collect();
                Value::Null.with("kind", "uneven_step").with("axis", *axis).with("steps", steps)
            }
            Witness::NotABox { valid: [a, b], invalid } => {
                let valid: Value = [&a[..], &b[..]].into_iter().collect();
                Value::Null.with("kind", "not_a_box").with("valid", valid).with("invalid", &invalid[..])
            }
        }
    }
}

impl From<&Unmerged> for Value {
    fn from(reason: &Unmerged) -> Value {
        Value::Null.with("sentence", reason.to_string()).with("witness", reason.witness())
    }
}

impl From<&Obstacle> for Value {
    fn from(obstacle: &Obstacle) -> Value {
        let axes = |axes: &[Axis]| axes.iter().map(|axis| axis.axis).collect::<Value>();
        let value = Value::Null
            .with("kind", obstacle.kind())
            .with("old_axes", axes(&obstacle.old_axes()))
            .with("new_axes", axes(obstacle.new_axes()))
            .with("sentence", obstacle.to_string());
        match obstacle {
            Obstacle::Strides { stride, needed, .. } => value.with("stride", *stride).with("needed", *needed),
            Obstacle::Mask { range, .. } => value.with("range", *range),
        }
    }
}

impl From<Cost> for Value {
    fn from(cost: Cost) -> Value {
        Value::Null.with("ops", cost.ops).with("divmods", cost.divmods).with("weight", cost.weight)
    }
}

impl From<&Error> for Value {
    fn from(error: &Error) -> Value {
        Value::Null.with("kind", error.kind().name()).with("message", error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit;
    use crate::fit::Misfit;

    #[test]
    fn texts_are_escaped() {
        let text = Value::from("x\"\\\n\u{1}é😀");
        assert_eq!(text.to_string(), r#""x\"\\\n\u0001é😀""#);
        assert_eq!(Value::Null.with("a\"b", Value::List(Vec::new())).to_string(), r#"{"a\"b":[]}"#);
    }

    #[test]
    fn integers_that_floating_point_would_change_are_digits() {
        for (value, text) in [
            (MAX_SAFE_INTEGER, "9007199254740991"),
            (-MAX_SAFE_INTEGER, "-9007199254740991"),
            (MAX_SAFE_INTEGER + 1, "\"9007199254740992\""),
            (i64::MIN, "\"-9223372036854775808\""),
        ] {
            assert_eq!(Value::Int(value).to_i_json(), text);
            assert_eq!(Value::Int(value).to_string(), value.to_string());
        }
        assert_eq!(Value::from(i128::from(i64::MAX) + 1), Value::from("9223372036854775808"));
    }

    #[test]
    fn obstacles_have_the_fields_of_their_kind() {
        let obstacles = |view: &View, to: &[i64]| match fit(view, to) {
            Err(Misfit::Blocked(blocked)) => blocked.obstacles().iter().collect::<Value>().to_string(),
            other => panic!("{other:?}"),
        };
        let sentence = "new axis 0 (size 24) would run over old axes 0 and 1 (sizes 4, 6); \
                        that needs stride[0] = size[1] * stride[1] = 24, but stride[0] is 1";
        let expected = r#"[{"kind":"strides","old_axes":[0,1],"new_axes":[0],"sentence":"..","stride":1,"needed":24}]"#;
        let transposed = View::new([4, 6], [1, 4], 0, None).unwrap();
        assert_eq!(obstacles(&transposed, &[24]), expected.replace("..", sentence));
        let padded = View::contiguous([4]).unwrap().pad([(1, 1)]).unwrap();
        let sentence = "old axis 0 (size 6) is masked outside 1..5; \
                        under new axes 0 and 1 (sizes 2, 3) the elements that are left are not a box";
        let expected = r#"[{"kind":"mask","old_axes":[0],"new_axes":[0,1],"sentence":"..","range":[1,5]}]"#;
        assert_eq!(obstacles(&padded, &[2, 3]), expected.replace("..", sentence));
    }

    #[test]
    #[cfg(feature = "serde")]
    fn views_have_the_fields_that_serde_writes() {
        for view in [
            View::contiguous([]).unwrap(),
            View::new([4, 3], [1, 4], 2, Some(&[(0, 4), (1, 3)])).unwrap(),
            View::new([2], [-1], i64::MAX, None).unwrap(),
        ] {
            let value = Value::from(&view);
            assert_eq!(value.to_string(), serde_json::to_string(&view).unwrap());
            assert_eq!(value.to_string(), serde_json::to_string(&value).unwrap());
        }
    }
}
