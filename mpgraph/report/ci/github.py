"""Findings as workflow commands, which GitHub Actions shows as annotations.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mpgraph.auditing import AuditReport, Finding
from mpgraph.auditing.finding import Severity
from mpgraph.report.ci.location import model_path

__all__ = ["github_annotations"]

_COMMANDS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}
_IN_TEXT = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = _IN_TEXT | str.maketrans({":": "%3A", ",": "%2C"})


def github_annotations(report: AuditReport) -> str:
    """One command a line for each finding, errors first, then for what could not be audited.

    There is no line to point at in an ONNX file, so that an annotation names the file alone and
    says in words where it is in the model.
    """
    return "".join(f"{line}\n" for line in _lines(report))


def _lines(report: AuditReport) -> Iterator[str]:
    path = model_path(report.model)
    for one in report.hazards:
        yield _command(_COMMANDS[one.severity], path, one.code, _text(one))
    for missing in report.not_audited:
        yield _command("notice", path, "not audited", f"{missing.where}: {missing.reason}")


def _text(finding: Finding) -> str:
    places = dict.fromkeys(filter(None, (finding.value, finding.node)))
    where = f" at {' of '.join(places)}" if places else ""
    return f"{finding.finding}{where}: {finding.evidence}\n{finding.suggestion}"


def _command(name: str, path: str, title: str, text: str) -> str:
    properties = {"file": path, "title": title}
    listed = ",".join(f"{key}={one.translate(_IN_PROPERTY)}" for key, one in properties.items())
    return f"::{name} {listed}::{text.translate(_IN_TEXT)}"
