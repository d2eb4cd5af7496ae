"""Numbers as a person reads them."""

from __future__ import annotations

import math

__all__ = [
    "byte_text",
    "cosine_text",
    "count_text",
    "error_text",
    "node_text",
    "ratio_text",
    "sqnr_text",
    "time_text",
]

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"))
_COUNTS = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_STEPS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def byte_text(count: int) -> str:
    """A number of bytes in decimal units with three digits, such as ``1.15 MB``."""
    for size, unit in _STEPS:
        if count >= size * 0.9995:
            return f"{_three_digits(count / size)} {unit}"
    return f"{count} B"


def count_text(count: int) -> str:
    """A number of things in decimal units with three digits, such as ``1.15 M``."""
    for size, unit in _COUNTS:
        if count >= size * 0.9995:
            return f"{_three_digits(count / size)} {unit}"
    return str(count)


def ratio_text(after: int, before: int) -> str:
    """What is left of ``before``, in percent; empty where there was nothing."""
    return f"{100 * after / before:.0f} %" if before else ""


def error_text(value: float) -> str:
    """An error: ``exact`` for zero, else two digits."""
    return "exact" if value == 0 else f"{value:.1e}"


def sqnr_text(decibels: float) -> str:
    """A signal-to-noise ratio without its unit; ``inf`` where nothing differs."""
    return f"{decibels:.1f}" if math.isfinite(decibels) else str(decibels)


def cosine_text(cosine: float) -> str:
    """A cosine similarity, rounded down so that only exact agreement reads 1."""
    return "1" if cosine >= 1 else f"{math.floor(cosine * 1e6) / 1e6:.6f}"


def time_text(seconds: float) -> str:
    """A duration with three digits, such as ``1.24 ms``."""
    for size, unit in _TIMES:
        if seconds >= size * 0.9995:
            return f"{_three_digits(seconds / size)} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def node_text(count: int) -> str:
    """``1 node`` or ``5 nodes``."""
    return f"{count} node" if count == 1 else f"{count} nodes"


def _three_digits(value: float) -> str:
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f}"
