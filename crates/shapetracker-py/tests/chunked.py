"""Arrays in chunks for tests, and what they compare with: NumPy on whole arrays. Nothing here asks shapetracker."""

import math
import random
from collections.abc import Iterator

import numpy as np

import oracle

Shape = tuple[int, ...]
Chunks = tuple[tuple[int, ...], ...]


def random_chunks(rng: random.Random, shape: Shape) -> Chunks:
    """Each axis cut at random places."""

    def cut(size: int) -> tuple[int, ...]:
        if size == 0:
            return (0,)
        places = sorted(rng.sample(range(1, size), min(size - 1, rng.choice([0, 1, 2, 4]))))
        return tuple(end - begin for begin, end in zip([0, *places], [*places, size]))

    return tuple(map(cut, shape))


def random_chain(rng: random.Random, largest: int = 600) -> tuple[Shape, list[tuple[str, object]], np.ndarray]:
    """A shape, operations on it, and the address of each element after them."""
    shape = oracle.random_shape(rng, rng.choice([1, 12, 24, 30, 60, 64, 96, 120, 210]))
    array, steps = oracle.addresses(shape), []
    for _ in range(rng.randrange(1, 6)):
        name, argument = oracle.random_step(rng, array.shape, largest)
        array = oracle.moved(array, name, argument)
        steps.append((name, argument))
    return shape, steps, array


def gathered(values: np.ndarray, addresses: np.ndarray, fill: object) -> np.ndarray:
    """The elements at row-major positions of an array, and a fill value where there is none."""
    flat = np.append(values.reshape(-1), np.array([fill], values.dtype))
    return flat[np.where(addresses == oracle.MASKED, values.size, addresses)]


def irregular(shape: Shape) -> Chunks:
    """Uneven chunks: of 1, 2, 3 .. elements as far as an axis goes, the last one with what is left."""

    def cut(size: int) -> tuple[int, ...]:
        sizes, part = [], 1
        while sum(sizes) + part < size:
            sizes.append(part)
            part += 1
        return (*sizes, size - sum(sizes))

    return tuple(map(cut, shape))


def reshapes() -> Iterator[tuple[Shape, Shape]]:
    """All reshapes between different factorings of 24, of 36, and of 48: 1,322 of them."""
    for number in (24, 36, 48):
        shapes = oracle.factorings(number)
        assert all(math.prod(shape) == number for shape in shapes)
        yield from ((before, after) for before in shapes for after in shapes if before != after)
