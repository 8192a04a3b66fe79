//! Expressions that can have but one value: code has a literal for them, and nothing that they are made of.

use crate::graph::{Expr, Graph, Map, Node, Sort};

/// The only value of an expression, if it has but one.
pub(crate) fn constant(graph: &Graph, expr: Expr) -> Option<i64> {
    let (low, high) = graph.range(expr);
    (low == high).then_some(low)
}

/// What has to be computed, operands first; constants are not made of anything.
pub(crate) fn parts(graph: &Graph, of: &[Expr]) -> Vec<Expr> {
    let mut needed = Map::<Expr, ()>::default();
    let mut pending = of.to_vec();
    while let Some(expr) = pending.pop() {
        if needed.insert(expr, ()).is_none() && constant(graph, expr).is_none() {
            pending.extend(graph.node(expr).operands());
        }
    }
    graph.parts(of).into_iter().filter(|part| needed.contains_key(part)).collect()
}

/// What a constant expression is: a number or a truth.
pub(crate) fn literal(graph: &Graph, expr: Expr) -> Option<Node> {
    let value = constant(graph, expr)?;
    Some(match graph.sort(expr) {
        Sort::Number => Node::Int(value),
        Sort::Condition => Node::Bool(value == 1),
    })
}
