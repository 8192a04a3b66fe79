//! Exact tensor views: see the README.
#![allow(missing_docs)]

mod error;
mod fewest;
mod merge;
mod movement;
mod shape;
mod tracker;
mod view;

pub use error::{Error, ErrorKind};
pub use merge::{Step, Unmerged, Witness, merge};
pub use movement::Movement;
pub use shape::{Dims, MAX_RANK, Ranges};
pub use tracker::ShapeTracker;
pub use view::View;
