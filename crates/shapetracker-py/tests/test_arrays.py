"""Trackers of arrays, and data moved through trackers: NumPy is the oracle."""

from __future__ import annotations

import array
import ctypes
import gc
import random
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import pytest

import shapetracker
from shapetracker import ShapeTracker, Sym, Unmerged, UnevenStep, View, apply, explain_view, memory, of

np = pytest.importorskip("numpy", reason="NumPy is the oracle, and is not installed")

DTYPES = [
    "?", "i1", "u1", "i2", "u2", "<i4", ">i4", "u4", "i8", "u8", "f2", "f4", "f8", ">f8", "g", "c8", "c16",
    "S3", "U2", "V5", "M8[s]", "m8[ns]", [("a", "u1"), ("b", "<f8")], [("a", "i4"), ("b", "f4", (2,))],
]  # fmt: skip


def values(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array whose elements differ, as far as their type has so many values."""
    dtype = np.dtype(dtype)
    numel = int(np.prod(shape))
    raw = np.arange(1, numel + 1)
    if dtype.kind in "SU":
        return np.array([str(number % 100) for number in raw], dtype).reshape(shape)
    if dtype.kind == "V":
        flat = (np.arange(numel * dtype.itemsize) % 60).astype(np.uint8)
        return flat.view(dtype).reshape(shape)
    if dtype.kind in "mM":
        return raw.astype("i8").view(dtype).reshape(shape)
    return raw.astype(dtype).reshape(shape)


def same(result: Any, expected: Any) -> bool:
    """Whether two arrays have the same type, shape and bytes."""
    return result.dtype == expected.dtype and result.shape == expected.shape and result.tobytes() == expected.tobytes()


def strided(rng: random.Random, dtype: Any = "i4", ranks: tuple[int, int] = (0, 4)) -> Any:
    """An array that is a view of another one: sliced, reversed, transposed, broadcast."""
    rank = rng.randint(*ranks)
    steps = [rng.choice([1, 1, 2, -1, -2]) for _ in range(rank)]
    shape = [rng.choice([1, 2, 3, 4]) for _ in range(rank)]
    whole = values(tuple(size * abs(step) for size, step in zip(shape, steps)), dtype)
    view = whole[(..., *(slice(None, None, step) for step in steps))]
    view = view.transpose(rng.sample(range(rank), rank))
    if rank and rng.random() < 0.3:
        axis = rng.randrange(rank)
        one = view[tuple(slice(0, 1) if a == axis else slice(None) for a in range(rank))]
        view = np.broadcast_to(one, view.shape)
    return view


def random_step(rng: random.Random, st: ShapeTracker, x: Any, fill: Any) -> tuple[ShapeTracker, Any]:
    """One movement operation, on a tracker and on an array."""
    rank, shape = x.ndim, x.shape
    op = rng.choice(["permute", "reshape", "pad", "shrink", "flip", "expand", "step", "unsqueeze"])
    if op == "permute":
        axes = rng.sample(range(rank), rank)
        return st.permute(axes), x.transpose(axes)
    if op == "reshape" and x.size:
        left, sizes = x.size, []
        while left > 1:
            size = rng.choice([d for d in range(2, left + 1) if left % d == 0])
            sizes.append(size)
            left //= size
        return st.reshape(sizes), np.ascontiguousarray(x).reshape(sizes)
    if op == "pad" and x.size < 500:
        pads = [(rng.randint(0, 2), rng.randint(0, 1)) for _ in range(rank)]
        padded = np.full([size + a + b for size, (a, b) in zip(shape, pads)], fill, x.dtype)
        padded[tuple(slice(a, a + size) for size, (a, _) in zip(shape, pads))] = x
        return st.pad(pads), padded
    if op == "shrink":
        ranges = [sorted((rng.randint(0, size), rng.randint(0, size))) for size in shape]
        ranges = [(0, size) if begin == end else (begin, end) for (begin, end), size in zip(ranges, shape)]
        return st.shrink(ranges), x[tuple(slice(*r) for r in ranges)]
    if op == "flip" and rank:
        axes = [axis for axis in range(rank) if rng.random() < 0.5]
        return st.flip(*axes) if axes else st, np.flip(x, axes) if axes else x
    if op == "expand" and x.size < 500:
        sizes = [3 if size == 1 else size for size in shape]
        return st.expand(sizes), np.broadcast_to(x, sizes)
    if op == "step" and rank:
        steps = [rng.choice([1, 2, -1, -3]) for _ in shape]
        return st.step(steps), x[tuple(slice(None, None, step) for step in steps)]
    if op == "unsqueeze":
        axis = rng.randint(0, rank)
        return st.unsqueeze(axis), np.expand_dims(x, axis)
    return st, x


def test_the_tracker_of_an_array_has_its_strides_in_elements() -> None:
    x = np.arange(24, dtype="f4").reshape(4, 6)
    assert of(x) == ShapeTracker.contiguous(4, 6)
    assert of(x.T) == ShapeTracker.contiguous(4, 6).permute(1, 0)
    assert of(x[::2, 1::3]).views[0].strides == (12, 3)
    assert of(np.broadcast_to(x[:1], (5, 6))).views[0].strides == (0, 1)
    assert of(np.float32(1.5)) == of(np.zeros(())) == ShapeTracker.contiguous()
    assert of(np.zeros((3, 0, 2))).shape == (3, 0, 2)


def test_addresses_count_from_the_lowest_element_that_is_read() -> None:
    x = np.arange(24).reshape(4, 6)
    assert of(x[::-1]).views[0] == View((4, 6), (-6, 1), 18)
    assert of(x[2:, 3:]).views[0] == View((2, 3), (6, 1), 0)
    assert of(np.arange(5)[::-1]).views[0].offset == 4


def test_apply_of_the_tracker_to_the_memory_is_the_array() -> None:
    rng = random.Random(1)
    for _ in range(500):
        x = strided(rng, rng.choice(["u1", "i4", "c16", "M8[s]", "S3"]))
        flat = memory(x)
        assert flat.ndim == 1 and flat.dtype == x.dtype and np.shares_memory(flat, x)
        assert same(apply(of(x), flat), x) and same(apply(of(x), flat, copy=True), x)


def test_random_chains_are_what_numpy_makes() -> None:
    rng = random.Random(2)
    stacked = 0
    for _ in range(2000):
        x = strided(rng)
        fill = rng.choice([0, -7])
        st, expected = ShapeTracker.contiguous(x.shape), x
        for _ in range(rng.randint(1, 6)):
            st, expected = random_step(rng, st, expected, fill)
        stacked += len(st.views) > 1
        for copy in (None, True):
            result = apply(st, x, fill, copy=copy, threads=rng.choice([1, 1, 1, 2]))
            assert same(result, expected), (st, x.strides, copy)
            if copy:
                assert result.flags.c_contiguous and result.flags.writeable and not np.shares_memory(result, x)
    assert stacked > 100


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_type_keeps_its_bytes(dtype: Any) -> None:
    x = values((4, 6), dtype)
    for given in (x, x.T, x[::-1, ::2]):
        st = ShapeTracker.contiguous(given.shape)
        turned = np.ascontiguousarray(given.T)
        assert same(apply(st.permute(1, 0), given), turned)
        assert same(apply(st.permute(1, 0), given, copy=True), turned)
        assert same(apply(st.permute(1, 0).reshape(given.shape), given), turned.reshape(given.shape))
        padded = np.zeros((given.shape[0] + 1, given.shape[1]), given.dtype)
        padded[1:] = given
        assert same(apply(st.pad((1, 0), (0, 0)), given), padded)


def test_fields_of_a_structured_array_move_though_their_strides_are_no_elements() -> None:
    records = np.zeros((3, 4), [("a", "u1"), ("b", ">f8"), ("c", "i2", (3,))])
    records["b"] = np.arange(12).reshape(3, 4)
    records["c"] = np.arange(36).reshape(3, 4, 3)
    with pytest.raises(ValueError, match="of: a step along axis 0 moves 60 bytes, .* elements of 8 bytes"):
        of(records["b"])
    with pytest.raises(ValueError, match="memory: a step along axis 0 moves 60 bytes"):
        memory(records["b"])
    st = ShapeTracker.contiguous(3, 4).permute(1, 0)
    shared = apply(st, records["b"])
    assert same(shared, records["b"].T) and np.shares_memory(shared, records)
    assert same(apply(st, records["b"], copy=True), records["b"].T)
    for fill in (0, 2.5):
        padded = np.full((4, 4), fill, ">f8")
        padded[:, 1:] = records["b"].T
        assert same(apply(st.pad((0, 0), (1, 0)), records["b"], fill), padded)
    c = apply(ShapeTracker.contiguous(3, 4, 3).permute(2, 1, 0).reshape(4, 9), records["c"])
    assert same(c, records["c"].transpose(2, 1, 0).reshape(4, 9))


def test_a_masked_scalar_stays_masked_whatever_the_strides_are() -> None:
    packed = np.zeros(3, "i1,i8")
    packed["f1"] = [5, 6, 7]
    masked = ShapeTracker.contiguous(3).pad((1, 0))[0]
    assert apply(masked, packed["f1"], -1) == -1 == apply(masked, np.arange(3), -1)
    with pytest.raises(ValueError):
        apply(masked, packed["f1"], copy=False)


def test_what_needs_no_copy_shares_memory_and_keeps_it() -> None:
    x = np.arange(24).reshape(4, 6)
    turned = apply(ShapeTracker.contiguous(4, 6).permute(1, 0).flip(0), x)
    assert np.shares_memory(turned, x) and turned.flags.writeable
    turned[0, 0] = 99
    assert x[0, 5] == 99
    expected = x.T[::-1].copy()
    del x
    gc.collect()
    trash = [np.full((4, 6), 7) for _ in range(100)]
    assert (turned == expected).all() and trash
    flat = memory(np.arange(1000)[::-3])
    gc.collect()
    assert flat[0] == 0 and flat[-1] == 999


def test_what_is_read_only_stays_so_and_shared_elements_are_read_only() -> None:
    x = np.arange(6)
    st = ShapeTracker.contiguous(6)
    assert apply(st.flip(0), x).flags.writeable
    assert not apply(st.reshape(6, 1).expand(6, 3), x).flags.writeable
    assert not apply(st.as_strided((4, 3), (1, 1)), x).flags.writeable
    assert apply(st.as_strided((2, 3), (3, 1)), x).flags.writeable
    assert not apply(st, np.broadcast_to(np.int64(3), 6)).flags.writeable
    x.flags.writeable = False
    assert not apply(st.flip(0), x).flags.writeable and not memory(x).flags.writeable
    assert apply(st.flip(0), x, copy=True).flags.writeable


def test_a_copy_that_is_forbidden_is_refused_with_the_reason() -> None:
    x = np.arange(12).reshape(3, 4)
    st = ShapeTracker.contiguous(3, 4)
    with pytest.raises(Unmerged) as refused:
        apply(st.permute(1, 0).reshape(12), x, copy=False)
    assert isinstance(refused.value.witness, UnevenStep)
    with pytest.raises(ValueError, match="copy=False, but the tracker is masked"):
        apply(st.pad((1, 0), (0, 0)), x, copy=False)
    assert np.shares_memory(apply(ShapeTracker.contiguous(4, 3).permute(1, 0).reshape(12), x.T, copy=False), x)
    # What the array's own layout undoes is no view, either.
    with pytest.raises(Unmerged):
        apply(ShapeTracker.contiguous(12), x.T, copy=False)
    assert apply(st.shrink((0, 0), (0, 4)), x, copy=False).shape == (0, 4)


def test_fill_must_be_a_value_of_the_type() -> None:
    def filled(dtype: Any, fill: Any) -> Any:
        return apply(ShapeTracker.contiguous(2).pad((1, 0)), np.zeros(2, dtype), fill)[0]

    assert filled("f4", 0.1) == np.float32(0.1) and np.isnan(filled("f8", float("nan")))
    assert filled("f4", float("-inf")) == -np.inf and filled("c8", 1 + 2j) == 1 + 2j
    assert filled("i4", 2.0) == 2 and filled("u1", np.int64(255)) == 255 and filled("?", True)
    assert filled("S2", b"ab") == b"ab" and filled("U3", "abc") == "abc"
    assert filled("M8[s]", np.datetime64("2020-01-01")) == np.datetime64("2020-01-01")
    assert np.isnat(filled("M8[s]", np.datetime64("NaT", "s"))) and filled("M8[s]", 0) == np.datetime64(0, "s")
    assert filled([("a", "u1"), ("b", "f4")], (3, 0.1)) == np.array((3, 0.1), [("a", "u1"), ("b", "f4")])
    bad = [
        ("f8", np.datetime64("2020-01-01")), ("u1", 300), ("u1", -1), ("i4", 1.5), ("i4", float("nan")), ("i4", "12"), ("i4", None), ("f4", 1e300),
        ("f4", "1.5"), ("f8", 1j), ("f8", np.complex64(1j)), ("?", 2), ("S2", b"abc"), ("U1", "ab"),
        ("M8[s]", np.datetime64("2020-01-01T00:00:00.5")), ("i4", np.arange(3)), ([("a", "u1"), ("b", "f4")], (1.5, 1)),
    ]  # fmt: skip
    for dtype, fill in bad:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            filled(dtype, fill)


def test_the_memory_beside_objects_is_not_given_out() -> None:
    mixed = np.zeros(3, [("a", "i4"), ("o", "O")])
    with pytest.raises(TypeError, match="objects lie in the memory of the array"):
        memory(mixed["a"])


def test_masked_arrays_are_refused_for_their_mask_would_be_lost() -> None:
    masked = np.ma.masked_array(np.arange(3), mask=[0, 1, 0])
    for ask in [of, memory, lambda array: apply(ShapeTracker.contiguous(3).flip(0), array)]:
        with pytest.raises(TypeError, match="the array's mask is an array of its own"):
            ask(masked)


def test_objects_are_shown_but_not_moved() -> None:
    x = np.array([["a", 1], [None, ()]], object)
    turned = apply(ShapeTracker.contiguous(2, 2).permute(1, 0), x)
    assert turned.dtype == object and np.shares_memory(turned, x)
    assert turned.tolist() == x.T.tolist()
    del x
    gc.collect()
    assert turned[0, 1] is None
    with pytest.raises(TypeError, match="Python objects cannot be moved as bytes"):
        apply(ShapeTracker.contiguous(2, 2).pad((1, 0), (0, 0)), turned)


def test_a_tracker_that_reads_past_the_array_is_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match="the tracker reads element 11, but the array has only 6"):
        apply(ShapeTracker.contiguous(12), np.arange(6))
    with pytest.raises(ValueError, match="the tracker reads element -1"):
        apply(ShapeTracker([View((3,), (1,), -1)]), np.arange(6))
    # What counts is what the tensor reads, not how far its views reach.
    st = ShapeTracker.contiguous(8, 8).permute(1, 0).reshape(64).shrink((0, 12))
    assert len(st.views) == 2 and st.buffer_len() == 57
    for x in (np.arange(57), np.arange(114)[::2], np.arange(57)[::-1]):
        assert apply(st, x).tolist() == [x[st.address(i)] for i in range(12)]
    padded = apply(st.pad((1, 0)), np.arange(114)[::2], -5)
    assert padded.tolist() == [-5, *(2 * st.address(i) for i in range(12))]
    with pytest.raises(ValueError, match="the tracker reads element 56, but the array has only 56"):
        apply(st, np.arange(56))


def test_sizes_past_any_memory_are_refused_with_a_sentence() -> None:
    x = np.zeros(1)
    for huge in (2**47, 2**50, 2**62):
        st = ShapeTracker.contiguous(1).expand(huge)
        if huge < 2**60:
            assert apply(st, x).shape == (huge,)
        with pytest.raises((MemoryError, ValueError)) as refused:
            apply(st.pad((1, 0)), x, copy=True)
        assert str(refused.value)


def test_empty_arrays_and_empty_results() -> None:
    empty = np.zeros((3, 0, 2), "f4")
    st = ShapeTracker.contiguous(3, 0, 2)
    assert of(empty) == st and memory(empty).shape == (0,)
    assert apply(st.permute(2, 0, 1), empty).shape == (2, 3, 0)
    assert (apply(st.pad((0, 0), (1, 1), (0, 0)), empty, 3) == np.full((3, 2, 2), 3)).all()
    assert apply(ShapeTracker.contiguous(5).shrink((2, 2)), np.arange(5)).shape == (0,)
    scalar = np.array(7.5)
    assert apply(of(scalar), scalar) == 7.5 and apply(ShapeTracker.contiguous().expand(), scalar, copy=True) == 7.5


def test_a_view_does_for_a_tracker() -> None:
    assert apply(View((2, 3), (1, 2)), np.arange(6)).tolist() == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(TypeError, match="apply: takes a ShapeTracker and an array, not 3"):
        apply(3, np.arange(6))  # type: ignore[arg-type]


def test_everything_with_a_protocol_is_read() -> None:
    class Interface:
        def __init__(self, x: Any) -> None:
            self.__array_interface__ = x.__array_interface__
            self.kept = x

    class Capsule:
        def __init__(self, x: Any) -> None:
            self.kept = x

        def __dlpack__(self, **kwargs: Any) -> Any:
            return self.kept.__dlpack__(**kwargs)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.kept.__dlpack_device__()

    class OldCapsule(Capsule):
        def __dlpack__(self, stream: Any = None) -> Any:
            return self.kept.__dlpack__()

    x = np.arange(12, dtype="i4").reshape(3, 4)
    exporters = [memoryview(x)[::2], Interface(x.T), Interface(x[:, ::-1]), Capsule(x.T), OldCapsule(x)]
    for given in [x, x.T, x[::-1, ::2], *exporters]:
        plain = given.kept if isinstance(given, Capsule) else np.asarray(given)
        assert of(given) == of(plain)
        assert same(apply(of(given), memory(given)), plain)
        assert same(apply(ShapeTracker.contiguous(plain.shape).reshape(-1).flip(0), given), plain.reshape(-1)[::-1])
    for given in (b"abcd", bytearray(b"abcd"), array.array("B", b"abcd"), (ctypes.c_ubyte * 4)(*b"abcd")):
        assert of(given) == ShapeTracker.contiguous(4)
        assert apply(ShapeTracker.contiguous(4).flip(0), given).tobytes() == b"dcba"
    assert not apply(ShapeTracker.contiguous(4), b"abcd").flags.writeable
    assert apply(ShapeTracker.contiguous(4), bytearray(4)).flags.writeable


class TensorElsewhere:
    """A tensor as PyTorch's interface describes it, on a device that this machine need not have."""

    layout = "torch.strided"

    def __init__(self, x: Any, device: str = "cuda:0") -> None:
        first = x if x.base is None else x.base
        self.shape, self.device = x.shape, device
        self.strides = tuple(stride // x.itemsize for stride in x.strides)
        self.offset = (x.__array_interface__["data"][0] - first.__array_interface__["data"][0]) // x.itemsize

    def stride(self) -> tuple[int, ...]:
        return self.strides

    def storage_offset(self) -> int:
        return self.offset

    def data_ptr(self) -> int:
        raise AssertionError("nobody needs the data")

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("nobody needs the data")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


class OnGpu:
    """An array with the interface that CuPy's and Numba's have."""

    def __init__(self, x: Any) -> None:
        interface = dict(x.__array_interface__)
        self.__cuda_array_interface__ = {**interface, "strides": x.strides, "data": (1 << 40, False), "stream": 1}

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("nobody needs the data")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def of_jax(shape: tuple[int, ...], platforms: list[str], replicated: bool = False, order: Any = None) -> Any:
    """An array with the attributes that those of JAX have."""

    class Record:
        def __init__(self, **fields: Any) -> None:
            self.__dict__.update(fields)

        def __str__(self) -> str:
            return "TPU_0"

        def __dlpack_device__(self) -> tuple[int, int]:
            raise ValueError("INVALID_ARGUMENT: it is not on one device that DLPack knows")

        def __dlpack__(self, **_: Any) -> Any:
            raise ValueError("INVALID_ARGUMENT: it is not on one device that DLPack knows")

    devices = {Record(platform=platform) for platform in platforms}
    sharding = Record(device_set=devices, is_fully_replicated=replicated or len(platforms) == 1)
    made = Record(shape=shape, sharding=sharding, dtype=np.dtype("f4"), is_fully_replicated=sharding.is_fully_replicated)
    if order is not None:
        made.format = Record(layout=Record(major_to_minor=order))
    return made


def test_arrays_on_other_devices_answer_by_their_metadata() -> None:
    base = np.arange(24, dtype="i4").reshape(4, 6)
    for x in [base, base.T, base[1:, :3], base[:, ::2].T, base[2], base[1:2, 3:4], base.reshape(2, 3, 4).transpose(1, 2, 0)]:
        tensor, array = TensorElsewhere(x), OnGpu(x)
        view = of(tensor).views[0]
        # Addresses of a tensor count from its storage, and those of other arrays from the lowest element.
        assert view.offset == tensor.offset and view.strides == of(x).views[0].strides and of(array) == of(x)
        for shape in [(-1,), (x.size, 1), x.shape]:
            assert bool(explain_view(tensor, *shape)) == bool(explain_view(array, *shape)) == bool(explain_view(x, *shape))
            assert explain_view(tensor, *shape).elements == explain_view(array, *shape).elements == explain_view(x, *shape).elements
            # Along axes of size 1 each library reports strides of its own.
            ours, theirs = explain_view(tensor, *shape), explain_view(x, *shape)
            assert (ours.strides is None) == (theirs.strides is None)
            for a, b, size in zip(ours.strides or (), theirs.strides or (), np.empty(x.shape).reshape(shape).shape):
                assert a == b or size == 1
    # Numbers may be negative only where somebody has such strides.
    assert of(OnGpu(base[::-1, ::-2])) == of(base[::-1, ::-2])
    assert "x" in str(explain_view(TensorElsewhere(base.T), 24).recipe)


def test_only_what_moves_data_asks_for_memory_of_the_cpu() -> None:
    x, tracker = np.arange(24, dtype="i4").reshape(4, 6), ShapeTracker.contiguous(4, 6)
    for given, why in [
        (TensorElsewhere(x), r"is on cuda:0, and only data in memory of the CPU are read; x\.cpu\(\) copies it there"),
        (TensorElsewhere(x, "meta"), "is on meta, and has no data there"),
        (OnGpu(x), r"is on a GPU, .*x\.get\(\) of CuPy"),
        (of_jax((4, 6), ["tpu"]), r"is on TPU_0, .*jax\.device_get\(x\)"),
    ]:
        with pytest.raises(TypeError, match=f"^apply: .*{why}.*explain_view"):
            apply(tracker, given)
        assert of(given) == tracker and explain_view(given, 24)


def test_arrays_of_jax_are_row_major_on_each_device_or_are_sent_to_sharding() -> None:
    for given in [of_jax((4, 6), ["tpu"]), of_jax((4, 6), ["gpu"] * 4, replicated=True), of_jax((4, 6), ["cpu"] * 2, replicated=True)]:
        assert of(given) == ShapeTracker.contiguous(4, 6) and explain_view(given, 24)
    assert of(of_jax((4, 6), ["tpu"], order=(1, 0))) == of(np.zeros((4, 6), order="F"))
    assert not explain_view(of_jax((4, 6), ["tpu"], order=(1, 0)), 24)
    spread = of_jax((4, 6), ["cpu"] * 4)
    asks = [of, memory, lambda x: explain_view(x, 24), lambda x: apply(ShapeTracker.contiguous(4, 6), x)]
    for ask in asks:
        with pytest.raises(TypeError, match=r"spread over 4 devices.*shapetracker\.sharding\.explain_view\(x, \.\.\)"):
            ask(spread)

    class OnAMesh(TensorElsewhere):
        """What tensors of PyTorch have that are spread over a mesh."""

        device_mesh, placements = object(), ()

    for ask in asks:
        with pytest.raises(TypeError, match=r"spread over the devices of a mesh.*sharding\.explain_view.*x\.to_local\(\)"):
            ask(OnAMesh(np.zeros((4, 6)), "cpu"))


def test_a_capsule_that_claims_no_shape_is_refused() -> None:
    import ctypes

    class Tensor(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                    ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                    ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
                    ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]  # fmt: skip

    lying = Tensor(None, (1, 0), 2, 0, 32, 1, None, None, 0, None, None)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

    class Exporter:
        def __dlpack__(self, **_: Any) -> Any:
            return new(ctypes.addressof(lying), b"dltensor", None)

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    for ask in [of, memory, lambda array: apply(ShapeTracker.contiguous(3), array)]:
        with pytest.raises(ValueError, match="the array claims no shape"):
            ask(Exporter())


def test_what_is_no_array_is_refused_with_what_would_work() -> None:
    class Elsewhere:
        def __dlpack__(self, **kwargs: Any) -> Any:
            raise AssertionError("it is not asked")

        def __dlpack_device__(self) -> tuple[int, int]:
            return 2, 0

    class Liar:
        __array_interface__: dict[str, Any] = {"version": 3, "shape": (2,), "typestr": "<f", "data": (1, True)}

    for given in ([1, 2], 3, "text", None, object(), Elsewhere()):
        for function in (of, memory, lambda x: apply(ShapeTracker.contiguous(2), x)):
            with pytest.raises(TypeError, match="of|memory|apply"):
                function(given)
    with pytest.raises(ValueError, match="__array_interface__ is not as NumPy describes it"):
        of(Liar())
    released = memoryview(b"abc")
    released.release()
    with pytest.raises(ValueError, match="released"):
        of(released)
    with pytest.raises(ValueError, match="no bytes"):
        of(np.zeros(3, "V0"))
    with pytest.raises(ValueError, match="no bytes"):
        apply(ShapeTracker.contiguous(3), np.zeros(3, "V0"))


def test_wrong_numbers_of_threads_are_refused() -> None:
    st, x = ShapeTracker.contiguous(6).pad((1, 1)), np.arange(6)
    assert same(apply(st, x, threads=0), np.pad(x, 1)) and same(apply(st, x, threads=3), np.pad(x, 1))
    for threads in (-1, 10**6):
        with pytest.raises(ValueError, match="threads"):
            apply(st, x, threads=threads)
    with pytest.raises(TypeError, match="`threads` is to be a whole number"):
        apply(st, x, threads=1.5)  # type: ignore[arg-type]


def test_the_result_does_not_depend_on_the_number_of_threads() -> None:
    x = np.arange(300 * 500, dtype="f4").reshape(300, 500)
    st = ShapeTracker.contiguous(300, 500).permute(1, 0).reshape(300, 500).pad((3, 4), (5, 6))
    expected = np.pad(x.T.reshape(300, 500), ((3, 4), (5, 6)))
    for threads in (1, 2, 3, 0):
        assert same(apply(st, x, threads=threads), expected)


@pytest.mark.parametrize("dtype", ["f4", "u1", "V3", "c16"])
def test_the_result_does_not_depend_on_tuning(dtype: str) -> None:
    width = np.dtype(dtype).itemsize
    rows, columns = 1301, 9 * 2**20 // width // 1301 + 1
    whole = np.frombuffer(random.Random(1).randbytes(2 * rows * columns * width), "u1").view(f"V{width}")
    whole = whole.reshape(rows, 2 * columns)
    for x in (np.ascontiguousarray(whole[:, :columns]), whole[:, ::2], whole[::-1, columns:]):
        fill = np.frombuffer(bytes(range(1, width + 1)), x.dtype)[0] if dtype == "V3" else 0 if dtype == "c16" else 1
        x = x.view(dtype)
        for text in (".permute(1, 0)", ".permute(1, 0).pad((1, 2), (3, 0))", ".flip(0)"):
            for threads in (1, 2):
                plain = apply(text, x, fill, copy=True, threads=threads)
                assert plain.nbytes > 8 << 20
                for _ in range(2):
                    tuned = apply(text, x, fill, copy=True, threads=threads, tuned=True)
                    assert tuned.dtype == plain.dtype and tuned.shape == plain.shape
                    assert np.array_equal(tuned.view("u1"), plain.view("u1")), (text, x.strides)


def test_what_is_not_tuned() -> None:
    x = np.arange(6.0).reshape(2, 3)
    # Few elements, a view, and two passes: the strides are no whole elements, and the fill is not one byte repeated.
    assert same(apply(".permute(1, 0)", x, copy=True, tuned=True), x.T)
    assert np.shares_memory(apply(".permute(1, 0)", x, tuned=True), x)
    part = np.zeros(300_000, [("a", "u1"), ("b", "<f8"), ("c", "V20")])
    part["b"] = np.arange(300_000)
    for _ in range(2):
        made = apply(ShapeTracker.contiguous(300_000).pad((1, 900_000)), part["b"], 0.5, tuned=True)
        assert made.nbytes > 8 << 20 and same(made, np.pad(part["b"], (1, 900_000), constant_values=0.5))
    # More layouts than are kept.
    for size in range(1, 300):
        assert same(apply(".flip(0)", np.arange(size), copy=True, tuned=True), np.arange(size)[::-1])
    for size in range(5_000, 5_280):
        x = np.arange(size)
        assert same(apply(".flip(0)", x, copy=True, tuned=True), x[::-1])
    with pytest.raises(ValueError, match="tuned=True measures whole copies, and `progress` follows one in parts"):
        apply(".permute(1, 0)", x[:6].reshape(2, 3), copy=True, tuned=True, progress=lambda done, total: None)


def test_other_threads_of_python_go_on_while_data_moves() -> None:
    x = np.zeros((4096, 4096), "f4")
    st = ShapeTracker.contiguous(4096, 4096).permute(1, 0)
    seen, done = [0], threading.Event()

    def watch() -> None:
        while not done.is_set():
            time.sleep(0.0005)
            seen[0] += 1

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    begin, moves = time.perf_counter(), 0
    while time.perf_counter() - begin < 0.5 or moves < 3:
        apply(st, x, copy=True)
        moves += 1
    done.set()
    watcher.join(60)
    assert not watcher.is_alive()
    # If the interpreter were held, the watcher would wake up once or twice a move.
    assert seen[0] > 4 * moves, (seen, moves)


def test_eight_threads_move_at_once() -> None:
    rng = random.Random(3)
    chains = []
    for _ in range(40):
        x = strided(rng, "i4", (1, 4))
        st, expected = ShapeTracker.contiguous(x.shape), x
        for _ in range(4):
            st, expected = random_step(rng, st, expected, 5)
        chains.append((st, x, np.ascontiguousarray(expected)))
    faults: list[Any] = []

    def work(seed: int) -> None:
        mine = random.Random(seed)
        for _ in range(300):
            st, x, expected = mine.choice(chains)
            if not same(apply(st, x, 5, threads=mine.choice([1, 2])), expected.reshape(st.shape)):
                faults.append(st)

    workers = [threading.Thread(target=work, args=(seed,), daemon=True) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(600)
    assert not any(worker.is_alive() for worker in workers)
    assert not faults


def test_a_forked_process_starts_threads_of_its_own() -> None:
    script = """
        import os, sys, warnings
        import numpy as np
        from shapetracker import ShapeTracker, apply
        warnings.simplefilter("ignore")
        x = np.arange(250_000.0).reshape(500, 500)
        st = ShapeTracker.contiguous(500, 500).permute(1, 0)
        assert (apply(st, x, copy=True, threads=2) == x.T).all()
        child = os.fork()
        if child == 0:
            os._exit(0 if (apply(st, x, copy=True, threads=2) == x.T).all() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert (apply(st, x, copy=True, threads=2) == x.T).all()
    """
    if not hasattr(sys.modules["os"], "fork"):
        pytest.skip("this system has no fork")
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


def test_without_numpy_there_are_memoryviews() -> None:
    script = """
        import sys
        sys.modules["numpy"] = None
        from shapetracker import ShapeTracker, Unmerged, apply, explain_view, memory, of

        x = memoryview(bytearray(range(24))).cast("H", (3, 4))
        st = of(x)
        assert st == ShapeTracker.contiguous(3, 4)
        turned = apply(st.permute(1, 0), x)
        assert turned.format == "H" and turned.shape == (4, 3)
        assert turned.tolist() == [[x[j, i] for j in range(3)] for i in range(4)]
        padded = apply(st.pad((0, 0), (1, 0)), x, 7)
        assert padded.tolist() == [[7, *row] for row in x.tolist()]
        shared = apply(st.shrink((1, 3), (0, 4)), x, copy=False)
        assert shared.tolist() == x.tolist()[1:]
        shared[0, 0] = 9
        assert x[1, 0] == 9
        assert apply(st.shrink((1, 3), (0, 4)), x.toreadonly(), copy=False).readonly
        flat = memory(x)
        assert flat.shape == (12,) and flat.format == "H"
        assert apply(of(x), flat).tolist() == x.tolist()
        assert apply(ShapeTracker.contiguous(4).flip(0), b"abcd").tobytes() == b"dcba"
        assert apply(ShapeTracker.contiguous(4).shrink((2, 2)), b"abcd").shape == (0,)
        for wrong in (lambda: apply(st.permute(1, 0), x, copy=False), lambda: apply(st.pad((1, 0), (0, 0)), x, 70000),
                      lambda: apply(st.pad((1, 0), (0, 0)), x, 1.5),
                      lambda: apply(st.permute(1, 0).reshape(12), x, copy=False)):
            try:
                wrong()
            except ValueError:
                pass
            else:
                raise AssertionError("it is not refused")
        for wrong in (lambda: apply(st, [1]), lambda: memory(x[::2]), lambda: apply(st, "text")):
            try:
                wrong()
            except TypeError:
                pass
            else:
                raise AssertionError("it is not refused")
        try:
            apply(ShapeTracker.contiguous(1).expand(2**50), b"a", copy=True)
        except MemoryError:
            pass
        assert explain_view(x, 12) and "numpy" not in [name for name in sys.modules if sys.modules[name]]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=60)


def test_a_text_or_a_function_stands_for_a_tracker() -> None:
    x = np.arange(6).reshape(2, 3)
    for layout in (".T.pad((1, 0), (0, 0))", "x.T.pad((1, 0), (0, 0))", lambda t: t.T.pad((1, 0), (0, 0))):
        assert shapetracker.apply(layout, x, -1).tolist() == [[-1, -1], [0, 3], [1, 4], [2, 5]]
    assert shapetracker.apply(".T", x).base is not None and not shapetracker.apply(".T", x, copy=True).base is x
    with pytest.raises(TypeError, match="apply: takes a ShapeTracker, the text of a chain"):
        shapetracker.apply(lambda t: 3, x)
    with pytest.raises(ValueError, match="axis 2"):
        shapetracker.apply(".flip(2)", x)
    with pytest.raises(ValueError, match="reads element 24, but the array of shape .2, 3. has only 6"):
        shapetracker.apply("(5, 5)", x)


def test_names_of_sizes_have_values() -> None:
    x = np.arange(24).reshape(4, 6)
    n, m = Sym("n"), Sym("m")
    turned = ShapeTracker.contiguous(n, m).permute(1, 0).reshape(m * n)
    for layout in (turned, lambda _: turned, "x.T.reshape(n * m)", "(n, m).permute(1, 0).reshape(n * m)"):
        assert np.array_equal(apply(layout, x, sizes={"n": 4, "m": np.int64(6)}), x.T.reshape(-1))
    with pytest.raises(ValueError, match="the name m has no value"):
        apply(turned, x, sizes={"n": 4})
    with pytest.raises(TypeError):
        apply(turned, x, sizes={"n": 4, "m": "6"})
