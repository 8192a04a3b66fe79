"""Which views of tensors that are spread over devices are found: PyTorch's rule, JAX's, and this package, beside brute force.

    pip install . torch jax
    python crates/shapetracker-py/benches/sharded_views.py

prints the tables of README.md. Every question is a shape, placements and a new shape of as many elements. What is right is
decided by lists: the positions that each device holds, written out from the definitions, and compared with what all placements
of the new shape say. The rules are asked without processes. A library that is not there has no column.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from shapetracker.sharding import Placement, Replicate, Shard, Sharded, StridedShard

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracle import factorings  # noqa: E402
from placed import Contents, Shape, Words, held  # noqa: E402

REPLICATE = Replicate()


def words(shape: Shape, strided: bool) -> list[Placement]:
    found = [REPLICATE]
    for axis, size in enumerate(shape):
        found.append(Shard(axis))
        found += [StridedShard(axis, pieces) for pieces in range(2, size + 1)] if strided else []
    return found


@lru_cache(maxsize=4096)
def said_by_placements(shape: Shape, mesh: Shape) -> frozenset[Contents]:
    """What placements of a shape can say."""
    return frozenset(held(shape, mesh, sentence) for sentence in itertools.product(words(shape, True), repeat=len(mesh)))


@lru_cache(maxsize=4096)
def said_by_specs(shape: Shape, mesh: Shape) -> frozenset[Contents]:
    """What JAX's PartitionSpecs of a shape can say: mesh axes in any order, the major one first, where sizes divide."""
    found = set()
    for sentence in itertools.product([REPLICATE, *map(Shard, range(len(shape)))], repeat=len(mesh)):
        # Plain cuts applied in an order are a specification with this order.
        if is_even(shape, mesh, sentence):
            found |= {held(shape, mesh, sentence, order) for order in itertools.permutations(range(len(mesh)))}
    return frozenset(found)


def is_even(shape: Shape, mesh: Shape, sentence: Words) -> bool:
    left = list(shape)
    for word, devices in zip(sentence, mesh):
        if word.axis is not None:
            if left[word.axis] % (word.pieces * devices):
                return False
            left[word.axis] //= devices
    return True


def shapetracker_rule(specs: bool = False) -> Callable[..., tuple[str, Words | None]]:
    """Our answers; for JAX those that a PartitionSpec says."""

    def ask(shape: Shape, mesh: Shape, sentence: Words, to: Shape) -> tuple[str, Words | None]:
        outcome = Sharded(shape, mesh, sentence).reshape(to)
        after = outcome.after
        if after is None or (specs and after.spec is None):
            return outcome.kind, None
        return "free", after.placements

    return ask


def torch_rule() -> Callable[..., tuple[str, Words | None]]:
    """What `DTensor.view` does: the rule itself, which may also raise, or ask for another placement of the input first."""
    from torch.distributed.tensor import Replicate as R
    from torch.distributed.tensor import Shard as S
    from torch.distributed.tensor._ops._view_ops import propagate_shape_and_sharding, view_groups
    from torch.distributed.tensor.placement_types import _StridedShard

    def theirs(word: Placement) -> Any:
        if word.axis is None:
            return R()
        return S(word.axis) if word.kind == "shard" else _StridedShard(word.axis, split_factor=word.pieces)

    def ours(word: Any) -> Placement:
        if isinstance(word, _StridedShard):
            return StridedShard(word.dim, word.split_factor)
        return Shard(word.dim) if isinstance(word, S) else REPLICATE

    def ask(shape: Shape, mesh: Shape, sentence: Words, to: Shape) -> tuple[str, Words | None]:
        before = [theirs(word) for word in sentence]
        try:
            needed, after = propagate_shape_and_sharding(before, shape, view_groups(shape, to), mesh, strict_view=True)
        except Exception as refused:
            return type(refused).__name__, None
        if list(needed) != before:
            return "moves", None
        return "free", tuple(ours(word) for word in after)

    return ask


def jax_rule() -> Callable[..., tuple[str, Words | None]]:
    """What `jnp.reshape` infers for explicit shardings, on meshes without devices."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

    @lru_cache(maxsize=None)
    def mesh_of(mesh: Shape) -> Any:
        return AbstractMesh(mesh, tuple("abc"[: len(mesh)]), axis_types=(AxisType.Explicit,) * len(mesh))

    def ask(shape: Shape, mesh: Shape, sentence: Words, to: Shape) -> tuple[str, Words | None]:
        spec = [tuple(name for name, word in zip("abc", sentence) if word.axis == axis) or None for axis in range(len(shape))]
        sharding = NamedSharding(mesh_of(mesh), PartitionSpec(*spec))
        try:
            with jax.sharding.use_abstract_mesh(mesh_of(mesh)):
                result = jax.eval_shape(lambda x: jnp.reshape(x, to), jax.ShapeDtypeStruct(shape, jnp.int32, sharding=sharding))
        except Exception as refused:
            return type(refused).__name__, None
        after = [REPLICATE] * len(mesh)
        for axis, entry in enumerate(result.sharding.spec):
            for name in (entry,) if isinstance(entry, str) else entry or ():
                after["abc".index(name)] = Shard(axis)
        return "free", tuple(after)

    return ask


def judged(answer: tuple[str, Words | None], mesh: Shape, to: Shape, contents: Contents, free: bool) -> str:
    kind, after = answer
    if after is None:
        return kind if not free else f"missed: {kind}"
    # A library may read several cuts of one axis in the other order: the benefit of the doubt.
    readings = (held(to, mesh, after), held(to, mesh, after, range(len(mesh))[::-1]))
    if contents in readings:
        return "found"
    # Where some device would hold more or fewer elements than it does, viewing its part fails.
    is_loud = all(any(len(a) != len(b) for a, b in zip(contents, reading)) for reading in readings)
    return "wrong, and fails" if is_loud else "wrong"


Wanted = Callable[[Shape, Shape, Words], bool]


def table(
    name: str,
    rules: dict[str, Any],
    meshes: list[Shape],
    strided: bool,
    said: Callable[[Shape, Shape], frozenset[Contents]],
    wanted: Wanted,
) -> None:
    counts: dict[str, Counter[str]] = {rule: Counter() for rule in rules}
    times = dict.fromkeys(rules, 0.0)
    asked = free_in_all = 0
    for mesh, number in itertools.product(meshes, range(8, 49)):
        shapes = factorings(number)
        for shape in shapes:
            for sentence in itertools.product(words(shape, strided), repeat=len(mesh)):
                if all(word.axis is None for word in sentence) or not wanted(shape, mesh, sentence):
                    continue
                contents = held(shape, mesh, sentence)
                for to in shapes:
                    if to == shape:
                        continue
                    free = contents in said(to, mesh)
                    asked += 1
                    free_in_all += free
                    for rule, ask in rules.items():
                        begin = time.perf_counter()
                        answer = ask(shape, mesh, sentence, to)
                        times[rule] += time.perf_counter() - begin
                        counts[rule][judged(answer, mesh, to, contents, free)] += 1
    cells = [name, f"{asked:,}", f"{free_in_all:,}"]
    for count in counts.values():
        cells += [f"{count['found']:,}", f"{count['wrong'] + count['wrong, and fails']:,}", f"{count['wrong']:,}"]
    print("| " + " | ".join(cells) + " |", flush=True)
    for rule, count in counts.items():
        print(f"<!-- {name}: {rule}: {dict(count)}, {times[rule] / asked * 1e6:.1f} us each -->", flush=True)


def heading(name: str, rules: dict[str, Any]) -> None:
    columns = [f"{rule} finds | wrong | of them silently" for rule in rules]
    print(f"\n| {name} | questions | free | " + " | ".join(columns) + " |")
    print("|---" * (3 + 3 * len(rules)) + "|")


def main() -> None:
    rules: dict[str, Any] = {"shapetracker": shapetracker_rule()}
    versions = []
    try:
        import torch

        rules["torch"] = torch_rule()
        versions.append(f"torch {torch.__version__}")
    except ImportError:
        print("(no torch)")
    heading("placements", rules)
    one: list[Shape] = [(2,), (3,), (4,)]
    two: list[Shape] = [(2, 2), (2, 3), (3, 2)]

    def cut(sentence: Words) -> bool:
        return any(word.kind == "strided shard" for word in sentence)

    table("one mesh axis, even", rules, one, False, said_by_placements, lambda *q: is_even(*q))
    table("one mesh axis, uneven", rules, one, False, said_by_placements, lambda *q: not is_even(*q))
    table("one mesh axis, strided, even", rules, one, True, said_by_placements, lambda *q: cut(q[2]) and is_even(*q))
    table("one mesh axis, strided, uneven", rules, one, True, said_by_placements, lambda *q: cut(q[2]) and not is_even(*q))
    table("two mesh axes, even", rules, two, False, said_by_placements, lambda *q: is_even(*q))
    table("two mesh axes, uneven", rules, two, False, said_by_placements, lambda *q: not is_even(*q))
    try:
        import jax

        rules = {"shapetracker": shapetracker_rule(specs=True), "JAX": jax_rule()}
        versions.append(f"JAX {jax.__version__}")
    except ImportError:
        print("(no jax)")
    else:
        heading("partition specs", rules)
        table("one mesh axis", rules, one, False, said_by_specs, lambda *q: is_even(*q))
        # JAX takes milliseconds for a question: one mesh.
        table("two mesh axes", rules, two[:1], False, said_by_specs, lambda *q: is_even(*q))
    print("\n" + ", ".join(versions))


if __name__ == "__main__":
    main()
