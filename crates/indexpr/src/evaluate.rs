//! The values of expressions, for one choice of the variables or for all of them.
//!
//! Evaluation is columnar: an operation is applied to a whole column of values at once, in loops that compilers
//! vectorise, and what is loop-invariant is computed outside of the loop that it does not depend on. No step checks for
//! overflow or division by zero, because the graph refuses every expression in which they could occur.

use std::ops::Range;

use crate::error::{Error, Reason};
use crate::graph::{Binary, Expr, Graph, Node};

const OP: &str = "evaluate";

impl Graph {
    /// The value of an expression for one value of every variable, in the order of [`Graph::variables`]. A condition
    /// is 0 or 1.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..8)?;
    /// graph.variable("y", -2..3)?;
    /// let expr = graph.parse("x * 10 + y % 3", Syntax::Python)?;
    /// assert_eq!(graph.evaluate(expr, &[4, -1])?, 42);
    /// assert_eq!(
    ///     graph.evaluate(expr, &[4, 3]).unwrap_err().to_string(),
    ///     "evaluate: 3 is not a value of `y`, whose range is -2..3",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Too few or too many values, one outside the range of its variable, an expression that is not of this graph.
    pub fn evaluate(&self, expr: Expr, values: &[i64]) -> Result<i64, Error> {
        self.check(OP, expr)?;
        let variables = self.variables();
        if values.len() != variables.len() {
            return Err(Reason::ValueCount { variables: variables.len(), given: values.len() }.in_op(OP));
        }
        for (variable, &value) in variables.iter().zip(values) {
            if !variable.range.contains(&value) {
                let (name, begin, end) = (variable.name[..].into(), variable.range.start, variable.range.end);
                return Err(Reason::ValueOutside { name, value, begin, end }.in_op(OP));
            }
        }
        let mut known = vec![0; expr.place() + 1];
        for part in self.parts(&[expr]) {
            let mut value = [0];
            match self.node(part) {
                Node::Variable(variable) => value = [values[variable]],
                node => fill(&mut value, node, (0, 0), |operand| Column::Same(known[operand.place()])),
            }
            [known[part.place()]] = value;
        }
        Ok(known[expr.place()])
    }

    /// The values of expressions for some choices of the variables: a column of values for each variable, all of one
    /// length, gives as long a column for each expression.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..8)?;
    /// graph.variable("y", 0..3)?;
    /// let expr = graph.parse("x * 10 + y", Syntax::Python)?;
    /// assert_eq!(graph.evaluate_columns(&[expr], &[&[4, 7, 0], &[2, 0, 1]])?, [[42, 70, 1]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Too few or too many columns, columns of different lengths, a value outside the range of its variable, an
    /// expression that is not of this graph.
    pub fn evaluate_columns(&self, exprs: &[Expr], columns: &[&[i64]]) -> Result<Vec<Vec<i64>>, Error> {
        exprs.iter().try_for_each(|expr| self.check(OP, *expr))?;
        let variables = self.variables();
        if columns.len() != variables.len() {
            return Err(Reason::ValueCount { variables: variables.len(), given: columns.len() }.in_op(OP));
        }
        let len = columns.first().map_or(1, |column| column.len());
        for (variable, column) in variables.iter().zip(columns) {
            if column.len() != len {
                return Err(Reason::ColumnLength { len, given: column.len() }.in_op(OP));
            }
            if let Some(&value) = column.iter().find(|value| !variable.range.contains(value)) {
                let (name, begin, end) = (variable.name[..].into(), variable.range.start, variable.range.end);
                return Err(Reason::ValueOutside { name, value, begin, end }.in_op(OP));
            }
        }
        let mut known: Vec<Vec<i64>> = Vec::new();
        known.resize_with(exprs.iter().map(|expr| expr.place() + 1).max().unwrap_or(0), Vec::new);
        for part in self.parts(exprs) {
            let mut cells = vec![0; len];
            match self.node(part) {
                Node::Variable(variable) => cells.copy_from_slice(columns[variable]),
                node => {
                    let first = node.operands().next().map_or((0, 0), |operand| self.range(operand));
                    fill(&mut cells, node, first, |operand| match self.node(operand) {
                        Node::Int(value) => Column::Same(value),
                        Node::Bool(value) => Column::Same(value.into()),
                        _ => Column::Each(&known[operand.place()]),
                    });
                }
            }
            known[part.place()] = cells;
        }
        Ok(exprs.iter().map(|expr| known[expr.place()].clone()).collect())
    }

    /// The values of an expression for all values of all variables, in row-major order: the last variable runs fastest.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..2)?;
    /// graph.variable("y", -1..2)?;
    /// let expr = graph.parse("x * 10 + y", Syntax::Python)?;
    /// assert_eq!(graph.values(expr)?, [-1, 0, 1, 9, 10, 11]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// More values than fit into memory, 8 bytes each; an expression that is not of this graph.
    pub fn values(&self, expr: Expr) -> Result<Vec<i64>, Error> {
        let count = self.assignments()?;
        let mut values = Vec::new();
        let reserved = usize::try_from(count).is_ok_and(|count| values.try_reserve_exact(count).is_ok());
        if !reserved {
            return Err(Reason::TooManyValues { count }.in_op(OP));
        }
        self.evaluate_all(&[expr], |block| values.extend_from_slice(block[0]))?;
        Ok(values)
    }

    /// The values of some expressions for all values of all variables, in row-major order, a block at a time: `each`
    /// gets, for every expression, its next values, of every expression equally many.
    ///
    /// Costs about a nanosecond for each distinct operation and each choice of the variables; what does not change
    /// with the faster variables is computed when a slower one does. Takes some megabytes, whatever the ranges are.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..3000)?;
    /// let quotient = graph.parse("x // 7", Syntax::Python)?;
    /// let even = graph.parse("x % 2 == 0", Syntax::Python)?;
    /// let mut sum = 0;
    /// graph.evaluate_all(&[quotient, even], |block| {
    ///     sum += block[0].iter().zip(block[1]).map(|(quotient, even)| quotient * even).sum::<i64>();
    /// })?;
    /// assert_eq!(sum, (0..3000).filter(|x| x % 2 == 0).map(|x| x / 7).sum());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// More choices of the variables than `i64` can count; an expression that is not of this graph.
    pub fn evaluate_all(&self, exprs: &[Expr], mut each: impl FnMut(&[&[i64]])) -> Result<(), Error> {
        exprs.iter().try_for_each(|expr| self.check(OP, *expr))?;
        self.assignments()?;
        let ranges = self.variables().iter().map(|variable| variable.range.clone()).collect();
        Blocks::new(self, exprs, ranges).each(exprs, &mut each);
        Ok(())
    }

    /// How many choices of the variables there are.
    fn assignments(&self) -> Result<i64, Error> {
        let size = |range: &Range<i64>| range.end.checked_sub(range.start);
        let count = self.variables().iter().try_fold(1i64, |count, variable| count.checked_mul(size(&variable.range)?));
        count.ok_or_else(|| Reason::Overflow { what: "the number of choices of the variables" }.in_op(OP))
    }
}

/// The values of one expression in a block.
#[derive(Clone, Copy)]
enum Column<'a> {
    /// One value everywhere.
    Same(i64),
    /// A value for each choice of the variables.
    Each(&'a [i64]),
}

/// How one expression is computed.
struct Step {
    node: Node,
    /// The range of the first operand: [`divide`] can do without signs if it knows that of the dividend.
    first: (i64, i64),
    /// One more than the last variable before [`Blocks::fast`] that it depends on, 0 without any. It is loop-invariant
    /// in the variables after that one, and computed only when that one or one before it changes.
    slow: usize,
    /// Whether it has different values within a block. One that has not is computed once per block, as a number.
    varies: bool,
    /// Its place among the columns, if it varies or is an output.
    column: Option<usize>,
}

/// A walk over all choices of the variables, a block at a time.
///
/// The last few variables, from `fast` on, run through all of their values within every block, so that what depends on
/// them alone is the same in every block, and is computed once. The one before them runs through a few of its values;
/// the others stand still.
pub(crate) struct Blocks {
    steps: Vec<Step>,
    /// The step of each expression of the graph.
    step_of: Vec<usize>,
    ranges: Vec<Range<i64>>,
    fast: usize,
    /// How many choices of the fast variables there are.
    period: usize,
    /// How many values of the variable before them are in a full block.
    chunk: i64,
    /// The first value of each variable before `fast` in this block.
    current: Vec<i64>,
    /// How many choices of the variables this block has.
    len: usize,
    /// How many a full block has.
    full: usize,
    /// The values of the steps with a column, `full` of each.
    columns: Vec<i64>,
    /// The value of each step that does not vary.
    same: Vec<i64>,
}

impl Blocks {
    /// The most choices of a block: enough to make the work around them small.
    const LONGEST: usize = 1024;
    /// The fewest, for expressions of so many steps that their columns would leave the caches.
    const SHORTEST: usize = 32;
    /// The number of values in all columns together for which blocks are made shorter than the longest: 1 MiB, about
    /// the size of a second-level cache.
    const CELLS: usize = 1 << 17;

    /// A walk at its first block, with nothing computed. The number of choices must fit into `i64`.
    // No rule: it divides numbers of cells.
    pub(crate) fn new(graph: &Graph, exprs: &[Expr], ranges: Vec<Range<i64>>) -> Blocks {
        let parts = graph.parts(exprs);
        let longest = (Blocks::CELLS / parts.len().max(1)).clamp(Blocks::SHORTEST, Blocks::LONGEST) as i64;
        let (mut fast, mut period) = (ranges.len(), 1);
        while fast > 0 && ranges[fast - 1].end - ranges[fast - 1].start <= longest / period {
            fast -= 1;
            period *= ranges[fast].end - ranges[fast].start;
        }
        // The variable before the fast ones has more values than a block has room for, or there is none.
        let chunk = if fast > 0 { longest / period } else { 1 };

        let mut step_of = vec![usize::MAX; parts.last().map_or(0, |last| last.place() + 1)];
        let mut outputs = vec![false; step_of.len()];
        exprs.iter().for_each(|expr| outputs[expr.place()] = true);
        let mut steps: Vec<Step> = Vec::with_capacity(parts.len());
        let mut columns = 0;
        for part in parts {
            let node = graph.node(part);
            let before = || node.operands().map(|operand| step_of[operand.place()]);
            let (slow, varies) = match node {
                Node::Variable(variable) if variable >= fast => (0, true),
                Node::Variable(variable) => (variable + 1, variable + 1 == fast && chunk > 1),
                _ => (before().map(|at| steps[at].slow).max().unwrap_or(0), before().any(|at| steps[at].varies)),
            };
            let column = (varies || outputs[part.place()]).then_some(columns);
            columns += usize::from(column.is_some());
            let first = node.operands().next().map_or((0, 0), |operand| graph.range(operand));
            step_of[part.place()] = steps.len();
            steps.push(Step { node, first, slow, varies, column });
        }
        let full = (chunk * period) as usize;
        let current = ranges[..fast].iter().map(|range| range.start).collect();
        let (same, columns) = (vec![0; steps.len()], vec![0; columns * full]);
        let period = period as usize;
        Blocks { steps, step_of, ranges, fast, period, chunk, current, len: full, full, columns, same }
    }

    /// Computes all blocks, and hands out the values of expressions, which must be those that the walk was made for.
    pub(crate) fn each(mut self, exprs: &[Expr], mut each: impl FnMut(&[&[i64]])) {
        let mut changed = Some(0);
        while let Some(slowest) = changed {
            self.compute(slowest);
            let outputs: Vec<&[i64]> = exprs.iter().map(|&expr| self.output(expr)).collect();
            each(&outputs);
            changed = self.advance();
        }
    }

    /// Computes the steps whose `slow` is at least `slowest`: those that depend on the variable that changed last
    /// (counted from 1) or on one after it. With 0 it computes all of them, as the first block needs.
    fn compute(&mut self, slowest: usize) {
        for (at, step) in self.steps.iter().enumerate().filter(|(_, step)| step.slow >= slowest) {
            let mut single = [0];
            let (before, cells) = self.columns.split_at_mut(step.column.map_or(0, |column| column * self.full));
            let cells = if step.column.is_some() { &mut cells[..self.len] } else { &mut single[..] };
            match step.node {
                Node::Variable(variable) if variable >= self.fast => {
                    let stride = self.ranges[variable + 1..].iter().map(|range| range.end - range.start).product();
                    count(cells, self.ranges[variable].clone(), stride);
                }
                Node::Variable(variable) if variable + 1 == self.fast => {
                    count(cells, self.current[variable]..self.ranges[variable].end, self.period as i64);
                }
                Node::Variable(variable) => cells.fill(self.current[variable]),
                node => {
                    let operand = |operand: Expr| {
                        let at = self.step_of[operand.place()];
                        match self.steps[at].column {
                            Some(column) if self.steps[at].varies => {
                                Column::Each(&before[column * self.full..][..self.len])
                            }
                            _ => Column::Same(self.same[at]),
                        }
                    };
                    fill(cells, node, step.first, operand);
                }
            }
            self.same[at] = cells[0];
        }
    }

    /// The values of an output in this block.
    fn output(&self, expr: Expr) -> &[i64] {
        match self.steps[self.step_of[expr.place()]].column {
            Some(column) => &self.columns[column * self.full..][..self.len],
            None => unreachable!("outputs have columns"),
        }
    }

    /// Goes on to the next block, and returns what to compute there; `None` after the last block. It counts like an
    /// odometer: the last variable that can be raised is, and those after it start again.
    fn advance(&mut self) -> Option<usize> {
        for variable in (0..self.fast).rev() {
            let step = if variable + 1 == self.fast { self.chunk } else { 1 };
            let left = self.ranges[variable].end - self.current[variable];
            if left > step {
                self.current[variable] += step;
                if variable + 1 == self.fast {
                    self.len = self.chunk.min(left - step) as usize * self.period;
                }
                return Some(variable + 1);
            }
            self.current[variable] = self.ranges[variable].start;
            self.len = self.full;
        }
        None
    }
}

/// Writes the values of a range over and over, each `stride` times in a row: a variable as a column.
fn count(cells: &mut [i64], range: Range<i64>, stride: i64) {
    if stride == 1 {
        for run in cells.chunks_mut((range.end - range.start) as usize) {
            run.iter_mut().zip(range.clone()).for_each(|(cell, value)| *cell = value);
        }
        return;
    }
    let mut value = range.start;
    for run in cells.chunks_mut(stride as usize) {
        run.fill(value);
        value += 1;
        if value == range.end {
            value = range.start;
        }
    }
}

/// Computes an operation of columns, for any node but a variable. The first operand lies in the range `first`.
fn fill<'a>(cells: &mut [i64], node: Node, first: (i64, i64), operand: impl Fn(Expr) -> Column<'a>) {
    match node {
        Node::Int(value) => cells.fill(value),
        Node::Bool(value) => cells.fill(value.into()),
        Node::Variable(_) => {}
        Node::Not(a) => map(cells, operand(a), Column::Same(1), |a, one| one - a),
        Node::Within(a, begin, end) => {
            map(cells, operand(a), Column::Same(begin), |a, begin| (begin <= a && a < end).into());
        }
        Node::Select(condition, a, b) => select(cells, operand(condition), operand(a), operand(b)),
        Node::Binary(op, a, b) => {
            let (a, b) = (operand(a), operand(b));
            match op {
                Binary::Add => map(cells, a, b, |a, b| a + b),
                Binary::Sub => map(cells, a, b, |a, b| a - b),
                Binary::Mul => map(cells, a, b, |a, b| a * b),
                Binary::Div | Binary::Mod => divide(cells, op, a, b, first),
                Binary::Min => map(cells, a, b, i64::min),
                Binary::Max => map(cells, a, b, i64::max),
                Binary::Xor => map(cells, a, b, |a, b| a ^ b),
                Binary::Lt => map(cells, a, b, |a, b| (a < b).into()),
                Binary::Le => map(cells, a, b, |a, b| (a <= b).into()),
                Binary::Gt => map(cells, a, b, |a, b| (a > b).into()),
                Binary::Ge => map(cells, a, b, |a, b| (a >= b).into()),
                Binary::Eq => map(cells, a, b, |a, b| (a == b).into()),
                Binary::Ne => map(cells, a, b, |a, b| (a != b).into()),
                Binary::And => map(cells, a, b, |a, b| a & b),
                Binary::Or => map(cells, a, b, |a, b| a | b),
            }
        }
    }
}

/// Applies an operation to each pair of values.
fn map(cells: &mut [i64], a: Column, b: Column, f: impl Fn(i64, i64) -> i64) {
    match (a, b) {
        (Column::Each(a), Column::Each(b)) => {
            cells.iter_mut().zip(a).zip(b).for_each(|((cell, a), b)| *cell = f(*a, *b));
        }
        (Column::Each(a), Column::Same(b)) => cells.iter_mut().zip(a).for_each(|(cell, a)| *cell = f(*a, b)),
        (Column::Same(a), Column::Each(b)) => cells.iter_mut().zip(b).for_each(|(cell, b)| *cell = f(a, *b)),
        (Column::Same(a), Column::Same(b)) => cells.fill(f(a, b)),
    }
}

/// Chooses between two columns by a third.
fn select(cells: &mut [i64], condition: Column, a: Column, b: Column) {
    match (condition, a, b) {
        (Column::Same(condition), a, b) => map(cells, if condition == 1 { a } else { b }, Column::Same(0), |a, _| a),
        // Where one branch is the same everywhere, the values are masked and moved.
        (Column::Each(_), Column::Same(a), b) => {
            map(cells, condition, b, |condition, b| if condition == 1 { a } else { b });
        }
        (Column::Each(_), a, Column::Same(b)) => {
            map(cells, condition, a, |condition, a| if condition == 1 { a } else { b });
        }
        (Column::Each(condition), Column::Each(a), Column::Each(b)) => {
            let branches = a.iter().zip(b);
            for ((cell, condition), (a, b)) in cells.iter_mut().zip(condition).zip(branches) {
                *cell = if *condition == 1 { *a } else { *b };
            }
        }
    }
}

/// Floor divisions of dividends that lie in a range. Division is the slowest instruction by far, so a constant positive
/// divisor is turned into a product (strength reduction) if the dividends allow it.
// Proved: `raised_in_columns` in `proofs/Rounding.v`.
fn divide(cells: &mut [i64], op: Binary, a: Column, b: Column, (low, high): (i64, i64)) {
    if let (Column::Each(dividends), Column::Same(divisor @ 1..)) = (a, b) {
        // A multiple of the divisor is added to make all dividends natural numbers.
        let under = low.min(0).div_euclid(divisor);
        let shift = i128::from(under) * i128::from(divisor);
        if let Ok(largest) = u64::try_from(i128::from(high) - shift) {
            return by_constant(cells, op, dividends, divisor, under, largest);
        }
    }
    match op {
        Binary::Div => map(cells, a, b, |a, b| a.wrapping_div(b) - i64::from(is_rounded_up(a, b))),
        _ => map(cells, a, b, |a, b| a.wrapping_rem(b) + if is_rounded_up(a, b) { b } else { 0 }),
    }
}

/// Whether a processor, which rounds towards zero, rounds this quotient up.
// Proved: `rounded_up_by_signs` in `proofs/Rounding.v`.
fn is_rounded_up(a: i64, b: i64) -> bool {
    (a < 0) != (b < 0) && a.wrapping_rem(b) != 0
}

/// Divisions by products: dividends less `under` times the divisor are natural numbers up to the largest.
///
/// For natural `n` and `d`, with `l` the least number for which `2^l >= d`, and `m = 2^p / d` rounded up, floor of
/// `n / d` is that of `n m / 2^p` when `n < 2^(p - l)`: `m d` is more than `2^p` by less than `2^l`. (Granlund and
/// Montgomery, Division by invariant integers using multiplication, theorem 4.2.)
// Proved: `divided_by_product`, `small_factor`, `wide_factor`, `shift_and_mask` in `proofs/Rounding.v`.
fn by_constant(cells: &mut [i64], op: Binary, dividends: &[i64], divisor: i64, under: i64, largest: u64) {
    const SMALL: u64 = 1 << 31;
    let d = divisor as u64;
    let l = u64::BITS - (d - 1).leading_zeros();
    // The shift itself may be outside `i64`; the sum is not.
    let natural = |a: i64| a.wrapping_sub(under.wrapping_mul(divisor)) as u64;
    if d == 1 << l {
        return match op {
            Binary::Div => map(cells, Column::Each(dividends), Column::Same(0), |a, _| a >> l),
            _ => map(cells, Column::Each(dividends), Column::Same(0), |a, _| a & (divisor - 1)),
        };
    }
    if largest < SMALL && d < SMALL {
        // Both factors have 32 bits, so that several products are computed at once.
        let p = 31 + l;
        let m = (1u64 << p).div_ceil(d);
        let quotient = |n: u64| (u64::from(n as u32) * u64::from(m as u32)) >> p;
        quotients(cells, op, dividends, |a| {
            let n = natural(a);
            let q = quotient(n);
            (q as i64 + under, (n - u64::from(q as u32) * u64::from(d as u32)) as i64)
        });
    } else {
        // Here m has 65 bits. The variable has the lower 64 of them; the highest, times n, is added in steps that do
        // not overflow: (t + n) / 2 is t + (n - t) / 2, rounded alike.
        let m = ((((1u128 << l) - u128::from(d)) << 64) / u128::from(d) + 1) as u64;
        quotients(cells, op, dividends, |a| {
            let n = natural(a);
            let t = ((u128::from(n) * u128::from(m)) >> 64) as u64;
            let q = (t + ((n - t) >> 1)) >> (l - 1);
            (q as i64 + under, (n - q * d) as i64)
        });
    }
}

/// Quotients or remainders, of what gives both.
fn quotients(cells: &mut [i64], op: Binary, dividends: &[i64], f: impl Fn(i64) -> (i64, i64)) {
    match op {
        Binary::Div => map(cells, Column::Each(dividends), Column::Same(0), |a, _| f(a).0),
        _ => map(cells, Column::Each(dividends), Column::Same(0), |a, _| f(a).1),
    }
}
