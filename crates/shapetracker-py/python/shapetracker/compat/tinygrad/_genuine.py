"""tinygrad itself, where it is loaded: the one place that knows how its releases differ.

Nothing here imports tinygrad unless it is told to: whoever has tinygrad's UOps has loaded it already.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, NamedTuple

__all__ = ["SUPPORTED", "Tinygrad", "load", "loaded"]

SUPPORTED = ("0.10.3", "0.11.0")

# Where the graph lives: `tinygrad.uop.ops` since 0.11, `tinygrad.ops` before.
_GRAPHS = ("tinygrad.uop.ops", "tinygrad.ops")


class Tinygrad(NamedTuple):
    """tinygrad's graph, and its own modules and classes of layouts, whatever stands in for them elsewhere."""

    ops: ModuleType
    view: ModuleType
    shapetracker: ModuleType
    dtypes: Any
    View: type
    ShapeTracker: type
    UOp: Any
    Ops: Any


_known: Tinygrad | None = None


def loaded() -> Tinygrad | None:
    """tinygrad, if the program has imported it; None otherwise."""
    if _known is not None:
        return _known
    new, old = _GRAPHS
    return load() if new in sys.modules or old in sys.modules else None


def load() -> Tinygrad:
    """tinygrad, imported now if it was not yet; raises ImportError where there is none, or one without these modules."""
    global _known
    if _known is None:
        view = importlib.import_module("tinygrad.shape.view")
        shapetracker = importlib.import_module("tinygrad.shape.shapetracker")
        # The class says where it lives: both names may exist in a later release.
        ops = sys.modules[view.UOp.__module__]
        dtypes = shapetracker.dtypes
        _known = Tinygrad(ops, view, shapetracker, dtypes, view.View, shapetracker.ShapeTracker, ops.UOp, ops.Ops)
    return _known
