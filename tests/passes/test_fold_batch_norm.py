"""BatchNormalization and its like in weights: the same numbers with fewer nodes, as onnxruntime
computes them, and nothing folded where that would change more than rounding."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph import ir
from mpgraph.passmgr import Facts, load_pipeline, run_pipeline
from mpgraph.policy import PolicyMap
from tests.runtime.builders import build

BATCH_NORM = "BatchNormalization (%s, gamma, beta, mean, var)"


def fold(model, *facts):
    return run_pipeline(model, load_pipeline("fold-batch-norm"), Facts(*facts))


def operators(model):
    return [node.op_type for node in ir.nodes(model) if node.op_type != "Constant"]


def outputs(model, feed):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        ir.to_bytes(model), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feed)


def statistics(rng, channels, dtype=np.float32):
    return {
        "gamma": rng.uniform(0.5, 2.0, channels).astype(dtype) * rng.choice([-1, 1], channels),
        "beta": rng.normal(size=channels).astype(dtype),
        "mean": rng.normal(size=channels).astype(dtype),
        "var": rng.uniform(0.1, 3.0, channels).astype(dtype),
    }


def typed(arrays, dtype):
    return {name: np.asarray(array, dtype) for name, array in arrays.items()}


def check_same(model, feed, expected, dtype=np.float32):
    before = outputs(model, feed)
    assert fold(model)
    ir.verify_structure(model)
    ir.check_model(model)
    assert operators(model) == expected
    assert fold(model) is False
    share = 2e-5 if dtype == np.float32 else 4e-3
    for old, new in zip(before, outputs(model, feed), strict=True):
        assert old.shape == new.shape
        np.testing.assert_allclose(old, new, rtol=0, atol=share * max(1.0, np.abs(old).max()))


BEHIND = {
    "batch_norm": [BATCH_NORM],
    "factors": ["Mul (%s, gamma_c)", "Add (beta_c, %s)"],
    "division": ["Sub (%s, mean_c)", "Div (%s, var_c)", "Mul (%s, half)", "Sub (half, %s)"],
    "identity": ["Identity (%s)", BATCH_NORM],
}


def chained(value, steps, last="y"):
    """Lines that apply steps to a value one after the other."""
    lines = []
    for index, step in enumerate(steps):
        name = last if index == len(steps) - 1 else f"s{index}"
        lines.append(f"{name} = {step % value}")
        value = name
    return "\n".join(lines)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    op=st.sampled_from(["Conv", "ConvTranspose"]),
    axes=st.integers(1, 3),
    groups=st.sampled_from([1, 2, 3]),
    biased=st.booleans(),
    steps=st.sampled_from(sorted(BEHIND)),
    dtype=st.sampled_from([np.float32, np.float16]),
)
def test_behind_convolutions(seed, op, axes, groups, biased, steps, dtype):
    rng = np.random.default_rng(seed)
    read, written = 2 * groups, 3 * groups
    shape = (written, 2) if op == "Conv" else (read, 3)
    weight = rng.normal(size=(*shape, *[2] * axes))
    given_arrays = {**statistics(rng, written), "w": weight, "b": rng.normal(size=written)}
    for name in ("gamma", "beta", "mean", "var"):
        given_arrays[f"{name}_c"] = np.asarray(given_arrays[name]).reshape(-1, *[1] * axes)
    given_arrays["half"] = np.full((1,) * axes, 0.5)
    kind = "float" if dtype == np.float32 else "float16"
    spatial = ",".join("4" * axes)
    pads = ",".join("1" * (2 * axes))
    model = build(
        f"""g ({kind}[2,{read},{spatial}] x) => ({kind}[n,{written},{",".join("abc"[:axes])}] y) {{
            c = {op} <group = {groups}, pads = [{pads}]> (x, w{", b" if biased else ""})
            {chained("c", BEHIND[steps])}
        }}""",
        **typed(given_arrays, dtype),
    )
    feed = {"x": rng.normal(size=(2, read, *[4] * axes)).astype(dtype)}
    check_same(model, feed, [op], dtype)


PRODUCTS = {
    "Gemm": ("Gemm <alpha = 0.5, beta = 2.0> (x, w, b)", ["Gemm"]),
    "Gemm_transposed": ("Gemm <transB = 1> (x, wt)", ["Gemm"]),
    "MatMul": ("MatMul (x, w)", ["MatMul", "Add"]),
    "MatMul_of_a_transpose": ("MatMul (x, moved)", ["MatMul", "Add"]),
}


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    product=st.sampled_from(sorted(PRODUCTS)),
    dtype=st.sampled_from([np.float32, np.float16]),
)
def test_around_products(seed, product, dtype):
    rng = np.random.default_rng(seed)
    text, expected = PRODUCTS[product]
    weight = rng.normal(size=(4, 4))
    model = build(
        f"""g ({"float" if dtype == np.float32 else "float16"}[3,4] x0) => ({"float" if dtype == np.float32 else "float16"}[3,4] y) {{
            moved = Transpose (wt)
            x = {BATCH_NORM % "x0"}
            p = {text}
            r = {BATCH_NORM % "p"}
            y = Relu (r)
        }}""",
        **typed(
            {**statistics(rng, 4), "w": weight, "wt": weight.T, "b": rng.normal(size=4)}, dtype
        ),
    )
    feed = {"x0": rng.normal(size=(3, 4)).astype(dtype)}
    if "moved" not in text:
        model.graph.remove(next(iter(model.graph)), safe=True)
    check_same(model, feed, [*expected, "Relu"], dtype)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    groups=st.sampled_from([1, 2]),
    step=st.sampled_from([BATCH_NORM, "Mul (%s, gamma_c)", "Add (%s, beta_c)"]),
)
def test_before_convolutions_without_padding(seed, groups, step):
    rng = np.random.default_rng(seed)
    values = statistics(rng, 4)
    model = build(
        f"""g (float[2,4,5] x) => (float[2,6,3] y, float[2,6,3] z) {{
            n = {step % "x"}
            y = Conv <group = {groups}> (n, w, b)
            z = Conv <group = {groups}> (n, w)
        }}""",
        w=rng.normal(size=(6, 4 // groups, 3)).astype(np.float32),
        b=rng.normal(size=6).astype(np.float32),
        gamma_c=values["gamma"].reshape(4, 1).astype(np.float32),
        beta_c=values["beta"].reshape(1, 4, 1),
        **typed(values, np.float32),
    )
    feed = {"x": rng.normal(size=(2, 4, 5)).astype(np.float32)}
    check_same(model, feed, ["Conv", "Conv"])


def test_a_scale_passes_padding_and_a_shift_does_not():
    text = """g (float[1,2,4] x) => (float[1,2,n] y) {
        m = Mul (x, s)
        a = Add (m, s)
        y = %s (a, w)
    }"""
    constants = {"w": np.ones((2, 2, 2), np.float32), "s": np.array([[2], [3]], np.float32)}
    padded = build(text % "Conv <pads = [1, 1]>", **constants)
    assert fold(padded) is False
    assert fold(build(text % 'Conv <auto_pad = "SAME_UPPER">', **constants)) is False
    assert fold(build(text % "ConvTranspose", **constants)) is False
    only_scaled = build(
        "g (float[1,2,4] x) => (float[1,2,n] y) { m = Mul (x, s) y = Conv <pads = [1, 1]> (m, w) }",
        **constants,
    )
    check_same(only_scaled, {"x": np.ones((1, 2, 4), np.float32)}, ["Conv"])


KEPT = {
    "read twice": "c = Conv (x, w) n = {} y = Add (n, c)",
    "an output": "y = Conv (x, w) n = {y} z = Relu (n)",
    "other broadcasting": "c = Conv (x, w) y = Mul (c, column)",
    "a bias that is computed": "b = ReduceSum <keepdims = 0> (x, axes) c = Conv (x, w, b) y = {}",
    "the end of a Gelu": "e = Erf (x) a = Add (e, one) m = Mul (x, a) n = Mul (m, one) y = Conv (n, w)",
    "the end of a normalisation": "n = Mul (x, one) y = MatMul (n, square)",
    "a mask": "c = Conv (x, w) d = Div (one, c) y = Relu (d)",
}


@pytest.mark.parametrize("why", KEPT)
def test_left_alone(why):
    body = KEPT[why].replace("{y}", BATCH_NORM % "y").replace("{}", BATCH_NORM % "c")
    wanted = ", ".join(f"float[1,2,n] {name}" for name in "yz" if f"{name} =" in body)
    ones = np.ones(2, np.float32)
    model = build(
        f"g (float[1,2,4] x) => ({wanted}) {{ {body} }}",
        w=np.ones((2, 2, 1), np.float32),
        square=np.ones((4, 4), np.float32),
        column=np.arange(1, 5, dtype=np.float32),
        axes=np.array([0, 2]),
        one=np.array([2], np.float32),
        gamma=ones * 2,
        beta=ones,
        mean=ones,
        var=ones,
    )
    before = ir.print_model(model)
    assert fold(model) is False
    assert ir.print_model(model) == before


@pytest.mark.parametrize("factor", [3e4, 1e-6])
def test_a_float16_weight_that_would_leave_its_range_stays(factor):
    model = build(
        "g (float16[1,2] x) => (float16[1,2] y) { p = MatMul (x, w) m = Mul (p, s) y = Relu (m) }",
        w=np.full((2, 2), 8, np.float16),
        s=np.array(factor, np.float16),
    )
    assert fold(model) is False


def test_a_shared_weight_is_copied_and_a_weight_of_its_own_keeps_its_name():
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(2, 2, 1)).astype(np.float32)
    model = build(
        """g (float[1,2,4] x) => (float[1,2,n] y) {
            c = Conv (x, shared)
            n = BatchNormalization (c, gamma, beta, mean, var)
            d = Conv (n, shared)
            e = Conv (d, own)
            y = BatchNormalization (e, gamma, beta, mean, var)
        }""",
        shared=weight,
        own=weight,
        **typed(statistics(rng, 2), np.float32),
    )
    feed = {"x": rng.normal(size=(1, 2, 4)).astype(np.float32)}
    check_same(model, feed, ["Conv", "Conv", "Conv"])
    kept = model.graph.initializers
    np.testing.assert_array_equal(kept["shared"].const_value.numpy(), weight)
    assert "own" in kept
    assert not set(kept) & {"gamma", "beta", "mean", "var"}


def test_weights_are_not_read_until_they_are_needed():
    reads = []

    def read():
        reads.append(1)
        return ir.tensor(np.ones((64, 64, 1), np.float32))

    model = build(
        "g (float[1,64,4] x) => (float[1,64,4] y) { n = Mul (x, s) c = Conv (n, w) y = Mul (c, s) }",
        w=np.ones((64, 64, 1), np.float32),
        s=np.array([2], np.float32),
    )
    lazy = ir.LazyTensor(read, dtype=ir.DataType.FLOAT, shape=ir.Shape([64, 64, 1]), name="w")
    model.graph.initializers["w"].const_value = lazy
    assert fold(model)
    assert not reads
    (node,) = ir.nodes(model)
    np.testing.assert_array_equal(node.inputs[1].const_value.numpy(), np.full((64, 64, 1), 4.0))
    assert reads


SUBGRAPH = """g (float[1,2,4] x, bool c) => (float[1,2,n] y) {
    y = If (c) <
        then_branch = t () => (float[1,2,n] a) {
            p = Conv (x, w)
            a = BatchNormalization (p, gamma, beta, mean, var)
        },
        else_branch = f () => (float[1,2,n] b) { b = Conv (x, w) }
    >
}"""


def test_a_branch_that_takes_weights_from_around_it():
    rng = np.random.default_rng(1)
    weight = rng.normal(size=(2, 2, 1)).astype(np.float32)
    model = build(SUBGRAPH, w=weight, **typed(statistics(rng, 2), np.float32))
    feed = {"x": rng.normal(size=(1, 2, 4)).astype(np.float32), "c": np.array(True)}
    check_same(model, feed, ["If", "Conv", "Conv"])


FUNCTION = """<ir_version: 10, opset_import: ["": 18, "l": 1]>
g (float[1,2,4] x) => (float[1,2,4] y) { y = l.f (x) }
<domain: "l", opset_import: ["": 18]> f (p) => (r) {
    w = Constant <value = float[2,2,1] {1, 2, 3, 4}> ()
    s = Constant <value = float[2,1] {2, 3}> ()
    c = Conv (p, w)
    m = Mul (c, s)
    r = Add (m, s)
}"""


def test_the_body_of_a_function():
    import onnx

    model = ir.load(onnx.parser.parse_model(FUNCTION))
    feed = {"x": np.arange(8, dtype=np.float32).reshape(1, 2, 4)}
    check_same(model, feed, ["f", "Conv"])


def normalized_twice():
    ones = np.ones(2, np.float32)
    return build(
        """g (float[1,2,4] x) => (float[1,2,n] y) {
            c = Conv (x, w)
            n = BatchNormalization (c, gamma, ones, ones, ones)
            r = Relu (n)
            d = Conv (r, w)
            m = Mul (d, two)
            y = Relu (m)
        }""",
        w=np.ones((2, 2, 1), np.float32),
        gamma=2 * ones,
        ones=ones,
        two=np.array([2], np.float32),
    )


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        (PolicyMap("float32"), 6),
        (PolicyMap("int8_from_float32"), 4),
        (PolicyMap("float32", {"op:Conv": "int8_from_float32"}), 4),
        (PolicyMap("int8_from_float32", {"op:Mul": "float32"}), 5),
        (PolicyMap("int8_from_float32", {"op:Conv": "float32"}), 6),
    ],
)
def test_only_what_a_policy_quantizes(policy, left):
    model = normalized_twice()
    assert fold(model, policy) is (left < 6)
    assert len(operators(model)) == left
