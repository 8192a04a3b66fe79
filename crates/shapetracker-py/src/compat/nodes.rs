//! Expressions as lists of nodes for tinygrad's graph, which multiplies sums out.

use pyo3::prelude::*;
use shapetracker::expr::{Expr as Handle, Graph};

use crate::error::layout;
use crate::expr::{Expr, nodes};
use crate::tracker::ShapeTracker;

/// The nodes of an index and of its guard, operands first, and the places of the two.
type Nodes<'py> = (Vec<Bound<'py, PyAny>>, usize, usize);

/// What reads an element of a tracker, over `idx0`, `idx1`, .., as the nodes of both expressions.
#[pyfunction]
pub(super) fn index_nodes<'py>(tracker: &Bound<'py, ShapeTracker>) -> PyResult<Nodes<'py>> {
    let code = tracker.get().numbers("index_nodes")?.multiplied_out_expr().map_err(|err| layout(&err))?;
    listed(tracker.py(), code.graph(), code.index(), code.valid())
}

/// An index and its guard, simplified together, as the nodes of both.
#[pyfunction]
pub(super) fn pair_nodes<'py>(index: &Bound<'py, Expr>, valid: &Bound<'py, Expr>) -> PyResult<Nodes<'py>> {
    let mut graph = Graph::new();
    let (index_in, valid_in) = (index.get().import_into(&mut graph)?, valid.get().import_into(&mut graph)?);
    let (simple, guard) = graph.simplify_pair(index_in, valid_in);
    let (simple, guard) = graph.multiplied_out(simple, guard);
    listed(index.py(), &graph, simple, guard)
}

fn listed<'py>(py: Python<'py>, graph: &Graph, index: Handle, valid: Handle) -> PyResult<Nodes<'py>> {
    let parts = graph.parts(&[index, valid]);
    let place = |expr: Handle| parts.binary_search(&expr).unwrap_or_default();
    Ok((nodes(py, graph, &parts)?, place(index), place(valid)))
}
