//! Linear forms: sums of scaled atoms and a constant.

use smallvec::SmallVec;

use super::facts::gcd;

/// What a form is linear in: a variable, a quotient, or anything else that is no sum; by its place in an
/// [`Algebra`](super::algebra::Algebra).
pub(super) type Atom = u32;

/// `sum coefficient * atom + constant`. Atoms are sorted, and no coefficient is zero or `i64::MIN`, nor is the constant
/// `i64::MIN`: every number in a form has an opposite.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Form {
    pub(super) terms: Terms,
    pub(super) constant: i64,
}

pub(super) type Terms = SmallVec<[(Atom, i64); 6]>;

impl Form {
    /// A number, if it has an opposite.
    pub(super) fn constant(constant: impl TryInto<i64>) -> Option<Form> {
        let constant = constant.try_into().ok().filter(|constant| *constant != i64::MIN)?;
        Some(Form { terms: SmallVec::new(), constant })
    }

    pub(super) fn atom(atom: Atom) -> Form {
        Form { terms: SmallVec::from_slice(&[(atom, 1)]), constant: 0 }
    }

    /// The value, if there is only one.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub(super) fn coefficient(&self, atom: Atom) -> i64 {
        self.terms.iter().find(|(other, _)| *other == atom).map_or(0, |(_, coefficient)| *coefficient)
    }

    /// `self + factor * other`, or `None` past `i64`.
    pub(super) fn plus(&self, factor: i64, other: &Form) -> Option<Form> {
        let with_opposite = |number: i64| (number != i64::MIN).then_some(number);
        let scaled = |number: i64| number.checked_mul(factor).and_then(with_opposite);
        let constant = with_opposite(scaled(other.constant)?.checked_add(self.constant)?)?;
        let mut terms = Terms::with_capacity(self.terms.len() + other.terms.len());
        let (mut ours, mut theirs) = (&self.terms[..], &other.terms[..]);
        while let [(atom, coefficient), rest @ ..] = theirs {
            let before = ours.iter().take_while(|(ours, _)| ours < atom).count();
            terms.extend_from_slice(&ours[..before]);
            ours = &ours[before..];
            let mut sum = scaled(*coefficient)?;
            if let [(same, coefficient), rest @ ..] = ours
                && same == atom
            {
                sum = with_opposite(sum.checked_add(*coefficient)?)?;
                ours = rest;
            }
            if sum != 0 {
                terms.push((*atom, sum));
            }
            theirs = rest;
        }
        terms.extend_from_slice(ours);
        Some(Form { terms, constant })
    }

    pub(super) fn times(&self, factor: i64) -> Option<Form> {
        Form::default().plus(factor, self)
    }

    /// The greatest common divisor of the coefficients; 0 when there are none.
    pub(super) fn content(&self) -> i64 {
        self.terms.iter().fold(0, |content, (_, coefficient)| gcd(content, i128::from(*coefficient))) as i64
    }

    /// Each coefficient divided; the constant is set.
    pub(super) fn divided(&self, divisor: i64, constant: i64) -> Form {
        Form { terms: self.terms.iter().map(|(atom, coefficient)| (*atom, coefficient / divisor)).collect(), constant }
    }

    /// The terms alone.
    pub(super) fn without_constant(&self) -> Form {
        Form { terms: self.terms.clone(), constant: 0 }
    }
}
