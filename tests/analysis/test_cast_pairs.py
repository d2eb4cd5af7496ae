"""Which dtype holds which, against numpy on the numbers at the edges."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from mpgraph import ir
from mpgraph.analysis.cast_pairs import holds_all

NAMES = [
    *("float16", "bfloat16", "float32", "float64"),
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"),
]


def edges(dtype: np.dtype) -> np.ndarray:
    """Numbers of a dtype that another one is likely not to have."""
    if dtype == np.bool_:
        return np.array([False, True])
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        high = [info.max, info.max - 1, info.max // 2 + 2, 3, 0]
        return np.array([info.min, info.min // 2 + 1, *high], dtype)
    info = ml_dtypes.finfo(dtype)
    ones = np.array([1, -1, 0], dtype)
    return np.concatenate(
        [
            ones,
            ones + info.eps,
            np.array([info.max, -info.max, info.smallest_subnormal, 0.5], dtype),
        ]
    ).astype(dtype)


@pytest.mark.parametrize(("narrow", "wide"), list(itertools.product(NAMES, NAMES)))
def test_a_dtype_holds_another_if_every_edge_comes_back(narrow, wide):
    low, high = ir.parse_dtype(narrow), ir.parse_dtype(wide)
    numbers = edges(low.numpy())
    with np.errstate(all="ignore"):
        back = numbers.astype(high.numpy()).astype(low.numpy())
        same = numbers.astype(high.numpy()).astype(np.float64) == numbers.astype(np.float64)
    kept = bool((back == numbers).all() and (wide == "bool" or same.all()))
    assert holds_all(high, low) == kept
