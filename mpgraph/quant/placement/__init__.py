"""Where quantization goes: which nodes, which values, which constants."""

from mpgraph.quant.placement.decide import decide

__all__ = ["decide"]
