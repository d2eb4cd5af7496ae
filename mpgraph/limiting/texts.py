"""Why a node stays in float, in words."""

from __future__ import annotations

from mpgraph.limiting.times import NodeGain

__all__ = ["change_text", "harm_text"]


def harm_text(error: float, limit: float) -> str:
    """For a node whose error alone is given, over the range of an output."""
    text = f"quantized by itself it puts an output off by {error:.2g} of its range"
    return text if error > limit else f"{text}, with the others by more than {limit:g}"


def change_text(node: NodeGain) -> str:
    """For a node that gains no time."""
    return f"{node.before * 1e3:.3g} ms in float, {node.after * 1e3:.3g} ms quantized"
