"""Bring a model into the form that the other passes rely on; its meaning stays the same."""

from __future__ import annotations

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
        while polymorphic := _polymorphic_calls(infer_types(model)):
            _specialize(model, polymorphic)
            changed = True
        return changed


def _drop_initializer_inputs(model: ir.Model) -> bool:
    if model.ir_version >= _OVERRIDABLE_SINCE:
        return False
    graph = model.graph
    graph.inputs[:] = [value for value in graph.inputs if not value.is_initializer()]
    model.ir_version = _OVERRIDABLE_SINCE
    return True


def _polymorphic_calls(flow: TypeFlow) -> list[ir.Node]:
    """The calls that gave a function other types than its first call did."""
    return [
        node for node, function in flow.calls.items() if function.identifier() in flow.polymorphic
    ]


def _specialize(model: ir.Model, calls: list[ir.Node]) -> None:
    """Give each call of a polymorphic function a function of its own."""
    taken = {name for _, name, _ in model.functions}
    seen: set[ir.OperatorIdentifier] = set()
    for node in calls:
        identifier = node.op_identifier()
        if identifier not in seen:
            seen.add(identifier)
            continue
        function = model.functions[identifier].clone()
        function.name = _unused(function.name, taken)
        model.functions[function.identifier()] = function
        node.op_type = function.name


def _unused(base: str, taken: set[str]) -> str:
    number = 2
    while f"{base}_{number}" in taken:
        number += 1
    name = f"{base}_{number}"
    taken.add(name)
    return name
