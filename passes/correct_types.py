"""Write the types and shapes that nodes produce where the model declares others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.passmgr import Facts, Pass
from mpgraph.schema import to_ir_type, type_of

__all__ = ["CorrectTypes"]


@dataclass(frozen=True)
class CorrectTypes(Pass):
    """Replace declared types and shapes of values that contradict what their nodes produce.

    What is only less precise stays as it is, and so does what nobody declares.
    """

    name: ClassVar[str] = "correct-types"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Correct the values of every graph of the model; nodes stay as they are."""
        flow = infer_types(model)
        changed = False
        for scope in ir.graphs(model):
            function = scope.function
            if function is not None and function.identifier() in flow.polymorphic:
                continue
            for node in scope.graph:
                for value in node.outputs:
                    changed |= _correct(value, flow)
        return ir.correct_shapes(ir.infer_shapes(model)) or changed


def _correct(value: ir.Value, flow: TypeFlow) -> bool:
    declared, found = type_of(value.type), flow.type(value)
    if declared is None or found is None or declared == found:
        return False
    value.type = to_ir_type(found)
    return True
