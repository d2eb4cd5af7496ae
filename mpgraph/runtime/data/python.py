"""Feeds that come as Python objects: a dict, an iterable of dicts, or a CalibrationDataReader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

__all__ = ["iterable_source", "reader_source"]

Source: TypeAlias = Callable[[], Iterator[tuple[str, Any]]]


def iterable_source(feeds: Iterable[Any], label: str) -> Source:
    """A source over any iterable; one that can be read only once is kept as it is read."""
    if iter(feeds) is feeds:
        return _kept(iter(feeds), label)

    def source() -> Iterator[tuple[str, Any]]:
        for index, feed in enumerate(feeds):
            yield f"{label}, sample {index}", feed

    return source


def reader_source(reader: Any, label: str) -> Source:
    """A source over an object with ``get_next()``; re-read by ``rewind()`` where it has one."""
    if not hasattr(reader, "rewind"):
        return _kept(iter(reader.get_next, None), label)

    def source() -> Iterator[tuple[str, Any]]:
        reader.rewind()
        for index, feed in enumerate(iter(reader.get_next, None)):
            yield f"{label}, sample {index}", feed

    return source


def _kept(feeds: Iterator[Any], label: str) -> Source:
    kept: list[Any] = []

    def source() -> Iterator[tuple[str, Any]]:
        index = 0
        while True:
            if index == len(kept):
                try:
                    kept.append(next(feeds))
                except StopIteration:
                    return
            yield f"{label}, sample {index}", kept[index]
            index += 1

    return source
