//! Moves data through a tracker: any layout into a fresh contiguous tensor, or back, in one pass.
//!
//! A tracker that is no single view costs others a copy for every view. Here a [`Plan`] is made from the layout alone,
//! with the divisions, the masks and the boundaries of the views turned into loops outside of what is moved; and it runs
//! on any buffers, near the speed of memory.
//!
//! ```
#![doc = include_str!("../examples/read_and_write.rs")]
//! ```
//!
//! # Where to look
//!
//! - [`Plan`]: made from a tracker and the width of an element; reads, reads over values, writes, and prints its loops.
//! - [`Threads`]: how many threads a copy may use; one, unless more are asked for.
//! - [`Error`]: why data cannot be moved.
//!
//! # Conventions
//!
//! Slices in, slices out. Addresses and lengths count elements; widths count bytes, and any width will do. Bytes need not
//! be aligned. Everything is checked before the first byte moves: a plan that fails has written nothing. What is written
//! is the same for every number of threads.
//!
//! # Soundness
//!
//! There is `unsafe` code in here, and it does not rely on the planner or on the library: what a plan writes is compared with
//! the tensor when it is made, and where bytes lie with the slices when they move. A mistake there is a panic. The
//! DESIGN.md of this crate has the argument.
//!
//! # Cost
//!
//! Planning takes about a microsecond for one view. For several, planning and one run together take at most about twice as
//! long as walking over the elements one by one, and 100 µs: work is counted, and where it is too little for any loops the
//! elements are walked over, in runs of equally spaced addresses. Running takes no memory but the output, and up to half
//! a megabyte for tiles, or two for what goes through a stage, on each thread. The page of the benchmarks
//! (`benches/README.md`) has what was measured.

mod cover;
mod error;
mod form;
mod join;
mod kernels;
mod memory;
mod mover;
mod nest;
mod pieces;
mod plan;
mod run;
mod show;
mod stage;
mod threads;
mod trial;
mod walk;
#[cfg(test)]
mod wrong_plans;

pub use error::Error;
pub use plan::Plan;
pub use threads::Threads;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
