"""JSON schemas of dataclasses as the command line prints them, with their docstrings."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

__all__ = ["document_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Mapping[object, str] = {str: "string", int: "integer", bool: "boolean", NoneType: "null"}
_NUMBER = {
    "description": "A number; infinities and NaN, which JSON lacks, are texts.",
    "anyOf": [{"type": "number"}, {"enum": ["inf", "-inf", "nan"]}],
}
_ENTRY = re.compile(r"(\w+): (.*)", re.DOTALL)


def document_schema(root: type, name: str, version: int) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a document that holds a dataclass.

    Properties that it does not name are allowed, so that it also holds for documents of later
    versions of the same format, which may have more of them.

    Args:
        root: The dataclass; the fields of it and of those in it say what they mean in the
            ``Attributes`` section of their docstrings.
        name: The command that prints the document.
        version: The number of the format, which the document has as ``format``.
    """
    definitions = _Definitions()
    schema = definitions.schema(root)
    format_ = {"description": "The version of this format.", "const": version}
    return {
        "$schema": _DIALECT,
        "$id": f"urn:mpgraph:{name}:{version}",
        "title": f"mpgraph {name} --json",
        **schema,
        "properties": {"format": format_, **schema["properties"]},
        "required": ["format", *schema["required"]],
        "$defs": dict(sorted(definitions.known.items())),
    }


class _Definitions:
    """Schemas of types; a dataclass is written once, and referred to."""

    def __init__(self) -> None:
        self.known: dict[str, dict[str, Any]] = {}

    def schema(self, cls: type) -> dict[str, Any]:
        """The schema of a dataclass itself."""
        summary, texts = _documented(cls)
        hints = get_type_hints(cls)
        names = [field.name for field in fields(cls)]
        return {
            "description": summary,
            "type": "object",
            "properties": {
                name: {"description": texts[name], **self._of(hints[name])} for name in names
            },
            "required": names,
        }

    def _of(self, hint: Any) -> dict[str, Any]:
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType):
            return self._any_of(arguments)
        if origin is Literal:
            return {"enum": list(arguments)}
        if origin is tuple and arguments[1:] == (...,):
            return {"type": "array", "items": self._of(arguments[0])}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._mapping(*arguments)
        if hint is float:
            self.known["number"] = _NUMBER
            return {"$ref": "#/$defs/number"}
        if hint in _PLAIN:
            return {"type": _PLAIN[hint]}
        if isinstance(hint, type) and is_dataclass(hint):
            return self._reference(hint)
        raise TypeError(f"{hint!r} has no JSON schema")

    def _any_of(self, hints: tuple[Any, ...]) -> dict[str, Any]:
        found = [self._of(hint) for hint in hints]
        if all(one.keys() == {"type"} for one in found):
            return {"type": [one["type"] for one in found]}
        return {"anyOf": found}

    def _mapping(self, key: Any, value: Any) -> dict[str, Any]:
        schema = {"type": "object", "additionalProperties": self._of(value)}
        if key is int:
            schema["propertyNames"] = {"pattern": "^-?[0-9]+$"}
        return schema

    def _reference(self, cls: type) -> dict[str, Any]:
        name = cls.__name__
        if name not in self.known:
            self.known[name] = {}
            self.known[name] = self.schema(cls)
        return {"$ref": f"#/$defs/{name}"}


def _documented(cls: type) -> tuple[str, dict[str, str]]:
    """The summary of a docstring, and what its ``Attributes`` section says about each field."""
    text, _, section = inspect.cleandoc(cls.__doc__ or "").partition("\n\nAttributes:\n")
    entries = re.split(r"\n(?=\w)", textwrap.dedent(section).strip())
    found = (_ENTRY.fullmatch(entry) for entry in entries)
    return _line(text), {one[1]: _line(one[2]) for one in found if one}


def _line(text: str) -> str:
    return " ".join(text.split())
