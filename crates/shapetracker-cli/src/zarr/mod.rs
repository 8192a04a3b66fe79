//! `shapetracker apply` on arrays of Zarr: folders of chunks, of which only some are in memory.
//!
//! [`store`] opens, reads and writes; [`document`] says what is wrong with metadata, and [`elements`] has types that are only
//! bytes; [`metadata`] says what the output is; `shapetracker-chunks` says which chunks are
//! read when, and [`run`] does it.

mod document;
mod elements;
mod metadata;
mod run;
mod store;

use std::path::Path;

use serde_json::json;
use shapetracker::{Chain, ShapeTracker};
use shapetracker_chunks::{ChunkPlan, Grid, choose_output};

use self::metadata::{Cut, Targets, adapted, inner_elements};
use self::run::Run;
use self::store::{Sink, Source, is_array};
use crate::answer::{Answer, BOLD, DIM, Failure, count, paragraph, tuple};
use crate::apply::args::Args;
use crate::files::{FolderTarget, OutputFolder, shown_path};
use crate::input::chain_on;
use crate::plan::{bytes, traffic_text};

/// How much memory is taken where nobody says how much may be.
const MEMORY: u64 = 1 << 30;

pub(crate) fn apply(text: &str, args: &Args, json: bool) -> Result<Answer, Failure> {
    store::without_panics_of_codecs();
    if !args.tensor.is_empty() {
        return Err(Failure::new("tensor", "an array of Zarr has no name: leave --tensor away"));
    }
    let source = Source::open(&args.input)?;
    let fill = source.dtype.value(&args.fill).map_err(|message| Failure::new("fill", message))?;
    let chain = chain_on(source.grid.shape(), text)?;
    let tracker = chain.tracker_from(source.grid.shape())?;
    let target = FolderTarget::new(&args.output, source.path(), args.force, |folder| {
        if is_array(folder) { Ok(()) } else { Err("is no array of Zarr, and nothing else is replaced".into()) }
    })?;
    check_extension(&args.output)?;
    let numel = |grid: &Grid| (0..grid.rank()).map(|axis| grid.sizes(axis).max().unwrap_or(1)).product();
    let targets = Targets { stored: numel(&source.grid), inner: inner_elements(&source.metadata) };
    let sizes = |sizes: &Option<crate::check::Numbers>| sizes.clone();
    let (chunks, shards) = (sizes(&args.chunks), sizes(&args.shards));
    let cut = Cut::new(tracker.shape(), chunks.as_deref(), shards.as_deref(), targets, |elements| {
        let grid = choose_output(&tracker, &source.grid, elements)?;
        // The chunks of an array of Zarr are all alike; where those that were chosen are not, the largest are taken.
        Ok((0..grid.rank()).map(|axis| grid.sizes(axis).max().unwrap_or(1)).collect())
    })?;
    let (metadata, remarks) = adapted(&source.metadata, tracker.shape(), &cut)?;
    Sink::check(&metadata)?;
    let total = total(&tracker, source.width)?;
    let output_grid = Grid::regular(tracker.shape(), &cut.stored)?;
    let plan = ChunkPlan::new(&tracker, source.grid.clone(), output_grid)?;
    let run = Run::new(&plan, args.memory.unwrap_or(MEMORY), source.width, args.threads)?;
    if !args.dry_run {
        let output = OutputFolder::create(target, total, json)?;
        let sink = Sink::new(output.path(), &metadata, plan.output(), source.width)?;
        run.run(&plan, &source, &sink, &output, &fill)?;
        // Only with its metadata is the folder an array.
        output.write(0, || sink.finish())?;
        output.finish()?;
    }
    Ok(answer(&chain, &source, &plan, &run, &cut, &remarks, total, args))
}

/// How many bytes the elements of the output have.
fn total(tracker: &ShapeTracker, width: usize) -> Result<u64, Failure> {
    let too_many = || Failure::new("output", "the output would have more bytes than can be counted");
    (tracker.numel() as u64).checked_mul(width as u64).ok_or_else(too_many)
}

/// Refuses an output whose extension is that of a file, which would mislead whoever opens it.
fn check_extension(output: &Path) -> Result<(), Failure> {
    let extension = output.extension().map(|extension| extension.to_ascii_lowercase());
    match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some("npy" | "npz" | "safetensors" | "pt" | "zip") => {
            let message = format!(
                "{} would be in the format of the input, a folder of Zarr: give it a name that ends in .zarr",
                shown_path(output)
            );
            Err(Failure::new("output", message))
        }
        _ => Ok(()),
    }
}

#[allow(clippy::too_many_arguments, reason = "it puts together what all the steps found")]
fn answer(
    chain: &Chain,
    source: &Source,
    plan: &ChunkPlan,
    run: &Run,
    cut: &Cut,
    remarks: &[String],
    total: u64,
    args: &Args,
) -> Answer {
    let schedule = &run.schedule;
    let (from, to) = (plan.input(), plan.output());
    let of = |grid: &Grid| grid.regular_chunk().map(|chunk| chunk.to_vec());
    let shown_chunks = |chunk: Option<&[i64]>| chunk.map_or("of several sizes".into(), tuple);
    let would = if args.dry_run { " would be written" } else { "" };
    let mut text = format!("{BOLD}{}{BOLD:#}{would}\n", shown_path(&args.output));
    text += &format!("  {DIM}{}{DIM:#}  {} to {}\n", source.dtype.name, tuple(from.shape()), tuple(to.shape()));
    let read_from = of(from);
    let shards = cut.inner.as_ref().map(|inner| format!(", shards of chunks {}", tuple(inner))).unwrap_or_default();
    text += &format!("  chunks {} to {}{shards}\n", shown_chunks(read_from.as_deref()), tuple(&cut.stored));
    let least = match schedule.reads() == schedule.lower_bound() {
        true => "each that is needed once".to_owned(),
        false => format!("{} of them needed", schedule.lower_bound()),
    };
    text += &paragraph(
        &format!(
            "{} of {} are read, {least}, in {}; {} are in memory at most, and what codecs need",
            count(schedule.reads() as i64, "chunk"),
            from.len(),
            count(schedule.rounds() as i64, "round"),
            bytes(schedule.peak_bytes().into())
        ),
        2,
    );
    for remark in remarks {
        text += &paragraph(remark, 2);
    }
    let read = schedule.read_bytes();
    text += &traffic_text(!args.dry_run, read.into(), total.into());
    let json = json!({
        "chain": chain.to_string(),
        "input": source.path().to_string_lossy(),
        "output": args.output.to_string_lossy(),
        "dry_run": args.dry_run,
        "tensors": [{
            "name": null,
            "dtype": source.dtype.name,
            "from": from.shape(),
            "to": to.shape(),
            "bytes_read": read,
            "bytes_written": total,
            "plan": null,
        }],
        "unchanged": 0,
        "bytes_read": read,
        "bytes_written": total,
        "chunks": {
            "from": read_from,
            "to": cut.stored,
            "inner": cut.inner,
            "count_from": from.len(),
            "count_to": to.len(),
            "reads": schedule.reads(),
            "needed": schedule.lower_bound(),
            "rounds": schedule.rounds(),
            "peak_bytes": schedule.peak_bytes(),
            "remarks": remarks,
        },
    });
    Answer { text, json, positive: true }
}

impl From<shapetracker_chunks::Error> for Failure {
    fn from(err: shapetracker_chunks::Error) -> Failure {
        Failure::new("chunks", err.to_string())
    }
}
