//! Runs whose neighbours lie near each other in another order: reversed, repeated, every other one, or the channels of pixels
//! exchanged.
//!
//! As many elements as one register holds are read with one load, put in order with one shuffle, and written with one store
//! of a whole register, whose end the next one writes over.

use std::ops::Range;

use super::{Move, Running, Walk, sink};
use crate::mover::{Axes, Axis, Loop, Mover, Shuffled};

/// Bytes of a register.
pub(crate) const REGISTER: usize = 16;

pub(super) type Register = [u8; REGISTER];

/// How the bytes of a register are put in order.
struct Order {
    /// Where is loaded, relative to the first element, and which byte of that comes to each place.
    low: isize,
    from: Register,
    /// Bytes that a register writes, and those of one step.
    bytes: usize,
    step: usize,
    /// How far the elements of the next register are from these, where they are read.
    next: isize,
}

impl Order {
    /// Of so many steps along an axis, with a block of elements at each.
    fn new(unit: usize, block: &[Running], along: Running, steps: usize) -> Order {
        let mut places: Vec<isize> = (0..unit as isize).collect();
        let counts = block.iter().map(|axis| (axis.count, axis.from)).chain([(steps, along.from)]);
        for (count, stride) in counts {
            let inner = places.clone();
            places.extend((1..count as isize).flat_map(|at| inner.iter().map(move |place| place + at * stride)));
        }
        let low = places.iter().copied().min().unwrap_or(0);
        let from = std::array::from_fn(|at| places.get(at).map_or(0, |place| (place - low) as u8));
        let bytes = places.len();
        Order { low, from, bytes, step: bytes / steps, next: steps as isize * along.from }
    }

    /// Moves `all` bytes, of which the first element is read `base` bytes from the beginning of a source on.
    ///
    /// # Safety
    /// They may be written at `to`.
    ///
    /// # Panics
    /// If an element lies outside the source.
    #[inline(always)]
    unsafe fn copy(
        &self,
        to: *mut u8,
        source: &[u8],
        base: isize,
        all: usize,
        shuffled: impl Fn(Register) -> Register,
    ) {
        let first = base.wrapping_add(self.low);
        let at = |turn: usize| first.wrapping_add((turn as isize).wrapping_mul(self.next));
        let most = source.len() as isize - REGISTER as isize;
        let is_whole = |turn: usize| (0..=most).contains(&at(turn));
        // As many registers as do not reach past the end are written whole, but where the source has none at its own ends.
        let wide = (all + self.bytes).saturating_sub(REGISTER) / self.bytes;
        let begin = if is_whole(0) { 0 } else { 1 };
        let end = if wide > 0 && is_whole(wide - 1) { wide } else { wide.saturating_sub(1) };
        let whole = if begin < end && is_whole(begin) && is_whole(end - 1) { begin..end } else { 0..0 };
        for turn in whole.clone() {
            // SAFETY: this register lies between the first and the last one, which are in the source; a whole one is left.
            unsafe {
                let bytes = source.as_ptr().offset(at(turn)).cast::<Register>().read_unaligned();
                to.add(turn * self.bytes).cast::<Register>().write_unaligned(shuffled(bytes));
            }
        }
        let places = |turn: usize| self.from.iter().take(self.bytes.min(all - turn * self.bytes)).enumerate();
        for turn in (0..whole.start).chain(whole.end..all.div_ceil(self.bytes)) {
            for (place, from) in places(turn) {
                let byte = source[at(turn).wrapping_add(isize::from(*from)) as usize];
                // SAFETY: one of the bytes to be written.
                unsafe { to.add(turn * self.bytes + place).write(byte) };
            }
        }
    }
}

impl Move<'_> {
    /// Moves runs whose elements lie near each other where they are read, and returns how many bytes that were.
    ///
    /// # Safety
    /// As for [`Move::run`]; the box lies inside the slices.
    pub(super) unsafe fn shuffled(&self, mover: &Mover, shuffled: &Shuffled, parts: Range<usize>) -> usize {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if std::is_x86_feature_detected!("ssse3") {
            // SAFETY: as the caller says; the processor has the instructions.
            return unsafe { self.shuffled_ssse3(mover, shuffled, parts) };
        }
        // SAFETY: as the caller says.
        unsafe { self.shuffled_by(mover, shuffled, parts, in_order) }
    }

    /// # Safety
    /// As for [`Move::shuffled`].
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[target_feature(enable = "ssse3")]
    unsafe fn shuffled_ssse3(&self, mover: &Mover, shuffled: &Shuffled, parts: Range<usize>) -> usize {
        use std::arch::x86_64::{__m128i, _mm_shuffle_epi8};
        let by = |bytes: Register, from: Register| {
            let [bytes, from] = [bytes, from].map(bytemuck::cast::<Register, __m128i>);
            bytemuck::cast(_mm_shuffle_epi8(bytes, from))
        };
        // SAFETY: as the caller says.
        unsafe { self.shuffled_by(mover, shuffled, parts, by) }
    }

    /// # Safety
    /// As for [`Move::shuffled`].
    #[inline(always)]
    unsafe fn shuffled_by(
        &self,
        mover: &Mover,
        Shuffled { block, along, steps, columns }: &Shuffled,
        parts: Range<usize>,
        in_order: impl Fn(Register, Register) -> Register,
    ) -> usize {
        let (mut from, mut to) = (self.from, self.to);
        let mut data = |axis: &Axis| {
            let (running, more_from, more_to) = self.data(axis);
            (from, to) = (from.wrapping_add(more_from), to.wrapping_add(more_to));
            running
        };
        let block: Axes<Running> = block.iter().map(&mut data).collect();
        let along = data(along);
        let order = Order::new(mover.unit, &block, along, *steps);
        let mut walk = Walk::new(mover.loops.iter().map(|around| match around {
            Loop::Over(axis) => data(axis),
            _ => {
                let (count, columns) = (along.count.div_ceil(*columns), *columns as isize);
                Running { count, from: along.from * columns, to: along.to * columns, begin: 0, end: count }
            }
        }));
        let cut = mover.loops.iter().position(|around| *around == Loop::Across);
        walk.start(parts.start, from, to);
        // Several registers at a time, as many as the sink has room for.
        let most = sink::LONG / order.bytes;
        let mut sink = sink::Sink::new(self.stream.rows, &[0]);
        let mut moved = 0;
        for _ in parts {
            let first = cut.map_or(0, |at| walk.at[at] * columns);
            let all = (along.count - first).min(*columns) * order.step;
            for turn in (0..all.div_ceil(order.bytes)).step_by(most) {
                let done = turn * order.bytes;
                let now = (all - done).min(most * order.bytes);
                let to = self.output.start.wrapping_offset(walk.to).wrapping_add(done);
                let base = walk.from.wrapping_add(turn as isize * order.next);
                // SAFETY: a part of a run that lies inside the slices.
                unsafe {
                    let place = sink.place(to, now);
                    order.copy(place, self.source, base, now, |bytes| in_order(bytes, order.from));
                }
            }
            moved += all;
            walk.next();
        }
        // SAFETY: what was gathered lies inside the output.
        unsafe { sink.flush() };
        moved
    }
}

/// The bytes of a register in another order, and zeros where that says a number past the end.
#[inline]
pub(super) fn in_order(bytes: Register, from: Register) -> Register {
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: every processor of this kind has these instructions.
    unsafe {
        use std::arch::aarch64::{vld1q_u8, vqtbl1q_u8, vst1q_u8};
        let mut ordered = [0; REGISTER];
        vst1q_u8(ordered.as_mut_ptr(), vqtbl1q_u8(vld1q_u8(bytes.as_ptr()), vld1q_u8(from.as_ptr())));
        ordered
    }
    #[cfg(not(all(target_arch = "aarch64", not(miri))))]
    from.map(|at| bytes.get(usize::from(at)).copied().unwrap_or(0))
}
