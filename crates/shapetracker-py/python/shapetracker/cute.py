"""Layouts of GPU kernels: CuTe's algebra with the reference's names, decided exactly, and with a reason for every no.

    >>> from shapetracker.cute import Layout, composition, logical_divide
    >>> composition(Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1)))
    Layout(((2, 2), 3), ((24, 2), 8))
    >>> print(logical_divide(Layout((4, 2, 3), (2, 1, 8)), Layout(4, 2)))
    ((2,2),(2,3)):((4,1),(2,8))
    >>> print(composition(Layout((4, 6, 8), (2, 3, 5)), Layout(6, 3), explain=True).witness)
    {'leaf': 0, 'unit': 2, 'run': 2, 'left': 3, 'coordinate': 4, 'value': 9, 'expected': 14}

Where a layout is taken, its text as CuTe prints it will do as well: `"((2,2),4):((1,8),2)"`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index as _index
from typing import Any, Literal, SupportsIndex, TypeAlias, TypeGuard, Union, overload

from ._native import (
    Access,
    AccessPattern,
    AccessReport,
    Census,
    ComposedLayout,
    Explained,
    Instruction,
    Layout,
    LinearLayout,
    Mismatch,
    NoLayout,
    Phase,
    Swizzle,
    audit,
)

_IntTuple: TypeAlias = Union[SupportsIndex, Sequence["_IntTuple"]]
_Layout: TypeAlias = Layout | str
_Tiler: TypeAlias = Union[Layout, str, SupportsIndex, Sequence["_Tiler"]]
_Slice: TypeAlias = Union[None, SupportsIndex, Sequence["_Slice"]]
_Kept: TypeAlias = Union[None, Layout, str, SupportsIndex, Sequence["_Kept"]]

__all__ = [
    "Access",
    "AccessPattern",
    "AccessReport",
    "Census",
    "ComposedLayout",
    "Explained",
    "Instruction",
    "Layout",
    "LinearLayout",
    "Mismatch",
    "NoLayout",
    "Phase",
    "Swizzle",
    "audit",
    "blocked_product",
    "coalesce",
    "complement",
    "composition",
    "cosize",
    "crd2crd",
    "crd2idx",
    "depth",
    "filter",
    "flat_divide",
    "flat_product",
    "flatten",
    "hier_unzip",
    "idx2crd",
    "is_layout",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_layout",
    "raked_product",
    "rank",
    "right_inverse",
    "shape",
    "size",
    "slice_",
    "slice_and_offset",
    "stride",
    "tiled_divide",
    "tiled_product",
    "zipped_divide",
    "zipped_product",
]


def _layout(layout: _Layout) -> Layout:
    return layout if isinstance(layout, Layout) else Layout(layout)


def _modes(layout: Layout) -> list[Layout]:
    return [layout[mode] for mode in range(layout.rank)]


def is_layout(value: object) -> TypeGuard[Layout | ComposedLayout]:
    """Whether something is a layout, with a swizzle or without. A text is not, although functions take it for one.

    >>> is_layout(Layout(4, 1)), is_layout(composition(Swizzle(1, 0, 1), Layout(4, 1)))
    (True, True)
    >>> is_layout("4:1"), is_layout(Swizzle(1, 0, 1)), is_layout((4, 1))
    (False, False, False)
    """
    return isinstance(value, (Layout, ComposedLayout))


def make_layout(*parts: Any, stride: _IntTuple | None = None) -> Layout:
    """A layout of a shape and strides, or one whose modes are the layouts given.

    >>> make_layout((2, (3, 4)))
    Layout((2, (3, 4)), (1, (2, 6)))
    >>> make_layout((4, 8), stride=(8, 1))
    Layout((4, 8), (8, 1))
    >>> make_layout(Layout(4, 2), Layout((2, 2), (1, 8)))
    Layout((4, (2, 2)), (2, (1, 8)))
    """
    if stride is None and parts and all(isinstance(part, Layout) for part in parts):
        return Layout.concat(*parts)
    if len(parts) == 2 and stride is None:
        return Layout(parts[0], parts[1])
    if len(parts) != 1:
        raise TypeError(f"make_layout: takes a shape and strides, or layouts, not {len(parts)} values")
    return Layout(parts[0], stride)


def size(layout: _Layout | ComposedLayout) -> int:
    """The number of coordinates."""
    return layout.size() if isinstance(layout, ComposedLayout) else _layout(layout).size()


def cosize(layout: _Layout) -> int:
    """One more than the largest value; 0 for a layout without coordinates."""
    return _layout(layout).cosize()


def rank(layout: _Layout) -> int:
    """The number of modes of the outermost tuple; 1 for a layout such as `4:1`."""
    return _layout(layout).rank


def depth(layout: _Layout) -> int:
    """How many tuples are inside each other."""
    return _layout(layout).depth


def shape(layout: _Layout) -> Any:
    """The sizes, in nested tuples."""
    return _layout(layout).shape


def stride(layout: _Layout) -> Any:
    """The strides, in the parentheses of the shape."""
    return _layout(layout).stride


def crd2idx(coordinate: _IntTuple, layout: _Layout | ComposedLayout) -> int:
    """The value of a layout at a coordinate, or at a number.

    >>> crd2idx(((0, 1), 3), "((2,2),4):((1,8),2)")
    14
    """
    return layout(coordinate) if isinstance(layout, ComposedLayout) else _layout(layout)(coordinate)


def idx2crd(number: SupportsIndex, shape: _IntTuple) -> Any:
    """A number as a coordinate in a shape, the leftmost mode the fastest.

    >>> idx2crd(14, ((2, 2), 4))
    ((0, 1), 3)
    """
    return Layout(shape).coordinate(number)


def crd2crd(coordinate: _IntTuple, shape: _IntTuple, source: _IntTuple | None = None) -> Any:
    """A number or a coordinate as a coordinate in another shape, the leftmost mode the fastest.

    A tuple in a shape that is a tuple is taken entry by entry. To make one number of a tuple takes `source`, the shape that the
    coordinate is from.

    >>> crd2crd(14, ((2, 2), 4))
    ((0, 1), 3)
    >>> crd2crd((2, 3), ((2, 2), 4))
    ((0, 1), 3)
    >>> crd2crd(((0, 1), 3), 16, ((2, 2), 4))
    14
    """
    given: Any = coordinate
    if not isinstance(given, (tuple, list)):
        return idx2crd(given, shape)
    if not isinstance(shape, (tuple, list)):
        if source is None:
            raise ValueError(f"crd2crd: takes the shape that {given} is from to make one number of it")
        return idx2crd(Layout(source)(given), shape)
    sources = source if isinstance(source, (tuple, list)) else [None] * len(shape)
    for other in (shape, sources):
        if len(given) != len(other):
            raise ValueError(f"crd2crd: {given} and {other} have {len(given)} and {len(other)} entries")
    return tuple(crd2crd(*each) for each in zip(given, shape, sources))


def slice_(coordinate: _Slice, target: _IntTuple) -> tuple[Any, ...]:
    """The entries of a shape, of strides or of another tuple at which a coordinate has None, side by side.

    >>> slice_((None, (1, None)), (2, (3, 4)))
    (2, 4)
    >>> slice_((1, None), (2, (3, 4)))
    ((3, 4),)
    >>> slice_((1, (0, 2)), (2, (3, 4)))
    ()
    """
    if coordinate is None:
        return (target,)
    if not isinstance(coordinate, (tuple, list)):
        return ()
    if not isinstance(target, (tuple, list)) or len(coordinate) != len(target):
        raise ValueError(f"slice_: {coordinate} and {target} have different parentheses")
    return tuple(entry for each in zip(coordinate, target) for entry in slice_(*each))


@overload
def slice_and_offset(coordinate: _Slice, layout: _Layout) -> tuple[Layout, int]: ...
@overload
def slice_and_offset(coordinate: _Slice, layout: ComposedLayout) -> tuple[ComposedLayout, int]: ...
def slice_and_offset(coordinate: _Slice, layout: _Layout | ComposedLayout) -> tuple[Layout | ComposedLayout, int]:
    """The part of a layout at a coordinate that has None for what stays free, and what must be added to its values.

    Under a swizzle, to which nothing can be added from outside, the part has it in its own offset, and 0 must be added.

    >>> slice_and_offset((None, (1, None)), Layout((2, (3, 4)), (12, (4, 1))))
    (Layout((2, 4), (12, 1)), 4)
    >>> slice_and_offset((None, 1), ComposedLayout("Sw<1,0,1> o 0 o (2,2):(1,2)"))
    (ComposedLayout(Swizzle(1, 0, 1), 2, Layout((2,), (1,))), 0)
    """
    if isinstance(layout, ComposedLayout):
        part, offset = slice_and_offset(coordinate, layout.layout)
        return ComposedLayout(layout.swizzle, layout.offset + offset, part), 0
    layout = _layout(layout)
    offset = _offset(coordinate, layout)
    return Layout(slice_(coordinate, layout.shape), slice_(coordinate, layout.stride)), offset


def _offset(coordinate: Any, layout: Layout) -> int:
    """The value of a layout at a coordinate that has None for some entries, as if these were 0."""
    if coordinate is None:
        return 0
    if not isinstance(coordinate, (tuple, list)):
        return layout(coordinate)
    if not isinstance(layout.shape, tuple) or len(coordinate) != len(layout):
        raise IndexError(f"slice_and_offset: {layout} has no coordinate {coordinate}")
    return sum(_offset(entry, mode) for entry, mode in zip(coordinate, _modes(layout)))


@overload
def flatten(layout: _Layout) -> Layout: ...
@overload
def flatten(layout: SupportsIndex | tuple[Any, ...] | list[Any]) -> tuple[int, ...]: ...
def flatten(layout: _Layout | SupportsIndex | tuple[Any, ...] | list[Any]) -> Layout | tuple[int, ...]:
    """A layout, or a tuple, without parentheses inside each other; a number as a tuple with one entry.

    >>> flatten(Layout((2, (3, 4)), (12, (4, 1))))
    Layout((2, 3, 4), (12, 4, 1))
    >>> flatten((2, (3, 4))), flatten(2)
    ((2, 3, 4), (2,))
    """
    if isinstance(layout, (Layout, str)):
        return _layout(layout).flatten()
    if isinstance(layout, (tuple, list)):
        return tuple(entry for part in layout for entry in flatten(part))
    return (_index(layout),)


def coalesce(layout: _Layout, profile: _IntTuple | None = None) -> Layout:
    """The layout of fewest modes that is the same function; with a profile, such as `(1, 1)`, each of its modes by itself."""
    return _layout(layout).coalesce(profile)


def filter(layout: _Layout) -> Layout:
    """The coalesced layout without the modes of stride 0."""
    return _layout(layout).filter()


@overload
def composition(
    a: Swizzle | ComposedLayout, b: _Tiler, *, strict: bool = False, explain: Literal[False] = False
) -> ComposedLayout: ...
@overload
def composition(
    a: _Layout, b: _Tiler, *, strict: bool = False, explain: Literal[False] = False
) -> Layout: ...
@overload
def composition(
    a: _Layout | Swizzle | ComposedLayout, b: _Tiler, *, strict: bool = False, explain: Literal[True]
) -> Explained: ...
def composition(
    a: Any, b: Any, *, strict: bool = False, explain: bool = False
) -> Layout | ComposedLayout | Explained:
    """The layout that does what `b` and then `a` do, wherever there is one; raises NoLayout with evidence where there is none.

    The last mode of `a` goes on for ever, as in CuTe, unless `strict`. `b` may be a size `n`, for `n:1`, or a tuple with a layout or a
    size for each of the first modes of `a`. `a` may be a ComposedLayout, a layout under a swizzle, or a
    Swizzle by itself, which takes every address: it has no modes that a tuple could be about, and nothing for `strict` to refuse.

    >>> composition(Swizzle(3, 0, 3), Layout((8, 8), (8, 1)))
    ComposedLayout(Swizzle(3, 0, 3), 0, Layout((8, 8), (8, 1)))
    >>> composition("(8,12):(12,1)", ("2:4", "3:1"))
    Layout((2, 3), (48, 1))
    >>> print(composition(ComposedLayout("Sw<3,0,3> o 0 o (8,8):(8,1)"), (4, "2:4")))
    Sw<3,0,3> o 0 o (4,2):(8,4)
    """
    first = a if isinstance(a, (Swizzle, ComposedLayout)) else _layout(a)
    return first.compose(b, strict=strict, explain=explain)


@overload
def complement(layout: _Layout, cotarget: SupportsIndex = 1, *, explain: Literal[False] = False) -> Layout: ...
@overload
def complement(layout: _Layout, cotarget: SupportsIndex = 1, *, explain: Literal[True]) -> Explained: ...
def complement(layout: _Layout, cotarget: SupportsIndex = 1, *, explain: bool = False) -> Layout | Explained:
    """The layout whose values, added to those of `layout`, are 0..n, each once, where n is at least the cotarget.

    >>> complement("(2,2):(1,6)", 24)
    Layout((3, 2), (2, 12))
    """
    return _layout(layout).complement(cotarget, explain=explain)


@overload
def logical_divide(layout: _Layout, tiler: _Tiler, *, explain: Literal[False] = False) -> Layout: ...
@overload
def logical_divide(layout: _Layout, tiler: _Tiler, *, explain: Literal[True]) -> Explained: ...
def logical_divide(layout: _Layout, tiler: _Tiler, *, explain: bool = False) -> Layout | Explained:
    """A layout in two parts, the tile and the rest; mode by mode for a tuple."""
    return _layout(layout).logical_divide(tiler, explain=explain)


@overload
def zipped_divide(layout: _Layout, tiler: _Tiler, *, explain: Literal[False] = False) -> Layout: ...
@overload
def zipped_divide(layout: _Layout, tiler: _Tiler, *, explain: Literal[True]) -> Explained: ...
def zipped_divide(layout: _Layout, tiler: _Tiler, *, explain: bool = False) -> Layout | Explained:
    """`logical_divide` with the tiles of all modes first, and the rests second."""
    return _layout(layout).zipped_divide(tiler, explain=explain)


@overload
def tiled_divide(layout: _Layout, tiler: _Tiler, *, explain: Literal[False] = False) -> Layout: ...
@overload
def tiled_divide(layout: _Layout, tiler: _Tiler, *, explain: Literal[True]) -> Explained: ...
def tiled_divide(layout: _Layout, tiler: _Tiler, *, explain: bool = False) -> Layout | Explained:
    """`logical_divide` with the tiles of all modes first, and then each rest as a mode of its own."""
    return _layout(layout).tiled_divide(tiler, explain=explain)


@overload
def flat_divide(layout: _Layout, tiler: _Tiler, *, explain: Literal[False] = False) -> Layout: ...
@overload
def flat_divide(layout: _Layout, tiler: _Tiler, *, explain: Literal[True]) -> Explained: ...
def flat_divide(layout: _Layout, tiler: _Tiler, *, explain: bool = False) -> Layout | Explained:
    """`logical_divide` with each tile and each rest as a mode of its own."""
    return _layout(layout).flat_divide(tiler, explain=explain)


def hier_unzip(splitter: Callable[[Any, Any], Layout], layout: _Layout, tiler: _Kept) -> Layout:
    """What `zipped_divide` and `zipped_product` do, with a function of your own, such as `logical_divide`.

    For a tuple the function is called with each of the first modes of the layout and the entry for it, and makes a layout of two
    modes; all the first ones come first, then all the second ones and the modes without an entry. None leaves its mode as it is.

    >>> hier_unzip(logical_divide, Layout((4, 8)), (2, 4)) == zipped_divide(Layout((4, 8)), (2, 4))
    True
    >>> print(hier_unzip(logical_divide, Layout((4, 8, 3)), (2, None)))
    ((2,1),(2,8,3)):((1,0),(2,4,32))
    """
    layout = _layout(layout)
    if tiler is None:
        return Layout.concat(Layout(1, 0), layout)
    if not isinstance(tiler, (tuple, list)):
        split = splitter(layout, _layout(tiler) if isinstance(tiler, str) else tiler)
        if not isinstance(split, Layout) or len(split) != 2:
            raise ValueError(f"hier_unzip: the function is to make a layout of two modes of {layout}, not {split}")
        return split
    if len(tiler) > len(layout):
        raise ValueError(f"hier_unzip: {len(tiler)} entries are given for {len(layout)} modes of {layout}")
    modes = _modes(layout)
    parts = [hier_unzip(splitter, mode, entry) for mode, entry in zip(modes, tiler)]
    rests = [part[1] for part in parts] + modes[len(parts) :]
    return Layout.concat(Layout.concat(*(part[0] for part in parts)), Layout.concat(*rests))


@overload
def logical_product(layout: _Layout, tiler: _Tiler, *, explain: Literal[False] = False) -> Layout: ...
@overload
def logical_product(layout: _Layout, tiler: _Tiler, *, explain: Literal[True]) -> Explained: ...
def logical_product(layout: _Layout, tiler: _Tiler, *, explain: bool = False) -> Layout | Explained:
    """A layout and its repeats; mode by mode for a tuple."""
    return _layout(layout).logical_product(tiler, explain=explain)


@overload
def zipped_product(layout: _Layout, tiler: _Tiler, *, explain: Literal[False] = False) -> Layout: ...
@overload
def zipped_product(layout: _Layout, tiler: _Tiler, *, explain: Literal[True]) -> Explained: ...
def zipped_product(layout: _Layout, tiler: _Tiler, *, explain: bool = False) -> Layout | Explained:
    """`logical_product` with the layouts of all modes first, and the repeats second."""
    return _layout(layout).zipped_product(tiler, explain=explain)


@overload
def tiled_product(layout: _Layout, tiler: _Tiler, *, explain: Literal[False] = False) -> Layout: ...
@overload
def tiled_product(layout: _Layout, tiler: _Tiler, *, explain: Literal[True]) -> Explained: ...
def tiled_product(layout: _Layout, tiler: _Tiler, *, explain: bool = False) -> Layout | Explained:
    """`logical_product` with the layouts of all modes first, and then each repeat as a mode of its own."""
    return _layout(layout).tiled_product(tiler, explain=explain)


@overload
def flat_product(layout: _Layout, tiler: _Tiler, *, explain: Literal[False] = False) -> Layout: ...
@overload
def flat_product(layout: _Layout, tiler: _Tiler, *, explain: Literal[True]) -> Explained: ...
def flat_product(layout: _Layout, tiler: _Tiler, *, explain: bool = False) -> Layout | Explained:
    """`logical_product` with each layout and each repeat as a mode of its own."""
    return _layout(layout).flat_product(tiler, explain=explain)


@overload
def blocked_product(layout: _Layout, grid: _Layout, *, explain: Literal[False] = False) -> Layout: ...
@overload
def blocked_product(layout: _Layout, grid: _Layout, *, explain: Literal[True]) -> Explained: ...
def blocked_product(layout: _Layout, grid: _Layout, *, explain: bool = False) -> Layout | Explained:
    """A block repeated along a grid: along each mode the block, then its repeats."""
    return _layout(layout).blocked_product(grid, explain=explain)


@overload
def raked_product(layout: _Layout, grid: _Layout, *, explain: Literal[False] = False) -> Layout: ...
@overload
def raked_product(layout: _Layout, grid: _Layout, *, explain: Literal[True]) -> Explained: ...
def raked_product(layout: _Layout, grid: _Layout, *, explain: bool = False) -> Layout | Explained:
    """A block repeated along a grid: along each mode the repeats, then the block."""
    return _layout(layout).raked_product(grid, explain=explain)


@overload
def right_inverse(layout: _Layout, *, explain: Literal[False] = False) -> Layout: ...
@overload
def right_inverse(layout: _Layout, *, explain: Literal[True]) -> Explained: ...
def right_inverse(layout: _Layout, *, explain: bool = False) -> Layout | Explained:
    """A layout R with `layout(R(i)) == i`, for as many numbers as are found; `explain` says whether that is proved to be the longest."""
    return _layout(layout).right_inverse(explain=explain)


@overload
def left_inverse(layout: _Layout, *, explain: Literal[False] = False) -> Layout: ...
@overload
def left_inverse(layout: _Layout, *, explain: Literal[True]) -> Explained: ...
def left_inverse(layout: _Layout, *, explain: bool = False) -> Layout | Explained:
    """A layout L with `L(layout(x)) == x` for all numbers x; its last mode goes on for ever."""
    return _layout(layout).left_inverse(explain=explain)
