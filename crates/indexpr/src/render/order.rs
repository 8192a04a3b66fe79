//! The order in which C and its relatives compute what is independent of order: conditions of a conjunction, and terms
//! of a sum.
//!
//! Compilers reassociate little, and choose registers in the order in which values are written. Of the orders that were
//! tried on the recorded stacks, GCC needs the fewest instructions for the one that is written here. In loop nests
//! another order matters more: see `grouped` in `kernel.rs`.

use crate::constants::literal;
use crate::graph::{Binary, Expr, Graph, Map, Node};
use crate::list::sort_short_by_key;

/// A term of a sum, and whether it is subtracted.
pub(super) type Term = (Expr, bool);

/// What has to be computed, operands first, and how sums are written.
pub(super) struct Order {
    pub(super) parts: Vec<Expr>,
    /// The terms of each sum in the order in which they are added. Sums that it consists of are not among the parts.
    pub(super) sums: Map<Expr, Vec<Term>>,
}

/// A work limit: longer sums are written as they are. Sorting takes quadratic time.
const MOST_TERMS: usize = 200;

impl Order {
    /// The order for some expressions, in numbers of at most `most`.
    pub(super) fn new(graph: &Graph, of: &[Expr], most: i64) -> Order {
        let mut parts = by_use(graph, of);
        // The sums that are part of one larger sum, and of nothing else.
        let mut uses = Map::<Expr, (usize, usize)>::default();
        of.iter().for_each(|root| uses.entry(*root).or_default().0 += 1);
        for &part in &parts {
            for operand in operands(graph, part) {
                let (all, in_sums) = uses.entry(operand).or_default();
                *all += 1;
                *in_sums += usize::from(is_sum(graph, part));
            }
        }
        let is_inner = |expr: Expr| is_sum(graph, expr) && uses.get(&expr) == Some(&(1, 1));

        let mut sums = Map::default();
        let mut written = Map::<Expr, ()>::default();
        for &part in parts.iter().rev().filter(|part| is_sum(graph, **part) && !is_inner(**part)) {
            let (mut terms, mut inner, mut pending) = (Vec::new(), Vec::new(), vec![(part, false)]);
            while let Some((expr, negative)) = pending.pop() {
                match graph.node(expr) {
                    Node::Binary(op, a, b) if expr == part || is_inner(expr) => {
                        pending.extend([(b, negative ^ (op == Binary::Sub)), (a, negative)]);
                        inner.extend((expr != part).then_some((expr, ())));
                    }
                    _ => terms.push((expr, negative)),
                }
            }
            if !inner.is_empty() && terms.len() <= MOST_TERMS && sorted(graph, &mut terms, most) {
                written.extend(inner);
                sums.insert(part, terms);
            }
        }
        parts.retain(|part| !written.contains_key(part));
        Order { parts, sums }
    }
}

/// What has to be computed for an expression, which is nothing if it has but one value.
fn operands(graph: &Graph, expr: Expr) -> impl DoubleEndedIterator<Item = Expr> {
    let operands: Vec<Expr> = graph.node(expr).operands().filter(|_| literal(graph, expr).is_none()).collect();
    operands.into_iter()
}

fn is_sum(graph: &Graph, expr: Expr) -> bool {
    matches!(graph.node(expr), Node::Binary(Binary::Add | Binary::Sub, ..)) && literal(graph, expr).is_none()
}

/// All that has to be computed, operands first, in the order in which it is used; of a conjunction the second condition
/// first, which for a stack of views are the outer axes before the inner ones.
fn by_use(graph: &Graph, of: &[Expr]) -> Vec<Expr> {
    let (mut order, mut found) = (Vec::new(), Map::<Expr, ()>::default());
    // Expressions to visit, and whether their operands have been.
    let mut pending: Vec<(Expr, bool)> = of.iter().rev().map(|expr| (*expr, false)).collect();
    while let Some((expr, is_ready)) = pending.pop() {
        if is_ready {
            order.push(expr);
        } else if found.insert(expr, ()).is_none() {
            pending.push((expr, true));
            match graph.node(expr) {
                Node::Binary(Binary::And, ..) => pending.extend(operands(graph, expr).map(|operand| (operand, false))),
                _ => pending.extend(operands(graph, expr).rev().map(|operand| (operand, false))),
            }
        }
    }
    order
}

/// Sorts terms by their factors, the largest first, then those that are subtracted, then constants. False, and nothing
/// is to be changed, where a part of the sum could leave the type, or would begin with a subtraction.
fn sorted(graph: &Graph, terms: &mut [Term], most: i64) -> bool {
    let factor = |expr: Expr| match graph.node(expr) {
        Node::Binary(Binary::Mul, a, b) => [a, b].into_iter().find_map(|factor| match graph.node(factor) {
            Node::Int(value) => Some(value.unsigned_abs()),
            _ => None,
        }),
        _ => None,
    };
    sort_short_by_key(terms, |(term, negative)| {
        let is_constant = literal(graph, *term).is_some();
        (is_constant, *negative, std::cmp::Reverse(factor(*term).unwrap_or(1)))
    });
    let (mut low, mut high) = (0_i128, 0_i128);
    let fits = terms.iter().all(|(term, negative)| {
        let (least, greatest) = graph.range(*term);
        let (least, greatest) =
            if *negative { (-i128::from(greatest), -i128::from(least)) } else { (least.into(), greatest.into()) };
        (low, high) = (low + least, high + greatest);
        low > -i128::from(most) && high <= most.into()
    });
    fits && terms.first().is_some_and(|(_, negative)| !negative)
}
