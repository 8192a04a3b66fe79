//! Orders that the structure of expressions alone decides, whatever their handles are: in which order expressions are
//! visited, and in which the operands of commutative operations stand.
//!
//! Handles tell in which order expressions were made. Whoever lets them decide gives one answer to `min(a, b)` and another
//! to `min(b, a)`, or one in the graph where an expression was made and another where its text was read.

use std::hash::Hasher;

use smallvec::SmallVec;

use crate::graph::{Binary, Expr, Graph, Node, WordHasher};

/// What decides the order of operands.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The first variable that the expression uses; past all of them for one that uses none, which stands last.
    variable: u32,
    /// The length of the longest path to a leaf: variables stand before what is made of them.
    height: u32,
    /// Which operation or leaf it is.
    kind: u8,
    /// A hash of the whole structure, by which whatever else differs is told apart: but for a collision of 64 bits, equal
    /// keys are equal expressions.
    hash: u64,
}

impl Graph {
    /// The distinct expressions that some are made of, themselves included: each after its operands, which are visited
    /// from left to right. Cost: linear in the number of expressions of the graph.
    pub(crate) fn postorder(&self, roots: &[Expr]) -> Vec<Expr> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Placed,
        }
        let mut states = vec![State::New; roots.iter().map(|root| root.place() + 1).max().unwrap_or(0)];
        let (mut order, mut open) = (Vec::with_capacity(self.len().min(64)), Vec::<Expr>::with_capacity(32));
        open.extend(roots.iter().rev());
        while let Some(&expr) = open.last() {
            let state = &mut states[expr.place()];
            if *state == State::New {
                *state = State::Open;
                open.extend(self.node(expr).operands().rev());
            } else {
                open.pop();
                if *state == State::Open {
                    *state = State::Placed;
                    order.push(expr);
                }
            }
        }
        order
    }

    /// The same expressions with the operands of every commutative operation in one order, which their structure alone
    /// decides. Two expressions that differ only in the order of such operands become the same one.
    ///
    /// No figure of the cost grows: what was one expression stays one, and the facts known of an operation do not depend
    /// on the order of its operands. A chain of one operation stays as it is associated, since sums that other
    /// expressions share would be torn apart otherwise.
    ///
    /// Cost: linear in the number of expressions of the graph.
    pub(crate) fn canonical<const N: usize>(&mut self, roots: [Expr; N]) -> [Expr; N] {
        let parts = self.parts(&roots);
        let place = |expr: Expr| parts.binary_search(&expr).unwrap_or_default();
        // What each became, and the key of that.
        let mut made: Vec<(Expr, Key)> = Vec::with_capacity(parts.len());
        for &expr in &parts {
            let mut operands: SmallVec<[(Expr, Key); 3]> =
                self.node(expr).operands().map(|operand| made[place(operand)]).collect();
            if let (Node::Binary(op, ..), [a, b]) = (self.node(expr), &mut operands[..]) {
                let order = |(expr, key): &(Expr, Key)| (!self.continues(op, *expr), *key);
                if op.is_commutative() && order(a) > order(b) {
                    std::mem::swap(a, b);
                }
            }
            let node = match (self.node(expr), &operands[..]) {
                (Node::Within(_, begin, end), [(a, _)]) => Node::Within(*a, begin, end),
                (Node::Not(_), [(a, _)]) => Node::Not(*a),
                (Node::Select(..), [(a, _), (b, _), (c, _)]) => Node::Select(*a, *b, *c),
                (Node::Binary(op, ..), [(a, _), (b, _)]) => Node::Binary(op, *a, *b),
                (leaf, _) => leaf,
            };
            // It has the same values, so that what is known of the one holds for the other.
            let new = if node == self.node(expr) { expr } else { self.insert(node, self.facts(expr)) };
            made.push((new, self.key(node, &operands)));
        }
        roots.map(|root| made[place(root)].0)
    }

    /// Whether an expression is the chain to which an operation adds one more operand. It stands first, so that `a + b + c`
    /// needs no parentheses.
    fn continues(&self, op: Binary, expr: Expr) -> bool {
        matches!(self.node(expr), Node::Binary(of, ..) if of == op || (of, op) == (Binary::Sub, Binary::Add))
    }

    /// The key of an expression whose operands have theirs.
    fn key(&self, node: Node, operands: &[(Expr, Key)]) -> Key {
        let named = |hash: i64, byte: u8| hash.wrapping_mul(0x100_0000_01b3).wrapping_add(byte.into());
        let (kind, a, b) = match node {
            Node::Int(value) => (0, value, 0),
            Node::Bool(value) => (1, value.into(), 0),
            // By its name: in another graph, with fewer variables before it, it has another place.
            Node::Variable(place) => (2, self.variables()[place].name.bytes().fold(0, named), 0),
            Node::Within(_, begin, end) => (3, begin, end),
            Node::Not(_) => (4, 0, 0),
            Node::Select(..) => (5, 0, 0),
            Node::Binary(op, ..) => (6 + op as u8, 0, 0),
        };
        let variable = if let Node::Variable(place) = node { place as u32 } else { u32::MAX };
        let mut key = Key { variable, height: 0, kind, hash: 0 };
        let mut hash = WordHasher::default();
        [kind.into(), a, b].into_iter().for_each(|word| hash.write_i64(word));
        for (_, below) in operands {
            key.variable = key.variable.min(below.variable);
            key.height = key.height.max(below.height + 1);
            hash.write_u64(below.hash);
        }
        key.hash = hash.finish();
        key
    }
}
