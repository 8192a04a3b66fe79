"""The operators of ONNX that make a layout, from its root."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import gcd, prod
from typing import TypeAlias

import numpy as np

from .._native import Nest, ShapeTracker, Undecided
from .layouts import MOST_ELEMENTS, Array, Factor, Layout, Named, Shape, Size, addresses, number_of

# A Gather moves rows of at least so many bytes, by at most so many indices, which take at most this part of what it moves.
_ROW_BYTES, _MOST_INDICES, _INDEX_PART = 32, 1 << 18, 4


@dataclass(frozen=True)
class Step:
    """An operator of ONNX with its numbers, and the shape of its result."""

    op: str
    numbers: tuple[tuple[int, ...], ...]
    shape: Shape

    @property
    def moves(self) -> bool:
        """Does it write elements?"""
        return self.op != "Reshape"


Plan: TypeAlias = tuple[Step, ...]


def reshape_numbers(old: Shape, new: Shape) -> tuple[int, ...] | None:
    """The numbers of a Reshape: 0 for the size of this axis as it was, -1 for what is left; None where that does not say it."""
    numbers = []
    for axis, size in enumerate(new):
        if not size.names:
            numbers.append(size.number)
        elif axis < len(old) and old[axis] == size:
            numbers.append(0)
        elif -1 not in numbers:
            numbers.append(-1)
        else:
            return None
    return tuple(numbers)


@lru_cache(maxsize=4096)
def plans(layout: Layout, width: int) -> tuple[Plan, ...]:
    """Ways to make a tensor from its root by operators of ONNX, those that write least first; each is right, for it is
    compared."""
    if layout.fill is not None and not layout.is_row_major:
        return ()
    found = []
    if layout.is_row_major:
        found.append(_chained(layout, []))
    else:
        found.append(_strided(layout))
        if found[0] is None or sum(step.moves for step in found[0]) > 1:
            found.append(_gathered(layout, width))
    return tuple(plan for plan in found if plan is not None)


@lru_cache(maxsize=1024)
def axis_order(layout: Layout) -> tuple[int, ...] | None:
    """The order of the root's axes that makes the tensor, where it is only that."""
    shape, rank = layout.root_shape, len(layout.root_shape)
    if rank != len(layout.shape) or rank > 6:
        return None
    whole = Layout.whole(layout.root, shape)
    for order in permutations(range(rank)):
        if all(shape[axis] == size for axis, size in zip(order, layout.shape)) and whole.permute(order).same_order(layout):
            return order
    return None


def _chained(layout: Layout, steps: Sequence[tuple[Shape, str, tuple[tuple[int, ...], ...], Shape]]) -> Plan | None:
    """Operators with the reshapes between them: for each the shape that it takes, itself, and the shape of its result."""
    made: list[Step] = []
    shape = layout.root_shape
    for before, op, numbers, after in (*steps, (layout.shape, "", (), layout.shape)):
        if before != shape:
            target = reshape_numbers(shape, before)
            if target is None:
                return None
            made.append(Step("Reshape", (target,), before))
            shape = before
        if op:
            made.append(Step(op, numbers, after))
            shape = after
    return tuple(made)


def _strided(layout: Layout) -> Plan | None:
    """A Slice, a Transpose and an Expand, as far as they are needed, where the tensor is one strided view of its root."""
    sequence, tracker = layout.flat
    runs = [run for run in sequence if isinstance(run, int)]
    nest = Nest()
    loops = [nest.each(f"i{at}", run) for at, run in enumerate(runs)]
    try:
        nest.read("x", tracker, loops)
        splits = nest.splits_where_affine().factors
    except (Undecided, ValueError, OverflowError):
        return None
    factored: list[list[int]] = []
    for at, run in enumerate(runs):
        factors = splits.get(f"i{at}", (run,))
        numbers = [factor for factor in factors if isinstance(factor, int)]
        if len(numbers) != len(factors):
            return None
        factored.append(numbers)
    view = tracker.reshape([number for numbers in factored for number in numbers]).as_view()
    if view is None or view.mask is not None:
        return None
    # The axes of the result, outermost first: numbers with their strides, and names.
    strides = iter(view.strides)
    wanted: list[tuple[int, int] | Named] = []
    for at, numbers in enumerate(factored):
        wanted += [(number, stride) for number, stride in zip(numbers, strides) if number != 1]
        if at + 1 < len(runs):
            named = sequence[2 * at + 1]
            assert isinstance(named, Named)
            wanted.append(named)
    root_runs = layout.root_factors_flat
    total = prod(map(number_of, root_runs))
    # What lies after each name of the root has so many elements: an axis may not reach over it.
    after_name: dict[Named, int] = {}
    passed = total
    for factor in root_runs:
        if isinstance(factor, Named):
            after_name[factor] = passed
        else:
            passed //= factor
    bounds = sorted(set(after_name.values()))
    if any(isinstance(axis, Named) and axis not in after_name for axis in wanted):
        return None
    parted: list[tuple[int, int] | Named] = []
    for entry in wanted:
        pieces: list[tuple[int, int] | Named] = []
        if not isinstance(entry, Named) and entry[1]:
            number, stride = entry
            for bound in bounds:
                if abs(stride) < bound < number * abs(stride):
                    inner = bound // abs(stride)
                    if bound % abs(stride) or number % inner:
                        return None
                    pieces.insert(0, (inner, stride))
                    number, stride = number // inner, stride * inner
            entry = (number, stride)
        parted += [entry, *pieces]
    moving = [entry for entry in parted if not isinstance(entry, Named) and entry[1]]
    marks = sorted({1, total, *bounds} | {abs(stride) for _, stride in moving})
    if any(b % a for a, b in zip(marks, marks[1:])) or len({abs(stride) for _, stride in moving}) != len(moving):
        return None
    low = view.offset + sum((number - 1) * stride for number, stride in moving if stride < 0)
    of_stride = {abs(stride): (number, stride) for number, stride in moving}
    # The axes of the root, outermost first, as the marks cut it; each with what is taken of it.
    root_axes: list[tuple[Size, tuple[int, int, int] | None, object]] = []
    names = list(after_name.items())
    for inner, outer in reversed(list(zip(marks, marks[1:]))):
        while names and names[0][1] >= outer:
            root_axes.append((Size(1, (names[0][0].name,)), None, names.pop(0)[0]))
        size = outer // inner
        number, stride = of_stride.get(inner, (1, inner))
        start = low // inner % size
        if start + number > size:
            return None
        taken = None
        if (start, number) != (0, size) or stride < 0:
            taken = (start, start + number, 1) if stride > 0 else (start + number - 1, start - 1, -1)
        root_axes.append((Size(size), taken, inner if number > 1 else None))
    root_axes += [(Size(1, (named.name,)), None, named) for named, _ in names]
    keys: list[object] = []
    sizes: dict[object, Size] = {}
    for entry in parted:
        if isinstance(entry, Named):
            keys.append(entry)
            sizes[entry] = Size(1, (entry.name,))
        elif entry[1]:
            keys.append(abs(entry[1]))
            sizes[abs(entry[1])] = Size(entry[0])
    root_axes, keys, sizes = _joined(root_axes, keys, sizes)
    steps: list[tuple[Shape, str, tuple[tuple[int, ...], ...], Shape]] = []
    shape = tuple(size for size, _, _ in root_axes)
    cut = [(axis, taken) for axis, (_, taken, _) in enumerate(root_axes) if taken is not None]
    if cut:
        numbers_of = tuple(zip(*(taken for _, taken in cut)))
        sliced = tuple(size if taken is None else Size(len(range(*taken))) for size, taken, _ in root_axes)
        steps.append((shape, "Slice", (*numbers_of, tuple(axis for axis, _ in cut)), sliced))
    present = [key for _, _, key in root_axes if key is not None]
    if set(present) != set(keys):
        return None
    shape = tuple(sizes[key] for key in present)
    if present != keys:
        order = tuple(present.index(key) for key in keys)
        permuted = tuple(sizes[key] for key in keys)
        steps.append((shape, "Transpose", (order,), permuted))
    if any(not isinstance(entry, Named) and not entry[1] for entry in parted):
        kept = [Size(1, (entry.name,)) if isinstance(entry, Named) else Size(entry[0] if entry[1] else 1) for entry in parted]
        grown = tuple(size if isinstance(entry, Named) else Size(entry[0]) for entry, size in zip(parted, kept, strict=True))
        asked = tuple(1 if size.names else size.number for size in grown)
        steps.append((tuple(kept), "Expand", (asked,), grown))
    plan = _chained(layout, steps)
    return plan if plan is not None and _makes(plan, layout) else None


_RootAxis: TypeAlias = tuple[Size, "tuple[int, int, int] | None", object]


def _joined(
    root_axes: list[_RootAxis], keys: list[object], sizes: dict[object, Size]
) -> tuple[list[_RootAxis], list[object], dict[object, Size]]:
    """Neighbours that stay neighbours, both numbers of which all is taken, are one axis."""
    made: list[_RootAxis] = []
    keys, sizes = list(keys), dict(sizes)
    for size, taken, key in root_axes:
        if made and taken is None and not size.names:
            before, before_taken, before_key = made[-1]
            if size == Size(1):
                continue
            if before_taken is None and not before.names:
                if before == Size(1):
                    made[-1] = (size, None, key)
                    continue
                if before_key in keys and key in keys and keys.index(before_key) + 1 == keys.index(key):
                    keys.remove(before_key)
                    sizes.pop(before_key)
                    sizes[key] = before * size
                    made[-1] = (before * size, None, key)
                    continue
        made.append((size, taken, key))
    return made, keys, sizes


def _gathered(layout: Layout, width: int) -> Plan | None:
    """One Gather of rows by constant indices, where all else stays where it is."""
    sequence, tracker = layout.flat
    root = layout.root_factors_flat
    if [run for run in sequence if isinstance(run, Named)] != [run for run in root if isinstance(run, Named)]:
        return None
    differ = [at for at in range(0, len(root), 2) if sequence[at] != root[at]]
    for run in differ or range(0, len(root), 2):
        made = _gathered_in(layout, sequence, tracker, root, run, width)
        if made is not None or len(differ) > 1:
            return made
    return None


def _gathered_in(
    layout: Layout, sequence: tuple[Factor, ...], tracker: ShapeTracker[int], root: tuple[Factor, ...], run: int, width: int
) -> Plan | None:
    before = prod(map(number_of, sequence[:run]))
    after = prod(map(number_of, sequence[run + 1 :]))
    old, new = number_of(root[run]), number_of(sequence[run])
    total = prod(map(number_of, root))
    if before != prod(map(number_of, root[:run])) or after != prod(map(number_of, root[run + 1 :])):
        return None

    if max(total, tracker.numel) > MOST_ELEMENTS:
        return None
    where = addresses(tracker, total)
    most = gcd(old, new)
    # Rows begin at multiples of their length, wherever an element does not follow the one before.
    begins = int(np.gcd.reduce(np.flatnonzero(where[1:] - where[:-1] != 1) + 1)) or most * after
    if begins % after or begins * width < _ROW_BYTES:
        return None
    lead = next((d for d in _divisors(most) if _repeats(where.reshape(before * d, -1), total // before // d)), None)
    if lead is None:
        return None
    length = next(d for d in _divisors(most // lead) if begins % (d * after) == 0)
    rows = new // lead // length
    if length * after * width < _ROW_BYTES or rows > _MOST_INDICES:
        return None
    if rows * 8 * _INDEX_PART > width * before * lead * rows * length * after:
        return None
    starts = where.reshape(before * lead, rows, length * after)[0, :, 0]
    if (starts % (length * after)).any() or (starts >= total // before // lead).any():
        return None
    indices = (starts // (length * after)).tolist()

    def sizes(parts: Iterable[Factor]) -> tuple[Size, ...]:
        return tuple(Size(1, (part.name,)) if isinstance(part, Named) else Size(part) for part in parts if part != 1)

    outer = sizes((*root[:run], lead))
    inside = sizes((length, *root[run + 1 :]))
    shape = (*outer, Size(old // lead // length), *inside)
    result = (*outer, Size(rows), *inside)
    return _chained(layout, [(shape, "Gather", (tuple(indices), (len(outer),)), result)])


def _repeats(blocks: Array, step: int) -> bool:
    """Does each block lie this far after the one before?"""
    first = blocks[:, 0]
    return bool((first[1:] - first[:-1] == step).all() and (blocks[1:] - blocks[:-1] == step).all())


def _divisors(number: int) -> list[int]:
    """Of a number, the largest first."""
    low = [d for d in range(1, int(number**0.5) + 1) if number % d == 0]
    return sorted({*low, *(number // d for d in low)}, reverse=True)


def _makes(plan: Plan, layout: Layout) -> bool:
    """Do the operators make the tensor? Followed from the root, and compared."""
    made: Layout | None = Layout(layout.root, layout.root_shape, layout.root_factors, *_whole(layout))
    for step in plan:
        if made is None:
            return False
        if step.op == "Reshape":
            made = made.reshape(step.shape)
        elif step.op == "Transpose":
            made = made.permute(step.numbers[0])
        elif step.op == "Slice":
            made = made.sliced({axis: (start, stop, by) for start, stop, by, axis in zip(*step.numbers, strict=True)})
        elif step.op == "Expand":
            made = made.expand(step.shape)
    return made is not None and made.shape == layout.shape and made.same_order(layout)


def _whole(layout: Layout) -> tuple[tuple[tuple[Factor, ...], ...], ShapeTracker[int]]:
    whole = Layout.whole(layout.root, layout.root_shape)
    return whole.axes, whole.tracker
