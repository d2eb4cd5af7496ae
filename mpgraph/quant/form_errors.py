"""What each form of quantization does to the results of nodes, as it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.quant.formats.layout import Array

__all__ = [
    "FINE",
    "WORTH_ROWS",
    "BiasErrors",
    "CorrectedBiases",
    "FormErrors",
    "HarmfulParts",
    "QuantizationErrors",
]

FINE = 1e-4
"""An error below which a better form gains nothing."""

WORTH_ROWS = 0.25
"""To what part of the error a range per row must bring it, as the node takes a fifth more time."""


@dataclass(frozen=True, slots=True)
class FormErrors:
    """The error of a product, the mean over rows of |found - exact|^2 / |exact|^2, by form.

    Attributes:
        static: One range for all data.
        dynamic: The range of each sample.
        dynamic_rows: The range of each row.
    """

    static: float
    dynamic: float
    dynamic_rows: float


@dataclass(frozen=True)
class QuantizationErrors:
    """Errors that were measured on data.

    Attributes:
        products: The errors by the node that multiplies.
    """

    until_modified: ClassVar[bool] = True

    products: Mapping[ir.Node, FormErrors]


@dataclass(frozen=True)
class HarmfulParts:
    """What the outputs of a model do not bear to be quantized.

    Attributes:
        errors: For an activation, or a node with weights, the squared error of the worst output
            over its energy when it alone is quantized.
    """

    until_modified: ClassVar[bool] = True

    errors: Mapping[ir.Value | ir.Node, float]


@dataclass(frozen=True)
class BiasErrors:
    """What rounding adds to the means of the results of nodes that multiply.

    Attributes:
        channels: For each node by key, float64[channels].
        before: Squared error over energy of the worst output, with all of them quantized.
        after: The same with these means taken off the biases.
    """

    until_modified: ClassVar[bool] = True

    channels: Mapping[str, Array]
    before: float = 0.0
    after: float = 0.0


@dataclass(frozen=True)
class CorrectedBiases:
    """The fact that biases were corrected.

    Attributes:
        nodes: The nodes that multiply, by key.
        before: Squared error over energy of the worst output without.
        after: The same with.
    """

    nodes: tuple[str, ...]
    before: float
    after: float
