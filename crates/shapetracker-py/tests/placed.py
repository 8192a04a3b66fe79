"""What the devices of a mesh hold, written out from the definitions: every placement cuts lists of indices."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from shapetracker.sharding import Placement

Shape = tuple[int, ...]
Words = tuple[Placement, ...]
Contents = tuple[Shape, ...]


def part(indices: list[int], parts: int, at: int) -> list[int]:
    """Part number `at` of a list that is cut by ceiling division."""
    each = -(-len(indices) // parts)
    return indices[at * each : (at + 1) * each]


def held(shape: Shape, mesh: Shape, words: Words, order: Iterable[int] | None = None) -> Contents:
    """The positions that each device holds; the placements apply in the order of the mesh, or in another."""
    contents = []
    steps = list(range(len(mesh)) if order is None else order)
    for device in itertools.product(*map(range, mesh)):
        axes = [list(range(size)) for size in shape]
        for at in steps:
            word = words[at]
            if word.axis is not None:
                mine = axes[word.axis]
                pieces = [part(part(mine, word.pieces, p), mesh[at], device[at]) for p in range(word.pieces)]
                axes[word.axis] = [index for piece in pieces for index in piece]
        positions = [0]
        for size, axis in zip(shape, axes):
            positions = [outer * size + index for outer in positions for index in axis]
        contents.append(tuple(positions))
    return tuple(contents)
