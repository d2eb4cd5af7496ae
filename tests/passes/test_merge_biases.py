from __future__ import annotations

import numpy as np
import pytest

import models
from mpgraph import ir
from mpgraph.policy import PolicyMap
from mpgraph.runtime.compare import compare_models
from tests.passes.test_golden import biased_products
from tests.pipelines import given, run, state

FEEDS = [
    {
        "x": np.arange(8, dtype=np.float32).reshape(2, 4) / 4,
        "v": np.ones((1, 2, 4), np.float32),
    }
]


def merged(policy="int8_from_float32"):
    model = biased_products()
    changed = run(model, "merge-biases", given(policy, "cpu"))
    return model, [node.op_type for node in model.graph], changed


def test_it_computes_the_same():
    model, operators, changed = merged()
    assert changed and operators.count("Gemm") == 1
    assert compare_models(biased_products(), model, FEEDS).max_relative < 1e-6
    assert run(model, "merge-biases", given("int8_from_float32", "cpu")) is False


@pytest.mark.parametrize(
    "policy",
    [
        "mixed_float16",
        PolicyMap("int8_from_float32", {"op:MatMul": "float32"}),
        PolicyMap("int8_from_float32", {"op:Gemm": "float32"}),
        PolicyMap("float32", {"op:MatMul": "int8_from_float32"}),
    ],
    ids=str,
)
def test_what_a_rule_may_select_stays(policy):
    _, operators, changed = merged(policy)
    assert not changed and "Gemm" not in operators


@pytest.mark.parametrize("name", models.builders())
def test_the_contract_holds_on_every_builder(name):
    model = ir.load(models.build(name))
    facts = given("int8_from_float32", "cpu")
    run(model, "normalize", facts)
    before = state(model)
    changed = run(model, "merge-biases", facts)
    after = state(model)
    ir.verify_structure(model)
    assert changed == (before != after)
    assert run(model, "merge-biases", facts) is False
    assert state(model) == after
