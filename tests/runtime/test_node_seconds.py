"""Times of kernels, by the nodes that they compute."""

from __future__ import annotations

import numpy as np

from mpgraph.runtime.node_seconds import kernel_seconds
from tests.runtime.builders import build


def test_every_node_that_runs_has_a_time():
    model = build(
        """g (float[64,64] x) => (float[64,64] y) {
            a = MatMul (x, w)
            b = Softmax (a)
            y = MatMul (b, w)
        }""",
        w=np.eye(64, dtype=np.float32),
    )
    found = kernel_seconds(model, "cpu", {"x": np.ones((64, 64), np.float32)})
    assert found is not None
    assert {node for nodes, _ in found for node in nodes} == {0, 1, 2}
    assert all(seconds > 0 for _, seconds in found)
