"""tinygrad's classes and their stand-ins, either of which a test can run on, and what NumPy makes of the same steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from oracle import MASKED, addresses, moved, of_views

pytest.importorskip("tinygrad.shape.view", reason="tinygrad 0.10.3 or 0.11.0 is not installed")

from shapetracker.compat.tinygrad import shapetracker as our_tracker  # noqa: E402
from shapetracker.compat.tinygrad import view as our_view  # noqa: E402
from shapetracker.compat.tinygrad._genuine import load  # noqa: E402

__all__ = [
    "DROP_IN",
    "GENUINE",
    "TG",
    "Classes",
    "Walk",
    "both",
    "drop_in",
    "elements",
    "evaluated",
    "is_masked",
    "stride",
]

TG = load()


class Classes(NamedTuple):
    View: Any
    ShapeTracker: Any
    merge_dims: Any

    def stack(self, *views: tuple[Any, ...]) -> Any:
        """A tracker of canonical views, the first next to memory."""
        return self.ShapeTracker(tuple(self.View.create(*view) for view in views))


GENUINE = Classes(TG.View, TG.ShapeTracker, TG.view.merge_dims)
DROP_IN = Classes(our_view.View, our_tracker.ShapeTracker, our_view.merge_dims)

both = pytest.mark.parametrize("classes", [pytest.param(GENUINE, id="genuine"), pytest.param(DROP_IN, id="drop-in")])


COMPAT = (Path(__file__).parents[1] / "COMPAT.md").read_text()


def drop_in(heading: str, *releases: str) -> pytest.MarkDecorator:
    """A test that tinygrad's own classes fail, in all releases or in those given.

    COMPAT.md says under the heading why the answer is better here.
    """
    assert f"\n### {heading}\n" in COMPAT, heading
    if releases and version("tinygrad") not in releases:
        return both
    fails = pytest.mark.xfail(reason=heading, strict=True)
    return pytest.mark.parametrize(
        "classes", [pytest.param(GENUINE, id="genuine", marks=fails), pytest.param(DROP_IN, id="drop-in")]
    )


def evaluated(uop: Any, index: Sequence[Any] = (), names: Mapping[str, int] | None = None) -> Any:
    """The values of a node of tinygrad's graph, given those of its ranges and of its variables, bound or not."""
    if not isinstance(uop, TG.UOp):
        return uop
    known: dict[Any, Any] = {}
    for node in uop.toposort():
        args = [known[operand] for operand in node.src]
        match node.op.name:
            case "CONST":
                known[node] = int(node.arg)
            case "RANGE":
                known[node] = index[node.arg]
            case "DEFINE_VAR":
                known[node] = (names or {})[node.arg[0]]
            case "CAST" | "BIND":
                known[node] = args[0]
            case "ADD":
                known[node] = args[0] + args[1]
            case "MUL" | "AND":
                known[node] = args[0] * args[1]
            case "OR":
                known[node] = args[0] | args[1]
            case "MAX":
                known[node] = np.maximum(*args)
            case "CMPLT":
                known[node] = (args[0] < args[1]) * 1
            case "CMPNE":
                known[node] = (args[0] != args[1]) * 1
            case "WHERE":
                known[node] = np.where(*args)
            case "IDIV" | "MOD":
                # Both round towards zero.
                quotient = np.sign(args[0]) * np.sign(args[1]) * (np.abs(args[0]) // np.abs(args[1]))
                known[node] = quotient if node.op.name == "IDIV" else args[0] - quotient * args[1]
            case other:
                raise NotImplementedError(other)
    return known[uop]


def elements(st: Any, names: Mapping[str, int] | None = None) -> np.ndarray:
    """The address of every element of a tracker, as its expressions have it and as its views do by definition."""

    def fields(view: Any) -> dict[str, Any]:
        mask = None if view.mask is None else [[evaluated(end, (), names) for end in pair] for pair in view.mask]
        shape, strides = ([evaluated(size, (), names) for size in of] for of in (view.shape, view.strides))
        return {"shape": shape, "strides": strides, "offset": evaluated(view.offset, (), names), "mask": mask}

    defined = of_views([fields(view) for view in st.views])
    if defined.size:
        index, valid = (evaluated(uop, np.indices(defined.shape), names) for uop in st.to_indexed_uops())
        assert (np.where(valid, index, MASKED) == defined).all(), st
    return defined


class Walk:
    """Movement operations on a tracker and, by NumPy, on the array of its addresses."""

    def __init__(self, classes: Classes, shape: tuple[int, ...], *steps: tuple[str, Any]) -> None:
        self.st = classes.ShapeTracker.from_shape(shape)
        self.array = addresses(shape)
        self(*steps)

    def __call__(self, *steps: tuple[str, Any]) -> Walk:
        for name, argument in steps:
            self.st = getattr(self.st, name)(argument)
            self.array = moved(self.array, name, argument)
        return self

    def check(self) -> None:
        """All elements by an index of ranges, some by an index that is a number."""
        assert self.st.shape == self.array.shape
        assert (elements(self.st) == self.array).all(), self.st
        flat = self.st.reshape((self.st.size,))
        for position in {0, self.array.size // 3, self.array.size - 1} if self.array.size else ():
            index, valid = (uop.simplify() for uop in flat.to_indexed_uops([TG.UOp.const(TG.dtypes.int, position)]))
            assert index.op is TG.Ops.CONST and valid.op is TG.Ops.CONST
            assert (index.arg if valid.arg else MASKED) == self.array.flat[position]


def stride(array: np.ndarray, axis: int) -> int | None:
    """The step between the addresses of neighbours along an axis; None where steps differ, 0 where there are none."""
    below, above = np.take(array, range(array.shape[axis] - 1), axis), np.take(array, range(1, array.shape[axis]), axis)
    steps = set((above - below)[(above != MASKED) & (below != MASKED)].tolist())
    return steps.pop() if len(steps) == 1 else None if steps else 0


def is_masked(array: np.ndarray, axis: int) -> bool:
    """Whether an element that is there turns into one that is not when its index changes along the axis."""
    valid = array != MASKED
    return bool((valid.any(axis) & ~valid.all(axis)).any())
