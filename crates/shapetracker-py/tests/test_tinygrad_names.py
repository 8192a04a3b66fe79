"""Sizes that are tinygrad's variables, in the stand-ins for its classes: at every value of these the answers are
those of arrays of addresses that NumPy reshapes, cuts and pads."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
import random
import subprocess
import sys
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("tinygrad")

from tinygrad import Variable  # noqa: E402

import shapetracker  # noqa: E402
from shapetracker import Sym  # noqa: E402
from shapetracker.compat.tinygrad import fallbacks  # noqa: E402
from shapetracker.compat.tinygrad._genuine import load  # noqa: E402
from shapetracker.compat.tinygrad.shapetracker import ShapeTracker  # noqa: E402
from shapetracker.compat.tinygrad.view import View, ViewError  # noqa: E402

TG = load()
Values = dict[str, int]


def value(size: Any, values: Values, index: tuple[int, ...] = ()) -> int:
    """The value of a UOp, where bound variables have whatever value the variable has."""
    if isinstance(size, int):
        return size
    known: dict[Any, int] = {}
    for node in size.toposort():
        args = [known[operand] for operand in node.src]
        match node.op.name:
            case "CONST":
                known[node] = int(node.arg)
            case "DEFINE_VAR":
                known[node] = values[node.arg[0]]
            case "BIND" | "CAST":
                known[node] = args[0]
            case "RANGE":
                known[node] = index[node.arg]
            case "ADD":
                known[node] = args[0] + args[1]
            case "MUL" | "AND":
                known[node] = args[0] * args[1]
            case "OR":
                known[node] = args[0] | args[1]
            case "MAX":
                known[node] = max(args)
            case "CMPLT":
                known[node] = int(args[0] < args[1])
            case "CMPNE":
                known[node] = int(args[0] != args[1])
            case "WHERE":
                known[node] = args[1] if args[0] else args[2]
            case "IDIV" | "MOD":
                quotient = abs(args[0]) // abs(args[1])
                quotient = quotient if (args[0] < 0) == (args[1] < 0) else -quotient
                known[node] = quotient if node.op.name == "IDIV" else args[0] - quotient * args[1]
            case other:
                raise NotImplementedError(other)
    return known[size]


def addresses(views: tuple[View, ...], values: Values) -> Any:
    """The address of every element of a stack of views, -1 where there is none: index by index."""
    fields = []
    for view in views:
        shape = [value(size, values) for size in view.shape]
        ranges = [(value(b, values), value(e, values)) for b, e in view.mask] if view.mask is not None else None
        fields.append((shape, [value(stride, values) for stride in view.strides], value(view.offset, values), ranges))
    result = np.full(fields[-1][0], -1)
    for index in np.ndindex(*fields[-1][0]):
        at = index
        for place, (shape, strides, offset, ranges) in enumerate(reversed(fields)):
            if ranges is not None and not all(b <= i < e for i, (b, e) in zip(at, ranges)):
                break
            address = offset + sum(i * stride for i, stride in zip(at, strides))
            if place + 1 == len(fields):
                result[index] = address
            else:
                at = tuple(int(i) for i in np.unravel_index(address, fields[-2 - place][0]))
    return result


class Chain:
    """Operations on trackers, and what they make of the array of addresses at each value of the variables."""

    def __init__(self, shape: tuple[Any, ...], every: list[Values]) -> None:
        self.st = ShapeTracker.from_shape(shape)
        self.arrays = []
        for values in every:
            sizes = [value(size, values) for size in shape]
            self.arrays.append((values, np.arange(np.prod(sizes, dtype=int)).reshape(sizes)))

    def reshape(self, to: tuple[Any, ...]) -> None:
        def move(array: Any, values: Values) -> Any:
            return array.reshape([value(size, values) for size in to])

        self._move("reshape", to, move)

    def permute(self, axes: tuple[int, ...]) -> None:
        self._move("permute", axes, lambda array, _: array.transpose(axes))

    def flip(self, flags: tuple[bool, ...]) -> None:
        self._move("flip", flags, lambda array, _: np.flip(array, [a for a, flag in enumerate(flags) if flag]))

    def expand(self, to: tuple[Any, ...]) -> None:
        def move(array: Any, values: Values) -> Any:
            return np.broadcast_to(array, [value(size, values) for size in to])

        self._move("expand", to, move)

    def pad(self, pads: tuple[tuple[Any, Any], ...]) -> None:
        def move(array: Any, values: Values) -> Any:
            ends = [[value(end, values) for end in pad] for pad in pads]
            return np.pad(array, ends, constant_values=-1) if ends else array

        self._move("pad", pads, move)

    def shrink(self, ranges: tuple[tuple[Any, Any], ...]) -> None:
        def move(array: Any, values: Values) -> Any:
            at = [(value(begin, values), value(end, values)) for begin, end in ranges]
            if not all(0 <= begin <= end <= size for (begin, end), size in zip(at, array.shape)):
                raise ValueError
            return array[tuple(slice(begin, end) for begin, end in at)]

        self._move("shrink", ranges, move)

    def _move(self, op: str, argument: Any, move: Any) -> None:
        left = []
        for values, array in self.arrays:
            try:
                left.append((values, move(array, values)))
            except ValueError:
                pass  # These values the operation does not allow.
        self.arrays = left
        if left:
            self.st = getattr(self.st, op)(argument)

    def check(self) -> None:
        index, valid = self.st.to_indexed_uops()
        simple = self.st.simplify()
        for values, array in self.arrays:
            assert [value(size, values) for size in self.st.shape] == list(array.shape)
            assert (addresses(self.st.views, values) == array).all(), (self.st, values)
            assert (addresses(simple.views, values) == array).all(), (self.st, simple, values)
            for at in np.ndindex(*array.shape):
                read = value(index, values, at) if value(valid, values, at) else -1
                assert read == array[at], (self.st, values, at)


def random_chain(rng: random.Random, length: int) -> Chain:
    n, m, s = Variable("n", 1, 4), Variable("m", 1, 3), Variable("s", 0, 3)
    if rng.random() < 0.5:
        n, s = n.bind(2), s.bind(1)
    every = [dict(n=i, m=j, s=k) for i, j, k in itertools.product(range(1, 5), range(1, 4), range(4))]
    size = lambda: rng.choice([1, 2, 3, 4, n, m, n + 1, n * 2, n * m, m * 4, s + n])  # noqa: E731
    chain = Chain(tuple(size() for _ in range(rng.randint(1, 3))), every)
    for _ in range(length):
        if max(array.size for _, array in chain.arrays) > 200:
            break
        before = (chain.st, chain.arrays)
        random_step(rng, chain, (n, m, s))
        if not chain.arrays or min(array.size for _, array in chain.arrays) > 200:
            chain.st, chain.arrays = before
    return chain


def random_step(rng: random.Random, chain: Chain, names: tuple[Any, Any, Any]) -> None:
    n, m, s = names
    shape = chain.st.shape
    rank = len(shape)
    match rng.choice(["reshape", "reshape", "permute", "flip", "expand", "pad", "shrink", "shrink"]):
        case "permute":
            chain.permute(tuple(rng.sample(range(rank), rank)))
        case "flip":
            chain.flip(tuple(rng.random() < 0.4 for _ in shape))
        case "expand":
            choices = [2, 3, n, m, s + 1]
            chain.expand(tuple(rng.choice(choices) if isinstance(size, int) and size == 1 else size for size in shape))
        case "pad":
            ends = [0, 0, 0, 1, 2, s, n, 4 - n]
            chain.pad(tuple((rng.choice(ends), rng.choice(ends)) for _ in shape))
        case "shrink":
            ranges = []
            for size in shape:
                begins, ends = [0, 0, 0, 1, s], [size, size, size - 1, n, s + 1, s + n, size - s]
                ranges.append((rng.choice(begins), rng.choice(ends)))
            chain.shrink(tuple(ranges))
        case "reshape":
            to = list(shape)
            kind = rng.random()
            if rank > 1 and kind < 0.4:
                axis = rng.randrange(rank - 1)
                to[axis : axis + 2] = [to[axis] * to[axis + 1]]
            elif kind < 0.6 and rank < 4:
                to.insert(rng.randint(0, rank), 1)
            elif kind < 0.8:
                to = [size for size in to if not (isinstance(size, int) and size == 1)]
            elif rank:
                axis = rng.randrange(rank)
                by = rng.choice([2, 4, n, m])
                to[axis : axis + 1] = rng.choice([[to[axis] // by, by], [by, to[axis] // by]])
            numbers = all(isinstance(size, int) for size in shape)
            if not numbers or chain.st.views[-1].contiguous or all(isinstance(size, int) for size in to):
                chain.reshape(tuple(to))


# In the last one tinygrad's rules for quotients of quotients never come to an end.
@pytest.mark.parametrize("seed", [*range(60), 400096])
def test_random_chains_are_right_at_every_value(seed: int) -> None:
    random_chain(random.Random(seed), 6).check()


@pytest.mark.parametrize("seed", range(40))
def test_sums_are_right_at_every_value(seed: int) -> None:
    rng = random.Random(1000 + seed)
    below = random_chain(rng, 4)
    above = Chain(below.st.shape, [values for values, _ in below.arrays])
    n, m, s = Variable("n", 1, 4), Variable("m", 1, 3), Variable("s", 0, 3)
    for _ in range(3):
        kept = (above.st, above.arrays)
        random_step(rng, above, (n, m, s))
        if not above.arrays:
            above.st, above.arrays = kept
    both = below.st + above.st
    arrays = {tuple(values.items()): array for values, array in below.arrays}
    for values, array in above.arrays:
        flat = arrays[tuple(values.items())].reshape(-1)
        expected = np.array([flat[at] if at >= 0 else -1 for at in array.reshape(-1)], dtype=int).reshape(array.shape)
        assert (addresses(both.views, values) == expected).all(), (below.st, above.st, both, values)


@pytest.mark.parametrize("seed", range(2000, 2040))
def test_what_is_asked_of_a_tracker_holds_at_every_value(seed: int) -> None:
    chain = random_chain(random.Random(seed), 5)
    st = chain.st
    strides, visible, real_size = st.real_strides(ignore_valid=True), st.real_strides(), st.real_size()
    masked = [st.axis_is_masked(axis) for axis in range(len(st.shape))]
    unit = [axis for axis, stride in enumerate(strides) if isinstance(stride, int) and stride == 1]
    assert st.unit_stride_axes(True) == unit
    unbound, var_vals = st.unbind()
    assert all(var.op.name == "DEFINE_VAR" for var in unbound.vars()) and set(var_vals) <= unbound.vars()
    least = st.views[-1].minify()
    for values, array in chain.arrays:
        assert array.max(initial=-1) < real_size and array.size <= st.size
        assert (addresses(unbound.views, values) == array).all()
        assert (addresses((*st.views[:-1], least), values).reshape(-1) == array.reshape(-1)).all()
        for axis, (stride, shown) in enumerate(zip(strides, visible)):
            here, there = np.moveaxis(array, axis, 0)[:-1], np.moveaxis(array, axis, 0)[1:]
            assert masked[axis] or ((here < 0) == (there < 0)).all()
            assert shown is None if masked[axis] else shown is stride
            if stride is not None:
                both = (here >= 0) & (there >= 0)
                assert ((there - here)[both] == value(stride, values)).all()
        substituted = st.substitute({var: var.const_like(values[name_of(var)]) for var in st.vars()})
        assert substituted.exact.shape == array.shape and (addresses(substituted.views, {}) == array).all()


def name_of(var: Any) -> str:
    name: str = (var.src[0] if var.op.name == "BIND" else var).arg[0]
    return name


@pytest.mark.parametrize("seed", range(3000, 3030))
def test_indices_may_be_expressions(seed: int) -> None:
    rng = random.Random(seed)
    chain = random_chain(rng, 4)
    rank = len(chain.st.shape)
    ranges = [TG.UOp.range(TG.dtypes.int, size, axis) for axis, size in enumerate(chain.st.shape)]
    # Backwards: an expression in which the size occurs.
    idxs = [size - 1 - r if rng.random() < 0.5 else r for size, r in zip(chain.st.shape, ranges)]
    index, valid = chain.st.to_indexed_uops(idxs)
    only = View.create(chain.st.shape).to_indexed_uops(idxs, valid)
    for values, array in chain.arrays:
        for at in np.ndindex(*array.shape):
            place = tuple(value(idx, values, at) if not isinstance(idx, int) else idx for idx in idxs)
            read = value(index, values, at) if value(valid, values, at) else -1
            assert read == array[place], (chain.st, values, at)
            if read >= 0:
                assert value(only[1], values, at)
                assert value(only[0], values, at) == (np.ravel_multi_index(place, array.shape) if rank else 0)


def test_an_inverse_finds_the_element_at_each_place_of_a_buffer() -> None:
    n = Variable("n", 1, 4)
    st = ShapeTracker.from_shape((n, 3, 2)).permute((2, 0, 1)).flip((True, False, True))
    inverse = st.invert((n * 6,))
    assert inverse is not None
    for size in range(1, 5):
        array, back = addresses(st.views, {"n": size}), addresses(inverse.views, {"n": size})
        assert (array.reshape(-1)[back] == np.arange(size * 6)).all()
    assert st.shrink(((0, 1), (0, n), (0, 3))).invert((n * 3,)) is None
    assert ShapeTracker.from_shape((n, 3), (1, 4)).invert((n * 3,)) is None
    assert ShapeTracker((View.create((n,), (1,), 5),)).invert((n,)) is None


def cache_of(start: Any, length: int) -> tuple[ShapeTracker, ShapeTracker]:
    """The keys of an attention cache, as they are read and as they are written."""
    cache = ShapeTracker.from_shape((2, 1, 128, 4, 16))
    all_of_it = ((0, 1), (0, 1), (0, start + length), (0, 4), (0, 16))
    read = cache.shrink(all_of_it).reshape((1, start + length, 4, 16)).permute((0, 2, 1, 3))
    written = cache.shrink(((0, 1), (0, 1), (start, start + length), (0, 4), (0, 16)))
    return read, written


def test_an_attention_cache_is_native() -> None:
    fallbacks(clear=True)
    start = Variable("start_pos", 1, 127)
    for length in (1, 3):
        for position in (start, start.bind(5)):
            read, written = cache_of(position, length)
            size = position + length
            assert read.shape == (1, 4, size, 16) and len(read.views) == 1
            assert read.real_strides() == (0, 16, 64, 1)
            assert written.shape == (1, 1, length, 4, 16) and written.views[0].offset is (position * 64).ssimplify()
            scores = ShapeTracker.from_shape((1, 4, length, size)).reshape((1, 4, length, size, 1))
            spread = scores.expand((1, 4, length, size, 16)).permute((0, 1, 2, 4, 3))
            assert len((spread + ShapeTracker.from_shape(spread.shape)).views) == 1
            padded = read.pad(((0, 0), (0, 0), (0, 128 - size), (0, 0)))
            assert padded.shape == (1, 4, 128, 16) and padded.axis_is_masked(2) and not padded.axis_is_masked(3)
            assert padded.shrink(((0, 1), (0, 4), (0, size), (0, 16))) == read
            index, valid = padded.to_indexed_uops()
            assert {node.op.name for node in index.toposort()} <= {"ADD", "MUL", "RANGE", "CONST"}
            assert value(valid, {"start_pos": 7}, (0, 0, 6 + length, 0)) and not value(
                valid, {"start_pos": 7}, (0, 0, 7 + length, 0)
            )
    assert fallbacks() == []


def test_sizes_are_the_nodes_that_were_given() -> None:
    n, m = Variable("n", 1, 8), Variable("m", 1, 8)
    st = ShapeTracker.from_shape((n + 1, m * 2))
    assert st.shape == (n + 1, m * 2) and st.permute((1, 0)).shape == (m * 2, n + 1)
    assert st.reshape(((n + 1) * (m * 2),)).shape == (((n + 1) * (m * 2)).ssimplify(),)
    assert st.pad(((2, 0), (0, 0))).shrink(((2, n + 3), (0, m * 2))) == st
    assert st.contiguous and st.reshape(st.shape) == st and st.reshape((1, n + 1, m * 2)).contiguous
    # Whatever has the same elements in the same places has the same fields, wherever it comes from.
    assert View.create((n, 4)).pad(((0, 0), (0, 0))) == View.create((n, 4))
    assert st + ShapeTracker.from_shape(st.shape) == st


def test_numbers_that_are_left_are_numbers() -> None:
    n = Variable("n", 1, 8)
    st = ShapeTracker.from_shape((n, 4)).shrink(((n - 1, n), (0, 4)))
    assert st.shape == (1, 4) and st.views[0].offset is ((n * 4) - 4).ssimplify()
    after = ShapeTracker.from_shape((n, 4)).substitute({n: n.const_like(3)})
    assert after == ShapeTracker.from_shape((3, 4)) and hash(after) == hash(ShapeTracker.from_shape((3, 4)))
    assert after.vars() == set() and after.exact.shape == (3, 4)


def test_variables_and_their_values() -> None:
    n, m = Variable("n", 1, 8), Variable("m", 0, 8)
    st = ShapeTracker.from_shape((n.bind(3), 5)).shrink(((0, n.bind(3)), (m.bind(2), m.bind(2) + 1)))
    assert st.vars() == {n.bind(3), m.bind(2)} and st.var_vals == {n: 3, m: 2}
    free, values = st.unbind()
    assert values == {n: 3, m: 2} and free.vars() == {n, m}
    assert free == ShapeTracker.from_shape((n, 5)).shrink(((0, n), (m, m + 1)))
    assert free.unbind() == (free, {})
    with pytest.raises(AssertionError):
        free.var_vals
    view, values = st.views[0].unbind()
    assert view == free.views[0] and values == {n: 3, m: 2}
    with pytest.raises(ViewError, match="both 3 and 4"):
        ShapeTracker.from_shape((n.bind(3), n.bind(4))).var_vals


def test_numbers_become_names_where_they_have_their_values() -> None:
    n = Variable("n", 1, 5).bind(4)
    view = View.create((3, 4), (1, 3))
    named = view.reshape((3, n))
    assert named == View((3, n), (1, 3), 0, None, False)
    for shape in ((n, 3), (3, n, 1), (3, Variable("n", 1, 5))):
        with pytest.raises(ViewError, match="is not row-major"):
            view.reshape(shape)
    assert View.create((3, 4)).reshape((3, n)) == View.create((3, n))
    assert View.create((3, n)).reshape((3, 4)) == View.create((3, 4))


def test_what_can_never_be_is_refused() -> None:
    n = Variable("n", 1, 8)
    st = ShapeTracker.from_shape((n, 3))
    wrong: list[tuple[str, Any]] = [
        ("reshape", (n, 4)),
        ("reshape", (-n, -3)),
        ("shrink", ((0, n + 1), (0, 3))),
        ("shrink", ((-n, n), (0, 3))),
        ("shrink", ((0, n),)),
        ("pad", ((-n, 0), (0, 0))),
        ("pad", ((0, n),)),
        ("expand", (n, 4)),
        ("expand", (n + 9, 3)),
        ("expand", (n,)),
        ("permute", (0, 0)),
        ("flip", (True,)),
    ]
    for op, argument in wrong:
        with pytest.raises(ViewError):
            getattr(st, op)(argument)
    with pytest.raises(ViewError):
        View.create((-n,))
    for bad in ((n, 1.5), (n, "3"), (n, None)):
        with pytest.raises(TypeError):
            st.reshape(bad)
    with pytest.raises(TypeError):
        ShapeTracker.from_shape((1.5,))


def test_what_may_be_is_taken_for_granted() -> None:
    n = Variable("n", 1, 8)
    st = ShapeTracker.from_shape((n, 3))
    assert st.reshape((4, 3)) == ShapeTracker.from_shape((4, 3))
    assert st.expand((5, 3)).shape == (5, 3)
    assert st.shrink(((2, n), (0, 3))).shape == ((n - 2).ssimplify(), 3)
    assert ShapeTracker.from_shape((5, 3)).shrink(((0, n), (0, 3))).shape == (n, 3)


def test_an_axis_that_a_variable_cuts_to_one_element_is_repeated() -> None:
    s = Variable("s", 0, 3)
    cut = ShapeTracker.from_shape((4, 2)).shrink(((s, s + 1), (0, 2))).expand((3, 2))
    padded = ShapeTracker.from_shape((2,)).pad(((1, 1),)).shrink(((s, s + 1),)).expand((3,))
    assert cut.shape == (3, 2) and cut.real_strides() == (0, 1)
    for at in range(4):
        assert (addresses(cut.views, {"s": at}) == [[2 * at, 2 * at + 1]] * 3).all()
        assert (addresses(padded.views, {"s": at}) == [[-1, 0, 1, -1][at]] * 3).all()


def test_masks_whose_ends_are_not_in_order() -> None:
    n, m = Variable("n", 0, 4), Variable("m", 0, 6)
    fallbacks(clear=True)
    st = ShapeTracker.from_shape((4,)).pad(((n, 0),)).shrink(((0, m),))
    assert len(st.views) == 1 and fallbacks() == []
    for i, j in itertools.product(range(5), range(7)):
        if j <= 4 + i:
            expected = np.pad(np.arange(4), (i, 0), constant_values=-1)[:j]
            assert (addresses(st.views, {"n": i, "m": j}) == expected).all()


def test_the_fields_are_those_of_a_dataclass() -> None:
    n = Variable("n", 1, 8).bind(3)
    view = View((n, 2), (2, 1), n, ((0, n), [0, 1]), False)
    fields = ((n, 2), (2, 1), n, ((0, n), (0, 1)), False)
    assert (view.shape, view.strides, view.offset, view.mask, view.contiguous) == fields
    assert view == View(*fields) and view != View.create((n, 2)) and view != View.create((3, 2))
    st = ShapeTracker((view, View.create((n, 2))))
    for same in (pickle.loads(pickle.dumps(st)), copy.copy(st), copy.deepcopy(st), dataclasses.replace(st)):
        assert same == st and hash(same) == hash(st) and repr(same) == repr(st)
    assert repr(View.create((n,))) == f"View(shape=({n!r},), strides=(1,), offset=0, mask=None, contiguous=True)"
    assert dataclasses.replace(view, offset=0).offset == 0 and dataclasses.astuple(View.create((n,)))[1] == (1,)
    assert View.create((n,)).size() == 8 and st.size == 16 and st.reduce((1,)) == (n, 1)


def test_exact_is_a_view_or_a_tracker_with_names() -> None:
    n = Variable("n", 1, 8)
    st = ShapeTracker.from_shape((n, 2)).permute((1, 0))
    name = Sym("n_1_8", 1, 8)
    assert st.views[0].exact == shapetracker.View((2, name), (1, 2)) and isinstance(st.exact, shapetracker.ShapeTracker)
    assert st.exact.shape == (2, name)
    # A bound variable is another name, of the same range; and so is one of the same name and another range.
    others = [Variable("n", 1, 8).bind(3), Variable("n", 1, 9), Variable("n", 1, 8) // 3, Variable("n m", 1, 8)]
    names = {str(View.create((size,)).exact) for size in (n, *others)}
    assert len(names) == 5


def test_what_is_left_to_tinygrads_classes_is_counted() -> None:
    n = Variable("n", 1, 2)
    fallbacks(clear=True)
    # Polynomials have 16 factors at most.
    shape = (n,) * 20
    view, st = View.create(shape), ShapeTracker.from_shape(shape)
    assert view.shape == shape and view.contiguous and st.shape == shape and st.views == (view,)
    [(op, reason, count)] = fallbacks()
    assert (op, count) == ("View.create", 2) and "16 factors" in reason
    assert len(fallbacks(clear=True)) == 1 and fallbacks() == []


def test_stacks_whose_views_are_not_known_to_fit() -> None:
    s, p = Variable("s", -2, 3), Variable("p", 0, 3)
    # Which end of the axis has the lowest address depends on the sign of the stride.
    top = View.create((2, 3)).pad(((p, 0), (0, 0)))
    st = ShapeTracker((View.create((4, 2), (1, 4)), View.create((2, 3), (s, 0), 2), top))
    assert st.simplify().real_strides() == (None, None) and st.axis_is_masked(0)
    with pytest.raises(ValueError, match="sign"):
        st.exact
    for idxs in (None, [TG.UOp.range(TG.dtypes.int, size, axis) for axis, size in enumerate(st.shape)]):
        index, valid = st.to_indexed_uops(idxs)
        for step, before in itertools.product(range(-2, 4), range(4)):
            array = addresses(st.views, {"s": step, "p": before})
            for at in np.ndindex(*array.shape):
                values = {"s": step, "p": before}
                assert array[at] == (value(index, values, at) if value(valid, values, at) else -1)


def test_what_fixes_a_name_is_no_fact_to_simplify_with() -> None:
    n = Variable("n", 1, 5)
    # A compiled function is called again with other values, whatever this call's arrays looked like.
    for size in (1, 3):
        st = ShapeTracker.from_shape((size, 4)).reshape((n.bind(size), 4))
        assert st.unbind()[0] == ShapeTracker.from_shape((n, 4))
        both = ShapeTracker((View.create((size, 4)), View.create((n, 4)))).simplify()
        assert both == ShapeTracker.from_shape((n, 4))
    on_top = ShapeTracker((View.create((3, 4), (1, 3)), View.create((n + 2, 4))))
    assert on_top.simplify() == on_top
    named = ShapeTracker.from_shape((n, 4)).permute((1, 0))
    assert len(named.reshape((4, 3)).views) == 2 and named.reshape((4, 3)).vars() == {n}


def test_without_tinygrad_what_is_no_number_is_refused() -> None:
    program = """
import sys
from shapetracker.compat.tinygrad import ShapeTracker, fallbacks
try:
    ShapeTracker.from_shape((2, 1.5))
except TypeError as err:
    print(err)
assert not any(name.split(".")[0] == "tinygrad" for name in sys.modules) and fallbacks() == []
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "is to be a whole number, not 1.5" in done.stdout, done.stderr
