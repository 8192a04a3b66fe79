"""Nests of loops: their text, compiled by the system's `cc` or run by Python, does what NumPy does."""

import copy
import ctypes
import keyword
import random
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oracle
from shapetracker import Expr, IndexMap, Level, Nest, ParseError, ShapeTracker, Splits, Sym, View
from shapetracker.cute import Layout

CC = shutil.which("cc")
needs_cc = pytest.mark.skipif(CC is None, reason="it needs a C compiler called `cc`")


class Kernel:
    """A nest with a body as a function in C: the arrays of 64-bit numbers by their names, the last one written, and then the names of
    sizes."""

    def __init__(self, nest: Nest, arrays: list[str], body: str | None, before: str = "", after: str = "") -> None:
        self.arrays = arrays
        self.names = list(nest.parameters)
        self.kind = {32: "int", 64: "long long"}[nest.width]
        self.body = nest.code("c", body, before=before, after=after)

    def text(self, name: str) -> str:
        arguments = [f"const long long *restrict {array}" for array in self.arrays[:-1]]
        arguments += [f"long long *restrict {self.arrays[-1]}", *(f"{self.kind} {size}" for size in self.names)]
        return f"void {name}({', '.join(arguments)}) {{\n{self.body}}}\n"


def compiled(folder: Path, kernels: list[Kernel]) -> list[Callable[..., None]]:
    """The kernels as functions of Python: the arrays, and then the values of the names."""
    assert CC is not None
    source, library = folder / "kernels.c", folder / "kernels.so"
    source.write_text("\n".join(kernel.text(f"kernel{number}") for number, kernel in enumerate(kernels)))
    flags = ["-std=c11", "-O1", "-Wall", "-Wno-unused-variable", "-Werror", "-shared", "-fPIC"]
    subprocess.run([CC, *flags, "-o", str(library), str(source)], check=True)
    loaded = ctypes.CDLL(str(library))

    def function(number: int, kernel: Kernel) -> Callable[..., None]:
        found = loaded[f"kernel{number}"]
        size = ctypes.c_int if kernel.kind == "int" else ctypes.c_longlong

        def call(*arguments: Any) -> None:
            arrays, sizes = arguments[: len(kernel.arrays)], arguments[len(kernel.arrays) :]
            assert len(sizes) == len(kernel.names)
            found(*(ctypes.c_void_p(array.ctypes.data) for array in arrays), *map(size, sizes))

        return call

    return [function(number, kernel) for number, kernel in enumerate(kernels)]


def filled(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, shape, dtype=np.int64)


def product(nest: Nest, inputs: list[str], result: str = "sum") -> Kernel:
    """`out = sum(product of the inputs)`."""
    factors = " * ".join(f"{name}[{{{name}}}]" for name in inputs)
    return Kernel(nest, [*inputs, "out"], f"sum += {factors};", "long long sum = 0;", f"out[{{out}}] = {result};")


# Kernels whose sizes are numbers or names: the code below does not ask which.
Size = Sym | int


def named(*sizes: Size) -> Nest:
    return Nest(*(size for size in sizes if isinstance(size, Sym)))


def matmul(rows: Size) -> Kernel:
    """Rows of 24 numbers times a matrix that is stored transposed."""
    nest = named(rows)
    i, j, k = nest.each("i", rows), nest.each("j", 40), nest.reduce("k", 24)
    nest.read("a", ShapeTracker.contiguous(rows, 24), [i, k])
    nest.read("b", ShapeTracker.contiguous(40, 24).permute(1, 0), [k, j])
    nest.access("out", "i * 40 + j")
    return product(nest, ["a", "b"])


def conv2d(images: Size) -> Kernel:
    """A convolution by 3 by 3 as a product of matrices: the windows of padded images of (3, 10, 8) are the rows of one."""
    nest = named(images)
    p, f, r = nest.each("p", images * 80), nest.each("f", 4), nest.reduce("r", 27)
    padded = ShapeTracker.contiguous(images, 3, 10, 8).pad((0, 0), (0, 0), (1, 1), (1, 1))
    windows = padded.as_strided((images, 10, 8, 3, 3, 3), (360, 10, 1, 120, 10, 1)).reshape(images * 80, 27)
    nest.read("image", windows, [p, r])
    nest.read("filters", ShapeTracker.contiguous(4, 27), [f, r])
    nest.read("out", ShapeTracker.contiguous(images, 4, 80).permute(0, 2, 1).reshape(images * 80, 4), [p, f])
    splits = nest.split_where_affine()
    assert not splits.unserved and splits.factors["r"] == (3, 3, 3), str(splits)
    nest.clip("image", reduced=True)
    return product(nest, ["image", "filters"])


def scores(tokens: Size) -> Kernel:
    """Attention scores of 2 heads of 8 features: a token sees itself and those before it."""
    nest = named(tokens)
    h, i, j = nest.each("h", 2), nest.each("i", tokens), nest.each("j", tokens)
    d = nest.reduce("d", 8)
    heads = ShapeTracker.contiguous(tokens, 16).reshape(tokens, 2, 8).permute(1, 0, 2)
    nest.read("q", heads, [h, i, d])
    nest.read("k", heads, ["h", "j", "d"])
    nest.read("out", ShapeTracker.contiguous(2, tokens, tokens), [h, i, j])
    nest.access("mask", 0, valid=j <= i)
    assert not nest.split_where_affine().unserved
    nest.clip("mask", reduced=True)
    nest.partition("j", "mask")
    return product(nest, ["q", "k"], "{mask?} ? sum : -1000")


def projected(batch: Size, tokens: Size) -> Kernel:
    """What 2 heads of 8 features give, side by side for each token, times a matrix."""
    nest = named(batch, tokens)
    r, e, c = nest.each("r", batch * tokens), nest.each("e", 6), nest.reduce("c", 16)
    merged = ShapeTracker.contiguous(batch, 2, tokens, 8).permute(0, 2, 1, 3).reshape(batch * tokens, 16)
    nest.read("heads", merged, [r, c])
    nest.read("w", ShapeTracker.contiguous(6, 16), [e, c])
    nest.read("out", ShapeTracker.contiguous(batch * tokens, 6), [r, e])
    splits = nest.split_where_affine()
    assert not splits.unserved
    if 1 not in (batch, tokens):
        assert [str(factor) for factor in splits.factors["r"]] == [str(batch), str(tokens)]
    return product(nest, ["heads", "w"])


def numpy_matmul(rows: int) -> tuple[list[np.ndarray], np.ndarray]:
    a, b = filled(0, rows, 24), filled(1, 40, 24)
    return [a, b], a @ b.T


def numpy_conv2d(images: int) -> tuple[list[np.ndarray], np.ndarray]:
    image, filters = filled(0, images, 3, 10, 8), filled(1, 4, 3, 3, 3)
    padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return [image, filters], np.einsum("ncyxuv,fcuv->nfyx", windows, filters)


def numpy_scores(tokens: int) -> tuple[list[np.ndarray], np.ndarray]:
    q, k = filled(0, tokens, 2, 8), filled(1, tokens, 2, 8)
    found = np.einsum("ihd,jhd->hij", q, k)
    return [q, k], np.where(np.tri(tokens, dtype=bool), found, -1000)


def numpy_projected(batch: int, tokens: int) -> tuple[list[np.ndarray], np.ndarray]:
    heads, w = filled(0, batch, 2, tokens, 8), filled(1, 6, 16)
    return [heads, w], heads.transpose(0, 2, 1, 3).reshape(batch * tokens, 16) @ w.T


KERNELS: list[tuple[Callable[..., Kernel], Callable[..., tuple[list[np.ndarray], np.ndarray]], list[tuple[int, ...]]]] = [
    (matmul, numpy_matmul, [(1,), (5,), (33,)]),
    (conv2d, numpy_conv2d, [(1,), (2,), (3,)]),
    (scores, numpy_scores, [(1,), (2,), (9,)]),
    (projected, numpy_projected, [(1, 1), (1, 5), (4, 1), (3, 7)]),
]


@needs_cc
@pytest.mark.parametrize("kernel, by_numpy, values", KERNELS, ids=lambda value: getattr(value, "__name__", ""))
def test_kernels_do_what_numpy_does(
    kernel: Callable[..., Kernel],
    by_numpy: Callable[..., tuple[list[np.ndarray], np.ndarray]],
    values: list[tuple[int, ...]],
    tmp_path: Path,
) -> None:
    names = [Sym(name, 1, 1024) for name in "MN"[: len(values[0])]]
    of_names, *of_numbers = compiled(tmp_path, [kernel(*names), *(kernel(*value) for value in values)])
    for value, of_number in zip(values, of_numbers):
        inputs, expected = by_numpy(*value)
        for function, sizes in [(of_names, value), (of_number, ())]:
            out = np.full(expected.shape, 77, dtype=np.int64)
            function(*inputs, out, *sizes)
            assert np.array_equal(out, expected), (value, sizes)


STATEMENTS: list[tuple[str, str, list[str], Callable[..., tuple[list[np.ndarray], np.ndarray]], list[tuple[int, ...]]]] = [
    (
        "out[i, j] += a[i, k] * b[k, j]; a = (M, 24); b = (40, 24).T; out = (M, 40)",
        "M=1..1025",
        ["a", "b"],
        numpy_matmul,
        [(1,), (5,)],
    ),
    (
        """out[p, f] += image[p, r] * filters[f, r]
        image = (M, 3, 10, 8).pad((0, 0), (0, 0), (1, 1), (1, 1)).as_strided((M, 10, 8, 3, 3, 3), (360, 10, 1, 120, 10, 1)).reshape(M*80, 27)
        filters = (4, 27)
        out = (M, 4, 80).permute(0, 2, 1).reshape(M*80, 4)""",
        "M=1..1025",
        ["image", "filters"],
        numpy_conv2d,
        [(1,), (3,)],
    ),
    (
        "out[r, e] += heads[r, c] * w[e, c]; heads = (M, 2, N, 8).permute(0, 2, 1, 3).reshape(M*N, 16); w = (6, 16); out = (M*N, 6)",
        "M=1..65, N=1..1025",
        ["heads", "w"],
        numpy_projected,
        [(1, 5), (3, 7)],
    ),
]


@needs_cc
@pytest.mark.parametrize("text, known, inputs, by_numpy, values", STATEMENTS, ids=["matmul", "conv2d", "projected"])
def test_statements_do_what_numpy_does(
    text: str,
    known: str,
    inputs: list[str],
    by_numpy: Callable[..., tuple[list[np.ndarray], np.ndarray]],
    values: list[tuple[int, ...]],
    tmp_path: Path,
) -> None:
    nest = Nest.parse(text, where=known)
    assert not nest.copy().split_where_affine().unserved
    split = nest.copy()
    split.split_where_affine()
    kernels = [Kernel(each, [*inputs, "out"], None) for each in (nest, split)]
    for function in compiled(tmp_path, kernels):
        for value in values:
            arrays, expected = by_numpy(*value)
            out = np.zeros(expected.shape, dtype=np.int64)
            function(*arrays, out, *value)
            assert np.array_equal(out, expected), (text, value)


def test_statements_are_nests() -> None:
    nest = Nest.parse("y[i] += x[i + k] * w[k] if i < 5; x = (n,).pad((1, 1)); w = (3,); y = (n,)", where="n=4..65")
    assert nest.reduced == ("k",) and nest.parameters == {"n": range(4, 65)} and list(nest.loops) == ["i", "k"]
    assert "condition" in nest.accesses and nest.stride("x", "k") == 1
    again = nest.copy()
    again.swap("i", "k")
    assert again.code("python") != nest.code("python") and again.code("c", "f({x});").count("f(index_x)") == 1
    needs = Nest.parse("C[i] = A[i]; A = (N,)[s:s+L]; C = (L,)", where="s=0..9, N=1..9, L=1..9").needs
    assert [str(need) for need in needs] == ["N >= s + L"]


def ran(nest: Nest, body: str, names: dict[str, Any]) -> None:
    """Runs the nest's text of Python."""
    exec(nest.code("python", body), names)


def random_schedule(rng: random.Random, nest: Nest, guarded: list[str]) -> set[str]:
    """Splits, orders, clips and parts of a nest; the accesses whose guards decide whether the body runs."""
    if rng.random() < 0.5:
        nest.split_where_affine()
    for name, size in nest.loops.items():
        if rng.random() < 0.3 and isinstance(size, int):
            divisors = [d for d in range(1, size + 1) if size % d == 0]
            nest.split(name, *rng.choice([(-1, rng.choice(divisors)), (rng.choice(divisors), -1)]))
    if rng.random() < 0.5:
        nest.reorder(rng.sample(list(nest.loops), len(nest.loops)))
    clipped = {name for name in guarded if rng.random() < 0.3}
    for name in clipped:
        nest.clip(name)
    for _ in range(rng.choice([0, 0, 1, 2])):
        if nest.loops:
            nest.partition(rng.choice(list(nest.loops)), guarded)
    if rng.random() < 0.3:
        nest.width = rng.choice([32, 64])
    nest.unsigned = rng.random() < 0.3
    return clipped


def random_axis(rng: random.Random, loops: list[tuple[str, int]], size: int) -> str:
    """An expression over loops whose values are indices of an axis."""
    fitting = [name for name, loop in loops if loop <= size]
    if fitting and rng.random() < 0.6:
        name = rng.choice(fitting)
        most = dict(loops)[name] - 1
        return rng.choice([name, f"{most} - {name}", f"{name} + {size - 1 - most}"])
    terms = [f"{name} * {rng.randrange(1, 4)}" for name, _ in loops] + [str(rng.randrange(5))]
    return f"({' + '.join(terms)}) % {size}"


def random_case(rng: random.Random) -> tuple[Nest, list[np.ndarray]]:
    """A nest that reads two random trackers, and the addresses that are read for each element of the first one, by NumPy."""
    accesses: list[tuple[ShapeTracker, np.ndarray]] = []
    for _ in range(2):
        shape = oracle.random_shape(rng, rng.choice([1, 6, 12, 24, 60]))
        tracker, addresses = ShapeTracker.contiguous(shape), oracle.addresses(shape)
        for _ in range(rng.randrange(6)):
            name, argument = oracle.random_step(rng, addresses.shape, 400)
            if name == "flip":
                tracker = tracker.flip([axis for axis, flipped in enumerate(argument) if flipped])
            else:
                tracker = getattr(tracker, name)(argument)
            addresses = oracle.moved(addresses, name, argument)
        accesses.append((tracker, addresses))
    (first, addresses), (second, others) = accesses
    nest = Nest()
    loops = [(f"i{axis}", size) for axis, size in enumerate(first.shape)]
    grid = dict(zip((name for name, _ in loops), np.indices(first.shape)))
    variables: list[Any] = [nest.each(name, size) for name, size in loops]
    nest.read("x", first, variables)
    axes = [random_axis(rng, loops, size) for size in second.shape]
    nest.read("y", second, axes)
    row = "0"
    for name, size in loops:
        row = f"({row}) * {size} + {name}"
    nest.access("out", row)
    at = tuple(np.broadcast_to(eval(axis, dict(grid)), first.shape) for axis in axes)
    return nest, [addresses, others[at]]


BODY = "out[2 * {out}] = {x?} ? {x} : -1; out[2 * {out} + 1] = {y?} ? {y} : -1;"


@needs_cc
def test_random_trackers_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    rng = random.Random(8)
    kernels, cases = [], []
    for case in range(oracle.cases(150)):
        nest, expected = random_case(rng)
        clipped = random_schedule(rng, nest, ["x", "y"])
        both = np.stack(expected, axis=-1)
        for name, addresses in zip("xy", expected):
            if name in clipped:
                both[addresses == oracle.MASKED] = -7
        kernels.append(Kernel(nest, ["out"], BODY))
        cases.append((case, nest, both, clipped))
    found = 0
    for (case, nest, both, clipped), function in zip(cases, compiled(tmp_path, kernels)):
        out = np.full(both.shape, -7, dtype=np.int64)
        function(out)
        assert np.array_equal(out, both), (case, str(nest), clipped)
        found += both.size
        if case % 3 == 0:
            again = np.full(both.size, -7, dtype=np.int64)
            lines = "out[2 * {out}] = {x} if {x?} else -1\nout[2 * {out} + 1] = {y} if {y?} else -1"
            ran(nest, lines, {"out": again})
            assert np.array_equal(again, both.reshape(-1)), (case, str(nest))
        if case % 5 == 0:
            assert np.array_equal(by_levels(nest, both.size), both.reshape(-1)), (case, str(nest))
    assert found > 1000


def by_levels(nest: Nest, size: int, **values: int) -> np.ndarray:
    """What is read, by the levels alone."""
    out, levels = np.full(size, -7, dtype=np.int64), nest.levels()

    def value(expr: Expr | int | None, known: dict[str, int]) -> int:
        assert expr is not None
        return expr if isinstance(expr, int) else int(expr.evaluate(**{name: known[name] for name in expr.variables}))

    def run(at: int, known: dict[str, int]) -> None:
        level = levels[at]
        for name, expr in level.definitions.items():
            known = {**known, name: value(expr, known)}
        if level.condition is not None and not value(level.condition, known):
            return
        if level.is_innermost:
            place, _ = level.accesses["out"]
            for which, name in enumerate("xy"):
                index, valid = level.accesses[name]
                out[2 * value(place, known) + which] = value(index, known) if value(valid, known) else -1
            # A loop that was split counts as before.
            assert set(level.loops) >= set(nest.loops)
        for inner, other in enumerate(levels):
            if other.parent == at:
                assert other.name is not None
                for turn in range(value(other.begin, known), value(other.end, known)):
                    run(inner, {**known, other.name: turn})

    run(0, dict(values))
    return out


def named_step(rng: random.Random, tracker: ShapeTracker, arrays: list[np.ndarray]) -> tuple[ShapeTracker, list[np.ndarray]]:
    """An operation that is right whatever the names are, on the tracker and on the addresses at some values of them."""
    rank = tracker.ndim
    axis = rng.randrange(rank)
    match rng.choice(["permute", "flip", "pad", "join", "split", "expand"]):
        case "permute":
            order = rng.sample(range(rank), rank)
            return tracker.permute(order), [array.transpose(order) for array in arrays]
        case "flip":
            return tracker.flip(axis), [np.flip(array, axis) for array in arrays]
        case "pad":
            pads = [(0, 0)] * rank
            pads[axis] = (rng.randrange(3), rng.randrange(3))
            return tracker.pad(pads), [np.pad(array, pads, constant_values=oracle.MASKED) for array in arrays]
        case "join" if axis + 1 < rank:
            shape = list(tracker.shape)
            joined = tracker.reshape(*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :])
            of = [array.reshape(*array.shape[:axis], -1, *array.shape[axis + 2 :]) for array in arrays]
            return joined, of
        case "split" if isinstance(tracker.shape[axis], int):
            size = tracker.shape[axis]
            by = rng.choice([d for d in range(1, size + 1) if size % d == 0])
            shape = [*tracker.shape[:axis], size // by, by, *tracker.shape[axis + 1 :]]
            of = [array.reshape(*array.shape[:axis], size // by, by, *array.shape[axis + 1 :]) for array in arrays]
            return tracker.reshape(shape), of
        case "expand" if rank < 4:
            of = [np.broadcast_to(np.expand_dims(array, axis), (*array.shape[:axis], 2, *array.shape[axis:])) for array in arrays]
            return tracker.unsqueeze(axis).expand(*tracker.shape[:axis], 2, *tracker.shape[axis:]), of
    return tracker, arrays


@needs_cc
def test_random_trackers_with_names_are_read_as_numpy_reads_them(tmp_path: Path) -> None:
    rng = random.Random(9)
    n, m = Sym("n", 1, 64), Sym("m", 1, 64)
    values = [(1, 1), (2, 3), (5, 1), (4, 4)]
    kernels: list[Kernel] = []
    cases = []
    for case in range(oracle.cases(60)):
        shape: list[Sym | int] = [n, m, rng.choice([1, 2, 4, 6])]
        rng.shuffle(shape)
        at = [[{"n": a, "m": b}[str(size)] if isinstance(size, Sym) else size for size in shape] for a, b in values]
        tracker, arrays = ShapeTracker.contiguous(*shape), [oracle.addresses(tuple(sizes)) for sizes in at]
        for _ in range(rng.randrange(5)):
            after, others = named_step(rng, tracker, arrays)
            if not after.needs and max(array.size for array in others) < 2000:
                tracker, arrays = after, others
        nest = Nest(n, m=range(1, 17))
        loops = [nest.each(f"i{axis}", size) for axis, size in enumerate(tracker.shape)]
        nest.read("x", tracker, loops)
        # The same from behind along the first axis, in which the size has names or none.
        last: Any = f"{tracker.shape[0]} - 1 - i0" if "**" not in str(tracker.shape[0]) else loops[0]
        nest.read("y", tracker, [last, *loops[1:]])
        nest.read("out", ShapeTracker.contiguous(*tracker.shape), loops)
        clipped = random_schedule(rng, nest, ["x", "y"])
        kernels.append(Kernel(nest, ["out"], BODY))
        cases.append((case, nest, arrays, clipped, isinstance(last, str)))
    for (case, nest, arrays, clipped, is_flipped), function in zip(cases, compiled(tmp_path, kernels)):
        for sizes, x in zip(values, arrays):
            y = np.flip(x, 0) if is_flipped else x
            both = np.stack([x, y], axis=-1)
            for name, addresses in [("x", x), ("y", y)]:
                if name in clipped:
                    both[addresses == oracle.MASKED] = -7
            out = np.full(both.shape, -7, dtype=np.int64)
            function(out, *sizes)
            assert np.array_equal(out, both), (case, sizes, str(nest), clipped)
            if case % 6 == 0:
                by = by_levels(nest, both.size, n=sizes[0], m=sizes[1])
                assert np.array_equal(by, both.reshape(-1)), (case, sizes, str(nest))


def test_what_a_schedule_asks_is_answered() -> None:
    n = Sym("n", 1, 64)
    nest = Nest(n, m=range(1, 5))
    i, j = nest.each("i", "n"), nest.each("j", 48)
    matrix = ShapeTracker.contiguous(n, 96)
    for name, half in [("left", (0, 48)), ("right", (48, 96))]:
        nest.read(name, matrix.shrink(None, half), [i, j])
    nest.read("row", View((48,)), [j])
    nest.read("column", ShapeTracker.contiguous(n, n).permute(1, 0), [i, 0])
    assert nest.stride("left", "i") == 96 and nest.stride("left", "j") == 1
    assert str(nest.stride("column", "i")) == "n" or nest.stride("column", "i") == 1
    assert nest.contiguous("left") == 48 and nest.contiguous("column") == 1
    assert nest.vector_width("left", "j", 8) == 8 and nest.vector_width("left", "i", 8) == 1
    assert nest.is_reused("row", "i") and not nest.is_reused("row", "j")
    assert not nest.overlaps("left", "right") and nest.overlaps("left", "left")
    assert nest.parameters == {"n": range(1, 65), "m": range(1, 5)}
    assert nest.loops == {"i": Expr("n", n=range(1, 65)), "j": 48} and nest.reduced == ()
    assert list(nest.accesses) == ["left", "right", "row", "column"]
    assert nest.accesses["right"] == (Expr("i*96 + j + 48", i=range(64), j=range(48)), Expr("True"))


def test_every_kind_of_expression_is_taken() -> None:
    n = Sym("n", 1, 64)
    nest = Nest(n)
    i = nest.each("i", n * 4)
    assert nest.each("j", Expr("n * 2", n=range(1, 1000))) == Expr("j", j=range(128))
    nest.each("k", np.int64(3))
    nest.access("a", i * 2 + 1, valid=i < 3)
    nest.access("b", "i * 2 + 1", valid="i < 3")
    nest.access("c", n * 0 + 7, valid=True)
    nest.value("d", 4 * n - 1)
    assert nest.accesses["a"] == nest.accesses["b"] and nest.accesses["c"][0] == Expr("7")
    assert nest.values == {"d": Expr("n * 4 - 1", n=range(1, 65))}
    # Indices of CuTe's layouts are read, too.
    nest.read("tile", Layout("(4,8):(8,1)").index_expr(), ["k", 5])
    assert str(nest.accesses["tile"][0]) == "k * 8 + 5"


def test_texts_show_what_there_is() -> None:
    nest = Nest(n=range(1, 65))
    nest.each("i", "n * 2"), nest.reduce("k", 3)
    nest.read("x", ShapeTracker.contiguous(Sym("n", 1, 64), 2, 3).reshape(-1, 3).pad(None, (0, 1)), ["i", "k + 1"])
    nest.value("last", "n * 2 - 1 - i")
    assert repr(nest) == "<Nest loops: i: n * 2, k: 3 (reduced); accesses: x>"
    assert repr(Nest()) == "<Nest loops: none; accesses: none>"
    expected = """\
n in 1..65
for i in 0..n * 2:
    reduce k in 0..3:
        x[k + 1 + i * 3] where k + 1 < 3
        last = n * 2 - 1 - i"""
    assert str(nest) == expected
    assert repr(nest.levels()[0]) == "<Level outside of all loops>" and repr(nest.levels()[2]) == "<Level of k, from 0 to 3>"
    assert repr(nest.splits_where_affine()) == "<Splits: none; 2 served, 0 not>"
    assert str(nest.splits_where_affine()) == "no loop is split"


def names_of(words: str) -> list[str]:
    """Those of the words that a loop may be called by."""
    found = []
    for word in words.split():
        try:
            Nest().each(word, 3)
            found.append(word)
        except ValueError:
            pass
    return found


def test_found_by_random_names_words_of_python_are_loops_and_values() -> None:
    names = names_of(" ".join(keyword.kwlist))
    assert "lambda" in names
    for name in names:
        for is_loop in [True, False]:
            nest = Nest()
            i = nest.each(name if is_loop else "i", 3)
            if not is_loop:
                nest.value(name, i + 2)
            seen: list[int] = []
            ran(nest, f"see({{{name}}})", {"see": seen.append})
            assert seen == ([0, 1, 2] if is_loop else [2, 3, 4]), name


@needs_cc
def test_found_by_random_names_words_of_c_are_loops_and_values(tmp_path: Path) -> None:
    words = "auto break case char const continue default do double enum extern float for goto inline int long register restrict"
    names = names_of(f"{words} return short signed sizeof static struct switch typedef union unsigned void volatile while")
    assert "int" in names
    kernels = []
    for name in names:
        nest = Nest()
        i = nest.each(name, 3)
        nest.value(f"{name}_", i + 2)
        kernels.append(Kernel(nest, ["out"], f"out[{{{name}}}] = {{{name}_}};"))
    for name, function in zip(names, compiled(tmp_path, kernels)):
        out = np.zeros(3, dtype=np.int64)
        function(out)
        assert out.tolist() == [2, 3, 4], name


@pytest.mark.parametrize("parts", [(), ("i",), ("i", "j")])
def test_a_choice_is_made_where_loops_make_it(parts: tuple[str, ...]) -> None:
    nest = Nest()
    i, j = nest.each("i", 7), nest.each("j", 9)
    nest.read("x", ShapeTracker.contiguous(4, 6).pad((1, 2), (3, 0)), [i, j])
    for name in parts:
        nest.partition(name, "x")
    text = nest.code("python", "y[{i}, {j}] = {element}", choices={"element": ("x", "x[{x}]", "-1")})
    assert text.count(" if ") == (0 if len(parts) == 2 else 1)
    x, y = np.arange(24), np.zeros((7, 9), dtype=int)
    exec(text, {"x": x, "y": y})
    assert np.array_equal(y, np.pad(x.reshape(4, 6), ((1, 2), (3, 0)), constant_values=-1))


def test_splits_say_what_they_do_not_serve() -> None:
    nest = Nest()
    nest.each("i", 7), nest.each("j", 2), nest.each("k", 2), nest.each("l", 12)
    nest.access("a", "i // 2")
    nest.access("b", "(j + k) // 2", valid="i < 9 or j < 1")
    nest.access("c", "l // 2 + l % 2 * 9")
    nest.access("d", "l // 3 + l % 3 * 9")
    before = str(nest)
    splits = nest.splits_where_affine()
    assert str(nest) == before and splits.factors == {"l": (4, 3)}
    kinds = {one.access: (one.kind, one.loops) for one in splits.unserved if one.condition is None}
    assert kinds == {"a": ("run", ("i",)), "b": ("carry", ("j", "k")), "c": ("conflict", ("l",))}
    assert "`a` has runs of 2 along `i`, and 2 does not divide 7" in str(splits)
    same = nest.split_where_affine()
    assert isinstance(same, Splits) and same.unserved == splits.unserved
    assert list(nest.loops) == ["i", "j", "k", "l0", "l1"]


def test_copies_change_by_themselves() -> None:
    nest = Nest()
    nest.each("i", 64), nest.each("j", 8)
    for again in [nest.copy(), copy.copy(nest), copy.deepcopy(nest)]:
        again.split("i", 4, 16)
        again.swap("j", "i1")
        assert list(again.loops) == ["i0", "j", "i1"] and list(nest.loops) == ["i", "j"]


def test_an_axis_may_be_left_by_no_index() -> None:
    n = Sym("n", 1, 64)
    nest = Nest(n)
    i, j = nest.each("i", n), nest.each("j", 8)
    rows = ShapeTracker.contiguous(n * 8)
    nest.read("joined", rows, [i * 8 + j])
    nest.read("mixed", rows, ["i + n * j"])
    nest.read("last", rows, ["n * 8 - 1 - (i * 8 + j)"])
    nest.read("wrapped", ShapeTracker.contiguous(5), ["(i + j) % 5"])
    refused: list[tuple[ShapeTracker, list[Any], str]] = [
        (rows, ["i * 8 + j + 1"], "axis 0 of `y` has size 8 \\* n, but `i \\* 8 \\+ j \\+ 1`, which is taken there, ranges from `1` to `n \\* 8`"),
        (rows, ["i * 8 - j"], "ranges from -7 to 504"),
        (ShapeTracker.contiguous(8, 4), [j, "j // 2 + 1"], "axis 1 of `y` has size 4, but `j // 2 \\+ 1`, which is taken there, ranges from 1 to 4"),
        (ShapeTracker.contiguous(8), ["j - 1"], "ranges from -1 to 6"),
        (ShapeTracker.contiguous(8), ["i"], "axis 0 of `y` has size 8, but `i`, which is taken there, ranges from 0 to 63"),
    ]
    for tracker, axes, sentence in refused:
        with pytest.raises(ValueError, match=sentence):
            nest.read("y", tracker, axes)
    # A loop that never runs reads nothing.
    empty = Nest()
    empty.each("i", 0)
    empty.read("x", ShapeTracker.contiguous(0), ["i"])


def test_what_trackers_need_is_collected() -> None:
    n, s = Sym("n", 1, 64), Sym("s", 0, 8)
    nest = Nest(n, s)
    cut = ShapeTracker.contiguous(n).shrink((s, s + 1))
    for name in "ab":
        nest.read(name, cut, [0])
    assert list(nest.needs) == [n >= s + 1]
    nest.read("c", ShapeTracker.contiguous(n, 2).given(n >= 4), [0, 1])
    assert list(nest.needs) == [n >= s + 1, n >= 4]


def test_threads_take_turns() -> None:
    nest = Nest()
    nest.each("i", 8)

    def work(thread: int) -> None:
        for turn in range(20):
            nest.value(f"v{thread}_{turn}", f"i + {turn}")
            nest.code("c", f"f({{v{thread}_{turn}}});")

    threads = [threading.Thread(target=work, args=[thread]) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(nest.values) == 80


def test_a_condition_says_where_a_statement_runs() -> None:
    nest = Nest.parse("C[i] = A[i + s] if i < 5; A = (N,); C = (L,)", where="s=0..9, N=1..30, L=1..9, N >= s + L")
    assert [str(need) for need in nest.needs] == ["N >= L + s"]


def test_widths_are_those_that_numbers_need() -> None:
    nest = Nest()
    nest.each("i", 3_000_000_000)
    assert nest.width == 64
    with pytest.raises(ValueError, match="32 bits do not hold the size of `i`, which ranges from 3000000000 to 3000000000"):
        nest.width = 32
    small = Nest()
    small.each("i", 8)
    assert small.width == 32
    small.width = 64
    small.unsigned = True
    assert (small.width, small.unsigned) == (64, True)
    assert small.code("c", "f({i});").startswith("for (unsigned long long i = 0;")


def made() -> Nest:
    nest = Nest(Sym("n", 1, 64))
    nest.each("i", 8), nest.each("j", "n"), nest.reduce("k", 3)
    nest.read("x", ShapeTracker.contiguous(8).pad((1, 1)), ["i + k"])
    return nest


LINE = ShapeTracker.contiguous(8)
MISTAKES: list[tuple[Callable[[Nest], object], type[Exception], str]] = [
    (lambda _: Nest(3), TypeError, "Nest: takes names with their values, such as Sym(\"n\", 1, 4096) or n=range(1, 4097), not 3 (int)"),  # type: ignore[arg-type]
    (lambda _: Nest(Sym("n")), ValueError, "Nest: `n` needs two ends, for numbers of code have at most 64 bits: say Sym(\"n\", 1, 4096)"),
    (lambda _: Nest(Sym("n", 1, 1 << 70)), OverflowError, "Nest: `n` is past the range of 64-bit integers"),
    (lambda _: Nest(Sym("n", 1, (1 << 127) - 1)), OverflowError, "Nest: `n` is past the range of 64-bit integers"),
    (lambda _: Nest(Sym("n", 1, 4), n=range(1, 9)), ValueError, "Nest: `n` is a variable already, with range 1..5"),
    (lambda _: Nest(n=4), TypeError, "Nest: `n` takes a range such as range(0, 10), not 4 (int)"),  # type: ignore[arg-type]
    (lambda _: Nest(n=range(4, 4)), ValueError, "Nest: the range 4..4 of `n` is empty"),
    (lambda nest: nest.each(3, 4), TypeError, "each: the name of a loop is to be text, not 3 (int)"),  # type: ignore[arg-type]
    (lambda nest: nest.each("l", 1.5), TypeError, "each: the size of `l` is to be a number, a text, an Expr or a Sym, not 1.5 (float)"),  # type: ignore[arg-type]
    (lambda nest: nest.each("l", 1 << 64), OverflowError, "each: the size of `l` is past the range of 64-bit integers"),
    (lambda nest: nest.each("l", "q"), ParseError, "q"),
    (lambda nest: nest.each("l", "i"), ValueError, "how often a loop runs depends on `i`, which is a loop itself, and not on parameters alone"),
    (lambda nest: nest.each("l", "n < 3"), ValueError, "a number is needed here, not a condition"),
    (lambda nest: nest.each("i", 3), ValueError, "there is a loop or a parameter `i` already"),
    (lambda nest: nest.each("min", 3), ValueError, "variable: `min` cannot be the name of a variable: "),
    (lambda nest: nest.each("l", Sym("q", 1, 4)), ValueError, "each: `q` is neither a loop of the nest nor a parameter; there are `n`, `i`, `j`, `k`, and parameters are declared by `Nest(n=range(1, 4097))`"),
    (lambda nest: nest.each("l", Sym("n", 1, 4)), ValueError, "each: `n` has values in 1..65 in the nest, but in 1..5 in what is given"),
    (lambda nest: nest.each("l", Sym("n", 2)), ValueError, "each: `n` has values in 1..65 in the nest, but in 2.. in what is given"),
    (lambda nest: nest.each("l", Expr("n", n=range(1, 3))), ValueError, "each: `n` has values in 1..65 in the nest, but in 1..3 in what is given"),
    (lambda nest: nest.read("y", "(8,)", ["i"]), TypeError, "read: takes a ShapeTracker, a View or an IndexExpr to read, not '(8,)' (str)"),  # type: ignore[arg-type]
    (lambda nest: nest.read("y", LINE, "i"), TypeError, "read: takes a list of expressions, one for each axis, such as ['i'], not 'i' (str)"),
    (lambda nest: nest.read("y", LINE, 3), TypeError, "read: takes a list of expressions, one for each axis, not 3 (int)"),  # type: ignore[arg-type]
    (lambda nest: nest.read("y", LINE, ["i", "k"]), ValueError, "read: takes one expression for each axis: `y` has 1, not more"),
    (lambda nest: nest.read("y", LINE, []), ValueError, "read: takes one expression for each axis: `y` has 1, not 0"),
    (lambda nest: nest.read("y", LINE, ["i"] * 9), ValueError, "read: takes one expression for each axis: `y` has 1, not more"),
    (lambda nest: nest.read("y", LINE, [None]), TypeError, "read: axis 0 of `y` is to be a number, a text, an Expr or a Sym, not None (NoneType)"),  # type: ignore[list-item]
    (lambda nest: nest.read("y", LINE, ["i + 1"]), ValueError, "access: axis 0 of `y` has size 8, but `i + 1`, which is taken there, ranges from 1 to 8"),
    (lambda nest: nest.read("y", LINE, ["i < 3"]), ValueError, "access: a number is needed here, not a condition"),
    (lambda nest: nest.read("y", LINE, ["i +"]), ParseError, "i +"),
    (lambda nest: nest.read("y", LINE, [Expr("q", q=range(3))]), ValueError, "read: `q` is neither a loop of the nest nor a parameter; there are `n`, `i`, `j`, `k`"),
    (lambda nest: nest.read("y", ShapeTracker.contiguous(Sym("q", 1, 8)), [0]), ValueError, "access: `q` is neither a loop of the nest nor a parameter"),
    (lambda nest: nest.read("y", ShapeTracker.contiguous(Sym("n", 1, 8)), [0]), ValueError, "access: `n` has values in 1..65 in the nest, but in 1..9 in the index that is read"),
    (lambda nest: nest.read("x", LINE, ["i"]), ValueError, "access: something of the nest is called `x` already"),
    (lambda nest: nest.access("y", "i", valid="i"), ValueError, "access: a condition is needed here, not a number"),
    (lambda nest: nest.access("y", "i", valid=2.5), TypeError, "access: the guard of `y` is to be a number, a text, an Expr or a Sym, not 2.5 (float)"),  # type: ignore[arg-type]
    (lambda nest: nest.access("y", IndexMap("(i) -> (i)", i=range(8))), TypeError, "access: the index of `y` is to be a number, a text, an Expr or a Sym, not "),  # type: ignore[arg-type]
    (lambda nest: nest.value("i", 3), ValueError, "value: something of the nest is called `i` already"),
    (lambda nest: nest.value("two words", 3), ValueError, "two words"),
    (lambda nest: nest.split("q", 2, 4), ValueError, "split: there is no loop `q`; there are `i`, `j`, `k`"),
    (lambda nest: nest.split("i", 3, 3), ValueError, "split: the factors 3, 3 do not make the size of `i`, which is 8"),
    (lambda nest: nest.split("i"), ValueError, "split: takes the factors of the loop, such as split(\"i\", -1, 16)"),
    (lambda nest: nest.split("i", -1, -1), ValueError, "split: one factor may be -1, not several, such as split(\"i\", -1, 16)"),
    (lambda nest: nest.split("i", -1, 3), ValueError, "split: the size of `i`, which is 8, is not known to be a multiple of 3"),
    (lambda nest: nest.split("j", -1, 3), ValueError, "split: the size of `j`, which is n, is not known to be a multiple of 3"),
    (lambda nest: nest.split("i", -1, 0), ValueError, "split: the other factors make 0, which may be 0 or less"),
    (lambda nest: nest.split("i", 2, "four"), ParseError, "four"),
    (lambda nest: nest.swap("i", "q"), ValueError, "swap: there is no loop `q`; there are `i`, `j`, `k`"),
    (lambda nest: nest.swap("i", 1), TypeError, "swap: the name of a loop is to be text, not 1 (int)"),  # type: ignore[arg-type]
    (lambda nest: nest.reorder("j", "i"), ValueError, "reorder: takes each loop once: there are `i`, `j`, `k`"),
    (lambda nest: nest.reorder(["j", 1]), TypeError, "reorder: the name of a loop is to be text, not 1 (int)"),  # type: ignore[list-item]
    (lambda nest: nest.clip(), ValueError, "clip: takes the names of the accesses whose guards are meant"),
    (lambda nest: nest.clip("y"), ValueError, "clip: there is no access `y`; there are `x`"),
    (lambda nest: nest.clip("x", reduced=1), TypeError, "clip: `reduced` is to be True or False, not 1 (int)"),  # type: ignore[arg-type]
    (lambda nest: nest.partition("i"), ValueError, "partition: takes the names of the accesses whose guards are meant"),
    (lambda nest: nest.partition("q", "x"), ValueError, "partition: there is no loop `q`; there are `i`, `j`, `k`"),
    (lambda nest: nest.stride("y", "i"), ValueError, "stride: there is no access `y`; there are `x`"),
    (lambda nest: nest.vector_width("x", "i", "4"), TypeError, "vector_width: the most is to be a whole number, not '4' (str)"),  # type: ignore[arg-type]
    (lambda nest: nest.overlaps("x", None), TypeError, "overlaps: the name of an access is to be text, not None (NoneType)"),  # type: ignore[arg-type]
    (lambda nest: nest.code("cobol", ""), ValueError, "cobol"),
    (lambda nest: nest.code("c", 3), TypeError, "code: the body is to be text, not 3 (int)"),  # type: ignore[arg-type]
    (lambda nest: nest.code("c", "f({y});"), ValueError, "body: nothing is called `y`; there are `x`, `i`, `j`, `k`"),
    (lambda nest: nest.code("c", "{y}", choices={"y": "x"}), TypeError, "code: takes choices as a dict: each name with an access, and the texts"),
    (lambda nest: nest.code("c", "{y}", choices={"y": ("z", "1", "0")}), ValueError, "body: no access is called `z`; there are `x`"),
    (lambda nest: nest.code("c"), ValueError, "code: takes a body: lines for the innermost loop, in which {a} is an index"),
    (lambda _: Nest.parse("C[i] += A[i]; A = (8,); C = (9,)"), ParseError, "a loop has one size"),
    (lambda _: Nest.parse("C[i] = A[k]; A = (8,); C = (8,)"), ParseError, "write `+=` for the sum"),
    (lambda _: Nest.parse("C[i] = A[i]; A = (n,); C = (n,)", where="n=5..2"), ParseError, "n=5..2"),
    (lambda _: Nest.parse("C[i] = exp(A[i]); A = (7,).pad((0, 1)); C = (8,)").code("mlir"), ValueError, "mlir: `exp(A[i])` is no product"),
    (lambda nest: nest.code("c", "", before="f({k});"), ValueError, "body: `k` depends on `k`, a loop inside of which it does not stand"),
    (lambda nest: nest.code("latex", ""), ValueError, "latex: there are no loops in this language"),
    (lambda nest: setattr(nest, "width", 16), ValueError, "width: takes 32 or 64, not 16"),
    (lambda nest: setattr(nest, "width", "32"), TypeError, "width: the width is to be a whole number, not '32' (str)"),
    (lambda nest: setattr(nest, "unsigned", 1), TypeError, "unsigned: it is to be True or False, not 1 (int)"),
]


@pytest.mark.parametrize("make, kind, sentence", MISTAKES, ids=[str(number) for number in range(len(MISTAKES))])
def test_mistakes_are_sentences(make: Callable[[Nest], object], kind: type[Exception], sentence: str) -> None:
    nest = made()
    before = str(nest), list(nest.parameters), nest.code("c", "f({x});")
    with pytest.raises(kind) as caught:
        make(nest)
    assert sentence in str(caught.value), str(caught.value)
    # What is refused leaves the nest as it was.
    assert (str(nest), list(nest.parameters), nest.code("c", "f({x});")) == before
    nest.each("q", 3)


def test_a_sequence_without_an_end_is_refused() -> None:
    def forever() -> Iterator[str]:
        while True:
            yield "i"

    nest = made()
    with pytest.raises(ValueError, match="reorder: more than 4096 things are given"):
        nest.reorder(forever())
    with pytest.raises(ValueError, match="read: takes one expression for each axis: `y` has 1, not more"):
        nest.read("y", LINE, forever())
    with pytest.raises(ValueError, match="split: more than 4096 things are given"):
        nest.split("i", forever())


def test_levels_are_of_their_class() -> None:
    assert all(isinstance(level, Level) for level in made().levels())
