"""A rewritten model beside the one that it was: by onnx's checker, and run by onnxruntime."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .protos import helper, onnx, with_weights


def check(before: Any, after: Any, folder: Path | None = None, run: bool = True) -> str:
    """Checks a rewritten model by onnx's checker, and by running both on random inputs where onnxruntime is there.

    The answer is a sentence on what was done. Raises ValueError where an output is different.
    """
    if folder is not None:
        try:
            before, after = with_weights(before, folder), with_weights(after, folder)
        except Exception as fault:  # a file is missing, or too short, or outside of the folder
            return f"checked: not at all and not run, for the weights cannot be read: {str(fault).splitlines()[0]}"
    try:
        onnx.checker.check_model(after)
    except (onnx.checker.ValidationError, ValueError) as fault:
        try:
            onnx.checker.check_model(before)
        except (onnx.checker.ValidationError, ValueError):
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


def took(before: Any, after: Any, folder: Path | None, prefer: str) -> str:
    """What onnxruntime takes for both with its optimisations: the shorter of a few runs of each, one after the other."""
    runtime: Any = importlib.import_module("onnxruntime")
    if folder is not None:
        before, after = with_weights(before, folder), with_weights(after, folder)
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
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(types[value.name]))
        shape = [extent if isinstance(extent, int) and extent > 0 else size for extent in value.shape]
        if dtype.kind == "f" or dtype.kind == "V":
            feeds[value.name] = rng.standard_normal(shape).astype(dtype)
        else:
            feeds[value.name] = rng.integers(0, 2, shape).astype(dtype)
    return feeds
