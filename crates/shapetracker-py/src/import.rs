//! What is imported from Python when it is first needed.
//!
//! Python's C function for importing, which `Python::import` calls, looks for `__import__` in the globals of the calling
//! frame. A function that was made over globals of its own, as those of tinygrad's pattern matcher are, may have no
//! `__builtins__` there, and nothing can be imported from its frame. `importlib.import_module` is a Python function, which
//! has its own globals wherever it is called from. It is found while this package is imported.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PySequence, PyTuple};

static IMPORT_MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Finds out how to import, from a frame that can.
pub(crate) fn prepare(py: Python<'_>) -> PyResult<()> {
    // PyO3 imports, too: `collections.abc`, to know sequences, and `operator`, to ask iterators for their lengths.
    let _ = py.None().bind(py).cast::<PySequence>();
    let _ = PyTuple::empty(py).as_any().try_iter()?.size_hint();
    IMPORT_MODULE.import(py, "importlib", "import_module").map(drop)
}

/// A module, imported if it was not yet.
pub(crate) fn module<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    IMPORT_MODULE.import(py, "importlib", "import_module")?.call1((name,))
}

/// An attribute of a module, which is imported when the attribute is first needed.
pub(crate) struct Imported {
    module: &'static str,
    name: &'static str,
    value: PyOnceLock<Py<PyAny>>,
}

impl Imported {
    pub(crate) const fn new(module: &'static str, name: &'static str) -> Imported {
        Imported { module, name, value: PyOnceLock::new() }
    }

    pub(crate) fn get<'a, 'py>(&'a self, py: Python<'py>) -> PyResult<&'a Bound<'py, PyAny>> {
        let value =
            self.value.get_or_try_init(py, || module(py, self.module)?.getattr(self.name).map(Bound::unbind))?;
        Ok(value.bind(py))
    }
}
