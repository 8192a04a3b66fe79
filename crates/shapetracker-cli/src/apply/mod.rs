//! `shapetracker apply`: moves the data of files through a chain of operations.

pub(crate) mod args;

use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};
use shapetracker::{Chain, Ranges, ShapeTracker};
use shapetracker_copy::{Plan, Threads};
use textwrap::core::display_width;

use crate::answer::{Answer, BOLD, DIM, Failure, tuple};
use crate::files::{Input, Output, Target, Tensor, shown, shown_path, too_large};
use crate::input::{chain_on, text_of};
use crate::plan::{indented, traffic, traffic_text};

use args::Args;

/// The smallest and the largest number of bytes in a block of the output.
const BLOCKS: (u128, u128) = (64 << 20, 512 << 20);

/// The output is written in about so many blocks. Larger blocks read each page of an input that does not fit into memory
/// fewer times.
const PARTS: u128 = 64;

/// Fewer bytes per thread than this take less time than starting the thread.
const BYTES_PER_THREAD: u128 = 256 << 10;

/// How one tensor of the input is moved to the output.
struct Move<'a> {
    tensor: &'a Tensor,
    /// Whether it goes through the chain; otherwise its bytes are copied.
    chosen: bool,
    /// The tracker over its elements; over its bytes if they are copied.
    tracker: ShapeTracker,
    width: usize,
    fill: Vec<u8>,
    /// How many bytes are read and written.
    traffic: (u128, u128),
}

pub(crate) fn apply(args: &Args, json: bool) -> Result<Answer, Failure> {
    let text = text_of(&args.chain)?;
    if is_zarr(&args.input) {
        return zarr(&text, args, json);
    }
    let options =
        [("--chunks", args.chunks.is_some()), ("--shards", args.shards.is_some()), ("--memory", args.memory.is_some())];
    if let Some((option, _)) = options.iter().find(|(_, given)| *given) {
        let message =
            format!("{option} is for arrays of Zarr, which are folders, and {} is none", shown_path(&args.input));
        return Err(Failure::new("usage", message));
    }
    let input = Input::open(&args.input, json)?;
    let moves = moves(&text, &input, args)?;
    let target = Target::new(&args.output, &input, args.force)?;
    check_extension(&input, args)?;
    let shapes: Vec<&[i64]> = moves.iter().map(Move::shape).collect();
    let header = input.header(&shapes)?;
    let length = total(&moves).1 + header.len() as u128;
    let length = u64::try_from(length).ok().filter(|&length| i64::try_from(length).is_ok()).ok_or_else(too_large)?;
    // What cannot be planned fails before anything is written.
    let plans = moves.iter().map(|m| m.plan(&input)).collect::<Result<Vec<_>, _>>()?;
    if !args.dry_run {
        let output = Output::create(target, length, json)?;
        write(output, &input, &header, &moves, args)?;
    }
    Ok(answer(&text, &input, &moves, &plans, args))
}

/// An input that is an array of Zarr.
#[cfg(feature = "zarr")]
fn zarr(text: &str, args: &Args, json: bool) -> Result<Answer, Failure> {
    crate::zarr::apply(text, args, json)
}

#[cfg(not(feature = "zarr"))]
fn zarr(_: &str, args: &Args, _: bool) -> Result<Answer, Failure> {
    let message = "arrays of Zarr take a command that was built with the feature zarr: from a checkout, cargo install \
                   --path crates/shapetracker-cli --features zarr";
    Err(Failure::new("io", format!("cannot read {}: {message}", shown_path(&args.input))))
}

/// Whether a folder is meant as an array of Zarr.
fn is_zarr(path: &Path) -> bool {
    let is_called_so = || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zarr"));
    let has_metadata = || ["zarr.json", ".zarray", ".zgroup"].iter().any(|name| path.join(name).is_file());
    path.is_dir() && (is_called_so() || has_metadata())
}

/// What becomes of the tensors of a file, in their order.
fn moves<'a>(text: &str, input: &'a Input, args: &Args) -> Result<Vec<Move<'a>>, Failure> {
    let tensors = input.tensors();
    let has = |name: &String| tensors.iter().any(|tensor| tensor.name.as_ref() == Some(name));
    if let Some(unknown) = args.tensor.iter().find(|name| !has(name)) {
        return Err(no_tensor(unknown, input));
    }
    let is_chosen =
        |tensor: &Tensor| tensor.name.as_ref().is_none_or(|name| args.tensor.is_empty() || args.tensor.contains(name));
    // A mistake that is one on every tensor, or on none, is that of the text alone.
    if let Some(wrong) = Chain::read(text).1 {
        let has_it = |tensor: &Tensor| Chain::read_from(text, Some(&tensor.shape)).1.as_ref() == Some(&wrong);
        if tensors.iter().filter(|tensor| is_chosen(tensor)).all(has_it) {
            return Err(wrong.into());
        }
    }
    tensors
        .iter()
        .map(|tensor| {
            if !is_chosen(tensor) {
                return Ok(Move::unchanged(tensor)?);
            }
            Move::new(text, tensor, &args.fill).map_err(|failure| match &tensor.name {
                None => failure,
                Some(_) => {
                    let others = tensors.len() > 1 && args.tensor.is_empty();
                    let advice = if others { "; --tensor NAME chooses the tensors that the chain is for" } else { "" };
                    about(tensor, input, failure).adding(advice)
                }
            })
        })
        .collect()
}

/// A failure, with the file and the name of the tensor that it is about.
fn about(tensor: &Tensor, input: &Input, failure: Failure) -> Failure {
    match &tensor.name {
        None => failure,
        Some(name) => failure.about(format_args!("{}: tensor `{}`", shown_path(input.path()), shown(name))),
    }
}

fn no_tensor(name: &str, input: &Input) -> Failure {
    // More names than these are no help.
    const MOST: usize = 20;
    let names: Vec<String> = input.tensors().iter().filter_map(|tensor| tensor.name.as_deref().map(shown)).collect();
    let file = shown_path(input.path());
    let message = match &names[..] {
        [] if input.tensors().is_empty() => format!("there are no tensors in {file}"),
        [] => format!("the tensor in {file} has no name: leave --tensor away"),
        names if names.len() > MOST => {
            format!("no tensor `{}` in {file}: there are {} others", shown(name), names.len())
        }
        names => format!(
            "no tensor `{}` in {file}: there {} {}",
            shown(name),
            if names.len() == 1 { "is" } else { "are" },
            names.join(", ")
        ),
    };
    Failure::new("tensor", message)
}

/// Refuses an output whose extension is that of another format, which would mislead whoever opens it.
fn check_extension(input: &Input, args: &Args) -> Result<(), Failure> {
    let is = input.extension();
    let extension = args.output.extension().map(|extension| extension.to_ascii_lowercase());
    match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some(other @ ("npy" | "npz" | "safetensors" | "pt" | "zarr")) if other != is => {
            let output = shown_path(&args.output);
            let message = format!("{output} would be in the format of the input, .{is}: give it a name that ends so");
            Err(Failure::new("output", message))
        }
        _ => Ok(()),
    }
}

impl<'a> Move<'a> {
    fn new(text: &str, tensor: &'a Tensor, fill: &str) -> Result<Move<'a>, Failure> {
        let width = tensor.dtype.width().map_err(|message| Failure::new("dtype", message))?;
        let fill = tensor.dtype.value(fill).map_err(|message| Failure::new("fill", message))?;
        let chain = chain_on(&tensor.shape, text)?.tracker_from(&tensor.shape)?;
        let tracker = tensor.layout()?.compose(&chain)?;
        let traffic = traffic(&tracker, width)?;
        Ok(Move { tensor, chosen: true, tracker, width, fill, traffic })
    }

    /// A tensor whose bytes are copied as they are.
    fn unchanged(tensor: &'a Tensor) -> Result<Move<'a>, shapetracker::Error> {
        let bytes = tensor.place.len();
        let tracker = ShapeTracker::contiguous([bytes as i64])?;
        let traffic = (bytes as u128, bytes as u128);
        Ok(Move { tensor, chosen: false, tracker, width: 1, fill: vec![0], traffic })
    }

    /// The plan that moves its data; `None` for elements without bytes.
    fn plan(&self, input: &Input) -> Result<Option<Plan>, Failure> {
        if self.width == 0 {
            return Ok(None);
        }
        Plan::new(&self.tracker, self.width).map(Some).map_err(|err| about(self.tensor, input, err.into()))
    }

    /// The shape of the tensor in the output.
    fn shape(&self) -> &[i64] {
        if self.chosen { self.tracker.shape() } else { &self.tensor.shape }
    }
}

/// Writes the output: while this thread moves the data of one block, another writes the block before it to the disk.
fn write(mut output: Output, input: &Input, header: &[u8], moves: &[Move], args: &Args) -> Result<(), Failure> {
    let threads = threads(args.threads, moves)?;
    let block = (total(moves).1 / PARTS).clamp(BLOCKS.0, BLOCKS.1) as usize;
    output.write(header)?;
    let (filled, to_write) = mpsc::sync_channel::<Vec<u8>>(1);
    let (written, free) = mpsc::channel();
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("writer".into()).spawn_scoped(scope, move || {
            for buffer in to_write {
                output.write(&buffer)?;
                // The buffers of the last blocks are not needed again: that nobody receives them is no error.
                let _ = written.send(buffer);
            }
            Ok::<Output, Failure>(output)
        });
        let writer = writer.map_err(|err| Failure::new("io", format!("the thread that writes cannot start: {err}")))?;
        let mut buffers = vec![Vec::new(), Vec::new()];
        let mut moved = Ok(());
        // Elements without bytes have nothing to move, and the size of the file does not bound their number.
        'all: for m in moves.iter().filter(|m| m.width > 0) {
            for ranges in blocks(m.tracker.shape(), (block / m.width).max(1) as i64) {
                // When writing fails, both channels close; the error is that of the thread, returned below.
                let Some(mut buffer) = buffers.pop().or_else(|| free.recv().ok()) else { break 'all };
                moved = m.read(input.bytes(m.tensor), &ranges, &mut buffer, &threads);
                if moved.is_err() || filled.send(buffer).is_err() {
                    break 'all;
                }
            }
        }
        drop(filled);
        let output = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        moved?;
        input.check_length()?;
        output.finish()
    })
}

/// As many threads as are wanted, but no more than the largest tensor has work for.
fn threads(wanted: u16, moves: &[Move]) -> Result<Threads, Failure> {
    let largest = moves.iter().map(|m| m.traffic.1).max().unwrap_or(0);
    let useful = usize::try_from(largest / BYTES_PER_THREAD).unwrap_or(usize::MAX).max(1);
    let wanted = match wanted {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        wanted => wanted.into(),
    };
    Ok(Threads::new(wanted.min(useful))?)
}

impl Move<'_> {
    /// Moves the data of a part of the output into a buffer, which gets its length.
    fn read(&self, bytes: &[u8], ranges: &Ranges, buffer: &mut Vec<u8>, threads: &Threads) -> Result<(), Failure> {
        let part = self.tracker.shrink(ranges)?;
        buffer.resize(part.numel() as usize * self.width, 0);
        Ok(Plan::new(&part, self.width)?.read_bytes(bytes, buffer, &self.fill, threads)?)
    }
}

/// A tensor cut into parts of at most so many elements, in row-major order: whole rows of the first axis at which that
/// is possible.
fn blocks(shape: &[i64], most: i64) -> impl Iterator<Item = Ranges> {
    let (mut cut, mut row) = (shape.len(), 1i64);
    while cut > 0
        && let Some(larger) = row.checked_mul(shape[cut - 1]).filter(|larger| *larger <= most)
    {
        (cut, row) = (cut - 1, larger);
    }
    let rows = if row == 0 { 0 } else { most / row };
    let (outer, size) = match cut {
        0 => (&[][..], 1),
        _ => (&shape[..cut - 1], shape[cut - 1]),
    };
    let parts = if rows == 0 { 0 } else { size / rows + i64::from(size % rows != 0) };
    let count = outer.iter().fold(parts, |product, &size| product.saturating_mul(size));
    (0..count).map(move |number| {
        let mut ranges: Ranges = shape.iter().map(|&size| (0, size)).collect();
        if cut > 0 {
            let begin = number % parts * rows;
            ranges[cut - 1] = (begin, size.min(begin + rows));
        }
        let mut rest = number / parts;
        for (range, &size) in ranges.iter_mut().zip(outer).rev() {
            *range = (rest % size, rest % size + 1);
            rest /= size;
        }
        ranges
    })
}

/// How many bytes of all tensors are read, and how many are written.
fn total(moves: &[Move]) -> (u128, u128) {
    moves.iter().fold((0, 0), |sum, m| (sum.0 + m.traffic.0, sum.1 + m.traffic.1))
}

fn answer(text: &str, input: &Input, moves: &[Move], plans: &[Option<Plan>], args: &Args) -> Answer {
    let (read, written) = total(moves);
    let (chosen, plans): (Vec<&Move>, Vec<&Option<Plan>>) = moves.iter().zip(plans).filter(|(m, _)| m.chosen).unzip();
    let unchanged = moves.len() - chosen.len();
    let would = if args.dry_run { " would be written" } else { "" };
    // A text that needs a shape is another chain on each of them.
    let chain = text.parse::<Chain>().map_or_else(|_| text.to_owned(), |chain| chain.to_string());
    let mut text = format!("{BOLD}{}{BOLD:#}{would}\n", shown_path(&args.output));
    let names: Vec<String> = chosen.iter().map(|m| m.tensor.name.as_deref().map(shown).unwrap_or_default()).collect();
    let longest = |texts: &mut dyn Iterator<Item = &str>| texts.map(display_width).max().unwrap_or(0);
    let name_width = longest(&mut names.iter().map(String::as_str)).min(40);
    let type_width = longest(&mut chosen.iter().map(|m| &m.tensor.dtype.name[..])).min(20);
    let mut tensors: Vec<Value> = Vec::new();
    for ((m, name), plan) in chosen.iter().zip(&names).zip(plans) {
        let Tensor { dtype, shape, .. } = m.tensor;
        let gap = if name_width == 0 { "" } else { "  " };
        text += &format!("  {name:name_width$}{gap}{DIM}{:type_width$}{DIM:#}", dtype.name);
        text += &format!("  {} to {}\n", tuple(shape), tuple(m.shape()));
        if let (true, Some(plan)) = (args.dry_run, plan) {
            text += &indented(plan, 4);
        }
        tensors.push(json!({
            "name": m.tensor.name,
            "dtype": dtype.name,
            "from": shape,
            "to": m.shape(),
            "bytes_read": m.traffic.0,
            "bytes_written": m.traffic.1,
            "plan": plan.as_ref().map(Plan::to_string),
        }));
    }
    match unchanged {
        0 => {}
        1 => text += "  1 other tensor as it is\n",
        several => text += &format!("  {several} other tensors as they are\n"),
    }
    text += &traffic_text(!args.dry_run, read, written);
    let json = json!({
        "chain": chain,
        "input": input.path().to_string_lossy(),
        "output": args.output.to_string_lossy(),
        "dry_run": args.dry_run,
        "tensors": tensors,
        "unchanged": unchanged,
        "bytes_read": read,
        "bytes_written": written,
    });
    Answer { text, json, positive: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_one_another() {
        for shape in [&[][..], &[7], &[2, 3], &[4, 1, 5], &[3, 4, 5], &[1, 1, 9, 2], &[2, 0, 3], &[0]] {
            let tracker = ShapeTracker::contiguous(shape).unwrap();
            for most in [1, 2, 3, 4, 5, 7, 10, 19, 20, 21, 60, 1000] {
                let parts: Vec<_> = blocks(shape, most).map(|ranges| tracker.shrink(ranges).unwrap()).collect();
                assert!(parts.iter().all(|part| (1..=most).contains(&part.numel())), "{shape:?} {most}");
                let addresses = parts.iter().flat_map(|part| part.addresses().collect::<Vec<_>>());
                assert!(addresses.eq((0..tracker.numel()).map(Some)), "{shape:?} {most}");
                assert!(parts.len() as i64 <= 2 * tracker.numel() / most + 1, "{shape:?} {most}");
            }
        }
        let last = blocks(&[1 << 40, 1 << 22], 1 << 20).nth(6).unwrap();
        assert_eq!(last[..], [(1, 2), (2 << 20, 3 << 20)]);
    }
}
