//! Splits of loops that leave no floor, and what they do not serve.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use shapetracker::expr::{self, WhyUnserved};

use super::given::Refused;
use crate::expr::Expr;

/// The splits of the loops of a nest after which accesses and the conditions of their guards are affine in the loops.
///
/// >>> from shapetracker import Nest
/// >>> nest = Nest()
/// >>> i = nest.each("i", 12)
/// >>> nest.access("a", "i // 2 + i % 2 * 9")
/// >>> nest.access("b", "i // 3 + i % 3 * 9")
/// >>> splits = nest.splits_where_affine()
/// >>> splits.factors, splits.served
/// ({'i': (4, 3)}, ('`b`',))
/// >>> print(splits)
/// i = 4 x 3
/// `a` needs `i` cut by 2, and `b` by 3: neither divides the other
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Splits {
    factors: Vec<(String, Vec<Py<PyAny>>)>,
    served: Vec<String>,
    unserved: Vec<Py<Unserved>>,
    text: String,
}

/// The same before it is made of objects of Python.
pub(super) struct Found {
    factors: Vec<(String, Vec<Expr>)>,
    splits: expr::Splits,
    text: String,
}

impl Found {
    pub(super) fn of(nest: &expr::Nest, splits: expr::Splits) -> Result<Found, Refused> {
        let text = splits.text(nest.graph());
        let mut factors = Vec::new();
        for (name, each) in &splits.factors {
            let each = each.iter().map(|factor| Expr::extracted(nest.graph(), *factor));
            factors.push((name.clone(), each.collect::<PyResult<_>>()?));
        }
        Ok(Found { factors, splits, text })
    }

    pub(super) fn made(self, py: Python<'_>) -> PyResult<Splits> {
        let mut factors = Vec::new();
        for (name, each) in self.factors {
            let each = each.into_iter().map(|factor| factor.number_or_self(py).map(Bound::unbind));
            factors.push((name, each.collect::<PyResult<_>>()?));
        }
        let served = self.splits.served.iter().map(ToString::to_string).collect();
        let unserved = self.splits.unserved.into_iter().map(|one| Py::new(py, Unserved(one)));
        Ok(Splits { factors, served, unserved: unserved.collect::<PyResult<_>>()?, text: self.text })
    }
}

#[pymethods]
impl Splits {
    /// The loops that are split, each with its factors, outermost first: numbers, or expressions over parameters.
    #[getter]
    fn factors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let factors = PyDict::new(py);
        for (name, each) in &self.factors {
            factors.set_item(name, PyTuple::new(py, each)?)?;
        }
        Ok(factors)
    }

    /// What is affine after the splits: accesses, and conditions of their guards.
    #[getter]
    fn served<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.served)
    }

    /// What is not, each with its reason.
    #[getter]
    fn unserved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.unserved)
    }

    fn __str__(&self) -> String {
        let splits = if self.text.is_empty() { "no loop is split" } else { &self.text };
        let unserved = self.unserved.iter().map(|one| format!("\n{}", one.get().0));
        format!("{splits}{}", unserved.collect::<String>())
    }

    fn __repr__(&self) -> String {
        let splits = if self.text.is_empty() { "none" } else { &self.text };
        format!("<Splits: {splits}; {} served, {} not>", self.served.len(), self.unserved.len())
    }
}

/// What no split that is chosen makes affine: the index of an access, or a condition of its guard. `str` is the sentence.
///
/// >>> from shapetracker import Nest
/// >>> nest = Nest()
/// >>> i = nest.each("i", 7)
/// >>> nest.access("a", "i // 2")
/// >>> left, = nest.splits_where_affine().unserved
/// >>> left.access, left.condition, left.kind, left.loops
/// ('a', None, 'run', ('i',))
/// >>> print(left)
/// `a` has runs of 2 along `i`, and 2 does not divide 7
#[pyclass(frozen, eq, module = "shapetracker")]
#[derive(PartialEq, Eq)]
pub(crate) struct Unserved(expr::Unserved);

#[pymethods]
impl Unserved {
    /// The name of the access.
    #[getter]
    fn access(&self) -> &str {
        &self.0.function.access
    }

    /// The text of the condition of its guard; None where it is its index.
    #[getter]
    fn condition(&self) -> Option<&str> {
        self.0.function.condition.as_deref()
    }

    /// Why: `run` (a run of indices does not divide a loop), `carry` (something carries from one digit into another),
    /// `conflict` (another access, which saves more, needs a loop cut elsewhere), or `undecided`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0.why {
            WhyUnserved::NoRun { .. } => "run",
            WhyUnserved::NotSeparable { .. } => "carry",
            WhyUnserved::Conflict { .. } => "conflict",
            _ => "undecided",
        }
    }

    /// The loops that it is about.
    #[getter]
    fn loops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0.why {
            WhyUnserved::NoRun { of, .. } | WhyUnserved::Conflict { of, .. } => PyTuple::new(py, [of]),
            WhyUnserved::NotSeparable { loops } => PyTuple::new(py, loops),
            _ => Ok(PyTuple::empty(py)),
        }
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Unserved: {}>", self.0)
    }
}
