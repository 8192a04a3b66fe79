"""Layouts of GPU kernels: CuTe's algebra with the reference's names, decided exactly, and with a reason for every no.

    >>> from shapetracker.cute import Layout, composition, logical_divide
    >>> composition(Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1)))
    Layout(((2, 2), 3), ((24, 2), 8))
    >>> print(logical_divide(Layout((4, 2, 3), (2, 1, 8)), Layout(4, 2)))
    ((2,2),(2,3)):((4,1),(2,8))
    >>> print(composition(Layout((4, 6, 8), (2, 3, 5)), Layout(6, 3), explain=True).witness)
    {'leaf': 0, 'unit': 2, 'run': 2, 'left': 3}

Where a layout is taken, its text as CuTe prints it will do as well: `"((2,2),4):((1,8),2)"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, Union, overload

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
    "crd2idx",
    "depth",
    "filter",
    "flat_divide",
    "flat_product",
    "idx2crd",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "make_layout",
    "raked_product",
    "rank",
    "right_inverse",
    "shape",
    "size",
    "stride",
    "tiled_divide",
    "tiled_product",
    "zipped_divide",
    "zipped_product",
]


def _layout(layout: _Layout) -> Layout:
    return layout if isinstance(layout, Layout) else Layout(layout)


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
    size for each of the first modes of `a`; `strict` is not for tuples. `a` may be a ComposedLayout, a layout under a swizzle, or a
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
