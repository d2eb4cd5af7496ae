from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

import models
import mpgraph
from mpgraph.auditing.decisions import with_decisions
from mpgraph.auditing.job import audit_model

TEXT = """
<ir_version: 10, opset_import: ["": 20]>
net (float[N, 4] x) => (float[N, 4] y)
<float[4, 4] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}> {
    NAMED h = MatMul(x, w)
    [soft] s = Softmax<axis = 1>(h)
    [last] y = MatMul(s, w)
}
"""


def parsed(name: str = "[first]") -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT.replace("NAMED", name))


def decisions(model: onnx.ModelProto, result: mpgraph.Conversion) -> dict[str, str]:
    report = with_decisions(audit_model(model), result.plan, result.quantization)
    return {node.name or node.key: node.decision for node in report.nodes}


def test_each_node_tells_dtype_stage_and_what_was_overruled() -> None:
    policy = {"name:soft": "float32"}
    result = mpgraph.convert(parsed(), mpgraph.PolicyMap("float16", policy), target="cuda")
    found = decisions(parsed(), result)
    assert found["first"].startswith("float16 by policy")
    assert found["soft"].startswith("float32 by ")
    assert "name:soft" in found["soft"]


def test_nodes_of_the_result_are_found_among_inserted_casts() -> None:
    result = mpgraph.convert(parsed(), "float16", target="cuda")
    report = with_decisions(audit_model(result.model), result.plan)
    told = {node.op_type: node.decision for node in report.nodes}
    assert told["MatMul"].startswith("float16")
    assert told["Cast"] == ""


def test_unnamed_nodes_are_found_where_nothing_moved() -> None:
    result = mpgraph.convert(parsed(""), "float16", target="cuda")
    report = with_decisions(audit_model(parsed("")), result.plan)
    assert [node.decision.split()[0] for node in report.nodes] == ["float16"] * 3


def test_an_unnamed_node_that_moved_gets_no_other_nodes_reason() -> None:
    result = mpgraph.convert(parsed(""), "float16", target="cuda")
    report = audit_model(parsed(""))
    first, soft, last = report.nodes
    shifted = replace(
        report, nodes=(replace(soft, key="main#0"), replace(first, key="main#1"), last)
    )
    told = {node.key: node.decision for node in with_decisions(shifted, result.plan).nodes}
    assert told["main#1"] == ""
    assert told["main#0"].startswith("float")
    assert told["main#2"].startswith("float16")


def test_quantization_is_told_too() -> None:
    feeds = [{"x": np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)}]
    result = mpgraph.convert(parsed(), "int8_from_float32", data=feeds, allow_slow=True)
    found = decisions(parsed(), result)
    assert "int8" in found["first"]
    assert "in the form" in found["first"]


@pytest.mark.parametrize("name", models.builders())
def test_every_builder_finds_the_reasons_of_its_named_nodes(name: str, tmp_path: Path) -> None:
    model = models.build(name)
    result = mpgraph.convert(model, "mixed_float16", target="cuda", verify="structure")
    report = with_decisions(audit_model(model), result.plan)
    planned = {(one.key.rpartition("#")[0], one.name) for one in result.plan.assignments}
    unique = [(node.graph, node.name) for node in report.nodes if node.name]
    for node in report.nodes:
        identity = (node.graph, node.name)
        if node.name and identity in planned and unique.count(identity) == 1:
            assert node.decision, node
    assert json.dumps([node.decision for node in report.nodes])
