"""How much time the quantization of each node gains, from the times of kernels before and after."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from mpgraph import ir

__all__ = ["coarse_gains", "owners", "seconds_of"]

_LEAST = 1 / 64
"""The share of the largest gain that a node counts with where it gains less."""


def owners(model: ir.Model, results: Mapping[str, int]) -> dict[int, int]:
    """For which part each node of a quantized model is there.

    A node that computes the result of a part belongs to it. One that a pass inserted belongs to the
    part that it makes operands for, or else stands behind.

    Args:
        model: The model; nodes are named by their place in ``ir.nodes``.
        results: The parts by the name of the value that they compute.

    Returns:
        The part by node; negative numbers, ``-1 - part``, for nodes that only serve it.
    """
    nodes = list(ir.nodes(model))
    places = {node: place for place, node in enumerate(nodes)}
    found: dict[int, int] = {}
    for place, node in enumerate(nodes):
        for value in node.outputs:
            if value.name and value.name in results:
                found[place] = results[value.name]
    for node in reversed(nodes):
        place = places[node]
        if place in found or ir.origin(node) is None:
            continue
        readers = (places[use.node] for value in node.outputs for use in value.uses())
        served = next((found[reader] for reader in readers if reader in found), None)
        if served is not None:
            found[place] = served if served < 0 else -1 - served
    return found


def seconds_of(
    kernels: Iterable[tuple[frozenset[int], float]], owned: Mapping[int, int], count: int
) -> list[float]:
    """The seconds of each part: those of its kernels, and of the conversions before it.

    Args:
        kernels: The nodes and seconds of each kernel.
        owned: What ``owners`` gave.
        count: How many parts there are.
    """
    total = [0.0] * count
    for nodes, seconds in kernels:
        mine = {owned[node] for node in nodes if node in owned}
        parts = {part for part in mine if part >= 0} or {-1 - part for part in mine}
        for part in parts:
            total[part] += seconds / len(parts)
    return total


def coarse_gains(gains: Sequence[float], nothing: float = _LEAST) -> list[float]:
    """Gains as powers of two: times vary from run to run, and the order of parts should not.

    What gains next to nothing counts a little nevertheless, so that errors decide there.

    Args:
        gains: What each part gains.
        nothing: The share of the largest gain that a part counts with where it gains nothing.
    """
    largest = max(gains, default=0.0)
    if largest <= 0:
        return [1.0] * len(gains)
    least = largest * _LEAST
    return [
        2.0 ** round(math.log2(max(gain, least) / largest)) if gain > 0 else nothing
        for gain in gains
    ]
