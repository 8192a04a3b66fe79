//! Nests beside loops that are walked by themselves.

mod emitted;
mod random;
mod splits;
mod walked;
