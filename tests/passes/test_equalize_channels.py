"""Channels between convolutions are scaled where that helps, and the results stay the same."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

import mpgraph
from mpgraph import ir
from mpgraph.passmgr import Facts, load_pipeline, run_pipeline
from mpgraph.policy import PolicyMap
from mpgraph.runtime import compare_models, input_specs, load_data
from mpgraph.targets import get_target
from tests.runtime.builders import build

INT8 = "int8_from_float32"
SPREAD = np.float32([8, 1, 0.125, 2, 0.25, 4, 1 / 16, 0.5])
"""How far the channels between the two convolutions are apart."""


def network(between, rng, *, outputs=8, group=1, **constants):
    """A Conv whose channels differ in range, what is between, and a Conv that evens them out."""
    spread = SPREAD.reshape(-1, 1, 1, 1)
    read = rng.normal(size=(outputs, 8 // group, 3, 3)).astype(np.float32)
    over = 1 / SPREAD.reshape(1, -1, 1, 1) if group == 1 else 1 / spread
    return build(
        f"""g (float[1,4,12,12] x) => (float[n,{outputs},h,w] y) {{
            c = Conv <pads = [1, 1, 1, 1]> (x, first, bias)
            {between}
            y = Conv <group = {group}> (r, second)
        }}""",
        first=rng.normal(size=(8, 4, 3, 3)).astype(np.float32) * spread,
        bias=rng.normal(size=8).astype(np.float32) * SPREAD,
        second=np.asarray(read * over, np.float32),
        **constants,
    )


def feeds_of(rng, count=3):
    return [{"x": rng.normal(size=(1, 4, 12, 12)).astype(np.float32)} for _ in range(count)]


def equalize(model, feeds, policy=INT8, text="equalize-channels", target="cpu"):
    facts = Facts(
        policy if isinstance(policy, PolicyMap) else PolicyMap(policy), get_target(target)
    )
    if feeds is not None:
        facts.put(load_data(feeds, input_specs(model)))
    changed = run_pipeline(model, load_pipeline(text), facts)
    ir.verify_structure(model)
    ir.check_model(model)
    return changed


def outputs(model, feed):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        ir.to_bytes(model), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feed)


def operators(model):
    return [node.op_type for node in ir.nodes(model) if node.op_type != "Constant"]


def sqnr(model, feeds):
    converted = mpgraph.convert(model, INT8, data=feeds, verify="load")
    compared = compare_models(model, converted.model, feeds)
    return min(output.sqnr_db for output in compared.outputs)


HOMOGENEOUS = {
    "nothing": "r = Identity (c)",
    "relu": "r = Relu (c)",
    "leaky": "r = LeakyRelu <alpha = 0.1> (c)",
    "pooling": "a = Relu (c) r = MaxPool <kernel_shape = [2, 2]> (a)",
    "average": "r = AveragePool <kernel_shape = [3, 3]> (c)",
    "residual": "a = Relu (c) r = Add (a, c)",
    "shifted": "r = Add (c, ones)",
}


@pytest.mark.parametrize("group", [1, 8])
@pytest.mark.parametrize("between", HOMOGENEOUS)
def test_factors_pass_through_and_the_results_stay_the_same_bit_for_bit(between, group):
    rng = np.random.default_rng(5)
    ones = np.ones((8, 1, 1), np.float32)
    model = network(HOMOGENEOUS[between], rng, group=group, ones=ones)
    if between != "shifted":
        model.graph.initializers.pop("ones")
    feeds, kinds = feeds_of(rng), operators(model)
    before = outputs(model, feeds[0])[0]
    assert equalize(model, feeds)
    assert operators(model) == kinds
    np.testing.assert_array_equal(outputs(model, feeds[0])[0], before)
    assert equalize(model, feeds) is False


HARD_SWISH = """shifted = Add (c, three)
    clipped = Clip (shifted, zero, six)
    product = Mul (clipped, c)
    r = Div (product, six)"""
NUMBERS = {name: np.float32(number) for name, number in (("three", 3), ("zero", 0), ("six", 6))}


def test_a_gate_gets_the_value_as_it_was_and_its_division_is_gone():
    rng = np.random.default_rng(6)
    model = network(HARD_SWISH, rng, group=8, **NUMBERS)
    feeds = feeds_of(rng)
    before = outputs(model, feeds[0])[0]
    assert equalize(model, feeds)
    assert operators(model) == ["Conv", "Conv", "Clip", "Mul", "Conv"]
    np.testing.assert_allclose(outputs(model, feeds[0])[0], before, rtol=1e-5, atol=1e-5)
    assert equalize(model, feeds) is False


def test_quantized_results_come_closer():
    rng = np.random.default_rng(7)
    for between in (HOMOGENEOUS["relu"], HARD_SWISH):
        numbers = NUMBERS if between is HARD_SWISH else {}
        model = network(between, rng, group=8, **numbers)
        feeds = feeds_of(rng)
        with_pass = sqnr(model, feeds)
        converted = ir.clone(model)
        plain = [
            "normalize", "convert-opset", "infer-dtypes", "assign-policy", "legalize",
            "place-casts", "calibrate", "plan-quantization", "insert-quantizers",
            "quantize-weights", "fold",
        ]  # fmt: skip
        equalize(converted, feeds, text=",".join(plain))
        without = min(one.sqnr_db for one in compare_models(model, converted, feeds).outputs)
        assert with_pass > without + 10


@pytest.mark.parametrize(
    "between",
    [
        "r = Sigmoid (c)",
        "a = Relu (c) b = Neg (c) r = Add (a, b)",
        "r = Clip (c, zero, six)",
        "t = Transpose <perm = [0, 1, 3, 2]> (c) r = Relu (t)",
    ],
)
def test_what_does_not_scale_along_stays(between):
    rng = np.random.default_rng(8)
    numbers = {name: NUMBERS[name] for name in ("zero", "six") if name in between}
    model = network(between, rng, group=8, **numbers)
    before = ir.print_model(model)
    assert equalize(model, feeds_of(rng)) is False
    assert ir.print_model(model) == before


def test_nothing_is_done_without_data_or_static_ranges_or_a_kernel():
    rng = np.random.default_rng(9)
    model = network("r = Relu (c)", rng, group=8)
    feeds = feeds_of(rng)
    assert equalize(model, None) is False
    assert equalize(model, feeds, "mixed_float16") is False
    assert equalize(model, feeds, "int8_weight_from_float32") is False
    assert equalize(model, feeds, target="cuda") is False
    assert equalize(model, feeds, text="equalize-channels{exponents=[]}") is False


def test_a_node_that_a_rule_names_is_not_dropped():
    rng = np.random.default_rng(10)
    model = network(HARD_SWISH, rng, group=8, **NUMBERS)
    ruled = PolicyMap(INT8, {"op:Div": "float32"})
    assert equalize(model, feeds_of(rng), ruled) is False


def test_even_channels_stay():
    rng = np.random.default_rng(11)
    model = build(
        """g (float[1,4,9,9] x) => (float[1,4,5,5] y) {
            c = Conv (x, first) r = Relu (c) y = Conv (r, second) }""",
        first=rng.normal(size=(4, 4, 3, 3)).astype(np.float32),
        second=rng.normal(size=(4, 4, 3, 3)).astype(np.float32),
    )
    feeds = [{"x": rng.normal(size=(1, 4, 9, 9)).astype(np.float32)} for _ in range(3)]
    assert equalize(model, feeds) is False
