from builtins import range as _range
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import EllipsisType, GenericAlias, ModuleType
from typing import Any, ClassVar, Generic, Literal, NoReturn, SupportsIndex, TypeAlias, final, overload

from typing_extensions import TypeVar, deprecated

__all__ = [
    "Access",
    "AccessPattern",
    "AccessReport",
    "Advice",
    "Answer",
    "Assembly",
    "Census",
    "Check",
    "ChunkPlan",
    "ComposedLayout",
    "Condition",
    "Conditions",
    "Cost",
    "Description",
    "Evidence",
    "Explained",
    "Explanation",
    "Expr",
    "IndexExpr",
    "IndexMap",
    "Instruction",
    "Layout",
    "Leaf",
    "Level",
    "LibraryAdvice",
    "LinearLayout",
    "Mismatch",
    "Moved",
    "Nest",
    "NoLayout",
    "NotABox",
    "NotInvertible",
    "Obstacle",
    "Outcome",
    "ParseError",
    "Phase",
    "Placement",
    "Schedule",
    "ShapeTracker",
    "Sharded",
    "Splits",
    "Step",
    "Swizzle",
    "Sym",
    "Undecided",
    "UnevenStep",
    "Unmerged",
    "Unserved",
    "View",
    "__version__",
    "advice",
    "apply",
    "audit",
    "chain_over",
    "choose_chunks",
    "command",
    "conditions",
    "cut",
    "describe",
    "explain_view",
    "memory",
    "merge",
    "methods",
    "of",
    "simplify_pair",
    "tinygrad",
]

__version__: str

_Numbers: TypeAlias = Iterable[SupportsIndex]
_Pair: TypeAlias = Sequence[SupportsIndex]
_Mesh: TypeAlias = dict[str, int] | Iterable[SupportsIndex] | Iterable[tuple[str, SupportsIndex]]
_Bound: TypeAlias = SupportsIndex | None
_Slot: TypeAlias = SupportsIndex | slice[_Bound, _Bound, _Bound] | EllipsisType | None
_IntTuple: TypeAlias = SupportsIndex | Sequence[_IntTuple]
_Tiler: TypeAlias = Layout | str | SupportsIndex | Sequence[_Tiler]
_Operand: TypeAlias = Expr | int
_Size: TypeAlias = SupportsIndex | Sym
_Sizes: TypeAlias = Iterable[_Size]
_SizePair: TypeAlias = Sequence[_Size]
_SizeSlot: TypeAlias = _Size | slice[Any, Any, Any] | EllipsisType | None
_LiteralParts: TypeAlias = tuple[str, str, int | None]
_ViewParts: TypeAlias = tuple[Sequence[str], Sequence[str], str, Sequence[tuple[str, str]] | None]
_Formula: TypeAlias = tuple[tuple[Condition, ...], ...]
_Index: TypeAlias = tuple[int, ...]
_Names: TypeAlias = dict[str, tuple[int | None, int | None]]

# What the sizes of a tracker or a view are: `int`, or `Sym | int` where they may have names in them.
_N = TypeVar("_N", covariant=True, default=Any)
_Named: TypeAlias = Sym | int

tinygrad: ModuleType

class Unmerged(ValueError):
    """Views that provably are not one. `witness` is the evidence: an UnevenStep or a NotABox."""
    witness: UnevenStep | NotABox

class Undecided(ValueError):
    """A question that was given up at its work limit, which happens on deep stacks of millions of elements and on large maps without equations: the answer is not known."""

class NotInvertible(ValueError):
    """A tracker or map without an inverse, or with none that is known. `indices` are two that read the same address or have the same image, or None."""
    indices: tuple[tuple[int, ...], tuple[int, ...]] | None

class ParseError(ValueError):
    """Text that is no chain, view or expression. `span` is the half-open range of characters at fault."""
    span: tuple[int, int]

@final
class View(Generic[_N]):
    """One strided view in canonical form: `shape`, `strides` and `offset` in elements, and a `mask` of half-open ranges,
    one per axis, outside of which there is no data. A size, a stride, the offset or a bound may be a `Sym`: the view then
    stands for one of numbers for each choice of values, which `at` makes.

    Two views of numbers that have one shape are the same map exactly when they are equal. Views with names are equal where
    their numbers are the same polynomials.

    >>> from shapetracker import Sym, View
    >>> h, t = Sym("H"), Sym("T")
    >>> view = View((h, t), (1, h))
    >>> view
    View(shape=(H, T), strides=(1, H), offset=0, mask=None)
    >>> view.at(H=2, T=3)
    View(shape=(2, 3), strides=(1, 2), offset=0, mask=None)
    >>> view == View.parse("(H, T):(1, H)", where="")
    True
    """
    @overload
    def __new__(
        cls,
        shape: _Numbers,
        strides: _Numbers | None = None,
        offset: SupportsIndex | None = None,
        mask: Iterable[_Pair] | None = None,
    ) -> View[int]: ...
    @overload
    def __new__(
        cls,
        shape: _Sizes,
        strides: _Sizes | None = None,
        offset: _Size | None = None,
        mask: Iterable[_SizePair] | None = None,
    ) -> View[_Named]: ...
    @overload
    @staticmethod
    def contiguous(*shape: SupportsIndex | _Numbers) -> View[int]:
        """The row-major view of a shape: `View.contiguous(2, 3)`."""
    @overload
    @staticmethod
    def contiguous(*shape: _Size | _Sizes) -> View[_Named]: ...
    @overload
    @staticmethod
    def parse(text: str, where: None = None) -> View[int]:
        """Reads `View(shape=(2, 3), strides=(1, 2))`, or `(2, 3):(1, 2) offset 4 mask ((0, 1), (0, 3))` as `str` writes it.

        With `where`, which says what is known of names and may be empty, it may have names in it, and a chain that is one view
        may stand for it: `View.parse("(H, T):(1, H)", where="T=1..4097")`. As for the command, there are half-open ranges
        (`T=1..4097, T=0.., x=..`), definitions (`H=8*h`) and conditions (`s + L <= N`). A name without a range is at least 1,
        or any integer if it occurs in strides only.
        """
    @overload
    @staticmethod
    def parse(text: str, where: str) -> View[_Named]: ...
    @property
    def shape(self) -> tuple[_N, ...]:
        """The size of each axis."""
    @property
    def strides(self) -> tuple[_N, ...]:
        """For each axis how far a step along it moves the address, in elements."""
    @property
    def offset(self) -> _N:
        """The address of the element at index zero, be it masked or not."""
    @property
    def mask(self) -> tuple[tuple[_N, _N], ...] | None:
        """The half-open range of valid entries of each axis; None where nothing is masked."""
    @property
    def ndim(self) -> int:
        """The number of axes."""
    @property
    def numel(self) -> _N:
        """The number of elements, masked ones included."""
    @property
    def names(self) -> _Names:
        """The names, each with the least and the greatest value, None where there is none."""
    def at(self, **values: SupportsIndex) -> View[int]:
        """The view where the names have values: `at(n=8)`. Values of other names change nothing; a view of numbers is what it is."""
    def is_empty(self) -> bool:
        """Whether no element is valid. Asked of numbers."""
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after another in row-major order, from any address on, without a mask: what NumPy and
        PyTorch call contiguous. With names a TypeError where it depends on the values.
        """
    def is_identity(self) -> bool:
        """Whether the address of each element is its position: contiguous from address 0. With names a TypeError where it
        depends on the values.
        """
    def address(self, *index: SupportsIndex | _Numbers, **values: SupportsIndex) -> int | None:
        """The address of an element: `address(1, 2)`, with values of the names if there are some: `address(1, 2, n=8)`. None
        where it is masked or does not exist.
        """
    def address_range(self) -> tuple[_N, _N] | None:
        """The smallest and the largest address that is read; None when none is. With names for all values for which any is;
        raises Undecided where they are not known.
        """
    @overload
    def reshape(self, *shape: SupportsIndex | _Numbers) -> View[_N]:  # type: ignore[overload-overlap]
        """The view of the same elements in row-major order under another shape, of which one size may be -1.

        Raises Unmerged, with a witness, when no single view does it; with names, where none does it for all values.
        """
    @overload
    def reshape(self, *shape: _Size | _Sizes) -> View[_Named]: ...
    def permute(self, *axes: SupportsIndex | _Numbers) -> View[_N]:
        """The axes in a new order."""
    @overload
    def expand(self, *sizes: SupportsIndex | _Numbers) -> View[_N]:  # type: ignore[overload-overlap]
        """Axes of size 1 repeated to the given sizes; -1 for an axis that stays."""
    @overload
    def expand(self, *sizes: _Size | _Sizes) -> View[_Named]: ...
    @overload
    def pad(self, *pads: _Pair | None | Iterable[_Pair | None]) -> View[_N]:  # type: ignore[overload-overlap]
        """Masked elements `(before, after)` per axis; None for an axis that stays."""
    @overload
    def pad(self, *pads: _SizePair | None | Iterable[_SizePair | None]) -> View[_Named]: ...
    @overload
    def shrink(self, *ranges: _Pair | None | Iterable[_Pair | None]) -> View[_N]:  # type: ignore[overload-overlap]
        """The half-open range `(begin, end)` of each axis; None for all of it."""
    @overload
    def shrink(self, *ranges: _SizePair | None | Iterable[_SizePair | None]) -> View[_Named]: ...
    def flip(self, *axes: SupportsIndex | _Numbers) -> View[_N]:
        """The named axes reversed; or one True or False per axis."""
    def step(self, *steps: SupportsIndex | _Numbers) -> View[_N]:
        """Every step-th element of each axis; a negative step walks from the last element backwards."""
    def merge_dims(self) -> tuple[tuple[int, int, int], ...]:
        """Axes joined as far as their strides allow: tuples of size, stride, and size without broadcast. Asked of numbers."""
    def max_merge(self) -> View[_N]:
        """The same elements in row-major order with as few axes as a view of theirs can have; with names as few as are known to
        suffice for all values.
        """
    def svg(self) -> str:
        """A picture of the elements and of the memory that they read, as SVG of less than 40 kB. With names it is one at small values
        of them, which it says.
        """
    def _repr_html_(self) -> str:
        """What notebooks show: the picture, the views as a table, and why they are not one. With names it is that at small values of
        them.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @classmethod
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

# `contiguous` of a class makes a tracker of a shape; of a tracker it is the operation of arrays, which changes no element.
class _RowMajor:
    @overload
    def __call__(self, *shape: SupportsIndex | _Numbers) -> ShapeTracker[int]: ...
    @overload
    def __call__(self, *shape: _Size | _Sizes) -> ShapeTracker[_Named]: ...

class _Contiguous:
    @overload
    def __get__(self, tracker: None, class_: object = None, /) -> _RowMajor: ...
    @overload
    def __get__(self, tracker: ShapeTracker[_N], class_: object = None, /) -> Callable[[], ShapeTracker[_N]]: ...

@final
class ShapeTracker(Generic[_N]):
    """A tensor's layout after a chain of movement operations, kept at the fewest views; the first is next to memory.

    Operations return a new tracker. Two trackers are equal when their views are; `difference` says whether two are the
    same map.

    Sizes may be names: `ShapeTracker.contiguous(n, 32)`, where `n` is a `Sym`, stands for one tracker of numbers for each choice
    of values, which `at` makes, and any operation makes such a tracker where a `Sym` is among its arguments. Its views are
    merged where they are one view for all values, in one set of polynomials; elsewhere both are kept, and `single_view` says
    for which values they are one. What an operation needs of the values is collected in `needs`; an operation that is right for
    no values is a ValueError. A tracker without any name is one of numbers. Two trackers of names are equal when their
    views, `names`, `known` and `needs` are, so that none of them equals one of numbers.

    >>> from shapetracker import ShapeTracker, Sym
    >>> n, s, l = Sym("N"), Sym("s", 0), Sym("L")
    >>> cut = ShapeTracker.contiguous(n, 64).shrink((s, s + l), None)
    >>> print(cut)
    (L, 64):(64, 1) offset 64*s
    >>> cut.needs
    (N >= s + L,)
    >>> cut.at(N=10, s=2, L=3)
    ShapeTracker(views=(View(shape=(3, 64), strides=(64, 1), offset=128, mask=None),))
    """
    def __new__(cls, views: Iterable[View[_N]]) -> ShapeTracker[_N]: ...
    contiguous: ClassVar[_Contiguous]
    @overload
    @staticmethod
    def parse(text: str, where: None = None) -> ShapeTracker[int]:
        """Reads a chain, `(3, 2).permute(1, 0).reshape(3, 2)`, or the views that `repr` and `str` write. The addresses are those
        of the array that the chain starts with, also after `copy()` and what else copies.

        With `where`, which says what is known of names and may be empty, sizes may be names:
        `ShapeTracker.parse("(B, T).reshape(-1)", where="T=1..4097")`. As for the command, there are half-open ranges
        (`T=1..4097, T=0.., x=..`), definitions (`H=8*h`) and conditions (`s + L <= N`). A name without a range is at least 1,
        or any integer if it occurs in strides only.
        """
    @overload
    @staticmethod
    def parse(text: str, where: str) -> ShapeTracker[_Named]: ...
    @staticmethod
    def of_parts(
        names: Sequence[tuple[str, int | None, int | None]],
        definitions: Sequence[tuple[str, str]],
        given: Sequence[_LiteralParts],
        needs: Sequence[_LiteralParts],
        views: Sequence[_ViewParts],
    ) -> ShapeTracker[_Named]:
        """The tracker of all that one with names is, as `pickle` keeps it: names with ranges, definitions, what is given, what is
        needed, and views, all as numbers and texts.
        """
    @property
    def views(self) -> tuple[View[_N], ...]:
        """The views, the first next to memory."""
    def as_view(self) -> View[_N] | None:
        """The view, where there is just one; None where there are several."""
    @property
    def shape(self) -> tuple[_N, ...]:
        """The size of each axis."""
    @property
    def ndim(self) -> int:
        """The number of axes."""
    @property
    def numel(self) -> _N:
        """The number of elements, masked ones included."""
    @property
    def needs(self) -> tuple[Condition, ...]:
        """The conditions on names without which an operation could not have been done; they hold together."""
    @property
    def names(self) -> _Names:
        """The names, each with the least and the greatest value, None where there is none."""
    @property
    def known(self) -> str:
        """What is known of the names, as `parse` reads it: `"n=1..4097, s=.., s + L <= N"`."""
    def at(self, **values: SupportsIndex) -> ShapeTracker[int]:
        """The tracker of numbers where the names have values: `at(n=8)`. Values of other names change nothing, so that one
        environment serves many trackers; a tracker of numbers is what it is.

        Raises ValueError where a name has no value, or where the values do not satisfy `needs` or what is given.
        """
    def given(self, *conditions: Condition) -> ShapeTracker[_Named]:
        """The same tensor where conditions are known to hold: `given(N >= s + L)`."""
    def address(self, *index: SupportsIndex | _Numbers, **values: SupportsIndex) -> int | None:
        """The address of an element: `address(1, 2)`, with values of the names if there are some: `address(1, 2, n=8)`. None
        where it is masked or does not exist.
        """
    def addresses(self) -> Iterator[int | None]:
        """The addresses of all elements in row-major order, None where there is none. Asked of numbers."""
    @overload
    def reshape(self, *shape: SupportsIndex | _Numbers) -> ShapeTracker[_N]:  # type: ignore[overload-overlap]
        """The same elements in row-major order under another shape, of which one size may be -1: of names it is inferred by exact
        division. Never fails for lack of a single view: another view goes on top where it must.
        """
    @overload
    def reshape(self, *shape: _Size | _Sizes) -> ShapeTracker[_Named]: ...
    @overload
    def view(self, *shape: SupportsIndex | _Numbers) -> ShapeTracker[_N]:  # type: ignore[overload-overlap]
        """The same elements in row-major order under another shape, of which one size may be -1: of names it is inferred by exact
        division. Never fails for lack of a single view: another view goes on top where it must.
        """
    @overload
    def view(self, *shape: _Size | _Sizes) -> ShapeTracker[_Named]: ...
    def permute(self, *axes: SupportsIndex | _Numbers) -> ShapeTracker[_N]:
        """The axes in a new order."""
    def transpose(self, first: SupportsIndex, second: SupportsIndex) -> ShapeTracker[_N]:
        """Two axes exchanged."""
    @overload
    def expand(self, *sizes: SupportsIndex | _Numbers) -> ShapeTracker[_N]:  # type: ignore[overload-overlap]
        """Axes of size 1 repeated to the given sizes; -1 for an axis that stays."""
    @overload
    def expand(self, *sizes: _Size | _Sizes) -> ShapeTracker[_Named]: ...
    @overload
    def broadcast_to(self, *shape: SupportsIndex | _Numbers) -> ShapeTracker[_N]:  # type: ignore[overload-overlap]
        """Broadcast to a shape as NumPy does it, with new axes in front where it has more."""
    @overload
    def broadcast_to(self, *shape: _Size | _Sizes) -> ShapeTracker[_Named]: ...
    @overload
    def pad(self, *pads: _Pair | None | Iterable[_Pair | None]) -> ShapeTracker[_N]:  # type: ignore[overload-overlap]
        """Masked elements `(before, after)` per axis; None for an axis that stays."""
    @overload
    def pad(self, *pads: _SizePair | None | Iterable[_SizePair | None]) -> ShapeTracker[_Named]: ...
    @overload
    def shrink(self, *ranges: _Pair | None | Iterable[_Pair | None]) -> ShapeTracker[_N]:  # type: ignore[overload-overlap]
        """The half-open range `(begin, end)` of each axis; None for all of it. Of names, that it lies inside is a need where it is
        not known.
        """
    @overload
    def shrink(self, *ranges: _SizePair | None | Iterable[_SizePair | None]) -> ShapeTracker[_Named]: ...
    def flip(self, *axes: SupportsIndex | _Numbers) -> ShapeTracker[_N]:
        """The named axes reversed; or one True or False per axis."""
    def step(self, *steps: SupportsIndex | _Numbers) -> ShapeTracker[_N]:
        """Every step-th element of each axis; a negative step walks from the last element backwards. Steps are numbers."""
    def squeeze(self, *axes: SupportsIndex | _Numbers) -> ShapeTracker[_N]:
        """Without the named axes of size 1: `squeeze(0, 2)`. Without an argument, without every axis of size 1, of names without
        those of which that is known; `squeeze(())` names none and changes nothing, as in NumPy.
        """
    def unsqueeze(self, axis: SupportsIndex) -> ShapeTracker[_N]:
        """A new axis of size 1 before the given one; a negative number counts from behind the last axis."""
    @overload
    def as_strided(  # type: ignore[overload-overlap]
        self, shape: _Numbers, strides: _Numbers, offset: SupportsIndex | None = None
    ) -> ShapeTracker[_N]:
        """Any strided view of this tensor's elements in row-major order."""
    @overload
    def as_strided(self, shape: _Sizes, strides: _Sizes, offset: _Size | None = None) -> ShapeTracker[_Named]: ...
    @overload
    def then(self, later: ShapeTracker[int] | View[int]) -> ShapeTracker[_N]:
        """This tracker and then a later one, a tracker or a view, whose addresses are positions of this tensor in row-major order:
        `base.then(later)` reads what `later` reads of the array that `base` makes.

        >>> from shapetracker import ShapeTracker, View
        >>> turned = ShapeTracker.contiguous(2, 3).permute(1, 0)
        >>> turned.then(View((6,))) == turned.reshape(6)
        True
        """
    @overload
    def then(self, later: ShapeTracker | View) -> ShapeTracker[_Named]: ...
    @overload
    @deprecated("it is called `then` now")
    def compose(self, over: ShapeTracker[int] | View[int]) -> ShapeTracker[_N]:
        """The old name of `then`, which is to be called instead."""
    @overload
    @deprecated("it is called `then` now")
    def compose(self, over: ShapeTracker | View) -> ShapeTracker[_Named]: ...
    @property
    def T(self) -> ShapeTracker[_N]:
        """All axes reversed; in tinygrad the first two exchanged. As in NumPy, PyTorch: `T`."""
    @property
    def mT(self) -> ShapeTracker[_N]:
        """The last two axes exchanged. As in NumPy, PyTorch: `mT`."""
    def t(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """The two axes exchanged. As in PyTorch: `t()`."""
    def swapaxes(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Two axes exchanged. As in NumPy, PyTorch: `swapaxes(axis1, axis2)`."""
    def swapdims(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Two axes exchanged. As in PyTorch: `swapdims(dim0, dim1)`."""
    def moveaxis(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """An axis, or several, moved to other places. As in NumPy, PyTorch: `moveaxis(source, destination)`."""
    def movedim(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """An axis, or several, moved to other places. As in PyTorch: `movedim(source, destination)`."""
    def rollaxis(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """An axis moved backwards, in front of another one. As in NumPy: `rollaxis(axis, start)`."""
    def permute_dims(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """The axes in a new order. As in NumPy: `permute_dims(axes)`."""
    def matrix_transpose(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """The last two axes exchanged. As in NumPy: `matrix_transpose()`."""
    def flatten(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Axes joined, from the first to the last one named. As in PyTorch: `flatten(start_dim, end_dim)`."""
    def ravel(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """All axes joined. As in NumPy, PyTorch: `ravel()`."""
    def unflatten(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """An axis cut into several. As in PyTorch: `unflatten(dim, sizes)`."""
    def expand_dims(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """A new axis of size 1, or several. As in NumPy: `expand_dims(axis)`."""
    def narrow(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """A range of one axis. As in PyTorch: `narrow(dim, start, length)`."""
    def select(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """One index of an axis, which is gone then. As in PyTorch: `select(dim, index)`."""
    def chunk(self, *arguments: Any, **options: Any) -> tuple[ShapeTracker[Any], ...]:
        """One of so many parts of an axis. All of them, as a tuple. As in PyTorch: `chunk(chunks, dim)`."""
    def split(self, *arguments: Any, **options: Any) -> tuple[ShapeTracker[Any], ...]:
        """One part of an axis that is cut into parts of a size. All of them, as a tuple. As in NumPy, PyTorch: `split(split_size, dim)`."""
    def tensor_split(self, *arguments: Any, **options: Any) -> tuple[ShapeTracker[Any], ...]:
        """One of so many parts of an axis, alike but for one element. All of them, as a tuple. As in PyTorch: `tensor_split(sections, dim)`."""
    def array_split(self, *arguments: Any, **options: Any) -> tuple[ShapeTracker[Any], ...]:
        """One of so many parts of an axis, alike but for one element. All of them, as a tuple. As in NumPy: `array_split(sections, axis)`."""
    def hsplit(self, *arguments: Any, **options: Any) -> tuple[ShapeTracker[Any], ...]:
        """One part of the second axis, or of the only one. All of them, as a tuple. As in NumPy, PyTorch: `hsplit(sections)`."""
    def vsplit(self, *arguments: Any, **options: Any) -> tuple[ShapeTracker[Any], ...]:
        """One part of the first axis. All of them, as a tuple. As in NumPy, PyTorch: `vsplit(sections)`."""
    def dsplit(self, *arguments: Any, **options: Any) -> tuple[ShapeTracker[Any], ...]:
        """One part of the third axis. All of them, as a tuple. As in NumPy, PyTorch: `dsplit(sections)`."""
    def unbind(self, *arguments: Any, **options: Any) -> tuple[ShapeTracker[Any], ...]:
        """One index of an axis, which is gone then. All of them, as a tuple. As in PyTorch: `unbind(dim)`."""
    def unfold(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Windows along an axis, their elements on a new last axis. As in PyTorch: `unfold(dimension, size, step)`."""
    def sliding_window_view(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """A window at every place, its elements on new last axes. As in NumPy: `sliding_window_view(window_shape, axis, subok, writeable)`."""
    def diagonal(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """The diagonal of two axes, as a new last axis. As in NumPy, PyTorch: `diagonal(offset, dim1, dim2)`."""
    def fliplr(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Axis 1 reversed. As in NumPy, PyTorch: `fliplr()`."""
    def flipud(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Axis 0 reversed. As in NumPy, PyTorch: `flipud()`."""
    def rot90(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """The plane of two axes turned by quarters, from the first axis to the second. As in NumPy, PyTorch: `rot90(k, axes)`."""
    def rearrange(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Axes cut, put in another order and joined, by a pattern. As in einops: `rearrange('b c h w -> b h w c')`."""
    def repeat(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """The pattern of einops with axes that repeat; with numbers the array repeated and copied. As in einops, PyTorch: `repeat('h w -> h w c', c=3)`."""
    def tile(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """The array repeated along its axes, and copied. As in NumPy, PyTorch: `tile(times, ..)`."""
    def repeat_interleave(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Each element of an axis repeated, and copied. As in PyTorch: `repeat_interleave(repeats, dim)`."""
    def pixel_shuffle(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Channels spread over blocks of rows and columns. As in PyTorch: `pixel_shuffle(upscale_factor)`."""
    def pixel_unshuffle(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Blocks of rows and columns gathered in channels. As in PyTorch: `pixel_unshuffle(downscale_factor)`."""
    def roll(self, *arguments: Any, **options: Any) -> ShapeTracker[Any]:
        """Elements moved along an axis, and round its end; copied. As in NumPy, PyTorch: `roll(shift, axis)`."""
    @overload
    def __getitem__(self, index: _Slot | tuple[_Slot, ...], /) -> ShapeTracker[_N]: ...  # type: ignore[overload-overlap]
    @overload
    def __getitem__(self, index: _SizeSlot | tuple[_SizeSlot, ...], /) -> ShapeTracker[_Named]: ...
    def __iter__(self) -> Iterator[ShapeTracker[_N]]: ...
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after another in row-major order, from any address on, without a mask: what NumPy and
        PyTorch call contiguous. With names a TypeError where it depends on the values: `contiguity` says on which.
        """
    def is_identity(self) -> bool:
        """Whether the address of each element is its position: one view that is contiguous from address 0. With names a TypeError
        where it depends on the values.
        """
    @overload
    def single_view(self: ShapeTracker[int]) -> View[int]:  # type: ignore[overload-overlap]
        """The single view that does what all views do. Raises Unmerged, with a witness, when there is provably none.

        With names it is the Answer to the question for which values there is one:

        >>> from shapetracker import ShapeTracker, Sym
        >>> n = Sym("n", 1, 4096)
        >>> ShapeTracker.contiguous(n, 32).permute(1, 0).reshape(4, -1).single_view()
        <Answer: one view if and only if n == 1>
        """
    @overload
    def single_view(self: ShapeTracker[_Named]) -> Answer: ...
    def equality(self, other: ShapeTracker | View) -> _Formula:
        """For which values two trackers of one shape read the same address at every index: of these tuples one must hold, each
        of conditions that hold together. Without conditions, `((),)`, that is for all values, and `()` for none.

        Raises Undecided where that is not known.
        """
    def contiguity(self) -> _Formula:
        """For which values the elements lie one after the other in row-major order, from whatever address on: a formula, as
        `equality` has it, so that `((),)` is for all values and `()` for none.

        >>> from shapetracker import ShapeTracker, Sym
        >>> ShapeTracker.contiguous(Sym("n"), 4).permute(1, 0).contiguity()
        ((n == 1,),)

        Raises Undecided where that is not known.
        """
    def address_range(self) -> tuple[_N, _N] | None:
        """The smallest and the largest address that is read; None when none is.

        With names they are for all values for which any is read. Raises Undecided where they are not known: where there are
        several views, or where the sign of a stride or the end of a mask depends on the values.

        >>> from shapetracker import ShapeTracker, Sym
        >>> ShapeTracker.contiguous(Sym("n"), 4)[:, 1:3].address_range()
        (1, 4*n - 2)
        """
    def buffer_len(self) -> _N:
        """How many elements the buffer must have: one more than the largest address that is read.

        With names for all values for which any is read. Raises Undecided where that is not known, or where an address below 0
        may be read.

        >>> from shapetracker import ShapeTracker, Sym
        >>> ShapeTracker.contiguous(Sym("n"), 4)[:, 1:3].buffer_len()
        4*n - 1
        """
    def real_strides(self) -> tuple[int | None, ...]:
        """For each axis its stride, where the address is affine along it on the valid indices; None where it is not. Asked of
        numbers.
        """
    def affine(self) -> tuple[_Index, int, Expr] | None:
        """The one affine map that gives the address of every element that has one: its strides, its offset, and the condition
        under which an element has an address. None where a division is left in the address. Asked of numbers.

        A stack of views that no single view can replace may still be one affine map, valid on a set that is no box.
        """
    def unit_stride_axes(self) -> _Index:
        """The axes along which neighbours lie next to each other in memory. Asked of numbers."""
    def axis_is_masked(self, axis: SupportsIndex) -> bool:
        """Whether some valid index turns invalid when its entry at an axis changes. Asked of numbers."""
    @overload
    def collision(self: ShapeTracker[int]) -> tuple[_Index, _Index] | None:  # type: ignore[overload-overlap]
        """Two valid indices that read the same address; None when no two do. With names, values of them and two indices that read
        the same address there; raises Undecided where it is not known whether two do for some values.

        >>> from shapetracker import ShapeTracker, Sym
        >>> ShapeTracker.contiguous(1).expand(3).collision()
        ((0,), (1,))
        >>> ShapeTracker.contiguous(Sym("n"), 4).permute(1, 0).collision()
        >>> ShapeTracker.contiguous(1).expand(Sym("n")).collision()
        ({'n': 4}, ((0,), (1,)))
        """
    @overload
    def collision(self: ShapeTracker[_Named]) -> tuple[dict[str, int], tuple[_Index, _Index]] | None: ...
    def difference(self, other: ShapeTracker) -> _Index | None:
        """An index at which two trackers of one shape differ; None when they are the same map. Asked of numbers: `equality` says
        for which values of names two are the same.
        """
    @overload
    def invert(self, *buffer: SupportsIndex | _Numbers) -> ShapeTracker[_N]:  # type: ignore[overload-overlap]
        """The tracker over this tensor's elements that finds, for each place of a buffer of a shape, the element that reads
        it. Raises NotInvertible, with two indices that read one address where that is why; of names where two read one for some
        values, which `collision` has. Raises Undecided where that is not known.

        >>> from shapetracker import ShapeTracker, Sym
        >>> print(ShapeTracker.contiguous(Sym("n"), 4).permute(1, 0).invert(Sym("n"), 4))
        (n, 4):(1, n)
        """
    @overload
    def invert(self, *buffer: _Size | _Sizes) -> ShapeTracker[_Named]: ...
    def max_merge(self) -> tuple[View[_N], tuple[Condition | None, ...]]:
        """The last view in row-major order with as few axes as suffice; and, for each axis but the last, the condition on names
        under which it advances as one with the next axis, or None.
        """
    def index_expr(self) -> IndexExpr:
        """The cheapest expressions that we know how to find for the address of an element, and for whether there is one, over
        its index and the names.
        """
    def svg(self) -> str:
        """A picture of the elements and of the memory that they read, as SVG of less than 40 kB. With names it is one at small values
        of them, which it says.
        """
    def _repr_html_(self) -> str:
        """What notebooks show: the picture, the views as a table, and why they are not one. With names it is that at small values of
        them.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @classmethod
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class Sym:
    """A size that is a name: `Sym("n", 1, 4096)` is one of 1, 2, .., 4096. Both ends are values, as those of torch's `Dim`;
    an end that is None is none, and without ends a name is 1 or more. `Sym("s", None)` is any integer.

    `+`, `-`, `*`, `**` and `//`, where that leaves no remainder, make polynomials. `<`, `<=`, `>`, `>=`, `eq`, `ne` and
    `divisible` make conditions. `==` is whether two are the same polynomial, so that they can be keys of a dict.

    >>> from shapetracker import Sym
    >>> n = Sym("n", 1, 4096)
    >>> 3*n + 1, (n + 1)**2 - 1, 4*n // 2
    (3*n + 1, n**2 + 2*n, 2*n)
    >>> n < 4, n.divisible(4), n.eq(3)
    (n <= 3, n % 4 == 0, n == 3)
    >>> (3*n + 1).at(n=5)
    16
    >>> n + 1 == 1 + n, n == 3
    (True, False)
    """
    def __new__(cls, name: str, min: int | None = 1, max: int | None = None) -> Sym: ...
    @staticmethod
    def parse(text: str, where: str = "") -> Sym | int:
        """Reads a polynomial: `Sym.parse("3*n + 1", where="n=1..4097")`. In texts ranges are half-open."""
    @property
    def names(self) -> dict[str, tuple[int | None, int | None]]:
        """Its names, each with the least and the greatest value, None where there is none."""
    @property
    def terms(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        """What it is the sum of, the products of most names first: each a number and the names that it is multiplied by, one
        for each factor. `n*n*3 + 5` is `((3, ("n", "n")), (5, ()))`.
        """
    def at(self, **values: SupportsIndex) -> int:
        """The number that it is where its names have values: `at(n=8)`."""
    def eq(self, other: _Size) -> Condition:
        """The condition that it equals another size. (`==` compares polynomials, not values.)"""
    def ne(self, other: _Size) -> Condition:
        """The condition that it differs from another size."""
    def divisible(self, by: int) -> Condition:
        """The condition that it is a multiple of a number."""
    def __add__(self, other: _Size, /) -> Sym: ...
    def __radd__(self, other: _Size, /) -> Sym: ...
    def __sub__(self, other: _Size, /) -> Sym: ...
    def __rsub__(self, other: _Size, /) -> Sym: ...
    def __mul__(self, other: _Size, /) -> Sym: ...
    def __rmul__(self, other: _Size, /) -> Sym: ...
    def __pow__(self, exponent: int, modulo: None = None, /) -> Sym: ...
    def __rpow__(self, value: int, mod: None = None, /) -> NoReturn: ...
    def __floordiv__(self, other: _Size, /) -> Sym: ...
    def __rfloordiv__(self, other: _Size, /) -> Sym: ...
    def __mod__(self, other: _Size, /) -> Sym: ...
    def __rmod__(self, other: _Size, /) -> Sym: ...
    def __neg__(self) -> Sym: ...
    def __pos__(self) -> Sym: ...
    def __lt__(self, other: _Size, /) -> Condition: ...
    def __le__(self, other: _Size, /) -> Condition: ...
    def __gt__(self, other: _Size, /) -> Condition: ...
    def __ge__(self, other: _Size, /) -> Condition: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Condition:
    """A condition on named sizes, as comparing them makes it: a polynomial `poly` that compares by `op` with 0, modulo `mod`
    where that is not None.

    >>> from shapetracker import Sym
    >>> n, s = Sym("n"), Sym("s", 0)
    >>> condition = n >= s + 4
    >>> condition, condition.poly, condition.op, condition.mod
    (n >= s + 4, n - s - 4, '>=', None)
    >>> condition.holds(n=8, s=5)
    False
    """
    @property
    def poly(self) -> Sym | int:
        """What is compared with 0."""
    @property
    def op(self) -> str:
        """How it compares: `>=`, `==` or `!=`."""
    @property
    def mod(self) -> int | None:
        """The number that it is compared modulo, or None."""
    def holds(self, **values: SupportsIndex) -> bool:
        """Whether it holds where its names have values: `holds(n=8)`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __bool__(self) -> bool: ...

@final
class Answer:
    """For which values of the names views are one view: for all, for exactly those of a formula, for none, or not decided.

    >>> from shapetracker import ShapeTracker, Sym
    >>> h, t = Sym("H"), Sym("T", 1, 4096)
    >>> answer = ShapeTracker.contiguous(t, h).permute(1, 0).reshape(-1).single_view()
    >>> print(answer)
    one view if and only if T == 1 or H == 1
    >>> answer.kind, answer.formula, answer.guard
    ('formula', ((T == 1,), (H == 1,)), 'T == 1 or H == 1')
    >>> eval(answer.guard, {"H": 1, "T": 8})
    True
    >>> answer.holds(H=1, T=5), answer.at(H=1, T=5)
    (True, View(shape=(5,), strides=(1,), offset=0, mask=None))
    >>> answer.holds(**answer.values), type(answer.witness)
    (False, <class 'shapetracker.UnevenStep'>)
    """
    @property
    def kind(self) -> str:
        """"all", "formula", "never" or "undecided"."""
    @property
    def formula(self) -> _Formula:
        """The exact condition: of these tuples one must hold, each of conditions that hold together. For "undecided" it says
        where it is known to be one view.
        """
    @property
    def guard(self) -> str:
        """The formula as an expression of Python over the names: `n % 4 == 0`; True for all values, and False for none."""
    def holds(self, **values: SupportsIndex) -> bool:
        """Whether it is one view where the names have values: `holds(n=8)`.

        Where the answer leaves it open it is decided for these values by themselves, as `at` and `single_view` of the tracker
        decide it. Raises Undecided where that is not known, and ValueError where a name has no value or the values do not
        satisfy `needs`.
        """
    def at(self, **values: SupportsIndex) -> View[int] | None:
        """The one view where the names have values: `at(n=8)`; None where it is not one view.

        Raises what `holds` does.
        """
    @property
    def view(self) -> View[_Named] | None:
        """The view that serves wherever there is one, where one set of polynomials does."""
    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The parts that the values fall into, with what is known in each."""
    @property
    def needs(self) -> tuple[Condition, ...]:
        """The conditions without which there is no question: what the operations need of the values."""
    @property
    def values(self) -> dict[str, int] | None:
        """Values of the names at which it is not one view, or None where there are none, or none that are known."""
    @property
    def witness(self) -> UnevenStep | NotABox | None:
        """Proof that it is not one view at `values`: an UnevenStep or a NotABox, or None."""
    @property
    def reason(self) -> str | None:
        """Why it was not decided, or None where it was."""
    @property
    def names(self) -> dict[str, tuple[int | None, int | None]]:
        """The names, each with the least and the greatest value, None where there is none."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def _repr_html_(self) -> str: ...

@final
class Leaf:
    """A part of the values of the names, and what is known there."""
    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that describe the part, which hold together."""
    @property
    def verdict(self) -> str:
        """"view", "not_one" or "undecided"."""
    @property
    def view(self) -> View[_Named] | None:
        """The one view there, or None."""

def methods() -> list[tuple[str, str, str, str | None]]:
    """What may stand after a dot in the text of a chain: of each method its name, its signature, what it does, and whose it is, None
    for one of this library.
    """
@overload
def merge(earlier: View[int], later: View[int], *, given: None = None) -> View[int]:
    """The single view that does what two do: `later` reads the elements of `earlier` in row-major order.

    Raises Unmerged, whose `witness` anyone can check, when there is provably none. Where one of them has names in it, it is
    the Answer to the question for which values of the names there is one; `given` are conditions that are known to hold.
    """
@overload
def merge(earlier: View, later: View, *, given: Iterable[Condition] | None = None) -> Answer: ...
def command(words: Sequence[str]) -> int:
    """Runs the command `shapetracker` with these words, and returns its exit status: 0 for success, 1 for a negative answer, 2 for what it
    cannot read.

    It writes to the standard output and the standard error of the process, and takes both, and the signals, to be its own.
    """
@overload
def conditions(shape: _Numbers, later: View[int]) -> Conditions:
    """The exact conditions on the strides of an earlier view of a shape for `later` to merge with it.

    Where the later view or sizes have names, it is the Answer for strides `s1`, `s2`, .. of any integers.
    """
@overload
def conditions(shape: _Sizes, later: View) -> Answer: ...
@final
class Conditions:
    """Equations that strides must satisfy: `hold_for(strides)` says whether some do."""
    @property
    def equations(self) -> tuple[tuple[int, ...], ...]:
        """For each equation a coefficient for each stride; the sum of coefficient times stride is 0."""
    def hold_for(self, strides: _Numbers) -> bool:
        """Whether strides satisfy all equations."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Step:
    """A unit step along an axis, from `index` to the index one further: the address before and after it."""
    def __new__(cls, index: _Numbers, before: SupportsIndex, after: SupportsIndex) -> Step: ...
    @property
    def index(self) -> tuple[int, ...]:
        """The index that the step starts from."""
    @property
    def before(self) -> int:
        """The address there."""
    @property
    def after(self) -> int:
        """The address one further along the axis."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class UnevenStep:
    """Proof that views are not one: two unit steps along one axis that move the address by different amounts."""
    def __new__(cls, axis: int, steps: tuple[Step, Step]) -> UnevenStep: ...
    @property
    def axis(self) -> int:
        """The axis of both steps."""
    @property
    def steps(self) -> tuple[Step, Step]:
        """The two steps."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class NotABox:
    """Proof that views are not one: an invalid index that lies between two valid ones on every axis."""
    def __new__(cls, valid: tuple[_Numbers, _Numbers], invalid: _Numbers) -> NotABox: ...
    @property
    def valid(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Two valid indices."""
    @property
    def invalid(self) -> tuple[int, ...]:
        """The index between them that is not valid."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Cost:
    """What computing expressions costs: distinct operations (`ops`), divisions and modulos among them that are not by a
    constant power of two (`divmods`), and a figure in which these weigh what they take (`weight`).
    """
    def __new__(cls, ops: int, divmods: int, weight: int) -> Cost: ...
    @property
    def ops(self) -> int:
        """The distinct operations."""
    @property
    def divmods(self) -> int:
        """The divisions and modulos among them that are not by a constant power of two."""
    @property
    def weight(self) -> int:
        """The operations, divisions counted as what they take."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Expr:
    """An expression over variables that have ranges: `Expr("x*4 + y", x=range(0, 10), y=range(0, 4))`. Text of C is read with
    `syntax="c"`, so that no variable can be called `syntax`.

    Operators make new ones: `+ - * // %` of numbers, `< <= > >=` and `eq`, `ne` of numbers as conditions, `& | ~` of
    conditions. `==` is whether two have the same structure; what is to be cheaper is to be asked for with `simplify`.
    """
    def __new__(
        cls, text: str, /, *, syntax: str = "python", **variables: _range | tuple[SupportsIndex, SupportsIndex]
    ) -> Expr: ...
    @property
    def variables(self) -> dict[str, _range]:
        """The variables by their names, with the ranges of their values."""
    @property
    def range(self) -> tuple[int, int]:
        """A smallest and a largest value that the ranges of the variables allow: a bound, which costs nothing; the expression
        may have less. `extremes` has the values that it has.
        """
    @property
    def extremes(self) -> tuple[int, int, bool]:
        """The least and the greatest value, and whether the expression has them: `(low, high, exact)`. Where `exact` is False
        the search, whose work is limited to about a millisecond, ended before that was sure, and they are a bound.

        >>> from shapetracker import Expr
        >>> total = Expr.parse("x // 7 + x % 7", x=range(102))
        >>> total.range, total.extremes
        ((0, 20), (0, 19, True))
        """
    @property
    def cost(self) -> Cost:
        """What computing it costs: distinct operations, divisions, and a weight."""
    def simplify(self, *, where: str = "") -> Expr:
        """The expression with the same value for all values of the variables that is cheapest as far as we know.

        `where` says what else is known of the variables, as that of `merge` does: `"z < Z, H = 8*h, p % 2 == 0"`. The result has
        the same value where that holds.

        >>> from shapetracker import Expr
        >>> flat = Expr("(b*T + t) // T", b=range(1 << 20), t=range(1 << 20), T=range(1, 1 << 20))
        >>> str(flat.simplify(where="t < T"))
        'b'
        """
    def evaluate(self, **values: SupportsIndex) -> int | bool:
        """The value where each variable has a value: `evaluate(x=3, y=1)`. A condition is True or False."""
    def values(self) -> list[int | bool]:
        """The values for all values of all variables, in the order of `variables`, the last one running fastest."""
    def substitute(self, **values: _Operand) -> Expr:
        """The expression with others in place of variables: `substitute(x=Expr("a*2", a=range(5)), y=0)`."""
    def text(self, syntax: str = "python") -> str:
        """The expression as text of Python or C, without more parentheses than it needs."""
    def code(self, language: str = "python", name: str = "value") -> str:
        """Definitions in a language (python, c, cuda, opencl, metal, wgsl, rust, mlir, latex) that end in one of `name`;
        what is used more than once is computed once.
        """
    def nodes(self) -> list[tuple[Any, ...]]:
        """What it is made of, as tuples, operands first and the expression itself last: `("int", 3)`, `("variable", "x")`,
        `("//", 1, 0)` with the places of the operands.
        """
    def where(self, then: _Operand, otherwise: _Operand) -> Expr:
        """The first where the condition holds, the second elsewhere: `(x < 3).where(x, 0)`."""
    def min(self, other: _Operand) -> Expr:
        """The smaller of two numbers."""
    def max(self, other: _Operand) -> Expr:
        """The larger of two numbers."""
    def eq(self, other: _Operand) -> Expr:
        """The condition that two numbers are equal. (`==` compares expressions, not values.)"""
    def ne(self, other: _Operand) -> Expr:
        """The condition that two numbers are different."""
    def __add__(self, other: _Operand, /) -> Expr: ...
    def __radd__(self, other: _Operand, /) -> Expr: ...
    def __sub__(self, other: _Operand, /) -> Expr: ...
    def __rsub__(self, other: _Operand, /) -> Expr: ...
    def __mul__(self, other: _Operand, /) -> Expr: ...
    def __rmul__(self, other: _Operand, /) -> Expr: ...
    def __floordiv__(self, other: _Operand, /) -> Expr: ...
    def __rfloordiv__(self, other: _Operand, /) -> Expr: ...
    def __mod__(self, other: _Operand, /) -> Expr: ...
    def __rmod__(self, other: _Operand, /) -> Expr: ...
    def __and__(self, other: _Operand, /) -> Expr: ...
    def __rand__(self, other: _Operand, /) -> Expr: ...
    def __or__(self, other: _Operand, /) -> Expr: ...
    def __ror__(self, other: _Operand, /) -> Expr: ...
    def __xor__(self, other: _Operand, /) -> Expr: ...
    def __rxor__(self, other: _Operand, /) -> Expr: ...
    def __neg__(self) -> Expr: ...
    def __invert__(self) -> Expr: ...
    def __lt__(self, other: _Operand, /) -> Expr: ...
    def __le__(self, other: _Operand, /) -> Expr: ...
    def __gt__(self, other: _Operand, /) -> Expr: ...
    def __ge__(self, other: _Operand, /) -> Expr: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class IndexExpr:
    """What reads the elements of a tracker, or of a layout of CuTe: the address `index` of the element idx0, idx1, .. where
    `valid` holds.

    The names of a tracker that has some are variables as well, and arguments of kernels. Code has numbers of at most 64 bits:
    names without an end have one there, which `parameters` tells, and the code is right for these values, where the tracker's
    `needs` and what is given hold.

    >>> from shapetracker import ShapeTracker, Sym
    >>> t, h = Sym("T", 1, 1024), Sym("H", 1, 64)
    >>> expr = ShapeTracker.contiguous(t, h, 64).permute(1, 0, 2).index_expr()
    >>> expr
    <IndexExpr index: (idx1 * H + idx0) * 64 + idx2, valid: True>
    >>> expr.parameters
    {'T': range(1, 1025), 'H': range(1, 65)}
    >>> expr.address(1, 2, 3, T=8, H=4)
    579
    """
    @property
    def index(self) -> Expr:
        """The address, as an expression over idx0, idx1, .. and the names; it means nothing where `valid` does not hold."""
    @property
    def valid(self) -> Expr:
        """The condition that the element has an address."""
    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape of the tensor that is read."""
    @property
    def parameters(self) -> dict[str, _range]:
        """The names that occur, with the ranges of their values."""
    @property
    def cost(self) -> Cost:
        """What computing both costs, with what they have in common computed once."""
    def address(self, *index: SupportsIndex | _Numbers, **values: SupportsIndex) -> int | None:
        """The address of an element as the expressions compute it, with values of the tracker's names if it has some:
        `address(1, 2, n=8)`. None where it is not valid.
        """
    def code(self, language: str = "python") -> str:
        """Definitions of `valid` and `index` in a language: python, c, cuda, opencl, metal, wgsl, rust, mlir, latex."""
    def kernel(self, language: str = "python") -> str:
        """A whole function that gathers all elements, in row-major order. On GPUs start at least as many threads as there are
        elements, in CUDA in blocks of 256; if a kernel's first line asks for fewer threads, or for aligned buffers, heed it. Names
        are arguments.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

# An expression over the loops and parameters of a nest.
_OverLoops: TypeAlias = SupportsIndex | str | Expr | Sym

@final
class Nest:
    """Loops around accesses to several tensors: what a kernel consists of, before it is text. A compiler of one's own says which loops
    there are and in which order; a nest says what follows from that, and writes the loops around lines of the compiler's.

    Names that sizes have are declared first, with their values: `Nest(n=range(1, 4097))`, or `Nest(n)` for a `Sym` with two ends. They
    are what a kernel takes as arguments. Wherever an expression is taken it may be a number, a text of Python, an `Expr` over loops and
    names, or a `Sym`. A nest changes as loops are added, split and put into another order; `copy` makes another one.

    >>> from shapetracker import Nest, ShapeTracker, Sym
    >>> n = Sym("n", 1, 1024)
    >>> nest = Nest(n)
    >>> i, j, k = nest.each("i", n), nest.each("j", 32), nest.reduce("k", 16)
    >>> nest.read("a", ShapeTracker.contiguous(n, 16), [i, k])
    >>> nest.read("b", ShapeTracker.contiguous(32, 16).permute(1, 0), [k, j])
    >>> nest.access("c", i * 32 + j)
    >>> print(nest.code("c", "sum += a[{a}] * b[{b}];", before="float sum = 0;", after="c[{c}] = sum;"), end="")
    for (int i = 0; i < n; ++i) {
        const int t0 = i * 16;
        const int t1 = i * 32;
        for (int j = 0; j < 32; ++j) {
            const int t2 = j * 16;
            const int index_c = t1 + j;
            float sum = 0;
            for (int k = 0; k < 16; ++k) {
                const int index_a = t0 + k;
                const int index_b = t2 + k;
                sum += a[index_a] * b[index_b];
            }
            c[index_c] = sum;
        }
    }
    """
    def __new__(cls, *names: Sym, **ranges: _range | tuple[SupportsIndex, SupportsIndex]) -> Nest: ...
    @staticmethod
    def parse(text: str, where: str = "") -> Nest:
        """Reads a statement over several layouts, such as the command `nest` takes: its loops, with the statement as their body. Lines, or
        parts with `;` between them, are layouts (`A = (64, 16).T`), sizes of loops (`i = 0..64`) and one statement, whose right side
        is text of the language that is written. `where` says what is known of names: `"n=1..4097"`.

        A loop has the size of the axes that it is the index of by itself; loops that are not on the left are reduced. Padding of what is
        read is 0: where a product is added nothing is run there.

        >>> from shapetracker import Nest
        >>> nest = Nest.parse("y[i] += x[i + k] * w[k]; x = (n,).pad((1, 1)); w = (3,); y = (n,)", where="n=1..4097")
        >>> nest
        <Nest loops: i: n, k: 3 (reduced); accesses: y, x, w>
        >>> print(nest.code("python"), end="")
        for i in range(n):
            t0 = i - 1
            index_y = i
            for k in range(max(1 - i, 0), min(n - i + 1, 3)):
                index_x = t0 + k
                index_w = k
                y[index_y] += x[index_x] * w[index_w]
        """
    def each(self, name: str, size: _OverLoops) -> Expr:
        """Adds a loop inside of those that there are, which runs so often; its variable, to be used in expressions.

        >>> from shapetracker import Nest
        >>> nest = Nest(n=range(1, 65))
        >>> nest.each("i", "n * 4")
        Expr('i', i=range(0, 256))
        >>> nest.loops
        {'i': Expr('n * 4', n=range(1, 65))}
        """
    def reduce(self, name: str, size: _OverLoops) -> Expr:
        """Adds a loop over which the body sums, or joins in another way: inside of those that there are.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> k = nest.reduce("k", 16)
        >>> nest.reduced
        ('k',)
        """
    def read(self, name: str, tracker: ShapeTracker | View | IndexExpr, axes: Iterable[_OverLoops]) -> None:
        """Adds an access to the elements of a tracker, a view or what `index_expr` made, at an index: for each axis an expression over the
        loops, which must be known to stay within the axis. An element outside of a tensor is one of a tracker that is padded.

        What trackers with names need of the values is collected in `needs`. The names are those of the nest, whose values must be
        among those that they have in the tracker.

        >>> from shapetracker import Nest, ShapeTracker
        >>> nest = Nest()
        >>> i, k = nest.each("i", 8), nest.reduce("k", 3)
        >>> nest.read("x", ShapeTracker.contiguous(8).pad((1, 1)), [i + k])
        >>> nest.accesses["x"]
        (Expr('i + k - 1', i=range(0, 8), k=range(0, 3)), Expr('1 <= i + k < 9', i=range(0, 8), k=range(0, 3)))
        >>> nest.read("y", ShapeTracker.contiguous(8), [i + k])
        Traceback (most recent call last):
        ValueError: access: axis 0 of `y` has size 8, but `i + k`, which is taken there, ranges from 0 to 9
        """
    def access(self, name: str, index: _OverLoops, valid: _OverLoops | None = None) -> None:
        """Adds an access at an address over the loops, with the condition under which there is an element.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i, j = nest.each("i", 8), nest.each("j", 8)
        >>> nest.access("c", "i * 8 + j", valid="j <= i")
        """
    def guard(self, name: str, condition: _OverLoops) -> None:
        """Adds a guard that belongs to no access, such as a causal mask: `clip`, `partition` and `{name?}` of a body take its name as that
        of an access.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i, j = nest.each("i", 8), nest.each("j", 8)
        >>> nest.guard("causal", j <= i)
        >>> nest.clip("causal")
        >>> print(nest.code("python", "f({i}, {j})"), end="")
        for i in range(8):
            t0 = i + 1
            for j in range(t0):
                f(i, j)
        """
    def value(self, name: str, value: _OverLoops) -> None:
        """Adds an expression that a body may use by its name.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i = nest.each("i", 8)
        >>> nest.value("last", 7 - i)
        >>> print(nest.code("python", "f({last})"), end="")
        for i in range(8):
            last = 7 - i
            f(last)
        """
    @property
    def loops(self) -> dict[str, Expr | int]:
        """The loops by their names, outermost first, each with how often it runs: a number, or an expression over parameters."""
    @property
    def reduced(self) -> tuple[str, ...]:
        """The names of the loops over which the body sums, or joins in another way."""
    @property
    def accesses(self) -> dict[str, tuple[Expr, Expr]]:
        """The accesses by their names, in the order in which they were added, each with its address and its guard: two expressions over
        the loops as they are now.
        """
    @property
    def values(self) -> dict[str, Expr]:
        """The values that were given names, as expressions over the loops as they are now."""
    @property
    def parameters(self) -> dict[str, _range]:
        """The names that a kernel takes as arguments beside its buffers, with the ranges of their values."""
    @property
    def needs(self) -> tuple[Condition, ...]:
        """The conditions on names without which what is read is not what the trackers say: what they need, and what was given of them.

        >>> from shapetracker import Nest, ShapeTracker, Sym
        >>> n, s = Sym("n", 1, 64), Sym("s", 0, 63)
        >>> nest = Nest(n, s)
        >>> nest.read("x", ShapeTracker.contiguous(n).shrink((s, s + 1)), [0])
        >>> nest.needs
        (n >= s + 1,)
        """
    @property
    def width(self) -> int:
        """How many bits all numbers have, 32 or 64: what was set, or the least that hold all that is computed. Setting less than is needed
        is a ValueError.
        """
    @width.setter
    def width(self, width: int, /) -> None: ...
    @property
    def unsigned(self) -> bool:
        """Whether numbers that are never negative are unsigned in languages that have such numbers; False at first."""
    @unsigned.setter
    def unsigned(self, unsigned: bool, /) -> None: ...
    def split(self, name: str, *factors: _OverLoops | Iterable[_OverLoops]) -> None:
        """Splits a loop into several, outermost first: `split("i", 4, 16)`. One factor may be -1: it is what the others leave. A body may
        still use the name of the loop. Partitions are undone.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i = nest.each("i", 64)
        >>> nest.access("a", "i // 16 + i % 16 * 4")
        >>> nest.split("i", -1, 16)
        >>> nest.loops, str(nest.accesses["a"][0])
        ({'i0': 4, 'i1': 16}, 'i0 + i1 * 4')
        """
    def fuse(self, *loops: str | Iterable[str], name: str) -> None:
        """Fuses loops into one that counts their indices in row-major order, outermost first: the inverse of `split`. It stands where the
        first of them stood, and may have splits that they have not: loops then run over another shape. Partitions are undone.

        >>> from shapetracker import Nest, ShapeTracker
        >>> nest = Nest()
        >>> i, j = nest.each("i", 3), nest.each("j", 8)
        >>> nest.read("x", ShapeTracker.contiguous(6, 4).permute(1, 0).reshape(3, 8), [i, j])
        >>> nest.access("out", 8 * i + j)
        >>> nest.fuse("i", "j", name="f")
        >>> print(nest.split_where_affine())
        f = 4 x 6
        >>> [str(index) for index, _ in nest.accesses.values()]
        ['f0 + f1 * 4', 'f0 * 6 + f1']
        """
    def swap(self, first: str, second: str) -> None:
        """Exchanges two loops. Partitions are undone."""
    def reorder(self, *loops: str | Iterable[str]) -> None:
        """Puts all loops into another order, outermost first: `reorder("j", "i", "k")`. Partitions are undone."""
    def splits_where_affine(self) -> Splits:
        """The coarsest splits of the loops after which all accesses and the conditions of their guards are affine in the loops; where there
        are none for all of them, those that serve what costs most. Nothing is split yet.
        Of an index whose guard holds at some places only they are the splits of the index everywhere; fewer may do there.

        >>> from shapetracker import Nest, ShapeTracker
        >>> nest = Nest()
        >>> r, c = nest.each("r", 8 * 64), nest.each("c", 768)
        >>> nest.read("x", ShapeTracker.contiguous(8, 12, 64, 64).permute(0, 2, 1, 3).reshape(512, 768), [r, c])
        >>> print(nest.splits_where_affine())
        r = 8 x 64, c = 12 x 64
        """
    def split_where_affine(self) -> Splits:
        """Splits the loops so: what was split, and what is not served and why."""
    def clip(self, *accesses: str | Iterable[str], reduced: bool = False) -> None:
        """Has the body run only where the guards of some accesses hold: as bounds of loops where they are affine, else as conditions.
        With `reduced` only loops that are reduced are shortened, so that what stands before and after them is run for every element.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i, j = nest.each("i", 8), nest.each("j", 8)
        >>> nest.access("c", "i * 8 + j", valid="j <= i")
        >>> nest.clip("c")
        >>> print(nest.code("python", "c[{c}] = 1"), end="")
        for i in range(8):
            t0 = i * 8
            t1 = i + 1
            for j in range(t1):
                index_c = t0 + j
                c[index_c] = 1
        """
    def partition(self, loop: str, *accesses: str | Iterable[str]) -> None:
        """Runs a loop in three parts, edge, interior and edge: in the interior the affine guards of some accesses that depend on the loop
        hold for all values of the loops inside of it, so that a body that asks for them sees the literal true.
        """
    def stride(self, access: str, loop: str) -> Expr | int | None:
        """By how much the address of an access grows with each step of a loop, wherever its guard holds before and after: a number or an
        expression over parameters; None where that is not one number for the whole nest.

        >>> from shapetracker import Nest
        >>> nest = Nest(n=range(1, 65))
        >>> i, j = nest.each("i", 8), nest.each("j", "n")
        >>> nest.access("a", "i * n + j")
        >>> nest.stride("a", "i"), nest.stride("a", "j")
        (Expr('n', n=range(1, 65)), 1)
        """
    def contiguous(self, access: str) -> Expr | int:
        """How many elements an access takes one after the other in memory as the innermost loops run. Guards are not asked."""
    def vector_width(self, access: str, loop: str, most: SupportsIndex) -> int:
        """How many elements of an access one instruction may take along a loop: the greatest power of two up to `most` by which the loop can
        be cut, so that each group has neighbouring addresses, begins at a multiple of its length, and is valid as a whole or not at
        all. It is 1 where there are no such groups.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i, j = nest.each("i", 8), nest.each("j", 12)
        >>> nest.access("a", "i * 20 + j + 4", valid="j < 8")
        >>> nest.vector_width("a", "j", 16), nest.vector_width("a", "i", 16)
        (4, 1)
        """
    def is_reused(self, access: str, loop: str) -> bool:
        """Whether an access has one address and one guard for all values of a loop, so that what is read may be kept."""
    def overlaps(self, first: str, second: str) -> bool:
        """Whether two accesses, of one buffer, have an element at one address, at whatever values of the loops each and for some values of
        the parameters. Raises Undecided where it takes more work to tell than is done.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i = nest.each("i", 8)
        >>> nest.access("a", 2 * i)
        >>> nest.access("b", 2 * i + 1)
        >>> nest.overlaps("a", "b"), nest.overlaps("a", "a")
        (False, True)
        """
    def in_place(self, output: str, input: str) -> bool:
        """Whether the buffer of an output may be that of an input, in this order of the loops: whether each element that is read is what
        was there before. `clash` is the evidence of a no. What is assumed of the body: its innermost lines read the input, and write
        the output after that; where there are innermost reduced loops that the output does not depend on, the lines after these
        write it. Raises Undecided where it takes more work to tell than is done.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i = nest.each("i", 8)
        >>> nest.access("here", i)
        >>> nest.access("next", i + 1)
        >>> nest.in_place("here", "next"), nest.in_place("next", "here")
        (True, False)
        """
    def clash(self, output: str, input: str) -> dict[str, Any] | None:
        """An element that is read after it was written, if an output is written over an input: the values of the parameters, of the loops
        around the write, and of the loops where it is read, and its address. None where there is none: `in_place` is True. Raises
        Undecided where it takes more work to tell than is done.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i = nest.each("i", 2)
        >>> nest.access("from", i)
        >>> nest.access("to", 1 - i)
        >>> nest.clash("to", "from")
        {'parameters': {}, 'written': {'i': 0}, 'read': {'i': 1}, 'address': 1}
        """
    def levels(self) -> tuple[Level, ...]:
        """The loops with their bounds and conditions, and what is computed in each: data for whoever writes the text themselves. Each level
        comes after the one that it stands in; the first is outside of all loops.
        """
    def code(
        self,
        language: str,
        body: str | None = None,
        *,
        before: str = "",
        after: str = "",
        choices: Mapping[str, Sequence[str]] | None = None,
    ) -> str:
        """The nest as text of a language (python, c, cuda, opencl, metal, wgsl, rust, mlir) around lines in it: `body` in the innermost loop,
        `before` and `after` around the innermost loops that are reduced. Each value is computed in the outermost loop that knows what
        it is made of.

        In these lines `{a}` is the index of the access `a`, `{a?}` its guard as far as loops do not say it, and `{v}` a value or a loop,
        whether it was split or not. All other braces are what they are. A nest that was read has its statement as the body, if no other is
        given.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i, k = nest.each("i", 4), nest.reduce("k", 8)
        >>> nest.access("a", i * 8 + k)
        >>> print(nest.code("python", "total += a[{a}]", before="total = 0", after="out[{i}] = total"), end="")
        for i in range(4):
            t0 = i * 8
            total = 0
            for k in range(8):
                index_a = t0 + k
                total += a[index_a]
            out[i] = total

        `choices` has names for what is one text where a guard holds and another where it does not. Where loops say which, as in the parts
        of a partition, that text stands there alone:

        >>> nest = Nest()
        >>> i = nest.each("i", 8)
        >>> nest.access("x", i - 1, valid="i >= 1")
        >>> nest.partition("i", "x")
        >>> choices = {"element": ("x", "x[{x}]", "0")}
        >>> print(nest.code("python", "y[{i}] = {element}", choices=choices), end="")
        for i in range(1):
            y[0] = 0
        for i in range(1, 8):
            index_x = i - 1
            y[i] = x[index_x]
        """
    def copy(self) -> Nest:
        """Another nest that is the same, and changes by itself.

        >>> from shapetracker import Nest
        >>> nest = Nest()
        >>> i = nest.each("i", 64)
        >>> tiled = nest.copy()
        >>> tiled.split("i", 4, 16)
        >>> nest.loops, tiled.loops
        ({'i': 64}, {'i0': 4, 'i1': 16})
        """
    def __copy__(self) -> Nest: ...
    def __deepcopy__(self, _memo: Any) -> Nest: ...

@final
class Splits:
    """The splits of the loops of a nest after which accesses and the conditions of their guards are affine in the loops.

    >>> from shapetracker import Nest
    >>> nest = Nest()
    >>> i = nest.each("i", 12)
    >>> nest.access("a", "i // 2 + i % 2 * 9")
    >>> nest.access("b", "i // 3 + i % 3 * 9")
    >>> splits = nest.splits_where_affine()
    >>> splits.factors, splits.served
    ({'i': (4, 3)}, ('`b`',))
    >>> print(splits)
    i = 4 x 3
    `a` needs `i` cut by 2, and `b` by 3: neither divides the other
    """
    @property
    def factors(self) -> dict[str, tuple[Expr | int, ...]]:
        """The loops that are split, each with its factors, outermost first: numbers, or expressions over parameters."""
    @property
    def served(self) -> tuple[str, ...]:
        """What is affine after the splits: accesses, and conditions of their guards."""
    @property
    def unserved(self) -> tuple[Unserved, ...]:
        """What is not, each with its reason."""

@final
class Unserved:
    """What no split that is chosen makes affine: the index of an access, or a condition of its guard. `str` is the sentence.

    >>> from shapetracker import Nest
    >>> nest = Nest()
    >>> i = nest.each("i", 7)
    >>> nest.access("a", "i // 2")
    >>> left, = nest.splits_where_affine().unserved
    >>> left.access, left.condition, left.kind, left.loops
    ('a', None, 'run', ('i',))
    >>> print(left)
    `a` has runs of 2 along `i`, and 2 does not divide 7
    """
    @property
    def access(self) -> str:
        """The name of the access."""
    @property
    def condition(self) -> str | None:
        """The text of the condition of its guard; None where it is its index."""
    @property
    def kind(self) -> str:
        """Why: `run` (a run of indices does not divide a loop), `carry` (something carries from one digit into another),
        `conflict` (another access, which saves more, needs a loop cut elsewhere), or `undecided`.
        """
    @property
    def loops(self) -> tuple[str, ...]:
        """The loops that it is about."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Level:
    """A level of a nest: what stands in one loop, or outside of all.

    In its expressions the names of `definitions`, of this level and of those around it, are variables: each part is computed once, in
    the outermost loop that knows it. A condition that has a name is a number there, 0 or 1.

    >>> from shapetracker import Nest
    >>> nest = Nest()
    >>> i, k = nest.each("i", 56), nest.reduce("k", 3)
    >>> nest.access("x", i * 4 + k, valid=k <= i)
    >>> nest.clip("x", reduced=True)
    >>> outside, outer, inner = nest.levels()
    >>> print(outer.name, outer.begin, outer.end, *outer.definitions.items())
    i 0 56 ('t0', Expr('i * 4', i=range(0, 56)))
    >>> print(inner.name, inner.begin, inner.end, inner.accesses["x"][0])
    k 0 min(i + 1, 3) t0 + k
    """
    @property
    def parent(self) -> int | None:
        """The place among the levels of the one that it stands in; None outside of all loops."""
    @property
    def name(self) -> str | None:
        """The name of the loop; None outside of all loops."""
    @property
    def begin(self) -> Expr | int | None:
        """The first value of the loop, where it is less than the end."""
    @property
    def end(self) -> Expr | int | None:
        """The value that ends the loop, which does not reach it."""
    @property
    def is_reduced(self) -> bool:
        """Whether the body sums over the loop, or joins in another way."""
    @property
    def definitions(self) -> dict[str, Expr]:
        """What is computed here because this is the outermost level that knows it, each before it is used."""
    @property
    def condition(self) -> Expr | None:
        """What must hold for anything inside to run; None where nothing is asked."""
    @property
    def accesses(self) -> dict[str, tuple[Expr, Expr]]:
        """In an innermost level the accesses: address, and what is left of the guard."""
    @property
    def values(self) -> dict[str, Expr]:
        """In an innermost level the values that were given a name."""
    @property
    def loops(self) -> dict[str, Expr]:
        """In an innermost level each loop that the nest has, or had before it was split."""
    @property
    def is_innermost(self) -> bool:
        """Whether the body stands here."""

_Extent: TypeAlias = SupportsIndex | _range | tuple[SupportsIndex, SupportsIndex]

@final
class IndexMap:
    """A map from loops with ranges to a tuple of expressions: `IndexMap("lambda i, j: (i // 4, j, i % 4)", i=range(16), j=range(8))`.
    The text may be Python's, TVM's (`T.index_map(lambda ..)`), MLIR's (`affine_map<(d0) -> (d0 floordiv 4)>`), or `(i, j) -> (i // 4, j)`.

    Every answer is exact: None where something is asked for that is not there is a proof that it is not, and what is not decided
    raises Undecided, which says why.

    >>> from shapetracker import IndexMap
    >>> split = IndexMap("lambda i, j: (i // 4, j, i % 4)", i=range(16), j=range(8))
    >>> split(6, 2)
    (1, 2, 2)
    >>> split.is_one_to_one(), split.is_onto(4, 8, 4)
    (True, True)
    >>> print(split.inverse())
    lambda y0, y1, y2: (y0 * 4 + y2, y1)
    """
    def __new__(cls, text: str, /, **loops: _range | tuple[SupportsIndex, SupportsIndex]) -> IndexMap: ...
    @property
    def loops(self) -> dict[str, _range]:
        """The loops by their names, outermost first, with the ranges of their values."""
    @property
    def results(self) -> tuple[Expr, ...]:
        """The results, each over the loops that it depends on."""
    @property
    def image_box(self) -> tuple[_range, ...]:
        """The smallest box around all images, one range a result. Where the search for it, which is limited to about a millisecond,
        ended before that was sure, it is a box that holds them.
        """
    def __call__(self, *index: SupportsIndex | _Numbers) -> tuple[int, ...]: ...
    def collision(self) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Two indices with the same image, or None: the map is one-to-one.

        >>> from shapetracker import IndexMap
        >>> IndexMap("(i) -> (i % 4)", i=range(6)).collision()
        ((0,), (4,))
        """
    def is_one_to_one(self) -> bool:
        """Whether no two indices have the same image; `collision` has two where it is not."""
    def missed(self, *target: _Extent | Iterable[_Extent]) -> tuple[int, ...] | None:
        """An element of a box that no index leads to, or None: all of it is reached. The box has one size or range a result:
        `missed(4, range(-2, 6))`.

        >>> from shapetracker import IndexMap
        >>> IndexMap("(i) -> (i // 4, i % 4)", i=range(14)).missed(4, 4)
        (3, 3)
        """
    def outside(self, *target: _Extent | Iterable[_Extent]) -> tuple[int, ...] | None:
        """An index whose image is not in a box, or None: all images are in it.

        >>> from shapetracker import IndexMap
        >>> IndexMap("(i) -> (i // 4, i % 4)", i=range(14)).outside(3, 4)
        (12,)
        """
    def is_onto(self, *target: _Extent | Iterable[_Extent]) -> bool:
        """Whether the images are exactly the elements of a box; `missed` and `outside` have evidence where they are not."""
    def preimage(self, *element: SupportsIndex | _Numbers) -> tuple[int, ...] | None:
        """An index that leads to an element, or None: no index does."""
    def difference(self, other: IndexMap) -> tuple[int, ...] | None:
        """An index at which another map of the same box has another image, or None: the maps are equal. (`==` compares how they are
        written.)

        >>> from shapetracker import IndexMap
        >>> m = IndexMap("(i) -> (i // 4 * 4 + i % 4)", i=range(10**9))
        >>> m.difference(IndexMap("(k) -> (k)", k=range(10**9)))
        """
    def inverse(self) -> IndexMap:
        """The map that leads back from the images to their indices; elements of its box that are no images may lead anywhere. Raises
        NotInvertible, whose `indices` are two with the same image, or None where the map is one-to-one and no expressions were found.
        """
    def after(self, first: IndexMap) -> IndexMap:
        """The map that does another one first. Raises a ValueError, whose `index` is one that the other map leads out of the ranges of
        these loops.

        >>> from shapetracker import IndexMap
        >>> split = IndexMap("(i) -> (i // 4, i % 4)", i=range(16))
        >>> print(IndexMap("(a, b) -> (a*4 + b)", a=range(4), b=range(4)).after(split))
        lambda i: (i,)
        """
    def simplify(self) -> IndexMap:
        """The same map with every result as cheap as we know how to make it in this box."""
    def text(self, notation: str = "python") -> str:
        """The map as text of python, tvm or mlir.

        >>> from shapetracker import IndexMap
        >>> IndexMap("lambda i: (i // 4, i % 4)", i=range(16)).text("mlir")
        'affine_map<(i) -> (i floordiv 4, i mod 4)>'
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

def simplify_pair(index: Expr, valid: Expr) -> tuple[Expr, Expr]:
    """An index and a condition simplified together: where the condition does not hold, the index may become anything."""

def of(array: Any) -> ShapeTracker[int]:
    """The tracker of an array: one view, in elements, without a mask.

    Takes any NumPy array, PyTorch tensor, array of JAX, or object with the buffer protocol, `__array_interface__`,
    `__cuda_array_interface__` or `__dlpack__`, on whichever device: no data are looked at. Addresses count from the start of a tensor's storage, and otherwise from the lowest element that is
    read: the tracker of a reversed array of n elements has the offset n - 1. `memory` gives what they count in.
    """
def memory(array: Any) -> Any:
    """The array of one axis, of the same library and without a copy, that the addresses of `of(array)` count in.

    `apply(of(x), memory(x))` has the elements of x.
    """
def apply(
    tracker: ShapeTracker[int] | View[int],
    array: Any,
    fill: Any = 0,
    *,
    copy: bool | None = None,
    threads: SupportsIndex = 1,
    progress: Callable[[int, int], object] | None = None,
    tuned: bool = False,
) -> Any:
    """`shapetracker.apply` of a tracker or a view, which says what it does."""
def advice(
    text: str, base: _Numbers | Sequence[SupportsIndex | Sym | str] | None = None, *, where: str = "", **names: SupportsIndex
) -> Advice:
    """What NumPy and PyTorch do with a chain or with a line of their code: whether it is one view, the first operation that
    needs another, the least that must be copied, and the code that copies no more. `base` is the shape of the array where the
    text does not say it, and numbers that the text has by names are given by these names:
    `advice("x.transpose(1, 2).view(B, T*C)", (8, 3, 5), B=8, T=3, C=5)`.

    Names that have no values stay names, as in `advice("x.transpose(1, 2).view(B, T*C)", ("B", "T", "C"))`: the answer says for
    which values it holds, and the code is written in the names. `where` says what is known of them, as in
    `ShapeTracker.parse`.
    """
@final
class Advice:
    """The answer of `advice`: true where the chain is one view."""
    @property
    def one_view(self) -> bool | None:
        """Whether the chain is one view of the memory that it starts with, or of the last copy that is written in it; None where
        that was not decided within the work limit, and where it depends on the values of names: `answer` says on which.
        """
    @property
    def answer(self) -> Answer | None:
        """For which values of the names the chain is one view; None where there are no names."""
    @property
    def view(self) -> View | None:
        """That view; None where there are several."""
    @property
    def of_copy(self) -> int | None:
        """The number of the operation that makes the copy that `view` is of, from 0; None where it is of the memory that the chain
        starts with.
        """
    @property
    def witness(self) -> UnevenStep | NotABox | None:
        """Proof that there is no such view: an UnevenStep or a NotABox; of names at the values of `answer.values`."""
    @property
    def sentence(self) -> str:
        """The answer as a sentence, in which code stands between backticks."""
    @property
    def step(self) -> int | None:
        """The number of the first operation that needs another view, from 0; None where there is none."""
    @property
    def elements(self) -> int | None:
        """How many elements are to be copied: 0 where there is one view, None where it is not known."""
    @property
    def smallest(self) -> bool:
        """Whether no buffer of fewer elements does."""
    @property
    def numpy(self) -> LibraryAdvice | None:
        """What NumPy does."""
    @property
    def pytorch(self) -> LibraryAdvice | None:
        """What PyTorch does."""
    def __bool__(self) -> bool: ...
    def _repr_html_(self) -> str:
        """What notebooks show: the answer, and a picture of the layout at the end, with the evidence against one view where there is some.
        With names it is that at small values of them, which the page says.
        """

@final
class LibraryAdvice:
    """What one library does with a chain that is written in its own calls."""
    @property
    def does(self) -> str:
        """"view", "raises", "copies", "cannot" where it has no such array, or "undecided" where it depends on the values of names
        in more ways than were followed.
        """
    @property
    def unless(self) -> _Formula:
        """The values for which it may do something else: of these tuples of conditions one holds for them. Empty where there are
        none, as where there are no names.
        """
    @property
    def copied(self) -> tuple[tuple[int, int | Sym], ...]:
        """The numbers of the operations that copy, each with how many elements; where one raises, as if it were the call that
        copies.
        """
    @property
    def sentence(self) -> str:
        """The same as sentences, in which code stands between backticks."""
    @property
    def code(self) -> str | None:
        """What to write instead: Python whose last line is an expression; None where there is nothing to write instead. Of names it
        is right for all values.
        """

def describe(array: Any, other: Any = None, *, itemsize: SupportsIndex | None = None) -> Description:
    """In which order the elements of an array lie, what it leaves out and shares, and what takes it as it is: BLAS, the tensor maps
    of CUDA, cuDNN and oneDNN, vectors, PyTorch, NumPy and JAX. Every no has its reason, and the nearest layout that would do.

    Takes what `of` takes, a ShapeTracker, a View, or the text of one. Nothing is moved, and no data are looked at. `itemsize`
    is how many bytes an element has, which an array says itself. With `other`, of the same buffer, it also says whether the
    two share an address; arrays of NumPy share one where they are views of one array.
    """
@final
class Description:
    """The answer of `describe`."""
    @property
    def dense(self) -> bool | None:
        """Whether every address from the lowest to the highest one is read by exactly one element and no element is masked; None
        where that was not decided, and where sizes have names: `orders` has it then.
        """
    @property
    def orders(self) -> tuple[str, ...]:
        """What the order of the axes in memory is called: of "row-major", "column-major", "channels_last", "channels_last_3d" and
        "blocked" those that hold. With names those in which the layout is dense for all values.
        """
    @property
    def range(self) -> tuple[int, int] | None:
        """The lowest and the highest address that is read, in elements; None where nothing is, where that was not decided, and where
        sizes have names.
        """
    @property
    def holes(self) -> int | None:
        """How many addresses between them no element reads; None where that was not decided, and where sizes have names."""
    @property
    def collision(self) -> tuple[tuple[int, ...], tuple[int, ...], int] | None:
        """The indices of two elements that read one address, and the address; None where there are none, and where sizes have names."""
    @property
    def overlap(self) -> tuple[tuple[int, ...], tuple[int, ...], int] | None:
        """Of the layout and the other one: the indices of an element of each that lie at one address, and the address; None where
        they share none, and where no other layout was given; with names at values that `lines` has. `to_dict()["overlap"]` has the reason.
        """
    @property
    def formats(self) -> tuple[tuple[str, str], ...]:
        """What cuDNN and oneDNN call the layout: pairs of library and name, such as ("cuDNN", "NHWC") and ("oneDNN", "acdb")."""
    @property
    def vector(self) -> int | None:
        """The widest vectors, in elements, that all elements can be read by; None where that is not known."""
    def holds(self, claim: str) -> bool | None:
        """Whether a claim holds: "dense", "row-major" (or "contiguous"), "column-major", "channels_last", "channels_last_3d", "blocked", "injective",
        "matrix", "tma", "vector=4", or a format such as "NHWC" or "aBcd8b". None where that was not decided, with names where it is not known
        to hold for all values, and for "tma" where the bytes of an element are not known.

        >>> import shapetracker
        >>> shapetracker.describe("(8, 32, 32, 3).permute(0, 3, 1, 2)").holds("channels_last")
        True
        """
    @property
    def lines(self) -> tuple[tuple[str, str], ...]:
        """The description as pairs of a topic and a sentence."""
    def to_dict(self) -> dict[str, Any]:
        """All of it as a dict, the library's document: what BLAS and tensor maps take and why not, what PyTorch, NumPy and JAX report."""
    @staticmethod
    def of_parts(
        layout: ShapeTracker,
        memory: tuple[int, int] | None,
        strides: Sequence[int] | None,
        other: tuple[ShapeTracker, ShapeTracker, Sequence[int], int] | None,
    ) -> Description:
        """The answer of a question that is kept as its parts: the layout, the bytes of an element and what the address of the buffer is a
        multiple of, the strides that the library of an array reports, and the other layout, as it was compared. It is how `pickle` asks
        again.
        """
    def __reduce__(self) -> tuple[Any, ...]: ...
    def _repr_html_(self) -> str: ...

@overload
def explain_view(array: ShapeTracker[int] | View[int], *new_shape: SupportsIndex | _Numbers) -> Explanation:
    """Can an array be a view under a new shape, of which one size may be -1? If not: which axes are in the way, and what
    is the smallest copy that helps? The smallest is meant over all buffers and all strides of views of them; `smallest`
    says whether that was proven.

    Takes what `of` takes, a ShapeTracker or a View, and the shape as numbers or as one sequence. Nothing is moved. For a
    tracker, a view or a shape with names it is the Answer to the question for which values it can.
    """
@overload
def explain_view(array: ShapeTracker | View, *new_shape: _Size | _Sizes) -> Answer: ...
@overload
def explain_view(array: Any, *new_shape: SupportsIndex | _Numbers) -> Explanation: ...
@overload
def explain_view(array: Any, *new_shape: _Size | _Sizes) -> Answer: ...
@final
class Explanation:
    """The answer of `explain_view`: true where there is a view, and else what is in the way and what helps."""
    @property
    def possible(self) -> bool:
        """Whether the array can be a view under the new shape."""
    @property
    def tracker(self) -> ShapeTracker[int]:
        """The tracker of the array."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The new shape."""
    @property
    def view(self) -> View[int] | None:
        """The view under the new shape, in elements; None where there is none."""
    @property
    def strides(self) -> tuple[int, ...] | None:
        """The strides of that view, along axes of size 1 as the library of the array reports them; a tracker's are 0 there."""
    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """What is in the way, outermost axes first."""
    @property
    def witness(self) -> UnevenStep | NotABox | None:
        """Proof that there is no such view, in indices of the new shape: an UnevenStep or a NotABox."""
    @property
    def copied(self) -> View[int] | None:
        """The elements to copy into a fresh row-major buffer, as a view of the old one; None where nothing is copied, where
        several views are copied one after another, and where a tracker of several views is to be copied.
        """
    @property
    def pieces(self) -> tuple[View[int], ...]:
        """The elements to copy, as views of the old buffer that are copied one after another: nearly always one."""
    @property
    def smallest(self) -> bool:
        """Whether no buffer with fewer elements has a view of the new shape, however its strides; True where there is a
        view already.
        """
    @property
    def copied_view(self) -> View[int] | None:
        """The view of that buffer that has the new shape."""
    @property
    def elements(self) -> int:
        """How many elements are to be copied: 0 where there is a view."""
    @property
    def recipe(self) -> str | None:
        """What makes the array of the new shape, copying no more than that: a line of Python for an array `x` of the
        library that the array came from, NumPy (as `np`) or PyTorch; None where there is none. PyTorch has no negative
        strides: where they would make the buffer smaller, it copies the fewest elements that do without.
        """
    @staticmethod
    def of_parts(
        tracker: ShapeTracker[int],
        shape: Sequence[int],
        library: Literal["numpy", "torch"] | None,
        strides: Sequence[int] | None,
    ) -> Explanation:
        """The answer of a question that is kept as its parts: the tracker, the new shape, "numpy" or "torch" for an array of these, and
        the strides that it reports. It is how `pickle` asks again.
        """
    def __bool__(self) -> bool: ...
    def _repr_html_(self) -> str:
        """What notebooks show: the answer, and a picture of the elements under the new shape with the evidence against one view."""

@final
class Obstacle:
    """One reason why an array cannot take a shape; `str` writes it as a sentence."""
    @property
    def kind(self) -> str:
        """"strides", where two old axes do not continue each other, or "mask", where what is valid would be no box."""
    @property
    def old_axes(self) -> tuple[int, ...]:
        """The old axes that are in the way."""
    @property
    def new_axes(self) -> tuple[int, ...]:
        """The new axes that they are in the way of."""
    @property
    def stride(self) -> int | None:
        """The stride of the outer one of two old axes; None for a mask."""
    @property
    def needed(self) -> int | None:
        """The stride that it would need; None for a mask."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Placement:
    """What one mesh axis does to a tensor: `replicate`, `shard` (along an axis), `strided shard` (along an axis cut into
    pieces first), or `partial` (every device has a summand).
    """
    def __new__(cls, kind: str, axis: int | None = None, pieces: int = 1) -> Placement: ...
    @property
    def kind(self) -> str:
        """"replicate", "shard", "strided shard" or "partial"."""
    @property
    def axis(self) -> int | None:
        """The tensor axis that is cut; None where none is."""
    @property
    def pieces(self) -> int:
        """Into how many pieces the axis is cut before each is spread over the devices: 1 but for strided shards."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Sharded:
    """A tensor spread over a mesh of devices: its global shape, the mesh, and one placement for each mesh axis.

    The mesh is a dict of sizes by name, pairs of names and sizes, or sizes alone. Elements are named by their positions in
    the row-major order of the global tensor, devices by their coordinates in the mesh.
    """
    def __new__(cls, shape: _Numbers, mesh: _Mesh, placements: Iterable[Placement]) -> Sharded: ...
    @staticmethod
    def from_spec(shape: _Numbers, mesh: _Mesh, spec: Iterable[str | Iterable[str] | None]) -> Sharded:
        """A tensor with JAX's `PartitionSpec`: for each of its axes None, the name of the mesh axis that cuts it, or the names of
        several, the major one first.
        """
    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape."""
    @property
    def mesh(self) -> tuple[tuple[str, int], ...]:
        """The names of the mesh axes and how many devices each has."""
    @property
    def placements(self) -> tuple[Placement, ...]:
        """One placement for each mesh axis."""
    @property
    def spec(self) -> tuple[tuple[str, ...], ...] | None:
        """JAX's `PartitionSpec` for these placements, the names of the mesh axes for each axis of the tensor; None where they are
        none.
        """
    def local_shape(self, *device: SupportsIndex | _Numbers) -> tuple[int, ...]:
        """The shape of what the device at these coordinates holds."""
    def holds(self, device: _Numbers, local: int) -> int | None:
        """The position in the global tensor of an element that a device holds, by its number in the device's local tensor; None
        where it holds no so many.
        """
    def local(self, device: _Numbers, position: int) -> int | None:
        """The number that an element of the global tensor has in a device's local tensor; None where the device does not hold it."""
    def reshape(self, *shape: SupportsIndex | _Numbers) -> Outcome:
        """Is the same tensor under a new shape free of communication? One size may be -1."""
    def permute(self, *axes: SupportsIndex | _Numbers) -> Outcome:
        """The axes in a new order."""
    def expand(self, *shape: SupportsIndex | _Numbers) -> Outcome:
        """Axes of size 1 repeated."""
    def squeeze(self, *axes: SupportsIndex | _Numbers) -> Outcome:
        """Axes of size 1 taken away."""
    def unsqueeze(self, axis: int) -> Outcome:
        """A new axis of size 1."""
    def shrink(self, *ranges: _Pair | Iterable[_Pair | None] | None) -> Outcome:
        """A half-open range of each axis; None for all of it."""
    def flip(self, *axes: SupportsIndex | _Numbers | Iterable[bool]) -> Outcome:
        """Axes reversed, by their numbers or as one True or False per axis."""
    def pad(self, *pads: _Pair | Iterable[_Pair | None] | None) -> Outcome:
        """How many elements without a value come before and after each axis; None for none."""
    def check(self, claimed: Sharded) -> Check:
        """Is this how the devices hold the same elements, in row-major order, under the shape that is claimed?"""
    def moved(self, target: Sharded) -> Moved:
        """How many elements the devices need for a target, of any shape of as many elements, and do not hold: exactly."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Outcome:
    """What comes of an operation on a tensor that is spread over devices: true where it needs no communication and placements
    say how the result is spread.
    """
    @property
    def kind(self) -> str:
        """"free", "unsayable" (no element would have to move, but no placements say who holds what), "moves" or "undecided"."""
    def __bool__(self) -> bool: ...
    def _repr_html_(self) -> str: ...
    @property
    def before(self) -> Sharded:
        """The tensor that was asked about."""
    @property
    def after(self) -> Sharded | None:
        """The result, where the operation is free; else None."""
    @property
    def witness(self) -> Evidence | None:
        """Where elements must move, a device and elements that show it."""
    @property
    def view(self) -> ShapeTracker[int] | None:
        """Where no placements say who holds what, a tracker over the mesh axes and the axes of the local tensor, whose addresses
        are the positions in the result; None where the parts differ in shape or do not follow from each other by strides.
        """
    @property
    def cheapest(self) -> tuple[Sharded, Moved] | None:
        """Where a reshape is not free, the plain shards of the new shape, along the same mesh axes, for which the fewest elements
        must move, and how many that are exactly; None where it is free, or where counting takes too much work.
        """

@final
class Check:
    """Whether what is claimed of a tensor is so: true where it is proved."""
    @property
    def kind(self) -> str:
        """"proved", "refuted" or "undecided"."""
    def __bool__(self) -> bool: ...
    def _repr_html_(self) -> str: ...
    @property
    def witness(self) -> Evidence | None:
        """A device and a place in its local tensor where it holds another element than is claimed; None where it is not refuted."""

@final
class Evidence:
    """Evidence that anyone can check: a device, and elements that it holds or should hold; `str` writes it as a sentence."""
    @property
    def device(self) -> tuple[int, ...]:
        """The coordinates of the device in the mesh."""
    @property
    def local(self) -> tuple[int, int]:
        """The numbers of two elements in the device's local tensor."""
    @property
    def positions(self) -> tuple[int | None, int | None]:
        """The positions of the two in the global tensor; None where the device holds, or should hold, no so many."""
    @property
    def missing(self) -> int | None:
        """Where elements must move, the position of one that the device would need as well, and does not hold."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Moved:
    """How many elements must move between devices."""
    @property
    def elements(self) -> int:
        """In all."""
    @property
    def most(self) -> int:
        """The most that one device receives."""
    @property
    def device(self) -> tuple[int, ...]:
        """The coordinates of a device that receives the most."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Assembly:
    """A chunk of a tracker's tensor while it is put together from chunks of an array.

    Its elements are bytes of one width; what they mean is the caller's. Several threads may bring chunks at the same time:
    they take turns. Nobody else has the array before `finish`.
    """
    def __new__(cls, tracker: ShapeTracker[int], shape: _Numbers, box: Iterable[_Pair], fill: bytes) -> Assembly: ...
    def take(self, box: Iterable[_Pair], chunk: Any) -> None:
        """Moves the elements that are in a chunk of the array: an array of NumPy's, and the box of indices that it has."""
    def put(self, box: Iterable[_Pair], packed: Any) -> None:
        """Moves elements that `cut` took out of the chunk with the same box."""
    def finish(self) -> Any:
        """The chunk, as an array of NumPy's; nothing can be taken any more."""

@final
class ChunkPlan:
    """How the chunks of a tracker's tensor come from the chunks of an array.

    Chunks are numbered in row-major order of their grid, and each axis is given as the list of its chunks' sizes.
    """
    def __new__(cls, tracker: ShapeTracker[int], input: Iterable[_Numbers], output: Iterable[_Numbers]) -> ChunkPlan: ...
    def inputs_of(self, output: SupportsIndex) -> list[int]:
        """The numbers of the array's chunks that a chunk of the tensor takes elements from, ascending."""
    def taken_of(self, output: SupportsIndex) -> list[int]:
        """How many elements a chunk of the tensor takes from each of these, in the same order."""
    def needed(self) -> int:
        """How many chunks of the array have an element that the tensor has."""
    def schedule(self, memory: SupportsIndex, width: SupportsIndex, at_once: SupportsIndex) -> Schedule:
        """An order of reading, moving and writing with at most so many bytes in memory, for elements of a width in bytes, with
        `at_once` chunks of the array read at a time.
        """

@final
class Schedule:
    """An order of reading chunks, moving their elements, and writing chunks, with few reads under a limit of memory."""
    @property
    def steps(self) -> list[tuple[str, list[Any]]]:
        """The steps in order: what to do, one of "open", "read", "move", "forget" and "write", and the chunks to do it with. For
        "move" these are pairs of a chunk of the tensor and one of the array. What is in one step may be done at the same time.
        """
    @property
    def untouched(self) -> list[int]:
        """The chunks of the tensor that take no element: no step has them."""
    @property
    def rounds(self) -> int:
        """In how many rounds chunks of the tensor are in memory together."""
    @property
    def reads(self) -> int:
        """How many times a chunk of the array is read."""
    @property
    def read_bytes(self) -> int:
        """How many bytes they have together."""
    @property
    def peak_bytes(self) -> int:
        """The most bytes of chunks that are in memory at the same time."""

def chain_over(text: str, shape: _Numbers) -> ShapeTracker[int]:
    """The tracker over the elements of an array that a text means: a chain with a start of its own, or one whose array, with any
    name or none, stands for this one, of which only the shape is given. What copies in it moves nothing more: the tracker reads
    the elements of the array whatever is copied.
    """
def choose_chunks(
    tracker: ShapeTracker[int],
    input: Iterable[_Numbers],
    target: SupportsIndex,
    most: SupportsIndex,
    given: Sequence[Sequence[int] | None],
    regular: bool,
) -> tuple[tuple[int, ...], ...]:
    """For each axis of a tracker's tensor the sizes of its chunks, chosen so that chunks have about `target` elements and come
    from few chunks of the array, which is cut as `input`. All along an axis have one size, but for the last, if they are to be
    `regular`. They may have `most` elements where windows would have to be cut otherwise. `given` has an entry for each axis: the
    sizes of its chunks, or None where they are to be chosen.
    """
def cut(
    tracker: ShapeTracker[int], shape: _Numbers, box: Iterable[_Pair], place: Iterable[_Pair], chunk: Any
) -> Any:
    """The elements that the part of a tracker's tensor in a box takes from the chunk of an array in another box, one after the other,
    for `Assembly.put`: an array of NumPy's with one axis.
    """

class NoLayout(ValueError):
    """What is asked for does not exist, or is not known to. `explained` is the answer with its evidence, an Explained."""
    explained: Explained

@final
class Explained:
    """The answer to a question for a layout, true where there is one; or to one about a layout, true where it is so."""
    @property
    def layout(self) -> Any:
        """What was asked for, a Layout, a ComposedLayout or a LinearLayout, or the layout that was asked about; None where the answer is
        no.
        """
    @property
    def offset(self) -> int | None:
        """What must be added to the layout's values, where the question has such an answer; else None."""
    @property
    def is_longest(self) -> bool | None:
        """Of a right inverse, whether it is proved that none is longer; else None."""
    @property
    def kind(self) -> str | None:
        """What kind of reason there is, such as "length" or "interact"; None where the answer is yes."""
    @property
    def reason(self) -> str | None:
        """The reason why there is none, as a sentence; None where the answer is yes."""
    @property
    def coordinate(self) -> Any:
        """The coordinate that shows it, or the two of them, where the evidence is one; else None."""
    @property
    def witness(self) -> dict[str, Any]:
        """The numbers of the evidence, by name."""
    def __bool__(self) -> bool: ...

@final
class Layout:
    """A layout of CuTe: nested sizes, and a stride for each of them.

    Takes a shape and strides in the same parentheses, whole numbers in nested tuples, or a text as CuTe prints it. Without strides
    the leftmost mode is the fastest. As a function it takes a number, which is taken apart with the leftmost mode fastest, or a
    coordinate with an entry for each mode.
    """
    def __new__(cls, shape: _IntTuple | str, stride: _IntTuple | None = None) -> Layout: ...
    @staticmethod
    def row_major(shape: _IntTuple) -> Layout:
        """The layout of a shape whose rightmost mode is the fastest."""
    @staticmethod
    def concat(*modes: Layout | str) -> Layout:
        """A layout whose modes are these layouts."""
    @overload
    @staticmethod
    def from_view(
        view: View[int] | ShapeTracker[int], order: str = "row_major", explain: Literal[False] = False
    ) -> tuple[Layout, int]:
        """The layout of a view or a tracker, and what must be added to its values; raises NoLayout where there is none. In the order
        "row_major" number x is element x in row-major order, the first mode the last axis; in "column_major" mode k is axis k.
        """
    @overload
    @staticmethod
    def from_view(view: View[int] | ShapeTracker[int], order: str = "row_major", *, explain: Literal[True]) -> Explained: ...
    @property
    def shape(self) -> Any:
        """The sizes, in nested tuples."""
    @property
    def stride(self) -> Any:
        """The strides, in the parentheses of the shape."""
    @property
    def rank(self) -> int:
        """The number of modes of the outermost tuple; 1 for a layout such as `4:1`."""
    @property
    def depth(self) -> int:
        """How many tuples are inside each other."""
    def size(self) -> int:
        """The number of coordinates."""
    def cosize(self) -> int:
        """One more than the largest value; 0 for a layout without coordinates."""
    def __call__(self, *coordinate: _IntTuple) -> int: ...
    def coordinate(self, x: SupportsIndex) -> Any:
        """A number as a coordinate in the parentheses of the shape."""
    def __len__(self) -> int: ...
    def __getitem__(self, mode: SupportsIndex, /) -> Layout: ...
    def flatten(self) -> Layout:
        """The same modes without parentheses inside each other."""
    def coalesce(self, profile: _IntTuple | None = None) -> Layout:
        """The layout of fewest modes that is the same function; with a profile each of its modes by itself."""
    def filter(self) -> Layout:
        """The coalesced layout without the modes of stride 0."""
    @overload
    def compose(self, other: _Tiler, strict: bool = False, explain: Literal[False] = False) -> Layout:
        """The layout that does what another one and then this one do; or item by item, for a tuple of layouts and sizes."""
    @overload
    def compose(self, other: _Tiler, strict: bool = False, *, explain: Literal[True]) -> Explained: ...
    @overload
    def compose(self, other: _Tiler, strict: bool = False, explain: bool = False) -> Layout | Explained: ...
    @overload
    def complement(self, cotarget: SupportsIndex = 1, explain: Literal[False] = False) -> Layout:
        """The layout whose values, added to those of this one, are 0..n, each once, where n is at least the cotarget."""
    @overload
    def complement(self, cotarget: SupportsIndex = 1, *, explain: Literal[True]) -> Explained: ...
    @overload
    def complement(self, cotarget: SupportsIndex = 1, explain: bool = False) -> Layout | Explained: ...
    @overload
    def logical_divide(self, tiler: _Tiler, explain: Literal[False] = False) -> Layout:
        """The layout in two parts, the tile and the rest; mode by mode for a tuple."""
    @overload
    def logical_divide(self, tiler: _Tiler, explain: Literal[True]) -> Explained: ...
    @overload
    def logical_divide(self, tiler: _Tiler, explain: bool = False) -> Layout | Explained: ...
    @overload
    def zipped_divide(self, tiler: _Tiler, explain: Literal[False] = False) -> Layout:
        """The tiles of all modes first, and the rests second."""
    @overload
    def zipped_divide(self, tiler: _Tiler, explain: Literal[True]) -> Explained: ...
    @overload
    def zipped_divide(self, tiler: _Tiler, explain: bool = False) -> Layout | Explained: ...
    @overload
    def tiled_divide(self, tiler: _Tiler, explain: Literal[False] = False) -> Layout:
        """The tiles of all modes first, and then each rest as a mode of its own."""
    @overload
    def tiled_divide(self, tiler: _Tiler, explain: Literal[True]) -> Explained: ...
    @overload
    def tiled_divide(self, tiler: _Tiler, explain: bool = False) -> Layout | Explained: ...
    @overload
    def flat_divide(self, tiler: _Tiler, explain: Literal[False] = False) -> Layout:
        """Each tile and each rest as a mode of its own."""
    @overload
    def flat_divide(self, tiler: _Tiler, explain: Literal[True]) -> Explained: ...
    @overload
    def flat_divide(self, tiler: _Tiler, explain: bool = False) -> Layout | Explained: ...
    @overload
    def logical_product(self, tiler: _Tiler, explain: Literal[False] = False) -> Layout:
        """The layout and its repeats; mode by mode for a tuple."""
    @overload
    def logical_product(self, tiler: _Tiler, explain: Literal[True]) -> Explained: ...
    @overload
    def logical_product(self, tiler: _Tiler, explain: bool = False) -> Layout | Explained: ...
    @overload
    def zipped_product(self, tiler: _Tiler, explain: Literal[False] = False) -> Layout:
        """The layouts of all modes first, and the repeats second."""
    @overload
    def zipped_product(self, tiler: _Tiler, explain: Literal[True]) -> Explained: ...
    @overload
    def zipped_product(self, tiler: _Tiler, explain: bool = False) -> Layout | Explained: ...
    @overload
    def tiled_product(self, tiler: _Tiler, explain: Literal[False] = False) -> Layout:
        """The layouts of all modes first, and then each repeat as a mode of its own."""
    @overload
    def tiled_product(self, tiler: _Tiler, explain: Literal[True]) -> Explained: ...
    @overload
    def tiled_product(self, tiler: _Tiler, explain: bool = False) -> Layout | Explained: ...
    @overload
    def flat_product(self, tiler: _Tiler, explain: Literal[False] = False) -> Layout:
        """Each layout and each repeat as a mode of its own."""
    @overload
    def flat_product(self, tiler: _Tiler, explain: Literal[True]) -> Explained: ...
    @overload
    def flat_product(self, tiler: _Tiler, explain: bool = False) -> Layout | Explained: ...
    @overload
    def blocked_product(self, grid: Layout | str, explain: Literal[False] = False) -> Layout:
        """This block repeated along a grid: along each mode the block, then its repeats."""
    @overload
    def blocked_product(self, grid: Layout | str, explain: Literal[True]) -> Explained: ...
    @overload
    def blocked_product(self, grid: Layout | str, explain: bool = False) -> Layout | Explained: ...
    @overload
    def raked_product(self, grid: Layout | str, explain: Literal[False] = False) -> Layout:
        """This block repeated along a grid: along each mode the repeats, then the block."""
    @overload
    def raked_product(self, grid: Layout | str, explain: Literal[True]) -> Explained: ...
    @overload
    def raked_product(self, grid: Layout | str, explain: bool = False) -> Layout | Explained: ...
    @overload
    def right_inverse(self, explain: Literal[False] = False) -> Layout:
        """A layout R with self(R(i)) = i, for as many numbers as are found; `explain` says whether that is proved to be the longest."""
    @overload
    def right_inverse(self, explain: Literal[True]) -> Explained: ...
    @overload
    def right_inverse(self, explain: bool = False) -> Layout | Explained: ...
    @overload
    def left_inverse(self, explain: Literal[False] = False) -> Layout:
        """A layout L with L(self(x)) = x for all numbers x."""
    @overload
    def left_inverse(self, explain: Literal[True]) -> Explained: ...
    @overload
    def left_inverse(self, explain: bool = False) -> Layout | Explained: ...
    def difference(self, other: Layout | str) -> int | None:
        """The first number at which another layout is not the same function; None where it is."""
    def collision(self) -> tuple[int, int] | None:
        """Two numbers with the same value; None where no two have it."""
    @overload
    def is_injective(self, explain: Literal[False] = False) -> bool:
        """Whether no two numbers have the same value; with `explain` an Explained, which has two numbers that do where the answer is no."""
    @overload
    def is_injective(self, explain: Literal[True]) -> Explained: ...
    @overload
    def is_injective(self, explain: bool = False) -> bool | Explained: ...
    @overload
    def is_bijective(self, explain: Literal[False] = False) -> bool:
        """Whether the values are 0..size, each once; with `explain` an Explained, which has the reason where the answer is no: a
        coordinate with a negative value, two with the same value, or a value that none has.
        """
    @overload
    def is_bijective(self, explain: Literal[True]) -> Explained: ...
    @overload
    def is_bijective(self, explain: bool = False) -> bool | Explained: ...
    @overload
    def to_linear(self, names: Sequence[str], output: str = "offset", explain: Literal[False] = False) -> LinearLayout:
        """The layout as a linear map of bits: an input for each mode, by the names given, and one output."""
    @overload
    def to_linear(self, names: Sequence[str], output: str = "offset", *, explain: Literal[True]) -> Explained: ...
    def to_view(self, order: str = "row_major", offset: SupportsIndex = 0) -> View[int]:
        """The view with an axis for each size of the layout, in the order that `from_view` reads."""
    def to_tracker(self, order: str = "row_major", offset: SupportsIndex = 0) -> ShapeTracker[int]:
        """The tracker with an axis for each mode of the outermost tuple."""
    def index_expr(self) -> IndexExpr:
        """The cheapest expression that we know how to find for the value at a coordinate, with a variable idx0, idx1, .. for each mode
        of the outermost tuple; `index_expr().code("cuda")` is code, in nine languages.
        """
    @property
    def static_text(self) -> str:
        """`((_2,_2),_4):((_1,_8),_2)`, as CuTe's C++ prints layouts whose numbers are part of the type."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Swizzle:
    """CuTe's swizzle: bits of an address combined with others by exclusive or. As a function it takes an address."""
    def __new__(cls, bits: SupportsIndex, base: SupportsIndex, shift: SupportsIndex) -> Swizzle: ...
    @property
    def bits(self) -> int:
        """How many bits are combined."""
    @property
    def base(self) -> int:
        """How many low bits stay as they are."""
    @property
    def shift(self) -> int:
        """How far apart the bits are that are combined."""
    def __call__(self, address: SupportsIndex) -> int: ...
    @overload
    def compose(self, other: _Tiler, strict: bool = False, explain: Literal[False] = False) -> ComposedLayout:
        """The swizzled layout: of a layout or a size, none of whose values is negative. A swizzle takes every address, so that `strict`
        has nothing to refuse; and it has no modes that a tuple could be about.
        """
    @overload
    def compose(self, other: _Tiler, strict: bool = False, *, explain: Literal[True]) -> Explained: ...
    @overload
    def compose(self, other: _Tiler, strict: bool = False, explain: bool = False) -> ComposedLayout | Explained: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class ComposedLayout:
    """A layout whose values have an offset added to them, and are swizzled then. Takes the three, or a text such as
    `Sw<3,3,3> o 0 o (8,8):(8,1)`. As a function it takes what a layout takes.
    """
    def __new__(
        cls, swizzle: Swizzle | str, offset: SupportsIndex = 0, layout: Layout | str | None = None
    ) -> ComposedLayout: ...
    @property
    def swizzle(self) -> Swizzle:
        """The swizzle."""
    @property
    def offset(self) -> int:
        """What is added to the values of the layout before they are swizzled."""
    @property
    def layout(self) -> Layout:
        """The layout."""
    def size(self) -> int:
        """The number of coordinates."""
    def __call__(self, *coordinate: _IntTuple) -> int: ...
    @overload
    def compose(self, other: _Tiler, strict: bool = False, explain: Literal[False] = False) -> ComposedLayout:
        """The same addresses at the values of another layout; or mode by mode, for a tuple of layouts and sizes."""
    @overload
    def compose(self, other: _Tiler, strict: bool = False, *, explain: Literal[True]) -> Explained: ...
    @overload
    def compose(self, other: _Tiler, strict: bool = False, explain: bool = False) -> ComposedLayout | Explained: ...
    def index_expr(self) -> IndexExpr:
        """`Layout.index_expr` with the swizzle as an exclusive or."""
    @overload
    def plain(self, explain: Literal[False] = False) -> tuple[Layout, int]:
        """The layout without a swizzle that has the same addresses, and what must be added to its values."""
    @overload
    def plain(self, explain: Literal[True]) -> Explained: ...
    @overload
    def to_linear(self, names: Sequence[str], output: str = "offset", explain: Literal[False] = False) -> LinearLayout:
        """`Layout.to_linear` of a layout under a swizzle."""
    @overload
    def to_linear(self, names: Sequence[str], output: str = "offset", *, explain: Literal[True]) -> Explained: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class LinearLayout:
    """A map of bits to bits that is linear over exclusive or, as Triton has them.

    Takes the inputs, a dict of names and the basis vectors of their bits, the lowest bit first, and the outputs, a dict of names and
    sizes; or a text as Triton prints it.
    """
    def __new__(
        cls, inputs: dict[str, Sequence[Sequence[int]]] | str, outputs: dict[str, int] | None = None
    ) -> LinearLayout: ...
    @property
    def inputs(self) -> dict[str, list[list[int]]]:
        """The basis vectors of the bits of each input, the lowest bit first, by name."""
    @property
    def outputs(self) -> dict[str, int]:
        """The size of each output, by name."""
    def __call__(self, *inputs: SupportsIndex) -> tuple[int, ...]: ...
    @overload
    def to_layout(self, order: str = "row_major", explain: Literal[False] = False) -> ComposedLayout:
        """The layout, swizzled where it must be, whose modes are the inputs and whose addresses are the outputs, numbered in an order."""
    @overload
    def to_layout(self, order: str = "row_major", *, explain: Literal[True]) -> Explained: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class AccessPattern:
    """Which addresses threads read or write: the first mode of a layout takes the thread, the others its values.

    Takes the layout, swizzled or not, the bytes of an element, and how many values a thread moves with one instruction; without that
    as many as it can. Addresses count elements from a base that is aligned to 128 bytes.
    """
    def __new__(
        cls, layout: Layout | ComposedLayout | str, element_bytes: SupportsIndex, vector: SupportsIndex | None = None
    ) -> AccessPattern: ...
    @staticmethod
    def conflict_free_swizzle(*patterns: AccessPattern) -> Swizzle | None:
        """The swizzle with which none of the patterns has a bank conflict in any warp; None where there is none in the family that is
        searched.
        """
    @property
    def layout(self) -> ComposedLayout:
        """The addresses of threads and values."""
    @property
    def threads(self) -> int:
        """The number of threads."""
    @property
    def values(self) -> int:
        """The number of values of each thread."""
    @property
    def element_bytes(self) -> int:
        """The bytes of an element."""
    @property
    def vector(self) -> int:
        """How many values a thread moves with one instruction."""
    def widest_vector(self) -> int:
        """The most values of a thread that one instruction may move."""
    def bank_conflicts(self) -> Census:
        """The degrees of the bank conflicts of all instructions of all warps: 1 is free of conflicts, 32 the worst."""
    def sectors(self) -> Census:
        """How many sectors of 32 bytes of global memory the instructions of all warps touch."""
    def instruction(self, warp: SupportsIndex = 0, value: SupportsIndex = 0) -> Instruction:
        """What the lanes of a warp access with one instruction, which moves their values from `value` on, as many as a vector has."""
    def address(self, thread: SupportsIndex, value: SupportsIndex) -> int:
        """The address of a value of a thread, in elements."""
    def word(self, thread: SupportsIndex, value: SupportsIndex) -> int:
        """The word of 4 bytes in which a value of a thread begins; word w is in bank w modulo 32."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Census:
    """What instructions of warps cost, counted over all warps and all values."""
    @property
    def most(self) -> int:
        """The largest cost of an instruction."""
    @property
    def warp(self) -> int:
        """A warp that has it."""
    @property
    def value(self) -> int:
        """The number of the first value that the instruction moves."""
    @property
    def counts(self) -> dict[int, int]:
        """How many instructions have each cost."""
    @property
    def total(self) -> int:
        """The costs of all instructions together."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class AccessReport:
    """What all accesses to one tile cost, and the swizzle that leaves no bank conflict where there are some. Takes an AccessPattern for
    each access: what writes the tile and what reads it.
    """
    def __new__(cls, *patterns: AccessPattern) -> AccessReport: ...
    @property
    def accesses(self) -> tuple[Access, ...]:
        """Each access by itself."""
    @property
    def swizzle(self) -> Swizzle | None:
        """The swizzle with which no access has a bank conflict; None where none is needed, or none was found."""
    @property
    def no_swizzle(self) -> Explained | None:
        """Why there is no swizzle: an Explained of kind "no_conflict", "swizzled", "negative", "unremoved" or "undecided"; None where
        there is one.
        """
    @property
    def elements(self) -> tuple[int, int] | None:
        """How many elements of shared memory the tile needs, without the swizzle and with it, which may move addresses past the
        largest one; None where there is no swizzle.
        """
    @property
    def worst(self) -> int:
        """The largest degree of a bank conflict; 1 where there is none, and 0 without any access."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Access:
    """What one access costs."""
    @property
    def pattern(self) -> AccessPattern:
        """The access."""
    @property
    def widest(self) -> int:
        """The most values that one instruction could move."""
    @property
    def banks(self) -> Census:
        """The degrees of the bank conflicts of all instructions of all warps."""
    @property
    def sectors(self) -> Census:
        """How many sectors of 32 bytes of global memory the instructions of all warps touch."""
    @property
    def swizzled(self) -> ComposedLayout | None:
        """The addresses under the swizzle of the report; None where it has none."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Instruction:
    """One instruction of one warp, as shared memory serves it."""
    @property
    def phases(self) -> tuple[Phase, ...]:
        """What is served together: all lanes, or those of 8 or 16 bytes in groups of 16 or 8."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Phase:
    """The lanes that are served together."""
    @staticmethod
    def bank(word: SupportsIndex) -> int:
        """The bank that a word of 4 bytes is in."""
    @property
    def lanes(self) -> dict[int, int]:
        """The threads, and the byte at which each begins."""
    @property
    def words(self) -> dict[int, tuple[int, ...]]:
        """The words that are accessed, in ascending order, and by which threads."""
    @property
    def banks(self) -> dict[int, tuple[int, ...]]:
        """The banks that are asked for words, in ascending order, and for which: the bank with the most words makes the degree."""
    @property
    def degree(self) -> int:
        """The degree of the bank conflict: the largest number of words in one bank. 1 is free of conflicts."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Mismatch:
    """The first number at which a layout is not the composition of two others; `str` writes it as a sentence."""
    @property
    def coordinate(self) -> int:
        """The number."""
    @property
    def expected(self) -> int | None:
        """The value of the composition there; None where it has ended."""
    @property
    def found(self) -> int | None:
        """The value of the claimed layout there; None where it has ended."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def audit(a: Layout | str, b: Layout | str, claimed: Layout | str) -> Mismatch | None:
    """The first number at which a layout, such as another tool printed it, is not the composition of two others; None where it is the
    composition, value by value.
    """
