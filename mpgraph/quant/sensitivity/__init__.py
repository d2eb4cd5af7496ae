"""Which nodes to leave in float so that the outputs of a quantized model stay close enough."""

from mpgraph.quant.sensitivity.gains import coarse_gains, owners, seconds_of
from mpgraph.quant.sensitivity.gating import Gated, carriers, gate, gateable, in_order
from mpgraph.quant.sensitivity.kept import (
    KeptFloat,
    KeptNode,
    Latency,
    SearchProgress,
    Sensitivity,
)
from mpgraph.quant.sensitivity.search import Part, choose_kept, measure_alone, search_kept

__all__ = [
    "Gated",
    "KeptFloat",
    "KeptNode",
    "Latency",
    "Part",
    "SearchProgress",
    "Sensitivity",
    "carriers",
    "choose_kept",
    "coarse_gains",
    "gate",
    "gateable",
    "in_order",
    "measure_alone",
    "owners",
    "search_kept",
    "seconds_of",
]
