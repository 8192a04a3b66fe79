//! Weights and steps that are numbers: every way in which a step carries, and from which sizes on it occurs.
//!
//! The carries of a unit step, over all boundaries at once, repeat along each axis with a period that the largest weight
//! gives. A step whose carries differ from those of the first step along its axis moves the address by a sum of jumps more,
//! which must be 0 as soon as the sizes are such that the step is made. So the question is complete for sizes and earlier
//! strides of any kind: these are the tables of uit de Bos.

use std::collections::BTreeMap;

use shapetracker_base::int;
use smallvec::SmallVec;

use crate::decide::Space;
use crate::poly::{Poly, floor};
use crate::region::{Ask, Region};

/// The carries of a step at each boundary, or by how much they differ from those of the first step along the axis.
type Carries = SmallVec<[i64; 8]>;

/// An index: one entry for each axis along which there are steps.
type Corner = SmallVec<[i64; 4]>;

/// The most steps that are looked at.
const STEPS: i64 = 1 << 14;

/// The strides of the axes and the address of the first index.
type Address = Option<(Vec<Poly>, Poly)>;

/// The answer where everything but the sizes and the jumps is a number; `None` where it is not, or there is too much.
///
/// `boundaries` are weights and jumps, `strides` and `first` what the innermost digit alone moves.
pub(crate) fn enumerated(
    region: &Region,
    boundaries: &Option<Vec<(i64, Poly)>>,
    space: &Space,
    strides: &[Poly],
    first: &Poly,
) -> Ask<Option<Address>> {
    let Some(boundaries) = boundaries else { return Ok(None) };
    if boundaries.len() < 2 || boundaries.len() > 8 {
        return Ok(None);
    }
    let Some(origin) = small(&space.origin) else { return Ok(None) };
    let mut steps: SmallVec<[(usize, i64); 4]> = SmallVec::new();
    for (place, axis) in space.axes.iter().enumerate() {
        if axis.count.is_one() || axis.step.is_zero() {
            continue;
        }
        match small(&axis.step) {
            Some(step) => steps.push((place, step)),
            None => return Ok(None),
        }
    }
    let Some(&(largest, _)) = boundaries.last() else { return Ok(None) };
    // How many indices of each axis need be looked at: a period, or fewer where the axis is known to be shorter.
    let mut counts: SmallVec<[i64; 4]> = SmallVec::new();
    let mut all = steps.len() as i64;
    for &(place, step) in &steps {
        let period = largest / int::gcd(step.into(), largest.into()) as i64;
        let count = space.axes[place].count.number().and_then(|count| i64::try_from(count).ok());
        let count = count.map_or(period + 1, |count| count.min(period + 1));
        counts.push(count);
        all = all.saturating_mul(count);
        if all > STEPS {
            return Ok(None);
        }
    }
    region.shared.spend(all as usize / 16);
    let carries = |position: i64, step: i64| -> Carries {
        let carry = |&(weight, _): &(i64, Poly)| {
            floor((position + step).into(), weight.into()) as i64 - floor(position.into(), weight.into()) as i64
        };
        boundaries.iter().map(carry).collect()
    };
    let firsts: Vec<Carries> = steps.iter().map(|&(_, step)| carries(origin, step)).collect();
    // For each way to carry otherwise than the first step: the smallest indices at which it occurs. None lies in the box
    // above another one.
    let mut found: BTreeMap<(usize, Carries), Vec<Corner>> = BTreeMap::new();
    let mut index: Corner = SmallVec::from_elem(0, steps.len());
    'indices: loop {
        let moved = index.iter().zip(&steps).map(|(at, (_, step))| at * step).sum::<i64>();
        for (along, &(_, step)) in steps.iter().enumerate() {
            // The step needs one index more along its axis.
            let count = space.axes[steps[along].0].count.number();
            if count.is_some_and(|count| i128::from(index[along]) + 2 > count) {
                continue;
            }
            let other = carries(origin + moved, step);
            if other == firsts[along] {
                continue;
            }
            let uneven = other.iter().zip(&firsts[along]).map(|(other, first)| other - first).collect();
            let corners = found.entry((along, uneven)).or_default();
            let above = |corner: &Corner| corner.iter().zip(&index).all(|(a, b)| a <= b);
            if !corners.iter().any(above) {
                corners.retain(|corner| !corner.iter().zip(&index).all(|(a, b)| b <= a));
                corners.push(index.clone());
            }
        }
        for along in (0..index.len()).rev() {
            index[along] += 1;
            if index[along] < counts[along] {
                continue 'indices;
            }
            index[along] = 0;
        }
        break;
    }
    // The equations in the order in which growing sizes demand them.
    let mut demands: Vec<(i64, usize, Corner, Carries)> = Vec::new();
    for ((along, uneven), corners) in found {
        for corner in corners {
            demands.push((corner.iter().sum(), along, corner, uneven.clone()));
        }
    }
    demands.sort();
    if demands.len() > 200 {
        return Ok(None);
    }
    // What is known without cases first: one step that is made and moves the address unevenly is enough.
    let jump = |uneven: &[i64]| {
        boundaries
            .iter()
            .zip(uneven)
            .try_fold(Poly::zero(), |sum, ((_, jump), &times)| sum.add(&jump.scale(times.into())?))
    };
    for (_, along, corner, uneven) in &demands {
        if is_made(region, space, &steps, *along, corner, false)? && region.known_eq(&jump(uneven)?) == Some(false) {
            return Ok(Some(None));
        }
    }
    for (_, along, corner, uneven) in &demands {
        let jump = jump(uneven)?;
        if region.known_eq(&jump) == Some(true) {
            continue;
        }
        if is_made(region, space, &steps, *along, corner, true)? && !region.ask_eq(&jump)? {
            return Ok(Some(None));
        }
    }
    let mut strides = strides.to_vec();
    for (&(place, _), carries) in steps.iter().zip(&firsts) {
        for ((_, jump), &times) in boundaries.iter().zip(carries) {
            strides[place] = strides[place].add(&jump.scale(times.into())?)?;
        }
    }
    let mut start = first.clone();
    for (weight, jump) in boundaries {
        start = start.add(&jump.scale(floor(origin.into(), (*weight).into()))?)?;
    }
    Ok(Some(Some((strides, start))))
}

/// Whether the sizes are such that a step is made: asked, or only if it is known.
fn is_made(
    region: &Region,
    space: &Space,
    steps: &[(usize, i64)],
    along: usize,
    corner: &[i64],
    ask: bool,
) -> Ask<bool> {
    for (place, (&(axis, _), &at)) in steps.iter().zip(corner).enumerate() {
        let needed = if place == along { at + 2 } else { at + 1 };
        let longer = space.axes[axis].count.plus_number(-i128::from(needed))?;
        let made = match region.known_ge(&longer) {
            Some(made) => made,
            None if ask => region.ask_ge(&longer)?,
            None => false,
        };
        if !made {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A polynomial that is a number of moderate size.
fn small(poly: &Poly) -> Option<i64> {
    let number = i64::try_from(poly.number()?).ok()?;
    (number.unsigned_abs() < 1 << 40).then_some(number)
}
