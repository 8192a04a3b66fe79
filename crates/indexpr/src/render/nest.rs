//! Nests as text: the loops and what is computed in each, around a body that is the caller's.

use super::clike::{Binds, Root, Writer};
use super::kernel::grouped;
use super::language::{Language, Reason, Unsupported};
use super::lower::{Dialect, Op, Program};
use super::mlir;
use super::sized::unreserved;
use crate::constants::{constant, parts};
use crate::graph::{Binary, Expr, Graph, Node};
use crate::nest::{Levels, Nest, Signedness, Width};

/// What a nest does: lines of text in the language that is written, in which names between braces stand for what was computed.
///
/// `{a}` is the index of the access `a`, `{a?}` its guard, as far as loops do not say it; `{v}` is a value of the caller's, or
/// a loop, whether it was split or not. What stands there is a name or a literal. All other braces are what they are.
///
/// ```
/// use indexpr::{Body, Graph, Language, Nest};
///
/// let mut nest = Nest::new(Graph::new());
/// nest.each("i", 4)?;
/// nest.reduce("k", 8)?;
/// let [a, out] = ["i * 8 + k", "i"].map(|text| nest.parse(text).unwrap());
/// nest.access("a", a, None)?;
/// nest.access("out", out, None)?;
/// let body = Body::new("sum += a[{a}];").before("float sum = 0;").after("out[{out}] = sum;");
/// assert_eq!(
///     nest.code(Language::C, &body)?,
///     "\
/// for (int i = 0; i < 4; ++i) {
///     const int t0 = i * 8;
///     const int index_out = i;
///     float sum = 0;
///     for (int k = 0; k < 8; ++k) {
///         const int index_a = t0 + k;
///         sum += a[index_a];
///     }
///     out[index_out] = sum;
/// }
/// ",
/// );
/// assert_eq!(
///     nest.code(Language::C, &Body::new("f({b});")).unwrap_err().to_string(),
///     "body: nothing is called `b`; there are `a`, `out`, `i`, `k`",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Body {
    lines: [String; 3],
}

/// Where lines of a [`Body`] stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Before,
    Inner,
    After,
}

impl Body {
    /// Lines for the innermost loop.
    ///
    /// ```
    /// let _ = indexpr::Body::new("out[{out}] += a[{a}];");
    /// ```
    pub fn new(lines: impl Into<String>) -> Body {
        Body { lines: [String::new(), lines.into(), String::new()] }
    }

    /// The same body with lines that stand before the outermost of the reduced loops that are innermost; before the body
    /// where there are none.
    ///
    /// ```
    /// let _ = indexpr::Body::new("sum += a[{a}];").before("sum = 0;");
    /// ```
    #[must_use]
    pub fn before(mut self, lines: impl Into<String>) -> Body {
        self.lines[0] = lines.into();
        self
    }

    /// The same body with lines that stand after these loops.
    ///
    /// ```
    /// let _ = indexpr::Body::new("sum += a[{a}];").after("out[{out}] = sum;");
    /// ```
    #[must_use]
    pub fn after(mut self, lines: impl Into<String>) -> Body {
        self.lines[2] = lines.into();
        self
    }

    pub(super) fn of(&self, part: Part) -> &str {
        &self.lines[part as usize]
    }
}

/// A piece of a body: text, or what stands between braces and whether the guard is meant.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Name(&'a str, bool),
}

/// A body as its pieces.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut rest, mut begin) = (Vec::new(), text, 0);
    while let Some(open) = rest[begin..].find('{').map(|at| begin + at) {
        let inside = &rest[open + 1..];
        let length = inside.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(inside.len());
        let (name, after) = inside.split_at(length);
        let guard = after.starts_with("?}");
        if crate::syntax::why_no_name(name).is_some() || !(guard || after.starts_with('}')) {
            begin = open + 1;
            continue;
        }
        pieces.push(Piece::Text(&rest[..open]));
        pieces.push(Piece::Name(name, guard));
        (rest, begin) = (&after[if guard { 2 } else { 1 }..], 0);
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// How what lines of a body ask for stands in them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    /// By a name, or as the literal that it is.
    Short,
    /// By a name.
    Named,
    /// Written out, in parentheses where it binds less tightly than this.
    Inline(Binds),
}

/// What lines of a body ask for: an expression at a level, and how it is called.
pub(super) struct Asked {
    /// The level in which the lines stand.
    pub(super) level: usize,
    pub(super) part: Part,
    /// What stands between the braces.
    pub(super) name: String,
    pub(super) guard: bool,
    pub(super) title: String,
    pub(super) expr: Expr,
    pub(super) stands: Stands,
}

/// What a body asks for, level by level.
pub(super) fn asked(nest: &Nest, levels: &Levels, body: &Body) -> Result<Vec<Asked>, Unsupported> {
    let mut all = Vec::new();
    let outer = levels.around_reduced();
    for (at, level) in levels.all().iter().enumerate() {
        let parts = [(Part::Before, outer[at]), (Part::Inner, level.is_innermost), (Part::After, outer[at])];
        for (part, _) in parts.into_iter().filter(|(_, stands)| *stands) {
            // The first innermost level inside of this one: what is known here is the same in all of them.
            let inner = levels.first_innermost(at);
            for piece in pieces(body.of(part)) {
                let Piece::Name(name, guard) = piece else { continue };
                let (title, expr) = named(nest, levels, inner, name, guard)?;
                let has_before = |other: &Asked| {
                    (other.level, other.guard) == (at, guard) && other.part == part && other.name == name
                };
                if all.iter().any(has_before) {
                    continue;
                }
                if let Some(variable) = levels.first_unknown(expr, at) {
                    return Err(Reason::Inside { name: name.into(), variable: variable.into() }.into());
                }
                let stands = Stands::Short;
                all.push(Asked { level: at, part, name: name.into(), guard, title, expr, stands });
            }
        }
    }
    Ok(all)
}

/// What a name between braces stands for in an innermost level, and how it is called in the text.
fn named(nest: &Nest, levels: &Levels, level: usize, name: &str, guard: bool) -> Result<(String, Expr), Unsupported> {
    let level = &levels.all()[level];
    if let Some(access) = level.accesses.iter().find(|access| access.name == name) {
        return Ok(match guard {
            true => (format!("valid_{name}"), access.valid),
            false => (format!("index_{name}"), access.index),
        });
    }
    let known = level.values.iter().chain(&level.loops).find(|known| known.name == name && !guard);
    known.map(|known| (known.name.clone(), known.expr)).ok_or_else(|| {
        let accesses = nest.accesses.iter().map(|access| &access.name);
        let values = nest.values.iter().map(|value| &value.name);
        let origins = nest.origins.iter().map(|origin| &origin.name);
        let others = values.chain(origins).filter(|_| !guard);
        let names: Vec<String> = accesses.chain(others).map(|name| format!("`{name}`")).collect();
        Reason::Body { name: name.into(), guard, known: names.join(", ").into() }.into()
    })
}

impl Levels {
    /// Which levels are the innermost ones outside of the reduced loops that are innermost.
    pub(super) fn around_reduced(&self) -> Vec<bool> {
        let mut outer = vec![false; self.all.len()];
        for mut at in (0..self.all.len()).filter(|at| self.all[*at].is_innermost) {
            while let Some(header) = &self.all[at].header
                && header.is_reduced
            {
                at = self.all[at].parent.unwrap_or(0);
            }
            outer[at] = true;
        }
        outer
    }

    /// The first innermost level in a level.
    fn first_innermost(&self, at: usize) -> usize {
        (at..self.all.len()).find(|at| self.all[*at].is_innermost).unwrap_or(at)
    }

    /// The name of a loop that an expression depends on, and a level is not inside of.
    fn first_unknown(&self, expr: Expr, at: usize) -> Option<&str> {
        let mut around = vec![0];
        let mut level = Some(at);
        while let Some(at) = level {
            around.push(at);
            level = self.all[at].parent;
        }
        let unknown = |part: Expr| match self.graph.node(part) {
            Node::Variable(place) if !around.contains(&self.depths[place]) => Some(&self.names[place][..]),
            _ => None,
        };
        parts(&self.graph, &[expr]).into_iter().filter(|part| constant(&self.graph, *part).is_none()).find_map(unknown)
    }

    /// Whether a level is another one or stands around it.
    pub(super) fn is_around(&self, outer: usize, inner: usize) -> bool {
        let mut at = Some(inner);
        while let Some(level) = at {
            if level == outer {
                return true;
            }
            at = self.all[level].parent;
        }
        false
    }

    /// The levels that stand in a level.
    pub(super) fn within(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        (at + 1..self.all.len()).filter(move |inner| self.all[*inner].parent == Some(at))
    }
}

impl Nest {
    /// The nest as text, around a body in the same language.
    ///
    /// Each value is computed in the outermost loop that knows what it is made of. In MLIR loops are `affine.for`, conditions
    /// `affine.if`, and what the body asks for `affine.apply`.
    ///
    /// ```
    /// use indexpr::{Body, Graph, Language, Nest};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 4)?;
    /// let index = nest.parse("i * 3 + 1")?;
    /// nest.access("a", index, None)?;
    /// assert_eq!(
    ///     nest.code(Language::Python, &Body::new("total += a[{a}]"))?,
    ///     "for i in range(4):\n    index_a = i * 3 + 1\n    total += a[index_a]\n",
    /// );
    /// assert_eq!(
    ///     nest.code(Language::Mlir, &Body::new("\"use\"({a}) : (index) -> ()"))?,
    ///     "\
    /// affine.for %i = 0 to 4 {
    ///     %index_a = affine.apply affine_map<(i) -> (i * 3 + 1)>(%i)
    ///     \"use\"(%index_a) : (index) -> ()
    /// }
    /// ",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A name in the body that nothing has, or that is not known where it stands; numbers that a given width, or the language,
    /// does not hold; what is not affine in MLIR; LaTeX, which has no loops.
    pub fn code(&self, language: Language, body: &Body) -> Result<String, Unsupported> {
        let levels = self.levels().map_err(Reason::Nest)?;
        let asked = asked(self, &levels, body)?;
        match language.dialect() {
            None => mlir::nest(self, &levels, &asked, body),
            Some(Dialect::Latex) => Err(Reason::NoLoops { language }.into()),
            Some(dialect) => {
                let mut levels = levels;
                levels.names = unreserved(levels.names);
                let is_wide = self.width().map_err(Reason::Nest)? == Width::Bits64;
                let how = How {
                    dialect,
                    unsigned: self.signedness == Signedness::Unsigned && dialect.is_c(),
                    given: self.given,
                    elements: if is_wide { i64::MAX } else { 0 },
                    depth: 0,
                };
                Ok(text(levels, &asked, body, how)?.lines)
            }
        }
    }
}

/// The expressions of a nest, and where each of them is among the roots of a program.
struct Roots {
    exprs: Vec<Expr>,
    /// The first value and the end of each level's loop, and its condition.
    levels: Vec<(Option<[usize; 2]>, Option<usize>)>,
    /// What the body asks for.
    asked: Vec<usize>,
}

impl Roots {
    fn new(levels: &mut Levels, asked: &[Asked], how: How) -> Result<Roots, Reason> {
        let mut roots = Roots { exprs: Vec::new(), levels: Vec::new(), asked: Vec::new() };
        for at in 0..levels.all.len() {
            let bounds = match &levels.all[at].header {
                None => None,
                Some(header) => {
                    let mut ends = [header.begin, header.end];
                    // An unsigned number is not less than an end below 0.
                    for end in &mut ends {
                        if how.unsigned && levels.graph.range(*end).0 < 0 {
                            let zero = levels.graph.int(0);
                            *end = levels.graph.binary(Binary::Max, *end, zero).map_err(Reason::Nest)?;
                        }
                    }
                    Some(ends.map(|end| roots.push(end)))
                }
            };
            let condition = levels.all[at].condition.map(|condition| roots.push(condition));
            roots.levels.push((bounds, condition));
        }
        roots.asked = asked.iter().map(|asked| roots.push(asked.expr)).collect();
        let (low, high) = levels.graph.value_range(&roots.exprs);
        if how.given == Some(Width::Bits32) && shapetracker_base::int::bits((low, high)) > 32 {
            return Err(Reason::Given { low, high });
        }
        Ok(roots)
    }

    fn push(&mut self, expr: Expr) -> usize {
        self.exprs.push(expr);
        self.exprs.len() - 1
    }
}

/// How a nest is written in a language that looks like C, more or less.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) dialect: Dialect,
    /// Whether numbers that are never negative are unsigned.
    pub(super) unsigned: bool,
    pub(super) given: Option<Width>,
    /// So many elements must be countable.
    pub(super) elements: i64,
    /// By how much lines are indented.
    pub(super) depth: usize,
}

/// A nest as text.
pub(super) struct Lines {
    pub(super) lines: String,
    /// The type of its numbers.
    pub(super) number: &'static str,
}

/// The text in a language that looks like C, more or less.
pub(super) fn text(mut levels: Levels, asked: &[Asked], body: &Body, how: How) -> Result<Lines, Unsupported> {
    let How { dialect, unsigned, .. } = how;
    let roots = Roots::new(&mut levels, asked, how)?;
    // Other parts of a sum may have more bits.
    let is_as_narrow =
        |(graph, exprs): &(Graph, Vec<Expr>)| levels.graph.is_wide(&roots.exprs) || !graph.is_wide(exprs);
    let (graph, exprs) = grouped(&levels.graph, &roots.exprs, &levels.depths)
        .filter(is_as_narrow)
        .unwrap_or_else(|| (levels.graph.clone(), roots.exprs.clone()));
    let (mut program, places) = Program::with_elements(&graph, &exprs, dialect, how.elements, true)?;
    program.unsigned = unsigned;

    let names = &levels.names;
    let titles = titles(asked, &levels);
    let literal = |root: usize| match program.op(places[root]) {
        Op::Int(value) => Some(dialect.number(value).operand(Binds::Primary)),
        Op::Bool(value) => Some(dialect.truth(value).to_owned()),
        _ => None,
    };
    let mut named: Vec<Root> = Vec::new();
    for ((asked, root), title) in asked.iter().zip(&roots.asked).zip(&titles) {
        // A literal needs no name, and what is a loop or a parameter has one already.
        let has_name = matches!(program.op(places[*root]), Op::Variable(variable) if names[variable] == *title);
        let is_short = has_name || literal(*root).is_some();
        let place = places[*root];
        let is_it = |known: &Root| matches!(known, Root::Named(name, at) if name == title && *at == place);
        match asked.stands {
            Stands::Short if is_short || named.iter().any(is_it) => {}
            Stands::Short | Stands::Named => named.push(Root::Named(title, place)),
            Stands::Inline(_) => {}
        }
    }
    // Bounds and conditions, and what is written out in the body.
    let own = roots.exprs.len() - roots.asked.len();
    named.extend((0..own).map(|root| Root::Inline(places[root])));
    let is_inline = |asked: &Asked| matches!(asked.stands, Stands::Inline(_));
    let written_out = asked.iter().zip(&roots.asked).filter(|(asked, _)| is_inline(asked));
    named.extend(written_out.clone().map(|(_, root)| Root::Inline(places[*root])));
    let variables: Vec<&str> = names.iter().map(|name| &name[..]).collect();
    let writer = Writer { program: &program, variables: &variables, levels: &levels.depths, foreign: false };
    let (statements, texts) = writer.write(&named);
    let shown: Vec<String> = (asked.iter().zip(&roots.asked).zip(&titles))
        .map(|((asked, root), title)| match asked.stands {
            Stands::Short => literal(*root).unwrap_or_else(|| title.clone()),
            Stands::Named => title.clone(),
            Stands::Inline(binds) => {
                let at = written_out.clone().position(|(_, other)| other == root).unwrap_or_default();
                texts[own + at].clone().operand(binds)
            }
        })
        .collect();

    let is_used = |variable: Expr| {
        let parts = parts(&levels.graph, &roots.exprs);
        parts.binary_search(&variable).is_ok()
    };
    let mut text = Text { dialect, lines: String::new() };
    let outer = levels.around_reduced();
    let substituted = |level: usize, part: Part| {
        let of = |name: &str, guard: bool| {
            let is_it = |asked: &Asked| {
                asked.level == level && asked.part == part && asked.guard == guard && asked.name == name
            };
            asked.iter().position(is_it).map_or(String::new(), |at| shown[at].clone())
        };
        let pieces = pieces(body.of(part)).into_iter();
        pieces
            .map(|piece| match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Name(name, guard) => of(name, guard),
            })
            .collect::<String>()
    };
    // The levels from the outermost to the innermost, and what closes each.
    enum Step {
        Open(usize),
        After(usize),
        Close(usize),
    }
    let mut pending = vec![Step::Open(0)];
    let mut depth = how.depth;
    while let Some(step) = pending.pop() {
        match step {
            Step::Open(at) => {
                if let Some(header) = &levels.all[at].header {
                    let [begin, end] = roots.levels[at].0.unwrap_or_default().map(|root| texts[root].clone());
                    let Node::Variable(variable) = levels.graph.node(header.variable) else { continue };
                    let name = match dialect == Dialect::Rust && !is_used(header.variable) {
                        true => "_",
                        false => variables[variable],
                    };
                    let number = program.type_of(unsigned);
                    let is_literal = |root: usize| matches!(program.op(places[root]), Op::Int(_));
                    let literal = roots.levels[at].0.is_some_and(|[begin, end]| is_literal(begin) && is_literal(end));
                    let (begin, end) = (begin.operand(Binds::Sum), end.operand(Binds::Sum));
                    let header = match dialect {
                        Dialect::Rust if literal => format!("for {name} in {begin}..{end}_{number}"),
                        Dialect::Rust => format!("for {name} in {begin}..{end}"),
                        Dialect::Python if begin == "0" => format!("for {name} in range({end})"),
                        Dialect::Python => format!("for {name} in range({begin}, {end})"),
                        Dialect::Wgsl => format!("for (var {name}: {number} = {begin}; {name} < {end}; {name}++)"),
                        _ => format!("for ({number} {name} = {begin}; {name} < {end}; ++{name})"),
                    };
                    text.open(depth, &header);
                    depth += 1;
                    pending.push(Step::Close(depth - 1));
                }
                statements.iter().filter(|one| one.level == at).for_each(|one| text.line(depth, &one.text));
                if outer[at] {
                    text.all(depth, &substituted(at, Part::Before));
                    pending.push(Step::After(at));
                }
                if let Some(root) = roots.levels[at].1 {
                    let condition = texts[root].clone().operand(Binds::Loose);
                    let header = match dialect {
                        Dialect::Python | Dialect::Rust => format!("if {condition}"),
                        _ => format!("if ({condition})"),
                    };
                    text.open(depth, &header);
                    depth += 1;
                    pending.push(Step::Close(depth - 1));
                }
                if levels.all[at].is_innermost {
                    text.all(depth, &substituted(at, Part::Inner));
                }
                let inner: Vec<usize> = levels.within(at).collect();
                pending.extend(inner.into_iter().rev().map(Step::Open));
            }
            Step::After(at) => text.all(depth, &substituted(at, Part::After)),
            Step::Close(to) => {
                depth = to;
                text.close(depth);
            }
        }
    }
    Ok(Lines { lines: text.lines, number: program.number_type() })
}

/// The names of what a body asks for: those that it has by itself, or others where they name something else in one scope.
/// A loop that is one of the nest keeps its name.
fn titles(asked: &[Asked], levels: &Levels) -> Vec<String> {
    let names = &levels.names;
    let exprs: Vec<Expr> = asked.iter().map(|asked| asked.expr).collect();
    let known = levels.levels_of(&exprs);
    let is_own = |asked: &Asked| match levels.graph.node(asked.expr) {
        Node::Variable(place) => levels.names[place] == asked.title,
        _ => false,
    };
    let mut titles: Vec<String> = Vec::new();
    for (at, asked) in asked.iter().enumerate() {
        if let (Node::Variable(place), true) = (levels.graph.node(asked.expr), is_own(asked)) {
            titles.push(names[place].clone());
            continue;
        }
        let is_taken = |title: &String| {
            let in_scope =
                |other: usize| levels.is_around(known[other], known[at]) || levels.is_around(known[at], known[other]);
            let others = titles.iter().enumerate();
            names.contains(title)
                || others.clone().any(|(other, name)| name == title && exprs[other] != exprs[at] && in_scope(other))
        };
        let numbered = (1..).map(|number| format!("{}_{number}", asked.title));
        let title = std::iter::once(asked.title.clone()).chain(numbered).find(|title| !is_taken(title));
        titles.push(title.unwrap_or_default());
    }
    titles
}

/// Lines with their indentation.
struct Text {
    dialect: Dialect,
    lines: String,
}

impl Text {
    fn line(&mut self, depth: usize, line: &str) {
        self.lines += &format!("{}{line}\n", "    ".repeat(depth));
    }

    /// Lines of the caller's.
    fn all(&mut self, depth: usize, lines: &str) {
        lines.lines().filter(|line| !line.is_empty()).for_each(|line| self.line(depth, line));
    }

    fn open(&mut self, depth: usize, header: &str) {
        let begin = if self.dialect == Dialect::Python { ":" } else { " {" };
        self.line(depth, &format!("{header}{begin}"));
    }

    fn close(&mut self, depth: usize) {
        match self.dialect {
            // A block without a line is none.
            Dialect::Python if self.lines.trim_end().ends_with(':') => self.line(depth + 1, "pass"),
            Dialect::Python => {}
            _ => self.line(depth, "}"),
        }
    }
}
