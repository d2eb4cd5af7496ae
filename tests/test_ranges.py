"""`mpgraph.calibrate`, and conversions that have its ranges and no data."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.runtime import input_specs, load_data
from tests.calibration.builders import feeds, net

POLICY = "int8_from_float32"


def data_of(name, samples=3):
    model = ir.load(models.build(name))
    return list(load_data("random", input_specs(model), samples=samples))


@pytest.mark.parametrize("name", ["residual_cnn", "mlp", "decoder"])
def test_ranges_quantize_like_the_data_they_are_from(name, tmp_path):
    model, data = models.build(name), data_of(name)
    path = tmp_path / "ranges.json"
    mpgraph.calibrate(model, data).save(path)
    by_ranges = mpgraph.convert(model, POLICY, ranges=path, allow_slow=True)
    found = mpgraph.Calibration.load(path)
    again = mpgraph.convert(model, POLICY, ranges=found, allow_slow=True)
    by_data = mpgraph.convert(model, POLICY, data=data, allow_slow=True)
    assert by_ranges.quantization.quantized == by_data.quantization.quantized > 0
    assert by_ranges.quantization.activations == again.quantization.activations
    assert not by_ranges.quantization.warnings
    scales = {one.value: one.scale for one in by_data.quantization.activations}
    for one in by_ranges.quantization.activations:
        if one.value in scales:
            assert one.scale == pytest.approx(scales[one.value], rel=0.5)


def test_data_beside_ranges_check_the_result():
    model, samples = net(), feeds(4)
    found = mpgraph.calibrate(model, samples)
    other = [{"x": sample["x"] * 100} for sample in samples]
    result = mpgraph.convert(model, POLICY, ranges=found, data=other)
    assert result.report.checked.comparison is not None
    assert (
        result.quantization.activations
        == mpgraph.convert(model, POLICY, ranges=found).quantization.activations
    )


def test_a_model_is_taken_in_every_form(tmp_path):
    model, samples = net(), feeds(3)
    path = tmp_path / "net.onnx"
    ir.save(ir.clone(model), path)
    found = [mpgraph.calibrate(one, samples) for one in (model, path, ir.to_proto(model))]
    assert len({one.fingerprint for one in found}) == 1
    assert found[0].get_config() == found[1].get_config() == found[2].get_config()
    with ThreadPoolExecutor(2) as pool:
        assert mpgraph.calibrate(path, samples, executor=pool).get_config() == found[0].get_config()


def test_ranges_of_another_model_are_refused():
    found = mpgraph.calibrate(net(), feeds(2))
    with pytest.raises(mpgraph.DataError, match=r"another model.*calibrate this model"):
        mpgraph.convert(models.build("mlp"), POLICY, ranges=found)


def test_ranges_for_another_policy_or_target_that_needs_more_are_refused():
    model = net()
    first, *_ = model.graph
    first.name = "first"
    part = mpgraph.PolicyMap("float32", {"name:first": POLICY})
    found = mpgraph.calibrate(model, feeds(2), part)
    mpgraph.convert(model, part, ranges=found)
    with pytest.raises(mpgraph.DataError, match="calibrate with the same --policy and --target"):
        mpgraph.convert(model, POLICY, ranges=found)


@pytest.mark.parametrize("policy", ["mixed_float16", "int4/32_from_float32"])
def test_a_policy_that_needs_no_ranges_is_refused(policy):
    with pytest.raises(mpgraph.PolicyError, match="needs no ranges on cpu"):
        mpgraph.calibrate(net(), feeds(1), policy)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"observer": "median"}, "'median' is none; accepted: minmax|'median' is none"),
        ({"memory": "much"}, "'much' is no amount of memory"),
        ({"samples": 0}, "at least 1"),
    ],
)
def test_impossible_options_are_refused(options, said):
    with pytest.raises(mpgraph.DataError, match=said):
        mpgraph.calibrate(net(), feeds(1), **options)
    with pytest.raises(mpgraph.DataError, match=said):
        mpgraph.convert(net(), POLICY, data=feeds(1), **options)


def test_options_that_contradict_each_other_are_refused():
    found = mpgraph.calibrate(net(), feeds(1))
    with pytest.raises(mpgraph.InputError, match="the ranges were found by one already"):
        mpgraph.convert(net(), POLICY, ranges=found, observer="mse")
    for options in ({"observer": "mse"}, {"samples": 3}):
        with pytest.raises(mpgraph.InputError, match="speaks of data, and none was given"):
            mpgraph.convert(net(), POLICY, **options)


@pytest.mark.parametrize("policy", ["mixed_float16", "int8_dynamic_from_float32", None])
def test_ranges_that_nothing_uses_are_refused(policy):
    found = mpgraph.calibrate(net(), feeds(1))
    for options in ({"ranges": found}, {"observer": "mse", "data": feeds(1)}):
        with pytest.raises(mpgraph.PolicyError, match="quantizes nothing with known ranges"):
            mpgraph.convert(net(), policy, **options)


def test_the_method_changes_the_ranges():
    samples = feeds(4)
    samples[1]["x"][0, 0, 0] = 500
    scales = {}
    for method in ("minmax", "entropy", "percentile", "mse", "moving_average"):
        found = mpgraph.calibrate(net(), samples, observer=method)
        result = mpgraph.convert(net(), POLICY, ranges=found, verify="load")
        scales[method] = {one.value: one.scale for one in result.quantization.activations}["x"]
    assert scales["entropy"] < 0.5 * scales["minmax"]
    assert len(set(scales.values())) > 2


def test_samples_bound_what_is_used():
    seen = []

    class Data:
        def __iter__(self):
            for index, feed in enumerate(feeds(9)):
                seen.append(index)
                yield feed

    found = mpgraph.calibrate(net(), Data(), samples=4)
    assert found.samples == 4
    assert max(seen) <= 4


def test_float16_regions_are_calibrated_in_float16():
    """A conversion to int8 and float16 sees the values as float16 rounds them."""
    policy = "int8_from_mixed_float16"
    model, samples = net(), feeds(3)
    found = mpgraph.calibrate(model, samples, policy, target="cpu", allow_slow=True)
    assert np.isfinite([found.range(name).high for name in found.accumulators]).all()
    result = mpgraph.convert(model, policy, ranges=found, allow_slow=True)
    assert result.quantization.quantized == 2
