"""Tensors over devices without PyTorch and JAX: what is asked, what comes of it, and what goes wrong."""

from __future__ import annotations

import copy
import itertools
import pickle
import random
import sys
from typing import Any

import pytest

import oracle
import placed
import shapetracker
from shapetracker import sharding
from shapetracker.sharding import (
    Partial,
    Placement,
    Replicate,
    Shard,
    Sharded,
    StridedShard,
    check,
    explain_view,
    sharded,
    view,
)


def test_the_silent_case_of_torch() -> None:
    before = ((4, 4), {"tp": 2}, [Shard(1)])
    flat = explain_view(before, 16)
    assert flat and flat.after == Sharded((16,), {"tp": 2}, [StridedShard(0, 4)])
    after = explain_view(flat.after, (2, 8)).after
    assert after is not None and after.placements == (StridedShard(1, 2),)
    assert after == explain_view(before, 2, -1).after
    # What torch 2.15 says.
    claim = check(before, ((2, 8), {"tp": 2}, [StridedShard(1, 4)]))
    assert not claim and claim.kind == "refuted" and claim.witness is not None
    assert claim.witness.local[0] == claim.witness.local[1] and claim.witness.positions[0] != claim.witness.positions[1]
    assert check(before, after) and check(before, after).witness is None


def test_random_views_are_what_the_lists_say() -> None:
    rng = random.Random(3)
    seen = {"free": 0, "unsayable": 0, "moves": 0}
    for _ in range(3000):
        mesh = rng.choice([(2,), (3,), (4,), (2, 2), (2, 3)])
        shapes = oracle.factorings(rng.choice([8, 12, 18, 20, 24, 30]))
        shape, to = rng.choice(shapes), rng.choice(shapes)
        axes = range(len(shape))
        words = [Replicate(), *map(Shard, axes), *(StridedShard(axis, rng.randint(2, shape[axis])) for axis in axes)]
        placements = tuple(rng.choice(words) for _ in mesh)
        before = Sharded(shape, mesh, placements)
        held = placed.held(shape, mesh, placements)
        outcome = before.reshape(to)
        seen[outcome.kind] += 1
        assert outcome.before == before
        if outcome.after is not None:
            assert outcome and placed.held(to, mesh, outcome.after.placements) == held
            assert before.check(outcome.after) and before.moved(outcome.after).elements == 0
            assert outcome.cheapest is None and outcome.witness is None
            continue
        cheapest = outcome.cheapest
        assert not outcome and cheapest is not None
        target, moved = cheapest
        needed = [len(set(b) - set(a)) for a, b in zip(held, placed.held(to, mesh, target.placements))]
        assert moved.elements == sum(needed) and moved.most == max(needed) and moved == before.moved(target)
        if outcome.kind == "moves":
            why = outcome.witness
            assert why is not None and why.missing is not None
            device = list(itertools.product(*map(range, mesh))).index(why.device)
            assert tuple(held[device][at] for at in why.local) == why.positions and why.missing not in held[device]
    assert min(seen.values()) > 20, seen


def test_what_a_device_holds() -> None:
    tensor = Sharded((5, 4), [("dp", 2), ("tp", 3)], [Shard(0), StridedShard(1, 2)])
    assert tensor.mesh == (("dp", 2), ("tp", 3)) and tensor.shape == (5, 4)
    assert tensor.local_shape(1, 0) == tensor.local_shape((1, 0)) == (2, 2) and tensor.local_shape(0, 2) == (3, 0)
    assert [tensor.holds((1, 0), local) for local in range(5)] == [12, 14, 16, 18, None]
    assert tensor.local((1, 0), 16) == 2 and tensor.local((0, 0), 16) is None
    with pytest.raises(ValueError, match=r"no device \(2, 0\)"):
        tensor.holds((2, 0), 0)


def test_partition_specs() -> None:
    tensor = Sharded.from_spec((8, 4), {"x": 2, "y": 2}, [("y", "x"), None])
    assert tensor.spec == (("y", "x"), ()) and tensor.local_shape(0, 1) == (2, 4)
    # y is the major one: device (x=0, y=1) has the third quarter.
    assert tensor.holds((0, 1), 0) == 16
    assert Sharded.from_spec((8, 4), {"x": 2}, [None, "x"]).placements == (Shard(1),)
    assert Sharded((9,), [2], [Shard(0)]).spec is None
    with pytest.raises(ValueError, match="9"):
        Sharded.from_spec((9,), {"x": 2}, ["x"])


def test_the_other_operations() -> None:
    tensor = Sharded((6, 4), {"tp": 2}, [Shard(1)])
    after = [
        tensor.permute(1, 0).after,
        tensor.unsqueeze(0).after,
        tensor.shrink((1, 3), None).after,
        tensor.pad((1, 1), None).after,
        tensor.flip(0).after,
    ]
    assert [t and (t.shape, t.placements) for t in after] == [
        ((4, 6), (Shard(0),)),
        ((1, 6, 4), (Shard(2),)),
        ((2, 4), (Shard(1),)),
        ((8, 4), (Shard(1),)),
        ((6, 4), (Shard(1),)),
    ]
    assert not tensor.flip(1)
    assert Sharded((1, 4), [2], [Shard(1)]).expand(3, 4).after == Sharded((3, 4), [2], [Shard(1)])
    assert Sharded((1, 4), [2], [Shard(1)]).squeeze(0).after == Sharded((4,), [2], [Shard(0)])


def test_huge_tensors_cost_nothing() -> None:
    tensor = Sharded((10**6, 10**6), {"dp": 100, "tp": 100}, [Shard(0), Shard(1)])
    outcome = tensor.reshape(10**12)
    assert outcome.after is not None and outcome.after.placements == (Shard(0), StridedShard(0, 10**4))
    assert tensor.check(outcome.after)
    assert tensor.local_shape(99, 99) == (10**4, 10**4)


def test_objects_are_values() -> None:
    tensor = Sharded((4, 4), {"dp": 2, "tp": 2, "pp": 1}, [Shard(1), StridedShard(0, 2), Partial()])
    for thing in [tensor, Replicate(), Partial(), Shard(3), StridedShard(1, 5)]:
        assert eval(repr(thing)) == thing == pickle.loads(pickle.dumps(thing)) == copy.deepcopy(thing)
        assert hash(thing) == hash(copy.copy(thing))
    assert str(tensor) == "(4, 4) @ dp=2, tp=2, pp=1 : S(1), SS(0, 2), P"
    assert (Shard(1).kind, Shard(1).axis, Shard(1).pieces) == ("shard", 1, 1)
    assert Replicate() != Partial() and Shard(0) != StridedShard(0, 1)
    with pytest.raises(AttributeError):
        tensor.shape = (1,)  # type: ignore[misc]
    outcome = tensor.reshape(16)
    assert str(outcome).startswith("free of communication") and repr(outcome).startswith("<Outcome: free, (16,)")


BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: Sharded((4, 4), {"tp": 0}, [Shard(0)]), ValueError, "tp has 0 devices"),
    (lambda: Sharded((4, 4), {"tp": 2}, []), ValueError, "placement"),
    (lambda: Sharded((4, 4), {"tp": 2}, [Shard(2)]), ValueError, "axis 2, which does not exist"),
    (lambda: Sharded((4, 4), {"tp": 2}, ["S(0)"]), TypeError, "takes placements, not 'S"),
    (lambda: Sharded((4, -4), {"tp": 2}, [Shard(0)]), ValueError, "-4"),
    (lambda: Sharded((4.5,), {"tp": 2}, [Shard(0)]), TypeError, "whole number"),
    (lambda: Sharded((4,), {2: 2}, [Shard(0)]), TypeError, "a name is a text"),
    (lambda: Sharded((4,), "tp", [Shard(0)]), TypeError, "mesh: takes sizes"),
    (lambda: Sharded((4,), 2, [Shard(0)]), TypeError, "mesh: takes sizes"),
    (lambda: Sharded((4,), [("tp", 2), 3], [Shard(0)]), TypeError, "mesh axis 0 is to be a whole number"),
    (lambda: Sharded((2**40, 2**40), [2], [Shard(0)]), (OverflowError, ValueError), "."),
    (lambda: Sharded((4,), itertools.repeat(2), [Shard(0)]), ValueError, "mesh"),
    (lambda: Shard(-1), OverflowError, "."),
    (lambda: StridedShard(0, 0), ValueError, "Placement: takes"),
    (lambda: Placement("Shard", 0), ValueError, "Placement: takes"),
    (lambda: explain_view(((4, 4), [2], [Shard(0)]), 3, 5), ValueError, "reshape"),
    (lambda: explain_view(((4, 4), [2], [Shard(0)]), "16"), TypeError, "reshape"),
    (lambda: explain_view((4, 4), 16), TypeError, "not a value of type tuple"),
    (lambda: explain_view(object(), 16), TypeError, "not a value of type object"),
    (lambda: check(((4, 4), [2], [Shard(0)]), ((4, 5), [2], [Shard(0)])), ValueError, "."),
    (lambda: check(((4, 4), [2], [Shard(0)]), ((16,), [4], [Shard(0)])), ValueError, "."),
    (lambda: view(((4, 4), [2], [Shard(0)]), 16), TypeError, "view: takes a DTensor or an array of JAX"),
    (lambda: Sharded.from_spec((4, 4), {"x": 2}, ["y", None]), ValueError, "y"),
    (lambda: Sharded.from_spec((4, 4), {"x": 2}, [3, None]), TypeError, "names of mesh axes"),
]


@pytest.mark.parametrize("call, kind, sentence", BAD, ids=range(len(BAD)))
def test_mistakes_are_answered_with_sentences(call: Any, kind: Any, sentence: str) -> None:
    with pytest.raises(kind, match=sentence) as refused:
        call()
    assert str(refused.value)


def test_neither_library_is_imported() -> None:
    import subprocess

    code = "import shapetracker.sharding, sys; assert not {'torch', 'jax', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_everything_is_documented() -> None:
    for name in sharding.__all__:
        thing = getattr(sharding, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for attribute, value in vars(thing).items():
                assert attribute.startswith("_") or not callable(value) or value.__doc__, f"{name}.{attribute}"
    assert sharded(Sharded((4,), [2], [Shard(0)])).shape == (4,) and shapetracker.ShapeTracker
