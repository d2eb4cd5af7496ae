"""Which rules run: chosen by code, by the beginning of a code, or by kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mpgraph.auditing.rules import RULES, Rule
from mpgraph.errors import InputError

__all__ = ["find_rule", "select_rules"]


def select_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> tuple[Rule, ...]:
    """The rules to run, in the order of their codes.

    Args:
        select: Codes (``MPG101``), beginnings of codes (``MPG1``) or kinds
            (``constant-overflow``); all rules where none is given.
        ignore: The same, of rules to leave out.

    Raises:
        InputError: One of them is the name of no rule.
    """
    wanted, unwanted = tuple(select), tuple(ignore)
    for name in (*wanted, *unwanted):
        if not any(_matches(rule, name) for rule in RULES.values()):
            hint = "`mpgraph audit --explain all` lists the rules"
            raise InputError(f"rule {name!r}", "there is none of that code or kind", hint)
    return tuple(
        rule
        for rule in RULES.values()
        if (not wanted or _any(rule, wanted)) and not _any(rule, unwanted)
    )


def find_rule(name: str) -> Rule:
    """The rule of a code or kind.

    Raises:
        InputError: There is none.
    """
    for rule in RULES.values():
        if name.casefold() in (rule.code.casefold(), rule.kind):
            return rule
    known = ", ".join(RULES)
    raise InputError(f"rule {name!r}", "there is none of that code or kind", f"one of {known}")


def _any(rule: Rule, names: Collection[str]) -> bool:
    return any(_matches(rule, name) for name in names)


def _matches(rule: Rule, name: str) -> bool:
    wanted = name.strip()
    return bool(wanted) and (rule.code.startswith(wanted.upper()) or rule.kind == wanted.lower())
