"""Policies, their maps and their serialization, under the names of Keras' `dtype_policies`."""

from __future__ import annotations

from mpgraph.policy import (
    DTypePolicy,
    DTypePolicyMap,
    QuantizedDTypePolicy,
    deserialize,
    serialize,
)
from mpgraph.policy import get_policy as get

__all__ = [
    "DTypePolicy",
    "DTypePolicyMap",
    "QuantizedDTypePolicy",
    "deserialize",
    "get",
    "serialize",
]
