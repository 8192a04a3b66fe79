//! Stacks of any height, and two stacks at once: the exact questions that a pair's equations do not cover.
//!
//! A stack is a chain of digits: the digits of one view, through its strides, make the position whose digits the next
//! view reads. Each view adds one equation to a [`System`].

use smallvec::SmallVec;

use super::equation::{OutOfWork, Work};
use super::level::{Axis, Box, Level, Point};
use super::system::System;
use super::validity::{Search, Validity, decide};
use super::{Step, Unmerged, Witness};
use crate::error::{Error, Fault};
use crate::{Dims, Ranges, View};

/// A stack of views with something valid in each: the last one, and the digits of those below it, top down.
pub(crate) struct Stacked<'a> {
    later: &'a View,
    levels: SmallVec<[Level; 4]>,
}

/// Where the index variables and the digits of a stack stand in a system, and the address as a sum of them.
struct Trace {
    /// The digit variables of each level, innermost first.
    digits: Vec<Vec<usize>>,
    address: Vec<(usize, i128)>,
    offset: i128,
}

/// What a system is to say of a stack.
#[derive(Clone, Copy)]
enum Demand {
    /// The index is valid.
    Valid,
    /// The digit `digit` of level `level` is the first to be out of its range, and lies in `begin..end`.
    Outside { level: usize, digit: usize, begin: i64, end: i64 },
}

impl<'a> Stacked<'a> {
    /// The stack of views, the first next to memory; `None` if one of them has nothing valid.
    pub(crate) fn of(views: &'a [View]) -> Option<Self> {
        let (later, below) = views.split_last()?;
        if views.iter().any(View::is_empty) {
            return None;
        }
        Some(Stacked { later, levels: below.iter().rev().map(Level::of).collect() })
    }

    /// The valid indices of the last view as a box, with every axis in it.
    fn whole(&self) -> Box {
        let axes = (0..self.later.rank()).map(|axis| {
            let (first, end) = self.later.range(axis);
            Axis { axis, stride: self.later.strides()[axis], first, size: end - first }
        });
        let first = axes.clone().fold(i128::from(self.later.offset()), |position, axis| {
            position + i128::from(axis.stride) * i128::from(axis.first)
        });
        Box { axes: axes.collect(), origin: first as i64 }
    }

    /// The address at a position of the last view, or `None` where it is masked.
    fn address(&self, position: i64) -> Option<i64> {
        self.levels
            .iter()
            .try_fold(position, |position, level| level.is_valid(position).then(|| level.address(position) as i64))
    }

    /// One index variable an axis, bounded by a box.
    fn index_variables(system: &mut System, part: &Box) -> Vec<usize> {
        let bounds = part.axes.iter().map(|axis| (axis.first, axis.first + axis.size - 1));
        bounds.map(|(first, last)| system.variable(first.into(), last.into())).collect()
    }

    /// Adds the equations of the stack's digits, given the index variables.
    fn trace(&self, system: &mut System, index: &[usize], demand: Demand) -> Trace {
        let mut sum: Vec<(usize, i128)> =
            index.iter().zip(self.later.strides()).map(|(&v, &stride)| (v, stride.into())).collect();
        let mut offset = i128::from(self.later.offset());
        let mut digits = Vec::new();
        for (k, level) in self.levels.iter().enumerate() {
            let last = matches!(demand, Demand::Outside { level, .. } if level == k);
            let variables: Vec<usize> = (level.digits.iter().enumerate())
                .map(|(j, digit)| {
                    let (begin, end) = match demand {
                        Demand::Outside { digit, begin, end, .. } if last && digit == j => (begin, end),
                        _ if last => (0, digit.size),
                        _ => (digit.begin, digit.end),
                    };
                    system.variable(begin.into(), i128::from(end) - 1)
                })
                .collect();
            let weights = variables.iter().zip(&level.digits).map(|(&v, digit)| (v, -i128::from(digit.weight)));
            system.equation(sum.into_iter().chain(weights), -offset);
            sum = variables.iter().zip(&level.digits).map(|(&v, digit)| (v, digit.stride.into())).collect();
            offset = level.offset;
            digits.push(variables);
            if last {
                break;
            }
        }
        Trace { digits, address: sum, offset }
    }

    /// The ways for an index of the last view's box to be invalid.
    fn outsides(&self) -> impl Iterator<Item = Demand> + '_ {
        self.levels.iter().enumerate().flat_map(|(level, digits)| {
            digits.digits.iter().enumerate().flat_map(move |(digit, d)| {
                [(0, d.begin), (d.end, d.size)]
                    .into_iter()
                    .filter(|(begin, end)| begin < end)
                    .map(move |(begin, end)| Demand::Outside { level, digit, begin, end })
            })
        })
    }

    fn point(&self, part: &Box, demand: Demand, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        let mut system = System::default();
        let index = Self::index_variables(&mut system, part);
        self.trace(&mut system, &index, demand);
        let found = system.solve(work)?;
        Ok(found.map(|values| part.axes.iter().zip(values).map(|(axis, i)| i as i64 - axis.first).collect()))
    }

    /// A witness that comes up on a short random walk through the valid points, if one of them is soon found.
    ///
    /// Most stacks that are no single view end here, and none that is one gets further by it: this only saves time.
    fn glance(&self, space: &Box) -> Option<Witness> {
        let axes: SmallVec<[usize; 8]> = (0..space.axes.len()).filter(|&l| space.axes[l].size > 1).collect();
        let mut state = 1u64;
        let mut draw = |bound: i64| {
            // The high bits of a linear congruence.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64 % bound
        };
        let is_valid = |point: &Point| self.address(space.position(point)).is_some();
        let zero = Point::from_elem(0, space.axes.len());
        let mut anywhere = || space.axes.iter().map(|axis| draw(axis.size)).collect();
        let start = std::iter::once(zero).chain(std::iter::repeat_with(&mut anywhere).take(64)).find(is_valid)?;
        let mut at = start.clone();
        let mut corners = [at.clone(), at.clone()];
        let mut known: Vec<Option<Step>> = vec![None; space.axes.len()];
        for _ in 0..if axes.is_empty() { 0 } else { 96 } {
            let from = self.address(space.position(&at))?;
            for (corner, pick) in corners.iter_mut().zip([i64::min, i64::max]) {
                let moved: Point = corner.iter().zip(&at).map(|(&a, &b)| pick(a, b)).collect();
                if self.address(space.position(&moved)).is_none() {
                    let valid = [&*corner, &at].map(|point| space.index(point, self.later));
                    return Some(Witness::NotABox { valid, invalid: space.index(&moved, self.later) });
                }
                *corner = moved;
            }
            for &l in axes.iter().filter(|&&l| at[l] + 1 < space.axes[l].size) {
                let Some(to) = self.address(space.position(&at) + space.axes[l].stride) else { continue };
                let moved = |step: &Step| i128::from(step.to) - i128::from(step.from);
                let step = Step { index: space.index(&at, self.later), from, to };
                match &known[l] {
                    None => known[l] = Some(step),
                    Some(first) if moved(first) != moved(&step) => {
                        return Some(Witness::UnevenStep { axis: space.axes[l].axis, steps: [first.clone(), step] });
                    }
                    Some(_) => {}
                }
            }
            // Move a coordinate or two: one further, to an end, or anywhere.
            for _ in 0..4 {
                let mut next = at.clone();
                for _ in 0..=draw(2) {
                    let l = axes[draw(axes.len() as i64) as usize];
                    let size = space.axes[l].size;
                    next[l] = match draw(5) {
                        0 => 0,
                        1 => size - 1,
                        2 => (at[l] + 1).min(size - 1),
                        3 => (at[l] - 1).max(0),
                        _ => draw(size),
                    };
                }
                if self.address(space.position(&next)).is_some() {
                    at = next;
                    break;
                }
                let [low, high] = &corners;
                if next.iter().zip(low.iter().zip(high)).all(|(i, (low, high))| low <= i && i <= high) {
                    let valid = [low, high].map(|point| space.index(point, self.later));
                    return Some(Witness::NotABox { valid, invalid: space.index(&next, self.later) });
                }
            }
        }
        None
    }

    /// A valid index in a box of starts from which a unit step along axis `l`, backwards if asked, is as sought.
    fn step(
        &self,
        starts: &Box,
        l: usize,
        back: bool,
        sought: Sought,
        work: &mut Work,
    ) -> Result<Option<Point>, OutOfWork> {
        let mut system = System::default();
        let index = Self::index_variables(&mut system, starts);
        let trace = self.trace(&mut system, &index, Demand::Valid);
        let stride = i128::from(starts.axes[l].stride);
        let pattern = Pattern { bounds: system.bounds.clone(), carry: false, next: 0, left: false };
        let mut walk = Walk { levels: &self.levels, digits: &trace.digits, system: &system, sought, work };
        let found = walk.level(0, if back { -stride } else { stride }, pattern)?;
        Ok(found.map(|values| starts.axes.iter().zip(values).map(|(axis, i)| i as i64 - axis.first).collect()))
    }

    /// Two unit steps in a box of valid indices that move the address by different amounts.
    fn uneven_steps(&self, space: &Box, work: &mut Work) -> Result<Option<(usize, [Point; 2])>, OutOfWork> {
        let corner = Point::from_elem(0, space.axes.len());
        for (l, axis) in space.axes.iter().enumerate().filter(|(_, axis)| axis.size > 1 && axis.stride != 0) {
            let ends = [space.origin, space.origin + axis.stride].map(|position| self.address(position));
            let [Some(from), Some(to)] = ends else { continue };
            let expected = i128::from(to) - i128::from(from);
            let mut starts = space.clone();
            starts.restrict(l, 0, axis.size - 1);
            if let Some(at) = self.step(&starts, l, false, Sought::Unlike(expected), work)? {
                return Ok(Some((l, [corner, at])));
            }
        }
        Ok(None)
    }
}

/// Questions about a stack whose answer is not a view.
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
            let [a, b] = [&here, &there].map(|index| self.trace(&mut system, index, Demand::Valid));
            let minus = b.address.iter().map(|&(v, weight)| (v, -weight));
            system.equation(a.address.iter().copied().chain(minus).collect::<Vec<_>>(), 0);
            if let Some(values) = system.solve(work)? {
                let index = |variables: &[usize]| variables.iter().map(|&v| values[v] as i64).collect();
                return Ok(Some([index(&here), index(&there)]));
            }
        }
        Ok(None)
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
        let index = |part: &Box, point: Point| Some(part.index(&point, self.later));
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

impl Trace {
    /// The address, given the values of all variables.
    fn sum(&self, values: &[i128]) -> i128 {
        self.address.iter().map(|&(v, weight)| weight * values[v]).sum::<i128>() + self.offset
    }
}

impl Search for Stacked<'_> {
    fn valid_point(&self, part: &Box, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        self.point(part, Demand::Valid, work)
    }

    fn invalid_point(&self, part: &Box, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        for demand in self.outsides() {
            let point = self.point(part, demand, work)?;
            if point.is_some() {
                return Ok(point);
            }
        }
        Ok(None)
    }

    fn is_valid(&self, space: &Box, point: &Point) -> bool {
        self.address(space.position(point)).is_some()
    }
}

/// The single view that does what a whole stack does, or the reason why there is none.
pub(crate) fn single_view(views: &[View], work: &mut Work) -> Result<View, Unmerged> {
    let Some(last) = views.last() else { return Err(Error::from(Fault::NoViews { op: "merge" }).into()) };
    let Some(stack) = Stacked::of(views) else { return Ok(View::nothing(last.shape())) };
    let whole = stack.whole();
    if let Some(witness) = stack.glance(&whole) {
        return Err(Unmerged::Witness(witness));
    }
    let space = match decide(&stack, last, whole, work)? {
        Validity::Empty => return Ok(View::nothing(last.shape())),
        Validity::Hole(valid, invalid) => return Err(Unmerged::Witness(Witness::NotABox { valid, invalid })),
        Validity::Box(space) => space,
    };
    // Every position of the space is valid.
    let address = |position| stack.address(position).unwrap_or_default();
    if let Some((axis, at)) = stack.uneven_steps(&space, work)? {
        let steps = at.map(|mut at| {
            let index = space.index(&at, last);
            let from = address(space.position(&at));
            at[axis] += 1;
            Step { index, from, to: address(space.position(&at)) }
        });
        return Err(Unmerged::Witness(Witness::UnevenStep { axis, steps }));
    }
    let first = i128::from(address(space.origin));
    let mut strides = Dims::new();
    let mut mask = Ranges::new();
    let mut offset = first;
    for axis in &space.axes {
        let next = if axis.size > 1 { address(space.origin + axis.stride) } else { address(space.origin) };
        let stride = i128::from(next) - first;
        offset -= stride * i128::from(axis.first);
        let fault = Fault::AxisOverflow { op: "merge", what: "the stride", axis: axis.axis };
        strides.push(i64::try_from(stride).map_err(|_| Error::from(fault))?);
        mask.push((axis.first, axis.first + axis.size));
    }
    Ok(View::canonical("merge", last.shape().into(), strides, offset, (!mask.is_empty()).then_some(mask))?)
}

/// Which unit steps from a valid index are looked for.
#[derive(Clone, Copy)]
enum Sought {
    /// Steps to a valid index that move the address by anything but this.
    Unlike(i128),
    /// Steps to an index that is not valid.
    Invalid,
}

/// Goes through the patterns of carries of a unit step, level by level and digit by digit.
struct Walk<'a> {
    levels: &'a [Level],
    digits: &'a [Vec<usize>],
    system: &'a System,
    sought: Sought,
    work: &'a mut Work,
}

/// What is known of a pattern so far.
#[derive(Clone)]
struct Pattern {
    /// The bounds of the system's variables.
    bounds: Vec<(i128, i128)>,
    /// The carry from the digit before.
    carry: bool,
    /// How far the digits so far move the position of the next level.
    next: i128,
    /// Whether some digit leaves its valid range.
    left: bool,
}

type Found = Result<Option<Vec<i128>>, OutOfWork>;

impl Walk<'_> {
    /// Level `k`, entered by a position that moves by `step`.
    fn level(&mut self, k: usize, step: i128, pattern: Pattern) -> Found {
        let Some(level) = self.levels.get(k) else {
            return match self.sought {
                Sought::Unlike(expected) if step != expected => self.system.within(pattern.bounds, self.work),
                _ => Ok(None),
            };
        };
        // A pattern that no index has need not be followed to the levels below.
        if k > 0 && self.system.within(pattern.bounds.clone(), self.work)?.is_none() {
            return Ok(None);
        }
        self.digit(level, k, step, 0, Pattern { carry: false, next: 0, ..pattern })
    }

    /// Digit `j` of level `k`.
    fn digit(&mut self, level: &Level, k: usize, step: i128, j: usize, pattern: Pattern) -> Found {
        self.work.tick()?;
        let Some(digit) = level.digits.get(j).copied() else {
            return match pattern {
                Pattern { carry: true, .. } => Ok(None), // The position would leave the view.
                Pattern { left: true, bounds, .. } => self.system.within(bounds, self.work),
                Pattern { next, .. } => self.level(k + 1, next, pattern),
            };
        };
        let outermost = j + 1 == level.digits.len();
        let (size, quotient) = (i128::from(digit.size), step.abs() / i128::from(digit.weight));
        let by = if outermost { quotient } else { quotient % size } + i128::from(pattern.carry);
        let (begin, end) = (i128::from(digit.begin), i128::from(digit.end));
        for carry in [false, true] {
            let (low, high, change) = match (step >= 0, carry) {
                (true, false) => (0, size - by, by),
                (true, true) => (size - by, size, by - size),
                (false, false) => (by, size, -by),
                (false, true) => (0, by, size - by),
            };
            // Where the digit ends up: still valid; or, for those who seek it, not.
            let ends = [(begin, end, false), (0, begin, true), (end, size, true)];
            let ends = match (self.sought, pattern.left) {
                (Sought::Unlike(_), _) => &ends[..1],
                (Sought::Invalid, false) => &ends[..],
                (Sought::Invalid, true) => &[(0, size, true)][..],
            };
            for &(first, past, left) in ends {
                let variable = self.digits[k][j];
                let (from, to) = pattern.bounds[variable];
                let narrowed = (from.max(low).max(first - change), to.min(high - 1).min(past - 1 - change));
                if narrowed.0 <= narrowed.1 {
                    let next = pattern.next + change * i128::from(digit.stride);
                    let mut pattern = Pattern { carry, next, left, bounds: pattern.bounds.clone() };
                    pattern.bounds[variable] = narrowed;
                    let found = self.digit(level, k, step, j + 1, pattern)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::merge;
    use crate::tests::Rng;

    /// A view of a few elements, with masks and strides of all sorts, that reads inside `len` positions.
    fn random_view(rng: &mut Rng, len: i64) -> View {
        loop {
            let rank = 1 + rng.below(3) as usize;
            let shape: Vec<i64> = (0..rank).map(|_| [1, 2, 3, 4, 5, 6, 8][rng.below(7) as usize]).collect();
            let row_major = crate::shape::row_major(&shape);
            let strides: Vec<i64> = (0..rank)
                .map(|l| match rng.below(8) {
                    0 => 0,
                    1 => -(rng.below(5) as i64),
                    2 | 3 => rng.below(9) as i64,
                    _ => row_major[rng.below(rank as u64) as usize] + if rng.below(9) == 0 { l as i64 } else { 0 },
                })
                .collect();
            let mask: Option<Vec<(i64, i64)>> = (rng.below(2) == 0).then(|| {
                let ranges = shape.iter().map(|&size| {
                    let (a, b) = (rng.below(size as u64 + 1) as i64, rng.below(size as u64 + 1) as i64);
                    if rng.below(2) == 0 { (0, size) } else { (a.min(b), a.max(b)) }
                });
                ranges.collect()
            });
            let view = View::new(&shape, &strides, 0, mask.as_deref()).unwrap();
            let Some((low, high)) = view.address_range() else {
                if rng.below(20) == 0 {
                    return view;
                } else {
                    continue;
                };
            };
            let room = len - (high - low);
            if room > 0 {
                let offset = rng.below(room as u64) as i64 - low;
                return View::new(&shape, &strides, offset, mask.as_deref()).unwrap();
            }
        }
    }

    fn address(views: &[View], index: &[i64]) -> Option<i64> {
        let (last, below) = views.split_last().unwrap();
        let address = last.address(index)?;
        match below.last() {
            None => Some(address),
            Some(view) => {
                let mut rest = address;
                let mut index: Vec<i64> = view.shape().iter().rev().map(|n| (rest % n, rest /= n).0).collect();
                index.reverse();
                self::address(below, &index)
            }
        }
    }

    fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
        shape.iter().fold(vec![vec![]], |all, &size| {
            all.iter().flat_map(|index| (0..size).map(|i| [&index[..], &[i]].concat())).collect()
        })
    }

    /// The single view by definition: the bounding box of the valid indices, strides probed at its first corner.
    fn by_definition(views: &[View]) -> Option<View> {
        let shape = views.last().unwrap().shape();
        let all = indices(shape);
        let valid: Vec<&Vec<i64>> = all.iter().filter(|index| address(views, index).is_some()).collect();
        let Some(first) = valid.first() else { return Some(View::nothing(shape)) };
        let mask: Vec<(i64, i64)> = (0..shape.len())
            .map(|l| (valid.iter().map(|i| i[l]).min().unwrap(), valid.iter().map(|i| i[l]).max().unwrap() + 1))
            .collect();
        let at_first = address(views, first)?;
        let mut offset = at_first;
        let mut strides = vec![0; shape.len()];
        for l in 0..shape.len() {
            let mut next = (*first).clone();
            next[l] += 1;
            if next[l] < mask[l].1 {
                strides[l] = address(views, &next)? - at_first;
                offset -= strides[l] * first[l];
            }
        }
        let view = View::new(shape, strides, offset, (!mask.is_empty()).then_some(&mask[..])).unwrap();
        all.iter().all(|index| view.address(index) == address(views, index)).then_some(view)
    }

    fn check_witness(views: &[View], witness: &Witness) {
        match witness {
            Witness::UnevenStep { axis, steps } => {
                let moved = steps.each_ref().map(|step| {
                    let mut next = step.index.clone();
                    next[*axis] += 1;
                    assert_eq!(address(views, &step.index), Some(step.from), "{views:?} {witness}");
                    assert_eq!(address(views, &next), Some(step.to), "{views:?} {witness}");
                    step.to - step.from
                });
                assert_ne!(moved[0], moved[1], "{views:?} {witness}");
            }
            Witness::NotABox { valid, invalid } => {
                assert!(valid.iter().all(|index| address(views, index).is_some()), "{views:?} {witness}");
                assert_eq!(address(views, invalid), None, "{views:?} {witness}");
                for (l, i) in invalid.iter().enumerate() {
                    let between = valid[0][l].min(valid[1][l])..=valid[0][l].max(valid[1][l]);
                    assert!(between.contains(i), "{views:?} {witness}");
                }
            }
        }
    }

    #[test]
    fn stacks_of_up_to_four_views_are_decided_as_defined() {
        let mut rng = Rng(7);
        let mut merged = [[0; 2]; 5];
        for _ in 0..60_000 {
            let height = 2 + rng.below(3) as usize;
            let mut views = vec![random_view(&mut rng, 1000)];
            while views.len() < height {
                let view = random_view(&mut rng, views.last().unwrap().numel());
                views.push(view);
            }
            let expected = by_definition(&views);
            merged[height][usize::from(expected.is_some())] += 1;
            let mut answers = vec![single_view(&views, &mut Work::new())];
            if height == 2 {
                answers.push(merge(&views[0], &views[1]));
            }
            for answer in answers {
                match answer {
                    Ok(view) => assert_eq!(Some(view), expected, "{views:?}"),
                    Err(Unmerged::Witness(witness)) => {
                        assert_eq!(None, expected, "{views:?} {witness}");
                        check_witness(&views, &witness);
                    }
                    Err(other) => panic!("{views:?} {other:?}"),
                }
            }
        }
        assert!(merged[2..].iter().flatten().all(|&count| count > 1_000), "both answers are common: {merged:?}");
    }
}
