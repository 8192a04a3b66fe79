//! How long answers take: the pairs of real programs, and random ones, each asked by itself.
//!
//! `cargo bench -p shapetracker-symbolic` prints the median, the 99th percentile and the longest, and the slowest questions;
//! an argument is the number of random pairs of each kind.

#[path = "../tests/pairs/generator.rs"]
mod generator;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use generator::pair;
use shapetracker_symbolic::{Pair, Question, View, merge};
use shapetracker_testing::Rng;

/// Pairs of views of real programs, the one next to memory first, with what is known of their names.
const PAIRS: [(&str, &str, &str); 14] = [
    ("(B, H, T, D):(T*H*D, D, H*D, 1)", "(B, H*T, D):(H*T*D, D, 1)", ""),
    ("(B, H, T, D):(T*H*D, D, H*D, 1)", "(B*H, T, D):(T*D, D, 1)", ""),
    ("(B, H, T, D):(T*H*D, D, H*D, 1)", "(B*H*T*D):(1)", ""),
    ("(B, T, H, D):(H*T*D, D, T*D, 1)", "(B, T, H*D):(T*H*D, H*D, 1)", ""),
    ("(B, T, 3*H*D):(T*3*H*D, 3*H*D, 1)", "(B, T, 3, H, D):(T*3*H*D, 3*H*D, H*D, D, 1)", ""),
    ("(B, H, L, D):(H*N*D, N*D, D, 1) offset s*D", "(B*H*L*D):(1)", "s=0.., s+L <= N"),
    ("(B, h, w, C, p, p):(C*h*p*w*p, p*w*p, p, h*p*w*p, w*p, 1)", "(B, h*w, C*p*p):(h*w*C*p*p, C*p*p, 1)", ""),
    ("(B, h, w, M, M, C):(h*M*w*M*C, M*w*M*C, M*C, w*M*C, C, 1)", "(B*h*w, M*M, C):(M*M*C, C, 1)", ""),
    ("(N + 2*p):(1) offset -p mask ((p, N + p))", "(N + 2*p - K + 1, K):(1, 1)", "p=0.., N + 2*p >= K"),
    ("(B, T + p):(T, 1) mask ((0, B), (0, T))", "(B*(T + p)):(1)", "p=0.."),
    ("(B, 4*k + 2*p):(4*k, 1) offset -p mask ((0, B), (p, 4*k + p))", "(B, 2*k + p, 2):(4*k + 2*p, 2, 1)", "p=0.."),
    ("(10, 3, 3):(s1, s2, s3)", "(s):(4)", ""),
    ("(1000, 9, 4):(s1, s2, s3)", "(s):(9)", ""),
    ("(a, b):(1, a)", "(c, d):(d, 1)", "a*b == c*d"),
];

/// A time, and what took it.
type Timed = (Duration, String);

/// The shortest of a few times that an answer takes.
fn time(pair: &Pair) -> Timed {
    let [earlier, later] = pair.views();
    let once = |_| {
        let start = Instant::now();
        black_box(merge(pair.scope(), pair.needs(), earlier, later));
        start.elapsed()
    };
    let shortest = (0..5).map(once).min().unwrap_or_default();
    let text = |view: &View| view.text(pair.scope());
    (shortest, format!("{}: {} by {}", pair.answer().kind(), text(earlier), text(later)))
}

fn report(name: &str, mut times: Vec<Timed>) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].0;
    println!(
        "{name}: {} questions, median {:.1?}, 99% {:.1?}, longest {:.1?}",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    for (time, text) in times.iter().rev().take(3) {
        println!("    {time:>9.1?}  {text}");
    }
}

fn main() {
    let count = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(2000);
    let mut all = Vec::new();
    let mut real = Vec::new();
    for (earlier, later, conditions) in PAIRS {
        let mut question = Question::new([conditions]).expect("conditions that are read");
        let [earlier, later] = [earlier, later].map(|text| question.chain(text).expect("a view that is read"));
        let scope = Arc::new(question.scope().expect("conditions that hold"));
        real.push(time(&Pair::of_chains(&scope, &earlier, &later).expect("views that fit")));
    }
    all.extend(real.iter().cloned());
    report("real programs", real);
    for (kind, name) in [(0, "random, made of operations"), (1, "random, with masks")] {
        let times: Vec<Timed> = (0..count)
            .filter_map(|seed: u64| {
                let (case, earlier, later) = pair(&mut Rng(seed * 3 + kind), kind);
                Some(time(&Pair::new(Arc::new(case.scope), case.needs, earlier, later).ok()?))
            })
            .collect();
        all.extend(times.iter().cloned());
        report(name, times);
    }
    report("all of them", all);
}
