"""What is chosen: which elementwise nodes are computed before a movement, and how each tensor that is read is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .amounts import Bytes
from .layouts import Layout, Size, size_of, stacked
from .plans import Plan, Step, axis_order, plans, reshape_numbers
from .protos import ELEMENTWISE, attributes_of, kind_of, width_of
from .tensors import Follow, Tensors, followed, is_addressable

# So many of the tensors before it are tried as what a tensor is made from, besides the first.
_MOST_STEPS = 24


@dataclass
class Emission:
    """How a tensor is made: by operators from another one, or by the node that made it."""

    tensor: str
    source: str | None
    plan: Plan
    node: int | None


@dataclass
class Cost:
    bytes: Bytes
    moves: int
    nodes: int
    # What onnxruntime's kernels take longer for than for as many bytes that are moved in rows.
    extra: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.bytes + other.bytes, self.moves + other.moves, self.nodes + other.nodes, self.extra + other.extra)

    @property
    def key(self) -> tuple[int, int, int]:
        """To compare by: bytes with some size for each name, then nodes that move data, then nodes."""
        return (self.bytes.at(8) + self.extra, self.moves, self.nodes)


_NOTHING = Cost(Bytes(), 0, 0)


@dataclass
class Choice:
    """For one choice of the elementwise nodes that are moved through: what is read, and how it is made."""

    layouts: dict[str, Layout]
    virtual: dict[int, str]
    live: set[int]
    emissions: dict[str, list[Emission]]
    cost: Cost
    readers: dict[str, list[str]]


class Choosing:
    """A graph, and the choice of what is fewest by the bytes, or by what onnxruntime's kernels take."""

    def __init__(self, known: Tensors, slow_kernels: bool):
        self.known, self.slow_kernels = known, slow_kernels
        # What follows from layouts, by their identities: most of a graph is as it was when another choice is tried.
        self._found: dict[tuple[Any, ...], Any] = {}
        self.chosen = self._choose()

    def _once(self, key: tuple[Any, ...], find: Callable[[], Any]) -> Any:
        if key not in self._found:
            self._found[key] = find()
        return self._found[key]

    def _all_layouts(self, push: frozenset[int]) -> tuple[dict[str, Layout], dict[int, str]]:
        """The layout of each tensor over its root, if computing is moved before the moving in these nodes; and their roots."""
        layouts: dict[str, Layout] = {}
        virtual: dict[int, str] = {}

        def whole(name: str) -> None:
            made = self._once(("whole", name), partial(self._whole, name))
            if made is not None:
                layouts[name] = made

        for name in self.known.types:
            if name not in self.known.maker:
                whole(name)
        for at, node in enumerate(self.known.nodes):
            for output in node.output:
                if not output:
                    continue
                made: Layout | None = None
                if output in self.known.source:
                    source, follow = self.known.source[output]
                    before = layouts.get(source)
                    made = before and self._once((output, id(before)), partial(followed, follow, before))
                elif node.op_type == "Concat" and self.known.is_moving(node) and all(name in layouts for name in node.input):
                    made = self._once(
                        (output, *map(id, self._operands(node, layouts))), partial(self._concatenated, node, layouts)
                    )
                elif at in push:
                    made = self._once(
                        ("pushed", at, *map(id, self._operands(node, layouts))), partial(self._pushed, node, layouts)
                    )
                    if made is not None:
                        virtual[at] = made.root
                if made is not None and made.shape == self.known.types[output][1]:
                    layouts[output] = made
                else:
                    virtual.pop(at, None)
                    whole(output)
            # A node that must be run for one of its outputs is run for all of them.
            if any(output in layouts and layouts[output].root == output for output in node.output):
                for output in node.output:
                    whole(output)
        return layouts, virtual

    def _whole(self, name: str) -> Layout | None:
        elem, shape = self.known.types.get(name, (0, None))
        if shape is not None and width_of(elem) and all(size.number > 0 for size in shape) and is_addressable(shape):
            return Layout.whole(name, shape)
        return None

    def _operands(self, node: Any, layouts: dict[str, Layout]) -> list[Layout | None]:
        return [layouts.get(name) for name in node.input]

    def _pushed(self, node: Any, layouts: dict[str, Layout]) -> Layout | None:
        """The layout of an elementwise node's result over what it gives if it is computed in the order of its operands' roots."""
        made = self._alike(node, layouts)
        return made and made.over(f"{node.output[0]}_in_order_of_{made.root}", made.root_shape)

    def _concatenated(self, node: Any, layouts: dict[str, Layout]) -> Layout | None:
        """The layout of a concatenation of parts of one tensor: of the nearest one that all are made of, or one before it."""
        parts = [layouts[name] for name in node.input]
        if any(part.root in self.known.constants or part.root != parts[0].root for part in parts):
            return None
        axis = attributes_of(node)["axis"] % max(1, len(parts[0].axes))
        before: list[dict[str, Layout]] = []
        for name in node.input:
            chain = [name]
            while chain[-1] in self.known.source and layouts[chain[-1]].root != chain[-1]:
                chain.append(self.known.source[chain[-1]][0])
            before.append({source: made for source in chain if (made := self._relative(name, source, layouts)) is not None})
        for source in before[0]:
            if all(source in chain for chain in before):
                made = stacked([chain[source] for chain in before], axis)
                if made is not None:
                    return layouts[source].under(made)
        return stacked(parts, axis)

    def _relative(self, tensor: str, source: str, layouts: dict[str, Layout]) -> Layout | None:
        """The layout of a tensor over one that it is made of."""
        follows: list[Follow] = []
        while tensor != source:
            tensor, follow = self.known.source[tensor]
            follows.insert(0, follow)
        made: Layout | None = Layout.whole(source, layouts[source].shape)
        for follow in follows:
            made = made and follow(made)
        return made

    def _alike(self, node: Any, layouts: dict[str, Layout]) -> Layout | None:
        """The layout that all operands of an elementwise node have over roots of one shape, constants apart."""
        moved = [name for name in node.input if name and name not in self.known.constants]
        if len(node.output) != 1 or not moved or not all(name in layouts for name in moved):
            return None
        first = layouts[moved[0]]
        if first.is_row_major or first.fill is not None or size_of(first.shape) != size_of(first.root_shape):
            return None
        target = self.known.types.get(node.output[0], (0, None))[1]
        if target != first.shape or not first.is_one_to_one or not self._is_exact(node):
            return None
        for name in moved:
            layout = layouts[name]
            if layout.shape != first.shape or not layout.same_order(first) or layout.root_shape != first.root_shape:
                return None
        for name in node.input:
            if name in self.known.constants and self.constant_in_order(name, first) is None:
                return None
        return first

    def _is_exact(self, node: Any) -> bool:
        """Is every result defined? That of a Cast of a large number to an integer is not."""
        to = attributes_of(node).get("to") if node.op_type == "Cast" else None
        return to is None or bool(kind_of(to) not in "iub" or kind_of(self.known.types[node.input[0]][0]) in "iub")

    def constant_in_order(self, name: str, layout: Layout) -> list[tuple[str, tuple[int, ...]]] | None:
        """What makes of a constant operand, broadcast with a tensor of this layout, one that is broadcast with its root."""
        shape = self.known.types.get(name, (0, None))[1]
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

    def _made_for(self, push: frozenset[int]) -> Choice:
        """What is read if computing is moved in these nodes, and the cheapest way to make it."""
        layouts, virtual = self._all_layouts(push)
        extra: set[str] = set()
        while True:
            needed, live, readers = self._demand(layouts, virtual, extra)
            emissions: dict[str, list[Emission]] = {}
            cost = _NOTHING
            more = set(extra)
            for root, tensors in needed.items():
                emissions[root], part = self._once(
                    (root, *((name, id(layouts[name]), "MatMul" in readers.get(name, ())) for name in tensors)),
                    partial(self._group, root, tensors, layouts, readers),
                )
                cost += part
                for emission in emissions[root]:
                    if emission.node is not None:
                        more.update(name for name in self.known.nodes[emission.node].input[1:] if name)
            if more == extra:
                break
            extra = more
        for at in live:
            if self.known.is_moving(self.known.nodes[at]) and at not in virtual:
                cost += self._once(("cost", at), partial(self._node_cost, at))
        return Choice(layouts, virtual, live, emissions, cost, readers)

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

        for name in self.known.outputs:
            read(name, "output")
        for name in sorted(extra):
            read(name, "a shape")
        for at in range(len(self.known.nodes) - 1, -1, -1):
            node = self.known.nodes[at]
            if at in virtual:
                if virtual[at] in wanted:
                    live.add(at)
                    for name in node.input:
                        if name:
                            wanted.add(layouts[name].root if name in layouts and name not in self.known.constants else name)
            elif any(output in wanted for output in node.output if output):
                live.add(at)
                for name in self.known.reads(at):
                    read(name, node.op_type)
        for tensors in needed.values():
            tensors.sort(key=lambda name: self.known.maker[name])
        return needed, live, readers

    def _node_cost(self, at: int) -> Cost:
        """What a node writes, if it moves data."""
        node = self.known.nodes[at]
        if not self.known.is_moving(node):
            return Cost(Bytes(), 0, 1)
        written = Bytes()
        for output in node.output:
            elem, shape = self.known.types.get(output, (0, None))
            if shape is not None:
                written += Bytes.of(shape, width_of(elem))
        extra = 0
        if self.slow_kernels:
            extra = written.at(8) * _slowness(node.op_type, attributes_of(node).get("perm", ()))
        return Cost(written, sum(1 for output in node.output if output), 1, extra)

    def _group(
        self, root: str, tensors: Sequence[str], layouts: dict[str, Layout], readers: dict[str, list[str]]
    ) -> tuple[list[Emission], Cost]:
        """The cheapest way that is found to make some tensors of one root."""
        best: tuple[list[Emission], Cost] | None = None
        for freely in (False, True):
            made: dict[str, Emission] = {}
            cost: Cost | None = _NOTHING
            for tensor in tensors:
                known: dict[str, tuple[Cost, list[Emission]] | None] = {}
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
            return [], Cost(Bytes({(): 1 << 62}), 0, 0)
        return best

    def _is_plain(self, tensor: str, layouts: dict[str, Layout]) -> bool:
        """Is it its root reshaped, or does one operator make it after so many that nobody would rather follow them?"""
        moving = [sum(step.moves for step in plan) for plan in plans(layouts[tensor], width_of(self.known.types[tensor][0]))]
        if not moving or min(moving) > 1:
            return False
        return min(moving) == 0 or len(self._before(tensor, layouts[tensor].root, layouts)) > _MOST_STEPS

    def _before(self, tensor: str, root: str, layouts: dict[str, Layout]) -> list[str]:
        """The tensors that a tensor is made of, as far back as its root, the earliest first."""
        pending, seen = [tensor], {tensor}
        while pending:
            at = self.known.maker[pending.pop()]
            for name in self.known.nodes[at].input:
                if (
                    name not in seen
                    and name in self.known.maker
                    and name != root
                    and name in layouts
                    and layouts[name].root == root
                ):
                    seen.add(name)
                    pending.append(name)
        seen.remove(tensor)
        return sorted(seen, key=lambda name: self.known.maker[name])

    def _tensors_of(self, emission: Emission) -> list[str]:
        if emission.node is None:
            return [emission.tensor]
        return [output for output in self.known.nodes[emission.node].output if output]

    def _way(
        self,
        tensor: str,
        root: str,
        layouts: dict[str, Layout],
        made: dict[str, Emission],
        known: dict[str, tuple[Cost, list[Emission]] | None],
        freely: bool,
        readers: dict[str, list[str]],
    ) -> tuple[Cost, list[Emission]] | None:
        """How to make a tensor beside what is made already: by one plan from some tensor before it, or by its own node."""
        if tensor == root or tensor in made:
            return _NOTHING, []
        if tensor in known:
            return known[tensor]
        known[tensor] = None
        options: list[tuple[Cost, list[Emission]]] = []
        at = self.known.maker[tensor]
        node = self.known.nodes[at]
        layout = layouts[tensor]
        width = width_of(self.known.types[tensor][0])
        plain = freely and self._is_plain(tensor, layouts)
        if (tensor in self.known.source or node.op_type == "Concat") and not plain:
            cost = self._once(("cost", at), partial(self._node_cost, at))
            emitted: list[Emission] = []
            moved = [name for name in node.input[: None if node.op_type == "Concat" else 1] if name]
            way: tuple[Cost, list[Emission]] | None
            for name in dict.fromkeys(moved):
                way = self._way(name, root, layouts, made, known, freely, readers)
                if way is None:
                    break
                fresh = [emission for emission in way[1] if all(emission is not other for other in emitted)]
                cost, emitted = cost + way[0], [*emitted, *fresh]
            else:
                # A runtime may take this transposition into the MatMul, which a Reshape between them prevents.
                if freely and self._is_of_matrices(node) and "MatMul" in readers.get(tensor, ()):
                    cost = Cost(cost.bytes, cost.moves, cost.nodes - 3, cost.extra)
                options.append((cost, [*emitted, Emission(tensor, None, (), at)]))
        if freely or layout.root not in self.known.types:
            for other in made:
                if other != tensor and layouts[other].same_order(layout):
                    numbers = reshape_numbers(layouts[other].shape, layout.shape)
                    if layouts[other].shape == layout.shape:
                        options.append((_NOTHING, [Emission(tensor, other, (), None)]))
                    elif numbers is not None:
                        step = Step("Reshape", (numbers,), layout.shape)
                        options.append((Cost(Bytes(), 0, 1), [Emission(tensor, other, (step,), None)]))
            source = tensor
            for _ in range(0 if plain else _MOST_STEPS):
                if source == root or source not in self.known.source or layouts[source].root != root:
                    break
                source = self.known.source[source][0]
                if source != root:
                    way = self._way(source, root, layouts, made, known, freely, readers)
                    if way is None:
                        continue
                    relative = self._relative(tensor, source, layouts)
                    if relative is not None:
                        options += [
                            (way[0] + self._plan_cost(plan, width), [*way[1], Emission(tensor, source, plan, None)])
                            for plan in plans(relative, width)
                        ]
            options += [(self._plan_cost(plan, width), [Emission(tensor, root, plan, None)]) for plan in plans(layout, width)]
            rank = len(layout.shape)
            if rank > 1 and "MatMul" in readers.get(tensor, ()) and not plain:
                order = (*range(rank - 2), rank - 1, rank - 2)
                last = Step("Transpose", (order,), layout.shape)
                for plan in plans(layout.permute(order), width):
                    cost = self._plan_cost((*plan, last), width)
                    cost = Cost(cost.bytes, cost.moves, cost.nodes - 3, cost.extra)
                    options.append((cost, [Emission(tensor, root, (*plan, last), None)]))
        known[tensor] = min(options, key=lambda option: option[0].key, default=None)
        return known[tensor]

    def _plan_cost(self, plan: Plan, width: int) -> Cost:
        moving = [step for step in plan if step.moves]
        extra = 0
        if self.slow_kernels:
            extra = sum(Bytes.of(step.shape, width).at(8) * _slowness(step.op, step.numbers[0]) for step in moving)
        return Cost(sum((Bytes.of(step.shape, width) for step in moving), Bytes()), len(moving), len(plan), extra)

    def _is_of_matrices(self, node: Any) -> bool:
        """Does it exchange the last two axes, and no others?"""
        order = attributes_of(node).get("perm", []) if node.op_type == "Transpose" else []
        rank = len(order)
        return rank > 1 and list(order) == [*range(rank - 2), rank - 1, rank - 2]

    def _choose(self) -> Choice:
        """Moves computing before moving in those groups of elementwise nodes where this writes less."""
        chosen = self._made_for(frozenset())
        candidates = frozenset(
            at
            for at, node in enumerate(self.known.nodes)
            if node.op_type in ELEMENTWISE
            and node.domain in ("", "ai.onnx")
            and node.op_type != "Identity"
            and not self.known.is_arithmetic(node)
            and not all(name in self.known.constants for name in node.input)
        )
        if not candidates:
            return chosen
        _, virtual = self._all_layouts(candidates)
        kept: frozenset[int] = frozenset()
        for group in self._groups(virtual):
            options = (
                [frozenset(group[:count]) for count in range(len(group), 0, -1)] if len(group) <= 8 else [frozenset(group)]
            )
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
            for name in self.known.nodes[at].input:
                if name in layouts and name not in self.known.constants:
                    root = layouts[name].root
                    if root in of_root:
                        leader[find(at)] = find(of_root[root])
                    other = first_reader.setdefault(root, at)
                    leader[find(at)] = find(other)
        groups: dict[int, list[int]] = {}
        for at in sorted(virtual):
            groups.setdefault(find(at), []).append(at)
        return list(groups.values())


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
