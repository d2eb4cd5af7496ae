"""Execution providers as targets: what each can run, and what is worth running on it."""

from mpgraph.targets.arithmetic import ROUNDS_ONCE, Arithmetic
from mpgraph.targets.exceptions import GAPS, Gap
from mpgraph.targets.installed import Installed, find_installed
from mpgraph.targets.kernels import Kernel, KernelTable, load_table
from mpgraph.targets.live import best_table, live_table
from mpgraph.targets.provider import Provider, find_provider
from mpgraph.targets.quantization import QuantizationRules, quantization_rules
from mpgraph.targets.registry import available_targets, get_target
from mpgraph.targets.settings import Setting, with_values
from mpgraph.targets.support import Support
from mpgraph.targets.target import Target

__all__ = [
    "GAPS",
    "ROUNDS_ONCE",
    "Arithmetic",
    "Gap",
    "Installed",
    "Kernel",
    "KernelTable",
    "Provider",
    "QuantizationRules",
    "Setting",
    "Support",
    "Target",
    "available_targets",
    "best_table",
    "find_installed",
    "find_provider",
    "get_target",
    "live_table",
    "load_table",
    "quantization_rules",
    "with_values",
]
