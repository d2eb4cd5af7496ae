"""A HardSigmoid behind a convolution becomes a Clip with the same results, and fuses with it."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

import mpgraph
from mpgraph import ir
from mpgraph.passmgr import Facts, load_pipeline, run_pipeline
from mpgraph.policy import PolicyMap
from mpgraph.runtime import input_specs, load_data, node_placement
from mpgraph.targets import get_target
from tests.runtime.builders import build

INT8 = "int8_from_float32"
RNG = np.random.default_rng(3)
WEIGHT = RNG.normal(size=(8, 8, 1, 1)).astype(np.float32)
BIAS = RNG.normal(size=8).astype(np.float32)
FEEDS = [{"x": RNG.normal(size=(1, 8, 6, 6)).astype(np.float32)} for _ in range(3)]


def gated(nodes, opset=18, **constants):
    text = "g (float[1,8,6,6] x) => (float[1,8,6,6] y) {" + nodes + "}"
    return build(text, opset, w=WEIGHT, **constants)


def rewrite(model, policy=INT8, target="cpu", feeds=FEEDS):
    facts = Facts(
        policy if isinstance(policy, PolicyMap) else PolicyMap(policy), get_target(target)
    )
    if feeds is not None:
        facts.put(load_data(feeds, input_specs(model)))
    changed = run_pipeline(model, load_pipeline("clip-hard-sigmoids"), facts)
    ir.verify_structure(model)
    ir.check_model(model)
    return changed


def outputs(model):
    session = onnxruntime.InferenceSession(ir.to_bytes(model), providers=["CPUExecutionProvider"])
    return session.run(None, FEEDS[0])[0]


@pytest.mark.parametrize("factors", ["", "<alpha = 0.1666667, beta = 0.4>"])
@pytest.mark.parametrize("bias", ["", ", b"])
def test_results_stay(factors, bias):
    constants = {"b": BIAS} if bias else {}
    model = gated(f"c = Conv (x, w{bias}) y = HardSigmoid {factors} (c)", **constants)
    before = outputs(model)
    assert rewrite(model)
    assert [node.op_type for node in model.graph] == ["Conv", "Clip"]
    np.testing.assert_allclose(outputs(model), before, atol=1e-6)
    assert rewrite(model) is False


@pytest.mark.parametrize(
    "nodes",
    [
        "y = HardSigmoid (x)",
        "c = Conv (x, w) h = HardSigmoid (c) y = Mul (h, c)",
        "c = Conv (x, w) r = Relu (c) y = HardSigmoid (r)",
    ],
)
def test_others_stay(nodes):
    model = gated(nodes)
    if "w" not in nodes:
        model.graph.initializers.pop("w")
    assert rewrite(model) is False


def test_nothing_is_done_without_data_static_ranges_or_a_kernel():
    nodes = "c = Conv (x, w) y = HardSigmoid (c)"
    assert rewrite(gated(nodes), feeds=None) is False
    assert rewrite(gated(nodes), "int8_weight_from_float32") is False
    assert rewrite(gated(nodes), target="cuda") is False
    assert rewrite(gated(nodes), PolicyMap(INT8, {"op:HardSigmoid": "float32"})) is False


def test_a_gate_is_quantized_with_its_convolution():
    model = gated("c = Conv (x, w) h = HardSigmoid (c) y = Mul (h, x)")
    converted = mpgraph.convert(model, INT8, data=FEEDS, verify="load")
    kernels = [one.op_type for one in node_placement(converted.model, "cpu").kernels]
    assert "QLinearConv" in kernels
    assert "HardSigmoid" not in kernels and "Clip" not in kernels
