"""Times of kernels, given to the parts of a model."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.quant.sensitivity import coarse_gains, owners, seconds_of
from tests.runtime.builders import build


def quantized():
    model = build(
        """g (float[2,4] x) => (float[2,4] y) {
            q = QuantizeLinear (x, scale, zero)
            d = DequantizeLinear (q, scale, zero)
            h = MatMul (d, w)
            r = Relu (h)
            y = MatMul (r, w)
        }""",
        w=np.eye(4, dtype=np.float32),
        scale=np.float32(0.1),
        zero=np.uint8(0),
    )
    for node in ir.nodes(model):
        if "Quantize" in node.op_type or "Dequantize" in node.op_type:
            ir.stamp(node, "insert-quantizers", "a test")
    return model


def test_conversions_belong_to_what_they_are_for():
    assert owners(quantized(), {"h": 0, "y": 1}) == {0: -1, 1: -1, 2: 0, 4: 1}


def test_a_kernel_belongs_to_the_part_that_it_computes_before_what_it_converts():
    owned = owners(quantized(), {"h": 0, "y": 1})
    kernels = [
        (frozenset({0}), 1.0),
        (frozenset({1, 2, 3}), 8.0),
        (frozenset({4}), 16.0),
        (frozenset(), 64.0),
    ]
    assert seconds_of(kernels, owned, 2) == [9.0, 16.0]
    assert seconds_of([(frozenset({2, 4}), 6.0)], owned, 2) == [3.0, 3.0]


def test_gains_are_powers_of_two_that_noise_does_not_change():
    gains = coarse_gains([1e-3, 0.52e-3, 0.24e-3, -1e-3, 1e-6])
    assert gains == coarse_gains([0.97e-3, 0.49e-3, 0.26e-3, -2e-3, 1e-9])
    assert gains == pytest.approx([1, 0.5, 0.25, 1 / 64, 1 / 64])
    assert coarse_gains([1.0, -1.0, 1e-6], 1 / 4096) == [1, 1 / 4096, 1 / 64]
    assert coarse_gains([-1.0, 0.0]) == [1.0, 1.0]
    assert coarse_gains([]) == []
