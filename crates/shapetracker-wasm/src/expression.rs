//! Expressions as lists of their distinct parts, operands first, so that the page can show the value of each.

use shapetracker::expr::{Expr, Graph, Line, Node, Syntax, TextPiece, why_no_name};
use shapetracker::{Error, MAX_RANK};
use shapetracker_base::int::bits;

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::{Free, Layout, syntax};
use crate::request::Fields as _;

/// With more parts than this the parts have no text of their own: the text of all parts together grows with their square.
const MOST_TEXTS: usize = 200;
/// With more parts than this they are not listed.
pub(crate) const MOST_NODES: usize = 2000;
/// Of so few parts the least and the greatest value are sought, a millisecond each at most.
const MOST_SOUGHT: i64 = 32;
/// Of more parts, too, where all of their values are no more than so many: then none takes as long.
const MOST_VALUES: i64 = 1 << 20;
/// The most bytes of the text of a part.
const LONGEST_PART: usize = 240;
/// The most bytes of the text of a whole expression.
const LONGEST_WHOLE: usize = 1 << 14;

/// The expression of a layout, as cheap as we can make it.
pub(crate) fn expression(request: &Value) -> Result<Value, Fault> {
    let (expression, note) = match Layout::of(request, "source")? {
        Layout::Free(free) => (Some(json(&free.graph, free.simple)), None),
        Layout::Chain(tracker) => match tracker.index_expr() {
            Ok(code) => (Some(json(code.graph(), [code.index(), code.valid()])), None),
            // The operation of this error is a function of the library, which means nothing to whoever reads the page.
            Err(err) => (None, Some(Error::reason(&err))),
        },
    };
    Ok(object! { "expression": expression, "note": note })
}

/// Expressions over variables: as written, simplified, and the addresses that they have.
pub(crate) fn free(request: &Value) -> Result<Value, Fault> {
    let layout = Layout::Free(Free::read(request)?);
    let Layout::Free(free) = &layout else { unreachable!() };
    // A walk tells the exact range of addresses; a search often does, and else tells one that contains it.
    const MOST: i64 = 1 << 20;
    let (range, exact) = if layout.numel() <= MOST && layout.too_many().is_none() {
        (layout.range_read()?, true)
    } else {
        let found = free.graph.extremes(free.simple[0], Some(free.simple[1]));
        (found.map(|found| found.range()), found.is_none_or(|found| found.exact))
    };
    let [written, simplified] = [free.written, free.simple].map(|parts| json(&free.graph, parts));
    Ok(object! {
        "shape": layout.shape(),
        "numel": layout.numel(),
        "written": written,
        "simplified": simplified,
        "address_range": range,
        "range_exact": exact,
    })
}

/// The names in an expression that says nothing of its variables, in the order in which they are met.
pub(crate) fn variables(request: &Value) -> Result<Value, Fault> {
    let text = request.text("text").map_err(|fault| fault.in_field("index"))?;
    let syntax = syntax(request)?;
    let mut names: Vec<&str> = Vec::new();
    loop {
        let mut graph = Graph::new();
        for name in &names {
            graph.variable(name, 1..3).map_err(|err| Fault::request(err.to_string()))?;
        }
        let Err(err) = graph.parse(text, syntax) else { break };
        // A name of which nothing is known is what is wrong with the text until it is one of the variables.
        match text.get(err.span()) {
            Some(name) if why_no_name(name).is_none() && !names.contains(&name) && names.len() < MAX_RANK => {
                names.push(name);
            }
            _ => return Err(Fault::syntax(&err, "index", text)),
        }
    }
    Ok(object! { "names": names.into_iter().map(Value::from).collect::<Value>() })
}

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
    // Interval arithmetic tells a bound of every part at no cost; whether it is attained, and what is, takes a search.
    let count = graph.variables().iter().try_fold(parts.len() as i64, |count, variable| {
        count.checked_mul(variable.range.end.checked_sub(variable.range.start)?)
    });
    let few = parts.len() as i64 <= MOST_SOUGHT
        || count.and_then(|count| count.checked_mul(parts.len() as i64)).is_some_and(|count| count <= MOST_VALUES);
    let extremes = |expr: Expr, valid: Option<Expr>| {
        let sought = if few { graph.extremes(expr, valid).or_else(|| graph.extremes(expr, None)) } else { None };
        sought.map_or_else(|| (graph.range(expr), false), |found| (found.range(), found.exact))
    };
    let node = |&expr: &Expr| {
        let short = if parts.len() <= MOST_TEXTS { text(expr, LONGEST_PART) } else { None };
        let ((low, high), exact) = extremes(expr, None);
        let operands: Value = graph.node(expr).operands().map(place).collect();
        let json = |kind: &str| {
            object! {
                "kind": kind, "operands": operands.clone(), "low": low, "high": high, "exact": exact,
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
            // The page shows the text of a kind that it does not know.
            _ => json("unknown"),
        }
    };
    let values = graph.value_range(&[index, valid]);
    let (index_range, index_range_exact) = extremes(index, Some(valid));
    let note = format!("the expression has {} parts, which are not listed", parts.len());
    object! {
        "nodes": if listed { parts.iter().map(node).collect() } else { Value::List(Vec::new()) },
        "index": place(index),
        "valid": place(valid),
        "lines": if listed { lines(graph, &parts, [index, valid]) } else { Value::List(Vec::new()) },
        "index_text": text(index, LONGEST_WHOLE),
        "valid_text": text(valid, LONGEST_WHOLE),
        "cost": graph.cost(&[index, valid]),
        "index_range": index_range,
        "index_range_exact": index_range_exact,
        "value_range": values,
        "bits": i64::from(bits(values)),
        "note": (!listed).then_some(note),
    }
}

/// An upper bound of the length of the text of each part. Shared parts are repeated in a text, which can so be
/// exponentially longer than the expression is large; the bound is known without writing it.
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

/// The code, a line for each part with a name: common subexpressions are computed once.
fn lines(graph: &Graph, parts: &[Expr], [index, valid]: [Expr; 2]) -> Value {
    let place = |expr: Expr| parts.binary_search(&expr).unwrap_or_default();
    let lines = graph.lines(&[("valid", valid), ("index", index)], Syntax::Python).unwrap_or_default();
    let piece = |piece: TextPiece| match piece {
        TextPiece::Text(text) => Value::from(text),
        TextPiece::Part(part) => Value::from(place(part)),
    };
    let line = |Line { name, expr, pieces, .. }: Line| {
        let pieces: Value = pieces.into_iter().map(piece).collect();
        object! { "name": name, "node": place(expr), "pieces": pieces }
    };
    lines.into_iter().map(line).collect()
}
