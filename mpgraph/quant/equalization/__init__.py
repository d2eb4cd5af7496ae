"""Channels of activations that may be scaled at will, and the scales that rounding asks for."""

from mpgraph.quant.equalization.factors import Rounding, channel_factors
from mpgraph.quant.equalization.gates import Gate, find_gates
from mpgraph.quant.equalization.groups import Group, Reader, find_groups
from mpgraph.quant.equalization.statistics import Channels, ChannelStatistics

__all__ = [
    "ChannelStatistics",
    "Channels",
    "Gate",
    "Group",
    "Reader",
    "Rounding",
    "channel_factors",
    "find_gates",
    "find_groups",
]
