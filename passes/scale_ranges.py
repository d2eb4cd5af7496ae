"""Put the powers of two of a plan into a model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mpgraph import ir
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import Labelling, Plan, PlannedFactor, lay_over, node_places
from mpgraph.schema import tensor, to_ir_type

__all__ = ["ScaleRanges"]

_NAME = "scale-ranges"
_FLOAT = tensor(ir.DataType.FLOAT)
"""The type of all that is multiplied, until ``insert-casts`` gives it another."""

_EPSILON = 1e-5
"""The epsilon of a normalisation that names none."""


@dataclass(frozen=True)
class ScaleRanges(Pass):
    """Scale constants and epsilons, and put one Mul per value and power where exponents meet.

    The model computes the same afterwards, in any dtype, but for values that the plan holds times
    a power of two. A plan without range scaling changes nothing.
    """

    name: ClassVar[str] = _NAME
    requires: ClassVar[tuple[type, ...]] = (Plan,)
    provides: ClassVar[tuple[type, ...]] = (Labelling,)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Rewrite the model as the plan says."""
        plan = facts.get(Plan)
        if not plan.scaling:
            return False
        labelling = facts.find(Labelling) or lay_over(plan, model)
        if labelling.scaled:
            return False
        ir.import_default_domain(model)
        writer = _Writer(model, labelling)
        writer.write(plan.scaling)
        facts.put(writer.labelling())
        return True


@dataclass
class _Users:
    """Who takes a value or constant times one power of two."""

    operands: list[tuple[ir.Node, int]] = field(default_factory=list)
    outputs: list[tuple[ir.Graph, int]] = field(default_factory=list)


class _Writer:
    """Writes factors, and keeps the dtypes of what it adds."""

    def __init__(self, model: ir.Model, labelling: Labelling) -> None:
        self._model = model
        self._namer = ir.Namer(model)
        self._labelling = labelling
        self._places = node_places(labelling)
        self._graphs = {scope.path: scope.graph for scope in labelling.graph.scopes}
        self._results = dict(labelling.graph.results)
        self._operands = dict(labelling.graph.operands)
        self._constants = dict(labelling.graph.constants)
        self._variables = dict(labelling.graph.variables)
        self._types = dict(labelling.flow.types)
        self._powers: dict[int, ir.Value] = {}

    def labelling(self) -> Labelling:
        """The dtypes of the model with its factors."""
        graph = replace(
            self._labelling.graph,
            results=self._results,
            operands=self._operands,
            constants=self._constants,
            variables=self._variables,
        )
        flow = replace(self._labelling.flow, types=self._types)
        return replace(self._labelling, graph=graph, flow=flow, scaled=True)

    def write(self, factors: Iterable[PlannedFactor]) -> None:
        """Carry out all factors."""
        products: dict[tuple[ir.Value, int, str], _Users] = {}
        copies: dict[tuple[ir.Value, int], _Users] = {}
        for one in factors:
            if one.kind == "output":
                graph = self._graphs[one.key]
                form = graph.outputs[one.index], one.power, one.dtype
                products.setdefault(form, _Users()).outputs.append((graph, one.index))
            elif one.kind == "epsilon":
                _scale_epsilon(self._places[one.key], one.power)
            elif one.kind != "value":
                operand = self._places[one.key], one.index
                value = _operand(*operand)
                if one.kind == "constant":
                    copies.setdefault((value, one.power), _Users()).operands.append(operand)
                else:
                    form = value, one.power, one.dtype
                    products.setdefault(form, _Users()).operands.append(operand)
        alone = {
            value
            for (value, _), users in copies.items()
            if len(users.operands) == len(value.uses()) and not value.is_graph_output()
        }
        for (value, power), users in copies.items():
            ir.redirect(users.operands, self._copy(value, power, value in alone))
        for (value, power, dtype), users in products.items():
            self._multiply(value, power, ir.parse_dtype(dtype), users)

    def _copy(self, value: ir.Value, power: int, takes_name: bool) -> ir.Value:
        """A constant times 2^power."""
        source = ir.constant_tensor(value)
        graph = value.graph
        if source is None or graph is None:
            raise ValueError(f"{value.name}: it is no constant of a graph")
        name = value.name or ""
        if takes_name:
            value.name = self._namer.value_name(f"{name}_unscaled")
        else:
            name = self._namer.value_name(f"{name}_scaled")
        scaled = ir.derived_tensor(
            source, lambda array: _times(array, power), source.dtype, name=name
        )
        copy = ir.Value(
            name=name,
            type=to_ir_type(tensor(source.dtype)),
            shape=ir.Shape(source.shape.numpy()),
            const_value=scaled,
        )
        graph.register_initializer(copy)
        self._constants[copy] = source.dtype
        return copy

    def _multiply(self, value: ir.Value, power: int, dtype: ir.DataType, users: _Users) -> None:
        graph = value.graph
        if graph is None:
            raise ValueError(f"{value.name}: it belongs to no graph")
        factor = self._power(power)
        suffix = f"times_{_power_name(power)}"
        result = ir.Value(
            name=self._namer.value_name(f"{value.name}_{suffix}"),
            type=to_ir_type(_FLOAT),
            shape=None if value.shape is None else value.shape.copy(),
        )
        node = ir.Node(
            "",
            "Mul",
            [value, factor],
            outputs=[result],
            name=self._namer.node_name(f"{value.name}_{suffix}"),
        )
        ir.stamp(node, _NAME, f"times 2^{power}")
        ir.insert_behind(graph, value, node)
        cell = self._labelling.graph.fixed[dtype]
        self._types[result] = _FLOAT
        self._results[result] = cell
        self._operands[node] = [cell, cell]
        self._variables[node] = ["T", "T"]
        ir.redirect(users.operands, result)
        for owner, index in users.outputs:
            owner.outputs[index] = result
        if any(owner is self._model.graph for owner, _ in users.outputs):
            public = value.name or ""
            value.name = self._namer.value_name(f"{public}_scaled")
            result.name = public

    def _power(self, power: int) -> ir.Value:
        """One constant per power for the whole model, in the main graph."""
        if power not in self._powers:
            name = self._namer.value_name(_power_name(power))
            number = ir.tensor(np.array(math.ldexp(1.0, power), np.float32), name=name)
            value = ir.Value(
                name=name,
                type=to_ir_type(_FLOAT),
                shape=ir.Shape([]),
                const_value=number,
            )
            self._model.graph.register_initializer(value)
            self._constants[value] = ir.DataType.FLOAT
            self._powers[power] = value
        return self._powers[power]


def _operand(node: ir.Node, index: int) -> ir.Value:
    value = node.inputs[index]
    if value is None:
        raise ValueError(f"{ir.describe(node)}: it has no operand {index}")
    return value


def _power_name(power: int) -> str:
    return f"two_to_{power}" if power >= 0 else f"two_to_minus_{-power}"


def _times(array: NDArray[np.generic], power: int) -> NDArray[np.generic]:
    # ldexp makes a number of an array without axes.
    return np.asarray(np.ldexp(array, power), array.dtype)


def _scale_epsilon(node: ir.Node, power: int) -> None:
    given = node.attributes.get("epsilon")
    epsilon = _EPSILON if given is None else given.as_float()
    node.attributes["epsilon"] = ir.AttrFloat32("epsilon", math.ldexp(epsilon, power))
