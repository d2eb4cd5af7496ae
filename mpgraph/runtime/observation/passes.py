"""Which values leave the graph together, so that memory stays within a bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mpgraph.errors import DataError
from mpgraph.runtime.observation.probe import ValueSize

__all__ = ["ObservationPass", "plan_passes"]


@dataclass(frozen=True, slots=True)
class ObservationPass:
    """One pass over the data.

    Attributes:
        whole: Values that leave the graph as they are.
        reduced: Values that are reduced inside the graph.
        bodies: Values inside the bodies of control flow, always reduced.
    """

    whole: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()


def plan_passes(
    sizes: Mapping[str, ValueSize], budget_bytes: int, *, part: int, reducible: bool
) -> list[ObservationPass]:
    """As few passes as the budget allows; one wherever values can be reduced in the graph.

    The largest values are reduced first. Those in which masks or non-finite elements were met are
    the last to be, because they would have to leave the graph after all.

    Args:
        sizes: Size of each value.
        budget_bytes: Bound of what leaves the graph in one run.
        part: How many elements a reduced value hands out.
        reducible: Whether float32 values may be reduced.

    Raises:
        DataError: A single value is larger than the budget and cannot be reduced.
    """
    whole = dict(sizes)
    reduced = []
    total = sum(size.bytes for size in sizes.values())
    order = sorted(sizes, key=lambda name: (sizes[name].suspicious, -sizes[name].bytes))
    for name in order:
        size = sizes[name]
        saved = size.bytes - _reduced_bytes(part)
        if total <= budget_bytes or not reducible:
            break
        if size.reducible and saved > 0:
            reduced.append(name)
            del whole[name]
            total -= saved
    batches = _batches(whole, budget_bytes - len(reduced) * _reduced_bytes(part), budget_bytes)
    first, *others = batches or [()]
    if not first and not reduced:
        return []
    inside = set(reduced)
    in_order = tuple(name for name in sizes if name in inside)
    return [ObservationPass(first, in_order), *(ObservationPass(batch) for batch in others)]


def _reduced_bytes(part: int) -> int:
    return 32 + 4 * part


def _batches(
    whole: Mapping[str, ValueSize], first_budget: int, budget: int
) -> list[tuple[str, ...]]:
    batches: list[tuple[str, ...]] = []
    batch: list[str] = []
    left = first_budget
    for name, size in whole.items():
        if size.bytes > budget:
            raise DataError(
                f"value {name!r}",
                f"takes {size.bytes / 1e6:.4g} MB by itself, more than the {budget / 1e6:.4g} MB "
                "of memory",
                f"give at least {size.bytes // 10**6 + 1}MB of memory, or smaller samples",
            )
        if size.bytes > left and (batch or not batches):
            batches.append(tuple(batch))
            batch, left = [], budget
        batch.append(name)
        left -= size.bytes
    if batch:
        batches.append(tuple(batch))
    return batches
