//! Nests beside loops that are walked by themselves.

mod emitted;
mod facts;
mod random;
mod shown;
mod splits;
mod walked;
