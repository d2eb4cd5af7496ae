"""Operators written out as the float16 steps in which a provider computes them."""

from mpgraph.runtime.stepwise.rewrite import in_steps

__all__ = ["in_steps"]
