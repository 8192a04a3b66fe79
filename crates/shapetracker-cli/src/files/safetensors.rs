//! The format .safetensors: named tensors behind a header of JSON.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use safetensors::tensor::TensorInfo;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::dtype::{Dtype, Kind, Order};
use super::{Tensor, byte_count, check_length, shown};
use crate::answer::Failure;
use crate::input::mistake;

/// Longer headers are refused, as every reader of the format does.
const LONGEST_HEADER: u64 = 100_000_000;

/// The entry of the header that is no tensor.
const METADATA: &str = "__metadata__";

/// What such a file says besides its tensors.
pub(super) struct Safetensors {
    metadata: Option<Map<String, Value>>,
}

/// The entries of an object of JSON, in their order, also where two have the same name.
struct Entries<V>(Vec<(String, V)>);

/// Reads the header of a file, and checks that its tensors are as long as it says and fill the file.
pub(super) fn parse(file: &[u8]) -> Result<(Safetensors, Vec<Tensor>), String> {
    let Some((length, rest)) = file.split_first_chunk() else {
        return Err(format!("the file ends inside its header, after {} bytes", file.len()));
    };
    let length = u64::from_le_bytes(*length);
    if length > LONGEST_HEADER {
        return Err(format!("the header should have {length} bytes, and more than {LONGEST_HEADER} are not allowed"));
    }
    let length = length as usize;
    let Some(header) = rest.get(..length) else {
        return Err(format!("the header should have {length} bytes, but the file ends after {}", rest.len()));
    };
    let (begin, available) = (8 + length, rest.len() - length);
    let header: Entries<&RawValue> =
        serde_json::from_slice(header).map_err(|err| format!("the header cannot be read as JSON: {err}"))?;
    header.check_names("the header")?;
    let mut metadata = None;
    let mut infos = Vec::with_capacity(header.0.len());
    for (name, entry) in header.0 {
        if name == METADATA {
            metadata = read_metadata(entry)?;
        } else {
            let info: TensorInfo =
                serde_json::from_str(entry.get()).map_err(|err| about(&name, &reason(&err, entry)))?;
            infos.push((name, info));
        }
    }
    infos.sort_by_key(|(_, info)| info.data_offsets);
    let mut tensors = Vec::with_capacity(infos.len());
    let mut end = 0;
    for (name, info) in infos {
        let (first, last) = info.data_offsets;
        if last > available {
            let message = format!("its data ends at byte {last}, but the file has only {available} after the header");
            return Err(about(&name, &message));
        }
        if first != end || last < first {
            let message = format!("its data is at bytes {first} to {last}, but the data before it ends at {end}");
            return Err(about(&name, &message));
        }
        end = last;
        let tensor = tensor(&name, &info, begin).map_err(|message| about(&name, &message))?;
        tensors.push(tensor);
    }
    if end != available {
        return Err(format!("the tensors take {end} bytes, but there are {available} after the header"));
    }
    Ok((Safetensors { metadata }, tensors))
}

/// The metadata, which every reader expects to be texts.
fn read_metadata(entry: &RawValue) -> Result<Option<Map<String, Value>>, String> {
    let entries: Option<Entries<String>> = serde_json::from_str(entry.get())
        .map_err(|err| format!("{METADATA} must be an object of strings: {}", reason(&err, entry)))?;
    let Some(entries) = entries else { return Ok(None) };
    entries.check_names(METADATA)?;
    Ok(Some(entries.0.into_iter().map(|(name, text)| (name, Value::String(text))).collect()))
}

/// What is wrong with an entry; its place, counted from the begin of the entry, would be misleading.
fn reason(err: &serde_json::Error, entry: &RawValue) -> String {
    shown(&mistake(err, entry.get()))
}

fn tensor(name: &str, info: &TensorInfo, begin: usize) -> Result<Tensor, String> {
    let shape = info.shape.iter().map(|&size| i64::try_from(size)).collect::<Result<Vec<i64>, _>>();
    let shape = shape.map_err(|_| "a size of its shape is past the range of 64-bit integers")?;
    let (first, last) = info.data_offsets;
    let (dtype, bits) = (info.dtype.to_string(), info.dtype.bitsize());
    let dtype = Dtype::named(&dtype).unwrap_or(Dtype::new(dtype, bits, Kind::Bytes, Order::Little));
    check_length(&shape, &dtype, last - first, false)?;
    let place = begin + first..begin + last;
    Ok(Tensor { name: Some(name.into()), dtype, shape, column_major: false, place })
}

fn about(name: &str, message: &str) -> String {
    format!("tensor `{}`: {message}", shown(name))
}

impl<V> Entries<V> {
    /// Refuses names that are there twice, of which others would take one or the other.
    fn check_names(&self, what: &str) -> Result<(), String> {
        let mut names = HashSet::new();
        match self.0.iter().find(|(name, _)| !names.insert(name)) {
            None => Ok(()),
            Some((name, _)) => Err(format!("{what} has two entries `{}`", shown(name))),
        }
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for All<V> {
            type Value = Entries<V>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(All(PhantomData))
    }
}

impl Safetensors {
    /// The beginning of a file of the tensors under other shapes.
    pub(super) fn header(&self, tensors: &[Tensor], shapes: &[&[i64]]) -> Result<Vec<u8>, Failure> {
        let mut header = Map::new();
        if let Some(metadata) = &self.metadata {
            header.insert(METADATA.into(), Value::Object(metadata.clone()));
        }
        let mut begin = 0u64;
        for (tensor, shape) in tensors.iter().zip(shapes) {
            let bytes = byte_count(shape, tensor.dtype.bits).and_then(|bytes| u64::try_from(bytes).ok());
            let end = bytes.and_then(|bytes| begin.checked_add(bytes)).ok_or_else(super::too_large)?;
            let entry = json!({ "dtype": tensor.dtype.name, "shape": shape, "data_offsets": [begin, end] });
            header.insert(tensor.name.clone().unwrap_or_default(), entry);
            begin = end;
        }
        let mut bytes = Value::Object(header).to_string().into_bytes();
        // The data is aligned to 8 bytes.
        bytes.resize(bytes.len().next_multiple_of(8), b' ');
        if bytes.len() as u64 > LONGEST_HEADER {
            let message =
                format!("the header would have {} bytes, and more than {LONGEST_HEADER} are not allowed", bytes.len());
            return Err(Failure::new("safetensors", message));
        }
        Ok([&(bytes.len() as u64).to_le_bytes()[..], &bytes].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: usize) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![7; data]].concat()
    }

    const TWO: &str = r#"{"b":{"dtype":"F32","shape":[2],"data_offsets":[2,10]},"__metadata__":{"z":"1","a":"2"},"a":{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]}}"#;

    #[test]
    fn a_header_is_read_and_written() {
        let bytes = file(TWO, 10);
        let (format, tensors) = parse(&bytes).unwrap();
        let names = tensors.iter().map(|tensor| tensor.name.as_deref().unwrap());
        assert_eq!(names.collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(tensors[1].place, bytes.len() - 8..bytes.len());
        let header = format.header(&tensors, &[&[2], &[1, 3]]).unwrap();
        let written = [header, vec![0; 14]].concat();
        let (length, metadata) = safetensors::SafeTensors::read_metadata(&written).unwrap();
        assert_eq!(length % 8, 0);
        assert_eq!(metadata.info("b").unwrap().data_offsets, (2, 14));
        assert!(written[8..].starts_with(br#"{"__metadata__":{"z":"1","a":"2"},"a":{"#));
    }

    #[test]
    fn every_type_of_the_format_has_its_width() {
        for name in ["BOOL", "F4", "F6_E2M3", "F8_E4M3", "I16", "F16", "BF16", "C64", "F64", "U64"] {
            let header = format!(r#"{{"x":{{"dtype":"{name}","shape":[8],"data_offsets":[0,LAST]}}}}"#);
            let info: TensorInfo =
                serde_json::from_str(&format!(r#"{{"dtype":"{name}","shape":[8],"data_offsets":[0,0]}}"#)).unwrap();
            let bits = info.dtype.bitsize();
            let (_, tensors) = parse(&file(&header.replace("LAST", &bits.to_string()), bits)).unwrap();
            assert_eq!((tensors[0].dtype.bits, &tensors[0].dtype.name[..]), (bits, name));
        }
    }

    #[test]
    fn faulty_headers_are_explained() {
        let entry = |text: &str, data| parse(&file(&format!("{{\"x\":{text}}}"), data)).map(|_| ()).unwrap_err();
        assert_eq!(
            entry(r#"{"dtype":"F32","shape":[2],"data_offsets":[0,8]}"#, 7),
            "tensor `x`: its data ends at byte 8, but the file has only 7 after the header"
        );
        assert_eq!(
            entry(r#"{"dtype":"F32","shape":[2],"data_offsets":[0,8]}"#, 9),
            "the tensors take 8 bytes, but there are 9 after the header"
        );
        assert_eq!(
            entry(r#"{"dtype":"F32","shape":[2],"data_offsets":[4,12]}"#, 12),
            "tensor `x`: its data is at bytes 4 to 12, but the data before it ends at 0"
        );
        assert_eq!(
            entry(r#"{"dtype":"F32","shape":[3],"data_offsets":[0,8]}"#, 8),
            "tensor `x`: shape (3,) of F32 takes 12 bytes, but there are 8"
        );
        assert!(entry(r#"{"dtype":"F33","shape":[3],"data_offsets":[0,8]}"#, 8).contains("unknown variant `F33`"));
        assert!(
            entry(r#"{"dtype":"F32","shape":[-3],"data_offsets":[0,8]}"#, 8)
                .starts_with("tensor `x`: expected an unsigned 64-bit integer, found -3")
        );
        for number in ["18446744073709551616", "100000000000000000000"] {
            let at = entry(&format!(r#"{{"dtype":"U8","shape":[1],"data_offsets":[0, {number}]}}"#), 1);
            let expected = "tensor `x`: expected an unsigned 64-bit integer, found ";
            assert_eq!(at, format!("{expected}{number}"));
        }
        assert!(
            entry(r#"{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8]}"#, 8)
                .contains("a size of its")
        );
        assert!(
            entry(r#"{"dtype":"F32","shape":[4611686018427387904,4611686018427387904,4611686018427387904],"data_offsets":[0,8]}"#, 8)
                .contains("more bytes than can be counted")
        );
        let twice = r#"{"dtype":"F32","dtype":"U8","shape":[8],"data_offsets":[0,8]}"#;
        assert_eq!(entry(twice, 8), "tensor `x`: duplicate field `dtype`");
        assert!(entry("[", 0).starts_with("the header cannot be read as JSON"));
        let whole = file(TWO, 10);
        for length in 0..whole.len() {
            assert!(parse(&whole[..length]).is_err(), "{length}");
        }
        assert!(parse(&[255; 20]).is_err());
        assert!(parse(&file("{}", 0)).is_ok_and(|(_, tensors)| tensors.is_empty()));
    }
}
