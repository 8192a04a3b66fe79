"""What moves data in a graph, the least that would do, and what does in the rewritten graph: found, and said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .._copies import plural
from .amounts import Bytes
from .choices import Choosing
from .layouts import MOST_ELEMENTS, Layout, Size, doubts
from .plans import plans
from .protos import FREE, MOVING, attributes_of, is_constant, onnx, subgraphs, width_of
from .tensors import Tensors
from .writing import Writing


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


@dataclass(frozen=True)
class Report:
    """What moves data in a graph, the least that would do, and what does in the rewritten graph.

    `moves` are the nodes of the graph as it is and `after` those of the rewritten one, `least` the tensors that must be written.
    `notes` are sentences on what was left as it is, and `rewritten` is that graph, as an `onnx.ModelProto`. `proved` says whether
    there is no less than `least` for the computing nodes as they are: it is not known where nodes were not understood, or where
    the library left undecided whether two large tensors are the same. `checked` says whether both graphs were run, and is None
    where nobody asked.
    """

    moves: tuple[Move, ...]
    least: tuple[Need, ...]
    after: tuple[Move, ...]
    nodes: tuple[int, int]
    notes: tuple[str, ...]
    rewritten: Any = field(repr=False, compare=False)
    proved: bool = True
    checked: str | None = None

    @property
    def bytes(self) -> tuple[str, str, str]:
        """What is written as it is, at least, and in the rewritten graph."""
        return (str(total(self.moves)), str(total(self.least)), str(total(self.after)))

    def bytes_at(self, value: int = 1) -> tuple[int, int, int]:
        """The same as numbers, where each dimension with a name has this size."""
        return (total(self.moves).at(value), total(self.least).at(value), total(self.after).at(value))

    def to_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, texts and numbers, such as JSON has."""

        def rows(entries: Iterable[Move | Need]) -> list[dict[str, Any]]:
            return [{key: value for key, value in vars(entry).items() if not key.startswith("_")} for entry in entries]

        before, least, after = self.bytes
        return {
            "before": {"moves": rows(self.moves), "bytes": before, "nodes": self.nodes[0]},
            "least": {"needs": rows(self.least), "bytes": least, "proved": self.proved},
            "after": {"moves": rows(self.after), "bytes": after, "nodes": self.nodes[1]},
            "notes": list(self.notes),
            "checked": self.checked,
        }

    def __str__(self) -> str:
        lines = [
            f"as it is:  {plural(len(self.moves), 'tensor')} moved, {total(self.moves).text}",
            f"least:     {plural(len(self.least), 'tensor')}, {total(self.least).text}"
            + ("" if self.proved else ", not proved"),
            f"rewritten: {plural(len(self.after), 'tensor')}, {total(self.after).text}",
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


def total(entries: Iterable[Move | Need]) -> Bytes:
    return sum((entry._count for entry in entries), Bytes())


def made_report(model: Any, folder: Path | None, prefer: str) -> Report:
    """A model rewritten, and what is said of both."""
    before = doubts.count
    known = Tensors(model, folder)
    choosing = Choosing(known, slow_kernels=prefer == "onnxruntime")
    return _Reporting(known, choosing, Writing(known, choosing), before).report()


class _Reporting:
    def __init__(self, known: Tensors, choosing: Choosing, writing: Writing, doubts_before: int):
        self.known, self.choosing, self.writing, self.doubts = known, choosing, writing, doubts_before

    def _moves(self, nodes: Iterable[Any], constants: set[str], only: str = "") -> list[Move]:
        """The tensors that some nodes write which move data, or one of them."""
        made = []
        for node in nodes:
            if self.known.is_moving(node):
                for output in node.output:
                    if output and only in ("", output):
                        elem, shape = self.known.types.get(output, (0, None))
                        count = Bytes.of(shape, width_of(elem)) if shape is not None else Bytes()
                        text = "unknown" if shape is None else "(" + ", ".join(map(str, shape)) + ")"
                        made.append(Move(node.name, node.op_type, output, text, str(count), count))
        return made

    def report(self) -> Report:
        before = self.writing.alive(list(self.known.nodes))
        moves = self._moves(before, self.known.constants)
        self._add_types(self.writing.model)
        after = self._moves(self.writing.model.graph.node, self.known.constants)
        least = self._least()
        notes = list(self.known.notes)
        undecided = doubts.count - self.doubts
        if undecided:
            notes.append(
                f"{plural(undecided, 'comparison')} of tensors of more than {MOST_ELEMENTS} elements undecided: they count as"
                " different, so that there may be less than the least"
            )
        return Report(
            tuple(moves),
            tuple(least),
            tuple(after),
            (
                len([node for node in before if node.op_type != "Constant"]),
                len([node for node in self.writing.model.graph.node if node.op_type != "Constant"]),
            ),
            tuple(notes),
            self.writing.model,
            not undecided and not self.known.not_understood,
        )

    def _add_types(self, model: Any) -> None:
        """The types of the tensors that the rewritten model has and the other had not."""
        self.known.constants.update(self.writing.new_constants.values())
        for (numbers, sizes), name in self.writing.new_constants.items():
            self.known.types[name] = (onnx.TensorProto.INT64, tuple(map(Size, sizes)))
            self.known.arrays[name] = np.array(numbers, np.int64).reshape(sizes)
        for node in model.graph.node:
            if not subgraphs(node) and is_constant(node, self.known.constants):
                self.known.constants.update(output for output in node.output if output)
            if any(output and output not in self.known.types for output in node.output):
                elem, shape = self.known.types.get(node.input[0], (0, None))
                follow = self.known.follow(node, shape, elem) if shape is not None and node.op_type in FREE | MOVING else None
                made = follow(Layout.whole(node.input[0], shape)) if follow is not None and shape is not None else None
                if made is not None:
                    self.known.types[node.output[0]] = (elem, made.shape)
                elif node.op_type == "Gather" and shape is not None:
                    axis = attributes_of(node)["axis"]
                    count = self.known.types[node.input[1]][1]
                    assert count is not None
                    self.known.types[node.output[0]] = (elem, shape[:axis] + count + shape[axis + 1 :])
                else:
                    self.known.infer(node)

    def _least(self) -> list[Need]:
        """The tensors that must be written: those that are read in another order than that of their root, and concatenations."""
        chosen = self.choosing.chosen
        layouts, virtual = chosen.layouts, chosen.virtual
        wanted: set[str] = set()
        readers: dict[str, list[str]] = {}

        def read(name: str, reader: str) -> None:
            layout = layouts.get(name)
            wanted.add(name if layout is None else layout.root)
            if name not in self.known.constants and reader not in readers.setdefault(name, []):
                readers[name].append(reader)

        for name in self.known.outputs:
            read(name, "output")
        for at in range(len(self.known.nodes) - 1, -1, -1):
            node = self.known.nodes[at]
            made = [virtual[at]] if at in virtual else [output for output in node.output if output]
            if not any(output in wanted for output in made) or self.known.is_arithmetic(node):
                continue
            for name in self.known.reads(at):
                layout = layouts.get(name)
                if at in virtual or self.known.is_understood(node):
                    wanted.add(name if layout is None else layout.root)
                else:
                    read(name, node.op_type)
        needs: list[tuple[Layout, str, list[str]]] = []
        unknown: list[Need] = []
        for name, by in sorted(readers.items(), key=lambda entry: self.known.maker.get(entry[0], -1)):
            layout = layouts.get(name)
            if layout is None:
                unknown += self._not_known(name, by)
                continue
            root = self.known.nodes[self.known.maker[layout.root]] if layout.root in self.known.maker else None
            if layout.is_row_major and (root is None or not self.known.is_moving(root)):
                continue
            same = next((entry for entry in needs if entry[0].root == layout.root and entry[0].same_order(layout)), None)
            if same is not None:
                same[2].extend(reader for reader in by if reader not in same[2])
            else:
                needs.append((layout, name, list(by)))
        return [self._need(layout, name, by) for layout, name, by in needs] + unknown

    def _not_known(self, name: str, readers: list[str]) -> list[Need]:
        """What a moving node writes whose type or shape is not known, as it is."""
        node = self.known.nodes[self.known.maker[name]] if name in self.known.maker else None
        if node is None or not self.known.is_moving(node):
            return []
        [move] = self._moves([node], self.known.constants, name)
        return [
            Need(name, node.input[0], tuple(readers), move.shape, move.bytes, (node.op_type,), move.bytes, None, move._count)
        ]

    def _need(self, layout: Layout, name: str, readers: list[str]) -> Need:
        width = width_of(self.known.types[name][0])
        count = Bytes.of(layout.shape, width)
        operators, written = self._operators(name, layout)
        reason = None
        if not written.at_most(count):
            once = any(sum(step.moves for step in plan) == 1 for plan in plans(layout, width))
            reason = (
                f"one operator would do, but onnxruntime is faster with {' and '.join(operators)}"
                if once and self.choosing.slow_kernels
                else f"no one operator of ONNX was found that does what {' and '.join(operators)} do"
            )
        shape = "(" + ", ".join(map(str, layout.shape)) + ")"
        return Need(name, layout.root, tuple(readers), shape, str(count), operators, str(written), reason, count)

    def _operators(self, name: str, layout: Layout) -> tuple[tuple[str, ...], Bytes]:
        """The operators that move data between the root of a tensor and the tensor in the rewritten graph, and what they
        write."""
        maker = {output: node for node in self.writing.model.graph.node for output in node.output}
        operators: list[str] = []
        written = Bytes()
        pending, seen = [name], set()
        stop = {layout.root} if layout.root in self.known.types else set()
        root = self.known.nodes[self.known.maker[layout.root]] if layout.root in self.known.maker else None
        if root is not None and self.known.is_moving(root):
            stop = set(root.input)
        while pending:
            current = pending.pop()
            if current in seen or current not in maker or current in stop:
                continue
            seen.add(current)
            node = maker[current]
            if node.op_type in FREE:
                pending.append(node.input[0])
            elif self.known.is_moving(node):
                operators.insert(0, node.op_type)
                elem, shape = self.known.types.get(current, (0, None))
                written += Bytes.of(shape, width_of(elem)) if shape is not None else Bytes()
                pending += node.input if node.op_type == "Concat" else node.input[:1]
        return tuple(operators), written
