"""Settle what is still free by minimum cut, and write the Plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mpgraph import ir
from mpgraph.analysis import (
    Cell,
    Site,
    Traffic,
    element_counts,
    measure_traffic,
    modelled_bytes,
    place,
)
from mpgraph.passmgr import Facts, Pass
from mpgraph.plan import (
    Assignment,
    Choice,
    Draft,
    Labelling,
    Plan,
    Reason,
    planned_factors,
    summarize,
)
from mpgraph.runtime import Measurements
from mpgraph.schema import tensor
from mpgraph.targets import Support, Target, get_target

__all__ = ["PlaceCasts"]


@dataclass(frozen=True)
class PlaceCasts(Pass):
    """Choose the dtypes of the free cells at the least modelled cost; provide ``Plan``.

    Attributes:
        target: A target name; empty takes the ``Target`` that the facts hold.
    """

    target: str = ""

    name: ClassVar[str] = "place-casts"
    requires: ClassVar[tuple[type, ...]] = (Draft,)
    provides: ClassVar[tuple[type, ...]] = (Plan, Labelling)

    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Solve the placement and put the plan into the facts."""
        draft = facts.get(Draft)
        target = get_target(self.target) if self.target else facts.get(Target)
        measured = facts.find(Measurements)
        counts = element_counts(draft.graph.scopes, draft.flow, _measured_counts(measured))
        traffic = measure_traffic(draft.graph, counts, target.kernel_overhead_bytes)
        start = [
            _start(cell, choice)
            for cell, choice in zip(draft.graph.cells, draft.choices, strict=True)
        ]
        allowed = [choice.allowed for choice in draft.choices]
        labels = place(traffic, start, allowed)
        stored = [
            _stored(label, choice) for label, choice in zip(labels, draft.choices, strict=True)
        ]
        labelling = Labelling(draft.graph, draft.flow, tuple(labels), tuple(stored))
        facts.put(labelling)
        casts, storage = summarize(labelling)
        facts.put(
            Plan(
                fingerprint=ir.fingerprint(model),
                policy=_policy_text(draft),
                target=target.name,
                keep_io_types=_keeps_io_types(draft),
                assignments=tuple(
                    _assignment(cell, site, draft, labels, stored)
                    for cell in draft.graph.cells
                    for site in cell.sites
                ),
                casts=casts,
                storage=storage,
                warnings=tuple(draft.warnings),
                costs=_costs(draft, traffic, start, labels),
                evidence="static" if measured is None else "measured",
                scaling=planned_factors(
                    draft.scaling, labelling, runs_low=_runs_low(target, model)
                ),
                calls=_calls(model),
            )
        )
        return False


def _calls(model: ir.Model) -> dict[str, tuple[str, ...]]:
    """The nodes that call each function, by name or place."""
    if not model.functions:
        return {}
    found: dict[str, list[str]] = {ir.function_path(one): [] for one in model.functions.values()}
    for scope in ir.graphs(model):
        for index, node in enumerate(scope.graph):
            function = model.functions.get(node.op_identifier())
            if function is not None:
                found[ir.function_path(function)].append(node.name or f"{scope.path}#{index}")
    return {path: tuple(names) for path, names in found.items()}


def _runs_low(target: Target, model: ir.Model) -> bool:
    """Whether the target multiplies in float16."""
    variables = {"T": tensor(ir.DataType.FLOAT16)}
    opset = model.opset_imports.get("", 0)
    return target.support("", "Mul", opset, variables) is Support.NATIVE


def _measured_counts(measured: Measurements | None) -> dict[str, int]:
    """The mean number of elements of each value that was measured."""
    if measured is None or not measured.samples:
        return {}
    return {name: seen.count // measured.samples for name, seen in measured.values.items()}


def _start(cell: Cell, choice: Choice) -> ir.DataType:
    return cell.dtype if cell.dtype in choice.allowed else max(choice.allowed, key=_width)


def _width(dtype: ir.DataType) -> tuple[int, int]:
    return dtype.bitwidth, dtype


def _stored(label: ir.DataType, choice: Choice) -> ir.DataType:
    return (
        label
        if choice.storage is None or choice.storage.bitwidth > label.bitwidth
        else choice.storage
    )


def _costs(
    draft: Draft, traffic: Traffic, start: Sequence[ir.DataType], labels: Sequence[ir.DataType]
) -> dict[str, int]:
    all_low = [min(choice.allowed, key=_width) for choice in draft.choices]
    return {
        "original": modelled_bytes(traffic, [cell.dtype for cell in draft.graph.cells]),
        "planned": modelled_bytes(traffic, labels),
        "only_pins": modelled_bytes(traffic, start),
        "all_low": modelled_bytes(traffic, all_low),
    }


def _assignment(
    cell: Cell,
    site: Site,
    draft: Draft,
    labels: Sequence[ir.DataType],
    stored: Sequence[ir.DataType],
) -> Assignment:
    choice = draft.choices[cell.index]
    node = site.node if site.kind == "node" else None
    reason: Reason = choice.reason
    return Assignment(
        key=site.key,
        name=(node.name or "") if node is not None else "",
        op_type=node.op_type if node is not None else "",
        scope=ir.module_scope(node) if node is not None else "",
        before=ir.dtype_name(cell.dtype),
        dtype=ir.dtype_name(labels[cell.index]),
        stored=ir.dtype_name(stored[cell.index]),
        variables=tuple(sorted(site.variables)),
        stage=reason.stage,
        rule=reason.rule,
        reason=reason.text,
        overruled=tuple(map(_lost_text, choice.overruled)),
        mode="" if node is None else draft.modes.get(node, ""),
    )


def _lost_text(reason: Reason) -> str:
    if reason.stage != "rule" or reason.text.startswith(reason.rule):
        return reason.text
    return f"{reason.rule}: {reason.text}"


def _policy_text(draft: Draft) -> str:
    count = len(draft.policy.rules)
    default = draft.policy.default.name
    return f"{default} with {count} {'rule' if count == 1 else 'rules'}" if count else default


def _keeps_io_types(draft: Draft) -> bool:
    kinds = {site.kind for cell in draft.graph.cells if not cell.fixed for site in cell.sites}
    return not kinds & {"input", "output"}
