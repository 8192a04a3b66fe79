//! Arrays cut into chunks, moved through any tensor layout.
//!
//! A chunked array (Zarr, dask, HDF5) is a grid of boxes that are read and written whole. A chain of movement operations takes
//! it to another array, cut into another grid. This crate says which input chunks each output chunk needs, exactly and at any
//! size; which elements come from which; and in which order to go so that each input chunk is read as rarely as the memory
//! that is given allows. It reads no files and starts no tasks: whoever does gets plain steps.
//!
//! ```
#![doc = include_str!("../examples/transpose.rs")]
//! ```
//!
//! # Where to look
//!
//! - [`Grid`]: how an array is cut, evenly or not.
//! - [`ChunkPlan`]: a tracker between two grids; [`ChunkPlan::touched`], [`ChunkPlan::needed`], [`ChunkPlan::filled`].
//! - [`ChunkPlan::piece`]: the elements that one output chunk takes from one input chunk, as [`Section`]s to move.
//! - [`Graph`]: which input chunks each output chunk touches, for all of them.
//! - [`Schedule`]: an order of reading, moving and writing under a limit of memory, as [`Step`]s.
//! - [`choose_output`], [`choose_regular_output`], [`choose_output_around`]: an output grid, where it is free.
//!
//! # Conventions
//!
//! Chunks are numbered in row-major order of their grid. Boxes have one half-open range per axis. Sizes count elements, and
//! memory counts bytes. The tracker's addresses are the row-major positions of the input array.

mod choose;
mod descent;
mod error;
mod graph;
mod grid;
mod plan;
mod schedule;
mod touch;

pub use choose::{choose_output, choose_output_around, choose_regular_output};
pub use error::Error;
pub use graph::Graph;
pub use grid::Grid;
pub use plan::{ChunkPlan, Piece, Section, Touches};
pub use schedule::{Schedule, Step};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
