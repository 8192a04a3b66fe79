//! Arrays of Zarr in folders: opened, read and written by whole chunks.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use shapetracker::{Ranges, ShapeTracker};
use shapetracker_chunks::Grid;
use shapetracker_copy::{Plan, Threads};
use zarrs::array::codec::CodecOptions;
use zarrs::array::{Array, ArrayBytes, ArrayMetadataOptions};
use zarrs::config::global_config;
use zarrs::filesystem::FilesystemStore;
use zarrs::metadata::ArrayMetadata;
use zarrs::metadata::v2::ArrayMetadataV2;
use zarrs::metadata::v3::ArrayMetadataV3;
use zarrs::metadata_ext::v2_to_v3::array_metadata_v2_to_v3;
use zarrs::storage::store::MemoryStore;

use super::document::{check_v2, check_v3, parsed};
use super::elements::{FromV2, name_of, stand_in};
use crate::answer::{Failure, tuple};
use crate::files::{Dtype, Kind, Order, shown, shown_path};

/// An array that is read.
pub(super) struct Source {
    path: PathBuf,
    array: Array<FilesystemStore>,
    pub(super) grid: Grid,
    pub(super) dtype: Dtype,
    /// How many bytes an element has.
    pub(super) width: usize,
    /// What elements of missing chunks are.
    fill: Vec<u8>,
    /// Its metadata as a document of Zarr 3, in whichever version they are stored.
    pub(super) metadata: Value,
}

/// An array that is written.
pub(super) struct Sink {
    array: Array<FilesystemStore>,
    folder: PathBuf,
    /// The metadata that it shall have.
    metadata: Value,
    grid: Grid,
    width: usize,
    fill: Vec<u8>,
}

/// Whether a folder holds an array of Zarr.
pub(super) fn is_array(folder: &Path) -> bool {
    match node_type(folder).as_deref() {
        Some(node_type) => node_type == "array",
        None => folder.join(".zarray").is_file(),
    }
}

/// What a folder is according to its metadata of Zarr 3.
fn node_type(folder: &Path) -> Option<String> {
    let text = std::fs::read(folder.join("zarr.json")).ok()?;
    let metadata: Value = serde_json::from_slice(&text).ok()?;
    metadata["node_type"].as_str().map(str::to_owned)
}

/// Why a folder cannot be opened as an array.
fn no_array(folder: &Path) -> Failure {
    let is_group = node_type(folder).as_deref() == Some("group") || folder.join(".zgroup").is_file();
    if !is_group {
        let message = "the folder is no array of Zarr: it has neither a zarr.json nor a .zarray";
        return Failure::new("zarr", message).about(shown_path(folder));
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut arrays: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_array(path)).collect();
    arrays.sort();
    let advice = match arrays.first() {
        Some(array) => format!("name one of its arrays, such as {}", shown_path(array)),
        None => "name one of the arrays in it".into(),
    };
    Failure::new("zarr", format!("this is a group of arrays, and not an array: {advice}")).about(shown_path(folder))
}

impl Source {
    /// Opens an array and reads its metadata.
    pub(super) fn open(path: &Path) -> Result<Source, Failure> {
        let about = |message: String| Failure::new("zarr", message).about(shown_path(path));
        if let Err(err) = std::fs::read_dir(path) {
            return Err(Failure::new("io", format!("cannot read {}: {err}", shown_path(path))));
        }
        let document = read_document(path).map_err(about)?.ok_or_else(|| no_array(path))?;
        let store = FilesystemStore::new(path).map_err(|err| about(said(&err)))?;
        let create = || array_of(&document, store);
        let array = guarded(create).map_err(about)?;
        let mut metadata = serde_json::to_value(array.metadata()).map_err(|err| about(err.to_string()))?;
        keep_type(&mut metadata, &document);
        if metadata["storage_transformers"].as_array().is_some_and(|list| !list.is_empty()) {
            return Err(about("its storage transformers are not supported".into()));
        }
        let name = name_of(&metadata["data_type"]).to_owned();
        let Some(width) = array.data_type().fixed_size() else {
            return Err(about(format!("elements of type {} differ in length, and cannot be moved", shown(&name))));
        };
        let fill = array.fill_value().as_ne_bytes().to_vec();
        if fill.len() != width {
            return Err(about(format!("the fill value is none of type {}", shown(&name))));
        }
        let grid = grid(&array, &metadata).map_err(|failure| failure.about(shown_path(path)))?;
        Ok(Source { path: path.to_owned(), grid, dtype: dtype(&name, width), width, fill, metadata, array })
    }

    /// The elements of a chunk that belong to the array, in row-major order.
    pub(super) fn read(&self, chunk: usize) -> Result<Vec<u8>, Failure> {
        let place = self.grid.coordinates(chunk)?;
        self.try_read(chunk, &indices(&place)).map_err(|why| {
            let message = format!("{}: chunk {} cannot be read: {why}", shown_path(&self.path), tuple(&place));
            Failure::new("zarr", message)
        })
    }

    fn try_read(&self, chunk: usize, place: &[u64]) -> Result<Vec<u8>, String> {
        let shape = sizes(&self.grid, chunk)?;
        let found =
            guarded(|| self.array.retrieve_chunk_if_exists_opt(place, &one_thread()).map_err(|err| said(&err)))?;
        let Some(found) = found else {
            return Ok(self.fill.repeat(elements(&shape)));
        };
        let bytes = found.into_fixed().map_err(|err| said(&err))?.into_owned();
        let stored = stored(&self.array, place)?;
        if bytes.len() != elements(&stored) * self.width {
            return Err(format!("it has {} bytes instead of {}", bytes.len(), elements(&stored) * self.width));
        }
        if stored == shape {
            return Ok(bytes);
        }
        // A chunk at the edge is stored whole; what is beyond the edge is nothing.
        let within: Ranges = shape.iter().map(|&size| (0, size)).collect();
        let tracker = ShapeTracker::contiguous(&stored)
            .and_then(|tracker| tracker.shrink(&within))
            .map_err(|err| err.to_string())?;
        moved(&tracker, self.width, &bytes, &self.fill)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// How many bytes the largest chunk of a grid has.
pub(super) fn chunk_bytes(grid: &Grid, width: usize) -> u64 {
    let largest = |axis| grid.sizes(axis).max().unwrap_or(0) as u64;
    (0..grid.rank()).map(largest).product::<u64>() * width as u64
}

impl Sink {
    /// Checks that an array with such metadata could be written.
    pub(super) fn check(metadata: &Value) -> Result<(), Failure> {
        Sink::array(metadata, MemoryStore::new()).map(drop)
    }

    /// An array with such metadata in an empty folder. Nothing is written yet.
    pub(super) fn new(folder: &Path, metadata: &Value, grid: &Grid, width: usize) -> Result<Sink, Failure> {
        let store = FilesystemStore::new(folder).map_err(|err| Failure::new("zarr", said(&err)))?;
        let array = Sink::array(metadata, store)?;
        let fill = array.fill_value().as_ne_bytes().to_vec();
        let (folder, metadata) = (folder.to_owned(), metadata.clone());
        Ok(Sink { array, folder, metadata, grid: grid.clone(), width, fill })
    }

    fn array<S>(metadata: &Value, store: S) -> Result<Array<S>, Failure> {
        let failure = |why: String| Failure::new("zarr", format!("the output cannot be such an array: {why}"));
        guarded(|| array_of(metadata, store)).map_err(failure)
    }

    /// Writes the elements of a chunk that belong to the array. A chunk of fill values alone is not stored.
    pub(super) fn write(&self, chunk: usize, mut bytes: Vec<u8>) -> Result<(), String> {
        let shape = sizes(&self.grid, chunk)?;
        let place = indices(&self.grid.coordinates(chunk).map_err(|err| err.to_string())?);
        let stored = stored(&self.array, &place)?;
        if stored != shape {
            let beyond: Vec<(i64, i64)> = stored.iter().zip(&shape).map(|(stored, size)| (0, stored - size)).collect();
            let tracker = ShapeTracker::contiguous(&shape)
                .and_then(|tracker| tracker.pad(&beyond))
                .map_err(|err| err.to_string())?;
            bytes = moved(&tracker, self.width, &bytes, &self.fill)?;
        }
        let bytes = ArrayBytes::new_flen(Cow::Owned(bytes));
        guarded(|| self.array.store_chunk_opt(&place, bytes, &one_thread()).map_err(|err| said(&err)))
    }

    /// Writes the metadata: with them, the folder is an array.
    pub(super) fn finish(&self) -> Result<(), String> {
        let options = ArrayMetadataOptions::default().with_include_zarrs_metadata(false);
        let mut document = serde_json::to_value(self.array.metadata_opt(&options)).map_err(|err| err.to_string())?;
        keep_type(&mut document, &self.metadata);
        let text = serde_json::to_vec_pretty(&document).map_err(|err| err.to_string())?;
        std::fs::write(self.folder.join("zarr.json"), text).map_err(|err| err.to_string())
    }
}

/// The array that a document of Zarr 3 describes.
fn array_of<S>(document: &Value, store: S) -> Result<Array<S>, String> {
    let wrong = |err: serde_json::Error| match err.to_string() {
        // What serde says of alternatives is not about metadata.
        said if said.contains("untagged") => "its metadata are not as Zarr describes them".to_owned(),
        said => format!("its metadata are not as Zarr describes them: {}", shown(&said)),
    };
    let metadata: ArrayMetadataV3 = serde_json::from_value(stand_in(document)?).map_err(wrong)?;
    Array::new_with_metadata(Arc::new(store), "/", ArrayMetadata::V3(metadata)).map_err(|err| unsupported(said(&err)))
}

/// Gives the metadata of a stand-in the type, the fill value and the codecs that it stands for.
fn keep_type(metadata: &mut Value, document: &Value) {
    if name_of(&metadata["data_type"]) != name_of(&document["data_type"]) {
        for key in ["data_type", "fill_value", "codecs"] {
            metadata[key] = document[key].clone();
        }
    }
}

/// The complaint with what would work, where it is that this command knows no such codec or type.
fn unsupported(message: String) -> String {
    if !message.ends_with("not supported") {
        return message;
    }
    format!("{message} by this command; the Python package moves all that zarr-python reads: shapetracker.zarr.apply")
}

/// The metadata of an array in a folder, as those of Zarr 3 in whichever version they are stored; None where there is no array.
fn read_document(folder: &Path) -> Result<Option<Value>, String> {
    let read = |name: &str| -> Result<Value, String> {
        let text = std::fs::read(folder.join(name)).map_err(|err| format!("{name} cannot be read: {err}"))?;
        parsed(name, &text)
    };
    if folder.join("zarr.json").is_file() {
        let document = read("zarr.json")?;
        return match document["node_type"].as_str() {
            Some("array") => check_v3(&document).map(|()| Some(document)),
            Some("group") => Ok(None),
            Some(other) => Err(format!("`node_type` in zarr.json is {}, and is to be \"array\"", shown(other))),
            None => Err("zarr.json has no `node_type`, which is to be \"array\"".into()),
        };
    }
    if !folder.join(".zarray").is_file() {
        return Ok(None);
    }
    let mut document = read(".zarray")?;
    check_v2(&document)?;
    // Without axes all orders are the same, and `zarrs` makes of column-major order a transposition, of which there is none
    // then: to make one is undefined behaviour there.
    if document["shape"].as_array().is_some_and(Vec::is_empty) {
        document["order"] = "C".into();
    }
    let fill = document["fill_value"].take();
    let dtype = FromV2::new(&document["dtype"]).map_err(unsupported)?;
    document["dtype"] = json!(dtype.known);
    let wrong = |name: &str, err: &dyn Display| format!("{name} does not describe an array: {}", said(&err));
    let mut metadata: ArrayMetadataV2 = serde_json::from_value(document).map_err(|err| wrong(".zarray", &err))?;
    if folder.join(".zattrs").is_file() {
        metadata.attributes = serde_json::from_value(read(".zattrs")?).map_err(|err| wrong(".zattrs", &err))?;
    }
    let config = global_config();
    let metadata = array_metadata_v2_to_v3(
        &metadata,
        config.codec_aliases_v2(),
        config.codec_aliases_v3(),
        config.data_type_aliases_v2(),
        config.data_type_aliases_v3(),
    );
    let mut metadata = serde_json::to_value(metadata.map_err(|err| said(&err))?).map_err(|err| err.to_string())?;
    // What `zarrs` makes of fill values knows neither booleans nor complex numbers.
    let is_complex = metadata["data_type"].as_str().is_some_and(|name| name.starts_with("complex"));
    match (&fill, metadata["data_type"].as_str()) {
        (Value::Null, _) if is_complex => metadata["fill_value"] = json!([0, 0]),
        (Value::Null, _) => {}
        (Value::Number(number), Some("bool")) => metadata["fill_value"] = json!(number.as_f64() != Some(0.0)),
        (Value::Number(_), _) if is_complex => metadata["fill_value"] = json!([fill, 0]),
        _ => metadata["fill_value"] = fill.clone(),
    }
    dtype.put(&mut metadata, &fill);
    Ok(Some(metadata))
}

/// The chunks of an array.
fn grid(array: &Array<FilesystemStore>, metadata: &Value) -> Result<Grid, Failure> {
    // So many chunks along one axis are refused, and not listed.
    const MOST: u64 = 1 << 24;
    let wrong = |message: String| Failure::new("zarr", message);
    let signed =
        |size: u64| i64::try_from(size).map_err(|_| wrong(format!("a size of {size} is more than can be counted")));
    let shape = array.shape().iter().copied().map(signed).collect::<Result<Vec<i64>, _>>()?;
    // Also the number of elements must be countable.
    ShapeTracker::contiguous(&shape)?;
    if metadata["chunk_grid"]["name"] == "regular" || shape.is_empty() {
        let chunk = array.chunk_shape(&vec![0; shape.len()]).map_err(|err| wrong(said(&err)))?;
        let chunk = chunk.iter().map(|size| signed(size.get())).collect::<Result<Vec<i64>, _>>()?;
        if let Some(axis) = (0..shape.len()).find(|&axis| shape[axis] as u64 / chunk[axis] as u64 > MOST) {
            return Err(wrong(format!("axis {axis} has more than {MOST} chunks")));
        }
        return Ok(Grid::regular(&shape, &chunk)?);
    }
    let counts = array.chunk_grid_shape();
    let mut lists = Vec::new();
    for axis in 0..shape.len() {
        if counts[axis] > MOST {
            return Err(wrong(format!("axis {axis} has more than {MOST} chunks")));
        }
        let mut left = shape[axis];
        let mut list = Vec::new();
        for number in 0..counts[axis] {
            let mut place = vec![0; shape.len()];
            place[axis] = number;
            let chunk = array.chunk_shape(&place).map_err(|err| wrong(said(&err)))?;
            let size = signed(chunk[axis].get())?.min(left);
            left -= size;
            if size > 0 {
                list.push(size);
            }
        }
        lists.push(list);
    }
    Ok(Grid::of(&shape, &lists)?)
}

/// The type of elements by its name in Zarr.
fn dtype(name: &str, width: usize) -> Dtype {
    let kind = match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "bool" => Kind::Bool,
        "int" => Kind::Int,
        "uint" => Kind::Uint,
        "float" => Kind::Float,
        "bfloat" => Kind::BrainFloat,
        "complex" => Kind::Complex,
        "numpy.datetime" | "numpy.timedelta" => Kind::Time,
        _ => Kind::Bytes,
    };
    Dtype::new(name, width * 8, kind, Order::NATIVE)
}

/// The elements of a tracker over some bytes, in row-major order.
fn moved(tracker: &ShapeTracker, width: usize, bytes: &[u8], fill: &[u8]) -> Result<Vec<u8>, String> {
    let mut to = vec![0; elements(tracker.shape()) * width];
    let threads = Threads::new(1).map_err(|err| err.to_string())?;
    let plan = Plan::new(tracker, width).map_err(|err| err.to_string())?;
    plan.read_bytes(bytes, &mut to, fill, &threads).map_err(|err| err.to_string())?;
    Ok(to)
}

/// The shape of a chunk, as far as it belongs to the array.
fn sizes(grid: &Grid, chunk: usize) -> Result<Vec<i64>, String> {
    let ranges = grid.chunk(chunk).map_err(|err| err.to_string())?;
    Ok(ranges.iter().map(|&(begin, end)| end - begin).collect())
}

/// The shape of a chunk as it is stored.
fn stored<S>(array: &Array<S>, place: &[u64]) -> Result<Vec<i64>, String> {
    let shape = array.chunk_shape(place).map_err(|err| said(&err))?;
    Ok(shape.iter().map(|size| size.get() as i64).collect())
}

/// How many elements a shape has that fits into memory.
fn elements(shape: &[i64]) -> usize {
    shape.iter().map(|&size| size as usize).product()
}

fn indices(chunk: &[i64]) -> Vec<u64> {
    chunk.iter().map(|&number| number as u64).collect()
}

/// Chunks are read and written side by side, each by one thread.
fn one_thread() -> CodecOptions {
    let mut options = CodecOptions::default();
    options.set_concurrent_target(1);
    options
}

/// An error of the store as a part of a sentence.
fn said(err: &impl Display) -> String {
    let text = shown(&err.to_string());
    text.trim_end_matches('.').to_owned()
}

thread_local! {
    /// Whether this thread is in a call whose panics are failures.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What a call answers. The codecs of a damaged chunk may panic, which is a failure as well as any other.
fn guarded<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let before = GUARDED.replace(true);
    let answer = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err("its codecs failed".into()));
    GUARDED.set(before);
    answer
}

/// From here on a panic that is caught as the failure of a codec says nothing by itself.
pub(super) fn without_panics_of_codecs() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !GUARDED.get() {
            before(info);
        }
    }));
}
