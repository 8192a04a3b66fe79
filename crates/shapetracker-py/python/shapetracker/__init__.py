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
from typing import TypeVar as _TypeVar
from typing import cast as _cast

from . import _native
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


apply = _called_here(_native.apply)
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
]
