//! The least and the greatest value of an expression: exactly, where counted work finds where they are attained.
//!
//! The facts of a node treat operands that share variables as independent: of `x // 7 + x % 7` they know that neither
//! part is negative, and that the sum is at most the sum of the largest parts. On a small box of the variables there is
//! less to be wrong about. So this is branch and bound: of the boxes into which the variables' ranges have been cut, the
//! one with the least bound is cut again, until that box is a single choice of the variables. Its value is attained, and no
//! other box has a lesser one. Where that takes too long, all choices are tried, if they are few enough; and where they are
//! not, what is left is a bound, sharper than the facts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use smallvec::SmallVec;

use crate::evaluate::Blocks;
use crate::facts::Facts;
use crate::graph::{Expr, Graph, Node};
use crate::index::IndexExpr;

/// The least and the greatest value of an expression, as [`Graph::extremes`] finds them: both attained, or a bound.
///
/// ```
/// use indexpr::{Graph, Syntax};
///
/// let mut graph = Graph::new();
/// graph.variable("x", 0..10)?;
/// let zero = graph.parse("x - x", Syntax::Python)?;
/// let found = graph.extremes(zero, None).unwrap();
/// assert_eq!((found.low, found.high, found.exact), (0, 0, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extremes {
    /// No value is less.
    pub low: i64,
    /// No value is greater.
    pub high: i64,
    /// Whether both are values of the expression. If not, they are a bound.
    pub exact: bool,
}

impl Extremes {
    /// An interval, both ends included, that is no more than a bound.
    ///
    /// ```
    /// assert!(!indexpr::Extremes::bound((0, 7)).exact);
    /// ```
    pub fn bound((low, high): (i64, i64)) -> Extremes {
        Extremes { low, high, exact: false }
    }

    /// The interval, both ends included, as [`Graph::range`] gives it.
    ///
    /// ```
    /// let mut graph = indexpr::Graph::new();
    /// let x = graph.variable("x", 3..10)?;
    /// assert_eq!(graph.extremes(x, None).unwrap().range(), (3, 9));
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn range(&self) -> (i64, i64) {
        (self.low, self.high)
    }
}

/// A work limit: how many operations of the abstract domain the search for one extreme may take. Each takes some 20 ns.
const MAX_FACTS: usize = 1 << 15;

/// A work limit: how many operations on values may be done to try all choices of the variables. Each takes about 1 ns.
const MAX_VALUES: i64 = 1 << 21;

impl Graph {
    /// The least and the greatest value of an expression over all values of the variables for which a condition holds
    /// (`None`: over all), and whether they are attained; `None` where the condition never holds.
    ///
    /// [`Graph::range`] is one look-up, and a bound. This is a search, by branch and bound and then by trying all choices
    /// of the variables that occur, with a limit of work: about a millisecond. Where it ends before the answer is sure, the
    /// result is a bound, and says so. A number in place of the condition is no condition, and is not asked.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..102)?;
    /// let expr = graph.parse("x // 7 + x % 7", Syntax::Python)?;
    /// assert_eq!(graph.extremes(expr, None).unwrap().range(), (0, 19));
    /// let first = graph.parse("x < 10", Syntax::Python)?;
    /// assert_eq!(graph.extremes(expr, Some(first)).unwrap().range(), (0, 6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A handle that is not of this graph.
    pub fn extremes(&self, expr: Expr, valid: Option<Expr>) -> Option<Extremes> {
        let valid = valid.filter(|valid| self.is_condition(*valid) && self.range(*valid) != (1, 1));
        let search = Search::new(self, expr, valid);
        let ends = [false, true].map(|greatest| search.extreme(greatest));
        // One search may find that the condition never holds where the other one was ended by the limit.
        let [low, high] = [ends[0]?, ends[1]?];
        let found = Extremes { low: low.value, high: high.value, exact: low.exact && high.exact };
        if found.exact {
            return Some(found);
        }
        match search.all_values(self, expr, valid) {
            Some(values) => values.map(|(low, high)| Extremes { low, high, exact: true }),
            None => Some(found),
        }
    }

    /// Values of all variables for which a condition holds, found as [`Graph::extremes`] searches, and with its limits of work.
    /// Variables that do not occur have the first value of their range.
    pub(crate) fn example(&self, condition: Expr) -> Example {
        let search = Search::new(self, condition, Some(condition));
        // Where it holds its value is 1: all boxes have one bound, so that the search goes into the depth.
        match search.end(true) {
            None => return Example::Never,
            Some((End { exact: true, .. }, within)) => return Example::At(search.values(&within)),
            Some(_) => {}
        }
        if !search.is_small() {
            return Example::Undecided;
        }
        let parts = self.parts(&[condition]).into_iter();
        let mut roots: Vec<Expr> = parts.filter(|part| matches!(self.node(*part), Node::Variable(_))).collect();
        roots.push(condition);
        let mut found = None;
        Blocks::new(self, &roots, search.ranges.clone()).each(&roots, |block| {
            let holds = block[roots.len() - 1];
            if let (None, Some(at)) = (&found, holds.iter().position(|value| *value == 1)) {
                found = Some(search.values(&block[..roots.len() - 1].iter().map(|column| (column[at], 0)).collect()));
            }
        });
        found.map_or(Example::Never, Example::At)
    }
}

/// Values for which a condition holds: [`Graph::example`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Example {
    /// There are none.
    Never,
    /// These, one for each variable of the graph.
    At(Vec<i64>),
    /// The work ended before the answer was sure.
    Undecided,
}

impl IndexExpr {
    /// The least and the greatest index of the elements that are valid, and whether they are attained, as
    /// [`Graph::extremes`] finds them: what is read lies between them. Loops over named sizes run to those sizes. Where no
    /// element is valid, they are those of the index expression by itself.
    ///
    /// ```
    /// use indexpr::{Graph, IndexExpr, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..10)?;
    /// let index = graph.parse("i - 1", Syntax::Python)?;
    /// let valid = graph.parse("1 <= i < 9", Syntax::Python)?;
    /// let code = IndexExpr::new(graph, index, valid, [10])?;
    /// assert_eq!(code.index_extremes().range(), (0, 7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn index_extremes(&self) -> Extremes {
        let whole = || self.graph().extremes(self.index(), None);
        let found = if self.extents().contains(&0) { None } else { self.valid_extremes() };
        found.or_else(whole).unwrap_or_else(|| Extremes::bound(self.graph().range(self.index())))
    }

    /// The extremes of the index over what is valid, in loops that may end before their variables' ranges do.
    fn valid_extremes(&self) -> Option<Extremes> {
        if self.sizes().is_empty() {
            return self.graph().extremes(self.index(), Some(self.valid()));
        }
        let (mut graph, mut valid) = (self.graph().clone(), self.valid());
        for (place, size) in self.sizes().iter().enumerate() {
            let variable = graph.variables()[place].clone();
            let inside = graph.variable(&variable.name, variable.range).and_then(|variable| {
                let inside = graph.binary(crate::Binary::Lt, variable, *size)?;
                graph.binary(crate::Binary::And, valid, inside)
            });
            valid = inside.unwrap_or(valid);
        }
        graph.extremes(self.index(), Some(valid))
    }
}

/// What a search for one extreme found: the extreme, or a bound.
#[derive(Clone, Copy, Debug)]
struct End {
    value: i64,
    exact: bool,
}

/// An expression and its condition as steps, operands first, over the variables that occur.
struct Search {
    steps: Vec<Step>,
    /// The steps of the expression and of the condition.
    value: usize,
    valid: Option<usize>,
    /// The range of each variable that occurs, both ends included.
    whole: Cuboid,
    /// The places of these variables in the graph.
    places: SmallVec<[usize; 4]>,
    /// The same for all variables of the graph, half-open; one value of those that do not occur.
    ranges: Vec<Range<i64>>,
}

/// The least and the greatest value of each variable.
type Cuboid = SmallVec<[(i64, i64); 4]>;

/// A node whose operands are steps; a variable is its place among those that occur.
struct Step {
    node: Node,
    operands: [usize; 3],
    /// What the graph knows of it, for all values of the variables.
    facts: Facts,
}

/// A box that may hold the extreme. Of boxes with the same bound, the one made last is the first to be cut: it is the
/// smallest, so that the search reaches a single choice of the variables soon.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    bound: Reverse<i128>,
    made: usize,
    within: Cuboid,
}

impl Search {
    fn new(graph: &Graph, expr: Expr, valid: Option<Expr>) -> Search {
        let roots: SmallVec<[Expr; 2]> = [expr].into_iter().chain(valid).collect();
        let parts = graph.parts(&roots);
        let place = |expr: Expr| parts.binary_search(&expr).unwrap_or_default();
        let (mut whole, mut places) = (Cuboid::new(), SmallVec::new());
        let mut ranges: Vec<Range<i64>> =
            graph.variables().iter().map(|variable| variable.range.start..variable.range.start + 1).collect();
        let mut steps = Vec::with_capacity(parts.len());
        for &part in &parts {
            let mut operands = [0; 3];
            let node = match graph.node(part) {
                Node::Variable(variable) => {
                    let Range { start, end } = graph.variables()[variable].range;
                    ranges[variable] = start..end;
                    whole.push((start, end - 1));
                    places.push(variable);
                    Node::Variable(whole.len() - 1)
                }
                node => {
                    for (at, operand) in operands.iter_mut().zip(node.operands()) {
                        *at = place(operand);
                    }
                    node
                }
            };
            steps.push(Step { node, operands, facts: graph.facts(part) });
        }
        Search { value: place(expr), valid: valid.map(place), steps, whole, places, ranges }
    }

    /// The least value or the greatest; `None` where the condition never holds.
    fn extreme(&self, greatest: bool) -> Option<End> {
        self.end(greatest).map(|(end, _)| end)
    }

    /// The same, and a box where it is, by branch and bound, best first. Where it is exact that is a single choice of the
    /// variables.
    // No rule: a box is cut in two; anywhere will do.
    fn end(&self, greatest: bool) -> Option<(End, Cuboid)> {
        let mut facts: Vec<Facts> = Vec::with_capacity(self.steps.len());
        // The greatest value is the least one of the negation.
        let mut bound = |within: &Cuboid| {
            let found = self.facts(within, &mut facts)?;
            Some(if greatest { -i128::from(found.high) } else { found.low.into() })
        };
        let as_value = |bound: i128| if greatest { (-bound) as i64 } else { bound as i64 };
        let mut open = BinaryHeap::new();
        let mut made = 0;
        if let Some(bound) = bound(&self.whole) {
            open.push(Open { bound: Reverse(bound), made, within: self.whole.clone() });
        }
        while let Some(Open { bound: Reverse(least), within, .. }) = open.pop() {
            let widths = within.iter().map(|(low, high)| high.abs_diff(*low));
            let widest = widths.enumerate().max_by_key(|(_, width)| *width).filter(|(_, width)| *width > 0);
            let Some((axis, _)) = widest else {
                return Some((End { value: as_value(least), exact: true }, within));
            };
            if made * self.steps.len() > MAX_FACTS {
                return Some((End { value: as_value(least), exact: false }, within));
            }
            let (low, high) = within[axis];
            let middle = low + (high.abs_diff(low) / 2) as i64;
            for half in [(low, middle), (middle + 1, high)] {
                let mut within = within.clone();
                within[axis] = half;
                made += 1;
                if let Some(bound) = bound(&within) {
                    open.push(Open { bound: Reverse(bound), made, within });
                }
            }
        }
        None
    }

    /// What is known of the value in a box; `None` where the condition holds nowhere in it. In a box of one choice of the
    /// variables that is the value, since the facts of constants are constants.
    fn facts(&self, within: &Cuboid, known: &mut Vec<Facts>) -> Option<Facts> {
        known.clear();
        for step in &self.steps {
            let [a, b, c] = step.operands;
            let facts = match step.node {
                Node::Int(_) | Node::Bool(_) => step.facts,
                Node::Variable(axis) => Facts::between(within[axis].0, within[axis].1),
                // What the graph knows of a node holds in every box.
                Node::Binary(op, ..) => Facts::of_binary(op, known[a], known[b]).unwrap_or(step.facts),
                Node::Within(_, begin, end) => Facts::of_within(known[a], begin, end),
                Node::Not(_) => Facts::between(1 - known[a].high, 1 - known[a].low),
                Node::Select(..) => Facts::of_select(known[a], known[b], known[c]),
            };
            known.push(facts);
        }
        let is_empty = self.valid.is_some_and(|valid| known[valid].high == 0);
        (!is_empty).then(|| known[self.value])
    }

    /// Whether all choices of the variables that occur may be tried.
    fn is_small(&self) -> bool {
        let count = self.whole.iter().try_fold(self.steps.len() as i64, |count, (low, high)| {
            count.checked_mul(i64::try_from(high.abs_diff(*low)).ok()?.checked_add(1)?)
        });
        count.is_some_and(|count| count <= MAX_VALUES)
    }

    /// The values of all variables of the graph in a box of one choice.
    fn values(&self, within: &Cuboid) -> Vec<i64> {
        let mut values: Vec<i64> = self.ranges.iter().map(|range| range.start).collect();
        for (place, (value, _)) in self.places.iter().zip(within) {
            values[*place] = *value;
        }
        values
    }

    /// The extremes by trying every choice of the variables that occur, `Some(None)` where the condition never holds;
    /// `None` where that would be too much work.
    fn all_values(&self, graph: &Graph, expr: Expr, valid: Option<Expr>) -> Option<Option<(i64, i64)>> {
        if !self.is_small() {
            return None;
        }
        let mut found: Option<(i64, i64)> = None;
        let roots: SmallVec<[Expr; 2]> = [expr].into_iter().chain(valid).collect();
        Blocks::new(graph, &roots, self.ranges.clone()).each(&roots, |block| {
            for (at, &value) in block[0].iter().enumerate() {
                if valid.is_none() || block[1][at] == 1 {
                    let (low, high) = found.unwrap_or((value, value));
                    found = Some((low.min(value), high.max(value)));
                }
            }
        });
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Syntax;
    use crate::tests::{Rng, random, value};

    /// The extremes by the definition, value by value.
    fn by_definition(graph: &Graph, expr: Expr, valid: Expr) -> Option<(i64, i64)> {
        let mut choices: Vec<Vec<i64>> = vec![Vec::new()];
        for variable in graph.variables() {
            let longer = |choice: &Vec<i64>| variable.range.clone().map(|at| [&choice[..], &[at]].concat()).collect();
            choices = choices.iter().flat_map::<Vec<Vec<i64>>, _>(longer).collect();
        }
        let values = choices.iter().filter(|at| value(graph, valid, at) == 1).map(|at| value(graph, expr, at));
        values.fold(None, |found, value| {
            let (low, high) = found.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        })
    }

    /// Few choices of the variables are all tried: the extremes of whatever expression under whatever condition are those
    /// of the definition.
    #[test]
    fn of_few_values_they_are_exact() {
        let mut rng = Rng(0x91);
        let (mut asked, mut never, mut sharper) = (0, 0, 0);
        for _ in 0..1_200 {
            let mut graph = Graph::new();
            for name in ["a", "b", "c"] {
                let low = rng.below(9) as i64 - 4;
                graph.variable(name, low..low + 1 + rng.below(6) as i64).unwrap();
            }
            let (numbers, conditions) = random(&mut rng, &mut graph, 24);
            for expr in numbers.iter().rev().take(3) {
                let valid = conditions[rng.below(conditions.len() as u64) as usize];
                let found = graph.extremes(*expr, Some(valid));
                assert_eq!(found.map(|found| found.range()), by_definition(&graph, *expr, valid));
                assert!(found.is_none_or(|found| found.exact));
                asked += 1;
                never += usize::from(found.is_none());
                sharper += usize::from(found.is_some_and(|found| found.range() != graph.range(*expr)));
            }
        }
        assert!(asked > 3_000 && never > 200 && sharper > 300, "{asked} {never} {sharper}");
    }

    /// `x // n + x % n` for ranges that nobody can try: the greatest value is at the end of the range, or at the end of
    /// the last whole block before it.
    #[test]
    fn of_many_values_they_are_found_by_cutting_boxes() {
        let mut rng = Rng(0x92);
        for _ in 0..300 {
            let [n_bits, size_bits] = [20, 50].map(|most| 1 + rng.below(most));
            let (n, size) = (2 + rng.below(1 << n_bits) as i64, 1 + rng.below(1 << size_bits) as i64);
            let mut graph = Graph::new();
            graph.variable("x", 0..size).unwrap();
            let expr = graph.parse(&format!("x // {n} + x % {n}"), Syntax::Python).unwrap();
            let at = |x: i64| x / n + x % n;
            let before = size / n * n - 1;
            let greatest = at(size - 1).max(if before >= 0 { at(before) } else { 0 });
            let found = graph.extremes(expr, None).unwrap();
            assert_eq!((found.range(), found.exact), ((0, greatest), true), "x // {n} + x % {n}, x in 0..{size}");
        }
    }

    /// Where the work ends before the answer is sure, what is said is a bound, and no worse than what the graph knows.
    #[test]
    fn a_bound_is_called_one() {
        let mut graph = Graph::new();
        graph.variable("x", 0..1 << 40).unwrap();
        let expr = graph.parse("x * 1234567 % 1000003 ^ x * 7654321 % 999983", Syntax::Python).unwrap();
        let found = graph.extremes(expr, None).unwrap();
        let (low, high) = graph.range(expr);
        assert!(!found.exact && low <= found.low && found.high <= high, "{found:?}");
        for x in (0..1 << 40).step_by(12_345_678_901) {
            assert!((found.low..=found.high).contains(&graph.evaluate(expr, &[x]).unwrap()));
        }
    }

    /// Loops that run to a named size end there, and not at the greatest value of their variables.
    #[test]
    fn loops_over_named_sizes_end_at_the_sizes() {
        let mut graph = Graph::new();
        graph.variable("i", 0..64).unwrap();
        let n = graph.variable("n", 1..65).unwrap();
        let last = graph.parse("n - 1 - i", Syntax::Python).unwrap();
        let always = graph.bool(true);
        let code = IndexExpr::with_sizes(graph, last, always, [n]).unwrap();
        assert_eq!(code.graph().range(code.index()), (-63, 63));
        assert_eq!((code.index_extremes().range(), code.index_extremes().exact), ((0, 63), true));
    }
}
