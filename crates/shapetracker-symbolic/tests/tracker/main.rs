//! Trackers whose sizes are names, beside the integer library at values of the names.
//!
//! `SYMBOLIC_CHAINS` is how many random chains there are; without it 20,000 in `chains`, and
//! 2,000 in `index` and `questions`; `SHAPETRACKER_PART=1/2` is one half of them.

mod chains;
mod index;
#[path = "../part/mod.rs"]
mod part;
mod questions;
mod random;
