"""Single nodes and tensors moved from a low dtype to float32, values unchanged."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from mpgraph import ir

__all__ = ["as_identity", "bound_clip", "retype_attributes", "widened"]

_FLOAT = ir.DataType.FLOAT

# Integer attributes that hold a dtype: of the result, or of the computation inside. "to" of Cast
# is not among them: there the dtype is the operation itself.
_DTYPE_ATTRIBUTES: Mapping[str, Collection[str]] = {
    "dtype": (
        "Bernoulli",
        "EyeLike",
        "RandomNormal",
        "RandomNormalLike",
        "RandomUniform",
        "RandomUniformLike",
        "SequenceEmpty",
        "DequantizeBFP",
        "GemmFloat8",
    ),
    "output_datatype": ("BlackmanWindow", "HammingWindow", "HannWindow", "MelWeightMatrix"),
    "output_dtype": ("DequantizeLinear",),
    "precision": ("QuantizeLinear",),
    "softmax_precision": ("Attention",),
    "stash_type": (
        "GroupNormalization",
        "LayerNormalization",
        "RMSNormalization",
        "SimplifiedLayerNormalization",
        "SkipSimplifiedLayerNormalization",
    ),
}


def widened(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    """A float32 tensor of the same values; every value of a low dtype is one of float32."""
    return ir.derived_tensor(tensor, lambda array: array.astype(np.float32), _FLOAT)


def retype_attributes(node: ir.Node, low: Collection[ir.DataType]) -> None:
    """Make every attribute of ``node`` that names or holds a dtype of ``low`` a float32 one.

    Cast's "to" stays; subgraphs are not entered.
    """
    for name, attr in list(node.attributes.items()):
        if attr.is_ref():
            continue
        if attr.type == ir.AttributeType.INT:
            ops = _DTYPE_ATTRIBUTES.get(name, ())
            if node.op_type in ops and attr.as_int() in low:
                node.attributes[name] = ir.AttrInt64(name, int(_FLOAT))
        elif attr.type == ir.AttributeType.TENSOR:
            if attr.as_tensor().dtype in low:
                node.attributes[name] = ir.AttrTensor(name, widened(attr.as_tensor()))
        elif attr.type == ir.AttributeType.TENSORS:
            tensors = attr.as_tensors()
            if any(tensor.dtype in low for tensor in tensors):
                wide = [widened(tensor) if tensor.dtype in low else tensor for tensor in tensors]
                node.attributes[name] = ir.Attr(name, attr.type, wide)
        elif attr.type == ir.AttributeType.TYPE_PROTO:
            held = attr.value
            if ir.element_dtype(held.type) in low:
                retyped = type(held)(ir.with_element_dtype(held.type, _FLOAT), held.shape)
                node.attributes[name] = ir.Attr(name, attr.type, retyped)


def as_identity(node: ir.Node) -> None:
    """Make a Cast or CastLike an Identity of its first operand."""
    node.op_type = "Identity"
    node.attributes.clear()
    node.resize_inputs(1)


def bound_clip(
    node: ir.Node, dtype: ir.DataType, imports: Mapping[str, int], namer: ir.Namer
) -> None:
    """Give a Clip of ``dtype`` the bounds that it has by default: the range of ``dtype``.

    An infinite operand of a float16 Clip without bounds comes out as 65504.
    """
    graph = node.graph
    if graph is None or (ir.opset_of("", imports) or 0) < 11:
        return
    node.resize_inputs(3)
    largest = ir.limits(dtype).max
    for index, bound in ((1, -largest), (2, largest)):
        if node.inputs[index] is not None:
            continue
        value = ir.Value(
            name=namer.value_name(f"{node.outputs[0].name}.{'min' if index == 1 else 'max'}"),
            type=ir.TensorType(_FLOAT),
            shape=ir.Shape(()),
        )
        constant = ir.Node(
            "",
            "Constant",
            [],
            [ir.AttrFloat32("value_float", bound)],
            outputs=[value],
            name=namer.node_name(f"{value.name}"),
        )
        graph.insert_before(node, constant)
        node.replace_input_with(index, value)
