//! `shapetracker plan`: how the data of a chain is moved.

use serde_json::json;
use shapetracker::{Chain, ShapeTracker};
use shapetracker_copy::{Error, Plan};

use crate::answer::{Answer, BOLD, DIM, Failure, count, tuple};
use crate::files::Dtype;
use crate::input::text_of;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker plan '(4096, 4096).permute(1, 0)'
  shapetracker plan '(32, 64, 112, 112).permute(0, 2, 3, 1)' --dtype u8
  shapetracker plan '(3, 2).permute(1, 0).reshape(3, 2)' --width 12

`shapetracker apply` runs such a plan. A byte that is read several times counts once, and no more bytes are counted than \
lie between the first and the last element that are read.

With --json: chain, shape, width, plan, bytes_read, bytes_written.")]
pub(crate) struct Args {
    /// The chain, such as "(3, 2).permute(1, 0)"; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    chain: String,
    /// Bytes per element, in place of a type.
    #[arg(long, value_name = "BYTES", conflicts_with = "dtype", value_parser = clap::value_parser!(u32).range(1..))]
    width: Option<u32>,
    /// The type of the elements, as f32, bf16 or c128, or as NumPy writes it, such as <f4.
    #[arg(long, default_value = "f32", value_parser = dtype)]
    dtype: Dtype,
}

/// A type by its name here or in NumPy.
pub(crate) fn dtype(name: &str) -> Result<Dtype, String> {
    let names = || Dtype::names().collect::<Vec<_>>().join(", ");
    let dtype = Dtype::named(name).or_else(|| Dtype::of_numpy(name).ok());
    let dtype = dtype.filter(|dtype| dtype.width().is_ok_and(|width| width > 0));
    dtype.ok_or_else(|| format!("expected one of {}, or a type as NumPy writes it, such as <f4", names()))
}

pub(crate) fn plan(args: &Args) -> Result<Answer, Failure> {
    let chain: Chain = text_of(&args.chain)?.parse()?;
    let tracker = chain.tracker()?;
    let width = match args.width {
        Some(width) => width as usize,
        None => args.dtype.width().map_err(|message| Failure::new("dtype", message))?,
    };
    let plan = Plan::new(&tracker, width)?;
    let (read, written) = traffic(&tracker, width)?;
    let json = json!({
        "chain": chain.to_string(),
        "shape": tracker.shape(),
        "width": width,
        "plan": plan.to_string(),
        "bytes_read": read,
        "bytes_written": written,
    });
    let about = format!("{}, {} per element", tuple(tracker.shape()), count(width as i64, "byte"));
    let text = format!("{BOLD}{about}{BOLD:#}\n{}{}", indented(&plan, 2), traffic_text(false, read, written));
    Ok(Answer { text, json, positive: true })
}

/// The loops of a plan, each line indented.
pub(crate) fn indented(plan: &Plan, columns: usize) -> String {
    plan.to_string().lines().map(|line| format!("{}{line}\n", " ".repeat(columns))).collect()
}

/// How many bytes are read and written, or have been.
pub(crate) fn traffic_text(done: bool, read: u128, written: u128) -> String {
    let (reads, writes) = if done { ("read", "wrote") } else { ("reads", "writes") };
    format!("{DIM}{reads} {}, {writes} {}{DIM:#}\n", bytes(read), bytes(written))
}

/// `1 byte`, `2 bytes`; from a million on also in larger units.
pub(crate) fn bytes(number: u128) -> String {
    match number {
        1 => "1 byte".into(),
        0..1_000_000 => format!("{number} bytes"),
        _ => format!("{number} bytes ({})", indicatif::HumanBytes(u64::try_from(number).unwrap_or(u64::MAX))),
    }
}

/// How many bytes of its buffer a tracker reads, and how many it writes.
///
/// A byte that is read several times counts once: the estimate is the valid elements of the last view without its
/// broadcast axes, and at most the span from the first to the last address.
pub(crate) fn traffic(tracker: &ShapeTracker, width: usize) -> Result<(u128, u128), Failure> {
    // No view reaches further than the one next to memory.
    let range = tracker.address_range().unwrap_or_else(|_| tracker.views()[0].address_range());
    let span = range.map_or(0, |(first, last)| last as u128 + 1 - first as u128);
    // Along an axis with stride 0 the same element is read again, from a cache.
    let last = &tracker.views()[tracker.views().len() - 1];
    let sizes = last.shape().iter().zip(last.strides()).enumerate().map(|(axis, (&size, &stride))| {
        let valid = last.mask().map_or(size, |mask| mask[axis].1 - mask[axis].0);
        if stride == 0 { valid.min(1) } else { valid }
    });
    let elements = sizes.fold(1u128, |product, size| product.saturating_mul(size as u128));
    let read = if last.is_empty() { 0 } else { elements.min(span) };
    let bytes = |elements: u128| elements.checked_mul(width as u128).filter(|bytes| u64::try_from(*bytes).is_ok());
    let too_many = || Failure::new("output", "the tensor would have more bytes than can be counted");
    Ok((bytes(read).ok_or_else(too_many)?, bytes(tracker.numel() as u128).ok_or_else(too_many)?))
}

impl From<Error> for Failure {
    fn from(err: Error) -> Failure {
        match err {
            Error::Layout(err) => err.into(),
            Error::Undecided(err) => Failure::refusal("undecided", err.to_string()),
            _ => Failure::new("copy", err.to_string()),
        }
    }
}
