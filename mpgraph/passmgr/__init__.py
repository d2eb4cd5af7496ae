"""The pass manager: what a pass is, pipeline texts, the registry, instruments, and the run."""

from __future__ import annotations

from mpgraph.passmgr.base import Pass, PassResult
from mpgraph.passmgr.facts import Facts
from mpgraph.passmgr.instruments import (
    BisectLimit,
    DumpIR,
    Instrument,
    PrintAfter,
    Progress,
    Timing,
    VerifyEach,
)
from mpgraph.passmgr.manager import run_pipeline
from mpgraph.passmgr.pipeline_text import PassSpec, format_pipeline, parse_pipeline
from mpgraph.passmgr.registry import load_class, load_pass, load_pipeline, pass_table
from mpgraph.passmgr.reproducer import Reproducer

__all__ = [
    "BisectLimit",
    "DumpIR",
    "Facts",
    "Instrument",
    "Pass",
    "PassResult",
    "PassSpec",
    "PrintAfter",
    "Progress",
    "Reproducer",
    "Timing",
    "VerifyEach",
    "format_pipeline",
    "load_class",
    "load_pass",
    "load_pipeline",
    "parse_pipeline",
    "pass_table",
    "run_pipeline",
]
