"""Recurrent nodes: what is quantized, and why the others are not."""

from __future__ import annotations

import numpy as np
import pytest

import mpgraph
from mpgraph.runtime import create_session, run
from tests.quant.placement.planning import forms, normal, planned
from tests.runtime.builders import build

INT8 = "int8_from_float32"


def lstm(attributes="", shape="5,2,6", directions=1, operands="(x, w, r, b)"):
    text = f"""g (float[{shape}] x) => (float[a,b,c,d] y) {{
        y = LSTM <hidden_size = 8 {attributes}> {operands}
    }}"""
    constants = {
        "w": normal(directions, 32, 6) * 0.3,
        "r": normal(directions, 32, 8, seed=1) * 0.3,
        "b": normal(directions, 64, seed=2) * 0.1,
    }
    return build(text, 17, **constants)


def reason(plan):
    (one,) = (one for one in plan.nodes if one.op_type in ("GRU", "LSTM", "RNN"))
    return one.reason if one.form == "float" else ""


def test_an_lstm_with_constant_weights_is_quantized():
    plan = planned(lstm())
    assert forms(plan) == {"LSTM y": "recurrent"}
    assert [one.reader for one in plan.weights] == ["main#0:1", "main#0:2"]


def test_what_its_weights_cost_can_keep_it_float():
    model = lstm()
    (node,) = model.graph
    plan = planned(model, harmful={node: 0.125})
    assert reason(plan) == "its int8 weights cost the outputs 0.12 of their energy"
    assert not plan.weights


@pytest.mark.parametrize(
    ("policy", "target", "why"),
    [
        ("int8_weight_from_float32", "cpu", "would dequantize its weights each time"),
        (INT8, "cuda", "has no LSTM with int8 weights"),
    ],
)
def test_others_stay_float_with_the_reason(policy, target, why):
    assert why in reason(planned(lstm(), policy=policy, target=target))


def test_batch_first_stays_float():
    assert "time first" in reason(planned(lstm(", layout = 1")))


def test_a_gru_has_no_kernel():
    text = "g (float[5,2,6] x) => (float[a,b,c,d] y) { y = GRU <hidden_size = 8> (x, w, r) }"
    model = build(text, 17, w=normal(1, 24, 6), r=normal(1, 24, 8))
    assert "has no GRU with int8 weights" in reason(planned(model))


@pytest.mark.parametrize("operator", ["GRU", "LSTM", "RNN"])
@pytest.mark.parametrize(
    ("policy", "error"),
    [
        ("int8_weight_from_float32", 0.02),
        ("uint4/4_from_float32", 0.3),
        (INT8, 0.03),
        ("float8_from_float32", 0.1),
    ],
)
def test_who_asks_for_it_gets_quantized_weights_of_every_recurrent_node(operator, policy, error):
    gates = {"GRU": 24, "LSTM": 32, "RNN": 8}[operator]
    text = f"""g (float[5,2,6] x) => (float[a,b,c,d] y) {{
        y = {operator} <hidden_size = 8, direction = "bidirectional"> (x, w, r)
    }}"""
    model = build(text, 17, w=normal(2, gates, 6) * 0.3, r=normal(2, gates, 8, seed=1) * 0.3)
    feed = {"x": normal(5, 2, 6, seed=4)}
    (exact,) = run(create_session(model), feed).values()
    result = mpgraph.convert(model, policy, allow_slow=True, verify="load")
    assert result.quantization.quantized == 1
    assert not any(name in result.model.graph.initializers for name in ("w", "r"))
    (found,) = run(create_session(result.model), feed).values()
    assert np.abs(found - exact).max() < error * np.abs(exact).max()
    assert not np.array_equal(found, exact)


def test_weights_that_are_computed_stay_as_they_are():
    text = """g (float[5,2,6] x, float[1,32,6] w) => (float[a,b,c,d] y) {
        y = LSTM <hidden_size = 8> (x, w, r)
    }"""
    assert reason(planned(build(text, 17, r=normal(1, 32, 8)))) == "its weights are not constant"


@pytest.mark.parametrize(
    ("attributes", "directions", "operands"),
    [
        ("", 1, "(x, w, r, b)"),
        ("", 1, "(x, w, r)"),
        (', direction = "reverse"', 1, "(x, w, r, b)"),
        (', direction = "bidirectional"', 2, "(x, w, r, b)"),
        (", clip = 0.5", 1, "(x, w, r, b)"),
    ],
)
def test_results_are_close_to_those_in_float(attributes, directions, operands):
    model = lstm(attributes, directions=directions, operands=operands)
    feed = {"x": normal(5, 2, 6, seed=4)}
    (exact,) = run(create_session(model), feed).values()
    result = mpgraph.convert(model, INT8)
    assert result.quantization.quantized == 1
    assert [node.op_type for node in result.model.graph] == ["DynamicQuantizeLSTM"]
    assert not any(name in result.model.graph.initializers for name in ("w", "r"))
    (found,) = run(create_session(result.model), feed).values()
    assert np.abs(found - exact).max() < 0.03 * np.abs(exact).max()
    assert not np.array_equal(found, exact)


REORDERED = """g (float[5,2,6] x, bool yes) => (float[a,b,c,d,e] y) {
    p = Slice (w, mid, end, one)
    q = Slice (w, start, mid, one)
    o = Concat <axis = 1> (p, q)
    y = If (yes) <
        then_branch = g1 () => (float[a,b,c,d,e] t) {
            s = LSTM <hidden_size = 8> (x, o, r)
            t = Unsqueeze (s, start)
        },
        else_branch = g2 () => (float[a,b,c,d,e] u) {
            v = LSTM <hidden_size = 8, direction = "reverse"> (x, w, r)
            u = Unsqueeze (v, start)
        }
    >
}"""


@pytest.mark.parametrize("yes", [True, False])
def test_gates_in_another_order_and_the_bodies_of_an_if(yes):
    integers = {"start": [0], "mid": [16], "end": [32], "one": [1]}
    model = build(
        REORDERED,
        17,
        w=normal(1, 32, 6) * 0.3,
        r=normal(1, 32, 8, seed=1) * 0.3,
        **{name: np.array(one, np.int64) for name, one in integers.items()},
    )
    feed = {"x": normal(5, 2, 6, seed=4), "yes": np.array(yes)}
    (exact,) = run(create_session(model), feed).values()
    result = mpgraph.convert(model, INT8)
    assert result.quantization.forms == {"recurrent": 2}
    assert "w" not in result.model.graph.initializers
    (found,) = run(create_session(result.model), feed).values()
    assert 0 < np.abs(found - exact).max() < 0.03 * np.abs(exact).max()
