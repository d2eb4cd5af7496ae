"""The job of the audit: load, collect facts, measure if there is data, run the rules."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mpgraph import ir
from mpgraph.auditing.collect import (
    Weights,
    collect_casts,
    collect_layers,
    collect_nodes,
    collect_placement,
    collect_quantization,
    collect_unknown,
    collect_values,
    collect_weights,
)
from mpgraph.auditing.collect.placement import PlacedNodes, expect_placement
from mpgraph.auditing.context import Context
from mpgraph.auditing.finding import Finding
from mpgraph.auditing.report import AuditReport, NotAudited
from mpgraph.auditing.rules import Rule
from mpgraph.auditing.selection import select_rules
from mpgraph.auditing.subject import Subject, inspect_model
from mpgraph.errors import VerificationError
from mpgraph.runtime import Measurements, input_specs, load_data, measure_ranges
from mpgraph.targets import Target, get_target

if TYPE_CHECKING:
    import onnx

__all__ = ["audit_model"]

_ORDER = {"error": 0, "warning": 1, "note": 2}


def audit_model(
    source: str | os.PathLike[str] | onnx.ModelProto | ir.Model,
    *,
    target: str | Target | None = None,
    data: Any = None,
    weights: bool = True,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> AuditReport:
    """Audit a model: what is computed in which precision, what is lost, wasted or dangerous.

    Args:
        source: A path, a protobuf message or an IR model; none of them is changed.
        target: Where the model shall run, as for ``convert``. Where that provider is installed, a
            session tells where each node runs; else the kernels tell that it is known to have.
        data: Inputs to measure value ranges on: a file or folder as for ``--data``, a feed, or an
            iterable of feeds. Without, all evidence is static.
        weights: Whether to read all weights; else only constants of up to 1 KiB are looked at, and
            no session is created.
        select: Codes, beginnings of codes, or kinds of the rules to run; all by default.
        ignore: The same, of rules to leave out.

    Raises:
        InputError: The model, the target, the data or a rule's name cannot be used.
    """
    rules = select_rules(select, ignore)
    chosen = None if target is None else get_target(target)
    with ir.paused_gc():
        model, refused = ir.load_with_refusals(source)
        subject = inspect_model(model, refused)
        measured = _measure(subject, data)
        constants = collect_weights(subject, read=weights)
        placed = _place(subject, chosen, observe=weights)
        context = _context(subject, constants, measured, chosen, placed)
        return _report(_name(source, model), context, measured, placed, rules)


@dataclass(frozen=True)
class _Measured:
    """What data told, and why not where it could not."""

    found: Measurements = field(default_factory=lambda: Measurements({}))
    missed: tuple[NotAudited, ...] = ()


def _measure(subject: Subject, data: Any) -> _Measured:
    if data is None:
        return _Measured()
    if subject.refused:
        return _Measured(missed=(NotAudited("value ranges", "external data is refused"),))
    feeds = load_data(data, input_specs(subject.model))
    try:
        found = measure_ranges(subject.model, feeds)
    except VerificationError as error:
        return _Measured(missed=(NotAudited("value ranges", f"not measured: {error}"),))
    missed = (
        NotAudited(f"range of {name}", f"not measured: it {reason}")
        for name, reason in found.not_measured.items()
    )
    return _Measured(found, tuple(missed))


def _place(subject: Subject, target: Target | None, *, observe: bool) -> PlacedNodes:
    if target is None:
        return PlacedNodes({})
    if not observe or subject.refused:
        return expect_placement(subject, target)
    return collect_placement(subject, target)


def _context(
    subject: Subject,
    constants: Weights,
    measured: _Measured,
    target: Target | None,
    placed: PlacedNodes,
) -> Context:
    facts = collect_nodes(subject, constants, placed.nodes)
    nodes = (node for _, node in subject.nodes())
    return Context(
        subject=subject,
        weights=constants,
        facts=dict(zip(nodes, facts, strict=True)),
        casts=collect_casts(subject),
        quantization=collect_quantization(subject, constants),
        measured=measured.found.values,
        target=target,
        placement=placed.observed,
    )


def _report(
    name: str,
    context: Context,
    measured: _Measured,
    placed: PlacedNodes,
    rules: Sequence[Rule],
) -> AuditReport:
    subject, model = context.subject, context.subject.model
    nodes = tuple(context.facts.values())
    return AuditReport(
        model=name,
        producer=" ".join(filter(None, (model.producer_name, model.producer_version))),
        ir_version=model.ir_version,
        opset_imports=dict(model.opset_imports),
        target="" if context.target is None else context.target.name,
        data=measured.found.label,
        samples=measured.found.samples,
        nodes=nodes,
        values=collect_values(subject, context.measured),
        weights=context.weights.facts,
        casts=context.casts,
        quantization=context.quantization,
        layers=collect_layers(subject, nodes, context.weights),
        hazards=_findings(context, rules),
        not_audited=(*collect_unknown(subject), *measured.missed, *placed.missed),
        placement=placed.observed,
    )


def _findings(context: Context, rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """What the rules find, errors first; in each group in graph order, then by code."""
    positions: Mapping[str, int] = {
        key: index for index, key in enumerate(context.subject.keys.values())
    }
    found = dict.fromkeys(finding for rule in rules for finding in rule.find(context))
    return tuple(
        sorted(
            found,
            key=lambda one: (_ORDER[one.severity], positions.get(one.key, -1), one.code),
        )
    )


def _name(source: object, model: ir.Model) -> str:
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    return model.graph.name or "model"
