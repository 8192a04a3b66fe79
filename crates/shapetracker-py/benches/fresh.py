"""Fresh results end to end: `shapetracker.apply` beside NumPy and PyTorch, allocation and page faults included.

    pip install . numpy            # and torch, which is measured where it is installed
    python crates/shapetracker-py/benches/fresh.py [--largest 1024]

A row is a layout of so many MiB of float32. All take turns in one process, each result is given back before the next one is
made, and a cell is the median of the milliseconds with its quartiles. One thread: PyTorch is told so.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

import shapetracker
from shapetracker import ShapeTracker

try:
    import torch
except ImportError:
    torch = None


def times(ways: dict[str, Callable[[], object]], seconds: float) -> dict[str, list[float]]:
    """The milliseconds of each way, in turns until they took so long together; at least five of each."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds or any(len(of) < 5 for of in found.values()):
        for name, way in ways.items():
            before = time.perf_counter()
            result = way()
            found[name].append((time.perf_counter() - before) * 1e3)
            del result
    return found


def cell(of: list[float]) -> str:
    low, middle, high = statistics.quantiles(of, n=4)
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1024, help="MiB of the largest results (1024)")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row (2)")
    options = parser.parse_args()
    names = ["shapetracker", f"NumPy {np.__version__}"]
    if torch is not None:
        torch.set_num_threads(1)
        names.append(f"PyTorch {torch.__version__}")
    print("| result, ms | MiB | " + " | ".join(names) + " |")
    print("|---|" + "---|" * (1 + len(names)))
    mib = 1
    while mib <= options.largest:
        side = int((mib << 18) ** 0.5)
        x = np.arange(side * side, dtype=np.float32).reshape(side, side)
        batch = np.arange(side * side // 1024 * 1024, dtype=np.float32).reshape(16, -1, 64)
        padded = ((3, 3), (3, 3))
        rows = {
            "transpose": (ShapeTracker.contiguous(x.shape).permute((1, 0)), x, lambda x: np.ascontiguousarray(x.T)),
            "axes (0, 2, 1)": (
                ShapeTracker.contiguous(batch.shape).permute((0, 2, 1)),
                batch,
                lambda x: np.ascontiguousarray(x.transpose(0, 2, 1)),
            ),
            "padded by 3, transposed": (
                ShapeTracker.contiguous(x.shape).pad(padded).permute((1, 0)),
                x,
                lambda x: np.ascontiguousarray(np.pad(x, padded).T),
            ),
        }
        in_torch = {
            "transpose": lambda x: x.T.contiguous(),
            "axes (0, 2, 1)": lambda x: x.permute(0, 2, 1).contiguous(),
            "padded by 3, transposed": lambda x: torch.nn.functional.pad(x, (3, 3, 3, 3)).T.contiguous(),
        }
        for name, (tracker, array, numpy) in rows.items():
            ways = [lambda: shapetracker.apply(tracker, array, copy=True), lambda: numpy(array)]
            assert np.array_equal(ways[0](), ways[1]())
            if torch is not None:
                tensor = torch.from_numpy(array)
                ways.append(lambda: in_torch[name](tensor))
                assert np.array_equal(ways[0](), ways[2]().numpy())
            found = times(dict(zip(names, ways, strict=True)), options.seconds)
            print(f"| {name} | {mib} | " + " | ".join(cell(of) for of in found.values()) + " |", flush=True)
        mib *= 8 if mib < 512 else 2


if __name__ == "__main__":
    main()
