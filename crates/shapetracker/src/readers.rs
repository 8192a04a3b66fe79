//! Which elements read an address: the inverse image of an address under a stack of views.

use shapetracker_base::int::{div_ceil, div_floor, gcd};

use crate::merge::Undecided;
use crate::{Dims, ShapeTracker, View};

/// How many steps a search may take before the first reader is found.
const MOST_STEPS: usize = 1 << 21;
/// How many more steps each reader that is found allows: more than the depth of any ordinary search, so that a tracker
/// of which every step finds a reader is searched to its end.
const STEPS_PER_READER: usize = 1 << 8;

impl ShapeTracker {
    /// The indices of all elements that read an address, each once, in no particular order.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    ///
    /// // Windows of three elements: address 2 is read by the first, the second and the third.
    /// let windows = ShapeTracker::contiguous([6])?.as_strided([4, 3], [1, 1], 0)?;
    /// let mut readers = windows.readers(2).collect::<Result<Vec<_>, _>>()?;
    /// readers.sort();
    /// assert_eq!(readers.iter().map(|index| &index[..]).collect::<Vec<_>>(), [[0, 2], [1, 1], [2, 0]]);
    ///
    /// // The cost does not depend on the sizes: one row in 2^40 is found without a walk.
    /// let matrix = ShapeTracker::contiguous([1 << 40, 4])?.permute([1, 0])?;
    /// let reader = matrix.readers(4_000_000_001).next().unwrap()?;
    /// assert_eq!(reader[..], [1, 1_000_000_000]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The iterator ends with [`Undecided`] where the search reaches its work limit: there may be more readers than those
    /// that it has yielded. Otherwise it has yielded all of them.
    ///
    /// # Cost
    /// Each view is searched axis by axis, the one with the longest stride first; an entry is tried only where the axes
    /// after it can still make up the rest of the address, by their range and by the greatest common divisor of their
    /// strides. Where every stride is longer than all that the later ones add up to, that leaves one entry per axis. The
    /// work limit is 2^21 entries and 2^8 more for each reader.
    pub fn readers(&self, address: i64) -> Readers<'_> {
        self.readers_within(address, MOST_STEPS)
    }

    /// [`ShapeTracker::readers`] under another work limit.
    pub(crate) fn readers_within(&self, address: i64, steps: usize) -> Readers<'_> {
        let levels: Vec<Level<'_>> = self.views().iter().map(Level::of).collect();
        let indices = levels.iter().map(|level| Dims::from_elem(0, level.axes.len())).collect();
        let mut readers = Readers { levels, indices, tried: Vec::new(), steps, found: false };
        // What a view without valid elements reads, no element reads through it.
        if !self.views().iter().any(View::is_empty) {
            readers.enter(0, address.into());
        }
        readers
    }
}

/// The elements that read an address, by [`ShapeTracker::readers`].
///
/// ```
/// let st = shapetracker::ShapeTracker::contiguous([2, 1])?.expand([2, 3])?;
/// assert_eq!(st.readers(1).count(), 3);
/// assert_eq!(st.readers(2).count(), 0);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Readers<'a> {
    /// The views, the first next to memory.
    levels: Vec<Level<'a>>,
    /// For each view the entries that have been chosen.
    indices: Vec<Dims>,
    /// The axes whose entries are being tried: a search in depth, without recursion.
    tried: Vec<Tried>,
    steps: usize,
    /// Whether an element is complete in `indices` and waits to be yielded.
    found: bool,
}

/// An axis of a view, and which of its entries are still to be tried.
#[derive(Clone, Debug)]
struct Tried {
    level: usize,
    /// The place of the axis in the order of the search.
    at: usize,
    /// What this axis and those after it must add up to.
    rest: i128,
    next: i128,
    last: i128,
}

impl Readers<'_> {
    /// Begins the search for the elements of a view that read an address.
    fn enter(&mut self, level: usize, address: i128) {
        let offset = self.levels[level].view.offset();
        self.descend(level, 0, address - i128::from(offset));
    }

    /// Goes on with an axis of a view, given what it and the later ones must add up to.
    fn descend(&mut self, level: usize, at: usize, rest: i128) {
        let here = &self.levels[level];
        let (low, high) = here.reach[at];
        // Every sum of these axes differs from the lowest one by a multiple of the divisor.
        if rest < low || rest > high || (here.divisor[at] != 0 && (rest - low) % here.divisor[at] != 0) {
            return;
        }
        let Some(&Axis { stride, begin, end, .. }) = here.axes.get(at) else {
            let position = ravel(&self.indices[level], here.view.shape());
            if level + 1 < self.levels.len() {
                self.enter(level + 1, position);
            } else {
                self.found = true;
            }
            return;
        };
        // The entries whose multiple of the stride leaves something that the later axes can add up to.
        let (low, high) = here.reach[at + 1];
        let (first, last) = match stride {
            0 => (begin, end - 1),
            1.. => (div_ceil(rest - high, stride), div_floor(rest - low, stride)),
            _ => (div_ceil(low - rest, -stride), div_floor(high - rest, -stride)),
        };
        self.tried.push(Tried { level, at, rest, next: first.max(begin), last: last.min(end - 1) });
    }
}

impl Iterator for Readers<'_> {
    type Item = Result<Dims, Undecided>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if std::mem::take(&mut self.found) {
                self.steps = self.steps.saturating_add(STEPS_PER_READER);
                return self.indices.last().cloned().map(Ok);
            }
            let tried = self.tried.last_mut()?;
            if tried.next > tried.last {
                self.tried.pop();
                continue;
            }
            let Some(steps) = self.steps.checked_sub(1) else {
                self.tried.clear();
                return Some(Err(Undecided));
            };
            self.steps = steps;
            let Tried { level, at, rest, next: entry, .. } = *tried;
            tried.next += 1;
            let Axis { axis, stride, .. } = self.levels[level].axes[at];
            // An entry lies inside its axis, and the size of that fits.
            self.indices[level][axis] = entry as i64;
            self.descend(level, at + 1, rest - entry * stride);
        }
    }
}

impl std::iter::FusedIterator for Readers<'_> {}

/// A view with its axes in the order of the search, the longest stride first.
#[derive(Clone, Debug)]
struct Level<'a> {
    view: &'a View,
    axes: Vec<Axis>,
    /// The smallest and the largest sum of the axes from each on.
    reach: Vec<(i128, i128)>,
    /// What every sum of the axes from each on differs by from the smallest: a multiple of this.
    divisor: Vec<i128>,
}

/// An axis of a view: its stride, and the half-open range of its valid entries.
#[derive(Clone, Copy, Debug)]
struct Axis {
    axis: usize,
    stride: i128,
    begin: i128,
    end: i128,
}

impl<'a> Level<'a> {
    fn of(view: &'a View) -> Level<'a> {
        let mut axes: Vec<Axis> = Vec::with_capacity(view.rank());
        for (axis, &stride) in view.strides().iter().enumerate() {
            let (begin, end) = view.range(axis);
            let place = axes.partition_point(|other| other.stride.abs() >= i128::from(stride).abs());
            axes.insert(place, Axis { axis, stride: stride.into(), begin: begin.into(), end: end.into() });
        }
        let (mut reach, mut divisor) = (vec![(0, 0); axes.len() + 1], vec![0; axes.len() + 1]);
        for (at, &Axis { stride, begin, end, .. }) in axes.iter().enumerate().rev() {
            let (a, b) = (stride * begin, stride * (end - 1));
            reach[at] = (reach[at + 1].0 + a.min(b), reach[at + 1].1 + a.max(b));
            divisor[at] = if end - begin > 1 { gcd(divisor[at + 1], stride.abs()) } else { divisor[at + 1] };
        }
        Level { view, axes, reach, divisor }
    }
}

/// The row-major position of an index inside a shape.
fn ravel(index: &[i64], shape: &[i64]) -> i128 {
    index.iter().zip(shape).fold(0, |position, (&i, &size)| position * i128::from(size) + i128::from(i))
}
