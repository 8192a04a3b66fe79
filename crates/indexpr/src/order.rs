//! Orders that the structure of expressions alone decides, whatever their handles are: in which order expressions are
//! visited, and in which the operands of commutative operations stand.
//!
//! Handles tell in which order expressions were made. Whoever lets them decide gives one answer to `min(a, b)` and another
//! to `min(b, a)`, or one in the graph where an expression was made and another where its text was read.

use std::cmp::Ordering;
use std::hash::Hasher;

use crate::graph::{Binary, Expr, Graph, Map, Node, WordHasher};

/// What decides the order of operands, before their own operands do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The first variable that the expression uses; past all of them for one that uses none, which stands last.
    variable: usize,
    /// The length of the longest path to a leaf: variables stand before what is made of them.
    height: u32,
    /// Which operation or leaf it is, and its numbers.
    what: (u8, i64, i64),
}

/// The keys of expressions, each with a hash of the whole structure.
type Keys = Map<Expr, (Key, u64)>;

/// A work limit: where operands agree in so many keys, one below the other, their hashes decide.
const COMPARED: usize = 16;

impl Graph {
    /// The distinct expressions that some are made of, themselves included: each after its operands, which are visited
    /// from left to right. Cost: linear in their number.
    pub(crate) fn postorder(&self, roots: &[Expr]) -> Vec<Expr> {
        let mut order = Vec::new();
        // Whether what was visited has been placed.
        let mut placed: Map<Expr, bool> = Map::default();
        let mut open: Vec<Expr> = roots.iter().rev().copied().collect();
        while let Some(&expr) = open.last() {
            match placed.insert(expr, true) {
                None => {
                    placed.insert(expr, false);
                    open.extend(self.node(expr).operands().rev());
                }
                Some(before) => {
                    open.pop();
                    if !before {
                        order.push(expr);
                    }
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
    /// Cost: linear in the number of distinct expressions.
    pub(crate) fn canonical<const N: usize>(&mut self, roots: [Expr; N]) -> [Expr; N] {
        let mut keys = Keys::default();
        let mut made: Map<Expr, Expr> = Map::default();
        for expr in self.parts(&roots) {
            let mut node = self.node(expr);
            if let Node::Binary(op, a, b) = &mut node {
                (*a, *b) = (made[a], made[b]);
                if op.is_commutative() && self.order(&keys, *op, *a, *b) == Ordering::Greater {
                    std::mem::swap(a, b);
                }
            }
            let new = match node {
                Node::Binary(op, a, b) => self.binary(op, a, b),
                Node::Int(_) | Node::Bool(_) | Node::Variable(_) => Ok(expr),
                node => self.remade(node, |operand| made[&operand]),
            };
            // The ranges of operands are those of what they were made from, so that no operation is refused.
            let new = new.unwrap_or(expr);
            made.insert(expr, new);
            if !keys.contains_key(&new) {
                let key = self.key(&keys, new);
                keys.insert(new, key);
            }
        }
        roots.map(|root| made[&root])
    }

    /// The key of an expression, whose operands have keys.
    fn key(&self, keys: &Keys, expr: Expr) -> (Key, u64) {
        let node = self.node(expr);
        let what = match node {
            Node::Int(value) => (0, value, 0),
            Node::Bool(value) => (1, value.into(), 0),
            Node::Variable(place) => (2, place as i64, 0),
            Node::Within(_, begin, end) => (3, begin, end),
            Node::Not(_) => (4, 0, 0),
            Node::Select(..) => (5, 0, 0),
            Node::Binary(op, ..) => (6 + op as u8, 0, 0),
        };
        let variable = if let Node::Variable(place) = node { place } else { usize::MAX };
        let mut key = Key { variable, height: 0, what };
        let mut hash = WordHasher::default();
        [what.0.into(), what.1, what.2].into_iter().for_each(|word| hash.write_i64(word));
        for (operand, below) in node.operands().filter_map(|operand| keys.get(&operand)) {
            key.variable = key.variable.min(operand.variable);
            key.height = key.height.max(operand.height + 1);
            hash.write_u64(*below);
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
            let ((key, hash), (other, other_hash)) = (keys[&a], keys[&b]);
            order = key.cmp(&other);
            compared += 1;
            if compared > COMPARED {
                order = order.then(hash.cmp(&other_hash));
            }
            // Nodes that are of one operation and yet not equal differ in an operand, and the first such one decides.
            let mut operands = self.node(a).operands().zip(self.node(b).operands());
            (a, b) = operands.find(|(a, b)| a != b).unwrap_or((a, a));
        }
        order
    }
}
