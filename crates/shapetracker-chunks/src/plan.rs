//! A tracker between two grids of chunks.

use std::ops::Range;
use std::sync::OnceLock;

use shapetracker::{Dims, Joined, Ranges, ShapeTracker, Undecided, View, ravel_index, unravel_index};

use crate::descent::{Descent, Keep, Level, Stopped};
use crate::error::Fault;
use crate::touch::{Found, Places};
use crate::{Error, Graph, Grid, Schedule};

/// A tracker between an array in chunks and the array that is made of it, in chunks of its own.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{ChunkPlan, Grid};
///
/// let layout = ShapeTracker::contiguous([4, 6])?.permute([1, 0])?;
/// let plan = ChunkPlan::new(&layout, Grid::regular([4, 6], [2, 6])?, Grid::regular([6, 4], [3, 4])?)?;
/// assert_eq!(plan.touched(&[(0, 3), (0, 2)])?.numbers(), [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ChunkPlan {
    tracker: ShapeTracker,
    input: Grid,
    output: Grid,
    places: Places,
    /// The input's grid, and then the views from the lowest on but for the last one.
    levels: Vec<Level>,
    /// Whether nothing is valid, or the input has no chunks.
    nothing: bool,
    graph: OnceLock<Result<Graph, Error>>,
}

/// The input chunks that a box of the output touches, by their numbers in ascending order.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{ChunkPlan, Grid};
///
/// let plan = ChunkPlan::new(&ShapeTracker::contiguous([6])?, Grid::regular([6], [2])?, Grid::whole([6])?)?;
/// let touches = plan.touched(&[(1, 3)])?;
/// assert_eq!((touches.numbers(), touches.is_exact()), (&[0, 1][..], true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touches {
    pub(crate) numbers: Vec<usize>,
    pub(crate) exact: bool,
}

impl Touches {
    /// The numbers of the chunks, in ascending order.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([6])?, Grid::regular([6], [2])?, Grid::whole([6])?)?;
    /// assert_eq!(plan.needed()?.numbers(), [0, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Whether each of them has an element of the box. Where this was not decided within a limit of work there may be chunks
    /// among them that have none; none that has one is ever missing.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([6])?, Grid::regular([6], [2])?, Grid::whole([6])?)?;
    /// assert!(plan.needed()?.is_exact());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_exact(&self) -> bool {
        self.exact
    }
}

/// The elements that a box of the output takes from one input chunk, as sections of the box. No two sections have an element
/// in common.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{ChunkPlan, Grid};
/// use shapetracker_copy::{Plan, Threads};
///
/// let layout = ShapeTracker::contiguous([4])?.flip([0])?;
/// let plan = ChunkPlan::new(&layout, Grid::regular([4], [2])?, Grid::regular([4], [3])?)?;
/// let mut output = *b"...";
/// for section in plan.piece(&[(0, 3)], 0)?.sections() {
///     let copy = Plan::new(section.tracker(), 1)?;
///     copy.read_over_bytes(b"ab", &mut output[section.bytes(1)], &Threads::one())?;
/// }
/// assert_eq!(&output, b"..b");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    sections: Vec<Section>,
}

impl Piece {
    /// The sections; none where the box takes nothing from the chunk. Move them one after the other.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert!(plan.piece(&[(0, 2)], 1)?.sections().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// How many elements the box takes from the chunk. An element that it has at several indices counts each time.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [3])?, Grid::whole([4])?)?;
    /// assert_eq!((plan.piece(&[(1, 4)], 0)?.taken(), plan.piece(&[(1, 4)], 1)?.taken()), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Cost
    /// A few operations for each section. Where a section has several views, as many as [`ShapeTracker::summaries`] takes.
    pub fn taken(&self) -> usize {
        self.sections.iter().map(Section::taken).sum()
    }
}

/// Some elements of a box that follow each other in row-major order, and the tracker from them to the memory of an input
/// chunk, in row-major order, too; masked where another section has the element, or another chunk, or none.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{ChunkPlan, Grid};
///
/// let layout = ShapeTracker::contiguous([4])?.flip([0])?;
/// let plan = ChunkPlan::new(&layout, Grid::regular([4], [2])?, Grid::regular([4], [3])?)?;
/// let piece = plan.piece(&[(0, 3)], 1)?;
/// let [section] = piece.sections() else { panic!() };
/// assert_eq!((section.elements(), section.bytes(4)), (0..2, 0..8));
/// assert!(section.tracker().addresses().eq([Some(1), Some(0)]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    start: usize,
    tracker: ShapeTracker,
}

impl Section {
    /// The tracker, of as many elements as the section has; in its shape an axis of the box may be split into several.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let columns = ShapeTracker::contiguous([3, 4])?.reshape([12])?;
    /// let plan = ChunkPlan::new(&columns, Grid::regular([3, 4], [3, 2])?, Grid::whole([12])?)?;
    /// assert_eq!(plan.piece(&[(0, 12)], 1)?.sections()[0].tracker().shape(), [3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tracker(&self) -> &ShapeTracker {
        &self.tracker
    }

    /// Which elements of the box these are, in row-major order.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.piece(&[(0, 4)], 1)?.sections()[0].elements(), 2..4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn elements(&self) -> Range<usize> {
        self.bytes(1)
    }

    /// The same in bytes, for elements of a width; what is past the range of `usize` ends there.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.piece(&[(0, 4)], 1)?.sections()[0].bytes(8), 16..32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bytes(&self, width: usize) -> Range<usize> {
        let end = self.start.saturating_add(self.tracker.numel() as usize);
        self.start.saturating_mul(width)..end.saturating_mul(width)
    }

    /// How many of the elements come from the input chunk: those that are not masked.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let columns = ShapeTracker::contiguous([3, 4])?.reshape([12])?;
    /// let plan = ChunkPlan::new(&columns, Grid::regular([3, 4], [3, 2])?, Grid::whole([12])?)?;
    /// let piece = plan.piece(&[(0, 12)], 1)?;
    /// let section = &piece.sections()[0];
    /// assert_eq!((section.elements().len(), section.taken()), (12, 6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn taken(&self) -> usize {
        if let Some(view) = self.tracker.as_view() {
            return taken_box(view).iter().map(|(begin, end)| (end - begin) as usize).product();
        }
        let all = Joined::new((0..self.tracker.shape().len()).collect::<Vec<_>>(), [0, self.tracker.numel()]);
        let fixed = Dims::from_elem(0, self.tracker.shape().len());
        match self.tracker.summaries(0, &all, &Joined::new([], [0, 1]), &fixed) {
            Ok(blocks) => blocks.iter().map(|block| block.valid() as usize).sum(),
            Err(Undecided) => self.tracker.addresses().flatten().count(),
        }
    }

    /// The elements that come from the input chunk, to hold them apart from it: a tracker of only those, in row-major
    /// order, to the memory of the chunk; and one from all elements of the section to their places among those, masked where
    /// there is none. None where the section has several views, and the elements have to be walked over.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let columns = ShapeTracker::contiguous([2, 3])?.reshape([6])?;
    /// let plan = ChunkPlan::new(&columns, Grid::regular([2, 3], [2, 2])?, Grid::whole([6])?)?;
    /// let piece = plan.piece(&[(0, 6)], 1)?;
    /// let [taken, placed] = piece.sections()[0].packed().unwrap();
    /// assert!(taken.addresses().eq([Some(0), Some(1)]));
    /// assert!(placed.addresses().eq([None, None, Some(0), None, None, Some(1)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn packed(&self) -> Option<[ShapeTracker; 2]> {
        let view = self.tracker.as_view()?;
        let ranges = taken_box(view);
        let (mut strides, mut stride) = (Dims::from_elem(0, ranges.len()), 1i64);
        for (axis, (begin, end)) in ranges.iter().enumerate().rev() {
            strides[axis] = stride;
            stride *= end - begin;
        }
        let offset = -ranges.iter().zip(&strides).map(|((begin, _), stride)| begin * stride).sum::<i64>();
        let mask = (!ranges.is_empty()).then_some(&ranges[..]);
        let placed = View::new(view.shape(), &strides, offset, mask).ok()?;
        Some([self.tracker.shrink(&ranges).ok()?, placed.into()])
    }
}

/// The indices at which a view is not masked.
fn taken_box(view: &View) -> Ranges {
    match view.mask() {
        Some(mask) => mask.into(),
        None => view.shape().iter().map(|size| (0, *size)).collect(),
    }
}

/// The most chunks of a grid that are planned at once: their numbers take some hundred megabytes.
const MOST_CHUNKS: u64 = 1 << 24;

/// The most touches of a graph, which take a gigabyte.
const MOST_TOUCHES: usize = 1 << 27;

/// Work that may be spent on the touches of one box, of a graph as a whole, and of each box where that is spent; a unit
/// takes some tenths of a microsecond.
const WORK_PER_BOX: u64 = 1 << 20;
const WORK_PER_GRAPH: u64 = 1 << 25;
const WORK_AT_LEAST: u64 = 1 << 10;

/// Chunks of which each is asked by itself where that work is too little.
const MOST_ASKED: usize = 64;

/// The most boxes of a piece, and the work to find them: where more are needed, one stack of views is moved faster.
const MOST_BOXES: usize = 128;
const WORK_PER_PIECE: u64 = 1 << 12;

impl ChunkPlan {
    /// A plan for an input and an output in chunks. The tracker's addresses are row-major positions of the input, and its
    /// shape is the output's.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let error = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::whole([4])?, Grid::whole([5])?).unwrap_err();
    /// assert_eq!(error.to_string(), "the chunks tile an array of shape (5,), but the layout's shape is (4,)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An output grid of another shape than the tracker's; a tracker that reads past the input.
    pub fn new(tracker: &ShapeTracker, input: Grid, output: Grid) -> Result<ChunkPlan, Error> {
        if tracker.shape() != output.shape() {
            return Err(Fault::Output { grid: output.shape().into(), tracker: tracker.shape().into() }.into());
        }
        let numel: i64 = View::contiguous(input.shape())?.numel();
        let outside = |(low, high): &(i64, i64)| *low < 0 || *high >= numel;
        // What the view next to memory reads, and no element of the tracker does, is of no consequence.
        if let Some(reach) = tracker.views().first().and_then(View::address_range).filter(outside)
            && let Some((low, high)) = tracker.address_range().unwrap_or(Some(reach)).filter(outside)
        {
            return Err(Fault::Input { low, high, numel }.into());
        }
        let places = Places::of(&input);
        let views = tracker.views();
        let nothing = input.is_empty() || views.iter().any(View::is_empty);
        let mut levels = vec![places.level.clone()];
        if !nothing {
            levels.extend(views[..views.len() - 1].iter().map(Level::of));
        }
        let tracker = tracker.clone();
        Ok(ChunkPlan { tracker, input, output, places, levels, nothing, graph: OnceLock::new() })
    }

    /// The tracker.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let st = ShapeTracker::contiguous([4])?;
    /// assert_eq!(ChunkPlan::new(&st, Grid::whole([4])?, Grid::whole([4])?)?.tracker(), &st);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tracker(&self) -> &ShapeTracker {
        &self.tracker
    }

    /// The input's chunks.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!((plan.input().len(), plan.output().len()), (2, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn input(&self) -> &Grid {
        &self.input
    }

    /// The output's chunks.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.output().shape(), [4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn output(&self) -> &Grid {
        &self.output
    }

    /// The input chunks that a box of the output touches: each has an element of the box, and every other has none.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let layout = ShapeTracker::contiguous([4, 6])?.reshape([24])?;
    /// let plan = ChunkPlan::new(&layout, Grid::regular([4, 6], [2, 3])?, Grid::regular([24], [3])?)?;
    /// assert_eq!(plan.touched(&[(3, 9)])?.numbers(), [0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A box that does not lie inside the output; more than 2^24 chunks.
    pub fn touched(&self, output_box: &[(i64, i64)]) -> Result<Touches, Error> {
        self.check_box(output_box)?;
        self.touched_within(output_box, &mut { WORK_PER_BOX }, true)
    }

    /// [`ChunkPlan::touched`] with a limit to the work, from which what is done is taken away; and whether to ask of single
    /// chunks where that is too little, which may take milliseconds for each.
    fn touched_within(&self, output_box: &[(i64, i64)], work: &mut u64, ask: bool) -> Result<Touches, Error> {
        let too_many = |count: u64| Fault::TooMany { what: "input", count, most: MOST_CHUNKS };
        if self.nothing || output_box.iter().any(|(begin, end)| begin == end) {
            return Ok(Touches { numbers: Vec::new(), exact: true });
        }
        let mut found = Found::new(&self.input, &self.places, MOST_CHUNKS);
        let outcome = found.search(self.top(), output_box, &self.levels, work);
        if outcome.is_ok() {
            return Ok(Touches { numbers: found.numbers, exact: true });
        }
        if found.too_many {
            return Err(too_many(self.input.len() as u64).into());
        }
        // What was found is touched, and each of the others may be: it is asked of the whole stack, if there are few.
        let count = self.input.len() as u64;
        if count > MOST_CHUNKS {
            return Err(too_many(count).into());
        }
        let known = found.numbers;
        let ask = ask && self.input.len() - known.len() <= MOST_ASKED;
        let (mut numbers, mut exact) = (Vec::new(), true);
        for number in 0..self.input.len() {
            if known.binary_search(&number).is_err() {
                match if ask { self.masked(output_box, number)?.address_range() } else { Err(Undecided) } {
                    Ok(None) => continue,
                    Ok(Some(_)) => {}
                    Err(Undecided) => exact = false,
                }
            }
            numbers.push(number);
        }
        Ok(Touches { numbers, exact })
    }

    /// The input chunks that some element of the output needs: each must be read at least once.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let rows = ShapeTracker::contiguous([4, 6])?.shrink([(1, 2), (0, 6)])?;
    /// let plan = ChunkPlan::new(&rows, Grid::regular([4, 6], [2, 3])?, Grid::whole([1, 6])?)?;
    /// assert_eq!(plan.needed()?.numbers(), [0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As for [`ChunkPlan::touched`].
    pub fn needed(&self) -> Result<Touches, Error> {
        let whole: Ranges = self.output.shape().iter().map(|size| (0, *size)).collect();
        self.touched(&whole)
    }

    /// Whether a box of the output has elements that come from no chunk: they take a fill value. Where this was not decided
    /// within a limit of work the answer is yes.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let padded = ShapeTracker::contiguous([4])?.pad([(0, 2)])?;
    /// let plan = ChunkPlan::new(&padded, Grid::regular([4], [2])?, Grid::regular([6], [4])?)?;
    /// assert!(!plan.filled(&[(0, 4)])? && plan.filled(&[(4, 6)])?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A box that does not lie inside the output.
    pub fn filled(&self, output_box: &[(i64, i64)]) -> Result<bool, Error> {
        self.check_box(output_box)?;
        if output_box.iter().any(|(begin, end)| begin == end) {
            return Ok(false);
        }
        if self.nothing {
            return Ok(true);
        }
        // The last level, that of the places, masks nothing.
        let (levels, work) = (&self.levels[1..], &mut { WORK_PER_BOX });
        let mut descent = Descent { levels, keep: Keep::Positions, work, masked: false, until_masked: true };
        Ok(descent.start(self.top(), output_box, &mut |_, _| Ok(())).is_err())
    }

    /// The elements that a box of the output takes from an input chunk.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let layout = ShapeTracker::contiguous([2, 4])?.permute([1, 0])?;
    /// let plan = ChunkPlan::new(&layout, Grid::regular([2, 4], [2, 2])?, Grid::whole([4, 2])?)?;
    /// let piece = plan.piece(&[(0, 4), (0, 2)], 1)?;
    /// assert_eq!(piece.sections()[0].elements(), 4..8);
    /// assert!(piece.sections()[0].tracker().addresses().eq([Some(0), Some(2), Some(1), Some(3)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A box that does not lie inside the output; a chunk that does not exist.
    pub fn piece(&self, output_box: &[(i64, i64)], input: usize) -> Result<Piece, Error> {
        self.check_box(output_box)?;
        let chunk = self.chunk_view(input)?;
        if self.nothing || chunk.is_empty() || output_box.iter().any(|(begin, end)| begin == end) {
            return Ok(Piece { sections: Vec::new() });
        }
        if let Some(sections) = self.boxes(output_box, &chunk) {
            return Ok(Piece { sections });
        }
        let tracker = self.masked(output_box, input)?;
        let nothing = tracker.views().iter().any(View::is_empty);
        Ok(Piece { sections: if nothing { Vec::new() } else { vec![Section { start: 0, tracker }] } })
    }

    /// Which input chunks each output chunk touches. Made when it is needed first.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let layout = ShapeTracker::contiguous([4])?.reshape([2, 2])?;
    /// let plan = ChunkPlan::new(&layout, Grid::regular([4], [3])?, Grid::regular([2, 2], [1, 2])?)?;
    /// assert_eq!(plan.graph()?.inputs_of(1), [0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// More than 2^24 output chunks, or input chunks that one of them touches; more than 2^27 touches in all.
    pub fn graph(&self) -> Result<&Graph, Error> {
        let made = self.graph.get_or_init(|| {
            let count = self.output.len() as u64;
            if count > MOST_CHUNKS {
                return Err(Fault::TooMany { what: "output", count, most: MOST_CHUNKS }.into());
            }
            let mut graph = Graph::new();
            let mut left = WORK_PER_GRAPH;
            for number in 0..self.output.len() {
                let mut work = WORK_PER_BOX.min(left.max(WORK_AT_LEAST));
                let given = work;
                let ask = given == WORK_PER_BOX;
                let touches = self.touched_within(&self.output.chunk(number)?, &mut work, ask)?;
                left = left.saturating_sub(given - work);
                graph.push(touches.numbers(), touches.is_exact());
                if graph.touches() > MOST_TOUCHES {
                    return Err(Fault::TooManyTouches { most: MOST_TOUCHES }.into());
                }
            }
            Ok(graph)
        });
        made.as_ref().map_err(Error::clone)
    }

    /// An order of reading, moving and writing in which no more than so many bytes are in memory, for elements of a width in
    /// bytes: the one with the fewest reads that was found.
    ///
    /// `at_once` is how many input chunks may be read at the same time; each of them takes memory. Only decoded chunks
    /// are counted, and what a codec takes meanwhile comes on top.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let layout = ShapeTracker::contiguous([4, 4])?.permute([1, 0])?;
    /// let rows = Grid::regular([4, 4], [1, 4])?;
    /// let plan = ChunkPlan::new(&layout, rows.clone(), rows)?;
    /// assert_eq!(plan.rounds(8 * 16, 8, 1)?.reads(), 4 + 2); // two columns at a time, and two rows are kept
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Less memory than one output chunk and one input chunk that it touches; elements of no bytes; as for
    /// [`ChunkPlan::graph`].
    pub fn rounds(&self, memory_bytes: u64, width: u64, at_once: usize) -> Result<Schedule, Error> {
        Schedule::new(self, memory_bytes, width, at_once)
    }

    /// A piece as boxes of the output's box, if few are enough: on each the address in the chunk is one view.
    fn boxes(&self, output_box: &[(i64, i64)], chunk: &View) -> Option<Vec<Section>> {
        let mut levels: Vec<Level> = vec![Level::of(chunk)];
        levels.extend_from_slice(&self.levels[1..]);
        let work = &mut { WORK_PER_PIECE };
        let mut descent = Descent { levels: &levels, keep: Keep::Indices, work, masked: false, until_masked: false };
        let mut sections = Vec::new();
        let outcome = descent.start(self.top(), output_box, &mut |_, part| {
            if sections.len() == MOST_BOXES {
                return Err(Stopped);
            }
            let part = part.sliced();
            let address = levels[0].address(&part);
            let mask: Ranges = part.lows.iter().zip(&part.counts).map(|(low, count)| (*low, low + count)).collect();
            // An index at which there is one value takes no step.
            let step = |axis: usize| if part.counts[axis] > 1 { address.steps[axis] } else { 0 };
            let strides: Dims = (0..mask.len()).map(step).collect();
            let offset = mask
                .iter()
                .zip(&strides)
                .fold(address.base, |offset, ((low, _), stride)| offset.wrapping_sub(low.wrapping_mul(*stride)));
            let mask = (!mask.is_empty()).then_some(&mask[..]);
            let view = View::new(&part.shape, &strides, offset, mask).map_err(|_| Stopped)?;
            sections.push(Section { start: part.start as usize, tracker: view.into() });
            Ok(())
        });
        outcome.is_ok().then_some(sections)
    }

    /// How many chunks a box touches, if that takes little work.
    pub(crate) fn count_quickly(&self, region: &[(i64, i64)]) -> Option<usize> {
        if self.nothing {
            return Some(0);
        }
        let mut found = Found::new(&self.input, &self.places, 1 << 16);
        let outcome = found.search(self.top(), region, &self.levels, &mut { 1 << 12 });
        outcome.is_ok().then_some(found.numbers.len())
    }

    /// The index of some valid element, if one is found.
    pub(crate) fn some_element(&self) -> Option<Dims> {
        if self.nothing {
            return None;
        }
        let whole: Ranges = self.output.shape().iter().map(|size| (0, *size)).collect();
        let (levels, work) = (&self.levels[1..], &mut { WORK_PER_BOX });
        let mut descent = Descent { levels, keep: Keep::Indices, work, masked: false, until_masked: false };
        let mut element = None;
        // The first part that arrives is enough.
        let _ = descent.start(self.top(), &whole, &mut |_, part| {
            // Axes may be split, which leaves the position of an element as it was.
            let position = ravel_index(&part.lows, &part.shape);
            element = position.and_then(|position| unravel_index(part.start + position, self.output.shape()));
            Err(Stopped)
        });
        element
    }

    /// The view whose indices are the output's.
    fn top(&self) -> &View {
        let views = self.tracker.views();
        &views[views.len() - 1]
    }

    fn check_box(&self, output_box: &[(i64, i64)]) -> Result<(), Error> {
        let shape = self.output.shape();
        if output_box.len() != shape.len() {
            return Err(Fault::Ranges { rank: shape.len(), given: output_box.len() }.into());
        }
        for (axis, (&(begin, end), &size)) in output_box.iter().zip(shape).enumerate() {
            if begin < 0 || begin > end || end > size {
                return Err(Fault::Range { axis, begin, end, size }.into());
            }
        }
        Ok(())
    }

    /// The view of the input's shape that reads one chunk's memory, and is masked outside of the chunk.
    fn chunk_view(&self, input: usize) -> Result<View, Error> {
        let ranges = self.input.chunk(input)?;
        let (mut strides, mut stride) = (Dims::from_elem(0, ranges.len()), 1i64);
        for (axis, (begin, end)) in ranges.iter().enumerate().rev() {
            strides[axis] = stride;
            stride *= end - begin;
        }
        let offset: i64 = -ranges.iter().zip(&strides).map(|((begin, _), stride)| begin * stride).sum::<i64>();
        // A scalar has no axis to be masked along.
        let mask = (!ranges.is_empty()).then_some(&ranges[..]);
        Ok(View::new(self.input.shape(), &strides, offset, mask)?)
    }

    /// The tracker of a box of the output, masked to one input chunk.
    fn masked(&self, output_box: &[(i64, i64)], input: usize) -> Result<ShapeTracker, Error> {
        Ok(ShapeTracker::from(self.chunk_view(input)?).compose(&self.tracker.shrink(output_box)?)?)
    }
}

#[cfg(test)]
mod tests {
    use shapetracker::Chain;

    use super::*;

    /// However little work there is, no chunk that is touched is missing.
    #[test]
    fn too_little_work_leaves_a_superset() {
        let (mut some_inexact, mut some_asked) = (false, false);
        for (text, chunk) in [
            ("(30, 42).permute(1, 0).reshape(28, 45).permute(1, 0)", &[5, 5][..]),
            ("(35, 36).permute(1, 0).reshape(1260).pad((3, 4)).reshape(7, 181).flip(0)", &[10, 11]),
            ("(24, 50).permute(1, 0).reshape(40, 30).permute(1, 0).reshape(1200).step(7)", &[1, 3]),
        ] {
            let tracker = text.parse::<Chain>().unwrap().tracker().unwrap();
            let shape: Vec<i64> =
                text[1..text.find(')').unwrap()].split(", ").map(|size| size.parse().unwrap()).collect();
            let output = Grid::whole(tracker.shape()).unwrap();
            let plan = ChunkPlan::new(&tracker, Grid::regular(shape, chunk).unwrap(), output).unwrap();
            for part in 1..5 {
                let region: Ranges = tracker.shape().iter().map(|size| (size / 6, size * part / 4)).collect();
                let all = plan.touched(&region).unwrap();
                assert!(all.is_exact());
                for work in (0..61).chain([100, 200, 400]) {
                    let some = plan.touched_within(&region, &mut { work }, work % 2 == 0).unwrap();
                    assert!(all.numbers().iter().all(|number| some.numbers().contains(number)), "{text} {region:?}");
                    assert!(!some.is_exact() || some == all, "{text} {region:?}");
                    some_inexact |= !some.is_exact();
                    some_asked |= work == 0 && some.is_exact();
                }
            }
        }
        assert!(some_inexact && some_asked, "{some_inexact} {some_asked}");
    }
}
