//! Types of elements of which the crate `zarrs` knows nothing, though zarr-python has them: texts and bytes of one length,
//! structures, and the dates of version 2. To move them it is enough how many bytes they have.
//!
//! An array of such a type is opened and written under a stand-in, the raw bits of `zarrs`; its metadata keep the type.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::document::brief;

/// The document under which `zarrs` opens an array: the same, or one of raw bits.
pub(super) fn stand_in(document: &Value) -> Result<Value, String> {
    let Some(width) = own_width(&document["data_type"])? else { return Ok(document.clone()) };
    let fill = fill_bytes(document, width)?;
    let mut made = document.clone();
    made["data_type"] = json!(format!("r{}", 8 * width));
    made["fill_value"] = json!(fill);
    order_bytes(&mut made["codecs"]);
    Ok(made)
}

/// Gives the codec of bytes an order where it has none, in shards too: `zarrs` demands one of raw bits, and does not use it.
fn order_bytes(codecs: &mut Value) {
    for codec in codecs.as_array_mut().into_iter().flatten() {
        // A codec may be its name alone.
        match codec.as_str().or_else(|| codec["name"].as_str()) {
            Some("bytes") if codec["configuration"]["endian"].is_null() => {
                *codec = json!({ "name": "bytes", "configuration": { "endian": "little" } });
            }
            Some("sharding_indexed") => order_bytes(&mut codec["configuration"]["codecs"]),
            _ => {}
        }
    }
}

/// The name of a type in a document of version 3.
pub(super) fn name_of(data_type: &Value) -> &str {
    data_type.as_str().or_else(|| data_type["name"].as_str()).unwrap_or_default()
}

/// How many bytes an element has of a type that is moved under a stand-in; None for other types.
fn own_width(data_type: &Value) -> Result<Option<usize>, String> {
    let name = name_of(data_type);
    let configuration = &data_type["configuration"];
    let width = match name {
        "fixed_length_utf32" | "null_terminated_bytes" | "raw_bytes" => configuration["length_bytes"].as_u64(),
        "structured" => {
            let fields = configuration["fields"].as_array().ok_or("the type structured has no list of `fields`")?;
            let mut sum = Some(0u64);
            for field in fields {
                let width = field_width(&field[1])?;
                sum = sum.and_then(|sum| sum.checked_add(width as u64));
            }
            sum
        }
        _ => return Ok(None),
    };
    // As many as `zarrs` can count in bits.
    let counted = width.and_then(|width| usize::try_from(width).ok()).filter(|&width| width < 1 << 40);
    match counted {
        Some(0) => Err(format!("elements of type {name} have no bytes here, and cannot be moved")),
        Some(width) => Ok(Some(width)),
        None => Err(format!("the type {name} does not say how many bytes its elements have: {}", brief(data_type))),
    }
}

/// How many bytes a field of a structure has.
fn field_width(data_type: &Value) -> Result<usize, String> {
    if let Some(width) = own_width(data_type)? {
        return Ok(width);
    }
    let name = name_of(data_type);
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    let bits = match &name[..name.len() - digits.len()] {
        "bool" => Some(8),
        "int" | "uint" | "float" | "complex" | "bfloat" => digits.parse::<usize>().ok(),
        "numpy.datetime" | "numpy.timedelta" => Some(64),
        _ => None,
    };
    match bits {
        Some(bits @ (8 | 16 | 32 | 64 | 128)) => Ok(bits / 8),
        _ => Err(format!("a field of a structure has the type {}, which this command does not read", brief(data_type))),
    }
}

/// The bytes of the fill value of a document, as they are stored.
fn fill_bytes(document: &Value, width: usize) -> Result<Vec<u8>, String> {
    let (name, fill) = (name_of(&document["data_type"]), &document["fill_value"]);
    let wrong = || format!("the fill value {} is none of type {name}", brief(fill));
    let mut bytes = match fill {
        Value::Null => Vec::new(),
        Value::Number(number) if number.as_i64() == Some(0) => Vec::new(),
        Value::String(text) if name == "fixed_length_utf32" => {
            let bytes_of = match endian(&document["codecs"]) {
                Some("big") => u32::to_be_bytes,
                _ => u32::to_le_bytes,
            };
            text.chars().flat_map(|c| bytes_of(u32::from(c))).collect()
        }
        Value::String(text) => STANDARD.decode(text).map_err(|_| wrong())?,
        _ => return Err(wrong()),
    };
    if bytes.len() > width {
        return Err(wrong());
    }
    bytes.resize(width, 0);
    Ok(bytes)
}

/// The byte order that the codecs say, in shards those within.
fn endian(codecs: &Value) -> Option<&str> {
    codecs.as_array()?.iter().find_map(|codec| match codec["name"].as_str()? {
        "bytes" => codec["configuration"]["endian"].as_str(),
        "sharding_indexed" => endian(&codec["configuration"]["codecs"]),
        _ => None,
    })
}

/// A type of version 2 as one of version 3.
pub(super) struct FromV2 {
    /// The type in a document of version 3; `None` where `zarrs` says it.
    data_type: Option<Value>,
    /// A type of version 2 for which `zarrs` makes the same codecs.
    pub(super) known: String,
    /// The byte order of elements that have one.
    endian: Option<&'static str>,
    width: usize,
}

impl FromV2 {
    /// The type that a `dtype` names, or lists the fields of.
    pub(super) fn new(dtype: &Value) -> Result<FromV2, String> {
        let Some(fields) = dtype.as_array() else {
            let text = dtype.as_str().unwrap_or_default();
            let found = Simple::new(text)?;
            let order = if found.endian == Some("big") { '>' } else { '<' };
            return Ok(match found.kind {
                'M' | 'm' => FromV2 {
                    data_type: Some(found.data_type),
                    known: format!("{order}i8"),
                    endian: found.endian,
                    width: 8,
                },
                'S' | 'U' | 'V' => FromV2 {
                    data_type: Some(found.data_type),
                    known: "|u1".into(),
                    endian: found.endian,
                    width: found.width,
                },
                _ => FromV2 { data_type: None, known: text.into(), endian: found.endian, width: found.width },
            });
        };
        let (mut listed, mut sum) = (Vec::new(), 0usize);
        for field in fields {
            let (Some(name), Some(text), None) = (field[0].as_str(), field[1].as_str(), field.get(2)) else {
                return Err(format!(
                    "the field {} of a structure is not read by this command: each is to be a name and a type such as \
                     \"<f4\"",
                    brief(field)
                ));
            };
            let found = Simple::new(text)?;
            if found.endian == Some("big") {
                return Err(format!(
                    "the field {name:?} has big-endian elements ({text}), for which structures of version 3, which this \
                     command writes, have no name"
                ));
            }
            sum = sum.checked_add(found.width).ok_or("the structure has more bytes than can be counted")?;
            listed.push(json!([name, found.data_type]));
        }
        let data_type = json!({ "name": "structured", "configuration": { "fields": listed } });
        Ok(FromV2 { data_type: Some(data_type), known: "|u1".into(), endian: None, width: sum })
    }

    /// Puts the type and its fill value into a document that `zarrs` has made for the known type.
    pub(super) fn put(&self, document: &mut Value, fill: &Value) {
        let Some(data_type) = &self.data_type else { return };
        let in_bytes = own_width(data_type).is_ok_and(|width| width.is_some());
        document["data_type"] = data_type.clone();
        document["fill_value"] = match (fill, name_of(data_type)) {
            (Value::Null, "fixed_length_utf32" | "null_terminated_bytes") => json!(""),
            (Value::Null, _) if in_bytes => json!(STANDARD.encode(vec![0; self.width])),
            (Value::Null, _) => json!(0),
            _ => fill.clone(),
        };
        for codec in document["codecs"].as_array_mut().into_iter().flatten() {
            match codec["name"].as_str() {
                Some("bytes") if in_bytes => {
                    *codec = match self.endian {
                        Some(endian) => json!({ "name": "bytes", "configuration": { "endian": endian } }),
                        None => json!({ "name": "bytes" }),
                    };
                }
                // Of the type that stands for it blosc was told another width.
                Some("blosc") if in_bytes && self.width < 256 && codec["configuration"]["typesize"] == 1 => {
                    codec["configuration"]["typesize"] = json!(self.width);
                }
                _ => {}
            }
        }
    }
}

/// A type of NumPy's as text: `<f4`, `|S5`, `<M8[10ms]`.
struct Simple {
    kind: char,
    width: usize,
    endian: Option<&'static str>,
    /// The same in version 3.
    data_type: Value,
}

impl Simple {
    fn new(text: &str) -> Result<Simple, String> {
        let none = || format!("the dtype {} is no type of NumPy: one is written as in \"<f4\"", brief(&json!(text)));
        let mut letters = text.chars();
        let order = letters.next().filter(|order| "<>|=".contains(*order)).ok_or_else(none)?;
        let kind = letters.next().ok_or_else(none)?;
        let rest = letters.as_str();
        if kind == 'O' {
            return Err(format!(
                "elements of type {text} are objects of Python, which differ in length, and cannot be moved"
            ));
        }
        let digits = &rest[..rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
        let (count, unit) = (digits.parse::<usize>().map_err(|_| none())?, &rest[digits.len()..]);
        let length = |each: usize| count.checked_mul(each).filter(|&length| length < 1 << 31).ok_or_else(none);
        let named = |name: &str, bytes: usize| json!({ "name": name, "configuration": { "length_bytes": bytes } });
        let is_time = matches!(kind, 'M' | 'm');
        if !is_time && !unit.is_empty() {
            return Err(none());
        }
        let (width, data_type) = match (kind, count) {
            ('b', 1) => (1, json!("bool")),
            ('i', 1 | 2 | 4 | 8) => (count, json!(format!("int{}", 8 * count))),
            ('u', 1 | 2 | 4 | 8) => (count, json!(format!("uint{}", 8 * count))),
            ('f', 2 | 4 | 8) => (count, json!(format!("float{}", 8 * count))),
            ('c', 8 | 16) => (count, json!(format!("complex{}", 8 * count))),
            ('S', _) => (length(1)?, named("null_terminated_bytes", count)),
            ('U', _) => (length(4)?, named("fixed_length_utf32", length(4)?)),
            ('V', _) => (length(1)?, named("raw_bytes", count)),
            ('M' | 'm', 8) => {
                let name = if kind == 'M' { "numpy.datetime64" } else { "numpy.timedelta64" };
                let inside = unit.strip_prefix('[').and_then(|unit| unit.strip_suffix(']'));
                let inside = if unit.is_empty() { "generic" } else { inside.ok_or_else(none)? };
                let unit = inside.trim_start_matches(|c: char| c.is_ascii_digit());
                let scale = &inside[..inside.len() - unit.len()];
                let scale: u32 = if scale.is_empty() { 1 } else { scale.parse().map_err(|_| none())? };
                (8, json!({ "name": name, "configuration": { "unit": unit, "scale_factor": scale } }))
            }
            ('i' | 'u' | 'f' | 'c', _) => return Err(format!("elements of type {text} are not supported")),
            _ => return Err(none()),
        };
        if width == 0 {
            return Err(format!("elements of type {text} have no bytes, and cannot be moved"));
        }
        // One byte has no order, and neither have bytes that are no number.
        let ordered = !matches!((kind, count), ('b' | 'S' | 'V', _) | ('i' | 'u', 1));
        let endian = match order {
            '>' => "big",
            '<' => "little",
            _ if cfg!(target_endian = "big") => "big",
            _ => "little",
        };
        Ok(Simple { kind, width, endian: ordered.then_some(endian), data_type })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_version_2_have_names_in_version_3() {
        for (dtype, data_type, known) in [
            (json!("<U3"), json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}), "|u1"),
            (json!("|S5"), json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}}), "|u1"),
            (json!("|V4"), json!({"name": "raw_bytes", "configuration": {"length_bytes": 4}}), "|u1"),
            (
                json!(">M8[10ms]"),
                json!({"name": "numpy.datetime64", "configuration": {"unit": "ms", "scale_factor": 10}}),
                ">i8",
            ),
            (
                json!([["a", "<i4"], ["b", "<U2"]]),
                json!({"name": "structured", "configuration": {"fields": [
                    ["a", "int32"],
                    ["b", {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}],
                ]}}),
                "|u1",
            ),
        ] {
            let found = FromV2::new(&dtype).unwrap();
            assert_eq!((found.data_type, &found.known[..]), (Some(data_type), known), "{dtype}");
        }
        for (dtype, message) in [
            (json!("|O"), "are objects of Python, which differ in length"),
            (json!("<f16"), "elements of type <f16 are not supported"),
            (json!("|S0"), "have no bytes"),
            (json!("float"), "is no type of NumPy"),
            (json!(""), "is no type of NumPy"),
            (json!("<U99999999999999999999"), "is no type of NumPy"),
            (json!([["a", ">i4"]]), "the field \"a\" has big-endian elements (>i4)"),
            (json!([["a", "<i4", [2]]]), "the field [\"a\",\"<i4\",[2]] of a structure is not read"),
            (json!([5]), "the field 5 of a structure is not read"),
        ] {
            let said = FromV2::new(&dtype).err().unwrap();
            assert!(said.contains(message), "{dtype}: {said}");
        }
    }

    #[test]
    fn fill_values_are_as_elements_are_stored() {
        let document = |data_type: Value, fill: Value, endian: &str| {
            let codecs = json!([{"name": "bytes", "configuration": {"endian": endian}}]);
            json!({"data_type": data_type, "fill_value": fill, "codecs": codecs})
        };
        let text = json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}});
        let made = stand_in(&document(text.clone(), json!("a"), "big")).unwrap();
        assert_eq!((&made["data_type"], &made["fill_value"]), (&json!("r64"), &json!([0, 0, 0, 97, 0, 0, 0, 0])));
        let made = stand_in(&document(text.clone(), json!("a"), "little")).unwrap();
        assert_eq!(made["fill_value"], json!([97, 0, 0, 0, 0, 0, 0, 0]));
        assert!(stand_in(&document(text, json!("abc"), "little")).unwrap_err().contains("\"abc\" is none of type"));
        let bytes = json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 3}});
        let mut without = document(bytes, json!("YWI="), "little");
        without["codecs"] = json!([{"name": "sharding_indexed", "configuration": {"codecs": [{"name": "bytes"}]}}]);
        let made = stand_in(&without).unwrap();
        assert_eq!(made["fill_value"], json!([97, 98, 0]));
        assert_eq!(made["codecs"][0]["configuration"]["codecs"][0]["configuration"]["endian"], "little");
    }
}
