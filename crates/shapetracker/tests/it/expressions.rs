//! Simplifying random expressions, against their values.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use shapetracker::expr::{Binary, Expr, Graph, Node, Syntax};

use crate::random::{Tape, cases, check};
use crate::values::{Block, Evaluator, python};
use shapetracker_testing::{held, is_entry_held};

/// A number or condition to simplify, or an index and the condition under which it matters.
struct Case {
    graph: Graph,
    roots: Vec<Expr>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for variable in self.graph.variables() {
            writeln!(f, "\n{} in range({}, {})", variable.name, variable.range.start, variable.range.end)?;
        }
        self.roots.iter().try_for_each(|root| writeln!(f, "{}", python(&self.graph, *root)))
    }
}

/// Makes expressions like those that index code contains, and some that it never would.
struct Maker<'t> {
    tape: &'t mut Tape,
    graph: Graph,
    numbers: Vec<Expr>,
    conditions: Vec<Expr>,
    /// The divisors and factors so far: where rules apply, constants have to do with each other.
    constants: Vec<i64>,
}

const MOST_ASSIGNMENTS: i64 = 600;
const MOST_PARTS: usize = 25;

impl Maker<'_> {
    fn new(tape: &mut Tape) -> Maker<'_> {
        let mut graph = Graph::new();
        let mut numbers = Vec::new();
        let mut room = MOST_ASSIGNMENTS;
        for place in 0..tape.within(1, 4) {
            let most = tape.pick(&[4, 6, 9, 16, 40, 600]).min(room);
            let size = tape.within(most.min(2), most);
            let size = if tape.chance(5) { 1 } else { size };
            room /= size;
            let begin = match tape.below(10) {
                0..6 => 0,
                6 => -size + 1,
                7 => tape.signed(9),
                8 => -size / 2,
                _ => tape.signed(200),
            };
            numbers.push(graph.variable(&format!("idx{place}"), begin..begin + size).expect("the range is not empty"));
        }
        Maker { tape, graph, numbers, conditions: Vec::new(), constants: Vec::new() }
    }

    /// A constant that is not zero.
    fn factor(&mut self) -> i64 {
        let tape = &mut *self.tape;
        let value = match tape.below(12) {
            0..3 => tape.pick(&[2, 3, 4, 5, 6, 8]),
            3..5 => tape.pick(&[7, 9, 10, 12, 14, 15, 16, 21, 28, 32, 56, 64]),
            5..10 if !self.constants.is_empty() => {
                let earlier = tape.pick(&self.constants);
                match tape.below(8) {
                    0..3 => earlier,
                    3 | 4 => earlier.saturating_mul(tape.within(2, 4)),
                    5 => earlier / tape.within(2, 4),
                    6 => earlier.saturating_add(tape.pick(&[1, -1])),
                    _ => earlier.saturating_neg(),
                }
            }
            10 => -tape.within(1, 9),
            11 if tape.chance(8) => {
                tape.pick(&[1, -1, i64::MAX, i64::MIN, 1 << 62, 1 << 31, 1 << 40, -(1 << 33), i64::MAX / 3])
            }
            _ => tape.within(1, 12),
        };
        let value = if value == 0 { 1 } else { value };
        self.constants.push(value);
        value
    }

    /// A number so far, more often than not the last one or a variable.
    fn number(&mut self) -> Expr {
        match self.tape.below(6) {
            0..3 => self.numbers[self.numbers.len() - 1],
            3 => {
                let variables = self.graph.variables().len();
                self.numbers[self.tape.below(variables as i64) as usize]
            }
            _ => self.tape.pick(&self.numbers),
        }
    }

    fn variable(&mut self) -> Expr {
        let variables = self.graph.variables().len();
        self.numbers[self.tape.below(variables as i64) as usize]
    }

    fn condition(&mut self) -> Expr {
        if self.conditions.is_empty() || self.tape.chance(40) {
            self.comparison();
        }
        match self.conditions.last() {
            None => self.graph.bool(true),
            Some(_) => self.tape.pick(&self.conditions),
        }
    }

    /// Notes an operation, unless the graph refuses it: a divisor that can be zero, a value past `i64`.
    fn op(&mut self, op: Binary, a: Expr, b: Expr) -> Option<Expr> {
        let expr = self.graph.binary(op, a, b).ok()?;
        let conditions = matches!(
            op,
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne | Binary::And | Binary::Or
        );
        if conditions { &mut self.conditions } else { &mut self.numbers }.push(expr);
        Some(expr)
    }

    fn with_constant(&mut self, op: Binary, a: Expr, b: i64) -> Option<Expr> {
        let b = self.graph.int(b);
        self.op(op, a, b)
    }

    /// A constant in the range of a number or just past it.
    fn near(&mut self, number: Expr) -> i64 {
        let (low, high) = self.graph.range(number);
        let (low, high) = (low.saturating_sub(2), high.saturating_add(2));
        if i128::from(high) - i128::from(low) > 1 << 40 { self.tape.signed(9) } else { self.tape.within(low, high) }
    }

    fn comparison(&mut self) {
        const COMPARISONS: [Binary; 6] = [Binary::Lt, Binary::Ge, Binary::Le, Binary::Gt, Binary::Eq, Binary::Ne];
        let a = self.number();
        match self.tape.below(8) {
            0..4 => {
                let (near, op) = (self.near(a), self.tape.pick(&COMPARISONS));
                self.with_constant(op, a, near);
            }
            4..7 => {
                let (begin, end) = (self.near(a), self.near(a));
                let (begin, end) = if self.tape.chance(95) { (begin.min(end), begin.max(end)) } else { (begin, end) };
                let within = self.graph.within(a, begin, end).expect("a number can be compared");
                self.conditions.push(within);
            }
            _ => {
                let (b, op) = (self.number(), self.tape.pick(&COMPARISONS));
                self.op(op, a, b);
            }
        }
    }

    /// One or a few operations on what there is.
    fn step(&mut self) {
        use Binary::*;
        match self.tape.below(36) {
            0..5 => {
                let (a, b, factor) = (self.number(), self.variable(), self.factor());
                if let Some(term) = self.with_constant(Mul, b, factor) {
                    self.op(Add, a, term);
                }
            }
            5..7 => {
                let (a, b) = (self.number(), self.tape.signed(60));
                self.with_constant(Add, a, b);
            }
            7 => {
                let (a, b) = (self.number(), self.tape.signed(20));
                self.with_constant(Sub, a, b);
            }
            8 | 9 => {
                let (a, b) = (self.number(), self.factor());
                self.with_constant(Mul, a, b);
            }
            10..15 => {
                let (a, b) = (self.number(), self.factor());
                self.with_constant(Div, a, b);
            }
            15..20 => {
                let (a, b) = (self.number(), self.factor());
                self.with_constant(Mod, a, b);
            }
            20 => {
                let (a, b, op) = (self.number(), self.number(), self.tape.pick(&[Add, Sub]));
                self.op(op, a, b);
            }
            21 => {
                let (a, op) = (self.number(), self.tape.pick(&[Min, Max, Xor]));
                let b = self.near(a);
                self.with_constant(op, a, b);
            }
            22 => {
                let (a, b, op) = (self.number(), self.number(), self.tape.pick(&[Min, Max, Xor]));
                self.op(op, a, b);
            }
            23..26 => self.comparison(),
            26 | 27 => {
                let (a, b, op) = (self.condition(), self.condition(), self.tape.pick(&[And, Or]));
                self.op(op, a, b);
            }
            28 => {
                let a = self.condition();
                let not = self.graph.not(a).expect("a condition has an opposite");
                self.conditions.push(not);
            }
            29 => {
                let (condition, a, b) = (self.condition(), self.number(), self.number());
                let select = self.graph.select(condition, a, b).expect("both are numbers");
                self.numbers.push(select);
            }
            30 => {
                let (condition, a, b) = (self.condition(), self.condition(), self.condition());
                let select = self.graph.select(condition, a, b).expect("both are conditions");
                self.conditions.push(select);
            }
            31 => {
                let (a, b, op) = (self.number(), self.number(), self.tape.pick(&[Div, Mod, Mul]));
                self.op(op, a, b);
            }
            32 => {
                let (a, op) = (self.number(), self.tape.pick(&[Sub, Mul, Div, Mod]));
                let constant = self.factor();
                let constant = self.graph.int(constant);
                self.op(op, constant, a);
            }
            33 => {
                // A quotient and a remainder that make up the number again, or nearly so.
                let (a, d) = (self.number(), self.factor());
                let other = if self.tape.chance(70) { d } else { self.factor() };
                let quotient = self.with_constant(Div, a, d);
                let part = quotient.and_then(|quotient| self.with_constant(Mul, quotient, other));
                if self.tape.chance(50) {
                    part.and_then(|part| self.op(Sub, a, part));
                } else if let (Some(rest), Some(part)) = (self.with_constant(Mod, a, other), part) {
                    self.op(Add, part, rest);
                }
            }
            34 => {
                // Division twice, and a digit of it.
                let (a, d, e) = (self.number(), self.factor(), self.factor());
                let first = if self.tape.chance(50) { Div } else { Mod };
                let second = if self.tape.chance(50) { Div } else { Mod };
                let inner = self.with_constant(first, a, d);
                inner.and_then(|inner| self.with_constant(second, inner, e));
            }
            _ => {
                let (a, b) = (self.number(), self.number());
                self.op(Add, a, b);
            }
        }
    }

    fn steps(&mut self) {
        for _ in 0..self.tape.within(1, 18) {
            self.step();
            let roots: Vec<Expr> = self.numbers.last().into_iter().chain(self.conditions.last()).copied().collect();
            if self.graph.parts(&roots).len() >= MOST_PARTS - 4 {
                return;
            }
        }
    }

    /// The digits of an affine number, and what a view makes of them: the address and the valid condition that
    /// compilers start from.
    fn digits(&mut self) -> Option<(Expr, Expr)> {
        let offset = if self.tape.chance(40) { self.tape.signed(40) } else { 0 };
        let mut rest = self.graph.int(offset);
        for place in 0..self.graph.variables().len() {
            let factor = self.factor();
            let term = self.with_constant(Binary::Mul, self.numbers[place], factor)?;
            rest = self.op(Binary::Add, rest, term)?;
        }
        let nested = self.tape.chance(50);
        let (whole, mut product) = (rest, 1i64);
        let offset = self.tape.signed(30);
        let (mut index, mut valid) = (self.graph.int(offset), self.graph.bool(true));
        for _ in 0..self.tape.within(1, 3) {
            let size = self.factor();
            if !nested {
                rest = self.with_constant(Binary::Div, whole, product)?;
            }
            let digit = self.with_constant(Binary::Mod, rest, size)?;
            if nested {
                rest = self.with_constant(Binary::Div, rest, size)?;
            }
            product = product.checked_mul(size)?;
            let stride = self.tape.signed(20);
            let term = self.with_constant(Binary::Mul, digit, stride)?;
            index = self.op(Binary::Add, index, term)?;
            if self.tape.chance(50) {
                let (begin, end) = (self.near(digit), self.near(digit));
                let within = self.graph.within(digit, begin.min(end), begin.max(end)).expect("a digit is a number");
                valid = self.op(Binary::And, valid, within)?;
            }
        }
        Some((index, valid))
    }

    fn one(mut self) -> Case {
        let root = match self.tape.chance(20).then(|| self.digits()).flatten() {
            Some((index, valid)) => {
                if self.tape.chance(80) {
                    index
                } else {
                    valid
                }
            }
            None => {
                self.steps();
                if self.tape.chance(50) {
                    let (a, b) = (self.number(), self.number());
                    self.op(Binary::Add, a, b);
                }
                if self.tape.chance(20) {
                    let (a, b, op) = (self.condition(), self.condition(), self.tape.pick(&[Binary::And, Binary::Or]));
                    self.op(op, a, b);
                }
                let number = self.numbers[self.numbers.len() - 1];
                self.conditions.last().copied().filter(|_| self.tape.chance(30)).unwrap_or(number)
            }
        };
        Case { graph: self.graph, roots: vec![root] }
    }

    fn two(mut self) -> Case {
        let (index, mut valid) = match self.tape.chance(40).then(|| self.digits()).flatten() {
            Some(pair) => pair,
            None => {
                self.steps();
                (self.numbers[self.numbers.len() - 1], self.graph.bool(true))
            }
        };
        for _ in 0..self.tape.within(0, 2) {
            let condition = self.condition();
            valid = self.graph.binary(Binary::And, valid, condition).expect("both are conditions");
        }
        Case { graph: self.graph, roots: vec![index, valid] }
    }
}

/// Where two expressions differ, among the assignments at which a condition holds.
fn same_values(graph: &Graph, before: Expr, after: Expr, under: Option<Expr>) -> Result<(), String> {
    let roots: Vec<Expr> = [before, after].into_iter().chain(under).collect();
    let mut evaluator = Evaluator::new(graph, &roots);
    for block in Block::of(graph) {
        evaluator.run(&block)?;
        let holds = under.map(|under| evaluator.column(under));
        let pairs = evaluator.column(before).iter().zip(evaluator.column(after));
        for (at, (before_value, after_value)) in pairs.enumerate() {
            if before_value != after_value && holds.is_none_or(|holds| holds[at] == 1) {
                return Err(format!(
                    "{}\nbecomes\n{}\nwhich at {:?} is {after_value}, and should be {before_value}",
                    python(graph, before),
                    python(graph, after),
                    block.assignment(at),
                ));
            }
        }
    }
    Ok(())
}

fn no_dearer(graph: &Graph, before: &[Expr], after: &[Expr]) -> Result<(), String> {
    let (old, new) = (graph.cost(before), graph.cost(after));
    if new.weight <= old.weight && new.divmods <= old.divmods {
        return Ok(());
    }
    let texts = after.iter().map(|expr| python(graph, *expr)).collect::<Vec<_>>().join("\n");
    Err(format!("{old:?} becomes {new:?}:\n{texts}"))
}

/// Sums over all cases, to see what simplifying is good for.
#[derive(Default)]
struct Totals {
    before: Cell<usize>,
    after: Cell<usize>,
    divmods_before: Cell<usize>,
    divmods_after: Cell<usize>,
    unchanged: Cell<usize>,
    cases: Cell<usize>,
}

impl Totals {
    fn note(&self, graph: &Graph, before: &[Expr], after: &[Expr]) {
        let add = |cell: &Cell<usize>, more: usize| cell.set(cell.get() + more);
        let (old, new) = (graph.cost(before), graph.cost(after));
        add(&self.before, old.weight);
        add(&self.after, new.weight);
        add(&self.divmods_before, old.divmods);
        add(&self.divmods_after, new.divmods);
        add(&self.unchanged, usize::from(before == after));
        add(&self.cases, 1);
    }

    fn print(&self, what: &str) {
        let Totals { before, after, divmods_before, divmods_after, unchanged, cases } = self;
        let share = after.get() as f64 / before.get().max(1) as f64;
        eprintln!(
            "{} {what}: weight {} -> {} ({share:.3}), divmods {} -> {}; {} unchanged",
            cases.get(),
            before.get(),
            after.get(),
            divmods_before.get(),
            divmods_after.get(),
            unchanged.get(),
        );
    }
}

#[test]
pub(crate) fn simplified_expressions_keep_their_values_at_no_more_cost() {
    let totals = Totals::default();
    check(
        cases::EXPRESSIONS,
        |tape| Maker::new(tape).one(),
        |case| {
            let (mut graph, root) = (case.graph.clone(), case.roots[0]);
            let simple = graph.simplify(root);
            same_values(&graph, root, simple, None)?;
            no_dearer(&graph, &[root], &[simple])?;
            let again = graph.simplify(simple);
            if again != simple {
                let (once, twice) = (python(&graph, simple), python(&graph, again));
                return Err(format!("simplified once it is\n{once}\nand twice\n{twice}"));
            }
            totals.note(&graph, &[root], &[simple]);
            Ok(())
        },
    );
    totals.print("expressions");
}

#[test]
pub(crate) fn an_index_simplified_under_its_condition_keeps_what_matters_at_no_more_cost() {
    let totals = Totals::default();
    check(
        cases::INDEX_PAIRS,
        |tape| Maker::new(tape).two(),
        |case| {
            let (mut graph, index, valid) = (case.graph.clone(), case.roots[0], case.roots[1]);
            let (simple_index, simple_valid) = graph.simplify_pair(index, valid);
            same_values(&graph, valid, simple_valid, None)?;
            same_values(&graph, index, simple_index, Some(valid))?;
            no_dearer(&graph, &[index, valid], &[simple_index, simple_valid])?;
            let again = graph.simplify_pair(simple_index, simple_valid);
            if again != (simple_index, simple_valid) {
                let texts = [simple_index, simple_valid, again.0, again.1].map(|expr| python(&graph, expr));
                return Err(format!(
                    "simplified once they are\n{}\n{}\nand twice\n{}\n{}",
                    texts[0], texts[1], texts[2], texts[3]
                ));
            }
            totals.note(&graph, &[index, valid], &[simple_index, simple_valid]);
            Ok(())
        },
    );
    totals.print("pairs of index and condition");
}

#[test]
fn expressions_are_evaluated_printed_and_read_with_their_values() {
    check(
        cases::PRINTED,
        |tape| Maker::new(tape).one(),
        |case| {
            let (mut graph, root) = (case.graph.clone(), case.roots[0]);
            let mut values = Vec::new();
            let mut evaluator = Evaluator::new(&case.graph, &[root]);
            for block in Block::of(&case.graph) {
                evaluator.run(&block)?;
                values.extend_from_slice(evaluator.column(root));
            }
            let found = graph.values(root).map_err(|error| error.to_string())?;
            if found != values {
                return Err(format!("the library's values are {found:?}, and should be {values:?}"));
            }
            let text = graph.text(root, Syntax::Python).map_err(|error| error.to_string())?;
            let read = graph.parse(&text, Syntax::Python).map_err(|error| format!("{text}: {error}"))?;
            same_values(&graph, root, read, None).map_err(|why| format!("{text}: {why}"))
        },
    );
}

/// Expressions of another graph, made anew in this one with the operands of its commutative operations exchanged where
/// the bits of a number say so.
fn exchanged(from: &Graph, roots: &[Expr], bits: u64) -> (Graph, Vec<Expr>) {
    let mut graph = Graph::new();
    let mut made: BTreeMap<Expr, Expr> = BTreeMap::new();
    // In another order too: what is made first must not matter.
    for variable in from.variables() {
        graph.variable(&variable.name, variable.range.clone()).expect("the range is not empty");
    }
    for (at, expr) in from.parts(roots).into_iter().enumerate() {
        let new = match from.node(expr) {
            Node::Int(value) => graph.int(value),
            Node::Bool(value) => graph.bool(value),
            Node::Variable(place) => {
                let variable = &from.variables()[place];
                graph.variable(&variable.name, variable.range.clone()).expect("it is the same")
            }
            Node::Within(a, begin, end) => graph.within(made[&a], begin, end).expect("a number"),
            Node::Not(a) => graph.not(made[&a]).expect("a condition"),
            Node::Select(condition, a, b) => graph.select(made[&condition], made[&a], made[&b]).expect("one sort"),
            Node::Binary(op, a, b) => {
                use Binary::*;
                let commutes = matches!(op, Add | Mul | Min | Max | Xor | And | Or | Eq | Ne);
                let (a, b) = if commutes && bits >> (at % 64) & 1 == 1 { (b, a) } else { (a, b) };
                graph.binary(op, made[&a], made[&b]).expect("the range does not depend on the order")
            }
            node => panic!("{node:?} is not known here"),
        };
        made.insert(expr, new);
    }
    let roots = roots.iter().map(|root| made[root]).collect();
    (graph, roots)
}

/// Simplifies one expression, or two as a pair, and gives them as text.
fn simplified(graph: &mut Graph, roots: &[Expr]) -> Vec<String> {
    let simple = match *roots {
        [root] => vec![graph.simplify(root)],
        [index, valid] => {
            let (index, valid) = graph.simplify_pair(index, valid);
            vec![index, valid]
        }
        _ => panic!("one or two"),
    };
    simple.into_iter().map(|root| graph.text(root, Syntax::Python).expect("it is short")).collect()
}

/// A million cases take some minutes: `SHAPETRACKER_CASES=50`.
#[test]
pub(crate) fn simplified_expressions_stay_and_do_not_depend_on_the_order_of_operands() {
    check(
        cases::REORDERED,
        |tape| {
            let bits = (0..4).fold(0, |bits, _| bits << 16 | tape.below(1 << 16) as u64);
            (bits, if tape.chance(70) { Maker::new(tape).one() } else { Maker::new(tape).two() })
        },
        |(bits, case)| {
            let simple = simplified(&mut case.graph.clone(), &case.roots);
            let (mut graph, roots) = exchanged(&case.graph, &case.roots, *bits);
            let other = simplified(&mut graph, &roots);
            if other != simple {
                return Err(format!("simplified it is\n{simple:?}\nand with operands exchanged\n{other:?}"));
            }
            // Read again from text, and in a graph that knows nothing else.
            let (mut graph, _) = exchanged(&case.graph, &[], 0);
            let read: Vec<Expr> =
                simple.iter().map(|text| graph.parse(text, Syntax::Python).expect("it was written so")).collect();
            let again = simplified(&mut graph, &read);
            if again != simple {
                return Err(format!("simplified once it is\n{simple:?}\nand twice\n{again:?}"));
            }
            Ok(())
        },
    );
}

#[test]
fn found_by_an_audit_a_minimum_whose_operands_decided_in_which_order_it_is_reduced() {
    let minimum = [
        "min(x//3, (x >> 1) + ((10 - x) * 1)) - x",
        "min((x >> 1) + ((10 - x) * 1), x//3) - x",
        "min(x // 2 - x + 10, x // 3) - x",
        "min(10 - x + x // 2, x // 3) - x",
        "x // 3 - x",
    ];
    let maximum = ["-max(0 - x // 3, x - x // 2 - 10)", "-max(x - x // 2 - 10, -(x // 3))"];
    for (texts, simple) in [(&minimum[..], "x // 3 - x"), (&maximum, "x // 3")] {
        for text in texts {
            let mut graph = Graph::new();
            graph.variable("x", 0..10).unwrap();
            let expr = graph.parse(text, Syntax::Python).unwrap();
            assert_eq!(simplified(&mut graph, &[expr]), [simple], "{text}");
        }
    }
}

/// Quotients of one number that are nested in different ways could each be computed from another one, in a circle.
#[test]
fn found_by_maps_quotients_are_not_computed_from_each_other() {
    for text in [
        "y % 2048 % 256 % 32 // 4 * 100 + y % 2048 // 256 * 7 + y % 2048 % 256 // 32",
        "y % 2048 // 256 * 7 + y % 2048 % 256 // 32 + y // 256 * 3 + y // 2048",
        "y % 2048000000 % 256000000 % 2560000 % 2500 // 500 * 80000 + y % 2048000000 % 256000000 // 2560000 * 8 \
         + y % 2048000000 // 256000000",
    ] {
        let mut graph = Graph::new();
        graph.variable("y", 0..204_800_000_000).unwrap();
        let expr = graph.parse(text, Syntax::Python).unwrap();
        let simple = graph.simplify(expr);
        for y in (0..204_800_000_000_i64).step_by(1_234_567_891).chain(0..5000) {
            let [value, new] = [expr, simple].map(|expr| graph.evaluate(expr, &[y]).unwrap());
            assert_eq!(value, new, "{text} at {y}");
        }
    }
}

/// The generator makes what index code contains, and every operation.
#[test]
fn random_expressions_are_of_all_sorts() {
    let parts = Cell::new(0);
    let counts: [Cell<usize>; 24] = Default::default();
    let add = |place: usize| counts[place].set(counts[place].get() + 1);
    const CASES: u32 = 2_000;
    check(
        CASES,
        |tape| Maker::new(tape).one(),
        |case| {
            let nodes = case.graph.parts(&case.roots);
            parts.set(parts.get() + nodes.len());
            for expr in nodes {
                match case.graph.node(expr) {
                    Node::Binary(op, ..) => add(op as usize),
                    Node::Within(..) => add(20),
                    Node::Not(_) => add(21),
                    Node::Select(..) => add(22),
                    _ => add(23),
                }
            }
            Ok(())
        },
    );
    let counts = counts.map(Cell::into_inner);
    eprintln!("{:.1} parts in the mean; by operation: {counts:?}", parts.get() as f64 / f64::from(CASES));
    assert!([Binary::Div, Binary::Mod].iter().all(|op| counts[*op as usize] > held(CASES) as usize / 2));
    // Of a few cases some of the twenty may be in none.
    let rare = |&place: &usize| counts[place] <= held(CASES) as usize / 50;
    assert!(held(CASES) < CASES / 2 || !(0..16).chain(20..23).any(|place| rare(&place)), "no operation is rare");
}

/// Simplifies one expression, checks it at some assignments, and says how long it took.
fn simplify_deep(what: &str, mut graph: Graph, root: Expr) {
    let start = Instant::now();
    let simple = graph.simplify(root);
    let took = start.elapsed();
    let count = graph.variables().len();
    let starts: Vec<i64> = graph.variables().iter().map(|variable| variable.range.start).collect();
    let sizes: Vec<i64> = graph.variables().iter().map(|variable| variable.range.end - variable.range.start).collect();
    let assignments: Vec<Vec<i64>> =
        (0..40).map(|k| (0..count).map(|v| starts[v] + (k * (7 * v as i64 + 1)) % sizes[v]).collect()).collect();
    let mut evaluator = Evaluator::new(&graph, &[root, simple]);
    // A few at a time: every value of every part is kept.
    for few in assignments.chunks(8) {
        evaluator.run(&Block::some(few)).unwrap_or_else(|why| panic!("{what}: {why}"));
        assert_eq!(evaluator.column(root), evaluator.column(simple), "{what}");
    }
    let (old, new) = (graph.cost(&[root]), graph.cost(&[simple]));
    assert!(new.weight <= old.weight, "{what}: {old:?} becomes {new:?}");
    eprintln!(
        "{what}: {} parts of weight {} simplified to weight {} in {took:.2?}",
        graph.parts(&[root]).len(),
        old.weight,
        new.weight
    );
}

const DEEP: i64 = 100_000;

#[test]
fn expressions_of_any_depth_are_simplified_without_exhausting_the_stack() {
    use Binary::*;
    type Grow = fn(&mut Graph, Expr, Expr, i64) -> Option<Expr>;
    // Each takes the expression so far, a variable and a running number.
    let grow: [(&str, Grow); 14] = [
        ("x ^ (v + k)", |g, x, v, k| {
            let k = g.int(k % 1009);
            let sum = g.binary(Add, v, k).ok()?;
            g.binary(Xor, x, sum).ok()
        }),
        ("(x + 1) // 2", |g, x, _, _| {
            let (one, two) = (g.int(1), g.int(2));
            let sum = g.binary(Add, x, one).ok()?;
            g.binary(Div, sum, two).ok()
        }),
        ("(x * 3 + v) % 1009", |g, x, v, _| {
            let (three, modulus) = (g.int(3), g.int(1009));
            let product = g.binary(Mul, x, three).ok()?;
            let sum = g.binary(Add, product, v).ok()?;
            g.binary(Mod, sum, modulus).ok()
        }),
        ("(x + v + k) % 97", |g, x, v, k| {
            let (k, modulus) = (g.int(k), g.int(97));
            let sum = g.binary(Add, x, v).ok()?;
            let sum = g.binary(Add, sum, k).ok()?;
            g.binary(Mod, sum, modulus).ok()
        }),
        ("x + (v + k) // 5", |g, x, v, k| {
            let (k, five) = (g.int(k), g.int(5));
            let sum = g.binary(Add, v, k).ok()?;
            let part = g.binary(Div, sum, five).ok()?;
            g.binary(Add, x, part).ok()
        }),
        ("x + v * k", |g, x, v, k| {
            let k = g.int(k % 17);
            let part = g.binary(Mul, v, k).ok()?;
            g.binary(Add, x, part).ok()
        }),
        ("min(max(x, v + k), v * 2 - k)", |g, x, v, k| {
            let (k, two) = (g.int(k % 13), g.int(2));
            let (low, high) = (g.binary(Add, v, k).ok()?, g.binary(Mul, v, two).ok()?);
            let high = g.binary(Sub, high, k).ok()?;
            let raised = g.binary(Max, x, low).ok()?;
            g.binary(Min, raised, high).ok()
        }),
        // None of these operands goes, and each has a quotient of its own: a fifth of the depth has as many parts.
        ("max(min(x, (v * a + k) // b * v), v // c * 9 - k)", |g, x, v, k| {
            if k > DEEP / 5 {
                return Some(x);
            }
            let [a, b, c] = [k % 13 + 2, 7 + k % 5, 5 + k % 3].map(|number| g.int(number));
            let (k, nine) = (g.int(k), g.int(9));
            let sum = g.binary(Mul, v, a).and_then(|product| g.binary(Add, product, k)).ok()?;
            let upper = g.binary(Div, sum, b).and_then(|quotient| g.binary(Mul, quotient, v)).ok()?;
            let lower = g.binary(Div, v, c).and_then(|quotient| g.binary(Mul, quotient, nine)).ok()?;
            let lower = g.binary(Sub, lower, k).ok()?;
            let least = g.binary(Min, x, upper).ok()?;
            g.binary(Max, least, lower).ok()
        }),
        ("x if v < k else v", |g, x, v, k| {
            let k = g.int(k % 101);
            let condition = g.binary(Lt, v, k).ok()?;
            g.select(condition, x, v).ok()
        }),
        ("v if v < k else x", |g, x, v, k| {
            let k = g.int(k % 101);
            let condition = g.binary(Lt, v, k).ok()?;
            g.select(condition, v, x).ok()
        }),
        ("(x + 1) if v % 7 == k else x - 1", |g, x, v, k| {
            let (k, one, seven) = (g.int(k % 7), g.int(1), g.int(7));
            let rest = g.binary(Mod, v, seven).ok()?;
            let condition = g.binary(Eq, rest, k).ok()?;
            let (more, less) = (g.binary(Add, x, one).ok()?, g.binary(Sub, x, one).ok()?);
            g.select(condition, more, less).ok()
        }),
        ("not x", |g, x, _, _| g.not(x).ok()),
        ("x and v + k < 90, or v < k", |g, x, v, k| {
            let (shift, end) = (g.int(k % 89), g.int(90));
            let sum = g.binary(Add, v, shift).ok()?;
            let less = g.binary(Lt, sum, end).ok()?;
            let both = g.binary(And, x, less).ok()?;
            let other = g.binary(Lt, v, shift).ok()?;
            g.binary(Or, both, other).ok()
        }),
        ("x and (v // k) % 3 != 1", |g, x, v, k| {
            let (k, three, one) = (g.int(k % 50 + 1), g.int(3), g.int(1));
            let part = g.binary(Div, v, k).ok()?;
            let digit = g.binary(Mod, part, three).ok()?;
            let differs = g.binary(Ne, digit, one).ok()?;
            g.binary(And, x, differs).ok()
        }),
    ];
    for (number, (what, grow)) in grow.into_iter().enumerate() {
        if !is_entry_held(number) {
            continue;
        }
        let mut graph = Graph::new();
        let (v, w) = (graph.variable("v", 0..101).unwrap(), graph.variable("w", -50..60).unwrap());
        let start = if what.starts_with("not") || what.contains("and") {
            let end = graph.int(20);
            graph.binary(Lt, w, end).unwrap()
        } else {
            w
        };
        let clock = Instant::now();
        let root = (0..DEEP).try_fold(start, |x, k| grow(&mut graph, x, v, k)).expect("every value fits i64");
        let built = clock.elapsed();
        if built.as_millis() > 500 {
            eprintln!("{what}: building it took {built:.2?}");
        }
        simplify_deep(what, graph, root);
    }
}
