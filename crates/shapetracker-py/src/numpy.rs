//! NumPy, where it can be imported: what is called of it.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyString, PyTuple};

use crate::arguments::{described, tuple};
use crate::memory::Memory;
use crate::route::{APPLY, Shared};

/// What is called of NumPy.
pub(crate) struct NumPy {
    ndarray: Py<PyAny>,
    asarray: Py<PyAny>,
    empty: Py<PyAny>,
    module: Py<PyModule>,
}

static NUMPY: PyOnceLock<Option<NumPy>> = PyOnceLock::new();

impl NumPy {
    /// NumPy, if it was imported here before.
    pub(crate) fn imported(py: Python<'_>) -> Option<&'static NumPy> {
        NUMPY.get(py)?.as_ref()
    }

    /// NumPy, if it can be imported.
    pub(crate) fn import(py: Python<'_>) -> Option<&'static NumPy> {
        let import = || {
            let module = crate::import::module(py, "numpy").ok()?.cast_into::<PyModule>().ok()?;
            let named = |name| module.getattr(name).map(Bound::unbind).ok();
            let (ndarray, asarray, empty) = (named("ndarray")?, named("asarray")?, named("empty")?);
            Some(NumPy { ndarray, asarray, empty, module: module.unbind() })
        };
        NUMPY.get_or_init(py, import).as_ref()
    }

    /// Whether an object is an array of NumPy's.
    pub(crate) fn made(&self, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        object.is_instance(self.ndarray.bind(object.py()))
    }

    /// Whether an object is an array of NumPy's own class, and of none that is made from it.
    pub(crate) fn made_plainly(&self, object: &Bound<'_, PyAny>) -> bool {
        object.get_type().is(&self.ndarray)
    }

    /// The array that an object is or exports.
    pub(crate) fn asarray<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.asarray.bind(object.py()).call1((object,))
    }

    /// The array that an object exports with `__dlpack__`.
    pub(crate) fn dlpack<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        self.module.bind(object.py()).call_method1("from_dlpack", (object,))
    }

    /// A new array without values.
    pub(crate) fn empty<'py>(
        &self,
        shape: Bound<'py, PyTuple>,
        dtype: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.empty.bind(dtype.py()).call1((shape, dtype))
    }

    /// A new array of zero bytes.
    pub(crate) fn zeros<'py>(&self, shape: Bound<'py, PyTuple>, dtype: &str) -> PyResult<Bound<'py, PyAny>> {
        self.module.bind(shape.py()).call_method1("zeros", (shape, dtype))
    }

    /// An array on the memory of another one, of the same type.
    pub(crate) fn view<'py>(
        &self,
        array: &Bound<'py, PyAny>,
        memory: &Memory<'py>,
        shape: &[i64],
        shared: &Shared,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = array.py();
        let dtype = array.getattr(intern!(py, "dtype"))?;
        let no_view = |err: PyErr| match err.is_instance_of::<PyTypeError>(py) {
            true => PyTypeError::new_err(format!("NumPy makes no such views of arrays of type {dtype}")),
            false => err,
        };
        let interface = PyDict::new(py);
        interface.set_item(intern!(py, "version"), 3)?;
        interface.set_item(intern!(py, "typestr"), dtype.getattr(intern!(py, "str"))?)?;
        interface.set_item(intern!(py, "shape"), tuple(py, shape)?)?;
        interface.set_item(intern!(py, "strides"), tuple(py, &shared.strides)?)?;
        let address = memory.address() as u64 + shared.offset as u64;
        interface.set_item(intern!(py, "data"), (address, memory.readonly || shared.collides))?;
        let lent = Lent { interface: interface.unbind(), _owner: array.clone().unbind() };
        let array = self.asarray(Bound::new(py, lent)?.as_any()).map_err(no_view)?;
        // The text of a structured type says only how many bytes it has.
        if array.getattr(intern!(py, "dtype"))?.eq(&dtype)? {
            return Ok(array);
        }
        array.call_method1(intern!(py, "view"), (&dtype,)).map_err(no_view)
    }

    /// Complains about an array that is a field beside fields of objects: numbers written between its elements would be
    /// taken for pointers.
    pub(crate) fn refuse_beside_objects(op: &str, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = array.py();
        let mut owner = Some(array.clone());
        while let Some(of) = owner {
            let Some(dtype) = of.getattr_opt(intern!(py, "dtype"))? else { break };
            if dtype.getattr(intern!(py, "hasobject"))?.is_truthy()? {
                let sentence = format!("{op}: objects lie in the memory of the array, which has type {dtype}");
                return Err(PyTypeError::new_err(sentence));
            }
            owner = of.getattr_opt(intern!(py, "base"))?.filter(|base| !base.is_none());
        }
        Ok(())
    }

    /// The bytes of a value as an element of a type, of which it must be a value.
    pub(crate) fn bytes_of<'py>(&self, dtype: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>) -> PyResult<Vec<u8>> {
        let numpy = self.module.bind(value.py());
        // NumPy drops the imaginary part with a warning.
        if dtype.getattr("kind")?.eq("f")?
            && let Some(imaginary) = value.getattr_opt("imag")?
            && imaginary.is_truthy()?
        {
            return Err(no_value(value, dtype));
        }
        // Dates are numbers to NumPy when it is asked for floats.
        let is_date = |kind: Bound<'_, PyAny>| Ok::<_, PyErr>(kind.eq("M")? || kind.eq("m")?);
        if let Some(of) = value.getattr_opt("dtype")?
            && is_date(of.getattr("kind")?)?
            && !is_date(dtype.getattr("kind")?)?
        {
            return Err(no_value(value, dtype));
        }
        let cell = numpy.call_method1("zeros", (PyTuple::empty(value.py()), dtype))?;
        // Numbers that do not fit are refused below, with a sentence.
        let silent = numpy.call_method("errstate", (), Some(&[("all", "ignore")].into_py_dict(value.py())?))?;
        silent.call_method0("__enter__")?;
        let set = cell.set_item(PyTuple::empty(value.py()), value);
        silent.call_method1("__exit__", (value.py().None(), value.py().None(), value.py().None()))?;
        set.map_err(|err| {
            let py = value.py();
            let mismatch = err.is_instance_of::<PyTypeError>(py) || err.is_instance_of::<PyValueError>(py);
            if mismatch || err.is_instance_of::<PyOverflowError>(py) { no_value(value, dtype) } else { err }
        })?;
        self.check_value(dtype, &cell.get_item(PyTuple::empty(value.py()))?, value)?;
        Ok(cell.call_method0("tobytes")?.cast_into::<PyBytes>()?.as_bytes().to_vec())
    }

    /// Refuses a value that is another one as an element; only floats may be rounded.
    fn check_value<'py>(
        &self,
        dtype: &Bound<'py, PyAny>,
        element: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let numpy = self.module.bind(value.py());
        let says = |name: &str, of: &Bound<'py, PyAny>| numpy.call_method1(name, (of,))?.is_truthy();
        let is_text = value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>();
        let kind: String = dtype.getattr("kind")?.extract()?;
        let same = match &*kind {
            "f" | "c" if is_text || value.is_none() => false,
            // A number less itself is 0, unless it is infinite or no number.
            "f" | "c" => says("isfinite", element)? || !value.sub(value)?.eq(0)?,
            "b" | "i" | "u" | "S" | "U" => element.eq(value)?,
            "m" | "M" => says("isnat", element)? || element.eq(value)?,
            _ => {
                let names = dtype.getattr("names")?;
                if let (Ok(names), Ok(values)) = (names.cast::<PyTuple>(), value.cast::<PyTuple>()) {
                    for (name, value) in names.iter().zip(values) {
                        self.check_value(&dtype.get_item(&name)?, &element.get_item(&name)?, &value)?;
                    }
                }
                true
            }
        };
        if same { Ok(()) } else { Err(no_value(value, dtype)) }
    }
}

/// Says to NumPy where an array's memory lies, and keeps the array.
#[pyclass(frozen, module = "shapetracker")]
struct Lent {
    #[pyo3(get, name = "__array_interface__")]
    interface: Py<PyDict>,
    _owner: Py<PyAny>,
}

/// The refusal of a value that is none of an array's type.
pub(crate) fn no_value(value: &Bound<'_, PyAny>, kind: &Bound<'_, PyAny>) -> PyErr {
    let sentence = format!("{APPLY}: fill: {} is no value of the array's type, {kind}", described(value));
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        return PyTypeError::new_err(sentence);
    }
    PyValueError::new_err(sentence)
}
