"""Collectors: each reads one kind of facts off a model."""

from mpgraph.auditing.collect.casts import collect_casts
from mpgraph.auditing.collect.layers import collect_layers
from mpgraph.auditing.collect.nodes import collect_nodes
from mpgraph.auditing.collect.placement import Placed, collect_placement
from mpgraph.auditing.collect.quantization import collect_quantization
from mpgraph.auditing.collect.unknown import collect_unknown
from mpgraph.auditing.collect.values import collect_values
from mpgraph.auditing.collect.weights import Weights, collect_weights

__all__ = [
    "Placed",
    "Weights",
    "collect_casts",
    "collect_layers",
    "collect_nodes",
    "collect_placement",
    "collect_quantization",
    "collect_unknown",
    "collect_values",
    "collect_weights",
]
