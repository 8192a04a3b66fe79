"""Zarr arrays through any tracker, in bounded memory: each output chunk is written once, by one writer.

    >>> import tempfile, zarr
    >>> import shapetracker.zarr
    >>> folder = tempfile.TemporaryDirectory()
    >>> x = zarr.create_array(f"{folder.name}/x.zarr", shape=(6, 4), chunks=(3, 2), dtype="i4")
    >>> x[:] = [[10 * row + column for column in range(4)] for row in range(6)]
    >>> y = shapetracker.zarr.apply(".permute(1, 0).reshape(8, 3)", x, f"{folder.name}/y.zarr", memory="1 MiB")
    >>> y[1].tolist()
    [30, 40, 50]

Chunks are read and written whole (shards, where an array has them), in the order that reads the fewest within the memory. The
result has no metadata under its final name until all of it is written: what is interrupted leaves no array that looks whole,
and what an exception, Ctrl-C or SIGTERM ends leaves nothing at all.
zarr-python 3 does the reading and writing; it is not a dependency of this package. For a cluster, go through dask:
`shapetracker.dask.apply` on `dask.array.from_zarr(x)`.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

try:
    import zarr as _zarr
    from zarr.abc.store import Store as _Store
    from zarr.core.buffer import default_buffer_prototype as _prototype
    from zarr.core.sync import sync as _sync
    from zarr.storage import LocalStore as _LocalStore
    from zarr.storage import MemoryStore as _MemoryStore
    from zarr.storage import StorePath as _StorePath
except ImportError as _missing:
    raise ImportError(f"shapetracker.zarr needs zarr-python 3.1 or later ({_missing}): pip install 'zarr>=3.1'") from _missing

import numpy as np

from . import _native
from ._chunks import (
    Box,
    Chunks,
    Cut,
    Layout,
    Plan,
    Sizes,
    Touches,
    Wanted,
    as_bytes,
    byte_count,
    cut_as_wanted,
    element_type,
    fill_bytes,
    layout_over,
    wanted_chunks,
)
from ._progress import Meter, Progress

if TYPE_CHECKING:
    from zarr import Array
    from zarr.abc.store import Store
    from zarr.storage import StorePath

__all__ = ["Plan", "apply", "plan"]

MEMORY = "1 GiB"
"""What chunks may take where nothing is said."""


def apply(
    tracker: Layout,
    array: Array[Any],
    out: str | os.PathLike[str] | Store | StorePath,
    *,
    chunks: Any = "auto",
    shards: tuple[int, ...] | None = None,
    memory: float | str = MEMORY,
    fill: Any = None,
    workers: int | None = None,
    overwrite: bool = False,
    sizes: Sizes = None,
    progress: Progress = None,
) -> Array[Any]:
    """Writes the tracker's tensor as a new Zarr array, and returns it.

    `tracker` is over the elements of the array in row-major order: a ShapeTracker or View, the text of a chain
    (`"x.permute(1, 0).reshape(-1)"`, with any name or none for the array), or a function that makes one of the array's own
    tracker. Where its sizes have names, `sizes` has their values. Where it is masked the result has `fill`, and this is its
    fill value: None stands for the array's own.

    `out` is a path, or a store of Zarr's, or a place in one (`zarr.storage.StorePath`); nothing may be there yet, but with
    `overwrite=True` an array of Zarr's at a path, which gives its name to the result when that is whole. Format, type, byte
    order, attributes and codecs are those of the array. (The third format has the byte order in a codec, and zarr-python
    gives every array of it that it opens the machine's own.) A path is written to a folder beside it, which then gets its
    name; in any other store the metadata come last.

    `chunks` are the sizes of the result's chunks, in the ways of `shapetracker.dask.apply`: one entry for all axes, a tuple
    with an entry for each, or a dict from axes to entries, where -1 is the whole axis. "auto" chooses some that come from few
    chunks of the array, as large as those or up to four times as large, smaller where memory is little, and with the inside
    of windows uncut where that is possible; a size such as "64 MiB" does the same for this size. With `shards` the result has
    the sharding codec, and the shards are what is written at once.

    `memory` bounds the chunks that are held in memory, decoded: to what codecs need comes on top. `workers` threads read,
    move and write, as many as the machine has where nothing is said.

    `progress` follows the work: a function is called with the bytes of chunks that are read and written by now, and with those
    of all; what it raises ends the work and leaves nothing. True prints a line on stderr from the first second on.

    Raises ValueError where something is wrong: what cannot be done is said before anything is written, and after a
    chunk that cannot be read nothing is left. A SIGTERM that would have ended the process at once ends it when what was
    begun is gone; that takes the main thread, and where the program handles SIGTERM itself, its handler is left alone.
    """
    job = _Job("apply", tracker, array, chunks, shards, memory, fill, workers, sizes)
    place = _Place(out, overwrite)
    template = job.template()
    schedule = job.schedule()
    with _Termination() as termination, Meter("apply", progress, job.bytes_of(schedule)) as meter:
        try:
            target = place.begin(template)
            meter.begin()
            if schedule is not None:
                _carry_out(job, schedule, target, meter)
            place.finish(template)
        except BaseException:
            termination.wait()
            place.clear()
            raise
    return place.opened(template)


def plan(
    tracker: Layout,
    array: Array[Any],
    *,
    chunks: Any = "auto",
    shards: tuple[int, ...] | None = None,
    memory: float | str = MEMORY,
    fill: Any = None,
    workers: int | None = None,
    sizes: Sizes = None,
) -> Plan:
    """What `apply` with the same arguments takes: reads and the fewest that there can be, bytes, rounds, memory."""
    job = _Job("plan", tracker, array, chunks, shards, memory, fill, workers, sizes)
    touches, target, schedule = job.touches, job.target, job.schedule()
    counts = [len(touches.of(chunk)) for chunk in target.all()]
    return Plan(
        shape=target.shape,
        chunks=target.chunks,
        dtype=job.dtype,
        tasks=len(counts),
        constant=counts.count(0),
        reads=0 if schedule is None else schedule.reads,
        lower_bound=touches.needed(),
        bytes_read=0 if schedule is None else schedule.read_bytes,
        bytes_written=math.prod(target.shape) * job.dtype.itemsize,
        largest_task=max(counts, default=0),
        largest_bytes=0 if schedule is None else schedule.peak_bytes,
        rounds=0 if schedule is None else schedule.rounds,
    )


class _Job:
    """What is asked for, checked."""

    def __init__(
        self,
        op: str,
        layout: Layout,
        array: Any,
        chunks: Any,
        shards: tuple[int, ...] | None,
        memory: float | str,
        fill: Any,
        workers: int | None,
        sizes: Sizes,
    ) -> None:
        if not isinstance(array, _zarr.Array):
            raise TypeError(
                f"{op}: takes a zarr.Array, not a value of type {type(array).__name__}; zarr.open_array opens one"
            )
        self.op, self.array = op, array
        self.dtype = element_type(op, array.dtype)
        own = array.fill_value
        self.fill = (0 if own is None else own) if fill is None else fill
        self.fill_bytes = fill_bytes(self.fill, self.dtype)
        self.memory = byte_count(op, "memory", memory)
        self.workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if workers is not None:
            if not isinstance(workers, int) or workers < 1:
                raise ValueError(f"{op}: `workers` is to be a number of threads from 1 on, not {workers!r}")
            self.workers = workers
        self.source = Cut(_cut(array.shape, array.shards or array.chunks))
        self.tracker = layout_over(op, layout, self.source.shape, sizes)
        self.shards = None if shards is None else self._sizes("shards", shards)
        self._made: _native.Schedule | None = None
        wanted, target = self._wanted(chunks)
        while True:
            self.chunks = self._chunk_sizes(wanted, target)
            if self.shards is not None:
                if None in wanted:
                    fitting = zip(self.shards, self.chunks, wanted)
                    self.chunks = tuple(
                        max(n for n in range(1, size + 1) if shard % n == 0) if given is None else size
                        for shard, size, given in fitting
                    )
                if any(shard % size for shard, size in zip(self.shards, self.chunks)):
                    raise ValueError(f"{op}: shards of {self.shards} are no whole numbers of chunks of {self.chunks}")
            self.target = Cut(_cut(self.tracker.shape, self.shards or self.chunks))
            self.touches = Touches(self.tracker, self.source, self.target)
            largest = max(map(self.target.numel, self.target.all()), default=0)
            if self.shards is not None or None not in wanted or target <= 1 or self._fits():
                break
            target = min(target, largest) // 2

    def _fits(self) -> bool:
        """Whether there is memory for each output chunk with one chunk of the array."""
        try:
            self._made = self.schedule()
        except ValueError:
            return False
        return True

    def bytes_of(self, schedule: _native.Schedule | None) -> int:
        """The bytes of all chunks that are read and written."""
        if schedule is None:
            return 0
        written = sum(map(self.target.numel, map(self.target.chunk, _written(schedule))))
        return schedule.read_bytes + written * self.dtype.itemsize

    def schedule(self) -> _native.Schedule | None:
        """In which order chunks are read and written; None where there is nothing to move."""
        if self._made is not None or self.touches.plan is None:
            return self._made
        # What is read ahead takes memory, too: where there is little, one after the other.
        at_once = self.workers
        while True:
            try:
                return self.touches.plan.schedule(self.memory, self.dtype.itemsize, at_once)
            except ValueError as err:
                if at_once == 1:
                    raise ValueError(f"{self.op}: {err}") from None
                at_once = 1

    def template(self) -> Array[Any]:
        """An array as the result is to be, without chunks, in memory."""
        array = self.array
        form = array.metadata.zarr_format
        # Such a codec has one entry per axis; the result may have other axes.
        filters = [codec for codec in array.filters if type(codec).__name__ != "TransposeCodec"]
        options: dict[str, Any] = {} if form == 2 else {"serializer": array.serializer}
        try:
            return _zarr.create_array(
                _MemoryStore(),
                shape=self.tracker.shape,
                # Zarr's own type: that of NumPy does not say which of Zarr's it was.
                dtype=array.metadata.dtype,
                chunks=self.chunks,
                shards=self.shards,
                filters=filters or None,
                compressors=array.compressors or None,
                fill_value=np.frombuffer(self.fill_bytes, self.dtype)[0],
                zarr_format=form,
                attributes=array.attrs.asdict(),
                **options,
            )
        except (ValueError, TypeError) as err:
            raise ValueError(f"{self.op}: there is no such Zarr array: {err}") from err

    def _wanted(self, chunks: Any) -> tuple[Wanted, int]:
        """The sizes of chunks that are asked for, and about how many elements one is to have where they are to be chosen."""
        shape = self.tracker.shape
        try:
            wanted, chunk_bytes = wanted_chunks(self.op, chunks, shape)
        except ValueError as err:
            if isinstance(chunks, str):
                raise
            raise ValueError(
                f"{self.op}: `chunks` are to be one size from 1 on for each axis of shape {shape}, not {chunks!r} ({err})"
            ) from None
        if any(isinstance(size, tuple) for size in wanted):
            raise ValueError(
                f"{self.op}: `chunks` are to be one size for each axis of shape {shape}, where only the last chunk may be"
                f" shorter, not {chunks!r}"
            )
        target = math.prod(self.array.chunks) if chunk_bytes is None else chunk_bytes // self.dtype.itemsize
        return wanted, max(1, target)

    def _chunk_sizes(self, wanted: Wanted, target: int) -> tuple[int, ...]:
        chosen = cut_as_wanted(self.tracker, self.source, wanted, target, regular=True)
        return tuple(size if isinstance(size, int) and size else max(1, sizes[0]) for size, sizes in zip(wanted, chosen))

    def _sizes(self, name: str, given: Any) -> tuple[int, ...]:
        shape = self.tracker.shape
        whole = isinstance(given, (tuple, list)) and all(isinstance(size, (int, np.integer)) and size > 0 for size in given)
        if not whole or len(given) != len(shape):
            raise ValueError(
                f"{self.op}: `{name}` are to be one size from 1 on for each axis of shape {shape}, not {given!r}"
            )
        return tuple(int(size) for size in given)


def _cut(shape: tuple[int, ...], sizes: tuple[int, ...]) -> Chunks:
    """A shape in chunks of one size for each axis, of which the last is shorter where it must be."""
    return tuple(
        (part,) * (size // part) + ((size % part,) if size % part else ()) for size, part in zip(shape, sizes, strict=True)
    )


def _region(box: Box) -> Any:
    return tuple(slice(begin, end) for begin, end in box) if box else ...


def _written(schedule: _native.Schedule) -> Iterator[int]:
    """The chunks that a schedule writes."""
    for what, items in schedule.steps:
        if what == "write":
            yield from items


def _carry_out(job: _Job, schedule: _native.Schedule, target: Array[Any], meter: Meter) -> None:
    """Does what a schedule says, step by step."""
    source_cut, target_cut, dtype, array = job.source, job.target, job.dtype, job.array
    read: dict[int, np.ndarray[Any, Any]] = {}
    made: dict[int, _native.Assembly] = {}

    def open_chunk(output: int) -> None:
        box = target_cut.box(target_cut.chunk(output))
        made[output] = _native.Assembly(job.tracker, source_cut.shape, box, job.fill_bytes)

    def read_chunk(number: int) -> None:
        place = source_cut.chunk(number)
        box = source_cut.box(place)
        # An array of ours is filled: of no axes zarr-python returns a scalar, which has neither the width nor the byte order
        # of the type.
        chunk = np.empty([end - begin for begin, end in box], dtype, order=array.order)
        try:
            array.get_basic_selection(_region(box), out=_prototype().nd_buffer.from_numpy_array(chunk))
        except Exception as err:
            raise ValueError(f"{job.op}: chunk {place} of the array cannot be read: {err or type(err).__name__}") from err
        read[number] = as_bytes(chunk, dtype)
        meter.add(chunk.nbytes)

    def move_into(moves: tuple[int, list[int]]) -> None:
        output, numbers = moves
        for number in numbers:
            made[output].take(source_cut.box(source_cut.chunk(number)), read[number])

    def write_chunk(output: int) -> None:
        place = target_cut.chunk(output)
        try:
            target[_region(target_cut.box(place))] = made.pop(output).finish().view(dtype)
        except Exception as err:
            raise ValueError(f"{job.op}: chunk {place} of the result cannot be written: {err or type(err).__name__}") from err
        meter.add(target_cut.numel(place) * dtype.itemsize)

    with ThreadPoolExecutor(job.workers) as pool:

        def all_of(function: Callable[[Any], None], items: Iterable[Any]) -> None:
            for _ in pool.map(function, items):
                pass

        for what, items in schedule.steps:
            if what == "open":
                all_of(open_chunk, items)
            elif what == "read":
                all_of(read_chunk, items)
            elif what == "move":
                # One worker for each output chunk: two would take turns.
                by_output = groupby(items, itemgetter(0))
                all_of(move_into, [(output, [number for _, number in pairs]) for output, pairs in by_output])
            elif what == "forget":
                for number in items:
                    del read[number]
            else:
                all_of(write_chunk, items)


class _Place:
    """Where the result is to be, and where it is until it is whole."""

    def __init__(self, out: Any, overwrite: bool = False) -> None:
        self.final: Path | None = None
        self.began = False
        if isinstance(out, _StorePath):
            store, self.path = out.store, out.path
        elif isinstance(out, _Store):
            store, self.path = out, ""
        elif isinstance(out, (str, os.PathLike)):
            if "://" in os.fspath(out):
                store, self.path = _zarr.storage.FsspecStore.from_url(os.fspath(out)), ""
            else:
                store, self.path = _LocalStore(Path(out).absolute()), ""
        else:
            raise TypeError(f"apply: `out` is to be a path or a store of Zarr's, not a value of type {type(out).__name__}")
        if store.read_only:
            raise ValueError(f"apply: the store of the result, {store}, is read-only")
        self.store: Store = store
        self.now: StorePath = _StorePath(store, self.path)
        if isinstance(store, _LocalStore):
            self.final = Path(store.root, self.path)
            if self.final.exists() and not (self.final.is_dir() and not any(self.final.iterdir())):
                if not overwrite:
                    raise ValueError(f"apply: {self.final} is there already; overwrite=True puts the result in its place")
                if not self._is_array():
                    raise ValueError(f"apply: {self.final} is no array of Zarr's, and nothing is written over it")
            beside = self.final.with_name(f".{self.final.name}.{uuid.uuid4().hex}.partial")
            self.now = _StorePath(_LocalStore(beside), "")
        elif not _sync(store.is_empty(self.path)):
            # Chunks that nobody knows of would be taken for the result's.
            what = "only what is at a path is replaced" if overwrite else "nothing is written over it"
            raise ValueError(f"apply: there is something at {self.now} already, and {what}")

    def _is_array(self) -> bool:
        """Whether an array is where the result is to be; a group is none."""
        try:
            return isinstance(_zarr.open(self.final, mode="r"), _zarr.Array)
        except (OSError, ValueError, KeyError):
            return False

    def _key(self, name: str) -> str:
        return f"{self.now.path}/{name}" if self.now.path else name

    def begin(self, template: Array[Any]) -> Array[Any]:
        """The result, to write chunks to: nobody else sees an array there."""
        self.began = True
        if self.final is not None:
            try:
                self._beside().mkdir(parents=True)
            except OSError as err:
                raise ValueError(f"apply: the result cannot be written to {self.final}: {err}") from err
        return _array(template, self.now)

    def finish(self, template: Array[Any]) -> None:
        """Writes the metadata, and gives the result its name."""
        try:
            documents = template.metadata.to_buffer_dict(_prototype())
            # The one that makes it an array comes last.
            for name, document in sorted(documents.items(), key=lambda item: item[0] == ".zarray"):
                _sync(self.now.store.set(self._key(name), document))
            if self.final is not None:
                self._take_the_name(self.final)
        except OSError as err:
            raise ValueError(f"apply: the result cannot be written to {self.final or self.now}: {err}") from err

    def _take_the_name(self, final: Path) -> None:
        if not (final.exists() and any(final.iterdir())):
            self._beside().rename(final)
            return
        before = self._beside().with_suffix(".before")
        try:
            final.rename(before)
            self._beside().rename(final)
        except BaseException:
            # Whatever came between the two: what was there is there again.
            if before.exists() and not final.exists():
                before.rename(final)
            raise
        shutil.rmtree(before, ignore_errors=True)

    def clear(self) -> None:
        """Leaves nothing behind."""
        if self.began and self.final is not None:
            shutil.rmtree(self._beside(), ignore_errors=True)
        elif self.began and self.path:
            _sync(self.store.delete_dir(self.path))
        elif self.began:
            _sync(self.store.clear())

    def opened(self, template: Array[Any]) -> Array[Any]:
        """The result, under its name."""
        return _array(template, _StorePath(self.store, self.path))

    def _beside(self) -> Path:
        assert isinstance(self.now.store, _LocalStore)
        return Path(self.now.store.root)


def _array(template: Array[Any], place: StorePath) -> Array[Any]:
    """The array at a place whose metadata are those of another one."""
    return _zarr.Array(_zarr.AsyncArray(metadata=template.metadata, store_path=place, config=template.config))


class _Terminated(SystemExit):
    """SIGTERM has arrived."""


class _Termination:
    """While it is entered, a SIGTERM that would end the process is an exception, so that what was begun is removed; at its end
    the process dies of the signal all the same.

    Only where nobody else handles the signal, and in the main thread, which is the only one that may. The exception is one of
    `SystemExit` for the few instructions in which Python may raise it before the body of `with` begins.
    """

    def __init__(self) -> None:
        self._installed = self._arrived = self._waits = False

    def __enter__(self) -> _Termination:
        of_ours = threading.current_thread() is threading.main_thread()
        if of_ours and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            try:
                signal.signal(signal.SIGTERM, self._handle)
                self._installed = True
            except ValueError:
                # A thread of another interpreter than the first one handles no signals.
                pass
        return self

    def wait(self) -> None:
        """From now on a signal is only remembered, so that it does not interrupt what cleans up."""
        self._waits = True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again, self._arrived = self._arrived, True
        if not again and not self._waits:
            raise _Terminated(128 + number)

    def __exit__(self, *_: object) -> None:
        self.wait()
        # Whoever took the signal over meanwhile keeps it.
        if self._installed and signal.getsignal(signal.SIGTERM) == self._handle:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if self._arrived:
            signal.raise_signal(signal.SIGTERM)
