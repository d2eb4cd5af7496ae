"""The job of the audit: what goes in, what it leaves alone, what it cannot look at."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.auditing import AuditReport
from tests.runtime.builders import build


def exposed_types(proto: onnx.ModelProto) -> dict[str, str]:
    """The types that onnxruntime gives the values of the main graph when they are outputs."""
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    present = {value.name for value in copy.graph.output}
    for name in (name for node in copy.graph.node for name in node.output if name):
        if name not in present:
            copy.graph.output.append(onnx.ValueInfoProto(name=name))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        copy.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return {one.name: one.type for one in (*session.get_inputs(), *session.get_outputs())}


LOADABLE = [name for name in models.builders() if name != "custom_domain"]


@pytest.mark.parametrize("name", LOADABLE)
def test_types_are_those_of_onnxruntime(name):
    proto = models.build(name)
    report = mpgraph.audit(proto)
    found = {one.name: one.type for one in report.values if one.graph == "main"}
    expected = exposed_types(proto)
    assert {name: found.get(name) for name in expected} == expected
    dtypes = {one.name: one.dtype for one in report.values if one.graph == "main" and one.dtype}
    assert report.dtypes == dtypes


@pytest.mark.parametrize("name", models.builders())
def test_an_audit_leaves_the_model_alone(name):
    model = ir.load(models.build(name))
    before = ir.to_bytes(model)
    data = None if name == "custom_domain" else models.feeds(name)
    report = mpgraph.audit(model, target="cpu", data=data)
    assert ir.to_bytes(model) == before
    ir.verify_structure(model)
    assert report.model == model.graph.name
    assert len(report.nodes) == sum(1 for _ in ir.nodes(model))


def test_every_form_of_a_model_gives_the_same(tmp_path):
    proto = models.build("decoder")
    path = tmp_path / "decoder.onnx"
    onnx.save(proto, path)
    reports = [mpgraph.audit(one) for one in (proto, ir.load(proto), str(path), path)]
    assert {report.model for report in reports[:2]} == {"decoder"}
    assert {report.model for report in reports[2:]} == {str(path)}
    assert len({report.hazards for report in reports}) == 1
    assert len({report.nodes for report in reports}) == 1


def test_static_evidence_is_told_from_measured():
    model = models.build("mlp")
    static, measured = mpgraph.audit(model), mpgraph.audit(model, data=models.feeds("mlp"))
    assert (static.samples, static.data) == (0, "")
    assert measured.samples == len(models.feeds("mlp"))
    assert all(one.range is None for one in static.values)
    (first, *_) = [one for one in measured.values if one.kind == "input"]
    x = np.concatenate([feed[first.name].ravel() for feed in models.feeds("mlp")])
    assert first.range.minimum == x.min()
    assert first.range.maximum == x.max()
    assert sum(first.range.octaves.values()) + first.range.zeros == x.size


def test_what_cannot_be_audited_is_named_and_the_rest_is_audited():
    report = mpgraph.audit(models.build("custom_domain"), data=models.feeds("custom_domain"))
    assert len(report.nodes) == 5
    named = " ".join(f"{one.where}: {one.reason}" for one in report.not_audited)
    assert "com.example::Fancy" in named
    assert "com.example::Opaque" in named
    assert "value ranges: not measured" in named
    assert report.totals.nodes["float32"] == 5


def test_a_function_of_several_types_is_said_to_be_one():
    proto = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 18, "l": 1]>
        g (float16[2] a, float[2] b) => (float16[2] x, float[2] y) { x = l.f (a) y = l.f (b) }
        <domain: "l", opset_import: ["": 18]> f (p) => (q) { q = Relu (p) }"""
    )
    (missing,) = mpgraph.audit(proto).not_audited
    assert missing.where == "function:l::f"


def test_without_weights_large_constants_are_not_read():
    class Unreadable(np.ndarray):
        pass

    model = build("g (float[2,400] x) => (float[2,3] y) { y = MatMul (x, w) }", w=weight(1e6))

    def fail():
        raise AssertionError("it was read")

    value = model.graph.initializers["w"]
    value.const_value = ir.LazyTensor(
        fail, dtype=ir.DataType.FLOAT, shape=ir.Shape((400, 3)), name="w"
    )
    report = mpgraph.audit(model, weights=False, target="cpu")
    (fact,) = report.weights
    assert (fact.range, fact.elements, fact.nbytes) == (None, 1200, 4800)
    assert report.placement is None
    assert {node.provider for node in report.nodes} == {"CPUExecutionProvider"}


def weight(value: float) -> np.ndarray:
    return np.full((400, 3), value, np.float32)


def test_a_target_that_is_not_installed_is_asked_by_its_kernels():
    report = mpgraph.audit(models.build("mlp"), target="cuda")
    assert report.target == "cuda"
    assert report.placement is None
    assert {node.provider for node in report.nodes} == {"CUDAExecutionProvider"}
    assert {node.placement for node in report.nodes} == {""}


def test_an_installed_target_is_observed():
    report = mpgraph.audit(models.build("mlp"), target="cpu")
    assert report.placement is not None
    assert {node.placement for node in report.nodes} <= {"kept", "fused", "folded", "removed"}
    assert {node.provider for node in report.nodes} == {"CPUExecutionProvider"}


def test_a_model_that_does_not_load_is_still_audited():
    model = build("g (bfloat16[2,2] x) => (bfloat16[2,2] y) { y = MatMul (x, x) }")
    report = mpgraph.audit(model, target="cpu")
    assert [one.code for one in report.hazards if one.severity == "error"] == ["MPG401"]
    (missing,) = report.not_audited
    assert missing.where == "placement"


def test_the_order_is_errors_first():
    model = build(
        "g (float[2] x) => (float[2] y) { h = Cast <to = 10> (x) b = Cast <to = 1> (h)"
        " q = QuantizeLinear (b, s) y = DequantizeLinear (q, s) }",
        s=np.array(0, np.float32),
    )
    severities = [one.severity for one in mpgraph.audit(model).hazards]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert {"error", "warning", "note"} == set(severities)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": "cupa"}, "did you mean"),
        ({"select": ["MPG9"]}, "none of that code"),
        ({"data": {"z": np.zeros(2)}}, "z"),
    ],
)
def test_wrong_options_are_refused(options, said):
    with pytest.raises(mpgraph.InputError, match=said):
        mpgraph.audit(models.build("mlp"), **options)


def test_the_audit_needs_no_onnxruntime():
    program = """
import sys
sys.modules["onnxruntime"] = None
import models, mpgraph
report = mpgraph.audit(models.build("decoder"), target="cuda")
print(len(report.nodes), len(report.hazards))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert isinstance(mpgraph.audit(models.build("mlp")), AuditReport)
