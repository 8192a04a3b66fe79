//! Layouts of CuTe: what `shapetracker_cute` answers, as Python's objects and exceptions.
//!
//! The functions with the names of the reference are in `python/shapetracker/cute.py`.

use std::collections::BTreeMap;
use std::fmt::Display;

use pyo3::IntoPyObjectExt;
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};
use shapetracker::json::Value;
use shapetracker_cute as cute;

use crate::arguments::{described, number};
use crate::error::{Undecided, parse};
use crate::expr::IndexExpr;
use crate::tracker::ShapeTracker;
use crate::view::View;

create_exception!(
    shapetracker.cute,
    NoLayout,
    PyValueError,
    "What is asked for does not exist, or is not known to. `explained` is the answer with its evidence, an Explained."
);

/// The sort of exception that fits a mistake.
fn refused(err: &cute::Error) -> PyErr {
    if err.is_limit() { Undecided::new_err(err.to_string()) } else { PyValueError::new_err(err.to_string()) }
}

/// A document of the library as Python's values: objects become dicts, lists tuples.
pub(crate) fn of_document<'py>(py: Python<'py>, document: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match document {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Int(value) => value.into_pyobject(py)?.into_any(),
        Value::Text(value) => value.into_pyobject(py)?.into_any(),
        Value::List(values) => {
            let values: Vec<_> = values.iter().map(|value| of_document(py, value)).collect::<PyResult<_>>()?;
            PyTuple::new(py, values)?.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, of_document(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// How deep tuples may nest that Python passes: a layout has at most 64 modes.
const DEEPEST: usize = 64;

/// A whole number, or nested tuples or lists of them.
fn int_tuple(op: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<cute::IntTuple> {
    if !(value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>()) {
        return number(op, || "an entry".into(), value).map(cute::IntTuple::from);
    }
    if depth == DEEPEST {
        return Err(PyValueError::new_err(format!("{op}: tuples nest deeper than {DEEPEST} times")));
    }
    let items = value.try_iter()?.map(|item| int_tuple(op, &item?, depth + 1)).collect::<PyResult<Vec<_>>>()?;
    Ok(cute::IntTuple::tuple(items))
}

/// The same as Python's value.
fn nested<'py>(py: Python<'py>, tuple: &cute::IntTuple) -> PyResult<Bound<'py, PyAny>> {
    of_document(py, &Value::from(tuple))
}

/// A layout, or its text.
fn layout_of(op: &str, value: &Bound<'_, PyAny>) -> PyResult<cute::Layout> {
    if let Ok(layout) = value.cast::<Layout>() {
        return Ok(layout.get().0.clone());
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_string();
        return text.parse().map_err(|err| parse(value.py(), &text, &err));
    }
    Err(PyTypeError::new_err(format!("{op}: takes a Layout or its text, not {}", described(value))))
}

/// A layout with or without a swizzle, or its text.
fn composed_of(op: &str, value: &Bound<'_, PyAny>) -> PyResult<cute::ComposedLayout> {
    if let Ok(composed) = value.cast::<ComposedLayout>() {
        return Ok(composed.get().0.clone());
    }
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_string();
        return text.parse().map_err(|err| parse(value.py(), &text, &err));
    }
    let layout = value.cast::<Layout>().map_err(|_| {
        PyTypeError::new_err(format!("{op}: takes a Layout, a ComposedLayout or a text, not {}", described(value)))
    })?;
    Ok(layout.get().0.clone().into())
}

/// A layout, a number, a text, or a tuple with one of these for each mode.
fn tiler_of(op: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<cute::Tiler> {
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_string();
        return text.parse().map_err(|err| parse(value.py(), &text, &err));
    }
    if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>() {
        if depth == DEEPEST {
            return Err(PyValueError::new_err(format!("{op}: tuples nest deeper than {DEEPEST} times")));
        }
        let items = value.try_iter()?.map(|item| tiler_of(op, &item?, depth + 1));
        return Ok(cute::Tiler::ByItem(items.collect::<PyResult<_>>()?));
    }
    if let Ok(layout) = value.cast::<Layout>() {
        return Ok(layout.get().0.clone().into());
    }
    if value.is_instance_of::<PyInt>() || value.hasattr("__index__")? {
        return number(op, || "the tile".into(), value).map(cute::Tiler::from);
    }
    Err(PyTypeError::new_err(format!("{op}: takes a Layout, a number, or a tuple of them, not {}", described(value))))
}

fn order_of(order: &str) -> PyResult<cute::Order> {
    match order {
        "row_major" => Ok(cute::Order::RowMajor),
        "column_major" => Ok(cute::Order::ColumnMajor),
        _ => Err(PyValueError::new_err(format!("order: takes \"row_major\" or \"column_major\", not {order:?}"))),
    }
}

/// A reason why something is not there: the document about it, and a mistake of the caller's among such reasons.
trait Reason: Display {
    fn fault(&self) -> Option<&cute::Error>;
    fn document(&self) -> Value;
}

macro_rules! reasons {
    ($($reason:ty: $($fault:pat => $err:ident),+;)*) => {$(
        impl Reason for $reason {
            fn fault(&self) -> Option<&cute::Error> {
                match self {
                    $($fault => Some($err),)+
                    _ => None,
                }
            }

            fn document(&self) -> Value {
                self.into()
            }
        }
    )*};
}

reasons! {
    cute::NoComposition: cute::NoComposition::Error(err) => err;
    cute::NoComplement: cute::NoComplement::Error(err) => err;
    cute::NoLeftInverse: cute::NoLeftInverse::Error(err) => err;
    cute::NotLinear: cute::NotLinear::Error(err) => err;
    cute::NoLayout: cute::NoLayout::Error(err) => err;
    cute::NotTiled: cute::NotTiled::Error(err) => err,
        cute::NotTiled::Complement(cute::NoComplement::Error(err)) => err,
        cute::NotTiled::Composition(cute::NoComposition::Error(err)) => err;
}

/// The answer to a question for a layout, true where there is one; or to one about a layout, true where it is so.
#[pyclass(frozen, module = "shapetracker.cute")]
pub(crate) struct Explained {
    layout: Option<Py<PyAny>>,
    offset: Option<i64>,
    is_longest: Option<bool>,
    why: Option<Value>,
}

#[pymethods]
impl Explained {
    /// What was asked for, a Layout, a ComposedLayout or a LinearLayout, or the layout that was asked about; None where the answer is
    /// no.
    #[getter]
    fn layout<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.layout.as_ref().map(|layout| layout.bind(py).clone())
    }

    /// What must be added to the layout's values, where the question has such an answer; else None.
    #[getter]
    fn offset(&self) -> Option<i64> {
        self.offset
    }

    /// Of a right inverse, whether it is proved that none is longer; else None.
    #[getter]
    fn is_longest(&self) -> Option<bool> {
        self.is_longest
    }

    /// What kind of reason there is, such as "length" or "interact"; None where the answer is yes.
    #[getter]
    fn kind(&self) -> Option<String> {
        match self.why.as_ref()?.get("kind") {
            Some(Value::Text(kind)) => Some(kind.clone()),
            _ => None,
        }
    }

    /// The reason why there is none, as a sentence; None where the answer is yes.
    #[getter]
    fn reason(&self) -> Option<String> {
        match self.why.as_ref()?.get("sentence") {
            Some(Value::Text(sentence)) => Some(sentence.clone()),
            _ => None,
        }
    }

    /// The coordinate that shows it, or the two of them, where the evidence is one; else None.
    #[getter]
    fn coordinate<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(why) = &self.why else { return Ok(None) };
        let coordinate = why.get("coordinate").or_else(|| why.get("coordinates")).or_else(|| why.get("index"));
        coordinate.map(|coordinate| of_document(py, coordinate)).transpose()
    }

    /// The numbers of the evidence, by name.
    #[getter]
    fn witness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let evidence =
            self.why.as_ref().map_or(Value::Object(Vec::new()), |why| why.clone().without(&["kind", "sentence"]));
        of_document(py, &evidence)
    }

    fn __bool__(&self) -> bool {
        self.layout.is_some()
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        match &self.layout {
            Some(layout) => Ok(layout.bind(py).str()?.to_string()),
            None => Ok(self.reason().unwrap_or_default()),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        match &self.layout {
            Some(layout) => Ok(format!("<Explained: {}>", layout.bind(py).str()?)),
            None => Ok(format!("<Explained: {}>", self.reason().unwrap_or_default())),
        }
    }
}

impl Explained {
    fn found<'py, T: IntoPyObjectExt<'py>>(py: Python<'py>, layout: T) -> PyResult<Explained> {
        let layout = layout.into_py_any(py)?;
        Ok(Explained { layout: Some(layout), offset: None, is_longest: None, why: None })
    }

    /// What is returned: the layout alone, or the answer where it is to be explained; without a layout the exception.
    fn returned(self, py: Python<'_>, explain: bool) -> PyResult<Py<PyAny>> {
        if explain {
            return Ok(Py::new(py, self)?.into_any());
        }
        if let Some(layout) = self.layout {
            return match self.offset {
                Some(offset) => Ok((layout, offset).into_pyobject(py)?.into_any().unbind()),
                None => Ok(layout),
            };
        }
        let sentence = self.reason().unwrap_or_default();
        if self.kind().as_deref() == Some("undecided") {
            return Err(Undecided::new_err(sentence));
        }
        let err = NoLayout::new_err(sentence);
        err.value(py).setattr("explained", Py::new(py, self)?)?;
        Err(err)
    }
}

/// What a question came to, returned or raised.
fn answer<'py, T: IntoPyObjectExt<'py>, Why: Reason>(
    py: Python<'py>,
    found: Result<(T, Option<i64>), Why>,
    explain: bool,
) -> PyResult<Py<PyAny>> {
    let explained = match found {
        Ok((layout, offset)) => Explained { offset, ..Explained::found(py, layout)? },
        Err(why) => {
            if let Some(err) = why.fault() {
                return Err(refused(err));
            }
            Explained { layout: None, offset: None, is_longest: None, why: Some(why.document()) }
        }
    };
    explained.returned(py, explain)
}

/// The same for a layout.
fn layout_answer<Why: Reason>(py: Python<'_>, found: Result<cute::Layout, Why>, explain: bool) -> PyResult<Py<PyAny>> {
    answer(py, found.map(|layout| (Layout(layout), None)), explain)
}

/// The composition of a layout with what Python passes: a layout, a size, a text, or a tuple with one for each mode.
fn composed(
    layout: &cute::Layout,
    other: &Bound<'_, PyAny>,
    strict: bool,
) -> PyResult<Result<cute::Layout, cute::NotTiled>> {
    let tiler = tiler_of("composition", other, 0)?;
    Ok(if strict { layout.compose_strict_by(&tiler) } else { layout.compose_by(&tiler) })
}

/// Coordinates given one by one, or as one number or tuple.
fn coordinate(arguments: &Bound<'_, PyTuple>) -> PyResult<cute::IntTuple> {
    const OP: &str = "layout";
    if arguments.len() == 1 { int_tuple(OP, &arguments.get_item(0)?, 0) } else { int_tuple(OP, arguments, 0) }
}

fn outside(layout: &impl Display, coordinate: &cute::IntTuple) -> PyErr {
    PyIndexError::new_err(format!("layout: {layout} has no coordinate {coordinate}"))
}

/// A layout of CuTe: nested sizes, and a stride for each of them.
///
/// Takes a shape and strides in the same parentheses, whole numbers in nested tuples, or a text as CuTe prints it. Without strides
/// the leftmost mode is the fastest. As a function it takes a number, which is taken apart with the leftmost mode fastest, or a
/// coordinate with an entry for each mode.
#[pyclass(frozen, eq, hash, module = "shapetracker.cute")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Layout(cute::Layout);

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (shape, stride=None))]
    fn new(shape: &Bound<'_, PyAny>, stride: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        const OP: &str = "Layout";
        if shape.is_instance_of::<PyString>() && stride.is_none() {
            return layout_of(OP, shape).map(Layout);
        }
        let shape = int_tuple(OP, shape, 0)?;
        let made = match stride {
            Some(stride) => cute::Layout::new(shape, int_tuple(OP, stride, 0)?),
            None => cute::Layout::column_major(shape),
        };
        made.map(Layout).map_err(|err| refused(&err))
    }

    /// The layout of a shape whose rightmost mode is the fastest.
    #[staticmethod]
    fn row_major(shape: &Bound<'_, PyAny>) -> PyResult<Self> {
        cute::Layout::row_major(int_tuple("row_major", shape, 0)?).map(Layout).map_err(|err| refused(&err))
    }

    /// A layout whose modes are these layouts.
    #[staticmethod]
    #[pyo3(signature = (*modes))]
    fn concat(modes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let modes = modes.iter().map(|mode| layout_of("concat", &mode)).collect::<PyResult<Vec<_>>>()?;
        cute::Layout::concat(&modes).map(Layout).map_err(|err| refused(&err))
    }

    /// The layout of a view or a tracker, and what must be added to its values; raises NoLayout where there is none. In the order
    /// "row_major" number x is element x in row-major order, the first mode the last axis; in "column_major" mode k is axis k.
    #[staticmethod]
    #[pyo3(signature = (view, order="row_major", explain=false))]
    fn from_view(view: &Bound<'_, PyAny>, order: &str, explain: bool) -> PyResult<Py<PyAny>> {
        let (py, order) = (view.py(), order_of(order)?);
        let found = if let Ok(view) = view.cast::<View>() {
            cute::Layout::from_view(view.get().numbers("from_view")?, order)
        } else if let Ok(tracker) = view.cast::<ShapeTracker>() {
            let tracker = tracker.get().numbers("from_view")?;
            py.detach(|| cute::Layout::from_tracker(tracker, order))
        } else {
            let sentence = format!("from_view: takes a View or a ShapeTracker, not {}", described(view));
            return Err(PyTypeError::new_err(sentence));
        };
        answer(py, found.map(|(layout, offset)| (Layout(layout), Some(offset))), explain)
    }

    /// The sizes, in nested tuples.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        nested(py, &self.0.shape())
    }

    /// The strides, in the parentheses of the shape.
    #[getter]
    fn stride<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        nested(py, &self.0.stride())
    }

    /// The number of modes of the outermost tuple; 1 for a layout such as `4:1`.
    #[getter]
    fn rank(&self) -> usize {
        self.0.rank()
    }

    /// How many tuples are inside each other.
    #[getter]
    fn depth(&self) -> usize {
        self.0.shape().depth()
    }

    /// The number of coordinates.
    fn size(&self) -> i64 {
        self.0.size()
    }

    /// One more than the largest value; 0 for a layout without coordinates.
    fn cosize(&self) -> i64 {
        self.0.cosize()
    }

    /// The value at a number or at a coordinate.
    #[pyo3(signature = (*coordinate))]
    fn __call__(&self, coordinate: &Bound<'_, PyTuple>) -> PyResult<i64> {
        let at = self::coordinate(coordinate)?;
        self.0.at_coordinate(&at).ok_or_else(|| outside(&self.0, &at))
    }

    /// A number as a coordinate in the parentheses of the shape.
    fn coordinate<'py>(&self, py: Python<'py>, x: i64) -> PyResult<Bound<'py, PyAny>> {
        let coordinate = self.0.coordinate(x).ok_or_else(|| outside(&self.0, &x.into()))?;
        nested(py, &coordinate)
    }

    fn __len__(&self) -> usize {
        self.0.rank()
    }

    /// A mode of the outermost tuple as a layout; modes may be counted from the end.
    fn __getitem__(&self, mode: isize) -> PyResult<Self> {
        let mut items = self.0.items();
        let at = if mode < 0 { mode + items.len() as isize } else { mode };
        match usize::try_from(at) {
            Ok(at) if at < items.len() => Ok(Layout(items.swap_remove(at))),
            _ => Err(PyIndexError::new_err(format!("layout: {} has no mode {mode}", self.0))),
        }
    }

    /// The same modes without parentheses inside each other.
    fn flatten(&self) -> Self {
        Layout(self.0.flatten())
    }

    /// The layout of fewest modes that is the same function; with a profile each of its modes by itself.
    #[pyo3(signature = (profile=None))]
    fn coalesce(&self, profile: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        match profile {
            None => Ok(Layout(self.0.coalesce())),
            Some(profile) => {
                let profile = int_tuple("coalesce", profile, 0)?;
                self.0.coalesce_by(&profile).map(Layout).map_err(|err| refused(&err))
            }
        }
    }

    /// The coalesced layout without the modes of stride 0.
    fn filter(&self) -> Self {
        Layout(self.0.filter())
    }

    /// The layout that does what another one and then this one do; or item by item, for a tuple of layouts and sizes.
    #[pyo3(signature = (other, strict=false, explain=false))]
    fn compose(&self, other: &Bound<'_, PyAny>, strict: bool, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(other.py(), composed(&self.0, other, strict)?, explain)
    }

    /// The layout whose values, added to those of this one, are 0..n, each once, where n is at least the cotarget.
    #[pyo3(signature = (cotarget=1, explain=false))]
    fn complement(&self, py: Python<'_>, cotarget: i64, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(py, self.0.complement(cotarget), explain)
    }

    /// The layout in two parts, the tile and the rest; mode by mode for a tuple.
    #[pyo3(signature = (tiler, explain=false))]
    fn logical_divide(&self, tiler: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(tiler.py(), self.0.logical_divide(&tiler_of("logical_divide", tiler, 0)?), explain)
    }

    /// The tiles of all modes first, and the rests second.
    #[pyo3(signature = (tiler, explain=false))]
    fn zipped_divide(&self, tiler: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(tiler.py(), self.0.zipped_divide(&tiler_of("zipped_divide", tiler, 0)?), explain)
    }

    /// The tiles of all modes first, and then each rest as a mode of its own.
    #[pyo3(signature = (tiler, explain=false))]
    fn tiled_divide(&self, tiler: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(tiler.py(), self.0.tiled_divide(&tiler_of("tiled_divide", tiler, 0)?), explain)
    }

    /// Each tile and each rest as a mode of its own.
    #[pyo3(signature = (tiler, explain=false))]
    fn flat_divide(&self, tiler: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(tiler.py(), self.0.flat_divide(&tiler_of("flat_divide", tiler, 0)?), explain)
    }

    /// The layout and its repeats; mode by mode for a tuple.
    #[pyo3(signature = (tiler, explain=false))]
    fn logical_product(&self, tiler: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(tiler.py(), self.0.logical_product(&tiler_of("logical_product", tiler, 0)?), explain)
    }

    /// The layouts of all modes first, and the repeats second.
    #[pyo3(signature = (tiler, explain=false))]
    fn zipped_product(&self, tiler: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(tiler.py(), self.0.zipped_product(&tiler_of("zipped_product", tiler, 0)?), explain)
    }

    /// The layouts of all modes first, and then each repeat as a mode of its own.
    #[pyo3(signature = (tiler, explain=false))]
    fn tiled_product(&self, tiler: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(tiler.py(), self.0.tiled_product(&tiler_of("tiled_product", tiler, 0)?), explain)
    }

    /// Each layout and each repeat as a mode of its own.
    #[pyo3(signature = (tiler, explain=false))]
    fn flat_product(&self, tiler: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(tiler.py(), self.0.flat_product(&tiler_of("flat_product", tiler, 0)?), explain)
    }

    /// This block repeated along a grid: along each mode the block, then its repeats.
    #[pyo3(signature = (grid, explain=false))]
    fn blocked_product(&self, grid: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(grid.py(), self.0.blocked_product(&layout_of("blocked_product", grid)?), explain)
    }

    /// This block repeated along a grid: along each mode the repeats, then the block.
    #[pyo3(signature = (grid, explain=false))]
    fn raked_product(&self, grid: &Bound<'_, PyAny>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(grid.py(), self.0.raked_product(&layout_of("raked_product", grid)?), explain)
    }

    /// A layout R with self(R(i)) = i, for as many numbers as are found; `explain` says whether that is proved to be the longest.
    #[pyo3(signature = (explain=false))]
    fn right_inverse(&self, py: Python<'_>, explain: bool) -> PyResult<Py<PyAny>> {
        let found = self.0.right_inverse().map_err(|err| refused(&err))?;
        let explained = Explained::found(py, Layout(found.layout))?;
        Explained { is_longest: Some(found.is_longest), ..explained }.returned(py, explain)
    }

    /// A layout L with L(self(x)) = x for all numbers x.
    #[pyo3(signature = (explain=false))]
    fn left_inverse(&self, py: Python<'_>, explain: bool) -> PyResult<Py<PyAny>> {
        layout_answer(py, py.detach(|| self.0.left_inverse()), explain)
    }

    /// The first number at which another layout is not the same function; None where it is.
    fn difference(&self, other: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
        Ok(self.0.difference(&layout_of("difference", other)?))
    }

    /// Two numbers with the same value; None where no two have it.
    fn collision(&self, py: Python<'_>) -> PyResult<Option<(i64, i64)>> {
        let found = py.detach(|| self.0.collision()).map_err(|err| refused(&err))?;
        Ok(found.map(|[a, b]| (a, b)))
    }

    /// Whether no two numbers have the same value; with `explain` an Explained, which has two numbers that do where the answer is no.
    #[pyo3(signature = (explain=false))]
    fn is_injective(&self, py: Python<'_>, explain: bool) -> PyResult<Py<PyAny>> {
        let found = py.detach(|| self.0.collision()).map_err(|err| refused(&err))?;
        let why = found.and_then(|coordinates| {
            let value = self.0.at(coordinates[0])?;
            Some(Value::from(&cute::NotBijective::Collision { coordinates, value }))
        });
        self.is_so(py, why, explain)
    }

    /// Whether the values are 0..size, each once; with `explain` an Explained, which has the reason where the answer is no: a
    /// coordinate with a negative value, two with the same value, or a value that none has.
    #[pyo3(signature = (explain=false))]
    fn is_bijective(&self, py: Python<'_>, explain: bool) -> PyResult<Py<PyAny>> {
        self.is_so(py, self.0.bijective().err().map(|why| Value::from(&why)), explain)
    }

    /// The layout as a linear map of bits: an input for each mode, by the names given, and one output.
    #[pyo3(signature = (names, output="offset", explain=false))]
    fn to_linear(&self, py: Python<'_>, names: Vec<String>, output: &str, explain: bool) -> PyResult<Py<PyAny>> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        answer(py, self.0.to_linear(&names, output).map(|linear| (LinearLayout(linear), None)), explain)
    }

    /// The view with an axis for each size of the layout, in the order that `from_view` reads.
    #[pyo3(signature = (order="row_major", offset=0))]
    fn to_view(&self, order: &str, offset: i64) -> PyResult<View> {
        self.0.to_view(order_of(order)?, offset).map(View::from).map_err(|err| refused(&err))
    }

    /// The tracker with an axis for each mode of the outermost tuple.
    #[pyo3(signature = (order="row_major", offset=0))]
    fn to_tracker(&self, order: &str, offset: i64) -> PyResult<ShapeTracker> {
        self.0.to_tracker(order_of(order)?, offset).map(ShapeTracker::from).map_err(|err| refused(&err))
    }

    /// The cheapest expression that we know how to find for the value at a coordinate, with a variable idx0, idx1, .. for each mode
    /// of the outermost tuple; `index_expr().code("cuda")` is code, in nine languages.
    fn index_expr(&self) -> PyResult<IndexExpr> {
        let expr = self.0.index_expr().map_err(|err| refused(&err))?;
        Ok(IndexExpr::of_layout(expr, self.0.clone().into()))
    }

    /// `((_2,_2),_4):((_1,_8),_2)`, as CuTe's C++ prints layouts whose numbers are part of the type.
    #[getter]
    fn static_text(&self) -> String {
        self.0.static_text().to_string()
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Layout({}, {})", self.shape(py)?.repr()?, self.stride(py)?.repr()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, this) = (slf.py(), slf.get());
        (slf.get_type(), (this.shape(py)?, this.stride(py)?)).into_pyobject(py)
    }
}

impl Layout {
    /// The answer to a question for a property of the layout, which it has if there is no reason why not.
    fn is_so(&self, py: Python<'_>, why: Option<Value>, explain: bool) -> PyResult<Py<PyAny>> {
        if !explain {
            return why.is_none().into_py_any(py);
        }
        let explained = match why {
            None => Explained::found(py, self.clone())?,
            why => Explained { layout: None, offset: None, is_longest: None, why },
        };
        explained.into_py_any(py)
    }
}

/// CuTe's swizzle: bits of an address combined with others by exclusive or. As a function it takes an address.
#[pyclass(frozen, eq, hash, module = "shapetracker.cute")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Swizzle(cute::Swizzle);

#[pymethods]
impl Swizzle {
    #[new]
    fn new(bits: u32, base: u32, shift: i32) -> PyResult<Self> {
        cute::Swizzle::new(bits, base, shift).map(Swizzle).map_err(|err| refused(&err))
    }

    /// How many bits are combined.
    #[getter]
    fn bits(&self) -> u32 {
        self.0.bits()
    }

    /// How many low bits stay as they are.
    #[getter]
    fn base(&self) -> u32 {
        self.0.base()
    }

    /// How far apart the bits are that are combined.
    #[getter]
    fn shift(&self) -> i32 {
        self.0.shift()
    }

    fn __call__(&self, address: i64) -> i64 {
        self.0.apply(address)
    }

    /// The swizzled layout: of a layout or a size, none of whose values is negative. A swizzle takes every address, so that `strict`
    /// has nothing to refuse; and it has no modes that a tuple could be about.
    #[pyo3(signature = (other, strict=false, explain=false))]
    fn compose(&self, other: &Bound<'_, PyAny>, strict: bool, explain: bool) -> PyResult<Py<PyAny>> {
        const OP: &str = "composition";
        let _ = strict;
        let layout = match tiler_of(OP, other, 0)? {
            cute::Tiler::Whole(layout) => layout,
            cute::Tiler::Size(size) => cute::Layout::new(size, 1).map_err(|err| refused(&err))?,
            tiler @ cute::Tiler::ByItem(_) => {
                let sentence = format!("{OP}: {tiler} has a layout for each mode, and {} has no modes", self.0);
                return Err(PyValueError::new_err(sentence));
            }
        };
        let composed = self.0.compose(&layout).map_err(|err| refused(&err))?;
        Explained::found(other.py(), ComposedLayout(composed))?.returned(other.py(), explain)
    }

    /// `Sw<3,3,3>`, as CuTe prints it.
    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Swizzle({}, {}, {})", self.0.bits(), self.0.base(), self.0.shift())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        (slf.get_type(), (this.bits(), this.base(), this.shift())).into_pyobject(slf.py())
    }
}

/// A layout whose values have an offset added to them, and are swizzled then. Takes the three, or a text such as
/// `Sw<3,3,3> o 0 o (8,8):(8,1)`. As a function it takes what a layout takes.
#[pyclass(frozen, eq, hash, module = "shapetracker.cute")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ComposedLayout(cute::ComposedLayout);

impl ComposedLayout {
    pub(crate) fn of(layout: cute::ComposedLayout) -> ComposedLayout {
        ComposedLayout(layout)
    }
}

#[pymethods]
impl ComposedLayout {
    #[new]
    #[pyo3(signature = (swizzle, offset=0, layout=None))]
    fn new(swizzle: &Bound<'_, PyAny>, offset: i64, layout: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        const OP: &str = "ComposedLayout";
        let Some(layout) = layout else { return composed_of(OP, swizzle).map(ComposedLayout) };
        let mismatch = || PyTypeError::new_err(format!("{OP}: takes a Swizzle, not {}", described(swizzle)));
        let swizzle = swizzle.cast::<Swizzle>().map_err(|_| mismatch())?.get().0;
        let made = cute::ComposedLayout::new(swizzle, offset, layout_of(OP, layout)?);
        made.map(ComposedLayout).map_err(|err| refused(&err))
    }

    /// The swizzle.
    #[getter]
    fn swizzle(&self) -> Swizzle {
        Swizzle(self.0.swizzle())
    }

    /// What is added to the values of the layout before they are swizzled.
    #[getter]
    fn offset(&self) -> i64 {
        self.0.offset()
    }

    /// The layout.
    #[getter]
    fn layout(&self) -> Layout {
        Layout(self.0.layout().clone())
    }

    /// The number of coordinates.
    fn size(&self) -> i64 {
        self.0.layout().size()
    }

    /// The address at a number or at a coordinate.
    #[pyo3(signature = (*coordinate))]
    fn __call__(&self, coordinate: &Bound<'_, PyTuple>) -> PyResult<i64> {
        let at = self::coordinate(coordinate)?;
        self.0.at_coordinate(&at).ok_or_else(|| outside(&self.0, &at))
    }

    /// The same addresses at the values of another layout; or mode by mode, for a tuple of layouts and sizes.
    #[pyo3(signature = (other, strict=false, explain=false))]
    fn compose(&self, other: &Bound<'_, PyAny>, strict: bool, explain: bool) -> PyResult<Py<PyAny>> {
        // A swizzle is a permutation: there is a composition under it exactly if there is one without it.
        let found = composed(self.0.layout(), other, strict)?
            .and_then(|layout| Ok(cute::ComposedLayout::new(self.0.swizzle(), self.0.offset(), layout)?));
        answer(other.py(), found.map(|composed| (ComposedLayout(composed), None)), explain)
    }

    /// The layout without a swizzle that has the same addresses, and what must be added to its values.
    #[pyo3(signature = (explain=false))]
    fn plain(&self, py: Python<'_>, explain: bool) -> PyResult<Py<PyAny>> {
        let found = py.detach(|| self.0.plain());
        answer(py, found.map(|(layout, offset)| (Layout(layout), Some(offset))), explain)
    }

    /// `Layout.index_expr` with the swizzle as an exclusive or.
    fn index_expr(&self) -> PyResult<IndexExpr> {
        let expr = self.0.index_expr().map_err(|err| refused(&err))?;
        Ok(IndexExpr::of_layout(expr, self.0.clone()))
    }

    /// `Layout.to_linear` of a layout under a swizzle.
    #[pyo3(signature = (names, output="offset", explain=false))]
    fn to_linear(&self, py: Python<'_>, names: Vec<String>, output: &str, explain: bool) -> PyResult<Py<PyAny>> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        answer(py, self.0.to_linear(&names, output).map(|linear| (LinearLayout(linear), None)), explain)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (swizzle, layout) = (self.swizzle().__repr__(), self.layout().__repr__(py)?);
        Ok(format!("ComposedLayout({swizzle}, {}, {layout})", self.0.offset()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        (slf.get_type(), (this.swizzle(), this.offset(), this.layout())).into_pyobject(slf.py())
    }
}

/// A map of bits to bits that is linear over exclusive or, as Triton has them.
///
/// Takes the inputs, a dict of names and the basis vectors of their bits, the lowest bit first, and the outputs, a dict of names and
/// sizes; or a text as Triton prints it.
#[pyclass(frozen, eq, module = "shapetracker.cute")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct LinearLayout(cute::LinearLayout);

#[pymethods]
impl LinearLayout {
    #[new]
    #[pyo3(signature = (inputs, outputs=None))]
    fn new(inputs: &Bound<'_, PyAny>, outputs: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        const OP: &str = "LinearLayout";
        if let (Ok(text), None) = (inputs.cast::<PyString>(), outputs) {
            let text = text.to_string();
            return text.parse().map(LinearLayout).map_err(|err| parse(inputs.py(), &text, &err));
        }
        let mismatch = |what: &str| PyTypeError::new_err(format!("{OP}: takes a dict of {what}"));
        let given = inputs.cast::<PyDict>().map_err(|_| mismatch("names and basis vectors, or a text"))?;
        let inputs = given.extract::<Vec<(String, Vec<Vec<i64>>)>>();
        let inputs = match inputs {
            Ok(inputs) => inputs,
            Err(_) => {
                let pair =
                    |(name, bases): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.extract()?, bases.extract()?));
                given
                    .iter()
                    .map(pair)
                    .collect::<PyResult<_>>()
                    .map_err(|_| mismatch("names and lists of basis vectors"))?
            }
        };
        let outputs = outputs.ok_or_else(|| mismatch("names and sizes for the outputs"))?;
        let pair = |(name, size): (Bound<'_, PyAny>, Bound<'_, PyAny>)| Ok((name.extract()?, size.extract()?));
        let outputs: Vec<(String, i64)> = outputs
            .iter()
            .map(pair)
            .collect::<PyResult<_>>()
            .map_err(|_| mismatch("names and sizes for the outputs"))?;
        cute::LinearLayout::new(inputs, outputs).map(LinearLayout).map_err(|err| refused(&err))
    }

    /// The basis vectors of the bits of each input, the lowest bit first, by name.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, bases) in self.0.inputs() {
            dict.set_item(name, bases)?;
        }
        Ok(dict)
    }

    /// The size of each output, by name.
    #[getter]
    fn outputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, size) in self.0.outputs() {
            dict.set_item(name, size)?;
        }
        Ok(dict)
    }

    /// The outputs at a number for each input.
    #[pyo3(signature = (*inputs))]
    fn __call__<'py>(&self, inputs: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
        let at = inputs.iter().map(|value| number("linear layout", || "an input".into(), &value));
        let at = at.collect::<PyResult<Vec<i64>>>()?;
        let outputs = self.0.at(&at).ok_or_else(|| {
            let given: Vec<String> = at.iter().map(i64::to_string).collect();
            PyIndexError::new_err(format!("linear layout: the inputs have no numbers ({})", given.join(", ")))
        })?;
        PyTuple::new(inputs.py(), outputs)
    }

    /// The layout, swizzled where it must be, whose modes are the inputs and whose addresses are the outputs, numbered in an order.
    #[pyo3(signature = (order="row_major", explain=false))]
    fn to_layout(&self, py: Python<'_>, order: &str, explain: bool) -> PyResult<Py<PyAny>> {
        let order = order_of(order)?;
        let found = py.detach(|| self.0.to_layout(order));
        answer(py, found.map(|composed| (ComposedLayout(composed), None)), explain)
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("LinearLayout({}, {})", self.inputs(py)?.repr()?, self.outputs(py)?.repr()?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, this) = (slf.py(), slf.get());
        (slf.get_type(), (this.inputs(py)?, this.outputs(py)?)).into_pyobject(py)
    }
}

/// Which addresses threads read or write: the first mode of a layout takes the thread, the others its values.
///
/// Takes the layout, swizzled or not, the bytes of an element, and how many values a thread moves with one instruction; without that
/// as many as it can. Addresses count elements from a base that is aligned to 128 bytes.
#[pyclass(frozen, eq, module = "shapetracker.cute")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct AccessPattern(cute::AccessPattern);

#[pymethods]
impl AccessPattern {
    #[new]
    #[pyo3(signature = (layout, element_bytes, vector=None))]
    fn new(layout: &Bound<'_, PyAny>, element_bytes: i64, vector: Option<i64>) -> PyResult<Self> {
        let layout = composed_of("AccessPattern", layout)?;
        let made = || -> Result<AccessPattern, cute::Error> {
            let pattern = cute::AccessPattern::new(layout, element_bytes)?;
            let vector = vector.map_or_else(|| pattern.widest_vector(), Ok)?;
            Ok(AccessPattern(pattern.with_vector(vector)?))
        };
        made().map_err(|err| refused(&err))
    }

    /// The swizzle with which none of the patterns has a bank conflict in any warp; None where there is none in the family that is
    /// searched.
    #[staticmethod]
    #[pyo3(signature = (*patterns))]
    fn conflict_free_swizzle(patterns: &Bound<'_, PyTuple>) -> PyResult<Option<Swizzle>> {
        let given = patterns_of("conflict_free_swizzle", patterns)?;
        let found = patterns.py().detach(|| cute::AccessPattern::conflict_free_swizzle(&given));
        found.map(|swizzle| swizzle.map(Swizzle)).map_err(|err| refused(&err))
    }

    /// The addresses of threads and values.
    #[getter]
    fn layout(&self) -> ComposedLayout {
        ComposedLayout(self.0.addresses().clone())
    }

    /// The number of threads.
    #[getter]
    fn threads(&self) -> i64 {
        self.0.threads()
    }

    /// The number of values of each thread.
    #[getter]
    fn values(&self) -> i64 {
        self.0.values()
    }

    /// The bytes of an element.
    #[getter]
    fn element_bytes(&self) -> i64 {
        self.0.element_bytes()
    }

    /// How many values a thread moves with one instruction.
    #[getter]
    fn vector(&self) -> i64 {
        self.0.vector()
    }

    /// The most values of a thread that one instruction may move.
    fn widest_vector(&self) -> PyResult<i64> {
        self.0.widest_vector().map_err(|err| refused(&err))
    }

    /// The degrees of the bank conflicts of all instructions of all warps: 1 is free of conflicts, 32 the worst.
    fn bank_conflicts(&self, py: Python<'_>) -> PyResult<Census> {
        py.detach(|| self.0.bank_conflicts()).map(Census).map_err(|err| refused(&err))
    }

    /// How many sectors of 32 bytes of global memory the instructions of all warps touch.
    fn sectors(&self, py: Python<'_>) -> PyResult<Census> {
        py.detach(|| self.0.sectors()).map(Census).map_err(|err| refused(&err))
    }

    /// What the lanes of a warp access with one instruction, which moves their values from `value` on, as many as a vector has.
    #[pyo3(signature = (warp=0, value=0))]
    fn instruction(&self, warp: i64, value: i64) -> PyResult<Instruction> {
        self.0.instruction(warp, value).map(Instruction).ok_or_else(|| {
            let (pattern, vector) = (&self.0, self.0.vector());
            PyIndexError::new_err(format!(
                "access: no instruction moves value {value} first in warp {warp}: {} threads have {} values each, {vector} an instruction",
                pattern.threads(),
                pattern.values(),
            ))
        })
    }

    /// The address of a value of a thread, in elements.
    fn address(&self, thread: i64, value: i64) -> PyResult<i64> {
        self.0.address(thread, value).ok_or_else(|| self.no_value(thread, value))
    }

    /// The word of 4 bytes in which a value of a thread begins; word w is in bank w modulo 32.
    fn word(&self, thread: i64, value: i64) -> PyResult<i64> {
        self.0.word(thread, value).ok_or_else(|| self.no_value(thread, value))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let layout = self.layout().__repr__(py)?;
        Ok(format!("AccessPattern({layout}, {}, {})", self.element_bytes(), self.vector()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        (slf.get_type(), (this.layout(), this.element_bytes(), this.vector())).into_pyobject(slf.py())
    }
}

impl AccessPattern {
    fn no_value(&self, thread: i64, value: i64) -> PyErr {
        let (threads, values) = (self.0.threads(), self.0.values());
        PyIndexError::new_err(format!(
            "access: there is no value {value} of thread {thread}: {threads} threads have {values} values each"
        ))
    }
}

fn patterns_of(op: &str, patterns: &Bound<'_, PyTuple>) -> PyResult<Vec<cute::AccessPattern>> {
    let pattern = |given: Bound<'_, PyAny>| match given.cast::<AccessPattern>() {
        Ok(pattern) => Ok(pattern.get().0.clone()),
        Err(_) => Err(PyTypeError::new_err(format!("{op}: takes AccessPatterns, not {}", described(&given)))),
    };
    patterns.iter().map(pattern).collect()
}

/// What instructions of warps cost, counted over all warps and all values.
#[pyclass(frozen, eq, module = "shapetracker.cute")]
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Census(cute::Census);

#[pymethods]
impl Census {
    /// The largest cost of an instruction.
    #[getter]
    fn most(&self) -> i64 {
        self.0.most
    }

    /// A warp that has it.
    #[getter]
    fn warp(&self) -> i64 {
        self.0.warp
    }

    /// The number of the first value that the instruction moves.
    #[getter]
    fn value(&self) -> i64 {
        self.0.value
    }

    /// How many instructions have each cost.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (cost, count) in &self.0.counts {
            dict.set_item(cost, count)?;
        }
        Ok(dict)
    }

    /// The costs of all instructions together.
    #[getter]
    fn total(&self) -> i128 {
        self.0.total()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<Census: at most {}, {}>", self.0.most, self.counts(py)?.repr()?))
    }
}

/// What all accesses to one tile cost, and the swizzle that leaves no bank conflict where there are some. Takes an AccessPattern for
/// each access: what writes the tile and what reads it.
#[pyclass(frozen, eq, module = "shapetracker.cute")]
#[derive(PartialEq, Eq)]
pub(crate) struct AccessReport(cute::AccessReport);

#[pymethods]
impl AccessReport {
    #[new]
    #[pyo3(signature = (*patterns))]
    fn new(patterns: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let given = patterns_of("AccessReport", patterns)?;
        let report = patterns.py().detach(|| cute::AccessReport::new(&given));
        report.map(AccessReport).map_err(|err| refused(&err))
    }

    /// Each access by itself.
    #[getter]
    fn accesses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.accesses.iter().cloned().map(Access))
    }

    /// The swizzle with which no access has a bank conflict; None where none is needed, or none was found.
    #[getter]
    fn swizzle(&self) -> Option<Swizzle> {
        self.0.swizzle.ok().map(Swizzle)
    }

    /// Why there is no swizzle: an Explained of kind "no_conflict", "swizzled", "negative", "unremoved" or "undecided"; None where
    /// there is one.
    #[getter]
    fn no_swizzle(&self) -> Option<Explained> {
        let why = self.0.swizzle.err()?;
        Some(Explained { layout: None, offset: None, is_longest: None, why: Some(Value::from(&why)) })
    }

    /// How many elements of shared memory the tile needs, without the swizzle and with it, which may move addresses past the
    /// largest one; None where there is no swizzle.
    #[getter]
    fn elements(&self) -> Option<(i64, i64)> {
        self.0.elements.map(|[without, with]| (without, with))
    }

    /// The largest degree of a bank conflict; 1 where there is none, and 0 without any access.
    #[getter]
    fn worst(&self) -> i64 {
        self.0.worst()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let patterns = self.0.accesses.iter().map(|access| AccessPattern(access.pattern.clone()).__repr__(py));
        Ok(format!("AccessReport({})", patterns.collect::<PyResult<Vec<_>>>()?.join(", ")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, accesses) = (slf.py(), &slf.get().0.accesses);
        let patterns = PyTuple::new(py, accesses.iter().map(|access| AccessPattern(access.pattern.clone())))?;
        (slf.get_type(), patterns).into_pyobject(py)
    }
}

/// What one access costs.
#[pyclass(frozen, eq, module = "shapetracker.cute")]
#[derive(PartialEq, Eq)]
pub(crate) struct Access(cute::Access);

#[pymethods]
impl Access {
    /// The access.
    #[getter]
    fn pattern(&self) -> AccessPattern {
        AccessPattern(self.0.pattern.clone())
    }

    /// The most values that one instruction could move.
    #[getter]
    fn widest(&self) -> i64 {
        self.0.widest
    }

    /// The degrees of the bank conflicts of all instructions of all warps.
    #[getter]
    fn banks(&self) -> Census {
        Census(self.0.banks.clone())
    }

    /// How many sectors of 32 bytes of global memory the instructions of all warps touch.
    #[getter]
    fn sectors(&self) -> Census {
        Census(self.0.sectors.clone())
    }

    /// The addresses under the swizzle of the report; None where it has none.
    #[getter]
    fn swizzled(&self) -> Option<ComposedLayout> {
        self.0.swizzled.clone().map(ComposedLayout)
    }

    fn __repr__(&self) -> String {
        let pattern = &self.0.pattern;
        format!("<Access: {}, banks at most {}>", pattern.addresses(), self.0.banks.most)
    }
}

/// One instruction of one warp, as shared memory serves it.
#[pyclass(frozen, eq, module = "shapetracker.cute")]
#[derive(PartialEq, Eq)]
pub(crate) struct Instruction(cute::Instruction);

#[pymethods]
impl Instruction {
    /// What is served together: all lanes, or those of 8 or 16 bytes in groups of 16 or 8.
    #[getter]
    fn phases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.phases.iter().cloned().map(Phase))
    }

    fn __repr__(&self) -> String {
        let degrees: Vec<String> = self.0.phases.iter().map(|phase| phase.degree.to_string()).collect();
        format!("<Instruction: phases of degree {}>", degrees.join(", "))
    }
}

/// The lanes that are served together.
#[pyclass(frozen, eq, module = "shapetracker.cute")]
#[derive(PartialEq, Eq)]
pub(crate) struct Phase(cute::Phase);

#[pymethods]
impl Phase {
    /// The bank that a word of 4 bytes is in.
    #[staticmethod]
    fn bank(word: i64) -> i64 {
        cute::Phase::bank(word)
    }

    /// The threads, and the byte at which each begins.
    #[getter]
    fn lanes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (thread, byte) in &self.0.lanes {
            dict.set_item(thread, byte)?;
        }
        Ok(dict)
    }

    /// The words that are accessed, in ascending order, and by which threads.
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (word, threads) in &self.0.words {
            dict.set_item(word, PyTuple::new(py, threads)?)?;
        }
        Ok(dict)
    }

    /// The banks that are asked for words, in ascending order, and for which: the bank with the most words makes the degree.
    #[getter]
    fn banks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut banks: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for &(word, _) in &self.0.words {
            banks.entry(cute::Phase::bank(word)).or_default().push(word);
        }
        let dict = PyDict::new(py);
        for (bank, words) in banks {
            dict.set_item(bank, PyTuple::new(py, words)?)?;
        }
        Ok(dict)
    }

    /// The degree of the bank conflict: the largest number of words in one bank. 1 is free of conflicts.
    #[getter]
    fn degree(&self) -> i64 {
        self.0.degree
    }

    fn __repr__(&self) -> String {
        let (lanes, words) = (self.0.lanes.len(), self.0.words.len());
        format!("<Phase: {lanes} lanes, {words} words, degree {}>", self.0.degree)
    }
}

/// The first number at which a layout is not the composition of two others; `str` writes it as a sentence.
#[pyclass(frozen, eq, hash, module = "shapetracker.cute")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Mismatch(cute::Mismatch);

#[pymethods]
impl Mismatch {
    /// The number.
    #[getter]
    fn coordinate(&self) -> i64 {
        self.0.coordinate
    }

    /// The value of the composition there; None where it has ended.
    #[getter]
    fn expected(&self) -> Option<i64> {
        self.0.expected
    }

    /// The value of the claimed layout there; None where it has ended.
    #[getter]
    fn found(&self) -> Option<i64> {
        self.0.found
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Mismatch: {}>", self.0)
    }
}

/// The first number at which a layout, such as another tool printed it, is not the composition of two others; None where it is the
/// composition, value by value.
#[pyfunction]
pub(crate) fn audit(
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    claimed: &Bound<'_, PyAny>,
) -> PyResult<Option<Mismatch>> {
    const OP: &str = "audit";
    let (a, b, claimed, py) = (layout_of(OP, a)?, layout_of(OP, b)?, layout_of(OP, claimed)?, a.py());
    match py.detach(|| cute::audit(&a, &b, &claimed)) {
        Ok(found) => Ok(found.map(Mismatch)),
        Err(why) => Err(match why.fault() {
            Some(err) => refused(err),
            None if why == cute::NoComposition::Undecided => Undecided::new_err(why.to_string()),
            None => PyValueError::new_err(format!("{OP}: {why}")),
        }),
    }
}
