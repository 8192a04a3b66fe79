"""What tinygrad's unit tests demand where sizes are variables, demanded of its classes and of the stand-ins.

As in test_tinygrad_behaviour.py the layouts are this package's own, nothing is installed into tinygrad, and what is
right is decided on arrays of addresses, for the values that the variables can have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from behaviour import TG, Classes, both, drop_in, elements, evaluated
from oracle import MASKED

Variable = TG.UOp.variable


def bound(name: str, low: int, high: int, value: int) -> Any:
    return Variable(name, low, high).bind(value)


def is_same(a: Any, b: Any) -> bool:
    """Whether two sizes are the same UOp, whatever the order of a sum."""
    return (a - b).ssimplify() == 0 if isinstance(a, TG.UOp) or isinstance(b, TG.UOp) else a == b


def all_same(some: Any, others: Any) -> bool:
    return len(some) == len(others) and all(is_same(a, b) for a, b in zip(some, others))


# Shapes.


@both
def test_a_row_major_tracker_of_variable_length(classes: Classes) -> None:
    rows = Variable("rows", 1, 60)
    st = classes.ShapeTracker.from_shape((rows, 5))
    assert st.shape == (rows, 5) and st.real_strides() == (5, 1) and st.contiguous
    for value in (1, 2, 7):
        assert (elements(st, {"rows": value}) == np.arange(value * 5).reshape(value, 5)).all()


@both
def test_a_number_of_elements_becomes_a_variable(classes: Classes) -> None:
    row_major, count = classes.ShapeTracker.from_shape, Variable("count", 1, 9)
    free = row_major((4,)).reshape((count,))
    assert free.shape == (count,) and (elements(free, {"count": 4}) == np.arange(4)).all()
    repeated = row_major((4,), (0,)).reshape((count.bind(4),))
    assert repeated.shape == (count.bind(4),) and (elements(repeated, {"count": 4}) == 0).all()
    for st in (free, repeated, row_major((4,)).reshape((count.bind(4),))):
        assert len(st.views) == 1


@both
def test_rows_and_columns_of_bound_length(classes: Classes) -> None:
    for rows in range(1, 5):
        for columns in range(1, 5):
            i, j = bound("i", 1, 4, rows), bound("j", 1, 4, columns)
            at = {"i": rows, "j": columns}
            part = classes.ShapeTracker.from_shape((4, 4)).shrink(((0, i), (0, j)))
            expected = np.arange(16).reshape(4, 4)[:rows, :columns]
            assert part.shape == (i, j) and (elements(part, at) == expected).all()
            for shape in ((j, i), (i, j), (1, i * j)):
                part = part.reshape(shape)
                expected = expected.reshape([evaluated(size, (), at) for size in shape])
                assert part.shape == shape and (elements(part, at) == expected).all()


@both
def test_bound_shapes_of_row_major_trackers(classes: Classes) -> None:
    for rows in range(1, 5):
        i, at = bound("i", 1, 4, rows), {"i": rows}
        for first, then in (((rows, 6), (i, 6)), ((rows, 6), (i, 2, 3)), ((i, 6), (rows, 6)), ((i, 6), (i, 3, 2))):
            st = classes.ShapeTracker.from_shape(first).reshape(then)
            assert st.shape == then and len(st.views) == 1
            shape = [evaluated(size, (), at) for size in then]
            assert (elements(st, at) == np.arange(rows * 6).reshape(shape)).all()


@both
def test_axes_are_repeated_a_variable_number_of_times(classes: Classes) -> None:
    i, j, at = bound("i", 1, 6, 3), bound("j", 1, 6, 2), {"i": 3, "j": 2}
    st = classes.ShapeTracker.from_shape((4, 1)).expand((4, i))
    assert st.shape == (4, i) and (elements(st, at) == np.arange(4)[:, None] + np.zeros((1, 3), int)).all()
    st = st.reshape((4, i, 1)).expand((4, i, j))
    assert st.shape == (4, i, j)
    assert (elements(st, at) == np.broadcast_to(np.arange(4)[:, None, None], (4, 3, 2))).all()


@drop_in("Masks of variable length that tinygrad gets wrong", "0.10.3")
def test_padding_is_repeated_and_flattened(classes: Classes) -> None:
    i, at = bound("i", 1, 10, 3), {"i": 3}
    st = classes.ShapeTracker.from_shape((1,)).pad(((0, 6),)).reshape((1, 7)).expand((i, 7))
    assert st.shape == (i, 7)
    expected = np.array([[0] + [MASKED] * 6] * 3)
    assert (elements(st, at) == expected).all()
    for shape in ((7 * i,), (i * 7,)):
        flat = st.reshape(shape)
        assert flat.shape == (i * 7,) and (elements(flat, at) == expected.ravel()).all()


@both
def test_padding_before_a_variable_number_of_elements(classes: Classes) -> None:
    count = bound("count", 1, 50, 4)
    st = classes.ShapeTracker.from_shape((50,)).shrink(((0, count),)).pad(((3, 0),))
    assert all_same(st.shape, (count + 3,))
    expected = np.array([MASKED] * 3 + list(range(4)))
    assert (elements(st, {"count": 4}) == expected).all()
    st = st.reshape((7,))
    assert st.shape == (7,) and (elements(st, {"count": 4}) == expected).all()


@both
def test_shrinking_by_variables(classes: Classes) -> None:
    i = Variable("i", 1, 4)
    first = classes.ShapeTracker.from_shape((3, 5)).shrink(((0, 3), (0, i)))
    one = classes.ShapeTracker.from_shape((3, 5)).shrink(((0, 2), (i, i + 1)))
    assert first.shape == (3, i) and one.shape == (2, 1)
    array = np.arange(15).reshape(3, 5)
    for value in range(1, 5):
        assert (elements(first, {"i": value}) == array[:, :value]).all()
        assert (elements(one, {"i": value}) == array[:2, value : value + 1]).all()


@both
def test_joined_parts_have_the_strides_of_the_whole(classes: Classes) -> None:
    i, j = bound("i", 1, 6, 2), bound("j", 1, 6, 4)
    rows = classes.ShapeTracker.from_shape((i + j + 3, 5))
    assert all_same(rows.shape, (i + j + 3, 5)) and rows.real_strides() == (5, 1)
    columns = classes.ShapeTracker.from_shape((3, i + j))
    assert all_same(columns.real_strides(), (i + j, 1))
    # A part of the rows, which stands behind others in the whole.
    part = classes.ShapeTracker.from_shape((6, 5)).shrink(((0, j), (0, 5))).pad(((i, 3), (0, 0)))
    assert all_same(part.shape, (i + j + 3, 5))
    expected = np.full((9, 5), MASKED)
    expected[2:6] = np.arange(20).reshape(4, 5)
    assert (elements(part, {"i": 2, "j": 4}) == expected).all()


@both
def test_real_size_reaches_to_the_last_address_of_all(classes: Classes) -> None:
    st = classes.ShapeTracker.from_shape((12, 9)).shrink(((0, Variable("rows", 0, 7)), (0, 9)))
    assert st.real_size() == 7 * 9
    # Heads of a cache whose rows are repeated for groups of heads.
    rows = Variable("start", 0, 60) + 1
    below = classes.View((1, 1, rows, 1, 2, 3, 5), (0, 0, 15, 0, 0, 5, 1), 0, None, False)
    above = classes.View((1, 6, rows, 5), (0, 5, 30, 1), 0, None, False)
    cache = classes.ShapeTracker((below, above))
    assert cache.real_size() == 61 * 15
    assert elements(cache, {"start": 60}).max() == 61 * 15 - 1


# Sums and one view where there is one.


@both
def test_sums_with_a_variable(classes: Classes) -> None:
    row_major, count = classes.ShapeTracker.from_shape, Variable("count", 1, 10)
    for st in (
        row_major((4,)) + row_major((count,)),
        row_major((4,)) + row_major((count.bind(4),)),
        classes.ShapeTracker((row_major((4,)).views[0], row_major((count.bind(4),)).views[0])).simplify(),
    ):
        assert len(st.views) == 1 and len(st.shape) == 1


@drop_in("Merges that tinygrad misses", "0.10.3")
def test_one_element_repeated_on_itself(classes: Classes) -> None:
    count = bound("count", 1, 10, 4)
    row_major = classes.ShapeTracker.from_shape
    st = row_major((4,), (0,)) + row_major((count,), (0,))
    assert len(st.views) == 1 and (elements(st, {"count": 4}) == 0).all()


@both
def test_a_tracker_on_its_like_is_itself(classes: Classes) -> None:
    j = bound("j", 0, 20, 6)
    st = classes.ShapeTracker.from_shape((8, 6)).reshape((8, j))
    assert st + st == st and st.reshape((4, 2, j)) + st == st


@both
def test_repeated_rows_of_variable_lengths(classes: Classes) -> None:
    i, j = Variable("i", 1, 6), Variable("j", 1, 6)
    for shape, strides in (((i, j, 2), (2, 0, 1)), ((i, j, 2), (0, 0, 1)), ((i, j), (0, 0))):
        below = classes.ShapeTracker((classes.View(shape, strides, 0, None, False),))
        above = classes.ShapeTracker.from_shape(shape)
        together = below + above
        for at in ({"i": 3, "j": 4}, {"i": 1, "j": 5}, {"i": 2, "j": 1}):
            assert (elements(together, at) == elements(below, at)).all()
        assert together.reshape((*shape, 1)) == below + above.reshape((*shape, 1))


@both
def test_one_element_of_a_repeated_one(classes: Classes) -> None:
    one = classes.View((1,), (0,), 0, None, True)
    assert classes.View((Variable("i", 1, 7),), (0,), 0, None, False) + one == one
    count = bound("count", 1, 7, 3)
    repeated, row_major = classes.View((count,), (0,), 0, None, False), classes.View.create((count,))
    assert row_major.shape == (count,) and row_major.strides == (1,)
    assert repeated + row_major == repeated


@drop_in("Merges that tinygrad misses")
def test_a_mask_that_masks_nothing_is_no_obstacle(classes: Classes) -> None:
    count = bound("count", 1, 7, 3)
    repeated = classes.View((count,), (0,), 0, None, False)
    whole = classes.View((count,), (1,), 0, ((0, count),), False)
    added = repeated + whole
    assert added is not None and added.shape == (count,)
    assert (elements(classes.ShapeTracker((added,)), {"count": 3}) == 0).all()


@drop_in("Merges that tinygrad misses")
def test_rows_are_repeated_twice(classes: Classes) -> None:
    n = Variable("n", 2, 6)
    below = classes.View.create((3, 1, n, n), (n, 0, 0, 1))
    above = classes.View.create((3, 1, n, n, n), (n * n, 0, 0, n, 1))
    added = below + above
    assert added is not None
    for value in (2, 3, 5):
        together, apart = (
            elements(classes.ShapeTracker(views), {"n": value}) for views in ((added,), (below, above))
        )
        assert (together == apart).all()


@drop_in("Reshapes that tinygrad misses")
def test_one_row_that_is_there_is_reshaped(classes: Classes) -> None:
    # The row of a cache that is written, among rows that are not.
    start = bound("start", 1, 30, 4)
    mask = ((0, 1), (start, start + 1), (0, 3), (0, 2))
    row = classes.View((1, start + 1, 3, 2), (0, 0, 2, 1), 6, mask, False)
    reshaped = row.reshape((1, 1, start + 1, 3, 2))
    assert reshaped is not None
    one, other = (elements(classes.ShapeTracker((view,)), {"start": 4}) for view in (row, reshaped))
    assert (one.ravel() == other.ravel()).all() and (one != MASKED).sum() == 6


@drop_in("Reshapes that tinygrad misses")
def test_an_axis_of_one_is_dropped_under_a_mask(classes: Classes) -> None:
    rows = Variable("start", 1, 30) + 1
    view = classes.View((2, 1, rows, 3), (0, 0, 3, 1), 90, ((1, 2), (0, 1), (0, rows), (0, 3)), False)
    reshaped = view.reshape((2, rows, 3))
    assert reshaped is not None
    for start in (1, 2, 8):
        one, other = (elements(classes.ShapeTracker((each,)), {"start": start}) for each in (view, reshaped))
        assert (one.ravel() == other.ravel()).all()


@drop_in("Strides that tinygrad misses")
@pytest.mark.parametrize("more", [2, Variable("j", 1, 6)])
def test_strides_under_a_mask(more: Any, classes: Classes) -> None:
    i = Variable("i", 1, 6)
    view = classes.View((3, i + more), (i, 1), 0, ((0, 3), (0, i)), False)
    assert classes.ShapeTracker((view,)).real_strides() == (i, None)


@drop_in("Strides that tinygrad misses")
def test_strides_of_a_stack_under_a_mask(classes: Classes) -> None:
    start = Variable("start", 1, 7)
    below = classes.View((3, start + 1, 1), (7, 1, 0), 0, ((0, 3), (0, start), (0, 1)), False)
    above = classes.View((3, start + 1), (start + 1, 1), 0, None, True)
    assert classes.ShapeTracker((below, above)).real_strides() == (7, None)


# Names and their values.


@both
def test_the_values_of_bound_variables(classes: Classes) -> None:
    x, y, z = (Variable(name, 1, 40) for name in "xyz")
    row_major = classes.ShapeTracker.from_shape
    assert row_major((2, 3, 4)).var_vals == {}
    assert row_major((x.bind(5), 3)).var_vals == {x: 5}

    row = row_major((6, 4)).shrink(((x.bind(5), x.bind(5) + 1), (0, 4)))
    assert is_same(row.views[-1].offset, x.bind(5) * 4) and row.var_vals == {x: 5}

    view = classes.View.create((6, 4), (4, 1), 0, ((0, x.bind(5)), (0, 4)))
    assert classes.ShapeTracker((view,)).var_vals == {x: 5}

    two, three, four = x.bind(2), y.bind(3), z.bind(4)
    planes = row_major((two, 6, three)).shrink(((0, two), (four, four + 1), (0, 2)))
    assert is_same(planes.views[-1].offset, three * four) and planes.var_vals == {x: 2, y: 3, z: 4}

    cube = row_major((9, 9, 9)).shrink(((x.bind(5), x.bind(5) + 2), (3, 7), (2, 5))).reshape((24,))
    assert cube.var_vals == {x: 5}
    assert (elements(cube, {"x": 5}) == np.arange(729).reshape(9, 9, 9)[5:7, 3:7, 2:5].ravel()).all()


@both
def test_unbinding(classes: Classes) -> None:
    v = Variable("v", 1, 40)
    view, values = classes.View.create((v.bind(5), 4)).unbind()
    assert view == classes.View.create((v, 4)) and values == {v: 5}

    rows, values = classes.ShapeTracker.from_shape((6, 4)).shrink(((0, v.bind(2)), (0, 4))).unbind()
    assert rows == classes.ShapeTracker((classes.View.create((v, 4)),)) and values == {v: 2}

    row, values = classes.ShapeTracker.from_shape((6, 4)).shrink(((v.bind(2), v.bind(2) + 1), (0, 4))).unbind()
    assert row.shape == (1, 4) and is_same(row.views[0].offset, v * 4) and values == {v: 2}

    reshaped, values = classes.ShapeTracker.from_shape((5, 4)).reshape((v.bind(5), 4)).unbind()
    assert reshaped == classes.ShapeTracker((classes.View.create((v, 4)),)) and values == {v: 5}


@both
def test_only_the_shape_changes_where_a_number_becomes_a_variable(classes: Classes) -> None:
    i = bound("i", 1, 6, 4)
    st = classes.ShapeTracker.from_shape((3, 5)).reshape((1, 3, 5)).expand((2, 3, 5))
    st = st.pad(((1, 1), (0, 0), (0, 0))).shrink(((0, 4), (0, 3), (1, 4)))
    named = st.reshape((i, 3, 3))
    assert len(st.views) == len(named.views) == 1
    before, after = st.views[0], named.views[0]
    assert after.shape == (i, 3, 3) and not after.contiguous
    assert (after.strides, after.offset, after.mask) == (before.strides, before.offset, before.mask)
    assert (elements(named, {"i": 4}) == elements(st)).all()


@both
def test_what_is_repeated_becomes_of_variable_length(classes: Classes) -> None:
    i = bound("i", 1, 6, 4)
    ones = classes.ShapeTracker.from_shape((1, 1)).expand((3, 4))
    named = ones.reshape((3, i))
    assert named.shape == (3, i) and not named.contiguous and len(named.views) == 1
    with pytest.raises(ValueError):
        classes.ShapeTracker.from_shape((1, 1)).expand((4, 3)).reshape((3, i))
