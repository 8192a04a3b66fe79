//! `SymbolicIndexExpr`: what reads an element of a tracker whose sizes have names, with the names as variables.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange, PyTuple};
use shapetracker::expr::{IndexExpr, Syntax};

use super::arguments::{past_bits, point};
use super::refused;
use super::sym::made;
use crate::arguments::numbers;
use crate::expr::{Cost, Expr, language_of};

/// What reads an element of a SymbolicShapeTracker: `index`, and whether it is `valid`, over `idx0`, `idx1`, .. and the
/// names, which kernels take as arguments.
///
/// Code has numbers of at most 64 bits: names without an end have one there, which `parameters` tells, and the code is right
/// for these values. It is right where the tracker's `needs` and what is given hold.
///
/// >>> from shapetracker import ShapeTracker, Sym
/// >>> t, h = Sym("T", 1, 1024), Sym("H", 1, 64)
/// >>> expr = ShapeTracker.contiguous(t, h, 64).permute(1, 0, 2).index_expr()
/// >>> expr
/// <SymbolicIndexExpr index: (idx1 * H + idx0) * 64 + idx2, valid: True>
/// >>> expr.parameters
/// {'T': range(1, 1025), 'H': range(1, 65)}
/// >>> expr.address(1, 2, 3, T=8, H=4)
/// 579
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct SymbolicIndexExpr {
    expr: IndexExpr,
    tracker: shapetracker_symbolic::ShapeTracker,
}

#[pymethods]
impl SymbolicIndexExpr {
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
        let sizes = self.tracker.sizes().into_iter().map(|size| made(py, size));
        PyTuple::new(py, sizes.collect::<PyResult<Vec<_>>>()?)
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
        Cost::of(self.expr.cost())
    }

    /// The address of an element as the expressions compute it, where the names of the tracker have values:
    /// `address(1, 2, n=8)`. None where it is not valid.
    #[pyo3(signature = (*index, **values))]
    fn address(&self, index: &Bound<'_, PyTuple>, values: Option<&Bound<'_, PyDict>>) -> PyResult<Option<i64>> {
        const OP: &str = "address";
        let scope = self.tracker.scope();
        let point = point(OP, scope, self.tracker.needs(), values)?;
        let index = numbers(OP, index)?;
        let rank = self.tracker.rank();
        if index.len() != rank {
            let sentence = format!("{OP}: takes one number per axis: the tensor has {rank}, not {}", index.len());
            return Err(PyValueError::new_err(sentence));
        }
        let mut all: Vec<i64> = index.to_vec();
        for parameter in self.expr.parameters() {
            let place = scope.names().iter().position(|name| *name.name == *parameter.name);
            let value = place.and_then(|place| i64::try_from(point[place]).ok()).ok_or_else(|| past_bits(OP, 64))?;
            all.push(value);
        }
        let sizes = self.tracker.shape().iter().map(|size| size.eval(&point));
        let inside =
            index.iter().zip(sizes).all(|(&at, size)| at >= 0 && size.is_some_and(|size| i128::from(at) < size));
        let value = |expr| self.expr.graph().evaluate(expr, &all).map_err(|err| PyValueError::new_err(err.to_string()));
        if !inside || value(self.expr.valid())? == 0 {
            return Ok(None);
        }
        value(self.expr.index()).map(Some)
    }

    /// Definitions of `valid` and `index` in a language: python, c, cuda, opencl, metal, wgsl, rust, mlir, latex.
    #[pyo3(signature = (language="python"))]
    fn code(&self, language: &str) -> PyResult<String> {
        self.expr.code(language_of(language)?).map_err(|err| PyValueError::new_err(err.to_string()))
    }

    /// A whole function that gathers all elements, in row-major order, and takes the names as arguments.
    #[pyo3(signature = (language="python"))]
    fn kernel(&self, language: &str) -> PyResult<String> {
        self.expr.kernel(language_of(language)?).map_err(|err| PyValueError::new_err(err.to_string()))
    }

    fn __eq__(&self, other: &SymbolicIndexExpr) -> bool {
        self.tracker == other.tracker
    }

    fn __hash__(&self) -> u64 {
        super::tracker::hashed(&self.tracker)
    }

    fn __str__(&self) -> PyResult<String> {
        self.code("python")
    }

    fn __repr__(&self) -> PyResult<String> {
        let text = |expr| {
            let text = self.expr.graph().text(expr, Syntax::Python);
            text.map_err(|err| PyValueError::new_err(err.to_string()))
        };
        Ok(format!("<SymbolicIndexExpr index: {}, valid: {}>", text(self.expr.index())?, text(self.expr.valid())?))
    }
}

impl SymbolicIndexExpr {
    pub(super) fn of(tracker: &shapetracker_symbolic::ShapeTracker) -> PyResult<SymbolicIndexExpr> {
        let expr = tracker.index_expr().map_err(|err| refused(&err))?;
        Ok(SymbolicIndexExpr { expr, tracker: tracker.clone() })
    }
}
