//! Levels of loops as text: what kernels and nests have in common.

use super::clike::{Binds, Root, Text, Writer};
use super::kernel::grouped;
use super::language::Unsupported;
use super::lower::{Dialect, Op, Program};
use crate::constants::{constant, parts};
use crate::graph::{Expr, Graph, Node};
use crate::nest::Levels;

/// How loops are written in a language that looks like C, more or less.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) dialect: Dialect,
    /// Whether numbers that are never negative are unsigned.
    pub(super) unsigned: bool,
    /// So many elements must be countable.
    pub(super) elements: i64,
    /// By how much lines are indented.
    pub(super) depth: usize,
}

/// Where lines of the caller's stand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Before,
    Inner,
    After,
}

/// Loops as text.
pub(super) struct Lines {
    pub(super) lines: String,
    /// The type of signed numbers.
    pub(super) number: &'static str,
    /// The places of the variables that something is made of.
    pub(super) used: Vec<usize>,
}

/// Levels as text, with loop-invariant code motion: a definition stands in the innermost loop that it depends on, and no
/// further in.
///
/// `named` is defined by name, `inline` is text for the lines of the caller's, which `body` gives for a level and a part;
/// `around` says in which levels lines stand before and after the loops inside.
pub(super) fn written(
    levels: &Levels,
    named: &[(String, Expr)],
    inline: &[Expr],
    around: &[bool],
    how: How,
    body: &dyn Fn(usize, Part, &[Text]) -> String,
) -> Result<Lines, Unsupported> {
    let How { dialect, unsigned, .. } = how;
    // What has a name, what the caller writes out, and then what each level needs.
    let mut exprs: Vec<Expr> = named.iter().map(|(_, expr)| *expr).chain(inline.iter().copied()).collect();
    let own = exprs.len();
    let mut firsts = Vec::with_capacity(levels.all.len());
    for level in &levels.all {
        firsts.push(exprs.len());
        exprs.extend(level.header.iter().flat_map(|header| [header.begin, header.end]));
        exprs.extend(level.condition);
    }
    // Other parts of a sum may have more bits.
    let is_as_narrow = |(graph, others): &(Graph, Vec<Expr>)| levels.graph.is_wide(&exprs) || !graph.is_wide(others);
    let regrouped = grouped(&levels.graph, &exprs, &levels.depths).filter(is_as_narrow);
    let (graph, roots) = regrouped.as_ref().map_or((&levels.graph, &exprs), |(graph, exprs)| (graph, exprs));
    let (mut program, places) = Program::with_elements(graph, roots, dialect, how.elements, true)?;
    program.unsigned = unsigned;
    let variables: Vec<&str> = levels.names.iter().map(|name| &name[..]).collect();
    let mut all: Vec<Root> = (named.iter().zip(&places)).map(|((name, _), place)| Root::Named(name, *place)).collect();
    all.extend(places[named.len()..].iter().map(|place| Root::Inline(*place)));
    let writer = Writer { program: &program, variables: &variables, levels: &levels.depths, foreign: false };
    let (statements, texts) = writer.write(&all);
    let text_of = |root: usize| texts[root - named.len()].clone();
    let written_out = &texts[..inline.len()];
    debug_assert_eq!(own, named.len() + inline.len());

    let used = parts(&levels.graph, &exprs);
    let mut text = Indented { dialect, lines: String::new() };
    // What is open, and what closes it.
    enum Step {
        Open(usize),
        After(usize),
        Close(usize),
    }
    let (mut pending, mut depth) = (vec![Step::Open(0)], how.depth);
    while let Some(step) = pending.pop() {
        let at = match step {
            Step::Open(at) => at,
            Step::After(at) => {
                text.all(depth, &body(at, Part::After, written_out));
                continue;
            }
            Step::Close(to) => {
                depth = to;
                text.close(depth);
                continue;
            }
        };
        let level = &levels.all[at];
        let mut root = firsts[at];
        if let Some(header) = &level.header
            && let Node::Variable(variable) = levels.graph.node(header.variable)
        {
            // One that has one value is a literal wherever it stands.
            let is_literal = constant(&levels.graph, header.variable).is_some();
            let is_used = !is_literal && used.binary_search(&header.variable).is_ok();
            let name = if dialect == Dialect::Rust && !is_used { "_" } else { variables[variable] };
            let number = program.type_of(unsigned);
            let is_literal = |root: usize| matches!(program.op(places[root]), Op::Int(_));
            let suffix = if is_literal(root) && is_literal(root + 1) { format!("_{number}") } else { String::new() };
            let [begin, end] = [root, root + 1].map(|root| text_of(root).operand(Binds::Sum));
            root += 2;
            text.open(
                depth,
                &match dialect {
                    Dialect::Rust => format!("for {name} in {begin}..{end}{suffix}"),
                    Dialect::Python if begin == "0" => format!("for {name} in range({end})"),
                    Dialect::Python => format!("for {name} in range({begin}, {end})"),
                    Dialect::Wgsl => format!("for (var {name}: {number} = {begin}; {name} < {end}; {name}++)"),
                    _ => format!("for ({number} {name} = {begin}; {name} < {end}; ++{name})"),
                },
            );
            pending.push(Step::Close(depth));
            depth += 1;
        }
        statements.iter().filter(|one| one.level == at).for_each(|one| text.line(depth, &one.text));
        if around[at] {
            text.all(depth, &body(at, Part::Before, written_out));
            pending.push(Step::After(at));
        }
        if level.condition.is_some() {
            let condition = text_of(root).operand(Binds::Loose);
            let is_bare = matches!(dialect, Dialect::Python | Dialect::Rust);
            text.open(depth, &if is_bare { format!("if {condition}") } else { format!("if ({condition})") });
            pending.push(Step::Close(depth));
            depth += 1;
        }
        if level.is_innermost {
            text.all(depth, &body(at, Part::Inner, written_out));
        }
        pending.extend(levels.within(at).rev().map(Step::Open));
    }
    let variable = |part: &Expr| match levels.graph.node(*part) {
        Node::Variable(place) if constant(&levels.graph, *part).is_none() => Some(place),
        _ => None,
    };
    Ok(Lines { lines: text.lines, number: program.number_type(), used: used.iter().filter_map(variable).collect() })
}

impl Levels {
    /// The levels that stand in a level.
    pub(super) fn within(&self, at: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (at + 1..self.all.len()).filter(move |inner| self.all[*inner].parent == Some(at))
    }
}

/// Lines with their indentation.
struct Indented {
    dialect: Dialect,
    lines: String,
}

impl Indented {
    fn line(&mut self, depth: usize, line: &str) {
        (0..depth).for_each(|_| self.lines.push_str("    "));
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// Lines of the caller's.
    fn all(&mut self, depth: usize, lines: &str) {
        lines.lines().filter(|line| !line.is_empty()).for_each(|line| self.line(depth, line));
    }

    fn open(&mut self, depth: usize, header: &str) {
        self.line(depth, header);
        self.lines.pop();
        self.lines.push_str(if self.dialect == Dialect::Python { ":\n" } else { " {\n" });
    }

    fn close(&mut self, depth: usize) {
        match self.dialect {
            // A block without a line is none.
            Dialect::Python if self.lines.ends_with(":\n") => self.line(depth + 1, "pass"),
            Dialect::Python => {}
            _ => self.line(depth, "}"),
        }
    }
}
