//! What kernels of every kind are made of.

use shapetracker_base::list::sort_short_by_key;

use crate::constants::{constant, parts};
use crate::graph::{Expr, Graph, Node};

/// Which elements read something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Valid {
    All,
    None,
    Some,
}

impl Valid {
    /// What the range of a guard says.
    pub(super) fn of(graph: &Graph, valid: Expr) -> Valid {
        match constant(graph, valid) {
            Some(1) => Valid::All,
            Some(_) => Valid::None,
            None => Valid::Some,
        }
    }

    /// The names that a kernel needs, and the expressions that define them.
    pub(super) fn named(self, valid: Expr, index: Expr) -> Vec<(&'static str, Expr)> {
        match self {
            Valid::All => vec![("index", index)],
            Valid::None => Vec::new(),
            Valid::Some => vec![("valid", valid), ("index", index)],
        }
    }
}

/// The loops that the expressions depend on, outermost first.
pub(super) fn used_loops(graph: &Graph, named: &[(&str, Expr)]) -> Vec<usize> {
    let exprs: Vec<Expr> = named.iter().map(|(_, expr)| *expr).collect();
    let variables = parts(graph, &exprs).into_iter().filter(|part| constant(graph, *part).is_none());
    let mut axes: Vec<usize> = variables
        .filter_map(|part| if let Node::Variable(place) = graph.node(part) { Some(place) } else { None })
        .collect();
    sort_short_by_key(&mut axes, |axis| *axis);
    axes
}

/// The index along an axis of an element whose number in row-major order has this name.
// Proved: `outermost_digit` in `proofs/Rounding.v`.
pub(super) fn digit(number: &str, sizes: &[i64], axis: usize) -> String {
    let stride = sizes[axis + 1..].iter().fold(1_i64, |product, size| product.saturating_mul(*size));
    let divided = if stride == 1 { number.into() } else { format!("{number} / {stride}u") };
    let is_outermost = sizes[..axis].iter().all(|size| *size == 1);
    if is_outermost { divided } else { format!("{divided} % {}u", sizes[axis]) }
}
