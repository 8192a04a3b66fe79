"""tinygrad on this package's classes: what installing changes and changes back, and indices in tinygrad's own graph."""

import itertools
import math
import random
import subprocess
import sys
from typing import Any

import pytest

from oracle import cases

pytest.importorskip("tinygrad.shape.view", reason="tinygrad 0.10.3 or 0.11.0 is not installed")

from tinygrad.shape.view import View as TheirView  # noqa: E402

from shapetracker.compat.tinygrad import ShapeTracker, View, _install  # noqa: E402
from shapetracker.compat.tinygrad._genuine import load  # noqa: E402

TG = load()
UOp, Ops, dtypes = TG.UOp, TG.Ops, TG.dtypes


def run(program: str) -> str:
    """What a program prints in a process of its own, where nothing was imported before. It runs on any device."""
    common = """
import gc, sys
import numpy as np
from shapetracker.compat import tinygrad as compat

def graph(tensor):
    return tensor.uop if hasattr(tensor, "uop") else tensor.lazydata

def whose(tensor):
    return type(graph(tensor).st).__module__.split(".")[0]
"""
    done = subprocess.run([sys.executable, "-c", common + program], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


# The device that needs nothing but Python.
ENVIRONMENT = {"PYTHON": "1", "PATH": "/usr/bin:/bin", "CACHELEVEL": "0"}


@pytest.mark.parametrize("when", ["before", "after"])
def test_tinygrad_has_these_classes_whether_it_was_imported_before_or_after(when: str) -> None:
    imports, install = "from tinygrad import Tensor", "compat.install()"
    first, second = (install, imports) if when == "before" else (imports, install)
    printed = run(f"""
{first}
{second}
from tinygrad.shape.shapetracker import ShapeTracker
from tinygrad.shape.view import View
assert ShapeTracker is compat.ShapeTracker and View is compat.View
rows = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
result = rows.permute(1, 0).pad(((1, 1), (0, 0))).reshape(3, 6).flip(0) + 1
want = np.pad(np.arange(12, dtype=np.float32).reshape(3, 4).T, ((1, 1), (0, 0))).reshape(3, 6)[::-1] + 1
assert (result.numpy() == want).all()
print(whose(result))
""")
    assert printed == "shapetracker\n"


def test_tensors_and_compiled_functions_that_are_alive_change_over_and_back() -> None:
    printed = run("""
from tinygrad import Device, Tensor, TinyJit
device = Device[Device.DEFAULT]
rows = Tensor(np.arange(9, dtype=np.float32).reshape(3, 3)).realize()
lazy = rows.permute(1, 0).pad(((1, 0), (0, 0)))
@TinyJit
def product(x):
    return (x.permute(1, 0) @ x).realize()
wanted = [product(rows).numpy() for _ in range(3)][-1]
print(whose(rows), whose(lazy))
compat.install()
compat.install()  # Once more changes nothing.
print(whose(rows), whose(lazy), (product(rows).numpy() == wanted).all(), (lazy + 1).sum().item())
assert Device[Device.DEFAULT] is device
compat.uninstall()
compat.uninstall()
print(whose(rows), whose(lazy), (product(rows).numpy() == wanted).all(), (lazy + 2).sum().item())
with compat.installed():
    print(whose(rows), (product(rows).numpy() == wanted).all())
print(whose(rows))
try:
    with compat.installed(), compat.installed():
        raise KeyError("mine")
except KeyError as err:
    print(err, whose(rows))
from tinygrad.shape.shapetracker import ShapeTracker
from tinygrad.schedule import grouper
print(ShapeTracker is compat.ShapeTracker, grouper.ShapeTracker is ShapeTracker)
""" if hasattr(TG.ops, "AxisType") else "print('skipped')")  # fmt: skip
    if printed == "skipped\n":
        pytest.skip("written for 0.11.0")
    assert printed.splitlines() == [
        "tinygrad tinygrad",
        "shapetracker shapetracker True 48.0",
        "tinygrad tinygrad True 60.0",
        "shapetracker True",
        "tinygrad",
        "'mine' tinygrad",
        "False True",
    ]


def test_another_version_is_refused_and_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_install.importlib.metadata, "version", lambda name: "0.9.2")
    with pytest.raises(ImportError, match="this is tinygrad 0.9.2, and what is known are 0.10.3 and 0.11.0; nothing was"):
        _install.install()

    def missing(name: str) -> str:
        raise _install.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(_install.importlib.metadata, "version", missing)
    with pytest.raises(ImportError, match="there is no tinygrad here; it works with 0.10.3 and 0.11.0"):
        _install.install()
    assert load().View is TheirView and sys.modules["tinygrad.shape.view"] is TG.view


def test_trackers_that_variables_hold_are_in_the_way_until_they_are_gone() -> None:
    printed = run("""
import tinygrad
from tinygrad.shape.shapetracker import ShapeTracker
genuine, mine = ShapeTracker, ShapeTracker.from_shape((2, 3)).permute((1, 0))
try:
    compat.install()
except RuntimeError as err:
    print(err)
from tinygrad.shape.shapetracker import ShapeTracker
assert ShapeTracker is genuine
del mine
compat.install()
from tinygrad.shape.shapetracker import ShapeTracker
assert ShapeTracker is compat.ShapeTracker
""")
    assert printed.startswith("tinygrad's own classes are in use: a variable, a list or an attribute holds 2 of its")
    assert printed.endswith("or install before they are made; nothing was changed\n")


# Indices in tinygrad's graph, beside a walk over the views that shares no code with them.

INT32 = range(-(2**31), 2**31)


def value(node: Any, at: dict[Any, int], known: dict[Any, int]) -> int:
    """What a node is for values of the ranges, in the arithmetic of C; every value has room in its type."""
    for part in node.toposort():
        if part in known:
            continue
        args = [known[operand] for operand in part.src]
        op = part.op
        if part in at:
            result = at[part]
        elif op is Ops.CONST:
            result = int(part.arg)
        elif op is Ops.ADD:
            result = args[0] + args[1]
        elif op is Ops.MUL:
            result = args[0] * args[1]
        elif op in (Ops.IDIV, Ops.MOD):
            quotient = abs(args[0]) // abs(args[1]) * (1 if (args[0] < 0) == (args[1] < 0) else -1)
            result = quotient if op is Ops.IDIV else args[0] - quotient * args[1]
        elif op is Ops.CMPLT:
            result = int(args[0] < args[1])
        elif op is Ops.CMPNE:
            result = int(args[0] != args[1])
        elif op is Ops.AND:
            result = int(bool(args[0] and args[1]))
        elif op is Ops.OR:
            result = int(bool(args[0] or args[1]))
        elif op is Ops.MAX:
            result = max(args)
        elif op is Ops.WHERE:
            result = args[1] if args[0] else args[2]
        elif op in (Ops.CAST, Ops.RANGE, Ops.DEFINE_VAR):
            result = args[0] if op is Ops.CAST else 0
        else:
            raise AssertionError(f"{op} is no operation of an index")
        assert part.dtype in (dtypes.bool, dtypes.int64) or result in INT32, (part, result)
        known[part] = result
    return known[node]


def walk(views: tuple[Any, ...], index: tuple[int, ...]) -> int | None:
    """The address of an element, view by view; None where it has none."""
    for place, view in enumerate(reversed(views)):
        if place:
            rest, entries = address, []
            for size in reversed(view.shape):
                rest, entry = divmod(rest, size)
                entries.append(entry)
            index = tuple(reversed(entries))
        if view.mask is not None and any(not begin <= i < end for i, (begin, end) in zip(index, view.mask)):
            return None
        address = view.offset + sum(i * stride for i, stride in zip(index, view.strides))
    return address


def random_tracker(rng: random.Random) -> ShapeTracker:
    st = ShapeTracker.from_shape(tuple(rng.choice([1, 2, 3, 4, 5, 6]) for _ in range(rng.randint(1, 4))))
    for _ in range(rng.randint(1, 6)):
        shape = st.shape
        match rng.randrange(5):
            case 0:
                st = st.permute(tuple(rng.sample(range(len(shape)), len(shape))))
            case 1 if st.size < 2000:
                st = st.pad(tuple((rng.choice([0, 0, 1, 3]), rng.choice([0, 0, 1, 2])) for _ in shape))
            case 2:
                # One entry that is left makes masks one wide, once it is padded again.
                begins = [rng.randrange(size) for size in shape]
                st = st.shrink(tuple((begin, rng.randint(begin + 1, size)) for begin, size in zip(begins, shape)))
            case 3:
                st = st.flip(tuple(rng.random() < 0.5 for _ in shape))
            case _:
                sizes, left = [], math.prod(shape)
                while left > 1:
                    sizes.append(rng.choice([size for size in range(2, left + 1) if left % size == 0]))
                    left //= sizes[-1]
                st = st.reshape(tuple(sizes))
    return st


def agrees(st: ShapeTracker, ranges: list[Any], index: Any, valid: Any, rng: random.Random) -> None:
    every = math.prod(st.shape)
    positions = range(every) if every <= 200 else rng.sample(range(every), 200)
    for entries in itertools.islice(itertools.product(*map(range, st.shape)), every) if every <= 200 else (
        tuple(rng.randrange(size) for size in st.shape) for _ in positions
    ):  # fmt: skip
        at = {node: entry for node, entry in zip(ranges, entries) if node.op is not Ops.CONST}
        known: dict[Any, int] = {}
        wanted = walk(st.views, entries)
        assert bool(value(valid, at, known)) == (wanted is not None), (st, entries)
        if wanted is not None:
            assert value(index, at, known) == wanted, (st, entries)


def test_random_stacks_have_the_right_address_in_tinygrads_graph() -> None:
    rng = random.Random(17)
    for _ in range(cases(1500)):
        st = random_tracker(rng)
        ranges = [UOp.range(dtypes.int, size, axis) for axis, size in enumerate(st.shape)]
        index, valid = st.to_indexed_uops(ranges)
        agrees(st, ranges, index, valid, rng)
        # tinygrad's rule for `c == range` would drop the condition: there is none, plain or behind a negation.
        for node in valid.toposort():
            assert node.op is not Ops.CMPNE or (node.src[1].op is Ops.CONST and node.src[1].arg is True), st


def test_indices_may_be_sums_and_quotients_of_others() -> None:
    rng = random.Random(18)
    for _ in range(cases(400)):
        st = random_tracker(rng)
        numel = math.prod(st.shape)
        position = UOp.range(dtypes.int, numel, 0)
        parts, weight = [], 1
        for size in reversed(st.shape):
            parts.append((position // weight) % size)
            weight *= size
        index, valid = st.to_indexed_uops(parts[::-1])
        for place in rng.sample(range(numel), min(numel, 60)):
            entries, rest = [], place
            for size in reversed(st.shape):
                rest, entry = divmod(rest, size)
                entries.append(entry)
            wanted = walk(st.views, tuple(reversed(entries)))
            known: dict[Any, int] = {}
            assert bool(value(valid, {position: place}, known)) == (wanted is not None)
            assert wanted is None or value(index, {position: place}, known) == wanted


def test_addresses_past_32_bits_are_computed_in_64() -> None:
    large = ShapeTracker.from_shape((70000, 70000)).permute((1, 0)).shrink(((60000, 70000), (5, 70000)))
    ranges = [UOp.range(dtypes.int, size, axis) for axis, size in enumerate(large.shape)]
    index, valid = large.to_indexed_uops(ranges)
    assert index.dtype is dtypes.int64
    for entries in [(0, 0), (9999, 69994), (1, 69994)]:
        at, known = dict(zip(ranges, entries)), dict[Any, int]()
        assert value(index, at, known) == walk(large.views, entries) and value(valid, at, known)


def test_a_condition_that_is_given_must_hold_as_well() -> None:
    view = View.create((4, 3), (3, 1), 0, ((1, 4), (0, 3)))
    ranges = [UOp.range(dtypes.int, 4, 0), UOp.range(dtypes.int, 3, 1)]
    _, valid = view.to_indexed_uops(ranges, ranges[1] < 2)
    for entries in itertools.product(range(4), range(3)):
        assert bool(value(valid, dict(zip(ranges, entries)), {})) == (entries[0] >= 1 and entries[1] < 2)
    _, valid = View.create((4, 3)).to_indexed_uops(ranges, ranges[1] < 2)
    assert valid is (ranges[1] < 2)
    with pytest.raises(ValueError, match="takes one index an axis: there are 2, not 1"):
        view.to_indexed_uops(ranges[:1])


def test_a_tracker_is_a_node_of_the_graph() -> None:
    st = ShapeTracker.from_shape((2, 3))
    node = st.to_uop()
    assert node.op is Ops.VIEW and node.arg is st and node is st.to_uop()
