"""The policy map of a plan gives the plan again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import models
import mpgraph
from mpgraph.plan import policy_map_of_plan
from mpgraph.policy import parse_policy_text, policy_text
from tests.runtime.builders import build


def planned(model, policy="mixed_float16", **options):
    return mpgraph.convert(model, policy, verify="structure", **{"target": "cuda"} | options).plan


def nodes(plan):
    """The dtypes of the nodes, and of what they store."""
    return {one.key: (one.dtype, one.stored) for one in plan.assignments if one.op_type}


def interface(plan):
    return {one.key: one.dtype for one in plan.assignments if one.key.startswith(("in", "out"))}


def again(model, plan, **options):
    """The plan under the map of a plan, by way of the text of a file."""
    policies = policy_map_of_plan(plan)
    text = policy_text(policies)
    assert parse_policy_text(text) == policies
    options = {"target": plan.target, "keep_io_types": plan.keep_io_types} | options
    return planned(model, parse_policy_text(text), **options)


@pytest.mark.parametrize("keep_io_types", [True, False])
@pytest.mark.parametrize("policy", ["mixed_float16", "float16", "mixed_bfloat16", "float32"])
@pytest.mark.parametrize("name", models.builders())
def test_every_built_model_gets_the_same_dtypes_again(name, policy, keep_io_types):
    model = models.build(name)
    for target in ("cuda", "cpu"):
        plan = planned(model, policy, target=target, keep_io_types=keep_io_types)
        second = again(model, plan)
        assert nodes(second) == nodes(plan)
        assert interface(second) == interface(plan)


@pytest.mark.parametrize("name", sorted(set(models.builders()) - models.NOT_RUNNABLE))
def test_what_was_measured_is_kept_without_the_data(name):
    model = models.build(name)
    plan = planned(model, data=models.feeds(name))
    assert plan.evidence == "measured"
    second = again(model, plan)
    assert second.evidence == "static"
    assert nodes(second) == nodes(plan)


@pytest.mark.parametrize("name", models.catalogue())
def test_every_installed_real_model_gets_the_same_dtypes_again(name):
    path = models.find(name)
    if path is None or models.catalogue()[name].is_large:
        pytest.skip(f"{name} is large or not installed: python -m models install {name}")
    plan = planned(path)
    assert nodes(again(path, plan)) == nodes(plan)


LAYERS = """g (float[4,4] x) => (float[4,4] y) {
    a1 = MatMul (x, weight)
    a2 = Relu (a1)
    a3 = Tanh (a2)
    b1 = MatMul (a3, weight)
    b2 = Relu (b1)
    c1 = MatMul (b2, weight)
    y = Tanh (c1)
}"""


def layers():
    """Nodes called /a/MatMul, /a/Relu and so on."""
    model = build(LAYERS, weight=np.eye(4, dtype=np.float32))
    for node, module in zip(model.graph, "aaabbcc", strict=True):
        node.name = f"/{module}/{node.op_type}"
    return model


def test_rules_become_rules_with_their_reasons():
    rules = {"scope:a/**": "float32", "/b/MatMul": "float32"}
    plan = planned(layers(), mpgraph.PolicyMap("mixed_float16", rules))
    reasons = {rule.reason for rule in policy_map_of_plan(plan).rules}
    assert "a rule asks for float32" in reasons
    assert nodes(again(layers(), plan)) == nodes(plan)


def by_hand(*rows, policy="mixed_float16"):
    """A plan of nodes given as (key, name, operator, scope, dtype, reason)."""
    plan = planned(layers(), policy)
    first = next(one for one in plan.assignments if one.op_type)
    assignments = tuple(
        replace(
            first, key=key, name=name, op_type=op_type, scope=scope, dtype=dtype, stored=dtype,
            before="float32", stage="numerics", reason=reason,
        )
        for key, name, op_type, scope, dtype, reason in rows
    )  # fmt: skip
    return replace(plan, assignments=assignments)


def rules_of(plan):
    return [
        (rule.selector, rule.policy.name, rule.reason) for rule in policy_map_of_plan(plan).rules
    ]


def test_a_shared_name_or_none_is_selected_by_place():
    plan = by_hand(
        ("main#0", "n", "Exp", "", "float16", "low"),
        ("main#1", "n", "Exp", "", "float32", "wide"),
        ("main#2", "", "Exp", "", "float32", "wide"),
        ("main#3", "m", "Exp", "", "float16", "low"),
        ("main#4", "m*", "Exp", "", "float32", "other"),
        ("main#5", "k", "Exp", "", "float16", "low"),
        ("main#6", "j", "Exp", "", "float16", "low"),
    )
    assert rules_of(plan) == [
        ("op:Exp", "mixed_float16", "low"),
        ("key:main#1,main#2", "float32", "wide"),
        ("key:main#4", "float32", "other"),
    ]
    by_place = policy_map_of_plan(plan).rules[1:]
    assert all(rule.optional for rule in by_place)


def test_a_name_where_it_is_the_only_exception():
    plan = by_hand(
        *((f"main#{i}", f"a{i}", "Exp", "", "float16", "low") for i in range(3)),
        ("main#8", "b", "Exp", "", "float32", "overflows"),
    )
    assert rules_of(plan) == [
        ("op:Exp", "mixed_float16", "low"),
        ("name:b", "float32", "overflows"),
    ]


def test_an_operator_in_modules_that_hold_others():
    rows = [("Exp", "float32", "wide"), ("Exp", "float32", "wide"), ("Add", "float16", "low")]
    low = [(f"main#{i}", f"l{i}", "Exp", "", "float16", "low") for i in range(9)]
    inner = [
        (f"main/{module}#{i}", f"{module}{i}", op_type, module, dtype, reason)
        for module in ("a", "b")
        for i, (op_type, dtype, reason) in enumerate(rows)
    ]
    assert rules_of(by_hand(*low, *inner)) == [
        ("op:Exp,Add", "mixed_float16", "low"),
        ("scope:a,b op:Exp", "float32", "wide"),
    ]


def test_modules_of_which_all_nodes_want_the_same():
    rows = [(op_type, "a/x") for op_type in ("Exp", "Add", "Mul")] + [("Exp", "a/y")]
    low = [
        (f"main#{i}", f"l{i}", op_type, "b", "float16", "low")
        for i, op_type in enumerate(("Exp", "Add", "Mul") * 3)
    ]
    inner = [
        (f"main#1{i}", f"a{i}", op_type, scope, "float32", "wide")
        for i, (op_type, scope) in enumerate(rows)
    ]
    assert rules_of(by_hand(*low, *inner)) == [
        ("op:Exp,Add,Mul", "mixed_float16", "low"),
        ("scope:a/**", "float32", "wide"),
    ]
    held = [(f"main/If_1.then_branch#{i}", *row) for i, (_, *row) in enumerate(inner)]
    found = dict.fromkeys(selector for selector, _, _ in rules_of(by_hand(*low, *held)))
    assert list(found) == ["op:Exp,Add,Mul", "name:a0,a1,a2,a3"]


def test_many_reasons_of_one_rule_stay_short():
    rows = [(f"main#{i}", f"n{i}", "Exp", "", "float32", f"reason {i}") for i in range(9)]
    assert rules_of(by_hand(*rows)) == [("op:Exp", "float32", "reason 0; reason 1; and 7 more")]


def test_policies_of_ones_own_become_dtypes():
    assert rules_of(by_hand(("main#0", "n", "Exp", "", "float16", "low"), policy="bfloat16")) == [
        ("op:Exp", "float16", "low")
    ]
