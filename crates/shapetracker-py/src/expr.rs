//! Expressions: what reads an element of a tracker, and any other over variables with ranges.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem::{Discriminant, discriminant};

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBool, PyDict, PyInt, PyRange, PyTuple};
use shapetracker::expr::{self, Binary, Expr as Handle, Extremes, Graph, Language, Node, Syntax};
use shapetracker::text::LONGEST_TEXT;
use shapetracker_symbolic::Question;

use crate::arguments::{described, number, numbers, tuple};
use crate::cute::ComposedLayout;
use crate::error::{layout, parse};
use crate::import::module;
use crate::symbolic;
use crate::tracker::ShapeTracker;

/// A node without the handles of its operands: its kind, operation and numbers, and the places of its operands.
type Part = (Discriminant<Node>, Option<Binary>, [i64; 2], Vec<usize>);

/// An expression over variables that have ranges: `Expr("x*4 + y", x=range(0, 10), y=range(0, 4))`. Text of C is read with
/// `syntax="c"`, so that no variable can be called `syntax`.
///
/// Operators make new ones: `+ - * // %` of numbers, `< <= > >=` and `eq`, `ne` of numbers as conditions, `& | ~` of
/// conditions. `==` is whether two have the same structure; what is to be cheaper is to be asked for with `simplify`.
#[pyclass(frozen, module = "shapetracker")]
#[derive(Debug)]
pub(crate) struct Expr {
    /// Nothing but this expression, in an order that its structure alone determines.
    graph: Graph,
    root: Handle,
}

/// Parts of a graph as tuples, with the places of operands among the parts, which include them.
pub(crate) fn nodes<'py>(py: Python<'py>, graph: &Graph, parts: &[Handle]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let place = |expr: Handle| parts.binary_search(&expr).unwrap_or_default();
    let node = |&part: &Handle| -> PyResult<Bound<'py, PyAny>> {
        let node = match graph.node(part) {
            Node::Int(value) => ("int", value).into_pyobject(py)?,
            Node::Bool(value) => ("bool", value).into_pyobject(py)?,
            Node::Variable(variable) => ("variable", &graph.variables()[variable].name).into_pyobject(py)?,
            Node::Binary(op, a, b) => (op.name(), place(a), place(b)).into_pyobject(py)?,
            Node::Within(a, begin, end) => ("within", place(a), begin, end).into_pyobject(py)?,
            Node::Not(a) => ("not", place(a)).into_pyobject(py)?,
            Node::Select(c, a, b) => ("if", place(c), place(a), place(b)).into_pyobject(py)?,
            other => return Err(PyValueError::new_err(format!("nodes: {other:?} has no name in Python"))),
        };
        Ok(node.into_any())
    };
    parts.iter().map(node).collect()
}

impl Expr {
    /// The expression in another graph, whose variables of the same names it shares.
    pub(crate) fn import_into(&self, graph: &mut Graph) -> PyResult<Handle> {
        import(graph, &self.graph, self.root, &HashMap::new()).map_err(|err| refused(&err))
    }
}

/// What may stand beside an operator: an expression, or a number or condition of Python.
enum Operand<'py> {
    Expr(Bound<'py, Expr>),
    Int(i64),
    Bool(bool),
}

#[pymethods]
impl Expr {
    #[new]
    #[pyo3(signature = (text, /, *, syntax="python", **variables))]
    fn new(py: Python<'_>, text: &str, syntax: &str, variables: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut graph = Graph::new();
        for (name, range) in variables.into_iter().flatten() {
            let name: String = name.extract()?;
            let (begin, end) = range_of("Expr", &name, &range)?;
            graph.variable(&name, begin..end).map_err(|err| refused(&err))?;
        }
        let root = graph.parse(text, syntax_of(syntax)?).map_err(|err| parse(py, text, &err))?;
        Expr::extracted(&graph, root)
    }

    /// The variables by their names, with the ranges of their values.
    #[getter]
    fn variables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let variables = PyDict::new(py);
        for variable in self.graph.variables() {
            let (begin, end) = (variable.range.start, variable.range.end);
            let range = py.get_type::<PyRange>().call1((begin, end))?;
            variables.set_item(&variable.name, range)?;
        }
        Ok(variables)
    }

    /// A smallest and a largest value that the ranges of the variables allow: a bound, which costs nothing; the expression
    /// may have less. `extremes` has the values that it has.
    #[getter]
    fn range(&self) -> (i64, i64) {
        self.graph.range(self.root)
    }

    /// The least and the greatest value, and whether the expression has them: `(low, high, exact)`. Where `exact` is False
    /// the search, whose work is limited to about a millisecond, ended before that was sure, and they are a bound.
    ///
    /// >>> from shapetracker import Expr
    /// >>> total = Expr.parse("x // 7 + x % 7", x=range(102))
    /// >>> total.range, total.extremes
    /// ((0, 20), (0, 19, True))
    #[getter]
    fn extremes(&self) -> (i64, i64, bool) {
        let found = self.graph.extremes(self.root, None).unwrap_or_else(|| Extremes::bound(self.range()));
        (found.low, found.high, found.exact)
    }

    /// What computing it costs: distinct operations, divisions, and a weight.
    #[getter]
    fn cost(&self) -> Cost {
        Cost(self.graph.cost(&[self.root]))
    }

    /// The expression with the same value for all values of the variables that is cheapest as far as we know.
    ///
    /// `where` says what else is known of the variables, as that of `merge` does: `"z < Z, H = 8*h, p % 2 == 0"`. The result has
    /// the same value where that holds.
    ///
    /// >>> from shapetracker import Expr
    /// >>> flat = Expr("(b*T + t) // T", b=range(1 << 20), t=range(1 << 20), T=range(1, 1 << 20))
    /// >>> str(flat.simplify(where="t < T"))
    /// 'b'
    #[pyo3(signature = (*, r#where=""))]
    fn simplify(&self, py: Python<'_>, r#where: &str) -> PyResult<Self> {
        // The order of variables decides how sums are written, and equal expressions may have theirs in different orders.
        let prefix = |name: &str| name.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned();
        let mut variables = self.graph.variables().to_vec();
        variables.sort_by_cached_key(|variable| (prefix(&variable.name), variable.name.len(), variable.name.clone()));
        let mut graph = Graph::new();
        for variable in variables {
            graph.variable(&variable.name, variable.range).map_err(|err| refused(&err))?;
        }
        let root = import(&mut graph, &self.graph, self.root, &HashMap::new()).map_err(|err| refused(&err))?;
        let divisors = graph.parts(&[root]).into_iter().filter_map(|part| match graph.node(part) {
            Node::Binary(Binary::Div | Binary::Mod, _, divisor) => Some(divisor),
            _ => None,
        });
        let divisors: Vec<Handle> = divisors.collect();
        let varies = |part: &Handle| matches!(graph.node(*part), Node::Variable(_));
        if r#where.is_empty() && !graph.parts(&divisors).iter().any(varies) {
            let simple = graph.simplify(root);
            return Expr::extracted(&graph, simple);
        }
        let simple = shapetracker_symbolic::bounded(|| {
            let mut question = Question::new([r#where])?;
            Ok(question.expression_of(&graph, root)?.simplify())
        });
        match simple {
            Ok(simple) => Expr::extracted(simple.graph(), simple.value()),
            // More variables than names can be, and what is called what no name is: numbers alone.
            Err(_) if r#where.is_empty() => {
                let simple = graph.simplify(root);
                Expr::extracted(&graph, simple)
            }
            Err(err) => Err(parse(py, r#where, &err)),
        }
    }

    /// The value where each variable has a value: `evaluate(x=3, y=1)`. A condition is True or False.
    #[pyo3(signature = (**values))]
    fn evaluate<'py>(&self, py: Python<'py>, values: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
        const OP: &str = "evaluate";
        let variables = self.graph.variables();
        let mut given = HashMap::new();
        for (name, value) in values.into_iter().flatten() {
            let name: String = name.extract()?;
            let value = number(OP, || format!("`{name}`"), &value)?;
            given.insert(name, value);
        }
        let mut ordered = Vec::with_capacity(variables.len());
        for variable in variables {
            let name = &variable.name;
            let missing = || PyTypeError::new_err(format!("{OP}: the variable `{name}` has no value"));
            ordered.push(given.remove(name).ok_or_else(missing)?);
        }
        let value = self.graph.evaluate(self.root, &ordered).map_err(|err| refused(&err))?;
        self.python_value(py, value)
    }

    /// The values for all values of all variables, in the order of `variables`, the last one running fastest.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let values = py.detach(|| self.graph.values(self.root)).map_err(|err| refused(&err))?;
        values.into_iter().map(|value| self.python_value(py, value)).collect()
    }

    /// The expression with others in place of variables: `substitute(x=Expr("a*2", a=range(5)), y=0)`.
    #[pyo3(signature = (**values))]
    fn substitute(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        const OP: &str = "substitute";
        let mut graph = Graph::new();
        let mut replaced = HashMap::new();
        for (name, value) in values.into_iter().flatten() {
            let name: String = name.extract()?;
            let Some(place) = self.graph.variables().iter().position(|variable| variable.name == name) else {
                continue;
            };
            let value = operand(&value).ok_or_else(|| {
                PyTypeError::new_err(format!("{OP}: `{name}` takes an Expr or a number, not {}", described(&value)))
            })??;
            let value = value.into_graph(&mut graph)?;
            let ((low, high), allowed) = (graph.range(value), &self.graph.variables()[place].range);
            if low < allowed.start || high >= allowed.end {
                let (begin, end) = (allowed.start, allowed.end);
                return Err(PyValueError::new_err(format!(
                    "{OP}: `{name}` has values in {begin}..{end}, but what replaces it ranges from {low} to {high}"
                )));
            }
            replaced.insert(place, value);
        }
        let root = import(&mut graph, &self.graph, self.root, &replaced).map_err(|err| refused(&err))?;
        Expr::extracted(&graph, root)
    }

    /// The expression as text of Python or C, without more parentheses than it needs.
    #[pyo3(signature = (syntax="python"))]
    fn text(&self, syntax: &str) -> PyResult<String> {
        self.graph.text(self.root, syntax_of(syntax)?).map_err(|err| refused(&err))
    }

    /// Definitions in a language (python, c, cuda, opencl, metal, wgsl, rust, mlir, latex) that end in one of `name`;
    /// what is used more than once is computed once.
    #[pyo3(signature = (language="python", name="value"))]
    fn code(&self, language: &str, name: &str) -> PyResult<String> {
        let taken = self.graph.variables().iter().any(|variable| variable.name == name);
        let letters = |c: char| c == '_' || c.is_ascii_alphanumeric();
        if taken || !name.chars().all(letters) || !name.starts_with(|c| letters(c) && !c.is_ascii_digit()) {
            let why = if taken { "is a variable of the expression" } else { "is no name" };
            return Err(PyValueError::new_err(format!("code: the result cannot be called `{name}`, which {why}")));
        }
        self.graph
            .code(language_of(language)?, &[(name, self.root)])
            .map_err(|err| PyValueError::new_err(err.to_string()))
    }

    /// What it is made of, as tuples, operands first and the expression itself last: `("int", 3)`, `("variable", "x")`,
    /// `("//", 1, 0)` with the places of the operands.
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        nodes(py, &self.graph, &self.graph.parts(&[self.root]))
    }

    /// The first where the condition holds, the second elsewhere: `(x < 3).where(x, 0)`.
    fn r#where(slf: &Bound<'_, Self>, then: &Bound<'_, PyAny>, otherwise: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut graph = Graph::new();
        let mut add = |value: &Bound<'_, PyAny>| needed("where", value)?.into_graph(&mut graph);
        let [condition, then, otherwise] = [add(slf)?, add(then)?, add(otherwise)?];
        let root = graph.select(condition, then, otherwise).map_err(|err| refused(&err))?;
        Expr::extracted(&graph, root)
    }

    /// The smaller of two numbers.
    fn min(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        binary(Binary::Min, slf, other)
    }

    /// The larger of two numbers.
    fn max(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        binary(Binary::Max, slf, other)
    }

    /// The condition that two numbers are equal. (`==` compares expressions, not values.)
    fn eq(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        binary(Binary::Eq, slf, other)
    }

    /// The condition that two numbers are different.
    fn ne(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        binary(Binary::Ne, slf, other)
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Add, slf, other)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Add, other, slf)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Sub, slf, other)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Sub, other, slf)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Mul, slf, other)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Mul, other, slf)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Div, slf, other)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Div, other, slf)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Mod, slf, other)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Mod, other, slf)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::And, slf, other)
    }

    fn __rand__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::And, other, slf)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Or, slf, other)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Or, other, slf)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Xor, slf, other)
    }

    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(Binary::Xor, other, slf)
    }

    fn __neg__(&self) -> PyResult<Self> {
        let mut graph = self.graph.clone();
        let zero = graph.int(0);
        let root = graph.binary(Binary::Sub, zero, self.root).map_err(|err| refused(&err))?;
        Expr::extracted(&graph, root)
    }

    fn __invert__(&self) -> PyResult<Self> {
        let mut graph = self.graph.clone();
        let root = graph.not(self.root).map_err(|err| refused(&err))?;
        Expr::extracted(&graph, root)
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        compare: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let op = match compare {
            CompareOp::Lt => Binary::Lt,
            CompareOp::Le => Binary::Le,
            CompareOp::Gt => Binary::Gt,
            CompareOp::Ge => Binary::Ge,
            CompareOp::Eq | CompareOp::Ne => {
                let Ok(other) = other.cast::<Expr>() else { return Ok(py.NotImplemented().into_bound(py)) };
                let same = slf.get().same(other.get());
                return Ok(PyBool::new(py, same == matches!(compare, CompareOp::Eq)).to_owned().into_any());
            }
        };
        operator(op, slf, other)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.structure().hash(&mut hasher);
        self.graph.variables().iter().for_each(|variable| variable.name.hash(&mut hasher));
        hasher.finish()
    }

    fn __bool__(&self) -> PyResult<bool> {
        match self.range() {
            (low, high) if low == high => Ok(low != 0),
            _ => Err(PyTypeError::new_err(
                "an expression over variables is neither true nor false: evaluate(..) says what it is for some values",
            )),
        }
    }

    fn __str__(&self) -> PyResult<String> {
        self.text("python")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.text("python")?.into_pyobject(py)?.repr()?;
        let variables = self.graph.variables().iter();
        let variables = variables.map(|v| format!(", {}=range({}, {})", v.name, v.range.start, v.range.end));
        Ok(format!("Expr({text}{})", variables.collect::<String>()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, expr) = (slf.py(), slf.get());
        let text = expr.text("python")?;
        if text.len() > LONGEST_TEXT {
            let sentence = format!("the text of the expression has {} bytes, and {LONGEST_TEXT} are read", text.len());
            return Err(PyValueError::new_err(sentence));
        }
        let partial = module(py, "functools")?.getattr("partial")?;
        let again = partial.call((slf.get_type(),), Some(&expr.variables(py)?))?;
        (again, (text,)).into_pyobject(py)
    }
}

impl Expr {
    /// An expression by itself: in a graph that holds nothing else.
    pub(crate) fn extracted(from: &Graph, root: Handle) -> PyResult<Expr> {
        let mut graph = Graph::new();
        let root = import(&mut graph, from, root, &HashMap::new()).map_err(|err| refused(&err))?;
        Ok(Expr { graph, root })
    }

    /// The same by itself, over variables of other names: one name, and their places.
    pub(crate) fn renamed(from: &Graph, root: Handle, name: &str) -> PyResult<Expr> {
        let mut graph = Graph::new();
        let moved = graph.import(from, &[root], |graph, place| {
            graph.variable(&format!("{name}{place}"), from.variables()[place].range.clone())
        });
        Ok(Expr { root: moved.map_err(|err| refused(&err))?[0], graph })
    }

    /// The number that it is, where it is one; else the expression.
    pub(crate) fn number_or_self(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self.range() {
            (low, high) if low == high && !self.graph.is_condition(self.root) => Ok(low.into_pyobject(py)?.into_any()),
            _ => Ok(Bound::new(py, self)?.into_any()),
        }
    }

    /// The graph, and the expression in it.
    pub(crate) fn parts(&self) -> (&Graph, Handle) {
        (&self.graph, self.root)
    }

    /// What is made of the graph and of what the expression is made of, operands first.
    pub(crate) fn written(&self, write: impl FnOnce(&Graph, &[Handle]) -> String) -> PyResult<String> {
        Ok(write(&self.graph, &self.graph.parts(&[self.root])))
    }

    fn same(&self, other: &Expr) -> bool {
        self.graph.variables() == other.graph.variables() && self.structure() == other.structure()
    }

    /// The nodes, operands before what is made of them, with the places of their operands among them: handles are of one graph.
    fn structure(&self) -> Vec<Part> {
        let parts = self.graph.parts(&[self.root]);
        let places =
            |node: &Node| node.operands().map(|operand| parts.partition_point(|part| *part < operand)).collect();
        let of = |node: Node| {
            let (operation, numbers) = match node {
                Node::Int(value) => (None, [value, 0]),
                Node::Bool(value) => (None, [value.into(), 0]),
                Node::Variable(variable) => (None, [variable as i64, 0]),
                Node::Within(_, begin, end) => (None, [begin, end]),
                Node::Binary(operation, ..) => (Some(operation), [0, 0]),
                _ => (None, [0, 0]),
            };
            (discriminant(&node), operation, numbers, places(&node))
        };
        parts.iter().map(|&part| of(self.graph.node(part))).collect()
    }

    fn python_value<'py>(&self, py: Python<'py>, value: i64) -> PyResult<Bound<'py, PyAny>> {
        if self.graph.is_condition(self.root) {
            Ok(PyBool::new(py, value != 0).to_owned().into_any())
        } else {
            Ok(value.into_pyobject(py)?.into_any())
        }
    }
}

impl Operand<'_> {
    fn into_graph(self, graph: &mut Graph) -> PyResult<Handle> {
        match self {
            Operand::Int(value) => Ok(graph.int(value)),
            Operand::Bool(value) => Ok(graph.bool(value)),
            Operand::Expr(expr) => expr.get().import_into(graph),
        }
    }
}

/// The same expression in another graph, some variables replaced.
fn import(
    to: &mut Graph,
    from: &Graph,
    root: Handle,
    replaced: &HashMap<usize, Handle>,
) -> Result<Handle, expr::Error> {
    let moved = to.import(from, &[root], |to, place| match replaced.get(&place) {
        Some(&value) => Ok(value),
        None => to.variable(&from.variables()[place].name, from.variables()[place].range.clone()),
    })?;
    Ok(moved[0])
}

/// What the graph refuses, as an exception.
pub(crate) fn refused(err: &expr::Error) -> PyErr {
    layout(&err.clone().into())
}

/// What may stand beside an operator; nothing for values of other types.
fn operand<'py>(value: &Bound<'py, PyAny>) -> Option<PyResult<Operand<'py>>> {
    if let Ok(expr) = value.cast::<Expr>() {
        Some(Ok(Operand::Expr(expr.clone())))
    } else if let Ok(value) = value.cast::<PyBool>() {
        Some(Ok(Operand::Bool(value.is_true())))
    } else if value.is_instance_of::<PyInt>() || value.hasattr("__index__").unwrap_or(false) {
        let past = || PyOverflowError::new_err("a number of an expression is past the range of 64-bit integers");
        Some(value.extract().map(Operand::Int).map_err(|_| past()))
    } else {
        None
    }
}

fn needed<'py>(op: &str, value: &Bound<'py, PyAny>) -> PyResult<Operand<'py>> {
    let mismatch = || Err(PyTypeError::new_err(format!("{op}: takes an Expr or a number, not {}", described(value))));
    operand(value).unwrap_or_else(mismatch)
}

fn binary(op: Binary, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<Expr> {
    let mut graph = Graph::new();
    let a = needed(op.name(), a)?.into_graph(&mut graph)?;
    let b = needed(op.name(), b)?.into_graph(&mut graph)?;
    let root = graph.binary(op, a, b).map_err(|err| refused(&err))?;
    Expr::extracted(&graph, root)
}

/// An operator of Python, which lets the other operand try where this one does not know it.
fn operator<'py>(op: Binary, a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = a.py();
    if operand(a).is_none() || operand(b).is_none() {
        return Ok(py.NotImplemented().into_bound(py));
    }
    Ok(Bound::new(py, binary(op, a, b)?)?.into_any())
}

/// The range of a variable: a `range`, or a pair of numbers, half-open.
pub(crate) fn range_of(op: &str, name: &str, range: &Bound<'_, PyAny>) -> PyResult<(i64, i64)> {
    let place = || format!("the range of `{name}`");
    if let Ok(range) = range.cast::<PyRange>() {
        let (begin, end, step) = (range.getattr("start")?, range.getattr("stop")?, range.getattr("step")?);
        if number(op, place, &step)? != 1 {
            return Err(PyValueError::new_err(format!("{op}: the range of `{name}` is to have step 1")));
        }
        return Ok((number(op, place, &begin)?, number(op, place, &end)?));
    }
    let pair: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = range.extract().ok();
    let Some((begin, end)) = pair else {
        let sentence = format!("{op}: `{name}` takes a range such as range(0, 10), not {}", described(range));
        return Err(PyTypeError::new_err(sentence));
    };
    Ok((number(op, place, &begin)?, number(op, place, &end)?))
}

fn syntax_of(name: &str) -> PyResult<Syntax> {
    match name {
        "python" => Ok(Syntax::Python),
        "c" => Ok(Syntax::C),
        _ => Err(PyValueError::new_err(format!("there is no syntax `{name}`; there are python and c"))),
    }
}

pub(crate) fn language_of(name: &str) -> PyResult<Language> {
    name.parse().map_err(|err: shapetracker::expr::UnknownLanguage| PyValueError::new_err(err.to_string()))
}

/// An index and a condition simplified together: where the condition does not hold, the index may become anything.
#[pyfunction]
pub(crate) fn simplify_pair(index: &Bound<'_, Expr>, valid: &Bound<'_, Expr>) -> PyResult<(Expr, Expr)> {
    let mut graph = Graph::new();
    let index = Operand::Expr(index.clone()).into_graph(&mut graph)?;
    let valid = Operand::Expr(valid.clone()).into_graph(&mut graph)?;
    if !graph.is_condition(valid) {
        return Err(PyTypeError::new_err("simplify_pair: a condition is needed as the second, such as x < 4"));
    }
    let (index, valid) = graph.simplify_pair(index, valid);
    Ok((Expr::extracted(&graph, index)?, Expr::extracted(&graph, valid)?))
}

/// What computing expressions costs: distinct operations (`ops`), divisions and modulos among them that are not by a
/// constant power of two (`divmods`), and a figure in which these weigh what they take (`weight`).
#[pyclass(frozen, eq, hash, module = "shapetracker")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Cost(shapetracker::expr::Cost);

#[pymethods]
impl Cost {
    #[new]
    fn new(ops: usize, divmods: usize, weight: usize) -> Self {
        Cost(shapetracker::expr::Cost::new(ops, divmods, weight))
    }

    /// The distinct operations.
    #[getter]
    fn ops(&self) -> usize {
        self.0.ops
    }

    /// The divisions and modulos among them that are not by a constant power of two.
    #[getter]
    fn divmods(&self) -> usize {
        self.0.divmods
    }

    /// The operations, divisions counted as what they take.
    #[getter]
    fn weight(&self) -> usize {
        self.0.weight
    }

    fn __repr__(&self) -> String {
        format!("Cost(ops={}, divmods={}, weight={})", self.0.ops, self.0.divmods, self.0.weight)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let cost = slf.get().0;
        (slf.get_type(), (cost.ops, cost.divmods, cost.weight)).into_pyobject(slf.py())
    }
}

/// What reads the elements of a tracker, or of a layout of CuTe: the address `index` of the element idx0, idx1, .. where
/// `valid` holds.
///
/// The names of a tracker that has some are variables as well, and arguments of kernels. Code has numbers of at most 64 bits:
/// names without an end have one there, which `parameters` tells, and the code is right for these values, where the tracker's
/// `needs` and what is given hold.
///
/// >>> from shapetracker import ShapeTracker, Sym
/// >>> t, h = Sym("T", 1, 1024), Sym("H", 1, 64)
/// >>> expr = ShapeTracker.contiguous(t, h, 64).permute(1, 0, 2).index_expr()
/// >>> expr
/// <IndexExpr index: (idx1 * H + idx0) * 64 + idx2, valid: True>
/// >>> expr.parameters
/// {'T': range(1, 1025), 'H': range(1, 65)}
/// >>> expr.address(1, 2, 3, T=8, H=4)
/// 579
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct IndexExpr {
    expr: shapetracker::expr::IndexExpr,
    source: Source,
}

/// What an index is that of.
#[derive(PartialEq, Eq, Hash)]
enum Source {
    Tracker(ShapeTracker),
    Layout(shapetracker_cute::ComposedLayout),
}

impl IndexExpr {
    pub(crate) fn of(tracker: &ShapeTracker) -> PyResult<Self> {
        let expr = match tracker.named() {
            None => tracker.numbers("index_expr")?.index_expr().map_err(|err| layout(&err))?,
            Some(named) => named.index_expr().map_err(|err| symbolic::refused(&err))?,
        };
        Ok(IndexExpr { expr, source: Source::Tracker(tracker.clone()) })
    }

    /// The code of a layout, of which `expr` is the index.
    pub(crate) fn of_layout(expr: shapetracker::expr::IndexExpr, layout: shapetracker_cute::ComposedLayout) -> Self {
        IndexExpr { expr, source: Source::Layout(layout) }
    }

    /// The index as the library has it.
    pub(crate) fn of_graph(&self) -> &shapetracker::expr::IndexExpr {
        &self.expr
    }

    /// The tracker that is read, where it has names.
    pub(crate) fn named(&self) -> Option<&shapetracker_symbolic::ShapeTracker> {
        let Source::Tracker(tracker) = &self.source else { return None };
        tracker.named()
    }
}

#[pymethods]
impl IndexExpr {
    /// The address, as an expression over idx0, idx1, .. and the names; it means nothing where `valid` does not hold.
    #[getter]
    fn index(&self) -> PyResult<Expr> {
        Expr::extracted(self.expr.graph(), self.expr.index())
    }

    /// The condition that the element has an address.
    #[getter]
    fn valid(&self) -> PyResult<Expr> {
        Expr::extracted(self.expr.graph(), self.expr.valid())
    }

    /// The shape of the tensor that is read.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match self.named() {
            None => tuple(py, self.expr.extents()),
            Some(named) => symbolic::tuple(py, named.sizes()),
        }
    }

    /// The names that occur, with the ranges of their values.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parameters = PyDict::new(py);
        for parameter in self.expr.parameters() {
            let range = py.get_type::<PyRange>().call1((parameter.range.start, parameter.range.end))?;
            parameters.set_item(&parameter.name, range)?;
        }
        Ok(parameters)
    }

    /// What computing both costs, with what they have in common computed once.
    #[getter]
    fn cost(&self) -> Cost {
        Cost(self.expr.cost())
    }

    /// The address of an element as the expressions compute it, with values of the tracker's names if it has some:
    /// `address(1, 2, n=8)`. None where it is not valid.
    #[pyo3(signature = (*index, **values))]
    fn address(&self, index: &Bound<'_, PyTuple>, values: Option<&Bound<'_, PyDict>>) -> PyResult<Option<i64>> {
        const OP: &str = "address";
        let (graph, mut all) = (self.expr.graph(), numbers(OP, index)?);
        if let Some(named) = self.named() {
            let scope = named.scope();
            let point = symbolic::point(OP, scope, named.needs(), values)?;
            if all.len() != named.rank() {
                let sentence = format!("takes one number per axis: the tensor has {}, not {}", named.rank(), all.len());
                return Err(PyValueError::new_err(format!("{OP}: {sentence}")));
            }
            let sizes = named.shape().iter().map(|size| size.eval(&point));
            if !all.iter().zip(sizes).all(|(&at, size)| at >= 0 && size.is_some_and(|size| i128::from(at) < size)) {
                return Ok(None);
            }
            for parameter in self.expr.parameters() {
                let place = scope.names().iter().position(|name| *name.name == *parameter.name);
                let value = place.and_then(|place| i64::try_from(point[place]).ok());
                all.push(value.ok_or_else(|| symbolic::past_bits(OP, 64))?);
            }
        }
        let value = |expr| graph.evaluate(expr, &all).map_err(|err| refused(&err));
        Ok(if value(self.expr.valid())? == 0 { None } else { Some(value(self.expr.index())?) })
    }

    /// Definitions of `valid` and `index` in a language: python, c, cuda, opencl, metal, wgsl, rust, mlir, latex.
    #[pyo3(signature = (language="python"))]
    fn code(&self, language: &str) -> PyResult<String> {
        self.expr.code(language_of(language)?).map_err(|err| PyValueError::new_err(err.to_string()))
    }

    /// A whole function that gathers all elements, in row-major order. On GPUs start at least as many threads as there are
    /// elements, in CUDA in blocks of 256; if a kernel's first line asks for fewer threads, or for aligned buffers, heed it. Names
    /// are arguments.
    #[pyo3(signature = (language="python"))]
    fn kernel(&self, language: &str) -> PyResult<String> {
        self.expr.kernel(language_of(language)?).map_err(|err| PyValueError::new_err(err.to_string()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<IndexExpr>().is_ok_and(|other| self.source == other.get().source)
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.source.hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> PyResult<String> {
        self.code("python")
    }

    fn __repr__(&self) -> PyResult<String> {
        let text = |expr| self.expr.graph().text(expr, Syntax::Python).map_err(|err| refused(&err));
        Ok(format!("<IndexExpr index: {}, valid: {}>", text(self.expr.index())?, text(self.expr.valid())?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let again = module(py, "operator")?.getattr("methodcaller")?.call1(("index_expr",))?;
        let source = match &self.source {
            Source::Tracker(tracker) => Bound::new(py, tracker.clone())?.into_any(),
            Source::Layout(layout) => Bound::new(py, ComposedLayout::of(layout.clone()))?.into_any(),
        };
        (again, (source,)).into_pyobject(py)
    }
}
