"""ONNX graphs: which nodes move data for the sake of the layout, the least that would do, and the graph rewritten to it.

    >>> import onnx.parser
    >>> import shapetracker.onnx
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 17]>
    ... agraph (float[batch, 8, 4, 4] x) => (float[batch, 8, 8, 2] y) {
    ...     shuffled = DepthToSpace <blocksize = 2, mode = "CRD"> (x)
    ...     y = Transpose <perm = [0, 2, 3, 1]> (shuffled)
    ... }''')
    >>> report = shapetracker.onnx.copies(model)
    >>> len(report.moves), len(report.least), len(report.after)
    (2, 1, 1)
    >>> [node.op_type for node in shapetracker.onnx.rewrite(model).graph.node]
    ['Reshape', 'Transpose', 'Reshape']

Every tensor that nodes such as Transpose, Reshape, Slice and DepthToSpace make of another is a layout over the elements of that
one, and whether one is only a reshape of the other is decided exactly, whatever the values of dimensions that have names. ONNX's
operators take dense tensors in row-major order; so each tensor that is read in any other order than that of the memory it comes
from takes one pass over its elements, and needs no more than one. onnx is not a dependency of this package.
"""

from __future__ import annotations

import importlib
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

try:
    _onnx: Any = importlib.import_module("onnx")
except ImportError as _missing:
    raise ImportError(f"shapetracker.onnx needs onnx 1.16 or later ({_missing}): pip install onnx") from _missing

import numpy as np

from ._copies import plural
from ._movement import Layout, Plan, Shape, Size, Step, axis_order, plans, reshape_numbers, size_of, stacked

__all__ = ["Move", "Need", "Report", "check", "copies", "rewrite", "save"]

_helper: Any = importlib.import_module("onnx.helper")
_numpy_helper: Any = importlib.import_module("onnx.numpy_helper")
_inference: Any = importlib.import_module("onnx.shape_inference")

_FREE = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"})
_MOVING = frozenset({"Transpose", "Slice", "Split", "Pad", "Expand", "Tile", "DepthToSpace", "SpaceToDepth", "Gather", "Concat"})
# One element of the result is one of each operand, rounded as IEEE 754 says: its bits depend on no other element, and not on
# where in a vector register it is computed, as those of an Exp or a Tanh do in some runtimes.
_ELEMENTWISE = frozenset(
    """Abs Add And BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil Clip Div Equal Floor Greater GreaterOrEqual Identity
    LeakyRelu Less LessOrEqual Max Min Mul Neg Not Or Relu Sign Sub Where Xor""".split()
)
_NOT_BYTES = frozenset("STRING INT4 UINT4 FLOAT4E2M1 INT2 UINT2".split())
_OPSETS = range(11, 27)
_LARGEST_VALUE = 4096
# So many of the tensors before it are tried as what a tensor is made from, besides the first.
_MOST_STEPS = 24


@dataclass(frozen=True)
class Move:
    """A node that moves data: its name, operator, the tensor that it makes, and the bytes that it writes.

    `bytes` is a text such as "37632*batch" where dimensions have names.
    """

    node: str
    op: str
    tensor: str
    shape: str
    bytes: str
    _count: Bytes = field(repr=False, compare=False)


@dataclass(frozen=True)
class Need:
    """A tensor that must be written once, for a node reads it in another order than that of the memory it comes from.

    `root` is the tensor whose memory that is, and `readers` are the operators that read it. `operators` are those that make it in
    the rewritten graph; where they write more than `bytes`, `written` says how much, and `reason` why there is no less.
    """

    tensor: str
    root: str
    readers: tuple[str, ...]
    shape: str
    bytes: str
    operators: tuple[str, ...]
    written: str
    reason: str | None
    _count: Bytes = field(repr=False, compare=False)


class Bytes:
    """A number of bytes for each value of the names: a polynomial whose coefficients are not negative."""

    def __init__(self, terms: dict[tuple[str, ...], int] | None = None):
        self.terms = {names: number for names, number in (terms or {}).items() if number}

    @staticmethod
    def of(shape: Shape, width: int) -> Bytes:
        size = size_of(shape)
        return Bytes({size.names: size.number * width})

    def __add__(self, other: Bytes) -> Bytes:
        sums = Counter(self.terms)
        sums.update(other.terms)
        return Bytes(dict(sums))

    def at_most(self, other: Bytes) -> bool:
        """Is it at most the other for all values?"""
        return all(number <= other.terms.get(names, 0) for names, number in self.terms.items())

    def at(self, value: int) -> int:
        """With this value for each name."""
        return sum(number * value ** len(names) for names, number in self.terms.items())

    def __str__(self) -> str:
        parts = ["*".join([str(number), *names]) for names, number in sorted(self.terms.items(), reverse=True)]
        return " + ".join(parts) or "0"

    @property
    def text(self) -> str:
        """In units for people where it is one number."""
        if set(self.terms) <= {()}:
            number = self.at(1)
            return f"{number / 2**20:.2f} MiB" if number >= 2**20 // 10 else f"{number} bytes"
        return f"{self} bytes"


@dataclass(frozen=True)
class Report:
    """What moves data in a graph, the least that would do, and what does in the rewritten graph.

    `moves` are the nodes of the graph as it is and `after` those of the rewritten one, `least` the tensors that must be written.
    `notes` are sentences on what was left as it is, and `rewritten` is that graph, as an `onnx.ModelProto`. `checked` says
    whether both graphs were run, and is None where nobody asked.
    """

    moves: tuple[Move, ...]
    least: tuple[Need, ...]
    after: tuple[Move, ...]
    nodes: tuple[int, int]
    notes: tuple[str, ...]
    rewritten: Any = field(repr=False, compare=False)
    checked: str | None = None

    @property
    def bytes(self) -> tuple[str, str, str]:
        """What is written as it is, at least, and in the rewritten graph."""
        return (str(_total(self.moves)), str(_total(self.least)), str(_total(self.after)))

    def bytes_at(self, value: int = 1) -> tuple[int, int, int]:
        """The same as numbers, where each dimension with a name has this size."""
        return (_total(self.moves).at(value), _total(self.least).at(value), _total(self.after).at(value))

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, texts and numbers, such as JSON has."""

        def rows(entries: Iterable[Move | Need]) -> list[dict[str, Any]]:
            return [{key: value for key, value in vars(entry).items() if not key.startswith("_")} for entry in entries]

        before, least, after = self.bytes
        return {
            "before": {"moves": rows(self.moves), "bytes": before, "nodes": self.nodes[0]},
            "least": {"needs": rows(self.least), "bytes": least},
            "after": {"moves": rows(self.after), "bytes": after, "nodes": self.nodes[1]},
            "notes": list(self.notes),
            "checked": self.checked,
        }

    def __str__(self) -> str:
        lines = [
            f"as it is:  {plural(len(self.moves), 'tensor')} moved, {_total(self.moves).text}",
            f"least:     {plural(len(self.least), 'tensor')}, {_total(self.least).text}",
            f"rewritten: {plural(len(self.after), 'tensor')}, {_total(self.after).text}",
            f"nodes:     {self.nodes[0]}, and {self.nodes[1]} in the rewritten graph",
        ]
        grouped: dict[tuple[str, ...], list[Need]] = {}
        for need in self.least:
            key = (need.shape, " and ".join(need.readers), " and ".join(need.operators), need.reason or "")
            grouped.setdefault(key, []).append(need)
        for (shape, readers, operators, reason), needs in grouped.items():
            lines.append(f"{len(needs):4} x {shape} for {readers}: {operators or 'as it was'}")
            if reason:
                lines.append(f"       {needs[0].written} bytes each and not {needs[0].bytes}: {reason}")
        lines += self.notes
        if self.checked:
            lines.append(self.checked)
        return "\n".join(lines)


def copies(model: Any, *, prefer: str = "bytes") -> Report:
    """What moves data in a model (a path, or an `onnx.ModelProto`), the least that would do, and what the rewritten graph has.

    `prefer` says what the rewritten graph is chosen by: "bytes" are the fewest bytes, whatever a runtime takes for them. Some
    kernels take longer for one pass that moves single elements than for two that move rows; with "onnxruntime" those that
    onnxruntime's kernels for processors are slow at are chosen only where they replace enough. In neither are there more bytes or
    more passes than before.

    Nothing is run, and the weights are not read. Takes some milliseconds for each moving node. Raises ValueError, with a
    sentence, for a file that is no model or has another opset than those that are known.
    """
    loaded, folder = _loaded(model)
    return _looked_at(loaded, folder, prefer).report


def rewrite(model: Any, *, prefer: str = "bytes") -> Any:
    """The model with fewer and smaller movements, as an `onnx.ModelProto`: the same inputs, outputs and computing nodes.

    The outputs are the same to the bit, for each node that computes is given the same numbers as before; those that compute
    element by element may be given them in another order. The model itself is left as it is.
    """
    return copies(model, prefer=prefer).rewritten


def save(model: Any, out: str | os.PathLike[str], *, run: bool = True, prefer: str = "bytes") -> Report:
    """Rewrites a model into a file, and reports. The file is written after both graphs are checked, and run where onnxruntime is
    there.

    With `run=False` they are not run. What onnxruntime took for either here is told: fewer bytes are no promise of less time. Weights in files beside the model are left where they are if the result lies in the same
    folder, and otherwise written beside the result. Raises ValueError where the check fails, which would be a fault of this
    package.
    """
    loaded, folder = _loaded(model)
    done = _looked_at(loaded, folder, prefer)
    target = Path(out)
    checked = check(loaded, done.model, folder, run)
    if checked.endswith("equal to the byte"):
        checked += _took(loaded, done.model, folder, prefer)
    made = done.model
    external = [tensor for tensor in made.graph.initializer if tensor.data_location == _onnx.TensorProto.EXTERNAL]
    if external and folder is not None and target.resolve().parent != folder.resolve():
        _onnx.save_model(_with_weights(made, folder), str(target), save_as_external_data=True, location=target.name + ".data")
    else:
        target.write_bytes(made.SerializeToString())
    return Report(**{**vars(done.report), "checked": checked})


def check(before: Any, after: Any, folder: Path | None = None, run: bool = True) -> str:
    """Checks a rewritten model by onnx's checker, and by running both on random inputs where onnxruntime is there.

    The answer is a sentence on what was done. Raises ValueError where an output is different.
    """
    if folder is not None:
        try:
            before, after = _with_weights(before, folder), _with_weights(after, folder)
        except Exception as fault:  # a file is missing, or too short, or outside of the folder
            return f"checked: not at all and not run, for the weights cannot be read: {str(fault).splitlines()[0]}"
    try:
        _onnx.checker.check_model(after)
    except (_onnx.checker.ValidationError, ValueError) as fault:
        try:
            _onnx.checker.check_model(before)
        except (_onnx.checker.ValidationError, ValueError):
            return "checked: not at all, for onnx's checker refuses the model as it was"
        raise ValueError(f"copies: onnx's checker refuses the rewritten graph: {fault}") from fault
    if not run:
        return "checked: by onnx's checker; neither graph was run"
    try:
        runtime: Any = importlib.import_module("onnxruntime")
    except ImportError:
        return "checked: by onnx's checker; neither graph was run, for onnxruntime is not installed"
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        first, second = (
            runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            for model in (before, after)
        )
        feeds = [_random_inputs(before, first.get_inputs(), size) for size in (2, 3)]
        expected = [first.run(None, feed) for feed in feeds]
    except Exception as fault:  # whatever the runtime raises: it refuses the model as it was, or these inputs
        reason = str(fault).splitlines()[0] if str(fault) else type(fault).__name__
        return f"checked: by onnx's checker; not run, for onnxruntime did not take the model or random inputs ({reason})"
    for feed, outputs in zip(feeds, expected, strict=True):
        for output, old, new in zip(first.get_outputs(), outputs, second.run(None, feed), strict=True):
            if isinstance(old, np.ndarray) and (old.shape != new.shape or old.tobytes() != new.tobytes()):
                raise ValueError(
                    f"copies: output {output.name!r} of the rewritten graph is not the same; please report this graph"
                )
    return f"checked: by onnx's checker, and run by onnxruntime {runtime.__version__}: outputs equal to the byte"


def _took(before: Any, after: Any, folder: Path | None, prefer: str) -> str:
    """What onnxruntime takes for both with its optimisations: the shorter of a few runs of each, one after the other."""
    runtime: Any = importlib.import_module("onnxruntime")
    if folder is not None:
        before, after = _with_weights(before, folder), _with_weights(after, folder)
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    shortest = [math.inf, math.inf]
    try:
        sessions = [
            runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            for model in (before, after)
        ]
        feed = _random_inputs(before, sessions[0].get_inputs(), 2)
        for _ in range(5):
            for at, session in enumerate(sessions):
                start = time.perf_counter()
                session.run(None, feed)
                shortest[at] = min(shortest[at], time.perf_counter() - start)
    except Exception:  # whatever the runtime raises: with its optimisations it refuses what it took without them
        return ""
    first, second = (1e3 * seconds for seconds in shortest)
    said = f"; with optimisations it took {first:.2f} ms before, and takes {second:.2f} ms now"
    # Less than that is noise.
    if second > max(1.1 * first, first + 0.2) and prefer == "bytes":
        said += ', which is longer: prefer="onnxruntime" (--prefer onnxruntime) keeps the operators that it is fast at'
    return said


def _random_inputs(model: Any, inputs: Iterable[Any], size: int) -> dict[str, Any]:
    """For each input random numbers, where a name is the size and integers are 0 or 1."""
    rng = np.random.default_rng(0)
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    feeds = {}
    for value in inputs:
        dtype = np.dtype(_helper.tensor_dtype_to_np_dtype(types[value.name]))
        shape = [extent if isinstance(extent, int) and extent > 0 else size for extent in value.shape]
        if dtype.kind == "f" or dtype.kind == "V":
            feeds[value.name] = rng.standard_normal(shape).astype(dtype)
        else:
            feeds[value.name] = rng.integers(0, 2, shape).astype(dtype)
    return feeds


def _total(entries: Iterable[Move | Need]) -> Bytes:
    return sum((entry._count for entry in entries), Bytes())


def _loaded(model: Any) -> tuple[Any, Path | None]:
    """A model and the folder of its weights."""
    if isinstance(model, _onnx.ModelProto):
        loaded, folder = model, None
    else:
        path = Path(model)
        try:
            loaded = _onnx.load(str(path), load_external_data=False)
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


def _looked_at(model: Any, folder: Path | None, prefer: str) -> _Rewriting:
    """A model and what was chosen; where it cannot be understood because it is no valid model, a sentence of onnx's checker."""
    if prefer not in ("bytes", "onnxruntime"):
        raise ValueError(f"copies: prefer={prefer!r} is neither 'bytes' nor 'onnxruntime'")
    try:
        return _Rewriting(model, folder, prefer)
    except Exception as fault:
        try:
            _onnx.checker.check_model(model if folder is None else _with_weights(model, folder))
        except Exception as refused:  # whatever it raises
            reason = str(refused).strip().splitlines()
            raise ValueError(f"copies: onnx's checker refuses the model: {reason[0] if reason else refused!r}") from fault
        raise


_Follow: TypeAlias = Callable[[Layout], "Layout | None"]


@dataclass
class _Emission:
    """How a tensor is made: by operators from another one, or by the node that made it."""

    tensor: str
    source: str | None
    plan: Plan
    node: int | None


@dataclass
class _Cost:
    bytes: Bytes
    moves: int
    nodes: int
    # What onnxruntime's kernels take longer for than for as many bytes that are moved in rows.
    extra: int = 0

    def __add__(self, other: _Cost) -> _Cost:
        return _Cost(self.bytes + other.bytes, self.moves + other.moves, self.nodes + other.nodes, self.extra + other.extra)

    @property
    def key(self) -> tuple[int, int, int]:
        """To compare by: bytes with some size for each name, then nodes that move data, then nodes."""
        return (self.bytes.at(8) + self.extra, self.moves, self.nodes)


_NOTHING = _Cost(Bytes(), 0, 0)


@dataclass
class _Choice:
    """For one choice of the elementwise nodes that are moved through: what is read, and how it is made."""

    layouts: dict[str, Layout]
    virtual: dict[int, str]
    live: set[int]
    emissions: dict[str, list[_Emission]]
    cost: _Cost
    readers: dict[str, list[str]]


class _Rewriting:
    """A model, what is known of its tensors, and what was chosen."""

    def __init__(self, model: Any, folder: Path | None, prefer: str):
        self.slow_kernels = prefer == "onnxruntime"
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
        self.source: dict[str, tuple[str, _Follow]] = {}
        self.captured: dict[int, list[str]] = {}
        self._declare()
        self._look()
        self._layouts: dict[str, Layout] = {}
        self.chosen = self._choose()
        self.model = self._emit()
        self.report = self._report()

    # What is known of the tensors

    def _declare(self) -> None:
        """The types that the model has for its tensors."""
        self.declared: dict[str, Any] = {}
        inferred: list[Any] = []
        if any(node.attribute for node in self.nodes if _subgraphs(node)) or self.before.functions:
            try:
                whole = _inference.infer_shapes(_without_weights(self.before), data_prop=True)
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
            inner = [name for graph in _subgraphs(node) for name in _read_in(graph)]
            self.captured[at] = [name for name in inner if name in taken]
            taken.update(node.output)
            for output in node.output:
                self.maker[output] = at
            if not _subgraphs(node) and _is_constant(node, self.constants):
                self.constants.update(output for output in node.output if output)
            follows: list[tuple[str, str, _Follow]] = []
            try:
                self._value(node)
                if node.domain in ("", "ai.onnx") and not self._is_arithmetic(node):
                    follows = self._follows(node)
            except Exception:  # numbers or attributes that ONNX does not allow there: then nothing is known of it
                follows = []
            known = False
            for output, source, follow in follows:
                elem, shape = self.types.get(source, (0, None))
                if shape is None or not _width(elem) or not _is_addressable(shape):
                    continue
                made = _followed(follow, Layout.whole(source, shape))
                if made is not None:
                    self.source[output] = (source, follow)
                    self.types[output] = (elem, made.shape)
                    known = True
            if known and all(output in self.source for output in node.output if output):
                continue
            for output in node.output:
                self.source.pop(output, None)
            self._infer(node)
            if self._is_moving(node) and node.op_type != "Concat":
                opaque[node.op_type] += 1
            elif _subgraphs(node):
                opaque["subgraph"] += 1
        subgraphs = opaque.pop("subgraph", 0)
        if subgraphs:
            self.notes.append(
                f"{plural(subgraphs, 'node')} with graphs inside (If, Loop, Scan): these graphs are left as they are"
            )
        if self.before.functions:
            self.notes.append("functions of the model are left as they are, and so is what calls them")
        for op, count in sorted(opaque.items()):
            what = "it moves" if count == 1 else "they move"
            self.notes.append(
                f"{plural(count, 'node')} {op}: not known what {what}, for sizes or indices are data or a named dimension is cut:"
                " left as it is, and in the least as it is"
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

    def _infer(self, node: Any) -> None:
        """The types of a node's outputs by onnx's shape inference for it, or as the model says them."""
        made: dict[str, Any] = {}
        opsets = list(self.before.opset_import)
        version = next((entry.version for entry in opsets if entry.domain == node.domain), self.opset)
        if not _subgraphs(node) and all(name in self.types and self.types[name][0] for name in node.input if name):
            try:
                schema = _onnx.defs.get_schema(node.op_type, version, "" if node.domain == "ai.onnx" else node.domain)
                types = {name: _type_of(*self.types[name]) for name in node.input if name}
                data = {name: _numpy_helper.from_array(array) for name in node.input if (array := self._array(name)) is not None}
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
            if tensor is not None and math.prod(tensor.dims) <= _LARGEST_VALUE and tensor.data_type != _onnx.TensorProto.STRING:
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
        if node.op_type in ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"):
            return None
        try:
            empty = [_helper.make_empty_tensor_value_info(given) for given in arrays]
            graph = _helper.make_graph([node], "one", empty, [_helper.make_empty_tensor_value_info(name)])
            alone = _helper.make_model(graph, opset_imports=self.before.opset_import, ir_version=self.before.ir_version)
            reference: Any = importlib.import_module("onnx.reference")
            array = np.asarray(reference.ReferenceEvaluator(alone).run(None, arrays)[0])
        except Exception:  # whatever the evaluator raises: then it is not known
            return None
        return array if array.size <= _LARGEST_VALUE else None

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

    def _is_arithmetic(self, node: Any) -> bool:
        """Does it compute with sizes, and move no data that is worth a word?"""
        return bool(node.output) and (node.output[0] in self.values or node.op_type == "Shape")

    def _value(self, node: Any) -> None:
        """What a node that computes with sizes gives."""
        if len(node.output) != 1 or node.output[0] in self.constants or node.domain not in ("", "ai.onnx"):
            return
        attributes = _attributes(node)
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
            if scalar or any(number is None or len(number) != 1 for number in given[:2]) or given[0] is None or given[1] is None:
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

    def _is_moving(self, node: Any) -> bool:
        """Is it a node that moves data, and no constant and no arithmetic with sizes?"""
        if node.op_type not in _MOVING or node.domain not in ("", "ai.onnx") or self._is_arithmetic(node):
            return False
        if node.op_type == "Gather" and node.input[1] not in self.constants:
            return False
        if node.op_type == "Pad" and _attributes(node).get("mode", b"constant") != b"constant":
            return False
        return any(name not in self.constants for name in node.input[: None if node.op_type == "Concat" else 1])

    def _is_understood(self, node: Any) -> bool:
        """Does it move data, and is it known where to? Then one pass from where its inputs come from writes what it gives."""
        return self._is_moving(node) and (node.op_type == "Concat" or any(output in self.source for output in node.output))

    def _follows(self, node: Any) -> list[tuple[str, str, _Follow]]:
        """For each output of a moving node the input that it is made of, and how its layout follows from that of the input."""
        if any(name in self.constants for name in node.input[:1]) or not node.input or not node.input[0]:
            return []
        elem, shape = self.types.get(node.input[0], (0, None))
        if shape is None or any(size.number == 0 for size in shape) or not _width(elem):
            return []
        if node.op_type == "Split":
            return [(output, node.input[0], follow) for output, follow in self._split(node, shape) if output]
        if node.op_type not in _FREE | _MOVING or (node.op_type == "Concat" and len(node.input) > 1):
            return []
        follow = self._follow(node, shape, elem)
        return [(node.output[0], node.input[0], follow)] if follow is not None else []

    def _split(self, node: Any, shape: Shape) -> list[tuple[str, _Follow]]:
        attributes = _attributes(node)
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
        made: list[tuple[str, _Follow]] = []
        start = 0
        for output, part in zip(node.output, sizes, strict=True):
            made.append((output, _sliced({axis: (start, start + part, 1)})))
            start += part
        return made

    def _follow(self, node: Any, shape: Shape, elem: int) -> _Follow | None:
        op, attributes, rank = node.op_type, _attributes(node), len(shape)
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
            amounts, fill = self._numbers(optional[0]), bytes(_width(elem))
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

    def _slice(self, node: Any, shape: Shape) -> _Follow | None:
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

    def _gather(self, node: Any, shape: Shape, axis: int) -> _Follow | None:
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

    # What is chosen

    def _all_layouts(self, push: frozenset[int]) -> tuple[dict[str, Layout], dict[int, str]]:
        """The layout of each tensor over its root, if computing is moved before the moving in these nodes; and their roots."""
        layouts: dict[str, Layout] = {}
        virtual: dict[int, str] = {}

        def whole(name: str) -> None:
            elem, shape = self.types.get(name, (0, None))
            if shape is not None and _width(elem) and all(size.number > 0 for size in shape) and _is_addressable(shape):
                layouts[name] = Layout.whole(name, shape)

        for name in self.types:
            if name not in self.maker:
                whole(name)
        for at, node in enumerate(self.nodes):
            for output in node.output:
                if not output:
                    continue
                made: Layout | None = None
                if output in self.source:
                    source, follow = self.source[output]
                    made = _followed(follow, layouts[source]) if source in layouts else None
                elif node.op_type == "Concat" and self._is_moving(node) and all(name in layouts for name in node.input):
                    made = self._concatenated(node, layouts)
                elif at in push:
                    made = self._alike(node, layouts)
                    if made is not None:
                        virtual[at] = f"{output}_in_order_of_{made.root}"
                        made = made.over(virtual[at], made.root_shape)
                if made is not None and made.shape == self.types[output][1]:
                    layouts[output] = made
                else:
                    virtual.pop(at, None)
                    whole(output)
            # A node that must be run for one of its outputs is run for all of them.
            if any(output in layouts and layouts[output].root == output for output in node.output):
                for output in node.output:
                    whole(output)
        return layouts, virtual

    def _concatenated(self, node: Any, layouts: dict[str, Layout]) -> Layout | None:
        """The layout of a concatenation of parts of one tensor: of the nearest one that all are made of, or one before it."""
        parts = [layouts[name] for name in node.input]
        if any(part.root in self.constants or part.root != parts[0].root for part in parts):
            return None
        axis = _attributes(node)["axis"] % max(1, len(parts[0].axes))
        before: list[dict[str, Layout]] = []
        for name in node.input:
            chain = [name]
            while chain[-1] in self.source and layouts[chain[-1]].root != chain[-1]:
                chain.append(self.source[chain[-1]][0])
            before.append({source: made for source in chain if (made := self._relative(name, source, layouts)) is not None})
        for source in before[0]:
            if all(source in chain for chain in before):
                made = stacked([chain[source] for chain in before], axis)
                if made is not None:
                    return layouts[source].under(made)
        return stacked(parts, axis)

    def _relative(self, tensor: str, source: str, layouts: dict[str, Layout]) -> Layout | None:
        """The layout of a tensor over one that it is made of."""
        follows: list[_Follow] = []
        while tensor != source:
            tensor, follow = self.source[tensor]
            follows.insert(0, follow)
        made: Layout | None = Layout.whole(source, layouts[source].shape)
        for follow in follows:
            made = made and follow(made)
        return made

    def _alike(self, node: Any, layouts: dict[str, Layout]) -> Layout | None:
        """The layout that all operands of an elementwise node have over roots of one shape, constants apart."""
        moved = [name for name in node.input if name and name not in self.constants]
        if len(node.output) != 1 or not moved or not all(name in layouts for name in moved):
            return None
        first = layouts[moved[0]]
        if first.is_row_major or first.fill is not None or size_of(first.shape) != size_of(first.root_shape):
            return None
        target = self.types.get(node.output[0], (0, None))[1]
        if target != first.shape or not first.is_one_to_one or not self._is_exact(node):
            return None
        for name in moved:
            layout = layouts[name]
            if layout.shape != first.shape or not layout.same_order(first) or layout.root_shape != first.root_shape:
                return None
        for name in node.input:
            if name in self.constants and self._constant_in_order(name, first) is None:
                return None
        return first

    def _is_exact(self, node: Any) -> bool:
        """Is every result defined? That of a Cast of a large number to an integer is not."""
        to = _attributes(node).get("to") if node.op_type == "Cast" else None
        return to is None or bool(_kind(to) not in "iub" or _kind(self.types[node.input[0]][0]) in "iub")

    def _constant_in_order(self, name: str, layout: Layout) -> list[tuple[str, tuple[int, ...]]] | None:
        """What makes of a constant operand, broadcast with a tensor of this layout, one that is broadcast with its root."""
        shape = self.types.get(name, (0, None))[1]
        if shape is None or any(size.names for size in shape) or len(shape) > len(layout.shape):
            return None
        if size_of(shape) == Size(1):
            return [("Reshape", (1,))] if len(shape) > 1 else []
        order = axis_order(layout)
        if order is None:
            return None
        sizes = [1] * (len(order) - len(shape)) + [size.number for size in shape]
        # The axis of the constant that comes to lie at each axis of the root.
        back = [order.index(axis) for axis in range(len(order))]
        moved = [axis for axis in back if sizes[axis] > 1]
        steps: list[tuple[str, tuple[int, ...]]] = []
        if moved != sorted(moved):
            steps += [("Reshape", tuple(sizes)), ("Transpose", tuple(back))]
        else:
            steps.append(("Reshape", tuple(sizes[axis] for axis in back)))
        return steps

    def _reads(self, at: int, virtual: dict[int, str]) -> list[str]:
        return [name for name in (*self.nodes[at].input, *self.captured[at]) if name]

    def _made_for(self, push: frozenset[int]) -> _Choice:
        """What is read if computing is moved in these nodes, and the cheapest way to make it."""
        layouts, virtual = self._all_layouts(push)
        extra: set[str] = set()
        while True:
            needed, live, readers = self._demand(layouts, virtual, extra)
            emissions: dict[str, list[_Emission]] = {}
            cost = _NOTHING
            more = set(extra)
            for root, tensors in needed.items():
                emissions[root], part = self._group(root, tensors, layouts, readers)
                cost += part
                for emission in emissions[root]:
                    if emission.node is not None:
                        more.update(name for name in self.nodes[emission.node].input[1:] if name)
            if more == extra:
                break
            extra = more
        for at in live:
            if self._is_moving(self.nodes[at]) and at not in virtual:
                cost += self._node_cost(at)
        return _Choice(layouts, virtual, live, emissions, cost, readers)

    def _demand(
        self, layouts: dict[str, Layout], virtual: dict[int, str], extra: Iterable[str]
    ) -> tuple[dict[str, list[str]], set[int], dict[str, list[str]]]:
        """Backwards from the outputs: for each root the tensors that are read, the nodes that are run, and who reads what."""
        needed: dict[str, list[str]] = {}
        wanted: set[str] = set()
        live: set[int] = set()
        readers: dict[str, list[str]] = {}

        def read(name: str, reader: str) -> None:
            layout = layouts.get(name)
            if layout is None or layout.root == name:
                wanted.add(name)
                return
            wanted.add(layout.root)
            if name not in readers:
                needed.setdefault(layout.root, []).append(name)
            if reader not in readers.setdefault(name, []):
                readers[name].append(reader)

        for name in self.outputs:
            read(name, "output")
        for name in sorted(extra):
            read(name, "a shape")
        for at in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[at]
            if at in virtual:
                if virtual[at] in wanted:
                    live.add(at)
                    for name in node.input:
                        if name:
                            wanted.add(layouts[name].root if name in layouts and name not in self.constants else name)
            elif any(output in wanted for output in node.output if output):
                live.add(at)
                for name in self._reads(at, virtual):
                    read(name, node.op_type)
        for tensors in needed.values():
            tensors.sort(key=lambda name: self.maker[name])
        return needed, live, readers

    def _node_cost(self, at: int) -> _Cost:
        """What a node writes, if it moves data."""
        node = self.nodes[at]
        if not self._is_moving(node):
            return _Cost(Bytes(), 0, 1)
        written = Bytes()
        for output in node.output:
            elem, shape = self.types.get(output, (0, None))
            if shape is not None:
                written += Bytes.of(shape, _width(elem))
        extra = 0
        if self.slow_kernels:
            extra = written.at(8) * _slowness(node.op_type, _attributes(node).get("perm", ()))
        return _Cost(written, sum(1 for output in node.output if output), 1, extra)

    def _group(
        self, root: str, tensors: Sequence[str], layouts: dict[str, Layout], readers: dict[str, list[str]]
    ) -> tuple[list[_Emission], _Cost]:
        """The cheapest way that is found to make some tensors of one root."""
        best: tuple[list[_Emission], _Cost] | None = None
        for freely in (False, True):
            made: dict[str, _Emission] = {}
            cost: _Cost | None = _NOTHING
            for tensor in tensors:
                known: dict[str, tuple[_Cost, list[_Emission]] | None] = {}
                for earlier in self._before(tensor, root, layouts) if not freely or not self._is_plain(tensor, layouts) else []:
                    self._way(earlier, root, layouts, made, known, freely, readers)
                found = self._way(tensor, root, layouts, made, known, freely, readers)
                if found is None:
                    cost = None
                    break
                for emission in found[1]:
                    for name in self._tensors_of(emission):
                        made.setdefault(name, emission)
                cost = cost + found[0] if cost is not None else None
            if cost is None:
                continue
            if best is None or (cost.key < best[1].key and cost.bytes.at_most(best[1].bytes) and cost.moves <= best[1].moves):
                best = ([*{id(emission): emission for emission in made.values()}.values()], cost)
        if best is None:
            return [], _Cost(Bytes({(): 1 << 62}), 0, 0)
        return best

    def _is_plain(self, tensor: str, layouts: dict[str, Layout]) -> bool:
        """Is it its root reshaped, or does one operator make it after so many that nobody would rather follow them?"""
        moving = [sum(step.moves for step in plan) for plan in plans(layouts[tensor], _width(self.types[tensor][0]))]
        if not moving or min(moving) > 1:
            return False
        return min(moving) == 0 or len(self._before(tensor, layouts[tensor].root, layouts)) > _MOST_STEPS

    def _before(self, tensor: str, root: str, layouts: dict[str, Layout]) -> list[str]:
        """The tensors that a tensor is made of, as far back as its root, the earliest first."""
        pending, seen = [tensor], {tensor}
        while pending:
            at = self.maker[pending.pop()]
            for name in self.nodes[at].input:
                if name not in seen and name in self.maker and name != root and name in layouts and layouts[name].root == root:
                    seen.add(name)
                    pending.append(name)
        seen.remove(tensor)
        return sorted(seen, key=lambda name: self.maker[name])

    def _tensors_of(self, emission: _Emission) -> list[str]:
        if emission.node is None:
            return [emission.tensor]
        return [output for output in self.nodes[emission.node].output if output]

    def _way(
        self,
        tensor: str,
        root: str,
        layouts: dict[str, Layout],
        made: dict[str, _Emission],
        known: dict[str, tuple[_Cost, list[_Emission]] | None],
        freely: bool,
        readers: dict[str, list[str]],
    ) -> tuple[_Cost, list[_Emission]] | None:
        """How to make a tensor beside what is made already: by one plan from some tensor before it, or by its own node."""
        if tensor == root or tensor in made:
            return _NOTHING, []
        if tensor in known:
            return known[tensor]
        known[tensor] = None
        options: list[tuple[_Cost, list[_Emission]]] = []
        at = self.maker[tensor]
        node = self.nodes[at]
        layout = layouts[tensor]
        width = _width(self.types[tensor][0])
        plain = freely and self._is_plain(tensor, layouts)
        if (tensor in self.source or node.op_type == "Concat") and not plain:
            cost = self._node_cost(at)
            emitted: list[_Emission] = []
            moved = [name for name in node.input[: None if node.op_type == "Concat" else 1] if name]
            way: tuple[_Cost, list[_Emission]] | None
            for name in dict.fromkeys(moved):
                way = self._way(name, root, layouts, made, known, freely, readers)
                if way is None:
                    break
                fresh = [emission for emission in way[1] if all(emission is not other for other in emitted)]
                cost, emitted = cost + way[0], [*emitted, *fresh]
            else:
                # A runtime may take this transposition into the MatMul, which a Reshape between them prevents.
                if freely and self._is_of_matrices(node) and "MatMul" in readers.get(tensor, ()):
                    cost = _Cost(cost.bytes, cost.moves, cost.nodes - 3, cost.extra)
                options.append((cost, [*emitted, _Emission(tensor, None, (), at)]))
        if freely or layout.root not in self.types:
            for other in made:
                if other != tensor and layouts[other].same_order(layout):
                    numbers = reshape_numbers(layouts[other].shape, layout.shape)
                    if layouts[other].shape == layout.shape:
                        options.append((_NOTHING, [_Emission(tensor, other, (), None)]))
                    elif numbers is not None:
                        step = Step("Reshape", (numbers,), layout.shape)
                        options.append((_Cost(Bytes(), 0, 1), [_Emission(tensor, other, (step,), None)]))
            source = tensor
            for _ in range(0 if plain else _MOST_STEPS):
                if source == root or source not in self.source or layouts[source].root != root:
                    break
                source = self.source[source][0]
                if source != root:
                    way = self._way(source, root, layouts, made, known, freely, readers)
                    if way is None:
                        continue
                    relative = self._relative(tensor, source, layouts)
                    if relative is not None:
                        options += [
                            (way[0] + self._plan_cost(plan, width), [*way[1], _Emission(tensor, source, plan, None)])
                            for plan in plans(relative, width)
                        ]
            options += [(self._plan_cost(plan, width), [_Emission(tensor, root, plan, None)]) for plan in plans(layout, width)]
            rank = len(layout.shape)
            if rank > 1 and "MatMul" in readers.get(tensor, ()) and not plain:
                order = (*range(rank - 2), rank - 1, rank - 2)
                last = Step("Transpose", (order,), layout.shape)
                for plan in plans(layout.permute(order), width):
                    cost = self._plan_cost((*plan, last), width)
                    cost = _Cost(cost.bytes, cost.moves, cost.nodes - 3, cost.extra)
                    options.append((cost, [_Emission(tensor, root, (*plan, last), None)]))
        known[tensor] = min(options, key=lambda option: option[0].key, default=None)
        return known[tensor]

    def _plan_cost(self, plan: Plan, width: int) -> _Cost:
        moving = [step for step in plan if step.moves]
        extra = 0
        if self.slow_kernels:
            extra = sum(Bytes.of(step.shape, width).at(8) * _slowness(step.op, step.numbers[0]) for step in moving)
        return _Cost(sum((Bytes.of(step.shape, width) for step in moving), Bytes()), len(moving), len(plan), extra)

    def _is_of_matrices(self, node: Any) -> bool:
        """Does it exchange the last two axes, and no others?"""
        order = _attributes(node).get("perm", []) if node.op_type == "Transpose" else []
        rank = len(order)
        return rank > 1 and list(order) == [*range(rank - 2), rank - 1, rank - 2]

    def _choose(self) -> _Choice:
        """Moves computing before moving in those groups of elementwise nodes where this writes less."""
        chosen = self._made_for(frozenset())
        candidates = frozenset(
            at
            for at, node in enumerate(self.nodes)
            if node.op_type in _ELEMENTWISE
            and node.domain in ("", "ai.onnx")
            and node.op_type != "Identity"
            and not self._is_arithmetic(node)
            and not all(name in self.constants for name in node.input)
        )
        if not candidates:
            return chosen
        _, virtual = self._all_layouts(candidates)
        kept: frozenset[int] = frozenset()
        for group in self._groups(virtual):
            options = [frozenset(group[:count]) for count in range(len(group), 0, -1)] if len(group) <= 8 else [frozenset(group)]
            for option in options:
                tried = self._made_for(kept | option)
                better = tried.cost.key[:2] < chosen.cost.key[:2]
                if better and tried.cost.bytes.at_most(chosen.cost.bytes) and tried.cost.moves <= chosen.cost.moves:
                    kept, chosen = kept | option, tried
                    break
        return chosen

    def _groups(self, virtual: dict[int, str]) -> list[list[int]]:
        """The elementwise nodes that could be moved through, those together whose tensors are connected by moving nodes."""
        leader = {at: at for at in virtual}

        def find(at: int) -> int:
            while leader[at] != at:
                at = leader[at]
            return at

        layouts, _ = self._all_layouts(frozenset(virtual))
        of_root = {name: at for at, name in virtual.items()}
        first_reader: dict[str, int] = {}
        for at in virtual:
            for name in self.nodes[at].input:
                if name in layouts and name not in self.constants:
                    root = layouts[name].root
                    if root in of_root:
                        leader[find(at)] = find(of_root[root])
                    other = first_reader.setdefault(root, at)
                    leader[find(at)] = find(other)
        groups: dict[int, list[int]] = {}
        for at in sorted(virtual):
            groups.setdefault(find(at), []).append(at)
        return list(groups.values())

    # What is written

    def _emit(self) -> Any:
        """The model with what was chosen."""
        chosen = self.chosen
        made = _onnx.ModelProto()
        made.CopyFrom(self.before)
        self.taken = set(self.types) | set(self.maker) | set(chosen.virtual.values())
        self.taken.update(name for node in self.nodes for graph in _subgraphs(node) for name in _named_in(graph))
        self.new_constants: dict[tuple[tuple[int, ...], tuple[int, ...]], str] = {}
        self.made_before: dict[tuple[str, str, tuple[tuple[int, ...], ...]], str] = {}
        self.stand_ins: dict[str, str] = {}
        self.emitted: set[str] = set()
        nodes: list[Any] = []
        for name in [*(name for name in chosen.emissions if name not in self.maker and name not in chosen.virtual.values())]:
            self._emit_group(nodes, chosen.emissions[name])
        for at, node in enumerate(self.nodes):
            if at in chosen.virtual and at in chosen.live:
                name = chosen.virtual[at]
                copy = _onnx.NodeProto()
                copy.CopyFrom(node)
                for place, given in enumerate(node.input):
                    if given:
                        copy.input[place] = self._in_order(nodes, given, chosen.layouts[node.output[0]], chosen)
                copy.output[0] = name
                nodes.append(copy)
                self._emit_group(nodes, chosen.emissions.get(name, []))
            elif at in chosen.live:
                copy = _onnx.NodeProto()
                copy.CopyFrom(node)
                nodes.append(copy)
            for output in node.output:
                self._emit_group(nodes, chosen.emissions.get(output, []))
        self._rename(nodes)
        nodes = self._alive(_in_order(nodes))
        del made.graph.node[:]
        made.graph.node.extend(nodes)
        read = {
            name for node in nodes for name in (*node.input, *(name for graph in _subgraphs(node) for name in _read_in(graph)))
        }
        read |= set(self.outputs) | {value.name for value in self.graph.input}
        kept = [tensor for tensor in made.graph.initializer if tensor.name in read]
        if len(kept) != len(made.graph.initializer):
            del made.graph.initializer[:]
            made.graph.initializer.extend(kept)
        for (numbers, shape), name in self.new_constants.items():
            if name in read:
                tensor = _helper.make_tensor(name, _onnx.TensorProto.INT64, shape, numbers)
                if made.ir_version >= 4:
                    made.graph.initializer.append(tensor)
                else:
                    # Initializers are inputs as well there.
                    made.graph.node.insert(0, _helper.make_node("Constant", [], [name], name=f"{name}_Constant", value=tensor))
        there = {output for node in nodes for output in node.output}
        infos = [value for value in made.graph.value_info if value.name in there]
        del made.graph.value_info[:]
        made.graph.value_info.extend(infos)
        return made

    def _fresh(self, name: str) -> str:
        number, made = 1, name
        while made in self.taken:
            number, made = number + 1, f"{name}_{number}"
        self.taken.add(made)
        return made

    def _constant(self, numbers: Sequence[int], scalar: bool = False) -> str:
        key = (tuple(numbers), () if scalar else (len(numbers),))
        if key not in self.new_constants:
            self.new_constants[key] = self._fresh("numbers_of_" + "_".join(map(str, numbers[:8])).replace("-", "minus"))
        return self.new_constants[key]

    def _in_order(self, nodes: list[Any], name: str, layout: Layout, chosen: _Choice) -> str:
        """An operand of an elementwise node that is computed in the order of its root."""
        if name in self.constants:
            for op, numbers in self._constant_in_order(name, layout) or ():
                name = self._step(nodes, name, op, (numbers,), None)
            return name
        return chosen.layouts[name].root

    def _emit_group(self, nodes: list[Any], emissions: Iterable[_Emission]) -> None:
        for emission in emissions:
            if emission.node is not None:
                copy = _onnx.NodeProto()
                copy.CopyFrom(self.nodes[emission.node])
                for place, output in enumerate(copy.output):
                    # Another part of a Split may be there already, made in another way.
                    if output in self.emitted:
                        copy.output[place] = self._fresh(output)
                self.emitted.update(copy.output)
                nodes.append(copy)
            elif not emission.plan:
                assert emission.source is not None
                self.emitted.add(emission.tensor)
                self.stand_ins[emission.tensor] = emission.source
            else:
                current = emission.source
                assert current is not None
                for step in emission.plan[:-1]:
                    current = self._step(nodes, current, step.op, step.numbers, None)
                last = emission.plan[-1]
                self._step(nodes, current, last.op, last.numbers, emission.tensor)

    def _step(self, nodes: list[Any], source: str, op: str, numbers: tuple[tuple[int, ...], ...], output: str | None) -> str:
        """An operator with its constants; one that is there already is taken, if its result may have any name."""
        key = (source, op, numbers)
        if output is None:
            if key in self.made_before:
                return self.made_before[key]
            output = self._fresh(f"{source}_{op.lower()}")
        self.made_before.setdefault(key, output)
        self.emitted.add(output)
        inputs = [source]
        attributes: dict[str, Any] = {}
        if op == "Transpose":
            attributes["perm"] = list(numbers[0])
        elif op == "Gather":
            attributes["axis"] = numbers[1][0]
            inputs.append(self._constant(numbers[0]))
        elif op == "Slice":
            starts, stops, steps, axes = numbers
            ends = [-(2**31) if stop < 0 else stop for stop in stops]
            inputs += [self._constant(starts), self._constant(ends), self._constant(axes)]
            if any(step != 1 for step in steps):
                inputs.append(self._constant(steps))
        else:
            inputs.append(self._constant(numbers[0]))
        nodes.append(_helper.make_node(op, inputs, [output], name=self._fresh(f"{output}_{op}"), **attributes))
        return output

    def _rename(self, nodes: list[Any]) -> None:
        """Tensors that are others, of the same shape: read under the other's name, or the other is given this one's."""
        inside = {name for node in nodes for graph in _subgraphs(node) for name in _read_in(graph)}
        made = {output for node in nodes for output in node.output}
        fixed = set(self.outputs) | inside
        names: dict[str, str] = {}

        def final(name: str) -> str:
            while name in names:
                name = names[name]
            return name

        for tensor, source in self.stand_ins.items():
            source = final(source)
            if tensor not in fixed:
                names[tensor] = source
            elif source in made and source not in fixed:
                names[source] = tensor
                fixed.add(tensor)
            else:
                nodes.append(_helper.make_node("Identity", [source], [tensor], name=self._fresh(f"{tensor}_Identity")))
        for node in nodes:
            for place, name in enumerate(node.input):
                node.input[place] = final(name)
            for place, name in enumerate(node.output):
                node.output[place] = final(name) if final(name) in self.outputs or name in names else name

    def _alive(self, nodes: list[Any]) -> list[Any]:
        wanted = set(self.outputs)
        kept: list[Any] = []
        for node in reversed(nodes):
            if any(output in wanted for output in node.output):
                kept.insert(0, node)
                wanted.update(name for name in node.input if name)
                wanted.update(name for graph in _subgraphs(node) for name in _read_in(graph))
        return kept

    # What is said

    def _moves(self, nodes: Iterable[Any], constants: set[str]) -> list[Move]:
        """The tensors that some nodes write which move data."""
        made = []
        for node in nodes:
            if self._is_moving(node):
                for output in node.output:
                    if output:
                        elem, shape = self.types.get(output, (0, None))
                        count = Bytes.of(shape, _width(elem)) if shape is not None else Bytes()
                        text = "unknown" if shape is None else "(" + ", ".join(map(str, shape)) + ")"
                        made.append(Move(node.name, node.op_type, output, text, str(count), count))
        return made

    def _report(self) -> Report:
        before = self._alive(list(self.nodes))
        moves = self._moves(before, self.constants)
        self._add_types(self.model)
        after = self._moves(self.model.graph.node, self.constants)
        least = self._least()
        return Report(
            tuple(moves),
            tuple(least),
            tuple(after),
            (
                len([node for node in before if node.op_type != "Constant"]),
                len([node for node in self.model.graph.node if node.op_type != "Constant"]),
            ),
            tuple(self.notes),
            self.model,
        )

    def _add_types(self, model: Any) -> None:
        """The types of the tensors that the rewritten model has and the other had not."""
        self.constants.update(self.new_constants.values())
        for (numbers, sizes), name in self.new_constants.items():
            self.types[name] = (_onnx.TensorProto.INT64, tuple(map(Size, sizes)))
            self.arrays[name] = np.array(numbers, np.int64).reshape(sizes)
        for node in model.graph.node:
            if not _subgraphs(node) and _is_constant(node, self.constants):
                self.constants.update(output for output in node.output if output)
            if any(output and output not in self.types for output in node.output):
                elem, shape = self.types.get(node.input[0], (0, None))
                follow = self._follow(node, shape, elem) if shape is not None and node.op_type in _FREE | _MOVING else None
                made = follow(Layout.whole(node.input[0], shape)) if follow is not None and shape is not None else None
                if made is not None:
                    self.types[node.output[0]] = (elem, made.shape)
                elif node.op_type == "Gather" and shape is not None:
                    axis = _attributes(node)["axis"]
                    count = self.types[node.input[1]][1]
                    assert count is not None
                    self.types[node.output[0]] = (elem, shape[:axis] + count + shape[axis + 1 :])
                else:
                    self._infer(node)

    def _least(self) -> list[Need]:
        """The tensors that must be written: those that are read in another order than that of their root, and concatenations."""
        chosen = self.chosen
        layouts, virtual = chosen.layouts, chosen.virtual
        wanted: set[str] = set()
        readers: dict[str, list[str]] = {}

        def read(name: str, reader: str) -> None:
            layout = layouts.get(name)
            wanted.add(name if layout is None else layout.root)
            if name not in self.constants and reader not in readers.setdefault(name, []):
                readers[name].append(reader)

        for name in self.outputs:
            read(name, "output")
        for at in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[at]
            made = [virtual[at]] if at in virtual else [output for output in node.output if output]
            if not any(output in wanted for output in made) or self._is_arithmetic(node):
                continue
            for name in self._reads(at, virtual):
                layout = layouts.get(name)
                if at in virtual or self._is_understood(node):
                    wanted.add(name if layout is None else layout.root)
                else:
                    read(name, node.op_type)
        needs: list[tuple[Layout, str, list[str]]] = []
        for name, by in sorted(readers.items(), key=lambda entry: self.maker.get(entry[0], -1)):
            layout = layouts.get(name)
            if layout is None:
                continue
            root = self.nodes[self.maker[layout.root]] if layout.root in self.maker else None
            if layout.is_row_major and (root is None or not self._is_moving(root)):
                continue
            same = next((entry for entry in needs if entry[0].root == layout.root and entry[0].same_order(layout)), None)
            if same is not None:
                same[2].extend(reader for reader in by if reader not in same[2])
            else:
                needs.append((layout, name, list(by)))
        return [self._need(layout, name, by) for layout, name, by in needs]

    def _need(self, layout: Layout, name: str, readers: list[str]) -> Need:
        width = _width(self.types[name][0])
        count = Bytes.of(layout.shape, width)
        operators, written = self._operators(name, layout)
        reason = None
        if not written.at_most(count):
            once = any(sum(step.moves for step in plan) == 1 for plan in plans(layout, width))
            reason = (
                f"one operator would do, but onnxruntime is faster with {' and '.join(operators)}"
                if once and self.slow_kernels
                else f"no one operator of ONNX was found that does what {' and '.join(operators)} do"
            )
        shape = "(" + ", ".join(map(str, layout.shape)) + ")"
        return Need(name, layout.root, tuple(readers), shape, str(count), operators, str(written), reason, count)

    def _operators(self, name: str, layout: Layout) -> tuple[tuple[str, ...], Bytes]:
        """The operators that move data between the root of a tensor and the tensor in the rewritten graph, and what they
        write."""
        maker = {output: node for node in self.model.graph.node for output in node.output}
        operators: list[str] = []
        written = Bytes()
        pending, seen = [name], set()
        stop = {layout.root} if layout.root in self.types else set()
        root = self.nodes[self.maker[layout.root]] if layout.root in self.maker else None
        if root is not None and self._is_moving(root):
            stop = set(root.input)
        while pending:
            current = pending.pop()
            if current in seen or current not in maker or current in stop:
                continue
            seen.add(current)
            node = maker[current]
            if node.op_type in _FREE:
                pending.append(node.input[0])
            elif self._is_moving(node):
                operators.insert(0, node.op_type)
                elem, shape = self.types.get(current, (0, None))
                written += Bytes.of(shape, _width(elem)) if shape is not None else Bytes()
                pending += node.input if node.op_type == "Concat" else node.input[:1]
        return tuple(operators), written


def _slowness(op: str, order: Sequence[int]) -> int:
    """How many times longer than for the same bytes in rows onnxruntime's kernels take beyond that: measured, and rounded.

    A Transpose of single elements that moves more than one axis has a loop for each element there.
    """
    if op in ("DepthToSpace", "SpaceToDepth"):
        return 1
    if op != "Transpose" or not order or order[-1] == len(order) - 1:
        return 0
    rest = [[axis for axis in order if axis != moved] for moved in order]
    return 0 if any(left == sorted(left) for left in rest) else 7


def _followed(follow: _Follow, layout: Layout) -> Layout | None:
    """The layout that follows; None where the numbers are too large, or none that ONNX allows."""
    try:
        return follow(layout)
    except (ValueError, OverflowError, IndexError):
        return None


def _is_addressable(shape: Shape) -> bool:
    """Has it fewer elements than a 64-bit number counts, each name taken as 1, with room for what moves on it?"""
    return 0 < size_of(shape).number < 1 << 48


def _kind(elem: int) -> str:
    """NumPy's letter for a type of elements: b, i, u for what is whole, and others."""
    return str(np.dtype(_helper.tensor_dtype_to_np_dtype(elem)).kind)


def _sliced(ranges: dict[int, tuple[int, int, int]]) -> _Follow:
    return lambda layout: layout.sliced(ranges)


def _expanded(asked: tuple[Size, ...]) -> _Follow:
    def follow(layout: Layout) -> Layout | None:
        old = layout.shape
        rank = max(len(old), len(asked))
        wide = (Size(1),) * (rank - len(old)) + old
        wish = (Size(1),) * (rank - len(asked)) + asked
        return layout.expand(tuple(a if b == Size(1) else b for a, b in zip(wide, wish, strict=True)))

    return follow


def _tiled(times: Sequence[int]) -> _Follow:
    def follow(layout: Layout) -> Layout | None:
        made: Layout | None = layout
        for axis, count in enumerate(times):
            if made is not None and count != 1:
                made = made.repeated(axis, count)
        return made

    return follow


def _blocks(op: str, block: int, mode: bytes, shape: Shape) -> _Follow | None:
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


def _attributes(node: Any) -> dict[str, Any]:
    return {attribute.name: _helper.get_attribute_value(attribute) for attribute in node.attribute}


def _width(elem: int) -> int:
    """Bytes of an element; 0 for what is no tensor of whole bytes."""
    kinds = _onnx.TensorProto.DataType
    if elem not in kinds.values() or elem == kinds.Value("UNDEFINED") or kinds.Name(elem) in _NOT_BYTES:
        return 0
    try:
        return int(np.dtype(_helper.tensor_dtype_to_np_dtype(elem)).itemsize)
    except (KeyError, TypeError, ValueError):
        return 0


def _type_of(elem: int, shape: Shape | None) -> Any:
    if shape is None:
        return _helper.make_tensor_type_proto(elem, None)
    return _helper.make_tensor_type_proto(elem, [str(size) if size.names else size.number for size in shape])


def _subgraphs(node: Any) -> list[Any]:
    kinds = _onnx.AttributeProto
    graphs = [attribute.g for attribute in node.attribute if attribute.type == kinds.GRAPH]
    return graphs + [graph for attribute in node.attribute if attribute.type == kinds.GRAPHS for graph in attribute.graphs]


def _read_in(graph: Any) -> list[str]:
    """The names that a graph inside a node reads, or gives, and that may be those of a tensor outside of it."""
    names = [value.name for value in graph.output]
    for node in graph.node:
        names += [name for name in node.input if name]
        for inner in _subgraphs(node):
            names += _read_in(inner)
    return names


def _named_in(graph: Any) -> list[str]:
    """All names that a graph inside a node has for tensors."""
    names = [value.name for value in (*graph.input, *graph.initializer, *graph.output)]
    for node in graph.node:
        names += [*node.input, *node.output]
        for inner in _subgraphs(node):
            names += _named_in(inner)
    return names


def _is_constant(node: Any, constants: set[str]) -> bool:
    if node.op_type == "Constant":
        return True
    return bool(node.input) and all(name in constants for name in node.input if name)


def _with_weights(model: Any, folder: Path) -> Any:
    """The model with the weights that lie in files, in memory."""
    if all(tensor.data_location != _onnx.TensorProto.EXTERNAL for tensor in model.graph.initializer):
        return model
    made = _onnx.ModelProto()
    made.CopyFrom(model)
    data: Any = importlib.import_module("onnx.external_data_helper")
    data.load_external_data_for_model(made, str(folder))
    return made


def _without_weights(model: Any) -> Any:
    """A copy for shape inference, whose large weights are left out: they say nothing on shapes."""
    made = _onnx.ModelProto()
    made.CopyFrom(model)
    for tensor in made.graph.initializer:
        if math.prod(tensor.dims) > _LARGEST_VALUE:
            tensor.ClearField("raw_data")
    return made


def _in_order(nodes: Sequence[Any]) -> list[Any]:
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
            names = [*nodes[at].input, *(name for graph in _subgraphs(nodes[at]) for name in _read_in(graph))]
            before = [made_by[name] for name in names if name in made_by and state[made_by[name]] == 0]
            if before:
                stack += before[::-1]
            else:
                state[at] = 2
                done.append(nodes[at])
                stack.pop()
    return done
