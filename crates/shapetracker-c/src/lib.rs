//! The C interface of shapetracker: exact tensor layouts, index expressions and copies, for compilers that are not written in Rust.
//!
//! This crate is for C and C++: `include/shapetracker.h` declares its functions, `include/shapetracker.hpp` wraps them for C++17, and
//! the README says how programs are linked. From Rust the crates that it speaks for are used instead. It decides nothing: every answer is one of
//! theirs.
//!
//! # What every function keeps
//!
//! - A function that can fail returns an error, or null where it succeeded, and only then writes its result. The error has the
//!   operation, the kind, the place in a text and a sentence.
//! - Nothing panics across. A panic would be a defect, and is an error of the kind `panic`.
//! - A handle is ended by the `free` of its kind, once, by whoever has it. A text that a function wrote is ended by `st_text_free`;
//!   texts that a function returned live as long as the handle they were asked of.
//! - Trackers, answers, expressions, plans, layouts and errors do not change: any number of threads may use one at a time. A
//!   nest changes, and is used by one thread at a time. There is no global state but the registry of debug builds.
//!
//! # What callers promise
//!
//! What a function takes beside numbers is one of these, and anything else is undefined behaviour, as it is everywhere in C:
//!
//! - A handle is one of its kind that was not ended. Null is an error, and so is a handle of another kind. Builds with debug assertions
//!   have a registry of all handles: what is foreign or was ended is an error there, too.
//! - A list points to as many entries as the number beside it says, and may be null where there are none. A place for a result has room for
//!   it, and overlaps nothing else that is passed.
//! - A text ends with a zero byte. That it is UTF-8 is checked.

mod answer;
mod caller;
mod error;
mod expression;
mod layout;
mod nest;
mod plan;
mod registry;
mod tracker;
mod version;

pub use answer::*;
pub use error::*;
pub use expression::*;
pub use layout::*;
pub use nest::*;
pub use plan::*;
pub use tracker::*;
pub use version::*;
