"""What is advised, against what NumPy and PyTorch do: every line is run, and so is all code that is offered (`advised.py`)."""

import collections
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import advised
import named
import oracle
import pytest
from counted import NumPy, Runs, Torch
from lines import Lines

from shapetracker import Advice, ParseError, advice


@pytest.mark.parametrize("seed", range(4))
def test_numpy_does_what_is_said(seed: int) -> None:
    tally = advised.judged(Lines(NumPy()), seed, range(oracle.cases(750)))
    assert not tally.false, tally.table("NumPy")
    assert_all_kinds(tally)


def test_pytorch_did_what_is_said() -> None:
    """Of 3,000 lines it is recorded what PyTorch did; where this fails for code that is new, `advised.py --record` runs it."""
    tally = advised.Tally()
    for line in advised.recorded():
        advised.tried(tally, line, None)
    assert not tally.false, tally.table("PyTorch")
    assert tally.lines == 3000
    assert_all_kinds(tally)
    assert tally.done["raises"] > 100


@pytest.mark.parametrize("seed", range(2))
def test_pytorch_does_what_is_said(seed: int) -> None:
    pytest.importorskip("torch")
    tally = advised.judged(Lines(Torch()), seed, range(oracle.cases(400)))
    assert not tally.false, tally.table("PyTorch")
    assert_all_kinds(tally)


@pytest.mark.parametrize("library", [NumPy, Torch])
def test_libraries_do_what_is_said_of_names(library: Callable[[], Runs]) -> None:
    """Lines whose sizes are names are run at values: they do what is said for all of them, and so does all code."""
    if library is Torch:
        pytest.importorskip("torch")
    runs = library()
    lines, sums, faults = Lines(runs), collections.Counter[str](), []
    for number in range(oracle.cases(600)):
        line = named.draw(lines, random.Random(f"named:{number}"))
        if line is None:
            continue
        try:
            answer = advice(line.text, line.base)
        except ParseError:
            sums["refused"] += 1
            continue
        if answer.answer is None:
            continue
        seen, wrong = named.judge(lines, line, answer, runs)
        faults += wrong
        sums.update(seen | {"lines": 1, "for some": bool(getattr(answer, runs.name).unless)})
    print(runs.name, dict(sums))
    assert not faults, "\n".join(faults[:5])
    assert sums["lines"] > oracle.cases(600) // 3 and sums["compared"] > 5 * sums["apart"]
    assert min(sums[kind] for kind in ("for some", "apart", "codes", "fewer", "enough", "beside")) > 0, sums
    # What the code for names writes more than that for their values, as smallest copies are known of numbers only.
    assert sums["more"] < sums["beside"] // 10, sums


def assert_all_kinds(tally: advised.Tally) -> None:
    """Lines of all kinds were there, and few were refused."""
    assert min(tally.done[kind] for kind in ("view", "copies", "code")) > tally.lines // 30, tally.done
    assert sum(tally.refused.values()) < tally.lines // 3, tally.refusals_table()


def test_pytorch_does_what_was_recorded() -> None:
    pytest.importorskip("torch")
    runs = Torch()
    lines = list(advised.recorded())
    for line in random.Random(0).sample(lines, min(oracle.cases(200), len(lines))):
        if Torch.HIDDEN.search(line.text):
            # What such a call copies inside is seen where it is called alone.
            continue
        names = {} if line.base is None else {"x": runs.addresses(line.base)}
        raising = line.raises
        try:
            _, written = runs.run(line.text, **names)
        except (RuntimeError, ValueError) as error:
            assert raising is not None and raising.raises.startswith(f"{type(error).__name__}: "), line
        else:
            assert raising is None and written == line.written, line


@pytest.mark.parametrize("library", [NumPy, Torch])
def test_the_judge_finds_what_is_false(library: Callable[[], Runs]) -> None:
    """Whatever is changed in an answer that is right, or in code that is, is found."""
    if library is Torch:
        pytest.importorskip("torch")
    lines = Lines(library())
    seen = {"does": 0, "copied": 0, "sum": 0, "code": 0, "value": 0, "raises": 0, "view": 0}
    for number in range(oracle.cases(200)):
        line = advised.draw(lines, 0, number)
        try:
            answer = advice(line.text, line.base)
        except ParseError:
            continue
        said = getattr(answer, line.library)
        if not line.calls or line.value is None or line.raises or line.has_scalar or said is None:
            continue
        if advised.compare(line, answer, lines.runs):
            continue

        def kinds(view: bool | None = answer.one_view, **changed: Any) -> list[str]:
            """What is found where something is changed in the answer."""
            fields = {name: getattr(said, name) for name in ("does", "copied", "sentence", "code")} | changed
            names = "elements smallest view sentence"
            all_of = {name: getattr(answer, name) for name in names.split()} | {"one_view": view}
            other = SimpleNamespace(**all_of, **{line.library: SimpleNamespace(**fields)})
            return [kind for kind, _ in advised.compare(line, other, lines.runs)]

        assert kinds() == []
        for does in {"view", "copies", "raises"} - {said.does}:
            # Of an array without elements both may be said.
            if line.written or not said.copied:
                assert any(kind.startswith("does") for kind in kinds(does=does)), line
                seen["does"] += 1
        if said.does == "copies" and line.written:
            more = (*said.copied[:-1], (said.copied[-1][0], said.copied[-1][1] + 1))
            for copied in (said.copied[1:], (*said.copied, (9, 1)), more):
                assert any(kind.startswith("copied") for kind in kinds(copied=copied)), line
            seen["copied"] += 1
            assert kinds(sentence=f"In all {len(said.copied)} operations copy {line.written + 1} elements."), line
            seen["sum"] += 1
            module = "np" if line.library == "numpy" else "torch"
            # Elements are counted by their width, so that code which changes their type is not.
            converts = any(word in line.text for word in ("astype", "dtype", "np.array("))
            if line.base is not None and "\n" not in line.text and not converts:
                twice = f"x = {line.text}\n{module}.flip({module}.flip(x, (0,)), (0,))" + (".copy()" if module == "np" else "")
                if line.value.ndim and 0 not in line.value.shape:
                    assert "code: writes more than the line" in kinds(code=twice), (line, twice)
                    seen["code"] += 1
                if line.value.shape != (1, *line.memory.shape):
                    assert any("another value" in kind for kind in kinds(code="x[None]")), line
                    seen["value"] += 1
        assert any(kind.startswith("code: raises") for kind in kinds(code="x.view(7, 7, 7)")), line
        seen["raises"] += 1
        # Where NumPy has a reading of its own, the one answer for all libraries is not held against it.
        own_reading = ".transpose(" in line.text or ".repeat(" in line.text
        if line.affine is not None and answer.one_view is not None and not own_reading:
            assert any(kind.startswith("view") for kind in kinds(view=not answer.one_view)), line
            seen["view"] += 1
    assert min(seen.values()) > oracle.cases(200) // 60, seen


def test_each_buffer_is_counted() -> None:
    """What is known of single calls, temporaries among them."""
    runs = NumPy()
    for code, shape, written in [
        ("x.T.ravel()", (2, 3), 6),
        ("np.copy(x.T).reshape(6)", (2, 3), 12),
        ("np.repeat(x, 2)", (2, 3), 12),
        ("np.repeat(x.T, 2)", (2, 3), 18),
        ("np.tile(x, (2, 3))", (2, 3), 48),
        ("np.ascontiguousarray(x)", (2, 3), 0),
        ("np.lib.stride_tricks.sliding_window_view(x, 2, 1)", (2, 3), 0),
        ("np.split(x, 3, 1)[1]", (2, 3), 0),
    ]:
        assert runs.run(code, x=runs.addresses(shape))[1] == written, code
    torch = pytest.importorskip("torch")
    assert torch is not None
    runs = Torch()
    for code, shape, written in [
        ("x.t().reshape(6)", (2, 3), 6),
        ("x.t().clone().reshape(6)", (2, 3), 12),
        ("x.repeat(2, 2)", (2, 3), 24),
        ("x.t().repeat_interleave(2)", (2, 3), 18),
        ("F.pad(x, (1, 1))", (2, 3), 10),
        ("x.contiguous()", (2, 3), 0),
        ("torch.cat((x.t().flatten(), x.flatten()))", (2, 3), 18),
    ]:
        assert runs.run(code, x=runs.addresses(shape))[1] == written, code


def test_what_is_said_is_short_and_can_be_asked_for() -> None:
    answer = advice("x.transpose(1, 2).view(8, 15)", (8, 3, 5))
    assert type(answer) is Advice
    assert (bool(answer), answer.one_view, answer.step, answer.elements, answer.smallest) == (False, False, 1, 120, True)
    assert answer.view is None and answer.witness is not None
    assert answer.pytorch is not None and answer.pytorch.does == "raises" and answer.pytorch.copied == ((1, 120),)
    assert answer.pytorch.code == "x.transpose(1, 2).contiguous().view(8, 15)"
    assert str(answer).splitlines()[0] == answer.sentence
    assert advice("(3, 2).permute(1, 0)").elements == 0


@pytest.mark.parametrize(
    "text, base, error, words",
    [
        ("x.T", None, ParseError, "depends on the shape"),
        ("x.permute(1, 0)", None, ParseError, "shape"),
        ("(2, 3).reshape(7)", None, ParseError, "7"),
        ("(2, 3).flip(0)", (3, 2), ParseError, "but the base has shape"),
        ("x.T", "no", TypeError, "advice"),
        ("x.T", (2, 1 << 70), OverflowError, "advice"),
    ],
)
def test_mistakes_are_sentences(text: str, base: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        advice(text, base)


@pytest.mark.parametrize("base", [(1, 2, 1, 1), ("A", 2, 1, 1)])
def test_calls_that_leave_an_array_as_it_is(base: Any) -> None:
    for text in ("x.detach()", "np.asarray(x)", "x.numpy()", "y = x.detach()\ny.numpy()"):
        answer = advice(text, base)
        assert answer.one_view and answer.pytorch.does == answer.numpy.does == "view", text
    assert advice("x.contiguous(memory_format=torch.channels_last)", (1, 2, 1, 1)).pytorch.copied == ()
    with pytest.raises(ParseError, match="expected `.` and an operation, found the end of the text"):
        advice("x.detach()")


def test_a_name_that_no_number_has_is_named_with_what_would_work() -> None:
    text = "y.transpose(1,2).contiguous().view(B,T,C)"
    with pytest.raises(ParseError, match="found `B`, and nothing says which number that is: write the number in its place") as err:
        advice(text, (2, 4, 8, 8))
    begin, end = err.value.span
    assert text[begin:end] == "B"
    # Both ways out that the sentence has.
    assert advice("y.transpose(1,2).contiguous().view(2,8,32)", (2, 4, 8, 8)).one_view
    assert advice(f"B, T, C = 2, 8, 32; {text}", (2, 4, 8, 8)).one_view
    with pytest.raises(ParseError, match="the shape of the array `y` is not known: write it in place of the name"):
        advice("y.transpose(1,2).contiguous().view(2,8,32)")
    assert advice("(2, 4, 8, 8).transpose(1,2).contiguous().view(2,8,32)").one_view
