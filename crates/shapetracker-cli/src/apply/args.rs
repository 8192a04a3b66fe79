//! What `shapetracker apply` is told, for files and for arrays of Zarr.

use std::path::PathBuf;

use crate::check::Numbers;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker apply 'permute(1, 0)' weights.npy transposed.npy
  shapetracker apply '.pad((1, 1), (0, 0)).flip(0)' in.npy out.npy --fill nan
  shapetracker apply 'reshape(-1, 64)' in.safetensors out.safetensors --tensor wq --tensor wk
  shapetracker apply '(3, 2).permute(1, 0)' in.npy out.npy --dry-run
  shapetracker apply 'permute(1, 0)' in.zarr out.zarr --chunks 512,512 --memory 2GiB

The shape of the tensor comes from the file, so that the chain may begin with an operation; where it begins with a \
shape, the two must agree. The output is of the format of the input, with the same types, in row-major order; a .npy file \
is byte for byte what numpy.save writes. Without --tensor every tensor of the file goes through the chain; with it, the \
others are copied unchanged.

Input and output are regular files, or links to some: a FIFO, a socket, a device such as /dev/null and a directory are \
refused. Of a .npy file the first array is read, as numpy.load does, whatever comes after it.

The output gets its name when all of it is on the disk. With --force a file that is there, even a read-only one, is \
replaced by a new one with its permissions. A run that fails or is ended by SIGINT, SIGTERM, SIGHUP or SIGQUIT leaves \
nothing behind, and has then ended by that signal; one that is killed leaves a file .OUTPUT.*.unfinished. The input is \
mapped into memory and must not change meanwhile; where it is cut short, the run fails. Files may be larger than memory.

Arrays of Zarr, version 2 or 3, are folders of chunks; reading them takes a command that was built with `--features zarr`. \
Of the chunks only some are in memory, --memory bytes at most with what their codecs need. The output is of version 3, with \
the codecs and attributes of the input, sharding and column-major order included; each of its chunks is written once. \
Chunks that are missing in the input have its fill value, and chunks of that value alone are not stored. Interrupted runs \
leave nothing behind, as with files.

With --json: chain, input, output, dry_run, tensors (name, dtype, from, to, bytes_read, bytes_written, plan), \
unchanged (how many tensors are copied as they are), bytes_read and bytes_written (of the data of all tensors); for an \
array of Zarr also chunks (from, to: their shapes, from null where they differ, inner: those in shards, count_from, \
count_to, reads, needed: the fewest reads, rounds, peak_bytes, remarks).")]
pub(crate) struct Args {
    /// The chain, such as "permute(1, 0)"; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    pub(crate) chain: String,
    /// The file to read, .npy or .safetensors, or the folder of an array of Zarr.
    pub(crate) input: PathBuf,
    /// The file or folder to write.
    pub(crate) output: PathBuf,
    /// A tensor to move through the chain; may be given several times. Without it, every tensor is.
    #[arg(long, value_name = "NAME")]
    pub(crate) tensor: Vec<String>,
    /// The value of masked elements, as the type writes it: -1, 1e-3, nan, true, 1-2j, NaT.
    #[arg(long, value_name = "VALUE", default_value = "0", allow_hyphen_values = true)]
    pub(crate) fill: String,
    /// How many threads move the data, at most 1024; 0 for as many as the machine runs at once.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub(crate) threads: u16,
    /// Print what would be done, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace the output if it is there already; the new file has the permissions of the old one.
    #[arg(long)]
    pub(crate) force: bool,
    /// The shape of the chunks of a Zarr output, such as 512,512; of those in each shard where it has shards. Without it,
    /// they have about the size of the input's and cross as few of them as they can.
    #[arg(long, value_name = "SIZES", value_parser = crate::check::numbers)]
    pub(crate) chunks: Option<Numbers>,
    /// The shape of the shards of a Zarr output: files of whole chunks. Without it, an output has shards where the input has.
    #[arg(long, value_name = "SIZES", value_parser = crate::check::numbers)]
    pub(crate) shards: Option<Numbers>,
    /// How much memory the chunks of a Zarr array may take, such as 128MiB or 2GB; 1GiB without it.
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    pub(crate) memory: Option<u64>,
}

/// Reads `2GiB`, `512 MB` or a number of bytes.
fn memory(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u32, u32); 9] = [
        ("", 0, 0),
        ("B", 0, 0),
        ("KB", 3, 0),
        ("MB", 6, 0),
        ("GB", 9, 0),
        ("TB", 12, 0),
        ("KIB", 0, 10),
        ("MIB", 0, 20),
        ("GIB", 0, 30),
    ];
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let unit = text[digits..].trim().to_ascii_uppercase();
    let unit = UNITS.iter().find(|(name, ..)| *name == unit);
    let bytes = unit.and_then(|&(_, tens, twos)| {
        let number: u64 = text[..digits].parse().ok()?;
        number.checked_mul(10u64.pow(tens) << twos)
    });
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "expected a number of bytes such as 128MiB, 2GB or 1000000".into())
}
