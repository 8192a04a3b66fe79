//! Which indices of a pair are valid, and are they a box?

use smallvec::SmallVec;

use super::equation::{OutOfWork, Term, Work, div_ceil, div_floor, solve};
use super::level::{Affine, Box, Digit, Level, Point};
use crate::{Dims, View};

/// What the valid indices of a pair are.
pub(crate) enum Validity {
    /// Nothing is valid.
    Empty,
    /// The box, which may be smaller than the one asked about.
    Box(Box),
    /// Not a box: two valid indices, and one between them that is not.
    Hole([Dims; 2], Dims),
}

/// Decides the valid indices of a box of the later view: those at which every masked digit lies in its range.
///
/// First each digit that is affine on the box cuts the axes it depends on, which settles most pairs of real programs.
/// What is left is a question of equations.
pub(crate) fn valid_box(level: &Level, later: &View, work: &mut Work) -> Result<Validity, OutOfWork> {
    let mut space = Box::of(later);
    // Each round works on the box cut by the one before. Crafted digits could take turns for long: rounds are few.
    for round in 0.. {
        match settle(level, &mut space, round < 8) {
            Round::Empty => return Ok(Validity::Empty),
            Round::Cut => continue,
            Round::Open(open) if open.is_empty() => break,
            Round::Open(open) => return decide(&Equations { level, open: &open }, later, space, work),
        }
    }
    Ok(Validity::Box(space))
}

enum Round {
    Empty,
    /// The box became smaller, and some digit is still open.
    Cut,
    Open(SmallVec<[Open; 4]>),
}

/// Cuts a box by its affine digits, and tells the digits that have values inside and outside their range even so.
fn settle(level: &Level, space: &mut Box, may_cut: bool) -> Round {
    let mut open = SmallVec::new();
    let mut any_cut = false;
    for (j, digit) in level.digits.iter().enumerate().filter(|(_, digit)| digit.is_masked()) {
        let Some(mut value) = affine_digit(level, j, space) else {
            open.push(Open { digit: j, affine: false });
            continue;
        };
        match cut(space, &mut value, digit, may_cut) {
            Cut::Empty => return Round::Empty,
            Cut::Inside(cut) => any_cut |= cut,
            Cut::Straddles(cut) => {
                any_cut |= cut;
                open.push(Open { digit: j, affine: true });
            }
        }
    }
    if any_cut && !open.is_empty() { Round::Cut } else { Round::Open(open) }
}

/// A masked digit that may have values inside and outside its range, and whether it is affine on the box.
struct Open {
    digit: usize,
    affine: bool,
}

/// What a digit does to a box; and whether the box became smaller.
enum Cut {
    Empty,
    Inside(bool),
    Straddles(bool),
}

/// A digit as an affine function on a box, if it is one.
fn affine_digit(level: &Level, j: usize, space: &Box) -> Option<Affine> {
    let digit = level.digits[j];
    let mut value = if digit.weight == 1 {
        let steps = space.axes.iter().map(|axis| axis.stride).collect();
        Affine { constant: space.origin.into(), steps }
    } else {
        space.quotient(digit.weight)?
    };
    if j + 1 < level.digits.len() {
        let above = space.quotient(level.digits[j + 1].weight)?;
        value.constant -= above.constant * i128::from(digit.size);
        for (step, above) in value.steps.iter_mut().zip(above.steps) {
            // A digit's step is smaller than its size, whatever its two parts are.
            *step = step.wrapping_sub(above.wrapping_mul(digit.size));
        }
    }
    Some(value)
}

/// The smallest and the largest value of an affine function on a box.
fn range_of(value: &Affine, space: &Box) -> (i128, i128) {
    let steps = space.axes.iter().zip(&value.steps);
    steps.fold((value.constant, value.constant), |(low, high), (axis, &step)| {
        let reach = i128::from(step) * i128::from(axis.size - 1);
        (low + reach.min(0), high + reach.max(0))
    })
}

/// Cuts the axes of a box to where an affine digit can lie in its valid range.
fn cut(space: &mut Box, value: &mut Affine, digit: &Digit, may_cut: bool) -> Cut {
    let (begin, last) = (i128::from(digit.begin), i128::from(digit.end) - 1);
    let mut any_cut = false;
    let mut l = 0;
    loop {
        let (low, high) = range_of(value, space);
        if low > last || high < begin {
            return Cut::Empty;
        }
        if low >= begin && high <= last {
            return Cut::Inside(any_cut);
        }
        // The next axis that is cut when all others are at their best: begin <= rest + step * i <= last.
        let bounds = (l..space.axes.len()).filter(|_| may_cut).find_map(|l| {
            let (step, size) = (i128::from(value.steps[l]), i128::from(space.axes[l].size));
            if step == 0 || size == 1 {
                return None;
            }
            let reach = step * (size - 1);
            let (rest_low, rest_high) = (low - reach.min(0), high - reach.max(0));
            let (from, to) = if step > 0 {
                (div_ceil(begin - rest_high, step), div_floor(last - rest_low, step))
            } else {
                (div_ceil(rest_low - last, -step), div_floor(rest_high - begin, -step))
            };
            (from > 0 || to < size - 1).then_some((l, from.max(0), to.min(size - 1)))
        });
        match bounds {
            None => return Cut::Straddles(any_cut),
            Some((_, from, to)) if from > to => return Cut::Empty,
            Some((axis, from, to)) => {
                space.restrict(axis, from as i64, to as i64 + 1);
                value.constant += from * i128::from(value.steps[axis]);
                any_cut = true;
                l = axis + 1;
            }
        }
    }
}

/// Valid points by search, for [`decide`].
pub(crate) trait Search {
    /// Some valid point of a part of a box.
    fn valid_point(&self, part: &Box, work: &mut Work) -> Result<Option<Point>, OutOfWork>;

    /// Some point of a part of a box that is not valid.
    fn invalid_point(&self, part: &Box, work: &mut Work) -> Result<Option<Point>, OutOfWork>;

    /// Whether a point of a box is valid.
    fn is_valid(&self, space: &Box, point: &Point) -> bool;
}

/// Decides whether the valid points of a box of a view's indices are a box.
///
/// The componentwise smallest and largest of valid points are kept, and must be valid themselves if the valid points
/// are a box; so a hole usually shows after a few searches. When no search finds a point beyond the two corners, they
/// span the bounding box, and the box is full unless some point of it is not valid.
pub(crate) fn decide(
    search: &impl Search,
    later: &View,
    mut space: Box,
    work: &mut Work,
) -> Result<Validity, OutOfWork> {
    let Some(first) = search.valid_point(&space, work)? else { return Ok(Validity::Empty) };
    let hole = |space: &Box, valid: [&Point; 2], invalid: &Point| {
        Validity::Hole(valid.map(|point| space.index(point, later)), space.index(invalid, later))
    };
    let mut corners = [first.clone(), first];
    for (l, side) in (0..space.axes.len()).flat_map(|l| [(l, 0), (l, 1)]) {
        if let Some(([a, b], between)) = reach_bound(search, &space, &mut corners, l, side, work)? {
            return Ok(hole(&space, [&a, &b], &between));
        }
    }
    let [low, high] = &corners;
    for (l, (&from, &to)) in low.iter().zip(high).enumerate() {
        space.restrict(l, from, to + 1);
    }
    let Some(point) = search.invalid_point(&space, work)? else { return Ok(Validity::Box(space)) };
    let first = Point::from_elem(0, space.axes.len());
    let last: Point = space.axes.iter().map(|axis| axis.size - 1).collect();
    Ok(hole(&space, [&first, &last], &point))
}

/// Moves a corner to the outermost valid points along an axis: corner 0 down, corner 1 up.
///
/// Returns two valid points and an invalid one between them, if the search comes across such.
fn reach_bound(
    search: &impl Search,
    space: &Box,
    corners: &mut [Point; 2],
    l: usize,
    side: usize,
    work: &mut Work,
) -> Result<Option<([Point; 2], Point)>, OutOfWork> {
    let last = space.axes[l].size - 1;
    // In terms of the distance from the bound, for both sides alike: nothing valid lies nearer than `none`.
    let distance = |at: i64| if side == 0 { at } else { last - at };
    let mut none = 0;
    let mut probe = 0; // The bound itself comes first: after the cuts it is nearly always attained.
    loop {
        let reached = distance(corners[side][l]);
        if reached <= none {
            return Ok(None);
        }
        let from = if side == 0 { none } else { last - probe };
        let mut part = space.clone();
        part.restrict(l, from, from + probe - none + 1);
        match search.valid_point(&part, work)? {
            None => none = probe + 1,
            Some(mut point) => {
                point[l] += from;
                for (corner, pick) in corners.iter_mut().zip([i64::min, i64::max]) {
                    let moved: Point = corner.iter().zip(&point).map(|(&a, &b)| pick(a, b)).collect();
                    if !search.is_valid(space, &moved) {
                        return Ok(Some(([std::mem::take(corner), point], moved)));
                    }
                    *corner = moved;
                }
            }
        }
        probe = none + (distance(corners[side][l]) - none) / 2;
    }
}

/// The valid points of a pair as solutions of bounded linear equations.
struct Equations<'a> {
    level: &'a Level,
    open: &'a [Open],
}

impl Search for Equations<'_> {
    fn valid_point(&self, part: &Box, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        if let [Open { digit, affine: true }] = *self.open
            && let Some(value) = affine_digit(self.level, digit, part)
        {
            return point_with_value(part, &value, &self.level.digits[digit], work);
        }
        let open = self.open.iter().map(|open| {
            let digit = &self.level.digits[open.digit];
            Interval { weight: digit.weight, size: digit.size, begin: digit.begin, end: digit.end }
        });
        point_with_digits(part, &open.collect::<SmallVec<[Interval; 4]>>(), work)
    }

    fn invalid_point(&self, part: &Box, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        for open in self.open {
            let digit = &self.level.digits[open.digit];
            for (begin, end) in [(0, digit.begin), (digit.end, digit.size)] {
                let interval = Interval { weight: digit.weight, size: digit.size, begin, end };
                if begin < end
                    && let Some(point) = point_with_digits(part, &[interval], work)?
                {
                    return Ok(Some(point));
                }
            }
        }
        Ok(None)
    }

    fn is_valid(&self, space: &Box, point: &Point) -> bool {
        self.level.is_valid(space.position(point))
    }
}

/// A point at which an affine digit is valid.
fn point_with_value(space: &Box, value: &Affine, digit: &Digit, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
    let mut terms: SmallVec<[Term; 16]> = SmallVec::new();
    terms.extend(space.axes.iter().zip(&value.steps).map(|(axis, &step)| (step.into(), axis.size.into())));
    terms.push((-1, i128::from(digit.end) - i128::from(digit.begin)));
    let found = solve(&terms, i128::from(digit.begin) - value.constant, work)?;
    Ok(found.map(|values| values[..space.axes.len()].iter().map(|&i| i as i64).collect()))
}

/// The demand that the digit `floor(x / weight) mod size` of a position lie in `begin..end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) weight: i64,
    pub(crate) size: i64,
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

/// A point of a box whose position has digits in the given intervals, sorted by weight; all other digits are free.
pub(crate) fn point_with_digits(
    space: &Box,
    intervals: &[Interval],
    work: &mut Work,
) -> Result<Option<Point>, OutOfWork> {
    let mut terms: SmallVec<[Term; 16]> = SmallVec::new();
    terms.extend(space.axes.iter().map(|axis| (i128::from(axis.stride), i128::from(axis.size))));
    let mut target = -i128::from(space.origin);
    // The digits below, between and above the intervals each range freely over the numbers that they can write.
    let mut free = 1i128;
    for interval in intervals {
        let (weight, begin, end) = (i128::from(interval.weight), i128::from(interval.begin), i128::from(interval.end));
        terms.push((-free, weight / free));
        terms.push((-weight, end - begin));
        target += weight * begin;
        free = weight * i128::from(interval.size);
    }
    let largest = i128::from(space.positions().1);
    terms.push((-free, largest / free + 1));
    let found = solve(&terms, target, work)?;
    Ok(found.map(|values| values[..space.axes.len()].iter().map(|&i| i as i64).collect()))
}
