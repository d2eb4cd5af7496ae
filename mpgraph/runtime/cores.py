"""How many cores this process may use."""

from __future__ import annotations

import os
from collections.abc import Callable

__all__ = ["usable_cores"]


def usable_cores() -> int:
    """The cores that the process may run on, at least one."""
    # Not os.cpu_count, which counts what the process may not use; not on every system.
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
