"""Tensors beside each other along an axis as one layout over the memory that all of them are of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

from ._native import ShapeTracker, View

Tracker: TypeAlias = ShapeTracker[int]


def repeated(tracker: Tracker, axis: int, times: int) -> Tracker:
    """Along an axis that many times, one after the other."""
    shape = tracker.shape
    parts = tracker.unsqueeze(axis).expand(*shape[:axis], times, *shape[axis:])
    return parts.reshape(*shape[:axis], times * shape[axis], *shape[axis + 1 :])


def rolled(tracker: Tracker, axis: int, start: int) -> Tracker:
    """Along an axis from this element on, and then those before it."""
    size = tracker.shape[axis]
    return repeated(tracker, axis, 2)[(slice(None),) * axis + (slice(start, start + size),)]


def stacked(parts: Sequence[Tracker], axis: int, length: int, differ: Callable[[Tracker, Tracker], bool]) -> Tracker | None:
    """One tracker for parts along an axis over a memory of so many elements, where one is found: `differ` has compared it with
    each of them."""
    if len(parts) == 1:
        return parts[0]
    ends = list(accumulate(part.shape[axis] for part in parts))
    for made in _guesses(parts, axis, length):
        if made.shape[axis] == ends[-1] and not any(
            differ(made[(slice(None),) * axis + (slice(end - part.shape[axis], end),)], part)
            for end, part in zip(ends, parts, strict=True)
        ):
            return made
    return None


def _guesses(parts: Sequence[Tracker], axis: int, length: int) -> Iterator[Tracker]:
    views = [part.as_view() for part in parts]
    if all(part.shape == parts[0].shape for part in parts):
        # The same part again and again.
        yield repeated(parts[0], axis, len(parts))
    first, last = views[0], views[-1]
    # Pieces of one axis, from some element on and perhaps around to its first.
    if first is not None and last is not None:
        total = sum(part.shape[axis] for part in parts)
        strides = {view.strides[axis] for view in views if view is not None and view.shape[axis] > 1}
        for stride in sorted(strides) or [last.offset - first.offset]:
            for at, base in enumerate(views):
                if base is None:
                    continue
                sizes, steps = list(base.shape), list(base.strides)
                sizes[axis], steps[axis] = total, stride
                view = View(sizes, steps, base.offset)
                reach = view.address_range()
                if reach is not None and reach[0] >= 0 and reach[1] < length:
                    whole = ShapeTracker([view])
                    yield rolled(whole, axis, sum(part.shape[axis] for part in parts[at:])) if at else whole
    # Equal parts whose first elements lie at distances that are sums of a few: each distance is an axis in front.
    given = [view for view in views if view is not None]
    if len(given) == len(parts) and len({(view.shape, view.strides, view.mask) for view in given}) == 1:
        lead, base = _mixed([view.offset for view in given]), given[0]
        if lead is not None:
            total = len(parts) * base.shape[axis]
            counts, steps = [count for count, _ in lead], [step for _, step in lead]
            view = View([*counts, *base.shape], [*steps, *base.strides], base.offset)
            front, n = list(range(len(counts))), len(counts)
            order = [*range(n, n + axis), *front, *range(n + axis, n + base.ndim)]
            yield ShapeTracker([view]).permute(order).reshape(*base.shape[:axis], total, *base.shape[axis + 1 :])


def _mixed(offsets: Sequence[int]) -> list[tuple[int, int]] | None:
    """Counts and steps, outermost first, whose sums in row-major order are the distances from the first of these numbers."""
    lead: list[tuple[int, int]] = []
    numbers = [offset - offsets[0] for offset in offsets]
    while len(numbers) > 1:
        step = numbers[1]
        count = 1
        while count < len(numbers) and numbers[count] == count * step:
            count += 1
        while len(numbers) % count:
            count -= 1
        if count == 1 or any(
            numbers[at + i] != numbers[at] + i * step for at in range(0, len(numbers), count) for i in range(count)
        ):
            return None
        lead.insert(0, (count, step))
        numbers = numbers[::count]
    return lead
