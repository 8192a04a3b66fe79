//! Layouts and answers about them as documents of JSON: the one place that says which fields they have.
//!
//! | from | fields |
//! |---|---|
//! | [`IntTuple`] | no document: a number, or lists of them |
//! | [`Layout`] | `text`, `shape`, `stride`, `size`, `cosize` |
//! | [`Swizzle`] | `text`, `bits`, `base`, `shift` |
//! | [`ComposedLayout`] | `text`, `swizzle`, `offset`, `layout` |
//! | [`LinearLayout`] | `inputs` (a list of `name`, `bases`), `outputs` (a list of `name`, `size`), `text` |
//! | [`RightInverse`] | `layout`, `is_longest` |
//! | [`Census`] | `most`, `warp`, `value`, `counts` (pairs of a cost and how many instructions have it), `total` |
//! | [`Access`] | `text`, `threads`, `values`, `element_bytes`, `vector`, `widest`, `banks`, `sectors` (each a [`Census`]), `swizzled` (a text, or null) |
//! | [`AccessReport`] | `accesses`, `swizzle` (or null), `no_swizzle` (a [`NoSwizzle`], or null), `elements` (`without` and `with` the swizzle; or null) |
//! | [`NoSwizzle`] | `kind` (`no_conflict`, `swizzled`, `negative`, `unremoved` or `undecided`), `sentence`, and the fields of the kind |
//! | [`Mismatch`] | `coordinate`, `expected`, `found` (null where the layout has ended), `sentence` |
//! | [`NoComposition`] | `kind` (`outside`, `length`, `mode`, `interact`, `undecided` or `error`), `sentence`, and the fields of the kind |
//! | [`NoComplement`] | `kind` (`negative`, `overlap`, `empty` or `error`), `sentence`, and the fields of the kind |
//! | [`NoLeftInverse`] | `kind` (`collision`, `negative`, `open` or `error`), `sentence`, and the fields of the kind |
//! | [`NotTiled`] | those of [`NoComposition`] or [`NoComplement`], or `kind` (`error`), `sentence` |
//! | [`NotLinear`] | `kind` (`size`, `negative`, `carry`, `offset` or `error`), `sentence`, and the fields of the kind |
//! | [`NotBijective`] | `kind` (`negative`, `collision` or `gap`), `sentence`, and the fields of the kind |
//! | [`NoLayout`] | `kind` (`masked`, `length`, `not_a_view`, `undecided` or `error`), `sentence`, and the fields of the kind |
//!
//! The fields of a kind are those of the variant, by their names. A number that does not fit `i64` is a text of digits.
//!
//! ```
//! use shapetracker::json::Value;
//! use shapetracker_cute::Layout;
//!
//! let a: Layout = "(6,2):(1,7)".parse()?;
//! let why = a.compose(&"(3,2):(2,3)".parse()?).unwrap_err();
//! let document = Value::from(&why);
//! assert_eq!(document.get("kind"), Some(&Value::from("interact")));
//! assert_eq!(document.get("coordinate"), Some(&[2, 1].into_iter().map(i64::from).collect()));
//! # Ok::<(), shapetracker_cute::ParseError>(())
//! ```

use std::fmt::Display;

use shapetracker::json::Value;

use crate::{
    Access, AccessReport, Census, ComposedLayout, IntTuple, Layout, LinearLayout, Mismatch, NoComplement,
    NoComposition, NoLayout, NoLeftInverse, NoSwizzle, NotBijective, NotLinear, NotTiled, RightInverse, Swizzle,
};

impl From<&IntTuple> for Value {
    fn from(tuple: &IntTuple) -> Value {
        // Tuples that are open, each with what it has so far: a tuple may nest as deep as it likes.
        let (mut open, mut leaves): (Vec<(u32, Vec<Value>)>, _) = (Vec::new(), tuple.leaves().iter());
        for &node in tuple.profile.nodes() {
            let mut done = match node {
                0 => Value::from(leaves.next().copied()),
                1 => Value::List(Vec::new()),
                _ => {
                    open.push((node - 1, Vec::new()));
                    continue;
                }
            };
            loop {
                let Some((left, items)) = open.last_mut() else { return done };
                items.push(done);
                *left -= 1;
                if *left > 0 {
                    break;
                }
                done = Value::List(open.pop().map(|(_, items)| items).unwrap_or_default());
            }
        }
        Value::Null
    }
}

impl From<&Layout> for Value {
    fn from(layout: &Layout) -> Value {
        Value::Null
            .with("text", layout.to_string())
            .with("shape", &layout.shape())
            .with("stride", &layout.stride())
            .with("size", layout.size())
            .with("cosize", layout.cosize())
    }
}

impl From<Swizzle> for Value {
    fn from(swizzle: Swizzle) -> Value {
        Value::Null
            .with("text", swizzle.to_string())
            .with("bits", i64::from(swizzle.bits()))
            .with("base", i64::from(swizzle.base()))
            .with("shift", i64::from(swizzle.shift()))
    }
}

impl From<&ComposedLayout> for Value {
    fn from(composed: &ComposedLayout) -> Value {
        Value::Null
            .with("text", composed.to_string())
            .with("swizzle", composed.swizzle())
            .with("offset", composed.offset())
            .with("layout", composed.layout())
    }
}

impl From<&LinearLayout> for Value {
    fn from(linear: &LinearLayout) -> Value {
        let bases = |bases: &[Vec<i64>]| bases.iter().map(|basis| &basis[..]).collect::<Value>();
        let input = |(name, of): &(String, Vec<Vec<i64>>)| Value::Null.with("name", &name[..]).with("bases", bases(of));
        let output = |(name, size): &(String, i64)| Value::Null.with("name", &name[..]).with("size", *size);
        Value::Null
            .with("inputs", linear.inputs().iter().map(input).collect::<Value>())
            .with("outputs", linear.outputs().iter().map(output).collect::<Value>())
            .with("text", linear.to_string())
    }
}

impl From<&RightInverse> for Value {
    fn from(inverse: &RightInverse) -> Value {
        Value::Null.with("layout", &inverse.layout).with("is_longest", inverse.is_longest)
    }
}

impl From<&Census> for Value {
    fn from(census: &Census) -> Value {
        Value::Null
            .with("most", census.most)
            .with("warp", census.warp)
            .with("value", census.value)
            .with("counts", census.counts.iter().copied().collect::<Value>())
            .with("total", census.total())
    }
}

impl From<&Access> for Value {
    fn from(access: &Access) -> Value {
        let pattern = &access.pattern;
        Value::Null
            .with("text", pattern.addresses().to_string())
            .with("threads", pattern.threads())
            .with("values", pattern.values())
            .with("element_bytes", pattern.element_bytes())
            .with("vector", pattern.vector())
            .with("widest", access.widest)
            .with("banks", &access.banks)
            .with("sectors", &access.sectors)
            .with("swizzled", access.swizzled.as_ref().map(ComposedLayout::to_string))
    }
}

impl From<&AccessReport> for Value {
    fn from(report: &AccessReport) -> Value {
        Value::Null
            .with("accesses", report.accesses.iter().collect::<Value>())
            .with("swizzle", report.swizzle.ok())
            .with("no_swizzle", report.swizzle.err().as_ref().map(Value::from))
            .with(
                "elements",
                report.elements.map(|[without, with]| Value::Null.with("without", without).with("with", with)),
            )
    }
}

impl From<&NoSwizzle> for Value {
    fn from(why: &NoSwizzle) -> Value {
        match why {
            NoSwizzle::NoConflict => reason("no_conflict", why),
            NoSwizzle::Swizzled { access } => reason("swizzled", why).with("access", *access),
            NoSwizzle::Negative { access, address } => {
                reason("negative", why).with("access", *access).with("address", *address)
            }
            NoSwizzle::Unremoved => reason("unremoved", why),
            NoSwizzle::Undecided => reason("undecided", why),
        }
    }
}

impl From<&Mismatch> for Value {
    fn from(mismatch: &Mismatch) -> Value {
        Value::Null
            .with("coordinate", mismatch.coordinate)
            .with("expected", mismatch.expected)
            .with("found", mismatch.found)
            .with("sentence", mismatch.to_string())
    }
}

/// The beginning of a document about why not.
fn reason(kind: &str, why: &impl Display) -> Value {
    Value::Null.with("kind", kind).with("sentence", why.to_string())
}

/// The fields of a mode that would have to have a size that does not divide what there is.
fn length(document: Value, [unit, run, left]: [i64; 3]) -> Value {
    document.with("unit", unit).with("run", run).with("left", left)
}

impl From<&NoComposition> for Value {
    fn from(why: &NoComposition) -> Value {
        match why {
            NoComposition::Outside { coordinate, value, size } => {
                reason("outside", why).with("coordinate", *coordinate).with("value", *value).with("size", *size)
            }
            NoComposition::Length { leaf, unit, run, left, coordinate, value, expected } => {
                length(reason("length", why).with("leaf", *leaf), [*unit, *run, *left])
                    .with("coordinate", coordinate)
                    .with("value", *value)
                    .with("expected", *expected)
            }
            NoComposition::Mode { leaf, runs, number, value, sum } => reason("mode", why)
                .with("leaf", *leaf)
                .with("runs", &runs[..])
                .with("number", *number)
                .with("value", *value)
                .with("sum", *sum),
            NoComposition::Interact { coordinate, value, sum } => {
                reason("interact", why).with("coordinate", coordinate).with("value", *value).with("sum", *sum)
            }
            NoComposition::Undecided => reason("undecided", why),
            NoComposition::Error(_) => reason("error", why),
        }
    }
}

impl From<&NoComplement> for Value {
    fn from(why: &NoComplement) -> Value {
        match why {
            NoComplement::Negative { stride } => reason("negative", why).with("stride", *stride),
            NoComplement::Overlap { block, stride } => {
                reason("overlap", why).with("block", *block).with("stride", *stride)
            }
            NoComplement::Empty => reason("empty", why),
            NoComplement::Error(_) => reason("error", why),
        }
    }
}

impl From<&NoLeftInverse> for Value {
    fn from(why: &NoLeftInverse) -> Value {
        match why {
            NoLeftInverse::Collision { coordinates, value } => {
                reason("collision", why).with("coordinates", &coordinates[..]).with("value", *value)
            }
            NoLeftInverse::Negative { coordinate, value } => {
                reason("negative", why).with("coordinate", *coordinate).with("value", *value)
            }
            NoLeftInverse::Open => reason("open", why),
            NoLeftInverse::Error(_) => reason("error", why),
        }
    }
}

impl From<&NotTiled> for Value {
    fn from(why: &NotTiled) -> Value {
        match why {
            NotTiled::Complement(why) => why.into(),
            NotTiled::Composition(why) => why.into(),
            NotTiled::Error(_) => reason("error", why),
        }
    }
}

impl From<&NotLinear> for Value {
    fn from(why: &NotLinear) -> Value {
        match why {
            NotLinear::Size { leaf, size } => reason("size", why).with("leaf", *leaf).with("size", *size),
            NotLinear::Negative { coordinate, value } => {
                reason("negative", why).with("coordinate", *coordinate).with("value", *value)
            }
            NotLinear::Carry { coordinates, value, xor } => {
                reason("carry", why).with("coordinates", &coordinates[..]).with("value", *value).with("xor", *xor)
            }
            NotLinear::Offset { value } => reason("offset", why).with("value", *value),
            NotLinear::Error(_) => reason("error", why),
        }
    }
}

impl From<&NotBijective> for Value {
    fn from(why: &NotBijective) -> Value {
        match why {
            NotBijective::Negative { coordinate, value } => {
                reason("negative", why).with("coordinate", *coordinate).with("value", *value)
            }
            NotBijective::Collision { coordinates, value } => {
                reason("collision", why).with("coordinates", &coordinates[..]).with("value", *value)
            }
            NotBijective::Gap { value } => reason("gap", why).with("value", *value),
        }
    }
}

impl From<&NoLayout> for Value {
    fn from(why: &NoLayout) -> Value {
        match why {
            NoLayout::Masked { index } => reason("masked", why).with("index", &index[..]),
            NoLayout::Length { axis, unit, run, left, index, address, expected } => {
                length(reason("length", why).with("axis", *axis), [*unit, *run, *left])
                    .with("index", &index[..])
                    .with("address", *address)
                    .with("expected", *expected)
            }
            NoLayout::NotAView { shape, why: cause } => {
                reason("not_a_view", why).with("shape", &shape[..]).with("why", cause)
            }
            NoLayout::Undecided => reason("undecided", why),
            NoLayout::Error(_) => reason("error", why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_nest_as_they_print() {
        for text in ["7", "()", "(1,2)", "((2,2),4)", "((),(3,((4)),5),())"] {
            let tuple: IntTuple = text.parse().unwrap();
            let printed = in_parentheses(&Value::from(&tuple));
            assert_eq!(printed, tuple.to_string(), "{text}");
        }
    }

    /// A document of numbers and lists in parentheses.
    fn in_parentheses(value: &Value) -> String {
        match value {
            Value::List(items) => format!("({})", items.iter().map(in_parentheses).collect::<Vec<_>>().join(",")),
            number => number.as_integer().unwrap().to_string(),
        }
    }

    #[test]
    fn every_reason_has_its_evidence() {
        let layout = |text: &str| text.parse::<Layout>().unwrap();
        let composed = |a: &str, b: &str| Value::from(&layout(a).compose_strict(&layout(b)).unwrap_err()).to_string();
        let shown = [
            composed("4:1", "8:1"),
            composed("(4,6,8):(2,3,5)", "6:3"),
            composed("(6,2):(1,7)", "(3,2):(2,3)"),
            Value::from(&layout("(2,3):(1,3)").complement(24).unwrap_err()).to_string(),
            Value::from(&layout("(2,2):(1,0)").left_inverse().unwrap_err()).to_string(),
            Value::from(&layout("4:3").to_linear(&["lane"], "offset").unwrap_err()).to_string(),
            Value::from(&layout("(4,3):(1,5)").bijective().unwrap_err()).to_string(),
        ];
        let evidence = shown.map(|document| {
            let (kind, rest) = document.split_once("\",\"sentence\":\"").unwrap();
            let (sentence, fields) = rest.split_once("\",").unwrap();
            assert!(sentence.len() > 20, "{document}");
            format!("{} {}", kind.trim_start_matches("{\"kind\":\""), fields.trim_end_matches('}'))
        });
        assert_eq!(
            evidence,
            [
                r#"outside "coordinate":7,"value":7,"size":4"#,
                r#"length "leaf":0,"unit":2,"run":2,"left":3,"coordinate":4,"value":9,"expected":14"#,
                r#"interact "coordinate":[2,1],"value":8,"sum":7"#,
                r#"overlap "block":2,"stride":3"#,
                r#"collision "coordinates":[0,2],"value":0"#,
                r#"carry "coordinates":[1,2],"value":9,"xor":5"#,
                r#"gap "value":4"#,
            ]
        );
    }
}
