"""Sizes as tinygrad's UOps on the one side and as polynomials of this package on the other.

A variable is a name with its range, and so is a bound one: its value does not count, for it is another one at the next
call. The two are different names. What is neither a sum nor a product (`max`, quotients, remainders) is a name with the
range that tinygrad knows: what is proved for all values of a name holds for those that the expression has.
"""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import Any, Callable, Iterable, NamedTuple

from shapetracker import ShapeTracker as Tracker
from shapetracker import Sym
from shapetracker import View as ExactView

from ._classes import View
from ._genuine import Tinygrad
from .view import ViewError

__all__ = ["Fields", "Open", "Size", "Sizes", "bounds", "canonical", "checked", "product", "row_major", "same"]

Size = Sym | int
Pairs = tuple[tuple[Size, Size], ...]


class Open(Exception):
    """What is asked cannot be said of polynomials."""


class Fields(NamedTuple):
    """The fields of a view as polynomials."""

    shape: tuple[Size, ...]
    strides: tuple[Size, ...]
    offset: Size
    mask: Pairs | None

    @property
    def contiguous(self) -> bool:
        return self.offset == 0 and self.mask is None and self.strides == row_major(self.shape)

    def view(self) -> ExactView:
        return ExactView(self.shape, self.strides, self.offset, self.mask)


def row_major(shape: Iterable[Size]) -> tuple[Size, ...]:
    """The strides of the row-major view of a shape, 0 where the size is 1."""
    strides: list[Size] = []
    step: Any = 1
    for size in reversed(tuple(shape)):
        strides.append(0 if size == 1 else step)
        step = step * size
    return tuple(reversed(strides))


def product(sizes: Iterable[Size]) -> Size:
    """All sizes multiplied."""
    result: Any = 1
    for size in sizes:
        result = result * size
    return result  # type: ignore[no-any-return]


def bounds(size: Size) -> tuple[int, int]:
    """Between which numbers the values lie, by the ranges of the names alone."""
    if isinstance(size, int):
        return size, size
    ranges = size.names
    low = high = 0
    for factor, names in size.terms:
        ends = (factor, factor)
        for name in names:
            least, most = ranges[name]
            if least is None or most is None:
                raise Open("a name has no end")
            products = [end * at for end in ends for at in (least, most)]
            ends = min(products), max(products)
        low, high = low + ends[0], high + ends[1]
    return low, high


def same(a: Size, b: Size) -> bool | None:
    """Whether two sizes are equal for all values, or for none; None where it depends on the values."""
    difference: Any = a - b
    low, high = bounds(difference)
    if low == high == 0:
        return True
    return None if low <= 0 <= high else False


class Sizes:
    """The sizes of one operation: which UOps they are, as which they were given, and what they are as polynomials."""

    def __init__(self, tg: Tinygrad) -> None:
        self.tg = tg
        self.leaves: dict[str, Any] = {}
        self._given: dict[Sym, Any] = {}

    def size(self, value: Any) -> Size:
        """A number or a UOp as a polynomial."""
        if not isinstance(value, self.tg.UOp):
            return index(value)
        size, leaves = _read(self.tg, value)
        self.leaves.update(leaves)
        if isinstance(size, Sym):
            self._given.setdefault(size, value)
        return size

    def sizes(self, values: Iterable[Any]) -> tuple[Size, ...]:
        """Numbers and UOps as polynomials."""
        return tuple(self.size(value) for value in values)

    def pairs(self, pairs: Iterable[Any]) -> Pairs:
        """Pairs of numbers and UOps as polynomials."""
        read = [self.sizes(pair) for pair in pairs]
        if any(len(pair) != 2 for pair in read):
            raise TypeError("takes a pair of sizes for each axis")
        return tuple((pair[0], pair[1]) for pair in read)

    def fields(self, view: View) -> Fields:
        """The fields of a view as polynomials, in canonical form."""
        mask = view.mask
        return canonical(
            Fields(
                self.sizes(view.shape),
                self.sizes(view.strides),
                self.size(view.offset),
                None if mask is None else self.pairs(mask),
            )
        )

    def uop(self, size: Size) -> Any:
        """A polynomial as the UOp that it was given as; else as tinygrad writes it."""
        if isinstance(size, int):
            return size
        given = self._given.get(size)
        if given is None:
            return _sum(tuple((factor, *(self.leaves[name] for name in names)) for factor, names in size.terms))
        return given

    def simple(self, size: Size) -> Any:
        """The same, simplified by tinygrad, which does that to shapes and offsets."""
        return size if isinstance(size, int) else _simple(self.uop(size))

    def made(self, fields: Fields | ExactView) -> View:
        """The view with these fields, in tinygrad's canonical form."""
        if isinstance(fields, ExactView):
            fields = Fields(fields.shape, fields.strides, fields.offset, fields.mask)
        fields = canonical(fields)
        contiguous = fields.contiguous
        shape = tuple(self.simple(size) for size in fields.shape)
        step: Any = 1
        for size in reversed(shape[1:]):
            # Row-major strides are written as tinygrad does it.
            step = step * size
            self.size(step)
        strides = tuple(self.uop(stride) for stride in fields.strides)
        mask = None
        if fields.mask is not None:
            mask = tuple((self.uop(begin), self.uop(end)) for begin, end in fields.mask)
        offset = self.simple(fields.offset)
        ends = [end for pair in mask or () for end in pair]
        if all(isinstance(field, int) for field in (*shape, *strides, offset, *ends)):
            return View.create(shape, strides, offset, mask)
        return View(shape, strides, offset, mask, contiguous)

    def stack(self, views: Iterable[View]) -> Tracker:
        """The tracker with names of views.

        What is under a view without elements does not matter, and under another view none that is row-major, from the
        begin of memory or of what is under it: each of its positions is the same one there.
        """
        *below, last = [self.fields(view) for view in views]
        if any(size == 0 for size in last.shape):
            below = []
        kept = [each.view() for each in (*(each for each in below if not each.contiguous), last)]
        return checked(Tracker(kept))


def checked(tracker: Tracker) -> Tracker:
    """The tracker, unless it is right for one value of a name alone.

    A compiled function is called again with other values. A need that fixes a name, such as `n == 3` or, of what is at
    least 1, `n <= 1`, says that the views are those of this call; it is no fact to simplify with.
    """
    for need in tracker.needs:
        poly = need.poly
        if need.op == "==" and len(getattr(poly, "names", ())) < 2 or need.op == ">=" and bounds(poly)[1] == 0:
            raise Open("a name has one value only")
    return tracker


def canonical(fields: Fields) -> Fields:
    """The fields as `View.create` of tinygrad has them."""
    shape, strides, offset, mask = fields
    if len(strides) != len(shape) or (mask is not None and len(mask) != len(shape)):
        raise ViewError("View: takes one size, stride and range of the mask for each axis")
    if any(bounds(size)[1] < 0 for size in shape):
        raise ViewError("View: a size is negative")
    if any(size == 0 for size in shape):
        return Fields(shape, (0,) * len(shape), 0, None)
    strides = tuple(0 if size == 1 else stride for size, stride in zip(shape, strides))
    if mask is None or all(begin == 0 and end == size for (begin, end), size in zip(mask, shape)):
        return Fields(shape, strides, offset, None)
    lengths = [bounds(end - begin)[1] for begin, end in mask]
    if min(lengths) <= 0:
        return Fields(shape, (0,) * len(shape), 0, ((0, 0),) * len(shape))
    # Along an axis with one valid entry nothing moves.
    at: Any = offset
    for (begin, _), stride, length in zip(mask, strides, lengths):
        at = at + begin * stride if length == 1 else at
    strides = tuple(0 if length == 1 else stride for stride, length in zip(strides, lengths))
    return Fields(shape, strides, at, mask)


def _simplified(uop: Any) -> Any:
    return uop if isinstance(uop, int) else uop.ssimplify()


def _added(terms: tuple[tuple[Any, ...], ...]) -> Any:
    """Products of a number and UOps, added as tinygrad does it."""
    total: Any = None
    for factor, *uops in terms:
        term = uops[0] if uops else factor
        for uop in uops[1:]:
            term = term * uop
        term = term * factor if uops and factor != 1 else term
        total = term if total is None else total + term
    return _simple(total)


def _polynomial(tg: Tinygrad, uop: Any) -> tuple[Size, dict[str, Any]]:
    """A UOp as a polynomial, and the UOps that its names are."""
    match uop.op.name:
        case "CONST" if isinstance(uop.arg, int):
            return int(uop.arg), {}
        case "ADD" | "SUB" | "MUL":
            (a, names), (b, more) = _read(tg, uop.src[0]), _read(tg, uop.src[1])
            value: Any = a + b if uop.op.name == "ADD" else a - b if uop.op.name == "SUB" else a * b
            return value, {**names, **more}
        case "NEG":
            value, names = _read(tg, uop.src[0])
            return -value, names
        case "DEFINE_VAR" | "BIND":
            return _leaf(tg, uop)
    simple = uop.simplify()
    return _leaf(tg, uop) if simple is uop else _read(tg, simple)


def _leaf(tg: Tinygrad, uop: Any) -> tuple[Size, dict[str, Any]]:
    low, high = uop.vmin, uop.vmax
    if not isinstance(low, int) or not isinstance(high, int) or low > high:
        raise Open("a size has no range")
    name = _name(tg, uop)
    return Sym(name, low, high), {name: uop}


# Of so many UOps it is remembered what was found out about them: they never change.
_MANY = 1 << 12

_simple: Callable[[Any], Any] = lru_cache(maxsize=_MANY)(_simplified)
_sum: Callable[[tuple[tuple[Any, ...], ...]], Any] = lru_cache(maxsize=_MANY)(_added)
_read: Callable[[Tinygrad, Any], tuple[Size, dict[str, Any]]] = lru_cache(maxsize=_MANY)(_polynomial)


def _name(tg: Tinygrad, uop: Any) -> str:
    """A name that no other UOp has."""
    if uop.op.name == "BIND" and uop.src[0].op.name == "DEFINE_VAR" and uop.src[1].op.name == "CONST":
        return f"{_name(tg, uop.src[0])}_is_{_digits(uop.src[1].arg)}"
    if uop.op.name == "DEFINE_VAR" and uop.dtype == tg.dtypes.int:
        name, low, high = uop.arg
        if name.isidentifier() and name.isascii():
            return f"{name}_{_digits(low)}_{_digits(high)}"
    return f"uop_{uop.key.hex()}"


def _digits(number: int) -> str:
    return f"m{-number}" if number < 0 else str(number)
