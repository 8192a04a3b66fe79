"""Which copies did a PyTorch program make for the sake of a layout, and what for?

    >>> import torch
    >>> import shapetracker.torch
    >>> x = torch.zeros(2, 3, 8, 8)
    >>> with shapetracker.torch.copies() as found:
    ...     y = torch.relu(x.permute(0, 2, 3, 1).contiguous())
    >>> [(copy.op, copy.bytes, copy.verdict) for copy in found.copies]
    [('clone', 1536, 'not needed')]
    >>> found.what_if().equal
    True

`reshape`, `contiguous`, `roll`, `pad` and `matmul` move data and say nothing. `copies` watches a program, forward and backward, and
says of every such copy on which line it was made, what came of it, and whether its readers would have done without. Shapes and
strides are enough for that, so tensors without data, on `meta` or of FakeTensorMode, are watched as well. PyTorch is not a
dependency of this package.
"""

from __future__ import annotations

import heapq
import math
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    torch: Any = None
    TorchDispatchMode: Any = object
    StorageWeakRef: Any = None
else:
    try:
        import torch
        from torch.multiprocessing.reductions import StorageWeakRef
        from torch.utils._python_dispatch import TorchDispatchMode
    except ImportError as _missing:
        raise ImportError(f"shapetracker.torch needs PyTorch, of which 2.15 was tried ({_missing}): pip install torch") from _missing

from . import _kernels, _native
from ._copies import AVOIDABLE, VERDICTS, Copy, Line, Reporting, Ways, line_of, mib, plural
from ._native import ShapeTracker, UnevenStep, Unmerged, View

__all__ = ["AVOIDABLE", "VERDICTS", "Copies", "Copy", "Line", "UnexpectedCopies", "WhatIf", "copies", "no_copies", "plan"]

_Tracker = ShapeTracker[int]
_Place = tuple["_Memory", _Tracker]

# An operation that is recorded after so many others is counted only.
LIMIT = 200_000


class _Memory:
    """A storage, from when it is first seen until it is freed. `length` is how many elements of its first type it has."""

    __slots__ = (
        "number",
        "length",
        "width",
        "copy",
        "made_by",
        "writes",
        "readers",
        "ref",
        "first",
        "version",
        "birth",
        "constant",
    )

    def __init__(self, number: int, length: int, width: int, ref: Any) -> None:
        self.number, self.length, self.width, self.ref = number, length, width, ref
        self.copy: _Made | None = None
        self.made_by: _Event | None = None
        self.writes: list[_Event] = []
        self.readers: list[_Event] = []
        self.first: Any = None
        self.version = -1
        self.birth: _Operand | None = None
        self.constant: Any = None

    def is_kept(self) -> bool:
        return not self.ref.expired()

    def label(self) -> str:
        if self.made_by is not None:
            return f"what {self.made_by.name} made at {self.made_by.line()}"
        shape = tuple(self.birth.shape) if self.birth is not None else (self.length,)
        return f"a tensor of shape {shape} that was there before"


# Types that may be conjugates or negatives which are not computed yet.
_LAZY: frozenset[Any] = (
    frozenset()
    if TYPE_CHECKING
    else frozenset((torch.complex32, torch.complex64, torch.complex128, torch.float16, torch.float32, torch.float64))
)


class _Operand:
    """A tensor as an operation saw it: a strided view of a memory."""

    __slots__ = ("memory", "shape", "strides", "offset", "dtype", "width", "lazy", "device")

    def __init__(self, memory: _Memory, tensor: Any) -> None:
        self.memory = memory
        self.shape: tuple[int, ...] = tensor.shape
        self.strides: tuple[int, ...] = tensor.stride()
        self.offset: int = tensor.storage_offset()
        self.dtype = tensor.dtype
        self.width: int = tensor.element_size()
        self.device = tensor.device
        self.lazy = self.dtype in _LAZY and (tensor.is_conj() or tensor.is_neg())

    def tracker(self) -> _Tracker:
        """Over the memory."""
        if self.width != self.memory.width or self.lazy:
            raise _Unknown(f"it is read as {self.dtype}, a type of another width or a lazy conjugate")
        return ShapeTracker.contiguous(self.memory.length).as_strided(self.shape, self.strides, self.offset)


class _Event:
    """An operation that is no view, with tensors replaced by operands."""

    __slots__ = ("index", "kind", "func", "args", "kwargs", "operands", "outputs", "where", "copy", "writes")

    index: int
    kind: _Kind
    func: Any
    args: list[Any]
    kwargs: dict[str, Any]
    operands: list[tuple[int, _Operand]]
    outputs: list[_Operand | None]
    where: Line | None
    copy: _Made | None
    writes: list[_Memory]

    @property
    def name(self) -> str:
        return self.kind.name

    def line(self) -> Line:
        return self.where if self.where is not None else Line("?", 0, "?")


class _Made:
    """A copy with what its verdict is found from. `steps` are its parts: over the memory that is written, each the place in
    the memory that was read; masked where the other parts are, or what was filled in."""

    __slots__ = ("copy", "event", "memory", "steps", "fill", "whole", "root", "gathers")

    copy: Copy
    event: _Event
    memory: _Memory
    steps: list[_Place] | None
    fill: Any
    whole: _Tracker | None
    root: _Memory | None
    gathers: bool


class _Unknown(Exception):
    """What is asked cannot be known."""


class _Kind:
    """What is to be known about an operator."""

    __slots__ = ("name", "is_view", "writes", "move", "gathers", "is_composite")

    def __init__(self, func: Any) -> None:
        schema = func._schema
        self.name: str = schema.name.split("::")[1]
        aten = schema.name.startswith("aten::")
        self.is_view = bool(getattr(func, "is_view", False)) or self.name in ("lift_fresh", "_unsafe_view", "_reshape_alias")
        self.is_view = self.is_view or schema.name.startswith("prim::")
        self.writes = tuple(
            (position, argument.name)
            for position, argument in enumerate(schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        )
        self.move = _MOVES.get(self.name) if aten else None
        self.gathers = aten and self.name in ("index", "index_select", "gather", "take")
        # In inference mode these come here as they are.
        self.is_composite = aten and torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")


# What was found out about operators, by the operator.
_KINDS: dict[Any, _Kind] = {}


def _roll_axis(tracker: _Tracker, axis: int, by: int) -> _Tracker:
    shape = tracker.shape
    size = shape[axis]
    if not size or not by % size:
        return tracker
    by %= size
    twice = tracker.reshape(*shape[:axis], 1, *shape[axis:]).expand(*shape[:axis], 2, *shape[axis:])
    twice = twice.reshape(*shape[:axis], 2 * size, *shape[axis + 1 :])
    return twice.shrink(*((size - by, 2 * size - by) if at == axis else (0, size_) for at, size_ in enumerate(shape)))


def _roll(tracker: _Tracker, shifts: Any, dims: Any = ()) -> _Tracker:
    shifts = (shifts,) if isinstance(shifts, int) else shifts
    dims = (dims,) if isinstance(dims, int) else dims
    if not dims:
        return _roll_axis(tracker.reshape(tracker.numel), 0, shifts[0]).reshape(*tracker.shape)
    for by, axis in zip(shifts, dims, strict=True):
        tracker = _roll_axis(tracker, axis % tracker.ndim, by)
    return tracker


def _flip(tracker: _Tracker, dims: Sequence[int]) -> _Tracker:
    return tracker.flip(*(axis % tracker.ndim for axis in dims)) if dims else tracker


def _repeat(tracker: _Tracker, repeats: Sequence[int]) -> _Tracker:
    shape = (1,) * (len(repeats) - tracker.ndim) + tracker.shape
    tracker = tracker.reshape(*(part for size in shape for part in (1, size)))
    tracker = tracker.expand(*(part for times, size in zip(repeats, shape, strict=True) for part in (times, size)))
    return tracker.reshape(*(times * size for times, size in zip(repeats, shape, strict=True)))


def _pad(tracker: _Tracker, pads: Sequence[int], value: Any = 0) -> _Tracker:
    both = [(0, 0)] * (tracker.ndim - len(pads) // 2) + [(pads[at], pads[at + 1]) for at in range(len(pads) - 2, -1, -2)]
    cut = [(max(0, -low), size - max(0, -high)) for (low, high), size in zip(both, tracker.shape, strict=True)]
    return tracker.shrink(*cut).pad(*((max(0, low), max(0, high)) for low, high in both))


def _pixel_shuffle(tracker: _Tracker, factor: int) -> _Tracker:
    *batch, channels, height, width = tracker.shape
    n = len(batch)
    tracker = tracker.reshape(*batch, channels // factor**2, factor, factor, height, width)
    tracker = tracker.permute(*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return tracker.reshape(*batch, channels // factor**2, height * factor, width * factor)


def _pixel_unshuffle(tracker: _Tracker, factor: int) -> _Tracker:
    *batch, channels, height, width = tracker.shape
    n = len(batch)
    tracker = tracker.reshape(*batch, channels, height // factor, factor, width // factor, factor)
    tracker = tracker.permute(*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return tracker.reshape(*batch, channels * factor**2, height // factor, width // factor)


def _channel_shuffle(tracker: _Tracker, groups: int) -> _Tracker:
    batch, channels, *rest = tracker.shape
    tracker = tracker.reshape(batch, groups, channels // groups, *rest)
    return tracker.transpose(1, 2).reshape(batch, channels, *rest)


def _rot90(tracker: _Tracker, k: int = 1, dims: Sequence[int] = (0, 1)) -> _Tracker:
    first, second = (axis % tracker.ndim for axis in dims)
    k %= 4
    if k == 2:
        return tracker.flip(first, second)
    if k == 1:
        return tracker.flip(second).transpose(first, second)
    return tracker.flip(first).transpose(first, second) if k == 3 else tracker


def _im2col(tracker: _Tracker, kernel: Any, dilation: Any, padding: Any, stride: Any) -> _Tracker:
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


def _slice_backward(tracker: _Tracker, sizes: Sequence[int], dim: int, start: int, end: int, step: int) -> _Tracker | None:
    if step != 1:
        return None
    dim %= tracker.ndim
    size = sizes[dim]
    start = max(0, start + size if start < 0 else start)
    return tracker.pad(*((start, size - start - n) if at == dim else (0, 0) for at, n in enumerate(tracker.shape)))


def _select_backward(tracker: _Tracker, sizes: Sequence[int], dim: int, index: int) -> _Tracker:
    dim, size = dim % len(sizes), sizes[dim]
    index %= size
    tracker = tracker.unsqueeze(dim)
    return tracker.pad(*((index, size - index - 1) if at == dim else (0, 0) for at in range(len(sizes))))


def _same(tracker: _Tracker, *_: Any) -> _Tracker:
    return tracker


# Operators that move elements and compute nothing: the result as a tracker, from that of the operand and the other arguments.
_MOVES: dict[str, Callable[..., _Tracker | None]] = {
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


def _joined(parts: Sequence[_Tracker], axis: int) -> _Tracker | None:
    """One tracker for parts beside each other along an axis: their elements follow evenly in memory, or do when rolled."""
    views = [part.as_view() for part in parts]
    if any(view is None or view.mask is not None for view in views):
        return None
    sizes = [part.shape[axis] for part in parts]
    total, length = sum(sizes), max(part.buffer_len() for part in parts)
    for first in range(len(parts)):
        order = [*range(first, len(parts)), *range(first)]
        head, second = views[order[0]], views[order[1 % len(parts)]]
        assert head is not None and second is not None
        strides = list(head.strides)
        if len(parts) > 1:
            by = second.offset - head.offset
            if by % sizes[order[0]]:
                continue
            strides[axis] = by // sizes[order[0]]
        shape = (*head.shape[:axis], total, *head.shape[axis + 1 :])
        if head.offset + sum(min(0, (size - 1) * stride) for size, stride in zip(shape, strides, strict=True)) < 0:
            continue
        reach = head.offset + sum(max(0, (size - 1) * stride) for size, stride in zip(shape, strides, strict=True)) + 1
        whole = ShapeTracker.contiguous(max(length, reach)).as_strided(shape, strides, head.offset)
        start, fits = 0, True
        for at in order:
            cut = whole.shrink(*((start, start + sizes[at]) if a == axis else (0, n) for a, n in enumerate(shape)))
            fits = fits and cut.difference(parts[at]) is None
            start += sizes[at]
        if fits:
            return _roll_axis(whole, axis, sum(sizes[:first]))
    return None


_WAYS: Ways | None = None


def _ways() -> Ways:
    global _WAYS
    if _WAYS is None:
        _WAYS = Ways(os.path.dirname(torch.__file__))
    return _WAYS


class _Watch(TorchDispatchMode):  # type: ignore[misc]
    """Records operations. What they did is found out afterwards."""

    def __init__(self, deep: bool = False) -> None:
        super().__init__()
        self.events: list[_Event] = []
        self.made: list[_Made] = []
        self.memories: dict[int, _Memory] = {}
        self.all: list[_Memory] = []
        self.kinds = _KINDS
        self.operations = 0
        self.seconds = 0.0
        self.lost: list[str] = []
        self.sequence: dict[int, Line] = {}
        self.deep = deep
        self.inside: dict[tuple[str, Line], list[int]] = {}
        self.without_data = False
        self.plain: dict[type, bool] = {}
        self.ways = _ways()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for cls in types:
            if not self._is_plain(cls):
                # Its operations on the tensors inside of it come here afterwards.
                return NotImplemented
        kwargs = kwargs or {}
        kind = self.kinds.get(func)
        if kind is None:
            kind = self.kinds[func] = _Kind(func)
        if kind.is_composite:
            with self:
                out = func.decompose(*args, **kwargs)
            if out is not NotImplemented:
                return out
        self.operations += 1
        if kind.is_view:
            if args and len(self.events) < LIMIT and isinstance(args[0], torch.Tensor):
                try:
                    self._viewed(kind, args[0])
                except Exception as problem:
                    self.lost.append(f"{kind.name}: {type(problem).__name__}: {problem}")
            return func(*args, **kwargs)
        if self.deep and kind.move is None:
            return self._inside(kind, func, args, kwargs)
        start = time.perf_counter()
        out = func(*args, **kwargs)
        seconds = time.perf_counter() - start
        self.seconds += seconds
        self._try(kind, func, args, kwargs, out, seconds)
        return out

    def _viewed(self, kind: _Kind, tensor: Any) -> None:
        if tensor.layout is not torch.strided:
            return
        # What a program calls by a name, before temporary views of it.
        memory = self.memory(tensor)
        if kind.name == "lift_fresh" and memory.constant is None and tensor.numel() <= 4096:
            # Made of numbers of the program, which nobody else may keep.
            memory.constant = _flat(tensor.untyped_storage(), tensor.dtype).clone()
        if tensor.requires_grad and torch.is_grad_enabled():
            frame = self.ways.innermost(sys._getframe(2))
            if frame is not None:
                self.sequence[torch._C._autograd._get_sequence_nr() - 1] = line_of(frame)

    def _try(self, kind: _Kind, func: Any, args: Any, kwargs: Any, out: Any, seconds: float) -> None:
        try:
            self._record(kind, func, args, kwargs, out, seconds)
        except Exception as problem:
            self.lost.append(f"{kind.name}: {type(problem).__name__}: {problem}")

    def _is_plain(self, cls: type) -> bool:
        plain = self.plain.get(cls)
        if plain is None:
            plain = self.plain[cls] = (
                cls is torch.Tensor
                or getattr(cls, "__torch_dispatch__", None) is torch._C._disabled_torch_dispatch_impl
                or cls.__name__ == "FakeTensor"
            )
        return plain

    def _inside(self, kind: _Kind, func: Any, args: Any, kwargs: Any) -> Any:
        """The operation under PyTorch's profiler, for the copies that its kernel makes."""
        start = time.perf_counter()
        with torch.autograd.profiler.profile(record_shapes=True) as profile:
            out = func(*args, **kwargs)
        seconds = time.perf_counter() - start
        self.seconds += seconds
        counts = 0
        size = 0
        for event in profile.function_events:
            if event.name == "aten::copy_" and event.input_shapes and len(event.input_shapes) > 1:
                counts += 1
                tensor = next((arg for arg in args if isinstance(arg, torch.Tensor)), None)
                size += math.prod(event.input_shapes[0]) * (tensor.element_size() if tensor is not None else 0)
        if counts:
            frame = self.ways.innermost(sys._getframe(1))
            entry = self.inside.setdefault((kind.name, line_of(frame) if frame else Line("?", 0, "?")), [0, 0])
            entry[0] += counts
            entry[1] += size
        self._try(kind, func, args, kwargs, out, seconds)
        return out

    def memory(self, tensor: Any) -> _Memory:
        storage = tensor.untyped_storage()
        found = self.memories.get(storage._cdata)
        if found is None:
            found = self._new(tensor, storage)
            found.birth = _Operand(found, tensor)
            found.first = weakref.ref(tensor)
            found.version = -1 if tensor.is_inference() else tensor._version
        return found

    def _new(self, tensor: Any, storage: Any) -> _Memory:
        # The weak reference keeps the address from being used for another storage, not the data.
        width = tensor.element_size()
        if storage.device.type == "meta":
            self.without_data = True
        made = _Memory(len(self.all), storage.nbytes() // width, width, StorageWeakRef(storage))
        self.memories[storage._cdata] = made
        self.all.append(made)
        return made

    def _record(self, kind: _Kind, func: Any, args: Any, kwargs: Any, out: Any, seconds: float) -> None:
        if len(self.events) >= LIMIT:
            if len(self.lost) == 0:
                self.lost.append(f"only the first {LIMIT} operations were followed")
            return
        operands: list[tuple[int, _Operand]] = []

        def put(position: int, value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                if value.layout is not torch.strided:
                    return value
                operand = _Operand(self.memory(value), value)
                operands.append((position, operand))
                return operand
            if isinstance(value, (list, tuple)):
                return [put(position, part) for part in value]
            return value

        event = _Event()
        event.index, event.kind, event.func = len(self.events), kind, func
        event.args = [put(position, value) for position, value in enumerate(args)]
        event.kwargs = {name: put(-1, value) for name, value in kwargs.items()} if kwargs else kwargs
        event.operands, event.copy, event.outputs = operands, None, []
        ways = self.ways
        frame = ways.innermost(sys._getframe(2))
        event.where = line_of(frame) if frame is not None else None
        node = torch._C._current_autograd_node()
        if node is None:
            self.sequence[torch._C._autograd._get_sequence_nr() - 1] = event.line()
        event.writes = []
        for position, name in kind.writes:
            written = event.args[position] if position < len(event.args) else event.kwargs.get(name)
            for part in written if isinstance(written, list) else [written]:
                if isinstance(part, _Operand):
                    event.writes.append(part.memory)
                    part.memory.writes.append(event)
        for _, operand in operands:
            readers = operand.memory.readers
            if not readers or readers[-1] is not event:
                readers.append(event)
        results = out if isinstance(out, (list, tuple)) else (out,)
        for result in results:
            if isinstance(result, torch.Tensor) and result.layout is torch.strided:
                storage = result.untyped_storage()
                memory = self.memories.get(storage._cdata)
                if memory is None:
                    memory = self._new(result, storage)
                    memory.made_by = event
                    memory.birth = made = _Operand(memory, result)
                else:
                    made = _Operand(memory, result)
                event.outputs.append(made)
            else:
                event.outputs.append(None)
        self.events.append(event)
        if operands and (kind.move is not None or kind.gathers):
            self._copied(event, seconds, node)

    def _copied(self, event: _Event, seconds: float, node: Any) -> None:
        kind = event.kind
        source, target = event.operands[0][1], event.outputs[0]
        if kind.name == "copy_":
            source, target = event.operands[1][1] if len(event.operands) > 1 else source, event.operands[0][1]
            if target is source:
                return
        if target is None or not math.prod(target.shape) or (target.memory.made_by is not event and kind.name != "copy_"):
            return
        if target.dtype != source.dtype:
            return
        if target.device.type != source.device.type:
            return
        frames = self.ways.all(sys._getframe(3))
        backward = None
        if node is not None:
            line = self.sequence.get(node._sequence_nr())
            backward = f"{node.name()} of {line}" if line is not None else str(node.name())
        made = _Made()
        made.copy = Copy(
            len(self.made),
            kind.name,
            frames,
            tuple(source.shape),
            source.strides,
            source.offset,
            target.strides,
            str(source.dtype).removeprefix("torch."),
            math.prod(target.shape) * target.width,
            seconds,
            backward=backward,
        )
        made.event, made.memory, made.gathers = event, target.memory, kind.gathers
        made.steps, made.fill, made.whole, made.root = None, 0, None, None
        event.copy = made
        self.made.append(made)
        if kind.name != "copy_" or (
            # A memory that was made empty and is filled at once holds nothing else.
            target.memory.made_by is not None
            and "empty" in target.memory.made_by.name
            and target.memory.writes == [event]
            and target.memory.readers == [event]
            and math.prod(target.shape) == target.memory.length
        ):
            target.memory.copy = made


def _alive(ref: Any) -> Any:
    """The storage of a weak reference, None where it was freed."""
    return torch.UntypedStorage._new_with_weak_ptr(ref.cdata)


def _flat(storage: Any, dtype: Any) -> Any:
    """All of a storage as a tensor of one axis."""
    made = torch.empty(0, dtype=dtype, device=storage.device)
    return made.set_(storage, 0, (storage.nbytes() // made.element_size(),), (1,))


# ---- What the record says


@dataclass
class _Failure:
    """A reader that does not do without a copy."""

    verdict: str
    reason: str
    evidence: dict[str, Any]
    least: int | None = None


_RANK = {"needed": 0, "guard": 1, "for the kernel": 2, "unknown": 3}


class _Judge:
    """Verdicts on the copies of a record, in the order of time. `state` says of memories where the elements lie without the copies
    that were found avoidable: in which memory, and for each place of the recorded one the place there."""

    def __init__(self, watch: _Watch) -> None:
        self.watch = watch
        self.state: dict[_Memory, _Place] = {}

    def judge(self) -> None:
        for made in self.watch.made:
            try:
                self._steps(made)
                self._one(made)
            except _Unknown as why:
                made.copy.verdict, made.copy.reason = "unknown", f"{why}"
            except (ValueError, TypeError, OverflowError, RuntimeError, NotImplementedError) as problem:
                made.copy.verdict, made.copy.reason = "unknown", f"{type(problem).__name__}: {problem}"
            if made.copy.avoidable:
                made.copy.least_bytes = 0
            elif not made.copy.least_bytes:
                made.copy.least_bytes = made.copy.bytes

    def _steps(self, made: _Made) -> None:
        """What the copy's memory holds, over the memories that were read."""
        event, copy = made.event, made.copy
        name = event.name
        if made.gathers:
            copy.roots = (event.operands[0][1].memory.label(),)
            return
        if name == "copy_":
            target, source = event.operands[0][1], event.operands[-1][1]
            tracker: _Tracker | None = source.tracker().broadcast_to(*target.shape)
        else:
            made_here, source = event.outputs[0], event.operands[0][1]
            assert made_here is not None
            target = made_here
            if target.width != made.memory.width:
                raise _Unknown("its type is of another width than its memory's")
            if name in ("cat", "stack"):
                made.steps = self._parts(event, target)
                copy.roots = tuple(dict.fromkeys(memory.label() for memory, _ in made.steps))
                tracker = None
            else:
                tracker = event.kind.move(source.tracker(), *event.args[1:], **_options(event)) if event.kind.move else None
        if tracker is None and made.steps is None:
            return
        if made.steps is None:
            assert tracker is not None
            if name == "constant_pad_nd":
                made.fill = event.args[2] if len(event.args) > 2 else 0
            made.steps = [(source.memory, tracker.compose(_places(target)))]
            copy.roots = (source.memory.label(),)
        if len(made.steps) == 1:
            memory, step = made.steps[0]
            made.root, made.whole = memory, step
            before = memory.copy
            earlier = () if before is None or _written_between(memory, before.event.index, event.index) else before.copy.chain
            if (
                before is not None
                and earlier
                and before.whole is not None
                and (before.fill == made.fill or not _has_mask(before.whole) or not _has_mask(step))
            ):
                made.root, made.whole = before.root, before.whole.compose(step)
                if _has_mask(before.whole):
                    made.fill = before.fill
            copy.chain = (*earlier, copy.number)
            copy.tracker = made.whole.compose(target.tracker())
        else:
            copy.chain = (copy.number,)

    def _parts(self, event: _Event, target: _Operand) -> list[_Place]:
        """Those of `cat` and `stack`."""
        axis = event.args[1] if len(event.args) > 1 else event.kwargs.get("dim", 0)
        axis %= len(target.shape)
        operands = [operand for position, operand in event.operands if position == 0]
        trackers = [operand.tracker() for operand in operands]
        if event.name == "stack":
            trackers = [tracker.unsqueeze(axis) for tracker in trackers]
        both = [(o.memory, t) for o, t in zip(operands, trackers, strict=True) if t.ndim == len(target.shape) and t.numel]
        places = _places(target)
        if len({memory for memory, _ in both}) == 1:
            joined = _joined([tracker for _, tracker in both], axis)
            if joined is not None:
                return [(both[0][0], joined.compose(places))]
        parts, start, total = [], 0, target.shape[axis]
        for memory, tracker in both:
            end = start + tracker.shape[axis]
            padded = tracker.pad(*((start, total - end) if at == axis else (0, 0) for at in range(tracker.ndim)))
            parts.append((memory, padded.compose(places)))
            start = end
        return parts

    def _one(self, made: _Made) -> None:
        copy, event = made.copy, made.event
        if made.gathers:
            copy.verdict = "gather"
            copy.reason = f"{event.name} takes elements at indices that are data, which no strides describe"
            return
        if made.steps is None:
            raise _Unknown(f"what {event.name} does here is not known as a layout")
        if event.name == "copy_" and made.memory.copy is not made:
            copy.verdict = "needed"
            copy.reason = "an assignment: the elements have to be in memory that was there before"
            copy.evidence = {"reader": None, "memory": made.memory.label()}
            return
        readers = [reader for reader in made.memory.readers if reader.index > event.index]
        if not readers:
            copy.verdict = "output"
            copy.reason = "nothing read it while it was watched" + (", and it is there still" if copy.kept else "")
            return
        parts = [(*self._place(memory, step), memory) for memory, step in made.steps]
        failure, state, absorbed, direct = self._without(made, [(base, tracker) for base, tracker, _ in parts])
        if failure is not None:
            copy.verdict, copy.reason, copy.evidence = failure.verdict, failure.reason, failure.evidence
            if failure.least is not None:
                copy.least_bytes = failure.least
            if copy.verdict == "needed" and len(copy.chain) > 1 and copy.tracker is not None:
                copy.instead = f"one pass: shapetracker.apply(ShapeTracker.parse({str(made.whole)!r}), memory)"
            return
        if copy.kept:
            source, whole = parts[0][:2]
            target = event.outputs[0] if event.name != "copy_" else event.operands[0][1]
            view = None if target is None or len(parts) > 1 else whole.compose(target.tracker()).as_view()
            if view is None or view.mask is not None or min(view.strides, default=0) < 0:
                copy.verdict = "output"
                copy.reason = f"it is there still at the end, and no strides of {source.label()} are the same tensor"
                return
        self.state = state
        base, tracker = self.state[made.memory]
        if absorbed and absorbed == direct:
            copy.verdict = "copied again"
            by = "; ".join(dict.fromkeys(f"{reader.name} at {reader.line()}" for reader in readers))
            copy.reason = f"all that reads it is {by}: one pass does both"
        elif len(copy.chain) > 1 and made.whole is not None and made.root is not None and made.whole.is_identity():
            copy.verdict = "round trip"
            copy.reason = f"copies {', '.join(map(str, copy.chain))} put every element of {made.root.label()} back where it was"
        else:
            copy.verdict = "not needed"
            first = next((reader for reader in readers if reader.copy is None), readers[0])
            view = next(
                (
                    self._over(operand, self.state)[1].as_view()
                    for _, operand in first.operands
                    if operand.memory is made.memory
                ),
                None,
            )
            strides = "" if view is None else f" with strides {view.strides}, offset {view.offset}"
            copy.reason = f"{first.name} at {first.line()} takes {base.label()}{strides}"
            if len(readers) > 1:
                copy.reason += f", and so do all {len(readers)} readers"
            copy.evidence = _reader(first, next(operand for _, operand in first.operands if operand.memory is made.memory))
        copy.instead = _instead(made)

    def _place(self, memory: _Memory, tracker: _Tracker, state: dict[_Memory, _Place] | None = None) -> _Place:
        """A tracker over a recorded memory, over the memory where its elements lie."""
        known = (self.state if state is None else state).get(memory)
        return (memory, tracker) if known is None else (known[0], known[1].compose(tracker))

    def _over(self, operand: _Operand, state: dict[_Memory, _Place]) -> _Place:
        return self._place(operand.memory, operand.tracker(), state)

    def _without(self, made: _Made, parts: list[_Place]) -> tuple[_Failure | None, dict[_Memory, _Place], int, int]:
        """The program without a copy, as far as strides go: who fails, and else where all elements lie then."""
        state = dict(self.state)
        several = len(parts) > 1
        if not several:
            state[made.memory] = parts[0]
        failures: list[_Failure] = []
        queue: list[tuple[int, int]] = []
        events = self.watch.events
        queued: set[int] = set()

        def follow(memory: _Memory, after: int) -> None:
            for reader in memory.readers:
                if reader.index > after and reader.index not in queued:
                    queued.add(reader.index)
                    heapq.heappush(queue, (reader.index, 0))

        follow(made.memory, made.event.index)
        absorbed: set[int] = set()
        direct: set[int] = set()
        while queue:
            index, _ = heapq.heappop(queue)
            queued.discard(index)
            event = events[index]
            is_direct = any(operand.memory is made.memory for _, operand in event.operands)
            if is_direct:
                direct.add(index)
            views: dict[int, View[int]] = {}
            failed = False
            absorbs = event.kind.move is not None and event.copy is not None and event.name not in ("cat", "stack", "copy_")
            for number, (position, operand) in enumerate(event.operands):
                moved = operand.memory in state or (several and operand.memory is made.memory)
                if not moved:
                    continue
                try:
                    failure = self._reader(made, parts, event, number, position, operand, state, views, absorbs)
                except _Unknown as why:
                    failure = _Failure("unknown", f"{event.name} at {event.line()}: {why}", _reader(event, operand))
                if failure is not None:
                    if not is_direct:
                        failure.reason = f"readers before take its strides, but then {failure.reason}"
                    failures.append(failure)
                    failed = True
            if failed or absorbs:
                if absorbs and is_direct and not failed:
                    absorbed.add(index)
                continue
            try:
                self._results(event, views, state, follow)
            except _Unknown as why:
                failures.append(_Failure("unknown", f"{event.name} at {event.line()}: {why}", {"reader": event.name}))
        failures.sort(key=lambda failure: _RANK[failure.verdict])
        return (failures[0] if failures else None), state, len(absorbed), len(direct)

    def _reader(
        self,
        made: _Made,
        parts: list[_Place],
        event: _Event,
        number: int,
        position: int,
        operand: _Operand,
        state: dict[_Memory, _Place],
        views: dict[int, View[int]],
        absorbs: bool,
    ) -> _Failure | None:
        """None where an operation does with the operand at its new place."""
        evidence = _reader(event, operand)
        at = f"{event.name} at {event.line()}"
        if operand.memory is made.memory and len(parts) > 1:
            rec = operand.tracker()
            over = [(base, part.compose(rec)) for base, part in parts]
            whole = [(base, part) for base, part in over if not _has_mask(part)]
            if len(whole) != 1:
                return self._several(made, event, operand, over, evidence)
            base, tracker = whole[0]
        else:
            base, tracker = self._over(operand, state)
        if base is not operand.memory:
            if operand.memory in event.writes:
                return _Failure("guard", f"{at} writes into the copy, and {base.label()} would change", evidence)
            written = _written_between(base, made.event.index, event.index)
            if written is not None:
                evidence["writer"] = {"op": written.name, "line": str(written.line())}
                return _Failure(
                    "guard",
                    f"{written.name} at {written.line()} writes into {base.label()}, and {at} reads the copy after that",
                    evidence,
                )
        if absorbs:
            if (
                _has_mask(tracker)
                and event.copy is not None
                and made.fill != event.copy.fill
                and event.name == "constant_pad_nd"
            ):
                return _Failure("needed", f"{at} fills in another value than this copy", evidence)
            return None
        view = tracker.as_view()
        if view is None:
            return self._no_view(made, event, operand, base, tracker, evidence)
        if view.mask is not None:
            margin = _masked(tracker)
            evidence["elements"] = [list(margin)]
            return _Failure(
                "needed",
                f"{at} reads shape {tuple(operand.shape)}, whose element {margin} was filled in and is not in {base.label()}",
                evidence,
            )
        for axis, (size, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
            if stride < 0 and size > 1:
                evidence["axes"] = [axis]
                return _Failure(
                    "needed",
                    f"{at} reads shape {tuple(operand.shape)}, whose axis {axis} runs backwards, and PyTorch has no negative strides",
                    evidence,
                )
        strides = tuple(view.strides)
        if tuple(s for s, n in zip(strides, view.shape, strict=True) if n > 1) == tuple(
            s for s, n in zip(operand.strides, operand.shape, strict=True) if n > 1
        ):
            views[number] = view
            return None
        row = _kernels.row_of(event.name, position)
        if row is None:
            return _Failure("unknown", f"it is not known which strides {at} takes without a copy of its own", evidence)
        evidence["strides"] = list(strides)
        if row.rule is not _kernels.ANY and operand.device.type not in ("cpu", "meta"):
            return _Failure("unknown", f"which strides {at} takes is known on the CPU, not on this device", evidence)
        if not _takes(row.rule, event, position, view):
            evidence["rule"], evidence["source"] = row.rule.says, row.rule.source
            return _Failure(
                "for the kernel",
                f"{at} could be given strides {strides} of {base.label()}, but its kernel takes {row.rule.says},"
                f" and copies the others ({row.rule.source})",
                evidence,
            )
        views[number] = view
        return None

    def _several(self, made: _Made, event: _Event, operand: _Operand, over: list[_Place], evidence: dict[str, Any]) -> _Failure:
        shown = []
        for base, part in over:
            span = next(((flat, address) for flat, address in enumerate(_first(part)) if address is not None), None)
            if span is not None:
                shown.append((_unravel(span[0], operand.shape), base.label()))
        pair = shown[:2]
        evidence["elements"] = [list(index) for index, _ in pair]
        evidence["roots"] = [label for _, label in shown]
        said = " and ".join(f"element {index} of {label}" for index, label in pair)
        return _Failure(
            "needed",
            f"{event.name} at {event.line()} reads shape {tuple(operand.shape)}: {said}, which no one memory has",
            evidence,
        )

    def _no_view(
        self, made: _Made, event: _Event, operand: _Operand, base: _Memory, tracker: _Tracker, evidence: dict[str, Any]
    ) -> _Failure:
        at = f"{event.name} at {event.line()}"
        try:
            tracker.single_view()
            said = ""
        except Unmerged as no:
            said = str(no)
            witness = no.witness
            if isinstance(witness, UnevenStep):
                evidence["axes"] = [witness.axis]
                evidence["elements"] = [
                    {"index": list(step.index), "before": step.before, "after": step.after} for step in witness.steps
                ]
            else:
                evidence["elements"] = [list(index) for index in (*witness.valid, witness.invalid)]
        least = None
        before = made.event.operands[-1 if made.event.name == "copy_" else 0][1]
        try:
            _, source = self._over(before, self.state)
            if source.numel == math.prod(operand.shape) and source.reshape(*operand.shape).difference(tracker) is None:
                explained = _native.explain_view(source, operand.shape)
                if explained.obstacles:
                    said = f"{explained.obstacles[0]}\n{said}"
                    evidence["old_axes"] = list(explained.obstacles[0].old_axes)
                    evidence["new_axes"] = list(explained.obstacles[0].new_axes)
                if explained.smallest and explained.elements:
                    least = explained.elements * operand.width
        except (ValueError, _Unknown):
            pass
        return _Failure("needed", f"{at} reads shape {tuple(operand.shape)}: {said}", evidence, least)

    def _results(
        self, event: _Event, views: dict[int, View[int]], state: dict[_Memory, _Place], follow: Callable[[_Memory, int], None]
    ) -> None:
        """Where the results of an operation lie whose operands have new strides."""
        outputs = [out for out in event.outputs if out is not None and out.memory.made_by is event]
        if not outputs:
            return
        same = all(
            all(n < 2 or a == b for a, b, n in zip(view.strides, event.operands[number][1].strides, view.shape, strict=True))
            for number, view in views.items()
        )
        before = None if same else _as_recorded(event)
        if before is not None:
            after: list[Any] = before(views)
        for number, out in enumerate(event.outputs):
            if out is None or out.memory.made_by is not event:
                continue
            strides = out.strides if before is None else after[number]
            moved = not _same_strides(strides, out.strides, out.shape)
            if moved or out.memory in state:
                if moved:
                    length = (
                        1 + sum((n - 1) * s for n, s in zip(out.shape, strides, strict=True)) if math.prod(out.shape) else 0
                    )
                    new = ShapeTracker.contiguous(length).as_strided(out.shape, strides, 0)
                    place = (out.memory, new.compose(_places(out)))
                    if out.memory in state and state[out.memory] == place:
                        continue
                    state[out.memory] = place
                elif state[out.memory][0] is out.memory:
                    del state[out.memory]
                follow(out.memory, event.index)


def _options(event: _Event) -> dict[str, Any]:
    skipped = ("memory_format", "dtype", "layout", "device", "pin_memory", "non_blocking", "value")
    return {name: value for name, value in event.kwargs.items() if name not in skipped}


def _places(operand: _Operand) -> _Tracker:
    """For each place of a memory the element of a tensor that lies there."""
    return operand.tracker().invert(operand.memory.length)


def _has_mask(tracker: _Tracker) -> bool:
    return any(tracker.axis_is_masked(axis) for axis in range(tracker.ndim))


def _first(tracker: _Tracker) -> Iterator[int | None]:
    for number, address in enumerate(tracker.addresses()):
        if number >= 1_000_000:
            return
        yield address


def _masked(tracker: _Tracker) -> tuple[int, ...]:
    flat = next((number for number, address in enumerate(_first(tracker)) if address is None), 0)
    return _unravel(flat, tracker.shape)


def _unravel(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        index.insert(0, flat % size)
        flat //= size
    return tuple(index)


def _written_between(memory: _Memory, after: int, before: int) -> _Event | None:
    return next((event for event in memory.writes if after < event.index <= before), None)


def _same_strides(one: Sequence[int], other: Sequence[int], shape: Sequence[int]) -> bool:
    return all(n < 2 or a == b for a, b, n in zip(one, other, shape, strict=True))


def _alike(one: list[Any], other: list[Any], event: _Event) -> bool:
    return len(one) == len(other) and all(
        b is None or (a is not None and out is not None and _same_strides(a, b, out.shape))
        for a, b, out in zip(one, other, event.outputs, strict=True)
    )


def _takes(rule: _kernels.Rule, event: _Event, position: int, view: View[int]) -> bool:
    if not rule.takes(view.shape, view.strides):
        return False
    if rule is _kernels.CONVOLUTION:
        # The other operand says which of the two formats: a kernel for channels_last is taken where one of them has it.
        dense = _kernels.is_dense(view.shape, view.strides)
        other = next((o for at, o in event.operands if at == 1 - position), None)
        if other is None:
            return dense
        return (dense and _kernels.is_dense(other.shape, other.strides)) or (
            _kernels.is_channels_last(view.shape, view.strides) and _kernels.is_channels_last(other.shape, other.strides)
        )
    return True


def _as_recorded(event: _Event) -> Callable[[dict[int, View[int]]], list[Any]]:
    """A function that says which strides an operation's results get for other strides of its operands, and that is right about those
    that were recorded. Nothing is computed."""
    recorded = [out.strides if out is not None else None for out in event.outputs]
    for results in (_on_meta, _faked):
        if _alike(results(event, {}), recorded, event):
            return lambda views: results(event, views)
    raise _Unknown("which strides its result gets is not known")


def _on_meta(event: _Event, views: dict[int, View[int]], device: str = "meta") -> list[Any]:
    numbers = iter(range(len(event.operands)))

    def put(value: Any) -> Any:
        if isinstance(value, _Operand):
            view = views.get(next(numbers))
            strides = value.strides if view is None else view.strides
            return torch.empty_strided(value.shape, strides, dtype=value.dtype, device=device)
        return [put(part) for part in value] if isinstance(value, list) else value

    try:
        with torch.no_grad():
            args = [put(value) for value in event.args]
            out = event.func(*args, **{name: put(value) for name, value in event.kwargs.items()})
    except Exception as problem:
        raise _Unknown(f"which strides its result gets is not known ({type(problem).__name__})") from problem
    results = out if isinstance(out, (list, tuple)) else (out,)
    return [result.stride() if isinstance(result, torch.Tensor) else None for result in results]


def _fake_mode(**options: Any) -> Any:
    return import_module("torch._subclasses.fake_tensor").FakeTensorMode(**options)


def _faked(event: _Event, views: dict[int, View[int]]) -> list[Any]:
    # Convolutions choose their memory format by the device.
    with _fake_mode():
        return _on_meta(event, views, "cpu")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Outside of all dispatch modes, and without gradients."""
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        yield


def _reader(event: _Event, operand: _Operand) -> dict[str, Any]:
    return {
        "reader": event.name,
        "line": str(event.line()),
        "shape": list(operand.shape),
        "reads_strides": list(operand.strides),
    }


def _instead(made: _Made) -> str | None:
    """What to write, in the words of the line, where that is plain."""
    text, op = made.copy.line.text, made.copy.op
    if op == "clone" and text.count(".contiguous()") == 1 and made.copy.backward is None:
        return text.replace(".contiguous()", "")
    if op == "constant_pad_nd" and not any(made.event.args[1]):
        return "pad only where a margin is wider than 0: this one is not"
    return None


# ---- Without some copies


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


class _Replay:
    """The recorded operations once more, with every memory anew, and without some copies."""

    def __init__(self, watch: _Watch, drop: set[_Made]) -> None:
        self.watch, self.drop = watch, drop
        self.values: dict[_Memory, Any] = {}
        self.state: dict[_Memory, tuple[_Memory, _Tracker, Any]] = {}
        self.appeared = 0
        self.last: dict[_Memory, int] = {}
        self.results = [memory for memory in watch.all if _is_result(memory)]
        for memory in watch.all:
            events = [*memory.readers[-1:], *memory.writes[-1:]]
            self.last[memory] = max((event.index for event in events), default=-1)
        for memory in self.results:
            self.last[memory] = len(watch.events)
        for made in reversed(watch.made):
            for memory, _ in made.steps or () if made in drop else ():
                self.last[memory] = max(self.last[memory], self.last[made.memory])
        self.ends: dict[int, list[_Memory]] = {}
        for memory, index in self.last.items():
            self.ends.setdefault(index, []).append(memory)

    def run(self) -> list[Any]:
        for event in self.watch.events:
            self._do(event)
            for memory in self.ends.get(event.index, ()):
                self.values.pop(memory, None)
        return [self._tensor(memory.birth) for memory in self.results if memory.birth is not None]

    def _value(self, memory: _Memory) -> Any:
        found = self.values.get(memory)
        if found is None:
            if memory.made_by is not None:
                raise RuntimeError(f"what_if: {memory.label()} is missing from the record")
            storage = _alive(memory.ref)
            if memory.constant is not None:
                found = self.values[memory] = memory.constant.clone()
                return found
            if storage is None and not memory.length and memory.birth is not None:
                found = self.values[memory] = torch.empty(0, dtype=memory.birth.dtype)
                return found
            if storage is None:
                raise RuntimeError(
                    f"what_if: {memory.label()} has been freed, so that the program cannot be run again; keep the inputs,"
                    " or give the program: what_if(program=lambda: model(x))"
                )
            first = memory.first() if memory.first is not None else None
            changed = (
                first is not None and memory.version >= 0 and not first.is_inference() and first._version != memory.version
            )
            if memory.writes or changed:
                raise RuntimeError(
                    f"what_if: {memory.label()} has been written since, so that the program cannot be run again from the record;"
                    " give the program: what_if(program=lambda: model(x))"
                )
            assert memory.birth is not None
            found = self.values[memory] = _flat(storage, memory.birth.dtype)
        return found

    def _tensor(self, operand: _Operand) -> Any:
        known = self.state.get(operand.memory)
        if known is None:
            value = self._value(operand.memory)
            if value.dtype != operand.dtype:
                value = value.view(operand.dtype)
            return torch.as_strided(value, operand.shape, operand.strides, operand.offset)
        base, tracker, fill = known
        tracker = tracker.compose(operand.tracker())
        view = tracker.as_view()
        value = self._value(base)
        if view is not None and view.mask is None and min(view.strides, default=0) >= 0:
            return torch.as_strided(value, view.shape, view.strides, view.offset)
        self.appeared += 1
        return _moved(tracker, value, fill)

    def _do(self, event: _Event) -> None:
        made = event.copy
        if made is not None and made in self.drop:
            assert made.steps is not None
            [(memory, step)] = made.steps
            known = self.state.get(memory)
            base, tracker, fill = (memory, step, made.fill) if known is None else (known[0], known[1].compose(step), known[2])
            self.state[made.memory] = (base, tracker, made.fill if _has_mask(step) else fill)
            return
        if made is not None and made.steps is not None and len(made.steps) == 1 and event.name != "copy_":
            [(memory, step)] = made.steps
            known = self.state.get(memory)
            if known is not None:
                tracker = known[1].compose(step)
                fill = made.fill if _has_mask(step) else known[2]
                self.values[made.memory] = _moved(tracker, self._value(known[0]), fill)
                return
        args = [self._put(value) for value in event.args]
        kwargs = {name: self._put(value) for name, value in event.kwargs.items()}
        out = event.func(*args, **kwargs)
        results = out if isinstance(out, (list, tuple)) else (out,)
        for operand, result in zip(event.outputs, results, strict=True):
            if operand is None or operand.memory.made_by is not event or operand.memory in self.values:
                continue
            self.values[operand.memory] = _flat(result.untyped_storage(), result.dtype)
            if not _same_strides(result.stride(), operand.strides, operand.shape) or result.storage_offset() != operand.offset:
                length = result.untyped_storage().nbytes() // result.element_size()
                new = ShapeTracker.contiguous(length).as_strided(operand.shape, result.stride(), result.storage_offset())
                self.state[operand.memory] = (operand.memory, new.compose(_places(operand)), 0)

    def _put(self, value: Any) -> Any:
        if isinstance(value, _Operand):
            return self._tensor(value)
        return [self._put(part) for part in value] if isinstance(value, list) else value


def _moved(tracker: _Tracker, value: Any, fill: Any) -> Any:
    """A tracker's tensor as a new dense one."""
    if str(value.device) == "cpu":
        return _native.apply(tracker, value, fill, copy=True)
    raise RuntimeError("what_if: a pass over several views runs on the CPU only")


def _is_result(memory: _Memory) -> bool:
    """Is it what came out: still there, or read by nobody?"""
    return memory.made_by is not None and (not memory.readers or memory.is_kept())


class _Dropping(TorchDispatchMode):  # type: ignore[misc]
    """A program without the copies of some lines that are views: what was read is handed out instead."""

    def __init__(self, lines: set[str]) -> None:
        super().__init__()
        self.lines, self.dropped, self.moved = lines, 0, 0
        self.kinds = _KINDS

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        kind = self.kinds.get(func)
        if kind is None:
            kind = self.kinds[func] = _Kind(func)
        if kind.move is not None and kind.name not in ("cat", "stack", "copy_") and args[0].numel():
            frame = _ways().innermost(sys._getframe(1))
            if frame is not None and str(line_of(frame)) in self.lines and kwargs.get("dtype") in (None, args[0].dtype):
                source = args[0]
                tracker = ShapeTracker.contiguous(source.untyped_storage().nbytes() // source.element_size())
                tracker = tracker.as_strided(source.shape, source.stride(), source.storage_offset())
                moved = kind.move(tracker, *args[1:])
                view = None if moved is None else moved.as_view()
                if view is not None and view.mask is None and min(view.strides, default=0) >= 0:
                    self.dropped += 1
                    return source.as_strided(view.shape, view.strides, view.offset)
        if kind.name in ("view", "_unsafe_view"):
            try:
                return func(*args, **kwargs)
            except RuntimeError:
                self.moved += 1
                return args[0].reshape(args[1])
        self.moved += kind.move is not None
        return func(*args, **kwargs)


def _compared(one: list[Any], other: list[Any]) -> tuple[str, float]:
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


def _tensors(value: Any) -> list[Any]:
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


# ---- What is there for a program


class Copies(Reporting):
    """The copies of a program, which `copies` and `plan` make. `print(found)`, `found.to_dict()` and `found.html()` report them.

    `copies` are in the order of time, `operations` is how many PyTorch ran, `seconds` what they took. `inside` says how often kernels
    copied their own operands, and how many bytes, by operator and line, where it was asked for (`deep=True`).
    """

    def __init__(self, deep: bool = False) -> None:
        self._watch: _Watch | None = None
        self._deep = deep
        self._found: list[Copy] | None = None

    def __enter__(self) -> Copies:
        if self._watch is not None:
            raise RuntimeError("copies: a report is of one with block; call copies() once more for another")
        self._watch = _Watch(self._deep)
        self._watch.__enter__()
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        assert self._watch is not None
        self._watch.__exit__(kind, value, trace)
        for made in self._watch.made:
            made.copy.kept = made.memory.is_kept()

    def _watched(self) -> _Watch:
        if self._watch is None:
            raise RuntimeError("copies: nothing was watched yet; with copies() as found: ...")
        return self._watch

    @property
    def copies(self) -> list[Copy]:  # type: ignore[override]
        """All copies, with their verdicts, in the order of time."""
        if self._found is None:
            watch = self._watched()
            with _undisturbed():
                _Judge(watch).judge()
            self._found = [made.copy for made in watch.made]
        return self._found

    @property
    def operations(self) -> int:  # type: ignore[override]
        return self._watched().operations

    @property
    def seconds(self) -> float:  # type: ignore[override]
        return self._watched().seconds

    @property
    def inside(self) -> dict[tuple[str, str], tuple[int, int]]:
        """For each operator and line whose kernels copied: how often, and how many bytes."""
        return {(name, str(line)): (count, size) for (name, line), (count, size) in self._watched().inside.items()}

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """What was not understood, and copies inside of kernels."""
        watch = self._watched()
        found = [
            f"inside {name} at {line}: {plural(count, 'copy')}, {mib(size)}"
            for (name, line), (count, size) in self.inside.items()
        ]
        if watch.lost:
            found.append(f"{plural(len(watch.lost), 'operation')} not understood: {watch.lost[0]}")
        return found

    def what_if(
        self, line: str | Copy | Iterable[str | Copy] | None = None, *, program: Callable[[], Any] | None = None, runs: int = 3
    ) -> WhatIf:
        """The program again without the copies of a line, as `"model.py:12"`; of several lines; or, without any, all that can be
        avoided. The results are compared and the time is told.

        What was recorded is run again, operation by operation: with all copies, and without these, so that their readers get the
        strides of what was there. Inputs and parameters must be there still, unwritten. With `program`, a function of no arguments,
        this function is run instead, as often as two times `runs`, and only copies that strides can replace are left out.
        """
        watch = self._watched()
        chosen = self._chosen(line)
        lines = tuple(dict.fromkeys(str(copy.line) for copy in chosen))
        drop = {made for made in watch.made if made.copy in chosen}
        with torch.no_grad():
            if program is not None:
                return self._with_program(program, chosen, lines, runs)
            with _undisturbed():
                return self._again(watch, drop, chosen, lines, runs)

    def _chosen(self, line: Any) -> list[Copy]:
        if line is None:
            return [copy for copy in self.copies if copy.avoidable]
        wanted = [line] if isinstance(line, (str, Copy)) else list(line)
        for one in wanted:
            if isinstance(one, Copy) and one not in self.copies:
                raise ValueError("what_if: a copy of another report was given")
            if isinstance(one, str) and not any(str(copy.line) == one for copy in self.copies):
                lines = ", ".join(dict.fromkeys(str(copy.line) for copy in self.copies)) or "none"
                raise ValueError(f"what_if: no copy was made at {one}; the lines with copies are {lines}")
        chosen = [copy for copy in self.copies if copy in wanted or str(copy.line) in wanted]
        ours = {made.copy: made for made in self._watched().made}
        left = []
        for copy in chosen:
            made = ours[copy]
            if made.steps is not None and len(made.steps) == 1 and made.memory.copy is made:
                left.append(copy)
        if chosen and not left:
            raise ValueError(f"what_if: {chosen[0].op} at {chosen[0].line} cannot be left out: {chosen[0].reason}")
        return left

    def _again(self, watch: _Watch, drop: set[_Made], chosen: list[Copy], lines: tuple[str, ...], runs: int) -> WhatIf:
        if watch.without_data:
            raise RuntimeError("what_if: there are no data on meta and in FakeTensorMode that could be compared")
        if len(watch.events) >= LIMIT or watch.lost:
            raise RuntimeError(
                "what_if: not all operations were recorded, so that they cannot be run again; give the program:"
                " what_if(program=lambda: model(x))"
            )
        times: dict[bool, float] = {}
        results: dict[bool, list[Any]] = {}
        appeared = 0
        devices = [torch.device("cuda", at) for at in range(torch.cuda.device_count())] if torch.cuda.is_initialized() else []
        for _ in range(max(1, runs)):
            for without in (False, True):
                replay = _Replay(watch, drop if without else set())
                with torch.random.fork_rng(devices):
                    torch.manual_seed(0)
                    start = time.perf_counter()
                    results[without] = replay.run()
                    took = time.perf_counter() - start
                times[without] = min(took, times.get(without, math.inf))
                appeared = replay.appeared if without else appeared
        result, difference = _compared(results[False], results[True])
        numbers = tuple(copy.number for copy in chosen)
        return WhatIf(numbers, lines, result, difference, times[False], times[True], appeared)

    def _with_program(self, program: Callable[[], Any], chosen: list[Copy], lines: tuple[str, ...], runs: int) -> WhatIf:
        times: dict[bool, float] = {}
        results: dict[bool, list[Any]] = {}
        modes: dict[bool, _Dropping] = {}
        for _ in range(max(1, runs)):
            for without in (False, True):
                modes[without] = mode = _Dropping(set(lines) if without else set())
                start = time.perf_counter()
                with mode:
                    out = program()
                times[without] = min(time.perf_counter() - start, times.get(without, math.inf))
                results[without] = _tensors(out)
        result, difference = _compared(results[False], results[True])
        return WhatIf(
            tuple(copy.number for copy in chosen),
            lines,
            result,
            difference,
            times[False],
            times[True],
            max(0, modes[True].moved + modes[True].dropped - modes[False].moved),
        )


def copies(*, deep: bool = False) -> Copies:
    """Watches the PyTorch program in a `with` block, forward and backward: `with copies() as found: model(x)`.

    Which thread: that of the block, and those of its backward. Tensors on `meta` and those of FakeTensorMode are watched as well, and
    no data of any device is read. The program's results and exceptions are its own. `deep=True` runs each kernel under PyTorch's
    profiler and says which copied their operands, in `found.inside`; that takes about a millisecond an operation.

    What it costs: 30 to 75 microseconds an operation while it watches, and what it keeps of each operation until the report is
    freed, which is no data of tensors.
    """
    return Copies(deep)


def plan(model: Callable[..., Any], *inputs: Any, **named: Any) -> Copies:
    """The copies that a model would make for inputs, found out without data: `plan(model, torch.empty(64, 3, 224, 224, device="meta"))`.

    `model` is a module, a function, or a program of `torch.export`. Inputs may be on any device: only their shapes and strides
    are taken, and tensors on `meta` stand for some on the CPU. Nothing is computed, and the model keeps its parameters.
    """
    if hasattr(model, "exported_program") or type(model).__name__ == "ExportedProgram":
        model = model.module()  # type: ignore[attr-defined]
    is_module = isinstance(model, torch.nn.Module)
    if not is_module and not callable(model):
        raise TypeError(f"plan: takes a module, a function or an exported program, not a value of type {type(model).__name__}")
    mode = _fake_mode(allow_non_fake_inputs=True)
    seen: dict[int, Any] = {}

    def fake(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in seen:
            device = "cpu" if value.device.type == "meta" else value.device
            made = torch.empty_strided(
                value.shape, value.stride(), dtype=value.dtype, device=device, requires_grad=value.requires_grad
            )
            seen[id(value)] = (made, value)
        return seen[id(value)][0]

    with mode:
        args, options = torch.utils._pytree.tree_map(fake, (inputs, named))
        if is_module:
            state = {name: fake(value) for name, value in [*model.named_parameters(), *model.named_buffers()]}  # type: ignore[attr-defined]
        found = Copies()
        with found:
            if is_module:
                torch.func.functional_call(model, state, args, options)
            else:
                model(*args, **options)
    return found


class UnexpectedCopies(AssertionError):
    """Copies for a layout where none were expected. `copies` has them."""

    copies: list[Copy]

    def __init__(self, found: list[Copy]) -> None:
        lines = [f"{plural(len(found), 'copy')} for the layout that nobody expected:"]
        for copy in found[:20]:
            lines += [
                f"{copy.line}  {copy.op}  {mib(copy.bytes)}  {copy.verdict}",
                f"    {copy.line.text}",
                f"    {copy.reason}",
            ]
        if len(found) > 20:
            lines.append(f"and {len(found) - 20} more")
        super().__init__("\n".join(lines))
        self.copies = found


@contextmanager
def no_copies(allow: Iterable[str] = (), *, above: int = 0) -> Iterator[Copies]:
    """Raises UnexpectedCopies at the end of a `with` block in which PyTorch copied for the sake of a layout: for tests.

    `allow` has what may be: verdicts such as "needed" and "gather", lines such as "model.py:12", names of files. Copies of
    `above` bytes or fewer are none. An exception of the block is raised as it is.
    """
    allowed = [allow] if isinstance(allow, str) else list(allow)
    for one in allowed:
        if one not in VERDICTS and "." not in one:
            raise ValueError(f"no_copies: allow has {one!r}, which is no verdict ({', '.join(VERDICTS)}), no line and no file")
    found = Copies()
    with found:
        yield found
    unexpected = [
        copy
        for copy in found.copies
        if copy.bytes > above
        and copy.verdict not in allowed
        and str(copy.line) not in allowed
        and os.path.basename(copy.line.file) not in allowed
    ]
    if unexpected:
        raise UnexpectedCopies(unexpected)
