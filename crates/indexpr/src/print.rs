//! Expressions as text in Python or C.
//!
//! The writer is a loop over a stack of pieces, so that an expression may be of any depth; parentheses are decided by
//! how tightly operators bind ([`binding`]).

use crate::error::{Error, Reason};
use crate::graph::{Binary, Expr, Graph, Node};
use crate::parse::binding;
use crate::rounding::{Rounding, divides};
use crate::syntax::Syntax;

/// The longest text in bytes. What a graph shares is written out wherever it is used, which can be without end.
const LONGEST: usize = 1 << 24;

impl Graph {
    /// An expression as text, with no more parentheses than its structure needs.
    ///
    /// Python text reads back as the same expression. C text reads back as one with the same values: divisions are
    /// written so that the rounding of C does not matter, and range tests as two comparisons.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", -8..8)?;
    /// let expr = graph.parse("((x - 1) // 3) % 4 if (3 <= x < 6) else -(x)", Syntax::Python)?;
    /// assert_eq!(graph.text(expr, Syntax::Python)?, "(x - 1) // 3 % 4 if 3 <= x < 6 else -x");
    /// assert_eq!(graph.text(expr, Syntax::C)?, "3 <= x && x < 6 ? ((x - 1 + 9) / 3 - 3 + 4) % 4 : -x");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A text longer than 16 MiB: parts that an expression shares are repeated in its text, so that it can be longer
    /// than any memory. An expression that is not of this graph.
    pub fn text(&self, expr: Expr, syntax: Syntax) -> Result<String, Error> {
        self.text_with_names(expr, syntax, |_| None)
    }

    /// The text of an expression with names in place of some of its parts: those for which `name` gives one. The
    /// expression itself is written out, so that the text can define its name.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// let x = graph.variable("x", 0..8)?;
    /// let expr = graph.parse("x * 10 + x % 3", Syntax::Python)?;
    /// let seven = |part| (part == x).then(|| "7".to_owned());
    /// assert_eq!(graph.text_with_names(expr, Syntax::Python, seven)?, "7 * 10 + 7 % 3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Graph::text`].
    pub fn text_with_names(
        &self,
        expr: Expr,
        syntax: Syntax,
        name: impl Fn(Expr) -> Option<String>,
    ) -> Result<String, Error> {
        self.check("text", expr)?;
        let mut text = String::new();
        self.write_text(expr, syntax, name, |piece| match piece {
            Ok(piece) => text.push_str(piece),
            Err(name) => text.push_str(&name),
        })?;
        Ok(text)
    }

    /// Writes an expression piece by piece: text, and what `name` gives for parts of it.
    pub(crate) fn write_text<N>(
        &self,
        expr: Expr,
        syntax: Syntax,
        name: impl Fn(Expr) -> Option<N>,
        mut write: impl FnMut(Result<&str, N>),
    ) -> Result<(), Error> {
        let mut writer = Writer { graph: self, syntax, pieces: vec![Piece::Operand(expr, 0)] };
        let mut length = 0usize;
        while let Some(piece) = writer.pieces.pop() {
            let number;
            let text = match piece {
                Piece::Text(text) => text,
                Piece::Int(value) => {
                    number = value.to_string();
                    &number
                }
                Piece::Variable(variable) => &self.variables()[variable].name,
                Piece::Operand(part, binds) => {
                    match name(part).filter(|_| part != expr) {
                        Some(name) => write(Err(name)),
                        None => writer.operand(part, binds),
                    }
                    continue;
                }
                Piece::Arguments(op, part) => {
                    match name(part) {
                        Some(name) => write(Err(name)),
                        None => writer.arguments(op, part),
                    }
                    continue;
                }
            };
            length += text.len();
            write(Ok(text));
            if length > LONGEST {
                return Err(Reason::TooLong { longest: LONGEST }.in_op("text"));
            }
        }
        Ok(())
    }
}

/// What is still to be written.
#[derive(Clone, Copy, Debug)]
enum Piece {
    Text(&'static str),
    Int(i64),
    Variable(usize),
    /// An expression, in parentheses if it binds less tightly than this.
    Operand(Expr, u8),
    /// The operands of nested calls of one function.
    Arguments(Binary, Expr),
}

use Piece::{Arguments, Int, Operand, Text};

/// Writes one expression.
struct Writer<'g> {
    graph: &'g Graph,
    syntax: Syntax,
    /// A stack: what is to be written next is last.
    pieces: Vec<Piece>,
}

impl Writer<'_> {
    /// An expression, in parentheses if it binds less tightly than `binds`.
    fn operand(&mut self, expr: Expr, binds: u8) {
        match self.graph.node(expr) {
            Node::Int(value) => self.write(binds, binding::ATOM, &[Int(value)]),
            Node::Variable(variable) => self.write(binds, binding::ATOM, &[Piece::Variable(variable)]),
            Node::Bool(value) => {
                let word = match (self.syntax, value) {
                    (Syntax::Python, true) => "True",
                    (Syntax::Python, false) => "False",
                    (Syntax::C, true) => "true",
                    (Syntax::C, false) => "false",
                };
                self.write(binds, binding::ATOM, &[Text(word)]);
            }
            Node::Not(a) => match self.syntax {
                Syntax::Python => self.write(binds, binding::NOT, &[Text("not "), Operand(a, binding::NOT)]),
                Syntax::C => self.write(binds, binding::SIGN, &[Text("!"), Operand(a, binding::SIGN)]),
            },
            Node::Within(a, begin, end) => match self.syntax {
                Syntax::Python => {
                    let a = Operand(a, binding::COMPARISON + 1);
                    self.write(binds, binding::COMPARISON, &[Int(begin), Text(" <= "), a, Text(" < "), Int(end)]);
                }
                Syntax::C => {
                    let a = Operand(a, binding::ORDER + 1);
                    let test = [Int(begin), Text(" <= "), a, Text(" && "), a, Text(" < "), Int(end)];
                    self.write(binds, binding::AND, &test);
                }
            },
            Node::Select(condition, a, b) => {
                let condition = Operand(condition, binding::CHOICE + 1);
                let last = Operand(b, binding::CHOICE);
                match self.syntax {
                    Syntax::Python => {
                        let first = Operand(a, binding::CHOICE + 1);
                        self.write(binds, binding::CHOICE, &[first, Text(" if "), condition, Text(" else "), last]);
                    }
                    Syntax::C => {
                        let middle = Operand(a, binding::CHOICE);
                        self.write(binds, binding::CHOICE, &[condition, Text(" ? "), middle, Text(" : "), last]);
                    }
                }
            }
            Node::Binary(op @ (Binary::Min | Binary::Max), a, b) => {
                let name = if op == Binary::Min { "min(" } else { "max(" };
                let first = if self.syntax == Syntax::Python { Arguments(op, a) } else { Operand(a, 0) };
                self.write(binds, binding::ATOM, &[Text(name), first, Text(", "), Operand(b, 0), Text(")")]);
            }
            Node::Binary(Binary::Sub, a, b) if self.is_negation(a, b) => {
                // In C `--x` is a decrement.
                let sign = if self.syntax == Syntax::C { binding::ATOM } else { binding::SIGN };
                self.write(binds, binding::SIGN, &[Text("-"), Operand(b, sign)]);
            }
            Node::Binary(op @ (Binary::Div | Binary::Mod), a, b) if self.syntax == Syntax::C => {
                self.division(binds, op, a, b);
            }
            Node::Binary(op, a, b) => {
                let own = op.binds(self.syntax);
                // Binary operators associate to the left. Comparisons do not in Python, where a chain of them is a
                // conjunction: their left operand must bind more tightly, too.
                let left = if op.compares() { own + 1 } else { own };
                self.write(binds, own, &[Operand(a, left), Text(sign(op, self.syntax)), Operand(b, own + 1)]);
            }
        }
    }

    /// The arguments of a call within a call of the same function: `min(min(a, b), c)` is `min(a, b, c)`.
    fn arguments(&mut self, op: Binary, expr: Expr) {
        match self.graph.node(expr) {
            Node::Binary(inner, a, b) if inner == op => {
                self.write(0, 0, &[Arguments(op, a), Text(", "), Operand(b, 0)]);
            }
            _ => self.operand(expr, 0),
        }
    }

    /// A floor division or modulo in C, whose own `/` and `%` round towards zero. The two differ where the quotient is
    /// negative and not exact, and there are three cases:
    ///
    /// - The ranges or the congruence of the dividend show that this never happens: C's operator is written.
    /// - The divisor is a constant `d`: the dividend is raised by `t * d`, the least multiple of the divisor that
    ///   leaves it never negative. `floor(a / d)` is `(a + t * d) / d - t`, and the remainder needs no correction at
    ///   all. That is an addition and no branch, and a constant that the dividend has already can take up the first
    ///   one. A negative divisor is made positive first: `floor(a / -d)` is `floor(-a / d)`, and `a mod -d` is `-(-a
    ///   mod d)`.
    /// - Otherwise, or where the raised dividend would leave `i64`, the sign of C's remainder says whether the quotient
    ///   was rounded up, and it is corrected.
    // Proved: `rounds_alike`, `raised`, `negative_remainder`, `corrected` in `proofs/Rounding.v`.
    fn division(&mut self, binds: u8, op: Binary, a: Expr, b: Expr) {
        let sign = sign(op, Syntax::C);
        let (dividend, divisor) = (Operand(a, binding::PRODUCT), Operand(b, binding::SIGN));
        let plain = [dividend, Text(sign), divisor];
        let (dividends, divisors) = (self.graph.range(a), self.graph.range(b));
        match Rounding::of(dividends, divisors, divides(self.graph, a, b), i64::MAX) {
            Rounding::AsIs => return self.write(binds, binding::PRODUCT, &plain),
            Rounding::Raised { times, shift } => {
                let positive = divisors.0 > 0;
                let (times, shift, size) = (Int(times), Int(shift), Int(divisors.0.abs()));
                let [x, y, z] = match positive {
                    true => [Operand(a, binding::SUM), Text(" + "), shift],
                    false => [shift, Text(" - "), Operand(a, binding::SUM + 1)],
                };
                let quotient = [Text("("), x, y, z, Text(")"), Text(sign), size];
                let [open, x, y, z, close, sign, size] = quotient;
                return match op {
                    Binary::Div => {
                        let all = [open, x, y, z, close, sign, size, Text(" - "), times];
                        self.write(binds, binding::SUM, &all);
                    }
                    _ if positive => self.write(binds, binding::PRODUCT, &quotient),
                    _ => {
                        let all = [Text("-("), open, x, y, z, close, sign, size, Text(")")];
                        self.write(binds, binding::SIGN, &all);
                    }
                };
            }
            Rounding::Corrected => {}
        }
        // A remainder that is not 0 has the sign of the dividend in C. If that is not the sign of the divisor, the
        // quotient was rounded up.
        let rounded_up = if divisors.0 > 0 { Text(" < 0 ? ") } else { Text(" > 0 ? ") };
        let change = match op {
            Binary::Div => [Text(" - "), Int(1)],
            _ => [Text(" + "), Operand(b, binding::SUM + 1)],
        };
        let all = [dividend, Text(" % "), divisor, rounded_up];
        let all = all.into_iter().chain(plain).chain(change).chain([Text(" : ")]).chain(plain);
        self.write(binds, binding::CHOICE, &all.collect::<Vec<_>>());
    }

    /// Whether a difference is written as a negation: `0 - x` is `-x`. The text `-3` is a literal, so `0 - 3` is written
    /// out, or it would not read back as the same expression.
    fn is_negation(&self, a: Expr, b: Expr) -> bool {
        self.graph.node(a) == Node::Int(0) && !matches!(self.graph.node(b), Node::Int(_))
    }

    /// Puts pieces in front of what is still to be written, in parentheses if `binds`, how tightly they bind, is less
    /// than they must.
    fn write(&mut self, must: u8, binds: u8, pieces: &[Piece]) {
        let parentheses = binds < must;
        self.pieces.extend(parentheses.then_some(Text(")")));
        self.pieces.extend(pieces.iter().rev());
        self.pieces.extend(parentheses.then_some(Text("(")));
    }
}

/// An operator with the spaces around it.
fn sign(op: Binary, syntax: Syntax) -> &'static str {
    match (op, syntax) {
        (Binary::Add, _) => " + ",
        (Binary::Sub, _) => " - ",
        (Binary::Mul, _) => " * ",
        (Binary::Div, Syntax::Python) => " // ",
        (Binary::Div, Syntax::C) => " / ",
        (Binary::Mod, _) => " % ",
        (Binary::Xor, _) => " ^ ",
        (Binary::Lt, _) => " < ",
        (Binary::Le, _) => " <= ",
        (Binary::Gt, _) => " > ",
        (Binary::Ge, _) => " >= ",
        (Binary::Eq, _) => " == ",
        (Binary::Ne, _) => " != ",
        (Binary::And, Syntax::Python) => " and ",
        (Binary::And, Syntax::C) => " && ",
        (Binary::Or, Syntax::Python) => " or ",
        (Binary::Or, Syntax::C) => " || ",
        (Binary::Min | Binary::Max, _) => ", ",
    }
}
