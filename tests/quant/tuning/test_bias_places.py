"""Where a bias can be changed, and to what."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.quant.tuning import find_bias_place
from tests.runtime.builders import build

ERRORS = np.array([0.5, -1.0, 2.0])
BIAS = np.array([1, 2, 3], np.float32)
MATRIX = np.ones((3, 3), np.float32)


def place(body, result="float[2,3] y", **constants):
    model = build(f"g (float[2,3] x) => ({result}) {{ {body} }}", **constants)
    return find_bias_place(model.graph[0], {})


def test_a_gemm_has_its_own_bias():
    found = place("y = Gemm (x, w, b)", w=MATRIX, b=BIAS)
    np.testing.assert_array_equal(found.less(ERRORS), [0.5, 3, 1])


def test_what_is_multiplied_by_beta_must_change_by_more():
    found = place("y = Gemm <beta = 0.5> (x, w, b)", w=MATRIX, b=BIAS)
    np.testing.assert_array_equal(0.5 * found.less(ERRORS), 0.5 * BIAS - ERRORS)
    assert place("y = Gemm <beta = 0.0> (x, w, b)", w=MATRIX, b=BIAS) is None


def test_a_bias_of_one_number_becomes_one_per_channel():
    found = place("y = Gemm (x, w, b)", w=MATRIX, b=np.array(2, np.float32))
    np.testing.assert_array_equal(found.less(ERRORS), 2 - ERRORS)


def test_without_a_bias_there_is_one_afterwards():
    found = place("y = Gemm (x, w)", w=MATRIX)
    assert (found.index, found.constant) == (2, None)
    np.testing.assert_array_equal(found.less(ERRORS), -ERRORS)


def test_a_product_of_matrices_has_it_in_the_add_behind():
    found = place("p = MatMul (x, w) y = Add (b, p)", w=MATRIX, b=BIAS[np.newaxis])
    assert (found.node.op_type, found.index) == ("Add", 0)
    np.testing.assert_array_equal(found.less(ERRORS), [[0.5, 3, 1]])


@pytest.mark.parametrize(
    "body",
    [
        "p = MatMul (x, w) y = Add (p, x)",
        "p = MatMul (x, w) q = Add (p, b) y = Add (p, q)",
        "p = MatMul (x, w) y = Mul (p, b)",
        "y = MatMul (x, w)",
        "y = Gemm (x, w, x)",
        "p = MatMul (x, w) y = Add (p, rows)",
        "y = Relu (x)",
    ],
)
def test_elsewhere_a_node_would_have_to_be_added(body):
    constants = {"w": MATRIX, "b": BIAS, "rows": np.ones((2, 3), np.float32)}
    assert place(body, **{name: one for name, one in constants.items() if name in body}) is None


def test_what_others_read_too_is_no_bias():
    body = "p = MatMul (x, w) y = Add (p, b)"
    assert place(body, "float[2,3] y, float[2,3] p", w=MATRIX, b=BIAS) is None
