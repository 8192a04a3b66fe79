"""Answers can be kept: as plain data, which JSON takes, as pickles, and as pages of a notebook."""

import json
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from shapetracker import (
    Expr,
    IndexMap,
    Nest,
    ShapeTracker,
    Sym,
    Unmerged,
    View,
    advice,
    conditions,
    describe,
    explain_view,
    merge,
    to_dict,
)
from shapetracker.cute import Layout
from shapetracker.sharding import Shard, Sharded

H, T = Sym("H"), Sym("T", 1, 4096)
STACK = ShapeTracker.contiguous(3, 2).permute(1, 0).reshape(3, 2)
MEMORY = np.zeros((6, 8), np.int32)
SHARDED = Sharded((4, 6), (2,), (Shard(1),))


def refused() -> Any:
    with pytest.raises(Unmerged) as caught:
        STACK.single_view()
    return caught.value


# What can be asked, and how: each answer is kept and asked again.
ANSWERS: dict[str, Callable[[], Any]] = {
    "a tracker that is one view": lambda: explain_view(ShapeTracker.contiguous(4, 6), 24),
    "a tracker that is none": lambda: explain_view(ShapeTracker.contiguous(4, 6).permute(1, 0), 2, -1),
    "a stack": lambda: explain_view(STACK, 6),
    "an array": lambda: explain_view(np.zeros((4, 6), np.int16).T, 24),
    "an array with an axis of size 1": lambda: explain_view(np.zeros((4, 9))[:1, 2:8], 6, 1),
    "a line": lambda: advice("x.transpose(1, 2).view(2, 12)", (2, 3, 4)),
    "a shape that is gone through once": lambda: advice("x.T.reshape(-1)", iter((2, 3))),
    "a line with numbers by name": lambda: advice("x.transpose(1, 2).view(B, T*C)", (8, 3, 5), B=8, T=3, C=5),
    "a line with names": lambda: advice("x.transpose(1, 2).view(B, T*C)", ("B", "T", "C"), where="T >= 2"),
    "for which values": lambda: ShapeTracker.contiguous(T, H).permute(1, 0).reshape(-1).single_view(),
    "for all values": lambda: ShapeTracker.contiguous(T, H).reshape(-1).single_view(),
    "for none": lambda: ShapeTracker.contiguous(T + 1, H + 1).permute(1, 0).reshape(-1).single_view(),
    "two views with names": lambda: merge(View((T, H), (1, T)), View((T * H,))),
    "a free reshape": lambda: SHARDED.reshape(4, 2, 3),
    "a reshape that moves": lambda: SHARDED.reshape(24),
    "a permutation": lambda: SHARDED.permute(1, 0),
    "a part": lambda: SHARDED.shrink((1, 3), (0, 6)),
    "an axis more": lambda: SHARDED.unsqueeze(0),
    "an axis backwards": lambda: SHARDED.flip(0),
    "a description": lambda: describe("(2, 3, 4)[:, ::2]", itemsize=2),
    "a description of an array": lambda: describe(np.zeros((4, 9), np.float32)[:1, 2:8]),
    "a description of two arrays": lambda: describe(MEMORY[:, :5], MEMORY.view(np.int16)[:, 8:]),
    "a description of layouts that are apart": lambda: describe("(4, 6)[::2]", "(4, 6)[1::2]"),
    "a description with names": lambda: describe(ShapeTracker.contiguous(T, H).permute(1, 0), itemsize=4),
    "a description of two with names": lambda: describe(ShapeTracker.contiguous(T, H), View((T,), (H,))),
    "a claim": lambda: SHARDED.check(Sharded((4, 6), (2,), (Shard(0),))),
}


@pytest.mark.parametrize("ask", ANSWERS.values(), ids=ANSWERS)
def test_answers_are_kept(ask: Callable[[], Any]) -> None:
    answer = ask()
    again = pickle.loads(pickle.dumps(answer))
    assert type(again) is type(answer) and str(again) == str(answer) and repr(again) == repr(answer)
    assert to_dict(again) == to_dict(answer)
    assert json.loads(json.dumps(to_dict(answer))) == to_dict(answer)
    page = answer._repr_html_()
    assert page.startswith("<pre>") and page.count("<pre>") == page.count("</pre>") == 1


@pytest.mark.parametrize(
    "answer, drawn_at",
    [
        (advice("x.transpose(1, 2).view(8, 15)", (8, 3, 5)), None),
        (advice("x.T", (2, 3)), None),
        (advice("x.transpose(1, 2).view(B, T*C)", ("B", "T", "C"), where="T >= 2"), {"B": 1, "T": 2, "C": 1}),
        (advice("x.transpose(1, 2)", ("B", "T", 3), where="T=4..4097"), {"B": 1, "T": 4}),
        (advice("x.T.reshape(-1)", ("H", "T"), where="T=1..4097, H=8*h"), {"T": 1, "h": 1}),
    ],
    ids=["not a view", "a view", "names for some values", "names for all values", "names made of names"],
)
def test_a_page_of_advice_has_a_picture(answer: Any, drawn_at: dict[str, int] | None) -> None:
    page = answer._repr_html_()
    assert page.count("<svg") == 1
    said = re.search(r", drawn at (.*?)\.</p>", page)
    assert (said is None) == (drawn_at is None)
    if said and drawn_at:
        values = {name: int(value) for name, value in (part.split(" = ") for part in said[1].split(", "))}
        # Values at which it can be seen what is said are small, and those that the facts allow.
        assert values.keys() == drawn_at.keys() and all(drawn_at[name] <= value <= 12 for name, value in values.items()), values


def test_a_question_is_kept_as_it_was_asked() -> None:
    shape = [2, 3]
    answer = advice("x.T.view(-1)", shape)
    shape[0] = 7
    assert str(pickle.loads(pickle.dumps(answer))) == str(answer)


def test_plain_data_is_what_the_answer_says() -> None:
    answer = explain_view(np.zeros((4, 6), np.int32).T, 24)
    plain = to_dict(answer)
    assert plain["type"] == "Explanation" and plain["possible"] is False and plain["shape"] == [24]
    assert plain["tracker"]["views"][0]["strides"] == [1, 6] and plain["recipe"] == answer.recipe
    assert plain["obstacles"] == [
        {"type": "Obstacle", "kind": "strides", "needed": 24, "new_axes": [0], "old_axes": [0, 1], "stride": 1}
    ]
    assert plain["witness"]["steps"] == [{"type": "Step", "index": [0], "after": 6}, {"type": "Step", "index": [3], "after": 1}]
    formula = to_dict(ShapeTracker.contiguous(T, H).permute(1, 0).reshape(-1).single_view())
    assert formula["kind"] == "formula" and formula["formula"] == [["T == 1"], ["H == 1"]]
    assert formula["names"] == {"T": [1, 4096], "H": [1, None]} and formula["values"] == {"T": 4, "H": 6}
    assert to_dict(IndexMap("(i // 4, i % 4)", i=range(12))) == {
        "type": "IndexMap",
        "image_box": [[0, 3], [0, 4]],
        "loops": {"i": [0, 12]},
        "results": ["i // 4", "i % 4"],
    }


EVERY: list[Any] = [
    STACK,
    ShapeTracker.contiguous(T, H),
    View((T, 4)),
    conditions((2, 3), View((3, 2))),
    STACK.index_expr(),
    Expr("x*4 + y if x < 3 else min(x, y)", x=range(10), y=(-2, 5)),
    IndexMap("(i // 4, i % 4)", i=range(12)),
    Nest.parse("C[i, j] += A[i, k] * B[k, j]; A = (64, 16); B = (16, 32); C = (64, 32)"),
    Layout("(4,2):(1,4)"),
    SHARDED,
    {"several": (STACK, 3)},
    None,
]


@pytest.mark.parametrize("thing", EVERY, ids=lambda thing: type(thing).__name__)
def test_whatever_the_package_answers_is_plain_data(thing: object) -> None:
    assert json.loads(json.dumps(to_dict(thing))) == to_dict(thing)


def test_exceptions_are_answers() -> None:
    plain = to_dict(refused())
    assert plain["type"] == "Unmerged" and plain["witness"]["type"] == "UnevenStep" and plain["message"] == str(refused())


@pytest.mark.parametrize("thing", [object(), np.zeros(3), ValueError("x"), {1, 2}])
def test_what_is_no_answer_is_refused(thing: object) -> None:
    with pytest.raises(TypeError, match="no answer of shapetracker"):
        to_dict(thing)


def test_parts_of_an_explanation_are_checked() -> None:
    kind = type(explain_view(STACK, 6))
    with pytest.raises(ValueError, match='of_parts: the library is "numpy" or "torch", and "jax" is neither'):
        kind.of_parts(STACK, (6,), "jax", None)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        kind.of_parts(STACK, (7,), None, None)
