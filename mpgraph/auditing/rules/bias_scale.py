"""MPG302: a quantized bias whose scale is not that of the products it is added to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mpgraph import ir
from mpgraph.auditing.context import Context
from mpgraph.auditing.rules.rule import Found, Rule

__all__ = ["RULE"]

_BIAS = 2
_TOLERANCE = 1e-4
_WITH_BIAS = frozenset({"Conv", "ConvTranspose", "Gemm"})


def _search(context: Context) -> Iterator[Found]:
    for _, node in context.subject.nodes():
        if node.op_type not in _WITH_BIAS or node.domain != "" or len(node.inputs) <= _BIAS:
            continue
        scales = [_scale(context, value) for value in node.inputs[: _BIAS + 1]]
        operand, weight, bias = scales
        if operand is None or weight is None or bias is None:
            continue
        products = operand * weight
        if _fits(products, bias):
            continue
        ratio = _ratio(bias, products)
        yield Found(
            finding="bias scale differs from input_scale * weight_scale",
            evidence=f"{ratio:.4g} times the product"
            if ratio
            else f"{bias.size} scales of the bias, {products.size} of the product",
            suggestion="quantize the bias again with input_scale * weight_scale, or keep it float",
            value=node.inputs[_BIAS],
            node=node,
        )


def _ratio(bias: NDArray[np.float64], products: NDArray[np.float64]) -> float:
    """How many times the product the first scale is; 0 where there is no such number."""
    if products.size not in (1, bias.size) or not products.flat[0]:
        return 0.0
    return float(bias.flat[0] / products.flat[0])


def _fits(products: NDArray[np.float64], bias: NDArray[np.float64]) -> bool:
    if bias.size not in (1, products.size) and products.size != 1:
        return False
    return bool(np.allclose(bias, products, rtol=_TOLERANCE, atol=0.0))


def _scale(context: Context, value: ir.Value | None) -> NDArray[np.float64] | None:
    """The constant scales by which a value is dequantized; None where it is not."""
    node = None if value is None else value.producer()
    if node is None or node.op_type != "DequantizeLinear":
        return None
    scale = node.inputs[1]
    if scale is None or scale not in context.weights.ranges:
        return None
    array: NDArray[np.float64] = (
        context.weights.tensors[scale].numpy().reshape(-1).astype(np.float64)
    )
    return array


RULE = Rule(
    code="MPG302",
    kind="bias-scale",
    title="bias scale differs from input_scale * weight_scale",
    severity="warning",
    explanation="""
The int32 bias of a quantized Conv or Gemm is added to sums of integer products, whose scale is the
scale of the input times the scale of the weight. A bias with another scale cannot be added in
integers: onnxruntime leaves the node in float, other runtimes ignore the scale and add it as it is.

Example: an input scale that was changed after the bias had been quantized.

Quantize the bias again with scale input_scale * weight_scale and zero point 0.
""",
    search=_search,
)
