"""Policy files in TOML.

    version = 1
    default = "mixed_float16"

    [[rule]]
    scope  = "encoder/layers.*/self_attn/**"
    op     = ["Softmax"]
    policy = "float32"
    reason = "logits overflow"

The conditions of one rule must all hold; a list holds alternatives. A rule with `optional = true`
may match nothing.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from mpgraph.errors import PolicyValueError
from mpgraph.policy.maps import PolicyMap
from mpgraph.policy.names import ACCEPTED, DTypePolicy
from mpgraph.policy.selectors import CONDITIONS, Matcher, Rule, compile_condition, rule_policy

__all__ = ["load_policy_file", "parse_policy_text"]

VERSION = 1
_FILE_KEYS = ("version", "default", "rule")
_RULE_KEYS = (*CONDITIONS, "policy", "reason", "optional")
_RULE_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*rule[ \t]*\]\]", re.MULTILINE)


def load_policy_file(
    path: str | os.PathLike[str], *, default: str | DTypePolicy | None = None
) -> PolicyMap:
    """Read a policy map from a TOML file.

    Args:
        path: The file.
        default: The default policy for a file that names none.

    Raises:
        PolicyValueError: The file cannot be read, is no TOML, or a key, selector or policy in it
            is wrong; the rule is named, with its line where that is known.
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
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PolicyValueError(source, f"not valid TOML: {error}") from error
    _refuse_unknown_keys(table, _FILE_KEYS, source)
    _check_version(table, source)
    chosen = table.get("default", default)
    if chosen is None:
        raise PolicyValueError(
            source, "the policy file names no default", f'add default = "mixed_float16"; {ACCEPTED}'
        )
    entries = table.get("rule", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise PolicyValueError(source, "`rule` is no list of tables", "write [[rule]] for each one")
    places = _places(text, len(entries), source)
    rules = [_rule(entry, place) for entry, place in zip(entries, places, strict=True)]
    return PolicyMap(rule_policy(chosen, where=f"{source}: default"), rules)


def _places(text: str, count: int, source: str) -> list[str]:
    """Return where each rule stands; without a line when headers and rules do not tally."""
    lines = [text.count("\n", 0, m.start()) + 1 for m in _RULE_HEADER.finditer(text)]
    if len(lines) != count:
        return [f"{source}: rule {index}" for index in range(1, count + 1)]
    return [f"{source}:{line}: rule {index}" for index, line in enumerate(lines, 1)]


def _check_version(table: Mapping[str, object], source: str) -> None:
    version = table.get("version")
    if type(version) is not int or version != VERSION:
        found = "has no version" if version is None else f"has version {version!r}"
        raise PolicyValueError(source, f"the policy file {found}", f"write version = {VERSION}")


def _rule(entry: Mapping[str, object], place: str) -> Rule:
    _refuse_unknown_keys(entry, _RULE_KEYS, place)
    if "policy" not in entry:
        raise PolicyValueError(place, "the rule has no policy", ACCEPTED)
    policy = rule_policy(entry["policy"], where=place)
    matchers = {key: _matcher(key, entry[key], place) for key in CONDITIONS if key in entry}
    if not matchers:
        raise PolicyValueError(
            place,
            "the rule selects nothing",
            f"give at least one of {', '.join(CONDITIONS)}; for all nodes set the default",
        )
    reason, optional = entry.get("reason", ""), entry.get("optional", False)
    if not isinstance(reason, str):
        raise PolicyValueError(place, f"`reason` is {reason!r}, which is no text", "quote it")
    if not isinstance(optional, bool):
        raise PolicyValueError(place, f"`optional` is {optional!r}", "write true or false")
    return Rule(policy, reason=reason, optional=optional, source=place, **matchers)


def _matcher(key: str, value: object, place: str) -> Matcher:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise PolicyValueError(
            place, f"`{key}` is {value!r}", "give one text, or a list of texts that is not empty"
        )
    try:
        return compile_condition(key, texts, f"{key} = {value!r}")
    except PolicyValueError as error:
        raise PolicyValueError(f"{place}: {error.where}", error.rule, error.hint) from error


def _refuse_unknown_keys(table: Mapping[str, object], accepted: Iterable[str], place: str) -> None:
    allowed = tuple(accepted)
    for key in table:
        if key not in allowed:
            near = difflib.get_close_matches(key, allowed, n=1)
            suggestion = f"did you mean {near[0]}? " if near else ""
            raise PolicyValueError(
                place, f"unknown key {key!r}", f"{suggestion}accepted: {', '.join(allowed)}"
            )
