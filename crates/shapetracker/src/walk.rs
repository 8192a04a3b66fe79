//! Every address of a tracker in order, fast: runs of equally spaced addresses instead of one index at a time.

use crate::{ShapeTracker, View};

/// Addresses `first, first + step, ..`, or as many masked elements.
///
/// ```
/// use shapetracker::{Run, ShapeTracker};
///
/// let st = ShapeTracker::contiguous([3])?.pad([(1, 0)])?.flip([0])?;
/// let mut runs = Vec::new();
/// st.runs(|run| runs.push(run));
/// let data = Run { first: 2, step: -1, count: 3, valid: true };
/// assert_eq!(runs, [data, Run { first: -1, step: 0, count: 1, valid: false }]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first address; -1 where masked.
    pub first: i64,
    /// From one address to the next; 0 where masked.
    pub step: i64,
    /// How many elements there are, never none.
    pub count: i64,
    /// Whether they have addresses, as opposed to being masked.
    pub valid: bool,
}

impl Run {
    fn masked(count: i64) -> Run {
        Run { first: -1, step: 0, count, valid: false }
    }
}

/// Lines of elements of one tracker, each with its addresses.
///
/// ```
/// use shapetracker::{Lines, ShapeTracker};
///
/// let st = ShapeTracker::contiguous([3, 4])?.permute([1, 0])?;
/// let mut firsts = Vec::new();
/// Lines::of(&st, 0).follow(&[1, 0], 1, 2, 2, |run| firsts.push((run.first, run.step, run.count)));
/// assert_eq!(firsts, [(1, 8, 2)]); // the elements [1, 0] and [1, 2]
/// # Ok::<(), shapetracker::Error>(())
/// ```
pub struct Lines<'a> {
    last: &'a View,
    under: Vec<Level>,
}

impl<'a> Lines<'a> {
    /// The lines of a tracker as far as its view number `lowest`: the addresses are positions among the elements of
    /// the view under that one, or in memory, where `lowest` is 0. With more than there are it is the last view.
    pub fn of(tracker: &'a ShapeTracker, lowest: usize) -> Lines<'a> {
        let views = tracker.views();
        let last = views.len() - 1;
        Lines { last: &views[last], under: views[lowest.min(last)..last].iter().map(Level::of).collect() }
    }

    /// The elements `index`, and then every `step`-th along an axis, `count` of them; a negative step goes back. An index
    /// outside the shape counts as masked; an axis that does not exist, or a negative number of elements, as no elements.
    ///
    /// Cost: a division an axis and view for each run, whatever the number of elements in it.
    pub fn follow(&self, index: &[i64], axis: usize, step: i64, count: i64, mut emit: impl FnMut(Run)) {
        let mut emit = |run: Run| {
            if run.count > 0 {
                emit(run);
            }
        };
        if index.len() != self.last.rank() || axis >= index.len() {
            return;
        }
        let mut address = self.last.offset();
        let mut valid = true;
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
            _ if !valid || self.last.is_empty() => (0, 0),
            0.. => (before(begin), before(end)),
            _ => (before(end), before(begin)),
        };
        if first >= past {
            return emit(Run::masked(count));
        }
        let stride = self.last.strides()[axis].wrapping_mul(step);
        let start = address.wrapping_add(stride.wrapping_mul(first));
        emit(Run::masked(first));
        descend(&self.under, Run { first: start, step: stride, count: past - first, valid: true }, &mut emit);
        emit(Run::masked(count - past));
    }
}

impl ShapeTracker {
    /// Calls `emit` with the addresses of all elements in row-major order, as runs of equally spaced ones.
    ///
    /// This is what [`ShapeTracker::addresses`] gives, but many times faster. Cost: a division an axis and view for each
    /// run, and an addition for each axis of the tensor.
    pub fn runs(&self, mut emit: impl FnMut(Run)) {
        walk(self.views(), &mut |run: Run| {
            if run.count > 0 {
                emit(run);
            }
        });
    }
}

/// Calls `emit` with the addresses of all elements of a stack of views in row-major order; the first view is next to
/// memory, and each later one reads inside the one before it.
fn walk(views: &[View], emit: &mut impl FnMut(Run)) {
    let Some((last, under)) = views.split_last() else { return };
    if last.is_empty() {
        return emit(Run::masked(last.numel()));
    }
    let levels: Vec<Level> = under.iter().map(Level::of).collect();
    let level = Level::of(last);
    // Axes stand innermost first; without any there is one element.
    let (inner, outer) = level.axes.split_first().map_or((Axis::ONE, &[][..]), |(inner, outer)| (*inner, outer));
    let mut index = vec![0; outer.len()];
    loop {
        let masked = index.iter().zip(outer).any(|(&i, axis)| i < axis.begin || i >= axis.end);
        if masked {
            emit(Run::masked(inner.size));
        } else {
            // In the order of the sum the address of index 0 may leave the range, though that of a valid one does not.
            let start = index
                .iter()
                .zip(outer)
                .fold(level.offset.wrapping_add(inner.begin.wrapping_mul(inner.stride)), |address, (&i, axis)| {
                    address.wrapping_add(axis.stride.wrapping_mul(i))
                });
            emit(Run::masked(inner.begin));
            descend(
                &levels,
                Run { first: start, step: inner.stride, count: inner.end - inner.begin, valid: true },
                emit,
            );
            emit(Run::masked(inner.size - inner.end));
        }
        // The odometer: the innermost of the outer axes turns first.
        let Some(turned) = index.iter().zip(outer).position(|(&i, axis)| i + 1 < axis.size) else { return };
        index[..turned].fill(0);
        index[turned] += 1;
    }
}

/// Takes a run of positions through the levels under it, the last of which it enters.
fn descend(levels: &[Level], run: Run, emit: &mut impl FnMut(Run)) {
    let Some((level, under)) = levels.split_last() else { return emit(run) };
    if level.empty {
        return emit(Run::masked(run.count));
    }
    // The positions move along one axis as long as they stay on it: inner axes are those that whole steps run over.
    let (mut moving, mut speed) = (level.axes.len(), 0);
    if run.step != 0 {
        speed = run.step;
        moving = 0;
        while moving < level.axes.len() && speed % level.axes[moving].size == 0 {
            speed /= level.axes[moving].size;
            moving += 1;
        }
    }
    let (mut position, mut left) = (run.first, run.count);
    while left > 0 {
        let (mut rest, mut address, mut valid, mut digit) = (position, level.offset, true, 0);
        for (number, axis) in level.axes.iter().enumerate() {
            let i = rest % axis.size;
            rest /= axis.size;
            address = address.wrapping_add(i.wrapping_mul(axis.stride));
            if number == moving {
                digit = i;
            } else {
                valid &= axis.begin <= i && i < axis.end;
            }
        }
        let (mut count, mut before, mut inside, mut step) = (left, 0, left, 0);
        if let Some(axis) = level.axes.get(moving) {
            // How many steps are made below each bound: before the valid range, before its end, before the axis ends.
            let steps = |bound: i64| {
                let gap = if speed > 0 { bound - digit } else { digit - bound };
                let size = speed.saturating_abs();
                if gap <= 0 { 0 } else { gap / size + i64::from(gap % size != 0) }
            };
            let (begin, end, last) =
                if speed > 0 { (axis.begin, axis.end, axis.size) } else { (axis.end - 1, axis.begin - 1, -1) };
            count = steps(last).min(left);
            before = steps(begin).min(count);
            inside = steps(end).min(count) - before;
            step = axis.stride.wrapping_mul(speed);
        }
        if valid {
            emit(Run::masked(before));
            let first = address.wrapping_add(step.wrapping_mul(before));
            descend(under, Run { first, step, count: inside, valid: true }, emit);
            emit(Run::masked(count - before - inside));
        } else {
            emit(Run::masked(count));
        }
        position = position.wrapping_add(run.step.wrapping_mul(count));
        left -= count;
    }
}

/// A view with neighbouring axes joined where they are one as far as addresses go.
struct Level {
    /// The axes, innermost first; none of size 1.
    axes: Vec<Axis>,
    offset: i64,
    empty: bool,
}

#[derive(Clone, Copy)]
struct Axis {
    size: i64,
    stride: i64,
    begin: i64,
    end: i64,
}

impl Axis {
    const ONE: Axis = Axis { size: 1, stride: 0, begin: 0, end: 1 };

    fn is_full(&self) -> bool {
        self.begin == 0 && self.end == self.size
    }
}

impl Level {
    fn of(view: &View) -> Level {
        let mut axes: Vec<Axis> = Vec::with_capacity(view.rank());
        for axis in (0..view.rank()).rev() {
            let (size, stride) = (view.shape()[axis], view.strides()[axis]);
            let (begin, end) = view.mask().map_or((0, size), |mask| mask[axis]);
            let outer = Axis { size, stride, begin, end };
            match axes.last_mut() {
                _ if size == 1 => {}
                Some(inner)
                    if inner.is_full() && outer.is_full() && inner.stride.checked_mul(inner.size) == Some(stride) =>
                {
                    inner.size *= size;
                    inner.end = inner.size;
                }
                _ => axes.push(outer),
            }
        }
        Level { axes, offset: view.offset(), empty: view.is_empty() }
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

    fn listed(runs: &[Run]) -> Vec<Option<i64>> {
        let elements = |run: &Run| {
            let run = *run;
            (0..run.count).map(move |k| run.valid.then(|| run.first + k * run.step))
        };
        runs.iter().flat_map(elements).collect()
    }

    #[test]
    fn runs_are_the_addresses() {
        for chain in CHAINS {
            let tracker: ShapeTracker = chain.parse().unwrap();
            let mut runs = Vec::new();
            tracker.runs(|run| runs.push(run));
            assert_eq!(listed(&runs), tracker.addresses().collect::<Vec<_>>(), "{chain}");
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
                let mut runs = Vec::new();
                Lines::of(&tracker, lowest).follow(&index, axis, step, count, |run| runs.push(run));
                let expected: Vec<_> = (0..count)
                    .map(|_| {
                        let address = above.address(&index);
                        index[axis] += step;
                        address
                    })
                    .collect();
                assert_eq!(listed(&runs), expected, "{chain} {index:?} {axis} {step}");
            }
        }
    }
}
