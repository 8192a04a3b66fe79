"""`python -m shapetracker` has the words of the command: what its own tests say that it prints, the package prints, too."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SESSIONS = Path(__file__).resolve().parents[2] / "shapetracker-cli" / "tests" / "cmd"


def sessions(text: str) -> Iterator[tuple[list[str], str, int]]:
    """What is typed in a file of sessions, what is printed, and the exit status; what is left open there is left out."""
    for block in text.split("```console\n")[1:]:
        inside = block.split("```")[0]
        for one in inside.split("$ shapetracker ")[1:]:
            typed, _, printed = one.partition("\n")
            status = 0
            if printed.startswith("? "):
                line, _, printed = printed.partition("\n")
                status = int(line[2:])
            words = shlex.split(typed)
            if "[.." not in printed and "\n...\n" not in printed and not {"|", "<", ">", "-"} & set(words):
                yield words, printed.strip("\n"), status


# The first sessions of each file; those with names are of several words.
CASES = [
    (path, *session)
    for path in sorted(SESSIONS.glob("*.trycmd"))
    for session in list(sessions(path.read_text()))[: 3 if path.stem == "symbolic" else 1]
]


def answer(words: list[str], folder: Path | None = None) -> tuple[str, int]:
    """What is printed in the order of the command's sessions, which have one stream, and the exit status."""
    variables = {name: value for name, value in os.environ.items() if name not in ("CLICOLOR_FORCE", "COLUMNS")}
    done = subprocess.run(
        [sys.executable, "-m", "shapetracker", *words],
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
    )
    return done.stdout.decode().strip("\n"), done.returncode


@pytest.mark.parametrize("path, words, printed, status", CASES, ids=[" ".join(words)[:40] for _, words, *_ in CASES])
def test_a_word_prints_what_the_command_prints(
    path: Path, words: list[str], printed: str, status: int, tmp_path: Path
) -> None:
    files = path.with_suffix(".in")
    if files.is_dir():
        shutil.copytree(files, tmp_path, dirs_exist_ok=True)
    told, code = answer(words, tmp_path)
    if words in (["--help"], ["-h"]):
        told, _, more = told.rpartition("\n\n")
        assert "python -m shapetracker copies" in more
    assert (told, code) == (printed, status)


def test_every_word_of_the_command_is_tried() -> None:
    words = {words[0] for _, words, *_ in CASES}
    assert words >= {*"apply batch check conditions describe explain explore index layout map merge nest plan shard simplify".split()}


def test_what_is_wrong_with_the_words_is_said() -> None:
    told, code = answer(["explayn"])
    assert code == 2 and "explain" in told


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts are sent otherwise there")
def test_a_command_that_waits_is_ended_by_an_interrupt() -> None:
    words = [sys.executable, "-m", "shapetracker", "explain", "-"]

    def as_in_a_terminal() -> None:
        # What runs in the background of a shell does not listen to interrupts, and neither does what it starts.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(words, stdin=subprocess.PIPE, preexec_fn=as_in_a_terminal) as waiting:
        # It waits for its standard input, which has no end.
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(2)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(20) == -signal.SIGINT
