"""Which copies did a PyTorch program make for the sake of a layout, and what for?

    >>> import torch
    >>> import shapetracker.torch
    >>> x = torch.zeros(2, 3, 8, 8)
    >>> with shapetracker.torch.copies() as found:
    ...     y = torch.relu(x.permute(0, 2, 3, 1).contiguous())
    >>> [(copy.op, copy.bytes, copy.verdict) for copy in found.copies]
    [('clone', 1536, 'not needed')]
    >>> found.what_if().equal
    True

`reshape`, `contiguous`, `roll`, `pad` and `matmul` move data and say nothing. `copies` watches a program, forward and backward, and
says of every such copy on which line it was made, what came of it, and whether its readers would have done without. Shapes and
strides are enough for that, so tensors without data, on `meta` or of FakeTensorMode, are watched as well. PyTorch is not a
dependency of this package.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    torch: Any = None
else:
    try:
        import torch
    except ImportError as _missing:
        raise ImportError(
            f"shapetracker.torch needs PyTorch, of which 2.15 was tried ({_missing}): pip install torch"
        ) from _missing

from ._copies import AVOIDABLE, NOWHERE, VERDICTS, Copy, Line, Reporting, mib, plural
from ._torch.again import Dropping, Replay, WhatIf, compared, same_numbers, tensors_of
from ._torch.record import Made, Record, undisturbed
from ._torch.verdicts import Judge, data_is_missing, fake_mode
from ._torch.watch import LIMIT, Compiled, Watch, ways

__all__ = ["AVOIDABLE", "VERDICTS", "Copies", "Copy", "Line", "UnexpectedCopies", "WhatIf", "copies", "no_copies", "plan"]


class Copies(Reporting):
    """The copies of a program, which `copies` and `plan` make. `print(found)`, `found.to_dict()` and `found.html()` report them.

    `copies` are in the order of time, `operations` is how many PyTorch ran, `seconds` what the block took. `inside` says how often kernels
    copied their own operands, and how many bytes, by operator and line, where it was asked for (`deep=True`).
    """

    def __init__(self, deep: bool = False) -> None:
        self._watch: Watch | None = None
        self._deep = deep
        self._record: Record | None = None
        self._begun = self._ended = 0.0

    def __enter__(self) -> Copies:
        if self._watch is not None:
            raise RuntimeError("copies: a report is of one with block; call copies() once more for another")
        self._watch = Watch(self._deep)
        Compiled.enter()
        self._begun = time.perf_counter()
        self._watch.__enter__()
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        assert self._watch is not None
        self._watch.__exit__(kind, value, trace)
        self._ended = time.perf_counter()
        self._watch.first_compiled = Compiled.leave()
        self._watch.leave()

    def _watched(self) -> Watch:
        if self._watch is None:
            raise RuntimeError("copies: nothing was watched yet; with copies() as found: ...")
        return self._watch

    def _judged(self) -> Record:
        if self._record is not None:
            return self._record
        watch = self._watched()
        with undisturbed():
            if not self._ended:
                watch.leave()
            record = Record(watch)
            Judge(record).judge()
        if self._ended:
            self._record = record
        return record

    @property
    def copies(self) -> list[Copy]:  # type: ignore[override]
        """All copies, with their verdicts, in the order of time; those until now where the block runs still."""
        return [made.copy for made in self._judged().made]

    @property
    def operations(self) -> int:  # type: ignore[override]
        return self._watched().operations

    @property
    def seconds(self) -> float:  # type: ignore[override]
        self._watched()
        return (self._ended or time.perf_counter()) - self._begun

    @property
    def inside(self) -> dict[tuple[str, str], tuple[int, int]]:
        """For each operator and line whose kernels copied: how often, and how many bytes."""
        return {
            (name, str(NOWHERE if place is None else ways().lines(place)[0])): (count, size)
            for (name, place), (count, size) in self._watched().inside.items()
        }

    @property
    def notes(self) -> list[str]:  # type: ignore[override]
        """What was not understood, and copies inside of kernels."""
        watch = self._watched()
        found = [
            f"inside {name} at {line}: {plural(count, 'copy')}, {mib(size)}"
            for (name, line), (count, size) in self.inside.items()
        ]
        if watch.lost:
            found.append(f"{plural(len(watch.lost), 'operation')} not understood: {watch.lost[0]}")
        return found

    def what_if(
        self, line: str | Copy | Iterable[str | Copy] | None = None, *, program: Callable[[], Any] | None = None, runs: int = 3
    ) -> WhatIf:
        """The program again without the copies of a line, as `"model.py:12"`; of several lines; or, without any, all that can be
        avoided. The results are compared and the time is told.

        What was recorded is run again, operation by operation: with all copies, and without these, so that their readers get the
        strides of what was there. Inputs and parameters must be there still, unwritten. With `program`, a function of no arguments,
        this function is run instead, as often as two times `runs`, and only copies that strides can replace are left out.
        """
        record = self._judged()
        chosen = self._chosen(line)
        lines = tuple(dict.fromkeys(str(copy.line) for copy in chosen))
        drop = {made for made in record.made if made.copy in chosen}
        with torch.no_grad():
            if program is not None:
                return self._with_program(program, chosen, lines, runs)
            with undisturbed():
                return self._again(record, drop, chosen, lines, runs)

    def _chosen(self, line: Any) -> list[Copy]:
        if line is None:
            return [copy for copy in self.copies if copy.avoidable]
        wanted = [line] if isinstance(line, (str, Copy)) else list(line)
        for one in wanted:
            if isinstance(one, Copy) and one not in self.copies:
                raise ValueError("what_if: a copy of another report was given")
            if isinstance(one, str) and not any(str(copy.line) == one for copy in self.copies):
                lines = ", ".join(dict.fromkeys(str(copy.line) for copy in self.copies)) or "none"
                raise ValueError(f"what_if: no copy was made at {one}; the lines with copies are {lines}")
        chosen = [copy for copy in self.copies if copy in wanted or str(copy.line) in wanted]
        ours = {made.copy: made for made in self._judged().made}
        left = []
        for copy in chosen:
            made = ours[copy]
            if made.steps is not None and len(made.steps) == 1 and made.memory.copy is made:
                left.append(copy)
        if chosen and not left:
            raise ValueError(f"what_if: {chosen[0].op} at {chosen[0].line} cannot be left out: {chosen[0].reason}")
        return left

    def _again(self, record: Record, drop: set[Made], chosen: list[Copy], lines: tuple[str, ...], runs: int) -> WhatIf:
        if record.without_data:
            raise RuntimeError("what_if: there are no data on meta and in FakeTensorMode that could be compared")
        if len(record.events) >= LIMIT or record.lost:
            raise RuntimeError(
                "what_if: not all operations were recorded, so that they cannot be run again; give the program:"
                " what_if(program=lambda: model(x))"
            )
        times: dict[bool, float] = {}
        results: dict[bool, list[Any]] = {}
        appeared = 0
        devices = [torch.device("cuda", at) for at in range(torch.cuda.device_count())] if torch.cuda.is_initialized() else []
        for _ in range(max(1, runs)):
            for without in (False, True):
                replay = Replay(record, drop if without else set())
                with same_numbers(record, devices):
                    start = time.perf_counter()
                    results[without] = replay.run()
                    took = time.perf_counter() - start
                times[without] = min(took, times.get(without, math.inf))
                appeared = replay.appeared if without else appeared
        result, difference = compared(results[False], results[True])
        numbers = tuple(copy.number for copy in chosen)
        return WhatIf(numbers, lines, result, difference, times[False], times[True], appeared)

    def _with_program(self, program: Callable[[], Any], chosen: list[Copy], lines: tuple[str, ...], runs: int) -> WhatIf:
        times: dict[bool, float] = {}
        results: dict[bool, list[Any]] = {}
        modes: dict[bool, Dropping] = {}
        for _ in range(max(1, runs)):
            for without in (False, True):
                modes[without] = mode = Dropping(set(lines) if without else set())
                start = time.perf_counter()
                with mode:
                    out = program()
                times[without] = min(time.perf_counter() - start, times.get(without, math.inf))
                results[without] = tensors_of(out)
        result, difference = compared(results[False], results[True])
        return WhatIf(
            tuple(copy.number for copy in chosen),
            lines,
            result,
            difference,
            times[False],
            times[True],
            max(0, modes[True].moved + modes[True].dropped - modes[False].moved),
        )


def copies(*, deep: bool = False) -> Copies:
    """Watches the PyTorch program in a `with` block, forward and backward: `with copies() as found: model(x)`.

    Which thread: that of the block, and those of its backward. Tensors on `meta` and those of FakeTensorMode are watched as well, and
    no data of any device is read. The program's results and exceptions are its own. Functions of `torch.compile` run compiled, as
    readers of which nothing is known. `deep=True` runs each kernel under PyTorch's profiler and says which copied their operands, in `found.inside`; that
    takes about a millisecond an operation.

    What it costs: 20 to 30 microseconds an operation, besides what PyTorch takes for any dispatch mode, about as much again; and
    what it keeps of each operation until the report is freed, which is no data of tensors.
    """
    return Copies(deep)


def plan(model: Callable[..., Any], *inputs: Any, **named: Any) -> Copies:
    """The copies that a model would make for inputs, found out without data: `plan(model, torch.empty(64, 3, 224, 224, device="meta"))`.

    `model` is a module, a function, or a program of `torch.export`. Inputs may be on any device: only their shapes and strides
    are taken, and tensors on `meta` stand for some on the CPU. Nothing is computed, and the model keeps its parameters. Raises a
    RuntimeError with the line where a program asks for numbers, as `if x.sum() > 0` does.
    """
    if hasattr(model, "exported_program") or type(model).__name__ == "ExportedProgram":
        model = model.module()  # type: ignore[attr-defined]
    is_module = isinstance(model, torch.nn.Module)
    if not is_module and not callable(model):
        raise TypeError(f"plan: takes a module, a function or an exported program, not a value of type {type(model).__name__}")
    mode = fake_mode(allow_non_fake_inputs=True)
    seen: dict[int, Any] = {}

    def fake(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) not in seen:
            device = "cpu" if value.device.type == "meta" else value.device
            made = torch.empty_strided(
                value.shape, value.stride(), dtype=value.dtype, device=device, requires_grad=value.requires_grad
            )
            seen[id(value)] = (made, value)
        return seen[id(value)][0]

    with mode:
        args, options = torch.utils._pytree.tree_map(fake, (inputs, named))
        if is_module:
            state = {name: fake(value) for name, value in [*model.named_parameters(), *model.named_buffers()]}  # type: ignore[attr-defined]
        found = Copies()
        try:
            with found:
                if is_module:
                    torch.func.functional_call(model, state, args, options)
                else:
                    model(*args, **options)
        except data_is_missing() as asked:
            line = _innermost(asked)
            raise RuntimeError(
                f"plan: {getattr(asked, 'func', asked)} at {line} asks for numbers, and a plan has none; watch a run instead:"
                " with copies() as found: model(x)"
            ) from asked
    return found


def _innermost(raised: BaseException) -> Line:
    """The innermost line of the user that an exception went through."""
    lines, trace = [NOWHERE], raised.__traceback__
    while trace is not None:
        if ways().innermost(trace.tb_frame) is trace.tb_frame:
            lines.append(ways().lines((trace.tb_frame.f_code, trace.tb_lasti))[0])
        trace = trace.tb_next
    return lines[-1]


class UnexpectedCopies(AssertionError):
    """Copies for a layout where none were expected. `copies` has them."""

    copies: list[Copy]

    def __init__(self, found: list[Copy]) -> None:
        lines = [f"{plural(len(found), 'copy')} for the layout that nobody expected:"]
        for copy in found[:20]:
            lines += [
                f"{copy.line}  {copy.op}  {mib(copy.bytes)}  {copy.verdict}",
                f"    {copy.line.text}",
                f"    {copy.reason}",
            ]
        if len(found) > 20:
            lines.append(f"and {len(found) - 20} more")
        super().__init__("\n".join(lines))
        self.copies = found


@contextmanager
def no_copies(allow: Iterable[str] = (), *, above: int = 0) -> Iterator[Copies]:
    """Raises UnexpectedCopies at the end of a `with` block in which PyTorch copied for the sake of a layout: for tests.

    `allow` has what may be: verdicts such as "needed" and "gather", lines such as "model.py:12", names of files. Copies of
    `above` bytes or fewer are none. An exception of the block is raised as it is.
    """
    allowed = [allow] if isinstance(allow, str) else list(allow)
    for one in allowed:
        if one not in VERDICTS and "." not in one:
            raise ValueError(f"no_copies: allow has {one!r}, which is no verdict ({', '.join(VERDICTS)}), no line and no file")
    found = Copies()
    with found:
        yield found
    unexpected = [
        copy
        for copy in found.copies
        if copy.bytes > above
        and copy.verdict not in allowed
        and str(copy.line) not in allowed
        and os.path.basename(copy.line.file) not in allowed
    ]
    if unexpected:
        raise UnexpectedCopies(unexpected)
