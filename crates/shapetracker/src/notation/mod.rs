//! Text forms of chains, views and trackers: reading, printing, and pointing at what cannot be read.

mod arguments;
mod arithmetic;
mod asked;
mod call;
mod calls;
mod chain;
mod error;
mod foreign;
mod functions;
mod layouts;
mod methods;
mod numbers;
mod parsed;
mod parser;
mod pasted;
mod printing;
mod program;
mod types;

#[cfg(test)]
mod tests;

pub use arithmetic::{Arithmetic, Integers, Known, Operator, Role};
pub(crate) use call::{Call, Order};
pub use calls::ArrayLibrary;
pub(crate) use calls::list;
pub use chain::{Chain, ChainOf, ChainProgress, ChainStart, ChainStartOf};
pub use error::ChainError;
pub use methods::Method;
pub use parsed::Need;
pub use parser::Reader;
pub use pasted::KnownMessage;
pub use shapetracker_base::text::ParseError;
