//! Reads expressions by operator precedence (Dijkstra's shunting-yard algorithm).
//!
//! Two explicit stacks hold the values and the operators that wait for their right operand, so that text may nest as
//! deep as it likes without exhausting the call stack. The parser alternates between two states: it expects a value,
//! or what follows one. Nodes are made as soon as an operator has both operands, so that what the graph refuses (a
//! divisor that can be zero, a value past `i64`) is reported at its place in the text.

use std::ops::Range;

use shapetracker_base::text::{ParseError, Token, Tokens, check_length, nearest, quoted};

use crate::error::{Error, Reason};
use crate::graph::{Binary, Expr, Graph, Map, Node, Sort};
use crate::places::make_room;
use crate::syntax::Syntax;

impl Graph {
    /// Reads an expression over the variables of the graph.
    ///
    /// Besides what [`Binary`] has there are `min` and `max` of more than two numbers, `x >> 3`, `x << 3` and `x & 7`
    /// for `x // 8`, `x * 8` and `x % 8`, and in C casts, which are refused where they could change a value. Numbers
    /// are not rounded, wrapped or promoted; a suffix of a C literal is of no consequence. The expression has the
    /// structure of the text: nothing is simplified.
    ///
    /// What compilers print is read, too: `FloorDiv(x, 4)`, `ModularIndexing(x, 4, 8)`, `Mod`, `CeilDiv`, `Identity`, `Min` and `Max` of
    /// inductor and sympy; `floordiv`, `ceildiv` and `mod` between two numbers, and `affine_map<(d0)[s0] -> (d0 floordiv 4)>`, of
    /// MLIR; `floordiv`, `floormod`, `truncdiv` and `truncmod` of TVM, with or without what they are of (`T.floordiv(x, 4)`), and its
    /// `T.int32(4)` and `T.int64(4)`;
    /// `threadIdx.x` as the variable `threadIdx_x`; `&` and `|` between conditions, and 1 and 0 as conditions.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", -8..8)?;
    /// let floor = graph.parse("x // 3", Syntax::Python)?;
    /// let towards_zero = graph.parse("x / 3", Syntax::C)?;
    /// assert_eq!((graph.evaluate(floor, &[-4])?, graph.evaluate(towards_zero, &[-4])?), (-2, -1));
    ///
    /// let err = graph.parse("2 * x / 3", Syntax::Python).unwrap_err();
    /// assert_eq!(
    ///     err.to_string(),
    ///     "expected an operator, found `/`: did you mean `//`?\n\
    ///      \u{20} 2 * x / 3\n\
    ///      \u{20}       ^",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A text longer than [`LONGEST_TEXT`], what is not an expression, a name that is not a variable, and whatever [`Graph::binary`], [`Graph::not`] and
    /// [`Graph::select`] refuse, at its place in the text. Nodes that were made before the mistake stay in the graph.
    ///
    /// Cost: time linear in the length of the text, and memory of at most 200 bytes for each of its bytes.
    ///
    /// [`LONGEST_TEXT`]: shapetracker_base::text::LONGEST_TEXT
    pub fn parse(&mut self, text: &str, syntax: Syntax) -> Result<Expr, ParseError> {
        check_length(text)?;
        self.parse_part(text, result_of_map(text).unwrap_or(0..text.len()), syntax)
    }

    /// Reads the expression that some bytes of a text are, such as one of a list, as [`Graph::parse`] reads a whole one: a
    /// mistake is shown in the whole text.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..8)?;
    /// let text = "(i // 4, i % 4)";
    /// let second = graph.parse_part(text, 9..14, Syntax::Python)?;
    /// assert_eq!(graph.text(second, Syntax::Python)?, "i % 4");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What [`Graph::parse`] refuses; bytes that are not of the text, or that cut a character.
    pub fn parse_part(&mut self, text: &str, part: Range<usize>, syntax: Syntax) -> Result<Expr, ParseError> {
        check_length(text)?;
        if part.start > part.end || text.get(part.clone()).is_none() {
            let message = format!("the bytes {}..{} are not a part of the text", part.start, part.end);
            return Err(ParseError::new(message, text, text.len()..text.len()));
        }
        let mut tokens = Tokens::of_expression(&text[..part.end]);
        tokens.go_on_at(part.start);
        let (variables, values, open) = (Map::default(), Vec::new(), Vec::new());
        let mut parser = Parser { graph: self, text, syntax, tokens, variables, values, open };
        parser.take_operator_as_one();
        parser.parse()
    }
}

/// An entry of the operator stack: what was read and still waits for a value to its right.
#[derive(Clone, Debug)]
enum Open {
    /// `(`.
    Parenthesis,
    /// `min(` or `max(`, and how many values were given before this one.
    Call(Binary, u32),
    /// A function of a compiler, and how many values were given before this one.
    Function(Function, u8),
    /// `-` in front of anything but a literal.
    Minus,
    /// `+` in front of a value.
    Plus,
    /// `not` or `!`.
    Not,
    /// `(int)`, by the place of its type in [`CASTS`].
    Cast(u8),
    /// An operator, after the value to its left.
    Infix(Infix),
    /// `if` or `?`: the middle part of a choice is being read.
    Choice,
    /// `else` or `:`: the last part of a choice is being read.
    Otherwise,
}

/// A function that compilers have, of as many numbers as it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    FloorDiv,
    FloorMod,
    CeilDiv,
    TruncDiv,
    TruncMod,
    /// `(x // divisor) % modulus`.
    Modular,
    Identity,
    /// `T.int32(x)`, which is refused where it could change the value.
    Int32,
}

impl Function {
    /// The function of a name.
    fn named(name: &str) -> Option<Function> {
        Some(match name {
            "FloorDiv" | "floordiv" | "floor_div" | "CleanDiv" | "IntTrueDiv" => Function::FloorDiv,
            "Mod" | "PythonMod" | "floormod" | "floor_mod" => Function::FloorMod,
            "CeilDiv" | "ceildiv" | "ceilDiv" | "ceil_div" | "cdiv" => Function::CeilDiv,
            "truncdiv" => Function::TruncDiv,
            "truncmod" => Function::TruncMod,
            "ModularIndexing" => Function::Modular,
            "Identity" | "int64" => Function::Identity,
            "int32" => Function::Int32,
            _ => return None,
        })
    }

    /// How many numbers it takes.
    fn takes(self) -> u8 {
        match self {
            Function::Identity | Function::Int32 => 1,
            Function::Modular => 3,
            _ => 2,
        }
    }
}

/// What CUDA numbers threads with, by an axis behind a dot.
const THREADS: [&str; 4] = ["threadIdx", "blockIdx", "blockDim", "gridDim"];

/// The bytes of the one result of an affine map of MLIR, where a text is one: `affine_map<(d0)[s0] -> (d0 + s0)>`.
fn result_of_map(text: &str) -> Option<Range<usize>> {
    let begin = text.find(|c: char| !c.is_whitespace())?;
    let inside = text[begin..].strip_prefix("affine_map<")?;
    let start = text.len() - inside.len() + inside.find("->")? + 2;
    let end = start + text[start..].rfind('>')?;
    Some(start..end)
}

/// The smallest and largest value that a cast does not change, for each sort of integer that there is.
const CASTS: [(i64, i64); 4] =
    [(i32::MIN as i64, i32::MAX as i64), (0, u32::MAX as i64), (i64::MIN, i64::MAX), (0, i64::MAX)];

/// Some bytes of the text, which has at most [`LONGEST_TEXT`](shapetracker_base::text::LONGEST_TEXT).
#[derive(Clone, Copy)]
struct Span {
    start: u32,
    end: u32,
}

const _: () = assert!(size_of::<(Open, Span)>() == 16);

impl From<Range<usize>> for Span {
    fn from(span: Range<usize>) -> Span {
        Span { start: span.start as u32, end: span.end as u32 }
    }
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Range<usize> {
        span.start as usize..span.end as usize
    }
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Infix {
    Binary(Binary),
    /// `/` or `%` of C, which round towards zero.
    Truncated(Binary),
    /// `<<` or `>>`, as a product with or a floor division by a power of two.
    Shift(Binary),
    /// `&` with a mask of low bits, as a modulo by a power of two; between conditions both of them.
    Mask,
    /// `|` between conditions: one of them, or both.
    Bar,
    /// MLIR's `ceildiv`.
    Ceil,
}

/// How tightly operators bind, from the loosest. The two languages differ in where `&` and the comparisons stand; one
/// scale holds both.
pub(crate) mod binding {
    pub(crate) const CHOICE: u8 = 1;
    pub(crate) const OR: u8 = 2;
    pub(crate) const AND: u8 = 3;
    /// C's `|`.
    pub(crate) const BAR_OF_C: u8 = 4;
    /// C's `^`.
    pub(crate) const XOR: u8 = 5;
    /// Python's `not`, and C's `&`.
    pub(crate) const NOT: u8 = 6;
    /// Python's comparisons, and C's `==` and `!=`.
    pub(crate) const COMPARISON: u8 = 7;
    /// Python's `|`.
    pub(crate) const BAR: u8 = 8;
    /// Python's `^`, and C's `<`, `<=`, `>` and `>=`.
    pub(crate) const ORDER: u8 = 9;
    /// Python's `&`.
    pub(crate) const MASK: u8 = 10;
    pub(crate) const SHIFT: u8 = 11;
    pub(crate) const SUM: u8 = 12;
    pub(crate) const PRODUCT: u8 = 13;
    pub(crate) const SIGN: u8 = 14;
    pub(crate) const ATOM: u8 = 15;
}

impl Infix {
    /// The operator that a token is.
    fn of(word: &str, syntax: Syntax) -> Option<Infix> {
        let op = match (word, syntax) {
            ("+", _) => Binary::Add,
            ("-", _) => Binary::Sub,
            ("*", _) => Binary::Mul,
            ("//", Syntax::Python) => Binary::Div,
            ("%", Syntax::Python) => Binary::Mod,
            ("/", Syntax::C) => return Some(Infix::Truncated(Binary::Div)),
            ("%", Syntax::C) => return Some(Infix::Truncated(Binary::Mod)),
            ("<<", _) => return Some(Infix::Shift(Binary::Mul)),
            (">>", _) => return Some(Infix::Shift(Binary::Div)),
            ("&", _) => return Some(Infix::Mask),
            ("|", _) => return Some(Infix::Bar),
            ("floordiv", Syntax::Python) => Binary::Div,
            ("mod", Syntax::Python) => Binary::Mod,
            ("ceildiv", Syntax::Python) => return Some(Infix::Ceil),
            ("^", _) => Binary::Xor,
            ("<", _) => Binary::Lt,
            ("<=", _) => Binary::Le,
            (">", _) => Binary::Gt,
            (">=", _) => Binary::Ge,
            ("==", _) => Binary::Eq,
            ("!=", _) => Binary::Ne,
            ("and", Syntax::Python) | ("&&", Syntax::C) => Binary::And,
            ("or", Syntax::Python) | ("||", Syntax::C) => Binary::Or,
            _ => return None,
        };
        Some(Infix::Binary(op))
    }

    /// How tightly it binds.
    fn binds(self, syntax: Syntax) -> u8 {
        match self {
            Infix::Binary(op) => op.binds(syntax),
            Infix::Truncated(_) | Infix::Ceil => binding::PRODUCT,
            Infix::Bar => match syntax {
                Syntax::Python => binding::BAR,
                Syntax::C => binding::BAR_OF_C,
            },
            Infix::Shift(_) => binding::SHIFT,
            Infix::Mask => match syntax {
                Syntax::Python => binding::MASK,
                Syntax::C => binding::NOT,
            },
        }
    }

    /// Whether it is a comparison.
    fn compares(self) -> bool {
        matches!(self, Infix::Binary(op) if op.compares())
    }
}

impl Binary {
    /// How tightly it binds; `min` and `max` are calls.
    pub(crate) fn binds(self, syntax: Syntax) -> u8 {
        match self {
            Binary::Or => binding::OR,
            Binary::And => binding::AND,
            Binary::Eq | Binary::Ne => binding::COMPARISON,
            Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => match syntax {
                Syntax::Python => binding::COMPARISON,
                Syntax::C => binding::ORDER,
            },
            Binary::Xor => match syntax {
                Syntax::Python => binding::ORDER,
                Syntax::C => binding::XOR,
            },
            Binary::Add | Binary::Sub => binding::SUM,
            Binary::Mul | Binary::Div | Binary::Mod => binding::PRODUCT,
            Binary::Min | Binary::Max => binding::ATOM,
        }
    }
}

impl Open {
    /// How tightly it binds what follows; 0 for what waits for a closing token, so that no operator reduces it.
    fn binds(&self, syntax: Syntax) -> u8 {
        match self {
            Open::Parenthesis | Open::Call(..) | Open::Function(..) | Open::Choice => 0,
            Open::Otherwise => binding::CHOICE,
            Open::Not if syntax == Syntax::Python => binding::NOT,
            Open::Minus | Open::Plus | Open::Not | Open::Cast(..) => binding::SIGN,
            Open::Infix(op) => op.binds(syntax),
        }
    }
}

/// The state of reading one text.
struct Parser<'g, 'a> {
    graph: &'g mut Graph,
    /// The whole text.
    text: &'a str,
    syntax: Syntax,
    /// How far it is read. Its text ends where the expression does.
    tokens: Tokens<'a>,
    /// The variables that the text has named so far: the graph finds a name by a linear search.
    variables: Map<&'a str, Expr>,
    /// Values that wait for their operators.
    values: Vec<Expr>,
    /// Operators that wait for their last operands, and where they stand.
    open: Vec<(Open, Span)>,
}

/// What the parser expects after what was read.
enum Next {
    Value,
    Operator,
    Nothing,
}

impl<'a> Parser<'_, 'a> {
    /// Reads the whole text.
    fn parse(mut self) -> Result<Expr, ParseError> {
        loop {
            self.value()?;
            loop {
                match self.operator()? {
                    Next::Value => break,
                    Next::Operator => {}
                    Next::Nothing => return Ok(self.pop()),
                }
            }
        }
    }

    /// Reads signs and opening parentheses, as many as there are, and then a literal or a variable.
    fn value(&mut self) -> Result<(), ParseError> {
        loop {
            let begin = self.span().start;
            let open = match (self.tokens.token, self.word(), self.syntax) {
                (Token::Number | Token::NotWhole, ..) => return self.literal(false),
                // A sign belongs to a literal: the number without it may be past `i64`.
                (Token::Symbol, "-", _) if matches!(self.tokens.second(), Token::Number | Token::NotWhole) => {
                    self.advance();
                    return self.literal(true);
                }
                (Token::Symbol, "-", _) => Open::Minus,
                (Token::Symbol, "+", _) => Open::Plus,
                (Token::Symbol, "!", Syntax::C) | (Token::Name, "not", Syntax::Python) => Open::Not,
                (_, "(", Syntax::C) => self.cast().map_or(Open::Parenthesis, Open::Cast),
                (_, "(", Syntax::Python) => Open::Parenthesis,
                (Token::Name, "and" | "or" | "if" | "else", Syntax::Python) => {
                    return Err(self.expected("an expression"));
                }
                // What a function is of stands in front of it.
                (Token::Name, ..) if self.is_of_a_function() => {
                    self.advance();
                    self.advance();
                    continue;
                }
                (Token::Name, name, _) if self.tokens.second() == Token::Open(b'(') => {
                    let open = match (name, Function::named(name)) {
                        ("min" | "Min", _) => Open::Call(Binary::Min, 0),
                        ("max" | "Max", _) => Open::Call(Binary::Max, 0),
                        (_, Some(function)) => Open::Function(function, 0),
                        _ => return Err(self.expected("`min` or `max`")),
                    };
                    self.push(open, self.span());
                    self.advance();
                    self.advance();
                    continue;
                }
                (Token::Name, ..) => return self.name(),
                _ => return Err(self.expected("an expression")),
            };
            self.push(open, begin..self.span().end);
            self.advance();
        }
    }

    /// Reads what follows a value: an operator, or what closes something.
    fn operator(&mut self) -> Result<Next, ParseError> {
        let (word, span) = (self.word(), self.span());
        let (choice, otherwise) = self.choice();
        if self.tokens.token == Token::End || [")", ",", otherwise].contains(&word) {
            self.reduce(binding::CHOICE)?;
            return self.close(word, otherwise);
        }
        if word == choice {
            // A choice at the end of another belongs to its last part.
            self.reduce(binding::CHOICE + 1)?;
            if self.syntax == Syntax::Python && matches!(self.open.last(), Some((Open::Choice, _))) {
                return Err(self.expected("`else`"));
            }
            self.push(Open::Choice, span);
        } else if let Some(op) = Infix::of(word, self.syntax) {
            let binds = op.binds(self.syntax);
            // Operators associate to the left, so those that bind as tightly are done first; but a chain of comparisons
            // is kept until its end is known.
            self.reduce(binds + 1)?;
            if !op.compares() {
                self.reduce(binds)?;
            } else if self.syntax == Syntax::C
                && matches!(self.open.last(), Some((Open::Infix(before), _)) if before.binds(self.syntax) == binds)
            {
                let message = "C does not chain comparisons: write `a < b && b < c` for `a < b < c`";
                return Err(self.error_at(span, message.into()));
            }
            self.push(Open::Infix(op), span);
        } else {
            return Err(self.expected("an operator"));
        }
        self.advance();
        Ok(Next::Value)
    }

    /// Ends what is open, after a value: at the end of the text, `)`, `,`, or what stands before the last part of a
    /// choice.
    fn close(&mut self, word: &str, otherwise: &str) -> Result<Next, ParseError> {
        let Some((open, span)) = self.open.pop().map(|(open, span)| (open, Range::from(span))) else {
            return match self.tokens.token {
                Token::End => Ok(Next::Nothing),
                _ => Err(self.expected("an operator or the end of the text")),
            };
        };
        let next = match (open, word) {
            (Open::Choice, _) if word == otherwise => {
                self.push(Open::Otherwise, span);
                Next::Value
            }
            (Open::Choice, _) => return Err(self.expected(&format!("`{otherwise}`"))),
            (open, "") => {
                let parenthesis = if let Open::Call(..) | Open::Function(..) = open { "(" } else { "" };
                let never = format!("`{}{parenthesis}` is never closed", &self.text[span.clone()]);
                return Err(self.error_at(span, never));
            }
            (Open::Call(_, 0), ")") => {
                let name = &self.text[span];
                return Err(self.expected(&format!("`,` and another number for `{name}`")));
            }
            (Open::Call(op, given), "," | ")") => {
                if given > 0 {
                    self.binary(op, &span)?;
                }
                if word == "," {
                    self.push(Open::Call(op, given + 1), span);
                    Next::Value
                } else {
                    Next::Operator
                }
            }
            (Open::Function(function, given), ",") if given + 1 < function.takes() => {
                self.push(Open::Function(function, given + 1), span);
                Next::Value
            }
            (Open::Function(function, given), ")") if given + 1 == function.takes() => {
                self.function(function, &span)?;
                Next::Operator
            }
            (Open::Function(function, _), _) => {
                let name = &self.text[span];
                let message = match function.takes() {
                    1 => format!("`{name}` takes one number"),
                    takes => format!("`{name}` takes {takes} numbers"),
                };
                return Err(self.error_at(self.span(), message));
            }
            (Open::Parenthesis, ")") => Next::Operator,
            _ => return Err(self.expected("an operator or `)`")),
        };
        self.advance();
        Ok(next)
    }

    /// Applies the operators on the stack that bind at least this tightly.
    // Proved: `shift_and_mask` in `proofs/Rounding.v`.
    fn reduce(&mut self, binds: u8) -> Result<(), ParseError> {
        while let Some((open, span)) = self.open.pop_if(|(open, _)| open.binds(self.syntax) >= binds) {
            let span = Range::from(span);
            let value = match open {
                Open::Infix(Infix::Binary(op)) if op.compares() && self.syntax == Syntax::Python => {
                    self.chain(op, span)?;
                    continue;
                }
                Open::Infix(Infix::Binary(op)) => {
                    self.binary(op, &span)?;
                    continue;
                }
                Open::Infix(Infix::Truncated(op)) => {
                    let (b, a) = (self.pop(), self.pop());
                    self.graph.truncated(op, a, b)
                }
                Open::Infix(Infix::Shift(op)) => match self.constant() {
                    Some(by @ 0..=62) => {
                        let (power, a) = (self.graph.int(1 << by), self.pop());
                        self.graph.binary(op, a, power)
                    }
                    _ => {
                        let message = format!("{} needs a constant on its right, from 0 to 62", self.quoted(&span));
                        return Err(self.error_at(span, message));
                    }
                },
                Open::Infix(Infix::Bar) => {
                    if self.are_conditions() {
                        self.binary(Binary::Or, &span)?;
                        continue;
                    }
                    let (b, a) = (self.pop(), self.pop());
                    // Bits that are never set in both are those of the sum.
                    if !self.graph.share_no_bits(a, b) {
                        let message = "`|` combines conditions: the bits of numbers that can be set in both are no sum";
                        return Err(self.error_at(span, message.into()));
                    }
                    self.graph.binary(Binary::Add, a, b)
                }
                Open::Infix(Infix::Mask) if self.are_conditions() => {
                    self.binary(Binary::And, &span)?;
                    continue;
                }
                Open::Infix(Infix::Ceil) => {
                    let (b, a) = (self.pop(), self.pop());
                    self.graph.rounded_up(a, b)
                }
                Open::Infix(Infix::Mask) => match self.constant() {
                    Some(mask @ 0..=0x3fff_ffff_ffff_ffff) if mask & (mask + 1) == 0 => {
                        let (power, a) = (self.graph.int(mask + 1), self.pop());
                        self.graph.binary(Binary::Mod, a, power)
                    }
                    _ => {
                        let message = "`&` needs a mask of low bits on its right: 1, 3, 7, 15 and so on";
                        return Err(self.error_at(span, message.into()));
                    }
                },
                Open::Minus => {
                    let (zero, a) = (self.graph.int(0), self.pop());
                    self.graph.binary(Binary::Sub, zero, a)
                }
                Open::Plus => {
                    let a = self.pop();
                    self.graph.number("+", a)
                }
                Open::Cast(kind) => {
                    let a = self.pop();
                    self.check_cast(a, CASTS[usize::from(kind)], &span)?;
                    self.graph.number("(", a)
                }
                Open::Not => {
                    let a = self.pop();
                    let a = self.graph.condition(a);
                    self.graph.not(a)
                }
                Open::Otherwise => {
                    let (last, middle, first) = (self.pop(), self.pop(), self.pop());
                    let (condition, (yes, no)) = match self.syntax {
                        Syntax::Python => (middle, (first, last)),
                        Syntax::C => (first, (middle, last)),
                    };
                    let condition = self.graph.condition(condition);
                    self.graph.select(condition, yes, no)
                }
                Open::Parenthesis | Open::Call(..) | Open::Function(..) | Open::Choice => {
                    unreachable!("only `close` ends these")
                }
            };
            let value = value.map_err(|err| self.refused(&span, &err))?;
            self.values.push(value);
        }
        Ok(())
    }

    /// An operation on the last two values.
    fn binary(&mut self, op: Binary, span: &Range<usize>) -> Result<(), ParseError> {
        let (mut b, mut a) = (self.pop(), self.pop());
        if let Binary::And | Binary::Or = op {
            (a, b) = (self.graph.condition(a), self.graph.condition(b));
        }
        let value = self.graph.binary(op, a, b).map_err(|err| self.refused(span, &err))?;
        self.values.push(value);
        Ok(())
    }

    /// A function of the last values.
    // No rule: this is what the functions are.
    fn function(&mut self, function: Function, span: &Range<usize>) -> Result<(), ParseError> {
        let last = if function.takes() == 1 { None } else { Some(self.pop()) };
        let middle = if function == Function::Modular { Some(self.pop()) } else { None };
        let first = self.pop();
        if function == Function::Int32 {
            self.check_cast(first, CASTS[0], span)?;
        }
        let value = match (function, middle, last) {
            (Function::FloorDiv, _, Some(b)) => self.graph.binary(Binary::Div, first, b),
            (Function::FloorMod, _, Some(b)) => self.graph.binary(Binary::Mod, first, b),
            (Function::CeilDiv, _, Some(b)) => self.graph.rounded_up(first, b),
            (Function::TruncDiv, _, Some(b)) => self.graph.truncated(Binary::Div, first, b),
            (Function::TruncMod, _, Some(b)) => self.graph.truncated(Binary::Mod, first, b),
            (Function::Modular, Some(divisor), Some(modulus)) => {
                let quotient = self.graph.binary(Binary::Div, first, divisor);
                quotient.and_then(|quotient| self.graph.binary(Binary::Mod, quotient, modulus))
            }
            _ => self.graph.number("Identity", first),
        };
        let value = value.map_err(|err| self.refused(span, &err))?;
        self.values.push(value);
        Ok(())
    }

    /// Refuses a cast to a type with these values where it could change the value.
    fn check_cast(&self, a: Expr, (low, high): (i64, i64), span: &Range<usize>) -> Result<(), ParseError> {
        let (from, to) = self.graph.range(a);
        if from < low || to > high {
            let cast = self.quoted(span);
            let message = format!("{cast} can change the value, which ranges from {from} to {to}");
            return Err(self.error_at(span.clone(), message));
        }
        Ok(())
    }

    /// Whether the last two values are conditions, one of which may be written as a number.
    fn are_conditions(&self) -> bool {
        let last = &self.values[self.values.len().saturating_sub(2)..];
        let is_condition = |value: &&Expr| self.graph.sort(**value) == Sort::Condition;
        let may_be = |value: &Expr| is_condition(&value) || matches!(self.graph.node(*value), Node::Int(0..=1));
        last.iter().any(|value| is_condition(&value)) && last.iter().all(may_be)
    }

    /// Whether a name and a dot stand here in front of a function or another name and a dot.
    fn is_of_a_function(&self) -> bool {
        let mut ahead = self.tokens.clone();
        ahead.advance();
        ahead.take(Token::Dot) && ahead.take(Token::Name) && matches!(ahead.token, Token::Open(b'(') | Token::Dot)
    }

    /// A chain of comparisons as Python has it, of which this operator is the last: `a < b <= c` is `a < b and b <= c`,
    /// and a [`Node::Within`] if both ends are constants.
    fn chain(&mut self, last: Binary, span: Range<usize>) -> Result<(), ParseError> {
        let mut ops = vec![(last, span)];
        while let Some((Open::Infix(Infix::Binary(op)), _)) = self.open.last()
            && op.compares()
        {
            let op = *op;
            ops.extend(self.open.pop().map(|(_, span)| (op, span.into())));
        }
        ops.reverse();
        let values = self.values.split_off(self.values.len() - ops.len() - 1);
        let value = match self.range_test(&ops, &values) {
            Some((begin, end)) => {
                self.graph.within(values[1], begin, end).map_err(|err| self.refused(&ops[0].1, &err))?
            }
            None => {
                let mut all = None;
                for ((op, span), pair) in ops.iter().zip(values.windows(2)) {
                    let one = self.graph.binary(*op, pair[0], pair[1]);
                    let both = one.and_then(|one| all.map_or(Ok(one), |all| self.graph.binary(Binary::And, all, one)));
                    all = Some(both.map_err(|err| self.refused(span, &err))?);
                }
                all.expect("there is at least one comparison")
            }
        };
        self.values.push(value);
        Ok(())
    }

    /// The half-open range of a chain like `3 <= x < 10`.
    fn range_test(&self, ops: &[(Binary, Range<usize>)], values: &[Expr]) -> Option<(i64, i64)> {
        let &[(left @ (Binary::Le | Binary::Lt), _), (right @ (Binary::Le | Binary::Lt), _)] = ops else { return None };
        let (Node::Int(low), Node::Int(high)) = (self.graph.node(values[0]), self.graph.node(values[2])) else {
            return None;
        };
        let begin = if left == Binary::Le { Some(low) } else { low.checked_add(1) };
        let end = if right == Binary::Lt { Some(high) } else { high.checked_add(1) };
        begin.zip(end)
    }

    /// Reads the next token, a literal; `negative` says that a minus stands before it.
    fn literal(&mut self, negative: bool) -> Result<(), ParseError> {
        let end = self.span().end;
        if let Some(fraction) = self.text[end..].strip_prefix('.') {
            // A point behind digits is of the number: `3.` is no whole one.
            let len = fraction.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(fraction.len());
            let span = self.span().start..end + 1 + len;
            return Err(self.expected_at(span, "a whole number"));
        }
        let word = self.word();
        let digits = match self.syntax {
            Syntax::Python => word.replace('_', ""),
            Syntax::C => word.trim_end_matches(['u', 'l', 'U', 'L']).into(),
        };
        let (radix, digits) = match digits.get(..2) {
            Some("0x" | "0X") => (16, &digits[2..]),
            Some("0b" | "0B") => (2, &digits[2..]),
            Some("0o" | "0O") => (8, &digits[2..]),
            Some(two) if two.starts_with('0') && digits.bytes().all(|digit| digit.is_ascii_digit()) => {
                // Python refuses leading zeros, and C takes the number for octal: refused in both.
                return Err(self.expected("a number without leading zeros"));
            }
            _ => (10, &digits[..]),
        };
        if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
            return Err(self.expected("a whole number"));
        }
        let value = i128::from_str_radix(digits, radix).ok();
        let value = value.and_then(|value| i64::try_from(if negative { -value } else { value }).ok());
        let Some(value) = value else {
            let message = format!("{} is past the range of 64-bit integers", self.quoted(&self.span()));
            return Err(self.error_at(self.span(), message));
        };
        self.values.push(self.graph.int(value));
        self.advance();
        Ok(())
    }

    /// Reads the name of a variable, or true or false.
    fn name(&mut self) -> Result<(), ParseError> {
        let name = self.word();
        if THREADS.contains(&name) && self.tokens.second() == Token::Dot {
            return self.thread_index(name);
        }
        let value = match (name, self.syntax) {
            ("True", Syntax::Python) | ("true", Syntax::C) => self.graph.bool(true),
            ("False", Syntax::Python) | ("false", Syntax::C) => self.graph.bool(false),
            _ => match self.variables.get(name) {
                Some(&variable) => variable,
                None => {
                    let known = self.graph.variable_named(name).ok_or_else(|| self.unknown(name))?;
                    let range = self.graph.variables()[known].range.clone();
                    let variable = self.graph.variable(name, range).map_err(|err| self.refused(&self.span(), &err))?;
                    self.variables.insert(name, variable);
                    variable
                }
            },
        };
        self.values.push(value);
        self.advance();
        Ok(())
    }

    /// CUDA's `threadIdx.x`, which is the variable `threadIdx_x`.
    fn thread_index(&mut self, name: &str) -> Result<(), ParseError> {
        let begin = self.span().start;
        self.advance();
        self.advance();
        let (whole, variable) = (begin..self.span().end, format!("{name}_{}", self.word()));
        let Some(known) = self.graph.variable_named(&variable) else {
            let message = format!(
                "expected a variable, found {}: it is read as the variable `{variable}`, and there is none of that name",
                self.quoted(&whole)
            );
            return Err(self.error_at(whole, message));
        };
        let range = self.graph.variables()[known].range.clone();
        let value = self.graph.variable(&variable, range).map_err(|err| self.refused(&whole, &err))?;
        self.values.push(value);
        self.advance();
        Ok(())
    }

    /// The error for a name that no variable has: with a guess at what was meant, or else with the names that there
    /// are.
    #[cold]
    fn unknown(&self, name: &str) -> ParseError {
        const MOST: usize = 8;
        if self.hint().is_some() {
            return self.expected("a variable");
        }
        let words = match self.syntax {
            Syntax::Python => ["True", "False"],
            Syntax::C => ["true", "false"],
        };
        let names = || self.graph.variables().iter().map(|variable| &variable.name[..]);
        let meant = nearest(name, names().chain(words));
        let rest = match meant {
            Some(meant) => format!(": did you mean `{meant}`?"),
            None if self.graph.variables().is_empty() => "; there are none".into(),
            None => {
                let more = if self.graph.variables().len() > MOST { ", .." } else { "" };
                format!("; there are {}{more}", names().take(MOST).collect::<Vec<_>>().join(", "))
            }
        };
        let err = self.error_at(self.span(), format!("expected a variable, found {}{rest}", quoted(name)));
        // The last word of a text may be a name of which only the beginning has been written so far.
        let at_end = self.text[self.span().end..].trim_start().is_empty();
        let err = match at_end && names().chain(words).any(|known| known.starts_with(name)) {
            true => err.and_unfinished(),
            false => err,
        };
        match meant {
            Some(meant) => err.with_suggestion(self.span(), meant),
            None => err.of_unknown_name(),
        }
    }

    /// If the next token opens a cast, goes on to the parenthesis that ends it, and returns which of [`CASTS`] it is.
    fn cast(&mut self) -> Option<u8> {
        let mut ahead = self.tokens.clone();
        let mut words = Vec::new();
        ahead.advance();
        while ahead.token == Token::Name && words.len() < 3 {
            words.push(ahead.word());
            ahead.advance();
        }
        let held = match words[..] {
            ["int" | "int32_t" | "signed"] | ["signed", "int"] => 0,
            ["unsigned" | "uint32_t"] | ["unsigned", "int"] => 1,
            ["long" | "int64_t" | "ptrdiff_t"] | ["long", "int" | "long"] | ["long", "long", "int"] => 2,
            ["uint64_t" | "size_t"] | ["unsigned", "long"] | ["unsigned", "long", "int" | "long"] => 3,
            _ => return None,
        };
        if ahead.token != Token::Close(b')') {
            return None;
        }
        self.tokens = ahead;
        Some(held)
    }

    /// The two words of a choice.
    fn choice(&self) -> (&'static str, &'static str) {
        match self.syntax {
            Syntax::Python => ("if", "else"),
            Syntax::C => ("?", ":"),
        }
    }

    /// The text of the next token.
    fn word(&self) -> &'a str {
        self.tokens.word()
    }

    /// The bytes of the next token.
    fn span(&self) -> Range<usize> {
        self.tokens.span.clone()
    }

    /// Goes on to the next token.
    fn advance(&mut self) {
        self.tokens.advance();
        self.take_operator_as_one();
    }

    /// Makes one token of an operator that would stand in the way of other texts, such as `Shape<Int<2>>`. `--` and `++` mean
    /// nothing here, but in C `--x` is a decrement and must not be read as `-(-x)`.
    fn take_operator_as_one(&mut self) {
        let operator = &self.tokens.text.as_bytes()[self.tokens.span.start..];
        self.tokens.span.end += match operator {
            [b'<', b'<', ..] | [b'>', b'>', ..] | [b'&', b'&', ..] | [b'|', b'|', ..] => 1,
            [b'-', b'-', ..] | [b'+', b'+', ..] if self.syntax == Syntax::C => 1,
            _ => 0,
        };
    }

    /// Puts an entry on the operator stack.
    fn push(&mut self, open: Open, span: Range<usize>) {
        make_room(&mut self.open);
        self.open.push((open, span.into()));
    }

    /// Takes the last value.
    fn pop(&mut self) -> Expr {
        self.values.pop().expect("an operator is open only after its operands")
    }

    /// Takes the last value, and returns the number that it always is, if it is a constant.
    fn constant(&mut self) -> Option<i64> {
        let value = self.pop();
        let (low, high) = self.graph.range(value);
        (low == high && self.graph.sort(value) == Sort::Number).then_some(low)
    }

    /// A part of the text as error messages quote it.
    fn quoted(&self, span: &Range<usize>) -> String {
        quoted(&self.text[span.clone()])
    }

    /// An error that points at a part of the text.
    fn error_at(&self, span: Range<usize>, message: String) -> ParseError {
        ParseError::new(message, self.text, span)
    }

    /// The error that the next token is not what is expected there.
    #[cold]
    fn expected(&self, what: &str) -> ParseError {
        if self.tokens.token == Token::End {
            let (last, message) = (self.tokens.last, format!("expected {what}, found the end of the text"));
            return self.error_at(last..last, message).and_unfinished();
        }
        self.expected_at(self.span(), what)
    }

    /// The same of these bytes, which are at least those of the next token.
    #[cold]
    fn expected_at(&self, span: Range<usize>, what: &str) -> ParseError {
        let hint = self.hint();
        let meant = hint.map(|meant| format!(": did you mean `{meant}`?")).unwrap_or_default();
        let err = self.error_at(span.clone(), format!("expected {what}, found {}{meant}", self.quoted(&span)));
        match hint {
            Some(meant) => err.with_suggestion(span, meant),
            None => err,
        }
    }

    /// What is written here for the next token, if that is an operator of the other language.
    fn hint(&self) -> Option<&'static str> {
        Some(match (self.word(), self.syntax) {
            ("=", _) => "==",
            ("/", Syntax::Python) => "//",
            ("&&", Syntax::Python) => "and",
            ("||", Syntax::Python) => "or",
            ("!", Syntax::Python) => "not",
            ("?", Syntax::Python) => "if",
            (":", Syntax::Python) => "else",
            ("//", Syntax::C) => "/",
            ("and", Syntax::C) => "&&",
            ("or", Syntax::C) => "||",
            ("not", Syntax::C) => "!",
            ("if", Syntax::C) => "?",
            ("else", Syntax::C) => ":",
            _ => return None,
        })
    }

    /// The error of an operation that the graph refused, with the operator as it stands in the text.
    #[cold]
    fn refused(&self, span: &Range<usize>, err: &Error) -> ParseError {
        self.error_at(span.clone(), format!("{}: {}", &self.text[span.clone()], err.reason()))
    }
}

impl Graph {
    /// The same expression; an error if it is a condition.
    fn number(&self, op: &'static str, a: Expr) -> Result<Expr, Error> {
        if self.sort(a) == Sort::Number { Ok(a) } else { Err(Reason::NotANumber.in_op(op)) }
    }

    /// Whether two numbers never have a bit in common.
    fn share_no_bits(&self, a: Expr, b: Expr) -> bool {
        let numbers = [a, b].into_iter().all(|operand| self.sort(operand) == Sort::Number);
        let is_zero = |operand: Expr| self.node(operand) == Node::Int(0);
        numbers && (is_zero(a) || is_zero(b) || self.facts(a).shares_no_bits(self.facts(b)))
    }

    /// The quotient rounded towards zero, or its remainder, which has the sign of the dividend: C's `/` and `%` by
    /// floor divisions.
    ///
    /// Where the quotient is negative and not an integer, the truncated quotient is one more than the floor, and its
    /// remainder is less by the divisor. Elsewhere they agree. The correction is left out where the ranges show that it
    /// is never needed. A dividend that is always nearer to 0 than the divisor is its own remainder.
    // Proved: `truncated`, `rounds_alike`, `truncated_small` in `proofs/Rounding.v`.
    fn truncated(&mut self, op: Binary, a: Expr, b: Expr) -> Result<Expr, Error> {
        let ((low, high), (least, most)) = (self.range(a), self.range(b));
        let nearest = if least > 0 { least.unsigned_abs() } else { most.min(0).unsigned_abs() };
        if low.unsigned_abs().max(high.unsigned_abs()) < nearest {
            return Ok(if op == Binary::Mod { a } else { self.int(0) });
        }
        if let Node::Int(by) = self.node(b)
            && let Some(size) = by.checked_abs().filter(|size| *size > 0)
            && let Ok(found) = self.truncated_by(op, a, size, by < 0)
        {
            return Ok(found);
        }
        let floor = self.binary(op, a, b)?;
        let rest = self.binary(Binary::Mod, a, b)?;
        if self.quotient_is_positive(a, b) || self.range(rest) == (0, 0) {
            return Ok(floor);
        }
        let (zero, one) = (self.int(0), self.int(1));
        let side = if self.range(b).0 > 0 { Binary::Lt } else { Binary::Gt };
        let negative = self.binary(side, a, zero)?;
        let uneven = self.binary(Binary::Ne, rest, zero)?;
        let differs = self.binary(Binary::And, negative, uneven)?;
        let rounded_up = match op {
            Binary::Div => self.binary(Binary::Add, floor, one)?,
            _ => self.binary(Binary::Sub, floor, b)?,
        };
        self.select(differs, rounded_up, floor)
    }

    /// The same for a divisor that is a constant, given as its size and its sign: a dividend that is negative is raised, so
    /// that rounding down rounds towards zero. `(x + (d - 1 if x < 0 else 0)) // d` has one division, and the remainder, which
    /// does not depend on the sign of the divisor, is what it leaves.
    // Proved: `raised_by_sign`, `truncated_signs`, `rounds_alike` in `proofs/Rounding.v`.
    fn truncated_by(&mut self, op: Binary, a: Expr, size: i64, negative: bool) -> Result<Expr, Error> {
        // The truncated quotient of one is that by the product of both divisors.
        let whole = self.as_truncated(a).and_then(|(whole, by)| Some((whole, by.checked_mul(size)?)));
        if let Some((whole, size)) = whole
            && op == Binary::Div
        {
            return self.truncated_by(op, whole, size, negative);
        }
        let (zero, divisor, (low, high)) = (self.int(0), self.int(size), self.range(a));
        let rest = self.binary(Binary::Mod, a, divisor)?;
        let quotient = match () {
            () if self.range(rest) == (0, 0) && op == Binary::Mod => return Ok(zero),
            () if self.range(rest) == (0, 0) => self.binary(Binary::Div, a, divisor)?,
            () if low >= 0 && op == Binary::Mod => return Ok(rest),
            () if low >= 0 => self.binary(Binary::Div, a, divisor)?,
            () if high <= 0 => {
                let minus = self.binary(Binary::Sub, zero, a)?;
                let of_minus = self.binary(op, minus, divisor)?;
                if op == Binary::Div && negative {
                    return Ok(of_minus);
                }
                return self.binary(Binary::Sub, zero, of_minus);
            }
            () => {
                let (is_negative, more) = (self.binary(Binary::Lt, a, zero)?, self.int(size - 1));
                let raise = self.select(is_negative, more, zero)?;
                let raised = self.binary(Binary::Add, a, raise)?;
                let found = self.binary(op, raised, divisor)?;
                // What was added is not part of the remainder; so its range is seen.
                if op == Binary::Mod {
                    return self.binary(Binary::Sub, found, raise);
                }
                found
            }
        };
        if negative { self.binary(Binary::Sub, zero, quotient) } else { Ok(quotient) }
    }

    /// The dividend and the divisor of a quotient that [`Graph::truncated_by`] made of a dividend of both signs.
    // Proved: `truncated_twice` in `proofs/Rounding.v`.
    fn as_truncated(&self, expr: Expr) -> Option<(Expr, i64)> {
        let Node::Binary(Binary::Div, raised, divisor) = self.node(expr) else { return None };
        let (Node::Binary(Binary::Add, whole, raise), Node::Int(by @ 1..)) = (self.node(raised), self.node(divisor))
        else {
            return None;
        };
        let Node::Select(is_negative, more, zero) = self.node(raise) else { return None };
        let Node::Binary(Binary::Lt, compared, than) = self.node(is_negative) else { return None };
        let is_zero = |expr: Expr| self.node(expr) == Node::Int(0);
        (compared == whole && is_zero(than) && is_zero(zero) && self.node(more) == Node::Int(by - 1))
            .then_some((whole, by))
    }

    /// The quotient rounded up.
    // Proved: `rounded_up` in `proofs/Rounding.v`.
    fn rounded_up(&mut self, a: Expr, b: Expr) -> Result<Expr, Error> {
        if self.range(b).0 > 0 {
            let one = self.int(1);
            let less = self.binary(Binary::Sub, b, one)?;
            let raised = self.binary(Binary::Add, a, less)?;
            return self.binary(Binary::Div, raised, b);
        }
        // Of the negated dividend the quotient is rounded the other way.
        let zero = self.int(0);
        let negated = self.binary(Binary::Sub, zero, a)?;
        let quotient = self.binary(Binary::Div, negated, b)?;
        self.binary(Binary::Sub, zero, quotient)
    }

    /// A condition for the numbers 1 and 0, as which compilers write what is always and never so; anything else as it is.
    ///
    /// ```
    /// let mut graph = indexpr::Graph::new();
    /// let one = graph.int(1);
    /// assert_eq!(graph.condition(one), graph.bool(true));
    /// ```
    pub fn condition(&mut self, expr: Expr) -> Expr {
        match self.node(expr) {
            Node::Int(value @ 0..=1) => self.bool(value == 1),
            _ => expr,
        }
    }

    /// Whether a quotient is known never to be negative: rounding down and rounding towards zero then agree.
    pub(crate) fn quotient_is_positive(&self, a: Expr, b: Expr) -> bool {
        let (low, high) = self.range(a);
        if self.range(b).0 > 0 { low >= 0 } else { high <= 0 }
    }
}
