"""A table of texts, so that a page holds each one once and shared beginnings once."""

from __future__ import annotations

__all__ = ["StringTable"]


class StringTable:
    """Numbers for texts; the numbers are those of the sorted texts, known once all are in."""

    def __init__(self) -> None:
        self._texts: dict[str, None] = {"": None}
        self._numbers: dict[str, int] = {}

    def add(self, text: str) -> None:
        """Takes a text in."""
        self._texts[text] = None

    def number(self, text: str) -> int:
        """The number of a text that was taken in; the empty one has 0."""
        if len(self._numbers) != len(self._texts):
            self._numbers = {each: at for at, each in enumerate(sorted(self._texts))}
        return self._numbers[text]

    def encoded(self) -> list[int | str]:
        """The sorted texts: how much each shares with the one before, and the rest of it."""
        found: list[int | str] = []
        previous = ""
        for text in sorted(self._texts):
            shared = _shared(previous, text)
            found += (shared, text[shared:])
            previous = text
        return found


def _shared(one: str, other: str) -> int:
    """With how many characters two texts begin alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
