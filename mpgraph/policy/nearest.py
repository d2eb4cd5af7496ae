"""Nearest names for the error of a selector that matched nothing."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from mpgraph.policy.patterns import REGEX_PREFIX, Pattern, canonical_scope
from mpgraph.policy.selectors import NodeFacts, Rule, canonical_domain

__all__ = ["nearest"]

_COMPARED_AT_MOST = 5_000
_SHORTEST_BEGINNING = 3


def nearest(rules: Iterable[Rule], nodes: Iterable[NodeFacts]) -> list[str]:
    """Return selectors near those of some rules that would match one of the nodes."""
    known = list(nodes)
    vocabulary = {
        "name": _distinct(facts.name for facts in known),
        "scope": _distinct(
            canonical_scope(path)[1:] for facts in known for path in (facts.scope, facts.alias)
        ),
        "op": _distinct(facts.op_type for facts in known),
        "domain": _distinct(canonical_domain(facts.domain) for facts in known),
        "initializer": _distinct(name for facts in known for name in facts.initializers),
        "key": _distinct(facts.key for facts in known),
    }
    return _distinct(
        text
        for rule in rules
        for condition, texts in vocabulary.items()
        for text in _near(rule, condition, texts)
    )


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for text in texts if text))


def _near(rule: Rule, condition: str, known: list[str]) -> list[str]:
    patterns: tuple[Pattern, ...] = getattr(rule, condition)
    if condition in ("name", "scope"):
        patterns += rule.path
    suggestions: list[str] = []
    for pattern in patterns:
        if condition == "scope" and pattern.kind == "exact":
            suggestions += _scopes_below(pattern, known)
        suggestions += [f"{condition}:{text}" for text in _close(pattern, known)]
    return suggestions[:3]


def _close(pattern: Pattern, candidates: list[str]) -> list[str]:
    wanted = pattern.text.removeprefix(REGEX_PREFIX)
    for noise in ("**", "*", "?", "\\"):
        wanted = wanted.replace(noise, "")
    wanted = wanted.strip("./^$").lower()
    if not wanted:
        return []
    containing = [text for text in candidates if wanted in text.lower()][:3]
    by_lower = {text.lower(): text for text in candidates[:_COMPARED_AT_MOST]}
    beginning = [text for text in candidates if _begins(text.lower(), wanted)]
    beginning.sort(key=len, reverse=True)
    close = difflib.get_close_matches(wanted, by_lower, n=3, cutoff=0.6)
    return _distinct([*containing, *beginning[:1], *(by_lower[text] for text in close)])[:3]


def _begins(text: str, wanted: str) -> bool:
    """Whether what was wanted is a longer word for ``text``, as `Convolution` is for `Conv`."""
    return len(text) >= _SHORTEST_BEGINNING and wanted.startswith(text)


def _scopes_below(pattern: Pattern, scopes: list[str]) -> list[str]:
    wanted = canonical_scope(pattern.text)[1:]
    if any(scope.startswith(f"{wanted}/") for scope in scopes):
        return [f"scope:{wanted}/**"]
    return []
