//! One bounded linear equation: is there a `y` with `0 <= y[t] < size[t]` and `sum weight[t] * y[t] = target`?
//!
//! Every decision about a pair of views comes down to this question (DESIGN.md tells how). The search is exact: it
//! coalesces terms that together cover a range without gaps, cuts by range and by divisor from the largest weight
//! down, and settles the last three terms, whatever their sizes, in a reduced basis of the lattice of solutions.

use smallvec::SmallVec;

/// A term of the equation: a weight, and how many values `0, 1, ..` its variable has.
pub(crate) type Term = (i128, i128);

/// One value a term.
pub(crate) type Values = SmallVec<[i128; 16]>;

/// How much searching is left before a decision is given up.
///
/// Only input crafted for it comes near the limit: deciding a pair of views from a real program takes a few dozen
/// units.
pub(crate) struct Work(u32);

/// The work limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutOfWork;

impl Work {
    /// A limit of about a tenth of a second.
    pub(crate) fn new() -> Work {
        Work(1_000_000)
    }

    /// A limit of about half a millisecond.
    pub(crate) fn a_little() -> Work {
        Work(500)
    }

    pub(crate) fn tick(&mut self) -> Result<(), OutOfWork> {
        self.0 = self.0.checked_sub(1).ok_or(OutOfWork)?;
        Ok(())
    }
}

/// A solution of the equation, or `None` when there is none.
pub(crate) fn solve(terms: &[Term], target: i128, work: &mut Work) -> Result<Option<Values>, OutOfWork> {
    work.tick()?;
    let mut target = target;
    let mut ranges: SmallVec<[Range; 16]> = SmallVec::new();
    for (t, &(weight, size)) in terms.iter().enumerate() {
        if size <= 0 {
            return Ok(None);
        }
        if weight == 0 || size == 1 {
            continue;
        }
        if weight < 0 {
            target -= weight * (size - 1); // y becomes size - 1 - y.
        }
        ranges.push(Range { weight: weight.abs(), size, source: Source::Term(t as u32) });
    }
    let total: i128 = ranges.iter().map(Range::reach).sum();
    if target < 0 || target > total {
        return Ok(None);
    }
    ranges.sort_unstable_by_key(|range| range.weight);
    let mut joins = SmallVec::new();
    coalesce(&mut ranges, &mut joins);
    ranges.reverse();
    let search = Search::new(&ranges);
    let mut found: Values = SmallVec::from_elem(0, ranges.len());
    if !search.from(0, target, &mut found, work)? {
        return Ok(None);
    }
    let mut values: Values = SmallVec::from_elem(0, terms.len());
    for (range, &value) in ranges.iter().zip(&found) {
        assign(range, value, &joins, &mut values);
    }
    for (value, &(weight, size)) in values.iter_mut().zip(terms) {
        if weight < 0 {
            *value = size - 1 - *value;
        }
    }
    Ok(Some(values))
}

/// The multiples `0, weight, .., weight * (size - 1)` that a term, or several coalesced ones, can contribute.
#[derive(Clone, Copy, Debug)]
struct Range {
    weight: i128,
    size: i128,
    source: Source,
}

impl Range {
    fn reach(&self) -> i128 {
        self.weight * (self.size - 1)
    }
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Term(u32),
    Join(u32),
}

/// Two ranges in one: a value is `multiple` times a value of `coarse` plus one of `fine`.
#[derive(Clone, Copy, Debug)]
struct Join {
    fine: Range,
    coarse: Range,
    multiple: i128,
}

/// Joins ranges, sorted by weight, wherever one weight is a multiple of another that the smaller range can fill.
fn coalesce(ranges: &mut SmallVec<[Range; 16]>, joins: &mut SmallVec<[Join; 8]>) {
    let mut fine = 0;
    while fine + 1 < ranges.len() {
        let mut coarse = fine + 1;
        while coarse < ranges.len() {
            let (a, b) = (ranges[fine], ranges[coarse]);
            // The ranges are sorted, so that no later one can be filled either once this one is too far apart.
            if b.weight > a.reach() + a.weight {
                break;
            }
            if rem(b.weight, a.weight) != 0 {
                coarse += 1;
                continue;
            }
            let multiple = div(b.weight, a.weight);
            let source = Source::Join(joins.len() as u32);
            joins.push(Join { fine: a, coarse: b, multiple });
            ranges[fine] = Range { weight: a.weight, size: a.size + multiple * (b.size - 1), source };
            ranges.remove(coarse);
            coarse = fine + 1;
        }
        fine += 1;
    }
}

/// Splits the value of a range among the terms that it stands for.
fn assign(range: &Range, value: i128, joins: &[Join], values: &mut Values) {
    match range.source {
        Source::Term(t) => values[t as usize] = value,
        Source::Join(j) => {
            let join = &joins[j as usize];
            let coarse = div(value, join.multiple).min(join.coarse.size - 1);
            assign(&join.coarse, coarse, joins, values);
            assign(&join.fine, value - coarse * join.multiple, joins, values);
        }
    }
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
        if left == 3 {
            let last: &[Range; 3] = self.ranges[k..].try_into().expect("three ranges are left");
            let Some(values) = lattice::solve(last, target, work)? else { return Ok(false) };
            found[k..].copy_from_slice(&values);
            return Ok(true);
        }
        // The rest is a multiple of its divisor, which fixes this value in one residue class.
        let rest = self.divisor[k + 1];
        let (first, every) = residue(weight, target, rest);
        let low = div_ceil(target - self.reach[k + 1], weight).max(0);
        let high = div(target, weight).min(size - 1);
        let low = low + (first - low).rem_euclid(every);
        if low > high {
            return Ok(false);
        }
        // From the middle outwards: solutions, where there are any, are densest there.
        let count = div(high - low, every) + 1;
        let middle = count / 2;
        for distance in 0..=middle {
            for place in [middle - distance, middle + distance] {
                if place < count && (distance > 0 || place == middle) {
                    found[k] = low + place * every;
                    if self.from(k + 1, target - weight * found[k], found, work)? {
                        return Ok(true);
                    }
                    if distance == 0 {
                        break;
                    }
                }
            }
        }
        Ok(false)
    }
}

/// Three terms at any size: a point of a two-dimensional lattice in a box cut by a plane.
mod lattice {
    use super::{OutOfWork, Range, Work, div_ceil, div_floor, extended_gcd, gcd, residue};

    type Point = [i128; 3];

    /// Values of the three ranges with the given sum of weight times value.
    ///
    /// The integer solutions of the equation without bounds are `origin + r * u + s * v`. In a basis reduced with
    /// respect to the box, the box spans few lines `s` unless it is so wide that a line near its middle must meet a
    /// solution; each line is an interval of `r`.
    pub(super) fn solve(ranges: &[Range; 3], target: i128, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        let weights = ranges.map(|range| range.weight);
        let Some(bounds) = tighten(ranges, target) else { return Ok(None) };
        let Some((mut origin, mut u, mut v)) = solutions(weights, target) else { return Ok(None) };
        let spans = bounds.map(|(low, high)| (high - low + 1) as f64);
        reduce(&mut u, &mut v, spans);
        centre(&mut origin, &u, &v, &bounds);
        // Two of the three coordinates determine s; their bounds bound it.
        let mut lines: Option<(i128, i128)> = None;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let determinant = (u[i].checked_mul(v[j]).zip(u[j].checked_mul(v[i])))
                .and_then(|(a, b)| a.checked_sub(b))
                .ok_or(OutOfWork)?;
            if determinant == 0 {
                continue;
            }
            let along_j = scaled(bounds[j], origin[j], u[i]).ok_or(OutOfWork)?;
            let along_i = scaled(bounds[i], origin[i], u[j]).ok_or(OutOfWork)?;
            let low = along_j.0.checked_sub(along_i.1).ok_or(OutOfWork)?;
            let high = along_j.1.checked_sub(along_i.0).ok_or(OutOfWork)?;
            let (low, high) = if determinant > 0 { (low, high) } else { (-high, -low) };
            let determinant = determinant.abs();
            let (low, high) = (div_ceil(low, determinant), div_floor(high, determinant));
            lines = Some(lines.map_or((low, high), |(l, h)| (l.max(low), h.min(high))));
        }
        let (low, high) = lines.ok_or(OutOfWork)?;
        if low > high {
            return Ok(None);
        }
        let middle = low + (high - low) / 2;
        for distance in 0..=(high - low + 1) {
            let mut inside = false;
            for s in [middle - distance, middle + distance] {
                if s < low || s > high {
                    continue;
                }
                inside = true;
                work.tick()?;
                if let Some(point) = on_line(&origin, &u, &v, s, &bounds).ok_or(OutOfWork)? {
                    return Ok(Some(point));
                }
                if distance == 0 {
                    break;
                }
            }
            if !inside {
                break;
            }
        }
        Ok(None)
    }

    /// The bounds of each value, given those of the two others.
    fn tighten(ranges: &[Range; 3], target: i128) -> Option<[(i128, i128); 3]> {
        let total: i128 = ranges.iter().map(Range::reach).sum();
        let mut bounds = [(0, 0); 3];
        for (bound, range) in bounds.iter_mut().zip(ranges) {
            let others = total - range.reach();
            *bound =
                (div_ceil(target - others, range.weight).max(0), div_floor(target, range.weight).min(range.size - 1));
            if bound.0 > bound.1 {
                return None;
            }
        }
        Some(bounds)
    }

    /// One solution of `a x + b y + c z = target` in the integers, and a basis of those of `a x + b y + c z = 0`.
    fn solutions([a, b, c]: Point, target: i128) -> Option<(Point, Point, Point)> {
        let (g, beta, _) = extended_gcd(b, c);
        if target % gcd(a, g) != 0 {
            return None;
        }
        let (x, every) = residue(a, target, g);
        let (b, c) = (b / g, c / g);
        // b y + c z = v, with y the smallest that is not negative.
        let complete = |v: i128| {
            let y = (beta.rem_euclid(c) * v.rem_euclid(c)).rem_euclid(c);
            (y, (v - b * y) / c)
        };
        let (y, z) = complete((target - a * x) / g);
        let (p, q) = complete(-(a * every) / g);
        Some(([x, y, z], [every, p, q], [0, c, -b]))
    }

    /// Reduces a basis with respect to the norm in which the box is a cube. The arithmetic that picks the steps may
    /// round: every step keeps a basis, and a worse one only costs time.
    fn reduce(u: &mut Point, v: &mut Point, spans: [f64; 3]) {
        let product =
            |p: &Point, q: &Point| (0..3).map(|i| (p[i] as f64 / spans[i]) * (q[i] as f64 / spans[i])).sum::<f64>();
        for _ in 0..200 {
            if product(u, u) > product(v, v) {
                std::mem::swap(u, v);
            }
            let factor = (product(u, v) / product(u, u)).round();
            if factor == 0.0 || !factor.is_finite() || factor.abs() > 1e30 {
                return;
            }
            let Some(next) = plus(v, -(factor as i128), u) else { return };
            if product(&next, &next) >= product(v, v) {
                return;
            }
            *v = next;
        }
    }

    /// Moves the origin near the middle of the box.
    fn centre(origin: &mut Point, u: &Point, v: &Point, bounds: &[(i128, i128); 3]) {
        for _ in 0..3 {
            let gap = [0, 1, 2].map(|i| ((bounds[i].0 + bounds[i].1) / 2 - origin[i]) as f64);
            let [u_, v_] = [u, v].map(|p| p.map(|x| x as f64));
            let pairs = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| {
                let det = u_[i] * v_[j] - u_[j] * v_[i];
                (det, (gap[i] * v_[j] - gap[j] * v_[i]) / det, (u_[i] * gap[j] - u_[j] * gap[i]) / det)
            });
            let best = pairs.into_iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
            let Some((_, r, s)) = best.filter(|(_, r, s)| r.abs() < 1e30 && s.abs() < 1e30) else { return };
            let moved = plus(origin, r.round() as i128, u).and_then(|p| plus(&p, s.round() as i128, v));
            let Some(moved) = moved else { return };
            *origin = moved;
        }
    }

    /// The point of the line `origin + s * v + r * u` that lies in the box, if any; the outer `None` is an overflow.
    fn on_line(origin: &Point, u: &Point, v: &Point, s: i128, bounds: &[(i128, i128); 3]) -> Option<Option<Point>> {
        let start = plus(origin, s, v)?;
        let (mut low, mut high) = (i128::MIN, i128::MAX);
        for i in 0..3 {
            let (from, to) = (bounds[i].0.checked_sub(start[i])?, bounds[i].1.checked_sub(start[i])?);
            if u[i] == 0 {
                if from > 0 || to < 0 {
                    return Some(None);
                }
                continue;
            }
            let (from, to) = if u[i] > 0 { (from, to) } else { (-to, -from) };
            low = low.max(div_ceil(from, u[i].abs()));
            high = high.min(div_floor(to, u[i].abs()));
        }
        if low > high { Some(None) } else { plus(&start, low, u).map(Some) }
    }

    fn plus(p: &Point, factor: i128, q: &Point) -> Option<Point> {
        let mut sum = *p;
        for i in 0..3 {
            sum[i] = sum[i].checked_add(factor.checked_mul(q[i])?)?;
        }
        Some(sum)
    }

    /// The interval of `factor * (value - origin)` for a value in its bounds.
    fn scaled((low, high): (i128, i128), origin: i128, factor: i128) -> Option<(i128, i128)> {
        let ends = (low.checked_sub(origin)?.checked_mul(factor)?, high.checked_sub(origin)?.checked_mul(factor)?);
        Some((ends.0.min(ends.1), ends.0.max(ends.1)))
    }
}

/// The values `y` with `weight * y = target` modulo `modulus`: the first one, and how far apart they are.
/// The target is a multiple of `gcd(weight, modulus)`.
pub(crate) fn residue(weight: i128, target: i128, modulus: i128) -> (i128, i128) {
    if modulus == 1 {
        return (0, 1);
    }
    let (g, inverse, _) = extended_gcd(weight.rem_euclid(modulus), modulus);
    let every = div(modulus, g);
    let first = (div_floor(target, g).rem_euclid(every) * inverse.rem_euclid(every)).rem_euclid(every);
    (first, every)
}

/// `(g, x, y)` with `a x + b y = g`, the greatest common divisor; for `a, b >= 0`, not both 0.
fn extended_gcd(a: i128, b: i128) -> (i128, i128, i128) {
    let (mut r, mut x, mut y) = ((a, b), (1, 0), (0, 1));
    while r.1 != 0 {
        let q = div(r.0, r.1);
        r = (r.1, r.0 - q * r.1);
        x = (x.1, x.0 - q * x.1);
        y = (y.1, y.0 - q * y.1);
    }
    (r.0, x.0, y.0)
}

/// The greatest common divisor of two numbers that are not negative.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, rem(a, b));
    }
    a
}

/// `a / b` for `a >= 0`, `b > 0`: nearly always both fit 64 bits, where division is several times faster.
pub(crate) fn div(a: i128, b: i128) -> i128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => i128::from(a / b),
        _ => a / b,
    }
}

/// `a % b` for `a >= 0`, `b > 0`.
fn rem(a: i128, b: i128) -> i128 {
    match (u64::try_from(a), u64::try_from(b)) {
        (Ok(a), Ok(b)) => i128::from(a % b),
        _ => a % b,
    }
}

/// The floor of `a / b` for `b > 0`.
pub(crate) fn div_floor(a: i128, b: i128) -> i128 {
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => i128::from(a.div_euclid(b)),
        _ => a.div_euclid(b),
    }
}

/// The ceiling of `a / b` for `b > 0`.
pub(crate) fn div_ceil(a: i128, b: i128) -> i128 {
    -div_floor(-a, b)
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
    fn three_terms_of_any_size_are_settled_at_once() {
        let mut rng = crate::tests::Rng(2);
        for _ in 0..20_000 {
            let bits = 1 + rng.below(60);
            let mut number = |bits: u64| 1 + rng.below(1 << bits.max(1)) as i128;
            let terms = [0; 3].map(|_| (number(bits), number(62 - bits)));
            let inside: Vec<i128> = terms.iter().map(|&(_, size)| number(62) % size).collect();
            let target: i128 = terms.iter().zip(&inside).map(|(&(weight, _), y)| weight * y).sum();
            let mut work = Work(5_000);
            assert!(matches!(solve(&terms, target, &mut work), Ok(Some(_))), "{terms:?} = {target}");
            let mut work = Work(5_000);
            assert!(solve(&terms, target + number(8), &mut work).is_ok(), "{terms:?}");
        }
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
