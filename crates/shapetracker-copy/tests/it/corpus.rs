//! Layouts recorded from real models, which are the library's corpus: chains of operations and stacks of views.
//!
//! A line tells the CRC-32 of all addresses (little-endian 64-bit, row-major, -1 where masked), computed with NumPy
//! from the operations alone. Reading a buffer that holds its own addresses must yield just those bytes, so that an
//! outside judge decides; what was read then says what elements of other widths must be.

use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

use serde_json::Value;
use shapetracker::ShapeTracker;
use shapetracker_copy::{Plan, Threads};

use crate::naive::{How, Tensor, WIDTHS, check_read, check_write};
use crate::oracle::{Array, RawView};
use crate::random::Op;
use shapetracker_testing::{are_all_held, is_entry_held};

/// The longest buffer that is made, in elements.
const LONGEST: usize = 1 << 22;

/// A buffer in which every element is its own address.
static ADDRESSES: LazyLock<Vec<u8>> = LazyLock::new(|| (0..LONGEST as i64).flat_map(i64::to_le_bytes).collect());

fn lines(name: &str) -> Vec<Value> {
    let path = format!("{}/../shapetracker/tests/corpus/{name}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{path}: {error}"))).collect()
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(|number| number.as_i64().expect("a number")).collect()
}

fn pairs(value: &Value) -> Vec<(i64, i64)> {
    value.as_array().expect("a list").iter().map(numbers).map(|pair| (pair[0], pair[1])).collect()
}

fn op(op: &Value) -> Op {
    match op[0].as_str().expect("the name of an operation") {
        "reshape" => Op::Reshape(numbers(&op[1])),
        "permute" => Op::Permute(numbers(&op[1])),
        "expand" => Op::Expand(numbers(&op[1])),
        "pad" => Op::Pad(pairs(&op[1])),
        "shrink" => Op::Shrink(pairs(&op[1])),
        // One chain names the axes instead of saying it of each axis.
        "flip" if op[1][0].is_number() => Op::Flip(numbers(&op[1])),
        "flip" => {
            let flags = op[1].as_array().expect("a list").iter().map(|flag| flag.as_bool().expect("a boolean"));
            Op::Flip((0..).zip(flags).filter(|(_, flag)| *flag).map(|(axis, _)| axis).collect())
        }
        other => panic!("there is no operation {other:?}"),
    }
}

fn chain(line: &Value) -> Result<ShapeTracker, String> {
    let st = ShapeTracker::contiguous(numbers(&line["base"])).map_err(|error| error.to_string());
    let ops = line["ops"].as_array().expect("operations");
    ops.iter().fold(st, |st, line| op(line).on_tracker(&st?).map_err(|error| error.to_string()))
}

fn stack(line: &Value) -> Result<ShapeTracker, String> {
    let view = |value: &Value| RawView {
        shape: numbers(&value["shape"]),
        strides: numbers(&value["strides"]),
        offset: value["offset"].as_i64().expect("an offset"),
        mask: (!value["mask"].is_null()).then(|| pairs(&value["mask"])),
    };
    let views = line["views"].as_array().expect("views").iter().map(|value| view(value).view());
    ShapeTracker::from_views(views).map_err(|error| error.to_string())
}

/// What became of the lines.
#[derive(Debug, Default)]
struct Tally {
    judged: AtomicUsize,
    written: AtomicUsize,
    without_checksum: AtomicUsize,
    long_buffer: AtomicUsize,
    left_out: AtomicUsize,
}

fn count(number: &AtomicUsize) {
    number.fetch_add(1, Ordering::Relaxed);
}

/// Reads and writes one line's layout.
fn check_line(number: usize, line: &Value, st: &ShapeTracker, tally: &Tally) -> Result<(), String> {
    let plan = Plan::new(st, 8).map_err(|error| error.to_string())?;
    let Some(buffer) = ADDRESSES.get(..plan.buffer_len().saturating_mul(8)) else {
        count(&tally.long_buffer);
        return Ok(());
    };
    let mut out = vec![0x55; st.numel() as usize * 8];
    let read = plan.read_bytes(buffer, &mut out, &[0xFF; 8], &Threads::one());
    read.map_err(|error| error.to_string())?;
    let found = format!("{:08x}", crc32fast::hash(&out));
    if line["crc32"] != found {
        return Err(format!("crc32 {found} should be {}: {st}\n{plan}", line["crc32"]));
    }
    count(&tally.judged);

    let cell = |bytes: &[u8]| Some(i64::from_le_bytes(bytes.try_into().expect("8 bytes"))).filter(|at| *at >= 0);
    let array = Array { shape: st.shape().to_vec(), cells: out.chunks_exact(8).map(cell).collect() };
    let tensor = Tensor::new(st.clone(), array);
    // All widths of what is small, of the rest some in turn, and none of what is large.
    let widths = match tensor.array.cells.len() {
        0..300 => &WIDTHS[..],
        300..20_000 => &[WIDTHS[number % 14], WIDTHS[(number + 5) % 14]],
        20_000..100_000 => &[WIDTHS[number % 9]],
        _ => &[],
    };
    for &width in widths {
        check_read(&tensor, How::drawn(width, number as u64))?;
    }
    if tensor.array.cells.len() < 20_000 {
        check_write(&tensor, How::drawn(widths[0], number as u64))?;
        count(&tally.written);
    }
    Ok(())
}

/// Holds every line to the check on two cores, and lists the lines that fail it.
fn check_lines(name: &str, tracker: impl Fn(&Value) -> Result<ShapeTracker, String> + Sync) -> Tally {
    let (lines, tally) = (lines(name), Tally::default());
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let number = next.fetch_add(1, Ordering::Relaxed)
            && let Some(line) = lines.get(number)
        {
            if !is_entry_held(number) {
                count(&tally.left_out);
            } else if line["crc32"].is_null() {
                count(&tally.without_checksum);
            } else if let Err(why) = tracker(line).and_then(|st| check_line(number, line, &st, &tally)) {
                failures.lock().expect("no check panics").push(format!("{}: {why}", line["id"]));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let failures = failures.into_inner().expect("no check panics");
    let most = &failures[..failures.len().min(20)];
    assert!(failures.is_empty(), "{} of {} lines of {name} fail:\n{}", failures.len(), lines.len(), most.join("\n"));
    println!("{name}: {tally:?}");
    tally
}

#[test]
fn chains_are_read_as_numpy_says() {
    let tally = check_lines("chains", chain);
    // The other 600 have more than 300,000 elements, and so no checksum.
    assert!(!are_all_held() || tally.judged.into_inner() == 2979);
}

#[test]
fn stacks_that_reached_kernels_are_read_as_numpy_says() {
    let tally = check_lines("indexed", stack);
    assert!(!are_all_held() || tally.judged.into_inner() == 1327);
}
