//! Files of tensors: reading their headers, and writing headers of the same format for other shapes.

mod dtype;
mod literal;
mod npy;
mod output;
mod safetensors;

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use shapetracker::ShapeTracker;

use crate::answer::{Failure, tuple};
pub(crate) use dtype::Dtype;
pub(crate) use output::{Output, Target};

/// A file of tensors, mapped into memory.
pub(crate) struct Input {
    path: PathBuf,
    map: Mmap,
    format: Format,
    tensors: Vec<Tensor>,
}

/// The format of a file, with what its header holds besides the tensors.
enum Format {
    Npy(npy::Npy),
    Safetensors(safetensors::Safetensors),
}

/// A tensor in a file.
#[derive(Debug)]
pub(crate) struct Tensor {
    /// Its name, where the format has names.
    pub(crate) name: Option<String>,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<i64>,
    /// Whether it lies in memory in column-major rather than in row-major order.
    pub(crate) column_major: bool,
    /// The bytes of the file that are its elements.
    pub(crate) place: Range<usize>,
}

impl Input {
    /// Opens a file and reads its header. Every tensor is checked to lie inside the file.
    pub(crate) fn open(path: &Path) -> Result<Input, Failure> {
        let cannot_read = |err| Failure::new("io", format!("cannot read {}: {err}", shown_path(path)));
        let file = File::open(path).map_err(cannot_read)?;
        let metadata = file.metadata().map_err(cannot_read)?;
        if !metadata.is_file() {
            let what = if metadata.is_dir() { "it is a directory" } else { "it is no regular file" };
            return Err(Failure::new("io", format!("cannot read {}: {what}", shown_path(path))));
        }
        let map = map(&file).map_err(cannot_read)?;
        let (format, tensors) = parse(&map).map_err(|failure| failure.about(shown_path(path)))?;
        Ok(Input { path: path.to_owned(), map, format, tensors })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The usual ending of the name of such a file.
    pub(crate) fn extension(&self) -> &'static str {
        match self.format {
            Format::Npy(_) => "npy",
            Format::Safetensors(_) => "safetensors",
        }
    }

    /// The tensors, in the order in which they lie in the file.
    pub(crate) fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The bytes of a tensor.
    pub(crate) fn bytes(&self, tensor: &Tensor) -> &[u8] {
        &self.map[tensor.place.clone()]
    }

    /// What a file of the same tensors under other shapes, all row-major, begins with; their bytes follow in order.
    pub(crate) fn header(&self, shapes: &[&[i64]]) -> Result<Vec<u8>, Failure> {
        match &self.format {
            Format::Npy(npy) => Ok(npy.header(shapes[0])),
            Format::Safetensors(safetensors) => safetensors.header(&self.tensors, shapes),
        }
    }
}

impl Tensor {
    /// The layout of the tensor over its bytes.
    pub(crate) fn layout(&self) -> Result<ShapeTracker, shapetracker::Error> {
        if !self.column_major {
            return ShapeTracker::contiguous(&self.shape);
        }
        let reversed: Vec<i64> = self.shape.iter().rev().copied().collect();
        let axes: Vec<i64> = (0..self.shape.len() as i64).rev().collect();
        ShapeTracker::contiguous(reversed)?.permute(axes)
    }
}

/// Maps a file into memory.
#[allow(unsafe_code)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is only read, as bytes, and every value of a byte is a value of its type. That nobody else changes
    // the file meanwhile cannot be had from the operating system; the help says that nobody may, and what would come
    // of it is other bytes in the output, or the end of the process if the file is cut short.
    unsafe { Mmap::map(file) }
}

fn parse(bytes: &[u8]) -> Result<(Format, Vec<Tensor>), Failure> {
    if bytes.starts_with(npy::MAGIC) {
        let (npy, tensor) = npy::parse(bytes).map_err(|message| Failure::new("npy", message))?;
        return Ok((Format::Npy(npy), vec![tensor]));
    }
    if bytes.get(8) == Some(&b'{') {
        let (safetensors, tensors) =
            safetensors::parse(bytes).map_err(|message| Failure::new("safetensors", message))?;
        return Ok((Format::Safetensors(safetensors), tensors));
    }
    let is = if bytes.is_empty() {
        "the file is empty"
    } else if bytes.starts_with(b"PK") {
        "this is a ZIP archive, as .npz and .pt are: unpack it, or save its arrays one by one"
    } else {
        "this is neither a .npy file, which begins with \\x93NUMPY, nor a .safetensors file, which begins with the \
         length of its JSON header in 8 bytes"
    };
    Err(Failure::new("format", is))
}

/// How many bytes the elements of a tensor take; nothing if they cannot be counted.
pub(crate) fn byte_count(shape: &[i64], bits: usize) -> Option<u128> {
    if shape.contains(&0) {
        return Some(0);
    }
    let bits = shape.iter().try_fold(bits as u128, |bits, &size| bits.checked_mul(size as u128));
    bits.map(|bits| bits.div_ceil(8))
}

/// Checks that a tensor has as many bytes as it should.
fn check_length(shape: &[i64], dtype: &Dtype, found: usize) -> Result<(), String> {
    let needed = byte_count(shape, dtype.bits);
    if needed == Some(found as u128) {
        return Ok(());
    }
    let needed = needed.map_or("more bytes than can be counted".into(), |needed| format!("{needed} bytes"));
    let found = if found == 0 { "there are none".into() } else { format!("there are {found}") };
    Err(format!("shape {} of {} takes {needed}, but {found}", tuple(shape), dtype.name))
}

/// The failure to write a file that no system could hold.
pub(crate) fn too_large() -> Failure {
    Failure::new("output", "the output would have more bytes than a file can have")
}

/// A path as it is shown: nothing in it that a terminal would act on.
pub(crate) fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// A text from a file as it is shown: nothing in it that a terminal would act on.
pub(crate) fn shown(text: &str) -> String {
    text.replace(|c: char| c.is_control(), "\u{fffd}")
}
