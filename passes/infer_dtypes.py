"""Find the type of every value, and the shapes that the ONNX specification implies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.passmgr import Facts, Pass

__all__ = ["InferDtypes"]


@dataclass(frozen=True)
class InferDtypes(Pass):
    """Put a ``TypeFlow`` into the facts, with the shapes that can be inferred.

    The model stays as it is, but for declared shapes that contradict what its nodes compute.
    """

    name: ClassVar[str] = "infer-dtypes"
    provides: ClassVar[tuple[type, ...]] = (TypeFlow,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Infer types and shapes; dtypes and nodes stay as they are."""
        shapes = ir.infer_shapes(model)
        facts.put(replace(infer_types(model), shapes=shapes))
        return ir.correct_shapes(shapes)
