"""Printer, fingerprint, shapes, check, schemas and opset conversion."""

from __future__ import annotations

import sys

import numpy as np
import onnx
import onnx.reference
import onnx_ir
import pytest
from onnx import helper

import models
from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.errors import ConversionError, ModelFileError, VerificationError
from mpgraph.schema import element_type
from tests.ir import protos

GOLDEN = """\
model ir_version=8 opset=ai.onnx:17, vendor.ops:3, local:1
  input %x: float32 [2]
  input %c: bool []
  initializer %w: float32 [2] = float32[2] {5, 6}
  initializer %top: float32 [] = float32[] {6}
  %a: float32 [2] = Relu(%x)
  %i: ? = If(%c)
    else_branch:
      %k: ? = Constant() {value=float32[2] {3, 4}}
      %e: float32 [2] = Mul(%a, %k)
      output %e: float32 [2]
    then_branch:
      initializer %tw: float32 [2] = float32[2] {1, 2}
      %t: float32 [2] = Add(%a, %tw)  ! some-pass: some rule
      output %t: float32 [2]
  %u: ? = local::Scaled(%i) {alpha=0.5}
  %v: float32 [n], _, %v3: float32 [batch] = vendor.ops::Opaque(%u) {ints=[1, 2], tag='t'}
  %y: float32 [2] = Clip(%v, _, %top)
  %copy: float32 [2] = Identity(%w)
  output %y: float32 [2]
  output %w: float32 [2]
  output %copy: float32 [2]
  output %v3: float32 [batch]
function local::Scaled opset=ai.onnx:17
  attributes alpha=required
  input %p: ?
  %alpha: ? = Constant() {value_float=@alpha}
  %r: ? = Mul(%p, %alpha)
  output %r: ?
"""


def test_printer_golden():
    model = ir.load(protos.everything())
    inner = next(node for node in ir.nodes(model) if node.name == "inner")
    ir.stamp(inner, "some-pass", "some rule")
    assert ir.print_model(model) == GOLDEN


def test_printer_reads_no_large_tensor():
    model = ir.load(protos.linear())
    model.graph.initializers["w"].const_value = ir.LazyTensor(
        lambda: pytest.fail("nothing may be read"), ir.DataType.FLOAT, ir.Shape([64, 32])
    )
    assert "%w: float32 [64, 32] = float32[64, 32]\n" in ir.print_model(model)


def changed_name(model):
    model.graph[0].name = "other"


def changed_attribute_type(model):
    model.graph[3].attributes["ints"] = onnx_ir.AttrFloat32s("ints", [1.0, 2.0])


def changed_small_constant(model):
    ir.set_constant(model.graph.initializers["w"], ir.tensor(np.array([5, 7], np.float32)))


def changed_edge(model):
    model.graph[4].replace_input_with(0, model.graph[0].outputs[0])


def changed_inner_node(model):
    list(ir.graphs(model))[1].graph[1].op_type = "Sub"


def changed_function(model):
    list(ir.graphs(model))[3].graph[1].op_type = "Sub"


def changed_output_type(model):
    ir.set_dtype(model.graph.outputs[0], ir.DataType.FLOAT16)


@pytest.mark.parametrize(
    "change", [v for k, v in sorted(globals().items()) if k.startswith("changed_")]
)
def test_fingerprint_sees(change):
    model = ir.load(protos.everything())
    before = ir.fingerprint(model)
    assert ir.fingerprint(ir.clone(model)) == before
    change(model)
    assert ir.fingerprint(model) != before


def test_fingerprint_ignores_metadata_and_large_weights():
    model = ir.load(protos.linear())
    before = ir.fingerprint(model)
    ir.stamp(model.graph[0], "a", "b")
    model.graph.initializers["w"].const_value = ir.LazyTensor(
        lambda: pytest.fail("nothing may be read"), ir.DataType.FLOAT, ir.Shape([64, 32])
    )
    assert ir.fingerprint(model) == before


def test_infer_shapes_looks_into_subgraphs_and_changes_nothing():
    proto = protos.everything()
    del proto.graph.value_info[0]
    model = ir.load(proto)
    before = ir.print_model(model)
    shapes = ir.infer_shapes(model)
    constant = list(ir.graphs(model))[1].graph[0].outputs[0]
    assert shapes[constant] == (2,)
    assert shapes[model.graph[0].outputs[0]] == (2,)
    assert shapes[model.graph[3].outputs[0]] == ("n",)
    assert ir.print_model(model) == before
    ir.verify_structure(model)


def test_only_shapes_that_contradict_are_corrected():
    model = ir.load(protos.linear())
    value = model.graph[0].outputs[0]
    value.shape = ir.Shape(["m", None])
    assert not ir.correct_shapes(ir.infer_shapes(model))
    assert ir.declared_dims(value) == ("m", None)
    for wrong in (["n", 31], [32]):
        value.shape = ir.Shape(wrong)
        assert ir.correct_shapes(ir.infer_shapes(model))
        assert ir.declared_dims(value) == ("n", 32)


def test_infer_shapes_never_fails_and_never_reads_weights():
    model = ir.load(protos.linear())
    model.graph.initializers["w"].const_value = ir.LazyTensor(
        lambda: pytest.fail("nothing may be read"), ir.DataType.FLOAT, ir.Shape([64, 32])
    )
    assert ir.infer_shapes(model)[model.graph[0].outputs[0]] == ("n", 32)
    model.graph[0].op_type = "Gemm"
    model.graph[0].resize_inputs(1)
    assert ir.infer_shapes(model)[model.graph[0].outputs[0]] == ("n", None)


def test_stub_proto_keeps_small_constants_and_the_graph():
    model = ir.load(protos.linear())
    proto = ir.to_proto_without_weights(model)
    w, b = proto.graph.initializer
    assert (w.data_location, b.data_location) == (1, 0)
    assert proto.graph.node == ir.to_proto(model).graph.node
    assert proto.ByteSize() < 1000
    assert not ir.to_proto_without_weights(model, 1 << 20).graph.initializer[0].external_data


def test_to_proto_reads_external_data(tmp_path):
    model = ir.load(protos.with_external_weight(tmp_path, "w.bin"))
    assert ir.to_proto(model) == protos.linear()
    assert model.graph.initializers["w"].const_value.raw is None
    assert onnx.load_from_string(ir.to_bytes(model)) == protos.linear()


def test_check_model_names_the_node():
    model = ir.load(protos.linear())
    ir.check_model(model)
    ir.set_dtype(model.graph.inputs[0], ir.DataType.FLOAT16)
    with pytest.raises(VerificationError) as caught:
        ir.check_model(model)
    assert "MatMul" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_check_model_needs_no_weights():
    model = ir.load(protos.linear())
    model.graph.initializers["w"].const_value = ir.LazyTensor(
        lambda: pytest.fail("nothing may be read"), ir.DataType.FLOAT, ir.Shape([64, 32])
    )
    ir.check_model(model)


def test_schemas():
    assert ir.operator_schema("", "Relu", 13).since_version == 13
    assert ir.operator_schema("ai.onnx", "Relu", 20).since_version == 14
    assert ir.operator_schema("com.nobody", "Relu", 1) is None
    assert ir.operator_schema("", "Relu", 0) is None
    assert len(ir.all_schemas()) > 500


def old_model():
    """Softmax and Squeeze changed their meaning in opset 13."""
    then_graph = protos.graph(
        [protos.node("Softmax", ["s"], ["t"], axis=1, name="soft")],
        [],
        [protos.info("t", (2, 3))],
        name="then",
    )
    else_graph = protos.graph(
        [protos.node("Neg", ["s"], ["e"])], [], [protos.info("e", (2, 3))], name="else"
    )
    proto = protos.model(
        protos.graph(
            [
                protos.node("Squeeze", ["x"], ["q"], axes=[0], name="squeeze"),
                protos.node("MatMul", ["q", "w"], ["m"], name="matmul"),
                protos.node("Twice", ["m"], ["s"], domain="local", name="call"),
                protos.node("If", ["c"], ["y"], then_branch=then_graph, else_branch=else_graph),
            ],
            [protos.info("x", (1, 2, 300)), protos.info("c", (), protos.BOOL)],
            [protos.info("y", (2, 3))],
            [protos.weight("w", np.random.default_rng(1).random((300, 3), dtype=np.float32))],
        ),
        opset=11,
        ir_version=6,
        imports=[helper.make_opsetid("local", 1)],
        functions=[
            helper.make_function(
                "local",
                "Twice",
                ["p"],
                ["r"],
                [protos.node("Add", ["p", "p"], ["r"])],
                [helper.make_opsetid("", 11)],
            )
        ],
    )
    proto.ir_version = 8
    proto.graph.node[0].metadata_props.add(key="namespace", value="a/b")
    return proto


def test_version_convert_keeps_meaning_metadata_and_weights():
    model = ir.load(old_model())
    before = ir.print_model(model)
    converted = ir.version_convert(model, 21)
    assert ir.print_model(model) == before
    assert converted.opset_imports[""] == 21
    assert converted.ir_version >= 10
    ir.check_model(converted)
    assert (
        converted.graph.initializers["w"].const_value is model.graph.initializers["w"].const_value
    )
    by_name = {node.name: node for node in converted.graph}
    assert by_name["squeeze"].metadata_props["namespace"] == "a/b"
    assert any(ir.origin(node) for node in ir.nodes(converted))
    assert ir.origin(by_name["matmul"]) is None
    assert str(converted.graph.outputs[0].shape) == "[2,3]"
    feed = {"x": np.random.default_rng(2).random((1, 2, 300), dtype=np.float32)}
    for flag in (True, False):
        feed["c"] = np.array(flag)
        results = [
            onnx.reference.ReferenceEvaluator(ir.to_proto(m)).run(None, feed)[0]
            for m in (model, converted)
        ]
        np.testing.assert_allclose(*results, rtol=1e-6)


def test_version_convert_to_the_same_version_is_the_model_itself():
    model = ir.load(protos.linear())
    assert ir.version_convert(model, 17) is model


def test_version_convert_refuses_what_it_cannot():
    proto = protos.model(
        protos.graph(
            [protos.node("Gelu", ["x"], ["y"], name="gelu")], [protos.info("x")], [protos.info("y")]
        ),
        opset=20,
        ir_version=9,
    )
    with pytest.raises(ConversionError, match="from opset 20 to 12"):
        ir.version_convert(ir.load(proto), 12)


def count_calls(function, *arguments) -> int:
    """Python and C calls made by a function: a measure of work that no clock disturbs."""
    count = 0

    def on_event(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(on_event)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "function",
    [
        ir.verify_structure,
        ir.fingerprint,
        ir.infer_shapes,
        ir.print_model,
        ir.clone,
        ir.Namer,
        ir.to_bytes,
        lambda model: ir.load(ir.to_proto(model)),
    ],
)
def test_work_grows_linearly(function):
    models = [ir.load(protos.chain(length)) for length in (200, 400, 800)]
    function(models[0])
    small, middle, large = (count_calls(function, model) for model in models)
    assert (large - middle) <= 2.1 * (middle - small)


def test_many_names_from_one_base_are_linear():
    def names(count):
        namer = ir.Namer(ir.load(protos.chain(1)))
        return count_calls(lambda: [namer.value_name("v0") for _ in range(count)])

    assert names(2000) <= 2.1 * names(1000)


def test_a_value_used_very_often_is_linear():
    def verified(count):
        nodes = [protos.node("Neg", ["x"], [f"y{i}"]) for i in range(count)]
        model = ir.load(protos.model(protos.graph(nodes, [protos.info("x")], [protos.info("y0")])))
        return count_calls(ir.verify_structure, model)

    assert verified(800) <= 2.1 * verified(400)


@pytest.mark.parametrize("name", models.builders())
def test_a_model_mentions_the_dtypes_of_its_values(name, tmp_path):
    proto = models.build(name)
    model = ir.load(proto)
    path = tmp_path / "model.onnx"
    ir.save(model, path)
    known = {element_type(text) for text in infer_types(model).types.values()}
    for dtype in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.FLOAT):
        assert ir.mentions_dtype(model, dtype) == (dtype in known)
        assert ir.mentions_dtype(path, dtype) == (dtype in known)
        assert ir.mentions_dtype(path.read_bytes(), dtype) == (dtype in known)
    with pytest.raises(ModelFileError):
        ir.mentions_dtype(b"no model", ir.DataType.FLOAT)
