//! What is asked of a stack of views besides whether it is one.

use super::level::{Axis, IndexBox, Point};
use super::stack::{Demand, Sought, Stacked};
use super::system::System;
use super::validity::Search;
use super::work::{OutOfWork, Work};
use crate::Dims;

impl Stacked<'_> {
    /// Whether validity depends on an axis: some valid index turns invalid when its entry there changes.
    pub(crate) fn is_masked(&self, axis: usize, work: &mut Work) -> Result<bool, OutOfWork> {
        let space = self.whole();
        let Some(first) = self.valid_point(&space, work)? else { return Ok(false) };
        if self.later.range(axis) != (0, self.later.shape()[axis]) {
            return Ok(true);
        }
        // The valid point that is at hand usually tells; else any change along the axis shows in a unit step.
        for end in [0, space.axes[axis].size - 1] {
            let mut other = first.clone();
            other[axis] = end;
            if !self.is_valid(&space, &other) {
                return Ok(true);
            }
        }
        for (back, (from, to)) in [(false, (0, 1)), (true, (1, 0))] {
            let mut starts = space.clone();
            starts.restrict(axis, from, starts.axes[axis].size - to);
            if starts.axes[axis].size > 0 && self.step(&starts, axis, back, Sought::Invalid, work)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The stride of an axis along which the address is affine on the valid indices; 0 where no two of them differ in
    /// that axis alone.
    pub(crate) fn stride(&self, axis: usize, work: &mut Work) -> Result<Option<i64>, OutOfWork> {
        let space = self.whole();
        if space.axes[axis].stride == 0 || space.axes[axis].size == 1 {
            return Ok(Some(0));
        }
        // Two valid indices that differ in this axis alone, `apart` indices apart, and the addresses there.
        let mut system = System::default();
        let here = Self::index_variables(&mut system, &space);
        let mut there = here.clone();
        there[axis] = system.variable(space.axes[axis].first.into(), system.bounds[here[axis]].1);
        let apart = system.variable(1, i128::from(space.axes[axis].size) - 1);
        system.equation([(there[axis], 1), (here[axis], -1), (apart, -1)], 0);
        let traces = [&here, &there].map(|index| self.trace(&mut system, index, Demand::Valid));
        let moved = |values: &[i128]| traces[1].sum(values) - traces[0].sum(values);
        // Neighbours come first: they tell the stride, and whether all of them agree.
        let mut adjacent = system.bounds.clone();
        adjacent[apart] = (1, 1);
        let (some, neighbours) = match system.within(adjacent, work)? {
            Some(values) => (values, true),
            None => match system.solve(work)? {
                Some(values) => (values, false),
                None => return Ok(Some(0)),
            },
        };
        if moved(&some) % some[apart] != 0 {
            return Ok(None);
        }
        let stride = moved(&some) / some[apart];
        let mut starts = space.clone();
        starts.restrict(axis, 0, space.axes[axis].size - 1);
        if neighbours && self.step(&starts, axis, false, Sought::Unlike(stride), work)?.is_some() {
            return Ok(None);
        }
        if self.is_masked(axis, work)? {
            // There may be gaps, over which no chain of neighbours leads.
            for past in [(1, i128::from(u64::MAX)), (-i128::from(u64::MAX), -1)] {
                let mut system = system.clone();
                let excess = system.variable(past.0, past.1);
                let minus = traces[0].address.iter().map(|&(v, weight)| (v, -weight));
                let terms = traces[1].address.iter().copied().chain(minus).chain([(apart, -stride), (excess, -1)]);
                system.equation(terms.collect::<Vec<_>>(), 0);
                if system.solve(work)?.is_some() {
                    return Ok(None);
                }
            }
        }
        Ok(i64::try_from(stride).ok())
    }

    /// Whether all indices are valid, or none is; `None` when it depends on the index.
    pub(crate) fn validity(&self, work: &mut Work) -> Result<Option<bool>, OutOfWork> {
        let space = self.whole();
        let inside = |axis: usize| self.later.range(axis) == (0, self.later.shape()[axis]);
        if (0..space.axes.len()).all(inside) && self.invalid_point(&space, work)?.is_none() {
            return Ok(Some(true));
        }
        Ok(if self.valid_point(&space, work)?.is_none() { Some(false) } else { None })
    }

    /// Some valid index.
    pub(crate) fn some_valid(&self, work: &mut Work) -> Result<Option<Dims>, OutOfWork> {
        let space = self.whole();
        Ok(self.valid_point(&space, work)?.map(|point| space.index(&point, self.later)))
    }

    /// The lowest and the highest address that a valid index reads.
    pub(crate) fn address_range(&self, work: &mut Work) -> Result<Option<(i64, i64)>, OutOfWork> {
        let mut system = System::default();
        let index = Self::index_variables(&mut system, &self.whole());
        let trace = self.trace(&mut system, &index, Demand::Valid);
        let address = system.variable(i64::MIN.into(), i64::MAX.into());
        let minus = trace.address.iter().map(|&(v, weight)| (v, -weight));
        system.equation(minus.chain([(address, 1)]).collect::<Vec<_>>(), trace.offset);
        let Some(some) = system.solve(work)? else { return Ok(None) };
        // What the digits could read if they were free bounds the search.
        let reach = |pick: fn(i128, i128) -> i128| {
            let ends = trace.address.iter().map(|&(v, weight)| {
                let (low, high) = system.bounds[v];
                pick(weight * low, weight * high)
            });
            trace.offset + ends.sum::<i128>()
        };
        let mut found = [some[address]; 2];
        for (side, bound) in [reach(i128::min), reach(i128::max)].into_iter().enumerate() {
            let mut bound = bound;
            let mut probe = bound;
            while found[side] != bound {
                let mut bounds = system.bounds.clone();
                bounds[address] = (probe.min(bound), probe.max(bound));
                match system.within(bounds, work)? {
                    Some(values) => found[side] = values[address],
                    None => bound = probe + if side == 0 { 1 } else { -1 },
                }
                probe = found[side] + (bound - found[side]) / 2;
                if probe == found[side] {
                    probe = bound;
                }
            }
        }
        Ok(Some((found[0] as i64, found[1] as i64)))
    }

    /// Two valid indices that read the same address.
    pub(crate) fn collision(&self, work: &mut Work) -> Result<Option<[Dims; 2]>, OutOfWork> {
        self.collision_over(false, work)
    }

    /// The same over views of which, with `injective`, it is known that no two positions have one address: then two indices
    /// collide where they have one position, and one of them is valid.
    pub(crate) fn collision_over(&self, injective: bool, work: &mut Work) -> Result<Option<[Dims; 2]>, OutOfWork> {
        let space = self.whole();
        for l in (0..space.axes.len()).filter(|&l| space.axes[l].size > 1) {
            // The indices agree before axis l, and the second is larger there.
            let mut system = System::default();
            if self.levels.is_empty() {
                // One view: only how far apart they are on each axis matters.
                let apart: Vec<usize> = (space.axes[l..].iter().enumerate())
                    .map(|(k, axis)| {
                        let most = i128::from(axis.size) - 1;
                        system.variable(if k == 0 { 1 } else { -most }, most)
                    })
                    .collect();
                let strides = space.axes[l..].iter().map(|axis| i128::from(axis.stride));
                system.equation(apart.into_iter().zip(strides).collect::<Vec<_>>(), 0);
                if let Some(values) = system.solve(work)? {
                    let mut indices = [(); 2].map(|()| space.axes.iter().map(|axis| axis.first).collect::<Dims>());
                    for (axis, apart) in (l..).zip(values) {
                        indices[usize::from(apart > 0)][axis] += apart.abs() as i64;
                    }
                    return Ok(Some(indices));
                }
                continue;
            }
            let here = Self::index_variables(&mut system, &space);
            let there: Vec<usize> = (0..here.len())
                .map(|axis| {
                    let (low, high) = system.bounds[here[axis]];
                    if axis < l { here[axis] } else { system.variable(low, high) }
                })
                .collect();
            let apart = system.variable(1, i128::from(space.axes[l].size) - 1);
            system.equation([(there[l], 1), (here[l], -1), (apart, -1)], 0);
            if injective {
                self.trace(&mut system, &here, Demand::Valid);
                let position = (l..here.len()).flat_map(|k| {
                    let stride = i128::from(space.axes[k].stride);
                    [(here[k], stride), (there[k], -stride)]
                });
                system.equation(position.collect::<Vec<_>>(), 0);
            } else {
                let [a, b] = [&here, &there].map(|index| self.trace(&mut system, index, Demand::Valid));
                let minus = b.address.iter().map(|&(v, weight)| (v, -weight));
                system.equation(a.address.iter().copied().chain(minus).collect::<Vec<_>>(), 0);
            }
            if let Some(values) = system.solve(work)? {
                let index = |variables: &[usize]| variables.iter().map(|&v| values[v] as i64).collect();
                return Ok(Some([index(&here), index(&there)]));
            }
        }
        Ok(None)
    }

    /// A valid index of this stack and one of another, which read the same address of one buffer.
    pub(crate) fn meeting(&self, other: &Stacked<'_>, work: &mut Work) -> Result<Option<[Dims; 2]>, OutOfWork> {
        let mut system = System::default();
        let here = Self::index_variables(&mut system, &self.whole());
        let there = Self::index_variables(&mut system, &other.whole());
        let a = self.trace(&mut system, &here, Demand::Valid);
        let b = other.trace(&mut system, &there, Demand::Valid);
        let minus = b.address.iter().map(|&(v, weight)| (v, -weight));
        system.equation(a.address.iter().copied().chain(minus).collect::<Vec<_>>(), b.offset - a.offset);
        let index = |values: &[i128], variables: &[usize]| variables.iter().map(|&v| values[v] as i64).collect();
        Ok(system.solve(work)?.map(|values| [index(&values, &here), index(&values, &there)]))
    }

    /// An index that is valid in one stack alone, or at which the two read different addresses. The shapes are equal.
    pub(crate) fn difference(&self, other: &Stacked<'_>, work: &mut Work) -> Result<Option<Dims>, OutOfWork> {
        for (one, another) in [(self, other), (other, self)] {
            if let Some(index) = one.valid_only_here(another, work)? {
                return Ok(Some(index));
            }
        }
        for past in [(1, i128::from(u64::MAX)), (-i128::from(u64::MAX), -1)] {
            let mut system = System::default();
            let index = Self::index_variables(&mut system, &self.whole());
            let [a, b] = [self, other].map(|stack| stack.trace(&mut system, &index, Demand::Valid));
            let excess = system.variable(past.0, past.1);
            let minus = b.address.iter().map(|&(v, weight)| (v, -weight));
            let terms = a.address.iter().copied().chain(minus).chain([(excess, -1)]);
            system.equation(terms.collect::<Vec<_>>(), b.offset - a.offset);
            if let Some(values) = system.solve(work)? {
                return Ok(Some(index.iter().map(|&v| values[v] as i64).collect()));
            }
        }
        Ok(None)
    }

    /// An index that is valid here and not in the other stack.
    fn valid_only_here(&self, other: &Stacked<'_>, work: &mut Work) -> Result<Option<Dims>, OutOfWork> {
        let whole = self.whole();
        let index = |part: &IndexBox, point: Point| Some(part.index(&point, self.later));
        let mut inside = whole.clone();
        for l in 0..whole.axes.len() {
            let (begin, end) = other.later.range(l);
            let Axis { first, size, .. } = whole.axes[l];
            for (from, to) in [(0, (begin - first).min(size)), ((end - first).max(0), size)] {
                if from < to {
                    let mut outside = whole.clone();
                    outside.restrict(l, from, to);
                    if let Some(point) = self.valid_point(&outside, work)? {
                        return Ok(index(&outside, point));
                    }
                }
            }
            let first = inside.axes[l].first;
            let (from, to) = ((begin - first).max(0), (end - first).min(size));
            if from >= to {
                return Ok(None); // No valid index of this stack lies in the other one's box, nor outside it.
            }
            inside.restrict(l, from, to);
        }
        for demand in other.outsides() {
            let mut system = System::default();
            let variables = Self::index_variables(&mut system, &inside);
            self.trace(&mut system, &variables, Demand::Valid);
            other.trace(&mut system, &variables, demand);
            if let Some(values) = system.solve(work)? {
                return Ok(Some(variables.iter().map(|&v| values[v] as i64).collect()));
            }
        }
        Ok(None)
    }
}
