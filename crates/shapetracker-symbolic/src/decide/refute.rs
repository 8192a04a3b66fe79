//! A no by a few indices whose coordinates are polynomials: evidence that needs no cases.
//!
//! One view on a box is one view on every box inside of it, so that three indices on a line, or a rectangle of four, are
//! enough for a no. Candidates are tried at the region's points first; what is evidence at all of them is then proved.

use smallvec::SmallVec;

use crate::decide::{Digit, Space};
use crate::poly::{Poly, TooLarge, floor, modulo};
use crate::region::Region;

/// A digit at one point.
struct DigitAt {
    weight: i128,
    size: i128,
    stride: i128,
    range: Option<(i128, i128)>,
    is_outermost: bool,
}

/// The pair at one point of the region.
struct At {
    digits: SmallVec<[DigitAt; 6]>,
    origin: i128,
    /// The step and the count of each axis.
    axes: SmallVec<[(i128, i128); 6]>,
    point: usize,
}

impl At {
    /// The address of an index; `None` where it is not valid. It must lie in the box.
    fn address(&self, index: &[i128]) -> Option<i128> {
        let position: i128 = self.origin + index.iter().zip(&self.axes).map(|(at, axis)| at * axis.0).sum::<i128>();
        let mut address = 0_i128;
        for digit in &self.digits {
            let mut value = floor(position, digit.weight);
            if !digit.is_outermost {
                value = modulo(value, digit.size);
            }
            if digit.range.is_some_and(|(begin, end)| value < begin || value >= end) {
                return None;
            }
            address = address.checked_add(value.checked_mul(digit.stride)?)?;
        }
        Some(address)
    }
}

fn at(region: &Region, digits: &[Digit], space: &Space, place: usize) -> Option<At> {
    let point = &*region.samples()[place];
    let small = |poly: &Poly| poly.eval(point).filter(|value| value.unsigned_abs() < 1 << 60);
    let mut found = At { digits: SmallVec::new(), origin: small(&space.origin)?, axes: SmallVec::new(), point: place };
    for (outer, digit) in digits.iter().enumerate() {
        let range = match &digit.range {
            Some((begin, end)) => Some((small(begin)?, small(end)?)),
            None => None,
        };
        found.digits.push(DigitAt {
            weight: small(&digit.weight).filter(|&weight| weight > 0)?,
            size: small(&digit.size).filter(|&size| size > 0)?,
            stride: small(&digit.stride)?,
            range,
            is_outermost: outer + 1 == digits.len(),
        });
    }
    for axis in &space.axes {
        found.axes.push((small(&axis.step)?, small(&axis.count)?));
    }
    Some(found)
}

/// A coordinate at one point, the address there, and the address one further.
type Step = (i128, Option<i128>, Option<i128>);

/// Indices by their coordinates along one axis; the others are those of a base.
struct Line<'a> {
    base: &'a [Poly],
    axis: usize,
}

impl Line<'_> {
    fn index(&self, coordinate: &Poly) -> Vec<Poly> {
        let mut index = self.base.to_vec();
        index[self.axis] = coordinate.clone();
        index
    }
}

/// Whether a few indices show, for all values of the region, that the pair is not one view.
pub(crate) fn refuted(region: &Region, digits: &[Digit], space: &Space) -> Result<bool, TooLarge> {
    if region.samples().is_empty() || region.shared.is_spent() {
        return Ok(false);
    }
    let points: Vec<At> = (0..region.samples().len()).filter_map(|place| at(region, digits, space, place)).collect();
    if points.is_empty() {
        return Ok(false);
    }
    let masked = digits.iter().any(|digit| digit.range.is_some());
    let bases = bases(region, digits, space)?;
    let candidates: Vec<Vec<Poly>> =
        (0..space.axes.len()).map(|axis| candidates(region, digits, space, axis, &bases)).collect::<Result<_, _>>()?;
    for base in &bases {
        for (axis, candidates) in candidates.iter().enumerate() {
            let line = Line { base, axis };
            if line_refutes(region, digits, space, &points, &line, candidates, masked)? {
                return Ok(true);
            }
        }
    }
    if masked {
        for base in bases.iter().take(3) {
            for a in 0..candidates.len() {
                for b in a + 1..candidates.len() {
                    if rectangle_refutes(region, digits, space, &points, base, (a, b), &candidates)? {
                        return Ok(true);
                    }
                }
            }
        }
    }
    Ok(false)
}

/// Indices from which lines go out: the first one, the last one, and the one at the lower corner of what is valid.
fn bases(region: &Region, digits: &[Digit], space: &Space) -> Result<Vec<Vec<Poly>>, TooLarge> {
    let rank = space.axes.len();
    let mut bases = vec![vec![Poly::zero(); rank]];
    let mut corner = Poly::zero();
    for digit in digits {
        if let Some((begin, _)) = &digit.range {
            corner = corner.add(&begin.mul(&digit.weight)?)?;
        }
    }
    // The corner's coordinates, one axis after the other, from either side.
    let start = corner.sub(&space.origin)?;
    if !corner.is_zero() || !space.origin.is_zero() {
        for reversed in [true, false] {
            let (mut rest, mut index) = (start.clone(), vec![Poly::zero(); rank]);
            for place in 0..rank {
                let place = if reversed { rank - 1 - place } else { place };
                let axis = &space.axes[place];
                let moves = region.known_ge(&axis.step.plus_number(-1)?) == Some(true) && !axis.count.is_one();
                if moves && let Some(division) = region.known_division(&rest, &axis.step)? {
                    index[place] = division.quotient;
                    rest = division.remainder;
                }
            }
            bases.insert(0, index);
        }
    }
    bases.push(space.axes.iter().map(|axis| axis.count.plus_number(-1)).collect::<Result<_, _>>()?);
    bases.dedup();
    Ok(bases)
}

/// Coordinates at which something may happen along an axis.
fn candidates(
    region: &Region,
    digits: &[Digit],
    space: &Space,
    axis: usize,
    bases: &[Vec<Poly>],
) -> Result<Vec<Poly>, TooLarge> {
    let (step, count) = (&space.axes[axis].step, &space.axes[axis].count);
    let mut found: Vec<Poly> = Vec::new();
    if count.is_one() || step.is_zero() {
        return Ok(found);
    }
    let first = &*region.samples()[0];
    let last = count.eval(first).unwrap_or(0);
    let mut add = |poly: Poly| {
        // What does not lie on the axis at the first point is of no use.
        if found.len() < 16 && poly.eval(first).is_some_and(|at| (0..last).contains(&at)) && !found.contains(&poly) {
            found.push(poly);
        }
    };
    add(Poly::zero());
    for base in bases {
        add(base[axis].clone());
        add(base[axis].plus_number(-1)?);
    }
    add(Poly::one());
    add(count.plus_number(-2)?);
    let mut distances: Vec<Poly> = Vec::new();
    for digit in digits {
        let range = digit.range.clone().unwrap_or((Poly::zero(), digit.size.clone()));
        let count = range.1.sub(&range.0)?;
        distances.push(digit.weight.clone());
        distances.push(digit.weight.mul(&digit.size)?);
        if digit.range.is_some() {
            distances.push(digit.weight.mul(&count)?);
            distances.push(digit.weight.mul(&count.plus_number(-1)?)?);
        }
    }
    let beside = region.known_ge(&step.plus_number(-2)?) != Some(true);
    for base in bases {
        for distance in &distances {
            // As many steps as go over a distance, if that is a whole number of them.
            let Some(steps) = distance.div_exact(step)? else { continue };
            add(base[axis].add(&steps)?);
            if beside {
                add(base[axis].add(&steps)?.plus_number(-1)?);
            }
        }
    }
    Ok(found)
}

/// Three indices on a line, of which the middle one alone is not valid; or two steps that move the address by different
/// amounts.
fn line_refutes(
    region: &Region,
    digits: &[Digit],
    space: &Space,
    points: &[At],
    line: &Line<'_>,
    candidates: &[Poly],
    masked: bool,
) -> Result<bool, TooLarge> {
    let n = candidates.len();
    if n < 2 {
        return Ok(false);
    }
    region.shared.spend(n);
    // Plans that are evidence at all points so far.
    let mut holes: Vec<(usize, usize, usize)> = Vec::new();
    let mut uneven: Vec<(usize, usize)> = Vec::new();
    for (round, at) in points.iter().enumerate() {
        let point = &*region.samples()[at.point];
        let mut index: SmallVec<[i128; 8]> = SmallVec::new();
        let mut fits = true;
        for ((place, poly), axis) in line.base.iter().enumerate().zip(&at.axes) {
            let value = if place == line.axis { Some(0) } else { poly.eval(point) };
            fits &= value.is_some_and(|value| (0..axis.1).contains(&value));
            index.push(value.unwrap_or(0));
        }
        if !fits {
            return Ok(false);
        }
        let count = at.axes[line.axis].1;
        // For each candidate: its coordinate, and the address there and one further.
        let values: SmallVec<[Step; 16]> = candidates
            .iter()
            .map(|candidate| {
                let Some(coordinate) = candidate.eval(point).filter(|at| (0..count).contains(at)) else {
                    return (-1, None, None);
                };
                index[line.axis] = coordinate;
                let here = at.address(&index);
                index[line.axis] = coordinate + 1;
                let next = if coordinate + 1 < count { at.address(&index) } else { None };
                (coordinate, here, next)
            })
            .collect();
        let is_hole = |&(a, b, c): &(usize, usize, usize)| {
            let [a, b, c] = [a, b, c].map(|place| values[place]);
            a.1.is_some() && b.0 >= 0 && b.1.is_none() && c.1.is_some() && a.0 <= b.0 && b.0 <= c.0
        };
        let move_of = |place: usize| Some(values[place].2? - values[place].1?);
        let is_uneven = |&(a, b): &(usize, usize)| matches!((move_of(a), move_of(b)), (Some(a), Some(b)) if a != b);
        if round == 0 {
            for a in 0..n {
                for b in 0..n {
                    if masked && values[a].1.is_some() && values[b].1.is_none() && values[b].0 >= values[a].0 {
                        holes.extend((0..n).map(|c| (a, b, c)).filter(is_hole));
                    }
                    if a < b && is_uneven(&(a, b)) {
                        uneven.push((a, b));
                    }
                }
            }
        } else {
            holes.retain(is_hole);
            uneven.retain(is_uneven);
        }
        if holes.is_empty() && uneven.is_empty() {
            return Ok(false);
        }
    }
    let count = &space.axes[line.axis].count;
    let base_fits = || -> Result<bool, TooLarge> {
        for (place, (axis, at)) in space.axes.iter().zip(line.base).enumerate() {
            if place != line.axis && !lies_in(region, at, &axis.count)? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    if !base_fits()? {
        return Ok(false);
    }
    for (a, b, c) in holes.into_iter().take(6) {
        let [a, b, c] = [a, b, c].map(|place| &candidates[place]);
        if region.prove_ge(a)
            && region.prove_ge(&b.sub(a)?)
            && region.prove_ge(&c.sub(b)?)
            && region.prove_ge(&count.sub(c)?.plus_number(-1)?)
            && validity(region, digits, space, &line.index(a))? == Some(true)
            && validity(region, digits, space, &line.index(b))? == Some(false)
            && validity(region, digits, space, &line.index(c))? == Some(true)
        {
            return Ok(true);
        }
    }
    for (a, b) in uneven.into_iter().take(6) {
        let mut moves: SmallVec<[Poly; 2]> = SmallVec::new();
        for start in [&candidates[a], &candidates[b]] {
            let next = start.plus_number(1)?;
            if !lies_in(region, start, count)? || !lies_in(region, &next, count)? {
                break;
            }
            let (from, to) = (line.index(start), line.index(&next));
            if masked
                && (validity(region, digits, space, &from)? != Some(true)
                    || validity(region, digits, space, &to)? != Some(true))
            {
                break;
            }
            let (Some(from), Some(to)) = (address(region, digits, space, &from)?, address(region, digits, space, &to)?)
            else {
                break;
            };
            moves.push(to.sub(&from)?);
        }
        if let [first, second] = &moves[..]
            && region.prove_ne(&region.reduce(&first.sub(second)?)?)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Two valid indices and a third one, with a coordinate of each, that is not valid.
fn rectangle_refutes(
    region: &Region,
    digits: &[Digit],
    space: &Space,
    points: &[At],
    base: &[Poly],
    (x, y): (usize, usize),
    candidates: &[Vec<Poly>],
) -> Result<bool, TooLarge> {
    let (along_x, along_y) = (&candidates[x], &candidates[y]);
    if along_x.len() < 2 || along_y.len() < 2 {
        return Ok(false);
    }
    let (nx, ny) = (along_x.len().min(12), along_y.len().min(12));
    region.shared.spend(nx * ny);
    let mut plans: Vec<[usize; 4]> = Vec::new();
    for (round, at) in points.iter().enumerate() {
        let point = &*region.samples()[at.point];
        let mut index: SmallVec<[i128; 8]> = SmallVec::new();
        for ((place, poly), axis) in base.iter().enumerate().zip(&at.axes) {
            let value = if place == x || place == y { 0 } else { poly.eval(point).unwrap_or(-1) };
            if !(0..axis.1).contains(&value) {
                return Ok(false);
            }
            index.push(value);
        }
        let mut valid: Vec<Option<bool>> = vec![None; nx * ny];
        for (i, at_x) in along_x[..nx].iter().enumerate() {
            for (j, at_y) in along_y[..ny].iter().enumerate() {
                let (Some(at_x), Some(at_y)) = (at_x.eval(point), at_y.eval(point)) else { continue };
                if (0..at.axes[x].1).contains(&at_x) && (0..at.axes[y].1).contains(&at_y) {
                    (index[x], index[y]) = (at_x, at_y);
                    valid[i * ny + j] = Some(at.address(&index).is_some());
                }
            }
        }
        let is_plan = |&[a, b, c, d]: &[usize; 4]| {
            valid[a * ny + b] == Some(true) && valid[c * ny + d] == Some(true) && valid[a * ny + d] == Some(false)
        };
        if round == 0 {
            'plans: for a in 0..nx {
                for d in 0..ny {
                    if valid[a * ny + d] != Some(false) {
                        continue;
                    }
                    for b in (0..ny).filter(|b| valid[a * ny + b] == Some(true)) {
                        plans.extend((0..nx).map(|c| [a, b, c, d]).filter(is_plan));
                        if plans.len() > 200 {
                            break 'plans;
                        }
                    }
                }
            }
        } else {
            plans.retain(is_plan);
        }
        if plans.is_empty() {
            return Ok(false);
        }
    }
    for (place, (axis, at)) in space.axes.iter().zip(base).enumerate() {
        if place != x && place != y && !lies_in(region, at, &axis.count)? {
            return Ok(false);
        }
    }
    for [a, b, c, d] in plans.into_iter().take(4) {
        let index = |at_x: usize, at_y: usize| {
            let mut index = base.to_vec();
            (index[x], index[y]) = (along_x[at_x].clone(), along_y[at_y].clone());
            index
        };
        let mut fits = true;
        for (at, axis) in [(&along_x[a], x), (&along_x[c], x), (&along_y[b], y), (&along_y[d], y)] {
            fits = fits && lies_in(region, at, &space.axes[axis].count)?;
        }
        if fits
            && validity(region, digits, space, &index(a, d))? == Some(false)
            && validity(region, digits, space, &index(a, b))? == Some(true)
            && validity(region, digits, space, &index(c, d))? == Some(true)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a coordinate is proved to lie on an axis.
fn lies_in(region: &Region, at: &Poly, count: &Poly) -> Result<bool, TooLarge> {
    Ok(region.prove_ge(at) && region.prove_ge(&count.sub(at)?.plus_number(-1)?))
}

fn position(space: &Space, index: &[Poly]) -> Result<Poly, TooLarge> {
    index.iter().zip(&space.axes).try_fold(space.origin.clone(), |sum, (at, axis)| sum.add(&at.mul(&axis.step)?))
}

/// Whether an index is proved to be valid, or not to be.
fn validity(region: &Region, digits: &[Digit], space: &Space, index: &[Poly]) -> Result<Option<bool>, TooLarge> {
    let position = region.reduce(&position(space, index)?)?;
    let mut all = Some(true);
    for (outer, digit) in digits.iter().enumerate() {
        let Some((begin, end)) = &digit.range else { continue };
        let value = if outer + 1 == digits.len() {
            position.clone()
        } else {
            match region.known_division(&position, &digit.weight.mul(&digit.size)?)? {
                Some(division) => division.remainder,
                None => {
                    all = None;
                    continue;
                }
            }
        };
        let above = region.known_ge(&value.sub(&begin.mul(&digit.weight)?)?);
        let below = region.known_ge(&end.mul(&digit.weight)?.sub(&value)?.plus_number(-1)?);
        match (above, below) {
            (Some(true), Some(true)) => {}
            (Some(false), _) | (_, Some(false)) => return Ok(Some(false)),
            _ => all = None,
        }
    }
    Ok(all)
}

/// The address of an index, up to that of position 0, where the quotients it takes are polynomials.
fn address(region: &Region, digits: &[Digit], space: &Space, index: &[Poly]) -> Result<Option<Poly>, TooLarge> {
    let position = region.reduce(&position(space, index)?)?;
    let Some(first) = digits.first() else { return Ok(Some(Poly::zero())) };
    let mut address = first.stride.mul(&position)?;
    for pair in digits.windows(2) {
        let jump = pair[1].stride.sub(&pair[0].size.mul(&pair[0].stride)?)?;
        if jump.is_zero() {
            continue;
        }
        match region.known_division(&position, &pair[1].weight)? {
            Some(division) => address = address.add(&jump.mul(&division.quotient)?)?,
            None => return Ok(None),
        }
    }
    Ok(Some(address))
}
