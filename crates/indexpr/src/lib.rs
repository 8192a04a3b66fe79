//! Integer index expressions for compilers.
//!
//! A compiler that lowers tensors, arrays or nested loops writes the same expression over and over: the address of an
//! element, made of loop variables, multiples, floor divisions and remainders, and the condition under which there is
//! an element at all. This crate holds such expressions, makes them cheaper without a change of value, evaluates them
//! and writes them in nine languages. It knows of loop variables and their ranges, and nothing of what they index.
//!
//! ```
#![doc = include_str!("../examples/simplify.rs")]
//! ```
//!
//! # Where to look
//!
//! - [`Graph`]: expressions, hash-consed: equal expressions are one node, and the range of every node is known.
//!   [`Graph::parse`] and [`Graph::text`] read and print Python and C; [`Graph::extremes`] is the range exactly.
//! - [`Graph::simplify`], [`Graph::simplify_pair`]: the same value, cheaper by every figure of [`Cost`] or unchanged.
//! - [`Graph::quasi_affine`] and [`QuasiAffine`]: an expression as a linear form over variables and floors, with the
//!   conditions that guard it: what a polyhedral compiler calls quasi-affine.
//! - [`Domain`] and [`cheapest`]: building a guarded index floor by floor, as whoever lowers a stack of layouts does;
//!   each division is made only where the boundary test cannot show that it is affine.
//! - [`IndexExpr`]: an index, its guard and the loops around them: code ([`IndexExpr::code`]) and complete kernels that
//!   gather ([`IndexExpr::kernel`]).
//! - [`Nest`]: several accesses over common loops: splits that leave no floor ([`Nest::splits_where_affine`]), guards as
//!   bounds of loops ([`Nest::clip`], [`Nest::partition`]), [`Levels`] as data and as text around a [`Body`].
//! - [`boundary`]: the boundary test by itself.
//! - [`ParseError`], [`why_no_name`]: why a text is no expression, and where; why it cannot be the name of a variable.
//!
//! # Conventions
//!
//! Divisions round down, as Python's do; a remainder has the sign of its divisor. Every value lies in `i64`: what could
//! leave it is refused when an expression is made, so that an expression that exists can be evaluated anywhere. Ranges
//! are half-open. An [`Expr`] is a handle into its [`Graph`]; a handle of another graph is an [`Error`] or, where a
//! function returns no `Result`, a panic that its documentation names.

mod algebra;
mod atoms;
mod binary;
pub mod boundary;
mod conjunction;
mod constants;
mod context;
mod cost;
mod domain;
mod emit;
mod error;
mod evaluate;
mod extremes;
mod facts;
mod form;
mod graph;
mod import;
mod index;
mod lattice;
mod lines;
mod nest;
mod order;
mod parse;
mod places;
mod print;
mod product;
mod quasi;
mod render;
mod rounding;
mod shorter;
mod simplify;
mod syntax;

#[cfg(test)]
mod tests;

pub use binary::Binary;
pub use cost::Cost;
pub use domain::{Built, Divisions, Domain, Index, cheapest, forms};
pub use error::{Error, ErrorKind};
pub use extremes::Extremes;
pub use form::Form;
pub use graph::{Expr, Graph, Node, Variable};
pub use index::IndexExpr;
pub use lines::{Line, TextPiece};
pub use nest::{
    Access, Clash, Clip, Definition, Header, InPlace, Level, Levels, Loop, LoopFunction, Nest, Overlap, Reference,
    Signedness, Size, Splits, Unserved, WhyUnserved, Width,
};
pub use quasi::{Condition, Floor, Linear, QuasiAffine, Term};
pub use render::{Body, Language, UnknownLanguage, Unsupported};
pub use shapetracker_base::text::ParseError;
pub use syntax::{Syntax, why_no_name};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
