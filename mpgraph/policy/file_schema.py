"""A JSON schema of policy files, for editors that check and complete TOML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from mpgraph.policy.file_keys import FILE_KEYS, MATCHER_KEYS, RULE_KEYS, VERSION, FileKey, Kind
from mpgraph.policy.grammar import FLOAT_NAMES, MODE_FORMS, POLICY_NAMES, SEPARATOR
from mpgraph.policy.modes import QuantizationMode

__all__ = ["policy_file_schema"]

_SIZE = "(-1|[1-9][0-9]*)"
_NUMBERS = {"BLOCK": _SIZE, "GROUP": _SIZE, "BITS": "[2348]"}


def policy_file_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 7) of policy files, made of the reader's own tables.

    It refuses what the reader refuses, but for what a schema cannot know: expressions that do not
    compile, rules with the same conditions, and values of policies of one's own that contradict
    each other.
    """
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "mpgraph policy file",
        **_table(FILE_KEYS),
        "definitions": {
            "policy": _policy(),
            "patterns": _patterns(),
            "rule": {
                **_table(RULE_KEYS),
                "anyOf": [{"required": [name]} for name in MATCHER_KEYS],
            },
        },
    }


def _table(keys: tuple[FileKey, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {key.name: _property(key) for key in keys},
        "required": [key.name for key in keys if key.required],
        "additionalProperties": False,
    }


def _property(key: FileKey) -> dict[str, Any]:
    # Beside a bare $ref, draft 7 ignores the description.
    return {"description": key.description, **_KINDS[key.kind]()}


_KINDS: Mapping[Kind, Callable[[], dict[str, Any]]] = {
    "version": lambda: {"const": VERSION},
    "policy": lambda: {"allOf": [{"$ref": "#/definitions/policy"}]},
    "flag": lambda: {"type": "boolean"},
    "text": lambda: {"type": "string"},
    "patterns": lambda: {"allOf": [{"$ref": "#/definitions/patterns"}]},
    "rules": lambda: {"type": "array", "items": {"$ref": "#/definitions/rule"}},
}


def _patterns() -> dict[str, Any]:
    text = {"type": "string", "minLength": 1}
    return {"anyOf": [text, {"type": "array", "items": text, "minItems": 1}]}


def _policy() -> dict[str, Any]:
    modes = "|".join(map(_expression, MODE_FORMS))
    sources = "|".join(POLICY_NAMES)
    custom = _closed({"name": {"type": "string"}, "config": _dtypes()}, "name", "config")
    quantized = _closed(
        {
            "mode": {"anyOf": [{"type": "string", "pattern": f"^({modes})$"}, _mode()]},
            "source_name": {"anyOf": [{"enum": list(POLICY_NAMES)}, custom]},
        },
        "mode",
    )
    return {
        "anyOf": [
            {"enum": list(POLICY_NAMES)},
            {"type": "string", "pattern": f"^({modes}){SEPARATOR}({sources})$"},
            custom,
            quantized,
        ]
    }


def _expression(form: str) -> str:
    """The expression of the form of a mode such as `gptq/BITS/GROUP`."""
    for word, numbers in _NUMBERS.items():
        form = form.replace(word, numbers)
    return form


def _dtypes() -> dict[str, Any]:
    names = ("variable_dtype", "compute_dtype")
    return _closed({name: {"enum": list(FLOAT_NAMES)} for name in names}, *names)


def _mode() -> dict[str, Any]:
    return _closed({field.name: {} for field in fields(QuantizationMode)})


def _closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """A table with these keys and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
