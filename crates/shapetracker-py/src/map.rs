//! Index maps: from loops to several expressions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyRange, PyTuple};
use shapetracker::{IndexMap as Map, NotComposed, NotInverted, Unproved};

use crate::arguments::{is_iterable, number, numbers, tuple};
use crate::error::{NotInvertible, Undecided, layout, parse, with_attribute};
use crate::expr::{Expr, range_of};
use crate::import::module;

/// A map from loops with ranges to a tuple of expressions: `IndexMap("lambda i, j: (i // 4, j, i % 4)", i=range(16), j=range(8))`.
/// The text may be Python's, TVM's (`T.index_map(lambda ..)`), MLIR's (`affine_map<(d0) -> (d0 floordiv 4)>`), or `(i, j) -> (i // 4, j)`.
///
/// Every answer is exact: None where something is asked for that is not there is a proof that it is not, and what is not decided
/// raises Undecided, which says why.
///
/// >>> from shapetracker import IndexMap
/// >>> split = IndexMap("lambda i, j: (i // 4, j, i % 4)", i=range(16), j=range(8))
/// >>> split(6, 2)
/// (1, 2, 2)
/// >>> split.is_one_to_one(), split.is_onto(4, 8, 4)
/// (True, True)
/// >>> print(split.inverse())
/// lambda y0, y1, y2: (y0 * 4 + y2, y1)
#[pyclass(frozen, module = "shapetracker")]
#[derive(Debug)]
pub(crate) struct IndexMap(Map);

#[pymethods]
impl IndexMap {
    #[new]
    #[pyo3(signature = (text, /, **loops))]
    fn new(py: Python<'_>, text: &str, loops: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut ranges: Vec<(String, Range<i64>)> = Vec::new();
        for (name, range) in loops.into_iter().flatten() {
            let name: String = name.extract()?;
            let (begin, end) = range_of("IndexMap", &name, &range)?;
            ranges.push((name, begin..end));
        }
        let ranges: Vec<(&str, Range<i64>)> = ranges.iter().map(|(name, range)| (&name[..], range.clone())).collect();
        Map::parse(text, &ranges).map(IndexMap).map_err(|err| parse(py, text, &err))
    }

    /// The loops by their names, outermost first, with the ranges of their values.
    #[getter]
    fn loops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let loops = PyDict::new(py);
        for variable in self.0.loops() {
            loops.set_item(&variable.name, range(py, &variable.range)?)?;
        }
        Ok(loops)
    }

    /// The results, each over the loops that it depends on.
    #[getter]
    fn results<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let results = self.0.results().iter().map(|result| Expr::extracted(self.0.graph(), *result));
        PyTuple::new(py, results.collect::<PyResult<Vec<_>>>()?)
    }

    /// The smallest box around all images, one range a result. Where the search for it, which is limited to about a millisecond,
    /// ended before that was sure, it is a box that holds them.
    #[getter]
    fn image_box<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let ranges = py.detach(|| self.0.image_box());
        PyTuple::new(py, ranges.iter().map(|each| range(py, each)).collect::<PyResult<Vec<_>>>()?)
    }

    /// The image of an index.
    #[pyo3(signature = (*index))]
    fn __call__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
        let index = numbers("IndexMap", index)?;
        tuple(py, &self.0.evaluate(&index).map_err(|err| layout(&err))?)
    }

    /// Two indices with the same image, or None: the map is one-to-one.
    ///
    /// >>> from shapetracker import IndexMap
    /// >>> IndexMap("(i) -> (i % 4)", i=range(6)).collision()
    /// ((0,), (4,))
    fn collision<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyTuple>, Bound<'py, PyTuple>)>> {
        let found = py.detach(|| self.0.collision()).map_err(|err| unproved(&err))?;
        found.map(|[a, b]| Ok((tuple(py, &a)?, tuple(py, &b)?))).transpose()
    }

    /// Whether no two indices have the same image; `collision` has two where it is not.
    fn is_one_to_one(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(py.detach(|| self.0.collision()).map_err(|err| unproved(&err))?.is_none())
    }

    /// An element of a box that no index leads to, or None: all of it is reached. The box has one size or range a result:
    /// `missed(4, range(-2, 6))`.
    ///
    /// >>> from shapetracker import IndexMap
    /// >>> IndexMap("(i) -> (i // 4, i % 4)", i=range(14)).missed(4, 4)
    /// (3, 3)
    #[pyo3(signature = (*target))]
    fn missed<'py>(&self, py: Python<'py>, target: &Bound<'py, PyTuple>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let target = box_of("missed", target)?;
        let found = py.detach(|| self.0.missed(&target)).map_err(|err| unproved(&err))?;
        found.map(|element| tuple(py, &element)).transpose()
    }

    /// An index whose image is not in a box, or None: all images are in it.
    ///
    /// >>> from shapetracker import IndexMap
    /// >>> IndexMap("(i) -> (i // 4, i % 4)", i=range(14)).outside(3, 4)
    /// (12,)
    #[pyo3(signature = (*target))]
    fn outside<'py>(&self, py: Python<'py>, target: &Bound<'py, PyTuple>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let target = box_of("outside", target)?;
        let found = py.detach(|| self.0.outside(&target)).map_err(|err| unproved(&err))?;
        found.map(|index| tuple(py, &index)).transpose()
    }

    /// Whether the images are exactly the elements of a box; `missed` and `outside` have evidence where they are not.
    #[pyo3(signature = (*target))]
    fn is_onto(&self, py: Python<'_>, target: &Bound<'_, PyTuple>) -> PyResult<bool> {
        let target = box_of("is_onto", target)?;
        let answer = py.detach(|| Ok(self.0.outside(&target)?.is_none() && self.0.missed(&target)?.is_none()));
        answer.map_err(|err: Unproved| unproved(&err))
    }

    /// An index that leads to an element, or None: no index does.
    #[pyo3(signature = (*element))]
    fn preimage<'py>(&self, py: Python<'py>, element: &Bound<'py, PyTuple>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let element = numbers("preimage", element)?;
        let found = py.detach(|| self.0.preimage(&element)).map_err(|err| unproved(&err))?;
        found.map(|index| tuple(py, &index)).transpose()
    }

    /// An index at which another map of the same box has another image, or None: the maps are equal. (`==` compares how they are
    /// written.)
    ///
    /// >>> from shapetracker import IndexMap
    /// >>> m = IndexMap("(i) -> (i // 4 * 4 + i % 4)", i=range(10**9))
    /// >>> m.difference(IndexMap("(k) -> (k)", k=range(10**9)))
    fn difference<'py>(&self, py: Python<'py>, other: &IndexMap) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let found = py.detach(|| self.0.difference(&other.0)).map_err(|err| unproved(&err))?;
        found.map(|index| tuple(py, &index)).transpose()
    }

    /// The map that leads back from the images to their indices; elements of its box that are no images may lead anywhere. Raises
    /// NotInvertible, whose `indices` are two with the same image, or None where the map is one-to-one and no expressions were found.
    fn inverse(&self, py: Python<'_>) -> PyResult<IndexMap> {
        let err = match py.detach(|| self.0.inverse()) {
            Ok(inverse) => return Ok(IndexMap(inverse.map)),
            Err(err) => err,
        };
        let indices = match &err {
            NotInverted::Unproved(err) => return Err(unproved(err)),
            NotInverted::Collision { indices: [a, b], .. } => {
                (|| Ok((tuple(py, a)?, tuple(py, b)?).into_pyobject(py)?.into_any().unbind()))()
            }
            _ => Ok(py.None()),
        };
        Err(with_attribute(py, NotInvertible::new_err(err.to_string()), "indices", indices))
    }

    /// The map that does another one first. Raises a ValueError, whose `index` is one that the other map leads out of the ranges of
    /// these loops.
    ///
    /// >>> from shapetracker import IndexMap
    /// >>> split = IndexMap("(i) -> (i // 4, i % 4)", i=range(16))
    /// >>> print(IndexMap("(a, b) -> (a*4 + b)", a=range(4), b=range(4)).after(split))
    /// lambda i: (i,)
    fn after(&self, py: Python<'_>, first: &IndexMap) -> PyResult<IndexMap> {
        match py.detach(|| self.0.after(&first.0)) {
            Ok(map) => Ok(IndexMap(map)),
            Err(NotComposed::Unproved(err)) => Err(unproved(&err)),
            Err(err) => {
                let index = match &err {
                    NotComposed::Outside { index, .. } => tuple(py, index).map(|index| index.into_any().unbind()),
                    _ => Ok(py.None()),
                };
                Err(with_attribute(py, PyValueError::new_err(format!("after: {err}")), "index", index))
            }
        }
    }

    /// The same map with every result as cheap as we know how to make it in this box.
    fn simplify(&self) -> IndexMap {
        IndexMap(self.0.simplify())
    }

    /// The map as text of python, tvm or mlir.
    ///
    /// >>> from shapetracker import IndexMap
    /// >>> IndexMap("lambda i: (i // 4, i % 4)", i=range(16)).text("mlir")
    /// 'affine_map<(i) -> (i floordiv 4, i mod 4)>'
    #[pyo3(signature = (notation="python"))]
    fn text(&self, notation: &str) -> PyResult<String> {
        match notation {
            "python" => self.0.text().map_err(|err| layout(&err)),
            "tvm" => self.0.to_tvm().map_err(PyValueError::new_err),
            "mlir" => self.0.to_mlir().map_err(|err| PyValueError::new_err(err.to_string())),
            other => {
                let sentence = format!("text: there is no notation `{other}` of maps; there are python, tvm and mlir");
                Err(PyValueError::new_err(sentence))
            }
        }
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<IndexMap>().is_ok_and(|other| self.written() == other.get().written())
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.written().hash(&mut hasher);
        hasher.finish()
    }

    fn __str__(&self) -> PyResult<String> {
        self.text("python")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.0.to_string().into_pyobject(py)?.repr()?;
        let loops = self.0.loops().iter().map(|each| {
            let (begin, end) = (each.range.start, each.range.end);
            format!(", {}=range({begin}, {end})", each.name)
        });
        Ok(format!("IndexMap({text}{})", loops.collect::<String>()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, map) = (slf.py(), slf.get());
        let partial = module(py, "functools")?.getattr("partial")?;
        let again = partial.call((slf.get_type(),), Some(&map.loops(py)?))?;
        (again, (map.text("python")?,)).into_pyobject(py)
    }
}

impl IndexMap {
    /// What two maps that are written alike have in common.
    fn written(&self) -> (String, Vec<Range<i64>>) {
        (self.0.to_string(), self.0.loops().iter().map(|each| each.range.clone()).collect())
    }
}

fn range<'py>(py: Python<'py>, range: &Range<i64>) -> PyResult<Bound<'py, PyAny>> {
    py.get_type::<PyRange>().call1((range.start, range.end))
}

/// A box as sizes and ranges, one a result, or one sequence of them.
fn box_of(op: &str, arguments: &Bound<'_, PyTuple>) -> PyResult<Vec<Range<i64>>> {
    let mut given = arguments.clone();
    if arguments.len() == 1 {
        let only = arguments.get_item(0)?;
        if !only.is_instance_of::<PyInt>() && !only.is_instance_of::<PyRange>() && is_iterable(&only) {
            given = only.try_iter()?.collect::<PyResult<Vec<_>>>().and_then(|all| PyTuple::new(arguments.py(), all))?;
        }
    }
    let mut ranges = Vec::with_capacity(given.len());
    for (at, each) in given.iter().enumerate() {
        let place = || format!("entry {at}");
        ranges.push(match each.is_instance_of::<PyRange>() || each.is_instance_of::<PyTuple>() {
            true => {
                let (begin, end) = range_of(op, &place(), &each)?;
                begin..end
            }
            false => 0..number(op, place, &each)?,
        });
    }
    Ok(ranges)
}

fn unproved(err: &Unproved) -> PyErr {
    match err {
        Unproved::Error(err) => layout(err),
        err @ Unproved::Count { .. } => PyValueError::new_err(err.to_string()),
        err => Undecided::new_err(err.to_string()),
    }
}
