//! `Serialize` and `Deserialize`: views and trackers as maps, movement operations as a name and its arguments.
//!
//! What is read goes through the checks of the constructors, so that a value that exists is canonical.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde::ser::{SerializeStruct, SerializeTuple, Serializer};
use serde::{Deserialize, Serialize};

use crate::operation::{Arguments, Takes};
use crate::{Dims, Movement, MovementKind, PerAxis, Ranges, ShapeTracker, View};

/// A list: `[2, 3]`.
impl<T: Serialize> Serialize for PerAxis<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

/// A list, of any length.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for PerAxis<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(list("a list with one value per axis", |value: T| value))
    }
}

/// `{"shape": [2, 3], "strides": [3, 1], "offset": 0, "mask": null}`.
impl Serialize for View {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut view = serializer.serialize_struct("View", 4)?;
        view.serialize_field("shape", self.shape())?;
        view.serialize_field("strides", self.strides())?;
        view.serialize_field("offset", &self.offset())?;
        view.serialize_field("mask", &self.mask())?;
        view.end()
    }
}

/// The offset and the mask may be missing. A field `contiguous` is ignored, any other one refused.
impl<'de> Deserialize<'de> for View {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "View", deny_unknown_fields, expecting = "a view, an object with a shape and strides")]
        struct Fields {
            shape: Numbers,
            strides: Numbers,
            #[serde(default)]
            offset: i64,
            #[serde(default)]
            mask: Option<Pairs>,
            #[serde(default, rename = "contiguous")]
            _contiguous: IgnoredAny,
        }
        let fields = Fields::deserialize(deserializer)?;
        let mask = fields.mask.as_ref().map(|mask| &mask.0[..]);
        View::new(fields.shape.0, fields.strides.0, fields.offset, mask).map_err(de::Error::custom)
    }
}

/// `{"views": [...]}`, the first view next to memory.
impl Serialize for ShapeTracker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tracker = serializer.serialize_struct("ShapeTracker", 1)?;
        tracker.serialize_field("views", self.views())?;
        tracker.end()
    }
}

/// The views must fit into each other; they are reduced to the fewest.
impl<'de> Deserialize<'de> for ShapeTracker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "ShapeTracker", deny_unknown_fields, expecting = "an object with views")]
        struct Fields {
            views: Vec<View>,
        }
        ShapeTracker::from_views(Fields::deserialize(deserializer)?.views).map_err(de::Error::custom)
    }
}

/// A name and its argument: `["permute", [1, 0]]`, `["pad", [[0, 0], [1, 1]]]`, `["unsqueeze", 0]`.
impl Serialize for Movement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut op = serializer.serialize_tuple(2)?;
        let (kind, arguments) = self.parts();
        op.serialize_element(kind.name())?;
        match arguments {
            Arguments::Numbers(numbers) | Arguments::Integers(numbers) | Arguments::ListedAxes(numbers) => {
                op.serialize_element(numbers)?;
            }
            Arguments::All => op.serialize_element(&())?,
            Arguments::Pairs(pairs) => op.serialize_element(pairs)?,
            Arguments::Booleans(each) => op.serialize_element(each)?,
            Arguments::Axis(axis) => op.serialize_element(&axis)?,
            Arguments::TwoAxes(a, b) => op.serialize_element(&(a, b))?,
            Arguments::Slices(slices) => op.serialize_element(slices)?,
            Arguments::Strided(shape, strides, offset) => op.serialize_element(&(shape, strides, offset))?,
        }
        op.end()
    }
}

/// `flip` takes one boolean per axis, or the axes; `squeeze` takes axes, or null for every axis of size 1; the offset of
/// `as_strided` may be missing, and so may the step of a slice. The format must be one that says what a value is, as JSON
/// does.
impl<'de> Deserialize<'de> for Movement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Operation)
    }
}

struct Operation;

impl<'de> Visitor<'de> for Operation {
    type Value = Movement;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an operation and its argument, such as [\"permute\", [1, 0]]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Movement, A::Error> {
        let name: String = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
        let op = seq.next_element_seed(Argument(&name))?.ok_or_else(|| de::Error::invalid_length(1, &self))?;
        end(&mut seq, 2, &self)?;
        Ok(op)
    }
}

/// The argument of the operation of a name.
struct Argument<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Argument<'_> {
    type Value = Movement;

    fn deserialize<D: Deserializer<'de>>(self, argument: D) -> Result<Movement, D::Error> {
        let numbers = |argument| Numbers::deserialize(argument).map(|numbers| numbers.0);
        let pairs = |argument| Pairs::deserialize(argument).map(|pairs| pairs.0);
        let kind = MovementKind::named(self.0).ok_or_else(|| de::Error::custom(MovementKind::unknown(self.0)))?;
        match kind.takes() {
            Takes::Sizes(make) | Takes::Integers(_, make) => numbers(argument).map(make),
            Takes::Pads(make) | Takes::Ranges(make) => pairs(argument).map(make),
            Takes::AxesOrBooleans(axes, booleans) => {
                argument.deserialize_seq(AxesOrBooleans { op: self.0, axes, booleans })
            }
            Takes::AxesOrAll(axes, all) => {
                Option::<Numbers>::deserialize(argument).map(|numbers| numbers.map_or(all, |given| axes(given.0)))
            }
            Takes::Axis(make) => i64::deserialize(argument).map(make),
            Takes::TwoAxes(make) => Pair::deserialize(argument).map(|Pair(a, b)| make(a, b)),
            Takes::Slices(make) => {
                argument.deserialize_seq(list("a list of slices, one per axis", |Slice(slice)| slice)).map(make)
            }
            Takes::Nothing(op) => <()>::deserialize(argument).map(|()| op),
            Takes::Strided(make) => argument.deserialize_seq(Strided(make)),
        }
    }
}

/// Booleans or axes, but not both.
struct AxesOrBooleans<'a> {
    op: &'a str,
    axes: fn(Dims) -> Movement,
    booleans: fn(PerAxis<bool>) -> Movement,
}

impl<'de> Visitor<'de> for AxesOrBooleans<'_> {
    type Value = Movement;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of booleans, one per axis, or a list of axes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Movement, A::Error> {
        let (mut axes, mut each) = (Dims::new(), PerAxis::new());
        while let Some(item) = seq.next_element()? {
            match item {
                AxisOrBoolean::Axis(axis) => axes.push(axis),
                AxisOrBoolean::Each(reversed) => each.push(reversed),
            }
        }
        match (axes.is_empty(), each.is_empty()) {
            (_, true) => Ok((self.axes)(axes)),
            (true, false) => Ok((self.booleans)(each)),
            (false, false) => {
                Err(de::Error::custom(format_args!("{}: expected booleans or axes, found both", self.op)))
            }
        }
    }
}

enum AxisOrBoolean {
    Axis(i64),
    Each(bool),
}

impl<'de> Deserialize<'de> for AxisOrBoolean {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Item;
        impl Visitor<'_> for Item {
            type Value = AxisOrBoolean;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean or an axis")
            }

            fn visit_bool<E: de::Error>(self, reversed: bool) -> Result<AxisOrBoolean, E> {
                Ok(AxisOrBoolean::Each(reversed))
            }

            fn visit_i64<E: de::Error>(self, axis: i64) -> Result<AxisOrBoolean, E> {
                Ok(AxisOrBoolean::Axis(axis))
            }

            fn visit_u64<E: de::Error>(self, axis: u64) -> Result<AxisOrBoolean, E> {
                let axis = i64::try_from(axis);
                axis.map(AxisOrBoolean::Axis)
                    .map_err(|_| E::invalid_value(de::Unexpected::Other("a larger number"), &self))
            }
        }
        deserializer.deserialize_any(Item)
    }
}

/// A shape, strides and perhaps an offset.
struct Strided(fn(Dims, Dims, i64) -> Movement);

impl<'de> Visitor<'de> for Strided {
    type Value = Movement;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a shape, strides and perhaps an offset, such as [[2, 3], [3, 1], 0]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Movement, A::Error> {
        let shape: Numbers = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
        let strides: Numbers = seq.next_element()?.ok_or_else(|| de::Error::invalid_length(1, &self))?;
        let offset = seq.next_element()?.unwrap_or(0);
        end(&mut seq, 3, &self)?;
        Ok((self.0)(shape.0, strides.0, offset))
    }
}

/// Complains when a list goes on after as many items as it may have.
fn end<'de, A: SeqAccess<'de>>(seq: &mut A, most: usize, expected: &dyn de::Expected) -> Result<(), A::Error> {
    match seq.next_element::<IgnoredAny>()? {
        None => Ok(()),
        Some(_) => Err(de::Error::invalid_length(most + 1, expected)),
    }
}

/// A list of numbers.
struct Numbers(Dims);

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(list("a list of whole numbers", |number: i64| number)).map(Numbers)
    }
}

/// A list of pairs.
struct Pairs(Ranges);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(list("a list of pairs, one per axis", |Pair(a, b)| (a, b))).map(Pairs)
    }
}

struct Pair(i64, i64);

impl<'de> Deserialize<'de> for Pair {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let numbers = Numbers::deserialize(deserializer)?.0;
        match numbers[..] {
            [a, b] => Ok(Pair(a, b)),
            _ => Err(de::Error::invalid_length(numbers.len(), &"a pair of whole numbers")),
        }
    }
}

/// `[begin, end, step]`, where the bounds may be null and the step missing.
struct Slice((Option<i64>, Option<i64>, i64));

impl<'de> Deserialize<'de> for Slice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bounds: PerAxis<Option<i64>> = deserializer
            .deserialize_seq(list("a slice such as [1, 3] or [null, null, -1]", |bound: Option<i64>| bound))?;
        match bounds[..] {
            [begin, end] => Ok(Slice((begin, end, 1))),
            [begin, end, step] => Ok(Slice((begin, end, step.unwrap_or(1)))),
            _ => Err(de::Error::invalid_length(bounds.len(), &"a slice such as [1, 3] or [null, null, -1]")),
        }
    }
}

/// Reads a list of `T` into a collection of `U`, and says what was expected when there is none.
fn list<T, U, C>(what: &'static str, convert: fn(T) -> U) -> List<T, U, C> {
    List { what, convert, collection: PhantomData }
}

struct List<T, U, C> {
    what: &'static str,
    convert: fn(T) -> U,
    collection: PhantomData<C>,
}

impl<'de, T: Deserialize<'de>, U, C: Default + Extend<U>> Visitor<'de> for List<T, U, C> {
    type Value = C;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<C, A::Error> {
        let mut collection = C::default();
        while let Some(item) = seq.next_element()? {
            collection.extend([(self.convert)(item)]);
        }
        Ok(collection)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, to_string};

    use super::*;

    fn op(json: &str) -> Movement {
        from_str(json).unwrap_or_else(|err| panic!("{json}: {err}"))
    }

    #[test]
    fn values_per_axis_are_lists() {
        assert_eq!(to_string(&Dims::from([2, 3])).unwrap(), "[2,3]");
        assert_eq!(from_str::<Dims>("[2,3]").unwrap(), [2, 3]);
        assert_eq!(from_str::<Ranges>("[[0,2]]").unwrap(), [(0, 2)]);
        let err = from_str::<Dims>("2").unwrap_err().to_string();
        assert!(err.starts_with("invalid type: integer `2`, expected a list with one value per axis"), "{err}");
    }

    #[test]
    fn views_have_four_fields_in_order() {
        let view = View::new([4, 3], [1, 4], 2, Some(&[(0, 4), (1, 3)])).unwrap();
        let json = r#"{"shape":[4,3],"strides":[1,4],"offset":2,"mask":[[0,4],[1,3]]}"#;
        assert_eq!(to_string(&view).unwrap(), json);
        assert_eq!(from_str::<View>(json).unwrap(), view);
        let plain = r#"{"shape":[],"strides":[],"offset":0,"mask":null}"#;
        assert_eq!(to_string(&View::contiguous([]).unwrap()).unwrap(), plain);
    }

    #[test]
    fn what_is_read_is_canonical() {
        let view = |json| from_str::<View>(json).unwrap();
        let json = r#"{"strides":[77,1],"shape":[1,3],"contiguous":false,"mask":[[0,1],[0,3]]}"#;
        assert_eq!(view(json), View::contiguous([1, 3]).unwrap());
        assert_eq!(view(r#"{"shape":[2],"strides":[1],"offset":5}"#), View::new([2], [1], 5, None).unwrap());
    }

    #[test]
    fn trackers_are_lists_of_views() {
        let json = r#"{"views":[{"shape":[2,3],"strides":[1,2],"offset":0,"mask":null}]}"#;
        let tracker = ShapeTracker::contiguous([3, 2]).unwrap().permute([1, 0]).unwrap();
        assert_eq!(to_string(&tracker).unwrap(), json);
        assert_eq!(from_str::<ShapeTracker>(json).unwrap(), tracker);
        // A stack that is one view is read as one.
        let json = r#"{"views":[{"shape":[2,3],"strides":[1,2]},{"shape":[2],"strides":[1]}]}"#;
        let tracker = from_str::<ShapeTracker>(json).unwrap();
        assert_eq!(tracker.as_view(), Some(&View::new([2], [2], 0, None).unwrap()));
    }

    #[test]
    fn operations_read_as_they_are_written() {
        for json in [
            r#"["reshape",[3,-1]]"#,
            r#"["reshape",[]]"#,
            r#"["permute",[1,0]]"#,
            r#"["expand",[3,4]]"#,
            r#"["pad",[[0,0],[1,1]]]"#,
            r#"["shrink",[[0,2],[1,3]]]"#,
            r#"["flip",[true,false]]"#,
            r#"["flip",[0,-1]]"#,
            r#"["flip",[]]"#,
            r#"["step",[1,-2]]"#,
            r#"["transpose",[0,-1]]"#,
            r#"["squeeze",[0,-1]]"#,
            r#"["squeeze",[]]"#,
            r#"["squeeze",null]"#,
            r#"["unsqueeze",-1]"#,
            r#"["broadcast_to",[2,3]]"#,
            r#"["slice",[[1,3,1],[null,null,-1]]]"#,
            r#"["as_strided",[[2,3],[3,1],1]]"#,
        ] {
            assert_eq!(to_string(&op(json)).unwrap(), json);
        }
        assert_eq!(op(r#"["view",[6]]"#), op(r#"["reshape",[6]]"#));
        assert_eq!(op(r#"["as_strided",[[6],[1]]]"#), op(r#"["as_strided",[[6],[1],0]]"#));
        assert_eq!(op(r#"["slice",[[1,3],[null,2]]]"#), op(r#"["slice",[[1,3,1],[null,2,1]]]"#));
        assert_eq!(op(r#"["flip",[true,false]]"#).to_string(), "flip(True, False)");
    }

    #[test]
    fn every_complaint() {
        for (json, complaint) in [
            ("3", "invalid type: integer `3`, expected an operation and its argument, such as [\"permute\", [1, 0]]"),
            ("[]", "invalid length 0, expected an operation and its argument, such as [\"permute\", [1, 0]]"),
            (r#"["flip"]"#, "invalid length 1, expected an operation and its argument, such as [\"permute\", [1, 0]]"),
            (
                r#"["flip",[],1]"#,
                "invalid length 3, expected an operation and its argument, such as [\"permute\", [1, 0]]",
            ),
            (r#"["premute",[1,0]]"#, "expected an operation, found `premute`: did you mean `permute`?"),
            (r#"["permute",3]"#, "invalid type: integer `3`, expected a list of whole numbers"),
            (r#"["permute",["a"]]"#, "invalid type: string \"a\", expected i64"),
            (r#"["reshape",[1.5]]"#, "invalid type: floating point `1.5`, expected i64"),
            (r#"["reshape",[9223372036854775808]]"#, "invalid value: integer `9223372036854775808`, expected i64"),
            (r#"["pad",[1,1]]"#, "invalid type: integer `1`, expected a list of whole numbers"),
            (r#"["pad",[[1,1,1]]]"#, "invalid length 3, expected a pair of whole numbers"),
            (r#"["pad",1]"#, "invalid type: integer `1`, expected a list of pairs, one per axis"),
            (
                r#"["flip",1]"#,
                "invalid type: integer `1`, expected a list of booleans, one per axis, or a list of axes",
            ),
            (r#"["flip",[null]]"#, "invalid type: null, expected a boolean or an axis"),
            (r#"["flip",[9223372036854775808]]"#, "invalid value: a larger number, expected a boolean or an axis"),
            (r#"["flip",[0,true]]"#, "flip: expected booleans or axes, found both"),
            (r#"["transpose",[0]]"#, "invalid length 1, expected a pair of whole numbers"),
            (r#"["unsqueeze",[0]]"#, "invalid type: sequence, expected i64"),
            (r#"["slice",[[1]]]"#, "invalid length 1, expected a slice such as [1, 3] or [null, null, -1]"),
            (
                r#"["as_strided",[[2]]]"#,
                "invalid length 1, expected a shape, strides and perhaps an offset, such as [[2, 3], [3, 1], 0]",
            ),
        ] {
            let err = from_str::<Movement>(json).unwrap_err().to_string();
            assert_eq!(err.split(" at line").next(), Some(complaint), "{json}");
        }
        let view = |json| from_str::<View>(json).unwrap_err().to_string();
        let err = view(r#"{"shape":[2],"strides":[1],"mask":[[0,3]]}"#);
        assert!(err.starts_with("view: axis 0 has size 2, so that the mask (0, 3) does not lie inside 0..2"), "{err}");
        assert!(view(r#"{"shape":[2]}"#).starts_with("missing field `strides`"));
        assert!(view(r#"{"shape":[2],"strides":[1],"size":2}"#).starts_with("unknown field `size`"));
        let tracker = |json| from_str::<ShapeTracker>(json).unwrap_err().to_string();
        assert!(tracker(r#"{"views":[]}"#).starts_with("views: a tracker needs at least one view"));
        let err = tracker(r#"{"views":[{"shape":[2],"strides":[1]},{"shape":[3],"strides":[1]}]}"#);
        assert!(err.starts_with("views: the view reads addresses 0 to 2"), "{err}");
    }
}
