"""Layouts of real models, and what is done with them: the common part of the columns of side_by_side.py.

Run as a program it is the drop-in's column, in a process of its own: it is told on each line of its input how many times to
do what, and prints how many seconds the fastest took. Where tinygrad is loaded the drop-in gives tinygrad's nodes, whose text tinygrad writes.
"""

import gzip
import json
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parents[2] / "shapetracker" / "tests" / "corpus"


def corpus(name: str) -> list[dict[str, Any]]:
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def flat(value: Any) -> Any:
    """Lists as tuples, which tinygrad's caches need."""
    return tuple(map(flat, value)) if isinstance(value, list) else value


def timed(run: Callable[[], object]) -> float:
    """How long a run takes, in seconds."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def chain(tracker: Any, ops: Iterable[tuple[str, Any]]) -> Any:
    for name, argument in ops:
        tracker = getattr(tracker, name)(argument)
    return tracker


class Layouts:
    """Chains of operations and stacks of several views, drawn evenly from the corpus."""

    def __init__(self, quick: bool) -> None:
        cases = [case for case in corpus("chains") if case.get("numel")][:: 60 if quick else 12]
        self.chains = [(flat(case["base"]), [(name, flat(argument)) for name, argument in case["ops"]]) for case in cases]
        self.steps = sum(len(ops) for _, ops in self.chains)
        stacks = [flat([[*view.values()] for view in case["views"]]) for case in corpus("indexed")]
        self.stacks = [stack for stack in stacks if len(stack) > 1][:: 100 if quick else 25]


class Tinygrads:
    """What is measured of a class like tinygrad's: of its own, or of the drop-in."""

    def __init__(self, layouts: Layouts, tracker: Any, view: Any) -> None:
        self.layouts, self.tracker, self.view = layouts, tracker, view
        self.simplified: list[Any] = []

    def operations(self) -> list[Any]:
        return [chain(self.tracker.from_shape(base), ops) for base, ops in self.layouts.chains]

    def simplify(self) -> list[Any]:
        return [self.tracker(tuple(self.view.create(*view) for view in stack)).simplify() for stack in self.layouts.stacks]

    def text(self) -> object:
        self.simplified = self.simplified or self.simplify()
        return self._texts(self.simplified)

    def everything(self) -> object:
        return self._texts([st.simplify() for st in self.operations()])

    def one(self, place: int) -> object:
        base, ops = self.layouts.chains[place]
        return self._texts([chain(self.tracker.from_shape(base), ops).simplify()])

    def _texts(self, trackers: list[Any]) -> object:
        return [tuple(part.render() for part in st.to_indexed_uops()) for st in trackers]


def main() -> None:
    from shapetracker.compat.tinygrad import ShapeTracker, View

    dropin = Tinygrads(Layouts("--quick" in sys.argv), ShapeTracker, View)
    dropin.text()
    for line in sys.stdin:
        times, what, *place = line.split()
        run = partial(getattr(dropin, what), *map(int, place))
        print(min(timed(run) for _ in range(int(times))), flush=True)


if __name__ == "__main__":
    main()
