"""Models timed side by side, and the times of nodes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mpgraph import ir
from mpgraph.limiting import times as module
from mpgraph.limiting.times import part_seconds, ratio_of_times
from mpgraph.quant import QuantizationPlan
from mpgraph.runtime import input_specs, load_data
from mpgraph.runtime.bench import Ratio
from tests.limiting.cases import DECIDE, convolutions, feeds
from tests.pipelines import given
from tests.pipelines import run as run_passes

WIDE = Ratio("a", "b", 0.98, 0.8, 1.2)


@pytest.mark.parametrize(
    ("ratios", "asked"),
    [
        ([Ratio("a", "b", 0.5, 0.4, 0.6)], [(2.0, 3)]),
        ([WIDE, Ratio("a", "b", 0.98, 0.97, 0.99)], [(2.0, 3), (4.0, 5)]),
        ([WIDE, WIDE, WIDE], [(2.0, 3), (4.0, 5), (8.0, 8)]),
    ],
)
def test_models_are_timed_longer_where_the_spread_hides_the_faster(monkeypatch, ratios, asked):
    left, calls = list(ratios), []

    def bench(*models, data, target, seconds, sessions):
        calls.append((seconds, sessions))
        return SimpleNamespace(ratios=(left.pop(0),))

    monkeypatch.setattr(module, "bench_models", bench)
    model = convolutions()
    data = load_data(feeds(model), input_specs(model))
    found = ratio_of_times(model, model, data, "cpu", 2.0)
    assert calls == asked
    last = ratios[-1]
    assert (found.ratio, found.low, found.high) == (last.ratio, last.low, last.high)


def test_the_relu_behind_a_node_belongs_to_it():
    model = convolutions()
    facts = given("int8_from_float32", "cpu")
    data = load_data(feeds(model), input_specs(model))
    facts.put(data)
    run_passes(model, f"normalize,convert-opset,{DECIDE}", facts)
    plan = facts.get(QuantizationPlan)
    kernels = tuple((frozenset({place}), 1.0) for place, _ in enumerate(ir.nodes(model)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "kernel_seconds", lambda *given: kernels)
        found = part_seconds(model, plan, plan.chosen, data, "cpu")
    assert found == [2.0] * 5 + [1.0]
