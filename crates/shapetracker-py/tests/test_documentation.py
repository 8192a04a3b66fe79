"""Every Python session that the documentation shows runs, and prints what it says there."""

import doctest
from pathlib import Path

import pytest

import shapetracker
from shapetracker.compat.tinygrad import uop

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
TEXTS = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(HERE.glob("*.md")), *sorted(HERE.glob("*/README.md"))]


def sessions(text: str) -> list[tuple[int, str]]:
    """The fenced blocks that begin with a prompt, each with the number of its first line."""
    found, start = [], None
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("```"):
            if start is not None and start < number and lines[start].startswith(">>> "):
                found.append((start, "\n".join(lines[start:number]) + "\n"))
            start = number + 1 if start is None else None
    return found


# Pages whose sessions go on from one to the next, as somebody types who reads them from the beginning.
CONTINUED = {"twenty-questions.md"}


def sessions_of(path: Path) -> list[tuple[int, str]]:
    found = sessions(path.read_text())
    return [(found[0][0], "\n".join(text for _, text in found))] if path.name in CONTINUED else found


SESSIONS = [(path, line, text) for path in TEXTS if path.exists() for line, text in sessions_of(path)]


@pytest.mark.parametrize("path, line, text", SESSIONS, ids=[f"{path.name}:{line}" for path, line, _ in SESSIONS])
def test_sessions_print_what_they_show(path: Path, line: int, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "import tinygrad" not in text:
        # As in a program that has not imported it: another test may have.
        monkeypatch.setattr(uop, "loaded", lambda: None)
    for library in ["numpy", "torch", "tinygrad", "jax", "dask", "zarr", "xarray", "onnx"]:
        if f"import {library}" in text or f"import shapetracker.{library}" in text:
            pytest.importorskip(library)
    test = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), line)
    printed: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    runner.run(test, out=printed.append)
    assert not printed, "".join(printed)


def test_there_are_sessions() -> None:
    assert SESSIONS


def test_what_the_package_says_of_itself_is_so() -> None:
    assert doctest.testmod(shapetracker).failed == 0


def test_everything_is_documented() -> None:
    for name in shapetracker.__all__:
        thing = getattr(shapetracker, name)
        assert thing.__doc__, name
        if isinstance(thing, type):
            for attribute, value in vars(thing).items():
                if not attribute.startswith("_") and callable(value):
                    assert value.__doc__, f"{name}.{attribute}"
