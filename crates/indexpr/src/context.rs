//! What is known of the atoms where an expression matters: an abstract domain of intervals, for atoms and for linear
//! forms of several atoms.
//!
//! An expression that is read only where conditions hold may be simplified as if they always held. But under conditions
//! the variables no longer range over a box: `0 <= x - y < 5` relates two of them, and the intervals of `x` and `y` by
//! themselves say nothing of it. So the context keeps intervals of whole forms (of what is assumed, and of what
//! divisions leave), and a form in question is *decomposed*: written as multiples of forms whose intervals are known,
//! plus a rest of single atoms. The pieces are then treated as if they were independent of each other. That is sound
//! and incomplete:
//!
//! - Sound, because each piece lies in its interval, so every point that the condition allows is a point of the box of
//!   all pieces, and what holds on the whole box holds at each of its points.
//! - Incomplete, because pieces that share variables do not reach every corner of that box. A corner that is never
//!   reached can make a bound too wide or let the boundary test fail. Another decomposition of the same form may
//!   succeed, so a few are tried; how many is a work limit.

use shapetracker_base::int::{div_ceil, div_floor, gcd};
use shapetracker_base::list::sort_short_by_key;
use smallvec::SmallVec;

use crate::atoms::{Atoms, Condition, Kind, WIDE};
use crate::boundary::is_affine;
use crate::form::{Atom, Form, Terms};
use crate::places::make_room;

/// The intervals of atoms, and of forms of several atoms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// The range of each atom, both ends included.
    ranges: Vec<Span>,
    /// Forms of at least two terms that a condition confines, in normal form, and their ranges.
    assumed: Vec<Known>,
    /// For every quotient `q` of a numerator `m` by `d` the remainder `m - d * q`, and its range; and for two quotients
    /// of one numerator, the coarser by `r` times the divisor, the digit `finer - r * coarser`. Ordered by the last
    /// atom, which is the quotient, since atoms are learnt in order and a numerator's atoms come before its quotients.
    remainders: Vec<Known>,
}

/// A form whose range is known.
#[derive(Clone, Debug)]
struct Known {
    form: Form,
    values: Span,
    atoms: AtomSet,
}

/// A superset of some atoms: their numbers modulo 64. It tells most forms apart that are not contained in each other.
#[derive(Clone, Copy, Debug)]
struct AtomSet(u64);

impl AtomSet {
    // No rule: a set of numbers modulo 64 tells what surely is not contained.
    fn of(form: &Form) -> AtomSet {
        AtomSet(form.terms.iter().fold(0, |set, (atom, _)| set | 1 << (atom % 64)))
    }

    /// Whether all atoms of this set may be among those of another one.
    fn may_be_within(self, other: AtomSet) -> bool {
        self.0 & !other.0 == 0
    }
}

impl Known {
    fn new(form: Form, values: Span) -> Known {
        Known { atoms: AtomSet::of(&form), form, values }
    }
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Always,
    Never,
    Depends,
}

/// A summand of a decomposed form: a multiple of an atom or of a form, and the interval of that.
struct Piece<'a> {
    coefficient: i64,
    part: Part<'a>,
    values: Span,
}

type Pieces<'a> = SmallVec<[Piece<'a>; 8]>;

/// Known forms that may be contained in another one.
type Fitting<'a> = SmallVec<[&'a Known; 16]>;

enum Part<'a> {
    Atom(Atom),
    Form(&'a Form),
}

/// A range of values, both ends included.
pub(crate) type Span = (i128, i128);

impl Context {
    /// A context in which some conditions hold, of their atoms and those of some forms.
    ///
    /// The atoms are learnt anew, in order, and each condition is assumed as soon as its last atom is known. So a
    /// quotient of what a condition confines gets the narrower range that the condition gives it. Later atoms have no say in
    /// what holds of earlier ones.
    pub(crate) fn of<'a>(
        atoms: &Atoms,
        conditions: impl Iterator<Item = &'a Condition> + Clone,
        forms: impl IntoIterator<Item = &'a Form>,
    ) -> Context {
        let forms = conditions.clone().map(|condition| &condition.form).chain(forms);
        let count = forms.filter_map(|form| form.terms.last()).map(|(last, _)| *last as usize + 1).max().unwrap_or(0);
        let mut context = Context::default();
        for (atom, kind) in atoms.atoms().take(count) {
            // The atom fitted `i64` in the context in which it was made. If fewer conditions hold in this one, its range
            // may seem to leave `i64`; where the atom matters it does not.
            if context.learn(atoms, atom, kind).is_none() {
                context.ranges.push((i64::MIN.into(), i64::MAX.into()));
            }
            let last = |condition: &&Condition| condition.form.terms.last().is_some_and(|(last, _)| *last == atom);
            conditions.clone().filter(last).for_each(|condition| context.assume(condition));
        }
        context
    }

    /// Whether what is assumed is shown to hold nowhere: an interval is empty.
    pub(crate) fn is_empty(&self) -> bool {
        let known = self.assumed.iter().chain(&self.remainders).map(|known| known.values);
        self.ranges.iter().copied().chain(known).any(|(low, high)| low > high)
    }

    /// The range of an atom, both ends included.
    pub(crate) fn range(&self, atom: Atom) -> Span {
        self.ranges[atom as usize]
    }

    /// Adds the next atom: its range, and the forms that relate it to others. `None` when the range leaves `i64`; the
    /// atom is then not known.
    // Proved: `quotient_range`, `remainder_range`, `digit_range` in `proofs/Simplify.v`.
    pub(crate) fn learn(&mut self, atoms: &Atoms, atom: Atom, kind: &Kind) -> Option<()> {
        debug_assert_eq!(self.ranges.len(), atom as usize);
        match kind {
            Kind::Remainder(_, divisor) => self.ranges.push((0, i128::from(*divisor) - 1)),
            Kind::Variable(_, low, high) => self.ranges.push(((*low).into(), (*high).into())),
            Kind::Operation(.., (low, high)) => self.ranges.push(((*low).into(), (*high).into())),
            Kind::Product(..) | Kind::Extremum(..) | Kind::Select(..) => {
                let spans = kind.forms().map(|form| self.bounds(form));
                let (low, high) = spans.reduce(|all, one| Some(kind.joined(all?, one?))).flatten()?;
                let (Ok(_), Ok(_)) = (i64::try_from(low), i64::try_from(high)) else { return None };
                self.ranges.push((low, high));
            }
            Kind::Quotient(form, divisor) => {
                let by = i128::from(*divisor);
                let (low, high) = self.bounds(form)?;
                let (low, high) = (div_floor(low, by), div_floor(high, by));
                let (Ok(_), Ok(_)) = (i64::try_from(low), i64::try_from(high)) else { return None };
                // 0 <= m - d * q < d; the form is kept without the constant of m, which shifts the interval.
                let rest = form.plus(-divisor, &Form::atom(atom))?;
                let constant = i128::from(rest.constant);
                self.ranges.push((low, high));
                make_room(&mut self.remainders);
                self.remainders.push(Known::new(rest.without_constant(), (-constant, by - 1 - constant)));
                // If e divides d, floor(m / d) is floor(floor(m / e) / (d / e)): the two quotients differ by a digit.
                for (other, finer) in atoms.quotients_of(form).filter(|(other, _)| *other < atom) {
                    if divisor % finer == 0 {
                        let ratio = divisor / finer;
                        let digit = Form::atom(other).plus(-ratio, &Form::atom(atom))?;
                        self.remainders.push(Known::new(digit, (0, i128::from(ratio) - 1)));
                    }
                }
            }
            Kind::Test(_) | Kind::Compare(..) | Kind::Bool(_) | Kind::Not(_) | Kind::Both(..) | Kind::Choice(..) => {
                self.ranges.push((0, 1))
            }
        }
        Some(())
    }

    /// Assumes a condition, which must be in normal form.
    ///
    /// What it says is intersected with what is known of the form already. Beyond that, only one kind of consequence is
    /// drawn: from two assumed forms of which one contains a multiple of the other, the interval of their difference,
    /// if that is a multiple of one atom. (If `x - y` and `x` are confined, so is `y`.) To draw all consequences would
    /// be Fourier-Motzkin elimination, whose cost is exponential; this is linear in the number of conditions.
    // Proved: `difference_range` in `proofs/Simplify.v`.
    pub(crate) fn assume(&mut self, condition: &Condition) {
        let Condition { form, low, high } = condition;
        let Some((least, most)) = self.bounds(form) else { return };
        let span = (low.map_or(least, |low| low.max(least)), high.map_or(most, |high| high.min(most)));
        self.remember(form, span);
        let mut differences: Vec<(Form, Span)> = Vec::new();
        let atoms = AtomSet::of(form);
        for Known { form: other, values, atoms: of_other } in &self.assumed {
            for ([whole, part], [in_whole, in_part], [of_whole, of_part]) in [
                ([form, other], [atoms, *of_other], [span, *values]),
                ([other, form], [*of_other, atoms], [*values, span]),
            ] {
                if in_part.may_be_within(in_whole)
                    && whole != part
                    && let Some((factor, left)) = contained(whole, part, false)
                    && let Some(difference) = factor.checked_neg().and_then(|minus| add(of_whole, minus, of_part))
                {
                    differences.push((left, difference));
                }
            }
        }
        for (form, (low, high)) in differences {
            let Condition { form, low, high } = Condition { form, low: Some(low), high: Some(high) }.normal();
            if let ([(atom, 1)], Some(low), Some(high)) = (&form.terms[..], low, high) {
                let range = &mut self.ranges[*atom as usize];
                *range = (low.max(range.0), high.min(range.1));
            }
        }
    }

    /// Stores the interval of a form: with its atom if it is one, else with the remainder or assumption of that form.
    fn remember(&mut self, form: &Form, (low, high): Span) {
        // A work limit: every assumption is tried in every decomposition. To forget one is sound.
        if self.assumed.len() >= 64 {
            return;
        }
        match form.terms[..] {
            [] => {}
            [(atom, 1)] => self.ranges[atom as usize] = (low, high),
            _ => match self.remainders.iter_mut().chain(&mut self.assumed).find(|known| known.form == *form) {
                Some(Known { values: (least, most), .. }) => (*least, *most) = (low.max(*least), high.min(*most)),
                None => self.assumed.push(Known::new(form.clone(), (low, high))),
            },
        }
    }

    /// A form as multiples of forms whose intervals are known and a rest, in up to so many ways.
    ///
    /// Known forms are subtracted greedily, one after the other, so the order decides what is found. These orders are
    /// tried, since each finds what others miss:
    ///
    /// - way 0: what is assumed, the latest first, then remainders. The latest conditions are about the atoms that a
    ///   form built after them is made of.
    /// - way 1: remainders first. `d * q + (m - d * q)` in place of `m` makes the numerator a multiple of the divisor
    ///   plus something small, which is what a boundary test by `d` needs. Remainders of earlier quotients come first,
    ///   because the numerators of later ones may contain those quotients.
    /// - way 2 and on: one assumption in front of all others, each in turn, for assumptions that overlap, so that once
    ///   the latest is subtracted the one that is needed no longer fits.
    fn decompositions<'a>(&'a self, form: &'a Form, ways: usize) -> impl Iterator<Item = (Pieces<'a>, Form)> {
        // Subtracting brings in no atoms, so that what has other atoms than the form never fits.
        let atoms = AtomSet::of(form);
        let fits = |known: &&Known| known.atoms.may_be_within(atoms);
        let (mut assumed, mut digits) = (Fitting::new(), Fitting::new());
        if form.terms.len() > 1 {
            assumed.extend(self.assumed.iter().filter(fits));
            // The remainders of the quotients in the form.
            digits.extend(form.terms.iter().flat_map(|(atom, _)| self.digits_of(*atom)).filter(fits));
        }
        let known = if assumed.is_empty() && digits.is_empty() { 0 } else { self.assumed.len() + 2 };
        (0..ways.min(known)).filter_map(move |way| {
            let latest = || assumed.iter().rev().map(|known| (*known, false));
            let digits = || digits.iter().map(|known| (*known, true));
            let found = match way {
                0 if !assumed.is_empty() => decompose(form, latest().chain(digits())),
                1 if digits().next().is_some() => decompose(form, digits().chain(latest())),
                _ if way > 1 => {
                    // Where it does not fit, or is the first of way 0, this is way 0 once more.
                    let first = &self.assumed[way - 2];
                    let (_, others) = assumed.split_last()?;
                    if !others.iter().any(|other| std::ptr::eq(first, *other)) {
                        return None;
                    }
                    contained(form, &first.form, false)?;
                    decompose(form, std::iter::once((first, false)).chain(latest()).chain(digits()))
                }
                _ => return None,
            };
            (!found.0.is_empty()).then_some(found)
        })
    }

    /// An interval that holds every value of a form: the intersection of what the atoms say by themselves and what up
    /// to three decompositions say. Exact for a form of variables without conditions, which range over a box. `None`
    /// past `i128`.
    // Proved: `bounds_of_pieces`, `bounds_are_attained` in `proofs/Simplify.v`.
    pub(crate) fn bounds(&self, form: &Form) -> Option<Span> {
        let plain = self.bounds_of_atoms(form)?;
        let mut span = plain;
        for (pieces, rest) in self.decompositions(form, 3) {
            let rest = self.bounds_of_atoms(&rest);
            let sum = rest.and_then(|rest| {
                pieces.iter().try_fold(rest, |span, piece| add(span, piece.coefficient, piece.values))
            });
            span = sum.map_or(span, |(low, high)| (span.0.max(low), span.1.min(high)));
        }
        Some(span)
    }

    /// The bounds of a form that is compared with zero or with bounds, as an expression has it: narrower than
    /// [`Context::bounds`] where quotients move with other atoms of the form. They are eliminated, the last one first.
    ///
    /// For a quotient `q` of `m` by `d`, the remainder `r = m - d * q` lies in a known interval. So `d` times a form with
    /// the term `c * q` is a form without it, less `c * r`, since `d * (c * q) = c * m - c * r`. In `x // 3 - x // 2 + x`
    /// the atoms move together, and the intervals of each by itself say little; six times the form is `5 * x` up to
    /// remainders. A decomposition cannot say that: it takes whole multiples only.
    pub(crate) fn bounds_of_difference(&self, form: &Form) -> Option<Span> {
        let (low, high) = self.bounds(form)?;
        let (least, most) = self.bounds_by_elimination(form, 8)?;
        Some((low.max(least), high.min(most)))
    }

    /// A condition of one lower bound without the quotients of its form, and weaker: see [`Context::bounds_of_difference`].
    /// `None` where there are none, or it leaves `i64`.
    // Proved: `eliminated_condition` in `proofs/Simplify.v`.
    pub(crate) fn eliminated(&self, condition: &Condition) -> Option<Condition> {
        let (mut form, mut low, mut high) = (condition.form.clone(), condition.low, condition.high);
        let mut changed = false;
        for _ in 0..8 {
            let found = form.terms.iter().rev().find_map(|(atom, factor)| {
                let known = self.digits_of(*atom).iter().find(|known| known.form.terms.len() > 1)?;
                Some((*atom, *factor, known))
            });
            let Some((atom, coefficient, Known { form: known, values, .. })) = found else { break };
            let (by, factor) = eliminating(coefficient, known.coefficient(atom));
            form = form.times(by)?.plus(factor, known)?;
            // What was `by * form` is the new form less `factor * known`.
            let (least, most) = add((0, 0), factor, *values)?;
            let scaled = |bound: Option<i128>, end: i128| match bound {
                Some(bound) => Some(Some(bound.checked_mul(by.into())?.checked_add(end)?)),
                None => Some(None),
            };
            (low, high) = (scaled(low, least)?, scaled(high, most)?);
            changed = true;
        }
        changed.then_some(Condition { form, low, high })
    }

    /// The bounds of a form by those of its atoms, narrowed by eliminating up to so many quotients (a work limit). One that
    /// leaves `i64` when it is eliminated stays.
    // Proved: `elimination_eliminates`, `elimination_bounds` in `proofs/Simplify.v`.
    fn bounds_by_elimination(&self, form: &Form, most: u32) -> Option<Span> {
        let (low, high) = self.bounds_of_atoms(form)?;
        let narrower = || {
            let left = most.checked_sub(1)?;
            let (atom, coefficient, Known { form: known, values, .. }) =
                form.terms.iter().rev().find_map(|(atom, coefficient)| {
                    // An atom of the numerator may be in the form, or in the numerator of another quotient in it.
                    let is_in = |part: &Atom| {
                        let within = |(other, _): &(Atom, i64)| {
                            self.digits_of(*other).iter().any(|known| known.form.coefficient(*part) != 0)
                        };
                        form.coefficient(*part) != 0 || form.terms.iter().any(|term| term.0 != *atom && within(term))
                    };
                    let moves_with =
                        |known: &&Known| known.form.terms.iter().any(|(part, _)| part != atom && is_in(part));
                    let known = self.digits_of(*atom).iter().find(moves_with)?;
                    Some((*atom, *coefficient, known))
                })?;
            let (by, factor) = eliminating(coefficient, known.coefficient(atom));
            let without = form.times(by)?.plus(factor, known)?;
            let (low, high) = add(self.bounds_by_elimination(&without, left)?, -factor, *values)?;
            Some((div_ceil(low, by.into()), div_floor(high, by.into())))
        };
        Some(narrower().map_or((low, high), |(least, most)| (low.max(least), high.min(most))))
    }

    /// The remainders and digits of a quotient. They are ordered by quotient, so that each is found by bisection.
    // No rule: steps double.
    fn digits_of(&self, atom: Atom) -> &[Known] {
        // Most atoms are variables, which come before all quotients.
        let variable = |known: &Known| known.form.terms.last().is_some_and(|(last, _)| atom < *last);
        if self.remainders.first().is_none_or(variable) {
            return &[];
        }
        let is_before = |known: &Known| known.form.terms.last().is_none_or(|(last, _)| *last < atom);
        // What is asked of is mostly what came last: the search begins there, with steps that grow.
        let (mut back, len) = (1, self.remainders.len());
        while back < len && !is_before(&self.remainders[len - back]) {
            back *= 2;
        }
        let near = &self.remainders[len.saturating_sub(back)..];
        let near = &near[near.partition_point(is_before)..];
        let count = near.iter().position(|known| known.form.terms.last().is_some_and(|(last, _)| *last != atom));
        &near[..count.unwrap_or(near.len())]
    }

    /// A form with known values put in: an atom that has but one value is a constant; and where `m - d * q` has but one
    /// value `r`, `d * q` is `m - r`. `None` past `i64`.
    // Proved: `known_value` in `proofs/Simplify.v`.
    pub(crate) fn with_known_values(&self, form: &Form) -> Option<Form> {
        let mut form = form.clone();
        let quotients = form.terms.clone();
        let first = quotients.first().map_or(self.remainders.len(), |(atom, _)| {
            self.remainders.partition_point(|known| known.form.terms.last().is_none_or(|(last, _)| last < atom))
        });
        // Later quotients first: what is put in for one may contain earlier ones.
        let known = self.remainders[first..].iter().rev().filter(|known| known.values.0 == known.values.1);
        for Known { form: digit, values, .. } in known {
            // Add the multiple of `r - (m - d * q)`, which is 0, that makes the quotient go away.
            let Some((quotient, divisor)) = digit.terms.last() else { continue };
            let coefficient = form.coefficient(*quotient);
            if coefficient != 0 && coefficient % divisor == 0 {
                let factor = coefficient / divisor;
                let value = i64::try_from(values.0).ok()?.checked_mul(factor)?;
                form = form.plus(factor.checked_neg()?, digit)?.plus(1, &Form::constant(value)?)?;
            }
        }
        for Known { form: known, values, .. } in self.assumed.iter().filter(|known| known.values.0 == known.values.1) {
            if let Some((factor, left)) = contained(&form, known, false)
                && left.terms.len() + known.terms.len() == form.terms.len()
            {
                form = left.plus(1, &Form::constant(i64::try_from(values.0).ok()?.checked_mul(factor)?)?)?;
            }
        }
        let mut known = Form { terms: Terms::new(), constant: form.constant };
        for &(atom, coefficient) in &form.terms {
            let (low, high) = self.ranges[atom as usize];
            if low == high {
                let value = i64::try_from(low).ok()?.checked_mul(coefficient)?;
                known = known.plus(1, &Form::constant(value)?)?;
            } else {
                known.terms.push((atom, coefficient));
            }
        }
        Some(known)
    }

    /// The interval of a form by those of its atoms: interval arithmetic, without any relation between atoms.
    fn bounds_of_atoms(&self, form: &Form) -> Option<Span> {
        let constant = i128::from(form.constant);
        let mut terms = form.terms.iter();
        terms.try_fold((constant, constant), |span, (atom, factor)| add(span, *factor, self.ranges[*atom as usize]))
    }

    /// Whether a condition holds wherever the context does. `Always` and `Never` are proved; `Depends` may also mean
    /// that the bounds are too wide to tell.
    pub(crate) fn truth(&self, condition: &Condition) -> Truth {
        condition.truth(self.bounds(&condition.form))
    }

    /// A condition in normal form without the terms that are too small to decide it: `40*i + j >= 80` with `j` in
    /// `0..40` is `i >= 2`.
    ///
    /// Write the form as `by * large + small`. Then `form >= low` is `large >= ceil((low - small) / by)`. If that bound
    /// is the same integer for the least and for the greatest value of `small`, it is the same for all between, and the
    /// condition says nothing of `small`. Both bounds of the condition must pass, or the form would still be needed.
    ///
    /// Candidates for `by` are the common divisors of the largest few coefficients, and what is left of the form when a
    /// form whose interval is known is the small part.
    // Proved: `tail_dropped` in `proofs/Simplify.v`.
    pub(crate) fn without_tail(&self, condition: Condition) -> Condition {
        let Condition { form, low, high } = &condition;
        let mut divisors: SmallVec<[i64; 8]> = SmallVec::new();
        let mut sizes: SmallVec<[i64; 8]> = form.terms.iter().map(|(_, coefficient)| *coefficient).collect();
        sort_short_by_key(&mut sizes, |coefficient| std::cmp::Reverse(coefficient.unsigned_abs()));
        let mut of_largest = 0;
        for coefficient in sizes {
            of_largest = gcd(of_largest, coefficient.into());
            divisors.extend(i64::try_from(of_largest).ok().filter(|by| *by > 1 && !divisors.contains(by)));
        }
        let by_size = divisors.into_iter().map(|by| {
            let (large, small): (Terms, Terms) =
                form.terms.iter().copied().partition(|(_, coefficient)| coefficient % by == 0);
            (by, Form { terms: large, constant: 0 }, self.bounds(&Form { terms: small, constant: 0 }))
        });
        let known = self.assumed.iter().filter(|known| known.form != *form).filter_map(|known| {
            let (factor, large) = contained(form, &known.form, false)?;
            Some((large.content(), large, add((0, 0), factor, known.values)))
        });
        for (by, large, small) in by_size.chain(known) {
            let Some((least, most)) = small.filter(|_| by != 0) else { continue };
            let wide = i128::from(by);
            let ceil = |a: i128| div_ceil(a, wide);
            // Each bound of `large`, for the least and for the greatest value of `small`.
            let new_low = low.map(|low| (ceil(low - least), ceil(low - most)));
            let new_high = high.map(|high| (div_floor(high - least, wide), div_floor(high - most, wide)));
            if [new_low, new_high].into_iter().flatten().all(|(a, b)| a == b) {
                let (low, high) = (new_low.map(|ends| ends.0), new_high.map(|ends| ends.0));
                return Condition { form: large.divided(by, 0), low, high };
            }
        }
        condition
    }

    /// A condition without the bounds that the context implies: an inequality costs one comparison, a range test two.
    // Proved: `implied_bounds` in `proofs/Simplify.v`.
    pub(crate) fn without_implied_bounds(&self, condition: Condition) -> Condition {
        let Condition { form, low, high } = condition;
        let (least, most) = self.bounds(&form).unwrap_or((i128::MIN, i128::MAX));
        Condition { form, low: low.filter(|low| least < *low), high: high.filter(|high| *high < most) }
    }

    /// Learns the atoms that were made with another context than this one.
    pub(crate) fn learn_new_atoms(&mut self, atoms: &Atoms) {
        for (atom, kind) in atoms.atoms().skip(self.ranges.len()) {
            // As in `Context::of`: the atom fitted `i64` where it was made.
            if self.learn(atoms, atom, kind).is_none() {
                self.ranges.push((i64::MIN.into(), i64::MAX.into()));
            }
        }
    }

    /// A condition of one bound with no coefficient larger than what is missing to the bound, if that saves products:
    /// `100*i + j >= 1` with natural `i` and `j` is `i + j >= 1`.
    ///
    /// This is coefficient tightening, as in integer programming. Shift every atom so that its term is least, and 0, at
    /// 0: the condition is `sum a_k x_k >= missing` with natural `x_k` and positive `a_k`. If `a_k > missing`, the
    /// condition holds as soon as `x_k >= 1`, and so it does with `missing` for the coefficient; for `x_k = 0` the term
    /// is 0 either way. Equal coefficients are then divided out ([`Condition::normal`]).
    // Proved: `saturated`, `saturated_above`, `ends_are_least` in `proofs/Simplify.v`.
    pub(crate) fn saturated(&self, condition: Condition) -> Condition {
        let Condition { form, low, high } = &condition;
        let (sign, bound) = match (low, high) {
            (Some(low), None) => (1, *low),
            (None, Some(high)) => (-1, -high),
            _ => return condition,
        };
        // As sign * form >= bound. Each term is least at one end of its atom's interval.
        let ends = form.terms.iter().map(|(atom, coefficient)| {
            let (least, most) = self.ranges[*atom as usize];
            (*atom, sign * coefficient, if sign * coefficient > 0 { least } else { most })
        });
        let missing = ends.clone().try_fold(bound, |missing, (_, coefficient, end)| {
            missing.checked_sub(i128::from(coefficient).checked_mul(end)?)
        });
        let Some(missing) = missing.and_then(|missing| i64::try_from(missing).ok()).filter(|missing| *missing > 0)
        else {
            return condition;
        };
        let mut saturated = Condition { form: Form::default(), low: Some(missing.into()), high: None };
        for (atom, coefficient, end) in ends {
            let kept = coefficient.clamp(-missing, missing);
            saturated.form.terms.push((atom, kept));
            saturated.low = saturated.low.map(|low| low + i128::from(kept) * end);
        }
        let saturated = saturated.normal();
        let products = |form: &Form| form.terms.iter().filter(|(_, coefficient)| coefficient.abs() != 1).count();
        if products(&saturated.form) < products(form) { saturated } else { condition }
    }

    /// `floor(form / divisor)` as a form without a division, if the boundary test ([`crate::boundary`]) proves that it
    /// is affine over the box of some decomposition's pieces.
    ///
    /// For a form of variables without conditions the answer is exact: `None` means that no affine form would do.
    /// Otherwise it is sound and incomplete, as the documentation of this module says.
    pub(crate) fn affine_quotient(&self, form: &Form, divisor: i64) -> Option<Form> {
        let mut pieces = Pieces::new();
        self.atoms_of(form, &mut pieces);
        let plain = quotient_of_pieces(&pieces, form.constant, divisor);
        plain.or_else(|| {
            self.decompositions(form, 16).find_map(|(mut pieces, rest)| {
                self.atoms_of(&rest, &mut pieces);
                quotient_of_pieces(&pieces, rest.constant, divisor)
            })
        })
    }

    /// A form without a division that lies in `begin..end` exactly where `form mod size` does, for `begin..end` within
    /// `0..size`.
    ///
    /// That is any form `R` that is congruent to `form` modulo `size` and whose interval misses all translates of
    /// `begin..end` by multiples of `size` other than 0. Proof: where `R` lies in `begin..end`, it is its own
    /// remainder, and so that of `form`. Conversely, where the remainder lies in `begin..end`, `R` lies in some
    /// translate of it, and only the one by 0 is within reach.
    ///
    /// So a masked digit needs no division although it wraps, as long as it wraps only into what the mask excludes. The
    /// boundary test would ask for more: that the digit does not wrap at all.
    // Proved: `unwrapped` in `proofs/Simplify.v`.
    pub(crate) fn unwrapped(&self, form: &Form, size: i64, begin: i64, end: i64) -> Option<Form> {
        let plain = std::iter::once_with(|| (Pieces::new(), form.clone()));
        self.decompositions(form, 16).chain(plain).find_map(|(mut pieces, rest)| {
            self.atoms_of(&rest, &mut pieces);
            [true, false]
                .into_iter()
                .find_map(|nearest| unwrap(form, &pieces, rest.constant, [size, begin, end], nearest))
        })
    }

    /// Adds the terms of a form to the pieces of a decomposition, each atom a piece.
    fn atoms_of(&self, form: &Form, pieces: &mut Pieces<'_>) {
        for &(atom, coefficient) in &form.terms {
            pieces.push(Piece { coefficient, part: Part::Atom(atom), values: self.ranges[atom as usize] });
        }
    }
}

impl Condition {
    /// Whether the condition holds, by bounds of its form.
    // Proved: `truth_by_bounds` in `proofs/Simplify.v`.
    pub(crate) fn truth(&self, bounds: Option<Span>) -> Truth {
        let Some((least, most)) = bounds else { return Truth::Depends };
        let above = self.low.is_none_or(|low| low <= least);
        let below = self.high.is_none_or(|high| most <= high);
        match above && below {
            true => Truth::Always,
            false if self.low.is_some_and(|low| most < low) => Truth::Never,
            false if self.high.is_some_and(|high| high < least) => Truth::Never,
            false => Truth::Depends,
        }
    }
}

/// Subtracts multiples of known forms from a form, each in turn where it fits; the flag of a known form is that of
/// [`contained`].
fn decompose<'a>(form: &Form, known: impl Iterator<Item = (&'a Known, bool)>) -> (Pieces<'a>, Form) {
    let (mut pieces, mut rest) = (SmallVec::new(), form.clone());
    for (Known { form: known, values, .. }, digit) in known {
        if let Some((coefficient, left)) = contained(&rest, known, digit) {
            pieces.push(Piece { coefficient, part: Part::Form(known), values: *values });
            rest = left;
        }
    }
    (pieces, rest)
}

/// `floor(sum / divisor)` as a form, if the boundary test proves that it is affine in the pieces over the box of their
/// intervals.
///
/// The test proves `floor(sum / divisor) = floor(first / divisor) + sum of c_k * (piece_k - least_k)` at every point of
/// the box, where `first` is the sum at the least values of all pieces. The pieces need not be independent for this to
/// hold at the points that they do reach. If they are not, the test may fail because of a point that is never reached.
// Proved: `pieces_walked`, `affine_in_pieces`, `long_reach` in `proofs/Simplify.v`.
fn quotient_of_pieces(pieces: &[Piece<'_>], constant: i64, divisor: i64) -> Option<Form> {
    let mut first = i128::from(constant);
    for piece in pieces {
        first = first.checked_add(times(piece.coefficient, piece.values.0)?)?;
    }
    let (at_corner, remainder) = match i64::try_from(first) {
        Ok(first) => (first.div_euclid(divisor).into(), first.rem_euclid(divisor)),
        Err(_) => (first.div_euclid(divisor.into()), first.rem_euclid(divisor.into()) as i64),
    };
    // A longer interval counts as one of length `i64::MAX`: a remainder that moves at all leaves `0..divisor` either
    // way.
    let reach = |(low, high): Span| i64::try_from(high - low).unwrap_or(i64::MAX);
    let axes = pieces.iter().map(|piece| (piece.coefficient, reach(piece.values)));
    // The places of pieces, and by how much the quotient moves with each.
    let mut carried = Terms::new();
    if !is_affine(remainder, divisor, axes, |at, by| carried.push((at as u32, by))) {
        return None;
    }
    let mut quotient = Form::default();
    // The sum of c_k * least_k.
    let mut at_first = 0i128;
    for (at, carries) in carried.into_iter().filter(|(_, carries)| *carries != 0) {
        let piece = &pieces[at as usize];
        at_first = at_first.checked_add(times(carries, piece.values.0)?)?;
        quotient = match piece.part {
            Part::Atom(atom) => quotient.plus(carries, &Form::atom(atom))?,
            Part::Form(form) => quotient.plus(carries, form)?,
        };
    }
    quotient.constant = i64::try_from(at_corner.checked_sub(at_first)?).ok()?;
    Some(quotient)
}

/// The congruent form `R` of [`Context::unwrapped`], by the pieces of one decomposition.
///
/// Multiples of the size are subtracted from the coefficient of each piece and from the constant. The coefficient
/// nearest to zero makes the interval of `R` shortest, which mostly passes the test if any choice does; the least that is not
/// negative passes it sometimes where that one does not.
// Proved: `unwrap_holds`, `unwrap_is_congruent`, `nearest_is_shortest`, `least_shift` in `proofs/Simplify.v`.
fn unwrap(
    form: &Form,
    pieces: &[Piece<'_>],
    constant: i64,
    [size, begin, end]: [i64; 3],
    nearest: bool,
) -> Option<Form> {
    let wide = i128::from(size);
    let mut unwrapped = form.clone();
    let mut span = (i128::from(constant), i128::from(constant));
    for piece in pieces {
        let mut kept = piece.coefficient.rem_euclid(size);
        if nearest && kept > size / 2 {
            kept -= size;
        }
        span = add(span, kept, piece.values)?;
        let taken = kept.checked_sub(piece.coefficient)?;
        if taken != 0 {
            unwrapped = match piece.part {
                Part::Atom(atom) => unwrapped.plus(taken, &Form::atom(atom))?,
                Part::Form(form) => unwrapped.plus(taken, form)?,
            };
        }
    }
    // The translates next to begin..end are begin - size..end - size and begin + size..end + size. The interval must
    // start at end - size or later. The least shift by a multiple of the size that makes it do so leaves it the
    // farthest from the translate above: if it reaches that one, no shift will do.
    let lowest = i128::from(end) - wide;
    let shift = (lowest - span.0).div_euclid(wide) + i128::from((lowest - span.0).rem_euclid(wide) != 0);
    let shift = shift.checked_mul(wide)?;
    unwrapped.constant = i64::try_from(i128::from(unwrapped.constant) + shift).ok()?;
    (span.1 + shift < i128::from(begin) + wide).then_some(unwrapped)
}

/// Two factors, the first positive, by which a coefficient and another one are multiplied so that their sum is 0.
// Proved: `elimination_eliminates` in `proofs/Simplify.v`.
fn eliminating(coefficient: i64, unit: i64) -> (i64, i64) {
    let common = gcd(coefficient.into(), unit.into()) as i64;
    (unit.abs() / common, coefficient / common * -unit.signum())
}

/// `span + factor * values`, in interval arithmetic; `None` past [`WIDE`].
// Proved: `add_holds` in `proofs/Simplify.v`.
fn add(span: Span, factor: i64, values: Span) -> Option<Span> {
    let (a, b) = (times(factor, values.0)?, times(factor, values.1)?);
    let sum = (span.0.checked_add(a.min(b))?, span.1.checked_add(a.max(b))?);
    (-WIDE <= sum.0 && sum.1 <= WIDE).then_some(sum)
}

/// A product in `i128`: nearly always of two numbers of 64 bits, which needs no check and is several times faster.
#[inline]
fn times(factor: i64, value: i128) -> Option<i128> {
    match i64::try_from(value) {
        Ok(value) => Some(i128::from(factor) * i128::from(value)),
        Err(_) => i128::from(factor).checked_mul(value),
    }
}

/// The multiple of a known form whose subtraction leaves a form with the fewest terms, and what it leaves; `None` unless
/// the form has all atoms of the known one and some multiple makes at least one of them go away.
///
/// With `digit`, the known form is a remainder `m - d * q`, and all atoms of `m` must go: to trade a part of the
/// numerator for a multiple of the quotient makes nothing simpler.
// No rule: whatever the factor, the multiple and what it leaves are the form.
fn contained(form: &Form, known: &Form, digit: bool) -> Option<(i64, Form)> {
    // The coefficients in the form of the atoms of the known one; both are in order.
    let mut coefficients: SmallVec<[i64; 8]> = SmallVec::new();
    let mut terms = form.terms.iter();
    for (atom, _) in &known.terms {
        coefficients.push(terms.by_ref().find(|(other, _)| other >= atom).filter(|(other, _)| other == atom)?.1);
    }
    let others = known.terms.len().checked_sub(1)?;
    let mut best: Option<(usize, i64, Form)> = None;
    let mut tried = None;
    for (coefficient, (_, unit)) in coefficients.iter().zip(&known.terms).take(others + usize::from(!digit)) {
        let factor = coefficient / unit;
        if coefficient % unit != 0 || tried == Some(factor) {
            continue;
        }
        tried = Some(factor);
        let goes = |at: &usize| known.terms[*at].1.checked_mul(factor) == Some(coefficients[*at]);
        let gone = (0..=others).filter(goes).count();
        let more = best.as_ref().is_none_or(|(most, ..)| gone > *most);
        if more
            && (!digit || (0..others).all(|at| goes(&at)))
            && let Some(left) = form.plus(-factor, known)
        {
            best = Some((gone, factor, left));
        }
    }
    best.map(|(_, factor, left)| (factor, left))
}
