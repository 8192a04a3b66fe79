//! Trackers whose code is written, with what they read according to the oracle.

use std::io::Read;

use serde_json::Value;
use shapetracker::expr::IndexExpr;
use shapetracker::{ShapeTracker, View};
use shapetracker_testing::is_text_held;

use crate::oracle::{RawView, evaluate};

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) shape: Vec<i64>,
    pub(crate) code: IndexExpr,
    /// What each element reads, in row-major order.
    pub(crate) addresses: Vec<Option<i64>>,
}

impl Case {
    pub(crate) fn new(name: &str, stack: &[RawView]) -> Case {
        let tracker = ShapeTracker::from_views(stack.iter().map(RawView::view)).expect("the views compose");
        let code = tracker.index_expr().expect("all values fit");
        Case { name: name.into(), shape: tracker.shape().into(), code, addresses: evaluate(stack).cells }
    }

    /// How long a buffer must be for every address to lie in it.
    pub(crate) fn buffer_len(&self) -> i64 {
        self.addresses.iter().flatten().map(|address| address.saturating_add(1)).max().unwrap_or(0)
    }

    /// Whether a buffer of floats can hold every address as a value.
    pub(crate) fn is_small(&self) -> bool {
        self.buffer_len() < 1 << 20
    }

    /// What a kernel makes of a buffer that holds 1, 2, 3 and so on.
    pub(crate) fn gathered(&self) -> impl Iterator<Item = i64> {
        self.addresses.iter().map(|address| address.map_or(0, |address| address + 1))
    }
}

/// The cases whose code is kept in files.
pub(crate) fn golden() -> Vec<Case> {
    let view = RawView::new;
    vec![
        Case::new("permuted", &[view(&[2, 3], &[1, 2], 0, None), RawView::contiguous(&[3, 2])]),
        Case::new(
            "convolution",
            &[view(&[10, 10], &[8, 1], -9, Some(&[(1, 9), (1, 9)])), view(&[8, 8, 3, 3], &[10, 1, 10, 1], 0, None)],
        ),
        Case::new(
            "transposed_convolution",
            &[
                view(&[4, 2, 4, 2], &[4, 0, 1, 0], 0, Some(&[(0, 4), (0, 1), (0, 4), (0, 1)])),
                view(&[9, 9], &[8, 1], -9, Some(&[(1, 8), (1, 8)])),
                view(&[7, 7, 3, 3], &[9, 1, -9, -1], 20, None),
            ],
        ),
        Case::new("flipped", &[view(&[4, 3], &[-3, -1], 11, None)]),
        Case::new("empty", &[RawView::contiguous(&[0, 3])]),
        Case::new("scalar", &[view(&[], &[], 5, None)]),
        Case::new("tiles", &[view(&[3, 42, 70], &[2100, 1, 30], -5, Some(&[(0, 3), (5, 35), (0, 70)]))]),
        Case::new("fours", &[view(&[6, 5, 16], &[8, 48, 1], -4, Some(&[(0, 6), (0, 5), (4, 12)]))]),
        Case::new("triangle", &[view(&[4, 9], &[5, 1], -4, Some(&[(0, 4), (4, 9)])), view(&[5, 4], &[1, 10], 0, None)]),
    ]
}

/// The golden cases, others that are hard to write, and a sample of what reached the kernels of real models.
pub(crate) fn all() -> Vec<Case> {
    let view = RawView::new;
    let far = 1 << 40;
    let mut cases = golden();
    cases.extend([
        Case::new("far", &[view(&[2, 3, 2], &[far, -(1 << 33), 5], 1 << 34, None), RawView::contiguous(&[4, 3])]),
        Case::new(
            "far_and_masked",
            &[
                view(&[4, 6], &[far, 7], 7 - far, Some(&[(1, 4), (0, 5)])),
                view(&[5, 4], &[-4, -1], 22, Some(&[(0, 5), (1, 4)])),
            ],
        ),
        Case::new("near_the_end", &[view(&[2, 2], &[i64::MAX / 2, i64::MAX / 2], 1, None)]),
        Case::new("all_masked", &[view(&[2, 3], &[0, 0], 0, Some(&[(0, 0), (0, 0)]))]),
        Case::new("broadcast", &[view(&[2, 1, 3, 1], &[0, 0, 0, 0], 4, None)]),
        Case::new("ones", &[view(&[1, 3, 1, 2, 1], &[0, 2, 0, 1, 0], 0, None)]),
        Case::new("a_line", &[view(&[7], &[-2], 12, Some(&[(2, 6)]))]),
        Case::new("sixths", &[view(&[6, 5, 4], &[1, 24, 6], 0, None), view(&[8, 15], &[1, 8], 0, None)]),
        Case::new(
            "three_views",
            &[
                view(&[3, 4], &[1, 3], 0, None),
                view(&[4, 5], &[3, 1], -1, Some(&[(0, 4), (1, 4)])),
                view(&[5, 4], &[-1, -5], 19, None),
            ],
        ),
    ]);
    cases.extend(corpus());
    cases
}

/// Those that this run holds, and runs in each language: code is written alike in both forms of the tests, which share them.
pub(crate) fn held() -> Vec<Case> {
    let mut cases = all();
    cases.retain(|case| is_text_held(&case.name, 0));
    cases
}

/// Every line of few elements that has more than one view, up to 60.
fn corpus() -> Vec<Case> {
    let mut cases = Vec::new();
    for line in lines("indexed") {
        let views = line["views"].as_array().expect("views");
        if views.len() > 1 && line["numel"].as_i64().is_some_and(|numel| numel <= 20_000) {
            let stack: Vec<RawView> = views.iter().map(raw_view).collect();
            cases.push(Case::new(line["id"].as_str().expect("an id"), &stack));
        }
    }
    let step = cases.len().div_ceil(60).max(1);
    cases.into_iter().step_by(step).collect()
}

/// The lines of a file of the corpus.
pub(crate) fn lines(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/corpus/{name}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{path}: {error}"))).collect()
}

/// The tracker of a line of `indexed.jsonl`; `None` where its numbers are past `i64`.
pub(crate) fn tracker(line: &Value) -> Option<ShapeTracker> {
    let views = line["views"].as_array()?.iter().map(raw_view);
    let views = views.map(|raw| View::new(&raw.shape, &raw.strides, raw.offset, raw.mask.as_deref()));
    ShapeTracker::from_views(views.collect::<Result<Vec<_>, _>>().ok()?).ok()
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(|number| number.as_i64().expect("a number")).collect()
}

fn raw_view(value: &Value) -> RawView {
    let mask = value["mask"].as_array().map(|mask| mask.iter().map(numbers).map(|pair| (pair[0], pair[1])).collect());
    let offset = value["offset"].as_i64().expect("an offset");
    RawView { shape: numbers(&value["shape"]), strides: numbers(&value["strides"]), offset, mask }
}
