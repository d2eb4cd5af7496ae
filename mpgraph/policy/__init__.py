"""Policies: names, maps, selectors, policy files, and which policy a node gets."""

from __future__ import annotations

from mpgraph.errors import PolicyError, PolicyTypeError, PolicyValueError
from mpgraph.policy.defaults import LOW_OPERATORS, pinned_by_default
from mpgraph.policy.facts import node_facts
from mpgraph.policy.files import load_policy_file, parse_policy_text
from mpgraph.policy.maps import PolicyMap, as_policy_map
from mpgraph.policy.names import ACCEPTED, POLICY_NAMES, DTypePolicy, parse_policy
from mpgraph.policy.patterns import Pattern
from mpgraph.policy.resolve import Resolution, Resolver
from mpgraph.policy.selectors import CONDITIONS, NodeFacts, Rule, parse_selector

__all__ = [
    "ACCEPTED",
    "CONDITIONS",
    "LOW_OPERATORS",
    "POLICY_NAMES",
    "DTypePolicy",
    "NodeFacts",
    "Pattern",
    "PolicyError",
    "PolicyMap",
    "PolicyTypeError",
    "PolicyValueError",
    "Resolution",
    "Resolver",
    "Rule",
    "as_policy_map",
    "load_policy_file",
    "node_facts",
    "parse_policy",
    "parse_policy_text",
    "parse_selector",
    "pinned_by_default",
]
