//! The levels of a nest as data, for whoever writes the text themselves.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use shapetracker::expr::{self, Binary, Definition, Expr as Handle, Graph, Levels, Node, Reference};

use super::given::Refused;
use crate::expr::Expr;

/// A level of a nest: what stands in one loop, or outside of all.
///
/// In its expressions the names of `definitions`, of this level and of those around it, are variables: each part is computed once, in
/// the outermost loop that knows it. A condition that has a name is a number there, 0 or 1.
///
/// >>> from shapetracker import Nest
/// >>> nest = Nest()
/// >>> i, k = nest.each("i", 56), nest.reduce("k", 3)
/// >>> nest.access("x", i * 4 + k, valid=k <= i)
/// >>> nest.clip("x", reduced=True)
/// >>> outside, outer, inner = nest.levels()
/// >>> print(outer.name, outer.begin, outer.end, *outer.definitions.items())
/// i 0 56 ('t0', Expr('i * 4', i=range(0, 56)))
/// >>> print(inner.name, inner.begin, inner.end, inner.accesses["x"][0])
/// k 0 min(i + 1, 3) t0 + k
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Level {
    parent: Option<usize>,
    header: Option<Header>,
    definitions: Vec<(String, Py<Expr>)>,
    condition: Option<Py<Expr>>,
    accesses: Vec<(String, [Py<Expr>; 2])>,
    values: Vec<(String, Py<Expr>)>,
    loops: Vec<(String, Py<Expr>)>,
    is_innermost: bool,
}

struct Header {
    name: String,
    ends: [Py<PyAny>; 2],
    is_reduced: bool,
}

/// A level before it is made of objects of Python.
pub(super) struct Found {
    parent: Option<usize>,
    header: Option<(String, [Expr; 2], bool)>,
    definitions: Vec<(String, Expr)>,
    condition: Option<Expr>,
    accesses: Vec<(String, [Expr; 2])>,
    values: Vec<(String, Expr)>,
    loops: Vec<(String, Expr)>,
    is_innermost: bool,
}

/// Expressions of levels by themselves, over what has a name.
struct Reader<'a> {
    graph: &'a Graph,
    /// What is defined.
    named: HashMap<Handle, &'a str>,
    /// What the variables of loops are called: the parts of a loop that is run in parts have one each, and one name.
    loops: HashMap<Handle, &'a str>,
}

impl Reader<'_> {
    /// An expression; as the meaning of its name, where it is a definition.
    fn written(&self, root: Handle, is_definition: bool) -> Result<Expr, Refused> {
        let parts = self.graph.parts(&[root]);
        let mut graph = Graph::new();
        let mut made: Vec<Handle> = Vec::with_capacity(parts.len());
        for &part in &parts {
            let of = |operand: Handle| made[parts.binary_search(&operand).unwrap_or_default()];
            let name = self.named.get(&part).filter(|_| !(is_definition && part == root));
            let (low, high) = self.graph.range(part);
            let new = match (name, self.graph.node(part)) {
                // What is known to be one number depends on no loop, also where it is written with one that runs once.
                _ if low == high && self.graph.is_condition(part) => graph.bool(low != 0),
                _ if low == high => graph.int(low),
                (Some(name), _) => {
                    let variable = graph.variable(name, low..high.saturating_add(1))?;
                    match self.graph.is_condition(part) {
                        true => {
                            let zero = graph.int(0);
                            graph.binary(Binary::Ne, variable, zero)?
                        }
                        false => variable,
                    }
                }
                (None, Node::Int(value)) => graph.int(value),
                (None, Node::Bool(value)) => graph.bool(value),
                (None, Node::Variable(place)) => {
                    let variable = &self.graph.variables()[place];
                    let name = self.loops.get(&part).copied().unwrap_or(&variable.name);
                    graph.variable(name, variable.range.clone())?
                }
                (None, Node::Binary(op, a, b)) => graph.binary(op, of(a), of(b))?,
                (None, Node::Within(a, begin, end)) => graph.within(of(a), begin, end)?,
                (None, Node::Not(a)) => graph.not(of(a))?,
                (None, Node::Select(condition, a, b)) => graph.select(of(condition), of(a), of(b))?,
                (None, other) => return Err(Refused::Sentence(format!("levels: {other:?} has no name in Python"))),
            };
            made.push(new);
        }
        Ok(Expr::extracted(&graph, made[parts.binary_search(&root).unwrap_or_default()])?)
    }

    fn all(&self, definitions: &[Definition], are_definitions: bool) -> Result<Vec<(String, Expr)>, Refused> {
        let of = |one: &Definition| Ok((one.name.clone(), self.written(one.expr, are_definitions)?));
        definitions.iter().map(of).collect()
    }
}

/// The levels, each after the one that it stands in.
pub(super) fn found(levels: &Levels) -> Result<Vec<Found>, Refused> {
    let all = levels.all();
    let definitions = all.iter().flat_map(|level| &level.definitions);
    let headers = all.iter().filter_map(|level| level.header.as_ref());
    let reader = Reader {
        graph: levels.graph(),
        named: definitions.map(|one| (one.expr, &one.name[..])).collect(),
        loops: headers.map(|header| (header.variable, &header.name[..])).collect(),
    };
    let of = |level: &expr::Level| {
        let header = level.header.as_ref().map(|header| {
            let ends = [reader.written(header.begin, false)?, reader.written(header.end, false)?];
            Ok::<_, Refused>((header.name.clone(), ends, header.is_reduced))
        });
        let access = |one: &Reference| {
            Ok((one.name.clone(), [reader.written(one.index, false)?, reader.written(one.valid, false)?]))
        };
        Ok(Found {
            parent: level.parent,
            header: header.transpose()?,
            definitions: reader.all(&level.definitions, true)?,
            condition: level.condition.map(|condition| reader.written(condition, false)).transpose()?,
            accesses: level.accesses.iter().map(access).collect::<Result<_, Refused>>()?,
            values: reader.all(&level.values, false)?,
            loops: reader.all(&level.loops, false)?,
            is_innermost: level.is_innermost,
        })
    };
    all.iter().map(of).collect()
}

impl Found {
    pub(super) fn made(self, py: Python<'_>) -> PyResult<Level> {
        let list = |all: Vec<(String, Expr)>| -> PyResult<Vec<(String, Py<Expr>)>> {
            all.into_iter().map(|(name, expr)| Ok((name, Py::new(py, expr)?))).collect()
        };
        let header = self.header.map(|(name, [begin, end], is_reduced)| {
            let ends = [begin.number_or_self(py)?.unbind(), end.number_or_self(py)?.unbind()];
            PyResult::Ok(Header { name, ends, is_reduced })
        });
        let access =
            |(name, [index, valid]): (String, [Expr; 2])| Ok((name, [Py::new(py, index)?, Py::new(py, valid)?]));
        Ok(Level {
            parent: self.parent,
            header: header.transpose()?,
            definitions: list(self.definitions)?,
            condition: self.condition.map(|condition| Py::new(py, condition)).transpose()?,
            accesses: self.accesses.into_iter().map(access).collect::<PyResult<_>>()?,
            values: list(self.values)?,
            loops: list(self.loops)?,
            is_innermost: self.is_innermost,
        })
    }
}

/// A dict of expressions by their names.
fn dict<'py>(py: Python<'py>, all: &[(String, Py<Expr>)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, expr) in all {
        dict.set_item(name, expr)?;
    }
    Ok(dict)
}

#[pymethods]
impl Level {
    /// The place among the levels of the one that it stands in; None outside of all loops.
    #[getter]
    fn parent(&self) -> Option<usize> {
        self.parent
    }

    /// The name of the loop; None outside of all loops.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.header.as_ref().map(|header| &header.name[..])
    }

    /// The first value of the loop, where it is less than the end.
    #[getter]
    fn begin(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.header.as_ref().map(|header| header.ends[0].clone_ref(py))
    }

    /// The value that ends the loop, which does not reach it.
    #[getter]
    fn end(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.header.as_ref().map(|header| header.ends[1].clone_ref(py))
    }

    /// Whether the body sums over the loop, or joins in another way.
    #[getter]
    fn is_reduced(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.is_reduced)
    }

    /// What is computed here because this is the outermost level that knows it, each before it is used.
    #[getter]
    fn definitions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.definitions)
    }

    /// What must hold for anything inside to run; None where nothing is asked.
    #[getter]
    fn condition(&self, py: Python<'_>) -> Option<Py<Expr>> {
        self.condition.as_ref().map(|condition| condition.clone_ref(py))
    }

    /// In an innermost level the accesses: address, and what is left of the guard.
    #[getter]
    fn accesses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let accesses = PyDict::new(py);
        for (name, [index, valid]) in &self.accesses {
            accesses.set_item(name, (index, valid))?;
        }
        Ok(accesses)
    }

    /// In an innermost level the values that were given a name.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.values)
    }

    /// In an innermost level each loop that the nest has, or had before it was split.
    #[getter]
    fn loops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dict(py, &self.loops)
    }

    /// Whether the body stands here.
    #[getter]
    fn is_innermost(&self) -> bool {
        self.is_innermost
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        match &self.header {
            None => "<Level outside of all loops>".to_owned(),
            Some(Header { name, ends: [begin, end], .. }) => {
                format!("<Level of {name}, from {} to {}>", begin.bind(py), end.bind(py))
            }
        }
    }
}
