"""Counts right and wrong answers of tensor-layouts and of this crate, to the same random questions.

    pip install tensor-layouts==0.3.2
    cargo bench -p shapetracker-cute -- questions 26000 | python crates/shapetracker-cute/benches/compare.py

The truth is worked out here, from the definitions, value by value. An answer is right if it is what was asked for, or if there is none
and it is refused; refused if there is one.
"""

import sys
from collections import Counter
from functools import lru_cache

import tensor_layouts
import tensor_layouts.analysis


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


def attempt(ask):
    try:
        return ask()
    except Exception:  # Each of its refusals is an exception, of several kinds.
        return None


def pair_of(layout):
    return layout.shape, layout.stride


def compose(a, b, ours):
    """Truth, what ours is worth, what theirs is worth: is there an answer, and which answers are right?"""
    b = read(b)
    there = exists(a, b)
    expected = [extended(a, x) for x in values(b)]
    right = lambda answer: refines(answer[0], b[0]) and values(answer) == expected
    size = len(values(a))
    kind = "compose, past the end" if max(values(b)) >= size else "compose, in range"
    theirs = attempt(lambda: pair_of(tensor_layouts.compose(tensor_layouts.Layout(*a), tensor_layouts.Layout(*b))))
    return kind, there, right, ours and read(ours), theirs


def tiles(a, length):
    """Whether some set, added to these numbers, is 0, 1, .. up to a length, each once: filled from 0."""
    filled = [False] * length
    for start in range(length):
        if not filled[start]:
            for value in a:
                if start + value >= length or filled[start + value]:
                    return False
                filled[start + value] = True
    return True


def complement(a, cotarget, ours):
    cotarget = int(cotarget)
    kept = [(n, d) for n, d in zip(flat(a[0]), flat(a[1])) if d != 0 and n != 1]
    kept = values((tuple(n for n, _ in kept), tuple(d for _, d in kept)))
    # What a layout with strides d and sizes n spans is n * d of one of its modes; one more cotarget than that is enough to look at.
    there = min(kept) >= 0 and any(tiles(kept, n) for n in range(cotarget, cotarget + 4 * max(kept) + 8))

    def right(answer):
        sums = sorted(x + y for x in kept for y in values(answer))
        return sums == list(range(len(sums))) and len(sums) >= cotarget

    theirs = attempt(lambda: pair_of(tensor_layouts.complement(tensor_layouts.Layout(*a), cotarget)))
    return "complement", there, right, ours and read(ours), theirs


def left_inverse(a, _, ours):
    of = values(a)
    injective = len(set(of)) == len(of) and min(of) >= 0
    right = lambda answer: injective and all(extended(answer, value) == x for x, value in enumerate(of))
    theirs = attempt(lambda: pair_of(tensor_layouts.left_inverse(tensor_layouts.Layout(*a))))
    # Whether an injective layout has a left inverse is not worked out: what is refused then is counted as refused.
    return "left inverse, " + ("injective" if injective else "not injective"), injective, right, ours and read(ours), theirs


def linear(a, _, ours):
    of = values(a)
    bits = len(of).bit_length() - 1
    applied = lambda columns: [xor(columns[bit] for bit in range(bits) if x >> bit & 1) for x in range(len(of))]
    there = applied([of[1 << bit] for bit in range(bits)]) == of
    right = lambda columns: len(columns) == bits and applied(columns) == of

    def matrix():
        rows = tensor_layouts.analysis.to_F2_matrix(tensor_layouts.Layout(*a))
        return [sum(row[bit] << k for k, row in enumerate(rows)) for bit in range(bits)]

    columns = ours if ours is None else [int(column) for column in ours.split(",") if column]
    return "linear over bits", there, right, columns, attempt(matrix)


def xor(numbers):
    result = 0
    for number in numbers:
        result ^= number
    return result


def banks(a, size, ours):
    of, size = values(a), int(size)
    worst = 0
    for warp in range(0, len(of), 32):
        words = {byte // 4 for value in of[warp : warp + 32] for byte in range(value * size, (value + 1) * size)}
        worst = max(worst, *Counter(word % 32 for word in words).values())
    threads = tensor_layouts.Layout(*a)
    whole = tensor_layouts.Layout((a[0],), (a[1],)) if isinstance(a[0], tuple) else threads
    theirs = attempt(lambda: tensor_layouts.analysis.bank_conflicts(whole, element_bytes=size)["max_ways"])
    return "banks, the worst warp", True, lambda answer: answer == worst, ours and int(ours), theirs


def verdict(there, right, answer):
    if answer is None:
        return "refused" if there else "right"
    return "right" if there and right(answer) else "wrong"


def main():
    kinds = {"compose": compose, "complement": complement, "left inverse": left_inverse, "linear": linear, "banks": banks}
    counts, rows = Counter(), {}
    for line in sys.stdin:
        parts = line.rstrip("\n").split("\t")
        if len(parts) != 4:
            continue
        kind, a, b, ours = parts
        is_open = ours == "open"
        kind, there, right, ours, theirs = kinds[kind](read(a), b, None if ours in ("none", "open") else ours)
        row = f"{kind}: {'exists' if there else 'none'}"
        rows[row] = None
        counts[row, "all"] += 1
        counts[row, "ours", "open" if is_open else verdict(there, right, ours)] += 1
        counts[row, "theirs", verdict(there, right, theirs)] += 1
    print(f"{'':<34}{'all':>8}  this crate: {'right':>8}{'refused':>8}{'wrong':>7}{'open':>7}  tensor-layouts: {'right':>8}{'refused':>8}{'wrong':>7}")
    for row in sorted(rows):
        ours = [counts[row, "ours", what] for what in ("right", "refused", "wrong", "open")]
        theirs = [counts[row, "theirs", what] for what in ("right", "refused", "wrong")]
        print(
            f"{row:<34}{counts[row, 'all']:>8}{ours[0]:>22}{ours[1]:>8}{ours[2]:>7}{ours[3]:>7}"
            f"{theirs[0]:>26}{theirs[1]:>8}{theirs[2]:>7}"
        )


main()
