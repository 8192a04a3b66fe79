//! How long a composition takes over random pairs of layouts, with axes from ten coordinates to a thousand million.
//!
//! `cargo bench -p shapetracker-cute` prints the mean and the longest of the times of all pairs, each the shortest of some runs.
//! `cargo bench -p shapetracker-cute -- pairs 26000` prints that many pairs and their answers, for `compare.py`.

#[path = "../tests/random/mod.rs"]
mod random;

use std::hint::black_box;
use std::time::{Duration, Instant};

use random::{Rng, large_pair, pair};
use shapetracker_cute::{Layout, NoComposition};

/// How many pairs of each sort are timed.
const PAIRS: u64 = 20_000;

/// Draws the modes of two layouts.
type Draw = fn(&mut Rng) -> [Vec<(i64, i64)>; 2];

const SORTS: [(&str, Draw); 5] = [
    ("axes to 10", |rng| pair(rng, 10)),
    ("axes to 1,000", |rng| pair(rng, 1_000)),
    ("axes to 1,000,000", |rng| pair(rng, 1_000_000)),
    ("axes to 1,000,000,000", |rng| pair(rng, 1_000_000_000)),
    ("round axes to 1,000,000,000", large_pair),
];

/// Pair number `k` of a sort.
fn drawn(k: u64, draw: Draw) -> [Layout; 2] {
    let mut rng = Rng(k << 32);
    draw(&mut rng).map(|modes| rng.nested(&modes).parse().expect("a layout"))
}

fn print_pairs(count: u64) {
    for k in 0..count {
        let [a, b] = drawn(k, |rng| pair(rng, 12));
        match a.compose(&b) {
            Ok(answer) => println!("{a}\t{b}\t{answer}"),
            Err(NoComposition::Undecided | NoComposition::Error(_)) => println!("{a}\t{b}\tundecided"),
            Err(_) => println!("{a}\t{b}\tnone"),
        }
    }
}

fn shortest(mut ask: impl FnMut()) -> Duration {
    (0..7)
        .map(|_| {
            let start = Instant::now();
            ask();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let Some(at) = words.iter().position(|word| word == "pairs") {
        return print_pairs(words.get(at + 1).and_then(|count| count.parse().ok()).unwrap_or(26_000));
    }
    println!(
        "{:<28} {:>10} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "", "mean", "99 %", "99.99 %", "longest", "exist", "open"
    );
    for (name, draw) in SORTS {
        let (mut times, mut exist, mut open) = (Vec::new(), 0, 0);
        for k in 0..PAIRS {
            let [a, b] = drawn(k, draw);
            times.push(shortest(|| {
                black_box(black_box(&a).compose(black_box(&b)).ok());
            }));
            match a.compose(&b) {
                Ok(_) => exist += 1,
                Err(NoComposition::Undecided | NoComposition::Error(_)) => open += 1,
                Err(_) => {}
            }
        }
        times.sort_unstable();
        let mean = times.iter().sum::<Duration>() / PAIRS as u32;
        let part = |per: usize| times[times.len() * per / 10_000];
        let longest = times[times.len() - 1];
        println!(
            "{name:<28} {mean:>10.2?} {:>10.2?} {:>10.2?} {longest:>10.2?} {exist:>8} {open:>8}",
            part(9_900),
            part(9_999)
        );
    }
}
