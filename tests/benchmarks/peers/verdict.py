"""When a result counts as right."""

from __future__ import annotations

from tests.benchmarks.peers.result import Result, Verdict

__all__ = ["LARGEST_ERROR", "LEAST_SQNR", "judged"]

LARGEST_ERROR = 1e-2
"""Of a result in low floats, over the range of the output."""

LEAST_SQNR = 10.0
"""In dB, of a quantized result; below, noise is a third of the signal or more."""

_SMALLER = 0.95
# In dB; a model whose constants were folded is smaller, and computes the same.
_SAME_SQNR = 100.0


def judged(result: Result) -> Verdict:
    """The verdict on what was measured."""
    if result.stage:
        return "broken"
    if _is_untouched(result):
        return "untouched"
    if result.error is None or result.least_db is None:
        return "right"
    if result.suite in ("int8", "int4", "matmuls", "weights-int4"):
        return "right" if result.least_db >= LEAST_SQNR else "wrong values"
    return "right" if result.error <= LARGEST_ERROR else "wrong values"


def _is_untouched(result: Result) -> bool:
    if result.low != 0 or result.size_before is None or result.size_after is None:
        return False
    differs = result.least_db is not None and result.least_db < _SAME_SQNR
    return result.size_after > _SMALLER * result.size_before or not differs
