"""How large values are, found by a run that returns a few numbers for each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.runtime.bound import Feed
from mpgraph.runtime.compare import for_session
from mpgraph.runtime.observation.outputs import add_reductions
from mpgraph.runtime.sessions import create_session, run

__all__ = ["ValueSize", "is_suspicious", "probe"]


@dataclass(frozen=True, slots=True)
class ValueSize:
    """The size of one value.

    Attributes:
        bytes: Of its largest array.
        reducible: Whether it can be reduced in the graph without a loss: it is float32, and no
            element was met that is not ordinary.
    """

    bytes: int
    reducible: bool = True

    def merge(self, other: ValueSize) -> ValueSize:
        """What both say of one value."""
        return ValueSize(max(self.bytes, other.bytes), self.reducible and other.reducible)


def probe(
    model: ir.Model, dtypes: Mapping[str, ir.DataType], feeds: Iterable[Feed], limit: float
) -> dict[str, ValueSize]:
    """The sizes of some values of the main graph over a few feeds.

    Args:
        model: The model; it is not changed.
        dtypes: The values by name, with their dtypes.
        feeds: What to run on.
        limit: Elements from this magnitude on are not ordinary.

    Raises:
        VerificationError: The model does not load or run.
    """
    names = list(dtypes)
    if not names:
        return {}
    copy = ir.clone(model)
    outputs = add_reductions(copy, dtypes, part=0)
    session = create_session(copy, optimize=False, shapes_first=True)
    sizes = dict.fromkeys(names, 0)
    suspicious = dict.fromkeys(names, False)
    for feed in feeds:
        got = run(session, for_session(session, feed))
        numbers = got[outputs.summaries].reshape(len(names), -1).tolist()
        for name, row, count in zip(names, numbers, got[outputs.counts].tolist(), strict=True):
            sizes[name] = max(sizes[name], math.ceil(count * dtypes[name].itemsize))
            suspicious[name] |= is_suspicious(row, count, limit)
    return {
        name: ValueSize(sizes[name], dtypes[name] == ir.DataType.FLOAT and not suspicious[name])
        for name in names
    }


def is_suspicious(row: Sequence[float], count: int, limit: float) -> bool:
    """Whether minimum, maximum and sum of an array speak of elements that are not ordinary."""
    low, high, total = row
    return count > 0 and not (-limit < low and high < limit and math.isfinite(total))
