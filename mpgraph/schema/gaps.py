"""Where a schema allows a low float type that the operator's definition then cannot hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mpgraph import ir

__all__ = ["GAPS", "SchemaGap", "schema_gap"]

_LOW = frozenset({ir.DataType.FLOAT16, ir.DataType.BFLOAT16})


@dataclass(frozen=True, slots=True)
class SchemaGap:
    """One low type that must not be given to an operator although its schema lists it.

    Attributes:
        domain: The operator's domain.
        op_type: The operator.
        dtypes: The types that it must not get.
        applies: Whether a given node is concerned.
        reason: What goes wrong.
    """

    domain: str
    op_type: str
    dtypes: frozenset[ir.DataType]
    applies: Callable[[ir.Node], bool]
    reason: str


def _always(node: ir.Node) -> bool:
    return True


def _returns_masked_scores(node: ir.Node) -> bool:
    if len(node.outputs) < 4 or not node.outputs[3].name:
        return False
    causal = node.attributes.get("is_causal")
    masked = len(node.inputs) > 3 and node.inputs[3] is not None
    return masked or (causal is not None and not causal.is_ref() and causal.as_int() == 1)


GAPS: tuple[SchemaGap, ...] = (
    SchemaGap(
        "",
        "MeanVarianceNormalization",
        _LOW,
        _always,
        "its definition adds a float32 epsilon to its operand's type",
    ),
    SchemaGap(
        "",
        "Attention",
        _LOW,
        _returns_masked_scores,
        "the masked scores that it returns reach the lowest float32",
    ),
    SchemaGap(
        "ai.onnx.ml",
        "TreeEnsemble",
        _LOW,
        _always,
        "its thresholds are attributes of the operand's type",
    ),
    SchemaGap("", "BitCast", _LOW, _always, "it reads the bits of its operand"),
)
"""Found by converting ONNX's backend node tests; each entry has a test there."""


def schema_gap(node: ir.Node, dtype: ir.DataType) -> str:
    """Why ``node`` must not work in ``dtype`` whatever its schema says; empty if it may."""
    for gap in GAPS:
        if (gap.domain, gap.op_type) != (node.domain, node.op_type):
            continue
        if dtype in gap.dtypes and gap.applies(node):
            return gap.reason
    return ""
