"""Policy maps: a default policy and rules that select nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mpgraph.errors import PolicyTypeError, PolicyValueError
from mpgraph.policy.names import ACCEPTED, DTypePolicy, parse_policy
from mpgraph.policy.selectors import Rule, parse_selector, rule_policy

__all__ = ["PolicyMap", "as_policy_map"]


class PolicyMap:
    """A default policy, and rules for the nodes that are to have another.

    Immutable, hashable and equal by content; the order of the rules has no meaning.

    Args:
        default: The policy of nodes that no rule selects: a name or a policy.
        rules: Selector text to policy, or finished rules.

    Raises:
        PolicyValueError: A selector or policy is malformed, a map is given as a policy, or two
            rules have the same conditions.
    """

    __slots__ = ("_default", "_rules")

    def __init__(
        self,
        default: str | DTypePolicy,
        rules: Mapping[str, str | DTypePolicy] | Iterable[Rule] = (),
    ) -> None:
        self._default = rule_policy(default, where="the default of a policy map")
        self._rules = tuple(_rules_of(rules))
        _refuse_duplicates(self._rules)

    @property
    def default(self) -> DTypePolicy:
        """The policy of nodes that no rule selects."""
        return self._default

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in the order given."""
        return self._rules

    def extended(self, rules: Mapping[str, str | DTypePolicy] | Iterable[Rule]) -> PolicyMap:
        """Return a map with further rules.

        Raises:
            PolicyValueError: As for a new map.
        """
        return PolicyMap(self._default, (*self._rules, *_rules_of(rules)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PolicyMap):
            return NotImplemented
        return self._default == other._default and set(self._rules) == set(other._rules)

    def __hash__(self) -> int:
        return hash((self._default, frozenset(self._rules)))

    def __repr__(self) -> str:
        rules = {rule.selector: rule.policy.name for rule in self._rules}
        return f"PolicyMap({self._default.name!r}, {rules!r})"


def as_policy_map(policy: str | DTypePolicy | PolicyMap) -> PolicyMap:
    """Return the map of a policy name, a policy or a map.

    Raises:
        PolicyTypeError: None of these was given.
        PolicyValueError: The text is no policy name.
    """
    if isinstance(policy, PolicyMap):
        return policy
    if not isinstance(policy, (str, DTypePolicy)):
        raise PolicyTypeError("policy", f"{policy!r} is no policy", f"or a PolicyMap; {ACCEPTED}")
    return PolicyMap(parse_policy(policy))


def _rules_of(rules: Mapping[str, str | DTypePolicy] | Iterable[Rule]) -> list[Rule]:
    if isinstance(rules, Mapping):
        return [parse_selector(selector, policy) for selector, policy in rules.items()]
    given = list(rules)
    for rule in given:
        if not isinstance(rule, Rule):
            raise PolicyValueError(
                "policy map", f"{rule!r} is no rule", "give {selector: policy} or Rule objects"
            )
    return given


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
