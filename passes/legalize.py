"""Take away the dtypes for which the target has no kernel."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

from mpgraph import ir
from mpgraph.analysis import Cell, Site, TypeFlow, narrow, node_variables
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import Choice, Draft, Reason
from mpgraph.schema import (
    Operator,
    lookup,
    schema_gap,
    tensor,
    with_element_type,
)
from mpgraph.targets import Support, Target, get_target
from passes.convert_opset import OpsetKept

__all__ = ["Legalize"]

_FLOAT = ir.DataType.FLOAT
_LOW = (ir.DataType.FLOAT16, ir.DataType.BFLOAT16)

_Imports = Mapping[ir.Graph | None, Mapping[str, int]]
"""The opsets in force in each graph."""


@dataclass(frozen=True)
class Legalize(Pass):
    """Widen what the target cannot run in the wanted dtype.

    A node may take a dtype if its schema allows it for at least its main type variable and the
    target has a kernel for the resulting combination; as many of its variables as possible follow.
    Constants of a widened node are still stored as the policy asks.

    Attributes:
        target: A target name; empty takes the ``Target`` that the facts hold.
        allow_slow: Whether to compute in a dtype that can only lose time on the target.
    """

    target: str = ""
    allow_slow: bool = False

    name: ClassVar[str] = "legalize"
    requires: ClassVar[tuple[type, ...]] = (Draft,)
    provides: ClassVar[tuple[type, ...]] = (Draft,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Narrow the draft's choices to what is legal."""
        draft = facts.get(Draft)
        target = get_target(self.target) if self.target else facts.get(Target)
        legality = _Legality(draft.flow, target, model.opset_imports.get(""))
        imports: _Imports = {scope.graph: scope.opset_imports for scope in draft.graph.scopes}
        for cell in draft.graph.cells:
            if not cell.fixed:
                choice = draft.choices[cell.index]
                draft.choices[cell.index] = legality.legal_choice(cell, choice, imports)
        kept = facts.find(OpsetKept)
        if kept is not None:
            draft.warnings.append(f"the model stays at opset {kept.opset}: {kept.why}")
        draft.graph = narrow(draft.graph, draft.flow, legality.following)
        if not self.allow_slow:
            _avoid_slow(draft, target)
        return False


class _Legality:
    """Asks a target about nodes; ``following`` collects nodes of which not all variables follow."""

    def __init__(self, flow: TypeFlow, target: Target, opset: int | None) -> None:
        self.flow = flow
        self.target = target
        self.opset = opset
        self._known: dict[Hashable, tuple[str, frozenset[str] | None]] = {}
        self.following: dict[ir.Node, frozenset[str]] = {}

    def legal_choice(self, cell: Cell, choice: Choice, imports: _Imports) -> Choice:
        for dtype in sorted(choice.allowed):
            if dtype not in _LOW and (dtype != ir.DataType.DOUBLE or cell.dtype == dtype):
                continue
            if dtype != cell.dtype and not self._can_cast(dtype):
                reason = Reason(
                    "target", f"opset {self.opset} has no Cast to {ir.dtype_name(dtype)}"
                )
                choice = choice.without([dtype], cell.dtype, reason)
                continue
            for site in cell.sites:
                problem = self._site_problem(site, dtype, imports)
                if problem:
                    widened = choice.without(
                        [dtype], _nearest(cell, dtype), Reason("target", problem)
                    )
                    choice = replace(widened, storage=dtype)
                    break
        return choice

    def _site_problem(self, site: Site, dtype: ir.DataType, imports: _Imports) -> str:
        if site.kind == "node" and site.node is not None:
            return self._problem(site.node, site.variables, dtype, imports[site.node.graph])
        if not self._runs_cast(dtype):
            return f"{self.target.provider} has no {ir.dtype_name(dtype)} kernel for Cast"
        if site.node is None:
            return ""
        opset = ir.opset_of(site.node.domain, imports[site.node.graph])
        operator = None if opset is None else lookup(site.node.domain, site.node.op_type, opset)
        if operator is None or any(
            tensor(dtype) in allowed for allowed in operator.variables.values()
        ):
            return ""
        return f"the schema of {site.node.op_type} does not allow {ir.dtype_name(dtype)}"

    def _can_cast(self, dtype: ir.DataType) -> bool:
        cast = None if self.opset is None else lookup("", "Cast", self.opset)
        return cast is None or tensor(dtype) in cast.variables["T2"]

    def _runs_cast(self, dtype: ir.DataType) -> bool:
        """Whether a value of ``dtype`` that no node computes can be got from and to float32."""
        if self.opset is None or self.target.fallback is None:
            return True
        wide, low = tensor(_FLOAT), tensor(dtype)
        return all(
            self.target.support("", "Cast", self.opset, {"T1": source, "T2": result})
            is Support.NATIVE
            for source, result in ((wide, low), (low, wide))
        )

    def _problem(
        self,
        node: ir.Node,
        variables: frozenset[str],
        dtype: ir.DataType,
        imports: Mapping[str, int],
    ) -> str:
        """Why ``node`` cannot work in ``dtype``; empty if it can."""
        key = self._likeness(node, variables, dtype, imports)
        if key not in self._known:
            problem = self._find_problem(node, variables, dtype, imports)
            self._known[key] = problem, self.following.get(node)
        problem, following = self._known[key]
        if following is not None:
            self.following[node] = following
        return problem

    def _likeness(
        self,
        node: ir.Node,
        variables: frozenset[str],
        dtype: ir.DataType,
        imports: Mapping[str, int],
    ) -> Hashable:
        """Equal for nodes that get the same answer: a graph has few different ones."""
        return (
            node.domain,
            node.op_type,
            ir.opset_of(node.domain, imports),
            variables,
            dtype,
            self.flow.each_type(node.inputs),
            self.flow.each_type(node.outputs),
            tuple([bool(value.name) for value in node.outputs]),
            tuple(sorted((name, repr(one.value)) for name, one in node.attributes.data.items())),
        )

    def _find_problem(
        self,
        node: ir.Node,
        variables: frozenset[str],
        dtype: ir.DataType,
        imports: Mapping[str, int],
    ) -> str:
        opset = ir.opset_of(node.domain, imports)
        operator = lookup(node.domain, node.op_type, opset)
        if operator is None or opset is None:
            return f"{node.op_type} has no known schema"
        name = ir.dtype_name(dtype)
        gap = schema_gap(node, dtype)
        if gap:
            return f"{node.op_type} cannot be {name}: {gap}"
        if not variables:
            return self._output_problem(node, operator, dtype, opset)
        ordered = _in_operand_order(node, operator, variables)
        if not _allows(operator, ordered[0], self._types(node, operator)[ordered[0]], dtype):
            return f"the schema of {node.op_type} does not allow {name}"
        for subset in _largest_first(ordered):
            assignment = self._assignment(node, operator, subset, dtype, imports)
            if assignment is not None and self._runs(node, opset, assignment, operator):
                if len(subset) < len(ordered):
                    self.following[node] = frozenset(subset)
                return ""
        return f"{self.target.provider} has no {name} kernel for {node.op_type}"

    def _output_problem(
        self, node: ir.Node, operator: Operator, dtype: ir.DataType, opset: int
    ) -> str:
        formal = operator.output(0)
        types = self._types(node, operator)
        if formal is None or not _allows(operator, formal.type, tensor(dtype), dtype):
            return f"the schema of {node.op_type} does not allow {ir.dtype_name(dtype)}"
        if self._runs(node, opset, types | {formal.type: tensor(dtype)}, operator):
            return ""
        name = ir.dtype_name(dtype)
        return f"{self.target.provider} has no {name} kernel for {node.op_type}"

    def _types(self, node: ir.Node, operator: Operator) -> dict[str, str]:
        """The type that each variable has now."""
        types: dict[str, str] = {}
        for values, parameter in (
            (node.outputs, operator.output),
            (node.inputs, operator.input),
        ):
            for index, value in enumerate(values):
                formal, known = parameter(index), self.flow.type(value)
                if formal is not None and known is not None and formal.type in operator.variables:
                    types[formal.type] = known
        return types

    def _assignment(
        self,
        node: ir.Node,
        operator: Operator,
        subset: tuple[str, ...],
        dtype: ir.DataType,
        imports: Mapping[str, int],
    ) -> dict[str, str] | None:
        """The types of all variables when ``subset`` takes ``dtype``; None if forbidden."""
        types = self._types(node, operator)
        if not all(_allows(operator, name, types[name], dtype) for name in subset):
            return None
        low = {name: with_element_type(types[name], dtype) for name in subset}
        for index in node_variables(node, self.flow, imports, only=frozenset(subset)).results:
            formal, known = operator.output(index), self.flow.type(node.outputs[index])
            if formal is not None and known is not None and formal.type in types:
                low.setdefault(formal.type, with_element_type(known, dtype))
        return types | low

    def _runs(
        self, node: ir.Node, opset: int, assignment: Mapping[str, str], operator: Operator
    ) -> bool:
        support = self.target.support(
            node.domain, node.op_type, opset, assignment, _plain_attributes(node)
        )
        if self.target.fallback is None:
            return support is not Support.NONE
        return support is Support.NATIVE


def _nearest(cell: Cell, dtype: ir.DataType) -> ir.DataType:
    return _FLOAT if dtype == cell.dtype else cell.dtype


def _in_operand_order(
    node: ir.Node, operator: Operator, variables: frozenset[str]
) -> tuple[str, ...]:
    formals = (operator.input(index) for index in range(len(node.inputs)))
    bound = dict.fromkeys(
        formal.type for formal in formals if formal is not None and formal.type in variables
    )
    return tuple(bound)


def _largest_first(variables: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All subsets that hold the first variable, the largest first."""
    first, rest = variables[:1], variables[1:]
    return [
        first + chosen for size in range(len(rest), -1, -1) for chosen in combinations(rest, size)
    ]


def _allows(operator: Operator, variable: str, known: str, dtype: ir.DataType) -> bool:
    allowed = operator.variables.get(variable, frozenset((variable,)))
    return with_element_type(known, dtype) in allowed


def _plain_attributes(node: ir.Node) -> dict[str, Any]:
    return {name: one.value for name, one in node.attributes.items() if not one.is_ref()}


def _avoid_slow(draft: Draft, target: Target) -> None:
    """Keep computing in float32 where the low dtype can only lose; constants are stored low."""
    avoided: set[ir.DataType] = set()
    for cell in draft.graph.cells:
        choice = draft.choices[cell.index]
        slow = choice.allowed & target.slow_dtypes - {cell.dtype}
        if cell.fixed or not slow:
            continue
        low = min(slow)
        name = ir.dtype_name(low)
        reason = Reason(
            "target",
            f"computing in {name} is slower than {ir.dtype_name(cell.dtype)} on {target.name}",
        )
        draft.choices[cell.index] = replace(choice.without(slow, cell.dtype, reason), storage=low)
        avoided.add(low)
    better = f"; {target.faster_policy} would be faster" if target.faster_policy else ""
    for low in sorted(avoided):
        draft.warnings.append(
            f"{target.name} has no {ir.dtype_name(low)} MatMul kernel: weights are stored in "
            f"{ir.dtype_name(low)}, computing stays in float32{better} (the allow-slow option "
            f"computes in {ir.dtype_name(low)} all the same)"
        )
