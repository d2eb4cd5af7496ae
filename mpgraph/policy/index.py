"""An index of patterns, so that a text is compared only with patterns that may match it."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Generic, TypeVar

from mpgraph.policy.patterns import Pattern

__all__ = ["PatternIndex"]

T = TypeVar("T")
_GRAM = 4
_PARTS = 4096


class PatternIndex(Generic[T]):
    """Finds what belongs to the patterns that match a text.

    Exact patterns are looked up; a pattern with needles is filed under the four characters of them
    that fewest other patterns share, so that a lookup costs one pass over the text however many
    patterns there are; the rest are tried one by one. Texts that follow each other often share what
    is before their last `/`, or what is behind it: each is looked at once.
    """

    def __init__(self, items: Iterable[tuple[Pattern, T]]) -> None:
        exact: dict[str, list[T]] = {}
        others: list[tuple[Pattern, T]] = []
        self._by_gram: dict[str, list[tuple[Pattern, T]]] = {}
        given = list(items)
        self._is_empty = not given
        self._of_part = lru_cache(_PARTS)(self._filed_under_grams_of)
        all_grams = [
            {gram for needle in pattern.needles for gram in _grams(needle)} for pattern, _ in given
        ]
        frequency = Counter(itertools.chain.from_iterable(all_grams))
        for (pattern, item), grams in zip(given, all_grams, strict=True):
            if pattern.kind == "exact":
                exact.setdefault(pattern.literal, []).append(item)
            elif grams:
                rarest = min(sorted(grams), key=frequency.__getitem__)
                self._by_gram.setdefault(rarest, []).append((pattern, item))
            else:
                others.append((pattern, item))
            if pattern.kind == "glob" and "[" in pattern.literal:
                exact.setdefault(pattern.literal, []).append(item)
        self._exact = {text: tuple(items) for text, items in exact.items()}
        self._others = tuple(others)
        self._find_likely = _likely(self._by_gram).findall

    def find(self, text: str) -> tuple[T, ...]:
        """Return the items whose pattern matches; one may come twice. Empty text finds nothing."""
        if not text or self._is_empty:
            return ()
        found = self._exact.get(text, ())
        tried = self._others
        if self._by_gram:
            prefix, _, _ = text.rpartition("/")
            tried += self._of_part(prefix) + self._of_part(text[max(0, len(prefix) - _GRAM + 1) :])
        if tried:
            found += tuple([item for pattern, item in tried if pattern.matches(text)])
        return found

    def _filed_under_grams_of(self, text: str) -> tuple[tuple[Pattern, T], ...]:
        by_gram = self._by_gram
        likely = self._find_likely(text)
        return tuple([filed for gram in likely if gram in by_gram for filed in by_gram[gram]])


def _grams(text: str) -> set[str]:
    return {text[start : start + _GRAM] for start in range(len(text) - _GRAM + 1)}


def _likely(grams: Iterable[str]) -> re.Pattern[str]:
    """An expression that finds every gram, and some more, without a step in Python per character.

    It looks at each of the four places alone: for any character that some gram has there.
    """
    places = [f"[{re.escape(''.join(sorted(set(place))))}]" for place in zip(*grams, strict=True)]
    return re.compile(f"(?=({''.join(places)}))")
