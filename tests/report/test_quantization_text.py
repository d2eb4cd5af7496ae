from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

import models
import mpgraph
from mpgraph.quant import PlannedNode, QuantizationPlan
from mpgraph.quant.form_errors import CorrectedBiases
from mpgraph.quant.planned import LOSES_TIME
from mpgraph.report.quantization_text import account_line, bias_line, quantization_lines
from mpgraph.report.text import render_conversion
from mpgraph.runtime.quantizers import AccountedQuantizer, QuantizerAccount


def node(form, reason="because", counts=True):
    return PlannedNode("main#0", "n", "MatMul", "", "int8", form, counts, reason)


def lines(*nodes, room=9, width=80):
    return [str(one) for one in quantization_lines(QuantizationPlan(nodes), room, width)]


def test_forms_and_reasons_are_counted():
    found = lines(node("static"), node("static"), node("dynamic_rows"), node("float", "too slow"))
    assert found == [
        "Quantized: 3 of 4 quantizable nodes: 2 static, 1 dynamic per row",
        "    1  float: too slow",
    ]


def test_what_only_loses_time_can_be_had_for_the_size():
    *_, last = lines(node("static"), node("float", LOSES_TIME))
    assert "--allow-slow" in last and "smaller" in last


def test_what_passes_numbers_on_does_not_count():
    (title,) = lines(node("static"), node("static", counts=False))
    assert title.startswith("Quantized: 1 of 1 ")


def test_reasons_fit_the_room():
    many = [node("float", f"reason {index} " + "x" * 90) for index in range(9)]
    found = lines(node("static"), *many, room=4)
    assert len(found) == 5
    assert found[-1] == "    6  float: for 6 other reasons (--json has all)"
    assert max(map(len, found)) <= 80


def test_what_was_so_before_is_said():
    (title, reason) = lines(node("given"), node("float", "no constant"))
    assert title == "Quantized already: 1 of 2 quantizable nodes; nothing was added"
    assert reason.endswith("float: no constant")


def quantizer(outcome, reason=""):
    return AccountedQuantizer("main#1", "dq", "DequantizeLinear", outcome, "", reason)


def test_the_account_is_one_line():
    account = QuantizerAccount("cpu", (quantizer("fused"), quantizer("edge"), quantizer("fused")))
    assert account_line(account) == "Q/DQ: 2 fused, 1 at an edge to float, 0 left"
    left = quantizer("left", "Gelu runs as a Gelu in float")
    assert account_line(replace(account, quantizers=(left,))) == (
        "Q/DQ: 0 fused, 1 left (dq: Gelu runs as a Gelu in float)"
    )
    assert account_line(QuantizerAccount("cuda", missed="no card")) == (
        "Q/DQ: not known what cuda fuses: no card"
    )
    assert account_line(QuantizerAccount("cpu")) == account_line(None) == ""


@pytest.mark.parametrize(
    ("name", "policy"),
    [("decoder", "int8_from_mixed_float16"), ("residual_cnn", "int8_dynamic_from_float32")],
)
def test_it_fits_one_screen(name, policy, screen):
    result = mpgraph.convert(models.build(name), policy, data=models.feeds(name))
    plan = replace(result.plan, warnings=("a warning of some length " * 3,) * 5)
    report = replace(result.report, plan=plan)
    busy = SimpleNamespace(model=result.model, plan=plan, report=report)
    render_conversion(busy, screen.console)
    found = screen.text.splitlines()
    assert len(found) <= 24
    assert max(map(len, found)) <= 80
    assert screen.text.isascii()


def test_corrected_biases_are_said_with_what_they_gained():
    assert bias_line(None) == ""
    one = bias_line(CorrectedBiases(("main#0",), 1e-3, 1e-4))
    assert one == "Biases corrected at 1 node: worst output 30.0 dB to 40.0 dB"
    assert bias_line(CorrectedBiases(("a", "b"), 1e-3, 0.0)).endswith("30.0 dB to inf dB")
