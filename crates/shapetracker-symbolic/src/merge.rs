//! The question about a pair of views, put to all values: cases, and the formula that comes of them.

use std::collections::HashSet;

use shapetracker_base::list::sort_short_by_key;

use crate::answer::{Answer, Counterexample, Formula, Leaf, Leaves, Reason, Verdict};
use crate::decide::decide;
use crate::literal::{Literal, Relation};
use crate::poly::{MOST_STEPS, Poly, TooLarge, Var, within};
use crate::region::{Ask, Region, Stop, Truth, negative, positive_lead};
use crate::scope::Scope;
use crate::view::View;

/// How often a case is divided, and how many cases there are at most.
const DEPTH: usize = 14;
const CASES: usize = 120;

/// A case, and what is known there.
struct Case {
    region: Region,
    /// What describes it, in the names of the scope.
    literals: Vec<Literal>,
    verdict: Verdict,
}

/// For which values of the names is a pair of views one view?
///
/// `earlier` is next to memory, as for [`shapetracker::merge()`]. The names have the ranges of `scope` and satisfy its
/// conditions and `needs`. It is taken for granted that there `later` reads inside `earlier` and that no size is negative:
/// [`Pair`](crate::Pair) says what that takes.
///
/// ```
/// use shapetracker_symbolic::{Poly, Scope, View, formula_text, merge};
///
/// let mut scope = Scope::new();
/// let [h, t] = ["H", "T"].map(|name| Poly::from(scope.declare(name, Some(1), None).unwrap()));
/// let view = |shape: &[&Poly], strides: &[&Poly]| View {
///     shape: shape.iter().map(|&size| size.clone()).collect(),
///     strides: strides.iter().map(|&stride| stride.clone()).collect(),
///     offset: Poly::from(0_i64),
///     mask: None,
/// };
/// let one = Poly::from(1_i64);
/// // A transposed matrix, flattened.
/// let answer = merge(&scope, &[], &view(&[&h, &t], &[&one, &h]), &view(&[&h.mul(&t)?], &[&one]));
/// assert_eq!(formula_text(&answer.formula(), &scope), "T == 1 or H == 1");
/// # Ok::<(), shapetracker_symbolic::TooLarge>(())
/// ```
///
/// # Cost
/// Microseconds where no cases must be told apart, a millisecond for many; work is counted and limited, so that the answer is
/// the same on every machine.
///
/// # Source
/// The integer decision, asking a region instead of numbers; `proofs/` has the quotient test, reshapes without division and
/// jumps that cannot cancel (`Quotient.v`, `RowMajor.v`, `SubSums.v`), this crate's DESIGN.md the rest.
pub fn merge(scope: &Scope, needs: &[Literal], earlier: &View, later: &View) -> Answer {
    merge_stack(scope, needs, &[earlier.clone(), later.clone()])
}

/// For which values of the names is a stack of views one view? The first view is next to memory.
pub(crate) fn merge_stack(scope: &Scope, needs: &[Literal], views: &[View]) -> Answer {
    within(MOST_STEPS, || merge_within(scope, needs, views))
}

fn merge_within(scope: &Scope, needs: &[Literal], views: &[View]) -> Answer {
    // Without values anything holds for all of them.
    let Some(root) = Region::of(scope, needs) else {
        return Answer::Always { view: None, leaves: Leaves::default() };
    };
    let question = |region: &Region| decide_stack(region, views);
    let mut cases = cases(&root, &question, false);
    // A case in which it is not one view counts only if it has values.
    for case in cases.iter_mut().filter(|case| case.verdict == Verdict::NotOne && case.region.samples().is_empty()) {
        case.region.search();
    }
    let existing = |case: &&Case| !case.region.samples().is_empty();
    let is_no = |case: &&Case| case.verdict == Verdict::NotOne;
    let counterexample = cases
        .iter()
        .filter(is_no)
        .filter(existing)
        .find_map(|case| case.region.samples().iter().find_map(|point| counterexample(scope, point, views)));
    let undecided = cases.iter().find_map(|case| match case.verdict {
        Verdict::Undecided(reason) => Some(reason),
        // A no for values that may not exist.
        Verdict::NotOne if case.region.samples().is_empty() => Some(Reason::Existence),
        _ => None,
    });
    let all = cases.iter().all(|case| matches!(case.verdict, Verdict::View(_)));
    let none = cases.iter().all(|case| case.verdict == Verdict::NotOne);
    if all {
        return Answer::Always { view: one_view(&cases), leaves: leaves(&root, cases) };
    }
    let formula = if none { Vec::new() } else { formula(&root, &cases, &question) };
    match (undecided, counterexample) {
        (None, Some(counterexample)) if none => Answer::Never { leaves: leaves(&root, cases), counterexample },
        (None, Some(counterexample)) => {
            Answer::When { formula, view: one_view(&cases), leaves: leaves(&root, cases), counterexample }
        }
        (reason, counterexample) => Answer::Undecided {
            reason: reason.unwrap_or(Reason::Existence),
            formula,
            leaves: leaves(&root, cases),
            counterexample,
        },
    }
}

fn leaves(root: &Region, cases: Vec<Case>) -> Leaves {
    let list = cases.into_iter().map(|case| Leaf { literals: case.literals, verdict: case.verdict }).collect();
    Leaves { list, quotients: root.shared.quotients.borrow().clone() }
}

/// The evidence of the integer decision at a point.
fn counterexample(scope: &Scope, point: &[i128], views: &[View]) -> Option<Counterexample> {
    let views = views.iter().map(|view| view.at(point)).collect::<Option<Vec<_>>>()?;
    match shapetracker::ShapeTracker::from_views(views).ok()?.single_view() {
        Err(shapetracker::Unmerged::Witness(witness)) => {
            let named = scope.names().len() - scope.quotients().len();
            Some(Counterexample { values: point[..named].to_vec(), witness })
        }
        _ => None,
    }
}

/// Decides a stack on a region: by pairs, from the last view down, or from memory up.
///
/// Views may be one together although no two of them are, so that only a pair gives a no.
fn decide_stack(region: &Region, views: &[View]) -> Ask<Verdict> {
    let mut views = views.to_vec();
    let mut upwards = false;
    loop {
        let last = views.len().saturating_sub(2);
        let place = if upwards { 0 } else { last };
        let [earlier, later] = match &views[..] {
            [view] => return Ok(Verdict::View(view.clone())),
            _ => [&views[place], &views[place + 1]],
        };
        match decide(region, earlier, later)? {
            Verdict::View(view) => {
                views.splice(place..place + 2, [view]);
                upwards = false;
            }
            verdict if views.len() == 2 => return Ok(verdict),
            _ if !upwards => upwards = true,
            _ => return Err(Stop::Undecided(Reason::Stack)),
        }
    }
}

/// Divides a region into cases until the question is answered in each, or a limit is reached.
fn cases(root: &Region, question: &dyn Fn(&Region) -> Ask<Verdict>, stop_at_no: bool) -> Vec<Case> {
    let mut done: Vec<Case> = Vec::new();
    let mut open = vec![(root.clone(), Vec::new(), 0)];
    while let Some((region, literals, depth)) = open.pop() {
        let stop = match question(&region) {
            Ok(verdict) => {
                let no = verdict == Verdict::NotOne;
                done.push(Case { region, literals, verdict });
                if no && stop_at_no {
                    return done;
                }
                continue;
            }
            Err(stop) => stop,
        };
        let full = depth >= DEPTH || done.len() + open.len() >= CASES;
        let parts = match stop {
            Stop::Undecided(reason) => Err(reason),
            _ if full => Err(Reason::TooManyCases),
            stop => parts(&region, &stop),
        };
        match parts {
            // The last part is asked first.
            Ok(parts) => {
                for (part, literal) in parts.into_iter().rev() {
                    let mut literals: Vec<Literal> = literals.clone();
                    literals.extend(literal);
                    open.push((part, literals, depth + 1));
                }
            }
            Err(reason) => {
                done.push(Case { region, literals, verdict: Verdict::Undecided(reason) });
                if stop_at_no {
                    return done;
                }
            }
        }
    }
    done
}

/// The parts into which a region is divided, each with the condition that describes it.
fn parts(region: &Region, stop: &Stop) -> Result<Vec<(Region, Option<Literal>)>, Reason> {
    let part = |region: Ask<Option<Region>>, literal: Option<Literal>| match region {
        Ok(region) => Ok(region.map(|region| (region, literal))),
        Err(Stop::Undecided(reason)) => Err(reason),
        Err(_) => Err(Reason::TooManyCases),
    };
    let in_names = |literal: &Literal| region.in_names(literal).map_err(Reason::from);
    let mut parts = Vec::new();
    match stop {
        Stop::Fork(literal) => {
            let not = negated(literal).map_err(Reason::from)?;
            for literal in [literal, &not] {
                parts.extend(part(region.assume(literal), Some(in_names(literal)?))?);
            }
        }
        &Stop::Residues(var, modulus) => {
            for residue in 0..modulus {
                let poly = Poly::from(var).plus_number(-residue).map_err(Reason::from)?;
                let literal = in_names(&Literal::divisible(poly, modulus))?;
                parts.extend(part(region.with_residue(var, modulus, residue), Some(literal))?);
            }
        }
        Stop::Quotient(var, by) => parts.extend(part(region.with_quotient(*var, by), None)?),
        Stop::Undecided(reason) => return Err(*reason),
    }
    Ok(parts)
}

/// What holds where a condition without a modulus does not.
fn negated(literal: &Literal) -> Result<Literal, TooLarge> {
    Ok(match literal.relation {
        Relation::AtLeast => Literal::at_least(negative(&literal.poly)?),
        Relation::Equal => Literal { relation: Relation::NotEqual, ..literal.clone() },
        Relation::NotEqual => Literal { relation: Relation::Equal, ..literal.clone() },
    })
}

/// One view that serves in all cases in which there is one: that of a case, if it is the same map in all others.
fn one_view(cases: &[Case]) -> Option<View> {
    let views: Vec<(&Region, &View)> = cases
        .iter()
        .filter_map(|case| match &case.verdict {
            Verdict::View(view) => Some((&case.region, view)),
            _ => None,
        })
        .collect();
    let serves = |view: &View| views.iter().all(|(region, other)| same_map(region, view, other) == Ok(true));
    // The case that says least is the likeliest: it comes last, where no condition has put numbers in the place of names.
    let found = views.iter().rev().map(|(_, view)| *view).find(|view| serves(view));
    found.cloned()
}

/// Whether two views of one shape are proved to be the same map on a region.
pub(crate) fn same_map(region: &Region, a: &View, b: &View) -> Result<bool, TooLarge> {
    let ranges = |view: &View| -> Vec<(Poly, Poly)> {
        view.mask.clone().unwrap_or_else(|| view.shape.iter().map(|size| (Poly::zero(), size.clone())).collect())
    };
    let (of_a, of_b) = (ranges(a), ranges(b));
    let equal = |a: &Poly, b: &Poly| -> Result<bool, TooLarge> {
        if a == b {
            return Ok(true);
        }
        let rest = region.reduce(&a.sub(b)?)?;
        Ok(region.known_eq(&rest) == Some(true))
    };
    // Without axes a mask hides the one element.
    if a.shape.is_empty() && a.mask.is_some() != b.mask.is_some() {
        return Ok(false);
    }
    // Nothing valid in either: the rest is of no consequence.
    let is_empty = |ranges: &[(Poly, Poly)]| -> Result<bool, TooLarge> {
        for (begin, end) in ranges {
            if region.known_ge(&region.reduce(&begin.sub(end)?)?) == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    };
    match (is_empty(&of_a)?, is_empty(&of_b)?) {
        (true, true) => return Ok(true),
        (false, false) => {}
        // The other one may be empty all the same: not proved.
        _ => return Ok(false),
    }
    // The address of the first valid index, and the stride of each axis of more than one.
    let (mut first_a, mut first_b) = (a.offset.clone(), b.offset.clone());
    for (axis, (range_a, range_b)) in of_a.iter().zip(&of_b).enumerate() {
        if !equal(&range_a.0, &range_b.0)? || !equal(&range_a.1, &range_b.1)? {
            return Ok(false);
        }
        let count = range_a.1.sub(&range_a.0)?;
        first_a = first_a.add(&a.strides[axis].mul(&range_a.0)?)?;
        first_b = first_b.add(&b.strides[axis].mul(&range_b.0)?)?;
        let single = region.reduce(&count.plus_number(-1)?)?;
        if region.known_eq(&single) != Some(true) && !equal(&a.strides[axis], &b.strides[axis])? {
            return Ok(false);
        }
    }
    equal(&first_a, &first_b)
}

/// The exact condition under which there is a view: for each case with one, a conjunction from which nothing can be
/// dropped, and none that the others cover.
fn formula(root: &Region, cases: &[Case], question: &dyn Fn(&Region) -> Ask<Verdict>) -> Formula {
    let yes: Vec<&Case> = cases.iter().filter(|case| matches!(case.verdict, Verdict::View(_))).collect();
    let other: Vec<&Case> = cases.iter().filter(|case| !matches!(case.verdict, Verdict::View(_))).collect();
    let mut tried: HashSet<Vec<Literal>> = HashSet::new();
    // Each conjunction, and the cases that rest on it.
    let mut formula: Vec<(Vec<Literal>, Vec<&Case>)> = Vec::new();
    for case in &yes {
        // Already covered by a conjunction that was found for another case?
        if let Some(found) = formula.iter_mut().find(|found| holds_on(&case.region, &found.0)) {
            found.1.push(case);
            continue;
        }
        let mut literals = case.literals.clone();
        let mut place = 0;
        while place < literals.len() {
            let mut fewer = literals.clone();
            fewer.remove(place);
            let refuted = other.iter().any(|other| {
                other
                    .region
                    .samples()
                    .iter()
                    .any(|point| fewer.iter().all(|literal| literal.holds(point) == Some(true)))
            });
            if !refuted && tried.insert(fewer.clone()) && is_yes(root, &fewer, question) {
                literals = fewer;
            } else {
                place += 1;
            }
        }
        tidy(root, &mut literals);
        formula.push((literals, vec![case]));
    }
    // What was found later may cover what was found before.
    let mut place = 0;
    while place < formula.len() {
        let cover: Option<Vec<usize>> = formula[place]
            .1
            .iter()
            .map(|case| (0..formula.len()).find(|&other| other != place && holds_on(&case.region, &formula[other].0)))
            .collect();
        match cover {
            Some(others) => {
                let cases = std::mem::take(&mut formula[place].1);
                for (case, other) in cases.into_iter().zip(others) {
                    formula[other].1.push(case);
                }
                formula.remove(place);
            }
            None => place += 1,
        }
    }
    let mut formula: Formula = formula.into_iter().map(|found| found.0).collect();
    sort_short_by_key(&mut formula, |literals| {
        let equalities = literals.iter().filter(|literal| literal.relation == Relation::Equal).count();
        (literals.len(), equalities, literals.iter().map(|literal| literal.poly.terms().len()).sum::<usize>())
    });
    formula
}

/// Whether conditions are proved to hold on all of a region.
fn holds_on(region: &Region, literals: &[Literal]) -> bool {
    literals.iter().all(|literal| region.truth(literal) == Truth::Always)
}

/// Whether there is a view wherever conditions hold.
fn is_yes(root: &Region, literals: &[Literal], question: &dyn Fn(&Region) -> Ask<Verdict>) -> bool {
    let mut region = root.clone();
    for literal in literals {
        match region.assume(literal) {
            Ok(Some(smaller)) => region = smaller,
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
    cases(&region, question, true).iter().all(|case| matches!(case.verdict, Verdict::View(_)))
}

/// Writes conditions as people do: bounds at the end of a range as equalities (where `T >= 1`, `T <= 1` is `T == 1`),
/// products and sums that are at their end name by name, and bounds before equalities.
pub(crate) fn tidy(root: &Region, literals: &mut Vec<Literal>) {
    for literal in std::mem::take(literals) {
        let plain = literal.modulus.is_none();
        let zero = match literal.relation {
            Relation::Equal if plain => Some(literal.poly.clone()),
            Relation::AtLeast if plain => {
                let poly = literal.poly.neg().and_then(|poly| root.reduce(&poly));
                poly.ok().filter(|poly| root.prove_ge(poly))
            }
            _ => None,
        };
        let ends = zero.as_ref().and_then(|zero| {
            let ends = [Some(zero.clone()), zero.neg().ok()];
            let ends = ends.into_iter().flatten().find_map(|sum| root.frame().ends_where_zero(&sum))?;
            // The names at their ends make it 0: then it says nothing else.
            let at = |poly: Poly, end: &(Var, i128)| poly.substitute(end.0, &Poly::from(end.1));
            let rest = ends.iter().try_fold(zero.clone(), at);
            (!ends.is_empty() && rest.is_ok_and(|rest| rest.is_zero())).then_some(ends)
        });
        match (ends, zero) {
            (Some(ends), _) => {
                let at = |(var, end): (Var, i128)| Poly::from(var).plus_number(-end).map(Literal::equal);
                literals.extend(ends.into_iter().filter_map(|end| at(end).ok()));
            }
            (None, Some(zero)) => literals.push(Literal::equal(positive_lead(zero))),
            (None, None) => literals.push(literal),
        }
    }
    // At least and at most is equal.
    let mut place = 0;
    while place < literals.len() {
        let not = literals[place].poly.neg().ok().map(Literal::at_least);
        let opposite = literals.iter().position(|other| not.as_ref() == Some(other));
        match opposite {
            Some(other) if other > place && literals[place].relation == Relation::AtLeast => {
                literals[place] = Literal::equal(positive_lead(literals[place].poly.clone()));
                literals.remove(other);
            }
            _ => place += 1,
        }
    }
    sort_short_by_key(literals, |literal| literal.relation != Relation::AtLeast);
    let mut seen = HashSet::new();
    literals.retain(|literal| seen.insert(literal.clone()));
}
