"""Carry out a plan on nodes and values: retype, and put one Cast per (value, dtype)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from mpgraph import ir
from mpgraph.errors import PlanError
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import Labelling, Plan, lay_over
from mpgraph.schema import TYPE_ATTRIBUTES, element_type, to_ir_type, with_element_type

__all__ = ["InsertCasts"]


@dataclass(frozen=True)
class InsertCasts(Pass):
    """Give values their planned dtypes and cast where two meet.

    Graph outputs keep their names: where a Cast stands before one, it takes the public name and the
    value behind it gets another. Constants are left to ``convert-weights``.
    """

    name: ClassVar[str] = "insert-casts"
    requires: ClassVar[tuple[type, ...]] = (Plan,)
    provides: ClassVar[tuple[type, ...]] = (Labelling,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Rewrite the model as the plan says."""
        labelling = facts.find(Labelling) or lay_over(facts.get(Plan), model)
        facts.put(labelling)
        _refuse_unscaled(facts.find(Plan), labelling)
        retyped = _retype(labelling)
        demands = _demands(labelling)
        if demands:
            ir.import_default_domain(model)
        writer = _CastWriter(model, labelling)
        for value, targets in demands.items():
            for target, demand in sorted(targets.items()):
                writer.cast(value, target, demand)
        return retyped or bool(demands)


def _refuse_unscaled(plan: Plan | None, labelling: Labelling) -> None:
    if plan is not None and plan.scaling and not labelling.scaled:
        raise PlanError(
            "plan",
            "it scales values by powers of two, and the model does not have them yet",
            "run scale-ranges before insert-casts",
        )


def _retype(labelling: Labelling) -> bool:
    """Set the types of all values whose dtype changes, and the attributes that name a dtype."""
    changed = False
    for value, cell in labelling.graph.results.items():
        known = labelling.flow.type(value)
        label = labelling.labels[cell]
        if known is None or element_type(known) == label:
            continue
        wanted = to_ir_type(with_element_type(known, label))
        if value.type != wanted:
            value.type = wanted
            changed = True
        node = value.producer()
        if node is not None:
            changed |= _retype_attribute(node, label)
    return changed


def _retype_attribute(node: ir.Node, dtype: ir.DataType) -> bool:
    """Give the attribute that names the dtype of a node's result another one; whether it had."""
    if (node.domain, node.op_type) == ("", "ConstantOfShape"):
        return _retype_fill(node, dtype)
    name = TYPE_ATTRIBUTES.get((node.domain, node.op_type))
    if name is None or (name not in node.attributes and node.inputs):
        return False
    given = node.attributes.get(name)
    if given is not None and given.as_int() == int(dtype):
        return False
    node.attributes[name] = ir.AttrInt64(name, int(dtype))
    return True


def _retype_fill(node: ir.Node, dtype: ir.DataType) -> bool:
    given = node.attributes.get("value")
    fill = ir.tensor([0.0], ir.DataType.FLOAT) if given is None else given.as_tensor()
    if fill.dtype == dtype:
        return False
    node.attributes["value"] = ir.AttrTensor("value", ir.converted_tensor(fill, dtype))
    return True


@dataclass
class _Demand:
    """Who takes a value in another dtype than it has."""

    operands: list[tuple[ir.Node, int]] = field(default_factory=list)
    outputs: list[tuple[ir.Graph, int]] = field(default_factory=list)


_Demands = dict[ir.Value, dict[ir.DataType, _Demand]]


def _demands(labelling: Labelling) -> _Demands:
    demands: _Demands = {}
    for node, cells in labelling.graph.operands.items():
        for index, value in enumerate(node.inputs):
            target = labelling.of(cells, index)
            if value is not None and _differs(labelling, value, target):
                _demand(demands, value, target).operands.append((node, index))
    for graph, cells in labelling.graph.graph_outputs.items():
        for index, value in enumerate(graph.outputs):
            target = labelling.of(cells, index)
            if _differs(labelling, value, target):
                _demand(demands, value, target).outputs.append((graph, index))
    return demands


def _differs(labelling: Labelling, value: ir.Value, target: ir.DataType | None) -> bool:
    source = labelling.result(value)
    return source is not None and target is not None and source != target


def _demand(demands: _Demands, value: ir.Value, target: ir.DataType | None) -> _Demand:
    if target is None:
        raise ValueError(f"{value.name}: a demand needs a dtype")
    return demands.setdefault(value, {}).setdefault(target, _Demand())


class _CastWriter:
    """Writes casts into a model."""

    def __init__(self, model: ir.Model, labelling: Labelling) -> None:
        self._namer = ir.Namer(model)
        self._labelling = labelling
        self._main = model.graph

    def cast(self, value: ir.Value, target: ir.DataType, demand: _Demand) -> None:
        """Put one Cast behind ``value`` and hand its result to all who demand it."""
        result = ir.insert_cast(
            value, target, self._namer, "insert-casts", self._rule(value, target)
        )
        for node, index in demand.operands:
            node.replace_input_with(index, result)
        for owner, index in demand.outputs:
            owner.outputs[index] = result
        if any(owner is self._main for owner, _ in demand.outputs):
            self._keep_public_name(value, result)

    def _keep_public_name(self, value: ir.Value, result: ir.Value) -> None:
        public = value.name or ""
        source = self._labelling.result(value)
        inner = f"{public}_{ir.dtype_name(source)}" if source is not None else public
        result.name = self._namer.value_name(f"{public}_public")
        value.name = self._namer.value_name(inner)
        result.name = public

    def _rule(self, value: ir.Value, target: ir.DataType) -> str:
        source = self._labelling.result(value)
        before = "" if source is None else ir.dtype_name(source)
        return f"{before} to {ir.dtype_name(target)}"
