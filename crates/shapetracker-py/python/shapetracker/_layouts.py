"""What may be given for a tracker over the elements of an array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from . import _native
from ._native import ShapeTracker, View

Layout: TypeAlias = ShapeTracker | View | str | Callable[[ShapeTracker], Any]
"""What `layout_over` takes for a tracker."""


def layout_over(op: str, layout: Layout, shape: tuple[int, ...]) -> ShapeTracker:
    """The tracker over the elements of an array of a shape that is meant.

    A tracker or a view, whose addresses are row-major positions in the array; the text of a chain, in which any name or
    nothing stands for the array: `"x.permute(1, 0)"`, `".permute(1, 0)"`; or a function that is given the array's own
    tracker.
    """
    given: object = layout
    if isinstance(layout, str):
        given = _native.chain_over(layout, shape)
    elif callable(layout):
        given = layout(ShapeTracker.contiguous(shape))
    if isinstance(given, View):
        given = ShapeTracker([given])
    if not isinstance(given, ShapeTracker):
        raise TypeError(
            f"{op}: takes a ShapeTracker, the text of a chain such as 'x.permute(1, 0).reshape(-1)', or a function from tracker"
            f" to tracker, not a value of type {type(given).__name__}"
        )
    if given.names:
        values = ", ".join(f"{name}={1 if low is None else low}" for name, (low, _) in given.names.items())
        raise TypeError(f"{op}: takes numbers, and here sizes have names: say values, as `.at({values})` does")
    numel, reached = math.prod(shape), given.address_range()
    if reached is not None and not 0 <= reached[0] <= reached[1] < numel:
        outside = reached[0] if reached[0] < 0 else reached[1]
        raise ValueError(f"{op}: the tracker reads element {outside}, but the array of shape {shape} has only {numel}")
    return given
