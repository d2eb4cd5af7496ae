"""What holds of every tensor: errors within half a step, an exact zero, and order is kept."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mpgraph.quant.formats import Format, Layout, dequantize, parameters_from_range, quantize
from mpgraph.quant.formats.ranges import range_of
from tests.quant.formats.cases import FLOATS, INTEGERS

FORMATS = [
    *(Format(name, symmetric) for name in INTEGERS for symmetric in (True, False)),
    *(Format(name, True) for name in FLOATS),
    Format("int8", True, narrow=True),
    Format("int8", True, bits=7),
]


@st.composite
def tensors(draw):
    shape = draw(arrays.array_shapes(min_dims=1, max_dims=3, max_side=5))
    exponent = draw(st.integers(-30, 30))
    elements = st.floats(-1, 1, width=32)
    array = draw(arrays.arrays(np.float32, shape, elements=elements)) * np.float32(2.0**exponent)
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    layout = draw(st.sampled_from([Layout(), Layout(axis), Layout(axis, draw(st.integers(1, 4)))]))
    return array, layout


@settings(max_examples=400)
@given(tensors(), st.sampled_from(FORMATS))
def test_errors_are_within_half_a_step(tensor, format):
    array, layout = tensor
    parameters = parameters_from_range(*range_of(array, layout), format, layout)
    real = dequantize(quantize(array, parameters), parameters)
    step = np.broadcast_to(layout.spread(parameters.scale, array.shape), array.shape)
    error = np.abs(real.astype(np.float64) - array)
    if format.is_float:
        # Half of 2^-3 or 2^-2 of the value, or half of the smallest subnormal.
        half = 2.0**-4 if format.dtype == "float8e4m3fn" else 2.0**-3
        allowed = np.maximum(np.abs(array) * half, step * 2.0**-10)
    else:
        allowed = step / 2.0 + np.abs(array) * 2.0**-22
    assert (error <= allowed * (1 + 1e-6)).all()


@settings(max_examples=200)
@given(tensors(), st.sampled_from(FORMATS))
def test_zero_is_exact(tensor, format):
    array, layout = tensor
    parameters = parameters_from_range(*range_of(array, layout), format, layout)
    zeros = np.zeros_like(array)
    assert not dequantize(quantize(zeros, parameters), parameters).any()


@settings(max_examples=200)
@given(
    arrays.arrays(np.float32, 30, elements=st.floats(-(2.0**20), 2.0**20, width=32)),
    st.sampled_from(FORMATS),
    st.floats(0.01, 2),
)
def test_order_is_kept(array, format, shrink):
    """Also of values that saturate, when the range is smaller than theirs."""
    array = np.sort(array)
    low, high = range_of(array, Layout())
    parameters = parameters_from_range(low * shrink, high * shrink, format, Layout())
    assert (np.diff(dequantize(quantize(array, parameters), parameters)) >= 0).all()


@settings(max_examples=100)
@given(tensors(), st.sampled_from([f for f in FORMATS if f.dtype.startswith("int")]))
def test_the_other_signedness_holds_the_same_values(tensor, format):
    array, layout = tensor
    other = Format(f"u{format.dtype}", format.symmetric, format.narrow, format.bits)
    ranges = range_of(array, layout)
    signed = parameters_from_range(*ranges, format, layout)
    unsigned = parameters_from_range(*ranges, other, layout)
    one = dequantize(quantize(array, signed), signed)
    assert np.array_equal(one, dequantize(quantize(array, unsigned), unsigned))
