"""Whether a dtype runs on a target, told by running it."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.errors import TargetError
from mpgraph.runtime import trial
from mpgraph.runtime.trial import try_dtype

pytest.importorskip("onnxruntime", reason="runs a MatMul on the CPU provider")


def test_the_cpu_computes_in_float32_only() -> None:
    assert try_dtype("cpu", ir.DataType.FLOAT).ran
    half = try_dtype("cpu", ir.DataType.FLOAT16)
    assert (half.ran, half.dtype) == (False, "float16")
    assert "casts" in half.problem
    assert "does not load" in try_dtype("cpu", ir.DataType.BFLOAT16).problem


def test_a_wrong_result_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "run", lambda session, feed: {"y": np.zeros((16, 16))})
    assert try_dtype("cpu", ir.DataType.FLOAT).problem == "the result is wrong"


def test_a_target_that_is_not_there_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(model: ir.Model, target: str) -> None:
        raise TargetError("target cuda", "no device " + "x" * 300)

    monkeypatch.setattr(trial, "node_placement", refuse)
    problem = try_dtype("cuda", ir.DataType.FLOAT).problem
    assert problem.startswith("no device") and len(problem) < 200
