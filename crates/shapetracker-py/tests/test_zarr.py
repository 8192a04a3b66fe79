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
from shapetracker import ShapeTracker, Sym

zarr = pytest.importorskip("zarr")

import shapetracker.zarr as stz  # noqa: E402

# The third format has not agreed on names for texts, bytes and structures, which is zarr-python's to say.
pytestmark = pytest.mark.filterwarnings("ignore:.*does not have a Zarr V3 specification")


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
    assert y.dtype == x.dtype and y.compressors == x.compressors
    # The third format has the order of bytes in a codec, and zarr-python opens what is stored with the machine's own.
    assert zarr.open_array(y.store).dtype == zarr.open_array(x.store).dtype
    assert form == 2 or y.serializer == x.serializer


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


def test_chunks_are_given_in_any_of_the_ways_of_dask() -> None:
    values = values_of((60, 40))
    x = stored(values, (10, 8))
    for chunks, expected in {
        -1: (60, 40),
        (-1, 8): (60, 8),
        7: (7, 7),
        None: (10, 8),
        (None, "auto"): (10, 8),
        "320 B": (10, 8),
        (100, 8): (100, 8),
    }.items():
        y = stz.apply(lambda x: x, x, zarr.storage.MemoryStore(), chunks=chunks)
        assert y.chunks == expected and np.array_equal(y[...], values), chunks
    tall = stz.apply(lambda x: x, x, zarr.storage.MemoryStore(), chunks={0: -1})
    assert tall.chunks[0] == 60 and math.prod(tall.chunks) <= 4 * 80 and np.array_equal(tall[...], values)
    assert stz.apply(lambda x: x, x, zarr.storage.MemoryStore(), chunks={-1: 5}).chunks[1] == 5
    with pytest.raises(ValueError, match="only the last chunk may be shorter"):
        stz.apply(lambda x: x, x, zarr.storage.MemoryStore(), chunks=((1, 59), 40))
    with pytest.raises(ValueError, match="there is no axis 2"):
        stz.apply(lambda x: x, x, zarr.storage.MemoryStore(), chunks={2: 5})


def test_chosen_chunks_fit_into_memory() -> None:
    values = values_of((64, 64))
    x = stored(values, (8, 8))
    for memory in (600, 1200, "3 kB", "1 MiB"):
        # A chunk of 1 kB is asked for, and there may be less memory than that.
        plan = stz.plan(".permute(1, 0).reshape(128, 32)", x, chunks="1 kB", memory=memory, workers=1)
        assert plan.largest_bytes <= {"3 kB": 3000, "1 MiB": 2**20}.get(str(memory), memory)
        y = stz.apply(".permute(1, 0).reshape(128, 32)", x, zarr.storage.MemoryStore(), chunks="1 kB", memory=memory, workers=1)
        assert np.array_equal(y[...], values.T.reshape(128, 32)) and y.nchunks == plan.tasks
    with pytest.raises(ValueError, match="bytes of memory are too few"):
        stz.plan(".permute(1, 0)", x, chunks=(64, 64), memory=1200)


def test_windows_are_whole_and_names_have_values() -> None:
    values = values_of((400, 12))
    x = stored(values, (40, 6))
    y = stz.apply("sliding_window_view(x, n, axis=0)", x, zarr.storage.MemoryStore(), sizes={"n": 20})
    assert y.chunks[2] == 20 and math.prod(y.chunks) <= 4 * 240
    assert np.array_equal(y[...], np.lib.stride_tricks.sliding_window_view(values, 20, axis=0))
    n = Sym("n")
    turned = ShapeTracker.contiguous(n, 12).permute(1, 0)
    assert np.array_equal(stz.apply(turned, x, zarr.storage.MemoryStore(), sizes={"n": 400})[...], values.T)
    assert stz.plan(turned, x, sizes={"n": 400}).shape == (12, 400)


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


@pytest.mark.parametrize("form", [2, 3])
def test_an_array_is_replaced_when_the_result_is_whole(form: int, tmp_path: Path) -> None:
    x, path = stored(values_of((4, 6)), (3, 4), zarr_format=form), tmp_path / "y.zarr"
    stored(values_of((100,)), (10,), path, zarr_format=form)
    y = stz.apply(turned, x, path, memory=1e6, overwrite=True)
    assert np.array_equal(y[...], values_of((4, 6)).T.reshape(8, 3)) and [entry.name for entry in tmp_path.iterdir()] == ["y.zarr"]
    assert np.array_equal(zarr.open_array(path, mode="r")[...], y[...])
    # What cannot be made leaves what was there, and the array itself may be replaced.
    with pytest.raises(ValueError, match="reads element 24"):
        stz.apply("(5, 5)", x, path, overwrite=True)
    assert np.array_equal(stz.apply(".flip(0)", y, path, overwrite=True)[...], values_of((4, 6)).T.reshape(8, 3)[::-1])
    assert [entry.name for entry in tmp_path.iterdir()] == ["y.zarr"]
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="is no array of Zarr's, and nothing is written over it"):
        stz.apply(turned, x, tmp_path / "notes", overwrite=True)
    zarr.create_group(tmp_path / "group", zarr_format=form)
    with pytest.raises(ValueError, match="is no array of Zarr's"):
        stz.apply(turned, x, tmp_path / "group", overwrite=True)
    with pytest.raises(ValueError, match="only what is at a path is replaced"):
        stz.apply(turned, x, x.store, overwrite=True)
    with pytest.raises(ValueError, match="`memory` is to be a number of bytes such as 64e6"):
        stz.apply(turned, x, tmp_path / "z", memory=1.5)


@pytest.mark.parametrize("problem", [OSError("no room"), KeyboardInterrupt()], ids=["error", "interrupted"])
def test_an_array_that_cannot_be_replaced_stays(problem: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, path = stored(values_of((4, 6)), (3, 4)), tmp_path / "y.zarr"
    stored(values_of((100,)), (10,), path)
    rename = Path.rename

    def renamed(self: Path, target: Any) -> Path:
        if self.suffix == ".partial":
            raise problem
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", renamed)
    with pytest.raises((ValueError, KeyboardInterrupt)):
        stz.apply(turned, x, path, overwrite=True)
    assert [entry.name for entry in tmp_path.iterdir()] == ["y.zarr"]
    assert np.array_equal(zarr.open_array(path, mode="r")[...], values_of((100,)))


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


def every_type() -> list[Any]:
    """The types of fixed width that zarr-python has, in both byte orders."""
    plain = ["bool", "i1", "u1", "S1", "S5", "V1", "V4"]
    numbers = ["i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
    ordered = [order + name for order in "<>" for name in [*numbers, "U1", "U3", "M8[s]", "M8[10ms]", "M8[D]", "m8[ns]", "m8[7h]"]]
    structures = [[("a", "<i4"), ("b", ">f8")], [("a", "<i2"), ("s", "S3"), ("u", "<U2")]]
    return [np.dtype(name) for name in [*plain, *ordered, *structures]]


def elements(rng: random.Random, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Random values of a type: for numbers, dates and bytes any bytes, which are NaN, NaT and infinite, too."""
    made = np.empty(shape, dtype)
    for index in np.ndindex(shape):
        if dtype.names:
            made[index] = tuple(elements(rng, (), dtype[name])[()] for name in dtype.names)
        elif dtype.kind == "U":
            made[index] = "".join(rng.choice("aZ\u00e9\u20ac\U0001f600") for _ in range(rng.randint(0, dtype.itemsize // 4)))
        elif dtype.kind == "b":
            made[index] = rng.random() < 0.5
        else:
            made[index] = np.frombuffer(rng.randbytes(dtype.itemsize), dtype)[0]
    return made


def held(array: Any) -> np.ndarray:
    """What zarr-python reads, with the bytes of the array's own type: of no axes it returns a scalar, which has others."""
    return np.asarray(array[...], dtype=array.dtype)


def document(array: Any) -> dict[str, Any]:
    """The metadata as they are stored, but for what speaks of the shape."""
    name = "zarr.json" if array.metadata.zarr_format == 3 else ".zarray"
    made = json.loads(array.store._store_dict[name].to_bytes())
    return {key: value for key, value in made.items() if key not in {"shape", "chunks", "chunk_grid"}}


@pytest.mark.parametrize("form", [2, 3])
def test_every_type_keeps_its_bytes_and_its_name(form: int) -> None:
    """All types, shapes of no axes and of no elements among them, beside NumPy on what zarr-python reads."""
    rng = random.Random(9 + form)
    for dtype in every_type():
        for shape in [(), (1,), (3, 4), (0, 3)]:
            values = elements(rng, shape, dtype)
            new = stored(values, tuple(rng.randint(1, max(1, size)) for size in shape), zarr_format=form)
            # As it was made, and as it is opened again: in the third format they may differ in byte order.
            for x in (new, zarr.open_array(new.store, mode="r")):
                source = held(x)
                turns = [
                    (".reshape(-1)", lambda a: a.reshape(-1)),
                    ("x.reshape(1, -1)" if values.size else ".unsqueeze(0)", lambda a: a.reshape(1, -1) if a.size else a[None]),
                    ("x.T" if len(shape) == 2 else ".unsqueeze(0).flip(0).squeeze(0)", lambda a: a.T),
                ]
                text, turn = rng.choice(turns if values.size else turns[1:])
                y = stz.apply(text, x, zarr.storage.MemoryStore())
                expected = turn(source)
                what = (str(dtype), form, shape, text)
                assert (y.shape, y.dtype) == (expected.shape, x.dtype), what
                assert held(y).tobytes() == expected.tobytes(), what
                assert document(y) == document(x), what
                again = zarr.open_array(y.store, mode="r")
                assert again.dtype == zarr.open_array(x.store, mode="r").dtype, what


@pytest.mark.parametrize("form", [2, 3])
def test_scalars_of_every_type_go_through(form: int) -> None:
    """zarr-python gives a scalar of no axes, which has neither the width nor the byte order of the type."""
    for dtype, value in [("U3", "ab"), ("S5", b"ab"), (">i4", -7), (">f8", 0.5), (">U2", "b"), ("V4", b"ab"), (">M8[s]", 5)]:
        values = np.array(value, dtype)
        x = stored(values, (), zarr_format=form)
        y = stz.apply(".reshape(1)", x, zarr.storage.MemoryStore())
        assert y.dtype == x.dtype and held(y).tobytes() == values.tobytes(), (dtype, form)
        back = stz.apply(".reshape()", y, zarr.storage.MemoryStore())
        assert back.shape == () and back.dtype == x.dtype and held(back).tobytes() == values.tobytes(), (dtype, form)
        padded = stz.apply("x.reshape(1).pad((1, 0))", x, zarr.storage.MemoryStore())
        assert held(padded)[1:].tobytes() == values.tobytes() and padded[0] == x.fill_value or dtype == ">M8[s]"


def test_the_byte_order_of_the_third_format_stays_in_its_codec() -> None:
    from zarr.codecs import BytesCodec

    for endian in ("little", "big"):
        x = stored(values_of((4, 6), ">i4"), (3, 4), serializer=BytesCodec(endian=endian))
        y = stz.apply(turned, x, zarr.storage.MemoryStore())
        assert y.dtype == x.dtype == np.dtype(">i4")
        assert document(y)["codecs"] == document(x)["codecs"] and document(y)["codecs"][0]["configuration"] == {"endian": endian}
        assert np.array_equal(zarr.open_array(y.store)[...], values_of((4, 6)).T.reshape(8, 3))


PROGRAM = """
import os, signal, sys, threading, time, zarr, shapetracker.zarr
from zarr.storage import LocalStore
x = zarr.open_array(sys.argv[1] + "/x.zarr", mode="r")
chunks, put = 0, LocalStore.set
async def set(self, key, value):
    global chunks
    chunks += 1
    if chunks == 20:
        os.kill(os.getpid(), getattr(signal, sys.argv[2]))
    await put(self, key, value)
LocalStore.set = set
def apply():
    shapetracker.zarr.apply(".permute(1, 0)", x, sys.argv[1] + "/y.zarr", chunks=(8, 8), workers=2)
"""


def ended(tmp_path: Path, signal_name: str, rest: str) -> Any:
    """A process that gets a signal while it writes, and what it says."""
    import subprocess
    import sys

    if not (tmp_path / "x.zarr").exists():
        stored(values_of((64, 64)), (8, 8), tmp_path / "x.zarr")
    # A shell in the background has its children ignore SIGINT.
    program = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + PROGRAM + rest
    command = [sys.executable, "-c", program, str(tmp_path), signal_name]
    return subprocess.run(command, env=dict(os.environ), capture_output=True, text=True, timeout=300)


@pytest.mark.skipif(os.name != "posix", reason="signals end processes of POSIX")
def test_signals_leave_nothing_behind(tmp_path: Path) -> None:
    import signal

    done = ended(tmp_path, "SIGTERM", "apply()\nprint('went on')")
    assert done.returncode == -signal.SIGTERM and not done.stdout and not done.stderr, done
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.zarr"]
    done = ended(tmp_path, "SIGINT", "apply()\nprint('went on')")
    assert done.returncode in (-signal.SIGINT, 130) and not done.stdout and "KeyboardInterrupt" in done.stderr, done
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.zarr"]


@pytest.mark.skipif(os.name != "posix", reason="signals end processes of POSIX")
def test_handlers_of_the_program_are_its_own(tmp_path: Path) -> None:
    # One that goes on, with which the result is whole; afterwards it is still there.
    mine = "def mine(*_):\n    print('mine')\nsignal.signal(signal.SIGTERM, mine)\napply()\n"
    done = ended(tmp_path, "SIGTERM", mine + "assert signal.getsignal(signal.SIGTERM) is mine")
    assert (done.returncode, done.stdout, done.stderr) == (0, "mine\n", "")
    assert np.array_equal(zarr.open_array(tmp_path / "y.zarr")[...], values_of((64, 64)).T)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["x.zarr", "y.zarr"]
    import shutil

    shutil.rmtree(tmp_path / "y.zarr")
    # One that raises: what was begun is removed, and the exception is the program's.
    raises = "def mine(*_):\n    raise RuntimeError('mine')\nsignal.signal(signal.SIGTERM, mine)\n"
    done = ended(tmp_path, "SIGTERM", raises + "try:\n    apply()\nexcept RuntimeError as err:\n    print(err)\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "mine\n", "")
    # One that ignores it, and a thread, in which Python lets nobody handle signals.
    ignores = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\napply()\nprint(signal.getsignal(signal.SIGTERM).name)"
    assert ended(tmp_path, "SIGTERM", ignores).stdout == "SIG_IGN\n"
    shutil.rmtree(tmp_path / "y.zarr")
    thread = "t = threading.Thread(target=apply)\nchunks = 100\nt.start()\nt.join()\nprint('whole')"
    assert ended(tmp_path, "SIGTERM", thread).stdout == "whole\n"
    shutil.rmtree(tmp_path / "y.zarr")
    # Nothing is left installed.
    after = "chunks = 100\napply()\nprint(signal.getsignal(signal.SIGTERM).name)"
    assert ended(tmp_path, "SIGTERM", after).stdout == "SIG_DFL\n"


def test_texts_have_any_name_for_the_array() -> None:
    x = stored(values_of((4, 6)), (3, 4))
    for text in [".permute(1, 0).reshape(8, 3)", "x.permute(1, 0).reshape(8, 3)", "weights.T.contiguous().view(8, 3)"]:
        assert np.array_equal(stz.apply(text, x, zarr.storage.MemoryStore())[...], values_of((4, 6)).T.reshape(8, 3)), text


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
