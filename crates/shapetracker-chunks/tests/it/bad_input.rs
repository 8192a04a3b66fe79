//! What is refused, and in which words.

use shapetracker::ShapeTracker;
use shapetracker_chunks::{ChunkPlan, Grid, choose_output};

fn sentence<T: std::fmt::Debug>(outcome: Result<T, shapetracker_chunks::Error>) -> String {
    outcome.unwrap_err().to_string()
}

#[test]
fn chunks_that_do_not_fit() {
    assert_eq!(
        sentence(Grid::regular([4, 4], [2])),
        "chunk sizes are needed for each axis of the shape (4, 4), which are 2, and 1 was given"
    );
    assert_eq!(sentence(Grid::regular([4], [0])), "the chunks of axis 0 have size 0; a chunk has at least one element");
    assert_eq!(
        sentence(Grid::regular([4], [-3])),
        "the chunks of axis 0 have size -3; a chunk has at least one element"
    );
    assert_eq!(sentence(Grid::of([4], [[3, 3]])), "the chunks of axis 0 add up to 6, but the axis has size 4");
    assert_eq!(
        sentence(Grid::new([[i64::MAX, 1]])),
        "the chunks of axis 0 add up to more than 64-bit integers can count"
    );
    assert!(sentence(Grid::regular([-1], [1])).contains("negative"));
    assert!(sentence(Grid::regular([1 << 40, 1 << 40], [1, 1])).contains("64-bit"));
    let grid = Grid::regular([4], [3]).unwrap();
    assert_eq!(sentence(grid.chunk(2)), "chunk 2 does not exist: there are 2");
}

#[test]
fn plans_that_do_not_fit() {
    let st = ShapeTracker::contiguous([2, 3]).unwrap();
    let grid = |shape: &[i64]| Grid::whole(shape).unwrap();
    assert_eq!(
        sentence(ChunkPlan::new(&st, grid(&[6]), grid(&[6]))),
        "the chunks tile an array of shape (6,), but the layout's shape is (2, 3)"
    );
    let past = "the layout reads elements 0 to 5 of its array, but the chunked array has 5 elements";
    assert_eq!(sentence(ChunkPlan::new(&st, grid(&[5]), grid(&[2, 3]))), past);
    assert_eq!(sentence(choose_output(&st, &grid(&[5]), 2)), past);
    let plan = ChunkPlan::new(&st, grid(&[6]), grid(&[2, 3])).unwrap();
    assert_eq!(sentence(plan.touched(&[(0, 1)])), "a box of the output has 2 ranges, one per axis, and 1 was given");
    assert_eq!(
        sentence(plan.filled(&[(0, 1), (2, 4)])),
        "axis 1 has size 3, so that the range (2, 4) does not lie inside 0..3"
    );
    assert_eq!(sentence(plan.piece(&[(0, 1), (0, 3)], 1)), "chunk 1 does not exist: there are 1");
    assert_eq!(sentence(plan.rounds(100, 0, 1)), "an element has no bytes; it needs at least 1");
    assert_eq!(
        sentence(plan.rounds(47, 4, 1)),
        "47 bytes of memory are too few: an output chunk of 24 bytes and an input chunk of 24 bytes that it needs are in memory \
         at the same time, 48 bytes in all"
    );
}

#[test]
fn more_chunks_than_can_be_listed() {
    let size = 1 << 40;
    let st = ShapeTracker::contiguous([size]).unwrap();
    let fine = Grid::regular([size], [1]).unwrap();
    let plan = ChunkPlan::new(&st, fine.clone(), fine.clone()).unwrap();
    assert!(sentence(plan.graph()).starts_with("the output is cut into 1099511627776 chunks"));
    assert!(sentence(plan.needed()).starts_with("the input is cut into"));
    assert_eq!(plan.touched(&[(5, 7)]).unwrap().numbers(), [5, 6]);
    assert!(!choose_output(&st, &fine, 1).unwrap().is_empty());
}

/// Empty arrays, scalars, and axes of size 0 and 1.
#[test]
fn few_elements() {
    let scalar = ShapeTracker::contiguous([]).unwrap();
    let plan = ChunkPlan::new(&scalar, Grid::whole([]).unwrap(), Grid::whole([]).unwrap()).unwrap();
    assert_eq!(plan.graph().unwrap().inputs_of(0), [0]);
    assert_eq!(plan.rounds(2, 1, 1).unwrap().reads(), 1);
    let empty = ShapeTracker::contiguous([0, 3]).unwrap();
    let grid = Grid::regular([0, 3], [1, 2]).unwrap();
    let plan = ChunkPlan::new(&empty, grid.clone(), grid).unwrap();
    assert_eq!((plan.graph().unwrap().outputs(), plan.needed().unwrap().numbers().len()), (0, 0));
    assert!(plan.rounds(0, 1, 1).unwrap().steps().is_empty());
    let padded = empty.pad([(1, 1), (0, 0)]).unwrap();
    let plan = ChunkPlan::new(&padded, Grid::whole([0, 3]).unwrap(), Grid::regular([2, 3], [1, 3]).unwrap()).unwrap();
    assert!(plan.filled(&[(0, 1), (0, 3)]).unwrap());
    assert_eq!(plan.rounds(0, 1, 1).unwrap().untouched(), [0, 1]);
}
