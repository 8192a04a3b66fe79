//! Affine maps and sets of MLIR. Its affine expressions are quasi-affine: `floordiv` and `mod` by positive constants
//! are among them, and both round down. They are single expressions, without names for shared parts.

use super::language::{Reason, Unsupported};
use super::loops::Part;
use super::nest::{Asked, Placed, filled};
use crate::constants::{constant, literal, parts};
use crate::graph::{Binary, Expr, Graph, Map, Node, Sort};
use crate::nest::{Levels, Mistake, Nest};

/// The most operations that one expression may have written out: a shared part is repeated at each use, which can grow
/// exponentially.
const MOST: usize = 1000;

/// A map for each number and a set for each condition, over the variables given, of which those from `loops` on are
/// symbols: fixed, so that what is multiplied or divided by them is semi-affine.
pub(super) fn code(
    graph: &Graph,
    variables: &[&str],
    loops: usize,
    named: &[(&str, Expr)],
) -> Result<String, Unsupported> {
    let mut dims = format!("({})", variables[..loops].join(", "));
    if loops < variables.len() {
        dims += &format!("[{}]", variables[loops..].join(", "));
    }
    let mut text = String::new();
    for (name, expr) in named {
        let affine = Affine::new(graph, *expr, |place| place < loops)?;
        text += &match graph.sort(*expr) {
            Sort::Number => format!("#{name} = affine_map<{dims} -> ({})>\n", affine.texts[expr].0),
            Sort::Condition => format!("#{name} = affine_set<{dims} : ({})>\n", affine.constraints(*expr)?),
        };
    }
    Ok(text)
}

/// One map of several results, as the attribute that MLIR prints.
pub(super) fn map(graph: &Graph, results: &[Expr]) -> Result<String, Unsupported> {
    let variables: Vec<&str> = graph.variables().iter().map(|variable| &variable.name[..]).collect();
    let mut texts = Vec::with_capacity(results.len());
    for result in results {
        if graph.sort(*result) != Sort::Number {
            return Err(Reason::NotAffine { what: "a condition", instead: "give it a set of its own" }.into());
        }
        let affine = Affine::new(graph, *result, |_| true)?;
        texts.push(affine.texts[result].0.clone());
    }
    Ok(format!("affine_map<({}) -> ({})>", variables.join(", "), texts.join(", ")))
}

/// A nest as loops of the affine dialect, around a body.
pub(super) fn nest(nest: &Nest, levels: &Levels, asked: &[Asked], placed: &[Placed]) -> Result<String, Unsupported> {
    let writer = Nested { nest, levels, asked, placed, outer: levels.around_reduced(), lines: String::new() };
    Ok(writer.written()?)
}

struct Nested<'a> {
    nest: &'a Nest,
    levels: &'a Levels,
    asked: &'a [Asked],
    placed: &'a [Placed],
    outer: Vec<bool>,
    lines: String,
}

impl Nested<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        self.lines += &format!("{}{line}\n", "    ".repeat(depth));
    }

    /// What a map or a set is over, and what it is applied to: the loops and parameters that expressions depend on.
    fn operands(&self, exprs: &[Expr]) -> (String, String) {
        let graph = self.levels.graph();
        let (mut loops, mut symbols) = (Vec::new(), Vec::new());
        for part in parts(graph, exprs).into_iter().filter(|part| constant(graph, *part).is_none()) {
            if let Node::Variable(place) = graph.node(part) {
                let name = graph.variables()[place].name.clone();
                if self.is_loop(place) { loops.push(name) } else { symbols.push(name) }
            }
        }
        let list = |names: &[String], sigil: &str| {
            names.iter().map(|name| format!("{sigil}{name}")).collect::<Vec<String>>().join(", ")
        };
        let both = |sigil: &str| match symbols.is_empty() {
            true => format!("({})", list(&loops, sigil)),
            false => format!("({})[{}]", list(&loops, sigil), list(&symbols, sigil)),
        };
        (both(""), both("%"))
    }

    fn is_loop(&self, place: usize) -> bool {
        place >= self.nest.parameters().len()
    }

    fn map(&self, exprs: &[Expr]) -> Result<String, Reason> {
        let (dims, operands) = self.operands(exprs);
        let mut results = Vec::new();
        for expr in exprs {
            let affine = Affine::new(self.levels.graph(), *expr, |place| self.is_loop(place))?;
            results.push(affine.texts[expr].0.clone());
        }
        Ok(format!("affine_map<{dims} -> ({})>{operands}", results.join(", ")))
    }

    /// A bound of a loop: the largest of several, or the smallest.
    fn bound(&self, expr: Expr, op: Binary) -> Result<String, Reason> {
        let graph = self.levels.graph();
        if let Some(Node::Int(value)) = literal(graph, expr) {
            return Ok(value.to_string());
        }
        let (mut exprs, mut pending) = (Vec::new(), vec![expr]);
        while let Some(expr) = pending.pop() {
            match graph.node(expr) {
                Node::Binary(other, a, b) if other == op => pending.extend([b, a]),
                _ => exprs.push(expr),
            }
        }
        let name = if op == Binary::Max { "max" } else { "min" };
        let map = self.map(&exprs)?;
        Ok(if exprs.len() > 1 { format!("{name} {map}") } else { map })
    }

    /// What a body asks for, each defined in the level that knows it.
    fn written(mut self) -> Result<String, Reason> {
        enum Step {
            Open(usize),
            After(usize),
            Close(usize),
        }
        let known = self.levels.levels_of(&self.asked.iter().map(|asked| asked.expr).collect::<Vec<Expr>>());
        let mut titles: Vec<(String, Option<Expr>)> = Vec::new();
        for asked in self.asked {
            let graph = self.levels.graph();
            titles.push(match (literal(graph, asked.expr), graph.node(asked.expr)) {
                (Some(Node::Bool(value)), _) => (value.to_string(), None),
                _ if asked.guard || graph.is_condition(asked.expr) => {
                    return Err(Mistake::GuardAsValue { name: asked.name[..].into() }.into());
                }
                (_, Node::Variable(place)) => (format!("%{}", graph.variables()[place].name), None),
                _ => {
                    let same = self
                        .asked
                        .iter()
                        .zip(&titles)
                        .find(|(other, (_, expr))| other.title == asked.title && *expr == Some(asked.expr));
                    let taken = |title: &String| titles.iter().any(|(other, _)| other == title);
                    let mut title = format!("%{}", asked.title);
                    match same {
                        Some((_, (title, _))) => (title.clone(), Some(asked.expr)),
                        None => {
                            let mut number = 0;
                            while taken(&title) || graph.variable_named(&title[1..]).is_some() {
                                number += 1;
                                title = format!("%{}_{number}", asked.title);
                            }
                            (title, Some(asked.expr))
                        }
                    }
                }
            });
        }
        let is_first = |at: usize| titles[..at].iter().all(|(title, _)| *title != titles[at].0);
        let defined: Vec<usize> = (0..titles.len()).filter(|at| titles[*at].1.is_some() && is_first(*at)).collect();
        let (asked, placed) = (self.asked, self.placed);
        let body = |level: usize, part: Part| filled(placed, asked, level, part, &|at| &titles[at].0);
        let (mut pending, mut depth) = (vec![Step::Open(0)], 0);
        while let Some(step) = pending.pop() {
            match step {
                Step::Open(at) => {
                    let level = &self.levels.all()[at];
                    if let Some(header) = &level.header
                        && let Node::Variable(place) = self.levels.graph().node(header.variable)
                    {
                        let name = self.levels.graph().variables()[place].name.clone();
                        let (begin, end) =
                            (self.bound(header.begin, Binary::Max)?, self.bound(header.end, Binary::Min)?);
                        self.line(depth, &format!("affine.for %{name} = {begin} to {end} {{"));
                        depth += 1;
                        pending.push(Step::Close(depth - 1));
                    }
                    for &one in defined.iter().filter(|one| known[**one] == at) {
                        let (title, expr) = &titles[one];
                        if let Some(expr) = expr {
                            let map = self.map(&[*expr])?;
                            self.line(depth, &format!("{title} = affine.apply {map}"));
                        }
                    }
                    if self.outer[at] {
                        let lines = body(at, Part::Before);
                        lines.lines().for_each(|line| self.line(depth, line));
                        pending.push(Step::After(at));
                    }
                    if let Some(condition) = self.levels.all()[at].condition {
                        let (dims, operands) = self.operands(&[condition]);
                        let affine = Affine::new(self.levels.graph(), condition, |place| self.is_loop(place))?;
                        let set = format!("affine_set<{dims} : ({})>", affine.constraints(condition)?);
                        self.line(depth, &format!("affine.if {set}{operands} {{"));
                        depth += 1;
                        pending.push(Step::Close(depth - 1));
                    }
                    if self.levels.all()[at].is_innermost {
                        let lines = body(at, Part::Inner);
                        lines.lines().for_each(|line| self.line(depth, line));
                    }
                    pending.extend(self.levels.within(at).rev().map(Step::Open));
                }
                Step::After(at) => {
                    let lines = body(at, Part::After);
                    lines.lines().for_each(|line| self.line(depth, line));
                }
                Step::Close(to) => {
                    depth = to;
                    self.line(depth, "}");
                }
            }
        }
        Ok(self.lines)
    }
}

/// The texts of the numbers that an expression is made of.
struct Affine<'g> {
    graph: &'g Graph,
    /// Each as text, and whether that is a sum, which needs parentheses as an operand of anything but a sum.
    texts: Map<Expr, (String, bool)>,
    /// The numbers that depend on no loop: literals and what is made of symbols.
    symbolic: Map<Expr, bool>,
}

impl Affine<'_> {
    fn new(graph: &Graph, of: Expr, is_loop: impl Fn(usize) -> bool) -> Result<Affine<'_>, Reason> {
        let mut affine = Affine { graph, texts: Map::default(), symbolic: Map::default() };
        let mut sizes: Map<Expr, usize> = Map::default();
        for part in parts(graph, &[of]) {
            let operands = graph.node(part).operands().filter(|_| literal(graph, part).is_none());
            let size = operands.map(|operand| sizes[&operand]).fold(1, usize::saturating_add);
            if size > MOST {
                return Err(Reason::TooLong { most: MOST });
            }
            sizes.insert(part, size);
            let is_symbolic = match literal(graph, part).unwrap_or_else(|| graph.node(part)) {
                Node::Variable(place) => !is_loop(place),
                node => node.operands().all(|operand| affine.symbolic[&operand]),
            };
            affine.symbolic.insert(part, is_symbolic);
            if graph.sort(part) == Sort::Number {
                let text = affine.number(part)?;
                affine.texts.insert(part, text);
            }
        }
        Ok(affine)
    }

    /// A number as text, of operands that have theirs already; an error where it is not quasi-affine.
    fn number(&self, expr: Expr) -> Result<(String, bool), Reason> {
        let tight = |expr: Expr| match &self.texts[&expr] {
            (text, true) => format!("({text})"),
            (text, false) => text.clone(),
        };
        let loose = |expr: Expr| &self.texts[&expr].0;
        // Behind another operator of the same precedence everything but a name needs parentheses.
        let factor = |expr: Expr| match loose(expr) {
            text if text.contains(' ') => format!("({text})"),
            text => text.clone(),
        };
        let value = |expr: Expr| match literal(self.graph, expr) {
            Some(Node::Int(value)) => Some(value),
            _ => None,
        };
        Ok(match literal(self.graph, expr).unwrap_or_else(|| self.graph.node(expr)) {
            Node::Int(value) => (value.to_string(), false),
            Node::Variable(variable) => (self.graph.variables()[variable].name.clone(), false),
            Node::Binary(op, a, b) => match (op, value(a), value(b)) {
                (Binary::Add, _, Some(0)) | (Binary::Mul | Binary::Div, _, Some(1)) => self.texts[&a].clone(),
                (Binary::Add, Some(0), _) | (Binary::Mul, Some(1), _) => self.texts[&b].clone(),
                (Binary::Sub, Some(0), _) => (format!("-{}", tight(b)), true),
                (Binary::Add, _, Some(b @ ..0)) => (format!("{} - {}", loose(a), b.unsigned_abs()), true),
                (Binary::Add, ..) => (format!("{} + {}", loose(a), loose(b)), true),
                (Binary::Sub, _, Some(b @ ..0)) => (format!("{} + {}", loose(a), b.unsigned_abs()), true),
                (Binary::Sub, ..) => (format!("{} - {}", loose(a), tight(b)), true),
                (Binary::Mul, _, Some(b)) => (format!("{} * {b}", tight(a)), false),
                (Binary::Mul, Some(a), _) => (format!("{} * {a}", tight(b)), false),
                (Binary::Div, _, Some(b @ 1..)) => (format!("{} floordiv {b}", tight(a)), false),
                (Binary::Mod, _, Some(b @ 1..)) => (format!("{} mod {b}", tight(a)), false),
                (Binary::Mul, ..) if self.symbolic[&b] => (format!("{} * {}", tight(a), factor(b)), false),
                (Binary::Mul, ..) if self.symbolic[&a] => (format!("{} * {}", tight(b), factor(a)), false),
                (Binary::Div, ..) if self.is_divisor(b) => (format!("{} floordiv {}", tight(a), factor(b)), false),
                (Binary::Mod, ..) if self.is_divisor(b) => (format!("{} mod {}", tight(a), factor(b)), false),
                (Binary::Mul, ..) => {
                    return Err(Reason::NotAffine {
                        what: "the product of two values that vary",
                        instead: "multiply by a constant, or choose a language that has products",
                    });
                }
                (Binary::Div | Binary::Mod, ..) => {
                    return Err(Reason::NotAffine {
                        what: "division by anything but a positive constant",
                        instead: "divide by such a constant, or choose a language that has divisions",
                    });
                }
                (Binary::Xor, ..) => {
                    return Err(Reason::NotAffine {
                        what: "an exclusive or",
                        instead: "give each operand a map of its own, for `arith.xori`",
                    });
                }
                _ => {
                    return Err(Reason::NotAffine {
                        what: "a minimum or a maximum",
                        instead: "give each operand a map of its own, for `affine.min` or `affine.max`",
                    });
                }
            },
            _ => {
                return Err(Reason::NotAffine {
                    what: "a choice between two values",
                    instead: "give each a map of its own, for `arith.select`",
                });
            }
        })
    }

    /// Whether semi-affine expressions may be divided by a number: it depends on symbols alone, and is positive.
    fn is_divisor(&self, expr: Expr) -> bool {
        self.symbolic[&expr] && self.graph.range(expr).0 > 0
    }

    /// A condition as the constraints of a set: sums that must be at least 0, or 0. A set is a conjunction, so
    /// negations are moved inwards to the comparisons, and a disjunction that is left is an error.
    fn constraints(&self, condition: Expr) -> Result<String, Reason> {
        let graph = self.graph;
        let mut constraints = Vec::new();
        // A stack of conditions, and whether each is negated.
        let mut pending = vec![(condition, false)];
        while let Some((expr, opposite)) = pending.pop() {
            match literal(graph, expr).unwrap_or_else(|| graph.node(expr)) {
                Node::Bool(value) if value != opposite => {}
                Node::Bool(_) => return Ok("1 == 0".into()),
                Node::Not(a) => pending.push((a, !opposite)),
                Node::Binary(Binary::And, a, b) if !opposite => pending.extend([(b, false), (a, false)]),
                Node::Binary(Binary::Or, a, b) if opposite => pending.extend([(b, true), (a, true)]),
                Node::Within(a, begin, end) if !opposite => {
                    let (low, high) = graph.range(a);
                    if begin > low {
                        constraints.push(self.not_negative(Some(a), None, -i128::from(begin)));
                    }
                    if end <= high {
                        constraints.push(self.not_negative(None, Some(a), i128::from(end) - 1));
                    }
                }
                Node::Binary(op, a, b) => constraints.push(match (op, opposite) {
                    (Binary::Lt, false) | (Binary::Ge, true) => self.not_negative(Some(b), Some(a), -1),
                    (Binary::Le, false) | (Binary::Gt, true) => self.not_negative(Some(b), Some(a), 0),
                    (Binary::Gt, false) | (Binary::Le, true) => self.not_negative(Some(a), Some(b), -1),
                    (Binary::Ge, false) | (Binary::Lt, true) => self.not_negative(Some(a), Some(b), 0),
                    (Binary::Eq, false) | (Binary::Ne, true) => self.difference(Some(a), Some(b), 0) + " == 0",
                    _ => return Err(DISJUNCTION),
                }),
                _ => return Err(DISJUNCTION),
            }
        }
        Ok(if constraints.is_empty() { "0 == 0".into() } else { constraints.join(", ") })
    }

    /// The constraint that a difference is at least 0.
    fn not_negative(&self, plus: Option<Expr>, minus: Option<Expr>, constant: i128) -> String {
        self.difference(plus, minus, constant) + " >= 0"
    }

    /// The text of `plus - minus + constant`, with all constants merged.
    fn difference(&self, plus: Option<Expr>, minus: Option<Expr>, mut constant: i128) -> String {
        let mut vary = |expr: Option<Expr>, sign: i128| match literal(self.graph, expr?) {
            Some(Node::Int(value)) => {
                constant += i128::from(value) * sign;
                None
            }
            _ => Some(&self.texts[&expr?]),
        };
        let (plus, minus) = (vary(plus, 1), vary(minus, -1));
        let minus = minus.map(|(text, is_sum)| if *is_sum { format!("({text})") } else { text.clone() });
        match (plus, minus, constant) {
            (Some((plus, _)), None, 0) => plus.clone(),
            (Some((plus, _)), None, 1..) => format!("{plus} + {constant}"),
            (Some((plus, _)), None, _) => format!("{plus} - {}", -constant),
            (Some((plus, _)), Some(minus), 0) => format!("{plus} - {minus}"),
            (Some((plus, _)), Some(minus), 1..) => format!("{plus} - {minus} + {constant}"),
            (Some((plus, _)), Some(minus), _) => format!("{plus} - {minus} - {}", -constant),
            (None, Some(minus), 0) => format!("-{minus}"),
            (None, Some(minus), _) => format!("{constant} - {minus}"),
            (None, None, _) => constant.to_string(),
        }
    }
}

const DISJUNCTION: Reason = Reason::NotAffine {
    what: "a disjunction",
    instead: "give each case a set of its own, or choose a language that has conditions",
};
