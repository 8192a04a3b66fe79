//! What all crates of shapetracker stand on: texts as tokens, mistakes with their place, tuples as Python writes them, and
//! integers that round down. It knows no expressions and no layouts.
//!
//! ```
//! use shapetracker_base::int::div_floor;
//! use shapetracker_base::text::{Tokens, tuple};
//!
//! let mut tokens = Tokens::new("(7, x)");
//! let close = tokens.open("a pair of sizes").unwrap();
//! let first = tokens.value().unwrap();
//! assert_eq!(tuple(&[div_floor(first, 2), div_floor(-first, 2)]).to_string(), "(3, -4)");
//!
//! tokens.advance();
//! tokens.comma_or(close).unwrap();
//! let err = tokens.expected("a size");
//! assert_eq!(err.to_string(), "expected a size, found `x`\n  (7, x)\n      ^");
//! ```
//!
//! # Where to look
//!
//! - [`text`]: [`Tokens`](text::Tokens) of a text, [`ParseError`](text::ParseError) for a mistake and its place, the
//!   [`nearest`](text::nearest) of some names, and [`tuple`](text::tuple()).
//! - [`int`]: the greatest common divisor, and divisions that round down or up.
//! - [`list`]: a sort of short lists in little code.

pub mod int;
pub mod list;
mod mistake;
pub mod text;
mod tokens;

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
