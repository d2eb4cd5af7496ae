"""Text patterns of selectors: exact text, shell globs, regular expressions, scope paths."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from mpgraph.errors import PolicyValueError

__all__ = ["Pattern", "canonical_scope", "scope_pattern", "text_pattern"]

REGEX_PREFIX = "re:"
_SEPARATORS = re.compile(r"[./]")
_QUANTIFIERS = frozenset("*+?{")
_METACHARACTERS = frozenset(".^$*+?{}[]\\|()")
_CLASS_ESCAPES = frozenset("dDwWsSbBAZ")


@dataclass(frozen=True)
class Pattern:
    """One compiled pattern; equal and hashable by kind and text.

    Attributes:
        text: The pattern as it was written, `re:` included.
        kind: `exact`, `glob` or `regex`.
        compiled: The expression of the pattern.
        needle: Text that every match must contain, a quick test before the expression.
        literal: Text that matches as it stands; empty where there is none.
    """

    text: str
    kind: Literal["exact", "glob", "regex"]
    compiled: re.Pattern[str] = field(repr=False, compare=False)
    needle: str = field(default="", repr=False, compare=False)
    literal: str = field(default="", repr=False, compare=False)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches; text that is empty never does."""
        if not text:
            return False
        if self.kind == "exact" or text == self.literal:
            return text == self.literal
        return self.needle in text and self.compiled.fullmatch(text) is not None


def canonical_scope(scope: str) -> str:
    """Return a scope path as `/a/b/c`: `.` and `/` separate alike; empty for no scope."""
    levels = [level for level in _SEPARATORS.split(scope) if level]
    return "".join(f"/{level}" for level in levels)


def text_pattern(text: str, *, selector: str) -> Pattern:
    """Compile a pattern over whole names: exact text, a glob, or `re:` and an expression.

    In a glob `*` is any text, `?` one character and `[...]` a class; a name that equals the
    pattern literally matches too, so that names with brackets can be given as they are.

    Args:
        text: The pattern.
        selector: The selector as the user wrote it, for the error.

    Raises:
        PolicyValueError: The pattern is empty, or the expression does not compile.
    """
    if text.startswith(REGEX_PREFIX):
        return _regex_pattern(text, selector)
    _require_text(text, selector)
    if not _is_glob(text):
        return Pattern(text, "exact", re.compile(re.escape(text)), literal=text)
    expression, needle = _glob_expression(text, any_text=".*", one=".")
    return Pattern(text, "glob", _compile(expression, selector), needle, literal=text)


def scope_pattern(text: str, *, selector: str) -> Pattern:
    """Compile a pattern over scope paths in the form of `canonical_scope`.

    `*` stays within one level, `**` spans any number of levels (also none), `.` and `/` are the
    same separator. `encoder/**` matches `encoder` itself and all below it; `encoder` only itself.
    A `re:` expression is for the path as it is, or with `/` between the levels.

    Raises:
        PolicyValueError: The pattern is empty, or the expression does not compile.
    """
    if text.startswith(REGEX_PREFIX):
        return _regex_pattern(text, selector)
    levels = [level for level in _SEPARATORS.split(text) if level]
    _require_text("".join(levels), selector)
    if not _is_glob(text):
        literal = canonical_scope(text)
        return Pattern(text, "exact", re.compile(re.escape(literal)), literal=literal)
    expression, needle = "", ""
    for level in levels:
        if level == "**":
            expression += "(?:/[^/]+)*"
            continue
        part, part_needle = _glob_expression(level, any_text="[^/]*", one="[^/]")
        expression += "/" + part
        needle = max(needle, part_needle, key=len)
    return Pattern(text, "glob", _compile(expression, selector), needle)


def _is_glob(text: str) -> bool:
    return any(character in text for character in "*?[")


def _require_text(text: str, selector: str) -> None:
    if not text:
        raise PolicyValueError(
            f"selector {selector!r}", "the pattern is empty", "give a name, a glob or re:EXPRESSION"
        )


def _regex_pattern(text: str, selector: str) -> Pattern:
    expression = text.removeprefix(REGEX_PREFIX)
    _require_text(expression, selector)
    return Pattern(text, "regex", _compile(expression, selector), _needle_of(expression))


def _compile(expression: str, selector: str) -> re.Pattern[str]:
    try:
        return re.compile(expression, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise PolicyValueError(
            f"selector {selector!r}",
            f"the regular expression does not compile: {error}",
            "it must match the whole name or scope, in the syntax of Python's re",
        ) from error


def _glob_expression(glob: str, *, any_text: str, one: str) -> tuple[str, str]:
    """Return the expression of a glob, and the longest literal text it requires."""
    expression, literals, position = "", [""], 0
    while position < len(glob):
        character = glob[position]
        closing = glob.find("]", position + 2) if character == "[" else -1
        if character == "*":
            stars = len(glob) - position - len(glob[position:].lstrip("*"))
            expression += any_text if stars == 1 else ".*"
            position += stars - 1
            literals.append("")
        elif character == "?":
            expression += one
            literals.append("")
        elif closing > 0:
            expression += _class_expression(glob[position + 1 : closing])
            position = closing
            literals.append("")
        else:
            expression += re.escape(character)
            literals[-1] += character
        position += 1
    return expression, max(literals, key=len)


def _class_expression(members: str) -> str:
    negated = members[0] in "!^" and len(members) > 1
    body = members[1:] if negated else members
    escaped = body.replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
    return f"[{'^' if negated else ''}{escaped}]"


def _needle_of(expression: str) -> str:
    """Return text that every match of a simple expression contains; empty when not sure."""
    if any(character in expression for character in "|({?"):
        return ""
    runs, position = [""], 0
    while position < len(expression):
        character = expression[position]
        width = 1
        literal = character if character not in _METACHARACTERS else ""
        if character == "[":
            closing = expression.find("]", position + 2)
            width = closing - position + 1
            if "\\" in expression[position : closing + 1]:
                return ""
        if character == "\\":
            width = 2
            escaped = expression[position + 1 : position + 2]
            if escaped.isalnum() and escaped not in _CLASS_ESCAPES:
                return ""
            literal = "" if escaped.isalnum() else escaped
        following = expression[position + width : position + width + 1]
        if literal and following not in _QUANTIFIERS:
            runs[-1] += literal
        else:
            runs.append("")
        position += width
    return max(runs, key=len)
