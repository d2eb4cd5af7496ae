"""Settings of a session that change numbers or the graph: chosen knowingly, and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from mpgraph.errors import TargetError
from mpgraph.targets.suggestion import nearest

__all__ = ["Setting", "with_values"]

Scope = Literal["session", "provider", "compiler"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting that every session on a target is created with.

    Attributes:
        name: Its name in onnxruntime, in the provider or in the provider's compiler.
        value: The value that is given, as text.
        scope: Who reads it: ``session`` is a session config entry, ``provider`` an option of the
            execution provider, ``compiler`` a property of the compiler behind it.
        effect: What it does to the numbers or the graph, as a phrase.
    """

    name: str
    value: str
    scope: Scope
    effect: str


def with_values(
    settings: tuple[Setting, ...], values: Mapping[str, str], where: str
) -> tuple[Setting, ...]:
    """The settings with other values for some of them.

    Raises:
        TargetError: A name is none of the settings.
    """
    known = [setting.name for setting in settings]
    for name in values:
        if name not in known:
            near = nearest(name, known) or known
            hint = f"settings here: {', '.join(near)}" if near else "it has none"
            raise TargetError(where, f"it has no setting {name!r}", hint)
    return tuple(
        replace(setting, value=values.get(setting.name, setting.value)) for setting in settings
    )
