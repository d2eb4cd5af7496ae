from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from mpgraph import ir
from mpgraph.errors import VerificationError
from mpgraph.runtime.emulate import emulated
from mpgraph.runtime.sessions import create_session, run
from mpgraph.runtime.survival import check_survival, emulated_session
from tests.runtime.builders import build

F16 = np.dtype(np.float16)
BF16 = np.dtype(ml_dtypes.bfloat16)
LOW = [pytest.param(F16, "float16", id="float16"), pytest.param(BF16, "bfloat16", id="bfloat16")]
Array = np.ndarray[Any, Any]


def emulate(model: ir.Model, **feed: Array) -> dict[str, Any]:
    return run(emulated_session(emulated(model)), feed)


def bits(array: Array) -> Array:
    return np.asarray(array).view(np.uint16)


def assert_same(got: Array, wanted: Array) -> None:
    """Equal bit for bit, any NaN equal to any other."""
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    nan = np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(got.astype(np.float32)), nan)
    np.testing.assert_array_equal(bits(got)[~nan], bits(wanted)[~nan])


def every_value(dtype: np.dtype[Any]) -> Array:
    return np.arange(2**16, dtype=np.uint16).view(dtype)


def float32_around(dtype: np.dtype[Any]) -> Array:
    """Every value of the dtype, every midpoint of two neighbours, and the float32 beside each."""
    values = every_value(dtype).astype(np.float32)
    exact = np.unique(values[np.isfinite(values)]).astype(np.float64)
    middle = ((exact[1:] + exact[:-1]) / 2).astype(np.float32)
    points = np.concatenate(
        [values, middle, np.array([65519.996, 65520.0, 3.4e38, -3.4e38], np.float32)]
    )
    with np.errstate(all="ignore"):
        up, down = (
            np.nextafter(points, np.float32(np.inf)),
            np.nextafter(points, -np.float32(np.inf)),
        )
    return np.concatenate([points, up, down])


def rounded(array: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        return array.astype(dtype)


@pytest.mark.parametrize(("dtype", "name"), LOW)
def test_rounds_every_float32_neighbour_like_numpy(dtype: np.dtype[Any], name: str) -> None:
    low = ir.parse_dtype(name).value
    model = build(
        f"g (float[n] x, {name}[1] one) => ({name}[n] y)"
        f"{{ c = Cast<to = {low}> (x) y = Mul (c, one) }}"
    )
    x = float32_around(dtype)
    got = emulate(model, x=x, one=np.ones(1, dtype))
    assert_same(got["y"], rounded(x, dtype))


@pytest.mark.parametrize(("dtype", "name"), LOW)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
def test_binary_operators_are_exact(op: str, dtype: np.dtype[Any], name: str) -> None:
    model = build(f"g ({name}[n] a, {name}[n] b) => ({name}[n] y) {{ y = {op} (a, b) }}")
    generator = np.random.default_rng(1)
    a, b = (generator.permutation(every_value(dtype)) for _ in range(2))
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[op]
    with np.errstate(all="ignore"):
        wanted = rounded(function(a.astype(np.float32), b.astype(np.float32)), dtype)
    assert_same(emulate(model, a=a, b=b)["y"], wanted)


@pytest.mark.parametrize("op", ["Sqrt", "Abs", "Neg", "Floor", "Relu"])
def test_unary_operators_are_exact(op: str) -> None:
    model = build(f"g (float16[n] a) => (float16[n] y) {{ y = {op} (a) }}")
    a = every_value(F16)
    a = a[~np.isnan(a)]
    function = {"Sqrt": np.sqrt, "Abs": np.abs, "Neg": np.negative, "Floor": np.floor}
    with np.errstate(all="ignore"):
        wanted = np.maximum(a, np.float16(0)) if op == "Relu" else function[op](a)
    got = emulate(model, a=a)["y"]
    np.testing.assert_array_equal(got, wanted)


def test_chain_overflows_where_float16_does() -> None:
    model = build(
        "g (float16[n] x) => (float16[n] y) { a = Mul (x, c) b = Mul (a, c) y = Mul (b, d) }",
        c=np.array(1e4, F16),
        d=np.array(1e-6, F16),
    )
    x = np.array([1, 1e-4, 0, -2], F16)
    with np.errstate(over="ignore"):
        wanted = x * F16.type(1e4) * F16.type(1e4) * F16.type(1e-6)
    assert np.isinf(wanted[0])
    assert_same(emulate(model, x=x)["y"], wanted)


@pytest.mark.parametrize(("dtype", "name"), LOW)
def test_long_chain_matches_numpy_step_by_step(dtype: np.dtype[Any], name: str) -> None:
    steps = 40
    body = " ".join(
        f"v{i + 1} = {'Mul' if i % 2 else 'Add'} (v{i}, {'m' if i % 2 else 'c'})"
        for i in range(steps)
    )
    model = build(
        f"g ({name}[n] v0) => ({name}[n] v{steps}) {{ {body} }}",
        c=np.array(0.37, dtype),
        m=np.array(1.13, dtype),
    )
    x = every_value(dtype)
    wanted = x
    with np.errstate(all="ignore"):
        for i in range(steps):
            operand = np.array(1.13 if i % 2 else 0.37, dtype).astype(np.float32)
            exact = wanted.astype(np.float32)
            wanted = rounded(exact * operand if i % 2 else exact + operand, dtype)
    assert_same(emulate(model, v0=x)[f"v{steps}"], wanted)


def test_accumulates_in_float32_inside_an_operator() -> None:
    model = build("g (float16[1,k] a, float16[k,1] b) => (float16[1,1] y) { y = MatMul (a, b) }")
    ones = np.ones((1, 4096), F16)
    got = emulate(model, a=ones, b=ones.T.copy())["y"]
    assert got[0, 0] == 4096


def test_casts_of_the_model_are_kept() -> None:
    model = build(
        "g (float[n] x, double[n] d, int64[n] i) => (float16[n] a, float[n] b, int32[n] c,"
        " float16[n] e, float16[n] f, bfloat16[n] h) {"
        " a = Cast<to = 10> (x) b = Cast<to = 1> (a) c = Cast<to = 6> (a) e = Cast<to = 10> (d)"
        " f = CastLike (i, a) h = Cast<to = 16> (a) }",
        opset=19,
    )
    x = np.array([0.1, 2049, 7e4, 1e-9, -3.7], np.float32)
    got = emulate(model, x=x, d=x.astype(np.float64) + 1e-12, i=np.arange(5) * 12345)
    half = rounded(x, F16)
    assert_same(got["a"], half)
    np.testing.assert_array_equal(got["b"], half.astype(np.float32))
    np.testing.assert_array_equal(got["c"][[0, 1, 3, 4]], half[[0, 1, 3, 4]].astype(np.int32))
    assert_same(got["e"], half)
    assert_same(got["f"], (np.arange(5) * 12345).astype(F16))
    assert_same(got["h"], rounded(half, BF16))


def test_dtype_attributes_and_tensors_are_retyped() -> None:
    model = build(
        "g (int64[1] n, float16[m,m] x) => (float16[k] a, float16[m,m] b, float16 c, float16 s)"
        "{ a = ConstantOfShape<value = float16[1] {11878}> (n) b = EyeLike<dtype = 10> (x)"
        " c = Constant<value = float16 {11878}> () r = RandomNormal<dtype = 10, shape = [64]> ()"
        " s = ReduceMax<keepdims = 0> (r) }"
    )
    got = emulate(model, n=np.array([3]), x=np.zeros((2, 2), F16))
    assert_same(got["a"], np.full(3, 11878, np.uint16).view(F16))
    assert_same(got["b"], np.eye(2, dtype=F16))
    assert bits(got["c"]) == 11878
    assert got["s"].dtype == F16


def test_quantize_and_dequantize_with_float16_scale() -> None:
    model = build(
        "g (float16[n] x) => (float16[n] y)"
        "{ q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }",
        opset=19,
        s=np.array(0.1, F16),
        z=np.array(3, np.int8),
    )
    x = np.array([0.04, 0.26, 5, 100, -100], F16)
    s = np.float32(F16.type(0.1))
    q = np.clip(np.rint(x.astype(np.float32) / s) + 3, -128, 127)
    assert_same(emulate(model, x=x)["y"], ((q - 3) * s).astype(F16))


def test_clip_without_bounds_has_those_of_float16() -> None:
    model = build("g (float16[n] x) => (float16[n] y) { a = Mul (x, x) y = Clip (a) }")
    got = emulate(model, x=np.array([300, 2], F16))
    np.testing.assert_array_equal(got["y"], np.array([65504, 4], F16))


def test_sequences_of_float16() -> None:
    model = build(
        "g (float16[n] x) => (float16[m] y, float16[n] w) { e = SequenceEmpty<dtype = 10> ()"
        " t = Mul (x, x) s1 = SequenceInsert (e, t) s2 = SequenceInsert (s1, x)"
        " y = ConcatFromSequence<axis = 0> (s2) w = SequenceAt (s2, i) }",
        i=np.array(0),
    )
    x = np.array([300, 1e-4, 3], F16)
    with np.errstate(all="ignore"):
        square = x * x
    got = emulate(model, x=x)
    assert_same(got["y"], np.concatenate([square, x]))
    assert_same(got["w"], square)


def test_body_of_sequence_map() -> None:
    model = build(
        "g (float16[n] x) => (float16[m] y) { s = SequenceConstruct (x, x)"
        " q = SequenceMap (s) < body = b (float16[n] i) => (float16[n] o)"
        " { a = Mul (i, i) o = Sqrt (a) } > y = ConcatFromSequence<axis = 0> (q) }"
    )
    x = np.array([300, 2, 1e-4], F16)
    with np.errstate(all="ignore"):
        wanted = np.sqrt(x * x)
    assert_same(emulate(model, x=x)["y"], np.concatenate([wanted, wanted]))


def test_outputs_that_a_node_does_not_give() -> None:
    model = build("g (float16[n] x) => (float16[n] y) { y, m = Dropout (x) }")
    next(iter(model.graph)).outputs[1].name = ""
    x = np.array([1, 3], F16)
    assert_same(emulate(model, x=x)["y"], x)
    attention = build(
        "g (float16[1,1,2,4] q) => (float16[1,1,2,4] y, float16[1,1,2,2] qk)"
        " { y, k, v, qk = Attention (q, q, q) }",
        opset=23,
    )
    for output in next(iter(attention.graph)).outputs[1:3]:
        output.name = ""
    q = np.full((1, 1, 2, 4), 0.5, F16)
    assert_same(emulate(attention, q=q)["y"], q)


def test_sequence_outputs_become_float32() -> None:
    model = build("g (float16[n] x) => (seq(float16[n]) s) { s = SequenceConstruct (x, x) }")
    got = emulate(model, x=np.array([0.1], F16))
    assert [item.dtype for item in got["s"]] == [np.float32, np.float32]


IF_MODEL = """g (bool c, float16[n] x) => (float16[n] y) {
    k = Mul (x, w)
    y = If (c) <
        then_branch = t () => (float16[n] ty) { ta = Mul (k, w) ty = Mul (ta, v) },
        else_branch = e () => (float16[n] ey) { ey = Add (x, v) }
    >
}"""


@pytest.mark.parametrize("condition", [True, False])
def test_branches_of_if(condition: bool) -> None:
    w, v = np.array(900, F16), np.array(1e-3, F16)
    model = build(IF_MODEL, w=w, v=v)
    x = np.array([1, 0.01, 0.1], F16)
    with np.errstate(over="ignore"):
        wanted = ((x * w) * w) * v if condition else x + v
    assert_same(emulate(model, c=np.array(condition), x=x)["y"], wanted)


def test_state_and_scan_outputs_of_loop() -> None:
    model = build(
        "g (int64 n, float16[k] x) => (float16[k] last, float16[m,k] all) { t = Constant<value ="
        " bool {1}> () last, all = Loop (n, t, x) < body = b (int64 i, bool go, float16[k] s)"
        " => (bool stay, float16[k] s2, float16[k] o) { stay = Identity (go) s2 = Mul (s, w)"
        " o = Add (s2, v) } > }",
        w=np.array(1.37, F16),
        v=np.array(0.011, F16),
    )
    state, rows = np.array([1, 17, 3e-6], F16), []
    x = state
    with np.errstate(over="ignore"):
        for _ in range(40):
            state = state * F16.type(1.37)
            rows.append(state + F16.type(0.011))
    got = emulate(model, n=np.array(40), x=x)
    assert_same(got["last"], state)
    assert_same(got["all"], np.stack(rows))


def test_scan() -> None:
    model = build(
        "g (float16[k] s, float16[t,k] x) => (float16[k] last, float16[t,k] all) {"
        " last, all = Scan (s, x) < num_scan_inputs = 1, body = b (float16[k] a, float16[k] r)"
        " => (float16[k] a2, float16[k] o) { a2 = Add (a, r) o = Mul (a2, a2) } > }"
    )
    x = np.linspace(-9, 300, 24).reshape(8, 3).astype(F16)
    state, rows = np.zeros(3, F16), []
    with np.errstate(over="ignore"):
        for row in x:
            state = state + row
            rows.append(state * state)
    got = emulate(model, s=np.zeros(3, F16), x=x)
    assert_same(got["last"], state)
    assert_same(got["all"], np.stack(rows))


def test_contrib_operators_have_float32_kernels() -> None:
    model = build(
        "g (float16[b,k] x, float16[k,k] w) => (float16[b,k] y) {"
        " m = com.microsoft.FusedMatMul<alpha = 0.5> (x, w)"
        " y = com.microsoft.SkipLayerNormalization (m, x, g, g) }",
        g=np.ones(8, F16),
    )
    generator = np.random.default_rng(0)
    x, w = generator.normal(size=(4, 8)).astype(F16), generator.normal(size=(8, 8)).astype(F16)
    m = (x.astype(np.float32) @ w.astype(np.float32) * np.float32(0.5)).astype(F16)
    total = m.astype(np.float32) + x.astype(np.float32)
    normal = (total - total.mean(1, keepdims=True)) / np.sqrt(total.var(1, keepdims=True) + 1e-12)
    np.testing.assert_allclose(emulate(model, x=x, w=w)["y"], normal + 1, atol=4e-3)


def test_outputs_that_are_inputs_initializers_or_reused() -> None:
    model = build(
        "g (float16[2] x) => (float16[2] x, float16[2] w, float16[2] a, float16[2] b)"
        "{ a = Add (x, w) b = Mul (a, w) }",
        w=np.array([0.1, 3e4], F16),
    )
    x = np.array([1, 6e4], F16)
    got = emulate(model, x=x)
    w = np.array([0.1, 3e4], F16)
    with np.errstate(over="ignore"):
        assert_same(got["a"], x + w)
        assert_same(got["b"], (x + w) * w)
    assert_same(got["x"], x)
    assert_same(got["w"], w)


def test_local_functions_called_under_two_dtypes() -> None:
    proto = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 18, "l": 1]>
        g (float16[n] x, float[n] f) => (float16[n] y, float[n] z)
        { y = l.square_twice (x) z = l.square_twice (f) }
        <domain: "l", opset_import: ["": 18]>
        square_twice (a) => (c) { b = Mul (a, a) c = Mul (b, b) }"""
    )
    x = np.array([30, 2, 0.01], F16)
    got = emulate(ir.load(proto), x=x, f=x.astype(np.float32))
    with np.errstate(over="ignore"):
        assert_same(got["y"], (x * x) * (x * x))
    assert np.isfinite(got["z"]).all()


def test_a_float32_model_is_left_as_it_is() -> None:
    model = build("g (float[n] x) => (float[n] y) { y = Sqrt (x) }")
    assert [node.op_type for node in ir.nodes(emulated(model))] == ["Sqrt"]


def test_the_given_model_is_not_changed() -> None:
    model = build(IF_MODEL, w=np.array(900, F16), v=np.array(1e-3, F16))
    before = ir.to_bytes(model)
    emulated(model)
    assert ir.to_bytes(model) == before


def test_names_of_values_are_kept() -> None:
    model = build("g (float16[n] x) => (float16[n] y) { a = Mul (x, x) y = Sqrt (a) }")
    emulation = emulated(model)
    types = {output.name: output.dtype for node in emulation.graph for output in node.outputs}
    assert types["a"] == ir.DataType.FLOAT
    assert types["y"] == ir.DataType.FLOAT16


def test_custom_operator_of_unknown_dtype_is_refused() -> None:
    model = build(
        "g (float16[n] x) => (float[n] y) { a = com.microsoft.Thing (x) y = Cast<to = 1> (a) }"
    )
    with pytest.raises(VerificationError, match=r"output 'a' is unknown"):
        emulated(model)


def test_removed_and_bypassed_roundings_are_found() -> None:
    model = build("g (float16[n] x) => (float16[n] y) { a = Mul (x, x) y = Mul (a, a) }")
    emulation = emulated(model)
    check_survival(emulation, ir.to_proto(emulation))

    def node_of(copy: ir.Model, part: str) -> ir.Node:
        return next(node for node in copy.graph if part in (node.name or ""))

    removed = ir.clone(emulation)
    down, hold = node_of(removed, "down.a"), node_of(removed, "hold.a")
    hold.replace_input_with(0, down.inputs[0])
    bypassed = ir.clone(emulation)
    down, up = node_of(bypassed, "down.a"), node_of(bypassed, "up.a")
    for user, index in tuple(up.outputs[0].uses()):
        user.replace_input_with(index, down.inputs[0])
    retyped = ir.clone(emulation)
    node_of(retyped, "down.a").attributes["to"] = ir.AttrInt64("to", 16)
    for broken in (removed, bypassed, retyped):
        with pytest.raises(VerificationError):
            check_survival(emulation, ir.to_proto(broken))


def test_roundings_do_not_survive_full_optimisation_unnoticed(tmp_path: Any) -> None:
    model = build("g (float16[n] x) => (float16[n] y) { a = Mul (x, x) y = Mul (a, a) }")
    emulation = emulated(model)
    path = tmp_path / "optimized.onnx"
    create_session(emulation, optimize=True, optimized_path=path)
    with pytest.raises(VerificationError, match="removed or bypassed"):
        check_survival(emulation, onnx.load(path))
