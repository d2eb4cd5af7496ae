"""Every Q/DQ that is inserted is accounted for by what a session makes of it."""

from __future__ import annotations

import numpy as np
import pytest

import models
import mpgraph
from mpgraph import ir
from mpgraph.errors import NothingQuantizedError, VerificationError
from mpgraph.runtime import sessions
from mpgraph.runtime.quantizers import QuantizerAccount, unasked_account
from mpgraph.targets import get_target
from tests.runtime.builders import build

QUANTIZERS = {"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"}
# float16 activations: onnxruntime moves casts across the products after they were placed.
BUILDERS = [one for one in models.builders() if one not in ("custom_domain", "float16")]
POLICIES = ("int8_from_float32", "int8_weight_from_float32", "uint4/32_from_float32")


def quantized(name, policy, **options):
    return mpgraph.convert(models.build(name), policy, verify="load", **options)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", BUILDERS)
def test_none_is_left_over_and_the_audit_finds_nothing_in_them(name, policy):
    try:
        result = quantized(name, policy, data=models.feeds(name))
    except NothingQuantizedError:
        return
    account = result.quantizers
    assert account.missed == ""
    assert [(one.name, one.reason) for one in account.left] == []
    known = {one.code for one in mpgraph.audit(models.build(name)).hazards}
    found = [one for one in mpgraph.audit(result.model).hazards if one.code not in known]
    # MPG304 speaks of CPUs without VNNI, for which a conversion on one of them takes 7 bits.
    assert [one for one in found if one.code.startswith("MPG3") and one.code != "MPG304"] == []


def test_each_inserted_node_is_accounted_for_once():
    result = quantized("residual_cnn", "int8_from_float32", data=models.feeds("residual_cnn"))
    account = result.quantizers
    nodes = list(result.model.graph)
    assert [one.name for one in account.quantizers] == [
        node.name for node in nodes if node.op_type in QUANTIZERS
    ]
    assert account.outcomes["fused"] + account.outcomes["edge"] == len(account.quantizers)
    assert account.kernels["QLinearConv"] > account.kernels["QLinearAdd"] > 0
    edges = [one.op_type for one in account.quantizers if one.outcome == "edge"]
    assert edges == ["QuantizeLinear", "DequantizeLinear"], "the image, and what the head reads"


def test_what_is_forced_is_left_over_with_the_reason():
    result = quantized("residual_cnn", "int8_dynamic_from_float32", allow_slow=True)
    left = result.quantizers.left
    assert len(left) == result.quantizers.outcomes["left"] > 0
    reasons = {one.reason for one in left}
    assert any(reason.startswith("/stem/Conv runs as a ") for reason in reasons)
    assert all(reason.endswith(" in float") for reason in reasons)


def test_a_model_without_quantizers_asks_no_session():
    result = quantized("lstm", "int8_from_float32", data=models.feeds("lstm"))
    assert result.quantizers.quantizers == ()
    assert result.quantizers.missed == ""


def test_what_was_not_asked_says_why():
    weights = quantized("mlp", "int8_from_float32").model
    assert unasked_account(weights, get_target("cpu"), "no such card").missed == "no such card"
    float_model = ir.load(models.build("mlp"))
    assert unasked_account(float_model, get_target("cpu"), "no such card").missed == ""
    only_structure = mpgraph.convert(models.build("mlp"), POLICIES[0], verify="structure")
    assert only_structure.quantizers is None


def test_a_model_that_loads_but_is_not_observed_says_why(monkeypatch):
    def refuse(model, target):
        raise VerificationError("session", "the graph cannot be saved")

    monkeypatch.setattr("mpgraph.runtime.quantizers.observed_placement", refuse)
    result = quantized("mlp", "int8_weight_from_float32")
    assert result.report.checked.loaded == "cpu"
    assert result.quantizers == QuantizerAccount("cpu", missed="the graph cannot be saved")


@pytest.mark.parametrize("policy", ["float32", "int8_weight_from_float32", "int8_from_float32"])
def test_one_session_is_the_check_and_tells_the_account(policy, monkeypatch):
    opened, opening = [], sessions._open

    def counted(*given):
        opened.append(given)
        return opening(*given)

    monkeypatch.setattr(sessions, "_open", counted)
    result = quantized("mlp", policy)
    assert result.report.checked.loaded == "cpu"
    assert len(opened) == 1
    assert (result.quantizers is None) == (policy == "float32")


def test_a_target_that_is_not_here_gives_no_account():
    result = quantized("mlp", "int8_from_float32", target="tensorrt", data=models.feeds("mlp"))
    assert result.quantizers.quantizers == ()
    assert result.quantizers.missed


@pytest.mark.parametrize("activation", ["Relu", "LeakyRelu", "Sigmoid", "Tanh"])
@pytest.mark.parametrize("policy", ["int8", "int8_weight", "int4", "uint4/16"])
def test_products_that_onnxruntime_fuses_in_float_first(policy, activation):
    """MatMul, Add and an activation: a FusedGemm, were nothing done about it."""
    generator = np.random.default_rng(0)
    model = build(
        f"""g (float[8,32] x) => (float[8,48] z) {{
            k = MatMul (x, w)
            h = Add (k, b)
            y = {activation} (h)
            z = Abs (y)
        }}""",
        w=(generator.normal(size=(32, 48)) / 6).astype(np.float32),
        b=generator.normal(size=48).astype(np.float32),
    )
    feed = {"x": generator.normal(size=(8, 32)).astype(np.float32)}
    result = mpgraph.convert(model, f"{policy}_from_float32", data=[feed])
    assert result.quantization.quantized == 1
    assert result.quantizers.left == ()
    assert result.report.checked.comparison.worst.sqnr_db > 15
