//! A bounded linear equation with a few terms of any size: is there a point of a lattice in a box?
//!
//! Without its bounds the equation has integer solutions that are one of them plus a lattice with one dimension less
//! than there are terms (the reformulation of Aardal, Hurkens and Lenstra, Solving a system of linear Diophantine
//! equations with lower and upper bounds on the variables, 2000). The bounds are a box, and the question is whether it
//! contains a point of the shifted lattice. The search is that of Lenstra (Integer programming with a fixed number of
//! variables, 1983):
//!
//! 1. [`reduce`] makes the basis short and nearly orthogonal, in the norm in which the box is a cube.
//! 2. The points whose last coefficient is `c` lie in a plane, the layer `c`. In a reduced basis the layers are far
//!    apart, so that the box meets few of them; or, if it is so wide that it meets many, one near its middle has a point
//!    in the box.
//! 3. [`Layers::search`] goes through the layers that the box meets, from the middle outwards, and looks in each of them
//!    with one dimension less. On a line the bounds decide exactly.
//!
//! Which layers the box meets is computed in floating point, with a margin far wider than the rounding error, and all
//! points are exact integers. So floats decide how long it takes, and never what the answer is: a layer that is tried
//! in vain does no harm, and where the floats are not good enough to be sure that none is left out, the answer is that
//! the work ran out.

use shapetracker_base::int::{div_ceil, div_floor};
use smallvec::SmallVec;

use super::terms::{Range, Values, outwards, residue};
use super::work::{OutOfWork, Work};

type Floats = SmallVec<[f64; 12]>;

/// Values of the ranges with the given sum of weight times value; `divisor[t]` is the greatest common divisor of the
/// weights from `t` on. There are at least two ranges, and `divisor[0]` divides the target.
pub(super) fn solve(
    ranges: &[Range],
    divisor: &[i128],
    target: i128,
    work: &mut Work,
) -> Result<Option<Values>, OutOfWork> {
    let Some(bounds) = tighten(ranges, target) else { return Ok(None) };
    // A basis in echelon form: vector t is the least change of value t that the values after it can make up for, and one
    // way in which they do.
    let origin = solution(ranges, divisor, 0, target).ok_or(OutOfWork)?;
    let mut basis = Vec::with_capacity(ranges.len() - 1);
    for t in 0..ranges.len() - 1 {
        let every = residue(ranges[t].weight, 0, divisor[t + 1]).1;
        let debt = ranges[t].weight.checked_mul(-every).ok_or(OutOfWork)?;
        let mut vector = solution(ranges, divisor, t + 1, debt).ok_or(OutOfWork)?;
        vector[t] = every;
        basis.push(vector);
    }
    let scale: Floats = bounds.iter().map(|(low, high)| 1.0 / (high - low + 1) as f64).collect();
    reduce(&mut basis, &scale, work)?;
    let duals = orthogonal(&basis, &scale);
    if !is_orthogonal(&duals, &basis, &scale) {
        return Err(OutOfWork);
    }
    let cuts = (0..=basis.len()).map(|k| cuts(&basis[..k])).collect();
    let layers = Layers { bounds: &bounds, basis: &basis, duals: &duals, scale: &scale, cuts };
    let start = layers.near(origin).ok_or(OutOfWork)?;
    layers.search(basis.len(), &start, work)
}

/// The bounds of each value, given those of the others; `None` when some value has none left. The narrower the box, the
/// fewer layers it meets.
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

/// Some integers, of either sign, from `from` on whose sum of weight times value is the target, which their divisor
/// divides; 0 before. `None` when a number leaves `i128`.
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

/// The scalar product.
fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// A vector in the coordinates in which the box is a cube of side 1.
fn scaled(vector: &[i128], scale: &[f64]) -> Floats {
    vector.iter().zip(scale).map(|(&x, scale)| x as f64 * scale).collect()
}

/// The Gram-Schmidt vectors of a basis in the norm in which the box is a cube.
fn orthogonal(basis: &[Values], scale: &[f64]) -> Vec<Floats> {
    let mut vectors: Vec<Floats> = Vec::with_capacity(basis.len());
    for vector in basis {
        let mut rest = scaled(vector, scale);
        // One pass of Gram-Schmidt loses orthogonality when the basis is nearly dependent. A second one restores it to
        // rounding (Kahan and Parlett: twice is enough).
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

/// Whether each Gram-Schmidt vector is orthogonal to the basis vectors before its own, far within the margin that the
/// bounds of the layers leave for rounding. [`Layers::layers`] counts on it: if it were wrong, a layer that meets the box
/// could be left out, and a solution missed. In a reduced basis it holds; where it does not the search is given up.
fn is_orthogonal(duals: &[Floats], basis: &[Values], scale: &[f64]) -> bool {
    duals.iter().enumerate().all(|(k, dual)| {
        let norm = product(dual, dual);
        norm.is_normal()
            && basis[..k].iter().all(|vector| {
                let vector = scaled(vector, scale);
                product(dual, &vector).abs() <= 1e-12 * (norm * product(&vector, &vector)).sqrt()
            })
    })
}

/// Reduces a basis (Lenstra, Lenstra and Lovász, Factoring polynomials with rational coefficients, 1982) in the norm in
/// which the box is a cube.
///
/// The floats that choose the steps may round. Every step adds a multiple of one vector to another or exchanges two,
/// exactly, so that the vectors stay a basis of the same lattice, and a worse choice only costs time. The bound on the
/// number of steps is there because with rounded decisions nothing proves that they end.
fn reduce(basis: &mut [Values], scale: &[f64], work: &mut Work) -> Result<(), OutOfWork> {
    let mut k = 0;
    for _ in 0..20_000 {
        if k == basis.len() {
            return Ok(());
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
                if factor.is_nan() || factor.abs() >= 1e36 {
                    return Err(OutOfWork);
                }
                largest = largest.max(factor.abs());
                let (before, from) = basis.split_at_mut(k);
                add(&mut from[0], -(factor as i128), &before[j]).ok_or(OutOfWork)?;
            }
            // A factor past 2^53 is rounded to a multiple of a power of two, so that more than half of the shorter
            // vector may be left: then another pass takes it away.
            if largest < 1e15 {
                break;
            }
        }
        let duals = orthogonal(&basis[..=k], scale);
        let norm = |v: &Floats| product(v, v);
        // The condition of Lovász: unless the new vector is nearly as long as the one before, off what lies before both,
        // the two are exchanged.
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
    Err(OutOfWork)
}

/// Adds a multiple of a vector to another; `None` when a number leaves `i128`.
fn add(vector: &mut [i128], factor: i128, other: &[i128]) -> Option<()> {
    for (x, y) in vector.iter_mut().zip(other) {
        *x = x.checked_add(factor.checked_mul(*y)?)?;
    }
    Some(())
}

/// The box, and the basis that cuts it into layers.
struct Layers<'a> {
    /// The least and the largest value of each coordinate.
    bounds: &'a [(i128, i128)],
    basis: &'a [Values],
    duals: &'a [Floats],
    scale: &'a [f64],
    /// For each number of basis vectors exact bounds of the last coefficient.
    cuts: Vec<Vec<Cut>>,
}

/// An exact bound of how often the last of `k` vectors can be taken.
///
/// A point is a start plus a combination of the vectors. As many of its coordinates as there are vectors determine the
/// coefficients, by Cramer's rule: `determinant * s = sum factor * (coordinate - start)` for the last one, `s`. With
/// bounds for the coordinates that bounds `s`. It is tighter than the bound along the Gram-Schmidt vector, which counts
/// all of the box, also what lies outside the plane of the start and the vectors.
struct Cut {
    determinant: i128,
    factors: SmallVec<[(usize, i128); 4]>,
}

/// The bounds from every choice of coordinates that determines the last coefficient.
///
/// The best of them is the exact bound over the reals: an optimal basis of the dual linear program is one such choice.
/// Each of them holds, so that those with numbers past `i128` may be left out. With more than four vectors there are too
/// many choices to be worth it.
fn cuts(vectors: &[Values]) -> Vec<Cut> {
    let k = vectors.len();
    let Some(coordinates) = vectors.first().map(|vector| vector.len()).filter(|_| (2..=4).contains(&k)) else {
        return Vec::new();
    };
    let mut cuts = Vec::new();
    let subsets = (0u32..1 << coordinates).filter(|subset| subset.count_ones() as usize == k);
    for subset in subsets {
        let chosen: SmallVec<[usize; 4]> = (0..coordinates).filter(|t| subset & (1 << t) != 0).collect();
        let mut factors = SmallVec::new();
        let mut determinant = Some(0i128);
        for (row, &t) in chosen.iter().enumerate() {
            let others: SmallVec<[usize; 4]> = chosen.iter().copied().filter(|&other| other != t).collect();
            let sign = if (row + k).is_multiple_of(2) { -1 } else { 1 };
            let factor = minor(vectors, &others).map(|minor| sign * minor);
            determinant = determinant
                .zip(factor)
                .and_then(|(sum, factor)| sum.checked_add(factor.checked_mul(vectors[k - 1][t])?));
            factors.push((t, factor.unwrap_or(0)));
        }
        if let Some(determinant) = determinant.filter(|&determinant| determinant != 0) {
            cuts.push(Cut { determinant, factors });
        }
    }
    cuts
}

/// The determinant of the first vectors in some coordinates, as many as there are coordinates, by expansion along the
/// last vector; there are three at most. `None` when a number leaves `i128`.
fn minor(vectors: &[Values], coordinates: &[usize]) -> Option<i128> {
    let Some((last, rest)) = coordinates.len().checked_sub(1).map(|last| (&vectors[last], &vectors[..last])) else {
        return Some(1);
    };
    let mut sum = 0i128;
    for (row, &t) in coordinates.iter().enumerate() {
        let others: SmallVec<[usize; 4]> = coordinates.iter().copied().filter(|&other| other != t).collect();
        let sign = if (row + coordinates.len()).is_multiple_of(2) { -1 } else { 1 };
        sum = sum.checked_add(minor(rest, &others)?.checked_mul(last[t])?.checked_mul(sign)?)?;
    }
    Some(sum)
}

impl Cut {
    /// The least and the largest coefficient of the last vector with which a point from a start lies in the box.
    fn layers(&self, start: &Values, bounds: &[(i128, i128)]) -> Option<(i128, i128)> {
        let (mut low, mut high) = (0i128, 0i128);
        for &(t, factor) in &self.factors {
            let ends = [bounds[t].0, bounds[t].1].map(|end| end.checked_sub(start[t])?.checked_mul(factor));
            low = low.checked_add(ends[0]?.min(ends[1]?))?;
            high = high.checked_add(ends[0]?.max(ends[1]?))?;
        }
        let (low, high) = if self.determinant > 0 { (low, high) } else { (-high, -low) };
        let determinant = self.determinant.abs();
        Some((div_ceil(low, determinant), div_floor(high, determinant)))
    }
}

impl Layers<'_> {
    /// A point of the shifted lattice near the middle of the box (Babai's nearest plane).
    ///
    /// The search starts from it, because floats are the more exact the shorter the way from the start into the box is;
    /// the origin may be as far away as the weights are large. Each pass shortens the way by as much as floats can hold.
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

    /// A point of the box that is the start plus a combination of the first `k` basis vectors, with `k` at least 1.
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
        for cut in &self.cuts[k] {
            if let Some((from, to)) = cut.layers(start, self.bounds) {
                (low, high) = (low.max(from), high.min(to));
            }
        }
        let middle = low + (high - low) / 2;
        for layer in outwards(low, middle, high) {
            let mut next = start.clone();
            add(&mut next, layer, &self.basis[k - 1]).ok_or(OutOfWork)?;
            let found = self.search(k - 1, &next, work)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The least and the largest coefficient of basis vector `k - 1` with which the start plus a combination of the first
    /// `k` vectors can lie in the box.
    ///
    /// The Gram-Schmidt vector of a basis vector is orthogonal to the ones before it, so that along it the coefficient
    /// alone counts. The bounds may round, by less than a part in 2^40: the margin is far wider, and a layer that is
    /// tried in vain does no harm.
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
