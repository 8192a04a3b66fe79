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
import os
from pathlib import Path
from typing import Any

try:
    _onnx: Any = importlib.import_module("onnx")
except ImportError as _missing:
    raise ImportError(f"shapetracker.onnx needs onnx 1.16 or later ({_missing}): pip install onnx") from _missing

from ._onnx.checks import check, took
from ._onnx.protos import read_model, with_weights
from ._onnx.report import Move, Need, Report, made_report

__all__ = ["Move", "Need", "Report", "check", "copies", "rewrite", "save"]


def copies(model: Any, *, prefer: str = "bytes") -> Report:
    """What moves data in a model (a path, or an `onnx.ModelProto`), the least that would do, and what the rewritten graph has.

    `prefer` says what the rewritten graph is chosen by: "bytes" are the fewest bytes, whatever a runtime takes for them. Some
    kernels take longer for one pass that moves single elements than for two that move rows; with "onnxruntime" those that
    onnxruntime's kernels for processors are slow at are chosen only where they replace enough. In neither are there more bytes or
    more passes than before.

    Nothing is run, and the weights are not read. Takes some milliseconds for each moving node. Raises ValueError, with a
    sentence, for a file that is no model or has another opset than those that are known.
    """
    given, folder = read_model(model)
    return _rewritten(given, folder, prefer)


def rewrite(model: Any, *, prefer: str = "bytes") -> Any:
    """The model with fewer and smaller movements, as an `onnx.ModelProto`: the same inputs, outputs and computing nodes.

    The outputs are the same to the bit, for each node that computes is given the same numbers as before; those that compute
    element by element may be given them in another order. The model itself is left as it is.
    """
    return copies(model, prefer=prefer).rewritten


def save(model: Any, out: str | os.PathLike[str], *, run: bool = True, prefer: str = "bytes") -> Report:
    """Rewrites a model into a file, and reports. The file is written after both graphs are checked, and run where onnxruntime is
    there.

    With `run=False` they are not run. What onnxruntime took for either here is told: fewer bytes are no promise of less time.
    Weights in files beside the model are left where they are if the result lies in the same folder, and otherwise written beside
    the result. Raises ValueError where the check fails, which would be a fault of this package.
    """
    given, folder = read_model(model)
    report = _rewritten(given, folder, prefer)
    made, target = report.rewritten, Path(out)
    checked = check(given, made, folder, run)
    if checked.endswith("equal to the byte"):
        checked += took(given, made, folder, prefer)
    external = [tensor for tensor in made.graph.initializer if tensor.data_location == _onnx.TensorProto.EXTERNAL]
    if external and folder is not None and target.resolve().parent != folder.resolve():
        try:
            whole = with_weights(made, folder)
        except Exception as fault:  # a file is missing, or too short, or outside of the folder
            raise ValueError(
                f"copies: the weights beside the model cannot be read, so that none can be written beside {target}:"
                f" {str(fault).splitlines()[0]}"
            ) from fault
        _onnx.save_model(whole, str(target), save_as_external_data=True, location=target.name + ".data")
    else:
        target.write_bytes(made.SerializeToString())
    return Report(**{**vars(report), "checked": checked})


def _rewritten(model: Any, folder: Path | None, prefer: str) -> Report:
    """The report on a model; where it cannot be understood because it is no valid model, a sentence of onnx's checker."""
    if prefer not in ("bytes", "onnxruntime"):
        raise ValueError(f"copies: prefer={prefer!r} is neither 'bytes' nor 'onnxruntime'")
    try:
        return made_report(model, folder, prefer)
    except Exception as fault:
        try:
            _onnx.checker.check_model(model if folder is None else with_weights(model, folder))
        except Exception as refused:  # whatever it raises
            reason = str(refused).strip().splitlines()
            raise ValueError(f"copies: onnx's checker refuses the model: {reason[0] if reason else refused!r}") from fault
        raise
