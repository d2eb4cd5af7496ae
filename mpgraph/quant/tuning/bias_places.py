"""Where something can be added to each output channel of a product at no cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpgraph import ir
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.placement.constants import Constant, find_constant
from mpgraph.quant.placement.operands import gemm_factor

__all__ = ["BiasPlace", "find_bias_place"]

_BIAS = 2
"""The operand of Conv, ConvTranspose and Gemm that is their bias."""


@dataclass(frozen=True)
class BiasPlace:
    """An operand that is added to the products of a node.

    Attributes:
        node: The node that reads it: the one that multiplies, or the Add behind a MatMul.
        index: Which operand it is.
        constant: What is there now; None where nothing is.
        axis: The axis of the result that runs along the channels.
    """

    node: ir.Node
    index: int
    constant: Constant | None
    axis: int

    def less(self, errors: Array) -> Array:
        """What must be there, float32, so that each channel of the result is less by its error.

        Args:
            errors: float64[channels].
        """
        errors = errors / gemm_factor(self.node, "beta")
        if self.constant is None:
            return (-errors).astype(np.float32)
        known = np.asarray(self.constant.tensor.numpy(), np.float64)
        if known.size != errors.size:
            return (known.reshape(-1) - errors).astype(np.float32)
        return (known - errors.reshape(known.shape)).astype(np.float32)


def find_bias_place(node: ir.Node, known: dict[ir.Value, Constant | None]) -> BiasPlace | None:
    """The place for a node of the default domain; None where a node would have to be added.

    Args:
        node: A node that multiplies.
        known: Constants that were found already; others are added.
    """
    match node.op_type:
        case "Conv" | "ConvTranspose":
            return _own(node, 1, known)
        case "Gemm":
            return _own(node, -1, known) if gemm_factor(node, "beta") else None
        case "MatMul":
            return _added(node, known)
    return None


def _own(node: ir.Node, axis: int, known: dict[ir.Value, Constant | None]) -> BiasPlace | None:
    value = node.inputs[_BIAS] if len(node.inputs) > _BIAS else None
    if value is None:
        return BiasPlace(node, _BIAS, None, axis)
    constant = find_constant(value, known)
    return BiasPlace(node, _BIAS, constant, axis) if _is_vector(constant) else None


def _added(node: ir.Node, known: dict[ir.Value, Constant | None]) -> BiasPlace | None:
    uses = tuple(node.outputs[0].uses())
    if len(uses) != 1 or node.outputs[0].is_graph_output():
        return None
    add, index = uses[0].node, 1 - uses[0].idx
    if add.op_type != "Add" or add.domain != "" or add.graph is not node.graph:
        return None
    constant = find_constant(add.inputs[index], known)
    return BiasPlace(add, index, constant, -1) if _is_vector(constant) else None


def _is_vector(constant: Constant | None) -> bool:
    """Whether a constant is one number, or one per channel along its last axis."""
    if constant is None or constant.tensor.dtype != ir.DataType.FLOAT:
        return False
    size = int(constant.tensor.size)
    return size > 0 and size == (constant.shape[-1] if constant.shape else 1)
