"""Which observer, with which parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from mpgraph.errors import DataError
from mpgraph.quant.observers.accumulator import Accumulator
from mpgraph.quant.observers.entropy import Entropy
from mpgraph.quant.observers.extremes import MinMax
from mpgraph.quant.observers.moving_average import MovingAverage
from mpgraph.quant.observers.per_channel import PerChannel
from mpgraph.quant.observers.percentile import Percentile
from mpgraph.quant.observers.squared_error import SquaredError

__all__ = ["METHODS", "Method", "Observer"]

Method = Literal["minmax", "moving_average", "percentile", "entropy", "mse"]
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True, kw_only=True)
class Observer:
    """How ranges are taken from values.

    Attributes:
        method: The kind of observer.
        percentile: Of ``percentile``: the share of elements that the range holds, in percent.
        momentum: Of ``moving_average``: the weight of each new sample.
        axis: One range per index of this axis; None for one per tensor.

    Raises:
        DataError: A parameter is not possible.
    """

    method: Method = "minmax"
    percentile: float = 99.99
    momentum: float = 0.01
    axis: int | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise DataError(
                "observer", f"{self.method!r} is none", f"accepted: {', '.join(METHODS)}"
            )
        if not 50 < self.percentile <= 100:
            raise DataError("observer", f"percentile {self.percentile} is not in (50, 100]")
        if not 0 < self.momentum <= 1:
            raise DataError("observer", f"momentum {self.momentum} is not in (0, 1]")

    @property
    def label(self) -> str:
        """The method with what it depends on, such as ``percentile 99.9``."""
        parts = [self.method.replace("_", " ")]
        if self.method == "percentile":
            parts.append(f"{self.percentile:g}")
        if self.method == "moving_average":
            parts.append(f"of momentum {self.momentum:g}")
        if self.axis is not None:
            parts.append(f"per index of axis {self.axis}")
        return " ".join(parts)

    @property
    def in_order(self) -> bool:
        """Whether arrays have to be told apart by sample."""
        return self.method == "moving_average"

    @property
    def needs_parts(self) -> bool:
        """Whether it counts elements, not only extremes."""
        return self.method in ("percentile", "entropy", "mse")

    def accumulator(self) -> Accumulator:
        """A new accumulator of one value."""
        if self.axis is None:
            return self._of_tensor()
        return PerChannel(self.axis, self._of_tensor)

    def accumulator_from(self, config: Mapping[str, Any]) -> Accumulator:
        """The accumulator of what its ``get_config`` gave."""
        if self.axis is None:
            return self._restored(config)
        channels = [self._restored(one) for one in config["channels"]]
        return PerChannel(self.axis, self._of_tensor, channels)

    def get_config(self) -> dict[str, Any]:
        """All fields by name."""
        return asdict(self)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Observer:
        """The observer of what ``get_config`` gave.

        Raises:
            DataError: A key or a value is unknown.
        """
        unknown = set(config) - {field.name for field in fields(cls)}
        if unknown:
            raise DataError("observer", f"unknown key {min(unknown)!r}")
        return cls(**config)

    def _of_tensor(self) -> Accumulator:
        if self.method == "moving_average":
            return MovingAverage(self.momentum)
        if self.method == "percentile":
            return Percentile(percentile=self.percentile)
        return _PLAIN[self.method]()

    def _restored(self, config: Mapping[str, Any]) -> Accumulator:
        if self.method == "moving_average":
            return MovingAverage.from_config(config)
        if self.method == "percentile":
            return Percentile.from_config(config)
        return _PLAIN[self.method].from_config(config)


_PLAIN: Mapping[str, type[MinMax]] = {"minmax": MinMax, "entropy": Entropy, "mse": SquaredError}
