//! Nests beside loops that are walked by themselves.

mod emitted;
mod facts;
mod random;
mod splits;
mod walked;
