"""The search for nodes to leave in float: measured by sessions, decided by `quant.sensitivity`."""

from mpgraph.limiting.builder import Builder
from mpgraph.limiting.job import find_kept

__all__ = ["Builder", "find_kept"]
