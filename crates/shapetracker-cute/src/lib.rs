//! CuTe's layout algebra, decided exactly: composition, complement, inverses, swizzles, linear layouts and bank
//! conflicts.
//!
//! A layout of CuTe has nested sizes and strides, `((2,2),4):((1,8),2)`, and maps coordinates to addresses. Whether the
//! composition of two layouts is one, what the complement is and whether two layouts are the same are decided here by
//! the definition, at any size: what exists is found, and every no comes with the coordinate that shows it.
//!
//! ```
#![doc = include_str!("../examples/layouts.rs")]
//! ```
//!
//! # Where to look
//!
//! - [`Layout`]: nested sizes and strides, as text and as a function; [`IntTuple`], what they are made of.
//! - [`Layout::compose`], and [`NoComposition`] where there is none; [`audit`], and [`ComposedLayout::audit`] under a
//!   swizzle: is a layout that some other tool printed the composition?
//! - [`Layout::complement`], [`Layout::logical_divide`], [`Layout::logical_product`] and those that order the parts
//!   otherwise, with a [`Tiler`]; [`Layout::right_inverse`], [`Layout::left_inverse`].
//! - [`Layout::coalesce`], [`Layout::difference`], [`Layout::collision`], [`Layout::bijective`].
//! - [`Swizzle`], [`ComposedLayout`]; [`LinearLayout`], as Triton has them.
//! - [`AccessPattern`]: bank conflicts and sectors of all warps, vectors, and the swizzle that removes the conflicts;
//!   [`AccessReport`], all of it for one tile, and [`NoSwizzle`] where there is none; [`Instruction`], one of a warp.
//! - [`Layout::from_view`], [`Layout::from_tracker`] and the ways back: what a layout is in [`shapetracker`].
//! - [`Layout::index_expr`], [`ComposedLayout::index_expr`]: addresses as expressions, and so as code of nine languages.
//! - [`json`]: answers and their evidence as documents.
//!
//! # Conventions
//!
//! Those of CuTe: a *mode* is an item of the outermost tuple, and may be nested; a *leaf* is one of the innermost sizes with
//! its stride, counted from the left, from 0 on. A number is taken apart in colexicographic order, the leftmost mode
//! fastest, and what is composed goes on past its last coordinate along its last mode. Numbers are `i64`, and
//! whatever leaves them is an [`Error`]. Nothing panics on any input, and an answer is the same on every machine: work
//! is counted, never timed.

mod access;
mod audit;
mod coalesce;
mod code;
mod complement;
mod compose;
mod convert;
mod divide;
mod error;
mod hardware;
mod image;
mod instruction;
mod int_tuple;
mod inverse;
pub mod json;
mod layout;
mod linear;
mod notation;
mod profile;
mod report;
mod swizzle;

pub use access::{AccessPattern, Census};
pub use audit::{Mismatch, audit};
pub use complement::NoComplement;
pub use compose::NoComposition;
pub use convert::{NoLayout, Order};
pub use divide::{NotTiled, Tiler};
pub use error::Error;
pub use image::NotBijective;
pub use instruction::{Instruction, Phase};
pub use int_tuple::IntTuple;
pub use inverse::{NoLeftInverse, RightInverse};
pub use layout::Layout;
pub use linear::{LinearLayout, NotLinear};
pub use report::{Access, AccessReport, NoSwizzle};
pub use shapetracker::expr;
pub use shapetracker_base::text::ParseError;
pub use swizzle::{ComposedLayout, Swizzle};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
