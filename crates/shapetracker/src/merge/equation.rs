//! One bounded linear equation: is there a `y` with `0 <= y[t] < size[t]` and `sum weight[t] * y[t] = target`?
//!
//! Every decision about a pair of views comes down to this question (DESIGN.md tells how). The search is exact: it
//! coalesces terms that together cover a range without gaps, cuts by range and by divisor from the largest weight
//! down, and turns to a reduced basis of the lattice of solutions where that leaves many values to try.

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
    /// A limit of some tenths of a second.
    pub(crate) fn new() -> Work {
        Work(300_000)
    }

    /// A limit of a few milliseconds.
    pub(crate) fn a_little() -> Work {
        Work(2_000)
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
    parts.sort_unstable_by_key(|part| part.weight);
    let mut ranges = coalesce(&mut parts);
    ranges.reverse();
    let mut found: Values = SmallVec::from_elem(0, ranges.len());
    if !Search::new(&ranges).from(0, target, &mut found, work)? {
        return Ok(None);
    }
    // What a range contributes is shared out among its parts, from the largest weight down.
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

/// The multiples `0, weight, .., weight * (size - 1)` that a term, or several coalesced ones, can contribute.
#[derive(Clone, Copy, Debug)]
struct Range {
    weight: i128,
    size: i128,
}

impl Range {
    fn reach(&self) -> i128 {
        self.weight * (self.size - 1)
    }
}

/// Makes ranges of parts sorted by weight: a part joins wherever its weight is a multiple of the range's, and the
/// range so far reaches far enough to leave no gap below it.
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
                break; // And so is every later one.
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
        // The rest is a multiple of its divisor, which fixes this value in one residue class.
        let rest = self.divisor[k + 1];
        let (first, every) = residue(weight, target, rest);
        let low = div_ceil(target - self.reach[k + 1], weight).max(0);
        let high = div(target, weight).min(size - 1);
        let low = low + (first - low).rem_euclid(every);
        if low > high {
            return Ok(false);
        }
        // Weights that nest, as those of digits do, leave a value or two here. Where they do not, and a few terms more
        // are to be chosen, a lattice has fewer layers than there are values.
        let count = div(high - low, every) + 1;
        if left > 2 && count > 4 && left <= 10 {
            let last = lattice::solve(&self.ranges[k..], &self.divisor[k..], target, work)?;
            return Ok(last.is_some_and(|values| {
                found[k..].copy_from_slice(&values);
                true
            }));
        }
        // From the middle outwards: solutions, where there are any, are densest there.
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

/// Several terms at any size: the points of a lattice in a box.
///
/// The integer solutions of the equation without bounds are a lattice with one dimension less than there are terms
/// (the reformulation of Aardal, Hurkens and Lenstra). In a basis reduced with respect to the box, the box spans few
/// layers of the lattice, unless it is so wide that a layer near its middle must have a point inside.
mod lattice {
    use smallvec::SmallVec;

    use super::{OutOfWork, Range, Values, Work, div_ceil, div_floor, residue};

    type Floats = SmallVec<[f64; 12]>;

    /// Values of the ranges with the given sum of weight times value; `divisor[t]` divides the weights from `t` on.
    pub(super) fn solve(
        ranges: &[Range],
        divisor: &[i128],
        target: i128,
        work: &mut Work,
    ) -> Result<Option<Values>, OutOfWork> {
        let Some(bounds) = tighten(ranges, target) else { return Ok(None) };
        let origin = solution(ranges, divisor, 0, target).ok_or(OutOfWork)?;
        let mut basis = Vec::with_capacity(ranges.len() - 1);
        for t in 0..ranges.len() - 1 {
            // The least change of one value that the later ones can make up for.
            let every = residue(ranges[t].weight, 0, divisor[t + 1]).1;
            let debt = ranges[t].weight.checked_mul(-every).ok_or(OutOfWork)?;
            let mut vector = solution(ranges, divisor, t + 1, debt).ok_or(OutOfWork)?;
            vector[t] = every;
            basis.push(vector);
        }
        let scale: Floats = bounds.iter().map(|(low, high)| 1.0 / (high - low + 1) as f64).collect();
        reduce(&mut basis, &scale, work)?;
        let duals = orthogonal(&basis, &scale);
        let layers = Layers { bounds: &bounds, basis: &basis, duals: &duals, scale: &scale };
        let start = layers.near(origin).ok_or(OutOfWork)?;
        layers.search(basis.len(), &start, work)
    }

    /// The bounds of each value, given those of the others.
    fn tighten(ranges: &[Range], target: i128) -> Option<SmallVec<[(i128, i128); 12]>> {
        let total: i128 = ranges.iter().map(Range::reach).sum();
        let bound = |range: &Range| {
            let least = target - (total - range.reach());
            let low = div_ceil(least, range.weight).max(0);
            let high = div_floor(target, range.weight).min(range.size - 1);
            (low <= high).then_some((low, high))
        };
        ranges.iter().map(bound).collect()
    }

    /// Some integers from `t` on whose sum of weight times value is the target, which their divisor divides.
    fn solution(ranges: &[Range], divisor: &[i128], from: usize, target: i128) -> Option<Values> {
        let mut values: Values = SmallVec::from_elem(0, ranges.len());
        let mut rest = target;
        for t in from..ranges.len() - 1 {
            values[t] = residue(ranges[t].weight, rest, divisor[t + 1]).0;
            rest = rest.checked_sub(ranges[t].weight.checked_mul(values[t])?)?;
        }
        values[ranges.len() - 1] = rest / ranges[ranges.len() - 1].weight;
        Some(values)
    }

    fn product(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(x, y)| x * y).sum()
    }

    fn scaled(vector: &[i128], scale: &[f64]) -> Floats {
        vector.iter().zip(scale).map(|(&x, scale)| x as f64 * scale).collect()
    }

    /// The Gram-Schmidt vectors of a basis in the norm in which the box is a cube.
    fn orthogonal(basis: &[Values], scale: &[f64]) -> Vec<Floats> {
        let mut vectors: Vec<Floats> = Vec::with_capacity(basis.len());
        for vector in basis {
            let mut rest = scaled(vector, scale);
            // Twice is enough to be orthogonal within rounding.
            for _ in 0..2 {
                for before in &vectors {
                    let factor = product(&rest, before) / product(before, before);
                    rest.iter_mut().zip(before).for_each(|(x, y)| *x -= factor * y);
                }
            }
            vectors.push(rest);
        }
        vectors
    }

    /// Reduces a basis (Lenstra, Lenstra and Lovasz) in the norm in which the box is a cube.
    ///
    /// The arithmetic that picks the steps may round: every step keeps a basis, and a worse one only costs time.
    fn reduce(basis: &mut [Values], scale: &[f64], work: &mut Work) -> Result<(), OutOfWork> {
        let mut k = 0;
        for _ in 0..20_000 {
            if k == basis.len() {
                break;
            }
            work.tick()?;
            for _ in 0..4 {
                let duals = orthogonal(&basis[..k], scale);
                let mut largest = 0f64;
                for j in (0..k).rev() {
                    let factor = product(&scaled(&basis[k], scale), &duals[j]) / product(&duals[j], &duals[j]);
                    let factor = factor.round();
                    if factor == 0.0 {
                        continue;
                    }
                    if !(factor.abs() < 1e36) {
                        return Err(OutOfWork);
                    }
                    largest = largest.max(factor.abs());
                    let (before, from) = basis.split_at_mut(k);
                    add(&mut from[0], -(factor as i128), &before[j]).ok_or(OutOfWork)?;
                }
                // A factor that floats cannot hold to the unit leaves something to take away.
                if largest < 1e15 {
                    break;
                }
            }
            let duals = orthogonal(&basis[..=k], scale);
            let norm = |v: &Floats| product(v, v);
            if k > 0 && {
                let overlap = product(&scaled(&basis[k], scale), &duals[k - 1]) / norm(&duals[k - 1]);
                norm(&duals[k]) < (0.99 - overlap * overlap) * norm(&duals[k - 1])
            } {
                basis.swap(k, k - 1);
                k -= 1;
            } else {
                k += 1;
            }
        }
        Ok(())
    }

    fn add(vector: &mut [i128], factor: i128, other: &[i128]) -> Option<()> {
        for (x, y) in vector.iter_mut().zip(other) {
            *x = x.checked_add(factor.checked_mul(*y)?)?;
        }
        Some(())
    }

    struct Layers<'a> {
        bounds: &'a [(i128, i128)],
        basis: &'a [Values],
        duals: &'a [Floats],
        scale: &'a [f64],
    }

    impl Layers<'_> {
        /// A point of the lattice near the middle of the box (Babai's nearest plane): floats are the more exact the
        /// smaller the way from the start into the box.
        fn near(&self, origin: Values) -> Option<Values> {
            let mut start = origin;
            for _ in 0..3 {
                for k in (1..=self.basis.len()).rev() {
                    let (low, high) = self.layers(k, &start);
                    let middle = ((low + high) / 2.0).round();
                    add(&mut start, (middle.abs() < 1e36).then_some(middle as i128)?, &self.basis[k - 1])?;
                }
            }
            Some(start)
        }

        /// A point of the box that is the start plus a combination of the first `k` basis vectors.
        fn search(&self, k: usize, start: &Values, work: &mut Work) -> Result<Option<Values>, OutOfWork> {
            work.tick()?;
            if k == 1 {
                return self.on_line(start).ok_or(OutOfWork);
            }
            let (low, high) = self.layers(k, start);
            if !(low.abs() < 1e36 && high.abs() < 1e36) {
                return Err(OutOfWork);
            }
            let (mut low, mut high) = (low as i128, high as i128);
            if k == 2 {
                (low, high) = self.lines(start, low, high).ok_or(OutOfWork)?;
            }
            let middle = low + (high - low) / 2;
            // From the middle outwards: points of the box, where there are any, are densest there.
            for distance in 0..=(high - low + 1) / 2 {
                for layer in [middle - distance, middle + distance] {
                    if layer >= low && layer <= high && (distance > 0 || layer == middle) {
                        let mut next = start.clone();
                        add(&mut next, layer, &self.basis[k - 1]).ok_or(OutOfWork)?;
                        let found = self.search(k - 1, &next, work)?;
                        if found.is_some() || distance == 0 && high == low {
                            return Ok(found);
                        }
                    }
                    if distance == 0 {
                        break;
                    }
                }
            }
            Ok(None)
        }

        /// How often basis vector `k - 1` can be taken, together with those before it, to get from the start into the box.
        ///
        /// Along its Gram-Schmidt vector no basis vector before it counts. The bounds may round, by less than a part in
        /// 2^40: the margin is far wider, and a layer that is tried in vain does no harm.
        fn layers(&self, k: usize, start: &Values) -> (f64, f64) {
            let dual = &self.duals[k - 1];
            let norm = product(dual, dual);
            let (mut low, mut high, mut size) = (0.0, 0.0, 0.0);
            for (t, &(from, to)) in self.bounds.iter().enumerate() {
                let factor = dual[t] * self.scale[t] / norm;
                let ends = [(from - start[t]) as f64 * factor, (to - start[t]) as f64 * factor];
                low += ends[0].min(ends[1]);
                high += ends[0].max(ends[1]);
                size += ends[0].abs().max(ends[1].abs());
            }
            let margin = 1e-3 + 1e-9 * size;
            ((low - margin).ceil(), (high + margin).floor())
        }

        /// How often the second of two basis vectors can be taken, exactly but for the integers: any two coordinates,
        /// with the first vector eliminated between them, bound it.
        fn lines(&self, start: &Values, low: i128, high: i128) -> Option<(i128, i128)> {
            let (u, v) = (&self.basis[0], &self.basis[1]);
            let interval = |t: usize, factor: i128| {
                let (from, to) = self.bounds[t];
                let ends = [from, to].map(|end| end.checked_sub(start[t])?.checked_mul(factor));
                Some((ends[0]?.min(ends[1]?), ends[0]?.max(ends[1]?)))
            };
            let (mut low, mut high) = (low, high);
            for i in 0..start.len() {
                for j in 0..i {
                    // u[i] * (coordinate j) - u[j] * (coordinate i) = s * determinant.
                    let determinant = u[i].checked_mul(v[j])?.checked_sub(u[j].checked_mul(v[i])?)?;
                    if determinant != 0 {
                        let ((a, b), (c, d)) = (interval(j, u[i])?, interval(i, u[j])?);
                        let (from, to) = (a.checked_sub(d)?, b.checked_sub(c)?);
                        let (from, to) = if determinant > 0 { (from, to) } else { (-to, -from) };
                        low = low.max(div_ceil(from, determinant.abs()));
                        high = high.min(div_floor(to, determinant.abs()));
                    }
                }
            }
            Some((low, high))
        }

        /// The point of the box on the line along the first basis vector, exactly; the outer `None` is an overflow.
        fn on_line(&self, start: &Values) -> Option<Option<Values>> {
            let vector = &self.basis[0];
            let (mut low, mut high) = (i128::MIN, i128::MAX);
            for (t, &(from, to)) in self.bounds.iter().enumerate() {
                let (from, to) = (from.checked_sub(start[t])?, to.checked_sub(start[t])?);
                if vector[t] == 0 {
                    if from > 0 || to < 0 {
                        return Some(None);
                    }
                    continue;
                }
                let (from, to) = if vector[t] > 0 { (from, to) } else { (-to, -from) };
                low = low.max(div_ceil(from, vector[t].abs()));
                high = high.min(div_floor(to, vector[t].abs()));
            }
            if low > high {
                return Some(None);
            }
            let mut point = start.clone();
            add(&mut point, low, vector)?;
            Some(Some(point))
        }
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
        for _ in 0..20_000 {
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
