"""A few rows of each activation, kept from runs on data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["ActivationRows", "Rows"]

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one activation: vectors along its last axis.

    Attributes:
        values: float32[rows, channels]; finite.
        sample: int64[rows], the sample that each is from.
        low: float32[samples, channels], the least value of each channel over all rows of a sample,
            those too that are not kept.
        high: Greatest values likewise.
    """

    values: Floats
    sample: NDArray[np.int64]
    low: Floats
    high: Floats

    def times(self, factors: Floats) -> Rows:
        """The rows of the activation times a factor above 0 per channel."""
        return Rows(self.values * factors, self.sample, self.low * factors, self.high * factors)


@dataclass(frozen=True)
class ActivationRows:
    """Rows of the activations of a model, by the name of the value.

    Attributes:
        values: The rows.
        missing: Values without, with the reason.
    """

    until_modified: ClassVar[bool] = True

    values: Mapping[str, Rows]
    missing: Mapping[str, str]
