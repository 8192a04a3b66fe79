"""What is left to tinygrad's own classes, and how often that was so."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ._classes import ShapeTracker, View
from ._genuine import Tinygrad

__all__ = ["fall_back", "fallbacks"]

_counts: Counter[tuple[str, str]] = Counter()

# So many different reasons are told apart; the rest counts as one.
_MOST = 1000


def fallbacks(*, clear: bool = False) -> list[tuple[str, str, int]]:
    """What symbolic sizes asked tinygrad's own classes for: operation, reason, and how often, the most frequent first.

    Sizes that are numbers never ask. With `clear` counting begins again.
    """
    counted = [(op, reason, count) for (op, reason), count in _counts.most_common()]
    if clear:
        _counts.clear()
    return counted


def fall_back(tg: Tinygrad, op: str, why: str, thing: Any, arguments: tuple[Any, ...]) -> Any:
    """What tinygrad's own class answers, with its views and trackers as these classes again."""
    name = op.rpartition(".")[2]
    asked = getattr(tg.View if thing is None else _genuine(tg, thing), name, None)
    if asked is None:
        raise ValueError(f"{name}: {why}")
    if name == "create":
        shape, strides, offset, mask = arguments
        arguments = (shape, strides, 0 if offset is None else offset, mask)
    key = (op.removeprefix("tracker."), why)
    if key not in _counts and len(_counts) >= _MOST:
        key = (key[0], "other reasons")
    _counts[key] += 1
    return _taken(tg, asked(*(_genuine(tg, value) for value in arguments)) if callable(asked) else asked)


def _genuine(tg: Tinygrad, value: Any) -> Any:
    """A view or tracker as one of tinygrad's."""
    if isinstance(value, View):
        return tg.View(value.shape, value.strides, value.offset, value.mask, value.contiguous)
    if isinstance(value, ShapeTracker):
        return tg.ShapeTracker(tuple(_genuine(tg, view) for view in value.views))
    return value


def _taken(tg: Tinygrad, value: Any) -> Any:
    """A view or tracker of tinygrad as one of these."""
    if isinstance(value, tuple):
        return tuple(_taken(tg, item) for item in value)
    kind = type(value)
    if kind is tg.View:
        return View(value.shape, value.strides, value.offset, value.mask, value.contiguous)
    return ShapeTracker(tuple(_taken(tg, view) for view in value.views)) if kind is tg.ShapeTracker else value
