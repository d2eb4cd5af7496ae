"""One small network as three exporters name its nodes, taken down from real exports.

The network has two blocks of attention (a Linear and a softmax) and a Sequential of a Linear, a
ReLU and a further Sequential, then a head. torch 2.13 wrote the names and metadata of the first
two; the third is the same in Keras 3.15, by tf2onnx 1.17, where a Dense is MatMul and bias.
"""

from __future__ import annotations

from mpgraph import ir

TORCHSCRIPT = (
    ("Gemm", "/layers.0/attention/query/Gemm"),
    ("Softmax", "/layers.0/attention/Softmax"),
    ("Gemm", "/layers.0/ffn/ffn.0/Gemm"),
    ("Relu", "/layers.0/ffn/ffn.1/Relu"),
    ("Gemm", "/layers.0/ffn/ffn.2/ffn.2.0/Gemm"),
    ("Tanh", "/layers.0/ffn/ffn.2/ffn.2.1/Tanh"),
    ("Add", "/layers.0/Add"),
    ("Gemm", "/layers.1/attention/query/Gemm"),
    ("Softmax", "/layers.1/attention/Softmax"),
    ("Gemm", "/layers.1/ffn/ffn.0/Gemm"),
    ("Relu", "/layers.1/ffn/ffn.1/Relu"),
    ("Gemm", "/layers.1/ffn/ffn.2/ffn.2.0/Gemm"),
    ("Tanh", "/layers.1/ffn/ffn.2/ffn.2.1/Tanh"),
    ("Add", "/layers.1/Add"),
    ("Gemm", "/head/Gemm"),
    ("Sigmoid", "/Sigmoid"),
)
TORCH_EXPORT = (
    ("Gemm", "node_linear", "layers.0 layers.0.attention layers.0.attention.query"),
    ("Softmax", "node_softmax", "layers.0 layers.0.attention"),
    ("Gemm", "node_linear_1", "layers.0 layers.0.ffn layers.0.ffn.0"),
    ("Relu", "node_relu", "layers.0 layers.0.ffn layers.0.ffn.1"),
    ("Gemm", "node_linear_2", "layers.0 layers.0.ffn layers.0.ffn.2 layers.0.ffn.2.0"),
    ("Tanh", "node_tanh", "layers.0 layers.0.ffn layers.0.ffn.2 layers.0.ffn.2.1"),
    ("Add", "node_add", "layers.0"),
    ("Gemm", "node_linear_3", "layers.1 layers.1.attention layers.1.attention.query"),
    ("Softmax", "node_softmax_1", "layers.1 layers.1.attention"),
    ("Gemm", "node_linear_4", "layers.1 layers.1.ffn layers.1.ffn.0"),
    ("Relu", "node_relu_1", "layers.1 layers.1.ffn layers.1.ffn.1"),
    ("Gemm", "node_linear_5", "layers.1 layers.1.ffn layers.1.ffn.2 layers.1.ffn.2.0"),
    ("Tanh", "node_tanh_1", "layers.1 layers.1.ffn layers.1.ffn.2 layers.1.ffn.2.1"),
    ("Add", "node_add_1", "layers.1"),
    ("Gemm", "node_linear_10", "head"),
    ("Sigmoid", "node_sigmoid", ""),
)
"""Operator, name, and the modules around the node, the outermost first."""

TF2ONNX = (
    ("MatMul", "mymodel_1/block_0_1/d1_1/MatMul"),
    ("Relu", "mymodel_1/block_0_1/d1_1/Relu"),
    ("MatMul", "mymodel_1/block_0_1/d2_1/MatMul"),
    ("MatMul", "mymodel_1/block_0_1/ffn_1/dense_1/MatMul"),
    ("Relu", "mymodel_1/block_0_1/ffn_1/relu_1/Relu"),
    ("MatMul", "mymodel_1/block_1_1/d1_1/MatMul"),
    ("Relu", "mymodel_1/block_1_1/d1_1/Relu"),
    ("MatMul", "mymodel_1/block_1_1/d2_1/MatMul"),
    ("MatMul", "mymodel_1/block_1_1/ffn_1/dense_1/MatMul"),
    ("Relu", "mymodel_1/block_1_1/ffn_1/relu_1/Relu"),
    ("Softmax", "mymodel_1/probs_1/Softmax"),
)


def torchscript() -> ir.Model:
    """As `torch.onnx.export(..., dynamo=False)` names them."""
    return _model([ir.node(op_type, [], name=name) for op_type, name in TORCHSCRIPT])


def torch_export(*, only_namespace: bool = False) -> ir.Model:
    """As `torch.onnx.export(..., dynamo=True)` does, with its metadata or the older part of it."""
    nodes = [ir.node(op_type, [], name=name) for op_type, name, _ in TORCH_EXPORT]
    for node, (_, name, modules) in zip(nodes, TORCH_EXPORT, strict=True):
        target = name.removeprefix("node_")
        paths = ["", *modules.split(), target]
        classes = ["__main__.Module" for _ in paths[1:]] + ["aten.default"]
        node.metadata_props["namespace"] = "/".join(
            map(": ".join, zip(paths, classes, strict=True))
        )
        if not only_namespace:
            node.metadata_props["pkg.torch.onnx.class_hierarchy"] = repr(classes)
            node.metadata_props["pkg.torch.onnx.name_scopes"] = repr(paths)
    return _model(nodes)


def tf2onnx() -> ir.Model:
    """As `tf2onnx.convert.from_keras` names them."""
    return _model([ir.node(op_type, [], name=name) for op_type, name in TF2ONNX])


def _model(nodes: list[ir.Node]) -> ir.Model:
    return ir.Model(ir.Graph([], [], nodes=nodes, opset_imports={"": 20}), ir_version=10)
