"""tinygrad on shapetracker's classes beside tinygrad on its own: results, kernels, index code, time.

    pip install . numpy tinygrad==0.11.0          (and clang, for tinygrad's CPU)
    python crates/shapetracker-py/client/compare.py [--long] [--only NAME ..]

Each program runs in two processes, one a side, which share nothing; both write what came out, and this compares it. The
exit status is 1 if results differ, a program fails, or the index code of a graph has more divisions, modulos, products or
sums in total. Times decide nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

SIDES = ["genuine", "shapetracker"]
#: The longest first, so that two processes at a time end together.
SHORT = "convolutions resnet odd transformer attention pooling indexing symbolic jit devices wide".split()
LONG = ["resnet18", "many_odd"]
GRAPHS = {"resnet_graph": "ResNet", "gpt_graph": "GPT", "odd_graph": "odd layouts"}
OPERATIONS = ["divisions", "modulos", "products", "sums"]
#: tinygrad must neither reuse what it compiled before, nor search for faster kernels.
ENVIRONMENT = {"CPU": "1", "CACHELEVEL": "0", "BEAM": "0", "JITBEAM": "0", "DEBUG": "0", "PYTHONHASHSEED": "0"}
#: How far results may be apart, as a part of the largest, where the kernels add in another order.
TOLERANCE = 1e-5


class Failed(Exception):
    """A side that came to no result."""


def main() -> int:
    parser = argparse.ArgumentParser(description="tinygrad on shapetracker's classes beside tinygrad on its own")
    parser.add_argument("--long", action="store_true", help="larger programs too, and times: about ten minutes")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these programs and graphs alone", default=[])
    dearest = "show the N kernels whose index code is dearest beside tinygrad's"
    parser.add_argument("--dearer", type=int, default=0, metavar="N", help=dearest)
    parser.add_argument("--rounds", type=int, default=3, help="how often the long comparison measures each graph")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="how many processes run at a time")
    arguments = parser.parse_args()

    programs, graphs = SHORT + LONG * arguments.long, list(GRAPHS)
    if arguments.only:
        unknown = [name for name in arguments.only if name not in SHORT + LONG + graphs]
        if unknown:
            parser.error(f"no program {', '.join(unknown)}; there are {', '.join(SHORT + LONG + graphs)}")
        programs = [name for name in SHORT + LONG if name in arguments.only]
        graphs = [name for name in graphs if name in arguments.only]

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.at_once) as pool:
        how = "count everything" if arguments.long or arguments.dearer else "count"
        started = {
            (name, side): pool.submit(ask, name, side, Path(folder), how)
            for name in graphs[::-1] + programs
            for side in SIDES
        }
        report = Report()
        report.header(bool(programs))
        for name in programs:
            report.program(name, *(started[name, side] for side in SIDES))
        report.index_code({name: [started[name, side] for side in SIDES] for name in graphs})
        if arguments.dearer:
            report.dearest(arguments.dearer)
        if arguments.long:
            report.times({name: measured(name, arguments.rounds, Path(folder)) for name in graphs})
    return report.closed()


def ask(name: str, side: str, folder: Path, how: str) -> dict[str, Any]:
    """Runs a program on a side in a process of its own, and returns what that process wrote."""
    to = folder / f"{name}-{side}"
    command = [sys.executable, Path(__file__).with_name("side.py"), "--on", side, "--program", name, "--to", to]
    ended = subprocess.run(
        [*map(str, command), "--how", how], env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        raise Failed(f"{name} on {side} ended with {ended.returncode}:\n{ended.stderr.strip()[-3000:]}")
    found: dict[str, Any] = json.loads(to.with_suffix(".json").read_text())
    # That it is what it is called.
    expected = "shapetracker." if side == "shapetracker" else "tinygrad."
    if not found["classes"].startswith(expected):
        raise Failed(f"{name} on {side} had the trackers of {found['classes']}")
    if to.with_suffix(".npz").exists():
        with np.load(to.with_suffix(".npz")) as arrays:
            found["results"] = dict(arrays)
    return found


def measured(name: str, rounds: int, folder: Path) -> list[dict[str, float]]:
    """For each side the processor time of building, scheduling and lowering: the best of several runs in turns."""
    best: list[dict[str, float]] = [{}, {}]
    for _ in range(rounds):
        for side, times in zip(SIDES, best):
            for what, seconds in ask(name, side, folder, "time")["seconds"].items():
                times[what] = min(seconds, times.get(what, seconds))
    return best


class Report:
    """What is printed as it comes, and how it ends."""

    def __init__(self) -> None:
        self.equal, self.kernels, self.wrong = 0, 0, list[str]()
        self.fallbacks: dict[str, int] = {}
        self.totals = ""

    def header(self, programs: bool) -> None:
        print("tinygrad on its own classes -> on shapetracker's", end="\n\n" if programs else "\n")
        if programs:
            print(f"{'program':<14}{'kernels':>18}  results", flush=True)

    def answers(self, *asked: Future[dict[str, Any]]) -> list[dict[str, Any]] | None:
        """What both sides wrote, or None with the failure noted."""
        try:
            both = [future.result() for future in asked]
        except Failed as failure:
            self.wrong.append(str(failure))
            return None
        for what, times in both[1]["fallbacks"].items():
            self.fallbacks[what] = self.fallbacks.get(what, 0) + times
        return both

    def program(self, name: str, *asked: Future[dict[str, Any]]) -> None:
        both = self.answers(*asked)
        if both is None:
            print(f"{name:<14}{'failed':>18}", flush=True)
            return
        genuine, ours = both
        same_kernels = genuine["names"] == ours["names"]
        wrong, close = differences(genuine["results"], ours["results"], same_kernels)
        self.wrong += [f"{name}: {sentence}" for sentence in wrong]
        self.equal += not wrong
        self.kernels += ours["kernels"]
        count = len(ours["results"])
        verdict = f"{count - len(wrong) - len(close)} equal to the bit"
        if close:
            verdict += f", {len(close)} within {max(close):.0e} of the largest, in kernels of other shapes"
        if wrong:
            verdict += f", {len(wrong)} WRONG"
        print(f"{name:<14}{genuine['kernels']:>8} -> {ours['kernels']:>6}  {verdict}", flush=True)

    def index_code(self, graphs: dict[str, list[Future[dict[str, Any]]]]) -> None:
        self.graphs = {name: both for name, asked in graphs.items() if (both := self.answers(*asked))}
        sums = {operation: [0, 0] for operation in OPERATIONS}
        ways = list(dict.fromkeys(way for both in self.graphs.values() for way in both[0]["counted"]))
        for way in ways:
            header = OPERATIONS if way != "emitted" else ["divisions", "modulos", "products and sums", "bitwise"]
            print(f"\nindex code, {way:<22}" + "".join(f"{operation:>20}" for operation in header))
            for name, both in self.graphs.items():
                kernels = f"{GRAPHS[name]} ({both[0]['distinct']} -> {both[1]['distinct']} kernels)"
                row = f"{kernels:<34}"
                for operation in header:
                    before, after = (total(side["counted"][way], operation) for side in both)
                    dearer = after > before and way != "emitted"
                    row += f"{f'{before} -> {after}':>19}" + ("!" if dearer else " ")
                    if way == "optimized":
                        sums[operation] = [sums[operation][0] + before, sums[operation][1] + after]
                    if dearer and way == "optimized":
                        self.wrong.append(f"{GRAPHS[name]}, {way}: {operation} {before} -> {after}, which is more")
                print(row)
        if self.graphs:
            self.totals = ", ".join(f"{operation} {before} -> {after}" for operation, (before, after) in sums.items())

    def dearest(self, count: int) -> None:
        """The kernels, as plain loops, that have the most operations more than tinygrad's, with their index code."""
        pairs = []
        for name, both in self.graphs.items():
            if both[0]["distinct"] == both[1]["distinct"]:
                for i, (genuine, ours) in enumerate(zip(*(side["each"] for side in both))):
                    counts = [side["plain loops"] for side in (genuine, ours)]
                    more = {kind: total(counts[1], kind) - total(counts[0], kind) for kind in OPERATIONS}
                    pairs.append((sum(max(0, n) for n in more.values()), name, i, more, genuine["code"], ours["code"]))
        pairs.sort(key=lambda pair: -pair[0])
        for _, name, i, more, genuine, ours in pairs[:count]:
            excess = ", ".join(f"{kind} {n:+}" for kind, n in more.items())
            print(f"\n{GRAPHS[name]}, kernel {i}: {excess}")
            for side, code in zip(SIDES, (genuine, ours)):
                print("".join(f"  {side:<13} {text}\n" for text in code), end="")

    def times(self, graphs: dict[str, list[dict[str, float]]]) -> None:
        stages = ["building", "scheduling", "lowering"]
        print(f"\n{'processor time':<14}" + "".join(f"{stage:>24}" for stage in [*stages, "the last two together"]))
        for name, (genuine, ours) in graphs.items():
            pairs = [(genuine[stage], ours[stage]) for stage in stages]
            pairs.append((sum(pair[0] for pair in pairs[1:]), sum(pair[1] for pair in pairs[1:])))
            row = "".join(f"{f'{a:.2f} s -> {b:.2f} s ({a / b:.2f})':>24}" for a, b in pairs)
            print(f"{GRAPHS[name]:<14}{row}")

    def closed(self) -> int:
        for sentence in self.wrong:
            print(f"\nwrong: {sentence}")
        for what, times in sorted(self.fallbacks.items(), key=lambda item: -item[1]):
            print(f"\nleft to tinygrad's own classes, {times} times: {what}", end="")
        parts = [f"{self.equal} programs equal, {self.kernels} kernels"]
        if self.totals:
            parts.append(f"index code: {self.totals}")
        parts.append(f"fallbacks {sum(self.fallbacks.values())}")
        print(f"\nclient: {'; '.join(parts)}")
        return 1 if self.wrong else 0


def total(counted: dict[str, int], operation: str) -> int:
    """How many operations of a kind there are; what is emitted has more kinds than what is counted before."""
    kinds = {
        "products and sums": ["products", "sums", "SUB", "NEG", "MULACC"],
        "bitwise": ["SHL", "SHR", "AND", "OR", "XOR"],
    }
    return sum(counted.get(kind, 0) for kind in kinds.get(operation, [operation]))


def differences(
    expected: dict[str, np.ndarray], found: dict[str, np.ndarray], same_kernels: bool
) -> tuple[list[str], list[float]]:
    """What is wrong, and how far apart is what is not equal and may be apart."""
    if list(expected) != list(found):
        return [f"other results: {sorted(set(expected) ^ set(found))}"], []
    wrong, close = [], []
    for name, right in expected.items():
        ours = found[name]
        if right.shape != ours.shape or right.dtype != ours.dtype:
            wrong.append(f"{name} is {ours.dtype} {ours.shape}, not {right.dtype} {right.shape}")
        elif right.tobytes() != ours.tobytes() and not np.array_equal(right, ours, equal_nan=right.dtype.kind == "f"):
            apart = distance(right, ours)
            if right.dtype.kind == "f" and not same_kernels and apart <= TOLERANCE:
                close.append(apart)
            else:
                wrong.append(f"{name} is {apart:.1e} of its largest element off")
    return wrong, close


def distance(right: np.ndarray, ours: np.ndarray) -> float:
    """The largest difference of two arrays, as a part of the largest element; infinite where only one is finite."""
    finite = np.isfinite(right)
    if not np.array_equal(finite, np.isfinite(ours)) or not np.array_equal(right[~finite], ours[~finite], equal_nan=True):
        return float("inf")
    apart = np.abs(right[finite].astype(np.float64) - ours[finite].astype(np.float64)).max(initial=0.0)
    return float(apart / max(np.abs(right[finite].astype(np.float64)).max(initial=0.0), 1e-30))


if __name__ == "__main__":
    sys.exit(main())
