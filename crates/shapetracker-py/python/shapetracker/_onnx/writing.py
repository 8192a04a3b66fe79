"""The model with what was chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .choices import Choice, Choosing, Emission
from .layouts import Layout
from .protos import helper, in_order, named_in, onnx, read_in, subgraphs
from .tensors import Tensors


class Writing:
    """A graph with what was chosen, and the model that is written of it."""

    def __init__(self, known: Tensors, choosing: Choosing):
        self.known, self.choosing = known, choosing
        self.model = self._emit()

    def _emit(self) -> Any:
        """The model with what was chosen."""
        chosen = self.choosing.chosen
        made = onnx.ModelProto()
        made.CopyFrom(self.known.before)
        self.taken = set(self.known.types) | set(self.known.maker) | set(chosen.virtual.values())
        self.taken.update(name for node in self.known.nodes for graph in subgraphs(node) for name in named_in(graph))
        self.new_constants: dict[tuple[tuple[int, ...], tuple[int, ...]], str] = {}
        self.made_before: dict[tuple[str, str, tuple[tuple[int, ...], ...]], str] = {}
        self.stand_ins: dict[str, str] = {}
        self.emitted: set[str] = set()
        nodes: list[Any] = []
        for name in [
            *(name for name in chosen.emissions if name not in self.known.maker and name not in chosen.virtual.values())
        ]:
            self._emit_group(nodes, chosen.emissions[name])
        for at, node in enumerate(self.known.nodes):
            if at in chosen.virtual and at in chosen.live:
                name = chosen.virtual[at]
                copy = onnx.NodeProto()
                copy.CopyFrom(node)
                for place, given in enumerate(node.input):
                    if given:
                        copy.input[place] = self._operand_in_order(nodes, given, chosen.layouts[node.output[0]], chosen)
                copy.output[0] = name
                nodes.append(copy)
                self._emit_group(nodes, chosen.emissions.get(name, []))
            elif at in chosen.live:
                copy = onnx.NodeProto()
                copy.CopyFrom(node)
                nodes.append(copy)
            for output in node.output:
                self._emit_group(nodes, chosen.emissions.get(output, []))
        self._rename(nodes)
        nodes = self.alive(in_order(nodes))
        del made.graph.node[:]
        made.graph.node.extend(nodes)
        read = {
            name for node in nodes for name in (*node.input, *(name for graph in subgraphs(node) for name in read_in(graph)))
        }
        read |= set(self.known.outputs) | {value.name for value in self.known.graph.input}
        kept = [tensor for tensor in made.graph.initializer if tensor.name in read]
        if len(kept) != len(made.graph.initializer):
            del made.graph.initializer[:]
            made.graph.initializer.extend(kept)
        for (numbers, shape), name in self.new_constants.items():
            if name in read:
                tensor = helper.make_tensor(name, onnx.TensorProto.INT64, shape, numbers)
                if made.ir_version >= 4:
                    made.graph.initializer.append(tensor)
                else:
                    # Initializers are inputs as well there.
                    made.graph.node.insert(0, helper.make_node("Constant", [], [name], name=f"{name}_Constant", value=tensor))
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

    def _operand_in_order(self, nodes: list[Any], name: str, layout: Layout, chosen: Choice) -> str:
        """An operand of an elementwise node that is computed in the order of its root."""
        if name in self.known.constants:
            for op, numbers in self.choosing.constant_in_order(name, layout) or ():
                name = self._step(nodes, name, op, (numbers,), None)
            return name
        return chosen.layouts[name].root

    def _emit_group(self, nodes: list[Any], emissions: Iterable[Emission]) -> None:
        for emission in emissions:
            if emission.node is not None:
                copy = onnx.NodeProto()
                copy.CopyFrom(self.known.nodes[emission.node])
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
        nodes.append(helper.make_node(op, inputs, [output], name=self._fresh(f"{output}_{op}"), **attributes))
        return output

    def _rename(self, nodes: list[Any]) -> None:
        """Tensors that are others, of the same shape: read under the other's name, or the other is given this one's."""
        inside = {name for node in nodes for graph in subgraphs(node) for name in read_in(graph)}
        made = {output for node in nodes for output in node.output}
        fixed = set(self.known.outputs) | inside
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
                nodes.append(helper.make_node("Identity", [source], [tensor], name=self._fresh(f"{tensor}_Identity")))
        for node in nodes:
            for place, name in enumerate(node.input):
                node.input[place] = final(name)
            for place, name in enumerate(node.output):
                node.output[place] = final(name) if final(name) in self.known.outputs or name in names else name

    def alive(self, nodes: list[Any]) -> list[Any]:
        wanted = set(self.known.outputs)
        kept: list[Any] = []
        for node in reversed(nodes):
            if any(output in wanted for output in node.output):
                kept.insert(0, node)
                wanted.update(name for name in node.input if name)
                wanted.update(name for graph in subgraphs(node) for name in read_in(graph))
        return kept
