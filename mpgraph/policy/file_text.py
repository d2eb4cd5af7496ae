"""Policy maps as the text of a policy file."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mpgraph.errors import PolicyValueError
from mpgraph.policy.configs import policy_config
from mpgraph.policy.file_keys import MATCHER_KEYS, VERSION
from mpgraph.policy.maps import PolicyMap
from mpgraph.policy.names import DTypePolicy
from mpgraph.policy.selectors import Matcher, Rule

__all__ = ["policy_text"]

_WIDTH = 100
_ESCAPED = re.compile(r'["\\\x00-\x1f\x7f]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ESCAPES = {"\n": r"\n", "\t": r"\t", "\r": r"\r", '"': r"\"", "\\": r"\\"}


def policy_text(policy_map: PolicyMap) -> str:
    """Return the text of a policy file that is read back as an equal map.

    The rules keep their order; what says nothing (no reason, not optional) is left out.

    Raises:
        PolicyValueError: A rule has no condition, or a text in it no form in UTF-8.
    """
    head = {"version": str(VERSION), "default": _policy(policy_map.default)}
    if policy_map.range_scaling:
        head["range_scaling"] = "true"
    blocks = [_block(head), *(f"[[rule]]\n{_block(_rule(rule))}" for rule in policy_map.rules)]
    text = "\n".join(blocks)
    if not _is_encodable(text):
        raise PolicyValueError("policy map", "a text in it cannot be written as UTF-8", "change it")
    return text


def _block(lines: Mapping[str, str]) -> str:
    width = max(map(len, lines))
    return "".join(f"{key:{width}} = {value}\n" for key, value in lines.items())


def _rule(rule: Rule) -> dict[str, str]:
    lines: dict[str, str] = {}
    for key in MATCHER_KEYS:
        patterns: Matcher = getattr(rule, key)
        if patterns:
            lines[key] = _list([_quoted(pattern.text) for pattern in patterns])
    if not lines:
        raise PolicyValueError(
            rule.source or "policy map",
            "a rule without conditions has no form in a policy file",
            "set the default instead",
        )
    lines["policy"] = _policy(rule.policy)
    if rule.reason:
        lines["reason"] = _quoted(rule.reason)
    if rule.optional:
        lines["optional"] = "true"
    return lines


def _policy(policy: DTypePolicy) -> str:
    return _value(policy_config(policy))


def _list(items: list[str]) -> str:
    if len(items) == 1:
        return items[0]
    line = f"[{', '.join(items)}]"
    if len(line) <= _WIDTH:
        return line
    return "[\n" + "".join(f"    {item},\n" for item in items) + "]"


def _value(value: object) -> str:
    """The TOML of a config; what is None has no form there, and is what a config lacks."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        pairs = [f"{key} = {_value(one)}" for key, one in value.items() if one is not None]
        return f"{{ {', '.join(pairs)} }}"
    return str(value) if isinstance(value, int) else _quoted(str(value))


def _quoted(text: str) -> str:
    """A text in quotes; single ones, between which a backslash is itself, where it has some."""
    if "\\" in text and "'" not in text and not _CONTROL.search(text):
        return f"'{text}'"
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _ESCAPES.get(character, f"\\u{ord(character):04X}")


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
