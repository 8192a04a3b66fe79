//! What forms are made of, and the division of a form by a number: the one place where divisions are made or avoided.

use smallvec::SmallVec;

use crate::context::{Condition, Context, WIDE};
use crate::form::{Atom, Form};
use crate::graph::{Binary, Map};
use crate::int::gcd;
use crate::list::sort_short_by_key;

/// The atoms of some forms. Equal atoms are one; an atom comes after those that it is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Algebra {
    atoms: Vec<Kind>,
    known: Map<Kind, Atom>,
    /// The quotients of each numerator.
    quotients: Map<Form, SmallVec<[Atom; 2]>>,
    /// What stays in the numerator of a division that cannot be avoided.
    pub(crate) style: Style,
    /// Whether what divisions leave became atoms.
    has_digits: bool,
    /// Whether something was taken out of a numerator that is no multiple of the divisor; and whether anything was.
    takes_parts: bool,
    takes_multiples: bool,
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
    /// An operation that is not linear, and the range of its values.
    Operation(Binary, Form, Form, (i64, i64)),
    /// One form or another, by a condition, and the range of both.
    Select(Atom, Form, Form, (i64, i64)),
    /// The condition that a form lie between bounds. This and what follows are conditions; no form is a sum of them.
    Test(Condition),
    /// The comparison of two forms whose difference leaves `i64`.
    Compare(Binary, Form, Form),
    /// A condition that always holds, or never.
    Bool(bool),
    /// The opposite of a condition.
    Not(Atom),
    /// Two conditions, both or either.
    Both(Binary, Atom, Atom),
    /// One condition or another, by a third.
    Choice(Atom, Atom, Atom),
}

/// How the divisions are written that cannot be avoided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// What is taken out of numerators.
    pub(crate) taken: Taken,
    /// When what divisions leave is an atom of its own.
    pub(crate) digits: Digits,
}

/// What is taken out of the numerator of a division.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Taken {
    /// All that leaves smaller coefficients.
    #[default]
    Most,
    /// Terms that are multiples of the divisor.
    Multiples,
    /// Nothing, so that divisions of one number share it.
    Nothing,
}

/// When what a division leaves is an atom of its own, and not written with the quotient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Digits {
    Never,
    /// Where that makes a form shorter.
    #[default]
    WhereShorter,
    /// For every digit of a position that is not affine.
    Always,
}

impl Style {
    /// For stacks so high that what is taken out of divisions leaves `i64`: every digit is an atom of its own.
    pub(crate) const EVERY_DIGIT: Style = Style { taken: Taken::Nothing, digits: Digits::Always };

    /// The way of writing divisions that is tried first.
    pub(crate) const FIRST: Style = Style { taken: Taken::Most, digits: Digits::WhereShorter };

    /// The way to try after this one, if it can make a difference. Which is the cheapest depends on the rest of the
    /// expression: all are tried.
    pub(crate) fn next(self, tried: &Algebra) -> Option<Style> {
        let takes = |taken| Some(Style { taken, digits: Digits::WhereShorter });
        match self {
            _ if tried.quotients.is_empty() || self.digits == Digits::Always => None,
            Style { digits: Digits::WhereShorter, taken } if tried.has_digits => {
                Some(Style { taken, digits: Digits::Never })
            }
            Style { taken: Taken::Most, .. } if tried.takes_parts => takes(Taken::Multiples),
            Style { taken: Taken::Most | Taken::Multiples, .. } if tried.takes_multiples => takes(Taken::Nothing),
            _ => None,
        }
    }
}

impl Algebra {
    pub(crate) fn new(style: Style) -> Algebra {
        Algebra { style, ..Algebra::default() }
    }

    pub(crate) fn kind(&self, atom: Atom) -> &Kind {
        &self.atoms[atom as usize]
    }

    pub(crate) fn atoms(&self) -> impl Iterator<Item = (Atom, &Kind)> {
        (0..).zip(&self.atoms)
    }

    pub(crate) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// The quotient that an atom is.
    pub(crate) fn as_quotient(&self, atom: Atom) -> Option<(&Form, i64)> {
        match self.kind(atom) {
            Kind::Quotient(form, divisor) => Some((form, *divisor)),
            _ => None,
        }
    }

    /// An atom; `None` when its values leave `i64`.
    pub(crate) fn atom(&mut self, kind: Kind, context: &mut Context) -> Option<Atom> {
        if let Some(&known) = self.known.get(&kind) {
            return Some(known);
        }
        let atom = self.atoms.len() as Atom;
        context.learn(self, atom, &kind)?;
        if let Kind::Quotient(form, _) = &kind {
            self.quotients.entry(form.clone()).or_default().push(atom);
        }
        self.atoms.push(kind.clone());
        self.known.insert(kind, atom);
        Some(atom)
    }

    /// An atom that is a condition. Its values are 0 and 1, which never leave `i64`.
    pub(crate) fn condition(&mut self, kind: Kind, context: &mut Context) -> Atom {
        self.atom(kind, context).unwrap_or_default()
    }

    /// The quotients of a numerator, and their divisors.
    pub(crate) fn quotients_of(&self, form: &Form) -> impl Iterator<Item = (Atom, i64)> {
        let quotients = self.quotients.get(form).into_iter().flatten();
        quotients.filter_map(|atom| Some((*atom, self.as_quotient(*atom)?.1)))
    }

    /// `floor(form / divisor)` wherever the context holds, for a divisor that is not zero; `None` past `i64`.
    pub(crate) fn quotient(&mut self, form: &Form, divisor: i64, context: &mut Context) -> Option<Form> {
        let (mut form, mut divisor) = match divisor < 0 {
            true => (form.times(-1)?, divisor.checked_neg()?),
            false => (form.clone(), divisor),
        };
        loop {
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
            // The floor of a floor is one floor: what it cut off stays too little to matter.
            if let Some((whole, by)) = self.flattened(&form, divisor) {
                if form.terms.len() == 1 {
                    (form, divisor) = (whole, by);
                    continue;
                }
                if let Some(affine) = context.affine_quotient(&whole, by) {
                    return Some(affine);
                }
            }
            // If a part of the division is affine, the rest is a smaller division.
            match self.part(&form, divisor, context) {
                Some((part, by)) => (form, divisor) = (part, divisor / by),
                None => break,
            }
        }
        let (taken, rest) = reduce(&form, divisor, self.style.taken)?;
        self.takes_multiples |= taken != Form::default();
        self.takes_parts |= self.style.taken == Taken::Most && rest != reduce(&form, divisor, Taken::Multiples)?.1;
        let atom = self.atom(Kind::Quotient(rest, divisor), context)?;
        taken.plus(1, &Form::atom(atom))
    }

    /// A form with what divisions leave in it as atoms, where that makes it shorter.
    pub(crate) fn in_digits(&mut self, form: Form, context: &mut Context) -> Option<Form> {
        if self.style.digits != Digits::WhereShorter {
            return Some(form);
        }
        let mut form = form;
        for &(atom, _) in form.terms.clone().iter() {
            let Some((whole, divisor)) = self.as_quotient(atom) else { continue };
            let (whole, divisor) = (whole.clone(), divisor);
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
                self.has_digits = true;
            }
        }
        Some(form)
    }

    /// `floor((floor(m / e) + rest) / d)` is `floor((m + e * rest) / (e * d))`.
    fn flattened(&self, form: &Form, divisor: i64) -> Option<(Form, i64)> {
        let mut inner = form.terms.iter().filter(|(_, coefficient)| *coefficient == 1);
        let (atom, (inner, by)) = inner.find_map(|(atom, _)| Some((*atom, self.as_quotient(*atom)?)))?;
        let rest = form.plus(-1, &Form::atom(atom))?;
        Some((inner.plus(by, &rest)?, by.checked_mul(divisor)?))
    }

    /// A proper divisor of the divisor by which the quotient is affine, and that quotient.
    fn part(&self, form: &Form, divisor: i64, context: &Context) -> Option<(Form, i64)> {
        let mut divisors: SmallVec<[i64; 8]> = SmallVec::new();
        let mut chain = divisor;
        let mut by_size: SmallVec<[i64; 8]> = form.terms.iter().map(|(_, coefficient)| *coefficient).collect();
        sort_short_by_key(&mut by_size, |coefficient| std::cmp::Reverse(coefficient.unsigned_abs()));
        for coefficient in by_size {
            let alone = gcd(coefficient.into(), divisor.into()) as i64;
            chain = gcd(chain.into(), coefficient.into()) as i64;
            divisors.extend([alone, chain]);
        }
        sort_short_by_key(&mut divisors, |divisor| std::cmp::Reverse(*divisor));
        divisors.dedup();
        let proper = divisors.into_iter().filter(|&by| 1 < by && by < divisor);
        proper.filter_map(|by| Some((context.affine_quotient(form, by)?, by))).next()
    }

    /// A condition on a form with the divisions out of it that an inequality does not need:
    /// `floor(m / d) + rest >= b` is `m + d * rest >= b * d`, and likewise for an upper bound and a negative sign.
    ///
    /// A division stays where the form without it could leave `i64`.
    pub(crate) fn without_quotient(&self, condition: Condition, context: &Context) -> Condition {
        let Condition { mut form, mut low, mut high } = condition;
        loop {
            let unit = form.terms.iter().rev().filter(|(_, coefficient)| coefficient.abs() == 1);
            let found = unit.filter_map(|&(atom, sign)| Some((atom, sign, self.as_quotient(atom)?))).next();
            let Some((atom, sign, (inner, divisor))) = found else { break };
            // Without the floor the numerator may be up to divisor - 1 more.
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

    /// The condition that `m mod d` lie in a range as one on a form without the division, where it wraps only into what
    /// is excluded.
    pub(crate) fn unwrapped(&self, condition: &Condition, context: &Context) -> Option<Condition> {
        let Condition { form, low, high } = condition;
        let (&(atom, unit), numerator) = form.terms.split_last()?;
        let (whole, divisor, less) = match self.kind(atom) {
            Kind::Remainder(whole, divisor) if numerator.is_empty() && unit == 1 => (whole, *divisor, 0),
            // What is left of the numerator, less its constant.
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

/// A form as `divisor * taken + rest`.
pub(crate) fn reduce(form: &Form, divisor: i64, what: Taken) -> Option<(Form, Form)> {
    if what == Taken::Nothing {
        return Some((Form::default(), form.clone()));
    }
    let (mut taken, mut rest) = (Form::default(), Form::default());
    for &(atom, coefficient) in &form.terms {
        let kept = match coefficient.rem_euclid(divisor) {
            0 => 0,
            _ if what == Taken::Multiples => coefficient,
            // Adding or subtracting an atom is cheaper than a product.
            1 => 1,
            kept if kept == divisor - 1 => -1,
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

impl Kind {
    /// The forms that an atom is made of.
    pub(crate) fn forms(&self) -> impl Iterator<Item = &Form> {
        let forms = match self {
            Kind::Quotient(form, _) | Kind::Remainder(form, _) | Kind::Test(Condition { form, .. }) => {
                [Some(form), None]
            }
            Kind::Operation(_, a, b, _) | Kind::Select(_, a, b, _) | Kind::Compare(_, a, b) => [Some(a), Some(b)],
            _ => [None, None],
        };
        forms.into_iter().flatten()
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
