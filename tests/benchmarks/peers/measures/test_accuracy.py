"""Inputs that a tool was not calibrated on."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.peers.measures.accuracy import unseen


def test_floats_become_fainter_and_integers_stay() -> None:
    ids = np.array([3, 5])
    (feed,) = unseen([{"x": np.array([1.0, -2.0], np.float32), "ids": ids}])
    assert feed["x"].dtype == np.float32
    np.testing.assert_allclose(feed["x"], [0.9, -1.8], rtol=1e-6)
    assert feed["ids"] is ids
