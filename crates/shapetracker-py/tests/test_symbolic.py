"""Sizes that are names: beside Python's own arithmetic, NumPy's addresses, and the package's answers for numbers."""

import copy
import doctest
import itertools
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from oracle import addresses, cases, moved, of_views

import shapetracker
from shapetracker import (
    Answer,
    Condition,
    Conditions,
    Explanation,
    NotInvertible,
    ParseError,
    ShapeTracker,
    Sym,
    Undecided,
    Unmerged,
    View,
    conditions,
    explain_view,
    merge,
)

B, T, H, D, N, G, K = (Sym(name) for name in "BTHDNGK")
S, P, L = Sym("s", 0), Sym("p", 0), Sym("L")


def number(size: Any, values: dict[str, int]) -> Any:
    """A size, or pairs and tuples of them, where the names have values: by Python's own arithmetic on the text."""
    if isinstance(size, tuple):
        return tuple(number(item, values) for item in size)
    return eval(str(size), {}, values) if isinstance(size, Sym) else size


def points(names: dict[str, tuple[int | None, int | None]], largest: int = 4) -> Iterator[dict[str, int]]:
    """All values up to a largest one."""
    ranges = [range(-2 if lo is None else lo, 1 + (largest if hi is None else min(hi, largest))) for lo, hi in names.values()]
    for point in itertools.product(*ranges):
        yield dict(zip(names, point))


def at_addresses(tracker: ShapeTracker) -> np.ndarray:
    """The addresses of a tracker, by the definition of its views."""
    views = [{"shape": v.shape, "strides": v.strides, "offset": v.offset, "mask": v.mask} for v in tracker.views]
    return of_views(views)


# Sizes are values.


def test_arithmetic_is_that_of_integers() -> None:
    rng = random.Random(16)
    n, m, k = Sym("n", -9, 9), Sym("m", None), Sym("k", 1, 4096)
    for _ in range(cases(300)):
        values = {"n": rng.randint(-9, 9), "m": rng.randint(-50, 50), "k": rng.randint(1, 50)}
        size: Any = rng.choice([n, m, k])
        value = values[str(size)]
        for _ in range(rng.randrange(6)):
            other: Any = rng.choice([n, m, k, rng.randint(-5, 5)])
            by = values[str(other)] if isinstance(other, Sym) else other
            match rng.choice("+-*r^n"):
                case "+":
                    size, value = size + other, value + by
                case "-":
                    size, value = size - other, value - by
                case "r":
                    size, value = other - size, by - value
                case "*":
                    size, value = size * other, value * by
                case "^":
                    size, value = size**2, value**2
                case _:
                    size, value = -size, -value
            if isinstance(size, Sym) and len(str(size)) > 60:
                break
        assert number(size, values) == value
        if isinstance(size, Sym):
            assert size.at(**{name: values[name] for name in size.names}) == value
            known = {"n": "n=-9..10", "m": "m=..", "k": "k=1..4097"}
            assert Sym.parse(str(size), ", ".join(known[name] for name in size.names)) == size
            again = pickle.loads(pickle.dumps(size))
            assert again == size and hash(again) == hash(size) and again.names == size.names
        else:
            assert size == value


def test_what_has_no_names_is_an_int() -> None:
    assert type(N - N) is int and N - N == 0
    assert type(ShapeTracker.contiguous(N, 4).shape[1]) is int
    assert (N * N + 2 * N) // N == N + 2 and 6 // (N - N + 3) == 2
    assert (2 * N + 1) // 2 == N and (2 * N + 1) % 2 == 1 and type((2 * N + 1) % 2) is int
    r = Sym("r", 0, 7)
    assert r // 8 == 0 and r % 8 == r and (8 * N + r) // (N - N + 8) == N and (8 * N + r) % 8 == r
    assert 5 % (N + 5) == 5 and 5 // (N + 5) == 0


def test_divisions_of_sizes_are_those_of_their_values() -> None:
    known = 0
    for seed in range(300):
        rng = random.Random(seed)
        n, r = Sym("n", rng.randint(0, 3)), Sym("r", 0, rng.randint(0, 9))
        low = {"n": next(iter(n.names.values()))[0], "r": 0}
        by: Any = rng.choice([1, 2, 3, 8, -1, -2, -8, n + 1, 2 * n + 4, -n - 1])
        size = rng.randint(-3, 3) * by * n + rng.choice([0, 1, 2, -1]) * r + rng.randint(-9, 9)
        try:
            quotient, rest = size // by, size % by
        except ValueError as err:
            assert "no multiple" in str(err) and "not known" in str(err)
            continue
        known += 1
        for _ in range(20):
            values = {"n": low["n"] + rng.randint(0, 20), "r": rng.randint(0, next(iter(r.names.values()))[1] or 0)}

            def at(size: Any) -> int:
                return size if isinstance(size, int) else int(size.at(**values))

            assert at(quotient) == at(size) // at(by) and at(rest) == at(size) % at(by), (size, by, values)
    assert known > 100


def test_where_elements_lie() -> None:
    cut = ShapeTracker.contiguous(N, 4)[:, 1:3]
    assert cut.address_range() == (1, 4 * N - 2) and cut.buffer_len() == 4 * N - 1
    assert cut.contiguity() == ((N.eq(1),),) and ShapeTracker.contiguous(N, 4).contiguity() == ((),)
    assert ShapeTracker.contiguous(N, 4)[:, ::2].contiguity() == ()
    several = ShapeTracker.contiguous(N, K).permute(1, 0).reshape(-1)
    for question in ("address_range", "buffer_len"):
        with pytest.raises(Undecided, match=f"{question}: it is not known for all values"):
            getattr(several, question)()
    with pytest.raises(Undecided, match="contiguity: whether several views"):
        several.contiguity()


def test_equality_is_that_of_polynomials() -> None:
    assert N * K == K * N and hash(N * K) == hash(K * N) and N * K + T - T == N * K
    assert hash(N + K + T - T) == hash(K + N)
    assert N != K and N != 3 and not N == "N" and N != N + 1
    assert Sym("N") == N and Sym("N", 2) != N
    assert {N + 1: "a", 2 * N: "b"}[1 + N] == "a"
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(N)
    with pytest.raises(AttributeError):
        N.anything = 1  # type: ignore[attr-defined]


def test_conditions_are_those_of_integers() -> None:
    made: list[tuple[Condition, Callable[[int, int], bool]]] = [
        (N < K, lambda n, k: n < k),
        (N <= 2 * K, lambda n, k: n <= 2 * k),
        (N > K, lambda n, k: n > k),
        (3 >= N, lambda n, k: 3 >= n),
        (N.eq(K), lambda n, k: n == k),
        (N.ne(3), lambda n, k: n != 3),
        ((N + K).divisible(3), lambda n, k: (n + k) % 3 == 0),
        ((N - 1).divisible(2), lambda n, k: (n - 1) % 2 == 0),
    ]
    for condition, meant in made:
        for n, k in itertools.product(range(1, 7), repeat=2):
            values = {"N": n, "K": k}
            own = {name: values[name] for name in (condition.poly - 0).names}  # type: ignore[union-attr]
            assert condition.holds(**own) == meant(n, k) == eval(str(condition), {}, values)
            value = number(condition.poly, values)
            value = value if condition.mod is None else value % condition.mod
            assert meant(n, k) == {">=": value >= 0, "==": value == 0, "!=": value != 0}[condition.op]
    assert (N < K) == (K > N) and hash(N < K) == hash(K > N) and (N < K) != (N > K) and (N < K) != 3
    assert bool(N + 1 > N) and not bool(N > N)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(N < K)


# Trackers: each fact is a chain of operations, and the values for which it is one view.

CHAINS: dict[str, tuple[tuple[Any, ...], list[tuple[str, Any]], Callable[..., bool]]] = {
    "heads, then joined": (
        (B, T, H, D),
        [("permute", (0, 2, 1, 3)), ("reshape", (B, H * T, D))],
        lambda T, H, **_: T == 1 or H == 1,
    ),
    "heads, then joined with the batch": (
        (B, T, H, D),
        [("permute", (0, 2, 1, 3)), ("reshape", (B * H, T, D))],
        lambda B, T, H, **_: T == 1 or H == 1 or B == 1,
    ),
    "there and back": (
        (B, H, T, D),
        [("permute", (0, 2, 1, 3)), ("reshape", (B, T, H * D)), ("reshape", (B, T, H, D)), ("permute", (0, 2, 1, 3))],
        lambda **_: True,
    ),
    "cut of a cache, heads joined": (
        (B, H, N, D),
        [("shrink", ((0, B), (0, H), (S, S + L), (0, D))), ("reshape", (B * H, L, D))],
        lambda **_: True,
    ),
    "cut of a cache, flat": (
        (B, H, N, D),
        [("shrink", ((0, B), (0, H), (S, S + L), (0, D))), ("reshape", (B * H * L * D,))],
        lambda B, H, L, N, D, **_: B * H == 1 or L == N or D * L == 1,
    ),
    "groups": (
        (B, H, 1, T, D),
        [("expand", (B, H, G, T, D)), ("reshape", (B, H * G, T, D))],
        lambda G, H, **_: G == 1 or H == 1,
    ),
    "one axis flipped, flat": ((B, T), [("flip", (False, True)), ("reshape", (B * T,))], lambda B, T, **_: B == 1 or T == 1),
    "both flipped, flat": ((B, T), [("flip", (True, True)), ("reshape", (B * T,))], lambda **_: True),
    "rows padded, flat": (
        (B, T),
        [("pad", ((0, 0), (P, P))), ("reshape", (B * (T + 2 * P),))],
        lambda B, p, **_: B == 1 or p == 0,
    ),
    "outer axis padded, flat": ((B, T), [("pad", ((P, P), (0, 0))), ("reshape", ((B + 2 * P) * T,))], lambda **_: True),
    "padded, in pairs": (
        (4 * K,),
        [("pad", ((P, P),)), ("reshape", (2 * K + P, 2))],
        lambda p, **_: p % 2 == 0,
    ),
    "every second": ((2 * K, T), [("step", (2, -1)), ("reshape", (K * T,))], lambda K, T, **_: K == 1 or T == 1),
}


def performed(tracker: Any, name: str, argument: Any) -> Any:
    return getattr(tracker, name)(argument)


@pytest.mark.parametrize("name", CHAINS)
def test_chains(name: str) -> None:
    shape, steps, is_one = CHAINS[name]
    tracker = ShapeTracker.contiguous(shape)
    assert type(tracker) is ShapeTracker and tracker.names
    for step in steps:
        tracker = performed(tracker, *step)
    answer = tracker.single_view()
    sampled = list(points(tracker.names, 3))
    random.Random(name).shuffle(sampled)
    held = []
    for values in sampled[: cases(400)]:
        if not all(eval(str(need), {}, values) for need in tracker.needs):
            with pytest.raises(ValueError, match="does not hold"):
                tracker.at(**values)
            continue
        array, plain = addresses(number(shape, values)), ShapeTracker.contiguous(number(shape, values))
        for op, argument in steps:
            array = moved(array, op, number(argument, values))
            plain = performed(plain, op, number(argument, values))
        at = tracker.at(**values)
        assert number(tracker.shape, values) == at.shape == array.shape
        assert np.array_equal(at_addresses(at), array)
        held.append(answer.holds(**values))
        assert held[-1] == is_one(**values) == eval(answer.guard, {}, values)
        view = answer.at(**values)
        if view is None:
            with pytest.raises(Unmerged):
                plain.single_view()
        else:
            assert np.array_equal(at_addresses(ShapeTracker([view])), array)
            assert plain.single_view() == view
    assert held
    assert {"all": all(held), "formula": any(held) and not all(held)}[answer.kind]
    if answer.values is not None:
        assert not answer.holds(**answer.values) and not is_one(**answer.values)
        with pytest.raises(Unmerged) as no:
            tracker.at(**answer.values).single_view()
        assert type(no.value.witness) is type(answer.witness)


def random_chain(rng: random.Random) -> tuple[ShapeTracker, tuple[Any, ...], list[tuple[str, Any]]]:
    atoms: list[Any] = [N, K, 2 * K, H, 2, 3, 1]
    shape = tuple(rng.choice(atoms) for _ in range(rng.randint(1, 3)))
    if all(isinstance(size, int) for size in shape):
        return random_chain(rng)
    tracker, steps = ShapeTracker.contiguous(shape), []
    for _ in range(rng.randint(1, 4)):
        now = tracker.shape
        op = rng.choice(["permute", "reshape", "reshape", "pad", "shrink", "flip", "step", "expand"])
        argument: Any
        match op:
            case "permute":
                argument = tuple(rng.sample(range(len(now)), len(now)))
            case "reshape":
                sizes = list(now)
                at = rng.randrange(len(sizes))
                if rng.random() < 0.6 and at + 1 < len(sizes):
                    sizes[at : at + 2] = [sizes[at] * sizes[at + 1]]
                else:
                    factor: Any = rng.choice([2, N, K, H])
                    try:
                        sizes[at : at + 1] = [factor, sizes[at] // factor]
                    except ValueError:
                        sizes.insert(at, 1)
                argument = tuple(sizes)
            case "pad":
                argument = tuple((rng.choice([0, 0, 1, P]), rng.choice([0, 0, 1])) for _ in now)
            case "shrink":
                argument = tuple((rng.choice([0, 0, S]), size - rng.choice([0, 0, 1])) for size in now)
            case "flip":
                argument = tuple(rng.random() < 0.5 for _ in now)
            case "step":
                argument = tuple(rng.choice([1, 1, -1, 2]) for _ in now)
            case _:
                argument = tuple(rng.choice([2, G]) if size == 1 else size for size in now)
        try:
            tracker = performed(tracker, op, argument)
        except ValueError as err:
            assert str(err).startswith(op), err
            continue
        steps.append((op, argument))
    return tracker, shape, steps


def test_random_chains() -> None:
    rng = random.Random(1616)
    kinds: dict[str, int] = {}
    for _ in range(cases(250)):
        tracker, shape, steps = random_chain(rng)
        answer = tracker.single_view()
        kinds[answer.kind] = kinds.get(answer.kind, 0) + 1
        sampled = [v for v in points(tracker.names, 4) if all(eval(str(need), {}, v) for need in tracker.needs)]
        for values in rng.sample(sampled, min(8, len(sampled))):
            array = addresses(number(shape, values))
            for op, argument in steps:
                array = moved(array, op, number(argument, values))
            at = tracker.at(**values)
            assert np.array_equal(at_addresses(at), array), (shape, steps, values)
            try:
                one: View | None = at.single_view()
            except Unmerged:
                one = None
            try:
                assert answer.holds(**values) == (one is not None), (shape, steps, values, answer)
            except Undecided:
                assert answer.kind == "undecided"
                continue
            assert answer.at(**values) == one, (shape, steps, values, answer)
            if answer.kind != "undecided":
                assert eval(answer.guard, {}, values) == (one is not None)
    assert kinds["all"] and kinds["formula"]


def test_names_make_a_tracker_of_numbers_one_of_names() -> None:
    plain = ShapeTracker.contiguous(4, 1)
    assert plain.names == plain.reshape(2, 2).names == {}
    named: list[ShapeTracker] = [
        ShapeTracker.contiguous([N, 4]),
        plain.reshape(N, K),
        plain.reshape((N, K)),
        plain.expand(4, N),
        plain.broadcast_to([N, 4, 1]),
        plain.pad((P, 0), None),
        plain.pad([(P, 0), (0, 0)]),
        plain.shrink((S, 4), None),
        plain.shrink([(S, 4), None]),
        plain[S:],
        plain[S],
        plain.as_strided((2, 2), (1, 2 * S)),
        plain.as_strided((2, 2), (1, 2), S),
        plain.then(ShapeTracker.contiguous(N).given(N <= 4)),
        ShapeTracker.parse("(n, 4)", where=""),
    ]
    assert all(type(tracker) is ShapeTracker and tracker.names for tracker in named)
    # What is read only once is not looked into.
    with pytest.raises(TypeError, match="number 0 is to be a whole number, not N"):
        ShapeTracker.contiguous(size for size in (N, 4))


def test_indexing_is_that_of_numbers() -> None:
    tracker = ShapeTracker.contiguous(N, 4, K).given(N >= 3)
    indices: list[Any] = [
        0,
        -1,
        (slice(1, None), 2),
        (..., -1),
        (None, slice(None, -1), ..., None),
        (slice(None, None, -1), slice(-2, None)),
        (slice(0, 10**30), slice(3, 1), K - 1),
        (S, ..., slice(None, K)),
    ]
    for index in indices:
        after = tracker[index]
        for n, k, s in itertools.product(range(3, 6), range(1, 4), range(3)):
            values = {"N": n, "K": k, "s": s}
            own = {name: values[name] for name in after.names}
            plain = ShapeTracker.contiguous(n, 4, k)[eval(str(index), {}, values)]
            assert after.at(**own).shape == plain.shape
            assert list(after.at(**own).addresses()) == list(plain.addresses()), (index, values)
    for index, err in [((0, 0, 0, 0), IndexError), ((0, 7), IndexError), ((0, -5), IndexError), (1.5, TypeError), (True, TypeError), ((..., ...), IndexError)]:
        with pytest.raises(err, match="^indexing: "):
            tracker[index]
    with pytest.raises(TypeError, match="not iterable"):
        list(tracker)


def test_the_other_operations_are_those_of_numbers() -> None:
    tracker = ShapeTracker.contiguous(N, 1, K)
    plain = ShapeTracker.contiguous(3, 1, 2)
    steps: list[Callable[[Any], Any]] = [
        lambda t: t.transpose(0, -1),
        lambda t: t.squeeze(1),
        lambda t: t.squeeze(()),
        lambda t: t.squeeze(),
        lambda t: t.unsqueeze(-1),
        lambda t: t.flip(0, 2),
        lambda t: t.flip([True, False, True]),
        lambda t: t.reshape(-1),
        lambda t: t.then(t.permute(2, 1, 0).reshape(-1)),
        lambda t: t.step(-1, 1, 1),
    ]
    for step in steps:
        at = step(tracker).at(N=3, K=2)
        assert at.shape == step(plain).shape and list(at.addresses()) == list(step(plain).addresses())
    assert tracker.ndim == 3 and tracker.numel == N * K and tracker.names == {"N": (1, None), "K": (1, None)}
    assert tracker.as_view() == tracker.views[0] == View((N, 1, K), (K, K, 1))
    assert tracker.permute(0, 1, 2) == tracker and hash(tracker.permute(0, 1, 2)) == hash(tracker)
    view, joins = ShapeTracker.contiguous(H, T, D).permute(1, 0, 2).max_merge()
    assert str(view) == "(T, H, D):(D, T*D, 1)" and [str(join) for join in joins] == ["D == H*T*D", "T*D == D"]
    rows, columns = ShapeTracker.contiguous(B, T), ShapeTracker.contiguous(T, B).permute(1, 0)
    assert rows.equality(rows.flip(0).flip(0)) == ((),)
    assert {str(c) for conjunction in rows.equality(columns) for c in conjunction} == {"T == 1", "B == 1"}


# Answers.


def test_views_and_conditions_on_them() -> None:
    s, s1, s2 = Sym("s"), Sym("s1", None), Sym("s2", None)
    answer = conditions((10, 3, 3), View((s,), (4,)))
    assert type(answer) is Answer and type(conditions((10, 3, 3), View((6,), (4,)))) is Conditions
    later = [View((size,), (4,)) for size in range(1, 20)]
    rng = random.Random(3)
    for _ in range(cases(300)):
        size, c = rng.randint(1, 19), rng.randint(-3, 3)
        b = rng.choice([3 * c, rng.randint(-4, 4)])
        a = rng.choice([9 * c, 2 * b + 3 * c, rng.randint(-9, 9)])
        values = {"s": size, "s1": a, "s2": b, "s3": c}
        expected = conditions((10, 3, 3), later[size - 1]).hold_for((a, b, c))
        assert answer.holds(**values) == expected == eval(answer.guard, {}, values)
    with pytest.raises(ValueError, match="`s2` is a stride of the earlier view"):
        conditions((3, 4), View((s2,)))

    answer = merge(View((N, K), (s1, s2)), View((s,)))
    assert len(answer.formula) == 3
    for values in points({"N": (1, 3), "K": (1, 4), "s": (1, 9), "s1": (-2, 9), "s2": (-2, 3)}, 9):
        if values["s"] > values["N"] * values["K"]:
            with pytest.raises(ValueError, match="does not hold"):
                answer.holds(**values)
            continue
        n, k, size, a, b = (values[name] for name in ["N", "K", "s", "s1", "s2"])
        assert answer.holds(**values) == (k == 1 or k >= size or a == k * b)
    assert str(answer.needs[0]) in ("N*K >= s", "K*N >= s")
    # More is known: it is one view.
    assert merge(View((N, K), (s1, s2)), View((s,)), given=[K >= s]).kind == "all"
    assert merge(View((4, 6), (1, 4)), View((4, 2, 3))) == View((4, 2, 3), (1, 12, 4))
    assert merge(View((12,), (5,)), View((N,), (3,))).view == View((N,), (15,))


def test_leaves_cover_all_values() -> None:
    answer = ShapeTracker.contiguous(B, T).pad((0, 0), (P, P)).reshape(-1).single_view()
    for values in points(answer.names):
        leaf = next(leaf for leaf in answer.leaves if all(eval(str(c), {}, values) for c in leaf.conditions))
        assert (leaf.verdict == "view") == answer.holds(**values) == (leaf.view is not None)


def test_explain_view() -> None:
    answer = explain_view(View((H, T), (1, H)), -1)
    assert type(answer) is Answer and str(answer) == "one view if and only if T == 1 or H == 1"
    assert str(explain_view(ShapeTracker.contiguous(N, 32), 4, -1)) == "one view for all values"
    assert explain_view(np.zeros((4, 6)).T, 2, K, 4).needs[0].holds(K=3)
    assert explain_view(View((4, 6), (1, 4)), K, 24).kind == "never"
    assert type(explain_view(np.zeros((4, 6)).T, 24)) is Explanation


def test_answers_say_what_they_are() -> None:
    always = ShapeTracker.contiguous(N, 4).single_view()
    assert always and always.guard == "True" and always.formula == ((),) and always.values is always.witness is None
    never = explain_view(View((4, 6), (1, 4)), K, 24)
    assert not never and never.guard == "False" and never.formula == () and never.view is None
    assert never.values == {"K": 1} and never.witness is not None
    flat = ShapeTracker.contiguous(T, H).permute(1, 0).reshape(-1).single_view()
    assert flat.kind == "formula" and flat.formula in [((T.eq(1),), (H.eq(1),)), ((H.eq(1),), (T.eq(1),))]
    with pytest.raises(TypeError, match="one view if and only if T == 1 or H == 1: holds"):
        bool(flat)
    assert flat == ShapeTracker.contiguous(T, H).permute(1, 0).reshape(-1).single_view() != never
    assert len({flat, never, always}) == 3
    assert repr(flat) == "<Answer: one view if and only if T == 1 or H == 1>"


def test_quotients_are_text_of_python() -> None:
    """A view may have quotients in it, which can be evaluated and not computed with."""
    answer = ShapeTracker.contiguous(4 * K).pad((P, P)).reshape(2 * K + P, 2).single_view()
    for values in points(answer.names, 6):
        assert eval(answer.guard, {}, values) == answer.holds(**values) == (values["p"] % 2 == 0)
    views = [leaf.view for leaf in answer.leaves if leaf.view is not None]
    masks = [end for view in views for pair in view.mask or () for end in pair if "//" in str(end)]
    assert masks
    assert masks[0].at(K=3, p=4) == eval(str(masks[0]), {}, {"K": 3, "p": 4})  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="has a quotient in it"):
        masks[0] + 1
    with pytest.raises(ValueError, match="has a quotient in it"):
        ShapeTracker.contiguous(masks[0])


def test_index_expressions() -> None:
    trackers: list[ShapeTracker] = [
        ShapeTracker.contiguous(H, T, 4).permute(1, 0, 2),
        ShapeTracker.contiguous(H, T).permute(1, 0).reshape(-1),
        ShapeTracker.contiguous(N, D).shrink((S, S + L), None).flip(0),
        ShapeTracker.contiguous(N).pad((P, 1)).reshape(-1, 1),
        ShapeTracker.contiguous(4 * K).pad((P, P)).reshape(2 * K + P, 2),
    ]
    for tracker in trackers:
        expr = tracker.index_expr()
        assert expr.shape == tracker.shape and set(expr.parameters) <= set(tracker.names)
        assert expr == tracker.index_expr() and hash(expr) == hash(tracker.index_expr())
        scope: dict[str, Any] = {}
        exec(expr.kernel("python"), scope)
        gather = next(thing for thing in scope.values() if getattr(thing, "__name__", "") == "gather")
        for values in points(tracker.names, 3):
            if not all(eval(str(need), {}, values) for need in tracker.needs):
                continue
            array = at_addresses(tracker.at(**values))
            for index in np.ndindex(*array.shape):
                found = expr.address(*index, **values)
                assert (-1 if found is None else found) == array[index], (tracker, values, index)
            assert expr.address(*array.shape, **values) is None
            assert "gather" in expr.kernel("c") and callable(gather)
    with pytest.raises(ValueError, match="address: takes one number per axis"):
        trackers[0].index_expr().address(0, T=1, H=1)
    with pytest.raises(ValueError, match="address: the name T has no value"):
        trackers[0].index_expr().address(0, 0, 0, H=1)
    assert "index = " in str(trackers[0].index_expr())


# Texts.


def test_texts() -> None:
    text = "(B, T, 3*H*D).reshape(B, T, 3, H, D)"
    tracker = ShapeTracker.parse(text, where="T=1..4097, H=8*h")
    assert tracker.names == {"B": (1, None), "T": (1, 4096), "h": (1, None), "D": (1, None)}
    assert tracker.known == "B=1.., T=1..4097, h=1.., D=1.., H=8*h"
    assert tracker == ShapeTracker.parse(text, where=tracker.known)
    assert str(tracker.shape) == "(B, T, 3, 8*h, D)"
    assert ShapeTracker.parse(str(tracker), "T=1..4097, h=1..").views == tracker.views
    view = View.parse("(H, T):(s1, 1) offset 4 mask ((0, H), (1, T))", where="T=1..9")
    assert type(view) is View and view.names == {"H": (1, None), "T": (1, 8), "s1": (None, None)}
    assert View.parse(str(view), "T=1..9") == view
    assert eval(repr(view), vars(shapetracker), {"H": H, "T": Sym("T", 1, 8), "s1": Sym("s1", None)}) == view
    assert copy.deepcopy(view) == pickle.loads(pickle.dumps(view)) == view and hash(copy.copy(view)) == hash(view)
    assert View.parse("(2, 3):(3, 1)", where="") == View.parse("(2, 3):(3, 1)") == View((2, 3)) == View.contiguous(2, 3)
    assert View((N, 4)) == View.contiguous(N, 4) == ShapeTracker.contiguous(N, 4).as_view()


@pytest.mark.parametrize(
    "read, sentence, span",
    [
        (lambda: ShapeTracker.parse("(n, 4).reshape(5, 4, n)", where=""), "elements", (7, 23)),
        (lambda: ShapeTracker.parse("(n, 4", where=""), "", None),
        (lambda: ShapeTracker.parse("(n, m//2)", where=""), "the quotient is not known for all values", None),
        (lambda: ShapeTracker.parse("(n, 4)", where="n=4..4"), "the range 4..4 is empty", (2, 6)),
        (lambda: ShapeTracker.parse("(n, 4)", where="k=4..5"), "does not occur in the question", (0, 6)),
        (lambda: ShapeTracker.parse("(n, 4)", where="n=1..5, n > 7"), "no values of the names", None),
        (lambda: ShapeTracker.parse("(lambda, 4)", where=""), "keyword", None),
        (lambda: ShapeTracker.parse("(n, 4)"), "", None),
        (lambda: View.parse("(n, 4).T.reshape(-1)", where=""), "but one is merged", None),
    ],
)
def test_bad_texts_are_parse_errors(read: Callable[[], object], sentence: str, span: tuple[int, int] | None) -> None:
    with pytest.raises(ParseError) as caught:
        read()
    assert sentence in str(caught.value) and "^" in str(caught.value)
    if span is not None:
        assert caught.value.span == span


@pytest.mark.parametrize(
    "make, error, sentence",
    [
        (lambda: Sym("lambda"), ValueError, "keyword of Python"),
        (lambda: Sym("idx0"), ValueError, "name of an index"),
        (lambda: Sym("a b"), ValueError, "cannot be a name"),
        (lambda: Sym("n", 5, 4), ValueError, "the range of n is empty: its least value would be 5, and its greatest 4"),
        (lambda: Sym("n", 1, 4) + Sym("n", 1, 5), ValueError, "the name n has two ranges or two definitions"),
        (lambda: ShapeTracker.contiguous(Sym("n", 1, 4), Sym("n")), ValueError, "two ranges"),
        (lambda: N // 2, ValueError, "N is no multiple of 2 as a polynomial"),
        (lambda: N // 0, ValueError, "N cannot be divided by 0"),
        (lambda: N**17, OverflowError, "16 factors"),
        (lambda: sum((Sym(f"x{k}") for k in range(40)), N) ** 16, OverflowError, "more terms than are computed with"),
        (lambda: N**-1, ValueError, "an exponent is a whole number of 0 or more"),
        (lambda: N * 2**127, OverflowError, "128"),
        (lambda: N * 2**100 * 2**100, OverflowError, "128"),
        (lambda: N + 1.5, TypeError, "unsupported operand"),
        (lambda: N < 1.5, TypeError, "not supported"),
        (lambda: N.eq("x"), TypeError, "eq: takes a Sym or a whole number, not 'x' (str)"),
        (lambda: N.divisible(-3), ValueError, "divisible: takes a whole number"),
        (lambda: N.at(), ValueError, "at: the name N has no value"),
        (lambda: N.at(N=0), ValueError, "at: 0 is not a value of N, which is 1 or more"),
        (lambda: N.at(M=2), ValueError, "at: there is no name M: the only one is N"),
        (lambda: N.at(N=1.5), TypeError, "at: `N` is to be a whole number"),
        (lambda: (N < 4).holds(N=0), ValueError, "holds: 0 is not a value of N"),
        (lambda: ShapeTracker.contiguous(N, 1.5), TypeError, "contiguous: number 1 is to be a whole number"),
        (lambda: ShapeTracker.contiguous(N, 4).reshape(N, 5), ValueError, "reshape: "),
        (lambda: ShapeTracker.contiguous(N, 4).reshape(3, -1), ValueError, "cannot be inferred"),
        (lambda: ShapeTracker.contiguous(N, 4).permute(0, 2), ValueError, "axis 2 does not exist"),
        (lambda: ShapeTracker.contiguous(N, 4).permute(0, N), TypeError, "whole number"),
        (lambda: ShapeTracker.contiguous(N, 4).pad((1, 1)), ValueError, "pad: takes one"),
        (lambda: ShapeTracker.contiguous(N, 4).pad((1, N, 1)), TypeError, "pad: axis 0 takes a pair"),
        (lambda: ShapeTracker.contiguous(N, 4).expand(K, 4), ValueError, "not known to be 1"),
        (lambda: ShapeTracker.contiguous(N, 4).step(2, 1), ValueError, "modulo"),
        (lambda: ShapeTracker.contiguous(N, 4).given(N < 1), ValueError, "no values"),
        (lambda: ShapeTracker.contiguous(N, 4).given(4), TypeError, "given: takes conditions such as"),
        (lambda: ShapeTracker.contiguous(N, 4).at(N=2**62), OverflowError, "64-bit"),
        (lambda: ShapeTracker.contiguous(N).then(3), TypeError, "then: takes a tracker"),
        (lambda: ShapeTracker([]), ValueError, "at least one view"),
        (lambda: ShapeTracker(3), TypeError, "takes views, not 3 (int)"),
        (lambda: View((N, 4), (1,)), ValueError, "stride"),
        (lambda: View((N, 4.5)), TypeError, "View: number 1 is to be a whole number, not 4.5 (float)"),
        (lambda: merge(View((4,)), 3), TypeError, "merge: takes two views, not 3 (int)"),
        (lambda: merge(View((N,)), View((4,)), given=3), TypeError, "sequence of conditions"),
        (lambda: merge(View((N,)), View((4,)), given=[N < 1]), ValueError, "no values"),
        (lambda: merge(View((4,)), View((N,), (5,))).holds(N=2), ValueError, "does not hold"),
        (lambda: explain_view(3, N), TypeError, "explain_view"),
    ],
)
def test_mistakes_are_sentences(make: Callable[[], object], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error) as caught:
        make()
    assert sentence in str(caught.value)


def test_the_examples_run() -> None:
    """The examples of what is native are found at all."""
    found = {test.name for test in doctest.DocTestFinder().find(shapetracker) if test.examples}
    names = ["Sym", "Condition", "IndexExpr", "View", "ShapeTracker", "Answer"]
    assert found >= {f"shapetracker.{name}" for name in names}


@pytest.mark.parametrize(
    "code",
    [
        "np.transpose(x, (0, 2, 1))",
        "np.flip(x, 1)[:, ::-1]",
        "np.flip(x)",
        "x.reshape(B, -1).T",
        "x.reshape(B * T, C)[1:]",
        "np.moveaxis(x, 0, -1)",
        "np.swapaxes(x, 0, 2)[None, ...]",
        "np.tile(x, (2, 1, C))",
        "np.repeat(x, T, axis=1)",
        "np.roll(x, 1, 2)",
        "np.roll(x, -1, 0)",
        "x[:, T - 1]",
        "x[B - 1, :, -1]",
        "np.split(x, [1], axis=2)[0]",
        "np.array_split(x, 1, 1)[0]",
        "np.reshape(x, (C, T, B), order='F')",
        "np.reshape(x, (-1, C), order='F')",
        "np.lib.stride_tricks.sliding_window_view(x, 2, 1)",
        "np.ravel(x.T)",
        "np.broadcast_to(x, (3, B, T, C))",
        "np.expand_dims(x, 1)",
        "np.squeeze(np.expand_dims(x, 1), 1)",
        "np.ascontiguousarray(x.T).reshape(-1)",
        "np.asfortranarray(x).T[0]",
        "np.copy(x.T)[::-1]",
        "np.matrix_transpose(x)",
        "np.diagonal(x[:1, :1], 0, 0, 1)",
        "np.fliplr(x).reshape(B, 1, -1)",
    ],
)
def test_numpy_does_with_numbers_what_is_read_with_names(code: str) -> None:
    tracker = ShapeTracker.parse(f"x = np.zeros((B, T, C)); {code}", where="")
    for b, t, c in itertools.product((2, 3), (2, 4), (2, 3, 5)):
        values = {"B": b, "T": t, "C": c}
        x = np.arange(b * t * c).reshape(b, t, c)
        expected = eval(code, {"np": np, "x": x, **values})
        found = tracker.at(**values)
        assert found.shape == expected.shape
        assert list(found.addresses()) == expected.ravel().tolist()


def test_names_from_elsewhere() -> None:
    line = "y.transpose(1, 2).contiguous().view(B, T * C)"
    advised = shapetracker.advice(line, (2, 4, 8), B=2, T=4, C=8)
    assert advised.sentence == shapetracker.advice("B, T, C = 2, 4, 8; " + line, (2, 4, 8)).sentence
    with pytest.raises(ParseError, match="found `C`, and nothing says which number that is"):
        shapetracker.advice(line, (2, 4, 8), B=2, T=4)


def test_a_tracker_of_names_is_pickled_with_all_that_is_known_and_needed() -> None:
    for text, where in [
        ("(B, T, 3*H*D).reshape(B, T, 3, H, D).permute(2, 0, 3, 1, 4)[1]", "T=1..4097, H=8*h"),
        ("(N, D).shrink((s, s + L), (0, D)).T.reshape(-1)", "s=0.., N % 2 == 0, D != 3"),
        ("(A, B):(S, T).flip(0).pad((p, 1), (0, 0))", "S=1.., p=0..3, A*S == B*T"),
        ("(n,).reshape(4, 8)", ""),
        ("(2, 3).permute(1, 0)", ""),
    ]:
        tracker = ShapeTracker.parse(text, where)
        again = pickle.loads(pickle.dumps(tracker))
        assert again == tracker == copy.deepcopy(tracker) and type(again) is ShapeTracker
        assert (again.names, again.known, again.needs, str(again)) == (tracker.names, tracker.known, tracker.needs, str(tracker))
        assert str(again.single_view()) == str(tracker.single_view())
    with pytest.raises(ValueError, match="parts: there is no name `m`: the only one is `n`"):
        ShapeTracker.of_parts([("n", 1, None)], [], [], [], [(["m"], ["1"], "0", None)])


def test_elements_at_one_address_and_inverses() -> None:
    n, k = Sym("n"), Sym("k")
    windows = ShapeTracker.contiguous(n).as_strided((n - k + 1, k), (1, 1), 0)
    values, (first, second) = windows.collision()
    assert first != second and windows.at(**values).address(*first) == windows.at(**values).address(*second)
    with pytest.raises(NotInvertible, match="both read address"):
        windows.invert(n)
    with pytest.raises(Undecided, match="collision: whether two elements lie at one address is not known for all values"):
        ShapeTracker.parse("(2, 2):(S, T)", "S=7.., T=9.., S != T").collision()
    turned = ShapeTracker.contiguous(n, 4).permute(1, 0).flip(1)
    assert turned.collision() is None
    inverse = turned.invert(n, 4)
    assert list(inverse.at(n=3).addresses()) == list(turned.at(n=3).invert(3, 4).addresses())
