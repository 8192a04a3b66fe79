"""What tinygrad's unit tests demand of single views and of sums of two, demanded of its classes and of the stand-ins.

As in test_tinygrad_behaviour.py the layouts are this package's own, and arrays of addresses decide what is right.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from behaviour import GENUINE, Classes, both, drop_in, elements
from oracle import MASKED


@both
def test_masks_that_mask_nothing_are_none(classes: Classes) -> None:
    create = classes.View.create
    for shape, strides in (((3, 2, 4), (8, 4, 1)), ((4, 3, 2), (1, 4, 10)), ((1, 5, 1), (0, 1, 0))):
        whole = tuple((0, size) for size in shape)
        assert create(shape, strides, 0, whole) == create(shape, strides)
    assert create((3, 4, 5), None, 0, ((0, 3), (0, 4), (0, 5))).contiguous


@both
def test_without_elements_a_view_becomes_any_other_without(classes: Classes) -> None:
    nothing = classes.View.create((3, 6), None, 0, ((0, 0), (0, 0)))
    assert nothing.reshape((18,)) == classes.View.create((18,), None, 0, ((0, 0),))


@both
def test_minify_leaves_the_axes_that_matter(classes: Classes) -> None:
    create = classes.View.create
    fewest = create((3, 4), (40, 3), 5)
    for places in itertools.combinations_with_replacement(range(3), 2):
        shape, strides = [3, 4], [40, 3]
        for place in reversed(places):
            shape.insert(place, 1)
            strides.insert(place, 0)
        assert create(tuple(shape), tuple(strides), 5).minify() == fewest
    assert create((6, 7)).minify() == create((42,))
    assert create((6, 7)).permute((1, 0)).minify().shape == (7, 6)
    assert create((2, 3, 4, 5)).permute((1, 0, 2, 3)).minify().shape == (3, 2, 20)


@both
def test_merge_dims_groups_axes_that_step_alike(classes: Classes) -> None:
    strides = {(5, 6, 7): (42, 7, 1), (3, 2): (0, 1), (4, 2, 3): (0, 0, 1), (2, 3, 5): (3, 1, 0), (2, 2): (0, 0)}
    padded = [
        # Padded after it was made; the first entry is the only one along an axis padded from 1.
        ((1, 3), ((2, 0), (0, 1))),
        ((1, 1, 3), ((1, 1), (2, 0), (0, 2))),
        ((1, 1, 2, 3), ((1, 0), (2, 0), (0, 1), (0, 1))),
        ((3, 1, 2), ((0, 0), (1, 1), (0, 1))),
        ((2, 3, 1), ((0, 0), (0, 0), (0, 2))),
        ((3, 1, 1), ((0, 0), (0, 2), (0, 1))),
    ]
    views = [classes.View.create(shape, strides) for shape, strides in strides.items()]
    views += [classes.View.create(shape).pad(pads) for shape, pads in padded]
    for view in views:
        groups = classes.merge_dims(view.shape, view.strides, view.mask)
        # Joined axes: an entry of a group is the entry of its axes, in row-major order, wherever there is an element.
        merged = np.indices([size for size, _, _ in groups]) if groups else np.zeros((0,))
        address = sum((axis * step for axis, (_, step, _) in zip(merged, groups)), np.zeros((), int)).ravel()
        read = elements(classes.ShapeTracker((view,))).ravel()
        there = read != MASKED
        assert len(set((address.reshape(read.shape) - read)[there].tolist())) == 1, (view, groups)
        assert len(groups) <= len(view.shape)
    assert classes.merge_dims((5, 6, 7), (42, 7, 1)) == ((210, 1, 210),)
    for shape, strides_ in strides.items():
        assert classes.merge_dims(shape, strides_) == GENUINE.merge_dims(shape, strides_)
    for shape, pads in padded:
        view = classes.View.create(shape).pad(pads)
        arguments = view.shape, view.strides, view.mask
        assert classes.merge_dims(*arguments) == GENUINE.merge_dims(*arguments)


# Two views that are one, the first next to memory.
SUMS: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = [
    # What is read of a padded view is all there.
    (((4, 7), (4, 1), -3, ((0, 4), (3, 7))), ((2, 3), (7, 1), 10)),
    (((2, 6, 5), (20, 4, 1), -9, ((0, 2), (2, 6), (1, 5))), ((2, 2, 2), (30, 5, 1), 16)),
    # Reversed twice.
    (((2, 5, 3), (12, -3, 1), 9, ((0, 2), (0, 4), (0, 3))), ((2, 3, 3), (15, -3, 1), 6)),
    # The padding stays.
    (((2, 6, 5), (20, 5, 1), -10, ((0, 2), (2, 6), (0, 4))), ((2, 6, 4), (30, 5, 1), 0)),
    (((1, 5, 6), (0, 6, 1), -6, ((0, 1), (1, 5), (0, 6))), ((5, 4), (6, -1), 4)),
    # Nothing but padding is read.
    (((2, 5, 3), (12, -3, 1), 9, ((0, 2), (0, 2), (0, 3))), ((2, 3, 3), (15, 3, 1), 6)),
    (((3,), (0,), 0, ((2, 3),)), ((1, 1), (0, 0), 1)),
    (((2, 5), (0, 1), 0, ((0, 1), (0, 5))), ((1, 5), (0, 1), 5)),
    # No elements at all.
    (((1, 8, 6), (0, 4, 1), -8, ((0, 1), (2, 6), (0, 4))), ((0, 0, 0), (0, 0, 0))),
    # A scalar that is there.
    (((4, 3), (0, 1), 0, ((0, 2), (0, 3))), ((), ())),
]


@both
@pytest.mark.parametrize("below, above", SUMS)
def test_views_that_are_one_are_added(below: Any, above: Any, classes: Classes) -> None:
    one, other = classes.View.create(*below), classes.View.create(*above)
    added = one + other
    assert added is not None and added.shape == other.shape
    assert (elements(classes.ShapeTracker((added,))) == elements(classes.ShapeTracker((one, other)))).all()
    assert repr(added) == repr(GENUINE.View.create(*below) + GENUINE.View.create(*above))


@drop_in("Merges that tinygrad misses")
@pytest.mark.parametrize(
    "below, above",
    [
        # Padding on one side of an axis that the later view splits, flipped.
        (((3, 6), (3, 1), -3, ((0, 3), (3, 6))), ((3, 5, 2, 3), (6, 0, -3, -1), 5)),
        # Padding of the innermost axis, in blocks of two.
        (((3, 5, 8), (30, 1, 5), -10, ((0, 3), (0, 5), (2, 8))), ((5, 4, 3, 2, 2), (8, 2, 40, 1, 0))),
        # The outermost one, in blocks of two, at an offset.
        (((8, 5, 3), (1, 12, -4), 8, ((2, 6), (0, 5), (0, 3))), ((4, 2, 5, 2), (30, 15, 3, 1), 1)),
        # Reordered blocks that begin in the padding.
        (((6, 12, 3), (30, 3, 1), -9, ((0, 5), (3, 12), (0, 3))), ((4, 3, 3, 4), (36, 1, 3, 9), 36)),
        # Columns of padded rows, repeated.
        (((4, 1, 12), (8, 0, 1), -2, ((0, 4), (0, 1), (2, 10))), ((6, 2, 4, 2, 1), (2, 1, 12, 0, 0))),
    ],
)
def test_views_that_tinygrad_keeps_apart_are_one(below: Any, above: Any, classes: Classes) -> None:
    one, other = classes.View.create(*below), classes.View.create(*above)
    added = one + other
    assert added is not None and added.shape == other.shape
    assert (elements(classes.ShapeTracker((added,))) == elements(classes.ShapeTracker((one, other)))).all()


@both
def test_a_scalar_that_is_not_there_is_no_single_view(classes: Classes) -> None:
    assert classes.View.create((3,), (0,), 0, ((1, 3),)) + classes.View.create(()) is None
