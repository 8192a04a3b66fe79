//! Trackers whose sizes are names, beside the integer library at values of the names.
//!
//! There are 20,000 random chains in `chains`, and 2,000 in `index` and `questions`; `SHAPETRACKER_CASES=10` is ten times as many, and
//! `SHAPETRACKER_PART=1/2` one half of them.

mod chains;
mod index;
#[path = "../part/mod.rs"]
mod part;
mod questions;
mod random;
