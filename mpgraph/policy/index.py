"""An index of patterns, so that a text is compared only with patterns that may match it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Generic, TypeVar

from mpgraph.policy.patterns import Pattern

__all__ = ["PatternIndex"]

T = TypeVar("T")
_GRAM = 4


class PatternIndex(Generic[T]):
    """Finds what belongs to the patterns that match a text.

    Exact patterns are looked up; a pattern with a needle is filed under the four characters of it
    that fewest other needles share, so that a lookup costs one step per character of the text
    however many patterns there are; the rest are tried one by one.
    """

    def __init__(self, items: Iterable[tuple[Pattern, T]]) -> None:
        self._exact: dict[str, list[T]] = {}
        self._by_gram: dict[str, list[tuple[Pattern, T]]] = {}
        self._others: list[tuple[Pattern, T]] = []
        given = list(items)
        self._is_empty = not given
        frequency = Counter(gram for pattern, _ in given for gram in _grams(pattern.needle))
        for pattern, item in given:
            grams = _grams(pattern.needle)
            if pattern.kind == "exact":
                self._exact.setdefault(pattern.literal, []).append(item)
            elif grams:
                rarest = min(sorted(grams), key=frequency.__getitem__)
                self._by_gram.setdefault(rarest, []).append((pattern, item))
            else:
                self._others.append((pattern, item))
            if pattern.kind == "glob" and "[" in pattern.literal:
                self._exact.setdefault(pattern.literal, []).append(item)

    def find(self, text: str) -> list[T]:
        """Return the items whose pattern matches; one may come twice. Empty text finds nothing."""
        if not text or self._is_empty:
            return []
        found = list(self._exact.get(text, ()))
        if self._by_gram:
            for gram in self._by_gram.keys() & _grams(text):
                found += [item for pattern, item in self._by_gram[gram] if pattern.matches(text)]
        for pattern, item in self._others:
            if pattern.matches(text):
                found.append(item)
        return found


def _grams(text: str) -> set[str]:
    return {text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1)}
