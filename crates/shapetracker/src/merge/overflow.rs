//! Is the address affine on a box of valid indices? Overflow patterns decide.

use smallvec::SmallVec;

use super::equation::{OutOfWork, Work};
use super::level::{Box, Level, Point};
use super::validity::{Interval, point_with_digits};

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
///
/// The address is `offset + stride * x + sum jump[j] * floor(x / weight[j])` over the boundaries `j` between digits.
/// A quotient that is affine on the box contributes an affine part. If none is left, the address is affine. Those that
/// are left each have a step that carries unlike the first step of its axis; if it does not move the address unlike
/// the first because jumps cancel, the patterns of carries tell whether they always do.
pub(crate) fn uneven_steps(
    level: &Level,
    space: &Box,
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
    let uneven = Patterns { space, boundaries: &boundaries }.search(work)?;
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
/// The remainder, with steps chosen so that the first steps of the box fit, leaves its range on the way to one of two
/// corners; the step on which it does so carries once more, or once less, than the first step of that axis.
fn first_carry(space: &Box, weight: i64) -> Uneven {
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

/// The search for a step whose pattern of carries moves the address unlike the first step of its axis.
struct Patterns<'a> {
    space: &'a Box,
    boundaries: &'a [Boundary],
}

impl Patterns<'_> {
    fn search(&self, work: &mut Work) -> Result<Option<Uneven>, OutOfWork> {
        for (l, axis) in self.space.axes.iter().enumerate() {
            if axis.size == 1 {
                continue;
            }
            // The steps of the axis start at all of its indices but the last.
            let mut starts = self.space.clone();
            starts.restrict(l, 0, axis.size - 1);
            let first = jump(self.boundaries, self.space.origin, axis.stride, |weight| axis.stride / weight);
            let mut intervals = SmallVec::new();
            if let Some(at) = self.walk(&starts, axis.stride, first, &mut intervals, false, 0, work)? {
                return Ok(Some(Uneven { axis: l, at: [Point::from_elem(0, at.len()), at] }));
            }
        }
        Ok(None)
    }

    /// A start whose carries over the boundaries from the next one on can be such that the jumps differ from those of
    /// the first step. `intervals` holds what the carries so far say of the digits, `carry` the last of them, and
    /// `jump` how far they have moved the address.
    #[allow(clippy::too_many_arguments)]
    fn walk(
        &self,
        starts: &Box,
        stride: i64,
        first: i128,
        intervals: &mut SmallVec<[Interval; 4]>,
        carry: bool,
        jump: i128,
        work: &mut Work,
    ) -> Result<Option<Point>, OutOfWork> {
        let next = intervals.len();
        let rest = &self.boundaries[next..];
        let least: i128 = rest.iter().map(|boundary| (boundary.jump * i128::from(stride.signum())).min(0)).sum();
        let most: i128 = rest.iter().map(|boundary| (boundary.jump * i128::from(stride.signum())).max(0)).sum();
        if jump + least == first && jump + most == first {
            return Ok(None); // Whatever follows, the address moves as on the first step.
        }
        let point = match next {
            0 => Some(Point::from_elem(0, starts.axes.len())), // Nothing is said of the digits so far.
            _ => point_with_digits(starts, intervals, work)?,
        };
        if rest.is_empty() || point.is_none() {
            return Ok(point);
        }
        let weight = if next == 0 { 1 } else { self.boundaries[next - 1].weight };
        let size = rest[0].weight / weight;
        for carries in [true, false] {
            let Some(interval) = Interval::before_step(stride, weight, size, carry, carries) else { continue };
            intervals.push(interval);
            let more = if carries { rest[0].jump * i128::from(stride.signum()) } else { 0 };
            let found = self.walk(starts, stride, first, intervals, carries, jump + more, work)?;
            if found.is_some() {
                return Ok(found);
            }
            intervals.pop();
        }
        Ok(None)
    }
}
