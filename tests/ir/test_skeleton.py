"""What shape inference gets to see, held against onnx's inference over the whole model."""

from __future__ import annotations

import numpy as np
import onnx.shape_inference
import pytest

import models
from mpgraph import ir
from mpgraph.ir.skeleton import skeleton
from tests.ir import protos


def inferred(proto):
    """The dims of each value of the main graph, as onnx infers them."""
    found = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    return {
        info.name: [dim.dim_value or dim.dim_param for dim in info.type.tensor_type.shape.dim]
        for info in (*found.graph.value_info, *found.graph.output)
    }


def inferred_from_everything(model):
    proto = ir.to_proto(model)
    del proto.graph.value_info[:]
    return inferred(proto)


@pytest.mark.parametrize("name", models.builders())
def test_it_leads_to_the_same_shapes_as_the_whole_model(name):
    model = ir.load(models.build(name))
    found, expected = inferred(skeleton(model)), inferred_from_everything(model)
    assert {name: found.get(name) for name in expected} == expected


def test_it_has_small_constants_and_neither_weights_nor_names_of_nodes():
    large, small = np.zeros((64, 64), np.float32), np.zeros(64, np.float32)
    nodes = [
        protos.node("Constant", [], ["c"], value=protos.weight("", large)),
        protos.node("MatMul", ["x", "w"], ["h"], name="named"),
        protos.node("Add", ["h", "b"], ["s"]),
        protos.node("MatMul", ["s", "c"], ["y"]),
    ]
    weights = [protos.weight("w", large), protos.weight("b", small)]
    given = protos.graph(
        nodes, [protos.info("x", ["n", 64])], [protos.info("y", ["n", 64])], weights
    )
    model = ir.load(protos.model(given))
    before = ir.print_model(model)
    proto = skeleton(model)
    w, b = proto.graph.initializer
    assert (w.data_location, w.raw_data, len(b.raw_data)) == (1, b"", 256)
    assert (list(w.dims), w.data_type) == ([64, 64], protos.FLOAT)
    constant = proto.graph.node[0].attribute[0]
    assert (constant.name, constant.type, constant.t.data_location) == ("value", 4, 1)
    assert [node.name for node in proto.graph.node] == [""] * 4
    assert proto.ByteSize() < 1000
    assert ir.print_model(model) == before


def test_only_what_unknown_operators_produce_keeps_its_declared_type():
    nodes = [
        protos.node("Relu", ["x"], ["h"]),
        protos.node("Strange", ["h"], ["s"], domain="own"),
        protos.node("Neg", ["s"], ["y"]),
    ]
    declared = [protos.info("h", [3]), protos.info("s", [5])]
    given = protos.graph(
        nodes, [protos.info("x", [2])], [protos.info("y", ["m"])], value_info=declared
    )
    imports = [onnx.helper.make_opsetid("own", 1)]
    model = ir.load(protos.model(given, imports=imports))
    assert [info.name for info in skeleton(model).graph.value_info] == ["s"]
    named = {value.name: dims for value, dims in ir.infer_shapes(model).items()}
    assert named == {"h": (2,), "s": (5,)}


def test_functions_are_called_and_types_set_aside_come_back():
    double = onnx.helper.make_function(
        "own",
        "Double",
        ["a"],
        ["b"],
        [protos.node("Add", ["a", "a"], ["b"])],
        [onnx.helper.make_opsetid("", 17)],
    )
    table = onnx.helper.make_value_info(
        "t", onnx.helper.make_map_type_proto(protos.INT64, protos.info("", []).type)
    )
    nodes = [
        protos.node("Double", ["x"], ["h"], domain="own"),
        protos.node("Neg", ["h"], ["y"]),
        protos.node("Consume", ["t"], ["z"], domain="own"),
    ]
    given = protos.graph(
        nodes,
        [protos.info("x", [2, 3]), table],
        [protos.info("y", ["p", "q"]), protos.info("z")],
    )
    imports = [onnx.helper.make_opsetid("own", 1)]
    model = ir.load(protos.model(given, imports=imports, functions=[double]))
    assert {value.name: dims for value, dims in ir.infer_shapes(model).items()} == {"h": (2, 3)}
    assert skeleton(model).graph.input[1].type == table.type
