"""Amounts of memory as people write them."""

from __future__ import annotations

import re

from mpgraph.errors import DataError

__all__ = ["parse_memory"]

_UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_FORM = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([KMG]?)(i?)B?\s*", re.IGNORECASE)


def parse_memory(text: str | int) -> int:
    """Bytes of a text such as ``512MB``, ``1.5 GiB`` or ``4096``.

    Raises:
        DataError: It is no such text, or no byte.
    """
    if isinstance(text, int):
        found = text
    else:
        match = _FORM.fullmatch(text)
        if match is None:
            raise DataError("memory", f"{text!r} is no amount of memory", "for example 512MB")
        number, unit, binary = match.groups()
        size = _UNITS[unit.upper()]
        if binary and unit:
            size = 2 ** (10 * "KMG".index(unit.upper()) + 10)
        found = int(float(number) * size)
    if found < 1:
        raise DataError("memory", f"{text!r} is less than a byte", "for example 512MB")
    return found
