//! Arrays in chunks: which chunks of an array a chunk of a tracker's tensor takes elements from, and putting it together.
//!
//! `python/shapetracker/_chunks.py` is what calls this.

use std::sync::Mutex;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyTuple};
use shapetracker::{Chain, ChainStart, Dims, Ranges};
use shapetracker_chunks::{ChunkPlan as ChunkedPlan, Grid, Piece, Step, choose_output_around};
use shapetracker_copy::{Plan, Threads};

use crate::arguments::{described, items, number, numbers_of, pairs_of, tuple};
use crate::array::view_in_elements;
use crate::error::{layout, parse};
use crate::memory::{Layout, Memory, write_again};
use crate::numpy::NumPy;
use crate::route::moving;
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
    part: Part,
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
        let part = Part::new(tracker, shape, r#box)?;
        let fill = fill.as_bytes();
        let numpy = NumPy::import(py).ok_or_else(|| PyRuntimeError::new_err(format!("{OP}: needs NumPy")))?;
        let array = numpy.zeros(tuple(py, part.tracker.shape())?, &format!("V{}", fill.len()))?;
        if fill.iter().any(|&byte| byte != 0) {
            write_again(&array, |room| {
                py.detach(|| room.chunks_exact_mut(fill.len()).for_each(|element| element.copy_from_slice(fill)));
                Ok(())
            })?;
        }
        let array = Mutex::new(Some(array.unbind()));
        Ok(Assembly { part, width: fill.len(), array })
    }

    /// Moves the elements that are in a chunk of the array: an array of NumPy's, and the box of indices that it has.
    fn take(&self, py: Python<'_>, r#box: &Bound<'_, PyAny>, chunk: &Bound<'_, PyAny>) -> PyResult<()> {
        let place: Ranges = pairs_of::<i64>(OP, |_| None, r#box)?;
        let (memory, strided) = self.part.chunk(&place, chunk, self.width)?;
        let mut moves = Vec::new();
        for section in self.part.piece(&place)?.sections() {
            moves.push((section.bytes(self.width), strided.compose(section.tracker()).map_err(|err| layout(&err))?));
        }
        let source = memory.bytes();
        self.write(py, |room| {
            moves.iter().try_for_each(|(bytes, part)| {
                Plan::new(part, self.width)?.read_over_bytes(source, &mut room[bytes.clone()], &Threads::one())
            })
        })
    }

    /// Moves elements that `cut` took out of the chunk with the same box.
    fn put(&self, py: Python<'_>, r#box: &Bound<'_, PyAny>, packed: &Bound<'_, PyAny>) -> PyResult<()> {
        let place: Ranges = pairs_of::<i64>(OP, |_| None, r#box)?;
        let piece = self.part.piece(&place)?;
        let memory = memory_of(packed)?;
        if memory.layout != Layout::new(self.width as i64, Dims::from_elem(piece.taken() as i64, 1), None)? {
            let sentence =
                format!("{OP}: what was cut from the chunk at {place:?} is to be {} elements", piece.taken());
            return Err(PyValueError::new_err(sentence));
        }
        let mut packed = memory.bytes();
        self.write(py, |room| {
            for section in piece.sections() {
                let (these, rest) = packed.split_at(section.taken() * self.width);
                let room = &mut room[section.bytes(self.width)];
                match section.packed() {
                    Some([_, placed]) => {
                        Plan::new(&placed, self.width)?.read_over_bytes(these, room, &Threads::one())?;
                    }
                    None => {
                        let all = section.tracker().addresses().zip(room.chunks_exact_mut(self.width));
                        let taken = all.filter_map(|(address, element)| address.map(|_| element));
                        for (element, from) in taken.zip(these.chunks_exact(self.width)) {
                            element.copy_from_slice(from);
                        }
                    }
                }
                packed = rest;
            }
            Ok(())
        })
    }

    /// The chunk, as an array of NumPy's; nothing can be taken any more.
    fn finish(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let mut array = self.array.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner());
        array.take().ok_or_else(|| PyRuntimeError::new_err(format!("{OP}: the chunk is finished")))
    }
}

impl Assembly {
    /// Writes into the chunk, which must not be finished.
    fn write(
        &self,
        py: Python<'_>,
        write: impl FnOnce(&mut [u8]) -> Result<(), shapetracker_copy::Error> + Send,
    ) -> PyResult<()> {
        let array = self.array.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner());
        let Some(array) = array.as_ref() else {
            return Err(PyRuntimeError::new_err(format!("{OP}: the chunk is finished")));
        };
        write_again(array.bind(py), |room| moving(py, false, || write(room)))
    }
}

/// The elements that the part of a tracker's tensor in a box takes from the chunk of an array in another box, one after the other,
/// for `Assembly.put`: an array of NumPy's with one axis.
#[pyfunction]
pub(crate) fn cut(
    py: Python<'_>,
    tracker: &ShapeTracker,
    shape: &Bound<'_, PyAny>,
    r#box: &Bound<'_, PyAny>,
    place: &Bound<'_, PyAny>,
    chunk: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    let part = Part::new(tracker, shape, r#box)?;
    let place: Ranges = pairs_of::<i64>(OP, |_| None, place)?;
    let width = memory_of(chunk)?.layout.width as usize;
    let (memory, strided) = part.chunk(&place, chunk, width)?;
    let piece = part.piece(&place)?;
    let numpy = NumPy::import(py).ok_or_else(|| PyRuntimeError::new_err(format!("{OP}: needs NumPy")))?;
    let array = numpy.zeros(tuple(py, &[piece.taken() as i64])?, &format!("V{width}"))?;
    let mut moves = Vec::new();
    for section in piece.sections() {
        let taken = section.packed().map(|[taken, _]| taken);
        let from = strided.compose(taken.as_ref().unwrap_or(section.tracker())).map_err(|err| layout(&err))?;
        moves.push((section.taken() * width, from, taken.is_some()));
    }
    let source = memory.bytes();
    write_again(&array, |room| {
        moving(py, false, || {
            let mut room = room;
            for (bytes, from, all) in &moves {
                let (these, rest) = std::mem::take(&mut room).split_at_mut(*bytes);
                if *all {
                    Plan::new(from, width)?.read_over_bytes(source, these, &Threads::one())?;
                } else {
                    for (element, address) in these.chunks_exact_mut(width).zip(from.addresses().flatten()) {
                        element.copy_from_slice(&source[address as usize * width..][..width]);
                    }
                }
                room = rest;
            }
            Ok(())
        })
    })?;
    Ok(array.unbind())
}

/// The memory of a chunk.
fn memory_of<'py>(chunk: &Bound<'py, PyAny>) -> PyResult<Memory<'py>> {
    let no_array = || PyTypeError::new_err(format!("{OP}: a chunk is to be an array, not {}", described(chunk)));
    Memory::of_buffer(chunk)?.ok_or_else(no_array)
}

/// A box of a tracker's tensor, and the shape of the array that the tracker is over.
struct Part {
    /// From the indices of the box to row-major positions in the array.
    tracker: shapetracker::ShapeTracker,
    shape: Dims,
}

impl Part {
    fn new(tracker: &ShapeTracker, shape: &Bound<'_, PyAny>, r#box: &Bound<'_, PyAny>) -> PyResult<Part> {
        let tracker = tracker.numbers(OP)?.shrink(pairs_of::<i64>(OP, |_| None, r#box)?).map_err(|err| layout(&err))?;
        Ok(Part { tracker, shape: numbers_of(OP, shape)? })
    }

    /// The memory of a chunk of the array, which must be as the array says, and where its elements lie there.
    fn chunk<'py>(
        &self,
        place: &Ranges,
        chunk: &Bound<'py, PyAny>,
        width: usize,
    ) -> PyResult<(Memory<'py>, shapetracker::ShapeTracker)> {
        let sizes: Dims = place.iter().map(|(begin, end)| end - begin).collect();
        let memory = memory_of(chunk)?;
        if memory.layout.shape != sizes || memory.layout.width != width as i64 {
            let sentence = format!(
                "{OP}: the chunk at {place:?} is to have the shape {sizes:?} and elements of {width} bytes, but it has {:?} \
                 and {}; the array's chunks are not as it says",
                memory.layout.shape, memory.layout.width
            );
            return Err(PyValueError::new_err(sentence));
        }
        let strided = view_in_elements(OP, &memory.layout)?.into();
        Ok((memory, strided))
    }

    /// The elements that the box takes from a box of the array.
    fn piece(&self, place: &Ranges) -> PyResult<Piece> {
        self.cut_around(place).map_err(|err| fault(&err))
    }

    fn cut_around(&self, place: &Ranges) -> Result<Piece, shapetracker_chunks::Error> {
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

    /// How many elements a chunk of the tensor takes from each of these, in the same order.
    fn taken_of(&self, py: Python<'_>, output: usize) -> PyResult<Vec<usize>> {
        let inputs = self.inputs_of(output)?;
        let taken: Result<Vec<usize>, shapetracker_chunks::Error> = py.detach(|| {
            let region = self.0.output().chunk(output)?;
            inputs.iter().map(|input| Ok(self.0.piece(&region, *input)?.taken())).collect()
        });
        taken.map_err(|err| fault(&err))
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
/// `regular`. They may have `most` elements where windows would have to be cut otherwise. `given` has an entry for each axis: the
/// sizes of its chunks, or None where they are to be chosen.
#[pyfunction]
pub(crate) fn choose_chunks<'py>(
    tracker: &Bound<'py, ShapeTracker>,
    input: &Bound<'py, PyAny>,
    target: i64,
    most: i64,
    given: Vec<Option<Vec<i64>>>,
    regular: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = tracker.py();
    let (layout, input) = (tracker.get().numbers("choose_chunks")?, grid(input)?);
    let chosen =
        py.detach(|| choose_output_around(layout, &input, target, most, &given, regular)).map_err(|err| fault(&err))?;
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
