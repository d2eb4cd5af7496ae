"""Policy maps: content, equality, refusals."""

from __future__ import annotations

import pytest

from mpgraph.errors import PolicyError
from mpgraph.policy import (
    NodeFacts,
    PolicyMap,
    Resolver,
    Rule,
    as_policy_map,
    parse_policy,
    parse_selector,
)


def test_names_and_policies_are_interchangeable():
    by_name = PolicyMap("mixed_float16", {"op:Softmax": "float32"})
    by_object = PolicyMap(parse_policy("mixed_float16"), {"op:Softmax": parse_policy("float32")})
    assert by_name == by_object
    assert hash(by_name) == hash(by_object)
    assert by_name != PolicyMap("mixed_float16", {"op:Softmax": "float16"})
    assert by_name != PolicyMap("float32", {"op:Softmax": "float32"})
    assert by_name != "mixed_float16"


def test_order_of_rules_has_no_meaning():
    first = PolicyMap("float32", {"a": "float16", "b": "bfloat16"})
    second = PolicyMap("float32", {"b": "bfloat16", "a": "float16"})
    assert first == second
    assert hash(first) == hash(second)


def test_source_of_a_rule_is_no_content():
    rule = parse_selector("a", "float16", source="here:1")
    assert PolicyMap("float32", [rule]) == PolicyMap("float32", {"a": "float16"})


def test_maps_are_immutable():
    policies = PolicyMap("float32", {"a": "float16"})
    with pytest.raises(AttributeError):
        policies.default = parse_policy("float16")
    with pytest.raises(AttributeError):
        policies.extra = 1
    assert isinstance(policies.rules, tuple)


def test_extended_leaves_the_original():
    policies = PolicyMap("float32", {"a": "float16"})
    more = policies.extended({"b": "float16"})
    assert [rule.selector for rule in more.rules] == ["name:a", "name:b"]
    assert len(policies.rules) == 1


@pytest.mark.parametrize("value", [16, None, PolicyMap("float32"), "nonsense", ["float32"]])
def test_value_that_is_no_policy(value):
    with pytest.raises(ValueError, match="op:Add") as caught:
        PolicyMap("float32", {"op:Add": value})
    assert isinstance(caught.value, PolicyError)


@pytest.mark.parametrize("default", [16, None, PolicyMap("float32"), "nonsense"])
def test_default_that_is_no_policy(default):
    with pytest.raises(ValueError, match="default"):
        PolicyMap(default)


def test_duplicate_conditions():
    with pytest.raises(ValueError, match="same nodes") as caught:
        PolicyMap("float32", {"a": "float16", "name:a": "float16"})
    assert "'name:a'" in str(caught.value)


def test_rules_must_be_rules():
    with pytest.raises(ValueError, match="no rule"):
        PolicyMap("float32", ["op:Add"])
    with pytest.raises(ValueError, match="not a selector"):
        PolicyMap("float32", {3: "float16"})


def test_rule_without_conditions_selects_everything_but_loses_to_all():
    everything = Rule(parse_policy("float16"))
    resolver = Resolver(PolicyMap("float32", [everything, parse_selector("op:Add", "bfloat16")]))
    assert resolver.resolve(NodeFacts("", "Mul")).rule is everything
    assert resolver.resolve(NodeFacts("", "Add")).policy.name == "bfloat16"


def test_as_policy_map():
    policies = PolicyMap("float32")
    assert as_policy_map(policies) is policies
    assert as_policy_map("float32") == policies
    assert as_policy_map(parse_policy("float32")) == policies
    with pytest.raises(TypeError):
        as_policy_map(16)


def test_repr_shows_rules():
    text = repr(PolicyMap("float32", {"op:Add": "float16"}))
    assert text == "PolicyMap('float32', {'op:Add': 'float16'})"
