"""Pieces of samples: all of them, in order, and only a few under way."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpgraph.calibration.pieces import in_order, pieces
from mpgraph.calibration.work import Piece


@given(
    sizes=st.lists(st.integers(0, 40), max_size=20), samples=st.integers(1, 5), size=st.just(100)
)
def test_pieces_are_the_samples_in_order(sizes: list[int], samples: int, size: int) -> None:
    feeds = [{"x": np.full(one, index, np.uint8)} for index, one in enumerate(sizes)]
    found = list(pieces(feeds, samples, size))
    assert [feed for _, piece in found for feed in piece] == feeds
    starts = np.cumsum([0, *(len(piece) for _, piece in found)])
    assert [first for first, _ in found] == starts[:-1].tolist()
    for _, piece in found:
        assert 1 <= len(piece) <= samples
        assert sum(feed["x"].nbytes for feed in piece[:-1]) < size


class Sent:
    """Futures that were made, and how many were unfinished at a time."""

    def __init__(self) -> None:
        self.futures: list[Future[Piece]] = []
        self.most = 0

    def submit(self, first: int, _: list[Any]) -> Future[Piece]:
        self.futures.append(Future())
        self.most = max(self.most, sum(not one.done() for one in self.futures))
        return self.futures[-1]

    def result(self, future: Future[Piece]) -> Piece:
        future.set_result(Piece({}, self.futures.index(future), {}))
        return future.result()


def test_results_come_in_order_and_only_a_few_are_under_way() -> None:
    sent = Sent()
    given = pieces([{}] * 10, 1, 1000)
    found = [piece.samples for piece in in_order(given, sent.submit, 3, sent.result)]
    assert found == list(range(10))
    assert sent.most == 3


def test_what_is_under_way_is_cancelled_when_one_fails() -> None:
    sent = Sent()

    def fails(future: Future[Piece]) -> Piece:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        list(in_order(pieces([{}] * 10, 1, 1000), sent.submit, 3, fails))
    assert [one.cancelled() for one in sent.futures] == [False, True, True]
