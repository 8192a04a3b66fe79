"""The stub of the native module has its docstrings, which are written in Rust: editors read the stub and not the module.

`BLESS=1 python -m pytest crates/shapetracker-py/tests/test_stub.py` writes them into the stub.
"""

import ast
import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shapetracker import _native

STUB = Path(__file__).resolve().parents[1] / "python" / "shapetracker" / "_native.pyi"

Documented = ast.ClassDef | ast.FunctionDef


def documented(body: list[ast.stmt], owner: Any) -> Iterator[tuple[Documented, str | None]]:
    """The classes and functions of a stub that the module has, with what the module says of each: of overloads the first is told, and
    of methods of Python's protocols none, since Python says the same of all."""
    before = None
    for node in body:
        if not isinstance(node, Documented):
            continue
        is_protocol = node.name.startswith("__")
        there = vars(owner).get(node.name)
        if isinstance(there, (staticmethod, classmethod)):
            there = there.__func__
        found = None if there is None or is_protocol or node.name == before else inspect.getdoc(there)
        before = node.name
        yield node, found
        if isinstance(node, ast.ClassDef) and there is not None:
            yield from documented(node.body, there)


def quoted(text: str, indent: str) -> str:
    lines = text.replace("\\", r"\\").replace('"""', r"\"\"\"").splitlines()
    end = "\n" if len(lines) > 1 or lines[0].endswith('"') else ""
    inside = "\n".join(indent + line if line and number else line for number, line in enumerate(lines))
    return f'{indent}"""{inside}{end}{indent if end else ""}"""'


def with_docstrings(stub: str) -> str:
    """The stub with the docstrings of the module, in the place of those that it has."""
    lines = stub.splitlines()
    for node, text in reversed(list(documented(ast.parse(stub).body, _native))):
        first, indent = node.body[0], " " * (node.col_offset + 4)
        is_said, is_short = ast.get_docstring(node) is not None, isinstance(first, ast.Expr) and len(node.body) == 1
        told = [] if text is None else quoted(text, indent).splitlines()
        if is_short:
            # A body that is `...` or a docstring is the last of the definition.
            header = lines[node.lineno - 1 : first.lineno]
            header[-1] = header[-1][: first.col_offset].rstrip()
            header = [line for line in header if line.strip()]
            header[-1] += ("" if told else " ...") + lines[(first.end_lineno or 0) - 1][first.end_col_offset :]
            lines[node.lineno - 1 : first.end_lineno] = header + told
        elif is_said:
            lines[first.lineno - 1 : first.end_lineno] = told
        else:
            # The line of a class has all that is before its body.
            lines[node.lineno : node.lineno] = told
    return "\n".join(lines) + "\n"


def without_docstrings(stub: str) -> str:
    """A stub's tree, of which the docstrings are gone."""
    tree = ast.parse(stub)
    for node in ast.walk(tree):
        if isinstance(node, Documented) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
    return ast.dump(tree)


def test_the_stub_says_what_the_module_says() -> None:
    stub = STUB.read_text()
    if os.environ.get("BLESS"):
        written = with_docstrings(stub)
        assert without_docstrings(written) == without_docstrings(stub)
        STUB.write_text(written)
        stub = written
    said = {}
    for node, text in documented(ast.parse(stub).body, _native):
        assert ast.get_docstring(node) == text, f"{node.name}: BLESS=1 writes what the module says into the stub"
        said[node.name] = said.get(node.name) or text
    without = [name for name, text in said.items() if not text and not name.startswith("_")]
    assert not without, f"nothing is said of {without}"
    assert len(said) > 300


def test_what_is_written_into_a_stub_is_read_back() -> None:
    text = 'One \\n "line".\n\n    >>> "indented"\n\nThe """end"""'
    assert ast.literal_eval(quoted(text, "")) == text + "\n"
    assert inspect.cleandoc(ast.literal_eval(quoted(text, "    ").strip())) == text
