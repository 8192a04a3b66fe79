"""A program once more without some of its copies: the record replayed, or the program itself run."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    torch: Any = None
else:
    import torch

from .. import _native
from .._copies import plural
from .._native import ShapeTracker, View
from .._stacks import Tracker
from .record import Event, Made, Memory, Operand, Record
from .verdicts import has_mask, places, same_strides
from .watch import Kind, Mode, Other, flat, kind_of, ways

__all__ = ["Dropping", "Replay", "WhatIf", "compared", "same_numbers", "tensors_of"]


@dataclass(frozen=True)
class WhatIf:
    """A program again without some copies, beside the program again with all of them.

    `result` is "equal" (to the bit), "close" or "different", `difference` the largest one. `before` and `after` are seconds, the
    shortest of a few runs of each: what was measured here, and no promise. `appeared` is how many passes there were for readers
    that did not take the strides; with a program also those that `contiguous` and `reshape` did where they had nothing to do before.
    """

    without: tuple[int, ...]
    lines: tuple[str, ...]
    result: str
    difference: float
    before: float | None
    after: float | None
    appeared: int

    @property
    def equal(self) -> bool:
        """Are all results the same to the bit?"""
        return self.result == "equal"

    def __str__(self) -> str:
        where = ", ".join(self.lines) or "nothing"
        took = "" if self.before is None or self.after is None else f", {1e3 * self.before:.2f} -> {1e3 * self.after:.2f} ms"
        passes = (
            f", {plural(self.appeared, 'pas').replace('pass', 'passes') if self.appeared != 1 else '1 pass'} elsewhere"
            if self.appeared
            else ""
        )
        largest = "" if self.equal else f", largest difference {self.difference:.3g}"
        return f"without {plural(len(self.without), 'copy')} of {where}: {self.result}{largest}{took}{passes}"


_GIVE = "give the program: what_if(program=lambda: model(x))"


class Replay:
    """The recorded operations once more, with every memory anew, and without some copies."""

    def __init__(self, record: Record, drop: set[Made]) -> None:
        self.record, self.drop = record, drop
        self.values: dict[Memory, Any] = {}
        self.state: dict[Memory, tuple[Memory, Tracker, Any]] = {}
        self.appeared = 0
        self.last: dict[Memory, int] = {}
        self.results = [memory for memory in record.memories if _is_result(memory)]
        for memory in record.memories:
            events = [*memory.readers[-1:], *memory.writes[-1:]]
            self.last[memory] = max((event.index for event in events), default=-1)
        for memory in self.results:
            self.last[memory] = len(record.events)
        for made in reversed(record.made):
            for memory, _ in made.steps or () if made in drop else ():
                self.last[memory] = max(self.last[memory], self.last[made.memory])
        self.ends: dict[int, list[Memory]] = {}
        for memory, index in self.last.items():
            self.ends.setdefault(index, []).append(memory)

    def run(self) -> list[Any]:
        for event in self.record.events:
            try:
                self._do(event)
            except RuntimeError as problem:
                if str(problem).startswith("what_if:"):
                    raise
                said = (str(problem).splitlines() or [type(problem).__name__])[0]
                raise RuntimeError(
                    f"what_if: {event.name} at {event.line()} fails when it is run again ({said}); {_GIVE}"
                ) from problem
            for memory in self.ends.get(event.index, ()):
                self.values.pop(memory, None)
        return [self._tensor(memory.birth) for memory in self.results]

    def _value(self, memory: Memory) -> Any:
        found = self.values.get(memory)
        if found is None:
            if memory.made_by is not None:
                raise RuntimeError(f"what_if: {memory.label()} is missing from the record")
            storage = memory.storage()
            if memory.constant is not None:
                found = self.values[memory] = memory.constant.clone()
                return found
            if storage is None and not memory.length:
                found = self.values[memory] = torch.empty(0, dtype=memory.birth.dtype)
                return found
            if storage is None:
                raise RuntimeError(
                    f"what_if: {memory.label()} has been freed, so that the program cannot be run again; keep the inputs,"
                    f" or {_GIVE}"
                )
            first = memory.first() if memory.first is not None else None
            changed = (
                first is not None and memory.version >= 0 and not first.is_inference() and first._version != memory.version
            )
            if memory.writes or changed:
                raise RuntimeError(
                    f"what_if: {memory.label()} has been written since, so that the program cannot be run again from the"
                    f" record; {_GIVE}"
                )
            found = self.values[memory] = flat(storage, memory.birth.dtype)
        return found

    def _tensor(self, operand: Operand) -> Any:
        if not operand.is_inside():
            raise RuntimeError(f"what_if: the storage of {operand.memory.label()} was resized; {_GIVE}")
        known = self.state.get(operand.memory)
        if known is None:
            value = self._value(operand.memory)
            if value.dtype != operand.dtype:
                value = value.view(operand.dtype)
            return torch.as_strided(value, operand.shape, operand.strides, operand.offset)
        base, tracker, fill = known
        tracker = tracker.then(operand.tracker())
        view = tracker.as_view()
        value = self._value(base)
        if view is not None and view.mask is None and min(view.strides, default=0) >= 0:
            return torch.as_strided(value, view.shape, view.strides, view.offset)
        self.appeared += 1
        return _moved(tracker, value, fill)

    def _do(self, event: Event) -> None:
        made = event.copy
        if made is not None and made in self.drop:
            assert made.steps is not None
            [(memory, step)] = made.steps
            known = self.state.get(memory)
            base, tracker, fill = (memory, step, made.fill) if known is None else (known[0], known[1].then(step), known[2])
            self.state[made.memory] = (base, tracker, made.fill if has_mask(step) else fill)
            return
        if made is not None and made.steps is not None and len(made.steps) == 1 and event.name != "copy_":
            [(memory, step)] = made.steps
            known = self.state.get(memory)
            if known is not None:
                tracker = known[1].then(step)
                fill = made.fill if has_mask(step) else known[2]
                self.values[made.memory] = _moved(tracker, self._value(known[0]), fill)
                return
        args = [self._put(value) for value in event.args]
        kwargs = {name: self._put(value) for name, value in event.kwargs.items()}
        out = event.func(*args, **kwargs)
        results = out if isinstance(out, (list, tuple)) else (out,)
        for operand, result in zip(event.outputs, results, strict=True):
            if operand is None or operand.memory.made_by is not event or operand.memory in self.values:
                continue
            self.values[operand.memory] = flat(result.untyped_storage(), result.dtype)
            if not same_strides(result.stride(), operand.strides, operand.shape) or result.storage_offset() != operand.offset:
                length = result.untyped_storage().nbytes() // result.element_size()
                new = ShapeTracker.contiguous(length).as_strided(operand.shape, result.stride(), result.storage_offset())
                self.state[operand.memory] = (operand.memory, new.then(places(operand)), 0)

    def _put(self, value: Any) -> Any:
        if isinstance(value, Operand):
            return self._tensor(value)
        if isinstance(value, Other):
            raise RuntimeError(f"what_if: an operation takes a tensor without strides, which is not recorded; {_GIVE}")
        return [self._put(part) for part in value] if isinstance(value, list) else value


@contextmanager
def same_numbers(record: Record, devices: list[Any]) -> Iterator[None]:
    """Random numbers as from one seed, by PyTorch's own generators and by those that the program has; all are put back."""
    given = {
        id(value): value
        for event in record.events
        for value in (*event.args, *event.kwargs.values())
        if isinstance(value, torch.Generator)
    }
    states = [(generator, generator.get_state()) for generator in given.values()]
    try:
        with torch.random.fork_rng(devices):
            torch.manual_seed(0)
            yield
    finally:
        for generator, state in states:
            generator.set_state(state)


def _moved(tracker: Tracker, value: Any, fill: Any) -> Any:
    """A tracker's tensor as a new dense one."""
    if str(value.device) == "cpu":
        return _native.apply(tracker, value, fill, copy=True)
    raise RuntimeError("what_if: a pass over several views runs on the CPU only")


def _is_result(memory: Memory) -> bool:
    """Is it what came out: still there, or read by nobody?"""
    return memory.made_by is not None and (not memory.readers or memory.kept)


class Dropping(Mode):
    """A program without the copies of some lines that are views: what was read is handed out instead."""

    def __init__(self, lines: set[str]) -> None:
        super().__init__()
        self.lines, self.dropped, self.moved = lines, 0, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not hasattr(func, "_schema"):
            return func(*args, **kwargs)
        kind = kind_of(func)
        if kind.move is not None and kind.name not in ("cat", "stack", "copy_") and args[0].numel():
            frame = ways().innermost(sys._getframe(1))
            if frame is not None and str(ways().line_of(frame)) in self.lines and kwargs.get("dtype") in (None, args[0].dtype):
                view = _view_of(kind, args)
                if view is not None:
                    self.dropped += 1
                    return args[0].as_strided(view.shape, view.strides, view.offset)
        if kind.name in ("view", "_unsafe_view"):
            try:
                return func(*args, **kwargs)
            except RuntimeError:
                self.moved += 1
                return args[0].reshape(args[1])
        self.moved += kind.move is not None
        return func(*args, **kwargs)


def _view_of(kind: Kind, args: Any) -> View[int] | None:
    """Strides of the storage that an operation reads which are what it makes, where there are any."""
    source = args[0]
    try:
        tracker = ShapeTracker.contiguous(source.untyped_storage().nbytes() // source.element_size())
        tracker = tracker.as_strided(source.shape, source.stride(), source.storage_offset())
        assert kind.move is not None
        view = kind.move(tracker, *args[1:]).as_view()
    except (ValueError, TypeError, RuntimeError, NotImplementedError, OverflowError):
        return None
    return view if view is not None and view.mask is None and min(view.strides, default=0) >= 0 else None


def compared(one: list[Any], other: list[Any]) -> tuple[str, float]:
    largest, close, equal = 0.0, True, True
    for a, b in zip(one, other, strict=True):
        if a.shape != b.shape or a.dtype != b.dtype:
            return "different", math.inf
        if a.device.type == "meta" or not a.numel():
            continue
        if a.is_floating_point() or a.is_complex():
            same = ((a == b) | (a.isnan() & b.isnan())).all().item()
            if not same:
                equal = False
                largest = max(largest, (a - b).abs().nan_to_num().max().item())
                close = close and torch.allclose(
                    a, b, rtol=1e-4, atol=1e-5 * max(1.0, a.abs().nan_to_num().max().item()), equal_nan=True
                )
        elif not torch.equal(a, b):
            equal, close, largest = False, False, math.inf
    return "equal" if equal else "close" if close else "different", largest


def tensors_of(value: Any) -> list[Any]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
