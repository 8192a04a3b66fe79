//! One bounded linear equation: is there a `y` with `0 <= y[t] < size[t]` and `sum weight[t] * y[t] = target`?
//!
//! Every decision about a pair of views comes down to this question (DESIGN.md tells how): it is an equality knapsack,
//! which is NP-hard in the number of terms. The terms of real programs are strides and weights that divide one another,
//! for which it is easy, and the solver is built around that. It is exact in any case:
//!
//! 1. Negative weights are flipped, and terms that together cover a range without gaps are coalesced. Nearly always one
//!    or two terms are left.
//! 2. Values are tried from the largest weight down, cut by range (what the other terms can reach) and by divisor (the
//!    other terms sum to a multiple of their greatest common divisor).
//! 3. Where that leaves many values to try for several terms, [`lattice`] takes over: its cost depends on the
//!    number of terms and not on their sizes.

use shapetracker_base::int::{div, div_ceil, gcd, rem};
use shapetracker_base::list::sort_short_by_key;
use smallvec::SmallVec;

use super::lattice;
use super::terms::{Range, Term, Values, outwards, residue};
use super::work::{OutOfWork, Work};

/// A solution of the equation, or `None` when there is none.
pub(crate) fn solve(terms: &[Term], target: i128, work: &mut Work) -> Result<Option<Values>, OutOfWork> {
    work.tick()?;
    let mut target = target;
    let mut total = 0;
    let mut parts: SmallVec<[Part; 16]> = SmallVec::new();
    for (term, &(weight, size)) in terms.iter().enumerate() {
        if size <= 0 {
            return Ok(None);
        }
        if weight == 0 || size == 1 {
            continue;
        }
        if weight < 0 {
            target -= weight * (size - 1); // y becomes size - 1 - y.
        }
        total += weight.abs() * (size - 1);
        parts.push(Part { weight: weight.abs(), size, term, range: None });
    }
    if target < 0 || target > total {
        return Ok(None);
    }
    sort_short_by_key(&mut parts, |part| part.weight);
    let mut ranges = coalesce(&mut parts);
    ranges.reverse();
    let mut found: Values = SmallVec::from_elem(0, ranges.len());
    if !Search::new(&ranges).from(0, target, &mut found, work)? {
        return Ok(None);
    }
    // What a range contributes is shared out among its parts, from the largest weight down. Taking as much as possible
    // is right: the parts that joined before this one leave no gap below its weight.
    for (value, range) in found.iter_mut().zip(&ranges) {
        *value *= range.weight;
    }
    found.reverse();
    let mut values: Values = SmallVec::from_elem(0, terms.len());
    for &Part { weight, size, term, range } in parts.iter().rev() {
        let Some(range) = range else { continue };
        let value = div(found[range], weight).min(size - 1);
        found[range] -= value * weight;
        values[term] = if terms[term].0 < 0 { size - 1 - value } else { value };
    }
    Ok(Some(values))
}

/// A term with a positive weight, and the range that it has become a part of.
struct Part {
    weight: i128,
    size: i128,
    term: usize,
    range: Option<usize>,
}

/// Makes ranges of parts sorted by weight.
///
/// A part of weight `m * w` joins a range `0, w, .., w * (n - 1)` if `m <= n`: then the shifted copies of the range
/// touch or overlap, and together they are `w * 0, w * 1, ..` up to the largest sum, without a gap. A part that is too
/// heavy for that leaves a gap, and so does every later one, which is heavier still.
fn coalesce(parts: &mut [Part]) -> SmallVec<[Range; 16]> {
    let mut ranges: SmallVec<[Range; 16]> = SmallVec::new();
    for first in 0..parts.len() {
        if parts[first].range.is_some() {
            continue;
        }
        let weight = parts[first].weight;
        let mut size = 1;
        for part in &mut parts[first..] {
            if part.weight > weight * size {
                break;
            }
            let multiple = div(part.weight, weight);
            if part.range.is_none() && multiple * weight == part.weight {
                part.range = Some(ranges.len());
                size += multiple * (part.size - 1);
            }
        }
        ranges.push(Range { weight, size });
    }
    ranges
}

/// The ranges from the largest weight down, with what each tail of them can reach.
struct Search<'a> {
    ranges: &'a [Range],
    /// `reach[k]`: the largest sum of the ranges from `k` on.
    reach: Values,
    /// `divisor[k]`: the greatest common divisor of the weights from `k` on; 0 past the end.
    divisor: Values,
}

impl<'a> Search<'a> {
    fn new(ranges: &'a [Range]) -> Self {
        let mut reach: Values = SmallVec::from_elem(0, ranges.len() + 1);
        let mut divisor = reach.clone();
        for (k, range) in ranges.iter().enumerate().rev() {
            reach[k] = reach[k + 1] + range.reach();
            divisor[k] = gcd(range.weight, divisor[k + 1]);
        }
        Search { ranges, reach, divisor }
    }

    /// Solves for the ranges from `k` on.
    fn from(&self, k: usize, target: i128, found: &mut Values, work: &mut Work) -> Result<bool, OutOfWork> {
        work.tick()?;
        if target < 0 || target > self.reach[k] {
            return Ok(false);
        }
        let left = self.ranges.len() - k;
        if left == 0 {
            return Ok(true); // The target is 0: the reach of nothing.
        }
        if rem(target, self.divisor[k]) != 0 {
            return Ok(false);
        }
        let Range { weight, size, .. } = self.ranges[k];
        if left == 1 {
            found[k] = div(target, weight);
            return Ok(true);
        }
        // The other terms sum to a multiple of their divisor, which leaves one residue class for this value; and to no
        // more than they reach, which leaves a range of it.
        let rest = self.divisor[k + 1];
        let (first, every) = residue(weight, target, rest);
        let low = div_ceil(target - self.reach[k + 1], weight).max(0);
        let high = div(target, weight).min(size - 1);
        let low = low + (first - low).rem_euclid(every);
        if low > high {
            return Ok(false);
        }
        // Weights that nest, as those of digits do, leave a value or two here. Where they do not, and more than one term
        // is still to be chosen, a reduced lattice has fewer layers than there are values. Reducing it costs more than
        // trying a handful of values, and ever more with the number of terms, so that long knapsacks stay here.
        let count = div(high - low, every) + 1;
        if left > 2 && count > 4 && left <= 10 {
            let last = lattice::solve(&self.ranges[k..], &self.divisor[k..], target, work)?;
            return Ok(last.is_some_and(|values| {
                found[k..].copy_from_slice(&values);
                true
            }));
        }
        for place in outwards(0, count / 2, count - 1) {
            found[k] = low + place * every;
            if self.from(k + 1, target - weight * found[k], found, work)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brute_force(terms: &[Term], target: i128) -> bool {
        let Some((&(weight, size), rest)) = terms.split_first() else { return target == 0 };
        (0..size).any(|y| brute_force(rest, target - weight * y))
    }

    fn check(terms: &[Term], target: i128) -> Option<Values> {
        let found = solve(terms, target, &mut Work::new()).unwrap();
        if let Some(values) = &found {
            let sum: i128 = terms.iter().zip(values).map(|(&(weight, _), &y)| weight * y).sum();
            assert_eq!(sum, target, "{terms:?}: {values:?}");
            assert!(terms.iter().zip(values).all(|(&(_, size), &y)| (0..size).contains(&y)), "{terms:?}: {values:?}");
        }
        found
    }

    #[test]
    fn from_the_middle_outwards_every_number_comes_once() {
        assert_eq!(outwards(0, 2, 4).collect::<Vec<_>>(), [2, 1, 3, 0, 4]);
        assert_eq!(outwards(0, 2, 3).collect::<Vec<_>>(), [2, 1, 3, 0]);
        assert_eq!(outwards(-3, -2, 0).collect::<Vec<_>>(), [-2, -3, -1, 0]);
        assert_eq!(outwards(5, 5, 5).collect::<Vec<_>>(), [5]);
        assert_eq!(outwards(5, 5, 4).count() + outwards(5, 1, -3).count(), 0);
    }

    #[test]
    fn agrees_with_brute_force_on_small_equations() {
        let mut rng = crate::tests::Rng(1);
        for _ in 0..20_000 {
            let terms: Vec<Term> =
                (0..rng.below(6)).map(|_| (rng.below(60) as i128 - 30, 1 + rng.below(5) as i128)).collect();
            for _ in 0..8 {
                let target = rng.below(200) as i128 - 100;
                assert_eq!(check(&terms, target).is_some(), brute_force(&terms, target), "{terms:?} = {target}");
            }
        }
    }

    #[test]
    fn the_lattice_agrees_with_brute_force_on_small_equations() {
        let mut rng = crate::tests::Rng(4);
        let mut counts = [0; 2];
        for _ in 0..20_000 {
            let mut number = |bound| 1 + rng.below(bound) as i128;
            let mut terms: Vec<Term> = (0..1 + number(5)).map(|_| (number(40), 1 + number(5))).collect();
            terms.sort();
            terms.reverse();
            let ranges: Vec<Range> = terms.iter().map(|&(weight, size)| Range { weight, size }).collect();
            let search = Search::new(&ranges);
            let divisor = search.divisor[0];
            let target = number(search.reach[0] as u64 + 1) / divisor * divisor;
            let found = lattice::solve(&ranges, &search.divisor, target, &mut Work(2_000)).unwrap();
            assert_eq!(found.is_some(), brute_force(&terms, target), "{terms:?} = {target}");
            counts[usize::from(found.is_some())] += 1;
            if let Some(values) = found {
                assert!(terms.iter().zip(&values).all(|(&(_, size), y)| (0..size).contains(y)), "{terms:?} {values:?}");
                let sum: i128 = terms.iter().zip(&values).map(|(&(weight, _), &y)| weight * y).sum();
                assert_eq!(sum, target, "{terms:?}: {values:?}");
            }
        }
        assert!(counts.iter().all(|&count| count > 2_000), "{counts:?}");
    }

    #[test]
    fn a_few_terms_of_any_size_are_settled_at_once() {
        let mut rng = crate::tests::Rng(2);
        let mut worst = 0;
        for _ in 0..4_000 {
            let bits = 1 + rng.below(58);
            let count = 2 + rng.below(7);
            let mut number = |bits: u64| 1 + rng.below(1 << bits.max(1)) as i128;
            let terms: Vec<Term> = (0..count).map(|_| (number(bits), number(60 - bits))).collect();
            let inside: Vec<i128> = terms.iter().map(|&(_, size)| number(62) % size).collect();
            let sum: i128 = terms.iter().zip(&inside).map(|(&(weight, _), y)| weight * y).sum();
            for (target, planted) in [(sum, true), (sum + number(8), false)] {
                let mut work = Work(20_000);
                let found = solve(&terms, target, &mut work).unwrap_or_else(|_| panic!("{terms:?} = {target}"));
                assert!(found.is_some() || !planted, "{terms:?} = {target}");
                worst = worst.max(20_000 - work.0);
            }
        }
        assert!(worst > 10, "some were not trivial");
    }

    #[test]
    fn a_solution_at_the_very_edge_is_found() {
        // Only (10^9 - 1, 10^9 - 1, 0) reaches the target.
        let n = 1_000_000_000;
        let terms = [(1_000_003, n), (999_983, n), (7, 3)];
        let target = (1_000_003 + 999_983) * (n - 1);
        assert_eq!(check(&terms, target).unwrap()[..], [n - 1, n - 1, 0]);
        assert_eq!(check(&terms, target + 7).unwrap()[2], 1);
        assert_eq!(check(&terms, target + 15), None);
    }

    #[test]
    fn work_runs_out_rather_than_time() {
        // A subset sum with no solution: every weight is even, but one that is too large.
        let mut rng = crate::tests::Rng(3);
        let terms: Vec<Term> = (0..60).map(|_| (2 * (1 << 40) + 2 * rng.below(1 << 40) as i128, 2)).collect();
        let total: i128 = terms.iter().map(|&(weight, _)| weight).sum();
        let outcome = solve(&terms, 2 * (total / 4) + 2, &mut Work(10_000));
        assert!(matches!(outcome, Err(OutOfWork) | Ok(Some(_))));
    }
}
