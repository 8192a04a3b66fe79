//! The array that a library has: a shape with the strides that the library itself keeps, those of axes of size 1 included.
//!
//! What a library makes of its arrays follows its documentation and, where that is silent about the order of a new array,
//! its source: PyTorch's `empty_like` and `suggest_memory_format`, NumPy's `pad`.

use std::cmp::{Ordering, Reverse};

use indexpr::list::sort_short_by_key;

use crate::error::Error;
use crate::{Dims, Movement, View};

/// A shape with strides and an offset. Unlike those of a [`View`], strides along axes of size 1 have their values: PyTorch
/// looks at them when it chooses the order of a new tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Array {
    pub(super) shape: Dims,
    pub(super) strides: Dims,
    pub(super) offset: i64,
}

impl Array {
    /// A new array in row-major order.
    pub(super) fn contiguous(shape: &[i64]) -> Array {
        Array::in_order(shape, (0..shape.len()).rev())
    }

    /// A new array whose axes follow each other in memory in this order, the innermost first.
    pub(super) fn in_order(shape: &[i64], order: impl Iterator<Item = usize>) -> Array {
        let (mut strides, mut stride) = (Dims::from_elem(0, shape.len()), 1_i64);
        for axis in order {
            strides[axis] = stride;
            stride = stride.saturating_mul(shape[axis].max(1));
        }
        Array { shape: shape.into(), strides, offset: 0 }
    }

    /// An array with the layout of a view that has no mask.
    pub(super) fn of(view: &View) -> Array {
        let mut strides: Dims = view.strides().into();
        let shape = view.shape();
        // As if axes along which elements repeat had been expanded from size 1.
        let mut next = 1_i64;
        for axis in (0..shape.len()).rev() {
            match (shape[axis], strides[axis]) {
                (1, _) => strides[axis] = next,
                (_, 0) => {}
                (size, stride) => next = stride.saturating_mul(size),
            }
        }
        Array { shape: shape.into(), strides, offset: view.offset() }
    }

    pub(super) fn view(&self) -> Result<View, Error> {
        View::new(&self.shape, &self.strides, self.offset, None)
    }

    pub(super) fn numel(&self) -> i64 {
        if self.shape.contains(&0) { 0 } else { self.shape.iter().product() }
    }

    /// Whether the elements lie one after another in row-major order.
    pub(super) fn is_contiguous(&self) -> bool {
        self.follow((0..self.shape.len()).rev())
    }

    /// Whether the elements lie one after another with these axes from the innermost outwards.
    pub(super) fn follow(&self, order: impl Iterator<Item = usize>) -> bool {
        let mut stride = 1;
        for axis in order.filter(|&axis| self.shape[axis] != 1) {
            if self.strides[axis] != stride {
                return false;
            }
            stride *= self.shape[axis];
        }
        true
    }

    /// Whether the elements lie one after another in column-major order.
    pub(super) fn is_column_major(&self) -> bool {
        self.follow(0..self.shape.len())
    }

    /// The axes in the order in which they lie in memory, the outermost first; those of size 1 stay among their neighbours.
    pub(super) fn axes(&self) -> Dims {
        let mut long: Vec<i64> = (0..self.shape.len() as i64).filter(|&axis| self.shape[axis as usize] != 1).collect();
        let places = long.clone();
        sort_short_by_key(&mut long, |&axis| Reverse(self.strides[axis as usize].saturating_abs()));
        let mut axes: Dims = (0..self.shape.len() as i64).collect();
        for (place, axis) in places.into_iter().zip(long) {
            axes[place as usize] = axis;
        }
        axes
    }

    /// The same elements under a shape that differs by axes of size 1 in front.
    pub(super) fn seen_as(&self, shape: &[i64]) -> Array {
        let new = shape.len().saturating_sub(self.shape.len());
        let mut strides = Dims::from_elem(0, new);
        strides.extend(self.strides.iter().copied());
        Array { shape: shape.into(), strides, offset: self.offset }
    }

    /// A new array of NumPy that keeps the order of this one (K): row-major or column-major where this one is, else with
    /// the axes sorted by the length of their strides, as `PyArray_NewLikeArray` has it.
    pub(super) fn kept_by_numpy(&self) -> Array {
        if self.is_contiguous() {
            return Array::contiguous(&self.shape);
        }
        if self.is_column_major() {
            return Array::in_order(&self.shape, 0..self.shape.len());
        }
        let mut order: Vec<usize> = (0..self.shape.len()).collect();
        sort_short_by_key(&mut order, |&axis| Reverse(self.strides[axis].saturating_abs()));
        Array::in_order(&self.shape, order.into_iter().rev())
    }

    /// The array after an operation that has made this view of it.
    pub(super) fn moved(&self, op: &Movement, next: &View) -> Array {
        let mut strides: Dims = next.strides().into();
        for axis in (0..next.rank()).rev().filter(|&axis| next.shape()[axis] == 1) {
            strides[axis] = self.unit_stride(op, axis, next, &strides);
        }
        Array { shape: next.shape().into(), strides, offset: next.offset() }
    }

    /// The stride that a library keeps along an axis of size 1 that an operation has made or kept.
    fn unit_stride(&self, op: &Movement, axis: usize, next: &View, strides: &[i64]) -> i64 {
        let rank = self.shape.len();
        let resolved = |axis: i64, rank: usize| (if axis < 0 { axis + rank as i64 } else { axis }) as usize;
        let old = |axis: usize| self.strides.get(axis).copied().unwrap_or(1);
        let inner = || match axis + 1 < next.rank() {
            true => strides[axis + 1].saturating_mul(next.shape()[axis + 1]),
            false => self.strides.last().copied().unwrap_or(1),
        };
        match op {
            Movement::Permute(order) => old(resolved(order[axis], rank)),
            Movement::Transpose(a, b) => {
                let (a, b) = (resolved(*a, rank), resolved(*b, rank));
                old(if axis == a {
                    b
                } else if axis == b {
                    a
                } else {
                    axis
                })
            }
            Movement::Step(steps) => old(axis).saturating_mul(steps[axis].saturating_abs()),
            Movement::Slice(slices) => {
                old(axis).saturating_mul(slices.get(axis).map_or(1, |slice| slice.2.saturating_abs()))
            }
            Movement::Expand(_) | Movement::BroadcastTo(_) => match (axis + rank).checked_sub(next.rank()) {
                Some(axis) => old(axis),
                None => inner(),
            },
            Movement::Unsqueeze(at) => match axis.cmp(&resolved(*at, rank + 1)) {
                Ordering::Less => old(axis),
                Ordering::Equal if axis == rank => 1,
                Ordering::Equal => old(axis).saturating_mul(self.shape[axis]),
                Ordering::Greater => old(axis - 1),
            },
            Movement::Squeeze(axes) => {
                let gone = |axis: &usize| axes.iter().any(|&gone| resolved(gone, rank) == *axis);
                old((0..rank).filter(|axis| !gone(axis)).nth(axis).unwrap_or(axis))
            }
            Movement::Reshape(_) => inner(),
            _ => old(axis),
        }
    }

    /// A new tensor of PyTorch that keeps the order of this one: that of `empty_like`, `clone` and `flip`. One that fills its
    /// memory has the same strides, and what another one leaves out is closed up.
    pub(super) fn like(&self) -> Array {
        let mut order: Vec<usize> = (0..self.shape.len()).rev().collect();
        sort_short_by_key(&mut order, |&axis| self.strides[axis]);
        if self.follow(order.into_iter()) {
            return Array { offset: 0, ..self.clone() };
        }
        // The axes from the innermost outwards: by insertion, as the comparison is no order. What repeats along an axis does
        // not say where it belongs, and stays among its neighbours.
        let mut order: Vec<usize> = (0..self.shape.len()).rev().collect();
        for begin in 1..order.len() {
            let mut at = begin;
            for before in (0..begin).rev() {
                let [outer, inner] = [order[before], order[at]];
                match self.strides[outer].cmp(&self.strides[inner]) {
                    _ if self.strides[outer] == 0 || self.strides[inner] == 0 => {}
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
        let stride = |axis: usize| if self.shape[axis] == 1 { 0 } else { self.strides[axis].saturating_abs() };
        let mut order: Vec<usize> = (0..self.shape.len()).rev().collect();
        for begin in 1..order.len() {
            let mut to = begin;
            for before in (0..begin).rev() {
                match (stride(order[before]), stride(order[begin])) {
                    (0, _) | (_, 0) => {}
                    (inner, outer) if inner <= outer => break,
                    _ => to = before,
                }
            }
            order[to..=begin].rotate_right(1);
        }
        order.into_iter().rev().map(|axis| axis as i64).collect()
    }

    /// A new tensor of PyTorch of another shape: channels last where this one has them last, else in row-major order.
    pub(super) fn suggested(&self, shape: &[i64]) -> Array {
        match channels_last(shape.len()) {
            Some(axes) if self.suggests_channels_last() => Array::in_order(shape, axes.iter().copied()),
            _ => Array::contiguous(shape),
        }
    }

    /// Whether PyTorch suggests for this tensor that its second axis lie innermost.
    pub(super) fn suggests_channels_last(&self) -> bool {
        let Some(axes) = channels_last(self.shape.len()) else { return false };
        let mut least = 0;
        let mut is_last = self.strides[1] != 0;
        for &axis in axes {
            let (size, stride) = (self.shape[axis], self.strides[axis]);
            // Where nothing tells both orders apart it is row-major.
            is_last &= size != 0 && stride >= least && !(axis == 0 && least == self.strides[1]);
            least = stride.saturating_mul(size.max(1));
        }
        is_last
    }

    /// A new tensor of PyTorch that has two parts of this one along an axis, which is cut before some element: channels last
    /// where both parts have them last, else in row-major order.
    pub(super) fn rolled(&self, axis: usize, first: i64) -> Array {
        let first = first % self.shape[axis].max(1);
        let part = |size: i64| {
            let mut part = self.clone();
            part.shape[axis] = size;
            part.suggests_channels_last()
        };
        let has_last = part(self.shape[axis] - first) && part(first);
        if has_last { self.suggested(&self.shape) } else { Array::contiguous(&self.shape) }
    }

    /// Whether this is a tensor in the order that PyTorch suggests for it.
    pub(super) fn is_as_suggested(&self) -> bool {
        let suggested = self.suggested(&self.shape);
        (0..self.shape.len()).all(|axis| self.shape[axis] == 1 || self.strides[axis] == suggested.strides[axis])
    }

    /// A new array of NumPy's `pad`: with the first axis innermost where this one has it so and is not in row-major order.
    pub(super) fn padded(&self, shape: &[i64]) -> Array {
        match !self.is_contiguous() && self.follow(0..self.shape.len()) {
            true => Array::in_order(shape, 0..shape.len()),
            false => Array::contiguous(shape),
        }
    }
}

/// The axes of a tensor with its second axis innermost, from the innermost outwards; nothing for tensors without such an order.
pub(super) fn channels_last(rank: usize) -> Option<&'static [usize]> {
    match rank {
        4 => Some(&[1, 3, 2, 0]),
        5 => Some(&[1, 4, 3, 2, 0]),
        _ => None,
    }
}
