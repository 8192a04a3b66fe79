"""What the stand-in for tinygrad's modules looks like: this needs no tinygrad."""

import copy
import dataclasses
import enum
import pickle
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

import shapetracker
from shapetracker.compat.tinygrad import UOp
from shapetracker.compat.tinygrad import shapetracker as tracker_module
from shapetracker.compat.tinygrad import uop as uop_module
from shapetracker.compat.tinygrad import view as view_module
from shapetracker.compat.tinygrad.shapetracker import ShapeTracker, mops, views_to_indexed_uops, views_to_real_strides
from shapetracker.compat.tinygrad.view import View, ViewError, _reshape_mask, get_contraction_with_reduce, merge_dims



@pytest.fixture(autouse=True)
def without_tinygrad(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a program that has not imported tinygrad: another test may have."""
    monkeypatch.setattr(uop_module, "loaded", lambda: None)


VIEW = View.create((3, 4), (1, 3), 2, ((0, 2), (1, 4)))
STACK = ShapeTracker.from_shape((3, 2)).permute((1, 0)).reshape((3, 2))


def test_views_and_trackers_look_like_frozen_dataclasses() -> None:
    assert repr(VIEW) == "View(shape=(3, 4), strides=(1, 3), offset=2, mask=((0, 2), (1, 4)), contiguous=False)"
    assert eval(repr(STACK), vars(tracker_module)) == STACK
    assert [field.name for field in dataclasses.fields(VIEW)] == ["shape", "strides", "offset", "mask", "contiguous"]
    assert dataclasses.astuple(VIEW) == ((3, 4), (1, 3), 2, ((0, 2), (1, 4)), False)
    assert dataclasses.asdict(STACK)["views"][1]["shape"] == (3, 2)
    assert dataclasses.replace(VIEW, offset=5).offset == 5
    assert dataclasses.replace(STACK, views=(VIEW,)).views == (VIEW,)
    match VIEW:
        case View(shape, strides, offset):
            assert (shape, strides, offset) == (VIEW.shape, VIEW.strides, VIEW.offset)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'offset'"):
        VIEW.offset = 3  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'views'"):
        del STACK.views
    assert weakref.ref(VIEW)() is VIEW


def test_objects_that_are_equal_are_one_key_and_survive_being_stored() -> None:
    for thing in (VIEW, STACK, View((1,), (7,), 0, None, True), *STACK.to_indexed_uops()):
        for again in (pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)):
            assert again == thing and hash(again) == hash(thing) and {thing: 1}[again] == 1
    assert VIEW != STACK and VIEW != (3, 4) and VIEW is not None


def test_trackers_are_ordered_as_the_tuples_of_their_fields_are() -> None:
    one = ShapeTracker(STACK.views[:1])
    assert one < STACK and STACK >= one and sorted([STACK, one]) == [one, STACK]
    with pytest.raises(TypeError, match="'<' not supported between instances of"):
        assert one < ShapeTracker.from_shape((3,))


def test_raw_fields_are_kept_and_canonical_ones_are_worked_with() -> None:
    raw = View((1, 4), (9, 1), 0, ((0, 1), (0, 4)), False)
    assert raw.strides == (9, 1) and raw.mask == ((0, 1), (0, 4)) and not raw.contiguous
    assert raw != View.create((1, 4)) and raw.permute((1, 0)) == View.create((4, 1))
    assert raw + View.create((2,)) == View.create((2,)) and raw.unbind() == (View.create((1, 4)), {})
    assert raw.pad(((0, 0), (0, 0))) is raw and raw.reshape((1, 4)) is raw
    wide = View((3,), (1,), 0, ((-1, 9),), False)
    assert wide.mask == ((-1, 9),) and wide.flip((True,)) == View.create((3,), (-1,), 2)
    assert View((), (), 0, (), False).substitute({}) == View.create(())


def test_there_are_no_variables() -> None:
    assert VIEW.vars() == set() and STACK.vars() == set() and STACK.var_vals == {}
    assert STACK.unbind() == (STACK, {}) and STACK.substitute({}) == STACK
    symbol = SimpleNamespace()
    for call in (
        lambda: View.create((symbol, 2)),
        lambda: VIEW.reshape((symbol,)),
        lambda: VIEW.pad(((0, symbol), (0, 0))),
        lambda: ShapeTracker.from_shape((3, symbol)),
        lambda: STACK.expand((3, symbol)),
    ):
        with pytest.raises(TypeError, match="symbolic sizes are UOps of a tinygrad that is loaded"):
            call()
    with pytest.raises(TypeError, match="tinygrad is not loaded"):
        STACK.to_uop()


def test_mistakes_are_what_either_except_catches() -> None:
    for call in (
        lambda: View.create((-1, 2)),
        lambda: View.create((2, 2), (1,)),
        lambda: View.create((2, 2), None, 0, ((0, 1),)),
        lambda: VIEW.pad(((0, 0),)),
        lambda: VIEW.pad(((-1, 0), (0, 0))),
        lambda: VIEW.shrink(((0, 4), (0, 4))),
        lambda: VIEW.expand((3, 5)),
        lambda: VIEW.expand((3, -1)),
        lambda: VIEW.permute((0, 0)),
        lambda: VIEW.permute((0, -1)),
        lambda: VIEW.flip((True,)),
        lambda: VIEW.reshape((-1,)),
        lambda: VIEW.reshape((5,)),
        lambda: STACK.reshape((5,)),
        lambda: STACK.invert((-3,)),
        lambda: ShapeTracker(()),
        lambda: ShapeTracker((View.create((2,)), View.create((3,)))).real_strides(),
        lambda: merge_dims((2,), (1, 2)),
        lambda: _reshape_mask(((0, 1),), (2,), (3,)),
    ):
        for kind in (ValueError, AssertionError, ViewError):
            with pytest.raises(kind) as caught:
                call()
            assert len(str(caught.value)) > 20
    for call in (
        lambda: View.create((1 << 64,)),
        lambda: View.create((1 << 40, 1 << 40)),
        lambda: View.create((2,), (1 << 63,)),
        lambda: STACK.pad(((0, 1 << 62), (0, 1 << 62))),
    ):
        with pytest.raises(OverflowError, match="64-bit"):
            call()
    for wrong in (3, "ab", [1], (1, 2), None):
        with pytest.raises(TypeError):
            ShapeTracker(wrong)  # type: ignore[arg-type]


def test_operations_have_names() -> None:
    op = enum.Enum("Ops", "RESHAPE PERMUTE").RESHAPE
    assert STACK.mop(op, (6,)) == STACK.mop("RESHAPE", (6,)) == mops[op](STACK, (6,)) == STACK.reshape((6,))
    assert STACK.mop("FLIP", (True, False)) == STACK.flip((True, False))
    assert list(mops) == ["RESHAPE", "PERMUTE", "EXPAND", "SHRINK", "FLIP", "PAD"]
    with pytest.raises(TypeError, match="is no movement operation; there are RESHAPE, PERMUTE"):
        STACK.mop("WHERE", ())


def test_questions_of_trackers() -> None:
    st = ShapeTracker.from_shape((4, 3)).pad(((1, 0), (0, 0)))
    assert (st.shape, st.size, st.reduce((0,)), st.real_size()) == ((5, 3), 15, (1, 3), 12)
    assert st.real_strides() == (None, 1) and st.real_strides(True) == (3, 1)
    assert st.unit_stride_axes() == [1] and [st.axis_is_masked(axis) for axis in (-1, 0, 1, 2)] == [0, 1, 0, 0]
    assert not st.contiguous and not st.consecutive
    assert ShapeTracker.from_shape((4, 3)).contiguous
    assert ShapeTracker.from_shape((4,)).shrink(((1, 3),)).consecutive
    assert views_to_real_strides(STACK.views) == STACK.real_strides() == (None, None)
    assert ShapeTracker.from_shape((2, 0)).real_size() == 0
    assert isinstance(st.exact, shapetracker.ShapeTracker) and isinstance(VIEW.exact, shapetracker.View)


def test_scalars_cannot_be_masked_in_one_view() -> None:
    nothing = ShapeTracker.from_shape((1,)).pad(((1, 0),)).shrink(((0, 1),))
    assert nothing.views[0].mask == ((0, 0),) and nothing.views[0].reshape(()) is None
    scalar = nothing.reshape(())
    assert len(scalar.views) == 2 and scalar.simplify() is scalar and scalar.views[-1].mask is None
    assert scalar.to_indexed_uops()[1].render() == "False"
    assert scalar.reshape((1, 1)).simplify().views == (View.create((1, 1), None, 0, ((0, 0), (0, 0))),)
    assert len((nothing + scalar).views) == 2


def test_expressions_are_written_in_tinygrads_style() -> None:
    index, valid = VIEW.to_indexed_uops()
    assert (index.render(), valid.render()) == ("((ridx0+(ridx1*3))+2)", "((ridx0<2)&((ridx1<1)!=True))")
    assert (index.vmin, index.vmax, valid.vmin, valid.vmax) == (2, 13, False, True)
    index, valid = ShapeTracker.from_shape((4,)).flip((True,)).to_indexed_uops()
    assert (index.render(), valid.render()) == ("(3+(ridx0*-1))", "True")
    assert index.evaluate(ridx0=1) == 2 and index.simplify() == index and bool(valid)
    x, y = UOp.variable("x", 0, 3), UOp.range(None, 2, 1)
    index, valid = views_to_indexed_uops(STACK.views, (x - x, y))
    assert {name: index.evaluate(x=0, ridx1=name) for name in (0, 1)} == {0: 0, 1: 2}
    index, valid = STACK.to_indexed_uops((2, 1))
    assert int(index) == 5 and index.ssimplify() == 5 and valid.ssimplify() is True
    with pytest.raises(ValueError, match="ranges from 0 to 7"):
        STACK.to_indexed_uops((UOp.variable("x", 0, 7), 0))
    with pytest.raises(ValueError, match="takes one index an axis: there are 2, not 1"):
        STACK.to_indexed_uops((0,))
    with pytest.raises(TypeError, match="tinygrad's own are not taken here"):
        STACK.to_indexed_uops((SimpleNamespace(), 0))
    both = VIEW.to_indexed_uops(vexpr=UOp.range(None, 4, 1).eq(1) & (x < 2))[1]
    assert both.evaluate(x=1, ridx1=1, ridx0=0) is True


def test_expressions_are_made_with_operators() -> None:
    x, y = UOp.variable("x", 0, 9), UOp.range(None, 4, 1)
    shown = {
        (x + 3) * 2 - y: lambda x, y: (x + 3) * 2 - y,
        5 - x // 2 % 3: lambda x, y: 5 - x // 2 % 3,
        -x + 7 * y: lambda x, y: -x + 7 * y,
        (x < y) & (x >= 1) | (y > 2): lambda x, y: (x < y) and x >= 1 or y > 2,
        (x <= 4).logical_not() * y.ne(3): lambda x, y: not x <= 4 and y != 3,
        x.eq(y): lambda x, y: x == y,
        UOp.const(None, 3) + x: lambda x, y: 3 + x,
        view_module.unravel((5, 2), x)[0] + y: lambda x, y: x // 2 + y,
    }
    for expression, wanted in shown.items():
        for simplify in (True, False):
            code = compile(expression.render(simplify), "text", "eval")
            for a in range(10):
                for b in range(4):
                    assert eval(code, {"x": a, "ridx1": b}) == wanted(a, b) == expression.evaluate(x=a, ridx1=b), code
    assert (x * 2).substitute({x: y + 1}) == (y + 1) * 2
    assert int(x - x) == 0 and (x < 10).ssimplify() is True
    with pytest.raises(ValueError, match="is not one value: it ranges from 0 to 9"):
        int(x)
    with pytest.raises(TypeError, match="only variables are replaced"):
        x.substitute({x + 1: y})


def test_reduced_axes_borrow_axes_of_size_one() -> None:
    assert get_contraction_with_reduce((4, 1, 1), (4, 1, 1), (1,)) == [[0], [1], [2]]
    assert get_contraction_with_reduce((4, 4), (4, 4, 1), (2,)) is None


def test_everything_is_documented() -> None:
    modules: list[Any] = [tracker_module, view_module]
    for module in modules:
        for name in module.__all__:
            if name != "mops":
                assert getattr(module, name).__doc__, name
    for kind in (View, ShapeTracker, UOp):
        for name, value in vars(kind).items():
            assert name.startswith("_") or name in UOp.__slots__ or value.__doc__, f"{kind.__name__}.{name}"
