"""`shapetracker.onnx` beside graphs that are run, and beside maps of elements made by NumPy."""

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oracle

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import shapetracker.onnx as sto  # noqa: E402

Array = np.ndarray[Any, Any]


def run(model: Any, feeds: dict[str, Array], optimised: bool = False) -> list[Array]:
    options = runtime.SessionOptions()
    level = runtime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else level.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    made: list[Array] = session.run(None, feeds)
    return made


def assert_same(before: Any, after: Any, feeds: dict[str, Array], both: bool = True) -> None:
    onnx.checker.check_model(after, full_check=True)
    expected = run(before, feeds)
    runs = [run(after, feeds)] + ([run(after, feeds, optimised=True)] if both else [])
    for outputs in runs:
        for old, new in zip(expected, outputs, strict=True):
            assert (old.shape, old.dtype) == (new.shape, new.dtype)
            assert old.tobytes() == new.tobytes()


class Graph:
    """A graph that is built node by node, with the element of which root each element of each tensor is.

    `maps` has for each tensor numbers of the elements of roots, where -1 and less are constants; each computing node's output is a new
    root, with numbers of its own.
    """

    def __init__(self, opset: int = 17):
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.maps: dict[str, Array] = {}
        self.shapes: dict[str, list[Any]] = {}
        self.elements = 0
        self.opset = opset
        self.read: list[str] = []
        self.elementwise: list[tuple[list[str], str]] = []
        self.moving: dict[str, int] = {}
        self.number = 0

    def fresh(self) -> str:
        self.number += 1
        return f"t{self.number}"

    def root(self, name: str, shape: tuple[int, ...]) -> None:
        size = math.prod(shape)
        self.maps[name] = np.arange(self.elements, self.elements + size).reshape(shape)
        self.elements += size

    def input(self, shape: tuple[int, ...], named: str | None = None) -> str:
        name = self.fresh()
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [named or shape[0], *shape[1:]]))
        self.root(name, shape)
        return name

    def constant(self, values: Any, dtype: Any = np.int64) -> str:
        name = self.fresh()
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def node(self, op: str, inputs: list[str], count: int = 1, **attributes: Any) -> list[str]:
        outputs = [self.fresh() for _ in range(count)]
        self.nodes.append(helper.make_node(op, inputs, outputs, name=f"n{len(self.nodes)}", **attributes))
        return outputs

    def moved(self, op: str, inputs: list[str], made: list[Array], free: bool = False, **attributes: Any) -> list[str]:
        outputs = self.node(op, inputs, len(made), **attributes)
        for output, elements in zip(outputs, made):
            self.maps[output] = elements
            if not free:
                self.moving[output] = elements.size * 4
        return outputs

    def computed(self, op: str, inputs: list[str], moves_through: bool = False, **attributes: Any) -> str:
        (output,) = self.node(op, inputs, **attributes)
        shape = np.broadcast_shapes(*(self.maps[name].shape for name in inputs if name in self.maps))
        self.root(output, shape)
        if moves_through:
            self.elementwise.append(([name for name in inputs if name in self.maps], output))
        else:
            self.read += [name for name in inputs if name in self.maps]
        return output

    def model(self, outputs: list[str], named: str | None = None) -> Any:
        shapes = [[None] * self.maps[name].ndim if named else list(self.maps[name].shape) for name in outputs]
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip(outputs, shapes)]
        graph = helper.make_graph(self.nodes, "random", self.inputs, values, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=9)

    def least(self, outputs: list[str]) -> int:
        """The fewest bytes: each distinct order of elements that is read, and that is not a root's, for the best choice of the
        elementwise nodes that are computed in the order of their operands' roots."""
        return min(self._written(outputs, choice) for choice in range(1 << len(self.elementwise)))

    def least_as_it_is(self, outputs: list[str]) -> int:
        return self._written(outputs, 0)

    def _written(self, outputs: list[str], choice: int) -> int:
        starts = sorted(int(self.maps[name].min()) for name in self.roots())
        sizes = {int(self.maps[name].min()): self.maps[name].size for name in self.roots()}
        # What stands for a root's element: the tensor of an elementwise node that is computed in another order is renumbered.
        renumbered: dict[int, Array] = {}
        read = list(self.read) + list(outputs)
        for at, (operands, output) in enumerate(self.elementwise):
            maps = [self._mapped(name, renumbered) for name in operands]
            start = int(self.maps[output].min())
            order = self._order(maps[0], starts, sizes)
            if choice >> at & 1 and order is not None:
                if all((other := self._order(m, starts, sizes)) is not None and (other == order).all() for m in maps):
                    renumbered[start] = start + order
                    continue
            read += operands
        written: dict[bytes, int] = {}
        for name in read:
            elements = self._mapped(name, renumbered).reshape(-1)
            order = self._order(elements, starts, sizes)
            if order is None or (order != np.arange(order.size)).any():
                written[elements.tobytes()] = elements.size * 4
        return sum(written.values())

    def roots(self) -> list[str]:
        moved = {output for output in self.maps if any(output in node.output for node in self.nodes) and output not in self.moving}
        return [name for name in self.maps if name in {value.name for value in self.inputs}] + [
            output for node in self.nodes for output in node.output if node.op_type in COMPUTING and output in moved
        ]

    def _mapped(self, name: str, renumbered: dict[int, Array]) -> Array:
        elements = self.maps[name].copy()
        for start, order in renumbered.items():
            inside = (elements >= start) & (elements < start + order.size)
            elements[inside] = order.reshape(-1)[elements[inside] - start]
        return elements

    def _order(self, elements: Array, starts: list[int], sizes: dict[int, int]) -> Array | None:
        """The place of each element in its root, if they are all of one root, each once."""
        flat = elements.reshape(-1)
        if flat.size == 0 or flat.min() < 0:
            return None
        start = max(number for number in starts if number <= flat[0])
        order = flat - start
        if flat.size != sizes[start] or not (np.sort(order) == np.arange(flat.size)).all():
            return None
        return order


COMPUTING = ("Sigmoid", "Exp", "Relu", "Neg", "Add", "Mul")


def factors(rng: random.Random, size: int, most: int = 4) -> list[int]:
    made = []
    while size > 1 and len(made) < most - 1:
        divisors = [d for d in range(2, size + 1) if size % d == 0]
        made.append(rng.choice(divisors))
        size //= made[-1]
    return made + [size] if size > 1 or not made else made


def random_move(rng: random.Random, graph: Graph, name: str) -> list[str]:
    """One moving node after a tensor, or as many as a roll takes."""
    elements = graph.maps[name]
    shape, rank = elements.shape, elements.ndim
    axis = rng.randrange(rank)
    size = shape[axis]
    kind = rng.choice(
        """reshape reshape transpose transpose transpose slice split roll pad expand tile gather pick depth space parts flatten squeeze
        again""".split()
    )
    if kind == "reshape":
        target = factors(rng, elements.size)
        rng.shuffle(target)
        asked = list(target)
        if rng.random() < 0.3:
            asked[rng.randrange(len(asked))] = -1
        return graph.moved("Reshape", [name, graph.constant(asked)], [elements.reshape(target)], free=True)
    if kind == "transpose":
        order = rng.sample(range(rank), rank)
        return graph.moved("Transpose", [name], [elements.transpose(order)], perm=order)
    if kind == "slice":
        step = rng.choice([1, 1, 2, -1, -2])
        start, stop = sorted(rng.sample(range(size + 1), 2))
        if step < 0:
            start, stop = stop - 1, start - 1
        made = elements[(slice(None),) * axis + (slice(start, None if stop < 0 else stop, step),)]
        end = stop if stop >= 0 else -(2**31)
        given = [graph.constant([number]) for number in (start, end, axis, step)]
        return graph.moved("Slice", [name, *given], [made])
    if kind == "split" and size > 1:
        cut = rng.randrange(1, size)
        return graph.moved("Split", [name, graph.constant([cut, size - cut])], np.split(elements, [cut], axis), axis=axis)
    if kind == "roll" and size > 1:
        cut = rng.randrange(1, size)
        parts = np.split(elements, [cut], axis)
        names = []
        for part, (start, stop) in zip(parts, ((0, cut), (cut, 2**40))):
            names += graph.moved("Slice", [name, *(graph.constant([n]) for n in (start, stop, axis))], [part])
        return graph.moved("Concat", names[::-1], [np.concatenate(parts[::-1], axis)], axis=axis)
    if kind == "parts" and size % 2 == 0 and rank > 1:
        names, made = [], []
        for start in (0, 1):
            part = elements[(slice(None),) * axis + (slice(start, None, 2),)]
            given = [graph.constant([n]) for n in (start, 2**31 - 1, axis, 2)]
            names += graph.moved("Slice", [name, *given], [part])
            made.append(part)
        along = rng.randrange(rank)
        return graph.moved("Concat", names, [np.concatenate(made, along)], axis=along)
    if kind == "again":
        other = rng.choice([other for other in graph.maps if graph.maps[other].shape == shape])
        return graph.moved("Concat", [name, other], [np.concatenate([elements, graph.maps[other]], axis)], axis=axis)
    if kind == "pad":
        before, after = rng.choice([(0, 1), (1, 0), (1, 2), (0, 0)])
        pads = [0] * (2 * rank)
        pads[axis], pads[rank + axis] = before, after
        widths = [(before, after) if i == axis else (0, 0) for i in range(rank)]
        value = rng.choice([0, 0, 0, 1])
        inputs = [name, graph.constant(pads)] + ([graph.constant(value, np.float32)] if value else [])
        return graph.moved("Pad", inputs, [np.pad(elements, widths, constant_values=-1 - value)])
    if kind == "expand" and elements.size < 500:
        target = [2, *(shape if rng.random() < 0.5 else shape)]
        return graph.moved("Expand", [name, graph.constant(target)], [np.broadcast_to(elements, target)])
    if kind == "tile" and elements.size < 500:
        times = [2 if i == axis else 1 for i in range(rank)]
        return graph.moved("Tile", [name, graph.constant(times)], [np.tile(elements, times)])
    if kind == "gather":
        step = rng.choice([1, -1, 2])
        indices = list(range(size))[::step][: rng.randrange(1, size + 1)]
        return graph.moved("Gather", [name, graph.constant(indices)], [elements.take(indices, axis)], axis=axis)
    if kind == "pick" and rank > 1:
        index = rng.randrange(-size, size)
        return graph.moved("Gather", [name, graph.constant(index)], [elements.take(index, axis)], axis=axis)
    if kind == "depth" and rank == 4 and shape[1] % 4 == 0:
        mode, (n, c, h, w) = rng.choice(["CRD", "DCR"]), shape
        if mode == "CRD":
            made = elements.reshape(n, c // 4, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3)
        else:
            made = elements.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2)
        return graph.moved("DepthToSpace", [name], [made.reshape(n, c // 4, h * 2, w * 2)], blocksize=2, mode=mode)
    if kind == "space" and rank == 4 and shape[2] % 2 == shape[3] % 2 == 0:
        n, c, h, w = shape
        made = elements.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * 4, h // 2, w // 2)
        return graph.moved("SpaceToDepth", [name], [made], blocksize=2)
    if kind == "flatten":
        rows = math.prod(shape[:axis])
        return graph.moved("Flatten", [name], [elements.reshape(rows, elements.size // rows)], free=True, axis=axis)
    if kind == "squeeze":
        axes = graph.constant([axis])
        if size == 1 and rank > 1:
            return graph.moved("Squeeze", [name, axes], [elements.squeeze(axis)], free=True)
        if rank < 6:
            return graph.moved("Unsqueeze", [name, axes], [np.expand_dims(elements, axis)], free=True)
    return []


def random_graph(rng: random.Random, moves_through: bool) -> tuple[Graph, list[str]]:
    graph = Graph(rng.choice([13, 17, 17]))
    shapes = [(2, 4, 6, 4), (3, 8, 4), (12, 6), (2, 3, 4, 2), (1, 16, 2, 6), (4, 4, 32), (2, 12, 16)]
    open_ends = [graph.input(rng.choice(shapes))]
    if rng.random() < 0.3:
        open_ends.append(graph.input(graph.maps[open_ends[0]].shape))
    branches = rng.randrange(1, 4)
    while len(open_ends) < branches:
        open_ends.append(open_ends[0])
    for _ in range(rng.randrange(2, 5)):
        for at, name in enumerate(open_ends):
            if rng.random() < 0.8:
                made = random_move(rng, graph, name)
                made = [output for output in made if graph.maps[output].size]
                if made:
                    open_ends[at] = made[0]
                    open_ends += made[1:]
            elif rng.random() < 0.6:
                op = rng.choice(["Relu", "Neg", "Add", "Mul"]) if moves_through else rng.choice(["Sigmoid", "Exp"])
                partners = [other for other in open_ends if graph.maps[other].shape == graph.maps[name].shape]
                second = rng.choice(partners) if rng.random() < 0.7 else graph.constant(1.5, np.float32)
                operands = [name, second] if op in ("Add", "Mul") else [name]
                if len(graph.elementwise) < 6:
                    open_ends[at] = graph.computed(op, operands, moves_through)
    outputs = []
    for name in dict.fromkeys(open_ends):
        outputs.append(graph.computed("Exp", [name]) if rng.random() < 0.5 or name in {v.name for v in graph.inputs} else name)
    return graph, outputs


@pytest.mark.parametrize("moves_through", [False, True])
def test_random_graphs(moves_through: bool) -> None:
    rng = random.Random(35 + moves_through)
    values = np.random.default_rng(1)
    fewer = exact = 0
    for case in range(oracle.cases(150)):
        graph, outputs = random_graph(rng, moves_through)
        model = graph.model(outputs)
        kept = model.SerializeToString()
        report = sto.copies(model)
        smaller = sto.rewrite(model)
        assert model.SerializeToString() == kept
        feeds = {v.name: values.standard_normal(graph.maps[v.name].shape).astype("f4") for v in graph.inputs}
        try:
            assert_same(model, smaller, feeds)
        except Exception as fault:
            raise AssertionError(case) from fault
        before, least, after = report.bytes_at()
        assert before >= after >= 0 and len(report.moves) >= len(report.after), case
        if moves_through:
            assert graph.least(outputs) <= least <= graph.least_as_it_is(outputs), case
            exact += least == graph.least(outputs)
        else:
            assert least == graph.least_as_it_is(outputs), (case, report)
            exact += after == least
        assert after >= least, (case, report)
        fewer += after < before
    print(fewer, exact)
