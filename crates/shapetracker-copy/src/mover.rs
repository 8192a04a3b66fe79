//! How a box is walked: which axes go into rows or tiles, and in which order the others are looped over around them.
//!
//! Memory moves in lines of 64 bytes, and is translated in pages. So the order is chosen for what a line or a page is good for:
//! along a row or a column every byte of a line is used at once; a tile is as wide and as high as caches and the translation
//! buffer allow, so that the lines of its columns are still there for its next rows; and the loops around follow the smaller of
//! their two strides, so that what one turn brought close to the processor the next one can use.

use std::cmp::Reverse;

use smallvec::SmallVec;

use crate::join::{continues, joined};
use crate::kernels::blocks::least;
use crate::kernels::short;
use crate::kernels::shuffle;

/// Axes in usual numbers, without an allocation.
pub(crate) type Axes<T> = SmallVec<[T; 8]>;

/// One loop: its count, and its strides in bytes on the side that is read and on the side that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) count: usize,
    pub(crate) from: isize,
    pub(crate) to: isize,
    /// Which of the spans given at run time this axis walks, if not all of it.
    pub(crate) span: Option<usize>,
    /// Whether it goes from its last index to its first. The strides are those of its steps, so they are negated then.
    pub(crate) flipped: bool,
}

impl Axis {
    pub(crate) fn new(count: usize, from: isize, to: isize) -> Axis {
        Axis { count, from, to, span: None, flipped: false }
    }

    fn flip(&mut self) {
        (self.from, self.to, self.flipped) = (-self.from, -self.to, !self.flipped);
    }

    /// The smaller of the two strides. Axes with a small stride on either side are inner loops.
    fn smaller_stride(&self) -> usize {
        self.from.unsigned_abs().min(self.to.unsigned_abs())
    }
}

/// The order in which a box is walked.
#[derive(Clone, Debug)]
pub(crate) struct Mover {
    /// Bytes that are moved as one: an element, or a run of a few elements.
    pub(crate) unit: usize,
    pub(crate) inner: Inner,
    /// What lies around the inner part, outermost first. The loops over tiles of the inner axes come in between.
    pub(crate) loops: Axes<Loop>,
}

/// A loop around the inner part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loop {
    Over(Axis),
    /// From tile to tile in the direction in which a row is written; or from piece to piece of a long run.
    Across,
    /// From tile to tile in the direction in which a column is read.
    Down,
}

/// What the innermost loops move.
#[derive(Clone, Debug)]
pub(crate) enum Inner {
    /// Runs that are contiguous on both sides, and how many units of one are moved at a time. What spans leave out is filled in
    /// between, in the order of the written side.
    Rows(Axis, usize),
    /// Tiles: rows are contiguous where they are written, columns are (or are evenly spaced) where they are read.
    Tiles(Tiles),
    /// Runs that are contiguous where they are written, and whose neighbours lie near each other where they are read.
    Shuffled(Shuffled),
    /// Strides on both sides.
    Strided(Axis),
}

/// A run of blocks. What one register writes of it lies in one register where it is read.
#[derive(Clone, Debug)]
pub(crate) struct Shuffled {
    /// The axes of a block, the innermost first, if it has several units.
    pub(crate) block: Axes<Axis>,
    /// The axis from block to block, how many of its steps one register writes, and how many are moved at a time.
    pub(crate) along: Axis,
    pub(crate) steps: usize,
    pub(crate) columns: usize,
}

impl Shuffled {
    /// Runs along `x` and those of `loops` that continue it where it is written; which it uses are taken out of them. `None`
    /// where a register would write little, or where there is nothing to be put in order.
    fn new(unit: usize, x: Axis, loops: &mut Axes<Axis>) -> Option<Shuffled> {
        let (mut block, mut along, mut taken): (Axes<Axis>, Axis, Axes<usize>) = (Axes::new(), x, Axes::new());
        let (mut bytes, mut window) = (unit, unit);
        loop {
            let far = along.from.unsigned_abs();
            let more = shuffle::REGISTER.checked_sub(window)?.checked_div(far).unwrap_or(usize::MAX);
            let steps = (shuffle::REGISTER / bytes).min(more.saturating_add(1)).min(along.count);
            // One element over and over, and elements that are in order already, are no matter of order.
            let is_plain = block.is_empty() && (far == 0 || along.from == unit as isize);
            if along.span.is_some() || is_plain {
                return None;
            }
            if steps >= 2 && along.count.saturating_mul(bytes) >= PUT_IN_ORDER && steps * bytes > shuffle::REGISTER / 2
            {
                taken.sort_unstable();
                for at in taken.iter().rev() {
                    loops.remove(*at);
                }
                let columns = (LONG / bytes).next_multiple_of(steps);
                return Some(Shuffled { block, along, steps, columns });
            }
            window += (along.count - 1).checked_mul(far)?;
            bytes = bytes.checked_mul(along.count)?;
            block.push(along);
            if bytes > shuffle::REGISTER / 2 || window > shuffle::REGISTER {
                return None;
            }
            let next = loops.iter().position(|axis| axis.to == bytes as isize)?;
            taken.push(next);
            along = loops[next];
        }
    }
}

/// A tile, which is read along its columns and written along its rows.
#[derive(Clone, Debug)]
pub(crate) struct Tiles {
    /// The axes of a row, the innermost first. A tile takes all of each but the last.
    pub(crate) across: Axes<Axis>,
    /// The axes of a column, likewise. Its elements are evenly spaced, if not contiguous.
    pub(crate) down: Axes<Axis>,
    /// How many steps a tile takes of the last axis of a row, and of a column.
    pub(crate) steps: (usize, usize),
    /// Elements in a whole row, and in a whole column.
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// Whether blocks are transposed in registers: columns are contiguous, and high enough.
    pub(crate) turned: bool,
    /// Whether rows follow each other where they are written, so that a tile is one run.
    pub(crate) packed: bool,
}

/// Columns of a tile that is transposed in registers. Each may lie on a page of its own, and the translation buffer of the second
/// level has some thousand entries. How many of them are moved at a time is decided where a tile is streamed
/// (`kernels/tuning.rs`). Measured.
const COLUMNS: usize = if cfg!(miri) { 32 } else { 256 };

/// Bytes of a row of such a tile where rows do not all begin lines, of up to four times as many columns: they take longer runs
/// to be worth their edges. Measured.
const WIDE: usize = if cfg!(miri) { 128 } else { 1 << 11 };

/// Bytes of such a tile whose columns are short, and of such a column: half of the first-level cache. Measured.
const NEAR: usize = 16 << 10;
const SHORT_COLUMN: usize = 1 << 10;

/// Rows of such a tile: long columns make the most of a page's translation, and of lines of which the first rows of a tile
/// take one part and the last ones of the tile before it another. Measured.
const ROWS: usize = if cfg!(miri) { 32 } else { 4096 };

/// Bytes of a row of other tiles, which are gathered element by element.
const RUN: usize = if cfg!(miri) { 64 } else { 1 << 11 };

/// Bytes of a row of those of which each row is one element over and over, written from its start to its end. Measured.
const REPEATED: usize = if cfg!(miri) { 128 } else { 1 << 14 };

/// Rows of other tiles.
const LINES: usize = if cfg!(miri) { 8 } else { 64 };

/// Bytes of a long run that are moved at a time, so that threads can share it.
const LONG: usize = if cfg!(miri) { 1 << 8 } else { 1 << 20 };

/// Bytes of the shortest run that is put in order in registers: to set one up takes longer than to gather few bytes.
/// Runs of 24 bytes took ten times as long.
const PUT_IN_ORDER: usize = if cfg!(miri) { 32 } else { 128 };

/// Runs up to this many bytes are moved like elements.
const SHORT: usize = 64;

impl Tiles {
    /// Tiles whose rows begin with axis `x` and columns with axis `y`. Other axes that continue one of them on its side, as if
    /// both were one axis there, are taken out of `loops` while rows or columns are shorter than is worth while.
    fn new(unit: usize, x: Axis, y: Axis, loops: &mut Axes<Axis>) -> Tiles {
        let mut grown = |first: Axis, most: usize, stride: fn(&Axis) -> isize| {
            let mut group: Axes<Axis> = Axes::from_slice(&[first]);
            let mut inner = 1;
            loop {
                let last = group[group.len() - 1];
                let all = last.count.saturating_mul(inner);
                let follows = |axis: &Axis| axis.span.is_none() && last.span.is_none();
                let next = last.count as isize * stride(&last);
                let next = loops.iter().position(|axis| follows(axis) && stride(axis) == next);
                let (true, Some(next)) = (all < most && stride(&last) != 0, next) else {
                    let steps = (most / inner).clamp(1, last.count.max(1));
                    return (group, steps, inner * steps);
                };
                inner = all;
                group.push(loops.remove(next));
            }
        };
        let turned = (x.from != 0 || x.count < COLUMNS / 16)
            && y.from == unit as isize
            && least(unit).is_some_and(|least| y.count >= least);
        let wide = if y.to % 64 == 0 {
            // Short columns are read as often as they have lines, and stay in the first-level cache meanwhile.
            let bytes = y.count.max(1).saturating_mul(unit);
            if bytes <= SHORT_COLUMN { (NEAR / bytes).clamp(COLUMNS / 4, COLUMNS) } else { COLUMNS }
        } else {
            (WIDE / unit).clamp(COLUMNS, 4 * COLUMNS)
        };
        let run = if x.from == 0 { REPEATED } else { RUN };
        let (most_columns, most_rows) = if turned { (wide, ROWS) } else { ((run / unit).max(1), LINES) };
        let (across, across_steps, columns) = grown(x, most_columns, |axis| axis.to);
        // Rows that follow each other where they are written need no lines of their own.
        let whole = across.iter().map(|axis| axis.count).product::<usize>() == columns && across[0].span.is_none();
        let packed = whole && y.to == (columns * unit) as isize;
        let (down, down_steps, rows) = grown(y, most_rows, if packed { |_| 0 } else { |axis| axis.from });
        Tiles { across, down, steps: (across_steps, down_steps), columns, rows, turned, packed }
    }
}

impl Mover {
    /// A mover for elements of `unit` bytes, with strides in bytes.
    ///
    /// Rows, if an axis is contiguous on both sides; tiles, if one is where it is written; and strides otherwise. A contiguous
    /// run of up to [`SHORT`] bytes becomes the unit, if there are rows and columns of such runs.
    pub(crate) fn new(unit: usize, axes: &[Axis]) -> Mover {
        let mut unit = unit;
        let mut axes = fused(axes);
        let written = |axes: &Axes<Axis>, unit: usize| axes.iter().rposition(|axis| axis.to == unit as isize);
        if let Some(run) = written(&axes, unit)
            && axes[run].from == unit as isize
        {
            let bytes = axes[run].count.saturating_mul(unit);
            let any = |stride: fn(&Axis) -> isize, is: usize| {
                axes.iter().enumerate().any(|(at, axis)| at != run && stride(axis).unsigned_abs() == is)
            };
            // Whole runs that follow each other on both sides, not all of which have data, are elements of a longer one.
            let goes_on = |axis: &Axis| axis.span.is_some() && [axis.from, axis.to] == [bytes as isize; 2];
            if axes[run].span.is_none()
                && let Some(longer) = axes.iter().position(goes_on)
            {
                // It comes before the run: its steps are wider.
                axes.remove(run);
                let longer = axes.remove(longer);
                return Mover::rows(bytes, longer, axes);
            }
            let is_short = axes[run].span.is_none() && bytes <= SHORT;
            // Rows of a register or two, not all of which have data: tiles would have to be as narrow as these.
            let follows = |axis: &Axis| axis.to == bytes as isize && axis.span.is_some() && axis.count <= short::MOST;
            if bytes <= short::LONGEST && axes.iter().any(follows) {
                let run = axes.remove(run);
                return Mover::rows(unit, run, axes);
            }
            if is_short && any(|axis| axis.from, bytes) && any(|axis| axis.to, bytes) {
                axes.remove(run);
                unit = bytes;
            } else if !(is_short && any(|axis| axis.from, unit)) {
                // No column is contiguous but for the run itself.
                let run = axes.remove(run);
                return Mover::rows(unit, run, axes);
            }
        } else if unit > SHORT {
            return Mover::rows(unit, Axis::new(1, unit as isize, unit as isize), axes);
        }
        for axis in axes.iter_mut().filter(|axis| axis.to < 0) {
            axis.flip();
        }
        let Some(x) = written(&axes, unit) else { return Mover::strided(unit, axes) };
        let x = axes.remove(x);
        if let Some(shuffled) = Shuffled::new(unit, x, &mut axes) {
            let mut loops: Axes<Loop> = axes.into_iter().map(Loop::Over).collect();
            if shuffled.along.count > shuffled.columns {
                loops.push(Loop::Across);
            }
            return Mover { unit, inner: Inner::Shuffled(shuffled), loops };
        }
        Mover::tiles(unit, x, axes)
    }

    /// Tiles with rows along `x`, which is contiguous where it is written. Columns go along the axis with the least stride where
    /// it is read, unless that of `x` is smaller still: then every column is one element, and rows are gathered.
    fn tiles(unit: usize, x: Axis, mut axes: Axes<Axis>) -> Mover {
        let closer =
            |axis: &&Axis| axis.from != 0 && (x.from == 0 || axis.from.unsigned_abs() <= x.from.unsigned_abs());
        let y = axes.iter().filter(closer).map(|axis| axis.from.unsigned_abs()).min();
        let mut y = match y.and_then(|least| axes.iter().position(|axis| axis.from.unsigned_abs() == least)) {
            Some(y) => axes.remove(y),
            None => Axis::new(1, unit as isize, 0),
        };
        if y.from < 0 {
            y.flip();
        }
        let tiles = Tiles::new(unit, x, y, &mut axes);
        let around = axes.iter().map(|axis| (Loop::Over(*axis), axis.smaller_stride()));
        let mut loops: Axes<(Loop, usize)> = around.collect();
        for (tile, group, steps) in
            [(Loop::Across, &tiles.across, tiles.steps.0), (Loop::Down, &tiles.down, tiles.steps.1)]
        {
            let last = &group[group.len() - 1];
            if last.count > steps {
                // The tile below is next: it reads on where the columns of this one ended.
                let stride = if tile == Loop::Down { 0 } else { last.smaller_stride().saturating_mul(steps) };
                loops.push((tile, stride));
            }
        }
        loops.sort_by_key(|(_, stride)| Reverse(*stride));
        Mover { unit, inner: Inner::Tiles(tiles), loops: loops.into_iter().map(|(around, _)| around).collect() }
    }

    /// Elements one by one, innermost along the axis with the least stride where it is written.
    fn strided(unit: usize, mut axes: Axes<Axis>) -> Mover {
        let Some(least) = (0..axes.len()).min_by_key(|&axis| axes[axis].to) else {
            return Mover::rows(unit, Axis::new(1, unit as isize, unit as isize), axes);
        };
        let inner = Inner::Strided(axes.remove(least));
        axes.sort_by_key(|axis| Reverse(axis.smaller_stride()));
        Mover { unit, inner, loops: axes.into_iter().map(Loop::Over).collect() }
    }

    /// A mover that fills what spans leave out of a box, and moves nothing.
    pub(crate) fn margins(unit: usize, axes: &[Axis]) -> Mover {
        let axes: Axes<Axis> = axes.iter().map(|axis| Axis { from: 0, ..*axis }).collect();
        let mut axes = fused(&axes);
        let run = axes.iter().rposition(|axis| axis.to == unit as isize);
        let run = run.map_or(Axis::new(1, 0, unit as isize), |run| axes.remove(run));
        Mover::rows(unit, run, axes)
    }

    /// Runs that are contiguous on both sides, in the order of the tensor: the axes come sorted by the written side.
    fn rows(unit: usize, run: Axis, around: Axes<Axis>) -> Mover {
        let columns = (LONG / unit).max(1);
        let mut loops: Axes<Loop> = around.into_iter().map(Loop::Over).collect();
        if run.count > columns {
            loops.push(Loop::Across);
        }
        Mover { unit, inner: Inner::Rows(run, columns), loops }
    }

    /// All axes, in no order.
    #[inline]
    pub(crate) fn axes(&self) -> impl Iterator<Item = &Axis> {
        let inner: SmallVec<[&Axis; 4]> = match &self.inner {
            Inner::Rows(axis, _) | Inner::Strided(axis) => SmallVec::from_iter([axis]),
            Inner::Tiles(tiles) => tiles.across.iter().chain(&tiles.down).collect(),
            Inner::Shuffled(shuffled) => shuffled.block.iter().chain([&shuffled.along]).collect(),
        };
        let around = self.loops.iter().filter_map(|around| match around {
            Loop::Over(axis) => Some(axis),
            _ => None,
        });
        inner.into_iter().chain(around)
    }

    /// Whether it only fills.
    #[inline]
    pub(crate) fn moves_nothing(&self) -> bool {
        matches!(self.inner, Inner::Rows(Axis { from: 0, .. }, _))
    }
}

/// The axes, the widest steps of the written side first, without those of one step; neighbours that are one loop on both
/// sides as one.
fn fused(axes: &[Axis]) -> Axes<Axis> {
    let mut axes: Axes<Axis> = axes.iter().copied().filter(|axis| axis.count != 1 || axis.span.is_some()).collect();
    axes.sort_by_key(|axis| Reverse((axis.to.unsigned_abs(), axis.from.unsigned_abs())));
    joined(axes, |outer, inner| {
        let one = |outer: isize, step: isize| continues(outer as i64, inner.count as i64, step as i64);
        let joins =
            outer.span.is_none() && inner.span.is_none() && one(outer.from, inner.from) && one(outer.to, inner.to);
        joins.then(|| Axis::new(outer.count * inner.count, inner.from, inner.to))
    })
}
