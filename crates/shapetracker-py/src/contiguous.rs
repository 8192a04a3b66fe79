//! `contiguous`: of a class the row-major tracker of a shape, and of a tracker the operation of arrays.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::import::module;

/// Of the class, the row-major tracker of a shape: `ShapeTracker.contiguous(2, 3)`. Of a tracker, the operation that arrays
/// have: `tracker.contiguous()` reads the same elements, at the same addresses. It is the tracker as it is, for a copy moves
/// elements and a tracker says which they are.
///
/// It is a descriptor, so that a function which is written for arrays does to a tracker what it does to them.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Contiguous {
    /// Makes a tracker of a shape.
    make: Make,
    /// The class or the tracker that was asked; nothing in the class itself.
    of: Option<(Py<PyAny>, Of)>,
}

enum Of {
    Class,
    Tracker,
}

type Make = for<'py> fn(&Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>>;

impl Contiguous {
    pub(crate) fn new(make: Make) -> Contiguous {
        Contiguous { make, of: None }
    }
}

#[pymethods]
impl Contiguous {
    fn __get__(&self, tracker: Option<Py<PyAny>>, class: Option<Py<PyAny>>) -> Contiguous {
        let tracker = tracker.map(|tracker| (tracker, Of::Tracker));
        Contiguous { make: self.make, of: tracker.or_else(|| class.map(|class| (class, Of::Class))) }
    }

    #[pyo3(signature = (*shape))]
    fn __call__<'py>(&self, shape: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
        match &self.of {
            Some((tracker, Of::Tracker)) if shape.is_empty() => Ok(tracker.bind(shape.py()).clone()),
            Some((tracker, Of::Tracker)) => {
                let class = tracker.bind(shape.py()).get_type().name()?;
                let sentence = "contiguous: of a tracker it is the operation of arrays, which takes nothing";
                Err(PyTypeError::new_err(format!("{sentence}; {class}.contiguous{shape} makes a tracker from a shape")))
            }
            _ => (self.make)(shape),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let of = self.of.as_ref().map_or_else(|| py.None(), |(of, _)| of.clone_ref(py));
        (module(py, "builtins")?.getattr("getattr")?, (of, "contiguous")).into_pyobject(py)
    }
}
