"""Which products are tuned, and which constants take factors."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.policy import PolicyMap, as_policy_map, resolve_nodes
from mpgraph.quant.tuning import find_absorbers, find_products
from mpgraph.runtime import create_session, run
from mpgraph.targets import get_target, quantization_rules
from tests.runtime.builders import build

WEIGHT = np.arange(24, dtype=np.float32).reshape(4, 6)
GAIN = np.linspace(1, 2, 4, dtype=np.float32)


def products(model, policy="int8_from_float32", target="cpu"):
    rules = quantization_rules(get_target(target))
    resolutions = resolve_nodes(model, as_policy_map(policy))
    return find_products(model.graph, infer_types(model), resolutions, rules)


PRODUCTS = """g (float[2,4] x, float[4,6] c) => (float[2,6] m, float[2,6] g, float[6,2] t) {
    m = MatMul (x, w)
    g = Gemm <transB = 1> (x, v)
    n = MatMul (x, c)
    t = Gemm <transA = 1> (n, n)
}"""


def test_products_of_an_activation_and_a_constant_matrix():
    found = products(build(PRODUCTS, w=WEIGHT, v=WEIGHT.T.copy()))
    assert [one.node.outputs[0].name for one in found] == ["m", "g"]
    assert [one.transposed for one in found] == [False, True]
    assert all(np.array_equal(one.matrix(), WEIGHT) for one in found)
    assert {one.form for one in found} == {"static"}


def test_the_policy_and_the_target_decide():
    model = build(PRODUCTS, w=WEIGHT, v=WEIGHT.T.copy())
    assert {one.form for one in products(model, "int8_dynamic_from_float32")} == {"dynamic"}
    assert products(model, "int8_weight_from_float32") == []
    assert products(model, target="cuda") == []
    kept = PolicyMap("int8_from_float32", {"op:Gemm": "float32"})
    assert [one.node.op_type for one in products(model, kept)] == ["MatMul"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = LayerNormalization (x, w, b)", [("w", False), ("b", False)]),
        ("y = LayerNormalization (x, w)", [("w", False)]),
        ("y = Mul (x, w)", [("w", False)]),
        ("y = Mul (w, x)", [("w", False)]),
        ("y = Div (x, w)", [("w", True)]),
        ("y = Div (w, x)", [("w", False)]),
        ("m = Mul (x, w) y = Add (m, b)", [("w", False), ("b", False)]),
        ("m = Mul (x, w) y = Sub (b, m)", [("w", False), ("b", False)]),
        ("y = Add (x, b)", []),
        ("m = Mul (x, w) n = Neg (m) y = Add (m, b)", []),
        ("y = Mul (x, s)", []),
        ("y = LayerNormalization <axis = 0> (x, square)", []),
        ("y = Relu (x)", []),
    ],
)
def test_constants_that_take_factors(text, expected):
    constants = {"w": GAIN, "b": -GAIN, "s": GAIN[:1], "square": np.ones((3, 4), np.float32)}
    model = build(f"g (float[3,4] x) => (float[3,4] y) {{ {text} }}", **constants)
    found = find_absorbers(model.graph.outputs[0], 4, {})
    assert [(one.constant.base.name, one.divides) for one in found] == expected
    if found:
        check_result(model, found)


def check_result(model, absorbers):
    """With factors in these constants the result is multiplied by them."""
    x, factors = (
        np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32),
        np.float32([1, 2, 4, 8]),
    )
    (before,) = run(create_session(model), {"x": x}).values()
    for one in absorbers:
        array = one.constant.tensor.numpy()
        changed = array / factors if one.divides else array * factors
        value = ir.Value(name=f"{one.constant.base.name}_scaled")
        value.const_value = ir.tensor(changed, name=value.name)
        model.graph.register_initializer(value)
        one.node.replace_input_with(one.index, value)
    (after,) = run(create_session(model), {"x": x}).values()
    np.testing.assert_allclose(after, before * factors, rtol=1e-6)
