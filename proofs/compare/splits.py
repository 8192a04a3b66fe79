"""Compares the extracted splits of loops with the library's, through the command's `nest`.

    python3 splits.py DECIDE COMMAND [--questions N] [--seed S] [--corpus FILE] [--limit SECONDS]

A question is one or more functions over common loops. The command reads them as indices of accesses, and answers the
factors of each loop and which accesses they do not serve; the extracted program reads all of their values, which Python
computes from the same text. Questions about one function of one loop are put to the command several at a time, as loops
of one statement. A corpus is a file of recorded pairs of views, as in compare.py: of those without masks the address is
the function, and the axes of the later view are the loops.
"""

import argparse
import gzip
import itertools
import json
import math
import random
import sys
import time

from compare import Decide, asked, verdict

# How many questions of one loop the command is asked at a time, and how many values a function may have.
TOGETHER = 8
MOST_VALUES = 1500

LOOPS = ["i", "j", "k", "l", "m"]


# Random functions, as texts that Python and the command read alike.

def some_factors(rng, size):
    """Factors of a size, innermost first."""
    factors = []
    while size > 1 and len(factors) < 3:
        factor = rng.choice([d for d in range(2, size + 1) if size % d == 0])
        factors.append(factor)
        size //= factor
    return factors + [size] * (size > 1)


def of_one_loop(rng, name, size):
    stride = lambda: rng.choice([0, 1, 1, 2, 3, 5, 7, -1, -4, rng.randint(-20, 20)])
    kind, terms = rng.random(), []
    if kind < 0.65:
        # Digits of some split; now and then one that is none, or strides that continue each other.
        weight, step = 1, stride()
        for factor in some_factors(rng, size):
            terms.append(f"{name} // {weight} % {factor} * ({step})")
            weight *= factor
            step = step * factor if rng.random() < 0.2 else stride()
        if rng.random() < 0.15:
            terms.append(f"{name} // {rng.randint(2, 5)} * ({stride()})")
    elif kind < 0.9:
        # Floors whose carries may cancel.
        weight = rng.randint(1, 6)
        for _ in range(rng.randint(1, 3)):
            weight *= rng.randint(1, 4)
            terms.append(f"({rng.randint(1, 9)} * {name} + {rng.choice([0, 0, rng.randint(0, 9)])}) // {weight} * ({stride()})")
        terms.append(f"{name} * ({stride()})")
    else:
        terms.append(f"(({stride()}) * {name} // {rng.randint(2, 4)} + {name} * 2) % {rng.randint(2, 12)} * ({stride()})")
    return terms


def random_question(rng):
    rank = rng.choice([1, 2, 2, 3])
    sizes = [rng.choice([2, 3, 4, 6, 8, 12][:6 if rank < 3 else 4]) for _ in range(rank)]
    if rng.random() < 0.05:
        sizes[rng.randrange(rank)] = 1
    texts = []
    for _ in range(rng.choice([1, 2, 2, 3]) if rank < 3 else rng.choice([1, 2])):
        if rng.random() < 0.3 and rank > 1:
            # A reshape: all loops as one number, taken apart in other digits.
            order = rng.sample(range(rank), rank) if rng.random() < 0.3 else range(rank)
            number = LOOPS[order[0]]
            for axis in order[1:]:
                number = f"({number} * {sizes[axis]} + {LOOPS[axis]})"
            terms = of_one_loop(rng, number, math.prod(sizes))
        else:
            terms = [term for name, size in zip(LOOPS, sizes) for term in of_one_loop(rng, name, size)]
            if rng.random() < 0.1 and rank > 1:
                terms.append(f"({LOOPS[0]} + {LOOPS[1]}) // {rng.randint(2, 3)}")
        # A loop of a statement must be in some index.
        terms += [f"{name} * 0" for name in LOOPS[:rank]]
        texts.append(" + ".join(terms))
    return sizes, texts


def random_line(rng):
    size = rng.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 18, 20, 24, 30, 36, 48, 60])
    return [size], [" + ".join([*of_one_loop(rng, "i", size), "i * 0"])]


def recorded(file):
    """The address of each pair of views as a function of the later view's indices."""
    reading = gzip.open if file.endswith(".gz") else open
    with reading(file, "rt") as lines:
        for line in lines:
            earlier, later = json.loads(line)["views"]
            shape = later["shape"]
            small = 0 < math.prod(shape) <= MOST_VALUES and len(shape) <= len(LOOPS)
            if earlier["mask"] is not None or later["mask"] is not None or not small:
                continue
            strides = zip(LOOPS, later["strides"])
            position = "(" + " + ".join([str(later["offset"]), *(f"{name} * ({stride})" for name, stride in strides)]) + ")"
            terms, weight = [str(earlier["offset"])], 1
            for size, stride in zip(reversed(earlier["shape"]), reversed(earlier["strides"])):
                terms.append(f"{position} // {weight} % {size} * ({stride})")
                weight *= size
            yield shape, [" + ".join(terms + [f"{name} * 0" for name, _ in zip(LOOPS, shape)])]


# The two sides.

def values(sizes, text):
    code = compile(text, "function", "eval")
    return [eval(code, dict(zip(LOOPS, index))) for index in itertools.product(*map(range, sizes))]


def proved(decide, sizes, tables):
    """The factors of each loop, innermost first; False where there are none, None where it took too long."""
    words = ["splits", len(sizes), *sizes, len(tables), *itertools.chain(*tables)]
    line = decide.ask(words)
    if line is None or line[0] == "none":
        return None if line is None else False
    numbers, factors = iter(map(int, line[1:])), []
    for _ in sizes:
        factors.append(list(itertools.islice(numbers, next(numbers))))
    return factors


def nest(loops, functions):
    """The question to the command: functions, each a name, a text and its values, over named loops."""
    lines = [f"{name} = 0..{size}" for name, size in loops]
    product = []
    for name, text, table in functions:
        # A buffer begins at its least index.
        lines.append(f"{name} = ({max(table) - min(table) + 1},)")
        product.append(f"{name}[{text} - ({min(table)})]")
    return ["nest", "out = (1,)", *lines, "out[zero] += " + " * ".join(product)]


def nests(command, questions):
    """The factors of each loop, innermost first, and why functions are not served, for each question."""
    for answer in asked(command, [nest(*question) for question in questions]):
        factors = {split["loop"]: split["factors"][::-1] for split in answer["splits"]}
        yield factors, {one["function"].strip("`"): one["reason"] for one in answer["unserved"]}


class Counts:
    def __init__(self):
        self.counts = {"split": 0, "affine": 0, "none": 0, "open": 0, "too slow": 0}
        self.wrong = []

    def judge(self, sizes, texts, expected, factors, reasons):
        """Compares what is proved with the factors of each loop, innermost first, and the reasons of what is not served."""
        if expected is None:
            self.counts["too slow"] += 1
        elif any("it is open" in reason for reason in reasons):
            self.counts["open"] += 1
        else:
            if expected is False:
                self.counts["none"] += 1
                agrees = bool(reasons)
            else:
                self.counts["split" if any(len(own) > 1 for own in expected) else "affine"] += 1
                agrees = not reasons and factors == [own if len(own) > 1 else [] for own in expected]
            if not agrees:
                self.wrong.append({"sizes": sizes, "functions": texts, "proved": expected, "library": factors, "why": reasons})

    def report(self, name, began):
        print(f"{name}: {sum(self.counts.values())} questions in {time.time() - began:.1f} s: "
              + ", ".join(f"{count} {what}" for what, count in self.counts.items()) + f"; {len(self.wrong)} disagree")
        return verdict(self.wrong, self.counts["open"] + self.counts["too slow"], sum(self.counts.values()))


def compare_lines(name, questions, decide, command):
    """Questions of one function of one loop each, several at a time."""
    began, counts, groups, posed = time.time(), Counts(), [], []
    for at in range(0, len(questions), TOGETHER):
        some = [(sizes, texts, values(sizes, texts[0])) for sizes, texts in questions[at:at + TOGETHER]]
        groups.append(some)
        loops = [(f"i{k}", sizes[0]) for k, (sizes, _, _) in enumerate(some)]
        posed.append((loops, [(f"a{k}", texts[0].replace("i", f"i{k}"), table) for k, (_, texts, table) in enumerate(some)]))
    for some, (factors, reasons) in zip(groups, nests(command, posed)):
        for k, (sizes, texts, table) in enumerate(some):
            own = [reasons[f"a{k}"]] if f"a{k}" in reasons else []
            counts.judge(sizes, texts, proved(decide, sizes, [table]), [factors.get(f"i{k}", [])], own)
    return counts.report(name, began)


def compare(name, questions, decide, command):
    began, counts, posed = time.time(), Counts(), []
    for sizes, texts in questions:
        functions = [(f"a{k}", text, values(sizes, text)) for k, text in enumerate(texts)]
        posed.append((list(zip(LOOPS, sizes)), functions))
    for (sizes, texts), (loops, functions), (factors, reasons) in zip(questions, posed, nests(command, posed)):
        expected = proved(decide, sizes, [table for _, _, table in functions])
        counts.judge(sizes, texts, expected, [factors.get(loop, []) for loop, _ in loops], list(reasons.values()))
    return counts.report(name, began)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("decide")
    parser.add_argument("command")
    parser.add_argument("--questions", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus")
    parser.add_argument("--limit", type=float, default=5.0)
    arguments = parser.parse_args()
    decide = Decide(arguments.decide, arguments.limit)
    rng = random.Random(arguments.seed)
    several = arguments.questions // 20
    lines = [random_line(rng) for _ in range(arguments.questions - several)]
    good = compare_lines("splits of one loop", lines, decide, arguments.command)
    questions = [random_question(rng) for _ in range(several)]
    good = compare("splits of several loops", questions, decide, arguments.command) and good
    if arguments.corpus:
        questions = list(recorded(arguments.corpus))
        good = compare("splits of recorded pairs", questions, decide, arguments.command) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
