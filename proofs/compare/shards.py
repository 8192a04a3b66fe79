"""Compares what is proved of shards with the library, through the command's `shard`.

    python3 shards.py DECIDE COMMAND [--questions N] [--seed S] [--limit SECONDS]

A question is a tensor with its placements and either another shape and placements, of which the command says whether
they are the same, or another shape alone, of which it may say that nothing has to move, and how the result is placed.
The extracted program says which coordinates each cut of an axis gives to each place. Python makes words of them, with
ramps and repetitions, and the extracted comparison tells the first position at which two of them differ.
"""

import argparse
import itertools
import math
import random
import sys
import time

from compare import Decide, asked, verdict

# A tensor, what is claimed of it, and the first position that a device holds in only one of both: even and uneven
# shards, in one and in several pieces, and axes that are cut twice.
RECORDED = [
    (([4, 4], [2], [(1, 1)]), ([2, 8], [(1, 1)]), 2),
    (([4, 4], [2], [(1, 1)]), ([2, 8], [(1, 2)]), None),
    (([5, 4], [2, 3], [(0, 1), (0, 2)]), ([10, 2], [(0, 1), (1, 1)]), 1),
    (([7, 3], [4], [(0, 1)]), ([21], [(0, 1)]), None),
    (([10, 3], [4], [(0, 1)]), ([30], [(0, 1)]), 8),
    (([6, 5], [4], [(1, 1)]), ([30], [(0, 6)]), None),
    (([9, 2], [3, 2], [(0, 1), (0, 1)]), ([18], [(0, 1), (0, 1)]), 3),
]


def random_shape(rng, numel):
    shape = []
    while numel > 1 and len(shape) < 3:
        size = rng.choice([d for d in range(2, numel + 1) if numel % d == 0])
        shape.insert(rng.randint(0, len(shape)), size)
        numel //= size
    if numel > 1 or not shape:
        shape.append(numel)
    return shape


def random_placements(rng, shape, mesh):
    """For each mesh axis the axis that it cuts and into how many pieces before, or None where every device has all."""
    axes = [rng.randrange(len(shape)) for _ in mesh]
    if rng.random() < 0.5:
        axes = [axes[0]] * len(mesh)
    pieces = [rng.choice([1, 1, 2, 3, rng.randint(1, shape[axis] + 1)]) for axis in axes]
    return [None if rng.random() < 0.05 else placement for placement in zip(axes, pieces)]


def random_question(rng):
    numel = rng.choice([rng.randint(1, 60), rng.choice([12, 24, 30, 36, 60, 72, 90, 120, 360])])
    mesh = [rng.choice([1, 2, 2, 3, 4, 5, 7]) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    shape, other = random_shape(rng, numel), random_shape(rng, numel)
    placements = random_placements(rng, shape, mesh)
    if rng.random() < 0.3:
        # As they are, in the same shape or in one that has an axis in two.
        claimed = list(placements)
        other = list(shape)
        at = rng.randrange(len(other))
        factors = [d for d in range(2, other[at]) if other[at] % d == 0]
        if factors:
            inner = rng.choice(factors)
            other[at:at + 1] = [other[at] // inner, inner]
            move = lambda axis: axis + (axis > at or (axis == at and rng.random() < 0.2))
            claimed = [one and (move(one[0]), one[1]) for one in claimed]
    else:
        claimed = random_placements(rng, other, mesh)
    return (shape, mesh, placements), (other, claimed)


# Words.

def placement_text(placement):
    if placement is None:
        return "R"
    axis, pieces = placement
    return f"S({axis})" if pieces == 1 else f"SS({axis}, {pieces})"


def tensor_text(shape, mesh, placements):
    size = f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"
    axes = ", ".join(f"m{k}={parts}" for k, parts in enumerate(mesh))
    return f"{size} @ {axes} : {', '.join(map(placement_text, placements))}"


def placements_of(texts):
    """The placements that texts name, as the command writes them."""
    found = []
    for text in texts:
        numbers = [int(number) for number in text.strip("RS()").replace(" ", "").split(",") if number]
        found.append((numbers[0], (numbers + [1])[1]) if numbers else None)
    return found


def ramps(runs):
    """Segments for runs, each a coordinate and a length."""
    segments = []
    for first, length in runs:
        if segments:
            ramp = segments[-1]
            last = ramp[0] + (ramp[3] > ramp[1]) * -(-(ramp[3] - ramp[1]) // ramp[2])
            is_full = ramp[3] == ramp[1] or (ramp[3] - ramp[1]) % ramp[2] == 0
            if first == last + 1 and is_full and (ramp[3] == ramp[1] or length <= ramp[2]):
                width = length if ramp[3] == ramp[1] else ramp[2]
                segments[-1] = [ramp[0], ramp[1], width, ramp[3] + length]
                continue
        segments.append([first, length, 1, length])
    return [[0, *segment] for segment in segments]


def word(coordinates, weight, outer):
    """The word of an axis, of whose places each is so many positions, and which comes so often, as the program reads it."""
    size = len(coordinates)
    period = next(p for p in range(1, size + 1) if size % p == 0 and coordinates[p:] == coordinates[:-p or None][:size - p])
    runs = [(first, len(list(same)) * weight) for first, same in itertools.groupby(coordinates[:period])]
    segments = ramps(runs)
    text = [len(segments), *itertools.chain(*segments)]
    for times in (size // period, outer):
        text = [1, 1, times, *text] if times > 1 else text
    return text


def words(decide, shape, mesh, placements):
    """The word along each mesh axis, None where it does not shard."""
    found = [None] * len(mesh)
    for axis, size in enumerate(shape):
        cutting = [k for k, placement in enumerate(placements) if placement is not None and placement[0] == axis]
        if not cutting:
            continue
        cuts = itertools.chain(*((placements[k][1], mesh[k]) for k in cutting))
        numbers = iter(map(int, decide.ask(["coordinates", len(cutting), *cuts, size])[1:]))
        table = [list(itertools.islice(numbers, next(numbers))) for _ in range(size)]
        weight, outer = math.prod(shape[axis + 1:]), math.prod(shape[:axis])
        for at, k in enumerate(cutting):
            if mesh[k] > 1:
                found[k] = word([row[at] for row in table], weight, outer)
    return found


def first_difference(decide, tensor, other):
    """The first position that some device holds in only one of two tensors."""
    (shape, mesh, _), places = tensor, []
    for a, b in zip(words(decide, *tensor), words(decide, *other)):
        if (a is None) != (b is None):
            return 0
        if a is not None:
            line = decide.ask(["difference", *a, *b, math.prod(shape)])
            places += [int(line[1])] if line[0] == "some" else []
    return min(places, default=None)


# The two sides.

def compare(name, questions, expected, decide, command):
    began, counts, wrong = time.time(), {"the same": 0, "differ": 0, "undecided": 0}, []
    texts = [["shard", tensor_text(*tensor), "--check", tensor_text(shape, tensor[1], claimed)]
             for tensor, (shape, claimed) in questions]
    for k, ((tensor, (shape, claimed)), answer) in enumerate(zip(questions, asked(command, texts))):
        check = answer["check"]
        if check["kind"] == "undecided":
            counts["undecided"] += 1
            continue
        proved = first_difference(decide, tensor, (shape, tensor[1], claimed))
        counts["the same" if proved is None else "differ"] += 1
        # The local elements before it are the same: it is the lesser of the two that differ.
        library = None
        if check["kind"] == "refuted":
            library = min(position for position in check["witness"]["global"] if position is not None)
        if library != proved or (expected is not None and proved != expected[k]):
            wrong.append({"tensor": tensor, "claimed": [shape, claimed], "proved": proved, "library": check})
    print(f"{name}: {len(questions)} in {time.time() - began:.1f} s: "
          + ", ".join(f"{count} {what}" for what, count in counts.items()) + f"; {len(wrong)} disagree")
    return verdict(wrong, counts["undecided"], len(questions))


def serves(decide, tensor, shape):
    """Placements of a shape that give each position to the devices that had it, if there are some."""
    before, mesh, placements = tensor
    wanted, found = words(decide, *tensor), []
    for k, parts in enumerate(mesh):
        if wanted[k] is None:
            found.append(None)
            continue
        for axis, pieces in ((axis, pieces) for axis in range(len(shape)) for pieces in range(1, shape[axis] + 1)):
            own = words(decide, shape, mesh[:k + 1], found + [(axis, pieces)])[k]
            if decide.ask(["difference", *own, *wanted[k], math.prod(shape)])[0] == "none":
                found.append((axis, pieces))
                break
        else:
            return None
    return found


def compare_reshapes(questions, decide, command):
    began, counts, wrong = time.time(), {"free": 0, "none": 0, "undecided": 0}, []
    texts = [["shard", tensor_text(*tensor), "--view", ",".join(map(str, shape))] for tensor, shape in questions]
    for (tensor, shape), answer in zip(questions, asked(command, texts)):
        outcome = answer["outcome"]
        if outcome["kind"] == "undecided":
            counts["undecided"] += 1
            continue
        if outcome["kind"] == "free":
            counts["free"] += 1
            after = placements_of(outcome["after"]["placements"])
            agrees = first_difference(decide, tensor, (shape, tensor[1], after)) is None
        else:
            counts["none"] += 1
            agrees = math.prod(shape) > 60 or serves(decide, tensor, shape) is None
        if not agrees:
            wrong.append({"tensor": tensor, "shape": shape, "library": outcome})
    print(f"reshapes of shards: {len(questions)} in {time.time() - began:.1f} s: "
          + ", ".join(f"{count} {what}" for what, count in counts.items()) + f"; {len(wrong)} disagree")
    return verdict(wrong, counts["undecided"], len(questions))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("decide")
    parser.add_argument("command")
    parser.add_argument("--questions", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=5.0)
    arguments = parser.parse_args()
    decide = Decide(arguments.decide, arguments.limit)
    rng = random.Random(arguments.seed)
    known = [(tensor, claim) for tensor, claim, _ in RECORDED]
    good = compare("recorded shards", known, [place for *_, place in RECORDED], decide, arguments.command)
    questions = [random_question(rng) for _ in range(arguments.questions)]
    good = compare("shards", questions, None, decide, arguments.command) and good
    reshapes = [(tensor, shape) for tensor, (shape, _) in (random_question(rng) for _ in range(arguments.questions // 10))]
    good = compare_reshapes(reshapes, decide, arguments.command) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
