"""shapetracker beside tinygrad 0.11.0 and NumPy, in one process and one run, as a table of Markdown.

    pip install . numpy tinygrad==0.11.0
    python crates/shapetracker-py/benches/side_by_side.py [--quick]

Cold means that tinygrad's caches of layouts were emptied before each measurement, as for one that it has not met; warm that
the very same question was asked before. shapetracker keeps no caches of layouts: it is the same both times. The drop-in
runs in a process of its own (layouts.py), since it gives tinygrad's nodes where tinygrad is loaded.
"""

import argparse
import functools
import gc
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import layouts as shared
import numpy as np
from layouts import Layouts, Tinygrads, chain, timed
from tinygrad.shape.shapetracker import ShapeTracker as Theirs
from tinygrad.shape.view import View as TheirView

import shapetracker
from shapetracker import ShapeTracker, View


def caches() -> list[Any]:
    """The caches of tinygrad that hold answers about layouts; those of its compiled rules stay."""
    is_cache = lambda thing: type(thing) is functools._lru_cache_wrapper  # noqa: E731
    return [c for c in gc.get_objects() if is_cache(c) and str(c.__module__).startswith("tinygrad.shape.")]


EMPTIED = caches()


def cold(run: Callable[[], object]) -> float:
    """How long a run takes with tinygrad's caches of layouts empty, in seconds."""
    for cache in EMPTIED:
        cache.cache_clear()
    return timed(run)


class Ours:
    """What is measured of this package's own classes."""

    def __init__(self, layouts: Layouts) -> None:
        self.layouts = layouts
        self.simplified = self.simplify()

    def operations(self) -> list[Any]:
        return [chain(ShapeTracker.contiguous(base), ops) for base, ops in self.layouts.chains]

    def simplify(self) -> list[Any]:
        return [ShapeTracker([View(*view) for view in stack]) for stack in self.layouts.stacks]

    def text(self) -> object:
        return self._texts(self.simplified)

    def everything(self) -> object:
        return self._texts(self.operations())

    def one(self, place: int) -> object:
        base, ops = self.layouts.chains[place]
        return self._texts([chain(ShapeTracker.contiguous(base), ops)])

    def _texts(self, trackers: list[Any]) -> object:
        return [(str(e.index), str(e.valid)) for e in (st.index_expr() for st in trackers)]


class Dropin:
    """The drop-in, in a process without tinygrad."""

    def __init__(self, quick: bool) -> None:
        command = [sys.executable, shared.__file__, *(["--quick"] if quick else [])]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def timed(self, *what: object) -> float:
        assert self.process.stdin and self.process.stdout
        print(*what, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def end(self) -> None:
        self.process.communicate()


def layouts(quick: bool) -> None:
    given = Layouts(quick)
    ours, theirs, dropin = Ours(given), Tinygrads(given, Theirs, TheirView), Dropin(quick)
    chains, stacks = len(given.chains), len(given.stacks)
    rows = [
        (f"movement operations ({given.steps} in {chains} chains), each", given.steps, "operations"),
        (f"a stack from its views, simplified ({stacks} of several views), each", stacks, "simplify"),
        ("its index expression as text, each", stacks, "text"),
        (f"all of it, from {chains} chains to text, each", chains, "everything"),
    ]
    repeat = 2 if quick else 5
    print("| | shapetracker | drop-in | tinygrad, cold | tinygrad, warm | tinygrad cold / shapetracker | / drop-in |")
    print("|---|---|---|---|---|---|---|")

    def measured(times: int, what: str, *place: int) -> tuple[float, float, float, float]:
        """The best of several runs one after the other: ours, the drop-in's, and tinygrad's cold and warm."""
        run, their_run = (functools.partial(getattr(column, what), *place) for column in (ours, theirs))
        best = [min(measure(run) for _ in range(times)) for measure, run in ((cold, run), (cold, their_run), (timed, their_run))]
        return best[0], dropin.timed(times, what, *place), best[1], best[2]

    for name, count, what in rows:
        getattr(theirs, what)()
        # In turns, and the best of each: what else the machine does then troubles all of them alike.
        best = [min(column) for column in zip(*(measured(1, what) for _ in range(repeat)))]
        figures = " | ".join(f"{figure / count * 1e6:.1f} us" for figure in best)
        print(f"| {name} | {figures} | {best[2] / best[0]:.0f} | {best[2] / best[1]:.0f} |")
    each = [measured(repeat, "one", place) for place in range(chains)]
    medians = " | ".join(f"{statistics.median(column) * 1e6:.1f} us" for column in zip(*each))
    ratios = " | ".join(f"{statistics.median(times[2] / times[which] for times in each):.0f}" for which in (0, 1))
    print(f"| all of it, the median of the {chains} chains | {medians} | {ratios} |")
    dropin.end()


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
