"""Trials whose errors and times are made up."""

from __future__ import annotations

import math

from mpgraph.limiting.times import NodeGain
from mpgraph.quant import PlannedNode
from mpgraph.quant.sensitivity import Latency


class MadeUp:
    """Stands in for ``Trials`` and ``GatedErrors``: errors of nodes add up in squares.

    Args:
        errors: The error of each node by itself.
        gains: Milliseconds in float and quantized of each node.
        latency: The ratio of times, by the nodes that are quantized.
    """

    def __init__(self, errors, gains=None, latency=None):
        self.nodes = [
            PlannedNode(f"main#{place}", "", "Conv", "", "int8", "static", True, "")
            for place in range(len(errors))
        ]
        self.everything = frozenset(range(len(errors)))
        self._errors = errors
        self._gains = gains
        self._latency = latency
        self.timed = []

    def error(self, quantized):
        return math.sqrt(sum(self._errors[part] ** 2 for part in quantized))

    of = roughly = error

    def gains(self, kept):
        if self._gains is None:
            return None
        return [NodeGain(before / 1e3, after / 1e3) for before, after in self._gains]

    def latency(self, kept):
        quantized = self.everything - kept
        if self._latency is None or not quantized:
            return None
        self.timed.append(kept)
        ratio = self._latency(quantized)
        return Latency(ratio, ratio - 0.005, ratio + 0.005)
