"""What tinygrad's unit tests demand of trackers of numbers, demanded of its classes and of the stand-ins.

The layouts are this package's own, and what is right is decided on arrays of addresses. Nothing is installed into
tinygrad: its UOps are the indices, and come back. Single views and sums of two: test_tinygrad_behaviour_views.py;
sizes that are variables: test_tinygrad_behaviour_symbolic.py.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from behaviour import DROP_IN, GENUINE, TG, Classes, Walk, both, drop_in, elements, evaluated, is_masked, stride
from oracle import MASKED

Steps = list[tuple[str, Any]]

# Reshapes after which one view is enough, with masks that axes are split and joined under.
ONE_VIEW: dict[str, tuple[tuple[int, ...], Steps]] = {
    "a permuted matrix, split": ((6, 9), [("permute", (1, 0)), ("reshape", (3, 3, 2, 3))]),
    "contiguous, other splits": ((12, 5, 2, 1), [("reshape", (4, 3, 2, 5))]),
    "padded halves, split": (
        (3, 4, 3, 4),
        [("permute", (1, 0, 3, 2)), ("pad", ((0, 0), (0, 3), (0, 0), (0, 3))), ("reshape", (4, 2, 3, 4, 2, 3))],
    ),
    "one row of many, split": ((1, 6, 1), [("pad", ((0, 2), (0, 0), (1, 0))), ("reshape", (3, 3, 2, 2))]),
    "padded rows, joined": ((2, 1, 7), [("pad", ((1, 3), (0, 0), (0, 0))), ("reshape", (42,))]),
    "the begin of one row, joined": ((1, 1, 4), [("pad", ((2, 3), (0, 0), (0, 3))), ("reshape", (42,))]),
    "the middle of one row, joined": ((1, 1, 3), [("pad", ((2, 1), (0, 0), (1, 2))), ("reshape", (24,))]),
    "two groups, joined": (
        (1, 1, 3, 3, 1, 1, 2),
        [("pad", ((1, 1), (0, 0), (0, 1), (0, 0), (1, 0), (0, 0), (0, 2))), ("reshape", (12, 3, 8))],
    ),
    "split and joined": ((1, 4, 3), [("pad", ((0, 2), (0, 4), (0, 0))), ("reshape", (6, 12))]),
    "axes of one, here and there": (
        (1, 1, 3, 1, 2, 4, 1),
        [
            ("pad", ((0, 2), (0, 0), (1, 1), (0, 0), (0, 0), (0, 0), (0, 0))),
            ("reshape", (3, 5, 2, 4)),
            ("reshape", (1, 1, 3, 5, 2, 4, 1)),
            ("reshape", (1, 3, 5, 1, 2, 1, 4)),
        ],
    ),
    "nothing but padding": (
        (1, 2, 3),
        [
            ("pad", ((0, 0), (0, 2), (0, 0))),
            ("shrink", ((0, 1), (2, 4), (0, 3))),
            ("reshape", (2, 3)),
            ("reshape", (1, 2, 1, 3, 1)),
        ],
    ),
    "nothing but padding of two axes": (
        (1, 2, 3),
        [
            ("pad", ((0, 1), (0, 2), (0, 0))),
            ("shrink", ((1, 2), (2, 4), (0, 3))),
            ("reshape", (2, 3)),
            ("reshape", (1, 2, 1, 3, 1)),
        ],
    ),
    "repeated and padded, split": (
        (1, 2, 3, 1),
        [("expand", (4, 2, 3, 2)), ("pad", ((0, 0), (0, 2), (0, 0), (0, 0))), ("reshape", (4, 2, 2, 3, 2))],
    ),
    "padded halves, permuted and split": (
        (1, 4, 1, 6, 1),
        [
            ("pad", ((0, 0), (0, 4), (0, 0), (0, 6), (0, 0))),
            ("reshape", (8, 1, 12)),
            ("permute", (2, 1, 0)),
            ("reshape", (2, 3, 2, 2, 4)),
        ],
    ),
    "padding around, joined": (
        (1, 2, 1, 3, 4, 1),
        [("pad", ((0, 0), (1, 2), (0, 0), (0, 0), (0, 0), (0, 0))), ("reshape", (1, 1, 1, 60, 1, 1))],
    ),
    "padding around, split": ((6,), [("pad", ((3, 3),)), ("reshape", (4, 3))]),
    "flat and back": (
        (2, 5),
        [("pad", ((2, 0), (0, 0))), ("reshape", (2, 2, 5)), ("reshape", (4, 5)), ("reshape", (2, 2, 5))],
    ),
    "padded, and the padding is cut off": ((8, 9), [("pad", ((0, 3), (0, 1))), ("shrink", ((0, 8), (0, 9)))]),
    "padded, and some of it is left": ((8, 9), [("pad", ((0, 3), (0, 1))), ("shrink", ((0, 9), (0, 9)))]),
}


@both
@pytest.mark.parametrize("name", ONE_VIEW)
def test_one_view_is_enough(name: str, classes: Classes) -> None:
    shape, steps = ONE_VIEW[name]
    walk = Walk(classes, shape)
    for step in steps:
        walk(step)
        assert len(walk.st.views) == 1
        walk.check()
        masked = bool((walk.array == MASKED).any())
        assert (walk.st.views[0].mask is not None) == masked
        assert walk.st == walk.st.simplify()


@pytest.mark.parametrize("name", ONE_VIEW)
def test_the_view_is_written_as_tinygrad_writes_it(name: str) -> None:
    shape, steps = ONE_VIEW[name]
    assert repr(Walk(DROP_IN, shape, *steps).st) == repr(Walk(GENUINE, shape, *steps).st)


# Contiguity.


@both
@pytest.mark.parametrize(
    "shape, steps, contiguous",
    [
        ((5, 6), [], True),
        ((5, 6), [("reshape", (5, 1, 6))], True),
        ((5, 6), [("reshape", (5, 1, 6)), ("permute", (0, 1, 2))], True),
        ((5, 6), [("reshape", (5, 1, 6)), ("permute", (0, 2, 1))], True),
        ((5, 6), [("permute", (1, 0))], False),
        ((5, 6), [("permute", (1, 0)), ("permute", (1, 0))], True),
        ((5, 6), [("reshape", (6, 5)), ("permute", (1, 0))], False),
        ((5, 6), [("shrink", ((1, 2), (0, 6)))], False),
        ((5, 5), [("permute", (1, 0)), ("reshape", (1, 5, 1, 5, 1))], False),
        ((5, 5), [("permute", (1, 0)), ("reshape", (1, 5, 1, 5, 1)), ("permute", (0, 3, 2, 1, 4))], True),
        ((1, 8, 3, 3), [("permute", (1, 0, 2, 3))], True),
        ((2, 8, 3, 3), [("permute", (1, 0, 2, 3))], False),
        ((1, 9, 1, 1), [("reshape", (9,))], True),
        ((1, 3, 1, 5), [("permute", (0, 3, 2, 1)), ("reshape", (5, 3))], False),
        ((1, 3, 1, 5), [("permute", (0, 3, 2, 1)), ("reshape", (5, 3)), ("permute", (1, 0))], True),
        ((6, 6), [("permute", (1, 0)), ("reshape", (2, 3, 3, 2)), ("permute", (2, 3, 0, 1))], True),
        ((3, 4, 5), [("permute", (2, 0, 1)), ("reshape", (5, 12)), ("permute", (1, 0))], True),
        ((3, 4, 5), [("permute", (2, 0, 1)), ("reshape", (5, 12, 1, 1)), ("permute", (1, 0, 2, 3))], True),
        # An image of 4 channels to a texel, to channels first and back.
        (
            (4, 12, 4),
            [
                ("reshape", (1, 4, 6, 8)),
                ("permute", (0, 3, 1, 2)),
                ("reshape", (1, 8, 1, 4, 6)),
                ("permute", (0, 3, 4, 1, 2)),
            ],
            True,
        ),
        (
            (4, 12, 4),
            [
                ("reshape", (1, 4, 6, 8)),
                ("permute", (0, 3, 1, 2)),
                ("reshape", (1, 1, 8, 4, 6)),
                ("permute", (0, 3, 4, 1, 2)),
                ("reshape", (4, 12, 4)),
            ],
            True,
        ),
    ],
)
def test_contiguity(shape: Any, steps: Steps, contiguous: bool, classes: Classes) -> None:
    walk = Walk(classes, shape, *steps)
    walk.check()
    assert walk.st.contiguous == contiguous
    assert contiguous == (walk.array.ravel() == np.arange(walk.array.size)).all()


# Every two operations after each other, and some more.


def operations(shape: tuple[int, ...]) -> Steps:
    """Operations that a tensor of rank two or three allows."""
    rest: Any = ((0, 0),) * (len(shape) - 2)
    inner = tuple((0, size) for size in shape[1:])
    first, last, ends = shape[0], shape[-1], tuple((0, size) for size in shape[:-1])
    return [
        ("permute", tuple(reversed(range(len(shape))))),
        ("reshape", shape[::-1]),
        ("reshape", (*shape[:-1], 1, last)),
        ("reshape", (int(np.prod(shape)),)),
        ("pad", ((1, 2), *rest, (1, 1))),
        ("pad", ((0, 1), *rest, (0, 0))),
        ("shrink", ((1, first), *inner)),
        ("shrink", (*ends, (1, last))),
        ("shrink", ((0, 1), *((0, 1) for _ in shape[1:]))),
        ("flip", (True, *(False for _ in shape[1:]))),
        ("flip", tuple(1 for _ in shape)),
        ("expand", tuple(3 if size == 1 else size for size in shape)),
    ]


@both
@pytest.mark.parametrize("first", range(12))
def test_every_two_operations(first: int, classes: Classes) -> None:
    shape = (4, 1, 3)
    begin = operations(shape)[first]
    for second in range(12):
        walk = Walk(classes, shape, begin)
        if walk.array.ndim > 1:
            walk(operations(walk.array.shape)[second])
        walk.check()


@both
@pytest.mark.parametrize(
    "shape, steps",
    [
        ((5, 6), [("permute", (1, 0)), ("reshape", (5, 6)), ("shrink", ((0, 5), (1, 6))), ("reshape", (5, 1, 5))]),
        ((3, 4), [("pad", ((1, 1), (1, 1))), ("reshape", (5, 6, 1)), ("expand", (5, 6, 3)), ("permute", (2, 0, 1))]),
        ((3, 4, 2), [("shrink", ((1, 2), (1, 4), (0, 2))), ("reshape", (1, 6)), ("shrink", ((0, 1), (1, 5)))]),
        (
            (2, 3, 4),
            [
                ("flip", (True, False, True)),
                ("reshape", (2, 12)),
                ("shrink", ((1, 2), (2, 9))),
                ("flip", (True, True)),
            ],
        ),
        ((3, 2, 3), [("shrink", ((0, 2), (0, 2), (0, 1))), ("permute", (1, 0, 2)), ("reshape", (4,)), ("flip", (1,))]),
        ((2, 3, 2), [("reshape", (2, 3, 2, 1)), ("pad", ((0, 0), (0, 0), (0, 0), (1, 1))),
                     ("shrink", ((0, 2), (1, 2), (0, 2), (0, 1))), ("expand", (2, 1, 2, 4))]),
        ((1, 2), [("pad", ((2, 0), (0, 1))), ("reshape", (3, 3))]),
        ((1, 1, 2), [("pad", ((1, 1), (0, 2), (2, 0))), ("reshape", (4, 9))]),
    ],
)  # fmt: skip
def test_longer_chains(shape: Any, steps: Steps, classes: Classes) -> None:
    walk = Walk(classes, shape, *steps)
    walk.check()
    walk.st = walk.st.simplify()
    walk.check()


# What is more than one view.


@both
def test_a_stack_is_simplified_when_its_shape_fits_again(classes: Classes) -> None:
    walk = Walk(classes, (1, 6), ("expand", (8, 6)), ("reshape", (48,)))
    assert len(walk.st.views) == 2
    for shape, views in (((8, 6), 1), ((2, 4, 6), 1), ((4, 2, 3, 2), 1), ((4, 12), 2), ((3, 16), 2)):
        walk(("reshape", shape))
        walk.st = walk.st.simplify()
        walk.check()
        assert len(walk.st.views) == views
        assert (None in walk.st.real_strides()) == (views == 2)
    assert len(Walk(classes, (3, 4, 5), ("permute", (2, 0, 1)), ("reshape", (15, 4))).st.views) == 2


STACKS: dict[str, tuple[tuple[Any, ...], ...]] = {
    # A sum of all: windows of repeated rows, which are a view; and what repeats inside an axis, which is none.
    "windows": (((2, 3, 4, 9), (36, 0, 9, 1)), ((2, 3, 3, 7, 2), (108, 36, 9, 1, 10))),
    "blocks": (((4, 3, 5, 2, 6), (60, 0, 12, 6, 1)), ((2, 2, 10, 6, 3), (360, 180, 6, 1, 60))),
    "repeats": (((3, 2, 4, 2), (4, 0, 1, 0)), ((3, 8, 2), (16, 2, 1))),
    "reversed": (((2, 2, 3, 4), (60, 12, 5, -1), 3), ((4, 3, 4), (12, 4, 1))),
    # Part of the elements is padding.
    "half": (((64,), (1,), 0, ((0, 24),)), ((4, 4, 4), (16, 4, 1))),
    "strided": (
        ((2, 3, 4, 9), (72, 24, 1, 4), 0, ((0, 2), (0, 3), (0, 4), (0, 6))),
        ((2, 3, 40), (108, 36, 1), 0, ((0, 2), (0, 3), (0, 36))),
        ((2, 3, 9, 4), (120, 40, 1, 10)),
    ),
    "sum": (
        ((3, 8, 16), (8, 0, 1), 0, ((0, 3), (0, 8), (0, 8))),
        ((3, 135), (128, 1), 0, ((0, 3), (0, 128))),
        ((3, 15, 9), (135, 1, 15)),
    ),
    "dilated": (
        ((2, 3, 5, 2), (15, 5, 1, 0), 0, ((0, 2), (0, 3), (0, 5), (0, 1))),
        ((2, 1, 3, 4, 12), (30, 0, 10, 0, 1), -2, ((0, 2), (0, 1), (0, 3), (0, 4), (2, 11))),
        ((2, 5, 10, 3, 3), (144, 0, 1, 48, 13)),
    ),
}


@both
@pytest.mark.parametrize("name", STACKS)
def test_real_strides_of_stacks(name: str, classes: Classes) -> None:
    st = classes.stack(*STACKS[name])
    array = elements(st)
    simple = st.simplify()
    assert (elements(simple) == array).all()
    for axis, found in enumerate(st.real_strides()):
        masked = is_masked(array, axis)
        assert st.axis_is_masked(axis) == masked
        assert found == (None if masked else stride(array, axis)), (axis, st)
    if name in ("windows", "blocks"):
        assert len(simple.views) == 1 and simple.views[0].strides == st.real_strides()
    if name in ("repeats", "reversed"):
        assert len(simple.views) == 2 and None in st.real_strides()


@drop_in("Strides that tinygrad misses")
def test_strides_that_tinygrad_does_not_see(classes: Classes) -> None:
    walk = Walk(classes, (6, 5), ("permute", (1, 0)), ("reshape", (15, 2)))
    assert walk.st.real_strides() == tuple(stride(walk.array, axis) for axis in range(2)) == (None, 5)


@both
def test_masked_axes(classes: Classes) -> None:
    large = classes.ShapeTracker.from_shape((50, 60, 70, 80)).pad(((0, 1), (0, 0), (3, 0), (0, 0)))
    assert [large.axis_is_masked(axis) for axis in range(4)] == [True, False, True, False]


# Trackers on trackers.


@both
def test_sums_of_trackers(classes: Classes) -> None:
    row_major = classes.ShapeTracker.from_shape
    assert row_major((6, 8)).reshape((48,)) + row_major((48,)) == row_major((48,))
    assert row_major((6, 8)).permute((1, 0)) + row_major((8, 6)).permute((1, 0)) == row_major((6, 8))
    part = row_major((9, 7)).shrink(((0, 9), (4, 7)))
    steps: Steps = [("reshape", (27,)), ("flip", (True,)), ("reshape", (9, 3))]
    whole, later = part, row_major((9, 3))
    for name, argument in steps:
        whole, later = getattr(whole, name)(argument), getattr(later, name)(argument)
    assert (elements(part + later) == elements(whole)).all()


@both
@pytest.mark.parametrize(
    "shape, steps",
    [
        ((6, 10), [("reshape", (3, 20))]),
        ((6, 10), [("permute", (1, 0))]),
        ((4, 3, 5), [("permute", (1, 2, 0))]),
        ((2, 6, 5), [("reshape", (2, 3, 2, 5)), ("permute", (2, 1, 3, 0))]),
        ((6, 10), [("flip", (True, False))]),
        ((6, 10), [("permute", (1, 0)), ("flip", (True, False))]),
        ((2, 3), [("pad", ((2, 0), (0, 0))), ("reshape", (2, 2, 3)), ("reshape", (4, 3))]),
    ],
)
def test_inverses(shape: Any, steps: Steps, classes: Classes) -> None:
    walk = Walk(classes, shape, *steps)
    inverse = walk.st.invert(shape)
    assert inverse is not None
    again = walk.st + inverse
    assert again.shape == shape and (elements(again).ravel() == np.arange(np.prod(shape))).all()
    if not any(name in ("flip", "pad") for name, _ in steps):
        assert again == classes.ShapeTracker.from_shape(shape)


@both
def test_what_repeats_or_leaves_out_has_no_inverse(classes: Classes) -> None:
    row_major = classes.ShapeTracker.from_shape
    assert row_major((7, 1)).expand((7, 3)).invert((7, 1)) is None
    assert row_major((6, 6)).shrink(((0, 6), (1, 5))).invert((6, 6)) is None


# Sizes, text, equality and what is left to the caller.


@both
@pytest.mark.parametrize(
    "shape, steps",
    [
        ((12, 9), []),
        ((0, 9), []),
        ((12, 0), []),
        ((12, 9), [("reshape", (12, 9, 1)), ("expand", (12, 9, 4))]),
        ((12, 9), [("reshape", (12, 9, 1)), ("expand", (12, 9, 4)), ("reshape", (432,))]),
        ((12, 9), [("shrink", ((0, 5), (0, 9)))]),
        ((12, 9), [("shrink", ((0, 12), (0, 4)))]),
        ((7,), [("pad", ((3, 2),))]),
        ((6, 7), [("pad", ((2, 1), (4, 2))), ("reshape", (117,))]),
        ((6, 7), [("pad", ((2, 1), (4, 2))), ("flip", (True, True))]),
    ],
)
def test_real_size_reaches_to_the_last_address(shape: Any, steps: Steps, classes: Classes) -> None:
    walk = Walk(classes, shape, *steps)
    walk.check()
    assert walk.st.real_size() == max(walk.array.ravel().tolist(), default=-1) + 1


@both
@pytest.mark.parametrize("offset", [0, 3, 10_000])
@pytest.mark.parametrize(
    "steps",
    [
        [],
        [("permute", (1, 0))],
        [("reshape", (10, 1, 4))],
        [("reshape", (10, 1, 4)), ("expand", (10, 4, 4))],
        [("permute", (1, 0)), ("reshape", (2, 1, 20))],
        [("permute", (1, 0)), ("reshape", (1, 2, 20))],
    ],
)
def test_addresses_over_variables(steps: Steps, offset: int, classes: Classes) -> None:
    st = classes.ShapeTracker.from_shape((40 + offset,)).shrink(((offset, offset + 40),)).reshape((10, 4))
    for name, argument in steps:
        st = getattr(st, name)(argument)
    array = elements(st)
    ends = [sorted({0, 1 % size, size // 2, size - 1}) for size in st.shape]
    for ranges in itertools.product(*([*zip(some, some), (some[0], some[-1])] for some in ends)):
        names = [TG.UOp.variable(f"at{axis}", low, high) for axis, (low, high) in enumerate(ranges)]
        index, valid = st.to_indexed_uops(names)
        assert valid.simplify().op is TG.Ops.CONST and valid.simplify().arg is True
        if len(st.views) == 1:
            assert offset <= index.vmin and index.vmax < offset + 40
        values = {f"at{axis}": high for axis, (_, high) in enumerate(ranges)}
        assert evaluated(index, (), values) == array[tuple(high for _, high in ranges)]


def test_row_major_text_is_that_of_tinygrad() -> None:
    for pads in ((0, 0), (0, 2), (0, 9)):
        texts = []
        for classes in (GENUINE, DROP_IN):
            index, valid = classes.ShapeTracker.from_shape((3, 5)).pad((pads, (0, 0))).to_indexed_uops()
            texts.append((index.render(), valid.render()))
        assert texts[0] == texts[1]


@both
def test_equality(classes: Classes) -> None:
    View, ShapeTracker = classes.View, classes.ShapeTracker
    assert ShapeTracker.from_shape((7, 3)) == ShapeTracker.from_shape((7, 3)) != ShapeTracker.from_shape((3, 7))
    # A tuple of one view without its comma.
    assert ShapeTracker(views=View((4,), (1,), 0, None, True)) == ShapeTracker(views=View((4,), (1,), 0, None, True))


@both
def test_flip_takes_no_notice_of_entries_that_are_left_over(classes: Classes) -> None:
    Walk(classes, (2, 3), ("flip", (True, False, False)), ("reshape", (6,)), ("flip", (True, False))).check()
    named = classes.ShapeTracker.from_shape((TG.UOp.variable("i", 1, 9), 3)).flip((False, True, False))
    assert (elements(named, {"i": 2}) == np.arange(6).reshape(2, 3)[:, ::-1]).all()


def test_flip_refuses_to_reverse_what_is_no_axis() -> None:
    for shape in ((2, 3), (TG.UOp.variable("i", 1, 9), 3)):
        for flags in ((True,), (False, False, True)):
            with pytest.raises(ValueError, match=f"flip: .* the view has 2, but {len(flags)} were given"):
                DROP_IN.ShapeTracker.from_shape(shape).flip(flags)


@drop_in("Views that do not fit on each other")
def test_views_that_do_not_fit_on_each_other_are_told_apart(classes: Classes) -> None:
    fitting, short = classes.stack(((6,), (1,)), ((6,), (1,))), classes.stack(((5,), (1,)), ((6,), (1,)))
    assert fitting != short and (elements(fitting) == np.arange(6)).all()
    with pytest.raises(ValueError, match="reads addresses 0 to 5"):
        short.to_indexed_uops()
