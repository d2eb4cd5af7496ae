"""Text patterns of selectors: exact text, shell globs, regular expressions, scope paths."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from mpgraph import ir
from mpgraph.errors import PolicyValueError

__all__ = ["Pattern", "canonical_scope", "exact_pattern", "scope_pattern", "text_pattern"]

REGEX_PREFIX = "re:"
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
        needles: Texts that every match must contain, the longest first: a quick test before the
            expression.
        literal: Text that matches as it stands; empty where there is none.
    """

    text: str
    kind: Literal["exact", "glob", "regex"]
    compiled: re.Pattern[str] = field(repr=False, compare=False)
    needles: tuple[str, ...] = field(default=(), repr=False, compare=False)
    literal: str = field(default="", repr=False, compare=False)

    def matches(self, text: str) -> bool:
        """Whether the whole text matches; text that is empty never does."""
        if not text:
            return False
        if self.kind == "exact" or text == self.literal:
            return text == self.literal
        if self.needles and self.needles[0] not in text:
            return False
        return self.compiled.fullmatch(text) is not None


@lru_cache(1024)
def canonical_scope(scope: str) -> str:
    """Return a scope path as `/a/b/c`: `.` and `/` separate alike; empty for no scope."""
    return "".join(f"/{level}" for level in ir.module_levels(scope))


def exact_pattern(text: str, *, selector: str) -> Pattern:
    """Return the pattern of a text that stands for itself, whatever characters it has.

    Raises:
        PolicyValueError: The text is empty.
    """
    _require_text(text, selector)
    return Pattern(text, "exact", re.compile(re.escape(text)), literal=text)


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
        return exact_pattern(text, selector=selector)
    expression, literals = _glob_expression(text, any_text=".*", one=".")
    compiled = _compile(expression, selector)
    return Pattern(text, "glob", compiled, _longest_first(literals), literal=text)


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
    levels = ir.module_levels(text)
    _require_text("".join(levels), selector)
    if not _is_glob(text):
        literal = canonical_scope(text)
        return Pattern(text, "exact", re.compile(re.escape(literal)), literal=literal)
    expression, literals = "", [""]
    for level in levels:
        if level == "**":
            expression += "(?:/[^/]+)*"
            literals.append("")
            continue
        part, (first, *others) = _glob_expression(level, any_text="[^/]*", one="[^/]")
        expression += "/" + part
        literals[-1] += "/" + first
        literals += others
    return Pattern(text, "glob", _compile(expression, selector), _longest_first(literals))


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
    return Pattern(text, "regex", _compile(expression, selector), _needles_of(expression))


def _compile(expression: str, selector: str) -> re.Pattern[str]:
    try:
        return re.compile(expression, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise PolicyValueError(
            f"selector {selector!r}",
            f"the regular expression does not compile: {error}",
            "it must match the whole name or scope, in the syntax of Python's re",
        ) from error


def _glob_expression(glob: str, *, any_text: str, one: str) -> tuple[str, list[str]]:
    """Return the expression of a glob, and the literal texts between its wildcards in order."""
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
    return expression, literals


def _class_expression(members: str) -> str:
    negated = members[0] in "!^" and len(members) > 1
    body = members[1:] if negated else members
    escaped = body.replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
    return f"[{'^' if negated else ''}{escaped}]"


def _longest_first(literals: list[str]) -> tuple[str, ...]:
    return tuple(sorted(filter(None, literals), key=len, reverse=True))


def _needles_of(expression: str) -> tuple[str, ...]:
    """Return texts that every match of a simple expression contains; none when not sure."""
    if any(character in expression for character in "|({?"):
        return ()
    runs, position = [""], 0
    while position < len(expression):
        character = expression[position]
        width = 1
        literal = character if character not in _METACHARACTERS else ""
        if character == "[":
            closing = expression.find("]", position + 2)
            width = closing - position + 1
            if "\\" in expression[position : closing + 1]:
                return ()
        if character == "\\":
            width = 2
            escaped = expression[position + 1 : position + 2]
            if escaped.isalnum() and escaped not in _CLASS_ESCAPES:
                return ()
            literal = "" if escaped.isalnum() else escaped
        following = expression[position + width : position + width + 1]
        if literal and following not in _QUANTIFIERS:
            runs[-1] += literal
        else:
            runs.append("")
        position += width
    return _longest_first(runs)
