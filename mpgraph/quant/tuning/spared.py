"""Which parts of a quantized model must stay in float for its outputs to be close enough."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

__all__ = ["spared_parts"]

_TRIES = 6
"""Steps of the bisection."""

_LEAST = 0.05
"""What a part is worth that gains nothing, beside the best: it may stand between some that do."""


def spared_parts(
    error: Callable[[Collection[int]], float],
    parts: Sequence[int],
    limit: float,
    *,
    tolerated: float = 0.0,
    gains: Sequence[float] | None = None,
) -> Mapping[int, float]:
    """The parts to leave in float, each with the error of the outputs when it alone is rounded.

    Energies of independent errors add up. So parts are rounded in the order of their own error over
    what they gain, the least first, as long as the sum stays below the limit; where parts do more
    together than that, the sum that they may have is found by bisection.

    Args:
        error: Measures the relative squared error of the outputs when the given parts are rounded.
        parts: Their numbers.
        limit: What it may be.
        tolerated: What it may be when all are rounded, if that is more.
        gains: What rounding each part is worth, by its number; by default all are worth the same.

    Returns:
        The parts; none where all of them can be rounded.
    """
    if error(parts) <= max(limit, tolerated):
        return {}
    alone = {part: error([part]) for part in parts}
    worth = _worth(parts, gains)
    order = sorted(parts, key=lambda part: alone[part] / worth[part])
    rounded = _affordable(order, alone, limit)
    if rounded and error(rounded) > limit:
        rounded = _bisected(lambda allowed: _affordable(order, alone, allowed), error, limit)
    return {part: alone[part] for part in parts if part not in rounded}


def _bisected(
    affordable: Callable[[float], frozenset[int]],
    error: Callable[[Collection[int]], float],
    limit: float,
) -> frozenset[int]:
    """The parts that the greatest sum below a limit affords of which all together keep it."""
    kept: frozenset[int] = frozenset()
    low, high = 0.0, limit
    for _ in range(_TRIES):
        middle = (low + high) / 2
        tried = affordable(middle)
        if tried == kept or error(tried) <= limit:
            kept, low = tried, middle
        else:
            high = middle
    return kept


def _worth(parts: Sequence[int], gains: Sequence[float] | None) -> dict[int, float]:
    """What rounding each part is worth, beside the best."""
    highest = 0 if gains is None else max((gains[part] for part in parts), default=0)
    if gains is None or highest <= 0:
        return dict.fromkeys(parts, 1.0)
    return {part: max(gains[part] / highest, _LEAST) for part in parts}


def _affordable(order: Sequence[int], alone: Mapping[int, float], allowed: float) -> frozenset[int]:
    """The parts, in order, whose errors add up to what is allowed, without those beyond it."""
    chosen: set[int] = set()
    total = 0.0
    for part in order:
        if total + alone[part] <= allowed:
            total += alone[part]
            chosen.add(part)
    return frozenset(chosen)
