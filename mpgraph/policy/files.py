"""Policy files in TOML.

    version = 1
    default = "mixed_float16"

    [[rule]]
    scope  = "encoder/layers.*/self_attn/**"
    op     = ["Softmax"]
    policy = "float32"
    reason = "logits overflow"

The conditions of one rule must all hold; a list holds alternatives. A rule with `optional = true`
may match nothing. `file_keys` lists all keys.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpgraph.errors import PolicyError, PolicyValueError
from mpgraph.policy.configs import config_policy
from mpgraph.policy.file_keys import FILE_KEYS, MATCHER_KEYS, RULE_KEYS, VERSION, FileKey
from mpgraph.policy.maps import PolicyMap
from mpgraph.policy.names import ACCEPTED, DTypePolicy
from mpgraph.policy.selectors import Matcher, Rule, compile_condition, rule_policy
from mpgraph.policy.toml_lines import KeyPath, error_line, key_lines

__all__ = ["load_policy_file", "parse_policy_text"]


def load_policy_file(
    path: str | os.PathLike[str], *, default: str | DTypePolicy | None = None
) -> PolicyMap:
    """Read a policy map from a TOML file.

    Args:
        path: The file.
        default: The default policy for a file that names none.

    Raises:
        PolicyValueError: The file cannot be read, is no TOML, or a key, selector or policy in it
            is wrong; the line and the rule are named.
    """
    file = Path(path)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PolicyValueError(
            str(file), "the policy file is not UTF-8 text", str(error)
        ) from error
    except OSError as error:
        rule = f"the policy file cannot be read: {error.strerror or error}"
        raise PolicyValueError(str(file), rule, "give the path of a TOML file") from error
    return parse_policy_text(text, source=str(file), default=default)


def parse_policy_text(
    text: str, *, source: str = "policy", default: str | DTypePolicy | None = None
) -> PolicyMap:
    """Return the policy map of the text of a policy file.

    Args:
        text: TOML.
        source: What errors call the text, usually its path.
        default: The default policy for a text that names none.

    Raises:
        PolicyValueError: As for `load_policy_file`.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line, problem = error_line(error, text)
        raise PolicyValueError(f"{source}:{line}", f"not valid TOML: {problem}") from error
    except RecursionError as error:
        raise PolicyValueError(source, "not valid TOML: nested too deeply") from error
    table = _Table(content, source, key_lines(text))
    table.refuse_unknown(FILE_KEYS)
    _check_version(table)
    chosen = _policy(table, "default") if "default" in content else default
    if chosen is None:
        raise PolicyValueError(
            table.place(),
            "the policy file names no default",
            f'add default = "mixed_float16"; {ACCEPTED}',
        )
    return PolicyMap(
        rule_policy(chosen, where="the default policy"),
        [_rule(rule) for rule in _rule_tables(table)],
        range_scaling=_flag(table, "range_scaling"),
    )


@dataclass(frozen=True)
class _Table:
    """A table of the file, and where it and its keys stand.

    Attributes:
        content: Its keys and values.
        source: What errors call the file.
        lines: The line of each key of the file.
        path: The keys that lead to the table.
        label: What errors call the table, behind the line.
    """

    content: Mapping[str, Any]
    source: str
    lines: Mapping[KeyPath, int]
    path: KeyPath = ()
    label: str = ""

    def place(self, *keys: str | int) -> str:
        """Return source, line and label of a key or list item, by default of the table."""
        line = self.lines.get((*self.path, *keys), 1)
        return f"{self.source}:{line}{self.label}"

    def refuse_unknown(self, known: tuple[FileKey, ...]) -> None:
        accepted = [key.name for key in known]
        for key in self.content:
            if key not in accepted:
                near = difflib.get_close_matches(key, accepted, n=1)
                suggestion = f"did you mean {near[0]}? " if near else ""
                raise PolicyValueError(
                    self.place(key),
                    f"unknown key {key!r}",
                    f"{suggestion}accepted: {', '.join(accepted)}",
                )


def _check_version(table: _Table) -> None:
    version = table.content.get("version")
    if type(version) is not int or version != VERSION:
        found = "has no version" if version is None else f"has version {version!r}"
        raise PolicyValueError(
            table.place("version"), f"the policy file {found}", f"write version = {VERSION}"
        )


def _rule_tables(table: _Table) -> list[_Table]:
    entries = table.content.get("rule", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PolicyValueError(
            table.place("rule"), "`rule` is no list of tables", "write [[rule]] for each one"
        )
    return [
        _Table(entry, table.source, table.lines, ("rule", index), f": rule {index + 1}")
        for index, entry in enumerate(entries)
    ]


def _rule(table: _Table) -> Rule:
    table.refuse_unknown(RULE_KEYS)
    if "policy" not in table.content:
        raise PolicyValueError(table.place(), "the rule has no policy", ACCEPTED)
    policy = _policy(table, "policy")
    matchers = {key: _matcher(table, key) for key in MATCHER_KEYS if key in table.content}
    if not matchers:
        raise PolicyValueError(
            table.place(),
            "the rule selects nothing",
            f"give at least one of {', '.join(MATCHER_KEYS)}; for all nodes set the default",
        )
    reason = table.content.get("reason", "")
    if not isinstance(reason, str):
        raise PolicyValueError(
            table.place("reason"), f"`reason` is {reason!r}, which is no text", "quote it"
        )
    optional = _flag(table, "optional")
    return Rule(policy, reason=reason, optional=optional, source=table.place(), **matchers)


def _policy(table: _Table, key: str) -> DTypePolicy:
    value = table.content[key]
    place = table.place(key) if table.label else f"{table.place(key)}: {key}"
    if not isinstance(value, Mapping):
        return rule_policy(value, where=place)
    try:
        return config_policy(value)
    except PolicyError as error:
        raise PolicyValueError(place, f"{error.where}: {error.rule}", error.hint) from error


def _flag(table: _Table, key: str) -> bool:
    value = table.content.get(key, False)
    if not isinstance(value, bool):
        raise PolicyValueError(table.place(key), f"`{key}` is {value!r}", "write true or false")
    return value


def _matcher(table: _Table, key: str) -> Matcher:
    value = table.content[key]
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise PolicyValueError(
            table.place(key),
            f"`{key}` is {value!r}",
            "give one text, or a list of texts that is not empty",
        )
    places = [table.place(key, *([] if texts is not value else [i])) for i in range(len(texts))]
    return tuple(
        pattern
        for text, place in zip(texts, places, strict=True)
        for pattern in _compiled(key, text, place)
    )


def _compiled(key: str, text: str, place: str) -> Matcher:
    try:
        return compile_condition(key, [text], f"{key} = {text!r}")
    except PolicyValueError as error:
        raise PolicyValueError(f"{place}: {error.where}", error.rule, error.hint) from error
