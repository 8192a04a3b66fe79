"""Compares the extracted composition and complement of layouts with the library's, through the command's `layout`.

    python3 layouts.py DECIDE COMMAND [--questions N] [--seed S] [--limit SECONDS]

The compositions that the extracted program finds are put to the command many at a time, as a tiler with a layout for each
mode of one long layout; those that it says do not exist are put one by one, one in ten of them.
"""

import argparse
import itertools
import json
import math
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from compare import Decide, verdict

# How many leaves and coordinates the layouts of one tiler have at most, and one in how many refusals is asked.
MOST_LEAVES = 60
MOST_COORDINATES = 1 << 55
ONE_IN = 10

# A, B, and A o B where it exists: the paper on CuTe's layouts, issues of CUTLASS, and carries that cancel.
RECORDED = [
    ([(6, 8), (2, 2)], [(4, 3), (3, 1)], ([[2, 2], [3]], [[24, 2], [8]])),
    ([(10, 16), (2, 4)], [(5, 1), (4, 5)], ([[5], [2, 2]], [[16], [80, 4]])),
    ([(4, 2), (6, 3), (8, 5), (10, 7)], [(6, 12)], ([[2, 3]], [[9, 5]])),
    ([(4, 3), (2, 12), (8, 97)], [(3, 3)], ([[3]], [[9]])),
    ([(4, 3), (2, 12), (8, 97)], [(4, 3)], None),
    ([(4, 3), (2, 15), (8, 97)], [(3, 3)], None),
    ([(6, 1), (2, 7)], [(3, 2), (2, 3)], None),
    ([(4, 13), (9, 11), (10, 140)], [(6, 9)], ([[6]], [[35]])),
    ([(6, 16), (10, 8)], [(9, 8), (10, 12)], ([[3, 3], [10]], [[40, 32], [16]])),
    ([(32, 128), (128, 1)], [(30, 1), (128, 32)], ([[30], [128]], [[128], [1]])),
    ([(4, 1), (1, 7)], [(8, 1)], ([[4, 2]], [[1, 7]])),
    ([(3, 1), (2, 10)], [(2, 1), (3, 2)], None),
    ([(5, 0), (3, 1), (9, 2)], [(6, 9)], ([[3, 2]], [[1, 4]])),
]


def modes_text(modes):
    return "(" + ",".join(str(size) for size, _ in modes) + "):(" + ",".join(str(stride) for _, stride in modes) + ")"


def random_layout(rng, rank):
    modes = []
    for _ in range(rank):
        size = rng.choice([1, 2, 2, 3, 3, 4, 4, 5, 6, 8, 9, 10])
        if modes and rng.random() < 0.25:
            stride = modes[-1][0] * modes[-1][1]
        else:
            stride = rng.choice([0, 1, 1, 2, 3, 4, 5, 8, 12, 16, -1, -3, rng.randint(-30, 60)])
        modes.append((size, stride))
    if rng.random() < 0.01:
        modes[rng.randrange(rank)] = (0, 1)
    return modes


def random_composition(rng):
    a = random_layout(rng, rng.choice([1, 2, 2, 3, 3, 4]))
    weights = list(itertools.accumulate((size for size, _ in a), lambda x, y: x * y, initial=1))
    b = []
    for _ in range(rng.choice([1, 1, 1, 2, 2, 3])):
        near = rng.choice(weights) or 1
        stride = rng.choice([near, near, near * rng.randint(1, 3), near // rng.randint(1, 4), rng.randint(0, 12)])
        b.append((rng.choice([1, 2, 2, 3, 3, 4, 5, 6, 8, 12]), stride))
    if rng.random() < 0.03:
        at = rng.randrange(len(b))
        b[at] = rng.choice([(0, 2), (1, -3), (2, -1), (b[at][0], -b[at][1])])
    return a, b, rng.random() < 0.4


def flat(modes):
    return [len(modes), *itertools.chain(*modes)]


def lists(numbers, count):
    return [list(itertools.islice(numbers, next(numbers))) for _ in range(count)]


def asked(command, *arguments):
    run = subprocess.run([command, "layout", *arguments, "--json"], capture_output=True, text=True, timeout=600)
    answer = json.loads(run.stdout) if run.stdout else {}
    if "why" not in answer:
        raise SystemExit(f"the command refused {arguments}: {run.stdout[-500:]}{run.stderr[-500:]}")
    return answer


def answers(command, questions):
    """What the command answers of each of some questions."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(lambda question: asked(command, *question), questions)


def groups(found):
    """Compositions, as many at a time as one layout has leaves and coordinates for."""
    some, leaves, size = [], 0, 1
    for a, b, proved in found:
        more = max(len(a), len(b), sum(map(len, proved[0])))
        larger = max(1, *(math.prod(size for size, _ in layout) for layout in (a, b)))
        if some and (leaves + more > MOST_LEAVES or size * larger >= MOST_COORDINATES):
            yield some
            some, leaves, size = [], 0, 1
        some.append((a, b, proved))
        leaves, size = leaves + more, size * larger
    if some:
        yield some


def leaves(tree):
    """The leaves of a shape or of strides, of which each item of the list is one leaf of B: a number or a list."""
    return [item if isinstance(item, list) else [item] for item in tree]


def compare_compositions(questions, decide, command):
    began, wrong, slow = time.time(), [], 0
    found, refused = {False: [], True: []}, []
    for a, b, strict in questions:
        line = decide.ask(["compose", int(strict), *flat(a), *flat(b)])
        if line is None:
            slow += 1
        elif line[0] == "none":
            refused.append((a, b, strict))
        else:
            numbers = iter(map(int, line[1:]))
            found[strict].append((a, b, (lists(numbers, len(b)), lists(numbers, len(b)))))
    for strict, all_found in found.items():
        options = ["--strict"] * strict
        together, questions = list(groups(all_found)), []
        for some in together:
            shapes = ",".join(modes_text(a).split(":")[0] for a, _, _ in some)
            strides = ",".join(modes_text(a).split(":")[1] for a, _, _ in some)
            tiler = ",".join(modes_text(b) for _, b, _ in some)
            questions.append(("compose", *options, f"({shapes}):({strides})", f"({tiler})"))
        for some, answer in zip(together, answers(command, questions)):
            document = answer["layout"]
            for k, (a, b, proved) in enumerate(some):
                library = None
                if document is not None:
                    shape, stride = (document[key][k] for key in ("shape", "stride"))
                    library = leaves(shape), leaves(stride)
                if library != proved:
                    wrong.append({"a": a, "b": b, "strict": strict, "proved": proved, "library": library or answer["why"]})
    asked_of = refused[::ONE_IN]
    texts = [("compose", *["--strict"] * strict, modes_text(a), modes_text(b)) for a, b, strict in asked_of]
    for (a, b, strict), answer in zip(asked_of, answers(command, texts)):
        if answer["layout"] is not None or answer["why"]["kind"] not in ("outside", "length", "mode", "interact"):
            wrong.append({"a": a, "b": b, "strict": strict, "proved": None, "library": answer})
    print(f"compositions: {sum(map(len, found.values()))} found, {len(refused)} refused, of which {len(asked_of)} were asked, "
          f"{slow} too slow, in {time.time() - began:.1f} s; {len(wrong)} disagree")
    return verdict(wrong, slow, sum(map(len, found.values())) + len(refused) + slow)


def compare_recorded(decide, command):
    wrong = []
    for a, b, expected in RECORDED:
        line = decide.ask(["compose", 0, *flat(a), *flat(b)])
        numbers = iter(map(int, line[1:]))
        proved = None if line[0] == "none" else (lists(numbers, len(b)), lists(numbers, len(b)))
        document = asked(command, "compose", modes_text(a), modes_text(b))["layout"]
        library = document and (leaves(document["shape"]), leaves(document["stride"]))
        if len(b) == 1 and document:
            library = ([list(itertools.chain(*library[0]))], [list(itertools.chain(*library[1]))])
        if not proved == library == expected:
            wrong.append({"a": a, "b": b, "proved": proved, "library": library, "recorded": expected})
    print(f"recorded compositions: {len(RECORDED)}; {len(wrong)} disagree")
    return verdict(wrong, 0, len(RECORDED))


def coalesced(modes):
    joined = []
    for size, stride in modes:
        if size == 1:
            continue
        if joined and joined[-1][0] * joined[-1][1] == stride:
            joined[-1] = (joined[-1][0] * size, joined[-1][1])
        else:
            joined.append((size, stride))
    return joined or [(1, 0)]


def random_chain(rng):
    """A layout whose strides mostly leave whole gaps."""
    modes, filled = [], 1
    for _ in range(rng.choice([1, 2, 2, 3, 4])):
        stride = filled * rng.choice([1, 1, 2, 3, 5])
        size = rng.choice([1, 2, 2, 3, 4, 6])
        modes.append((size, stride))
        filled = stride * size
    if rng.random() < 0.25:
        at = rng.randrange(len(modes))
        modes[at] = (modes[at][0], rng.choice([0, modes[at][1] + 1, modes[at][1] * 2, -modes[at][1]]))
    rng.shuffle(modes)
    return modes


def compare_complements(questions, decide, command):
    began, wrong, none = time.time(), [], 0
    texts = [("complement", modes_text(modes), str(cotarget)) for modes, cotarget in questions]
    for (modes, cotarget), answer in zip(questions, answers(command, texts)):
        document = answer["layout"]
        library = None
        if document is not None:
            shape, stride = (value if isinstance(value, list) else [value] for value in (document["shape"], document["stride"]))
            library = list(zip(shape, stride))
        # A single address is left out, and so are the modes that repeat addresses; a negative stride has no complement.
        modes = sorted((mode for mode in modes if mode[0] > 1 and mode[1] != 0), key=lambda mode: mode[1])
        if any(stride < 0 for _, stride in modes):
            proved = None
        else:
            line = decide.ask(["complement", *flat(modes), cotarget])
            numbers = iter(map(int, line[1:]))
            proved = None if line[0] == "none" else coalesced(
                [tuple(itertools.islice(numbers, next(numbers))) for _ in range(len(modes) + 1)])
        none += proved is None
        if proved != library:
            wrong.append({"modes": modes, "cotarget": cotarget, "proved": proved, "library": answer})
    print(f"complements: {len(questions)}, {none} of them none, in {time.time() - began:.1f} s; {len(wrong)} disagree")
    return verdict(wrong, 0, len(questions))


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
    good = compare_recorded(decide, arguments.command)
    compositions = [random_composition(rng) for _ in range(arguments.questions)]
    good = compare_compositions(compositions, decide, arguments.command) and good
    complements = [(random_chain(rng), rng.randint(0, 200)) for _ in range(arguments.questions // 20)]
    good = compare_complements(complements, decide, arguments.command) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
