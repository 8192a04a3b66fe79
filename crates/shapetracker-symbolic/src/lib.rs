//! Tensor layouts whose sizes are names: for which values is it one strided view?

#![allow(dead_code)] // While the crate grows.

mod answer;
mod ask;
mod decide;
mod dims;
mod divide;
mod equality;
mod error;
mod factor;
pub mod json;
mod literal;
mod merge;
mod movement;
mod notation;
mod operation;
mod pair;
mod patterns;
mod poly;
mod prove;
mod refute;
mod region;
mod scope;
mod single;
mod sym;
mod tracker;
mod validity;
mod values;
mod view;

pub use answer::{Answer, Counterexample, Formula, Leaf, Leaves, Reason, Verdict, formula_text};
pub use dims::MaxMerge;
pub use equality::Equality;
pub use error::Error;
pub use literal::{Literal, Relation};
pub use merge::merge;
pub use notation::{Chain, ChainError, ChainStart, Question, why_no_name};
pub use operation::{Movement, Slice};
pub use pair::Pair;
pub use poly::{Poly, TooLarge, Var};
pub use scope::{MAX_NAMES, Name, Quotient, Scope};
pub use sym::{Condition, Sym};
pub use tracker::ShapeTracker;
pub use values::guard_text;
pub use view::View;
