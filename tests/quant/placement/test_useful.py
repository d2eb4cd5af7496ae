"""What a gate makes zero needs no numbers of its own."""

from __future__ import annotations

import numpy as np
import pytest

import mpgraph
from tests.runtime.builders import build

NUMBERS = {name: np.float32(number) for name, number in (("three", 3), ("zero", 0), ("six", 6))}


def lowest(nodes, **constants):
    """The lowest number that the value c can hold when it is quantized."""
    rng = np.random.default_rng(0)
    model = build(
        f"g (float[1,8,8,8] x) => (float[1,8,8,8] y{', float[1,8,8,8] z' * ('z =' in nodes)}) {{"
        f"c = Conv (x, w) {nodes} y = Conv (g, w) }}",
        w=rng.normal(size=(8, 8, 1, 1)).astype(np.float32) * 4,
        **constants,
    )
    feeds = [{"x": rng.normal(size=(1, 8, 8, 8)).astype(np.float32)}]
    plan = mpgraph.convert(model, "int8_from_float32", data=feeds, verify="structure").quantization
    (found,) = (one for one in plan.activations if one.value.split("_")[0] == "c")
    return -found.zero_point * found.scale


GATE = "s = Add (c, three) k = Clip (s, zero, six) g = Mul (c, k)"


def test_what_lies_below_a_gate_is_left_out():
    assert lowest(GATE, **NUMBERS) == pytest.approx(-3, abs=0.1)


@pytest.mark.parametrize(
    "nodes",
    [
        "s = Add (c, three) k = Clip (s, three, six) g = Mul (c, k)",
        "s = Add (c, three) k = Clip (s, zero, six) g = Add (c, k)",
        f"{GATE} z = Neg (c)",
    ],
)
def test_what_others_see_stays(nodes):
    numbers = {name: one for name, one in NUMBERS.items() if name in nodes}
    assert lowest(nodes, **numbers) < -6


def test_a_depthwise_conv_may_shift_the_gate():
    weight, bias = np.full((8, 1, 1, 1), 0.5, np.float32), np.full(8, 3, np.float32)
    nodes = "s = Conv <group = 8> (c, n, b) k = Clip (s, zero, six) g = Mul (c, k)"
    numbers = {name: NUMBERS[name] for name in ("zero", "six")}
    assert lowest(nodes, n=weight, b=bias, **numbers) == pytest.approx(-6, abs=0.2)
