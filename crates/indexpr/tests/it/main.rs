//! Nests beside loops that are walked by themselves.

mod axes;
mod emitted;
mod facts;
// What they have is also for the tests of `shapetracker`, which run them in CUDA.
#[allow(dead_code)]
mod functions;
mod random;
mod shown;
mod splits;
mod walked;
