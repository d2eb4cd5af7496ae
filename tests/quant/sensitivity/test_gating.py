"""Models with switches: off is the model itself, on is its quantization."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest

from mpgraph import ir
from mpgraph.policy import PolicyMap
from mpgraph.quant import QuantizationPlan
from mpgraph.quant.sensitivity import carriers, compute_lazily, gate, gateable, in_order
from mpgraph.runtime import DataSet, create_session, input_specs, load_data, run
from tests.limiting.cases import CARRY_OUT, DECIDE, chain, feeds, recurrent
from tests.pipelines import given
from tests.pipelines import run as run_passes


def decided(model, policy):
    facts = given(policy, "cpu")
    facts.put(load_data(feeds(model), input_specs(model)))
    run_passes(model, f"normalize,convert-opset,{DECIDE}", facts)
    return facts


def outputs(model, feed, switches=()):
    session = create_session(model, optimize=False)
    return list(run(session, {**feed, **dict(switches)}).values())


@pytest.mark.parametrize("policy", ["int8_from_float32", "int8_dynamic_from_float32"])
@pytest.mark.parametrize("make", [chain, recurrent])
def test_switches_choose_between_float_and_quantized(make, policy):
    model = make()
    facts = decided(model, policy)
    plan = facts.get(QuantizationPlan)
    chosen = in_order((*plan.chosen, *carriers(plan, ())), plan)
    before = ir.print_model(model)
    gated = gate(model, plan, chosen)
    assert ir.print_model(model) == before
    assert chosen
    feed = next(iter(facts.get(DataSet)))
    off = {name: np.array(False) for name in gated.switches}
    exact = outputs(model, feed)
    for one, other in zip(outputs(gated.model, feed, off), exact, strict=True):
        np.testing.assert_array_equal(one, other)

    own = facts.copy()
    own.put(gated.plan)
    run_passes(gated.model, CARRY_OUT, own)
    ir.verify_structure(gated.model)
    for one, other in zip(outputs(gated.model, feed, off), exact, strict=True):
        np.testing.assert_array_equal(one, other)
    for name in gated.switches:
        changed = outputs(gated.model, feed, {**off, name: np.array(True)})
        worst = max(np.abs(a - b).max() for a, b in zip(changed, exact, strict=True))
        assert 0 < worst < np.inf, name


@pytest.mark.parametrize("policy", ["int8_from_float32", "int8_dynamic_from_float32"])
@pytest.mark.parametrize("make", [chain, recurrent])
def test_what_is_computed_lazily_is_the_same(make, policy):
    model = make()
    facts = decided(model, policy)
    plan = facts.get(QuantizationPlan)
    chosen = in_order((*plan.chosen, *carriers(plan, ())), plan)
    gated = gate(model, plan, chosen)
    facts.put(gated.plan)
    run_passes(gated.model, CARRY_OUT, facts)
    lazy = ir.clone(gated.model)
    compute_lazily(lazy, gated.switches)
    ir.verify_structure(lazy)
    assert not [node for node in ir.nodes(lazy) if node.op_type == "Where"]
    feed = next(iter(facts.get(DataSet)))
    for on in ((), gated.switches[:1], gated.switches[::2], gated.switches):
        switches = {name: np.array(name in on) for name in gated.switches}
        for one, other in zip(
            outputs(lazy, feed, switches), outputs(gated.model, feed, switches), strict=True
        ):
            np.testing.assert_array_equal(one, other)


def test_a_form_that_is_switched_off_is_not_computed():
    model = chain()
    facts = decided(model, PolicyMap("float32", {"op:MatMul": "int8_from_float32"}))
    plan = facts.get(QuantizationPlan)
    gated = gate(model, plan, plan.chosen)
    facts.put(gated.plan)
    run_passes(gated.model, CARRY_OUT, facts)
    assert [node.op_type for node in gated.model.graph].count("MatMul") == 6
    compute_lazily(gated.model, gated.switches)
    assert "MatMul" not in [node.op_type for node in gated.model.graph]
    branches = [scope.graph for scope in ir.graphs(gated.model)][1:]
    products = [[node.op_type for node in branch].count("MatMul") for branch in branches]
    assert products == [1] * 6


def test_all_switches_on_are_what_is_built():
    """Where no other operator hands integers on, both compute the same."""
    model = chain()
    facts = decided(model, "int8_dynamic_from_float32")
    plan = facts.get(QuantizationPlan)
    gated = gate(model, plan, plan.chosen)
    own = facts.copy()
    own.put(gated.plan)
    run_passes(gated.model, CARRY_OUT, own)
    run_passes(model, CARRY_OUT, facts)
    feed = next(iter(facts.get(DataSet)))
    on = {name: np.array(True) for name in gated.switches}
    for one, other in zip(outputs(gated.model, feed, on), outputs(model, feed), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_nodes_in_functions_have_no_switch():
    model = ir.load(_with_function())
    facts = decided(model, "int8_dynamic_from_float32")
    plan = facts.get(QuantizationPlan)
    assert [node.key.partition("#")[0] for node in plan.chosen] == ["main", "function:own::twice"]
    assert [node.key.partition("#")[0] for node in gateable(plan.chosen, model)] == ["main"]


def _with_function():
    text = """
    <ir_version: 10, opset_import: ["": 20, "own": 1]>
    g (float[2,2] x) => (float[2,2] y) { h = MatMul (x, w)  y = own.twice (h) }
    <domain: "own", opset_import: ["": 20]>
    twice (a) => (c) {
        k = Constant <value: tensor = float[2,2] {1.0, 2.0, 3.0, 4.0}> ()
        c = MatMul (a, k)
    }
    """
    proto = onnx.parser.parse_model(text)
    weight = np.random.default_rng(0).normal(size=(2, 2)).astype(np.float32)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    return proto
