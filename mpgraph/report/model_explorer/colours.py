"""Colours of nodes in Model Explorer: those of the HTML report for dtypes, shades for amounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mpgraph.auditing.finding import Severity

__all__ = ["byte_thresholds", "dtype_colour", "severity_colour"]

_DTYPES: Mapping[str, str] = {
    "float32": "#0072b2",
    "float16": "#d55e00",
    "bfloat16": "#009e73",
    "float64": "#b4599a",
}
_FLOAT8 = "#b7a900"
_SMALL_INTEGERS = "#e69f00"
_FOUR_BITS = "#56b4e9"
_OTHER = "#6e7781"
_STARTS: Mapping[str, str] = {
    "float8": _FLOAT8,
    "int8": _SMALL_INTEGERS,
    "uint8": _SMALL_INTEGERS,
    "int16": _SMALL_INTEGERS,
    "uint16": _SMALL_INTEGERS,
    "int4": _FOUR_BITS,
    "uint4": _FOUR_BITS,
    "int2": _FOUR_BITS,
    "uint2": _FOUR_BITS,
    "float4": _FOUR_BITS,
}
_SEVERITIES: Mapping[Severity, str] = {"error": "#d55e00", "warning": "#e69f00", "note": "#f0e442"}
_SHADES = ("#eff3ff", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#084594")
_FIRST_LIMIT = 1_000
_LIMIT_OF_ALL = 2**63


def dtype_colour(dtype: str) -> str:
    """The colour of a dtype; dtypes of a kind share one."""
    found = _DTYPES.get(dtype)
    if found is not None:
        return found
    return next((colour for start, colour in _STARTS.items() if dtype.startswith(start)), _OTHER)


def severity_colour(severity: Severity) -> str:
    """The colour of a node whose worst finding is that bad."""
    return _SEVERITIES[severity]


def byte_thresholds() -> list[dict[str, Any]]:
    """A darker shade for each ten times as many bytes, from 1 kB up to 1 GB and above."""
    limits = [_FIRST_LIMIT * 10**step for step in range(len(_SHADES) - 1)]
    pairs = zip((*limits, _LIMIT_OF_ALL), _SHADES, strict=True)
    return [{"value": limit, "bgColor": shade} for limit, shade in pairs]
