"""Notes for viewers: what they say, that nothing else changes, and that files keep them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.passmgr import Facts
from passes.annotate_dtypes import AnnotateDtypes
from tests.runtime.builders import build


def annotate(model: ir.Model, *facts: object) -> bool:
    return AnnotateDtypes().run(model, Facts(*facts))


def notes(model: ir.Model) -> dict[str, tuple[str, str]]:
    """What is noted at each node, by its name, and at each value."""
    found = {f"node {node.name}": ir.annotation(node) for node in ir.nodes(model)}
    for scope in ir.graphs(model):
        values = (*scope.graph.inputs, *(one for node in scope.graph for one in node.outputs))
        found.update({f"{scope.path} {value.name}": ir.annotation(value) for value in values})
    return found


@pytest.mark.parametrize("name", models.builders())
def test_a_second_run_changes_nothing_and_the_graph_stays(name: str) -> None:
    model = ir.load(models.build(name))
    graph = ir.fingerprint(model)
    assert annotate(model) is True
    ir.verify_structure(model)
    assert ir.fingerprint(model) == graph
    found = notes(model)
    assert annotate(model) is False
    assert notes(model) == found


@pytest.mark.parametrize("name", models.builders())
def test_dtypes_are_those_of_the_audit(name: str) -> None:
    model = ir.load(models.build(name))
    model.ir_version = max(model.ir_version, 10)
    report = mpgraph.audit(model)
    annotate(model)
    assert [ir.annotation(node)[0] for node in ir.nodes(model)] == [
        node.dtype for node in report.nodes
    ]
    found = notes(model)
    for value in report.values:
        if value.kind != "initializer":
            assert found[f"{value.graph} {value.name}"] == (value.dtype, "")


@pytest.mark.parametrize("name", [one for one in models.builders() if one != "custom_domain"])
def test_an_annotated_model_loads_and_computes_the_same(name: str, tmp_path: Path) -> None:
    before, path = models.build(name), tmp_path / "annotated.onnx"
    model = ir.load(before)
    annotate(model)
    ir.save(model, path)
    onnx.checker.check_model(path, full_check=True)
    feed = models.feeds(name)[0]
    one, other = (
        onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"]).run(None, feed)
        for source in (before.SerializeToString(), str(path))
    )
    for expected, got in zip(one, other, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert notes(ir.load(path)) == notes(model)


def test_a_file_says_it_where_viewers_look(tmp_path: Path) -> None:
    model = build(
        "g (float[2] x) => (float[2] y) { [low] a = Cast <to = 10> (x) y = Cast <to = 1> (a) }"
    )
    for value in next(iter(model.graph)).outputs:
        value.type = value.shape = None
    annotate(model)
    ir.save(model, tmp_path / "annotated.onnx")
    graph = onnx.load(tmp_path / "annotated.onnx").graph
    props = {entry.key: entry.value for entry in graph.node[0].metadata_props}
    assert props == {"mpgraph.dtype": "float16"}
    (info,) = graph.value_info
    assert info.name == "a"
    assert info.type.tensor_type.elem_type == onnx.TensorProto.FLOAT16
    for value, dtype in (
        (info, "float16"),
        (graph.input[0], "float32"),
        (graph.output[0], "float32"),
    ):
        assert {entry.key: entry.value for entry in value.metadata_props} == {
            "mpgraph.dtype": dtype
        }


def test_a_conversion_says_why() -> None:
    source = models.build("decoder")
    result = mpgraph.convert(
        source, "mixed_float16", target="cuda", verify="structure", annotate=True
    )
    found = {node.name: ir.annotation(node) for node in ir.nodes(result.model)}
    for one in result.plan.assignments:
        if one.op_type and one.name in found:
            reason = found[one.name][1]
            assert reason.endswith(one.reason)
            assert reason.startswith(one.stage)
    kept = found["/model/mask/Gather"]
    assert kept[0] == "float32"
    assert kept[1] == (
        "numerics (constant-overflow): constant outside fp16 range: magnitude 3.403e+38 above 65504"
    )
    casts = [node for node in ir.nodes(result.model) if node.op_type == "Cast" and ir.origin(node)]
    assert casts
    for node in casts:
        assert ir.annotation(node)[1] == ": ".join(ir.origin(node) or ())


def test_a_conversion_says_nothing_unless_asked() -> None:
    model = mpgraph.convert(models.build("mlp"), "float16", target="cuda", verify="structure").model
    assert set(notes(model).values()) == {("", "")}


def test_a_conversion_renews_the_notes_that_there_are() -> None:
    model = ir.load(models.build("mlp"))
    annotate(model)
    result = mpgraph.convert(model, "float16", target="cuda", verify="structure")
    dtypes = {ir.annotation(node)[0] for node in ir.nodes(result.model) if node.op_type == "Gemm"}
    assert dtypes == {"float16"}
    for node in ir.nodes(result.model):
        for value in node.outputs:
            assert ir.annotation(value)[0] == ir.dtype_name(value.dtype)


def test_reasons_stay_when_nothing_else_is_known() -> None:
    options = {"target": "cuda", "verify": "structure", "annotate": True}
    model = mpgraph.convert(models.build("mlp"), "float16", **options).model
    before = notes(model)
    assert annotate(model) is False
    assert notes(model) == before


def test_what_was_noted_wrong_is_noted_right() -> None:
    model = ir.load(models.build("mlp"))
    annotate(model)
    right = notes(model)
    node = next(iter(model.graph))
    ir.note_dtype(node, ir.DataType.INT8)
    ir.note_dtype(node.outputs[0], ir.DataType.INT8)
    assert annotate(model) is True
    assert notes(model) == right


def test_bodies_of_several_types_say_nothing() -> None:
    text = """<ir_version: 10, opset_import: ["": 18, "l": 1]>
        g (float16[2] a, float[2] b) => (float16[2] x, float[2] y) { x = l.f (a) y = l.f (b) }
        <domain: "l", opset_import: ["": 18]> f (p) => (q) { [body] q = Relu (p) }"""
    model = ir.load(onnx.parser.parse_model(text))
    annotate(model)
    found = notes(model)
    assert found["node body"] == ("", "")
    assert found["function:l::f q"] == ("", "")
    assert found["main x"] == ("float16", "")
    assert annotate(model) is False


def test_outputs_of_bodies_stay_without_a_type() -> None:
    model = ir.load(models.build("if_captures"))
    bodies = [scope.graph for scope in ir.graphs(model) if scope.owner is not None]
    for value in (value for body in bodies for value in body.outputs):
        value.type = value.shape = None
    graph = ir.fingerprint(model)
    annotate(model)
    assert ir.fingerprint(model) == graph
    for value in (value for body in bodies for value in body.outputs):
        assert value.type is None
        assert ir.annotation(value) == ("float32", "")
    reloaded = ir.load(ir.to_proto(model))
    assert notes(reloaded) == notes(model)
    onnxruntime.InferenceSession(ir.to_bytes(model), providers=["CPUExecutionProvider"])


def test_values_in_functions_of_old_files_are_left_alone() -> None:
    model = ir.load(models.build("functions"))
    model.ir_version = 9
    annotate(model)
    inside = {name: one for name, one in notes(model).items() if name.startswith("function:")}
    assert inside
    assert set(inside.values()) == {("", "")}


def test_external_weights_go_along_as_they_are(tmp_path: Path) -> None:
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
    path = models.save_decoder(
        tmp_path / "in" / "decoder.onnx", layers=1, hidden=32, ffn=64, vocabulary=64, heads=2
    )
    model = ir.load(path)
    annotate(model)
    files = ir.save(model, tmp_path / "out" / "decoder.onnx")
    assert [one.name for one in files] == ["decoder.onnx", "decoder.onnx.data"]
    before, after = (onnx.load(one) for one in (path, files[0]))
    for one, other in zip(before.graph.initializer, after.graph.initializer, strict=True):
        digests = (hashlib.sha256(each.raw_data).hexdigest() for each in (one, other))
        assert one.name == other.name
        assert len(set(digests)) == 1
