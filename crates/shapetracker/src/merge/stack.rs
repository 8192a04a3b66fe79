//! Stacks of any height, and two stacks at once: the exact questions that a pair's equations do not cover.
//!
//! A stack is a chain of digits: the digits of one view, through its strides, make the position whose digits the view
//! under it reads. Each view adds one equation to a [`System`]: the sum of strides times digits above is the sum of
//! weights times digits below. A run of views may be one view although no pair in it is, so that it does not do to
//! merge neighbours.

use smallvec::SmallVec;

use super::level::{Axis, IndexBox, Level, Point};
use super::system::System;
use super::validity::{Search, Validity, decide};
use super::work::{OutOfWork, Work};
use super::{UnitStep, Unmerged, Witness};
use crate::error::{Error, Fault};
use crate::{Dims, Ranges, View};

/// A stack of views with something valid in each: the last one, and the digits of those below it, top down.
pub(crate) struct Stacked<'a> {
    pub(super) later: &'a View,
    pub(super) levels: SmallVec<[Level; 4]>,
}

/// Where the index variables and the digits of a stack stand in a system, and the address as a sum of them.
pub(super) struct Trace {
    /// The digit variables of each level, innermost first.
    pub(super) digits: Vec<Vec<usize>>,
    pub(super) address: Vec<(usize, i128)>,
    pub(super) offset: i128,
}

/// What a system is to say of a stack.
#[derive(Clone, Copy)]
pub(super) enum Demand {
    /// The index is valid.
    Valid,
    /// The digit `digit` of level `level` is the first to be out of its range, and lies in `begin..end`.
    Outside { level: usize, digit: usize, begin: i64, end: i64 },
}

/// Which unit steps from a valid index are looked for.
#[derive(Clone, Copy)]
pub(super) enum Sought {
    /// Steps to a valid index that move the address by anything but this.
    Unlike(i128),
    /// Steps to an index that is not valid.
    Invalid,
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
    pub(crate) fn whole(&self) -> IndexBox {
        let axes = (0..self.later.rank()).map(|axis| {
            let (first, end) = self.later.range(axis);
            Axis { axis, stride: self.later.strides()[axis], first, size: end - first }
        });
        let first = axes.clone().fold(i128::from(self.later.offset()), |position, axis| {
            position + i128::from(axis.stride) * i128::from(axis.first)
        });
        IndexBox { axes: axes.collect(), origin: first as i64 }
    }

    /// Some valid index of a part of the last view's box, counted from the first corner of the part.
    pub(crate) fn valid_index(&self, part: &IndexBox, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        // The corners and the middle are looked at before anything is solved.
        let ends = [0, 1, 2].map(|halves| part.axes.iter().map(|axis| (axis.size - 1) / 2 * halves).collect::<Point>());
        match ends.into_iter().find(|point| self.address(part.position(point)).is_some()) {
            Some(point) => Ok(Some(point)),
            None => self.valid_point(part, work),
        }
    }

    /// The address at a position of the last view, or `None` where it is masked.
    pub(crate) fn address(&self, position: i64) -> Option<i64> {
        self.levels.iter().try_fold(position, |position, level| level.valid_address(position))
    }

    /// One index variable per axis, bounded by a box.
    pub(super) fn index_variables(system: &mut System, part: &IndexBox) -> Vec<usize> {
        let bounds = part.axes.iter().map(|axis| (axis.first, axis.first + axis.size - 1));
        bounds.map(|(first, last)| system.variable(first.into(), last.into())).collect()
    }

    /// Adds the equations of the stack's digits, given the index variables.
    pub(super) fn trace(&self, system: &mut System, index: &[usize], demand: Demand) -> Trace {
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
    pub(super) fn outsides(&self) -> impl Iterator<Item = Demand> + '_ {
        self.levels.iter().enumerate().flat_map(|(level, digits)| {
            digits.digits.iter().enumerate().flat_map(move |(digit, d)| {
                [(0, d.begin), (d.end, d.size)]
                    .into_iter()
                    .filter(|(begin, end)| begin < end)
                    .map(move |(begin, end)| Demand::Outside { level, digit, begin, end })
            })
        })
    }

    fn point(&self, part: &IndexBox, demand: Demand, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        let mut system = System::default();
        let index = Self::index_variables(&mut system, part);
        self.trace(&mut system, &index, demand);
        let found = system.solve(work)?;
        Ok(found.map(|values| part.axes.iter().zip(values).map(|(axis, i)| i as i64 - axis.first).collect()))
    }

    /// Two unit steps in a box of valid indices that move the address by different amounts.
    fn uneven_steps(&self, space: &IndexBox, work: &mut Work) -> Result<Option<(usize, [Point; 2])>, OutOfWork> {
        // As for a pair: every step must move the address as the first step of its axis does (uit de Bos, theorem 10).
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

impl Trace {
    /// The address, given the values of all variables.
    pub(super) fn sum(&self, values: &[i128]) -> i128 {
        self.address.iter().map(|&(v, weight)| weight * values[v]).sum::<i128>() + self.offset
    }
}

impl Search for Stacked<'_> {
    fn valid_point(&self, part: &IndexBox, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        self.point(part, Demand::Valid, work)
    }

    fn invalid_point(&self, part: &IndexBox, work: &mut Work) -> Result<Option<Point>, OutOfWork> {
        for demand in self.outsides() {
            let point = self.point(part, demand, work)?;
            if point.is_some() {
                return Ok(point);
            }
        }
        Ok(None)
    }

    fn is_valid(&self, space: &IndexBox, point: &Point) -> bool {
        self.address(space.position(point)).is_some()
    }
}

/// The single view that does what a whole stack does, or the reason why there is none.
pub(crate) fn single_view(views: &[View], work: &mut Work) -> Result<View, Unmerged> {
    let Some(last) = views.last() else { return Err(Error::new("merge", Fault::NoViews).into()) };
    let Some(stack) = Stacked::of(views) else { return Ok(View::nothing(last.shape())) };
    let whole = stack.whole();
    if let Some(witness) = stack.refute(&whole) {
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
            UnitStep { index, from, to: address(space.position(&at)) }
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
        let past = |_| Error::new("merge", Fault::AxisOverflow { what: "the stride", axis: axis.axis });
        strides.push(i64::try_from(stride).map_err(past)?);
        mask.push((axis.first, axis.first + axis.size));
    }
    Ok(View::canonical("merge", last.shape().into(), strides, offset, (!mask.is_empty()).then_some(mask))?)
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

    #[test]
    fn the_shortcut_for_reshapes_says_what_merging_says() {
        let mut rng = Rng(13);
        let mut taken = [0; 2];
        for _ in 0..30_000 {
            let view = random_view(&mut rng, 1000);
            if view.is_empty() {
                continue;
            }
            // Factors of the number of elements, in some order.
            let (mut rest, mut shape) = (view.numel(), Vec::new());
            while rest > 1 {
                let factor = 2 + rng.below(rest.min(12) as u64 - 1) as i64;
                if rest % factor == 0 {
                    rest /= factor;
                    shape.insert(rng.below(shape.len() as u64 + 1) as usize, factor);
                }
            }
            if let Some(reshaped) = Level::of(&view).reshaped(&shape) {
                let merged = merge(&view, &View::row_major(&shape));
                assert_eq!(merged.as_ref(), Ok(&reshaped), "{view} as {shape:?}");
                taken[usize::from(view.mask().is_some())] += 1;
            }
        }
        assert!(taken.iter().all(|&count| count > 1_000), "{taken:?}");
    }
}
