//! An array in chunks, transposed and flattened.

use shapetracker::ShapeTracker;
use shapetracker_chunks::{ChunkPlan, Grid, choose_output};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // An array of 6 by 8 in chunks of 3 by 4, transposed and flattened.
    let input = Grid::regular([6, 8], [3, 4])?;
    let layout = ShapeTracker::contiguous([6, 8])?.permute([1, 0])?.reshape([48])?;

    // Chunks of 12 elements are what two columns of the input become.
    let plan = ChunkPlan::new(&layout, input.clone(), Grid::regular([48], [12])?)?;
    assert_eq!(plan.touched(&[(12, 24)])?.numbers(), [0, 2]);

    // With room for three chunks of 12 elements every chunk is read once.
    let schedule = plan.rounds(3 * 12 * 4, 4, 1)?;
    assert_eq!((schedule.reads(), plan.needed()?.numbers().len()), (4, 4));

    // Where the output's chunks are free they are made of whole input chunks.
    let output = choose_output(&layout, &input, 24)?;
    assert_eq!(output.chunk(0)?[..], [(0, 24)]);
    Ok(())
}
