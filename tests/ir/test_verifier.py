"""Planted faults: each must be caught, with the rule that it breaks."""

from __future__ import annotations

import numpy as np
import onnx_ir
import pytest

from mpgraph import ir
from mpgraph.errors import VerificationError
from tests.ir import protos


def fault_renamed_output(model):
    model.graph[0].outputs[0].name = "w"
    return "already defined"


def fault_unnamed_output(model):
    model.graph[0].outputs[0].name = ""
    return "has no name"


def fault_swapped_nodes(model):
    node = model.graph[2]
    model.graph.remove(node)
    model.graph.insert_before(model.graph[0], node)
    return "not defined before"


def fault_removed_producer(model):
    model.graph.remove(model.graph[0])
    return "not defined before"


def fault_dangling_user(model):
    ir.node("Relu", [model.graph[0].outputs[0]], name="ghost")
    return "ghost"


def fault_stale_use(model):
    value = model.graph[0].outputs[0]
    value._remove_usage(model.graph[1], 0)
    return "lists 0 uses where the model has 1"


def fault_wrong_use(model):
    model.graph[0].outputs[0]._add_usage(model.graph[2], 0)
    return "that is not there"


def fault_wrong_producer(model):
    model.graph[0].outputs[0]._producer = model.graph[1]
    return "another producer"


def fault_stolen_node(model):
    model.graph[0].graph = onnx_ir.Graph([], [], nodes=[])
    return "belongs to another graph"


def fault_initializer_without_tensor(model):
    model.graph.initializers["w"].const_value = None
    return "has no tensor"


def fault_stale_type(model):
    ir.set_dtype(model.graph.initializers["w"], ir.DataType.BFLOAT16)
    return "declared bfloat16 but holds a float32"


def fault_foreign_output(model):
    model.graph.outputs[0] = onnx_ir.Value(name="nowhere")
    return "not defined in this graph"


def fault_missing_import(model):
    model.graph[0].domain = "vendor.ops"
    return "not imported"


def fault_reference_outside_function(model):
    model.graph[0].attributes.add(ir.RefAttr("a", "b", ir.AttributeType.INT))
    return "outside of any"


def fault_misfiled_attribute(model):
    model.graph[0].attributes.data["a"] = ir.AttrInt64("b", 1)
    return "filed under"


def fault_duplicate_input(model):
    model.graph.inputs.append(onnx_ir.Value(name="v0"))
    return "already defined"


CHAIN_FAULTS = [value for name, value in sorted(globals().items()) if name.startswith("fault_")]


@pytest.mark.parametrize("fault", CHAIN_FAULTS, ids=lambda fault: fault.__name__)
def test_planted_fault_is_caught(fault):
    model = ir.load(protos.chain(4))
    ir.verify_structure(model)
    words = fault(model)
    with pytest.raises(VerificationError) as caught:
        ir.verify_structure(model)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def inner_graph(model, name="then_branch"):
    return next(node for node in model.graph if node.op_type == "If").attributes[name].as_graph()


def test_value_of_a_sibling_branch_is_not_visible():
    model = ir.load(protos.everything())
    inner_graph(model, "else_branch")[1].replace_input_with(
        0, inner_graph(model).initializers["tw"]
    )
    with pytest.raises(VerificationError, match="not defined before this node"):
        ir.verify_structure(model)


def test_inner_value_is_not_visible_outside():
    model = ir.load(protos.everything())
    model.graph[2].replace_input_with(0, inner_graph(model)[0].outputs[0])
    with pytest.raises(VerificationError, match="not defined before this node"):
        ir.verify_structure(model)


def test_later_outer_value_is_not_visible_inside():
    model = ir.load(protos.everything())
    inner_graph(model)[0].replace_input_with(0, model.graph[3].outputs[0])
    with pytest.raises(VerificationError, match="not defined before this node"):
        ir.verify_structure(model)


def test_shared_subgraph_is_caught():
    model = ir.load(protos.everything())
    node = model.graph[1]
    node.attributes["else_branch"] = ir.AttrGraph("else_branch", inner_graph(model))
    with pytest.raises(VerificationError, match="already belongs"):
        ir.verify_structure(model)


def test_fault_in_a_function_body_is_caught():
    model = ir.load(protos.everything())
    (function,) = model.functions.values()
    function.graph[1].outputs[0].name = "p"
    with pytest.raises(VerificationError, match="already defined"):
        ir.verify_structure(model)


def test_initializer_of_a_function_is_refused():
    model = ir.load(protos.everything())
    (function,) = model.functions.values()
    value = onnx_ir.Value(
        name="fw", type=ir.TensorType(ir.DataType.FLOAT), const_value=ir.tensor(np.ones(1, "f4"))
    )
    function.graph.register_initializer(value)
    with pytest.raises(VerificationError, match="cannot have initializers"):
        ir.verify_structure(model)


def test_siblings_may_share_names_and_outputs_may_repeat():
    proto = protos.branches([protos.node("Relu", ["a"], ["e"])], "e")
    proto.graph.output.append(proto.graph.output[0])
    ir.verify_structure(ir.load(proto))


def test_unnamed_node_is_described_by_its_place():
    proto = protos.chain(3)
    for node in proto.graph.node:
        node.name = ""
    model = ir.load(proto)
    model.graph[1].outputs[0].name = "w"
    with pytest.raises(VerificationError, match="node Add #1 in main"):
        ir.verify_structure(model)
