//! Tensor layouts whose sizes are names: for which values is it one strided view?

#![allow(dead_code)] // While the crate grows.

mod answer;
mod decide;
mod divide;
mod factor;
mod literal;
mod merge;
mod patterns;
mod poly;
mod prove;
mod refute;
mod region;
mod scope;
mod validity;
mod view;

pub use answer::{Answer, Counterexample, Formula, Leaf, Leaves, Reason, Verdict, formula_text};
pub use literal::{Literal, Relation};
pub use merge::{merge, pair_needs};
pub use poly::{Poly, TooLarge, Var};
pub use scope::{MAX_NAMES, Name, Quotient, Scope};
pub use view::View;
