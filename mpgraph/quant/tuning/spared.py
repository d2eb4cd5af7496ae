"""Which parts of a quantized model must stay in float for its outputs to be close enough."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

__all__ = ["spared_parts"]

_TRIES = 5
"""How often the sum that is allowed is halved at most."""

_LEAST = 0.05
"""What a part is worth that gains nothing, beside the best: it may stand between some that do."""


def spared_parts(
    error: Callable[[Collection[int]], float],
    count: int,
    limit: float,
    *,
    tolerated: float = 0.0,
    gains: Sequence[float] | None = None,
) -> Mapping[int, float]:
    """The parts to leave in float, each with the error of the outputs when it alone is rounded.

    Energies of independent errors add up. So parts are rounded in the order of their own error over
    what they gain, the least first, as long as the sum stays below the limit; where parts do more
    together than that, the sum is allowed half as much, and half of it again.

    Args:
        error: Measures the relative squared error of the outputs when the given parts are rounded.
        count: How many parts there are.
        limit: What it may be.
        tolerated: What it may be when all are rounded, if that is more.
        gains: What rounding each part is worth; by default all are worth the same.

    Returns:
        The parts; none where all of them can be rounded.
    """
    parts = range(count)
    if error(parts) <= max(limit, tolerated):
        return {}
    alone = [error([part]) for part in parts]
    highest = max(gains, default=0) if gains is not None else 0
    worth = [1.0] * count
    if gains is not None and highest > 0:
        worth = [max(gain / highest, _LEAST) for gain in gains]
    order = sorted(parts, key=lambda part: alone[part] / worth[part])
    allowed = limit
    rounded = _affordable(order, alone, allowed)
    for _ in range(_TRIES):
        if not rounded or error(rounded) <= limit:
            break
        allowed /= 2
        rounded = _affordable(order, alone, allowed)
    return {part: alone[part] for part in parts if part not in rounded}


def _affordable(order: Sequence[int], alone: Sequence[float], allowed: float) -> set[int]:
    """The parts, in order, whose errors add up to what is allowed, without those beyond it."""
    chosen, total = set(), 0.0
    for part in order:
        if total + alone[part] <= allowed:
            total += alone[part]
            chosen.add(part)
    return chosen
