"""What operators do to the magnitudes of their operands."""

from __future__ import annotations

__all__ = ["BOUNDING", "MOVES"]

MOVES = frozenset(
    [
        "Abs",
        "Cast",
        "CastLike",
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
"""Operators that hand the magnitudes of their first operand on as they are."""

BOUNDING = frozenset(
    [
        "Softmax",
        "Sigmoid",
        "HardSigmoid",
        "Tanh",
        "Erf",
        "Softsign",
        "Sign",
        "Sin",
        "Cos",
        "Atan",
        "LayerNormalization",
        "InstanceNormalization",
        "GroupNormalization",
        "RMSNormalization",
        "LpNormalization",
        "MeanVarianceNormalization",
        "Exp",
        "Clip",
        "Shape",
        "Size",
        "Hardmax",
        "Reciprocal",
    ]
)
"""Operators whose result stays in range although an operand does not."""
