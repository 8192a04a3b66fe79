"""The movement operations of a view some of whose sizes are tinygrad's UOps, and sums of two views."""

from __future__ import annotations

from typing import Any, Sequence

from shapetracker import ShapeTracker as Tracker

from ._classes import View
from ._sizes import Fields, Open, Sizes, bounds, canonical, checked, product, row_major, same
from .view import ViewError

__all__ = ["add", "expand", "flip", "invert", "minify", "pad", "permute", "reshape", "shrink"]


def alone(fields: Fields) -> Tracker:
    """The tracker with names of one view. What a movement operation needs never changes its formula."""
    return Tracker([fields.view()])


def one(sizes: Sizes, tracker: Tracker) -> View | None:
    """The view of a tracker, if it is one that fields can say: they have no masked scalar."""
    view = tracker.as_view()
    return None if view is None or (not view.shape and view.mask is not None) else sizes.made(view)


def merged(sizes: Sizes, tracker: Tracker) -> View | None:
    """The one view of a tracker whose views may have been merged, unless a need fixes a name."""
    try:
        return one(sizes, checked(tracker))
    except Open:
        return None


def moved(sizes: Sizes, tracker: Tracker) -> View:
    view = one(sizes, tracker)
    if view is None:
        raise Open("the result is no single view")
    return view


def check_count(op: str, view: View, arguments: Sequence[Any]) -> None:
    if len(arguments) != len(view.shape):
        rank, given = len(view.shape), len(arguments)
        raise ViewError(f"{op}: takes one entry per axis: the view has {rank}, but {given} were given")


def pad(sizes: Sizes, view: View, pads: Any) -> View:
    pads = sizes.pairs(pads)
    check_count("pad", view, pads)
    for axis, pair in enumerate(pads):
        if any(bounds(pad)[1] < 0 for pad in pair):
            raise ViewError(f"pad: axis {axis} cannot be padded by a negative number of elements")
    if all(pad == 0 for pair in pads for pad in pair):
        return view
    return moved(sizes, alone(sizes.fields(view)).pad(pads))


def shrink(sizes: Sizes, view: View, ranges: Any) -> View:
    ranges = sizes.pairs(ranges)
    check_count("shrink", view, ranges)
    fields = sizes.fields(view)
    for axis, ((begin, end), size) in enumerate(zip(ranges, fields.shape)):
        gaps: tuple[Any, ...] = (begin, end - begin, size - end)
        if any(bounds(gap)[1] < 0 for gap in gaps):
            raise ViewError(f"shrink: axis {axis} has no range from {begin} to {end}: its size is {size}")
    after = alone(fields).shrink(ranges)
    cut_within = moved(sizes, after) if fields.mask is None else merged(sizes, after)
    if cut_within is not None:
        return cut_within
    # On which side of a bound the mask ends is not known: its ends are minima and maxima, names of their own.
    whole = moved(sizes, alone(fields._replace(mask=None)).shrink(ranges))
    smax, smin = sizes.tg.ops.smax, sizes.tg.ops.smin
    mask = []
    for (begin, end), pair in zip(ranges, fields.mask or ()):
        low, high = sizes.uop(begin), sizes.uop(end)
        mask.append(tuple(smax(0, smin(sizes.uop(at) - low, high - low)) for at in pair))
    cut = sizes.fields(whole)
    return sizes.made(Fields(cut.shape, cut.strides, cut.offset, sizes.pairs(mask)))


def expand(sizes: Sizes, view: View, new_shape: Any) -> View:
    to = sizes.sizes(new_shape)
    check_count("expand", view, to)
    fields = sizes.fields(view)
    if any(size == 0 for size in fields.shape):
        return sizes.made(Fields(to, row_major(to), 0, None))
    shape = list(fields.shape)
    for axis, (size, wanted) in enumerate(zip(fields.shape, to)):
        if bounds(wanted)[1] < 0 or (size != 1 and same(size, wanted) is False):
            raise ViewError(f"expand: axis {axis} has the size {size}, and cannot be expanded to {wanted}")
        if size != 1:
            # That both are equal is taken for granted; it is the new one from now on.
            shape[axis] = wanted
    taken = fields._replace(shape=tuple(shape))
    return moved(sizes, alone(taken).expand(to))


def permute(sizes: Sizes, view: View, axes: Any) -> View:
    axes = tuple(axes)
    if sorted(axes) != list(range(len(view.shape))):
        raise ViewError(f"permute: {axes} is no order of {len(view.shape)} axes")
    fields = sizes.fields(view)
    mask = None if fields.mask is None else tuple(fields.mask[axis] for axis in axes)
    shape, strides = (tuple(of[axis] for axis in axes) for of in (fields.shape, fields.strides))
    return sizes.made(Fields(shape, strides, fields.offset, mask))


def flip(sizes: Sizes, view: View, reversed_axes: Any) -> View:
    flags = tuple(bool(flag) for flag in reversed_axes)
    rank = len(view.shape)
    if any(flags[rank:]) or len(flags) < rank:
        check_count("flip", view, flags)
    axes = [axis for axis, flag in enumerate(flags) if flag]
    fields = sizes.fields(view)
    return moved(sizes, alone(fields).flip(axes)) if axes else sizes.made(fields)


def reshape(sizes: Sizes, view: View, new_shape: Any) -> View | None:
    fields, to = sizes.fields(view), sizes.sizes(new_shape)
    if to == fields.shape:
        return view
    if any(bounds(size)[1] < 0 for size in to):
        raise ViewError(f"reshape: a size of {new_shape} is negative")
    if same(product(fields.shape), product(to)) is False:
        raise ViewError(f"reshape: {view.shape} and {new_shape} have different numbers of elements")
    if fields.contiguous or any(size == 0 for size in fields.shape):
        return sizes.made(Fields(to, row_major(to), 0, None))
    if all(isinstance(size, int) for size in fields.shape) and not all(isinstance(size, int) for size in to):
        return _bound(sizes, view, fields, new_shape)
    return merged(sizes, alone(fields).reshape(to))


def _bound(sizes: Sizes, view: View, fields: Fields, new_shape: Any) -> View:
    """Numbers replaced by what they are the values of: everything else stays as it is."""
    values = [value(sizes, name) for name in new_shape]
    if values != list(fields.shape):
        raise ViewError(f"reshape: {view.shape} is not row-major, and has not the values of {new_shape}")
    return View(tuple(new_shape), view.strides, view.offset, view.mask, view.contiguous)


def value(sizes: Sizes, name: Any) -> int | None:
    """The number that a size is where its bound variables have their values."""
    if not isinstance(name, sizes.tg.UOp):
        return int(name)
    value = name.substitute({var: var.src[1] for var in name.vars() if var.op is sizes.tg.Ops.BIND}).ssimplify()
    return value if isinstance(value, int) else None


def minify(sizes: Sizes, view: View) -> View:
    fewest, _ = sizes.stack([view]).max_merge()
    return view if len(fewest.shape) >= len(view.shape) else sizes.made(fewest)


def add(sizes: Sizes, below: View, above: View) -> View | None:
    under, over = sizes.fields(below), sizes.fields(above)
    if under.contiguous or bounds(product(over.shape))[1] <= 0:
        return above
    return merged(sizes, Tracker([under.view(), over.view()]))


def invert(sizes: Sizes, view: View, out_shape: Any) -> View | None:
    fields = sizes.fields(view)
    # In which order the axes lie in memory is seen where the names are largest, and proved by what comes of it.
    ends = [bounds(stride)[1] for stride in fields.strides]
    flipped = [axis for axis, end in enumerate(ends) if end < 0]
    order = sorted(range(len(ends)), key=lambda axis: -abs(ends[axis]))
    ranges = fields.mask or tuple((0, size) for size in fields.shape)

    def ordered(tracker: Tracker) -> Fields:
        view = tracker.shrink(ranges).flip(flipped).permute(order).as_view()
        if view is None:
            raise Open("the result is no single view")
        return canonical(Fields(view.shape, view.strides, view.offset, view.mask))

    in_memory = ordered(alone(fields))
    if not in_memory.contiguous or same(product(in_memory.shape), product(sizes.sizes(out_shape))) is not True:
        return None
    return sizes.made(ordered(Tracker.contiguous(fields.shape)))
