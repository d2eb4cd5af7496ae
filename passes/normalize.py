"""Bring a model into the form that the other passes rely on; its meaning stays the same."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import TypeFlow, infer_types
from mpgraph.passmgr import Facts, Pass

__all__ = ["Normalize"]

_OVERRIDABLE_SINCE = 4
"""From this IR version on, an initializer that is also a graph input is only a default."""


@dataclass(frozen=True)
class Normalize(Pass):
    """Make weights constant and functions monomorphic.

    * Before IR version 4 every initializer had to be a graph input as well: such inputs go.
    * A local function that is called with different operand types or attributes becomes one
      function per list of types, so that each of its values has one type.
    """

    name: ClassVar[str] = "normalize"

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Normalize the model in place."""
        changed = _drop_initializer_inputs(model)
        while model.functions and (flow := infer_types(model)).polymorphic:
            _specialize(model, flow)
            changed = True
        return changed


def _drop_initializer_inputs(model: ir.Model) -> bool:
    if model.ir_version >= _OVERRIDABLE_SINCE:
        return False
    graph = model.graph
    graph.inputs[:] = [value for value in graph.inputs if not value.is_initializer()]
    model.ir_version = _OVERRIDABLE_SINCE
    return True


def _specialize(model: ir.Model, flow: TypeFlow) -> None:
    """Give each polymorphic function a copy per further signature that it is called with."""
    taken = {name for _, name, _ in model.functions}
    names: dict[ir.OperatorIdentifier, dict[Hashable, str]] = {}
    for node, function in flow.calls.items():
        identifier = function.identifier()
        if identifier not in flow.polymorphic:
            continue
        known = names.setdefault(identifier, {})
        signature = flow.signatures[node]
        if not known:
            known[signature] = function.name
        elif signature not in known:
            known[signature] = ir.copy_function(model, function, taken).name
        node.op_type = known[signature]
