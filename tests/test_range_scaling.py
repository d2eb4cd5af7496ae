"""Range scaling from end to end: float16 where values overflow it, right and for good."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mpgraph
from mpgraph import ir
from mpgraph.errors import PlanError
from mpgraph.passmgr.pipelines import CONVERT_WITH_DATA
from mpgraph.plan import Labelling, Plan, policy_map_of_plan
from mpgraph.runtime import create_session, input_specs, load_data, measure_ranges
from tests.pipelines import given as facts_for
from tests.pipelines import run
from tests.runtime.builders import build

SCALED = mpgraph.PolicyMap("mixed_float16", range_scaling=True)
LARGEST = 65504.0


def weights(*shape, by=1.0, seed=0):
    return (np.random.default_rng(seed).standard_normal(shape) * by).astype(np.float32)


def feeds(*shape):
    return [{"x": weights(*shape, seed=seed)} for seed in (7, 8, 9)]


@dataclass(frozen=True)
class Case:
    """A model whose activations pass 65504, and how many of its nodes float16 can take."""

    name: str
    text: str
    constants: dict
    unscaled: int
    scaled: int
    shape: tuple = (4, 64)

    def model(self):
        return build(self.text, **self.constants)

    def feeds(self):
        return feeds(*self.shape)


HEAD = "g (float[4,64] x) => (float[4,64] y)"
ONES = np.ones(64, np.float32)
CASES = [
    Case(
        "matmul_chain",
        f"{HEAD} {{ a = MatMul (x, w1) b = Relu (a) c = MatMul (b, w2) d = Relu (c)"
        " e = LayerNormalization (d, ones) f = MatMul (e, w3) y = Tanh (f) }",
        {
            "w1": weights(64, 64, by=100),
            "w2": weights(64, 64, by=1000, seed=1),
            "w3": weights(64, 64, by=0.1, seed=2),
            "ones": ONES,
        },
        unscaled=4,
        scaled=7,
    ),
    Case(
        "softmax_behind",
        f"{HEAD} {{ a = MatMul (x, w1) b = LeakyRelu (a) c = MatMul (b, w2) y = Softmax (c) }}",
        {"w1": weights(64, 64, by=1e4), "w2": weights(64, 64, by=1e-5, seed=1)},
        unscaled=0,
        scaled=4,
    ),
    Case(
        "residual_sums",
        f"{HEAD} {{ a = MatMul (x, w1) h = Add (x, a) n = LayerNormalization (h, ones)"
        " b = MatMul (n, w2) r = Relu (b) c = MatMul (r, w3) k = Add (h, c)"
        " m = LayerNormalization (k, ones) d = MatMul (m, w1) l = Add (k, d)"
        " y = LayerNormalization (l, ones) }",
        {
            "w1": weights(64, 64),
            "w2": weights(64, 64, by=200, seed=1),
            "w3": weights(64, 64, by=60, seed=2),
            "ones": ONES,
        },
        unscaled=6,
        scaled=11,
    ),
    Case(
        "gemm_with_bias",
        f"{HEAD} {{ a = Gemm <alpha = 2.0, beta = 0.5> (x, w1, b1) b = Relu (a)"
        " c = Gemm <transB = 1> (b, w2, b2) y = Relu (c) }",
        {
            "w1": weights(64, 64, by=5000),
            "b1": weights(64, by=1e5, seed=1),
            "w2": weights(64, 64, by=1e-4, seed=2),
            "b2": weights(64, seed=3),
        },
        unscaled=0,
        scaled=4,
    ),
    Case(
        "convolutions",
        "g (float[1,3,16,16] x) => (float[1,8,1,1] y) {"
        " a = Conv <pads = [1, 1, 1, 1]> (x, w1, b1) a1 = BatchNormalization (a, s, t, m, v)"
        " b = Relu (a1) c = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)"
        " d = Conv <pads = [1, 1, 1, 1]> (c, w2, b2) e = Conv (c, w3) f = Add (d, e) h = Relu (f)"
        " i = Conv (h, w4) y = GlobalAveragePool (i) }",
        {
            "w1": weights(8, 3, 3, 3, by=1000),
            "b1": weights(8, by=1e4, seed=1),
            "s": np.abs(weights(8, seed=2)) + 1,
            "t": weights(8, seed=3),
            "m": weights(8, by=1e4, seed=4),
            "v": np.abs(weights(8, seed=5)) + 1,
            "w2": weights(8, 8, 3, 3, by=10, seed=6),
            "b2": weights(8, seed=7),
            "w3": weights(8, 8, 1, 1, by=10, seed=8),
            "w4": weights(8, 8, 1, 1, by=1e-5, seed=9),
        },
        unscaled=1,
        scaled=10,
        shape=(1, 3, 16, 16),
    ),
    Case(
        "decoder_block",
        f"{HEAD} {{ n = LayerNormalization (x, ones) q = MatMul (n, wq) s = Softmax (q)"
        " o = MatMul (s, wo) h = Add (x, o) i = LayerNormalization (h, ones)"
        " g = MatMul (i, wg) p = Sigmoid (g) k = Mul (g, p) u = MatMul (i, wu) t = Mul (k, u)"
        " d = MatMul (t, wd) l = Add (h, d) y = LayerNormalization (l, ones) }",
        {
            "wq": weights(64, 64, by=0.1),
            "wo": weights(64, 64, seed=1),
            "wg": weights(64, 128, by=0.2, seed=2),
            "wu": weights(64, 128, by=20, seed=3),
            "wd": weights(128, 64, by=100, seed=4),
            "ones": ONES,
        },
        unscaled=11,
        scaled=14,
    ),
]


def by_name(name):
    return next(case for case in CASES if case.name == name)


def convert(model, data, policy=SCALED, **options):
    given = {"target": "cuda", "verify": "structure", "tolerance": float("inf")} | options
    return mpgraph.convert(model, policy, data=data, **given)


def kinds(plan):
    return {one.kind for one in plan.scaling}


def low_values(model):
    return {
        value.name
        for node in ir.nodes(model)
        for value in node.outputs
        if value.dtype == ir.DataType.FLOAT16
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_scaling_computes_in_float16_what_overflows_without(case):
    model, data = case.model(), case.feeds()
    assert max(seen.amax for seen in measure_ranges(model, data).values.values()) > LARGEST
    plain = convert(model, data, "mixed_float16")
    scaled = convert(model, data)
    assert plain.plan.nodes_by_dtype["float16"] == case.unscaled
    assert scaled.plan.nodes_by_dtype["float16"] == case.scaled
    assert not plain.plan.scaling
    compared = mpgraph.verify(model, scaled.model, data=data, emulate=True)
    assert compared.max_relative < 2e-3


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_float16_then_fits_with_room(case):
    data = case.feeds()
    scaled = convert(case.model(), data).model
    wide = ir.load(ir.to_proto(scaled))
    seen = measure_ranges(wide, data).values
    low = low_values(wide) & set(seen)
    assert low
    assert max(seen[name].amax for name in low) <= LARGEST / 2
    assert not any(seen[name].nonfinite for name in seen)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_scaled_model_is_converted_once_for_all(case):
    first = convert(case.model(), case.feeds()).model
    again = convert(first, case.feeds())
    assert ir.fingerprint(again.model) == ir.fingerprint(first)
    assert not again.plan.scaling


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_full_check_holds_with_the_default_tolerance(case):
    result = mpgraph.convert(case.model(), SCALED, target="cuda", data=case.feeds())
    assert result.report.checked.valid
    assert result.report.checked.comparison.max_relative < 1e-2
    assert result.plan.scaling


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_factor_is_in_the_model_and_says_where_it_comes_from(case):
    result = convert(case.model(), case.feeds())
    added = [node for node in ir.nodes(result.model) if node.op_type == "Mul" and ir.origin(node)]
    planned = {
        (one.name, one.power, one.dtype)
        for one in result.plan.scaling
        if one.kind in ("operand", "output")
    }
    assert len(added) == len(planned)
    for node in added:
        assert ir.origin(node)[0] == "scale-ranges"
        power = float(ir.constant_tensor(node.inputs[1]).numpy())
        assert ir.origin(node)[1] == f"times 2^{int(np.log2(power))}"
    for value in result.model.graph.initializers.values():
        assert value.uses()


def applied_alone(model, data):
    """The original with its powers of two, still in float32, and the plan."""
    facts = facts_for(SCALED)
    facts.put(load_data(data, input_specs(model)))
    before, _, _ = CONVERT_WITH_DATA.partition("refine-accuracy")
    options = {"keep_io_types": "true", "allow_slow": "false"}
    run(model, before.rstrip(",").format(**options) + ",place-casts,scale-ranges", facts)
    return facts


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_powers_of_two_alone_change_nothing(case):
    original, model = case.model(), case.model()
    facts = applied_alone(model, case.feeds())
    assert facts.get(Plan).scaling
    ir.check_model(model)
    plain, scaled = create_session(original, optimize=False), create_session(model, optimize=False)
    for feed in case.feeds():
        for expected, got in zip(plain.run(None, feed), scaled.run(None, feed), strict=True):
            np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-7 * np.abs(expected).max())


def test_the_pass_does_its_work_once():
    model = by_name("residual_sums").model()
    facts = applied_alone(model, feeds(4, 64))
    before = ir.fingerprint(model)
    assert run(model, "scale-ranges", facts) is False
    assert ir.fingerprint(model) == before
    assert facts.get(Labelling).scaled


def test_a_plan_with_factors_goes_through_json_and_is_applied_from_there():
    case = by_name("residual_sums")
    model, data = case.model(), case.feeds()
    facts = facts_for(SCALED)
    facts.put(load_data(data, input_specs(model)))
    run(
        model,
        "normalize,measure,infer-dtypes,assign-policy,plan-scaling,protect-numerics,legalize,"
        "place-casts",
        facts,
    )
    plan = facts.get(Plan)
    read = Plan.from_json(plan.to_json())
    assert read == plan
    assert {"value", "operand", "constant", "epsilon"} <= kinds(read)
    assert all(one.reason for one in read.scaling)
    copy = ir.clone(model)
    later = facts_for(SCALED)
    later.put(read)
    run(copy, "scale-ranges,insert-casts,convert-weights,fold", later)
    run(model, "scale-ranges,insert-casts,convert-weights,fold", facts)
    assert ir.print_model(copy) == ir.print_model(model)


def test_a_plan_without_factors_is_read_from_older_files():
    plan = convert(by_name("residual_sums").model(), feeds(4, 64), "mixed_float16").plan
    text = plan.to_json().replace(',\n "scaling": []', "")
    assert "scaling" not in text
    assert Plan.from_json(text) == plan


def test_casts_are_refused_before_the_factors_are_there():
    model = by_name("residual_sums").model()
    facts = applied_alone(model, feeds(4, 64))
    facts.put(replace(facts.get(Labelling), scaled=False))
    with pytest.raises(PlanError, match="run scale-ranges before"):
        run(model, "insert-casts", facts)


@pytest.mark.parametrize(
    ("policy", "target"),
    [("mixed_float16", "cuda"), ("mixed_bfloat16", "cuda"), ("float32", "cuda")],
)
def test_it_is_off_by_default_and_for_dtypes_that_need_none(policy, target):
    case = by_name("residual_sums")
    options = {} if policy == "mixed_float16" else {"range_scaling": True}
    result = convert(
        case.model(), case.feeds(), mpgraph.PolicyMap(policy, **options), target=target
    )
    assert not result.plan.scaling


def test_nothing_is_scaled_where_the_target_computes_in_float32():
    case = by_name("residual_sums")
    result = convert(case.model(), case.feeds(), target="cpu")
    assert not result.plan.scaling
    assert not [node for node in ir.nodes(result.model) if node.op_type == "Mul"]


def test_without_data_a_warning_says_that_nothing_is_scaled():
    result = convert(by_name("residual_sums").model(), None)
    assert "range scaling needs data" in " ".join(result.plan.warnings)
    assert not result.plan.scaling


def test_a_refusal_is_the_reason_of_the_node():
    text = f"{HEAD} {{ a = MatMul (x, w1) b = Exp (a) c = MatMul (b, w2) y = Tanh (c) }}"
    model = build(text, w1=weights(64, 64, by=0.6), w2=weights(64, 64, by=1e-5))
    data = [{"x": np.clip(feed["x"], -3, 3)} for feed in feeds(4, 64)]
    plan = convert(model, data, mpgraph.PolicyMap("float16", range_scaling=True)).plan
    (exp,) = [one for one in plan.assignments if one.op_type == "Exp"]
    assert exp.dtype == "float32"
    assert "not scaled: Exp does not hand on a factor" in exp.reason


def test_a_shared_weight_gets_a_copy_for_the_consumer_that_needs_it():
    text = "g (float[4,64] x, float[4,64] z) => (float[4,64] y, float[4,64] u)"
    text += " { a = MatMul (x, w) n = LayerNormalization (a, ones) y = Relu (n) u = MatMul (z, w) }"
    model = build(text, w=weights(64, 64, by=2e3), ones=ONES)
    data = [
        {"x": weights(4, 64, seed=seed), "z": weights(4, 64, by=1e-3, seed=seed)} for seed in (1, 2)
    ]
    result = convert(model, data)
    stored = {
        name: one.const_value.numpy() for name, one in result.model.graph.initializers.items()
    }
    squares = [one for one in stored.values() if one.shape == (64, 64)]
    assert len(squares) == 2
    small, large = sorted(squares, key=lambda one: np.abs(one).max())
    np.testing.assert_array_equal(np.ldexp(small.astype(np.float32), 2), large)
    assert mpgraph.verify(model, result.model, data=data, emulate=True).max_relative < 2e-3


BRANCHES = """g (float[4,64] x, bool flag) => (float[4,64] y) {
    a = MatMul (x, w)
    y = If (flag) <
        then_branch = t () => (float[4,64] p) { b = Relu (a) c = MatMul (b, v) p = Relu (c) },
        else_branch = e () => (float[4,64] q) { q = LayerNormalization (a, ones) }
    >
}"""


def test_branches_take_scaled_values_and_scale_their_own():
    model = build(
        BRANCHES, w=weights(64, 64, by=1e4), v=weights(64, 64, by=1e-3, seed=1), ones=ONES
    )
    data = [
        {"x": weights(4, 64, seed=seed), "flag": np.array(flag)}
        for seed, flag in ((1, True), (2, False), (3, True))
    ]
    result = convert(model, data)
    assert {one.key.partition("#")[0] for one in result.plan.scaling} > {"main"}
    assert mpgraph.verify(model, result.model, data=data, emulate=True).max_relative < 2e-3
    assert ir.fingerprint(convert(result.model, data).model) == ir.fingerprint(result.model)


MASKED = """g (float[4,64] x, bool[4,64] keep) => (float[4,64] y) {
    s = MatMul (x, w)
    m = Where (keep, s, lowest)
    y = Softmax (m)
}"""


@pytest.mark.parametrize("lowest", [-1e6, -1e9, float(np.finfo(np.float32).min)])
def test_attention_masks_keep_the_scores_their_digits(lowest):
    model = build(MASKED, w=weights(64, 64, by=0.1), lowest=np.array(lowest, np.float32))
    keep = np.random.default_rng(0).random((4, 64)) < 0.5
    data = [{"x": feed["x"], "keep": keep} for feed in feeds(4, 64)]
    result = convert(model, data)
    assert mpgraph.verify(model, result.model, data=data, emulate=True).max_relative < 2e-3


def test_a_small_bias_beside_a_large_result_is_no_hazard():
    text = f"{HEAD} {{ a = Gemm (x, w, b) y = LayerNormalization (a, ones) }}"
    constants = {"w": weights(64, 64, by=1e5), "b": weights(64, by=1e-3), "ones": ONES}
    plan = convert(build(text, **constants), feeds(4, 64)).plan
    assert plan.nodes_by_dtype == {"float16": 2}
    (bias,) = [one for one in plan.scaling if one.name == "b"]
    assert np.abs(constants["b"]).max() * 2.0**bias.power < 2.0**-14


def test_an_explicit_rule_is_scaled_too():
    case = by_name("residual_sums")
    policy = mpgraph.PolicyMap("float32", {"op:MatMul": "float16"}, range_scaling=True)
    result = convert(case.model(), case.feeds(), policy)
    products = [one for one in result.plan.assignments if one.op_type == "MatMul"]
    assert {one.dtype for one in products} == {"float16"}
    assert result.plan.scaling
    assert not [text for text in result.plan.warnings if "wins over" in text]
    compared = mpgraph.verify(case.model(), result.model, data=case.feeds(), emulate=True)
    assert compared.max_relative < 2e-3


def test_the_policy_map_of_a_plan_scales_again():
    case = by_name("residual_sums")
    first = convert(case.model(), case.feeds())
    policy = policy_map_of_plan(first.plan)
    assert policy.range_scaling
    again = convert(case.model(), case.feeds(), policy)
    assert ir.print_model(again.model) == ir.print_model(first.model)
    plain = convert(case.model(), case.feeds(), "mixed_float16")
    assert not policy_map_of_plan(plain.plan).range_scaling


STEPS = (
    "MatMul ({0}, {w})",
    "MatMul ({0}, {1})",
    "Gemm ({0}, {w}, row)",
    "Add ({0}, {1})",
    "Sub ({0}, row)",
    "Mul ({0}, {w})",
    "Mul ({0}, {1})",
    "Div ({0}, row)",
    "Max ({0}, {1})",
    "Relu ({0})",
    "Neg ({0})",
    "Abs ({0})",
    "Transpose ({0})",
    "Clip ({0}, low, high)",
    "Where (mask, {0}, {1})",
    "LayerNormalization ({0}, ones)",
    "Softmax ({0})",
    "Tanh ({0})",
    "Sigmoid ({0})",
)
SIZE = 8


@st.composite
def graphs(draw):
    """Up to eleven steps over 8 x 8 matrices, with weights between 1e-3 and 1e4."""
    values, lines = ["x", "f"], ["f = MatMul (x, large)"]
    for index in range(draw(st.integers(2, 10))):
        first, second = (draw(st.sampled_from(values)) for _ in range(2))
        weight = draw(st.sampled_from(["small", "unit", "large", "huge"]))
        step = draw(st.sampled_from(STEPS)).format(first, second, w=weight)
        lines.append(f"v{index} = {step}")
        values.append(f"v{index}")
    outputs = draw(st.lists(st.sampled_from(values[2:]), min_size=1, max_size=2, unique=True))
    outputs = list(dict.fromkeys([*outputs, values[-1]]))
    results = ", ".join(f"float[{SIZE},{SIZE}] {name}" for name in outputs)
    head = f"g (float[{SIZE},{SIZE}] x, bool[{SIZE},{SIZE}] mask) => ({results})"
    return f"{head} {{ {' '.join(lines)} }}"


def drawn_model(text):
    return build(
        text,
        small=weights(SIZE, SIZE, by=1e-3),
        unit=weights(SIZE, SIZE, seed=1),
        large=weights(SIZE, SIZE, by=1e3, seed=2),
        huge=weights(SIZE, SIZE, by=1e4, seed=3),
        row=np.linspace(0.5, 2, SIZE, dtype=np.float32),
        ones=np.ones(SIZE, np.float32),
        low=np.array(-1e5, np.float32),
        high=np.array(2e6, np.float32),
    )


def drawn_feeds():
    random = np.random.default_rng(4)
    return [
        {
            "x": random.standard_normal((SIZE, SIZE)).astype(np.float32),
            "mask": random.random((SIZE, SIZE)) < 0.5,
        }
        for _ in range(2)
    ]


POLICIES = st.sampled_from(["mixed_float16", "float16"])


def is_finite(model):
    seen = measure_ranges(model, drawn_feeds()).values
    return not any(one.nonfinite for one in seen.values())


@settings(max_examples=40, deadline=None, derandomize=True)
@given(graphs())
def test_random_graphs_with_their_powers_of_two_compute_the_same(text):
    original, model = drawn_model(text), drawn_model(text)
    if not is_finite(original):
        return
    applied_alone(model, drawn_feeds())
    plain, scaled = create_session(original, optimize=False), create_session(model, optimize=False)
    for feed in drawn_feeds():
        known = {one.name: feed[one.name] for one in plain.get_inputs()}
        for expected, got in zip(plain.run(None, known), scaled.run(None, known), strict=True):
            scale = max(float(np.abs(expected).max()), 1e-30)
            assert float(np.abs(got - expected).max()) <= 1e-4 * scale


@settings(max_examples=30, deadline=None, derandomize=True)
@given(graphs(), POLICIES)
def test_random_graphs_are_scaled_soundly(text, policy):
    model = drawn_model(text)
    if not is_finite(model):
        return
    by_policy = mpgraph.PolicyMap(policy, range_scaling=True)
    result = convert(model, drawn_feeds(), by_policy, tolerance=1e-2)
    ir.check_model(result.model)
    compared = mpgraph.verify(model, result.model, data=drawn_feeds(), emulate=True)
    assert compared.max_relative <= 1e-2
    seen = measure_ranges(ir.load(ir.to_proto(result.model)), drawn_feeds()).values
    assert not any(one.nonfinite for one in seen.values())
    again = convert(result.model, drawn_feeds(), by_policy, tolerance=1e-2)
    assert ir.print_model(again.model) == ir.print_model(result.model)
