"""Arrays in chunks: dask's own chain beside `shapetracker.dask` on one cluster, and Zarr arrays in little memory.

    pip install . 'dask[array,distributed]' zarr psutil
    python crates/shapetracker-py/benches/chunks.py [rounds] [refused] [zarr] [dask] [alone]

Every measurement has a cluster of its own, of two worker processes with one thread each; the sides take turns. The least that there
is to do, beside both, is to make the chunks of the array and to use them as they are.
"""

from __future__ import annotations

import math
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import psutil
from dask.callbacks import Callback
from distributed import Client, LocalCluster

import shapetracker.dask
import shapetracker.zarr
from shapetracker import ShapeTracker

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import chunked  # noqa: E402

# Shape, chunks of 2 MiB, and the chain for an array of dask's; `ShapeTracker` has methods of the same names.
CASES: list[tuple[str, tuple[int, ...], tuple[int, ...], Callable[[Any], Any], Callable[[Any], Any]]] = [
    (
        "(256, 1024, 1024) -> (256, 1048576).T",
        (256, 1024, 1024),
        (8, 256, 256),
        lambda x: x.reshape(256, 1024 * 1024).T,
        lambda x: x.reshape(256, 1024 * 1024).permute(1, 0),
    ),
    (
        "(16384, 16384) -> (128, 128, 16384) -> 2, 0, 1",
        (16384, 16384),
        (512, 1024),
        lambda x: x.reshape(128, 128, 16384).transpose(2, 0, 1),
        lambda x: x.reshape(128, 128, 16384).permute(2, 0, 1),
    ),
    (
        "(64, 64, 256, 256) -> 2, 0, 1, 3 -> (16384, 16384)",
        (64, 64, 256, 256),
        (4, 4, 128, 256),
        lambda x: x.transpose(2, 0, 1, 3).reshape(16384, 16384),
        lambda x: x.permute(2, 0, 1, 3).reshape(16384, 16384),
    ),
    (
        "(16384, 16384).T -> (268435456,)",
        (16384, 16384),
        (512, 1024),
        lambda x: x.T.reshape(16384 * 16384),
        lambda x: x.permute(1, 0).reshape(16384 * 16384),
    ),
    (
        "(24, 3000, 3700) -> (24, 11100000)",
        (24, 3000, 3700),
        (8, 256, 256),
        lambda x: x.reshape(24, 3000 * 3700),
        lambda x: x.reshape(24, 3000 * 3700),
    ),
    (
        "(512, 512, 1024) -> (512, 1024, 512) -> 1, 0, 2",
        (512, 512, 1024),
        (32, 64, 256),
        lambda x: x.reshape(512, 1024, 512).transpose(1, 0, 2),
        lambda x: x.reshape(512, 1024, 512).permute(1, 0, 2),
    ),
]


def numbered(block_info: Any = None) -> np.ndarray:
    """A chunk, as cheap as reading one can be: full of its own number."""
    info = block_info[None]
    place = np.ravel_multi_index(info["chunk-location"], info["num-chunks"])
    return np.full(info["chunk-shape"], place, "f4")


def source(shape: tuple[int, ...], chunks: tuple[int, ...]) -> Any:
    cuts = da.core.normalize_chunks(chunks, shape)
    return da.map_blocks(numbered, chunks=cuts, dtype="f4", meta=np.empty((0,) * len(shape), "f4"))


def used(block: np.ndarray) -> np.ndarray:
    """What somebody does with a chunk who needs it in row-major memory."""
    flat = np.ascontiguousarray(block).reshape(-1)
    return flat[:: max(1, flat.size // 64)].sum(dtype="f8").reshape((1,) * block.ndim)


def ours(chain: Callable[[Any], Any], x: Any, memory: str | None = None) -> Any:
    return shapetracker.dask.apply(chain, x, memory=memory)


def sides_of(case: Any) -> dict[str, Callable[[], Any]]:
    """What is compared for a case: dask's own chain, where it has one, ours, and the least that there is to do."""
    _, shape, chunks, theirs, chain = case
    x = source(shape, chunks)
    sides: dict[str, Callable[[], Any]] = {
        "dask": partial(theirs, x),
        "shapetracker": partial(ours, chain, x),
        'memory="128 MiB"': partial(ours, chain, x, "128 MiB"),
        "the least": lambda: x,
    }
    try:
        theirs(x)
    except NotImplementedError:
        del sides["dask"]
    if len(dict(sides["shapetracker"]().__dask_graph__())) == len(dict(sides['memory="128 MiB"']().__dask_graph__())):
        del sides['memory="128 MiB"']
    return sides


class Watch:
    """What processes take while something runs: seconds of processors, and the most memory above what they had before."""

    def __init__(self, pids: list[int]) -> None:
        self.processes = [psutil.Process(pid) for pid in pids]
        self.before = self.most = self._now()
        self.busy_before = self._busy()
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self._watch)

    def _now(self) -> int:
        return sum(process.memory_info().rss for process in self.processes)

    def _busy(self) -> float:
        return sum(sum(process.cpu_times()[:2]) for process in self.processes)

    def _watch(self) -> None:
        while not self.ends.wait(0.02):
            self.most = max(self.most, self._now())

    def __enter__(self) -> Watch:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ends.set()
        self.thread.join()
        self.busy = self._busy() - self.busy_before

    @property
    def grown(self) -> int:
        return self.most - self.before


def on_cluster(make: Callable[[], Any]) -> tuple[float, float, int]:
    """Seconds, seconds of processors (client, scheduler and workers), and bytes of the workers' memory, from making a graph until
    all chunks of its array were there on a fresh cluster."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        workers = list(client.run(os.getpid).values())
        # What is imported first would be counted.
        da.ones((64, 64), chunks=8).reshape(-1).map_blocks(used, chunks=(1,), dtype="f8").compute()
        shapetracker.dask.reshape(da.ones((64, 64), chunks=8), 16, -1).compute()
        with Watch(workers) as watch, Watch([os.getpid(), *workers]) as all_of_them:
            begun = time.perf_counter()
            y = make()
            y.map_blocks(used, chunks=(1,) * y.ndim, dtype="f8").compute()
            seconds = time.perf_counter() - begun
        return seconds, all_of_them.busy, watch.grown


class Held(Callback):
    """The most bytes that a task is given and makes, as dask runs a graph."""

    def __init__(self, y: Any) -> None:
        super().__init__(start=self.begin, posttask=self.keep)
        self.bytes: dict[Any, int] = {}
        self.graph: dict[Any, Any] = {}
        with self:
            y.map_blocks(used, chunks=(1,) * y.ndim, dtype="f8").compute(scheduler="synchronous", optimize_graph=True)

    def begin(self, graph: Any) -> None:
        self.graph = dict(graph)

    def keep(self, key: Any, result: Any, *_: Any) -> None:
        self.bytes[key] = getattr(result, "nbytes", 0)

    @property
    def most(self) -> int:
        return max(sum(self.bytes.get(part, 0) for part in (key, *task.dependencies)) for key, task in self.graph.items())


def tasks(y: Any) -> int:
    return len(dict(dask.optimize(y)[0].__dask_graph__()))


def shown_mib(count: float) -> str:
    return f"{count / 2**20:,.0f} MiB"


def dask_table(rounds: int) -> None:
    print("| | | seconds | of processors | peak of memory | largest task | tasks | chunks of the result |")
    print("|---|---|---|---|---|---|---|---|")
    for case in CASES:
        name, sides = case[0], sides_of(case)
        measured: dict[str, list[tuple[float, float, int]]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side, make in sides.items():
                measured[side].append(on_cluster(make))
        best = {side: [min(numbers) for numbers in zip(*runs)] for side, runs in measured.items()}
        for side, make in sides.items():
            y = make()
            seconds, busy, memory = best[side]
            largest = shown_mib(4 * math.prod(max(sizes) for sizes in y.chunks))
            row = [name if side == next(iter(sides)) else "", side, f"{seconds:.1f}", f"{busy:.1f}", shown_mib(memory)]
            row.append(f"{Held(y).most / 2**20:.1f} MiB")
            print("| " + " | ".join([*row, f"{tasks(y):,}", f"{y.npartitions:,}, up to {largest}"]) + " |")
        if "dask" in sides:
            ratios = [f"**{one / other:.1f}**" for one, other in zip(best["dask"], best["shapetracker"])]
            print("| | dask / shapetracker | " + " | ".join(ratios) + " | | | |", flush=True)
        else:
            print("| | dask refuses it | | | | | | |", flush=True)


def alone_table(rounds: int) -> None:
    """One process and one thread, without a cluster: what other programs do meanwhile matters least."""
    print("| | | seconds of processor | dask / it | largest task | tasks | chunks of the result |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        name, sides = case[0], sides_of(case)
        best: dict[str, float] = {}
        for _ in range(rounds):
            for side, make in sides.items():
                begun = time.process_time()
                Held(make())
                seconds = time.process_time() - begun
                best[side] = min(seconds, best.get(side, seconds))
        for side, make in sides.items():
            y = make()
            ratio = f"{best['dask'] / best[side]:.1f}" if "dask" in best and side != "dask" else ""
            largest = shown_mib(4 * math.prod(max(sizes) for sizes in y.chunks))
            row = [name if side == next(iter(sides)) else "", side, f"{best[side]:.2f}", ratio, f"{Held(y).most / 2**20:.1f} MiB"]
            print("| " + " | ".join([*row, f"{tasks(y):,}", f"{y.npartitions:,}, up to {largest}"]) + " |", flush=True)


def refused_table() -> None:
    refused = {"dask": 0, "shapetracker": 0}
    count = 0
    for before, after in chunked.reshapes():
        values = np.arange(math.prod(before)).reshape(before)
        x = da.from_array(values, chunks=chunked.irregular(before))
        count += 1
        for side, reshape in (("dask", da.reshape), ("shapetracker", shapetracker.dask.reshape)):
            try:
                made = reshape(x, after)
            except NotImplementedError:
                refused[side] += 1
            else:
                assert np.array_equal(made.compute(scheduler="synchronous"), values.reshape(after))
    print(f"\nof {count:,} reshapes of unevenly chunked arrays refused: {refused}")


def zarr_table() -> None:
    import zarr

    print("\n| 1 GiB in 512 chunks, an eighth of it in memory | reads | lower bound | ratio | rounds | seconds | of processors | peak of memory |")
    print("|---|---|---|---|---|---|---|---|")
    for name, shape, chunks, _, chain in CASES:
        with tempfile.TemporaryDirectory() as folder:
            x = zarr.create_array(f"{folder}/x.zarr", shape=shape, chunks=chunks, dtype="f4", compressors=None)
            for place in np.ndindex(x.cdata_shape):
                number = 1 + np.ravel_multi_index(place, x.cdata_shape)
                x.blocks[place] = number
            plan = shapetracker.zarr.plan(chain, x, memory="128 MiB")
            with Watch([psutil.Process().pid]) as watch:
                begun = time.perf_counter()
                y = shapetracker.zarr.apply(chain, x, f"{folder}/y.zarr", memory="128 MiB")
                seconds = time.perf_counter() - begun
            tracker = chain(ShapeTracker.contiguous(shape))
            rng = random.Random(1)
            for _ in range(100):
                index = tuple(rng.randrange(size) for size in y.shape)
                assert y[index] == x[np.unravel_index(tracker.address(*index), shape)]
        ratio = plan.reads / plan.lower_bound
        row = [name, f"{plan.reads:,}", f"{plan.lower_bound:,}", f"{ratio:.2f}", f"{plan.rounds:,}", f"{seconds:.1f}"]
        print("| " + " | ".join([*row, f"{watch.busy:.1f}", shown_mib(watch.grown)]) + " |", flush=True)


if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if not argument.isdigit()]
    counts = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    if "refused" in named or not named:
        refused_table()
    if "zarr" in named or not named:
        zarr_table()
    if "dask" in named or not named:
        print()
        dask_table(counts[0] if counts else 3)
    if "alone" in named or not named:
        print()
        alone_table(counts[0] if counts else 3)
