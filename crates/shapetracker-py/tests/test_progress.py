"""Following work: `progress=` of `shapetracker.apply` and `shapetracker.zarr.apply`."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")

from shapetracker import ShapeTracker, _progress, apply  # noqa: E402


def follow(told: list[tuple[int, int]]) -> Callable[[int, int], None]:
    return lambda done, total: told.append((done, total))


def rises(told: list[tuple[int, int]], total: int) -> bool:
    done = [done for done, _ in told]
    return done[0] == 0 and done[-1] == total and done == sorted(set(done)) and {of for _, of in told} == {total}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_copy_of_an_array_is_followed(threads: int) -> None:
    x = np.arange(1500 * 6000, dtype="f4").reshape(1500, 6000)
    told: list[tuple[int, int]] = []
    y = apply(".permute(1, 0).pad((0, 0), (5, 0))", x, fill=-1, threads=threads, progress=follow(told))
    assert np.array_equal(y, np.pad(x.T, ((0, 0), (5, 0)), constant_values=-1))
    assert rises(told, y.nbytes) and len(told) == 4
    # Elements whose strides are no whole numbers of elements, and fill values of several parts, go another way.
    pairs = np.zeros(x.shape, [("a", "u1"), ("b", "f4")])["b"][:600]
    pairs[...] = x[:600]
    told.clear()
    tracker = ShapeTracker.contiguous(600, 6000).permute(1, 0).pad((0, 0), (5, 0))
    y = apply(tracker, pairs, fill=0.1, progress=follow(told))
    assert np.array_equal(y, np.pad(x[:600].T, ((0, 0), (5, 0)), constant_values=np.float32(0.1))) and rises(told, y.nbytes)


def test_little_and_nothing_and_views() -> None:
    for shape in [(), (1, 1), (3, 2), (0, 3)]:
        told: list[tuple[int, int]] = []
        x = np.ones(shape, "i2")
        assert np.array_equal(apply(lambda x: x, x, copy=True, progress=follow(told)), x)
        assert told[0] == (0, x.nbytes) and told[-1] == (x.nbytes, x.nbytes)
    told = []
    assert apply(".permute(1, 0)", np.ones((2, 3)), progress=follow(told)).base is not None and not told


def test_what_is_raised_ends_the_work(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt(f"{done} of {total}")

    with pytest.raises(KeyboardInterrupt, match="of 36000000"):
        apply(".permute(1, 0)", np.ones((3000, 3000), "f4"), copy=True, progress=stop)
    zarr = pytest.importorskip("zarr")
    import shapetracker.zarr

    x = zarr.create_array(tmp_path / "x", shape=(8, 6), chunks=(4, 3), dtype="i4")
    x[...] = 1
    with pytest.raises(KeyboardInterrupt):
        shapetracker.zarr.apply(".permute(1, 0)", x, tmp_path / "y", progress=stop)
    assert [entry.name for entry in tmp_path.iterdir()] == ["x"]


def test_an_array_of_zarr_is_followed() -> None:
    zarr = pytest.importorskip("zarr")
    import shapetracker.zarr

    x = zarr.create_array(zarr.storage.MemoryStore(), shape=(40, 60), chunks=(8, 10), dtype="i4")
    x[...] = np.arange(2400).reshape(40, 60)
    for workers in (1, 2):
        told: list[tuple[int, int]] = []
        options: dict[str, Any] = {"chunks": (16, 20), "memory": 6000, "workers": workers}
        plan = shapetracker.zarr.plan(".permute(1, 0)", x, **options)
        y = shapetracker.zarr.apply(".permute(1, 0)", x, zarr.storage.MemoryStore(), progress=follow(told), **options)
        assert rises(told, plan.bytes_read + plan.bytes_written) and np.array_equal(y[...], x[...].T)
        assert len(told) == 1 + plan.reads + plan.tasks
    # Chunks of the margin are not written, and not counted.
    told = []
    shapetracker.zarr.apply(".pad((0, 16), (0, 0))", x, zarr.storage.MemoryStore(), chunks=(8, 10), progress=follow(told))
    assert rises(told, 2 * 9600)


def test_a_line_on_stderr(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones((3000, 3000), "f4")
    apply(".permute(1, 0)", x, copy=True, progress=True)
    # It took less than a second, or what it took more is shown.
    assert not (quick := capsys.readouterr().err) or "100 %" in quick
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    apply(".permute(1, 0)", x, copy=True, progress=True)
    shown = capsys.readouterr()
    assert not shown.out and shown.err.endswith("\n") and shown.err.startswith("\r")
    assert "apply: 34.3 MiB of 34.3 MiB, 100 %, " in shown.err
    # Not more often than people can read.
    meter = _progress.Meter("apply", True, 1000)
    begun = time.monotonic()
    with meter:
        for _ in range(1000):
            meter.add(1)
    lines = capsys.readouterr().err.count("\r")
    assert 1 <= lines <= 2 + (time.monotonic() - begun) / _progress.EVERY


@pytest.mark.parametrize("progress", ["yes", 1, 0.5])
def test_what_follows_nothing(progress: Any) -> None:
    with pytest.raises(TypeError, match="`progress` is True, or a function of the bytes that are done and of all, not"):
        apply(ShapeTracker.contiguous(2), np.ones(2), progress=progress)
