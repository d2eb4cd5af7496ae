"""Rules: which nodes a policy is for.

A rule holds one or several conditions that must all hold. As text, one condition is
`op:Softmax`, `name:layer/x*`, `scope:encoder/**`, `domain:com.microsoft`, `initializer:embed*`,
`re:.*lm_head.*` (node name or scope path), `key:main#12` (the place that a plan names), or the bare
name or glob of a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mpgraph.errors import PolicyValueError
from mpgraph.policy.names import ACCEPTED, DTypePolicy, parse_policy
from mpgraph.policy.patterns import (
    REGEX_PREFIX,
    Pattern,
    canonical_scope,
    exact_pattern,
    scope_pattern,
    text_pattern,
)

__all__ = ["CONDITIONS", "NodeFacts", "Rule", "parse_selector"]

CONDITIONS = ("name", "scope", "op", "domain", "initializer", "key")
"""The conditions a rule can have, as written before the `:` and in a policy file."""

Matcher = tuple[Pattern, ...]
Specificity = tuple[int, int, int, int]


class NodeFacts(NamedTuple):
    """What selectors look at; a tuple, since one is made and hashed for every node of a model.

    Attributes:
        name: The node's name; empty for an unnamed node, which no name selector matches.
        op_type: The operator, such as `MatMul`.
        domain: The operator's domain; empty or `ai.onnx` for the standard one.
        scope: The module path of the node; empty when the exporter left none.
        initializers: Names of the initializers that the node reads.
        alias: A second spelling of the scope, where the exporter changed the author's.
        key: The node's place in the model, as a plan names it, such as `main#12`.
    """

    name: str
    op_type: str
    domain: str = ""
    scope: str = ""
    initializers: tuple[str, ...] = ()
    alias: str = ""
    key: str = ""


@dataclass(frozen=True)
class Rule:
    """A policy and the conditions under which a node gets it.

    Each condition is a tuple of patterns of which one must match; an empty tuple is no condition;
    all conditions must hold.

    Attributes:
        policy: The policy of the nodes that the rule selects.
        name: For the node's name.
        scope: For its module path.
        op: For its operator.
        domain: For its operator's domain.
        initializer: For the name of an initializer that it reads.
        key: For its place; exact, for nodes that have no name of their own.
        path: For its name or its scope, whichever matches.
        reason: Why, in the user's words; empty when none was given.
        optional: Whether the rule may match nothing.
        source: Where the rule was written (file and line); no part of its content.
    """

    policy: DTypePolicy
    name: Matcher = ()
    scope: Matcher = ()
    op: Matcher = ()
    domain: Matcher = ()
    initializer: Matcher = ()
    key: Matcher = ()
    path: Matcher = ()
    reason: str = ""
    optional: bool = False
    source: str = field(default="", compare=False)

    @property
    def selector(self) -> str:
        """The conditions as text, such as `scope:encoder/** op:Softmax`."""
        texts = [p.text for p in self.path]
        for condition in CONDITIONS:
            patterns: Matcher = getattr(self, condition)
            if patterns:
                texts.append(f"{condition}:{','.join(p.text for p in patterns)}")
        return " ".join(texts)

    @property
    def conditions(self) -> tuple[frozenset[Pattern], ...]:
        """The conditions without what follows from them; equal for rules that select alike."""
        return tuple(frozenset(getattr(self, c)) for c in (*CONDITIONS, "path"))

    @property
    def specificity(self) -> Specificity:
        """Rank of the rule; the greater wins.

        Counts the conditions on an exact node name or place, then on an exact scope or initializer,
        then on a pattern, then on op type or domain, so that `scope:a/** op:Exp` beats
        `scope:a/**`.
        """
        places = (self.scope, self.initializer)
        patterned = (self.name, *places, self.path)
        return (
            _is_exact(self.name) + bool(self.key),
            sum(map(_is_exact, places)),
            sum(bool(matcher) and not _is_exact(matcher) for matcher in patterned),
            sum(map(bool, (self.op, self.domain))),
        )

    def matches(self, facts: NodeFacts) -> bool:
        """Whether every condition holds for a node."""
        return (
            _holds(self.name, (facts.name,))
            and _holds(self.op, (facts.op_type,))
            and _holds(self.domain, (canonical_domain(facts.domain),))
            and _holds(self.initializer, facts.initializers)
            and _holds(self.key, (facts.key,))
            and (not self.scope or _in_module(self.scope, facts))
            and (not self.path or _holds(self.path, (facts.name,)) or _in_module(self.path, facts))
        )


def parse_selector(selector: str, policy: str | DTypePolicy, *, source: str = "") -> Rule:
    """Return the rule of one selector text.

    Raises:
        PolicyValueError: The selector is empty or its pattern malformed, or the policy is none.
    """
    if not isinstance(selector, str) or not selector:
        raise PolicyValueError(
            "policy map",
            f"{selector!r} is not a selector",
            f"a selector is a node name, a glob, re:EXPRESSION, or one of "
            f"{', '.join(f'{c}:' for c in CONDITIONS)} with a pattern",
        )
    parsed = rule_policy(policy, where=f"selector {selector!r}")
    if selector.startswith(REGEX_PREFIX):
        path = (text_pattern(selector, selector=selector),)
        return Rule(parsed, path=path, source=source)
    condition, separator, text = selector.partition(":")
    if not separator or condition not in CONDITIONS:
        condition, text = "name", selector
    matcher = compile_condition(condition, [text], selector)
    return replace(Rule(parsed, source=source), **{condition: matcher})  # type: ignore[arg-type]


def compile_condition(condition: str, texts: Iterable[str], selector: str) -> Matcher:
    """Compile the patterns of one condition of `CONDITIONS`.

    Raises:
        PolicyValueError: A pattern is empty or does not compile.
    """
    compile_ = _COMPILERS.get(condition, text_pattern)
    if condition == "domain":
        texts = [canonical_domain(text) for text in texts]
    return tuple(compile_(text, selector=selector) for text in texts)


def rule_policy(policy: object, *, where: str) -> DTypePolicy:
    """Return the policy of a rule or a default.

    Raises:
        PolicyValueError: Neither a policy nor the name of one, in which case `where` is named.
    """
    if not isinstance(policy, (str, DTypePolicy)):
        raise PolicyValueError(
            where,
            f"{policy!r} is no policy",
            f"give a DTypePolicy or a name; {ACCEPTED}",
        )
    try:
        return parse_policy(policy)
    except PolicyValueError as error:
        raise PolicyValueError(where, error.rule, error.hint) from error


def canonical_domain(domain: str) -> str:
    """Return a domain with the standard one spelled out, as `ai.onnx`."""
    return domain or "ai.onnx"


def scope_matches(matcher: Matcher, scope: str) -> bool:
    """Whether one pattern matches a scope path; a node without scope is never matched."""
    if not scope:
        return False
    path = canonical_scope(scope)
    return any(
        p.matches(scope) or p.matches(path[1:]) if p.kind == "regex" else p.matches(path)
        for p in matcher
    )


_COMPILERS: dict[str, Callable[..., Pattern]] = {"scope": scope_pattern, "key": exact_pattern}


def _in_module(matcher: Matcher, facts: NodeFacts) -> bool:
    return scope_matches(matcher, facts.scope) or scope_matches(matcher, facts.alias)


def _is_exact(matcher: Matcher) -> bool:
    return bool(matcher) and all(pattern.kind == "exact" for pattern in matcher)


def _holds(matcher: Matcher, texts: tuple[str, ...]) -> bool:
    return not matcher or any(pattern.matches(text) for pattern in matcher for text in texts)
