//! Every answer of the crate, compared with lists of values: `oracle` writes out what a layout does, from the definitions.
