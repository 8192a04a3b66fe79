"""What is known of the tensors of a graph: their types, small values, and which of them are made of others by moving elements."""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .._copies import plural
from .layouts import Layout, Shape, Size, size_of
from .protos import (
    FREE,
    LARGEST_VALUE,
    MOVING,
    attributes_of,
    helper,
    is_constant,
    onnx,
    read_in,
    subgraphs,
    type_of,
    width_of,
    without_weights,
)

_numpy_helper: Any = importlib.import_module("onnx.numpy_helper")
_inference: Any = importlib.import_module("onnx.shape_inference")

# How the layout of a tensor follows from that of the one that it is made of.
Follow: TypeAlias = Callable[[Layout], "Layout | None"]


class Tensors:
    """A graph, and what is known of its tensors."""

    def __init__(self, model: Any, folder: Path | None):
        self.before = model
        self.graph = model.graph
        self.folder = folder
        self.nodes = list(self.graph.node)
        self.notes: list[str] = []
        self.opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0)
        self.initializers = {tensor.name: tensor for tensor in self.graph.initializer}
        inputs = {value.name for value in self.graph.input}
        # An initializer that is an input as well is only a default.
        self.constants = {name for name in self.initializers if name not in inputs}
        self.constants |= {tensor.values.name for tensor in self.graph.sparse_initializer}
        self.outputs = [value.name for value in self.graph.output]
        self.arrays: dict[str, Any] = {}
        self.values: dict[str, tuple[bool, tuple[Size, ...]]] = {}
        self.types: dict[str, tuple[int, Shape | None]] = {}
        self.unknown = 0
        self.maker: dict[str, int] = {}
        self.source: dict[str, tuple[str, Follow]] = {}
        self.captured: dict[int, list[str]] = {}
        # How many moving nodes there are of which it is not known what they move.
        self.not_understood = 0
        self._declare()
        self._look()

    def reads(self, at: int) -> list[str]:
        """The tensors that a node reads, also in graphs inside of it."""
        return [name for name in (*self.nodes[at].input, *self.captured[at]) if name]

    def _declare(self) -> None:
        """The types that the model has for its tensors."""
        self.declared: dict[str, Any] = {}
        inferred: list[Any] = []
        if any(node.attribute for node in self.nodes if subgraphs(node)) or self.before.functions:
            try:
                whole = _inference.infer_shapes(without_weights(self.before), data_prop=True)
                inferred = list(whole.graph.value_info) + list(whole.graph.output)
            except Exception as fault:  # whatever onnx raises: then less is known
                self.notes.append(f"onnx's shape inference fails: {str(fault).splitlines()[0]}")
        for value in [*self.graph.input, *inferred, *self.graph.value_info, *self.graph.output]:
            self.declared.setdefault(value.name, value.type)

    def _look(self) -> None:
        """Each node in turn: its outputs' types, values and layouts over its inputs."""
        for value in self.graph.input:
            self._set_type(value.name, value.type)
        for name, tensor in self.initializers.items():
            if name not in self.types:
                self.types[name] = (tensor.data_type, tuple(Size(extent) for extent in tensor.dims))
        opaque: Counter[str] = Counter()
        taken = set(self.types)
        for at, node in enumerate(self.nodes):
            inner = [name for graph in subgraphs(node) for name in read_in(graph)]
            self.captured[at] = [name for name in inner if name in taken]
            taken.update(node.output)
            for output in node.output:
                self.maker[output] = at
            if not subgraphs(node) and is_constant(node, self.constants):
                self.constants.update(output for output in node.output if output)
            follows: list[tuple[str, str, Follow]] = []
            try:
                self._value(node)
                if node.domain in ("", "ai.onnx") and not self.is_arithmetic(node):
                    follows = self._follows(node)
            except Exception:  # numbers or attributes that ONNX does not allow there: then nothing is known of it
                follows = []
            known = False
            for output, source, follow in follows:
                elem, shape = self.types.get(source, (0, None))
                if shape is None or not width_of(elem) or not is_addressable(shape):
                    continue
                made = followed(follow, Layout.whole(source, shape))
                if made is not None:
                    self.source[output] = (source, follow)
                    self.types[output] = (elem, made.shape)
                    known = True
            if known and all(output in self.source for output in node.output if output):
                continue
            for output in node.output:
                self.source.pop(output, None)
            self.infer(node)
            if self.is_moving(node) and node.op_type != "Concat":
                opaque[node.op_type] += 1
            elif subgraphs(node):
                opaque["subgraph"] += 1
        inside = opaque.pop("subgraph", 0)
        if inside:
            self.notes.append(
                f"{plural(inside, 'node')} with graphs inside (If, Loop, Scan): these graphs are left as they are"
            )
        if self.before.functions:
            self.notes.append("functions of the model are left as they are, and so is what calls them")
        self.not_understood = sum(opaque.values())
        for op, count in sorted(opaque.items()):
            what = "it moves" if count == 1 else "they move"
            self.notes.append(
                f"{plural(count, 'node')} {op}: not known what {what}, for a type or shape is not known, sizes or indices are"
                " data, or a named dimension is cut: left as it is, and in the least as it is"
            )

    def _set_type(self, name: str, proto: Any) -> None:
        kind = proto.WhichOneof("value") if proto is not None else None
        if kind != "tensor_type":
            self.types[name] = (0, None)
            return
        tensor = proto.tensor_type
        if not tensor.HasField("shape"):
            self.types[name] = (tensor.elem_type, None)
            return
        shape = []
        for extent in tensor.shape.dim:
            if extent.HasField("dim_value"):
                shape.append(Size(extent.dim_value))
            elif extent.dim_param:
                shape.append(Size.parse(extent.dim_param))
            else:
                self.unknown += 1
                shape.append(Size(1, (f"unknown_{self.unknown}",)))
        self.types[name] = (tensor.elem_type, tuple(shape))

    def infer(self, node: Any) -> None:
        """The types of a node's outputs by onnx's shape inference for it, or as the model says them."""
        made: dict[str, Any] = {}
        opsets = list(self.before.opset_import)
        version = next((entry.version for entry in opsets if entry.domain == node.domain), self.opset)
        if not subgraphs(node) and all(name in self.types and self.types[name][0] for name in node.input if name):
            try:
                schema = onnx.defs.get_schema(node.op_type, version, "" if node.domain == "ai.onnx" else node.domain)
                types = {name: type_of(*self.types[name]) for name in node.input if name}
                data = {
                    name: _numpy_helper.from_array(array) for name in node.input if (array := self._array(name)) is not None
                }
                made = _inference.infer_node_outputs(
                    schema, node, types, data, opset_imports=opsets, ir_version=self.before.ir_version
                )
            except Exception:  # no schema, or onnx refuses: then what the model declares is all there is
                made = {}
        for output in node.output:
            if output in made and (made[output].tensor_type.HasField("shape") or output not in self.declared):
                self._set_type(output, made[output])
            else:
                self._set_type(output, self.declared.get(output, made.get(output)))

    def _array(self, name: str) -> Any:
        """A small constant, or None."""
        if not name or name not in self.constants:
            return None
        if name not in self.arrays:
            array = None
            tensor = self.initializers.get(name)
            if tensor is not None and math.prod(tensor.dims) <= LARGEST_VALUE and tensor.data_type != onnx.TensorProto.STRING:
                try:
                    array = _numpy_helper.to_array(tensor, str(self.folder or ""))
                except Exception:  # its file is missing: then it is not known
                    array = None
            elif name in self.maker:
                array = self._computed(self.nodes[self.maker[name]], name)
            self.arrays[name] = array
        return self.arrays[name]

    def _computed(self, node: Any, name: str) -> Any:
        """An output of a node whose inputs are small constants, by onnx's own evaluator."""
        arrays = {given: self._array(given) for given in node.input if given}
        if any(array is None for array in arrays.values()) or len(node.output) != 1:
            return None
        if node.op_type in (
            "RandomNormal",
            "RandomUniform",
            "RandomNormalLike",
            "RandomUniformLike",
            "Bernoulli",
            "Multinomial",
        ):
            return None
        try:
            empty = [helper.make_empty_tensor_value_info(given) for given in arrays]
            graph = helper.make_graph([node], "one", empty, [helper.make_empty_tensor_value_info(name)])
            alone = helper.make_model(graph, opset_imports=self.before.opset_import, ir_version=self.before.ir_version)
            reference: Any = importlib.import_module("onnx.reference")
            array = np.asarray(reference.ReferenceEvaluator(alone).run(None, arrays)[0])
        except Exception:  # whatever the evaluator raises: then it is not known
            return None
        return array if array.size <= LARGEST_VALUE else None

    def _known(self, name: str) -> tuple[bool, tuple[Size, ...]] | None:
        """The integers of a small tensor, some of which may be sizes with names: is it a scalar, and which."""
        if name not in self.values:
            array = self._array(name)
            if array is None or array.dtype.kind not in "iu" or array.ndim > 1 or array.size > 64:
                return None
            self.values[name] = (array.ndim == 0, tuple(Size(int(number)) for number in array.reshape(-1)))
        return self.values[name]

    def _numbers(self, name: str) -> list[int] | None:
        """The integers of a constant."""
        known = self._known(name)
        if known is None or any(size.names for size in known[1]):
            return None
        return [size.number for size in known[1]]

    def is_arithmetic(self, node: Any) -> bool:
        """Does it compute with sizes, and move no data that is worth a word?"""
        return bool(node.output) and (node.output[0] in self.values or node.op_type == "Shape")

    def _value(self, node: Any) -> None:
        """What a node that computes with sizes gives."""
        if len(node.output) != 1 or node.output[0] in self.constants or node.domain not in ("", "ai.onnx"):
            return
        attributes = attributes_of(node)
        made: tuple[bool, tuple[Size, ...]] | None = None
        if node.op_type == "Shape":
            shape = self.types.get(node.input[0], (0, None))[1]
            if shape is not None:
                made = (False, shape[slice(attributes.get("start", 0), attributes.get("end"))])
        elif node.op_type in ("Gather", "Concat", "Unsqueeze", "Squeeze", "Slice", "Cast", "Mul", "Div", "Identity", "Reshape"):
            first = self._known(node.input[0])
            if first is None or all(name in self.constants for name in node.input if name):
                return
            made = self._value_of(node, attributes, *first)
        if made is not None:
            self.values[node.output[0]] = made

    def _value_of(
        self, node: Any, attributes: dict[str, Any], scalar: bool, sizes: tuple[Size, ...]
    ) -> tuple[bool, tuple[Size, ...]] | None:
        op = node.op_type
        if op in ("Cast", "Identity"):
            return (scalar, sizes) if attributes.get("to", 7) in (6, 7) else None
        if op == "Concat":
            parts = [self._known(name) for name in node.input]
            if any(part is None or part[0] for part in parts):
                return None
            return (False, tuple(size for part in parts if part is not None for size in part[1]))
        if op in ("Unsqueeze", "Squeeze", "Reshape"):
            if len(sizes) != 1 or (op == "Unsqueeze") != scalar:
                return (False, sizes) if op == "Reshape" and self._numbers(node.input[1]) in ([-1], [len(sizes)]) else None
            return (op == "Squeeze", sizes)
        if op == "Gather":
            which = self._known(node.input[1])
            numbers = self._numbers(node.input[1])
            if scalar or which is None or numbers is None or any(not -len(sizes) <= number < len(sizes) for number in numbers):
                return None
            return (which[0], tuple(sizes[number] for number in numbers))
        if op == "Slice":
            given = [self._numbers(name) if name else None for name in node.input[1:]]
            if (
                scalar
                or any(number is None or len(number) != 1 for number in given[:2])
                or given[0] is None
                or given[1] is None
            ):
                return None
            step = given[3] if len(given) > 3 else [1]
            if step is None:
                return None
            return (False, sizes[slice(given[0][0], given[1][0], step[0])])
        other = self._known(node.input[1])
        if other is None or (len(other[1]) != 1 and len(sizes) != 1 and len(other[1]) != len(sizes)):
            return None
        count = max(len(sizes), len(other[1]))
        pairs = list(zip(sizes * (count if len(sizes) == 1 else 1), other[1] * (count if len(other[1]) == 1 else 1)))
        made = [a * b if op == "Mul" else a.divided(b) for a, b in pairs]
        if any(size is None for size in made):
            return None
        return (scalar and other[0], tuple(size for size in made if size is not None))

    def is_moving(self, node: Any) -> bool:
        """Is it a node that moves data, and no constant and no arithmetic with sizes?"""
        if node.op_type not in MOVING or node.domain not in ("", "ai.onnx") or self.is_arithmetic(node):
            return False
        if node.op_type == "Gather" and node.input[1] not in self.constants:
            return False
        if node.op_type == "Pad" and attributes_of(node).get("mode", b"constant") != b"constant":
            return False
        return any(name not in self.constants for name in node.input[: None if node.op_type == "Concat" else 1])

    def is_understood(self, node: Any) -> bool:
        """Does it move data, and is it known where to? Then one pass from where its inputs come from writes what it gives."""
        return self.is_moving(node) and (node.op_type == "Concat" or any(output in self.source for output in node.output))

    def _follows(self, node: Any) -> list[tuple[str, str, Follow]]:
        """For each output of a moving node the input that it is made of, and how its layout follows from that of the input."""
        if any(name in self.constants for name in node.input[:1]) or not node.input or not node.input[0]:
            return []
        elem, shape = self.types.get(node.input[0], (0, None))
        if shape is None or any(size.number == 0 for size in shape) or not width_of(elem):
            return []
        if node.op_type == "Split":
            return [(output, node.input[0], follow) for output, follow in self._split(node, shape) if output]
        if node.op_type not in FREE | MOVING or (node.op_type == "Concat" and len(node.input) > 1):
            return []
        follow = self.follow(node, shape, elem)
        return [(node.output[0], node.input[0], follow)] if follow is not None else []

    def _split(self, node: Any, shape: Shape) -> list[tuple[str, Follow]]:
        attributes = attributes_of(node)
        axis = attributes.get("axis", 0) % len(shape)
        size, count = shape[axis], len(node.output)
        sizes = attributes.get("split")
        if len(node.input) > 1 and node.input[1]:
            sizes = self._numbers(node.input[1])
        elif sizes is None and not size.names:
            part = -(-size.number // count)
            sizes = [part] * (count - 1) + [size.number - part * (count - 1)]
        if sizes is None or size.names or sum(sizes) != size.number or min(sizes) < 1:
            return []
        made: list[tuple[str, Follow]] = []
        start = 0
        for output, part in zip(node.output, sizes, strict=True):
            made.append((output, _sliced({axis: (start, start + part, 1)})))
            start += part
        return made

    def follow(self, node: Any, shape: Shape, elem: int) -> Follow | None:
        op, attributes, rank = node.op_type, attributes_of(node), len(shape)
        optional = [*node.input[1:], "", "", "", ""]
        if op in ("Identity", "Concat"):
            return lambda layout: layout
        if op == "Transpose":
            order = attributes.get("perm", list(range(rank))[::-1])
            return lambda layout: layout.permute(order)
        if op in ("Reshape", "Flatten", "Squeeze", "Unsqueeze"):
            target = self._reshaped(node, shape, attributes)
            return None if target is None else lambda layout: layout.reshape(target)
        if op == "Slice":
            return self._slice(node, shape)
        if op == "Gather":
            return self._gather(node, shape, attributes.get("axis", 0) % rank) if rank else None
        if op == "Pad":
            axes = self._numbers(optional[2]) if optional[2] else list(range(rank))
            amounts, fill = self._numbers(optional[0]), bytes(width_of(elem))
            if optional[1]:
                value = self._array(optional[1])
                if value is None or value.size != 1:
                    return None
                fill = value.tobytes()
            if axes is None or amounts is None or attributes.get("mode", b"constant") != b"constant":
                return None
            pads = [(0, 0)] * rank
            for at, axis in enumerate(axes):
                pads[axis] = (amounts[at], amounts[at + len(axes)])
            return lambda layout: layout.padded(pads, fill)
        if op == "Expand":
            known = self._known(optional[0])
            if known is None:
                return None
            return _expanded(known[1])
        if op == "Tile":
            times = self._numbers(optional[0])
            if times is None or min(times, default=1) < 1:
                return None
            return _tiled(times)
        if op in ("DepthToSpace", "SpaceToDepth") and rank == 4:
            return _blocks(op, attributes["blocksize"], attributes.get("mode", b"DCR"), shape)
        return None

    def _reshaped(self, node: Any, shape: Shape, attributes: dict[str, Any]) -> Shape | None:
        """The shape that a node gives, which moves nothing."""
        rank = len(shape)
        if node.op_type == "Flatten":
            axis = attributes.get("axis", 1)
            axis += rank * (axis < 0)
            return (size_of(shape[:axis]), size_of(shape[axis:]))
        if node.op_type == "Reshape":
            known = self._known(node.input[1])
            if known is None:
                declared = self.declared.get(node.output[0])
                return None if declared is None else self._declared_shape(declared, shape)
            target: list[Size | None] = []
            for at, size in enumerate(known[1]):
                if size == Size(0) and not attributes.get("allowzero", 0):
                    if at >= rank:
                        return None
                    size = shape[at]
                target.append(None if size == Size(-1) else size)
            rest = size_of(size for size in target if size is not None)
            if None not in target:
                return tuple(size for size in target if size is not None)
            left = size_of(shape).divided(rest) if rest.number > 0 else None
            return None if left is None else tuple(left if size is None else size for size in target)
        axes = attributes.get("axes")
        if len(node.input) > 1 and node.input[1]:
            axes = self._numbers(node.input[1])
            if axes is None:
                return None
        if node.op_type == "Squeeze":
            if axes is None:
                return None if any(size.names for size in shape) else tuple(size for size in shape if size != Size(1))
            gone = {axis % rank for axis in axes}
            return tuple(size for at, size in enumerate(shape) if at not in gone)
        if axes is None:
            return None
        new = {axis % (rank + len(axes)) for axis in axes}
        old = iter(shape)
        return tuple(Size(1) if at in new else next(old) for at in range(rank + len(axes)))

    def _declared_shape(self, declared: Any, shape: Shape) -> Shape | None:
        """What the model says that a Reshape gives, if this has as many elements as what it takes."""
        if declared.WhichOneof("value") != "tensor_type" or not declared.tensor_type.HasField("shape"):
            return None
        made = []
        for extent in declared.tensor_type.shape.dim:
            if not extent.HasField("dim_value") and not extent.dim_param:
                return None
            made.append(Size(extent.dim_value) if extent.HasField("dim_value") else Size.parse(extent.dim_param))
        return tuple(made) if size_of(made) == size_of(shape) else None

    def _slice(self, node: Any, shape: Shape) -> Follow | None:
        names = [*node.input[1:], "", ""]
        starts, stops = self._numbers(names[0]), self._numbers(names[1])
        if starts is None or stops is None:
            return None
        axes = self._numbers(names[2]) if names[2] else list(range(len(starts)))
        steps = self._numbers(names[3]) if names[3] else [1] * len(starts)
        if axes is None or steps is None:
            return None
        ranges: dict[int, tuple[int, int, int]] = {}
        for start, stop, axis, step in zip(starts, stops, axes, steps):
            axis %= len(shape)
            if shape[axis].names:
                if start == 0 and stop >= 2**31 - 1 and step == 1:
                    continue
                return None
            ranges[axis] = slice(start, stop if step > 0 or stop >= -shape[axis].number else None, step).indices(
                shape[axis].number
            )
        return _sliced(ranges)

    def _gather(self, node: Any, shape: Shape, axis: int) -> Follow | None:
        array = self._array(node.input[1])
        size = shape[axis]
        if array is None or size.names or array.ndim > 1 or not array.size:
            return None
        indices = [int(index) + size.number * (int(index) < 0) for index in array.reshape(-1)]
        step = indices[1] - indices[0] if len(indices) > 1 else 1
        if (
            step == 0
            or any(b - a != step for a, b in zip(indices, indices[1:]))
            or not all(0 <= at < size.number for at in indices)
        ):
            return None
        taken = (indices[0], indices[-1] + (1 if step > 0 else -1), step)
        if array.ndim:
            return _sliced({axis: taken})
        return lambda layout: (made := layout.sliced({axis: taken})) and made.reshape(shape[:axis] + shape[axis + 1 :])


def followed(follow: Follow, layout: Layout) -> Layout | None:
    """The layout that follows; None where the numbers are too large, or none that ONNX allows."""
    try:
        return follow(layout)
    except (ValueError, OverflowError, IndexError):
        return None


def is_addressable(shape: Shape) -> bool:
    """Has it fewer elements than a 64-bit number counts, each name taken as 1, with room for what moves on it?"""
    return 0 < size_of(shape).number < 1 << 48


def _sliced(ranges: dict[int, tuple[int, int, int]]) -> Follow:
    return lambda layout: layout.sliced(ranges)


def _expanded(asked: tuple[Size, ...]) -> Follow:
    def follow(layout: Layout) -> Layout | None:
        old = layout.shape
        rank = max(len(old), len(asked))
        wide = (Size(1),) * (rank - len(old)) + old
        wish = (Size(1),) * (rank - len(asked)) + asked
        return layout.expand(tuple(a if b == Size(1) else b for a, b in zip(wide, wish, strict=True)))

    return follow


def _tiled(times: Sequence[int]) -> Follow:
    def follow(layout: Layout) -> Layout | None:
        made: Layout | None = layout
        for axis, count in enumerate(times):
            if made is not None and count != 1:
                made = made.repeated(axis, count)
        return made

    return follow


def _blocks(op: str, block: int, mode: bytes, shape: Shape) -> Follow | None:
    """DepthToSpace and SpaceToDepth, which are a Transpose between reshapes."""
    batch, depth, height, width = shape
    side = Size(block)
    if op == "SpaceToDepth":
        rows, columns = height.divided(side), width.divided(side)
        if rows is None or columns is None:
            return None
        parts: Shape = (batch, depth, rows, side, columns, side)
        order = [0, 3, 5, 1, 2, 4]
        target = (batch, depth * side * side, rows, columns)
    else:
        left = depth.divided(side * side)
        if left is None:
            return None
        target = (batch, left, height * side, width * side)
        if mode == b"CRD":
            parts, order = (batch, left, side, side, height, width), [0, 1, 4, 2, 5, 3]
        else:
            parts, order = (batch, side, side, left, height, width), [0, 3, 4, 1, 5, 2]

    def follow(layout: Layout) -> Layout | None:
        made = layout.reshape(parts)
        return made and made.permute(order).reshape(target)

    return follow
