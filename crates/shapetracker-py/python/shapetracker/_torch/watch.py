"""What is noted of a PyTorch program while it runs: its operations, the storages that they read and wrote, the lines of the program.

Nothing is decided here. `Record` is made of the notes afterwards.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    torch: Any = None
    TorchDispatchMode: Any = object
else:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

from .._copies import Place, Ways
from .._stacks import Tracker
from .lines import generated
from .moves import GATHERS, MOVES

__all__ = [
    "LIMIT",
    "NO_STRIDES",
    "NUMBERED",
    "Compiled",
    "Kind",
    "Layout",
    "Mode",
    "More",
    "Noted",
    "Other",
    "References",
    "Watch",
    "flat",
    "kind_of",
    "ways",
]

# An operation that is recorded after so many others is counted only.
LIMIT = 200_000


class Kind:
    """What is to be known about an operator."""

    __slots__ = (
        "func",
        "number",
        "name",
        "is_view",
        "writes",
        "move",
        "gathers",
        "copies",
        "is_composite",
        "is_special",
        "is_unseen",
    )

    def __init__(self, func: Any, number: int) -> None:
        self.func, self.number = func, number
        schema = getattr(func, "_schema", None)
        self.is_unseen = schema is None
        if schema is None:
            # An operator of functions, or compiled code, of which nothing is known.
            self.name = func.name() if callable(getattr(func, "name", None)) else str(func)
            self.is_view = self.gathers = self.copies = self.is_composite = False
            self.is_special = True
            self.writes: tuple[tuple[int, str], ...] = ()
            self.move: Callable[..., Tracker] | None = None
            return
        self.name = schema.name.split("::")[1]
        aten = schema.name.startswith("aten::")
        self.is_view = bool(getattr(func, "is_view", False)) or self.name in ("lift_fresh", "_unsafe_view", "_reshape_alias")
        self.is_view = self.is_view or schema.name.startswith("prim::")
        self.writes = tuple(
            (position, argument.name)
            for position, argument in enumerate(schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        )
        self.move = MOVES.get(self.name) if aten else None
        self.gathers = aten and self.name in GATHERS
        self.copies = self.move is not None or self.gathers
        # In inference mode these come here as they are.
        self.is_composite = aten and torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
        self.is_special = self.is_composite


# What was found out about operators, by the identity of the operator, for its hash is computed in Python; `Kind` keeps it.
_KINDS: dict[int, Kind] = {}
NUMBERED: list[Kind] = []
_LOCK = threading.Lock()


def kind_of(func: Any) -> Kind:
    """What is to be known about an operator."""
    kind = _KINDS.get(id(func))
    if kind is None:
        with _LOCK:
            kind = Kind(func, len(NUMBERED))
            NUMBERED.append(kind)
            _KINDS[id(func)] = kind
    return kind


# What is noted while the program runs are tuples of numbers and the like: Python's collector of garbage looks at such a tuple
# once, and at other containers again and again, the more often, the more the program has.

# The shape, strides, offset and type of a tensor, and whether it is a conjugate or negative that is not computed yet.
Layout: TypeAlias = tuple[Any, tuple[int, ...], int, Any, bool]
# A tensor: the number of its memory, and that of its layout; -1 where it has no strides.
Noted: TypeAlias = tuple[int, int]


class References:
    """Weak references to storages: their addresses are those of no others, and their data may be freed."""

    def __init__(self) -> None:
        self.all: list[int] = []
        # `torch` may be gone when the last of them goes.
        self.free: Any = torch.Storage._free_weak_ref

    def __del__(self) -> None:
        for address in self.all:
            self.free(address)


class Other:
    """Stands for a tensor that has no strides: a sparse one, or one of another library."""


_OTHER = Other()
NO_STRIDES: Noted = (-1, -1)
# Types of arguments that are no tensors, and hold none.
_PLAIN = frozenset((int, float, bool, complex, str, type(None), torch.dtype, torch.device, torch.layout, torch.memory_format))
_TENSORS = frozenset((torch.Tensor, torch.nn.Parameter))
_COMPLEX = frozenset((torch.complex32, torch.complex64, torch.complex128))


def flat(storage: Any, dtype: Any) -> Any:
    """All of a storage as a tensor of one axis."""
    made = torch.empty(0, dtype=dtype, device=storage.device)
    return made.set_(storage, 0, (storage.nbytes() // made.element_size(),), (1,))


_WAYS: Ways | None = None


def ways() -> Ways:
    """Which frames are the user's: those outside of PyTorch."""
    global _WAYS
    if _WAYS is None:
        _WAYS = Ways(os.path.dirname(torch.__file__), generated=generated)
    return _WAYS


# A copy as it is noted: the frames of the program, what it took, and the node of the backward that made it.
More: TypeAlias = tuple[tuple[Place, ...], float, "tuple[str, int] | None"]
# An operation: the number of its kind, its arguments with `...` for each operand in turn, those with names, the operands, results,
# place, and what is noted of a copy.
_Operation: TypeAlias = tuple[
    int, tuple[Any, ...], "tuple[Any, ...] | None", tuple[Noted, ...], tuple[Noted, ...], "Place | None", "More | None"
]


class Mode(TorchDispatchMode):  # type: ignore[misc]
    """A mode under which programs with functions that are compiled, or are given to operators, run as they do without it."""

    supports_higher_order_operators = True

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Functions are compiled as they are without a watch."""
        return True


class Watch(Mode):
    """Notes operations. What they did is found out afterwards."""

    def __init__(self, deep: bool = False) -> None:
        super().__init__()
        # The backward of several devices runs in several threads.
        self.lock = threading.Lock()
        self.noted: list[_Operation] = []
        # Numbers of layouts, and of memories by their addresses; and of each memory its address, bytes, device, the number of the
        # layout that it was seen with first, and which operation made it.
        self.layouts: dict[Layout, int] = {}
        self.numbers: dict[int, int] = {}
        self.memories: list[tuple[int, int, Any, int, int]] = []
        self.references = References()
        # Of those that were there before, the tensor and its version; and the numbers of the program in small ones.
        self.firsts: dict[int, tuple[Any, int]] = {}
        self.constants: dict[int, Any] = {}
        self.kept: list[bool] = []
        # Was the compiler loaded in the block, so that what its code read was not seen?
        self.first_compiled = False
        self.operations = 0
        self.lost: list[str] = []
        # The place of the program at which a node of the backward was made, by its number.
        self.sequence: dict[int, Place] = {}
        self.deep = deep
        self.inside: dict[tuple[str, Place | None], list[int]] = {}
        self.without_data = False
        self.plain: dict[type, bool] = {torch.Tensor: True, torch.nn.Parameter: True}
        self.ways = ways()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for cls in types:
            plain = self.plain.get(cls)
            if not (self._is_plain(cls) if plain is None else plain):
                # Its operations on the tensors inside of it come here afterwards.
                return NotImplemented
        kind = _KINDS.get(id(func))
        if kind is None:
            kind = kind_of(func)
        if kind.is_special:
            if kind.is_composite:
                with self:
                    out = func.decompose(*args, **(kwargs or {}))
                if out is not NotImplemented:
                    return out
            else:
                self.lost.append(f"{kind.name}: what the functions do that it is given is not seen")
        self.operations += 1
        if kind.is_view:
            if args:
                try:
                    with self.lock:
                        self._viewed(kind, args[0])
                except Exception as problem:
                    self._lose(kind, problem)
            return func(*args, **kwargs) if kwargs else func(*args)
        if kind.copies:
            start = time.perf_counter()
            out = func(*args, **(kwargs or {}))
            seconds: float | None = time.perf_counter() - start
        elif self.deep:
            seconds, out = None, self._inside(kind, func, args, kwargs or {})
        else:
            seconds, out = None, (func(*args, **kwargs) if kwargs else func(*args))
        try:
            with self.lock:
                self._note(kind, args, kwargs, out, seconds)
        except Exception as problem:
            self._lose(kind, problem)
        return out

    def _lose(self, kind: Kind, problem: Exception) -> None:
        self.lost.append(f"{kind.name}: {type(problem).__name__}: {problem}")

    def _is_plain(self, cls: type) -> bool:
        is_fake = cls.__name__ == "FakeTensor"
        self.without_data = self.without_data or is_fake
        plain = self.plain[cls] = is_fake or getattr(cls, "__torch_dispatch__", None) is torch._C._disabled_torch_dispatch_impl
        return plain

    def _viewed(self, kind: Kind, tensor: Any) -> None:
        if not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided:
            return
        if kind.name == "lift_fresh":
            noted = self._tensor(tensor)
            if noted[0] >= 0 and noted[0] not in self.constants and tensor.numel() <= 4096:
                # Made of numbers of the program, which nobody else may keep.
                self.constants[noted[0]] = flat(tensor.untyped_storage(), tensor.dtype).clone()
            return
        if tensor.untyped_storage()._cdata not in self.numbers:
            # What a program calls by a name, before temporary views of it.
            self._tensor(tensor)
        if tensor.requires_grad and torch.is_grad_enabled():
            frame = self.ways.innermost(sys._getframe(2))
            if frame is not None:
                self.sequence[torch._C._autograd._get_sequence_nr() - 1] = (frame.f_code, frame.f_lasti)

    def _inside(self, kind: Kind, func: Any, args: Any, kwargs: Any) -> Any:
        """The operation under PyTorch's profiler, for the copies that its kernel makes."""
        with torch.autograd.profiler.profile(record_shapes=True) as profile:
            out = func(*args, **kwargs)
        counts = 0
        size = 0
        for event in profile.function_events:
            if event.name == "aten::copy_" and event.input_shapes and len(event.input_shapes) > 1:
                counts += 1
                tensor = next((arg for arg in args if isinstance(arg, torch.Tensor)), None)
                size += math.prod(event.input_shapes[0]) * (tensor.element_size() if tensor is not None else 0)
        if counts:
            frame = self.ways.innermost(sys._getframe(1))
            entry = self.inside.setdefault((kind.name, (frame.f_code, frame.f_lasti) if frame else None), [0, 0])
            entry[0] += counts
            entry[1] += size
        return out

    def _tensor(self, tensor: Any, born: int = -1) -> Noted:
        """What is noted of a tensor."""
        try:
            storage = tensor.untyped_storage()
            dtype = tensor.dtype
            key = (
                tensor.shape,
                tensor.stride(),
                tensor.storage_offset(),
                dtype,
                dtype in _COMPLEX and (tensor.is_conj() or tensor.is_neg()),
            )
        except (RuntimeError, NotImplementedError):
            return NO_STRIDES
        layout = self.layouts.get(key)
        if layout is None:
            layout = self.layouts[key] = len(self.layouts)
        address = storage._cdata
        number = self.numbers.get(address)
        if number is None:
            number = self.numbers[address] = len(self.memories)
            self.references.all.append(storage._weak_ref())
            self.memories.append((address, storage.nbytes(), tensor.device, layout, born))
            if born < 0:
                self.firsts[number] = (weakref.ref(tensor), -1 if tensor.is_inference() else tensor._version)
        return (number, layout)

    def _note(self, kind: Kind, args: Any, kwargs: Any, out: Any, seconds: float | None) -> None:
        index = len(self.noted)
        if index >= LIMIT:
            if not self.lost:
                self.lost.append(f"only the first {LIMIT} operations were followed")
            return
        operands: list[Noted] = []
        given = []
        for value in args:
            cls = value.__class__
            if cls in _PLAIN:
                given.append(value)
            elif cls in _TENSORS and (noted := self._tensor(value)) is not NO_STRIDES:
                given.append(...)
                operands.append(noted)
            else:
                given.append(self._put(value, operands))
        named = tuple((name, self._put(value, operands)) for name, value in kwargs.items()) if kwargs else None
        if out.__class__ in _TENSORS:
            outputs: tuple[Noted, ...] = (self._tensor(out, index),)
        else:
            results = out if isinstance(out, (list, tuple)) else (out,)
            outputs = tuple(
                self._tensor(result, index) if isinstance(result, torch.Tensor) else NO_STRIDES for result in results
            )
        frame = self.ways.innermost(sys._getframe(2))
        place = None if frame is None else (frame.f_code, frame.f_lasti)
        if place is not None and torch.is_grad_enabled():
            self.sequence[torch._C._autograd._get_sequence_nr() - 1] = place
        more: More | None = None
        if seconds is not None:
            node = torch._C._current_autograd_node()
            more = (tuple(self.ways.all(frame)), seconds, None if node is None else (node.name(), node._sequence_nr()))
        self.noted.append((kind.number, tuple(given), named, tuple(operands), outputs, place, more))

    def _put(self, value: Any, operands: list[Noted]) -> Any:
        """An argument with `...` for tensors, which would be kept alive, and lists as tuples."""
        if isinstance(value, torch.Tensor):
            noted = self._tensor(value)
            if noted is NO_STRIDES:
                return _OTHER
            operands.append(noted)
            return ...
        if isinstance(value, (list, tuple)):
            return tuple([self._put(part, operands) for part in value])
        return value

    def given(self, inputs: Iterable[Any]) -> tuple[Noted, ...]:
        """What compiled code is given: noted before it runs, for it frees its inputs as early as it can."""
        try:
            with self.lock:
                noted = [self._tensor(x) for x in inputs if isinstance(x, torch.Tensor)]
            return tuple(each for each in noted if each is not NO_STRIDES)
        except Exception as problem:
            self._lose(kind_of(_COMPILED_CODE), problem)
            return ()

    def unseen(self, operands: tuple[Noted, ...], out: Any) -> None:
        """Compiled code, after it ran."""
        kind = kind_of(_COMPILED_CODE)
        self.lost.append(f"{kind.name}: what its kernels do is not seen")
        try:
            with self.lock:
                made = out if isinstance(out, (list, tuple)) else (out,)
                outputs = tuple(self._tensor(x, len(self.noted)) for x in made if isinstance(x, torch.Tensor))
                frame = self.ways.innermost(sys._getframe(1))
                place = None if frame is None else (frame.f_code, frame.f_lasti)
                self.noted.append((kind.number, (...,) * len(operands), None, operands, outputs, place, None))
        except Exception as problem:
            self._lose(kind, problem)

    def leave(self) -> None:
        """At the end of the block: which memories are there still."""
        self.kept = [not torch.Storage._expired(memory[0]) for memory in self.memories]


class _CompiledCode:
    """Stands for the operator of what was compiled."""

    def name(self) -> str:
        return "compiled code"

    def __call__(self, *_: Any) -> Any:
        raise RuntimeError("what its kernels do was not seen")


_COMPILED_CODE = _CompiledCode()


class Compiled:
    """Calls of what PyTorch's compiler made lead through here while a block runs: no dispatch mode sees its kernels."""

    lock = threading.Lock()
    blocks = 0
    original: Any = None

    @classmethod
    def enter(cls) -> None:
        with cls.lock:
            cls.blocks += 1
            graph = cls._graph()
            if cls.original is None and graph is not None:
                cls.original = original = graph.__call__

                def call(self: Any, inputs: Any) -> Any:
                    watches = [
                        mode
                        for mode in torch.utils._python_dispatch._get_current_dispatch_mode_stack()
                        if isinstance(mode, Watch)
                    ]
                    given = [watch.given(inputs) for watch in watches]
                    out = original(self, inputs)
                    for watch, operands in zip(watches, given, strict=True):
                        watch.unseen(operands, out)
                    return out

                graph.__call__ = call

    @classmethod
    def leave(cls) -> bool:
        """Was the compiler loaded since the block began, so that calls of its code were not seen?"""
        with cls.lock:
            cls.blocks -= 1
            graph = cls._graph()
            if graph is not None and cls.original is None:
                return True
            if not cls.blocks and graph is not None:
                graph.__call__, cls.original = cls.original, None
            return False

    @staticmethod
    def _graph() -> Any:
        return getattr(sys.modules.get("torch._inductor.output_code"), "CompiledFxGraph", None)
