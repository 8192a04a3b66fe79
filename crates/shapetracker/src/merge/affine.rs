//! Is the address affine on the valid indices, whatever set they are?
//!
//! A single view needs valid indices that are a box. Most stacks that are no single view fail at that alone, and their
//! address is one affine map all the same wherever there is one: an index expression then needs no division.

use shapetracker_base::int::gcd;

use super::level::{Affine, Point};
use super::sample::Sample;
use super::stack::{Demand, Stacked};
use super::system::System;
use super::validity::Search;
use super::work::{OutOfWork, Work};

impl Stacked<'_> {
    /// The address as an affine function of the index that holds at every valid index, if there is one with integer
    /// steps; `None` also when nothing is valid.
    ///
    /// Valid indices that are met at random say what the steps must be: linear equations, which most stacks contradict
    /// at once. What is left is whether some valid index has an address above what these steps say or below it, two
    /// questions of bounded equations. If there is none, the function is proved. An index that answers one of them is one
    /// more equation for the steps, independent of those before, so that this happens once per axis at most.
    pub(crate) fn affine_where_valid(&self, work: &mut Work) -> Result<Option<Affine>, OutOfWork> {
        let space = self.whole();
        let rank = space.axes.len();
        let address = |point: &Point| self.address(space.position(point)).map(i128::from);
        let mut sample = Sample::new();
        let anywhere = std::iter::repeat_with(|| sample.point(&space));
        let corners = [Point::from_elem(0, rank), space.axes.iter().map(|axis| axis.size - 1).collect()];
        let tries = corners.into_iter().chain(anywhere.take(64));
        let mut met: Vec<(Point, i128)> = tries.filter_map(|point| Some((point.clone(), address(&point)?))).collect();
        if met.is_empty() {
            let Some(point) = self.valid_point(&space, work)? else { return Ok(None) };
            met.extend(address(&point).map(|at| (point, at)));
        }
        let Some((origin, at_origin)) = met.first().cloned() else { return Ok(None) };
        let mut steps = Steps { rank, rows: Vec::new() };
        for (point, at) in &met {
            for l in (0..rank).filter(|&l| space.axes[l].size > 1) {
                let mut next = point.clone();
                next[l] += if next[l] + 1 < space.axes[l].size { 1 } else { -1 };
                if address(&next).is_some_and(|to| !steps.agree(point, &next, to - at)) {
                    return Ok(None);
                }
            }
            if !steps.agree(&origin, point, at - at_origin) {
                return Ok(None);
            }
        }
        let mut system = System::default();
        let index = Self::index_variables(&mut system, &space);
        let trace = self.trace(&mut system, &index, Demand::Valid);
        loop {
            let Some(found) = steps.solve() else { return Ok(None) };
            // The affine function at index 0 of the view.
            let reach = |l: usize| i128::from(found[l]) * i128::from(space.axes[l].first + origin[l]);
            let constant = at_origin - (0..rank).map(reach).sum::<i128>();
            let mut against = None;
            for (low, high) in [(1, i128::from(u64::MAX)), (-i128::from(u64::MAX), -1)] {
                let mut system = system.clone();
                let excess = system.variable(low, high);
                let affine = index.iter().zip(&found).map(|(&v, &step)| (v, -i128::from(step)));
                let terms = trace.address.iter().copied().chain(affine).chain([(excess, -1)]);
                system.equation(terms.collect::<Vec<_>>(), constant - trace.offset);
                against = system.solve(work)?;
                if against.is_some() {
                    break;
                }
            }
            let Some(values) = against else { return Ok(Some(Affine { constant, steps: found })) };
            let point: Point = space.axes.iter().zip(&values).map(|(axis, &i)| i as i64 - axis.first).collect();
            if !address(&point).is_some_and(|at| steps.agree(&origin, &point, at - at_origin)) {
                return Ok(None);
            }
        }
    }
}

/// Linear equations for the steps of an affine function, in echelon form: each row has its first coefficient at
/// another axis.
struct Steps {
    rank: usize,
    /// The axis of the first coefficient, the coefficients, and what they sum to.
    rows: Vec<(usize, Vec<i128>, i128)>,
}

impl Steps {
    /// Takes up that the function moves by so much between two indices; false if that contradicts what is known (or
    /// leads to numbers too large to tell).
    fn agree(&mut self, from: &Point, to: &Point, moved: i128) -> bool {
        let mut row: Vec<i128> = from.iter().zip(to).map(|(from, to)| i128::from(to - from)).collect();
        let mut sum = moved;
        while let Some(first) = row.iter().position(|coefficient| *coefficient != 0) {
            let Some((_, known, known_sum)) = self.rows.iter().find(|(axis, ..)| *axis == first) else {
                let common = row.iter().fold(0, |common, coefficient| gcd(common, coefficient.abs()));
                if sum % common != 0 {
                    return false; // No integer steps.
                }
                self.rows.push((first, row.iter().map(|coefficient| coefficient / common).collect(), sum / common));
                return true;
            };
            let (ours, theirs) = (row[first], known[first]);
            let eliminated = |a: i128, b: i128| a.checked_mul(theirs)?.checked_sub(b.checked_mul(ours)?);
            let next: Option<Vec<i128>> = row.iter().zip(known).map(|(&a, &b)| eliminated(a, b)).collect();
            let (Some(next), Some(next_sum)) = (next, eliminated(sum, *known_sum)) else { return false };
            (row, sum) = (next, next_sum);
        }
        sum == 0
    }

    /// Integer steps that satisfy all equations; those that no equation tells are 0.
    fn solve(&self) -> Option<Point> {
        let mut steps = Point::from_elem(0, self.rank);
        for axis in (0..self.rank).rev() {
            let Some((_, row, sum)) = self.rows.iter().find(|(first, ..)| *first == axis) else { continue };
            let mut left = *sum;
            for (coefficient, step) in row.iter().zip(&steps).skip(axis + 1) {
                left = left.checked_sub(coefficient.checked_mul(i128::from(*step))?)?;
            }
            if left % row[axis] != 0 {
                return None;
            }
            steps[axis] = i64::try_from(left / row[axis]).ok()?;
        }
        Some(steps)
    }
}
