"""Policies: names, maps, selectors, policy files, and which policy a node gets."""

from __future__ import annotations

from mpgraph.errors import PolicyError, PolicyTypeError, PolicyValueError
from mpgraph.policy.current import (
    conversion_policy,
    global_policy,
    policy_scope,
    set_global_policy,
)
from mpgraph.policy.custom import Policy
from mpgraph.policy.defaults import LOW_OPERATORS, pinned_by_default
from mpgraph.policy.facts import node_facts, read_facts
from mpgraph.policy.file_schema import policy_file_schema
from mpgraph.policy.file_text import policy_text
from mpgraph.policy.files import load_policy_file, parse_policy_text
from mpgraph.policy.grammar import ACCEPTED, FLOAT_NAMES, MODE_FORMS, POLICY_NAMES, nearest_names
from mpgraph.policy.inheritance import held_by, inherit, own_resolutions, resolve_nodes
from mpgraph.policy.keras_map import DTypePolicyMap
from mpgraph.policy.maps import PolicyMap, as_policy_map
from mpgraph.policy.modes import QuantizationMode
from mpgraph.policy.names import DTypePolicy, parse_policy
from mpgraph.policy.patterns import Pattern
from mpgraph.policy.quantized import QuantizedDTypePolicy
from mpgraph.policy.resolve import Resolution, Resolver
from mpgraph.policy.selectors import (
    CONDITIONS,
    NodeFacts,
    Rule,
    compile_condition,
    parse_selector,
)
from mpgraph.policy.serialization import deserialize, get_policy, serialize
from mpgraph.policy.standard_modes import AWQ, GPTQ, Float8, Int4, Int8, UInt4, parse_mode

__all__ = [
    "ACCEPTED",
    "AWQ",
    "CONDITIONS",
    "FLOAT_NAMES",
    "GPTQ",
    "LOW_OPERATORS",
    "MODE_FORMS",
    "POLICY_NAMES",
    "DTypePolicy",
    "DTypePolicyMap",
    "Float8",
    "Int4",
    "Int8",
    "NodeFacts",
    "Pattern",
    "Policy",
    "PolicyError",
    "PolicyMap",
    "PolicyTypeError",
    "PolicyValueError",
    "QuantizationMode",
    "QuantizedDTypePolicy",
    "Resolution",
    "Resolver",
    "Rule",
    "UInt4",
    "as_policy_map",
    "compile_condition",
    "conversion_policy",
    "deserialize",
    "get_policy",
    "global_policy",
    "held_by",
    "inherit",
    "load_policy_file",
    "nearest_names",
    "node_facts",
    "own_resolutions",
    "parse_mode",
    "parse_policy",
    "parse_policy_text",
    "parse_selector",
    "pinned_by_default",
    "policy_file_schema",
    "policy_scope",
    "policy_text",
    "read_facts",
    "resolve_nodes",
    "serialize",
    "set_global_policy",
]
