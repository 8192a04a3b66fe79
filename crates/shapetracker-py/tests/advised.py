"""Random lines of NumPy and PyTorch, what they really do, and the advice of shapetracker held against it.

A line is drawn call by call, and each call is run as it is drawn: the next one is drawn for the array that is really
there. The unit of all counts is an element written into new memory, temporaries of a call among them:

- In NumPy every buffer that an array gets is counted, by a memory handler of our own (NEP 49).
- In PyTorch every new storage that an operation makes is counted, by a mode that sees every operation.

    python advised.py --lines 100000        # draws, runs and compares, and prints a table
    python advised.py --record              # writes anew what PyTorch did, for machines that have no PyTorch

Nothing but `compare` looks at what shapetracker says.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import functools
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
from types import CodeType
from typing import Any

import numpy as np

RECORDED = Path(__file__).with_name("advised_torch.jsonl.gz")
"""What PyTorch did with the lines that the tests judge where there is no PyTorch."""

LARGEST = 600
"""The most elements of an array in a line."""


# What a line really does

COPIES = re.compile(r"copy|flatten|contiguous|clone|pad|repeat|tile|array\(|astype|roll|pixel|order=|ravel\('")
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
    has_scalar: bool = False
    """Whether an index made a scalar of NumPy, which is no array: that one element is copied into it is not counted."""
    offered: dict[str, int] | None = None
    """What was recorded of code that was offered: how much it writes, where it comes to the same."""

    @property
    def raises(self) -> Call | None:
        return next((call for call in self.calls if call.raises), None)

    @property
    def written(self) -> int:
        return sum(call.written for call in self.calls)


class Runs:
    """A library in which code is run and what it writes is counted."""

    name: str
    makers: str

    def addresses(self, shape: tuple[int, ...]) -> Any:
        """A new array whose elements are their own addresses."""
        raise NotImplementedError

    def counted(self, act: Callable[[], Any]) -> tuple[Any, int]:
        """What an action comes to, and how many elements it wrote into new memory."""
        raise NotImplementedError

    def equal(self, one: Any, other: Any) -> bool:
        raise NotImplementedError

    def is_array(self, value: Any) -> bool:
        raise NotImplementedError

    def places(self, value: Any) -> np.ndarray:
        """The elements as numbers, which are addresses."""
        raise NotImplementedError

    def names(self) -> dict[str, Any]:
        raise NotImplementedError

    def run(self, code: str, **names: Any) -> tuple[Any, int]:
        """Runs lines of code, of which the last is an expression: its value, and what it wrote."""
        names |= self.names()
        body, last = compiled(code)

        def act() -> Any:
            if body is not None:
                exec(body, names)
            return eval(last, names)

        return self.counted(act)


@functools.lru_cache(maxsize=1 << 14)
def compiled(code: str) -> tuple[CodeType | None, CodeType]:
    """All lines but the last, and the expression that this is."""
    *before, last = code.splitlines()
    with warnings.catch_warnings():
        # What the compiler has to say about a line is not asked.
        warnings.simplefilter("ignore")
        return compile("\n".join(before), "<line>", "exec") if before else None, compile(last, "<line>", "eval")


class Makers:
    """A library whose functions that make an array fill it with addresses, and are not counted."""

    def __init__(self, runs: Runs, library: Any) -> None:
        self._library = library

        def maker(*sizes: Any, **_: Any) -> Any:
            shape = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
            return runs.addresses(tuple(shape))

        for name in runs.makers.split():
            setattr(self, name, maker)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)


# NumPy


class _Allocator(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("ctx", "malloc", "calloc", "realloc", "free")]


class _Handler(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", _Allocator)]


class Allocations:
    """Sees the size of every buffer that NumPy makes, through `PyDataMem_SetHandler`."""

    SET_HANDLER, GET_HANDLER = 304, 305
    """Their places in the table of NumPy's C API, which never change."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        size, pointer = ctypes.c_size_t, ctypes.c_void_p
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = pointer, [ctypes.py_object, ctypes.c_char_p]
        core = getattr(np, "_core", None) or np.core  # type: ignore[attr-defined]
        table = ctypes.cast(get(core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(pointer))
        self._set = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[self.SET_HANDLER])
        # NumPy's own handler does the work. It also frees: no code of Python runs where memory is given back, which may be
        # while an error is on its way or the interpreter ends.
        self._usual = ctypes.PYFUNCTYPE(ctypes.py_object)(table[self.GET_HANDLER])()
        usual = _Handler.from_address(get(self._usual, b"mem_handler")).allocator
        types = {
            "malloc": ctypes.CFUNCTYPE(pointer, pointer, size),
            "calloc": ctypes.CFUNCTYPE(pointer, pointer, size, size),
            "realloc": ctypes.CFUNCTYPE(pointer, pointer, pointer, size),
        }
        malloc, calloc, realloc = (function(getattr(usual, name)) for name, function in types.items())
        self._functions = (
            types["malloc"](lambda ctx, size: self._seen(size, malloc(ctx, size))),
            types["calloc"](lambda ctx, n, width: self._seen(n * width, calloc(ctx, n, width))),
            types["realloc"](lambda ctx, at, size: self._seen(size, realloc(ctx, at, size))),
        )
        pointers = [ctypes.cast(function, pointer).value for function in self._functions]
        self._handler = _Handler(b"counted", 1, _Allocator(usual.ctx, *pointers, usual.free))
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [pointer, ctypes.c_char_p, pointer]
        self._capsule = new(ctypes.addressof(self._handler), b"mem_handler", None)
        # The handler must outlive every array whose memory it gave.
        _FOR_EVER.append(self)

    def _seen(self, size: int, at: int) -> int:
        self.sizes.append(size)
        return at

    def __enter__(self) -> list[int]:
        self.sizes = []
        self._set(self._capsule)
        return self.sizes

    def __exit__(self, *_: Any) -> None:
        self._set(self._usual)


_FOR_EVER: list[Any] = []


class NumPy(Runs):
    name = "numpy"
    makers = "zeros ones empty arange"
    # No buffer of anything else has a multiple of so many bytes: what NumPy's functions make for axes, sizes and places
    # has eight in an element, or one.
    TYPE = np.dtype("S67")

    def __init__(self) -> None:
        self._allocations = Allocations()
        windows = np.lib.stride_tricks.sliding_window_view
        self._names = {"np": Makers(self, np), "sliding_window_view": windows}
        self._some = np.array([b"%d" % address for address in range(LARGEST + 1)], dtype=self.TYPE)

    def names(self) -> dict[str, Any]:
        return self._names

    def addresses(self, shape: tuple[int, ...]) -> np.ndarray:
        # Made while a line runs, it is not counted.
        seen, self._allocations.sizes = self._allocations.sizes, []
        made = self._some[: math.prod(shape)].copy().reshape(shape)
        self._allocations.sizes = seen
        return made

    def counted(self, act: Callable[[], Any]) -> tuple[Any, int]:
        with self._allocations as before:
            value = act()
            sizes = self._allocations.sizes
            assert sizes is before
        width = self.TYPE.itemsize
        elements = [size // width for size in sizes if size > 0 and size % width == 0]
        return value, sum(elements)

    def equal(self, one: Any, other: Any) -> bool:
        # A scalar has a type as wide as its text.
        return bool(one.dtype.kind == other.dtype.kind and np.array_equal(one, other))

    def is_array(self, value: Any) -> bool:
        return isinstance(value, np.ndarray)

    def places(self, value: Any) -> np.ndarray:
        return np.asarray(value.astype(np.int64))


# PyTorch


class Torch(Runs):
    name = "pytorch"
    makers = "zeros ones empty arange"

    def __init__(self) -> None:
        import torch
        from torch.utils._python_dispatch import TorchDispatchMode

        torch.set_num_threads(1)
        self.torch = torch
        self._names = {"torch": Makers(self, torch), "F": torch.nn.functional}
        outer = self

        class Mode(TorchDispatchMode):  # type: ignore[misc]
            def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                value = function(*args, **(kwargs or {}))
                if not outer._is_making:
                    outer._met(args, value)
                return value

        self._mode = Mode
        self._written = 0
        self._is_making = False

    def names(self) -> dict[str, Any]:
        return self._names

    def _met(self, args: Any, value: Any) -> None:
        """Counts the storages that an operation has made."""
        known = {tensor.untyped_storage().data_ptr() for tensor in self._tensors(args)}
        for tensor in self._tensors((value,)):
            storage = tensor.untyped_storage()
            if storage.nbytes() > 0 and storage.data_ptr() not in known:
                known.add(storage.data_ptr())
                self._written += storage.nbytes() // tensor.itemsize

    def _tensors(self, values: Any) -> Iterator[Any]:
        for value in values:
            if isinstance(value, self.torch.Tensor):
                yield value
            elif isinstance(value, (list, tuple)):
                yield from self._tensors(value)

    def addresses(self, shape: tuple[int, ...]) -> Any:
        usual, self._is_making = self._is_making, True
        made = self.torch.arange(math.prod(shape)).reshape(shape)
        self._is_making = usual
        return made

    def counted(self, act: Callable[[], Any]) -> tuple[Any, int]:
        self._written = 0
        with self._mode():
            value = act()
        return value, self._written

    HIDDEN = re.compile(r"\bpixel_(un)?shuffle\(|\broll\(-?\d+\)")
    """Operations that copy their input inside, below what a mode sees."""

    def hidden(self, code: str, x: Any) -> int:
        """What such a call writes that the mode does not see; the profiler of PyTorch sees it."""
        if not self.HIDDEN.search(code):
            return 0
        kept = self.torch.contiguous_format if "roll" in code else self.torch._prims_common.suggest_memory_format(x)
        return 0 if x.is_contiguous(memory_format=kept) else int(x.numel())

    def equal(self, one: Any, other: Any) -> bool:
        return bool(one.dtype == other.dtype and self.torch.equal(one, other))

    def is_array(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor)

    def places(self, value: Any) -> np.ndarray:
        return np.asarray(value.numpy())


# Lines at random


def composed(call: str, text: str) -> str:
    """A call on `x`, with the text of an array in the place of `x`."""
    return text + call[1:] if call.startswith("x") else call.replace("(x", f"({text}", 1)


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
        pad=3, repeat=3, tile=2, broadcast=4, diagonal=2, windows=2, flip=3, squeeze=2, expand_dims=2, split=2, viewed=1,
        astype=1, ordered=1, noise=1,
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
        return pair and f"np.moveaxis(x, {pair[0]}, {pair[1]})"

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

    def a_viewed(self, x: Any, shape: tuple[int, ...]) -> str:
        types = ["np.int64", "np.float64", "np.uint8", "np.int32", "complex", "np.float32", "np.complex128", "'S67'"]
        return f"x.view({self.rng.choice(types)})"

    def a_astype(self, x: Any, shape: tuple[int, ...]) -> str:
        types = ["np.float32", "np.int64", "np.float64", "float", "'S67'"]
        more = self.rng.choice(["", "", "", ", copy=False", ", order='C'"])
        return f"x.astype({self.rng.choice(types)}{more})"

    def a_ordered(self, x: Any, shape: tuple[int, ...]) -> str:
        to = self.near(shape)
        calls = [f"x.reshape({to}, order='F')", f"x.reshape({to}, order='C')", "x.ravel('F')", "x.ravel(order='K')"]
        calls += ["x.flatten('F')", "np.asfortranarray(x)", "x.copy(order='F')", "x.flatten(order='C')", "x.copy('C')"]
        return self.rng.choice([*calls, "np.asarray(x, order='C')", "np.asarray(x, order='F')", "np.copy(x, 'F')"])

    def a_noise(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if len(shape) < 2:
            return None
        return self.rng.choice(["np.rot90(x)", "np.roll(x, 1)", "np.rollaxis(x, 1)", "np.hsplit(x, 1)[0]", "np.matrix_transpose(x)"])


class TorchDraws(Draws):
    kinds = dict(
        view=18, reshape=7, index=4, permute=7, transpose=7, t=9, movedim=2, expand=5, repeat=2, tile=1, interleave=2,
        contiguous=4, clone=4, flip=3, flatten=3, ravel=2, unfold=2, diagonal=2, narrow=2, select=2, parts=3, squeeze=2,
        unsqueeze=3, unflatten=2, as_strided=4, pad=3, viewed=1, noise=1,
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
        return f"x.view({self.sizes(self.near(shape))})"

    def a_reshape(self, x: Any, shape: tuple[int, ...]) -> str:
        return f"x.reshape({self.sizes(self.near(shape))})"

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
        return pair and f"x.{self.rng.choice(['transpose', 'transpose', 'swapaxes'])}({pair[0]}, {pair[1]})"

    def a_t(self, x: Any, shape: tuple[int, ...]) -> str | None:
        if len(shape) < 2:
            return self.rng.choice([None, "x.t()"])
        if len(shape) == 2:
            return self.rng.choice(["x.t()", "x.T", "x.mT", "x.t()"])
        return "x.t()" if self.rng.random() < 0.02 else "x.mT"

    def a_movedim(self, x: Any, shape: tuple[int, ...]) -> str | None:
        pair = self.pair(shape)
        return pair and f"x.{self.rng.choice(['movedim', 'moveaxis'])}({pair[0]}, {pair[1]})"

    def a_expand(self, x: Any, shape: tuple[int, ...]) -> str | None:
        wide = self.wide(shape)
        if math.prod(wide) > LARGEST or not wide:
            return None
        new = len(wide) - len(shape)
        kept = [-1 if at >= new and size == shape[at - new] and self.rng.random() < 0.3 else size for at, size in enumerate(wide)]
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
            name = self.rng.choice(["clone", "contiguous"])
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
        if room == 0:
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

    def a_viewed(self, x: Any, shape: tuple[int, ...]) -> str:
        return f"x.view({self.rng.choice(['torch.float64', 'torch.int64', 'torch.int32', 'torch.int16', 'torch.uint8'])})"

    def a_noise(self, x: Any, shape: tuple[int, ...]) -> str | None:
        calls = ["x.roll(1)", "x.rot90()" if len(shape) > 1 else "x.roll(1)", "x.adjoint()" if len(shape) > 1 else "x.roll(1)"]
        if len(shape) == 4 and shape[1] % 4 == 0:
            calls += ["F.pixel_shuffle(x, 2)"] * 3
        return self.rng.choice(calls)


class Judge:
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

    def line(self, rng: random.Random) -> Line:
        """A line at random."""
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
                instead = re.sub(r"^x\.view\(", "x.reshape(", call.text)
                if instead != call.text and "view size is not compatible" in str(error):
                    x, call.written, call.result = self.once(instead, x)
                else:
                    x = None
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
            if getattr(x, "itemsize", 0) != usual.itemsize or x.dtype != usual.dtype:
                # What copies elements of other types is counted as it is here only.
                break
            if rng.random() < 0.06:
                name = "yzwv"[len(lines) % 4]
                lines.append(f"{name} = {text}")
                text = name
        line = Line(self.runs.name, "\n".join([*lines, text]), base, calls, x, memory, has_scalar=has_scalar)
        # After a copy PyTorch's `as_strided` reads the memory of that.
        reads_copy = "as_strided" in line.text and line.written > 0
        if x is not None and x.dtype == memory.dtype and not reads_copy and not COPIES.search(line.text):
            line.affine = is_affine(self.runs.places(x))
        return line

    def once(self, code: str, x: Any) -> tuple[Any, int, int]:
        """Runs one call: the value, what was written, and what of that is the result's."""
        value, written = self.runs.run(code, x=x)
        if not self.runs.is_array(value):
            return value, written, 0
        if self.runs.name == "pytorch":
            written += self.runs.hidden(code, x)
            is_new = value.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
            size = value.untyped_storage().nbytes() // value.itemsize
        else:
            is_new = not value.size > 0 and not np.may_share_memory(value, x)
            size = value.size
            if ".pad(" in code:
                # The value of the pad is an array of one element, made again for each side.
                written = size
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
            assert line.raises is not None, f"{line}: {error}"
            return
        assert line.raises is None, line
        assert self.runs.equal(value, line.value), line
        if line.library == "pytorch" and Torch.HIDDEN.search(line.text):
            return
        assert "pad(" in line.text or line.has_scalar or value.dtype != line.memory.dtype or written == line.written, f"{line} wrote {written}"


def is_affine(x: np.ndarray) -> bool:
    """Whether one offset and one stride for each axis give all elements."""
    if x.size == 0:
        return True
    strides = [int(np.take(x, 1, axis).flat[0] - x.flat[0]) if size > 1 else 0 for axis, size in enumerate(x.shape)]
    places = np.indices(x.shape).reshape(x.ndim, x.size)
    return bool(np.array_equal(x.flat[0] + np.array(strides, dtype=np.int64) @ places, x.ravel()))


# The advice held against it


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
            wrong(f"copied: temporaries are left out, of {', '.join(f'`{kind}`' for kind in kinds)}", f"{copied}, really {total}")
        else:
            at = next((i for i, (a, b) in enumerate(zip(copied, total)) if a != b), min(len(copied), len(total)))
            name = numbers[at].name if at < len(numbers) else "none"
            more = "too many calls" if len(copied) > len(total) else "too few calls" if len(copied) < len(total) else "other numbers"
            after = " (a line that raises)" if raising else ""
            wrong(f"copied: {more}{after}, first at `{name}`", f"{copied}, really {total}")

    # Sentences against fields.
    for operations, elements in re.findall(r"In all (\d+) operations copy (\d+) elements", sentence):
        if (int(operations), int(elements)) != (len(said.copied), sum(copied)):
            wrong("sentence: the sum is not that of `copied`", sentence)
    if re.search(r"nothing is copied", sentence) and (does != "view" or copied):
        wrong("sentence: nothing is copied, and yet it copies", sentence)
    several = answer.one_view is False
    if several and "the whole chain is one view" in str(answer):
        wrong("sentence: not one view, and yet one view", str(answer))
    if "the whole chain is one view" in sentence and answer.one_view is False:
        wrong("sentence: `one_view` is False, and the chain is one view", sentence)
    if does == "view" and several:
        wrong("sentence: a view, and yet not one view", str(answer))

    # The view.
    if line.affine is not None and answer.one_view is not None and answer.one_view != line.affine:
        wrong(f"view: said {answer.one_view}, really {line.affine}", str(answer))
    elif line.affine and answer.view is not None and runs is not None and line.value is not None:
        places, view = runs.places(line.value), answer.view
        at = np.indices(view.shape).reshape(len(view.shape), math.prod(view.shape))
        theirs = view.offset + np.array(view.strides, dtype=np.int64) @ at
        if places.size and (tuple(view.shape) != places.shape or not np.array_equal(theirs, places.ravel())):
            wrong("view: another one", str(answer))

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
    if line.has_scalar:
        return found
    if written > line.written:
        wrong("code: writes more than the line", f"{code!r} writes {written}, the line {line.written}")
    elif written == line.written and not raising:
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


# Many lines


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


def draw(judge: Judge, seed: int, number: int) -> Line:
    """Line `number` of a seed."""
    return judge.line(random.Random(f"{seed}:{number}"))


def tried(tally: Tally, line: Line, runs: Runs | None) -> None:
    """Asks for advice about a line, and adds to a tally what came of it."""
    from shapetracker import ParseError, advice

    tally.lines += 1
    try:
        answer = advice(line.text, line.base)
    except ParseError as error:
        tally.refuse(line, str(error))
        return
    said = getattr(answer, line.library)
    if said is None or said.does == "cannot":
        tally.refuse(line, f"cannot: {said and said.sentence}")
    else:
        tally.take(line, answer, compare(line, answer, runs))


def judged(judge: Judge, seed: int, numbers: range, until: float = math.inf) -> Tally:
    """Draws, runs and compares so many lines, or until it is so late."""
    tally = Tally()
    for number in numbers:
        if number % 64 == 0 and time.monotonic() > until:
            break
        line = draw(judge, seed, number)
        if not line.calls:
            continue
        judge.whole(line)
        tried(tally, line, judge.runs)
    return tally


def record(judge: Judge, seed: int, count: int) -> None:
    """Writes what PyTorch does with lines at random, for machines that have no PyTorch."""
    from shapetracker import ParseError, advice

    assert isinstance(judge.runs, Torch)
    texts = [json.dumps({"torch": judge.runs.torch.__version__, "lines": count, "seed": seed})]
    number = 0
    while len(texts) <= count:
        line = draw(judge, seed, number)
        number += 1
        if not line.calls:
            continue
        judge.whole(line)
        try:
            code = getattr(advice(line.text, line.base), "pytorch").code
        except ParseError:
            code = None
        offered = {}
        if code is not None and line.value is not None:
            value, written = judge.runs.run(code, x=line.memory)
            if judge.runs.equal(value, line.value):
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
            yield Line("pytorch", text, shape, were, is_done or None, None, affine, offered)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, help="how many of each library (10,000, or as many as the minutes allow)")
    parser.add_argument("--minutes", type=float, help="end after so long")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library", choices=["numpy", "pytorch"])
    parser.add_argument("--refusals", action="store_true", help="say why lines were refused")
    parser.add_argument("--record", action="store_true", help="write anew what PyTorch did with 3,000 lines")
    options = parser.parse_args()
    lines = options.lines or (10_000 if options.minutes is None else 1 << 40)
    minutes = math.inf if options.minutes is None else options.minutes
    # PyTorch and NumPy warn of calls that they will have no longer.
    warnings.simplefilter("ignore")
    if options.record:
        record(Judge(Torch()), options.seed, 3000)
        return 0
    makers: list[Callable[[], Runs]] = [make for make in (NumPy, Torch) if options.library in (None, make.name)]
    begun, false = time.monotonic(), 0
    for place, make in enumerate(makers, 1):
        try:
            judge = Judge(make())
        except ImportError as error:
            print(f"{make.name:<10} skipped: {error}")
            continue
        until = begun + 60 * minutes * place / len(makers)
        tally = judged(judge, options.seed, range(lines), until)
        print(tally.table(make.name), flush=True)
        if options.refusals:
            print(tally.refusals_table(), flush=True)
        false += tally.false
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
