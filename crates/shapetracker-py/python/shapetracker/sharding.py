"""Tensors spread over devices: is this view free of communication, how is the result spread, and if not, why?

    >>> from shapetracker.sharding import Shard, Sharded, explain_view
    >>> before = Sharded((4, 4), {"tp": 2}, [Shard(1)])
    >>> explain_view(before, 16).after
    Sharded((16,), (('tp', 2),), (StridedShard(0, 4),))
    >>> explain_view(before, 2, 8).after.placements
    (StridedShard(1, 2),)

PyTorch's DTensor and JAX's arrays with a NamedSharding are asked about as they are, and `view` does what is free.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any, SupportsIndex, TypeAlias

from ._native import Check, Evidence, Moved, Outcome, Placement, Sharded, ShapeTracker, Undecided
from ._native import explain_view as _explain_local

_Numbers: TypeAlias = Iterable[SupportsIndex]

__all__ = [
    "Check",
    "Evidence",
    "Moved",
    "NotFree",
    "Outcome",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "Sharded",
    "StridedShard",
    "check",
    "explain_view",
    "sharded",
    "view",
]


def Replicate() -> Placement:
    """Every device along the mesh axis has everything."""
    return Placement("replicate")


def Shard(axis: int) -> Placement:
    """An axis cut into as many parts as there are devices, by ceiling division: the last ones may be shorter or empty."""
    return Placement("shard", axis)


def StridedShard(axis: int, pieces: int) -> Placement:
    """An axis cut into pieces first, each of which is cut as by `Shard`; PyTorch's `_StridedShard(axis, split_factor=pieces)`."""
    return Placement("strided shard", axis, pieces)


def Partial() -> Placement:
    """Every device has a summand of everything."""
    return Placement("partial")


class NotFree(ValueError):
    """A view that communicates, or that no placements describe. `outcome` says which and why.

    `elements` and `bytes` are how much must move for the cheapest plain shards of the new shape along the same mesh axes, which
    `outcome.cheapest` names; None where that is not known, or where the library alone has no placements for the result.
    """

    outcome: Outcome
    elements: int | None
    bytes: int | None

    def __init__(self, outcome: Outcome, sentence: str, width: int | None) -> None:
        super().__init__(sentence)
        self.outcome = outcome
        cheapest = outcome.cheapest
        self.elements = None if cheapest is None else cheapest[1].elements
        self.bytes = None if self.elements is None or width is None else self.elements * width

    @property
    def witness(self) -> Evidence | None:
        """A device and elements that show that some must move."""
        return self.outcome.witness


def sharded(tensor: Any) -> Sharded:
    """How a tensor is spread over devices, for a DTensor, for what has a NamedSharding of JAX, or for a tuple.

    A tuple is a shape, a mesh and placements: `((4, 4), {"tp": 2}, [Shard(1)])`. The mesh may also be one of PyTorch or JAX, and
    the placements PyTorch's, or JAX's PartitionSpec.
    """
    if isinstance(tensor, Sharded):
        return tensor
    if _is_dtensor(tensor):
        return _of_dtensor(tensor)
    if isinstance(tensor, tuple) and len(tensor) == 3:
        return _of_tuple(*tensor)
    sharding = _sharding_of(tensor)
    if sharding is not None:
        return _of_sharding(tuple(tensor.shape), sharding)
    raise TypeError(
        "sharded: takes a DTensor, an array of JAX with a NamedSharding, a Sharded, or a tuple of a shape, a mesh and placements, "
        f"not {_described(tensor)}"
    )


def explain_view(tensor: Any, *shape: SupportsIndex | _Numbers) -> Outcome:
    """Is a tensor under a new shape free of communication, how is it spread then, and if not, why?

    Takes what `sharded` takes and the shape as numbers or as one sequence, of which one number may be -1. Nothing is moved or
    read, and the cost depends neither on sizes nor on the number of devices.
    """
    return sharded(tensor).reshape(*shape)


def check(before: Any, after: Any) -> Check:
    """Do the devices hold, under `before`, what `after` says? Both are what `sharded` takes, of as many elements.

    The elements are compared in row-major order: this is the question whether `after` is a view of `before`, whoever says so.
    """
    return sharded(before).check(sharded(after))


def view(tensor: Any, *shape: SupportsIndex | _Numbers) -> Any:
    """The same elements under a new shape, for a DTensor or an array of JAX, without any communication.

    Each device's part is viewed under its new shape, and the result has the placements that say what the devices hold. Raises
    `NotFree`, with the reason and how much must move, where elements must move or where the library has no placements
    for the result; the tensor is as it was. For a DTensor gradients flow back, and the parts share memory.
    """
    if _is_dtensor(tensor):
        outcome = _of_dtensor(tensor).reshape(*shape)
        return _view_dtensor(tensor, outcome, _free(outcome, tensor.element_size()))
    sharding = None if isinstance(tensor, tuple) else _sharding_of(tensor)
    if sharding is None:
        raise TypeError(f"view: takes a DTensor or an array of JAX with a NamedSharding, not {_described(tensor)}")
    outcome = _of_sharding(tuple(tensor.shape), sharding).reshape(*shape)
    return _view_array(tensor, sharding, outcome, _free(outcome, tensor.dtype.itemsize))


def _described(value: Any) -> str:
    return f"a value of type {type(value).__name__}"


def _free(outcome: Outcome, width: int) -> Sharded:
    """The result of a free operation."""
    if outcome.after is not None:
        return outcome.after
    if outcome.kind == "undecided":
        raise Undecided(f"view: {outcome}")
    raise _refusal(outcome, str(outcome), width)


def _refusal(outcome: Outcome, sentence: str, width: int) -> NotFree:
    refusal = NotFree(outcome, f"view: {sentence}", width)
    if refusal.bytes is not None:
        refusal.args = (f"{refusal.args[0]} ({refusal.bytes} bytes)",)
    return refusal


def _of_tuple(shape: Any, mesh: Any, placements: Any) -> Sharded:
    sizes = _mesh_of(mesh)
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(placements, jax.sharding.PartitionSpec):
        return Sharded.from_spec(shape, sizes, _entries(len(tuple(shape)), placements))
    return Sharded(shape, sizes, [_placement(placement) for placement in placements])


def _mesh_of(mesh: Any) -> Any:
    """The sizes of a mesh by name, for those of PyTorch and JAX as well."""
    if hasattr(mesh, "mesh_dim_names"):
        names = mesh.mesh_dim_names
        return tuple(mesh.shape) if names is None else tuple(zip(names, mesh.shape))
    if hasattr(mesh, "axis_names"):
        return tuple((str(name), size) for name, size in mesh.shape.items())
    return dict(mesh) if isinstance(mesh, Mapping) else mesh


# PyTorch


def _is_dtensor(tensor: Any) -> bool:
    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(tensor, getattr(module, "DTensor", ()))


def _placement(placement: Any) -> Placement:
    """A placement of ours for one of PyTorch."""
    if isinstance(placement, Placement):
        return placement
    name = type(placement).__name__
    # In some releases `_StridedShard` is a sort of `Shard`: it is asked about first.
    if name == "_StridedShard":
        return StridedShard(placement.dim, int(placement.split_factor))
    if name == "Shard":
        return Shard(placement.dim)
    if name == "Replicate":
        return Replicate()
    if getattr(placement, "is_partial", lambda: False)():
        return Partial()
    raise TypeError(f"sharded: knows no placements of type {name}")


def _of_dtensor(tensor: Any) -> Sharded:
    mesh = tensor.device_mesh
    placements = [_placement(placement) for placement in tensor.placements]
    spec = getattr(tensor, "_spec", None)
    if not getattr(spec, "use_strided_shard_as_shard_order", False):
        for axis, mesh_axes in getattr(spec, "shard_order", None) or ():
            if list(mesh_axes) != sorted(mesh_axes):
                raise ValueError(
                    f"sharded: axis {axis} of the tensor is cut by the mesh axes {tuple(mesh_axes)} in this order, which its "
                    "placements do not show; `redistribute` to the order of the mesh first"
                )
    result = Sharded(tuple(tensor.shape), _mesh_of(mesh), placements)
    for axis, size in enumerate(result.shape):
        _refuse_two_readings(axis, size, [p for p in zip(placements, mesh.shape) if p[0].axis == axis])
    device = mesh.get_coordinate()
    if device is not None:
        held, said = tuple(tensor.to_local().shape), result.local_shape(*device)
        if held != said:
            raise ValueError(
                f"sharded: the placements say that device {tuple(device)} holds a tensor of shape {said}, but it holds one of "
                f"shape {held}"
            )
    return result


def _refuse_two_readings(axis: int, size: int, cuts: Sequence[tuple[Placement, int]]) -> None:
    """Several cuts of one axis, one of them strided, are read in the order of the mesh by `distribute_tensor`, and as an order
    of plain cuts by `redistribute`. Where every cut is even both say the same."""
    if len(cuts) < 2 or all(placement.pieces == 1 for placement, _ in cuts):
        return
    left = size
    for placement, devices in cuts:
        if left % (placement.pieces * devices) != 0:
            raise ValueError(
                f"sharded: axis {axis} of size {size} is cut unevenly by several mesh axes, and one of the cuts is strided: PyTorch "
                "reads such placements in two ways, which differ"
            )
        left //= devices


def _has_order(placements: Sequence[Any], mesh: Any) -> bool:
    """Whether PyTorch finds an order of plain cuts that these placements stand for. Where it does not, gathering the tensor fails
    or gives wrong values (release 2.15)."""
    spec = sys.modules["torch.distributed.tensor._dtensor_spec"].DTensorSpec
    order = getattr(spec, "_maybe_convert_StridedShard_to_shard_order", None)
    return order is not None and order(tuple(placements), mesh) is not None


def _view_dtensor(tensor: Any, outcome: Outcome, after: Sharded) -> Any:
    torch = sys.modules["torch"]
    placements_of = sys.modules["torch.distributed.tensor.placement_types"]
    mesh = tensor.device_mesh
    local = tensor.to_local()
    device = mesh.get_coordinate()
    if device is not None:
        shape = after.local_shape(*device)
        try:
            local = local.view(shape)
        except RuntimeError:
            why = "" if local.device.type != "cpu" else f": {_explain_local(local, shape).obstacles[0]}"
            raise ValueError(
                f"view: no element moves between devices, but the part of this one, of shape {tuple(local.shape)}, is no view of "
                f"shape {shape} in its own memory{why}; `contiguous()` copies the parts"
            ) from None

    def placement(new: Placement, old: Any) -> Any:
        if new.kind == "shard":
            return placements_of.Shard(new.axis)
        if new.kind == "strided shard":
            return placements_of._StridedShard(new.axis, split_factor=new.pieces)
        # Summands are of many sorts: sums, maxima ..
        return old

    placements = [placement(*pair) for pair in zip(after.placements, tensor.placements)]
    for axis, size in enumerate(after.shape):
        cuts = [pair for pair in zip(after.placements, mesh.shape) if pair[0].axis == axis]
        _refuse_two_readings(axis, size, cuts)
        if len(cuts) > 1 and any(placement.pieces > 1 for placement, _ in cuts) and not _has_order(placements, mesh):
            raise _refusal(
                outcome,
                f"free of communication, but PyTorch reads placements that cut axis {axis} several times in another way than it "
                f"makes them: {', '.join(map(str, after.placements))}",
                tensor.element_size(),
            )
    whole = torch.empty_strided(tuple(tensor.shape), tensor.stride(), device="meta")
    try:
        stride = whole.view(after.shape).stride()
    except RuntimeError:
        stride = torch.empty(after.shape, device="meta").stride()
    return sys.modules["torch.distributed.tensor"].DTensor.from_local(
        local, mesh, placements, run_check=False, shape=torch.Size(after.shape), stride=stride
    )


# JAX


def _sharding_of(tensor: Any) -> Any:
    """The NamedSharding of an array of JAX, or of what describes one."""
    jax = sys.modules.get("jax")
    if jax is None or not hasattr(tensor, "shape"):
        return None
    if isinstance(tensor, jax.core.Tracer):
        tensor = jax.typeof(tensor)
    sharding = getattr(tensor, "sharding", None)
    return sharding if isinstance(sharding, jax.sharding.NamedSharding) else None


def _entries(rank: int, spec: Any) -> list[tuple[str, ...]]:
    """For each axis of the tensor the names of the mesh axes that cut it, the major one first."""
    if getattr(spec, "unreduced", None) or getattr(spec, "reduced", None):
        raise ValueError(f"sharded: {spec} leaves values that are to be added up, and no view of them is known")
    entries: list[tuple[str, ...]] = []
    for entry in spec:
        if entry is None:
            entries.append(())
        elif isinstance(entry, tuple):
            entries.append(tuple(str(name) for name in entry))
        elif isinstance(entry, str):
            entries.append((entry,))
        else:
            raise ValueError(f"sharded: {spec} does not say how axis {len(entries)} is spread")
    return entries + [()] * (rank - len(entries))


def _of_sharding(shape: tuple[int, ...], sharding: Any) -> Sharded:
    return Sharded.from_spec(shape, _mesh_of(sharding.mesh), _entries(len(shape), sharding.spec))


def _view_array(array: Any, sharding: Any, outcome: Outcome, after: Sharded) -> Any:
    jax = sys.modules["jax"]
    if isinstance(array, jax.core.Tracer) or not hasattr(array, "addressable_shards"):
        raise TypeError(
            "view: takes an array that exists, not one that is traced; `explain_view(x, shape).after.spec` is the `out_sharding` "
            "of a reshape that moves nothing"
        )
    spec = after.spec
    if spec is None:
        placements = ", ".join(map(str, after.placements))
        raise _refusal(outcome, f"free of communication, but no PartitionSpec says what the devices hold: {placements}", array.dtype.itemsize)
    names = {str(name): name for name in sharding.mesh.axis_names}
    entries = [None if not axes else tuple(names[axis] for axis in axes) for axes in spec]
    entries = [entry[0] if entry is not None and len(entry) == 1 else entry for entry in entries]
    result = sharding.update(spec=jax.sharding.PartitionSpec(*entries))
    coordinates = {
        device: at for at, device in zip(_coordinates(sharding.mesh.devices.shape), sharding.mesh.devices.flat)
    }
    parts = [part.data.reshape(after.local_shape(*coordinates[part.device])) for part in array.addressable_shards]
    return jax.make_array_from_single_device_arrays(after.shape, result, parts)


def _coordinates(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """All indices of a shape in row-major order."""
    return [
        tuple(number // prod(shape[axis + 1 :]) % size for axis, size in enumerate(shape)) for number in range(prod(shape))
    ]
