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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from .. import _stacks, apply
from .._native import ShapeTracker, Undecided

Array: TypeAlias = "np.ndarray[Any, Any]"


@dataclass
class Doubts:
    """How often two stacks of views were taken to differ, or one not to be row-major, since neither could be shown."""

    count: int = 0


doubts = Doubts()

# Larger tensors, each name taken as 1, are never looked at element by element.
MOST_ELEMENTS = 1 << 24


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
        if (
            runs_of(names.get(f, f) if isinstance(f, Named) else f for f in below.factors) != self.flat[0]
            or upper.fill is not None
        ):
            return None
        axes = [tuple(names[factor] if isinstance(factor, Named) else factor for factor in axis) for axis in upper.axes]
        return self._made(axes, self.tracker.then(upper.tracker))

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
        sequence = runs_of(self.factors)
        return sequence, self.tracker.reshape([run for run in sequence if isinstance(run, int)])

    @cached_property
    def is_row_major(self) -> bool:
        """Is it the root reshaped?"""
        try:
            return self.flat[0] == runs_of(self.root_factors) and self.tracker.is_identity()
        except Undecided:
            total = self.tracker.numel
            if total <= MOST_ELEMENTS:
                return bool((addresses(self.tracker, total) == np.arange(total)).all())
            doubts.count += 1
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
        return not differ(self.flat[1], other.flat[1], prod(map(number_of, self.root_factors)))

    @property
    def root_factors_flat(self) -> tuple[Factor, ...]:
        return runs_of(self.root_factors)

    def _made(self, axes: Sequence[tuple[Factor, ...]], tracker: ShapeTracker[int], fill: bytes | None = None) -> Layout:
        return Layout(self.root, self.root_shape, self.root_factors, tuple(axes), tracker, self.fill if fill is None else fill)

    def permute(self, order: Sequence[int]) -> Layout:
        """The axes in another order."""
        starts = self._starts()
        flat = [at for axis in order for at in range(starts[axis], starts[axis + 1])]
        return self._made([self.axes[axis] for axis in order], self.tracker.permute(flat))

    def reshape(self, shape: Shape) -> Layout | None:
        """The same elements in the same order, for any shape whose names are not crossed by numbers that do not divide."""
        runs = list(runs_of(self.factors))
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


def runs_of(factors: Iterable[Factor]) -> tuple[Factor, ...]:
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
    if any(part.axes[:axis] + part.axes[axis + 1 :] != first.axes[:axis] + first.axes[axis + 1 :] for part in parts):
        return None
    total = prod(map(number_of, first.root_factors))
    made = _stacks.stacked(
        [part.tracker for part in parts], first._starts()[axis], total, lambda one, other: differ(one, other, total)
    )
    if made is None:
        return None
    axes = list(first.axes)
    axes[axis] = (sum(part.shape[axis].number for part in parts),)
    return first._made(axes, made)


def addresses(tracker: ShapeTracker[int], total: int) -> Array:
    """Where each element lies among so many, in row-major order; -1 outside of a mask."""
    array: Array = apply(tracker, np.arange(total, dtype=np.int32), fill=-1, copy=True)
    return array.reshape(-1)


def differ(one: ShapeTracker[int], other: ShapeTracker[int], total: int) -> bool:
    """Do two trackers of one shape over so many elements differ anywhere? Where neither can be shown, they are taken to."""
    if one == other:
        return False
    try:
        return one.difference(other) is not None
    except Undecided:
        if max(total, one.numel) > MOST_ELEMENTS:
            doubts.count += 1
            return True
        return bool((addresses(one, total) != addresses(other, total)).any())
