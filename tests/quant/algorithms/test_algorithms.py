"""GPTQ and AWQ: never worse than rounding to the nearest, and exact where nothing is to be lost."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.quant.algorithms import awq, gptq, output_error, round_to_nearest
from mpgraph.quant.formats import Format, dequantize

FORMATS = [Format("uint4", symmetric=False), Format("int4", symmetric=True)]


def layer(inputs=96, outputs=48, samples=400, seed=0):
    """A weight, and activations that hang together and have a few large channels."""
    random = np.random.default_rng(seed)
    mixing = random.normal(size=(inputs, inputs)) / 4
    sizes = np.exp(random.normal(size=inputs))
    sizes[::17] *= 20
    activations = random.normal(size=(samples, inputs)) @ (mixing + np.eye(inputs)) * sizes
    weight = random.normal(size=(inputs, outputs)).astype(np.float32) / 8
    return weight, activations.astype(np.float32)


def moments_of(activations):
    return activations.T @ activations


@pytest.mark.parametrize("format", FORMATS, ids=lambda one: one.dtype)
@pytest.mark.parametrize("block_size", [None, 32, 40])
@pytest.mark.parametrize("by_activation", [False, True])
def test_gptq_halves_the_error_of_products(format, block_size, by_activation):
    weight, activations = layer()
    moments = moments_of(activations)
    plain = round_to_nearest(weight, format, block_size)
    better = gptq(weight, moments, format, block_size, by_activation=by_activation)
    exact = activations @ weight
    errors = [float(np.square(activations @ one.real() - exact).sum()) for one in (plain, better)]
    assert errors[1] < 0.5 * errors[0]
    assert better.values.dtype == format.numpy_dtype
    assert better.parameters.scale.shape == plain.parameters.scale.shape


@pytest.mark.parametrize("format", FORMATS, ids=lambda one: one.dtype)
@pytest.mark.parametrize("block_size", [None, 32])
@pytest.mark.parametrize("seed", range(4))
def test_awq_is_never_worse_than_the_nearest(format, block_size, seed):
    weight, activations = layer(seed=seed)
    moments = moments_of(activations)
    plain = round_to_nearest(weight, format, block_size)
    better = awq(weight, moments, format, block_size)
    assert output_error(weight, better.real(), moments) <= output_error(
        weight, plain.real(), moments
    )


def test_awq_gains_where_channels_differ():
    weight, activations = layer()
    moments = moments_of(activations)
    better = awq(weight, moments, FORMATS[0], 32)
    plain = round_to_nearest(weight, FORMATS[0], 32)
    assert better.factors is not None
    assert output_error(weight, better.real(), moments) < 0.8 * output_error(
        weight, plain.real(), moments
    )


def test_the_error_is_that_of_the_products():
    weight, activations = layer()
    real = round_to_nearest(weight, FORMATS[0], 32).real()
    wanted = np.square((activations @ (real - weight)).astype(np.float64)).sum()
    assert output_error(weight, real, moments_of(activations)) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("by_activation", [False, True])
def test_gptq_keeps_what_the_format_holds(by_activation):
    """A weight that is on the grid already has no error to make up for."""
    weight, activations = layer()
    rounded = round_to_nearest(weight, FORMATS[0], None)
    held = dequantize(rounded.values, rounded.parameters)
    again = gptq(held, moments_of(activations), FORMATS[0], None, by_activation=by_activation)
    np.testing.assert_allclose(again.real(), held, rtol=1e-5, atol=1e-6)


def test_channels_without_activations_do_no_harm():
    weight, activations = layer()
    activations[:, 5:40] = 0
    moments = moments_of(activations)
    for rounded in (gptq(weight, moments, FORMATS[0], 32), awq(weight, moments, FORMATS[0], 32)):
        assert np.isfinite(rounded.real()).all()


def test_linearly_dependent_activations_are_damped():
    weight, activations = layer(samples=10)
    rounded = gptq(weight, moments_of(activations), FORMATS[0], 32)
    error = output_error(weight, rounded.real(), moments_of(activations))
    plain = round_to_nearest(weight, FORMATS[0], 32)
    assert error < output_error(weight, plain.real(), moments_of(activations))
