//! How long a composition takes over random pairs of layouts, with axes from ten coordinates to a thousand million.
//!
//! `cargo bench -p shapetracker-cute` prints the mean and the longest of the times of all pairs, each the shortest of
//! some runs. `cargo bench -p shapetracker-cute -- questions 26000` prints that many questions of each kind and their
//! answers, for `compare.py`.

#[path = "../tests/random/mod.rs"]
mod random;

use std::hint::black_box;
use std::time::{Duration, Instant};

use random::{binary_modes, large_pair, modes, nested, pair};
use shapetracker_cute::{AccessPattern, Layout, NoComposition, NoLeftInverse};
use shapetracker_testing::Rng;

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
    draw(&mut rng).map(|modes| nested(&mut rng, &modes).parse().expect("a layout"))
}

/// Questions of several kinds: the kind, two arguments, and the answer, `none` or `open`.
fn print_questions(count: u64) {
    for k in 0..count {
        let [a, b] = drawn(k, |rng| pair(rng, 12));
        let answer = match a.compose(&b) {
            Ok(answer) => answer.to_string(),
            Err(NoComposition::Undecided | NoComposition::Error(_)) => "open".into(),
            Err(_) => "none".into(),
        };
        println!("compose\t{a}\t{b}\t{answer}");

        let mut rng = Rng(k << 32);
        let drawn = modes(&mut rng, 3, 4);
        let a: Layout = nested(&mut rng, &drawn).parse().expect("a layout");
        let cotarget = 1 + rng.int(80);
        let answer = a.complement(cotarget).map_or("none".into(), |answer| answer.to_string());
        println!("complement\t{a}\t{cotarget}\t{answer}");
        let answer = match a.left_inverse() {
            Ok(answer) => answer.to_string(),
            Err(NoLeftInverse::Open) => "open".into(),
            Err(_) => "none".into(),
        };
        println!("left inverse\t{a}\t\t{answer}");

        let drawn = binary_modes(&mut rng);
        let a: Layout = nested(&mut rng, &drawn).parse().expect("a layout");
        let names: Vec<String> = (0..a.rank()).map(|k| k.to_string()).collect();
        let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
        let answer = match a.to_linear(&names, "offset") {
            Ok(linear) => {
                // A column for each bit of the number that the layout takes.
                let columns =
                    linear.inputs().iter().flat_map(|(_, bases)| bases.iter().map(|basis| basis[0].to_string()));
                columns.collect::<Vec<_>>().join(",")
            }
            Err(_) => "none".into(),
        };
        println!("linear\t{a}\t\t{answer}");

        let drawn = pair(&mut rng, 12)[0].iter().map(|&(size, stride)| (size, stride.abs())).collect::<Vec<_>>();
        let threads: Layout = nested(&mut rng, &drawn).parse().expect("a layout");
        if (32..=4096).contains(&threads.size()) {
            let bytes = 1 << rng.int(3);
            let whole = Layout::concat([&threads]).expect("a layout");
            let census = AccessPattern::new(whole, bytes).and_then(|pattern| pattern.bank_conflicts());
            let answer = census.map_or("open".into(), |census| census.most.to_string());
            println!("banks\t{threads}\t{bytes}\t{answer}");
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
    if let Some(at) = words.iter().position(|word| word == "questions") {
        return print_questions(words.get(at + 1).and_then(|count| count.parse().ok()).unwrap_or(26_000));
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
