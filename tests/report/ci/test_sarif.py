"""SARIF logs: the official schema, what they say, and that findings are known again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import onnx
import pytest

import models
import mpgraph
from mpgraph.auditing import AuditReport, NotAudited
from mpgraph.auditing.rules import RULES
from mpgraph.report.ci import sarif_log
from tests.auditing.rule_cases import CASES
from tests.report.audit_samples import inserted, transformer

SCHEMA = json.loads(Path(__file__).with_name("sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def run_of(report: AuditReport) -> dict[str, Any]:
    """The run of the log of a report, which the schema accepts."""
    log = json.loads(json.dumps(sarif_log(report, mpgraph.__version__)))
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    return run


def marks(report: AuditReport) -> list[str]:
    return [
        one["partialFingerprints"]["primaryLocationLineHash"] for one in run_of(report)["results"]
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.code}-{case.at}")
def test_a_finding_of_each_rule_is_a_result(case: Any) -> None:
    report = mpgraph.audit(case.broken(), target=case.target, data=case.data)
    run = run_of(report)
    rules = run["tool"]["driver"]["rules"]
    assert [one["ruleId"] for one in run["results"]] == [one.code for one in report.hazards]
    for result, finding in zip(run["results"], report.hazards, strict=True):
        assert rules[result["ruleIndex"]]["id"] == finding.code
        assert result["level"] == finding.severity
        for text in (finding.finding, finding.evidence):
            assert text in result["message"]["text"]
        (location,) = result["locations"]
        kinds = {one["kind"]: one["name"] for one in location["logicalLocations"]}
        assert kinds.get("value", "") == finding.value
        assert ("node" in kinds) == bool(finding.key)
        assert ("module" in kinds) == bool(finding.scope)
    assert len(set(marks(report))) == len(report.hazards)


def test_all_rules_are_described() -> None:
    rules = run_of(transformer(10))["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(RULES)
    for described, rule in zip(rules, RULES.values(), strict=True):
        assert described["name"] == rule.kind
        assert described["shortDescription"]["text"] == rule.title
        assert described["defaultConfiguration"]["level"] == rule.severity
        assert described["properties"]["tags"][0]
        assert described["help"]["text"].startswith(described["fullDescription"]["text"])
        assert " ".join(rule.explanation.split()) in " ".join(described["help"]["text"].split())
    assert "remove-cast-pairs" in rules[list(RULES).index("MPG202")]["help"]["text"]


def test_the_place_of_a_finding() -> None:
    report = transformer(10)
    (result,) = run_of(report)["results"]
    (location,) = result["locations"]
    node = report.nodes[3]
    assert location["logicalLocations"] == [
        {
            "name": node.outputs[0],
            "fullyQualifiedName": f"main{node.outputs[0]}",
            "kind": "value",
        },
        {"name": node.name, "fullyQualifiedName": f"main{node.name}", "kind": "node"},
        {
            "name": node.scope.rpartition("/")[2],
            "fullyQualifiedName": node.scope,
            "kind": "module",
        },
    ]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "folder/transformer.onnx", "index": 0}
    assert physical["region"] == {"startLine": 1}


@pytest.mark.parametrize(
    ("given", "uri"),
    [
        ("model.onnx", "model.onnx"),
        ("./a/../model.onnx", "model.onnx"),
        ("a folder/50%#1.onnx", "a%20folder/50%25%231.onnx"),
        ("{cwd}/x/model.onnx", "x/model.onnx"),
    ],
)
def test_the_model_is_named_from_the_working_folder(
    given: str, uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_of(replace(transformer(10), model=given.format(cwd=tmp_path)))
    assert run["artifacts"][0]["location"]["uri"] == uri


def test_a_model_elsewhere_has_an_absolute_uri(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    monkeypatch.chdir(inside)
    run = run_of(replace(transformer(10), model="../model.onnx"))
    assert run["artifacts"][0]["location"]["uri"] == (tmp_path / "model.onnx").as_uri()


def test_what_was_not_audited_is_a_notification() -> None:
    report = replace(transformer(10), not_audited=(NotAudited("Custom_1", "unknown operator"),))
    (invocation,) = run_of(report)["invocations"]
    assert invocation["executionSuccessful"] is True
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"]["text"] == "not audited: Custom_1: unknown operator"


def test_fingerprints_are_those_of_the_next_run() -> None:
    proto = models.build("decoder")
    before = marks(mpgraph.audit(proto))
    assert len(set(before)) == len(before) == 13
    assert marks(mpgraph.audit(proto)) == before


def moved(report: AuditReport) -> AuditReport:
    """The report with a node before all others, so that each stands one place further on."""
    hazards = tuple(
        replace(one, key=f"main#{int(one.key.removeprefix('main#')) + 1}") for one in report.hazards
    )
    return replace(inserted(report, 0), hazards=hazards)


def test_fingerprints_do_not_depend_on_positions_evidence_and_order() -> None:
    report = transformer(200)
    before = marks(report)
    assert len(set(before)) == len(before) == 4
    assert marks(moved(report)) == before
    other = tuple(replace(one, evidence="2.4e+06 > 65504") for one in report.hazards)
    assert marks(replace(report, hazards=other)) == before
    assert marks(replace(report, hazards=report.hazards[::-1])) == before[::-1]


def test_what_makes_another_finding_makes_another_fingerprint() -> None:
    report = transformer(10)
    (finding,) = report.hazards
    others: Sequence[dict[str, str]] = (
        {"code": "MPG104"},
        {"finding": "activation outside bf16 range"},
        {"value": "other"},
        {"key": "main#5"},
    )
    found = [marks(replace(report, hazards=(replace(finding, **one),))) for one in others]
    assert len({mark for (mark,) in [marks(report), *found]}) == len(others) + 1


def test_findings_that_look_alike_are_numbered() -> None:
    report = transformer(10)
    twice = replace(report, hazards=report.hazards * 2)
    first, second = marks(twice)
    assert first.endswith(":1")
    assert second == first[:-1] + "2"


def test_the_schema_refuses_what_is_wrong() -> None:
    log = sarif_log(transformer(10), "1.0")
    for part, name in (
        (log, "runs"),
        (log["runs"][0], "tool"),
        (log["runs"][0]["results"][0], "message"),
    ):
        wrong = json.loads(json.dumps(log))
        assert VALIDATOR.is_valid(wrong)
        text = json.dumps(part, sort_keys=True)
        broken = json.loads(
            json.dumps(log, sort_keys=True).replace(text, text.replace(f'"{name}"', '"nothing"', 1))
        )
        assert not VALIDATOR.is_valid(broken)


def test_a_model_file(tmp_path: Path) -> None:
    path = tmp_path / "qdq.onnx"
    onnx.save(models.build("qdq"), path)
    run = run_of(mpgraph.audit(path, target="cpu"))
    assert {one["ruleId"] for one in run["results"]} >= {"MPG301", "MPG304"}
    assert run["tool"]["driver"]["version"] == mpgraph.__version__
