"""Ranges from many workers are those of one, bit for bit."""

from __future__ import annotations

import json
import multiprocessing
import os
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from mpgraph.calibration import calibrate
from mpgraph.errors import ConversionError, DataError, MpgraphError
from mpgraph.quant.observers import METHODS, Observer
from tests.calibration.builders import feeds, net
from tests.calibration.test_job import BODIES
from tests.runtime.builders import build

CASES = [*(Observer(method=method) for method in METHODS), Observer(method="entropy", axis=-1)]


def config(calibration):
    return json.dumps(calibration.get_config(), allow_nan=False)


FEW = (Observer(method="entropy"),)


def check_all(executor: Executor, observers=FEW, **options) -> None:
    """Some observers, together and in passes, in the main graph and in a body."""
    model, samples = net(), feeds(40)
    samples[7]["x"][0, 0, 0] = np.nan
    for observer in observers:
        here = calibrate(model, samples, observer, values=["x", "h", "r", "y"])
        there = calibrate(
            model, samples, observer, values=["x", "h", "r", "y"], executor=executor, **options
        )
        assert config(there) == config(here), observer
    here = calibrate(model, samples, "mse", memory=30_000)
    there = calibrate(model, samples, "mse", memory=30_000, executor=executor, **options)
    assert config(there) == config(here)
    text, body_samples, expected = BODIES["loop"]
    looped = build(text, ten=np.array(10, np.float32))
    here = calibrate(looped, body_samples * 12, "moving_average", values=expected)
    there = calibrate(
        looped, body_samples * 12, "moving_average", values=expected, executor=executor, **options
    )
    assert config(there) == config(here)


def test_threads():
    with ThreadPoolExecutor(3) as pool:
        check_all(pool, CASES)


def test_processes():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        check_all(pool)


def test_a_dask_cluster():
    distributed = pytest.importorskip(
        "distributed", reason="dask is not installed: pip install -e '.[dask]'"
    )
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, dashboard_address=None, processes=True
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as client:
        check_all(client.get_executor(), workers=4)


class Counting(Executor):
    """Runs everything at once, and keeps how many results were waited for at a time."""

    def __init__(self) -> None:
        self.open = self.most = 0

    def submit(self, function, /, *args, **kwargs):
        self.open += 1
        self.most = max(self.most, self.open)
        outer = self

        class Done(Future):
            def result(self, timeout=None):
                outer.open -= 1
                return super().result(timeout)

        done = Done()
        try:
            done.set_result(function(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done


def test_no_more_than_two_pieces_a_worker_are_under_way():
    counting = Counting()
    calibrate(net(), feeds(100), executor=counting, workers=2)
    assert counting.most == 4


def test_an_error_of_a_worker_is_the_error():
    samples = feeds(20)
    bad = [*samples[:10], {"x": np.zeros((1, 2, 7), np.float32)}]
    with (
        ThreadPoolExecutor(2) as pool,
        pytest.raises(MpgraphError, match=r"sample 10.*'x'"),
    ):
        calibrate(net(), bad, executor=pool)


def test_a_worker_that_is_gone_is_an_error():
    class Gone(Counting):
        def submit(self, function, /, *args, **kwargs):
            return super().submit(os.stat, "/no/such/file")

    with pytest.raises(ConversionError, match=r"worker: failed with FileNotFoundError.*the same"):
        calibrate(net(), feeds(3), executor=Gone(), workers=1)


def test_all_nonfinite_is_an_error_there_too():
    samples = [{"x": np.full((1, 2, 8), np.inf, np.float32)}] * 20
    with ThreadPoolExecutor(2) as pool, pytest.raises(DataError, match="NaN or infinite"):
        calibrate(net(), samples, executor=pool)
