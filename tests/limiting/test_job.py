"""The pass limit-error and `max_error`: what is kept, what is refused, and that it holds."""

from __future__ import annotations

import numpy as np
import pytest

import mpgraph
from mpgraph import ir
from mpgraph.errors import ConversionError, DataError, InputError
from mpgraph.limiting import times
from mpgraph.limiting.refusal import refuse_useless
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.sensitivity import Latency, SearchProgress, Sensitivity
from mpgraph.runtime import compare_models, input_specs, load_data
from tests.limiting.cases import CARRY_OUT, DECIDE, HARMFUL, chain, convolutions, feeds
from tests.pipelines import given
from tests.pipelines import run as run_passes

LIMIT = 0.06


def limited(model, limit=LIMIT, policy="int8_from_float32", steps=None):
    """Quantize a model in place within an error, without timing it; return the facts."""
    facts = given(policy, "cpu")
    facts.put(load_data(feeds(model), input_specs(model)))
    if steps is not None:
        facts.put(SearchProgress(lambda step, done, total: steps.append((step, done, total))))
    run_passes(
        model,
        f"normalize,convert-opset,{DECIDE},limit-error{{max-error={limit} seconds=0}},{CARRY_OUT}",
        facts,
    )
    return facts


def test_exactly_the_harmful_node_is_kept():
    original, model, steps = convolutions(), convolutions(), []
    found = limited(model, steps=steps).get(Sensitivity)
    assert found.everything > 3 * LIMIT
    assert [node.name for node in found.kept] == [HARMFUL]
    assert (found.quantized, found.quantizable) == (5, 6)
    assert found.kept[0].error > LIMIT
    assert "of its range" in found.kept[0].reason
    compared = compare_models(original, model, feeds(original)).max_relative
    assert compared <= found.error <= LIMIT
    assert found.builds <= 4
    assert {step for step, _, _ in steps} == {"build and measure", "measure sets of nodes"}
    assert all(done <= total for _, done, total in steps)


def test_the_plan_says_why_a_node_stays_in_float():
    facts = limited(convolutions())
    (kept,) = [node for node in facts.get(QuantizationPlan).nodes if node.name == HARMFUL]
    assert kept.form == "float"
    assert kept.reason == facts.get(Sensitivity).kept[0].reason


def test_nothing_is_measured_alone_where_all_is_within_the_error():
    found = limited(chain(), limit=0.5).get(Sensitivity)
    assert found.kept == ()
    assert found.error == found.everything <= 0.5
    assert found.builds == 1


def test_an_impossible_error_leaves_nothing_quantized_and_the_model_exact():
    original, model = convolutions(), convolutions()
    found = limited(model, limit=1e-7).get(Sensitivity)
    assert found.quantized == 0
    assert compare_models(original, model, feeds(original)).max_relative <= 1e-7
    with pytest.raises(ConversionError, match="none of 6 nodes stays quantized"):
        refuse_useless(found, "cpu", allow_slow=False)
    refuse_useless(found, "cpu", allow_slow=True)


def test_a_search_is_the_same_every_time():
    texts = set()
    for _ in range(2):
        model = convolutions()
        limited(model, limit=0.01)
        texts.add(ir.print_model(model))
    assert len(texts) == 1


@pytest.mark.parametrize("policy", ["int8_weight_from_float32", "int4/16_from_float32"])
def test_weights_alone_are_limited_too(policy):
    model = chain()
    facts = given(policy, "webgpu")
    facts.put(load_data(feeds(model), input_specs(model)))
    text = "normalize,convert-opset,plan-quantization{force=true},"
    text += f"limit-error{{max-error=0.001 seconds=0 force=true}},{CARRY_OUT}"
    run_passes(model, text, facts)
    found = facts.get(Sensitivity)
    assert found.everything > 0.001
    assert found.error <= 0.001
    assert compare_models(chain(), model, feeds(model)).max_relative <= 0.001


def test_a_model_that_loses_time_is_refused_in_words():
    slow = Sensitivity(0.03, 0.02, 0.02, (), 4, 4, Latency(1.3, 1.2, 1.4), 1, 2, 0.1, 3)
    with pytest.raises(
        ConversionError, match=r"x1\.30 \(x1\.20 to x1\.40\) of the time in float on cpu"
    ):
        refuse_useless(slow, "cpu", allow_slow=False)
    refuse_useless(None, "cpu", allow_slow=False)


@pytest.mark.parametrize(
    ("latency", "is_faster"),
    [
        (Latency(0.6, 0.5, 0.7), True),
        (Latency(0.99, 0.985, 0.995), True),
        (Latency(0.75, 0.5, 1.1), True),
        (Latency(0.85, 0.7, 1.1), False),
        (Latency(0.99, 0.95, 1.03), False),
        (Latency(1.01, 0.97, 1.05), False),
        (Latency(1.02, 1.01, 1.03), False),
    ],
)
def test_a_gain_that_the_spread_may_hide_is_none(latency, is_faster):
    assert latency.is_faster is is_faster
    found = Sensitivity(0.03, 0.02, 0.02, (), 4, 4, latency, 1, 2, 0.1, 3)
    if is_faster:
        refuse_useless(found, "cpu", allow_slow=False)
    else:
        with pytest.raises(ConversionError, match="of the time in float"):
            refuse_useless(found, "cpu", allow_slow=False)


def test_convert_reports_what_it_kept_and_how_long_the_result_takes(monkeypatch):
    monkeypatch.setattr(times, "_TURNS", ((0.05, 3),))
    model = convolutions()

    def within(limit):
        return mpgraph.convert(
            model, "int8_from_float32", data=feeds(model), max_error=limit, allow_slow=True
        )

    limit = 0.7 * within(1.0).sensitivity.everything
    result = within(limit)
    found = result.sensitivity
    assert found.latency is not None
    assert found.kept
    assert found.quantized > 0
    names = [one["name"] for one in result.report.to_dict()["sensitivity"]["kept"]]
    assert names == [node.name for node in found.kept]
    assert result.report.checked.comparison.max_relative <= limit
    assert np.isfinite(found.kept[0].gain)


def test_max_error_needs_data_and_a_number():
    with pytest.raises(DataError, match="none was given"):
        mpgraph.convert(chain(), "int8_from_float32", max_error=0.03)
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="is no limit"):
            mpgraph.convert(chain(), "int8_from_float32", data=feeds(chain()), max_error=wrong)


def test_max_error_holds_for_rounding_to_low_floats_too():
    model = chain()
    result = mpgraph.convert(
        model, "mixed_bfloat16", target="cuda", data=feeds(model), max_error=1e-4
    )
    assert result.sensitivity is None
    assert result.report.checked.comparison.max_relative <= 1e-4
