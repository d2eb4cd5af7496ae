"""Policy maps: content, equality, refusals."""

from __future__ import annotations

import json

import pytest

from mpgraph.errors import PolicyError
from mpgraph.policy import (
    NodeFacts,
    Policy,
    PolicyMap,
    Resolver,
    Rule,
    as_policy_map,
    parse_policy,
    parse_policy_text,
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


def test_pairs_are_taken_as_a_mapping_is():
    pairs = [("op:Add", "float16"), ("b", parse_policy("bfloat16"))]
    assert PolicyMap("float32", pairs) == PolicyMap("float32", dict(pairs))
    with pytest.raises(ValueError, match="same nodes"):
        PolicyMap("float32", [("a", "float16"), ("a", "float16")])


def test_range_scaling_is_part_of_the_content():
    scaled = PolicyMap("float32", {"a": "float16"}, range_scaling=True)
    assert scaled != PolicyMap("float32", {"a": "float16"})
    assert scaled == PolicyMap("float32", {"a": "float16"}, range_scaling=True)
    assert scaled.extended({"b": "float16"}).range_scaling
    assert repr(scaled) == "PolicyMap('float32', {'a': 'float16'}, range_scaling=True)"
    with pytest.raises(TypeError, match="range_scaling"):
        PolicyMap("float32", range_scaling="yes")


def test_attributes_are_those_of_the_default():
    policies = PolicyMap("int8_from_mixed_float16", {"a": "float32"})
    assert policies.name == "map_int8_from_mixed_float16"
    assert policies.default_policy is policies.default
    assert (policies.compute_dtype, policies.variable_dtype) == ("float16", "float32")
    assert policies.quantization_mode == "int8"


LOOKED_UP = PolicyMap(
    "float32",
    {
        "layer/a": "float16",
        "layer/*": "bfloat16",
        "scope:encoder/**": "float64",
        "re:.*head": "float16",
        "op:Softmax": "mixed_float16",
        "domain:ai.onnx": "mixed_bfloat16",
    },
)


@pytest.mark.parametrize(
    ("path", "policy"),
    [
        ("layer/a", "float16"),
        ("name:layer/a", "float16"),
        ("layer/b", "bfloat16"),
        ("encoder/0/attention", "float64"),
        ("encoder.0", "float64"),
        ("lm_head", "float16"),
        ("op:Softmax", "mixed_float16"),
        ("Softmax", "float32"),
        ("elsewhere", "float32"),
    ],
)
def test_lookup_by_path(path, policy):
    assert LOOKED_UP[path] == parse_policy(policy)


def test_lookup_that_several_rules_match():
    with pytest.raises(ValueError, match="encoder/head") as caught:
        LOOKED_UP["encoder/head"]
    assert "scope:encoder/**" in str(caught.value)
    assert "re:.*head" in str(caught.value)


def test_lookup_of_something_else():
    with pytest.raises(TypeError, match="3 is no path"):
        LOOKED_UP[3]


def test_keys():
    assert list(LOOKED_UP)[:3] == ["layer/a", "layer/*", "scope:encoder/**"]
    assert len(LOOKED_UP) == 6
    assert "layer/a" in LOOKED_UP
    assert "name:layer/a" in LOOKED_UP
    assert "layer/b" not in LOOKED_UP
    assert PolicyMap("float32")


def test_config_round_trip():
    rules = parse_policy_text(
        'version = 1\ndefault = "float32"\n'
        '[[rule]]\nscope = "a/**"\nop = ["Exp", "Softmax"]\npolicy = "float16"\n'
        'reason = "because"\noptional = true\n'
        '[[rule]]\ninitializer = "w*"\npolicy = "int8_from_float32"\n'
    ).rules
    own = Policy("own", {"variable_dtype": "float32", "compute_dtype": "bfloat16"})
    policies = PolicyMap(own, [*rules, ("re:x.*", own)], range_scaling=True)
    config = json.loads(json.dumps(policies.get_config()))
    again = PolicyMap.from_config(config)
    assert again == policies
    assert hash(again) == hash(policies)
    assert again.rules[0].reason == "because"
    assert config == json.loads(json.dumps(again.get_config()))


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        ({}, "'default'"),
        ({"default": "float32", "rule": []}, "'rule'"),
        ({"default": "float32", "rules": [{"op": ["Add"]}]}, "'policy'"),
        ({"default": "float32", "rules": [{"policy": "float16", "ops": ["Add"]}]}, "'ops'"),
        ({"default": "half"}, "'half'"),
    ],
)
def test_bad_config(config, shown):
    with pytest.raises(ValueError, match=shown):
        PolicyMap.from_config(config)


def test_repr_shows_rules():
    text = repr(PolicyMap("float32", {"op:Add": "float16"}))
    assert text == "PolicyMap('float32', {'op:Add': 'float16'})"
