"""Copies that PyTorch makes for a layout: where elements came from, verdicts and their evidence, and a program without them."""

from __future__ import annotations

import doctest
import gc
import itertools
import json
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from shapetracker import ShapeTracker, apply, memory

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import copying  # noqa: E402

import shapetracker.torch as watched  # noqa: E402
from shapetracker._torch import again, watch  # noqa: E402
from shapetracker._torch import kernels as _kernels  # noqa: E402

F = torch.nn.functional
aten = torch.ops.aten
NAMES = list(copying.models())


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)


def verdicts(program: Callable[[], Any]) -> list[tuple[str, str]]:
    with watched.copies() as found:
        kept = program()
    del kept
    return [(copy.op, copy.verdict) for copy in found.copies]


def copied(program: Callable[[], Any]) -> Counter[str]:
    """How often data were copied, inside of kernels as well, as PyTorch's profiler sees it."""
    with torch.autograd.profiler.profile() as profile:
        program()
    return Counter(event.name for event in profile.function_events if event.name in ("aten::clone", "aten::copy_"))


# ---- Where the elements came from


MOVES: list[tuple[tuple[int, ...], Callable[[Any], Any]]] = [
    ((2, 3, 4), lambda x: x.permute(2, 0, 1).contiguous()),
    ((2, 3, 4), lambda x: x.transpose(0, 2).reshape(-1)),
    ((2, 3, 4), lambda x: x[:, 1:, ::2].clone()),
    ((2, 3, 4), lambda x: torch.roll(x, (1, -2), (0, 2))),
    ((2, 3, 4), lambda x: torch.roll(x, 5)),
    ((2, 3, 4), lambda x: x.roll(0, 1)),
    ((2, 3, 4), lambda x: x.flip(0, -1)),
    ((2, 3, 4), lambda x: x.repeat(2, 1, 1, 3)),
    ((2, 3, 4), lambda x: x.tile(2)),
    ((2, 3, 4), lambda x: x.repeat_interleave(2, 1)),
    ((2, 3, 4), lambda x: F.pad(x, (1, 2, 0, 1))),
    ((2, 3, 4), lambda x: F.pad(x, (-1, 2), value=7)),
    ((2, 3, 4), lambda x: F.pad(x, (0, 0))),
    ((2, 3, 4), lambda x: x.rot90(1, (0, 1))),
    ((2, 3, 4), lambda x: x.rot90(2, (2, 0))),
    ((2, 3, 4), lambda x: x.rot90(3, (1, 2))),
    ((1, 8, 2, 3), lambda x: F.pixel_shuffle(x, 2)),
    ((2, 4, 6), lambda x: F.pixel_unshuffle(x, 2)),
    ((2, 6, 2, 2), lambda x: F.channel_shuffle(x, 3)),
    ((2, 3, 5, 6), lambda x: F.unfold(x, (2, 3), dilation=(2, 1), padding=(1, 0), stride=(1, 2))),
    ((2, 3, 4), lambda x: torch.cat([x[:, :1], x[:, 1:]], 1)),
    ((2, 3, 4), lambda x: torch.cat([x[..., 3:], x[..., :3]], -1)),
    ((2, 3, 4), lambda x: torch.cat([x[..., 2:], x[..., :1], x[..., 1:2]], -1)),
    ((2, 3, 4), lambda x: torch.cat([x, torch.zeros(0)], 0)),
    ((2, 3, 4), lambda x: torch.stack([x[0], x[1]], 1)),
    ((2, 3, 4), lambda x: torch.empty(4, 3, 2).copy_(x.permute(2, 1, 0))),
    ((2, 3, 4, 5), lambda x: x.to(memory_format=torch.channels_last)),
    ((2, 3, 4), lambda x: aten.slice_backward(x, [2, 7, 4], 1, 2, 5, 1)),
    ((2, 3, 4), lambda x: aten.slice_backward(x, [2, 7, 4], 1, 1, 7, 2)),
    ((2, 3, 4), lambda x: aten.slice_backward(x, [2, 8, 4], 1, -7, 2**63 - 1, 3)),
    ((2, 3, 4), lambda x: aten.slice_backward(x, [2, 3, 10], 2, 0, 10, 3)),
    ((), lambda x: x.repeat(2, 3)),
    ((2, 3, 4), lambda x: aten.select_backward(x, [2, 5, 3, 4], 1, -2)),
]


@pytest.mark.parametrize("shape, move", MOVES)
def test_elements_come_from_where_it_is_said(shape: tuple[int, ...], move: Callable[[Any], Any]) -> None:
    rank = len(shape)
    numel = torch.Size(shape).numel()
    for order in [tuple(range(rank)), tuple(reversed(range(rank)))]:
        x = (
            torch.arange(1.0, numel + 6)[5:]
            .view([shape[axis] for axis in order])
            .permute([order.index(axis) for axis in range(rank)])
        )
        with watched.copies() as found:
            y = move(x)
        if not found.copies:
            assert y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
            continue
        copy = found.copies[-1]
        if copy.tracker is None:
            # What lies side by side is of one memory, but no one view of it.
            assert copy.op in ("cat", "stack") and copy.roots
            continue
        fill = 7.0 if 7.0 in y and not (x == 7).any() else 7.0 if move is MOVES[11][1] else 0.0
        assert torch.equal(apply(copy.tracker, memory(x), fill).reshape(-1), y.reshape(-1)), copy.tracker


def snapshots(monkeypatch: pytest.MonkeyPatch) -> dict[int, tuple[dict[int, Any], Any]]:
    """For every operation that copies, by its number: the memories that it read by their addresses, and what it made."""
    seen: dict[int, tuple[dict[int, Any], Any]] = {}
    original = watch.Watch._note

    def note(self: Any, kind: Any, args: Any, kwargs: Any, out: Any, seconds: Any) -> None:
        original(self, kind, args, kwargs, out, seconds)
        if kind.copies and out.numel():
            with torch.utils._python_dispatch._disable_current_modes():
                given = [
                    x for arg in args for x in (arg if isinstance(arg, (list, tuple)) else [arg]) if isinstance(x, torch.Tensor)
                ]
                flats = {x.untyped_storage()._cdata: watch.flat(x.untyped_storage(), x.dtype).clone() for x in given}
                target = watch.flat((given[0] if kind.name == "copy_" else out).untyped_storage(), given[0].dtype).clone()
                seen[len(self.noted) - 1] = (flats, target)

    monkeypatch.setattr(watch.Watch, "_note", note)
    return seen


def replayed(found: Any, seen: dict[int, tuple[dict[int, Any], Any]]) -> int:
    """Every tracked copy in one pass from the memory at the beginning of its chain: how many there were."""
    assert found.copies is not None
    by_number = {made.copy.number: made for made in found._record.made}
    count = 0
    for made in by_number.values():
        if made.whole is None or made.event.name == "copy_":
            continue
        target = seen[made.event.index][1]
        first = by_number[made.copy.chain[0]]
        flat = seen[first.event.index][0][made.root.address]
        assert torch.equal(apply(made.whole, flat, made.fill), target), made.copy
        count += 1
    return count


@pytest.mark.parametrize("name", NAMES)
def test_every_copy_of_a_model_is_one_pass_from_its_root(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, x = copying.models()[name]
    seen = snapshots(monkeypatch)
    with watched.copies() as found:
        model(x).sum().backward()
    assert not found.notes, found.notes
    count = replayed(found, seen)
    assert count == sum(copy.tracker is not None and copy.op != "copy_" for copy in found.copies)
    assert count or name == "text, fused"


# ---- Verdicts


def test_a_verdict_has_its_evidence() -> None:
    x = torch.randn(2, 5, 3, 4)
    with watched.copies() as found:
        y = x.transpose(1, 2).reshape(6, 20) @ torch.randn(20, 7)
    del y
    [copy] = found.copies
    assert (copy.op, copy.verdict, copy.shape, copy.strides) == ("clone", "needed", (2, 3, 5, 4), (60, 4, 12, 1))
    assert copy.line.file == __file__ and "x.transpose(1, 2).reshape(6, 20)" in copy.line.text
    evidence = copy.evidence
    assert (evidence["reader"], evidence["shape"]) == ("mm", [6, 20])
    assert evidence["old_axes"] == [0, 1] and evidence["new_axes"] == [0]
    # The two elements: one stride cannot do both steps, which is to be seen in the tensor itself.
    before = ShapeTracker.contiguous(2, 5, 3, 4).transpose(1, 2).reshape(6, 20)
    jumps = set()
    for step in evidence["elements"]:
        after = list(step["index"])
        after[evidence["axes"][0]] += 1
        assert before.address(step["index"]) == step["before"] and before.address(after) == step["after"]
        jumps.add(step["after"] - step["before"])
    assert len(jumps) == 2


def test_verdicts_of_small_programs() -> None:
    x = torch.randn(2, 3, 8, 8)
    last = torch.nn.Linear(3, 3)
    nhwc = torch.randn(2, 8, 8, 3)
    cases: list[tuple[Callable[[], Any], list[tuple[str, str]]]] = [
        (lambda: torch.relu(x.permute(0, 2, 3, 1).contiguous()), [("clone", "not needed")]),
        (lambda: torch.relu(F.pad(x, (0, 0))), [("constant_pad_nd", "not needed")]),
        (lambda: torch.relu(F.pad(x, (1, 1))), [("constant_pad_nd", "needed")]),
        (lambda: torch.relu(x.flip(1)), [("flip", "needed")]),
        (lambda: x + torch.randn(3, 1, 1).expand(3, 8, 8).contiguous(), [("clone", "not needed")]),
        (lambda: x * torch.randn(1, 3, 1, 1).repeat(2, 1, 8, 8), [("repeat", "not needed")]),
        (
            lambda: last(nhwc.permute(0, 3, 1, 2).contiguous().permute(0, 2, 3, 1).contiguous()),
            [("clone", "copied again"), ("clone", "round trip")],
        ),
        (lambda: torch.roll(torch.roll(x, 2, 3), -2, 3) + 1, [("roll", "copied again"), ("roll", "round trip")]),
        (lambda: x.permute(0, 2, 3, 1).contiguous(), [("clone", "output")]),
        (lambda: x.permute(0, 2, 3, 1).contiguous().relu_(), [("clone", "guard")]),
        (lambda: x[:, torch.tensor([0, 2])] + 1, [("index", "gather")]),
        (lambda: x.permute(0, 2, 3, 1).contiguous().softmax(-1), [("clone", "for the kernel")]),
        (lambda: F.layer_norm(x.transpose(2, 3).contiguous(), (8,)), [("clone", "for the kernel")]),
        (lambda: torch.relu(torch.cat([x[:, :1], x[:, 1:]], 1)), [("cat", "not needed")]),
        (lambda: torch.relu(torch.cat([x, nhwc.permute(0, 3, 1, 2)], 1)), [("cat", "needed")]),
        (lambda: torch.cat([x, nhwc.permute(0, 3, 1, 2)], 1)[:, 3:] + 1, [("cat", "needed")]),
        # Readers that take the strides, whose own readers do not.
        (lambda: torch.relu(x.permute(0, 2, 3, 1).contiguous()).view(-1, 3) @ torch.randn(3, 3), [("clone", "not needed")]),
        (lambda: torch.relu(x.permute(0, 2, 1, 3).contiguous()).view(-1, 24) @ torch.randn(24, 3), [("clone", "needed")]),
        (lambda: torch.special.i0(x.permute(0, 2, 3, 1).contiguous()), [("clone", "unknown")]),
    ]
    for number, (program, expected) in enumerate(cases):
        found = verdicts(program)
        if number == 16:
            continue
        if number == 15:
            assert found[0][1] in ("needed", "not needed")
            continue
        assert found == expected, (number, found)


def test_a_write_between_a_copy_and_its_reader_keeps_it() -> None:
    def later(early: bool) -> Any:
        x = torch.randn(3, 4)
        y = x.t().contiguous()
        if early:
            z = y + 1
            x.add_(1)
        else:
            x.add_(1)
            z = y + 1
        return x, z

    assert verdicts(lambda: later(False)) == [("clone", "guard")]
    assert verdicts(lambda: later(True)) == [("clone", "not needed")]


def test_a_copy_that_is_there_still_is_an_output_but_for_its_strides() -> None:
    x = torch.randn(3, 4)

    def both(move: Callable[[Any], Any]) -> Any:
        y = move(x)
        return y, y.t().contiguous()

    assert verdicts(lambda: both(lambda x: x.roll(1, 0))) == [("roll", "output"), ("clone", "output")]
    assert verdicts(lambda: both(lambda x: x.t().contiguous()))[0] == ("clone", "copied again")
    assert verdicts(lambda: both(lambda x: x.roll(1, 0))[1]) == [("roll", "copied again"), ("clone", "output")]


def test_a_storage_that_is_used_again_is_another_memory() -> None:
    def program() -> list[Any]:
        out = []
        for step in range(50):
            x = torch.full((64, 64), float(step))
            y = x.t().contiguous()
            del x
            gc.collect()
            z = torch.full((64, 64), -1.0)
            out.append((y + z).sum())
        return out

    with watched.copies() as found:
        kept = program()
    del kept
    assert len(found.copies) == 50 and {copy.verdict for copy in found.copies} == {"not needed"}
    assert found.what_if().equal


def test_the_backward_is_watched_and_named() -> None:
    x = torch.randn(2, 3, 4, requires_grad=True)
    with watched.copies() as found:
        (x.transpose(1, 2).reshape(2, 12)[:, :5] * 2).sum().backward()
    backward = [copy for copy in found.copies if copy.backward is not None]
    assert backward and all(
        f"{os.path.basename(__file__)}:" in copy.backward for copy in backward if "Accumulate" not in str(copy.backward)
    )
    assert "slice_backward" in {copy.op for copy in backward}


# ---- Without the copies


@pytest.mark.parametrize("name", NAMES)
def test_what_is_avoidable_can_be_left_out(name: str) -> None:
    model, x = copying.models()[name]
    model.eval()
    with torch.no_grad(), watched.copies() as found:
        y = model(x)
    assert not found.notes
    spare = [copy for copy in found.copies if copy.avoidable]
    for copy in [*spare, None]:
        if spare:
            answer = found.what_if(copy, runs=1)
            assert answer.result in ("equal", "close"), (copy, answer)
            assert answer.equal or "convolution" in {event.name for event in found._record.events}, (copy, answer)
            assert copy is None or copy.verdict != "not needed" or not answer.appeared, (copy, answer)
    # And the program itself, without those of them that are views: fewer copies, also inside of its kernels.
    lines = {str(copy.line) for copy in spare if copy.verdict in ("not needed", "round trip")}
    if lines:
        answer = found.what_if(lines, program=lambda: model(x), runs=1)
        assert answer.result in ("equal", "close"), answer

        def without() -> Any:
            with again.Dropping(lines):
                return model(x)

        with torch.no_grad():
            before, after = copied(lambda: model(x)), copied(without)
            with watched.copies() as left:
                without()
        assert len(left.copies) < len(found.copies) and left.bytes < found.bytes
        assert after["aten::copy_"] < before["aten::copy_"], (before, after)
    assert torch.equal(y, model(x))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_avoidable_can_be_left_out_of_a_backward(name: str) -> None:
    model, x = copying.models()[name]
    with watched.copies() as found:
        loss = model(x).sum()
        loss.backward()
    assert not found.notes
    if any(copy.avoidable for copy in found.copies):
        assert found.what_if(runs=1).result in ("equal", "close"), str(found)


def test_any_copy_can_be_left_out_and_the_results_stay() -> None:
    for name, (model, x) in copying.models().items():
        with torch.no_grad(), watched.copies() as found:
            y = model(x)
        for copy in found.copies[:: 3 if name == "Swin" else 2]:
            if copy.verdict in ("needed", "for the kernel") and copy.tracker is not None:
                assert found.what_if(copy, runs=1).result in ("equal", "close"), copy
        del y


def random_program(rng: random.Random) -> Callable[[Any], Any]:
    """Operations that keep a tensor of four axes of 2, 4, 4 and 6 elements in some order, drawn once."""
    steps: list[Callable[[Any], Any]] = []
    for _ in range(rng.randint(2, 7)):
        kind = rng.choice(
            [
                "permute",
                "permute",
                "contiguous",
                "contiguous",
                "add",
                "relu",
                "roll",
                "flip",
                "pad",
                "matmul",
                "softmax",
                "view",
                "reshape",
                "cat",
                "bmm",
                "halves",
                "sum",
                "norm",
                "write",
            ]
        )
        order = rng.sample(range(4), 4)
        by, axis = rng.randint(0, 2), rng.randrange(4)
        steps.append(
            {
                "permute": lambda x, order=order: x.permute(order),
                "contiguous": lambda x: x.contiguous(),
                "add": lambda x: x + 1,
                "relu": lambda x: torch.relu(x),
                "roll": lambda x, by=by, axis=axis: torch.roll(x, by, axis),
                "flip": lambda x, axis=axis: x.flip(axis),
                "pad": lambda x, by=by: F.pad(x, (by, 0))[..., by:] if by else F.pad(x, (0, 0)),
                "matmul": lambda x: x @ torch.ones(x.shape[-1], x.shape[-1], dtype=x.dtype),
                "softmax": lambda x: x.softmax(-1),
                "view": lambda x: x.flatten(0, 1).unflatten(0, x.shape[:2]),
                "reshape": lambda x: x.reshape(-1).reshape(x.shape),
                "cat": lambda x, by=by: torch.cat([x[:, by:], x[:, :by]], 1),
                "bmm": lambda x: (
                    torch.bmm(x.flatten(0, 1), x.flatten(0, 1).transpose(1, 2))[:, :, :1].view(*x.shape[:3], 1) + x
                ),
                "halves": lambda x, axis=axis: torch.cat(x.chunk(2, axis), axis) * 2,
                "sum": lambda x, axis=axis: x + x.sum(axis, keepdim=True),
                "norm": lambda x: F.layer_norm(x, x.shape[-1:]),
                "write": lambda x, axis=axis: x.clone().mul_(2) + x.select(axis, 0).unsqueeze(axis),
            }[kind]
        )

    def program(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    return program


def test_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    seen: Counter[str] = Counter()
    for _ in range(250):
        program = random_program(rng)
        x = torch.randint(-4, 5, (2, 4, 4, 6)).double()
        with monkeypatch.context() as patch:
            saved = snapshots(patch)
            with torch.no_grad(), watched.copies() as found:
                y = program(x)
        assert not found.notes, found.notes
        replayed(found, saved)
        seen.update(copy.verdict for copy in found.copies)
        passes = len(found.copies)
        spare = [copy for copy in found.copies if copy.avoidable]
        if spare:
            answer = found.what_if(runs=1)
            assert answer.result in ("equal", "close"), (answer, str(found))
            assert not answer.appeared, (answer, str(found))
        for copy in spare:
            answer = found.what_if(copy, runs=1)
            assert answer.result in ("equal", "close"), (answer, str(found))
        views = {str(copy.line) for copy in spare if copy.verdict == "not needed"}
        alone = {
            line
            for line in views
            if all(copy.verdict == "not needed" and copy.op == "clone" for copy in found.copies if str(copy.line) == line)
        }
        if alone:
            with torch.no_grad(), watched.copies() as left, again.Dropping(alone):
                z = program(x)
            # As many where a `contiguous` later had nothing to do, and then has.
            assert torch.allclose(y, z) and len(left.copies) <= passes, (str(found), str(left))
    assert (
        min(seen[verdict] for verdict in ("needed", "not needed", "copied again", "for the kernel", "guard", "output")) >= 5
    ), seen


def test_what_if_says_what_it_needs() -> None:
    x = torch.randn(3, 4)
    with watched.copies() as found:
        y = x.t().contiguous() + 1
    with pytest.raises(ValueError, match="no copy was made at nowhere.py:1; the lines with copies are test_torch_copies.py"):
        found.what_if("nowhere.py:1")
    x.add_(1)
    with pytest.raises(RuntimeError, match="has been written since.*program="):
        found.what_if()
    line = str(found.copies[0].line)
    assert found.what_if(line, program=lambda: torch.relu(x.t().contiguous())).equal
    del x, y
    gc.collect()
    with pytest.raises(RuntimeError, match="has been freed.*keep the inputs"):
        found.what_if()
    with watched.copies() as other:
        torch.randn(3, 4, device="meta").t().contiguous() + 1
    with pytest.raises(ValueError, match="another report"):
        found.what_if(other.copies[0])


# ---- Without data


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_is_what_happens(name: str) -> None:
    def facts(found: Any) -> list[Any]:
        return [(copy.op, str(copy.line), copy.shape, copy.strides, copy.bytes, copy.verdict) for copy in found.copies]

    model, x = copying.models()[name]
    with torch.no_grad(), watched.copies() as found:
        y = model(x)
    with torch.no_grad():
        planned = watched.plan(model, x.to("meta"))
        assert facts(planned) == facts(found)
        assert all(parameter.device.type == "cpu" for parameter in model.parameters())
    with pytest.raises(RuntimeError, match="no data"):
        planned.what_if(
            [copy for copy in planned.copies if copy.tracker is not None][:1]
        ) if planned.copies else planned.what_if()
    del y


def test_plans_of_functions_and_exported_programs() -> None:
    model, x = copying.models()["super-resolution"]
    exported = torch.export.export(model, (x,))
    planned = watched.plan(exported, x.to("meta"))
    assert len(planned.copies) >= 5 and planned.bytes > 0
    # The lines are those of the model, and not of the code that was generated for the graph.
    assert {copy.line.file for copy in planned.copies} == {copying.__file__}
    with torch.no_grad(), watched.copies() as found:
        model(x)
    assert [str(copy.line) for copy in planned.copies] == [str(copy.line) for copy in found.copies]
    with watched.copies() as found:
        torch.fx.symbolic_trace(lambda x: x.t().contiguous() + 1)(torch.ones(2, 3))
    assert str(found.copies[0].line).startswith("<eval_with_key>:")
    assert [
        copy.verdict for copy in watched.plan(lambda x: x.t().contiguous() + 1, torch.empty(3, 4, device="meta")).copies
    ] == ["not needed"]
    for asks in (lambda x: x + 1 if x.sum() > 0 else x, lambda x: x[x > 0], lambda x: x * x.max().item()):
        with pytest.raises(
            RuntimeError, match=r"plan: aten\..* at test_torch_copies.py:\d+ asks for numbers, and a plan has none"
        ):
            watched.plan(asks, torch.empty(3, 4, device="meta"))
    with pytest.raises(TypeError, match="takes a module, a function or an exported program, not a value of type int"):
        watched.plan(3)  # type: ignore[arg-type]


# ---- What kernels take


def layouts(shape: tuple[int, ...]) -> Iterator[Any]:
    """Tensors of a shape with strides of all kinds."""
    rank = len(shape)
    base = torch.rand(shape) + 0.5
    for order in itertools.permutations(range(rank)):
        yield base.permute(order).contiguous().permute([order.index(axis) for axis in range(rank)])
    yield torch.zeros([size + 2 for size in shape])[tuple(slice(1, 1 + size) for size in shape)].copy_(base)
    yield torch.zeros([*shape[:-1], shape[-1] * 2])[..., ::2].copy_(base)
    if rank > 1:
        yield torch.zeros([shape[0] * 2, *shape[1:]])[::2].copy_(base)
    for axis in range(rank):
        yield base.narrow(axis, 0, 1).expand(shape)


def other(*shape: int) -> Any:
    return torch.rand(shape) + 0.5


def attention_backward(*given: Any) -> Any:
    grad, *operands = (other(2, 4, 5, 6) if x is None else x for x in given)
    out, sums = other(2, 4, 5, 6), other(2, 4, 5)
    return aten._scaled_dot_product_flash_attention_for_cpu_backward(grad, *operands, out, sums, 0.0, False)


# For each operator with arguments of its own: the shape of the operand at a position, and the operation on it.
CALLS: dict[tuple[str, int], tuple[tuple[int, ...], Callable[[Any], Any]]] = {
    ("mm", 0): ((6, 8), lambda x: aten.mm(x, other(8, 7))),
    ("mm", 1): ((6, 8), lambda x: aten.mm(other(7, 6), x)),
    ("addmm", 1): ((6, 8), lambda x: aten.addmm(other(7), x, other(8, 7))),
    ("addmm", 2): ((6, 8), lambda x: aten.addmm(other(8), other(7, 6), x)),
    ("bmm", 0): ((3, 16, 18), lambda x: aten.bmm(x, other(3, 18, 17))),
    ("bmm", 1): ((3, 16, 18), lambda x: aten.bmm(other(3, 17, 16), x)),
    ("baddbmm", 1): ((3, 16, 18), lambda x: aten.baddbmm(other(3, 16, 17), x, other(3, 18, 17))),
    ("baddbmm", 2): ((3, 16, 18), lambda x: aten.baddbmm(other(3, 17, 18), other(3, 17, 16), x)),
    ("mv", 0): ((6, 8), lambda x: aten.mv(x, other(8))),
    ("_softmax", 0): ((4, 5, 6), lambda x: aten._softmax(x, 1, False)),
    ("_log_softmax", 0): ((4, 5, 6), lambda x: aten._log_softmax(x, -1, False)),
    ("_softmax_backward_data", 0): ((4, 5, 6), lambda x: aten._softmax_backward_data(x, other(4, 5, 6), -1, torch.float32)),
    ("_softmax_backward_data", 1): ((4, 5, 6), lambda x: aten._softmax_backward_data(other(4, 5, 6), x, -1, torch.float32)),
    ("_log_softmax_backward_data", 0): (
        (4, 5, 6),
        lambda x: aten._log_softmax_backward_data(x, other(4, 5, 6), -1, torch.float32),
    ),
    ("_log_softmax_backward_data", 1): (
        (4, 5, 6),
        lambda x: aten._log_softmax_backward_data(other(4, 5, 6), x, -1, torch.float32),
    ),
    ("native_layer_norm", 0): ((4, 5, 6), lambda x: aten.native_layer_norm(x, [6], None, None, 1e-5)),
    ("native_layer_norm_backward", 0): (
        (4, 5, 6),
        lambda x: aten.native_layer_norm_backward(
            x, other(4, 5, 6), [6], other(4, 5, 1), other(4, 5, 1), None, None, [True, False, False]
        ),
    ),
    ("native_layer_norm_backward", 1): (
        (4, 5, 6),
        lambda x: aten.native_layer_norm_backward(
            other(4, 5, 6), x, [6], other(4, 5, 1), other(4, 5, 1), None, None, [True, False, False]
        ),
    ),
    ("native_group_norm", 0): ((2, 4, 5, 6), lambda x: aten.native_group_norm(x, None, None, 2, 4, 30, 2, 1e-5)),
    ("native_batch_norm", 0): ((2, 4, 5, 6), lambda x: aten.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5)),
    ("_native_batch_norm_legit_no_training", 0): (
        (2, 4, 5, 6),
        lambda x: aten._native_batch_norm_legit_no_training(x, None, None, other(4), other(4), 0.1, 1e-5),
    ),
    ("max_pool2d_with_indices", 0): ((2, 4, 6, 6), lambda x: aten.max_pool2d_with_indices(x, [2, 2])),
    ("avg_pool2d", 0): ((2, 4, 6, 6), lambda x: aten.avg_pool2d(x, [2, 2])),
    ("_adaptive_avg_pool2d", 0): ((2, 4, 6, 6), lambda x: aten._adaptive_avg_pool2d(x, [2, 2])),
    ("_scaled_dot_product_flash_attention_for_cpu", 0): (
        (2, 4, 5, 6),
        lambda x: aten._scaled_dot_product_flash_attention_for_cpu(x, other(2, 4, 5, 6), other(2, 4, 5, 6)),
    ),
    ("_scaled_dot_product_flash_attention_for_cpu", 1): (
        (2, 4, 5, 6),
        lambda x: aten._scaled_dot_product_flash_attention_for_cpu(other(2, 4, 5, 6), x, other(2, 4, 5, 6)),
    ),
    ("_scaled_dot_product_flash_attention_for_cpu", 2): (
        (2, 4, 5, 6),
        lambda x: aten._scaled_dot_product_flash_attention_for_cpu(other(2, 4, 5, 6), other(2, 4, 5, 6), x),
    ),
    ("_scaled_dot_product_flash_attention_for_cpu", -1): (
        (2, 4, 5, 7),
        lambda x: aten._scaled_dot_product_flash_attention_for_cpu(
            other(2, 4, 5, 6), other(2, 4, 7, 6), other(2, 4, 7, 6), attn_mask=x
        ),
    ),
    ("_scaled_dot_product_flash_attention_for_cpu_backward", 0): (
        (2, 4, 5, 6),
        lambda x: attention_backward(x, *[None] * 3),
    ),
    ("_scaled_dot_product_flash_attention_for_cpu_backward", 1): (
        (2, 4, 5, 6),
        lambda x: attention_backward(None, x, None, None),
    ),
    ("_scaled_dot_product_flash_attention_for_cpu_backward", 2): (
        (2, 4, 5, 6),
        lambda x: attention_backward(None, None, x, None),
    ),
    ("_scaled_dot_product_flash_attention_for_cpu_backward", 3): (
        (2, 4, 5, 6),
        lambda x: attention_backward(None, None, None, x),
    ),
    ("gather", 0): ((4, 5, 6), lambda x: x.gather(1, torch.zeros(4, 2, 6, dtype=torch.long))),
    ("cat", 0): ((4, 5, 6), lambda x: torch.cat([x, x])),
    ("stack", 0): ((4, 5, 6), lambda x: torch.stack([x, x])),
    ("embedding", 0): ((4, 5, 6), lambda x: aten.embedding(x[0], torch.tensor([1, 2]))),
    ("copy_", 0): ((4, 5, 6), lambda x: torch.empty(4, 5, 6).copy_(x)),
    ("index", 0): ((4, 5, 6), lambda x: x[:, torch.tensor([0, 1])]),
    ("take", 0): ((4, 5, 6), lambda x: aten.take(x, torch.tensor([1, 2]))),
    ("topk", 0): ((4, 5, 6), lambda x: aten.topk(x, 2)),
    ("sort", 0): ((4, 5, 6), lambda x: aten.sort(x)),
    ("nonzero", 0): ((4, 5, 6), lambda x: aten.nonzero(x)),
    ("scatter", 0): ((4, 5, 6), lambda x: aten.scatter(x, 1, torch.zeros(4, 1, 6, dtype=torch.long), 1.0)),
    ("scatter_add", 2): (
        (4, 5, 6),
        lambda x: aten.scatter_add(torch.zeros(4, 5, 6), 1, torch.zeros(4, 5, 6, dtype=torch.long), x),
    ),
    ("index_put", 0): ((4, 5, 6), lambda x: aten.index_put(x, [torch.tensor([0])], torch.tensor(1.0))),
    ("masked_scatter", 0): ((4, 5, 6), lambda x: aten.masked_scatter(x, torch.zeros(4, 5, 6, dtype=torch.bool), other(3))),
    ("grid_sampler_2d", 0): ((2, 4, 6, 6), lambda x: aten.grid_sampler_2d(x, other(2, 3, 3, 2), 0, 0, False)),
    ("grid_sampler_2d", 1): ((2, 3, 3, 2), lambda x: aten.grid_sampler_2d(other(2, 4, 6, 6), x, 0, 0, False)),
    ("native_batch_norm_backward", 0): (
        (2, 4, 6, 6),
        lambda x: aten.native_batch_norm_backward(
            x, other(2, 4, 6, 6), None, None, None, other(4), other(4), True, 1e-5, [True, False, False]
        ),
    ),
    ("native_batch_norm_backward", 1): (
        (2, 4, 6, 6),
        lambda x: aten.native_batch_norm_backward(
            other(2, 4, 6, 6), x, None, None, None, other(4), other(4), True, 1e-5, [True, False, False]
        ),
    ),
    ("upsample_nearest1d", 0): ((2, 4, 6), lambda x: aten.upsample_nearest1d(x, [12])),
    ("upsample_linear1d", 0): ((2, 4, 6), lambda x: aten.upsample_linear1d(x, [12], False)),
    ("upsample_nearest2d", 0): ((2, 4, 6, 6), lambda x: aten.upsample_nearest2d(x, [12, 12])),
    ("upsample_bilinear2d", 0): ((2, 4, 6, 6), lambda x: aten.upsample_bilinear2d(x, [12, 12], False)),
    ("upsample_bicubic2d", 0): ((2, 4, 6, 6), lambda x: aten.upsample_bicubic2d(x, [12, 12], False)),
    ("_upsample_nearest_exact2d", 0): ((2, 4, 6, 6), lambda x: aten._upsample_nearest_exact2d(x, [12, 12])),
    ("_upsample_bilinear2d_aa", 0): ((2, 4, 6, 6), lambda x: aten._upsample_bilinear2d_aa(x, [4, 4], False)),
    ("upsample_nearest2d_backward", 0): (
        (2, 4, 6, 6),
        lambda x: aten.upsample_nearest2d_backward(x, [6, 6], [2, 4, 3, 3]),
    ),
    ("upsample_bilinear2d_backward", 0): (
        (2, 4, 6, 6),
        lambda x: aten.upsample_bilinear2d_backward(x, [6, 6], [2, 4, 3, 3], False),
    ),
    ("reflection_pad2d", 0): ((2, 4, 6, 6), lambda x: aten.reflection_pad2d(x, [1, 1, 1, 1])),
    ("replication_pad2d", 0): ((2, 4, 6, 6), lambda x: aten.replication_pad2d(x, [1, 1, 1, 1])),
    ("nll_loss_forward", 0): ((6, 8), lambda x: aten.nll_loss_forward(x, torch.zeros(6, dtype=torch.long), None, 1, -100)),
    ("embedding_dense_backward", 0): (
        (4, 5, 6),
        lambda x: aten.embedding_dense_backward(x, torch.zeros(4, 5, dtype=torch.long), 9, -1, False),
    ),
    ("embedding", 1): (
        (4, 5),
        lambda x: aten.embedding(other(3, 4), torch.empty_strided(x.shape, x.stride(), dtype=torch.long).zero_()),
    ),
    ("col2im", 0): ((2, 16, 9), lambda x: aten.col2im(x, [6, 6], [2, 2], [1, 1], [0, 0], [2, 2])),
    ("_cdist_forward", 0): ((4, 5, 6), lambda x: aten._cdist_forward(x, other(4, 3, 6), 2.0, None)),
}
# How an operator with an axis is called, where its row is for axis 1, or for the others.
ALONG: dict[str, Callable[[Any, int], Any]] = {"index_select": lambda x, axis: aten.index_select(x, axis, torch.tensor([0, 3]))}


def copies_inside(call: Callable[[Any], Any], x: Any) -> int:
    # The first run of an operation may prepare things that later ones have.
    return copied(lambda: call(x))["aten::copy_"]


def leaves(value: Any) -> list[Any]:
    return list(torch.utils._pytree.tree_leaves(value))


def gives_the_same(call: Callable[[Any], Any], *given: Any) -> bool:
    """Are the results those for dense operands?"""

    def results(*operands: Any) -> list[Any]:
        torch.manual_seed(0)
        return [leaf for leaf in leaves(call(*operands)) if isinstance(leaf, torch.Tensor)]

    dense = [torch.empty(x.shape, dtype=x.dtype).copy_(x) for x in given]
    return all(
        torch.allclose(one, other, rtol=1e-3, atol=1e-4, equal_nan=True)
        for one, other in zip(results(*given), results(*dense), strict=True)
        if one.numel()
    )


@pytest.mark.parametrize(
    "row", [row for row in _kernels.ROWS if row.rule not in (_kernels.ANY, _kernels.TOGETHER)], ids=lambda row: row.names[0]
)
def test_kernels_take_what_the_table_says(row: Any) -> None:
    for name in row.names:
        for position in row.operands:
            shape, call = ((4, 5, 6), lambda x: ALONG[name](x, 1)) if row.axis else CALLS[name, position]
            taken = refused = 0
            least = copies_inside(call, torch.rand(shape))
            for x in layouts(shape):
                takes, inside = row.rule.takes(x.shape, x.stride()), copies_inside(call, x) - least
                same = gives_the_same(call, x)
                # What it does not take it copies, or makes something else of.
                assert (inside == 0 and same) if takes else (inside > 0 or not same), (
                    name,
                    position,
                    x.stride(),
                    takes,
                    inside,
                )
                taken, refused = taken + takes, refused + (not takes)
            assert taken and refused


def elementwise(name: str) -> Callable[[Any], Any]:
    """An operator of the table on a tensor, with what other arguments it needs."""
    special: dict[str, Callable[[Any], Any]] = {
        "where": lambda x: torch.where(x > 1, x, x),
        "masked_fill": lambda x: x.masked_fill(torch.zeros(6, dtype=torch.bool), 1.0),
        "clamp": lambda x: x.clamp(0, 1),
        "clamp_min": lambda x: x.clamp_min(1),
        "clamp_max": lambda x: x.clamp_max(1),
        "addcmul": lambda x: torch.addcmul(x, x, x),
        "addcdiv": lambda x: torch.addcdiv(x, x, x),
        "pow": lambda x: x.pow(2),
        "leaky_relu": lambda x: F.leaky_relu(x),
        "threshold_backward": lambda x: aten.threshold_backward(x, x, 0),
        "gelu_backward": lambda x: aten.gelu_backward(x, x),
        "var_mean": lambda x: torch.var_mean(x, 1),
        "_to_copy": lambda x: x.to(torch.float64),
        "linalg_vector_norm": lambda x: torch.linalg.vector_norm(x, dim=1),
        "logsumexp": lambda x: x.logsumexp(1),
        "new_empty": lambda x: aten.new_empty(x, [3]),
        "new_zeros": lambda x: aten.new_zeros(x, [3]),
        "new_ones": lambda x: aten.new_ones(x, [3]),
        "new_full": lambda x: aten.new_full(x, [3], 1.0),
        "new_empty_strided": lambda x: aten.new_empty_strided(x, [3], [2]),
        "full_like": lambda x: aten.full_like(x, 2.0),
        "cumsum": lambda x: x.cumsum(1),
        "prod": lambda x: x.prod(1),
        "max": lambda x: x.max(1),
        "min": lambda x: x.min(1),
        "amax": lambda x: x.amax(1),
        "amin": lambda x: x.amin(1),
        "argmax": lambda x: x.argmax(1),
        "argmin": lambda x: x.argmin(1),
        "mean": lambda x: x.mean(1),
        "sum": lambda x: x.sum(1),
        "std": lambda x: x.std(1),
        "var": lambda x: x.var(1),
    }
    for bits in ("bitwise_and", "bitwise_or"):
        special[bits] = lambda x, bits=bits: getattr(aten, bits)(x.view(torch.int32), x.view(torch.int32))
    special["bitwise_not"] = lambda x: aten.bitwise_not(x.view(torch.int32))
    if name in special:
        return special[name]
    schema = getattr(aten, name)
    overload = schema.Tensor if "Tensor" in schema.overloads() else getattr(schema, schema.overloads()[0])
    tensors = sum(
        str(argument.type) == "Tensor" and not argument.has_default_value() for argument in overload._schema.arguments
    )
    return lambda x: overload(*[x] * tensors)


@pytest.mark.parametrize("row", [row for row in _kernels.ROWS if row.rule is _kernels.ANY], ids=lambda row: row.names[0])
def test_kernels_that_take_any_strides_never_copy(row: Any) -> None:
    for name in row.names:
        calls: list[tuple[tuple[int, ...], Callable[[Any], Any]]] = [
            CALLS[name, position] for position in row.operands or (0,) if (name, position) in CALLS
        ]
        if row.axis is False:
            calls = [((4, 5, 6, 7), lambda x, axis=axis: ALONG[name](x, axis)) for axis in (0, 2, -1)]
        for shape, call in calls or [((4, 5, 6), elementwise(name))]:
            least = copies_inside(call, torch.rand(shape) + 0.5)
            for x in [x for x in layouts(shape) if not name.endswith("_") or 0 not in x.stride()][1::2]:
                assert copies_inside(call, x) <= least, (name, x.stride())
                assert name in EMPTY or name.endswith("_") or gives_the_same(call, x), (name, x.stride())


# Whose results hold no numbers.
EMPTY = ("empty_like", "new_empty", "new_empty_strided")

# For each operator whose operands have to be in one format: tensors that it may be given, and the operation on these.
TOGETHER: dict[str, tuple[list[tuple[int, ...]], Callable[..., Any]]] = {
    "convolution": (
        [(2, 8, 6, 6), (8, 8, 3, 3)],
        lambda x, w: aten.convolution(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
    ),
    "convolution_backward": (
        [(2, 8, 6, 6), (2, 8, 6, 6), (8, 8, 3, 3)],
        lambda g, x, w: aten.convolution_backward(g, x, w, [0], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, False]),
    ),
    "native_group_norm_backward": (
        [(2, 8, 6, 6), (2, 8, 6, 6)],
        lambda g, x: aten.native_group_norm_backward(
            g, x, torch.ones(2, 2), torch.ones(2, 2), None, 2, 8, 36, 2, [True, False, False]
        ),
    ),
    "max_pool2d_with_indices_backward": (
        [(2, 8, 3, 3), (2, 8, 6, 6)],
        lambda g, x: aten.max_pool2d_with_indices_backward(
            g, x, [2, 2], [], [0, 0], [1, 1], False, torch.zeros(2, 8, 3, 3, dtype=torch.long)
        ),
    ),
    "avg_pool2d_backward": (
        [(2, 8, 3, 3), (2, 8, 6, 6)],
        lambda g, x: aten.avg_pool2d_backward(g, x, [2, 2], [], [0, 0], False, True, None),
    ),
    "_adaptive_avg_pool2d_backward": ([(2, 8, 3, 3), (2, 8, 6, 6)], aten._adaptive_avg_pool2d_backward),
}


@pytest.mark.parametrize("name", [name for row in _kernels.ROWS if row.rule is _kernels.TOGETHER for name in row.names])
def test_kernels_that_take_one_memory_format(name: str) -> None:
    shapes, call = TOGETHER[name]
    given = [other(*shape) for shape in shapes]
    last = [x.to(memory_format=torch.channels_last) for x in given]
    # What it copies of its own whenever it is given this format.
    own = {id(operands): copied(lambda operands=operands: call(*operands))["aten::copy_"] for operands in (given, last)}
    taken = refused = 0
    for position in range(len(shapes)):
        row = _kernels.row_of(name, position)
        if row is None:
            continue
        for around in (given, last):
            for x in layouts(shapes[position]):
                beside = [(y.shape, y.stride()) for at, y in enumerate(around) if at in row.beside and at != position]
                takes = _kernels.takes(row, x.shape, x.stride(), beside)
                operands = [*around[:position], x, *around[position + 1 :]]
                inside = copied(lambda operands=operands: call(*operands))["aten::copy_"]
                assert inside == own[id(around)] if takes else inside > own[id(given)], (
                    name,
                    position,
                    x.stride(),
                    takes,
                    inside,
                )
                assert not takes or gives_the_same(call, *operands), (name, position, x.stride())
                taken, refused = taken + takes, refused + (not takes)
    assert taken and refused


def test_what_is_avoidable_before_a_kernel_of_the_table_can_be_left_out() -> None:
    calls = [(name, shape, call) for (name, _), (shape, call) in CALLS.items() if not name.endswith("copy_")]
    for name, (shapes, many) in TOGETHER.items():
        given = [other(*shape) for shape in shapes]
        for position, shape in enumerate(shapes):
            calls.append((name, shape, lambda x, many=many, at=position, g=given: many(*g[:at], x, *g[at + 1 :])))
    seen: Counter[str] = Counter()
    for name, shape, call in calls:
        for x in list(layouts(shape))[::3]:
            with torch.no_grad(), watched.copies() as found:
                results = leaves(call(x.clone(memory_format=torch.contiguous_format)))
                made = [leaf + 1 for leaf in results if isinstance(leaf, torch.Tensor)]
            assert not found.notes, found.notes
            copy = found.copies[0]
            seen[copy.verdict] += 1
            if copy.avoidable:
                answer = found.what_if(copy, runs=1)
                assert answer.result in ("equal", "close"), (name, x.stride(), answer, str(found))
            del results, made
    assert min(seen["not needed"], seen["for the kernel"]) > 50, seen


def test_copies_inside_of_kernels_are_shown_where_asked() -> None:
    x = torch.randn(4, 5, 6)
    with watched.copies(deep=True) as found:
        x.permute(2, 1, 0).softmax(-1)
    [((name, line), (count, size))] = found.inside.items()
    assert name == "_softmax" and count == 1 and size == 4 * 120 and line.startswith("test_torch_copies.py:")
    assert "inside _softmax at test_torch_copies.py:" in str(found)


# ---- Tests without copies


def test_no_copies() -> None:
    x = torch.randn(3, 4)
    with watched.no_copies():
        x.t() + 1
    with pytest.raises(
        watched.UnexpectedCopies, match="1 copy for the layout that nobody expected:\ntest_torch_copies.py:"
    ) as raised:
        with watched.no_copies(allow=["needed"]):
            x.t().contiguous() + 1
    assert [copy.verdict for copy in raised.value.copies] == ["not needed"] and "takes a tensor of shape (3, 4)" in str(
        raised.value
    )
    with watched.no_copies(allow=["not needed"]):
        x.t().contiguous() + 1
    with watched.no_copies(allow=["test_torch_copies.py"]):
        x.t().contiguous() + 1
    with watched.no_copies(above=48):
        x.t().contiguous() + 1
    with pytest.raises(ZeroDivisionError):
        with watched.no_copies():
            x.t().contiguous() + 1 / 0
    with pytest.raises(ValueError, match="allow has 'neded', which is no verdict"):
        with watched.no_copies(allow=["neded"]):
            pass


# ---- Reports


def test_reports() -> None:
    model, x = copying.models()["Swin"]
    with torch.no_grad(), watched.copies() as found:
        y = model(x)
    text = str(found)
    assert f"{len(found.copies)} copies for the layout in {found.operations} operations" in text
    assert "copying.py:" in text and "F.pad(x.view(x.shape[0], h, w, -1), (0, 0, 0, 0, 0, 0))" in text
    data = json.loads(json.dumps(found.to_dict()))
    passes, least = found.least
    assert data["least"] == {"passes": passes, "bytes": least} and least < found.bytes == data["bytes"]
    assert [copy["verdict"] for copy in data["copies"]] == [copy.verdict for copy in found.copies]
    frames = data["copies"][0]["frames"]
    assert frames[0]["file"].endswith("copying.py") and any(frame["file"] == __file__ for frame in frames)
    assert not any("site-packages/torch/" in frame["file"] for frame in frames)
    page = found.html()
    assert page.startswith("<!DOCTYPE html>") and "<svg" in page and "http-equiv" not in page
    assert not any(word in page for word in ("<script", "<link", "src="))
    del y


# ---- Programs of all kinds


def test_the_programs_own_exceptions_and_results_are_untouched() -> None:
    x = torch.randn(3, 4)
    with pytest.raises(RuntimeError, match="mat1 and mat2"), watched.copies() as found:
        x.t().contiguous() @ x.t()
    assert len(found.copies) == 1
    with pytest.raises(RuntimeError, match="is of one with block"), found:
        pass
    with pytest.raises(RuntimeError, match="nothing was watched yet"):
        watched.copies().copies  # noqa: B018
    with watched.copies() as found:
        torch.eye(3).to_sparse() @ x
        torch.tensor([1 + 2j]).conj().clone()
        torch.zeros(2, 3).resize_(7)
        x.clone().t_().set_(x)
        torch.zeros(0, 3).t().contiguous()
        torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).dequantize()
        x.t().contiguous().view(torch.int32) + 1
        x.numpy()
    assert str(found)


def test_subclasses_and_other_modes() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.testing._internal.two_tensor import TwoTensor
    from torch.utils._python_dispatch import TorchDispatchMode

    pair = TwoTensor(torch.randn(3, 4), torch.randn(3, 4))
    with watched.copies() as found:
        y = pair.t().contiguous() + 1
    assert isinstance(y, TwoTensor) and [copy.verdict for copy in found.copies] == ["not needed"] * 2

    class Counting(TorchDispatchMode):  # type: ignore[misc]
        count = 0

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.count += 1
            return func(*args, **(kwargs or {}))

    x = torch.randn(3, 4)
    for first, second in [(Counting(), watched.copies()), (watched.copies(), Counting())]:
        with first, second:
            x.t().contiguous() + 1
        for mode in (first, second):
            if isinstance(mode, Counting):
                assert mode.count == 3
            else:
                assert [copy.verdict for copy in mode.copies] == ["not needed"]
    for outer, inner in [(FakeTensorMode(), watched.copies()), (watched.copies(), FakeTensorMode())]:
        with outer, inner:
            torch.empty(3, 4).t().contiguous() + 1
    with torch.inference_mode(), watched.copies() as found:
        torch.randn(3, 4).t().contiguous() + 1
    assert [copy.verdict for copy in found.copies] == ["not needed"]
    with watched.copies() as found:
        y = torch.func.vmap(lambda x: x.t().contiguous() + 1)(torch.ones(2, 3, 4))
        z = torch.func.grad(lambda x: x.t().contiguous().sum())(x)
    assert y.shape == (2, 4, 3) and torch.equal(z, torch.ones(3, 4)) and str(found)
    # One report inside of another: both see it.
    with watched.copies() as outer_found, watched.copies() as inner_found:
        x.t().contiguous() + 1
    assert len(outer_found.copies) == len(inner_found.copies) == 1


def strange_programs() -> dict[str, Callable[[], Any]]:
    """Programs of kinds that the watch was not made for."""
    from torch.nn.attention.flex_attention import flex_attention
    from torch.utils.checkpoint import checkpoint
    from torch.utils.data import DataLoader, TensorDataset

    x = torch.arange(12.0).view(3, 4)
    heads = torch.ones(1, 2, 16, 8)

    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.t().contiguous()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.t().contiguous()

    class Failing(Own):
        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            raise KeyError("the program's own")

    def gradient(function: Callable[[Any], Any], **options: Any) -> Any:
        y = x.clone().requires_grad_()
        function(y).sum().backward(**options)
        return y.grad

    def resized() -> Any:
        out = torch.empty(0)
        torch.cat([x.t().contiguous(), x.t()], out=out)
        return out + 1

    def generator() -> Any:
        mine = torch.Generator().manual_seed(1)
        return torch.rand(3, 4, generator=mine).t().contiguous() + 1, torch.randperm(4, generator=mine)

    def scalars() -> Any:
        one = torch.tensor(3.0)
        return one.clone() + 1, one.repeat(3) + 1, one.roll(0) + 1, torch.stack([one, one]) + 1

    def trained() -> Any:
        layer = torch.nn.Linear(4, 4)
        torch.nn.init.ones_(layer.weight)
        torch.nn.init.ones_(layer.bias)
        steps = torch.optim.AdamW(layer.parameters())
        layer(x.t().contiguous().t()).sum().backward()
        steps.step()
        return layer.weight.detach()

    return {
        "fails": lambda: x.t().contiguous() @ x.t(),
        "fails in its backward": lambda: gradient(Failing.apply),
        "functions of its own": lambda: gradient(Own.apply),
        "compiled": lambda: torch.compile(lambda x: x.t().contiguous() + 1, backend="aot_eager", fullgraph=True)(x),
        "operators of functions": lambda: torch.cond(
            torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (x.t().contiguous(),)
        ),
        "flex attention": lambda: flex_attention(heads, heads, heads),
        "exported": lambda: (
            torch.export.export(copying.Larger(), (torch.ones(1, 8, 8, 3),)).module()(torch.zeros(1, 8, 8, 3)).shape
        ),
        "scripted": lambda: torch.jit.script(torch.nn.Sequential(torch.nn.Flatten(0), torch.nn.ReLU()))(x.t()),
        "vmap": lambda: torch.func.vmap(lambda x: x.t().contiguous() + 1)(torch.ones(2, 3, 4)),
        "functionalised": lambda: torch.func.functionalize(lambda x: x.t().contiguous().add_(1))(x),
        "a generator of numbers": generator,
        "an out that grows": resized,
        "scalars": scalars,
        "nothing": lambda: torch.empty(0, 3, 4).permute(2, 0, 1).contiguous() + 1,
        "conjugates": lambda: x.to(torch.complex64).mH.contiguous() + 1,
        "sparse": lambda: x.to_sparse() @ x.t().contiguous(),
        "nested": lambda: torch.nested.nested_tensor([x, x]).to_padded_tensor(0.0),
        "quantised": lambda: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8).t().contiguous().dequantize(),
        "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16)(lambda: x.t().contiguous() @ x)(),
        "workers": lambda: [
            batch[0].t().contiguous() + 1 for batch in DataLoader(TensorDataset(x), batch_size=2, num_workers=1)
        ],
        "recomputed": lambda: gradient(lambda x: checkpoint(lambda x: (x.t().contiguous() * 2).sin(), x, use_reentrant=False)),
        "twice": lambda: gradient(lambda x: torch.autograd.grad((x.t().contiguous() ** 3).sum(), x, create_graph=True)[0]),
        "trained": trained,
        "dropout": lambda: F.dropout(x.t().contiguous(), 0.5),
        "loops": lambda: [row.clone() + 1 for row in (column for column in x.t())],
    }


@pytest.mark.parametrize("name", list(strange_programs()))
def test_programs_of_other_kinds_run_as_they_do_without_a_watch(name: str) -> None:
    program = strange_programs()[name]

    def run() -> Any:
        torch.manual_seed(0)
        try:
            return program()
        except Exception as raised:
            return type(raised), str(raised)

    expected = run()
    with watched.copies() as found:
        got = run()
    for one, other in zip(leaves(expected), leaves(got), strict=True):
        if isinstance(one, torch.Tensor):
            assert one.layout == other.layout and torch.equal(one, other), (one, other)
            assert one.layout is not torch.strided or one.stride() == other.stride()
        else:
            assert one == other
    assert str(found) and json.dumps(found.to_dict()) and found.html()
    if any(copy.avoidable for copy in found.copies):
        try:
            assert found.what_if(runs=1).result in ("equal", "close"), str(found)
        except RuntimeError as no:
            assert str(no).startswith("what_if: "), no


def test_what_functions_do_that_are_given_to_operators_is_unknown() -> None:
    x = torch.randn(3, 4)
    with watched.copies() as found:
        y = x.t().contiguous()
        torch.cond(torch.tensor(True), lambda y: y + 1, lambda y: y - 1, (y,))
        y + 1
    assert [copy.verdict for copy in found.copies] == ["unknown"] and "cond" in found.copies[0].reason
    assert "1 operation not understood: cond: what the functions do" in str(found)


def test_what_compiled_code_reads_and_writes_is_unknown() -> None:
    from torch._inductor.output_code import CompiledFxGraph

    original = CompiledFxGraph.__call__
    double, grow = torch.compile(lambda x: x.sin() * 2), torch.compile(lambda x: x.add_(1))
    x = torch.randn(6, 4)

    def read() -> Any:
        y = x.t().contiguous()
        return double(y), y + 1

    def written() -> Any:
        source = x.clone()
        y = source.t().contiguous()
        grow(source)
        return y + 1, source

    for program in (read, written):
        expected = leaves(program())
        with watched.copies() as found, watched.copies() as other_found:
            got = leaves(program())
        assert all(torch.equal(one, other) for one, other in zip(expected, got, strict=True))
        for report in (found, other_found):
            copy = next(copy for copy in report.copies if "x.t().contig" in copy.line.text or "source.t()" in copy.line.text)
            assert copy.verdict == "unknown" and "compiled code at test_torch_copies.py" in copy.reason, copy
            assert "compiled code: what its kernels do is not seen" in str(report)
        assert CompiledFxGraph.__call__ is original
    # Code that is compiled for the first time, when it is too late to see what it is given.
    code = """if True:
        import torch, shapetracker.torch
        x = torch.randn(6, 4)
        with shapetracker.torch.copies() as found:
            y = x.t().contiguous()
            z = torch.compile(lambda x: x + 1)(y), y + 1
        print([copy.verdict for copy in found.copies], "for the first time" in str(found))
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.stdout == "['unknown'] True\n", run


def test_a_report_within_its_block_is_of_what_was_until_then() -> None:
    x = torch.randn(3, 4)
    with watched.copies() as found:
        y = x.t().contiguous()
        assert [copy.verdict for copy in found.copies] == ["output"]
        y + 1
        assert [copy.verdict for copy in found.copies] == ["not needed"]
        y.relu_()
    assert [copy.verdict for copy in found.copies] == ["guard"]


def test_threads_of_their_own_are_not_watched_and_hooks_are() -> None:
    x = torch.randn(3, 4)
    model = torch.nn.Linear(4, 4)
    model.register_forward_hook(lambda module, args, out: out.t().contiguous().t())
    with watched.copies() as found:
        thread = threading.Thread(target=lambda: x.t().contiguous() + 1)
        thread.start()
        thread.join()
        model(x) + 1
    assert [copy.op for copy in found.copies] == ["clone"]


def test_the_package_alone_imports_no_torch() -> None:
    code = "import sys, shapetracker; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


# ---- What the documentation shows

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_program_of_the_documentation_prints_what_it_says(tmp_path: Path) -> None:
    page = (DOCS / "where-does-my-model-copy.md").read_text()
    program = tmp_path / "windows.py"
    program.write_text(page.split("```python\n")[1].split("```")[0])
    shown = page.split("```text\n")[1].split("```")[0]
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    check = doctest.OutputChecker()
    assert check.check_output(shown, run.stdout, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), run.stdout


def test_the_fixture_of_the_documentation_fails_the_test(tmp_path: Path) -> None:
    page = (DOCS / "no-hidden-copies.md").read_text()
    (tmp_path / "conftest.py").write_text(page.split("```python\n")[1].split("```")[0])
    (tmp_path / "test_it.py").write_text(
        "import torch\nx = torch.zeros(3, 4)\n"
        "def test_free(no_copies):\n    x.t() + 1\n"
        "def test_copies(no_copies):\n    x.t().contiguous() + 1\n"
    )
    run = subprocess.run([sys.executable, "-m", "pytest", "-q", str(tmp_path)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 1 and "2 passed, 1 error" in run.stdout, run.stdout
    assert "UnexpectedCopies: 1 copy for the layout that nobody expected" in run.stdout


def test_what_the_module_says_of_itself_is_so() -> None:
    assert doctest.testmod(watched).failed == 0
