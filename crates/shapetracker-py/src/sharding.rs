//! Tensors spread over devices: which views of them need no communication, and why the others do.
//!
//! The tensors of PyTorch and JAX are read in `python/shapetracker/sharding.py`; here is what is asked of them.

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use shapetracker::{Movement, Ranges};
use shapetracker_shard as shard;

use crate::arguments::{described, flipped, items, number, numbers, numbers_of, pairs, tuple};
use crate::picture;
use crate::tracker::ShapeTracker;

fn refused(err: &shard::Error) -> PyErr {
    match err.is_limit() {
        true => PyOverflowError::new_err(err.to_string()),
        false => PyValueError::new_err(err.to_string()),
    }
}

/// What one mesh axis does to a tensor: `replicate`, `shard` (along an axis), `strided shard` (along an axis cut into
/// pieces first), or `partial` (every device has a summand).
#[pyclass(frozen, eq, hash, module = "shapetracker.sharding")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Placement(shard::Placement);

#[pymethods]
impl Placement {
    #[new]
    #[pyo3(signature = (kind, axis=None, pieces=1))]
    fn new(kind: &str, axis: Option<usize>, pieces: i64) -> PyResult<Self> {
        match (kind, axis) {
            ("replicate", None) if pieces == 1 => Ok(Placement(shard::Placement::Replicate)),
            ("partial", None) if pieces == 1 => Ok(Placement(shard::Placement::Partial)),
            ("shard", Some(axis)) if pieces == 1 => Ok(Placement(shard::Placement::Shard(axis))),
            ("strided shard", Some(axis)) if pieces > 0 => {
                Ok(Placement(shard::Placement::StridedShard { axis, pieces }))
            }
            _ => Err(PyValueError::new_err(
                "Placement: takes \"replicate\" or \"partial\" alone, \"shard\" with an axis, or \"strided shard\" with an \
                 axis and into how many pieces it is cut first",
            )),
        }
    }

    /// "replicate", "shard", "strided shard" or "partial".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            shard::Placement::Replicate => "replicate",
            shard::Placement::Shard(_) => "shard",
            shard::Placement::StridedShard { .. } => "strided shard",
            shard::Placement::Partial => "partial",
        }
    }

    /// The tensor axis that is cut; None where none is.
    #[getter]
    fn axis(&self) -> Option<usize> {
        self.0.axis()
    }

    /// Into how many pieces the axis is cut before each is spread over the devices: 1 but for strided shards.
    #[getter]
    fn pieces(&self) -> i64 {
        match self.0 {
            shard::Placement::StridedShard { pieces, .. } => pieces,
            _ => 1,
        }
    }

    /// `R`, `S(0)`, `SS(0, 4)` or `P`.
    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        match self.0 {
            shard::Placement::Replicate => "Replicate()".to_owned(),
            shard::Placement::Shard(axis) => format!("Shard({axis})"),
            shard::Placement::StridedShard { axis, pieces } => format!("StridedShard({axis}, {pieces})"),
            shard::Placement::Partial => "Partial()".to_owned(),
        }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let this = slf.get();
        (slf.get_type(), (this.kind(), this.axis(), this.pieces())).into_pyobject(slf.py())
    }
}

/// A mesh of devices: sizes by name, or sizes alone.
fn mesh_of(given: &Bound<'_, PyAny>) -> PyResult<shard::Mesh> {
    const OP: &str = "mesh";
    let of_pairs = |pairs: Vec<(String, i64)>| shard::Mesh::new(pairs).map_err(|err| refused(&err));
    let place = |name: &str| format!("mesh axis {name}");
    if let Ok(dict) = given.cast::<PyDict>() {
        let pair = |(name, size): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let name = name_of(&name)?;
            let size = number(OP, || place(&name), &size)?;
            Ok((name, size))
        };
        return of_pairs(dict.iter().map(pair).collect::<PyResult<_>>()?);
    }
    if given.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(format!("{OP}: takes sizes by name, or sizes, not {}", described(given))));
    }
    let all = items(OP, "sizes by name, or sizes", given)?.take(1 << 8).collect::<PyResult<Vec<_>>>()?;
    if all.iter().all(|item| item.is_instance_of::<PyTuple>()) && !all.is_empty() {
        let pair = |item: &Bound<'_, PyAny>| match item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
            Ok((name, size)) => {
                let name = name_of(&name)?;
                let size = number(OP, || place(&name), &size)?;
                Ok((name, size))
            }
            Err(_) => Err(PyTypeError::new_err(format!("{OP}: takes a name and a size, not {}", described(item)))),
        };
        return of_pairs(all.iter().map(pair).collect::<PyResult<_>>()?);
    }
    let size = |(axis, size): (usize, &Bound<'_, PyAny>)| number(OP, || format!("mesh axis {axis}"), size);
    let sizes = all.iter().enumerate().map(size).collect::<PyResult<Vec<i64>>>()?;
    shard::Mesh::of_sizes(sizes).map_err(|err| refused(&err))
}

fn name_of(name: &Bound<'_, PyAny>) -> PyResult<String> {
    name.extract().map_err(|_| PyTypeError::new_err(format!("mesh: a name is a text, not {}", described(name))))
}

/// A tensor spread over a mesh of devices: its global shape, the mesh, and one placement for each mesh axis.
///
/// The mesh is a dict of sizes by name, pairs of names and sizes, or sizes alone. Elements are named by their positions in
/// the row-major order of the global tensor, devices by their coordinates in the mesh.
#[pyclass(frozen, eq, hash, module = "shapetracker.sharding")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Sharded(shard::Sharded);

impl Sharded {
    fn apply(&self, op: Movement) -> PyResult<Outcome> {
        let answer = self.0.apply(&op).map_err(|err| refused(&err))?;
        Ok(Outcome { before: self.0.clone(), op, answer })
    }
}

#[pymethods]
impl Sharded {
    #[new]
    fn new(shape: &Bound<'_, PyAny>, mesh: &Bound<'_, PyAny>, placements: &Bound<'_, PyAny>) -> PyResult<Self> {
        const OP: &str = "Sharded";
        let placement = |given: PyResult<Bound<'_, PyAny>>| {
            let given = given?;
            let mismatch = || PyTypeError::new_err(format!("{OP}: takes placements, not {}", described(&given)));
            Ok(given.cast::<Placement>().map_err(|_| mismatch())?.get().0)
        };
        let placements =
            items(OP, "placements", placements)?.take(1 << 8).map(placement).collect::<PyResult<Vec<_>>>()?;
        let made = shard::Sharded::new(numbers_of(OP, shape)?, mesh_of(mesh)?, placements);
        made.map(Sharded).map_err(|err| refused(&err))
    }

    /// A tensor with JAX's `PartitionSpec`: for each of its axes None, the name of the mesh axis that cuts it, or the names of
    /// several, the major one first.
    #[staticmethod]
    fn from_spec(shape: &Bound<'_, PyAny>, mesh: &Bound<'_, PyAny>, spec: &Bound<'_, PyAny>) -> PyResult<Self> {
        const OP: &str = "from_spec";
        let names = |entry: PyResult<Bound<'_, PyAny>>| {
            let entry = entry?;
            if entry.is_none() {
                return Ok(vec![]);
            }
            if entry.is_instance_of::<PyString>() {
                return Ok(vec![name_of(&entry)?]);
            }
            items(OP, "names of mesh axes", &entry)?.take(1 << 8).map(|name| name_of(&name?)).collect()
        };
        let spec = items(OP, "one entry for each axis", spec)?.take(1 << 8).map(names);
        let spec = spec.collect::<PyResult<Vec<Vec<String>>>>()?;
        let spec: Vec<Vec<&str>> = spec.iter().map(|names| names.iter().map(String::as_str).collect()).collect();
        let spec: Vec<&[&str]> = spec.iter().map(Vec::as_slice).collect();
        let made = shard::Sharded::from_spec(numbers_of(OP, shape)?, mesh_of(mesh)?, &spec);
        made.map(Sharded).map_err(|err| refused(&err))
    }

    /// The global shape.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.0.shape())
    }

    /// The names of the mesh axes and how many devices each has.
    #[getter]
    fn mesh<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mesh = self.0.mesh();
        PyTuple::new(py, mesh.names().iter().zip(mesh.sizes().iter().copied()))
    }

    /// One placement for each mesh axis.
    #[getter]
    fn placements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.placements().iter().copied().map(Placement))
    }

    /// JAX's `PartitionSpec` for these placements, the names of the mesh axes for each axis of the tensor; None where they are
    /// none.
    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(spec) = self.0.spec() else { return Ok(None) };
        let each: Vec<_> = spec.iter().map(|names| PyTuple::new(py, names)).collect::<PyResult<_>>()?;
        PyTuple::new(py, each).map(Some)
    }

    /// The shape of what the device at these coordinates holds.
    #[pyo3(signature = (*device))]
    fn local_shape<'py>(&self, device: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
        let at = numbers("local_shape", device)?;
        let shape = self.0.local_shape(&at).ok_or_else(|| self.no_device("local_shape", &at))?;
        tuple(device.py(), &shape)
    }

    /// The position in the global tensor of an element that a device holds, by its number in the device's local tensor; None
    /// where it holds no so many.
    fn holds(&self, device: &Bound<'_, PyAny>, local: i64) -> PyResult<Option<i64>> {
        let at = numbers_of("holds", device)?;
        self.0.local_shape(&at).ok_or_else(|| self.no_device("holds", &at))?;
        Ok(self.0.holds(&at, local))
    }

    /// The number that an element of the global tensor has in a device's local tensor; None where the device does not hold it.
    fn local(&self, device: &Bound<'_, PyAny>, position: i64) -> PyResult<Option<i64>> {
        let at = numbers_of("local", device)?;
        self.0.local_shape(&at).ok_or_else(|| self.no_device("local", &at))?;
        Ok(self.0.local(&at, position))
    }

    /// Is the same tensor under a new shape free of communication? One size may be -1.
    #[pyo3(signature = (*shape))]
    fn reshape(&self, shape: &Bound<'_, PyTuple>) -> PyResult<Outcome> {
        self.apply(Movement::Reshape(numbers("reshape", shape)?))
    }

    /// The axes in a new order.
    #[pyo3(signature = (*axes))]
    fn permute(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Outcome> {
        self.apply(Movement::Permute(numbers("permute", axes)?))
    }

    /// Axes of size 1 repeated.
    #[pyo3(signature = (*shape))]
    fn expand(&self, shape: &Bound<'_, PyTuple>) -> PyResult<Outcome> {
        self.apply(Movement::Expand(numbers("expand", shape)?))
    }

    /// Axes of size 1 taken away.
    #[pyo3(signature = (*axes))]
    fn squeeze(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Outcome> {
        self.apply(Movement::Squeeze(numbers("squeeze", axes)?))
    }

    /// A new axis of size 1.
    fn unsqueeze(&self, axis: i64) -> PyResult<Outcome> {
        self.apply(Movement::Unsqueeze(axis))
    }

    /// A half-open range of each axis; None for all of it.
    #[pyo3(signature = (*ranges))]
    fn shrink(&self, ranges: &Bound<'_, PyTuple>) -> PyResult<Outcome> {
        let shape = self.0.shape();
        let ranges: Ranges = pairs("shrink", |axis| shape.get(axis).map(|&size| (0, size)), ranges)?;
        self.apply(Movement::Shrink(ranges))
    }

    /// Axes reversed, by their numbers or as one True or False per axis.
    #[pyo3(signature = (*axes))]
    fn flip(&self, axes: &Bound<'_, PyTuple>) -> PyResult<Outcome> {
        self.apply(Movement::Flip(flipped("flip", self.0.shape().len(), axes)?))
    }

    /// How many elements without a value come before and after each axis; None for none.
    #[pyo3(signature = (*pads))]
    fn pad(&self, pads: &Bound<'_, PyTuple>) -> PyResult<Outcome> {
        self.apply(Movement::Pad(pairs("pad", |_| Some((0, 0)), pads)?))
    }

    /// Is this how the devices hold the same elements, in row-major order, under the shape that is claimed?
    fn check(&self, claimed: &Sharded) -> PyResult<Check> {
        let answer = self.0.check(&claimed.0).map_err(|err| refused(&err))?;
        Ok(Check { before: self.0.clone(), claimed: claimed.0.clone(), answer })
    }

    /// How many elements the devices need for a target, of any shape of as many elements, and do not hold: exactly.
    fn moved(&self, target: &Sharded) -> PyResult<Moved> {
        self.0.moved(&target.0).map(Moved).map_err(|err| refused(&err))
    }

    /// `(8, 512) @ dp=2, tp=4 : S(0), S(1)`.
    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (shape, mesh, placements) = (self.shape(py)?, self.mesh(py)?, self.placements(py)?);
        Ok(format!("Sharded({shape}, {mesh}, {placements})"))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let (py, this) = (slf.py(), slf.get());
        (slf.get_type(), (this.shape(py)?, this.mesh(py)?, this.placements(py)?)).into_pyobject(py)
    }
}

impl Sharded {
    fn no_device(&self, op: &str, at: &[i64]) -> PyErr {
        let at = at.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        PyValueError::new_err(format!("{op}: the mesh {} has no device ({at})", self.0.mesh()))
    }
}

/// What comes of an operation on a tensor that is spread over devices: true where it needs no communication and placements
/// say how the result is spread.
#[pyclass(frozen, module = "shapetracker.sharding")]
pub(crate) struct Outcome {
    before: shard::Sharded,
    op: Movement,
    answer: shard::Outcome,
}

#[pymethods]
impl Outcome {
    /// "free", "unsayable" (no element would have to move, but no placements say who holds what), "moves" or "undecided".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.answer {
            shard::Outcome::Free { .. } => "free",
            shard::Outcome::Unsayable { .. } => "unsayable",
            shard::Outcome::Moves { .. } => "moves",
            _ => "undecided",
        }
    }

    fn __bool__(&self) -> bool {
        matches!(self.answer, shard::Outcome::Free { .. })
    }

    /// The tensor that was asked about.
    #[getter]
    fn before(&self) -> Sharded {
        Sharded(self.before.clone())
    }

    /// The result, where the operation is free; else None.
    #[getter]
    fn after(&self) -> Option<Sharded> {
        match &self.answer {
            shard::Outcome::Free { after } => Some(Sharded(after.clone())),
            _ => None,
        }
    }

    /// Where elements must move, a device and elements that show it.
    #[getter]
    fn witness(&self) -> Option<Evidence> {
        match &self.answer {
            shard::Outcome::Moves { why, .. } => Some(Evidence(why.clone())),
            _ => None,
        }
    }

    /// Where no placements say who holds what, a tracker over the mesh axes and the axes of the local tensor, whose addresses
    /// are the positions in the result; None where the parts differ in shape or do not follow from each other by strides.
    #[getter]
    fn view(&self) -> Option<ShapeTracker> {
        match &self.answer {
            shard::Outcome::Unsayable { parts } => parts.view().cloned().map(ShapeTracker::from),
            _ => None,
        }
    }

    /// Where a reshape is not free, the plain shards of the new shape, along the same mesh axes, for which the fewest elements
    /// must move, and how many that are exactly; None where it is free, or where counting takes too much work.
    #[getter]
    fn cheapest(&self) -> PyResult<Option<(Sharded, Moved)>> {
        let Movement::Reshape(_) = &self.op else { return Ok(None) };
        if let shard::Outcome::Free { .. } = self.answer {
            return Ok(None);
        }
        let contiguous = shapetracker::ShapeTracker::contiguous(self.before.shape());
        let shape = contiguous.and_then(|st| st.apply(&self.op)).map_err(|err| crate::error::layout(&err))?;
        match self.before.cheapest(shape.shape()) {
            Ok(found) => Ok(found.map(|(after, moved)| (Sharded(after), Moved(moved)))),
            Err(err) if err.is_limit() => Ok(None),
            Err(err) => Err(refused(&err)),
        }
    }

    /// The answer as a sentence.
    fn __str__(&self) -> PyResult<String> {
        let mut text = self.answer.to_string();
        if let Some((after, moved)) = self.cheapest()? {
            text += &format!("\nfor {}, the cheapest with plain shards, {}", after.0, moved.sentence());
        }
        Ok(text)
    }

    fn __repr__(&self) -> String {
        match &self.answer {
            shard::Outcome::Free { after } => format!("<Outcome: free, {after}>"),
            _ => format!("<Outcome: {}>", self.kind()),
        }
    }

    fn _repr_html_(&self) -> PyResult<String> {
        Ok(picture::pre(&self.__str__()?))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let (name, arguments) = question(py, &self.op)?;
        let again = Bound::new(py, self.before())?.into_any().getattr(name)?;
        (again, arguments).into_pyobject(py)
    }
}

/// The method of a tensor that does an operation, and its arguments.
fn question<'py>(py: Python<'py>, op: &Movement) -> PyResult<(&'static str, Bound<'py, PyTuple>)> {
    let pairs = |pairs: &[(i64, i64)]| PyTuple::new(py, pairs.iter().copied());
    Ok(match op {
        Movement::Reshape(sizes) => ("reshape", tuple(py, sizes)?),
        Movement::Permute(axes) => ("permute", tuple(py, axes)?),
        Movement::Expand(sizes) => ("expand", tuple(py, sizes)?),
        Movement::Squeeze(axes) => ("squeeze", tuple(py, axes)?),
        Movement::Unsqueeze(axis) => ("unsqueeze", tuple(py, &[*axis])?),
        Movement::Shrink(ranges) => ("shrink", pairs(ranges)?),
        Movement::Flip(axes) => ("flip", tuple(py, axes)?),
        Movement::Pad(pads) => ("pad", pairs(pads)?),
        other => {
            return Err(PyValueError::new_err(format!(
                "{other} is no operation of a tensor that is spread over devices"
            )));
        }
    })
}

/// Whether what is claimed of a tensor is so: true where it is proved.
#[pyclass(frozen, module = "shapetracker.sharding")]
pub(crate) struct Check {
    before: shard::Sharded,
    claimed: shard::Sharded,
    answer: shard::Check,
}

#[pymethods]
impl Check {
    /// "proved", "refuted" or "undecided".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.answer {
            shard::Check::Proved => "proved",
            shard::Check::Refuted(_) => "refuted",
            _ => "undecided",
        }
    }

    fn __bool__(&self) -> bool {
        matches!(self.answer, shard::Check::Proved)
    }

    /// A device and a place in its local tensor where it holds another element than is claimed; None where it is not refuted.
    #[getter]
    fn witness(&self) -> Option<Evidence> {
        match &self.answer {
            shard::Check::Refuted(why) => Some(Evidence(why.clone())),
            _ => None,
        }
    }

    /// The answer as a sentence.
    fn __str__(&self) -> String {
        match &self.answer {
            shard::Check::Proved => format!("{} is {}", self.before, self.claimed),
            shard::Check::Refuted(why) => format!("{} is not {}: {why}", self.before, self.claimed),
            shard::Check::Undecided(why) => format!("undecided: {why}"),
            _ => "undecided".to_owned(),
        }
    }

    fn __repr__(&self) -> String {
        format!("<Check: {}>", self.kind())
    }

    fn _repr_html_(&self) -> String {
        picture::pre(&self.__str__())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let again = Bound::new(py, Sharded(self.before.clone()))?.into_any().getattr("check")?;
        (again, (Sharded(self.claimed.clone()),)).into_pyobject(py)
    }
}

/// Evidence that anyone can check: a device, and elements that it holds or should hold; `str` writes it as a sentence.
#[pyclass(frozen, eq, module = "shapetracker.sharding")]
#[derive(PartialEq, Eq)]
pub(crate) struct Evidence(shard::Witness);

#[pymethods]
impl Evidence {
    /// The coordinates of the device in the mesh.
    #[getter]
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.0.device)
    }

    /// The numbers of two elements in the device's local tensor.
    #[getter]
    fn local(&self) -> (i64, i64) {
        (self.0.local[0], self.0.local[1])
    }

    /// The positions of the two in the global tensor; None where the device holds, or should hold, no so many.
    #[getter]
    fn positions(&self) -> (Option<i64>, Option<i64>) {
        (self.0.global[0], self.0.global[1])
    }

    /// Where elements must move, the position of one that the device would need as well, and does not hold.
    #[getter]
    fn missing(&self) -> Option<i64> {
        self.0.missing
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Evidence: {}>", self.0)
    }
}

/// How many elements must move between devices.
#[pyclass(frozen, eq, module = "shapetracker.sharding")]
#[derive(PartialEq, Eq)]
pub(crate) struct Moved(shard::Moved);

impl Moved {
    fn sentence(&self) -> String {
        let plural = |count: i128| if count == 1 { "" } else { "s" };
        let (all, most) = (self.0.elements, self.0.most);
        format!("{all} element{} must move, at most {most} of them to one device", plural(all))
    }
}

#[pymethods]
impl Moved {
    /// In all.
    #[getter]
    fn elements(&self) -> i128 {
        self.0.elements
    }

    /// The most that one device receives.
    #[getter]
    fn most(&self) -> i128 {
        self.0.most
    }

    /// The coordinates of a device that receives the most.
    #[getter]
    fn device<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, &self.0.device)
    }

    fn __str__(&self) -> String {
        self.sentence()
    }

    fn __repr__(&self) -> String {
        format!("<Moved: {}>", self.sentence())
    }
}
