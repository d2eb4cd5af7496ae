"""Policies and rules as plain texts, numbers, lists and dicts, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mpgraph.errors import PolicyValueError
from mpgraph.policy.config_keys import checked_config
from mpgraph.policy.custom import Policy
from mpgraph.policy.names import DTypePolicy, parse_policy
from mpgraph.policy.patterns import text_pattern
from mpgraph.policy.quantized import QuantizedDTypePolicy
from mpgraph.policy.selectors import CONDITIONS, Matcher, Rule, compile_condition

__all__ = ["config_policy", "config_rule", "policy_config", "rule_config"]

_MATCHERS = (*CONDITIONS, "path")
_ENVELOPE = ("module", "class_name", "registered_name")
_RULE_KEYS = (*_MATCHERS, "reason", "optional")


def policy_config(policy: DTypePolicy) -> str | dict[str, Any]:
    """Return the name of a policy if that says all, else its config."""
    try:
        named = parse_policy(policy.name)
    except PolicyValueError:
        return policy.get_config()
    return policy.name if named == policy else policy.get_config()


def config_policy(config: str | Mapping[str, Any]) -> DTypePolicy:
    """Return the policy of a name or of a config, whichever class wrote it, here or in Keras.

    Raises:
        PolicyTypeError: It is neither, or a value has the wrong type.
        PolicyValueError: The name, a key or a value is wrong.
    """
    if not isinstance(config, Mapping):
        return parse_policy(config)
    if "class_name" in config:
        return config_policy(
            checked_config(config, required=("config",), optional=_ENVELOPE)["config"]
        )
    if "mode" in config:
        return QuantizedDTypePolicy.from_config(config)
    if "config" in config:
        return Policy.from_config(config)
    return DTypePolicy.from_config(config)


def rule_config(rule: Rule) -> dict[str, Any]:
    """Return a rule as a dict: its policy, its conditions as lists of patterns, its reason."""
    config: dict[str, Any] = {"policy": policy_config(rule.policy)}
    for condition in _MATCHERS:
        patterns: Matcher = getattr(rule, condition)
        if patterns:
            config[condition] = [pattern.text for pattern in patterns]
    if rule.reason:
        config["reason"] = rule.reason
    if rule.optional:
        config["optional"] = True
    return config


def config_rule(config: Mapping[str, Any]) -> Rule:
    """Return the rule of what `rule_config` returned.

    Raises:
        PolicyTypeError: The config is no mapping.
        PolicyValueError: A key is unknown or missing, or a pattern is wrong.
    """
    given = checked_config(config, required=("policy",), optional=_RULE_KEYS)
    policy = config_policy(given.pop("policy"))
    matchers: dict[str, Any] = {
        key: _matcher(key, given.pop(key)) for key in _MATCHERS if key in given
    }
    return Rule(policy, **matchers, **given)


def _matcher(condition: str, texts: list[str]) -> Matcher:
    if condition != "path":
        return compile_condition(condition, texts, f"{condition} = {texts!r}")
    return tuple(text_pattern(text, selector=text) for text in texts)
