//! How long answers take, at sizes that nobody could walk over: 10^12 elements on 10^4 devices.
//!
//! `cargo bench -p shapetracker-shard` prints the shortest of many times for each question.

use std::hint::black_box;
use std::time::{Duration, Instant};

use shapetracker_shard::{Mesh, Placement, Sharded};

const S: fn(usize) -> Placement = Placement::Shard;

fn strided(axis: usize, pieces: i64) -> Placement {
    Placement::StridedShard { axis, pieces }
}

/// A tensor, the mesh, its placements, and the shape under which it is viewed.
type Question = (&'static str, Vec<i64>, Vec<i64>, Vec<Placement>, Vec<i64>);

fn questions() -> Vec<Question> {
    let million = 1_000_000;
    vec![
        ("even", vec![million, million], vec![10_000], vec![S(0)], vec![million * million]),
        ("even, inner axis", vec![million, million], vec![10_000], vec![S(1)], vec![1000, 1000, 1000, 1000]),
        ("even, two axes", vec![1000, million, 1000], vec![100, 100], vec![S(0), S(1)], vec![1000 * million, 1000]),
        (
            "even, strided",
            vec![million * million],
            vec![100, 100],
            vec![strided(0, 1000), S(0)],
            vec![1000, 1_000_000_000],
        ),
        ("even, no word", vec![million * million], vec![10_000], vec![S(0)], vec![100, 100, 100_000_000]),
        ("even, moves", vec![million, 3 * million], vec![10_000], vec![S(1)], vec![million, 3, million]),
        ("uneven", vec![million + 7, million], vec![10_000], vec![S(0)], vec![million + 7, 1000, 1000]),
        ("uneven, no word", vec![million + 7, million], vec![10_000], vec![S(0)], vec![(million + 7) * 1000, 1000]),
        ("uneven, inner axis", vec![million, million + 7], vec![10_000], vec![S(1)], vec![1000, 1000, million + 7]),
        ("uneven, flattened", vec![million, million + 7], vec![10_000], vec![S(1)], vec![million * (million + 7)]),
        (
            "uneven, nested",
            vec![million + 7, million],
            vec![100, 100],
            vec![S(0), S(0)],
            vec![(million + 7) * 1000, 1000],
        ),
        ("uneven, two axes", vec![1_000_003, 999_983], vec![100, 100], vec![S(0), S(1)], vec![1_000_003 * 999_983]),
        ("uneven, moves", vec![million, million + 7], vec![10_000], vec![S(1)], vec![million + 7, million]),
        (
            "uneven, strided and cut",
            vec![million + 7, million],
            vec![100, 100],
            vec![strided(0, 3), S(0)],
            vec![million + 7, 1000, 1000],
        ),
    ]
}

fn shortest(mut ask: impl FnMut()) -> Duration {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    while begin.elapsed() < Duration::from_millis(100) {
        let start = Instant::now();
        ask();
        best = best.min(start.elapsed());
    }
    best
}

fn main() {
    for (name, shape, mesh, placements, view) in questions() {
        let tensor =
            Sharded::new(&shape, Mesh::of_sizes(&mesh).expect("a mesh"), placements).expect("placements that fit");
        let time = shortest(|| {
            black_box(tensor.reshape(black_box(&view)).expect("as many elements"));
        });
        let answer = tensor.reshape(&view).expect("as many elements").to_string();
        let answer: String = answer.chars().take(110).collect();
        println!("{name:<24} {time:>10.2?}  {answer}");
        if let Some(after) = tensor.reshape(&view).expect("as many elements").free() {
            let time = shortest(|| {
                black_box(tensor.check(black_box(&after)).expect("the same elements"));
            });
            println!("{:<24} {time:>10.2?}", "    the claim of it");
        } else {
            let time = shortest(|| {
                black_box(tensor.cheapest(black_box(&view)).expect("as many elements"));
            });
            let target = match tensor.cheapest(&view).expect("as many elements") {
                Some((target, moved)) => format!("{} elements to {target}", moved.elements),
                None => "more work than is done".into(),
            };
            println!("{:<24} {time:>10.2?}  {target}", "    the cheapest target");
        }
    }
}
