//! Unit steps through a stack of any height: the patterns of carries, level by level.
//!
//! At each level a step moves the position by a known amount, which the pattern of carries turns into a known change of
//! each digit, and so into the amount by which the position of the next level moves. The patterns are those of
//! [`carries`](super::carries); what they say of digits are bounds of variables of a [`System`], because the digits of
//! all levels have to agree on one index.

use super::carries::{Passage, passages};
use super::level::{IndexBox, Level, Point};
use super::stack::{Demand, Sought, Stacked};
use super::system::System;
use super::work::{OutOfWork, Work};

impl Stacked<'_> {
    /// A valid index, in a box of starts, from which a unit step along axis `l` is of the kind that is looked for. The
    /// step goes to the next index, or with `back` to the one before.
    pub(super) fn step(
        &self,
        starts: &IndexBox,
        l: usize,
        back: bool,
        sought: Sought,
        work: &mut Work,
    ) -> Result<Option<Point>, OutOfWork> {
        let mut system = System::default();
        let index = Self::index_variables(&mut system, starts);
        let trace = self.trace(&mut system, &index, Demand::Valid);
        let stride = i128::from(starts.axes[l].stride);
        let pattern = Pattern { bounds: system.bounds.clone(), carry: false, next: 0, left: false };
        let mut walk = Walk { levels: &self.levels, digits: &trace.digits, system: &system, sought, work };
        let found = walk.level(0, if back { -stride } else { stride }, pattern)?;
        Ok(found.map(|values| starts.axes.iter().zip(values).map(|(axis, i)| i as i64 - axis.first).collect()))
    }
}

/// Goes through the patterns of carries of a unit step, level by level and digit by digit.
struct Walk<'a> {
    levels: &'a [Level],
    digits: &'a [Vec<usize>],
    system: &'a System,
    sought: Sought,
    work: &'a mut Work,
}

/// What is known of a pattern so far.
#[derive(Clone)]
struct Pattern {
    /// The bounds of the system's variables.
    bounds: Vec<(i128, i128)>,
    /// The carry from the digit before.
    carry: bool,
    /// How far the digits so far move the position of the next level.
    next: i128,
    /// Whether some digit leaves its valid range.
    left: bool,
}

type Found = Result<Option<Vec<i128>>, OutOfWork>;

impl Walk<'_> {
    /// Goes on with level `k`, whose position moves by `step`. Below the last level `step` is how far the address moves.
    fn level(&mut self, k: usize, step: i128, pattern: Pattern) -> Found {
        let Some(level) = self.levels.get(k) else {
            return match self.sought {
                Sought::Unlike(expected) if step != expected => self.system.within(pattern.bounds, self.work),
                _ => Ok(None),
            };
        };
        // A pattern that no index has need not be followed to the levels below.
        if k > 0 && self.system.within(pattern.bounds.clone(), self.work)?.is_none() {
            return Ok(None);
        }
        self.digit(level, k, step, 0, Pattern { carry: false, next: 0, ..pattern })
    }

    /// Goes on with digit `j` of level `k`.
    fn digit(&mut self, level: &Level, k: usize, step: i128, j: usize, pattern: Pattern) -> Found {
        self.work.tick()?;
        let Some(digit) = level.digits.get(j).copied() else {
            return match pattern {
                // The position would leave the view, which no step of a tracker does.
                Pattern { carry: true, .. } => Ok(None),
                // Once a digit leaves its valid range the levels below do not matter.
                Pattern { left: true, bounds, .. } => self.system.within(bounds, self.work),
                Pattern { next, .. } => self.level(k + 1, next, pattern),
            };
        };
        let outermost = j + 1 == level.digits.len();
        let (size, quotient) = (i128::from(digit.size), step.abs() / i128::from(digit.weight));
        let by = if outermost { quotient } else { quotient % size } + i128::from(pattern.carry);
        let (begin, end) = (i128::from(digit.begin), i128::from(digit.end));
        for Passage { carries: carry, begin: low, end: high, change } in passages(step >= 0, by, size) {
            // Where the digit ends up: in its valid range; or, where invalid indices are looked for, below or above it.
            let ends = [(begin, end, false), (0, begin, true), (end, size, true)];
            let ends = match (self.sought, pattern.left) {
                (Sought::Unlike(_), _) => &ends[..1],
                (Sought::Invalid, false) => &ends[..],
                (Sought::Invalid, true) => &[(0, size, true)][..],
            };
            for &(first, past, left) in ends {
                let variable = self.digits[k][j];
                // Before the step the digit lies in the interval of the passage, and after it in the one of the end.
                let (from, to) = pattern.bounds[variable];
                let narrowed = (from.max(low).max(first - change), to.min(high - 1).min(past - 1 - change));
                if narrowed.0 <= narrowed.1 {
                    let next = pattern.next + change * i128::from(digit.stride);
                    let mut pattern = Pattern { carry, next, left, bounds: pattern.bounds.clone() };
                    pattern.bounds[variable] = narrowed;
                    let found = self.digit(level, k, step, j + 1, pattern)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(None)
    }
}
