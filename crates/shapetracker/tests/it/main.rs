//! The tests that decide whether this library is right.
//!
//! [`oracle`] evaluates views and movement operations element by element and shares no code with the library; the
//! modules below hold the library against it. `SHAPETRACKER_CASES=10` runs ten times as many random cases,
//! `SHAPETRACKER_SEED=7` draws others than the ones that every default run draws, and `SHAPETRACKER_PART=1/4` holds one quarter
//! of them.

mod growing;
mod oracle;
mod python;
mod random;
mod values;

mod addresses;
mod advice;
mod bad_input;
mod chains;
mod copies;
mod corpus;
mod describe;
mod expressions;
mod idioms;
mod index;
mod maps;
mod oracle_checks;
mod pairs;
mod pasted;
mod queries;
mod questions;
mod refining;
mod scaled;
mod simplified;
mod sources;
mod stress;
mod summaries;
mod views;
mod ways;
