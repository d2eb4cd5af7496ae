"""Make weights constant that are listed among the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass

__all__ = ["DropInitializerInputs"]

_NOT_LISTED_SINCE = 4
"""From this IR version on, an initializer need not be a graph input as well."""


@dataclass(frozen=True)
class DropInitializerInputs(Pass):
    """Remove the graph inputs that are initializers; the weights stay.

    Callers can no longer give another value for them.
    """

    name: ClassVar[str] = "drop-initializer-inputs"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Remove them from the main graph; a model from before IR version 4 gets that version."""
        inputs = model.graph.inputs
        kept = [value for value in inputs if not value.is_initializer()]
        if len(kept) == len(inputs):
            return False
        inputs[:] = kept
        model.ir_version = max(model.ir_version, _NOT_LISTED_SINCE)
        return True
