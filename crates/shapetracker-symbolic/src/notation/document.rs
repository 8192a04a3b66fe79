//! Shapes, views and operations as documents of JSON, with polynomials as texts in the place of numbers.

use shapetracker::json::Value;
use shapetracker::{Dims, MovementKind, Role, Takes};

use super::Question;
use crate::operation::{Movement, Slice};
use crate::poly::Poly;
use crate::view::View;

/// A sentence about what is wrong, with the place in front.
type Read<T> = Result<T, String>;

impl Question {
    /// Reads a shape: a list of whole numbers and texts.
    ///
    /// ```
    /// use shapetracker::json::Value;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let shape = Value::List(vec![Value::Int(2), "3*T".into()]);
    /// assert_eq!(question.shape_of(&shape).unwrap().len(), 2);
    /// ```
    ///
    /// # Errors
    /// A sentence that says which entry cannot be read, and why.
    pub fn shape_of(&mut self, value: &Value) -> Result<Vec<Poly>, String> {
        self.polys(value, Role::Other)
    }

    /// Reads a view: an object with `shape`, `strides`, and perhaps `offset` and `mask`.
    ///
    /// ```
    /// use shapetracker::json::Value;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let view = Value::Null.with("shape", vec!["H", "T"]).with("strides", vec![Value::Int(1), "H".into()]);
    /// let view = question.view_of(&view).unwrap();
    /// assert_eq!(view.text(&question.scope()?), "(H, T):(1, H)");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// A sentence that says what cannot be read, and why.
    pub fn view_of(&mut self, value: &Value) -> Result<View, String> {
        let Value::Object(fields) = value else {
            return Err(expected("a view, an object with a shape and strides", value));
        };
        const FIELDS: [&str; 5] = ["shape", "strides", "offset", "mask", "contiguous"];
        if let Some((name, _)) = fields.iter().find(|(name, _)| !FIELDS.contains(&&name[..])) {
            return Err(format!("unknown field `{name}`, expected one of `{}`", FIELDS.join("`, `")));
        }
        let list = |question: &mut Question, field: &str, role| {
            let value = value.get(field).ok_or_else(|| format!("missing field `{field}`"))?;
            question.polys(value, role).map_err(|err| in_field(field, &err))
        };
        let shape = list(self, "shape", Role::Other)?;
        let strides = list(self, "strides", Role::Stride)?;
        let offset = match value.get("offset") {
            None => Poly::zero(),
            Some(offset) => self.poly(offset, Role::Other).map_err(|err| in_field("offset", &err))?,
        };
        let mask = match value.get("mask") {
            None | Some(Value::Null) => None,
            Some(mask) => Some(self.pairs(mask).map_err(|err| in_field("mask", &err))?),
        };
        Ok(View { shape, strides, offset, mask })
    }

    /// Reads an operation: a list of its name and what it takes, as `["reshape", ["B*T", 64]]`.
    ///
    /// ```
    /// use shapetracker::json::Value;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let op = Value::List(vec!["pad".into(), Value::List(vec![Value::List(vec!["p".into(), Value::Int(0)])])]);
    /// let op = question.movement_of(&op).unwrap();
    /// assert_eq!(question.scope()?.movement(&op), "pad((p, 0))");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// A sentence that says what cannot be read, and why.
    pub fn movement_of(&mut self, value: &Value) -> Result<Movement, String> {
        const WHAT: &str = "an operation and its argument, such as [\"permute\", [1, 0]]";
        let [Value::Text(name), argument] = items(value, WHAT)? else { return Err(expected(WHAT, value)) };
        let kind = MovementKind::named(name).ok_or_else(|| MovementKind::unknown(name))?;
        self.argument_of(kind, argument).map_err(|err| in_field(name, &err))
    }

    fn argument_of(&mut self, kind: MovementKind, argument: &Value) -> Read<Movement> {
        Ok(match kind.takes() {
            Takes::Sizes(make) => make(self.polys(argument, Role::Other)?),
            Takes::Integers(_, make) => make(integers(argument)?),
            Takes::TwoAxes(make) => match integers(argument)?[..] {
                [a, b] => make(a, b),
                _ => return Err(expected("a pair of axes", argument)),
            },
            Takes::Axis(make) => make(integer(argument)?),
            Takes::AxesOrAll(_, all) if *argument == Value::Null => all,
            Takes::AxesOrAll(make, _) => make(integers(argument)?),
            Takes::Pads(make) | Takes::Ranges(make) => make(self.pairs(argument)?),
            Takes::AxesOrBooleans(axes, booleans) => {
                match items(argument, "a list of booleans, one per axis, or a list of axes")? {
                    each @ [Value::Bool(_), ..] => {
                        let each = each.iter().map(|item| match item {
                            Value::Bool(reversed) => Ok(*reversed),
                            other => Err(expected("a boolean", other)),
                        });
                        booleans(each.collect::<Read<_>>()?)
                    }
                    _ => axes(integers(argument)?),
                }
            }
            Takes::Slices(make) => {
                let slices = items(argument, "a list of slices, one per axis")?.iter();
                make(slices.map(|slice| self.slice_of(slice)).collect::<Read<_>>()?)
            }
            Takes::Strided(make) => {
                const WHAT: &str = "a shape, strides and perhaps an offset, such as [[2, 3], [3, 1], 0]";
                let (shape, strides, offset) = match items(argument, WHAT)? {
                    [shape, strides] => (shape, strides, None),
                    [shape, strides, offset] => (shape, strides, Some(offset)),
                    _ => return Err(expected(WHAT, argument)),
                };
                let (shape, strides) = (self.polys(shape, Role::Other)?, self.polys(strides, Role::Stride)?);
                let offset = offset.map_or_else(|| Ok(Poly::zero()), |offset| self.poly(offset, Role::Other))?;
                make(shape, strides, offset)
            }
            Takes::Nothing(op) if *argument == Value::Null => op,
            _ => return Err(expected("null, as the operation takes nothing", argument)),
        })
    }

    fn slice_of(&mut self, value: &Value) -> Read<Slice> {
        const WHAT: &str = "a slice such as [1, 3] or [null, null, -1]";
        let mut bound = |value: &Value| match value {
            Value::Null => Ok(None),
            value => self.poly(value, Role::Other).map(Some),
        };
        match items(value, WHAT)? {
            [begin, end] | [begin, end, Value::Null] => Ok((bound(begin)?, bound(end)?, 1)),
            [begin, end, step] => Ok((bound(begin)?, bound(end)?, integer(step)?)),
            _ => Err(expected(WHAT, value)),
        }
    }

    fn pairs(&mut self, value: &Value) -> Read<Vec<(Poly, Poly)>> {
        let pair = |(place, item): (usize, &Value)| match items(item, "a pair of numbers")? {
            [first, second] => {
                let mut number = |value| self.poly(value, Role::Other).map_err(|err| at_place(place, &err));
                Ok((number(first)?, number(second)?))
            }
            _ => Err(at_place(place, &expected("a pair of numbers", item))),
        };
        items(value, "a list of pairs, one per axis")?.iter().enumerate().map(pair).collect()
    }

    fn polys(&mut self, value: &Value, role: Role) -> Read<Vec<Poly>> {
        let items = items(value, "a list of numbers and texts")?.iter().enumerate();
        items.map(|(place, item)| self.poly(item, role).map_err(|err| at_place(place, &err))).collect()
    }

    fn poly(&mut self, value: &Value, role: Role) -> Read<Poly> {
        match value {
            Value::Int(number) => Ok(Poly::from(*number)),
            Value::Text(text) => {
                let poly = if role == Role::Stride { self.stride(text) } else { self.number(text) };
                poly.map_err(|err| format!("{}, in {}", err.message(), shapetracker_base::text::quoted(text)))
            }
            other => Err(expected("a whole number, or a text such as \"3*T\"", other)),
        }
    }
}

fn items<'a>(value: &'a Value, what: &str) -> Read<&'a [Value]> {
    match value {
        Value::List(items) => Ok(items),
        other => Err(expected(what, other)),
    }
}

fn integer(value: &Value) -> Read<i64> {
    match value {
        Value::Int(number) => Ok(*number),
        other => Err(expected("a signed 64-bit integer", other)),
    }
}

fn integers(value: &Value) -> Read<Dims> {
    let items = items(value, "a list of whole numbers")?.iter().enumerate();
    items.map(|(place, item)| integer(item).map_err(|err| at_place(place, &err))).collect()
}

fn expected(what: &str, found: &Value) -> String {
    let found = match found {
        Value::List(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        Value::Text(text) => format!("the text {}", shapetracker_base::text::quoted(text)),
        other => other.to_string(),
    };
    format!("expected {what}, found {found}")
}

/// What is wrong with an entry of a list.
fn at_place(place: usize, err: &str) -> String {
    in_field(&format!("[{place}]"), err)
}

/// What is wrong with a field, or with an entry of it.
fn in_field(field: &str, err: &str) -> String {
    let between = if err.starts_with('[') { "" } else { ": " };
    format!("{field}{between}{err}")
}
