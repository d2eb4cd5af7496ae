"""Give a function that is called under several policies one body for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass
from mpgraph.policy import (
    DTypePolicy,
    PolicyMap,
    Resolution,
    held_by,
    inherit,
    own_resolutions,
)

__all__ = ["SpecializeFunctions"]


@dataclass(frozen=True)
class SpecializeFunctions(Pass):
    """Copy functions whose calls have different policies, so that each body has one.

    A rule that selects a call holds for the whole body. Functions are settled from the outside in:
    the calls inside of a copied body belong to that copy.
    """

    name: ClassVar[str] = "specialize-functions"
    requires: ClassVar[tuple[type, ...]] = (PolicyMap,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Copy functions and redirect calls where policies differ."""
        policy = facts.get(PolicyMap)
        if not policy.rules or not model.functions:
            return False
        return _Specializer(model, policy).run()


class _Specializer:
    def __init__(self, model: ir.Model, policy: PolicyMap) -> None:
        self._model = model
        self._resolutions = own_resolutions(model, policy)
        self._calls = ir.function_calls(model)
        self._taken = {name for _, name, _ in model.functions}

    def run(self) -> bool:
        inherit(ir.main_scopes(self._model), self._resolutions, None)
        changed = False
        for function in ir.callers_first(self._model):
            first, *others = self._groups(function) or [[]]
            copies = [self._copy(function, group) for group in others]
            for body, group in zip((function, *copies), (first, *others), strict=True):
                inherit(ir.function_scopes(body), self._resolutions, self._given(group))
            changed |= bool(copies)
        return changed

    def _groups(self, function: ir.Function) -> list[list[ir.Node]]:
        """The calls of a function by policy."""
        groups: dict[DTypePolicy | None, list[ir.Node]] = {}
        for node in self._calls[function.identifier()]:
            one = self._resolutions[node]
            groups.setdefault(one.policy if one.explicit else None, []).append(node)
        return list(groups.values())

    def _given(self, group: Sequence[ir.Node]) -> Resolution | None:
        return held_by(group[0], self._resolutions[group[0]]) if group else None

    def _copy(self, function: ir.Function, group: Sequence[ir.Node]) -> ir.Function:
        copy = ir.copy_function(self._model, function, self._taken)
        for node in group:
            node.op_type = copy.name
        pairs = zip(ir.function_scopes(function), ir.function_scopes(copy), strict=True)
        for original, copied in pairs:
            for node, twin in zip(original.graph, copied.graph, strict=True):
                self._resolutions[twin] = self._resolutions[node]
                if twin.op_identifier() in self._calls:
                    self._calls[twin.op_identifier()].append(twin)
        return copy
