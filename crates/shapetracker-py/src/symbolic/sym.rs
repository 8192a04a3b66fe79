//! `Sym`, a size that is a name or has names in it, and `Condition`, what two of them may satisfy.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBool, PyDict, PyTuple};
use shapetracker_symbolic::Relation;

use super::arguments::{past_bits, point, read};
use super::refused;
use crate::arguments::described;

/// A size that is a name: `Sym("n", 1, 4096)` is one of 1, 2, .., 4096. Both ends are values, as those of torch's `Dim`;
/// an end that is None is none, and without ends a name is 1 or more. `Sym("s", None)` is any integer.
///
/// `+`, `-`, `*`, `**` and `//`, where that leaves no remainder, make polynomials. `<`, `<=`, `>`, `>=`, `eq`, `ne` and
/// `divisible` make conditions. `==` is whether two are the same polynomial, so that they can be keys of a dict.
///
/// >>> from shapetracker import Sym
/// >>> n = Sym("n", 1, 4096)
/// >>> 3*n + 1, (n + 1)**2 - 1, 4*n // 2
/// (3*n + 1, n**2 + 2*n, 2*n)
/// >>> n < 4, n.divisible(4), n.eq(3)
/// (n <= 3, n % 4 == 0, n == 3)
/// >>> (3*n + 1).at(n=5)
/// 16
/// >>> n + 1 == 1 + n, n == 3
/// (True, False)
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Sym(shapetracker_symbolic::Sym);

/// What arithmetic gave: an int where no names are left, else a [`Sym`].
pub(crate) fn made(py: Python<'_>, sym: shapetracker_symbolic::Sym) -> PyResult<Bound<'_, PyAny>> {
    let number = sym.parts().map_err(|err| refused(&err))?.1.number();
    match number {
        Some(number) => Ok(number.into_pyobject(py)?.into_any()),
        None => Ok(Bound::new(py, Sym(sym))?.into_any()),
    }
}

/// What stands beside an operator, if it is a size.
fn operand(value: &Bound<'_, PyAny>) -> Option<PyResult<shapetracker_symbolic::Sym>> {
    const OP: &str = "size";
    if let Ok(sym) = value.cast::<Sym>() {
        return Some(sym.get().plain(OP));
    }
    if !value.hasattr("__index__").unwrap_or(false) {
        return None;
    }
    let number = value.call_method0("__index__").and_then(|number| number.extract::<i128>());
    let past = |err: PyErr| match err.is_instance_of::<PyOverflowError>(value.py()) {
        true => PyOverflowError::new_err(format!("{OP}: a number is past the range of 128-bit integers")),
        false => err,
    };
    Some(number.map(Into::into).map_err(past))
}

#[pymethods]
impl Sym {
    #[new]
    #[pyo3(signature = (name, min=Some(1), max=None), text_signature = "(name, min=1, max=None)")]
    fn new(name: &str, min: Option<i128>, max: Option<i128>) -> PyResult<Self> {
        use std::ops::Bound::{Included, Unbounded};
        let bound = |end: Option<i128>| end.map_or(Unbounded, Included);
        let sym = shapetracker_symbolic::Sym::new(name, (bound(min), bound(max)));
        sym.parts().map_err(|err| refused(&err))?;
        Ok(Sym(sym))
    }

    /// Reads a polynomial: `Sym.parse("3*n + 1", where="n=1..4097")`. In texts ranges are half-open.
    #[staticmethod]
    #[pyo3(signature = (text, r#where=""))]
    fn parse<'py>(py: Python<'py>, text: &str, r#where: &str) -> PyResult<Bound<'py, PyAny>> {
        let sym = |scope: &_, poly| made(py, shapetracker_symbolic::Sym::of(scope, poly));
        read(py, text, r#where, |question| question.number(text), sym)
    }

    /// Its names, each with the least and the greatest value, None where there is none.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let own = self.0.canonical();
        names(py, own.parts().map_err(|err| refused(&err))?.0)
    }

    /// What it is the sum of, the products of most names first: each a number and the names that it is multiplied by, one
    /// for each factor. `n*n*3 + 5` is `((3, ("n", "n")), (5, ()))`.
    #[getter]
    fn terms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let own = self.0.canonical();
        let (scope, poly) = own.parts().map_err(|err| refused(&err))?;
        let term = |(factor, vars): (i128, Vec<shapetracker_symbolic::Var>)| {
            let names = vars.iter().map(|var| &*scope.names()[usize::from(var.0)].name);
            (factor, PyTuple::new(py, names.collect::<Vec<_>>())?).into_pyobject(py)
        };
        PyTuple::new(py, poly.summands().map(term).collect::<PyResult<Vec<_>>>()?)
    }

    /// The number that it is where its names have values: `at(n=8)`.
    #[pyo3(signature = (**values))]
    fn at(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<i128> {
        self.value("at", values)
    }

    /// The condition that it equals another size. (`==` compares polynomials, not values.)
    fn eq(&self, other: &Bound<'_, PyAny>) -> PyResult<Condition> {
        self.compared("eq", other, |a, b| a.equals(b))
    }

    /// The condition that it differs from another size.
    fn ne(&self, other: &Bound<'_, PyAny>) -> PyResult<Condition> {
        self.compared("ne", other, |a, b| a.differs(b))
    }

    /// The condition that it is a multiple of a number.
    fn divisible(&self, by: &Bound<'_, PyAny>) -> PyResult<Condition> {
        let by: u32 = by.extract().map_err(|_| {
            let sentence = format!("divisible: takes a whole number from 1 to {}, not {}", u32::MAX, described(by));
            PyValueError::new_err(sentence)
        })?;
        Condition::of(&self.plain("divisible")?.divisible(by))
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| a + b)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| b + a)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| a - b)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| b - a)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| a * b)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| b * a)
    }

    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        exponent: &Bound<'py, PyAny>,
        modulo: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if !modulo.is_none() {
            return Ok(py.NotImplemented().into_bound(py));
        }
        // A product has at most 16 factors, which says so of higher powers.
        let exponent = exponent.extract::<u32>().map_err(|_| {
            let sentence = format!("size: an exponent is a whole number of 0 or more, not {}", described(exponent));
            PyValueError::new_err(sentence)
        })?;
        let base = slf.get().plain("size")?;
        let power = (0..exponent.min(17)).fold(shapetracker_symbolic::Sym::from(1), |power, _| power * &base);
        made(py, power)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| a.floor_div(b))
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| b.floor_div(a))
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| a.modulo(b))
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operator(slf, other, |a, b| b.modulo(a))
    }

    fn __neg__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, -self.plain("size")?)
    }

    fn __pos__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        compare: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let CompareOp::Eq | CompareOp::Ne = compare {
            let Ok(other) = other.cast::<Sym>() else { return Ok(py.NotImplemented().into_bound(py)) };
            let same = slf.get().0.canonical() == other.get().0.canonical();
            return Ok(PyBool::new(py, same == matches!(compare, CompareOp::Eq)).to_owned().into_any());
        }
        let Some(other) = operand(other) else { return Ok(py.NotImplemented().into_bound(py)) };
        let (a, b) = (slf.get().plain("size")?, other?);
        let condition = match compare {
            CompareOp::Lt => (a + 1).at_most(b),
            CompareOp::Le => a.at_most(b),
            CompareOp::Gt => a.at_least(b + 1),
            _ => a.at_least(b),
        };
        Ok(Bound::new(py, Condition::of(&condition)?)?.into_any())
    }

    fn __hash__(&self) -> u64 {
        hashed(&self.0)
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err(
            "a size with names is neither true nor false: at(..) says what it is for some values, and `>= 1` is a condition",
        ))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let own = slf.get().plain("pickle")?.canonical();
        let known = own.parts().map_err(|err| refused(&err))?.0.known();
        (slf.get_type().getattr("parse")?, (own.to_string(), known)).into_pyobject(py)
    }
}

impl Sym {
    pub(crate) fn of(sym: shapetracker_symbolic::Sym) -> Sym {
        Sym(sym)
    }

    /// The number that it is where names have values: those of its own, or, where it has quotients in it, of its scope.
    fn value(&self, op: &'static str, values: Option<&Bound<'_, PyDict>>) -> PyResult<i128> {
        let sym = self.plain(op).map_or_else(|_| self.0.clone(), |plain| plain.canonical());
        let (scope, poly) = sym.parts().map_err(|err| refused(&err))?;
        let point = point(op, scope, &[], values)?;
        scope.complete(&point).and_then(|point| poly.eval(&point)).ok_or_else(|| past_bits(op, 128))
    }

    /// The value, if it can be computed with: quotients, such as the `(n//2)` of an answer, are no polynomials.
    pub(crate) fn plain(&self, op: &str) -> PyResult<shapetracker_symbolic::Sym> {
        let (scope, poly) = self.0.parts().map_err(|err| refused(&err))?;
        if scope.quotients().is_empty() {
            return Ok(self.0.clone());
        }
        let named = scope.names().len() - scope.quotients().len();
        if poly.vars().iter().all(|var| usize::from(var.0) < named) {
            return Ok(self.0.canonical());
        }
        let sentence = format!("{op}: {} has a quotient in it, which only answers have", self.0);
        Err(PyValueError::new_err(sentence))
    }

    fn compared(
        &self,
        op: &str,
        other: &Bound<'_, PyAny>,
        compare: impl Fn(shapetracker_symbolic::Sym, shapetracker_symbolic::Sym) -> shapetracker_symbolic::Condition,
    ) -> PyResult<Condition> {
        let mismatch =
            || Err(PyTypeError::new_err(format!("{op}: takes a Sym or a whole number, not {}", described(other))));
        let other = operand(other).unwrap_or_else(mismatch)?;
        Condition::of(&compare(self.plain(op)?, other))
    }
}

/// What an operator makes of a size and what stands beside it, in either order.
fn operator<'py>(
    slf: &Bound<'py, Sym>,
    other: &Bound<'py, PyAny>,
    op: impl Fn(shapetracker_symbolic::Sym, shapetracker_symbolic::Sym) -> shapetracker_symbolic::Sym,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    match operand(other) {
        Some(other) => made(py, op(slf.get().plain("size")?, other?)),
        None => Ok(py.NotImplemented().into_bound(py)),
    }
}

/// Equal values have equal hashes.
pub(super) fn hashed(sym: &shapetracker_symbolic::Sym) -> u64 {
    let mut hasher = DefaultHasher::new();
    let own = sym.canonical();
    if let Ok((scope, poly)) = own.parts() {
        (scope.names(), poly).hash(&mut hasher);
    }
    hasher.finish()
}

/// Names with their least and greatest values.
pub(crate) fn names<'py>(py: Python<'py>, scope: &shapetracker_symbolic::Scope) -> PyResult<Bound<'py, PyDict>> {
    let names = PyDict::new(py);
    for name in &scope.names()[..scope.names().len() - scope.quotients().len()] {
        names.set_item(&*name.name, (name.lo, name.hi))?;
    }
    Ok(names)
}

/// A condition on named sizes, as comparing them makes it: a polynomial `poly` that compares by `op` with 0, modulo `mod`
/// where that is not None.
///
/// >>> from shapetracker import Sym
/// >>> n, s = Sym("n"), Sym("s", 0)
/// >>> condition = n >= s + 4
/// >>> condition, condition.poly, condition.op, condition.mod
/// (n >= s + 4, n - s - 4, '>=', None)
/// >>> condition.holds(n=8, s=5)
/// False
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Condition(shapetracker_symbolic::Condition);

#[pymethods]
impl Condition {
    /// What is compared with 0.
    #[getter]
    fn poly<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        made(py, self.compared()?)
    }

    /// How it compares: `>=`, `==` or `!=`.
    #[getter]
    fn op(&self) -> PyResult<&'static str> {
        Ok(self.0.parts().map_err(|err| refused(&err))?.1.relation.symbol())
    }

    /// The number that it is compared modulo, or None.
    #[getter]
    fn r#mod(&self) -> PyResult<Option<i128>> {
        Ok(self.0.parts().map_err(|err| refused(&err))?.1.modulus)
    }

    /// Whether it holds where its names have values: `holds(n=8)`.
    #[pyo3(signature = (**values))]
    fn holds(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
        const OP: &str = "holds";
        let value = Sym::of(self.compared()?).value(OP, values)?;
        let literal = self.0.parts().map_err(|err| refused(&err))?.1;
        let literal = shapetracker_symbolic::Literal { poly: value.into(), ..literal.clone() };
        literal.holds(&[]).ok_or_else(|| past_bits(OP, 128))
    }

    fn __eq__(&self, other: &Condition) -> PyResult<bool> {
        let (mine, theirs) = (self.compared()?.canonical(), other.compared()?.canonical());
        Ok(mine == theirs && self.kind()? == other.kind()?)
    }

    fn __hash__(&self) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        (hashed(&self.compared()?), self.kind()?).hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __bool__(&self) -> PyResult<bool> {
        let literal = self.0.parts().map_err(|err| refused(&err))?.1;
        literal.poly.number().and_then(|_| literal.holds(&[])).ok_or_else(|| {
            PyTypeError::new_err(
                "a condition on names is neither true nor false: holds(..) says what it is for some values",
            )
        })
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

impl Condition {
    pub(crate) fn of(condition: &shapetracker_symbolic::Condition) -> PyResult<Condition> {
        condition.parts().map_err(|err| refused(&err))?;
        Ok(Condition(condition.clone()))
    }

    /// The condition, if it is one on names and not on quotients.
    pub(crate) fn plain(&self, op: &str) -> PyResult<shapetracker_symbolic::Condition> {
        let own = Sym::of(self.compared()?).plain(op)?;
        let (scope, poly) = own.parts().map_err(|err| refused(&err))?;
        let literal = self.0.parts().map_err(|err| refused(&err))?.1;
        let literal = shapetracker_symbolic::Literal { poly: poly.clone(), ..literal.clone() };
        Ok(shapetracker_symbolic::Condition::over(scope, literal))
    }

    /// What is compared with 0.
    fn compared(&self) -> PyResult<shapetracker_symbolic::Sym> {
        let (scope, literal) = self.0.parts().map_err(|err| refused(&err))?;
        Ok(shapetracker_symbolic::Sym::of(scope, literal.poly.clone()))
    }

    fn kind(&self) -> PyResult<(Relation, Option<i128>)> {
        let literal = self.0.parts().map_err(|err| refused(&err))?.1;
        Ok((literal.relation, literal.modulus))
    }
}
