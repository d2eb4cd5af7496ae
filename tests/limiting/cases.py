"""Models for the search: a chain of convolutions of which one loses all in 8 bits, and others."""

from __future__ import annotations

import numpy as np

from mpgraph import ir
from mpgraph.runtime import input_specs
from tests.runtime.builders import build

DECIDE = "calibrate,plan-quantization"
CARRY_OUT = (
    "insert-quantizers,quantize-dynamically,quantize-recurrent,quantize-weights,pack-weights,fold"
)
HARMFUL = "third"


def convolutions(count=6, harmful=2):
    """Convolutions of 16 channels; one has weights of channel 0, which is always 0, that are large.

    In 8 bits with a scale per output channel, nothing is left of its other weights.
    """
    generator = np.random.default_rng(1)
    names = ["first", "second", HARMFUL, "fourth", "fifth", "sixth"][:count]
    lines, value, weights = [], "x", {}
    for index in range(count):
        result = "y" if index == count - 1 else f"v{index}"
        weight = generator.normal(size=(16, 16, 3, 3)).astype(np.float32) / 12
        if index + 1 == harmful:
            weight[0] = 0
        if index == harmful:
            weight[:, 0] = 300
        weights[f"w{index}"] = weight
        made = result if index == count - 1 else f"{result}_c"
        lines.append(f"{made} = Conv <pads = [1, 1, 1, 1]> ({value}, w{index})")
        if made != result:
            lines.append(f"{result} = Relu ({made})")
        value = result
    model = build(
        "g (float[1,16,12,12] x) => (float[1,16,12,12] y) {" + "\n".join(lines) + "}", **weights
    )
    convs = [node for node in ir.nodes(model) if node.op_type == "Conv"]
    for node, name in zip(convs, names, strict=True):
        node.name = name
    return model


def chain():
    """Products in a row, with a residual."""
    generator = np.random.default_rng(2)
    weights = {
        f"w{index}": generator.normal(size=(16, 16)).astype(np.float32) / 4 for index in range(3)
    }
    return build(
        """g (float[4,16] x) => (float[4,16] y, float[4,16] h) {
            a = MatMul (x, w0)
            h = Relu (a)
            b = MatMul (h, w1)
            s = Add (b, h)
            y = MatMul (s, w2)
        }""",
        **weights,
    )


def recurrent():
    """An LSTM of which two of three results are read."""
    generator = np.random.default_rng(3)
    return build(
        """g (float[5,1,8] x) => (float[5,1,1,8] y, float[1,1,8] c) {
            y, , c = LSTM <hidden_size = 8> (x, w, r)
        }""",
        w=generator.normal(size=(1, 32, 8)).astype(np.float32) / 3,
        r=generator.normal(size=(1, 32, 8)).astype(np.float32) / 3,
    )


def feeds(model, count=3):
    """Normal random numbers for the inputs of a model."""
    generator = np.random.default_rng(4)
    return [
        {
            spec.name: generator.normal(size=spec.shape).astype(np.float32)
            for spec in input_specs(model)
        }
        for _ in range(count)
    ]
