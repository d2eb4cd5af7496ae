"""Node data for Model Explorer: its documented form, and that it says what the audit says."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import jsonschema
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.report.model_explorer import node_data_files
from mpgraph.report.model_explorer.colours import (
    byte_thresholds,
    dtype_colour,
    severity_colour,
)

COLOUR = {"type": "string", "pattern": "^#[0-9a-f]{6}$"}
# GraphNodeData of Model Explorer (node_data_builder.py, types.ts), indexed by graph.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "results": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": {
                    "type": "object",
                    "properties": {
                        "value": {"type": ["number", "string"]},
                        "bgColor": COLOUR,
                        "textColor": COLOUR,
                    },
                    "required": ["value"],
                    "additionalProperties": False,
                },
            },
            "thresholds": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"value": {"type": "number"}, "bgColor": COLOUR},
                    "required": ["value", "bgColor"],
                    "additionalProperties": False,
                },
            },
            "showExpandedSummaryOnGroupNode": {"type": "boolean"},
            "showLabelCountColumnsInChildrenStatsTable": {"type": "boolean"},
        },
        "required": ["results"],
        "additionalProperties": False,
    },
}


def files_of(name: str) -> tuple[ir.Model, Any, dict[str, Any]]:
    model = ir.load(models.build(name))
    report = mpgraph.audit(model)
    return model, report, json.loads(json.dumps(node_data_files(model, report)))


@pytest.mark.parametrize("name", models.builders())
def test_every_file_has_the_documented_form(name: str) -> None:
    _, _, files = files_of(name)
    assert set(files) == {"dtype", "bytes", "findings"}
    for metric, document in files.items():
        jsonschema.validate(document, SCHEMA)
        # The key that makes Model Explorer take a document for that of a single graph.
        assert "results" not in document
        for graph in document.values():
            assert graph["name"] == metric


def results(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        item: result for graph in document.values() for item, result in graph["results"].items()
    }


@pytest.mark.parametrize("name", models.builders())
def test_dtypes_and_bytes_are_those_of_the_report(name: str) -> None:
    model, report, files = files_of(name)
    found = Counter(
        result["value"]
        for item, result in results(files["dtype"]).items()
        if not item.startswith("[value] ")
    )
    assert found == Counter(node.dtype for node in report.nodes if node.dtype)
    stored = sum(result["value"] for result in results(files["bytes"]).values())
    assert stored == sum(node.parameter_bytes for node in report.nodes)
    for value in (*model.graph.inputs, *model.graph.initializers.values()):
        result = results(files["dtype"])[f"[value] {value.name}"]
        assert result["value"] == report.dtypes[value.name]
        assert result["bgColor"] == dtype_colour(result["value"])


def test_findings_are_counted_where_they_are() -> None:
    _, report, files = files_of("decoder")
    found = results(files["findings"])
    assert sum(result["value"] for result in found.values()) == len(report.hazards)
    without_node = Counter(one.value for one in report.hazards if not one.key)
    assert {
        item.removeprefix("[value] "): result["value"]
        for item, result in found.items()
        if item.startswith("[value] ")
    } == dict(without_node)
    assert {result["bgColor"] for result in found.values()} == {severity_colour("note")}


def test_the_worst_finding_colours_a_node() -> None:
    model, report, _ = files_of("casts")
    found = results(node_data_files(model, report)["findings"])
    severities = {severity_colour(one.severity) for one in report.hazards}
    assert {result["bgColor"] for result in found.values()} == severities


@pytest.mark.parametrize(
    ("dtypes", "colours"),
    [
        (("float32", "float16", "bfloat16", "float64", "int64"), 5),
        (("float8e4m3fn", "float8e5m2"), 1),
        (("int8", "uint8", "int16", "uint16"), 1),
        (("int4", "uint4", "float4e2m1", "int2", "uint2"), 1),
        (("int64", "int32", "uint32", "uint64", "bool", "string"), 1),
    ],
)
def test_colours_of_dtypes(dtypes: tuple[str, ...], colours: int) -> None:
    found = [dtype_colour(dtype) for dtype in dtypes]
    assert all(re.fullmatch("#[0-9a-f]{6}", one) for one in found)
    assert len(set(found)) == colours


def test_every_number_of_bytes_has_a_shade() -> None:
    limits = [one["value"] for one in byte_thresholds()]
    assert limits == sorted(limits)
    assert limits[0] == 1000
    assert limits[-1] > 10**15
    shades = [one["bgColor"] for one in byte_thresholds()]
    assert len(set(shades)) == len(shades)
