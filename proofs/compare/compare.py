"""Compares the extracted decision with the library, through the command's `batch`.

    python3 compare.py DECIDE COMMAND [--pairs N] [--seed S] [--corpus FILE] [--limit SECONDS]

DECIDE is the extracted program, COMMAND the command `shapetracker`. Random pairs are generated from the seed. A corpus
is a file of JSON lines, gzipped if its name ends in .gz, with "id", "views" (two of them), "mergeable", and the merged
"view" if so. Every pair has the given limit of time in the extracted program, which works on Coq's own binary numbers;
those that exceed it are counted.
"""

import argparse
import gzip
import json
import math
import random
import select
import subprocess
import sys
import tempfile
import time


def row_major(shape):
    strides, product = [], 1
    for size in reversed(shape):
        strides.append(product)
        product *= size
    return strides[::-1]


def ranges_of(view):
    mask = view["mask"]
    return [[0, size] for size in view["shape"]] if mask is None else mask


def live(view):
    # Only a view of rank 0 needs to say so: its mask is then an empty list.
    return not (view["mask"] is not None and len(view["shape"]) == 0)


def line_of(view):
    words = [len(view["shape"]), *view["shape"], *view["strides"], view["offset"], int(live(view))]
    for low, high in ranges_of(view):
        words += [low, high]
    return words


def view_of(words):
    """The canonical view, in the library's form, that a line of the extracted program describes."""
    numbers = [int(word) for word in words]
    rank = numbers[0]
    shape, strides = numbers[1:1 + rank], numbers[1 + rank:1 + 2 * rank]
    offset, alive = numbers[1 + 2 * rank], numbers[2 + 2 * rank]
    rest = numbers[3 + 2 * rank:]
    ranges = [[rest[2 * k], rest[2 * k + 1]] for k in range(rank)]
    if alive:
        mask = None if ranges == [[0, size] for size in shape] else ranges
    else:
        mask = None if 0 in shape else ranges
    return {"shape": shape, "strides": strides, "offset": offset, "mask": mask}


# Random pairs.

SIZES = [1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 8, 9, 12]


def random_range(rng, size):
    if size == 0:
        return [0, 0]
    if rng.random() < 0.02:
        return [rng.randint(0, size)] * 2
    low, high = sorted(rng.sample(range(size + 1), 2))
    return rng.choice([[0, size], [0, size], [low, size], [0, high], [low, high]])


def random_mask(rng, shape):
    if rng.random() < (0.5 if shape else 0.9):
        return None
    return [random_range(rng, size) for size in shape]


def random_split(rng, number):
    """A random shape with so many elements."""
    shape = []
    while number > 1:
        divisors = [d for d in range(2, min(number, 5000) + 1) if number % d == 0] or [number]
        size = rng.choice(divisors)
        shape.insert(rng.randint(0, len(shape)), size)
        number //= size
        if len(shape) == 4:
            shape[0] *= number
            break
    while rng.random() < 0.15:
        shape.insert(rng.randint(0, len(shape)), 1)
    return shape


def random_earlier(rng, scale):
    shape = [rng.choice(SIZES) for _ in range(rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4]))]
    if scale > 1 and shape:
        shape[rng.randrange(len(shape))] *= scale
        shape[rng.randrange(len(shape))] *= rng.choice([1, scale])
    if rng.random() < 0.02 and shape:
        shape[rng.randrange(len(shape))] = 0
    kind = rng.random()
    if kind < 0.5:
        order = list(range(len(shape)))
        rng.shuffle(order)
        dense = row_major([shape[k] for k in order])
        strides = [dense[order.index(k)] for k in range(len(shape))]
    elif kind < 0.7:
        # Neighbours that advance as one, in groups.
        strides, step = [], rng.choice([1, 1, 2, 3])
        for size in reversed(shape):
            strides.insert(0, step)
            step = step * size if rng.random() < 0.7 else rng.choice([0, 1, step, step + 1])
    else:
        strides = [rng.randint(-9, 9) for _ in shape]
    strides = [0 if rng.random() < 0.1 else -s if rng.random() < 0.15 else s for s in strides]
    return {"shape": shape, "strides": strides, "offset": rng.randint(-20, 20), "mask": random_mask(rng, shape)}


def random_later(rng, numel, earlier):
    """A view that reads inside so many elements."""
    if numel == 0:
        shape = [rng.choice([0, 1, 2]) for _ in range(rng.randint(1, 3))] + [0]
        strides = [rng.randint(-3, 3) for _ in shape]
        return {"shape": shape, "strides": strides, "offset": rng.randint(0, 3), "mask": None}
    if rng.random() < 0.35:
        shape = random_split(rng, numel)
        return {"shape": shape, "strides": row_major(shape), "offset": 0, "mask": random_mask(rng, shape)}
    weights = row_major(earlier["shape"]) or [1]
    pool = weights + [w * rng.randint(1, 3) for w in weights] + [rng.randint(1, 12), rng.randint(1, max(1, numel // 2))]
    pool += [d for w in weights for d in (2, 3) if w % d == 0 for d in [w // d]]
    rank = rng.choice([0, 1, 1, 2, 2, 2, 3, 3, 4])
    shape, strides, ranges = [], [], []
    for _ in range(rank):
        size = rng.choice(SIZES) * (rng.choice([1, 1, max(1, math.isqrt(numel) // 2)]))
        shape.append(size)
        strides.append(0 if rng.random() < 0.12 else rng.choice(pool) * rng.choice([1, 1, 1, -1]))
        ranges.append(random_range(rng, size) if rng.random() < 0.35 else [0, size])
    def extremes():
        low = high = 0
        for stride, (begin, end) in zip(strides, ranges):
            ends = [stride * begin, stride * (end - 1)]
            low, high = low + min(ends), high + max(ends)
        return low, high
    if all(begin < end for begin, end in ranges):
        while extremes()[1] - extremes()[0] >= numel:
            # Too long: shorten, or stay where it is.
            axis = max(range(rank), key=lambda k: abs(strides[k]) * (ranges[k][1] - ranges[k][0] - 1))
            begin, end = ranges[axis]
            over = extremes()[1] - extremes()[0] - numel + 1
            cut = min(end - begin - 1, -(-over // abs(strides[axis])))
            if ranges[axis] == [0, shape[axis]] and rng.random() < 0.8:
                shape[axis] -= cut
            ranges[axis][1] -= cut
        low, high = extremes()
        offset = rng.choice([-low, numel - 1 - high, rng.randint(-low, numel - 1 - high)])
    else:
        offset = rng.randint(-5, 5)
    mask = None if all(r == [0, size] for r, size in zip(ranges, shape)) else ranges
    if rank == 0 and rng.random() < 0.1:
        mask = []
    return {"shape": shape, "strides": strides, "offset": offset, "mask": mask}


def random_pair(rng):
    scale = rng.choice([1, 1, 1, 1, 1, 1, 1, 7, 64, 1000])
    earlier = random_earlier(rng, scale)
    later = random_later(rng, math.prod(earlier["shape"]), earlier)
    if rng.random() < 0.02:
        # It may read outside now: then both sides must refuse the pair.
        later["offset"] += rng.choice([-1, 1]) * rng.randint(1, 1 + math.prod(earlier["shape"]))
    return [earlier, later]


# The two sides.

class Decide:
    """The extracted program, restarted when a question takes too long."""

    def __init__(self, program, limit):
        self.program, self.limit, self.process = program, limit, None

    def ask(self, words):
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.limit)
        if not ready:
            self.process.kill()
            self.process.wait()
            self.process = None
            return None
        line = self.process.stdout.readline().decode().split()
        if not line:
            raise SystemExit(f"the extracted program stopped at {words}")
        return line


def batch(command, lines):
    """What the command answers to lines of its `batch`, all in one process."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for k, line in enumerate(lines):
            file.write(json.dumps({"id": k, **line}) + "\n")
        file.flush()
        run = subprocess.run([command, "batch", file.name], capture_output=True, text=True, timeout=1800)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(lines):
        raise SystemExit(f"the command answered {len(answers)} of {len(lines)} lines: {run.stderr[-500:]}")
    return answers


def asked(command, questions):
    """What the command answers to questions, each a list of its arguments."""
    answers = batch(command, [{"command": question} for question in questions])
    for question, answer in zip(questions, answers):
        if "error" in answer:
            raise SystemExit(f"the command refused {question}: {answer['error']}")
    return answers


def library(command, pairs):
    return batch(command, [{"views": views} for views in pairs])


def same(one, other):
    return all(one[key] == other[key] for key in ("shape", "strides", "offset", "mask"))


def verdict(wrong, left_open, asked):
    """Whether nothing disagrees and hardly anything was left open. Shows the first that disagree."""
    for one in wrong[:5]:
        print(json.dumps(one))
    if 100 * left_open > asked:
        print(f"{left_open} of {asked} were left open, where one in a hundred may be")
    return not wrong and 100 * left_open <= asked


def compare(name, pairs, expected, decide, command):
    began = time.time()
    counts = {"single": 0, "several": 0, "refused": 0, "too slow": 0, "past the library's 64 bits": 0}
    wrong = []
    for k, (views, answer) in enumerate(zip(pairs, library(command, pairs))):
        line = decide.ask(["merge", *line_of(views[0]), *line_of(views[1])])
        if line is None:
            counts["too slow"] += 1
            continue
        counts[line[0]] += 1
        if "error" in answer and "past the range of 64-bit integers" in answer["error"]["message"]:
            # The proofs know no largest number: such a pair is compared with the corpus only.
            counts["past the library's 64 bits"] += 1
            agrees = True
        elif line[0] == "refused":
            agrees = "error" in answer
        elif "error" in answer:
            agrees = False
        elif line[0] == "single":
            agrees = len(answer["views"]) == 1 and same(answer["views"][0], view_of(line[1:]))
        else:
            agrees = len(answer["views"]) > 1
        if agrees and expected is not None and line[0] != "refused":
            agrees = expected[k] is None if line[0] == "several" else (
                expected[k] is not None and same(expected[k], view_of(line[1:])))
        if not agrees:
            wrong.append({"views": views, "extracted": " ".join(line), "library": answer})
    print(f"{name}: {len(pairs)} pairs in {time.time() - began:.1f} s: "
          + ", ".join(f"{count} {what}" for what, count in counts.items()) + f"; {len(wrong)} disagree")
    return verdict(wrong, counts["too slow"], len(pairs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("decide")
    parser.add_argument("command")
    parser.add_argument("--pairs", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus")
    parser.add_argument("--limit", type=float, default=5.0)
    arguments = parser.parse_args()
    decide = Decide(arguments.decide, arguments.limit)
    rng = random.Random(arguments.seed)
    good = compare("random", [random_pair(rng) for _ in range(arguments.pairs)], None, decide, arguments.command)
    if arguments.corpus:
        reading = gzip.open if arguments.corpus.endswith(".gz") else open
        with reading(arguments.corpus, "rt") as file:
            lines = [json.loads(line) for line in file]
        pairs = [line["views"] for line in lines]
        expected = [line["view"] if line["mergeable"] else None for line in lines]
        good = compare("corpus", pairs, expected, decide, arguments.command) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
