#!/usr/bin/env python3
"""An outside judge: is a pair of views one view? Decided by isl, an exact integer set library, on sizes up to 10^9.

    python3 -m venv /tmp/judge && /tmp/judge/bin/pip install islpy
    /tmp/judge/bin/python judge.py target/release/shapetracker            # 300 random large pairs
    /tmp/judge/bin/python judge.py target/release/shapetracker --pairs pairs.jsonl
    /tmp/judge/bin/python judge.py --self-test                            # isl against brute force, on small pairs

The command's `batch` reads the pairs as JSON Lines, `{"id": .., "views": [next to memory, later]}`, and answers with the
views that are left: one, if they merge. Exit status 1 if the two disagree anywhere.

How it decides. The digits d of a position are its index in the earlier view, and an index i of the later view has
exactly one d with  offset + sum a[l] i[l] = sum P[j] d[j]  and  0 <= d[j] < s[j].  Over integer points (i, d):
  - the box of the valid indices is the least and greatest i[l] with every d[j] in its mask;
  - they are not a box if some (i, d) has i in that box and a d[j] outside of its mask;
  - they have uneven steps if some (i, d, d') has i and i + e[l] in the box, d and d' the digits of both, and
    sum sigma[j] (d'[j] - d[j])  not the difference at the first corner.
"""

import argparse
import itertools
import json
import math
import random
import subprocess
import sys

import islpy as isl

OPERATIONS = 20_000_000  # After so many steps isl gives a question up; such pairs are counted apart.


class GaveUp(Exception):
    pass


def ranges(view):
    return view["mask"] if view["mask"] is not None else [[0, size] for size in view["shape"]]


def is_empty(view):
    return 0 in view["shape"] or view["mask"] == [] or any(begin == end for begin, end in ranges(view))


def look_up(views, index):
    """The address that an index reads, or None."""
    for number, view in enumerate(reversed(views)):
        if number > 0:
            position, index = address, []
            for size in reversed(view["shape"]):
                position, digit = divmod(position, size)
                index.insert(0, digit)
        if view["mask"] == [] or any(not begin <= i < end for i, (begin, end) in zip(index, ranges(view))):
            return None
        address = view["offset"] + sum(i * stride for i, stride in zip(index, view["strides"]))
    return address


def nothing(shape):
    mask = None if 0 in shape else [[0, 0] for _ in shape]
    return {"shape": shape, "strides": [0] * len(shape), "offset": 0, "mask": mask}


def canonical(shape, box, first, steps):
    """The view with these steps on a box whose first corner reads the address `first`."""
    strides = [step if end - begin > 1 else 0 for step, (begin, end) in zip(steps, box)]
    offset = first - sum(stride * begin for stride, (begin, _) in zip(strides, box))
    full = all([begin, end] == [0, size] for (begin, end), size in zip(box, shape))
    return {"shape": shape, "strides": strides, "offset": offset, "mask": None if full else [list(r) for r in box]}


class Points:
    """Integer points with named coordinates, under linear constraints."""

    def __init__(self, context, names):
        self.space = isl.Space.create_from_names(context, set=names)
        self.set = isl.BasicSet.universe(self.space)

    def add(self, kind, coefficients, constant=0):
        """Adds `sum coefficient * name + constant` = 0 or >= 0."""
        terms = {name: value for name, value in coefficients.items() if value != 0}
        terms[1] = constant
        make = isl.Constraint.eq_from_names if kind == "=" else isl.Constraint.ineq_from_names
        self.set = self.set.add_constraint(make(self.space, terms))

    def between(self, name, begin, end):
        self.add(">=", {name: 1}, -begin)
        self.add(">=", {name: -1}, end - 1)

    def copy(self):
        other = Points.__new__(Points)
        other.space, other.set = self.space, self.set
        return other

    def is_empty(self):
        return asked(self.set.is_empty)

    def bounds(self, name):
        """The least value of a coordinate and the greatest plus one."""
        number = self.space.find_dim_by_name(isl.dim_type.set, name)
        points = isl.Set.from_basic_set(self.set)
        low, high = asked(lambda: points.dim_min_val(number)), asked(lambda: points.dim_max_val(number))
        return int(low.to_python()), int(high.to_python()) + 1


def asked(question):
    try:
        return question()
    except isl.Error as error:
        raise GaveUp(str(error)) from error


def digits(points, earlier, later, prefix, shift=None):
    """Ties the digits `prefix0`, `prefix1`, .. to the position of index i, or of its neighbour along an axis."""
    terms = {f"i{axis}": stride for axis, stride in enumerate(later["strides"])}
    for axis in range(len(earlier["shape"])):
        terms[f"{prefix}{axis}"] = -math.prod(earlier["shape"][axis + 1 :])
        points.between(f"{prefix}{axis}", 0, earlier["shape"][axis])
    points.add("=", terms, later["offset"] + (later["strides"][shift] if shift is not None else 0))


def decide(views):
    """The one view that two views are, or None if they are not one."""
    earlier, later = views
    shape, rank, depth = later["shape"], len(later["shape"]), len(earlier["shape"])
    if is_empty(later) or is_empty(earlier):
        return nothing(shape)
    context = isl.Context()
    context.set_max_operations(OPERATIONS)
    index, first_digits, next_digits = ([f"{c}{k}" for k in range(n)] for c, n in (("i", rank), ("d", depth), ("e", depth)))
    points = Points(context, index + first_digits)
    digits(points, earlier, later, "d")
    for name, (begin, end) in zip(index, ranges(later)):
        points.between(name, begin, end)
    valid = points.copy()
    for name, (begin, end) in zip(first_digits, ranges(earlier)):
        valid.between(name, begin, end)
    if valid.is_empty():
        return nothing(shape)
    box = [valid.bounds(name) for name in index]

    inside = points.copy()
    for name, (begin, end) in zip(index, box):
        inside.between(name, begin, end)
    for name, size, (begin, end) in zip(first_digits, earlier["shape"], ranges(earlier)):
        for low, high in ((0, begin), (end, size)):
            if low < high:
                outside = inside.copy()
                outside.between(name, low, high)
                if not outside.is_empty():
                    return None

    corner = [begin for begin, _ in box]
    first, steps = look_up(views, corner), []
    for axis, (begin, end) in enumerate(box):
        if end - begin == 1:
            steps.append(0)
            continue
        neighbour = [i + (other == axis) for other, i in enumerate(corner)]
        steps.append(look_up(views, neighbour) - first)
        pair = Points(context, index + first_digits + next_digits)
        digits(pair, earlier, later, "d")
        digits(pair, earlier, later, "e", shift=axis)
        for other, (name, (low, high)) in enumerate(zip(index, box)):
            pair.between(name, low, high - (other == axis))
        moved = {f"e{k}": stride for k, stride in enumerate(earlier["strides"])}
        moved |= {f"d{k}": -stride for k, stride in enumerate(earlier["strides"])}
        for sign in (1, -1):
            uneven = pair.copy()
            uneven.add(">=", {name: sign * value for name, value in moved.items()}, -sign * steps[axis] - 1)
            if not uneven.is_empty():
                return None
    return canonical(shape, box, first, steps)


def brute_force(views):
    """The same, by walking all indices."""
    shape = views[1]["shape"]
    cells = {i: look_up(views, list(i)) for i in itertools.product(*map(range, shape))}
    valid = [i for i, cell in cells.items() if cell is not None]
    if not valid:
        return nothing(shape)
    box = [(min(column), max(column) + 1) for column in zip(*valid)]
    if math.prod(end - begin for begin, end in box) != len(valid):
        return None
    corner = tuple(begin for begin, _ in box)
    neighbours = [tuple(i + (k == axis) for k, i in enumerate(corner)) for axis in range(len(shape))]
    steps = [cells.get(i, 0) - cells[corner] if i in valid else 0 for i in neighbours]
    view = canonical(shape, box, cells[corner], steps)
    return view if all(look_up([view], list(i)) == cell for i, cell in cells.items()) else None


def random_pair(rng, large):
    """A pair whose later view lies in the earlier one. Strides are near the places where digits overflow."""
    sizes = [2, 3, 10, 1000, 1024, 999_983, 10**9] if large else [2, 2, 3, 4, 5]
    depth = rng.randint(1, 3)
    shape = [rng.choice(sizes) if rng.random() < 0.7 else rng.randint(1, max(sizes)) for _ in range(depth)]
    while math.prod(shape) > 10**18:
        shape[shape.index(max(shape))] //= 1000
    shape = [max(size, 1) for size in shape]
    numel, products = math.prod(shape), [math.prod(shape[axis:]) for axis in range(depth + 1)]
    strides, stride, defect = [], rng.choice([1, 2, -3]), rng.randint(-5, 5)
    for size in reversed(shape):
        strides.insert(0, stride)
        stride = stride * size + rng.choice([0, 0, defect, -defect])
    if rng.random() < 0.2:
        strides = [rng.randint(-9, 9) for _ in shape]
    earlier = {"shape": shape, "strides": strides, "offset": 0, "mask": random_mask(rng, shape, 0.35)}
    low = sum(min(0, s * (n - 1)) for s, n in zip(strides, shape))
    earlier["offset"] = -low
    room, later = numel - 1, {"shape": [], "strides": [], "offset": 0, "mask": None}
    for _ in range(rng.randint(1, 3)):
        near = rng.choice(products)
        stride = rng.choice([near, max(near // rng.randint(1, 4), 1), abs(near + rng.randint(-2, 2)), 1 + rng.randint(0, room // 2)])
        most = min(room // stride + 1, 10**9 if large else 6) if stride else 3
        size = rng.choice([most, rng.randint(1, most), min(most, rng.randint(1, 6))])
        room -= stride * (size - 1)
        later["shape"].append(size)
        later["strides"].append(rng.choice([1, 1, -1]) * stride)
    low = sum(min(0, s * (n - 1)) for s, n in zip(later["strides"], later["shape"]))
    later["offset"] = rng.choice([0, room, rng.randint(0, room)]) - low
    later["mask"] = random_mask(rng, later["shape"], 0.2)
    # The element count and every address must fit 64 bits.
    fits = math.prod(later["shape"]) < 2**62 and all(abs(s) * n < 2**58 for s, n in zip(strides, shape))
    return [earlier, later] if fits else random_pair(rng, large)


def random_mask(rng, shape, probability):
    if rng.random() >= probability:
        return None
    mask = []
    for size in shape:
        begin = rng.choice([0, 0, min(1, size - 1), rng.randint(0, size - 1)])
        mask.append([begin, max(begin + 1, rng.choice([size, size, size - 1, rng.randint(begin + 1, size)]))])
    return mask


def ask_the_command(binary, pairs):
    """What the command makes of each pair: a view, None, or an error."""
    lines = "".join(json.dumps({"id": str(number), "views": pair}) + "\n" for number, pair in enumerate(pairs))
    run = subprocess.run([binary, "batch"], input=lines, capture_output=True, text=True, timeout=1800)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(pairs):
        sys.exit(f"{binary} batch answered {len(answers)} of {len(pairs)} lines: {run.stderr.strip()}")
    for answer in answers:
        if "error" in answer:
            yield answer["error"]
        else:
            yield answer["views"][0] if len(answer["views"]) == 1 else None


def compare(pairs, answers):
    counts = dict.fromkeys(["one view", "not one view", "refused", "given up by isl", "disagreements"], 0)
    for pair, found in zip(pairs, answers):
        if isinstance(found, dict) and "message" in found:
            counts["refused"] += 1
            print(f"refused: {found['message']}: {json.dumps(pair)}")
            continue
        try:
            expected = decide(pair)
        except GaveUp:
            counts["given up by isl"] += 1
            continue
        if found == expected:
            counts["not one view" if expected is None else "one view"] += 1
        else:
            counts["disagreements"] += 1
            print(f"disagreement on {json.dumps(pair)}\n  found {json.dumps(found)}\n  isl   {json.dumps(expected)}")
    print(", ".join(f"{name}: {count}" for name, count in counts.items()))
    return counts["disagreements"] == 0


def main():
    parser = argparse.ArgumentParser(description="Holds `shapetracker batch` against isl.")
    parser.add_argument("binary", nargs="?", help="the command shapetracker")
    parser.add_argument("--pairs", help="JSON Lines with two views each, instead of random pairs")
    parser.add_argument("--count", type=int, default=300, help="how many random pairs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--self-test", action="store_true", help="hold isl against brute force, on small pairs")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    if arguments.self_test:
        pairs = [random_pair(rng, large=False) for _ in range(arguments.count)]
        answers = map(brute_force, pairs)
    elif arguments.binary:
        if arguments.pairs:
            with open(arguments.pairs, encoding="utf-8") as lines:
                pairs = [json.loads(line)["views"] for line in lines]
        else:
            pairs = [random_pair(rng, large=True) for _ in range(arguments.count)]
        answers = ask_the_command(arguments.binary, pairs)
    else:
        parser.error("the path of the command is missing (or --self-test)")
    sys.exit(0 if compare(pairs, answers) else 1)


if __name__ == "__main__":
    main()
