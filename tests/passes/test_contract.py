"""What every pass promises, on every builder under every policy.

Running a pass twice changes nothing the second time; what it returns is whether it changed the
model; the model is sound after it; what it inserts says where it came from.
"""

from __future__ import annotations

import pytest

import models
from mpgraph import ir
from mpgraph.passmgr import Facts, load_pipeline
from mpgraph.plan import Draft, Plan
from mpgraph.policy import PolicyMap, as_policy_map
from tests.pipelines import POLICIES, given, standard_passes, state

TARGETS = {
    "mixed_float16": "cuda",
    "float16": "webgpu",
    "mixed_bfloat16": "cpu",
    "bfloat16": "cuda",
    "float32": "cpu",
}
INSERTING = {"insert-casts", "convert-weights"}


def interface(model):
    values = (*model.graph.inputs, *model.graph.outputs)
    return [(value.name, value.dtype) for value in values]


def node_set(model):
    return set(ir.nodes(model))


def choices(facts):
    draft = facts.find(Draft)
    return None if draft is None else list(draft.choices)


def check_pass(one, model, facts):
    """Run one pass twice and check its contract."""
    before, nodes = state(model), node_set(model)
    modified = one.run(model, facts)
    after, decided = state(model), choices(facts)
    ir.verify_structure(model)
    assert modified == (after != before), f"{one.label} says {modified}"
    for node in node_set(model) - nodes:
        if one.label in INSERTING:
            assert ir.origin(node)[0] == one.label
    assert one.run(model, facts) is False, f"{one.label} has more to do the second time"
    assert state(model) == after
    assert choices(facts) == decided


def check_result(model, public):
    """What holds of every converted model."""
    assert interface(model) == public
    for scope in ir.graphs(model):
        for value in scope.graph.initializers.values():
            is_public = value.is_graph_output() or value.is_graph_input()
            assert value.uses() or is_public, f"{value.name} is dead"
    made = [
        (node.inputs[0], node.attributes["to"].as_int())
        for node in ir.nodes(model)
        if node.op_type == "Cast" and ir.origin(node)
    ]
    assert len(made) == len(set(made)), "two casts of one value to one dtype"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", models.builders())
def test_every_pass_keeps_its_contract(name, policy):
    model = ir.load(models.build(name))
    public = interface(model)
    facts = given(policy, TARGETS[policy])
    for one in standard_passes():
        check_pass(one, model, facts)
    check_result(model, public)


REPAIRS = ("remove-cast-pairs", "name-nodes", "drop-initializer-inputs", "correct-types")


@pytest.mark.parametrize("name", models.builders())
def test_repairs_keep_the_contract(name):
    model = ir.load(models.build(name))
    public = [value.name for value in model.graph.outputs]
    for one in load_pipeline(",".join(REPAIRS)):
        check_pass(one, model, Facts())
    assert [value.name for value in model.graph.outputs] == public


@pytest.mark.parametrize(("keep_io_types", "storage"), [(True, "variable"), (False, "compute")])
@pytest.mark.parametrize("name", models.builders())
def test_the_contract_holds_for_the_other_options(name, keep_io_types, storage):
    model = ir.load(models.build(name))
    names = [name for name, _ in interface(model)]
    facts = given("mixed_float16", "cpu")
    for one in standard_passes(keep_io_types, allow_slow=False, storage=storage):
        check_pass(one, model, facts)
    assert [name for name, _ in interface(model)] == names


RULES = {"op:Relu": "float32", "op:Softmax": "mixed_float16", "op:MatMul": "mixed_bfloat16"}


@pytest.mark.parametrize("name", models.builders())
def test_the_contract_holds_under_rules_and_several_low_dtypes(name):
    model = ir.load(models.build(name))
    present = {f"op:{node.op_type}" for node in ir.nodes(model)}
    rules = {selector: policy for selector, policy in RULES.items() if selector in present}
    facts = given(PolicyMap("mixed_float16", rules), "cuda")
    public = interface(model)
    for one in standard_passes():
        check_pass(one, model, facts)
    check_result(model, public)


@pytest.mark.parametrize("name", models.builders())
def test_everything_kept_wide_changes_nothing(name):
    """With every operator pinned to float32 a float32 model comes out as it went in."""
    model = ir.load(models.build(name))
    facts = given("float32", "cuda")
    passes = standard_passes()
    deciding = [one.label for one in passes].index("assign-policy")
    for one in passes[:deciding]:
        one.run(model, facts)
    before = state(model)
    cast_before = sum(node.op_type == "Cast" for node in ir.nodes(model))
    for one in passes[deciding:]:
        one.run(model, facts)
    if name != "float16":
        assert not facts.get(Plan).casts
        assert state(model) == before
        assert sum(node.op_type == "Cast" for node in ir.nodes(model)) == cast_before


def test_a_model_that_is_not_converted_keeps_its_imports():
    """A pass that has nothing to do must not import the default domain either."""
    value = ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([2]))
    node = ir.node("Gelu", [value], domain="com.microsoft", name="gelu")
    node.outputs[0].name = "y"
    node.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
    graph = ir.Graph([value], node.outputs, nodes=[node], opset_imports={"com.microsoft": 1})
    model = ir.Model(graph, ir_version=10)
    facts = Facts(as_policy_map("float32"), *list(given("float32", "cuda"))[1:])
    for one in standard_passes():
        check_pass(one, model, facts)
    assert model.opset_imports == {"com.microsoft": 1}
