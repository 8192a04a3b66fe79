//! Conditions that must all hold: what one implies of another need not be tested twice.

use smallvec::SmallVec;

use crate::algebra::{Algebra, Kind};
use crate::context::{Condition, Context, Truth};
use crate::form::Form;

/// As few and as cheap conditions as hold together exactly where the given ones do; `None` when they never do.
///
/// Each is looked at in the light of the others. A form that is computed along with them may share its sums.
pub(crate) fn settle(
    algebra: &mut Algebra,
    context: &mut Context,
    conditions: Vec<Condition>,
    along: Option<&Form>,
) -> Option<Vec<Condition>> {
    let mut conditions = on_one_form(conditions);
    for at in (0..conditions.len()).rev() {
        if is_apart(algebra, &conditions, at) {
            continue;
        }
        let others = Context::of(algebra, except(&conditions, at));
        let mut condition = conditions[at].clone();
        if let Some(form) = others.settled(&condition.form) {
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
        conditions[at] = others.without_tail(others.needed(condition)).normal();
    }
    for at in 0..conditions.len() {
        if let Some(shifted) = shifted(algebra, context, &conditions, at, along) {
            conditions[at] = shifted;
        }
        if conditions[at].can_be_saturated() && !is_shared(&conditions, at, along) {
            let others = Context::of(algebra, except(&conditions, at));
            conditions[at] = others.saturated(conditions[at].clone());
        }
    }
    let mut conditions = on_one_form(conditions);
    join_extremes(algebra, &mut conditions);
    Some(conditions)
}

/// Conditions on one form are one range.
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

/// Joins the conditions that forms be as small or as large as they can be: a sum is smallest where every summand is.
///
/// Conditions on a variable alone stay apart: they are bounds of a loop.
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
    let anywhere = Context::of(algebra, std::iter::empty());
    // The sum so far, and the least that it can be.
    let mut joined: Option<(Form, i128)> = None;
    conditions.retain(|Condition { form, low, high }| {
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
        let fits = sum.is_some();
        joined = sum.or(joined.take());
        !fits
    });
    conditions.extend(joined.map(|(form, least)| Condition { form, low: None, high: Some(least) }.normal()));
}

fn except(conditions: &[Condition], at: usize) -> impl Iterator<Item = &Condition> + Clone {
    conditions.iter().enumerate().filter(move |(other, _)| *other != at).map(|(_, other)| other)
}

/// Whether a condition is about variables that no other is about: so the others say nothing of it.
fn is_apart(algebra: &Algebra, conditions: &[Condition], at: usize) -> bool {
    conditions[at].form.terms.iter().all(|(atom, _)| {
        let elsewhere = || except(conditions, at).any(|other| other.form.coefficient(*atom) != 0);
        matches!(algebra.kind(*atom), Kind::Variable(..)) && !elsewhere()
    }) && except(conditions, at).flat_map(|other| &other.form.terms).all(|(atom, _)| {
        // A quotient may be one of these variables.
        matches!(algebra.kind(*atom), Kind::Variable(..))
    })
}

/// Whether two terms of a condition are found in another form with the same ratio, so that it may share their sum.
fn is_shared(conditions: &[Condition], at: usize, along: Option<&Form>) -> bool {
    let ours = &conditions[at].form;
    except(conditions, at).map(|condition| &condition.form).chain(along).any(|other| {
        let both = ours.terms.iter().map(|(atom, ours)| (i128::from(*ours), i128::from(other.coefficient(*atom))));
        let both: SmallVec<[_; 8]> = both.filter(|(_, theirs)| *theirs != 0).collect();
        both.iter().enumerate().any(|(k, (a, b))| both[..k].iter().any(|(c, d)| a * d == b * c))
    })
}

/// `b <= (m + c) % d < e` as a condition on `m % d`, where that is a range as well and nothing else needs the division.
fn shifted(
    algebra: &mut Algebra,
    context: &mut Context,
    conditions: &[Condition],
    at: usize,
    along: Option<&Form>,
) -> Option<Condition> {
    let Condition { form, low, high } = &conditions[at];
    let (&(quotient, unit), numerator) = form.terms.split_last()?;
    let (whole, divisor) = algebra.as_quotient(quotient)?;
    let used = except(conditions, at).map(|condition| &condition.form).chain(along);
    let used = used.into_iter().any(|form| form.coefficient(quotient) != 0);
    if used || whole.constant == 0 || unit != -divisor || numerator != &whole.terms[..] {
        return None;
    }
    // The form is what the division leaves, less the constant. Past that the bounds would come round again.
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
