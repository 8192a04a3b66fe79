//! What a unit step of an index does to the digits of a position: the patterns of carries.
//!
//! A step along an axis adds the stride of the axis to the position. The address then moves by an amount that depends
//! only on which digits carry into the next one (uit de Bos, Merging tensor views, section 4, calls them overflows). A
//! pattern of carries says in turn in which interval each digit lies before the step, so that whether some step of a
//! box has a given pattern is one bounded linear equation.

use smallvec::SmallVec;

use super::level::{IndexBox, Point};
use super::validity::{Interval, point_with_digits};
use super::work::{OutOfWork, Work};

/// One of the two ways in which a digit gets through a step: with a carry into the next digit, or without.
pub(super) struct Passage {
    /// Whether the digit carries (or borrows, when the position goes down).
    pub(super) carries: bool,
    /// The values `begin..end` of the digit before the steps that pass it in this way; empty where none does.
    pub(super) begin: i128,
    pub(super) end: i128,
    /// What the step adds to the digit.
    pub(super) change: i128,
}

/// Both passages through a digit of `size` values of which a step takes `moved`, the carry from the digit below
/// included: first without a carry, then with one.
///
/// Going up the digit carries where it is `size - moved` or more; going down it borrows where it is less than `moved`.
pub(super) fn passages(up: bool, moved: i128, size: i128) -> [Passage; 2] {
    if up {
        [
            Passage { carries: false, begin: 0, end: size - moved, change: moved },
            Passage { carries: true, begin: size - moved, end: size, change: moved - size },
        ]
    } else {
        [
            Passage { carries: false, begin: moved, end: size, change: -moved },
            Passage { carries: true, begin: 0, end: moved, change: size - moved },
        ]
    }
}

/// The steps along one axis of a box, and the boundaries between digits over which they may carry.
pub(super) struct Steps<'a> {
    /// The points that the steps start from.
    pub(super) starts: IndexBox,
    /// How far a step moves the position.
    pub(super) stride: i64,
    /// The weight of the digit above each boundary, innermost first; each divides the next one.
    pub(super) weights: &'a [i64],
}

/// What a pattern is looked at for: the carries over the boundaries, innermost first, 0 or the sign of the stride each.
pub(super) trait Visitor {
    /// Whether some pattern that begins with these carries is of interest.
    fn wants(&self, carries: &[i64]) -> bool;

    /// Takes a complete pattern, which the step from this start has. Returns whether that is enough.
    fn meet(&mut self, carries: &[i64], start: Point) -> bool;
}

impl Steps<'_> {
    /// Shows every pattern of carries that some step has to a visitor, until it has enough.
    ///
    /// Patterns grow boundary by boundary. One that no step has is given up together with all that begin like it,
    /// which keeps the number of equations near that of the patterns that occur.
    pub(super) fn visit(&self, visitor: &mut impl Visitor, work: &mut Work) -> Result<(), OutOfWork> {
        self.extend(&mut SmallVec::new(), &mut SmallVec::new(), visitor, work)?;
        Ok(())
    }

    /// Extends a pattern by the boundaries that it does not reach yet; `intervals` is what it says of the digits below
    /// each boundary. Returns whether the visitor has enough.
    fn extend(
        &self,
        intervals: &mut SmallVec<[Interval; 4]>,
        carries: &mut SmallVec<[i64; 4]>,
        visitor: &mut impl Visitor,
        work: &mut Work,
    ) -> Result<bool, OutOfWork> {
        if !visitor.wants(carries) {
            return Ok(false);
        }
        let next = intervals.len();
        let start = match next {
            0 => Some(Point::from_elem(0, self.starts.axes.len())), // No digit is restricted so far.
            _ => point_with_digits(&self.starts, intervals, work)?,
        };
        let Some(start) = start else { return Ok(false) };
        let Some(&boundary) = self.weights.get(next) else { return Ok(visitor.meet(carries, start)) };
        let weight = if next == 0 { 1 } else { self.weights[next - 1] };
        let size = boundary / weight;
        // The digit of the stride between the two boundaries, and the carry from below.
        let carried = i64::from(carries.last().is_some_and(|&carry| carry != 0));
        let moved = (self.stride.unsigned_abs() / weight as u64 % size as u64) as i64 + carried;
        let [without, with] = passages(self.stride > 0, moved.into(), size.into());
        for passage in [with, without] {
            if passage.begin < passage.end {
                let (begin, end) = (passage.begin as i64, passage.end as i64);
                intervals.push(Interval { weight, size, begin, end });
                carries.push(if passage.carries { self.stride.signum() } else { 0 });
                if self.extend(intervals, carries, visitor, work)? {
                    return Ok(true);
                }
                carries.pop();
                intervals.pop();
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_digit_has_one_passage_and_ends_up_as_a_value() {
        for (up, size) in [true, false].into_iter().flat_map(|up| (1..7).map(move |size| (up, size))) {
            // A carry on top of the largest digit of the stride moves by all of the size.
            for (moved, digit) in (0..=size).flat_map(|moved| (0..size).map(move |digit| (moved, digit))) {
                let moves = passages(up, moved, size);
                let ways: Vec<_> = moves.iter().filter(|way| (way.begin..way.end).contains(&digit)).collect();
                let [way] = ways[..] else { panic!("{up} {size} {moved} {digit}") };
                let sum = if up { digit + moved } else { digit - moved };
                assert_eq!((way.carries, digit + way.change), (!(0..size).contains(&sum), sum.rem_euclid(size)));
            }
        }
    }
}
