"""What is advised, against what NumPy and PyTorch do: the code is run, and memory that is shared is no copy.

Every line of code here is run as it stands, on an array `x` whose elements are their own addresses.
"""

import random
from typing import Any

import numpy as np
import oracle
import pytest

from shapetracker import Advice, ParseError, advice


def run(code: str, **names: Any) -> Any:
    """The value of the last line, after the lines before it."""
    *before, last = code.splitlines()
    names["np"] = np
    exec("\n".join(before), names)
    return eval(last, names)


def composed(call: str, text: str) -> str:
    """A call on `x`, with the text of an array in the place of `x`."""
    return call.replace("x", text, 1) if call.startswith("x") else call.replace("(x", f"({text}", 1)


def a_slice(rng: random.Random, size: int) -> str:
    begin, end = sorted(rng.sample(range(size + 1), 2))
    usual = f"{begin}:{end}"
    return rng.choice([":", "::-1", usual, "::2", f"None, {usual}", str(rng.randrange(size)), f"{usual}:2"])


def a_call(rng: random.Random, x: np.ndarray) -> str:
    """A call of NumPy on `x`, as people write it."""
    axes = rng.sample(range(x.ndim), x.ndim)
    kinds = "transpose reshape reshape reshape slice slice swapaxes broadcast ravel copy diagonal windows function"
    kind = rng.choice(kinds.split())
    if kind == "transpose":
        # In a tuple, as two numbers are PyTorch's two axes where nothing says that the code is NumPy's.
        return f"x.transpose({tuple(axes)})"
    if kind == "reshape":
        return f"x.reshape({', '.join(map(str, oracle.random_shape(rng, x.size)))})"
    if kind == "slice" and x.ndim > 0 and all(x.shape):
        return f"x[{', '.join(a_slice(rng, size) for size in x.shape)}]"
    if kind == "swapaxes" and x.ndim > 1:
        return f"x.swapaxes({axes[0]}, {axes[1]})"
    if kind == "broadcast" and x.size < 500:
        wide = [rng.choice([2, 3]) if size == 1 else size for size in x.shape]
        return f"np.broadcast_to(x, {tuple([rng.choice([1, 2]), *wide])})"
    if kind == "ravel":
        return rng.choice(["x.ravel()", "x.reshape(-1)", "x.flatten()"])
    if kind == "copy" and rng.random() < 0.4:
        return rng.choice(["x.copy()", "np.ascontiguousarray(x)", "np.pad(x, 1)"])
    if kind == "diagonal" and x.ndim > 1 and all(x.shape):
        offset = rng.randint(1 - x.shape[axes[0]], x.shape[axes[1]] - 1)
        return rng.choice(["x.diagonal()", f"np.diagonal(x, {offset}, {axes[0]}, {axes[1]})"])
    if kind == "windows" and x.ndim > 0 and x.shape[axes[0]] > 1:
        return f"np.lib.stride_tricks.sliding_window_view(x, {rng.randint(1, x.shape[axes[0]])}, {axes[0]})"
    if kind == "function" and x.ndim > 1:
        a, b = axes[:2]
        several = f"np.moveaxis(x, {a}, {b})", f"np.flip(x, {a})", f"np.expand_dims(x, {a})", "np.squeeze(x)"
        return rng.choice([*several, "x.squeeze()", f"np.split(x, [{x.shape[a]}], {a})[0]", "x.mT"])
    return "x.T"


def memory_of(x: np.ndarray) -> np.ndarray:
    """The array that owns the memory of an array."""
    # What `as_strided` makes stands on an object that has the array as its base.
    base: Any = x.base
    while base is not None:
        x, base = (base if isinstance(base, np.ndarray) else x), getattr(base, "base", None)
    return x


def is_affine(x: np.ndarray) -> bool:
    """Whether one offset and one stride for each axis give all elements."""
    strides = [int(np.take(x, 1, axis).flat[0] - x.flat[0]) if size > 1 else 0 for axis, size in enumerate(x.shape)]
    places = np.indices(x.shape).reshape(x.ndim, x.size)
    return bool(np.array_equal(x.flat[0] + np.array(strides, dtype=np.int64) @ places, x.ravel()))


@pytest.mark.parametrize("seed", range(4))
def test_numpy_does_what_is_said_and_the_code_copies_no_more(seed: int) -> None:
    rng = random.Random(seed)
    seen = {"views": 0, "copies": 0, "codes": 0, "saved": 0}
    for _ in range(oracle.cases(400)):
        first = oracle.random_shape(rng, rng.choice([6, 12, 24, 30, 36]))
        x = memory = oracle.addresses(first)
        text, copies = "x", []
        for _ in range(rng.randrange(1, 6)):
            call = a_call(rng, x)
            after = run(call, x=x)
            if not isinstance(after, np.ndarray):
                break
            text = composed(call, text)
            if after.size > 0 and not np.may_share_memory(x, after):
                copies.append(x.size if "pad" in call else after.size)
            x = after
        if x.size == 0 or text == "x":
            continue
        answer = advice(text, first)
        said = answer.numpy
        assert said is not None
        about = f"{text} of {first}: {answer}"
        assert sorted(elements for _, elements in said.copied) == sorted(copies), about
        assert said.does == ("copies" if copies else "view"), about
        seen["copies" if copies else "views"] += 1
        if not any(word in text for word in ("copy", "flatten", "contiguous", "pad")):
            # Nothing was asked to be copied: the numbers in the array are addresses.
            assert answer.one_view == is_affine(x), about
            if answer.view is not None:
                view, width = answer.view, memory.itemsize
                strides = [stride * width for stride in view.strides]
                theirs = np.lib.stride_tricks.as_strided(memory.reshape(-1)[view.offset :], view.shape, strides)
                assert np.array_equal(theirs, x), about
        if said.code is None:
            continue
        seen["codes"] += 1
        result = run(said.code, x=memory)
        assert np.array_equal(result, x), about
        if np.may_share_memory(result, memory):
            seen["saved"] += 1
        else:
            # The last copy, with those that were before it.
            assert "pad" in text or memory_of(result).size <= sum(copies), about
            seen["saved"] += memory_of(result).size < sum(copies)
            if len(copies) == 1 and "pad" not in text and answer.elements:
                assert memory_of(result).size >= answer.elements or not answer.smallest, about
    assert min(seen.values()) > oracle.cases(400) // 100, seen


def a_torch_call(rng: random.Random, x: Any) -> str:
    """A call of PyTorch on `x`, as people write it."""
    shape, axes = tuple(x.shape), rng.sample(range(x.ndim), x.ndim)
    kinds = "permute reshape reshape view view slice slice transpose expand flatten copy diagonal windows flip function"
    kind = rng.choice(kinds.split())
    to = ", ".join(map(str, oracle.random_shape(rng, x.numel())))
    if kind == "permute":
        return f"x.permute({', '.join(map(str, axes))})" if axes else "x.permute(())"
    if kind in ("reshape", "view"):
        return f"x.{kind}({to})" if to else f"x.{kind}(())"
    if x.ndim == 0:
        return "x[None]"
    if kind == "slice":
        # PyTorch has no steps backwards.
        return f"x[{', '.join(a_slice(rng, size).replace('::-1', ':') for size in shape)}]"
    if kind == "expand" and x.numel() < 500:
        wide = [rng.choice([2, 3]) if size == 1 else size for size in shape]
        return f"x.expand({', '.join(map(str, [rng.choice([1, 2]), *wide]))})"
    if kind == "flatten":
        return rng.choice(["x.flatten()", "x.ravel()", "x.reshape(-1)", "torch.flatten(x)"])
    if kind == "copy" and rng.random() < 0.5:
        return rng.choice(["x.contiguous()", "x.clone(memory_format=torch.contiguous_format)", "F.pad(x, (1, 1))"])
    if kind == "flip":
        return rng.choice([f"x.flip({axes[0]})", f"torch.flip(x, ({axes[0]},))"])
    if kind == "windows":
        return f"x.unfold({axes[0]}, {rng.randint(1, shape[axes[0]])}, {rng.randint(1, 3)})"
    if x.ndim > 1 and kind == "diagonal":
        return f"x.diagonal({rng.randint(1 - shape[axes[0]], shape[axes[1]] - 1)}, {axes[0]}, {axes[1]})"
    if x.ndim > 1:
        a, b = axes[:2]
        several = f"x.transpose({a}, {b})", f"x.movedim({a}, {b})", f"x.unsqueeze({a})", "x.squeeze()"
        several += f"x.narrow({a}, 0, {rng.randint(1, shape[a])})", f"x.select({a}, {shape[a] - 1})", "x.mT"
        return rng.choice(several)
    return "x.unsqueeze(0)"


@pytest.mark.parametrize("seed", range(4))
def test_pytorch_does_what_is_said_and_the_code_copies_no_more(seed: int) -> None:
    torch = pytest.importorskip("torch")
    rng = random.Random(seed)
    names = {"torch": torch, "F": torch.nn.functional}
    seen = {"view": 0, "copies": 0, "raises": 0, "codes": 0, "saved": 0}
    for _ in range(oracle.cases(400)):
        first = oracle.random_shape(rng, rng.choice([6, 12, 24, 30, 36]))
        memory = torch.arange(int(np.prod(first))).reshape(first)
        x, text, copies, raises = memory, "x", [], False
        for _ in range(rng.randrange(1, 6)):
            call = a_torch_call(rng, x)
            try:
                after = run(call, x=x, **names)
            except RuntimeError as error:
                assert "view size is not compatible" in str(error), call
                raises = raises or not copies
                after = run(call.replace("view", "reshape"), x=x, **names)
            text = composed(call, text)
            if after.numel() > 0 and after.untyped_storage().data_ptr() != x.untyped_storage().data_ptr():
                copies.append(x.numel() if "pad" in call else after.numel())
            x = after
        if x.numel() == 0 or text == "x":
            continue
        answer = advice(text, first)
        said = answer.pytorch
        assert said is not None
        about = f"{text} of {first}: {answer}"
        assert sorted(elements for _, elements in said.copied) == sorted(copies), about
        does = "raises" if raises else "copies" if copies else "view"
        assert said.does == does, about
        seen[does] += 1
        if said.code is None:
            continue
        seen["codes"] += 1
        result = run(said.code, x=memory, **names)
        assert torch.equal(result, x), about
        if result.untyped_storage().data_ptr() == memory.untyped_storage().data_ptr():
            seen["saved"] += 1
        else:
            copied = result.untyped_storage().nbytes() // result.itemsize
            assert "pad" in text or copied <= sum(copies), about
            seen["saved"] += copied < sum(copies)
    assert min(seen.values()) > oracle.cases(400) // 100, seen


def test_what_is_said_is_short_and_can_be_asked_for() -> None:
    answer = advice("x.transpose(1, 2).view(8, 15)", (8, 3, 5))
    assert type(answer) is Advice
    assert (bool(answer), answer.one_view, answer.step, answer.elements, answer.smallest) == (False, False, 1, 120, True)
    assert answer.view is None and answer.witness is not None
    assert answer.pytorch is not None and answer.pytorch.does == "raises" and answer.pytorch.copied == ((1, 120),)
    assert answer.pytorch.code == "x.transpose(1, 2).contiguous().view(8, 15)"
    assert str(answer).splitlines()[0] == answer.sentence
    assert advice("(3, 2).permute(1, 0)").elements == 0


@pytest.mark.parametrize(
    "text, base, error, words",
    [
        ("x.T", None, ParseError, "depends on the shape"),
        ("x.permute(1, 0)", None, ParseError, "shape"),
        ("(2, 3).reshape(7)", None, ParseError, "7"),
        ("(2, 3).flip(0)", (3, 2), ParseError, "but the base has shape"),
        ("x.T", "no", TypeError, "advice"),
        ("x.T", (2, 1 << 70), OverflowError, "advice"),
    ],
)
def test_mistakes_are_sentences(text: str, base: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        advice(text, base)


def test_a_name_that_no_number_has_is_named_with_what_would_work() -> None:
    text = "y.transpose(1,2).contiguous().view(B,T,C)"
    with pytest.raises(ParseError, match="found `B`, and nothing says which number that is: write the number in its place") as err:
        advice(text, (2, 4, 8, 8))
    begin, end = err.value.span
    assert text[begin:end] == "B"
    # Both ways out that the sentence has.
    assert advice("y.transpose(1,2).contiguous().view(2,8,32)", (2, 4, 8, 8)).one_view
    assert advice(f"B, T, C = 2, 8, 32; {text}", (2, 4, 8, 8)).one_view
    with pytest.raises(ParseError, match="the shape of the array `y` is not known: write it in place of the name"):
        advice("y.transpose(1,2).contiguous().view(2,8,32)")
    assert advice("(2, 4, 8, 8).transpose(1,2).contiguous().view(2,8,32)").one_view
