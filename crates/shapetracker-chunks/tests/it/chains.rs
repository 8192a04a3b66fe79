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
