//! What is asked of trackers whose sizes have names, for all values at once.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use shapetracker_symbolic::{Equality, Formula, Literal, Poly, Scope, ShapeTracker, Sym, guard_text};

use super::answer::formula;
use super::refused;
use super::sym::made;
use crate::error::Undecided;
use crate::view::View;

/// Whether two trackers have the same views over the same names, of which the same is known, and need the same. In which order
/// names and conditions came up does not matter.
pub(crate) fn same(a: &ShapeTracker, b: &ShapeTracker) -> bool {
    let names = |of: &ShapeTracker| {
        let mut names = of.scope().names().to_vec();
        names.sort_by(|a, b| a.name.cmp(&b.name));
        names
    };
    let sym = |of: &ShapeTracker, poly: &Poly| Sym::of(of.scope(), poly.clone()).canonical();
    let conditions = |of: &ShapeTracker, literals: &[Literal]| -> Vec<_> {
        literals.iter().map(|each| (sym(of, &each.poly), each.relation, each.modulus)).collect()
    };
    let meanings = |of: &ShapeTracker| -> Vec<_> {
        of.scope().definitions().iter().map(|(name, poly)| (name.clone(), sym(of, poly))).collect()
    };
    let view = |(one, other)| View::over(a.scope(), one) == View::over(b.scope(), other);
    a == b
        || a.views().len() == b.views().len()
            && a.views().iter().zip(b.views()).all(view)
            && names(a) == names(b)
            && is_one_set(&meanings(a), &meanings(b))
            && is_one_set(&conditions(a, a.scope().given()), &conditions(b, b.scope().given()))
            && is_one_set(&conditions(a, a.needs()), &conditions(b, b.needs()))
}

fn is_one_set<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    a.iter().all(|each| b.contains(each)) && b.iter().all(|each| a.contains(each))
}

/// A formula that holds for all values, or for none.
pub(crate) fn certain(py: Python<'_>, holds: bool) -> PyResult<Bound<'_, PyTuple>> {
    let always: Formula = holds.then(Vec::new).into_iter().collect();
    formula(py, &Arc::default(), &always)
}

/// The values for which something is equal, as a formula; None where that is not decided.
pub(crate) fn for_values<'py>(
    py: Python<'py>,
    scope: &Arc<Scope>,
    equality: Equality,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let (scope, found) = match equality {
        Equality::Always => (scope.clone(), vec![Vec::new()]),
        Equality::When { formula, scope } => (scope, formula),
        Equality::Never => (scope.clone(), Vec::new()),
        Equality::Undecided => return Ok(None),
    };
    formula(py, &scope, &found).map(Some)
}

/// Whether the elements lie one after the other, if that does not depend on the values.
pub(crate) fn is_contiguous(tracker: &ShapeTracker) -> PyResult<bool> {
    for_all_values("is_contiguous", tracker.contiguity())
}

/// Whether the address of each element is its position, if that does not depend on the values.
pub(crate) fn is_identity(tracker: &ShapeTracker) -> PyResult<bool> {
    let rows = ShapeTracker::in_scope(tracker.scope().clone(), tracker.shape().to_vec());
    let equality = rows.and_then(|rows| tracker.equality(&rows)).map_err(|err| refused(&err))?;
    for_all_values("is_identity", equality)
}

fn for_all_values(op: &str, equality: Equality) -> PyResult<bool> {
    match equality {
        Equality::Always => Ok(true),
        Equality::Never => Ok(false),
        Equality::When { formula, scope } => {
            let when = guard_text(&formula, &scope);
            Err(PyTypeError::new_err(format!("{op}: that depends on the values: it is so if and only if {when}")))
        }
        Equality::Undecided => Err(Undecided::new_err(format!("{op}: it is not decided for all values"))),
    }
}

/// The lowest and the highest address that is read.
pub(crate) fn address_range<'py>(
    py: Python<'py>,
    tracker: &ShapeTracker,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let Some((low, high)) = tracker.address_range() else { return Err(unknown("address_range")) };
    Ok((made(py, low)?, made(py, high)?))
}

/// What has no one answer in the names.
pub(crate) fn unknown(op: &str) -> PyErr {
    Undecided::new_err(format!(
        "{op}: it is not known for all values; `.at(..)` makes a tracker of numbers, which has one"
    ))
}

/// Sizes as a tuple.
pub(crate) fn tuple(py: Python<'_>, sizes: Vec<Sym>) -> PyResult<Bound<'_, PyTuple>> {
    let sizes = sizes.into_iter().map(|size| made(py, size));
    PyTuple::new(py, sizes.collect::<PyResult<Vec<_>>>()?)
}
