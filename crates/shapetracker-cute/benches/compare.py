"""Counts compositions that exist and do not, as tensor-layouts answers and as this crate does, on the same random pairs.

    pip install tensor-layouts==0.3.2
    cargo bench -p shapetracker-cute -- pairs 26000 | python crates/shapetracker-cute/benches/compare.py

The truth is worked out here, from the definition: every number of the second layout may become a tuple with the same product.
"""

import sys
from collections import Counter
from functools import lru_cache

import tensor_layouts


def flat(shape):
    return [shape] if isinstance(shape, int) else [leaf for item in shape for leaf in flat(item)]


def read(text):
    """A layout as (shape, stride), where `(4)` is a tuple."""
    return [eval(part.replace(")", ",)").replace("(,)", "()").replace(",,", ",")) for part in text.split(":")]


def extended(layout, x):
    """The value at a number, the last mode unbounded."""
    sizes, strides = flat(layout[0]), flat(layout[1])
    value = 0
    for k, (size, stride) in enumerate(zip(sizes, strides)):
        entry = x if k == len(sizes) - 1 else x % size
        value += entry * stride
        x //= size
    return value


def values(layout):
    result = [0]
    for size, stride in zip(flat(layout[0]), flat(layout[1])):
        result = [value + i * stride for i in range(size) for value in result]
    return result


@lru_cache(None)
def factorizations(size):
    if size == 1:
        return [()]
    return [(d, *rest) for d in range(2, size + 1) if size % d == 0 for rest in factorizations(size // d)]


def is_layout(line):
    def fits(sizes):
        for x, value in enumerate(line):
            rest, weight = x, 1
            for size in sizes:
                value -= rest % size * line[weight]
                rest //= size
                weight *= size
            if value:
                return False
        return True

    return any(map(fits, factorizations(len(line))))


def exists(a, b):
    sums = [0]
    for size, stride in zip(flat(b[0]), flat(b[1])):
        line = [extended(a, i * stride) for i in range(size)]
        if not is_layout(line):
            return False
        sums = [value + other for value in line for other in sums]
    return sums == [extended(a, x) for x in values(b)]


def refines(shape, other):
    if isinstance(other, int):
        size = 1
        for leaf in flat(shape):
            size *= leaf
        return size == other
    return isinstance(shape, tuple) and len(shape) == len(other) and all(map(refines, shape, other))


def verdict(a, b, there, answer):
    """What an answer is: nothing where it is refused."""
    if answer is None:
        return "refused" if there else "right"
    right = refines(answer[0], b[0]) and values(answer) == [extended(a, x) for x in values(b)]
    return "right" if right and there else "wrong"


def theirs(a, b):
    try:
        answer = tensor_layouts.compose(tensor_layouts.Layout(*a), tensor_layouts.Layout(*b))
        return answer.shape, answer.stride
    except Exception:  # Each of its refusals is an exception, of several kinds.
        return None


def main():
    counts = Counter()
    for line in sys.stdin:
        if line.count("\t") != 2:
            continue
        a, b, ours = line.rstrip("\n").split("\t")
        a, b = read(a), read(b)
        there = exists(a, b)
        size = 1
        for leaf in flat(a[0]):
            size *= leaf
        kind = ("past the end" if max(values(b)) >= size else "in range", "exists" if there else "none")
        counts[kind, "pairs"] += 1
        if ours == "undecided":
            counts[kind, "ours: undecided"] += 1
        else:
            counts[kind, "ours: " + verdict(a, b, there, None if ours == "none" else read(ours))] += 1
        counts[kind, "tensor-layouts: " + verdict(a, b, there, theirs(a, b))] += 1
    columns = ["pairs"] + [f"{who}: {what}" for who in ("ours", "tensor-layouts") for what in ("right", "refused", "wrong")]
    columns.insert(4, "ours: undecided")
    kinds = sorted({kind for kind, _ in counts})
    for column in columns:
        row = [counts[kind, column] for kind in kinds]
        print(f"{column:<24}" + "".join(f"{count:>22}" for count in row) + f"{sum(row):>12}")
    print(" " * 24 + "".join(f"{', '.join(kind):>22}" for kind in kinds) + f"{'all':>12}")


main()
