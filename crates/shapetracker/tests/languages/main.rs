//! The code that the library writes, compiled and run.
//!
//! C, Rust and Python are run where there is a compiler or an interpreter; CUDA, OpenCL and Metal run on the processor,
//! behind a few macros, and CUDA on a GPU, too, where there are one and `nvcc`; WGSL is validated, and evaluated by the
//! validator. A test whose tool is missing says `skipped`.
//! A program that has run before, with the same text and the same compiler, is not run again.
//! `BLESS=1 cargo test -p shapetracker --test languages` rewrites the files under `golden`.

#[allow(dead_code)]
#[path = "../it/oracle.rs"]
mod oracle;

mod arrays;
mod cases;
mod device;
mod golden;
mod gpu;
mod instructions;
mod nests;
mod programs;
mod random;
mod refused;
mod tools;
mod wgsl;
