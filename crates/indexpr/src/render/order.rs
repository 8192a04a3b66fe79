//! The order in which C and its relatives compute what is independent of order: conditions of a conjunction, and terms
//! of a sum.
//!
//! Compilers reassociate little, and choose registers in the order in which values are written. Of the orders that were
//! tried on the recorded stacks, GCC needs the fewest instructions for the one that is written here. In loop nests
//! another order matters more: see `grouped` in `kernel.rs`.

use shapetracker_base::list::sort_short_by_key;

use crate::constants::literal;
use crate::graph::{Binary, Expr, Graph, Node};

/// A term of a sum, and whether it is subtracted.
pub(super) type Term = (Expr, bool);

/// A work limit: longer sums are written as they are. Sorting takes quadratic time.
const MOST_TERMS: usize = 200;

/// How a part of some expressions is used.
#[derive(Clone, Copy, Default)]
struct Part {
    /// Whether it has its place in the order.
    found: bool,
    /// The use count, and how many of these uses are in sums.
    uses: (usize, usize),
    /// Whether it is written as terms of a larger sum.
    written: bool,
}

/// What has to be computed for some expressions in numbers of at most `most`, operands first. A sum comes with its terms
/// in the order in which they are added, if that is to be another one; the sums that it consists of are not listed then.
/// `parts` are the same in the order of the graph.
pub(super) fn order(graph: &Graph, of: &[Expr], parts: &[Expr], most: i64) -> Vec<(Expr, Vec<Term>)> {
    let mut known = vec![Part::default(); parts.len()];
    let place = |expr: Expr| parts.binary_search(&expr).unwrap_or_default();
    of.iter().for_each(|root| known[place(*root)].uses.0 += 1);
    for &part in parts {
        let in_sum = usize::from(is_sum(graph, part));
        for operand in graph.node(part).operands().filter(|_| literal(graph, part).is_none()) {
            let (all, in_sums) = &mut known[place(operand)].uses;
            (*all, *in_sums) = (*all + 1, *in_sums + in_sum);
        }
    }
    let mut sums = vec![Vec::new(); parts.len()];
    for (at, &part) in parts.iter().enumerate().rev() {
        // A sum that is part of one larger sum, and of nothing else, is seen from there.
        let is_inner = |expr: Expr| is_sum(graph, expr) && known[place(expr)].uses == (1, 1);
        if !is_sum(graph, part) || is_inner(part) {
            continue;
        }
        let (mut terms, mut inner, mut pending) = (Vec::new(), Vec::new(), vec![(part, false)]);
        while let Some((expr, negative)) = pending.pop() {
            match graph.node(expr) {
                Node::Binary(op, a, b) if expr == part || is_inner(expr) => {
                    pending.extend([(b, negative ^ (op == Binary::Sub)), (a, negative)]);
                    inner.push(expr);
                }
                _ => terms.push((expr, negative)),
            }
        }
        if terms.len() > 2 && terms.len() <= MOST_TERMS && sorted(graph, &mut terms, most) {
            inner[1..].iter().for_each(|expr| known[place(*expr)].written = true);
            sums[at] = terms;
        }
    }

    // In the order in which they are used; of a conjunction the second condition first, which for a stack of views are
    // the outer axes before the inner ones. On the stack are expressions, and whether their operands have been visited.
    let mut order = Vec::with_capacity(parts.len());
    let mut pending: Vec<(Expr, bool)> = of.iter().rev().map(|expr| (*expr, false)).collect();
    while let Some((expr, is_ready)) = pending.pop() {
        let at = place(expr);
        if is_ready {
            if !known[at].written {
                order.push((expr, std::mem::take(&mut sums[at])));
            }
        } else if !std::mem::replace(&mut known[at].found, true) {
            pending.push((expr, true));
            if literal(graph, expr).is_none() {
                let first = pending.len();
                pending.extend(graph.node(expr).operands().map(|operand| (operand, false)));
                if !matches!(graph.node(expr), Node::Binary(Binary::And, ..)) {
                    pending[first..].reverse();
                }
            }
        }
    }
    order
}

fn is_sum(graph: &Graph, expr: Expr) -> bool {
    matches!(graph.node(expr), Node::Binary(Binary::Add | Binary::Sub, ..)) && literal(graph, expr).is_none()
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
    let (mut low, mut high) = (0_i64, 0_i64);
    let fits = terms.iter().all(|(term, negative)| {
        let (least, greatest) = graph.range(*term);
        let ends = if *negative {
            low.checked_sub(greatest).zip(high.checked_sub(least))
        } else {
            low.checked_add(least).zip(high.checked_add(greatest))
        };
        (low, high) = ends.unwrap_or((low, i64::MAX));
        low >= -most && high <= most && ends.is_some()
    });
    fits && terms.first().is_some_and(|(_, negative)| !negative)
}
