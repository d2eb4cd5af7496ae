"""On which line each key of a TOML text stands, which Python's reader does not tell."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Mapping

__all__ = ["KeyPath", "error_line", "key_lines"]

KeyPath = tuple[str | int, ...]
"""Keys from the outermost table inwards, with indices in lists: ("rule", 0, "op")."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:[^"\\]|\\.)*"' r"|'[^']*'", re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\n]*")
_ERROR_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def key_lines(text: str) -> Mapping[KeyPath, int]:
    """Return the line, counted from 1, of every table, key and list item of a TOML text.

    Args:
        text: TOML that `tomllib` reads; for any other text the lines mean nothing.
    """
    return _Scanner(text).scan()


def error_line(error: tomllib.TOMLDecodeError, text: str) -> tuple[int, str]:
    """Return the line of a syntax error, and what is wrong there."""
    message = str(error)
    found = _ERROR_PLACE.search(message)
    if found is None:
        return 1, message
    line = int(found[1]) if found[1] else text.rstrip().count("\n") + 1
    return line, message[: found.start()]


class _Scanner:
    """Walks over a text once; only the beginnings of keys and values are looked at."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._newlines = [match.start() for match in re.finditer("\n", text)]
        self._lines: dict[KeyPath, int] = {}
        self._lengths: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        while not self._at_end():
            if self._takes("[["):
                table = self._next_of_list()
            elif self._takes("["):
                table = self._noted(self._current(self._keys()))
                self._takes("]")
            else:
                self._pair(table)
        return self._lines

    def _next_of_list(self) -> KeyPath:
        *outer, last = self._keys()
        self._takes("]]")
        path = (*self._current(tuple(outer)), last)
        index = self._lengths.get(path, 0)
        self._lengths[path] = index + 1
        self._noted(path)
        return self._noted((*path, index))

    def _current(self, keys: KeyPath) -> KeyPath:
        """The path of a table; of a list of tables the last one is meant."""
        path: KeyPath = ()
        for key in keys:
            path = (*path, key)
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        return path

    def _pair(self, table: KeyPath) -> None:
        start = self._position
        path = (*table, *self._keys())
        for end in range(len(table) + 1, len(path) + 1):
            self._noted(path[:end], start)
        self._takes("=")
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._at_end()
        if self._takes("["):
            index = 0
            while not self._at_end() and not self._takes("]"):
                self._noted((*path, index))
                self._value((*path, index))
                self._takes(",")
                index += 1
        elif self._takes("{"):
            while not self._at_end() and not self._takes("}"):
                self._pair(path)
                self._takes(",")
        elif not self._match(_STRING):
            self._match(_SCALAR)

    def _keys(self) -> KeyPath:
        keys: list[str] = []
        while True:
            self._at_end()
            bare = self._match(_BARE)
            keys.append(bare or _unquoted(self._match(_STRING)))
            if not self._takes("."):
                return tuple(keys)

    def _noted(self, path: KeyPath, position: int | None = None) -> KeyPath:
        at = self._position if position is None else position
        self._lines.setdefault(path, bisect_left(self._newlines, at) + 1)
        return path

    def _at_end(self) -> bool:
        """Whether nothing but blanks and comments is left; they are skipped."""
        self._match(_BLANK)
        return self._position >= len(self._text)

    def _takes(self, token: str) -> bool:
        self._at_end()
        found = self._text.startswith(token, self._position)
        self._position += len(token) * found
        return found

    def _match(self, expression: re.Pattern[str]) -> str:
        match = expression.match(self._text, self._position)
        if match is None:
            return ""
        self._position = match.end()
        return match[0]


def _unquoted(quoted: str) -> str:
    return str(tomllib.loads(f"key = {quoted}")["key"])
