"""The published schemas beside the documents that they describe."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

import models
import mpgraph
from mpgraph.auditing import AuditReport
from mpgraph.cli.output import _jsonable
from mpgraph.report.documents import (
    audit_document,
    audit_schema,
    diff_document,
    diff_schema,
)
from tests.auditing.rule_cases import CASES
from tests.report.audit_samples import transformer

SCHEMAS = {"audit": audit_schema(), "diff": diff_schema()}


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of a schema that lists properties."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict):
            yield schema
        for part in schema.values():
            yield from objects(part)


def closed(schema: dict[str, Any]) -> jsonschema.Draft202012Validator:
    """A validator that also refuses what the schema does not name."""
    strict = copy.deepcopy(schema)
    for part in objects(strict):
        part["additionalProperties"] = False
    return jsonschema.Draft202012Validator(strict)


VALIDATORS = {name: closed(schema) for name, schema in SCHEMAS.items()}


def printed(document: object) -> Any:
    """What a reader of the printed text gets."""
    return json.loads(json.dumps(_jsonable(document), allow_nan=False))


def check(report: AuditReport) -> None:
    VALIDATORS["audit"].validate(printed(audit_document(report)))


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_shipped_file_is_the_schema_of_the_classes(name: str) -> None:
    shipped = files("mpgraph.report.documents").joinpath("data", f"{name}.schema.json")
    text = shipped.read_text(encoding="utf-8")
    assert json.loads(text) == SCHEMAS[name], f"write it with mpgraph {name} --schema"


@pytest.mark.parametrize("name", SCHEMAS)
def test_it_is_a_schema_and_says_what_everything_means(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"urn:mpgraph:{name}:1"
    parts = list(objects(SCHEMAS[name]))
    assert len(parts) > len(SCHEMAS[name]["$defs"]) / 2
    for part in parts:
        assert set(part["required"]) == set(part["properties"])
        assert all(one["description"] for one in part["properties"].values())


@pytest.mark.parametrize("name", models.builders())
def test_audits_of_built_models_are_valid(name: str) -> None:
    data = None if name == "custom_domain" else models.feeds(name)
    check(mpgraph.audit(models.build(name), target="cpu", data=data))


def test_audits_with_every_rule_are_valid() -> None:
    for case in CASES:
        check(mpgraph.audit(case.broken(), target=case.target, data=case.data))


@pytest.mark.parametrize("target", [None, "cuda"])
def test_audits_without_a_session_are_valid(target: str | None) -> None:
    check(mpgraph.audit(models.build("qdq"), target=target, weights=False))
    check(transformer(200, provider="CPUExecutionProvider"))


@pytest.mark.parametrize("name", ["mlp", "decoder", "functions", "lstm", "qdq", "loop_state"])
def test_differences_are_valid(name: str) -> None:
    before = models.build(name)
    after = mpgraph.convert(before, "float16", target="cuda", verify="structure").model
    for pair in ((before, after), (after, before), (before, before)):
        document = printed(diff_document(mpgraph.diff(*pair, target="cpu")))
        VALIDATORS["diff"].validate(document)


def test_wrong_documents_are_refused() -> None:
    good = printed(audit_document(mpgraph.audit(models.build("qdq"), target="cpu")))
    VALIDATORS["audit"].validate(good)
    assert good["format"] == 1
    for path, wrong in (
        (("format",), 2),
        (("nodes", 0, "dtype"), None),
        (("nodes", 0, "inputs"), "x"),
        (("weights", 0, "range", "minimum"), "much"),
        (("weights", 0, "range", "octaves"), {"low": 1}),
        (("hazards", 0, "severity"), "fatal"),
        (("values", 0, "shape"), [1.5]),
        (("placement", "nodes", 0, "state"), "lost"),
        (("layers", "totals", "casts"), "none"),
    ):
        bad = copy.deepcopy(good)
        *above, last = path
        part = bad
        for step in above:
            part = part[step]
        assert last in part or isinstance(part, list)
        part[last] = wrong
        assert not VALIDATORS["audit"].is_valid(bad), path


def test_a_document_of_a_later_version_may_have_more() -> None:
    document = printed(audit_document(mpgraph.audit(models.build("mlp"))))
    document["nodes"][0]["colour"] = "blue"
    assert jsonschema.Draft202012Validator(SCHEMAS["audit"]).is_valid(document)
    assert not VALIDATORS["audit"].is_valid(document)


def test_numbers_that_json_lacks_are_texts() -> None:
    document = printed({"range": [float("inf"), float("-inf"), float("nan"), 1.5]})
    number = SCHEMAS["audit"]["$defs"]["number"]
    for one in document["range"]:
        jsonschema.validate(one, number)
    assert document["range"] == ["inf", "-inf", "nan", 1.5]
