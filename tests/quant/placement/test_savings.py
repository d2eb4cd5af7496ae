"""Where quantizing a node saves less than the conversions around it cost, it stays float."""

from __future__ import annotations

import numpy as np
import pytest

import mpgraph
from mpgraph.policy import PolicyMap
from tests.quant.placement.planning import carriers, planned
from tests.runtime.builders import build

INT8 = "int8_from_float32"


def forms(model, feeds, target="cpu"):
    plan = planned(model, feeds, INT8, target)
    return {node.name or node.key: (node.form, node.reason) for node in plan.nodes if node.counts}


def feeds_of(*shape):
    rng = np.random.default_rng(0)
    return [{"x": rng.normal(size=shape).astype(np.float32)}]


def two_convolutions(between, behind="y = Identity (s)"):
    """A heavy Conv, and behind float nodes a light one that reads much and computes little."""
    rng = np.random.default_rng(1)
    model = build(
        f"""g (float[1,32,40,40] x) => (float[1,32,40,40] y) {{
            a = Conv <pads = [1, 1, 1, 1]> (x, heavy)
            {between}
            s = Conv <group = 32> (r, light)
            {behind}
        }}""",
        heavy=rng.normal(size=(32, 32, 3, 3)).astype(np.float32),
        light=rng.normal(size=(32, 1, 1, 1)).astype(np.float32),
    )
    heavy, light, *_ = (node for node in model.graph if node.op_type == "Conv")
    heavy.name, light.name = "heavy", "light"
    return model


@pytest.mark.parametrize("target", ["cpu", "tensorrt"])
def test_a_light_node_between_float_nodes_stays_float_where_conversions_have_a_price(target):
    found = forms(two_convolutions("r = Erf (a)"), feeds_of(1, 32, 40, 40), target)
    assert found["heavy"][0] == "static"
    if target == "cpu":
        assert found["light"][0] == "float"
        assert "conversions around it" in found["light"][1]
    else:
        assert found["light"][0] == "static"


def test_the_same_node_is_quantized_between_quantized_numbers():
    model = two_convolutions(
        "r = Relu (a)", "z = Relu (s) y = Conv <pads = [1, 1, 1, 1]> (z, heavy)"
    )
    assert {form for form, _ in forms(model, feeds_of(1, 32, 40, 40)).values()} == {"static"}


def test_a_model_of_which_no_node_gains_is_quantized_all_the_same():
    model = build(
        "g (float[1,4] x) => (float[1,4] y) { y = MatMul (x, w) }", w=np.eye(4, dtype="f4")
    )
    assert {form for form, _ in forms(model, feeds_of(1, 4)).values()} <= {"static", "dynamic_rows"}


@pytest.mark.parametrize(("source", "moved"), [("x", set()), ("m", {"t"})])
def test_numbers_are_moved_for_floats_only_where_a_kernel_gave_them(source, moved):
    model = build(
        f"""g (float[256,256] x) => (float[256,256] y, float[256,256] z) {{
            m = MatMul (x, w) t = Transpose <perm = [1, 0]> ({source}) y = MatMul (t, w)
            e = Erf (t) z = Add (e, m)
        }}""",
        w=np.random.default_rng(0).normal(size=(256, 256)).astype(np.float32),
    )
    plan = planned(model, feeds_of(256, 256))
    assert carriers(plan) == moved
    assert {one.form for one in plan.nodes if one.counts} == {"static"}


def test_of_nodes_that_do_not_gain_the_one_that_loses_least_is_quantized():
    model = build(
        """g (float[1,64] x) => (float[1,8] y) {
            a = MatMul (x, w) e = Erf (a) b = MatMul (e, v) f = Erf (b) y = MatMul (f, w8)
        }""",
        w=np.ones((64, 64), np.float32),
        v=np.ones((64, 8), np.float32),
        w8=np.ones((8, 8), np.float32),
    )
    found = [form for form, _ in forms(model, feeds_of(1, 64)).values()]
    assert found == ["static", "float", "float"]


@pytest.mark.parametrize(
    ("shape", "side"),
    [((8, 1, 64), "input"), ((8, 1, 3), ""), ((1, 8, 3), "output"), ((16, 16, 64), "")],
)
def test_convolutions_of_one_channel(shape, side):
    rng = np.random.default_rng(2)
    outputs, inputs, _ = shape
    model = build(
        f"""g (float[1,{inputs},600] x) => (float[1,16,n] y) {{
            a = Conv (x, w) r = Relu (a) y = Conv (r, v) }}""",
        w=rng.normal(size=shape).astype(np.float32),
        v=rng.normal(size=(16, outputs, 64)).astype(np.float32),
    )
    first = next(iter(model.graph))
    first.name = "first"
    form, reason = forms(model, feeds_of(1, inputs, 600))["first"]
    assert ("one" in reason) == bool(side)
    assert f"one {side} channel" in reason if side else True
    assert form == "float" or outputs == 16


def test_wanted_nodes_are_quantized_whatever_they_cost():
    model = two_convolutions("r = Erf (a)")
    policy = PolicyMap("float32", {"name:light": INT8})
    plan = mpgraph.convert(
        model, policy, data=feeds_of(1, 32, 40, 40), verify="structure"
    ).quantization
    assert [node.form for node in plan.nodes if node.counts] == ["static"]
