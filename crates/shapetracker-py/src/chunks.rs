//! Arrays in chunks: which chunks of an array a chunk of a tracker's tensor takes elements from, and putting it together.
//!
//! `python/shapetracker/_chunks.py` is what calls this.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyTuple};
use shapetracker::{Chain, ChainStart, Dims, Ranges};
use shapetracker_chunks::{ChunkPlan as ChunkedPlan, Grid, Piece, Step, choose_output, choose_regular_output};
use shapetracker_copy::{Plan, Threads};

use crate::arguments::{described, items, number, numbers_of, pairs_of, tuple};
use crate::array::view_in_elements;
use crate::error::{layout, parse};
use crate::memory::{Memory, write_again};
use crate::numpy::NumPy;
use crate::route::copying;
use crate::tracker::ShapeTracker;

/// The operation that errors here are of.
const OP: &str = "apply";

/// The tracker over the elements of an array that a text means: a chain with a start of its own, or one whose array, with any
/// name or none, stands for this one, of which only the shape is given. What copies in it moves nothing more: the tracker reads
/// the elements of the array whatever is copied.
#[pyfunction]
pub(crate) fn chain_over(py: Python<'_>, text: &str, shape: &Bound<'_, PyAny>) -> PyResult<ShapeTracker> {
    let shape = numbers_of(OP, shape)?;
    let (chain, wrong) = Chain::read_from(text, Some(&shape));
    if let Some(wrong) = wrong {
        return Err(parse(py, text, &wrong));
    }
    let made = match chain.start() {
        ChainStart::Nothing => chain.tracker_from(&shape),
        _ => chain.tracker(),
    };
    made.map(ShapeTracker::from).map_err(|err| parse(py, text, &err.into()))
}

/// A chunk of a tracker's tensor while it is put together from chunks of an array.
///
/// Its elements are bytes of one width; what they mean is the caller's. Several threads may bring chunks at the same time:
/// they take turns. Nobody else has the array before `finish`.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Assembly {
    /// From the indices of the chunk to row-major positions in the array.
    tracker: shapetracker::ShapeTracker,
    /// The shape of the array.
    shape: Dims,
    width: usize,
    array: Mutex<Option<Py<PyAny>>>,
}

#[pymethods]
impl Assembly {
    /// The part of a tracker's tensor in a box, with `fill` everywhere; `shape` is that of the array that the tracker is over.
    #[new]
    fn new(
        py: Python<'_>,
        tracker: &ShapeTracker,
        shape: &Bound<'_, PyAny>,
        r#box: &Bound<'_, PyAny>,
        fill: &Bound<'_, PyBytes>,
    ) -> PyResult<Assembly> {
        let tracker = tracker.numbers(OP)?.shrink(pairs_of::<i64>(OP, |_| None, r#box)?).map_err(|err| layout(&err))?;
        let fill = fill.as_bytes();
        let numpy = NumPy::import(py).ok_or_else(|| PyRuntimeError::new_err(format!("{OP}: needs NumPy")))?;
        let array = numpy.zeros(tuple(py, tracker.shape())?, &format!("V{}", fill.len()))?;
        if fill.iter().any(|&byte| byte != 0) {
            write_again(&array, |room| {
                py.detach(|| room.chunks_exact_mut(fill.len()).for_each(|element| element.copy_from_slice(fill)));
                Ok(())
            })?;
        }
        let array = Mutex::new(Some(array.unbind()));
        Ok(Assembly { tracker, shape: numbers_of(OP, shape)?, width: fill.len(), array })
    }

    /// Moves the elements that are in a chunk of the array: an array of NumPy's, and the box of indices that it has.
    fn take(&self, py: Python<'_>, r#box: &Bound<'_, PyAny>, chunk: &Bound<'_, PyAny>) -> PyResult<()> {
        let place: Ranges = pairs_of::<i64>(OP, |_| None, r#box)?;
        let sizes: Dims = place.iter().map(|(begin, end)| end - begin).collect();
        let no_array = || PyTypeError::new_err(format!("{OP}: a chunk is to be an array, not {}", described(chunk)));
        let memory = Memory::of_buffer(chunk)?.ok_or_else(no_array)?;
        if memory.layout.shape != sizes || memory.layout.width != self.width as i64 {
            let sentence = format!(
                "{OP}: the chunk at {place:?} is to have the shape {sizes:?} and elements of {} bytes, but it has {:?} \
                 and {}; the array's chunks are not as it says",
                self.width, memory.layout.shape, memory.layout.width
            );
            return Err(PyValueError::new_err(sentence));
        }
        let strided = shapetracker::ShapeTracker::from(view_in_elements(OP, &memory.layout)?);
        let mut parts = Vec::new();
        for section in self.piece(&place).map_err(|err| fault(&err))?.sections() {
            parts.push((section.bytes(self.width), strided.compose(section.tracker()).map_err(|err| layout(&err))?));
        }
        let array = self.array.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(array) = array.as_ref() else {
            return Err(PyRuntimeError::new_err(format!("{OP}: the chunk is finished")));
        };
        let source = memory.bytes();
        let move_all = |room: &mut [u8]| {
            parts.iter().try_for_each(|(bytes, part)| {
                Plan::new(part, self.width)?.read_over_bytes(source, &mut room[bytes.clone()], &Threads::one())
            })
        };
        write_again(array.bind(py), |room| {
            let moved = py.detach(|| catch_unwind(AssertUnwindSafe(|| move_all(room))));
            moved.map_err(|_| PyRuntimeError::new_err(format!("{OP}: a fault of this library, please report it")))
        })?
        .map_err(|err| copying(&err))
    }

    /// The chunk, as an array of NumPy's; nothing can be taken any more.
    fn finish(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut array = self.array.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner());
        array.take().ok_or_else(|| PyRuntimeError::new_err(format!("{OP}: the chunk is finished")))
    }
}

impl Assembly {
    /// The elements that the chunk takes from a box of the array.
    fn piece(&self, place: &Ranges) -> Result<Piece, shapetracker_chunks::Error> {
        // The array as cut before and after the box: a plan costs nothing but for what is asked of it.
        let (mut cuts, mut at) = (Vec::new(), Dims::new());
        for (&(begin, end), &size) in place.iter().zip(&self.shape) {
            at.push((begin > 0).into());
            cuts.push([begin, end - begin, size - end].into_iter().filter(|&part| part > 0).collect::<Dims>());
        }
        let input = Grid::new(cuts)?;
        let number = input.number(&at).unwrap_or(usize::MAX);
        let whole: Ranges = self.tracker.shape().iter().map(|&size| (0, size)).collect();
        ChunkedPlan::new(&self.tracker, input, Grid::whole(self.tracker.shape())?)?.piece(&whole, number)
    }
}

/// How the chunks of a tracker's tensor come from the chunks of an array.
///
/// Chunks are numbered in row-major order of their grid, and each axis is given as the list of its chunks' sizes.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct ChunkPlan(ChunkedPlan);

#[pymethods]
impl ChunkPlan {
    /// A tracker over an array that is cut as `input`, with its own tensor cut as `output`. All touches are found here.
    #[new]
    fn new(
        py: Python<'_>,
        tracker: &ShapeTracker,
        input: &Bound<'_, PyAny>,
        output: &Bound<'_, PyAny>,
    ) -> PyResult<ChunkPlan> {
        let (input, output) = (grid(input)?, grid(output)?);
        let tracker = tracker.numbers("ChunkPlan")?;
        let made = py.detach(|| {
            let plan = ChunkedPlan::new(tracker, input, output)?;
            plan.graph()?;
            Ok(plan)
        });
        made.map(ChunkPlan).map_err(|err: shapetracker_chunks::Error| fault(&err))
    }

    /// The numbers of the array's chunks that a chunk of the tensor takes elements from, ascending.
    fn inputs_of(&self, output: usize) -> PyResult<Vec<usize>> {
        let graph = self.0.graph().map_err(|err| fault(&err))?;
        if output >= graph.outputs() {
            return Err(PyValueError::new_err(format!("chunk {output} does not exist: there are {}", graph.outputs())));
        }
        Ok(graph.inputs_of(output).to_vec())
    }

    /// How many chunks of the array have an element that the tensor has.
    fn needed(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| self.0.needed()).map(|touches| touches.numbers().len()).map_err(|err| fault(&err))
    }

    /// An order of reading, moving and writing with at most so many bytes in memory, for elements of a width in bytes, with
    /// `at_once` chunks of the array read at a time.
    fn schedule(&self, py: Python<'_>, memory: u64, width: u64, at_once: usize) -> PyResult<Schedule> {
        py.detach(|| self.0.rounds(memory, width, at_once)).map(Schedule).map_err(|err| fault(&err))
    }
}

/// An order of reading chunks, moving their elements, and writing chunks, with few reads under a limit of memory.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Schedule(shapetracker_chunks::Schedule);

#[pymethods]
impl Schedule {
    /// The steps in order: what to do, one of "open", "read", "move", "forget" and "write", and the chunks to do it with. For
    /// "move" these are pairs of a chunk of the tensor and one of the array. What is in one step may be done at the same time.
    #[getter]
    fn steps<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
        let step = |step: &Step| {
            Ok(match step {
                Step::Open(chunks) => ("open", chunks.into_pyobject(py)?),
                Step::Read(chunks) => ("read", chunks.into_pyobject(py)?),
                Step::Move(pairs) => ("move", pairs.into_pyobject(py)?),
                Step::Forget(chunks) => ("forget", chunks.into_pyobject(py)?),
                Step::Write(chunks) => ("write", chunks.into_pyobject(py)?),
            })
        };
        self.0.steps().iter().map(step).collect()
    }

    /// The chunks of the tensor that take no element: no step has them.
    #[getter]
    fn untouched(&self) -> Vec<usize> {
        self.0.untouched().to_vec()
    }

    /// In how many rounds chunks of the tensor are in memory together.
    #[getter]
    fn rounds(&self) -> usize {
        self.0.rounds()
    }

    /// How many times a chunk of the array is read.
    #[getter]
    fn reads(&self) -> usize {
        self.0.reads()
    }

    /// How many bytes they have together.
    #[getter]
    fn read_bytes(&self) -> u64 {
        self.0.read_bytes()
    }

    /// The most bytes of chunks that are in memory at the same time.
    #[getter]
    fn peak_bytes(&self) -> u64 {
        self.0.peak_bytes()
    }
}

/// For each axis of a tracker's tensor the sizes of its chunks, chosen so that chunks have about `target` elements and come
/// from few chunks of the array, which is cut as `input`. All along an axis have one size, but for the last, if they are to be
/// `regular`.
#[pyfunction]
pub(crate) fn choose_chunks<'py>(
    tracker: &Bound<'py, ShapeTracker>,
    input: &Bound<'py, PyAny>,
    target: i64,
    regular: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = tracker.py();
    let (layout, input) = (tracker.get().numbers("choose_chunks")?, grid(input)?);
    let choose = if regular { choose_regular_output } else { choose_output };
    let chosen = py.detach(|| choose(layout, &input, target)).map_err(|err| fault(&err))?;
    let axes = (0..layout.rank()).map(|axis| tuple(py, &chosen.sizes(axis).collect::<Dims>()));
    PyTuple::new(py, axes.collect::<PyResult<Vec<_>>>()?)
}

/// A grid from the sizes of its chunks for each axis.
fn grid(sizes: &Bound<'_, PyAny>) -> PyResult<Grid> {
    let axes = items(OP, "lists of the sizes of chunks", sizes)?;
    let lists = axes.map(|axis| {
        let sizes = items(OP, "the sizes of chunks", &axis?)?;
        sizes.map(|size| number(OP, || "the size of a chunk".into(), &size?)).collect::<PyResult<Vec<i64>>>()
    });
    Grid::new(lists.collect::<PyResult<Vec<_>>>()?).map_err(|err| fault(&err))
}

fn fault(err: &shapetracker_chunks::Error) -> PyErr {
    PyValueError::new_err(err.to_string())
}
