"""Quantization: formats and their numbers, weights, ranges of activations, where it goes."""

from mpgraph.quant.opsets import required_opset
from mpgraph.quant.plan import (
    Form,
    Optimize,
    PlannedActivation,
    PlannedNode,
    PlannedWeight,
    QuantizationPlan,
)

__all__ = [
    "Form",
    "Optimize",
    "PlannedActivation",
    "PlannedNode",
    "PlannedWeight",
    "QuantizationPlan",
    "required_opset",
]
