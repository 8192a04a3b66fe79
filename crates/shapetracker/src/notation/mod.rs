//! Text forms of chains, views and trackers: reading, printing, and pointing at what cannot be read.

mod call;
mod calls;
mod chain;
mod error;
mod foreign;
mod functions;
mod help;
mod layouts;
mod lexer;
mod parser;
mod patterns;
mod printing;
mod program;
mod types;

#[cfg(test)]
mod tests;

pub(crate) use call::{Call, Order};
pub use calls::ArrayLibrary;
pub(crate) use calls::list;
pub use chain::{Chain, ChainProgress, ChainStart};
pub use error::ChainError;
pub use help::Method;
pub use indexpr::text::ParseError;
#[cfg(feature = "serde")]
pub(crate) use parser::unknown_operation;
