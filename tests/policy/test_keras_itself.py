"""The rows against Keras itself, where it is installed (`pip install mpgraph[keras]`)."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from mpgraph.dtype_policies import deserialize
from mpgraph.policy import DTypePolicy, DTypePolicyMap
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
from tests.policy.test_keras_conformance import name_of

SHARED = [row for row in NAMES if isinstance(row.ours, Accepted) and row.keras is None]


@pytest.fixture(scope="module")
def keras() -> Any:
    os.environ.setdefault("KERAS_BACKEND", "numpy")
    return pytest.importorskip("keras", reason="keras is not installed", exc_type=ImportError)


@pytest.mark.parametrize("row", NAMES, ids=name_of)
def test_names(keras: Any, row: NameRow) -> None:
    expected = row.keras or row.ours
    read = keras.dtype_policies.get if isinstance(row.name, str) else keras.DTypePolicy
    if isinstance(expected, Refused):
        with pytest.raises(expected.kind):
            read(row.name)
        return
    policy = read(row.name)
    assert policy.name == row.name
    assert policy.compute_dtype == expected.compute
    assert policy.variable_dtype == expected.variable
    assert policy.quantization_mode == expected.mode
    block = getattr(policy, "block_size", getattr(policy, "group_size", None))
    assert block == expected.block


@pytest.mark.parametrize("row", LOOKUPS, ids=lambda row: f"{row.path} in {len(row.pairs)}")
def test_lookups(keras: Any, row: LookupRow) -> None:
    policies = keras_map(keras, row.pairs)
    if isinstance(row.ours, str):
        assert policies[row.path].name == row.ours
        return
    with pytest.raises(ValueError, match=re.escape(row.path)) as caught:
        policies[row.path]
    assert all(pattern in str(caught.value) for pattern in row.ours)


@pytest.mark.parametrize("row", INPUTS, ids=lambda row: row.label)
def test_inputs(keras: Any, row: InputRow) -> None:
    """Keras' layers map `convert_input` over structures; mpgraph's takes them itself."""
    policy = keras.DTypePolicy("mixed_float16")
    converted = keras.tree.map_structure(
        lambda array: policy.convert_input(array, row.autocast, "float16"), row.value
    )
    dtypes = tuple(keras.backend.standardize_dtype(array.dtype) for array in arrays_of(converted))
    assert dtypes == row.dtypes
    assert structure_of(converted) == structure_of(row.value)


def test_refusals_of_maps(keras: Any) -> None:
    policies = keras_map(keras, (("decoder", "float16"),))
    with pytest.raises(ValueError, match="decoder"):
        policies["decoder"] = "float16"
    with pytest.raises(ValueError, match="nonsense"):
        policies["encoder"] = "nonsense"
    with pytest.raises(ValueError, match="default"):
        keras.dtype_policies.DTypePolicyMap(policies)


@pytest.mark.parametrize("row", SHARED, ids=name_of)
def test_what_keras_serializes_is_read_here(keras: Any, row: NameRow) -> None:
    written = keras.dtype_policies.serialize(keras.dtype_policies.get(row.name))
    assert deserialize(written) == DTypePolicy(row.name)


@pytest.mark.parametrize("row", SHARED, ids=name_of)
def test_what_is_configured_here_is_read_by_keras(keras: Any, row: NameRow) -> None:
    config = DTypePolicy(row.name).get_config()
    theirs = keras.dtype_policies.get(row.name)
    if "mode" not in config:
        assert keras.DTypePolicy.from_config(config) == theirs
    else:
        assert type(theirs).from_config(config) == theirs


def test_a_map_that_keras_serializes_is_read_here(keras: Any) -> None:
    pairs = (("encoder/.*", "float16"), ("decoder", "int4/32_from_mixed_bfloat16"))
    written = keras.dtype_policies.serialize(keras_map(keras, pairs))
    assert deserialize(written) == DTypePolicyMap("float32", pairs)


def test_the_default_global_policy(keras: Any) -> None:
    from mpgraph.config import dtype_policy

    assert keras.config.dtype_policy().name == dtype_policy().name == "float32"


def test_what_is_not_copied(keras: Any) -> None:
    """Faults of Keras that mpgraph's tests exclude: once Keras mends one, its line here fails."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(keras.DTypePolicy("float32"))
    assert keras_map(keras, (("encoder/(", "float16"),)) is not None
    deferred = keras.dtype_policies.DTypePolicyMap(policy_map={"a": keras.DTypePolicy("float16")})
    deferred.get_config()
    assert deferred["a"].name is None


def keras_map(keras: Any, pairs: tuple[tuple[str, str], ...]) -> Any:
    policies = keras.dtype_policies.DTypePolicyMap(keras.DTypePolicy("float32"))
    for key, name in pairs:
        policies[key] = keras.dtype_policies.get(name)
    return policies
