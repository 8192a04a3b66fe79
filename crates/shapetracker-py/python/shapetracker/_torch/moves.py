"""What operators of PyTorch that compute nothing make of a layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._native import ShapeTracker, Undecided
from .._stacks import Tracker, stacked

__all__ = ["GATHERS", "MOVES", "joined"]

# Operators that take elements at indices which are data.
GATHERS = ("index", "index_select", "gather", "take")


def _roll(tracker: Tracker, shifts: Any, dims: Any = ()) -> Tracker:
    shifts = (shifts,) if isinstance(shifts, int) else shifts
    dims = (dims,) if isinstance(dims, int) else dims
    if not tracker.ndim:
        return tracker
    if not dims:
        return tracker.roll(shifts[0])
    for by, axis in zip(shifts, dims, strict=True):
        tracker = tracker.roll(by, axis)
    return tracker


def _flip(tracker: Tracker, dims: Sequence[int]) -> Tracker:
    return tracker.flip(*(axis % tracker.ndim for axis in dims)) if dims else tracker


def _repeat(tracker: Tracker, repeats: Sequence[int]) -> Tracker:
    if not repeats:
        return tracker
    tracker = tracker if tracker.ndim else tracker.reshape(1)
    return tracker.repeat(*repeats)


def _pad(tracker: Tracker, pads: Sequence[int], value: Any = 0) -> Tracker:
    """As `F.pad` says it: from the last axis on, and with what is negative cut off."""
    if not pads:
        return tracker
    text = f"F.pad(torch.empty({', '.join(map(str, tracker.shape))}), {tuple(pads)})"
    return tracker.then(ShapeTracker.parse(text))


def _pixel_shuffle(tracker: Tracker, factor: int) -> Tracker:
    return tracker.pixel_shuffle(factor)


def _pixel_unshuffle(tracker: Tracker, factor: int) -> Tracker:
    return tracker.pixel_unshuffle(factor)


def _rot90(tracker: Tracker, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tracker:
    return tracker.rot90(k, (dims[0], dims[1]))


def _channel_shuffle(tracker: Tracker, groups: int) -> Tracker:
    batch, channels, *rest = tracker.shape
    tracker = tracker.reshape(batch, groups, channels // groups, *rest)
    return tracker.transpose(1, 2).reshape(batch, channels, *rest)


def _im2col(tracker: Tracker, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Tracker:
    tracker = tracker.pad(*[(0, 0)] * (tracker.ndim - 2), *((margin, margin) for margin in padding))
    *batch, height, width = tracker.shape
    places = [
        (size - d * (k - 1) - 1) // s + 1 for size, k, d, s in zip((height, width), kernel, dilation, stride, strict=True)
    ]
    outer = [math.prod(tracker.shape[at + 1 :]) for at in range(len(batch))]
    windows = tracker.as_strided(
        (*batch, *kernel, *places),
        (*outer, dilation[0] * width, dilation[1], stride[0] * width, stride[1]),
    )
    return windows.reshape(*batch[:-1], batch[-1] * math.prod(kernel), math.prod(places))


def _slice_backward(tracker: Tracker, sizes: Sequence[int], dim: int, start: int, end: int, step: int) -> Tracker:
    dim %= tracker.ndim
    shape, size = tracker.shape, sizes[dim]
    start = min(size, max(0, start + size if start < 0 else start))
    if step != 1:
        # Each element and what the step leaves out after it, as far as the axis reaches.
        apart = tracker.unsqueeze(dim + 1).pad(*((0, step - 1) if at == dim + 1 else (0, 0) for at in range(len(shape) + 1)))
        tracker = apart.reshape(*shape[:dim], shape[dim] * step, *shape[dim + 1 :])
        tracker = tracker[(slice(None),) * dim + (slice(0, size - start),)]
    return tracker.pad(*((start, size - start - n) if at == dim else (0, 0) for at, n in enumerate(tracker.shape)))


def _select_backward(tracker: Tracker, sizes: Sequence[int], dim: int, index: int) -> Tracker:
    dim, size = dim % len(sizes), sizes[dim]
    index %= size
    tracker = tracker.unsqueeze(dim)
    return tracker.pad(*((index, size - index - 1) if at == dim else (0, 0) for at in range(len(sizes))))


def _same(tracker: Tracker, *_: Any) -> Tracker:
    return tracker


# Operators that move elements and compute nothing: the result as a tracker, from that of the operand and the other arguments.
MOVES: dict[str, Callable[..., Tracker]] = {
    "clone": _same,
    "_to_copy": _same,
    "copy_": _same,
    "cat": _same,
    "stack": _same,
    "roll": _roll,
    "flip": _flip,
    "repeat": _repeat,
    "constant_pad_nd": _pad,
    "pixel_shuffle": _pixel_shuffle,
    "pixel_unshuffle": _pixel_unshuffle,
    "channel_shuffle": _channel_shuffle,
    "rot90": _rot90,
    "im2col": _im2col,
    "slice_backward": _slice_backward,
    "select_backward": _select_backward,
}


def joined(parts: Sequence[Tracker], axis: int) -> Tracker | None:
    """One tracker for parts of one memory beside each other along an axis, where one is found."""
    return stacked(parts, axis, max(part.buffer_len() for part in parts), _differ)


def _differ(one: Tracker, other: Tracker) -> bool:
    try:
        return one.difference(other) is not None
    except Undecided:
        return True
