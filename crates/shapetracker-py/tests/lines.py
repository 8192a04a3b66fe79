"""Random lines of NumPy and PyTorch, as people write them, and what they really do.

A line is drawn call by call, and each call is run as it is drawn: the next one is drawn for the array that is really there.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from counted import LARGEST, NumPy, Runs, Torch

COPIES = re.compile(r"copy|flatten|contiguous|clone|pad|repeat|tile|array\(|astype|roll|pixel|order=|\.rot90\([04],|\('\w'|, '[CFAK]'\)|\.to\(")
"""Calls that ask for an array of its own, or for other elements."""


@dataclass
class Call:
    """One call of a line, and what it really did."""

    text: str
    """On an array `x`."""
    written: int = 0
    """Elements written into new memory, temporaries among them."""
    result: int = 0
    """Those of its result, where that has memory of its own."""
    raises: str = ""
    """The error that it raised. A `view` that raised has the counts of the `reshape` that stands in its place from then on."""
    shape: tuple[int, ...] = ()
    """The shape after it."""

    @property
    def name(self) -> str:
        """What is called, with what distinguishes calls of one name."""
        if self.text.startswith("x["):
            return "[::-1]" if re.search(r":-\d+[],]", self.text) else "[]"
        name = re.split(r"\(", self.text)[0].removeprefix("x").removeprefix(".")
        order = re.search(r"order='\w'|memory_format=torch\.\w+|copy=\w+|axis=|dim=", self.text)
        return name + (f"({order[0]})" if order else "")


@dataclass
class Line:
    """A line of code, and what it really did."""

    library: str
    text: str
    base: tuple[int, ...] | None
    """The shape of `x`; nothing where the text itself makes its array."""
    calls: list[Call]
    value: Any = None
    """What it came to, or would have come to with `reshape` in the place of a `view` that raised; nothing where nothing
    stands in the place of what raised."""
    memory: Any = None
    """The array that `x` was."""
    affine: bool | None = None
    """Whether one offset and one stride for each axis give the addresses of all elements; nothing where a call makes other
    elements, or an array of its own whose addresses are not those of `x`."""
    layout: tuple[tuple[int, ...], ...] | None = None
    """The shape, the strides and the offset of the value over the memory that the line begins with, in bytes, and how many an
    element has; of lines whose elements have types, where nothing was copied."""
    is_typed: bool = False
    """Whether its elements have the types that it says."""
    has_scalar: bool = False
    """Whether an index made a scalar of NumPy, which is no array: that one element is copied into it is not counted."""
    offered: dict[str, int] | None = None
    """What was recorded of code that was offered: how much it writes, where it comes to the same."""

    @property
    def is_own(self) -> bool:
        """Whether it is a chain of shapetracker's own, which no library runs as it is written."""
        return self.text.startswith("(")

    @property
    def raises(self) -> Call | None:
        return next((call for call in self.calls if call.raises), None)

    @property
    def written(self) -> int:
        return sum(call.written for call in self.calls)


def composed(call: str, text: str) -> str:
    """A call on `x`, with the text of an array in the place of `x`."""
    return text + call[1:] if call.startswith("x") else call.replace("(x", f"({text}", 1)


def flipped_first(index: str, shape: tuple[int, ...]) -> str:
    """An index of `x` with negative steps, as one of `x` with those axes flipped, which goes forwards.

    Where it reads nothing there is nothing to flip.
    """
    parts = index[2:-1].split(", ")
    taken = sum(part not in ("None", "...") for part in parts)
    axis, flipped, reads = 0, [], True
    for place, part in enumerate(parts):
        if part == "...":
            axis += len(shape) - taken
        elif part != "None":
            if re.search(r":-\d+$", part):
                begin, end, step = (int(bound) if bound else None for bound in part.split(":"))
                places = range(*slice(begin, end, step).indices(shape[axis]))
                first = shape[axis] - 1 - places[0] if places else 0
                parts[place] = f"{first}:{first + max(len(places) - 1, 0) * -places.step + (len(places) > 0)}:{-places.step}"
                flipped.append(axis)
                reads = reads and len(places) > 0
            axis += 1
    return f"{f'x.flip({tuple(flipped)})' if reads else 'x'}[{', '.join(parts)}]"


class Draws:
    """Draws calls for arrays of a library; each method that begins with `a_` is a kind of call."""

    kinds: dict[str, int]

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def call(self, x: Any) -> str:
        """A call that the array allows, or nearly so."""
        kinds = self.kinds
        while True:
            (kind,) = self.rng.choices([*kinds], [*kinds.values()])
            call = getattr(self, f"a_{kind}")(x, tuple(x.shape))
            if call is not None:
                return str(call)

    def shape(self, size: int, axes: int = 4) -> tuple[int, ...]:
        """A shape of so many elements."""
        rng, shape = self.rng, [size]
        if size == 1 and rng.random() < 0.5:
            shape = []
        for _ in range(rng.randrange(axes)):
            if not shape:
                return tuple(shape)
            place = rng.randrange(len(shape))
            factors = [d for d in range(1, max(shape[place], 1) + 1) if shape[place] % d == 0]
            factor = rng.choice(factors) if shape[place] else rng.choice([0, 1, 2])
            other = shape[place] // factor if factor else rng.choice([0, 1, 3])
            shape[place : place + 1] = [factor, other]
        return tuple(shape)

    def near(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape of as many elements as another one: any, or with two neighbours joined or one axis cut."""
        rng, size = self.rng, math.prod(shape)
        way = rng.random()
        if way < 0.45 and len(shape) > 1:
            at = rng.randrange(len(shape) - 1)
            return (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :])
        if way < 0.7 and len(shape) > 0:
            at = rng.randrange(len(shape))
            factors = [d for d in range(1, shape[at] + 1) if shape[at] % d == 0] or [1]
            factor = rng.choice(factors)
            return (*shape[:at], factor, shape[at] // factor, *shape[at + 1 :])
        return self.shape(size)

    def sizes(self, shape: tuple[int, ...]) -> str:
        """Sizes as the arguments of a call, one of them perhaps -1."""
        rng, written = self.rng, list(map(str, shape))
        if shape and rng.random() < 0.2 and 0 not in shape:
            written[rng.randrange(len(written))] = "-1"
        if not written:
            return "()"
        listed = ", ".join(written)
        return listed if rng.random() < 0.7 else f"({listed}{',' if len(written) == 1 else ''})"

    def pair(self, shape: tuple[int, ...]) -> tuple[int, int] | None:
        """Two axes, perhaps the same, perhaps counted from the last."""
        if not shape:
            return None
        one, other = self.rng.randrange(len(shape)), self.rng.randrange(len(shape))
        return self.counted(one, shape), self.counted(other, shape)

    def two(self, shape: tuple[int, ...]) -> tuple[int, int] | None:
        """Two axes that are not the same."""
        if len(shape) < 2:
            return None
        one, other = self.rng.sample(range(len(shape)), 2)
        return self.counted(one, shape), self.counted(other, shape)

    def moved(self, shape: tuple[int, ...]) -> str:
        """Some axes, and as many places."""
        count = self.rng.randint(1, len(shape))
        taken = [self.rng.sample(range(len(shape)), count) for _ in range(2)]
        return ", ".join(str(tuple(self.counted(axis, shape) for axis in axes)) for axes in taken)

    def counted(self, axis: int, shape: tuple[int, ...]) -> int:
        return axis - len(shape) if self.rng.random() < 0.2 else axis

    def axes(self, shape: tuple[int, ...]) -> list[int]:
        return self.rng.sample(range(len(shape)), len(shape))

    def index(self, shape: tuple[int, ...], backwards: bool) -> str | None:
        """Something between brackets."""
        rng = self.rng
        if not shape:
            return rng.choice(["None", "..."])
        parts = []
        taken = shape[: rng.randint(1, len(shape))]
        for size in taken:
            begin, end = sorted([rng.randint(0, size), rng.randint(0, size)])
            if begin == end and rng.random() < 0.9:
                begin, end = 0, size
            choices = [":", ":", f"{begin}:{end}", f"{begin}:", f":{end}", "::2", f"{begin}:{end}:2", f"-{end}:"]
            if size > 0:
                choices += [str(rng.randrange(size)), str(rng.randrange(size) - size)]
            if backwards:
                choices += ["::-1", "::-1", "::-2", f"{end}:{begin}:-1"]
            parts.append(rng.choice(choices))
        for _ in range(2):
            if rng.random() < 0.15:
                parts.insert(rng.randint(0, len(parts)), "None")
        if rng.random() < 0.1:
            # What stands behind an ellipsis belongs to the last axes.
            parts = ["...", *parts] if len(set(shape)) == 1 else [*parts, "..."]
        if backwards and rng.random() < 0.1:
            parts = [str(rng.randrange(size)) if size else ":" for size in shape] + ["..."] * rng.randrange(2)
        return ", ".join(parts)

    def pads(self, axes: int) -> list[tuple[int, int]]:
        rng = self.rng
        return [(rng.randrange(3), rng.randrange(3)) if rng.random() < 0.6 else (0, 0) for _ in range(axes)]

    def wide(self, shape: tuple[int, ...]) -> list[int]:
        """The sizes to which an array may be broadcast."""
        rng = self.rng
        new = [rng.choice([2, 3]) if size == 1 and rng.random() < 0.7 else size for size in shape]
        return [rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 1, 1, 2]))] + new


class NumPyDraws(Draws):
    kinds = dict(
        reshape=10, index=7, transpose=6, T=5, swapaxes=2, moveaxis=2, ravel=3, flatten=2, copy=3, kept=4, ascontiguous=2,
        pad=3, repeat=3, tile=2, broadcast=4, diagonal=2, windows=2, flip=3, squeeze=2, expand_dims=2, split=2,
        astype=1, ordered=4, roll=2, noise=1,
    )  # fmt: skip

    def of_scalar(self) -> str:
        """A call of what is no array, but one element."""
        functions = ["np.ascontiguousarray(x)", "np.reshape(x, (1, 1))", "np.broadcast_to(x, (2,))", "np.expand_dims(x, 0)"]
        return self.rng.choice(functions)

    def a_reshape(self, x: Any, shape: tuple[int, ...]) -> str:
        to = self.near(shape)
        if self.rng.random() < 0.2:
            return f"np.reshape(x, {to})"
        return f"x.reshape({self.sizes(to)})"

    def a_index(self, x: Any, shape: tuple[int, ...]) -> str:
        return f"x[{self.index(shape, True)}]"

    def a_transpose(self, x: Any, shape: tuple[int, ...]) -> str:
        axes = self.axes(shape)
        listed = ", ".join(map(str, axes))
        if not axes:
            return "x.transpose()"
        choices = [f"x.transpose({tuple(axes)})", f"x.transpose({listed})", f"np.transpose(x, {tuple(axes)})"]
        return self.rng.choice([*choices, "x.transpose()", "np.transpose(x)", f"np.permute_dims(x, {tuple(axes)})"])

    def a_T(self, x: Any, shape: tuple[int, ...]) -> str:
        return "x.mT" if len(shape) > 1 and self.rng.random() < 0.3 else "x.T"

    def a_swapaxes(self, x: Any, shape: tuple[int, ...]) -> str | None:
        pair = self.pair(shape)
        return pair and self.rng.choice([f"x.swapaxes({pair[0]}, {pair[1]})", f"np.swapaxes(x, {pair[0]}, {pair[1]})"])

    def a_moveaxis(self, x: Any, shape: tuple[int, ...]) -> str | None:
        pair = self.pair(shape)
        return pair and f"np.moveaxis(x, {self.moved(shape) if self.rng.random() < 0.4 else f'{pair[0]}, {pair[1]}'})"

    def a_ravel(self, x: Any, shape: tuple[int, ...]) -> str:
        return self.rng.choice(["x.ravel()", "np.ravel(x)", "x.reshape(-1)" if 0 not in shape else "x.ravel()"])

    def a_flatten(self, x: Any, shape: tuple[int, ...]) -> str:
        return "x.flatten()"

    def a_copy(self, x: Any, shape: tuple[int, ...]) -> str:
        return "x.copy()"

    def a_kept(self, x: Any, shape: tuple[int, ...]) -> str:
        calls = ["np.copy(x)", "np.copy(x)", "np.array(x)", "np.asarray(x)", "np.copy(x, order='C')", "x.copy(order='K')"]
        return self.rng.choice([*calls, "x.copy(order='A')", "x.copy('K')", "np.array(x, order='C')", "np.array(x, copy=True)"])

    def a_ascontiguous(self, x: Any, shape: tuple[int, ...]) -> str:
        return "np.ascontiguousarray(x)" if self.rng.random() < 0.9 else "np.ascontiguousarray(x).T"

    def a_pad(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if math.prod(size + 4 for size in shape) > LARGEST:
            return None
        pads = self.pads(len(shape))
        one = self.rng.choice(["1", "2", "(1, 0)", "0"])
        return f"np.pad(x, {self.rng.choice([one, str(pads)]) if pads else one})"

    def a_repeat(self, x: Any, shape: tuple[int, ...]) -> str | None:
        times = self.rng.choice([1, 2, 2, 3])
        if math.prod(shape) * times > LARGEST:
            return None
        if not shape or self.rng.random() < 0.3:
            return self.rng.choice([f"np.repeat(x, {times})", f"np.repeat(x, {times})", f"x.repeat({times})"])
        axis = self.counted(self.rng.randrange(len(shape)), shape)
        calls = [f"np.repeat(x, {times}, axis={axis})", f"np.repeat(x, {times}, {axis})", f"x.repeat({times}, axis={axis})"]
        return self.rng.choice(calls)

    def a_tile(self, x: Any, shape: tuple[int, ...]) -> str | None:
        times = [self.rng.choice([1, 1, 2, 3]) for _ in range(self.rng.randint(1, len(shape) + 1))]
        if math.prod(shape) * math.prod(times) > LARGEST:
            return None
        return f"np.tile(x, {times[0] if len(times) == 1 else tuple(times)})"

    def a_broadcast(self, x: Any, shape: tuple[int, ...]) -> str | None:
        wide = self.wide(shape)
        return None if math.prod(wide) > LARGEST else f"np.broadcast_to(x, {tuple(wide)})"

    def a_diagonal(self, x: Any, shape: tuple[int, ...]) -> str | None:
        axes = self.two(shape)
        if axes is None:
            return None
        offset = self.rng.randint(-shape[axes[0]], shape[axes[1]])
        plain = "x.diagonal()" if self.rng.random() < 0.3 else f"x.diagonal({offset}, {axes[0]}, {axes[1]})"
        return self.rng.choice([plain, f"np.diagonal(x, {offset}, {axes[0]}, {axes[1]})"])

    def a_windows(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if not shape or 0 in shape:
            return None
        name = self.rng.choice(["np.lib.stride_tricks.sliding_window_view", "sliding_window_view"])
        if self.rng.random() < 0.3:
            return f"{name}(x, {tuple(self.rng.randint(1, size) for size in shape)})"
        axis = self.rng.randrange(len(shape))
        return f"{name}(x, {self.rng.randint(1, shape[axis])}, {self.counted(axis, shape)})"

    def a_flip(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if not shape:
            return None
        axis = self.counted(self.rng.randrange(len(shape)), shape)
        calls = ["np.flip(x)", f"np.flip(x, {axis})", f"np.flip(x, axis={axis})", "np.flipud(x)"]
        return self.rng.choice(calls + (["np.fliplr(x)"] if len(shape) > 1 else []))

    def a_squeeze(self, x: Any, shape: tuple[int, ...]) -> str | None:
        ones = [axis for axis, size in enumerate(shape) if size == 1]
        if ones and self.rng.random() < 0.7:
            axis = self.counted(self.rng.choice(ones), shape)
            return self.rng.choice([f"x.squeeze({axis})", f"np.squeeze(x, {axis})"])
        if shape and self.rng.random() < 0.1:
            return f"x.squeeze({self.rng.randrange(len(shape))})"
        return self.rng.choice(["x.squeeze()", "np.squeeze(x)"])

    def a_expand_dims(self, x: Any, shape: tuple[int, ...]) -> str:
        if self.rng.random() < 0.3:
            axes = self.rng.sample(range(len(shape) + 2), 2)
            return f"np.expand_dims(x, {tuple(axis - self.rng.choice([0, len(shape) + 2]) for axis in axes)})"
        return f"np.expand_dims(x, {self.rng.randint(-len(shape) - 1, len(shape))})"

    def a_split(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if not shape:
            return None
        axis = self.rng.randrange(len(shape))
        size = shape[axis]
        parts = self.rng.choice([d for d in range(1, size + 1) if size % d == 0] or [1])
        place = self.rng.randint(0, size)
        which = self.rng.randrange(2)
        calls = [f"np.split(x, {parts}, {axis})[{self.rng.randrange(parts)}]", f"np.split(x, [{place}], {axis})[{which}]"]
        return self.rng.choice([*calls, f"np.array_split(x, 2, {axis})[{which}]"])

    def a_astype(self, x: Any, shape: tuple[int, ...]) -> str:
        types = ["np.float32", "np.int64", "np.float64", "float", "'S67'"]
        more = self.rng.choice(["", "", "", ", copy=False", ", order='C'"])
        return f"x.astype({self.rng.choice(types)}{more})"

    def a_ordered(self, x: Any, shape: tuple[int, ...]) -> str:
        to = self.near(shape)
        calls = [f"x.reshape({to}, order='F')", f"x.reshape({to}, order='C')", "x.ravel('F')", "x.ravel(order='K')"]
        order = self.rng.choice("FFAAK")
        calls += [f"x.ravel('{order}')", f"x.flatten('{order}')", f"np.ravel(x, order='{order}')", f"x.flatten(order='{order}')"]
        calls += [f"x.reshape({self.sizes(to)}, order='{order}')", f"np.reshape(x, {to}, '{order}')"]
        calls += ["x.flatten('F')", "np.asfortranarray(x)", "x.copy(order='F')", "x.flatten(order='C')", "x.copy('C')"]
        return self.rng.choice([*calls, "np.asarray(x, order='C')", "np.asarray(x, order='F')", "np.copy(x, 'F')"])

    def a_roll(self, x: Any, shape: tuple[int, ...]) -> str:
        shift = self.rng.randint(-4, 7)
        if not shape or self.rng.random() < 0.3:
            return f"np.roll(x, {shift})"
        axis = self.counted(self.rng.randrange(len(shape)), shape)
        return self.rng.choice([f"np.roll(x, {shift}, {axis})", f"np.roll(x, {shift}, axis={axis})"])

    def a_noise(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if len(shape) < 2:
            return None
        a, b = self.two(shape) or (0, 1)
        sections = self.rng.choice([d for d in range(1, shape[1] + 1) if shape[1] % d == 0] or [1])
        calls = [f"np.rot90(x, {self.rng.randint(-2, 5)}, ({a}, {b}))", "np.rot90(x)", "np.matrix_transpose(x)"]
        calls += [f"np.rollaxis(x, {a}, {self.rng.randint(0, len(shape))})", "np.rollaxis(x, 1)"]
        calls += [f"np.hsplit(x, {sections})[{self.rng.randrange(sections)}]", "np.vsplit(x, [1])[0]", "np.rollaxis(x, axis=-1)"]
        return self.rng.choice(calls)


class TorchDraws(Draws):
    kinds = dict(
        view=18, reshape=7, index=4, permute=7, transpose=7, t=9, movedim=2, expand=5, repeat=2, tile=1, interleave=2,
        contiguous=4, clone=4, flip=3, flatten=3, ravel=2, unfold=2, diagonal=2, narrow=2, select=2, parts=3, squeeze=2,
        unsqueeze=3, unflatten=2, as_strided=4, pad=3, roll=2, memory=1, noise=1,
    )  # fmt: skip

    FUNCTIONS = frozenset(
        "reshape permute transpose t movedim moveaxis swapaxes flip flatten ravel diagonal narrow select squeeze unsqueeze "
        "unflatten as_strided tile repeat_interleave clone chunk split unbind".split()
    )

    def call(self, x: Any) -> str:
        if not x.is_contiguous() and self.rng.random() < 0.3:
            # What raises is tried more often than it would be by chance.
            return self.a_view(x, tuple(x.shape))
        call = super().call(x)
        # A method may be called as a function.
        method = re.fullmatch(r"x\.(\w+)\((.*)\)(\[\d+\])?", call)
        if method is None or method[1] not in self.FUNCTIONS or self.rng.random() < 0.8:
            return call
        name, arguments, index = method[1], method[2], method[3] or ""
        if name in ("reshape", "permute", "tile", "flip") and not arguments.startswith("("):
            # Their numbers are one argument.
            arguments = f"({arguments}{'' if ',' in arguments else ','})"
        return f"torch.{name}(x{', ' * bool(arguments)}{arguments}){index}"

    def a_view(self, x: Any, shape: tuple[int, ...]) -> str:
        return self.under("view", self.near(shape))

    def a_reshape(self, x: Any, shape: tuple[int, ...]) -> str:
        return self.under("reshape", self.near(shape))

    def under(self, name: str, shape: tuple[int, ...]) -> str:
        """A shape as sizes, or as that of another tensor."""
        other = f"x.{name}_as(torch.empty({', '.join(map(str, shape))}))"
        return other if shape and self.rng.random() < 0.1 else f"x.{name}({self.sizes(shape)})"

    def a_index(self, x: Any, shape: tuple[int, ...]) -> str:
        return f"x[{self.index(shape, self.rng.random() < 0.02)}]"

    def a_permute(self, x: Any, shape: tuple[int, ...]) -> str | None:
        axes = self.axes(shape)
        if not axes:
            return None
        counted = [self.counted(axis, shape) for axis in axes]
        listed = ", ".join(map(str, counted))
        return self.rng.choice([f"x.permute({listed})", f"x.permute({tuple(counted)})"])

    def a_transpose(self, x: Any, shape: tuple[int, ...]) -> str | None:
        pair = self.pair(shape)
        if pair and self.rng.random() < 0.2:
            return f"x.{self.rng.choice(['transpose', 'swapdims'])}(dim0={pair[0]}, dim1={pair[1]})"
        return pair and f"x.{self.rng.choice(['transpose', 'transpose', 'swapaxes'])}({pair[0]}, {pair[1]})"

    def a_t(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if len(shape) < 2:
            return self.rng.choice([None, "x.t()"])
        if len(shape) == 2:
            return self.rng.choice(["x.t()", "x.T", "x.mT", "x.t()"])
        return "x.t()" if self.rng.random() < 0.02 else "x.mT"

    def a_movedim(self, x: Any, shape: tuple[int, ...]) -> str | None:
        pair = self.pair(shape)
        to = self.moved(shape) if pair and self.rng.random() < 0.4 else pair and f"{pair[0]}, {pair[1]}"
        return pair and f"x.{self.rng.choice(['movedim', 'moveaxis'])}({to})"

    def a_expand(self, x: Any, shape: tuple[int, ...]) -> str | None:
        wide = self.wide(shape)
        if math.prod(wide) > LARGEST or not wide:
            return None
        if self.rng.random() < 0.15:
            return f"x.expand_as(torch.empty({', '.join(map(str, wide))}))"
        new = len(wide) - len(shape)
        same = [at >= new and size == shape[at - new] for at, size in enumerate(wide)]
        kept = [-1 if is_same and self.rng.random() < 0.3 else size for is_same, size in zip(same, wide)]
        return f"x.expand({', '.join(map(str, kept))})"

    def a_repeat(self, x: Any, shape: tuple[int, ...]) -> str | None:
        times = [self.rng.choice([1, 1, 2, 3]) for _ in range(len(shape) + self.rng.randrange(2))]
        if math.prod(shape) * math.prod(times) > LARGEST or not times:
            return None
        return f"x.repeat({', '.join(map(str, times))})"

    def a_tile(self, x: Any, shape: tuple[int, ...]) -> str | None:
        times = [self.rng.choice([1, 2, 3]) for _ in range(self.rng.randint(1, len(shape) + 1))]
        if math.prod(shape) * math.prod(times) > LARGEST:
            return None
        return f"x.tile({', '.join(map(str, times))})"

    def a_interleave(self, x: Any, shape: tuple[int, ...]) -> str | None:
        times = self.rng.choice([1, 2, 2, 3])
        if math.prod(shape) * times > LARGEST:
            return None
        if not shape or self.rng.random() < 0.3:
            return f"x.repeat_interleave({times})"
        axis = self.counted(self.rng.randrange(len(shape)), shape)
        return self.rng.choice([f"x.repeat_interleave({times}, {axis})", f"x.repeat_interleave({times}, dim={axis})"])

    def a_contiguous(self, x: Any, shape: tuple[int, ...]) -> str:
        return "x.contiguous()"

    def a_clone(self, x: Any, shape: tuple[int, ...]) -> str:
        formats = ["", "", "memory_format=torch.contiguous_format", "memory_format=torch.preserve_format"]
        if len(shape) == 4 and self.rng.random() < 0.3:
            name = self.rng.choice(["clone", "contiguous", "to"])
            return f"x.{name}(memory_format=torch.channels_last)"
        return f"x.clone({self.rng.choice(formats)})"

    def a_flip(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if not shape:
            return None
        some = self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape)))
        listed = ", ".join(str(self.counted(axis, shape)) for axis in some)
        return self.rng.choice([f"x.flip({listed})", f"x.flip(({listed},))"] + (["x.fliplr()"] if len(shape) > 1 else []))

    def a_flatten(self, x: Any, shape: tuple[int, ...]) -> str:
        begin, end = sorted([self.rng.randrange(max(len(shape), 1)), self.rng.randrange(max(len(shape), 1))])
        return self.rng.choice(["x.flatten()", f"x.flatten({begin})", f"x.flatten({begin}, {end})"])

    def a_ravel(self, x: Any, shape: tuple[int, ...]) -> str:
        return "x.ravel()" if 0 in shape else self.rng.choice(["x.ravel()", "x.reshape(-1)", "x.view(-1)"])

    def a_unfold(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if not shape:
            return None
        axis = self.rng.randrange(len(shape))
        call = f"x.unfold({self.counted(axis, shape)}, {self.rng.randint(0, shape[axis])}, {self.rng.randint(1, 3)})"
        return None if math.prod(shape) * 3 > LARGEST else call

    def a_diagonal(self, x: Any, shape: tuple[int, ...]) -> str | None:
        axes = self.two(shape)
        if axes is None:
            return None
        offset = self.rng.randint(-shape[axes[0]], shape[axes[1]])
        return self.rng.choice(["x.diagonal()", f"x.diagonal({offset}, {axes[0]}, {axes[1]})"])

    def a_narrow(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if not shape:
            return None
        axis = self.rng.randrange(len(shape))
        begin, end = sorted([self.rng.randint(0, shape[axis]), self.rng.randint(0, shape[axis])])
        return f"x.narrow({self.counted(axis, shape)}, {begin}, {end - begin})"

    def a_select(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if not shape or 0 in shape:
            return None
        axis = self.rng.randrange(len(shape))
        index = self.rng.randrange(-shape[axis], shape[axis])
        return f"x.select({self.counted(axis, shape)}, {index})"

    def a_parts(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if not shape or 0 in shape:
            return None
        axis = self.rng.randrange(len(shape))
        size, name = shape[axis], self.rng.choice(["chunk", "split", "unbind", "tensor_split"])
        number = self.rng.randint(1, size)
        if name == "unbind":
            return f"x.unbind({axis})[{self.rng.randrange(size)}]"
        return f"x.{name}({number}, {self.counted(axis, shape)})[0]"

    def a_squeeze(self, x: Any, shape: tuple[int, ...]) -> str | None:
        ones = [axis for axis, size in enumerate(shape) if size == 1]
        if ones and self.rng.random() < 0.6:
            return f"x.squeeze({self.counted(self.rng.choice(ones), shape)})"
        return f"x.squeeze({self.rng.randrange(len(shape))})" if shape and self.rng.random() < 0.2 else "x.squeeze()"

    def a_unsqueeze(self, x: Any, shape: tuple[int, ...]) -> str:
        return f"x.unsqueeze({self.rng.randint(-len(shape) - 1, len(shape))})"

    def a_unflatten(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if not shape or 0 in shape:
            return None
        axis = self.rng.randrange(len(shape))
        factor = self.rng.choice([d for d in range(1, shape[axis] + 1) if shape[axis] % d == 0])
        last = self.rng.choice([-1, shape[axis] // factor])
        return f"x.unflatten({self.counted(axis, shape)}, ({factor}, {last}))"

    def a_as_strided(self, x: Any, shape: tuple[int, ...]) -> str | None:
        room = x.untyped_storage().nbytes() // x.itemsize
        if room <= x.storage_offset():
            # An array without elements may begin behind the last one.
            return None
        begin = x.storage_offset() if self.rng.random() < 0.5 else None
        offset = self.rng.randrange(room) if begin is None else begin
        sizes, strides, last = [], [], offset
        for _ in range(self.rng.randrange(4)):
            stride = self.rng.choice([0, 1, 1, 2, 3, 4, 6])
            most = (room - 1 - last) // stride + 1 if stride else 3
            size = self.rng.randint(1, max(1, min(most, 5)))
            if self.rng.random() < 0.02:
                size = 0
            last += max(size - 1, 0) * stride
            sizes.append(size)
            strides.append(stride)
        at = "" if begin is not None else f", {offset}"
        return f"x.as_strided({tuple(sizes)}, {tuple(strides)}{at})"

    def a_pad(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if math.prod(size + 4 for size in shape) > LARGEST or not shape:
            return None
        pads = [number for pair in self.pads(self.rng.randint(1, len(shape))) for number in pair]
        if self.rng.random() < 0.15 and shape[-1] > 2:
            pads[0] = -1
        return self.rng.choice([f"F.pad(x, {tuple(pads)})", f"torch.nn.functional.pad(x, {tuple(pads)})"])

    def a_roll(self, x: Any, shape: tuple[int, ...]) -> str:
        shift = self.rng.randint(-4, 7)
        if not shape or self.rng.random() < 0.2:
            return f"x.roll({shift})"
        axis = self.counted(self.rng.randrange(len(shape)), shape)
        calls = [f"x.roll({shift}, {axis})", f"x.roll({shift}, dims={axis})", f"x.roll(({shift},), ({axis},))"]
        return self.rng.choice([*calls, f"torch.roll(x, {shift}, {axis})"])

    def a_memory(self, x: Any, shape: tuple[int, ...]) -> str:
        formats = ["contiguous_format", "preserve_format", *["channels_last"] * 3 * (len(shape) == 4)]
        formats += ["channels_last_3d"] * 3 * (len(shape) == 5) or ["channels_last"] * (self.rng.random() < 0.1)
        name = self.rng.choice(["to", "to", "contiguous", "clone"])
        return f"x.{name}(memory_format=torch.{self.rng.choice(formats)})"

    def a_noise(self, x: Any, shape: tuple[int, ...]) -> str | None:
        calls = []
        if len(shape) > 1:
            a, b = self.two(shape) or (0, 1)
            calls += [f"x.rot90({self.rng.randint(-2, 5)}, ({a}, {b}))", "x.rot90()", "x.adjoint()"]
            sections = self.rng.choice([d for d in range(1, shape[1] + 1) if shape[1] % d == 0] or [1])
            calls += [f"x.hsplit({sections})[{self.rng.randrange(sections)}]", "x.vsplit([1])[0]"]
        if len(shape) == 4 and shape[1] % 4 == 0:
            calls += ["F.pixel_shuffle(x, 2)"] * 3
        return self.rng.choice(calls) if calls else None


class TypedNumPyDraws(NumPyDraws):
    """Calls of which each writes nothing but its result, and `view` of types."""

    kinds = dict(
        viewed=16, reshape=6, index=8, transpose=2, T=3, swapaxes=3, ravel=1, flatten=1, copy=1, kept=1, flip=2, squeeze=2,
        expand_dims=2, broadcast=2, diagonal=1, windows=1,
    )  # fmt: skip

    TYPES = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()

    def type(self) -> str:
        """A type as people write it."""
        name, rng = self.rng.choice(self.TYPES), self.rng
        if rng.random() < 0.15:
            return rng.choice(["int", "float", "'S6'", "'S3'", "'S12'", "'V4'", "complex", "np.half", "np.double", "np.single"])
        short = f"'{np.dtype(name).kind}{np.dtype(name).itemsize}'"
        return rng.choice([f"np.{name}", f"np.{name}", f"'{name}'", short, f"'<{short[1:]}"])

    def maker(self, shape: tuple[int, ...]) -> str:
        rng = self.rng
        given = rng.choice(["", f", {self.type()}", f", dtype={self.type()}"])
        if rng.random() < 0.2:
            return f"np.arange({math.prod(shape)}{given if 'dtype' in given else ''})"
        return f"np.{rng.choice(['zeros', 'ones', 'empty'])}({shape}{given})"

    def a_viewed(self, x: Any, shape: tuple[int, ...]) -> str:
        return f"x.view({self.rng.choice(['', 'dtype='])}{self.type()})"


class TypedTorchDraws(TorchDraws):
    """The same of PyTorch."""

    kinds = dict(
        viewed=16, view=4, reshape=4, index=8, permute=3, transpose=4, t=2, movedim=2, expand=2, contiguous=2, clone=1, flip=1,
        flatten=1, unfold=1, diagonal=1, narrow=3, select=2, squeeze=2, unsqueeze=2, as_strided=2, parts=1,
    )  # fmt: skip

    TYPES = (
        "int8 uint8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 short int long half float double"
    ).split()

    def type(self) -> str:
        return f"torch.{self.rng.choice(self.TYPES)}"

    def maker(self, shape: tuple[int, ...]) -> str:
        rng, given = self.rng, self.rng.choice(["", f", dtype={self.type()}", f", dtype={self.type()}"])
        if rng.random() < 0.2:
            return f"torch.arange({math.prod(shape)}{given})"
        listed = ", ".join(map(str, shape))
        inside = listed if shape and rng.random() < 0.5 else str(shape)
        return f"torch.{rng.choice(['zeros', 'ones', 'empty'])}({inside}{given})"

    def a_viewed(self, x: Any, shape: tuple[int, ...]) -> str:
        return f"x.view({self.rng.choice(['', '', 'dtype='])}{self.type()})"


class OwnDraws(Draws):
    """Operations of shapetracker's own chains, each with the call of NumPy and of PyTorch that does the same."""

    kinds = dict(
        reshape=9, permute=5, transpose=2, expand=4, pad=2, shrink=3, flip=2, step=2, squeeze=1, unsqueeze=2, contiguous=2,
        copy=1,
    )  # fmt: skip

    def operation(self, library: str, x: Any) -> tuple[str, str]:
        """An operation as a chain has it, and the call of a library."""
        while True:
            (kind,) = self.rng.choices([*self.kinds], [*self.kinds.values()])
            found: tuple[str, str, str] | None = getattr(self, f"a_{kind}")(tuple(x.shape))
            if found is not None:
                return found[0], found[1 if library == "numpy" else 2]

    def a_reshape(self, shape: tuple[int, ...]) -> tuple[str, str, str]:
        to = self.near(shape)
        return f"reshape({', '.join(map(str, to)) or '()'})", f"x.reshape({to})", f"x.reshape({to})"

    def a_permute(self, shape: tuple[int, ...]) -> tuple[str, str, str] | None:
        axes = self.axes(shape)
        listed = ", ".join(map(str, axes))
        return (f"permute({listed})", f"x.transpose({tuple(axes)})", f"x.permute({listed})") if axes else None

    def a_transpose(self, shape: tuple[int, ...]) -> tuple[str, str, str] | None:
        pair = self.pair(shape)
        return pair and (f"transpose{pair}", f"x.swapaxes{pair}", f"x.transpose{pair}")

    def a_expand(self, shape: tuple[int, ...]) -> tuple[str, str, str] | None:
        to = [self.rng.choice([1, 2, 3]) if size == 1 else size for size in shape]
        listed = ", ".join(map(str, to))
        is_small = shape and math.prod(to) <= LARGEST
        return (f"expand({listed})", f"np.broadcast_to(x, {tuple(to)})", f"x.expand({listed})") if is_small else None

    def a_pad(self, shape: tuple[int, ...]) -> tuple[str, str, str] | None:
        pads = self.pads(len(shape))
        if not shape or math.prod(size + 4 for size in shape) > LARGEST:
            return None
        reversed_pads = tuple(number for pair in reversed(pads) for number in pair)
        return f"pad({', '.join(map(str, pads))})", f"np.pad(x, {pads})", f"torch.nn.functional.pad(x, {reversed_pads})"

    def a_shrink(self, shape: tuple[int, ...]) -> tuple[str, str, str] | None:
        if not shape:
            return None
        ranges = [tuple(sorted([self.rng.randint(0, size), self.rng.randint(0, size)])) for size in shape]
        ranges = [(0, size) if begin == end else (begin, end) for (begin, end), size in zip(ranges, shape)]
        index = ", ".join(f"{begin}:{end}" for begin, end in ranges)
        return f"shrink({', '.join(map(str, ranges))})", f"x[{index}]", f"x[{index}]"

    def a_flip(self, shape: tuple[int, ...]) -> tuple[str, str, str] | None:
        some = self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape))) if shape else []
        listed = ", ".join(map(str, some))
        return (f"flip({listed})", f"np.flip(x, ({listed},))", f"x.flip(({listed},))") if some else None

    def a_step(self, shape: tuple[int, ...]) -> tuple[str, str, str] | None:
        steps = [self.rng.choice([1, 1, 1, 2, -1, -2, 3]) for _ in shape]
        if not shape:
            return None
        backwards = [axis for axis, step in enumerate(steps) if step < 0]
        forwards = f"[{', '.join(f'::{abs(step)}' for step in steps)}]"
        flipped = f"x.flip({tuple(backwards)})" if backwards else "x"
        return f"step({', '.join(map(str, steps))})", f"x[{', '.join(f'::{step}' for step in steps)}]", flipped + forwards

    def a_squeeze(self, shape: tuple[int, ...]) -> tuple[str, str, str]:
        return "squeeze()", "x.squeeze()", "x.squeeze()"

    def a_unsqueeze(self, shape: tuple[int, ...]) -> tuple[str, str, str]:
        axis = self.rng.randint(0, len(shape))
        return f"unsqueeze({axis})", f"np.expand_dims(x, {axis})", f"x.unsqueeze({axis})"

    def a_contiguous(self, shape: tuple[int, ...]) -> tuple[str, str, str] | None:
        # NumPy's gives a scalar an axis.
        return ("contiguous()", "np.ascontiguousarray(x)", "x.contiguous()") if shape else None

    def a_copy(self, shape: tuple[int, ...]) -> tuple[str, str, str]:
        return "copy()", "x.copy()", "x.clone(memory_format=torch.contiguous_format)"


class Lines:
    """Draws lines of one library, and runs them."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs

    def start(self, rng: random.Random, draws: Draws) -> tuple[str, tuple[int, ...] | None, Any]:
        size = rng.choice([6, 12, 24, 30, 36, 12, 24, 36, 60, 4, 8, 1, 0, 16, 18])
        shape = draws.shape(size)
        if rng.random() < 0.65 or not shape:
            return "x", shape, self.runs.addresses(shape)
        prefix = "np" if self.runs.name == "numpy" else "torch"
        comma = "," if len(shape) == 1 else ""
        listed = ", ".join(map(str, shape))
        if rng.random() < 0.3:
            return f"{prefix}.arange({math.prod(shape)})", None, self.runs.addresses((math.prod(shape),))
        maker = rng.choice(["zeros", "ones", "empty"])
        inside = listed if prefix == "torch" and rng.random() < 0.5 else f"({listed}{comma})"
        return f"{prefix}.{maker}({inside})", None, self.runs.addresses(shape)

    def line(self, rng: random.Random, is_typed: bool = False) -> Line:
        """A line at random, perhaps one whose elements have types."""
        self.runs.of_types = is_typed
        if is_typed:
            typed = (TypedNumPyDraws if self.runs.name == "numpy" else TypedTorchDraws)(rng)
            draws: Draws = typed
            text, base = typed.maker(draws.shape(rng.choice([6, 12, 24, 48, 64, 96, 24, 48, 32, 1, 0, 8, 40]))), None
            memory = self.runs.run(text)[0]
        else:
            draws = (NumPyDraws if self.runs.name == "numpy" else TorchDraws)(rng)
            text, base, memory = self.start(rng, draws)
        x, lines, calls, is_scalar, has_scalar = memory, [], [], False, False
        for number in range(rng.choice([1, 2, 2, 3, 3, 3, 4, 4, 5, 6])):
            call = Call(draws.of_scalar() if is_scalar else draws.call(x))
            usual = x
            try:
                x, call.written, call.result = self.once(call.text, x)
            except (RuntimeError, ValueError, TypeError, IndexError, AttributeError) as error:
                call.raises = f"{type(error).__name__}: {str(error).splitlines()[0]}"
                instead = re.sub(r"^x\.view(_as)?\(", r"x.reshape\1(", call.text)
                if instead != call.text and "view size is not compatible" in str(error):
                    x, call.written, call.result = self.once(instead, x)
                elif "step must be greater than zero" in str(error):
                    x, call.written, call.result = self.once(flipped_first(call.text, tuple(x.shape)), x)
                else:
                    x = None
            if is_typed and isinstance(x, np.generic):
                x = usual
                continue
            is_scalar = isinstance(x, np.generic)
            if is_scalar:
                # Functions take it as an array without axes.
                x, has_scalar = np.array(x, dtype=NumPy.TYPE), True
            if x is not None and math.prod(x.shape) > LARGEST:
                x = usual
                continue
            text = composed(call.text, text)
            calls.append(call)
            if x is None:
                break
            call.shape = tuple(x.shape)
            if not is_typed and (getattr(x, "itemsize", 0) != usual.itemsize or x.dtype != usual.dtype):
                # What copies elements of other types is counted as it is here only.
                break
            if rng.random() < 0.06:
                name = "yzwv"[len(lines) % 4]
                lines.append(f"{name} = {text}")
                text = name
        line = Line(self.runs.name, "\n".join([*lines, text]), base, calls, x, memory, is_typed=is_typed, has_scalar=has_scalar)
        if is_typed:
            if x is not None and line.raises is None and line.written == 0:
                line.layout = self.runs.layout(x, memory)
            return line
        # After a copy PyTorch's `as_strided` reads the memory of that.
        reads_copy = "as_strided" in line.text and line.written > 0
        if x is not None and x.dtype == memory.dtype and not reads_copy and not COPIES.search(line.text):
            line.affine = is_affine(self.runs.places(x))
        return line

    def own(self, rng: random.Random) -> Line:
        """A chain of shapetracker's own operations, with what the library does where they are its calls."""
        self.runs.of_types = False
        draws = OwnDraws(rng)
        shape = draws.shape(rng.choice([6, 12, 24, 30, 36, 60, 4, 8, 1, 0, 16, 18]))
        x = memory = self.runs.addresses(shape)
        text, calls = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})", []
        for _ in range(rng.choice([1, 2, 3, 3, 4, 5, 6])):
            operation, code = draws.operation(self.runs.name, x)
            call = Call(code)
            x, call.written, call.result = self.once(code, x)
            call.shape = tuple(x.shape)
            text += f".{operation}"
            calls.append(call)
        line = Line(self.runs.name, text, None, calls, x, memory)
        if not COPIES.search(text):
            line.affine = is_affine(self.runs.places(x))
        return line

    def once(self, code: str, x: Any, **names: int) -> tuple[Any, int, int]:
        """Runs one call: the value, what was written, and what of that is the result's."""
        value, written = self.runs.run(code, x=x, **names)
        if not self.runs.is_array(value):
            return value, written, 0
        if self.runs.name == "pytorch":
            written += self.runs.hidden(code, x)
            is_new = value.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
            size = value.untyped_storage().nbytes() // value.itemsize
        else:
            is_new = value.size > 0 and not np.may_share_memory(value, x)
            size = value.size
            if self.runs.of_types:
                written = size if is_new else 0
            elif ".pad(" in code:
                # The value of the pad is an array of one element, made again for each side.
                written = size
            elif "np.split(" in code:
                # Where it cuts is an array, too; its parts are views.
                written = size if is_new else 0
            elif value.dtype != x.dtype:
                # A buffer of another type is not told from what is counted in bytes.
                written = size if is_new else 0
        return value, written, size if is_new else 0

    def whole(self, line: Line) -> None:
        """Runs the line as it is written: it does what its calls did one after the other."""
        names = {"x": line.memory} if line.base is not None else {}
        try:
            value, written = self.runs.run(line.text, **names)
        except Exception as error:
            # A scalar has a type as wide as its text, which another view of it may not fit.
            assert line.raises is not None or line.has_scalar, f"{line}: {error}"
            return
        # Nor has that view as many elements as one of an array without axes, or raises where that does.
        if line.library == "numpy" and line.has_scalar and ".view(" in line.text:
            return
        assert line.raises is None, line
        assert self.runs.equal(value, line.value), line
        if line.library == "pytorch" and Torch.HIDDEN.search(line.text):
            return
        writes_more = re.search(r"pad\(|np\.split\(", line.text) or line.has_scalar
        is_known = not writes_more and not line.is_typed and value.dtype == line.memory.dtype
        assert not is_known or written == line.written, f"{line} wrote {written}"


def is_affine(x: np.ndarray) -> bool:
    """Whether one offset and one stride for each axis give all elements."""
    if x.size == 0:
        return True
    strides = [int(np.take(x, 1, axis).flat[0] - x.flat[0]) if size > 1 else 0 for axis, size in enumerate(x.shape)]
    places = np.indices(x.shape).reshape(x.ndim, x.size)
    return bool(np.array_equal(x.flat[0] + np.array(strides, dtype=np.int64) @ places, x.ravel()))
