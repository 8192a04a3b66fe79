"""Answers as plain data."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from ._native import Condition, Expr, Layout, ShapeTracker, Sym, View

__all__ = ["to_dict"]

# What is one number or one text for a reader, though it is an object for Python.
_TEXTS = (Condition, Expr, Layout, Sym)
# What a layout is; all else that it answers follows.
_LAYOUTS: dict[type, tuple[str, ...]] = {
    View: ("shape", "strides", "offset", "mask"),
    ShapeTracker: ("shape", "views", "names", "needs"),
}
# What leads back to where an answer came from.
_BACK = ("parent", "before")


def to_dict(answer: Any) -> Any:
    """An answer as dicts, lists, texts, numbers, True, False and None, which `json.dumps` takes: every property of it by its name,
    and under "type" what it is. A range is its two ends. Expressions, conditions, names and nested layouts are the texts that `str` gives. What is no answer
    of this package is a TypeError.

    >>> import json
    >>> from shapetracker import ShapeTracker, explain_view, to_dict
    >>> answer = to_dict(explain_view(ShapeTracker.contiguous(4, 6).permute(1, 0), 24))
    >>> answer["possible"], answer["elements"], answer["obstacles"][0]["needed"]
    (False, 24, 6)
    >>> json.dumps(to_dict(ShapeTracker.contiguous(3, 2).permute(1, 0).as_view()))
    '{"type": "View", "shape": [2, 3], "strides": [1, 2], "offset": 0, "mask": null}'
    """
    if answer is None or isinstance(answer, (bool, int, float, str)):
        return answer
    if isinstance(answer, _TEXTS):
        return str(answer)
    if isinstance(answer, Mapping):
        return {str(key): to_dict(value) for key, value in answer.items()}
    if isinstance(answer, range):
        return [answer.start, answer.stop]
    if isinstance(answer, (list, tuple)):
        return [to_dict(value) for value in answer]
    kind = type(answer)
    if hasattr(kind, "to_dict"):
        return to_dict(answer.to_dict())
    if isinstance(answer, BaseException) and kind.__module__.partition(".")[0] == "shapetracker":
        return {"type": kind.__name__, "message": str(answer), **{key: to_dict(value) for key, value in vars(answer).items()}}
    names = _LAYOUTS.get(kind) or [name for name in sorted(vars(kind)) if _is_property(kind, name)]
    if not names or kind.__module__.partition(".")[0] != "shapetracker":
        raise TypeError(f"to_dict: {answer!r} is a {kind.__name__}, and no answer of shapetracker")
    return {"type": kind.__name__, **{name: to_dict(getattr(answer, name)) for name in names}}


def _is_property(kind: type, name: str) -> bool:
    return isinstance(vars(kind)[name], types.GetSetDescriptorType) and not name.startswith("_") and name not in _BACK
