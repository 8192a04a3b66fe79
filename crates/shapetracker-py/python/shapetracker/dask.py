"""dask arrays through any tracker: one task for each output chunk, which takes just the chunks that it has elements of.

    >>> import dask.array as da
    >>> import shapetracker.dask
    >>> x = da.arange(24, chunks=5).reshape(24)
    >>> y = shapetracker.dask.apply(".reshape(4, 6).permute(1, 0).reshape(8, 3)", x)
    >>> y.shape, y[1].compute().tolist()
    ((8, 3), [18, 1, 7])

Which chunks those are is decided exactly and from the layout alone, and each element is moved once. Nothing is computed until
dask computes, on whatever scheduler it uses. dask is not a dependency of this package.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, SupportsIndex

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

from . import _native
from ._chunks import (
    Chunks,
    Cut,
    Layout,
    Plan,
    Touches,
    assembled,
    byte_count,
    element_type,
    fill_bytes,
    layout_over,
)
from ._native import ShapeTracker

if TYPE_CHECKING:
    from dask.array import Array

__all__ = ["Plan", "apply", "plan", "reshape"]

# Only some of dask has types.
_da: Any = dask.array
_graph_of: Any = HighLevelGraph.from_collections
_are_expressions: Any = getattr(_da, "array_expr_enabled", bool)


def apply(tracker: Layout, array: Array, chunks: Any = "auto", fill: Any = 0) -> Array:
    """The tracker's tensor as a dask array, whose chunks are put together from those of the array that they touch.

    `tracker` is over the elements of the array in row-major order: a ShapeTracker or View, the text of a chain
    (`"x.permute(1, 0).reshape(-1)"`, with any name or none for the array), or a function that makes one of the array's own tracker. Where it is masked the result
    has `fill`, a value of the array's type.

    `chunks` says how the result is cut, in any of dask's ways. "auto" chooses chunks that are images of whole input chunks
    where there are such, about as large as the array's largest one, or up to four times as large where they then come from far
    fewer; a size such as "64 MiB" does the same for this size.

    Raises ValueError for a tracker that reaches past the array, for chunks that do not add up, and for an array whose chunks
    have unknown sizes.
    """
    touches, dtype = _asked("apply", tracker, array, chunks)
    filler = fill_bytes(fill, dtype)
    source, target = touches.source, touches.target
    source_array: Any = _da.Array.optimize(array) if _are_expressions() else array
    text = str(touches.tracker)
    name = f"shapetracker-{tokenize(array, text, target.chunks, dtype, filler)}"
    graph: dict[tuple[object, ...], Any] = {}
    takes_any = False
    for chunk in target.all():
        touched = touches.of(chunk)
        takes_any = takes_any or bool(touched)
        boxes = tuple(map(source.box, touched))
        what = (text, source.shape, target.box(chunk), dtype, filler, boxes)
        key = (name, *chunk)
        graph[key] = Task(key, assembled, what, *(TaskRef((source_array.name, *place)) for place in touched))
    meta = np.empty((0,) * len(target.chunks), dtype)
    made: Array
    if _are_expressions():
        # Arrays are expressions there, and a graph is a leaf.
        all_of_it: dict[Any, Any] = dict(source_array.__dask_graph__()) if takes_any else {}
        all_of_it.update(graph)
        made = _da._array_expr._collection.from_graph(all_of_it, meta, target.chunks, list(graph), "shapetracker")
    else:
        whole = _graph_of(name, graph, dependencies=[source_array] if takes_any else [])
        made = _da.Array(whole, name, chunks=target.chunks, meta=meta)
    return made


def reshape(array: Array, *shape: SupportsIndex, chunks: Any = "auto") -> Array:
    """`array.reshape(shape)` for any chunks: no reshape is refused, and none moves an element twice.

    One size may be -1.
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    return apply(lambda tracker: tracker.reshape(*shape), array, chunks)


def plan(tracker: Layout, array: Array, chunks: Any = "auto", fill: Any = 0) -> Plan:
    """What `apply` with the same arguments takes: tasks, reads and the fewest that there can be, bytes, the largest task.

    `reads` is how many chunks the tasks take together. dask computes each chunk of the array once, and keeps it until the last
    task that takes it is done: what is more than `lower_bound` are chunks that several tasks take, between workers or from memory.
    """
    touches, dtype = _asked("plan", tracker, array, chunks)
    fill_bytes(fill, dtype)
    source, target = touches.source, touches.target
    reads = read = constant = largest = largest_bytes = 0
    for chunk in target.all():
        touched = touches.of(chunk)
        taken = sum(map(source.numel, touched))
        reads, read = reads + len(touched), read + taken
        constant += not touched
        largest = max(largest, len(touched))
        largest_bytes = max(largest_bytes, (taken + target.numel(chunk)) * dtype.itemsize)
    return Plan(
        shape=target.shape,
        chunks=target.chunks,
        dtype=dtype,
        tasks=math.prod(map(len, target.chunks)),
        constant=constant,
        reads=reads,
        lower_bound=touches.needed(),
        bytes_read=read * dtype.itemsize,
        bytes_written=math.prod(target.shape) * dtype.itemsize,
        largest_task=largest,
        largest_bytes=largest_bytes,
    )


def _asked(op: str, layout: Layout, array: Any, chunks: Any) -> tuple[Touches, np.dtype[Any]]:
    """What is asked for, checked."""
    if not isinstance(array, _da.Array):
        hint = "; its .data is one where xarray holds dask's" if hasattr(array, "data") and hasattr(array, "dims") else ""
        raise TypeError(
            f"{op}: takes a dask array, not a value of type {type(array).__name__}{hint}; dask.array.from_array makes one"
        )
    for axis, sizes in enumerate(array.chunks):
        if any(math.isnan(size) for size in sizes):
            raise ValueError(
                f"{op}: the chunks along axis {axis} have unknown sizes, and which elements they have cannot be said;"
                " array.compute_chunk_sizes() finds them out"
            )
    if not isinstance(array._meta, np.ndarray) or isinstance(array._meta, np.ma.MaskedArray):
        raise TypeError(f"{op}: takes chunks that are NumPy arrays, not of type {type(array._meta).__name__}")
    dtype = element_type(op, array.dtype)
    source = Cut(array.chunks)
    tracker = layout_over(op, layout, source.shape)
    target = Cut(_output_chunks(op, tracker, source, dtype, chunks))
    return Touches(tracker, source, target), dtype


def _output_chunks(op: str, tracker: ShapeTracker, source: Cut, dtype: np.dtype[Any], chunks: Any) -> Chunks:
    """For each axis of the result the sizes of its chunks."""
    shape = tracker.shape
    if chunks is None or isinstance(chunks, str):
        if not math.prod(source.shape) or not math.prod(shape):
            return tuple((size,) for size in shape)
        target = max(map(source.numel, source.all()))
        if isinstance(chunks, str) and chunks != "auto":
            target = max(1, byte_count(op, "chunks", chunks) // dtype.itemsize)
        return _native.choose_chunks(tracker, source.filled, target, False)
    try:
        made = _da.core.normalize_chunks(chunks, shape, dtype=dtype)
    except (ValueError, TypeError, NotImplementedError) as err:
        raise ValueError(f"{op}: chunks={chunks!r} do not cut shape {shape}: {err}") from err
    for axis, (sizes, size) in enumerate(zip(made, shape, strict=True)):
        if any(math.isnan(part) or part < 0 for part in sizes) or sum(sizes) != size:
            raise ValueError(f"{op}: the chunks {sizes} along axis {axis} do not add up to its size, {size}")
    return tuple(tuple(int(size) for size in sizes) for sizes in made)
