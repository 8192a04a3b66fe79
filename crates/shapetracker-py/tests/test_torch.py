"""Tensors of PyTorch, where it is installed: trackers, moved data, and `view`'s own answer as the oracle."""

from __future__ import annotations

import gc
import random
from typing import Any

import pytest

from shapetracker import ShapeTracker, Unmerged, apply, explain_view, memory, of

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

DTYPES = ["bool", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"]


def strided(rng: random.Random, numel: int) -> Any:
    """A random tensor of any strides that PyTorch has, with a storage offset."""
    shape: list[int] = []
    left = numel
    while left > 1:
        shape.append(rng.choice([d for d in range(2, left + 1) if left % d == 0]))
        left //= shape[-1]
    rank = len(shape)
    x = torch.arange(400)[rng.randint(0, 9) :]
    x = x[: numel * 2 : 2] if rng.random() < 0.3 else x[:numel]
    x = x.view(shape)
    for _ in range(rng.randint(0, 2)):
        kind = rng.choice(["permute", "expand", "windows"])
        if kind == "permute":
            x = x.permute(rng.sample(range(rank), rank))
        elif kind == "expand" and rank:
            axis = rng.randrange(rank)
            x = x.narrow(axis, 0, 1).expand(x.shape)
        elif kind == "windows":
            x = torch.arange(400).as_strided(x.shape, [rng.randint(0, 3) for _ in range(rank)], rng.randint(0, 5))
    return x


def shape_of(rng: random.Random, numel: int) -> list[int]:
    shape: list[int] = []
    while numel > 1 or rng.random() < 0.2:
        shape.append(rng.choice([d for d in range(1, numel + 1) if numel % d == 0]))
        numel //= shape[-1]
    return shape


def test_addresses_count_from_the_start_of_the_storage() -> None:
    x = torch.arange(24).view(4, 6)
    assert of(x[1:, 2:].t()) == ShapeTracker.contiguous(4, 6)[1:, 2:].permute(1, 0)
    assert of(x[2]).views[0].offset == 12
    assert memory(x[2]).shape == (24,)
    rng = random.Random(1)
    for _ in range(300):
        x = strided(rng, rng.choice([4, 6, 12, 24]))
        assert of(x).views[0].offset == x.storage_offset()
        assert torch.equal(apply(of(x), memory(x)), x)
        assert torch.equal(apply(of(x), memory(x), copy=True), x)


@pytest.mark.parametrize("name", DTYPES)
def test_every_type_is_moved(name: str) -> None:
    dtype = getattr(torch, name)
    x = torch.arange(24).view(4, 6).to(dtype)
    for given in (x, x.t(), x[1:, ::2]):
        st = ShapeTracker.contiguous(given.shape)
        shared = apply(st.permute(1, 0), given)
        assert shared.dtype == dtype and torch.equal(shared, given.t()) and shared.data_ptr() == given.data_ptr()
        copied = apply(st.permute(1, 0).reshape(given.shape), given, threads=2)
        assert copied.dtype == dtype and torch.equal(copied, given.t().reshape(given.shape))
        padded = torch.nn.functional.pad(given, (0, 0, 1, 0), value=1)
        assert torch.equal(apply(st.pad((1, 0), (0, 0)), given, 1), padded)


def test_negative_strides_need_a_copy() -> None:
    x = torch.arange(6)
    flipped = ShapeTracker.contiguous(6).flip(0)
    assert torch.equal(apply(flipped, x), x.flip(0))
    with pytest.raises(ValueError, match="copy=False, but PyTorch has no negative strides"):
        apply(flipped, x, copy=False)
    with pytest.raises(Unmerged):
        apply(ShapeTracker.contiguous(2, 3).permute(1, 0).reshape(6), x.view(2, 3), copy=False)


def test_the_result_keeps_the_storage() -> None:
    x = torch.arange(24).view(4, 6)
    turned = apply(of(x).permute(1, 0), memory(x))
    expected = x.t().clone()
    del x
    gc.collect()
    assert torch.equal(turned, expected)


def test_fill_must_be_a_value_of_the_type() -> None:
    st = ShapeTracker.contiguous(2).pad((1, 0))
    assert apply(st, torch.zeros(2, dtype=torch.bfloat16), 0.1)[0] == torch.tensor(0.1, dtype=torch.bfloat16)
    assert apply(st, torch.zeros(2), float("nan"))[0].isnan()
    bad = [(torch.uint8, 300), (torch.int32, 1.5), (torch.bool, 2), (torch.int64, "1"), (torch.float32, 1j)]
    for dtype, fill in bad:
        with pytest.raises((ValueError, TypeError, OverflowError)):
            apply(st, torch.zeros(2, dtype=dtype), fill)


def test_lazy_conjugates_and_negatives_are_moved_as_what_they_are() -> None:
    x = torch.tensor([1 + 2j, 3 - 4j, 5j])
    for given in (x.conj(), x.conj().imag, x.conj()[1:]):
        st = ShapeTracker.contiguous(given.shape)
        assert torch.equal(apply(st, given), given)
        assert torch.equal(apply(st.flip(0), given), given.flip(0))
        assert torch.equal(apply(st.pad((1, 0)), given), torch.cat([torch.zeros(1, dtype=given.dtype), given]))


def test_gradients_go_through_views_and_are_not_lost_in_copies() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    st = ShapeTracker.contiguous(2, 3).permute(1, 0)
    apply(st, x).sum().backward()
    assert torch.equal(x.grad, torch.ones(2, 3))
    with pytest.raises(TypeError, match=r"x\.detach\(\)"):
        apply(st.pad((1, 0), (0, 0)), x)
    assert apply(st.pad((1, 0), (0, 0)), x.detach()).shape == (4, 2)
    with torch.no_grad():
        assert apply(st.pad((1, 0), (0, 0)), x).shape == (4, 2)


def test_what_has_no_strides_or_is_elsewhere_is_refused_with_what_would_work() -> None:
    sparse = torch.eye(3).to_sparse()
    resized = torch.arange(10)
    resized.untyped_storage().resize_(0)
    for function in (of, memory, lambda x: apply(ShapeTracker.contiguous(3), x), lambda x: explain_view(x, 3)):
        with pytest.raises(TypeError, match=r"x\.to_dense\(\)"):
            function(sparse)
        with pytest.raises(TypeError, match="does not lie inside its storage"):
            function(resized)
    with pytest.raises(MemoryError):
        apply(ShapeTracker.contiguous(1).expand(2**50), torch.zeros(1), copy=True)
    with pytest.raises(ValueError, match="the tracker reads element 11, but the array has only 6"):
        apply(ShapeTracker.contiguous(12), torch.zeros(6))


def test_tensors_on_any_device_answer_by_their_metadata() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    meta = torch.empty(4, 6, device="meta")[1:, :3]
    with FakeTensorMode():
        on_cpu, on_gpu = torch.empty(4, 6)[1:, :3], torch.empty(4, 6, device="cuda")[1:, :3]
    real = torch.empty(4, 6)[1:, :3]
    for x in (meta, on_cpu, on_gpu):
        assert of(x) == of(real) == ShapeTracker.contiguous(4, 6)[1:, :3]
        assert str(explain_view(x, 9)) == str(explain_view(real, 9)) and not explain_view(x, 9)
        assert explain_view(x.t(), 3, 1, 3).strides == explain_view(real.t(), 3, 1, 3).strides
        assert explain_view(x, 9).recipe == explain_view(real, 9).recipe is not None
        # The whole storage as a tensor of its own kind, without any data.
        assert memory(x).shape == (24,) and type(memory(x)) is type(x) and memory(x).device == x.device
    # Only what moves data says that it needs some.
    identity = ShapeTracker.contiguous(3, 3)
    for x, why in [
        (meta, r"is on meta, and has no data there that x\.cpu\(\) could copy"),
        (on_gpu, r"is on cuda:0, and only data in memory of the CPU are read; x\.cpu\(\) copies it there"),
        (on_cpu, "has no data, as those that PyTorch traces with"),
    ]:
        for tracker in (identity, identity.pad((1, 0), (0, 0))):
            with pytest.raises(TypeError, match=f"^apply: .*{why}.*explain_view"):
                apply(tracker, x)


def test_any_strides_are_those_of_the_tensor_without_data() -> None:
    rng = random.Random(5)
    for _ in range(300):
        x = strided(rng, rng.choice([4, 6, 12, 24]))
        bare = torch.empty(400, device="meta").as_strided(x.shape, x.stride(), x.storage_offset())
        to = shape_of(rng, x.numel())
        assert of(bare) == of(x) and str(explain_view(bare, to)) == str(explain_view(x, to))


def test_empty_tensors_and_scalars() -> None:
    empty = torch.zeros(3, 0)
    assert of(empty) == ShapeTracker.contiguous(3, 0) and memory(empty).shape == (0,)
    assert apply(ShapeTracker.contiguous(3, 0).pad((0, 0), (1, 1)), empty, 2).tolist() == [[2, 2]] * 3
    scalar = torch.tensor(7.5)
    assert apply(of(scalar), scalar).item() == 7.5


def test_the_answer_is_that_of_view_and_the_recipe_works() -> None:
    rng = random.Random(2)
    seen = {"yes": 0, "no": 0, "less than all": 0}
    for _ in range(3000):
        x = strided(rng, rng.choice([4, 6, 8, 12, 24, 36]))
        to = shape_of(rng, x.numel())
        answer = explain_view(x, to)
        try:
            theirs = x.view(to)
        except RuntimeError:
            seen["no"] += 1
            assert not answer, (x.shape, x.stride(), to)
            assert answer.recipe is not None
            result = eval(answer.recipe)
            assert torch.equal(result, x.reshape(to)), answer
            copied = result.untyped_storage().nbytes() // 8
            assert answer.copied_view is not None
            if min(answer.copied_view.strides, default=0) < 0:
                # PyTorch has no negative strides, and has to copy more.
                assert answer.elements < copied <= x.numel(), answer
            else:
                assert copied == answer.elements, answer
            seen["less than all"] += answer.elements < x.numel()
        else:
            seen["yes"] += 1
            assert answer, (x.shape, x.stride(), to)
            assert answer.view is not None and answer.view.offset == theirs.storage_offset()
            assert all(a == b for a, b, size in zip(answer.view.strides, theirs.stride(), to) if size > 1)
            assert answer.recipe is not None and torch.equal(eval(answer.recipe), theirs)
    assert seen["yes"] > 500 and seen["no"] > 500 and seen["less than all"] > 30, seen
