//! What expressions cost.

use super::graph::{Binary, Expr, Graph, Node};

/// What computing some expressions costs, with what they have in common computed once.
///
/// ```
/// use shapetracker::expr::{Binary, Graph};
///
/// let mut graph = Graph::new();
/// let (x, three) = (graph.variable("x", 0..6)?, graph.int(3));
/// let quotient = graph.binary(Binary::Div, x, three)?;
/// let remainder = graph.binary(Binary::Mod, x, three)?;
/// let sum = graph.binary(Binary::Add, quotient, remainder)?;
/// let cost = graph.cost(&[quotient, sum]);
/// assert_eq!((cost.ops, cost.divmods, cost.weight), (3, 2, 17));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cost {
    /// The distinct operations. A range test `a <= x < b` counts as two; constants and variables cost nothing.
    pub ops: usize,
    /// The divisions and modulos among them whose divisor is not a constant power of two.
    pub divmods: usize,
    /// The operations weighted by what they take on current processors: 1 for what takes a cycle, 3 for a product by
    /// what is not a power of two, 8 for a division or modulo by another constant (which compilers turn into a product
    /// of twice the width and corrections), 25 by what is not constant.
    pub weight: usize,
}

impl Graph {
    /// What computing all of these expressions costs, each distinct operation counted once.
    pub fn cost(&self, of: &[Expr]) -> Cost {
        let mut cost = Cost::default();
        for expr in self.parts(of) {
            let (ops, divmods, weight) = match self.node(expr) {
                Node::Int(_) | Node::Bool(_) | Node::Variable(_) => (0, 0, 0),
                Node::Not(_) | Node::Select(..) => (1, 0, 1),
                Node::Within(..) => (2, 0, 2),
                Node::Binary(Binary::Mul, a, b) => {
                    let cheap = [a, b].into_iter().any(|operand| self.is_power_of_two(operand));
                    (1, 0, if cheap { 1 } else { 3 })
                }
                Node::Binary(Binary::Div | Binary::Mod, _, divisor) => match self.node(divisor) {
                    _ if self.is_power_of_two(divisor) => (1, 0, 1),
                    Node::Int(_) => (1, 1, 8),
                    _ => (1, 1, 25),
                },
                Node::Binary(..) => (1, 0, 1),
            };
            cost.ops += ops;
            cost.divmods += divmods;
            cost.weight += weight;
        }
        cost
    }

    pub(super) fn is_power_of_two(&self, expr: Expr) -> bool {
        matches!(self.node(expr), Node::Int(value) if value > 0 && value & (value - 1) == 0)
    }
}
