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
da = pytest.importorskip("dask.array")

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
            task = graph[(y.name, *place)]
            taken = {int(np.ravel_multi_index(key[1:], x.numblocks)) if x.ndim else 0 for key in task.dependencies}
            assert taken == set(np.unique(where[box(y.chunks, place)]).tolist()) - {-1}, (case, shape, steps)


def box(chunks: chunked.Chunks, place: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(sum(sizes[:at]), sum(sizes[: at + 1])) for sizes, at in zip(chunks, place))


def test_no_reshape_is_refused() -> None:
    count = 0
    for before, after in chunked.reshapes():
        values = values_of(before)
        x = da.from_array(values, chunks=chunked.irregular(before))
        for chunks in ("auto", chunked.irregular(after)):
            made = std.reshape(x, *after, chunks=chunks)
            scheduler = "threads" if count % 10 == 0 else "synchronous"
            assert np.array_equal(made.compute(scheduler=scheduler), values.reshape(after)), (before, after, chunks)
        count += 1
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
