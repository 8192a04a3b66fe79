//! Statements over several layouts: random ones compiled and run beside plain loops over the integer library's
//! elements, and what is said of wrong ones.

mod emitted;
mod mistakes;
mod random;
mod steps;
