"""Keras' maps on graphs: what their keys select, how they are kept and converted with."""

from __future__ import annotations

import pytest

import models
import mpgraph
from mpgraph.policy import (
    DTypePolicyMap,
    NodeFacts,
    PolicyMap,
    Resolver,
    as_policy_map,
    parse_policy,
    policy_scope,
)


def resolved(policies: PolicyMap, scope: str) -> str:
    return Resolver(policies).resolve(NodeFacts("n", "Add", scope=scope)).policy.name


def test_keys_of_keras_select_nodes_of_modules():
    policies = DTypePolicyMap(
        "float32", {"encoder/.*": "float16", "encoder/a": "bfloat16", "decoder": "float64"}
    )
    assert resolved(policies, "encoder/b") == "float16"
    assert resolved(policies, "encoder.a") == "bfloat16"
    assert resolved(policies, "decoder") == "float64"
    assert resolved(policies, "decoder/x") == "float32"
    assert list(policies) == ["encoder/.*", "encoder/a", "decoder"]


def test_a_map_of_keras_stays_one():
    policies = DTypePolicyMap("float32", {"a.*": "float16"})
    more = policies.extended({"b.*": "float16"})
    assert type(more) is DTypePolicyMap
    assert more["bb"] == more["aa"] == parse_policy("float16")
    again = DTypePolicyMap.from_config(more.get_config())
    assert again == more
    assert type(again) is DTypePolicyMap


def test_the_default_of_a_map_of_keras_is_the_global_policy():
    with policy_scope("mixed_bfloat16"):
        policies = DTypePolicyMap()
    assert policies.default == parse_policy("mixed_bfloat16")


def test_a_map_of_keras_becomes_a_plain_one_for_a_conversion():
    policies = DTypePolicyMap("float32", {"a.*": "float16"}, range_scaling=True)
    plain = as_policy_map(policies)
    assert type(plain) is PolicyMap
    assert plain == policies
    assert repr(policies) == "DTypePolicyMap('float32', {'a.*': 'float16'}, range_scaling=True)"


@pytest.mark.parametrize(
    "policy",
    [
        DTypePolicyMap("mixed_float16", {"encoder/.*attention": "float32"}),
        DTypePolicyMap("mixed_float16", {"encoder/layers/0/attention": "float32"}),
    ],
    ids=repr,
)
def test_a_map_of_keras_converts(policy):
    plan = mpgraph.convert(models.build("scopes"), policy, target="cuda", verify="load").plan
    by_rule = {one.scope for one in plan.assignments if one.stage == "rule"}
    assert by_rule
    assert all(policy[scope.strip("/").replace(".", "/")].name == "float32" for scope in by_rule)


@pytest.mark.parametrize("key", ["", 3])
def test_a_key_that_is_none(key):
    with pytest.raises(ValueError, match="is no key"):
        DTypePolicyMap("float32", {key: "float16"})
