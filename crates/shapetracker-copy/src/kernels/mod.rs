//! Where bytes move, and all `unsafe` code that moves them.
//!
//! A [`Checked`] mover says which bytes of a box its parts read and write, relative to the box's first index. [`Move::run`]
//! places the box and compares its lowest and highest byte with the slices, once for each box: whatever the planner gets
//! wrong, no byte outside of them is touched. The kernels rely on these two checks and on nothing else.
//!
//! Each index of a box is written by exactly one part, and each part by one thread. One thread may write an element twice:
//! with the same value, where a block of fixed size would hang over an edge and is moved back to end there; and first with
//! what follows a short row in the source, where a whole register is stored over the rows after it that are written next.

#![allow(unsafe_code)]

mod along;
pub(crate) mod blocks;
mod checked;
mod interleave;
mod lines;
pub(crate) mod short;
pub(crate) mod shuffle;
mod sink;
mod small;
mod tuning;

pub(crate) use checked::Checked;
pub(crate) use small::{Few, Small};
pub(crate) use tuning::Tuning;

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use smallvec::SmallVec;

use crate::mover::{Axes, Axis, Inner, Loop, Mover, Tiles};
use blocks::Turn;
use short::Short;
pub(crate) use sink::LINE;
use sink::Sink;

/// Memory that several threads write to, each at other places. A raw pointer, because two `&mut` to parts of it would have
/// to be disjoint ranges, and the parts of a transpose interleave.
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

/// Which movers use non-temporal stores, which write whole cache lines to memory without reading them first and without
/// displacing what is in the caches.
#[derive(Clone, Copy, Default)]
pub(crate) struct Stream {
    pub(crate) rows: bool,
    /// Tiles meet where lines begin then, though some of them may be stored through the caches (`tuning`).
    pub(crate) tiles: bool,
    /// Whether what is read lies in memory, so that it is worth asking for it before it is needed.
    pub(crate) ahead: bool,
    /// How this is done on the machine at hand.
    pub(crate) tuning: Tuning,
}

/// A box at its place on both sides, and which part of it has data.
#[derive(Clone, Copy)]
pub(crate) struct Move<'a> {
    pub(crate) source: &'a [u8],
    pub(crate) output: Output<'a>,
    /// What is written where there is no data; nothing is written there without it.
    pub(crate) fill: Option<&'a [u8]>,
    pub(crate) stream: Stream,
    /// Bytes per element.
    pub(crate) width: usize,
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

/// A loop as it runs, after the spans are known.
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

    /// The axis as far as it is walked, with or without data, and the bytes from its first index to there on both sides.
    fn walked(&self, axis: &Axis) -> (Running, isize, isize) {
        let Span { all, data } = self.span(axis);
        let (first, count) = (all.start as isize, all.len());
        let (begin, end) = (data.start - all.start, data.end - all.start);
        (
            Running { count, from: axis.from, to: axis.to, begin, end },
            first.wrapping_mul(axis.from),
            first.wrapping_mul(axis.to),
        )
    }

    /// The part of an axis that has data, and the bytes from its first index to there on both sides. A flipped axis begins
    /// with the last index of that part.
    fn data(&self, axis: &Axis) -> (Running, isize, isize) {
        let data = self.span(axis).data;
        let first = if axis.flipped { 1 - data.end as isize } else { data.start as isize };
        let count = data.len();
        (
            Running { count, from: axis.from, to: axis.to, begin: 0, end: count },
            first.wrapping_mul(axis.from),
            first.wrapping_mul(axis.to),
        )
    }

    /// How many parts a mover has here: rows or tiles.
    pub(crate) fn parts(&self, mover: &Mover) -> usize {
        let mut parts = 1;
        for around in &mover.loops {
            parts *= match (around, &mover.inner) {
                (Loop::Over(axis), Inner::Rows(..)) => self.span(axis).all.len(),
                (Loop::Over(axis), _) => self.span(axis).data.len(),
                (Loop::Across, Inner::Tiles(tiles)) => self.tiled(&tiles.across, tiles.steps.0),
                (Loop::Across, Inner::Shuffled(shuffled)) => {
                    self.span(&shuffled.along).all.len().div_ceil(shuffled.columns)
                }
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

    /// Moves some parts, and returns how many bytes that were.
    ///
    /// # Safety
    /// No other thread touches what these parts write.
    ///
    /// # Panics
    /// If the box does not lie inside the slices.
    pub(crate) unsafe fn run(&self, mover: &Checked, parts: Range<usize>) -> usize {
        self.check(mover);
        // SAFETY: the box lies inside the slices.
        let bytes = unsafe {
            match &mover.inner {
                Inner::Rows(run, columns) => self.rows(mover, run, *columns, parts),
                Inner::Tiles(tiles) => self.tiles(mover, tiles, parts),
                Inner::Shuffled(shuffled) => self.shuffled(mover, shuffled, parts),
                Inner::Strided(axis) => self.strided(mover, axis, parts),
            }
        };
        if self.stream.tiles {
            sink::fence();
        }
        bytes
    }

    /// Panics unless all that the mover can touch lies inside the slices: along each axis the least and the most that a step
    /// adds to a position.
    fn check(&self, mover: &Mover) {
        let mut empty = false;
        // Where nothing has data, the first index may be anywhere: sums wrap until they come to where something has.
        let (mut from, mut to) = ((self.from, 0i128..mover.unit as i128), (self.to, 0i128..mover.unit as i128));
        let widen = |(start, side): &mut (isize, Range<i128>), stride: isize, steps: &Range<usize>| {
            *start = start.wrapping_add((steps.start as isize).wrapping_mul(stride));
            let last = (steps.len() as i128 - 1) * stride as i128;
            *side = side.start + last.min(0)..side.end + last.max(0);
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
        let inside = |(start, side): (isize, Range<i128>), len: usize| {
            0 <= start as i128 + side.start && start as i128 + side.end <= len as i128
        };
        let reads = !empty && !mover.moves_nothing();
        let (first_from, first_to) = (from.0, to.0);
        assert!(!reads || inside(from, self.source.len()), "a box reads outside its buffer");
        assert!(inside(to, self.output.len), "a box writes outside its buffer");
        self.check_whole(if reads { first_from } else { 0 }, first_to);
    }

    /// Panics unless a box begins with whole elements on both sides: what is made of parts of two is perhaps no value of its
    /// type. All strides are whole elements; but a sum that wrapped is a multiple of the width only if that divides 2^64.
    #[inline]
    fn check_whole(&self, from: isize, to: isize) {
        let whole = |start: isize| self.width.is_power_of_two() || start.unsigned_abs().is_multiple_of(self.width);
        assert!(whole(from) && whole(to), "a box begins inside an element");
    }

    /// Copies runs that are contiguous on both sides, in the order of the written side, and fills what has no data in
    /// between: the output is written from its start to its end, as one stream if its rows follow each other.
    ///
    /// # Safety
    /// As for [`Move::run`]; the box lies inside the slices.
    unsafe fn rows(&self, mover: &Mover, run: &Axis, columns: usize, parts: Range<usize>) -> usize {
        let unit = mover.unit;
        let (mut from, mut to) = (self.from, self.to);
        let mut walked = |axis: &Axis| {
            let (running, more_from, more_to) = self.walked(axis);
            (from, to) = (from.wrapping_add(more_from), to.wrapping_add(more_to));
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
        if cut.is_none() && !mover.moves_nothing() {
            // SAFETY: as the caller says.
            unsafe {
                let bytes = parts.len() * run.count * unit;
                if let Some(short) = Short::<1>::new(&walk.loops, run, unit, self.fill, parts.len()) {
                    self.short_rows(&short, &walk, (from, to), parts);
                    return bytes;
                }
                if let Some(short) = Short::<2>::new(&walk.loops, run, unit, self.fill, parts.len()) {
                    self.short_rows(&short, &walk, (from, to), parts);
                    return bytes;
                }
            }
        }
        walk.start(parts.start, from, to);
        let mut sink = Sink::new(self.stream.rows, self.fill.unwrap_or(&[0]));
        let bytes = run.count * unit;
        let last = mover.loops.len().wrapping_sub(1);
        let follow = walk.loops.last().is_some_and(|rows| rows.to == bytes as isize && rows.count > 1);
        if self.fill.is_some()
            && follow
            && cut.is_none()
            && bytes > 0
            && 2 * bytes <= sink::LONG
            && !mover.moves_nothing()
        {
            let (begin, end) = (run.begin * unit, run.end * unit);
            let mut left = parts.len();
            while left > 0 {
                let (rows, at) = (walk.loops[last], walk.at[last]);
                let count = (rows.count - at).min(left).min(sink::LONG / bytes);
                let inside = |bound: usize| if walk.has_data_outside() { bound.clamp(at, at + count) - at } else { 0 };
                let data = inside(rows.begin)..inside(rows.end);
                let from = self.source.as_ptr().wrapping_offset(walk.from);
                let to = self.output.start.wrapping_offset(walk.to);
                // SAFETY: rows that lie inside the slices.
                unsafe { sink.rows(to, from, rows.from, sink::Rows { bytes, count, data, begin, end }) };
                walk.leap(count);
                left -= count;
            }
            // SAFETY: what was gathered lies inside the output.
            unsafe { sink.flush() };
            return parts.len() * bytes;
        }
        let mut moved = 0;
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
            moved += (last - first) * unit;
            walk.next();
        }
        // SAFETY: what was gathered lies inside the output.
        unsafe { sink.flush() };
        moved
    }

    /// Gathers tiles: a tile is read along columns and written along rows, while it is small enough for both to stay in the
    /// caches.
    ///
    /// With non-temporal stores a row is written in whole lines. The line at the border of two tiles belongs to the left one,
    /// which gathers the few columns more that complete it; the right one leaves them out. So each line is one store, and
    /// each element is written by one tile.
    ///
    /// # Safety
    /// As for [`Move::run`]; the box lies inside the slices.
    unsafe fn tiles(&self, mover: &Mover, tiles: &Tiles, parts: Range<usize>) -> usize {
        let (mut from, mut to) = (self.from, self.to);
        let mut data = |axis: &Axis| {
            let (running, more_from, more_to) = self.data(axis);
            (from, to) = (from.wrapping_add(more_from), to.wrapping_add(more_to));
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

        let gather = Gather::new(mover.unit, tiles, &across, &down);
        let mut stage: Vec<u8> = Vec::new();
        if self.stream.tiles {
            stage.reserve_exact(gather.staged.len() * gather.pitch);
        }
        let columns = across.places(gather.more, |axis| axis.from);
        let rows = down.places(0, |axis| axis.to);
        let mut moved = 0;
        for _ in parts {
            let of_rows = down.taken(along_down.map(|at| walk.at[at]));
            let nth = along_across.map_or(0, |at| walk.at[at]);
            let own = across.taken(along_across.map(|_| nth));
            // The columns after the tile that complete the last lines of its rows, as far as there are any.
            let more = if self.stream.tiles && !tiles.packed { gather.more } else { 0 };
            let more = (across.last().count * across.inner - nth * across.steps * across.inner - own).min(more);
            let (columns, rows) = (&columns[..own + more], &rows[..of_rows]);
            let from = self.source.as_ptr().wrapping_offset(walk.from);
            let to = self.output.start.wrapping_offset(walk.to);
            walk.next();
            let next = self.source.as_ptr().wrapping_offset(walk.from);
            // SAFETY: the tile lies inside the slices.
            unsafe {
                let tile = Tile { from, columns, to, rows, own, first: nth == 0 };
                match self.stream {
                    Stream { tiles: true, tuning, .. } => {
                        gather.stream(tile, next, stage.spare_capacity_mut(), tuning);
                    }
                    Stream { ahead: true, .. } => gather.run_ahead(tile, next),
                    _ => gather.run(tile),
                }
            }
            moved += own * of_rows * mover.unit;
        }
        moved
    }

    /// Moves elements one by one, with strides on both sides.
    ///
    /// # Safety
    /// As for [`Move::run`]; the box lies inside the slices.
    unsafe fn strided(&self, mover: &Mover, axis: &Axis, parts: Range<usize>) -> usize {
        let (mut from, mut to) = (self.from, self.to);
        let mut data = |axis: &Axis| {
            let (running, more_from, more_to) = self.data(axis);
            (from, to) = (from.wrapping_add(more_from), to.wrapping_add(more_to));
            running
        };
        let inner = data(axis);
        let mut walk = Walk::new(mover.loops.iter().filter_map(|around| match around {
            Loop::Over(axis) => Some(data(axis)),
            _ => None,
        }));
        walk.start(parts.start, from, to);
        let strides = lines::strides(mover.unit);
        let bytes = parts.len() * inner.count * mover.unit;
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
        bytes
    }
}

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

    /// The byte offsets from a tile's start to the elements along this group in the first tile, which is the largest, and to
    /// `more` elements after them.
    fn places(&self, more: usize, stride: fn(&Running) -> isize) -> SmallVec<[isize; 64]> {
        let most = self.steps + more.div_ceil(self.inner.max(1));
        let mut places = SmallVec::from_elem(0, 1);
        for (at, axis) in self.axes.iter().enumerate() {
            let count = if at + 1 < self.axes.len() { axis.count } else { axis.count.min(most) };
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

/// How elements get from columns into rows.
enum Way {
    /// Square blocks, transposed in registers: columns are contiguous.
    Turn(Turn),
    /// Row by row, elements at equal distances.
    Line(lines::Line),
    /// Element by element, for widths that no kernel was compiled for.
    Each,
}

/// A tile, or a part of one: its columns start at offsets from where it is read, its rows from where it is written.
#[derive(Clone, Copy)]
struct Tile<'a> {
    from: *const u8,
    columns: &'a [isize],
    to: *mut u8,
    rows: &'a [isize],
    /// How many columns are its own. Those that follow are there to make its last lines whole.
    own: usize,
    /// Whether no tile comes before it, which makes its first lines whole.
    first: bool,
}

impl Tile<'_> {
    /// The bytes that a tile writes of a row of its columns, which begins at `to`: all but what is in a line of the tile before it,
    /// and those of other columns that complete its last line.
    fn lines(&self, to: *mut u8, unit: usize) -> Range<usize> {
        let head = |at: usize| to.wrapping_add(at).addr().wrapping_neg() % LINE;
        let (own, all) = (self.own * unit, self.columns.len() * unit);
        let begin = if self.first { 0 } else { head(0).min(all) };
        begin..(own + head(own)).min(all).max(begin)
    }
}

/// What all tiles of a mover have in common.
struct Gather {
    unit: usize,
    /// How far elements of a column are from each other.
    down: isize,
    /// How far columns are from each other, and how many are equally far.
    across: isize,
    equal: usize,
    way: Way,
    /// How many columns at a time, and how many rows: where they are turned, a line of each.
    width: usize,
    band: usize,
    /// Rows that are staged at a time.
    tall: usize,
    /// Columns after a tile that its last lines may need.
    more: usize,
    /// Whether rows follow each other where they are written.
    packed: bool,
    /// Whether each row is one element over and over, of which a line holds a whole number.
    repeats: bool,
    /// How rows that follow each other are written, where they are short.
    interleave: Option<interleave::Interleave>,
    /// Bytes from row to row while a part of a tile is gathered, and where its rows begin then.
    pitch: usize,
    staged: SmallVec<[isize; 64]>,
}

impl Gather {
    fn new(unit: usize, tiles: &Tiles, across: &Group, down: &Group) -> Gather {
        let (x, y) = (across.axes[0], down.axes[0]);
        let equal = x.count.max(1);
        // Columns that are gathered at a time are whole turns of the innermost axis, or a part of one.
        let gathered = || {
            let step = (GATHERED / unit).max(1);
            if across.axes.len() > 1 { step.next_multiple_of(equal) } else { step }
        };
        let (way, width, band) = match (Turn::new(unit).filter(|_| tiles.turned), lines::line(unit)) {
            (Some(turn), _) => (Way::Turn(turn), turn.width(), turn.width()),
            (None, Some(line)) => (Way::Line(line), gathered(), 1),
            (None, None) => (Way::Each, tiles.columns, 1),
        };
        let (bytes, more) = (tiles.columns * unit, LINE.div_ceil(unit));
        let (band, tall, pitch) = match tiles.packed {
            true => {
                let band = (PACKED / bytes.max(1)).next_multiple_of(band).max(band);
                (band, band, bytes)
            }
            false => {
                let pitch = (bytes + more * unit).next_multiple_of(LINE) + LINE;
                let tall = if tiles.turned { (STAGE / pitch).next_multiple_of(band).max(band) } else { band };
                (band, tall, pitch)
            }
        };
        let staged = (0..tall.min(tiles.rows)).map(|row| (row * pitch) as isize).collect();
        let repeats = across.axes.len() == 1 && x.from == 0 && bytes >= LINE && LINE.is_multiple_of(unit);
        let (down, across) = (y.from, x.from);
        let interleave = if tiles.packed && tiles.turned { interleave::interleave(unit, tiles.columns) } else { None };
        Gather {
            unit,
            down,
            across,
            equal,
            way,
            width,
            band,
            tall,
            more,
            packed: tiles.packed,
            repeats,
            interleave,
            pitch,
            staged,
        }
    }

    /// The part of a tile that begins with some row.
    fn rows<'a>(&self, tile: Tile<'a>, rows: Range<usize>) -> Tile<'a> {
        let from = tile.from.wrapping_offset(rows.start as isize * self.down);
        Tile { from, rows: &tile.rows[rows], ..tile }
    }

    fn columns<'a>(&self, tile: Tile<'a>, columns: Range<usize>) -> Tile<'a> {
        let to = tile.to.wrapping_add(columns.start * self.unit);
        Tile { to, columns: &tile.columns[columns], ..tile }
    }

    /// Moves a tile through the caches.
    ///
    /// # Safety
    /// It may be read and written.
    unsafe fn run(&self, tile: Tile) {
        let Tile { from, columns, to, rows, .. } = tile;
        // SAFETY: parts of the tile.
        unsafe {
            if let Way::Turn(turn) = &self.way {
                match (&self.interleave, rows) {
                    // Rows follow each other, and this is all of each.
                    (Some(interleave), [first, ..]) if columns.len() * self.unit == self.pitch => {
                        interleave(from, columns, to.wrapping_offset(*first), rows.len());
                    }
                    _ => turn.any(from, columns, to, rows),
                }
                return;
            }
            for (y, row) in rows.iter().enumerate() {
                let (from, to) = (from.wrapping_offset(y as isize * self.down), to.wrapping_offset(*row));
                if let Way::Line(line) = self.way {
                    for (at, columns) in columns.chunks(self.equal).enumerate() {
                        let to = to.add(at * self.equal * self.unit);
                        line(from.wrapping_offset(columns[0]), self.across, columns.len(), to);
                    }
                } else {
                    for (x, column) in columns.iter().enumerate() {
                        sink::copy(to.add(x * self.unit), from.wrapping_offset(*column), self.unit);
                    }
                }
            }
        }
    }

    /// Moves a tile through the caches, and prefetches each of its parts while the one before it is moved; `next` is where the
    /// tile after it is read.
    ///
    /// # Safety
    /// It may be read and written.
    unsafe fn run_ahead(&self, tile: Tile, next: *const u8) {
        let Way::Turn(turn) = &self.way else {
            // SAFETY: as the caller says.
            return unsafe { self.run(tile) };
        };
        let (height, columns) = (tile.rows.len(), tile.columns);
        let band = (NEXT * LINE / self.unit).max(turn.least);
        for first in (0..height).step_by(band) {
            let part = self.rows(tile, first.min(height.saturating_sub(turn.least))..height.min(first + band));
            let below = match first + band {
                row if row < height => tile.from.wrapping_offset(row as isize * self.down),
                _ => next,
            };
            for left in (0..columns.len()).step_by(self.width) {
                let right = columns.len().min(left + self.width);
                let (from, ahead) = match columns.get(right..columns.len().min(right + self.width)) {
                    Some(ahead) if !ahead.is_empty() => (part.from, ahead),
                    _ => (below, &columns[..columns.len().min(self.width)]),
                };
                let bytes = part.rows.len() * self.unit;
                Lines::new(from, ahead, bytes).prefetch(usize::MAX);
                // SAFETY: a part of the tile.
                unsafe { self.run(self.columns(part, left..right)) };
            }
        }
    }

    /// Moves a tile with non-temporal stores; `next` is where the tile after it is read.
    ///
    /// A non-temporal store must be to a whole line, or it costs a read and a write of memory. If every row begins at the same
    /// place within a line, blocks are stored right from registers (`direct`); else a band of rows is gathered in a buffer
    /// that stays in the caches, and copied from there in whole lines (`staged`).
    ///
    /// A tile goes down in bands. Lines of its columns that lie on pages of their own are out of reach of the processor's
    /// prefetchers, which stop at the end of a page, so the lines of a band are prefetched some bands before it is read.
    ///
    /// # Safety
    /// It may be read and written.
    unsafe fn stream(&self, tile: Tile, next: *const u8, stage: &mut [MaybeUninit<u8>], tuning: Tuning) {
        if !tuning.stream && self.packed {
            // SAFETY: as the caller says.
            return unsafe { self.run(tile) };
        }
        let height = tile.rows.len();
        let mut least = 1;
        if let Way::Turn(turn) = &self.way {
            let head = before(tile.to);
            // The rows of a packed tile end in lines in which the next ones begin.
            let aligned = head == 0 || !self.packed && head.is_multiple_of(self.unit);
            if tuning.direct && turn.streams() && aligned && height >= turn.least && level(tile.rows) {
                // SAFETY: as the caller says; all rows begin lines after the head.
                return unsafe { self.direct(turn, tile, head / self.unit, next, tuning) };
            }
            least = turn.least;
        } else if !tuning.stream && self.equal >= tile.columns.len() && self.is_whole(tile) {
            // SAFETY: as the caller says.
            return unsafe { self.lines(tile) };
        } else if self.repeats {
            // SAFETY: as the caller says.
            return unsafe { self.stream_repeated(tile) };
        }
        for first in (0..height).step_by(self.tall) {
            let part = self.rows(tile, first.min(height.saturating_sub(least))..height.min(first + self.tall));
            // A band is prefetched while the one before it is stored.
            let ahead = match first + self.tall {
                row if row < height => self.row(tile.from, row),
                row => self.row(next, row - height),
            };
            // SAFETY: a part of the tile.
            unsafe { self.staged(part, ahead, stage) };
        }
    }

    /// Stores the lines of a tile through the caches: those that it would store past them.
    ///
    /// # Safety
    /// It may be read and written. Columns are equally far from each other, and no element lies in two lines.
    unsafe fn lines(&self, tile: Tile) {
        for (y, to) in tile.rows.iter().enumerate() {
            let Range { start, end } = tile.lines(tile.to.wrapping_offset(*to), self.unit);
            // SAFETY: a part of the tile.
            unsafe { self.run(self.columns(self.rows(tile, y..y + 1), start / self.unit..end / self.unit)) };
        }
    }

    /// Whether no element of a tile lies in two lines.
    fn is_whole(&self, tile: Tile) -> bool {
        let mut places = tile.rows.iter().map(|row| tile.to.wrapping_offset(*row).addr());
        LINE.is_multiple_of(self.unit) && places.all(|place| place.is_multiple_of(self.unit))
    }

    /// Stores a tile of which each row is one element over and over, in whole lines but for its ends.
    ///
    /// # Safety
    /// It may be read and written.
    unsafe fn stream_repeated(&self, tile: Tile) {
        for (y, to) in tile.rows.iter().enumerate() {
            let to = tile.to.wrapping_offset(*to);
            let Range { start, end } = tile.lines(to, self.unit);
            // SAFETY: the element of a row, and a part of the row.
            unsafe {
                let value = std::slice::from_raw_parts(self.row(tile.from, y), self.unit);
                sink::stream_repeated(to.add(start), value, start % self.unit, end - start);
            }
        }
    }

    /// Where a row of a tile is read.
    fn row(&self, from: *const u8, row: usize) -> *const u8 {
        from.wrapping_offset(row as isize * self.down)
    }

    /// Moves a tile with blocks that are stored as whole lines: some columns from the first row to the last, then the next
    /// ones. The columns before the first whole line and after the last one go through the caches.
    ///
    /// # Safety
    /// It may be read and written, and has as many rows as are turned at once. After `head` columns all rows begin lines.
    unsafe fn direct(&self, turn: &Turn, tile: Tile, head: usize, next: *const u8, tuning: Tuning) {
        let (height, all) = (tile.rows.len(), tile.columns.len());
        let head = head.min(all);
        let end = tile.own + (tile.own.wrapping_sub(head).wrapping_neg() % self.width).min(all - tile.own);
        let most = tuning.columns.next_multiple_of(self.width);
        let group = |first: usize| first..end.min(first.max(head) + most).max(first);
        // If all columns begin lines at the same row, the first band ends there: later ones then read whole lines.
        let short = before(tile.from) / self.unit;
        let short = if short.is_multiple_of(turn.least) && level(tile.columns) { short } else { 0 };
        let leftmost = group(if tile.first { 0 } else { head });
        let mut columns = leftmost.clone();
        while !columns.is_empty() {
            let after = group(columns.end);
            let below = if after.is_empty() { (next, &leftmost) } else { (tile.from, &after) };
            let early = tuning.columns.div_ceil(columns.len()) * self.band;
            let (mut first, mut last) = (0, if short > 0 { short } else { self.band });
            while first < height {
                let part = self.rows(tile, first.min(height.saturating_sub(turn.least))..last.min(height));
                let (from, ahead) = match first + early {
                    row if row < height => (self.row(tile.from, row), &columns),
                    row => (self.row(below.0, row - height), below.1),
                };
                // SAFETY: a part of the tile.
                unsafe { self.blocks(turn, part, columns.clone(), head, (from, &tile.columns[ahead.clone()])) };
                (first, last) = (last, last + self.band);
            }
            columns = after;
        }
    }

    /// Moves some columns of a band block by block, and prefetches as many of those that are moved later.
    ///
    /// # Safety
    /// As for [`Gather::direct`].
    unsafe fn blocks(
        &self,
        turn: &Turn,
        band: Tile,
        columns: Range<usize>,
        head: usize,
        (ahead, later): (*const u8, &[isize]),
    ) {
        let mut later = later.chunks(self.width);
        let mut first = columns.start;
        while first < columns.end {
            let last = if first < head { head } else { first + self.width }.min(columns.end);
            let Tile { from, columns, to, rows, .. } = self.columns(band, first..last);
            self.prefetch(ahead, later.next().unwrap_or_default());
            // SAFETY: as the caller says.
            unsafe {
                if columns.len() == self.width {
                    turn.stream(from, columns, to, rows);
                } else {
                    turn.any(from, columns, to, rows);
                }
            }
            first = last;
        }
    }

    /// Moves a band of a tile into a buffer, and from there on in whole lines.
    ///
    /// # Safety
    /// It may be read and written.
    unsafe fn staged(&self, tile: Tile, ahead: *const u8, stage: &mut [MaybeUninit<u8>]) {
        let all = tile.columns.len() * self.unit;
        let rows = &self.staged[..tile.rows.len()];
        let Some(last) = rows.last() else { return };
        assert!(*last as usize + all <= stage.len(), "a part of a tile is too large");
        let stage: *mut u8 = stage.as_mut_ptr().cast();
        for first in (0..tile.columns.len()).step_by(self.width) {
            let last = tile.columns.len().min(first + self.width);
            match self.way {
                Way::Turn(_) if !self.packed => {}
                Way::Turn(_) => self.prefetch(ahead, &tile.columns[first..last]),
                _ => prefetch_between(ahead, &tile.columns[first..last]),
            }
            // SAFETY: the tile may be read; the stage has a place for each row.
            unsafe { self.run(self.columns(Tile { to: stage, rows, ..tile }, first..last)) };
        }
        if self.packed {
            // SAFETY: all rows are one run.
            return unsafe { sink::stream(tile.to.wrapping_offset(tile.rows[0]), stage, rows.len() * all) };
        }
        let mut lines =
            Lines::new(ahead, tile.columns, if let Way::Turn(_) = self.way { rows.len() * self.unit } else { 0 });
        let share = lines.count().div_ceil(rows.len());
        for (to, row) in tile.rows.iter().zip(rows) {
            lines.prefetch(share);
            let to = tile.to.wrapping_offset(*to);
            let Range { start, end } = tile.lines(to, self.unit);
            // SAFETY: a part of a row.
            unsafe { sink::stream(to.wrapping_add(start), stage.offset(*row).add(start), end - start) };
        }
    }

    /// Prefetches the last line that a band has of each column; those before that were prefetched for the bands before.
    fn prefetch(&self, from: *const u8, columns: &[isize]) {
        for column in columns {
            sink::prefetch(from.wrapping_offset(*column).wrapping_add(LINE - 1));
        }
    }
}

/// Prefetches all lines from the first of some columns to the last, where each has several.
fn prefetch_between(from: *const u8, columns: &[isize]) {
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return };
    if first.abs_diff(*last) <= columns.len() * LINE {
        for at in (*first.min(last)..=*first.max(last)).step_by(LINE) {
            sink::prefetch(from.wrapping_offset(at));
        }
    }
}

/// Whether all places are equally far from the beginning of a line.
fn level(places: &[isize]) -> bool {
    places.iter().all(|place| *place % LINE as isize == 0)
}

/// Bytes from a place to the next beginning of a line.
fn before(place: *const u8) -> usize {
    place.addr().wrapping_neg() % LINE
}

/// The lines of the columns of a band, which are prefetched a few at a time.
struct Lines<'a> {
    from: *const u8,
    columns: std::slice::Iter<'a, isize>,
    /// Lines of each column.
    each: usize,
    column: isize,
    at: usize,
}

impl<'a> Lines<'a> {
    /// So many bytes of each column.
    fn new(from: *const u8, columns: &'a [isize], bytes: usize) -> Lines<'a> {
        Lines { from, columns: columns.iter(), each: bytes.div_ceil(LINE), column: 0, at: bytes.div_ceil(LINE) }
    }

    /// How many they are.
    fn count(&self) -> usize {
        self.columns.len() * self.each
    }

    /// Prefetches the next ones. The last line of each column is the one that holds the band's end: the first was prefetched
    /// for the band before.
    #[inline]
    fn prefetch(&mut self, most: usize) {
        for _ in 0..most {
            if self.at == self.each {
                let Some(column) = self.columns.next().filter(|_| self.each > 0) else { return };
                (self.column, self.at) = (*column, 0);
            }
            sink::prefetch(self.from.wrapping_offset(self.column).wrapping_add(self.at * LINE + LINE - 1));
            self.at += 1;
        }
    }
}

/// Bytes that are gathered at a time where rows do not all begin lines: a part of the second-level cache. Measured.
const STAGE: usize = if cfg!(miri) { 1 << 12 } else { 128 << 10 };

/// Bytes of a row that are gathered element by element before what follows is prefetched. Measured.
const GATHERED: usize = if cfg!(miri) { 32 } else { 1 << 10 };

/// Lines of each column that are moved at a time, and prefetched meanwhile, where a tile is moved through the caches.
const NEXT: usize = 4;

/// Bytes that are gathered at a time where rows follow each other where they are written: a part of the first-level cache.
const PACKED: usize = if cfg!(miri) { 1 << 8 } else { 4 << 10 };

/// An odometer: the indices of some loops, the last of them the fastest, and the positions that belong to them on both
/// sides. A step adds a stride and, at the end of a loop, takes it back: no multiplication and no division.
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

    /// Goes to a turn, counted from 0; the first one is at the given places.
    fn start(&mut self, turn: usize, from: isize, to: isize) {
        (self.from, self.to) = (from, to);
        let mut turn = turn;
        for (around, at) in self.loops.iter().zip(&mut self.at).rev() {
            *at = turn % around.count.max(1);
            turn /= around.count.max(1);
            self.from = self.from.wrapping_add((*at as isize).wrapping_mul(around.from));
            self.to = self.to.wrapping_add((*at as isize).wrapping_mul(around.to));
        }
    }

    /// Goes to the next turn, and from the last to the first.
    #[inline]
    fn next(&mut self) {
        for (around, at) in self.loops.iter().zip(&mut self.at).rev() {
            *at += 1;
            self.from = self.from.wrapping_add(around.from);
            self.to = self.to.wrapping_add(around.to);
            if *at < around.count {
                return;
            }
            *at = 0;
            self.from = self.from.wrapping_sub((around.count as isize).wrapping_mul(around.from));
            self.to = self.to.wrapping_sub((around.count as isize).wrapping_mul(around.to));
        }
    }

    /// Goes on by some turns of the last loop, which does not end before.
    #[inline]
    fn leap(&mut self, turns: usize) {
        if let (Some(last), Some(at)) = (self.loops.last(), self.at.last_mut()) {
            let more = turns - 1;
            *at += more;
            self.from = self.from.wrapping_add((more as isize).wrapping_mul(last.from));
            self.to = self.to.wrapping_add((more as isize).wrapping_mul(last.to));
        }
        self.next();
    }

    /// Whether all loops but the last one are where there is data.
    #[inline]
    fn has_data_outside(&self) -> bool {
        let outside = self.loops.len().saturating_sub(1);
        self.loops[..outside].iter().zip(&self.at).all(|(around, at)| (around.begin..around.end).contains(at))
    }

    fn has_data(&self) -> bool {
        self.loops.iter().zip(&self.at).all(|(around, at)| (around.begin..around.end).contains(at))
    }
}
