//! Which input chunks each output chunk touches.

/// Which input chunks each output chunk touches, by their numbers: one list after the other.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker_chunks::{ChunkPlan, Grid};
///
/// let turned = ShapeTracker::contiguous([4])?.flip([0])?;
/// let plan = ChunkPlan::new(&turned, Grid::regular([4], [2])?, Grid::regular([4], [3])?)?;
/// let graph = plan.graph()?;
/// assert_eq!((graph.inputs_of(0), graph.inputs_of(1)), (&[0, 1][..], &[0][..]));
/// assert!(graph.is_exact());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Where the list of each output chunk begins, and the end of the last one.
    starts: Vec<usize>,
    inputs: Vec<usize>,
    exact: bool,
}

impl Graph {
    pub(crate) fn new() -> Graph {
        Graph { starts: vec![0], inputs: Vec::new(), exact: true }
    }

    /// Adds the next output chunk.
    pub(crate) fn push(&mut self, inputs: &[usize], exact: bool) {
        self.inputs.extend_from_slice(inputs);
        self.starts.push(self.inputs.len());
        self.exact &= exact;
    }

    /// The numbers of the input chunks that an output chunk touches, in ascending order; none for a chunk that does not
    /// exist, and for one that is all masked.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let padded = ShapeTracker::contiguous([4])?.pad([(0, 4)])?;
    /// let plan = ChunkPlan::new(&padded, Grid::regular([4], [2])?, Grid::regular([8], [4])?)?;
    /// assert_eq!(plan.graph()?.inputs_of(1), [0usize; 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inputs_of(&self, output: usize) -> &[usize] {
        match self.starts.get(output..).unwrap_or(&[]) {
            [start, end, ..] => &self.inputs[*start..*end],
            _ => &[],
        }
    }

    /// How many output chunks there are.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let grid = Grid::regular([4], [2])?;
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, grid.clone(), grid)?;
    /// assert_eq!((plan.graph()?.outputs(), plan.graph()?.touches()), (2, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn outputs(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many pairs there are of an output chunk and an input chunk that it touches: the reads of one task per output chunk
    /// without anything shared.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let plan = ChunkPlan::new(&ShapeTracker::contiguous([4])?, Grid::regular([4], [2])?, Grid::regular([4], [3])?)?;
    /// assert_eq!(plan.graph()?.touches(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn touches(&self) -> usize {
        self.inputs.len()
    }

    /// Whether each pair was proved; otherwise there may be pairs that have no element in common, but none is missing.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_chunks::{ChunkPlan, Grid};
    ///
    /// let grid = Grid::regular([4], [2])?;
    /// assert!(ChunkPlan::new(&ShapeTracker::contiguous([4])?, grid.clone(), grid)?.graph()?.is_exact());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    pub(crate) fn inputs(&self) -> &[usize] {
        &self.inputs
    }
}
