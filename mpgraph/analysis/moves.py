"""Operators that move elements about, or flip their signs, and leave their magnitudes alone."""

from __future__ import annotations

__all__ = ["MOVES_ELEMENTS"]

MOVES_ELEMENTS = frozenset(
    [
        "Abs",
        "DepthToSpace",
        "Expand",
        "Flatten",
        "Gather",
        "GatherElements",
        "GatherND",
        "Identity",
        "Neg",
        "Reshape",
        "ReverseSequence",
        "Slice",
        "SpaceToDepth",
        "Split",
        "Squeeze",
        "Tile",
        "Transpose",
        "Unsqueeze",
    ]
)
"""The elements are those of operand 0; the others hold shapes or indices."""
