//! The division of a linear form by a constant.
//!
//! An expression is read as a sum of integer multiples of *atoms* ([`Atoms`]). Equal sums are then equal data, and since `m % d` is `m - d * (m // d)`, only one question is left that a rewriting system
//! would need many rules for: is this floor affine where it matters? [`Algebra::quotient`] asks it, and nothing else in
//! the crate makes a division.

use std::ops::Deref;

use shapetracker_base::int::gcd;
use shapetracker_base::list::sort_short_by_key;
use smallvec::SmallVec;

use crate::atoms::{Atoms, Condition, Kind, WIDE};
use crate::context::Context;
use crate::form::{Atom, Form};

/// The table of atoms, and how divisions of forms over them are written. It reads as the table that it holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Algebra {
    atoms: Atoms,
    /// How divisions are written that cannot be avoided.
    pub(crate) style: Style,
    // The next three record which choices of the style made a difference, so that `Style::next` skips those that would
    // only repeat the same result.
    /// Whether [`Algebra::with_remainders`] made a remainder an atom.
    has_remainders: bool,
    /// Whether a term that is not a multiple of the divisor was split between the numerator and the outside.
    takes_parts: bool,
    /// [`Algebra::quotient_of_operands`] for whoever reads expressions: what builds forms from scratch has no extrema, and a
    /// program that does nothing else need not contain what is done with them.
    pub(crate) of_operands: Option<OfOperands>,
    /// Whether an atom is a product of forms.
    pub(crate) has_products: bool,
    /// The work that is left for extrema and choices, in steps of a bound or of an atom that a context learns.
    pub(crate) work: usize,
    /// How deep extrema within extrema are being made.
    pub(crate) depth: u32,
    /// Whether an atom is an extremum or a choice between numbers.
    pub(crate) has_cases: bool,
    /// Whether any term, or a part of one, was taken out of a numerator.
    takes_multiples: bool,
}

/// The quotient of a form with an extremum in it, if there is a way to write it with at most so many divisions.
pub(crate) type OfOperands = fn(&mut Algebra, &Form, i64, usize, &mut Context) -> Option<Form>;

/// How divisions are written that cannot be avoided.
///
/// No style is the cheapest for every expression. `floor((16*i + 5*j) / 15)` is `i + floor((i + 5*j) / 15)`: a product
/// is saved, and the `i` in front may cancel or merge with another term, but a second division of `16*i + 5*j` can no
/// longer share that numerator. Which is the cheapest depends on everything else that is computed, so a caller writes
/// the whole expression in every style that [`Style::next`] names, at most six (three of [`Taken`] times two of
/// [`Remainders`]), counts the operations of each, and keeps the cheapest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// What is taken out of numerators.
    pub(crate) taken: Taken,
    /// When a remainder is an atom.
    pub(crate) remainders: Remainders,
}

/// What is taken out of the numerator of a division, as in `floor((d*a + b) / d) = a + floor(b / d)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Whatever makes the coefficients that stay smaller, or turns one into 1 or -1, which saves a product.
    #[default]
    Most,
    /// Only terms that are multiples of the divisor as they stand.
    Multiples,
    /// Nothing, so that several divisions of one numerator share it.
    Nothing,
}

/// When `m mod d` is an atom, emitted as one operation, and not written as `m - d * floor(m / d)`.
///
/// The difference lets its terms cancel against others; the atom is cheaper where none of them do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Remainders {
    Never,
    /// Where that makes a form shorter.
    #[default]
    WhereShorter,
    /// Wherever the quotient is not affine.
    Always,
}

impl Style {
    /// For many nested divisions. What is taken out of one numerator piles up in the next, and after some levels the
    /// coefficients leave `i64`; with every remainder an atom, coefficients stay as small as they were written.
    pub(crate) const EVERY_REMAINDER: Style = Style { taken: Taken::Nothing, remainders: Remainders::Always };

    /// The style that is tried first.
    pub(crate) const FIRST: Style = Style { taken: Taken::Most, remainders: Remainders::WhereShorter };

    /// The style to try after this one; `None` when every style that could give another result was tried. `tried` is
    /// the table that writing in this style left, and knows whether its choices were ever exercised.
    pub(crate) fn next(self, tried: &Algebra) -> Option<Style> {
        let takes = |taken| Some(Style { taken, remainders: Remainders::WhereShorter });
        match self {
            _ if !tried.has_quotients() || self.remainders == Remainders::Always => None,
            Style { remainders: Remainders::WhereShorter, taken } if tried.has_remainders => {
                Some(Style { taken, remainders: Remainders::Never })
            }
            Style { taken: Taken::Most, .. } if tried.takes_parts => takes(Taken::Multiples),
            Style { taken: Taken::Most | Taken::Multiples, .. } if tried.takes_multiples => takes(Taken::Nothing),
            _ => None,
        }
    }

    /// The same for whoever multiplies sums out, and has more use for remainders: in the end all of them are tried.
    pub(crate) fn next_multiplied_out(self, tried: &Algebra) -> Option<Style> {
        let keeping = |taken| Some(Style { taken, remainders: Remainders::Always });
        match (self.remainders, self.taken) {
            (Remainders::Always, Taken::Most) => keeping(Taken::Multiples),
            (Remainders::Always, Taken::Multiples) => keeping(Taken::Nothing),
            (Remainders::Always, Taken::Nothing) => None,
            _ => self.next(tried).or_else(|| keeping(Taken::Most).filter(|_| tried.has_quotients())),
        }
    }
}

impl Deref for Algebra {
    type Target = Atoms;

    fn deref(&self) -> &Atoms {
        &self.atoms
    }
}

impl Algebra {
    /// A table without atoms.
    pub(crate) fn new(style: Style) -> Algebra {
        Algebra { style, ..Algebra::default() }
    }

    /// The atom of a kind, the known one if there is one; `None` when its values leave `i64`. The context learns of a new
    /// atom, so that its range is known from then on.
    pub(crate) fn atom(&mut self, kind: Kind, context: &mut Context) -> Option<Atom> {
        if let Some(known) = self.atoms.known(&kind) {
            return Some(known);
        }
        context.learn(&self.atoms, self.atoms.len() as Atom, &kind)?;
        Some(self.atoms.add(kind))
    }

    /// The atom of a kind that is a condition. Its values are 0 and 1, which never leave `i64`, so it always exists.
    pub(crate) fn condition(&mut self, kind: Kind, context: &mut Context) -> Atom {
        self.atom(kind, context).unwrap_or_default()
    }

    /// `floor(form / divisor)` wherever the context holds, for a divisor that is not zero; `None` past `i64`.
    ///
    /// The result is affine in the given atoms if the boundary test proves that for one of the ways in which the
    /// context can decompose the form. Otherwise the division shrinks as far as identities allow (common divisors,
    /// nested floors, partial quotients), and what is left becomes one atom. Each step makes the divisor smaller or the
    /// form less nested, so the loop ends.
    pub(crate) fn quotient(&mut self, form: &Form, divisor: i64, context: &mut Context) -> Option<Form> {
        self.quotient_within(form, divisor, 1, context)
    }

    /// The same, where the quotient of an extremum is written as the extremum of quotients if at most so many of them divide.
    pub(crate) fn quotient_within(
        &mut self,
        form: &Form,
        divisor: i64,
        most: usize,
        context: &mut Context,
    ) -> Option<Form> {
        // Proved: `negative_divisor` in `proofs/Simplify.v`.
        // floor(m / -d) is floor(-m / d).
        let (mut form, mut divisor) = match divisor < 0 {
            true => (form.times(-1)?, divisor.checked_neg()?),
            false => (form.clone(), divisor),
        };
        // Proved: `quotient_of_own_remainder` in `proofs/Simplify.v`.
        // The quotient of a remainder is a digit: `m mod (d * e) // d` is `m // d - e * (m // (d * e))`.
        // Of a remainder of a remainder it would be twice as many with each that is within another.
        if let Some((whole, by)) = self.as_remainder_alone(&form)
            && by % divisor == 0
            && *by > divisor
            && self.as_remainder_alone(whole).is_none()
        {
            let (whole, by) = (whole.clone(), *by);
            let finer = self.quotient_within(&whole, divisor, most, context)?;
            let coarser = self.quotient_within(&whole, by, most, context)?;
            return finer.plus(-(by / divisor), &coarser);
        }
        loop {
            // Proved: `common_divisor`, `divisor_one` in `proofs/Simplify.v`.
            // With g dividing d and every coefficient, floor((g * m + c) / d) is floor((m + floor(c / g)) / (d / g)).
            let common = gcd(form.content().into(), divisor.into()) as i64;
            if common > 1 {
                form = form.divided(common, form.constant.div_euclid(common));
                divisor /= common;
            }
            if divisor == 1 {
                return Some(form);
            }
            if let Some(affine) = context.affine_quotient(&form, divisor) {
                return Some(affine);
            }
            // The floor of a floor is one floor. If it is all of the numerator, one division takes the place of two.
            // Beside other terms the larger divisor makes larger coefficients, which pays only if no division is left.
            if let Some((whole, by)) = self.flattened(&form, divisor) {
                if form.terms.len() == 1 {
                    (form, divisor) = (whole, by);
                    continue;
                }
                if let Some(affine) = context.affine_quotient(&whole, by) {
                    return Some(affine);
                }
            }
            // floor(m / (e * d)) is floor(floor(m / e) / d): if the inner one is affine, a smaller division is left.
            match self.affine_part(&form, divisor, context) {
                Some((part, by)) => (form, divisor) = (part, divisor / by),
                None => break,
            }
        }
        if let Some(of_operands) = self.of_operands
            && let Some(extremum) = of_operands(self, &form, divisor, most, context)
        {
            return Some(extremum);
        }
        // Proved: `multiples_leave` in `proofs/Simplify.v`.
        let (taken, rest) = reduce(&form, divisor, self.style.taken)?;
        self.takes_multiples |= taken != Form::default();
        self.takes_parts |= self.style.taken == Taken::Most && rest != reduce(&form, divisor, Taken::Multiples)?.1;
        let atom = self.atom(Kind::Quotient(rest, divisor), context)?;
        taken.plus(1, &Form::atom(atom))
    }

    /// A form with remainders as atoms, where the style says so and that makes the form shorter: `k * m - k * d * q`
    /// with `q = floor(m / d)` is `k * (m mod d)`.
    // Proved: `remainder_as_atom` in `proofs/Simplify.v`.
    pub(crate) fn with_remainders(&mut self, form: Form, context: &mut Context) -> Option<Form> {
        if self.style.remainders != Remainders::WhereShorter {
            return Some(form);
        }
        let mut form = form;
        for &(atom, _) in form.terms.clone().iter() {
            let Some((whole, divisor)) = self.as_quotient(atom) else { continue };
            let (whole, divisor) = (whole.clone(), divisor);
            // A digit `k * floor(m / e) - k * r * floor(m / (e * r))` is `k * (floor(m / e) mod r)`.
            if self.of_operands.is_some()
                && let Some(digit) = self.digit(&form, atom, &whole, divisor, context)?
            {
                form = digit;
                self.has_remainders = true;
                continue;
            }
            // The factor k that makes the first term of the numerator go away. Other terms need not cancel: whether
            // enough of them do is what the number of terms that are left says.
            let Some(&(first, unit)) = whole.terms.first() else { continue };
            let coefficient = form.coefficient(first);
            if coefficient == 0 || coefficient % unit != 0 {
                continue;
            }
            let factor = coefficient / unit;
            let left = form.plus(factor.checked_neg()?, &whole)?;
            let left = left.plus(1, &Form::atom(atom).times(factor.checked_mul(divisor)?)?)?;
            if left.terms.len() + 1 < form.terms.len() {
                let remainder = self.atom(Kind::Remainder(whole, divisor), context)?;
                form = left.plus(factor, &Form::atom(remainder))?;
                self.has_remainders = true;
            }
        }
        Some(form)
    }

    /// The numerator and the divisor of a form that is a remainder.
    fn as_remainder_alone(&self, form: &Form) -> Option<(&Form, &i64)> {
        match (&form.terms[..], form.constant) {
            ([(atom, 1)], 0) => match self.kind(*atom) {
                Kind::Remainder(whole, by) => Some((whole, by)),
                _ => None,
            },
            _ => None,
        }
    }

    /// A form with the remainder of a quotient in the place of two quotients of one numerator, of which one is this atom and
    /// the other has a divisor that divides its divisor; `None` within where there is no such pair.
    // Proved: `digit_of_quotients` in `proofs/Simplify.v`.
    fn digit(
        &mut self,
        form: &Form,
        atom: Atom,
        whole: &Form,
        divisor: i64,
        context: &mut Context,
    ) -> Option<Option<Form>> {
        let coefficient = form.coefficient(atom);
        let found = form.terms.iter().find_map(|&(finer, factor)| {
            let (numerator, by) = self.as_quotient(finer)?;
            let ratio = divisor / by;
            let fits = finer != atom && divisor % by == 0 && ratio > 1 && numerator == whole;
            (fits && factor.checked_mul(ratio)?.checked_neg()? == coefficient).then_some((finer, factor, ratio))
        });
        let Some((finer, factor, ratio)) = found else { return Some(None) };
        let digit = self.atom(Kind::Remainder(Form::atom(finer), ratio), context)?;
        let rest = form.plus(-factor, &Form::atom(finer))?.plus(-coefficient, &Form::atom(atom))?;
        Some(Some(rest.plus(factor, &Form::atom(digit))?))
    }

    /// The numerator and divisor of one floor in place of two: `floor((floor(m / e) + rest) / d)` is
    /// `floor((m + e * rest) / (e * d))`. For `rest` is an integer, so that `floor(m / e) + rest` is
    /// `floor((m + e * rest) / e)`; and `floor(floor(x) / d)` is `floor(x / d)`.
    // Proved: `flattened` in `proofs/Simplify.v`.
    fn flattened(&self, form: &Form, divisor: i64) -> Option<(Form, i64)> {
        let mut inner = form.terms.iter().filter(|(_, coefficient)| *coefficient == 1);
        let (atom, (inner, by)) = inner.find_map(|(atom, _)| Some((*atom, self.as_quotient(*atom)?)))?;
        let rest = form.plus(-1, &Form::atom(atom))?;
        Some((inner.plus(by, &rest)?, by.checked_mul(divisor)?))
    }

    /// A proper divisor of the divisor by which the quotient is affine, and that quotient.
    ///
    /// A quotient is seldom affine unless the large terms are multiples of the divisor. So the candidates are the
    /// common divisors of the divisor and one coefficient, and of the divisor and the largest few coefficients, rather
    /// than all divisors of the divisor. The largest that works leaves the smallest division.
    // Proved: `affine_part` in `proofs/Simplify.v`.
    fn affine_part(&self, form: &Form, divisor: i64, context: &Context) -> Option<(Form, i64)> {
        let mut divisors: SmallVec<[i64; 8]> = SmallVec::new();
        let mut of_largest = divisor;
        let mut by_size: SmallVec<[i64; 8]> = form.terms.iter().map(|(_, coefficient)| *coefficient).collect();
        sort_short_by_key(&mut by_size, |coefficient| std::cmp::Reverse(coefficient.unsigned_abs()));
        for coefficient in by_size {
            let of_one = gcd(coefficient.into(), divisor.into()) as i64;
            of_largest = gcd(of_largest.into(), coefficient.into()) as i64;
            divisors.extend([of_one, of_largest]);
        }
        sort_short_by_key(&mut divisors, |divisor| std::cmp::Reverse(*divisor));
        divisors.dedup();
        let proper = divisors.into_iter().filter(|&by| 1 < by && by < divisor);
        proper.filter_map(|by| Some((context.affine_quotient(form, by)?, by))).next()
    }

    /// A condition with the divisions removed that an inequality does not need.
    ///
    /// For an integer `n`, `floor(m / d) >= n` holds exactly where `m >= d * n`, and `floor(m / d) <= n` exactly where
    /// `m <= d * n + d - 1`. With `n = b - rest` the first says that `floor(m / d) + rest >= b` is
    /// `m + d * rest >= d * b`; upper bounds and a negative sign likewise. The coefficient of the quotient must be 1 or
    /// -1: for any other one, `n` need not be an integer.
    ///
    /// A division stays where the form without it could leave `i64`, since no node could compute it, and where a bound
    /// would be past [`WIDE`].
    // Proved: `without_quotient` in `proofs/Simplify.v`.
    pub(crate) fn without_quotient(&self, condition: Condition, context: &Context) -> Condition {
        let Condition { mut form, mut low, mut high } = condition;
        loop {
            let unit = form.terms.iter().rev().filter(|(_, coefficient)| coefficient.abs() == 1);
            let found = unit.filter_map(|&(atom, sign)| Some((atom, sign, self.as_quotient(atom)?))).next();
            let Some((atom, sign, (inner, divisor))) = found else { break };
            // The numerator may exceed `divisor * quotient` by up to divisor - 1: that is added to the bound that
            // limits the quotient from above, which for a negative sign is the lower bound of the form.
            let slack = i128::from(divisor) - 1;
            let (below, above) = if sign > 0 { (0, slack) } else { (slack, 0) };
            let rest = form.plus(-sign, &Form::atom(atom)).and_then(|rest| rest.times(divisor));
            let Some(whole) = rest.and_then(|rest| rest.plus(sign, inner)) else { break };
            let fits = |(least, most)| i64::try_from(least).is_ok() && i64::try_from(most).is_ok();
            if !context.bounds(&whole).is_some_and(fits) {
                break;
            }
            let scaled = |bound: Option<i128>, by: i128| match bound {
                Some(bound) => {
                    let bound = bound.checked_mul(divisor.into())?.checked_add(by)?;
                    (-WIDE..=WIDE).contains(&bound).then_some(Some(bound))
                }
                None => Some(None),
            };
            let (Some(new_low), Some(new_high)) = (scaled(low, -below), scaled(high, above)) else { break };
            (form, low, high) = (whole, new_low, new_high);
        }
        Condition { form, low, high }
    }

    /// The condition that `m mod d` lies in a range, as one on a form without the division, if the remainder wraps only
    /// into what is excluded ([`Context::unwrapped`]).
    // Proved: `range_of_remainders` in `proofs/Simplify.v`.
    pub(crate) fn unwrapped(&self, condition: &Condition, context: &Context) -> Option<Condition> {
        let Condition { form, low, high } = condition;
        let (&(atom, unit), numerator) = form.terms.split_last()?;
        // A remainder is an atom, or written as `m - d * floor(m / d)`. Conditions in normal form have no constant, so
        // that the second one is short of the remainder by the constant of `m`.
        let (whole, divisor, less) = match self.kind(atom) {
            Kind::Remainder(whole, divisor) if numerator.is_empty() && unit == 1 => (whole, *divisor, 0),
            Kind::Quotient(whole, divisor) if unit == -divisor && numerator == &whole.terms[..] => {
                (whole, *divisor, whole.constant)
            }
            _ => return None,
        };
        let begin = low.map_or(0, |low| (low + i128::from(less)).max(0));
        let end = high.map_or(divisor.into(), |high| (high + 1 + i128::from(less)).min(divisor.into()));
        let (begin, end) = (i64::try_from(begin).ok()?, i64::try_from(end).ok()?);
        let form = context.unwrapped(whole, divisor, begin, end)?;
        Some(Condition { form, low: Some(begin.into()), high: Some(i128::from(end) - 1) }.normal())
    }
}

/// A form as `divisor * taken + rest`; `None` past `i64`.
///
/// Where something is taken, the constant of the rest lies in `0..divisor`. Each coefficient of the rest is congruent
/// to the one that it came from; of the congruent ones it is one that is cheap to multiply by.
// Proved: `reduced` in `proofs/Simplify.v`.
pub(crate) fn reduce(form: &Form, divisor: i64, what: Taken) -> Option<(Form, Form)> {
    if what == Taken::Nothing {
        return Some((Form::default(), form.clone()));
    }
    let (mut taken, mut rest) = (Form::default(), Form::default());
    for &(atom, coefficient) in &form.terms {
        let kept = match coefficient.rem_euclid(divisor) {
            0 => 0,
            _ if what == Taken::Multiples => coefficient,
            // Adding or subtracting an atom takes no product.
            1 => 1,
            kept if kept == divisor - 1 => -1,
            // A coefficient that is already small stays: taking it out would add a term outside, for nothing.
            _ if -divisor < coefficient && coefficient < divisor => coefficient,
            kept => kept,
        };
        if kept != 0 {
            rest.terms.push((atom, kept));
        }
        let out = (i128::from(coefficient) - i128::from(kept)) / i128::from(divisor);
        if out != 0 {
            taken.terms.push((atom, i64::try_from(out).ok()?));
        }
    }
    rest.constant = form.constant.rem_euclid(divisor);
    taken.constant = form.constant.div_euclid(divisor);
    Some((taken, rest))
}
