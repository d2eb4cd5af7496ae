"""The pass that finds ranges: what it observes, and what it makes of ranges that are there."""

from __future__ import annotations

import pytest

from mpgraph.calibration import CalibrationSettings
from mpgraph.errors import DataError, PolicyError
from mpgraph.policy import PolicyMap, QuantizationMode, QuantizedDTypePolicy
from mpgraph.quant.calibration import Calibration
from mpgraph.quant.observers import Observer
from mpgraph.runtime import input_specs, load_data
from tests.calibration.builders import feeds, net
from tests.pipelines import given, run


def facts_with_data(policy="int8_from_float32", target="cpu"):
    facts = given(policy, target)
    facts.put(load_data(feeds(4), input_specs(net())))
    return facts


def calibrated(facts):
    model = net()
    assert run(model, "calibrate", facts) is False
    return facts.find(Calibration)


def test_only_what_the_plan_needs_is_observed():
    found = calibrated(facts_with_data())
    assert list(found.accumulators) == ["x", "r"]


def test_settings_come_before_the_policy():
    facts = facts_with_data()
    facts.put(CalibrationSettings(observer=Observer(method="mse"), memory="1GB"))
    assert calibrated(facts).observer == Observer(method="mse")


@pytest.mark.parametrize("policy", ["float32", "int4/32_from_float32"])
def test_nothing_is_done_where_no_range_is_static(policy):
    assert calibrated(facts_with_data(policy)) is None


def test_nothing_is_done_without_data():
    assert calibrated(given("int8_from_float32", "cpu")) is None


def test_two_observers_are_refused():
    mode = QuantizationMode(name="m", activation_dtype="int8", observer="entropy")
    policy = PolicyMap("int8_from_float32", {"op:MatMul": QuantizedDTypePolicy(mode, "float32")})
    facts = facts_with_data()
    facts.put(policy)
    with pytest.raises(PolicyError, match=r"by minmax, and policy .* by entropy .*one method"):
        calibrated(facts)
    facts.put(CalibrationSettings(observer=Observer()))
    assert calibrated(facts).observer == Observer()


def test_ranges_that_are_there_must_know_all_values():
    found = calibrated(facts_with_data())
    facts = given("int8_from_float32", "cpu")
    facts.put(found)
    assert calibrated(facts) is found
    fewer = {name: one for name, one in found.accumulators.items() if name == "x"}
    facts.put(Calibration(found.fingerprint, found.observer, fewer))
    with pytest.raises(DataError, match=r"lack 'r', .*--policy and --target"):
        calibrated(facts)
    unseen = dict.fromkeys(["h", "r", "t"], "was never computed on this data")
    facts.put(Calibration(found.fingerprint, found.observer, fewer, missing=unseen))
    calibrated(facts)


def test_ranges_per_channel_are_no_ranges_of_activations():
    facts = facts_with_data()
    facts.put(CalibrationSettings(observer=Observer(axis=-1)))
    found = calibrated(facts)
    facts = given("int8_from_float32", "cpu")
    facts.put(found)
    with pytest.raises(DataError, match="minmax per index of axis -1; activations are quantized"):
        calibrated(facts)
