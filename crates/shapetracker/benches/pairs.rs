//! The decision about a pair of views, over every pair that was recorded from real models.

mod corpus;

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use corpus::Pair;
use divan::Bencher;
use divan::counter::ItemsCount;
use shapetracker::merge;

static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(corpus::pairs);

fn main() {
    // Cargo passes `--bench` when it measures, and not when it only tries whether benchmarks run.
    if std::env::args().any(|arg| arg == "--bench") {
        distribution();
    }
    divan::main();
}

/// All pairs in a row; an item is a pair.
#[divan::bench]
fn all(bencher: Bencher) {
    measure(bencher, |_| true);
}

#[divan::bench]
fn mergeable(bencher: Bencher) {
    measure(bencher, |pair| pair.mergeable);
}

#[divan::bench]
fn not_mergeable(bencher: Bencher) {
    measure(bencher, |pair| !pair.mergeable);
}

fn measure(bencher: Bencher, pick: impl Fn(&Pair) -> bool) {
    let pairs: Vec<&Pair> = PAIRS.iter().filter(|pair| pick(pair)).collect();
    bencher.counter(ItemsCount::new(pairs.len())).bench(|| {
        for pair in &pairs {
            decide(pair);
        }
    });
}

fn decide(pair: &Pair) {
    let _ = black_box(merge(black_box(&pair.earlier), black_box(&pair.later)));
}

/// Prints how the cost is distributed over the pairs.
///
/// A pair's cost is the median of several measurements of a few decisions each, so that a moment in which the machine
/// did something else counts little. The first decisions about a pair are left out.
fn distribution() {
    let mut costs: Vec<(Duration, &Pair)> = PAIRS.iter().map(|pair| (cost(pair), pair)).collect();
    costs.sort_unstable_by_key(|&(cost, _)| cost);
    let at = |part: f64| costs[((costs.len() - 1) as f64 * part) as usize].0;
    println!("cost of deciding a pair, over {} pairs:", costs.len());
    for (what, pick) in [("all", None), ("mergeable", Some(true)), ("not mergeable", Some(false))] {
        let picked = costs.iter().filter(|(_, pair)| pick.is_none_or(|pick| pick == pair.mergeable));
        let (count, sum) = picked.fold((0, Duration::ZERO), |(count, sum), (cost, _)| (count + 1, sum + *cost));
        println!("  mean {:>9.2?}  {what} ({count} pairs)", sum / count.max(1));
    }
    println!("  median {:.2?}, 99% {:.2?}", at(0.5), at(0.99));
    let worst = costs.iter().rev().take(5).map(|(cost, pair)| format!("{} {cost:.2?}", pair.id));
    println!("  worst: {}\n", worst.collect::<Vec<_>>().join(", "));
}

fn cost(pair: &Pair) -> Duration {
    const DECISIONS: u32 = 16;
    let mut times = [(); 8].map(|()| {
        let start = Instant::now();
        for _ in 0..DECISIONS {
            decide(pair);
        }
        start.elapsed() / DECISIONS
    });
    times.sort_unstable();
    times[times.len() / 2]
}
