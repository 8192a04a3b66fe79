//! An order of reading, moving and writing under a limit of memory.

use crate::error::Fault;
use crate::{ChunkPlan, Error};

/// One step of a schedule. What is listed in one step may happen at the same time, and the next step begins when it is
/// done.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{ChunkPlan, Grid, Step};
///
/// let grid = Grid::whole([4])?;
/// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, grid.clone(), grid)?;
/// let steps = [
///     Step::Open(vec![0]),
///     Step::Read(vec![0]),
///     Step::Move(vec![(0, 0)]),
///     Step::Forget(vec![0]),
///     Step::Write(vec![0]),
/// ];
/// assert_eq!(plan.rounds(1000, 1, 1)?.steps(), steps);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Get memory for these output chunks, with the fill value where [`ChunkPlan::filled`] says that they need it.
    Open(Vec<usize>),
    /// Read these input chunks whole.
    Read(Vec<usize>),
    /// Move pieces: pairs of an output chunk and an input chunk that is in memory, in the order of the output chunks. Two
    /// pieces of one output chunk have no element in common, and yet they write into the same memory.
    Move(Vec<(usize, usize)>),
    /// Let go of these input chunks.
    Forget(Vec<usize>),
    /// Write these output chunks, which are complete, and let go of them.
    Write(Vec<usize>),
}

/// An order of reading, moving and writing, and what it costs.
///
/// The output chunks are made in rounds: those of one round are held in memory together, while every input chunk that
/// they touch is read once, if it is not still in memory.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{ChunkPlan, Grid};
///
/// let layout = ShapeTracker::contiguous([4, 4])?.permute([1, 0])?;
/// let plan = ChunkPlan::new(&layout, Grid::regular([4, 4], [2, 2])?, Grid::regular([4, 4], [2, 2])?)?;
/// let schedule = plan.rounds(1000, 4, 1)?;
/// assert_eq!((schedule.reads(), schedule.lower_bound(), schedule.read_bytes()), (4, 4, 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    steps: Vec<Step>,
    untouched: Vec<usize>,
    rounds: usize,
    reads: usize,
    lower_bound: usize,
    read_bytes: u64,
    peak_bytes: u64,
    largest_task: u64,
}

impl Schedule {
    pub(crate) fn new(plan: &ChunkPlan, memory: u64, width: u64, _at_once: usize) -> Result<Schedule, Error> {
        if width == 0 {
            return Err(Fault::Width.into());
        }
        let graph = plan.graph()?;
        let mut schedule = Schedule {
            steps: Vec::new(),
            untouched: Vec::new(),
            rounds: 0,
            reads: 0,
            lower_bound: plan.needed()?.numbers().len(),
            read_bytes: 0,
            peak_bytes: 0,
            largest_task: 0,
        };
        for output in 0..graph.outputs() {
            let inputs = graph.inputs_of(output);
            if inputs.is_empty() {
                schedule.untouched.push(output);
                continue;
            }
            schedule.steps.push(Step::Open(vec![output]));
            schedule.rounds += 1;
            let held = plan.output().numel(output) as u64 * width;
            let mut task = held;
            for input in inputs {
                let bytes = plan.input().numel(*input) as u64 * width;
                if held + bytes > memory {
                    return Err(Fault::Memory { allowed: memory, output: held, input: bytes }.into());
                }
                task += bytes;
                schedule.reads += 1;
                schedule.read_bytes += bytes;
                schedule.peak_bytes = schedule.peak_bytes.max(held + bytes);
                schedule.steps.push(Step::Read(vec![*input]));
                schedule.steps.push(Step::Move(vec![(output, *input)]));
                schedule.steps.push(Step::Forget(vec![*input]));
            }
            schedule.largest_task = schedule.largest_task.max(task);
            schedule.steps.push(Step::Write(vec![output]));
        }
        Ok(schedule)
    }

    /// The steps, in order.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid, Step};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// let reads = plan.rounds(1000, 1, 1)?.steps().iter().filter(|step| matches!(step, Step::Read(_))).count();
    /// assert_eq!(reads, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The output chunks that touch no input chunk, in ascending order: all fill value. No step mentions them.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let padded = ShapeTracker::contiguous([4])?.pad([(4, 0)])?;
    /// let plan = ChunkPlan::new(&padded, Grid::whole([4])?, Grid::regular([8], [4])?)?;
    /// assert_eq!(plan.rounds(1000, 1, 1)?.untouched(), [0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn untouched(&self) -> &[usize] {
        &self.untouched
    }

    /// How many rounds there are.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::whole([4])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(1000, 1, 1)?.rounds(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// How many times an input chunk is read.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(1000, 1, 1)?.reads(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reads(&self) -> usize {
        self.reads
    }

    /// The input chunks that some output chunk touches: no order has fewer reads.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(1000, 1, 1)?.lower_bound(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lower_bound(&self) -> usize {
        self.lower_bound
    }

    /// How many bytes of input chunks are read.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(1000, 8, 1)?.read_bytes(), 32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// The most bytes of chunks that are in memory at the same time.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(6, 1, 1)?.peak_bytes(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// The bytes of the output chunk that has the most of them together with all input chunks that it touches: what one task
    /// per output chunk takes.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::whole([4])?)?;
    /// assert_eq!(plan.rounds(6, 1, 1)?.largest_task(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn largest_task(&self) -> u64 {
        self.largest_task
    }
}
