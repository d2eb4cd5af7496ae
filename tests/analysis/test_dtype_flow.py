"""dtype inference beside ONNX's shape inference and onnxruntime, and by hand where they are mute."""

from __future__ import annotations

import onnx
import onnx_ir
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

import models
from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.schema import Operator, Parameter, lookup, operators, register, type_of
from tests.runtime.builders import build

UNKNOWN = {"custom_domain": {"opaque"}}
"""Values that nothing says anything about."""


def undeclared(proto):
    """A model in which only graph inputs, initializers and unknown operators have types."""
    model = ir.load(proto)
    for scope in ir.graphs(model):
        inner = scope.owner is not None or scope.function is not None
        for value in scope.graph.inputs if inner else ():
            value.type = None
        for node in scope.graph:
            known = lookup(node.domain, node.op_type, 20) or node.op_identifier() in model.functions
            for value in node.outputs if known else ():
                value.type = None
    return model


def every_value(model):
    for scope in ir.graphs(model):
        yield from scope.graph.inputs
        yield from scope.graph.initializers.values()
        for node in scope.graph:
            yield from (value for value in node.outputs if value.name)


def types_by_onnx(proto):
    """The types that ONNX's shape inference finds, of all graphs outside functions."""
    inferred = onnx.shape_inference.infer_shapes(proto, strict_mode=False)
    pending, types = [inferred.graph], {}
    while pending:
        graph = pending.pop()
        for info in (*graph.input, *graph.output, *graph.value_info):
            if info.type.WhichOneof("value"):
                known = onnx_ir.serde.deserialize_type_proto_for_type(info.type)
                if type_of(known) is not None:
                    types[info.name] = type_of(known)
        for node in graph.node:
            pending += [one.g for one in node.attribute if one.HasField("g")]
    return types


def types_by_runtime(proto):
    """The types that onnxruntime gives the values of the main graph, all made outputs."""
    exposed = onnx.ModelProto()
    exposed.CopyFrom(proto)
    known = {info.name for info in proto.graph.output}
    for node in proto.graph.node:
        for name in node.output:
            if name and name not in known:
                exposed.graph.output.append(onnx.ValueInfoProto(name=name))
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(
        exposed.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return {value.name: value.type for value in session.get_outputs()}


@pytest.mark.parametrize("name", models.builders())
def test_builders_have_the_types_that_onnx_and_the_runtime_give_them(name):
    proto = models.build(name)
    model = undeclared(proto)
    flow = infer_types(model)
    found = {value.name: flow.type(value) for value in every_value(model)}
    unknown = {value for value, known in found.items() if known is None}
    assert unknown == UNKNOWN.get(name, set())
    oracles = [types_by_onnx(proto)]
    if name not in models.NOT_RUNNABLE:
        oracles.append(types_by_runtime(proto))
    for oracle in oracles:
        shared = oracle.keys() & found.keys() - unknown
        assert {value: found[value] for value in shared} == {
            value: oracle[value] for value in shared
        }
        assert len(shared) >= len(proto.graph.output)


@pytest.mark.parametrize("name", models.builders())
def test_inference_changes_nothing(name):
    model = ir.load(models.build(name))
    before = ir.print_model(model)
    infer_types(model)
    assert ir.print_model(model) == before


def flow_of(text, **options):
    model = build(text, **options)
    flow = infer_types(model)
    return {value.name: flow.type(value) for value in every_value(model)}


def test_a_type_reaches_through_two_levels_of_branches():
    found = flow_of(
        """g (bool c, float16[2] x) => (float16[2] y) {
            y = If (c) <
                then_branch = t () => (float16[2] a) {
                    a = If (c) <
                        then_branch = tt () => (float16[2] b) { b = Relu (x) },
                        else_branch = te () => (float16[2] d) { d = Neg (x) }
                    >
                },
                else_branch = e () => (float16[2] f) { f = Identity (x) }
            >
        }"""
    )
    assert {found[name] for name in "abdfy"} == {"tensor(float16)"}


def test_sequences_and_optionals_nest():
    found = flow_of(
        """g (float16[2] x, bool c) => (float16[2] y) {
            s = SequenceConstruct (x, x)
            o = Optional (s)
            p = OptionalGetElement (o)
            zero = Constant <value = int64 {0}> ()
            e = SequenceAt (p, zero)
            h = OptionalHasElement (o)
            n = SequenceLength (s)
            y = Identity (e)
        }"""
    )
    assert found["s"] == found["p"] == "seq(tensor(float16))"
    assert found["o"] == "optional(seq(tensor(float16)))"
    assert found["e"] == found["y"] == "tensor(float16)"
    assert (found["h"], found["n"]) == ("tensor(bool)", "tensor(int64)")


def test_sequence_map_sees_elements_and_returns_sequences():
    found = flow_of(
        """g (float16[2] x) => (seq(float16[2]) y) {
            s = SequenceConstruct (x, x)
            y = SequenceMap (s) <body = b (float16[2] e) => (float16[2] r) { r = Relu (e) }>
        }"""
    )
    assert found["e"] == found["r"] == "tensor(float16)"
    assert found["y"] == "seq(tensor(float16))"


def test_a_loop_that_fills_an_optional_gives_what_its_body_gives():
    """A carried value may begin empty, as an optional, and end as what the body made of it."""
    found = flow_of(
        """g (int64 n, bool c, optional(seq(float[2])) start, float[2] x) => (seq(float[2]) y) {
            y = Loop (n, c, start) <body = b (int64 i, bool go, optional(seq(float[2])) held)
                => (bool keep, seq(float[2]) next) {
                keep = Identity (go)
                next = SequenceConstruct (x)
            }>
        }"""
    )
    assert found["held"] == "optional(seq(tensor(float)))"
    assert found["y"] == "seq(tensor(float))"


def with_function(nodes, calls, attributes=()):
    """A model of calls of one function ``example::F`` made of ``nodes``."""
    imports = [helper.make_opsetid("", 18), helper.make_opsetid("example", 1)]
    function = helper.make_function(
        "example", "F", ["a"], ["b"], nodes, imports, attributes=list(attributes)
    )
    inputs = [
        helper.make_tensor_value_info(f"x{index}", dtype, [2])
        for index, (dtype, _) in enumerate(calls)
    ]
    body = [
        helper.make_node("F", [f"x{index}"], [f"y{index}"], domain="example", **given)
        for index, (_, given) in enumerate(calls)
    ]
    outputs = [onnx.ValueInfoProto(name=f"y{index}") for index in range(len(calls))]
    graph = helper.make_graph(body, "g", inputs, outputs)
    proto = helper.make_model(graph, opset_imports=imports, functions=[function], ir_version=10)
    return onnx_ir.serde.deserialize_model(proto)


def test_functions_are_typed_by_their_calls():
    model = with_function(
        [helper.make_node("Relu", ["a"], ["b"])],
        [(TensorProto.FLOAT16, {}), (TensorProto.FLOAT16, {})],
    )
    flow = infer_types(model)
    (function,) = model.functions.values()
    assert flow.type(function.outputs[0]) == "tensor(float16)"
    assert not flow.polymorphic
    assert list(flow.calls) == list(model.graph)


def test_a_function_called_with_two_types_is_polymorphic():
    model = with_function(
        [helper.make_node("Relu", ["a"], ["b"])],
        [(TensorProto.FLOAT16, {}), (TensorProto.FLOAT, {}), (TensorProto.FLOAT, {})],
    )
    flow = infer_types(model)
    assert flow.polymorphic == set(model.functions)
    found = [flow.type(value) for value in model.graph.outputs]
    assert found == ["tensor(float16)", "tensor(float)", "tensor(float)"]


@pytest.mark.parametrize(
    ("name", "given", "polymorphic"),
    [("alpha", [0.1, 0.2], False), ("to", [TensorProto.FLOAT, TensorProto.DOUBLE], True)],
)
def test_only_attributes_that_can_decide_a_type_make_a_function_polymorphic(
    name, given, polymorphic
):
    kind = onnx.AttributeProto.INT if polymorphic else onnx.AttributeProto.FLOAT
    body = helper.make_node("Cast" if polymorphic else "LeakyRelu", ["a"], ["b"])
    body.attribute.append(onnx.AttributeProto(name=name, ref_attr_name="given", type=kind))
    calls = [(TensorProto.FLOAT, {"given": value}) for value in given]
    assert bool(infer_types(with_function([body], calls, ["given"])).polymorphic) == polymorphic


def test_the_dtype_attribute_of_a_call_types_the_body():
    cast = helper.make_node("Cast", ["a"], ["b"])
    cast.attribute.append(
        onnx.AttributeProto(name="to", ref_attr_name="wanted", type=onnx.AttributeProto.INT)
    )
    model = with_function([cast], [(TensorProto.FLOAT, {"wanted": TensorProto.DOUBLE})], ["wanted"])
    flow = infer_types(model)
    assert flow.type(model.graph.outputs[0]) == "tensor(double)"


def test_a_function_that_nobody_calls_is_typed_as_far_as_possible():
    model = with_function([helper.make_node("Shape", ["a"], ["b"])], [])
    (function,) = model.functions.values()
    assert infer_types(model).type(function.outputs[0]) == "tensor(int64)"


def custom(declared):
    annotation = " <float16[2] m>" if declared else ""
    return f"""g (float[2] x) => (float[2] y){annotation} {{
        m = com.example.Opaque (x)
        n = Relu (m)
        y = Relu (x)
    }}"""


def load_custom(declared):
    header = '<ir_version: 10, opset_import: ["": 18, "com.example": 1]>'
    proto = onnx.parser.parse_model(f"{header} {custom(declared)}")
    return onnx_ir.serde.deserialize_model(proto)


@pytest.mark.parametrize("declared", [True, False])
def test_an_unknown_operator_counts_for_what_the_model_declares(declared):
    model = load_custom(declared)
    flow = infer_types(model)
    expected = "tensor(float16)" if declared else None
    assert flow.type(model.graph[0].outputs[0]) == expected
    assert flow.type(model.graph[1].outputs[0]) == expected


def test_a_registered_operator_needs_no_declaration(monkeypatch):
    monkeypatch.setattr(operators, "_registered", {})
    lookup.cache_clear()
    types = {"T": frozenset({"tensor(float)"})}
    register(
        Operator("com.example", "Opaque", 1, (Parameter("X", "T"),), (Parameter("Y", "T"),), types)
    )
    model = load_custom(declared=False)
    assert infer_types(model).type(model.graph[0].outputs[0]) == "tensor(float)"
    lookup.cache_clear()


def test_a_declaration_that_contradicts_the_schema_is_not_believed():
    model = build("g (float[2] x) => (float[2] y) { m = Relu (x) y = Neg (m) }")
    model.graph[0].outputs[0].type = ir.TensorType(ir.DataType.FLOAT16)
    flow = infer_types(model)
    assert flow.type(model.graph[0].outputs[0]) == "tensor(float)"
