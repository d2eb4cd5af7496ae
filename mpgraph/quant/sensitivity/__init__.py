"""Which nodes to leave in float so that the outputs of a quantized model stay close enough."""

from mpgraph.quant.sensitivity.gains import coarse_gains, owners, seconds_of
from mpgraph.quant.sensitivity.gating import Gated, carriers, gate, gateable, in_order
from mpgraph.quant.sensitivity.groups import neighbours
from mpgraph.quant.sensitivity.kept import (
    KeptFloat,
    KeptNode,
    Latency,
    SearchProgress,
    Sensitivity,
)
from mpgraph.quant.sensitivity.lazy import compute_lazily
from mpgraph.quant.sensitivity.search import (
    Measure,
    Part,
    choose_kept,
    measure_alone,
    release,
    search_kept,
)

__all__ = [
    "Gated",
    "KeptFloat",
    "KeptNode",
    "Latency",
    "Measure",
    "Part",
    "SearchProgress",
    "Sensitivity",
    "carriers",
    "choose_kept",
    "coarse_gains",
    "compute_lazily",
    "gate",
    "gateable",
    "in_order",
    "measure_alone",
    "neighbours",
    "owners",
    "release",
    "search_kept",
    "seconds_of",
]
