"""Which policy a node gets: the most specific rule that matches it, else the default."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter

from mpgraph.errors import PolicyValueError
from mpgraph.policy.index import PatternIndex
from mpgraph.policy.maps import PolicyMap, as_policy_map, described
from mpgraph.policy.names import DTypePolicy
from mpgraph.policy.nearest import nearest
from mpgraph.policy.patterns import Pattern, canonical_scope
from mpgraph.policy.selectors import NodeFacts, Rule

__all__ = ["Resolution", "Resolver"]

_NAMED_AT_MOST = 3
_RANK = attrgetter("rank")
_FILED_UNDER = ("key", "name", "path", "scope", "initializer")
"""Conditions that few nodes meet come first."""


@dataclass(frozen=True)
class Resolution:
    """The policy of one node.

    Attributes:
        policy: The policy.
        rule: The rule it came from; None for the default.
        holder: The node that the rule selected, where that is one around this one.
        lost: Other rules that select the node and ask for another policy, the most specific first.
    """

    policy: DTypePolicy
    rule: Rule | None = None
    holder: str = ""
    lost: tuple[Rule, ...] = ()

    @property
    def explicit(self) -> bool:
        """Whether a rule selected the node; an explicit policy also pins nodes that are free."""
        return self.rule is not None


@dataclass(frozen=True, eq=False)
class _Entry:
    """A rule with what is asked of it per node; compared by identity, which is quick.

    Attributes:
        rank: Place by falling specificity, then by order in the map.
        settled: Whether the condition it is filed under is its only one.
    """

    rank: int
    rule: Rule
    specificity: tuple[int, ...]
    resolution: Resolution
    settled: bool


_Entries = tuple[_Entry, ...]


class Resolver:
    """Resolves nodes against a policy.

    Each rule is filed under its rarest condition; what depends on the scope, the initializers or
    the operator alone is computed once per distinct scope, initializer or operator, so that only
    name patterns cost time per node; what the rules found come to, once for all nodes that they
    settle alike.

    Args:
        policy: A policy name, a policy or a policy map.

    Raises:
        PolicyTypeError: Something else was given.
        PolicyValueError: The text is no policy name.
    """

    def __init__(self, policy: str | DTypePolicy | PolicyMap) -> None:
        self._map = as_policy_map(policy)
        self._default = Resolution(self._map.default)
        entries = [_entry(rank, rule) for rank, rule in enumerate(_by_specificity(self._map.rules))]
        scoped = _filed(entries, "path") + _filed(entries, "scope")
        self._keys = PatternIndex(_filed(entries, "key"))
        self._names = PatternIndex(_filed(entries, "name") + _filed(entries, "path"))
        self._scopes = PatternIndex((p, e) for p, e in scoped if p.kind != "regex")
        self._scope_expressions = PatternIndex((p, e) for p, e in scoped if p.kind == "regex")
        self._initializers = PatternIndex(_filed(entries, "initializer"))
        self._operators = [e for e in entries if not _filing(e.rule)]
        self._of_scope = cache(self._find_scope)
        self._of_operator = cache(self._find_operator)
        self._settled: dict[tuple[_Entries, ...], Resolution] = {}

    @property
    def policy_map(self) -> PolicyMap:
        """The map that is resolved against."""
        return self._map

    def resolve(self, facts: NodeFacts) -> Resolution:
        """Return the policy of a node.

        Raises:
            PolicyValueError: Two equally specific rules match and disagree; both are named.
        """
        candidates = self._candidates(facts)
        found = self._settled.get(candidates)
        if found is None:
            found = self._decided(_matching(candidates, facts), facts)
            if all(entry.settled for filed in candidates for entry in filed):
                self._settled[candidates] = found
        return found

    def matching(self, facts: NodeFacts) -> tuple[Rule, ...]:
        """Return all rules that match a node, each once, the most specific first."""
        matching = _matching(self._candidates(facts), facts)
        return tuple(entry.rule for entry in matching)

    def check_all_matched(self, known: Iterable[NodeFacts]) -> None:
        """Refuse rules that match no node, unless they are optional.

        Args:
            known: The nodes; as many of them are read as it takes to see every rule match.

        Raises:
            PolicyValueError: A rule matched nothing; the nearest selectors are suggested.
        """
        wanted = {id(rule): rule for rule in self._map.rules if not rule.optional}
        nodes: list[NodeFacts] = []
        for facts in known if wanted else ():
            nodes.append(facts)
            for entry in _matching(self._candidates(facts), facts):
                wanted.pop(id(entry.rule), None)
            if not wanted:
                return
        if wanted:
            raise _unmatched_error(list(wanted.values()), nodes)

    def _candidates(self, facts: NodeFacts) -> tuple[_Entries, ...]:
        """The rules by each condition that they are filed under; one may come twice."""
        name, op_type, domain, scope, initializers, alias, key = facts
        return (
            self._names.find(name),
            self._of_scope(scope),
            self._of_operator(domain, op_type),
            self._of_scope(alias) if alias else (),
            self._keys.find(key) if key else (),
            *[self._initializers.find(name) for name in initializers],
        )

    def _decided(self, matching: Sequence[_Entry], facts: NodeFacts) -> Resolution:
        if not matching:
            return self._default
        winner = matching[0]
        for other in matching[1:]:
            if other.specificity != winner.specificity:
                break
            if other.rule.policy != winner.rule.policy:
                raise PolicyValueError(
                    f"node {facts.name or facts.op_type!r}",
                    f"the rules {described(winner.rule)} and {described(other.rule)} are "
                    "equally specific and disagree",
                    "name the node exactly, or narrow one of them",
                )
        policy = winner.rule.policy
        lost = tuple(entry.rule for entry in matching[1:] if entry.rule.policy != policy)
        return replace(winner.resolution, lost=lost) if lost else winner.resolution

    def _find_scope(self, scope: str) -> _Entries:
        path = canonical_scope(scope)
        found = self._scopes.find(path)
        for text in dict.fromkeys((scope, path[1:])):
            found += self._scope_expressions.find(text)
        return found

    def _find_operator(self, domain: str, op_type: str) -> _Entries:
        probe = NodeFacts("", op_type, domain)
        return tuple(entry for entry in self._operators if entry.rule.matches(probe))


def _matching(candidates: Iterable[_Entries], facts: NodeFacts) -> list[_Entry]:
    """The candidates that select a node, each once, the most specific first."""
    distinct = {entry for filed in candidates for entry in filed}
    ordered = sorted(distinct, key=_RANK)
    return [entry for entry in ordered if entry.settled or entry.rule.matches(facts)]


def _by_specificity(rules: Iterable[Rule]) -> list[Rule]:
    return sorted(rules, key=attrgetter("specificity"), reverse=True)


def _entry(rank: int, rule: Rule) -> _Entry:
    named = [getattr(rule, condition) for condition in _FILED_UNDER]
    settled = sum(map(bool, named)) + bool(rule.op or rule.domain) == 1
    return _Entry(rank, rule, rule.specificity, Resolution(rule.policy, rule), settled)


def _filing(rule: Rule) -> str:
    """Return the condition that a rule is filed under, its rarest; empty for operators alone."""
    return next((condition for condition in _FILED_UNDER if getattr(rule, condition)), "")


def _filed(entries: Iterable[_Entry], condition: str) -> list[tuple[Pattern, _Entry]]:
    """Return the rules that are filed under a condition, with each of its patterns."""
    return [
        (pattern, entry)
        for entry in entries
        if _filing(entry.rule) == condition
        for pattern in getattr(entry.rule, condition)
    ]


def _unmatched_error(unmatched: list[Rule], nodes: list[NodeFacts]) -> PolicyValueError:
    shown = unmatched[:_NAMED_AT_MOST]
    names = ", ".join(repr(rule.selector) for rule in shown)
    more = f" and {len(unmatched) - len(shown)} more" if len(unmatched) > len(shown) else ""
    suggestions = nearest(shown, nodes)
    hints = [f"nearest: {', '.join(suggestions)}"] if suggestions else []
    if _is_from_file(shown[0]):
        hints.append("a rule in a policy file may be marked optional = true")
    subject = "selectors match" if len(unmatched) > 1 else "selector matches"
    return PolicyValueError(
        shown[0].source or "policy",
        f"the {subject} no node: {names}{more}",
        "; ".join(hints),
    )


def _is_from_file(rule: Rule) -> bool:
    return bool(rule.source) and not rule.source.startswith("--")
