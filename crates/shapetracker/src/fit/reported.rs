//! Strides as libraries report them. Along axes of size 1 a stride decides nothing, so that a [`View`] has 0 there; arrays have
//! others, and kernels that are given a leading dimension look at them.

use crate::notation::ArrayLibrary;
use crate::{Dims, View};

/// The strides of a view with those that an array in row-major order has along axes of size 1: what is inside of the axis.
pub(super) fn filled(view: &View) -> Dims {
    inside(view, 1)
}

/// The strides that a library reports of its view of an array under a new shape, by the rules of PyTorch's `view`
/// (`computeStride` in ATen's `TensorUtils.cpp`) and of NumPy's `reshape` (`_attempt_nocopy_reshape` in `shape.c`). They
/// differ along axes of size 1 only: PyTorch goes on from the stride of the old last axis, NumPy from that of the new last
/// axis that is longer, and NumPy leaves an array as it is that has the shape already.
pub(super) fn reported(library: ArrayLibrary, shape: &[i64], strides: &[i64], view: &View) -> Dims {
    let is_empty = view.shape().contains(&0);
    if shape == view.shape() && (is_empty || library == ArrayLibrary::NumPy) {
        return strides.into();
    }
    if is_empty {
        let (mut strides, mut next) = (Dims::from_elem(1, view.rank()), 1_i64);
        for (stride, &size) in strides.iter_mut().zip(view.shape()).rev() {
            (*stride, next) = (next, next.saturating_mul(size.max(1)));
        }
        return strides;
    }
    let last = match library {
        ArrayLibrary::PyTorch => strides.last().copied().unwrap_or(1),
        ArrayLibrary::NumPy if view.is_contiguous() => 1,
        ArrayLibrary::NumPy => {
            let longer = view.shape().iter().zip(view.strides()).rev().find(|(size, _)| **size != 1);
            longer.map_or(1, |(_, &stride)| stride)
        }
    };
    inside(view, last)
}

/// The strides of a view, and along each axis of size 1 the length of what is inside of it; `last` along the last axes.
fn inside(view: &View, last: i64) -> Dims {
    let (shape, mut strides) = (view.shape(), Dims::from_slice(view.strides()));
    let mut next = last;
    for axis in (0..shape.len()).rev() {
        if shape[axis] == 1 {
            strides[axis] = next;
        }
        next = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}
