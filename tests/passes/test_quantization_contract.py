"""What every quantizing pass promises, on models of many kinds.

A second run changes nothing, the model is sound after each pass, what is inserted says where it
came from, and the result runs and is close.
"""

from __future__ import annotations

import numpy as np
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.passmgr import load_pipeline
from mpgraph.passmgr.pipelines import QUANTIZE
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.form_errors import HarmfulParts, QuantizationErrors
from mpgraph.quant.tuning import ActivationRows
from mpgraph.runtime import create_session, input_specs, load_data, run
from tests.passes.test_contract import check_pass, interface, node_set
from tests.pipelines import given
from tests.runtime.builders import build

INT8 = "int8_from_float32"
SIZES = np.logspace(-1.5, 1.5, 32).astype(np.float32)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def weight(*shape):
    return (normal(*shape) / np.sqrt(shape[0])).astype(np.float32)


def uneven(*shape, dtype=np.float32, seed=1):
    """Channels of unequal magnitude, which smoothing is for."""
    return (normal(*shape, seed=seed) * SIZES).astype(dtype)


CONSTANTS = {"w": weight(32, 32), "v": weight(32, 16), "b": weight(32), "gain": SIZES}

BODIES = {
    "smoothed": "n = Mul (x, gain) y = MatMul (n, w)",
    "inserted": "t = Tanh (x) y = MatMul (x, w) z = Add (t, y)",
    "shared": "n = Mul (x, gain) h = MatMul (n, w) k = MatMul (h, w) y = MatMul (n, w)",
    "gemm": "y = Gemm <transB = 1> (x, w, b)",
    "branch": """y = If (yes) <
        then_branch = g1 () => (float[4,32] t) { t = MatMul (x, w) },
        else_branch = g2 () => (float[4,32] e) { e = MatMul (x, w) }
    >""",
}


def model(name, opset=18):
    body = BODIES[name]
    extra = ", bool yes" if name == "branch" else ""
    used = {key: one for key, one in CONSTANTS.items() if f"{key})" in body or f" {key}," in body}
    text = f"g (float[4,32] x{extra}) => (float[4,32] y) {{ {body} }}"
    return build(text, opset, **used)


def feeds(name, count=3):
    extra = {"yes": np.array(True)} if name == "branch" else {}
    return [{"x": uneven(4, 32, seed=seed), **extra} for seed in range(1, count + 1)]


def quantized(one, data, policy=INT8, target="cpu"):
    """Run the quantizing passes one by one, each twice; return the facts."""
    facts = given(policy, target)
    facts.put(load_data(data, input_specs(one)))
    public = interface(one)
    for step in load_pipeline(QUANTIZE.format(allow_slow="false")):
        nodes = node_set(one)
        check_pass(step, one, facts)
        for node in node_set(one) - nodes:
            assert ir.origin(node), f"{node.name} of {step.label} has no origin"
    assert interface(one) == public
    for scope in ir.graphs(one):
        for value in scope.graph.initializers.values():
            assert value.uses() or value.is_graph_output(), f"{value.name} is dead"
    return facts


def error(before, after, data):
    """The relative squared error of the worst output."""
    first, second = create_session(before), create_session(after)
    worst = 0.0
    for feed in data:
        exact, found = run(first, feed), run(second, feed)
        for name, array in exact.items():
            if np.issubdtype(array.dtype, np.floating):
                noise = np.square(found[name].astype(np.float64) - array).sum()
                worst = max(worst, noise / np.square(array, dtype=np.float64).sum())
    return worst


@pytest.mark.parametrize("name", BODIES)
def test_passes_keep_their_contract(name):
    one, data = model(name), feeds(name)
    before = ir.clone(one)
    facts = quantized(one, data)
    assert facts.get(QuantizationPlan).quantized > 0
    assert 0 < error(before, one, data) < 1e-3


@pytest.mark.parametrize(
    "name",
    [
        "lstm",
        "loop_state",
        "if_captures",
        "scan_state",
        "functions",
        "float16",
        "shared_weights",
        "tied_weights",
        "old_opset",
        "empty_inputs",
    ],
)
def test_builders_keep_the_contract(name):
    one = ir.load(models.build(name))
    quantized(one, models.feeds(name))


@pytest.mark.parametrize("opset", [11, 13, 18])
@pytest.mark.parametrize("policy", [INT8, "int8_dynamic_from_float32"])
def test_opsets(opset, policy):
    one, data = model("smoothed", opset), feeds("smoothed")
    data[0]["x"][1] *= 4
    result = mpgraph.convert(one, policy, data=data)
    assert result.quantization.quantized == 1
    assert error(one, result.model, data) < 1e-3


def test_rows_of_unequal_magnitude_take_ranges_of_their_own():
    one = build("g (float[6,32] x) => (float[6,32] y) { y = MatMul (x, w) }", w=CONSTANTS["w"])
    scales = np.logspace(-3, 3, 6, dtype=np.float32)[:, np.newaxis]
    data = [{"x": normal(6, 32, seed=1).astype(np.float32) * scales}]
    result = mpgraph.convert(one, INT8, data=data)
    assert result.quantization.forms == {"dynamic_rows": 1}
    (exact,), (found,) = (run(create_session(m), data[0]).values() for m in (one, result.model))
    assert (np.abs(found - exact).max(axis=1) < 0.03 * np.abs(exact).max(axis=1)).all()


def test_rows_of_zeros_stay_zero():
    one = build("g (float[6,32] x) => (float[6,32] y) { y = MatMul (x, w) }", w=CONSTANTS["w"])
    scales = np.logspace(-3, 3, 6, dtype=np.float32)[:, np.newaxis]
    data = [{"x": normal(6, 32, seed=1).astype(np.float32) * scales}]
    converted = mpgraph.convert(one, INT8, data=data).model
    (found,) = run(create_session(converted), {"x": np.zeros((6, 32), np.float32)}).values()
    assert not found.any()


def test_without_data_nothing_is_measured():
    one, facts = model("smoothed"), given(INT8, "cpu")
    for step in load_pipeline("capture-activations,smooth-activations,measure-quantization"):
        check_pass(step, one, facts)
    for step in load_pipeline("plan-quantization,protect-outputs"):
        check_pass(step, one, facts)
    for kind in (ActivationRows, QuantizationErrors, HarmfulParts):
        assert facts.find(kind) is None


def test_an_lstm_that_costs_too_much_stays_float():
    one = ir.load(models.build("lstm"))
    data = models.feeds("lstm")
    facts = given(INT8, "cpu")
    facts.put(load_data(data, input_specs(one)))
    for step in load_pipeline("calibrate,plan-quantization,protect-outputs{limit=1e-9}"):
        step.run(one, facts)
    (lstm,) = (node for node in ir.nodes(one) if node.op_type == "LSTM")
    assert facts.get(HarmfulParts).errors[lstm] > 1e-9
    assert not list(facts.get(QuantizationPlan).nodes_of("recurrent"))
