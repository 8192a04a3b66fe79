//! Layouts recorded from real models: op chains, pairs of views and stacks as they reached kernels.
//!
//! `tests/corpus` holds JSON Lines, compressed. `chains.jsonl`: a `base` shape and movement `ops`, how many views the
//! recording compiler ended with (`reference_views`), and the CRC-32 of all addresses where there are at most 300,000
//! (`crc32`: little-endian 64-bit addresses in row-major order, -1 where masked, computed with NumPy from the ops
//! alone). `pairs.jsonl`: two `views`, next to memory first, whether they are `mergeable`, and the canonical `view`.
//! `indexed.jsonl`: `views` as they reached a kernel, and `crc32`. `reference.jsonl`: for each of these of more than one
//! view, by its `id`, what that compiler (tinygrad 0.11.0) printed for `index` and `valid`, and the `bits` of its numbers.

use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use shapetracker::{Dims, ErrorKind, Movement, ShapeTracker, Unmerged, View, merge};
use shapetracker_testing::{are_all_held, is_entry_held, judges_sums};

use crate::oracle::{RawView, advance, check_witness, evaluate, look_up};

pub(crate) fn lines(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/corpus/{name}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{path}: {error}"))).collect()
}

pub(crate) fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(|number| number.as_i64().expect("a number")).collect()
}

fn pairs(value: &Value) -> Vec<(i64, i64)> {
    value.as_array().expect("a list").iter().map(numbers).map(|pair| (pair[0], pair[1])).collect()
}

fn raw_view(value: &Value) -> RawView {
    RawView {
        shape: numbers(&value["shape"]),
        strides: numbers(&value["strides"]),
        offset: value["offset"].as_i64().expect("an offset"),
        mask: (!value["mask"].is_null()).then(|| pairs(&value["mask"])),
    }
}

pub(crate) fn stack(value: &Value) -> Vec<RawView> {
    value["views"].as_array().expect("views").iter().map(raw_view).collect()
}

/// The library's views of a line; none if some of its numbers are past `i64` and are refused for that reason.
///
/// A few lines have more elements than `i64` can count.
pub(crate) fn views(stack: &[RawView]) -> Result<Option<Vec<View>>, String> {
    let too_large = stack.iter().any(|view| {
        let (low, high) = view.reach();
        let address = |part: i128| i64::try_from(i128::from(view.offset) + part);
        is_past_i64(view.shape.clone()) || address(low).is_err() || address(high).is_err()
    });
    let view = |raw: &RawView| View::new(&raw.shape, &raw.strides, raw.offset, raw.mask.as_deref());
    match stack.iter().map(view).collect() {
        Ok(views) => Ok(Some(views)),
        Err(error) if too_large && error.kind() == ErrorKind::Overflow => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn movement(op: &Value) -> Movement {
    let dims = || Dims::from(numbers(&op[1]));
    match op[0].as_str().expect("the name of an operation") {
        "reshape" => Movement::Reshape(dims()),
        "permute" => Movement::Permute(dims()),
        "expand" => Movement::Expand(dims()),
        "pad" => Movement::Pad(pairs(&op[1]).into()),
        "shrink" => Movement::Shrink(pairs(&op[1]).into()),
        // One chain names the axes instead of saying it of each axis.
        "flip" if op[1][0].is_number() => Movement::Flip(dims()),
        "flip" => {
            let flags = op[1].as_array().expect("a list").iter().map(|flag| flag.as_bool().expect("a boolean"));
            Movement::Flip((0i64..).zip(flags).filter(|(_, flag)| *flag).map(|(axis, _)| axis).collect())
        }
        other => panic!("there is no operation {other:?}"),
    }
}

/// Holds the lines of this run's share to the check on all cores, and lists the lines that fail it.
pub(crate) fn for_each_line(name: &str, check: impl Fn(&Value) -> Result<(), String> + Sync) {
    let lines = lines(name).into_iter().enumerate();
    check_each(name, lines.filter_map(|(number, line)| is_entry_held(number).then_some(line)).collect(), check);
}

/// The same where what the lines come to together is judged: whether it is in this run, which then holds all lines.
pub(crate) fn for_each_line_in_sum(name: &str, check: impl Fn(&Value) -> Result<(), String> + Sync) -> bool {
    if judges_sums() {
        check_each(name, lines(name), check);
    } else {
        for_each_line(name, check);
    }
    judges_sums()
}

fn check_each(name: &str, lines: Vec<Value>, check: impl Fn(&Value) -> Result<(), String> + Sync) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = check(line) {
                        failures.lock().expect("no check panics").push(format!("{}: {why}", line["id"]));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no check panics");
    assert!(failures.is_empty(), "{} of {} lines fail:\n{}", failures.len(), lines.len(), failures.join("\n"));
    println!("all {} lines of {name} pass", lines.len());
}

/// The CRC-32 of all addresses of a stack of views.
fn crc32(stack: &[RawView]) -> u32 {
    let (last, earlier) = stack.split_last().expect("a stack has a view");
    let mut hasher = crc32fast::Hasher::new();
    let mut bytes = Vec::new();
    // Whole rows of the last axis at a time; the axes before it are walked like an odometer.
    let (row, outer) = last.shape.split_last().map_or((1, &[][..]), |(row, outer)| (*row, outer));
    let inner_stride = last.strides.last().map_or(0, |stride| *stride);
    let inner_range = if last.shape.is_empty() { (0, 1) } else { last.range(outer.len()) };
    let mut index = vec![0; outer.len()];
    for _ in 0..outer.iter().product::<i64>() {
        let valid = !last.is_empty()
            && index.iter().enumerate().all(|(axis, i)| (last.range(axis).0..last.range(axis).1).contains(i));
        let start = index.iter().zip(&last.strides).fold(last.offset, |start, (i, stride)| start + i * stride);
        for i in 0..row {
            let mut address = -1;
            if valid && inner_range.0 <= i && i < inner_range.1 {
                address = earlier.iter().rev().fold(start + i * inner_stride, through);
            }
            bytes.extend_from_slice(&address.to_le_bytes());
        }
        advance(&mut index, outer);
        if bytes.len() > 1 << 16 {
            hasher.update(&bytes);
            bytes.clear();
        }
    }
    hasher.update(&bytes);
    hasher.finalize()
}

/// The address that a view gives to a position, and -1 where it is masked or was masked before.
fn through(position: i64, view: &RawView) -> i64 {
    let Ok(mut rest) = u64::try_from(position) else { return -1 };
    let mut address = view.offset;
    for axis in (0..view.shape.len()).rev() {
        let size = view.shape[axis] as u64;
        if size == 1 {
            continue; // A masked axis of size 1 would leave nothing valid, which is seen below.
        }
        let digit;
        (rest, digit) = (rest / size, (rest % size) as i64);
        let (begin, end) = view.range(axis);
        if digit < begin || end <= digit {
            return -1;
        }
        address += digit * view.strides[axis];
    }
    if view.is_empty() { -1 } else { address }
}

fn same_crc32(line: &Value, st: &ShapeTracker) -> Result<(), String> {
    let Some(expected) = line["crc32"].as_str() else { return Ok(()) };
    let found = format!("{:08x}", crc32(&st.views().iter().map(RawView::from).collect::<Vec<_>>()));
    if found == expected { Ok(()) } else { Err(format!("crc32 {found} of {st:?} should be {expected}")) }
}

#[test]
fn chains_read_the_right_addresses_through_no_more_views_than_the_reference() {
    let [views, reference, fewer, refused] = [0; 4].map(AtomicUsize::new);
    let misjudged = Mutex::new(Vec::new());
    for_each_line("chains", |line| {
        let mut st = ShapeTracker::contiguous(numbers(&line["base"])).map_err(|error| error.to_string())?;
        for op in line["ops"].as_array().expect("operations") {
            st = match st.apply(&movement(op)) {
                Ok(st) => st,
                Err(error) if error.kind() == ErrorKind::Overflow && is_past_i64(numbers(&op[1])) => {
                    refused.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                Err(error) => return Err(error.to_string()),
            };
        }
        let most = line["reference_views"].as_u64().expect("a count") as usize;
        views.fetch_add(st.views().len(), Ordering::Relaxed);
        reference.fetch_add(most, Ordering::Relaxed);
        fewer.fetch_add(usize::from(st.views().len() < most), Ordering::Relaxed);
        if st.views().len() > most {
            // The reference is wrong where it says one view and the addresses are none.
            let stack: Vec<RawView> = st.views().iter().map(RawView::from).collect();
            if most > 1 || evaluate(&stack).single_view().is_some() {
                return Err(format!("{} views, and the reference has {most}: {st:?}", st.views().len()));
            }
            misjudged.lock().expect("no check panics").push(line["id"].as_str().expect("an id").to_owned());
        }
        // More than one view is provably not one, and the proof holds.
        if st.views().len() > 1 {
            let Err(Unmerged::Witness(witness)) = st.single_view() else {
                return Err(format!("no witness why {st:?} is no single view"));
            };
            let stack: Vec<RawView> = st.views().iter().map(RawView::from).collect();
            check_witness(&witness, st.shape(), |index| look_up(&stack, index))
                .map_err(|why| format!("{witness:?} is no witness: {why}"))?;
        }
        same_crc32(line, &st)
    });
    println!("{views:?} views, {reference:?} in the reference; {fewer:?} chains have fewer than the reference");
    println!("{refused:?} chains are refused as past i64");
    assert!(refused.into_inner() <= 2);
    let mut misjudged = misjudged.into_inner().expect("no check panics");
    misjudged.sort();
    let known = ["c2597", "c692"];
    assert!(
        misjudged.iter().all(|id| known.contains(&&**id)),
        "{misjudged:?} have a reference of one view and are none"
    );
    assert!(!are_all_held() || misjudged == known, "of {known:?} only {misjudged:?} have a reference of one view");
}

/// Whether a shape has more elements than `i64` can count.
pub(crate) fn is_past_i64(shape: Vec<i64>) -> bool {
    i64::try_from(shape.into_iter().map(i128::from).product::<i128>()).is_err()
}

#[test]
fn pairs_merge_as_decided_exactly() {
    let [merged, refused] = [0; 2].map(AtomicUsize::new);
    for_each_line("pairs", |line| {
        let stack = stack(line);
        let expected = line["mergeable"].as_bool().expect("a boolean").then(|| raw_view(&line["view"]));
        let Some(views) = views(&stack)? else {
            refused.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        };
        match (merge(&views[0], &views[1]), expected) {
            (Ok(view), Some(expected)) if expected == view => {
                merged.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            (Err(Unmerged::Witness(witness)), None) => {
                check_witness(&witness, &stack[1].shape, |index| look_up(&stack, index))
                    .map_err(|why| format!("{witness:?} is no witness: {why}"))
            }
            (found, expected) => Err(format!("{found:?} should be {expected:?}")),
        }
    });
    println!("{merged:?} pairs merge, {refused:?} are refused as past i64");
    assert!(refused.into_inner() <= 8);
}

#[test]
fn stacks_that_reached_kernels_keep_their_addresses() {
    let [kept, given, refused] = [0; 3].map(AtomicUsize::new);
    for_each_line("indexed", |line| {
        let stack = stack(line);
        let Some(views) = views(&stack)? else {
            refused.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        };
        let st = ShapeTracker::from_views(views).map_err(|error| error.to_string())?;
        kept.fetch_add(st.views().len(), Ordering::Relaxed);
        given.fetch_add(stack.len(), Ordering::Relaxed);
        same_crc32(line, &st)
    });
    println!("{kept:?} views of {given:?}; {refused:?} stacks are refused as past i64");
    assert!(refused.into_inner() <= 1);
}
