"""What quantization does to the result of a product, measured on rows of its activation."""

from __future__ import annotations

from typing import Literal

import numpy as np

from mpgraph.quant.form_errors import FormErrors
from mpgraph.quant.formats import Format, Layout, dequantize, parameters_from_range, quantize
from mpgraph.quant.formats.layout import Array
from mpgraph.quant.tuning.rows import Rows

__all__ = [
    "RangeForm",
    "approximated",
    "form_errors",
    "product_error",
    "row_error",
    "weight_rounded",
]

RangeForm = Literal["static", "dynamic", "dynamic_rows"]

_UNSIGNED, _CENTRED = Format("uint8", False), Format("uint8", True)


def row_error(exact: Array, found: Array) -> float:
    """The mean over rows of |found - exact|^2 / |exact|^2; rows of zeros are left out.

    Each row counts the same, as it does for a normalisation of rows further on: a few rows of large
    numbers do not hide what happens to all others.
    """
    energy = np.square(exact, dtype=np.float64).sum(axis=1)
    noise = np.square(found - exact, dtype=np.float64).sum(axis=1)
    kept = energy > 0
    return float((noise[kept] / energy[kept]).mean()) if kept.any() else 0.0


def approximated(rows: Rows, form: RangeForm) -> Array:
    """What is left of the rows after quantization to 8 bits, float32."""
    if form == "static":
        low, high = rows.low.min(), rows.high.max()
        parameters = parameters_from_range(low, high, _UNSIGNED, Layout())
    elif form == "dynamic":
        low, high = rows.low.min(axis=1)[rows.sample], rows.high.max(axis=1)[rows.sample]
        parameters = parameters_from_range(low, high, _UNSIGNED, Layout(0))
    else:
        low, high = rows.values.min(axis=1), rows.values.max(axis=1)
        parameters = parameters_from_range(low, high, _CENTRED, Layout(0))
    return dequantize(quantize(rows.values, parameters), parameters)


def weight_rounded(matrix: Array, bits: int) -> Array:
    """What is left of a matrix [inputs, outputs] with one symmetric scale per output."""
    format = Format("int8", True, bits == 8, bits)
    parameters = parameters_from_range(matrix.min(axis=0), matrix.max(axis=0), format, Layout(1))
    return dequantize(quantize(matrix, parameters), parameters)


def product_error(rows: Rows, matrix: Array, form: RangeForm, bits: int) -> float:
    """The ``row_error`` of a product with a weight float32[inputs, outputs] in one form."""
    rounded = weight_rounded(matrix, bits)
    return row_error(rows.values @ matrix, approximated(rows, form) @ rounded)


def form_errors(rows: Rows, matrix: Array, bits: int) -> FormErrors:
    """The errors of a product in each form.

    Args:
        rows: Rows of its activation.
        matrix: Its weight, float32[inputs, outputs].
        bits: Bits of the weight that are used.
    """
    exact, weight = rows.values @ matrix, weight_rounded(matrix, bits)

    def error(form: RangeForm) -> float:
        return row_error(exact, approximated(rows, form) @ weight)

    return FormErrors(error("static"), error("dynamic"), error("dynamic_rows"))
