"""Biases in int32: the scale that onnxruntime demands, and room in the accumulator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpgraph.errors import InputError
from mpgraph.quant.formats import (
    LARGEST_BIAS,
    SMALLEST_SCALE,
    Layout,
    bias_parameters,
    dequantize,
    quantize_bias,
    raise_weight_scale_for_bias,
)


def test_the_scale_is_the_float32_product():
    random = np.random.default_rng(1)
    weight_scale = random.uniform(1e-4, 1e-2, 1000).astype(np.float32)
    input_scale = np.float32(0.0123)
    parameters = bias_parameters(input_scale, weight_scale)
    expected = np.array([np.float32(input_scale * one) for one in weight_scale])
    assert np.array_equal(parameters.scale, expected)
    assert parameters.scale.dtype == np.float32
    assert parameters.layout == Layout.per_axis(0)
    assert parameters.format.dtype == "int32"
    assert not parameters.zero_point.any()


def test_one_scale_for_all_channels():
    parameters = bias_parameters(np.array([0.5], np.float32), 0.25)
    assert parameters.scale.shape == ()
    assert parameters.scale == 0.125
    assert parameters.layout == Layout()
    bias = np.array([0.125, -0.0625, 0.1875, 10], np.float32)
    assert quantize_bias(bias, parameters).tolist() == [1, 0, 2, 80]


def test_integers_above_what_float32_holds_are_exact():
    parameters = bias_parameters(2.0**-10, np.full(3, 2.0**-14, np.float32))
    steps = np.array([2**30 - 64, -(2**30) + 128, 2**24 + 2], np.int64)
    bias = (steps * 2.0**-24).astype(np.float32)
    values = quantize_bias(bias, parameters)
    assert values.dtype == np.int32
    assert np.array_equal(values, steps)
    assert np.array_equal(dequantize(values, parameters), bias)


def test_only_scales_that_are_too_fine_are_raised():
    bias = np.array([1.0, 1000.0, 0.0], np.float32)
    given_scale = np.array([1e-3, 1e-9, 1e-9], np.float32)
    raised = raise_weight_scale_for_bias(bias, 1e-3, given_scale)
    assert raised[0] == given_scale[0]
    assert raised[1] == pytest.approx(1000 / LARGEST_BIAS / 1e-3, rel=1e-5)
    assert raised[2] == given_scale[2]
    with pytest.raises(InputError, match="tensor 'b': 1 of 3 biases overflow int32"):
        quantize_bias(bias, bias_parameters(1e-3, given_scale), name="b")
    assert np.abs(quantize_bias(bias, bias_parameters(1e-3, raised))).max() <= LARGEST_BIAS


@given(
    st.lists(st.floats(-(2.0**66), 2.0**66, width=32), min_size=1, max_size=6),
    st.floats(2.0**-60, 2.0**60, width=32),
    st.floats(2.0**-60, 2.0**60, width=32),
    st.booleans(),
)
def test_raised_scales_fit_and_biases_come_back(bias, input_scale, weight_scale, shared):
    bias = np.array(bias, np.float32)
    scales = np.float32(weight_scale) if shared else np.full(bias.shape, weight_scale, np.float32)
    raised = raise_weight_scale_for_bias(bias, input_scale, scales)
    assert raised.shape == np.shape(scales)
    assert (raised >= scales).all()
    parameters = bias_parameters(input_scale, raised)
    values = quantize_bias(bias, parameters)
    assert np.abs(values.astype(np.int64)).max() <= LARGEST_BIAS
    error = np.abs(values * parameters.scale.astype(np.float64) - bias)
    assert (error <= parameters.scale.astype(np.float64) * 0.5).all()


def test_a_product_that_underflows_is_refused_and_raised():
    with pytest.raises(InputError, match="no normal float32 number"):
        bias_parameters(1e-20, 1e-20)
    raised = raise_weight_scale_for_bias(np.zeros(1, np.float32), 1e-20, np.float32(1e-20))
    assert bias_parameters(1e-20, raised).scale >= SMALLEST_SCALE


def test_what_is_refused():
    with pytest.raises(InputError, match="the input has 2 scales"):
        bias_parameters(np.ones(2, np.float32), 1.0)
    with pytest.raises(InputError, match="no normal float32 number"):
        bias_parameters(1e30, 1e30)
    with pytest.raises(InputError, match="no float32 weight scale fits"):
        raise_weight_scale_for_bias(np.full(1, 3e38, np.float32), 1e-30, np.float32(1))
    with pytest.raises(InputError, match="tensor 'b': 1 NaN"):
        quantize_bias(np.array([np.nan], np.float32), bias_parameters(1.0, 1.0), name="b")
    with pytest.raises(InputError, match="tensor 'b': its scales have shape"):
        quantize_bias(np.zeros(3, np.float32), bias_parameters(1.0, np.ones(2)), name="b")
