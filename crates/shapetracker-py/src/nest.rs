//! `Nest`: several accesses over common loops, for whoever writes kernels.
//!
//! A nest changes as loops are added, split and put into another order; several threads may share one, and take turns.

mod given;
mod levels;
mod splits;

pub(crate) use levels::Level;
pub(crate) use splits::{Splits, Unserved};

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyRange, PyString, PyTuple};
use shapetracker::expr::{
    self, Body, Clash, Clip, Expr as Handle, Graph, InPlace, Overlap, Signedness, Size, Syntax, Width,
};
use shapetracker_symbolic::{Condition as Needed, StatementNest};

use crate::arguments::{described, items, number};
use crate::error::Undecided;
use crate::expr::{Expr, IndexExpr, language_of, range_of};
use crate::kind::Refusal;
use crate::symbolic::{self, Condition, Sym, refused};
use crate::tracker::ShapeTracker;
use given::{Given, Refused, each, names, text};

type Any<'py> = Bound<'py, PyAny>;

/// Loops around accesses to several tensors: what a kernel consists of, before it is text. A compiler of one's own says which loops
/// there are and in which order; a nest says what follows from that, and writes the loops around lines of the compiler's.
///
/// Names that sizes have are declared first, with their values: `Nest(n=range(1, 4097))`, or `Nest(n)` for a `Sym` with two ends. They
/// are what a kernel takes as arguments. Wherever an expression is taken it may be a number, a text of Python, an `Expr` over loops and
/// names, or a `Sym`. A nest changes as loops are added, split and put into another order; `copy` makes another one.
///
/// >>> from shapetracker import Nest, ShapeTracker, Sym
/// >>> n = Sym("n", 1, 1024)
/// >>> nest = Nest(n)
/// >>> i, j, k = nest.each("i", n), nest.each("j", 32), nest.reduce("k", 16)
/// >>> nest.read("a", ShapeTracker.contiguous(n, 16), [i, k])
/// >>> nest.read("b", ShapeTracker.contiguous(32, 16).permute(1, 0), [k, j])
/// >>> nest.access("c", i * 32 + j)
/// >>> print(nest.code("c", "sum += a[{a}] * b[{b}];", before="float sum = 0;", after="c[{c}] = sum;"), end="")
/// for (int i = 0; i < n; ++i) {
///     const int t0 = i * 16;
///     const int t1 = i * 32;
///     for (int j = 0; j < 32; ++j) {
///         const int t2 = j * 16;
///         const int index_c = t1 + j;
///         float sum = 0;
///         for (int k = 0; k < 16; ++k) {
///             const int index_a = t0 + k;
///             const int index_b = t2 + k;
///             sum += a[index_a] * b[index_b];
///         }
///         c[index_c] = sum;
///     }
/// }
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Nest(Mutex<State>);

#[derive(Clone)]
struct State {
    nest: expr::Nest,
    is_unsigned: bool,
    /// What must hold of the names, and no range of theirs says.
    needs: Vec<Needed>,
    /// The statement that the nest was read from, which is its body where no other is given.
    statement: Option<StatementNest>,
}

impl Nest {
    /// Does something with the nest while other threads of Python run.
    fn with<T: Send>(&self, py: Python<'_>, does: impl FnOnce(&mut State) -> T + Send) -> T {
        py.detach(|| does(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The same with what may be refused.
    fn tried<T: Send>(
        &self,
        py: Python<'_>,
        does: impl FnOnce(&mut State) -> Result<T, Refused> + Send,
    ) -> PyResult<T> {
        self.with(py, does).map_err(Refusal::raised)
    }

    /// A loop inside of those that there are.
    fn added(&self, op: &str, name: &Any<'_>, size: &Any<'_>, is_reduced: bool) -> PyResult<Expr> {
        let name = text(op, "the name of a loop", name)?;
        let given = Given::read(op, || format!("the size of `{name}`"), size)?;
        self.tried(size.py(), |State { nest, .. }| {
            let size = given.in_nest(op, nest)?;
            let variable = if is_reduced { nest.reduce(&name, size) } else { nest.each(&name, size) }?;
            Ok(Expr::extracted(nest.graph(), variable)?)
        })
    }

    /// What is read after it was written, if an output is written over an input.
    fn clashing(&self, op: &'static str, output: &Any<'_>, input: &Any<'_>) -> PyResult<Option<Clash>> {
        let [a, b] = [text(op, "the name of an access", output)?, text(op, "the name of an access", input)?];
        match self.tried(output.py(), |State { nest, .. }| Ok(nest.in_place(&a, &b)?))? {
            InPlace::Yes => Ok(None),
            InPlace::No(clash) => Ok(Some(clash)),
            InPlace::Undecided => {
                let sentence =
                    format!("{op}: whether `{a}` may be written over `{b}` takes more work to tell than is done");
                Err(Undecided::new_err(sentence))
            }
        }
    }

    /// What is asked of an access along a loop.
    fn along(op: &str, access: &Any<'_>, r#loop: &Any<'_>) -> PyResult<(String, String)> {
        Ok((text(op, "the name of an access", access)?, text(op, "the name of a loop", r#loop)?))
    }
}

/// Which index is read, and what it needs.
fn read_of<'a>(op: &'static str, value: &'a Any<'_>) -> PyResult<(Cow<'a, expr::IndexExpr>, Vec<Needed>)> {
    if let Ok(index) = value.cast::<IndexExpr>() {
        return Ok((Cow::Borrowed(index.get().of_graph()), needed(index.get().named())));
    }
    let mismatch = |err: PyErr| match err.is_instance_of::<PyTypeError>(value.py()) {
        true => PyTypeError::new_err(format!(
            "{op}: takes a ShapeTracker, a View or an IndexExpr to read, not {}",
            described(value)
        )),
        false => err,
    };
    let tracker = ShapeTracker::any(op, value).map_err(mismatch)?;
    Ok((Cow::Owned(IndexExpr::of(&tracker)?.of_graph().clone()), needed(tracker.named())))
}

/// The conditions under which a tracker of names is what it says, beside the ranges of the names.
fn needed(named: Option<&shapetracker_symbolic::ShapeTracker>) -> Vec<Needed> {
    let of = |named: &shapetracker_symbolic::ShapeTracker| {
        let all = named.needs().iter().chain(named.scope().given());
        all.map(|literal| Needed::over(named.scope(), literal.clone())).collect()
    };
    named.map(of).unwrap_or_default()
}

/// A parameter with its least and greatest value.
fn declared(op: &str, graph: &mut Graph, name: &str, least: i64, past: i64) -> PyResult<()> {
    let declared = graph.variable(name, least..past);
    declared.map(drop).map_err(|err| PyValueError::new_err(format!("{op}: {}", err.reason())))
}

#[pymethods]
impl Nest {
    #[new]
    #[pyo3(signature = (*names, **ranges))]
    fn new(names: &Bound<'_, PyTuple>, ranges: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        const OP: &str = "Nest";
        let mut graph = Graph::new();
        for given in names {
            let mismatch = || {
                let takes = "takes names with their values, such as Sym(\"n\", 1, 4096) or n=range(1, 4097)";
                PyTypeError::new_err(format!("{OP}: {takes}, not {}", described(&given)))
            };
            let sym = given.cast::<Sym>().map_err(|_| mismatch())?.get().plain(OP)?.canonical();
            let (scope, _) = sym.parts().map_err(|err| refused(&err))?;
            for name in scope.names() {
                let name_text = &*name.name;
                let (Some(least), Some(most)) = (name.lo, name.hi) else {
                    return Err(PyValueError::new_err(format!(
                        "{OP}: `{name_text}` needs two ends, for numbers of code have at most 64 bits: say \
                         Sym(\"{name_text}\", 1, 4096) or {name_text}=range(1, 4097)"
                    )));
                };
                let past =
                    || PyOverflowError::new_err(format!("{OP}: `{name_text}` is past the range of 64-bit integers"));
                let ends = i64::try_from(least).ok().zip(most.checked_add(1).and_then(|past| i64::try_from(past).ok()));
                let (least, end) = ends.ok_or_else(past)?;
                declared(OP, &mut graph, name_text, least, end)?;
            }
        }
        for (name, range) in ranges.into_iter().flatten() {
            let name: String = name.extract()?;
            let (begin, end) = range_of(OP, &name, &range)?;
            declared(OP, &mut graph, &name, begin, end)?;
        }
        Ok(Nest(Mutex::new(State {
            nest: expr::Nest::new(graph),
            is_unsigned: false,
            needs: Vec::new(),
            statement: None,
        })))
    }

    /// Reads a statement over several layouts, such as the command `nest` takes: its loops, with the statement as their body. Lines, or
    /// parts with `;` between them, are layouts (`A = (64, 16).T`), sizes of loops (`i = 0..64`) and one statement, whose right side
    /// is text of the language that is written. `where` says what is known of names: `"n=1..4097"`.
    ///
    /// A loop has the size of the axes that it is the index of by itself; loops that are not on the left are reduced. Padding of what is
    /// read is 0: where a product is added nothing is run there.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest.parse("y[i] += x[i + k] * w[k]; x = (n,).pad((1, 1)); w = (3,); y = (n,)", where="n=1..4097")
    /// >>> nest
    /// <Nest loops: i: n, k: 3 (reduced); accesses: y, x, w>
    /// >>> print(nest.code("python"), end="")
    /// for i in range(n):
    ///     t0 = i - 1
    ///     index_y = i
    ///     for k in range(max(1 - i, 0), min(n - i + 1, 3)):
    ///         index_x = t0 + k
    ///         index_w = k
    ///         y[index_y] += x[index_x] * w[index_w]
    #[staticmethod]
    #[pyo3(signature = (text, r#where=""))]
    fn parse(py: Python<'_>, text: &str, r#where: &str) -> PyResult<Nest> {
        let statement = symbolic::statement(py, text, r#where)?;
        let all = statement.needs().iter().chain(statement.scope().given());
        let needs = all.map(|literal| Needed::over(statement.scope(), literal.clone())).collect();
        let nest = statement.nest().clone();
        Ok(Nest(Mutex::new(State { nest, is_unsigned: false, needs, statement: Some(statement) })))
    }

    /// Adds a loop inside of those that there are, which runs so often; its variable, to be used in expressions.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest(n=range(1, 65))
    /// >>> nest.each("i", "n * 4")
    /// Expr('i', i=range(0, 256))
    /// >>> nest.loops
    /// {'i': Expr('n * 4', n=range(1, 65))}
    fn each(&self, name: &Any<'_>, size: &Any<'_>) -> PyResult<Expr> {
        self.added("each", name, size, false)
    }

    /// Adds a loop over which the body sums, or joins in another way: inside of those that there are.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> k = nest.reduce("k", 16)
    /// >>> nest.reduced
    /// ('k',)
    fn reduce(&self, name: &Any<'_>, size: &Any<'_>) -> PyResult<Expr> {
        self.added("reduce", name, size, true)
    }

    /// Adds an access to the elements of a tracker, a view or what `index_expr` made, at an index: for each axis an expression over the
    /// loops, which must be known to stay within the axis. An element outside of a tensor is one of a tracker that is padded.
    ///
    /// What trackers with names need of the values is collected in `needs`. The names are those of the nest, whose values must be
    /// among those that they have in the tracker.
    ///
    /// >>> from shapetracker import Nest, ShapeTracker
    /// >>> nest = Nest()
    /// >>> i, k = nest.each("i", 8), nest.reduce("k", 3)
    /// >>> nest.read("x", ShapeTracker.contiguous(8).pad((1, 1)), [i + k])
    /// >>> nest.accesses["x"]
    /// (Expr('i + k - 1', i=range(0, 8), k=range(0, 3)), Expr('1 <= i + k < 9', i=range(0, 8), k=range(0, 3)))
    /// >>> nest.read("y", ShapeTracker.contiguous(8), [i + k])
    /// Traceback (most recent call last):
    /// ValueError: access: axis 0 of `y` has size 8, but `i + k`, which is taken there, ranges from 0 to 9
    fn read(&self, name: &Any<'_>, tracker: &Any<'_>, axes: &Any<'_>) -> PyResult<()> {
        const OP: &str = "read";
        let name = text(OP, "the name of an access", name)?;
        let (code, needs) = read_of(OP, tracker)?;
        if axes.is_instance_of::<PyString>() {
            let sentence = format!("{OP}: takes a list of expressions, one for each axis, such as [{}]", axes.repr()?);
            return Err(PyTypeError::new_err(format!("{sentence}, not {}", described(axes))));
        }
        let (mut all, rank) = (Vec::new(), code.extents().len());
        for (axis, value) in items(OP, "a list of expressions, one for each axis", axes)?.take(rank + 1).enumerate() {
            all.push(Given::read(OP, || format!("axis {axis} of `{name}`"), &value?)?);
        }
        if all.len() != rank {
            let given = if all.len() > rank { "more".to_owned() } else { all.len().to_string() };
            let sentence = format!("{OP}: takes one expression for each axis: `{name}` has {rank}, not {given}");
            return Err(PyValueError::new_err(sentence));
        }
        let code: &expr::IndexExpr = &code;
        self.tried(axes.py(), |state| {
            let nest = &mut state.nest;
            let axes = all.into_iter().map(|axis| axis.in_nest(OP, nest)).collect::<Result<Vec<Handle>, Refused>>()?;
            nest.read(&name, code, &axes)?;
            for need in needs {
                if state.needs.iter().all(|known| known.to_string() != need.to_string()) {
                    state.needs.push(need);
                }
            }
            Ok(())
        })
    }

    /// Adds an access at an address over the loops, with the condition under which there is an element.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i, j = nest.each("i", 8), nest.each("j", 8)
    /// >>> nest.access("c", "i * 8 + j", valid="j <= i")
    #[pyo3(signature = (name, index, valid=None))]
    fn access(&self, name: &Any<'_>, index: &Any<'_>, valid: Option<&Any<'_>>) -> PyResult<()> {
        const OP: &str = "access";
        let name = text(OP, "the name of an access", name)?;
        let given = Given::read(OP, || format!("the index of `{name}`"), index)?;
        let valid = valid.map(|valid| Given::read(OP, || format!("the guard of `{name}`"), valid)).transpose()?;
        self.tried(index.py(), |State { nest, .. }| {
            let index = given.in_nest(OP, nest)?;
            let valid = valid.map(|valid| valid.in_nest(OP, nest)).transpose()?;
            Ok(nest.access(&name, index, valid)?)
        })
    }

    /// Adds a guard that belongs to no access, such as a causal mask: `clip`, `partition` and `{name?}` of a body take its name as that
    /// of an access.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i, j = nest.each("i", 8), nest.each("j", 8)
    /// >>> nest.guard("causal", j <= i)
    /// >>> nest.clip("causal")
    /// >>> print(nest.code("python", "f({i}, {j})"), end="")
    /// for i in range(8):
    ///     t0 = i + 1
    ///     for j in range(t0):
    ///         f(i, j)
    fn guard(&self, name: &Any<'_>, condition: &Any<'_>) -> PyResult<()> {
        const OP: &str = "guard";
        let name = text(OP, "the name of a guard", name)?;
        let given = Given::read(OP, || format!("the condition of `{name}`"), condition)?;
        self.tried(condition.py(), |State { nest, .. }| {
            let condition = given.in_nest(OP, nest)?;
            Ok(nest.guard(&name, condition)?)
        })
    }

    /// Adds an expression that a body may use by its name.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i = nest.each("i", 8)
    /// >>> nest.value("last", 7 - i)
    /// >>> print(nest.code("python", "f({last})"), end="")
    /// for i in range(8):
    ///     last = 7 - i
    ///     f(last)
    fn value(&self, name: &Any<'_>, value: &Any<'_>) -> PyResult<()> {
        const OP: &str = "value";
        let name = text(OP, "the name of a value", name)?;
        let given = Given::read(OP, || format!("the value of `{name}`"), value)?;
        self.tried(value.py(), |State { nest, .. }| {
            let expr = given.in_nest(OP, nest)?;
            Ok(nest.value(&name, expr)?)
        })
    }

    /// The loops by their names, outermost first, each with how often it runs: a number, or an expression over parameters.
    #[getter]
    fn loops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = self.tried(py, |State { nest, .. }| {
            let of = |one: &expr::Loop| Ok((one.name.clone(), Expr::extracted(nest.graph(), one.size)?));
            nest.loops().iter().map(of).collect::<Result<Vec<_>, Refused>>()
        })?;
        let loops = PyDict::new(py);
        for (name, size) in all {
            loops.set_item(name, size.number_or_self(py)?)?;
        }
        Ok(loops)
    }

    /// The names of the loops over which the body sums, or joins in another way.
    #[getter]
    fn reduced<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names: Vec<String> = self.with(py, |State { nest, .. }| {
            nest.loops().iter().filter(|one| one.is_reduced).map(|one| one.name.clone()).collect()
        });
        PyTuple::new(py, names)
    }

    /// The accesses by their names, in the order in which they were added, each with its address and its guard: two expressions over
    /// the loops as they are now.
    #[getter]
    fn accesses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = self.tried(py, |State { nest, .. }| {
            let graph = nest.graph();
            let of = |one: &expr::Access| {
                Ok((one.name.clone(), Expr::extracted(graph, one.index)?, Expr::extracted(graph, one.valid)?))
            };
            nest.accesses().iter().map(of).collect::<Result<Vec<_>, Refused>>()
        })?;
        let accesses = PyDict::new(py);
        for (name, index, valid) in all {
            accesses.set_item(name, (index, valid))?;
        }
        Ok(accesses)
    }

    /// The values that were given names, as expressions over the loops as they are now.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = self.tried(py, |State { nest, .. }| {
            let of = |(name, expr): (&str, Handle)| Ok((name.to_owned(), Expr::extracted(nest.graph(), expr)?));
            nest.values().map(of).collect::<Result<Vec<_>, Refused>>()
        })?;
        let values = PyDict::new(py);
        for (name, expr) in all {
            values.set_item(name, expr)?;
        }
        Ok(values)
    }

    /// The names that a kernel takes as arguments beside its buffers, with the ranges of their values.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = self.with(py, |State { nest, .. }| nest.parameters().to_vec());
        let parameters = PyDict::new(py);
        for parameter in all {
            let range = py.get_type::<PyRange>().call1((parameter.range.start, parameter.range.end))?;
            parameters.set_item(&parameter.name, range)?;
        }
        Ok(parameters)
    }

    /// The conditions on names without which what is read is not what the trackers say: what they need, and what was given of them.
    ///
    /// >>> from shapetracker import Nest, ShapeTracker, Sym
    /// >>> n, s = Sym("n", 1, 64), Sym("s", 0, 63)
    /// >>> nest = Nest(n, s)
    /// >>> nest.read("x", ShapeTracker.contiguous(n).shrink((s, s + 1)), [0])
    /// >>> nest.needs
    /// (n >= s + 1,)
    #[getter]
    fn needs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let needs = self.with(py, |state| state.needs.clone());
        PyTuple::new(py, needs.iter().map(Condition::of).collect::<PyResult<Vec<_>>>()?)
    }

    /// How many bits all numbers have, 32 or 64: what was set, or the least that hold all that is computed. Setting less than is needed
    /// is a ValueError.
    #[getter]
    fn width(&self, py: Python<'_>) -> PyResult<u32> {
        let width = self.tried(py, |State { nest, .. }| Ok(nest.width()?))?;
        Ok(if width == Width::Bits32 { 32 } else { 64 })
    }

    #[setter]
    fn set_width(&self, width: &Any<'_>) -> PyResult<()> {
        const OP: &str = "width";
        let given = match number(OP, || "the width".into(), width)? {
            32 => Width::Bits32,
            64 => Width::Bits64,
            other => return Err(PyValueError::new_err(format!("{OP}: takes 32 or 64, not {other}"))),
        };
        self.tried(width.py(), |State { nest, .. }| Ok(nest.set_width(given)?))
    }

    /// Whether numbers that are never negative are unsigned in languages that have such numbers; False at first.
    #[getter]
    fn unsigned(&self, py: Python<'_>) -> bool {
        self.with(py, |state| state.is_unsigned)
    }

    #[setter]
    fn set_unsigned(&self, unsigned: &Any<'_>) -> PyResult<()> {
        let is_unsigned = truth("unsigned", "it", unsigned)?;
        self.with(unsigned.py(), |state| {
            state.is_unsigned = is_unsigned;
            state.nest.set_signedness(if is_unsigned { Signedness::Unsigned } else { Signedness::Signed });
        });
        Ok(())
    }

    /// Splits a loop into several, outermost first: `split("i", 4, 16)`. One factor may be -1: it is what the others leave. A body may
    /// still use the name of the loop. Partitions are undone.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i = nest.each("i", 64)
    /// >>> nest.access("a", "i // 16 + i % 16 * 4")
    /// >>> nest.split("i", -1, 16)
    /// >>> nest.loops, str(nest.accesses["a"][0])
    /// ({'i0': 4, 'i1': 16}, 'i0 + i1 * 4')
    #[pyo3(signature = (name, *factors))]
    fn split(&self, name: &Any<'_>, factors: &Bound<'_, PyTuple>) -> PyResult<()> {
        const OP: &str = "split";
        let name = text(OP, "the name of a loop", name)?;
        let given = each(OP, factors)?.into_iter().enumerate();
        let given = given.map(|(at, factor)| Given::read(OP, || format!("factor {at}"), &factor));
        let given = given.collect::<PyResult<Vec<Given>>>()?;
        let open = given.iter().filter(|factor| matches!(factor, Given::Number(-1))).count();
        if given.is_empty() || open > 1 {
            let sentence = if open > 1 { "one factor may be -1, not several" } else { "takes the factors of the loop" };
            return Err(PyValueError::new_err(format!("{OP}: {sentence}, such as split(\"i\", -1, 16)")));
        }
        self.tried(factors.py(), |State { nest, .. }| {
            let open = given.iter().position(|factor| matches!(factor, Given::Number(-1)));
            let mut factors = Vec::new();
            for factor in given {
                factors.push(factor.in_nest(OP, nest)?);
            }
            let size = nest.loops().iter().find(|one| one.name == name).map(|one| one.size);
            if let (Some(open), Some(size)) = (open, size) {
                factors[open] = left(OP, nest, &name, size, &factors, open)?;
            }
            let factors: Vec<Size> = factors.into_iter().map(Size::Expr).collect();
            Ok(nest.split(&name, &factors)?)
        })
    }

    /// Exchanges two loops. Partitions are undone.
    fn swap(&self, first: &Any<'_>, second: &Any<'_>) -> PyResult<()> {
        const OP: &str = "swap";
        let [one, other] = [text(OP, "the name of a loop", first)?, text(OP, "the name of a loop", second)?];
        self.tried(first.py(), |State { nest, .. }| Ok(nest.swap(&one, &other)?))
    }

    /// Fuses loops into one that counts their indices in row-major order, outermost first: the inverse of `split`. It stands where the
    /// first of them stood, and may have splits that they have not: loops then run over another shape. Partitions are undone.
    ///
    /// >>> from shapetracker import Nest, ShapeTracker
    /// >>> nest = Nest()
    /// >>> i, j = nest.each("i", 3), nest.each("j", 8)
    /// >>> nest.read("x", ShapeTracker.contiguous(6, 4).permute(1, 0).reshape(3, 8), [i, j])
    /// >>> nest.access("out", 8 * i + j)
    /// >>> nest.fuse("i", "j", name="f")
    /// >>> print(nest.split_where_affine())
    /// f = 4 x 6
    /// >>> [str(index) for index, _ in nest.accesses.values()]
    /// ['f0 + f1 * 4', 'f0 * 6 + f1']
    #[pyo3(signature = (*loops, name))]
    fn fuse(&self, loops: &Bound<'_, PyTuple>, name: &Any<'_>) -> PyResult<()> {
        const OP: &str = "fuse";
        let (all, fused) = (names(OP, "the name of a loop", loops)?, text(OP, "the name of the fused loop", name)?);
        self.tried(loops.py(), |State { nest, .. }| Ok(nest.fuse(&borrowed(&all), &fused)?))
    }

    /// Puts all loops into another order, outermost first: `reorder("j", "i", "k")`. Partitions are undone.
    #[pyo3(signature = (*loops))]
    fn reorder(&self, loops: &Bound<'_, PyTuple>) -> PyResult<()> {
        const OP: &str = "reorder";
        let order = names(OP, "the name of a loop", loops)?;
        self.tried(loops.py(), |State { nest, .. }| Ok(nest.reorder(&borrowed(&order))?))
    }

    /// The coarsest splits of the loops after which all accesses and the conditions of their guards are affine in the loops; where there
    /// are none for all of them, those that serve what costs most. Nothing is split yet.
    /// Of an index whose guard holds at some places only they are the splits of the index everywhere; fewer may do there.
    ///
    /// >>> from shapetracker import Nest, ShapeTracker
    /// >>> nest = Nest()
    /// >>> r, c = nest.each("r", 8 * 64), nest.each("c", 768)
    /// >>> nest.read("x", ShapeTracker.contiguous(8, 12, 64, 64).permute(0, 2, 1, 3).reshape(512, 768), [r, c])
    /// >>> print(nest.splits_where_affine())
    /// r = 8 x 64, c = 12 x 64
    fn splits_where_affine(&self, py: Python<'_>) -> PyResult<Splits> {
        let found = self.tried(py, |State { nest, .. }| {
            let splits = nest.splits_where_affine()?;
            splits::Found::of(nest, splits)
        })?;
        found.made(py)
    }

    /// Splits the loops so: what was split, and what is not served and why.
    fn split_where_affine(&self, py: Python<'_>) -> PyResult<Splits> {
        let found = self.tried(py, |State { nest, .. }| {
            let splits = nest.split_where_affine()?;
            splits::Found::of(nest, splits)
        })?;
        found.made(py)
    }

    /// Has the body run only where the guards of some accesses hold: as bounds of loops where they are affine, else as conditions.
    /// With `reduced` only loops that are reduced are shortened, so that what stands before and after them is run for every element.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i, j = nest.each("i", 8), nest.each("j", 8)
    /// >>> nest.access("c", "i * 8 + j", valid="j <= i")
    /// >>> nest.clip("c")
    /// >>> print(nest.code("python", "c[{c}] = 1"), end="")
    /// for i in range(8):
    ///     t0 = i * 8
    ///     t1 = i + 1
    ///     for j in range(t1):
    ///         index_c = t0 + j
    ///         c[index_c] = 1
    #[pyo3(signature = (*accesses, reduced=None), text_signature = "($self, *accesses, reduced=False)")]
    fn clip(&self, accesses: &Bound<'_, PyTuple>, reduced: Option<&Any<'_>>) -> PyResult<()> {
        const OP: &str = "clip";
        let reduced = reduced.map_or(Ok(false), |reduced| truth(OP, "`reduced`", reduced))?;
        let accesses_named = some(OP, names(OP, "the name of an access", accesses)?)?;
        let clip = if reduced { Clip::Reduced } else { Clip::All };
        self.tried(accesses.py(), |State { nest, .. }| Ok(nest.clip(&borrowed(&accesses_named), clip)?))
    }

    /// Runs a loop in three parts, edge, interior and edge: in the interior the affine guards of some accesses that depend on the loop
    /// hold for all values of the loops inside of it, so that a body that asks for them sees the literal true.
    #[pyo3(signature = (r#loop, *accesses))]
    fn partition(&self, r#loop: &Any<'_>, accesses: &Bound<'_, PyTuple>) -> PyResult<()> {
        const OP: &str = "partition";
        let name = text(OP, "the name of a loop", r#loop)?;
        let accesses = some(OP, names(OP, "the name of an access", accesses)?)?;
        self.tried(r#loop.py(), |State { nest, .. }| Ok(nest.partition(&name, &borrowed(&accesses))?))
    }

    /// By how much the address of an access grows with each step of a loop, wherever its guard holds before and after: a number or an
    /// expression over parameters; None where that is not one number for the whole nest.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest(n=range(1, 65))
    /// >>> i, j = nest.each("i", 8), nest.each("j", "n")
    /// >>> nest.access("a", "i * n + j")
    /// >>> nest.stride("a", "i"), nest.stride("a", "j")
    /// (Expr('n', n=range(1, 65)), 1)
    fn stride<'py>(&self, access: &Any<'py>, r#loop: &Any<'py>) -> PyResult<Option<Any<'py>>> {
        let py = access.py();
        let (access, of) = Nest::along("stride", access, r#loop)?;
        let stride = self.tried(py, |State { nest, .. }| {
            let stride = nest.stride(&access, &of)?;
            Ok(stride.map(|stride| Expr::extracted(nest.graph(), stride)).transpose()?)
        })?;
        stride.map(|stride| stride.number_or_self(py)).transpose()
    }

    /// How many elements an access takes one after the other in memory as the innermost loops run. Guards are not asked.
    fn contiguous<'py>(&self, access: &Any<'py>) -> PyResult<Any<'py>> {
        let py = access.py();
        let access = text("contiguous", "the name of an access", access)?;
        let run = self.tried(py, |State { nest, .. }| {
            let run = nest.contiguous(&access)?;
            Ok(Expr::extracted(nest.graph(), run)?)
        })?;
        run.number_or_self(py)
    }

    /// How many elements of an access one instruction may take along a loop: the greatest power of two up to `most` by which the loop can
    /// be cut, so that each group has neighbouring addresses, begins at a multiple of its length, and is valid as a whole or not at
    /// all. It is 1 where there are no such groups.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i, j = nest.each("i", 8), nest.each("j", 12)
    /// >>> nest.access("a", "i * 20 + j + 4", valid="j < 8")
    /// >>> nest.vector_width("a", "j", 16), nest.vector_width("a", "i", 16)
    /// (4, 1)
    fn vector_width(&self, access: &Any<'_>, r#loop: &Any<'_>, most: &Any<'_>) -> PyResult<i64> {
        const OP: &str = "vector_width";
        let (access, of) = Nest::along(OP, access, r#loop)?;
        let limit = number(OP, || "the most".into(), most)?;
        self.tried(most.py(), |State { nest, .. }| Ok(nest.vector_width(&access, &of, limit)?))
    }

    /// Whether an access has one address and one guard for all values of a loop, so that what is read may be kept.
    fn is_reused(&self, access: &Any<'_>, r#loop: &Any<'_>) -> PyResult<bool> {
        let py = access.py();
        let (access, of) = Nest::along("is_reused", access, r#loop)?;
        self.tried(py, |State { nest, .. }| Ok(nest.is_reused(&access, &of)?))
    }

    /// Whether two accesses, of one buffer, have an element at one address, at whatever values of the loops each and for some values of
    /// the parameters. Raises Undecided where it takes more work to tell than is done.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i = nest.each("i", 8)
    /// >>> nest.access("a", 2 * i)
    /// >>> nest.access("b", 2 * i + 1)
    /// >>> nest.overlaps("a", "b"), nest.overlaps("a", "a")
    /// (False, True)
    fn overlaps(&self, first: &Any<'_>, second: &Any<'_>) -> PyResult<bool> {
        const OP: &str = "overlaps";
        let [a, b] = [text(OP, "the name of an access", first)?, text(OP, "the name of an access", second)?];
        match self.tried(first.py(), |State { nest, .. }| Ok(nest.overlaps(&a, &b)?))? {
            Overlap::Never => Ok(false),
            Overlap::Somewhere => Ok(true),
            Overlap::Undecided => {
                let sentence = format!("{OP}: whether `{a}` and `{b}` meet takes more work to tell than is done");
                Err(Undecided::new_err(sentence))
            }
        }
    }

    /// Whether the buffer of an output may be that of an input, in this order of the loops: whether each element that is read is what
    /// was there before. `clash` is the evidence of a no. What is assumed of the body: its innermost lines read the input, and write
    /// the output after that; where there are innermost reduced loops that the output does not depend on, the lines after these
    /// write it. Raises Undecided where it takes more work to tell than is done.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i = nest.each("i", 8)
    /// >>> nest.access("here", i)
    /// >>> nest.access("next", i + 1)
    /// >>> nest.in_place("here", "next"), nest.in_place("next", "here")
    /// (True, False)
    fn in_place(&self, output: &Any<'_>, input: &Any<'_>) -> PyResult<bool> {
        Ok(self.clashing("in_place", output, input)?.is_none())
    }

    /// An element that is read after it was written, if an output is written over an input: the values of the parameters, of the loops
    /// around the write, and of the loops where it is read, and its address. None where there is none: `in_place` is True. Raises
    /// Undecided where it takes more work to tell than is done.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i = nest.each("i", 2)
    /// >>> nest.access("from", i)
    /// >>> nest.access("to", 1 - i)
    /// >>> nest.clash("to", "from")
    /// {'parameters': {}, 'written': {'i': 0}, 'read': {'i': 1}, 'address': 1}
    fn clash<'py>(&self, py: Python<'py>, output: &Any<'_>, input: &Any<'_>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(clash) = self.clashing("clash", output, input)? else { return Ok(None) };
        let (loops, parameters): (Vec<String>, Vec<String>) = self.with(py, |State { nest, .. }| {
            let parameters = nest.parameters().iter().map(|parameter| parameter.name.clone());
            (nest.loops().iter().map(|one| one.name.clone()).collect(), parameters.collect())
        });
        let valued = |names: &[String], values: &[i64]| {
            let dict = PyDict::new(py);
            names.iter().zip(values).try_for_each(|(name, value)| dict.set_item(name, value)).map(|()| dict)
        };
        let found = PyDict::new(py);
        found.set_item("parameters", valued(&parameters, &clash.parameters)?)?;
        found.set_item("written", valued(&loops, &clash.written)?)?;
        found.set_item("read", valued(&loops, &clash.read)?)?;
        found.set_item("address", clash.address)?;
        Ok(Some(found))
    }

    /// The loops with their bounds and conditions, and what is computed in each: data for whoever writes the text themselves. Each level
    /// comes after the one that it stands in; the first is outside of all loops.
    fn levels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = self.tried(py, |State { nest, .. }| levels::found(&nest.levels()?))?;
        PyTuple::new(py, all.into_iter().map(|level| level.made(py)).collect::<PyResult<Vec<_>>>()?)
    }

    /// The nest as text of a language (python, c, cuda, opencl, metal, wgsl, rust, mlir) around lines in it: `body` in the innermost loop,
    /// `before` and `after` around the innermost loops that are reduced. Each value is computed in the outermost loop that knows what
    /// it is made of.
    ///
    /// In these lines `{a}` is the index of the access `a`, `{a?}` its guard as far as loops do not say it, and `{v}` a value or a loop,
    /// whether it was split or not. All other braces are what they are. A nest that was read has its statement as the body, if no other is
    /// given.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i, k = nest.each("i", 4), nest.reduce("k", 8)
    /// >>> nest.access("a", i * 8 + k)
    /// >>> print(nest.code("python", "total += a[{a}]", before="total = 0", after="out[{i}] = total"), end="")
    /// for i in range(4):
    ///     t0 = i * 8
    ///     total = 0
    ///     for k in range(8):
    ///         index_a = t0 + k
    ///         total += a[index_a]
    ///     out[i] = total
    ///
    /// `choices` has names for what is one text where a guard holds and another where it does not. Where loops say which, as in the parts
    /// of a partition, that text stands there alone:
    ///
    /// >>> nest = Nest()
    /// >>> i = nest.each("i", 8)
    /// >>> nest.access("x", i - 1, valid="i >= 1")
    /// >>> nest.partition("i", "x")
    /// >>> choices = {"element": ("x", "x[{x}]", "0")}
    /// >>> print(nest.code("python", "y[{i}] = {element}", choices=choices), end="")
    /// for i in range(1):
    ///     y[0] = 0
    /// for i in range(1, 8):
    ///     index_x = i - 1
    ///     y[i] = x[index_x]
    #[pyo3(
        signature = (language, body=None, *, before=None, after=None, choices=None),
        text_signature = "($self, language, body=None, *, before='', after='', choices=None)"
    )]
    fn code(
        &self,
        language: &Any<'_>,
        body: Option<&Any<'_>>,
        before: Option<&Any<'_>>,
        after: Option<&Any<'_>>,
        choices: Option<&Any<'_>>,
    ) -> PyResult<String> {
        const OP: &str = "code";
        let written = language_of(&text(OP, "the language", language)?)?;
        let lines = |what: &str, lines: Option<&Any<'_>>| lines.map(|lines| text(OP, what, lines)).transpose();
        let body = lines("the body", body)?.map(Body::new);
        let before = lines("what stands before", before)?.unwrap_or_default();
        let after = lines("what stands after", after)?.unwrap_or_default();
        let choices: BTreeMap<String, [String; 3]> = match choices {
            None => BTreeMap::new(),
            Some(choices) => choices.extract().map_err(|_| {
                let sentence = "takes choices as a dict: each name with an access, and the texts for where its guard holds and does not";
                PyTypeError::new_err(format!("{OP}: {sentence}"))
            })?,
        };
        self.tried(language.py(), |State { nest, statement, .. }| {
            let body = match (body, statement) {
                (Some(body), _) => body,
                (None, Some(statement)) => {
                    statement.body(written).map_err(|err| Refused::Sentence(err.message().to_owned()))?
                }
                (None, None) => {
                    let sentence =
                        format!("{OP}: takes a body: lines for the innermost loop, in which {{a}} is an index");
                    return Err(Refused::Sentence(sentence));
                }
            };
            let body = choices
                .into_iter()
                .fold(body, |body, (name, [access, holds, fails])| body.choice(name, access, holds, fails));
            let code = nest.code(written, &body.before(before).after(after));
            code.map_err(|err| Refused::Sentence(err.to_string()))
        })
    }

    /// Another nest that is the same, and changes by itself.
    ///
    /// >>> from shapetracker import Nest
    /// >>> nest = Nest()
    /// >>> i = nest.each("i", 64)
    /// >>> tiled = nest.copy()
    /// >>> tiled.split("i", 4, 16)
    /// >>> nest.loops, tiled.loops
    /// ({'i': 64}, {'i0': 4, 'i1': 16})
    fn copy(&self, py: Python<'_>) -> Nest {
        Nest(Mutex::new(self.with(py, |state| state.clone())))
    }

    fn __copy__(&self, py: Python<'_>) -> Nest {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Any<'_>) -> Nest {
        self.copy(py)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.tried(py, |state| shown(&state.nest))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.tried(py, |State { nest, .. }| {
            let mut loops = Vec::new();
            for one in nest.loops() {
                let reduced = if one.is_reduced { " (reduced)" } else { "" };
                loops.push(format!("{}: {}{reduced}", one.name, nest.graph().text(one.size, Syntax::Python)?));
            }
            let accesses: Vec<&str> = nest.accesses().iter().map(|access| &access.name[..]).collect();
            let listed = |all: String| if all.is_empty() { "none".to_owned() } else { all };
            Ok(format!("<Nest loops: {}; accesses: {}>", listed(loops.join(", ")), listed(accesses.join(", "))))
        })
    }
}

/// The factor of a loop that the others leave.
fn left(
    op: &str,
    nest: &mut expr::Nest,
    name: &str,
    size: Handle,
    factors: &[Handle],
    open: usize,
) -> Result<Handle, Refused> {
    let graph = nest.graph_mut();
    let mut product = graph.int(1);
    for (_, factor) in factors.iter().enumerate().filter(|(at, _)| *at != open) {
        product = graph.binary(expr::Binary::Mul, product, *factor)?;
    }
    let product = graph.simplify(product);
    let text = |graph: &Graph, expr| graph.text(expr, Syntax::Python);
    if graph.range(product).0 <= 0 {
        let sentence = format!("{op}: the other factors make {}, which may be 0 or less", text(graph, product)?);
        return Err(Refused::Sentence(sentence));
    }
    let [quotient, rest] =
        [graph.binary(expr::Binary::Div, size, product)?, graph.binary(expr::Binary::Mod, size, product)?];
    let (quotient, rest) = (graph.simplify(quotient), graph.simplify(rest));
    if graph.range(rest) != (0, 0) {
        let (size, product) = (text(graph, size)?, text(graph, product)?);
        let sentence =
            format!("{op}: the size of `{name}`, which is {size}, is not known to be a multiple of {product}");
        return Err(Refused::Sentence(sentence));
    }
    Ok(quotient)
}

fn borrowed(names: &[String]) -> Vec<&str> {
    names.iter().map(|name| &name[..]).collect()
}

/// Names of accesses, of which there must be some.
fn some(op: &str, names: Vec<String>) -> PyResult<Vec<String>> {
    let none = || PyValueError::new_err(format!("{op}: takes the names of the accesses whose guards are meant"));
    if names.is_empty() { Err(none()) } else { Ok(names) }
}

/// True or False.
fn truth(op: &str, what: &str, value: &Any<'_>) -> PyResult<bool> {
    let mismatch = || PyTypeError::new_err(format!("{op}: {what} is to be True or False, not {}", described(value)));
    Ok(value.cast::<PyBool>().map_err(|_| mismatch())?.is_true())
}

/// A nest for people.
fn shown(nest: &expr::Nest) -> Result<String, Refused> {
    let graph = nest.graph();
    let text = |expr| graph.text(expr, Syntax::Python);
    let mut lines: Vec<String> = Vec::new();
    for parameter in nest.parameters() {
        lines.push(format!("{} in {}..{}", parameter.name, parameter.range.start, parameter.range.end));
    }
    let mut indent = String::new();
    for one in nest.loops() {
        let kind = if one.is_reduced { "reduce" } else { "for" };
        lines.push(format!("{indent}{kind} {} in 0..{}:", one.name, text(one.size)?));
        indent += "    ";
    }
    for access in nest.accesses() {
        let valid = text(access.valid)?;
        let guard = if valid == "True" { String::new() } else { format!(" where {valid}") };
        lines.push(format!("{indent}{}[{}]{guard}", access.name, text(access.index)?));
    }
    for (name, expr) in nest.values() {
        lines.push(format!("{indent}{name} = {}", text(expr)?));
    }
    Ok(lines.join("\n"))
}
