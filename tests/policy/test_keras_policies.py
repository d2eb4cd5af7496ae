"""The policy classes: construction, content, texts, configs, use in place of names."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle

import pytest

from mpgraph import dtype_policies, mixed_precision
from mpgraph.errors import PolicyError
from mpgraph.policy import (
    DTypePolicy,
    DTypePolicyMap,
    Float8,
    Int4,
    PolicyMap,
    QuantizationMode,
    QuantizedDTypePolicy,
    Resolver,
    as_policy_map,
    parse_policy,
    policy_scope,
)

CUSTOM = {"variable_dtype": "float32", "compute_dtype": "bfloat16"}
OWN_MODE = QuantizationMode(name="mine", weight_dtype="uint8", weight_symmetric=False)
POLICIES = [
    DTypePolicy("mixed_float16"),
    DTypePolicy("gptq/4/128_from_float32"),
    QuantizedDTypePolicy("int8", "mixed_bfloat16"),
    QuantizedDTypePolicy(OWN_MODE, "float32"),
    QuantizedDTypePolicy("int4/32", mixed_precision.Policy("custom", CUSTOM)),
    mixed_precision.Policy("mixed_float16"),
    mixed_precision.Policy("int8_from_float32"),
    mixed_precision.Policy("custom", CUSTOM),
]


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (DTypePolicy("mixed_float16"), '<DTypePolicy "mixed_float16">'),
        (DTypePolicy("int8_from_float32"), '<QuantizedDTypePolicy "int8_from_float32">'),
        (mixed_precision.Policy("mixed_float16"), "<Policy 'mixed_float16'>"),
        (mixed_precision.Policy("custom", CUSTOM), "<Policy 'custom'>"),
    ],
)
def test_reprs(policy, text):
    assert repr(policy) == text


def test_quantized_policies_by_mode_and_source_and_by_name():
    by_name = DTypePolicy("int4/128_from_mixed_float16")
    assert type(by_name) is QuantizedDTypePolicy
    assert by_name == QuantizedDTypePolicy("int4/128", "mixed_float16")
    assert by_name == QuantizedDTypePolicy(mode="int4/128", source_name="mixed_float16")
    assert by_name == QuantizedDTypePolicy("int4/128_from_mixed_float16")
    assert by_name == QuantizedDTypePolicy(Int4(128), DTypePolicy("mixed_float16"))
    assert by_name == DTypePolicy(name=by_name.name) == QuantizedDTypePolicy(name=by_name.name)
    assert by_name.source == DTypePolicy("mixed_float16")
    assert by_name.source_name == "mixed_float16"
    assert by_name.quantization is by_name.mode


def test_a_mode_built_by_hand():
    policy = QuantizedDTypePolicy(mode=OWN_MODE, source="mixed_float16")
    assert policy.name == "mine_from_mixed_float16"
    assert (policy.quantization_mode, policy.bits) == ("mine", 8)
    changed = dataclasses.replace(Float8(), name="mine", observer="mse")
    assert QuantizedDTypePolicy(changed, "mixed_float16") != policy


def test_a_name_of_a_standard_mode_keeps_its_meaning():
    with pytest.raises(ValueError, match="standard one") as caught:
        QuantizedDTypePolicy(dataclasses.replace(Int4(32), weight_symmetric=True), "float32")
    assert "int4/32" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("int8", "half"), "'half'"),
        (("int9", "float32"), "'int9'"),
        (("int8", "int8_from_float32"), "quantizes itself"),
        (("int8_from_foo",), "'foo'"),
        ((Int4(32), QuantizedDTypePolicy("int8", "float32")), "quantizes itself"),
    ],
)
def test_refused_values(arguments, shown):
    with pytest.raises(ValueError, match=shown) as caught:
        QuantizedDTypePolicy(*arguments)
    assert isinstance(caught.value, PolicyError)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((8, "float32"), {}),
        ((), {}),
        (("int8", 32), {}),
        (("int8", "float32"), {"source_name": "float32"}),
        (("int8",), {"name": "int8_from_float32"}),
    ],
)
def test_refused_types(arguments, options):
    with pytest.raises(TypeError) as caught:
        QuantizedDTypePolicy(*arguments, **options)
    assert isinstance(caught.value, PolicyError)


def test_a_source_or_name_left_out_is_the_global_policy():
    with policy_scope("mixed_bfloat16"):
        assert QuantizedDTypePolicy("int8").name == "int8_from_mixed_bfloat16"
        assert DTypePolicy() == DTypePolicy("mixed_bfloat16")
        assert mixed_precision.Policy() == DTypePolicy("mixed_bfloat16")
    with policy_scope(PolicyMap("float16", {"op:Exp": "float32"})):
        assert DTypePolicy() == DTypePolicy("float16")
    with policy_scope(mixed_precision.Policy("custom", CUSTOM)):
        assert mixed_precision.Policy() == mixed_precision.Policy("custom", CUSTOM)
        with pytest.raises(ValueError, match="'custom'"):
            DTypePolicy()
    with policy_scope("int8_from_float32"), pytest.raises(ValueError, match="quantizes itself"):
        QuantizedDTypePolicy("int8")


def test_custom_policy():
    policy = mixed_precision.Policy("custom", CUSTOM)
    assert (policy.name, policy.compute_dtype, policy.variable_dtype) == (
        "custom",
        "bfloat16",
        "float32",
    )
    assert policy.quantization_mode is None
    assert policy.is_mixed
    standard = {"variable_dtype": "float32", "compute_dtype": "float16"}
    assert mixed_precision.Policy("mixed_float16", standard) == DTypePolicy("mixed_float16")


@pytest.mark.parametrize(
    ("name", "config", "shown"),
    [
        ("custom", {"variable_dtype": "float32", "compute_dtype": "int32"}, "'int32'"),
        ("custom", {"variable_dtype": "float32", "compute_dtype": 16}, "16"),
        ("custom", {"variable_dtype": "float32"}, "compute_dtype"),
        ("custom", {**CUSTOM, "loss_scale": 2}, "'loss_scale'"),
        ("mixed_float16", CUSTOM, "computes in float16"),
        ("int8_from_float32", CUSTOM, "no name"),
        ("", CUSTOM, "no name"),
        ("custom", None, "'custom'"),
    ],
)
def test_refused_custom_policies(name, config, shown):
    with pytest.raises(ValueError, match=shown) as caught:
        mixed_precision.Policy(name, config)
    assert isinstance(caught.value, PolicyError)


@pytest.mark.parametrize(("name", "config"), [(16, CUSTOM), ("custom", 16), (16, None)])
def test_custom_policies_of_wrong_types(name, config):
    with pytest.raises(TypeError, match="16"):
        mixed_precision.Policy(name, config)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_frozen(policy):
    for name in ("name", "compute_dtype", "mode", "something"):
        with pytest.raises(AttributeError):
            setattr(policy, name, "float32")
    with pytest.raises(AttributeError):
        del policy.name


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_copies_are_equal(policy):
    for other in (copy.copy(policy), copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert other == policy
        assert hash(other) == hash(policy)
        assert type(other) is type(policy)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_serialized_as_json_and_back(policy):
    config = json.loads(json.dumps(dtype_policies.serialize(policy)))
    again = dtype_policies.get(config)
    assert again == policy
    assert type(again) is type(policy)


@pytest.mark.parametrize(
    "policies",
    [
        PolicyMap(POLICIES[0], {"op:Exp": POLICIES[3], "a": POLICIES[7]}),
        DTypePolicyMap(POLICIES[4], {"a/.*": POLICIES[3], "a": POLICIES[2]}, range_scaling=True),
    ],
)
def test_maps_are_serialized_too(policies):
    config = json.loads(json.dumps(dtype_policies.serialize(policies)))
    again = dtype_policies.deserialize(config)
    assert again == policies
    assert type(again) is type(policies)


def test_content_decides_over_the_class():
    assert mixed_precision.Policy("mixed_float16") == DTypePolicy("mixed_float16")
    assert len({mixed_precision.Policy("mixed_float16"), DTypePolicy("mixed_float16")}) == 1
    assert mixed_precision.Policy("own", CUSTOM) != DTypePolicy("mixed_bfloat16")
    assert DTypePolicy("float32") != PolicyMap("float32")


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_objects_are_taken_wherever_names_are(policy):
    assert parse_policy(policy) is policy
    assert as_policy_map(policy).default is policy
    assert Resolver(PolicyMap("float32", {"op:Exp": policy})).policy_map.rules[0].policy is policy
    assert dtype_policies.get(policy) is policy


@pytest.mark.parametrize(
    ("config", "shown"),
    [
        ({"class_name": "Dense", "config": {}}, "'Dense'"),
        ({"class_name": "DTypePolicy"}, "'config'"),
        ({"class_name": "DTypePolicy", "config": {"nam": "float32"}}, "'nam'"),
        ({"class_name": "DTypePolicy", "config": {"name": "half"}}, "'half'"),
        ({"class_name": "QuantizedDTypePolicy", "config": {"source_name": "float32"}}, "'mode'"),
        ({"class_name": "PolicyMap", "config": {"default": "half"}}, "'half'"),
    ],
)
def test_bad_serialized_policies(config, shown):
    with pytest.raises(ValueError, match=shown):
        dtype_policies.get(config)


@pytest.mark.parametrize("value", [16, 1.5, ["float32"]])
def test_what_stands_for_no_policy(value):
    with pytest.raises(TypeError):
        dtype_policies.get(value)
    with pytest.raises(TypeError):
        dtype_policies.serialize(value)
    with pytest.raises(TypeError):
        dtype_policies.deserialize(value)
