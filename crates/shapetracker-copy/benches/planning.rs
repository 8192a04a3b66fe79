//! Planning costs no more than it saves: what planning and one run take together, beside walking over the elements.
//!
//! `cargo bench -p shapetracker-copy --bench planning [COUNT]` prints a table over the recorded layouts and over COUNT random
//! deep stacks (2,000 without it): permuted, padded and reshaped in turn, of up to 130,000 elements. The walk moves elements of four
//! bytes to the addresses that `ShapeTracker::addresses` lists, one by one on one thread. A bound of twice its time and 100 µs
//! is what planning and a run are to keep; `excess` is how many walks they take after the first 100 µs. Times are the least of
//! several, because the machine may be shared; nothing is asserted.

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::Value;
use shapetracker::text::tuple;
use shapetracker::{ShapeTracker, View};
use shapetracker_copy::{Plan, Threads};

/// Tensors of more elements are planned, and not moved.
const MOST_MOVED: i64 = 1 << 20;

fn main() {
    let count = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(2_000);
    println!("| layouts | trackers | walked | plan, mean | plan, longest | excess, 99 of 100 | excess, most |");
    println!("|---|---|---|---|---|---|---|");
    for file in ["chains", "indexed"] {
        measure(&format!("recorded {file}"), recorded(file));
    }
    measure("random deep stacks", (0..count).filter_map(deep));
}

/// What was measured of one tracker.
struct Measured {
    text: String,
    walks: bool,
    plan: Duration,
    /// How many walks planning and running take after the first 100 µs; `None` where nothing was moved.
    excess: Option<f64>,
}

fn measure(name: &str, trackers: impl Iterator<Item = (String, ShapeTracker)>) {
    let mut measured: Vec<Measured> = trackers.filter_map(measured).collect();
    let walks = measured.iter().filter(|of| of.walks).count();
    let mean = measured.iter().map(|of| of.plan).sum::<Duration>() / measured.len().max(1) as u32;
    measured.sort_by_key(|of| of.plan);
    let (count, slowest) = (measured.len(), measured.pop().expect("there are trackers"));
    let mut excesses: Vec<(f64, &str)> =
        measured.iter().chain([&slowest]).filter_map(|of| Some((of.excess?, &*of.text))).collect();
    excesses.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (most, worst) = excesses[excesses.len() - 1];
    let usual = excesses[excesses.len() * 99 / 100].0;
    println!("| {name} | {count} | {walks} | {mean:.1?} | {:.1?} | {usual:.2} | {most:.2} |", slowest.plan);
    println!("<!-- longest plan: {} -->", slowest.text);
    println!("<!-- most excess: {worst} -->");
}

fn measured((text, st): (String, ShapeTracker)) -> Option<Measured> {
    let plan = Plan::new(&st, 4).ok()?;
    let walks = plan.to_string().contains("walked");
    let planning = least(|| Plan::new(&st, 4));
    let excess = (st.numel() <= MOST_MOVED && plan.buffer_len() < 1 << 26).then(|| {
        let buffer: Vec<u32> = (0..plan.buffer_len() as u32).collect();
        let mut tensor = vec![0; st.numel() as usize];
        let walking = least(|| {
            for (element, address) in tensor.iter_mut().zip(st.addresses()) {
                *element = address.map_or(7, |address| buffer[address as usize]);
            }
        });
        let walked = std::mem::take(&mut tensor);
        tensor = vec![0; walked.len()];
        let running = least(|| plan.read_into(&buffer, &mut tensor, 7, &Threads::one()));
        assert!(tensor == walked, "{text} is read wrong");
        let after = (planning + running).saturating_sub(Duration::from_micros(100));
        after.as_secs_f64() / walking.as_secs_f64().max(1e-9)
    });
    Some(Measured { text, walks, plan: planning, excess })
}

/// The least time that something takes, of several.
fn least<T>(mut work: impl FnMut() -> T) -> Duration {
    let (mut best, mut all, mut times) = (Duration::MAX, Duration::ZERO, 0);
    while times < 3 || times < 20 && all < Duration::from_millis(5) {
        let start = Instant::now();
        std::hint::black_box(work());
        let time = start.elapsed();
        (best, all, times) = (best.min(time), all + time, times + 1);
    }
    best
}

/// The layouts recorded from real models.
fn recorded(name: &str) -> impl Iterator<Item = (String, ShapeTracker)> {
    let path = format!("{}/../shapetracker/tests/corpus/{name}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|error| panic!("{path}: {error}"));
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // Some chains were recorded because they are refused.
    lines.into_iter().filter_map(|line| {
        let line: Value = serde_json::from_str(&line).expect("a document of JSON");
        let id = line["id"].as_str().expect("an id").to_owned();
        Some((id, if line["views"].is_null() { chain(&line)? } else { stack(&line)? }))
    })
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(|number| number.as_i64().expect("a number")).collect()
}

fn pairs(value: &Value) -> Vec<(i64, i64)> {
    value.as_array().expect("a list").iter().map(numbers).map(|pair| (pair[0], pair[1])).collect()
}

fn stack(line: &Value) -> Option<ShapeTracker> {
    let views = line["views"].as_array().expect("views").iter().map(|view| {
        let mask = (!view["mask"].is_null()).then(|| pairs(&view["mask"]));
        let offset = view["offset"].as_i64().expect("an offset");
        View::new(numbers(&view["shape"]), numbers(&view["strides"]), offset, mask.as_deref()).ok()
    });
    ShapeTracker::from_views(views.collect::<Option<Vec<_>>>()?).ok()
}

fn chain(line: &Value) -> Option<ShapeTracker> {
    let st = ShapeTracker::contiguous(numbers(&line["base"])).ok()?;
    line["ops"].as_array().expect("operations").iter().try_fold(st, |st, op| {
        let moved = match op[0].as_str().expect("the name of an operation") {
            "reshape" => st.reshape(numbers(&op[1])),
            "permute" => st.permute(numbers(&op[1])),
            "expand" => st.expand(numbers(&op[1])),
            "pad" => st.pad(pairs(&op[1])),
            "shrink" => st.shrink(pairs(&op[1])),
            _ if op[1][0].is_number() => st.flip(numbers(&op[1])),
            _ => {
                let flags = op[1].as_array().expect("a list").iter().enumerate();
                st.flip(flags.filter(|(_, flag)| **flag == true).map(|(axis, _)| axis as i64).collect::<Vec<_>>())
            }
        };
        moved.ok()
    })
}

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// A small tensor, permuted, padded and reshaped in turn.
fn deep(seed: u64) -> Option<(String, ShapeTracker)> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    random.below(2);
    let base: Vec<i64> = (0..2 + random.below(2)).map(|_| 2 + random.below(12) as i64).collect();
    let (operations, most) = (4 + random.below(40), [300, 3_000, 20_000, 130_000][random.below(4)]);
    let mut text = tuple(&base).to_string();
    let mut st = ShapeTracker::contiguous(&base).ok()?;
    for operation in 0..operations {
        let rank = st.rank();
        let (name, next) = match operation % 3 {
            0 => {
                let mut axes: Vec<i64> = (0..rank as i64).collect();
                (1..rank).rev().for_each(|axis| axes.swap(axis, random.below(axis + 1)));
                (format!(".permute{}", tuple(&axes)), st.permute(&axes).ok()?)
            }
            1 => {
                let pads: Vec<_> = (0..rank).map(|_| (random.below(2) as i64, random.below(2) as i64)).collect();
                let shown: Vec<String> = pads.iter().map(|(before, after)| format!("({before}, {after})")).collect();
                (format!(".pad({})", shown.join(", ")), st.pad(&pads).ok()?)
            }
            _ => {
                let mut shape = vec![1; 1 + random.below(4)];
                let (mut rest, mut factor) = (st.numel(), 2);
                while rest > 1 {
                    if rest % factor == 0 {
                        let axis = random.below(shape.len());
                        (shape[axis], rest) = (shape[axis] * factor, rest / factor);
                    } else {
                        factor += 1;
                    }
                }
                (format!(".reshape{}", tuple(&shape)), st.reshape(&shape).ok()?)
            }
        };
        if next.numel() <= most {
            text += &name;
            st = next;
        }
    }
    Some((text, st))
}
