"""What passes hand to each other: a store of objects keyed by their class."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeVar

from mpgraph.errors import PipelineError

__all__ = ["Facts"]

T = TypeVar("T")


class Facts:
    """At most one object per class; a pass puts what later passes get.

    The key is the exact class of the object, so a fact is put and asked for by the same class.
    A class with a true attribute ``until_modified`` describes the model as it is: the pass manager
    drops such a fact when a pass changes the model.
    """

    def __init__(self, *objects: object) -> None:
        self._objects: dict[type, object] = {}
        for fact in objects:
            self.put(fact)

    def put(self, fact: object) -> None:
        """Store `fact`, replacing an earlier one of the same class."""
        self._objects[type(fact)] = fact

    def find(self, cls: type[T]) -> T | None:
        """The fact of class `cls`, or None."""
        fact = self._objects.get(cls)
        return fact if isinstance(fact, cls) else None

    def get(self, cls: type[T]) -> T:
        """The fact of class `cls`.

        Raises:
            PipelineError: There is none; the hint names the passes that provide it.
        """
        fact = self.find(cls)
        if fact is None:
            raise missing_fact(cls, f"fact '{cls.__name__}'")
        return fact

    def drop_outdated(self, kept: Collection[type]) -> None:
        """Drop what describes a model that has changed, but for the classes of `kept`."""
        for cls in tuple(self._objects):
            if getattr(cls, "until_modified", False) and cls not in kept:
                del self._objects[cls]

    def copy(self) -> Facts:
        """A store with the same objects; later puts do not reach the other one."""
        return Facts(*self)

    def __contains__(self, cls: type) -> bool:
        return cls in self._objects

    def __iter__(self) -> Iterator[object]:
        return iter(self._objects.values())


def missing_fact(cls: type, where: str) -> PipelineError:
    """The error for a fact that nothing provided, naming the registered passes that would."""
    from mpgraph.passmgr.registry import providers_of

    try:
        names = providers_of(cls)
    except PipelineError:
        names = ()
    hint = f"run {' or '.join(names)} first" if names else "put it into the facts before the run"
    return PipelineError(where, f"no pass before it provided {cls.__name__}", hint)
