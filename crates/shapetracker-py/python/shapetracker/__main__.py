"""`python -m shapetracker` with the words of the command `shapetracker`, which it has in it, and one of its own:
`python -m shapetracker copies model.onnx`, what moves data in an ONNX graph, the least that would do, and the graph rewritten.

That is Python's and not the command's of the Rust crate, because onnx's own library reads and checks the graphs.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Sequence

from ._native import command


def _copies(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        "python -m shapetracker copies",
        description="What moves data in an ONNX graph for the sake of the layout, and the graph rewritten to the least of it.",
    )
    parser.add_argument("model", help="a file of ONNX")
    parser.add_argument("--out", metavar="FILE", help="where to write the rewritten graph, after both are run and compared")
    parser.add_argument(
        "--prefer", choices=["bytes", "onnxruntime"], default="bytes", help="what to choose by where there is a choice"
    )
    parser.add_argument("--no-run", action="store_true", help="with --out: check the graph, but run nothing")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    asked = parser.parse_args(words)
    try:
        from . import onnx

        if asked.out is None:
            report = onnx.copies(asked.model, prefer=asked.prefer)
        else:
            report = onnx.save(asked.model, asked.out, run=not asked.no_run, prefer=asked.prefer)
    except (ImportError, ValueError, OSError) as fault:
        print(fault, file=sys.stderr)
        return 1
    print(json.dumps(report.to_dict(), indent=1) if asked.json else report)
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command that the words name, and returns the exit status."""
    words = sys.argv[1:] if words is None else words
    if words[:1] == ["copies"]:
        return _copies(words[1:])
    # Python would only take a note of an interrupt, and look at it when the command has ended.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    status = command(words)
    if len(words) == 1 and words[0] in ("-h", "--help", "help"):
        print("\nFor graphs of ONNX there is another command, which is Python's: python -m shapetracker copies --help")
    return status


if __name__ == "__main__":
    sys.exit(main())
