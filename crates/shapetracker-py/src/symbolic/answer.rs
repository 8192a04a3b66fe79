//! For which values of the names views are one: the question, and the answer as an object.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use shapetracker_symbolic::{Formula, Literal, Pair, Parts, Poly, Scope, Verdict, guard_text, one_view_at};

use super::arguments::point;
use super::refused;
use super::sym::{Condition, names};
use super::view::NamedView;
use crate::arguments::{described, sizes_of};
use crate::error::Undecided;
use crate::picture;
use crate::tracker::ShapeTracker;
use crate::view::View;
use crate::witness::witness;

/// For which values of the names views are one view: for all, for exactly those of a formula, for none, or not decided.
///
/// >>> from shapetracker import ShapeTracker, Sym
/// >>> h, t = Sym("H"), Sym("T", 1, 4096)
/// >>> answer = ShapeTracker.contiguous(t, h).permute(1, 0).reshape(-1).single_view()
/// >>> print(answer)
/// one view if and only if T == 1 or H == 1
/// >>> answer.kind, answer.formula, answer.guard
/// ('formula', ((T == 1,), (H == 1,)), 'T == 1 or H == 1')
/// >>> eval(answer.guard, {"H": 1, "T": 8})
/// True
/// >>> answer.holds(H=1, T=5), answer.at(H=1, T=5)
/// (True, View(shape=(5,), strides=(1,), offset=0, mask=None))
/// >>> answer.holds(**answer.values), type(answer.witness)
/// (False, <class 'shapetracker.UnevenStep'>)
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Answer {
    /// The names that were asked about.
    asked: Arc<Scope>,
    /// Those and the quotients that the answer has names for.
    names: Arc<Scope>,
    needs: Vec<Literal>,
    /// The views that were asked about.
    views: Vec<shapetracker_symbolic::View>,
    answer: shapetracker_symbolic::Answer,
}

#[pymethods]
impl Answer {
    /// "all", "formula", "never" or "undecided".
    #[getter]
    fn kind(&self) -> &'static str {
        self.answer.kind()
    }

    /// The exact condition: of these tuples one must hold, each of conditions that hold together. For "undecided" it says
    /// where it is known to be one view.
    #[getter]
    fn formula<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        formula(py, &self.names, &self.answer.formula())
    }

    /// The formula as an expression of Python over the names: `n % 4 == 0`; True for all values, and False for none.
    #[getter]
    fn guard(&self) -> String {
        guard_text(&self.answer.formula(), &self.names)
    }

    /// Whether it is one view where the names have values: `holds(n=8)`.
    ///
    /// Where the answer leaves it open it is decided for these values by themselves, as `at` and `single_view` of the tracker
    /// decide it. Raises Undecided where that is not known, and ValueError where a name has no value or the values do not
    /// satisfy `needs`.
    #[pyo3(signature = (**values))]
    fn holds(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<bool> {
        let point = point("holds", &self.asked, &self.needs, values)?;
        let by_answer = self.answer.is_one_at(&self.asked, &point);
        by_answer.or_else(|| Some(self.by_integers(&point)?.is_some())).ok_or_else(|| self.undecided())
    }

    /// The one view where the names have values: `at(n=8)`; None where it is not one view.
    ///
    /// Raises what `holds` does.
    #[pyo3(signature = (**values))]
    fn at(&self, values: Option<&Bound<'_, PyDict>>) -> PyResult<Option<View>> {
        const OP: &str = "at";
        let point = point(OP, &self.asked, &self.needs, values)?;
        let Some(is_one) = self.answer.is_one_at(&self.asked, &point) else {
            return self.by_integers(&point).map(|view| view.map(View::from)).ok_or_else(|| self.undecided());
        };
        if is_one {
            // The part that the values lie in has a view; else the view that serves all parts is right here, too.
            let leaf = self.answer.leaf_at(&self.asked, &point).map(|leaf| &leaf.verdict);
            let view = match (leaf, self.answer.view()) {
                (Some(Verdict::View(view)), _) | (_, Some(view)) => view,
                _ => return Err(self.undecided()),
            };
            return NamedView::of(&self.names, view).at(OP, &point).map(View::from).map(Some);
        }
        Ok(None)
    }

    /// The view that serves wherever there is one, where one set of polynomials does.
    #[getter]
    fn view(&self) -> Option<View> {
        self.answer.view().map(|view| View::over(&self.names, view))
    }

    /// The parts that the values fall into, with what is known in each.
    #[getter]
    fn leaves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let leaves = self.answer.leaves().iter();
        PyTuple::new(py, leaves.map(|leaf| Leaf { names: self.names.clone(), leaf: leaf.clone() }))
    }

    /// The conditions without which there is no question: what the operations need of the values.
    #[getter]
    fn needs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        conjunction(py, &self.asked, &self.needs)
    }

    /// Values of the names at which it is not one view, or None where there are none, or none that are known.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(found) = self.answer.counterexample() else { return Ok(None) };
        let values = PyDict::new(py);
        for (name, value) in self.asked.names().iter().zip(&found.values) {
            values.set_item(&*name.name, value)?;
        }
        Ok(Some(values))
    }

    /// Proof that it is not one view at `values`: an UnevenStep or a NotABox, or None.
    #[getter]
    fn witness(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.answer.counterexample().map(|found| witness(py, &found.witness)).transpose()
    }

    /// Why it was not decided, or None where it was.
    #[getter]
    fn reason(&self) -> Option<String> {
        match &self.answer {
            shapetracker_symbolic::Answer::Undecided { reason, .. } => Some(reason.to_string()),
            _ => None,
        }
    }

    /// The names, each with the least and the greatest value, None where there is none.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        names(py, &self.asked)
    }

    fn __eq__(&self, other: &Answer) -> bool {
        self.asked == other.asked && self.needs == other.needs && self.answer == other.answer
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.kind(), self.__str__()).hash(&mut hasher);
        hasher.finish()
    }

    fn __bool__(&self) -> PyResult<bool> {
        match &self.answer {
            shapetracker_symbolic::Answer::Always { .. } => Ok(true),
            shapetracker_symbolic::Answer::Never { .. } => Ok(false),
            _ => Err(PyTypeError::new_err(format!(
                "{self}: holds(..) says what it is for some values",
                self = self.__str__()
            ))),
        }
    }

    fn __str__(&self) -> String {
        self.answer.sentence(&self.asked)
    }

    fn _repr_html_(&self) -> String {
        picture::pre(&self.__str__())
    }

    /// The views that were asked about as a tracker, which answers again.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let parts = Parts::of(&self.asked, &self.needs, &self.views);
        let tracker = ShapeTracker::from_names(shapetracker_symbolic::ShapeTracker::from_parts(&parts))?;
        let again = Bound::new(py, tracker)?.into_any().getattr("single_view")?;
        (again, PyTuple::empty(py)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        format!("<Answer: {}{}>", self.__str__(), needs_text(&self.asked, &self.needs))
    }
}

impl Answer {
    pub(crate) fn of(
        asked: &Arc<Scope>,
        needs: &[Literal],
        views: impl IntoIterator<Item = shapetracker_symbolic::View>,
        answer: shapetracker_symbolic::Answer,
    ) -> Answer {
        let names = Arc::new(answer.scope(asked));
        Answer { asked: asked.clone(), names, needs: needs.to_vec(), views: views.into_iter().collect(), answer }
    }

    /// What a tracker answers.
    pub(crate) fn of_tracker(py: Python<'_>, tracker: &shapetracker_symbolic::ShapeTracker) -> Answer {
        let answer = py.detach(|| tracker.single_view());
        Answer::of(tracker.scope(), tracker.needs(), tracker.views().iter().cloned(), answer)
    }

    /// What the integers decide at values, where they do.
    fn by_integers(&self, point: &[i128]) -> Option<Option<shapetracker::View>> {
        one_view_at(&self.asked, &self.views, point)
    }

    fn undecided(&self) -> PyErr {
        match self.reason() {
            Some(reason) => Undecided::new_err(format!("at these values it was not decided, because {reason}")),
            None => Undecided::new_err("at these values a number is past the range of 128-bit integers"),
        }
    }
}

/// A part of the values of the names, and what is known there.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Leaf {
    names: Arc<Scope>,
    leaf: shapetracker_symbolic::Leaf,
}

#[pymethods]
impl Leaf {
    /// The conditions that describe the part, which hold together.
    #[getter]
    fn conditions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        conjunction(py, &self.names, &self.leaf.literals)
    }

    /// "view", "not_one" or "undecided".
    #[getter]
    fn verdict(&self) -> &'static str {
        match self.leaf.verdict {
            Verdict::View(_) => "view",
            Verdict::NotOne => "not_one",
            Verdict::Undecided(_) => "undecided",
        }
    }

    /// The one view there, or None.
    #[getter]
    fn view(&self) -> Option<View> {
        match &self.leaf.verdict {
            Verdict::View(view) => Some(View::over(&self.names, view)),
            _ => None,
        }
    }

    fn __repr__(&self) -> String {
        let conditions: Vec<String> = self.leaf.literals.iter().map(|literal| literal.text(&self.names)).collect();
        let conditions = if conditions.is_empty() { "always".into() } else { conditions.join(" and ") };
        match &self.leaf.verdict {
            Verdict::View(view) => format!("<Leaf: {conditions}: {}>", view.text(&self.names)),
            Verdict::NotOne => format!("<Leaf: {conditions}: not one view>"),
            Verdict::Undecided(reason) => format!("<Leaf: {conditions}: undecided, because {reason}>"),
        }
    }
}

/// Conditions that hold together.
pub(crate) fn conjunction<'py>(
    py: Python<'py>,
    scope: &Arc<Scope>,
    literals: &[Literal],
) -> PyResult<Bound<'py, PyTuple>> {
    let condition = |literal: &Literal| Condition::of(&shapetracker_symbolic::Condition::over(scope, literal.clone()));
    PyTuple::new(py, literals.iter().map(condition).collect::<PyResult<Vec<_>>>()?)
}

/// Conditions of which one holds, each a tuple of conditions that hold together.
pub(crate) fn formula<'py>(py: Python<'py>, scope: &Arc<Scope>, formula: &Formula) -> PyResult<Bound<'py, PyTuple>> {
    let conjunctions = formula.iter().map(|literals| conjunction(py, scope, literals));
    PyTuple::new(py, conjunctions.collect::<PyResult<Vec<_>>>()?)
}

/// What is needed, as the end of a line.
pub(crate) fn needs_text(scope: &Scope, needs: &[Literal]) -> String {
    let texts: Vec<String> = needs.iter().map(|need| need.text(scope)).collect();
    if texts.is_empty() { String::new() } else { format!("; needs {}", texts.join(" and ")) }
}

/// For which values two views are one, where conditions are known to hold.
pub(crate) fn merge(
    earlier: &Bound<'_, PyAny>,
    later: &Bound<'_, PyAny>,
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Answer> {
    const OP: &str = "merge";
    let view = |value: &Bound<'_, PyAny>| {
        let mismatch = || PyTypeError::new_err(format!("{OP}: takes two views, not {}", described(value)));
        Ok::<_, PyErr>(value.cast::<View>().map_err(|_| mismatch())?.get().named().into_owned())
    };
    let (earlier, later) = (view(earlier)?, view(later)?);
    let mut conditions = Vec::new();
    let refuse = |what: &Bound<'_, PyAny>| {
        PyTypeError::new_err(format!(
            "{OP}: `given` takes a sequence of conditions such as n >= 4, not {}",
            described(what)
        ))
    };
    let given = given.map(|given| given.try_iter().map_err(|_| refuse(given))).transpose()?;
    for condition in given.into_iter().flatten() {
        let condition = condition?;
        let mismatch = || refuse(&condition);
        conditions.push(condition.cast::<Condition>().map_err(|_| mismatch())?.get().plain(OP)?);
    }
    asked(OP, &earlier, &later, &conditions)
}

/// The answer about a pair of views, each over names of its own.
fn asked(
    op: &'static str,
    earlier: &NamedView,
    later: &NamedView,
    given: &[shapetracker_symbolic::Condition],
) -> PyResult<Answer> {
    let (mut scope, views) = NamedView::united(op, &[earlier, later])?;
    if !given.is_empty() {
        let scalar = shapetracker_symbolic::ShapeTracker::in_scope(scope, Vec::new());
        let known =
            given.iter().try_fold(scalar.map_err(|err| refused(&err))?, |known, condition| known.given(condition));
        scope = known.map_err(|err| refused(&err))?.scope().clone();
    }
    let [earlier, later] = views.try_into().map_err(|_| PyValueError::new_err(format!("{op}: takes two views")))?;
    let pair = Pair::new(scope, Vec::new(), earlier, later).map_err(|err| refused(&err))?;
    Ok(Answer::of(pair.scope(), pair.needs(), pair.views().map(Clone::clone), pair.answer().clone()))
}

/// For which values of strides s1, s2, .. and of the names a view of a shape with these strides and a later view are one.
pub(crate) fn conditions(shape: &Bound<'_, PyAny>, later: &Bound<'_, PyAny>) -> PyResult<Answer> {
    const OP: &str = "conditions";
    let mismatch = || PyTypeError::new_err(format!("{OP}: the later view is to be a view, not {}", described(later)));
    let later = &*later.cast::<View>().map_err(|_| mismatch())?.get().named();
    let shape = sizes_of::<shapetracker_symbolic::Sym>(OP, shape)?;
    let strides: Vec<String> = (1..=shape.len()).map(|axis| format!("s{axis}")).collect();
    let (scope, polys) = shapetracker_symbolic::Sym::united(OP, shape).map_err(|err| refused(&err))?;
    let is_stride = |name: &str| strides.iter().any(|stride| stride == name);
    let taken = scope.names().iter().chain(later.scope.names()).find(|name| is_stride(&name.name));
    if let Some(taken) = taken {
        let sentence =
            format!("{OP}: `{}` is a stride of the earlier view, and cannot be the name of a size", taken.name);
        return Err(PyValueError::new_err(sentence));
    }
    let strides = strides.iter().map(|name| shapetracker_symbolic::Sym::new(name, ..));
    let sizes = polys.iter().map(|poly| shapetracker_symbolic::Sym::of(&scope, poly.clone()));
    let (scope, mut polys) =
        shapetracker_symbolic::Sym::united(OP, sizes.chain(strides)).map_err(|err| refused(&err))?;
    let strides = polys.split_off(polys.len() / 2);
    let view = shapetracker_symbolic::View { shape: polys, strides, offset: Poly::default(), mask: None };
    asked(OP, &NamedView { scope, view }, later, &[])
}
