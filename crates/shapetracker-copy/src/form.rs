//! How a tracker is read, as a plan needs it: the library's access to an element, with conditions as ranges.

use std::ops::Range;

use shapetracker::ShapeTracker;
use shapetracker::expr::{Floor, Linear, Term};
use shapetracker_base::int::gcd;

/// A form must lie in a range for an element to have data.
///
/// A half-open range, which has `i64::MIN` and `i64::MAX` where there is no bound: it is compared with in the loops of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) form: Linear,
    pub(crate) range: Range<i64>,
}

/// How a tracker is read: the address of an element, wherever all conditions hold. A plan changes it: the axes
/// that are moved along leave the address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) floors: Vec<Floor>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) address: Linear,
}

impl Access {
    /// That of what has no data.
    pub(crate) fn nothing() -> Access {
        Access { conditions: vec![Condition { form: Linear::default(), range: 1..1 }], ..Access::default() }
    }

    /// How the library says that a tracker is read; `None` where its numbers leave `i64`, or where finding that takes more than
    /// some work, of which what it took is taken away.
    pub(crate) fn of(tracker: &ShapeTracker, work: &mut u64) -> Option<Access> {
        let access = tracker.access_within(work).ok()?;
        let Some(address) = access.address() else { return Some(Access::nothing()) };
        let conditions = access.conditions().iter().map(|condition| {
            let (begin, end) = (condition.least, condition.most.map(|most| most.saturating_add(1)));
            Condition { form: condition.form.clone(), range: begin.unwrap_or(i64::MIN)..end.unwrap_or(i64::MAX) }
        });
        Some(Access { floors: access.floors().to_vec(), conditions: conditions.collect(), address: address.clone() })
    }
}

impl Access {
    /// After how many steps of an axis every floor has moved by a whole number, and how many times floors change on the
    /// way along all of it; if that is before it ends.
    pub(crate) fn period(&self, axis: usize, count: i64) -> Option<(i64, i64)> {
        let mut period = 1i64;
        'longer: while period < count {
            let mut moves: Vec<i64> = Vec::new();
            for floor in &self.floors {
                let of_axis = floor.numerator.coefficient(Term::Variable(axis)).checked_mul(period)?;
                let of_floors = |sum: i64, (term, factor): &(Term, i64)| match term {
                    Term::Floor(of) => sum.checked_add(factor.checked_mul(moves[*of])?),
                    Term::Variable(_) => Some(sum),
                };
                let by = floor.numerator.terms().iter().try_fold(of_axis, of_floors)?;
                if by % floor.divisor != 0 {
                    period = period.checked_mul(floor.divisor / gcd(by.into(), floor.divisor.into()) as i64)?;
                    continue 'longer;
                }
                moves.push(by / floor.divisor);
            }
            let most = moves.iter().map(|by| i128::from(*by).abs()).max()? * i128::from(count) / i128::from(period);
            return Some((period, most.min(count.into()) as i64));
        }
        None
    }
}
