"""Magnitudes of arrays, against a plain reading of every element."""

from __future__ import annotations

import math
from collections import Counter

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpgraph.analysis.magnitudes import Magnitudes, magnitudes, magnitudes_of_pieces, octaves

DTYPES = [
    *(np.float32, np.float16, ml_dtypes.bfloat16, np.float64, ml_dtypes.float8_e4m3fn),
    *(np.int8, np.uint8, np.int16, np.int64, ml_dtypes.int4, np.bool_),
]
SIZES = [0, 1, 7, 5001, 300_001]


def plain(array) -> Magnitudes:
    values = [float(one) for one in array.astype(np.float64).ravel()]
    finite = [one for one in values if math.isfinite(one)]
    nonzero = [abs(one) for one in finite if one]
    return Magnitudes(
        min(finite, default=math.inf),
        max(finite, default=-math.inf),
        min(nonzero, default=math.inf),
        len(values) - len(finite),
        len(finite) - len(nonzero),
        dict(Counter(math.frexp(one)[1] - 1 for one in nonzero)),
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_every_dtype_and_size(dtype, size):
    numbers = np.random.default_rng(size).standard_normal(size) * 2
    array = (numbers > 0 if dtype == np.bool_ else np.clip(numbers, -7, 7)).astype(dtype)
    if dtype == np.uint8:
        array = np.abs(numbers).astype(dtype)
    assert magnitudes(array) == plain(array)
    assert octaves(array) == plain(array).octaves


@pytest.mark.parametrize("special", [0.0, -0.0, 1e-42, np.inf, -np.inf, np.nan, 3.4e38])
def test_special_numbers_among_many(special):
    array = np.random.default_rng(1).standard_normal(300_000).astype(np.float32)
    array[[5, 299_999]] = special
    assert magnitudes(array) == plain(array)
    assert octaves(array) == plain(array).octaves


def test_nothing_but_zeros():
    found = magnitudes(np.zeros(10_000, np.float32))
    assert (found.amax, found.smallest, found.zeros, found.octaves) == (0.0, math.inf, 10_000, {})


@given(st.lists(st.floats(width=32), max_size=40), st.lists(st.floats(width=32), max_size=40))
def test_a_merge_is_that_of_both(first, second):
    a, b = np.array(first, np.float32), np.array(second, np.float32)
    both = magnitudes(np.concatenate([a, b]))
    assert magnitudes(a).merge(magnitudes(b)) == both
    assert magnitudes_of_pieces([a, b]) == both == plain(np.concatenate([a, b]))
