//! Trackers whose sizes are names, beside the integer library at values of the names.
//!
//! There are 20,000 random chains in `chains`, and 2,000 in `index` and `questions`.

mod chains;
mod cheap;
mod describe;
mod index;
mod questions;
mod random;
