//! What is known of the atoms where an expression matters: ranges, and conditions that are assumed to hold.

use smallvec::SmallVec;

use crate::algebra::{Algebra, Kind};
use crate::boundary::is_affine;
use crate::form::{Atom, Form, Terms};
use crate::int::{div_ceil, div_floor, gcd};
use crate::list::sort_short_by_key;

/// The demand that a form lie between two numbers, both included; either may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Condition {
    pub(crate) form: Form,
    pub(crate) low: Option<i128>,
    pub(crate) high: Option<i128>,
}

/// Ranges of atoms, and of forms of several atoms.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// The range of each atom, both ends included.
    ranges: Vec<Span>,
    /// Forms of two terms and more without a constant, and their ranges.
    assumed: Vec<(Form, Span)>,
    /// What divisions leave, the numerator's atoms before that of the quotient, and its range.
    remainders: Vec<(Form, Span)>,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Always,
    Never,
    Depends,
}

/// A part of a form: a multiple of something, and the range of that.
struct Piece<'a> {
    coefficient: i64,
    part: Part<'a>,
    values: Span,
}

type Pieces<'a> = SmallVec<[Piece<'a>; 8]>;

enum Part<'a> {
    Atom(Atom),
    Form(&'a Form),
}

impl Condition {
    /// The same condition without a constant, with a divisor taken out, and the first coefficient positive.
    pub(crate) fn normal(self) -> Condition {
        let Condition { mut form, mut low, mut high } = self;
        let constant = i128::from(std::mem::take(&mut form.constant));
        (low, high) = (low.map(|low| low - constant), high.map(|high| high - constant));
        let mut content = form.content();
        if form.terms.first().is_some_and(|(_, coefficient)| *coefficient < 0) {
            content = -content;
            (low, high) = (high, low);
        }
        if content != 0 && content != 1 {
            let by = i128::from(content);
            form = form.divided(content, 0);
            low = low.map(|low| div_ceil(low, by));
            high = high.map(|high| div_floor(high, by));
        }
        Condition { form, low, high }
    }

    /// Whether it has one bound, and products that might be saved.
    pub(crate) fn can_be_saturated(&self) -> bool {
        self.low.is_some() != self.high.is_some()
            && self.form.terms.iter().any(|(_, coefficient)| coefficient.abs() != 1)
    }
}

/// A range of values, both ends included.
pub(crate) type Span = (i128, i128);

impl Context {
    /// What some conditions say of all atoms; each is taken up as soon as the atoms in it are known.
    pub(crate) fn of<'a>(algebra: &Algebra, conditions: impl Iterator<Item = &'a Condition> + Clone) -> Context {
        let mut context = Context::default();
        for (atom, kind) in algebra.atoms() {
            // They were learnt once, with wider ranges or narrower ones; either way they are known to fit.
            if context.learn(algebra, atom, kind).is_none() {
                context.ranges.push((i64::MIN.into(), i64::MAX.into()));
            }
            let last = |condition: &&Condition| condition.form.terms.last().is_some_and(|(last, _)| *last == atom);
            conditions.clone().filter(last).for_each(|condition| context.assume(condition));
        }
        context
    }

    /// Takes up a new atom: its range, and what relates it to others. `None` when the range leaves `i64`.
    pub(crate) fn learn(&mut self, algebra: &Algebra, atom: Atom, kind: &Kind) -> Option<()> {
        debug_assert_eq!(self.ranges.len(), atom as usize);
        match kind {
            Kind::Remainder(_, divisor) => self.ranges.push((0, i128::from(*divisor) - 1)),
            Kind::Variable(_, low, high) => self.ranges.push(((*low).into(), (*high).into())),
            Kind::Operation(.., (low, high)) | Kind::Select(.., (low, high)) => {
                self.ranges.push(((*low).into(), (*high).into()));
            }
            Kind::Quotient(form, divisor) => {
                let by = i128::from(*divisor);
                let (low, high) = self.bounds(form)?;
                let (low, high) = (div_floor(low, by), div_floor(high, by));
                let (Ok(_), Ok(_)) = (i64::try_from(low), i64::try_from(high)) else { return None };
                // What the division leaves; and what it leaves of a finer division of the same.
                let rest = form.plus(-divisor, &Form::atom(atom))?;
                let constant = i128::from(rest.constant);
                self.ranges.push((low, high));
                self.remainders.push((rest.without_constant(), (-constant, by - 1 - constant)));
                for (other, finer) in algebra.quotients_of(form).filter(|(other, _)| *other < atom) {
                    if divisor % finer == 0 {
                        let ratio = divisor / finer;
                        let digit = Form::atom(other).plus(-ratio, &Form::atom(atom))?;
                        self.remainders.push((digit, (0, i128::from(ratio) - 1)));
                    }
                }
            }
            Kind::Test(_) | Kind::Compare(..) | Kind::Bool(_) | Kind::Not(_) | Kind::Both(..) | Kind::Choice(..) => {
                self.ranges.push((0, 1))
            }
        }
        Some(())
    }

    /// Assumes a condition in normal form.
    pub(crate) fn assume(&mut self, condition: &Condition) {
        let Condition { form, low, high } = condition;
        let Some((least, most)) = self.bounds(form) else { return };
        let span = (low.map_or(least, |low| low.max(least)), high.map_or(most, |high| high.min(most)));
        self.remember(form, span);
        // Two forms of which one is a part of the other tell of the difference.
        let mut differences: SmallVec<[(Form, Span); 4]> = SmallVec::new();
        for (other, values) in &self.assumed {
            for ([whole, part], [of_whole, of_part]) in
                [([form, other], [span, *values]), ([other, form], [*values, span])]
            {
                if whole != part
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

    fn remember(&mut self, form: &Form, (low, high): Span) {
        // Nobody states so many conditions; and each is looked at for every form.
        if self.assumed.len() >= 64 {
            return;
        }
        match form.terms[..] {
            [] => {}
            [(atom, 1)] => self.ranges[atom as usize] = (low, high),
            _ => match self.remainders.iter_mut().chain(&mut self.assumed).find(|(known, _)| known == form) {
                Some((_, (least, most))) => (*least, *most) = (low.max(*least), high.min(*most)),
                None => self.assumed.push((form.clone(), (low, high))),
            },
        }
    }

    /// A form as multiples of forms whose ranges are known, and what is left of it, in a few ways: what is assumed goes
    /// first, the latest or any one of it; or digits do, those of the innermost atoms before others, so
    /// that those above become whole.
    fn decompositions<'a>(&'a self, form: &'a Form, ways: usize) -> impl Iterator<Item = (Pieces<'a>, Form)> {
        let latest = || self.assumed.iter().rev().map(|known| (known, false));
        let earliest = || self.assumed.iter().map(|known| (known, false));
        // Those of the quotients in the form: digits stand in the order of their last atoms, the quotients.
        let digits = move || {
            let of =
                |atom: Atom| move |(known, _): &(Form, Span)| known.terms.last().is_none_or(|(last, _)| *last < atom);
            form.terms.iter().flat_map(move |(atom, _)| {
                let first = self.remainders.partition_point(of(*atom));
                let past = first + self.remainders[first..].partition_point(of(*atom + 1));
                self.remainders[first..past].iter().map(|known| (known, true))
            })
        };
        let assumed = self.assumed.len();
        let has_digits = digits().next().is_some();
        (0..if form.terms.len() < 2 { 0 } else { ways.min(assumed + 2) }).filter_map(move |way| {
            let found = match way {
                0 if assumed > 0 => decompose(form, latest().chain(digits())),
                1 if has_digits => decompose(form, digits().chain(latest())),
                one if one > 1 && assumed > 1 => {
                    decompose(form, earliest().skip(one - 2).take(1).chain(latest()).chain(digits()))
                }
                _ => return None,
            };
            (!found.0.is_empty()).then_some(found)
        })
    }

    /// A range that holds every value of a form; exact for a form of variables alone. `None` past `i128`.
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

    /// A form with what is known of it put in: the atoms that have one value, and quotients that are known to leave one.
    pub(crate) fn settled(&self, form: &Form) -> Option<Form> {
        let mut form = form.clone();
        let quotients = form.terms.clone();
        let first = quotients.first().map_or(self.remainders.len(), |(atom, _)| {
            self.remainders.partition_point(|(known, _)| known.terms.last().is_none_or(|(last, _)| last < atom))
        });
        for (digit, values) in self.remainders[first..].iter().rev().filter(|(_, (low, high))| low == high) {
            // numerator - divisor * quotient has one value.
            let Some((quotient, divisor)) = digit.terms.last() else { continue };
            let coefficient = form.coefficient(*quotient);
            if coefficient != 0 && coefficient % divisor == 0 {
                let factor = coefficient / divisor;
                let value = i64::try_from(values.0).ok()?.checked_mul(factor)?;
                form = form.plus(factor.checked_neg()?, digit)?.plus(1, &Form::constant(value)?)?;
            }
        }
        let mut settled = Form { terms: Terms::new(), constant: form.constant };
        for &(atom, coefficient) in &form.terms {
            let (low, high) = self.ranges[atom as usize];
            if low == high {
                let value = i64::try_from(low).ok()?.checked_mul(coefficient)?;
                settled = settled.plus(1, &Form::constant(value)?)?;
            } else {
                settled.terms.push((atom, coefficient));
            }
        }
        Some(settled)
    }

    fn bounds_of_atoms(&self, form: &Form) -> Option<Span> {
        let constant = i128::from(form.constant);
        let mut terms = form.terms.iter();
        terms.try_fold((constant, constant), |span, (atom, factor)| add(span, *factor, self.ranges[*atom as usize]))
    }

    /// Whether a condition holds wherever the context does.
    pub(crate) fn truth(&self, condition: &Condition) -> Truth {
        let Some((least, most)) = self.bounds(&condition.form) else { return Truth::Depends };
        let above = condition.low.is_none_or(|low| low <= least);
        let below = condition.high.is_none_or(|high| most <= high);
        match above && below {
            true => Truth::Always,
            false if condition.low.is_some_and(|low| most < low) => Truth::Never,
            false if condition.high.is_some_and(|high| high < least) => Truth::Never,
            false => Truth::Depends,
        }
    }

    /// A condition in normal form without the terms that are too small to matter: with `form = by * large + small`
    /// and little room for `small`, the bounds on the form are bounds on `large`.
    pub(crate) fn without_tail(&self, condition: Condition) -> Condition {
        let Condition { form, low, high } = &condition;
        let mut divisors: SmallVec<[i64; 8]> = SmallVec::new();
        let mut sizes: SmallVec<[i64; 8]> = form.terms.iter().map(|(_, coefficient)| *coefficient).collect();
        sort_short_by_key(&mut sizes, |coefficient| std::cmp::Reverse(coefficient.unsigned_abs()));
        let mut chain = 0;
        for coefficient in sizes {
            chain = gcd(chain, coefficient.into());
            divisors.extend(i64::try_from(chain).ok().filter(|by| *by > 1 && !divisors.contains(by)));
        }
        let by_size = divisors.into_iter().map(|by| {
            let (large, small): (Terms, Terms) =
                form.terms.iter().copied().partition(|(_, coefficient)| coefficient % by == 0);
            (by, Form { terms: large, constant: 0 }, self.bounds(&Form { terms: small, constant: 0 }))
        });
        let known = self.assumed.iter().filter(|(known, _)| known != form).filter_map(|(known, values)| {
            let (factor, large) = contained(form, known, false)?;
            Some((large.content(), large, add((0, 0), factor, *values)))
        });
        for (by, large, small) in by_size.chain(known) {
            let Some((least, most)) = small.filter(|_| by != 0) else { continue };
            let wide = i128::from(by);
            let ceil = |a: i128| div_ceil(a, wide);
            // The same bound whatever the small terms are, or none at all.
            let new_low = low.map(|low| (ceil(low - least), ceil(low - most)));
            let new_high = high.map(|high| (div_floor(high - least, wide), div_floor(high - most, wide)));
            if [new_low, new_high].into_iter().flatten().all(|(a, b)| a == b) {
                let (low, high) = (new_low.map(|ends| ends.0), new_high.map(|ends| ends.0));
                return Condition { form: large.divided(by, 0), low, high };
            }
        }
        condition
    }

    /// A condition without a bound that the context implies.
    pub(crate) fn needed(&self, condition: Condition) -> Condition {
        let Condition { form, low, high } = condition;
        let (least, most) = self.bounds(&form).unwrap_or((i128::MIN, i128::MAX));
        Condition { form, low: low.filter(|low| least < *low), high: high.filter(|high| *high < most) }
    }

    /// Takes up the atoms that it does not know yet.
    pub(crate) fn catch_up(&mut self, algebra: &Algebra) {
        for (atom, kind) in algebra.atoms().skip(self.ranges.len()) {
            // They were learnt once, with wider ranges or narrower ones; either way they are known to fit.
            if self.learn(algebra, atom, kind).is_none() {
                self.ranges.push((i64::MIN.into(), i64::MAX.into()));
            }
        }
    }

    /// A condition of one bound with no coefficient larger than what is missing to it: more than enough is enough.
    pub(crate) fn saturated(&self, condition: Condition) -> Condition {
        let Condition { form, low, high } = &condition;
        let (sign, bound) = match (low, high) {
            (Some(low), None) => (1, *low),
            (None, Some(high)) => (-1, -high),
            _ => return condition,
        };
        // sign * form >= bound, and every term is at least its value at one end.
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

    /// `floor(form / divisor)` as a form without a division, if the parts of the form stay inside one quotient.
    ///
    /// With steps chosen so that the first steps fit, the remainder never leaves `0..divisor` (the boundary test). For
    /// independent parts that is exact.
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

    /// What stands for `form mod size` in the demand that it lie in `begin..end`: a form that differs from it by multiples
    /// of the size and never comes into that range shifted by a multiple of the size.
    ///
    /// So a masked digit needs no division although it wraps, as long as it wraps into what is masked.
    pub(crate) fn unwrapped(&self, form: &Form, size: i64, begin: i64, end: i64) -> Option<Form> {
        let plain = std::iter::once_with(|| (Pieces::new(), form.clone()));
        self.decompositions(form, 16).chain(plain).find_map(|(mut pieces, rest)| {
            self.atoms_of(&rest, &mut pieces);
            unwrap(form, &pieces, rest.constant, [size, begin, end])
        })
    }

    fn atoms_of(&self, form: &Form, pieces: &mut Pieces<'_>) {
        for &(atom, coefficient) in &form.terms {
            pieces.push(Piece { coefficient, part: Part::Atom(atom), values: self.ranges[atom as usize] });
        }
    }
}

fn decompose<'a>(form: &Form, known: impl Iterator<Item = (&'a (Form, Span), bool)>) -> (Pieces<'a>, Form) {
    let (mut pieces, mut rest) = (SmallVec::new(), form.clone());
    for ((known, values), digit) in known {
        if let Some((coefficient, left)) = contained(&rest, known, digit) {
            pieces.push(Piece { coefficient, part: Part::Form(known), values: *values });
            rest = left;
        }
    }
    (pieces, rest)
}

/// `floor(sum / divisor)` as a form, where the boundary test says that it is affine in the pieces.
///
/// The pieces are taken for independent of each other. Where they are not, their sum reaches fewer values than the test
/// believes: a yes is right, and a no may be wrong.
fn quotient_of_pieces(pieces: &[Piece<'_>], constant: i64, divisor: i64) -> Option<Form> {
    let by = i128::from(divisor);
    let mut first = i128::from(constant);
    for piece in pieces {
        first = first.checked_add(i128::from(piece.coefficient).checked_mul(piece.values.0)?)?;
    }
    // A reach past `i64` is past the divisor, however small the step.
    let reach = |(low, high): Span| i64::try_from(high - low).unwrap_or(i64::MAX);
    let axes = pieces.iter().map(|piece| (piece.coefficient, reach(piece.values)));
    let mut carried: SmallVec<[(usize, i64); 8]> = SmallVec::new();
    if !is_affine(first.rem_euclid(by) as i64, divisor, axes, |at, by| carried.push((at, by))) {
        return None;
    }
    let mut quotient = Form::default();
    // What the steps come to at the first values of all pieces.
    let mut at_first = 0i128;
    for (at, carries) in carried.into_iter().filter(|(_, carries)| *carries != 0) {
        let piece = &pieces[at];
        at_first = at_first.checked_add(i128::from(carries).checked_mul(piece.values.0)?)?;
        quotient = match piece.part {
            Part::Atom(atom) => quotient.plus(carries, &Form::atom(atom))?,
            Part::Form(form) => quotient.plus(carries, form)?,
        };
    }
    quotient.constant = i64::try_from(first.div_euclid(by).checked_sub(at_first)?).ok()?;
    Some(quotient)
}

fn unwrap(form: &Form, pieces: &[Piece<'_>], constant: i64, [size, begin, end]: [i64; 3]) -> Option<Form> {
    let wide = i128::from(size);
    let mut unwrapped = form.clone();
    let mut span = (i128::from(constant), i128::from(constant));
    for piece in pieces {
        // The residue nearest to zero moves the least.
        let mut kept = piece.coefficient.rem_euclid(size);
        if kept > size / 2 {
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
    let lowest = i128::from(end) - wide;
    let shift = (lowest - span.0).div_euclid(wide) + i128::from((lowest - span.0).rem_euclid(wide) != 0);
    let shift = shift.checked_mul(wide)?;
    unwrapped.constant = i64::try_from(i128::from(unwrapped.constant) + shift).ok()?;
    (span.1 + shift < i128::from(begin) + wide).then_some(unwrapped)
}

/// `span + factor * values`.
fn add(span: Span, factor: i64, values: Span) -> Option<Span> {
    let (a, b) = (i128::from(factor).checked_mul(values.0)?, i128::from(factor).checked_mul(values.1)?);
    let sum = (span.0.checked_add(a.min(b))?, span.1.checked_add(a.max(b))?);
    (-WIDE <= sum.0 && sum.1 <= WIDE).then_some(sum)
}

/// What is past this counts as past `i128`, so that a few more sums need no check.
pub(crate) const WIDE: i128 = 1 << 120;

/// A multiple of a known form, all of whose atoms are in a form, such that its subtraction leaves fewer of them; and
/// what it leaves. Of a digit all but the last atom must go.
fn contained(form: &Form, known: &Form, digit: bool) -> Option<(i64, Form)> {
    if !known.terms.iter().all(|(atom, _)| form.coefficient(*atom) != 0) {
        return None;
    }
    let (last, others) = known.terms.split_last()?;
    let last = (!digit).then_some(last);
    let mut best: Option<(i64, Form)> = None;
    let mut tried = None;
    for (atom, unit) in others.iter().chain(last) {
        let coefficient = form.coefficient(*atom);
        let factor = coefficient / unit;
        if coefficient % unit != 0 || tried == Some(factor) {
            continue;
        }
        tried = Some(factor);
        let Some(left) = form.plus(-factor, known) else { continue };
        let gone = || others.iter().all(|(atom, _)| left.coefficient(*atom) == 0);
        let fewer = best.as_ref().is_none_or(|(_, best)| left.terms.len() < best.terms.len());
        if fewer && (!digit || gone()) {
            best = Some((factor, left));
        }
    }
    best
}
