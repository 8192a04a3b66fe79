"""What the tests compare with: NumPy does the operations on an array of addresses. Nothing here asks shapetracker."""

import gzip
import json
import os
import random
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

CORPUS = Path(__file__).parents[2] / "shapetracker" / "tests" / "corpus"
"""The layouts recorded from real models, which the library's own tests read, too."""

MASKED = -1


def corpus(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt") as lines:
        for line in lines:
            yield json.loads(line)


def cases(usual: int) -> int:
    """How many cases to try: SHAPETRACKER_CASES multiplies the usual number."""
    return max(1, round(usual * float(os.environ.get("SHAPETRACKER_CASES", "1"))))


def is_held(number: int) -> bool:
    """Whether a case of a long list, counted from 0, is tried: one of so many, where there are fewer cases."""
    return number % max(1, round(1 / float(os.environ.get("SHAPETRACKER_CASES", "1")))) == 0


def factorings(number: int, axes: int = 3) -> list[tuple[int, ...]]:
    """All ways to write a number as a product of up to so many factors from 2 on, in each order."""
    found: list[tuple[int, ...]] = [(number,)]
    if axes > 1:
        for factor in range(2, number):
            if number % factor == 0:
                found += [(factor, *rest) for rest in factorings(number // factor, axes - 1)]
    return found


def addresses(shape: tuple[int, ...]) -> np.ndarray:
    """The addresses of a contiguous tensor."""
    return np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64).reshape(shape)


def moved(array: np.ndarray, name: str, argument: Any) -> np.ndarray:
    """One movement operation, done by NumPy on the addresses."""
    match name:
        case "reshape":
            return array.reshape(argument)
        case "permute":
            return array.transpose(argument)
        case "expand":
            return np.broadcast_to(array, argument)
        case "pad":
            return np.pad(array, argument, constant_values=MASKED) if array.ndim else array
        case "shrink":
            return array[tuple(slice(begin, end) for begin, end in argument)]
        case "flip":
            return np.flip(array, tuple(axis for axis, flipped in enumerate(argument) if flipped))
        case "step":
            return array[tuple(slice(None, None, step) for step in argument)]
    raise AssertionError(name)


def crc32(array: np.ndarray) -> str:
    return f"{zlib.crc32(np.ascontiguousarray(array, dtype='<i8').tobytes()):08x}"


def of_views(views: list[dict[str, Any]]) -> np.ndarray:
    """The addresses that a stack of views reads, the first view next to memory: by the definition, index by index."""
    positions: np.ndarray | None = None
    for view in reversed(views):
        shape = tuple(view["shape"])
        if positions is None:
            positions = addresses(shape)
        masked = positions == MASKED
        index = np.unravel_index(np.where(masked, 0, positions), shape) if positions.size else ()
        result = np.full(positions.shape, view["offset"], dtype=np.int64)
        for axis, (entry, stride) in enumerate(zip(index, view["strides"])):
            result += entry * stride
            if view["mask"] is not None:
                begin, end = view["mask"][axis]
                masked = masked | (entry < begin) | (entry >= end)
        positions = np.where(masked, MASKED, result)
    assert positions is not None
    return positions


def random_step(rng: random.Random, shape: tuple[int, ...], largest: int = 3000) -> tuple[str, Any]:
    """A movement operation that a tensor of this shape allows."""
    rank = len(shape)
    numel = int(np.prod(shape, dtype=np.int64))
    match rng.choice(["reshape", "reshape", "permute", "expand", "pad", "shrink", "flip", "step"]):
        case "permute":
            return "permute", tuple(rng.sample(range(rank), rank))
        case "expand":
            sizes = tuple(rng.choice([1, 2, 3]) if size == 1 else size for size in shape)
            return "expand", sizes if np.prod(sizes, dtype=np.int64) <= largest else shape
        case "pad":
            pads = tuple((rng.randrange(3), rng.randrange(3)) if rng.random() < 0.5 else (0, 0) for _ in shape)
            padded = np.prod([size + a + b for size, (a, b) in zip(shape, pads)], dtype=np.int64)
            return "pad", pads if padded <= largest else ((0, 0),) * rank
        case "shrink":
            bounds = [sorted((rng.randint(0, size), rng.randint(0, size))) for size in shape]
            return "shrink", tuple((b, e) if rng.random() < 0.4 and b < e else (0, n) for (b, e), n in zip(bounds, shape))
        case "flip":
            return "flip", tuple(rng.random() < 0.4 for _ in shape)
        case "step":
            return "step", tuple(rng.choice([1, 1, 1, 2, -1, -2, 3]) for _ in shape)
        case _:
            return "reshape", random_shape(rng, numel)


def random_shape(rng: random.Random, numel: int) -> tuple[int, ...]:
    """A shape with so many elements."""
    shape = [numel]
    for _ in range(rng.randrange(4)):
        place = rng.randrange(len(shape))
        factors = [d for d in range(1, min(shape[place], 64) + 1) if shape[place] % d == 0] or [1]
        factor = rng.choice(factors)
        shape[place : place + 1] = [factor, shape[place] // factor]
    return tuple(shape)
