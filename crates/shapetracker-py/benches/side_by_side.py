"""shapetracker beside tinygrad 0.11.0 and NumPy, in one process and one run, as a table of Markdown.

    pip install . numpy tinygrad==0.11.0
    python crates/shapetracker-py/benches/side_by_side.py [--quick]

Cold means that tinygrad's caches of layouts were emptied before each measurement, as for one that it has not met; warm that
the very same question was asked before. shapetracker keeps no caches of layouts: it is the same both times.
"""

import argparse
import functools
import gc
import gzip
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tinygrad.shape.shapetracker import ShapeTracker as Theirs
from tinygrad.shape.view import View as TheirView

import shapetracker
from shapetracker import ShapeTracker, View
from shapetracker.compat.tinygrad import ShapeTracker as Dropin
from shapetracker.compat.tinygrad import View as DropinView

CORPUS = Path(__file__).parents[2] / "shapetracker" / "tests" / "corpus"


def corpus(name: str) -> list[dict[str, Any]]:
    with gzip.open(CORPUS / f"{name}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def caches() -> list[Any]:
    """The caches of tinygrad that hold answers about layouts; those of its compiled rules stay."""
    is_cache = lambda thing: type(thing) is functools._lru_cache_wrapper  # noqa: E731
    return [c for c in gc.get_objects() if is_cache(c) and str(c.__module__).startswith("tinygrad.shape.")]


EMPTIED = caches()


def timed(run: Callable[[], object]) -> float:
    """How long a run takes, in seconds."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def cold(run: Callable[[], object]) -> float:
    """The same with tinygrad's caches of layouts empty."""
    for cache in EMPTIED:
        cache.cache_clear()
    return timed(run)


def flat(value: Any) -> Any:
    """Lists as tuples, which tinygrad's caches need."""
    return tuple(map(flat, value)) if isinstance(value, list) else value


def chain(tracker: Any, base: tuple[int, ...], ops: list[tuple[str, Any]]) -> Any:
    for name, argument in ops:
        tracker = getattr(tracker, name)(argument)
    return tracker


def layouts(quick: bool) -> None:
    cases = [case for case in corpus("chains") if case.get("numel")][:: 60 if quick else 12]
    chains = [(flat(case["base"]), [(name, flat(argument)) for name, argument in case["ops"]]) for case in cases]
    steps = sum(len(ops) for _, ops in chains)
    stacks = [flat([[*view.values()] for view in case["views"]]) for case in corpus("indexed")]
    stacks = [stack for stack in stacks if len(stack) > 1][:: 100 if quick else 25]

    def ours_chains() -> list[Any]:
        return [chain(ShapeTracker.contiguous(base), base, ops) for base, ops in chains]

    def their_chains(kind: Any) -> Callable[[], list[Any]]:
        return lambda: [chain(kind.from_shape(base), base, ops) for base, ops in chains]

    def ours_stacks() -> list[Any]:
        return [ShapeTracker([View(*view) for view in stack]) for stack in stacks]

    def their_stacks(kind: Any, view: Any) -> Callable[[], list[Any]]:
        return lambda: [kind(tuple(view.create(*v) for v in stack)).simplify() for stack in stacks]

    def ours_expressions(trackers: list[Any]) -> Callable[[], object]:
        return lambda: [(str(e.index), str(e.valid)) for e in (st.index_expr() for st in trackers)]

    def their_expressions(trackers: list[Any]) -> Callable[[], object]:
        return lambda: [tuple(part.render() for part in st.to_indexed_uops()) for st in trackers]

    def ours_all() -> None:
        ours_expressions(ours_chains())()

    def theirs_all(kind: Any) -> Callable[[], object]:
        return lambda: their_expressions([st.simplify() for st in their_chains(kind)()])()

    rows: list[tuple[str, int, Callable[[], object], Callable[[], object], Callable[[], object]]] = [
        (f"movement operations ({steps} in {len(chains)} chains), each", steps,
         ours_chains, their_chains(Dropin), their_chains(Theirs)),
        (f"a stack from its views, simplified ({len(stacks)} of several views), each", len(stacks),
         ours_stacks, their_stacks(Dropin, DropinView), their_stacks(Theirs, TheirView)),
        ("its index expression as text, each", len(stacks),
         ours_expressions(ours_stacks()), their_expressions(their_stacks(Dropin, DropinView)()),
         their_expressions(their_stacks(Theirs, TheirView)())),
        (f"all of it, from {len(chains)} chains to text, each", len(chains),
         ours_all, theirs_all(Dropin), theirs_all(Theirs)),
    ]  # fmt: skip
    repeat = 2 if quick else 5
    print("| | shapetracker | drop-in, cold | tinygrad, cold | tinygrad, warm | tinygrad cold / shapetracker |")
    print("|---|---|---|---|---|---|")
    for name, count, ours, dropin, theirs in rows:
        # In turns, and the best of each: what else the machine does then troubles all of them alike.
        rounds = [(cold(ours), cold(dropin), cold(theirs), timed(theirs)) for _ in range(repeat)]
        a, b, c, d = map(min, zip(*rounds))
        figures = " | ".join(f"{figure / count * 1e6:.1f} us" for figure in (a, b, c, d))
        print(f"| {name} | {figures} | {c / a:.0f} |")

    def whole(kind: Any, make: Callable[[Any], Any], base: Any, ops: Any) -> Callable[[], object]:
        if kind is ShapeTracker:
            return lambda: ours_expressions([chain(make(base), base, ops)])()
        return lambda: their_expressions([chain(make(base), base, ops).simplify()])()

    each = []
    for base, ops in chains:
        ours = whole(ShapeTracker, ShapeTracker.contiguous, base, ops)
        dropin, theirs = (whole(kind, kind.from_shape, base, ops) for kind in (Dropin, Theirs))
        each.append([min(cold(run) for _ in range(repeat)) for run in (ours, dropin, theirs)])
        each[-1].append(min(timed(theirs) for _ in range(repeat)))
    medians = " | ".join(f"{statistics.median(column) * 1e6:.1f} us" for column in zip(*each))
    ratio = statistics.median(times[2] / times[0] for times in each)
    print(f"| all of it, the median of the {len(chains)} chains | {medians} | {ratio:.0f} |")


def copies(quick: bool) -> None:
    rng = np.random.default_rng(0)
    large = 1 if quick else 4
    image = rng.random((8 * large, 64, 56, 56), dtype=np.float32)
    matrix = rng.random((1000 * large, 4096), dtype=np.float32)
    small = rng.random((8, 8), dtype=np.float32)
    n = image.shape[0]

    def windows(array: np.ndarray) -> np.ndarray:
        padded = np.pad(array, ((0, 0), (0, 0), (1, 1), (1, 1)))
        seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
        return seen.transpose(0, 2, 3, 1, 4, 5).reshape(n * 56 * 56, 64 * 9)

    padded = ShapeTracker.contiguous(image.shape).pad((0, 0), (0, 0), (1, 1), (1, 1))
    seen = padded.as_strided((n, 56, 56, 64, 3, 3), (64 * 58 * 58, 58, 1, 58 * 58, 58, 1)).reshape(n * 56 * 56, 64 * 9)
    two_views = ShapeTracker.contiguous(matrix.shape).permute(1, 0).reshape(matrix.shape)
    cases: list[tuple[str, ShapeTracker, np.ndarray, Callable[[np.ndarray], np.ndarray]]] = [
        ("transpose of a matrix", ShapeTracker.contiguous(matrix.shape).permute(1, 0), matrix,
         lambda a: np.ascontiguousarray(a.T)),
        ("a transpose under the old shape (two views)", two_views, matrix, lambda a: a.T.reshape(a.shape)),
        ("NCHW to NHWC", ShapeTracker.contiguous(image.shape).permute(0, 2, 3, 1), image,
         lambda a: np.ascontiguousarray(a.transpose(0, 2, 3, 1))),
        ("a margin of zeros", padded, image, lambda a: np.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)))),
        ("windows of a convolution (im2col)", seen, image, windows),
        ("8 x 8 transposed", ShapeTracker.contiguous(8, 8).permute(1, 0), small, lambda a: np.ascontiguousarray(a.T)),
    ]  # fmt: skip
    print("| | moved | shapetracker | NumPy | NumPy / shapetracker |")
    print("|---|---|---|---|---|")
    for name, tracker, array, theirs in cases:
        assert np.array_equal(shapetracker.apply(tracker, array, copy=True), theirs(array)), name
        many = 1 if array.size > 1000 else 10_000
        ours = lambda: [shapetracker.apply(tracker, array, copy=True) for _ in range(many)]  # noqa: B023, E731
        numpy = lambda: [theirs(array) for _ in range(many)]  # noqa: B023, E731
        pairs = [(timed(ours), timed(numpy)) for _ in range(3 if quick else 9)]
        a, b = (min(column) / many for column in zip(*pairs))
        moved = (tracker.numel * array.itemsize) / 2**20
        shown = [f"{time * 1e3:.1f} ms" if time > 1e-4 else f"{time * 1e6:.2f} us" for time in (a, b)]
        print(f"| {name} | {moved:.0f} MiB | {shown[0]} | {shown[1]} | {b / a:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer cases and repetitions")
    arguments = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, NumPy {np.__version__}, one thread\n")
    layouts(arguments.quick)
    print()
    copies(arguments.quick)


if __name__ == "__main__":
    main()
