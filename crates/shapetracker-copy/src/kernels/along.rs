//! A few elements along one axis. A loop that leaps over floors may move two or three elements at a time, and setting up a
//! walk over tiles would take longer than that.

use std::ops::Range;

use super::{Move, lines, sink};
use crate::mover::Axis;

impl Move<'_> {
    /// Moves elements of `unit` bytes along some steps of an axis, or fills their places.
    ///
    /// # Safety
    /// No other thread touches what is written.
    ///
    /// # Panics
    /// If the elements do not lie inside the slices.
    pub(crate) unsafe fn along(&self, unit: usize, axis: &Axis, steps: Range<usize>, data: bool) {
        let (first, count) = (steps.start as isize, steps.len());
        let from = self.from.wrapping_add(first.wrapping_mul(axis.from));
        let to = self.to.wrapping_add(first.wrapping_mul(axis.to));
        let inside = |first: isize, stride: isize, len: usize| {
            let last = first as i128 + (count as i128 - 1) * stride as i128;
            0 <= last.min(first as i128) && last.max(first as i128) + unit as i128 <= len as i128
        };
        if count == 0 || !data && self.fill.is_none() {
            return;
        }
        assert!(inside(to, axis.to, self.output.len), "a run writes outside its buffer");
        self.check_whole(if data { from } else { 0 }, to);
        let to = self.output.start.wrapping_offset(to);
        if let (false, Some(fill)) = (data, self.fill) {
            // SAFETY: the elements of the run, and a value that is read again for each.
            return unsafe {
                match lines::strides(unit) {
                    Some(strides) => strides(fill.as_ptr(), 0, count, to, axis.to),
                    None => (0..count as isize).for_each(|at| sink::copy(to.offset(at * axis.to), fill.as_ptr(), unit)),
                }
            };
        }
        assert!(inside(from, axis.from, self.source.len()), "a run reads outside its buffer");
        let from = self.source.as_ptr().wrapping_offset(from);
        // SAFETY: both runs lie inside the slices.
        unsafe {
            if axis.from == unit as isize && axis.to == unit as isize {
                return sink::copy(to, from, count * unit);
            }
            if let Some(strides) = lines::strides(unit) {
                return strides(from, axis.from, count, to, axis.to);
            }
            for at in 0..count as isize {
                sink::copy(to.offset(at * axis.to), from.offset(at * axis.from), unit);
            }
        }
    }
}
