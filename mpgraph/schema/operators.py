"""Operator schemas: the type variables of an operator and what each operand is bound to.

Three sources, asked in this order: schemas a user registered, the ONNX specification
(``onnx.defs``), and a shipped snapshot of onnxruntime's contrib operators.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from typing import Any, Literal

from mpgraph import ir

__all__ = ["Operator", "Parameter", "lookup", "register"]

Option = Literal["single", "optional", "variadic"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A formal input or output.

    Attributes:
        name: Its name in the schema.
        type: A type variable (``T``) or a fixed type string (``tensor(float)``).
        option: Whether it is required, optional, or stands for any number of operands.
        homogeneous: For a variadic one, whether all its operands share one type.
    """

    name: str
    type: str
    option: Option = "single"
    homogeneous: bool = True


@dataclass(frozen=True)
class Operator:
    """One version of an operator.

    Attributes:
        domain: Its domain; the empty string is ai.onnx.
        name: Its op type.
        since_version: The first opset in which this version holds.
        inputs: Its formal inputs, in order.
        outputs: Its formal outputs, in order.
        variables: For each type variable, the type strings it may take.
    """

    domain: str
    name: str
    since_version: int
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    variables: Mapping[str, frozenset[str]] = field(hash=False)

    def input(self, index: int) -> Parameter | None:
        """The formal input of the operand at ``index``; None beyond the last one."""
        return _parameter(self.inputs, index)

    def output(self, index: int) -> Parameter | None:
        """The formal output of the result at ``index``; None beyond the last one."""
        return _parameter(self.outputs, index)


def _parameter(parameters: tuple[Parameter, ...], index: int) -> Parameter | None:
    if index < len(parameters):
        return parameters[index]
    if parameters and parameters[-1].option == "variadic":
        return parameters[-1]
    return None


_registered: dict[tuple[str, str], list[Operator]] = {}


def register(operator: Operator) -> None:
    """Make the schema of a custom operator known to dtype inference and policies.

    A later registration of the same domain, name and version replaces the earlier one.
    """
    versions = _registered.setdefault((operator.domain, operator.name), [])
    versions[:] = [known for known in versions if known.since_version != operator.since_version]
    versions.append(operator)
    versions.sort(key=lambda known: known.since_version)
    lookup.cache_clear()


@cache
def lookup(domain: str, op_type: str, opset: int | None) -> Operator | None:
    """The schema of ``op_type`` in the version that ``opset`` selects.

    None for an unknown operator, and where the domain is not imported (``opset`` is None).
    """
    if opset is None:
        return None
    return (
        _newest(_registered.get((domain, op_type), ()), opset)
        or _specified(domain, op_type, opset)
        or _newest(_contrib().get((domain, op_type), ()), opset)
    )


def _newest(versions: list[Operator] | tuple[Operator, ...], opset: int) -> Operator | None:
    fitting = [operator for operator in versions if operator.since_version <= opset]
    return fitting[-1] if fitting else None


def _specified(domain: str, op_type: str, opset: int) -> Operator | None:
    schema = ir.operator_schema(domain, op_type, opset)
    if schema is None:
        return None
    return Operator(
        domain=domain,
        name=op_type,
        since_version=schema.since_version,
        inputs=tuple(_specified_parameter(formal) for formal in schema.inputs),
        outputs=tuple(_specified_parameter(formal) for formal in schema.outputs),
        variables={
            constraint.type_param_str: frozenset(constraint.allowed_type_strs)
            for constraint in schema.type_constraints
        },
    )


_OPTIONS: Mapping[str, Option] = {
    "Single": "single",
    "Optional": "optional",
    "Variadic": "variadic",
}


def _specified_parameter(formal: Any) -> Parameter:
    return Parameter(
        formal.name, formal.type_str, _OPTIONS[formal.option.name], formal.is_homogeneous
    )


@lru_cache(maxsize=1)
def _contrib() -> Mapping[tuple[str, str], tuple[Operator, ...]]:
    packed = resources.files("mpgraph.schema").joinpath("data/contrib.json.gz").read_bytes()
    table: dict[tuple[str, str], list[Operator]] = {}
    for entry in json.loads(gzip.decompress(packed))["operators"]:
        operator = _contrib_operator(entry)
        table.setdefault((operator.domain, operator.name), []).append(operator)
    return {
        key: tuple(sorted(versions, key=lambda known: known.since_version))
        for key, versions in table.items()
    }


def _contrib_operator(entry: Mapping[str, Any]) -> Operator:
    return Operator(
        domain=entry["domain"],
        name=entry["name"],
        since_version=entry["since"],
        inputs=tuple(Parameter(*formal) for formal in entry["inputs"]),
        outputs=tuple(Parameter(*formal) for formal in entry["outputs"]),
        variables={name: frozenset(types) for name, types in entry["variables"].items()},
    )
