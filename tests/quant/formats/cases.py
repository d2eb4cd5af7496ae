"""Formats, layouts and numbers that the tests of this room share."""

from __future__ import annotations

import numpy as np

from mpgraph.quant.formats import Format, Layout, Parameters

INTEGERS = ("int2", "uint2", "int4", "uint4", "int8", "uint8", "int16", "uint16")
FLOATS = ("float8e4m3fn", "float8e5m2")
SHAPE = (3, 5, 4)
LAYOUTS = (
    Layout.per_tensor(),
    *(Layout.per_axis(axis) for axis in (0, 1, 2, -1, -3)),
    *(Layout.per_block(axis, 2) for axis in (0, 1, 2, -1, -2)),
    Layout.per_block(1, 5),
    Layout.per_block(2, 3),
    Layout.per_block(-3, 7),
)


def plain_format(dtype):
    """The format with a zero point of its own, where the dtype has one."""
    return Format(dtype, symmetric=dtype in FLOATS)


def random_parameters(format, layout, shape, random, *, powers_of_two=False):
    """Scales, and zero points over the whole range of an asymmetric format."""
    of_scales = layout.scale_shape(shape)
    scale = 2.0 ** random.integers(-4, 3, of_scales)
    if not powers_of_two:
        # float16 holds these exactly, as scales of a float16 operator.
        scale = np.float16(scale * random.uniform(1, 2, of_scales))
    zero = np.full(of_scales, format.middle)
    if not format.symmetric:
        zero = random.integers(int(format.lowest), int(format.highest) + 1, of_scales)
    whole = np.asarray(zero).astype(np.int32).astype(format.numpy_dtype)
    return Parameters(np.asarray(scale, np.float32), whole, layout, format)


def values_with_ties(parameters, shape, random):
    """Values inside and outside the range, a quarter of them halfway between two steps."""
    format = parameters.format
    spread = min(format.highest - format.lowest, 1e4)
    steps = np.rint(random.normal(size=shape) * spread / 2) + random.choice(
        [0.0, 0.5, 0.25, -0.5], shape
    )
    values = steps * parameters.layout.spread(parameters.scale.astype(np.float64), shape)
    return np.clip(values, -6e4, 6e4)


def same_bits(one, other):
    """Whether two arrays are equal in every bit, the sign of zero included."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()
