"""Samples side by side in one process: the same ranges, within the same budget."""

from __future__ import annotations

import json
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpgraph.calibration import calibrate, lanes
from mpgraph.calibration.lanes import in_lanes
from mpgraph.calibration.work import Job
from mpgraph.errors import DataError
from mpgraph.quant.observers import METHODS, Observer
from mpgraph.runtime.observation import ObservationPass, Runner
from tests.calibration.builders import feeds, net
from tests.calibration.test_job import BODIES
from tests.runtime.builders import build

BUDGET = 10**6


def job(bytes: int = 0, threads: int = 0) -> Job:
    return Job(ObservationPass(bytes=bytes), (), {}, Observer(), BUDGET, threads)


@given(
    held=st.integers(0, BUDGET),
    threads=st.integers(0, 20),
    samples=st.integers(0, 50),
    cores=st.integers(1, 20),
)
def test_lanes_keep_to_samples_threads_and_budget(
    held: int, threads: int, samples: int, cores: int
) -> None:
    count, each = in_lanes(job(held, threads), samples, cores)
    assert 1 <= count <= max(min(samples, threads or cores), 1)
    assert each.budget_bytes * count <= BUDGET
    assert each.budget_bytes >= held
    if count > 1:
        assert count - 1 + each.threads == (threads or cores)
    else:
        assert each == job(held, threads)


def test_there_is_a_lane_for_each_core_if_nothing_speaks_against_it() -> None:
    assert in_lanes(job(), 100, 4)[0] == 4
    assert in_lanes(job(threads=3), 100, 16)[0] == 3
    assert in_lanes(job(bytes=BUDGET // 2), 100, 4)[0] == 2
    assert in_lanes(job(), 2, 4)[0] == 2


class Watched(Runner):
    """Keeps how many samples run at a time; none goes on before a second one runs too."""

    meeting: threading.Barrier
    most = 0

    def run(self, feed: Any) -> Any:
        try:
            self.meeting.wait(timeout=10)
            type(self).most = max(self.most, self.meeting.parties)
        except threading.BrokenBarrierError:
            pytest.fail("samples do not run side by side")
        return super().run(feed)


def test_samples_do_run_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "usable_cores", lambda: 2)
    monkeypatch.setattr("mpgraph.calibration.work.Runner", Watched)
    monkeypatch.setattr(Watched, "meeting", threading.Barrier(2), raising=False)
    found = calibrate(net(), feeds(8))
    assert Watched.most == 2
    assert found.samples == 8


@pytest.mark.parametrize("method", METHODS)
def test_ranges_do_not_depend_on_the_number_of_lanes(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, samples = net(), feeds(40)
    samples[7]["x"][0, 0, 0] = np.nan
    text, body_samples, names = BODIES["loop"]
    looped = build(text, ten=np.array(10, np.float32))
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(lanes, "usable_cores", lambda cores=cores: cores)
        for memory in ("512MB", 30_000):
            found.append((calibrate(model, samples, method, memory=memory), "net"))
        found.append((calibrate(looped, body_samples * 8, method, values=names), "loop"))
    texts = {(kind, json.dumps(one.get_config(), allow_nan=False)) for one, kind in found}
    assert len(texts) == 2


def test_an_error_in_a_lane_is_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "usable_cores", lambda: 3)
    bad = [*feeds(20), {"x": np.zeros((1, 2, 7), np.float32)}]
    with pytest.raises(DataError, match=r"sample 20.*'x'"):
        calibrate(net(), bad)
