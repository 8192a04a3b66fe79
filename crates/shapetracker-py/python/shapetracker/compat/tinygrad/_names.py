"""The operations of `View` and `ShapeTracker` where sizes are tinygrad's UOps, on the symbolic trackers of this package.

An operation is done where what it needs of the values is proved, or may hold: tinygrad takes it for granted, too. What can
hold for no values is refused. Where the symbolic trackers have no answer tinygrad's own classes are asked; `fallbacks` counts
how often that was so.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Sequence

from shapetracker import Expr, SymbolicShapeTracker, SymbolicView, Undecided

from ._classes import ShapeTracker, View
from ._genuine import Tinygrad, loaded
from ._sizes import Fields, Open, Size, Sizes, bounds, canonical, product, row_major, same
from ._uops import Writer, indexed
from .view import ViewError

__all__ = ["answer", "fallbacks"]

_counts: Counter[tuple[str, str]] = Counter()

# So many different reasons are told apart; the rest counts as one.
_MOST = 1000


def fallbacks(*, clear: bool = False) -> list[tuple[str, str, int]]:
    """What symbolic sizes asked tinygrad's own classes for: operations, reasons, and how often; the most frequent first.

    With `clear` counting begins again.
    """
    counted = [(op, reason, count) for (op, reason), count in _counts.most_common()]
    if clear:
        _counts.clear()
    return counted


def answer(op: str, thing: View | ShapeTracker | None, arguments: tuple[Any, ...]) -> Any:
    """What an operation answers where a size is a UOp; NotImplemented where none is."""
    tg = loaded()
    if tg is None or not (_named(tg, thing) or _named(tg, arguments)):
        return NotImplemented
    try:
        return _ANSWERS[op](Sizes(tg), thing, *arguments)
    except ViewError:
        raise
    except (Open, Undecided, ValueError, OverflowError) as why:
        return _fall_back(tg, op, str(why), thing, arguments)


def _named(tg: Tinygrad, thing: Any, depth: int = 4) -> bool:
    """Whether there is a UOp in an argument, or in the fields of a view."""
    if isinstance(thing, tg.UOp):
        return True
    if isinstance(thing, View):
        thing = (thing.shape, thing.strides, thing.offset, thing.mask)
    elif isinstance(thing, ShapeTracker):
        thing = thing.views
    if isinstance(thing, (tuple, list)):
        return depth > 0 and any(type(item) is not int and _named(tg, item, depth - 1) for item in thing)
    return False


# What tinygrad's own classes answer.


def _fall_back(tg: Tinygrad, op: str, why: str, thing: Any, arguments: tuple[Any, ...]) -> Any:
    key = (op.removeprefix("tracker."), why)
    if key not in _counts and len(_counts) >= _MOST:
        key = (key[0], "other reasons")
    _counts[key] += 1
    name = op.rpartition(".")[2]
    asked = getattr(tg.View if thing is None else _genuine(tg, thing), name)
    return _taken(tg, asked(*(_genuine(tg, value) for value in arguments)) if callable(asked) else asked)


def _genuine(tg: Tinygrad, value: Any) -> Any:
    """A view or tracker as one of tinygrad's."""
    if isinstance(value, View):
        return tg.View(value.shape, value.strides, value.offset, value.mask, value.contiguous)
    if isinstance(value, ShapeTracker):
        return tg.ShapeTracker(tuple(_genuine(tg, view) for view in value.views))
    return value


def _taken(tg: Tinygrad, value: Any) -> Any:
    """A view or tracker of tinygrad as one of these."""
    if isinstance(value, tg.View):
        return View(value.shape, value.strides, value.offset, value.mask, value.contiguous)
    if isinstance(value, tg.ShapeTracker):
        return ShapeTracker(tuple(_taken(tg, view) for view in value.views))
    return value


# Views are made.


def _fields(sizes: Sizes, _: None, shape: Any, strides: Any, offset: Any, mask: Any, contiguous: bool) -> tuple[Any, ...]:
    """The fields of `View(..)`, which are kept as they are."""
    sizes.sizes(shape), sizes.sizes(strides), sizes.size(offset)
    if mask is not None:
        sizes.pairs(mask)
        mask = tuple(map(tuple, mask))
    return tuple(shape), tuple(strides), offset, mask, contiguous


def _create(sizes: Sizes, _: None, shape: Any, strides: Any, offset: Any, mask: Any) -> View:
    shape = sizes.sizes(shape)
    strides = sizes.sizes(strides) if strides else row_major(shape)
    offset = 0 if offset is None else sizes.size(offset)
    return sizes.made(Fields(shape, strides, offset, None if mask is None else sizes.pairs(mask)))


# Movement operations on a view.


def _one(sizes: Sizes, tracker: SymbolicShapeTracker) -> View | None:
    """The view of a tracker, if it is one that fields can say: they have no masked scalar."""
    view = tracker.as_view()
    return None if view is None or (not view.shape and view.mask is not None) else sizes.made(view)


def _moved(sizes: Sizes, tracker: SymbolicShapeTracker) -> View:
    view = _one(sizes, tracker)
    if view is None:
        raise Open("the result is no single view")
    return view


def _count(op: str, view: View, arguments: Sequence[Any]) -> None:
    if len(arguments) != len(view.shape):
        raise ViewError(f"{op}: takes one entry per axis: the view has {len(view.shape)}, but {len(arguments)} were given")


def _pad(sizes: Sizes, view: View, pads: Any) -> View:
    pads = sizes.pairs(pads)
    _count("pad", view, pads)
    for axis, pair in enumerate(pads):
        if any(bounds(pad)[1] < 0 for pad in pair):
            raise ViewError(f"pad: axis {axis} cannot be padded by a negative number of elements")
    if all(pad == 0 for pair in pads for pad in pair):
        return view
    return _moved(sizes, sizes.stack([view]).pad(pads))


def _shrink(sizes: Sizes, view: View, ranges: Any) -> View:
    ranges = sizes.pairs(ranges)
    _count("shrink", view, ranges)
    fields = sizes.fields(view)
    for axis, ((begin, end), size) in enumerate(zip(ranges, fields.shape)):
        gaps: tuple[Any, ...] = (begin, end - begin, size - end)
        if any(bounds(gap)[1] < 0 for gap in gaps):
            raise ViewError(f"shrink: axis {axis} has no range from {begin} to {end}: its size is {size}")
    after = SymbolicShapeTracker([fields.view()]).shrink(ranges)
    if after.as_view() is not None or fields.mask is None:
        return _moved(sizes, after)
    # On which side of a bound the mask ends is not known: its ends are minima and maxima, names of their own from now on.
    whole = _moved(sizes, SymbolicShapeTracker([fields._replace(mask=None).view()]).shrink(ranges))
    smax, smin = sizes.tg.ops.smax, sizes.tg.ops.smin
    mask = []
    for (begin, end), pair in zip(ranges, fields.mask):
        low, high = sizes.uop(begin), sizes.uop(end)
        mask.append(tuple(smax(0, smin(sizes.uop(at) - low, high - low)) for at in pair))
    cut = sizes.fields(whole)
    return sizes.made(Fields(cut.shape, cut.strides, cut.offset, sizes.pairs(mask)))


def _expand(sizes: Sizes, view: View, new_shape: Any) -> View:
    to = sizes.sizes(new_shape)
    _count("expand", view, to)
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
    return _moved(sizes, SymbolicShapeTracker([taken.view()]).expand(to))


def _permute(sizes: Sizes, view: View, axes: Any) -> View:
    axes = tuple(axes)
    if sorted(axes) != list(range(len(view.shape))):
        raise ViewError(f"permute: {axes} is no order of {len(view.shape)} axes")
    fields = sizes.fields(view)
    mask = None if fields.mask is None else tuple(fields.mask[axis] for axis in axes)
    shape, strides = (tuple(of[axis] for axis in axes) for of in (fields.shape, fields.strides))
    return sizes.made(Fields(shape, strides, fields.offset, mask))


def _flip(sizes: Sizes, view: View, reversed_axes: Any) -> View:
    flags = tuple(bool(flag) for flag in reversed_axes)
    _count("flip", view, flags)
    axes = [axis for axis, flag in enumerate(flags) if flag]
    return _moved(sizes, sizes.stack([view]).flip(axes)) if axes else sizes.made(sizes.fields(view))


def _reshape(sizes: Sizes, view: View, new_shape: Any) -> View | None:
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
    return _one(sizes, SymbolicShapeTracker([fields.view()]).reshape(to))


def _bound(sizes: Sizes, view: View, fields: Fields, new_shape: Any) -> View:
    """Numbers replaced by what they are the values of: everything else stays as it is."""
    values = [_value(sizes, name) for name in new_shape]
    if values != list(fields.shape):
        raise ViewError(f"reshape: {view.shape} is not row-major, and has not the values of {new_shape}")
    return View(tuple(new_shape), view.strides, view.offset, view.mask, view.contiguous)


def _value(sizes: Sizes, name: Any) -> int | None:
    """The number that a size is where its bound variables have their values."""
    if not isinstance(name, sizes.tg.UOp):
        return int(name)
    value = name.substitute({var: var.src[1] for var in name.vars() if var.op is sizes.tg.Ops.BIND}).ssimplify()
    return value if isinstance(value, int) else None


def _minify(sizes: Sizes, view: View) -> View:
    fewest, _ = sizes.stack([view]).max_merge()
    return view if len(fewest.shape) >= len(view.shape) else sizes.made(fewest)


def _add(sizes: Sizes, below: View, above: View) -> View | None:
    under, over = sizes.fields(below), sizes.fields(above)
    if under.contiguous or bounds(product(over.shape))[1] <= 0:
        return above
    return _one(sizes, SymbolicShapeTracker([under.view(), over.view()]))


def _invert(sizes: Sizes, view: View, out_shape: Any) -> View | None:
    fields = sizes.fields(view)
    # In which order the axes lie in memory is seen where the names are largest, and proved by what comes of it.
    ends = [bounds(stride)[1] for stride in fields.strides]
    flipped = [axis for axis, end in enumerate(ends) if end < 0]
    order = sorted(range(len(ends)), key=lambda axis: -abs(ends[axis]))
    ranges = fields.mask or tuple((0, size) for size in fields.shape)

    def ordered(tracker: SymbolicShapeTracker) -> Fields:
        view = tracker.shrink(ranges).flip(flipped).permute(order).as_view()
        if view is None:
            raise Open("the result is no single view")
        return canonical(Fields(view.shape, view.strides, view.offset, view.mask))

    in_memory = ordered(SymbolicShapeTracker([fields.view()]))
    if not in_memory.contiguous or same(product(in_memory.shape), product(sizes.sizes(out_shape))) is not True:
        return None
    return sizes.made(ordered(SymbolicShapeTracker.contiguous(fields.shape)))


def _size(sizes: Sizes, view: View) -> int:
    return int(product(bounds(size)[1] for size in sizes.sizes(view.shape)))  # type: ignore[arg-type]


def _exact(sizes: Sizes, view: View) -> SymbolicView:
    return sizes.fields(view).view()


# Names and their values.


def _of(view: View) -> list[Any]:
    """All that a view is made of."""
    ends = [end for pair in view.mask or () for end in pair]
    return [*view.shape, *view.strides, view.offset, *ends]


def _vars(sizes: Sizes, view: View) -> set[Any]:
    return {var for field in _of(view) if isinstance(field, sizes.tg.UOp) for var in field.vars()}


def _substitute(sizes: Sizes, view: View, values: dict[Any, Any]) -> View:
    def put(field: Any) -> Any:
        return field.substitute(values) if isinstance(field, sizes.tg.UOp) else field

    mask = None if view.mask is None else sizes.pairs((put(begin), put(end)) for begin, end in view.mask)
    shape, strides = sizes.sizes(map(put, view.shape)), sizes.sizes(map(put, view.strides))
    return sizes.made(Fields(shape, strides, sizes.size(put(view.offset)), mask))


def _unbind(sizes: Sizes, view: View) -> tuple[View, dict[Any, int]]:
    bound = {var: var.unbind() for var in _vars(sizes, view) if var.op is sizes.tg.Ops.BIND}
    free = _substitute(sizes, view, {var: name for var, (name, _) in bound.items()})
    return free, dict(bound.values())


def _tracker_vars(sizes: Sizes, st: ShapeTracker) -> set[Any]:
    return {var for view in st.views for var in _vars(sizes, view)}


def _united(values: list[dict[Any, int]]) -> dict[Any, int]:
    every: dict[Any, int] = {}
    for some in values:
        for name, value in some.items():
            if every.setdefault(name, value) != value:
                raise ViewError(f"unbind: {name.expr} is both {every[name]} and {value}")
    return every


def _var_vals(sizes: Sizes, st: ShapeTracker) -> dict[Any, int]:
    return _united([dict([var.unbind()]) for var in _tracker_vars(sizes, st)])


def _tracker_unbind(sizes: Sizes, st: ShapeTracker) -> tuple[ShapeTracker, dict[Any, int]]:
    unbound = [_unbind(sizes, view) if _named(sizes.tg, view) else view.unbind() for view in st.views]
    values = _united([values for _, values in unbound])
    return (ShapeTracker(tuple(view for view, _ in unbound)), values) if values else (st, values)


def _tracker_substitute(sizes: Sizes, st: ShapeTracker, values: dict[Any, Any]) -> ShapeTracker:
    return ShapeTracker(tuple(_substitute(sizes, view, values) for view in st.views))


# What is asked of a tracker.


def _tracker_exact(sizes: Sizes, st: ShapeTracker) -> SymbolicShapeTracker:
    return sizes.stack(st.views)


def _consecutive(sizes: Sizes, st: ShapeTracker) -> bool:
    return sizes.fields(st.views[0])._replace(offset=0).contiguous


def _simplify(sizes: Sizes, st: ShapeTracker) -> ShapeTracker:
    try:
        fewest = sizes.stack(st.views).views
    except (ValueError, OverflowError):
        # That the views fit on each other is not known; two of them may be one all the same.
        return _simplified_in_pairs(sizes, st)
    if len(fewest) >= len(st.views) or (not fewest[-1].shape and fewest[-1].mask is not None):
        return st
    return ShapeTracker(tuple(sizes.made(view) for view in fewest))


def _simplified_in_pairs(sizes: Sizes, st: ShapeTracker) -> ShapeTracker:
    views = list(st.views)
    while len(views) > 1:
        try:
            merged = _add(sizes, views[-2], views[-1])
        except (ValueError, OverflowError):
            merged = None
        if merged is None:
            break
        views[-2:] = [merged]
    return ShapeTracker(tuple(views)) if len(views) < len(st.views) else st


def _tracker_invert(sizes: Sizes, st: ShapeTracker, out_shape: Any) -> ShapeTracker | None:
    shapes = [*(view.shape for view in st.views[-2::-1]), out_shape]
    views = []
    for view, shape in zip(reversed(st.views), shapes):
        inverse = _invert(sizes, view, shape)
        if inverse is None:
            return None
        views.append(inverse)
    return ShapeTracker(tuple(views)).reshape(out_shape)


def _real_size(sizes: Sizes, st: ShapeTracker) -> int:
    if any(size == 0 for size in st.shape):
        return 0
    first = sizes.fields(st.views[0])
    if first.mask is not None:
        cut = SymbolicShapeTracker([first.view()]).shrink(first.mask).as_view()
        if cut is None:
            raise Open("the result is no single view")
        first = canonical(Fields(cut.shape, cut.strides, cut.offset, None))
    most = bounds(first.offset)[1]
    for size, stride in zip(first.shape, first.strides):
        last = bounds(size)[1] - 1
        most += max(0, last * bounds(stride)[1])
    return most + 1


def _code(sizes: Sizes, st: ShapeTracker) -> tuple[Expr, Expr]:
    code = sizes.stack(st.views).index_expr()
    return code.index, code.valid


def _to_indexed_uops(sizes: Sizes, st: ShapeTracker, idxs: Any) -> tuple[Any, Any]:
    return indexed(sizes.tg, st.shape, _code(sizes, st), idxs, None, sizes.leaves)


def _view_to_indexed_uops(sizes: Sizes, view: View, idxs: Any, vexpr: Any) -> tuple[Any, Any]:
    return indexed(sizes.tg, view.shape, _code(sizes, ShapeTracker((view,))), idxs, vexpr, sizes.leaves)


def _masked_axes(sizes: Sizes, st: ShapeTracker) -> list[bool]:
    if len(st.views) == 1:
        mask = sizes.fields(st.views[0]).mask
        return [mask is not None and mask[axis] != (0, size) for axis, size in enumerate(sizes.sizes(st.shape))]
    occurring = _code(sizes, st)[1].variables
    return [f"idx{axis}" in occurring for axis in range(len(st.shape))]


def _strides(sizes: Sizes, st: ShapeTracker) -> list[Any]:
    """The stride of each axis, wherever its element is; None where it has none."""
    st = _simplify(sizes, st) if len(st.views) > 1 else st
    if len(st.views) == 1:
        return list(st.views[0].strides)
    index = _code(sizes, st)[0]
    write = Writer(sizes.tg, sizes.leaves)
    axes = {f"idx{axis}" for axis in range(len(st.shape))}
    strides: list[Any] = []
    for axis in range(len(st.shape)):
        name = f"idx{axis}"
        if name not in index.variables:
            strides.append(0)
            continue
        here = Expr(name, **{name: index.variables[name]})
        step = (index.substitute(**{name: here + 1}) - index).simplify()
        found = None if axes & step.variables.keys() else write(step).ssimplify()
        strides.append(found)
    return strides


def _real_strides(sizes: Sizes, st: ShapeTracker, ignore_valid: bool) -> tuple[Any, ...]:
    strides = _strides(sizes, st)
    if ignore_valid:
        return tuple(strides)
    return tuple(None if masked else stride for stride, masked in zip(strides, _masked_axes(sizes, st)))


def _unit_stride_axes(sizes: Sizes, st: ShapeTracker, ignore_valid: bool) -> list[int]:
    strides = _real_strides(sizes, st, ignore_valid)
    return [axis for axis, stride in enumerate(strides) if stride is not None and sizes.size(stride) == 1]


def _axis_is_masked(sizes: Sizes, st: ShapeTracker, axis: int) -> bool:
    return 0 <= axis < len(st.shape) and _masked_axes(sizes, st)[axis]


_ANSWERS: dict[str, Callable[..., Any]] = {
    "View": _fields,
    "View.create": _create,
    "pad": _pad,
    "shrink": _shrink,
    "expand": _expand,
    "permute": _permute,
    "flip": _flip,
    "reshape": _reshape,
    "minify": _minify,
    "__add__": _add,
    "invert": _invert,
    "size": _size,
    "exact": _exact,
    "vars": _vars,
    "substitute": _substitute,
    "unbind": _unbind,
    "to_indexed_uops": _view_to_indexed_uops,
    "tracker.exact": _tracker_exact,
    "tracker.consecutive": _consecutive,
    "tracker.simplify": _simplify,
    "tracker.invert": _tracker_invert,
    "tracker.real_size": _real_size,
    "tracker.real_strides": _real_strides,
    "tracker.unit_stride_axes": _unit_stride_axes,
    "tracker.axis_is_masked": _axis_is_masked,
    "tracker.vars": _tracker_vars,
    "tracker.var_vals": _var_vals,
    "tracker.unbind": _tracker_unbind,
    "tracker.substitute": _tracker_substitute,
    "tracker.to_indexed_uops": _to_indexed_uops,
}
