"""Factors of a plan in words: a sentence for the summary, lines for the nodes."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

import mpgraph
from mpgraph.report.scaling_text import factor_lines, scaling_summary
from mpgraph.report.text import render_conversion, render_explanation
from tests.runtime.builders import build

TEXT = """g (float[2,4] x) => (float[2,4] y, float[2,4] h) {
    a = MatMul (x, w)
    h = Add (x, a)
    y = LayerNormalization (h, gain)
}"""


@pytest.fixture(scope="module")
def converted():
    model = build(TEXT, w=np.full((4, 4), 30000.3, np.float32), gain=np.ones(4, np.float32))
    policy = mpgraph.PolicyMap("mixed_float16", range_scaling=True)
    data = [{"x": np.linspace(1.1, 8.3, 8, dtype=np.float32).reshape(2, 4)}]
    return mpgraph.convert(
        model, policy, target="cuda", data=data, verify="structure", tolerance=float("inf")
    )


def printed(render, *arguments):
    console = Console(file=io.StringIO(), width=200)
    render(*arguments, console)
    return console.file.getvalue()


def test_the_summary_counts_values_and_what_scales_them(converted):
    text = scaling_summary(converted.plan)
    assert text == (
        "Range scaling: 2 values are held times 2^-6, by 1 scaled constant, 1 epsilon and"
        " 2 Mul nodes."
    )
    assert text in printed(render_conversion, converted)
    assert converted.report.to_dict()["scaled"] == {
        "constant": 1,
        "value": 2,
        "operand": 1,
        "epsilon": 1,
        "output": 1,
    }


def test_a_plan_without_factors_has_no_sentence():
    model = build("g (float[2] x) => (float[2] y) { y = Relu (x) }")
    result = mpgraph.convert(model, "mixed_float16", target="cuda", verify="structure")
    assert scaling_summary(result.plan) == ""
    assert "Range scaling" not in printed(render_conversion, result)


def test_the_lines_of_a_node_name_operands_results_and_reasons(converted):
    assert [*factor_lines(converted.plan, "main#0")] == [
        "constant w is taken times 2^-6 (MatMul works on scaled values)",
        "result 0 is held times 2^-6 (it overflows: magnitude 8.109e+05, held as 1.267e+04; exact)",
    ]
    (operand, result) = factor_lines(converted.plan, "main#1")
    assert operand == "before input 0: x times 2^-6 in float16 (Add takes it times 2^-6)"
    assert result.startswith("result 0 is held times 2^-6 (it overflows")
    assert [*factor_lines(converted.plan, "main#2")] == [
        "epsilon is taken times 2^-12 (LayerNormalization takes its operand scaled)"
    ]
    assert [*factor_lines(converted.plan, "main")] == [
        "before output 1: h times 2^6 in float32 (the graph returns it)"
    ]


def test_an_explanation_shows_the_lines_of_its_node(converted):
    plan = converted.plan
    text = printed(render_explanation, plan.find("main#1"), plan)
    assert "scaled   before input 0: x times 2^-6 in float16" in text
