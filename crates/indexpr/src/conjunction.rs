//! Conjunctions made small: conditions that must all hold, without what the others imply.
//!
//! Conditions must keep their value everywhere, so none of them may be simplified under the assumption that it holds
//! itself, as an index may under its guard. Each is judged by the *others*: where they fail, the conjunction is false
//! whatever this condition says.

use crate::algebra::Algebra;
use crate::atoms::{Condition, Kind};
use crate::context::{Context, Truth};
use crate::form::{Atom, Form, Terms};

/// Conditions that hold together exactly where the given ones do, fewer and cheaper if that is possible; `None` when
/// they are shown never to hold together.
///
/// They are taken one after the other, and each is judged by the others *as they then stand*. Judged by all conditions,
/// each would be implied by itself; judged by all others as they were at the start, two that imply each other would
/// both go. One step replaces `C and others` by `C' and others`, where `C` and `C'` agree wherever the others hold, so
/// the conjunction is the same after every step.
///
/// `index` is what is computed beside the conditions, if anything: a condition that can share a sum with it is not
/// rewritten into another sum.
///
/// Cost: one context for each condition, so quadratic in the number of conditions and linear in the number of atoms.
// Proved: `judged_by_others`, `implied_by_others` in `proofs/Simplify.v`.
pub(crate) fn minimize(
    algebra: &mut Algebra,
    context: &mut Context,
    conditions: Vec<Condition>,
    index: Option<&Form>,
) -> Option<Vec<Condition>> {
    let mut conditions = on_one_form(conditions);
    // The latest first: they tend to be about quotients of what earlier ones confine.
    for at in (0..conditions.len()).rev() {
        if is_independent(algebra, &conditions, at) {
            continue;
        }
        let others = Context::of(algebra, except(&conditions, at), [&conditions[at].form]);
        let mut condition = conditions[at].clone();
        if let Some(form) = others.with_known_values(&condition.form) {
            condition = Condition { form, ..condition }.normal();
        }
        match others.truth(&condition) {
            Truth::Always => {
                conditions.remove(at);
                continue;
            }
            Truth::Never => return None,
            Truth::Depends => {}
        }
        conditions[at] = others.without_tail(others.without_implied_bounds(condition)).normal();
    }
    // What follows rewrites a condition by itself. It waits until the set is final, because what a condition may share
    // with others depends on which are left.
    for at in 0..conditions.len() {
        if let Some(shifted) = shifted(algebra, context, &conditions, at, index) {
            conditions[at] = shifted;
        }
        if conditions[at].can_be_saturated() && !is_shared(&conditions, at, index) {
            let others = Context::of(algebra, except(&conditions, at), [&conditions[at].form]);
            conditions[at] = others.saturated(conditions[at].clone());
        }
    }
    // Rewritten conditions may be about one form.
    let mut conditions = on_one_form(conditions);
    join_extremes(algebra, &mut conditions);
    Some(conditions)
}

/// The same conditions with at most one on each form: the intersection of their ranges.
// Proved: `on_one_form` in `proofs/Simplify.v`.
fn on_one_form(conditions: Vec<Condition>) -> Vec<Condition> {
    let mut joined: Vec<Condition> = Vec::with_capacity(conditions.len());
    for Condition { form, low, high } in conditions {
        match joined.iter_mut().find(|known| known.form == form) {
            Some(known) => {
                known.low = known.low.max(low);
                known.high = [known.high, high].into_iter().flatten().min();
            }
            None => joined.push(Condition { form, low, high }),
        }
    }
    joined
}

/// Joins the conditions that forms are as small, or as large, as they can be, into one on their sum.
///
/// With `f >= a` and `g >= b` known, `f <= a and g <= b` is `f + g <= a + b`: a sum is smallest exactly where every
/// summand is. One comparison takes the place of several and of the `and` between them. The bounds `a` and `b` must not
/// come from conditions, since these very conditions are about to be replaced: they are those of the atoms.
///
/// A condition on a single variable stays apart: it narrows a loop, and a compiler can use it as such.
// Proved: `extremes_joined` in `proofs/Simplify.v`.
fn join_extremes(algebra: &Algebra, conditions: &mut Vec<Condition>) {
    let is_bound = |form: &Form| match form.terms[..] {
        [(atom, _)] => matches!(algebra.kind(atom), Kind::Variable(..)),
        _ => false,
    };
    let is_extreme =
        |condition: &Condition| condition.low.is_none() != condition.high.is_none() && !is_bound(&condition.form);
    if conditions.iter().filter(|condition| is_extreme(condition)).count() < 2 {
        return;
    }
    // Only what holds without any condition.
    let anywhere = Context::of(algebra, std::iter::empty(), conditions.iter().map(|condition| &condition.form));
    // The sum so far, and the least that it can be.
    let mut joined: Option<(Form, i128)> = None;
    conditions.retain(|Condition { form, low, high }| {
        // The condition that a form is largest is the condition that its negative is smallest.
        let sign = match (anywhere.bounds(form), low, high) {
            _ if is_bound(form) => return true,
            (Some((least, _)), None, Some(high)) if *high == least => 1,
            (Some((_, most)), Some(low), None) if *low == most => -1,
            _ => return true,
        };
        let least = if sign > 0 { *high } else { low.map(|low| -low) }.unwrap_or_default();
        let sum = match &joined {
            None => form.times(sign).zip(Some(least)),
            Some((sum, smallest)) => sum.plus(sign, form).zip(smallest.checked_add(least)),
        };
        // A sum past `i64` is not made, and the condition stays by itself.
        let fits = sum.is_some();
        joined = sum.or(joined.take());
        !fits
    });
    conditions.extend(joined.map(|(form, least)| Condition { form, low: None, high: Some(least) }.normal()));
}

/// The same condition on a longer sum, which the index computes in any case: `3*i + 2*j < 57` is `150*i + 100*j + k < 2850`
/// for `k` in `0..50`, and saves the sum on its left where the index has that on the right.
///
/// This is [`Context::without_tail`] backwards. Let the index have `factor` times the form among its terms, and let `tail`
/// be other terms of it, in `least..=most` with `most - least < |factor|`. Then `form <= high` is, for a positive factor,
/// `factor * form + tail <= factor * high + most`: where `form` is larger by one, the sum is at least
/// `factor * high + factor + least`, which is more. The other bound and a negative factor likewise. It holds at every
/// index, since the ranges of the tail do not come from conditions.
///
/// `None` where the form is a single term, which a comparison needs no sum for, or the index has no multiple of it.
/// Whether the longer sum is cheaper must be seen by writing both.
// Proved: `widened` in `proofs/Simplify.v`.
pub(crate) fn widened(algebra: &Algebra, condition: &Condition, index: &Form) -> Option<Condition> {
    let Condition { form, low, high } = condition;
    let [(first, unit), _, ..] = form.terms[..] else { return None };
    let factor = index.coefficient(first) / unit;
    let sum = form.times(factor).filter(|_| factor.abs() > 1)?;
    if sum.terms.iter().any(|(atom, coefficient)| index.coefficient(*atom) != *coefficient) {
        return None;
    }
    let anywhere = Context::of(algebra, std::iter::empty(), [index]);
    let (mut tail, mut span) = (Form::default(), (0, 0));
    for term in index.terms.iter().filter(|(atom, _)| form.coefficient(*atom) == 0) {
        let longer = tail.plus(1, &Form { terms: Terms::from_slice(&[*term]), constant: 0 })?;
        let (least, most) = anywhere.bounds(&longer)?;
        if most - least < factor.abs().into() {
            (tail, span) = (longer, (least, most));
        }
    }
    let (low, high) = if factor > 0 { (*low, *high) } else { (*high, *low) };
    let scaled = |bound: Option<i128>, end: i128| match bound {
        Some(bound) => Some(Some(bound.checked_mul(factor.into())?.checked_add(end)?)),
        None => Some(None),
    };
    let (low, high) = (scaled(low, span.0)?, scaled(high, span.1)?);
    let form = sum.plus(1, &tail).filter(|_| !tail.terms.is_empty())?;
    Some(Condition { form, low, high }.normal())
}

/// All conditions but one.
fn except(conditions: &[Condition], at: usize) -> impl Iterator<Item = &Condition> + Clone {
    conditions.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, other)| other)
}

/// Whether the other conditions surely say nothing of a condition: it is about variables that no other one has, and
/// there are no quotients, which could contain those variables. This saves the making of a context, nothing else.
fn is_independent(algebra: &Algebra, conditions: &[Condition], at: usize) -> bool {
    conditions[at].form.terms.iter().all(|(atom, _)| {
        let elsewhere = || except(conditions, at).any(|other| other.form.coefficient(*atom) != 0);
        matches!(algebra.kind(*atom), Kind::Variable(..)) && !elsewhere()
    }) && except(conditions, at)
        .flat_map(|other| &other.form.terms)
        .all(|(atom, _)| matches!(algebra.kind(*atom), Kind::Variable(..)))
}

/// Whether two terms of a condition are found in another form with the same ratio of coefficients, so that common
/// subexpression elimination may compute their sum once for both. Saturating the condition would change the ratio.
fn is_shared(conditions: &[Condition], at: usize, index: Option<&Form>) -> bool {
    let ours = &conditions[at].form;
    except(conditions, at).map(|condition| &condition.form).chain(index).any(|other| {
        let both = |(atom, ours): &(Atom, i64)| (i128::from(*ours), i128::from(other.coefficient(*atom)));
        ours.terms.iter().enumerate().any(|(k, term)| {
            let (a, b) = both(term);
            b != 0 && ours.terms[..k].iter().map(both).any(|(c, d)| d != 0 && a * d == b * c)
        })
    })
}

/// `b <= (m + c) % d < e` as a condition on `m % d`, which saves the addition of `c`.
///
/// The values of `m % d` that are allowed are those of `b..e` shifted by `-c`, modulo `d`. They are one range again
/// unless that range wraps round; then there is none. Nor is there one where another form needs the division of
/// `m + c`: it is computed in any case, and that of `m` would be a second one.
// Proved: `shifted` in `proofs/Simplify.v`.
fn shifted(
    algebra: &mut Algebra,
    context: &mut Context,
    conditions: &[Condition],
    at: usize,
    index: Option<&Form>,
) -> Option<Condition> {
    let Condition { form, low, high } = &conditions[at];
    let (&(quotient, unit), numerator) = form.terms.split_last()?;
    let (whole, divisor) = algebra.as_quotient(quotient)?;
    let used = except(conditions, at).map(|condition| &condition.form).chain(index);
    let used = used.into_iter().any(|form| form.coefficient(quotient) != 0);
    if used || whole.constant == 0 || unit != -divisor || numerator != &whole.terms[..] {
        return None;
    }
    // The form is `(m + c) % d - c`, since conditions in normal form have no constant, and lies in -c..d - c. Bounds
    // outside of that say nothing; reduced modulo d they would seem to.
    let (constant, by) = (i128::from(whole.constant), i128::from(divisor));
    let (least, most) = (-constant, by - 1 - constant);
    let (low, high) = (low.map_or(least, |low| low.max(least)), high.map_or(most, |high| high.min(most)));
    let first = low.rem_euclid(by);
    let last = first + (high - low);
    if low > high || last >= by {
        return None;
    }
    let whole = whole.without_constant();
    let atom = algebra.atom(Kind::Quotient(whole.clone(), divisor), context)?;
    let form = whole.plus(-divisor, &Form::atom(atom))?;
    Some(Condition { form, low: (first > 0).then_some(first), high: (last + 1 < by).then_some(last) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Style;
    use crate::tests::Rng;

    /// Every condition that is put on a longer sum says the same as before, at every index.
    #[test]
    fn a_widened_condition_holds_where_it_did() {
        let mut rng = Rng(0x1d);
        let mut widened_ones = 0;
        for _ in 0..20_000 {
            let (mut algebra, mut context) = (Algebra::new(Style::FIRST), Context::default());
            let mut number = |below: i64, from: i64| rng.below(below as u64) as i64 + from;
            let ranges: [(i64, i64); 4] = std::array::from_fn(|_| {
                let begin = number(7, -4);
                (begin, begin + number(5, 1))
            });
            let atoms = [0, 1, 2, 3].map(|place| {
                let (low, high) = ranges[place];
                algebra.atom(Kind::Variable(place, low, high), &mut context).expect("it is small")
            });
            let form = |coefficients: [i64; 4]| {
                atoms
                    .iter()
                    .zip(coefficients)
                    .fold(Form::default(), |form, (atom, by)| form.plus(by, &Form::atom(*atom)).expect("it is small"))
            };
            let (a, b, factor) = (number(7, -3), number(7, -3), number(61, -30));
            let (c, d) = (number(13, -6), number(13, -6));
            let (low, high) = (number(21, -10), number(21, -10));
            let (low, high) = match number(3, 0) {
                0 => (Some(low.into()), None),
                1 => (None, Some(high.into())),
                _ => (Some(low.min(high).into()), Some(low.max(high).into())),
            };
            let condition = Condition { form: form([a, b, 0, 0]), low, high };
            let index = form([a * factor, b * factor, c, d]);
            let Some(wider) = widened(&algebra, &condition, &index) else { continue };
            widened_ones += 1;
            let holds = |condition: &Condition, at: [i64; 4]| {
                let of = |(atom, by): &(Atom, i64)| i128::from(by * at[atoms.iter().position(|a| a == atom).unwrap()]);
                let value = condition.form.terms.iter().map(of).sum::<i128>() + i128::from(condition.form.constant);
                condition.low.is_none_or(|low| low <= value) && condition.high.is_none_or(|high| value <= high)
            };
            let along = |place: usize| ranges[place].0..=ranges[place].1;
            for w in along(0) {
                for x in along(1) {
                    for y in along(2) {
                        for z in along(3) {
                            let at = [w, x, y, z];
                            assert_eq!(holds(&condition, at), holds(&wider, at), "{condition:?} {wider:?} {at:?}");
                        }
                    }
                }
            }
        }
        assert!(widened_ones > 2000, "{widened_ones}");
    }
}
