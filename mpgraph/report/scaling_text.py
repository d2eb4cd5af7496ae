"""The powers of two of a plan, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mpgraph.plan import Plan, PlannedFactor

__all__ = ["factor_lines", "scaling_summary"]


def scaling_summary(plan: Plan) -> str:
    """One sentence about all factors; empty where there are none."""
    held = [one.power for one in plan.scaling if one.kind == "value"]
    if not plan.scaling:
        return ""
    products = {
        (one.name, one.power, one.dtype)
        for one in plan.scaling
        if one.kind in ("operand", "output")
    }
    kinds = Counter(one.kind for one in plan.scaling)
    text = f"{_count(len(held), 'value')} {'is' if len(held) == 1 else 'are'} held"
    text += f" times {_range(held)}" if held else ""
    means = [_count(kinds["constant"], "scaled constant"), _count(kinds["epsilon"], "epsilon")]
    means.append(_count(len(products), "Mul node"))
    return f"Range scaling: {text}, by {' and '.join((', '.join(means[:2]), means[2]))}."


def factor_lines(plan: Plan, key: str) -> Iterator[str]:
    """What is multiplied by a power of two at one node, one line each."""
    for one in plan.scaling:
        if one.key == key:
            yield _line(one)


def _line(one: PlannedFactor) -> str:
    power = f"2^{one.power}"
    if one.kind == "value":
        return f"result {one.index} is held times {power} ({one.reason})"
    if one.kind == "constant":
        return f"constant {one.name} is taken times {power} ({one.reason})"
    if one.kind == "epsilon":
        return f"epsilon is taken times {power} ({one.reason})"
    place = "input" if one.kind == "operand" else "output"
    return f"before {place} {one.index}: {one.name} times {power} in {one.dtype} ({one.reason})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _range(powers: list[int]) -> str:
    least, most = f"2^{max(powers)}", f"2^{min(powers)}"
    return least if least == most else f"{least} to {most}"
