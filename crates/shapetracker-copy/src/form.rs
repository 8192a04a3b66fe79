//! Addresses and conditions as sums: the library's access to an element.

use std::ops::Range;

use shapetracker::ShapeTracker;
use shapetracker::expr::{Linear, Term, int::gcd};
use smallvec::SmallVec;

/// A sum of multiples of axes and floors, and a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) constant: i64,
    /// In the order of their atoms; no factor is 0.
    pub(crate) terms: SmallVec<[(Atom, i64); 4]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    Axis(usize),
    Floor(usize),
}

/// The floor of a form by a positive number. It may have earlier floors in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Floor {
    pub(crate) form: Form,
    pub(crate) divisor: i64,
}

/// A form must lie in a range for an element to have data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) form: Form,
    pub(crate) range: Range<i64>,
}

/// How a tracker is read: the address of an element, wherever all conditions hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) floors: Vec<Floor>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) address: Form,
}

impl Form {
    fn of(form: &Linear) -> Form {
        let terms = form.terms().iter().map(|(term, factor)| match term {
            Term::Variable(axis) => (Atom::Axis(*axis), *factor),
            Term::Floor(at) => (Atom::Floor(*at), *factor),
        });
        Form { constant: form.constant(), terms: terms.collect() }
    }

    pub(crate) fn factor(&self, atom: Atom) -> i64 {
        self.terms.iter().find(|(of, _)| *of == atom).map_or(0, |(_, factor)| *factor)
    }

    /// The axes in it, but not those in its floors.
    pub(crate) fn axes(&self) -> impl Iterator<Item = usize> {
        self.terms.iter().filter_map(|(atom, _)| match atom {
            Atom::Axis(axis) => Some(*axis),
            Atom::Floor(_) => None,
        })
    }

    pub(crate) fn has_floors(&self) -> bool {
        self.terms.iter().any(|(atom, _)| matches!(atom, Atom::Floor(_)))
    }
}

impl Access {
    /// That of what has no data.
    pub(crate) fn nothing() -> Access {
        Access { conditions: vec![Condition { form: Form::default(), range: 1..1 }], ..Access::default() }
    }

    /// How the library says that a tracker is read; `None` where its numbers leave `i64`.
    pub(crate) fn of(tracker: &ShapeTracker) -> Option<Access> {
        let access = tracker.access().ok()?;
        let Some(address) = access.address() else { return Some(Access::nothing()) };
        let floors = access.floors().iter();
        let floors = floors.map(|floor| Floor { form: Form::of(&floor.numerator), divisor: floor.divisor });
        let conditions = access.conditions().iter().map(|condition| {
            let (begin, end) = (condition.least, condition.most.map(|most| most.saturating_add(1)));
            Condition { form: Form::of(&condition.form), range: begin.unwrap_or(i64::MIN)..end.unwrap_or(i64::MAX) }
        });
        Some(Access { floors: floors.collect(), conditions: conditions.collect(), address: Form::of(address) })
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
                let of_axis = floor.form.factor(Atom::Axis(axis)).checked_mul(period)?;
                let of_floors = |sum: i64, (atom, factor): &(Atom, i64)| match atom {
                    Atom::Floor(of) => sum.checked_add(factor.checked_mul(moves[*of])?),
                    Atom::Axis(_) => Some(sum),
                };
                let by = floor.form.terms.iter().try_fold(of_axis, of_floors)?;
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
