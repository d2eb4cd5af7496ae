"""Quantization: formats and their numbers, weights, ranges of activations, where it goes."""

from mpgraph.quant.opsets import required_opset
from mpgraph.quant.plan import QuantizationPlan
from mpgraph.quant.planned import Form, Optimize, PlannedActivation, PlannedNode, PlannedWeight

__all__ = [
    "Form",
    "Optimize",
    "PlannedActivation",
    "PlannedNode",
    "PlannedWeight",
    "QuantizationPlan",
    "required_opset",
]
