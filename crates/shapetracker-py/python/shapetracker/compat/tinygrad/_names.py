"""The operations of `View` and `ShapeTracker` where sizes are tinygrad's UOps, on this package's trackers.

An operation is done where what it needs of the values is proved, or may hold: tinygrad takes it for granted, too. What
can hold for no values is refused. Where these trackers have no answer tinygrad's own classes are asked.
"""

from __future__ import annotations

from operator import index
from typing import Any, Callable

from shapetracker import Expr, Undecided
from shapetracker import ShapeTracker as Tracker
from shapetracker import View as ExactView

from . import _moves
from ._classes import ShapeTracker, View
from ._fallbacks import fall_back
from ._genuine import Tinygrad, loaded
from ._sizes import Fields, Open, Sizes, bounds, canonical, product, row_major
from ._uops import Writer, indexed_by_names, indices
from .view import ViewError, unravel

__all__ = ["answer"]


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
        return fall_back(tg, op, str(why), thing, arguments)


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


# Views are made.


def _fields(
    sizes: Sizes, _: None, shape: Any, strides: Any, offset: Any, mask: Any, contiguous: bool
) -> tuple[Any, ...]:
    """The fields of `View(..)`, which are kept as they are."""
    shape, strides = tuple(shape), tuple(strides)
    mask = None if mask is None else tuple(tuple(pair) for pair in mask)
    for size in (*shape, *strides, offset, *(end for pair in mask or () for end in pair)):
        if not isinstance(size, sizes.tg.UOp):
            index(size)
    return shape, strides, offset, mask, contiguous


def _create(sizes: Sizes, _: None, shape: Any, strides: Any, offset: Any, mask: Any) -> View:
    shape = sizes.sizes(shape)
    strides = sizes.sizes(strides) if strides else row_major(shape)
    offset = 0 if offset is None else sizes.size(offset)
    return sizes.made(Fields(shape, strides, offset, None if mask is None else sizes.pairs(mask)))


def _size(sizes: Sizes, view: View) -> int:
    return int(product(bounds(size)[1] for size in sizes.sizes(view.shape)))  # type: ignore[arg-type]


def _exact(sizes: Sizes, view: View) -> ExactView:
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
            other = every.setdefault(name, value)
            if other != value:
                raise ViewError(f"unbind: {name.expr} is both {min(other, value)} and {max(other, value)}")
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

# What makes a stack of views none that trackers with names have: it is asked about view by view.
_REFUSED = (Open, ValueError, OverflowError)


def _tracker_exact(sizes: Sizes, st: ShapeTracker) -> Tracker:
    return sizes.stack(st.views)


def _consecutive(sizes: Sizes, st: ShapeTracker) -> bool:
    return sizes.fields(st.views[0])._replace(offset=0).contiguous


def _simplify(sizes: Sizes, st: ShapeTracker) -> ShapeTracker:
    try:
        fewest = sizes.stack(st.views).views
    except _REFUSED:
        # That the views fit on each other is not known; two of them may be one all the same.
        return _simplified_in_pairs(sizes, st)
    if len(fewest) >= len(st.views) or (not fewest[-1].shape and fewest[-1].mask is not None):
        return st
    return ShapeTracker(tuple(sizes.made(view) for view in fewest))


def _simplified_in_pairs(sizes: Sizes, st: ShapeTracker) -> ShapeTracker:
    views = list(st.views)
    while len(views) > 1:
        try:
            merged = _moves.add(sizes, views[-2], views[-1])
        except _REFUSED:
            merged = None
        if merged is None:
            break
        views[-2:] = [merged]
    return ShapeTracker(tuple(views)) if len(views) < len(st.views) else st


def _tracker_invert(sizes: Sizes, st: ShapeTracker, out_shape: Any) -> ShapeTracker | None:
    shapes = [*(view.shape for view in st.views[-2::-1]), out_shape]
    views = []
    for view, shape in zip(reversed(st.views), shapes):
        inverse = _moves.invert(sizes, view, shape)
        if inverse is None:
            return None
        views.append(inverse)
    return ShapeTracker(tuple(views)).reshape(out_shape)


def _real_size(sizes: Sizes, st: ShapeTracker) -> int:
    if any(size == 0 for size in st.shape):
        return 0
    first = sizes.fields(st.views[0])
    if first.mask is not None:
        cut = Tracker([first.view()]).shrink(first.mask).as_view()
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


def _to_indexed_uops(sizes: Sizes, st: ShapeTracker, idxs: Any, vexpr: Any = None) -> tuple[Any, Any]:
    idxs = None if idxs is None else tuple(idxs)
    if len(st.views) == 1:
        # No division is in it, and a stride such as n + 1 stays one factor, which the loops need anyway.
        return _view_by_view(sizes, st, idxs, vexpr)
    try:
        return indexed_by_names(sizes.tg, st.shape, _code(sizes, st), idxs, vexpr, sizes.leaves)
    except _REFUSED:
        return _view_by_view(sizes, st, idxs, vexpr)


def _view_by_view(sizes: Sizes, st: ShapeTracker, idxs: Any, vexpr: Any) -> tuple[Any, Any]:
    """Address and condition of each view over those of the one on top of it, simplified by tinygrad's own rules."""
    tg = sizes.tg
    at = indices(tg, st.shape, idxs)
    valid = tg.UOp.const(tg.dtypes.bool, True) if vexpr is None or vexpr is True else vexpr
    address = tg.UOp.const(tg.dtypes.int, 0)
    for place, view in enumerate(reversed(st.views)):
        if place:
            at = unravel(view.shape, address)
        address = tg.ops.sint_to_uop(view.offset)
        for index, stride in zip(at, view.strides):
            address = address + index * stride
        for index, (begin, end) in zip(map(tg.ops.sint_to_uop, at), view.mask or ()):
            valid = valid & (index < begin).logical_not() & (index < end)
    pair = tg.UOp.sink(address, valid)
    try:
        pair = tg.ops.graph_rewrite(pair, tg.shapetracker.symbolic_flat)
    except RuntimeError:
        pass  # On some quotients of quotients its rules never come to an end, which it notices.
    address, valid = tg.ops.graph_rewrite(pair, tg.shapetracker.pm_upcast).src
    return address, valid


def _view_to_indexed_uops(sizes: Sizes, view: View, idxs: Any, vexpr: Any) -> tuple[Any, Any]:
    return _to_indexed_uops(sizes, ShapeTracker((view,)), idxs, vexpr)


def _masked_axes(sizes: Sizes, st: ShapeTracker) -> list[bool]:
    if len(st.views) == 1:
        mask = sizes.fields(st.views[0]).mask
        return [mask is not None and mask[axis] != (0, size) for axis, size in enumerate(sizes.sizes(st.shape))]
    try:
        occurring = _code(sizes, st)[1].variables
    except _REFUSED:
        return [True] * len(st.shape)  # None is known not to be.
    return [f"idx{axis}" in occurring for axis in range(len(st.shape))]


def _strides(sizes: Sizes, st: ShapeTracker) -> list[Any]:
    """The stride of each axis, wherever its element is; None where it has none."""
    st = _simplify(sizes, st) if len(st.views) > 1 else st
    if len(st.views) == 1:
        return list(st.views[0].strides)
    try:
        address = _code(sizes, st)[0]
    except _REFUSED:
        return [None] * len(st.shape)
    write = Writer(sizes.tg, sizes.leaves)
    axes = {f"idx{axis}" for axis in range(len(st.shape))}
    strides: list[Any] = []
    for axis in range(len(st.shape)):
        name = f"idx{axis}"
        # All entries but the last, from which a step leads to the next one.
        before: dict[str, Any] = {name: address.variables.get(name, range(0))[:-1]}
        if not before[name]:
            strides.append(0)
            continue
        here = Expr(name, **before)
        step = (address.substitute(**{name: here + 1}) - address.substitute(**{name: here})).simplify()
        strides.append(None if axes & step.variables.keys() else write(step.nodes(), -1)[0].ssimplify())
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
    "pad": _moves.pad,
    "shrink": _moves.shrink,
    "expand": _moves.expand,
    "permute": _moves.permute,
    "flip": _moves.flip,
    "reshape": _moves.reshape,
    "minify": _moves.minify,
    "__add__": _moves.add,
    "invert": _moves.invert,
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
