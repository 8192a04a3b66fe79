"""Nothing that is handed out reads outside of its array: code is run over guarded memory, and what would leave it is refused."""

import random
from typing import Any

import pytest

import shapetracker
from shapetracker import ShapeTracker, View, advice, apply, explain_view

np = pytest.importorskip("numpy", reason="NumPy says what lies where, and is not installed")

BEFORE = ["(3, 4):(-5, 1)", "(3, 4):(5, 1) offset -7", "(3, 4):(4, 1) offset -1", "(5):(1) offset -3"]


def byte_bounds(x: Any) -> tuple[int, int]:
    """The first byte of an array and the one after its last."""
    bounds = getattr(np.lib, "array_utils", np).byte_bounds(x)
    return int(bounds[0]), int(bounds[1])


def owner(x: Any) -> Any:
    """The array whose memory an array has."""
    while getattr(x, "base", None) is not None:
        x = x.base
    return x


def run(code: str, **names: Any) -> Any:
    """The value of the last line of code, in which every `as_strided` stays inside of its memory."""
    strided = np.lib.stride_tricks.as_strided

    def inside(x: Any, shape: Any, strides: Any) -> Any:
        found = strided(x, shape, strides)
        (low, high), (first, last) = byte_bounds(found), byte_bounds(owner(x))
        assert found.size == 0 or first <= low <= high <= last, code
        return found

    names["np"] = np
    *before, final = code.splitlines()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(np.lib.stride_tricks, "as_strided", inside)
        exec("\n".join(before), names)
        return eval(final, names)


def view_by_hand(rng: random.Random) -> View:
    """Strides of any sign, and an offset near the one with which the lowest address is 0."""
    shape = [rng.randint(1, 4) for _ in range(rng.randint(0, 3))]
    strides = [rng.randint(-6, 6) for _ in shape]
    low = sum(min(0, (size - 1) * stride) for size, stride in zip(shape, strides))
    return View(shape, strides, rng.randint(-3, 5) - low)


def addresses(view: View) -> list[int]:
    return [view.address(*index) or 0 for index in np.ndindex(*view.shape)]


def test_advice_for_views_by_hand_stays_inside_of_the_array() -> None:
    rng = random.Random(30)
    told = ran = 0
    for _ in range(1500):
        view = view_by_hand(rng)
        low, high = view.address_range() or (0, -1)
        found = advice(str(ShapeTracker([view])))
        libraries = [found.numpy, found.pytorch]
        codes = [library.code for library in libraries if library.code is not None]
        if low < 0:
            assert codes == [], (view, codes)
            before = f"from address {low} on, {-low} before the beginning of the array"
            assert all(before in library.sentence for library in libraries), view
            told += 1
            continue
        if found.numpy.code is not None:
            x = np.arange(high + 1)
            assert run(found.numpy.code, x=x).ravel().tolist() == addresses(view), view
            ran += 1
    assert told > 300 and ran > 700, (told, ran)


def test_recipes_stay_inside_of_the_array() -> None:
    rng = random.Random(31)
    ran = 0
    for _ in range(1500):
        view = view_by_hand(rng)
        low, high = view.address_range() or (0, -1)
        to = rng.choice([(view.numel,), (1, view.numel), (view.numel, 1), (2, -1) if view.numel % 2 == 0 else (-1,)])
        if low < 0:
            told = str(explain_view(view, to))
            assert f"reads from address {low} on, {-low} before the beginning of the array" in told
            assert "x." not in told and "as_strided" not in told
            continue
        memory = np.arange(high + 1 + rng.randint(0, 2))
        x = np.lib.stride_tricks.as_strided(memory[view.offset :], view.shape, [8 * stride for stride in view.strides])
        answer = explain_view(x, to)
        assert answer.recipe is not None
        assert run(answer.recipe, x=x).ravel().tolist() == addresses(view), view
        ran += 1
    assert ran > 700, ran


@pytest.mark.parametrize("text", BEFORE)
def test_found_by_a_review_nothing_is_read_before_an_array(text: str) -> None:
    tracker = ShapeTracker.parse(text)
    low, _ = tracker.address_range() or (0, 0)
    x = np.arange(100)
    with pytest.raises(ValueError, match=f"reads element {low}, but the array has only 100"):
        apply(tracker, x)
    for language in ["python", "c", "cuda", "opencl", "metal", "wgsl", "rust"]:
        with pytest.raises(ValueError, match=f"would read from address {low} on, {-low} before the beginning of"):
            tracker.index_expr().kernel(language)
    # Layouts are decided as any other.
    assert tracker.index_expr().address(*[0] * tracker.ndim) == tracker.address(*[0] * tracker.ndim)


@pytest.mark.parametrize("text", BEFORE)
@pytest.mark.parametrize("library", ["dask", "zarr"])
def test_arrays_in_chunks_are_not_read_before_their_beginning(text: str, library: str) -> None:
    module = pytest.importorskip(f"shapetracker.{library}", reason=f"{library} is not installed")
    whole = np.arange(100)
    if library == "dask":
        array = pytest.importorskip("dask.array").from_array(whole, chunks=7)
        with pytest.raises(ValueError, match="-"):
            module.apply(ShapeTracker.parse(text), array)
    else:
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(store={}, shape=whole.shape, chunks=(7,), dtype=whole.dtype)
        with pytest.raises(ValueError, match="-"):
            module.apply(ShapeTracker.parse(text), array, {})


def test_contiguous_means_what_it_means_to_numpy() -> None:
    rng = random.Random(32)
    seen = {True: 0, False: 0}
    for _ in range(2000):
        x = np.arange(60).reshape(rng.choice([(60,), (5, 12), (3, 4, 5), (1, 60), (5, 1, 12)]))
        for _ in range(rng.randint(0, 2)):
            axis = rng.randrange(x.ndim)
            begin, end = sorted(rng.sample(range(x.shape[axis] + 1), 2))
            x = x[(slice(None),) * axis + (slice(begin, end),)]
            x = x.transpose(rng.sample(range(x.ndim), x.ndim)) if rng.random() < 0.2 else x
        contiguous = bool(x.flags.c_contiguous)
        first = (x.__array_interface__["data"][0] - owner(x).__array_interface__["data"][0]) // 8
        tracker = ShapeTracker([View(x.shape, [stride // 8 for stride in x.strides], first)])
        assert tracker.is_contiguous() is contiguous
        assert tracker.is_identity() is (contiguous and (first == 0 or x.size == 0))
        seen[contiguous and first > 0] += 1
    assert seen[True] > 100, seen
    assert ShapeTracker.contiguous(5, 4)[2:].is_contiguous() and not ShapeTracker.contiguous(5, 4)[2:].is_identity()


def test_strides_of_axes_of_one_element_are_those_of_numpy() -> None:
    rng = random.Random(33)
    differs = 0
    for _ in range(3000):
        shape = [rng.choice([1, 1, 2, 3, 4]) for _ in range(rng.randint(0, 4))]
        x = np.zeros([size + rng.choice([0, 0, 1]) for size in shape], np.int64)[(*map(slice, shape), ...)]
        x = x.transpose(rng.sample(range(x.ndim), x.ndim))
        if x.ndim and rng.random() < 0.3:
            x = x[(slice(None),) * rng.randrange(x.ndim) + (slice(None, None, rng.choice([-1, 2])),)]
        sizes = [size for size in x.shape if size > 1]
        if rng.random() < 0.3:
            sizes = [x.size]
        for _ in range(rng.randint(0, 2)):
            sizes.insert(rng.randint(0, len(sizes)), 1)
        answer = explain_view(x, tuple(sizes))
        text = str(answer)
        given = tuple(stride // 8 for stride in x.strides)
        assert f"with strides {given} " in text or f"with strides {given} and offset" in text, (text, given)
        if answer.possible:
            theirs = tuple(stride // 8 for stride in x.reshape(sizes).strides)
            assert answer.strides == theirs, (x.shape, x.strides, sizes, answer.strides, theirs)
            assert answer.view is not None
            differs += answer.strides != answer.view.strides
    assert differs > 500, differs


def test_strides_of_axes_of_one_element_are_those_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    rng = random.Random(34)
    for _ in range(2000):
        shape = [rng.choice([1, 1, 2, 3, 4]) for _ in range(rng.randint(0, 4))]
        x = torch.zeros([size + rng.choice([0, 0, 1]) for size in shape])[tuple(slice(size) for size in shape)]
        x = x.permute(rng.sample(range(x.ndim), x.ndim))
        sizes = [size for size in x.shape if size > 1]
        if rng.random() < 0.3:
            sizes = [x.numel()]
        for _ in range(rng.randint(0, 2)):
            sizes.insert(rng.randint(0, len(sizes)), 1)
        answer = explain_view(x, tuple(sizes))
        assert f"with strides {tuple(x.stride())}" in str(answer)
        if answer.possible:
            assert answer.strides == tuple(x.view(sizes).stride()), (x.shape, x.stride(), sizes)


def test_the_shown_strides_are_those_of_the_array() -> None:
    x = np.lib.stride_tricks.as_strided(np.arange(10), (1, 3), (56, 8))
    assert str(explain_view(x, 3, 1)).splitlines()[0] == "Yes, shape (1, 3) with strides (7, 1) can be viewed as (3, 1)"
    assert explain_view(x, 3, 1).strides == (1, 1)
    # Views stay canonical, so that equal maps are equal.
    assert shapetracker.of(x).views[0] == View((1, 3), (0, 1))


@pytest.mark.parametrize("text", BEFORE)
def test_a_picture_tells_what_lies_before_an_array(text: str) -> None:
    tracker = ShapeTracker.parse(text)
    low, _ = tracker.address_range() or (0, 0)
    assert f"reads from address {low} on, {-low} before" in " ".join(tracker._repr_html_().split())
