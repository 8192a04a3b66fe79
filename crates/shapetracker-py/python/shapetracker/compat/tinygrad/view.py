"""A stand-in for `tinygrad.shape.view`: the class View, and functions of shapes, strides and masks.

Sizes are numbers or, where tinygrad is loaded, its UOps.
"""

from __future__ import annotations

from itertools import accumulate
from math import prod
from operator import mul
from typing import Any, Sequence

from shapetracker import Unmerged

from ._classes import View

__all__ = [
    "View",
    "ViewError",
    "canonicalize_strides",
    "get_contraction",
    "get_contraction_with_reduce",
    "merge_dims",
    "strides_for_shape",
    "unravel",
]

Shape = tuple[int, ...]
Mask = tuple[tuple[int, int], ...]


class ViewError(ValueError, AssertionError):
    """Arguments that make no view: tinygrad raises ValueError for some of them and AssertionError for others."""


def get_contraction(old_shape: Shape, new_shape: Shape) -> list[list[int]] | None:
    """The axes of the old shape that each axis of the new one joins; None when it does not join whole axes.

    Axes of size 1 go to the first axis of the new shape that can have them.
    """
    axes_up_to: dict[int, int] = {}
    for count, size in enumerate(accumulate(old_shape, mul), start=1):
        axes_up_to.setdefault(size, count)
    axes_up_to[1] = 0
    ends = [axes_up_to.get(size, -1) for size in accumulate(new_shape, mul)]
    if -1 in ends:
        return None
    # Whatever is left belongs to the last axis.
    bounds = [0, *ends[:-1], len(old_shape)]
    return [list(range(begin, end)) for begin, end in zip(bounds, bounds[1:])]


def get_contraction_with_reduce(
    old_shape: Shape, new_shape: Shape, reduce_axis: tuple[int, ...]
) -> list[list[int]] | None:
    """The contraction in which every reduced axis of the new shape has an axis of the old one; None without any."""
    contraction = get_contraction(old_shape, new_shape)
    if contraction is None:
        return None
    for axis, joined in enumerate(contraction):
        if axis not in reduce_axis or joined:
            continue
        # The next axis that has some lends its own to those before it, and must be of size 1 itself to do so.
        lender = next((k for k in range(axis + 1, len(contraction)) if contraction[k]), None)
        if lender is None or new_shape[lender] != 1:
            return None
        for k in range(lender, axis, -1):
            contraction[k - 1], contraction[k] = contraction[k][:-1], contraction[k][-1:]
    return contraction


def canonicalize_strides(shape: Shape, strides: Shape) -> Shape:
    """The strides, 0 where the size is 1."""
    return tuple(stride if size != 1 else 0 for size, stride in zip(shape, strides))


def strides_for_shape(shape: Shape) -> Shape:
    """The strides of the row-major view of a shape, 0 where the size is 1."""
    inner_first = list(accumulate(reversed(shape[1:]), mul, initial=1))
    return canonicalize_strides(shape, tuple(reversed(inner_first)) if shape else ())


def merge_dims(shape: Shape, strides: Shape, mask: Mask | None = None) -> tuple[tuple[int, int, int], ...]:
    """Axes joined as far as their strides allow: of each group the size, the stride, and the size without broadcast.

    An axis with only one valid entry joins the next one whatever its stride.
    """
    if len(shape) != len(strides) or (mask is not None and len(mask) != len(shape)):
        raise ViewError(f"merge_dims: {len(shape)} sizes, {len(strides)} strides and the mask {mask} do not fit")
    groups: list[tuple[int, int, int]] = []
    single = False
    for axis, (size, stride) in enumerate(zip(shape, strides)):
        if not groups:
            groups.append((size, stride, size if stride != 0 else 0))
        elif size == 1:
            continue
        else:
            group_size, group_stride, group_real = groups[-1]
            if single:
                groups[-1] = (group_size * size, stride, size)
            elif group_stride == size * stride:
                groups[-1] = (group_size * size, stride, group_real * size)
            else:
                groups.append((size, stride, size))
        single = size == 1 if mask is None else mask[axis][1] - mask[axis][0] == 1
    return tuple(groups)


def _reshape_mask(_mask: Mask | None, old_shape: Shape, new_shape: Shape) -> Mask | None:
    """The box of valid indices under another shape; None when they are no box there."""
    if _mask is None:
        return tuple((0, size) for size in new_shape)
    if prod(old_shape) != prod(new_shape):
        raise ViewError(f"_reshape_mask: {old_shape} has {prod(old_shape)} elements, {new_shape} {prod(new_shape)}")
    if not new_shape:
        return ()
    # The row-major view has a different address everywhere, so that it is a view again exactly if the mask is a box.
    view = View.create(old_shape, None, 0, _mask)
    try:
        reshaped = view.exact.reshape(*new_shape)
    except Unmerged:
        return None
    return reshaped.mask if reshaped.mask is not None else tuple((0, size) for size in new_shape)


def unravel(shape: Sequence[int], offset: Any) -> list[Any]:
    """The index of a position in row-major order; the position may be a number or an expression."""
    index = []
    weight = 1
    for size in reversed(shape):
        index.append(offset // weight % size)
        weight *= size
    index.reverse()
    return index
