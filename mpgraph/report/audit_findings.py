"""The findings of an audit in a few lines: one per kind, with a count and an example."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from mpgraph.auditing import Finding

__all__ = ["finding_table", "severity_counts"]

_STYLES = {"error": "bold red", "warning": "yellow", "note": ""}


def severity_counts(findings: Sequence[Finding]) -> str:
    """How many errors, warnings and notes there are, such as ``2 warnings, 1 note``."""
    counts = {name: sum(one.severity == name for one in findings) for name in _STYLES}
    texts = (
        f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count
    )
    return ", ".join(texts) or "no findings"


def finding_table(findings: Sequence[Finding], lines: int, width: int) -> Table:
    """One line per kind, the worst first and then by code; the last line counts the rest.

    Args:
        findings: What was found, errors first.
        lines: How many lines there are.
        width: How wide they may be.
    """
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for one in findings:
        groups.setdefault((one.severity, one.code, one.finding), []).append(one)
    order = list(_STYLES)
    ranked = [groups[key] for key in sorted(groups, key=lambda key: (order.index(key[0]), key[1:]))]
    shown = ranked if len(ranked) <= lines else ranked[: max(0, lines - 1)]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False, width=width)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for group in shown:
        table.add_row(*_cells(group))
    if len(shown) < len(ranked):
        hidden = sum(map(len, ranked[len(shown) :]))
        kinds = len(ranked) - len(shown)
        table.add_row("", "", str(hidden), Text(f"more of {kinds} kinds (--json lists all)"))
    return table


def _cells(group: Sequence[Finding]) -> Iterator[Text | str]:
    first = group[0]
    yield first.code
    yield Text(first.severity, style=_STYLES[first.severity])
    yield str(len(group))
    where = first.value or first.node
    example = f"{where}: {first.evidence}" if where else first.evidence
    lead = "e.g. " if len(group) > 1 else ""
    yield Text.assemble((first.finding, "bold"), f"  {lead}{example}")
