"""Every hazard rule with models that it speaks of and close relatives that it does not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.analysis import build_cells, infer_types
from mpgraph.analysis.hazards import RULES, Evidence, find_hazards
from mpgraph.runtime import Measurements, load_data, measure_ranges
from mpgraph.runtime.data import input_specs
from tests.runtime.builders import build

LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Seen:
    """Statistics as a measurement would give them."""

    amax: float = 1.0
    amin_nonzero: float = 1.0
    integer_valued: bool = False


def hazards(text, *, dtype=ir.DataType.FLOAT16, measured=None, **initializers):
    model = build(text, **initializers)
    flow = replace(infer_types(model), shapes=ir.infer_shapes(model))
    graph = build_cells(model, flow)
    return list(find_hazards(Evidence(graph, flow, dtype, measured or {})))


def kinds(text, **options):
    return {(hazard.kind, hazard.value) for hazard in hazards(text, **options)}


def scalar(value):
    return np.array(value, np.float32)


def unary(nodes, size="2"):
    return f"g (float[{size}] x) => (float[{size}] y) {{ {nodes} }}"


ADD, MUL = unary("y = Add (x, c)"), unary("y = Mul (x, c)")
BF16 = {"dtype": ir.DataType.BFLOAT16}

CASES = [
    # rule, kind, value, models that have it, models that do not
    (
        "constant_overflow",
        "constant-overflow",
        "c",
        [
            (ADD, {"c": scalar(-70000)}),
            (ADD, {"c": np.array([1, 1e6], np.float32)}),
            (ADD, {"c": np.array([np.inf, 1e6], np.float32)}),
            (unary("c = Constant <value_float = 1e30> () y = Mul (x, c)"), {}),
        ],
        [
            (ADD, {"c": scalar(65504)}),
            (ADD, {"c": scalar(-np.inf)}),
            (ADD, {"c": scalar(1e6), **BF16}),
            ("g (int64[2] x) => (int64[2] y) { y = Add (x, c) }", {"c": np.array([10**6])}),
        ],
    ),
    (
        "constant_underflow",
        "constant-underflow",
        "c",
        [
            (ADD, {"c": scalar(1e-8)}),
            (ADD, {"c": scalar(1.5e-6)}),
            (MUL, {"c": np.array([1e-6, 1e-7], np.float32)}),
        ],
        [
            (ADD, {"c": scalar(1e-3)}),
            (ADD, {"c": scalar(2.0**-20)}),
            (ADD, {"c": scalar(0)}),
            (MUL, {"c": np.array([1.0, 1e-9], np.float32)}),
            (ADD, {"c": scalar(1e-8), **BF16}),
        ],
    ),
    (
        "carried_overflow",
        "carried-overflow",
        "m",
        [
            (unary("m = Mul (x, c) y = Softmax (m)"), {"c": scalar(-LARGEST)}),
            (
                "g (bool[2] b, float[2] x) => (float[2] y) "
                "{ n = Where (b, x, c) m = Reshape (n, s) y = Softmax (m) }",
                {"c": scalar(-1e9), "s": np.array([2])},
            ),
            (
                "g (bool b, float[2] x) => (float[2] y) { m = If (b) < "
                "then_branch = t () => (float[2] p) { p = Add (x, c) }, "
                "else_branch = e () => (float[2] q) { q = Neg (x) } > y = Softmax (m) }",
                {"c": scalar(-1e9)},
            ),
        ],
        [
            (unary("m = Mul (x, c) y = Softmax (m)"), {"c": scalar(-30000)}),
            (unary("s = Softmax (c) m = Mul (x, s) y = Neg (m)"), {"c": scalar([-1e9, 0.0])}),
            (unary("n = Mul (c, d) m = Add (x, n) y = Neg (m)"), {"c": scalar(1e5), "d": scalar(0.1)}),
        ],
    ),
    (
        "integers_from_casts",
        "integer-path",
        "f",
        [
            (
                "g (int64[2] i) => (float[2] y) { f = Cast <to = 1> (i) y = Sin (f) }",
                {},
            ),
            (
                "g (int64[2] i) => (float[2] y) { r = Cast <to = 1> (i) f = Add (r, c) y = Sin (f) }",
                {"c": scalar(1)},
            ),
            (
                "g (float n) => (float[k] y) { f = Range (z, n, o) y = Sin (f) }",
                {"z": scalar(0), "o": scalar(1)},
            ),
        ],
        [
            ("g (bool[2] i) => (float[2] y) { f = Cast <to = 1> (i) y = Neg (f) }", {}),
            ("g (uint8[2] i) => (float[2] y) { f = Cast <to = 1> (i) y = Neg (f) }", {}),
            (
                "g (int64[2] i) => (float[2] y) { r = Cast <to = 1> (i) f = Mul (r, c) y = Neg (f) }",
                {"c": scalar(0.125)},
            ),
        ],
    ),
    (
        "integers_to_casts",
        "rounded-to-integer",
        "r",
        [
            ("g (float[2] x) => (int64[2] y) { r = Neg (x) y = Cast <to = 7> (r) }", {}),
            (unary("r = Neg (x) y = Floor (r)"), {}),
        ],
        [
            ("g (float[2] x) => (bool[2] y) { r = Neg (x) y = Cast <to = 9> (r) }", {}),
            ("g (float[2] x) => (double[2] y) { r = Neg (x) y = Cast <to = 11> (r) }", {}),
            (unary("r = Neg (x) y = Abs (r)"), {}),
        ],
    ),
    (
        "ill_conditioned",
        "ill-conditioned",
        "v",
        [
            (unary("v = Neg (x) y = Sin (v)"), {}),
            (unary("v = Neg (x) y = Exp (v)"), {}),
            (unary("v = Neg (x) y = Log (v)"), {}),
            (unary("v = Neg (x) y = Cos (v)"), {"measured": {"v": Seen(amax=1000)}}),
            (unary("v = Neg (x) y = Log (v)"), {"measured": {"v": Seen(amin_nonzero=1e-7)}}),
        ],
        [
            (unary("v = Neg (x) y = Tanh (v)"), {}),
            (unary("v = Neg (x) y = Sin (v)"), {"measured": {"v": Seen(amax=3)}}),
            (unary("v = Neg (x) y = Exp (v)"), {"measured": {"v": Seen(amax=10)}}),
            (unary("v = Neg (x) y = Log (v)"), {"measured": {"v": Seen(amin_nonzero=0.01)}}),
        ],
    ),
    (
        "long_sums",
        "long-sum",
        "s",
        [
            ("g (float[2,8192] x) => (float[2] y) { s = ReduceSum <keepdims = 0> (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[b,8192] x) => (float[b,1] y) { s = ReduceSum (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[b,n] x) => (float[b,1] y) { s = ReduceSum (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[8192] x) => (float[8192] y) { s = CumSum (x, a) y = Neg (s) }",
             {"a": np.array(0)}),
        ],
        [
            ("g (float[2,64] x) => (float[2] y) { s = ReduceSum <keepdims = 0> (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[b,64] x) => (float[b,1] y) { s = ReduceSum (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[2,8192] x) => (float[2,1] y) { s = ReduceMean (x, a) y = Neg (s) }",
             {"a": np.array([1])}),
            ("g (float[2,8192] x) => (float[2] y) { s = ReduceSum <keepdims = 0> (x, a) y = Neg (s) }",
             {"a": np.array([1]), "measured": {"s": Seen(amax=50)}}),
            ("g (float[2,8192] x) => (float[2] y) { s = ReduceSum <keepdims = 0> (x, a) y = Neg (s) }",
             {"a": np.array([1]), **BF16}),
        ],
    ),
    (
        "exponential_sums",
        "exponential-sum",
        "e",
        [
            ("g (float[2,4] x) => (float[2,4] y) "
             "{ e = Exp (x) s = ReduceSum (e, a) y = Div (e, s) }", {"a": np.array([1])}),
            ("g (float[2,4] x) => (float[2,1] y) "
             "{ e = Exp (x) r = Mul (e, e) s = ReduceSum (r, a) y = Log (s) }",
             {"a": np.array([1])}),
        ],
        [
            (unary("e = Exp (x) y = Neg (e)"), {}),
            ("g (float[2,4] x) => (float[2,1] y) { e = Exp (x) y = ReduceMax (e, a) }",
             {"a": np.array([1])}),
        ],
    ),
    (
        "decomposed_normalizations",
        "decomposed-normalization",
        "d",
        [
            ("g (float[2,4] x) => (float[2,4] y) { m = ReduceMean (x, a) c = Sub (x, m) "
             "q = Mul (c, c) v = ReduceMean (q, a) w = Add (v, e) d = Sqrt (w) y = Div (c, d) }",
             {"a": np.array([1]), "e": scalar(1e-5)}),
            ("g (float[2,4] x) => (float[2,4] y) { q = Pow (x, t) v = ReduceMean (q, a) "
             "w = Add (e, v) d = Sqrt (w) r = Reciprocal (d) y = Mul (x, r) }",
             {"a": np.array([1]), "e": scalar(1e-6), "t": scalar(2)}),
            ("g (float[2,4] x) => (float[2,4] y) { q = Mul (x, x) v = ReduceSum (q, a) "
             "d = Pow (v, h) y = Div (x, d) }", {"a": np.array([1]), "h": scalar(0.5)}),
        ],
        [
            (unary("w = Add (x, e) d = Sqrt (w) y = Div (x, d)"), {"e": scalar(1e-5)}),
            ("g (float[2,4] x) => (float[2,4] y) { v = ReduceMean (x, a) w = Add (v, e) "
             "d = Sqrt (w) y = Div (x, d) }", {"a": np.array([1]), "e": scalar(3)}),
            ("g (float[2,4] x) => (float[2,4] y) { v = ReduceMean (x, a) d = Pow (v, t) "
             "y = Div (x, d) }", {"a": np.array([1]), "t": scalar(2)}),
        ],
    ),
    (
        "measured_overflow",
        "activation-overflow",
        "v",
        [(unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=40000)}})],
        [
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=30000)}}),
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=1e9)}, **BF16}),
            (unary("v = Neg (x) y = Abs (v)"), {}),
        ],
    ),
    (
        "measured_underflow",
        "activation-underflow",
        "v",
        [(unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=1e-6)}})],
        [
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=1e-3)}}),
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=0)}}),
        ],
    ),
    (
        "measured_small_divisors",
        "small-divisor",
        "v",
        [
            (unary("v = Neg (x) y = Div (x, v)"), {"measured": {"v": Seen(amin_nonzero=1e-6)}}),
            (unary("v = Abs (x) y = Sqrt (v)"), {"measured": {"v": Seen(amin_nonzero=1e-6)}}),
        ],
        [
            (unary("v = Neg (x) y = Div (v, x)"), {"measured": {"v": Seen(amin_nonzero=1e-6)}}),
            (unary("v = Neg (x) y = Div (x, v)"), {"measured": {"v": Seen(amin_nonzero=0.1)}}),
        ],
    ),
    (
        "measured_integers",
        "measured-integer",
        "v",
        [
            (unary("v = Neg (x) y = Abs (v)"),
             {"measured": {"v": Seen(amax=5000, integer_valued=True)}}),
            (unary("v = Neg (x) y = Abs (v)"),
             {"measured": {"v": Seen(amax=300, integer_valued=True)}, **BF16}),
        ],
        [
            (unary("v = Neg (x) y = Abs (v)"),
             {"measured": {"v": Seen(amax=2048, integer_valued=True)}}),
            (unary("v = Neg (x) y = Abs (v)"), {"measured": {"v": Seen(amax=5000)}}),
        ],
    ),
]  # fmt: skip


def test_every_rule_has_cases():
    assert [case[0] for case in CASES] == [rule.__name__ for rule in RULES]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_the_rule_speaks_where_it_should(case):
    _, kind, value, positive, _ = case
    for text, options in positive:
        assert (kind, value) in kinds(text, **options), text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_the_rule_is_silent_where_it_should_be(case):
    _, kind, value, _, negative = case
    for text, options in negative:
        assert (kind, value) not in kinds(text, **options), text


def test_a_hazard_names_the_cells_on_both_sides():
    text = unary("m = Mul (x, c) y = Softmax (m)")
    model = build(text, c=scalar(-LARGEST))
    flow = infer_types(model)
    graph = build_cells(model, flow)
    found = find_hazards(Evidence(graph, flow, ir.DataType.FLOAT16, {}))
    (carried,) = [hazard for hazard in found if hazard.kind == "carried-overflow"]
    producer = graph.results[model.graph[0].outputs[0]]
    consumer = graph.results[model.graph[1].outputs[0]]
    assert set(carried.cells) == {producer, consumer}
    assert not carried.measured
    assert "3.403e+38" in carried.evidence


def test_an_exp_keeps_wide_what_leads_to_it_and_not_its_siblings():
    model = build(unary("v = Neg (x) e = Exp (v) r = Relu (v) y = Add (e, r)"))
    flow = infer_types(model)
    graph = build_cells(model, flow)
    evidence = Evidence(graph, flow, ir.DataType.FLOAT16, {})
    (found,) = [one for one in find_hazards(evidence) if one.kind == "ill-conditioned"]
    by_op = {node.op_type: graph.results[node.outputs[0]] for node in model.graph}
    assert set(found.cells) == {by_op["Neg"], by_op["Exp"]}


def test_the_mean_that_is_subtracted_belongs_to_the_normalization():
    model = build(
        "g (float[2,4] x) => (float[2,4] y) { m = ReduceMean (x, a) c = Sub (x, m) "
        "q = Mul (c, c) v = ReduceMean (q, a) w = Add (v, e) d = Sqrt (w) y = Div (c, d) }",
        a=np.array([1]),
        e=scalar(1e-5),
    )
    flow = infer_types(model)
    graph = build_cells(model, flow)
    evidence = Evidence(graph, flow, ir.DataType.FLOAT16, {})
    (found,) = [one for one in find_hazards(evidence) if one.kind == "decomposed-normalization"]
    assert {graph.results[node.outputs[0]] for node in model.graph} <= set(found.cells)


def test_a_carried_mask_ends_at_its_softmax():
    found = kinds(
        unary("m = Add (x, c) s = Softmax (m) t = Mul (s, s) y = Neg (t)"), c=scalar(-LARGEST)
    )
    assert {value for kind, value in found if kind == "carried-overflow"} == {"m"}


def test_measured_values_of_a_model_give_measured_hazards():
    model = build(unary("v = Mul (x, c) y = Div (x, v)"), c=scalar(1000.0))
    data = load_data([{"x": np.array([100.0, 1e-9], np.float32)}], input_specs(model))
    measured = measure_ranges(model, data)
    assert isinstance(measured, Measurements)
    flow = infer_types(model)
    evidence = Evidence(build_cells(model, flow), flow, ir.DataType.FLOAT16, measured.values)
    found = {hazard.kind: hazard for hazard in find_hazards(evidence) if hazard.value == "v"}
    assert found.keys() == {"activation-overflow", "small-divisor"}
    assert all(hazard.measured for hazard in found.values())
