//! Stores: through the caches, or non-temporal.
//!
//! An ordinary store to a line that is not in the caches reads the line from memory first, and writing it back later makes
//! room for it by displacing another. A non-temporal store does neither, if all 64 bytes of the line are stored one after
//! another; otherwise it costs more than an ordinary one. So short runs are gathered until they fill lines. Non-temporal
//! stores become visible to other threads in no particular order, and only after a fence ([`fence`]).

use std::mem::MaybeUninit;
use std::ops::Range;

use super::lines;

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Runs from this many bytes on are stored as they are: the two lines at their ends no longer matter.
pub(super) const LONG: usize = if cfg!(miri) { 1 << 7 } else { 1 << 11 };

const STAGE: usize = if cfg!(miri) { 1 << 8 } else { 4 << 10 };

/// Rows that follow each other, and the part of them that has data: some of the rows, and of each the bytes from `begin` to
/// `end`.
pub(super) struct Rows {
    pub(super) bytes: usize,
    pub(super) count: usize,
    pub(super) data: Range<usize>,
    pub(super) begin: usize,
    pub(super) end: usize,
}

#[repr(align(64))]
struct Stage([MaybeUninit<u8>; STAGE + LINE]);

/// Writes runs. Where stores are non-temporal, runs that follow each other are gathered in a buffer (the stage) until they
/// fill whole lines.
pub(super) struct Sink<'a> {
    stream: bool,
    fill: &'a [u8],
    uniform: bool,
    /// Where the gathered bytes go, and how many they are. In the stage they are as far from the start of a line as they will
    /// be there.
    to: *mut u8,
    gathered: usize,
    stage: Stage,
}

impl<'a> Sink<'a> {
    pub(super) fn new(stream: bool, fill: &'a [u8]) -> Sink<'a> {
        let uniform = fill.iter().all(|byte| *byte == fill[0]);
        let stage = Stage([const { MaybeUninit::uninit() }; STAGE + LINE]);
        Sink { stream, fill, uniform, to: std::ptr::null_mut(), gathered: 0, stage }
    }

    /// # Safety
    /// `bytes` may be read at `from`, and written at `to` until this sink is gone; they do not overlap.
    #[inline]
    pub(super) unsafe fn copy(&mut self, to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: parts of the two runs, and of the stage.
        unsafe {
            if !self.stream {
                return copy(to, from, bytes);
            }
            if bytes >= LONG {
                self.flush();
                return stream(to, from, bytes);
            }
            let place = self.room(to, bytes);
            copy(place, from, bytes);
        }
    }

    /// Writes the fill value over and over; `bytes` are whole elements.
    ///
    /// # Safety
    /// They may be written at `to` until this sink is gone.
    pub(super) unsafe fn fill(&mut self, to: *mut u8, bytes: usize) {
        // SAFETY: parts of the run, and of the stage.
        unsafe {
            if !self.stream {
                return self.repeat(to, bytes);
            }
            let step = if self.uniform { LONG } else { LONG / self.fill.len() * self.fill.len() };
            if step == 0 {
                self.flush();
                return self.repeat(to, bytes);
            }
            let mut done = 0;
            while done < bytes {
                let now = step.min(bytes - done);
                let place = self.room(to.add(done), now);
                self.repeat(place, now);
                done += now;
            }
        }
    }

    /// Where `bytes` are to be written that go to `to`.
    ///
    /// # Safety
    /// They may be written there until this sink is gone, and the caller writes all of them before it calls anything else here.
    /// At most [`LONG`] bytes.
    #[inline]
    pub(super) unsafe fn place(&mut self, to: *mut u8, bytes: usize) -> *mut u8 {
        // SAFETY: as the caller says.
        if self.stream { unsafe { self.room(to, bytes) } } else { to }
    }

    /// Writes rows that follow each other: their data, and the fill value around it.
    ///
    /// Where they follow each other on the other side, too, they are copied as one, and what has no data is written over.
    ///
    /// # Safety
    /// The data of row `y` may be read at `from + y * step`, and all rows written from `to` on until this sink is gone;
    /// they are at most [`LONG`] bytes, and do not overlap.
    #[inline]
    pub(super) unsafe fn rows(&mut self, to: *mut u8, from: *const u8, step: isize, rows: Rows) {
        let Rows { bytes, count, data, begin, end } = rows;
        // SAFETY: parts of the rows, and of the stage.
        unsafe {
            let place = self.place(to, bytes * count);
            if data.is_empty() || begin >= end {
                return self.repeat(place, bytes * count);
            }
            let row = |y: usize| place.add(y * bytes);
            let source = |y: usize| from.wrapping_offset(y as isize * step);
            self.few(place, data.start * bytes + begin);
            if step == bytes as isize {
                let all = (data.len() - 1) * bytes + end - begin;
                copy(row(data.start).add(begin), source(data.start).wrapping_add(begin), all);
            }
            for y in data.clone() {
                if step != bytes as isize {
                    copy(row(y).add(begin), source(y).wrapping_add(begin), end - begin);
                }
                if y + 1 < data.end {
                    self.few(row(y).add(end), bytes - end + begin);
                }
            }
            self.few(row(data.end - 1).add(end), (count - data.end) * bytes + bytes - end);
        }
    }

    /// Writes the fill value a few times.
    ///
    /// # Safety
    /// `bytes`, whole elements, may be written at `to`.
    #[inline]
    unsafe fn few(&self, to: *mut u8, bytes: usize) {
        // SAFETY: as the caller says.
        unsafe { if bytes <= LINE { lines::repeat(self.fill, to, bytes) } else { self.repeat(to, bytes) } }
    }

    /// Room in the stage for bytes that go to `to`.
    ///
    /// # Safety
    /// The caller writes all of the room before it calls anything else here. At most [`LONG`] bytes.
    #[inline]
    unsafe fn room(&mut self, to: *mut u8, bytes: usize) -> *mut u8 {
        if self.gathered > 0 && self.to.wrapping_add(self.gathered) != to {
            // SAFETY: the places of what was gathered may be written to.
            unsafe { self.flush() };
        }
        if self.gathered + bytes > STAGE {
            // SAFETY: as above; what does not fill a line stays.
            unsafe { self.flush_lines() };
        }
        if self.gathered == 0 {
            self.to = to;
        }
        let place = self.start().wrapping_add(self.gathered);
        self.gathered += bytes;
        place
    }

    fn start(&mut self) -> *mut u8 {
        self.stage.0.as_mut_ptr().cast::<u8>().wrapping_add(self.to.addr() % LINE)
    }

    /// Writes the lines that were gathered, and keeps what does not fill the last one.
    ///
    /// # Safety
    /// The places of what was gathered may be written to.
    unsafe fn flush_lines(&mut self) {
        let rest = self.to.wrapping_add(self.gathered).addr() % LINE;
        let lines = self.gathered.saturating_sub(rest);
        let start = self.start();
        // SAFETY: what was gathered lies in the stage; the rest is shorter than what is written before it.
        unsafe {
            stream(self.to, start, lines);
            self.to = self.to.add(lines);
            self.gathered -= lines;
            let begin = self.start();
            std::ptr::copy(start.add(lines), begin, self.gathered);
        }
    }

    /// Writes all that was gathered.
    ///
    /// # Safety
    /// Its places may be written to.
    pub(super) unsafe fn flush(&mut self) {
        let start = self.start();
        // SAFETY: what was gathered lies in the stage.
        unsafe { stream(self.to, start, self.gathered) };
        self.gathered = 0;
    }

    /// # Safety
    /// `bytes`, whole elements, may be written at `to`.
    unsafe fn repeat(&self, to: *mut u8, bytes: usize) {
        // SAFETY: all within the run; each copy takes what is written already.
        unsafe {
            if self.uniform {
                return to.write_bytes(self.fill[0], bytes);
            }
            let mut done = self.fill.len().min(bytes);
            to.copy_from_nonoverlapping(self.fill.as_ptr(), done);
            while done < bytes {
                let more = done.min(bytes - done);
                to.add(done).copy_from_nonoverlapping(to, more);
                done += more;
            }
        }
    }
}

/// Copies. A run of up to 64 bytes is two loads and two stores, its first bytes and its last, which may overlap: no loop, and
/// no call of `memcpy`.
///
/// # Safety
/// `bytes` may be read at `from` and written at `to`; they do not overlap.
#[inline]
pub(super) unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    /// # Safety
    /// A run is at least this long and at most twice so.
    #[inline]
    unsafe fn ends<const N: usize>(to: *mut u8, from: *const u8, bytes: usize) {
        // SAFETY: both ends lie in the run.
        unsafe {
            let first = from.cast::<[u8; N]>().read_unaligned();
            let last = from.add(bytes - N).cast::<[u8; N]>().read_unaligned();
            to.cast::<[u8; N]>().write_unaligned(first);
            to.add(bytes - N).cast::<[u8; N]>().write_unaligned(last);
        }
    }
    // SAFETY: as the caller says.
    unsafe {
        match bytes {
            0 => {}
            1 => to.write(from.read()),
            2..4 => ends::<2>(to, from, bytes),
            4..8 => ends::<4>(to, from, bytes),
            8..16 => ends::<8>(to, from, bytes),
            16..32 => ends::<16>(to, from, bytes),
            32..=64 => ends::<32>(to, from, bytes),
            _ => to.copy_from_nonoverlapping(from, bytes),
        }
    }
}

/// Copies with non-temporal stores where whole lines are written, and ordinary ones at the two ends.
///
/// # Safety
/// As for [`copy`].
pub(super) unsafe fn stream(to: *mut u8, from: *const u8, bytes: usize) {
    let head = to.addr().wrapping_neg() % LINE;
    // SAFETY: parts of the run; the stores are to whole lines.
    unsafe {
        if bytes < head + LINE {
            return copy(to, from, bytes);
        }
        copy(to, from, head);
        let lines = (bytes - head) / LINE;
        stream_lines(to.add(head), from.add(head), lines, LINE);
        let done = head + lines * LINE;
        copy(to.add(done), from.add(done), bytes - done);
    }
}

/// Writes a value over and over with non-temporal stores where whole lines are written. A line holds a whole number of values;
/// the first byte is that one of the value.
///
/// # Safety
/// `bytes` may be written at `to`.
pub(super) unsafe fn stream_repeated(to: *mut u8, value: &[u8], first: usize, bytes: usize) {
    let line = |first: usize| -> [u8; LINE] { std::array::from_fn(|at| value[(first + at) % value.len()]) };
    let head = (to.addr().wrapping_neg() % LINE).min(bytes);
    let (before, after) = (line(first), line(first + head));
    let lines = (bytes - head) / LINE;
    let done = head + lines * LINE;
    // SAFETY: parts of the run; the stores are to whole lines.
    unsafe {
        copy(to, before.as_ptr(), head);
        stream_lines(to.add(head), after.as_ptr(), lines, 0);
        copy(to.add(done), after.as_ptr(), bytes - done);
    }
}

/// Prefetches a line into the second-level cache. The address may be any: a prefetch of one that is not mapped does nothing.
#[inline]
pub(super) fn prefetch(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every processor of this architecture has it, and it reads nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(at.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}

/// Writes lines, each of which is read `step` bytes after the one before it.
///
/// # Safety
/// As for [`copy`]; `to` begins a line.
#[inline]
unsafe fn stream_lines(to: *mut u8, from: *const u8, lines: usize, step: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        if std::is_x86_feature_detected!("avx") {
            // SAFETY: as the caller says.
            return unsafe { wide_lines(to, from, lines, step) };
        }
        use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
        for line in 0..lines {
            // SAFETY: a line of both runs; it is aligned where it is written.
            unsafe {
                let (to, from) = (to.add(line * LINE), from.add(line * step));
                let part = |at: usize| _mm_loadu_si128(from.add(at).cast());
                let (a, b, c, d) = (part(0), part(16), part(32), part(48));
                _mm_stream_si128(to.cast(), a);
                _mm_stream_si128(to.add(16).cast(), b);
                _mm_stream_si128(to.add(32).cast(), c);
                _mm_stream_si128(to.add(48).cast(), d);
            }
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: as the caller says.
    unsafe {
        if step == LINE {
            return to.copy_from_nonoverlapping(from, lines * LINE);
        }
        (0..lines).for_each(|line| to.add(line * LINE).copy_from_nonoverlapping(from.add(line * step), LINE));
    }
}

/// # Safety
/// As for [`stream_lines`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
#[target_feature(enable = "avx")]
unsafe fn wide_lines(to: *mut u8, from: *const u8, lines: usize, step: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_stream_si256};
    for line in 0..lines {
        // SAFETY: a line of both runs; it is aligned where it is written.
        unsafe {
            let (to, from) = (to.add(line * LINE), from.add(line * step));
            let (a, b) = (_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.add(32).cast()));
            _mm256_stream_si256(to.cast(), a);
            _mm256_stream_si256(to.add(32).cast(), b);
        }
    }
}

/// Orders non-temporal stores before all stores after it. Without it, a thread that learns of the end of a copy could still
/// see what was there before.
pub(super) fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every processor of this architecture has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
