"""Where quantization goes: which nodes, which values, which constants."""

from mpgraph.quant.placement.asked import asked_values
from mpgraph.quant.placement.decide import decide

__all__ = ["asked_values", "decide"]
