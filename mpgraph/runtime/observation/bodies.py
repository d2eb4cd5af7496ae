"""Values inside If, Loop and Scan, each as rows of one length that are handed out of the body.

Values of a body cannot be outputs themselves: a branch that is not taken has none, and their
shapes may change from step to step. A row holds counts, extremes and evenly spaced elements; a
branch gives an empty row for the values of the other one, a loop stacks the rows of its steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.runtime.observation.observed import Reduced, odd_step
from mpgraph.runtime.statistics_function import DOMAIN, Builder, statistics_function

__all__ = ["BODY_PART", "add_body_rows", "rows_of"]

BODY_PART = 512
"""Elements of one row."""

_HEAD = 4
_WIDTH = _HEAD + BODY_PART
# Round, IsInf and the other operators of the statistics exist from here on.
_MIN_OPSET = 11
_DOUBLE = ir.DataType.DOUBLE


def add_body_rows(model: ir.Model, names: Collection[str]) -> dict[str, str]:
    """Add rows of values in bodies to the outputs of the model, in place.

    Returns:
        The name of the output, float64[rows, width], of each value that could be reached; empty
        for an opset before 11.
    """
    opset = ir.opset_of("", model.opset_imports) or 0
    if opset < _MIN_OPSET or not names:
        return {}
    found = _Rows(model, set(names), opset).run()
    model.graph.outputs.extend(found.values())
    model.opset_imports[DOMAIN] = 1
    function = statistics_function(opset)
    model.functions[function.identifier()] = function
    model.ir_version = max(model.ir_version, 8)
    return {name: value.name or "" for name, value in found.items()}


def rows_of(rows: np.ndarray[Any, Any]) -> Iterator[Reduced]:
    """What the rows of one value hold, empty ones left out."""
    for row in rows[~np.isnan(rows[:, 0])]:
        count, nonfinite = int(row[0]), int(row[1])
        if count:
            part = row[_HEAD:]
            yield Reduced(
                count,
                nonfinite,
                -float(row[3]),
                float(row[2]),
                part[np.isfinite(part)].copy(),
                odd_step(count, BODY_PART),
            )


class _Rows:
    """Adds the rows to one model, innermost bodies first."""

    def __init__(self, model: ir.Model, names: set[str], opset: int) -> None:
        self._model = model
        self._names = names
        self._opset = opset
        self._namer = ir.Namer(model)

    def run(self) -> dict[str, ir.Value]:
        return self._containers(self._model.graph)

    def _containers(self, graph: ir.Graph) -> dict[str, ir.Value]:
        found: dict[str, ir.Value] = {}
        for node in list(graph):
            if node.domain != "":
                continue
            if node.op_type == "If":
                found |= self._branches(node)
            elif node.op_type in ("Loop", "Scan"):
                found |= self._steps(node, graph)
        return found

    def _body(self, graph: ir.Graph) -> dict[str, ir.Value]:
        own = ir.defined_values(graph)
        found = self._containers(graph)
        build = Builder(graph, self._namer)
        for value in own:
            if value.name in self._names:
                found[value.name] = self._row(build, value)
        return found

    def _row(self, build: Builder, value: ir.Value) -> ir.Value:
        maxima, sums = build.call(DOMAIN, "Statistics", [value], 2)
        flat = build.op("Cast", [value], to=int(_DOUBLE))
        flat = build.op("Reshape", [flat, _ints(build, -1)])
        count = build.op("Shape", [flat])
        padded = build.op("Concat", [flat, build.constant(np.array([np.nan]))], axis=0)
        step = build.op("Add", [count, _ints(build, BODY_PART - 1)])
        step = build.op("Div", [step, _ints(build, BODY_PART)])
        even = build.op("Sub", [_ints(build, 1), build.op("Mod", [step, _ints(build, 2)])])
        step = build.op("Add", [step, even])
        indices = build.op("Mul", [build.constant(np.arange(BODY_PART)), step])
        # Indices past the end are those of the NaN behind it; Min takes no integers before 12.
        inside = build.op("Less", [indices, count])
        indices = build.op("Where", [inside, indices, count])
        part = build.op("Gather", [padded, indices], axis=0)
        # Elements, nonfinite ones; maximum, -minimum.
        counts = self._first_two(build, sums)
        extremes = build.op("Cast", [self._first_two(build, maxima)], to=int(_DOUBLE))
        row = build.op("Concat", [counts, extremes, part], axis=0)
        return self._typed(build.op("Reshape", [row, _ints(build, 1, _WIDTH)]), (1,))

    def _first_two(self, build: Builder, table: ir.Value) -> ir.Value:
        flat = build.op("Reshape", [table, _ints(build, -1)])
        return build.op("Gather", [flat, _ints(build, 0, 1)], axis=0)

    def _branches(self, node: ir.Node) -> dict[str, ir.Value]:
        branches = [node.attributes[name].as_graph() for name in ("then_branch", "else_branch")]
        rows = [self._body(branch) for branch in branches]
        names = [*rows[0], *rows[1]]
        for branch, own in zip(branches, rows, strict=True):
            build = Builder(branch, self._namer)
            for name in names:
                row = own.get(name)
                if row is None:
                    row = build.constant(np.full((1, _WIDTH), np.nan))
                branch.outputs.append(row)
        return self._outputs(node, names, (None,))

    def _steps(self, node: ir.Node, graph: ir.Graph) -> dict[str, ir.Value]:
        body = node.attributes["body"].as_graph()
        own = self._body(body)
        if not own:
            return {}
        body.outputs.extend(own.values())
        for name in ("scan_output_axes", "scan_output_directions"):
            if name in node.attributes:
                longer = [*node.attributes[name].as_ints(), *[0] * len(own)]
                node.attributes[name] = ir.AttrInt64s(name, longer)
        stacked = self._outputs(node, list(own), (None, None))
        build = Builder(graph, self._namer)
        empty = build.constant(np.full((1, _WIDTH), np.nan))
        joined = {}
        for name, value in stacked.items():
            # A loop of no steps leaves an array without elements, for which -1 cannot stand.
            rows = build.op("Reshape", [value, _ints(build, -1, _WIDTH)])
            joined[name] = self._typed(build.op("Concat", [rows, empty], axis=0), (None,))
        return joined

    def _outputs(
        self, node: ir.Node, names: list[str], leading: tuple[int | None, ...]
    ) -> dict[str, ir.Value]:
        count = len(node.outputs)
        node.resize_outputs(count + len(names))
        found = dict(zip(names, node.outputs[count:], strict=True))
        for value in found.values():
            value.name = self._namer.value_name("mpgraph.rows")
            self._typed(value, leading)
        return found

    def _typed(self, value: ir.Value, leading: tuple[int | None, ...]) -> ir.Value:
        value.type = ir.TensorType(_DOUBLE)
        value.shape = ir.Shape((*leading, _WIDTH))
        return value


def _ints(build: Builder, *numbers: int) -> ir.Value:
    return build.constant(np.array(numbers, np.int64))
