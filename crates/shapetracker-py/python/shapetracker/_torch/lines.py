"""The user's lines behind code that PyTorch generated for a graph, such as that of an exported program."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Any

from .._copies import Line

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<number>\d+), in (?P<function>\S+)')


def generated(frame: FrameType) -> Callable[[int], tuple[Line, ...]] | None:
    """For the frame of a graph's code: which lines of the user each of its lines stands for, innermost first. None for others."""
    module: Any = frame.f_locals.get("self")
    if not isinstance(module, import_module("torch.fx").GraphModule):
        return None
    numbers, start = getattr(module, "_lineno_map", None), getattr(module, "_prologue_start", 0)
    if not isinstance(numbers, dict):
        return None
    nodes = [_lines(node) for node in module.graph.nodes]
    by_line = {line + start: nodes[node] for line, node in numbers.items() if node is not None and node < len(nodes)}
    return lambda number: by_line.get(number, ())


def _lines(node: Any) -> tuple[Line, ...]:
    found = [
        Line(match["file"], int(match["number"]), match["function"])
        for match in _FRAME.finditer(node.meta.get("stack_trace") or "")
    ]
    return tuple(reversed(found))
