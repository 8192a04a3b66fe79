"""Layouts of tensors some of whose axes have names for sizes, over a tensor in row-major order; and the ONNX operators that make
one.

A size is a number times names. An axis with a name takes part whole or not at all in what is known here: it may be put elsewhere,
joined to its neighbours and parted from them, and where it would have to be cut, the answer is None. So a layout is the product
of the identity on the named axes and of a `ShapeTracker` of numbers on all the others, and what the library decides about that
tracker holds for all values of the names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from math import gcd, prod
from typing import Any, TypeAlias

import numpy as np

from . import apply
from ._native import Nest, ShapeTracker, Undecided, View

_Array: TypeAlias = "np.ndarray[Any, Any]"

# A Gather moves rows of at least so many bytes, by at most so many indices, which take at most this part of what it moves.
_ROW_BYTES, _MOST_INDICES, _INDEX_PART = 32, 1 << 18, 4

# Larger tensors, each name taken as 1, are never looked at element by element.
_MOST_ELEMENTS = 1 << 24


@dataclass(frozen=True, order=True)
class Size:
    """A number times names, such as 64*batch."""

    number: int
    names: tuple[str, ...] = ()

    @staticmethod
    def parse(text: str) -> Size:
        """The size that a dimension's text in ONNX stands for: what is no product of numbers and names is one name."""
        parts = [part.strip() for part in text.split("*")]
        if not all(re.fullmatch(r"[0-9]+|[A-Za-z_]\w*", part) for part in parts):
            return Size(1, (text,))
        numbers = [int(part) for part in parts if part.isdigit()]
        return Size(prod(numbers), tuple(sorted(part for part in parts if not part.isdigit())))

    def __mul__(self, other: Size) -> Size:
        return Size(self.number * other.number, tuple(sorted(self.names + other.names)))

    def divided(self, by: Size) -> Size | None:
        """The quotient, where there is a whole one for all values."""
        left = Counter(self.names)
        left.subtract(by.names)
        if not by.number or self.number % by.number or min(left.values(), default=0) < 0:
            return None
        return Size(self.number // by.number, tuple(sorted(left.elements())))

    def __str__(self) -> str:
        return "*".join([str(self.number)] * (self.number != 1 or not self.names) + list(self.names))


Shape: TypeAlias = tuple[Size, ...]


def size_of(shape: Iterable[Size]) -> Size:
    """How many elements a tensor of this shape has."""
    total = Size(1)
    for size in shape:
        total = total * size
    return total


@dataclass(frozen=True)
class Named:
    """A whole named axis of the tensor that a layout is over: the position tells several of one name apart."""

    name: str
    position: int


Factor: TypeAlias = int | Named


@dataclass(frozen=True)
class Layout:
    """Where the elements of a tensor lie among those of another one in row-major order, its root.

    `axes` has for each axis the factors of its size, outermost first; the tracker has an axis for each of them, of size 1 for a
    name. `root_factors` are those of the root. What the mask of the tracker leaves out has the value `fill`.
    """

    root: str
    root_shape: Shape
    root_factors: tuple[Factor, ...]
    axes: tuple[tuple[Factor, ...], ...]
    tracker: ShapeTracker[int]
    fill: bytes | None = None

    @staticmethod
    def whole(root: str, shape: Shape) -> Layout:
        """The layout of a tensor over itself."""
        axes: list[tuple[Factor, ...]] = []
        position = 0
        for size in shape:
            named: list[Factor] = []
            for name in size.names:
                named.append(Named(name, position))
                position += 1
            axes.append((*named, size.number) if size.number != 1 or not named else tuple(named))
        factors = tuple(factor for axis in axes for factor in axis)
        return Layout(root, shape, factors, tuple(axes), ShapeTracker.contiguous([number_of(factor) for factor in factors]))

    def over(self, root: str, shape: Shape) -> Layout:
        """The same over another root with as many elements and the same named axes."""
        return Layout(root, shape, self.root_factors, self.axes, self.tracker, self.fill)

    def under(self, upper: Layout) -> Layout | None:
        """A layout over the tensor that this is one of, over this one's root: both are in one order of named axes, or None."""
        mine = [factor for factor in self.factors if isinstance(factor, Named)]
        below = Layout.whole(upper.root, self.shape)
        names = dict(zip((factor for factor in below.factors if isinstance(factor, Named)), mine, strict=True))
        if _runs(names.get(f, f) if isinstance(f, Named) else f for f in below.factors) != self.flat[0] or upper.fill is not None:
            return None
        axes = [tuple(names[factor] if isinstance(factor, Named) else factor for factor in axis) for axis in upper.axes]
        return self._made(axes, self.tracker.compose(upper.tracker))

    @property
    def factors(self) -> tuple[Factor, ...]:
        return tuple(factor for axis in self.axes for factor in axis)

    @cached_property
    def shape(self) -> Shape:
        return tuple(
            Size(
                prod(map(number_of, axis)),
                tuple(sorted(factor.name for factor in axis if isinstance(factor, Named))),
            )
            for axis in self.axes
        )

    @cached_property
    def flat(self) -> tuple[tuple[Factor, ...], ShapeTracker[int]]:
        """The sizes between the names, and the names, in turn; and the tracker with one axis for each of the former.

        Two tensors have the same elements in the same order if and only if both are equal, if no size is 1.
        """
        sequence = _runs(self.factors)
        return sequence, self.tracker.reshape([run for run in sequence if isinstance(run, int)])

    @cached_property
    def is_row_major(self) -> bool:
        """Is it the root reshaped?"""
        try:
            return self.flat[0] == _runs(self.root_factors) and self.tracker.is_identity()
        except Undecided:
            return False

    @cached_property
    def is_one_to_one(self) -> bool:
        """Is no element of the root there twice? False where this cannot be shown."""
        try:
            return self.flat[1].collision() is None
        except Undecided:
            return False

    def same_order(self, other: Layout) -> bool:
        """Do both have the same elements of equal roots, in the same order?"""
        if (self.root_factors_flat, self.flat[0], self.fill) != (other.root_factors_flat, other.flat[0], other.fill):
            return False
        return not _differ(self.flat[1], other.flat[1], prod(map(number_of, self.root_factors)))

    @property
    def root_factors_flat(self) -> tuple[Factor, ...]:
        return _runs(self.root_factors)

    def _made(self, axes: Sequence[tuple[Factor, ...]], tracker: ShapeTracker[int], fill: bytes | None = None) -> Layout:
        return Layout(self.root, self.root_shape, self.root_factors, tuple(axes), tracker, self.fill if fill is None else fill)

    def permute(self, order: Sequence[int]) -> Layout:
        """The axes in another order."""
        starts = self._starts()
        flat = [at for axis in order for at in range(starts[axis], starts[axis + 1])]
        return self._made([self.axes[axis] for axis in order], self.tracker.permute(flat))

    def reshape(self, shape: Shape) -> Layout | None:
        """The same elements in the same order, for any shape whose names are not crossed by numbers that do not divide."""
        runs = list(_runs(self.factors))
        place, left = 0, runs[0]
        axes: list[tuple[Factor, ...]] = []
        for size in shape:
            number, names = size.number, list(size.names)
            axis: list[Factor] = []
            while names:
                if not isinstance(left, int) or place + 2 >= len(runs) or number % left:
                    return None
                named = runs[place + 1]
                assert isinstance(named, Named)
                if named.name not in names:
                    return None
                names.remove(named.name)
                axis += [left] * (left != 1) + [named]
                number //= left
                place, left = place + 2, runs[place + 2]
            assert isinstance(left, int)
            if not number or left % number:
                return None
            axis += [number] * (number != 1 or not axis)
            left //= number
            axes.append(tuple(axis))
        # Names that no axis took, or elements.
        if place != len(runs) - 1 or left != 1:
            return None
        sizes = [number_of(factor) for axis in axes for factor in axis]
        return self._made(axes, self.tracker.reshape(sizes))

    def sliced(self, ranges: dict[int, tuple[int, int, int]]) -> Layout | None:
        """Of some axes, each a number, the elements from a start to an end by a step, in Python's sense and within the axis."""
        index: list[slice] = [slice(None)] * len(self.factors)
        axes, starts = list(self.axes), self._starts()
        for axis, (start, stop, step) in ranges.items():
            count = len(range(start, stop, step))
            if not self._is_number(axis) or not count:
                return None
            index[starts[axis]] = slice(start, None if stop < 0 else stop, step)
            axes[axis] = (count,)
        return self._made(axes, self.tracker[tuple(index)])

    def padded(self, pads: Sequence[tuple[int, int]], fill: bytes) -> Layout | None:
        """With constants around, or less where a number is negative."""
        cut = {
            axis: (max(0, -before), size.number - max(0, -after), 1)
            for axis, ((before, after), size) in enumerate(zip(pads, self.shape, strict=True))
            if before < 0 or after < 0
        }
        made = self.sliced(cut) if cut else self
        if made is None or self.fill not in (None, fill):
            return None
        grown: list[tuple[int, int]] = [(0, 0)] * len(made.factors)
        axes, starts, pads_any = list(made.axes), made._starts(), False
        for axis, (before, after) in enumerate(pads):
            before, after = max(0, before), max(0, after)
            if before or after:
                if not made._is_number(axis):
                    return None
                grown[starts[axis]] = (before, after)
                axes[axis] = (made.shape[axis].number + before + after,)
                pads_any = True
        return made._made(axes, made.tracker.pad(grown), fill) if pads_any else made

    def expand(self, shape: Shape) -> Layout | None:
        """Axes of size 1, and new ones in front, repeated; None where it is by a name."""
        lead = len(shape) - len(self.axes)
        axes: list[tuple[Factor, ...]] = [(1,)] * lead + list(self.axes)
        made = self._made(axes, self.tracker.reshape([number_of(factor) for axis in axes for factor in axis]))
        sizes = [number_of(factor) for factor in made.factors]
        starts = made._starts()
        for axis, (old, new) in enumerate(zip(made.shape, shape, strict=True)):
            if old != new:
                if old != Size(1) or new.names or not made._is_number(axis):
                    return None
                sizes[starts[axis]], axes[axis] = new.number, (new.number,)
        return made._made(axes, made.tracker.expand(sizes))

    def repeated(self, axis: int, times: int) -> Layout | None:
        """Along an axis that many times, one after the other."""
        shape = self.shape
        if not self._is_number(axis):
            return None
        parts = self.reshape((*shape[:axis], Size(1), *shape[axis:]))
        made = parts and parts.expand((*shape[:axis], Size(times), *shape[axis:]))
        return made and made.reshape((*shape[:axis], Size(times * shape[axis].number), *shape[axis + 1 :]))

    def rolled(self, axis: int, start: int) -> Layout | None:
        """Along an axis from this element on, and then those before it."""
        made = self.repeated(axis, 2)
        return made and made.sliced({axis: (start, start + self.shape[axis].number, 1)})

    def _is_number(self, axis: int) -> bool:
        return len(self.axes[axis]) == 1 and isinstance(self.axes[axis][0], int)

    def _starts(self) -> list[int]:
        starts = [0]
        for axis in self.axes:
            starts.append(starts[-1] + len(axis))
        return starts


def number_of(factor: Factor) -> int:
    """Its size, as the trackers have it: 1 for a name."""
    return factor if isinstance(factor, int) else 1


def _runs(factors: Iterable[Factor]) -> tuple[Factor, ...]:
    """The products of the numbers between names, and the names: one product more than names."""
    runs: list[Factor] = [1]
    for factor in factors:
        if isinstance(factor, Named):
            runs += [factor, 1]
        else:
            last = runs[-1]
            assert isinstance(last, int)
            runs[-1] = last * factor
    return tuple(runs)


def stacked(parts: Sequence[Layout], axis: int) -> Layout | None:
    """The layout of a concatenation along an axis, where one is found; what is found is what the parts are, for it is
    compared."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if any(part.root != first.root or not part._is_number(axis) or part.fill is not None for part in parts):
        return None
    for made in _guesses(parts, axis):
        if made is None or made.shape[axis].number != sum(part.shape[axis].number for part in parts):
            continue
        start = 0
        for part in parts:
            end = start + part.shape[axis].number
            cut = made.sliced({axis: (start, end, 1)})
            if cut is None or cut.shape != part.shape or not cut.same_order(part):
                break
            start = end
        else:
            return made
    return None


def _guesses(parts: Sequence[Layout], axis: int) -> Iterator[Layout | None]:
    first = parts[0]
    views = [part.tracker.as_view() for part in parts]
    # The same part again and again.
    yield first.repeated(axis, len(parts))
    at = first._starts()[axis]
    last = views[-1]
    # Pieces of one axis, from some element on and perhaps around to its first.
    if all(part.axes[:axis] + part.axes[axis + 1 :] == first.axes[:axis] + first.axes[axis + 1 :] for part in parts):
        total = sum(part.shape[axis].number for part in parts)
        if views[0] is not None and last is not None:
            strides = {view.strides[at] for view in views if view is not None and view.shape[at] > 1}
            for stride in sorted(strides) or [last.offset - views[0].offset]:
                for start in range(len(parts)):
                    base = views[start]
                    if base is None:
                        continue
                    sizes = list(base.shape)
                    steps = list(base.strides)
                    sizes[at], steps[at] = total, stride
                    axes = list(first.axes)
                    axes[axis] = (total,)
                    view = View(sizes, steps, base.offset)
                    reach = view.address_range()
                    if reach is None or reach[0] < 0 or reach[1] >= prod(map(number_of, first.root_factors)):
                        continue
                    whole = first._made(axes, ShapeTracker([view]))
                    begun = sum(part.shape[axis].number for part in parts[start:])
                    yield whole if start == 0 else whole.rolled(axis, begun)
    # Equal parts whose first elements lie at distances that are sums of a few: each distance is an axis in front.
    offsets = [view.offset for view in views if view is not None]
    if len(offsets) == len(parts) and len({(view.shape, view.strides) for view in views if view is not None}) == 1:
        lead = _mixed(offsets)
        base = views[0]
        if lead is not None and base is not None:
            counts, steps = [count for count, _ in lead], [step for _, step in lead]
            view = View([*counts, *base.shape], [*steps, *base.strides], base.offset)
            order = (
                [len(counts) + i for i in range(at)] + list(range(len(counts))) + [len(counts) + i for i in range(at, base.ndim)]
            )
            sizes = [number_of(factor) for factor in first.factors]
            sizes[at] *= len(parts)
            axes = list(first.axes)
            axes[axis] = (sizes[at],)
            yield first._made(axes, ShapeTracker([view]).permute(order).reshape(sizes))


def _mixed(offsets: Sequence[int]) -> list[tuple[int, int]] | None:
    """Counts and steps, outermost first, whose sums in row-major order are the distances from the first of these numbers."""
    lead: list[tuple[int, int]] = []
    numbers = [offset - offsets[0] for offset in offsets]
    while len(numbers) > 1:
        step = numbers[1]
        count = 1
        while count < len(numbers) and numbers[count] == count * step:
            count += 1
        while len(numbers) % count:
            count -= 1
        if count == 1 or any(
            numbers[at + i] != numbers[at] + i * step for at in range(0, len(numbers), count) for i in range(count)
        ):
            return None
        lead.insert(0, (count, step))
        numbers = numbers[::count]
    return lead


# What a plan does in turn: an operator of ONNX, what it is given, and the shape of its result.
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

    if max(total, tracker.numel) > _MOST_ELEMENTS:
        return None
    where = _addresses(tracker, total)
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


def _addresses(tracker: ShapeTracker[int], total: int) -> _Array:
    """Where each element lies among so many, in row-major order; -1 outside of a mask."""
    array: _Array = apply(tracker, np.arange(total, dtype=np.int32), fill=-1, copy=True)
    return array.reshape(-1)


def _repeats(blocks: _Array, step: int) -> bool:
    """Does each block lie this far after the one before?"""
    first = blocks[:, 0]
    return bool((first[1:] - first[:-1] == step).all() and (blocks[1:] - blocks[:-1] == step).all())


def _differ(one: ShapeTracker[int], other: ShapeTracker[int], total: int) -> bool:
    """Do two trackers of one shape over so many elements differ anywhere? Where neither can be shown, they are taken to."""
    if one == other:
        return False
    try:
        return one.difference(other) is not None
    except Undecided:
        if max(total, one.numel) > _MOST_ELEMENTS:
            return True
        return bool((_addresses(one, total) != _addresses(other, total)).any())


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
