//! Exact tensor layouts: from any chain of movement operations to the fewest strided views, and the reason when one
//! view is not enough.
//!
//! A tensor is a strip of memory plus a rule from index to address. Movement operations (reshape, permute, expand, pad,
//! shrink, flip) change the rule and move nothing, until two rules no longer fit into one strided view. This crate
//! says whether they do, for masks, offsets, negative and zero strides, at any size; when they do not, it hands back a
//! witness that anyone can check.
//!
//! ```
#![doc = include_str!("../examples/front_page.rs")]
//! ```
//!
//! # Where to look
//!
//! - [`ShapeTracker`]: a tensor's layout after a chain of operations, kept at the fewest views.
//! - [`View`]: one strided view in canonical form, so that equal maps are equal values.
//! - [`Stored`]: a tensor followed through operations some of which copy, over the base and over the newest buffer.
//! - [`merge()`]: when are two views one? With [`Witness`], the evidence against.
//! - [`conditions()`]: what the strides must satisfy for it.
//! - [`affine_runs`]: when are two views one if the axes of the later one may be split?
//! - [`fit()`]: can this strided tensor be viewed under that shape, and if not, what is the least to copy? [`mod@fit`]
//!   has the answer in parts and in sentences.
//! - [`mod@describe`]: in which order the elements of a layout lie, what it leaves out and shares, and whether BLAS, a tensor map,
//!   cuDNN, oneDNN and the array libraries take it as it is; [`ShapeTracker::overlap`] of two.
//! - [`ShapeTracker::readers`] and [`ShapeTracker::coverage`]: which elements read an address, and how often addresses are
//!   read.
//! - [`expr`]: index expressions, the cheapest code for the address of an element, in the language that a compiler emits;
//!   and the simplifier behind it, for any expression.
//! - [`IndexMap`]: a map from loops to several expressions: is it one-to-one, onto, equal to another one, and what undoes it?
//! - [`Chain`]: the text form, `(3, 2).permute(1, 0).reshape(3, 2)`, what others paste, and the same as calls of an
//!   [`ArrayLibrary`].
//! - [`json`]: answers as documents of JSON, for programs that store or send them.
//!
//! # Conventions
//!
//! Sizes, strides, offsets and addresses are `i64` and count elements, not bytes. Axes are numbered from 0, outermost
//! first, and a negative axis counts from the last one. Ranges are half-open. Views are listed from memory upwards.
//! Whatever leaves `i64` is an [`Error`] that names the axis; nothing panics on any input, and nothing depends on the
//! sizes in its cost, except for iterating over elements.
//!
//! # Features
//!
//! - `serde`: views and trackers as `{"shape", "strides", "offset", "mask"}`, operations as `["permute", [1, 0]]`.

mod access;
pub mod advice;
mod counts;
mod coverage;
pub mod describe;
mod dims;
mod ease;
mod error;
pub mod expr;
mod fewest;
pub mod fit;
mod inverse;
pub mod json;
mod maps;
mod merge;
mod movement;
mod notation;
mod number;
mod operation;
mod per_axis;
mod queries;
mod questions;
mod readers;
#[cfg(feature = "serde")]
mod serde;
mod shape;
mod stored;
mod summary;
mod tracker;
mod verdict;
mod view;
mod walk;

pub use access::{Access, AffineMap};
pub use coverage::Coverage;
pub use dims::MergedDim;
pub use error::{Error, ErrorKind, Fault, Written};
pub use fewest::MAX_VIEWS;
pub use fit::fit;
pub use inverse::NotInvertible;
pub use maps::{IndexMap, Inverse, NotComposed, NotInverted, Unproved};
pub use merge::{
    AffineRun, AffineRuns, Conditions, Unanswered, Undecided, UnitStep, Unmerged, Unsplit, Witness, affine_runs,
    conditions, merge,
};
pub use notation::{
    Arithmetic, ArrayLibrary, Chain, ChainError, ChainOf, ChainProgress, ChainStart, ChainStartOf, Integers, Known,
    KnownMessage, Method, Need, Operator, ParseError, Reader, Role,
};
pub use number::{List, Number};
pub use operation::{Movement, MovementKind, MovementOf, Takes};
pub use per_axis::{Dims, PerAxis, Ranges};
pub use readers::Readers;
pub use shape::{
    MAX_RANK, check_count, distinct_axes, inferred_axis, ravel_index, resolve_axis, resolve_new_axis, scattered,
    unravel_index,
};
pub use stored::{Buffer, BufferOf, Layout, Stored, StoredOf};
pub use summary::{Joined, Summary};
pub use tracker::ShapeTracker;
pub use verdict::Verdict;
pub use view::View;
pub use walk::{AddressLines, AddressRun};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Text as the field writes it: shapes, strides and indices as tuples of Python.
///
/// ```
/// use shapetracker::{View, text::tuple};
///
/// let view = View::contiguous([2, 3])?;
/// assert_eq!(format!("{} at strides {}", tuple(view.shape()), tuple(view.strides())), "(2, 3) at strides (3, 1)");
/// # Ok::<(), shapetracker::Error>(())
/// ```
pub mod text {
    pub use shapetracker_base::text::{LONGEST_TEXT, Tuple, tuple, tuple_of_pairs};
}

#[cfg(test)]
mod tests {
    pub(crate) use shapetracker_testing::Rng;
}
