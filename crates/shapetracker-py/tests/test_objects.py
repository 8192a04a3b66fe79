"""What Python expects of any object: reprs that evaluate, equality, hashes, pickles, threads; and of any error."""

import copy
import itertools
import pickle
import threading
from importlib.metadata import version
from collections.abc import Callable

import pytest

import shapetracker
from shapetracker import (
    Conditions,
    Cost,
    Expr,
    NotABox,
    NotInvertible,
    ParseError,
    ShapeTracker,
    Step,
    Undecided,
    Unmerged,
    UnevenStep,
    View,
    conditions,
    merge,
)

STACK = ShapeTracker.contiguous(3, 2).permute(1, 0).reshape(3, 2)


def unmerged(make: Callable[[], object]) -> Unmerged:
    with pytest.raises(Unmerged) as caught:
        make()
    return caught.value


OBJECTS = [
    View((2, 3)),
    View((4, 3), (1, 4), 2, ((0, 4), (1, 3))),
    View(()),
    View((0, 3)),
    View((), (), 5, ()),
    STACK,
    ShapeTracker.contiguous(()),
    ShapeTracker.contiguous(2, 3).pad((1, 1), (0, 2)).reshape(-1),
    unmerged(STACK.single_view).witness,
    unmerged(lambda: View((6,), mask=[(0, 4)]).reshape(2, 3)).witness,
    Step((1, 2), 3, 4),
    conditions((2, 3), View((3, 2))),
    Cost(1, 2, 3),
    Expr("x*4 + y if x < 3 else min(x, y)", x=range(10), y=(-2, 5)),
    Expr("not (x == 3 or False)", x=range(10)),
]


@pytest.mark.parametrize("thing", OBJECTS, ids=repr)
def test_reprs_evaluate(thing: object) -> None:
    assert eval(repr(thing), vars(shapetracker)) == thing


@pytest.mark.parametrize("thing", [*OBJECTS, STACK.index_expr()], ids=repr)
def test_things_can_be_pickled_and_copied(thing: object) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(thing, protocol))
        assert again == thing and hash(again) == hash(thing) and repr(again) == repr(thing)
    assert copy.copy(thing) == copy.deepcopy(thing) == thing
    assert thing != object() and not thing == 3


def test_things_are_different_when_they_are() -> None:
    for at, thing in enumerate(OBJECTS):
        for other in OBJECTS[at + 1 :]:
            assert thing != other
    assert len(set(OBJECTS)) == len(OBJECTS)


@pytest.mark.parametrize("thing", [View((2, 3)), STACK, Cost(1, 2, 3), Expr("x", x=range(3))], ids=repr)
def test_nothing_can_be_changed(thing: object) -> None:
    for name in ["shape", "anything"]:
        with pytest.raises(AttributeError):
            setattr(thing, name, 3)


def test_the_version_is_that_of_the_package() -> None:
    assert shapetracker.__version__ == version("shapetracker")


def test_arguments_are_single_or_in_a_sequence() -> None:
    st = ShapeTracker.contiguous(2, 3)
    assert ShapeTracker.contiguous((2, 3)) == ShapeTracker.contiguous([2, 3]) == st
    assert st.reshape(3, 2) == st.reshape((3, 2)) == st.reshape([3, -1]) == st.reshape(iter([3, 2]))
    assert st.pad((1, 0), (0, 2)) == st.pad(((1, 0), (0, 2))) == st.pad([(1, 0), [0, 2]])
    assert st.pad(None, (0, 2)) == st.pad((0, 0), (0, 2)) == st.pad([None, (0, 2)])
    assert st.shrink((0, 1), None) == st.shrink((0, 1), (0, 3)) == st[:1]
    assert st.flip(1) == st.flip(-1) == st.flip((1,)) == st.flip(False, True) == st.flip([False, True])
    line = ShapeTracker.contiguous(4)
    assert line.pad((1, 2)) == line.pad(((1, 2),)) == line.pad([(1, 2)])
    assert line.pad(None) == line.pad((0, 0)) == line
    scalar = ShapeTracker.contiguous()
    assert scalar == ShapeTracker.contiguous(()) == line[0].reshape() == line[:1].reshape(())
    assert scalar.permute() == scalar.pad() == scalar.flip() == scalar.pad(()) == scalar
    assert line.squeeze() == line and line.unsqueeze(0).squeeze() == line == line.unsqueeze(-1).squeeze(1)


def test_slices_end_where_the_tensor_does() -> None:
    assert STACK[: 10**30] == STACK[-(10**30) :] == STACK
    assert STACK[10**30 :].shape == (0, 2)


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    st = ShapeTracker.contiguous(*numpy.array([2, 3]))
    assert st == ShapeTracker.contiguous(numpy.array([2, 3])) == ShapeTracker.contiguous(2, numpy.int8(3))
    assert st[numpy.int64(1)] == st[1]
    assert st.pad(numpy.array([[1, 1], [0, 0]])) == st.pad((1, 1), (0, 0))
    x = Expr("x", x=range(9))
    assert x + numpy.int64(3) == x + 3 and x.substitute(x=numpy.int8(3)) == x.substitute(x=3)


ERRORS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (lambda: STACK.reshape(4, 2), ValueError, "reshape: shape (3, 2) has 6 elements, but shape (4, 2) needs 8"),
    (lambda: STACK.reshape("6"), TypeError, "reshape: number 0 is to be a whole number, not '6' (str)"),
    (lambda: STACK.reshape(6.0), TypeError, "reshape: number 0 is to be a whole number, not 6.0 (float)"),
    (lambda: STACK.reshape(10**30), OverflowError, "reshape: number 0 is past the range of 64-bit integers"),
    (lambda: STACK.reshape(None), TypeError, "reshape: number 0 is to be a whole number, not None (NoneType)"),
    (lambda: STACK.reshape(itertools.count(1)), ValueError, "reshape: more than 65536 numbers are given"),
    (lambda: STACK.pad(itertools.repeat((0, 0))), ValueError, "pad: more than 65536 numbers are given"),
    (lambda: ShapeTracker(itertools.repeat(View((1,)))), ValueError, "ShapeTracker: takes at most 65536 views"),
    (lambda: STACK.permute(0, 0), ValueError, "permute: axis 0 is named twice, at places 0 and 1"),
    (lambda: STACK.permute(0), ValueError, "permute: takes one axis number per axis: the tensor has 2 axes but 1 was given"),
    (lambda: STACK.flip(2), ValueError, "flip: axis 2 does not exist: the tensor has 2 axes"),
    (lambda: STACK.flip(True), ValueError, "flip: takes one True or False per axis: the tensor has 2, not 1"),
    (lambda: STACK.pad((1, 1), 2), TypeError, "pad: axis 1 takes a pair of numbers, not 2 (int)"),
    (lambda: STACK.pad((1, 1), (1, 2, 3)), TypeError, "pad: axis 1 takes a pair of numbers, not (1, 2, 3) (tuple)"),
    (lambda: STACK.pad((1, 1), (1, "a")), TypeError, "pad: axis 1 is to be a whole number, not 'a' (str)"),
    (lambda: STACK.pad((0, 0), (-1, 0)), ValueError, "pad: axis 1 is padded by (-1, 0), but a pad cannot be negative"),
    (lambda: STACK.shrink((0, 9), (0, 1)), ValueError, "shrink: axis 0 has size 3, so that the range (0, 9)"),
    (lambda: STACK.expand(3, 3), ValueError, "expand: axis 1 has size 2 and cannot become 3"),
    (lambda: STACK.step(0, 1), ValueError, "step: axis 0 has step 0"),
    (lambda: STACK[3], IndexError, "indexing: axis 0 has size 3, which has no index 3"),
    (lambda: STACK[0, 0, 0], IndexError, "indexing: 3 indices are more than the tensor's 2 axes"),
    (lambda: STACK[..., ...], IndexError, "indexing: `...` may stand only once"),
    (lambda: STACK["a"], TypeError, "indexing: takes integers, slices, `...` and None"),
    (lambda: STACK[::0], ValueError, "slice: axis 0 has step 0"),
    (lambda: STACK[True], TypeError, "indexing: takes integers, slices, `...` and None"),
    (lambda: STACK["a":], TypeError, "indexing: the slice of axis 0 is to be a whole number, not 'a' (str)"),
    (lambda: ShapeTracker(3), TypeError, "ShapeTracker: takes views, not 3 (int); ShapeTracker.contiguous(2, 3)"),
    (lambda: ShapeTracker([]), ValueError, "a tracker needs at least one view"),
    (lambda: ShapeTracker([View((2,)), View((3,))]), ValueError, "the view reads addresses 0 to 2"),
    (lambda: ShapeTracker.contiguous(2**40, 2**40), OverflowError, "is past the range of 64-bit integers"),
    (lambda: ShapeTracker.contiguous(*[1] * 65), ValueError, "65 axes are more than the 64"),
    (lambda: ShapeTracker.contiguous(-1), ValueError, "axis 0 has size -1, but a size cannot be negative"),
    (lambda: ShapeTracker.parse("(2, 3).permut(1, 0)"), ParseError, "did you mean `permute`?"),
    (lambda: View((2, 3), (1,)), ValueError, "takes one stride per axis: the tensor has 2 axes but 1 was given"),
    (lambda: View((2, 3), mask=((0, 9), (0, 1))), ValueError, "axis 0 has size 2, so that the mask (0, 9)"),
    (lambda: View((2,), (2**62,), 2**62), OverflowError, "is past the range of 64-bit integers"),
    (lambda: View((2, 2), (1, 2)).reshape(4), Unmerged, "one stride cannot do both"),
    (lambda: merge(View((2,)), View((5,))), ValueError, "the view reads addresses 0 to 4, but what it reads from has 2"),
    (lambda: ShapeTracker.contiguous(1).expand(2).invert(1), NotInvertible, "both read address 0"),
    (lambda: STACK.axis_is_masked(2), ValueError, "axis 2 does not exist"),
    (lambda: STACK.difference(ShapeTracker.contiguous(6)), ValueError, "are not the same"),
    (lambda: Expr("1 // x", x=range(3)), ParseError, "the divisor can be zero"),
    (lambda: Expr("x", x=range(3)) // 0, ValueError, "the divisor"),
    (lambda: Expr("x", x=range(2**62)) * 4, OverflowError, "past the range of 64-bit integers"),
    (lambda: Expr("x", x=range(3)) + 2**70, OverflowError, "past the range of 64-bit integers"),
    (lambda: Expr("x", x=range(3)) + "a", TypeError, "unsupported operand"),
    (lambda: Expr("x", x=range(0, 9, 3)), ValueError, "the range of `x` is to have step 1"),
    (lambda: Expr("x", x=range(3)).evaluate(), TypeError, "the variable `x` has no value"),
    (lambda: Expr("x + 1", x=range(3)).code("c", "x"), ValueError, "called `x`, which is a variable of the expression"),
    (lambda: Expr("x + 1", x=range(3)).code("c", "a b"), ValueError, "the result cannot be called `a b`, which is no name"),
    (lambda: Expr("x + 1", x=range(3)).code("c", ""), ValueError, "which is no name"),
    (lambda: Expr("x", x=range(3)).text("fortran"), ValueError, "there is no syntax `fortran`; there are python and c"),
    (lambda: STACK.index_expr().code("fortran"), ValueError, "there is no language `fortran`"),
    (lambda: STACK.index_expr().kernel("latex"), ValueError, "latex"),
    (lambda: STACK.index_expr().address(5, 0), ValueError, "5 is not a value of `idx0`, whose range is 0..3"),
]


@pytest.mark.parametrize("make, kind, sentence", ERRORS, ids=[sentence for _, _, sentence in ERRORS])
def test_errors_are_sentences(make: Callable[[], object], kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert type(caught.value) is kind
    assert sentence in str(caught.value)


def test_errors_of_iterators_are_passed_on() -> None:
    class Mine(Exception):
        pass

    def failing() -> object:
        yield 2
        raise Mine

    class Number:
        def __index__(self) -> int:
            raise Mine

    for make in [
        lambda: STACK.reshape(failing()),
        lambda: View(failing()),
        lambda: STACK.reshape(Number()),
        lambda: STACK[Number()],
    ]:
        with pytest.raises(Mine):
            make()


def test_the_errors_of_this_package_are_value_errors() -> None:
    assert all(issubclass(kind, ValueError) for kind in (Unmerged, Undecided, NotInvertible, ParseError))


def test_errors_carry_their_evidence() -> None:
    with pytest.raises(NotInvertible) as repeated:
        ShapeTracker.contiguous(1).expand(2).invert(1)
    assert repeated.value.indices == ((0,), (1,))
    with pytest.raises(NotInvertible) as interleaved:
        ShapeTracker.contiguous(8).as_strided((2, 3), (3, 2)).invert(8)
    assert interleaved.value.indices is None
    with pytest.raises(ParseError) as misspelt:
        ShapeTracker.parse("(2, 3).permut(1, 0)")
    assert misspelt.value.span == (7, 13)


def test_a_witness_can_be_checked_by_hand() -> None:
    witness = unmerged(STACK.single_view).witness
    assert isinstance(witness, UnevenStep)
    for step in witness.steps:
        after = list(step.index)
        after[witness.axis] += 1
        assert (STACK.address(step.index), STACK.address(after)) == (step.before, step.after)
    first, second = witness.steps
    assert first.after - first.before != second.after - second.before

    padded = View((6,), mask=[(0, 4)])
    box = unmerged(lambda: padded.reshape(2, 3)).witness
    assert isinstance(box, NotABox)
    st = ShapeTracker([padded]).reshape(2, 3)
    assert all(st.address(index) is not None for index in box.valid)
    assert st.address(box.invalid) is None


def test_conditions_are_what_merging_needs() -> None:
    needed = conditions((2, 3), View((3, 2)))
    assert isinstance(needed, Conditions)
    assert str(needed) == "s1 = 3*s2" and needed.equations == ((1, -3),)
    for strides in [(3, 1), (1, 2), (6, 2), (0, 0)]:
        try:
            merge(View((2, 3), strides), View((3, 2)))
            merges = True
        except Unmerged:
            merges = False
        assert needed.hold_for(strides) == merges


def test_nodes_say_what_an_expression_is_made_of() -> None:
    x = Expr("x", x=range(9))
    assert ((x * 3 + 1) // 4).nodes() == [
        ("variable", "x"), ("int", 3), ("*", 0, 1), ("int", 1), ("+", 2, 3), ("int", 4), ("//", 4, 5),
    ]  # fmt: skip
    chosen = Expr("x if 2 <= x < 4 and not False else 0", x=range(9))
    assert [node[0] for node in chosen.nodes()] == ["variable", "within", "bool", "not", "and", "int", "if"]


def test_equal_expressions_are_those_with_one_structure() -> None:
    x, y = Expr("x", x=range(9)), Expr("y", y=range(9))
    assert x + y == Expr("x + y", x=range(9), y=range(9)) != y + x
    assert x != Expr("x", x=range(8)) and x != Expr("z", z=range(9))
    assert (x + y - y).simplify() == x
    assert hash(x + y) == hash(Expr("x + y", y=range(9), x=range(9)))


def test_expressions_are_simplified_by_what_is_known_of_their_variables() -> None:
    names = {name: range(1, 2**20) for name in ("d", "T", "H")} | {name: range(2**20) for name in "btp"}
    for text, where, expected in [
        ("(b*T + t) // T * T + (b*T + t) % T", "t < T", "b * T + t"),
        ("b*d // d", "", "b"),
        ("H // 8 * 8", "H=8*h, h=1..", "H"),
        ("(p + 1) // 2", "p % 2 == 0", "p // 2"),
        ("t < T", "t=0..T", "True"),
        ("t % T", "", "t % T"),
    ]:
        expr = Expr(text, **{name: values for name, values in names.items() if name in text})
        assert str(expr.simplify(where=where)) == expected
        assert expr.simplify(where=where).simplify(where=where) == expr.simplify(where=where)
    x = Expr("x", x=range(9))
    with pytest.raises(ParseError, match="exclude each other"):
        x.simplify(where="x=20..")
    with pytest.raises(ParseError, match="expected a range") as err:
        x.simplify(where="x <")
    assert err.value.span == (3, 3)


def test_a_condition_over_variables_is_neither_true_nor_false() -> None:
    x = Expr("x", x=range(9))
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(x < 3)
    assert x < 9 and not x < 0


def test_huge_sizes_cost_nothing() -> None:
    st = ShapeTracker.contiguous(2**20, 2**20, 2**20).permute(2, 0, 1).reshape(2**40, 2**20)
    assert st.numel == 2**60 and len(st.views) == 2
    assert st.address(2**40 - 1, 2**20 - 1) == 2**60 - 1
    assert next(iter(st.addresses())) == 0
    assert isinstance(unmerged(st.single_view).witness, UnevenStep)
    assert st.index_expr().address(2**39, 5) == st.address(2**39, 5)
    assert st.collision() is None


def test_threads_share_objects() -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for size in range(2, 60):
                st = STACK.pad((0, size), (1, 1)).reshape(-1)
                assert st.address(1) == 0 and hash(st) == hash(ShapeTracker(st.views))
                assert st.index_expr().address(1) == 0
        except BaseException as err:  # noqa: BLE001
            failures.append(err)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    assert not any(thread.is_alive() for thread in threads)
    assert not failures


def test_found_by_an_audit_texts_that_are_too_long_are_refused() -> None:
    limit = "more than the 1048576 that are read"
    with pytest.raises(ParseError, match=limit):
        Expr("-" * (1 << 20) + "1")
    with pytest.raises(ParseError, match=limit):
        ShapeTracker.parse("(2)" + ".T" * (1 << 19))
    with pytest.raises(ParseError, match=limit):
        View.parse("(" * 10**7)
