"""The dtype in which a node computes."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow

__all__ = ["QUANTIZED_OPERANDS", "compute_dtype"]

_CONTRIB = "com.microsoft"

QUANTIZED_OPERANDS: dict[tuple[str, str], tuple[int, int | None, int]] = {
    ("", "QLinearConv"): (3, 4, 5),
    ("", "QLinearMatMul"): (3, 4, 5),
    ("", "ConvInteger"): (1, None, 3),
    ("", "MatMulInteger"): (1, None, 3),
    (_CONTRIB, "QLinearConv"): (3, 4, 5),
    (_CONTRIB, "QGemm"): (3, 4, 5),
    (_CONTRIB, "QLinearAdd"): (0, 1, 2),
    (_CONTRIB, "QLinearAveragePool"): (0, 1, 2),
    (_CONTRIB, "QLinearConcat"): (2, 3, 4),
    (_CONTRIB, "QLinearGlobalAveragePool"): (0, 1, 2),
    (_CONTRIB, "QLinearLeakyRelu"): (0, 1, 2),
    (_CONTRIB, "QLinearMul"): (0, 1, 2),
    (_CONTRIB, "QLinearReduceMean"): (0, 1, 2),
    (_CONTRIB, "QLinearSigmoid"): (0, 1, 2),
    (_CONTRIB, "QLinearSoftmax"): (0, 1, 2),
    (_CONTRIB, "QLinearWhere"): (1, 2, 3),
    (_CONTRIB, "MatMulInteger16"): (1, None, 3),
    (_CONTRIB, "MatMulIntegerToFloat"): (1, 3, 5),
    (_CONTRIB, "DynamicQuantizeMatMul"): (1, 2, 3),
}
"""Operators on quantized numbers: the quantized operand, its scale and its zero point.

Where one operand is a weight it is that one.
"""


def compute_dtype(node: ir.Node, flow: TypeFlow) -> ir.DataType | None:
    """The dtype of the first float that a node writes or reads, else of its first value.

    Operators on quantized numbers compute in the dtype of these, although their scales are floats.
    """
    quantized = QUANTIZED_OPERANDS.get((node.domain, node.op_type))
    if quantized is not None and quantized[0] < len(node.inputs):
        return flow.dtype(node.inputs[quantized[0]])
    found = [flow.dtype(value) for value in (*node.outputs, *node.inputs)]
    floats = (dtype for dtype in found if dtype in ir.FLOATS)
    return next(floats, None) or next((dtype for dtype in found if dtype is not None), None)
