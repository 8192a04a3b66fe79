"""`shapetracker.dask` on a cluster of two worker processes, of which one is killed in the middle."""

import os
import signal
import time

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import shapetracker.dask as std  # noqa: E402
from shapetracker import ShapeTracker  # noqa: E402


def slowly(block: np.ndarray) -> np.ndarray:
    time.sleep(0.02)
    return block


def test_a_worker_is_killed_in_the_middle() -> None:
    values = np.arange(96 * 100, dtype="f4").reshape(96, 100)
    x = da.from_array(values, chunks=(12, 13)).map_blocks(slowly, dtype=values.dtype)

    def chain(x: ShapeTracker) -> ShapeTracker:
        return x.permute(1, 0).reshape(75, 128).flip(0)

    # Some tasks take whole chunks, others what was cut out of them.
    plan = std.plan(chain, x, chunks=(10, 16), memory=6000)
    assert 0 < plan.cuts < plan.reads
    y = std.apply(chain, x, chunks=(10, 16), memory=6000).map_blocks(slowly, dtype=x.dtype)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        workers = client.run(os.getpid)
        assert len(workers) == 2 and os.getpid() not in workers.values()
        future = client.compute(y)
        begun = time.monotonic()
        while time.monotonic() < begun + 30:
            if sum(key[0].startswith("slowly") for key in client.who_has() if isinstance(key, tuple)) > 20:
                break
            time.sleep(0.02)
        assert not future.done()
        os.kill(next(iter(workers.values())), signal.SIGKILL)
        result = future.result(timeout=60)
        assert set(client.run(os.getpid).values()) != set(workers.values())
    assert np.array_equal(result, values.T.reshape(75, 128)[::-1])
