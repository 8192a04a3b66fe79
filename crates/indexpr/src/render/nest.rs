//! Nests as text: the loops and what is computed in each, around a body that is the caller's.

use super::clike::{self, Binds};
use super::language::{Language, Reason, Unsupported};
use super::loops::{How, Lines, Part, written};
use super::lower::Dialect;
use super::mlir;
use super::sized::unreserved;
use crate::constants::{constant, literal, parts};
use crate::graph::{Binary, Expr, Node};
use crate::nest::{Levels, Mistake, Nest, Signedness, Width};

/// What a nest does: lines of text in the language that is written, in which names between braces stand for what was computed.
///
/// `{a}` is the index of the access `a`, `{a?}` its guard or the [guard](Nest::guard) `a`, as far as loops do not say it; `{v}` is a value of the caller's, or
/// a loop, whether it was split or not. What stands there is a name or a literal. Before and after the reduced loops a guard is
/// there as far as loops and conditions further out do not say it. All other braces are what they are.
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
    choices: Vec<Choice>,
}

/// One text or another, by a guard.
#[derive(Clone, Debug)]
struct Choice {
    name: String,
    guard: String,
    holds: String,
    fails: String,
}

impl Body {
    /// Lines for the innermost loop.
    ///
    /// ```
    /// let _ = indexpr::Body::new("out[{out}] += a[{a}];");
    /// ```
    pub fn new(lines: impl Into<String>) -> Body {
        Body { lines: [String::new(), lines.into(), String::new()], choices: Vec::new() }
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

    /// The same body, in which `{name}` is one text where the guard of an access holds and another where it does not.
    ///
    /// Where loops say which of both it is, as in the parts of a [partition](Nest::partition), that one stands there alone;
    /// elsewhere it is a choice in the language that is written. Both texts may have accesses and values between braces.
    ///
    /// ```
    /// use indexpr::{Body, Graph, Language, Nest};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 10)?;
    /// let (index, inside) = (nest.parse("i - 1")?, nest.parse("1 <= i < 9")?);
    /// nest.access("x", index, Some(inside))?;
    /// let body = Body::new("y[{i}] = {element};").choice("element", "x", "x[{x}]", "0.0f");
    /// let code = nest.code(Language::C, &body)?;
    /// assert!(code.ends_with("    y[i] = (valid_x ? x[index_x] : 0.0f);\n}\n"));
    ///
    /// nest.partition("i", &["x"])?;
    /// assert_eq!(
    ///     nest.code(Language::C, &body)?,
    ///     "\
    /// for (int i = 0; i < 1; ++i) {
    ///     y[0] = 0.0f;
    /// }
    /// for (int i = 1; i < 9; ++i) {
    ///     const int index_x = i - 1;
    ///     y[i] = x[index_x];
    /// }
    /// for (int i = 9; i < 10; ++i) {
    ///     y[9] = 0.0f;
    /// }
    /// ",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn choice(
        mut self,
        name: impl Into<String>,
        access: impl Into<String>,
        holds: impl Into<String>,
        fails: impl Into<String>,
    ) -> Body {
        let (name, guard, holds, fails) = (name.into(), access.into(), holds.into(), fails.into());
        self.choices.retain(|choice| choice.name != name);
        self.choices.push(Choice { name, guard, holds, fails });
        self
    }

    fn of(&self, part: Part) -> &str {
        &self.lines[part as usize]
    }

    /// The lines of a part with every choice made, or written as one in a language: `guard` gives a guard's constant value, if it
    /// has one.
    fn chosen(&self, part: Part, dialect: Option<Dialect>, guard: &dyn Fn(&str) -> Option<bool>) -> String {
        let mut text = String::new();
        for piece in pieces(self.of(part)) {
            match piece {
                Piece::Text(own) => text += own,
                Piece::Name(name, is_guard) => {
                    match self.choices.iter().find(|choice| choice.name == name && !is_guard) {
                        Some(choice) => text += &choice.written(guard(&choice.guard), dialect),
                        None if is_guard => text += &format!("{{{name}?}}"),
                        None => text += &format!("{{{name}}}"),
                    }
                }
            }
        }
        text
    }
}

impl Choice {
    fn written(&self, holds: Option<bool>, dialect: Option<Dialect>) -> String {
        let Choice { guard, holds: then, fails: otherwise, .. } = self;
        match (holds, dialect) {
            (Some(true), _) => then.clone(),
            (Some(false), _) => otherwise.clone(),
            (None, Some(Dialect::Python)) => format!("({then} if {{{guard}?}} else {otherwise})"),
            (None, Some(Dialect::Rust)) => format!("if {{{guard}?}} {{ {then} }} else {{ {otherwise} }}"),
            (None, Some(Dialect::Wgsl)) => format!("select({otherwise}, {then}, {{{guard}?}})"),
            (None, _) => format!("({{{guard}?}} ? {then} : {otherwise})"),
        }
    }
}

/// Lines of a body as they stand in a level.
pub(super) struct Placed {
    pub(super) level: usize,
    pub(super) part: Part,
    pub(super) text: String,
}

/// The lines of a body in all levels in which they stand.
pub(super) fn placed(
    nest: &Nest,
    levels: &Levels,
    body: &Body,
    dialect: Option<Dialect>,
) -> Result<Vec<Placed>, Unsupported> {
    // What stands nowhere, since nothing runs, is no mistake, but a name that nothing has is.
    for part in [Part::Before, Part::Inner, Part::After] {
        for piece in pieces(&body.chosen(part, dialect, &|_| None)) {
            if let Piece::Name(name, guard) = piece {
                known(nest, name, guard)?;
            }
        }
    }
    let outer = levels.around_reduced();
    let mut all = Vec::new();
    for (level, one) in levels.all().iter().enumerate() {
        let parts = [(Part::Before, outer[level]), (Part::Inner, one.is_innermost), (Part::After, outer[level])];
        for (part, _) in parts.into_iter().filter(|(_, stands)| *stands) {
            let guard = |name: &str| {
                let expr = named(levels, level, part, name, true)?.1;
                constant(&levels.graph, expr).map(|value| value != 0)
            };
            all.push(Placed { level, part, text: body.chosen(part, dialect, &guard) });
        }
    }
    Ok(all)
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
}

/// The lines of a part in a level, with what is `shown` of each thing that is asked for.
pub(super) fn filled<'t>(
    placed: &[Placed],
    asked: &[Asked],
    level: usize,
    part: Part,
    shown: &dyn Fn(usize) -> &'t str,
) -> String {
    let mut lines = String::new();
    for Placed { text, .. } in placed.iter().filter(|own| own.level == level && own.part == part) {
        for piece in pieces(text) {
            lines += match piece {
                Piece::Text(text) => text,
                Piece::Name(name, guard) => {
                    let is_it = |asked: &Asked| {
                        (asked.level, asked.guard) == (level, guard) && asked.part == part && asked.name == name
                    };
                    asked.iter().position(is_it).map_or("", shown)
                }
            };
        }
    }
    lines
}

/// What lines of a body ask for, level by level.
pub(super) fn asked(levels: &Levels, placed: &[Placed]) -> Result<Vec<Asked>, Unsupported> {
    let mut all: Vec<Asked> = Vec::new();
    for &Placed { level, part, ref text } in placed {
        for piece in pieces(text) {
            let Piece::Name(name, guard) = piece else { continue };
            let Some((title, expr)) = named(levels, level, part, name, guard) else { continue };
            let has_before = |other: &Asked| {
                (other.level, other.guard) == (level, guard) && other.part == part && other.name == name
            };
            if all.iter().any(has_before) {
                continue;
            }
            if let Some(variable) = levels.first_unknown(expr, level) {
                return Err(Reason::from(Mistake::Inside { name: name.into(), variable: variable.into() }).into());
            }
            all.push(Asked { level, part, name: name.into(), guard, title, expr });
        }
    }
    Ok(all)
}

/// What a name between braces stands for in lines of a level, and how it is called in the text.
fn named(levels: &Levels, at: usize, part: Part, name: &str, guard: bool) -> Option<(String, Expr)> {
    // The first innermost level inside of this one: what is known here is the same in all of them.
    let level = &levels.all()[levels.first_innermost(at)];
    if let Some(place) = level.accesses.iter().position(|access| access.name == name) {
        let access = &level.accesses[place];
        // Loops and conditions that are further in say nothing before and after them.
        let around = levels.all()[at].around_reduced.as_ref().filter(|_| part != Part::Inner);
        let valid = around.map_or(access.valid, |guards| guards[place]);
        return Some(match guard {
            true => (format!("valid_{name}"), valid),
            false => (format!("index_{name}"), access.index),
        });
    }
    let known = level.values.iter().chain(&level.loops).find(|known| known.name == name && !guard);
    known.map(|known| (known.name.clone(), known.expr))
}

/// Refuses a name between braces that stands for nothing.
fn known(nest: &Nest, name: &str, guard: bool) -> Result<(), Unsupported> {
    let access = nest.accesses.iter().find(|access| access.name == name);
    if access.is_some_and(|access| access.is_guard && !guard) {
        return Err(Reason::from(Mistake::GuardAsAddress { name: name.into() }).into());
    }
    let accesses = nest.accesses.iter().filter(|access| guard || !access.is_guard).map(|access| &access.name);
    let values = nest.values.iter().map(|value| &value.name);
    let origins = nest.origins.iter().map(|origin| &origin.name);
    let names: Vec<&String> = accesses.chain(values.chain(origins).filter(|_| !guard)).collect();
    if names.iter().any(|known| *known == name) {
        return Ok(());
    }
    let known = names.iter().map(|name| format!("`{name}`")).collect::<Vec<String>>().join(", ").into();
    Err(Reason::from(Mistake::Body { name: name.into(), guard, known }).into())
}

impl Levels {
    /// Which levels are the innermost ones outside of the reduced loops that are innermost.
    pub(super) fn around_reduced(&self) -> Vec<bool> {
        self.all.iter().map(|level| level.around_reduced.is_some()).collect()
    }

    /// The first innermost level in a level; the level itself where there is none.
    fn first_innermost(&self, at: usize) -> usize {
        (at..self.all.len()).find(|inner| self.all[*inner].is_innermost && self.is_around(at, *inner)).unwrap_or(at)
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
        let mut levels = self.expanded().map_err(Reason::from)?;
        if [Part::Before, Part::After].iter().all(|part| body.of(*part).trim().is_empty()) {
            levels = levels.with_bodies();
        }
        match language.dialect() {
            None => {
                let placed = placed(self, &levels, body, None)?;
                mlir::nest(self, &levels, &asked(&levels, &placed)?, &placed)
            }
            Some(Dialect::Latex) => Err(Reason::from(Mistake::NoLoops { language }).into()),
            Some(dialect) => Ok(text(self, levels, body, dialect, 0)?.lines),
        }
    }
}

/// The text in a language that looks like C, more or less.
pub(super) fn text(
    nest: &Nest,
    mut levels: Levels,
    body: &Body,
    dialect: Dialect,
    depth: usize,
) -> Result<Lines, Unsupported> {
    let placed = placed(nest, &levels, body, Some(dialect))?;
    let asked = &asked(&levels, &placed)?[..];
    let unsigned = nest.signedness == Signedness::Unsigned && dialect.is_c();
    levels.names = unreserved(levels.names);
    // An unsigned number is not less than an end below 0.
    for at in (0..levels.all.len()).filter(|_| unsigned) {
        let Some(end) = levels.all[at].header.as_ref().map(|header| header.end) else { continue };
        if levels.graph.range(end).0 < 0 {
            let zero = levels.graph.int(0);
            let end = levels.graph.binary(Binary::Max, end, zero).map_err(Reason::from)?;
            levels.all[at].header.iter_mut().for_each(|header| header.end = end);
        }
    }
    let width = levels.width();
    if nest.given == Some(Width::Bits32) && width == Width::Bits64 {
        return Err(Reason::from(Mistake::Given).into());
    }
    let is_wide = width == Width::Bits64 || nest.given == Some(Width::Bits64);
    let elements = if is_wide { i64::MAX } else { 0 };

    let titles = titles(nest, asked, &levels);
    // What each stands as: a literal, a loop or a parameter has a name already.
    let (mut named, mut used): (Vec<(String, Expr)>, Vec<Expr>) = (Vec::new(), Vec::new());
    let mut shown: Vec<String> = Vec::new();
    for (asked, title) in asked.iter().zip(titles) {
        match literal(&levels.graph, asked.expr) {
            Some(Node::Int(value)) => shown.push(dialect.number(value).operand(Binds::Primary)),
            Some(Node::Bool(value)) => shown.push(dialect.truth(value).to_owned()),
            _ => {
                let is_it = |variable: usize| levels.names[variable] == title;
                let has_name = matches!(levels.graph.node(asked.expr), Node::Variable(variable) if is_it(variable));
                if has_name {
                    used.push(asked.expr);
                } else if !named.iter().any(|known| *known == (title.clone(), asked.expr)) {
                    named.push((title.clone(), asked.expr));
                }
                shown.push(title);
            }
        }
    }
    let lines = |level: usize, part: Part, _: &[clike::Text]| filled(&placed, asked, level, part, &|at| &shown[at]);
    let around = levels.around_reduced();
    let how = How { dialect, unsigned, elements, depth };
    written(&levels, &named, &used, &around, how, &lines)
}

/// The names of what a body asks for: those that it has by itself, or others where they name something else in one scope.
/// A loop that is one of the nest keeps its name.
fn titles(nest: &Nest, asked: &[Asked], levels: &Levels) -> Vec<String> {
    // Of the loops those that there still are.
    let headers = levels.all.iter().filter_map(|level| level.header.as_ref());
    let places = headers.filter_map(|header| match levels.graph.node(header.variable) {
        Node::Variable(place) => Some(place),
        _ => None,
    });
    let names: Vec<&String> = (0..nest.parameters).chain(places).map(|place| &levels.names[place]).collect();
    let is_literal = |expr: Expr| constant(&levels.graph, expr).is_some();
    let exprs: Vec<Expr> = asked.iter().map(|asked| asked.expr).collect();
    let known = levels.levels_of(&exprs);
    let mut titles: Vec<String> = Vec::new();
    for (at, asked) in asked.iter().enumerate() {
        // Each by itself, so that what a loop is called here is what it is called where it stands.
        let own = unreserved(vec![asked.title.clone()]).remove(0);
        if let Node::Variable(place) = levels.graph.node(asked.expr)
            && levels.names[place] == own
        {
            titles.push(own);
            continue;
        }
        let is_taken = |title: &String| {
            let in_scope =
                |other: usize| levels.is_around(known[other], known[at]) || levels.is_around(known[at], known[other]);
            let others = titles.iter().enumerate();
            names.contains(&title)
                || others.clone().any(|(other, name)| {
                    name == title && exprs[other] != exprs[at] && !is_literal(exprs[other]) && in_scope(other)
                })
        };
        let numbered = (1..).map(|number| format!("{own}_{number}"));
        let title = std::iter::once(own.clone()).chain(numbered).find(|title| !is_taken(title));
        titles.push(title.unwrap_or_default());
    }
    titles
}
