"""The Plan: JSON round trip, laying it over a fresh load, and what it says."""

from __future__ import annotations

import json

import numpy as np
import pytest

import models
from mpgraph import ir
from mpgraph.errors import PlanError
from mpgraph.passmgr import Facts
from mpgraph.plan import Labelling, Plan, lay_over, summarize
from tests.pipelines import APPLY, DECIDE, applied, casts, given, run
from tests.runtime.builders import build

PREPARE = "normalize,convert-opset"
CHOICES = [("mixed_float16", "cuda"), ("float16", "webgpu"), ("mixed_bfloat16", "cpu")]


def planned(model, policy="mixed_float16", target="cuda", decide=DECIDE):
    """The plan for a model, which is prepared in place but not rewritten."""
    facts = given(policy, target)
    run(model, f"{PREPARE},{decide}", facts)
    return facts.get(Plan), facts


@pytest.mark.parametrize("name", models.builders())
@pytest.mark.parametrize(("policy", "target"), CHOICES)
def test_a_saved_plan_laid_over_a_fresh_load_gives_the_same_model(name, policy, target):
    direct, again = ir.load(models.build(name)), ir.load(models.build(name))
    plan, facts = planned(direct, policy, target)
    run(direct, APPLY, facts)
    saved = Plan.from_json(plan.to_json())
    assert saved == plan
    run(again, f"{PREPARE},infer-dtypes,{APPLY}", Facts(*given(policy, target), saved))
    assert ir.print_model(again) == ir.print_model(direct)


@pytest.mark.parametrize("name", models.builders())
def test_a_labelling_laid_over_equals_the_one_decided(name):
    model = ir.load(models.build(name))
    plan, facts = planned(model)
    decided, laid = facts.get(Labelling), lay_over(plan, model)
    assert laid.labels == decided.labels
    assert laid.stored == decided.stored
    assert laid.graph.results == decided.graph.results
    assert laid.graph.operands == decided.graph.operands
    assert summarize(laid) == summarize(decided) == (plan.casts, plan.storage)


@pytest.mark.parametrize("name", models.builders())
def test_the_planned_casts_are_those_that_get_inserted(name):
    model = ir.load(models.build(name))
    before = len(casts(model))
    plan, facts = planned(model)
    run(model, "insert-casts", facts)
    assert len(casts(model)) - before == len(plan.casts)
    inserted = [node for node in ir.nodes(model) if ir.origin(node)]
    assert [node.op_type for node in inserted] == ["Cast"] * len(plan.casts)


def test_a_plan_for_another_model_is_refused():
    plan, _ = planned(ir.load(models.build("mlp")))
    for other in (models.build("chain"), models.build("mlp", layers=2)):
        with pytest.raises(PlanError, match="another model"):
            lay_over(plan, ir.load(other))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "no plan"),
        ("[]", "no plan"),
        ("{}", "no plan"),
        ('{"format": 0}', "another format"),
        ('{"format": 1, "assignments": [], "casts": [], "storage": [], "warnings": []}', "no plan"),
        ('{"format": 1, "assignments": 3, "casts": [], "storage": [], "warnings": []}', "no plan"),
        ("\x00", "no plan"),
    ],
)
def test_what_is_no_plan_is_refused(text, rule):
    with pytest.raises(PlanError, match=rule):
        Plan.from_json(text)


def test_an_unknown_dtype_in_a_plan_is_refused():
    model = ir.load(models.build("mlp"))
    plan, _ = planned(model)
    data = json.loads(plan.to_json())
    data["assignments"][0]["dtype"] = "float17"
    with pytest.raises(PlanError, match="float17"):
        Plan.from_json(json.dumps(data))


def test_every_assignment_has_a_reason_and_counts_once():
    model = ir.load(models.build("decoder"))
    plan, _ = planned(model)
    assert all(one.reason and one.stage for one in plan.assignments)
    computing = [one for one in plan.assignments if one.op_type]
    assert sum(plan.nodes_by_dtype.values()) == len(computing)
    assert plan.evidence == "static"
    assert plan.fingerprint == ir.fingerprint(model)


def test_nodes_are_found_by_name_and_by_key():
    plan, _ = planned(ir.load(models.build("mlp")))
    (found,) = plan.find("/fc0/Gemm")
    assert found.op_type == "Gemm" and found.dtype == "float16"
    assert plan.find(found.key) == (found,)
    assert plan.find("nothing") == ()


@pytest.mark.parametrize("name", models.builders())
@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_the_placement_is_never_worse_than_the_two_simple_ones(name, policy):
    plan, _ = planned(ir.load(models.build(name)), policy)
    costs = plan.costs
    assert costs["planned"] <= min(costs["only_pins"], costs["all_low"])


def test_the_reason_of_a_hazard_and_of_what_it_overruled_is_kept():
    model = build(
        "g (float[2] x) => (float[2] y) { m = Add (x, c) y = Softmax (m) }",
        c=np.array(-1e9, np.float32),
    )
    plan, _ = planned(model, "float16")
    add = next(one for one in plan.assignments if one.op_type == "Add")
    assert (add.dtype, add.stage) == ("float32", "numerics")
    assert add.rule in {"constant-overflow", "carried-overflow"}
    assert add.overruled


def test_storage_lists_every_float_constant_with_its_copies():
    model = ir.load(models.build("shared_weights"))
    plan, _ = planned(model)
    before = {value.name for value in model.graph.initializers.values()}
    assert {one.constant for one in plan.storage} == before
    for one in plan.storage:
        assert one.before == "float32"
        assert set(one.used) <= {"float16", "float32"}


def test_a_model_without_floats_has_an_empty_plan():
    model = build("g (int64[2] x) => (int64[2] y) { y = Neg (x) }")
    before = ir.print_model(model)
    facts = applied(model)
    plan = facts.get(Plan)
    assert not plan.assignments and not plan.casts and not plan.storage
    assert ir.print_model(model) == before
