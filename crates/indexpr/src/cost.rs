//! What expressions cost.

use shapetracker_base::int::bits;

use crate::emit::Products;
use crate::graph::{Binary, Expr, Graph, Node};

/// What computing some expressions costs, with what they have in common computed once.
///
/// ```
/// use indexpr::{Binary, Graph};
///
/// let mut graph = Graph::new();
/// let (x, three) = (graph.variable("x", 0..6)?, graph.int(3));
/// let quotient = graph.binary(Binary::Div, x, three)?;
/// let remainder = graph.binary(Binary::Mod, x, three)?;
/// let sum = graph.binary(Binary::Add, quotient, remainder)?;
/// let cost = graph.cost(&[quotient, sum]);
/// assert_eq!((cost.ops, cost.divmods, cost.weight), (3, 2, 11));
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Cost {
    /// The distinct operations. A range test `a <= x < b` counts as two; constants and variables cost nothing.
    pub ops: usize,
    /// The divisions and modulos among them whose divisor is not a constant power of two.
    pub divmods: usize,
    /// The operations in round figures of the instructions that GCC makes of them (`-O2`, x86-64): a division or modulo
    /// by a constant that is not a power of two counts as 8 (a quotient takes 5 to 7 instructions and a remainder 9 to
    /// 12 where the compiler knows no range, 2 and 4 as [`Graph::code`] writes them for a known one), and one by what is
    /// not constant as 25. A modulo next to the division of the same by the same counts as 2: compilers make it of the
    /// quotient. All else, shifts and masks among them, counts as 1.
    pub weight: usize,
}

impl Cost {
    /// A cost that is known from elsewhere.
    ///
    /// ```
    /// assert_eq!(indexpr::Cost::new(3, 1, 10).weight, 10);
    /// ```
    pub fn new(ops: usize, divmods: usize, weight: usize) -> Cost {
        Cost { ops, divmods, weight }
    }
}

impl Graph {
    /// What computing all of these expressions costs, each distinct operation counted once.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..64)?;
    /// let (a, b) = (graph.parse("x // 8 + 1", Syntax::Python)?, graph.parse("x // 8 - 1", Syntax::Python)?);
    /// assert_eq!(graph.cost(&[a, b]).ops, 3); // the division is shared
    /// assert_eq!(graph.cost(&[a, b]).divmods, 0); // and it is a shift
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn cost(&self, of: &[Expr]) -> Cost {
        let mut cost = Cost::default();
        let parts = self.parts(of);
        let divides = |a, b| {
            let quotient = self.find(Node::Binary(Binary::Div, a, b));
            quotient.is_some_and(|quotient| parts.binary_search(&quotient).is_ok())
        };
        for &expr in &parts {
            let (ops, divmods, weight) = match self.node(expr) {
                Node::Int(_) | Node::Bool(_) | Node::Variable(_) => (0, 0, 0),
                Node::Not(_) | Node::Select(..) => (1, 0, 1),
                Node::Within(..) => (2, 0, 2),
                Node::Binary(op @ (Binary::Div | Binary::Mod), a, divisor) => match self.node(divisor) {
                    _ if self.is_power_of_two(divisor) => (1, 0, 1),
                    _ if op == Binary::Mod && divides(a, divisor) => (1, 1, 2),
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

    /// Whether something that is computed may leave 32 bits.
    pub(crate) fn is_wide(&self, of: &[Expr]) -> bool {
        self.has_wide() && bits(self.value_range(of)) > 32
    }

    /// What of several ways to write the same is smaller is cheaper. A way that needs 64 bits is dearer than any that does
    /// not: its code takes twice the registers, its divisions several times as long, and some languages have no integers
    /// of 64 bits. Where the result itself needs them, every way does. Of equal costs that with fewer negative dividends is:
    /// many languages round those the other way, and correcting that costs. Whoever multiplies sums out is taken to
    /// correct it with a sum before the division and one after it.
    pub(crate) fn rank(&self, of: &[Expr], products: Products) -> (bool, usize, usize, usize) {
        let (cost, parts) = (self.cost(of), self.parts(of).into_iter());
        let negative = parts.filter_map(|expr| self.dividend(expr)).filter(|expr| self.range(*expr).0 < 0).count();
        let weight = match products {
            Products::OfSums => cost.weight,
            Products::OfAtoms => cost.weight + 2 * negative,
        };
        (self.is_wide(of), weight, cost.ops, negative)
    }

    /// What is divided, if anything is.
    pub(crate) fn dividend(&self, expr: Expr) -> Option<Expr> {
        match self.node(expr) {
            Node::Binary(Binary::Div | Binary::Mod, dividend, _) => Some(dividend),
            _ => None,
        }
    }

    pub(crate) fn is_power_of_two(&self, expr: Expr) -> bool {
        matches!(self.node(expr), Node::Int(value) if value > 0 && value & (value - 1) == 0)
    }
}
