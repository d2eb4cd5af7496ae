"""Workflow commands of GitHub Actions, read back as its runner reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpgraph.auditing import AuditReport, NotAudited
from mpgraph.report.ci import github_annotations
from tests.report.audit_samples import transformer


def unescaped(text: str, *, of_property: bool) -> str:
    """What the runner makes of a value (actions/runner, ActionCommand.cs)."""
    pairs = [("%0D", "\r"), ("%0A", "\n")]
    if of_property:
        pairs += [("%3A", ":"), ("%2C", ",")]
    for code, meant in (*pairs, ("%25", "%")):
        text = text.replace(code, meant)
    return text


def read(line: str) -> tuple[str, dict[str, str], str]:
    """The name, the properties and the message of a command."""
    _, head, text = line.split("::", 2)
    name, _, listed = head.partition(" ")
    properties = dict(part.split("=", 1) for part in listed.split(","))
    return (
        name,
        {key: unescaped(one, of_property=True) for key, one in properties.items()},
        unescaped(text, of_property=False),
    )


def commands(report: AuditReport) -> list[tuple[str, dict[str, str], str]]:
    return [read(line) for line in github_annotations(report).splitlines()]


def test_each_finding_is_a_command() -> None:
    report = replace(transformer(10), not_audited=())
    node = report.nodes[3]
    assert github_annotations(report) == (
        "::warning file=folder/transformer.onnx,title=MPG103::activation outside fp16 range"
        f" at {node.outputs[0]} of {node.name} ({node.op_type}): 1.2e+06 > 65504"
        "%0AKeep the node in float32.\n"
    )


@pytest.mark.parametrize(
    ("severity", "command"), [("error", "error"), ("warning", "warning"), ("note", "notice")]
)
def test_severities(severity: str, command: str) -> None:
    report = transformer(10)
    (finding,) = report.hazards
    changed = replace(report, hazards=(replace(finding, severity=severity),))
    assert commands(changed)[0][0] == command


def test_what_was_not_audited_is_a_notice() -> None:
    report = replace(
        transformer(10), hazards=(), not_audited=(NotAudited("Custom_1", "unknown operator"),)
    )
    name, properties, text = commands(report)[0]
    assert (name, properties["title"], text) == (
        "notice",
        "not audited",
        "Custom_1: unknown operator",
    )


def test_no_findings_are_no_output() -> None:
    assert github_annotations(replace(transformer(10), hazards=(), not_audited=())) == ""


def test_what_has_a_meaning_in_commands_is_escaped() -> None:
    report = transformer(10)
    (finding,) = report.hazards
    changed = replace(
        report,
        model="a,b:c%0A.onnx",
        hazards=(replace(finding, value="x::y", evidence="100 %\r\n::error::no"),),
        not_audited=(),
    )
    (line,) = github_annotations(changed).splitlines()
    assert "file=a%2Cb%3Ac%250A.onnx," in line
    assert "x::y" in line
    assert "100 %25%0D%0A::error::no" in line


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=20)


@given(TEXTS, TEXTS, TEXTS)
def test_the_runner_reads_what_was_meant(name: str, value: str, evidence: str) -> None:
    report = transformer(10)
    (finding,) = report.hazards
    changed = replace(
        report,
        model=f"{name}.onnx",
        hazards=(replace(finding, value=value, node="", evidence=evidence),),
        not_audited=(),
    )
    printed = github_annotations(changed)
    assert printed.count("\n") == 1
    assert "\r" not in printed
    command, properties, text = read(printed.removesuffix("\n"))
    assert (command, properties) == (
        "warning",
        {"file": Path(f"{name}.onnx").as_posix(), "title": "MPG103"},
    )
    assert text == f"{finding.finding} at {value}: {evidence}\n{finding.suggestion}"
