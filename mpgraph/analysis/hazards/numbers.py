"""Numbers that nodes bring along themselves: in attributes, and in integers that they cast."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from mpgraph import ir
from mpgraph.analysis.cells import CellGraph
from mpgraph.analysis.dtype_flow import TypeFlow
from mpgraph.analysis.hazards.operators import MOVES
from mpgraph.analysis.hazards.ranges import range_of_tensor

__all__ = ["Number", "find_numbers"]

_HARMLESS_NAMES = frozenset(
    [
        "clip",
        "cubic_coeff_a",
        "epsilon",
        "keys_floats",
        "keys_tensor",
        "max",
        "min",
        "momentum",
        "nodes_hitrates",
        "nodes_splits",
        "nodes_values",
        "ratio",
        "replaced_value_float",
        "scales",
        "spatial_scale",
        "threshold",
    ]
)
"""Attributes whose number operands are compared with, or that kernels use in float32 within."""

_HARMLESS_OPERATORS = frozenset({"Dropout", "HardSigmoid", "LRN"})
"""Operators whose result stays in range whatever their attributes are."""

_STEPS = 8
"""How many operators may move an integer constant before it is cast."""

_FLOATS = frozenset({ir.AttributeType.FLOAT, ir.AttributeType.FLOATS, ir.AttributeType.TENSOR})

_Parameter = tuple[ir.OperatorIdentifier, str]


@dataclass(frozen=True, slots=True)
class Number:
    """A number that works in a node although no operand holds it as a float.

    Attributes:
        node: The node.
        name: The attribute that holds it; empty for an integer constant that is cast.
        largest: Its magnitude; the largest of several.
        smallest: The same where calls of a function give several numbers: that of the call with
            the smallest. Infinity where it is zero everywhere.
    """

    node: ir.Node
    name: str
    largest: float
    smallest: float

    @property
    def text(self) -> str:
        """Where the number stands, as a phrase."""
        return f"attribute {self.name}" if self.name else "the integers cast"


_Magnitudes = tuple[float, float]
_NONE: _Magnitudes = (0.0, inf)


def find_numbers(graph: CellGraph, flow: TypeFlow) -> tuple[Number, ...]:
    """Collect the numbers of all nodes that have a float result and are no constant."""
    given = _parameters(graph, flow)
    return tuple(_numbers(graph, flow, given))


def _numbers(
    graph: CellGraph, flow: TypeFlow, given: Mapping[_Parameter, _Magnitudes]
) -> Iterator[Number]:
    for scope in graph.scopes:
        for node in scope.graph:
            if node in flow.calls or not any(value in graph.results for value in node.outputs):
                continue
            for name, attribute in node.attributes.data.items():
                if attribute.type not in _FLOATS or _is_harmless(node, name):
                    continue
                largest, smallest = _resolved(attribute, scope.function, given)
                if largest:
                    yield Number(node, name, largest, smallest)
            if (node.domain, node.op_type) == ("", "Cast"):
                amax = _cast_integers(node)
                if amax:
                    yield Number(node, "", amax, amax)


def _is_harmless(node: ir.Node, name: str) -> bool:
    return name in _HARMLESS_NAMES or node.op_type in _HARMLESS_OPERATORS


def _cast_integers(node: ir.Node) -> float:
    """The magnitude of the integer constant that a Cast takes; 0 where it takes something else."""
    value = node.inputs[0] if node.inputs else None
    for _ in range(_STEPS):
        producer = None if value is None else value.producer()
        if producer is None or producer.op_type not in MOVES or not producer.inputs:
            break
        value = producer.inputs[0]
    constant = None if value is None else _content(value)
    if constant is None or not constant.dtype.is_integer():
        return 0.0
    return range_of_tensor(constant).amax


def _content(value: ir.Value) -> ir.TensorProtocol | None:
    node = value.producer()
    fill = None if node is None else node.attributes.get("value")
    if node is None or node.op_type != "ConstantOfShape" or fill is None or fill.is_ref():
        return ir.constant_tensor(value)
    return fill.as_tensor()


def _resolved(
    attribute: ir.Attr, function: ir.Function | None, given: Mapping[_Parameter, _Magnitudes]
) -> _Magnitudes:
    if not attribute.is_ref():
        return _magnitudes(attribute)
    if function is None:
        return _NONE
    return given.get((function.identifier(), attribute.ref_attr_name or ""), _NONE)


def _magnitudes(attribute: ir.Attr) -> _Magnitudes:
    amax = 0.0
    if attribute.type == ir.AttributeType.FLOAT:
        amax = abs(attribute.as_float())
    elif attribute.type == ir.AttributeType.FLOATS:
        array = np.abs(np.asarray(attribute.as_floats(), np.float64))
        amax = float(array.max(initial=0.0, where=np.isfinite(array)))
    elif attribute.as_tensor().dtype in ir.FLOATS:
        amax = range_of_tensor(attribute.as_tensor()).amax
    return (amax, amax) if 0 < amax < inf else _NONE


def _parameters(graph: CellGraph, flow: TypeFlow) -> Mapping[_Parameter, _Magnitudes]:
    """What the attributes of each function are called with, defaults included."""
    found: dict[_Parameter, _Magnitudes] = {}
    passed: dict[_Parameter, list[_Parameter]] = {}
    if not flow.calls:
        return found
    for scope in graph.scopes:
        for node in scope.graph:
            function = flow.calls.get(node)
            if function is None:
                continue
            for name, attribute in (*function.attributes.items(), *node.attributes.items()):
                if attribute.type not in _FLOATS:
                    continue
                target = function.identifier(), name
                if attribute.is_ref() and scope.function is not None:
                    source = scope.function.identifier(), attribute.ref_attr_name or ""
                    passed.setdefault(source, []).append(target)
                elif not attribute.is_ref() and attribute.value is not None:
                    found[target] = _both(found.get(target, _NONE), _magnitudes(attribute))
    _pass_on(found, passed)
    return found


def _both(first: _Magnitudes, second: _Magnitudes) -> _Magnitudes:
    return max(first[0], second[0]), min(first[1], second[1])


def _pass_on(
    found: dict[_Parameter, _Magnitudes], passed: Mapping[_Parameter, list[_Parameter]]
) -> None:
    """Let inner calls have what the functions around them are called with."""
    pending = deque(found)
    while pending:
        source = pending.popleft()
        for target in passed.get(source, ()):
            joined = _both(found.get(target, _NONE), found[source])
            if joined != found.get(target, _NONE):
                found[target] = joined
                pending.append(target)
