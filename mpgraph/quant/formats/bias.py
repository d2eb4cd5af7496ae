"""Biases in int32, whose scale is the product of the input's and the weight's."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mpgraph.errors import InputError
from mpgraph.quant.formats.format import Format
from mpgraph.quant.formats.layout import Array, Layout
from mpgraph.quant.formats.parameters import SMALLEST_SCALE, Parameters
from mpgraph.quant.formats.ranges import check_float, check_numbers

__all__ = ["LARGEST_BIAS", "bias_parameters", "quantize_bias", "raise_weight_scale_for_bias"]

LARGEST_BIAS = 1 << 30
"""Half of int32: the other half is left to the products that a kernel adds to the bias."""

_FORMAT = Format("int32", symmetric=True)
_INT32 = np.iinfo(np.int32)


def bias_parameters(input_scale: ArrayLike, weight_scale: ArrayLike) -> Parameters:
    """The scale that onnxruntime demands of a bias: input scale * weight scale, zero point 0.

    Any other scale, in its last bit too, keeps Conv and Gemm from being fused, so that the product
    is taken in float32.

    Args:
        input_scale: One number.
        weight_scale: One number, or one per output channel.

    Returns:
        Parameters of an int32 tensor, per tensor or per axis 0.

    Raises:
        InputError: The product is no normal float32 number.
    """
    with np.errstate(over="ignore", under="ignore"):
        scale = np.asarray(_scalar(input_scale) * np.asarray(weight_scale, np.float32))
    wrong = ~(np.isfinite(scale) & (scale >= SMALLEST_SCALE))
    if wrong.any():
        rule = f"the scale {scale[wrong].flat[0]} is no normal float32 number"
        raise InputError("bias", rule, "raise the scale of the weight")
    layout = Layout() if scale.ndim == 0 else Layout.per_axis(0)
    return Parameters(scale, np.zeros(scale.shape, np.int32), layout, _FORMAT)


def raise_weight_scale_for_bias(
    bias: Array, input_scale: ArrayLike, weight_scale: ArrayLike
) -> NDArray[np.float32]:
    """The weight scale with which a bias keeps within `LARGEST_BIAS` steps.

    A channel of tiny weights and a large bias needs a coarser weight scale, because the bias is
    counted in steps of input scale * weight scale. All other scales are returned as they are.

    Args:
        bias: Float bias, one element per output channel.
        input_scale: One number.
        weight_scale: One number, or one per output channel.

    Raises:
        InputError: The bias holds NaN or infinities, or no float32 scale is large enough.
    """
    _check_bias(bias, "")
    given = np.asarray(weight_scale, np.float32)
    amax = np.abs(bias.astype(np.float64))
    if given.ndim == 0:
        amax = amax.max(initial=0.0)
    input_step = float(_scalar(input_scale))
    needed = np.maximum(amax / LARGEST_BIAS, SMALLEST_SCALE) / input_step
    if (needed > float(np.finfo(np.float32).max)).any():
        rule = f"no float32 weight scale fits an input scale of {input_step}"
        raise InputError("bias", rule, "keep this node in float")
    # One unit in the last place more, so that the product holds however it rounds.
    coarser = np.nextafter(needed.astype(np.float32), np.float32(np.inf))
    too_fine = given.astype(np.float64) < needed
    return np.asarray(np.where(too_fine, coarser, given), np.float32)


def quantize_bias(bias: Array, parameters: Parameters, *, name: str = "") -> NDArray[np.int32]:
    """A bias in steps of its scale, rounded half to even.

    The division is in float64: float32 holds no integers above 2^24 exactly.

    Args:
        bias: Float bias.
        parameters: What `bias_parameters` returned.
        name: The tensor that an error speaks of.

    Raises:
        InputError: The bias holds NaN or infinities, has another length than the scales, or
            overflows int32.
    """
    _check_bias(bias, name)
    parameters.check_shape(bias.shape, name)
    steps = np.rint(bias.astype(np.float64) / parameters.scale.astype(np.float64))
    wrong = (steps < _INT32.min) | (steps > _INT32.max)
    if wrong.any():
        rule = f"{np.count_nonzero(wrong)} of {bias.size} biases overflow int32"
        raise InputError(f"tensor {name!r}", rule, "raise the weight scale for the bias first")
    return np.asarray(steps, np.int32)


def _check_bias(bias: Array, name: str) -> None:
    check_float(bias, name)
    check_numbers(bias, name)


def _scalar(scale: ArrayLike) -> np.float32:
    array = np.asarray(scale, np.float32)
    if array.size != 1:
        raise InputError("bias", f"the input has {array.size} scales, and a bias needs one")
    return np.float32(array.reshape(-1)[0])
