//! Tensor layouts whose sizes are names: for which values is it one strided view?
//!
//! Batch, sequence length and heads are names in every compiler, and the question whether a chain of movement operations is
//! still one view then has more answers than yes and no: for all values, for exactly those of a formula, or for none. This
//! crate gives the answer that holds, with the view in each case, and values with evidence for every no. Where it cannot
//! decide, which no procedure always can, it says so.
//!
//! ```
#![doc = include_str!("../examples/heads.rs")]
//! ```
//!
//! # Where to look
//!
//! - [`ShapeTracker`]: a tensor's layout after movement operations with named sizes, and what these need to be right.
//! - [`Sym`]: a named size, with arithmetic; [`Condition`]: what is known of sizes.
//! - [`merge()`] and [`Answer`]: for which values are two views one? [`Pair`] asks it for front ends.
//! - [`Question`] and [`Chain`]: the text form, `(B, T, 3*H*D).reshape(B, T, 3, H, D)` where `T=1..4097`.
//! - [`Question::expression`] and [`Expression::simplify`]: index expressions whose divisors and ends of ranges are names.
//! - [`Question::statement`] and [`Statement::nest`]: what a kernel computes, `C[i, j] += A[i, k] * B[k, j]`, as loops.
//! - [`Chain::advice`]: what NumPy and PyTorch do with a chain, for which values, and what to write instead.
//! - [`ShapeTracker::access`], [`ShapeTracker::collision`], [`ShapeTracker::invert`]: what compilers ask; [`Parts`]: a tracker as plain data.
//! - [`ShapeTracker::describe`]: in which order the elements lie, what they leave out and share, and what takes the layout as it is.
//! - [`Poly`], [`Scope`], [`Literal`]: what sizes, ranges and conditions are made of.
//! - [`json`]: answers as documents.
//!
//! # Conventions
//!
//! Those of [`shapetracker`]: sizes, strides and offsets count elements, views are listed from memory upwards, ranges are
//! half-open. A name without a range is a size of at least 1. Coefficients are `i128`, a product has up to 16 factors, and what
//! leaves that is an error or undecided, never wrong. Work is counted, not timed: an answer is the same on every machine.
//! Layouts without names are the business of [`shapetracker`], which costs what it costs without this crate.

mod access;
mod advice;
mod answer;
mod ask;
mod decide;
mod describe;
mod dims;
mod equality;
mod error;
mod example;
mod expression;
mod index;
mod inverse;
pub mod json;
#[cfg(test)]
mod large;
mod literal;
mod merge;
mod movement;
mod nest;
mod notation;
mod operation;
mod overlap;
mod pair;
mod parts;
mod poly;
mod queries;
mod region;
mod scope;
mod single;
mod steps;
mod stored;
mod sym;
mod tracker;
mod values;
mod view;

pub use access::{Access, Floor};
pub use advice::{Advice, LibraryAdvice};
pub use answer::{Answer, Counterexample, Formula, Leaf, Leaves, Reason, Verdict, formula_text};
pub use describe::{Description, MatrixForm};
pub use dims::MaxMerge;
pub use equality::Equality;
pub use error::Error;
pub use expression::Expression;
pub use inverse::Collision;
pub use literal::{Literal, Relation};
pub use merge::merge;
pub use nest::{Padding, StatementAccess, StatementNest};
pub use notation::{Chain, ChainError, ChainStart, Question, Statement, why_no_name};
pub use operation::{Movement, Slice, movement_at};
pub use pair::Pair;
pub use parts::{LiteralParts, Parts, ViewParts};
pub use poly::{Poly, TooLarge, Var, bounded};
pub use scope::{MAX_NAMES, Name, Quotient, Scope};
pub use steps::{StepSet, Steps, Touched};
pub use stored::{Copies, Stored};
pub use sym::{Condition, Sym};
pub use tracker::ShapeTracker;
pub use values::{guard_text, one_view_at};
pub use view::View;

/// Runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
