//! Is the address affine on a box of valid indices? For a pair of views, decided by the carries between digits.
//!
//! With the digits of the earlier view, the address at position `x` is
//! `offset + stride * x + sum jump[j] * floor(x / weight[j])` over the boundaries `j` between neighbouring digits, where
//! `jump[j]` is the stride above the boundary less the size times the stride below it. On a box of indices `x` is
//! affine, so that only the quotients can make the address anything else. Three cases, from the cheapest on:
//!
//! 1. Every quotient is affine on the box ([`IndexBox::quotient`]): so is the address.
//! 2. A quotient is not. Then some step along some axis carries over its boundary unlike the first step of the axis
//!    does. If that moves the address unlike the first step, the two steps are the witness. With a single such boundary
//!    it always does, since its jump is not 0.
//! 3. Jumps over several boundaries may cancel, as in the pair `(10, 9, 4):(140, 11, 13)` and `(6):(9)`. Then every
//!    pattern of carries that moves the address unlike the first step is tried, until some step has it (uit de Bos,
//!    Merging tensor views, theorem 10, applied to the patterns of section 4).

use smallvec::SmallVec;

use super::carries::{Steps, Visitor};
use super::level::{IndexBox, Level, Point};
use super::work::{OutOfWork, Work};

/// An address that is affine on a box. The strides are right modulo 2^64: addresses fit, their differences may not.
#[derive(Default)]
pub(crate) struct Address {
    /// The address at the first corner.
    pub(crate) first: i64,
    /// How far a step along each axis moves it; of no meaning along axes with one index.
    pub(crate) strides: Point,
}

/// Two unit steps along axis `axis` of the box that move the address by different amounts: where they start.
pub(crate) struct Uneven {
    pub(crate) axis: usize,
    pub(crate) at: [Point; 2],
}

/// A boundary between two digits at which carrying changes the address.
#[derive(Clone, Copy)]
struct Boundary {
    /// The carry happens at multiples of this.
    weight: i64,
    /// How far a carry moves the address.
    jump: i128,
}

/// Two steps that differ, or `None` when the address is affine on the box: then it is put into `address`.
pub(crate) fn uneven_steps(
    level: &Level,
    space: &IndexBox,
    address: &mut Address,
    work: &mut Work,
) -> Result<Option<Uneven>, OutOfWork> {
    let Address { first, strides } = address;
    let stride = level.digits.first().map_or(0, |digit| digit.stride);
    *first = (level.offset as i64).wrapping_add(stride.wrapping_mul(space.origin));
    strides.extend(space.axes.iter().map(|axis| stride.wrapping_mul(axis.stride)));
    let mut boundaries: SmallVec<[Boundary; 8]> = SmallVec::new();
    for pair in level.digits.windows(2) {
        let jump = i128::from(pair[1].stride) - i128::from(pair[0].stride) * i128::from(pair[0].size);
        let weight = pair[1].weight;
        if jump == 0 {
            continue;
        }
        let quotient = space.quotient(weight, |l, step| {
            strides[l] = strides[l].wrapping_add((jump as i64).wrapping_mul(step));
        });
        match quotient {
            Some(quotient) => *first = first.wrapping_add((jump as i64).wrapping_mul(quotient)),
            None => boundaries.push(Boundary { weight, jump }),
        }
    }
    if boundaries.is_empty() {
        return Ok(None);
    }
    for boundary in &boundaries {
        let uneven = first_carry(space, boundary.weight);
        let stride = space.axes[uneven.axis].stride;
        let [a, b] = uneven.at.each_ref().map(|at| jump(&boundaries, space.position(at), stride, |_| 0));
        if a != b {
            return Ok(Some(uneven));
        }
    }
    let uneven = uneven_pattern(space, &boundaries, work)?;
    // The quotients that are not affine add up to something that is, if there is no such step. What it is cannot be
    // summed from them, so that the address is read off at the corner and one step from it.
    *first = level.address(space.origin) as i64;
    for (stride, axis) in strides.iter_mut().zip(&space.axes).filter(|(_, axis)| axis.size > 1) {
        *stride = (level.address(space.origin + axis.stride) as i64).wrapping_sub(*first);
    }
    Ok(uneven)
}

/// How far the carries over boundaries move the address on a step from a position, each counted less `always`.
fn jump(boundaries: &[Boundary], from: i64, stride: i64, always: impl Fn(i64) -> i64) -> i128 {
    boundaries.iter().fold(0, |sum, &Boundary { weight, jump }| {
        let carried = (from + stride) / weight - from / weight - always(weight);
        sum.wrapping_add(jump.wrapping_mul(carried.into()))
    })
}

/// Two steps of which exactly one carries over a boundary whose quotient is not affine on the box.
///
/// The quotient is not affine because the remainder, with steps chosen so that the first steps of the box fit, leaves
/// its range at one of two corners: the one where it is largest, or the one where it is least. On the way there, axis by
/// axis, the step on which it leaves carries once more, or once less, than the first step of its axis.
fn first_carry(space: &IndexBox, weight: i64) -> Uneven {
    let start = i128::from(space.origin % weight);
    let zero = Point::from_elem(0, space.axes.len());
    for sign in [1, -1] {
        let mut remainder = start;
        let mut at = zero.clone();
        for (l, axis) in space.axes.iter().enumerate().filter(|(_, axis)| axis.size > 1) {
            let step = i128::from((space.origin + axis.stride) % weight) - start;
            if step * sign <= 0 {
                continue;
            }
            let room = if sign > 0 { i128::from(weight) - 1 - remainder } else { remainder };
            let fit = room / step.abs();
            if fit < i128::from(axis.size) - 1 {
                at[l] = fit as i64;
                return Uneven { axis: l, at: [zero, at] };
            }
            at[l] = axis.size - 1;
            remainder += step * i128::from(axis.size - 1);
        }
    }
    unreachable!("the quotient is not affine, so that some step carries unlike the first")
}

/// A step whose pattern of carries moves the address unlike the first step of its axis.
fn uneven_pattern(space: &IndexBox, boundaries: &[Boundary], work: &mut Work) -> Result<Option<Uneven>, OutOfWork> {
    let weights: SmallVec<[i64; 8]> = boundaries.iter().map(|boundary| boundary.weight).collect();
    for (l, axis) in space.axes.iter().enumerate() {
        if axis.size == 1 {
            continue;
        }
        // The steps of the axis start at all of its indices but the last.
        let mut starts = space.clone();
        starts.restrict(l, 0, axis.size - 1);
        let sign = i128::from(axis.stride.signum());
        // What the stride itself holds of a weight is carried on every step alike, and is left out on both sides.
        let first = jump(boundaries, space.origin, axis.stride, |weight| axis.stride / weight);
        let mut unlike = UnlikeFirst { boundaries, sign, first, found: None };
        Steps { starts, stride: axis.stride, weights: &weights }.visit(&mut unlike, work)?;
        if let Some(at) = unlike.found {
            return Ok(Some(Uneven { axis: l, at: [Point::from_elem(0, at.len()), at] }));
        }
    }
    Ok(None)
}

/// Looks for a pattern that moves the address unlike the first step.
struct UnlikeFirst<'a> {
    boundaries: &'a [Boundary],
    /// Whether steps carry (1) or borrow (-1).
    sign: i128,
    /// How far the carries of the first step move the address.
    first: i128,
    found: Option<Point>,
}

impl Visitor for UnlikeFirst<'_> {
    /// Not when the address moves as on the first step whatever follows. With all carries known that is the question.
    fn wants(&self, carries: &[i64]) -> bool {
        let (known, open) = self.boundaries.split_at(carries.len());
        let jump: i128 = known.iter().zip(carries).map(|(boundary, &carry)| boundary.jump * i128::from(carry)).sum();
        let least: i128 = open.iter().map(|boundary| (boundary.jump * self.sign).min(0)).sum();
        let most: i128 = open.iter().map(|boundary| (boundary.jump * self.sign).max(0)).sum();
        jump + least != self.first || jump + most != self.first
    }

    fn meet(&mut self, _: &[i64], start: Point) -> bool {
        self.found = Some(start);
        true
    }
}
