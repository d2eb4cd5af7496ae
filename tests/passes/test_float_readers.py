"""A node that stays in float between quantized ones keeps its own weight when it is run."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.passmgr import Facts
from mpgraph.quant import PlannedActivation, QuantizationPlan
from mpgraph.runtime import create_session
from mpgraph.targets import get_target
from tests.pipelines import run
from tests.runtime.builders import build

CASES = {
    "Conv": ("<group = 2>", (1, 6, 5, 5), (4, 3, 3, 3), (1, 4, 3, 3)),
    "ConvTranspose": ("", (1, 6, 3, 3), (6, 2, 3, 3), (1, 2, 5, 5)),
    "Gemm": ("<transB = 1>", (3, 6), (4, 6), (3, 4)),
}


@pytest.mark.parametrize("op_type", CASES)
def test_a_float_weight_is_not_quantized_by_the_runtime(op_type):
    attributes, shape, weight_shape, result = CASES[op_type]
    generator = np.random.default_rng(0)
    weight = generator.normal(size=weight_shape).astype(np.float32)
    weight.reshape(-1)[0] = 1000
    sizes = [",".join(map(str, one)) for one in (shape, result)]
    text = (
        f"g (float[{sizes[0]}] x) => (float[{sizes[1]}] y){{ y = {op_type} {attributes} (x, w) }}"
    )
    model = build(text, w=weight)
    plan = QuantizationPlan(
        activations=(PlannedActivation("main", "x", "uint8", 0.05, 128, ("main#0:0",)),),
        places={"main#0": next(iter(model.graph))},
        graphs={"main": model.graph},
    )
    run(model, "insert-quantizers", Facts(plan, get_target("cpu")))
    ir.verify_structure(model)
    x = np.rint(generator.normal(size=shape) / 0.05).clip(-128, 127).astype(np.float32) * 0.05
    x = x.astype(np.float32)
    (expected,) = create_session(build(text, w=weight)).run(None, {"x": x})
    (found,) = create_session(model).run(None, {"x": x})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)
