"""Every hazard rule with models that it speaks of and close relatives that it does not."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.analysis import build_cells, infer_types
from mpgraph.analysis.hazards import RULES, Evidence, find_hazards
from mpgraph.runtime import Measurements, load_data, measure_ranges
from mpgraph.runtime.data import input_specs
from tests.analysis import hazard_cases_constants, hazard_cases_measured, hazard_cases_patterns
from tests.analysis.hazard_models import LARGEST, kinds, scalar, unary
from tests.runtime.builders import build

CASES = [
    *hazard_cases_constants.CASES,
    *hazard_cases_patterns.CASES,
    *hazard_cases_measured.CASES,
]


def test_every_rule_has_cases():
    assert sorted(case[0] for case in CASES) == sorted(rule.__name__ for rule in RULES)


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
