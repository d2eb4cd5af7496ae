"""Which nodes call which local functions."""

from __future__ import annotations

from collections import deque

import onnx_ir
from onnx_ir import OperatorIdentifier

from mpgraph.ir.scopes import function_scopes, nodes

__all__ = ["callers_first", "copy_function", "function_calls"]


def function_calls(model: onnx_ir.Model) -> dict[OperatorIdentifier, list[onnx_ir.Node]]:
    """Returns the nodes that call each local function, in graph order; also for uncalled ones."""
    calls: dict[OperatorIdentifier, list[onnx_ir.Node]] = {key: [] for key in model.functions}
    if not calls:
        return calls
    for node in nodes(model):
        identifier = node.op_identifier()
        if identifier in calls:
            calls[identifier].append(node)
    return calls


def callers_first(model: onnx_ir.Model) -> list[onnx_ir.Function]:
    """Returns the local functions, each behind all functions that call it.

    ONNX forbids recursion; functions that call each other in a circle are left out.
    """
    called = {key: _called(model, function) for key, function in model.functions.items()}
    waiting = dict.fromkeys(called, 0)
    for inner in called.values():
        for key in inner:
            waiting[key] += 1
    ready = deque(key for key, count in waiting.items() if not count)
    ordered = []
    while ready:
        key = ready.popleft()
        ordered.append(model.functions[key])
        for inner_key in called[key]:
            waiting[inner_key] -= 1
            if not waiting[inner_key]:
                ready.append(inner_key)
    return ordered


def _called(model: onnx_ir.Model, function: onnx_ir.Function) -> list[OperatorIdentifier]:
    """The functions that one calls, each once."""
    found = dict.fromkeys(
        node.op_identifier() for scope in function_scopes(function) for node in scope.graph
    )
    return [key for key in found if key in model.functions]


def copy_function(
    model: onnx_ir.Model, function: onnx_ir.Function, taken: set[str]
) -> onnx_ir.Function:
    """Adds a copy of a function to a model, under the first free name of "f_2", "f_3" ...

    Args:
        model: The model that holds `function`.
        function: The function to copy.
        taken: Names of functions in use; the new one is added.
    """
    number = 2
    while (name := f"{function.name}_{number}") in taken:
        number += 1
    taken.add(name)
    copy = function.clone()
    copy.name = name
    model.functions[copy.identifier()] = copy
    return copy
