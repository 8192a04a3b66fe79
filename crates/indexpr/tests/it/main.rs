//! Nests beside loops that are walked by themselves.

mod emitted;
mod facts;
#[allow(dead_code)]
mod functions;
mod random;
mod shown;
mod splits;
mod walked;
