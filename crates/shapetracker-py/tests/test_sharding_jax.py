"""Arrays of JAX on four devices of the CPU: JAX's own maps from devices to indices are the oracle."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import pytest

from oracle import factorings


def test_jax_on_four_devices() -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    # The number of devices is fixed when JAX is imported, which another test may have done.
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    run = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr


def main() -> None:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import NamedSharding
    from jax.sharding import PartitionSpec as P

    from shapetracker.sharding import NotFree, Shard, Sharded, check, explain_view, sharded, view

    assert len(jax.devices()) == 4
    meshes = [jax.make_mesh((4,), ("x",)), jax.make_mesh((2, 2), ("a", "b"))]

    def specs(shape: tuple[int, ...], mesh: Any) -> list[Any]:
        """Every PartitionSpec whose sizes divide."""
        sizes = dict(mesh.shape)
        names = list(sizes)
        found = []
        for axes in itertools.product([None, *range(len(shape))], repeat=len(names)):
            cut = [[name for name, axis in zip(names, axes) if axis == at] for at in range(len(shape))]
            if all(size % int(np.prod([sizes[n] for n in by])) == 0 for size, by in zip(shape, cut)):
                orders = [list(itertools.permutations(by)) for by in cut]
                found += [P(*(by or None for by in choice)) for choice in itertools.product(*orders)]
        return found

    def contents(shape: tuple[int, ...], mesh: Any, spec: Any) -> tuple[bytes, ...]:
        numbers = np.arange(np.prod(shape)).reshape(shape)
        indices = NamedSharding(mesh, spec).devices_indices_map(shape)
        return tuple(numbers[indices[device]].tobytes() for device in mesh.devices.flat)

    asked = 0
    count = {"free": 0, "no spec": 0, "moves": 0}
    for mesh, number in itertools.product(meshes, (8, 24)):
        shapes = factorings(number)
        said = {shape: {contents(shape, mesh, spec): spec for spec in specs(shape, mesh)} for shape in shapes}
        for shape in shapes:
            for held, spec in said[shape].items():
                array = jax.device_put(np.arange(number, dtype=np.int32).reshape(shape), NamedSharding(mesh, spec))
                before = sharded(array)
                assert before.shape == shape and before.mesh == tuple(mesh.shape.items())
                for to in shapes:
                    outcome = explain_view(array, to)
                    asked += 1
                    # Every new shape on every device is compiled by JAX: a few are enough.
                    is_done = asked % 9 == 0
                    if held in said[to]:
                        count["free"] += 1
                        assert outcome.after is not None and outcome.after.spec is not None, (before, to, outcome)
                        if not is_done:
                            continue
                        result = view(array, *to)
                        assert contents(to, mesh, result.sharding.spec) == held
                        assert (np.asarray(result) == np.asarray(array).reshape(to)).all()
                        assert check(array, result) and sharded(result) == outcome.after
                    else:
                        count["no spec" if outcome else "moves"] += 1
                        assert outcome.after is None or outcome.after.spec is None, (before, to, outcome)
                        with pytest.raises(NotFree, match="no PartitionSpec says" if outcome else "") as refused:
                            view(array, to)
                        assert refused.value.outcome.kind == outcome.kind
                        if outcome.kind == "moves":
                            assert refused.value.bytes == refused.value.elements * 4 and refused.value.witness is not None
    assert min(count.values()) > 20, count

    mesh = meshes[1]
    described = jax.ShapeDtypeStruct((8, 4), jnp.float32, sharding=NamedSharding(mesh, P(("b", "a"), None)))
    assert sharded(described) == sharded(((8, 4), mesh, P(("b", "a"))))
    assert sharded(((8, 4), mesh, P("a", "b"))) == Sharded((8, 4), {"a": 2, "b": 2}, [Shard(0), Shard(1)])
    assert not check(((8, 4), mesh, P("a", "b")), ((8, 4), mesh, P("b", "a")))
    with pytest.raises(TypeError, match="a NamedSharding"):
        view(jnp.arange(8), 2, 4)

    def traced(x: Any) -> Any:
        with pytest.raises(TypeError, match="traced|NamedSharding"):
            view(x, 16)
        return x

    jax.jit(traced)(jnp.arange(16).reshape(4, 4))


if __name__ == "__main__":
    main()
