"""Verdicts on the copies of a record: who reads each of them, and whether strides of what was there before would do."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    torch: Any = None
else:
    import torch

from .. import _native
from .._native import ShapeTracker, UnevenStep, Unmerged, View
from .._stacks import Tracker
from . import kernels
from .moves import joined
from .record import Event, Made, Memory, Operand, Record, Unknown
from .watch import Other

__all__ = ["Judge", "Where", "data_is_missing", "fake_mode", "has_mask", "places", "same_strides"]

# A memory, and for each place of a tensor the place there.
Where: TypeAlias = tuple[Memory, Tracker]


@dataclass
class _Failure:
    """A reader that does not do without a copy."""

    verdict: str
    reason: str
    evidence: dict[str, Any]
    least: int | None = None


_RANK = {"needed": 0, "guard": 1, "for the kernel": 2, "unknown": 3}


class Judge:
    """Verdicts on the copies of a record, in the order of time. `state` says of memories where the elements lie without the copies
    that were found avoidable: in which memory, and for each place of the recorded one the place there."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.state: dict[Memory, Where] = {}
        # Which strides operations give, by what they are given.
        self.strides: dict[Any, Any] = {}

    def judge(self) -> None:
        for made in self.record.made:
            try:
                self._steps(made)
                self._one(made)
            except Unknown as why:
                made.copy.verdict, made.copy.reason = "unknown", f"{why}"
            except (ValueError, TypeError, OverflowError, RuntimeError, NotImplementedError) as problem:
                made.copy.verdict, made.copy.reason = "unknown", f"{type(problem).__name__}: {problem}"
            if made.copy.avoidable and self.record.first_compiled:
                made.copy.verdict = "unknown"
                made.copy.reason = (
                    "PyTorch's compiler was loaded for the first time in the block, and what its code read was not seen; run it once before"
                )
            if made.copy.avoidable:
                made.copy.least_bytes = 0
            elif not made.copy.least_bytes:
                made.copy.least_bytes = made.copy.bytes

    def _steps(self, made: Made) -> None:
        """What the copy's memory holds, over the memories that were read."""
        event, copy = made.event, made.copy
        name = event.name
        if made.gathers:
            copy.roots = (event.operands[0][1].memory.label(),)
            return
        if name == "copy_":
            target, source = event.operands[0][1], event.operands[-1][1]
            tracker: Tracker | None = source.tracker().broadcast_to(*target.shape)
        else:
            made_here, source = event.outputs[0], event.operands[0][1]
            assert made_here is not None
            target = made_here
            if target.width != made.memory.width:
                raise Unknown("its type is of another width than its memory's")
            if name in ("cat", "stack"):
                made.steps = self._parts(event, target)
                copy.roots = tuple(dict.fromkeys(memory.label() for memory, _ in made.steps))
                tracker = None
            else:
                tracker = event.kind.move(source.tracker(), *event.args[1:], **_options(event)) if event.kind.move else None
        if tracker is None and made.steps is None:
            return
        if made.steps is None:
            assert tracker is not None
            if name == "constant_pad_nd":
                made.fill = event.args[2] if len(event.args) > 2 else 0
            made.steps = [(source.memory, tracker.then(places(target)))]
            copy.roots = (source.memory.label(),)
        if len(made.steps) == 1:
            memory, step = made.steps[0]
            made.root, made.whole = memory, step
            before = memory.copy
            earlier = () if before is None or _written_between(memory, before.event.index, event.index) else before.copy.chain
            if (
                before is not None
                and earlier
                and before.whole is not None
                and (before.fill == made.fill or not has_mask(before.whole) or not has_mask(step))
            ):
                made.root, made.whole = before.root, before.whole.then(step)
                if has_mask(before.whole):
                    made.fill = before.fill
            copy.chain = (*earlier, copy.number)
            copy.tracker = made.whole.then(target.tracker())
        else:
            copy.chain = (copy.number,)

    def _parts(self, event: Event, target: Operand) -> list[Where]:
        """Those of `cat` and `stack`."""
        axis = event.args[1] if len(event.args) > 1 else event.kwargs.get("dim", 0)
        axis %= len(target.shape)
        operands = [operand for position, operand in event.operands if position == 0]
        trackers = [operand.tracker() for operand in operands]
        if event.name == "stack":
            trackers = [tracker.unsqueeze(axis) for tracker in trackers]
        both = [(o.memory, t) for o, t in zip(operands, trackers, strict=True) if t.ndim == len(target.shape) and t.numel]
        whole = places(target)
        if len({memory for memory, _ in both}) == 1:
            together = joined([tracker for _, tracker in both], axis)
            if together is not None:
                return [(both[0][0], together.then(whole))]
        parts, start, total = [], 0, target.shape[axis]
        for memory, tracker in both:
            end = start + tracker.shape[axis]
            padded = tracker.pad(*((start, total - end) if at == axis else (0, 0) for at in range(tracker.ndim)))
            parts.append((memory, padded.then(whole)))
            start = end
        return parts

    def _one(self, made: Made) -> None:
        copy, event = made.copy, made.event
        if made.gathers:
            copy.verdict = "gather"
            copy.reason = f"{event.name} takes elements at indices that are data, which no strides describe"
            return
        if made.steps is None:
            raise Unknown(f"what {event.name} does here is not known as a layout")
        if event.name == "copy_" and made.memory.copy is not made:
            copy.verdict = "needed"
            copy.reason = "an assignment: the elements have to be in memory that was there before"
            copy.evidence = {"reader": None, "memory": made.memory.label()}
            return
        readers = [reader for reader in made.memory.readers if reader.index > event.index]
        if not readers:
            copy.verdict = "output"
            copy.reason = "nothing read it while it was watched" + (", and it is there still" if copy.kept else "")
            return
        parts = [(*self._place(memory, step), memory) for memory, step in made.steps]
        failure, state, absorbed, direct = self._without(made, [(base, tracker) for base, tracker, _ in parts])
        if failure is not None:
            copy.verdict, copy.reason, copy.evidence = failure.verdict, failure.reason, failure.evidence
            if failure.least is not None:
                copy.least_bytes = failure.least
            if copy.verdict == "needed" and len(copy.chain) > 1 and copy.tracker is not None:
                copy.instead = f"one pass: shapetracker.apply(ShapeTracker.parse({str(made.whole)!r}), memory)"
            return
        if copy.kept:
            source, whole = parts[0][:2]
            target = event.outputs[0] if event.name != "copy_" else event.operands[0][1]
            view = None if target is None or len(parts) > 1 else whole.then(target.tracker()).as_view()
            if view is None or view.mask is not None or min(view.strides, default=0) < 0:
                copy.verdict = "output"
                copy.reason = f"it is there still at the end, and no strides of {source.label()} are the same tensor"
                return
        self.state = state
        base, tracker = self.state[made.memory]
        if absorbed and absorbed == direct:
            copy.verdict = "copied again"
            by = "; ".join(dict.fromkeys(f"{reader.name} at {reader.line()}" for reader in readers))
            copy.reason = f"all that reads it is {by}: one pass does both"
        elif len(copy.chain) > 1 and made.whole is not None and made.root is not None and made.whole.is_identity():
            copy.verdict = "round trip"
            copy.reason = f"copies {', '.join(map(str, copy.chain))} put every element of {made.root.label()} back where it was"
        else:
            copy.verdict = "not needed"
            first = next((reader for reader in readers if reader.copy is None), readers[0])
            view = next(
                (
                    self._over(operand, self.state)[1].as_view()
                    for _, operand in first.operands
                    if operand.memory is made.memory
                ),
                None,
            )
            strides = "" if view is None else f" with strides {view.strides}, offset {view.offset}"
            copy.reason = f"{first.name} at {first.line()} takes {base.label()}{strides}"
            if len(readers) > 1:
                copy.reason += f", and so do all {len(readers)} readers"
            copy.evidence = _reader(first, next(operand for _, operand in first.operands if operand.memory is made.memory))
        copy.instead = _instead(made)

    def _place(self, memory: Memory, tracker: Tracker, state: dict[Memory, Where] | None = None) -> Where:
        """A tracker over a recorded memory, over the memory where its elements lie."""
        known = (self.state if state is None else state).get(memory)
        return (memory, tracker) if known is None else (known[0], known[1].then(tracker))

    def _over(self, operand: Operand, state: dict[Memory, Where]) -> Where:
        return self._place(operand.memory, operand.tracker(), state)

    def _without(self, made: Made, parts: list[Where]) -> tuple[_Failure | None, dict[Memory, Where], int, int]:
        """The program without a copy, as far as strides go: who fails, and else where all elements lie then."""
        state = dict(self.state)
        several = len(parts) > 1
        if not several:
            state[made.memory] = parts[0]
        failures: list[_Failure] = []
        queue: list[tuple[int, int]] = []
        events = self.record.events
        queued: set[int] = set()

        def follow(memory: Memory, after: int) -> None:
            for reader in memory.readers:
                if reader.index > after and reader.index not in queued:
                    queued.add(reader.index)
                    heapq.heappush(queue, (reader.index, 0))

        follow(made.memory, made.event.index)
        absorbed: set[int] = set()
        direct: set[int] = set()
        while queue:
            index, _ = heapq.heappop(queue)
            queued.discard(index)
            event = events[index]
            is_direct = any(operand.memory is made.memory for _, operand in event.operands)
            if is_direct:
                direct.add(index)
            views: dict[int, View[int]] = {}
            failed = False
            absorbs = event.kind.move is not None and event.copy is not None and event.name not in ("cat", "stack", "copy_")
            for number, (position, operand) in enumerate(event.operands):
                moved = operand.memory in state or (several and operand.memory is made.memory)
                if not moved:
                    continue
                try:
                    failure = self._reader(made, parts, event, number, position, operand, state, views, absorbs)
                except Unknown as why:
                    failure = _Failure("unknown", f"{event.name} at {event.line()}: {why}", _reader(event, operand))
                if failure is not None:
                    if not is_direct:
                        failure.reason = f"readers before take its strides, but then {failure.reason}"
                    failures.append(failure)
                    failed = True
            if failed or absorbs:
                if absorbs and is_direct and not failed:
                    absorbed.add(index)
                continue
            try:
                self._results(event, views, state, follow)
            except Unknown as why:
                failures.append(_Failure("unknown", f"{event.name} at {event.line()}: {why}", {"reader": event.name}))
        failures.sort(key=lambda failure: _RANK[failure.verdict])
        return (failures[0] if failures else None), state, len(absorbed), len(direct)

    def _reader(
        self,
        made: Made,
        parts: list[Where],
        event: Event,
        number: int,
        position: int,
        operand: Operand,
        state: dict[Memory, Where],
        views: dict[int, View[int]],
        absorbs: bool,
    ) -> _Failure | None:
        """None where an operation does with the operand at its new place."""
        evidence = _reader(event, operand)
        at = f"{event.name} at {event.line()}"
        if operand.memory is made.memory and len(parts) > 1:
            rec = operand.tracker()
            over = [(base, part.then(rec)) for base, part in parts]
            whole = [(base, part) for base, part in over if not has_mask(part)]
            if len(whole) != 1:
                return self._several(made, event, operand, over, evidence)
            base, tracker = whole[0]
        else:
            base, tracker = self._over(operand, state)
        if base is not operand.memory:
            if operand.memory in event.writes:
                return _Failure("guard", f"{at} writes into the copy, and {base.label()} would change", evidence)
            if event.kind.is_unseen:
                return _Failure(
                    "unknown", f"{at} is given it, and whether it takes other strides or writes is not seen", evidence
                )
            unseen = next((e for e in base.readers if e.kind.is_unseen and made.event.index < e.index <= event.index), None)
            if unseen is not None:
                return _Failure(
                    "unknown",
                    f"{unseen.name} at {unseen.line()} is given {base.label()} as well, and whether it writes into it is not seen",
                    evidence,
                )
            written = _written_between(base, made.event.index, event.index)
            if written is not None:
                evidence["writer"] = {"op": written.name, "line": str(written.line())}
                return _Failure(
                    "guard",
                    f"{written.name} at {written.line()} writes into {base.label()}, and {at} reads the copy after that",
                    evidence,
                )
        if absorbs:
            if (
                has_mask(tracker)
                and event.copy is not None
                and made.fill != event.copy.fill
                and event.name == "constant_pad_nd"
            ):
                return _Failure("needed", f"{at} fills in another value than this copy", evidence)
            return None
        view = tracker.as_view()
        if view is None:
            return self._no_view(made, event, operand, base, tracker, evidence)
        if view.mask is not None:
            margin = _masked(tracker)
            evidence["elements"] = [list(margin)]
            return _Failure(
                "needed",
                f"{at} reads shape {tuple(operand.shape)}, whose element {margin} was filled in and is not in {base.label()}",
                evidence,
            )
        for axis, (size, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
            if stride < 0 and size > 1:
                evidence["axes"] = [axis]
                return _Failure(
                    "needed",
                    f"{at} reads shape {tuple(operand.shape)}, whose axis {axis} runs backwards, and PyTorch has no negative strides",
                    evidence,
                )
        strides = tuple(view.strides)
        if tuple(s for s, n in zip(strides, view.shape, strict=True) if n > 1) == tuple(
            s for s, n in zip(operand.strides, operand.shape, strict=True) if n > 1
        ):
            views[number] = view
            return None
        if event.name in kernels.RANDOM:
            return _Failure(
                "unknown", f"{at} draws random numbers in the order of memory, so that its result would be another", evidence
            )
        row = kernels.row_of(event.name, position, event.args, len(view.shape))
        if row is None:
            return _Failure("unknown", f"it is not known which strides {at} takes without a copy of its own", evidence)
        evidence["strides"] = list(strides)
        if not row.everywhere and operand.memory.device.type not in ("cpu", "meta"):
            return _Failure("unknown", f"which strides {at} takes is known on the CPU, not on this device", evidence)
        beside = [(o.shape, o.strides) for at, o in event.operands if at in row.beside and at != position]
        if not kernels.takes(row, view.shape, view.strides, beside):
            evidence["rule"], evidence["source"] = row.rule.says, row.rule.source
            return _Failure(
                "for the kernel",
                f"{at} could be given strides {strides} of {base.label()}, but its kernel takes {row.rule.says},"
                f" and copies the others ({row.rule.source})",
                evidence,
            )
        views[number] = view
        return None

    def _several(self, made: Made, event: Event, operand: Operand, over: list[Where], evidence: dict[str, Any]) -> _Failure:
        shown = []
        for base, part in over:
            span = next(((flat, address) for flat, address in enumerate(_first(part)) if address is not None), None)
            if span is not None:
                shown.append((_unravel(span[0], operand.shape), base.label()))
        pair = shown[:2]
        evidence["elements"] = [list(index) for index, _ in pair]
        evidence["roots"] = [label for _, label in shown]
        said = " and ".join(f"element {index} of {label}" for index, label in pair)
        return _Failure(
            "needed",
            f"{event.name} at {event.line()} reads shape {tuple(operand.shape)}: {said}, which no one memory has",
            evidence,
        )

    def _no_view(
        self, made: Made, event: Event, operand: Operand, base: Memory, tracker: Tracker, evidence: dict[str, Any]
    ) -> _Failure:
        at = f"{event.name} at {event.line()}"
        try:
            tracker.single_view()
            said = ""
        except Unmerged as no:
            said = str(no)
            witness = no.witness
            if isinstance(witness, UnevenStep):
                evidence["axes"] = [witness.axis]
                evidence["elements"] = [
                    {"index": list(step.index), "before": step.before, "after": step.after} for step in witness.steps
                ]
            else:
                evidence["elements"] = [list(index) for index in (*witness.valid, witness.invalid)]
        least = None
        before = made.event.operands[-1 if made.event.name == "copy_" else 0][1]
        try:
            _, source = self._over(before, self.state)
            if source.numel == math.prod(operand.shape) and source.reshape(*operand.shape).difference(tracker) is None:
                explained = _native.explain_view(source, operand.shape)
                if explained.obstacles:
                    said = f"{explained.obstacles[0]}\n{said}"
                    evidence["old_axes"] = list(explained.obstacles[0].old_axes)
                    evidence["new_axes"] = list(explained.obstacles[0].new_axes)
                if explained.smallest and explained.elements:
                    least = explained.elements * operand.width
        except (ValueError, Unknown):
            pass
        return _Failure("needed", f"{at} reads shape {tuple(operand.shape)}: {said}", evidence, least)

    def _results(
        self, event: Event, views: dict[int, View[int]], state: dict[Memory, Where], follow: Callable[[Memory, int], None]
    ) -> None:
        """Where the results of an operation lie whose operands have new strides."""
        outputs = [out for out in event.outputs if out is not None and out.memory.made_by is event]
        if not outputs:
            return
        same = all(
            all(n < 2 or a == b for a, b, n in zip(view.strides, event.operands[number][1].strides, view.shape, strict=True))
            for number, view in views.items()
        )
        after = None if same else self._strides_after(event, views)
        for number, out in enumerate(event.outputs):
            if out is None or out.memory.made_by is not event:
                continue
            strides = out.strides if after is None else after[number]
            moved = not same_strides(strides, out.strides, out.shape)
            if moved or out.memory in state:
                if moved:
                    length = (
                        1 + sum((n - 1) * s for n, s in zip(out.shape, strides, strict=True)) if math.prod(out.shape) else 0
                    )
                    new = ShapeTracker.contiguous(length).as_strided(out.shape, strides, 0)
                    place = (out.memory, new.then(places(out)))
                    if out.memory in state and state[out.memory] == place:
                        continue
                    state[out.memory] = place
                elif state[out.memory][0] is out.memory:
                    del state[out.memory]
                follow(out.memory, event.index)

    def _strides_after(self, event: Event, views: dict[int, View[int]]) -> list[Any]:
        """The strides of an operation's results for other strides of its operands: once for operations that are alike."""
        try:
            key: Any = (event.kind.number, _alike_key(event.args), _alike_key(event.kwargs), _alike_key(event.outputs))
            hash(key)
        except TypeError:
            return _as_recorded(event)(event, views)
        if key not in self.strides:
            try:
                self.strides[key] = _as_recorded(event)
            except Unknown as why:
                self.strides[key] = why
        results = self.strides[key]
        if isinstance(results, Unknown):
            raise Unknown(*results.args)
        key = (key, tuple((number, view.strides) for number, view in sorted(views.items())))
        if key not in self.strides:
            self.strides[key] = results(event, views)
        return list(self.strides[key])


def _options(event: Event) -> dict[str, Any]:
    skipped = ("memory_format", "dtype", "layout", "device", "pin_memory", "non_blocking", "value")
    return {name: value for name, value in event.kwargs.items() if name not in skipped}


def places(operand: Operand) -> Tracker:
    """For each place of a memory the element of a tensor that lies there."""
    return operand.tracker().invert(operand.memory.length)


def has_mask(tracker: Tracker) -> bool:
    return any(tracker.axis_is_masked(axis) for axis in range(tracker.ndim))


def _first(tracker: Tracker) -> Iterator[int | None]:
    for number, address in enumerate(tracker.addresses()):
        if number >= 1_000_000:
            return
        yield address


def _masked(tracker: Tracker) -> tuple[int, ...]:
    flat = next((number for number, address in enumerate(_first(tracker)) if address is None), 0)
    return _unravel(flat, tracker.shape)


def _unravel(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        index.insert(0, flat % size)
        flat //= size
    return tuple(index)


def _written_between(memory: Memory, after: int, before: int) -> Event | None:
    return next((event for event in memory.writes if after < event.index <= before), None)


def same_strides(one: Sequence[int], other: Sequence[int], shape: Sequence[int]) -> bool:
    return all(n < 2 or a == b for a, b, n in zip(one, other, shape, strict=True))


def _alike(one: list[Any], other: list[Any], event: Event) -> bool:
    return len(one) == len(other) and all(
        b is None or (a is not None and out is not None and same_strides(a, b, out.shape))
        for a, b, out in zip(one, other, event.outputs, strict=True)
    )


def _alike_key(value: Any) -> Any:
    """Equal for arguments that say the same about strides."""
    if isinstance(value, Operand):
        return ("operand", value.shape, value.strides, value.dtype)
    if isinstance(value, (list, tuple)):
        return tuple(map(_alike_key, value))
    if isinstance(value, dict):
        return tuple((name, _alike_key(part)) for name, part in value.items())
    return (type(value), value)


def _as_recorded(event: Event) -> Callable[[Event, dict[int, View[int]]], list[Any]]:
    """A function that says which strides an operation's results get for other strides of its operands, and that is right about those
    that were recorded. Nothing is computed."""
    recorded = [out.strides if out is not None else None for out in event.outputs]
    reason = Unknown("which strides its result gets is not known")
    for results in (_on_meta, _faked):
        try:
            if _alike(results(event, {}), recorded, event):
                return results
        except Unknown as why:
            reason = why
    raise reason


def _on_meta(event: Event, views: dict[int, View[int]], device: str = "meta") -> list[Any]:
    numbers = iter(range(len(event.operands)))

    def put(value: Any) -> Any:
        if isinstance(value, Operand):
            view = views.get(next(numbers))
            strides = value.strides if view is None else view.strides
            return torch.empty_strided(value.shape, strides, dtype=value.dtype, device=device)
        if isinstance(value, Other):
            raise Unknown("it takes a tensor without strides, too")
        return [put(part) for part in value] if isinstance(value, list) else value

    try:
        with torch.no_grad():
            args = [put(value) for value in event.args]
            out = event.func(*args, **{name: put(value) for name, value in event.kwargs.items()})
    except Unknown:
        raise
    except Exception as problem:
        raise Unknown(f"which strides its result gets is not known ({type(problem).__name__})") from problem
    results = out if isinstance(out, (list, tuple)) else (out,)
    return [result.stride() if isinstance(result, torch.Tensor) else None for result in results]


def fake_mode(**options: Any) -> Any:
    return import_module("torch._subclasses.fake_tensor").FakeTensorMode(**options)


def data_is_missing() -> tuple[type[Exception], ...]:
    """The exceptions of a program in that mode that asks for what it does not have."""
    fake: Any = import_module("torch._subclasses.fake_tensor")
    return (fake.DataDependentOutputException, fake.DynamicOutputShapeException)


def _faked(event: Event, views: dict[int, View[int]]) -> list[Any]:
    # Convolutions choose their memory format by the device.
    with fake_mode():
        return _on_meta(event, views, "cpu")


def _reader(event: Event, operand: Operand) -> dict[str, Any]:
    return {
        "reader": event.name,
        "line": str(event.line()),
        "shape": list(operand.shape),
        "reads_strides": list(operand.strides),
    }


def _instead(made: Made) -> str | None:
    """What to write, in the words of the line, where that is plain."""
    text, op = made.copy.line.text, made.copy.op
    if op == "clone" and text.count(".contiguous()") == 1 and made.copy.backward is None:
        return text.replace(".contiguous()", "")
    if op == "constant_pad_nd" and not any(made.event.args[1]):
        return "pad only where a margin is wider than 0: this one is not"
    return None
