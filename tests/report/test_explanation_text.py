from __future__ import annotations

import pytest

import models
import mpgraph
from mpgraph.conversion import Conversion
from mpgraph.report.text import render_explanation


@pytest.fixture(scope="module")
def decoder() -> Conversion:
    policy = mpgraph.PolicyMap("mixed_float16", {"op:Sigmoid": "float32"})
    return mpgraph.convert(models.build("decoder"), policy, target="cuda", verify="structure")


def test_what_decided_and_what_lost(decoder, screen) -> None:
    found = decoder.plan.find("/model/layers.0/input_layernorm/Sqrt")
    render_explanation(found, decoder.plan, screen.console)
    head, *lines = screen.text.splitlines()
    assert head == "/model/layers.0/input_layernorm/Sqrt (Sqrt): float32"
    facts = " ".join(" ".join(lines).split())
    assert "because decomposed normalisation" in facts
    assert "(numerics, decomposed-normalization)" in facts
    assert "instead of it takes the dtype that moves the fewest bytes" in facts
    assert "scope model/layers/0/input_layernorm" in facts
    assert "policy mixed_float16" in facts


def test_the_rule_is_named(decoder, screen) -> None:
    (found,) = decoder.plan.find("/model/layers.0/mlp/act_fn/Sigmoid")
    render_explanation([found], decoder.plan, screen.console)
    assert "(a rule, op:Sigmoid)" in " ".join(screen.text.split())


def test_the_casts_around_a_node(decoder, screen) -> None:
    (found,) = decoder.plan.find("/model/layers.0/mlp/act_fn/Sigmoid")
    render_explanation([found], decoder.plan, screen.console, decoder.model)
    text = " ".join(screen.text.split())
    assert "before input 0: float16 -> float32 of" in text
    assert "behind output 0: float32 -> float16, taken once" in text


def test_nodes_are_set_apart(decoder, screen) -> None:
    found = decoder.plan.assignments[:2]
    render_explanation(found, decoder.plan, screen.console)
    assert screen.text.count("\n\n") == 1
