"""A data set: feeds of a model, read one at a time, as often as wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from mpgraph.errors import DataError
from mpgraph.runtime.data.check import check_feed
from mpgraph.runtime.data.spec import InputSpec

__all__ = ["DataSet"]


@dataclass(frozen=True, slots=True)
class DataSet:
    """Feeds that were checked against the inputs of a model.

    Each iteration reads the source anew and checks every feed as it passes by, so that only one
    is in memory at a time.

    Attributes:
        label: Where the data came from, for reports; says "random" where it is.
        inputs: The inputs that the feeds fit.
        source: Opens the source; yields where a feed stands (a file, "sample 3") and the feed.
        random: Whether the values are made up.
        samples: At most so many feeds are used; None for all.
    """

    label: str
    inputs: tuple[InputSpec, ...]
    source: Callable[[], Iterable[tuple[str, Any]]]
    random: bool = False
    samples: int | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the feeds.

        Raises:
            DataError: A feed does not fit, or there is none at all.
        """
        empty = True
        for where, feed in islice(self.source(), self.samples):
            empty = False
            yield check_feed(feed, self.inputs, where)
        if empty:
            raise DataError(self.label, "holds no sample")

    def first(self) -> dict[str, Any]:
        """The first feed.

        Raises:
            DataError: It does not fit, or there is none.
        """
        return next(iter(self))

    @staticmethod
    def of(label: str, inputs: Sequence[InputSpec], feeds: Sequence[Any]) -> DataSet:
        """A data set over feeds that are in memory already."""
        named = [(f"{label}, sample {index}", feed) for index, feed in enumerate(feeds)]
        return DataSet(label, tuple(inputs), lambda: named)
