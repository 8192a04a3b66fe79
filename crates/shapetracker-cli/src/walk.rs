//! Every address of a tracker in order, fast: runs of equally spaced addresses instead of one index at a time.

use shapetracker::View;

/// Addresses `first, first + step, ..`, or as many masked elements.
pub(crate) struct Run {
    pub(crate) first: i64,
    pub(crate) step: i64,
    pub(crate) count: i64,
}

impl Run {
    /// Masked elements are written as address -1.
    fn masked(count: i64) -> Run {
        Run { first: -1, step: 0, count }
    }
}

/// Calls `emit` with the addresses of all elements of a stack of views in row-major order; the first view is next to
/// memory, and each later one reads inside the one before it.
pub(crate) fn walk(views: &[View], emit: &mut impl FnMut(Run)) {
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
            descend(&levels, Run { first: start, step: inner.stride, count: inner.end - inner.begin }, emit);
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
            descend(under, Run { first, step, count: inside }, emit);
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
