//! Rows that are no longer than one register, or two, and follow each other where they are written, such as those of windows over an image.
//!
//! To find out where such a row is read and which part of it has data takes longer than to move it, and is the same for each
//! turn of the loops around. So the rows of the innermost loops are listed once, each as an offset and a mask of bytes. A row
//! is then one load of whole registers, in which bytes without data are exchanged for those of the fill value, and one store
//! of whole registers, whose end the next row writes over.

use super::{Move, Running, Walk, sink};

/// Bytes of a register.
const REGISTER: usize = 16;

/// The most bytes of a row.
pub(crate) const LONGEST: usize = 2 * REGISTER;

/// The most rows that are listed, and the fewest that are worth it.
pub(crate) const MOST: usize = if cfg!(miri) { 16 } else { 256 };
const FEWEST: usize = 4;

/// How many times all of the listed rows must be moved at least: to list them takes as long as to move them twice.
const OFTEN: usize = 3;

/// The rows of some loops, of as many bytes as `N` registers hold and no fewer do.
pub(super) struct Short<const N: usize> {
    bytes: usize,
    /// Where each row is read, relative to the first index, and its bytes that have data.
    rows: Vec<(isize, Row<N>)>,
    /// The fill value in each of its places.
    fill: Row<N>,
    /// How many loops there are around these.
    outside: usize,
}

/// The bytes of a row, register by register.
type Row<const N: usize> = [u128; N];

impl<const N: usize> Short<N> {
    /// Lists the rows of as many of the innermost loops as follow each other where they are written. `parts` are the rows that
    /// are moved in all; `None` if these are too few to be worth a list, or if bytes without data must stay as they are.
    pub(super) fn new(
        loops: &[Running],
        run: Running,
        unit: usize,
        fill: Option<&[u8]>,
        parts: usize,
    ) -> Option<Short<N>> {
        let bytes = run.count * unit;
        if bytes.div_ceil(REGISTER) != N || run.from != unit as isize {
            return None;
        }
        let (mut count, mut outside) = (1, loops.len());
        while let Some(around) = outside.checked_sub(1).map(|at| loops[at]) {
            let all = around.count.saturating_mul(count);
            if around.to != (bytes * count) as isize || all > MOST.min(parts / OFTEN) {
                break;
            }
            (count, outside) = (all, outside - 1);
        }
        if count < FEWEST {
            return None;
        }
        let data = bytes_of(|at| if (run.begin * unit..run.end * unit).contains(&at) { 0xff } else { 0 });
        let mut walk = Walk::new(loops[outside..].iter().copied());
        let mut row = || {
            let row = (walk.from, if walk.has_data() { data } else { [0; N] });
            walk.next();
            row
        };
        let rows: Vec<(isize, Row<N>)> = (0..count).map(|_| row()).collect();
        let whole = bytes_of(|at| if at < bytes { 0xff } else { 0 });
        if fill.is_none() && rows.iter().any(|(_, data)| *data != whole) {
            return None;
        }
        let fill = fill.unwrap_or(&[0]);
        let fill = bytes_of(|at| fill[at % fill.len()]);
        Some(Short { bytes, rows, fill, outside })
    }

    /// How many rows are listed.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// The bytes of a row and some after it, which is read `base` bytes from the beginning of a source on.
    #[inline]
    fn row(&self, source: &[u8], base: isize, (offset, data): (isize, Row<N>)) -> Row<N> {
        let at = base.wrapping_add(offset);
        let near = usize::try_from(at).ok().and_then(|at| source.get(at..)?.as_chunks().0.first_chunk());
        let read = near.map_or_else(|| at_an_end(source, at, data), |bytes| bytes.map(u128::from_ne_bytes));
        std::array::from_fn(|part| read[part] & data[part] | self.fill[part] & !data[part])
    }

    /// Moves `count` rows from `first` on.
    ///
    /// # Safety
    /// They may be written at `to`.
    #[inline]
    unsafe fn copy(&self, to: *mut u8, source: &[u8], base: isize, first: usize, count: usize) {
        let rows = &self.rows[first..first + count];
        // As many registers fit as do not reach past the last row.
        let wide = (count + 1).saturating_sub((N * REGISTER).div_ceil(self.bytes));
        let mut to = to;
        for row in &rows[..wide] {
            // SAFETY: whole registers from a row on that is followed by so many bytes of others.
            unsafe {
                to.cast::<Row<N>>().write_unaligned(self.row(source, base, *row));
                to = to.add(self.bytes);
            }
        }
        for row in &rows[wide..] {
            let bytes = self.row(source, base, *row).map(u128::to_ne_bytes);
            // SAFETY: a row.
            unsafe {
                sink::copy(to, bytes.as_ptr().cast(), self.bytes);
                to = to.add(self.bytes);
            }
        }
    }
}

/// The bytes of a row, and of what is left of its last register.
fn bytes_of<const N: usize>(mut byte: impl FnMut(usize) -> u8) -> Row<N> {
    std::array::from_fn(|part| u128::from_ne_bytes(std::array::from_fn(|at| byte(part * REGISTER + at))))
}

/// The bytes of a row that have data, where the source has no whole register.
#[cold]
fn at_an_end<const N: usize>(source: &[u8], at: isize, data: Row<N>) -> Row<N> {
    let data = data.map(u128::to_ne_bytes);
    let has_data = |byte: usize| data[byte / REGISTER][byte % REGISTER] != 0;
    bytes_of(|byte| if has_data(byte) { source[at.wrapping_add(byte as isize) as usize] } else { 0 })
}

impl Move<'_> {
    /// Moves some parts of a box of rows, which begins at places of both sides.
    ///
    /// # Safety
    /// The box lies inside the slices, `walk` goes over its rows, and no other thread touches what these parts write.
    pub(super) unsafe fn short_rows<const N: usize>(
        &self,
        short: &Short<N>,
        walk: &Walk,
        (from, to): (isize, isize),
        parts: std::ops::Range<usize>,
    ) {
        let mut walk = Walk::new(walk.loops[..short.outside].iter().copied());
        walk.start(parts.start / short.count(), from, to);
        let mut sink = sink::Sink::new(self.stream.rows, self.fill.unwrap_or(&[0]));
        let (mut first, mut left) = (parts.start % short.count(), parts.len());
        while left > 0 {
            let count = (short.count() - first).min(left).min(sink::LONG / short.bytes);
            let bytes = count * short.bytes;
            let to = self.output.start.wrapping_offset(walk.to).wrapping_add(first * short.bytes);
            // SAFETY: rows of the box, which are written if they have data or a fill value.
            unsafe {
                if walk.has_data() {
                    short.copy(sink.place(to, bytes), self.source, walk.from, first, count);
                } else if self.fill.is_some() {
                    sink.fill(to, bytes);
                }
            }
            (first, left) = (first + count, left - count);
            if first == short.count() {
                first = 0;
                walk.next();
            }
        }
        // SAFETY: what was gathered lies inside the output.
        unsafe { sink.flush() };
    }
}
