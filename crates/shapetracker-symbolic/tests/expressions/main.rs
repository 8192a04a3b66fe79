//! Index expressions over names, made cheaper: named cases, and random ones that are evaluated.

mod cases;
mod random;
