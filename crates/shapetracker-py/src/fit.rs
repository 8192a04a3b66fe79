//! Can an array take another shape without a copy, and if not, what is in the way?

use std::borrow::Cow;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use shapetracker::fit::{Obstacle as Reason, Outcome, explain, explain_array};
use shapetracker::{ArrayLibrary, Dims, Unmerged};

use crate::arguments::{numbers, sizes, tuple};
use crate::array::{library_of, strides_of, view_of};
use crate::error::{layout, unmerged};
use crate::picture::{self, Drawn};
use crate::symbolic::{self, has_names, refused};
use crate::tracker::ShapeTracker;
use crate::view::View;
use crate::witness::witness;

/// Can an array be a view under a new shape, of which one size may be -1? If not: which axes are in the way, and what
/// is the smallest copy that helps? The smallest is meant over all buffers and all strides of views of them; `smallest`
/// says whether that was proven.
///
/// Takes what `of` takes, a ShapeTracker or a View, and the shape as numbers or as one sequence. Nothing is moved. For a
/// tracker, a view or a shape with names it is the Answer to the question for which values it can.
#[pyfunction]
#[pyo3(signature = (array, *new_shape))]
pub(crate) fn explain_view(array: &Bound<'_, PyAny>, new_shape: &Bound<'_, PyTuple>) -> PyResult<Explained> {
    const OP: &str = "explain_view";
    let (tracker, view) = (array.cast::<ShapeTracker>(), array.cast::<View>());
    let named = tracker.as_ref().is_ok_and(|tracker| tracker.get().named().is_some())
        || view.as_ref().is_ok_and(|view| view.get().has_names());
    let to = match numbers(OP, new_shape) {
        Ok(to) if !named => to,
        Err(err) if !named && !has_names(&[new_shape.as_any()]) => return Err(err),
        _ => {
            let of_array = |_| view_of(OP, array).map(|view| Cow::Owned(shapetracker::ShapeTracker::from(view).into()));
            let tracker = ShapeTracker::any(OP, array).or_else(of_array)?;
            let to = sizes::<shapetracker_symbolic::Sym>(OP, new_shape)?;
            let reshaped = tracker.names(OP)?.reshape(to).map_err(|err| refused(&err))?;
            return Ok(Explained::Answer(symbolic::Answer::of_tracker(array.py(), &reshaped)));
        }
    };
    let (mut library, mut strides) = (None, None);
    let tracker = if let Ok(tracker) = tracker {
        tracker.get().numbers(OP)?.clone()
    } else if let Ok(view) = view {
        view.get().numbers(OP)?.clone().into()
    } else {
        library = library_of(array)?;
        strides = library.map_or(Ok(None), |library| strides_of(library, array))?;
        view_of(OP, array)?.into()
    };
    Explanation::of(array.py(), &tracker, &to, library, strides).map(Explained::Explanation)
}

/// What is in the way, or, where sizes have names, for which values nothing is.
#[derive(IntoPyObject)]
pub(crate) enum Explained {
    Explanation(Explanation),
    Answer(symbolic::Answer),
}

/// The answer of `explain_view`: true where there is a view, and else what is in the way and what helps.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Explanation {
    answer: shapetracker::fit::Explanation,
    /// The library that the array is from.
    library: Option<ArrayLibrary>,
    /// The strides that it reports, those along axes of size 1 included.
    strides: Option<Dims>,
}

#[pymethods]
impl Explanation {
    /// Whether the array can be a view under the new shape.
    #[getter]
    fn possible(&self) -> bool {
        self.answer.is_possible() == Some(true)
    }

    fn __bool__(&self) -> bool {
        self.possible()
    }

    /// The tracker of the array.
    #[getter]
    fn tracker(&self) -> ShapeTracker {
        self.answer.tracker().clone().into()
    }

    /// The new shape.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.answer.shape())
    }

    /// The view under the new shape, in elements; None where there is none.
    #[getter]
    fn view(&self) -> Option<View> {
        self.answer.view().cloned().map(View::from)
    }

    /// The strides of that view, along axes of size 1 as the library of the array reports them; a tracker's are 0 there.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match self.library.and_then(|library| self.answer.strides(library)) {
            Some(strides) => tuple(py, &strides).map(Some),
            None => self.answer.view().map(|view| tuple(py, view.strides())).transpose(),
        }
    }

    /// What is in the way, outermost axes first.
    #[getter]
    fn obstacles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.answer.obstacles().iter().cloned().map(Obstacle))
    }

    /// Proof that there is no such view, in indices of the new shape: an UnevenStep or a NotABox.
    #[getter]
    fn witness(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.answer.witness().map(|evidence| witness(py, evidence)).transpose()
    }

    /// The elements to copy into a fresh row-major buffer, as a view of the old one; None where nothing is copied, where
    /// several views are copied one after another, and where a tracker of several views is to be copied.
    #[getter]
    fn copied(&self) -> Option<View> {
        match self.answer.blocked()?.copied() {
            [copied] => Some(copied.clone().into()),
            _ => None,
        }
    }

    /// The elements to copy, as views of the old buffer that are copied one after another: nearly always one.
    #[getter]
    fn pieces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let pieces = self.answer.blocked().map_or(&[][..], |blocked| blocked.copied());
        PyTuple::new(py, pieces.iter().cloned().map(View::from))
    }

    /// Whether no buffer with fewer elements has a view of the new shape, however its strides; True where there is a
    /// view already.
    #[getter]
    fn smallest(&self) -> bool {
        self.possible() || self.answer.blocked().is_some_and(|blocked| blocked.is_smallest())
    }

    /// The view of that buffer that has the new shape.
    #[getter]
    fn copied_view(&self) -> Option<View> {
        self.answer.copied_view().cloned().map(View::from)
    }

    /// How many elements are to be copied: 0 where there is a view.
    #[getter]
    fn elements(&self) -> i64 {
        // An undecided question is an exception, and no Explanation.
        self.answer.elements().unwrap_or_default()
    }

    /// What makes the array of the new shape, copying no more than that: a line of Python for an array `x` of the
    /// library that the array came from, NumPy (as `np`) or PyTorch; None where there is none. PyTorch has no negative
    /// strides: where they would make the buffer smaller, it copies the fewest elements that do without.
    #[getter]
    fn recipe(&self) -> Option<String> {
        self.answer.recipe(self.library?)
    }

    /// The whole answer as text.
    fn __str__(&self) -> String {
        self.answer.report(self.library).to_string()
    }

    fn __repr__(&self) -> String {
        let shape = self.answer.shape().iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let comma = if self.answer.shape().len() == 1 { "," } else { "" };
        match self.elements() {
            _ if self.possible() => format!("<Explanation: yes, a view of shape ({shape}{comma})>"),
            1 => format!("<Explanation: no view of shape ({shape}{comma}); 1 element to copy>"),
            elements => format!("<Explanation: no view of shape ({shape}{comma}); {elements} elements to copy>"),
        }
    }

    /// The answer of a question that is kept as its parts: the tracker, the new shape, "numpy" or "torch" for an array of these, and
    /// the strides that it reports. It is how `pickle` asks again.
    #[staticmethod]
    fn of_parts(
        py: Python<'_>,
        tracker: &ShapeTracker,
        shape: Vec<i64>,
        library: Option<&str>,
        strides: Option<Vec<i64>>,
    ) -> PyResult<Self> {
        let library = library.map(|name| {
            LIBRARIES.iter().find(|(known, _)| *known == name).map(|(_, library)| *library).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "of_parts: the library is \"numpy\" or \"torch\", and {name:?} is neither"
                ))
            })
        });
        Explanation::of(py, tracker.numbers("of_parts")?, &shape, library.transpose()?, strides.map(Dims::from))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let library = LIBRARIES.iter().find(|(_, library)| Some(*library) == self.library).map(|(name, _)| *name);
        let strides = self.strides.as_deref().map(|strides| tuple(py, strides)).transpose()?;
        let again = py.get_type::<Explanation>().getattr("of_parts")?;
        (again, (self.tracker(), self.shape(py)?, library, strides)).into_pyobject(py)
    }

    /// What notebooks show: the answer, and a picture of the elements under the new shape with the evidence against one view.
    fn _repr_html_(&self, py: Python<'_>) -> String {
        let text = picture::pre(&self.__str__());
        match self.answer.tracker().reshape(self.answer.shape()) {
            Ok(reshaped) => {
                text + &py.detach(|| picture::html(&Drawn::of_numbers("Explanation", Cow::Owned(reshaped))))
            }
            Err(_) => text,
        }
    }
}

/// How the libraries are called where an answer is kept.
const LIBRARIES: [(&str, ArrayLibrary); 2] = [("numpy", ArrayLibrary::NumPy), ("torch", ArrayLibrary::PyTorch)];

impl Explanation {
    fn of(
        py: Python<'_>,
        tracker: &shapetracker::ShapeTracker,
        to: &[i64],
        library: Option<ArrayLibrary>,
        strides: Option<Dims>,
    ) -> PyResult<Self> {
        let answer = match (tracker.as_view(), &strides) {
            (Some(view), Some(strides)) => explain_array(view.shape(), Some(&strides[..]), view.offset(), to),
            _ => explain(tracker, to),
        };
        let answer = answer.map_err(|err| layout(&err))?;
        match answer.outcome() {
            Outcome::Undecided => Err(unmerged(py, Unmerged::Undecided)),
            _ => Ok(Explanation { answer, library, strides }),
        }
    }
}

/// One reason why an array cannot take a shape; `str` writes it as a sentence.
#[pyclass(frozen, eq, hash, module = "shapetracker")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Obstacle(Reason);

#[pymethods]
impl Obstacle {
    /// "strides", where two old axes do not continue each other, or "mask", where what is valid would be no box.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// The old axes that are in the way.
    #[getter]
    fn old_axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.old_axes().iter().map(|old| old.axis))
    }

    /// The new axes that they are in the way of.
    #[getter]
    fn new_axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.new_axes().iter().map(|new| new.axis))
    }

    /// The stride of the outer one of two old axes; None for a mask.
    #[getter]
    fn stride(&self) -> Option<i64> {
        match self.0 {
            Reason::Strides { stride, .. } => Some(stride),
            _ => None,
        }
    }

    /// The stride that it would need; None for a mask.
    #[getter]
    fn needed(&self) -> Option<i128> {
        match self.0 {
            Reason::Strides { needed, .. } => Some(needed),
            _ => None,
        }
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Obstacle: {}>", self.0)
    }
}
