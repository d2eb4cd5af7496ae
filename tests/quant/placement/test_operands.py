"""What attributes say about the operands of nodes that multiply."""

from __future__ import annotations

import pytest

from mpgraph import ir
from mpgraph.quant.placement.operands import gemm_factor, is_padded

X, W = (ir.Value(name=name) for name in ("x", "w"))


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, False),
        ({"pads": [0, 0, 0, 0]}, False),
        ({"pads": [0, 0, 1, 0]}, True),
        ({"auto_pad": "NOTSET", "pads": [1, 1, 1, 1]}, True),
        ({"auto_pad": "VALID"}, False),
        ({"auto_pad": "SAME_UPPER"}, True),
    ],
)
def test_a_convolution_pads_by_either_attribute(attributes, expected):
    assert is_padded(ir.node("Conv", [X, W], attributes)) is expected


def test_only_a_gemm_has_factors():
    gemm = ir.node("Gemm", [X, W], {"alpha": 0.5})
    assert gemm_factor(gemm, "alpha") == 0.5
    assert gemm_factor(gemm, "beta") == 1.0
    assert gemm_factor(ir.node("LeakyRelu", [X], {"alpha": 0.5}), "alpha") == 1.0
