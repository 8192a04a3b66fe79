"""`python -m shapetracker copies model.onnx`: what moves data in an ONNX graph, the least that would do, and the graph rewritten.

It is Python's and not the command's of the Rust crate, because onnx's own library reads and checks the graphs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command that the words name, and returns the exit status."""
    parser = argparse.ArgumentParser("python -m shapetracker", description="Exact tensor layouts.")
    commands = parser.add_subparsers(dest="command", required=True)
    copies = commands.add_parser(
        "copies",
        help="what moves data in an ONNX graph for the sake of the layout, and the graph rewritten to the least of it",
    )
    copies.add_argument("model", help="a file of ONNX")
    copies.add_argument("--out", metavar="FILE", help="where to write the rewritten graph, after both are run and compared")
    copies.add_argument(
        "--prefer", choices=["bytes", "onnxruntime"], default="bytes", help="what to choose by where there is a choice"
    )
    copies.add_argument("--no-run", action="store_true", help="with --out: check the graph, but run nothing")
    copies.add_argument("--json", action="store_true", help="print the report as JSON")
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


if __name__ == "__main__":
    sys.exit(main())
