//! Where bytes move: all `unsafe` code of the project.
//!
//! What is given to [`Move::run`] is checked there against the slices: whatever the planner gets wrong, no byte outside
//! them is touched.

#![allow(unsafe_code)]

mod blocks;
mod lines;
mod sink;

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use smallvec::SmallVec;

use crate::mover::{Axes, Axis, Inner, Loop, Mover, Tiles};
use blocks::{Ahead, SLACK};
use sink::Sink;

/// Memory that several threads write to, each at other places.
#[derive(Clone, Copy)]
pub(crate) struct Output<'a> {
    start: *mut u8,
    len: usize,
    memory: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

// SAFETY: it is only written to, by `Move::run`, whose callers give each place to one thread.
unsafe impl Send for Output<'_> {}
// SAFETY: as above.
unsafe impl Sync for Output<'_> {}

impl<'a> Output<'a> {
    pub(crate) fn new(memory: &'a mut [MaybeUninit<u8>]) -> Output<'a> {
        Output { start: memory.as_mut_ptr().cast(), len: memory.len(), memory: PhantomData }
    }
}

/// A box that is moved: where it lies on both sides, and which part of it has data.
#[derive(Clone, Copy)]
pub(crate) struct Move<'a> {
    pub(crate) source: &'a [u8],
    pub(crate) output: Output<'a>,
    /// What is written where there is no data; nothing is written there without it.
    pub(crate) fill: Option<&'a [u8]>,
    /// Whether the output goes past the caches.
    pub(crate) stream: bool,
    /// Where the box's first index lies, or would lie, on both sides.
    pub(crate) from: isize,
    pub(crate) to: isize,
    pub(crate) spans: &'a [Span],
}

/// The part of an axis that is walked, and within it the part that has data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) all: Range<usize>,
    pub(crate) data: Range<usize>,
}

/// A loop as it runs.
#[derive(Clone, Copy)]
struct Running {
    count: usize,
    from: isize,
    to: isize,
    /// The part of it that has data.
    begin: usize,
    end: usize,
}

impl Move<'_> {
    fn span(&self, axis: &Axis) -> Span {
        axis.span.map_or(Span { all: 0..axis.count, data: 0..axis.count }, |at| self.spans[at].clone())
    }

    /// The axis as far as it is walked, with what lies before it on both sides.
    fn walked(&self, axis: &Axis) -> (Running, isize, isize) {
        let Span { all, data } = self.span(axis);
        let (first, count) = (all.start as isize, all.len());
        let (begin, end) = (data.start - all.start, data.end - all.start);
        (Running { count, from: axis.from, to: axis.to, begin, end }, first * axis.from, first * axis.to)
    }

    /// The part of an axis that has data, with what lies before it on both sides.
    fn data(&self, axis: &Axis) -> (Running, isize, isize) {
        let data = self.span(axis).data;
        let first = if axis.flipped { 1 - data.end as isize } else { data.start as isize };
        let count = data.len();
        (Running { count, from: axis.from, to: axis.to, begin: 0, end: count }, first * axis.from, first * axis.to)
    }

    /// How many parts a mover has here: rows or tiles.
    pub(crate) fn parts(&self, mover: &Mover) -> usize {
        let mut parts = 1;
        for around in &mover.loops {
            parts *= match (around, &mover.inner) {
                (Loop::Over(axis), Inner::Rows(..)) => self.span(axis).all.len(),
                (Loop::Over(axis), _) => self.span(axis).data.len(),
                (Loop::Across, Inner::Tiles(tiles)) => self.tiled(&tiles.across, tiles.steps.0),
                (Loop::Across, Inner::Rows(run, columns)) => self.span(run).all.len().div_ceil(*columns),
                (Loop::Down, Inner::Tiles(tiles)) => self.tiled(&tiles.down, tiles.steps.1),
                _ => 1,
            };
        }
        parts
    }

    /// How many tiles a group of axes has.
    fn tiled(&self, group: &[Axis], steps: usize) -> usize {
        group.last().map_or(1, |axis| self.span(axis).data.len().div_ceil(steps))
    }

    /// Moves some parts.
    ///
    /// # Safety
    /// No other thread touches what these parts write; they write no place twice.
    ///
    /// # Panics
    /// If the box does not lie inside the slices.
    pub(crate) unsafe fn run(&self, mover: &Mover, parts: Range<usize>) {
        self.check(mover);
        // SAFETY: the box lies inside the slices.
        unsafe {
            match &mover.inner {
                Inner::Rows(run, columns) => self.rows(mover, run, *columns, parts),
                Inner::Tiles(tiles) => self.tiles(mover, tiles, parts),
                Inner::Strided(axis) => self.strided(mover, axis, parts),
            }
        }
        if self.stream {
            sink::fence();
        }
    }

    /// Panics unless all that the mover can touch lies inside the slices.
    fn check(&self, mover: &Mover) {
        let mut empty = false;
        let mut from = self.from as i128..self.from as i128 + mover.unit as i128;
        let mut to = self.to as i128..self.to as i128 + mover.unit as i128;
        let widen = |side: &mut Range<i128>, stride: isize, steps: &Range<usize>| {
            let (first, last) = (steps.start as i128 * stride as i128, (steps.end as i128 - 1) * stride as i128);
            *side = side.start + first.min(last)..side.end + first.max(last);
        };
        for axis in mover.axes() {
            let Span { all, data } = self.span(axis);
            let inside = all.start <= data.start && data.start <= data.end && data.end <= all.end;
            assert!(inside && all.end <= axis.count, "a span lies outside its axis");
            empty |= data.is_empty();
            let sign = if axis.flipped { -1 } else { 1 };
            widen(&mut from, sign * axis.from, &data);
            let all = if self.fill.is_some() { all } else { data };
            if all.is_empty() {
                return;
            }
            widen(&mut to, sign * axis.to, &all);
        }
        let inside = |side: Range<i128>, len: usize| 0 <= side.start && side.end <= len as i128;
        assert!(empty || mover.moves_nothing() || inside(from, self.source.len()), "a box reads outside its buffer");
        assert!(inside(to, self.output.len), "a box writes outside its buffer");
    }

    /// # Safety
    /// As for [`Move::run`]; the box lies inside the slices.
    unsafe fn rows(&self, mover: &Mover, run: &Axis, columns: usize, parts: Range<usize>) {
        let unit = mover.unit;
        let (mut from, mut to) = (self.from, self.to);
        let mut walked = |axis: &Axis| {
            let (running, more_from, more_to) = self.walked(axis);
            (from, to) = (from + more_from, to + more_to);
            running
        };
        let run = walked(run);
        let mut walk = Walk::new(mover.loops.iter().map(|around| match around {
            Loop::Over(axis) => walked(axis),
            _ => {
                let bytes = (columns * unit) as isize;
                let count = run.count.div_ceil(columns);
                Running { count, from: bytes, to: bytes, begin: 0, end: count }
            }
        }));
        let cut = mover.loops.iter().position(|around| *around == Loop::Across);
        walk.start(parts.start, from, to);
        let mut sink = Sink::new(self.stream, self.fill.unwrap_or(&[0]));
        for _ in parts {
            let first = cut.map_or(0, |at| walk.at[at] * columns);
            let last = run.count.min(first + columns);
            let (begin, end) = if walk.has_data() {
                let begin = run.begin.clamp(first, last);
                (begin, run.end.clamp(begin, last))
            } else {
                (last, last)
            };
            let from = self.source.as_ptr().wrapping_offset(walk.from);
            let to = self.output.start.wrapping_offset(walk.to);
            // SAFETY: parts of a row that lies inside the slices.
            unsafe {
                if self.fill.is_some() && begin > first {
                    sink.fill(to, (begin - first) * unit);
                }
                if end > begin && !mover.moves_nothing() {
                    let skip = (begin - first) * unit;
                    sink.copy(to.wrapping_add(skip), from.wrapping_add(skip), (end - begin) * unit);
                }
                if self.fill.is_some() && last > end {
                    sink.fill(to.wrapping_add((end - first) * unit), (last - end) * unit);
                }
            }
            walk.next();
        }
        // SAFETY: what was gathered lies inside the output.
        unsafe { sink.flush() };
    }

    /// # Safety
    /// As for [`Move::run`]; the box lies inside the slices.
    unsafe fn tiles(&self, mover: &Mover, tiles: &Tiles, parts: Range<usize>) {
        let (mut from, mut to) = (self.from, self.to);
        let mut data = |axis: &Axis| {
            let (running, more_from, more_to) = self.data(axis);
            (from, to) = (from + more_from, to + more_to);
            running
        };
        let across = Group::new(tiles.across.iter().map(&mut data), tiles.steps.0);
        let down = Group::new(tiles.down.iter().map(&mut data), tiles.steps.1);
        let mut walk = Walk::new(mover.loops.iter().map(|around| match around {
            Loop::Over(axis) => data(axis),
            Loop::Across => across.tiles(),
            Loop::Down => down.tiles(),
        }));
        let along = |which: Loop| mover.loops.iter().position(|around| *around == which);
        let (along_across, along_down) = (along(Loop::Across), along(Loop::Down));
        walk.start(parts.start, from, to);

        let columns = across.places(|axis| axis.from);
        let rows = down.places(|axis| axis.to);
        let gather = Gather::new(mover.unit, &across, &down, self.source.as_ptr_range().end);
        let bytes = tiles.rows * tiles.pitch + SLACK;
        let mut small = Stage([const { MaybeUninit::uninit() }; SMALL]);
        let mut large: Vec<u8> = Vec::new();
        let stage: *mut u8 = if 2 * bytes <= SMALL {
            small.0.as_mut_ptr().cast()
        } else {
            large.reserve_exact(2 * bytes);
            large.spare_capacity_mut().as_mut_ptr().cast::<u8>()
        };
        // A tile is written while the next one is read.
        let mut waiting = Gathered { to: self.output.start, stage, rows: &[], bytes: 0 };
        for part in parts.clone() {
            let of_rows = down.taken(along_down.map(|at| walk.at[at]));
            let of_columns = across.taken(along_across.map(|at| walk.at[at]));
            let (columns, rows) = (&columns[..of_columns], &rows[..of_rows]);
            let from = self.source.as_ptr().wrapping_offset(walk.from);
            let stage = stage.wrapping_add(if (part - parts.start) % 2 == 0 { 0 } else { bytes });
            let gathered = Gathered {
                to: self.output.start.wrapping_offset(walk.to),
                stage,
                rows: if tiles.packed { &rows[..1] } else { rows },
                bytes: of_columns * mover.unit * if tiles.packed { of_rows } else { 1 },
            };
            walk.next();
            let next = self.source.as_ptr().wrapping_offset(walk.from);
            // SAFETY: the tile lies inside the slices, and each half of the stage takes any tile.
            unsafe {
                if self.stream && !tiles.packed {
                    let turns = of_columns.div_ceil(gather.width);
                    let mut written = 0;
                    for (turn, now) in columns.chunks(gather.width).enumerate() {
                        let ahead = match &columns[((turn + 1) * gather.width).min(of_columns)..] {
                            [] => Ahead { from: next, columns: &columns[..gather.width.min(of_columns)] },
                            columns => Ahead { from, columns },
                        };
                        let stage = stage.add(turn * gather.width * mover.unit);
                        gather.run(from, now, of_rows, stage, tiles.pitch, ahead);
                        let until = waiting.rows.len() * (turn + 1) / turns;
                        waiting.write(written..until, tiles.pitch, true);
                        written = until;
                    }
                    waiting = gathered;
                } else {
                    gather.run(from, columns, of_rows, stage, tiles.pitch, Ahead { from, columns: &[] });
                    gathered.write(0..gathered.rows.len(), tiles.pitch, self.stream);
                }
            }
        }
        // SAFETY: as above.
        unsafe { waiting.write(0..waiting.rows.len(), tiles.pitch, self.stream) };
    }

    /// # Safety
    /// As for [`Move::run`]; the box lies inside the slices.
    unsafe fn strided(&self, mover: &Mover, axis: &Axis, parts: Range<usize>) {
        let (mut from, mut to) = (self.from, self.to);
        let mut data = |axis: &Axis| {
            let (running, more_from, more_to) = self.data(axis);
            (from, to) = (from + more_from, to + more_to);
            running
        };
        let inner = data(axis);
        let mut walk = Walk::new(mover.loops.iter().filter_map(|around| match around {
            Loop::Over(axis) => Some(data(axis)),
            _ => None,
        }));
        walk.start(parts.start, from, to);
        let strides = lines::strides(mover.unit);
        for _ in parts {
            let from = self.source.as_ptr().wrapping_offset(walk.from);
            let to = self.output.start.wrapping_offset(walk.to);
            // SAFETY: the elements lie inside the slices.
            unsafe {
                match strides {
                    Some(strides) => strides(from, inner.from, inner.count, to, inner.to),
                    None => {
                        for at in 0..inner.count as isize {
                            let (from, to) = (from.wrapping_offset(at * inner.from), to.wrapping_offset(at * inner.to));
                            sink::copy(to, from, mover.unit);
                        }
                    }
                }
            }
            walk.next();
        }
    }
}

/// Bytes of tiles that need no memory from elsewhere.
const SMALL: usize = 16 << 10;

#[repr(align(64))]
struct Stage([MaybeUninit<u8>; SMALL]);

/// The axes of a row or a column of tiles, the innermost first.
struct Group {
    axes: Axes<Running>,
    /// Steps in a tile of the last axis.
    steps: usize,
    /// Elements in such a step.
    inner: usize,
}

impl Group {
    fn new(axes: impl Iterator<Item = Running>, steps: usize) -> Group {
        let axes: Axes<Running> = axes.collect();
        let inner = axes.iter().rev().skip(1).map(|axis| axis.count).product();
        Group { axes, steps, inner }
    }

    fn last(&self) -> Running {
        self.axes[self.axes.len() - 1]
    }

    /// The loop from tile to tile.
    fn tiles(&self) -> Running {
        let Running { count, from, to, .. } = self.last();
        let (count, steps) = (count.div_ceil(self.steps), self.steps as isize);
        Running { count, from: from * steps, to: to * steps, begin: 0, end: count }
    }

    /// Elements in the tile of a number.
    fn taken(&self, tile: Option<usize>) -> usize {
        let all = self.last().count;
        self.inner * tile.map_or(all, |tile| self.steps.min(all - tile * self.steps))
    }

    /// How far the elements of the first tile, the largest, are from its start.
    fn places(&self, stride: fn(&Running) -> isize) -> SmallVec<[isize; 64]> {
        let mut places = SmallVec::from_elem(0, 1);
        for (at, axis) in self.axes.iter().enumerate() {
            let count = if at + 1 < self.axes.len() { axis.count } else { axis.count.min(self.steps) };
            let inner = places.len();
            places.reserve(inner * count.saturating_sub(1));
            for step in 1..count as isize {
                for place in 0..inner {
                    places.push(places[place] + step * stride(axis));
                }
            }
        }
        places
    }
}

/// A tile on its way.
struct Gathered<'a> {
    to: *mut u8,
    stage: *const u8,
    /// How far from `to` its rows go.
    rows: &'a [isize],
    /// Bytes of a row.
    bytes: usize,
}

impl Gathered<'_> {
    /// Writes some rows.
    ///
    /// # Safety
    /// They lie in the stage, and may be written.
    unsafe fn write(&self, rows: Range<usize>, pitch: usize, stream: bool) {
        for row in rows {
            let (to, from) = (self.to.wrapping_offset(self.rows[row]), self.stage.wrapping_add(row * pitch));
            // SAFETY: as the caller says.
            unsafe { if stream { sink::stream(to, from, self.bytes) } else { sink::copy(to, from, self.bytes) } }
        }
    }
}

/// The way in which tiles are gathered.
struct Gather {
    unit: usize,
    /// How far elements of a column are from each other.
    down: isize,
    /// How many columns at a time fill lines of the stage, or are equally far from each other.
    width: usize,
    across: isize,
    way: Way,
    end: *const u8,
}

enum Way {
    Turn(blocks::Turn),
    Line(lines::Line),
    Each,
}

impl Gather {
    fn new(unit: usize, across: &Group, down: &Group, end: *const u8) -> Gather {
        let (x, y) = (across.axes[0], down.axes[0]);
        let turn = if x.from != 0 && y.from == unit as isize && y.count > 1 { blocks::turn(unit) } else { None };
        let way = match (turn, lines::line(unit)) {
            (Some(turn), _) => Way::Turn(turn),
            (None, Some(line)) => Way::Line(line),
            (None, None) => Way::Each,
        };
        let width = if let Way::Line(_) = way { x.count.max(1) } else { (64 / unit).max(8) };
        Gather { unit, down: y.from, width, across: x.from, way, end }
    }

    /// Gathers columns into a stage.
    ///
    /// # Safety
    /// They have `rows` elements that may be read, as all up to `end` may be; the stage has `rows` rows of as many elements
    /// as there are columns, `pitch` bytes apart, and [`SLACK`].
    #[inline]
    unsafe fn run(&self, from: *const u8, columns: &[isize], rows: usize, stage: *mut u8, pitch: usize, ahead: Ahead) {
        // SAFETY: as the caller says.
        unsafe {
            match self.way {
                Way::Turn(turn) => turn(from, columns, rows, self.end, stage, pitch, ahead),
                Way::Line(line) => {
                    for row in 0..rows {
                        let (from, to) = (from.wrapping_offset(row as isize * self.down), stage.add(row * pitch));
                        for (at, columns) in columns.chunks(self.width).enumerate() {
                            let to = to.add(at * self.width * self.unit);
                            line(from.wrapping_offset(columns[0]), self.across, columns.len(), to);
                        }
                    }
                }
                Way::Each => {
                    for row in 0..rows {
                        let (from, to) = (from.wrapping_offset(row as isize * self.down), stage.add(row * pitch));
                        for (at, column) in columns.iter().enumerate() {
                            let to = to.add(at * self.unit);
                            to.copy_from_nonoverlapping(from.wrapping_offset(*column), self.unit);
                        }
                    }
                }
            }
        }
    }
}

/// Loops, the last of them the fastest, and where they are on both sides.
struct Walk {
    loops: Axes<Running>,
    at: SmallVec<[usize; 8]>,
    from: isize,
    to: isize,
}

impl Walk {
    fn new(loops: impl Iterator<Item = Running>) -> Walk {
        let loops: Axes<Running> = loops.collect();
        let at = SmallVec::from_elem(0, loops.len());
        Walk { loops, at, from: 0, to: 0 }
    }

    fn count(&self) -> usize {
        self.loops.iter().map(|around| around.count).product()
    }

    /// Goes to a turn, counted from 0; the first one is at the given places.
    fn start(&mut self, turn: usize, from: isize, to: isize) {
        (self.from, self.to) = (from, to);
        let mut turn = turn;
        for (around, at) in self.loops.iter().zip(&mut self.at).rev() {
            *at = turn % around.count.max(1);
            turn /= around.count.max(1);
            self.from += *at as isize * around.from;
            self.to += *at as isize * around.to;
        }
    }

    /// Goes to the next turn, and from the last to the first.
    #[inline]
    fn next(&mut self) {
        for (around, at) in self.loops.iter().zip(&mut self.at).rev() {
            *at += 1;
            (self.from, self.to) = (self.from + around.from, self.to + around.to);
            if *at < around.count {
                return;
            }
            *at = 0;
            self.from -= around.count as isize * around.from;
            self.to -= around.count as isize * around.to;
        }
    }

    fn has_data(&self) -> bool {
        self.loops.iter().zip(&self.at).all(|(around, at)| (around.begin..around.end).contains(at))
    }
}
