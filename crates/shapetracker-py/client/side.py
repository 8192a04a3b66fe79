"""One program on one side, in a process of its own: what compare.py starts.

    python side.py --on genuine|shapetracker --program NAME --to FILE

writes the results to FILE.npz and what was counted and timed to FILE.json.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import time
from pathlib import Path
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", required=True, choices=["genuine", "shapetracker"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--to", required=True, type=Path)
    parser.add_argument("--how", default="count", choices=["count", "count everything", "time"], help="what is asked of a graph")
    arguments = parser.parse_args()

    if arguments.on == "shapetracker":
        from shapetracker.compat.tinygrad import install

        install()
    import programs

    program = getattr(programs, arguments.program)
    found = lowered(program, arguments.how) if program in programs.GRAPHS else run(program, arguments.to)
    found["classes"] = used_classes()
    found["fallbacks"] = fallbacks() if arguments.on == "shapetracker" else {}
    arguments.to.with_suffix(".json").write_text(json.dumps(found))


def used_classes() -> str:
    """The module of the trackers that tinygrad really has."""
    from tinygrad import Tensor

    tensor = Tensor.empty(2, 3).permute(1, 0)
    tracker = (tensor.uop if hasattr(tensor, "uop") else tensor.lazydata).st
    return type(tracker).__module__


def fallbacks() -> dict[str, int]:
    """What the installed classes left to tinygrad's own: the operation and the reason, and how often."""
    from shapetracker.compat import tinygrad

    return {f"{operation}: {reason}": times for operation, reason, times in tinygrad.fallbacks()}


def run(program: Any, to: Path) -> dict[str, Any]:
    """Runs a program and keeps its results."""
    import numpy as np
    from tinygrad.engine import realize
    from tinygrad.helpers import GlobalCounters

    names: list[str] = []
    get_runner = realize.get_runner

    def named(*arguments: Any) -> Any:
        runner = get_runner(*arguments)
        names.append(plain(runner.p.name))
        return runner

    realize.get_runner = named
    before, results = GlobalCounters.kernel_count, {}
    for name, result in program():
        results[name] = np.asarray(result if isinstance(result, np.ndarray) else result.numpy())
    np.savez(to.with_suffix(".npz"), **results)
    distinct = len({id(runner) for runner in realize.method_cache.values()})
    return {"kernels": GlobalCounters.kernel_count - before, "distinct": distinct, "names": names}


def plain(name: str) -> str:
    """The name of a kernel, which says its axes and what was done to them, without colours and without its number."""
    return re.sub(r"n\d+$", "", re.sub(r"\x1b\[\d+m", "", name))


def lowered(graph: Any, how: str) -> dict[str, Any]:
    """Schedules the kernels of a graph, and lowers each once; nothing is compiled or run."""
    import counting
    from tinygrad import Device, Tensor, tensor
    from tinygrad.engine.realize import get_program
    from tinygrad.uop.ops import Ops

    asts: list[Any] = []
    scheduling = 0.0
    schedule_with_vars = Tensor.schedule_with_vars

    def timed(*tensors: Tensor) -> Any:
        nonlocal scheduling
        begin = time.process_time()
        scheduled = schedule_with_vars(*tensors)
        scheduling += time.process_time() - begin
        return scheduled

    Tensor.schedule_with_vars = timed
    tensor.run_schedule = lambda schedule, *_, **__: asts.extend(item.ast for item in schedule)
    renderer = Device["CPU"].renderer
    gc.collect()
    begin = time.process_time()
    graph()
    building = time.process_time() - begin - scheduling

    kernels = [ast for ast in asts if ast.op is Ops.SINK]
    distinct = list({ast.key: ast for ast in kernels}.values())
    found: dict[str, Any] = {"kernels": len(kernels), "distinct": len(distinct)}
    if how != "time":
        found |= counting.counted(distinct, renderer, everything=how == "count everything")
        found["names"] = [plain(name) for name in found["names"]]
        return found

    gc.collect()
    begin = time.process_time()
    found["names"] = [plain(get_program(ast, renderer).name) for ast in distinct]
    lowering = time.process_time() - begin
    found["seconds"] = {"building": building, "scheduling": scheduling, "lowering": lowering}
    return found


if __name__ == "__main__":
    main()
