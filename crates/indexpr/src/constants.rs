//! Expressions that can have but one value: code has a literal for them, and nothing that they are made of.

use crate::graph::{Expr, Graph, Node, Sort};

/// The only value of an expression, if it has but one.
pub(crate) fn constant(graph: &Graph, expr: Expr) -> Option<i64> {
    let (low, high) = graph.range(expr);
    (low == high).then_some(low)
}

/// What has to be computed, operands first; constants are not made of anything.
pub(crate) fn parts(graph: &Graph, of: &[Expr]) -> Vec<Expr> {
    graph.parts_where(of, |expr| constant(graph, expr).is_none())
}

/// What a constant expression is: a number or a truth.
pub(crate) fn literal(graph: &Graph, expr: Expr) -> Option<Node> {
    let value = constant(graph, expr)?;
    Some(match graph.sort(expr) {
        Sort::Number => Node::Int(value),
        Sort::Condition => Node::Bool(value == 1),
    })
}
