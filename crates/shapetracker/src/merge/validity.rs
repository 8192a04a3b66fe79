//! Which indices of a pair are valid, and are they a box?
//!
//! An index is valid where every masked digit of the earlier view lies in its range. A view's mask is a box, so the
//! valid indices must be one. Two ways lead to the answer. A digit that is affine on the box is a linear inequality: it
//! cuts the axes ([`cut_by_digits`]), and where all of it then lies in its range it is done with. For the other digits
//! valid and invalid points are found as solutions of equations ([`decide`]).

use shapetracker_base::int::{div_ceil, div_floor, gcd};
use smallvec::SmallVec;

use super::equation::solve;
use super::level::{Affine, Digit, IndexBox, Level, Point};
use super::terms::Term;
use super::work::{OutOfWork, Work};
use crate::{Dims, View};

/// What the valid indices of a pair are.
pub(crate) enum Validity {
    /// Nothing is valid.
    Empty,
    /// The box, which may be smaller than the one asked about.
    Box(IndexBox),
    /// Not a box: two valid indices, and one between them that is not.
    Hole([Dims; 2], Dims),
}

/// Decides the valid indices of a box of the later view: those at which every masked digit lies in its range.
///
/// First each digit that is affine on the box cuts the axes it depends on, which decides most pairs of real programs.
/// What is left is a question of equations.
pub(crate) fn valid_box(level: &Level, later: &View, work: &mut Work) -> Result<Validity, OutOfWork> {
    let mut space = IndexBox::of(later);
    let mut open = SmallVec::new();
    // Each round works on the box cut by the one before, on which more digits may be affine. Crafted digits could cut
    // off one index at a time in turns: after a few rounds the equations take over, which find the same box.
    for round in 0.. {
        match cut_by_digits(level, &mut space, round < 8, &mut open) {
            Round::Empty => return Ok(Validity::Empty),
            Round::Cut => continue,
            Round::Done if open.is_empty() => break,
            Round::Done => return decide(&Equations::of(&open), later, space, work),
        }
    }
    Ok(Validity::Box(space))
}

/// What a round of cutting leaves.
enum Round {
    /// Nothing is valid.
    Empty,
    /// The box became smaller, and some digit is still open.
    Cut,
    /// The box is as it was, or no digit is open any more.
    Done,
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
    fn is_valid(&self, space: &IndexBox, point: &[i64]) -> bool {
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

    /// Whether there is a point of a box at which the digit lies in `begin..end`. Sets the entries of the point on which
    /// the digit depends, and leaves the others as they are.
    fn solve(
        &self,
        part: &IndexBox,
        begin: i64,
        end: i64,
        point: &mut Point,
        work: &mut Work,
    ) -> Result<bool, OutOfWork> {
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
fn cut_by_digits(level: &Level, space: &mut IndexBox, may_cut: bool, open: &mut SmallVec<[Open; 4]>) -> Round {
    open.clear();
    let mut any_cut = false;
    for (j, digit) in level.digits.iter().enumerate().filter(|(_, digit)| digit.is_masked()) {
        let outermost = j + 1 == level.digits.len();
        let mut digit = *digit;
        let mut value = value_of(&digit, outermost, space);
        if let Value::Wrapping(_) | Value::Other = value {
            // A digit to which axes were joined may be masked in whole blocks. Then the number of the block says as
            // much, and as a digit of larger weight it is more often affine.
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
    if any_cut && !open.is_empty() { Round::Cut } else { Round::Done }
}

/// Where the values of an affine digit lie on a box that was cut by it; and whether the box became smaller.
enum Cut {
    /// None in its valid range.
    Empty,
    /// All in its valid range.
    Inside(bool),
    /// Some in it and some not, with nothing left that a cut along an axis would take away.
    Straddles(bool),
}

/// A digit on a box, in terms of the point of the box: affine exactly if both quotients that it is made of are, by the
/// weight and by the weight of the digit above.
fn value_of(digit: &Digit, outermost: bool, space: &IndexBox) -> Value {
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
fn range_of(value: &Affine, space: &IndexBox) -> (i128, i128) {
    let steps = space.axes.iter().zip(&value.steps);
    steps.fold((value.constant, value.constant), |(low, high), (axis, &step)| {
        let reach = i128::from(step) * i128::from(axis.size - 1);
        (low + reach.min(0), high + reach.max(0))
    })
}

/// Cuts the axes of a box to where an affine digit can lie in its valid range.
fn cut(space: &mut IndexBox, value: &mut Affine, digit: &Digit, may_cut: bool) -> Cut {
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
    fn valid_point(&self, part: &IndexBox, work: &mut Work) -> Result<Option<Point>, OutOfWork>;

    /// Some point of a part of a box that is not valid.
    fn invalid_point(&self, part: &IndexBox, work: &mut Work) -> Result<Option<Point>, OutOfWork>;

    /// Whether a point of a box is valid.
    fn is_valid(&self, space: &IndexBox, point: &Point) -> bool;
}

/// Decides whether the valid points of a box of a view's indices are a box.
///
/// A set is a box exactly if it contains, with any two of its points, the componentwise smallest and largest of them
/// and all that lies between. So the smallest and largest of the valid points found so far are kept: the two corners,
/// which must be valid themselves, so that a hole usually shows after a few points. They are moved outwards ever more
/// thoroughly, and after each pass an invalid point between them is looked for. When the last pass is done they are the
/// corners of the bounding box of all valid points, and nothing between them is invalid.
pub(crate) fn decide<S: Search>(
    search: &S,
    later: &View,
    space: IndexBox,
    work: &mut Work,
) -> Result<Validity, OutOfWork> {
    let low = Point::from_elem(0, space.axes.len());
    let high: Point = space.axes.iter().map(|axis| axis.size - 1).collect();
    let corners = match (search.is_valid(&space, &low), search.is_valid(&space, &high)) {
        (true, true) => [low, high],
        (true, false) => [low.clone(), low],
        (false, true) => [high.clone(), high],
        (false, false) => match search.valid_point(&space, work)? {
            Some(point) => [point.clone(), point],
            None => return Ok(Validity::Empty),
        },
    };
    let hole = |space: &IndexBox, [a, b]: [&Point; 2], invalid: &Point| {
        Ok(Validity::Hole([space.index(a, later), space.index(b, later)], space.index(invalid, later)))
    };
    let mut bounding = Bounding { search, space: &space, corners };
    let mut full = None;
    for reach in [Reach::Bound, Reach::Halfway, Reach::Outermost] {
        for (l, side) in (0..space.axes.len()).flat_map(|l| [(l, 0), (l, 1)]) {
            if let Some((corner, point, between)) = bounding.stretch(l, side, reach, work)? {
                return hole(&space, [&corner, &point], &between);
            }
        }
        if full.as_ref() == Some(&bounding.corners) {
            continue; // Nothing between the corners is invalid: that was asked already.
        }
        let [low, high] = &bounding.corners;
        if let Some(mut point) = search.invalid_point(&between(&space, low, high), work)? {
            point.iter_mut().zip(low).for_each(|(i, from)| *i += from);
            return hole(&space, [low, high], &point);
        }
        full = Some(bounding.corners.clone());
    }
    let [low, high] = &bounding.corners;
    Ok(Validity::Box(between(&space, low, high)))
}

/// The box of all points between two corners, both of them included.
fn between(space: &IndexBox, low: &Point, high: &Point) -> IndexBox {
    let mut part = space.clone();
    for (l, (&from, &to)) in low.iter().zip(high).enumerate() {
        part.restrict(l, from, to + 1);
    }
    part
}

/// How far outwards a corner is moved.
#[derive(Clone, Copy)]
enum Reach {
    /// To the bound of the box, if there are valid points at it. After the cuts there usually are.
    Bound,
    /// Half the way to the bound or more, if there are valid points there.
    Halfway,
    /// To the outermost valid points, by bisection: along an axis and side, whether any valid point lies further out is
    /// one equation, and the answers are monotone.
    Outermost,
}

/// The bounding box of the valid points of a box, as far as it is known.
struct Bounding<'a, S> {
    search: &'a S,
    space: &'a IndexBox,
    /// The componentwise smallest and largest of the valid points found so far.
    corners: [Point; 2],
}

impl<S: Search> Bounding<'_, S> {
    /// Moves a corner outwards along axis `l`: corner 0 down, corner 1 up.
    ///
    /// Returns two valid points and an invalid one between them, if the search comes across such.
    fn stretch(
        &mut self,
        l: usize,
        side: usize,
        reach: Reach,
        work: &mut Work,
    ) -> Result<Option<(Point, Point, Point)>, OutOfWork> {
        let last = self.space.axes[l].size - 1;
        // In terms of the distance from the bound, for both sides alike. The bound itself is tried at first.
        let distance = |at: i64| if side == 0 { at } else { last - at };
        let mut near = i64::from(!matches!(reach, Reach::Bound));
        loop {
            let reached = distance(self.corners[side][l]);
            if reached <= near {
                return Ok(None);
            }
            let far = match reach {
                Reach::Bound => near,
                Reach::Halfway | Reach::Outermost => near + (reached - near) / 2,
            };
            // A corner may be moved there as it is; if neither may, what else is valid there?
            let mut moved = [side, 1 - side].into_iter().map(|corner| {
                let mut moved = Point::from_slice(&self.corners[corner]);
                moved[l] = distance(near);
                moved
            });
            let found = match moved.find(|point| self.search.is_valid(self.space, point)) {
                Some(point) => Some(point),
                None => {
                    let from = distance(if side == 0 { near } else { far });
                    let mut slab = self.space.clone();
                    slab.restrict(l, from, from + (far - near) + 1);
                    self.search.valid_point(&slab, work)?.map(|mut point| {
                        point[l] += from;
                        point
                    })
                }
            };
            match (found, reach) {
                (Some(point), _) => {
                    if let Some(hole) = self.include(point) {
                        return Ok(Some(hole));
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

    /// Moves the corners so that a valid point lies between them. If the componentwise smallest or largest of a corner
    /// and the point is not valid, the three are a hole.
    fn include(&mut self, point: Point) -> Option<(Point, Point, Point)> {
        for (corner, pick) in self.corners.iter_mut().zip([i64::min, i64::max]) {
            let mut moved = Point::from_slice(&point);
            moved.iter_mut().zip(&*corner).for_each(|(i, &at)| *i = pick(*i, at));
            if moved != point && moved != *corner && !self.search.is_valid(self.space, &moved) {
                return Some((std::mem::take(corner), point, moved));
            }
            *corner = moved;
        }
        None
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
    fn valid_point(&self, part: &IndexBox, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
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

    fn invalid_point(&self, part: &IndexBox, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
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

    fn is_valid(&self, space: &IndexBox, point: &Point) -> bool {
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
    fn of(digit: &Digit, begin: i64, end: i64) -> Interval {
        Interval { weight: digit.weight, size: digit.size, begin, end }
    }
}

/// A point of a box whose position has digits in the given intervals, sorted by weight; all other digits are free.
pub(crate) fn point_with_digits(
    space: &IndexBox,
    intervals: &[Interval],
    work: &mut Work,
) -> Result<Option<Point>, OutOfWork> {
    let mut terms: SmallVec<[Term; 16]> = SmallVec::new();
    terms.extend(space.axes.iter().map(|axis| (i128::from(axis.stride), i128::from(axis.size))));
    let mut target = -i128::from(space.origin);
    // The position is the sum of its digits times their weights. Runs of digits below, between and above the intervals
    // are one free digit each, so that the equation has one term per axis and two per interval, and one for the top.
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
