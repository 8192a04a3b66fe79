//! Index expressions: of the stacks that were recorded from real models, of long chains, and simplifying any.

mod corpus;

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use corpus::Indexed;
use divan::Bencher;
use divan::counter::ItemsCount;
use shapetracker::ShapeTracker;
use shapetracker::expr::{Binary, Expr, Graph};

static STACKS: LazyLock<Vec<Indexed>> = LazyLock::new(corpus::indexed);

fn main() {
    // Cargo passes `--bench` when it measures, and not when it only tries whether benchmarks run.
    if std::env::args().any(|arg| arg == "--bench") {
        distribution();
    }
    divan::main();
}

fn views(stack: &Indexed) -> usize {
    stack.tracker.views().len()
}

fn rank(stack: &Indexed) -> usize {
    stack.tracker.shape().len()
}

/// All stacks in a row; an item is a tracker.
#[divan::bench]
fn all(bencher: Bencher) {
    measure(bencher, |_| true);
}

#[divan::bench]
fn one_view(bencher: Bencher) {
    measure(bencher, |stack| views(stack) == 1);
}

#[divan::bench]
fn two_views(bencher: Bencher) {
    measure(bencher, |stack| views(stack) == 2);
}

#[divan::bench]
fn two_views_of_rank_8(bencher: Bencher) {
    measure(bencher, |stack| views(stack) == 2 && rank(stack) == 8);
}

#[divan::bench]
fn more_views(bencher: Bencher) {
    measure(bencher, |stack| views(stack) > 2);
}

fn measure(bencher: Bencher, pick: impl Fn(&Indexed) -> bool) {
    let stacks: Vec<&Indexed> = STACKS.iter().filter(|stack| pick(stack)).collect();
    bencher.counter(ItemsCount::new(stacks.len())).bench(|| {
        for stack in &stacks {
            let _ = black_box(black_box(&stack.tracker).index_expr());
        }
    });
}

/// 64 operations after which hardly two views are one.
#[divan::bench(args = ["turned", "shifted", "rank 4"])]
fn chain_of_64(bencher: Bencher, how: &str) {
    let shifted = how == "shifted";
    let mut tracker = ShapeTracker::contiguous(if how == "rank 4" { &[2, 3, 5, 7][..] } else { &[6, 35] }).unwrap();
    for round in 0..if shifted { 16 } else { 32 } {
        tracker = match how {
            "rank 4" => tracker.permute([3, 1, 0, 2]).unwrap().reshape([2, 3, 5, 7]).unwrap(),
            _ => tracker.permute([1, 0]).unwrap().reshape(if round % 2 == 0 { [10, 21] } else { [6, 35] }).unwrap(),
        };
        if shifted {
            let (rows, columns) = (tracker.shape()[0], tracker.shape()[1]);
            tracker = tracker.pad([(1, 0), (0, 1)]).unwrap().shrink([(0, rows), (1, columns + 1)]).unwrap();
        }
    }
    assert!(views_are_many(&tracker));
    bencher.bench(|| black_box(&tracker).index_expr().expect("every value fits i64"));
}

fn views_are_many(tracker: &ShapeTracker) -> bool {
    tracker.views().len() > 15
}

/// The address and condition of a padded transposed convolution as a compiler first writes them, some 40 nodes.
fn typical() -> (Graph, Expr, Expr) {
    use Binary::{Add, And, Div, Mod, Mul};
    let mut graph = Graph::new();
    let sizes = [("i0", 32, 2912), ("i1", 4, 728), ("i2", 26, 28), ("i3", 14, 2), ("i4", 2, 1), ("i5", 13, 56)];
    let mut sum = graph.int(-58);
    for (name, size, stride) in sizes {
        let (index, stride) = (graph.variable(name, 0..size).unwrap(), graph.int(stride));
        let term = graph.binary(Mul, index, stride).unwrap();
        sum = graph.binary(Add, sum, term).unwrap();
    }
    let mut index = graph.int(0);
    let mut valid = graph.bool(true);
    let mut rest = sum;
    for (size, stride, begin, end) in [(2, 0, 0, 1), (28, 1, 1, 27), (104, 14, 2, 100)] {
        let (size, stride) = (graph.int(size), graph.int(stride));
        let digit = graph.binary(Mod, rest, size).unwrap();
        rest = graph.binary(Div, rest, size).unwrap();
        let term = graph.binary(Mul, digit, stride).unwrap();
        index = graph.binary(Add, index, term).unwrap();
        let within = graph.within(digit, begin, end).unwrap();
        valid = graph.binary(And, valid, within).unwrap();
    }
    (graph, index, valid)
}

#[divan::bench]
fn simplify(bencher: Bencher) {
    let (graph, index, _) = typical();
    bencher.with_inputs(|| graph.clone()).bench_values(|mut graph| {
        let simple = graph.simplify(index);
        (graph, simple)
    });
}

#[divan::bench]
fn simplify_pair(bencher: Bencher) {
    let (graph, index, valid) = typical();
    bencher.with_inputs(|| graph.clone()).bench_values(|mut graph| {
        let simple = graph.simplify_pair(index, valid);
        (graph, simple)
    });
}

/// Both of the expressions at all values of the variables, a million and more; an item is a choice of the variables.
#[divan::bench(sample_count = 20)]
fn evaluate(bencher: Bencher) {
    let (graph, index, valid) = typical();
    let sizes = graph.variables().iter().map(|variable| variable.range.end - variable.range.start);
    bencher.counter(ItemsCount::new(sizes.product::<i64>() as u64)).bench(|| {
        let mut sum = 0i64;
        graph
            .evaluate_all(&[index, valid], |block| {
                sum += block[0].iter().zip(block[1]).map(|(index, valid)| index * valid).sum::<i64>();
            })
            .map(|()| sum)
    });
}

/// Prints how the time of an index expression is distributed over the stacks.
fn distribution() {
    let mut times: Vec<(Duration, &Indexed)> = STACKS.iter().map(|stack| (time(stack), stack)).collect();
    times.sort_unstable_by_key(|&(time, _)| time);
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].0;
    println!("time of an index expression, over {} stacks:", times.len());
    type Pick = fn(&Indexed) -> bool;
    let sorts: [(&str, Pick); 5] = [
        ("all", |_| true),
        ("one view", |stack| views(stack) == 1),
        ("two views", |stack| views(stack) == 2),
        ("two views of rank 8", |stack| views(stack) == 2 && rank(stack) == 8),
        ("more views", |stack| views(stack) > 2),
    ];
    for (what, pick) in sorts {
        let picked = times.iter().filter(|(_, stack)| pick(stack));
        let (count, sum) = picked.fold((0, Duration::ZERO), |(count, sum), (time, _)| (count + 1, sum + *time));
        println!("  mean {:>9.2?}  {what} ({count} stacks)", sum / count.max(1));
    }
    println!("  median {:.2?}, 99% {:.2?}", at(0.5), at(0.99));
    let worst = times.iter().rev().take(5).map(|(time, stack)| format!("{} {time:.2?}", stack.id));
    println!("  worst: {}\n", worst.collect::<Vec<_>>().join(", "));
}

fn time(stack: &Indexed) -> Duration {
    const TIMES: u32 = 8;
    let mut times = [(); 8].map(|()| {
        let start = Instant::now();
        for _ in 0..TIMES {
            let _ = black_box(black_box(&stack.tracker).index_expr());
        }
        start.elapsed() / TIMES
    });
    times.sort_unstable();
    times[times.len() / 2]
}
