"""Small ONNX protos that the tests of the IR share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

FLOAT = TensorProto.FLOAT
BOOL = TensorProto.BOOL
INT64 = TensorProto.INT64


def info(name: str, dims: Sequence[int | str] | None = (2,), dtype: int = FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def weight(name: str, array: np.ndarray) -> TensorProto:
    return onnx.numpy_helper.from_array(array, name)


def graph(nodes, inputs, outputs, initializers=(), name="g", value_info=()) -> GraphProto:
    return helper.make_graph(
        list(nodes), name, list(inputs), list(outputs), list(initializers), None, list(value_info)
    )


def model(graph_: GraphProto, *, opset=17, ir_version=8, imports=(), functions=()) -> ModelProto:
    return helper.make_model(
        graph_,
        opset_imports=[helper.make_opsetid("", opset), *imports],
        ir_version=ir_version,
        functions=list(functions),
    )


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], **kwargs) -> NodeProto:
    return helper.make_node(op, list(inputs), list(outputs), **kwargs)


def chain(length: int) -> ModelProto:
    nodes = [
        node("Add", [f"v{i}", "w"], [f"v{i + 1}"], name=f"n{i}")
        if i % 2
        else node("Relu", [f"v{i}"], [f"v{i + 1}"], name=f"n{i}")
        for i in range(length)
    ]
    return model(
        graph(
            nodes,
            [info("v0")],
            [info(f"v{length}")],
            [weight("w", np.ones(2, np.float32))],
            value_info=[info(f"v{i}") for i in range(1, length)],
        )
    )


def linear(rows: int = 64, columns: int = 32) -> ModelProto:
    """x @ w + b with weights large enough to be stored outside of the model file."""
    generator = np.random.default_rng(0)
    return model(
        graph(
            [node("MatMul", ["x", "w"], ["h"], name="mm"), node("Add", ["h", "b"], ["y"])],
            [info("x", ("n", rows))],
            [info("y", ("n", columns))],
            [
                weight("w", generator.standard_normal((rows, columns), dtype=np.float32)),
                weight("b", generator.standard_normal(columns, dtype=np.float32)),
            ],
        )
    )


def branches(then_nodes, then_output: str, *, then_initializers=()) -> ModelProto:
    """An If whose then-branch is given; `a` = Relu(x) is visible in it."""
    then_graph = graph(then_nodes, [], [info(then_output)], then_initializers, "then")
    else_graph = graph([node("Neg", ["a"], ["e"])], [], [info("e")], name="else")
    return model(
        graph(
            [
                node("Relu", ["x"], ["a"], name="relu"),
                node("If", ["c"], ["y"], name="if", then_branch=then_graph, else_branch=else_graph),
            ],
            [info("x"), info("c", (), BOOL)],
            [info("y")],
        )
    )


def everything() -> ModelProto:
    """Functions, a subgraph with captures, metadata, unknown domains, optionals, shared names."""
    then_graph = graph(
        [node("Add", ["a", "tw"], ["t"], name="inner")],
        [],
        [info("t")],
        [weight("tw", np.array([1, 2], np.float32))],
        "then",
    )
    else_graph = graph(
        [
            node("Constant", [], ["k"], value=weight("", np.array([3, 4], np.float32))),
            node("Mul", ["a", "k"], ["e"]),
        ],
        [],
        [info("e")],
        name="else",
    )
    scaled = helper.make_function(
        "local",
        "Scaled",
        ["p"],
        ["r"],
        [
            node("Constant", [], ["alpha"]),
            node("Mul", ["p", "alpha"], ["r"], name="mul", doc_string="scales"),
        ],
        [helper.make_opsetid("", 17)],
        ["alpha"],
    )
    reference = AttributeProto(name="value_float", ref_attr_name="alpha", type=AttributeProto.FLOAT)
    scaled.node[0].attribute.append(reference)
    custom = node(
        "Opaque", ["u"], ["v", "", "v3"], domain="vendor.ops", name="same", ints=[1, 2], tag="t"
    )
    custom.metadata_props.add(key="z", value="1")
    custom.metadata_props.add(key="a", value="2")
    proto = model(
        graph(
            [
                node("Relu", ["x"], ["a"], name="same", doc_string="a doc"),
                node("If", ["c"], ["i"], name="", then_branch=then_graph, else_branch=else_graph),
                node("Scaled", ["i"], ["u"], domain="local", alpha=0.5),
                custom,
                node("Clip", ["v", "", "top"], ["y"], name="clip"),
                node("Identity", ["w"], ["copy"]),
            ],
            [info("x"), info("c", (), BOOL)],
            [info("y"), info("w"), info("copy"), info("v3", ("batch",))],
            [
                weight("w", np.array([5, 6], np.float32)),
                weight("top", np.array(6, np.float32)),
            ],
            value_info=[info("a"), info("v", ("n",))],
        ),
        imports=[helper.make_opsetid("vendor.ops", 3), helper.make_opsetid("local", 1)],
        functions=[scaled],
    )
    proto.producer_name, proto.producer_version = "tests", "1"
    proto.domain, proto.model_version, proto.doc_string = "org.tests", 7, "all of it"
    proto.metadata_props.add(key="author", value="nobody")
    proto.graph.doc_string = "graph doc"
    proto.graph.metadata_props.add(key="g", value="1")
    proto.graph.value_info[0].metadata_props.add(key="v", value="1")
    proto.graph.initializer[0].doc_string = "a weight"
    return proto


def with_external_weight(
    folder: Path, location: str, *, write: bool = True, offset: int = 0, nbytes: int = 4 * 64 * 32
) -> Path:
    """Saves `linear` with `w` as an external tensor at `location`; returns the model's path."""
    proto = linear()
    tensor = proto.graph.initializer[0]
    data = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, "offset": offset, "length": nbytes}.items():
        tensor.external_data.add(key=key, value=str(value))
    if write:
        (folder / location).parent.mkdir(parents=True, exist_ok=True)
        (folder / location).write_bytes(bytes(offset) + data)
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def canonical(proto: ModelProto) -> ModelProto:
    """A copy in which everything whose order ONNX calls irrelevant is sorted.

    Left out as well: a value_info that only repeats an initializer, or says nothing.
    """
    copy = ModelProto()
    copy.CopyFrom(proto)
    _sort(copy.metadata_props, "key")
    _sort(copy.opset_import, "domain")
    for function in copy.functions:
        for message in (function, *function.node):
            _sort(message.metadata_props, "key")
        _sort(function.value_info, "name")
    _canonical_graph(copy.graph)
    return copy


def _canonical_graph(graph_: GraphProto) -> None:
    initializers = {tensor.name for tensor in graph_.initializer}
    kept = [
        entry
        for entry in graph_.value_info
        if entry.metadata_props or (entry.name not in initializers and entry.HasField("type"))
    ]
    kept = list(GraphProto(value_info=kept).value_info)
    del graph_.value_info[:]
    graph_.value_info.extend(kept)
    _sort(graph_.value_info, "name")
    _sort(graph_.metadata_props, "key")
    for entry in (*graph_.value_info, *graph_.input, *graph_.output, *graph_.initializer):
        _sort(entry.metadata_props, "key")
    for node_ in graph_.node:
        _sort(node_.metadata_props, "key")
        _sort(node_.attribute, "name")
        for attribute in node_.attribute:
            if attribute.type == AttributeProto.GRAPH:
                _canonical_graph(attribute.g)


def _sort(field, key: str) -> None:
    entries = sorted(field, key=lambda entry: getattr(entry, key))
    copies = []
    for entry in entries:
        copy = type(entry)()
        copy.CopyFrom(entry)
        copies.append(copy)
    del field[:]
    field.extend(copies)
