"""Pipeline texts: `normalize,insert-casts{limit=3 ops=["Add","Mul"]}` to pass specs and back.

    pipeline := pass ("," pass)*
    pass     := name ("{" option* "}")?
    name     := a registered pass, or "package.module:Class" of an onnx-ir pass
    option   := key "=" value            options are separated by blanks
    value    := true | false | none | integer | float | word | "text" | "[" value,* "]"

`-` and `_` in a key are the same. A text in double quotes uses the escapes of JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mpgraph.errors import PipelineError

__all__ = ["OptionValue", "PassSpec", "format_pipeline", "format_value", "parse_pipeline"]

OptionValue = bool | int | float | str | None | tuple["OptionValue", ...]

_BLANK = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z][\w.\-]*(?::[A-Za-z_]\w*)?")
_KEY = re.compile(r"[A-Za-z][\w\-]*")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORD = re.compile(r'[^\s,{}\[\]="]+')
_INTEGER = re.compile(r"[+-]?\d+")
_CONSTANTS: Mapping[str, OptionValue] = {"true": True, "false": False, "none": None}


@dataclass(frozen=True)
class PassSpec:
    """A pass by name with its options (keys with `_`); `str` gives its pipeline text."""

    name: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))

    def __str__(self) -> str:
        if not self.options:
            return self.name
        pairs = (
            f"{key.replace('_', '-')}={format_value(value)}" for key, value in self.options.items()
        )
        return f"{self.name}{{{' '.join(pairs)}}}"


def format_pipeline(specs: Iterable[PassSpec]) -> str:
    """The text that `parse_pipeline` reads back as the same specs."""
    return ",".join(map(str, specs))


def parse_pipeline(text: str) -> tuple[PassSpec, ...]:
    """Read a pipeline text; blanks and line breaks between its parts do not matter.

    Raises:
        PipelineError: The text does not follow the grammar; the error shows the position.
    """
    reader = _Reader(text)
    if reader.at_end():
        return ()
    specs = [_pass(reader)]
    while not reader.at_end():
        reader.expect(",")
        specs.append(_pass(reader))
    return tuple(specs)


class _Reader:
    """A position in a pipeline text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def skip_blanks(self) -> None:
        match = _BLANK.match(self.text, self.position)
        self.position = match.end() if match else self.position

    def at_end(self) -> bool:
        self.skip_blanks()
        return self.position == len(self.text)

    def accept(self, symbol: str) -> bool:
        self.skip_blanks()
        if not self.text.startswith(symbol, self.position):
            return False
        self.position += len(symbol)
        return True

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            raise self.error(f"'{symbol}' expected")

    def take(self, pattern: re.Pattern[str]) -> str | None:
        self.skip_blanks()
        match = pattern.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match.group()

    def error(self, rule: str) -> PipelineError:
        found = self.text[self.position : self.position + 20]
        shown = f"but found {found!r}" if found else "but the text ends"
        return PipelineError(
            f"pipeline text, position {self.position + 1}",
            f"{rule}, {shown}",
            'write passes as name{key=value key="text"}, separated by commas',
        )


def _pass(reader: _Reader) -> PassSpec:
    name = reader.take(_NAME)
    if name is None:
        raise reader.error("a pass name expected")
    if not reader.accept("{"):
        return PassSpec(name)
    options: dict[str, OptionValue] = {}
    while not reader.accept("}"):
        start = reader.position
        key = reader.take(_KEY)
        if key is None:
            raise reader.error("an option or '}' expected")
        if key.replace("-", "_") in options:
            reader.position = start
            raise reader.error(f"option '{key}' is given once only")
        reader.expect("=")
        options[key.replace("-", "_")] = _value(reader)
    return PassSpec(name, options)


def _value(reader: _Reader) -> OptionValue:
    if reader.accept("["):
        return _list(reader)
    start = reader.position
    quoted = reader.take(_TEXT)
    if quoted is not None:
        try:
            return str(json.loads(quoted, strict=False))
        except json.JSONDecodeError:
            reader.position = start
            raise reader.error("a text with the escapes of JSON expected") from None
    word = reader.take(_WORD)
    if word is None:
        raise reader.error("a value expected")
    return _read_word(word)


def _list(reader: _Reader) -> tuple[OptionValue, ...]:
    items: list[OptionValue] = []
    while not reader.accept("]"):
        if items:
            reader.expect(",")
        items.append(_value(reader))
    return tuple(items)


def _read_word(word: str) -> OptionValue:
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if _INTEGER.fullmatch(word):
        return int(word)
    try:
        return float(word)
    except ValueError:
        return word


def format_value(value: OptionValue) -> str:
    """An option value as a pipeline text holds it."""
    if isinstance(value, tuple):
        return f"[{','.join(map(format_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) is not None and _read_word(value) == value
        return value if plain else json.dumps(value, ensure_ascii=False)
    return "none" if value is None else repr(value)
