"""Output type rules beside independent oracles: ONNX's shape inference and onnxruntime."""

from __future__ import annotations

import re

import numpy as np
import onnx
import onnx_ir
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from mpgraph import ir
from mpgraph.analysis import infer_types
from mpgraph.schema import OUTPUT_TYPES, TYPE_ATTRIBUTES, lookup, to_ir_type, type_of
from tests.node_cases import node_models

CONTRIB = "com.microsoft"
ML = "ai.onnx.ml"
OPSETS = {"": 17, ML: 2, CONTRIB: 1}


def undeclared(proto):
    """The IR of a model, its results without declared types; ``expected`` are those it had."""
    model = ir.load(proto)
    expected = {value.name: type_of(value.type) for value in model.graph.outputs}
    for scope in ir.graphs(model):
        for node in scope.graph:
            for value in node.outputs:
                value.type = None
    return model, expected


def test_node_tests_have_the_types_that_they_declare_and_that_onnx_infers():
    wrong, compared, seen = {}, 0, set()
    for name, proto in node_models().items():
        if any(node.domain == TRAINING for node in proto.graph.node):
            continue
        model, expected = undeclared(proto)
        seen.update((node.domain, node.op_type) for node in ir.nodes(model))
        if len(proto.graph.node) > 1:
            expected |= shape_inferred(proto)
        flow = infer_types(model)
        values = [*model.graph.outputs, *(value for node in model.graph for value in node.outputs)]
        found = {value.name: flow.type(value) for value in values if value.name in expected}
        compared += len(found)
        differing = {
            key: (found[key], expected[key]) for key in found if found[key] != expected[key]
        }
        if differing:
            wrong[name] = differing
    assert not wrong
    assert compared > 4000
    elsewhere = {(case[0], case[1]) for case in RUNTIME_CASES} | NOT_ON_CPU
    assert OUTPUT_TYPES.keys() <= seen | elsewhere, "a rule that nothing here checks"


TRAINING = "ai.onnx.preview.training"
"""Its optimizers take any number of tensors whose types are bound by position."""

NOT_ON_CPU = {
    (CONTRIB, "GemmFloat8"),
    (CONTRIB, "DequantizeBFP"),
    (CONTRIB, "DecoderMaskedMultiHeadAttention"),
    (CONTRIB, "MatMulInteger16"),
    (CONTRIB, "QGemm"),
}
"""Operators for which the CPU provider cannot serve as an oracle of inferred types."""


def shape_inferred(proto):
    """The types of the intermediate values by ONNX's own inference."""
    inferred = onnx.shape_inference.infer_shapes(proto)
    types = {}
    for info in inferred.graph.value_info:
        declared = type_of(onnx_ir.serde.deserialize_type_proto_for_type(info.type))
        if declared is not None:
            types[info.name] = declared
    return types


HEADS = {"num_heads": 2, "kv_num_heads": 1}
I32 = TensorProto.INT32
F, H, I64, STR, U8, I8 = (
    TensorProto.FLOAT,
    TensorProto.FLOAT16,
    TensorProto.INT64,
    TensorProto.STRING,
    TensorProto.UINT8,
    TensorProto.INT8,
)
CLASSES = {"coefficients": [1.0, 2.0], "intercepts": [0.5, 0.5]}
TREE = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "class_treeids": [0, 0],
    "class_nodeids": [1, 2],
    "class_ids": [0, 1],
    "class_weights": [1.0, 1.0],
}
SVM = {
    "kernel_type": "LINEAR",
    "kernel_params": [0.1, 0.0, 0.0],
    "coefficients": [1.0, -1.0],
    "rho": [0.1],
    "support_vectors": [1.0, 2.0],
    "vectors_per_class": [1, 1],
}

RUNTIME_CASES = [
    (CONTRIB, "QuantizeLinear", [F, F, I8], 1, {}),
    (CONTRIB, "DequantizeLinear", [U8, F, U8], 1, {}),
    (CONTRIB, "GridSample", [F, F], 1, {}),
    (CONTRIB, "MultiHeadAttention", [F, F, F], 1, {"num_heads": 1}),
    (CONTRIB, "GroupQueryAttention", [F, F, F, F, F, I32, I32], 3, HEADS),
    (CONTRIB, "MurmurHash3", [I64], 1, {"positive": 1}),
    (CONTRIB, "MurmurHash3", [I64], 1, {"positive": 0}),
    (CONTRIB, "FusedMatMul", [F, F], 1, {}),
    (CONTRIB, "FastGelu", [F, F], 1, {}),
    (ML, "LinearClassifier", [F], 2, {**CLASSES, "classlabels_ints": [3, 4]}),
    (ML, "LinearClassifier", [F], 2, {**CLASSES, "classlabels_strings": ["a", "b"]}),
    (ML, "SVMClassifier", [F], 2, {**SVM, "classlabels_ints": [3, 4]}),
    (ML, "SVMClassifier", [F], 2, {**SVM, "classlabels_strings": ["a", "b"]}),
    (ML, "TreeEnsembleClassifier", [F], 2, {**TREE, "classlabels_int64s": [0, 1]}),
    (ML, "TreeEnsembleClassifier", [F], 2, {**TREE, "classlabels_strings": ["a", "b"]}),
    (ML, "LabelEncoder", [I64], 1, {"keys_int64s": [1], "values_floats": [1.0]}),
    (ML, "LabelEncoder", [STR], 1, {"keys_strings": ["a"], "values_int64s": [1]}),
    (ML, "LabelEncoder", [F], 1, {"keys_floats": [1.0], "values_strings": ["a"]}),
    (ML, "CategoryMapper", [STR], 1, {"cats_int64s": [1], "cats_strings": ["a"]}),
    (ML, "CategoryMapper", [I64], 1, {"cats_int64s": [1], "cats_strings": ["a"]}),
    (ML, "ZipMap", [F], 1, {"classlabels_int64s": [1, 2]}),
    (ML, "ZipMap", [F], 1, {"classlabels_strings": ["a", "b"]}),
    (ML, "CastMap", ["map(int64, float)"], 1, {"cast_to": "TO_FLOAT"}),
    (ML, "CastMap", ["map(int64, float)"], 1, {"cast_to": "TO_INT64"}),
    (ML, "DictVectorizer", ["map(string, int64)"], 1, {"string_vocabulary": ["a"]}),
    (ML, "Scaler", [F], 1, {"scale": [1.0], "offset": [0.0]}),
    (ML, "Binarizer", [F], 1, {"threshold": 0.5}),
    ("", "ConcatFromSequence", ["seq(tensor(float))"], 1, {"axis": 0}),
    ("", "SequenceAt", ["seq(tensor(float))", I64], 1, {}),
    ("", "SequenceEmpty", [], 1, {}),
    ("", "SequenceEmpty", [], 1, {"dtype": H}),
    ("", "Multinomial", [F], 1, {}),
    ("", "Multinomial", [F], 1, {"dtype": I64}),
    ("", "RandomNormal", [], 1, {"shape": [2]}),
    ("", "RandomUniform", [], 1, {"shape": [2], "dtype": TensorProto.DOUBLE}),
    ("", "RandomNormalLike", [F], 1, {}),
    ("", "RandomUniformLike", [F], 1, {"dtype": TensorProto.DOUBLE}),
    ("", "ConstantOfShape", [I64], 1, {}),
]


def input_info(name, kind):
    if isinstance(kind, int):
        return helper.make_tensor_value_info(name, kind, None)
    if kind.startswith("seq("):
        return helper.make_tensor_sequence_value_info(name, F, None)
    key, value = {"map(int64, float)": (I64, F), "map(string, int64)": (STR, I64)}[kind]
    element = helper.make_tensor_type_proto(value, [])
    proto = onnx.TypeProto()
    proto.map_type.key_type = key
    proto.map_type.value_type.CopyFrom(element)
    return helper.make_value_info(name, proto)


def runtime_model(domain, op_type, kinds, outputs, attributes):
    names = [f"x{index}" for index in range(len(kinds))]
    results = [f"y{index}" for index in range(outputs)]
    node = helper.make_node(op_type, names, results, domain=domain, **attributes)
    infos = [input_info(name, kind) for name, kind in zip(names, kinds, strict=True)]
    empty = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph([node], "g", infos, empty)
    imports = [helper.make_opsetid(name, version) for name, version in OPSETS.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


@pytest.mark.parametrize("case", RUNTIME_CASES, ids=lambda case: f"{case[1]}-{case[4]}"[:60])
def test_the_runtime_infers_the_same_types(case):
    domain, op_type, kinds, outputs, attributes = case
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(
        runtime_model(*case).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    expected = [schema_spelling(value.type) for value in session.get_outputs()]
    inputs = [ir.Value(name=f"x{index}") for index in range(len(kinds))]
    node = ir.node(op_type, inputs, attributes, domain=domain, num_outputs=outputs)
    types = [kind if isinstance(kind, str) else ir.type_string(ir.DataType(kind)) for kind in kinds]
    assert inferred(node, types) == expected


def schema_spelling(text):
    """The runtime writes ``map(int64,tensor(float))`` where schemas have ``map(int64, float)``."""
    return re.sub(r"map\((\w+),tensor\((\w+)\)\)", r"map(\1, \2)", text)


def inferred(node, types):
    """What dtype inference says of the results of a node that stands alone."""
    graph = ir.Graph(node.inputs, node.outputs, nodes=[node], opset_imports=OPSETS)
    model = ir.Model(graph, ir_version=9)
    for value, known in zip(node.inputs, types, strict=True):
        value.type = to_ir_type(known)
    if any(value.type is None for value in node.inputs):
        rule = OUTPUT_TYPES[node.domain, node.op_type]
        return list(rule(node, types, {}))
    flow = infer_types(model)
    return [flow.type(value) for value in node.outputs]


def test_an_attribute_of_the_call_reaches_the_rule():
    node = ir.node("Cast", [ir.Value(name="x")], attributes={"to": 1})
    node.attributes["to"] = ir.RefAttr("to", "wanted", ir.AttributeType.INT)
    rule = OUTPUT_TYPES["", "Cast"]
    bound = {"wanted": ir.AttrInt64("wanted", int(ir.DataType.BFLOAT16))}
    assert rule(node, ["tensor(float)"], bound) == ("tensor(bfloat16)",)


@pytest.mark.parametrize("key", sorted(TYPE_ATTRIBUTES), ids=lambda key: key[1])
def test_type_attributes_exist_and_hold_a_dtype(key):
    schema = onnx.defs.get_schema(key[1], domain=key[0])
    assert TYPE_ATTRIBUTES[key] in schema.attributes
    assert key in OUTPUT_TYPES
    assert lookup(*key, 25) is not None


def test_constants_have_the_type_of_their_attribute():
    rule = OUTPUT_TYPES["", "Constant"]
    given = {
        "value": (ir.AttrTensor("value", ir.tensor(np.zeros(2, np.float64))), "tensor(double)"),
        "value_float": (ir.AttrFloat32("value_float", 1.0), "tensor(float)"),
        "value_floats": (ir.AttrFloat32s("value_floats", [1.0]), "tensor(float)"),
        "value_int": (ir.AttrInt64("value_int", 1), "tensor(int64)"),
        "value_ints": (ir.AttrInt64s("value_ints", [1]), "tensor(int64)"),
        "value_string": (ir.AttrString("value_string", "a"), "tensor(string)"),
        "value_strings": (ir.AttrStrings("value_strings", ["a"]), "tensor(string)"),
    }
    for name, (attribute, expected) in given.items():
        node = ir.node("Constant", [], attributes={name: attribute.value})
        node.attributes.clear()
        node.attributes[name] = attribute
        assert tuple(rule(node, [], {})) == (expected,)
