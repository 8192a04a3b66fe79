"""DTensors of PyTorch on real processes that talk by gloo, where PyTorch is installed."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oracle import factorings
from placed import part
from shapetracker.sharding import NotFree, Replicate, Shard, Sharded, StridedShard, check, explain_view, sharded, view

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch.distributed.tensor", reason="this PyTorch has no DTensor")

import torch.distributed as dist  # noqa: E402
import torch.multiprocessing  # noqa: E402
from torch.distributed.tensor import DTensor, Partial, init_device_mesh  # noqa: E402
from torch.distributed.tensor import Replicate as R  # noqa: E402
from torch.distributed.tensor import Shard as S  # noqa: E402
from torch.distributed.tensor.debug import CommDebugMode  # noqa: E402
from torch.distributed.tensor.placement_types import _StridedShard  # noqa: E402

if not dist.is_available() or not dist.is_gloo_available():
    pytest.skip("this PyTorch has no gloo", allow_module_level=True)


def on_processes(processes: int, scene: Any, path: Path) -> None:
    """Runs a scene on several processes, and raises what any of them does."""
    torch.multiprocessing.spawn(process, args=(processes, scene, str(path / "meeting")), nprocs=processes)


def process(rank: int, processes: int, scene: Any, meeting: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=processes)
    try:
        scene()
    finally:
        dist.destroy_process_group()


def strided(axis: int, pieces: int) -> Any:
    return _StridedShard(axis, split_factor=pieces)


def spread(whole: Any, mesh: Any, placements: list[Any], requires_grad: bool = False) -> Any:
    """The DTensor with these placements, each process taking its part by the definition."""
    axes = [list(range(size)) for size in whole.shape]
    for placement, devices, at in zip(placements, mesh.shape, mesh.get_coordinate()):
        if isinstance(placement, _StridedShard):
            pieces = placement.split_factor
            mine = axes[placement.dim]
            axes[placement.dim] = [i for p in range(pieces) for i in part(part(mine, pieces, p), devices, at)]
        elif isinstance(placement, S):
            axes[placement.dim] = part(axes[placement.dim], devices, at)
    local = whole
    for axis, indices in enumerate(axes):
        local = local.index_select(axis, torch.tensor(indices, dtype=torch.long))
    x = DTensor.from_local(
        local.contiguous(), mesh, placements, run_check=False, shape=whole.shape, stride=whole.stride()
    )
    return x.requires_grad_() if requires_grad else x


def numbers(*shape: int) -> Any:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).view(shape)


def the_silent_case() -> None:
    mesh = init_device_mesh("cpu", (2,))
    whole = numbers(4, 4)
    x = spread(whole, mesh, [S(1)])
    with CommDebugMode() as communication:
        flat = view(x, 16)
        y = view(flat, 2, 8)
    assert communication.get_total_counts() == 0
    assert flat.placements == (strided(0, 4),) and y.placements == (strided(1, 2),)
    assert y.to_local().data_ptr() == x.to_local().data_ptr()
    assert torch.equal(y.full_tensor(), whole.view(2, 8))
    assert check(x, y) and check(x, flat) and y.stride() == (8, 1)
    # Release 2.15 says strided(1, 4), which is not so. Later ones may be right, or refuse.
    try:
        theirs = x.view(16).view(2, 8)
    except RuntimeError:
        return
    assert bool(check(x, theirs)) == torch.equal(theirs.full_tensor(), whole.view(2, 8))
    claimed = ((2, 8), mesh, [strided(1, 4)])
    why = check(x, claimed).witness
    assert why is not None and why.positions[0] != why.positions[1]
    assert tuple(mesh.shape) == (2,) and Sharded((2, 8), [2], [StridedShard(1, 4)]) == sharded(claimed)


def every_free_view_is_done() -> None:
    rng = random.Random(1)
    seen = dict.fromkeys(["free", "moves", "unsayable", "two readings", "gradients"], 0)
    meshes = [init_device_mesh("cpu", (4,)), init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))]
    for turn in range(500):
        mesh = meshes[turn % 2]
        shapes = factorings(rng.choice([8, 10, 12, 16, 18, 24]))
        shape, to = rng.choice(shapes), rng.choice(shapes)
        axes = range(len(shape))
        words = [R(), *map(S, axes), *(strided(axis, rng.randint(2, shape[axis])) for axis in axes)]
        placements = [rng.choice(words) for _ in range(mesh.ndim)]
        whole = numbers(*shape)
        wants_gradients = turn % 5 == 0
        x = spread(whole, mesh, placements, wants_gradients)
        try:
            outcome = explain_view(x, to)
        except ValueError as refused:
            assert "reads such placements in two ways" in str(refused), refused
            seen["two readings"] += 1
            continue
        try:
            with CommDebugMode() as communication:
                y = view(x, *to)
            assert communication.get_total_counts() == 0
        except NotFree as refused:
            assert outcome.kind == refused.outcome.kind
            assert outcome.kind != "free" or "in another way" in str(refused), refused
            seen[outcome.kind if outcome.kind != "free" else "two readings"] += 1
            continue
        except ValueError as refused:
            assert "reads such placements in two ways" in str(refused), refused
            seen["two readings"] += 1
            continue
        seen["free"] += 1
        assert sharded(y) == outcome.after and check(x, y)
        assert tuple(y.shape) == to and y.stride() == whole.view(to).stride()
        assert y.to_local().data_ptr() == x.to_local().data_ptr()
        assert torch.equal(y.full_tensor(), whole.view(to)), (x.placements, shape, y.placements, to)
        if wants_gradients:
            weights = numbers(*to) + 1
            (y.full_tensor() * weights).sum().backward()
            gradient = x.grad.full_tensor()
            assert torch.equal(gradient, weights.view(shape)), (x.placements, shape, y.placements, to)
            seen["gradients"] += 1
    assert seen["free"] > 100 and seen["moves"] > 50 and seen["gradients"] > 20, seen


def gradients_of_local_sums() -> None:
    """Gradients whose placements are not those of the view, through the operations of DTensor itself."""
    mesh = init_device_mesh("cpu", (2,))
    whole = numbers(4, 4)
    x = spread(whole, mesh, [S(1)], True)
    y = view(x, 2, 8)
    (y * y).sum().full_tensor().backward()
    assert torch.equal(x.grad.full_tensor(), 2 * whole)
    z = spread(whole, mesh, [S(1)], True)
    view(z, 16).sum().full_tensor().backward()
    assert torch.equal(z.grad.full_tensor(), torch.ones(4, 4))


def what_is_refused_says_why() -> None:
    mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("tp",))
    x = spread(numbers(6, 4), mesh, [S(1)])
    with pytest.raises(NotFree, match="elements must move") as refused:
        view(x, 8, 3)
    no = refused.value
    assert no.witness is not None and no.elements is not None and no.bytes == 4 * no.elements > 0
    assert no.outcome.cheapest is not None and no.outcome.cheapest[0].shape == (8, 3)
    with pytest.raises(ValueError, match="reshape"):
        view(x, 5, 5)
    # Summands stay summands, of the same sort.
    sums = DTensor.from_local(numbers(4, 4), mesh, [Partial("max")], run_check=False)
    assert view(sums, 2, 8).placements == (Partial("max"),)
    # A part that is not contiguous has strides of its own.
    turned = spread(numbers(4, 6), mesh, [S(0)]).t()
    assert turned.placements == (S(1),) and sharded(turned).shape == (6, 4)
    split = view(turned, 2, 3, 4)
    assert torch.equal(split.full_tensor(), numbers(4, 6).t().reshape(2, 3, 4)) and split.stride() == (3, 1, 6)
    with pytest.raises(ValueError, match=r"no view of shape .* `contiguous\(\)` copies the parts"):
        view(turned, 24)
    assert torch.equal(view(turned.contiguous(), 24).full_tensor(), numbers(4, 6).t().reshape(24))
    # A local tensor that is not of the shape that the placements say.
    wrong = DTensor.from_local(numbers(2, 4), mesh, [S(0)], run_check=False, shape=torch.Size((6, 4)), stride=(4, 1))
    with pytest.raises(ValueError, match=r"holds a tensor of shape \(3, 4\), but it holds one of shape \(2, 4\)"):
        view(wrong, 24)
    scalar = DTensor.from_local(numbers(1), mesh, [R()], run_check=False)
    assert view(scalar).shape == () and view(view(scalar), 1, 1).shape == (1, 1)
    empty = spread(numbers(0, 4), mesh, [S(1)])
    assert view(empty, 2, 0, 2).shape == (2, 0, 2)


def fsdp_and_tensor_parallel() -> None:
    """A parameter that is cut by tensor parallelism first and by FSDP after it, as `fully_shard` makes them."""
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
    whole = numbers(8, 6)
    x = spread(whole, mesh, [strided(0, 2), S(0)])
    assert torch.equal(x.full_tensor(), whole)
    tp, dp = mesh["tp"].get_local_rank(), mesh["dp"].get_local_rank()
    assert torch.equal(x.to_local(), whole.chunk(2)[tp].chunk(2)[dp])
    y = view(x, 8, 2, 3)
    assert y.placements == (strided(0, 2), S(0)) and torch.equal(y.full_tensor(), whole.view(8, 2, 3))
    z = view(x, 2, 4, 6)
    assert torch.equal(z.full_tensor(), whole.view(2, 4, 6)), z.placements
    assert sharded(((8, 6), mesh, [R(), S(1)])) == Sharded((8, 6), {"dp": 2, "tp": 2}, [Replicate(), Shard(1)])


SCENES = [
    (2, the_silent_case),
    (4, every_free_view_is_done),
    (2, gradients_of_local_sums),
    (2, what_is_refused_says_why),
    (4, fsdp_and_tensor_parallel),
]


@pytest.mark.parametrize("processes, scene", SCENES, ids=[scene.__name__ for _, scene in SCENES])
def test_on_processes(processes: int, scene: Any, tmp_path: Path) -> None:
    on_processes(processes, scene, tmp_path)


def test_the_program_of_the_documentation_runs(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/your-dtensor-view.md").read_text()
    program = tmp_path / "wrong.py"
    program.write_text(page.split("```python\n")[1].split("```")[0])
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(program)]
    run = subprocess.run(launch, capture_output=True, text=True, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert run.returncode == 0 and "_StridedShard(dim=1, sf=2)" in run.stdout, run.stdout + run.stderr


def test_single_axis_placements_are_read_as_torch_makes_them() -> None:
    """Parts as `_split_tensor` makes them, which `distribute_tensor` sends: no processes are needed."""
    for size, devices, pieces in itertools.product(range(1, 25), range(1, 6), range(1, 8)):
        placement = strided(0, pieces)
        parts, _ = placement._split_tensor(torch.arange(size), devices, with_padding=False)
        ours = sharded(((size,), [devices], [placement]))
        for device, held in enumerate(parts):
            assert ours.local_shape(device) == (len(held),)
            assert [ours.holds((device,), local) for local in range(len(held))] == held.tolist()
