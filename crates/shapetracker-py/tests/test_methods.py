"""Methods of arrays on trackers: what NumPy makes of an array by the same call, and of names what numbers are at their values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shapetracker
from shapetracker import ParseError, ShapeTracker, Sym, View
from shapetracker._native import methods

Made = Callable[[Any], Any]
A = np.arange(2 * 3 * 4).reshape(2, 3, 4)
windows = np.lib.stride_tricks.sliding_window_view

# A call on a tracker, and the same in NumPy.
CALLS: dict[str, tuple[Made, Made]] = {
    "T": (lambda t: t.T, lambda a: a.T),
    "mT": (lambda t: t.mT, lambda a: a.swapaxes(1, 2)),
    "t": (lambda t: t.select(0, 1).t(), lambda a: a[1].T),
    "swapaxes": (lambda t: t.swapaxes(0, -1), lambda a: a.swapaxes(0, -1)),
    "swapdims": (lambda t: t.swapdims(0, 1), lambda a: a.swapaxes(0, 1)),
    "moveaxis": (lambda t: t.moveaxis(0, -1), lambda a: np.moveaxis(a, 0, -1)),
    "movedim": (lambda t: t.movedim(0, 2), lambda a: np.moveaxis(a, 0, 2)),
    "rollaxis": (lambda t: t.rollaxis(2), lambda a: np.rollaxis(a, 2)),
    "permute_dims": (lambda t: t.permute_dims((2, 0, 1)), lambda a: a.transpose(2, 0, 1)),
    "matrix_transpose": (lambda t: t.matrix_transpose(), lambda a: a.swapaxes(1, 2)),
    "flatten": (lambda t: t.flatten(1), lambda a: a.reshape(2, 12)),
    "ravel": (lambda t: t.T.ravel(), lambda a: a.T.ravel()),
    "view": (lambda t: t.view(6, -1), lambda a: a.reshape(6, -1)),
    "unflatten": (lambda t: t.unflatten(2, (2, -1)), lambda a: a.reshape(2, 3, 2, 2)),
    "expand_dims": (lambda t: t.expand_dims(axis=2), lambda a: np.expand_dims(a, 2)),
    "narrow": (lambda t: t.narrow(2, 1, 2), lambda a: a[:, :, 1:3]),
    "select": (lambda t: t.select(1, -1), lambda a: a[:, -1]),
    "unfold": (lambda t: t.unfold(2, 3, 1), lambda a: windows(a, 3, axis=2)),
    "sliding_window_view": (lambda t: t.sliding_window_view((2, 2), axis=(1, 2)), lambda a: windows(a, (2, 2), axis=(1, 2))),
    "diagonal": (lambda t: t.diagonal(1, 1, 2), lambda a: a.diagonal(1, 1, 2)),
    "fliplr": (lambda t: t.fliplr(), np.fliplr),
    "flipud": (lambda t: t.flipud(), np.flipud),
    "rot90": (lambda t: t.rot90(3, (0, 2)), lambda a: np.rot90(a, 3, (0, 2))),
    "rearrange": (lambda t: t.rearrange("a b (c d) -> b (a d) c", d=2), lambda a: a.reshape(2, 3, 2, 2).transpose(1, 0, 3, 2).reshape(3, 4, 2)),
    "repeat": (lambda t: t.repeat("a b c -> a b c r", r=2), lambda a: np.repeat(a[..., None], 2, axis=3)),
    "tile": (lambda t: t.tile((2, 1, 3)), lambda a: np.tile(a, (2, 1, 3))),
    "repeat_interleave": (lambda t: t.repeat_interleave(2, 1), lambda a: a.repeat(2, axis=1)),
    "pixel_shuffle": (
        lambda t: t.reshape(1, 4, 2, 3).pixel_shuffle(2),
        lambda a: a.reshape(1, 1, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 1, 4, 6),
    ),
    "pixel_unshuffle": (
        lambda t: t.reshape(1, 1, 4, 6).pixel_unshuffle(2),
        lambda a: a.reshape(1, 1, 2, 2, 3, 2).transpose(0, 1, 3, 5, 2, 4).reshape(1, 4, 2, 3),
    ),
    "roll": (lambda t: t.roll(-3, 2), lambda a: np.roll(a, -3, 2)),
}
# Those that make several arrays.
PARTS: dict[str, tuple[Made, Made]] = {
    "chunk": (lambda t: t.chunk(2, 1), lambda a: np.split(a, [2], 1)),
    "split": (lambda t: t.split(3, 2), lambda a: np.split(a, [3], 2)),
    "tensor_split": (lambda t: t.tensor_split(3, 2), lambda a: np.array_split(a, 3, 2)),
    "array_split": (lambda t: t.array_split(3, axis=2), lambda a: np.array_split(a, 3, 2)),
    "hsplit": (lambda t: t.hsplit(3), lambda a: np.hsplit(a, 3)),
    "vsplit": (lambda t: t.vsplit(2), lambda a: np.vsplit(a, 2)),
    "dsplit": (lambda t: t.dsplit((1, 3)), lambda a: np.dsplit(a, (1, 3))),
    "unbind": (lambda t: t.unbind(1), lambda a: tuple(a[:, i] for i in range(3))),
}


def read(tracker: ShapeTracker[Any], array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    memory = array.ravel()
    return np.array([memory[at] for at in tracker.addresses()], dtype=array.dtype).reshape(tracker.shape)


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_those_of_arrays(name: str) -> None:
    call, same = CALLS[name]
    made, expected = call(ShapeTracker.contiguous(2, 3, 4)), same(A)
    assert made.shape == expected.shape and (read(made, A) == expected).all()
    # On what is no row-major tensor.
    turned = ShapeTracker.contiguous(4, 3, 2).permute(2, 1, 0).flip(1)
    expected = same(A[:, ::-1])
    assert (read(call(turned), A.transpose(2, 1, 0)) == expected).all()


@pytest.mark.parametrize("name", PARTS)
def test_parts_are_those_of_arrays(name: str) -> None:
    call, same = PARTS[name]
    made, expected = call(ShapeTracker.contiguous(2, 3, 4)), same(A)
    assert isinstance(made, tuple) and len(made) == len(expected)
    assert all((read(part, A) == other).all() for part, other in zip(made, expected, strict=True))


def test_every_method_of_the_table_is_there_and_tried() -> None:
    made = {name for name, member in vars(ShapeTracker).items() if getattr(member, "__module__", "") == "shapetracker._methods"}
    made |= {name for name, member in vars(ShapeTracker).items() if isinstance(member, property)}
    assert made | {"view"} == {*CALLS, *PARTS} and made < {name for name, *_ in methods()}
    assert "Windows along an axis" in (ShapeTracker.unfold.__doc__ or "") and ShapeTracker.unfold.__qualname__ == "ShapeTracker.unfold"


NAMED: list[Made] = [
    lambda t: t.T,
    lambda t: t.flatten(1),
    lambda t: t.roll(1, 0),
    lambda t: t.unfold(1, 3, 1),
    lambda t: t.moveaxis(0, 2),
    lambda t: t.movedim((0, 1), (2, 0)),
    lambda t: t.expand_dims((0, -1)),
    lambda t: t.swapdims(dim0=0, dim1=2),
    lambda t: t.rearrange("b t c -> b (t c)"),
    lambda t: t.unflatten(2, (2, 2)).mT,
    lambda t: t.select(0, 1).unbind(1)[3],
    lambda t: t.repeat_interleave(2, 0),
]


@pytest.mark.parametrize("call", NAMED, ids=range(len(NAMED)))
def test_with_names_they_are_what_they_are_at_values(call: Made) -> None:
    b, t = Sym("B", 2, 64), Sym("T", 3, 4096)
    made = call(ShapeTracker.contiguous(b, t, 4).permute(0, 1, 2))
    for values in ({"B": 2, "T": 3}, {"B": 5, "T": 7}):
        assert made.at(**values) == call(ShapeTracker.contiguous(values["B"], values["T"], 4))


def test_names_may_come_with_a_call() -> None:
    h, d = Sym("H"), Sym("D", 1, 64)
    heads = ShapeTracker.contiguous(3, h * d).unflatten(1, (h, d)).T
    assert heads.shape == (d, h, 3) and heads.at(H=2, D=5) == ShapeTracker.contiguous(3, 10).unflatten(1, (2, 5)).T
    assert heads.names["D"] == (1, 64)


def test_mistakes_are_those_of_the_reader() -> None:
    t = ShapeTracker.contiguous(2, 3)
    with pytest.raises(ValueError, match="axis 5"):
        t.flatten(5)
    with pytest.raises(TypeError, match=r"roll: takes numbers, names, texts and tuples of them, not 1.5 \(float\)"):
        t.roll(1.5)
    with pytest.raises(ParseError):
        t.unfold(0)
    with pytest.raises(AttributeError):
        t.detach()  # type: ignore[attr-defined]


def test_a_tracker_and_then_a_later_one() -> None:
    turned = ShapeTracker.contiguous(2, 3).permute(1, 0)
    assert turned.then(View((6,))) == turned.reshape(6) == turned.then(ShapeTracker.contiguous(6))
    with pytest.warns(DeprecationWarning, match="`base.then"):
        assert turned.compose(View((6,))) == turned.reshape(6)
    assert shapetracker.ShapeTracker.view is ShapeTracker.reshape


def test_names_that_the_shape_does_not_have_any_more() -> None:
    b, t, roll = Sym("B", 2, 64), Sym("T", 3, 4096), Sym("roll", 1, 8)
    turned = ShapeTracker.contiguous(b, t, roll).given(b + t >= 6)[1, :, 0]
    assert turned.roll(1, 0).at(B=3, T=5, roll=2) == ShapeTracker.contiguous(3, 5, 2)[1, :, 0].roll(1, 0)
    assert turned.roll(1, 0).names == turned.names
