//! Index expressions: what a compiler writes to read an element, as cheap as can be.

mod algebra;
mod build;
mod conjunction;
mod context;
mod cost;
mod emit;
mod evaluate;
mod facts;
mod form;
mod graph;
mod lexer;
mod parse;
mod print;
mod render;
mod simplify;

#[cfg(test)]
mod tests;

pub use build::IndexExpr;
pub use cost::Cost;
pub use graph::{Binary, Expr, Graph, Node, Variable};
pub use parse::Syntax;
pub use render::{Language, UnknownLanguage, Unsupported};
