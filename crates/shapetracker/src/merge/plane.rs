//! Is the address affine on the valid indices, whatever set they are?

use super::equation::{OutOfWork, Work};
use super::level::{Affine, Point};
use super::stack::{Demand, Stacked};
use super::system::System;
use super::validity::Search;

impl Stacked<'_> {
    /// The address as an affine function of the index that holds at every valid index, if there is one with integer
    /// steps; `None` also when nothing is valid.
    ///
    /// A guess is made from valid indices that are met on a walk: most stacks refute it at once. What is left is whether
    /// some valid index has an address above the guess or below it, two questions of equations; an index that answers
    /// one of them corrects the guess where that is still open.
    pub(crate) fn plane(&self, work: &mut Work) -> Result<Option<Affine>, OutOfWork> {
        let space = self.whole();
        let rank = space.axes.len();
        let address = |point: &Point| self.address(space.position(point)).map(i128::from);
        let mut state = 1u64;
        let mut draw = |bound: i64| {
            // The high bits of a linear congruence.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64 % bound
        };
        let mut anywhere = || space.axes.iter().map(|axis| draw(axis.size)).collect::<Point>();
        let corners = [Point::from_elem(0, rank), space.axes.iter().map(|axis| axis.size - 1).collect()];
        let tries = corners.into_iter().chain(std::iter::repeat_with(&mut anywhere).take(64));
        let mut met: Vec<(Point, i128)> = tries.filter_map(|point| Some((point.clone(), address(&point)?))).collect();
        if met.is_empty() {
            let Some(point) = self.valid_point(&space, work)? else { return Ok(None) };
            met.extend(address(&point).map(|at| (point.clone(), at)));
        }
        let mut steps: Vec<Option<i64>> = vec![None; rank];
        for (point, at) in &met {
            for l in (0..rank).filter(|&l| space.axes[l].size > 1) {
                let mut next = point.clone();
                next[l] += if next[l] + 1 < space.axes[l].size { 1 } else { -1 };
                let Some(moved) = address(&next).map(|to| (to - at) * i128::from(next[l] - point[l])) else { continue };
                let Ok(moved) = i64::try_from(moved) else { return Ok(None) };
                if steps[l].is_some_and(|known| known != moved) {
                    return Ok(None);
                }
                steps[l] = Some(moved);
            }
        }
        let Some((origin, at_origin)) = met.first().cloned() else { return Ok(None) };
        let at = |steps: &[Option<i64>], point: &Point| {
            let moved = steps.iter().zip(point.iter().zip(&origin));
            let moved = moved.map(|(step, (to, from))| i128::from(step.unwrap_or(0)) * i128::from(to - from));
            at_origin + moved.sum::<i128>()
        };
        // Puts right the guess at a valid index along an axis that is still open; false when the index refutes it.
        let correct = |steps: &mut Vec<Option<i64>>, point: &Point, address: i128| {
            let missing = address - at(steps, point);
            let open = (0..rank).find(|&l| steps[l].is_none() && point[l] != origin[l]);
            match open {
                _ if missing == 0 => true,
                Some(l) if missing % i128::from(point[l] - origin[l]) == 0 => {
                    steps[l] = i64::try_from(missing / i128::from(point[l] - origin[l])).ok();
                    steps[l].is_some()
                }
                _ => false,
            }
        };
        // Indices that differ from the first along one open axis tell its step; then others may.
        while let Some((point, address)) = met.iter().find(|(point, address)| {
            let open = (0..rank).filter(|&l| steps[l].is_none() && point[l] != origin[l]).count();
            open == 1 && *address != at(&steps, point)
        }) {
            if !correct(&mut steps, point, *address) {
                return Ok(None);
            }
        }
        for (point, address) in &met {
            if !correct(&mut steps, point, *address) {
                return Ok(None);
            }
        }
        let mut system = System::default();
        let index = Self::index_variables(&mut system, &space);
        let trace = self.trace(&mut system, &index, Demand::Valid);
        loop {
            let constant = at(&steps, &Point::from_elem(0, rank));
            let found = [(1, i128::from(u64::MAX)), (-i128::from(u64::MAX), -1)].into_iter().map(|(low, high)| {
                let mut system = system.clone();
                let excess = system.variable(low, high);
                let plane = index.iter().zip(&steps).map(|(&v, step)| (v, -i128::from(step.unwrap_or(0))));
                let terms = trace.address.iter().copied().chain(plane).chain([(excess, -1)]);
                // The index variables count from 0, not from the first valid index.
                let first: i128 = space
                    .axes
                    .iter()
                    .zip(&steps)
                    .map(|(axis, step)| i128::from(step.unwrap_or(0)) * i128::from(axis.first))
                    .sum();
                system.equation(terms.collect::<Vec<_>>(), constant - first - trace.offset);
                system.solve(work)
            });
            let mut against = None;
            for found in found {
                against = against.or(found?);
            }
            let Some(values) = against else {
                let steps = steps.iter().map(|step| step.unwrap_or(0)).collect::<Point>();
                let first =
                    steps.iter().zip(&space.axes).map(|(&step, axis)| i128::from(step) * i128::from(axis.first));
                let constant = constant - first.sum::<i128>();
                return Ok(Some(Affine { constant, steps }));
            };
            let point: Point = space.axes.iter().zip(&values).map(|(axis, &i)| i as i64 - axis.first).collect();
            if !address(&point).is_some_and(|address| correct(&mut steps, &point, address)) {
                return Ok(None);
            }
        }
    }
}
