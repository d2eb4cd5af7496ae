"""Each trap of onnx-ir, reproduced, and the one place that guards it.

A test `..._trap` shows that the trap is still there; when a new onnx-ir makes one fail, its guard
can go.
"""

from __future__ import annotations

import gc
import logging

import numpy as np
import onnx
import onnx_ir
import onnx_ir.passes.common
import onnx_ir.traversal
import pytest
from onnx import TensorProto, helper

from mpgraph import ir
from mpgraph.errors import InvalidModelError, VerificationError
from tests.ir import protos


def relu_model():
    return ir.load(protos.chain(3))


def test_shared_type_trap():
    model = relu_model()
    copy = model.clone()
    copy.graph[0].outputs[0].dtype = ir.DataType.FLOAT16
    assert model.graph[0].outputs[0].dtype == ir.DataType.FLOAT16


def test_clone_shares_no_type_and_set_dtype_edits_none():
    model = ir.load(protos.everything())
    copy = ir.clone(model)
    before = ir.print_model(model)
    for scope in ir.graphs(copy):
        for value in (*scope.graph.inputs, *(v for n in scope.graph for v in n.outputs)):
            if value.type is not None:
                value.dtype = ir.DataType.FLOAT16
    assert ir.print_model(model) == before

    value = model.graph.inputs[0]
    shared = value.type
    ir.set_dtype(value, ir.DataType.BFLOAT16)
    assert shared.dtype == ir.DataType.FLOAT
    assert value.dtype == ir.DataType.BFLOAT16


def test_clone_keeps_the_models_own_meta(tmp_path):
    model = ir.load(protos.with_external_weight(tmp_path, "w.bin"))
    assert dict(model.meta)
    assert not dict(model.clone().meta)
    assert dict(ir.clone(model).meta) == dict(model.meta)


def nested_automatic_names():
    inner = ir.node("Relu", [])
    outer = ir.node("Relu", [])
    onnx_ir.Graph([], inner.outputs, nodes=[inner], name="inner")
    onnx_ir.Graph([], outer.outputs, nodes=[outer], name="outer")
    return inner, outer


def test_automatic_names_trap():
    inner, outer = nested_automatic_names()
    assert inner.outputs[0].name == outer.outputs[0].name == "val_0"


def test_namer_is_unique_over_all_graphs_and_deterministic():
    names = []
    for _ in range(2):
        namer = ir.Namer(ir.load(protos.everything()))
        names.append([namer.value_name(base) for base in ("t", "e", "k", "r", "p", "new", "t")])
    assert names[0] == names[1] == ["t_1", "e_1", "k_1", "r_1", "p_1", "new", "t_2"]


def cast_behind(value):
    return ir.node("Cast", [value], attributes={"to": 10}, name="cast")


def test_self_consuming_cast_trap():
    model = relu_model()
    value = model.graph[0].outputs[0]
    cast = cast_behind(value)
    model.graph.insert_after(model.graph[0], cast)
    value.replace_all_uses_with(cast.outputs[0])
    assert cast.inputs[0] is cast.outputs[0]
    with pytest.raises(VerificationError, match="not defined before"):
        ir.verify_structure(model)


def test_redirect_never_makes_a_node_consume_itself():
    model = relu_model()
    value = model.graph[0].outputs[0]
    cast = cast_behind(value)
    cast.outputs[0].name = "cast_out"
    model.graph.insert_after(model.graph[0], cast)
    ir.redirect(value.uses(), cast.outputs[0])
    assert cast.inputs[0] is value
    assert [use.node.op_type for use in cast.outputs[0].uses()] == ["Add"]
    ir.verify_structure(model)


def test_constant_under_another_type_trap():
    model = relu_model()
    model.graph.initializers["w"].const_value = ir.tensor(np.ones(2, np.float16))
    with pytest.raises(VerificationError, match="float32 but holds a float16"):
        ir.verify_structure(model)


def test_set_constant_sets_dtype_and_shape():
    model = relu_model()
    value = model.graph.initializers["w"]
    ir.set_constant(value, ir.tensor(np.ones((1, 2), np.float16)))
    assert (value.dtype, tuple(value.shape)) == (ir.DataType.FLOAT16, (1, 2))
    ir.verify_structure(model)


def stale_types():
    model = relu_model()
    for value in (*model.graph.inputs, *model.graph.outputs):
        ir.set_dtype(value, ir.DataType.FLOAT16)
        value.shape = ir.Shape([5, 2])
    ir.set_constant(model.graph.initializers["w"], ir.tensor(np.ones(2, np.float16)))
    return model


def test_stale_types_trap():
    result = onnx_ir.passes.common.ShapeInferencePass()(stale_types())
    assert tuple(result.model.graph[0].outputs[0].shape) == (2,)


def test_infer_shapes_looks_past_stale_types():
    model = stale_types()
    assert ir.infer_shapes(model)[model.graph[0].outputs[0]] == (5, 2)
    assert model.graph[0].outputs[0].dtype == ir.DataType.FLOAT


def test_attribute_key_tells_int_from_float():
    one, other = ir.AttrInt64("a", 1), ir.AttrFloat32("a", 1.0)
    assert one.value == other.value
    assert hash(one.value) == hash(other.value)
    assert ir.attribute_key(one) != ir.attribute_key(other)
    assert ir.attribute_key(one) == ir.attribute_key(ir.AttrInt64("b", 1))


def test_outer_output_trap(caplog):
    with caplog.at_level(logging.WARNING):
        model = onnx_ir.from_proto(protos.branches([], "a"))
    then_graph = model.graph[1].attributes["then_branch"].as_graph()
    assert then_graph.outputs[0] is not model.graph[0].outputs[0]


def test_outer_output_becomes_an_identity():
    model = ir.load(protos.branches([], "a"))
    then_graph = model.graph[1].attributes["then_branch"].as_graph()
    (identity,) = then_graph
    assert identity.op_type == "Identity"
    assert identity.inputs[0] is model.graph[0].outputs[0]
    assert then_graph.outputs[0] is identity.outputs[0]
    ir.check_model(model)


def test_sparse_initializer_trap():
    proto = protos.chain(2)
    proto.training_info.add()
    proto.graph.sparse_initializer.add().dims.append(2)
    again = onnx_ir.to_proto(onnx_ir.from_proto(proto))
    assert not again.training_info
    assert not again.graph.sparse_initializer
    with pytest.raises(InvalidModelError):
        ir.load(proto)


def test_recursive_iterator_trap():
    model = ir.load(protos.everything())
    entered = []
    iterator = onnx_ir.traversal.RecursiveGraphIterator(model.graph, enter_graph=entered.append)
    list(iterator)
    assert len(entered) > len({id(graph) for graph in entered})


def test_graphs_yields_each_graph_once_functions_included():
    model = ir.load(protos.everything())
    scopes = list(ir.graphs(model))
    assert [scope.path for scope in scopes] == [
        "main",
        "main/If_1.else_branch",
        "main/If_1.then_branch",
        "function:local::Scaled",
    ]
    assert len({id(scope.graph) for scope in scopes}) == 4
    assert sum(len(scope.graph) for scope in scopes) == len(list(ir.nodes(model)))


def test_paused_gc_restores_what_it_found():
    assert gc.isenabled()
    with ir.paused_gc():
        assert not gc.isenabled()
        with ir.paused_gc():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), ir.paused_gc():
        raise KeyError
    assert gc.isenabled()


def test_derived_tensor_keeps_nothing_and_releases_its_source(tmp_path):
    model = ir.load(protos.with_external_weight(tmp_path, "w.bin"))
    source = model.graph.initializers["w"].const_value
    calls = []

    def convert(array):
        calls.append(array.dtype)
        return array.astype(np.float16)

    lazy = ir.derived_tensor(source, convert, ir.DataType.FLOAT16)
    assert not calls
    for _ in range(2):
        np.testing.assert_array_equal(lazy.numpy(), source.numpy().astype(np.float16))
    lazy.numpy()
    assert len(calls) == 3
    assert source.raw is None


def test_initializer_info_trap():
    proto = protos.chain(1)
    assert "w" in [v.name for v in onnx_ir.to_proto(onnx_ir.from_proto(proto)).graph.value_info]
    assert "w" not in [v.name for v in ir.to_proto(ir.load(proto)).graph.value_info]


def test_tensor_metadata_trap():
    proto = protos.chain(1)
    proto.graph.initializer[0].metadata_props.add(key="k", value="v")
    again = onnx_ir.to_proto(onnx_ir.from_proto(proto))
    assert len(again.graph.initializer[0].metadata_props) == 2
    assert len(ir.to_proto(ir.load(proto)).graph.initializer[0].metadata_props) == 1


def test_default_domain_trap():
    proto = protos.chain(1)
    proto.opset_import[0].domain = "ai.onnx"
    assert onnx_ir.from_proto(proto).opset_imports == {"ai.onnx": 17}
    assert ir.load(proto).opset_imports == {"": 17}
    proto.opset_import.append(helper.make_opsetid("", 17))
    assert ir.load(proto).opset_imports == {"": 17}
    proto.opset_import.append(helper.make_opsetid("", 18))
    with pytest.raises(InvalidModelError, match="different versions"):
        ir.load(proto)


def zip_map() -> onnx.ModelProto:
    mapped = helper.make_map_type_proto(
        TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    )
    output = helper.make_value_info("y", helper.make_sequence_type_proto(mapped))
    zipped = protos.node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[0, 1])
    return protos.model(
        protos.graph([zipped], [protos.info("x", (3, 2))], [output]),
        imports=[helper.make_opsetid("ai.onnx.ml", 3)],
    )


def test_map_type_trap():
    with pytest.raises(onnx_ir.serde.SerdeError):
        onnx_ir.from_proto(zip_map())


def test_map_types_survive(tmp_path):
    model = ir.clone(ir.load(zip_map()))
    assert model.graph.outputs[0].type is None
    assert ir.to_proto(model) == zip_map()
    ir.check_model(model)
    ir.save(model, tmp_path / "m.onnx")
    assert onnx.load(tmp_path / "m.onnx") == zip_map()


def test_shape_without_type_trap(caplog):
    model = ir.load(protos.chain(2))
    value = model.graph[0].outputs[0]
    value.type = None
    with caplog.at_level(logging.WARNING):
        onnx_ir.to_proto(model)
        assert caplog.records
        caplog.clear()
        proto = ir.to_proto(model)
        assert not caplog.records
    assert value.name not in [entry.name for entry in proto.graph.value_info]
    assert tuple(value.shape) == (2,)


def shadowing():
    body = protos.graph(
        [protos.node("Identity", ["go"], ["on"]), protos.node("Relu", ["x"], ["out"])],
        [protos.info("i", (), protos.INT64), protos.info("go", (), protos.BOOL), protos.info("x")],
        [protos.info("on", (), protos.BOOL), protos.info("out")],
        name="body",
    )
    return protos.model(
        protos.graph(
            [protos.node("Loop", ["", "c", "x"], ["y"], body=body, name="loop")],
            [protos.info("x"), protos.info("c", (), protos.BOOL)],
            [protos.info("y")],
        )
    )


def test_shadowing_trap():
    onnx.checker.check_model(shadowing())
    with pytest.raises(VerificationError, match="already defined in an enclosing graph"):
        ir.verify_structure(onnx_ir.from_proto(shadowing()))


def test_shadowing_names_are_renamed_at_load():
    model = ir.load(shadowing())
    body = model.graph[0].attributes["body"].as_graph()
    assert [value.name for value in body.inputs] == ["i", "go", "x_1"]
    assert body[1].inputs[0] is body.inputs[2]
    assert [value.name for value in model.graph.inputs] == ["x", "c"]
    ir.check_model(model)
