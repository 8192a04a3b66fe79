//! What is asked of trackers, question by question: how many are left undecided, and how long the answers take.
//!
//! The trackers are those of all recorded chains and stacks, what padded images become when they are flattened, and random
//! chains of up to 40 operations (`CHAINS=100000` sets how many, `SEED=1` which). Only trackers of several views are timed:
//! the answers of a single view are read off it.

#[path = "../tests/it/growing.rs"]
mod growing;

mod corpus;

use std::hint::black_box;
use std::time::{Duration, Instant};

use shapetracker::{NotInvertible, ShapeTracker, Unanswered};

/// Whether a question about a tracker was decided; a question about an axis is asked of each.
type Question = fn(&ShapeTracker, &ShapeTracker) -> bool;

const QUESTIONS: [(&str, Question); 9] = [
    ("real_strides", |st, _| st.real_strides().is_ok()),
    ("unit_stride_axes", |st, _| st.unit_stride_axes().is_ok()),
    ("axis_is_masked", |st, _| {
        (0..st.rank() as i64).all(|axis| !matches!(st.axis_is_masked(axis), Err(Unanswered::Undecided(_))))
    }),
    ("collision", |st, _| st.collision().is_ok()),
    ("address_range", |st, _| st.address_range().is_ok()),
    ("buffer_len", |st, _| !matches!(st.buffer_len(), Err(Unanswered::Undecided(_)))),
    ("invert", |st, _| {
        let len = st.views()[0].address_range().map_or(0, |(_, high)| high.max(0) + 1);
        !matches!(st.invert([len]), Err(NotInvertible::Undecided(_)))
    }),
    // Against the tracker of the chain before its last view: mostly different. Against the same map in other views: equal.
    ("difference, another", |st, other| !matches!(st.difference(other), Err(Unanswered::Undecided(_)))),
    ("difference, the same", |st, _| {
        let Ok(other) = same_map(st) else { return true };
        !matches!(st.difference(&other), Err(Unanswered::Undecided(_)))
    }),
];

/// The same map, composed of views that are not merged: every axis is turned around, and turned back under another shape.
fn same_map(st: &ShapeTracker) -> Result<ShapeTracker, shapetracker::Error> {
    let axes: Vec<i64> = (0..st.rank() as i64).collect();
    st.flip(&axes)?.reshape([st.numel()])?.flip([0])?.reshape(st.shape())
}

fn main() {
    let several = |st: &ShapeTracker| st.views().len() > 1;
    let chains: Vec<(String, ShapeTracker)> = (corpus::chains().iter())
        .filter_map(|chain| Some((chain.id.clone(), chain.run()?)))
        .chain(corpus::indexed().into_iter().map(|stack| (stack.id, stack.tracker)))
        .collect();
    let all = chains.len();
    let recorded: Vec<_> = chains.into_iter().filter(|(_, st)| several(st)).collect();
    println!("{all} recorded trackers, {} of several views: the mean is over all", recorded.len());
    table(&recorded, all);
    let padded: Vec<_> = growing::padded_and_flattened().into_iter().filter(|(_, st)| several(st)).collect();
    println!("\n{} padded shapes, flattened", padded.len());
    table(&padded, padded.len());
    let setting = |name: &str, or: u64| std::env::var(name).map_or(or, |text| text.parse().expect("a number"));
    let (count, seed) = (setting("CHAINS", 2_000), setting("SEED", 0));
    for most in [growing::MOST, 1_000_000_000_000] {
        let random: Vec<_> = growing::chains(seed, most).take(count as usize).filter(|(_, st)| several(st)).collect();
        println!(
            "\n{count} random chains of up to 40 operations on up to {most} elements, {} of several views",
            random.len()
        );
        table(&random, count as usize);
    }
}

fn table(trackers: &[(String, ShapeTracker)], of: usize) {
    println!("  {:<22} {:>9} {:>10} {:>10}  the worst", "question", "undecided", "mean", "worst");
    for (name, question) in QUESTIONS {
        let (mut total, mut undecided, mut worst) = (Duration::ZERO, Vec::new(), (Duration::ZERO, ""));
        for (k, (id, st)) in trackers.iter().enumerate() {
            let other = &trackers[(k + 1) % trackers.len()].1;
            let other = if other.shape() == st.shape() { other } else { st };
            let once = || {
                let start = Instant::now();
                let decided = black_box(question(black_box(st), other));
                (start.elapsed(), decided)
            };
            let (mut time, decided) = once();
            if time > Duration::from_micros(50) {
                // The machine may have been busy with something else.
                time = (0..4).map(|_| once().0).fold(time, Duration::min);
            }
            if name == "axis_is_masked" {
                time /= st.rank().max(1) as u32;
            }
            total += time;
            if !decided {
                undecided.push(id.as_str());
            }
            if time > worst.0 {
                worst = (time, id);
            }
        }
        let mean = total / of.max(1) as u32;
        println!("  {name:<22} {:>9} {mean:>10.2?} {:>10.2?}  {:.120}", undecided.len(), worst.0, worst.1);
        if !undecided.is_empty() {
            println!("    undecided: {:.400}", undecided.join(" "));
        }
    }
}
