//! Exclusive or, which swizzles of shared memory have: as sums of bits for the equations, and as an unknown for what leads back.

use indexpr::{Binary, Error, Expr, Graph, Node};

use super::IndexMap;

/// The most bits that are written out for one map: each takes two floors.
const MOST_BITS: u32 = 64;

/// How many bits both operands have, where neither is negative.
fn bits(graph: &Graph, a: Expr, b: Expr) -> Option<u32> {
    let ((low_a, high_a), (low_b, high_b)) = (graph.range(a), graph.range(b));
    (low_a >= 0 && low_b >= 0).then(|| i64::BITS - (high_a | high_b).leading_zeros())
}

/// Expressions in a graph of the same variables in which every exclusive or became what `write` makes of its operands; `None`
/// where there is none, or `write` refuses one.
fn rewritten(
    graph: &Graph,
    exprs: &[Expr],
    is_split: bool,
    mut write: impl FnMut(&mut Graph, Expr, Expr) -> Option<Expr>,
) -> Option<(Graph, Vec<Expr>)> {
    let parts = graph.parts(exprs);
    if !parts.iter().any(|part| matches!(graph.node(*part), Node::Binary(Binary::Xor, ..))) {
        return None;
    }
    let mut new = Graph::new();
    for variable in graph.variables() {
        new.variable(&variable.name, variable.range.clone()).ok()?;
    }
    let mut made: Vec<Expr> = Vec::with_capacity(parts.len());
    for part in &parts {
        let of = |operand: Expr| parts.binary_search(&operand).ok().map(|place| made[place]);
        made.push(match graph.node(*part) {
            Node::Int(value) => new.int(value),
            Node::Bool(value) => new.bool(value),
            Node::Variable(place) => {
                let variable = &graph.variables()[place];
                new.variable(&variable.name, variable.range.clone()).ok()?
            }
            Node::Binary(Binary::Xor, a, b) if is_split => split(&mut new, of(a)?, of(b)?, &mut write)?,
            Node::Binary(Binary::Xor, a, b) => write(&mut new, of(a)?, of(b)?)?,
            Node::Binary(op, a, b) => new.binary(op, of(a)?, of(b)?).ok()?,
            Node::Within(a, begin, end) => new.within(of(a)?, begin, end).ok()?,
            Node::Not(a) => new.not(of(a)?).ok()?,
            Node::Select(c, a, b) => new.select(of(c)?, of(a)?, of(b)?).ok()?,
            _ => return None,
        });
    }
    let exprs = exprs.iter().map(|expr| parts.binary_search(expr).ok().map(|place| made[place]));
    Some((new, exprs.collect::<Option<_>>()?))
}

/// Where one operand has fewer bits than the other, what is above them stays as it is: only the rest is written.
fn split(
    graph: &mut Graph,
    a: Expr,
    b: Expr,
    write: &mut impl FnMut(&mut Graph, Expr, Expr) -> Option<Expr>,
) -> Option<Expr> {
    let (own, other) = (bits(graph, a, a), bits(graph, b, b));
    let (Some(own), Some(other)) = (own, other) else { return write(graph, a, b) };
    if own == other {
        return write(graph, a, b);
    }
    let (long, short) = if own > other { (a, b) } else { (b, a) };
    let weight = graph.int(1 << own.min(other));
    let (above, below) = (graph.binary(Binary::Div, long, weight).ok()?, graph.binary(Binary::Mod, long, weight).ok()?);
    let above = graph.binary(Binary::Mul, above, weight).ok()?;
    let below = if own.min(other) == 0 { below } else { write(graph, below, short)? };
    graph.binary(Binary::Add, above, below).ok()
}

/// A map in which `a ^ b ^ b` became `a`, wherever operands of exclusive or are the same expression.
pub(super) fn cancelled(map: &IndexMap) -> Option<IndexMap> {
    const MOST: usize = 64;
    let (graph, results) = rewritten(&map.graph, &map.results, false, |graph, a, b| {
        // The operands of the whole chain, without those that occur twice.
        let (mut pending, mut operands) = (vec![a, b], Vec::new());
        while let Some(expr) = pending.pop() {
            match graph.node(expr) {
                Node::Binary(Binary::Xor, a, b) => pending.extend([a, b]),
                _ => match operands.iter().position(|known| *known == expr) {
                    Some(at) => drop(operands.remove(at)),
                    None => operands.push(expr),
                },
            }
            if operands.len() + pending.len() > MOST {
                return graph.binary(Binary::Xor, a, b).ok();
            }
        }
        let zero = graph.int(0);
        let first = operands.pop().unwrap_or(zero);
        operands.into_iter().try_fold(first, |chain, expr| graph.binary(Binary::Xor, chain, expr).ok())
    })?;
    IndexMap::new(graph, results).ok()
}

/// Expressions without exclusive or: bit `t` of `a ^ b` is `(a // 2^t + b // 2^t) % 2`. `None` where there is nothing to do.
pub(super) fn as_sums(graph: &Graph, exprs: &[Expr]) -> Option<(Graph, Vec<Expr>)> {
    let mut left = MOST_BITS;
    rewritten(graph, exprs, true, |graph, a, b| {
        let bits = bits(graph, a, b)?;
        left = left.checked_sub(bits)?;
        sum_of_bits(graph, a, b, bits).ok()
    })
}

fn sum_of_bits(graph: &mut Graph, a: Expr, b: Expr, bits: u32) -> Result<Expr, Error> {
    let (mut sum, two) = (graph.int(0), graph.int(2));
    for bit in 0..bits {
        let weight = graph.int(1 << bit);
        let (a, b) = (graph.binary(Binary::Div, a, weight)?, graph.binary(Binary::Div, b, weight)?);
        let both = graph.binary(Binary::Add, a, b)?;
        let one = graph.binary(Binary::Mod, both, two)?;
        let term = graph.binary(Binary::Mul, one, weight)?;
        sum = graph.binary(Binary::Add, sum, term)?;
    }
    Ok(sum)
}

/// A map with a further loop in the place of each exclusive or, and with the operands of each as further results, two by two;
/// of operands of different lengths as they are, or split. `None` where there is none.
pub(super) fn as_loops(map: &IndexMap, is_split: bool) -> Option<IndexMap> {
    let mut operands = Vec::new();
    let (graph, mut results) = rewritten(&map.graph, &map.results, is_split, |graph, a, b| {
        let most = 1i64.checked_shl(bits(graph, a, b)?).filter(|most| *most > 0)?;
        operands.extend([a, b]);
        graph.variable(&format!("xor{}", operands.len()), 0..most).ok()
    })?;
    results.extend(operands);
    IndexMap::new(graph, results).ok()
}
