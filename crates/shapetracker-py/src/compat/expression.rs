//! Index expressions over tinygrad's names for ranges, and their text in its style.

use pyo3::prelude::*;
use shapetracker::expr::{Binary, Expr as Handle, Graph, Node};

use crate::error::layout;
use crate::expr::Expr;
use crate::tracker::ShapeTracker;

/// The address of an element of a tracker over ridx0, ridx1, .., and the condition that it has one.
#[pyfunction]
pub(super) fn over_ranges(tracker: &Bound<'_, ShapeTracker>) -> PyResult<(Expr, Expr)> {
    let code = tracker.get().numbers("over_ranges")?.index_expr().map_err(|err| layout(&err))?;
    let over = |root| Expr::renamed(code.graph(), root, "ridx");
    Ok((over(code.index())?, over(code.valid())?))
}

/// The text of an expression in tinygrad's style: every operation in parentheses, bounds as comparisons with `<`.
#[pyfunction]
pub(super) fn written(expr: &Bound<'_, Expr>) -> PyResult<String> {
    let expr = expr.get();
    expr.written(|graph, parts| parts.iter().fold(Writer { graph, parts, texts: Vec::new() }, Writer::with).last())
}

struct Writer<'a> {
    graph: &'a Graph,
    /// What the expression is made of, operands first.
    parts: &'a [Handle],
    /// The text of each part, as far as they are written.
    texts: Vec<String>,
}

impl Writer<'_> {
    fn with(mut self, part: &Handle) -> Self {
        let text = self.text(self.graph.node(*part));
        self.texts.push(text);
        self
    }

    fn last(mut self) -> String {
        self.texts.pop().unwrap_or_default()
    }

    fn of(&self, part: Handle) -> &str {
        self.parts.binary_search(&part).map_or("", |place| &self.texts[place])
    }

    fn constant(&self, part: Handle) -> Option<i64> {
        match self.graph.node(part) {
            Node::Int(value) => Some(value),
            _ => None,
        }
    }

    fn text(&self, node: Node) -> String {
        match node {
            Node::Int(value) => value.to_string(),
            Node::Bool(value) => if value { "True" } else { "False" }.to_owned(),
            Node::Variable(place) => self.graph.variables()[place].name.clone(),
            Node::Within(value, begin, end) => {
                let value = self.of(value);
                format!("((({value}<{begin})!=True)&({value}<{end}))")
            }
            Node::Not(a) => format!("({}!=True)", self.of(a)),
            Node::Select(condition, a, b) => {
                format!("({} if {} else {})", self.of(a), self.of(condition), self.of(b))
            }
            Node::Binary(Binary::Sub, a, b) => self.difference(a, b),
            Node::Binary(op, a, b) => {
                let (a, b) = (self.of(a), self.of(b));
                match op {
                    Binary::Min | Binary::Max => format!("{}({a}, {b})", op.name()),
                    Binary::Gt => format!("({b}<{a})"),
                    Binary::Le => format!("(({b}<{a})!=True)"),
                    Binary::Ge => format!("(({a}<{b})!=True)"),
                    Binary::Eq => format!("(({a}!={b})!=True)"),
                    Binary::And => format!("({a}&{b})"),
                    Binary::Or => format!("({a}|{b})"),
                    _ => format!("({a}{}{b})", op.name()),
                }
            }
            other => format!("{other:?}"),
        }
    }

    /// A difference is written as the sum with the negative.
    fn difference(&self, a: Handle, b: Handle) -> String {
        let negative = match self.graph.node(b) {
            Node::Int(value) => (-i128::from(value)).to_string(),
            Node::Binary(Binary::Mul, value, by) => match self.constant(by) {
                Some(by) => format!("({}*{})", self.of(value), -i128::from(by)),
                None => format!("({}*-1)", self.of(b)),
            },
            _ => format!("({}*-1)", self.of(b)),
        };
        match self.constant(a) {
            Some(0) => negative,
            _ => format!("({}+{negative})", self.of(a)),
        }
    }
}
