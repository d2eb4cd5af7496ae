"""Places that a quantization plan names."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Place", "place_of"]


class Place(NamedTuple):
    """An operand of a node, or an output of a graph.

    Attributes:
        key: The node, such as ``main#12``, or the path of the graph.
        position: Which operand or output.
    """

    key: str
    position: int


def place_of(text: str) -> Place:
    """The place that a text such as ``main#12:0`` names."""
    key, _, index = text.rpartition(":")
    return Place(key, int(index))
