from __future__ import annotations

import onnx_ir
import pytest
from onnx_ir.passes import FunctionalPass, InPlacePass, PassResult

from mpgraph import ir
from mpgraph.errors import PipelineError
from mpgraph.passmgr import Facts, VerifyEach, format_pipeline, load_pipeline, run_pipeline
from tests.passmgr.sample_passes import small_model

HERE = __name__


def _append_identity(model: onnx_ir.Model) -> None:
    graph = model.graph
    old = graph.outputs[0]
    node = onnx_ir.node("Identity", [old], name="added")
    node.outputs[0].name = "z"
    node.outputs[0].type = old.type
    node.outputs[0].shape = old.shape
    graph.append(node)
    graph.outputs[0] = node.outputs[0]


class AddInPlace(InPlacePass):
    def call(self, model: onnx_ir.Model) -> PassResult:
        _append_identity(model)
        return PassResult(model, modified=True)


class AddOnCopy(FunctionalPass):
    def call(self, model: onnx_ir.Model) -> PassResult:
        copy = model.clone()
        _append_identity(copy)
        copy.producer_name = "third party"
        return PassResult(copy, modified=True)


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "third_party_passes", sys.modules[HERE])


@pytest.mark.parametrize("name", ["AddInPlace", "AddOnCopy"])
def test_a_third_party_pass_changes_our_model_and_is_stamped(name: str) -> None:
    path = f"third_party_passes:{name}"
    model = small_model()
    known = list(model.graph)
    passes = load_pipeline(path)
    assert format_pipeline(each.spec() for each in passes) == path
    assert run_pipeline(model, passes, Facts(), [VerifyEach()])
    assert [node.op_type for node in model.graph] == ["Relu", "Neg", "Identity"]
    *old, added = model.graph
    assert ir.origin(added) == (path, "onnx-ir pass")
    assert all(ir.origin(node) is None for node in [*known, *old])


def test_a_shipped_onnx_ir_pass_runs_with_options() -> None:
    text = (
        "onnx_ir.passes.common:ClearMetadataAndDocStringPass,"
        "onnx_ir.passes.common:DeduplicateInitializersPass{size-limit=8}"
    )
    passes = load_pipeline(text)
    assert format_pipeline(each.spec() for each in passes) == text
    model = small_model()
    model.graph.doc_string = "to go"
    assert run_pipeline(model, passes, Facts())
    assert not model.graph.doc_string


def test_unknown_options_are_refused() -> None:
    passes = load_pipeline("onnx_ir.passes.common:ClearMetadataAndDocStringPass{depth=1}")
    with pytest.raises(PipelineError, match="does not take these options"):
        run_pipeline(small_model(), passes, Facts())
