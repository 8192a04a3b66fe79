//! Orders that the structure of expressions alone decides, whatever their handles are: in which order expressions are
//! visited, and in which the operands of commutative operations stand.
//!
//! Handles tell in which order expressions were made. Whoever lets them decide gives one answer to `min(a, b)` and another
//! to `min(b, a)`, or one in the graph where an expression was made and another where its text was read.

use std::cmp::Ordering;
use std::hash::Hasher;

use crate::graph::{Binary, Expr, Graph, Map, Node, WordHasher};

/// What is compared of operands before their own operands are.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The first variable that the expression uses; past all of them for one that uses none, which stands last.
    variable: u32,
    /// The length of the longest path to a leaf: variables stand before what is made of them.
    height: u32,
}

/// The keys of expressions, by place, each with a hash of the whole structure.
type Keys = Vec<(Key, u64)>;

/// A work limit: where operands agree in so many keys, one below the other, their hashes decide.
const COMPARED: usize = 16;

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
        let mut keys: Keys = vec![Default::default(); self.len()];
        // What each expression became, where that is another one.
        let mut made: Map<Expr, Expr> = Map::default();
        for expr in self.parts(&roots) {
            let mut node = self.node(expr);
            let became = |operand: Expr| made.get(&operand).copied().unwrap_or(operand);
            if let Node::Binary(op, a, b) = &mut node {
                (*a, *b) = (became(*a), became(*b));
                if op.is_commutative() && self.order(&keys, *op, *a, *b) == Ordering::Greater {
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
            keys.resize(keys.len().max(self.len()), Default::default());
            keys[new.place()] = self.key(&keys, new);
        }
        roots.map(|root| made.get(&root).copied().unwrap_or(root))
    }

    /// The key of an expression whose operands have theirs, and its hash.
    fn key(&self, keys: &Keys, expr: Expr) -> (Key, u64) {
        let node = self.node(expr);
        let variable = if let Node::Variable(place) = node { place as u32 } else { u32::MAX };
        let (mut key, mut hash) = (Key { variable, height: 0 }, WordHasher::default());
        let (kind, [a, b]) = kind(node);
        hash.write_u64(kind.into());
        hash.write_i64(a);
        hash.write_i64(b);
        for operand in node.operands() {
            let (below, of_operand) = keys[operand.place()];
            key.variable = key.variable.min(below.variable);
            key.height = key.height.max(below.height + 1);
            hash.write_u64(of_operand);
        }
        (key, hash.finish())
    }

    /// The order of the operands of an operation. What is of the same operation comes first, so that `a + b + c` needs no
    /// parentheses, and a constant last. Only equal expressions are equal.
    fn order(&self, keys: &Keys, op: Binary, a: Expr, b: Expr) -> Ordering {
        let continues = |expr| match self.node(expr) {
            Node::Binary(Binary::Sub, ..) => op == Binary::Add,
            Node::Binary(other, ..) => op == other,
            _ => false,
        };
        let mut order = continues(b).cmp(&continues(a));
        let (mut a, mut b) = (a, b);
        let mut compared = 0;
        while order == Ordering::Equal && a != b {
            let ((key, hash), (other, other_hash)) = (keys[a.place()], keys[b.place()]);
            let (node, other_node) = (self.node(a), self.node(b));
            order = key.cmp(&other).then_with(|| kind(node).cmp(&kind(other_node)));
            compared += 1;
            if compared > COMPARED {
                order = order.then(hash.cmp(&other_hash));
            }
            // Nodes of one kind that are not equal differ in an operand, and the first such one decides.
            (a, b) = node.operands().zip(other_node.operands()).find(|(a, b)| a != b).unwrap_or((a, a));
        }
        order
    }
}

/// Which operation or leaf a node is, and its numbers.
fn kind(node: Node) -> (u8, [i64; 2]) {
    match node {
        Node::Int(value) => (0, [value, 0]),
        Node::Bool(value) => (1, [value.into(), 0]),
        Node::Variable(place) => (2, [place as i64, 0]),
        Node::Within(_, begin, end) => (3, [begin, end]),
        Node::Not(_) => (4, [0, 0]),
        Node::Select(..) => (5, [0, 0]),
        Node::Binary(op, ..) => (6 + op as u8, [0, 0]),
    }
}
