"""Products of an activation and a constant matrix that a target computes in 8 bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mpgraph import ir
from mpgraph.analysis import TypeFlow
from mpgraph.policy import QuantizationMode, Resolution
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.schema import integer
from mpgraph.targets import QuantizationRules

__all__ = ["Product", "find_products"]


@dataclass(frozen=True, eq=False)
class Product:
    """A MatMul or Gemm of the main graph with a constant matrix, in float32.

    Attributes:
        node: The node.
        activation: Its operand that is computed.
        weight: Its constant operand.
        transposed: Whether the constant is [outputs, inputs].
        mode: How it is to be quantized.
    """

    node: ir.Node
    activation: ir.Value
    weight: Constant
    transposed: bool
    mode: QuantizationMode

    @property
    def form(self) -> Literal["static", "dynamic"]:
        """How its mode takes ranges where there is data."""
        return "dynamic" if self.mode.ranges == "dynamic" else "static"

    def matrix(self) -> Array:
        """The constant as float32[inputs, outputs]."""
        array = np.asarray(self.weight.tensor.numpy(), np.float32)
        return array.T if self.transposed else array


def find_products(
    graph: ir.Graph,
    flow: TypeFlow,
    resolutions: Mapping[ir.Node, Resolution],
    rules: QuantizationRules,
) -> list[Product]:
    """The products that a policy with 8-bit activations selects and the target has kernels for.

    Args:
        graph: The main graph of the model.
        flow: The types of its values.
        resolutions: The policy of every node.
        rules: What the target fuses.
    """
    known: dict[ir.Value, Constant | None] = {}
    found = []
    for node in graph:
        mode = resolutions[node].policy.mode
        if mode is None or mode.activation_dtype not in ("int8", "uint8"):
            continue
        if node.op_type not in ("MatMul", "Gemm") or node.domain != "":
            continue
        if node.op_type not in (rules.dynamic if mode.ranges == "dynamic" else rules.anchors):
            continue
        product = _product(node, mode, flow, known)
        if product is not None and product.activation.graph is graph:
            found.append(product)
    return found


def _product(
    node: ir.Node,
    mode: QuantizationMode,
    flow: TypeFlow,
    known: dict[ir.Value, Constant | None],
) -> Product | None:
    activation, operand = node.inputs[0], node.inputs[1]
    weight = find_constant(operand, known)
    if activation is None or weight is None or find_constant(activation, known) is not None:
        return None
    if integer(node, "transA", 0, {}) or len(weight.shape) != 2 or weight.tensor.size == 0:
        return None
    if flow.dtype(activation) != ir.DataType.FLOAT or weight.tensor.dtype != ir.DataType.FLOAT:
        return None
    return Product(node, activation, weight, bool(integer(node, "transB", 0, {})), mode)
