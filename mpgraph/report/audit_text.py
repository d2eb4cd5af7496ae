"""An audit on one screen: what is computed and stored in which dtype, casts, layers, findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mpgraph.auditing import AuditReport
from mpgraph.report.audit_findings import finding_table, severity_counts
from mpgraph.report.audit_tree import layer_table, legend
from mpgraph.report.placement_text import placement_lines
from mpgraph.report.units import byte_text, count_text, node_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["render_audit"]

_SCREEN = 22
"""Lines of a report at least: those of the smallest screen, less a prompt."""

_PAGE = 38
"""Lines of a report that does not go to a screen."""

_FEWEST = (3, 2)
"""Lines that the tree and the findings get at least."""


def render_audit(report: AuditReport, console: Console) -> None:
    """Print an audit in as many lines as the screen has, and at least as on one of 80 x 24.

    The text is ASCII and says in words what it also says in colour.

    Args:
        report: What ``mpgraph.audit`` returned.
        console: Where to print; its width is kept.
    """
    above: list[Table | Text] = [_title(report), _basis(report), Text(), _totals(report)]
    above += [Text(line) for line in _quantities(report)]
    below = [Text(line, style="yellow") for line in _not_audited(report)]
    screen = max(_SCREEN, console.height - 2) if console.is_terminal else _PAGE
    used = sum(len(console.render_lines(part, pad=False)) for part in (*above, *below))
    for part in (*above, *_body(report, screen - used, console.width), *below):
        console.print(part)


def _title(report: AuditReport) -> Text:
    opset = report.opset_imports.get("", report.opset_imports.get("ai.onnx"))
    others = sorted({node.domain for node in report.nodes if node.domain not in ("", "ai.onnx")})
    facts = [
        report.producer,
        f"opset {opset}" if opset else "",
        *others,
        f"IR {report.ir_version}",
        node_text(len(report.nodes)),
    ]
    name = PurePath(report.model).name
    return Text.assemble((name, "bold"), "  ", ", ".join(filter(None, facts)))


def _basis(report: AuditReport) -> Text:
    if not report.samples:
        return Text("static evidence only: --data measures the ranges of values", style="dim")
    samples = "1 sample" if report.samples == 1 else f"{report.samples} samples"
    return Text(f"measured on {samples} of {report.data}", style="dim")


def _totals(report: AuditReport) -> Table:
    totals = report.totals
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    for head in ("nodes", "constants", "bytes", "multiply-accumulates"):
        table.add_column(head, justify="right", no_wrap=True)
    counted = (
        totals.nodes,
        totals.parameters,
        totals.weight_bytes,
        totals.multiply_accumulates,
    )
    dtypes = dict.fromkeys(dtype for column in counted for dtype in column)
    ranked = sorted(
        dtypes, key=lambda dtype: [-column.get(dtype, 0) for column in reversed(counted)]
    )
    for dtype in ranked:
        nodes, parameters, stored, macs = (column.get(dtype, 0) for column in counted)
        table.add_row(
            dtype,
            str(nodes or ""),
            count_text(parameters) if parameters else "",
            byte_text(stored) if stored else "",
            count_text(macs) if macs else "",
        )
    return table


def _quantities(report: AuditReport) -> Iterator[str]:
    effects = Counter(cast.effect for cast in report.casts)
    if report.casts:
        listed = ", ".join(f"{count} {effect}" for effect, count in effects.most_common())
        yield f"{_plural(len(report.casts), 'cast')}: {listed}"
    if report.quantization:
        kinds = Counter(fact.op_type for fact in report.quantization)
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common(4))
        schemes = Counter(f"{fact.dtype} per {fact.granularity}" for fact in report.quantization)
        common = ", ".join(scheme for scheme, _ in schemes.most_common(3))
        yield f"quantized: {listed} ({common})"
    if report.placement is not None:
        yield f"on {report.target}: {'; '.join(placement_lines(report.placement))}"
    elif report.target:
        counts = Counter(node.provider or "no kernel or unknown" for node in report.nodes)
        listed = ", ".join(f"{node_text(count)} {name}" for name, count in counts.most_common())
        yield f"on {report.target}, by its kernels: {listed}"


def _body(report: AuditReport, lines: int, width: int) -> Iterator[Table | Text]:
    """The tree and the findings share what the screen has left."""
    layers = report.layers.children
    findings = report.hazards
    kinds = len({(one.severity, one.code, one.finding) for one in findings})
    # A blank line and a heading each, and the legend.
    free = lines - 4
    if not layers:
        free += 2
    for_findings = min(kinds, max(_FEWEST[1], free - _FEWEST[0] if layers else free))
    if layers:
        wanted = max(_FEWEST[0], (free + 1) // 2)
        for_findings = min(kinds, max(_FEWEST[1], free - wanted))
        yield Text()
        yield layer_table(report.layers, max(_FEWEST[0], free - for_findings))
        yield legend(report.totals.nodes)
    yield Text()
    yield Text(_verdict(report), style="bold")
    if findings:
        yield finding_table(findings, for_findings, width)


def _verdict(report: AuditReport) -> str:
    text = severity_counts(report.hazards)
    fixable = sum(one.fixable for one in report.hazards)
    if fixable:
        text += f", {fixable} with a --fix"
    return text + (" (--explain CODE says more)" if report.hazards else "")


def _not_audited(report: AuditReport) -> Iterator[str]:
    missing = report.not_audited
    if missing:
        first = missing[0]
        more = f", and {len(missing) - 1} more" if len(missing) > 1 else ""
        yield f"not audited: {first.where}: {first.reason}{more}"


def _plural(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
