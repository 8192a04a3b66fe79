"""The advice of shapetracker, held against what random lines of NumPy and PyTorch really do (`lines.py`, `counted.py`).

    python advised.py --lines 100000        # draws, runs and compares, and prints a table
    python advised.py --record              # writes anew what PyTorch did, for machines that have no PyTorch
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import math
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from counted import NumPy, Runs, Torch
from lines import Call, Line, Lines

RECORDED = Path(__file__).with_name("advised_torch.jsonl.gz")
"""What PyTorch did with the lines that the tests judge where there is no PyTorch."""


def compare(line: Line, answer: Any, runs: Runs | None) -> list[tuple[str, str]]:
    """What the advice says that is not so: kinds of fault, each with what was found.

    The code that is offered is run, where there is something to run it in; else what it was recorded to have written is
    looked up.
    """
    found: list[tuple[str, str]] = []

    def wrong(kind: str, detail: Any = "") -> None:
        found.append((kind, str(detail)))

    said = getattr(answer, line.library)
    does, sentence, code = said.does, said.sentence, said.code
    copied = [elements for _, elements in said.copied]
    raising = line.raises
    numbers = [call for call in line.calls if call.written]
    expected = "raises" if raising else "copies" if numbers else "view"

    if line.has_scalar:
        pass
    elif expected == "view" and does == "copies" and copied and not any(copied):
        # An array without elements is copied, and nothing is written.
        pass
    elif does != expected:
        why = raising or next((call for call in line.calls if call.written), None)
        wrong(f"does: said {does}, really {expected}, by `{why.name if why else '-'}`", raising.raises if raising else "")
    elif raising and "view size" in raising.raises:
        views = re.findall(r"`[^`]*\bview\(([^`]*)\)` raises", sentence)
        shapes = [tuple(map(int, re.findall(r"-?\d+", view))) for view in views]
        given = tuple(map(int, re.findall(r"-?\d+", raising.text)))
        if raising.shape not in shapes and given not in shapes:
            wrong("sentence: another call is said to raise", raising.text)

    total = [call.written for call in numbers]
    if raising:
        before = line.calls[: line.calls.index(raising)]
        enough = [call.written for call in before if call.written]
        at_it = enough + [raising.written] * (raising.written > 0)
        full = total if line.value is not None else enough
        right = [enough, at_it, full]
    else:
        right = [total]
    copied = [elements for elements in copied if elements]
    if does == expected and copied not in right and not line.has_scalar:
        alone = [call.result for call in line.calls if call.result]
        if copied == alone and not raising:
            kinds = sorted({call.name for call in numbers if call.written != call.result})
            wrong(f"copied: temporaries are left out, of {', '.join(kinds)}", f"{copied}, really {total}")
        else:
            at = next((i for i, (a, b) in enumerate(zip(copied, total)) if a != b), min(len(copied), len(total)))
            name = numbers[at].name if at < len(numbers) else "none"
            ways = ["other numbers", "too many calls", "too few calls"]
            more = ways[(len(copied) > len(total)) - (len(copied) < len(total))]
            after = " (a line that raises)" if raising else ""
            wrong(f"copied: {more}{after}, first at `{name}`", f"{copied}, really {total}")

    # Sentences against fields.
    for operations, elements in re.findall(r"In all (\d+) operations copy (\d+) elements", sentence):
        if (int(operations), int(elements)) != (len(said.copied), sum(copied)):
            wrong("sentence: the sum is not that of `copied`", sentence)
    if re.search(r"nothing is copied", sentence) and (does != "view" or copied):
        wrong("sentence: nothing is copied, and yet it copies", sentence)
    # Of `x.transpose(0, 1)` each library has a reading of its own; the answer for all of them is that of PyTorch.
    is_numpy = line.library == "numpy" and "np." not in line.text
    own_reading = is_numpy and re.search(r"\.(transpose|repeat|split)\(\d", line.text)
    several = answer.one_view is False and not own_reading
    if several and "the whole chain is one view." in str(answer):
        wrong("sentence: not one view, and yet one view", str(answer))
    if "the whole chain is one view" in sentence and several:
        wrong("sentence: `one_view` is False, and the chain is one view", sentence)
    if does == "view" and several:
        wrong("sentence: a view, and yet not one view", str(answer))

    # The view.
    if own_reading:
        pass
    elif line.affine is not None and answer.one_view is not None and answer.one_view != line.affine:
        wrong(f"view: said {answer.one_view}, really {line.affine}", str(answer))
    elif line.affine and answer.view is not None and runs is not None and line.value is not None:
        places, view = runs.places(line.value), answer.view
        at = np.indices(view.shape).reshape(len(view.shape), math.prod(view.shape))
        theirs = view.offset + np.array(view.strides, dtype=np.int64) @ at
        if places.size and (tuple(view.shape) != places.shape or not np.array_equal(theirs, places.ravel())):
            wrong("view: another one", str(answer))

    if line.layout is not None:
        shape, strides, (offset,), (width,) = line.layout
        bytes_of = answer.view and (tuple(answer.view.shape), [stride * width for stride in answer.view.strides])
        steps = [stride if size > 1 else 0 for size, stride in zip(shape, strides)]
        is_read = math.prod(shape) > 0
        if answer.view is None or bytes_of[0] != shape or is_read and (bytes_of[1] != steps or answer.view.offset * width != offset):
            wrong("view: another one, of elements of a type", f"{answer}, really {line.layout}")

    # The code.
    if code is None:
        return found
    if line.value is None:
        wrong("code: offered for what cannot be done", code)
        return found
    if runs is None:
        if line.offered is None or code not in line.offered:
            wrong("code: none that was recorded as right", code)
            return found
        written = line.offered[code]
    else:
        names = {"x": line.memory}
        try:
            value, written = runs.run(code, **names)
        except Exception as error:
            wrong(f"code: raises {type(error).__name__}", f"{code!r}: {error}")
            return found
        if line.has_scalar and isinstance(value, np.generic):
            value = np.array(value)
        if not runs.is_array(value) or not runs.equal(value, line.value):
            wrong("code: another value", code)
            return found
        if "np.pad(" in code:
            written -= code.count("np.pad(") and _fills(code, runs, line)
    if line.has_scalar or (line.is_typed and line.library == "numpy"):
        # Only buffers of the usual type are counted.
        return found
    if written > line.written:
        wrong("code: writes more than the line", f"{code!r} writes {written}, the line {line.written}")
    elif written == line.written and not raising and not line.is_own:
        # Of a chain of our own the code is how to write it in the library.
        wrong("code: nothing better, and yet code", f"{code!r} writes {written}, the line {line.written}")
    for elements in re.findall(r"Copying (\d+) elements? is enough", sentence):
        if written != int(elements):
            wrong("sentence: it is enough to copy another number than the code does", f"{sentence} {code!r} writes {written}")
    if "Nothing must be copied" in sentence and written:
        wrong("sentence: nothing must be copied, and yet the code copies", f"{sentence} {code!r} writes {written}")
    if line.affine is not None and answer.elements and answer.smallest and written < answer.elements:
        wrong("sentence: no less must be copied, and yet the code copies less", f"{answer} {code!r} writes {written}")
    return found


def _fills(code: str, runs: Runs, line: Line) -> int:
    """How many elements are written for the values of pads in a line of code."""
    extra = 0

    def pad(array: Any, *rest: Any, **named: Any) -> Any:
        nonlocal extra
        value, written = runs.counted(lambda: np.pad(array, *rest, **named))
        extra += written - value.size
        return value

    makers = runs.names()["np"]
    makers.pad = pad
    try:
        names = {"x": line.memory, **runs.names()}
        *before, last = code.splitlines()
        exec("\n".join(before), names)
        eval(last, names)
    finally:
        del makers.pad
    return extra


@dataclass
class Tally:
    """What came of many lines."""

    lines: int = 0
    done: collections.Counter[str] = field(default_factory=collections.Counter)
    refused: collections.Counter[str] = field(default_factory=collections.Counter)
    refusals: dict[str, str] = field(default_factory=dict)
    wrong: collections.Counter[str] = field(default_factory=collections.Counter)
    smallest: dict[str, str] = field(default_factory=dict)
    false: int = 0

    def take(self, line: Line, answer: Any, faults: list[tuple[str, str]]) -> None:
        said = getattr(answer, line.library)
        self.done[said.does] += 1
        self.done["code"] += said.code is not None
        self.false += bool(faults)
        for kind, detail in faults:
            self.wrong[kind] += 1
            shown = f"advice({line.text!r}, {line.base}): {said.sentence!r} copied {said.copied}; {detail}"
            if kind not in self.smallest or len(shown) < len(self.smallest[kind]):
                self.smallest[kind] = shown

    def refuse(self, line: Line, message: str) -> None:
        kind = re.sub(r"`[^`]*`", "`..`", re.sub(r"-?\d+", "N", message.splitlines()[0]))[:110]
        self.refused[kind] += 1
        if kind not in self.refusals or len(line.text) < len(self.refusals[kind]):
            self.refusals[kind] = line.text

    def table(self, name: str) -> str:
        done = self.done
        head = f"{name:<10}{self.lines:>9} lines {done['view']:>8} views {done['copies']:>8} copy {done['raises']:>7} raise"
        lines = [f"{head} {done['code']:>7} codes {sum(self.refused.values()):>7} refused {self.false:>7} false"]
        lines += [f"  {count:>7}  {kind}\n           {self.smallest[kind]}" for kind, count in self.wrong.most_common()]
        return "\n".join(lines)

    def refusals_table(self) -> str:
        return "\n".join(f"  {count:>7}  {kind}   e.g. {self.refusals[kind]!r}" for kind, count in self.refused.most_common(15))


def draw(lines: Lines, seed: int, number: int) -> Line:
    """Line `number` of a seed: every eighth is a chain of our own operations, and every eighth has types of elements."""
    rng = random.Random(f"{seed}:{number}")
    return lines.own(rng) if number % 8 == 7 else lines.line(rng, is_typed=number % 8 == 3)


def tried(tally: Tally, line: Line, runs: Runs | None) -> None:
    """Asks for advice about a line, and adds to a tally what came of it."""
    from shapetracker import ParseError, advice

    tally.lines += 1
    try:
        answer = advice(line.text, line.base)
    except ParseError as error:
        tally.refuse(line, str(error))
        raises = re.search(r"raises a (\w+): to view", str(error))
        if raises and not line.calls[-1].raises.startswith(raises[1]):
            tally.false += 1
            tally.wrong["refused: said to raise, and does not"] += 1
            tally.smallest["refused: said to raise, and does not"] = f"{line.text}: {error}"
        return
    said = getattr(answer, line.library)
    if said is None or said.does == "cannot":
        tally.refuse(line, f"cannot: {said and said.sentence}")
    else:
        tally.take(line, answer, compare(line, answer, runs))


def judged(lines: Lines, seed: int, numbers: range, until: float = math.inf) -> Tally:
    """Draws, runs and compares so many lines, or until it is so late."""
    tally = Tally()
    for number in numbers:
        if number % 64 == 0 and time.monotonic() > until:
            break
        line = draw(lines, seed, number)
        if not line.calls:
            continue
        if not line.is_own:
            lines.whole(line)
        tried(tally, line, lines.runs)
    return tally


def record(lines: Lines, seed: int, count: int) -> None:
    """Writes what PyTorch does with lines at random, for machines that have no PyTorch."""
    from shapetracker import ParseError, advice

    assert isinstance(lines.runs, Torch)
    texts = [json.dumps({"torch": lines.runs.torch.__version__, "lines": count, "seed": seed})]
    number = 0
    while len(texts) <= count:
        line = draw(lines, seed, number)
        number += 1
        if not line.calls or line.is_own or line.is_typed:
            continue
        lines.whole(line)
        try:
            code = getattr(advice(line.text, line.base), "pytorch").code
        except ParseError:
            code = None
        offered = {}
        if code is not None and line.value is not None:
            value, written = lines.runs.run(code, x=line.memory)
            if lines.runs.equal(value, line.value):
                offered[code] = written
        calls = [
            [call.name, call.written, *([call.raises, call.text, call.shape] if call.raises else [])] for call in line.calls
        ]
        texts.append(json.dumps([line.text, line.base, calls, line.value is not None, line.affine, offered]))
    # The name and the time in the head of the file would make it another one each time.
    with open(RECORDED, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write("\n".join(texts).encode() + b"\n")


def recorded() -> Iterator[Line]:
    """The lines of which is recorded what PyTorch did with them."""
    with gzip.open(RECORDED, "rt") as file:
        next(file)
        for text in file:
            text, base, calls, is_done, affine, offered = json.loads(text)
            were = []
            for name, written, *raised in calls:
                call = Call(name, written, written)
                if raised:
                    call.raises, call.text, call.shape = raised[0], raised[1], tuple(raised[2])
                were.append(call)
            shape = None if base is None else tuple(base)
            yield Line("pytorch", text, shape, were, is_done or None, affine=affine, offered=offered)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, help="how many of each library (10,000, or as many as the minutes allow)")
    parser.add_argument("--minutes", type=float, help="end after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library", choices=["numpy", "pytorch"])
    parser.add_argument("--refusals", action="store_true", help="say why lines were refused")
    parser.add_argument("--record", action="store_true", help="write anew what PyTorch did with 3,000 lines")
    options = parser.parse_args()
    count = options.lines or (10_000 if options.minutes is None else 1 << 40)
    minutes = math.inf if options.minutes is None else options.minutes
    # PyTorch and NumPy warn of calls that they will have no longer.
    warnings.simplefilter("ignore")
    if options.record:
        record(Lines(Torch()), options.seed, 3000)
        return 0
    makers: list[Callable[[], Runs]] = [make for make in (NumPy, Torch) if options.library in (None, make.name)]
    begun, false = time.monotonic(), 0
    for place, make in enumerate(makers, 1):
        try:
            drawn = Lines(make())
        except ImportError as error:
            print(f"{make.name:<10} skipped: {error}")
            continue
        until = begun + 60 * minutes * place / len(makers)
        tally = judged(drawn, options.seed, range(count), until)
        print(tally.table(make.name), flush=True)
        if options.refusals:
            print(tally.refusals_table(), flush=True)
        false += tally.false
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
