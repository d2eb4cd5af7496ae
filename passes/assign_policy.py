"""Give every cell the dtypes that the policy allows it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import Cell, TypeFlow, build_cells
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import Choice, Draft, Reason
from mpgraph.policy import (
    DTypePolicy,
    PolicyMap,
    Resolution,
    as_policy_map,
    pinned_by_default,
    resolve_nodes,
)

__all__ = ["AssignPolicy"]

_LOW = frozenset({ir.DataType.FLOAT16, ir.DataType.BFLOAT16})


@dataclass(frozen=True)
class AssignPolicy(Pass):
    """Resolve the policy of every node and start the ``Draft`` of a plan.

    Attributes:
        policy: A policy name; empty takes the ``PolicyMap`` that the facts hold.
        keep_io_types: Whether graph inputs and outputs keep their dtypes.

    Raises:
        PolicyError: Two equally specific rules disagree.
    """

    policy: str = ""
    keep_io_types: bool = True

    name: ClassVar[str] = "assign-policy"
    requires: ClassVar[tuple[type, ...]] = (TypeFlow,)
    provides: ClassVar[tuple[type, ...]] = (Draft,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Build the cells and their first choices."""
        flow = facts.get(TypeFlow)
        policy = as_policy_map(self.policy) if self.policy else facts.get(PolicyMap)
        graph = build_cells(model, flow, keep_io_types=self.keep_io_types)
        resolutions = resolve_nodes(model, policy)
        choose = _Chooser(policy, resolutions).choose
        choices = [choose(cell) for cell in graph.cells]
        modes = {
            node: one.policy.mode.name
            for node, one in resolutions.items()
            if one.policy.mode is not None
        }
        facts.put(Draft(graph, flow, policy, choices, modes=modes))
        return False


class _Chooser:
    """Chooses for cells; nodes of one operator and resolution share their choice."""

    def __init__(self, policy: PolicyMap, resolutions: Mapping[ir.Node, Resolution]) -> None:
        self._policy = policy
        self._resolutions = resolutions
        self._known: dict[Hashable, Choice] = {}

    def choose(self, cell: Cell) -> Choice:
        if cell.fixed:
            return Choice(frozenset({cell.dtype}), Reason("schema", cell.fixed))
        choices = [self._choose_for_node(cell, node) for node in cell.nodes]
        if choices:
            return _strictest(choices)
        explicit = _explicit_owner(cell, self._resolutions)
        if explicit is not None:
            return _choose_for_node(cell, explicit)
        return _choose_without_node(cell, self._policy)

    def _choose_for_node(self, cell: Cell, node: ir.Node) -> Choice:
        resolution = self._resolutions[node]
        # By identity, which the mapping keeps alive: a resolution holds whole rules.
        key = id(resolution), cell.dtype, node.domain, node.op_type
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _choose_for_node(cell, resolution, node)
        return known


def _explicit_owner(cell: Cell, resolutions: Mapping[ir.Node, Resolution]) -> Resolution | None:
    """The rule that selects the control-flow node which owns the cell."""
    owners = (resolutions[site.node] for site in cell.sites if site.node is not None)
    return next((one for one in owners if one.explicit), None)


def _strictest(choices: Sequence[Choice]) -> Choice:
    """Of several nodes in one cell: an explicit rule first, then the one with the least freedom."""
    if len(choices) == 1:
        return choices[0]
    return min(choices, key=lambda choice: (not choice.explicit, len(choice.allowed)))


def _choose_without_node(cell: Cell, policy: PolicyMap) -> Choice:
    kinds = {site.kind for site in cell.sites}
    compute = _compute(policy.default)
    if cell.dtype == ir.DataType.DOUBLE:
        return _kept(cell)
    if kinds <= {"input", "output"}:
        return Choice(frozenset({compute}), Reason("policy", "graph inputs and outputs follow it"))
    asked = {_compute(one) for one in policy.policies}
    return Choice(
        frozenset({cell.dtype, *(asked & (_LOW | {ir.DataType.FLOAT}))}),
        Reason("placement", "it takes the dtype of what it is connected with"),
    )


def _choose_for_node(cell: Cell, resolution: Resolution, node: ir.Node | None = None) -> Choice:
    policy = resolution.policy
    compute = _compute(policy)
    if cell.dtype == ir.DataType.DOUBLE and compute == ir.DataType.FLOAT:
        return _kept(cell)
    if resolution.rule is not None:
        reason = Reason("rule", _rule_text(resolution), resolution.rule.selector)
        return Choice(frozenset({compute}), reason, explicit=True, overruled=_lost(resolution))
    if node is None or (cell.dtype == ir.DataType.DOUBLE and compute != cell.dtype):
        return _kept(cell)
    if _retypes(node) and cell.dtype != ir.DataType.FLOAT:
        return Choice(
            frozenset({cell.dtype}), Reason("policy", "a rounding that the model asks for is kept")
        )
    if _retypes(node) and compute in _LOW:
        return _free(cell, compute)
    if pinned_by_default(policy, node.domain, node.op_type):
        return Choice(frozenset({compute}), Reason("policy", f"the default policy {policy.name}"))
    if cell.dtype != ir.DataType.FLOAT:
        return _kept(cell)
    return _free(cell, compute)


def _free(cell: Cell, compute: ir.DataType) -> Choice:
    return Choice(
        frozenset({cell.dtype, compute}),
        Reason("placement", "it takes the dtype that moves the fewest bytes"),
    )


def _kept(cell: Cell) -> Choice:
    name = ir.dtype_name(cell.dtype)
    return Choice(frozenset({cell.dtype}), Reason("policy", f"what is {name} already is kept"))


def _retypes(node: ir.Node) -> bool:
    return node.domain == "" and node.op_type == "Cast"


def _rule_text(resolution: Resolution) -> str:
    rule = resolution.rule
    given = "" if rule is None else rule.reason
    text = given or f"a rule asks for {resolution.policy.name}"
    return f"{text}, for all of {resolution.holder}" if resolution.holder else text


def _lost(resolution: Resolution) -> tuple[Reason, ...]:
    return tuple(
        Reason("rule", f"{rule.selector} asks for {rule.policy.name}: less specific", rule.selector)
        for rule in reversed(resolution.lost)
    )


def _compute(policy: DTypePolicy) -> ir.DataType:
    return ir.parse_dtype(policy.compute_dtype)
