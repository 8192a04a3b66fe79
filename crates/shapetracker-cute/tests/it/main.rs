//! Every answer of the crate, compared with lists of values: `oracle` writes out what a layout does, from the
//! definitions.
//!
//! `SHAPETRACKER_CASES=10` runs ten times as many random cases.

mod accesses;
mod algebra;
mod code;
mod compositions;
mod conversions;
mod facts;
mod oracle;
mod paper;
#[path = "../random/mod.rs"]
mod random;
mod text;

use oracle::Tree;
use shapetracker_cute::{Layout, NoComposition};

fn layout(text: &str) -> Layout {
    text.parse().unwrap_or_else(|err| panic!("{err}"))
}

/// Whether what is said against a composition can be checked by its values.
fn is_evidence(a: &Tree, b: &Tree, why: &NoComposition) -> bool {
    let at = |x: i64| a.extended(x);
    let along = |leaf: usize, i: i64| at(b.leaves()[leaf].1 * i);
    // The size of the longest affine run at the multiples of a unit is as claimed.
    let is_run = |leaf: usize, unit: i64, run: i64| {
        let value = |i: i64| along(leaf, i * unit);
        (0..run).all(|i| value(i) == i128::from(i) * value(1)) && value(run) != i128::from(run) * value(1)
    };
    match why {
        NoComposition::Length { leaf, unit, run, left, .. } => {
            let units = is_chain(&|unit, run| is_run(*leaf, unit, run), *unit);
            let is_run = run < left && is_run(*leaf, *unit, *run) && units;
            unit * left == b.leaves()[*leaf].0 && left % run != 0 && is_run && has_values(a, b, why)
        }
        NoComposition::Mode { leaf, runs, number, value, sum } => {
            let (mut unit, mut rest, mut parts) = (1, *number, 0);
            let size = b.leaves()[*leaf].0;
            for &run in runs.iter() {
                parts += i128::from(rest % run) * along(*leaf, unit);
                rest /= run;
                if unit * run < size && !is_run(*leaf, unit, run) {
                    return false;
                }
                unit *= run;
            }
            unit == size && parts == i128::from(*sum) && along(*leaf, *number) == i128::from(*value) && value != sum
        }
        NoComposition::Interact { coordinate, value, sum } => {
            let entries = coordinate.leaves();
            let position: i64 = entries.iter().zip(b.leaves()).map(|(i, (_, stride))| i * stride).sum();
            let parts: i128 = (0..entries.len()).map(|leaf| along(leaf, entries[leaf])).sum();
            let inside = entries.iter().zip(b.leaves()).all(|(i, (size, _))| (0..size).contains(i));
            inside && at(position) == i128::from(*value) && parts == *sum && parts != i128::from(*value)
        }
        _ => false,
    }
}

/// Whether a mode that does not end where it must has the values that are said, at the coordinate that is said.
fn has_values(a: &Tree, b: &Tree, why: &NoComposition) -> bool {
    let NoComposition::Length { leaf, unit, run, coordinate, value, expected, .. } = why else { return false };
    let along = |i: i64| a.extended(b.leaves()[*leaf].1 * i);
    let entries = coordinate.leaves().iter().enumerate();
    let is_there = entries.clone().all(|(k, entry)| *entry == if k == *leaf { unit * run } else { 0 });
    let has = entries.len() == b.leaves().len() && along(unit * run) == i128::from(*value);
    is_there && has && *expected == i128::from(*run) * along(*unit) && *expected != i128::from(*value)
}

/// Whether a unit is a product of longest affine runs, one after the other.
fn is_chain(is_run: &dyn Fn(i64, i64) -> bool, unit: i64) -> bool {
    let mut reached = 1;
    while reached < unit {
        let Some(run) = (2..=unit / reached).find(|&run| unit % (reached * run) == 0 && is_run(reached, run)) else {
            return false;
        };
        reached *= run;
    }
    reached == unit
}
