"""ONNX files and their parts: reading a model, its weights in other files, nodes and the graphs inside of them."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .layouts import Shape

onnx: Any = importlib.import_module("onnx")
helper: Any = importlib.import_module("onnx.helper")
FREE = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"})
MOVING = frozenset({"Transpose", "Slice", "Split", "Pad", "Expand", "Tile", "DepthToSpace", "SpaceToDepth", "Gather", "Concat"})
# One element of the result is one of each operand, rounded as IEEE 754 says: its bits depend on no other element, and not on
# where in a vector register it is computed, as those of an Exp or a Tanh do in some runtimes.
ELEMENTWISE = frozenset(
    """Abs Add And BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil Clip Div Equal Floor Greater GreaterOrEqual Identity
    LeakyRelu Less LessOrEqual Max Min Mul Neg Not Or Relu Sign Sub Where Xor""".split()
)
_NOT_BYTES = frozenset("STRING INT4 UINT4 FLOAT4E2M1 INT2 UINT2".split())
_OPSETS = range(11, 27)
LARGEST_VALUE = 4096


def read_model(model: Any) -> tuple[Any, Path | None]:
    """A model and the folder of its weights."""
    if isinstance(model, onnx.ModelProto):
        loaded, folder = model, None
    else:
        if not isinstance(model, (str, os.PathLike)):
            raise TypeError(f"copies: takes a path or an onnx.ModelProto, not a value of type {type(model).__name__}")
        path = Path(model)
        try:
            loaded = onnx.load(str(path), load_external_data=False)
        except OSError as fault:
            raise ValueError(f"copies: {path} cannot be read: {fault.strerror or fault}") from fault
        except Exception as fault:  # protobuf's own class, which has no public name
            raise ValueError(f"copies: {path} is not an ONNX model, or not all of it: {fault}") from fault
        folder = path.resolve().parent
    if not loaded.graph.node and not loaded.graph.output:
        raise ValueError("copies: this is not an ONNX model: it has neither nodes nor outputs")
    opset = next((entry.version for entry in loaded.opset_import if entry.domain in ("", "ai.onnx")), None)
    if opset is not None and opset not in _OPSETS:
        raise ValueError(
            f"copies: the model is of opset {opset}, and known are {_OPSETS[0]} to {_OPSETS[-1]};"
            " onnx.version_converter.convert_version makes another"
        )
    return loaded, folder


def attributes_of(node: Any) -> dict[str, Any]:
    return {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}


def width_of(elem: int) -> int:
    """Bytes of an element; 0 for what is no tensor of whole bytes."""
    kinds = onnx.TensorProto.DataType
    if elem not in kinds.values() or elem == kinds.Value("UNDEFINED") or kinds.Name(elem) in _NOT_BYTES:
        return 0
    try:
        return int(np.dtype(helper.tensor_dtype_to_np_dtype(elem)).itemsize)
    except (KeyError, TypeError, ValueError):
        return 0


def kind_of(elem: int) -> str:
    """NumPy's letter for a type of elements: b, i, u for what is whole, and others."""
    return str(np.dtype(helper.tensor_dtype_to_np_dtype(elem)).kind)


def type_of(elem: int, shape: Shape | None) -> Any:
    if shape is None:
        return helper.make_tensor_type_proto(elem, None)
    return helper.make_tensor_type_proto(elem, [str(size) if size.names else size.number for size in shape])


def subgraphs(node: Any) -> list[Any]:
    kinds = onnx.AttributeProto
    graphs = [attribute.g for attribute in node.attribute if attribute.type == kinds.GRAPH]
    return graphs + [graph for attribute in node.attribute if attribute.type == kinds.GRAPHS for graph in attribute.graphs]


def read_in(graph: Any) -> list[str]:
    """The names that a graph inside a node reads, or gives, and that may be those of a tensor outside of it."""
    names = [value.name for value in graph.output]
    for node in graph.node:
        names += [name for name in node.input if name]
        for inner in subgraphs(node):
            names += read_in(inner)
    return names


def named_in(graph: Any) -> list[str]:
    """All names that a graph inside a node has for tensors."""
    names = [value.name for value in (*graph.input, *graph.initializer, *graph.output)]
    for node in graph.node:
        names += [*node.input, *node.output]
        for inner in subgraphs(node):
            names += named_in(inner)
    return names


def is_constant(node: Any, constants: set[str]) -> bool:
    if node.op_type == "Constant":
        return True
    return bool(node.input) and all(name in constants for name in node.input if name)


def with_weights(model: Any, folder: Path) -> Any:
    """The model with the weights that lie in files, in memory."""
    if all(tensor.data_location != onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer):
        return model
    made = onnx.ModelProto()
    made.CopyFrom(model)
    data: Any = importlib.import_module("onnx.external_data_helper")
    data.load_external_data_for_model(made, str(folder))
    return made


def without_weights(model: Any) -> Any:
    """A copy for shape inference, whose large weights are left out: they say nothing on shapes."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for tensor in made.graph.initializer:
        if math.prod(tensor.dims) > LARGEST_VALUE:
            tensor.ClearField("raw_data")
    return made


def in_order(nodes: Sequence[Any]) -> list[Any]:
    """The nodes, each after those whose outputs it reads, and otherwise as they are."""
    made_by = {output: at for at, node in enumerate(nodes) for output in node.output if output}
    done: list[Any] = []
    state = [0] * len(nodes)
    for first in range(len(nodes)):
        stack = [first]
        while stack:
            at = stack[-1]
            if state[at] == 2:
                stack.pop()
                continue
            state[at] = 1
            names = [*nodes[at].input, *(name for graph in subgraphs(nodes[at]) for name in read_in(graph))]
            before = [made_by[name] for name in names if name in made_by and state[made_by[name]] == 0]
            if before:
                stack += before[::-1]
            else:
                state[at] = 2
                done.append(nodes[at])
                stack.pop()
    return done
