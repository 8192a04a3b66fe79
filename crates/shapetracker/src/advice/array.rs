//! The array that a library has: a shape with the strides that the library itself keeps, those of axes of size 1 included.
//!
//! What a library makes of its arrays follows its documentation and, where that is silent about the order of a new array,
//! its source: PyTorch's `empty_like` and `suggest_memory_format`, NumPy's `pad`.

use std::cmp::{Ordering, Reverse};

use shapetracker_base::list::sort_short_by_key;

use super::ArrayNumber;
use crate::{Dims, MovementOf};

/// A shape with strides and an offset. Unlike those of a [`View`](crate::View), strides along axes of size 1 have their values:
/// PyTorch looks at them when it chooses the order of a new tensor.
///
/// ```
/// let array = shapetracker::advice::Array::contiguous(&[2, 3]);
/// assert_eq!((&array.strides[..], array.offset), (&[3, 1][..], 0));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array<N: ArrayNumber = i64> {
    /// One size per axis, the outermost first.
    pub shape: N::Numbers,
    /// How many elements of memory each axis moves by.
    pub strides: N::Numbers,
    /// Where the first element lies.
    pub offset: N,
}

/// Numbers of a list, as a list.
pub(super) fn numbers<N: ArrayNumber>(list: &[N]) -> N::Numbers {
    list.iter().cloned().collect()
}

fn magnitude<N: ArrayNumber>(number: &N) -> N {
    if *number < N::from(0) { number.negative() } else { number.clone() }
}

/// A size by which something can be divided, and which strides can be counted in.
pub(super) fn at_least_one<N: ArrayNumber>(size: &N) -> N {
    if size.is(0) { N::from(1) } else { size.clone() }
}

pub(super) fn product<N: ArrayNumber>(shape: &[N]) -> N {
    shape.iter().fold(N::from(1), |numel, size| numel.times(size))
}

/// Whether there are no elements.
pub(super) fn is_empty<N: ArrayNumber>(shape: &[N]) -> bool {
    shape.iter().any(|size| size.is(0))
}

impl<N: ArrayNumber> Array<N> {
    /// A new array in row-major order.
    ///
    /// ```
    /// assert_eq!(shapetracker::advice::Array::contiguous(&[2, 3]).strides[..], [3, 1]);
    /// ```
    pub fn contiguous(shape: &[N]) -> Self {
        Array::in_order(shape, (0..shape.len()).rev())
    }

    /// A new array whose axes follow each other in memory in this order, the innermost first.
    pub(super) fn in_order(shape: &[N], order: impl Iterator<Item = usize>) -> Self {
        let mut strides: N::Numbers = shape.iter().map(|_| N::from(0)).collect();
        let mut stride = N::from(1);
        for axis in order {
            strides[axis] = stride.clone();
            stride = stride.times(&at_least_one(&shape[axis]));
        }
        Array { shape: numbers(shape), strides, offset: N::from(0) }
    }

    /// The array that has this layout, of which the strides along axes of size 1 are not known.
    pub(crate) fn kept(&self) -> Self {
        let mut strides = self.strides.clone();
        // As if axes along which elements repeat had been expanded from size 1.
        let mut next = N::from(1);
        for axis in (0..self.shape.len()).rev() {
            if self.shape[axis].is(1) {
                strides[axis] = next.clone();
            } else if !strides[axis].is(0) {
                next = strides[axis].times(&self.shape[axis]);
            }
        }
        Array { strides, ..self.clone() }
    }

    /// Whether both are the same addresses: strides along axes of size 1 may be any.
    pub(super) fn reads_as(&self, other: &Self) -> bool {
        let is_same = |axis: usize| self.shape[axis].is(1) || self.strides[axis] == other.strides[axis];
        self.shape == other.shape && self.offset == other.offset && (0..self.shape.len()).all(is_same)
    }

    /// Whether it walks backwards along an axis, to an element.
    pub(super) fn has_negative_strides(&self) -> bool {
        let mut axes = self.strides.iter().zip(self.shape.iter());
        axes.any(|(stride, size)| *stride < N::from(0) && *size > N::from(1)) && !is_empty(&self.shape)
    }

    pub(crate) fn numel(&self) -> N {
        if is_empty(&self.shape) { N::from(0) } else { product(&self.shape) }
    }

    /// Whether the elements lie one after another in row-major order.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.follow((0..self.shape.len()).rev())
    }

    /// Whether the elements lie one after another with these axes from the innermost outwards.
    pub(crate) fn follow(&self, order: impl Iterator<Item = usize>) -> bool {
        let mut stride = N::from(1);
        for axis in order.filter(|&axis| !self.shape[axis].is(1)) {
            if self.strides[axis] != stride {
                return false;
            }
            stride = stride.times(&self.shape[axis]);
        }
        true
    }

    /// Whether the elements lie one after another in column-major order.
    pub(crate) fn is_column_major(&self) -> bool {
        self.follow(0..self.shape.len())
    }

    /// The axes in the order in which they lie in memory, the outermost first; those of size 1 stay among their neighbours.
    pub(super) fn axes(&self) -> Dims {
        let mut long: Vec<i64> =
            (0..self.shape.len() as i64).filter(|&axis| !self.shape[axis as usize].is(1)).collect();
        let places = long.clone();
        sort_short_by_key(&mut long, |&axis| Reverse(magnitude(&self.strides[axis as usize])));
        let mut axes: Dims = (0..self.shape.len() as i64).collect();
        for (place, axis) in places.into_iter().zip(long) {
            axes[place as usize] = axis;
        }
        axes
    }

    /// The same elements under a shape that differs by axes of size 1 in front.
    pub(super) fn seen_as(&self, shape: &[N]) -> Self {
        let new = shape.len().saturating_sub(self.shape.len());
        let strides = std::iter::repeat_n(N::from(0), new).chain(self.strides.iter().cloned()).collect();
        Array { shape: numbers(shape), strides, offset: self.offset.clone() }
    }

    /// A new array of NumPy that keeps the order of this one (K): row-major or column-major where this one is, else with
    /// the axes sorted by the length of their strides, as `PyArray_NewLikeArray` has it.
    pub(super) fn kept_by_numpy(&self) -> Self {
        if self.is_contiguous() {
            return Array::contiguous(&self.shape);
        }
        if self.is_column_major() {
            return Array::in_order(&self.shape, 0..self.shape.len());
        }
        let mut order: Vec<usize> = (0..self.shape.len()).collect();
        sort_short_by_key(&mut order, |&axis| Reverse(magnitude(&self.strides[axis])));
        Array::in_order(&self.shape, order.into_iter().rev())
    }

    /// The array after an operation that has made this view of it.
    pub(super) fn moved(&self, op: &MovementOf<N>, next: &Self) -> Self {
        let mut strides = next.strides.clone();
        for axis in (0..next.shape.len()).rev().filter(|&axis| next.shape[axis].is(1)) {
            strides[axis] = self.unit_stride(op, axis, &next.shape, &strides);
        }
        Array { strides, ..next.clone() }
    }

    /// The stride that a library keeps along an axis of size 1 that an operation has made or kept.
    fn unit_stride(&self, op: &MovementOf<N>, axis: usize, next: &[N], strides: &[N]) -> N {
        let rank = self.shape.len();
        let resolved = |axis: i64, rank: usize| (if axis < 0 { axis + rank as i64 } else { axis }) as usize;
        let old = |axis: usize| self.strides.get(axis).cloned().unwrap_or_else(|| N::from(1));
        let inner = || match axis + 1 < next.len() {
            true => strides[axis + 1].times(&next[axis + 1]),
            false => self.strides.last().cloned().unwrap_or_else(|| N::from(1)),
        };
        let along = |step: i64| old(axis).times(&N::from(step.saturating_abs()));
        match op {
            MovementOf::Permute(order) => old(resolved(order[axis], rank)),
            MovementOf::Transpose(a, b) => {
                let (a, b) = (resolved(*a, rank), resolved(*b, rank));
                old(if axis == a {
                    b
                } else if axis == b {
                    a
                } else {
                    axis
                })
            }
            MovementOf::Step(steps) => along(steps[axis]),
            MovementOf::Slice(slices) => along(slices.get(axis).map_or(1, |slice| slice.2)),
            MovementOf::Expand(_) | MovementOf::BroadcastTo(_) => match (axis + rank).checked_sub(next.len()) {
                Some(axis) => old(axis),
                None => inner(),
            },
            MovementOf::Unsqueeze(at) => match axis.cmp(&resolved(*at, rank + 1)) {
                Ordering::Less => old(axis),
                Ordering::Equal if axis == rank => N::from(1),
                Ordering::Equal => old(axis).times(&self.shape[axis]),
                Ordering::Greater => old(axis - 1),
            },
            MovementOf::Squeeze(axes) => {
                let gone = |axis: &usize| axes.iter().any(|&gone| resolved(gone, rank) == *axis);
                old((0..rank).filter(|axis| !gone(axis)).nth(axis).unwrap_or(axis))
            }
            MovementOf::Reshape(_) => inner(),
            _ => old(axis),
        }
    }

    /// A new tensor of PyTorch that keeps the order of this one: that of `empty_like`, `clone` and `flip`. One that fills its
    /// memory has the same strides, and what another one leaves out is closed up.
    pub(super) fn like(&self) -> Self {
        let mut order: Vec<usize> = (0..self.shape.len()).rev().collect();
        sort_short_by_key(&mut order, |&axis| self.strides[axis].clone());
        if self.follow(order.into_iter()) {
            return Array { offset: N::from(0), ..self.clone() };
        }
        // The axes from the innermost outwards: by insertion, as the comparison is no order. What repeats along an axis does
        // not say where it belongs, and stays among its neighbours.
        let mut order: Vec<usize> = (0..self.shape.len()).rev().collect();
        for begin in 1..order.len() {
            let mut at = begin;
            for before in (0..begin).rev() {
                let [outer, inner] = [order[before], order[at]];
                match self.strides[outer].cmp(&self.strides[inner]) {
                    _ if self.strides[outer].is(0) || self.strides[inner].is(0) => {}
                    Ordering::Less => break,
                    Ordering::Equal if self.shape[outer] <= self.shape[inner] => {}
                    _ => {
                        order.swap(before, at);
                        at = before;
                    }
                }
            }
        }
        Array::in_order(&self.shape, order.into_iter())
    }

    /// The axes in the order in which NumPy's iterator goes through the elements where it keeps that of memory, the outermost
    /// first. What repeats along an axis does not say where it belongs, and stays among its neighbours.
    pub(super) fn axes_in_memory(&self) -> Dims {
        let stride = |axis: usize| if self.shape[axis].is(1) { N::from(0) } else { magnitude(&self.strides[axis]) };
        let mut order: Vec<usize> = (0..self.shape.len()).rev().collect();
        for begin in 1..order.len() {
            let mut to = begin;
            for before in (0..begin).rev() {
                match (stride(order[before]), stride(order[begin])) {
                    (inner, outer) if inner.is(0) || outer.is(0) => {}
                    (inner, outer) if inner <= outer => break,
                    _ => to = before,
                }
            }
            order[to..=begin].rotate_right(1);
        }
        order.into_iter().rev().map(|axis| axis as i64).collect()
    }

    /// A new tensor of PyTorch of another shape: channels last where this one has them last, else in row-major order.
    pub(super) fn suggested(&self, shape: &[N]) -> Self {
        match channels_last(shape.len()) {
            Some(axes) if self.suggests_channels_last() => Array::in_order(shape, axes.iter().copied()),
            _ => Array::contiguous(shape),
        }
    }

    /// Whether PyTorch suggests for this tensor that its second axis lie innermost.
    pub(super) fn suggests_channels_last(&self) -> bool {
        let Some(axes) = channels_last(self.shape.len()) else { return false };
        let mut least = N::from(0);
        if self.strides[1].is(0) {
            return false;
        }
        for &axis in axes {
            let (size, stride) = (&self.shape[axis], &self.strides[axis]);
            // Where nothing tells both orders apart it is row-major.
            if size.is(0) || *stride < least || (axis == 0 && least == self.strides[1]) {
                return false;
            }
            least = stride.times(size);
        }
        true
    }

    /// A new tensor of PyTorch that has two parts of this one along an axis, which is cut before some element: channels last
    /// where both parts have them last, else in row-major order.
    pub(super) fn rolled(&self, axis: usize, first: &N) -> Self {
        let first = first.rest(&at_least_one(&self.shape[axis]));
        let part = |size: N| {
            let mut part = self.clone();
            part.shape[axis] = size;
            part.suggests_channels_last()
        };
        let has_last = part(self.shape[axis].plus(&first.negative())) && part(first);
        if has_last { self.suggested(&self.shape) } else { Array::contiguous(&self.shape) }
    }

    /// Whether this is a tensor in the order that PyTorch suggests for it.
    pub(super) fn is_as_suggested(&self) -> bool {
        let suggested = self.suggested(&self.shape);
        (0..self.shape.len()).all(|axis| self.shape[axis].is(1) || self.strides[axis] == suggested.strides[axis])
    }

    /// A new array of NumPy's `pad`: with the first axis innermost where this one has it so and is not in row-major order.
    pub(super) fn padded(&self, shape: &[N]) -> Self {
        match !self.is_contiguous() && self.follow(0..self.shape.len()) {
            true => Array::in_order(shape, 0..shape.len()),
            false => Array::contiguous(shape),
        }
    }
}

/// The axes of a tensor with its second axis innermost, from the innermost outwards; nothing for tensors without such an order.
pub(crate) fn channels_last(rank: usize) -> Option<&'static [usize]> {
    match rank {
        4 => Some(&[1, 3, 2, 0]),
        5 => Some(&[1, 4, 3, 2, 0]),
        _ => None,
    }
}
