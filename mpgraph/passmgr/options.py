"""Between the options of a pipeline text and the typed fields of a pass."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeVar, Union

from mpgraph.errors import PipelineError
from mpgraph.passmgr.base import Pass
from mpgraph.passmgr.pipeline_text import OptionValue, PassSpec, format_value

__all__ = ["OptionInfo", "build_pass", "describe_options", "nearest", "spec_of"]

PassT = TypeVar("PassT", bound=Pass)


@dataclasses.dataclass(frozen=True)
class OptionInfo:
    """One option of a pass as a person reads it; a `default` of "required" means there is none."""

    name: str
    type: str
    default: str


def build_pass(cls: type[PassT], options: Mapping[str, OptionValue]) -> PassT:
    """An instance of `cls` whose fields are `options` (keys with `_`), checked against their types.

    Raises:
        PipelineError: An option is unknown, missing, or of the wrong type.
    """
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    for key in options:
        if key not in fields:
            raise PipelineError(
                f"pass '{cls.name}'",
                f"has no option '{_shown(key)}'",
                nearest(_shown(key), map(_shown, fields)) or "it has no options",
            )
    for field in fields.values():
        if field.name not in options and _is_required(field):
            raise PipelineError(f"pass '{cls.name}'", f"needs option '{_shown(field.name)}'")
    hints = typing.get_type_hints(cls)
    values = {
        key: _convert(value, hints[key], f"option '{_shown(key)}' of pass '{cls.name}'")
        for key, value in options.items()
    }
    return cls(**values)


def spec_of(pass_: Pass) -> PassSpec:
    """The spec that `build_pass` turns back into an equal pass.

    A field whose type a pipeline text cannot hold appears as its `str`: readable, not readable
    back. Such a value belongs into the facts.
    """
    options = {
        field.name: _to_option(getattr(pass_, field.name))
        for field in dataclasses.fields(pass_)
        if field.init and getattr(pass_, field.name) != _default(field)
    }
    return PassSpec(pass_.name, options)


def describe_options(cls: type[Pass]) -> tuple[OptionInfo, ...]:
    """The options of a pass class, in the order of its fields."""
    hints = typing.get_type_hints(cls)
    return tuple(
        OptionInfo(_shown(field.name), _type_text(hints[field.name]), _default_text(field))
        for field in dataclasses.fields(cls)
        if field.init
    )


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint that names what was probably meant, else all there is; empty if there is nothing."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "there is: " + ", ".join(names) if names else ""


def _convert(value: OptionValue, hint: Any, where: str) -> object:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _convert_union(value, arguments, hint, where)
    if origin is Literal:
        if value in arguments:
            return value
    elif origin is tuple and isinstance(value, tuple):
        return tuple(_convert(item, arguments[0], where) for item in value)
    elif hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    elif hint in (bool, int, str, types.NoneType) and type(value) is hint:
        return value
    raise PipelineError(where, f"is of type {_type_text(hint)}, not {value!r}")


def _convert_union(value: OptionValue, choices: tuple[Any, ...], hint: Any, where: str) -> object:
    for choice in choices:
        try:
            return _convert(value, choice, where)
        except PipelineError:
            continue
    raise PipelineError(where, f"is of type {_type_text(hint)}, not {value!r}")


def _to_option(value: object) -> OptionValue:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple):
        return tuple(map(_to_option, value))
    return str(value)


def _default(field: dataclasses.Field[Any]) -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return _default(field) is dataclasses.MISSING


def _default_text(field: dataclasses.Field[Any]) -> str:
    return "required" if _is_required(field) else format_value(_to_option(_default(field)))


def _shown(key: str) -> str:
    return key.replace("_", "-")


def _type_text(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
