from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mpgraph
from mpgraph import ir
from mpgraph.errors import DataError, TargetError, VerificationError
from mpgraph.runtime.bench import Bench, Ratio, Timing, bench_models
from tests.runtime.builders import build

SMALL = "g (float[n,8] x) => (float[n,8] y) { y = MatMul (x, w) }"
LARGE = "g (float[n,8] x) => (float[n,8] y) { h = MatMul (x, u) r = Relu (h) y = MatMul (r, v) }"
X = {"x": np.ones((4, 8), np.float32)}
QUICK: dict[str, Any] = {"seconds": 0.02, "sessions": 3}


def small() -> ir.Model:
    return build(SMALL, w=np.eye(8, dtype=np.float32))


def large() -> ir.Model:
    wide = np.ones((8, 65536), np.float32)
    return build(LARGE, u=wide, v=np.ascontiguousarray(wide.T))


def test_what_a_benchmark_holds(tmp_path: Path) -> None:
    path = tmp_path / "large.onnx"
    ir.save(large(), path)
    said: list[tuple[str, int, int]] = []
    got = bench_models(
        small(),
        path,
        small(),
        data=X,
        threads=1,
        labels=["small", "large", "small"],
        report=lambda *told: said.append(told),
        **QUICK,
    )
    assert [one.label for one in got.timings] == ["small #1", "large", "small #3"]
    for one in got.timings:
        assert 0 < one.best <= one.low <= one.median <= one.high
    assert [(one.a, one.b) for one in got.ratios] == [
        ("small #1", "large"),
        ("small #1", "small #3"),
        ("large", "small #3"),
    ]
    assert (got.sessions, got.environment.threads) == (3, 1)
    assert got.environment.provider == "CPUExecutionProvider"
    assert got.environment.options["session.force_spinning_stop"] == "1"
    assert "session.qdq_matmulnbits_accuracy_level" in got.environment.options
    assert {one.op_type for one in got.nodes["large"]} >= {"MatMul"}
    assert sum(one.share for one in got.nodes["large"]) == pytest.approx(1)
    assert [step[1:] for step in said] == [(at, 6) for at in range(6)]


def test_it_is_public() -> None:
    assert mpgraph.bench is bench_models


def test_inputs_of_other_dtypes_sequences_and_bfloat16() -> None:
    wide = build("g (float[n] x) => (float[n] y) { y = Neg (x) }")
    half = build("g (float16[n] x) => (float16[n] y) { y = Neg (x) }")
    brain = build("g (bfloat16[n] x) => (bfloat16[n] y) { y = Identity (x) }")
    got = bench_models(wide, half, brain, data={"x": np.ones(3, np.float32)}, **QUICK)
    assert len(got.timings) == 3
    sequence = build(
        "g (seq(float[n]) s) => (float[n] y) { i = Constant<value_int = 0> () y = SequenceAt (s, i) }"
    )
    assert bench_models(sequence, data={"s": [np.ones(2, np.float32)]}, **QUICK).winner is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sessions": 2}, "3 are needed"),
        ({"seconds": 0.0}, "not above 0"),
        ({"confidence": 1.0}, "not between 0 and 1"),
        ({"data": []}, "no sample"),
    ],
)
def test_bad_arguments_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        bench_models(small(), **{"data": X, **QUICK, **options})


def test_no_model_other_inputs_and_other_targets_are_refused() -> None:
    with pytest.raises(DataError, match="no model"):
        bench_models(data=X)
    other = build("g (float[n,8] z) => (float[n,8] y) { y = Neg (z) }")
    with pytest.raises(DataError, match="has no input 'x'"):
        bench_models(small(), other, data=X)
    with pytest.raises(TargetError):
        bench_models(small(), data=X, target="gpu9")


def test_a_model_that_fails_at_run_time_is_an_error_of_ours() -> None:
    model = build("g (float[n,8] x, int64[m] s) => (float[k] y) { y = Reshape (x, s) }")
    with pytest.raises(VerificationError, match="fails at run time"):
        bench_models(model, data={**X, "s": np.array([7])}, **QUICK)


def bench_of(medians: dict[str, float], ratios: tuple[Ratio, ...]) -> Bench:
    timings = tuple(Timing(label, one, one, one, one, 1.0) for label, one in medians.items())
    return Bench(timings, ratios, 0.95, 3, 5, (1,) * len(timings), "x", None)  # type: ignore[arg-type]


def test_a_winner_is_clear_of_every_other() -> None:
    sure, unsure = Ratio("a", "b", 2, 1.8, 2.2), Ratio("a", "b", 1.1, 0.9, 1.3)
    assert bench_of({"a": 1, "b": 2}, (sure,)).winner == "a"
    assert bench_of({"a": 1, "b": 1.1}, (unsure,)).winner is None
    assert bench_of({"a": 1}, ()).winner is None
    third = (sure, Ratio("a", "c", 1.05, 0.99, 1.1), Ratio("b", "c", 0.5, 0.4, 0.6))
    assert bench_of({"a": 1, "b": 2, "c": 1.05}, third).winner is None
