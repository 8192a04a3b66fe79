"""Counts the operations of index code in the kernels that tinygrad lowers.

Index code is the integer arithmetic that decides which elements a kernel reads and writes: what INDEX nodes take as address
and as gate, and whatever else is computed from loop variables, sizes and constants alone (the conditions of masked
constants, for instance). Each node of a kernel's graph is one operation, however often it is used.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from tinygrad.codegen import apply_rewrites, get_rewrites_for_renderer
from tinygrad.dtype import dtypes
from tinygrad.helpers import Context
from tinygrad.renderer import Renderer
from tinygrad.uop.ops import GroupOp, Ops, UOp

#: The leaves of arithmetic that reads no memory.
LEAVES = {Ops.RANGE, Ops.SPECIAL, Ops.DEFINE_VAR, Ops.CONST, Ops.VCONST, Ops.BIND}
#: What passes on values that it does not compute.
PASSING = {Ops.CAST, Ops.VECTORIZE, Ops.GEP}
NAMES = {Ops.IDIV: "divisions", Ops.MOD: "modulos", Ops.MUL: "products", Ops.ADD: "sums"}


def index_code(sink: UOp) -> Counter[str]:
    """The operations of the index code of one kernel, by name."""
    nodes = list(sink.toposort())
    # Bottom up: does it depend on loop variables, sizes and constants alone?
    free: set[UOp] = set()
    for node in nodes:
        if node.op in LEAVES or (node.op in GroupOp.ALU | PASSING and all(source in free for source in node.src)):
            free.add(node)
    # Top down from INDEX, through arithmetic and not through what is loaded.
    feeding: set[UOp] = set()
    todo = [source for node in nodes if node.op is Ops.INDEX for source in node.src[1:]]
    while todo:
        node = todo.pop()
        if node not in feeding and node.op in GroupOp.ALU | PASSING:
            feeding.add(node)
            todo += node.src
    counted = Counter()
    for node in nodes:
        if node.op in GroupOp.ALU and (node in free or node in feeding) and dtypes.is_int(node.dtype.scalar()):
            counted[NAMES.get(node.op, node.op.name)] += 1
    return counted


def counted(kernels: list[UOp], renderer: Renderer, everything: bool) -> dict[str, Any]:
    """The index code of all kernels together in up to three ways, and for each kernel its name and its index code.

    `optimized` are the kernels as tinygrad unrolls and vectorizes them, before it replaces divisions by constants with products
    and shifts, which would hide them; `emitted` is what is written as code after that; `plain loops`, if everything is
    asked for, are the kernels without its optimizations, each index computed once.
    """
    steps = get_rewrites_for_renderer(renderer, linearizer=False)
    end = next(i for i, step in enumerate(steps) if step.name in ("decompositions", "final rewrite"))
    totals: dict[str, Counter[str]] = {"optimized": Counter(), "emitted": Counter()}
    if everything:
        totals["plain loops"] = Counter()
    names, each = [], []
    for ast in kernels:
        sink = apply_rewrites(ast, steps[:end])
        names.append(sink.arg.name)
        counts = {"optimized": index_code(sink), "emitted": index_code(apply_rewrites(sink, steps[end:]))}
        shown = sink
        if everything:
            with Context(NOOPT=1):
                shown = apply_rewrites(ast, steps[:end])
            counts["plain loops"] = index_code(shown)
        for way, count in counts.items():
            totals[way] += count
        each.append({**counts, "code": written(shown) if everything else []})
    return {"counted": totals, "names": names, "each": each}


def written(sink: UOp) -> list[str]:
    """The addresses and gates of a kernel, as text."""
    texts = []
    for node in sink.toposort():
        if node.op is Ops.INDEX:
            texts.append(" if ".join(source.render(simplify=False) for source in node.src[1:]))
    return texts
