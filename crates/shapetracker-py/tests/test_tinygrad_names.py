"""Sizes that are tinygrad's variables, in the stand-ins for its classes: at every value of the variables the answers are those of
arrays of addresses that NumPy reshapes, cuts and pads."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("tinygrad")

from tinygrad import Variable  # noqa: E402

from shapetracker.compat.tinygrad import fallbacks  # noqa: E402
from shapetracker.compat.tinygrad.shapetracker import ShapeTracker  # noqa: E402
from shapetracker.compat.tinygrad.view import View  # noqa: E402

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


@pytest.mark.parametrize("seed", range(60))
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
