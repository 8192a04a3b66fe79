//! Is a chain still one view, and if not, what do NumPy and PyTorch do, and what is the least to copy?

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyTuple};
use shapetracker::advice as library;
use shapetracker::{ArrayLibrary, Buffer, Chain, ShapeTracker, Unmerged};
use shapetracker_symbolic::{Answer as Values, Scope};

use crate::arguments::{number, numbers_of};
use crate::error::parse;
use crate::import::module;
use crate::picture::{self, Drawn};
use crate::symbolic::{Advised, Answer, advised, formula, made, sizes_with_names};
use crate::view::View;
use crate::witness::witness;

type Any<'py> = Bound<'py, PyAny>;

/// What NumPy and PyTorch do with a chain or with a line of their code: whether it is one view, the first operation that
/// needs another, the least that must be copied, and the code that copies no more. `base` is the shape of the array where the
/// text does not say it, and numbers that the text has by names are given by these names:
/// `advice("x.transpose(1, 2).view(B, T*C)", (8, 3, 5), B=8, T=3, C=5)`.
///
/// Names that have no values stay names, as in `advice("x.transpose(1, 2).view(B, T*C)", ("B", "T", "C"))`: the answer says for
/// which values it holds, and the code is written in the names. `where` says what is known of them, as in
/// `ShapeTracker.parse`.
#[pyfunction]
#[pyo3(signature = (text, base = None, *, r#where = "", **names))]
pub(crate) fn advice<'py>(
    py: Python<'py>,
    text: &str,
    base: Option<&Any<'py>>,
    r#where: &str,
    names: Option<&Bound<'py, PyDict>>,
) -> PyResult<Advice> {
    const OP: &str = "advice";
    // What can be gone through only once is so now, and what may change later is kept as it is.
    let once = |base: &Any<'py>| match base.is_instance_of::<PyIterator>() || base.is_instance_of::<PyList>() {
        true => Ok(PyTuple::new(py, base.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.into_any()),
        false => Ok::<_, PyErr>(base.clone()),
    };
    let base = base.map(once).transpose()?;
    let by_name = names.map_or_else(|| Ok(PyDict::new(py)), |names| names.copy())?;
    by_name.set_item("where", r#where)?;
    let question = ((text, &base).into_pyobject(py)?.unbind(), by_name.unbind());
    let base = base.as_ref();
    let mut given: Vec<(String, i64)> = Vec::new();
    for (name, value) in names.into_iter().flatten() {
        let name: String = name.extract()?;
        let value = number(OP, || format!("`{name}`"), &value)?;
        given.push((name, value));
    }
    let named = base.map_or(Ok(None), |base| sizes_with_names(OP, base))?;
    let is_of_names = named.is_some() || !r#where.is_empty();
    let base = match (&named, base) {
        (None, Some(base)) => Some(numbers_of(OP, base)?),
        _ => None,
    };
    let mut wrong = None;
    if !is_of_names {
        let values: Vec<(&str, i64)> = given.iter().map(|(name, value)| (&name[..], *value)).collect();
        let (chain, error) = Chain::read_given(text, base.as_deref(), &values);
        match error {
            None => {
                let advice = chain.advice(base.as_deref()).map_err(|err| parse(py, text, &err.into()))?;
                let end = chain.follow(base.as_deref(), |_, _| {}).ok();
                return Ok(Advice { kind: Kind::Numbers(advice, end.map(|end| end.over_newest().clone())), question });
            }
            // On an array whose sizes are numbers, so are all others.
            Some(error) if base.is_some() => return Err(parse(py, text, &error)),
            Some(error) => wrong = Some(error),
        }
    }
    // What is no chain of numbers may be one of names.
    let numbers = || base.as_ref().map(|base| base.iter().map(i64::to_string).collect());
    let (sizes, known) = named.map_or_else(|| (numbers(), String::new()), |(sizes, known)| (Some(sizes), known));
    let found = advised(py, text, sizes, [known, r#where.into()], &given)?;
    match (found, wrong) {
        (Some(found), _) => Ok(Advice { kind: Kind::Names(found), question }),
        (None, Some(wrong)) => Err(parse(py, text, &wrong)),
        (None, None) => Err(PyValueError::new_err("advice: there are no names, of which `where` could say something")),
    }
}

enum Kind {
    /// With the layout that the chain ends with.
    Numbers(library::Advice, Option<ShapeTracker>),
    Names(Advised),
}

/// The answer of `advice`: true where the chain is one view.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Advice {
    kind: Kind,
    /// What `advice` was called with, as `pickle` calls it again: the text and the shape, and the rest by name.
    question: (Py<PyTuple>, Py<PyDict>),
}

#[pymethods]
impl Advice {
    /// Whether the chain is one view of the memory that it starts with, or of the last copy that is written in it; None where
    /// that was not decided within the work limit, and where it depends on the values of names: `answer` says on which.
    #[getter]
    fn one_view(&self) -> Option<bool> {
        match &self.kind {
            Kind::Numbers(advice, _) => match &advice.view {
                Ok(_) => Some(true),
                Err(Unmerged::Witness(_)) => Some(false),
                Err(_) => None,
            },
            Kind::Names(found) => match &found.advice.answer {
                Values::Always { .. } => Some(true),
                Values::Never { .. } => Some(false),
                _ => None,
            },
        }
    }

    fn __bool__(&self) -> bool {
        self.one_view() == Some(true)
    }

    /// For which values of the names the chain is one view; None where there are no names.
    #[getter]
    fn answer(&self) -> Option<Answer> {
        let Kind::Names(Advised { scope, advice }) = &self.kind else { return None };
        let views = advice.tracker.views().iter().cloned();
        Some(Answer::of(scope, advice.tracker.needs(), views, advice.answer.clone()))
    }

    /// That view; None where there are several.
    #[getter]
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Option<Any<'py>>> {
        Ok(match &self.kind {
            Kind::Numbers(advice, _) => match &advice.view {
                Ok(view) => Some(Bound::new(py, View::from(view.clone()))?.into_any()),
                Err(_) => None,
            },
            Kind::Names(Advised { scope, advice }) => match &advice.answer {
                Values::Always { view: Some(view), .. } => {
                    let names = Arc::new(advice.answer.scope(scope));
                    Some(Bound::new(py, View::over(&names, view))?.into_any())
                }
                _ => None,
            },
        })
    }

    /// The number of the operation that makes the copy that `view` is of, from 0; None where it is of the memory that the chain
    /// starts with.
    #[getter]
    fn of_copy(&self) -> Option<usize> {
        match &self.kind {
            Kind::Numbers(advice, _) => match advice.buffer {
                Buffer::Copy { op, .. } => Some(op),
                _ => None,
            },
            Kind::Names(_) => None,
        }
    }

    /// Proof that there is no such view: an UnevenStep or a NotABox; of names at the values of `answer.values`.
    #[getter]
    fn witness(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let found = match &self.kind {
            Kind::Numbers(advice, _) => advice.witness(),
            Kind::Names(found) => found.advice.answer.counterexample().map(|found| &found.witness),
        };
        found.map(|found| witness(py, found)).transpose()
    }

    /// The answer as a sentence, in which code stands between backticks.
    #[getter]
    fn sentence(&self) -> &str {
        match &self.kind {
            Kind::Numbers(advice, _) => &advice.sentence,
            Kind::Names(found) => &found.advice.sentence,
        }
    }

    /// The number of the first operation that needs another view, from 0; None where there is none.
    #[getter]
    fn step(&self) -> Option<usize> {
        match &self.kind {
            Kind::Numbers(advice, _) => advice.step,
            Kind::Names(found) => found.advice.step,
        }
    }

    /// How many elements are to be copied: 0 where there is one view, None where it is not known.
    #[getter]
    fn elements(&self) -> Option<i64> {
        let copy = match &self.kind {
            Kind::Numbers(advice, _) => advice.copy.as_ref(),
            Kind::Names(_) => None,
        };
        copy.map(|copy| copy.elements).or_else(|| self.__bool__().then_some(0))
    }

    /// Whether no buffer of fewer elements does.
    #[getter]
    fn smallest(&self) -> bool {
        match &self.kind {
            Kind::Numbers(advice, _) => advice.copy.as_ref().map_or(advice.view.is_ok(), |copy| copy.is_smallest),
            Kind::Names(_) => self.__bool__(),
        }
    }

    /// What NumPy does.
    #[getter]
    fn numpy(&self) -> Option<LibraryAdvice> {
        self.of(ArrayLibrary::NumPy)
    }

    /// What PyTorch does.
    #[getter]
    fn pytorch(&self) -> Option<LibraryAdvice> {
        self.of(ArrayLibrary::PyTorch)
    }

    /// The whole answer as text.
    fn __str__(&self) -> String {
        let mut lines = vec![self.sentence().to_owned()];
        match &self.kind {
            Kind::Numbers(advice, _) => lines.extend(advice.copy.as_ref().map(ToString::to_string)),
            Kind::Names(Advised { scope, advice }) => {
                let needs = advice.tracker.needs().iter().map(|need| need.text(scope)).collect::<Vec<_>>();
                lines.extend((!needs.is_empty()).then(|| format!("It needs {}.", needs.join(" and "))));
            }
        }
        for found in [self.pytorch(), self.numpy()].into_iter().flatten() {
            lines.push(format!("{}: {}", found.library(), found.sentence()));
            lines.extend(found.code().iter().flat_map(|code| code.lines()).map(|line| format!("    {line}")));
        }
        lines.join("\n")
    }

    fn __repr__(&self) -> String {
        format!("<Advice: {}>", self.sentence())
    }

    /// What notebooks show: the answer, and a picture of the layout at the end, with the evidence against one view where there is some.
    /// With names it is that at small values of them, which the page says.
    fn _repr_html_(&self, py: Python<'_>) -> String {
        let text = picture::pre(&self.__str__());
        let drawn = match &self.kind {
            Kind::Numbers(advice, end) => {
                let view = advice.view.clone().ok().map(ShapeTracker::from);
                view.or_else(|| end.clone()).map(|end| Drawn::of_numbers("Advice", Cow::Owned(end)))
            }
            Kind::Names(found) => Drawn::of_names("Advice", &found.advice.tracker),
        };
        text + &drawn.map(|drawn| py.detach(|| picture::html(&drawn))).unwrap_or_default()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (question, by_name) = &self.question;
        let advice = module(py, "shapetracker")?.getattr("advice")?;
        let again = module(py, "functools")?.getattr("partial")?.call((advice,), Some(by_name.bind(py)))?;
        (again, question).into_pyobject(py)
    }
}

impl Advice {
    fn of(&self, library: ArrayLibrary) -> Option<LibraryAdvice> {
        Some(LibraryAdvice(match &self.kind {
            Kind::Numbers(advice, _) => {
                LibraryKind::Numbers(advice.libraries.iter().find(|found| found.library == library)?.clone())
            }
            Kind::Names(Advised { scope, advice }) => {
                let found = advice.libraries.iter().find(|found| found.library == library)?;
                LibraryKind::Names(scope.clone(), found.clone())
            }
        }))
    }
}

enum LibraryKind {
    Numbers(library::LibraryAdvice),
    Names(Arc<Scope>, shapetracker_symbolic::LibraryAdvice),
}

/// What one library does with a chain that is written in its own calls.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct LibraryAdvice(LibraryKind);

#[pymethods]
impl LibraryAdvice {
    /// "view", "raises", "copies", "cannot" where it has no such array, or "undecided" where it depends on the values of names
    /// in more ways than were followed.
    #[getter]
    fn does(&self) -> &'static str {
        match &self.0 {
            LibraryKind::Numbers(found) => found.does.name(),
            LibraryKind::Names(_, found) => found.does.name(),
        }
    }

    /// The values for which it may do something else: of these tuples of conditions one holds for them. Empty where there are
    /// none, as where there are no names.
    #[getter]
    fn unless<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0 {
            LibraryKind::Numbers(_) => Ok(PyTuple::empty(py)),
            LibraryKind::Names(scope, found) => formula(py, scope, &found.unless),
        }
    }

    /// The numbers of the operations that copy, each with how many elements; where one raises, as if it were the call that
    /// copies.
    #[getter]
    fn copied<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.0 {
            LibraryKind::Numbers(found) => PyTuple::new(py, &found.copied),
            LibraryKind::Names(scope, found) => {
                let sym = |poly: &shapetracker_symbolic::Poly| shapetracker_symbolic::Sym::of(scope, poly.clone());
                let copied = found.copied.iter().map(|(op, elements)| Ok((*op, made(py, sym(elements))?)));
                PyTuple::new(py, copied.collect::<PyResult<Vec<_>>>()?)
            }
        }
    }

    /// The same as sentences, in which code stands between backticks.
    #[getter]
    fn sentence(&self) -> &str {
        match &self.0 {
            LibraryKind::Numbers(found) => &found.sentence,
            LibraryKind::Names(_, found) => &found.sentence,
        }
    }

    /// What to write instead: Python whose last line is an expression; None where there is nothing to write instead. Of names it
    /// is right for all values.
    #[getter]
    fn code(&self) -> Option<&str> {
        match &self.0 {
            LibraryKind::Numbers(found) => found.code.as_deref(),
            LibraryKind::Names(_, found) => found.code.as_deref(),
        }
    }

    fn __str__(&self) -> &str {
        self.sentence()
    }

    fn __repr__(&self) -> String {
        format!("<LibraryAdvice: {} {}>", self.library(), self.does())
    }
}

impl LibraryAdvice {
    fn library(&self) -> ArrayLibrary {
        match &self.0 {
            LibraryKind::Numbers(found) => found.library,
            LibraryKind::Names(_, found) => found.library,
        }
    }
}
