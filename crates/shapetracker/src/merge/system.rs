//! Several bounded linear equations with common variables, for stacks of more than two views and for two stacks at
//! once.
//!
//! Bounds and divisors are propagated through all equations. Where that leaves equations without a common variable, each
//! is solved on its own ([`equation`](super::equation)); otherwise the range of a common variable is cut in half, and
//! both halves are tried. That is branch and bound with exact leaves: it ends because the halves do, and finds a
//! solution if there is one.

use shapetracker_base::int::{div_ceil, div_floor, gcd};
use smallvec::SmallVec;

use super::equation::solve;
use super::terms::{Term, residue};
use super::work::{OutOfWork, Work};

/// Variables with bounds (both ends included), and equations `sum weight * variable = target` between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct System {
    pub(crate) bounds: Vec<(i128, i128)>,
    pub(crate) rows: Vec<Row>,
}

/// An equation: pairs of a variable and its weight, and what they sum to.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) terms: SmallVec<[(usize, i128); 8]>,
    pub(crate) target: i128,
}

/// One value for each variable.
pub(crate) type Solution = Vec<i128>;

impl System {
    /// A new variable with bounds (both ends included).
    pub(crate) fn variable(&mut self, low: i128, high: i128) -> usize {
        self.bounds.push((low, high));
        self.bounds.len() - 1
    }

    /// A new equation. Terms of one variable are added up.
    pub(crate) fn equation(&mut self, terms: impl IntoIterator<Item = (usize, i128)>, target: i128) {
        let mut sum: SmallVec<[(usize, i128); 8]> = SmallVec::new();
        for (variable, weight) in terms {
            match sum.iter_mut().find(|(v, _)| *v == variable) {
                Some((_, total)) => *total += weight,
                None => sum.push((variable, weight)),
            }
        }
        sum.retain(|(_, weight)| *weight != 0);
        self.rows.push(Row { terms: sum, target });
    }

    /// A solution, or `None` when there is none.
    pub(crate) fn solve(&self, work: &mut Work) -> Result<Option<Solution>, OutOfWork> {
        self.within(self.bounds.clone(), work)
    }

    /// A solution within narrower bounds.
    pub(crate) fn within(&self, bounds: Vec<(i128, i128)>, work: &mut Work) -> Result<Option<Solution>, OutOfWork> {
        let mut bounds = bounds;
        if !self.propagate(&mut bounds, work)? {
            return Ok(None);
        }
        let Some(shared) = self.shared_variable(&bounds) else { return self.rows_apart(&bounds, work) };
        let (low, high) = bounds[shared];
        let middle = low + (high - low) / 2;
        for half in [(low, middle), (middle + 1, high)] {
            let mut part = bounds.clone();
            part[shared] = half;
            if let Some(solution) = self.within(part, work)? {
                return Ok(Some(solution));
            }
        }
        Ok(None)
    }

    /// The variable with the fewest values among those that are not fixed and occur in several equations: with it fixed
    /// the equations are soonest apart.
    fn shared_variable(&self, bounds: &[(i128, i128)]) -> Option<usize> {
        let mut rows_of = vec![0u8; bounds.len()];
        for row in &self.rows {
            for &(variable, _) in &row.terms {
                rows_of[variable] = rows_of[variable].saturating_add(1);
            }
        }
        let shared = (0..bounds.len()).filter(|&v| rows_of[v] > 1 && bounds[v].0 < bounds[v].1);
        shared.min_by_key(|&v| bounds[v].1 - bounds[v].0)
    }

    /// Solves equations that have no variable in common, but for fixed ones.
    fn rows_apart(&self, bounds: &[(i128, i128)], work: &mut Work) -> Result<Option<Solution>, OutOfWork> {
        let mut solution: Solution = bounds.iter().map(|&(low, _)| low).collect();
        for row in &self.rows {
            let mut target = row.target;
            let mut terms: SmallVec<[Term; 16]> = SmallVec::new();
            for &(variable, weight) in &row.terms {
                let (low, high) = bounds[variable];
                target = minus(target, weight, low)?;
                terms.push((weight, high - low + 1));
            }
            let Some(values) = solve(&terms, target, work)? else { return Ok(None) };
            for (&(variable, _), value) in row.terms.iter().zip(values) {
                solution[variable] += value;
            }
        }
        Ok(Some(solution))
    }

    /// Narrows the bounds by what the equations say of each variable; false when some variable has no value left.
    fn propagate(&self, bounds: &mut [(i128, i128)], work: &mut Work) -> Result<bool, OutOfWork> {
        if bounds.iter().any(|&(low, high)| low > high) {
            return Ok(false);
        }
        // Two equations may narrow each other's bounds by one at a time, which could take as long as the bounds are wide.
        // After a few rounds that is left to splitting, which halves them.
        for _ in 0..12 {
            work.tick()?;
            let mut narrowed = false;
            for row in &self.rows {
                match row.narrow(bounds)? {
                    Narrowed::Empty => return Ok(false),
                    Narrowed::Yes => narrowed = true,
                    Narrowed::No => {}
                }
            }
            if !narrowed {
                break;
            }
        }
        Ok(true)
    }
}

/// What became of the bounds.
enum Narrowed {
    /// Some variable has no value left.
    Empty,
    Yes,
    No,
}

impl Row {
    /// Narrows the bounds of each variable by what this equation says of it, given the bounds of the others.
    fn narrow(&self, bounds: &mut [(i128, i128)]) -> Result<Narrowed, OutOfWork> {
        // What the terms can sum to, and the target that is left for those that are not fixed.
        let (mut low, mut high, mut target) = (0i128, 0i128, self.target);
        for &(variable, weight) in &self.terms {
            let (from, to) = bounds[variable];
            let ends = (weight.checked_mul(from).ok_or(OutOfWork)?, weight.checked_mul(to).ok_or(OutOfWork)?);
            low = low.checked_add(ends.0.min(ends.1)).ok_or(OutOfWork)?;
            high = high.checked_add(ends.0.max(ends.1)).ok_or(OutOfWork)?;
            if from == to {
                target = target.checked_sub(ends.0).ok_or(OutOfWork)?;
            }
        }
        if self.target < low || self.target > high {
            return Ok(Narrowed::Empty);
        }
        let mut narrowed = false;
        for (k, &(variable, weight)) in self.terms.iter().enumerate() {
            let (from, to) = bounds[variable];
            if from == to {
                continue;
            }
            // target - (most that the others reach) <= weight * value <= target - (least that they reach).
            let reach = (weight * from).min(weight * to)..=(weight * from).max(weight * to);
            let (least, most) = (self.target - (high - reach.end()), self.target - (low - reach.start()));
            let (mut new_from, mut new_to) = if weight > 0 {
                (div_ceil(least, weight).max(from), div_floor(most, weight).min(to))
            } else {
                (div_ceil(-most, -weight).max(from), div_floor(-least, -weight).min(to))
            };
            // The others sum to a multiple of their divisor.
            let others = self.terms.iter().enumerate().filter(|&(j, &(v, _))| j != k && bounds[v].0 < bounds[v].1);
            let divisor = others.fold(0, |divisor, (_, &(_, weight))| gcd(weight.abs(), divisor));
            if divisor == 0 {
                if target % weight != 0 {
                    return Ok(Narrowed::Empty);
                }
                (new_from, new_to) = (new_from.max(target / weight), new_to.min(target / weight));
            } else if divisor > 1 {
                if target % gcd(weight.abs(), divisor) != 0 {
                    return Ok(Narrowed::Empty);
                }
                let (first, every) = residue(weight, target, divisor);
                new_from += (first - new_from).rem_euclid(every);
                new_to -= (new_to - first).rem_euclid(every);
            }
            if new_from > new_to {
                return Ok(Narrowed::Empty);
            }
            if (new_from, new_to) != (from, to) {
                narrowed = true;
                bounds[variable] = (new_from, new_to);
                let new = (weight * new_from).min(weight * new_to)..=(weight * new_from).max(weight * new_to);
                low += new.start() - reach.start();
                high += new.end() - reach.end();
                if new_from == new_to {
                    target -= weight * new_from;
                }
            }
        }
        Ok(if narrowed { Narrowed::Yes } else { Narrowed::No })
    }
}

fn minus(target: i128, weight: i128, value: i128) -> Result<i128, OutOfWork> {
    weight.checked_mul(value).and_then(|product| target.checked_sub(product)).ok_or(OutOfWork)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_brute_force_on_small_systems() {
        let mut rng = crate::tests::Rng(5);
        for _ in 0..20_000 {
            let mut system = System::default();
            for _ in 0..1 + rng.below(5) {
                let low = rng.below(5) as i128 - 2;
                system.variable(low, low + rng.below(4) as i128);
            }
            for _ in 0..1 + rng.below(3) {
                // Every variable, one of them twice.
                let twice = 0..=system.bounds.len();
                let terms: Vec<_> = twice.map(|v| (v % system.bounds.len(), rng.below(20) as i128 - 10)).collect();
                system.equation(terms, rng.below(40) as i128 - 20);
            }
            let holds = |values: &[i128]| {
                system.rows.iter().all(|row| row.terms.iter().map(|&(v, w)| w * values[v]).sum::<i128>() == row.target)
            };
            let mut all: Vec<Vec<i128>> = vec![vec![]];
            for &(low, high) in &system.bounds {
                all = all.iter().flat_map(|v| (low..=high).map(|x| [&v[..], &[x]].concat())).collect();
            }
            let solution = system.solve(&mut Work::new()).unwrap();
            assert_eq!(solution.is_some(), all.iter().any(|values| holds(values)), "{system:?}");
            assert!(solution.is_none_or(|values| all.contains(&values) && holds(&values)), "{system:?}");
        }
    }
}
