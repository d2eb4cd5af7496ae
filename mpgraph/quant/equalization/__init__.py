"""Channels of activations that may be scaled at will, and the scales that rounding asks for."""

from mpgraph.quant.equalization.factors import Rounding, channel_factors
from mpgraph.quant.equalization.gates import Gate, find_gates
from mpgraph.quant.equalization.group import Group, Reader
from mpgraph.quant.equalization.groups import find_groups
from mpgraph.quant.equalization.rescaling import Rescaler, find_convolution
from mpgraph.quant.equalization.statistics import Channels, ChannelStatistics

__all__ = [
    "ChannelStatistics",
    "Channels",
    "Gate",
    "Group",
    "Reader",
    "Rescaler",
    "Rounding",
    "channel_factors",
    "find_convolution",
    "find_gates",
    "find_groups",
]
