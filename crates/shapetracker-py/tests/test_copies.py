"""Texts and functions that copy: data moved through them are what NumPy and PyTorch make of the same array."""

import pickle
import random
from typing import Any

import numpy as np
import pytest

import oracle
from shapetracker import ShapeTracker, Sym, apply

X = np.arange(6).reshape(3, 2)

# Texts, and what becomes of x.
COPIES = [
    (".T.copy()", X.T),
    (".T.contiguous().reshape(3, 2)", X.T.reshape(3, 2)),
    (".copy().T", X.T),
    (".T.repeat_interleave(2, 1)", np.repeat(X.T, 2, axis=1)),
    (".T.contiguous().flip(0).copy().reshape(-1)", X.T[::-1].reshape(-1)),
    (".T.pad((0, 1), (1, 0)).copy().T", np.pad(X.T, [(0, 1), (1, 0)]).T),
]


def over(shape: tuple[int, ...], text: str) -> str:
    """The text with a shape in front."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''}){text}"


@pytest.mark.parametrize("text, expected", COPIES)
def test_a_text_with_copies_reads_the_array(text: str, expected: np.ndarray) -> None:
    tracker = ShapeTracker.parse(over(X.shape, text))
    assert np.array_equal(apply(tracker, X), expected)
    addresses = [0 if address is None else X.reshape(-1)[address] for address in tracker.addresses()]
    assert addresses == expected.reshape(-1).tolist()
    assert np.array_equal(gathered(tracker, X), expected)


@pytest.mark.parametrize("text, expected", COPIES)
def test_dask_reads_the_array(text: str, expected: np.ndarray) -> None:
    da = pytest.importorskip("dask.array")
    import shapetracker.dask as std

    x = da.from_array(X, chunks=(2, 1))
    for given in (text, over(X.shape, text)):
        assert np.array_equal(std.apply(given, x).compute(scheduler="synchronous"), expected)


@pytest.mark.parametrize("text, expected", COPIES)
def test_zarr_reads_the_array(text: str, expected: np.ndarray) -> None:
    zarr = pytest.importorskip("zarr")
    import shapetracker.zarr as stz

    x = zarr.create_array(zarr.storage.MemoryStore(), shape=X.shape, dtype=X.dtype, chunks=(2, 1))
    x[...] = X
    assert np.array_equal(stz.apply(text, x, zarr.storage.MemoryStore())[...], expected)


def test_contiguous_of_a_tracker_is_the_operation_of_arrays() -> None:
    turned = ShapeTracker.contiguous(3, 2).permute(1, 0)
    assert turned.contiguous() == turned
    assert np.array_equal(apply(turned.contiguous().reshape(6), X), X.T.reshape(6))
    names = ShapeTracker.contiguous(Sym("n"), 2).permute(1, 0)
    assert names.contiguous() == names and ShapeTracker.contiguous(Sym("n"), 2).contiguous().shape == (Sym("n"), 2)
    # Of the class it makes a tracker, as ever, also where it was looked up before.
    make = ShapeTracker.contiguous
    assert make(3, 2) == make((3, 2)) == ShapeTracker.parse("(3, 2)") and make().shape == ()
    assert pickle.loads(pickle.dumps(make))(2).shape == (2,)
    assert pickle.loads(pickle.dumps(turned.contiguous))() == turned
    with pytest.raises(TypeError, match=r"takes nothing; ShapeTracker.contiguous\(2, 3\) makes a tracker from a shape"):
        turned.contiguous(2, 3)  # type: ignore[call-arg]


def test_dask_does_what_a_function_of_arrays_does() -> None:
    da = pytest.importorskip("dask.array")
    import shapetracker.dask as std

    x = da.from_array(X, chunks=(2, 1))

    def turned(t: ShapeTracker) -> ShapeTracker:
        return t.permute(1, 0).contiguous()

    assert np.array_equal(std.apply(turned, x).compute(scheduler="synchronous"), X.T)
    assert std.plan(turned, x) == std.plan(lambda t: t.permute(1, 0), x)


def gathered(tracker: ShapeTracker, x: np.ndarray) -> np.ndarray:
    """What the kernel in Python reads of the elements of an array in their order."""
    names: dict[str, Any] = {}
    exec(tracker.index_expr().kernel("python"), names)
    result = names["gather"](x.reshape(-1))
    assert isinstance(result, np.ndarray)
    return result


def step(rng: random.Random, x: np.ndarray, dialect: str) -> tuple[str, np.ndarray]:
    """An operation as it is written in a dialect, and the array after it."""
    rank = x.ndim
    axis = rng.randrange(rank) if rank else 0
    kinds = ["permute", "reshape", "slice", "copy", "copy"] + (["flip", "pad", "contiguous"] if dialect == "ours" else ["repeat"])
    kind = rng.choice(kinds)
    if kind == "permute":
        axes = rng.sample(range(rank), rank)
        name = "permute" if dialect == "ours" else "transpose"
        return (f".{name}({', '.join(map(str, axes))})" if rank else ".T"), x.transpose(axes)
    if kind == "reshape":
        shape = oracle.random_shape(rng, x.size) if x.size else x.shape
        return f".reshape({', '.join(map(str, shape))})" if shape else ".reshape(())", x.reshape(shape)
    if kind == "slice" and rank:
        part = rng.choice(["::-1", "1:", "::2", ":-1"])
        text = ", ".join([":"] * axis + [part])
        return f"[{text}]", eval(f"x[{text}]", {"x": x})
    if kind == "flip" and rank:
        return f".flip({axis})", np.flip(x, axis)
    if kind == "pad" and rank:
        pads = [(rng.randrange(2), rng.randrange(2)) for _ in range(rank)]
        return f".pad({', '.join(map(str, pads))})", np.pad(x, pads)
    if kind == "repeat" and rank and x.size < 300:
        return f".repeat(2, axis={axis})", np.repeat(x, 2, axis=axis)
    if kind == "contiguous" and rank and x.size < 300 and rng.random() < 0.5:
        return f".repeat_interleave(2, {axis})", np.repeat(x, 2, axis=axis)
    return (".contiguous()" if kind == "contiguous" else ".copy()"), x.copy()


@pytest.mark.parametrize("dialect", ["ours", "numpy"])
def test_random_texts_with_copies_do_what_numpy_does(dialect: str) -> None:
    rng = random.Random(30)
    copied = 0
    for case in range(oracle.cases(400)):
        shape = oracle.random_shape(rng, rng.choice([1, 6, 12, 24, 30]))
        # Elements that are not their own addresses, and none of which is the fill value.
        x = np.array(rng.sample(range(1, 1000), int(np.prod(shape)))).reshape(shape)
        text, expected = "", x
        for _ in range(rng.randrange(1, 8)):
            written, expected = step(rng, expected, dialect)
            text += written
        if dialect == "numpy":
            around = rng.choice(["{}", "np.ascontiguousarray({})", "np.repeat({}, 3)", "np.tile({}, 2)"])
            start = f"np.arange({x.size}).reshape({', '.join(map(str, shape)) or '()'})"
            text = around.format(start + text)
            # NumPy reads the very text; the elements of `arange` are places in x.
            expected = x.reshape(-1)[eval(text, {"np": np})]
        else:
            text = over(shape, text)
        copied += "cop" in text or "repeat" in text
        tracker = ShapeTracker.parse(text)
        assert np.array_equal(apply(tracker, x), expected), (case, text)
        if case % 4 == 0:
            assert np.array_equal(gathered(tracker, x), expected), (case, text)
    assert copied > oracle.cases(400) // 2
