"""Random lines of NumPy and PyTorch whose sizes are names, and what they really do where the names have values.

The calls are those of `lines.py`, drawn for sizes that are numbers and know what they are called: what is made of them is
written in names.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass
from typing import Any

from counted import LARGEST, Runs
from lines import Draws, Lines, NumPyDraws, TorchDraws, composed, flipped_first

from shapetracker import ParseError, ShapeTracker, Sym, advice

NAMES = {"A": (3, 1, 2, 3, 5), "B": (4, 1, 4, 2, 1), "C": (2, 2, 1, 3, 1), "D": (5, 1, 1, 2, 2)}
"""The values of names: those for which lines are drawn, and others."""


class Named(int):
    """A size that is written with names."""

    sym: Any

    @classmethod
    def of(cls, sym: Any) -> int:
        """The size that has this value where lines are drawn."""
        if isinstance(sym, int):
            return sym
        named = cls(sym.at(**{name: values[0] for name, values in NAMES.items()}))
        named.sym = sym
        return named

    def __str__(self) -> str:
        return str(self.sym)

    def __repr__(self) -> str:
        return str(self.sym)

    def __format__(self, form: str) -> str:
        return format(str(self.sym), form)

    def __mul__(self, other: Any) -> int:
        return Named.of(self.sym * getattr(other, "sym", int(other)))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> int:
        return Named.of(self.sym + getattr(other, "sym", int(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> int:
        return Named.of(self.sym - getattr(other, "sym", int(other)))

    def __floordiv__(self, other: Any) -> int:
        try:
            return Named.of(self.sym // getattr(other, "sym", int(other)))
        except ValueError:
            return int(self) // int(other)


class InNames:
    """Draws calls whose shapes are made of the names of the array's, more often than of numbers."""

    rng: random.Random

    def near(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        rng, way = self.rng, self.rng.random()
        factors = [(at, str(size).split("*")) for at, size in enumerate(shape) if "*" in str(size) and " " not in str(size)]
        if way < 0.4 and factors:
            at, parts = rng.choice(factors)
            part = rng.choice(parts)
            # A power is no factor that can be taken out of the text.
            if part.isidentifier() or part.isdigit():
                outer = Named.of(Sym.parse(part))
                both = [outer, shape[at] // outer]
                rng.shuffle(both)
                return (*shape[:at], *both, *shape[at + 1 :])
        if way < 0.8 and len(shape) > 1:
            at = rng.randrange(len(shape) - 1)
            return (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :])
        if way < 0.95:
            turned = list(shape)
            rng.shuffle(turned)
            return tuple(turned)
        return super().near(shape)  # type: ignore[misc, no-any-return]


class NamedNumPyDraws(InNames, NumPyDraws):
    """Those of NumPy."""


class NamedTorchDraws(InNames, TorchDraws):
    """Those of PyTorch."""


class Shaped:
    """An array that gives its sizes by their names."""

    def __init__(self, array: Any, shape: tuple[int, ...]) -> None:
        self.array, self.shape = array, shape

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)


@dataclass
class NamedLine:
    """A line whose sizes have names, call by call."""

    text: str
    base: tuple[str, ...]
    calls: list[str]


@dataclass
class Done:
    """What a line did where the names have values."""

    does: str
    copied: list[int]
    """Elements written by each call that wrote any; where one raised, as if `reshape` or `flip` stood in its place."""
    value: Any
    written: int


def draw(lines: Lines, rng: random.Random) -> NamedLine | None:
    """A line at random, in which every call is read by shapetracker."""
    lines.runs.of_types = False
    draws: Draws = (NamedNumPyDraws if lines.runs.name == "numpy" else NamedTorchDraws)(rng)
    sizes = [rng.choice(["A", "B", "C", "D", "A", "B", "1", "2", "A*B", "2*C", "B + 1"]) for _ in range(rng.randint(1, 4))]
    maker = f"{'np' if lines.runs.name == 'numpy' else 'torch'}.zeros(({', '.join(sizes)},))"
    text, read, calls = "x", maker, []
    shape = ShapeTracker.parse(maker, where="").shape if set("".join(sizes)) & set(NAMES) else ()
    values = {name: given[0] for name, given in NAMES.items()}
    if not shape or math.prod(Named.of(size) for size in shape) > LARGEST:
        return None
    x = lines.runs.addresses(tuple(int(Named.of(size)) for size in shape))
    for _ in range(rng.choice([1, 2, 2, 3, 3, 4, 5])):
        call = draws.call(Shaped(x, tuple(Named.of(size) for size in shape)))
        if "roll" in call or "astype" in call:
            continue
        more = composed(call, read)
        try:
            shape = ShapeTracker.parse(more, where="").shape
            value = step(lines, call, x, values)[0]
        except (ParseError, RuntimeError, ValueError, TypeError, IndexError, AttributeError, OverflowError):
            continue
        if not lines.runs.is_array(value) or value.dtype != x.dtype or math.prod(value.shape) > LARGEST:
            return None
        x, read, text = value, more, composed(call, text)
        calls.append(call)
    return NamedLine(text, tuple(sizes), calls) if calls else None


def step(lines: Lines, call: str, x: Any, values: dict[str, int]) -> tuple[Any, int, bool]:
    """Runs a call: the value, what was written, and whether it raised, with what stands in its place then."""
    try:
        return *lines.once(call, x, **values)[:2], False
    except (RuntimeError, ValueError) as error:
        instead = re.sub(r"^x\.view(_as)?\(", r"x.reshape\1(", call)
        if instead != call and "view size is not compatible" in str(error):
            return *lines.once(instead, x, **values)[:2], True
        if "step must be greater than zero" in str(error):
            shape = tuple(x.shape)
            return *lines.once(flipped_first(numbers(call, values), shape), x)[:2], True
        raise


def numbers(text: str, values: dict[str, int]) -> str:
    """A call with the values of its names, which stand between brackets."""
    parts = text[2:-1].split(", ")
    bounds = [[eval(bound, {}, dict(values)) if bound.strip() else "" for bound in part.split(":")] for part in parts if part not in ("...", "None")]
    written = iter(":".join(map(str, bound)) for bound in bounds)
    return f"x[{', '.join(part if part in ('...', 'None') else next(written) for part in parts)}]"


def done(lines: Lines, line: NamedLine, shape: tuple[int, ...], values: dict[str, int]) -> Done:
    """Runs a line where the names have values."""
    x, copied, raised = lines.runs.addresses(shape), [], False
    for call in line.calls:
        x, written, raises = step(lines, call, x, values)
        raised |= raises
        if written:
            copied.append(written)
    return Done("raises" if raised else "copies" if copied else "view", copied, x, sum(copied))


def judge(lines: Lines, line: NamedLine, answer: Any, runs: Runs) -> tuple[dict[str, int], list[str]]:
    """What was seen of a line at all values, and what of the answer is not so."""
    seen, wrong = dict.fromkeys(["compared", "apart", "codes", "fewer", "enough", "beside", "more"], 0), []
    said, needs = getattr(answer, line_library(lines)), answer.answer.needs
    for number in range(5):
        values = {name: given[number] for name, given in NAMES.items()}
        used = {name: value for name, value in values.items() if name in answer.answer.names}
        if not all(need.holds(**used) for need in needs):
            continue
        shape = tuple(eval(size, {}, dict(values)) for size in line.base)
        if math.prod(shape) > LARGEST:
            continue
        really = done(lines, line, shape, values)
        if math.prod(really.value.shape) > LARGEST:
            continue
        at = f"{line.text!r}, {line.base} at {values}: {said.sentence!r}, copied {said.copied}, really {really.does}, {really.copied}"
        is_apart = said.does == "undecided" or any(all(literal.holds(**used) for literal in part) for part in said.unless)
        if is_apart:
            seen["apart"] += 1
        else:
            seen["compared"] += 1
            copied = [elements.at(**used) if isinstance(elements, Sym) else elements for _, elements in said.copied]
            if said.does != really.does and not (really.does == "view" and not any(copied)):
                wrong.append(f"does: {at}")
            elif [elements for elements in copied if elements] != really.copied:
                wrong.append(f"copied: {at}")
        if said.code is not None:
            seen["codes"] += 1
            try:
                value, written = runs.run(said.code, x=lines.runs.addresses(shape), **values)
            except Exception as error:
                wrong.append(f"code: raises {type(error).__name__} {error}: {said.code!r}, {at}")
                continue
            if not runs.is_array(value) or not runs.equal(value, really.value):
                wrong.append(f"code: another value: {said.code!r}, {at}")
            elif written > really.written and not is_apart and "np.pad(" not in said.code:
                wrong.append(f"code: writes {written}: {said.code!r}, {at}")
            for enough in re.findall(r"Copying (.+?) elements? is enough", said.sentence):
                seen["enough"] += 1
                if not is_apart and "np.pad(" not in said.code and written > eval(enough, {}, dict(values)):
                    wrong.append(f"sentence: not enough, {written} were written by {said.code!r}, {at}")
            seen["fewer"] += written < really.written
            # The code for these numbers, which knows the smallest copies.
            best = getattr(advice(line.text, shape, **values), line_library(lines)).code
            if best is not None and not is_apart:
                seen["beside"] += 1
                seen["more"] += written > runs.run(best, x=lines.runs.addresses(shape), **values)[1]
    return seen, wrong


def line_library(lines: Lines) -> str:
    return "numpy" if lines.runs.name == "numpy" else "pytorch"
