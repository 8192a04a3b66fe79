"""A stand-in for `tinygrad.shape.shapetracker`: the class ShapeTracker, and what it is asked most.

Sizes are numbers or, where tinygrad is loaded, its UOps.
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

from ._classes import ShapeTracker
from .uop import UOp
from .view import View, unravel

__all__ = ["ShapeTracker", "View", "mops", "unravel", "views_to_indexed_uops", "views_to_real_strides"]


class _Operations(dict[str, Callable[..., ShapeTracker]]):
    """Operations by their names, and by anything that has one, such as tinygrad's Ops.RESHAPE."""

    def __missing__(self, op: Any) -> Callable[..., ShapeTracker]:
        name = getattr(op, "name", None)
        if isinstance(name, str) and name in self:
            return self[name]
        raise TypeError(f"{op!r} is no movement operation; there are {', '.join(self)}")


mops = _Operations(
    RESHAPE=ShapeTracker.reshape,
    PERMUTE=ShapeTracker.permute,
    EXPAND=ShapeTracker.expand,
    SHRINK=ShapeTracker.shrink,
    FLIP=ShapeTracker.flip,
    PAD=ShapeTracker.pad,
)


def views_to_indexed_uops(views: tuple[View, ...], _idxs: Sequence[UOp | int] | None = None) -> tuple[UOp, UOp]:
    """The address of an element of a stack of views, and the condition that it has one."""
    return ShapeTracker(views).to_indexed_uops(_idxs)


def views_to_real_strides(views: tuple[View, ...], ignore_valid: bool = False) -> tuple[int | None, ...]:
    """For each axis its stride where the address has one; None where it has none or, mostly, the axis is masked."""
    return ShapeTracker(views).real_strides(ignore_valid)
