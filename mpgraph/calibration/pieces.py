"""Samples cut into pieces, several of which are under way at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any

from mpgraph.calibration.work import Piece

__all__ = ["Samples", "feed_bytes", "in_order", "pieces"]

Samples = tuple[int, list[Mapping[str, Any]]]
"""The index of the first sample of a piece, and its samples."""


def pieces(feeds: Iterable[Mapping[str, Any]], samples: int, size: int) -> Iterator[Samples]:
    """Cut samples into pieces.

    Args:
        feeds: The samples.
        samples: A piece ends at so many of them.
        size: It ends as well where its arrays take so many bytes.
    """
    piece: list[Mapping[str, Any]] = []
    filled = first = 0
    for index, feed in enumerate(feeds):
        piece.append(feed)
        filled += feed_bytes(feed)
        if len(piece) >= samples or filled >= size:
            yield first, piece
            piece, filled, first = [], 0, index + 1
    if piece:
        yield first, piece


def in_order(
    given: Iterable[Samples],
    submit: Callable[[int, list[Mapping[str, Any]]], Future[Piece]],
    limit: int,
    result: Callable[[Future[Piece]], Piece] = Future.result,
) -> Iterator[Piece]:
    """What comes of pieces, in their order.

    Args:
        given: The pieces.
        submit: Sends one on its way.
        limit: No more than so many are under way at a time.
        result: Waits for what one comes to.
    """
    under_way: deque[Future[Piece]] = deque()
    try:
        for first, samples in given:
            under_way.append(submit(first, samples))
            while len(under_way) >= limit:
                yield result(under_way.popleft())
        while under_way:
            yield result(under_way.popleft())
    finally:
        for future in under_way:
            future.cancel()


def feed_bytes(feed: Mapping[str, Any]) -> int:
    """Bytes of the arrays of a feed."""
    values = [one if isinstance(one, list) else [one] for one in feed.values()]
    return sum(array.nbytes for arrays in values for array in arrays if array is not None)
