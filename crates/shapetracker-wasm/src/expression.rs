//! Expressions with all their parts, so that numbers can be put in their places.

use shapetracker::expr::{Expr, Graph, Node, Syntax};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::Layout;

/// With more parts than this the parts have no text of their own.
const MOST_TEXTS: usize = 200;
/// With more parts than this they are not listed.
const MOST_NODES: usize = 2000;
/// The longest text of a part, and of a whole expression.
const LONGEST_PART: usize = 240;
const LONGEST_WHOLE: usize = 1 << 14;
/// A part that is deeper than this gets a name.
const DEEPEST: usize = 40;

/// An index and a condition with their parts.
pub(crate) fn json(graph: &Graph, [index, valid]: [Expr; 2]) -> Value {
    let parts = graph.parts(&[index, valid]);
    let listed = parts.len() <= MOST_NODES;
    let lengths = lengths(graph, &parts);
    let place = |expr: Expr| parts.binary_search(&expr).unwrap_or_default();
    let text = |expr: Expr, longest: usize| {
        let short = lengths[place(expr)] <= longest;
        short.then(|| graph.text(expr, Syntax::Python).ok()).flatten()
    };
    let node = |&expr: &Expr| {
        let short = if parts.len() <= MOST_TEXTS { text(expr, LONGEST_PART) } else { None };
        let (low, high) = graph.range(expr);
        let operands: Value = graph.node(expr).operands().map(place).collect();
        let json = |kind: &str| {
            object! {
                "kind": kind, "operands": operands.clone(), "low": low, "high": high,
                "condition": graph.is_condition(expr), "text": short.clone(),
            }
        };
        match graph.node(expr) {
            Node::Int(value) => json("int").with("value", value),
            Node::Bool(value) => json("bool").with("value", value),
            Node::Variable(variable) => json("variable").with("name", graph.variables()[variable].name.clone()),
            Node::Binary(op, ..) => json("binary").with("op", op.name()),
            Node::Within(_, begin, end) => json("within").with("begin", begin).with("end", end),
            Node::Not(_) => json("not"),
            Node::Select(..) => json("select"),
        }
    };
    let numbers = parts.iter().filter(|part| !graph.is_condition(**part)).map(|part| graph.range(*part));
    let values = numbers.reduce(|(low, high), (l, h)| (low.min(l), high.max(h))).unwrap_or((0, 0));
    let fits = |value: i64| i32::try_from(value).is_ok();
    let note = format!("the expression has {} parts, which are not listed", parts.len());
    object! {
        "nodes": if listed { parts.iter().map(node).collect() } else { Value::List(Vec::new()) },
        "index": place(index),
        "valid": place(valid),
        "lines": if listed { lines(graph, &parts, [index, valid]) } else { Value::List(Vec::new()) },
        "index_text": text(index, LONGEST_WHOLE),
        "valid_text": text(valid, LONGEST_WHOLE),
        "cost": graph.cost(&[index, valid]),
        "index_range": graph.range(index),
        "value_range": values,
        "bits": if fits(values.0) && fits(values.1) { 32usize } else { 64 },
        "note": (!listed).then_some(note),
    }
}

/// About how long the text of each part is, and never less.
fn lengths(graph: &Graph, parts: &[Expr]) -> Vec<usize> {
    let mut lengths: Vec<usize> = Vec::with_capacity(parts.len());
    for &part in parts {
        let operands = graph.node(part).operands().map(|operand| lengths[parts.binary_search(&operand).unwrap_or(0)]);
        let own = match graph.node(part) {
            Node::Variable(variable) => graph.variables()[variable].name.len(),
            Node::Within(..) => 52,
            Node::Int(_) => 20,
            _ => 14,
        };
        lengths.push(operands.fold(own, usize::saturating_add));
    }
    lengths
}

/// The code, a line for each part with a name: what is used twice is computed once.
fn lines(graph: &Graph, parts: &[Expr], [index, valid]: [Expr; 2]) -> Value {
    let place = |expr: Expr| parts.binary_search(&expr).unwrap_or_default();
    let is_leaf = |expr: Expr| matches!(graph.node(expr), Node::Int(_) | Node::Bool(_) | Node::Variable(_));
    let (mut uses, mut depths) = (vec![0; parts.len()], vec![0; parts.len()]);
    uses[place(index)] += 1;
    uses[place(valid)] += 1;
    for &part in parts {
        graph.node(part).operands().for_each(|operand| uses[place(operand)] += 1);
    }
    let mut names: Vec<Option<String>> = vec![None; parts.len()];
    let mut count = 0;
    for (at, &part) in parts.iter().enumerate() {
        depths[at] = graph.node(part).operands().map(|operand| depths[place(operand)] + 1).max().unwrap_or(0);
        if !is_leaf(part) && (uses[at] > 1 || depths[at] > DEEPEST) {
            names[at] = Some(format!("t{count}"));
            count += 1;
            depths[at] = 0;
        }
    }
    // Parts with a name are marked in the text, which is then cut there.
    const MARK: char = '\u{1}';
    let pieces = |expr: Expr| -> Value {
        let named = |part: Expr| names[place(part)].is_some() || matches!(graph.node(part), Node::Variable(_));
        let mark = |part: Expr| named(part).then(|| format!("{MARK}{}{MARK}", place(part)));
        let text = graph.text_with_names(expr, Syntax::Python, mark).unwrap_or_default();
        let pieces = text.split(MARK).enumerate().filter(|(_, piece)| !piece.is_empty());
        pieces
            .map(|(number, piece)| match piece.parse::<usize>() {
                Ok(node) if number % 2 == 1 => Value::from(node),
                _ => Value::from(piece),
            })
            .collect()
    };
    let line = |name: &str, node: Expr, pieces: Value| object! { "name": name, "node": place(node), "pieces": pieces };
    let shared = parts.iter().filter_map(|&part| Some(line(names[place(part)].as_ref()?, part, pieces(part))));
    let roots = [("valid", valid), ("index", index)].map(|(name, root)| {
        let alone = names[place(root)].is_some() || matches!(graph.node(root), Node::Variable(_));
        line(name, root, if alone { Value::List(vec![place(root).into()]) } else { pieces(root) })
    });
    shared.chain(roots).collect()
}

/// The value of every part at an index.
pub(crate) fn evaluate(request: &Value) -> Result<Value, Fault> {
    let layout = Layout::of(request, "source")?;
    let at = layout.index(request)?;
    let values = |graph: &Graph, roots: [Expr; 2], values: &[i64]| -> Result<Value, Fault> {
        let parts = graph.parts(&roots);
        if parts.len() > MOST_NODES {
            return Ok(Value::List(Vec::new()));
        }
        let columns: Vec<&[i64]> = values.chunks(1).collect();
        let columns = graph.evaluate_columns(&parts, &columns)?;
        Ok(columns.into_iter().flatten().collect())
    };
    match &layout {
        Layout::Free(free) => {
            let at = free.values(&at);
            let [written, simple] = [free.written, free.simple].map(|roots| values(&free.graph, roots, &at));
            Ok(object! { "values": simple?, "written": written? })
        }
        Layout::Chain(tracker) => {
            let code = tracker.index_expr()?;
            Ok(object! { "values": values(code.graph(), [code.index(), code.valid()], &at)?, "written": Value::Null })
        }
    }
}
