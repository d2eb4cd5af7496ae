"""Names near to one that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

__all__ = ["nearest"]


def nearest(name: str, known: Sequence[str]) -> list[str]:
    """Up to three of the known names, the nearest first; empty where none is near."""
    return difflib.get_close_matches(name, known, n=3, cutoff=0.5)
