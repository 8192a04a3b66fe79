//! Orders that the structure of expressions alone decides, whatever their handles are: in which order expressions are
//! visited, and in which the operands of commutative operations stand.
//!
//! Handles tell in which order expressions were made. Whoever lets them decide gives one answer to `min(a, b)` and another
//! to `min(b, a)`, or one in the graph where an expression was made and another where its text was read.

use std::hash::Hasher;

use crate::graph::{Binary, Expr, Graph, Map, Node, WordHasher};

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
    /// from left to right. Cost: linear in their number.
    pub(crate) fn postorder(&self, roots: &[Expr]) -> Vec<Expr> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Placed,
        }
        let mut states = vec![State::New; self.len()];
        let (mut order, mut open) = (Vec::new(), roots.to_vec());
        open.reverse();
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
        let mut keys = vec![Key::default(); self.len()];
        // What each expression became, where that is another one.
        let mut made: Map<Expr, Expr> = Map::default();
        for expr in self.parts(&roots) {
            let mut node = self.node(expr);
            let became = |operand: Expr| made.get(&operand).copied().unwrap_or(operand);
            if let Node::Binary(op, a, b) = &mut node {
                (*a, *b) = (became(*a), became(*b));
                let order = |expr: Expr| (!self.continues(*op, expr), keys[expr.place()]);
                if op.is_commutative() && order(*a) > order(*b) {
                    std::mem::swap(a, b);
                }
            }
            let same = node == self.node(expr) && !node.operands().any(|operand| made.contains_key(&operand));
            let new = match node {
                _ if same => expr,
                Node::Binary(op, a, b) => self.binary(op, a, b).unwrap_or(expr),
                // The ranges of operands are those of what they were made from, so that nothing is refused.
                node => self.remade(node, became).unwrap_or(expr),
            };
            if new != expr {
                made.insert(expr, new);
            }
            let key = self.key(&keys, new);
            keys.resize(self.len(), Key::default());
            keys[new.place()] = key;
        }
        roots.map(|root| made.get(&root).copied().unwrap_or(root))
    }

    /// Whether an expression is the chain to which an operation adds one more operand. It stands first, so that `a + b + c`
    /// needs no parentheses.
    fn continues(&self, op: Binary, expr: Expr) -> bool {
        matches!(self.node(expr), Node::Binary(of, ..) if of == op || (of, op) == (Binary::Sub, Binary::Add))
    }

    /// The key of an expression whose operands have theirs.
    fn key(&self, keys: &[Key], expr: Expr) -> Key {
        let node = self.node(expr);
        let (kind, a, b) = match node {
            Node::Int(value) => (0, value, 0),
            Node::Bool(value) => (1, value.into(), 0),
            Node::Variable(place) => (2, place as i64, 0),
            Node::Within(_, begin, end) => (3, begin, end),
            Node::Not(_) => (4, 0, 0),
            Node::Select(..) => (5, 0, 0),
            Node::Binary(op, ..) => (6 + op as u8, 0, 0),
        };
        let mut key = Key { variable: if kind == 2 { a as u32 } else { u32::MAX }, height: 0, kind, hash: 0 };
        let mut hash = WordHasher::default();
        [kind.into(), a, b].into_iter().for_each(|word| hash.write_i64(word));
        for operand in node.operands() {
            let below = keys[operand.place()];
            key.variable = key.variable.min(below.variable);
            key.height = key.height.max(below.height + 1);
            hash.write_u64(below.hash);
        }
        key.hash = hash.finish();
        key
    }
}
