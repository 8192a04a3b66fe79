//! What a caller did wrong, as a sentence.

use std::fmt;

use shapetracker::Dims;
use shapetracker::text::tuple;

/// Why a chunked array cannot be planned: a sentence for the person who made the mistake.
///
/// ```
/// let error = shapetracker_chunks::Grid::new([vec![2, 2], vec![5, 0]]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "chunk 1 of axis 1 has size 0; a chunk has at least one element, and an axis of size 0 has no chunks",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Fault>);

impl Error {
    /// Whether the memory that was allowed is too little for any schedule.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let grid = Grid::regular([4], [2])?;
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, grid.clone(), grid)?;
    /// assert!(plan.rounds(10, 4, 1).unwrap_err().is_too_little_memory());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_too_little_memory(&self) -> bool {
        matches!(*self.0, Fault::Memory { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

impl From<Fault> for Error {
    #[cold]
    fn from(fault: Fault) -> Self {
        Error(Box::new(fault))
    }
}

impl From<shapetracker::Error> for Error {
    #[cold]
    fn from(error: shapetracker::Error) -> Self {
        Fault::Layout(error).into()
    }
}

/// What is wrong, with everything that the sentence about it needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Layout(shapetracker::Error),
    #[error(
        "chunk sizes are needed for each axis of the shape {}, which are {rank}, and {given} {} given",
        tuple(.shape),
        if *.given == 1 { "was" } else { "were" }
    )]
    Rank { shape: Dims, rank: usize, given: usize },
    #[error("the chunks of axis {axis} have size {chunk}; a chunk has at least one element")]
    Chunk { axis: usize, chunk: i64 },
    #[error(
        "chunk {number} of axis {axis} has size {size}; a chunk has at least one element, and an axis of size 0 has no chunks"
    )]
    ListedChunk { axis: usize, number: usize, size: i64 },
    #[error("the chunks of axis {axis} add up to {sum}, but the axis has size {size}")]
    Sum { axis: usize, sum: i128, size: i64 },
    #[error("the chunks of axis {axis} add up to more than 64-bit integers can count")]
    SumOverflow { axis: usize },
    #[error("the shape {} is cut into more chunks than can be counted", tuple(.shape))]
    Count { shape: Dims },
    #[error(
        "the {what} is cut into {count} chunks, and at most {most} are planned at once: larger chunks, or one part of the array after the other, are the way"
    )]
    TooMany { what: &'static str, count: u64, most: u64 },
    #[error("the chunks tile an array of shape {}, but the layout's shape is {}", tuple(.grid), tuple(.tracker))]
    Output { grid: Dims, tracker: Dims },
    #[error("the layout reads elements {low} to {high} of its array, but the chunked array has {numel} elements")]
    Input { low: i64, high: i64, numel: i64 },
    #[error(
        "the output chunks touch more than {most} input chunks, each counted as often as it is touched: larger chunks, or one part of the array after the other, are the way"
    )]
    TooManyTouches { most: usize },
    #[error("chunk {number} does not exist: there are {count}")]
    NoChunk { number: usize, count: usize },
    #[error("axis {axis} has size {size}, so that the range ({begin}, {end}) does not lie inside 0..{size}")]
    Range { axis: usize, begin: i64, end: i64, size: i64 },
    #[error("a box of the output has {rank} ranges, one per axis, and {given} {} given", if *.given == 1 { "was" } else { "were" })]
    Ranges { rank: usize, given: usize },
    #[error("an element has no bytes; it needs at least 1")]
    Width,
    #[error(
        "{allowed} bytes of memory are too few: an output chunk of {output} bytes and an input chunk of {input} bytes that it needs are in memory at the same time, {} bytes in all",
        .output + .input
    )]
    Memory { allowed: u64, output: u64, input: u64 },
}
