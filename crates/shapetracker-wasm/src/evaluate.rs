//! The value of every part of an expression at one index.

use shapetracker::expr::{Expr, Graph};

use crate::expression::MOST_NODES;
use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::Layout;

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
