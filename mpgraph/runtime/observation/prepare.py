"""A model in which every wanted value can be reached, and where each of them is."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mpgraph import ir
from mpgraph.analysis.dtype_flow import infer_types
from mpgraph.runtime.faithful import faithful

__all__ = ["Prepared", "prepare"]

_MARK = "mpgraph.observation.names"


@dataclass(frozen=True)
class Prepared:
    """A model to run, and its values under the names of the model that was given.

    Attributes:
        model: Runs on the CPU; functions are inlined, low dtypes are emulated.
        origins: Value of ``model`` -> the wanted values that it is; a value of a function that is
            called twice is found twice.
        inputs: Inputs of the model among them.
        main: Values computed in the main graph, with the dtypes they have there.
        bodies: Values of the bodies of If, Loop and Scan.
        missing: Wanted values that cannot be reached, with the reason.
    """

    model: ir.Model
    origins: Mapping[str, tuple[str, ...]]
    inputs: tuple[str, ...]
    main: Mapping[str, ir.DataType]
    bodies: tuple[str, ...]
    missing: Mapping[str, str]


def prepare(given: ir.Model, wanted: Collection[str]) -> Prepared:
    """Find values, those inside functions and bodies too.

    Args:
        given: The model; it is not changed.
        wanted: Names of float values; each stands for one value of the model.

    Raises:
        VerificationError: Functions cannot be inlined, or low dtypes not emulated.
    """
    model = given
    origins: dict[str, list[str]] = {name: [name] for name in wanted}
    if given.functions:
        model = ir.clone(given)
        inside = {value.name for value in _function_values(model)}
        origins = {name: [name] for name in wanted if name not in inside}
        _mark(model)
        ir.inline_functions(model)
        _add_marked(model, set(wanted) & inside, origins)
    model = faithful(model)
    flow = infer_types(model)
    main: dict[str, ir.DataType] = {}
    bodies: list[str] = []
    found: set[str] = set()
    for scope in ir.graphs(model):
        for value in ir.defined_values(scope.graph):
            name, dtype = value.name or "", flow.dtype(value)
            if name not in origins or dtype not in ir.FLOATS:
                continue
            found.update(origins[name])
            if scope.owner is not None:
                bodies.append(name)
            elif value.producer() is not None and dtype is not None:
                main[name] = dtype
    inputs = tuple(v.name for v in model.graph.inputs if v.name in origins)
    found.update(name for one in inputs for name in origins[one])
    return Prepared(
        model,
        {name: tuple(one) for name, one in origins.items()},
        inputs,
        main,
        tuple(bodies),
        {name: "cannot be reached" for name in wanted if name not in found},
    )


def _function_values(model: ir.Model) -> list[ir.Value]:
    return [
        value
        for function in model.functions.values()
        for scope in ir.function_scopes(function)
        for value in ir.defined_values(scope.graph)
    ]


def _mark(model: ir.Model) -> None:
    """Write the names of its operands on each node of a function, where inlining keeps them."""
    for function in model.functions.values():
        for scope in ir.function_scopes(function):
            for node in scope.graph:
                names = [[v.name if v else "" for v in vs] for vs in (node.inputs, node.outputs)]
                node.metadata_props[_MARK] = json.dumps(names)


def _add_marked(model: ir.Model, inside: Collection[str], origins: dict[str, list[str]]) -> None:
    for node in ir.nodes(model):
        text = node.metadata_props.pop(_MARK, "")
        if not text:
            continue
        inputs, outputs = json.loads(text)
        pairs = [*zip(inputs, node.inputs, strict=False), *zip(outputs, node.outputs, strict=False)]
        for name, value in pairs:
            if value is None or not value.name or name not in inside:
                continue
            known = origins.setdefault(value.name, [])
            if name not in known:
                known.append(name)
