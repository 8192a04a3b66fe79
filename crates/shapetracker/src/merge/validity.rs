//! Which indices of a pair are valid, and are they a box?

use smallvec::SmallVec;

use super::equation::{OutOfWork, Term, Work, div_ceil, div_floor, gcd, solve};
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
    let mut open = SmallVec::new();
    // Each round works on the box cut by the one before. Crafted digits could take turns for long: rounds are few.
    for round in 0.. {
        match settle(level, &mut space, round < 8, &mut open) {
            Round::Empty => return Ok(Validity::Empty),
            Round::Cut => continue,
            Round::Settled if open.is_empty() => break,
            Round::Settled => return decide(&Equations::of(&open), later, space, work),
        }
    }
    Ok(Validity::Box(space))
}

enum Round {
    Empty,
    /// The box became smaller, and some digit is still open.
    Cut,
    Settled,
}

/// A masked digit that may have values inside and outside its range.
struct Open {
    digit: Digit,
    value: Value,
}

/// A digit on a box. Affine functions are given in terms of the index of the later view, not of the point of the box,
/// so that they stay the same however the box is cut.
enum Value {
    Affine(Affine),
    /// An affine function modulo the digit's size; steps that are multiples of it are left out.
    Wrapping(Affine),
    Other,
}

impl Open {
    /// Whether the digit lies in its range at a point of a box.
    fn is_valid(&self, space: &Box, point: &[i64]) -> bool {
        // Affine values fit, whatever they are the sum of.
        let at = |value: &Affine| {
            space.axes.iter().zip(point).zip(&value.steps).fold(value.constant as i64, |sum, ((axis, i), step)| {
                sum.wrapping_add(step.wrapping_mul(axis.first + i))
            })
        };
        let value = match &self.value {
            Value::Affine(value) => at(value),
            Value::Wrapping(value) => at(value) % self.digit.size,
            Value::Other => space.position(point) / self.digit.weight % self.digit.size,
        };
        self.digit.begin <= value && value < self.digit.end
    }

    /// Finds a point of a box at which the digit lies in `begin..end`: the entries on which the digit depends.
    fn solve(&self, part: &Box, begin: i64, end: i64, point: &mut Point, work: &mut Work) -> Result<bool, OutOfWork> {
        let Digit { weight, size, .. } = self.digit;
        let (value, wraps) = match &self.value {
            Value::Affine(value) => (value, false),
            Value::Wrapping(value) => (value, true),
            Value::Other => {
                let found = point_with_digits(part, &[Interval { weight, size, begin, end }], work)?;
                return Ok(found.map(|found| *point = found).is_some());
            }
        };
        let mut terms: SmallVec<[Term; 16]> = SmallVec::new();
        let (mut first, mut low, mut high) = (value.constant, 0, 0);
        for (axis, &step) in part.axes.iter().zip(&value.steps) {
            let step = i128::from(step);
            let reach = step * i128::from(axis.size - 1);
            (first, low, high) = (first + step * i128::from(axis.first), low + reach.min(0), high + reach.max(0));
            terms.push((step, axis.size.into()));
        }
        let mut target = i128::from(begin) - first;
        terms.push((-1, i128::from(end) - i128::from(begin)));
        if wraps {
            let size = i128::from(size);
            let (least, most) = (div_floor(first + low, size), div_floor(first + high, size));
            terms.push((-size, most - least + 1));
            target += size * least;
        }
        let found = solve(&terms, target, work)?;
        let found = found.map(|found| {
            for (l, _) in value.steps.iter().enumerate().filter(|(_, step)| **step != 0) {
                point[l] = found[l] as i64;
            }
        });
        Ok(found.is_some())
    }
}

/// Cuts a box by its affine digits, and finds the digits that have values inside and outside their range even so.
fn settle(level: &Level, space: &mut Box, may_cut: bool, open: &mut SmallVec<[Open; 4]>) -> Round {
    open.clear();
    let mut any_cut = false;
    for (j, digit) in level.digits.iter().enumerate().filter(|(_, digit)| digit.is_masked()) {
        let outermost = j + 1 == level.digits.len();
        let mut digit = *digit;
        let mut value = value_of(&digit, outermost, space);
        if let Value::Wrapping(_) | Value::Other = value {
            // A digit that axes were joined to may be masked in whole blocks: then these are a digit that says as much.
            let block = gcd(gcd(digit.begin.into(), digit.end.into()), digit.size.into()) as i64;
            if block > 1 {
                let Digit { weight, size, begin, end, .. } = &mut digit;
                *weight *= block;
                (*size, *begin, *end) = (*size / block, *begin / block, *end / block);
                value = value_of(&digit, outermost, space);
            }
        }
        if let Value::Affine(value) = &mut value {
            match cut(space, value, &digit, may_cut) {
                Cut::Empty => return Round::Empty,
                Cut::Inside(cut) => {
                    any_cut |= cut;
                    continue;
                }
                Cut::Straddles(cut) => any_cut |= cut,
            }
        }
        if let Value::Affine(value) | Value::Wrapping(value) = &mut value {
            for (axis, &step) in space.axes.iter().zip(&value.steps) {
                value.constant -= i128::from(step) * i128::from(axis.first);
            }
        }
        open.push(Open { digit, value });
    }
    if any_cut && !open.is_empty() { Round::Cut } else { Round::Settled }
}

/// What a digit does to a box; and whether the box became smaller.
enum Cut {
    Empty,
    Inside(bool),
    Straddles(bool),
}

/// A digit on a box, in terms of the point of the box.
fn value_of(digit: &Digit, outermost: bool, space: &Box) -> Value {
    let Digit { weight, size, .. } = *digit;
    let mut value = Affine { constant: space.origin.into(), steps: Point::from_elem(0, space.axes.len()) };
    if weight == 1 {
        value.steps.iter_mut().zip(&space.axes).for_each(|(step, axis)| *step = axis.stride);
    } else {
        let Some(constant) = space.quotient(weight, |l, step| value.steps[l] = step) else { return Value::Other };
        value.constant = constant.into();
    }
    if outermost {
        return Value::Affine(value);
    }
    let mut steps = Point::from_slice(&value.steps);
    // A digit's step is smaller than its size, whatever its two parts are.
    let take = |l: usize, step: i64| steps[l] = steps[l].wrapping_sub(step.wrapping_mul(size));
    if let Some(above) = space.quotient(weight * size, take) {
        return Value::Affine(Affine { constant: value.constant - i128::from(above) * i128::from(size), steps });
    }
    value.steps.iter_mut().filter(|step| **step % size == 0).for_each(|step| *step = 0);
    Value::Wrapping(value)
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
/// are a box; so a hole usually shows at once. They are moved outwards ever more thoroughly for as long as nothing
/// between them is invalid.
pub(crate) fn decide(
    search: &impl Search,
    later: &View,
    mut space: Box,
    work: &mut Work,
) -> Result<Validity, OutOfWork> {
    let low = Point::from_elem(0, space.axes.len());
    let high: Point = space.axes.iter().map(|axis| axis.size - 1).collect();
    let mut corners = match (search.is_valid(&space, &low), search.is_valid(&space, &high)) {
        (true, true) => [low, high],
        (true, false) => [low.clone(), low],
        (false, true) => [high.clone(), high],
        (false, false) => match search.valid_point(&space, work)? {
            Some(point) => [point.clone(), point],
            None => return Ok(Validity::Empty),
        },
    };
    let hole = |space: &Box, [a, b]: [&Point; 2], invalid: &Point| {
        Ok(Validity::Hole([space.index(a, later), space.index(b, later)], space.index(invalid, later)))
    };
    let mut full = None;
    for reach in [Reach::Bound, Reach::Halfway, Reach::Outermost] {
        for (l, side) in (0..space.axes.len()).flat_map(|l| [(l, 0), (l, 1)]) {
            if let Some((corner, point, between)) = stretch(search, &mut space, &mut corners, l, side, reach, work)? {
                return hole(&space, [&corner, &point], &between);
            }
        }
        if full.as_ref() == Some(&corners) {
            continue;
        }
        let [low, high] = &corners;
        let mut part = space.clone();
        for (l, (&from, &to)) in low.iter().zip(high).enumerate() {
            part.restrict(l, from, to + 1);
        }
        if let Some(mut point) = search.invalid_point(&part, work)? {
            point.iter_mut().zip(low).for_each(|(i, from)| *i += from);
            return hole(&space, [low, high], &point);
        }
        full = Some(corners.clone());
    }
    let [low, high] = &corners;
    for (l, (&from, &to)) in low.iter().zip(high).enumerate() {
        space.restrict(l, from, to + 1);
    }
    Ok(Validity::Box(space))
}

/// How far outwards a corner is moved.
#[derive(Clone, Copy)]
enum Reach {
    /// To the bound of the box, if there are valid points at it. After the cuts there usually are.
    Bound,
    /// Half the way to the bound or more, if there are valid points there.
    Halfway,
    /// To the outermost valid points.
    Outermost,
}

/// Moves a corner outwards along an axis: corner 0 down, corner 1 up.
///
/// Returns two valid points and an invalid one between them, if the search comes across such.
fn stretch(
    search: &impl Search,
    space: &mut Box,
    corners: &mut [Point; 2],
    l: usize,
    side: usize,
    reach: Reach,
    work: &mut Work,
) -> Result<Option<(Point, Point, Point)>, OutOfWork> {
    let axis = space.axes[l];
    let last = axis.size - 1;
    // In terms of the distance from the bound, for both sides alike. The bound itself is tried at first.
    let distance = |at: i64| if side == 0 { at } else { last - at };
    let mut near = i64::from(!matches!(reach, Reach::Bound));
    loop {
        let reached = distance(corners[side][l]);
        if reached <= near {
            return Ok(None);
        }
        let far = match reach {
            Reach::Bound => near,
            Reach::Halfway | Reach::Outermost => near + (reached - near) / 2,
        };
        // A corner may be moved there as it is; if neither may, what else is valid there?
        let mut moved = [side, 1 - side].into_iter().map(|corner| {
            let mut moved = Point::from_slice(&corners[corner]);
            moved[l] = distance(near);
            moved
        });
        let found = match moved.find(|point| search.is_valid(space, point)) {
            Some(point) => Some(point),
            None => {
                let from = distance(if side == 0 { near } else { far });
                let origin = space.origin;
                space.restrict(l, from, from + (far - near) + 1);
                let found = search.valid_point(space, work);
                (space.axes[l], space.origin) = (axis, origin);
                found?.map(|mut point| {
                    point[l] += from;
                    point
                })
            }
        };
        match (found, reach) {
            (Some(point), _) => {
                for (corner, pick) in corners.iter_mut().zip([i64::min, i64::max]) {
                    let mut moved = Point::from_slice(&point);
                    moved.iter_mut().zip(&*corner).for_each(|(i, &at)| *i = pick(*i, at));
                    if moved != point && moved != *corner && !search.is_valid(space, &moved) {
                        return Ok(Some((std::mem::take(corner), point, moved)));
                    }
                    *corner = moved;
                }
            }
            (None, Reach::Outermost) => near = far + 1,
            (None, _) => return Ok(None),
        }
        if let Reach::Halfway = reach {
            return Ok(None);
        }
    }
}

/// The valid points of a pair as solutions of bounded linear equations.
struct Equations<'a> {
    open: &'a [Open],
    /// Whether each of the open digits can be solved for alone, because no two of them depend on one axis.
    apart: bool,
}

impl<'a> Equations<'a> {
    fn of(open: &'a [Open]) -> Self {
        let steps = || {
            open.iter().filter_map(|open| match &open.value {
                Value::Affine(value) | Value::Wrapping(value) => Some(&value.steps),
                Value::Other => None,
            })
        };
        let axes = steps().next().map_or(0, |steps| steps.len());
        let apart =
            steps().count() == open.len() && (0..axes).all(|l| steps().filter(|steps| steps[l] != 0).count() <= 1);
        Equations { open, apart }
    }
}

impl Search for Equations<'_> {
    fn valid_point(&self, part: &Box, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        if !self.apart {
            let open = self.open.iter().map(|Open { digit, .. }| Interval::of(digit, digit.begin, digit.end));
            return point_with_digits(part, &open.collect::<SmallVec<[Interval; 4]>>(), work);
        }
        let mut point = Point::from_elem(0, part.axes.len());
        for open in self.open {
            if !open.solve(part, open.digit.begin, open.digit.end, &mut point, work)? {
                return Ok(None);
            }
        }
        Ok(Some(point))
    }

    fn invalid_point(&self, part: &Box, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        for open in self.open {
            for (begin, end) in [(0, open.digit.begin), (open.digit.end, open.digit.size)] {
                let mut point = Point::from_elem(0, part.axes.len());
                if begin < end && open.solve(part, begin, end, &mut point, work)? {
                    return Ok(Some(point));
                }
            }
        }
        Ok(None)
    }

    fn is_valid(&self, space: &Box, point: &Point) -> bool {
        self.open.iter().all(|open| open.is_valid(space, point))
    }
}

/// The demand that the digit `floor(x / weight) mod size` of a position lie in `begin..end`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interval {
    pub(crate) weight: i64,
    pub(crate) size: i64,
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

impl Interval {
    /// The values of a digit before a step by `stride` that carries out of it (or borrows, going down) or does not,
    /// with or without a carry into it. `None` when there are no such values.
    ///
    /// Going up by `moved` a digit carries if it is at least `size - moved`; going down it borrows if it is less.
    pub(crate) fn before_step(stride: i64, weight: i64, size: i64, carried: bool, carries: bool) -> Option<Interval> {
        let moved = (stride.unsigned_abs() / weight as u64 % size as u64) as i64 + i64::from(carried);
        let (begin, end) = match (stride > 0, carries) {
            (true, true) => (size - moved, size),
            (true, false) => (0, size - moved),
            (false, true) => (0, moved),
            (false, false) => (moved, size),
        };
        (begin < end).then_some(Interval { weight, size, begin, end })
    }

    fn of(digit: &Digit, begin: i64, end: i64) -> Interval {
        Interval { weight: digit.weight, size: digit.size, begin, end }
    }
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
    let largest = space.last();
    terms.push((-free, largest / free + 1));
    let found = solve(&terms, target, work)?;
    Ok(found.map(|values| values[..space.axes.len()].iter().map(|&i| i as i64).collect()))
}
