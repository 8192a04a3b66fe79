"""Runs the lines of the reference's pages in NumPy, and in PyTorch where it is installed, beside what the pages claim.

    python check_reference.py FOLDER

FOLDER has the pages as Markdown. Of each row of a table of methods the line is run on its array for several sizes of the
names: whether the result shares its memory with the array, its strides where they are said, and whether an error is raised.
Of each page of a message the lines of its exercise are run, too. It shares no code with the library.
"""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]
try:
    import einops
except ImportError:
    einops = None  # type: ignore[assignment]

SIZES = [{"B": 2, "T": 3, "C": 4, "H": 3, "W": 2, "D": 5}, {"B": 3, "T": 1, "C": 2, "H": 1, "W": 4, "D": 2},
         {"B": 1, "T": 4, "C": 1, "H": 4, "W": 1, "D": 3}, {"B": 5, "T": 2, "C": 3, "H": 2, "W": 3, "D": 1}]


def names(sizes: dict[str, int]) -> dict[str, Any]:
    known: dict[str, Any] = dict(sizes, np=np, sliding_window_view=np.lib.stride_tricks.sliding_window_view)
    if torch is not None:
        known.update(torch=torch, F=torch.nn.functional, reinterpret_tensor=torch.as_strided)
    if einops is not None:
        known.update(rearrange=einops.rearrange, repeat=einops.repeat)
    return known


def strides(array: Any) -> list[int]:
    if isinstance(array, np.ndarray):
        return [stride // array.itemsize for stride in array.strides]
    return list(array.stride())


def memory(array: Any) -> np.ndarray[Any, Any]:
    return array if isinstance(array, np.ndarray) else array.detach().numpy()


def holds(condition: str, sizes: dict[str, int]) -> bool:
    return bool(eval(condition.replace(",", ""), {}, dict(sizes)))


def claimed(cell: str) -> str | None:
    found = re.match(r"`(\(.*?\))`(?: with ([^,]*(?:, \w = \d+)*))?", cell)
    return found[1] if found is not None and found[2] is None else None


def plain(cell: str) -> str:
    return re.sub(r"\\([*_<>\[\]\\#|])", r"\1", cell)


def check_row(where: str, given: str, before: str, after: str, does: str, code: str, wrong: list[str]) -> int:
    # The notation of the library is no Python.
    is_missing = torch is None and "torch" in given + code or einops is None and re.match(r"re(arrange|peat)\(", code)
    if given.startswith("x = (") or is_missing:
        return 0
    count = 0
    for sizes in SIZES:
        known = names(sizes)
        exec(given, known)
        x = known["x"]
        at = f"{where}: {given}; {code} at {sizes}"
        expected = eval(before, {}, dict(sizes))
        if any(size != 1 and mine != one for size, mine, one in zip(x.shape, strides(x), expected)):
            wrong.append(f"{at}: x has strides {strides(x)}, not {before}")
        unless = re.match(r"Unless (.*?): ", does)
        is_other = unless is not None and holds(unless[1], sizes)
        said = does[unless.end():] if unless is not None else does
        try:
            result = eval(code, known)
        except Exception as error:
            if is_other or "raises" not in said.split(";")[0]:
                wrong.append(f"{at}: {error}, and the page says {does}")
            continue
        count += 1
        shares = np.shares_memory(memory(x), memory(result))
        if is_other:
            continue
        if "raises" in said.split(";")[0]:
            wrong.append(f"{at}: no error, and the page says {does}")
        elif shares == ("copies" in said.split(";")[0] or "makes a new array" in said or "always copies" in said):
            wrong.append(f"{at}: it {'shares' if shares else 'does not share'} memory, and the page says {does}")
        formula = claimed(after)
        if formula is not None:
            expected = eval(formula, {}, dict(sizes))
            if any(size != 1 and mine != one for size, mine, one in zip(result.shape, strides(result), expected)):
                wrong.append(f"{at}: strides {strides(result)}, and the page says {after}")
    return count


def check_method(page: Path, wrong: list[str]) -> int:
    count = 0
    for part in page.read_text().split("\n## "):
        blocks = re.findall(r"```python\n(.*?)\n```", part, re.S)
        if len(blocks) != 2:
            continue
        code, arrays = blocks[0], dict(reversed(line.split("  # ")) for line in blocks[1].splitlines())
        for line in part.splitlines():
            cells = [plain(cell.strip()) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if cells and cells[0] in arrays and "not followed" not in line:
                lies, before, after, does = cells[:4]
                count += check_row(page.stem, arrays[lies], before.strip("`"), after, does, code, wrong)
    return count


def check_message(page: Path, wrong: list[str]) -> int:
    text = page.read_text().replace("&gt;", ">").replace("&quot;", '"')
    count = 0
    message = re.search(r'<pre class="message"><code>(.*?)</code>', text, re.S)
    raised = re.search(r"raises it, for instance here:\n\n```python\n(.*?)\n```", text)
    lines = [(raised[1], True)] if raised is not None else []
    lines += [(code, says == "An error") for code, says in re.findall(r"<li><code>(.*?)</code>: (An error|No error)\.", text)]
    for at, (code, is_wrong) in enumerate(lines):
        if "jnp." in code or torch is None and "torch" in code or einops is None and code.startswith("rearrange"):
            continue
        count += 1
        try:
            exec(code, names({}))
            error = None
        except Exception as found:
            error = found
        # Tensors without data have a message of their own for what `view` says of others.
        own = {"cannot-view-a-tensor-with-shape", "the-tensor-has-a-non-zero-number-of-elements"}
        if page.stem in own and at == 0:
            continue
        if (error is not None) != is_wrong:
            wrong.append(f"{page.stem}: {code}: {error}")
        if at == 0 and message is not None:
            said = " ".join(message[1].split(": ", 1)[1].split())
            if said.rstrip(".") not in " ".join(str(error).split()):
                wrong.append(f"{page.stem}: {code} says {error}")
    return count


def main() -> None:
    folder = Path(sys.argv[1])
    wrong: list[str] = []
    rows = sum(check_method(page, wrong) for page in sorted(folder.glob("methods/*.md")))
    lines = sum(check_message(page, wrong) for page in sorted(folder.glob("errors/*.md")))
    print(f"{rows} lines of methods and {lines} of messages run", "with PyTorch" if torch is not None else "without PyTorch")
    if rows == 0 or lines == 0:
        sys.exit(f"{folder} has no pages with lines to run")
    if wrong:
        sys.exit("\n".join(itertools.islice(wrong, 60)))


main()
