//! Linear forms: sums of integer multiples of atoms, and a constant.

use smallvec::SmallVec;

use shapetracker_base::int::gcd;

/// What a form is linear in: a variable, a quotient, or anything else that is not a sum; by its place in an
/// [`Algebra`](crate::algebra::Algebra).
pub(crate) type Atom = u32;

/// A linear form of a [`Domain`](crate::Domain): a sum of integer multiples of its terms (variables, floors,
/// remainders), and a constant. It means nothing without its domain; [`Linear`](crate::Linear) is a form by itself.
///
/// ```
/// use indexpr::{Divisions, Form, Index, Variable, cheapest};
///
/// let built = cheapest(&[Variable::new("i", 0..8)], &[8], Divisions::Cheapest, |domain| {
///     let i = domain.variable(0)?;
///     Some(Index::At(Form::constant(3)?.plus(-2, &i)?))
/// });
/// assert_eq!(built.unwrap().quasi_affine().unwrap().value().unwrap().to_string(), "-i0*2 + 3");
/// ```
//
// Terms are sorted by atom, and no coefficient is zero or `i64::MIN`, nor is the constant `i64::MIN`: every number in a
// form has an opposite, so that a form can be negated.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct Form {
    pub(crate) terms: Terms,
    pub(crate) constant: i64,
}

pub(crate) type Terms = SmallVec<[(Atom, i64); 6]>;

// Terms are copied as a slice: `SmallVec::clone` pushes one after the other.
impl Clone for Form {
    fn clone(&self) -> Form {
        Form { terms: Terms::from_slice(&self.terms), constant: self.constant }
    }
}

impl Form {
    /// A constant form; `None` for a number that is not an `i64` or whose negative is not one, which is `i64::MIN`.
    ///
    /// ```
    /// use indexpr::Form;
    ///
    /// assert_eq!(Form::constant(3).unwrap().as_constant(), Some(3));
    /// assert!(Form::constant(i64::MIN).is_none());
    /// ```
    pub fn constant(constant: impl TryInto<i64>) -> Option<Form> {
        let constant = constant.try_into().ok().filter(|constant| *constant != i64::MIN)?;
        Some(Form { terms: SmallVec::new(), constant })
    }

    /// One atom.
    pub(crate) fn atom(atom: Atom) -> Form {
        Form { terms: SmallVec::from_slice(&[(atom, 1)]), constant: 0 }
    }

    /// The value of a form without terms; `None` if it has some.
    ///
    /// ```
    /// let zero = indexpr::Form::default();
    /// assert_eq!(zero.as_constant(), Some(0));
    /// ```
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The coefficient of an atom; 0 if it is no term of the form.
    pub(crate) fn coefficient(&self, atom: Atom) -> i64 {
        self.terms.iter().find(|(other, _)| *other == atom).map_or(0, |(_, coefficient)| *coefficient)
    }

    /// `self + factor * other`, or `None` past `i64`. Cost: linear in the number of terms of both.
    ///
    /// ```
    /// use indexpr::Form;
    ///
    /// let (a, b) = (Form::constant(3).unwrap(), Form::constant(5).unwrap());
    /// assert_eq!(a.plus(-2, &b).unwrap().as_constant(), Some(-7));
    /// assert!(a.plus(i64::MAX, &b).is_none());
    /// ```
    pub fn plus(&self, factor: i64, other: &Form) -> Option<Form> {
        let with_opposite = |number: i64| (number != i64::MIN).then_some(number);
        let scaled = |number: i64| number.checked_mul(factor).and_then(with_opposite);
        let constant = with_opposite(scaled(other.constant)?.checked_add(self.constant)?)?;
        // A merge of two sorted lists. They are short: copying runs of terms at once would cost more than it saves.
        let mut terms = Terms::new();
        let (mut ours, mut theirs) = (&self.terms[..], &other.terms[..]);
        loop {
            let term = match (ours, theirs) {
                ([(atom, coefficient), rest @ ..], [(other, by), others @ ..]) if atom == other => {
                    (ours, theirs) = (rest, others);
                    (*atom, with_opposite(scaled(*by)?.checked_add(*coefficient)?)?)
                }
                ([term, rest @ ..], [(other, _), ..]) if term.0 < *other => {
                    ours = rest;
                    *term
                }
                (_, [(atom, by), others @ ..]) => {
                    theirs = others;
                    (*atom, scaled(*by)?)
                }
                ([term, rest @ ..], []) => {
                    ours = rest;
                    *term
                }
                ([], []) => break,
            };
            if term.1 != 0 {
                terms.push(term);
            }
        }
        Some(Form { terms, constant })
    }

    /// `factor * self`, or `None` past `i64`.
    ///
    /// ```
    /// let six = indexpr::Form::constant(6).unwrap();
    /// assert_eq!(six.times(7).unwrap().as_constant(), Some(42));
    /// ```
    pub fn times(&self, factor: i64) -> Option<Form> {
        Form::default().plus(factor, self)
    }

    /// The content: the greatest common divisor of the coefficients, without the constant; 0 when there are none.
    // No rule: it says what the greatest common divisor is.
    pub(crate) fn content(&self) -> i64 {
        self.terms.iter().fold(0, |content, (_, coefficient)| gcd(content, i128::from(*coefficient))) as i64
    }

    /// The form with each coefficient divided by a number that divides all of them, and another constant.
    // Proved: `divided`, `divided_rounds_nowhere` in `proofs/Simplify.v`.
    pub(crate) fn divided(&self, divisor: i64, constant: i64) -> Form {
        Form { terms: self.terms.iter().map(|(atom, coefficient)| (*atom, coefficient / divisor)).collect(), constant }
    }

    /// The same form without an atom.
    pub(crate) fn without(&self, atom: Atom) -> Form {
        let terms = self.terms.iter().copied().filter(|(other, _)| *other != atom).collect();
        Form { terms, constant: self.constant }
    }

    /// The same form with 0 for its constant.
    pub(crate) fn without_constant(&self) -> Form {
        Form { terms: Terms::from_slice(&self.terms), constant: 0 }
    }
}
