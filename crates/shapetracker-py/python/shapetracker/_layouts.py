"""What may be given for a tracker over the elements of an array."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from operator import index
from typing import Any, SupportsIndex, TypeAlias

from . import _native
from ._native import ShapeTracker, View

Layout: TypeAlias = ShapeTracker | View | str | Callable[[ShapeTracker], Any]
"""What `layout_over` takes for a tracker."""


Sizes: TypeAlias = Mapping[str, SupportsIndex] | None
"""Values of the names that sizes may have."""


def layout_over(op: str, layout: Layout, shape: tuple[int, ...], sizes: Sizes = None) -> ShapeTracker:
    """The tracker over the elements of an array of a shape that is meant.

    A tracker or a view, whose addresses are row-major positions in the array; the text of a chain, in which any name or
    nothing stands for the array: `"x.permute(1, 0)"`, `".permute(1, 0)"`; or a function that is given the array's own
    tracker. Sizes that are names have the values in `sizes`.
    """
    values = {name: index(value) for name, value in (sizes or {}).items()}
    given: object = layout
    if isinstance(layout, str):
        # A text says them as a program does.
        said = "".join(f"{name} = {value}; " for name, value in values.items())
        given = _native.chain_over(said + layout, shape)
    elif callable(layout):
        given = layout(ShapeTracker.contiguous(shape))
    if isinstance(given, View):
        given = ShapeTracker([given])
    if not isinstance(given, ShapeTracker):
        raise TypeError(
            f"{op}: takes a ShapeTracker, the text of a chain such as 'x.permute(1, 0).reshape(-1)', or a function from tracker"
            f" to tracker, not a value of type {type(given).__name__}"
        )
    if given.names and values:
        given = given.at(**values)
    if given.names:
        missing = ", ".join(f"{name}={1 if low is None else low}" for name, (low, _) in given.names.items())
        raise TypeError(f"{op}: takes numbers, and here sizes have names: say values, as `.at({missing})` does")
    numel, reached = math.prod(shape), given.address_range()
    if reached is not None and not 0 <= reached[0] <= reached[1] < numel:
        outside = reached[0] if reached[0] < 0 else reached[1]
        raise ValueError(f"{op}: the tracker reads element {outside}, but the array of shape {shape} has only {numel}")
    return given


def shown_bytes(count: int) -> str:
    """A number of bytes for people."""
    size, unit = float(count), "bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024 or unit == "PiB":
            break
        size /= 1024
    return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
