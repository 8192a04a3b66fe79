"""`shapetracker.dask` beside NumPy on whole arrays."""

import importlib
import math
import pickle
import random
import subprocess
import sys
from functools import reduce
from typing import Any

import numpy as np
import pytest

import chunked
import oracle
from shapetracker import ParseError, ShapeTracker, Sym, View

dask = pytest.importorskip("dask")
pytest.importorskip("dask.callbacks")
da = pytest.importorskip("dask.array")
DataNode = pytest.importorskip("dask.task_spec").DataNode

import shapetracker.dask as std  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def tracker_of(shape: tuple[int, ...], steps: list[tuple[str, Any]]) -> ShapeTracker:
    return reduce(lambda made, step: getattr(made, step[0])(step[1]), steps, ShapeTracker.contiguous(shape))


def values_of(shape: tuple[int, ...], dtype: Any = "i4") -> np.ndarray:
    return (np.arange(math.prod(shape)) + 1).astype(dtype).reshape(shape)


def test_random_chains_over_random_chunks() -> None:
    rng = random.Random(18)
    for case in range(oracle.cases(2000)):
        shape, steps, addresses = chunked.random_chain(rng)
        values = values_of(shape, rng.choice(["i4", "f8", "u1", "c16"]))
        x = da.from_array(values, chunks=chunked.random_chunks(rng, shape))
        chunks = rng.choice(["auto", "100 B", chunked.random_chunks(rng, addresses.shape)])
        fill = rng.choice([0, 0, 7])
        y = std.apply(tracker_of(shape, steps), x, chunks, fill)
        expected = chunked.gathered(values, addresses, fill)
        assert (y.shape, y.dtype) == (expected.shape, expected.dtype), case
        # Starting threads for so few elements takes longer than all the rest; every tenth case has them.
        scheduler = "threads" if case % 10 == 0 else "synchronous"
        result = y.compute(scheduler=scheduler)
        assert result.dtype == values.dtype and np.array_equal(result, expected), (case, shape, steps, x.chunks, y.chunks)
        for place in rng.sample(list(np.ndindex(y.numblocks)), min(2, math.prod(y.numblocks))):
            block = y.blocks[place].compute(scheduler=scheduler)
            assert block.shape == tuple(sizes[at] for sizes, at in zip(y.chunks, place))


def test_touches_are_exact() -> None:
    rng = random.Random(19)
    for case in range(oracle.cases(200)):
        shape, steps, addresses = chunked.random_chain(rng)
        x = da.from_array(values_of(shape), chunks=chunked.random_chunks(rng, shape))
        y = std.apply(tracker_of(shape, steps), x, chunked.random_chunks(rng, addresses.shape))
        # Which chunk each element of the array lies in, as one number.
        number = np.empty(shape, int)
        for at, place in enumerate(np.ndindex(x.numblocks)):
            number[box(x.chunks, place)] = at
        where = np.append(number.reshape(-1), -1)[np.where(addresses == oracle.MASKED, number.size, addresses)]
        graph = y.__dask_graph__()
        for place in np.ndindex(y.numblocks):
            keys = sources(graph, x, (y.name, *place))
            taken = {int(np.ravel_multi_index(key[1:], x.numblocks)) if x.ndim else 0 for key in keys}
            assert taken == set(np.unique(where[box(y.chunks, place)]).tolist()) - {-1}, (case, shape, steps)


def sources(graph: Any, x: Any, key: Any) -> list[Any]:
    """The chunks of an array that a task takes, itself or by tasks that cut pieces out of them: no chunk twice."""
    taken = []
    for given in graph[key].dependencies:
        taken += [given] if given[0] == x.name else sources(graph, x, given)
    assert len(set(taken)) == len(taken)
    return taken


class Held(dask.callbacks.Callback):
    """Runs an array's tasks, and keeps the bytes of what each of them returned."""

    def __init__(self, y: Any) -> None:
        super().__init__(start=self.begin, posttask=self.keep)
        self.bytes: dict[Any, int] = {}
        self.graph: dict[Any, Any] = {}
        with self:
            # Not put together: that is one task, which holds all.
            y.persist(scheduler="synchronous")

    def begin(self, graph: Any) -> None:
        self.graph = dict(graph)
        # What is there from the beginning is no task that runs.
        self.bytes = {key: task().nbytes for key, task in self.graph.items() if isinstance(task, DataNode)}

    def keep(self, key: Any, result: Any, *_: Any) -> None:
        self.bytes[key] = result.nbytes

    def of(self, key: Any) -> int:
        """The bytes that a task has in memory: what it is given, and what it makes."""
        return sum(self.bytes.get(given, 0) for given in (key, *self.graph[key].dependencies))

    def most(self) -> int:
        return max(map(self.of, self.graph))


def largest_chunk(x: Any) -> int:
    return x.dtype.itemsize * math.prod(max(sizes, default=0) for sizes in x.chunks)


def predicted(x: Any, y: Any, addresses: np.ndarray) -> dict[Any, int]:
    """The bytes that each task of a graph holds, from nothing but which element of the array each element of the result is."""
    number = np.empty(x.shape, int)
    for at, place in enumerate(np.ndindex(x.numblocks)):
        number[box(x.chunks, place)] = at
    where = np.append(number.reshape(-1), -1)[np.where(addresses == oracle.MASKED, number.size, addresses)]
    width, graph, held = x.dtype.itemsize, y.__dask_graph__(), {}
    chunk = {(x.name, *place): width * number[box(x.chunks, place)].size for place in np.ndindex(x.numblocks)}
    at = {(x.name, *place): at for at, place in enumerate(np.ndindex(x.numblocks))}
    for place in np.ndindex(y.numblocks):
        key = (y.name, *place)
        here = where[box(y.chunks, place)]
        held[key] = width * here.size
        for given in graph[key].dependencies:
            if given[0] == x.name:
                held[key] += chunk[given]
            else:
                (source,) = graph[given].dependencies
                piece = width * int((here == at[source]).sum())
                assert piece < chunk[source]
                held[key] += piece
                held[given] = chunk[source] + piece
    return held


def test_no_task_holds_more_than_three_chunks_or_a_tenth() -> None:
    rng = random.Random(36)
    cut = 0
    for case in range(oracle.cases(300)):
        shape, steps, addresses = chunked.random_chain(rng)
        x = da.from_array(values_of(shape), chunks=chunked.random_chunks(rng, shape))
        chunks = rng.choice(["auto", "100 B", chunked.random_chunks(rng, addresses.shape)])
        tracker = tracker_of(shape, steps)
        y, plan = std.apply(tracker, x, chunks), std.plan(tracker, x, chunks)
        held = predicted(x, y, addresses)
        most = max(3 * max(largest_chunk(x), largest_chunk(y)), x.nbytes // 10)
        assert max(held.values()) <= most, (case, shape, steps, x.chunks, y.chunks)
        assert max(held.values()) == plan.largest_bytes and len(held) == plan.tasks + plan.cuts
        cut += plan.cuts
        for key in held:
            if key[0] == y.name and any(given[0] != x.name for given in y.__dask_graph__()[key].dependencies):
                own = 4 * math.prod(sizes[at] for sizes, at in zip(y.chunks, key[1:]))
                assert held[key] <= 2 * own
        if case % 5 == 0:
            # What ran, after dask has fused what it fuses, is what was predicted.
            ran = Held(y)
            assert all(ran.of(key) <= most for key in ran.graph)
            for key in held:
                if key in ran.graph and all(given in ran.graph for given in y.__dask_graph__()[key].dependencies):
                    assert ran.of(key) == held[key], key
    assert cut


@pytest.mark.parametrize(
    "shape, chunks, after",
    [
        # Bands of a raster as a table of pixels, in the chunks that dask chooses at a ten-thousandth of its size.
        ((88, 121, 4), "auto", (-1, 4)),
        ((12, 81, 192), "auto", (12, -1)),
        ((25, 103, 88), "auto", (25, -1)),
        ((203, 307), "auto", (-1,)),
        ((400, 400), "auto", (-1,)),
        ((30, 18, 4, 1848), (30, 18, 1, 18), (30, 18, -1)),
        ((96, 64), (3, 64), (64, 96)),
    ],
)
def test_tasks_of_reshapes_hold_little(shape: tuple[int, ...], chunks: Any, after: tuple[int, ...]) -> None:
    with dask.config.set({"array.chunk-size": "12.8 kB"}):
        x = da.from_array(values_of(shape, "f8"), chunks=chunks)
        y = std.reshape(x, *after)
        plan = std.plan(lambda x: x.reshape(*after), x)
        ran = Held(y)
        assert ran.most() <= plan.largest_bytes <= 3 * largest_chunk(y)
        assert np.array_equal(y.compute(), values_of(shape, "f8").reshape(after))
        if chunks == "auto":
            # Without cut pieces tasks took 14 to 20 whole chunks and held 195 to 297 kB; dask's own hold about two chunks.
            assert ran.most() < 131_000
            theirs = Held(x.reshape(after)).most()
            assert 20_000 < theirs < 27_000
            small = std.reshape(x, *after, memory=theirs + 1600)
            assert Held(small).most() <= theirs + 1600
            assert np.array_equal(small.compute(), values_of(shape, "f8").reshape(after))


def test_memory_of_a_task() -> None:
    values = values_of((60, 84), "f8")
    x = da.from_array(values, chunks=(10, 12))
    chain = ".permute(1, 0).reshape(72, 70)"
    expected = values.T.reshape(72, 70)
    for memory in (1000, 1200, "1.5 kB", 3e3, "10 kB", "1 MiB"):
        y, plan = std.apply(chain, x, memory=memory), std.plan(chain, x, memory=memory)
        number = {"1.5 kB": 1500, "10 kB": 10_000, "1 MiB": 2**20}.get(str(memory), memory)
        assert Held(y).most() <= plan.largest_bytes <= number, memory
        assert np.array_equal(y.compute(), expected)
    # With much memory nothing is cut; with less the same chunks are made of pieces.
    assert std.plan(chain, x, chunks=(9, 7), memory="1 MiB").cuts == 0
    little = std.plan(chain, x, chunks=(9, 7), memory=1500)
    assert little.cuts and "that cut pieces out of input chunks" in str(little) and "input chunks or pieces" in str(little)
    assert np.array_equal(std.reshape(x, 84, 60, chunks=7, memory=1500).compute(), values.reshape(84, 60))
    with pytest.raises(ValueError, match=r"would hold \d+ bytes, but memory=900; the largest chunk of the array has 960 already"):
        std.apply(chain, x, memory=900)
    with pytest.raises(ValueError, match=r"would hold \d+ bytes, but memory=2000; smaller `chunks` would do"):
        std.apply(chain, x, chunks=-1, memory=2000)
    with pytest.raises(ValueError, match="`memory` is to be a number of bytes"):
        std.apply(chain, x, memory="much")


def same(x: ShapeTracker) -> ShapeTracker:
    return x


def test_chunks_are_given_in_any_of_the_ways_of_dask() -> None:
    values = values_of((60, 40))
    x = da.from_array(values, chunks=(10, 8))
    whole, auto = ((60,), (40,)), std.apply(same, x).chunks
    assert auto == ((10,) * 6, (8,) * 5)
    for chunks, expected in {
        -1: whole,
        (-1, -1): whole,
        25: ((25, 25, 10), (25, 15)),
        (25, 15): ((25, 25, 10), (15, 15, 10)),
        ((1, 59), -1): ((1, 59), (40,)),
        ((0, 60, 0), (40, 0)): ((0, 60, 0), (40, 0)),
        None: auto,
        "auto": auto,
        (None, "auto"): auto,
        "320 B": auto,
    }.items():
        for given in [chunks, list(chunks)] if isinstance(chunks, tuple) else [chunks]:
            y = std.apply(same, x, given)
            assert y.chunks == expected, given
            assert np.array_equal(y.compute(), values)
    for chunks, fixed in [
        ({0: -1}, {0: (60,)}),
        ({-1: 40}, {1: (40,)}),
        ({1: (1, 39), 0: "auto"}, {1: (1, 39)}),
        ((-1, "auto"), {0: (60,)}),
    ]:
        y = std.apply(same, x, chunks)
        assert all(y.chunks[axis] == sizes for axis, sizes in fixed.items())
        assert largest_chunk(y) <= 4 * largest_chunk(x) and np.array_equal(y.compute(), values)
    assert max(std.apply(same, x, {0: -1}).chunks[1]) <= 4
    assert std.apply(same, x, ("1 kB", -1)).chunks[1] == (40,)
    one = da.from_array(np.arange(10), chunks=4)
    assert std.apply(same, one, (3, 7)).chunks == ((3, 7),) and std.apply(same, one, {0: 5}).chunks == ((5, 5),)
    assert std.reshape(one[:1], chunks=-1).chunks == ()


@pytest.mark.parametrize(
    "chunks, why",
    [
        ((1, 2, 3), "one entry for each of 2 axes, not 3"),
        ({2: 5}, "there is no axis 2"),
        ({"x": 5}, "there is no axis 'x'"),
        ((0, 5), "the size along axis 0 is to be a number from 1 on, or -1 for the whole axis, not 0"),
        ((5, -2), "along axis 1 is to be a number from 1 on"),
        ((2.5, 5), "not 2.5"),
        (True, "not True"),
        (((30, 31), 5), r"the chunks \(30, 31\) along axis 0 do not add up to its size, 60"),
        (((30, "30"), 5), "the sizes along axis 0 are to be numbers from 0 on"),
    ],
)
def test_chunks_that_do_not_cut_the_shape(chunks: Any, why: str) -> None:
    with pytest.raises(ValueError, match=rf"do not cut shape \(60, 40\): .*{why}"):
        std.apply(same, da.zeros((60, 40), chunks=10), chunks)


def test_the_inside_of_windows_is_whole() -> None:
    values = np.arange(400.0 * 12).reshape(400, 12)
    x = da.from_array(values, chunks=(40, 6))
    y = std.apply("sliding_window_view(x, 20, axis=0)", x)
    assert y.shape == (381, 12, 20) and y.numblocks[2] == 1 and largest_chunk(y) <= 4 * largest_chunk(x)
    expected = np.lib.stride_tricks.sliding_window_view(values, 20, axis=0)
    assert np.array_equal(y.mean(-1).compute(), expected.mean(-1))
    # Windows over many chunks of one row each: in pieces they would be 50 times as many tasks.
    plan = std.plan("sliding_window_view(x, 50, axis=0)", da.zeros((841, 90, 180), chunks=(1, 90, 180)))
    assert (plan.tasks, plan.cuts, plan.chunks[3]) == (792, 0, (50,))
    # With chunks as the array has them, but for the axis of the windows.
    assert std.apply("x.unfold(0, 20, 1)", x, {2: -1}).numblocks[2] == 1


def test_names_have_values() -> None:
    values = values_of((4, 6))
    x = da.from_array(values, chunks=3)
    n, m = Sym("n"), Sym("m")
    turned = ShapeTracker.contiguous(n, m).permute(1, 0).reshape(m * n)
    assert np.array_equal(std.apply(turned, x, sizes={"n": 4, "m": 6}).compute(), values.T.reshape(-1))
    assert np.array_equal(std.apply("x.T.reshape(2*n, m // 2)", x, sizes={"n": 4, "m": 6}).compute(), values.T.reshape(8, 3))
    assert np.array_equal(std.apply(lambda _: turned, x, sizes={"n": 4, "m": np.int64(6)}).compute(), values.T.reshape(-1))
    assert std.plan(turned, x, sizes={"n": 4, "m": 6}).shape == (24,)
    with pytest.raises(ValueError, match="the name m has no value"):
        std.apply(turned, x, sizes={"n": 4})
    with pytest.raises(ValueError, match="reads element 29, but the array of shape"):
        std.apply(turned, x, sizes={"n": 5, "m": 6})


def test_progress_bars_of_dask_follow(capsys: pytest.CaptureFixture[str]) -> None:
    from dask.diagnostics import ProgressBar

    x = da.from_array(values_of((40, 60)), chunks=(7, 9))
    with ProgressBar():
        std.apply(".permute(1, 0).reshape(80, 30)", x).compute()
    assert "[########################################] | 100% Completed" in capsys.readouterr().out


def box(chunks: chunked.Chunks, place: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(sum(sizes[:at]), sum(sizes[: at + 1])) for sizes, at in zip(chunks, place))


def test_no_reshape_is_refused() -> None:
    count = 0
    for before, after in chunked.reshapes():
        count += 1
        if not oracle.is_held(count):
            continue
        values = values_of(before)
        x = da.from_array(values, chunks=chunked.irregular(before))
        for chunks in ("auto", chunked.irregular(after)):
            made = std.reshape(x, *after, chunks=chunks)
            scheduler = "threads" if count % 10 == 0 else "synchronous"
            assert np.array_equal(made.compute(scheduler=scheduler), values.reshape(after)), (before, after, chunks)
    assert count == 1322


def test_a_tracker_is_given_in_any_form() -> None:
    values = values_of((4, 6))
    x = da.from_array(values, chunks=(3, 4))
    expected = values.T.reshape(8, 3)
    for layout in (
        ShapeTracker.contiguous(4, 6).permute(1, 0).reshape(8, 3),
        "(4, 6).permute(1, 0).reshape(8, 3)",
        ".permute(1, 0).reshape(8, 3)",
        lambda x: x.permute(1, 0).reshape(8, 3),
    ):
        assert np.array_equal(std.apply(layout, x).compute(), expected)
    assert np.array_equal(std.apply(View((3, 2), (1, 3), 5), x).compute(), values.reshape(-1)[5 + np.arange(3)[:, None] + [0, 3]])
    assert np.array_equal(std.reshape(x, -1, 3).compute(), std.reshape(x, (8, 3), chunks=(3, 2)).compute())


def test_windows_overlap_and_pads_are_constant() -> None:
    x = da.from_array(values_of((8,)), chunks=3)
    window = std.apply(lambda x: x.pad((1, 1)).as_strided((8, 3), (1, 1)), x, chunks=(4, 3))
    assert np.array_equal(window.compute(), np.lib.stride_tricks.sliding_window_view(np.pad(values_of((8,)), 1), 3))
    padded = std.apply(lambda x: x.pad((0, 8)), x, chunks=4, fill=-1)
    assert padded.compute().tolist() == [*range(1, 9), *[-1] * 8]
    tasks = padded.__dask_graph__().layers[padded.name]
    assert [len(task.dependencies) for task in tasks.values()] == [2, 2, 0, 0]


@pytest.mark.parametrize(
    "values, fill",
    [
        (np.arange(6).astype("M8[s]"), np.datetime64("2026-11-22", "s")),
        (np.arange(6).astype(">i2"), 258),
        (np.array([(n, n / 2) for n in range(6)], [("a", "i4"), ("b", "f8")]), (3, 1.5)),
        (np.array(list("abcdef")), "?"),
        (np.arange(6) % 2 == 0, True),
        (np.arange(6).astype("f4"), float("inf")),
    ],
    ids=["date", "byte order", "structure", "text", "bool", "infinity"],
)
def test_elements_of_any_type(values: np.ndarray, fill: Any) -> None:
    y = std.apply(lambda x: x.reshape(2, 3).permute(1, 0).pad((0, 1), (0, 0)), da.from_array(values, chunks=4), fill=fill)
    expected = chunked.gathered(values, np.array([[0, 3], [1, 4], [2, 5], [-1, -1]]), fill)
    result = y.compute()
    assert result.dtype == values.dtype and np.array_equal(result, expected)


def test_chunks_in_any_memory_order() -> None:
    values = values_of((6, 8))
    x = da.from_array(np.asfortranarray(values), chunks=(3, 4))[::-1, ::2].T
    y = std.reshape(x, 8, 3)
    assert np.array_equal(y.compute(), values[::-1, ::2].T.reshape(8, 3))


def test_arrays_of_no_axes_and_of_no_elements() -> None:
    scalar = da.from_array(np.array(5), chunks=())
    assert std.reshape(scalar, 1, 1).compute().tolist() == [[5]]
    assert std.reshape(da.ones(1, chunks=1)).compute() == 1
    empty = da.ones((0, 3), chunks=(1, 2))
    assert std.reshape(empty, 3, 0, 2).compute().shape == (3, 0, 2)
    assert std.apply(lambda x: x.pad((1, 1), (0, 0)), empty, fill=2).compute().tolist() == [[2, 2, 2], [2, 2, 2]]
    uneven = da.from_array(values_of((6,)), chunks=6).rechunk(((0, 4, 0, 2, 0),))
    assert uneven.chunks == ((0, 4, 0, 2, 0),)
    assert std.reshape(uneven, 3, 2, chunks=((0, 1, 2), (2, 0))).compute().tolist() == [[1, 2], [3, 4], [5, 6]]


def test_names_follow_from_what_is_asked() -> None:
    x = da.from_array(values_of((4, 6)), chunks=3)
    turned = [std.apply(".permute(1, 0)", x), std.apply(lambda x: x.permute(1, 0), x)]
    assert turned[0].name == turned[1].name
    others = [std.apply(".permute(1, 0)", x, chunks=(2, 2)), std.apply(".permute(1, 0)", x + 1), std.apply(".flip(0)", x)]
    assert len({made.name for made in [turned[0], *others]}) == 4


def test_tasks_are_small_and_know_only_what_they_need() -> None:
    x = da.ones((1024, 1024), chunks=(128, 128))
    y = std.apply(lambda x: x.permute(1, 0).reshape(512, 2048), x)
    tasks = y.__dask_graph__().layers[y.name]
    assert max(len(pickle.dumps(task)) for task in tasks.values()) < 4000
    needed = dask.optimize(y[0, 0])[0].__dask_graph__()
    assert 0 < len(needed) < 40


def test_the_plan_says_what_the_graph_has() -> None:
    x = da.ones((64, 48), chunks=(16, 16), dtype="f4")
    layout = ShapeTracker.contiguous(64, 48).permute(1, 0).pad((16, 0), (0, 0))
    plan, y = std.plan(layout, x, chunks=(16, 32)), std.apply(layout, x, chunks=(16, 32))
    tasks = list(y.__dask_graph__().layers[y.name].values())
    assert (plan.tasks, plan.constant) == (len(tasks), sum(not task.dependencies for task in tasks)) == (8, 2)
    assert plan.reads == sum(len(task.dependencies) for task in tasks) == plan.lower_bound == 12
    assert (plan.bytes_read, plan.bytes_written) == (64 * 48 * 4, 64 * 64 * 4)
    assert (plan.largest_task, plan.largest_bytes, plan.chunks) == (2, 2 * 2 * 16 * 16 * 4, y.chunks)
    assert str(plan).splitlines() == [
        "result: float32 of shape (64, 64), 16.0 KiB",
        "reads: 12 input chunks, 12.0 KiB; lower bound 12",
        "tasks: 8, one an output chunk, 2 of them constant",
        "largest task: 2 input chunks, 4.0 KiB with its output",
    ]


def test_xarray_as_it_is() -> None:
    xarray = pytest.importorskip("xarray")
    values = values_of((4, 6, 5))
    given = xarray.DataArray(da.from_array(values, chunks=(2, 4, 5)), dims=("time", "y", "x"))
    made = xarray.DataArray(std.apply(lambda x: x.permute(1, 2, 0).reshape(15, 8), given.data), dims=("a", "b"))
    assert np.array_equal(made.mean("a").values, values.transpose(1, 2, 0).reshape(15, 8).mean(0))


def test_xarray_with_names_and_attributes() -> None:
    xarray = pytest.importorskip("xarray")
    values = values_of((4, 6, 5))
    given = xarray.DataArray(
        da.from_array(values, chunks=(2, 4, 5)),
        dims=("time", "y", "x"),
        coords={"time": np.arange(4), "y": np.arange(6)},
        name="rain",
        attrs={"units": "mm"},
    )
    made = xarray.apply_ufunc(
        lambda data: std.reshape(data, 4, 30),
        given,
        input_core_dims=[["time", "y", "x"]],
        output_core_dims=[["time", "pixel"]],
        dask="allowed",
        keep_attrs=True,
    )
    assert made.dims == ("time", "pixel") and made.name == "rain" and made.attrs == {"units": "mm"} and "time" in made.coords
    assert isinstance(made.data, da.Array) and np.array_equal(made.values, values.reshape(4, 30))
    # Whatever axes there are besides, and in whichever order: those that are named come last.
    rows = xarray.apply_ufunc(
        lambda data: std.reshape(data, *data.shape[:-2], 30),
        given.transpose("y", "time", "x"),
        input_core_dims=[["y", "x"]],
        output_core_dims=[["pixel"]],
        dask="allowed",
    )
    assert rows.dims == ("time", "pixel") and np.array_equal(rows.values, values.reshape(4, 30))
    piped = given.pipe(lambda array: xarray.DataArray(std.reshape(array.data, 2, 60), dims=("half", "rest")))
    assert np.array_equal(piped.values, values.reshape(2, 60))


def test_other_schedulers() -> None:
    values = values_of((20, 30))
    y = std.apply(lambda x: x.permute(1, 0).reshape(25, 24), da.from_array(values, chunks=(6, 7)))
    for scheduler in ("threads", "processes"):
        assert np.array_equal(y.compute(scheduler=scheduler), values.T.reshape(25, 24))


def test_where_arrays_are_expressions() -> None:
    program = """
import dask
dask.config.set({"array.query-planning": True, "scheduler": "synchronous"})
import dask.array as da, numpy as np, shapetracker.dask
x = da.from_array(np.arange(24).reshape(4, 6), chunks=3) + 1
y = shapetracker.dask.apply(".permute(1, 0).reshape(8, 3)", x) * 2
assert (y.compute() == (np.arange(24).reshape(4, 6) + 1).T.reshape(8, 3) * 2).all()
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name, install", [("dask", "dask[array]"), ("zarr", "zarr>=3.1")])
def test_without_the_library_what_to_install_is_said(name: str, install: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, f"shapetracker.{name}", raising=False)
    for module in [module for module in sys.modules if module.split(".")[0] == name]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError) as raised:
        importlib.import_module(f"shapetracker.{name}")
    assert install in str(raised.value)


def unknown() -> Any:
    x = da.from_array(values_of((6,)), chunks=3)
    return x[x > 2]


@pytest.mark.parametrize(
    "kind, sentence, call",
    [
        (ValueError, "axis 0 have unknown sizes", lambda x: std.reshape(unknown(), -1)),
        (ValueError, "5", lambda x: std.apply(".reshape(8, 3)", x, chunks=((5, 4), (3,)))),
        (ValueError, "does not? cut|do not cut", lambda x: std.apply(".reshape(8, 3)", x, chunks=(1, 2, 3))),
        (ValueError, "reads element 24, but the array of shape .4, 6. has only 24", lambda x: std.apply("(5, 5)", x)),
        (ValueError, "reads element -1", lambda x: std.apply(View((2,), (1,), -1), x)),
        (ValueError, "reshape", lambda x: std.reshape(x, 5, 5)),
        (ValueError, "fill: 300 .int. is no value", lambda x: std.apply(".flip(0)", x.astype("u1"), fill=300)),
        (ParseError, "turn", lambda x: std.apply(".turn(0)", x)),
        (ValueError, "'64 MiB'", lambda x: std.apply(".flip(0)", x, chunks="much")),
        (TypeError, "here sizes have names: say values, as `.at.n=1.` does", lambda x: std.apply(ShapeTracker.contiguous(Sym("n")), x)),
        (TypeError, "from_array makes one", lambda x: std.apply(".flip(0)", x.compute())),
        (TypeError, "Python objects", lambda x: std.apply(".flip(0)", x.astype(object))),
        (TypeError, "NumPy arrays", lambda x: std.apply(".flip(0)", da.ma.masked_equal(x, 3))),
    ],
)
def test_what_goes_wrong_is_said(kind: type[Exception], sentence: str, call: Any) -> None:
    with pytest.raises(kind, match=sentence):
        call(da.from_array(values_of((4, 6)), chunks=3))


def test_chunks_that_are_not_as_the_array_says() -> None:
    x = da.from_array(values_of((4, 6)), chunks=3)
    for lie, sentence in (
        (x.map_blocks(lambda block: block[:1], dtype=x.dtype, chunks=x.chunks), "is to have the shape"),
        (x.map_blocks(lambda block: block.astype("f4"), dtype=x.dtype), "elements of type float32"),
    ):
        with pytest.raises(ValueError, match=sentence):
            std.reshape(lie, 24).compute()


def test_texts_have_any_name_or_none_for_the_array() -> None:
    values = values_of((4, 6))
    x = da.from_array(values, chunks=(3, 4))
    texts = {
        ".transpose(0, 1).reshape(8, 3)": values.T.reshape(8, 3),
        "x.transpose(0, 1).reshape(8, 3)": values.T.reshape(8, 3),
        "x.transpose(1, 0)": values.T,
        "y.reshape(8, 3)": values.reshape(8, 3),
        "activations.T.contiguous().view(-1)": values.T.reshape(-1),
        "q[1:, ::2]": values[1:, ::2],
        "reshape(2, -1)": values.reshape(2, -1),
        "np.transpose(x, (1, 0)).reshape(3, 8)": values.T.reshape(3, 8),
        "rearrange(x, 'a (b c) -> c (a b)', c=2)": values.reshape(4, 3, 2).transpose(2, 0, 1).reshape(2, 12),
        "B = 8; x.view(B, 3)": values.reshape(8, 3),
        "x.view(x.shape[1], -1)": values.reshape(6, 4),
        "(24,).reshape(3, 8)": values.reshape(3, 8),
    }
    for text, expected in texts.items():
        assert np.array_equal(std.apply(text, x).compute(), expected), text
        assert std.plan(text, x).shape == expected.shape
    for text, message in [
        ("y.view(B, 3)", "found `B`, and nothing says which number that is: write the number in its place"),
        ("y.premute(1, 0)", "did you mean `permute`"),
        ("y.reshape(5, 5)", "reshape: shape .4, 6. has 24 elements, but shape .5, 5. needs 25"),
    ]:
        with pytest.raises(ParseError, match=message):
            std.apply(text, x)
