//! Writes a lowered program as statements in a language that looks like C, more or less.
//!
//! Three things give an operation a name of its own: a use count above one (common subexpressions are computed once), a
//! use inside a loop that it does not depend on (loop-invariant code motion), and depth.

use shapetracker_base::list::sort_short_by_key;

use super::lower::{Call, Dialect, Infix, Op, Place, Program};
use crate::graph::Map;
use crate::lines::{self, Use};

/// The depth from which a part of an expression gets a name: compilers limit how deep parentheses may nest (C promises
/// 63 levels), and readers do, too.
const DEEPEST: usize = 50;

/// An output of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Root<'a> {
    /// A statement that defines a name.
    Named(&'a str, Place),
    /// A text that the caller puts into the innermost loop.
    Inline(Place),
}

/// A definition, and the number of loops that it stands in.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) level: usize,
    pub(super) text: String,
}

/// The text of an expression.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) binds: Binds,
    /// The type that the text has where it stands, as far as [`Writer::signs`] asks.
    sign: Sign,
}

/// The type of the numbers of a text: what C's conversions make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    /// That of the other operand: a literal that is not negative. Conditions and texts in languages without unsigned
    /// numbers are counted among them.
    Any,
    Signed,
    /// Beside it, signed numbers are converted.
    Unsigned,
}

/// How an operation comes to have the type of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Typed {
    /// It need not, or has it without a cast.
    Never,
    /// An operand has it.
    Already,
    /// By a cast of this operand.
    By(Place),
}

/// How tightly the outermost operator of a text binds; a text that binds less tightly than its place demands is put
/// into parentheses. `Loose` is for operators whose precedence the languages disagree on (shifts, masks, choices): it
/// gets parentheses wherever it is an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binds {
    Loose,
    Or,
    And,
    Compare,
    Sum,
    Product,
    Unary,
    Primary,
}

use Binds::{And, Compare, Loose, Or, Primary, Product, Sum, Unary};

/// Writes what a program computes.
pub(super) struct Writer<'a> {
    pub(super) program: &'a Program,
    /// The name of each variable.
    pub(super) variables: &'a [&'a str],
    /// For each variable the depth of its loop, counted from 1, and 0 for a loop that is not written: what depends on
    /// the variable can stand no further out. Empty where there are no loops at all.
    pub(super) levels: &'a [usize],
    /// Whether the variables may be of another type than the numbers of the program, because someone else declares them.
    pub(super) foreign: bool,
}

impl Text {
    /// A text whose outermost operator binds this tightly.
    pub(super) fn new(text: impl Into<String>, binds: Binds) -> Text {
        Text { text: text.into(), binds, sign: Sign::Any }
    }

    /// The text as a number of the type of the program.
    fn typed(self, program: &Program) -> Text {
        let sign = self.sign;
        self.cast(sign, program)
    }

    /// The text as a number of this type.
    fn cast(self, sign: Sign, program: &Program) -> Text {
        let text = format!("({}){}", program.type_of(sign == Sign::Unsigned), self.operand(Unary));
        Text { sign, ..Text::new(text, Unary) }
    }

    /// The text as an operand, in parentheses if it binds less tightly than it must.
    pub(super) fn operand(self, must: Binds) -> String {
        if self.binds < must { format!("({})", self.text) } else { self.text }
    }
}

impl Writer<'_> {
    /// The definitions, each before its first use, and the texts of the inline roots.
    ///
    /// An operation that is used more than once gets a name, and so does one that is invariant in a loop that uses it:
    /// its definition then stands outside of that loop ([`Statement::level`]).
    pub(super) fn write(&self, roots: &[Root]) -> (Vec<Statement>, Vec<Text>) {
        let levels = self.levels_of_all();
        let uses = self.uses(roots, &levels);
        let names = self.names(roots, &levels, &uses);
        let (mut statements, mut texts) = (Vec::new(), vec![Text::new("", Primary); levels.len()]);
        let mut define = |place: Place, name: &str, text: &str, is_unsigned: bool| {
            let text = self.program.definition(place, name, text, is_unsigned);
            statements.push(Statement { level: levels[place], text });
        };
        // Which operations are computed in the type of the program, whatever the types of the variables are.
        let mut is_typed = vec![false; levels.len()];
        let is_title = |name: &str| roots.iter().any(|root| matches!(root, Root::Named(title, _) if *title == name));
        for place in (0..levels.len()).filter(|place| uses[*place].count > 0) {
            let op = self.program.op(place);
            let (wanted, sign) = self.signs(place, |operand| texts[operand].sign);
            let typed = self.typed(place, &is_typed);
            is_typed[place] = names[place].is_some() || typed != Typed::Never;
            let mut is_cast = false;
            let text = self.text(op, |operand| {
                // Names and leaves may be used again. Any other text has a use count of 1, so it is moved and not
                // copied, and the time is linear in the length of the code.
                let lasts = names[operand].is_some() || self.program.op(operand).is_leaf();
                let rest = if lasts { texts[operand].clone() } else { Text::new("", Primary) };
                let text = std::mem::replace(&mut texts[operand], rest);
                let sign = wanted.filter(|sign| text.sign != Sign::Any && text.sign != *sign);
                match sign {
                    Some(sign) => text.cast(sign, self.program),
                    // One of two is enough, also where both are the same.
                    None if typed == Typed::By(operand) && !std::mem::replace(&mut is_cast, true) => {
                        text.typed(self.program)
                    }
                    None => text,
                }
            });
            texts[place] = match &names[place] {
                None => Text { sign, ..text },
                Some(name) => {
                    let is_unsigned = self.program.unsigned && self.program.is_natural(place) && !is_title(name);
                    define(place, name, &text.text, is_unsigned);
                    let sign = match self.program.is_condition(place) || !self.program.unsigned {
                        true => Sign::Any,
                        false if is_unsigned => Sign::Unsigned,
                        false => Sign::Signed,
                    };
                    Text { sign, ..Text::new(name, Primary) }
                }
            };
        }
        let mut inline = Vec::new();
        for root in roots {
            match *root {
                Root::Inline(place) => inline.push(texts[place].clone()),
                Root::Named(name, place) if texts[place].text != name => {
                    define(place, name, &texts[place].text, false);
                }
                Root::Named(..) => {}
            }
        }
        (statements, inline)
    }

    /// The number of loops that each operation must stand in: that of the innermost variable that it depends on.
    fn levels_of_all(&self) -> Vec<usize> {
        let mut levels: Vec<usize> = Vec::with_capacity(self.program.len());
        for place in 0..self.program.len() {
            levels.push(match self.program.op(place) {
                Op::Variable(variable) => self.levels.get(variable).copied().unwrap_or(0),
                op => op.operands().map(|operand| levels[operand]).max().unwrap_or(0),
            });
        }
        levels
    }

    /// The names of the operations that have one, numbered in the order of their definitions: by loop level first,
    /// since outer definitions come before inner ones.
    fn names(&self, roots: &[Root], levels: &[usize], uses: &[Use]) -> Vec<Option<String>> {
        let mut titles: Map<Place, &str> = Map::default();
        for root in roots {
            if let Root::Named(name, place) = *root {
                titles.entry(place).or_insert(name);
            }
        }
        let operands = |place: Place| self.program.op(place).operands();
        let mut named = lines::named(uses, DEEPEST, operands, |place| titles.contains_key(&place));
        sort_short_by_key(&mut named, |place| levels[*place]);

        let taken: Vec<&str> = self.variables.iter().chain(titles.values()).copied().collect();
        let latex = self.program.dialect == Dialect::Latex;
        let mut fresh = lines::fresh(&taken, |n| if latex { format!("t_{{{n}}}") } else { format!("t{n}") });
        let mut names = vec![None; levels.len()];
        for place in named {
            names[place] = titles.get(&place).map(|title| title.to_string()).or_else(|| fresh.next());
        }
        names
    }

    /// The use counts of all operations, and which are hoisted. Operands come before what uses them, so one pass from
    /// the last operation to the first meets all uses of an operation before the operation.
    fn uses(&self, roots: &[Root], levels: &[usize]) -> Vec<Use> {
        let mut uses = vec![Use::default(); levels.len()];
        let innermost = self.levels.iter().copied().max().unwrap_or(0);
        for root in roots {
            let (Root::Named(_, place) | Root::Inline(place)) = *root;
            uses[place].count += 1;
            uses[place].hoisted |= matches!(root, Root::Inline(_)) && levels[place] < innermost;
        }
        for place in (0..levels.len()).rev() {
            if uses[place].count > 0 {
                for operand in self.program.op(place).operands() {
                    uses[operand].count += 1;
                    uses[operand].hoisted |= levels[operand] < levels[place];
                }
            }
        }
        uses
    }

    /// The type that an operation must have its operands in, if it is not content with any, and the type of what is
    /// written then. Only where natural numbers are unsigned; elsewhere there is one type.
    ///
    /// Sums, differences and products are the same modulo `2^bits` in both types, so that they are written without
    /// casts: they are unsigned as soon as one operand is, and a negative value then stands there as its residue. Beside a
    /// negative literal they are signed, so that it is not converted. A quotient, a shift to the right or a comparison needs the true values. These are what the unsigned type has if no
    /// operand is ever negative, and what the signed type has always, since the width was chosen so that all values fit.
    /// A residue that is assigned to a signed variable or cast to its type becomes the true value again, as every
    /// compiler converts and C23 and C++20 demand.
    fn signs(&self, place: Place, sign: impl Fn(Place) -> Sign) -> (Option<Sign>, Sign) {
        if !self.program.unsigned {
            return (None, Sign::Any);
        }
        let is_natural = |place: Place| self.program.is_natural(place);
        let true_values = |a: Place, b: Place, natural: Sign| match is_natural(a) && is_natural(b) {
            true => natural,
            false => Sign::Signed,
        };
        match self.program.op(place) {
            Op::Int(..0) => (None, Sign::Signed),
            Op::Variable(_) if !is_natural(place) => (None, Sign::Signed),
            Op::Variable(_) => (None, Sign::Unsigned),
            Op::Negative(a) | Op::Infix(Infix::Mask, a, _) => (None, sign(a)),
            // A negative literal is not converted: nvcc warns of that.
            Op::Infix(Infix::Add | Infix::Sub | Infix::Mul | Infix::Xor, a, b)
                if [a, b].into_iter().any(|operand| matches!(self.program.op(operand), Op::Int(..0))) =>
            {
                (Some(Sign::Signed), Sign::Signed)
            }
            Op::Infix(Infix::Add | Infix::Sub | Infix::Mul | Infix::Xor, a, b) => (None, sign(a).max(sign(b))),
            Op::Infix(Infix::Div | Infix::Mod | Infix::Shift, a, b) => {
                let sign = true_values(a, b, Sign::Unsigned);
                (Some(sign), sign)
            }
            Op::Infix(infix, a, b) if infix < Infix::And => (Some(true_values(a, b, sign(a).max(sign(b)))), Sign::Any),
            Op::Select(_, a, b) => {
                let sign = true_values(a, b, sign(a).max(sign(b)));
                (Some(sign), sign)
            }
            _ => (None, Sign::Any),
        }
    }

    /// How an operation comes to be computed in 64 bits, where variables of fewer may be declared around the code. C and its
    /// relatives compute a product of two `int` in an `int`, whatever it is assigned to, so that the first operand is
    /// cast where none has the type of the program yet. Only numbers of 64 bits are cast: of fewer there are all that the
    /// values need in an `int`, to which C promotes whatever is shorter.
    fn typed(&self, place: Place, is_typed: &[bool]) -> Typed {
        if !self.foreign || !self.program.wide || !self.program.dialect.is_c() {
            return Typed::Never;
        }
        let is_literal = |place: &Place| matches!(self.program.op(*place), Op::Int(_));
        let (a, b) = match self.program.op(place) {
            // The type of a shift is that of what is shifted.
            Op::Infix(Infix::Shift, a, _) | Op::Negative(a) => (a, a),
            Op::Infix(infix, a, b) if infix < Infix::Lt => (a, b),
            Op::Select(_, a, b) if !self.program.is_condition(a) => (a, b),
            // What is compared is not computed: the numbers are what they are.
            _ => return Typed::Never,
        };
        if is_typed[a] || is_typed[b] {
            return Typed::Already;
        }
        [a, b].into_iter().find(|operand| !is_literal(operand)).map_or(Typed::Never, Typed::By)
    }

    /// The text of an operation, of operands that `take` gives.
    fn text(&self, op: Op, mut take: impl FnMut(Place) -> Text) -> Text {
        let dialect = self.program.dialect;
        let is_int = |place: Place| matches!(self.program.op(place), Op::Int(_));
        let mut operand = |place: Place, must: Binds| take(place).operand(must);
        match op {
            Op::Int(value) => dialect.number(value),
            Op::Bool(value) => Text::new(dialect.truth(value), Primary),
            // Rust converts nothing by itself. In parentheses, since a `<` after a type would begin its parameters.
            Op::Variable(variable) if dialect == Dialect::Rust && self.foreign && self.program.wide => {
                Text::new(format!("{} as {}", self.variables[variable], self.program.number_type()), Loose)
            }
            Op::Variable(variable) => Text::new(self.variables[variable], Primary),
            Op::Negative(a) => Text::new(format!("-{}", operand(a, Primary)), Unary),
            Op::Not(a) => match dialect {
                Dialect::Python => Text::new(format!("not {}", operand(a, Primary)), Compare),
                Dialect::NumPy => Text::new(format!("~{}", operand(a, Primary)), Unary),
                Dialect::Latex => Text::new(format!("\\lnot {}", operand(a, Primary)), Unary),
                _ => Text::new(format!("!{}", operand(a, Primary)), Unary),
            },
            Op::Infix(Infix::Div, a, b) if dialect == Dialect::Latex => {
                let (a, b) = (operand(a, Loose), operand(b, Loose));
                Text::new(format!(r"\left\lfloor \frac{{{a}}}{{{b}}} \right\rfloor"), Primary)
            }
            // Factors are written side by side if one is a literal: it is put first.
            Op::Infix(Infix::Mul, a, b) if dialect == Dialect::Latex && (is_int(a) || is_int(b)) => {
                let (factor, other) = if is_int(a) { (a, b) } else { (b, a) };
                let binds = if matches!(self.program.op(factor), Op::Int(..0)) { Sum } else { Product };
                Text::new(format!("{} {}", operand(factor, Unary), operand(other, Primary)), binds)
            }
            Op::Infix(infix, a, b) => {
                let (sign, binds) = dialect.sign(infix);
                let same = |place: Place| matches!(self.program.op(place), Op::Infix(op, ..) if op == infix);
                let (left, right) = match infix {
                    Infix::And | Infix::Or if dialect.is_c() => {
                        let must = |is_same: bool| if is_same { Loose } else { Primary };
                        (must(same(a)), must(same(b)))
                    }
                    // `a + (b + c)` needs no parentheses where integers are unbounded. Elsewhere another order of
                    // additions could overflow in between.
                    Infix::Add if dialect.is_exact() => (Sum, Sum),
                    Infix::Add | Infix::Sub => (Sum, Product),
                    Infix::Mod if dialect == Dialect::Latex => (Primary, Primary),
                    Infix::Mul if dialect == Dialect::Latex => (Product, Primary),
                    Infix::Mul | Infix::Div | Infix::Mod => (Product, Unary),
                    Infix::Shift | Infix::Mask | Infix::Xor => (Primary, Primary),
                    Infix::And | Infix::Or => {
                        let must = if dialect == Dialect::NumPy { Primary } else { Compare };
                        (if same(a) { binds } else { must }, if same(b) { binds } else { must })
                    }
                    _ => (Sum, Sum),
                };
                Text::new(format!("{} {sign} {}", operand(a, left), operand(b, right)), binds)
            }
            Op::Call(call, a, b) => {
                let name = match (call, dialect) {
                    (Call::Min, Dialect::NumPy) => "np.minimum",
                    (Call::Max, Dialect::NumPy) => "np.maximum",
                    (Call::Min, Dialect::Latex) => r"\min",
                    (Call::Max, Dialect::Latex) => r"\max",
                    (Call::Min, _) => "min",
                    (Call::Max, _) => "max",
                    (Call::Div, _) => "div_euclid",
                    (Call::Mod, _) => "rem_euclid",
                };
                if dialect != Dialect::Rust {
                    return Text::new(format!("{name}({}, {})", operand(a, Loose), operand(b, Loose)), Primary);
                }
                let receiver = match self.program.op(a) {
                    // A literal has methods only if its type is known.
                    Op::Int(value) => format!("({value}{})", self.program.number_type()),
                    _ => operand(a, Primary),
                };
                Text::new(format!("{receiver}.{name}({})", operand(b, Loose)), Primary)
            }
            Op::Within(a, begin, end) if dialect == Dialect::Rust => {
                Text::new(format!("({begin}..{end}).contains(&{})", operand(a, Unary)), Primary)
            }
            Op::Within(a, begin, end) if dialect == Dialect::Latex => {
                Text::new(format!(r"{begin} \le {} < {end}", operand(a, Sum)), Compare)
            }
            Op::Within(a, begin, end) => Text::new(format!("{begin} <= {} < {end}", operand(a, Sum)), Compare),
            Op::Select(condition, a, b) => match dialect {
                Dialect::Python => {
                    let (a, condition, b) = (operand(a, Or), operand(condition, Or), operand(b, Or));
                    Text::new(format!("{a} if {condition} else {b}"), Loose)
                }
                Dialect::Latex => {
                    let (a, condition, b) = (operand(a, Loose), operand(condition, Loose), operand(b, Loose));
                    let cases = format!(r"{a} & \text{{if }} {condition} \\ {b} & \text{{otherwise}}");
                    Text::new(format!(r"\begin{{cases}} {cases} \end{{cases}}"), Loose)
                }
                Dialect::NumPy => {
                    let (condition, a, b) = (operand(condition, Loose), operand(a, Loose), operand(b, Loose));
                    Text::new(format!("np.where({condition}, {a}, {b})"), Primary)
                }
                Dialect::Wgsl => {
                    let (condition, a, b) = (operand(condition, Loose), operand(a, Loose), operand(b, Loose));
                    Text::new(format!("select({b}, {a}, {condition})"), Primary)
                }
                Dialect::Rust => {
                    let (condition, a, b) = (operand(condition, Loose), operand(a, Loose), operand(b, Loose));
                    Text::new(format!("if {condition} {{ {a} }} else {{ {b} }}"), Loose)
                }
                _ => {
                    let (condition, a, b) = (operand(condition, Or), operand(a, Or), operand(b, Or));
                    Text::new(format!("{condition} ? {a} : {b}"), Loose)
                }
            },
        }
    }
}

impl Dialect {
    /// A literal number.
    pub(super) fn number(self, value: i64) -> Text {
        match value {
            // The sign is no part of the literal in C, and the number without it is too large.
            i64::MIN if !self.is_exact() && self != Dialect::Rust => Text::new("(-9223372036854775807 - 1)", Primary),
            ..0 => Text::new(value.to_string(), Unary),
            _ => Text::new(value.to_string(), Primary),
        }
    }

    /// A literal truth value.
    pub(super) fn truth(self, value: bool) -> &'static str {
        match (self, value) {
            (Dialect::Python | Dialect::NumPy, true) => "True",
            (Dialect::Python | Dialect::NumPy, false) => "False",
            (Dialect::C, true) => "1",
            (Dialect::C, false) => "0",
            (Dialect::Latex, true) => r"\top",
            (Dialect::Latex, false) => r"\bot",
            (_, true) => "true",
            (_, false) => "false",
        }
    }

    /// The operator between two operands, and how tightly it binds.
    fn sign(self, infix: Infix) -> (&'static str, Binds) {
        match infix {
            Infix::Mul if self == Dialect::Latex => (r"\cdot", Product),
            Infix::Mod if self == Dialect::Latex => (r"\bmod", Loose),
            Infix::Xor if self == Dialect::Latex => (r"\oplus", Loose),
            Infix::Le if self == Dialect::Latex => (r"\le", Compare),
            Infix::Ge if self == Dialect::Latex => (r"\ge", Compare),
            Infix::Eq if self == Dialect::Latex => ("=", Compare),
            Infix::Ne if self == Dialect::Latex => (r"\ne", Compare),
            Infix::Add => ("+", Sum),
            Infix::Sub => ("-", Sum),
            Infix::Mul => ("*", Product),
            Infix::Div if matches!(self, Dialect::Python | Dialect::NumPy) => ("//", Product),
            Infix::Div => ("/", Product),
            Infix::Mod => ("%", Product),
            Infix::Shift => (">>", Loose),
            Infix::Mask => ("&", Loose),
            Infix::Xor => ("^", Loose),
            Infix::Lt => ("<", Compare),
            Infix::Le => ("<=", Compare),
            Infix::Gt => (">", Compare),
            Infix::Ge => (">=", Compare),
            Infix::Eq => ("==", Compare),
            Infix::Ne => ("!=", Compare),
            Infix::And => match self {
                Dialect::Python => ("and", And),
                Dialect::NumPy => ("&", And),
                Dialect::Latex => (r"\land", And),
                _ if self.is_c() => ("&", Loose),
                _ => ("&&", And),
            },
            Infix::Or => match self {
                Dialect::Python => ("or", Or),
                Dialect::NumPy => ("|", Or),
                Dialect::Latex => (r"\lor", Or),
                _ if self.is_c() => ("|", Loose),
                _ => ("||", Or),
            },
        }
    }
}

impl Program {
    /// The type of signed numbers, where types have names.
    pub(super) fn number_type(&self) -> &'static str {
        self.type_of(false)
    }

    /// The type of signed or unsigned numbers, where types have names.
    pub(super) fn type_of(&self, is_unsigned: bool) -> &'static str {
        match (self.dialect, self.wide, is_unsigned) {
            (Dialect::Rust | Dialect::Wgsl, false, _) => "i32",
            (Dialect::Rust | Dialect::Wgsl, true, _) => "i64",
            (_, false, false) => "int",
            (Dialect::C | Dialect::Cuda, true, false) => "long long",
            (_, true, false) => "long",
            (Dialect::C | Dialect::Cuda, false, true) => "unsigned",
            (Dialect::C | Dialect::Cuda, true, true) => "unsigned long long",
            (_, false, true) => "uint",
            (_, true, true) => "ulong",
        }
    }

    /// The statement that defines a name.
    fn definition(&self, place: Place, name: &str, text: &str, is_unsigned: bool) -> String {
        let number = self.type_of(is_unsigned);
        match (self.dialect, self.is_condition(place)) {
            (Dialect::Python | Dialect::NumPy, _) => format!("{name} = {text}"),
            (Dialect::Latex, _) => format!("{name} &= {text}"),
            (Dialect::C, true) => format!("const int {name} = {text};"),
            (Dialect::Rust | Dialect::Wgsl, true) => format!("let {name}: bool = {text};"),
            (Dialect::Rust | Dialect::Wgsl, false) => format!("let {name}: {number} = {text};"),
            (_, true) => format!("const bool {name} = {text};"),
            (_, false) => format!("const {number} {name} = {text};"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Language, Syntax};
    use std::process::Command;

    /// A graph with an index of 64 bits over variables that fit an `int`.
    fn far() -> (Graph, crate::Expr) {
        let mut graph = Graph::new();
        graph.variable("i", 0..3_000_000).unwrap();
        graph.variable("j", -5..2_000_000_000).unwrap();
        let text = "i * 1500 - i // 1500 * 2249999 + (j * j + i) % 1000003 + min(i * 3000, j)";
        let index = graph.parse(text, Syntax::Python).unwrap();
        (graph, index)
    }

    /// Found by outside use: with `int` loops around a line of 64 bits its products overflowed.
    #[test]
    fn lines_of_64_bits_cast_variables_of_any_type() {
        let mut graph = Graph::new();
        graph.variable("i", 0..2).unwrap();
        graph.variable("j", 0..2_000_000_000).unwrap();
        let index = graph.parse("i * 2000000000 + j", Syntax::Python).unwrap();
        let code = |language| graph.code(language, &[("index", index)]).unwrap();
        assert_eq!(code(Language::C), "const long long index = (unsigned long long)i * 2000000000 + j;\n");
        assert_eq!(code(Language::OpenCl), "const long index = (ulong)i * 2000000000 + j;\n");
        assert_eq!(code(Language::Rust), "let index: i64 = (i as i64) * 2000000000 + (j as i64);\n");
    }

    /// The code of 64 bits inside of variables of several types, compiled and run with checks for overflow.
    #[test]
    fn lines_of_64_bits_are_right_for_variables_of_any_type() {
        let (graph, index) = far();
        let code = graph.code(Language::C, &[("index", index)]).unwrap();
        let points: Vec<[i64; 2]> = [0, 1, 1499, 1500, 2_249_999, 2_999_999]
            .into_iter()
            .flat_map(|i| [-5, -1, 0, 7, 1_999_999_999].map(|j| [i, j]))
            .collect();
        let mut program = String::from("#include <stdio.h>\n");
        for (number, (i, j)) in
            [("int", "int"), ("unsigned", "int"), ("long long", "long long"), ("int", "long")].into_iter().enumerate()
        {
            program += &format!("static long long f{number}({i} i, {j} j) {{\n{code}return index;\n}}\n");
        }
        program += "int main(void) {\n";
        let mut expected = String::new();
        for [i, j] in points {
            for number in 0..4 {
                program += &format!("printf(\"%lld\\n\", f{number}({i}, {j}));\n");
                expected += &format!("{}\n", graph.evaluate(index, &[i, j]).unwrap());
            }
        }
        program += "return 0;\n}\n";
        let folder = std::env::temp_dir().join(format!("indexpr-casts-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (source, binary) = (folder.join("casts.c"), folder.join("casts"));
        std::fs::write(&source, program).unwrap();
        let flags = ["-std=c99", "-Wall", "-fsanitize=undefined", "-fno-sanitize-recover=undefined", "-o"];
        let compiled = Command::new("cc").args(flags).arg(&binary).arg(&source).output();
        let Ok(compiled) = compiled else {
            println!("skipped: there is no C compiler");
            return;
        };
        assert!(compiled.status.success(), "{code}{}", String::from_utf8_lossy(&compiled.stderr));
        let ran = Command::new(&binary).output().unwrap();
        assert!(ran.status.success(), "{code}{}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(String::from_utf8_lossy(&ran.stdout), expected, "{code}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
