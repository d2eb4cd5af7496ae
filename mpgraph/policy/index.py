"""An index of patterns, so that a text is compared only with patterns that may match it."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar

from mpgraph.policy.patterns import Pattern

__all__ = ["PatternIndex"]

T = TypeVar("T")
_GRAM = 4
_Gram = tuple[str, ...]
_PARTS = 4096


class PatternIndex(Generic[T]):
    """Finds what belongs to the patterns that match a text.

    Exact patterns are looked up; a pattern with needles is filed under the four characters of them
    that fewest other patterns share, so that a lookup costs one step per character of the text
    however many patterns there are; the rest are tried one by one. Texts that follow each other
    often share what is before their last `/`, or what is behind it: each is looked at once.
    """

    def __init__(self, items: Iterable[tuple[Pattern, T]]) -> None:
        self._exact: dict[str, list[T]] = {}
        self._by_gram: dict[_Gram, list[tuple[Pattern, T]]] = {}
        self._others: list[tuple[Pattern, T]] = []
        given = list(items)
        self._is_empty = not given
        self._of_part = lru_cache(_PARTS)(self._filed_under_grams_of)
        all_grams = [
            {gram for needle in pattern.needles for gram in _grams(needle)} for pattern, _ in given
        ]
        frequency = Counter(itertools.chain.from_iterable(all_grams))
        for (pattern, item), grams in zip(given, all_grams, strict=True):
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
            prefix, _, _ = text.rpartition("/")
            behind = text[max(0, len(prefix) - _GRAM + 1) :]
            for candidates in (self._of_part(prefix), self._of_part(behind)):
                if candidates:
                    found += [item for pattern, item in candidates if pattern.matches(text)]
        for pattern, item in self._others:
            if pattern.matches(text):
                found.append(item)
        return found

    def _filed_under_grams_of(self, text: str) -> list[tuple[Pattern, T]]:
        by_gram = self._by_gram
        return [filed for gram in _grams(text) if gram in by_gram for filed in by_gram[gram]]


def _grams(text: str) -> Iterator[_Gram]:
    return zip(*(text[start:] for start in range(_GRAM)), strict=False)
