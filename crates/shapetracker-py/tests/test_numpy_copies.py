"""Copies that NumPy makes for a layout, by its own protocols: where elements came from, verdicts, and programs left as they are."""

from __future__ import annotations

import doctest
import json
import random
from typing import Any

import numpy as np
import pytest

import shapetracker.numpy as watched
from shapetracker import apply, memory


def verdicts(program: Any) -> list[tuple[str, str]]:
    x = np.arange(24.0).reshape(4, 6)
    with watched.copies() as found:
        kept = program(found.watch(x))
    del kept
    assert not found.notes, found.notes
    return [(copy.op, copy.verdict) for copy in found.copies]


CASES: list[tuple[Any, list[tuple[str, str]]]] = [
    (lambda x: x.reshape(6, 4) + 1, []),
    (lambda x: x.T.reshape(24) + 1, [("reshape", "needed")]),
    (lambda x: np.reshape(x.T, (3, 8)) + 1, [("reshape", "needed")]),
    (lambda x: x.T.ravel() + 1, [("ravel", "needed")]),
    (lambda x: np.ravel(x) + 1, []),
    (lambda x: x.flatten() + 1, [("flatten", "not needed")]),
    (lambda x: np.ascontiguousarray(x.T) + 1, [("ascontiguousarray", "not needed")]),
    (lambda x: np.ascontiguousarray(x) + 1, []),
    (lambda x: np.asfortranarray(x) * 2, [("asfortranarray", "not needed")]),
    (lambda x: np.array(x) + 1, [("array", "not needed")]),
    (lambda x: x.copy().T.copy() + 1, [("copy", "copied again"), ("copy", "not needed")]),
    (lambda x: x[::-1].copy() + 1, [("copy", "not needed")]),
    (lambda x: x.T.copy(), [("copy", "output")]),
    (lambda x: x[[0, 2]] + 1, [("indexing", "gather")]),
    (lambda x: x[x > 3] + 1, [("indexing", "gather")]),
    (lambda x: np.take(x, [0, 2], 0) + 1, [("take", "gather")]),
    (lambda x: np.concatenate([x, np.zeros((4, 6))]) + 1, [("concatenate", "needed")]),
    (lambda x: np.roll(x, 1) + 1, [("roll", "unknown")]),
    (lambda x: x.T.copy() @ np.ones((4, 2)), [("copy", "unknown")]),
    (lambda x: np.sum(x.T.copy()), [("copy", "not needed")]),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_verdicts(number: int) -> None:
    program, expected = CASES[number]
    assert verdicts(program) == expected


def test_a_write_keeps_a_copy() -> None:
    def written(x: Any) -> Any:
        y = x.T.copy()
        y[0] = 1
        return y + 1

    def source_written(x: Any) -> Any:
        y = x.T.copy()
        x += 1
        return y + 1

    assert verdicts(written) == verdicts(source_written) == [("copy", "guard")]


def test_evidence_and_the_least() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    with watched.copies() as found:
        y = np.broadcast_to(found.watch(x[:1]), (5, 3, 4)).transpose(1, 0, 2).reshape(15, 4) + 1
    del y
    [copy] = found.copies
    assert copy.verdict == "needed" and copy.evidence["shape"] == [15, 4] and len(copy.evidence["elements"]) == 2
    assert "test_numpy_copies.py" in str(copy.line) and "new axis 0" in copy.reason
    assert json.loads(json.dumps(found.to_dict()))["copies"][0]["verdict"] == "needed"
    assert "<svg" in found.html() and "test_numpy_copies.py" in str(found)


def test_elements_come_from_where_it_is_said() -> None:
    rng = random.Random(1)
    for _ in range(200):
        x = np.arange(48.0).reshape(2, 4, 6)
        view = x.transpose(rng.sample(range(3), 3))[:: rng.choice([1, -1]), :: rng.choice([1, 2])]
        with watched.copies() as found:
            given = found.watch(x).transpose(0, 1, 2)
            del given
            w = found.watch(view)
            kind = rng.choice(["reshape", "flatten", "copy", "ascontiguousarray", "ravel"])
            made = {
                "reshape": lambda: w.reshape(view.shape[0] * view.shape[1], -1),
                "flatten": lambda: w.flatten(),
                "copy": lambda: w.copy(),
                "ascontiguousarray": lambda: np.ascontiguousarray(w),
                "ravel": lambda: w.ravel(),
            }[kind]()
        for copy in found.copies:
            assert np.array_equal(apply(copy.tracker, memory(x)), np.asarray(made)), (kind, view.strides)
        assert len(found.copies) == (not np.may_share_memory(np.asarray(made), x))


def test_results_are_those_of_numpy_and_nothing_stays_changed() -> None:
    names = (np.array, np.ascontiguousarray, np.asfortranarray)
    x = np.arange(24.0).reshape(4, 6)
    with watched.copies() as found:
        assert np.array is not names[0]
        w = found.watch(x)
        for program in [program for program, _ in CASES]:
            expected, got = program(x), program(w)
            assert np.array_equal(got, expected) and getattr(got, "strides", None) == getattr(expected, "strides", None)
        with pytest.raises(ValueError, match="cannot reshape"):
            w.reshape(5, 5)
        assert np.add(w, 1, out=w.copy()) is not None and np.add.reduce(w).shape == (6,)
        np.divmod(w, 2)
        np.savetxt("/dev/null", w)
    assert (np.array, np.ascontiguousarray, np.asfortranarray) == names
    count = len(found.copies)
    w.T.copy()
    assert len(found.copies) == count and not found.notes
    with pytest.raises(ZeroDivisionError), watched.copies():
        1 // 0  # noqa: B018
    assert np.array is names[0]


def test_subclasses_are_refused_and_text_is_that_of_an_array() -> None:
    x = np.arange(6.0).reshape(2, 3)
    with watched.copies() as found:
        for given in (np.ma.masked_array(x, x > 3), x.view(np.recarray)):
            with pytest.raises(TypeError, match=f"not a {type(given).__name__}, whose operations are its own"):
                found.watch(given)
        w = found.watch(x)
        assert (repr(w), str(w), f"{w[0]}") == (repr(x), str(x), f"{x[0]}")
        objects = found.watch(np.array([[1, "a"], [None, [2]]], object))
        assert objects.T.copy().tolist() == [[1, None], ["a", [2]]]
        with pytest.raises(ValueError, match="read-only"):
            found.watch(np.broadcast_to(x, (2, 2, 3)))[0] = 1
    assert not found.notes


def test_what_the_module_says_of_itself_is_so() -> None:
    assert doctest.testmod(watched).failed == 0
