"""What is said of arrays and layouts, beside what NumPy and PyTorch say of them, and beside their bytes."""

import json
import random
from typing import Any

import numpy
import pytest
import shapetracker
from numpy.lib.stride_tricks import as_strided
from shapetracker import ShapeTracker, Sym, View, describe


def drawn(rng: random.Random) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """A shape, strides in elements and an offset; often in one of the usual orders."""
    rank = rng.randint(0, 5)
    shape = tuple(rng.choice([1, 1, 2, 3, 4, 0 if rng.random() < 0.2 else 5]) for _ in range(rank))
    order = list(range(rank))
    if rng.random() < 0.3:
        order.reverse()
    elif rng.random() < 0.5 and rank in (4, 5):
        order = [0, *range(2, rank), 1]
    elif rng.random() < 0.3:
        rng.shuffle(order)
    strides = [0] * rank
    step = 1
    for axis in reversed(order):
        strides[axis] = step if rng.random() < 0.9 else rng.randint(0, 6)
        if shape[axis] == 1 and rng.random() < 0.5:
            strides[axis] = rng.randint(0, 40)
        step *= max(shape[axis], 1)
    return shape, tuple(strides), rng.randint(0, 3)


def element(x: Any, index: tuple[int, ...]) -> Any:
    """An element as an array without axes, which lies where the element does."""
    return x[(*index, ...)]


def said(answer: Any, library: str) -> dict[str, Any]:
    found = next(report for report in answer.to_dict()["reported"] if report["library"] == library)
    return dict(found)


def test_numpy_says_the_same_of_its_flags_and_strides() -> None:
    rng = random.Random(1)
    for _ in range(1500):
        shape, strides, offset = drawn(rng)
        dtype = rng.choice(["u1", "f2", "f4", "f8", "c16"])
        width = numpy.dtype(dtype).itemsize
        memory = numpy.zeros(5000, dtype)
        x = as_strided(memory[offset:], shape, tuple(stride * width for stride in strides))
        answer = describe(x)
        reported = said(answer, "NumPy")
        flags = {"flags.c_contiguous": x.flags.c_contiguous, "flags.f_contiguous": x.flags.f_contiguous}
        assert reported["says"] == flags, x.strides
        assert reported["strides"] == x.strides
        addresses = {element(x, index).__array_interface__["data"][0] for index in numpy.ndindex(shape)}
        injective = len(addresses) == x.size
        assert (answer.collision is None) == injective
        if x.size:
            span = (max(addresses) - min(addresses)) // width + 1
            assert answer.holes == span - len(addresses)
            assert answer.dense == (injective and span == x.size)
            assert answer.range == (0, span - 1)
        # The widest vectors begin where the machine's addresses allow it.
        if answer.vector is not None and answer.vector > 1:
            groups = answer.vector * width
            assert all(address // groups * groups + i * width in addresses for address in addresses for i in range(answer.vector))


def test_arrays_share_an_address_where_numpy_finds_one() -> None:
    rng = random.Random(2)
    shared = 0
    for _ in range(600):
        memory = numpy.zeros(400, "u1")
        arrays = []
        for _ in range(2):
            shape, strides, offset = drawn(rng)
            dtype = rng.choice(["u1", "u1", "i2", "i2", "i4"])
            width = numpy.dtype(dtype).itemsize
            reach = sum((size - 1) * stride for size, stride in zip(shape, strides)) if 0 not in shape else 0
            at = offset + rng.randint(0, 12)
            if at + (reach + 1) * width > memory.size:
                shape, strides = (3,), (2,)
            elements = memory[at : at + (memory.size - at) // width * width].view(dtype)
            arrays.append(as_strided(elements, shape, tuple(stride * width for stride in strides)))
        x, y = arrays
        answer = describe(x, y)
        assert (answer.overlap is not None) == numpy.shares_memory(x, y)
        assert answer.to_dict()["overlap"]["kind"] in ("shared", "nothing", "ranges", "residues", "searched")
        if answer.overlap is not None:
            i, j, _ = answer.overlap
            shared += 1
            assert numpy.shares_memory(element(x, i), element(y, j))
    assert 100 < shared < 500


def test_pytorch_says_the_same() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    rng = random.Random(3)
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    for _ in range(1000):
        shape, strides, offset = drawn(rng)
        x = torch.zeros(5000, dtype=torch.float16, device=rng.choice(["cpu", "meta"])).as_strided(shape, strides, offset)
        answer = describe(x)
        reported = said(answer, "PyTorch")
        expected = {"is_contiguous()": x.is_contiguous()}
        if len(shape) in formats:
            name = str(formats[len(shape)])
            expected[f"is_contiguous(memory_format={name})"] = x.is_contiguous(memory_format=formats[len(shape)])
        assert reported["says"] == expected, (shape, strides)
        assert reported["strides"] == x.stride()
    # Of one storage, and of two.
    x = torch.arange(12).reshape(3, 4)
    assert describe(x[:, :2], x[:, 1:]).overlap == ((0, 1), (0, 0), 1)
    assert describe(x, x.clone()).overlap is None
    # The matrices that BLAS takes, as the product says.
    for matrix in (x, x.T, x[:, :3], x[1:, 1:].T):
        form = describe(matrix).to_dict()["matrix"]["forms"][0]
        step = (form["leading"], 1) if form["operation"] == "T" else (1, form["leading"])
        assert torch.equal(matrix, x.as_strided(matrix.shape, step, matrix.storage_offset()))


def test_what_is_asked_about_is_answered() -> None:
    images = numpy.zeros((8, 32, 32, 3), "f2").transpose(0, 3, 1, 2)
    answer = describe(images)
    assert (answer.dense, answer.orders) == (True, ("channels_last",))
    assert answer.formats == (("cuDNN", "NHWC"), ("oneDNN", "acdb"))
    assert json.loads(json.dumps(answer.to_dict()))["no_tensor_map"]["kind"] == "stride"
    assert str(answer).splitlines()[0] == "order      dense, channels_last"
    assert repr(answer) == "<Description: dense, channels_last>"
    assert "channels_last" in answer._repr_html_()
    windows = numpy.lib.stride_tricks.sliding_window_view(numpy.arange(6), 3)
    assert describe(windows).collision == ((0, 1), (1, 0), 1)
    assert describe(View((4, 6), (6, 1)), "(4, 6)[:, 3:]").overlap == ((0, 3), (0, 0), 3)


def test_layouts_are_texts_trackers_views_and_names() -> None:
    for layout in ("(4, 6).T", ShapeTracker.contiguous(4, 6).permute(1, 0), View((6, 4), (1, 6))):
        assert describe(layout, itemsize=2).orders == ("column-major",)
    named = describe(ShapeTracker.contiguous(Sym("B", 2), Sym("T", 2)).permute(1, 0), itemsize=2)
    assert (named.dense, named.orders) == (None, ("column-major",))
    assert named.to_dict()["tensor_map"]["text"] == "T <= 4294967296 and B <= 4294967296 and T % 8 == 0"
    assert describe("(2*N, 4)[:N]", "(2*N, 4)[N:]").to_dict()["overlap"]["kind"] == "apart"
    assert describe("(2*N, 4)", "(2*N, 4)[N:]").overlap is not None
    assert describe("(B, 3, 8, 8)").formats == (("cuDNN", "NCHW"), ("oneDNN", "abcd"))
    assert describe("(B, 4).T").lines[0][1] == "dense, row-major where B == 1, column-major"
    with pytest.raises(shapetracker.ParseError):
        describe("(4, 6).premute(1, 0)")
    with pytest.raises(ValueError, match="1 or more"):
        describe("(4, 6)", itemsize=0)
    with pytest.raises(TypeError):
        describe(3)


def test_claims_are_what_numpy_says_and_what_is_none_is_refused() -> None:
    for x in (numpy.zeros((4, 6)), numpy.zeros((4, 6)).T, numpy.zeros((4, 6))[:, ::2], numpy.zeros((4, 6))[::-1], numpy.zeros((1, 6)).T):
        found = describe(x)
        assert found.holds("contiguous") == x.flags.c_contiguous and found.holds("column-major") == x.flags.f_contiguous
        assert found.holds("injective") is True and found.holds("dense") == (x.base is None or x.size == x.base.size)
    assert describe(numpy.lib.stride_tricks.sliding_window_view(numpy.zeros(9), 3)).holds("injective") is False
    named = describe("(B, T, 64).permute(1, 0, 2)", itemsize=2)
    assert (named.holds("matrix"), named.holds("row-major"), named.holds("tma")) == (True, None, None)
    assert describe("(8, 8)").holds("tma") is None
    with pytest.raises(ValueError, match="`square` is no claim about a layout: those are dense, row-major"):
        named.holds("square")
