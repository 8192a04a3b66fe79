//! Lowers expressions to the operations that a language has.
//!
//! The work is in the divisions. Index expressions round down; C and its relatives round towards zero. What is written
//! is chosen by what is known of the operands ([`Program::division`]). The width of the numbers is chosen here, too: 32
//! bits if every intermediate value fits, 64 otherwise; and which of them are natural numbers, for whose divisions and
//! comparisons unsigned types are cheaper ([`Program::is_natural`]).

use shapetracker_base::int::bits;

use super::language::{Language, Reason};
use super::order::order;
use crate::constants::{literal, parts};
use crate::graph::{Binary, Expr, Graph, Map, Node};
use crate::rounding::{Rounding, divides, reciprocal};

/// A language whose expressions look like those of C, more or less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Python,
    /// Python over arrays, where conditions are joined by `&` and `|`.
    NumPy,
    C,
    Cuda,
    OpenCl,
    Metal,
    Wgsl,
    Rust,
    Latex,
}

impl Language {
    /// The dialect in which expressions are written, for a language whose expressions look like those of C.
    pub(super) fn dialect(self) -> Option<Dialect> {
        match self {
            Language::Python => Some(Dialect::Python),
            Language::C => Some(Dialect::C),
            Language::Cuda => Some(Dialect::Cuda),
            Language::OpenCl => Some(Dialect::OpenCl),
            Language::Metal => Some(Dialect::Metal),
            Language::Wgsl => Some(Dialect::Wgsl),
            Language::Rust => Some(Dialect::Rust),
            Language::Latex => Some(Dialect::Latex),
            Language::Mlir => None,
        }
    }
}

impl Dialect {
    /// Whether division rounds down and integers are unbounded, so that nothing has to be lowered. (NumPy's integers
    /// have 64 bits, which every value of a graph fits into.)
    pub(super) fn is_exact(self) -> bool {
        matches!(self, Dialect::Python | Dialect::NumPy | Dialect::Latex)
    }

    /// Whether a right shift of a negative number is specified to round down. In C it is implementation-defined.
    fn shifts(self) -> bool {
        !self.is_exact() && self != Dialect::C
    }

    /// Whether signed and unsigned numbers may be mixed without casts: C and its relatives convert to unsigned.
    pub(super) fn is_c(self) -> bool {
        matches!(self, Dialect::C | Dialect::Cuda | Dialect::OpenCl | Dialect::Metal)
    }

    /// Whether there is one expression for `begin <= x < end` that names x once.
    fn has_ranges(self) -> bool {
        matches!(self, Dialect::Python | Dialect::Rust | Dialect::Latex)
    }

    /// Whether `min` and `max` exist for integers without a header or a choice of overload.
    fn has_min(self) -> bool {
        self.is_exact() || matches!(self, Dialect::Wgsl | Dialect::Rust)
    }
}

/// An operation of a program, by its place. Operands come before what uses them.
pub(super) type Place = usize;

/// What a language can compute in one expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    Int(i64),
    Bool(bool),
    Variable(usize),
    Negative(Place),
    Not(Place),
    Infix(Infix, Place, Place),
    Call(Call, Place, Place),
    Within(Place, i64, i64),
    Select(Place, Place, Place),
}

/// What is written between two operands. `Div` and `Mod` round as the language does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Infix {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Shift,
    Mask,
    Xor,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

/// What is written as a function of two operands. `Div` and `Mod` are Euclid's, which Rust has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Call {
    Min,
    Max,
    Div,
    Mod,
}

impl Op {
    /// The operations whose values it needs.
    pub(super) fn operands(self) -> impl Iterator<Item = Place> {
        let operands = match self {
            Op::Int(_) | Op::Bool(_) | Op::Variable(_) => [None; 3],
            Op::Negative(a) | Op::Not(a) | Op::Within(a, ..) => [Some(a), None, None],
            Op::Infix(_, a, b) | Op::Call(_, a, b) => [Some(a), Some(b), None],
            Op::Select(c, a, b) => [Some(c), Some(a), Some(b)],
        };
        operands.into_iter().flatten()
    }

    /// Whether it has no operands: a literal or a variable.
    pub(super) fn is_leaf(self) -> bool {
        self.operands().next().is_none()
    }
}

/// The operations of one language, hash-consed: equal ones are one, also where lowering made them.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) dialect: Dialect,
    /// Whether the numbers are 64 bits wide.
    pub(super) wide: bool,
    /// Whether natural numbers are of unsigned types. (Not in loop nests: there compilers know the range of each
    /// variable, and addresses that cannot wrap around are what they vectorize.)
    pub(super) unsigned: bool,
    ops: Vec<Entry>,
    known: Map<Op, Place>,
}

/// What is known of the value of an operation.
#[derive(Clone, Copy, Debug)]
struct Entry {
    op: Op,
    is_condition: bool,
    /// Whether it is a number that is known never to be negative.
    is_natural: bool,
}

/// The smallest and the largest value.
type Interval = (i64, i64);

impl Program {
    /// A program that computes some expressions, and the places of their values.
    pub(super) fn new(graph: &Graph, of: &[Expr], dialect: Dialect) -> Result<(Program, Vec<Place>), Reason> {
        Program::with_elements(graph, of, dialect, 0, false)
    }

    /// The same, with numbers wide enough to count so many elements, too, and for a nest of loops or not.
    pub(super) fn with_elements(
        graph: &Graph,
        of: &[Expr],
        dialect: Dialect,
        elements: i64,
        in_loops: bool,
    ) -> Result<(Program, Vec<Place>), Reason> {
        let parts = parts(graph, of);
        let ranges = parts.iter().map(|part| graph.range(*part)).chain([(0, elements)]);
        let past = ranges
            .filter(|range| bits(*range) > 32)
            .max_by_key(|(low, high)| low.unsigned_abs().max(high.unsigned_abs()));
        if let (Some((low, high)), Dialect::Wgsl) = (past, dialect) {
            return Err(Reason::Narrow { low, high });
        }
        let (wide, unsigned) = (past.is_some(), dialect.is_c() && !in_loops);
        let mut program = Program { dialect, wide, unsigned, ops: Vec::new(), known: Map::default() };
        let mut places = Map::default();
        let parts = match unsigned {
            true => order(graph, of, &parts, program.most()),
            false => parts.into_iter().map(|part| (part, Vec::new())).collect(),
        };
        for (part, terms) in parts {
            let place = match terms.is_empty() {
                false => program.terms(terms.iter().map(|(term, negative)| (places[term], *negative))),
                true => program.lower(graph, part, |operand| places[&operand]),
            };
            program.ops[place].is_natural |= !graph.is_condition(part) && graph.range(part).0 >= 0;
            places.insert(part, place);
        }
        Ok((program, of.iter().map(|expr| places[expr]).collect()))
    }

    pub(super) fn op(&self, place: Place) -> Op {
        self.ops[place].op
    }

    pub(super) fn is_condition(&self, place: Place) -> bool {
        self.ops[place].is_condition
    }

    /// Whether an operation gives a number that is known never to be negative. Signed and unsigned types agree on it
    /// then: that it is one number in both is what divisions, shifts to the right and comparisons need.
    pub(super) fn is_natural(&self, place: Place) -> bool {
        self.ops[place].is_natural
    }

    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    /// Adds the operations of one expression, whose operands have the places that `place` gives.
    fn lower(&mut self, graph: &Graph, expr: Expr, place: impl Fn(Expr) -> Place) -> Place {
        match literal(graph, expr).unwrap_or_else(|| graph.node(expr)) {
            Node::Int(value) => self.int(value),
            Node::Bool(value) => self.push(Op::Bool(value)),
            Node::Variable(variable) => self.push(Op::Variable(variable)),
            Node::Not(a) => self.not(place(a)),
            Node::Within(a, begin, end) => self.within(place(a), graph.range(a), begin, end),
            Node::Select(condition, a, b) => self.select(place(condition), place(a), place(b)),
            Node::Binary(op, a, b) => {
                let operands = [(place(a), graph.range(a)), (place(b), graph.range(b))];
                let infix = match op {
                    Binary::Div | Binary::Mod => return self.division(op, operands, divides(graph, a, b)),
                    Binary::Min => return self.extreme(Call::Min, operands),
                    Binary::Max => return self.extreme(Call::Max, operands),
                    Binary::Add => Infix::Add,
                    Binary::Sub => Infix::Sub,
                    Binary::Mul => Infix::Mul,
                    Binary::Xor => Infix::Xor,
                    Binary::Lt => Infix::Lt,
                    Binary::Le => Infix::Le,
                    Binary::Gt => Infix::Gt,
                    Binary::Ge => Infix::Ge,
                    Binary::Eq => Infix::Eq,
                    Binary::Ne => Infix::Ne,
                    Binary::And => Infix::And,
                    Binary::Or => Infix::Or,
                };
                self.infix(infix, place(a), place(b))
            }
        }
    }

    /// A sum of terms, each of which is added or subtracted.
    fn terms(&mut self, terms: impl Iterator<Item = (Place, bool)>) -> Place {
        let zero = self.int(0);
        terms.fold(zero, |sum, (term, negative)| self.infix(if negative { Infix::Sub } else { Infix::Add }, sum, term))
    }

    /// A minimum or maximum: a call, or a comparison and a choice; nothing of it where the ranges tell which it is, of
    /// which a compiler would say that the comparison is always true.
    fn extreme(&mut self, call: Call, [(a, of_a), (b, of_b)]: [(Place, Interval); 2]) -> Place {
        let (smaller, larger) = if call == Call::Min { (a, b) } else { (b, a) };
        if of_a.1 <= of_b.0 {
            return smaller;
        }
        if of_b.1 <= of_a.0 {
            return larger;
        }
        if self.dialect.has_min() {
            return self.push(Op::Call(call, a, b));
        }
        let first = self.infix(if call == Call::Min { Infix::Lt } else { Infix::Gt }, a, b);
        self.select(first, a, b)
    }

    /// A floor division or modulo; `exact` says that the remainder is always 0. The first of these that applies is
    /// written:
    ///
    /// - The language's own operator, where it rounds down.
    /// - A shift or a mask for a power of two, where a right shift rounds down (strength reduction): of natural numbers
    ///   everywhere, of others not in C.
    /// - For a constant positive divisor of a natural number, what [`Program::natural`] says.
    /// - For a constant positive divisor, the dividend raised by the least multiple `t * d` that leaves it never
    ///   negative: `floor(a / d)` is `(a + t * d) / d - t`, and the remainder needs no correction. Rounding towards
    ///   zero and rounding down agree on natural numbers, and an addition is cheaper than a branch. Not if the raised
    ///   dividend could leave its type. It is divided as natural numbers are.
    /// - The language's own operator, where the quotient is never negative, or exact: rounding makes no difference.
    /// - Euclid's division in Rust, which rounds down for a positive divisor.
    /// - The quotient towards zero, less one where the sign of the remainder says that it was rounded up.
    // Proved: `rounds_alike`, `raised`, `corrected`, `euclid_rounds_down` in `proofs/Rounding.v`.
    fn division(
        &mut self,
        op: Binary,
        [(a, (low, high)), (b, (least, most))]: [(Place, Interval); 2],
        exact: bool,
    ) -> Place {
        let quotient = op == Binary::Div;
        let (div, modulo) = (Infix::Div, Infix::Mod);
        if self.dialect.is_exact() || self.op(b) == Op::Int(1) {
            return self.infix(if quotient { div } else { modulo }, a, b);
        }
        let power = least == most && least > 0 && least & (least - 1) == 0;
        if power && (low >= 0 || self.dialect.shifts()) {
            return self.bits(quotient, a, least);
        }
        let rounding = Rounding::of((low, high), (least, most), exact, self.most());
        if let Rounding::Raised { times, shift } = rounding
            && least > 0
            && self.dialect != Dialect::Rust
        {
            let high = high + shift;
            let (shift, times) = (self.int(shift), self.int(times));
            let a = self.sum(a, shift);
            self.ops[a].is_natural = true;
            let result = match power {
                true => self.bits(quotient, a, least),
                false => self.natural(quotient, (a, high), (b, least)),
            };
            self.ops[result].is_natural = true;
            return if quotient { self.infix(Infix::Sub, result, times) } else { result };
        }
        if low >= 0 && least == most && least > 0 {
            return self.natural(quotient, (a, high), (b, least));
        }
        let positive = Rounding::of((low, high), (least, most), false, self.most()) == Rounding::AsIs;
        if quotient && rounding == Rounding::AsIs {
            return self.infix(div, a, b);
        }
        if self.dialect == Dialect::Rust && least > 0 && !positive {
            return self.push(Op::Call(if quotient { Call::Div } else { Call::Mod }, a, b));
        }
        let rest = self.remainder((a, low), (b, most));
        if positive {
            return rest;
        }
        let zero = self.int(0);
        let wrong = self.infix(if least > 0 { Infix::Lt } else { Infix::Gt }, rest, zero);
        if quotient {
            let result = self.infix(div, a, b);
            let one = self.int(1);
            let change = self.select(wrong, one, zero);
            self.infix(Infix::Sub, result, change)
        } else {
            let corrected = self.infix(Infix::Add, rest, b);
            self.select(wrong, corrected, rest)
        }
    }

    /// The quotient or the remainder of a natural number that is at most `high` by a constant: of a product and a shift
    /// where the range allows, which compilers cannot know, and else by the language's own operator.
    // Proved: `remainder_is_difference` in `proofs/Simplify.v`.
    fn natural(&mut self, quotient: bool, (a, high): (Place, i64), (b, divisor): (Place, i64)) -> Place {
        let Some((factor, shift)) = reciprocal(high, divisor, self.most()) else {
            return self.infix(if quotient { Infix::Div } else { Infix::Mod }, a, b);
        };
        let (factor, shift) = (self.int(factor), self.int(shift));
        let product = self.infix(Infix::Mul, a, factor);
        let whole = self.infix(Infix::Shift, product, shift);
        for place in [product, whole] {
            self.ops[place].is_natural = true;
        }
        if quotient {
            return whole;
        }
        let multiple = self.infix(Infix::Mul, whole, b);
        self.infix(Infix::Sub, a, multiple)
    }

    /// The quotient or the remainder of a division by a power of two, rounded down, by the bits of the dividend.
    // Proved: `shift_and_mask` in `proofs/Rounding.v`.
    fn bits(&mut self, quotient: bool, a: Place, power: i64) -> Place {
        let operand = self.int(if quotient { power.trailing_zeros().into() } else { power - 1 });
        self.infix(if quotient { Infix::Shift } else { Infix::Mask }, a, operand)
    }

    /// The remainder of a division that rounds towards zero.
    // Proved: `remainder_by_one` in `proofs/Rounding.v`.
    fn remainder(&mut self, (a, low): (Place, i64), (b, most): (Place, i64)) -> Place {
        if low != -self.most() - 1 || most != -1 {
            return self.infix(Infix::Mod, a, b);
        }
        // The smallest number divided by -1 is past the type. The remainder is 0, but in C it is undefined, and x86
        // traps. By 1 it is 0 as well.
        let (minus_one, one) = (self.int(-1), self.int(1));
        let trap = self.infix(Infix::Eq, b, minus_one);
        let safe = self.select(trap, one, b);
        self.infix(Infix::Mod, a, safe)
    }

    /// The sum of an operation and a constant; a constant that the operation adds already is merged with it, so that
    /// raising a dividend is often free.
    fn sum(&mut self, a: Place, constant: Place) -> Place {
        let (Op::Infix(op, x, b), Op::Int(more)) = (self.op(a), self.op(constant)) else {
            return self.infix(Infix::Add, a, constant);
        };
        let both = match (op, self.op(b)) {
            (Infix::Add, Op::Int(known)) => known.checked_add(more),
            (Infix::Sub, Op::Int(known)) => more.checked_sub(known),
            _ => None,
        };
        match both.filter(|both| both.unsigned_abs() <= self.most().unsigned_abs()) {
            Some(both) => {
                let both = self.int(both);
                self.infix(Infix::Add, x, both)
            }
            None => self.infix(Infix::Add, a, constant),
        }
    }

    fn within(&mut self, a: Place, (low, high): Interval, begin: i64, end: i64) -> Place {
        // A bound is tested only if the range of the value does not imply it.
        let (cuts_low, cuts_high) = (begin > low, end <= high);
        if cuts_low && cuts_high && self.dialect.has_ranges() {
            return self.push(Op::Within(a, begin, end));
        }
        let (begin, end) = (self.int(begin), self.int(end));
        match (cuts_low, cuts_high) {
            (true, true) => {
                let (first, second) = (self.infix(Infix::Le, begin, a), self.infix(Infix::Lt, a, end));
                self.infix(Infix::And, first, second)
            }
            (true, false) => self.infix(Infix::Ge, a, begin),
            _ => self.infix(Infix::Lt, a, end),
        }
    }

    fn not(&mut self, a: Place) -> Place {
        match self.op(a) {
            Op::Not(a) => a,
            Op::Infix(Infix::Lt, x, y) => self.infix(Infix::Ge, x, y),
            Op::Infix(Infix::Le, x, y) => self.infix(Infix::Gt, x, y),
            Op::Infix(Infix::Gt, x, y) => self.infix(Infix::Le, x, y),
            Op::Infix(Infix::Ge, x, y) => self.infix(Infix::Lt, x, y),
            Op::Infix(Infix::Eq, x, y) => self.infix(Infix::Ne, x, y),
            Op::Infix(Infix::Ne, x, y) => self.infix(Infix::Eq, x, y),
            _ => self.push(Op::Not(a)),
        }
    }

    fn select(&mut self, condition: Place, a: Place, b: Place) -> Place {
        match self.op(condition) {
            Op::Bool(true) => a,
            Op::Bool(false) => b,
            _ if a == b => a,
            _ => self.push(Op::Select(condition, a, b)),
        }
    }

    /// An operation on two operands: without neutral elements, and with subtractions in place of negative constants.
    // Proved: `divisor_one` in `proofs/Simplify.v`.
    pub(super) fn infix(&mut self, op: Infix, a: Place, b: Place) -> Place {
        let has_opposite = |value: i64| value >= -self.most();
        match (op, self.op(a), self.op(b)) {
            (Infix::Add, Op::Int(0), _)
            | (Infix::Mul, Op::Int(1), _)
            | (Infix::And, Op::Bool(true), _)
            | (Infix::Or, Op::Bool(false), _) => b,
            (Infix::Add | Infix::Sub, _, Op::Int(0))
            | (Infix::Mul | Infix::Div, _, Op::Int(1))
            | (Infix::And, _, Op::Bool(true))
            | (Infix::Or, _, Op::Bool(false)) => a,
            (Infix::Mul, Op::Int(-1), _) => self.push(Op::Negative(b)),
            (Infix::Mul, _, Op::Int(-1)) => self.push(Op::Negative(a)),
            (Infix::Sub, Op::Int(0), _) => self.push(Op::Negative(b)),
            (Infix::Add, _, Op::Negative(b)) => self.push(Op::Infix(Infix::Sub, a, b)),
            (Infix::Add, Op::Negative(a), _) => self.push(Op::Infix(Infix::Sub, b, a)),
            (Infix::Add, _, Op::Int(value @ ..0)) if has_opposite(value) => {
                let value = self.int(-value);
                self.push(Op::Infix(Infix::Sub, a, value))
            }
            (Infix::Add, Op::Int(value @ ..0), _) if has_opposite(value) => {
                let value = self.int(-value);
                self.push(Op::Infix(Infix::Sub, b, value))
            }
            (Infix::Sub, _, Op::Int(value @ ..0)) if has_opposite(value) => {
                let value = self.int(-value);
                self.push(Op::Infix(Infix::Add, a, value))
            }
            _ => self.push(Op::Infix(op, a, b)),
        }
    }

    /// A literal number.
    pub(super) fn int(&mut self, value: i64) -> Place {
        self.push(Op::Int(value))
    }

    /// The largest number of the type.
    fn most(&self) -> i64 {
        if self.wide { i64::MAX } else { i32::MAX.into() }
    }

    /// The place of an operation, which is added if it is new.
    pub(super) fn push(&mut self, op: Op) -> Place {
        if let Some(&known) = self.known.get(&op) {
            return known;
        }
        let is_condition = match op {
            Op::Int(_) | Op::Variable(_) | Op::Negative(_) | Op::Call(..) => false,
            Op::Bool(_) | Op::Not(_) | Op::Within(..) => true,
            Op::Infix(op, ..) => op >= Infix::Lt,
            Op::Select(_, a, _) => self.is_condition(a),
        };
        self.ops.push(Entry { op, is_condition, is_natural: matches!(op, Op::Int(0..)) });
        self.known.insert(op, self.ops.len() - 1);
        self.ops.len() - 1
    }
}
