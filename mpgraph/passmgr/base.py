"""What a pass is: a frozen dataclass with a name, whose fields are its options."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from mpgraph import ir
from mpgraph.passmgr.pipeline_text import PassSpec

if TYPE_CHECKING:
    from mpgraph.passmgr.facts import Facts

__all__ = ["Pass", "PassResult"]

_KEBAB_CASE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Pass(ABC):
    """One step of a pipeline; subclasses are frozen dataclasses and hold no state between runs.

    Class attributes:
        name: The name in pipeline texts, in kebab-case.
        requires: The types of the facts that `run` reads with `Facts.get`.
        provides: The types of the facts that `run` puts.
        keeps: The types of facts about the model that still hold when `run` has changed it.
    """

    name: ClassVar[str]
    requires: ClassVar[tuple[type, ...]] = ()
    provides: ClassVar[tuple[type, ...]] = ()
    keeps: ClassVar[tuple[type, ...]] = ()

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        name = cls.__dict__.get("name")
        if name is not None and not _KEBAB_CASE.fullmatch(name):
            raise TypeError(f"{cls.__qualname__}: the name of a pass is kebab-case, not {name!r}")

    @abstractmethod
    def run(self, model: ir.Model, facts: Facts) -> bool:
        """Change `model` in place, leaving valid IR; tell whether anything changed."""

    def spec(self) -> PassSpec:
        """The name and those options that differ from their defaults, as in a pipeline text."""
        from mpgraph.passmgr.options import spec_of

        return spec_of(self)

    @property
    def label(self) -> str:
        """The name that pipeline texts, errors and dumps show."""
        return self.name


@dataclass(frozen=True)
class PassResult:
    """What one run of one pass did.

    Attributes:
        label: The label of the pass.
        modified: Whether the pass changed the model.
        seconds: Wall time of the run.
    """

    label: str
    modified: bool
    seconds: float
