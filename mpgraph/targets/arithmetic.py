"""How a provider computes inside one operator of float16, where that changes its results."""

from __future__ import annotations

from dataclasses import dataclass

from mpgraph import ir

__all__ = ["ROUNDS_ONCE", "Arithmetic"]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What is rounded before the result of a float16 operator is.

    Attributes:
        accumulator: The dtype in which MatMul, Gemm and Conv of float16 add up their products.
        stepwise: The operators, by type, that are computed in several steps of float16, each of
            which rounds.
    """

    accumulator: ir.DataType = ir.DataType.FLOAT
    stepwise: frozenset[str] = frozenset()

    @property
    def rounds_once(self) -> bool:
        """Whether every operator computes in float32 and rounds its result alone."""
        return self.accumulator == ir.DataType.FLOAT and not self.stepwise


ROUNDS_ONCE = Arithmetic()
"""Computes in float32 and rounds each result, as the matrix products of CUDA do."""
