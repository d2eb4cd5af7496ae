"""What a benchmark gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mpgraph.runtime.bench.nodes import NodeTime
from mpgraph.runtime.bench.ratio import Ratio

__all__ = ["Bench", "Environment", "Timing"]

# The time of a run varies; below this nothing is said.
_OVERRUN = 1.2


@dataclass(frozen=True, slots=True)
class Environment:
    """What the times depend on besides the models.

    Attributes:
        target, provider: Where the models ran.
        onnxruntime: Its version.
        processor: The name of the CPU.
        cores: How many logical cores this process may use.
        threads: Threads inside one operator; 0 where onnxruntime chose.
        options: Session options and settings of the target, by name.
    """

    target: str
    provider: str
    onnxruntime: str
    processor: str
    cores: int
    threads: int
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Timing:
    """The time of one run of a model, in seconds.

    Attributes:
        label: The model.
        median, low, high, best: The median, the quartiles, and the shortest run.
        load: Median time to create a session.
    """

    label: str
    median: float
    low: float
    high: float
    best: float
    load: float


@dataclass(frozen=True, slots=True)
class Bench:
    """Models timed side by side.

    Attributes:
        timings: One per model, in the order given.
        ratios: One per pair of models; the intervals hold together with the confidence asked for.
        confidence: That confidence.
        sessions: How often sessions of all models were created.
        rounds: Rounds per set of sessions; in each every model ran once, in random order.
        runs: How many runs in a row made one sample, per model.
        data: Where the inputs came from.
        environment: What else the times depend on.
        asked: Seconds that all runs were to take.
        spent: Seconds that they took, warm-up and profile included, creation of sessions not.
        nodes: Per label, the time of each node that ran, the longest first; from runs of their own.
    """

    timings: tuple[Timing, ...]
    ratios: tuple[Ratio, ...]
    confidence: float
    sessions: int
    rounds: int
    runs: tuple[int, ...]
    data: str
    environment: Environment
    asked: float = 0.0
    spent: float = 0.0
    nodes: Mapping[str, tuple[NodeTime, ...]] = field(default_factory=dict)

    @property
    def overran(self) -> bool:
        """Whether the least number of runs took clearly longer than was asked for."""
        return self.spent > _OVERRUN * self.asked

    @property
    def winner(self) -> str | None:
        """The model that is faster than every other; None inside the noise, or for one model."""
        if len(self.timings) < 2:
            return None
        best = min(self.timings, key=lambda timing: timing.median).label
        own = [ratio for ratio in self.ratios if best in (ratio.a, ratio.b)]
        return best if all(ratio.faster == best for ratio in own) else None
