//! What a caller did wrong, as a sentence.

use shapetracker::Undecided;
use shapetracker::text::tuple;

use crate::nest::MOST_BYTES;

/// Why data cannot be moved.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_copy::{Plan, Threads};
///
/// let plan = Plan::new(&ShapeTracker::contiguous([4])?, 4)?;
/// let error = plan.read(&[1.0f32, 2.0, 3.0], 0.0, &Threads::one()).unwrap_err();
/// assert_eq!(error.to_string(), "the layout reaches element 3 of its buffer, which has only 3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The layout itself has a fault, or its numbers leave `i64`.
    #[error(transparent)]
    Layout(#[from] shapetracker::Error),
    /// Which addresses the tracker reaches could not be decided.
    #[error(transparent)]
    Undecided(#[from] Undecided),
    /// Elements of no bytes, or of more than a slice can hold.
    #[error("an element has {width} bytes; it needs at least 1 and at most {most}")]
    Width {
        /// Bytes per element, as given.
        width: usize,
        /// The most that is possible.
        most: usize,
    },
    /// A type whose size is not that of the plan's elements.
    #[error("the plan moves elements of {plan} bytes, but `{name}` has {size}")]
    Type {
        /// The type's name.
        name: &'static str,
        /// Its size in bytes.
        size: usize,
        /// Bytes per element of the plan.
        plan: usize,
    },
    /// The memory under the tracker is shorter than what it reads or writes.
    #[error("the layout reaches element {last} of its buffer, which has only {len}")]
    Buffer {
        /// The highest address that the tracker reaches.
        last: i64,
        /// Elements in the buffer.
        len: usize,
    },
    /// A tracker that reaches below the start of its buffer.
    #[error("the layout reaches element {first}, before the start of its buffer")]
    BeforeBuffer {
        /// The lowest address that the tracker reaches.
        first: i64,
    },
    /// A buffer of bytes that is not a whole number of elements.
    #[error("{bytes} bytes are no whole number of elements of {width} bytes")]
    Ragged {
        /// Bytes of the slice.
        bytes: usize,
        /// Bytes per element.
        width: usize,
    },
    /// The contiguous side has another length than the tracker has elements.
    #[error("the layout has {numel} elements, but the contiguous side has room for {len}")]
    Length {
        /// Elements of the tracker.
        numel: i64,
        /// Elements of the slice.
        len: usize,
    },
    /// A fill value of another width than an element.
    #[error("the fill value has {fill} bytes, but an element has {width}")]
    Fill {
        /// Bytes of the fill value.
        fill: usize,
        /// Bytes per element.
        width: usize,
    },
    /// Writing through a tracker under which two indices share an address.
    #[error(
        "indices {} and {} share an address: what is written there would depend on the order",
        tuple(first),
        tuple(second)
    )]
    NotInjective {
        /// One index.
        first: Vec<i64>,
        /// Another.
        second: Vec<i64>,
    },
    /// A layout that goes on, along one axis, for more bytes than a machine can count.
    #[error(
        "shape {} of elements of {width} bytes goes on for more than {MOST_BYTES} bytes along one axis, which no \
         memory has",
        tuple(shape)
    )]
    TooLarge {
        /// The shape.
        shape: Vec<i64>,
        /// Bytes per element.
        width: usize,
    },
    /// A tensor for which there is not enough memory.
    #[error("there is no memory for {numel} elements of {width} bytes")]
    Memory {
        /// Elements of the tensor.
        numel: i64,
        /// Bytes per element.
        width: usize,
    },
    /// The threads could not be started.
    #[error("{count} threads could not be started: {reason}")]
    Threads {
        /// How many were asked for.
        count: usize,
        /// Why, in the words of the operating system.
        reason: String,
    },
}
