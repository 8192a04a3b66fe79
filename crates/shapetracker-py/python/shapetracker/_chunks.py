"""Arrays in chunks: what `shapetracker.dask` and `shapetracker.zarr` have in common.

An array is cut along each axis into a list of sizes, and a tracker over it into such lists again. Which chunks of the array
an output chunk takes elements from is decided in Rust (`_native.ChunkPlan`), exactly and from the layout alone; a chunk is
then put together from them in one pass (`_native.Assembly`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Any, TypeAlias

import numpy as np

from . import _native
from ._layouts import Layout as Layout
from ._layouts import Sizes as Sizes
from ._layouts import layout_over as layout_over
from ._layouts import shown_bytes as shown_bytes
from ._native import ShapeTracker

Chunks: TypeAlias = tuple[tuple[int, ...], ...]
"""For each axis the sizes of its chunks, in order."""

Box: TypeAlias = tuple[tuple[int, int], ...]
"""For each axis a half-open range of indices."""

Wanted: TypeAlias = list[int | tuple[int, ...] | None]
"""For each axis one size for all of its chunks, the sizes of all, or None where they are to be chosen."""


def element_type(op: str, dtype: Any) -> np.dtype[Any]:
    """The type of an array's elements, which must be moveable as bytes."""
    made: np.dtype[Any] = np.dtype(dtype)
    if made.hasobject:
        raise TypeError(f"{op}: the array has Python objects (type {made}), which cannot be moved as bytes")
    if made.itemsize == 0:
        raise TypeError(f"{op}: elements of no bytes (type {made}) cannot be moved")
    return made


_UNITS = {"": 1, "b": 1} | {
    f"{letter}{ending}": base**power
    for power, letter in enumerate("kmgtp", 1)
    for base, ending in [(1000, ""), (1000, "b"), (1024, "ib")]
}


def byte_count(op: str, name: str, value: float | str) -> int:
    """A number of bytes: 67108864, 64e6, "64 MiB", "1.5 GB"."""
    if isinstance(value, (float, np.floating)) and value.is_integer():
        value = int(value)
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", value)
        if found and found[2].lower() in _UNITS:
            value = int(float(found[1]) * _UNITS[found[2].lower()])
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 < value < 1 << 62:
        raise ValueError(f"{op}: `{name}` is to be a number of bytes such as 64e6 or '64 MiB', not {value!r}")
    return int(value)


def wanted_chunks(op: str, chunks: Any, shape: tuple[int, ...]) -> tuple[Wanted, int | None]:
    """What is asked for where chunks are given in one of dask's ways; and the bytes of a chunk, where these are said.

    -1 is a whole axis; None, "auto", a size such as "64 MiB" and an axis that is left out of a dict are to be chosen.
    """

    def wrong(why: str) -> ValueError:
        return ValueError(f"{op}: chunks={chunks!r} do not cut shape {shape}: {why}")

    sizes: list[int] = []

    def along(axis: int, given: Any) -> int | tuple[int, ...] | None:
        if given is None or (isinstance(given, str) and given == "auto"):
            return None
        if isinstance(given, str):
            sizes.append(byte_count(op, "chunks", given))
            return None
        if isinstance(given, (tuple, list)):
            listed = tuple(_size(part) for part in given)
            if any(part is None for part in listed):
                raise wrong(f"the sizes along axis {axis} are to be numbers from 0 on, not {given!r}")
            listed_sizes = tuple(part for part in listed if part is not None)
            if sum(listed_sizes) != shape[axis]:
                raise wrong(f"the chunks {listed_sizes} along axis {axis} do not add up to its size, {shape[axis]}")
            return listed_sizes
        size = _size(given, lowest=-1)
        if size is None or (size == 0 and shape[axis]):
            raise wrong(f"the size along axis {axis} is to be a number from 1 on, or -1 for the whole axis, not {given!r}")
        return shape[axis] if size == -1 else size

    if isinstance(chunks, dict):
        entries: list[Any] = [None] * len(shape)
        for axis, given in chunks.items():
            number = _size(axis, lowest=-len(shape))
            if number is None or number >= len(shape):
                raise wrong(f"there is no axis {axis!r}")
            entries[number] = given
    elif isinstance(chunks, (tuple, list)):
        entries = list(chunks)
        if len(shape) == 1 and len(entries) != 1:
            # The sizes of all chunks of the only axis.
            entries = [entries]
        if len(entries) != len(shape):
            raise wrong(f"there is to be one entry for each of {counted(len(shape), 'axis', 'axes')}, not {len(entries)}")
    else:
        entries = [chunks] * len(shape)
        if not shape:
            along(0, chunks if chunks is None or isinstance(chunks, str) else None)
    return [along(axis, given) for axis, given in enumerate(entries)], min(sizes, default=None)


def _size(given: Any, lowest: int = 0) -> int | None:
    """A number from `lowest` on; None for anything else."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < lowest:
        return None
    return int(given)


def counted(number: int, what: str, several: str | None = None) -> str:
    """A number of things, in words: `1 chunk`, `2 chunks`."""
    return f"{number:,} {what if number == 1 else several or what + 's'}"


class Cut:
    """How a shape is cut: chunks without elements, which dask has, are left out of what is asked about it."""

    def __init__(self, chunks: Sequence[Sequence[int]]) -> None:
        self.chunks: Chunks = tuple(tuple(int(size) for size in sizes) for sizes in chunks)
        self.shape = tuple(map(sum, self.chunks))
        self._starts = [list(accumulate(sizes, initial=0)) for sizes in self.chunks]
        self._kept = [[place for place, size in enumerate(sizes) if size] for sizes in self.chunks]
        self._places = [{place: at for at, place in enumerate(kept)} for kept in self._kept]

    @property
    def filled(self) -> Chunks:
        """The sizes of the chunks with elements."""
        return tuple(tuple(size for size in sizes if size) for sizes in self.chunks)

    def all(self) -> Iterator[tuple[int, ...]]:
        """The places of all chunks in row-major order."""
        return product(*(range(len(sizes)) for sizes in self.chunks))

    def box(self, chunk: tuple[int, ...]) -> Box:
        """The indices of a chunk."""
        return tuple((starts[place], starts[place + 1]) for starts, place in zip(self._starts, chunk))

    def numel(self, chunk: tuple[int, ...]) -> int:
        """How many elements a chunk has."""
        return math.prod(sizes[place] for sizes, place in zip(self.chunks, chunk))

    def number(self, chunk: tuple[int, ...]) -> int | None:
        """The number of a chunk among those with elements, in row-major order; None where it has none."""
        number = 0
        for places, place in zip(self._places, chunk):
            if place not in places:
                return None
            number = number * len(places) + places[place]
        return number

    def chunk(self, number: int) -> tuple[int, ...]:
        """The place of the chunk of a number."""
        places = []
        for kept in reversed(self._kept):
            number, at = divmod(number, len(kept))
            places.append(kept[at])
        return tuple(reversed(places))


class Touches:
    """Which chunks of an array each chunk of a tracker's tensor takes elements from."""

    def __init__(self, tracker: ShapeTracker, source: Cut, target: Cut) -> None:
        self.tracker, self.source, self.target = tracker, source, target
        self.plan: _native.ChunkPlan | None = None
        if math.prod(source.shape) and math.prod(target.shape):
            self.plan = _native.ChunkPlan(tracker, source.filled, target.filled)

    def of(self, chunk: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The chunks that an output chunk takes elements from, in order."""
        number = self.target.number(chunk)
        if self.plan is None or number is None:
            return []
        return [self.source.chunk(touched) for touched in self.plan.inputs_of(number)]

    def taken(self, chunk: tuple[int, ...]) -> list[int]:
        """How many elements an output chunk takes from each of those chunks; one that it has several times counts each time."""
        number = self.target.number(chunk)
        return [] if self.plan is None or number is None else self.plan.taken_of(number)

    def needed(self) -> int:
        """How many chunks have an element that the tensor has: no fewer can be read."""
        return 0 if self.plan is None else self.plan.needed()


def cut_as_wanted(
    tracker: ShapeTracker, source: Cut, wanted: Wanted, target: int, most: int = 0, *, regular: bool = False
) -> Chunks:
    """How a tracker's tensor is cut: along some axes as it is wanted, along the others so that chunks of about `target` elements
    come from few chunks of the array, or of `most` where windows would have to be cut otherwise."""
    shape = tracker.shape
    given = [sizes if sizes is None or isinstance(sizes, tuple) else _parts(size, sizes) for sizes, size in zip(wanted, shape)]
    if None not in given or not math.prod(source.shape) or not math.prod(shape):
        return tuple((size,) if sizes is None else sizes for sizes, size in zip(given, shape))
    filled = [None if sizes is None else [size for size in sizes if size] for sizes in given]
    chosen = _native.choose_chunks(tracker, source.filled, target, max(target, most), filled, regular)
    return tuple(found if sizes is None else sizes for sizes, found in zip(given, chosen))


def _parts(size: int, part: int) -> tuple[int, ...]:
    """A size in parts of one size, of which the last is smaller where it must be."""
    return (part,) * (size // part) + ((size % part,) if size % part else ()) if size else (0,)


@dataclass(frozen=True)
class Plan:
    """What moving an array in chunks through a tracker takes, known before anything moves."""

    shape: tuple[int, ...]
    """The shape of the result."""
    chunks: Chunks
    """For each axis of the result the sizes of its chunks."""
    dtype: np.dtype[Any]
    """The type of the elements."""
    tasks: int
    """How many chunks the result has: each is put together by one task and written once."""
    constant: int
    """How many of them take no element of the array."""
    reads: int
    """How often a chunk of the array is taken, over all tasks or rounds."""
    lower_bound: int
    """How many chunks of the array have an element that the result has: each must be read at least once."""
    bytes_read: int
    """The bytes of all reads."""
    bytes_written: int
    """The bytes of the result."""
    largest_task: int
    """The most chunks of the array that one task takes."""
    largest_bytes: int
    """The most bytes that one task, or one round, has in memory: the chunks that it takes and the one that it makes."""
    rounds: int | None = None
    """In how many rounds chunks are held in memory together; None where a scheduler decides that."""
    cuts: int = 0
    """How many more tasks there are, each of which cuts out of one chunk of the array what one output chunk takes."""

    def __str__(self) -> str:
        constant = f", {self.constant:,} of them constant" if self.constant else ""
        cuts = f", and {self.cuts:,} that cut pieces out of input chunks" if self.cuts else ""
        largest = f"{counted(self.largest_task, 'input chunk')}, {shown_bytes(self.largest_bytes)} with its output"
        if self.cuts:
            taken = counted(self.largest_task, "input chunk or piece", "input chunks or pieces")
            largest = f"{shown_bytes(self.largest_bytes)}; at most {taken}"
        lines = [
            f"result: {self.dtype} of shape {self.shape}, {shown_bytes(self.bytes_written)}",
            f"reads: {counted(self.reads, 'input chunk')}, {shown_bytes(self.bytes_read)}; lower bound {self.lower_bound:,}",
            f"tasks: {self.tasks:,}, one an output chunk{constant}{cuts}",
        ]
        if self.rounds is None:
            lines.append(f"largest task: {largest}")
        else:
            lines.append(f"rounds: {self.rounds:,}, at most {shown_bytes(self.largest_bytes)} in memory")
        return "\n".join(lines)


def fill_bytes(fill: Any, dtype: np.dtype[Any]) -> bytes:
    """The bytes of a fill value as an element of a type; complains about one that is none of its values."""
    if isinstance(fill, int) and fill == 0:
        return bytes(dtype.itemsize)
    cell = _native.apply(ShapeTracker.contiguous(1).pad((0, 1)), np.zeros(1, dtype), fill)
    return np.asarray(cell)[1:].tobytes()


def as_bytes(array: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The same array with elements that are only bytes, which is all that moving asks of them."""
    made = np.asarray(array)
    if made.dtype != dtype:
        raise ValueError(f"apply: a chunk has elements of type {made.dtype}, but the array says that they are {dtype}")
    return made.view(f"V{dtype.itemsize}")


What: TypeAlias = tuple[str, tuple[int, ...], Box, np.dtype[Any]]
"""The tracker as text, the shape of the array, the box of the tensor that a chunk is, and the type of the elements."""

From: TypeAlias = tuple[Box, bool]
"""The box of a chunk of the array, and whether it is there as what was cut out of it."""


def assembled(what: What, fill: bytes, places: tuple[From, ...], *chunks: Any) -> np.ndarray[Any, Any]:
    """One chunk of a tracker's tensor, put together from chunks of an array, or from what was cut out of them: what a task does,
    and all that it knows."""
    text, shape, box, dtype = what
    new = _native.Assembly(ShapeTracker.parse(text), shape, box, fill)
    for (place, is_cut), chunk in zip(places, chunks, strict=True):
        (new.put if is_cut else new.take)(place, as_bytes(chunk, dtype))
    made: np.ndarray[Any, Any] = new.finish().view(dtype)
    return made


def cut_out(what: What, place: Box, chunk: Any) -> np.ndarray[Any, Any]:
    """What one chunk of a tracker's tensor takes from a chunk of an array, in a row."""
    text, shape, box, dtype = what
    made: np.ndarray[Any, Any] = _native.cut(ShapeTracker.parse(text), shape, box, place, as_bytes(chunk, dtype)).view(dtype)
    return made
