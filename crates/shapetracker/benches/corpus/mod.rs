//! The recorded layouts of `tests/corpus`, as the benchmarks want them: parsed, and without the few lines that
//! `i64` cannot hold.

#![allow(dead_code)] // Each benchmark reads one of the files.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;
use shapetracker::{Dims, Movement, Ranges, ShapeTracker, View};

/// A line of `pairs.jsonl`.
pub(crate) struct Pair {
    pub(crate) id: String,
    pub(crate) earlier: View,
    pub(crate) later: View,
    pub(crate) mergeable: bool,
}

/// A line of `indexed.jsonl`.
pub(crate) struct Indexed {
    pub(crate) id: String,
    pub(crate) tracker: ShapeTracker,
}

/// A line of `chains.jsonl`.
pub(crate) struct Chain {
    pub(crate) id: String,
    pub(crate) base: Dims,
    pub(crate) ops: Vec<Movement>,
}

impl Chain {
    /// The tracker at the end of the chain, or `None` where an operation is refused.
    pub(crate) fn run(&self) -> Option<ShapeTracker> {
        let start = ShapeTracker::contiguous(&self.base).ok()?;
        self.ops.iter().try_fold(start, |tracker, op| tracker.apply(op).ok())
    }
}

/// The pairs that fit `i64` (3,992 of 4,000).
pub(crate) fn pairs() -> Vec<Pair> {
    let pair = |line: &Value| {
        Some(Pair {
            id: line["id"].as_str()?.to_owned(),
            earlier: view(&line["views"][0])?,
            later: view(&line["views"][1])?,
            mergeable: line["mergeable"].as_bool()?,
        })
    };
    lines("pairs").iter().filter_map(pair).collect()
}

/// The chains that fit `i64` (3,577 of 3,579).
pub(crate) fn chains() -> Vec<Chain> {
    let chain = |line: &Value| {
        let ops = line["ops"].as_array()?.iter().map(movement).collect::<Option<_>>()?;
        let id = line["id"].as_str()?.to_owned();
        let chain = Chain { id, base: numbers(&line["base"])?, ops };
        chain.run().is_some().then_some(chain)
    };
    lines("chains").iter().filter_map(chain).collect()
}

/// The trackers of the stacks that reached kernels and that fit `i64` (2,998 of 2,999).
pub(crate) fn indexed() -> Vec<Indexed> {
    let indexed = |line: &Value| {
        let views = line["views"].as_array()?.iter().map(view).collect::<Option<Vec<View>>>()?;
        Some(Indexed { id: line["id"].as_str()?.to_owned(), tracker: ShapeTracker::from_views(views).ok()? })
    };
    lines("indexed").iter().filter_map(indexed).collect()
}

fn lines(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/corpus/{name}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{path}: {error}"))).collect()
}

/// The view of a line.
fn view(value: &Value) -> Option<View> {
    let mask = if value["mask"].is_null() { None } else { Some(ranges(&value["mask"])?) };
    let (shape, strides) = (numbers(&value["shape"])?, numbers(&value["strides"])?);
    View::new(shape, strides, value["offset"].as_i64()?, mask.as_deref()).ok()
}

/// The operation of a line: its name and one argument.
fn movement(op: &Value) -> Option<Movement> {
    Some(match op[0].as_str()? {
        "reshape" => Movement::Reshape(numbers(&op[1])?),
        "permute" => Movement::Permute(numbers(&op[1])?),
        "expand" => Movement::Expand(numbers(&op[1])?),
        "pad" => Movement::Pad(ranges(&op[1])?),
        "shrink" => Movement::Shrink(ranges(&op[1])?),
        "flip" => {
            // One boolean an axis; one chain has the numbers of the axes instead.
            let entry = |(axis, entry): (usize, &Value)| match entry.as_bool() {
                Some(flipped) => flipped.then_some(axis as i64),
                None => entry.as_i64(),
            };
            Movement::Flip(op[1].as_array()?.iter().enumerate().filter_map(entry).collect())
        }
        _ => return None,
    })
}

fn numbers(value: &Value) -> Option<Dims> {
    value.as_array()?.iter().map(Value::as_i64).collect()
}

fn ranges(value: &Value) -> Option<Ranges> {
    value.as_array()?.iter().map(|pair| Some((pair[0].as_i64()?, pair[1].as_i64()?))).collect()
}
