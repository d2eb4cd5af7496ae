"""Statistics of values inside If, Loop and Scan, computed in the graph and handed out of it.

Values of a body cannot all be outputs: a branch that is not taken has none, and their shapes may
change from step to step. Their statistics always have one shape. Each watched value becomes a row
of two tables, one merged by maximum and one by sum; a branch holds neutral rows for the values of
the other one, and a loop merges the tables of its steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.analysis.dtype_flow import TypeFlow
from mpgraph.runtime.statistics import ValueStatistics
from mpgraph.runtime.statistics_function import (
    DOMAIN,
    MAXIMA,
    SUMS,
    Builder,
    statistics_function,
)

__all__ = ["Instrumented", "instrument_bodies", "read_statistics"]

# Round, IsInf and the other operators of the statistics exist from here on.
_MIN_OPSET = 11
_SCAN_MIN_OPSET = 9


@dataclass(frozen=True, slots=True)
class Instrumented:
    """A model whose outputs are the statistics of the values inside its bodies.

    Attributes:
        model: The model; outputs come in pairs, one per container of the main graph.
        names: For each pair, the value names of the rows.
        outputs: The pairs of output names: maxima and sums.
    """

    model: ir.Model
    names: tuple[tuple[str, ...], ...]
    outputs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Table:
    names: tuple[str, ...]
    maxima: ir.Value
    sums: ir.Value


def instrument_bodies(model: ir.Model, flow: TypeFlow) -> Instrumented:
    """A copy of ``model`` that returns the statistics of its bodies and nothing else.

    ``names`` is empty when there is nothing to watch, or the opset is older than 11.
    """
    opset = ir.opset_of("", model.opset_imports) or 0
    floats = _watched(model, flow)
    if opset < _MIN_OPSET or not floats:
        return Instrumented(model, (), ())
    copy = ir.clone(model)
    tables = _Bodies(copy, floats, opset).run()
    copy.graph.outputs.clear()
    for table in tables:
        copy.graph.outputs.extend((table.maxima, table.sums))
    copy.opset_imports[DOMAIN] = 1
    function = statistics_function(opset)
    copy.functions[function.identifier()] = function
    copy.ir_version = max(copy.ir_version, 8)
    return Instrumented(
        copy,
        tuple(table.names for table in tables),
        tuple((table.maxima.name or "", table.sums.name or "") for table in tables),
    )


def read_statistics(inner: Instrumented, got: Mapping[str, Any]) -> dict[str, ValueStatistics]:
    """The statistics by value name, out of what one run returned."""
    found: dict[str, ValueStatistics] = {}
    for names, (maxima, sums) in zip(inner.names, inner.outputs, strict=True):
        for name, high, total in zip(names, got[maxima], got[sums], strict=True):
            seen = _from_row(high, total)
            found[name] = found.get(name, ValueStatistics()).merge(seen)
    return found


def _from_row(high: np.ndarray[Any, Any], total: np.ndarray[Any, Any]) -> ValueStatistics:
    count, nonfinite, nonzero, flushed, subnormal, fractional = (int(total[i]) for i in range(6))
    finite = max(1, count - nonfinite)
    return ValueStatistics(
        count,
        nonfinite,
        -float(high[1]) if count > nonfinite else math.inf,
        float(high[0]) if count > nonfinite else -math.inf,
        -float(high[2]),
        float(total[6]) / finite,
        float(total[7]) / finite,
        nonzero,
        flushed,
        subnormal,
        fractional == 0,
    )


def _watched(model: ir.Model, flow: TypeFlow) -> set[str]:
    names = set()
    for scope in ir.graphs(model):
        if scope.owner is None or scope.function is not None:
            continue
        for value in ir.defined_values(scope.graph):
            is_tensor = str(flow.type(value)).startswith("tensor(")
            if value.name and is_tensor and flow.dtype(value) in ir.FLOATS:
                names.add(value.name)
    return names


class _Bodies:
    """Adds the tables to one model, innermost bodies first."""

    def __init__(self, model: ir.Model, floats: set[str], opset: int) -> None:
        self._model = model
        self._floats = floats
        self._opset = opset
        self._namer = ir.Namer(model)

    def run(self) -> list[_Table]:
        return self._containers(self._model.graph)

    def _containers(self, graph: ir.Graph) -> list[_Table]:
        tables = []
        for node in list(graph):
            if node.domain != "":
                continue
            table = None
            if node.op_type == "If":
                table = self._branches(node)
            elif node.op_type == "Loop" or (
                node.op_type == "Scan" and self._opset >= _SCAN_MIN_OPSET
            ):
                table = self._steps(node, graph)
            if table is not None:
                tables.append(table)
        return tables

    def _body(self, graph: ir.Graph) -> _Table | None:
        """The table of a body and of all bodies inside it, computed at its end."""
        own = ir.defined_values(graph)
        tables = self._containers(graph)
        builder = Builder(graph, self._namer)
        for value in own:
            if value.name in self._floats:
                maxima, sums = builder.call(DOMAIN, "Statistics", [value], 2)
                tables.append(_Table((value.name,), maxima, sums))
        return self._joined(builder, tables) if tables else None

    def _branches(self, node: ir.Node) -> _Table | None:
        branches = [node.attributes[name].as_graph() for name in ("then_branch", "else_branch")]
        tables = [self._body(branch) for branch in branches]
        if not any(tables):
            return None
        names = [table.names if table else () for table in tables]
        for index, (branch, table) in enumerate(zip(branches, tables, strict=True)):
            builder = Builder(branch, self._namer)
            rows = [self._neutral(builder, names[0]), self._neutral(builder, names[1])]
            rows[index] = table
            whole = self._joined(builder, [row for row in rows if row is not None])
            branch.outputs.extend((whole.maxima, whole.sums))
        return self._outputs(node, names[0] + names[1], ())

    def _steps(self, node: ir.Node, graph: ir.Graph) -> _Table | None:
        body = node.attributes["body"].as_graph()
        table = self._body(body)
        if table is None:
            return None
        body.outputs.extend((table.maxima, table.sums))
        for name in ("scan_output_axes", "scan_output_directions"):
            if name in node.attributes:
                longer = [*node.attributes[name].as_ints(), 0, 0]
                node.attributes[name] = ir.AttrInt64s(name, longer)
        stacked = self._outputs(node, table.names, ("steps",))
        builder = Builder(graph, self._namer)
        neutral = self._neutral(builder, table.names, (1,))
        if neutral is None:
            return None
        # The neutral step keeps the maximum defined for a loop of no steps.
        maxima = builder.op("Concat", [neutral.maxima, stacked.maxima], axis=0)
        sums = builder.op("Concat", [neutral.sums, stacked.sums], axis=0)
        merged = (
            self._reduced(builder, "ReduceMax", maxima, 18),
            self._reduced(builder, "ReduceSum", sums, 13),
        )
        return self._typed(_Table(table.names, *merged), ())

    def _outputs(self, node: ir.Node, names: tuple[str, ...], leading: tuple[str, ...]) -> _Table:
        count = len(node.outputs)
        node.resize_outputs(count + 2)
        maxima, sums = node.outputs[count:]
        maxima.name = self._namer.value_name("mpgraph.maxima")
        sums.name = self._namer.value_name("mpgraph.sums")
        return self._typed(_Table(names, maxima, sums), leading)

    def _joined(self, builder: Builder, tables: list[_Table]) -> _Table:
        names = tuple(name for table in tables for name in table.names)
        maxima = builder.op("Concat", [table.maxima for table in tables], axis=0)
        sums = builder.op("Concat", [table.sums for table in tables], axis=0)
        return self._typed(_Table(names, maxima, sums), ())

    def _typed(self, table: _Table, leading: tuple[str, ...]) -> _Table:
        rows = len(table.names)
        table.maxima.type = ir.TensorType(ir.DataType.FLOAT)
        table.maxima.shape = ir.Shape((*leading, rows, MAXIMA))
        table.sums.type = ir.TensorType(ir.DataType.DOUBLE)
        table.sums.shape = ir.Shape((*leading, rows, SUMS))
        return table

    def _neutral(
        self, builder: Builder, names: tuple[str, ...], leading: tuple[int, ...] = ()
    ) -> _Table | None:
        if not names:
            return None
        shape = (*leading, len(names))
        maxima = builder.constant(np.full((*shape, MAXIMA), -np.inf, np.float32))
        return _Table(names, maxima, builder.constant(np.zeros((*shape, SUMS), np.float64)))

    def _reduced(self, builder: Builder, op: str, value: ir.Value, axes_input: int) -> ir.Value:
        if self._opset >= axes_input:
            axes = builder.constant(np.array([0], np.int64))
            return builder.op(op, [value, axes], keepdims=0)
        return builder.op(op, [value], keepdims=0, axes=[0])
