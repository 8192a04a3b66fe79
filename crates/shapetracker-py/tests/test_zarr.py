"""`shapetracker.zarr` beside NumPy on whole arrays."""

import json
import math
import os
import random
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chunked
import oracle
from shapetracker import ShapeTracker

zarr = pytest.importorskip("zarr")

import shapetracker.zarr as stz  # noqa: E402


def values_of(shape: tuple[int, ...], dtype: Any = "i4") -> np.ndarray:
    return (np.arange(math.prod(shape)) + 1).astype(dtype).reshape(shape)


def stored(values: np.ndarray, chunks: tuple[int, ...], store: Any = None, **options: Any) -> Any:
    store = zarr.storage.MemoryStore() if store is None else store
    array = zarr.create_array(store, shape=values.shape, dtype=values.dtype, chunks=chunks, **options)
    array[...] = values
    return array


def turned(x: ShapeTracker) -> Any:
    return x.permute(1, 0).reshape(8, 3)


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_random_chains_over_random_chunks() -> None:
    rng = random.Random(18)
    for case in range(oracle.cases(300)):
        shape, steps, addresses = chunked.random_chain(rng)
        values = values_of(shape, rng.choice(["i4", "f8", "u1"]))

        def sizes(shape: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(rng.randint(1, size) for size in shape)

        x = stored(values, sizes(shape), zarr_format=rng.choice([2, 3]))
        tracker = reduce(lambda made, step: getattr(made, step[0])(step[1]), steps, ShapeTracker.contiguous(shape))
        memory = rng.choice(["1 MiB", 2 * values.nbytes + 8 * addresses.size])
        chunks = rng.choice(["auto", sizes(addresses.shape)])
        fill = rng.choice([None, 7])
        y = stz.apply(tracker, x, zarr.storage.MemoryStore(), chunks=chunks, memory=memory, fill=fill, workers=rng.choice([1, 2]))
        expected = chunked.gathered(values, addresses, fill or 0)
        assert (y.shape, y.dtype) == (expected.shape, expected.dtype), case
        assert np.array_equal(y[...], expected), (case, shape, steps, x.chunks, y.chunks)


@pytest.mark.parametrize("form", [2, 3])
def test_a_path_gets_its_name_at_the_end(form: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = stored(values_of((4, 6)), (3, 4), tmp_path / "x.zarr", zarr_format=form, attributes={"units": "m"})
    seen: list[set[str]] = []
    rename = Path.rename

    def watched(path: Path, target: Path) -> Path:
        seen.append({entry.name for entry in tmp_path.iterdir()})
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", watched)
    y = stz.apply(turned, x, tmp_path / "deep" / "y.zarr", chunks=(3, 2))
    assert seen == [{"x.zarr", "deep"}]
    assert [entry.name for entry in (tmp_path / "deep").iterdir()] == ["y.zarr"]
    again = zarr.open_array(tmp_path / "deep" / "y.zarr", mode="r")
    assert np.array_equal(again[...], values_of((4, 6)).T.reshape(8, 3)) and np.array_equal(y[...], again[...])
    assert (again.chunks, again.metadata.zarr_format, again.attrs.asdict()) == ((3, 2), form, {"units": "m"})
    assert again.compressors == x.compressors


@pytest.mark.parametrize("form", [2, 3])
def test_metadata_come_last_in_other_stores(form: int) -> None:
    order: list[str] = []

    class Watched(zarr.storage.MemoryStore):  # type: ignore[misc, name-defined]
        async def set(self, key: str, value: Any, byte_range: Any = None) -> None:
            order.append(key)
            await super().set(key, value)

    store = Watched()
    y = stz.apply(turned, stored(values_of((4, 6)), (3, 4), zarr_format=form), zarr.storage.StorePath(store, "some/y"))
    assert order[-1] == ("some/y/zarr.json" if form == 3 else "some/y/.zarray")
    assert sum(key == order[-1] for key in order) == 1 and all(key.startswith("some/y/") for key in order)
    # Each chunk is written once.
    assert len(set(order)) == len(order)
    assert y.path == "some/y" and np.array_equal(y[...], values_of((4, 6)).T.reshape(8, 3))


def test_missing_chunks_are_their_fill_value() -> None:
    x = zarr.create_array(zarr.storage.MemoryStore(), shape=(4, 6), chunks=(2, 3), dtype="i4", fill_value=-7)
    x[:2, :3] = 1
    y = stz.apply(lambda x: x.permute(1, 0).pad((0, 2), (0, 0)), x, zarr.storage.MemoryStore(), chunks=(3, 2))
    assert np.array_equal(y[...], np.pad(x[...].T, ((0, 2), (0, 0)), constant_values=-7))
    assert y.fill_value == -7 and y.nchunks_initialized == 1
    z = stz.apply(lambda x: x.pad((0, 2), (0, 0)), x, zarr.storage.MemoryStore(), fill=3)
    assert z.fill_value == 3 and np.array_equal(z[...], np.pad(x[...], ((0, 2), (0, 0)), constant_values=3))


def test_shards_are_read_and_written_whole() -> None:
    values = values_of((16, 24))
    order: list[str] = []

    class Watched(zarr.storage.MemoryStore):  # type: ignore[misc, name-defined]
        async def set(self, key: str, value: Any, byte_range: Any = None) -> None:
            order.append(key)
            await super().set(key, value)

    x = stored(values, (2, 3), shards=(8, 6))
    assert stz.plan(".permute(1, 0)", x).lower_bound == 8
    y = stz.apply(".permute(1, 0).reshape(32, 12)", x, Watched(), shards=(16, 12), chunks=(4, 6))
    assert (y.shards, y.chunks) == ((16, 12), (4, 6)) and np.array_equal(y[...], values.T.reshape(32, 12))
    assert sorted(order) == ["c/0/0", "c/1/0", "zarr.json"]
    z = stz.apply(".permute(1, 0)", x, zarr.storage.MemoryStore(), shards=(12, 8))
    assert z.shards == (12, 8) and np.array_equal(z[...], values.T)


@pytest.mark.parametrize("form", [2, 3])
def test_fortran_order_and_codecs(form: int) -> None:
    values = values_of((7, 9, 5), ">f4")
    if form == 2:
        options: dict[str, Any] = {"order": "F", "compressors": None}
    else:
        from zarr.codecs import GzipCodec, TransposeCodec

        options = {"filters": [TransposeCodec(order=(2, 0, 1))], "compressors": [GzipCodec(level=1)]}
    x = stored(values, (3, 4, 5), zarr_format=form, **options)
    y = stz.apply(lambda x: x.permute(2, 0, 1).reshape(45, 7), x, zarr.storage.MemoryStore())
    assert np.array_equal(y[...], values.transpose(2, 0, 1).reshape(45, 7))
    # The third format has the order of bytes in a codec.
    assert y.dtype == zarr.open_array(x.store).dtype
    assert y.compressors == x.compressors


def test_arrays_of_no_axes_and_of_no_elements() -> None:
    scalar = stored(np.array(5), ())
    assert stz.apply(lambda x: x.reshape(1, 1), scalar, zarr.storage.MemoryStore())[...].tolist() == [[5]]
    assert stz.apply(lambda x: x.reshape(), stored(values_of((1,)), (1,)), zarr.storage.MemoryStore())[...] == 1
    empty = zarr.create_array(zarr.storage.MemoryStore(), shape=(0, 3), chunks=(1, 2), dtype="i4")
    assert stz.apply(lambda x: x.reshape(3, 0), empty, zarr.storage.MemoryStore()).shape == (3, 0)
    padded = stz.apply(lambda x: x.pad((1, 0), (0, 0)), empty, zarr.storage.MemoryStore(), fill=2)
    assert padded[...].tolist() == [[2, 2, 2]]


def test_the_plan_is_what_happens() -> None:
    reads: list[str] = []

    class Watched(zarr.storage.MemoryStore):  # type: ignore[misc, name-defined]
        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            if key.startswith("c/"):
                reads.append(key)
            return await super().get(key, prototype, byte_range)

    values = values_of((64, 64))
    x = stored(values, (8, 8), Watched())
    reads.clear()
    layout, options = ".permute(1, 0).reshape(128, 32)", {"memory": 6 * 1024, "workers": 1, "chunks": (16, 8)}
    plan = stz.plan(layout, x, **options)
    assert not reads and plan.lower_bound == 64 and plan.largest_bytes <= 6 * 1024 and plan.rounds
    y = stz.apply(layout, x, zarr.storage.MemoryStore(), **options)
    assert len(reads) == plan.reads and np.array_equal(y[...], values.T.reshape(128, 32))
    assert plan.bytes_read == plan.reads * 256 and plan.tasks == y.nchunks == 32
    assert str(plan).splitlines()[-1].startswith(f"rounds: {plan.rounds}, at most ")
    roomy = stz.plan(layout, x, chunks=(16, 8))
    assert roomy.reads == roomy.lower_bound == 64


@pytest.mark.parametrize(
    "sentence, options",
    [
        ("bytes of memory are too few", {"memory": 10}),
        ("`memory` is to be a number of bytes", {"memory": "much"}),
        ("`chunks` are to be one size from 1 on for each axis of shape .8, 3., not .4,.", {"chunks": (4,)}),
        ("not .0, 3.", {"chunks": (0, 3)}),
        ("no whole numbers of chunks", {"chunks": (4, 3), "shards": (6, 3)}),
        ("`workers` is to be a number of threads", {"workers": 0}),
        ("fill: 0.5 .float. is no value", {"fill": 0.5}),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(sentence: str, options: Any, tmp_path: Path) -> None:
    x = stored(values_of((4, 6)), (3, 4))
    with pytest.raises(ValueError, match=sentence):
        stz.apply(turned, x, tmp_path / "y.zarr", **options)
    assert not list(tmp_path.iterdir())


def test_a_tracker_of_another_array(tmp_path: Path) -> None:
    x = stored(values_of((4, 6)), (3, 4))
    with pytest.raises(ValueError, match="reads element 24, but the array of shape .4, 6. has only 24"):
        stz.apply("(5, 5)", x, tmp_path / "y.zarr")
    with pytest.raises(TypeError, match="takes a zarr.Array"):
        stz.apply("(5, 5)", values_of((5, 5)), tmp_path / "y.zarr")
    with pytest.raises(TypeError, match="a path or a store"):
        stz.apply(turned, x, 5)  # type: ignore[arg-type]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    x = stored(values_of((4, 6)), (3, 4))
    (tmp_path / "y.zarr").mkdir()
    (tmp_path / "y.zarr" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="is there already"):
        stz.apply(turned, x, tmp_path / "y.zarr")
    assert names(tmp_path) == {"y.zarr/notes.txt"}
    store = x.store
    with pytest.raises(ValueError, match="something at .* already"):
        stz.apply(turned, x, store)
    assert np.array_equal(x[...], values_of((4, 6)))
    # Chunks without metadata, as an interrupted run leaves them, are not taken for the result's.
    store._store_dict.pop("zarr.json")
    with pytest.raises(ValueError, match="something at .* already"):
        stz.apply(turned, stored(values_of((4, 6)), (3, 4)), store)


def test_stores_that_are_read_only(tmp_path: Path) -> None:
    x = stored(values_of((4, 6)), (3, 4))
    for store in (zarr.storage.MemoryStore(read_only=True), zarr.storage.LocalStore(tmp_path / "y", read_only=True)):
        with pytest.raises(ValueError, match="is read-only"):
            stz.apply(turned, x, store)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot be written to .*y.zarr"):
        stz.apply(turned, x, tmp_path / "file" / "y.zarr")
    assert names(tmp_path) == {"file"}


@pytest.mark.parametrize("form", [2, 3])
def test_a_store_that_is_cut_short(form: int, tmp_path: Path) -> None:
    x = stored(values_of((40, 60)), (10, 20), tmp_path / "x.zarr", zarr_format=form)
    chunk = tmp_path / "x.zarr" / ("2.1" if form == 2 else "c/2/1")
    chunk.write_bytes(chunk.read_bytes()[:20])
    before = names(tmp_path)
    with pytest.raises(ValueError, match=r"chunk \(2, 1\) of the array cannot be read: ."):
        stz.apply(".permute(1, 0)", x, tmp_path / "y.zarr", memory=3 * 10 * 20 * 4)
    assert names(tmp_path) == before and [entry.name for entry in tmp_path.iterdir()] == ["x.zarr"]


def test_what_cannot_be_written_leaves_nothing() -> None:
    class Full(zarr.storage.MemoryStore):  # type: ignore[misc, name-defined]
        async def set(self, key: str, value: Any, byte_range: Any = None) -> None:
            if len(self._store_dict) == 3:
                raise OSError("no space is left")
            await super().set(key, value)

    store = Full()
    with pytest.raises(ValueError, match="of the result cannot be written: no space is left"):
        stz.apply(turned, stored(values_of((4, 6)), (3, 4)), store, chunks=(2, 2))
    assert not store._store_dict


def test_ended_in_the_middle(tmp_path: Path) -> None:
    """A process that is killed while it writes leaves nothing under the final name, and no array anywhere."""
    import subprocess
    import sys

    stored(values_of((64, 64)), (8, 8), tmp_path / "x.zarr")
    program = """
import os, sys, zarr, shapetracker.zarr
from zarr.storage import LocalStore
x = zarr.open_array(sys.argv[1] + "/x.zarr", mode="r")
chunks, put = 0, LocalStore.set
async def set(self, key, value):
    global chunks
    chunks += 1
    if chunks == 20:
        os._exit(9)
    await put(self, key, value)
LocalStore.set = set
shapetracker.zarr.apply(".permute(1, 0)", x, sys.argv[1] + "/y.zarr", chunks=(8, 8), workers=1)
"""
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], env=dict(os.environ))
    assert ended.returncode == 9
    assert not (tmp_path / "y.zarr").exists()
    left = names(tmp_path) - names(tmp_path / "x.zarr")
    assert sum(name.startswith(".y.zarr.") for name in left) == 19
    assert not any(name.startswith(".y.zarr.") and name.endswith(("zarr.json", ".zarray")) for name in left)


def test_through_dask() -> None:
    da = pytest.importorskip("dask.array")
    import shapetracker.dask

    x = stored(values_of((12, 10)), (5, 4))
    y = shapetracker.dask.apply(".permute(1, 0).reshape(8, 15)", da.from_zarr(x), chunks=(4, 5))
    store = zarr.storage.MemoryStore()
    out = zarr.create_array(store, shape=y.shape, chunks=(4, 5), dtype=y.dtype)
    da.store(y, out, scheduler="synchronous")
    assert np.array_equal(out[...], values_of((12, 10)).T.reshape(8, 15))
    assert json.loads(store._store_dict["zarr.json"].to_bytes())["shape"] == [8, 15]
