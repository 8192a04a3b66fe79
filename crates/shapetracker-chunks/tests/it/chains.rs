//! Random chains of operations over random grids.

use shapetracker::ShapeTracker;
use shapetracker_chunks::choose_output;

use crate::brute::{Sizes, check, check_box, cuts, follow, grid_of};
use crate::oracle::Array;
use crate::random::{self, Op, Tape};

#[derive(Debug)]
struct Case {
    base: Vec<i64>,
    ops: Vec<Op>,
    input: Sizes,
    output: Sizes,
    boxes: Vec<Vec<(i64, i64)>>,
    memory: u64,
    at_once: usize,
}

fn case(tape: &mut Tape) -> Case {
    let chain = tape.chain();
    let array = chain.ops.iter().fold(Array::contiguous(&chain.base), |array, op| op.on_array(&array));
    let input = chain.base.iter().map(|size| cuts(tape, *size)).collect();
    let output = array.shape.iter().map(|size| cuts(tape, *size)).collect();
    let boxes = (0..3).map(|_| array.shape.iter().map(|size| tape.range(*size)).collect()).collect();
    let (memory, at_once) = (tape.below(4000) as u64, tape.within(1, 4) as usize);
    Case { base: chain.base, ops: chain.ops, input, output, boxes, memory, at_once }
}

fn property(case: &Case) -> Result<(), String> {
    let array = case.ops.iter().fold(Array::contiguous(&case.base), |array, op| op.on_array(&array));
    let base = ShapeTracker::contiguous(&case.base).map_err(|error| error.to_string())?;
    let tracker = case.ops.iter().try_fold(base, |tracker, op| op.on_tracker(&tracker));
    let tracker = tracker.map_err(|error| error.to_string())?;
    let plan = check(&array, &tracker, &case.input, &case.output)?;
    for region in &case.boxes {
        check_box(&plan, &array, &case.input, region)?;
    }
    for (memory, width) in [(u64::MAX, 3), (case.memory, 4), (case.memory / 4, 1)] {
        match plan.rounds(memory, width, case.at_once) {
            Ok(schedule) => follow(&plan, &schedule, &case.input, width as usize, memory)?,
            Err(error) if error.is_too_little_memory() => {
                let graph = plan.graph().unwrap();
                let needed = |output: usize| {
                    let inputs = graph.inputs_of(output).iter().map(|input| plan.input().numel(*input)).max();
                    inputs.map(|input| (plan.output().numel(output) + input) as u64 * width)
                };
                let most = (0..graph.outputs()).filter_map(needed).max().unwrap_or(0);
                if most <= memory {
                    return Err(format!("{memory} bytes are enough for {most}: {error}"));
                }
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    let chosen =
        choose_output(&tracker, &grid_of(&case.input), 1 + case.memory as i64 / 40).map_err(|e| e.to_string())?;
    if chosen.shape() != array.shape {
        return Err(format!("the output is {chosen}"));
    }
    Ok(())
}

#[test]
fn chains_over_grids_are_what_brute_force_says() {
    random::check(4_000, case, property);
}

/// Chains over arrays that are large enough for digits that are gone through many times, in few chunks.
fn long_case(tape: &mut Tape) -> Case {
    let numel = tape.pick(&[5040, 4096, 6930, 7560, 6460, 10080, 9999]);
    let base = tape.sizes_of(numel);
    let mut array = Array::contiguous(&base);
    let mut ops = Vec::new();
    for _ in 0..tape.within(1, 8) {
        let op = tape.operation(&array.shape);
        let next = op.on_array(&array);
        if next.cells.len() <= 12_000 {
            array = next;
            ops.push(op);
        }
    }
    // Of a few chunks along each axis, and few in all.
    let mut grid = |shape: &[i64]| {
        let mut most = 24;
        let axis = |size: &i64| {
            let parts = tape.within(1, most.min(6).min((*size).max(1)));
            most = (most / parts).max(1);
            if tape.chance(50) {
                let chunk = (size + parts - 1) / parts;
                let whole = if chunk > 0 { size / chunk } else { 0 };
                return (0..whole).map(|_| chunk).chain([size - whole * chunk]).filter(|size| *size > 0).collect();
            }
            let mut ends: Vec<i64> = (1..parts).map(|_| tape.below(size + 1)).chain([0, *size]).collect();
            ends.sort_unstable();
            ends.windows(2).map(|ends| ends[1] - ends[0]).filter(|size| *size > 0).collect()
        };
        shape.iter().map(axis).collect::<Sizes>()
    };
    let (input, output) = (grid(&base), grid(&array.shape));
    let boxes = (0..2).map(|_| array.shape.iter().map(|size| tape.range(*size)).collect()).collect();
    Case { base, ops, input, output, boxes, memory: tape.below(100_000) as u64, at_once: 2 }
}

#[test]
fn long_runs_are_what_brute_force_says() {
    random::check(300, long_case, property);
}
