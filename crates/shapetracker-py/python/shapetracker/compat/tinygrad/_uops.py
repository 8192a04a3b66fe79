"""Index expressions as tinygrad's own graph, and tinygrad's indices as arguments of them.

Two operations differ. tinygrad's division and remainder round towards zero, this package's down: numerators that may be
negative are shifted by a multiple of the divisor. And a condition `x == c` is written as two bounds: one of tinygrad's rules
for loads takes `c == range` for a gather and drops the condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shapetracker import Expr, ShapeTracker

from ._classes import index_nodes, pair_nodes
from ._genuine import Tinygrad

__all__ = ["Writer", "indexed", "indexed_by_names", "indices"]

# Nodes, and the places of an address and its condition among them.
_Pair = tuple[list[tuple[Any, ...]], int, int]

_INT32 = 2**31


def indexed(tg: Tinygrad, tracker: ShapeTracker, idxs: Iterable[Any] | None, vexpr: Any | None) -> tuple[Any, Any]:
    """The address of an element of a tracker over tinygrad's indices, and the condition that it has one."""
    leaves = _indices(tg, tracker.shape, idxs)
    if _composed(tg, leaves):
        code = tracker.index_expr()
        found = _substituted(tg, (code.index, code.valid), leaves)
        if found is not None:
            return _written(tg, *found, vexpr)
    return _written(tg, index_nodes(tracker), leaves, vexpr)


def indexed_by_names(
    tg: Tinygrad,
    shape: Sequence[Any],
    code: tuple[Expr, Expr],
    idxs: Iterable[Any] | None,
    vexpr: Any | None,
    names: Mapping[str, Any],
) -> tuple[Any, Any]:
    """The same for an address and a condition over idx0, idx1, .. and names of sizes, each of which is a node."""
    leaves = _indices(tg, shape, idxs)
    found = _substituted(tg, code, leaves) if _composed(tg, leaves) else None
    nodes, leaves = (pair_nodes(*code), leaves) if found is None else found
    return _written(tg, nodes, {**names, **leaves}, vexpr)


def indices(tg: Tinygrad, shape: Sequence[Any], idxs: Iterable[Any] | None) -> list[Any]:
    """The nodes of an element's index: those that are given, or one range an axis."""
    if idxs is None:
        idxs = [tg.UOp.range(tg.dtypes.int, size, axis) for axis, size in enumerate(shape)]
    given = [_node(tg, value) for value in idxs]
    if len(given) != len(shape):
        raise ValueError(f"to_indexed_uops: takes one index an axis: there are {len(shape)}, not {len(given)}")
    return given


def _indices(tg: Tinygrad, shape: Sequence[Any], idxs: Iterable[Any] | None) -> dict[str, Any]:
    return {f"idx{axis}": uop for axis, uop in enumerate(indices(tg, shape, idxs))}


def _composed(tg: Tinygrad, leaves: Mapping[str, Any]) -> bool:
    ops = tg.Ops
    return any(uop.op in (ops.CONST, ops.ADD, ops.MUL, ops.IDIV, ops.MOD) for uop in leaves.values())


def _substituted(
    tg: Tinygrad, code: tuple[Expr, Expr], leaves: Mapping[str, Any]
) -> tuple[_Pair, dict[str, Any]] | None:
    """The nodes over what the indices are made of, which shows more than their ranges; None where it shows less."""
    read = _Reader(tg)
    values = {name: read(uop) for name, uop in leaves.items()}
    try:
        index, valid = (expr.substitute(**values) for expr in code)
    except ValueError:
        # By the ranges of its leaves an index reaches out of its axis, which it does not.
        return None
    return pair_nodes(index, valid), read.leaves


def _written(tg: Tinygrad, pair: _Pair, leaves: Mapping[str, Any], vexpr: Any | None) -> tuple[Any, Any]:
    nodes, *places = pair
    write = Writer(tg, leaves)
    made, holds = write(nodes, *places)
    if vexpr is not None and vexpr is not True:
        holds = _node(tg, vexpr) if holds.op is tg.Ops.CONST and holds.arg else holds & vexpr
    return write.wide(made, holds)


def _node(tg: Tinygrad, value: Any) -> Any:
    return value if isinstance(value, tg.UOp) else tg.ops.sint_to_uop(value)


class _Reader:
    """tinygrad's integers as expressions; what is no sum, product or quotient by a number is a variable with its range."""

    def __init__(self, tg: Tinygrad) -> None:
        self.leaves: dict[str, Any] = {}
        self._tg = tg
        self._read: dict[Any, Expr | int] = {}

    def __call__(self, uop: Any) -> Expr | int:
        ops = self._tg.Ops
        for node in uop.toposort():
            if node in self._read:
                continue
            args = [self._read.get(operand, 0) for operand in node.src]
            value: Any
            if node.op is ops.CONST:
                value = int(node.arg)
            elif node.op is ops.ADD:
                value = args[0] + args[1]
            elif node.op is ops.MUL:
                value = args[0] * args[1]
            elif node.op in (ops.IDIV, ops.MOD) and node.src[0].vmin >= 0 and node.src[1].vmin > 0:
                value = args[0] // args[1] if node.op is ops.IDIV else args[0] % args[1]
            else:
                name = f"leaf{len(self.leaves)}"
                self.leaves[name] = node
                ranges: dict[str, Any] = {name: range(int(node.vmin), int(node.vmax) + 1)}
                value = Expr(name, **ranges)
            self._read[node] = value
        return self._read[uop]


class Writer:
    """Expressions as nodes of tinygrad's graph, over nodes for the variables."""

    def __init__(self, tg: Tinygrad, leaves: Mapping[str, Any]) -> None:
        self._tg = tg
        self._leaves = leaves
        self._wide = False

    def __call__(self, nodes: Iterable[tuple[Any, ...]], *places: int) -> list[Any]:
        """The nodes with the values of some expressions, given as their nodes and the places of theirs."""
        made: list[Any] = []
        for kind, *operands in nodes:
            made.append(self._node(kind, operands, made))
        return [made[place] for place in places]

    def _node(self, kind: str, operands: list[Any], made: list[Any]) -> Any:
        if kind == "int":
            return self._const(operands[0])
        if kind == "bool":
            return self._tg.UOp.const(self._tg.dtypes.bool, operands[0])
        if kind == "variable":
            return self._leaves[operands[0]]
        if kind == "within":
            value, begin, end = made[operands[0]], *operands[1:]
            return self._both(self._at_least(value, begin), self._below(value, end))
        return self._operation(kind, *(made[operand] for operand in operands))

    def _operation(self, kind: str, *args: Any) -> Any:
        ops, a, b = self._tg.Ops, args[0], args[-1]
        match kind:
            case "+":
                return self._alu(ops.ADD, a, b)
            case "-":
                return self._alu(ops.ADD, a, self._negative(b))
            case "*":
                return self._alu(ops.MUL, a, b)
            case "//" | "%":
                return self._divided(kind, a, b)
            case "<" | ">":
                return self._less(*(args if kind == "<" else args[::-1]))
            case "<=" | ">=":
                return self._less(*(args if kind == ">=" else args[::-1])).logical_not()
            case "==":
                return self._both(self._at_most(a, b), self._at_most(b, a))
            case "!=":
                return self._alu(ops.CMPNE, a, b)
            case "and":
                return self._both(a, b)
            case "or":
                return self._alu(ops.OR, a, b)
            case "not":
                return a.logical_not()
            case "min":
                return a.minimum(b)
            case "max":
                return a.maximum(b)
            case "if":
                return args[0].where(args[1], args[2])
        raise ValueError(f"to_indexed_uops: tinygrad has nothing for {kind!r}")

    def _const(self, value: int) -> Any:
        return self._tg.UOp.const(self._tg.dtypes.int, value)

    def _alu(self, op: Any, a: Any, b: Any) -> Any:
        made = a.alu(op, b)
        self._wide |= not (-_INT32 <= made.vmin and made.vmax < _INT32)
        return made

    def _negative(self, a: Any) -> Any:
        ops = self._tg.Ops
        if a.op is ops.CONST:
            return self._const(-a.arg)
        if a.op is ops.MUL and a.src[1].op is ops.CONST:
            return self._alu(ops.MUL, a.src[0], self._const(-a.src[1].arg))
        return self._alu(ops.MUL, a, self._const(-1))

    def _divided(self, kind: str, a: Any, b: Any) -> Any:
        """A quotient or remainder that rounds down: tinygrad's rounds towards zero, which is the same from 0 up."""
        ops = self._tg.Ops
        op = ops.IDIV if kind == "//" else ops.MOD
        if a.vmin >= 0:
            return self._alu(op, a, b)
        if b.op is not ops.CONST:
            # The remainder from 0 up, and what is left is a multiple of the divisor, which is positive.
            rest = self._alu(ops.MOD, self._alu(ops.ADD, self._alu(ops.MOD, a, b), b), b)
            return rest if op is ops.MOD else self._alu(op, self._alu(ops.ADD, a, self._negative(rest)), b)
        divisor = b.arg
        shift = -(a.vmin // divisor)
        quotient = self._alu(op, self._alu(ops.ADD, a, self._const(shift * divisor)), b)
        return quotient if op is ops.MOD else self._alu(ops.ADD, quotient, self._const(-shift))

    def _less(self, a: Any, b: Any) -> Any:
        """`a < b` with a number on the right, where unrolled loops add numbers: tinygrad moves those over, and unrolled
        copies share the rest."""
        ops = self._tg.Ops
        if ops.CONST not in (a.op, b.op):
            a, b = self._alu(ops.ADD, a, self._negative(b)), self._const(0)
        return self._alu(ops.CMPLT, a, b)

    def _below(self, a: Any, end: int) -> Any:
        return None if a.vmax < end else self._alu(self._tg.Ops.CMPLT, a, self._const(end))

    def _at_least(self, a: Any, begin: int) -> Any:
        return None if begin <= a.vmin else self._alu(self._tg.Ops.CMPLT, a, self._const(begin)).logical_not()

    def _at_most(self, a: Any, b: Any) -> Any:
        return None if a.vmax <= b.vmin else self._less(b, a).logical_not()

    def _both(self, a: Any, b: Any) -> Any:
        """Both conditions; one that is None holds anyway."""
        if a is None or b is None:
            given = a if b is None else b
            return self._tg.UOp.const(self._tg.dtypes.bool, True) if given is None else given
        return a & b

    def wide(self, index: Any, valid: Any) -> tuple[Any, Any]:
        """The pair with 64 bits wherever 32 would be too few, by tinygrad's own rules for that."""
        if not self._wide:
            return index, valid
        index, valid = self._tg.ops.graph_rewrite(self._tg.UOp.sink(index, valid), self._tg.shapetracker.pm_upcast).src
        return index, valid
