"""The statistics of a tensor as an ONNX function, so that a graph can compute them itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mpgraph import ir
from mpgraph.runtime.statistics import FLUSHED_BELOW, SUBNORMAL_BELOW

__all__ = ["DOMAIN", "MAXIMA", "SUMS", "Builder", "statistics_function"]

DOMAIN = "mpgraph.runtime"
MAXIMA = 3
"""Columns of the table of maxima: maximum, -minimum, -smallest magnitude above zero."""
SUMS = 8
"""Columns of the table of sums: elements, nonfinite, nonzero, flushed, subnormal and fractional
ones, sum of magnitudes, sum of squares."""


class Builder:
    """Appends nodes to a graph, with names of their own."""

    def __init__(self, graph: ir.Graph, namer: ir.Namer | None = None) -> None:
        self._graph = graph
        self._namer = namer
        self._count = 0

    def op(self, op_type: str, inputs: Sequence[ir.Value], **attributes: Any) -> ir.Value:
        """The result of a node of the default domain; attributes are ints or lists of ints."""
        attrs = [
            ir.AttrInt64s(name, value) if isinstance(value, list) else ir.AttrInt64(name, value)
            for name, value in attributes.items()
        ]
        return self._append("", op_type, inputs, attrs, 1)[0]

    def call(
        self, domain: str, op_type: str, inputs: Sequence[ir.Value], outputs: int
    ) -> Sequence[ir.Value]:
        """The results of a node of any domain, without attributes."""
        return self._append(domain, op_type, inputs, [], outputs)

    def constant(self, array: np.ndarray[Any, Any]) -> ir.Value:
        """The result of a Constant node."""
        attrs = [ir.AttrTensor("value", ir.tensor(array))]
        value = self._append("", "Constant", [], attrs, 1)[0]
        value.type = ir.TensorType(ir.DataType.from_numpy(array.dtype))
        value.shape = ir.Shape(array.shape)
        return value

    def _append(
        self,
        domain: str,
        op_type: str,
        inputs: Sequence[ir.Value],
        attributes: Sequence[ir.Attr],
        outputs: int,
    ) -> Sequence[ir.Value]:
        node = ir.Node(domain, op_type, inputs, attributes, num_outputs=outputs)
        for output in node.outputs:
            output.name = self._name("value", op_type)
        node.name = self._name("node", op_type)
        self._graph.append(node)
        return node.outputs

    def _name(self, kind: str, op_type: str) -> str:
        base = f"mpgraph.{op_type.lower()}"
        if self._namer is not None:
            of_kind = self._namer.value_name if kind == "value" else self._namer.node_name
            return of_kind(base)
        self._count += 1
        return f"{base}_{self._count}"


def statistics_function(opset: int) -> ir.Function:
    """``Statistics(x) -> (maxima: float32[1, MAXIMA], sums: float64[1, SUMS])``.

    ``x`` is a float tensor of any shape, also empty. Works from opset 11 on.
    """
    x = ir.Value(name="x")
    graph = ir.Graph([x], [], nodes=[], opset_imports={"": opset}, name="Statistics")
    build = Builder(graph)
    wide = build.op("Cast", [x], to=int(ir.DataType.FLOAT))
    flat = build.op("Reshape", [wide, build.constant(np.array([-1], np.int64))])
    # One NaN more, so that no reduction is over nothing; it counts as nonfinite and is taken off.
    values = build.op("Concat", [flat, _floats(build, [np.nan])], axis=0)
    bad = build.op("Or", [build.op("IsNaN", [values]), build.op("IsInf", [values])])
    high = build.op("Where", [bad, _floats(build, -np.inf), values])
    low = build.op("Where", [bad, _floats(build, np.inf), values])
    clean = build.op("Where", [bad, _floats(build, 0.0), values])
    magnitude = build.op("Abs", [clean])
    nonzero = build.op("Greater", [magnitude, _floats(build, 0.0)])
    smallest = build.op("Where", [nonzero, magnitude, _floats(build, np.inf)])
    kept = build.op("Greater", [magnitude, _floats(build, FLUSHED_BELOW)])
    flushed = build.op("And", [nonzero, build.op("Not", [kept])])
    tiny = build.op("Less", [magnitude, _floats(build, SUBNORMAL_BELOW)])
    subnormal = build.op("And", [nonzero, tiny])
    whole = build.op("Equal", [build.op("Round", [clean]), clean])
    maxima = [
        build.op("ReduceMax", [value], keepdims=1)
        for value in (high, build.op("Neg", [low]), build.op("Neg", [smallest]))
    ]
    double = int(ir.DataType.DOUBLE)
    exact = build.op("Cast", [magnitude], to=double)
    added = build.constant(np.array([1.0]))
    shape = build.op("Shape", [flat])
    counts = [
        build.op("Cast", [shape], to=double),
        build.op("Sub", [_counted(build, bad), added]),
        *(_counted(build, flags) for flags in (nonzero, flushed, subnormal)),
        _counted(build, build.op("Not", [whole])),
        build.op("ReduceSum", [exact], keepdims=1),
        build.op("ReduceSumSquare", [exact], keepdims=1),
    ]
    graph.outputs.extend(
        (_row(build, maxima, MAXIMA), _row(build, counts, SUMS)),
    )
    return ir.Function(DOMAIN, "Statistics", graph=graph, attributes=[])


def _floats(build: Builder, value: float | list[float]) -> ir.Value:
    return build.constant(np.array(value, np.float32))


def _counted(build: Builder, flags: ir.Value) -> ir.Value:
    return build.op(
        "ReduceSum", [build.op("Cast", [flags], to=int(ir.DataType.DOUBLE))], keepdims=1
    )


def _row(build: Builder, cells: Sequence[ir.Value], columns: int) -> ir.Value:
    row = build.op("Concat", cells, axis=0)
    return build.op("Reshape", [row, build.constant(np.array([1, columns], np.int64))])
