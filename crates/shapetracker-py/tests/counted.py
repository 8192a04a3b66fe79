"""Code of NumPy and PyTorch is run, and what it writes into new memory is counted: elements, temporaries of a call among them.

- In NumPy every buffer that an array gets is counted, by a memory handler of our own (NEP 49).
- In PyTorch every new storage that an operation makes is counted, by a mode that sees every operation.
"""

from __future__ import annotations

import ctypes
import functools
import math
import re
import warnings
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

import numpy as np

LARGEST = 600
"""The most elements of an array in a line."""


class Runs:
    """A library in which code is run and what it writes is counted."""

    name: str
    makers: str
    of_types = False
    """Whether arrays have the types that the code says, and bytes of which each has another value than its neighbours; what is
    written is then known of the results of calls only."""

    def addresses(self, shape: tuple[int, ...]) -> Any:
        """A new array whose elements are their own addresses."""
        raise NotImplementedError

    def counted(self, act: Callable[[], Any]) -> tuple[Any, int]:
        """What an action comes to, and how many elements it wrote into new memory."""
        raise NotImplementedError

    def typed(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array of a type."""
        raise NotImplementedError

    def default(self, maker: str) -> Any:
        """The type of what a function makes that is not told one."""
        raise NotImplementedError

    def layout(self, value: Any, memory: Any) -> tuple[tuple[int, ...], ...]:
        """The shape, the strides and the offset of an array over its memory in bytes, and how many bytes an element has."""
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

        def make(name: str, *sizes: Any, dtype: Any = None) -> Any:
            if len(sizes) == 2 and isinstance(sizes[0], tuple):
                sizes, dtype = sizes[:1], sizes[1]
            shape = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], tuple) else sizes
            if runs.of_types:
                return runs.typed(tuple(shape), runs.default(name) if dtype is None else dtype)
            return runs.addresses(tuple(shape))

        for name in runs.makers.split():
            setattr(self, name, functools.partial(make, name))

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

    def typed(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        return (np.arange(size) % 101 + 1).astype(np.uint8).view(dtype).reshape(shape)

    def default(self, maker: str) -> Any:
        return np.dtype(np.int64 if maker == "arange" else np.float64)

    def layout(self, value: Any, memory: Any) -> tuple[tuple[int, ...], ...]:
        begins = value.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
        return value.shape, value.strides, (begins,), (value.itemsize,)

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

    def typed(self, shape: tuple[int, ...], dtype: Any) -> Any:
        usual, self._is_making = self._is_making, True
        size = math.prod(shape) * dtype.itemsize
        made = (self.torch.arange(size) % 101 + 1).to(self.torch.uint8).view(dtype).reshape(shape)
        self._is_making = usual
        return made

    def default(self, maker: str) -> Any:
        return self.torch.int64 if maker == "arange" else self.torch.get_default_dtype()

    def layout(self, value: Any, memory: Any) -> tuple[tuple[int, ...], ...]:
        width = value.itemsize
        strides = tuple(stride * width for stride in value.stride())
        return tuple(value.shape), strides, (value.storage_offset() * width,), (width,)

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
