"""Exact tensor layouts: is this still one view, if not why, and what is the least that must be copied?

    >>> from shapetracker import ShapeTracker
    >>> st = ShapeTracker.contiguous(3, 2).permute(1, 0).reshape(3, 2)
    >>> len(st.views)
    2
    >>> st.address(2, 0)
    3
"""

from ._native import (
    Conditions,
    Cost,
    Explanation,
    Expr,
    IndexExpr,
    NotABox,
    NotInvertible,
    Obstacle,
    ParseError,
    ShapeTracker,
    Step,
    Undecided,
    UnevenStep,
    Unmerged,
    View,
    apply,
    conditions,
    explain_view,
    memory,
    merge,
    of,
    simplify_pair,
)

__all__ = [
    "Conditions",
    "Cost",
    "Explanation",
    "Expr",
    "IndexExpr",
    "NotABox",
    "NotInvertible",
    "Obstacle",
    "ParseError",
    "ShapeTracker",
    "Step",
    "Undecided",
    "UnevenStep",
    "Unmerged",
    "View",
    "apply",
    "conditions",
    "explain_view",
    "memory",
    "merge",
    "of",
    "simplify_pair",
]
