//! Every address of a tracker in order, fast: runs of equally spaced addresses instead of one index at a time.

use std::iter;

use smallvec::SmallVec;

use crate::merge::level::{Digit, Level};
use crate::shape::resolve_axis;
use crate::{ShapeTracker, View};

/// Some elements, one after the other: equally spaced addresses, or no addresses at all.
///
/// ```
/// use shapetracker::{AddressRun, ShapeTracker};
///
/// let st = ShapeTracker::contiguous([3])?.pad([(1, 0)])?.flip([0])?;
/// let runs: Vec<AddressRun> = st.runs().collect();
/// assert_eq!(runs, [AddressRun::Valid { first: 2, step: -1, count: 3 }, AddressRun::Masked { count: 1 }]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressRun {
    /// Elements at the addresses `first, first + step, ..`.
    Valid {
        /// The address of the first element.
        first: i64,
        /// From the address of an element to that of the next one: negative, 0 or positive.
        step: i64,
        /// How many elements there are, never none.
        count: i64,
    },
    /// Masked elements.
    Masked {
        /// How many elements there are, never none.
        count: i64,
    },
}

impl AddressRun {
    /// How many elements there are, never none.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([2])?.pad([(0, 3)])?;
    /// assert_eq!(st.runs().map(|run| run.count()).sum::<i64>(), 5);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn count(&self) -> i64 {
        match *self {
            AddressRun::Valid { count, .. } | AddressRun::Masked { count } => count,
        }
    }

    /// The address of each element in turn, `None` where it is masked.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([4])?.step([2])?.pad([(1, 0)])?;
    /// let addresses: Vec<_> = st.runs().flat_map(|run| run.addresses()).collect();
    /// assert_eq!(addresses, [None, Some(0), Some(2)]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn addresses(&self) -> impl Iterator<Item = Option<i64>> + use<> {
        let run = *self;
        // What is past the last element may be past `i64`.
        (0..run.count()).map(move |k| match run {
            AddressRun::Valid { first, step, .. } => Some(first.wrapping_add(step.wrapping_mul(k))),
            AddressRun::Masked { .. } => None,
        })
    }
}

/// Lines of elements of one tracker, each with its addresses.
///
/// ```
/// use shapetracker::{AddressLines, AddressRun, ShapeTracker};
///
/// let st = ShapeTracker::contiguous([3, 4])?.permute([1, 0])?;
/// let lines = AddressLines::of(&st, 0);
/// let line: Vec<AddressRun> = lines.follow(&[1, 0], 1, 2, 2).collect();
/// assert_eq!(line, [AddressRun::Valid { first: 1, step: 8, count: 2 }]); // the elements [1, 0] and [1, 2]
/// # Ok::<(), shapetracker::Error>(())
/// ```
pub struct AddressLines<'a> {
    last: &'a View,
    under: Under,
}

impl<'a> AddressLines<'a> {
    /// The lines of a tracker as far as its view number `lowest`: the addresses are positions among the elements of
    /// the view under that one, or in memory, where `lowest` is 0. With more than there are it is the last view.
    ///
    /// ```
    /// use shapetracker::{AddressLines, AddressRun, ShapeTracker};
    ///
    /// let st = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([6])?;
    /// let positions: Vec<AddressRun> = AddressLines::of(&st, 1).follow(&[2], 0, 1, 4).collect();
    /// assert_eq!(positions, [AddressRun::Valid { first: 2, step: 1, count: 4 }]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn of(tracker: &'a ShapeTracker, lowest: usize) -> AddressLines<'a> {
        let views = tracker.views();
        let last = views.len() - 1;
        AddressLines { last: &views[last], under: Under::of(&views[lowest.min(last)..last]) }
    }

    /// The elements `index`, and then every `step`-th along an axis, `count` of them; a negative step goes back, and a
    /// negative axis counts from the last one. An index outside the shape counts as masked. An axis that does not exist,
    /// an index of another rank and a negative number of elements count as no elements.
    ///
    /// Cost: one division per axis and view for each run, whatever the number of elements in it.
    ///
    /// ```
    /// use shapetracker::{AddressLines, AddressRun, ShapeTracker};
    ///
    /// let st = ShapeTracker::contiguous([4])?;
    /// let line: Vec<AddressRun> = AddressLines::of(&st, 0).follow(&[1], -1, -1, 3).collect();
    /// assert_eq!(line, [AddressRun::Valid { first: 1, step: -1, count: 2 }, AddressRun::Masked { count: 1 }]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn follow(
        &self,
        index: &[i64],
        axis: i64,
        step: i64,
        count: i64,
    ) -> impl Iterator<Item = AddressRun> + use<'_, 'a> {
        let mut descent = self.line(index, axis, step, count);
        iter::from_fn(move || descent.next(&self.under))
    }

    /// A line that is still to be taken down.
    fn line(&self, index: &[i64], axis: i64, step: i64, count: i64) -> Descent {
        let mut descent = Descent::default();
        let Ok(axis) = resolve_axis("follow", axis, self.last.rank()) else { return descent };
        if index.len() != self.last.rank() || count <= 0 {
            return descent;
        }
        let mut address = self.last.offset();
        let mut valid = !self.last.is_empty();
        for (other, (&i, &stride)) in index.iter().zip(self.last.strides()).enumerate() {
            let (begin, end) = self.last.range(other);
            valid &= other == axis || (begin <= i && i < end);
            address = address.wrapping_add(i.wrapping_mul(stride));
        }
        let (begin, end) = self.last.range(axis);
        // How many of the elements are met before a bound of the axis is passed.
        let before = |bound: i64| {
            let (gap, step) = (i128::from(bound) - i128::from(index[axis]), i128::from(step));
            let steps = match step {
                1.. => (gap.max(0) + step - 1) / step,
                0 if gap > 0 => i128::from(count),
                0 => 0,
                _ if gap > 0 => 0,
                _ => gap / step + 1,
            };
            steps.min(count.into()) as i64
        };
        let (first, past) = match step {
            _ if !valid => (0, 0),
            0.. => (before(begin), before(end)),
            _ => (before(end), before(begin)),
        };
        if first >= past {
            descent.mask(count);
            return descent;
        }
        let stride = self.last.strides()[axis].wrapping_mul(step);
        let start = address.wrapping_add(stride.wrapping_mul(first));
        descent.mask(count - past);
        descent.enter(&self.under, self.under.levels.len(), start, stride, past - first);
        descent.mask(first);
        descent
    }
}

impl ShapeTracker {
    /// The addresses of all elements in row-major order, as runs of equally spaced ones.
    ///
    /// This is what [`ShapeTracker::addresses`] gives, but many times faster. Cost: one division per axis and view for
    /// each run, and an addition for each axis of the tensor. Where one run ends and the next begins is not promised.
    ///
    /// ```
    /// use shapetracker::{AddressRun, ShapeTracker};
    ///
    /// let st = ShapeTracker::contiguous([2, 3])?.permute([1, 0])?;
    /// let firsts: Vec<i64> = st.runs().flat_map(|run| run.addresses().next()).flatten().collect();
    /// assert_eq!(firsts, [0, 1, 2]); // three runs of two elements each
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn runs(&self) -> impl Iterator<Item = AddressRun> + use<> {
        self.runs_from(0)
    }

    /// The addresses of all elements from one on, given by its place in row-major order; none from past the last on.
    ///
    /// So several can walk over a tensor, each from the start of its part. Cost: as for [`ShapeTracker::runs`], and one
    /// division for each axis of the tensor.
    ///
    /// ```
    /// use shapetracker::{AddressRun, ShapeTracker};
    ///
    /// let st = ShapeTracker::contiguous([2, 3])?.permute([1, 0])?;
    /// let second_half: Vec<Option<i64>> = st.runs_from(3).flat_map(|run| run.addresses()).collect();
    /// assert_eq!(second_half, [Some(4), Some(2), Some(5)]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn runs_from(&self, position: i64) -> impl Iterator<Item = AddressRun> + use<> {
        let mut rows = Rows::of(self.views(), position.max(0));
        iter::from_fn(move || rows.next())
    }
}

/// [`ShapeTracker::runs`] of a stack of views that fit together, which need not be the fewest.
pub(crate) fn runs_of(views: &[View]) -> impl Iterator<Item = AddressRun> + use<> {
    let mut rows = Rows::of(views, 0);
    iter::from_fn(move || rows.next())
}

/// The rows of the last view of a stack, and how far they have been walked.
struct Rows {
    under: Under,
    descent: Descent,
    /// The address of the last view at index 0, by the affine formula.
    offset: i64,
    /// The axis along which a row goes.
    inner: Digit,
    /// The other axes, innermost first, and the index on them.
    outer: SmallVec<[Digit; 8]>,
    index: SmallVec<[i64; 8]>,
    /// Where on the axis of the rows the next row begins: at 0, but for the row in which the walk begins.
    begin: i64,
    /// Whether the row at `index` is the next one, or was the last.
    more: bool,
}

impl Rows {
    /// From some position on, which is not negative.
    fn of(views: &[View], position: i64) -> Rows {
        let mut rows = Rows {
            under: Under::default(),
            descent: Descent::default(),
            offset: 0,
            inner: Digit::ZERO,
            outer: SmallVec::new(),
            index: SmallVec::new(),
            begin: 0,
            more: false,
        };
        let Some((last, under)) = views.split_last() else { return rows };
        if last.is_empty() {
            rows.descent.mask(last.numel() - position.min(last.numel()));
            return rows;
        }
        let Level { digits, offset, .. } = Level::of(last);
        // Joined masked axes may leave an offset past `i64`, though the address of a valid element is not.
        rows.offset = offset as i64;
        if let Some((inner, outer)) = digits.split_first() {
            (rows.inner, rows.outer) = (*inner, outer.into());
        }
        rows.begin = position % rows.inner.size;
        rows.index = rows.outer.iter().map(|axis| position / axis.weight % axis.size).collect();
        rows.under = Under::of(under);
        rows.more = position < last.numel();
        rows
    }

    fn next(&mut self) -> Option<AddressRun> {
        loop {
            if let Some(run) = self.descent.next(&self.under) {
                return Some(run);
            }
            if !self.more {
                return None;
            }
            let row = self.row();
            self.turn();
            if row.is_some() {
                return row;
            }
        }
    }

    /// The next row. The odometer: the innermost of the outer axes turns first.
    fn turn(&mut self) {
        self.begin = 0;
        match self.index.iter().zip(&self.outer).position(|(&i, axis)| i + 1 < axis.size) {
            Some(turned) => {
                self.index[..turned].fill(0);
                self.index[turned] += 1;
            }
            None => self.more = false,
        }
    }

    /// The row at the index, if it is one run, which most rows of a single view are; else it is put into the descent.
    fn row(&mut self) -> Option<AddressRun> {
        let inner = self.inner;
        let (begin, end) = (inner.begin.max(self.begin), inner.end.max(self.begin));
        let mut valid = true;
        // In the order of the sum the address of index 0 may leave the range, though that of a valid one does not.
        let mut start = self.offset.wrapping_add(begin.wrapping_mul(inner.stride));
        for (&i, axis) in self.index.iter().zip(&self.outer) {
            valid &= axis.begin <= i && i < axis.end;
            start = start.wrapping_add(axis.stride.wrapping_mul(i));
        }
        if !valid {
            return Some(AddressRun::Masked { count: inner.size - self.begin });
        }
        if self.under.levels.is_empty() && !self.under.nothing && !inner.is_masked() {
            return Some(AddressRun::Valid { first: start, step: inner.stride, count: end - begin });
        }
        self.descent.mask(inner.size - end);
        self.descent.enter(&self.under, self.under.levels.len(), start, inner.stride, end - begin);
        self.descent.mask(begin - self.begin);
        None
    }
}

/// The views under the one whose elements are walked over.
#[derive(Default)]
struct Under {
    /// The first is next to memory.
    levels: Vec<Level>,
    /// Whether one of them has nothing valid. Then they have no levels.
    nothing: bool,
}

impl Under {
    fn of(views: &[View]) -> Under {
        let nothing = views.iter().any(View::is_empty);
        Under { levels: if nothing { Vec::new() } else { views.iter().map(Level::of).collect() }, nothing }
    }
}

/// Runs on their way down to memory, the next one last.
#[derive(Default)]
struct Descent {
    waiting: SmallVec<[Waiting; 4]>,
}

/// A run on its way down.
enum Waiting {
    Masked { count: i64 },
    Positions(Positions),
}

/// Equally spaced positions among the elements of a level: at least one.
struct Positions {
    /// How many levels they have yet to go through; with 0 they are addresses.
    depth: usize,
    first: i64,
    step: i64,
    count: i64,
    /// The digit of the level in which they move, counted from the innermost, and how far one step moves it. The digits
    /// inside it stay as they are, because the step is a multiple of their sizes. Without such a digit they stay put.
    moving: usize,
    speed: i64,
}

impl Descent {
    fn mask(&mut self, count: i64) {
        if count > 0 {
            self.waiting.push(Waiting::Masked { count });
        }
    }

    /// Puts positions on their way through the lowest `depth` levels.
    fn enter(&mut self, under: &Under, depth: usize, first: i64, step: i64, count: i64) {
        if under.nothing {
            return self.mask(count);
        }
        if count <= 0 {
            return;
        }
        let (mut moving, mut speed) = (0, step);
        if let Some(level) = depth.checked_sub(1).map(|below| &under.levels[below]) {
            moving = level.digits.len();
            if step != 0 {
                let stays = |digit: &&Digit| {
                    let stays = speed % digit.size == 0;
                    if stays {
                        speed /= digit.size;
                    }
                    stays
                };
                moving = level.digits.iter().take_while(stays).count();
            }
        }
        self.waiting.push(Waiting::Positions(Positions { depth, first, step, count, moving, speed }));
    }

    fn next(&mut self, under: &Under) -> Option<AddressRun> {
        loop {
            match self.waiting.pop()? {
                Waiting::Masked { count } => return Some(AddressRun::Masked { count }),
                Waiting::Positions(Positions { depth: 0, first, step, count, .. }) => {
                    return Some(AddressRun::Valid { first, step, count });
                }
                Waiting::Positions(positions) => self.through(under, positions),
            }
        }
    }

    /// Takes positions through one level, as far as they move along one digit of it; the others wait.
    fn through(&mut self, under: &Under, positions: Positions) {
        let Positions { depth, first, step, count: left, moving, speed } = positions;
        let level = &under.levels[depth - 1];
        let (mut address, mut valid, mut at, mut number) = (level.offset as i64, true, 0, 0);
        level.each_digit(first, |digit, value| {
            address = address.wrapping_add(value.wrapping_mul(digit.stride));
            if number == moving {
                at = value;
            } else {
                valid &= digit.begin <= value && value < digit.end;
            }
            number += 1;
            true
        });
        let (mut count, mut before, mut inside, mut stride) = (left, 0, left, 0);
        if let Some(digit) = level.digits.get(moving) {
            // How many steps are made below each bound: before the valid range, before its end, before the digit ends.
            let steps = |bound: i64| {
                let gap = if speed > 0 { bound - at } else { at - bound };
                let size = speed.saturating_abs();
                if gap <= 0 { 0 } else { gap / size + i64::from(gap % size != 0) }
            };
            let (begin, end, last) =
                if speed > 0 { (digit.begin, digit.end, digit.size) } else { (digit.end - 1, digit.begin - 1, -1) };
            count = steps(last).min(left);
            before = steps(begin).min(count);
            inside = steps(end).min(count) - before;
            stride = digit.stride.wrapping_mul(speed);
        }
        if left > count {
            let first = first.wrapping_add(step.wrapping_mul(count));
            self.waiting.push(Waiting::Positions(Positions { first, count: left - count, ..positions }));
        }
        if valid {
            self.mask(count - before - inside);
            self.enter(under, depth - 1, address.wrapping_add(stride.wrapping_mul(before)), stride, inside);
            self.mask(before);
        } else {
            self.mask(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::unravel;
    use crate::tests::Rng;

    const CHAINS: [&str; 18] = [
        "(3, 2).permute(1, 0).reshape(3, 2)",
        "()",
        "(2, 0, 3)",
        "(4, 6).pad((1, 2), (0, 3)).permute(1, 0).reshape(3, 21).flip(1)",
        "(5, 4).permute(1, 0).reshape(20).pad((3, 4)).reshape(9, 3).permute(1, 0).reshape(27).step(-2)",
        "(2, 3, 4).permute(2, 0, 1).reshape(4, 6).expand(4, 6).flip(0).reshape(24)",
        "(1, 4).expand(3, 4).step(1, -2).reshape(6).pad((1, 1))",
        "(16).as_strided((4, 3), (3, 2), 1).reshape(2, 6).permute(1, 0).reshape(12)",
        "(0, 3)",
        "(4, 6).permute(1, 0).reshape(24).flip(0)",
        "(5, 7).permute(1, 0).reshape(35).pad((3, 4)).reshape(6, 7).permute(1, 0)",
        "(5, 7).permute(1, 0).reshape(35).step(-4).pad((1, 1)).reshape(11).step(2)",
        "(3, 4, 5).permute(2, 0, 1).reshape(60).pad((2, 2)).reshape(8, 8).flip(0).permute(1, 0).reshape(64).step(-3)",
        "(2, 3).permute(1, 0).reshape(6).pad((1, 2)).reshape(3, 3).permute(1, 0).reshape(9).reshape(9, 1).expand(9, 4)",
        "(4, 5).pad((1, 1), (2, 2)).reshape(54).shrink((3, 51)).reshape(6, 8).flip(1).reshape(48).step(5)",
        "(6, 6).permute(1, 0).reshape(36).as_strided((9, 9), (3, 1), 1).flip(0, 1)",
        "(6, 6).permute(1, 0).reshape(36).as_strided((3, 2, 4), (12, 3, 2), 0).permute(2, 1, 0)",
        "(7, 5).pad((0, 1), (2, 0)).flip(0).reshape(56).shrink((3, 51)).reshape(6, 8)",
    ];

    /// The addresses of runs, none of which is empty.
    fn listed(runs: impl Iterator<Item = AddressRun>) -> Vec<Option<i64>> {
        runs.inspect(|run| assert!(run.count() > 0)).flat_map(|run| run.addresses()).collect()
    }

    #[test]
    fn runs_are_the_addresses() {
        for chain in CHAINS {
            let tracker: ShapeTracker = chain.parse().unwrap();
            assert_eq!(listed(tracker.runs()), tracker.addresses().collect::<Vec<_>>(), "{chain}");
        }
    }

    #[test]
    fn runs_from_an_element_on_are_the_addresses_from_there_on() {
        for chain in CHAINS {
            let tracker: ShapeTracker = chain.parse().unwrap();
            let all: Vec<_> = tracker.addresses().collect();
            for position in 0..all.len() + 2 {
                let expected = all.get(position..).unwrap_or_default();
                assert_eq!(listed(tracker.runs_from(position as i64)), expected, "{chain} from {position} on");
            }
            assert_eq!(listed(tracker.runs_from(i64::MIN)), all, "{chain}");
            assert_eq!(tracker.runs_from(i64::MAX).next(), None, "{chain}");
        }
    }

    #[test]
    fn lines_are_the_addresses_of_their_elements() {
        let mut rng = Rng(7);
        for chain in CHAINS {
            let tracker: ShapeTracker = chain.parse().unwrap();
            for _ in 0..if tracker.rank() == 0 || tracker.numel() == 0 { 0 } else { 100 } {
                let mut index = unravel(rng.below(tracker.numel() as u64) as i64, tracker.shape());
                let axis = rng.below(tracker.rank() as u64) as usize;
                let (step, count) = (rng.below(7) as i64 - 3, rng.below(9) as i64);
                let lowest = rng.below(tracker.views().len() as u64) as usize;
                let above = ShapeTracker::from_views(tracker.views()[lowest..].iter().cloned()).unwrap();
                let lines = AddressLines::of(&tracker, lowest);
                let found = listed(lines.follow(&index, axis as i64, step, count));
                let expected: Vec<_> = (0..count)
                    .map(|_| {
                        let address = above.address(&index);
                        index[axis] += step;
                        address
                    })
                    .collect();
                assert_eq!(found, expected, "{chain} {index:?} {axis} {step}");
            }
        }
    }
}
