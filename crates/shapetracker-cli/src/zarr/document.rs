//! The metadata of an array as JSON: whether they are what Zarr describes, said in its words.

use serde_json::Value;

use crate::files::shown;

/// The JSON object in a file of metadata.
pub(super) fn parsed(name: &str, text: &[u8]) -> Result<Value, String> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(format!("{name} is empty"));
    }
    match serde_json::from_slice(text) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(other) => Err(format!("{name} is JSON, but {} is no object, and describes no array", brief(&other))),
        Err(err) => Err(format!("{name} is not JSON: {err}")),
    }
}

/// Complains about a zarr.json that does not describe an array.
pub(super) fn check_v3(document: &Value) -> Result<(), String> {
    let check = |key: &str, what: &str, is: &dyn Fn(&Value) -> bool| demanded("zarr.json", document, key, what, is);
    check("zarr_format", "3", &|value| value == 3)?;
    check("shape", SHAPE, &is_shape)?;
    check("data_type", NAMED, &is_named)?;
    check("chunk_grid", NAMED, &is_named)?;
    if document["chunk_grid"]["name"] == "regular" {
        let chunks = &document["chunk_grid"]["configuration"]["chunk_shape"];
        check_chunks("zarr.json", "chunk_shape", chunks, &document["shape"])?;
    }
    check("chunk_key_encoding", NAMED, &is_named)?;
    check("fill_value", "a value of the type of the array", &|_| true)?;
    let codecs = "a list of codecs, each of them a name or an object with a name";
    check("codecs", codecs, &|value| value.as_array().is_some_and(|list| list.iter().all(is_named)))
}

/// Complains about a .zarray that does not describe an array.
pub(super) fn check_v2(document: &Value) -> Result<(), String> {
    let check = |key: &str, what: &str, is: &dyn Fn(&Value) -> bool| demanded(".zarray", document, key, what, is);
    let has_id = |value: &Value| value["id"].is_string();
    check("zarr_format", "2", &|value| value == 2)?;
    check("shape", SHAPE, &is_shape)?;
    check_chunks(".zarray", "chunks", &document["chunks"], &document["shape"])?;
    let dtype = "a type of NumPy such as \"<f4\", or a list of fields";
    check("dtype", dtype, &|value| value.is_string() || value.is_array())?;
    check("fill_value", "a value of the type of the array, or null", &|_| true)?;
    check("order", "\"C\" or \"F\"", &|value| value == "C" || value == "F")?;
    check("compressor", "null or an object with an id", &|value| value.is_null() || has_id(value))?;
    if !document["filters"].is_null() {
        let filters = "null or a list of objects, each with an id";
        check("filters", filters, &|value| value.as_array().is_some_and(|list| list.iter().all(has_id)))?;
    }
    if document.get("dimension_separator").is_some() {
        check("dimension_separator", "\".\" or \"/\"", &|value| value == "." || value == "/")?;
    }
    Ok(())
}

const SHAPE: &str = "a list of whole numbers from 0 on";
const NAMED: &str = "a name or an object with a name";

fn is_shape(value: &Value) -> bool {
    value.as_array().is_some_and(|sizes| sizes.iter().all(Value::is_u64))
}

fn is_named(value: &Value) -> bool {
    value.is_string() || value["name"].is_string()
}

/// Complains about chunks that do not cut an array of a shape.
fn check_chunks(file: &str, key: &str, chunks: &Value, shape: &Value) -> Result<(), String> {
    let rank = shape.as_array().map_or(0, Vec::len);
    let fits =
        |sizes: &Vec<Value>| sizes.len() == rank && sizes.iter().all(|size| size.as_u64().is_some_and(|n| n > 0));
    if chunks.as_array().is_some_and(fits) {
        return Ok(());
    }
    let what = format!("one whole number from 1 on for each axis of shape {}", brief(shape));
    if chunks.is_null() {
        return Err(format!("{file} has no `{key}`, which is to be {what}"));
    }
    Err(format!("`{key}` in {file} is {}, and is to be {what}", brief(chunks)))
}

/// Complains about a key that is not there, or whose value is of another kind.
fn demanded(file: &str, document: &Value, key: &str, what: &str, is: &dyn Fn(&Value) -> bool) -> Result<(), String> {
    match document.get(key) {
        None => Err(format!("{file} has no `{key}`, which is to be {what}")),
        Some(value) if !is(value) => Err(format!("`{key}` in {file} is {}, and is to be {what}", brief(value))),
        Some(_) => Ok(()),
    }
}

/// JSON for a sentence.
pub(super) fn brief(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(end, _)| end);
    format!("{}{}", shown(&text[..end]), if end < text.len() { ".." } else { "" })
}
