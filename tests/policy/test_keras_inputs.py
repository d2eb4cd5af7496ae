"""`convert_input`: which dtypes are taken, what rounding does, what is left as it is."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest

from mpgraph.policy import DTypePolicy

MIXED = DTypePolicy("mixed_float16")


class Pair(NamedTuple):
    first: Any
    second: Any


@pytest.mark.parametrize(
    "dtype",
    ["bfloat16", ml_dtypes.bfloat16, np.dtype(ml_dtypes.bfloat16)],
    ids=["name", "type", "dtype"],
)
def test_dtypes_are_given_as_keras_and_numpy_do(dtype):
    x = np.array([1.0, 1.0 + 2.0**-9, -3.5], np.float32)
    converted = MIXED.convert_input(x, dtype=dtype)
    np.testing.assert_array_equal(converted.astype(np.float32), [1.0, 1.0, -3.5])
    assert converted.dtype == ml_dtypes.bfloat16


def test_the_compute_dtype_unless_given():
    x = np.ones(3)
    assert MIXED.convert_input(x).dtype == np.float16
    assert DTypePolicy("float64").convert_input(x) is x
    assert DTypePolicy("bfloat16").convert_input(x).dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("dtype", ["half", "int32", np.int32, "float8_e4m3fn"])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(ValueError, match="accepted: float32"):
        MIXED.convert_input(np.ones(3), dtype=dtype)


def test_no_dtype_is_refused():
    with pytest.raises(TypeError, match="no dtype"):
        MIXED.convert_input(np.ones(3), dtype=object())


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_small_floats_are_floats(dtype):
    converted = MIXED.convert_input(np.array([0.5, 2.0], dtype))
    np.testing.assert_array_equal(converted, np.array([0.5, 2.0], np.float16))


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        "text",
        None,
        np.array([1, 2], ml_dtypes.int4),
        np.array(["a"]),
        np.array([(1.0,)], [("field", np.float32)]),
        np.array([None]),
    ],
    ids=repr,
)
def test_what_holds_no_floats_is_left_as_it_is(value):
    assert MIXED.convert_input(value) is value


def test_beyond_the_range_is_infinite_without_a_warning(recwarn):
    converted = MIXED.convert_input(np.array([1e6, -1e6, np.nan, 1e-9], np.float32))
    np.testing.assert_array_equal(converted, [np.inf, -np.inf, np.nan, 0.0])
    assert not recwarn.list


def test_scalars_and_empty_arrays():
    assert MIXED.convert_input(np.float32(2)).dtype == np.float16
    assert MIXED.convert_input(np.zeros((0, 4))).shape == (0, 4)


def test_structures_keep_their_types():
    ones = np.ones(2)
    named = MIXED.convert_input(Pair(ones, [ones, np.arange(2)]))
    assert isinstance(named, Pair)
    assert named.second[1].dtype == np.arange(2).dtype
    grouped = defaultdict(list, a=[ones])
    converted = MIXED.convert_input(grouped)
    assert converted["a"][0].dtype == np.float16
    assert converted["missing"] == []
    assert grouped["a"][0] is ones


def test_tensors_of_other_frameworks_are_read():
    class Tensor:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return self.values

    floats, integers = Tensor(np.ones(2, np.float32)), Tensor(np.arange(2))
    assert MIXED.convert_input(floats).dtype == np.float16
    assert MIXED.convert_input(integers) is integers
