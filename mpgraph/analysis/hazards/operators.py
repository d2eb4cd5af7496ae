"""What operators do to the magnitudes of their operands."""

from __future__ import annotations

from mpgraph.analysis.moves import MOVES_ELEMENTS

__all__ = ["BOUNDING", "MOVES"]

MOVES = MOVES_ELEMENTS | {"Cast", "CastLike"}
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
