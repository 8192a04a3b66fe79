"""Index maps against every index of small boxes, with Python's own arithmetic."""

import copy
import pickle
import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from shapetracker import Expr, IndexMap, NotInvertible, ParseError, Undecided

NAMES = ["i", "j", "k"]


def random_map(rng: random.Random) -> tuple[str, dict[str, range]]:
    """A text that Python can evaluate, too."""
    loops: dict[str, range] = {}
    room = 300
    for name in NAMES[: rng.randrange(1, 4)]:
        size = rng.randrange(1, min(room, 17) + 1)
        room //= size
        begin = rng.choice([0, 0, 0, rng.randrange(-6, 7)])
        loops[name] = range(begin, begin + size)
    parts = [*loops, str(rng.randrange(-4, 5))]
    for _ in range(rng.randrange(8)):
        a, b, by = rng.choice(parts), rng.choice(parts), rng.choice([2, 3, 4, 5, 6, 7, 8, 12, -3])
        parts.append(rng.choice([f"({a} // {by})", f"({a} % {by})", f"({a} * {by} + {b})", f"({a} - {b})", f"min({a}, {b})"]))
    results = ", ".join(rng.choice(parts) for _ in range(rng.randrange(1, 4)))
    return f"lambda {', '.join(loops)}: ({results},)", loops


def images(text: str, loops: dict[str, range]) -> dict[tuple[int, ...], tuple[int, ...]]:
    function = eval(text)
    return {index: function(*index) for index in product(*loops.values())}


@pytest.mark.parametrize("seed", range(150))
def test_every_answer_is_that_of_the_walk(seed: int) -> None:
    rng = random.Random(seed)
    text, loops = random_map(rng)
    m, image = IndexMap(text, **loops), images(text, loops)
    reached = set(image.values())
    assert m.loops == loops
    assert all(m(*index) == value for index, value in image.items())
    meet = m.collision()
    assert (meet is None) == (len(reached) == len(image)) == m.is_one_to_one()
    if meet is not None:
        assert meet[0] != meet[1] and image[meet[0]] == image[meet[1]]
    box = [range(min(column), max(column) + 1) for column in zip(*reached, strict=True)]
    box[0] = range(box[0].start, box[0].stop + rng.choice([0, 0, 1, -1]))
    missed, outside = m.missed(*box), m.outside(box)
    assert (missed is None) == all(element in reached for element in product(*box))
    assert missed is None or missed not in reached
    assert (outside is None) == all(value in box[0] for value, *_ in reached)
    assert outside is None or image[outside][0] not in box[0]
    assert m.is_onto(*box) == (missed is None and outside is None)
    for element in [*list(reached)[:3], *([missed] if missed else [])]:
        index = m.preimage(*element)
        assert (index is None) == (element not in reached)
        assert index is None or image[index] == element
    try:
        back = m.inverse()
    except NotInvertible as error:
        assert (error.indices is None) == (meet is None)
    else:
        assert meet is None and all(back(*value) == index for index, value in image.items())
        assert back.after(m).difference(IndexMap(f"({', '.join(loops)})", **loops)) is None
    assert m.difference(m.simplify()) is None
    assert pickle.loads(pickle.dumps(m)) == m == copy.copy(m) and hash(m) == hash(copy.copy(m))
    assert eval(repr(m)) == m


def test_large_maps() -> None:
    n = 2**40
    split = IndexMap("(i, j) -> (i // 12, j, i % 12)", i=range(12 * n), j=range(7))
    assert split.is_onto(n, 7, 12) and split.is_one_to_one()
    assert str(split.inverse()) == "lambda y0, y1, y2: (y0 * 12 + y2, y1)"
    missed = split.missed(n + 1, 7, 12)
    assert missed is not None and missed[0] == n and split.preimage(missed) is None
    skewed = IndexMap("(i, j) -> (i, (i + j) % 12)", i=range(n), j=range(12))
    assert skewed.is_one_to_one() and str(skewed.inverse()) == "lambda y0, y1: (y0, (y1 - y0) % 12)"
    with pytest.raises(Undecided, match="result 0 is not quasi-affine"):
        IndexMap("(i) -> (i * i % 1000003)", i=range(2**31)).missed(1000003)


def test_notations() -> None:
    m = IndexMap("lambda i, j: (i // 4, j, i % 4)", i=range(16), j=range(8))
    for text in [
        "T.index_map(lambda i, j: (i // 4, j, i % 4))",
        "lambda i, j: [i // 4, j, i % 4]",
        "(i, j) -> (i // 4, j, i % 4)",
        "affine_map<(i, j) -> (i floordiv 4, j, i mod 4)>",
        "#map = affine_map<(i)[j] -> (i floordiv 4, j, i mod 4)>",
        "i // 4, j, i % 4",
        *map(m.text, ["python", "tvm", "mlir"]),
    ]:
        assert IndexMap(text, i=range(16), j=range(8)) == m, text
    assert m.results == (
        Expr("i // 4", i=range(16)),
        Expr("j", j=range(8)),
        Expr("i % 4", i=range(16)),
    )
    assert m.image_box == (range(4), range(8), range(4))
    with pytest.raises(ValueError, match="not affine"):
        IndexMap("(i, j) -> (i * j)", i=range(4), j=range(4)).text("mlir")
    with pytest.raises(ValueError, match="T.min"):
        IndexMap("(i) -> (min(i, 2))", i=range(4)).text("tvm")


@pytest.mark.parametrize("seed", range(60))
def test_tvm_reads_what_is_written_for_it(seed: int) -> None:
    tirx = pytest.importorskip("tvm.tirx", reason="TVM is not installed")
    sym = pytest.importorskip("tvm.sym", reason="TVM is not installed")
    script = pytest.importorskip("tvm.script", reason="TVM is not installed")
    rng = random.Random(seed)
    text, loops = random_map(rng)
    m = IndexMap(text, **loops)
    if seed % 2:
        m = m.simplify()
    try:
        written = m.text("tvm")
    except ValueError:
        return  # minima have no text that is both Python's and TVM's
    theirs, analyzer = eval(written, {"T": script.tirx}), sym.Analyzer()
    for index in product(*loops.values()):
        image = theirs.map_indices([tirx.IntImm("int32", value) for value in index])
        assert tuple(int(analyzer.simplify(value)) for value in image) == m(*index), (written, index)
    # And what TVM prints of it is read.
    assert IndexMap(str(theirs), **loops).difference(m) is None


def test_counts_that_do_not_fit_are_mistakes() -> None:
    m = IndexMap("(i) -> (i // 4, i % 4)", i=range(16))
    asks: list[Callable[[], object]]
    asks = [lambda: m.missed(4), lambda: m.preimage(1, 2, 3), lambda: m.outside(4, 4, 4), lambda: m.after(m)]
    for ask in asks:
        with pytest.raises(ValueError, match="in all, and"):
            ask()


def test_composition_says_what_leaves_the_box() -> None:
    split = IndexMap("(i) -> (i // 4, i % 4)", i=range(16))
    join = IndexMap("(a, b) -> (a*4 + b)", a=range(3), b=range(4))
    with pytest.raises(ValueError, match="not in the range of its loop") as raised:
        join.after(split)
    assert split(*raised.value.index)[0] == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "loops", "message"),
    [
        ("(i, j) -> (i)", {"i": range(4)}, "the loop `j` has no range"),
        ("(i) -> (i)", {"i": range(4), "ii": range(3)}, "`ii` has a range and is no loop of the map"),
        ("(i) -> (k)", {"i": range(4)}, "expected a variable, found `k`"),
        ("(i) -> (i < 2)", {"i": range(4)}, "is a condition"),
        ("(i, i) -> (i)", {"i": range(4)}, "named twice"),
        ("(i) -> (i", {"i": range(4)}, "never closed"),
        ("affine_map<(i) -> (i)", {"i": range(4)}, "expected `>`"),
        ("lambda i (i)", {"i": range(4)}, "expected `,` or `:`"),
        ("", {}, "expected the results of the map"),
        ("(i) -> (i)", {"i": range(4, 4)}, "is empty"),
    ],
)
def test_mistakes_are_sentences(text: str, loops: dict[str, Any], message: str) -> None:
    with pytest.raises(ParseError) as raised:
        IndexMap(text, **loops)
    assert message in str(raised.value)
