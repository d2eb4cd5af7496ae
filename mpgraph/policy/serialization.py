"""Policies as Keras serializes them: a dict that names the class beside its config."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mpgraph.errors import PolicyTypeError, PolicyValueError
from mpgraph.policy.config_keys import checked_config
from mpgraph.policy.current import global_policy
from mpgraph.policy.custom import Policy
from mpgraph.policy.grammar import ACCEPTED
from mpgraph.policy.keras_map import DTypePolicyMap
from mpgraph.policy.maps import PolicyMap
from mpgraph.policy.names import DTypePolicy, parse_policy
from mpgraph.policy.quantized import QuantizedDTypePolicy

__all__ = ["deserialize", "get_policy", "serialize"]

_READERS: dict[str, Callable[[Mapping[str, Any]], DTypePolicy | PolicyMap]] = {
    "DTypePolicy": DTypePolicy.from_config,
    "Policy": Policy.from_config,
    "QuantizedDTypePolicy": QuantizedDTypePolicy.from_config,
    "PolicyMap": PolicyMap.from_config,
    "DTypePolicyMap": DTypePolicyMap.from_config,
    # What Keras has classes of their own for.
    "FloatDTypePolicy": DTypePolicy.from_config,
    "QuantizedFloat8DTypePolicy": QuantizedDTypePolicy.from_config,
    "Int4DTypePolicy": QuantizedDTypePolicy.from_config,
    "GPTQDTypePolicy": QuantizedDTypePolicy.from_config,
    "AWQDTypePolicy": QuantizedDTypePolicy.from_config,
}


def serialize(policy: DTypePolicy | PolicyMap) -> dict[str, Any]:
    """Return a policy or a map as a dict that JSON can hold; `deserialize` makes an equal one.

    Raises:
        PolicyTypeError: It is neither.
    """
    if not isinstance(policy, DTypePolicy | PolicyMap):
        raise PolicyTypeError("policy", f"{policy!r} is no policy", "give a policy or a map")
    return {
        "module": "mpgraph.dtype_policies",
        "class_name": type(policy).__name__,
        "config": policy.get_config(),
        "registered_name": None,
    }


def deserialize(config: Mapping[str, Any]) -> DTypePolicy | PolicyMap:
    """Return the policy or map of what `serialize`, here or in Keras, returned.

    Raises:
        PolicyTypeError: The config is no mapping, or a value in it has the wrong type.
        PolicyValueError: The class is unknown, a key unknown or missing, or a value wrong.
    """
    given = checked_config(
        config, required=("class_name", "config"), optional=("module", "registered_name")
    )
    reader = _READERS.get(str(given["class_name"]))
    if reader is None:
        raise PolicyValueError(
            "policy config",
            f"unknown class {given['class_name']!r}",
            f"accepted: {', '.join(_READERS)}",
        )
    return reader(given["config"])


def get_policy(identifier: object = None) -> DTypePolicy | PolicyMap:
    """Return the policy that something stands for, as Keras does.

    Args:
        identifier: A policy or a map, a policy name, a serialized policy, or None for the global
            policy.

    Raises:
        PolicyTypeError: It is none of these.
        PolicyValueError: The name or the serialized policy is wrong.
    """
    if identifier is None:
        return global_policy()
    if isinstance(identifier, PolicyMap):
        return identifier
    if isinstance(identifier, Mapping):
        return deserialize(identifier)
    if not isinstance(identifier, str | DTypePolicy):
        raise PolicyTypeError("policy", f"{identifier!r} is no policy", ACCEPTED)
    return parse_policy(identifier)
