"""dask arrays through any tracker: one task for each output chunk, which takes just the chunks that it has elements of, or
pieces of them where it would hold too much.

    >>> import dask.array as da
    >>> import shapetracker.dask
    >>> x = da.arange(24, chunks=5).reshape(24)
    >>> y = shapetracker.dask.apply(".reshape(4, 6).permute(1, 0).reshape(8, 3)", x)
    >>> y.shape, y[1].compute().tolist()
    ((8, 3), [18, 1, 7])

Which chunks those are is decided exactly and from the layout alone, and each element is moved once, or twice where it is in a
piece. Nothing is computed until dask computes, on whatever scheduler it uses, whose own progress bars follow it. dask is not a
dependency of this package.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

try:
    import dask.array
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph
    from dask.task_spec import Task, TaskRef
except ImportError as _missing:
    raise ImportError(
        f"shapetracker.dask needs dask 2025.1 or later with its arrays ({_missing}): pip install 'dask[array]'"
    ) from _missing

import numpy as np

from ._chunks import (
    Cut,
    Layout,
    Plan,
    Sizes,
    Touches,
    assembled,
    byte_count,
    cut_as_wanted,
    cut_out,
    element_type,
    fill_bytes,
    layout_over,
    wanted_chunks,
)

if TYPE_CHECKING:
    from dask.array import Array

__all__ = ["Plan", "apply", "plan", "reshape"]

CHUNKS = 3
"""How many chunks' bytes any task may hold where nothing is said."""
PART = 10
"""So much of an array any task may hold, up to dask's size of a chunk: to cut pieces takes longer."""

# Only some of dask has types.
_da: Any = dask.array
_graph_of: Any = HighLevelGraph.from_collections
_are_expressions: Any = getattr(_da, "array_expr_enabled", bool)


def apply(
    tracker: Layout,
    array: Array,
    chunks: Any = "auto",
    fill: Any = 0,
    *,
    memory: float | str | None = None,
    sizes: Sizes = None,
) -> Array:
    """The tracker's tensor as a dask array, whose chunks are put together from those of the array that they touch.

    `tracker` is over the elements of the array in row-major order: a ShapeTracker or View, the text of a chain
    (`"x.permute(1, 0).reshape(-1)"`, with any name or none for the array), or a function that makes one of the array's own
    tracker. Where it is masked the result has `fill`, a value of the array's type. Where its sizes have names, `sizes` has
    their values.

    `chunks` says how the result is cut, in any of dask's ways: one entry for all axes, a tuple with an entry for each, or a
    dict from axes to entries. An entry is a number of elements, -1 for the whole axis, a tuple of the sizes of all chunks, or
    "auto", as is None and an axis that a dict leaves out. "auto" chooses chunks that are images of whole input chunks where
    there are such, about as large as the array's largest one, or up to four times as large where they then come from far
    fewer; a size such as "64 MiB" does the same for this size. The inside of windows that overlap is not cut if a chunk of
    this size, or of dask's `array.chunk-size`, can be cut along other axes without many times the reads.

    `memory` is what one task may hold, its inputs and its output together: a number of bytes or a size such as "1 GiB". Where
    chunks are chosen they are so small that it suffices. A task that would hold more, if it took the chunks of the array
    that its output touches, takes pieces of them instead, each cut out of one chunk by a task before it. Then it holds at
    most two output chunks, and the task before it one chunk and the piece. None stands for three chunks, of the array or of
    the result, whichever are larger, or a tenth of the array where that is more, up to dask's `array.chunk-size`: so little need
    not be cut, which takes longer.

    Raises ValueError for a tracker that reaches past the array, for chunks that do not add up, for an array whose chunks
    have unknown sizes, and for memory that is too little for some task.
    """
    job = _Job("apply", tracker, array, chunks, fill, memory, sizes)
    source, target, dtype = job.touches.source, job.touches.target, job.dtype
    source_array: Any = _da.Array.optimize(array) if _are_expressions() else array
    text = str(job.touches.tracker)
    token = tokenize(array, text, target.chunks, dtype, job.fill, job.limit)
    name, cut_name = f"shapetracker-{token}", f"shapetracker-cut-{token}"
    graph: dict[tuple[object, ...], Any] = {}
    cuts: dict[tuple[object, ...], Any] = {}
    takes_any = False
    for chunk, taken in job.tasks():
        takes_any = takes_any or bool(taken)
        what = (text, source.shape, target.box(chunk), dtype)
        inputs = []
        for number, (place, piece) in enumerate(taken):
            given = TaskRef((source_array.name, *place))
            if piece is not None:
                cut_key: Any = (cut_name, *chunk, number)
                cuts[cut_key] = Task(cut_key, cut_out, what, source.box(place), given)
                given = TaskRef(cut_key)
            inputs.append(given)
        places = tuple((source.box(place), piece is not None) for place, piece in taken)
        key = (name, *chunk)
        graph[key] = Task(key, assembled, what, job.fill, places, *inputs)
    meta = np.empty((0,) * len(target.chunks), dtype)
    made: Array
    if _are_expressions():
        # Arrays are expressions there, and a graph is a leaf.
        all_of_it: dict[Any, Any] = dict(source_array.__dask_graph__()) if takes_any else {}
        all_of_it.update(cuts | graph)
        made = _da._array_expr._collection.from_graph(all_of_it, meta, target.chunks, list(graph), "shapetracker")
    else:
        whole = _graph_of(name, cuts | graph, dependencies=[source_array] if takes_any else [])
        made = _da.Array(whole, name, chunks=target.chunks, meta=meta)
    return made


def reshape(array: Array, *shape: SupportsIndex, chunks: Any = "auto", memory: float | str | None = None) -> Array:
    """`array.reshape(shape)` for any chunks: no reshape is refused, and none moves an element more than twice.

    One size may be -1. `chunks` and `memory` are those of `apply`.
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    return apply(lambda tracker: tracker.reshape(*shape), array, chunks, memory=memory)


def plan(
    tracker: Layout,
    array: Array,
    chunks: Any = "auto",
    fill: Any = 0,
    *,
    memory: float | str | None = None,
    sizes: Sizes = None,
) -> Plan:
    """What `apply` with the same arguments takes: tasks, reads and the fewest that there can be, bytes, the largest task.

    `reads` is how many chunks the tasks take together. dask computes each chunk of the array once, and keeps it until the
    last task that takes it is done: what is more than `lower_bound` are chunks that several tasks take, between workers or
    from memory.
    """
    job = _Job("plan", tracker, array, chunks, fill, memory, sizes)
    target, width = job.touches.target, job.dtype.itemsize
    reads = read = constant = cuts = largest = largest_bytes = 0
    for chunk, taken in job.tasks():
        reads, read = reads + len(taken), read + sum(job.touches.source.numel(place) for place, _ in taken)
        constant += not taken
        cuts += sum(piece is not None for _, piece in taken)
        largest = max(largest, len(taken))
        largest_bytes = max([largest_bytes, *(held * width for held in job.held(chunk, taken))])
    return Plan(
        shape=target.shape,
        chunks=target.chunks,
        dtype=job.dtype,
        tasks=math.prod(map(len, target.chunks)),
        constant=constant,
        reads=reads,
        lower_bound=job.touches.needed(),
        bytes_read=read * width,
        bytes_written=math.prod(target.shape) * width,
        largest_task=largest,
        largest_bytes=largest_bytes,
        cuts=cuts,
    )


Taken: TypeAlias = list[tuple[tuple[int, ...], int | None]]
"""The chunks of the array that a task takes, each with how many elements are cut out of it before, or None where it is whole."""


class _Job:
    """What is asked for, checked."""

    def __init__(
        self, op: str, layout: Layout, array: Any, chunks: Any, fill: Any, memory: float | str | None, sizes: Sizes
    ) -> None:
        if not isinstance(array, _da.Array):
            hint = "; its .data is one where xarray holds dask's" if hasattr(array, "data") and hasattr(array, "dims") else ""
            raise TypeError(
                f"{op}: takes a dask array, not a value of type {type(array).__name__}{hint}; dask.array.from_array makes one"
            )
        for axis, parts in enumerate(array.chunks):
            if any(math.isnan(part) for part in parts):
                raise ValueError(
                    f"{op}: the chunks along axis {axis} have unknown sizes, and which elements they have cannot be said;"
                    " array.compute_chunk_sizes() finds them out"
                )
        if not isinstance(array._meta, np.ndarray) or isinstance(array._meta, np.ma.MaskedArray):
            raise TypeError(f"{op}: takes chunks that are NumPy arrays, not of type {type(array._meta).__name__}")
        self.op, self.dtype = op, element_type(op, array.dtype)
        self.fill = fill_bytes(fill, self.dtype)
        self.memory = None if memory is None else byte_count(op, "memory", memory)
        source = Cut(array.chunks)
        tracker = layout_over(op, layout, source.shape, sizes)
        wanted, chunk_bytes = wanted_chunks(op, chunks, tracker.shape)
        largest = max(map(source.numel, source.all()), default=0)
        target = largest if chunk_bytes is None else max(1, chunk_bytes // self.dtype.itemsize)
        # What dask takes for a good size; what is asked for is not gone beyond.
        good = byte_count(op, "array.chunk-size", dask.config.get("array.chunk-size")) // self.dtype.itemsize
        most = max(target, good) if chunk_bytes is None else target
        while True:
            self.touches = Touches(tracker, source, Cut(cut_as_wanted(tracker, source, wanted, target, most)))
            cut = self.touches.target
            several = CHUNKS * max(largest, max(map(cut.numel, cut.all()), default=0))
            self.limit = self.memory or self.dtype.itemsize * max(several, min(good, math.prod(source.shape) // PART))
            most = self._most()
            if self.memory is None or most <= self.memory:
                break
            if None not in wanted or target <= 1:
                raise ValueError(self._too_little(most, largest))
            chunk = math.prod(max(parts, default=0) for parts in cut.chunks)
            target, most = min(target, chunk) // 2, min(most, chunk) // 2

    def _most(self) -> int:
        """The most bytes that a task holds, where there is a limit."""
        if self.memory is None:
            return 0
        return self.dtype.itemsize * max((held for chunk, taken in self.tasks() for held in self.held(chunk, taken)), default=0)

    def _too_little(self, most: int, largest: int) -> str:
        chunk = largest * self.dtype.itemsize
        hint = "smaller `chunks` would do"
        if self.memory is not None and chunk >= self.memory:
            hint = f"the largest chunk of the array has {chunk} already, and array.rechunk makes smaller ones"
        return f"{self.op}: a task would hold {most} bytes, but memory={self.memory}; {hint}"

    def tasks(self) -> Iterator[tuple[tuple[int, ...], Taken]]:
        """For each output chunk what its task takes."""
        source, target, width = self.touches.source, self.touches.target, self.dtype.itemsize
        for chunk in target.all():
            places = self.touches.of(chunk)
            taken: Taken = [(place, None) for place in places]
            if (target.numel(chunk) + sum(map(source.numel, places))) * width > self.limit:
                sizes = zip(places, self.touches.taken(chunk), strict=True)
                taken = [(place, size if size < source.numel(place) else None) for place, size in sizes]
            yield chunk, taken

    def held(self, chunk: tuple[int, ...], taken: Taken) -> Iterator[int]:
        """The elements that the task of an output chunk has in memory, and the tasks before it: inputs and outputs."""
        source = self.touches.source
        yield self.touches.target.numel(chunk) + sum(source.numel(place) if size is None else size for place, size in taken)
        yield from (source.numel(place) + size for place, size in taken if size is not None)
