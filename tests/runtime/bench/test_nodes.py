from __future__ import annotations

import pytest

from mpgraph.errors import VerificationError
from mpgraph.runtime.bench.nodes import node_times


def run(ts: int) -> dict[str, object]:
    return {"cat": "Session", "name": "model_run", "ts": ts, "dur": 100}


def node(name: str, ts: int, dur: int, op: str = "MatMul") -> dict[str, object]:
    told = {"op_name": op, "provider": "CPUExecutionProvider"}
    return {"cat": "Node", "name": f"{name}_kernel_time", "ts": ts, "dur": dur, "args": told}


def test_warm_up_does_not_count_and_loops_add_up() -> None:
    events = [
        node("a", 10, 90_000),
        run(0),
        node("a", 1010, 30),
        node("b", 1050, 5),
        node("b", 1060, 5),
        {"cat": "Node", "name": "a_fence_before", "ts": 1010, "dur": 7},
        run(1000),
        node("a", 2010, 48),
        node("b", 2060, 12, "Add"),
        run(2000),
    ]
    got = node_times(events, warmups=1)
    assert [(one.name, one.op_type) for one in got] == [
        ("a", "MatMul"),
        ("b", "Add"),
        ("b", "MatMul"),
    ]
    assert [one.seconds for one in got] == pytest.approx([39e-6, 6e-6, 5e-6])
    assert [one.share for one in got] == pytest.approx([0.78, 0.12, 0.1])
    assert got[0].provider == "CPUExecutionProvider"


def test_a_profile_of_warm_up_alone_is_refused() -> None:
    with pytest.raises(VerificationError, match="1 runs, 1 of them warm-up"):
        node_times([run(0)], warmups=1)
