"""Policies under the names that Keras gave them first: `mixed_precision.Policy` and its like."""

from __future__ import annotations

from mpgraph.policy import DTypePolicy, Policy, global_policy, policy_scope, set_global_policy

__all__ = ["DTypePolicy", "Policy", "global_policy", "policy_scope", "set_global_policy"]
