//! Text forms of chains, views and trackers: reading, printing, and pointing at what cannot be read.

mod chain;
mod error;
mod foreign;
mod lexer;
mod parser;
mod printing;

#[cfg(test)]
mod tests;

pub use chain::{Chain, ChainProgress, Start};
pub(crate) use error::quoted;
pub use error::{ChainError, ParseError};
pub(crate) use parser::nearest;
#[cfg(feature = "serde")]
pub(crate) use parser::unknown_operation;
