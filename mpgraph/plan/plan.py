"""The Plan: every decision of a conversion with its reason, before anything is rewritten."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from mpgraph import ir
from mpgraph.errors import PlanError
from mpgraph.plan.planned_factor import PlannedFactor

__all__ = ["Assignment", "Plan", "PlannedCast", "PlannedStorage"]

_FORMAT = 1
_HINT = "write one with --dump-plan"


@dataclass(frozen=True, slots=True)
class Assignment:
    """The dtype of one place: a node, a graph input or output, a carried value, a parameter.

    Attributes:
        key: A name of the place that holds for the planned model, such as ``main#12``.
        name: The node's own name; may be empty or shared.
        op_type: The node's operator; empty for places that are no nodes.
        scope: The module path of the node.
        before: The dtype it had.
        dtype: The dtype it gets.
        stored: The dtype in which its constants are stored.
        variables: The type variables that take the dtype.
        stage: The step that decided: schema, policy, rule, numerics, target or placement.
        rule: The selector or hazard behind it; empty where there is none.
        reason: Why, as a phrase.
        overruled: Earlier reasons that lost, as phrases.
        mode: The name of the quantization mode that its policy has; empty where it has none.
    """

    key: str
    name: str
    op_type: str
    scope: str
    before: str
    dtype: str
    stored: str
    variables: tuple[str, ...]
    stage: str
    rule: str
    reason: str
    overruled: tuple[str, ...] = ()
    mode: str = ""


@dataclass(frozen=True, slots=True)
class PlannedCast:
    """A Cast that will stand behind a value.

    Attributes:
        graph: The path of the graph in which it stands.
        value: The value that is cast.
        source: Its dtype.
        target: The dtype of the result.
        consumers: How many operands and graph outputs take the result.
    """

    graph: str
    value: str
    source: str
    target: str
    consumers: int


@dataclass(frozen=True, slots=True)
class PlannedStorage:
    """How one float constant is stored.

    Attributes:
        graph: The path of its graph.
        constant: The name of the initializer, or of the value that a Constant node gives.
        before: The dtype it was stored in.
        stored: The dtypes it will be stored in, one copy each.
        used: The dtypes in which consumers take it.
    """

    graph: str
    constant: str
    before: str
    stored: tuple[str, ...]
    used: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Everything that was decided about one model.

    Attributes:
        fingerprint: The fingerprint of the model that it was made for.
        policy: The policy, as text.
        target: The target's name.
        keep_io_types: Whether graph inputs and outputs keep their dtypes.
        assignments: One per place that could change, in graph order.
        casts: The casts to insert.
        storage: The float constants.
        warnings: Sentences for the user.
        costs: Modelled bytes moved: ``original``, ``planned``, and for comparison ``only_pins``
            (everything not pinned stays) and ``all_low`` (everything not pinned is low).
        evidence: ``static`` or ``measured``.
        scaling: The powers of two of range scaling; empty where nothing is scaled.
        calls: For each body of a local function, by its path, the nodes that call it. A function
            that is called under several policies has a body for each.
    """

    fingerprint: str
    policy: str
    target: str
    keep_io_types: bool
    assignments: tuple[Assignment, ...]
    casts: tuple[PlannedCast, ...]
    storage: tuple[PlannedStorage, ...]
    warnings: tuple[str, ...]
    costs: Mapping[str, int]
    evidence: str
    scaling: tuple[PlannedFactor, ...] = ()
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def callers(self, key: str) -> tuple[str, ...]:
        """The nodes that call the function in whose body a place is; none for the main graph."""
        around = [path for path in self.calls if key.startswith(path) and key[len(path)] in "#/:"]
        return self.calls[max(around, key=len)] if around else ()

    def find(self, name: str) -> tuple[Assignment, ...]:
        """The assignments whose key or node name is ``name``."""
        return tuple(one for one in self.assignments if name in (one.key, one.name))

    @property
    def nodes_by_dtype(self) -> Counter[str]:
        """How many nodes compute in each dtype."""
        return Counter(one.dtype for one in self.assignments if one.op_type)

    def to_dict(self) -> dict[str, Any]:
        """The plan as plain data; ``from_dict`` reads it back."""
        return {"format": _FORMAT, **asdict(self)}

    def to_json(self) -> str:
        """The plan as JSON text; ``from_json`` reads it back."""
        return json.dumps(self.to_dict(), indent=1)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Read a plan that ``to_json`` wrote.

        Raises:
            PlanError: The text is no plan, or of another format.
        """
        try:
            return cls.from_dict(json.loads(text))
        except ValueError as error:
            raise PlanError("plan", f"this is no plan: {error}", _HINT) from error

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Plan:
        """Read what ``to_dict`` gave.

        Raises:
            PlanError: The data is no plan, or of another format.
        """
        try:
            data = dict(document)
            if data.pop("format") != _FORMAT:
                raise PlanError("plan", "it was written in another format", "plan the model anew")
            return cls(
                **data
                | {
                    "assignments": tuple(_assignment(one) for one in data["assignments"]),
                    "casts": tuple(PlannedCast(**one) for one in data["casts"]),
                    "storage": tuple(_storage(one) for one in data["storage"]),
                    "warnings": tuple(data["warnings"]),
                    "scaling": tuple(PlannedFactor(**one) for one in data.get("scaling", ())),
                    "calls": {path: tuple(names) for path, names in data.get("calls", {}).items()},
                }
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise PlanError("plan", f"this is no plan: {error}", _HINT) from error


def _assignment(data: dict[str, Any]) -> Assignment:
    lists = {name: tuple(data[name]) for name in ("variables", "overruled")}
    for name in ("before", "dtype", "stored"):
        ir.parse_dtype(data[name])
    return Assignment(**data | lists)


def _storage(data: dict[str, Any]) -> PlannedStorage:
    lists = {name: tuple(data[name]) for name in ("stored", "used")}
    return PlannedStorage(**data | lists)
