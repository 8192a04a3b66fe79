//! Trackers whose sizes are names, beside the integer library at values of the names.
//!
//! `SYMBOLIC_CHAINS` is how many random chains there are; without it 20,000 in `chains`, and
//! 2,000 in `index` and `questions`.

mod chains;
mod index;
mod questions;
mod random;
