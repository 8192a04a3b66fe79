"""What the watchers of PyTorch and NumPy share: copies, what becomes of them in words, and reports as text, data and a page."""

from __future__ import annotations

import html
import linecache
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, TypeAlias

from ._native import ShapeTracker

__all__ = ["AVOIDABLE", "VERDICTS", "Copy", "Line", "Reporting", "Ways"]

# What each verdict says, in the order in which a report counts them.
VERDICTS = {
    "not needed": "every reader takes the strides of what was there",
    "copied again": "all that reads it are copies, and one pass does both",
    "round trip": "together with the copies before it, every element is back where it was",
    "needed": "a reader asks for elements in an order that no strides of what was there have",
    "for the kernel": "a reader could be given strides, but its kernel would copy them itself",
    "guard": "one of the two is written later, and the copy keeps them apart",
    "gather": "the indices are data",
    "output": "nothing read it while it was watched",
    "unknown": "it is not known what a reader takes",
}
AVOIDABLE = ("not needed", "copied again", "round trip")


@dataclass(frozen=True)
class Line:
    """A line of a program."""

    file: str
    number: int
    function: str

    @property
    def text(self) -> str:
        """What stands there, where that is known."""
        return linecache.getline(self.file, self.number).strip()

    def __str__(self) -> str:
        # Generated code has a text between angle brackets for a file.
        file = self.file.partition(">")[0] + ">" if self.file.startswith("<") else os.path.basename(self.file)
        return f"{file}:{self.number}"


# Where a frame stands: its code, and the instruction there. Its line is found when somebody asks.
Place: TypeAlias = tuple[CodeType, int]


class Ways:
    """Which frames are the user's: those outside of some folders and of Python's own library.

    `generated` says of the frame of a code that is in no file which lines of the user each of its lines stands for; None where it is
    no code of its kind.
    """

    def __init__(
        self, *folders: str, generated: Callable[[FrameType], Callable[[int], tuple[Line, ...]] | None] | None = None
    ) -> None:
        paths = sysconfig.get_paths()
        self._library = tuple({paths["stdlib"] + os.sep, paths["platstdlib"] + os.sep})
        self._packages = tuple({paths["purelib"] + os.sep, paths["platlib"] + os.sep, f"{os.sep}site-packages{os.sep}"})
        self._folders = (os.path.dirname(__file__) + os.sep, *(folder + os.sep for folder in folders), "<frozen ")
        self._generated = generated
        self._behind: dict[int, Callable[[int], tuple[Line, ...]]] = {}
        # By the identity of the code, for its hash is computed anew each time; the code is kept, so that no other has it.
        self._known: dict[int, bool] = {}
        self._codes: list[CodeType] = []
        self._lines: dict[tuple[int, int], tuple[Line, ...]] = {}

    def _is_users(self, frame: FrameType) -> bool:
        code = frame.f_code
        if len(self._codes) > 100_000:
            for known_codes in (self._known, self._codes, self._behind, self._lines):
                known_codes.clear()
        known = self._is_users_file(code.co_filename)
        if known and code.co_filename.startswith("<") and self._generated is not None:
            behind = self._generated(frame)
            if behind is not None:
                self._behind[id(code)] = behind
        self._codes.append(code)
        self._known[id(code)] = known
        return known

    def _is_users_file(self, name: str) -> bool:
        return not (
            name.startswith(self._folders)
            or (name.startswith(self._library) and not any(part in name for part in self._packages))
        )

    def innermost(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of the user, from `frame` outwards."""
        known = self._known
        while frame is not None:
            users = known.get(id(frame.f_code))
            if users if users is not None else self._is_users(frame):
                return frame
            frame = frame.f_back
        return None

    def all(self, frame: FrameType | None) -> list[Place]:
        """All frames of the user, innermost first."""
        found = []
        while (frame := self.innermost(frame)) is not None:
            found.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        return found

    def lines(self, place: Place) -> tuple[Line, ...]:
        """The line of a place; the lines of all frames that it stands for, innermost first, where its code was generated."""
        code, instruction = place
        key = (id(code), instruction)
        known = self._lines.get(key)
        if known is None:
            number = next(
                (line for start, end, line in code.co_lines() if start <= instruction < end and line is not None),
                code.co_firstlineno,
            )
            behind = self._behind.get(id(code))
            lines = () if behind is None else tuple(line for line in behind(number) if self._is_users_file(line.file))
            known = lines or (Line(code.co_filename, number, getattr(code, "co_qualname", code.co_name)),)
            if id(code) in self._known:
                self._lines[key] = known
        return known

    def line_of(self, frame: FrameType) -> Line:
        """The innermost line of a frame."""
        return self.lines((frame.f_code, frame.f_lasti))[0]


NOWHERE = Line("?", 0, "?")


@dataclass(eq=False)
class Copy:
    """A copy for the sake of a layout.

    `shape`, `strides` and `offset` are those of what was read, in elements; `made` the strides of what came of it; `bytes` what
    was written, and `seconds` the time that it took while it was watched. `verdict` is one of those that `VERDICTS` lists, `reason` a
    sentence, and `evidence` the same as data: the reader, its line and shape, the axes, two elements. `chain` are the numbers of the
    copies of copies that end with this one, and `tracker` where each place of its memory came from: a position in the memory at the
    beginning of the chain.
    """

    number: int
    op: str
    frames: tuple[Line, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    made: tuple[int, ...]
    dtype: str
    bytes: int
    seconds: float
    roots: tuple[str, ...] = ()
    chain: tuple[int, ...] = ()
    tracker: ShapeTracker[int] | None = None
    backward: str | None = None
    verdict: str = "unknown"
    reason: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)
    instead: str | None = None
    least_bytes: int = 0
    kept: bool = False

    @property
    def line(self) -> Line:
        """The innermost line of the user's program."""
        return self.frames[0] if self.frames else NOWHERE

    @property
    def avoidable(self) -> bool:
        """Is nothing lost without it?"""
        return self.verdict in AVOIDABLE

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "number": self.number,
            "op": self.op,
            "line": str(self.line),
            "text": self.line.text,
            "frames": [{"file": line.file, "line": line.number, "function": line.function} for line in self.frames],
            "shape": list(self.shape),
            "strides": list(self.strides),
            "offset": self.offset,
            "made_strides": list(self.made),
            "dtype": self.dtype,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "roots": list(self.roots),
            "chain": list(self.chain),
            "tracker": None if self.tracker is None else str(self.tracker),
            "backward_of": self.backward,
            "verdict": self.verdict,
            "reason": self.reason,
            "evidence": self.evidence,
            "instead": self.instead,
            "least_bytes": self.least_bytes,
            "kept": self.kept,
        }


def mib(count: int) -> str:
    if count < 1024:
        return f"{count} bytes"
    return f"{count / 2**10:.1f} KiB" if count < 2**20 else f"{count / 2**20:.1f} MiB"


def plural(count: int, word: str) -> str:
    return f"{count} {word if count == 1 else word[:-1] + 'ies' if word.endswith('y') else word + 's'}"


class Reporting:
    """A report of copies: text, data, a page."""

    copies: Sequence[Copy]
    operations: int = 0
    seconds: float = 0.0
    notes: Sequence[str] = ()

    @property
    def bytes(self) -> int:
        """What all copies wrote."""
        return sum(copy.bytes for copy in self.copies)

    @property
    def least(self) -> tuple[int, int]:
        """How many passes would do, and how many bytes they would write: without the copies that can be avoided."""
        kept = [copy for copy in self.copies if not copy.avoidable]
        return len(kept), sum(copy.least_bytes for copy in kept)

    def by_line(self) -> list[list[Copy]]:
        """The copies by line, operation and verdict, those that write the most first."""
        groups: dict[tuple[Line, str, str], list[Copy]] = {}
        for copy in self.copies:
            groups.setdefault((copy.line, copy.op, copy.verdict), []).append(copy)
        return sorted(groups.values(), key=lambda group: (not group[0].avoidable, -sum(copy.bytes for copy in group)))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, which `json.dumps` takes."""
        passes, least = self.least
        return {
            "operations": self.operations,
            "seconds": self.seconds,
            "bytes": self.bytes,
            "least": {"passes": passes, "bytes": least},
            "copies": [copy.to_dict() for copy in self.copies],
            "notes": list(self.notes),
        }

    def _head(self) -> list[str]:
        spare = [copy for copy in self.copies if copy.avoidable]
        passes, least = self.least
        watched = f" in {plural(self.operations, 'operation')}" if self.operations else ""
        lines = [f"{plural(len(self.copies), 'copy')} for the layout{watched}: {mib(self.bytes)}"]
        if self.copies:
            lines.append(
                f"{len(spare)} can be avoided, {mib(sum(copy.bytes for copy in spare))}; {plural(passes, 'pass').replace('passs', 'passes')}"
                f" and {mib(least)} are enough"
            )
        return lines

    def __str__(self) -> str:
        return self._text(False)

    def _text(self, colour: bool) -> str:
        lines = self._head()
        for group in self.by_line():
            first = group[0]
            verdict = first.verdict.upper()
            if colour:
                verdict = f"\x1b[{'33' if first.avoidable else '2'}m{verdict}\x1b[0m"
            size = mib(sum(copy.bytes for copy in group))
            behind = f"  in the backward of {first.backward}" if first.backward else ""
            lines += ["", f"{len(group)} x {first.line}  {first.op}  {size}  {verdict}{behind}"]
            if first.line.text:
                lines.append(f"    {first.line.text}")
            lines.append(f"    shape {first.shape} strides {first.strides} -> strides {first.made}")
            lines += [f"    {line}" for line in first.reason.splitlines()]
            if first.instead:
                lines.append(f"    instead: {first.instead}")
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)

    def print(self) -> None:
        """The report on the standard output, in colours where that is a terminal."""
        print(self._text(sys.stdout.isatty() and "NO_COLOR" not in os.environ))

    def html(self) -> str:
        """A page for a browser, as one text that needs no other file: a table by line, and pictures of the chains."""
        rows = []
        for group in self.by_line():
            first = group[0]
            numbers: Iterable[str] = (
                str(len(group)),
                str(first.line),
                first.op,
                mib(sum(copy.bytes for copy in group)),
                first.verdict,
            )
            cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in numbers)
            shapes = f"shape {first.shape} strides {first.strides} -&gt; strides {first.made}"
            instead = f"<p>instead: <code>{html.escape(first.instead)}</code></p>" if first.instead else ""
            picture = "" if first.tracker is None else _picture(first.tracker)
            rows.append(
                f'<tr class="{"spare" if first.avoidable else "kept"}">{cells}</tr><tr><td></td><td colspan="4">'
                f"<pre>{html.escape(first.line.text)}</pre><p>{shapes}</p>"
                f"<p>{html.escape(first.reason)}</p>{instead}{picture}</td></tr>"
            )
        head = "".join(f"<p>{html.escape(line)}</p>" for line in [*self._head(), *self.notes])
        return (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Copies</title><style>'
            "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}table{border-collapse:collapse;width:100%}"
            "td,th{text-align:left;vertical-align:top;padding:.3em .6em}tr.spare td,tr.kept td{border-top:1px solid #8888}"
            "tr.spare td:last-child{font-weight:bold}pre{margin:0}svg{max-width:100%;height:auto}:root{color-scheme:light dark}"
            f"</style></head><body><h1>Copies</h1>{head}<table><thead><tr><th>copies</th><th>line</th><th>operation</th>"
            f"<th>written</th><th>verdict</th></tr></thead><tbody>{''.join(rows)}</tbody></table></body></html>"
        )


def _picture(tracker: ShapeTracker[int]) -> str:
    try:
        return f"<details><summary>where its elements came from</summary>{tracker.svg()}</details>"
    except (ValueError, OverflowError):
        return ""
