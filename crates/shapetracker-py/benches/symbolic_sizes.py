"""Sizes that are names: shapetracker beside tinygrad's views, torch's guards and z3, as a table of Markdown.

    pip install . tinygrad==0.11.0 z3-solver torch
    python crates/shapetracker-py/benches/symbolic_sizes.py

Each row is a chain of operations, and the question for which sizes its result is one view. What is not installed is left
out, with the reason. All names are sizes of 1 to 4096, but for the begin of a range, which is from 0.

- shapetracker: the chain and the answer, the best of several runs; nothing is remembered between them.
- tinygrad: the number of views that its `ShapeTracker` ends with over `Variable`s of the same ranges, simplified.
- torch: the same operations on a fake tensor whose sizes are dynamic, under a fresh `ShapeEnv` each time: how many guards
  `reshape` leaves, and whether the result is a view, both at the sizes that it is shown (hints). What it does elsewhere
  is to run again.
- z3: whether it proves that where the formula holds the result is one view, from the definition: no two unit steps along
  an axis of the result move the address by different amounts. That is one half of what the formula says; the other half
  has a quantifier more.
"""

import argparse
import platform
import re
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

from shapetracker import ShapeTracker, Sym

SIZES = {name: Sym(name, 1, 4096) for name in ["B", "T", "H", "D", "N", "G", "L", "M", "h", "w", "C", "n"]} | {"s": Sym("s", 0, 4096)}
B, T, H, D, N, G, L, M, h, w, C, n, s = SIZES.values()

Steps = list[tuple[str, tuple[Any, ...]]]

# The name of the question, the contiguous shape, and the operations, of which the last one is the reshape in question.
QUESTIONS: list[tuple[str, tuple[Any, ...], Steps]] = [
    ("(n, 32) as (4, 8n)", (n, 32), [("reshape", (4, 8 * n))]),
    ("heads apart, as (B, H*T, D)", (B, T, H, D), [("permute", (0, 2, 1, 3)), ("reshape", (B, H * T, D))]),
    ("heads apart, as (B*H, T, D)", (B, T, H, D), [("permute", (0, 2, 1, 3)), ("reshape", (B * H, T, D))]),
    ("heads apart, flat", (B, T, H, D), [("permute", (0, 2, 1, 3)), ("reshape", (B * T * H * D,))]),
    (
        "k of (B, T, 3*H*D), as (B*H, T, D)",
        (B, T, 3, H, D),
        [("permute", (2, 0, 3, 1, 4)), ("shrink", ((1, 2), (0, B), (0, H), (0, T), (0, D))), ("reshape", (B * H, T, D))],
    ),
    (
        "cache cut to [s, s+L), as (B*H, L, D)",
        (B, H, N, D),
        [("shrink", ((0, B), (0, H), (s, s + L), (0, D))), ("reshape", (B * H, L, D))],
    ),
    (
        "cache cut to [s, s+L), as (B, H, L*D)",
        (B, H, N, D),
        [("shrink", ((0, B), (0, H), (s, s + L), (0, D))), ("reshape", (B, H, L * D))],
    ),
    ("groups, as (B, H*G, T, D)", (B, H, 1, T, D), [("expand", (B, H, G, T, D)), ("reshape", (B, H * G, T, D))]),
    ("both axes reversed, flat", (B, T), [("flip", (True, True)), ("reshape", (B * T,))]),
    (
        "windows of M by M, as (B*h*w, M*M, C)",
        (B, h, M, w, M, C),
        [("permute", (0, 1, 3, 2, 4, 5)), ("reshape", (B * h * w, M * M, C))],
    ),
]


def number(size: Any, names: dict[str, Any]) -> Any:
    """A size, or pairs and tuples of them, over other names: by its text, which is Python."""
    if isinstance(size, tuple):
        return tuple(number(item, names) for item in size)
    if not isinstance(size, Sym):
        return size
    # Not everything that can be multiplied has powers.
    return eval(re.sub(r"(\w+)\*\*(\d+)", lambda power: "*".join([power[1]] * int(power[2])), str(size)), {}, names)


def best(run: Callable[[], Any], repeat: int) -> tuple[Any, float]:
    """What it gives, and how long it takes, in milliseconds."""
    shortest, found = float("inf"), None
    for _ in range(repeat):
        begin = time.perf_counter()
        found = run()
        shortest = min(shortest, time.perf_counter() - begin)
    return found, shortest * 1e3


def performed(tracker: Any, steps: Steps) -> Any:
    for op, argument in steps:
        tracker = getattr(tracker, op)(argument)
    return tracker


def ours(shape: tuple[Any, ...], steps: Steps) -> str:
    def run() -> Any:
        return performed(ShapeTracker.contiguous(shape), steps).single_view()

    answer, ms = best(run, 50)
    text = {"all": "always", "never": "never"}.get(answer.kind, str(answer).removeprefix("one view if and only if "))
    return f"{text} | {ms * 1e3:.0f} us"


class Tinygrad:
    title = "tinygrad: views"

    def __init__(self) -> None:
        from tinygrad import Variable
        from tinygrad.shape.shapetracker import ShapeTracker as Theirs

        self.tracker = Theirs
        self.names = {name: Variable(name, 1 if name != "s" else 0, 4096) for name in SIZES}
        self.version = f"tinygrad {metadata.version('tinygrad')}"

    def answer(self, shape: tuple[Any, ...], steps: Steps, _: Any) -> str:
        def run() -> Any:
            moved = [(op, number(argument, self.names)) for op, argument in steps]
            return performed(self.tracker.from_shape(number(shape, self.names)), moved).simplify()

        found, ms = best(run, 1)
        return f"{len(found.views)}, {ms:.0f} ms"


class Torch:
    title = "torch: guards"
    HINTS = {"B": 3, "T": 5, "H": 7, "D": 11, "N": 13, "G": 2, "L": 6, "M": 4, "h": 9, "w": 10, "C": 8, "n": 12, "s": 4}

    def __init__(self) -> None:
        import torch
        from torch._subclasses.fake_tensor import FakeTensorMode
        from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

        self.torch, self.mode, self.env = torch, FakeTensorMode, ShapeEnv
        self.dynamic, self.static, self.context = DimDynamic.DYNAMIC, DimDynamic.STATIC, StatelessSymbolicContext
        self.version = f"torch {torch.__version__}"

    def answer(self, shape: tuple[Any, ...], steps: Steps, _: Any) -> str:
        if any(op == "flip" for op, _ in steps):
            return "has no negative strides"
        occurring = sorted({name for size in shape if isinstance(size, Sym) for name in size.names})
        pairs = [part if isinstance(part, tuple) else (part,) for _, argument in steps for part in argument]
        others = sorted({name for pair in pairs for size in pair if isinstance(size, Sym) for name in size.names} - set(occurring))

        def run() -> Any:
            env = self.env()
            mode = self.mode(shape_env=env)
            dims = lambda sizes: [self.static if isinstance(x, int) else self.dynamic for x in sizes]  # noqa: E731
            x = mode.from_tensor(
                self.torch.empty(number(shape, self.HINTS)), symbolic_context=self.context(dynamic_sizes=dims(shape))
            )
            names: dict[str, Any] = {}
            for size, given in zip(shape, x.shape):
                if isinstance(size, Sym):
                    names.setdefault(str(size), given)
            if others:
                # Sizes that are none of the tensor's come with another one.
                y = mode.from_tensor(
                    self.torch.empty([self.HINTS[name] for name in others]),
                    symbolic_context=self.context(dynamic_sizes=[self.dynamic] * len(others)),
                )
                names |= dict(zip(others, y.shape))
            with mode:
                for op, argument in steps:
                    argument = number(argument, names)
                    if op == "shrink":
                        index = tuple(slice(begin, end) for begin, end in argument)
                        x = x[index]
                    else:
                        x = getattr(x, op)(argument)
            return len(env.guards), x._is_view()

        (guards, is_view), ms = best(run, 3)
        return f"{guards}, {'a view' if is_view else 'a copy'}, {ms:.0f} ms"


class Z3:
    title = "z3: proves it"
    LIMIT = 10

    def __init__(self) -> None:
        import z3

        self.z3, self.version = z3, f"z3 {metadata.version('z3-solver')}"

    def answer(self, shape: tuple[Any, ...], steps: Steps, answer: Any) -> str:
        z3 = self.z3
        view = performed(ShapeTracker.contiguous(shape), steps[:-1]).as_view()
        to = steps[-1][1]
        names = {name: z3.Int(name) for name in SIZES}
        begin = time.perf_counter()
        verdicts = []
        for axis in range(len(to)):
            solver = z3.Solver()
            solver.set("timeout", self.LIMIT * 1000)
            for name, size in names.items():
                solver.add(size >= (0 if name == "s" else 1), size <= 4096)
            for need in answer.needs:
                solver.add(eval(str(need), {}, names))
            holds = [z3.And(*(eval(str(c), {}, names) for c in together)) for together in answer.formula]
            solver.add(z3.Or(*holds))

            def address(index: list[Any], label: str) -> Any:
                """The address of an index of the result: the digits of its position are the index of the view."""
                position, weight = 0, 1
                for entry, size in reversed(list(zip(index, number(to, names)))):
                    position, weight = position + entry * weight, weight * size
                digits, found, weight = [z3.Int(f"{label}{k}") for k in range(view.ndim)], number(view.offset, names), 1
                rest = 0
                for digit, size, stride in reversed(list(zip(digits, number(view.shape, names), number(view.strides, names)))):
                    solver.add(0 <= digit, digit < size)
                    rest, weight = rest + digit * weight, weight * size
                    found = found + digit * stride
                solver.add(rest == position)
                return found

            steps_of = []
            for place in "ij":
                index = [z3.Int(f"{place}{k}") for k in range(len(to))]
                for k, (entry, size) in enumerate(zip(index, number(to, names))):
                    solver.add(0 <= entry, entry + (k == axis) < size)
                after = [entry + 1 if k == axis else entry for k, entry in enumerate(index)]
                steps_of.append(address(after, f"{place}b") - address(index, f"{place}a"))
            solver.add(steps_of[0] != steps_of[1])
            verdicts.append(str(solver.check()))
            if verdicts[-1] != "unsat":
                break
        ms = (time.perf_counter() - begin) * 1e3
        verdict = {"unsat": "yes", "unknown": f"unknown after {self.LIMIT} s an axis", "sat": "REFUTED"}[verdicts[-1]]
        return f"{verdict}, {ms:.0f} ms"


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    others: list[Any] = []
    versions = [f"Python {platform.python_version()}"]
    for kind in (Tinygrad, Torch, Z3):
        try:
            others.append(kind())
            versions.append(others[-1].version)
        except (ImportError, OSError) as err:
            print(f"{kind.title}: left out, because {err}", file=sys.stderr)
    print(", ".join(versions))
    print()
    print("| | one view if and only if | shapetracker |" + "".join(f" {other.title} |" for other in others))
    print("|---|---|---|" + "---|" * len(others))
    for title, shape, steps in QUESTIONS:
        answer = performed(ShapeTracker.contiguous(shape), steps).single_view()
        cells = [ours(shape, steps)]
        for other in others:
            try:
                cells.append(other.answer(shape, steps, answer))
            except Exception as err:  # noqa: BLE001 - what it raises is its answer.
                cells.append(f"{type(err).__name__}: {str(err).splitlines()[0][:60] if str(err) else ''}")
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
