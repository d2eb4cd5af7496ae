"""What a search for harmful nodes found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mpgraph import ir

__all__ = ["KeptFloat", "KeptNode", "Latency", "SearchProgress", "Sensitivity"]

_NOTABLE = 0.8
"""A ratio of times below which a model counts as faster however much the runs spread."""


@dataclass(frozen=True)
class KeptFloat:
    """Nodes that are not to be quantized, whatever their policy says.

    Attributes:
        nodes: The reason for each, as a phrase.
    """

    nodes: Mapping[ir.Node, str]


def _say_nothing(step: str, done: int, total: int) -> None:
    """Take a report of progress."""


@dataclass(frozen=True)
class SearchProgress:
    """Who is told how far a search is.

    Attributes:
        report: Takes the step, how much of the work is done, and how much there is.
    """

    report: Callable[[str, int, int], object] = _say_nothing


@dataclass(frozen=True, slots=True)
class KeptNode:
    """A node that could be quantized and stays in float.

    Attributes:
        key: Its place, such as ``main#12``.
        name: Its own name; may be empty.
        op_type: Its operator.
        scope: Its module path.
        error: Error of the outputs when it is quantized and all others are not, over the range of
            an output; None where that was not measured.
        together: How many nodes were measured together for that: 1, or more with its neighbours.
        gain: Seconds of a run that its quantization would gain; None where that was not measured.
        reason: Why it stays, as a phrase.
    """

    key: str
    name: str
    op_type: str
    scope: str
    error: float | None
    together: int
    gain: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Latency:
    """The time of one run of the quantized model over that of the model before.

    Attributes:
        ratio: Above 1 where the quantized model is slower.
        low, high: The confidence interval of the ratio.
    """

    ratio: float
    low: float
    high: float

    @property
    def is_faster(self) -> bool:
        """Whether the quantized model gains time; a gain that the spread may hide is none."""
        return self.ratio <= _NOTABLE or self.high < 1


@dataclass(frozen=True)
class Sensitivity:
    """What a search did to keep the outputs within an error.

    Attributes:
        limit: The largest error asked for, over the range of an output.
        everything: The error with all nodes quantized; where that is above the limit, on a few
            samples.
        error: The error of the model that was chosen, on all data.
        kept: The nodes that stay in float because of the search, the most harmful first.
        quantizable: How many nodes were quantized before.
        quantized: How many still are.
        latency: Time over that of the float model; None where it was not measured.
        builds: How many quantized models were built and run.
        runs: How often a model was run on a sample.
        seconds: How long the search took.
        samples: On how many samples the chosen model was measured.
    """

    limit: float
    everything: float
    error: float
    kept: tuple[KeptNode, ...]
    quantizable: int
    quantized: int
    latency: Latency | None
    builds: int
    runs: int
    seconds: float
    samples: int

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self)
