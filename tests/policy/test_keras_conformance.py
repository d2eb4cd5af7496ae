"""Names, maps and inputs behave as in Keras, row by row, but for what differs on purpose."""

from __future__ import annotations

import re

import numpy as np
import pytest

from mpgraph.dtype_policies import get
from mpgraph.errors import PolicyError
from mpgraph.policy import (
    POLICY_NAMES,
    DTypePolicy,
    DTypePolicyMap,
    PolicyMap,
    QuantizedDTypePolicy,
    parse_policy,
)
from tests.policy.keras_rows import (
    INPUTS,
    LOOKUPS,
    NAMES,
    Accepted,
    InputRow,
    LookupRow,
    NameRow,
    Refused,
    arrays_of,
    structure_of,
)

ACCEPTED = [row for row in NAMES if isinstance(row.ours, Accepted)]
REFUSED = [row for row in NAMES if isinstance(row.ours, Refused)]


def name_of(row: NameRow) -> str:
    return repr(row.name)


def attributes(policy: DTypePolicy) -> Accepted:
    return Accepted(
        policy.compute_dtype,
        policy.variable_dtype,
        policy.quantization_mode,
        policy.bits,
        policy.block_size,
    )


@pytest.mark.parametrize("row", ACCEPTED, ids=name_of)
def test_accepted_names(row: NameRow) -> None:
    policy = DTypePolicy(row.name)
    assert attributes(policy) == row.ours
    assert policy.name == row.name
    assert isinstance(policy, QuantizedDTypePolicy) == (policy.quantization_mode is not None)
    assert policy == get(row.name) == parse_policy(row.name)


@pytest.mark.parametrize("row", REFUSED, ids=name_of)
@pytest.mark.parametrize("read", [DTypePolicy, parse_policy, get], ids=lambda f: f.__name__)
def test_refused_names_are_shown_with_what_is_accepted(row: NameRow, read) -> None:
    with pytest.raises(row.ours.kind) as caught:
        read(row.name)
    message = str(caught.value)
    assert isinstance(caught.value, PolicyError)
    assert repr(row.name) in message
    assert row.ours.shows in message
    assert all(name in message for name in (*POLICY_NAMES, "gptq/BITS/GROUP", "int4/BLOCK"))


@pytest.mark.parametrize("row", [row for row in NAMES if row.keras], ids=name_of)
def test_a_difference_from_keras_is_one_and_has_its_reason(row: NameRow) -> None:
    assert row.keras != row.ours
    assert row.why


@pytest.mark.parametrize("row", LOOKUPS, ids=lambda row: f"{row.path} in {len(row.pairs)}")
def test_lookups(row: LookupRow) -> None:
    policies = DTypePolicyMap("float32", dict(row.pairs))
    if isinstance(row.ours, str):
        assert policies[row.path] == DTypePolicy(row.ours)
        return
    with pytest.raises(ValueError, match=re.escape(repr(row.path))) as caught:
        policies[row.path]
    assert all(pattern in str(caught.value) for pattern in row.ours)


@pytest.mark.parametrize("value", ["nonsense", 16, None, DTypePolicyMap("float32")])
def test_a_value_that_is_no_policy(value: object) -> None:
    with pytest.raises(ValueError, match="decoder") as caught:
        DTypePolicyMap("float32", {"decoder": value})
    assert repr(value) in str(caught.value)
    assert all(name in str(caught.value) for name in POLICY_NAMES)


@pytest.mark.parametrize("default", [DTypePolicyMap("float32"), PolicyMap("float32"), 16])
def test_a_default_that_is_no_policy(default: object) -> None:
    with pytest.raises(ValueError, match="the default of a policy map") as caught:
        DTypePolicyMap(default)
    assert repr(default) in str(caught.value)
    assert all(name in str(caught.value) for name in POLICY_NAMES)


@pytest.mark.parametrize("key", ["decoder", "encoder/.*"])
def test_a_key_given_twice(key: str) -> None:
    with pytest.raises(ValueError, match=re.escape(key)):
        DTypePolicyMap("float32", [(key, "float16"), (key, "float16")])


def test_a_bad_expression_is_refused_when_it_is_given() -> None:
    with pytest.raises(ValueError, match="does not compile"):
        DTypePolicyMap("float32", {"encoder/(": "float16"})


@pytest.mark.parametrize("row", INPUTS, ids=lambda row: row.label)
def test_inputs(row: InputRow) -> None:
    converted = DTypePolicy("mixed_float16").convert_input(row.value, row.autocast, "float16")
    assert tuple(str(array.dtype) for array in arrays_of(converted)) == row.dtypes
    assert structure_of(converted) == structure_of(row.value)
    for after, before in zip(arrays_of(converted), arrays_of(row.value), strict=True):
        np.testing.assert_array_equal(after, before.astype(after.dtype))
        assert (after is before) == (after.dtype == before.dtype)


@pytest.mark.parametrize("row", ACCEPTED, ids=name_of)
def test_config_round_trip_is_exact_and_changes_nothing(row: NameRow) -> None:
    policy = DTypePolicy(row.name)
    before = attributes(policy), repr(policy), hash(policy)
    config = policy.get_config()
    again = type(policy).from_config(config)
    assert again == policy and type(again) is type(policy)
    assert again.get_config() == config == policy.get_config()
    assert (attributes(policy), repr(policy), hash(policy)) == before
    assert {policy: 1}[again] == 1


@pytest.mark.parametrize("row", ACCEPTED, ids=name_of)
def test_equal_by_content(row: NameRow) -> None:
    others = [DTypePolicy(other.name) for other in ACCEPTED if other.name != row.name]
    assert DTypePolicy(row.name) not in others
    assert DTypePolicy(row.name) != row.name
