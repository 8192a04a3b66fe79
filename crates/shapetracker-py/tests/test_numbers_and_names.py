"""Trackers of numbers and trackers of names are one class: the same calls make both and ask both, and what is made of names is,
at values, what is made of the values."""

import copy
import pickle
import random
from typing import Any

import pytest
from oracle import cases

import shapetracker
from shapetracker import Answer, IndexExpr, ShapeTracker, Sym, Undecided, Unmerged, View, explain_view

N, K, H, S = Sym("N"), Sym("K"), Sym("H"), Sym("s", 0)
NAMES = {"N": N, "K": K, "H": H, "s": S}


def number(thing: Any, values: dict[str, int]) -> Any:
    """Arguments with the values in the place of the names."""
    if isinstance(thing, (tuple, list)):
        return type(thing)(number(item, values) for item in thing)
    if isinstance(thing, slice):
        return slice(*(number(bound, values) for bound in (thing.start, thing.stop, thing.step)))
    if isinstance(thing, ShapeTracker):
        return thing.at(**values)
    return thing.at(**{name: values[name] for name in thing.names}) if isinstance(thing, Sym) else thing


def random_step(rng: random.Random, shape: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """A method of both and its arguments, with names among them."""
    rank = len(shape)
    axis = rng.randrange(rank) if rank else 0
    match rng.choice(
        ["permute", "transpose", "reshape", "reshape", "reshape", "pad", "shrink", "flip", "step", "expand", "broadcast_to"]
        + ["squeeze", "squeeze all", "unsqueeze", "as_strided", "then", "index", "index", "given", "contiguous"]
    ):
        case "permute":
            return "permute", tuple(rng.sample(range(rank), rank))
        case "transpose":
            return "transpose", (axis, -1)
        case "reshape":
            sizes = list(shape)
            if rng.random() < 0.6 and axis + 1 < rank:
                sizes[axis : axis + 2] = [sizes[axis] * sizes[axis + 1]]
            elif rank:
                factor: Any = rng.choice([2, N, K, H])
                try:
                    sizes[axis : axis + 1] = [factor, sizes[axis] // factor]
                except ValueError:
                    sizes.insert(axis, 1)
            return "reshape", rng.choice([tuple(sizes), (tuple(sizes),), (sizes,), (-1,)])
        case "pad":
            return "pad", tuple(rng.choice([None, (rng.choice([0, 1, S]), rng.choice([0, 1]))]) for _ in shape)
        case "shrink":
            return "shrink", tuple(rng.choice([None, (rng.choice([0, 0, S]), size - rng.choice([0, 1]))]) for size in shape)
        case "flip":
            return "flip", rng.choice([tuple(rng.sample(range(rank), rng.randint(0, rank))), tuple(rng.random() < 0.5 for _ in shape)])
        case "step":
            return "step", tuple(rng.choice([1, 1, -1, 2]) for _ in shape)
        case "expand":
            return "expand", tuple(rng.choice([2, H]) if size == 1 else rng.choice([-1, size]) for size in shape)
        case "broadcast_to":
            return "broadcast_to", (rng.choice([K, 2]), *shape)
        case "squeeze":
            return "squeeze", (axis,)
        case "squeeze all":
            return "squeeze", ()
        case "unsqueeze":
            return "unsqueeze", (axis,)
        case "as_strided":
            return "as_strided", ((rng.choice([K, 2]), 2), rng.choice([(1, 1), (0, 1), (1, S)]), rng.choice([0, 1, S]))
        case "then":
            return "then", (ShapeTracker.contiguous(*shape).flip(axis) if rank else ShapeTracker.contiguous(1),)
        case "given":
            return "given", tuple(size >= 1 for size in shape if isinstance(size, Sym))
        case "contiguous":
            return "contiguous", ()
        case _:
            entries: list[Any] = []
            for size in shape:
                bounds = rng.choice([slice(None), slice(1, None), slice(None, -1), slice(S, size), slice(None, None, -1)])
                entries.append(rng.choice([bounds, bounds, 0, -1, K - 1, slice(None)]))
            entries = entries[: rng.randint(0, rank)]
            entries.insert(rng.randint(0, len(entries)), rng.choice([None, ..., slice(None)]))
            return "__getitem__", (tuple(entries[: rank + 1]),)


def performed(thing: Any, name: str, arguments: tuple[Any, ...], values: dict[str, int] | None = None) -> Any:
    # Numbers are not asked what is given of names.
    if values is not None:
        arguments = () if name == "given" else number(arguments, values)
    return getattr(thing, name)(*arguments)


def occurring(thing: ShapeTracker | View) -> set[str]:
    all_numbers = [n for v in parts(thing) for n in (*v.shape, *v.strides, v.offset, *(end for pair in v.mask or () for end in pair))]
    return {name for each in all_numbers if isinstance(each, Sym) for name in each.names}


def parts(thing: ShapeTracker | View) -> tuple[View, ...]:
    return thing.views if isinstance(thing, ShapeTracker) else (thing,)


def is_an_object(thing: Any, again: Any) -> None:
    assert type(again) is type(thing) and again == thing and hash(again) == hash(thing)
    assert not again != thing
    # In a view the order of factors is that in which names come up in it, whatever it was made of.
    assert isinstance(thing, View) and occurring(thing) or (repr(again), str(again)) == (repr(thing), str(thing))


def is_what_python_expects(thing: Any, kind: type) -> None:
    """All that holds for an object of the class, whether it has names or not."""
    assert isinstance(thing, kind) and thing != 3 and thing != object()
    for again in (pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)):
        is_an_object(thing, again)
    scope = {name: Sym(name, *ends) for name, ends in thing.names.items()}
    names = occurring(thing)
    where = ", ".join(f"{name}={low}.." for name, (low, _) in thing.names.items() if name in names)
    needy = isinstance(thing, ShapeTracker) and bool(thing.needs)
    assert repr(thing).startswith("<ShapeTracker: " if needy else kind.__name__ + "(")
    read: list[Any] = [kind.parse(str(thing), where=where)]  # type: ignore[attr-defined]
    if not needy:
        read += [kind.parse(repr(thing), where=where), eval(repr(thing), {**vars(shapetracker), **scope})]  # type: ignore[attr-defined]
    # Views without a name are a tracker of numbers, which has a normal form.
    expected = thing if names or isinstance(thing, View) else ShapeTracker(thing.views)
    for again in read:
        assert type(again) is kind
        if isinstance(again, ShapeTracker) and again.needs and needy:
            continue  # That its masks are ranges, which the text has no reasons for; with it views may be merged.
        assert parts(again) == parts(expected)
        if isinstance(thing, View) or thing.known == where and not needy:
            assert again == thing and hash(again) == hash(thing)


def is_answered_alike(named: ShapeTracker, numbers: ShapeTracker, values: dict[str, int], rng: random.Random) -> None:
    """The same questions, to one of names with values and to one of numbers."""
    own = {name: values[name] for name in named.names}
    at = named.at(**own)
    assert at.at(**values) is at and numbers.at(**values) is numbers
    assert at.shape == numbers.shape == number(named.shape, values) and at.difference(numbers) is None
    assert at == numbers or len(at.views) > 1 < len(numbers.views)
    assert number(named.numel, values) == numbers.numel and named.ndim == numbers.ndim == len(numbers.shape)
    assert numbers.names == {} and numbers.known == "" and numbers.needs == ()
    code, plain = named.index_expr(), numbers.index_expr()
    assert type(code) is type(plain) is IndexExpr and set(plain.parameters) == set() and number(code.shape, values) == plain.shape
    is_an_object(code, pickle.loads(pickle.dumps(code)))
    for _ in range(5):
        if 0 in numbers.shape:
            break
        index = tuple(rng.randrange(size) for size in numbers.shape)
        expected = numbers.address(*index)
        assert named.address(*index, **values) == numbers.address(*index, **values) == expected
        assert code.address(*index, **own) == plain.address(*index, **own) == expected
    assert numbers.shape == () or named.address(*numbers.shape, **values) is numbers.address(*numbers.shape) is None
    for tracker in (named, numbers):
        assert tracker.equality(tracker.permute(range(tracker.ndim))) == ((),) or len(tracker.views) > 1
        assert tracker.contiguous() == tracker == tracker.given()
        merged, joins = tracker.max_merge()
        assert isinstance(merged, View) and len(joins) == max(0, len(merged.shape) - 1)
    # What is known of all values holds for these.
    for question in ("is_contiguous", "is_identity"):
        try:
            assert getattr(named, question)() == getattr(numbers, question)(), question
        except (TypeError, Undecided) as err:
            assert str(err).startswith(question)
    for question in ("address_range", "buffer_len"):
        try:
            found, expected = getattr(named, question)(), getattr(numbers, question)()
        except Undecided:
            continue
        assert numbers.address_range() is None or number(found, values) == expected, question
    try:
        one: View | None = numbers.single_view()
        assert isinstance(one, View) and one.at(**values) == one
    except Unmerged:
        one = None
    if named.names:
        answer = named.single_view()
        try:
            assert isinstance(answer, Answer) and answer.at(**own) == one
        except Undecided:
            assert answer.kind == "undecided"


def is_moved_alike(named: View, numbers: View, values: dict[str, int], rng: random.Random) -> int:
    """The same operations on one view with names and on one of numbers; how many there were."""
    count = 0
    for _ in range(3):
        name, arguments = random_step(rng, named.shape)
        if not hasattr(View, name) or name == "contiguous":
            continue
        try:
            after = performed(named, name, arguments)
        except (ValueError, TypeError):
            continue
        own = {name: values[name] for name in after.names}
        try:
            at = after.at(**own)
        except ValueError:
            continue
        assert isinstance(after, View) and at == performed(numbers, name, arguments, values), (named, name, arguments)
        count += bool(after.names)
    return count


def test_what_is_made_of_names_is_at_values_what_is_made_of_the_values() -> None:
    rng = random.Random(2026)
    done: dict[str, int] = {}
    with_names = moves = 0
    for _ in range(cases(400)):
        values = {name: rng.randint(1, 4) for name in NAMES}
        shape = tuple(rng.choice([N, K, 2 * K, H, 2, 3, 1]) for _ in range(rng.randint(1, 3)))
        named, numbers = ShapeTracker.contiguous(shape), ShapeTracker.contiguous(number(shape, values))
        for _ in range(rng.randint(1, 5)):
            name, arguments = random_step(rng, named.shape)
            try:
                after = performed(named, name, arguments)
                after.at(**values)
            except (ValueError, IndexError, OverflowError):
                continue  # It is not known to be right for all values, or is not for these.
            named, numbers = after, performed(numbers, name, arguments, values)
            done[name] = done.get(name, 0) + 1
        with_names += bool(named.names)
        for tracker in (named, numbers):
            is_what_python_expects(tracker, ShapeTracker)
            for view in tracker.views:
                is_what_python_expects(view, View)
                assert bool(view.names) == bool(occurring(view))
        assert (named == numbers) == (not named.names) and (hash(named) == hash(numbers) or bool(named.names))
        is_answered_alike(named, numbers, values, rng)
        if (view := named.as_view()) is not None and (plain := numbers.as_view()) is not None:
            moves += is_moved_alike(view, plain, values, rng)
    assert moves > cases(400) // 4
    assert with_names > cases(400) // 2 and len(done) >= 14, done


def test_one_class_for_both() -> None:
    numbers, named = ShapeTracker.contiguous(2, 3), ShapeTracker.contiguous(N, 3)
    assert type(numbers) is type(named) is ShapeTracker and type(numbers.views[0]) is type(named.views[0]) is View
    assert type(numbers.index_expr()) is type(named.index_expr())
    # A tracker without any name is one of numbers, and one with names never equals it, even where no size has one.
    assert ShapeTracker.parse("(2, 3)", where="") == numbers == ShapeTracker.parse("(H, 3)", where="H=2")
    assert named.at(N=2) == numbers and hash(named.at(N=2)) == hash(numbers)
    row = named[0]
    assert row.shape == (3,) and row.names == {"N": (1, None)} and row != numbers[0] and row.at(N=2) == numbers[0]
    # A view in which no name is left is one of numbers.
    assert row.views == numbers[0].views and row.views[0].names == {}
    # In which order names came up does not matter.
    assert ShapeTracker.contiguous(N, K).permute(1, 0) == ShapeTracker.parse("(K, N):(1, K)", where="")
    # The first size decides whether it can be taken apart.
    assert [part.shape for part in ShapeTracker.contiguous(3, N, K)] == [(N, K)] * 3
    assert list(numbers) == [numbers[0], numbers[1]] and list(ShapeTracker.contiguous()) == []
    with pytest.raises(TypeError, match="not iterable"):
        iter(named)


def test_a_hint_takes_what_the_sizes_are() -> None:
    assert repr(ShapeTracker[int]) == "shapetracker.ShapeTracker[int]" and View[Sym].__origin__ is View  # type: ignore[attr-defined]


def test_equal_where_it_depends_on_the_values_is_a_formula() -> None:
    numbers = ShapeTracker.contiguous(2, 3)
    assert numbers.equality(numbers.flip(0)) == () and numbers.equality(numbers.flip(0).flip(0)) == ((),)
    assert numbers.contiguity() == ((),) and numbers.permute(1, 0).contiguity() == ()
    assert ShapeTracker.contiguous(2, 2).equality(View((2, 2), (N, 1))) == ((N.eq(2),),)


NAMED, VIEW = ShapeTracker.contiguous(N, K).permute(1, 0), View((N, K), (1, N))


@pytest.mark.parametrize(
    "make, error, sentence",
    [
        *(
            (lambda name=name, arguments=arguments, thing=thing: getattr(thing, name)(*arguments), TypeError, f"{name}: takes numbers, and here sizes have names: say values, as `.at(N=1, K=1)` does")
            for thing, name, arguments in [
                (NAMED, "addresses", ()),
                (NAMED, "real_strides", ()),
                (NAMED, "affine", ()),
                (NAMED, "unit_stride_axes", ()),
                (NAMED, "axis_is_masked", (0,)),
                (NAMED, "difference", (NAMED,)),
                (ShapeTracker.contiguous(2), "difference", (NAMED,)),
                (VIEW, "is_empty", ()),
                (VIEW, "merge_dims", ()),
            ]
        ),
        (lambda: shapetracker.apply(NAMED, b"abc"), TypeError, "apply: takes numbers, and here sizes have names: say values"),
        (NAMED.is_contiguous, TypeError, "is_contiguous: that depends on the values: it is so if and only if N == 1 or K == 1"),
        (NAMED.is_identity, TypeError, "is_identity: that depends on the values"),
        (lambda: NAMED.reshape(-1).is_identity(), Undecided, "is_identity: it is not decided for all values"),
        (lambda: NAMED.reshape(-1).buffer_len(), Undecided, "buffer_len: it is not known for all values"),
        (lambda: VIEW.reshape(-1), Unmerged, "reshape: one view if and only if K == 1 or N == 1"),
        (lambda: VIEW.address(0, 0), ValueError, "address: the name N has no value"),
        (lambda: NAMED.address(0, 0, N=3), ValueError, "address: the name K has no value"),
        (lambda: View((N,)).shrink((S, S + 2)).at(N=3, s=2), ValueError, "at: at these values N >= s + 2 does not hold"),
    ],
)
def test_what_is_asked_of_numbers_says_so(make: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value).startswith(sentence), caught.value


def test_evidence_of_names_is_that_of_values() -> None:
    with pytest.raises(Unmerged) as no:
        VIEW.reshape(-1)
    assert no.value.witness == explain_view(VIEW, -1).witness
    with pytest.raises(shapetracker.NotInvertible) as repeated:
        ShapeTracker.contiguous(1).expand(N).invert(N)
    first, second = repeated.value.indices
    assert first != second
