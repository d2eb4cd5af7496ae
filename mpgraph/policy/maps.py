"""Policy maps: a default policy and rules that select nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from mpgraph.errors import PolicyTypeError, PolicyValueError
from mpgraph.policy.config_keys import checked_config
from mpgraph.policy.configs import config_policy, config_rule, policy_config, rule_config
from mpgraph.policy.names import ACCEPTED, DTypePolicy, parse_policy
from mpgraph.policy.selectors import NodeFacts, Rule, parse_selector, rule_policy

__all__ = ["PolicyMap", "Rules", "as_policy_map"]

Rules = Mapping[str, str | DTypePolicy] | Iterable[Rule | tuple[str, str | DTypePolicy]]
"""What a map takes: selector to policy, as a mapping or pairs, or finished rules."""


class PolicyMap:
    """A default policy, and rules for the nodes that are to have another.

    Immutable, hashable and equal by content; the order of the rules has no meaning.

    Args:
        default: The policy of nodes that no rule selects: a name or a policy.
        rules: Selector text to policy, as a mapping or pairs, or finished rules.
        range_scaling: Whether float16 values that would overflow are scaled by powers of two.

    Raises:
        PolicyTypeError: `range_scaling` is no bool.
        PolicyValueError: A selector or policy is malformed, a map is given as a policy, or two
            rules have the same conditions.
    """

    __slots__ = ("_default", "_range_scaling", "_rules")

    def __init__(
        self, default: str | DTypePolicy, rules: Rules = (), *, range_scaling: bool = False
    ) -> None:
        if not isinstance(range_scaling, bool):
            raise PolicyTypeError(
                "policy map", f"range_scaling = {range_scaling!r}", "give True or False"
            )
        self._default = rule_policy(default, where="the default of a policy map")
        self._rules = tuple(self._rules_of(rules))
        self._range_scaling = range_scaling
        _refuse_duplicates(self._rules)

    @property
    def default(self) -> DTypePolicy:
        """The policy of nodes that no rule selects."""
        return self._default

    @property
    def default_policy(self) -> DTypePolicy:
        """The default, under the name that Keras gives it."""
        return self._default

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order given."""
        return self._rules

    @property
    def policies(self) -> tuple[DTypePolicy, ...]:
        """The default and the policies of the rules, in their order."""
        return (self._default, *(rule.policy for rule in self._rules))

    @property
    def range_scaling(self) -> bool:
        """Whether float16 values that would overflow are scaled by powers of two."""
        return self._range_scaling

    @property
    def name(self) -> str:
        """`map_` and the name of the default, as in Keras."""
        return f"map_{self._default.name}"

    @property
    def compute_dtype(self) -> str:
        """The compute dtype of the default."""
        return self._default.compute_dtype

    @property
    def variable_dtype(self) -> str:
        """The variable dtype of the default."""
        return self._default.variable_dtype

    @property
    def quantization_mode(self) -> str | None:
        """The quantization mode of the default."""
        return self._default.quantization_mode

    def extended(self, rules: Rules) -> PolicyMap:
        """Return a map with further rules.

        Raises:
            PolicyValueError: As for a new map.
        """
        further = (*self._rules, *self._rules_of(rules))
        return type(self)(self._default, further, range_scaling=self._range_scaling)

    def get_config(self) -> dict[str, Any]:
        """Return what `from_config` makes an equal map of: texts, numbers, lists and dicts."""
        return {
            "default": policy_config(self._default),
            "rules": [rule_config(rule) for rule in self._rules],
            "range_scaling": self._range_scaling,
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> PolicyMap:
        """Return the map of what `get_config` returned.

        Raises:
            PolicyTypeError: The config is no mapping, or a value has the wrong type.
            PolicyValueError: A key is unknown or missing, or a value is wrong.
        """
        given = checked_config(config, required=("default",), optional=("rules", "range_scaling"))
        return PolicyMap(
            config_policy(given["default"]),
            [config_rule(rule) for rule in given.get("rules", ())],
            range_scaling=given.get("range_scaling", False),
        )

    def __getitem__(self, path: str) -> DTypePolicy:
        """Return the policy for a path, looked up as Keras does.

        A rule written exactly like the path, else the one rule for names or modules that matches
        all of it, else the default. Rules for operators, domains and weights have no paths.

        Raises:
            PolicyTypeError: The path is no text.
            PolicyValueError: Several rules match; all are named.
        """
        if not isinstance(path, str):
            raise PolicyTypeError("policy map", f"{path!r} is no path", "give text")
        exact = [rule for rule in self._rules if path in (rule.selector, self._key(rule))]
        found = exact or [rule for rule in self._rules if _is_for_path(rule, path)]
        if len(found) > 1:
            raise PolicyValueError(
                f"path {path!r}",
                f"several rules match: {', '.join(map(described, found))}",
                "narrow them until one is left, or give this path a rule of its own",
            )
        return found[0].policy if found else self._default

    def __iter__(self) -> Iterator[str]:
        return map(self._key, self._rules)

    def __len__(self) -> int:
        return len(self._rules)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, key: object) -> bool:
        return any(key in (rule.selector, self._key(rule)) for rule in self._rules)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PolicyMap):
            return NotImplemented
        return self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    def __repr__(self) -> str:
        rules = {self._key(rule): rule.policy.name for rule in self._rules}
        scaling = ", range_scaling=True" if self._range_scaling else ""
        return f"{type(self).__name__}({self._default.name!r}, {rules!r}{scaling})"

    @property
    def _content(self) -> tuple[DTypePolicy, frozenset[Rule], bool]:
        return self._default, frozenset(self._rules), self._range_scaling

    def _rules_of(self, rules: Rules) -> list[Rule]:
        """The rules of what was given; a subclass may read keys in another way."""
        return rules_of(rules, parse_selector)

    def _key(self, rule: Rule) -> str:
        """How a rule is written as a key."""
        return rule.selector.removeprefix("name:")


def as_policy_map(policy: str | DTypePolicy | PolicyMap) -> PolicyMap:
    """Return the map of a policy name, a policy or a map.

    A map of a subclass, which reads its keys in another way, becomes a plain one of the same rules.

    Raises:
        PolicyTypeError: None of these was given.
        PolicyValueError: The text is no policy name.
    """
    if type(policy) is PolicyMap:
        return policy
    if isinstance(policy, PolicyMap):
        return PolicyMap(policy.default, policy.rules, range_scaling=policy.range_scaling)
    if not isinstance(policy, (str, DTypePolicy)):
        raise PolicyTypeError("policy", f"{policy!r} is no policy", f"or a PolicyMap; {ACCEPTED}")
    return PolicyMap(parse_policy(policy))


def rules_of(rules: Rules, parse: Callable[[str, str | DTypePolicy], Rule]) -> list[Rule]:
    """Return finished rules as they are, and those of keys with policies.

    Raises:
        PolicyValueError: A key or policy is malformed, or an item is neither rule nor pair.
    """
    items = rules.items() if isinstance(rules, Mapping) else rules
    return [_rule_of(item, parse) for item in items]


def _rule_of(item: object, parse: Callable[[str, str | DTypePolicy], Rule]) -> Rule:
    if isinstance(item, Rule):
        return item
    if isinstance(item, tuple) and len(item) == 2:
        return parse(*item)
    raise PolicyValueError(
        "policy map", f"{item!r} is no rule", "give {selector: policy} or Rule objects"
    )


def _is_for_path(rule: Rule, path: str) -> bool:
    """Whether a rule matches a path, as a name or as a module."""
    if rule.op or rule.domain or rule.initializer:
        return False
    return rule.matches(NodeFacts(path, "")) or rule.matches(NodeFacts("", "", scope=path))


def _refuse_duplicates(rules: tuple[Rule, ...]) -> None:
    seen: dict[object, Rule] = {}
    for rule in rules:
        first = seen.setdefault(rule.conditions, rule)
        if first is not rule:
            raise PolicyValueError(
                rule.source or "policy map",
                f"the rules {described(first)} and {described(rule)} select the same nodes",
                "keep one of them",
            )


def described(rule: Rule) -> str:
    """Return a rule for an error text: its selector, its policy and where it stands."""
    at = f" at {rule.source}" if rule.source else ""
    return f"{rule.selector!r} ({rule.policy.name}{at})"
