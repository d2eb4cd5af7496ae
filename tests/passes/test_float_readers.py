"""A node that stays in float between quantized ones keeps its own weight when it is run."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.passmgr import Facts
from mpgraph.quant import PlannedActivation, PlannedNode, QuantizationPlan
from mpgraph.runtime import create_session
from mpgraph.targets import get_target
from tests.pipelines import run
from tests.runtime.builders import build

CASES = {
    "Conv": ("<group = 2>", (1, 6, 5, 5), (4, 3, 3, 3), (1, 4, 3, 3)),
    "ConvTranspose": ("", (1, 6, 3, 3), (6, 2, 3, 3), (1, 2, 5, 5)),
    "Gemm": ("<transB = 1>", (3, 6), (4, 6), (3, 4)),
}


def plan_of(model, static, readers):
    """A plan under which one node is quantized, and others read its activation in float."""
    places = {f"main#{place}": node for place, node in enumerate(model.graph)}
    op_type = places[static].op_type
    return QuantizationPlan(
        nodes=(PlannedNode(static, "", op_type, "", "int8", "static", True, ""),),
        activations=(PlannedActivation("main", "x", "uint8", 0.05, 128, readers),),
        places=places,
        graphs={"main": model.graph},
    )


@pytest.mark.parametrize("op_type", CASES)
def test_a_float_weight_is_not_quantized_by_the_runtime(op_type):
    attributes, shape, weight_shape, result = CASES[op_type]
    generator = np.random.default_rng(0)
    weight = generator.normal(size=weight_shape).astype(np.float32)
    weight.reshape(-1)[0] = 1000
    sizes = [",".join(map(str, one)) for one in (shape, result)]
    text = (
        f"g (float[{sizes[0]}] x) => (float[{sizes[1]}] y, float[{sizes[1]}] z)"
        f"{{ y = {op_type} {attributes} (x, w) z = {op_type} {attributes} (x, v) }}"
    )
    weights = {"w": weight, "v": np.ones_like(weight)}
    model = build(text, **weights)
    plan = plan_of(model, "main#1", ("main#0:0", "main#1:0"))
    run(model, "insert-quantizers", Facts(plan, get_target("cpu")))
    ir.verify_structure(model)
    x = np.rint(generator.normal(size=shape) / 0.05).clip(-128, 127).astype(np.float32) * 0.05
    x = x.astype(np.float32)
    expected, _ = create_session(build(text, **weights)).run(None, {"x": x})
    found, _ = create_session(model).run(None, {"x": x})
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-3)


def test_nodes_in_float_share_one_dequantizelinear():
    model = build(
        """g (float[2,8] x) => (float[2,8] y, float[2,8] z, float[2,8] m) {
            y = Tanh (x) e = Erf (x) z = Add (e, x) m = MatMul (x, w) }""",
        w=np.eye(8, dtype=np.float32),
    )
    plan = plan_of(model, "main#3", ("main#0:0", "main#1:0", "main#2:1", "main#3:0"))
    run(model, "insert-quantizers", Facts(plan, get_target("cpu")))
    ir.verify_structure(model)
    readers = [
        {use.node.op_type for use in node.outputs[0].uses()}
        for node in model.graph
        if node.op_type == "DequantizeLinear"
    ]
    assert sorted(map(sorted, readers)) == [["Add", "Erf", "Tanh"], ["MatMul"]]
