"""Keras' policy map: paths of layers, and expressions over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mpgraph.errors import PolicyTypeError, PolicyValueError
from mpgraph.policy.config_keys import checked_config
from mpgraph.policy.configs import config_policy, policy_config
from mpgraph.policy.maps import PolicyMap, Rules, rules_of
from mpgraph.policy.names import DTypePolicy, single_global_policy
from mpgraph.policy.patterns import REGEX_PREFIX
from mpgraph.policy.selectors import Rule, parse_selector

__all__ = ["DTypePolicyMap"]

_SCOPE = "scope:"
_METACHARACTERS = frozenset(r".^$*+?{}[]\|()")
_KEYS = ("default_policy", "policy_map", "range_scaling")


class DTypePolicyMap(PolicyMap):
    """A policy map whose keys are read as Keras reads them.

    A key is the path of a layer, or a regular expression that must match all of such a path. On a
    graph a plain path selects the nodes of that module, an expression the nodes whose name or
    module it matches, and a plain path wins over an expression.

    Args:
        default_policy: The policy of paths that no key matches; the global policy unless given.
        policy_map: Key to policy, as a mapping or pairs.
        range_scaling: Whether float16 values that would overflow are scaled by powers of two.

    Raises:
        PolicyTypeError: `range_scaling` is no bool.
        PolicyValueError: A key is empty, given twice or no expression, a value is no policy, or a
            map is given as the default.
    """

    __slots__ = ()

    def __init__(
        self,
        default_policy: str | DTypePolicy | None = None,
        policy_map: Rules = (),
        *,
        range_scaling: bool = False,
    ) -> None:
        default = single_global_policy() if default_policy is None else default_policy
        super().__init__(default, policy_map, range_scaling=range_scaling)

    def get_config(self) -> dict[str, Any]:
        """Return what `from_config` makes an equal map of; nothing of the map is changed."""
        return {
            "default_policy": policy_config(self.default),
            "policy_map": {self._key(rule): policy_config(rule.policy) for rule in self.rules},
            "range_scaling": self.range_scaling,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> PolicyMap:
        """Return the map of what `get_config` returned.

        Raises:
            PolicyTypeError: The config is no mapping, or a value has the wrong type.
            PolicyValueError: A key is unknown, or a value is wrong.
        """
        given = checked_config(config, required=(), optional=_KEYS)
        default = given.get("default_policy")
        policies = given.get("policy_map") or {}
        if not isinstance(policies, Mapping):
            raise PolicyTypeError("policy config", f"{policies!r} is no dict", "give key to policy")
        return cls(
            None if default is None else config_policy(default),
            {key: config_policy(policy) for key, policy in policies.items()},
            range_scaling=given.get("range_scaling", False),
        )

    def _rules_of(self, rules: Rules) -> list[Rule]:
        return rules_of(rules, _parse_key)

    def _key(self, rule: Rule) -> str:
        return rule.selector.removeprefix(REGEX_PREFIX).removeprefix(_SCOPE)


def _parse_key(key: str, policy: str | DTypePolicy) -> Rule:
    if not isinstance(key, str) or not key:
        raise PolicyValueError(
            "policy map", f"{key!r} is no key", "give a path, or an expression over paths"
        )
    prefix = REGEX_PREFIX if _METACHARACTERS & set(key) else _SCOPE
    return parse_selector(f"{prefix}{key}", policy)
