"""Why a node stays in float, in words."""

from __future__ import annotations

from mpgraph.limiting.times import NodeGain

__all__ = ["harm_text", "no_gain_text"]


def harm_text(error: float, limit: float, together: int) -> str:
    """For a node that harms.

    Args:
        error: The error, over the range of an output, when it alone is quantized.
        limit: What is allowed.
        together: How many nodes were measured together, it and its neighbours.
    """
    who = "by itself" if together == 1 else "with its neighbours"
    text = f"quantized {who} it puts an output off by {error:.2g} of its range"
    return text if error > limit else f"{text}, with the others by more than {limit:g}"


def no_gain_text(seconds: NodeGain) -> str:
    """For a node that gains little or no time, by itself or with its neighbours."""
    times = f"{seconds.before * 1e3:.3g} ms in float, {seconds.after * 1e3:.3g} ms quantized"
    return f"it gains next to no time quantized ({times})"
