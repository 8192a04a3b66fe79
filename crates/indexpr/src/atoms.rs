//! The table of atoms: what linear forms are made of.
//!
//! A form is a sum of integer multiples of *atoms*: variables, floors, and whatever is not linear. The table is hash-consed,
//! so that equal atoms are one number and equal sums are equal data.

use shapetracker_base::int::{div_ceil, div_floor};

use crate::context::Span;
use crate::form::{Atom, Form};
use crate::graph::{Binary, hash_of};
use crate::places::{Places, make_room};

/// The table of atoms: equal atoms are one, and an atom comes after those that it is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Atoms {
    atoms: Vec<Kind>,
    known: Places,
    /// The quotients of each numerator: two divisions of one numerator by divisors of which one divides the other are
    /// related ([`Context::learn`](crate::context::Context::learn)).
    quotients: Vec<Vec<Atom>>,
    /// The places among them by numerators.
    numerators: Places,
}

/// What an atom is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A variable of the graph and its range, both ends included.
    Variable(usize, i64, i64),
    /// `floor(form / divisor)`, the divisor being at least 2.
    Quotient(Form, i64),
    /// `form mod divisor`, the divisor being at least 2.
    Remainder(Form, i64),
    /// The product of two forms that are not constant.
    Product(Form, Form),
    /// An operation that is not linear, such as an exclusive or, and the range of its values.
    Operation(Binary, Form, Form, (i64, i64)),
    /// The smallest or the largest of at least two forms ([`Binary::Min`], [`Binary::Max`]).
    Extremum(Binary, Vec<Form>),
    /// One form or another, by a condition.
    Select(Atom, Form, Form),
    /// The condition that a form lies between bounds. This and what follows are conditions, which are no terms of forms.
    Test(Condition),
    /// The comparison of two forms whose difference leaves `i64`, so that it cannot be a [`Kind::Test`].
    Compare(Binary, Form, Form),
    /// A condition that always holds, or never.
    Bool(bool),
    /// The opposite of a condition.
    Not(Atom),
    /// Two conditions, joined by [`Binary::And`] or [`Binary::Or`].
    Both(Binary, Atom, Atom),
    /// One condition or another, by a third.
    Choice(Atom, Atom, Atom),
}

/// The demand that a form lies between two numbers, both included; either may be missing.
///
/// Bounds are `i128` so that the bounds of forms, whose values are `i64` only in the end, need no care.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    pub(crate) form: Form,
    pub(crate) low: Option<i128>,
    pub(crate) high: Option<i128>,
}

impl Atoms {
    /// What an atom of this table is.
    pub(crate) fn kind(&self, atom: Atom) -> &Kind {
        &self.atoms[atom as usize]
    }

    /// All atoms in the order in which they were made: operands before what is made of them.
    pub(crate) fn atoms(&self) -> impl Iterator<Item = (Atom, &Kind)> {
        (0..).zip(&self.atoms)
    }

    /// The number of atoms.
    pub(crate) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// The numerator and the divisor of an atom that is a quotient.
    pub(crate) fn as_quotient(&self, atom: Atom) -> Option<(&Form, i64)> {
        match self.kind(atom) {
            Kind::Quotient(form, divisor) => Some((form, *divisor)),
            _ => None,
        }
    }

    /// The atom of a kind, if it is in the table.
    pub(crate) fn known(&self, kind: &Kind) -> Option<Atom> {
        self.known.find(hash_of(kind), |place| self.atoms[place] == *kind).map(|place| place as Atom)
    }

    /// Adds an atom that is not in the table.
    // No rule: it keeps the table.
    pub(crate) fn add(&mut self, kind: Kind) -> Atom {
        let atom = self.atoms.len() as Atom;
        let numerator = match &kind {
            Kind::Quotient(form, _) => Some(self.numerator(form)),
            _ => None,
        };
        make_room(&mut self.atoms);
        self.atoms.push(kind);
        self.known.push(|place| hash_of(&self.atoms[place]));
        match numerator {
            Some(Some(place)) => self.quotients[place].push(atom),
            Some(None) => {
                self.quotients.push(vec![atom]);
                let mut numerators = std::mem::take(&mut self.numerators);
                numerators.push(|place| {
                    let first = self.quotients[place].first();
                    first.and_then(|atom| self.as_quotient(*atom)).map_or(0, |(form, _)| hash_of(form))
                });
                self.numerators = numerators;
            }
            None => {}
        }
        atom
    }

    /// Whether any atom is a quotient.
    pub(crate) fn has_quotients(&self) -> bool {
        !self.quotients.is_empty()
    }

    /// The place of a numerator among those of the quotients.
    // No rule: it looks into the table.
    fn numerator(&self, form: &Form) -> Option<usize> {
        self.numerators.find(hash_of(form), |place| {
            let first = self.quotients[place].first();
            first.and_then(|atom| self.as_quotient(*atom)).is_some_and(|(other, _)| other == form)
        })
    }

    /// The quotients of a numerator that are atoms, and their divisors.
    // No rule: it looks into the table.
    pub(crate) fn quotients_of(&self, form: &Form) -> impl Iterator<Item = (Atom, i64)> {
        let quotients = self.numerator(form).map(|place| &self.quotients[place]).into_iter().flatten();
        quotients.filter_map(|atom| Some((*atom, self.as_quotient(*atom)?.1)))
    }
}

impl Kind {
    /// The forms that an atom is made of, in the order in which they are emitted.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &Form> {
        let (pair, list): (_, &[Form]) = match self {
            Kind::Quotient(form, _) | Kind::Remainder(form, _) | Kind::Test(Condition { form, .. }) => {
                ([Some(form), None], &[])
            }
            Kind::Product(a, b) | Kind::Operation(_, a, b, _) | Kind::Select(_, a, b) | Kind::Compare(_, a, b) => {
                ([Some(a), Some(b)], &[])
            }
            Kind::Extremum(_, forms) => ([None, None], forms),
            _ => ([None, None], &[]),
        };
        pair.into_iter().flatten().chain(list)
    }

    /// The interval of a product, an extremum or a choice, by those of two of the forms that it is made of.
    // Proved: `bounds_of_extremum`, `bounds_of_choice` in `proofs/Simplify.v`.
    // Proved: `product_corners` in `proofs/Rounding.v`.
    pub(crate) fn joined(&self, (low, high): Span, (least, most): Span) -> Span {
        match self {
            Kind::Product(..) => {
                let ends = [
                    low.saturating_mul(least),
                    low.saturating_mul(most),
                    high.saturating_mul(least),
                    high.saturating_mul(most),
                ];
                ends.into_iter().fold((ends[0], ends[0]), |(low, high), end| (low.min(end), high.max(end)))
            }
            Kind::Extremum(Binary::Min, _) => (low.min(least), high.min(most)),
            Kind::Extremum(..) => (low.max(least), high.max(most)),
            _ => (low.min(least), high.max(most)),
        }
    }

    /// The conditions that an atom is made of.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = Atom> + use<> {
        let conditions = match *self {
            Kind::Not(a) | Kind::Select(a, ..) => [Some(a), None, None],
            Kind::Both(_, a, b) => [Some(a), Some(b), None],
            Kind::Choice(condition, a, b) => [Some(condition), Some(a), Some(b)],
            _ => [None; 3],
        };
        conditions.into_iter().flatten()
    }
}

impl Condition {
    /// The same condition in normal form: without a constant, with coprime coefficients, the first of them positive.
    /// Equal conditions, and conditions on multiples of one form, then have equal forms.
    // Proved: `normal_form` in `proofs/Simplify.v`.
    pub(crate) fn normal(self) -> Condition {
        let Condition { mut form, mut low, mut high } = self;
        let constant = i128::from(std::mem::take(&mut form.constant));
        (low, high) = (low.map(|low| low - constant), high.map(|high| high - constant));
        let mut content = form.content();
        // A negative divisor turns the form round, and its bounds with it.
        if form.terms.first().is_some_and(|(_, coefficient)| *coefficient < 0) {
            content = -content;
            (low, high) = (high, low);
        }
        if content != 0 && content != 1 {
            let by = i128::from(content);
            form = form.divided(content, 0);
            // The form is an integer, so that bounds are rounded inwards.
            low = low.map(|low| div_ceil(low, by));
            high = high.map(|high| div_floor(high, by));
        }
        Condition { form, low, high }
    }

    /// Whether [`Context::saturated`] might save a product: there is one bound, and a coefficient other than 1 and -1.
    pub(crate) fn can_be_saturated(&self) -> bool {
        self.low.is_some() != self.high.is_some()
            && self.form.terms.iter().any(|(_, coefficient)| coefficient.abs() != 1)
    }
}

/// What is past this counts as past `i128`, so that the sum of a few such numbers needs no check.
pub(crate) const WIDE: i128 = 1 << 120;
