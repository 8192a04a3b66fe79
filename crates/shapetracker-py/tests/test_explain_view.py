"""Can an array be a view under a new shape? NumPy's own answer is the oracle, and the recipes are run."""

from __future__ import annotations

import random
from typing import Any

import pytest

from shapetracker import Explanation, NotABox, Obstacle, ShapeTracker, UnevenStep, View, explain_view, of

np = pytest.importorskip("numpy", reason="NumPy is the oracle, and is not installed")

TRANSPOSED = """\
No, shape (4, 6) with strides (1, 4) cannot be viewed as (24,)

What is in the way
  new axis 0 (size 24) would run over old axes 0 and 1 (sizes 4, 6); that needs stride[0] = size[1] * stride[1] = 24, \
but stride[0] is 1.

Proof
  along axis 0 the address moves by 4 from [0] to [1] (0 to 4), but by -19 from [5] to [6] (20 to 1): one stride \
cannot do both.

The smallest copy that helps (all 24 elements)
  copy     into a fresh row-major buffer of shape (4, 6)
  view     that buffer as (24,) with strides (1,)
  NumPy    x.copy().reshape(24)
"""

SPLIT = """\
Yes, shape (4, 6) with strides (1, 4) can be viewed as (4, 2, 3)

  strides  (1, 12, 4)
  offset   0
  NumPy    x.reshape(4, 2, 3)
"""


def viewable(x: Any, shape: tuple[int, ...]) -> bool:
    """NumPy's answer."""
    try:
        v = np.reshape(x, shape, copy=False)
    except TypeError:
        # NumPy 1 has no such argument: a reshape that copies shares no memory.
        v = np.reshape(x, shape)
        return bool(np.shares_memory(v, x))
    except ValueError:
        return False
    assert x.size == 0 or np.shares_memory(v, x)
    return True


def shape_of(rng: random.Random, numel: int) -> tuple[int, ...]:
    """A random shape with so many elements."""
    shape: list[int] = []
    while numel > 1 or rng.random() < 0.2:
        size = rng.choice([d for d in range(1, numel + 1) if numel % d == 0])
        shape.append(size)
        numel //= size
    return tuple(shape)


def strided(rng: random.Random, numel: int) -> Any:
    """A random array of any strides, some of them negative, zero or overlapping."""
    shape = shape_of(rng, numel)
    x = np.arange(numel).reshape(shape)
    rank = x.ndim
    for _ in range(rng.randint(0, 3)):
        kind = rng.choice(["transpose", "flip", "step", "broadcast", "windows"])
        if kind == "transpose":
            x = x.transpose(rng.sample(range(rank), rank))
        elif kind == "flip" and rank:
            x = np.flip(x, rng.randrange(rank))
        elif kind == "broadcast" and rank:
            axis = rng.randrange(rank)
            x = np.broadcast_to(np.take(x, [0], axis), x.shape)
        elif kind == "windows" and rank:
            memory = np.arange(200)
            strides = [8 * rng.randint(0, 3) for _ in range(rank)]
            x = np.lib.stride_tricks.as_strided(memory, x.shape, strides)
        elif kind == "step" and rank:
            axis = rng.randrange(rank)
            x = np.repeat(x, 2, axis)[tuple(slice(None, None, 2) if a == axis else slice(None) for a in range(rank))]
    return x


def test_the_answer_is_numpys_and_the_recipe_works() -> None:
    rng = random.Random(1)
    seen = {"yes": 0, "no": 0, "recipes": 0, "less than all": 0}
    for _ in range(4000):
        x = strided(rng, rng.choice([4, 6, 8, 12, 16, 24, 36, 48]))
        to = shape_of(rng, x.size)
        answer = explain_view(x, to)
        possible = viewable(x, to)
        assert bool(answer) is answer.possible is possible, (x.shape, x.strides, to)
        assert answer.shape == to and answer.tracker == of(x)
        expected = np.ascontiguousarray(x).reshape(to)
        if possible:
            seen["yes"] += 1
            assert answer.view is not None and answer.strides is not None
            theirs = np.reshape(x, to)
            strides = tuple(stride // 8 for stride in theirs.strides)
            assert answer.strides == strides
            assert all(a == b for a, b, size in zip(answer.view.strides, strides, to) if size > 1)
            assert answer.obstacles == () and answer.witness is None and answer.elements == 0
            assert answer.copied is None and answer.copied_view is None and answer.pieces == () and answer.smallest
            assert answer.recipe == f"x.reshape({', '.join(map(str, to)) if to else '()'})"
            assert np.shares_memory(eval(answer.recipe), x)
            continue
        seen["no"] += 1
        assert answer.view is None and answer.strides is None
        assert answer.obstacles and isinstance(answer.witness, UnevenStep)
        assert answer.pieces and answer.copied_view is not None and answer.smallest
        assert answer.copied == (answer.pieces[0] if len(answer.pieces) == 1 else None)
        assert sum(piece.numel for piece in answer.pieces) == answer.elements <= x.size
        assert all(obstacle.kind == "strides" and obstacle.stride != obstacle.needed for obstacle in answer.obstacles)
        if answer.recipe is None:
            continue
        seen["recipes"] += 1
        seen["less than all"] += answer.elements < x.size
        result = eval(answer.recipe)
        assert result.shape == to and (result == expected).all(), answer
        assert not np.shares_memory(result, x)
        owner = result
        while owner.base is not None:
            owner = owner.base if isinstance(owner.base, np.ndarray) else owner.base.base
        assert owner.size == answer.elements, answer
    assert seen["yes"] > 1000 and seen["no"] > 1000 and seen["less than all"] > 50, seen
    assert seen["recipes"] > 0.98 * seen["no"], seen


def test_the_text_is_that_of_the_command() -> None:
    x = np.arange(24).reshape(6, 4).T
    assert str(explain_view(x, 24)) == TRANSPOSED
    assert str(explain_view(x, 4, 2, -1)) == SPLIT
    assert repr(explain_view(x, 24)) == "<Explanation: no view of shape (24,); 24 elements to copy>"
    assert repr(explain_view(x, 4, 2, 3)) == "<Explanation: yes, a view of shape (4, 2, 3)>"


def test_broadcast_axes_are_not_copied() -> None:
    x = np.broadcast_to(np.arange(15).reshape(5, 3).T, (8, 3, 5))
    answer = explain_view(x, (8, 15))
    assert isinstance(answer, Explanation)
    assert answer.elements == 15 and answer.copied == View((1, 3, 5), (0, 1, 3))
    assert answer.copied_view == View((8, 15), (0, 1))
    assert answer.recipe == "np.broadcast_to(x[:1].copy().reshape(1, 15), (8, 15))"
    assert "The smallest copy that helps (15 of 120 elements)" in str(answer)


def test_windows_that_share_elements_are_copied_once() -> None:
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(6), 3)
    x = np.broadcast_to(windows[:, None, :], (4, 2, 3))
    answer = explain_view(x, 2, 4, 3)
    assert not answer and answer.elements < x.size and answer.recipe is not None
    assert np.array_equal(eval(answer.recipe, {"np": np, "x": x}), x.reshape(2, 4, 3))


def test_found_by_an_audit_the_smallest_copy_may_interleave() -> None:
    x = np.broadcast_to(np.array([[0], [5]]), (2, 6))
    answer = explain_view(x, 3, 2, 2)
    assert answer.elements == 4 and answer.copied == View((2, 2), (1, 0)) and answer.smallest
    assert answer.copied_view == View((3, 2, 2), (1, 1, 0))
    assert answer.recipe is not None and (eval(answer.recipe) == x.reshape(3, 2, 2)).all()
    x = np.lib.stride_tricks.as_strided(np.arange(7), (2, 3, 4), (8, 8, 8))
    answer = explain_view(x, 2, 12)
    assert answer.elements == 16 and answer.copied_view == View((2, 12), (4, 1))
    assert answer.recipe is not None and (eval(answer.recipe) == x.reshape(2, 12)).all()


def test_parts_of_repeated_elements_are_copied_one_after_another() -> None:
    x = np.broadcast_to(np.arange(5), (2, 5))
    answer = explain_view(x, 5, 2)
    assert len(answer.pieces) > 1 and answer.copied is None and answer.elements == sum(p.numel for p in answer.pieces)
    assert answer.recipe is not None and answer.recipe.startswith("np.lib.stride_tricks.as_strided(np.concatenate((")
    assert (eval(answer.recipe) == x.reshape(5, 2)).all()
    assert "into a fresh buffer one after another: shape" in str(answer)


def test_what_is_not_known_to_be_the_smallest_copy_says_so() -> None:
    answer = explain_view(View((10_000, 7, 9), (1, 3, 2)), 9, 70_000)
    assert answer.elements == 630_000 and not answer.smallest
    assert "\nA copy that helps (all 630000 elements)\n" in str(answer)
    assert "Whether a smaller one helps was not decided." in str(answer)


def test_obstacles_say_which_axes_and_which_strides() -> None:
    (obstacle,) = explain_view(View((5, 2, 3), (6, 1, 2)), 5, 3, 2).obstacles
    assert isinstance(obstacle, Obstacle)
    assert (obstacle.kind, obstacle.old_axes, obstacle.new_axes) == ("strides", (1, 2), (1,))
    assert (obstacle.stride, obstacle.needed) == (1, 6)
    assert str(obstacle).startswith("new axis 1 (size 3) would run over old axes 1 and 2")
    assert str(obstacle) in repr(obstacle)
    assert obstacle == explain_view(View((5, 2, 3), (6, 1, 2)), 5, 3, 2).obstacles[0]
    huge = explain_view(View((3, 2**61), (1, 3)), 3 * 2**61).obstacles[0]
    assert huge.needed == 3 * 2**61
    assert explain_view(View((2, 4), (0, 2**62 // 3)), 8).obstacles[0].needed == 4 * (2**62 // 3)


def test_masks_can_be_in_the_way_of_views_and_trackers() -> None:
    padded = ShapeTracker.contiguous(4).pad((1, 1))
    answer = explain_view(padded, 2, 3)
    assert not answer and isinstance(answer.witness, NotABox)
    (obstacle,) = answer.obstacles
    assert (obstacle.kind, obstacle.old_axes, obstacle.new_axes) == ("mask", (0,), (0, 1))
    assert obstacle.stride is None and obstacle.needed is None and answer.recipe is None
    assert "and mask ((1, 5),)" in str(answer)
    assert explain_view(padded, 6, 1).view == View((6, 1), (1, 0), -1, ((1, 5), (0, 1)))


def test_trackers_of_several_views_may_be_one_under_the_new_shape() -> None:
    stack = ShapeTracker.contiguous(3, 2).permute(1, 0).reshape(3, 2)
    assert explain_view(stack, 2, 3).view == View((2, 3), (1, 2))
    answer = explain_view(stack, 6)
    assert not answer and answer.obstacles == () and answer.copied is None
    assert answer.copied_view == View((6,)) and answer.elements == 6 and isinstance(answer.witness, UnevenStep)
    assert "shape (3, 2) through 2 views cannot be viewed as (6,)" in str(answer)
    assert "into a fresh row-major buffer of shape (6,)" in str(answer)


def test_mistakes_are_refused_with_a_sentence() -> None:
    x = np.arange(6)
    with pytest.raises(ValueError, match="reshape: .*6"):
        explain_view(x, 7)
    with pytest.raises(ValueError, match="reshape"):
        explain_view(x, -1, -1)
    with pytest.raises(ValueError, match="reshape"):
        explain_view(ShapeTracker.contiguous(3, 2).permute(1, 0).reshape(3, 2), 7)
    with pytest.raises(TypeError, match="explain_view: number 0 is to be a whole number"):
        explain_view(x, 1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="explain_view: takes a NumPy array"):
        explain_view([1, 2], 2)
    records = np.zeros(4, [("a", "u1"), ("b", "f8")])
    with pytest.raises(ValueError, match="explain_view: a step along axis 0 moves 9 bytes"):
        explain_view(records["b"], 2, 2)
    with pytest.raises(TypeError):
        Explanation()  # type: ignore[call-arg]


def test_notebooks_show_the_text_escaped() -> None:
    html = explain_view(np.arange(24).reshape(6, 4).T, 24)._repr_html_()
    text, _, picture = html.partition("</pre>")
    assert text.startswith("<pre>No, shape (4, 6)") and picture.startswith("<div") and "</svg>" in picture


def test_objects_without_methods_have_no_recipe() -> None:
    x = memoryview(bytes(range(24))).cast("B", (4, 6))
    assert explain_view(x, 24).possible and explain_view(x, 24).recipe is None
    assert explain_view(np.zeros((3, 0)), 0, 7).possible
    assert explain_view(np.array(1.0), 1, 1).recipe == "x.reshape(1, 1)"
    assert explain_view(np.ones((1, 1)), ()).recipe == "x.reshape(())"
