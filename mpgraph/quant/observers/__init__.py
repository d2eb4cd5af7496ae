"""Observers: ranges of values, from small accumulators that can be merged."""

from mpgraph.quant.observers.accumulator import Accumulator, Range
from mpgraph.quant.observers.masks import LeftOut
from mpgraph.quant.observers.observer import METHODS, Method, Observer
from mpgraph.quant.observers.summary import ORDINARY_BELOW, PART, Summary, summarize, summarize_part

__all__ = [
    "METHODS",
    "ORDINARY_BELOW",
    "PART",
    "Accumulator",
    "LeftOut",
    "Method",
    "Observer",
    "Range",
    "Summary",
    "summarize",
    "summarize_part",
]
