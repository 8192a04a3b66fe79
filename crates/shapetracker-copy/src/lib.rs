//! Moves data through a tracker: any layout into a fresh contiguous tensor, or back, in one pass.

mod error;
mod form;
mod kernels;
mod memory;
mod mover;
mod nest;
mod pieces;
mod plan;
mod show;
mod threads;

pub use error::Error;
pub use plan::Plan;
pub use threads::Threads;
