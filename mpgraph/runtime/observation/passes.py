"""Which values leave the graph together, so that memory stays within a bound."""

from __future__ import annotations

from collections.abc import Container, Mapping
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
        bytes: What leaves the graph in one run, as far as it is known.
    """

    whole: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    bytes: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """All values of the pass."""
        return (*self.whole, *self.reduced, *self.bodies)

    def without(self, gone: Container[str]) -> ObservationPass:
        """The pass without some of its values."""
        whole, reduced, bodies = (
            tuple(name for name in names if name not in gone)
            for names in (self.whole, self.reduced, self.bodies)
        )
        return ObservationPass(whole, reduced, bodies, self.bytes)


def plan_passes(
    sizes: Mapping[str, ValueSize],
    budget_bytes: int,
    *,
    part: int,
    reducible: bool,
    rows: Mapping[str, int] | None = None,
) -> list[ObservationPass]:
    """As few passes as the budget allows; the largest values are reduced where they must be.

    Args:
        sizes: Size of each value of the main graph.
        budget_bytes: Bound of what leaves the graph in one run.
        part: How many elements a reduced value hands out.
        reducible: Whether values may be reduced in the graph at all.
        rows: Values of bodies, with the bytes of their rows in one run as far as they are known.

    Raises:
        DataError: A single value is larger than the budget and cannot be reduced.
    """
    inside = _to_reduce(sizes, budget_bytes, _reduced_bytes(part)) if reducible else set()
    costs = {
        name: _reduced_bytes(part) if name in inside else size.bytes for name, size in sizes.items()
    }
    bodies = rows or {}
    costs |= bodies
    return [
        ObservationPass(
            tuple(name for name in batch if name in sizes and name not in inside),
            tuple(name for name in batch if name in inside),
            tuple(name for name in batch if name in bodies),
            sum(costs[name] for name in batch),
        )
        for batch in _batches(costs, budget_bytes)
    ]


def _reduced_bytes(part: int) -> int:
    return 32 + 4 * part


def _to_reduce(sizes: Mapping[str, ValueSize], budget_bytes: int, reduced_bytes: int) -> set[str]:
    total = sum(size.bytes for size in sizes.values())
    chosen: set[str] = set()
    for name in sorted(sizes, key=lambda name: -sizes[name].bytes):
        saved = sizes[name].bytes - reduced_bytes
        if total <= budget_bytes or saved <= 0:
            break
        if sizes[name].reducible:
            chosen.add(name)
            total -= saved
    return chosen


def _batches(costs: Mapping[str, int], budget_bytes: int) -> list[list[str]]:
    batches: list[list[str]] = []
    left = 0
    for name, cost in costs.items():
        _check_fits(name, cost, budget_bytes)
        if cost > left or not batches:
            batches.append([])
            left = budget_bytes
        batches[-1].append(name)
        left -= cost
    return batches


def _check_fits(name: str, cost: int, budget_bytes: int) -> None:
    if cost > budget_bytes:
        raise DataError(
            f"value {name!r}",
            f"takes {cost / 1e6:.4g} MB by itself, more than the {budget_bytes / 1e6:.4g} MB "
            "of memory",
            f"give at least {cost // 10**6 + 1}MB of memory, or smaller samples",
        )
