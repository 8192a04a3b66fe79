//! Files of tensors: reading their headers, and writing headers of the same format for other shapes.

mod dtype;
#[cfg(feature = "zarr")]
mod folder;
#[cfg(unix)]
mod guard;
mod literal;
mod npy;
mod output;
mod safetensors;
mod unfinished;

use std::fs::{self, File, Metadata};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use shapetracker::ShapeTracker;

use crate::answer::{Failure, tuple};
pub(crate) use dtype::Dtype;
#[cfg(feature = "zarr")]
pub(crate) use dtype::{Kind, Order};
#[cfg(feature = "zarr")]
pub(crate) use folder::{FolderTarget, OutputFolder};
pub(crate) use output::{Output, Target};

/// A file of tensors, mapped into memory.
pub(crate) struct Input {
    path: PathBuf,
    file: File,
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
    /// Opens a file and reads its header. Every tensor is checked to lie inside the file. With `json`, what ends the
    /// process later is said on standard output.
    pub(crate) fn open(path: &Path, json: bool) -> Result<Input, Failure> {
        let cannot_read = |why: String| Failure::new("io", format!("cannot read {}: {why}", shown_path(path)));
        let file = open_regular(path).map_err(cannot_read)?;
        let map = map(&file).map_err(|err| cannot_read(err.to_string()))?;
        // Elsewhere the system lets nobody cut a file short that is mapped.
        #[cfg(unix)]
        {
            let failure = shrunk(path, ", or its disk fails");
            guard::guard(&map, said_at_once(&failure, json), json).map_err(|err| cannot_read(err.to_string()))?;
        }
        #[cfg(not(unix))]
        let _ = json;
        let (format, tensors) = parse(&map).map_err(|failure| failure.about(shown_path(path)))?;
        Ok(Input { path: path.to_owned(), file, map, format, tensors })
    }

    /// Fails where the file has become shorter since it was opened. What is left of its last page can be read, and what is
    /// gone of it then reads as zeros.
    pub(crate) fn check_length(&self) -> Result<(), Failure> {
        match self.file.metadata() {
            Ok(metadata) if metadata.len() < self.map.len() as u64 => Err(shrunk(&self.path, "")),
            _ => Ok(()),
        }
    }

    /// Whether it is the file at a path, whose metadata is given.
    fn is_at(&self, path: &Path, metadata: &Metadata) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;

            let _ = path;
            self.file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (metadata.dev(), metadata.ino()))
        }
        #[cfg(not(unix))]
        {
            let _ = metadata;
            same_file::is_same_file(path, &self.path).unwrap_or(false)
        }
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

/// The failure of an input that is cut short, or perhaps of its disk.
fn shrunk(path: &Path, or: &str) -> Failure {
    Failure::new("io", format!("cannot read {}: it was cut short while it was read{or}", shown_path(path)))
}

/// A failure as it is written where nothing can be asked any more: over the progress bar, and with colours where they are
/// wanted now.
#[cfg(unix)]
fn said_at_once(failure: &Failure, json: bool) -> Vec<u8> {
    use std::io::{IsTerminal, stderr};

    if json {
        return format!("{}\n", failure.json()).into();
    }
    let text = match anstream::AutoStream::choice(&stderr()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(&failure.text()).to_string(),
        _ => failure.text(),
    };
    let cleared = if stderr().is_terminal() { "\r\x1b[2K" } else { "" };
    format!("{cleared}{text}").into()
}

/// Opens a regular file for reading, or says why that cannot be done. Nothing is waited for: to open a FIFO would take as
/// long as nobody writes to it.
pub(crate) fn open_regular(path: &Path) -> Result<File, String> {
    let check = |metadata: &Metadata| match special(metadata) {
        Some(what) => Err(format!("it is {what}, and not a regular file")),
        None => Ok(()),
    };
    check(&fs::metadata(path).map_err(|err| err.to_string())?)?;
    let mut options = File::options();
    // What is opened may be another file than what was asked about.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.read(true).open(path).map_err(|err| err.to_string())?;
    check(&file.metadata().map_err(|err| err.to_string())?)?;
    Ok(file)
}

/// What a file is that is not a regular one.
fn special(metadata: &Metadata) -> Option<&'static str> {
    if metadata.is_file() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        let is = metadata.file_type();
        if is.is_fifo() {
            return Some("a FIFO");
        }
        if is.is_socket() {
            return Some("a socket");
        }
        if is.is_char_device() || is.is_block_device() {
            return Some("a device");
        }
    }
    Some(if metadata.is_dir() { "a directory" } else { "something else" })
}

/// Maps a file into memory.
#[allow(unsafe_code)]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is only read, as bytes, and every value of a byte is a value of its type. That nobody else changes
    // the file meanwhile cannot be had from the operating system; the help says that nobody may, and what would come
    // of it is other bytes in the output. Where the file is cut short, `guard` ends the process.
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

/// Checks that a tensor has as many bytes as it should, and no more unless `more` are allowed; returns how many it has.
fn check_length(shape: &[i64], dtype: &Dtype, found: usize, more: bool) -> Result<usize, String> {
    let needed = byte_count(shape, dtype.bits);
    if let Some(needed) = needed.and_then(|needed| usize::try_from(needed).ok())
        && (needed == found || more && needed < found)
    {
        return Ok(needed);
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// What is cut off inside the last page of the mapping can still be read, as zeros.
    #[test]
    fn found_by_an_audit_an_input_that_loses_its_last_byte_is_noticed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n";
        let whole = [npy::MAGIC, &[1, 0, header.len() as u8, 0], header, &[7, 8, 9]].concat();
        fs::write(file.path(), &whole).unwrap();
        let input = Input::open(file.path(), false).unwrap();
        assert_eq!(input.bytes(&input.tensors()[0]), [7, 8, 9]);
        assert!(input.check_length().is_ok());
        file.as_file().set_len(whole.len() as u64 + 1).unwrap();
        assert!(input.check_length().is_ok(), "what is appended changes nothing");
        file.as_file().set_len(whole.len() as u64 - 1).unwrap();
        assert!(input.check_length().unwrap_err().text().contains("it was cut short while it was read"));
    }
}
