//! The code of trackers whose sizes are names, compiled and run at values of the names.
//!
//! C, Rust and NumPy are run where there is a compiler or an interpreter; CUDA, OpenCL and Metal run on the processor, behind
//! a few macros; WGSL is validated. A test whose tool is missing says `skipped`.
//! `BLESS=1 cargo test -p shapetracker-symbolic --test languages` rewrites the files under `golden`.

mod cases;
mod golden;
mod programs;
#[allow(dead_code)]
#[path = "../tracker/random.rs"]
mod random;
#[allow(dead_code)]
#[path = "../../../shapetracker/tests/languages/tools.rs"]
mod tools;
mod wgsl;
