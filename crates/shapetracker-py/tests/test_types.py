"""What a type checker knows of trackers: whether their sizes are numbers or may have names in them."""

import doctest
from pathlib import Path

import pytest

PROGRAM = '''
from typing import assert_type

from shapetracker import Answer, Conditions, Explanation, ShapeTracker, Sym, View, conditions, explain_view, merge

n = Sym("n")
numbers, named = ShapeTracker.contiguous(2, 3), ShapeTracker.contiguous(n, 3)
assert_type(numbers, ShapeTracker[int])
assert_type(named, ShapeTracker[Sym | int])
assert_type(numbers.shape, tuple[int, ...])
assert_type(named.shape, tuple[Sym | int, ...])
assert_type(numbers.reshape(3, 2).permute(1, 0)[0].pad((1, 1)), ShapeTracker[int])
assert_type(named.reshape(3, n).permute(1, 0)[0].pad((1, 1)), ShapeTracker[Sym | int])
assert_type(numbers.reshape(n, 2), ShapeTracker[Sym | int])
assert_type(numbers[n:], ShapeTracker[Sym | int])
assert_type(numbers.then(named), ShapeTracker[Sym | int])
assert_type(named.at(n=2), ShapeTracker[int])
assert_type(numbers.contiguous(), ShapeTracker[int])
assert_type(ShapeTracker.parse("(2, 3)"), ShapeTracker[int])
assert_type(ShapeTracker.parse("(n, 3)", where=""), ShapeTracker[Sym | int])
assert_type(numbers.single_view(), View[int])
assert_type(named.single_view(), Answer)
assert_type(View((2, 3)), View[int])
assert_type(View((n, 3)).reshape(-1).offset, Sym | int)
assert_type(ShapeTracker([View((2, 3))]), ShapeTracker[int])
assert_type(merge(View((2,)), View((2,))), View[int])
assert_type(merge(View((n,)), View((2,))), Answer)
assert_type(conditions((2, 3), View((6,))), Conditions)
assert_type(conditions((2, 3), View((n,))), Answer)
assert_type(explain_view(numbers, 6), Explanation)
assert_type(explain_view(named, -1), Answer)
assert_type([part.numel for part in numbers], list[int])


def turned(tracker: ShapeTracker) -> ShapeTracker:
    return tracker.permute(1, 0)


def first(tracker: ShapeTracker[int]) -> int:
    return tracker.shape[0]


turned(numbers), turned(named), first(numbers)
first(named)  # type: ignore[arg-type]
'''


GUIDE = Path(__file__).resolve().parents[3] / "docs" / "twenty-questions.md"


def test_types_are_those_of_the_sizes_and_the_guide_has_types(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    program, guide = tmp_path / "program.py", tmp_path / "guide.py"
    program.write_text(PROGRAM)
    lines = doctest.DocTestParser().get_examples(GUIDE.read_text()) if GUIDE.exists() else []
    guide.write_text("".join(line.source for line in lines))
    options = ["--strict", "--python-version", "3.11", "--cache-dir", str(tmp_path)]
    said, wrong, code = api.run([*options, str(program), str(guide)])
    assert code == 0, said + wrong
