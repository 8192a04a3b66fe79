"""Exact tensor layouts: is this still one view, if not why, and what is the least that must be copied?

    >>> from shapetracker import ShapeTracker
    >>> st = ShapeTracker.contiguous(3, 2).permute(1, 0).reshape(3, 2)
    >>> len(st.views)
    2
    >>> st.address(2, 0)
    3
"""

from functools import wraps as _wraps
from typing import Any as _Any
from typing import Callable as _Callable
from typing import SupportsIndex as _SupportsIndex
from typing import TypeVar as _TypeVar
from typing import cast as _cast

from . import _native
from ._layouts import Layout as _Layout
from ._layouts import Sizes as _Sizes
from ._layouts import layout_over as _layout_over
from ._native import __version__ as __version__
from ._native import (
    Advice,
    Answer,
    Condition,
    Conditions,
    Cost,
    Description,
    Explanation,
    Expr,
    IndexExpr,
    IndexMap,
    Leaf,
    Level,
    LibraryAdvice,
    Nest,
    NotABox,
    NotInvertible,
    Obstacle,
    ParseError,
    ShapeTracker,
    Splits,
    Step,
    Sym,
    Undecided,
    UnevenStep,
    Unmerged,
    Unserved,
    View,
    advice,
    conditions,
    merge,
    simplify_pair,
)
from . import _methods as _methods
from ._progress import Meter as _Meter
from ._progress import Progress as _Progress
from ._plain import to_dict

_Function = _TypeVar("_Function", bound=_Callable[..., _Any])


def _called_here(function: _Function) -> _Function:
    """A function that asks other libraries, called from a frame of this module.

    Those libraries import parts of themselves when they first need them, which fails in the frame of a function whose
    globals have no `__builtins__`, such as those of tinygrad's pattern matcher.
    """

    @_wraps(function, assigned=("__name__", "__qualname__", "__doc__", "__text_signature__"))
    def call(*args: _Any, **options: _Any) -> _Any:
        return function(*args, **options)

    return _cast(_Function, call)


def apply(
    tracker: _Layout,
    array: _Any,
    fill: _Any = 0,
    *,
    copy: bool | None = None,
    threads: _SupportsIndex = 1,
    sizes: _Sizes = None,
    progress: _Progress = None,
    tuned: bool = False,
) -> _Any:
    """Reads a tracker's tensor from an array, whose elements in row-major order are the tracker's buffer, in one pass.

        >>> import numpy as np
        >>> from shapetracker import apply
        >>> apply("x.permute(1, 0).pad((1, 0), (0, 0))", np.arange(6).reshape(2, 3), fill=-1).tolist()
        [[-1, -1], [0, 3], [1, 4], [2, 5]]

    `tracker` is a ShapeTracker or a View, the text of a chain, with any name or none for the array, or a function that makes one
    of the array's own tracker: what `shapetracker.dask.apply` and `shapetracker.zarr.apply` take as well. Where sizes have names,
    `sizes` has their values: `apply("x.reshape(n, -1)", x, sizes={"n": 3})`.

    Where the tracker is masked the result has `fill`, which must be a value of the array's type; 0 stands for zero bytes. The
    result is a PyTorch tensor for a tensor, and a NumPy array for everything else; without NumPy a memoryview. Where no data need
    move the result is a view of the array's memory, read-only if the array is or if two indices share an element (PyTorch has
    nothing read-only); `copy=True` copies always, and `copy=False` raises Unmerged, with the witness, or ValueError where a copy
    is needed. Without NumPy only contiguous results are views.

    `threads` says how many move data, 0 for as many as the machine has. The interpreter lock is released meanwhile, and nobody
    may write to the array.

    `progress` follows a copy: a function is called with the bytes that are done and with all, after each part of about
    16 MiB; what it raises ends the copy. True prints a line on stderr from the first second on.

    `tuned=True` is for a copy that is made many times: the first one with these layouts and so many threads measures a few ways
    to make it on this machine, which takes as long as some forty copies at most, and later ones with `tuned=True` go the fastest
    way. The result is the same. Results of 8 MiB or less, which have only one way, take no longer. Copies in two passes (where
    strides are no multiples of the element's size and `fill` is not one byte repeated) are not tuned. What was found is kept
    for the last 256 layouts of this process. It does not go together with `progress`, which is a ValueError.
    """
    if sizes or type(tracker) is not ShapeTracker and (isinstance(tracker, str) or callable(tracker)):
        tracker = _layout_over("apply", tracker, _native.of(array).shape, sizes)
    if progress is None:
        return _native.apply(tracker, array, fill, copy=copy, threads=threads, tuned=tuned)
    with _Meter("apply", progress) as meter:
        return _native.apply(tracker, array, fill, copy=copy, threads=threads, progress=meter.say, tuned=tuned)


describe = _called_here(_native.describe)
explain_view = _called_here(_native.explain_view)
memory = _called_here(_native.memory)
of = _called_here(_native.of)

__all__ = [
    "Advice",
    "Answer",
    "Condition",
    "Conditions",
    "Cost",
    "Description",
    "Explanation",
    "Expr",
    "IndexExpr",
    "IndexMap",
    "Leaf",
    "Level",
    "LibraryAdvice",
    "Nest",
    "NotABox",
    "NotInvertible",
    "Obstacle",
    "ParseError",
    "ShapeTracker",
    "Splits",
    "Step",
    "Sym",
    "Undecided",
    "UnevenStep",
    "Unmerged",
    "Unserved",
    "View",
    "advice",
    "apply",
    "conditions",
    "describe",
    "explain_view",
    "memory",
    "merge",
    "of",
    "simplify_pair",
    "to_dict",
]
