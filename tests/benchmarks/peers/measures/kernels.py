"""Nodes that the target of a model has no kernel for."""

from __future__ import annotations

from pathlib import Path

from mpgraph import ir
from mpgraph.runtime.placement.expected import expected_providers
from mpgraph.targets import Support, get_target

__all__ = ["off_target"]


def off_target(path: Path, target: str) -> int:
    """How many nodes run elsewhere, or nowhere, by the target's table of kernels."""
    expected = expected_providers(ir.load(path), get_target(target))
    return sum(one.support not in (None, Support.NATIVE, Support.EXPANDED) for one in expected)
