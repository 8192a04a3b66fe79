//! Tensors spread over a mesh of devices: when is a view of one free of communication?
//!
//! A placement says which device of a mesh holds which elements. Whether a reshape, a permutation or a slice of the tensor
//! can be taken without moving an element between devices, and how the result is then placed, is decided here exactly: for
//! even and uneven shards, nested and strided ones, at any size. Where it cannot be, a witness says why: a device and
//! elements that it holds, which anyone can check.
//!
//! ```
#![doc = include_str!("../examples/free_view.rs")]
//! ```
//!
//! # Where to look
//!
//! - [`Mesh`], [`Placement`], [`Sharded`]: devices in a grid, what each mesh axis does to the tensor, and both with a shape.
//! - [`Sharded::reshape`] and the other movement operations, [`Sharded::apply`] for one as data: each answers with an
//!   [`Outcome`].
//! - [`Sharded::through`]: a chain of operations.
//! - [`Sharded::check`]: is this placement of the new shape, which somebody claims, what the devices hold?
//! - [`Sharded::moved`] and [`Sharded::cheapest`]: how many elements must move, exactly.
//!
//! # Conventions
//!
//! Those of [`shapetracker`]: sizes and positions are `i64` and count elements, axes are numbered from 0, outermost first.
//! Elements are named by their position in the row-major order of the global tensor, devices by their coordinates in the
//! mesh. Nothing panics on any input, and an answer is the same on every machine: work is counted, never timed.

mod along;
mod check;
mod cut;
mod digits;
mod error;
pub mod json;
mod lists;
mod mesh;
mod moved;
mod movement;
mod notation;
mod outcome;
mod parts;
mod placement;
mod reshape;
mod rows;
mod sharded;
mod spec;
#[cfg(test)]
mod tests;
mod through;
mod word;
mod work;

pub use error::Error;
pub use mesh::Mesh;
pub use moved::Moved;
pub use outcome::{Check, Outcome, Undecided, Witness};
pub use parts::Parts;
pub use placement::Placement;
pub use sharded::Sharded;
pub use through::Passage;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
