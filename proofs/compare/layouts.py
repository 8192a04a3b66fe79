"""Compares the extracted composition, complement and inverses of layouts with the library's, through the command's `layout`.

    python3 layouts.py DECIDE COMMAND [--questions N] [--seed S] [--limit SECONDS]
"""

import argparse
import itertools
import math
import random
import sys
import time

from compare import Decide, asked, verdict

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


def leaves(tree):
    """The leaves of a shape or of strides, of which each item of the list is one leaf of B: a number or a list."""
    return [item if isinstance(item, list) else [item] for item in tree]


def compare_compositions(name, questions, expected, decide, command):
    began, counts, wrong = time.time(), {"found": 0, "none": 0, "too slow": 0}, []
    texts = [["layout", "compose", *["--strict"] * strict, modes_text(a), modes_text(b)] for a, b, strict in questions]
    for k, ((a, b, strict), answer) in enumerate(zip(questions, asked(command, texts))):
        line = decide.ask(["compose", int(strict), *flat(a), *flat(b)])
        if line is None:
            counts["too slow"] += 1
            continue
        numbers = iter(map(int, line[1:]))
        proved = None if line[0] == "none" else (lists(numbers, len(b)), lists(numbers, len(b)))
        counts["none" if proved is None else "found"] += 1
        document, library = answer["layout"], None
        if document is not None:
            library = leaves(document["shape"]), leaves(document["stride"])
            if len(b) == 1:
                library = tuple([list(itertools.chain(*part))] for part in library)
        agrees = proved == library and (expected is None or proved == expected[k])
        if document is None and answer["why"]["kind"] not in ("outside", "length", "mode", "interact"):
            agrees = False
        if not agrees:
            wrong.append({"a": a, "b": b, "strict": strict, "proved": proved, "library": answer})
    print(f"{name}: {len(questions)} in {time.time() - began:.1f} s: "
          + ", ".join(f"{count} {what}" for what, count in counts.items()) + f"; {len(wrong)} disagree")
    return verdict(wrong, counts["too slow"], len(questions))


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


def modes_of(document):
    """The modes of a layout, of which one alone is written without a list."""
    shape, stride = (value if isinstance(value, list) else [value] for value in (document["shape"], document["stride"]))
    return list(zip(shape, stride))


def modes_in(line):
    """The modes that a line of the extracted program describes."""
    numbers = iter(map(int, line[1:]))
    return None if line[0] == "none" else [tuple(mode) for mode in lists(numbers, len(line) // 3)]


def compare_complements(questions, decide, command):
    began, wrong, none = time.time(), [], 0
    texts = [["layout", "complement", modes_text(modes), str(cotarget)] for modes, cotarget in questions]
    for (modes, cotarget), answer in zip(questions, asked(command, texts)):
        library = answer["layout"] and modes_of(answer["layout"])
        # A single address is left out, and so are the modes that repeat addresses; a negative stride has no complement.
        modes = sorted((mode for mode in modes if mode[0] > 1 and mode[1] != 0), key=lambda mode: mode[1])
        proved = None
        if all(stride > 0 for _, stride in modes):
            proved = modes_in(decide.ask(["complement", *flat(modes), cotarget]))
        proved = proved and coalesced(proved)
        none += proved is None
        if proved != library:
            wrong.append({"modes": modes, "cotarget": cotarget, "proved": proved, "library": answer})
    print(f"complements: {len(questions)}, {none} of them none, in {time.time() - began:.1f} s; {len(wrong)} disagree")
    return verdict(wrong, 0, len(questions))


# Layouts of which something is known: what the paper on CuTe's layouts has, a layout whose strides do not nest with a left
# inverse, and one without. Each with the modes of the right inverse and of the left one.
RECORDED_INVERSES = [
    ([(3, 4), (4, 1)], [(4, 3), (3, 1)], [(4, 3), (3, 1)]),
    ([(2, 3), (3, 8), (2, 1)], [(2, 6)], None),
    ([(2, 8), (3, 1)], [(3, 2)], [(8, 2), (2, 1)]),
    ([(5, 1), (2, 1), (4, 2)], [(8, 5)], None),
    ([(2, 2), (2, 3)], [(1, 0)], None),
    ([(3, 2), (3, 3)], [(1, 0)], None),
    ([(2, 1), (2, 0)], [(2, 1)], None),
]


def values(modes):
    found = {0}
    for size, stride in modes:
        found = {value + stride * k for value in found for k in range(size)}
    return found


def endless(modes):
    """The coalesced modes of a layout whose last mode goes on for ever, and whose last size therefore does not matter."""
    *modes, (_, last) = modes
    return coalesced([*modes, (0, last)])


def compare_inverses(name, questions, expected, decide, command):
    began, counts, wrong = time.time(), {"undone": 0, "strides do not nest": 0, "longest": 0, "perhaps not": 0}, []
    texts = [["layout", "inverse", *options, modes_text(modes)] for modes in questions for options in ([], ["--left"])]
    answers = iter(asked(command, texts))
    for k, modes in enumerate(questions):
        right, left = next(answers), next(answers)
        proved = [coalesced(modes_in(decide.ask(["right", *flat(modes)]))), modes_in(decide.ask(["left", *flat(modes)]))]
        is_longest = math.prod(size for size, _ in proved[0]) not in values(modes)
        counts["longest" if is_longest else "perhaps not"] += 1
        counts["undone" if proved[1] else "strides do not nest"] += 1
        agrees = modes_of(right["layout"]) == proved[0] and right["is_longest"] == is_longest
        if proved[1] is None:
            agrees = agrees and left["layout"] is None
        else:
            # The command ends the last mode where numbers end, and it need not fit: what goes on for ever is compared.
            agrees = agrees and left["layout"] is not None and endless(modes_of(left["layout"])) == endless(proved[1])
        if expected is not None:
            known = proved[1] and endless(proved[1])
            agrees = agrees and proved[0] == expected[k][0] and known == (expected[k][1] and endless(expected[k][1]))
        if not agrees:
            wrong.append({"modes": modes, "proved": proved, "library": [right, left]})
    print(f"{name}: {len(questions)} in {time.time() - began:.1f} s: "
          + ", ".join(f"{count} {what}" for what, count in counts.items()) + f"; {len(wrong)} disagree")
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
    known = [(a, b, False) for a, b, _ in RECORDED]
    good = compare_compositions("recorded compositions", known, [answer for *_, answer in RECORDED], decide, arguments.command)
    compositions = [random_composition(rng) for _ in range(arguments.questions)]
    good = compare_compositions("compositions", compositions, None, decide, arguments.command) and good
    complements = [(random_chain(rng), rng.randint(0, 200)) for _ in range(arguments.questions)]
    good = compare_complements(complements, decide, arguments.command) and good
    known = [modes for modes, *_ in RECORDED_INVERSES]
    answers = [inverses for _, *inverses in RECORDED_INVERSES]
    good = compare_inverses("recorded inverses", known, answers, decide, arguments.command) and good
    inverses = [random_chain(rng) if rng.random() < 0.6 else random_layout(rng, rng.randint(1, 3))
                for _ in range(arguments.questions)]
    inverses = [[(size or 1, stride) for size, stride in modes] for modes in inverses]
    good = compare_inverses("inverses", inverses, None, decide, arguments.command) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
