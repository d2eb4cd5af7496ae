"""Execution providers as targets: what each can run, and what is worth running on it."""

from mpgraph.targets.exceptions import GAPS, Gap
from mpgraph.targets.kernels import Kernel, KernelTable, load_table
from mpgraph.targets.live import best_table, live_table
from mpgraph.targets.registry import available_targets, get_target
from mpgraph.targets.support import Support
from mpgraph.targets.target import Target

__all__ = [
    "GAPS",
    "Gap",
    "Kernel",
    "KernelTable",
    "Support",
    "Target",
    "available_targets",
    "best_table",
    "get_target",
    "live_table",
    "load_table",
]
