"""Which operands of a node are activations, weights and biases, and along which axes."""

from __future__ import annotations

from dataclasses import dataclass

from mpgraph import ir
from mpgraph.schema import integer

__all__ = ["WEIGHTED", "Operands", "gemm_factor", "is_padded", "operands_of"]

WEIGHTED = frozenset(["Conv", "ConvTranspose", "Gather", "Gemm", "MatMul"])
"""Operators of the default domain that modes are for."""


@dataclass(frozen=True, slots=True)
class Operands:
    """The operands of a node that multiplies, or that looks up rows of a table.

    Attributes:
        activation: The operand that is computed when the model runs.
        weight: The operand that may be constant.
        bias: The operand that is added to the products; None where there is none.
        channels: The axis of the weight that runs along the output channels.
        inputs: The axis along which products are summed; None where there are several.
    """

    activation: int
    weight: int
    bias: int | None
    channels: int
    inputs: int | None


def operands_of(node: ir.Node, weight_rank: int) -> Operands | None:
    """The operands of a node; None for an operator that no mode is for.

    Args:
        node: A node of the default domain.
        weight_rank: How many axes its weight has.
    """
    if node.domain != "":
        return None
    bias = 2 if len(node.inputs) > 2 and node.inputs[2] is not None else None
    match node.op_type:
        case "MatMul":
            return Operands(0, 1, None, weight_rank - 1, max(weight_rank - 2, 0))
        case "Gemm":
            transposed = bool(integer(node, "transB", 0, {}))
            return Operands(0, 1, bias, 0 if transposed else 1, 1 if transposed else 0)
        case "Conv":
            return Operands(0, 1, bias, 0, None)
        case "ConvTranspose":
            return Operands(0, 1, bias, 1, None)
        case "Gather":
            axis = integer(node, "axis", 0, {})
            return Operands(1, 0, None, axis % weight_rank if weight_rank else 0, None)
    return None


def gemm_factor(node: ir.Node, name: str) -> float:
    """The factor ``alpha`` or ``beta`` of a Gemm; 1 for every other node."""
    attribute = node.attributes.get(name)
    return 1.0 if attribute is None or node.op_type != "Gemm" else attribute.as_float()


def is_padded(node: ir.Node) -> bool:
    """Whether a convolution pads its input, or may do so by ``auto_pad``."""
    pads, automatic = node.attributes.get("pads"), node.attributes.get("auto_pad")
    return (pads is not None and any(pads.as_ints())) or (
        automatic is not None and automatic.as_string() not in ("NOTSET", "VALID")
    )
