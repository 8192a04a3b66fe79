"""Which copies did a NumPy program make for the sake of a layout, and what for?

    >>> import numpy as np
    >>> import shapetracker.numpy
    >>> with shapetracker.numpy.copies() as found:
    ...     x = found.watch(np.zeros((6, 4)))
    ...     y = x.T.flatten() + 1
    ...     z = np.ascontiguousarray(x.T) + 1
    >>> [(copy.op, copy.bytes, copy.verdict) for copy in found.copies]
    [('flatten', 192, 'needed'), ('ascontiguousarray', 192, 'not needed')]

`watch` makes an array of a subclass that shares the memory, and whatever NumPy makes of it is watched as well: its methods, its
indexing, `__array_ufunc__` and `__array_function__` say what happened. `numpy.array`, `ascontiguousarray` and `asfortranarray` have no
such protocol, so that these three names of NumPy lead through here while a block runs. What C code reads otherwise is not seen.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
import weakref
from functools import wraps
from typing import Any

try:
    import numpy as np
except ImportError as _missing:
    raise ImportError(f"shapetracker.numpy needs NumPy 2 or later ({_missing}): pip install numpy") from _missing

from . import _native
from ._copies import AVOIDABLE, VERDICTS, Copy, Line, Reporting, Ways
from ._native import ShapeTracker, UnevenStep, Unmerged

__all__ = ["AVOIDABLE", "VERDICTS", "Copies", "Copy", "Line", "copies"]

_Tracker = ShapeTracker[int]

# Functions that move elements and compute nothing, besides those whose layout is followed.
_MOVES = (
    "concatenate",
    "stack",
    "vstack",
    "hstack",
    "dstack",
    "column_stack",
    "pad",
    "tile",
    "repeat",
    "roll",
    "rot90",
    "take",
    "block",
)
_FOLLOWED = (
    "reshape",
    "ravel",
    "flatten",
    "copy",
    "ascontiguousarray",
    "asfortranarray",
    "require",
    "astype",
    "array",
    "repeat",
)


# Functions that are reductions by ufuncs, which take any strides.
_REDUCTIONS = ("sum", "prod", "max", "min", "amax", "amin", "all", "any", "mean", "std", "var", "cumsum", "cumprod")


class _Memory:
    """The memory of an array that owns it."""

    __slots__ = ("owner", "start", "length", "width", "label", "copy", "writes", "readers")

    def __init__(self, owner: Any, label: str) -> None:
        self.owner = weakref.ref(owner)
        self.start = owner.__array_interface__["data"][0]
        self.width = owner.itemsize
        self.length = owner.nbytes // max(1, owner.itemsize)
        self.label = label
        self.copy: _Made | None = None
        self.writes: list[_Event] = []
        self.readers: list[_Event] = []


class _Event:
    __slots__ = ("index", "name", "where", "memory", "tracker", "shape", "kind")

    index: int
    name: str
    where: Line
    memory: _Memory
    tracker: _Tracker | None
    shape: tuple[int, ...]
    kind: str


class _Made:
    """A copy, the memory that it read, and for each place of the new memory the place in that one; None where no layout says so."""

    __slots__ = ("copy", "event", "source", "memory", "step", "gathers")

    copy: Copy
    event: _Event
    source: _Memory
    memory: _Memory
    step: _Tracker | None
    gathers: bool


class _Names:
    """Functions of NumPy that have no protocol, and lead through here while a block runs."""

    lock = threading.Lock()
    blocks = 0
    originals: dict[str, Any] = {}

    @classmethod
    def enter(cls) -> None:
        with cls.lock:
            cls.blocks += 1
            if cls.blocks == 1:
                for name in ("array", "ascontiguousarray", "asfortranarray"):
                    cls.originals[name] = original = getattr(np, name)
                    setattr(np, name, _through(name, original))

    @classmethod
    def leave(cls) -> None:
        with cls.lock:
            cls.blocks -= 1
            if not cls.blocks:
                for name, original in cls.originals.items():
                    setattr(np, name, original)


def _through(name: str, original: Any) -> Any:
    @wraps(original)
    def call(*args: Any, **options: Any) -> Any:
        if not args or not isinstance(args[0], _Watched):
            return original(*args, **options)
        source = args[0]
        return _rewatched(source._copies, source._call(name, lambda: original(source.view(np.ndarray), *args[1:], **options)))

    return call


def _owner(array: Any) -> Any:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class Copies(Reporting):
    """The copies of arrays that `watch` was given, which `copies` makes. `print(found)`, `found.to_dict()` and `found.html()` report
    them, as those of `shapetracker.torch` do."""

    def __init__(self) -> None:
        self._made: list[_Made] = []
        self._memories: dict[int, _Memory] = {}
        self._events = 0
        self._active = False
        self._ways = Ways(os.path.dirname(np.__file__))
        self._found: list[Copy] | None = None
        self.operations = 0
        self.seconds = 0.0
        self.lost: list[str] = []

    def __enter__(self) -> Copies:
        self._active = True
        _Names.enter()
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        self._active = False
        _Names.leave()
        for made in self._made:
            made.copy.kept = made.memory.owner() is not None

    def watch(self, array: Any) -> Any:
        """The same memory as an array that is watched, as long as the `with` block runs.

        An array of a subclass, such as a masked array or a matrix, is refused with a TypeError, for its operations are its own.
        """
        if isinstance(array, np.ndarray) and type(array) not in (np.ndarray, np.memmap, _Watched):
            raise TypeError(
                f"watch: takes a numpy.ndarray, not a {type(array).__name__}, whose operations are its own;"
                " numpy.asarray(..) of it is its memory as an array"
            )
        watched = np.asarray(array).view(_Watched)
        watched._copies = self
        return watched

    @property
    def copies(self) -> list[Copy]:  # type: ignore[override]
        """All copies, with their verdicts, in the order of time."""
        if self._found is None or len(self._found) != len(self._made):
            for made in self._made:
                _judge(made)
                made.copy.least_bytes = 0 if made.copy.avoidable else made.copy.least_bytes or made.copy.bytes
            self._found = [made.copy for made in self._made]
        return self._found

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """What was not understood."""
        return [f"not understood: {self.lost[0]}"] if self.lost else []

    def _memory(self, array: Any, label: str | None = None) -> _Memory:
        owner = _owner(array)
        known = self._memories.get(id(owner))
        if known is None or known.owner() is not owner:
            known = self._memories[id(owner)] = _Memory(
                owner, label or f"an array of shape {owner.shape} that was there before"
            )
        return known

    def _tracker(self, array: Any, memory: _Memory) -> _Tracker | None:
        """The array over its memory, where its elements are those of the memory."""
        by = array.__array_interface__["data"][0] - memory.start
        if (
            array.itemsize != memory.width
            or not memory.width
            or by % memory.width
            or any(s % memory.width for s in array.strides)
        ):
            return None
        strides = tuple(stride // memory.width for stride in array.strides)
        return ShapeTracker.contiguous(memory.length).as_strided(array.shape, strides, by // memory.width)

    def _event(self, name: str, array: Any, kind: str) -> _Event:
        event = _Event()
        event.index, event.name, event.kind = self._events, name, kind
        self._events += 1
        frame = self._ways.innermost(sys._getframe(1))
        event.where = self._ways.line_of(frame) if frame is not None else Line("?", 0, "?")
        event.memory = self._memory(array)
        event.tracker = self._tracker(array, event.memory)
        event.shape = array.shape
        (event.memory.writes if kind == "write" else event.memory.readers).append(event)
        return event

    def _saw(self, name: str, source: Any, out: Any, seconds: float, *, moved: bool, gathers: bool = False) -> None:
        """What an operation made of an array: a view, a copy, or values of its own."""
        self.operations += 1
        self.seconds += seconds
        is_array = isinstance(out, np.ndarray) and out.size > 0
        if is_array and _owner(source) is _owner(out):
            return
        kind = "copy" if moved and is_array else "ufunc" if name in _REDUCTIONS else "read"
        event = self._event(name, source, kind)
        if not is_array:
            return
        memory = self._memory(out, f"what {name} made at {event.where}")
        if not moved or out.dtype != source.dtype:
            event.kind = "ufunc" if name in _REDUCTIONS else "read"
            return
        made = _Made()
        strides = tuple(stride // max(1, source.itemsize) for stride in source.strides)
        frames = tuple(line for place in self._ways.all(sys._getframe(1)) for line in self._ways.lines(place))
        made.copy = Copy(
            len(self._made),
            name,
            frames,
            source.shape,
            strides,
            0,
            tuple(s // max(1, out.itemsize) for s in out.strides),
            str(out.dtype),
            out.nbytes,
            seconds,
            (event.memory.label,),
        )
        made.event, made.source, made.memory, made.step, made.gathers = event, event.memory, memory, None, gathers
        target = self._tracker(out, memory)
        if event.tracker is not None and target is not None and not gathers and name in _FOLLOWED and source.size == out.size:
            order = "C" if name not in ("asfortranarray", "copy", "astype", "array", "require") else None
            tracker = event.tracker.reshape(*out.shape) if order == "C" else event.tracker
            made.step = tracker.then(target.invert(memory.length))
            earlier = made.source.copy.copy.chain if made.source.copy is not None else ()
            made.copy.chain = (*earlier, made.copy.number)
            made.copy.tracker = tracker
            made.copy.offset = next(iter(event.tracker.views)).offset
        memory.copy = made
        self._made.append(made)


def _judge(made: _Made) -> None:
    copy, event = made.copy, made.event
    copy.evidence = {}
    if made.gathers:
        copy.verdict, copy.reason = "gather", f"{copy.op} takes elements at indices that are data, which no strides describe"
        return
    readers = [reader for reader in made.memory.readers if reader.index > event.index]
    whole = next((reader for reader in readers if math.prod(reader.shape) * made.memory.width == copy.bytes), None)
    if made.step is None and len(copy.roots) > 1 and whole is not None:
        copy.verdict = "needed"
        copy.evidence = {"reader": whole.name, "line": str(whole.where), "shape": list(whole.shape), "roots": list(copy.roots)}
        copy.reason = f"{whole.name} at {whole.where} reads elements of {len(copy.roots)} arrays, which no one memory has"
        return
    if made.step is None:
        copy.verdict, copy.reason = "unknown", f"what {copy.op} makes is not followed as a layout"
        return
    written = next((write for write in made.memory.writes if write.index > event.index), None)
    explained = None
    if copy.op in ("reshape", "ravel", "flatten") and event.tracker is not None and copy.tracker is not None:
        explained = _native.explain_view(event.tracker, *copy.tracker.shape)
    needed: list[tuple[_Event, str, Any]] = []
    unknown: list[_Event] = []
    guard = None
    for reader in readers:
        if reader.tracker is None:
            unknown.append(reader)
            continue
        guard = guard or next((write for write in made.source.writes if event.index < write.index <= reader.index), None)
        if reader.kind == "copy":
            continue
        try:
            view = made.step.then(reader.tracker).single_view()
        except Unmerged as no:
            needed.append((reader, f"{no}", no.witness))
            continue
        if reader.kind != "ufunc" and view.strides != reader.tracker.views[0].strides:
            unknown.append(reader)
    if not readers and explained is not None and not explained:
        # A reshape of which there is no view: nobody could read the elements in this order.
        copy.verdict, copy.reason = (
            "output",
            f"nothing read it while it was watched; {explained.obstacles[0] if explained.obstacles else ''}",
        )
        copy.least_bytes = explained.elements * made.memory.width
    elif not readers:
        copy.verdict, copy.reason = "output", "nothing read it while it was watched"
    elif needed:
        reader, said, witness = needed[0]
        copy.verdict = "needed"
        copy.evidence = {"reader": reader.name, "line": str(reader.where), "shape": list(reader.shape)}
        if isinstance(witness, UnevenStep):
            copy.evidence["axes"] = [witness.axis]
            copy.evidence["elements"] = [
                {"index": list(step.index), "before": step.before, "after": step.after} for step in witness.steps
            ]
        if explained is not None and explained.obstacles:
            said = f"{explained.obstacles[0]}\n{said}"
            copy.evidence["old_axes"], copy.evidence["new_axes"] = (
                list(explained.obstacles[0].old_axes),
                list(explained.obstacles[0].new_axes),
            )
            if explained.smallest and copy.tracker is not None and reader.shape == copy.tracker.shape:
                copy.least_bytes = explained.elements * made.memory.width
        copy.reason = f"{reader.name} at {reader.where} reads shape {reader.shape}: {said}"
    elif written is not None or guard is not None:
        write = written or guard
        assert write is not None
        of_which = "the copy" if written is not None else made.source.label
        copy.verdict, copy.reason = "guard", f"{write.name} at {write.where} writes into {of_which}, and the two are read apart"
        copy.evidence = {"writer": {"op": write.name, "line": str(write.where)}}
    elif unknown:
        copy.verdict = "unknown"
        copy.reason = f"it is not known which strides {unknown[0].name} at {unknown[0].where} takes without a copy of its own"
    elif all(reader.kind == "copy" for reader in readers):
        copy.verdict = "copied again"
        by = "; ".join(dict.fromkeys(f"{reader.name} at {reader.where}" for reader in readers))
        copy.reason = f"all that reads it is {by}: one pass does both"
    else:
        first = next(reader for reader in readers if reader.kind != "copy")
        copy.verdict = "not needed"
        copy.reason = f"{first.name} at {first.where} takes the strides of {made.source.label}"
        copy.evidence = {"reader": first.name, "line": str(first.where), "shape": list(first.shape)}


class _Watched(np.ndarray[Any, Any]):
    """An array whose operations a report sees."""

    _copies: Copies | None

    def __array_finalize__(self, parent: Any) -> None:
        self._copies = getattr(parent, "_copies", None)

    def _call(self, name: str, call: Any, *, moved: bool = True, gathers: bool = False) -> Any:
        start = time.perf_counter()
        out = call()
        found = self._copies
        if found is not None and found._active:
            _try(found, name, self, out, time.perf_counter() - start, moved=moved, gathers=gathers)
        return out

    def reshape(self, *args: Any, **options: Any) -> Any:
        return self._call("reshape", lambda: super(_Watched, self).reshape(*args, **options))

    def ravel(self, *args: Any, **options: Any) -> Any:
        return self._call("ravel", lambda: super(_Watched, self).ravel(*args, **options))

    def flatten(self, *args: Any, **options: Any) -> Any:
        return self._call("flatten", lambda: super(_Watched, self).flatten(*args, **options))

    def copy(self, *args: Any, **options: Any) -> Any:
        return self._call("copy", lambda: super(_Watched, self).copy(*args, **options))

    def astype(self, *args: Any, **options: Any) -> Any:
        return self._call("astype", lambda: super(_Watched, self).astype(*args, **options))

    def take(self, *args: Any, **options: Any) -> Any:
        return self._call("take", lambda: super(_Watched, self).take(*args, **options), gathers=True)

    def repeat(self, *args: Any, **options: Any) -> Any:
        return self._call("repeat", lambda: super(_Watched, self).repeat(*args, **options))

    def __getitem__(self, index: Any) -> Any:
        out = super().__getitem__(index)
        found = self._copies
        if found is not None and found._active and isinstance(out, np.ndarray) and out.size and _owner(self) is not _owner(out):
            _try(found, "indexing", self, out, 0.0, moved=True, gathers=True)
        return out

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        found = self._copies
        if found is not None and found._active:
            _note(found, "assignment", self, "write")
            if isinstance(value, _Watched):
                _note(found, "assignment", value, "ufunc")

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        found = self._copies
        plain = [each.view(np.ndarray) if isinstance(each, _Watched) else each for each in inputs]
        outs = options.get("out", ())
        if outs:
            options["out"] = tuple(each.view(np.ndarray) if isinstance(each, _Watched) else each for each in outs)
        start = time.perf_counter()
        result = getattr(ufunc, method)(*plain, **options)
        if found is not None and found._active:
            found.operations += 1
            found.seconds += time.perf_counter() - start
            # Those with a signature, such as matmul, hand their operands to BLAS.
            kind = "read" if ufunc.signature else "ufunc"
            for each in inputs:
                if isinstance(each, _Watched):
                    _note(found, ufunc.__name__, each, kind)
            for each in (*outs, *(inputs[:1] if method == "at" else ())):
                if isinstance(each, _Watched):
                    _note(found, ufunc.__name__, each, "write")
        if outs:
            return outs[0] if len(outs) == 1 else outs
        return _rewatched(found, result)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        found = self._copies
        name = function.__name__
        method = {"reshape": "reshape", "ravel": "ravel", "copy": "copy"}.get(name)
        if method is not None and args and isinstance(args[0], _Watched):
            return getattr(args[0], method)(*args[1:], **{k: v for k, v in options.items() if k != "subok"})
        given = [each for each in _arrays((args, options)) if isinstance(each, _Watched)]
        start = time.perf_counter()
        out = super().__array_function__(function, types, _plain(args), _plain(options))
        seconds = time.perf_counter() - start
        if found is not None and found._active:
            for number, each in enumerate(given):
                if number == 0:
                    before = len(found._made)
                    _try(found, name, each, out, seconds, moved=name in _MOVES, gathers=name == "take")
                    if len(found._made) > before:
                        arrays = _arrays(args[:1])
                        found._made[-1].copy.roots = tuple(
                            found._memory(array).label for array in {id(_owner(a)): a for a in arrays}.values()
                        )
                elif not (isinstance(out, np.ndarray) and _owner(each) is _owner(out)):
                    _note(found, name, each, "copy" if name in _MOVES else "read")
        return _rewatched(found, out)


def _note(found: Copies, name: str, array: Any, kind: str) -> None:
    try:
        found._event(name, array, kind)
    except Exception as problem:
        found.lost.append(f"{name}: {type(problem).__name__}: {problem}")


def _try(found: Copies, name: str, source: Any, out: Any, seconds: float, *, moved: bool, gathers: bool = False) -> None:
    try:
        found._saw(name, source, out, seconds, moved=moved, gathers=gathers)
    except Exception as problem:
        found.lost.append(f"{name}: {type(problem).__name__}: {problem}")


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [array for part in value for array in _arrays(part)] if isinstance(value, (list, tuple)) else []


def _plain(value: Any) -> Any:
    if isinstance(value, _Watched):
        return value.view(np.ndarray)
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return type(value)(_plain(part) for part in value) if type(value) in (list, tuple) else value


def _rewatched(found: Copies | None, out: Any) -> Any:
    if found is not None and type(out) is np.ndarray:
        out = out.view(_Watched)
        out._copies = found
    elif type(out) is tuple:
        return tuple(_rewatched(found, part) for part in out)
    return out


def copies() -> Copies:
    """Watches NumPy programs in a `with` block: `with copies() as found: program(found.watch(x))`.

    Arrays that are made from a watched one are watched. An array that was given to `watch` behaves as before after the block, and
    costs some microseconds an operation within it.
    """
    return Copies()
