"""What a PyTorch program did, found out from the notes of a watch."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    torch: Any = None
else:
    import torch

from .._copies import NOWHERE, Copy, Line, Place
from .._native import ShapeTracker
from .._stacks import Tracker
from .watch import NO_STRIDES, NUMBERED, Kind, Layout, More, Noted, Watch, ways

__all__ = ["Event", "Made", "Memory", "Operand", "Record", "Unknown", "undisturbed"]


class Unknown(Exception):
    """What is asked cannot be known."""


class Memory:
    """A storage, from when it is first seen until it is freed. `length` is how many elements of its first type it has.

    `birth` is the tensor that it was seen as first, and `born` the number of the operation that made it, -1 where it was there
    before.
    """

    __slots__ = (
        "address",
        "nbytes",
        "device",
        "born",
        "first",
        "version",
        "constant",
        "kept",
        "width",
        "length",
        "birth",
        "copy",
        "made_by",
        "writes",
        "readers",
    )

    def __init__(self, address: int, nbytes: int, device: Any, layout: Layout, born: int) -> None:
        self.address, self.nbytes, self.device, self.born = address, nbytes, device, born
        self.first: Any = None
        self.version = -1
        self.constant: Any = None
        self.kept = False
        self.birth = Operand(self, layout)
        self.width = self.birth.width
        self.length = nbytes // self.width
        self.copy: Made | None = None
        self.made_by: Event | None = None
        self.writes: list[Event] = []
        self.readers: list[Event] = []

    def storage(self) -> Any:
        """The storage, None where it was freed."""
        return torch.UntypedStorage._new_with_weak_ptr(self.address)

    def label(self) -> str:
        if self.made_by is not None:
            return f"what {self.made_by.name} made at {self.made_by.line()}"
        return f"a tensor of shape {tuple(self.birth.shape)} that was there before"


class Operand:
    """A tensor as an operation saw it: a strided view of a memory."""

    __slots__ = ("memory", "shape", "strides", "offset", "dtype", "lazy")

    def __init__(self, memory: Memory, layout: Layout) -> None:
        self.memory = memory
        self.shape: tuple[int, ...] = layout[0]
        _, self.strides, self.offset, self.dtype, self.lazy = layout

    @property
    def width(self) -> int:
        return int(self.dtype.itemsize)

    def is_inside(self) -> bool:
        """Does it lie in the memory, as large as that was when it was first seen?"""
        reach = self.offset + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True)) + 1
        return not math.prod(self.shape) or reach * self.width <= self.memory.nbytes

    def tracker(self) -> Tracker:
        """Over the memory."""
        if self.width != self.memory.width:
            raise Unknown(f"it is read as {self.dtype}, and its memory was made for elements of {self.memory.width} bytes")
        if self.lazy:
            raise Unknown("it is a conjugate or negative that is not computed yet, and strides do not say so")
        if not self.is_inside():
            raise Unknown("its storage was resized")
        return ShapeTracker.contiguous(self.memory.length).as_strided(self.shape, self.strides, self.offset)


class Event:
    """An operation that is no view, with tensors replaced by operands."""

    __slots__ = ("index", "kind", "args", "kwargs", "operands", "outputs", "place", "copy", "writes")

    index: int
    kind: Kind
    args: list[Any]
    kwargs: dict[str, Any]
    # With the position of the argument that each is in, -1 for those that go by a name.
    operands: list[tuple[int, Operand]]
    outputs: list[Operand | None]
    place: Place | None
    copy: Made | None
    writes: list[Memory]

    @property
    def name(self) -> str:
        return self.kind.name

    @property
    def func(self) -> Any:
        return self.kind.func

    def line(self) -> Line:
        return NOWHERE if self.place is None else ways().lines(self.place)[0]


class Made:
    """A copy with what its verdict is found from. `steps` are its parts: over the memory that is written, each the place in
    the memory that was read; masked where the other parts are, or what was filled in."""

    __slots__ = ("copy", "event", "memory", "steps", "fill", "whole", "root", "gathers")

    copy: Copy
    event: Event
    memory: Memory
    steps: list[tuple[Memory, Tracker]] | None
    fill: Any
    whole: Tracker | None
    root: Memory | None
    gathers: bool


@contextmanager
def undisturbed() -> Iterator[None]:
    """Outside of all modes, and without gradients."""
    with torch.utils._python_dispatch._disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
        yield


class Record:
    """What a program did, found out from the notes of a watch."""

    def __init__(self, watch: Watch) -> None:
        self.lost = watch.lost
        self.first_compiled = watch.first_compiled
        self.sequence = watch.sequence
        self.references = watch.references
        self._layouts = list(watch.layouts)
        self.memories = [
            Memory(address, nbytes, device, self._layouts[layout], born)
            for address, nbytes, device, layout, born in watch.memories
        ]
        for number, (memory, kept) in enumerate(zip(self.memories, watch.kept, strict=True)):
            memory.kept, memory.constant = kept, watch.constants.get(number)
            memory.first, memory.version = watch.firsts.get(number, (None, -1))
        self.without_data = watch.without_data or any(memory.device.type == "meta" for memory in self.memories)
        self.events: list[Event] = []
        self.made: list[Made] = []
        for noted in watch.noted:
            self._event(*noted)

    def _operand(self, noted: Noted) -> Operand:
        memory, layout = noted
        return Operand(self.memories[memory], self._layouts[layout])

    def _event(
        self,
        kind: int,
        args: tuple[Any, ...],
        named: tuple[Any, ...] | None,
        operands: tuple[Noted, ...],
        outputs: tuple[Noted, ...],
        place: Place | None,
        more: More | None,
    ) -> None:
        event = Event()
        event.index, event.kind, event.place, event.copy = len(self.events), NUMBERED[kind], place, None
        seen = [self._operand(noted) for noted in operands]
        left = iter(seen)
        event.args = [_filled(value, left) for value in args]
        event.kwargs = {name: _filled(value, left) for name, value in named or ()}
        event.operands = [
            (position, operand)
            for position, value in [*enumerate(event.args), *((-1, value) for value in event.kwargs.values())]
            for operand in _operands(value)
        ]
        event.writes = []
        for position, name in event.kind.writes:
            for operand in _operands(event.args[position] if position < len(args) else event.kwargs.get(name)):
                event.writes.append(operand.memory)
                operand.memory.writes.append(event)
        for operand in seen:
            readers = operand.memory.readers
            if not readers or readers[-1] is not event:
                readers.append(event)
        event.outputs = [None if noted == NO_STRIDES else self._operand(noted) for noted in outputs]
        for out in event.outputs:
            if out is not None and out.memory.born == event.index:
                out.memory.made_by = event
        self.events.append(event)
        if event.operands and more is not None:
            self._copied(event, *more)

    def _copied(self, event: Event, frames: tuple[Place, ...], seconds: float, node: tuple[str, int] | None) -> None:
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
        if target.memory.device.type != source.memory.device.type:
            return
        backward = None
        if node is not None:
            place = self.sequence.get(node[1])
            backward = node[0] if place is None else f"{node[0]} of {ways().lines(place)[0]}"
        made = Made()
        made.copy = Copy(
            len(self.made),
            kind.name,
            tuple(line for place in frames for line in ways().lines(place)),
            tuple(source.shape),
            source.strides,
            source.offset,
            target.strides,
            str(source.dtype).removeprefix("torch."),
            math.prod(target.shape) * target.width,
            seconds,
            backward=backward,
        )
        made.copy.kept = target.memory.kept
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


def _operands(value: Any) -> Iterator[Operand]:
    if isinstance(value, Operand):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _operands(part)


def _filled(value: Any, operands: Iterator[Operand]) -> Any:
    if value is ...:
        return next(operands)
    return [_filled(part, operands) for part in value] if isinstance(value, tuple) else value
