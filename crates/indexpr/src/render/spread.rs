//! Loops spread over threads: an index whose variables are digits of other numbers, such as that of a thread.

use shapetracker_base::int::bits;

use crate::error::Error;
use crate::graph::{Binary, Expr, Graph};
use crate::index::IndexExpr;

/// An index and its condition over other variables than its loops.
pub(super) struct Spread {
    pub(super) graph: Graph,
    pub(super) valid: Expr,
    pub(super) index: Expr,
}

/// The digits of a number that counts the elements of some axes in row-major order; 0 for axes of one element.
// Proved: `digits_written` in `proofs/Rounding.v`.
// Proved: `unravel_ravel` in `proofs/View.v`.
pub(super) fn digits(graph: &mut Graph, number: Expr, sizes: &[i64]) -> Result<Vec<Expr>, Error> {
    let (mut digits, mut stride) = (Vec::with_capacity(sizes.len()), 1_i64);
    for (axis, &size) in sizes.iter().enumerate().rev() {
        let mut digit = number;
        if size == 1 {
            digit = graph.int(0);
        } else {
            if stride != 1 {
                let stride = graph.int(stride);
                digit = graph.binary(Binary::Div, digit, stride)?;
            }
            if sizes[..axis].iter().any(|size| *size != 1) {
                let size = graph.int(size);
                digit = graph.binary(Binary::Mod, digit, size)?;
            }
        }
        digits.push(digit);
        stride = stride.saturating_mul(size);
    }
    digits.reverse();
    Ok(digits)
}

impl Spread {
    /// An index with an expression of a graph in the place of each loop.
    pub(super) fn new(code: &IndexExpr, mut graph: Graph, loops: &[Expr]) -> Result<Spread, Error> {
        let moved = graph.import(&code.graph, &[code.index, code.valid], |_, axis| Ok(loops[axis]))?;
        Ok(Spread { graph, index: moved[0], valid: moved[1] })
    }

    /// The same, simplified.
    pub(super) fn simplified(mut self) -> Spread {
        (self.index, self.valid) = self.graph.simplify_pair(self.index, self.valid);
        self
    }

    /// The index of an element by its number, where that is cheaper than to compute the loop variables from the number and the
    /// index from these: quotients and remainders cancel. Not where it takes wider integers.
    pub(super) fn flat(code: &IndexExpr, elements: i64, name: &str) -> Option<Spread> {
        let mut graph = Graph::new();
        let number = graph.variable(name, 0..elements).ok()?;
        let loops = digits(&mut graph, number, &code.extents).ok()?;
        let unravelled = Spread::new(code, graph, &loops).ok()?;
        let figures = |spread: &Spread| {
            let (cost, range) = (spread.cost(), spread.graph.value_range(&[spread.index, spread.valid]));
            (bits(range) > 32, cost.weight, cost.ops)
        };
        let before = figures(&unravelled);
        let flat = unravelled.simplified();
        let after = figures(&flat);
        (after.0 <= before.0 && (after.1, after.2) < (before.1, before.2)).then_some(flat)
    }

    fn cost(&self) -> crate::cost::Cost {
        self.graph.cost(&[self.index, self.valid])
    }
}
