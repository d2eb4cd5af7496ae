"""Rounding of weights that looks at what they are multiplied with."""

from mpgraph.quant.algorithms.awq import awq
from mpgraph.quant.algorithms.gptq import gptq
from mpgraph.quant.algorithms.rounding import Rounded, output_error, round_to_nearest

__all__ = ["Rounded", "awq", "gptq", "output_error", "round_to_nearest"]
