from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mpgraph.report.audit_html.segments import crossings, cut_points, segment_size


def test_crossings_count_the_values_alive_behind_each_place() -> None:
    assert crossings(4, [(0, 1), (0, 3), (2, 3)]) == [2, 1, 2, 0]
    assert crossings(2, []) == [0, 0]


@given(st.lists(st.integers(0, 9), max_size=400), st.integers(2, 60))
def test_segments_cover_the_run_in_pieces_of_about_the_size(alive: list[int], size: int) -> None:
    edges = [0, *cut_points(alive, size), len(alive)]
    lengths = [stop - start for start, stop in pairwise(edges)]
    assert all(length <= size + size // 2 for length in lengths)
    if len(lengths) > 1:
        assert all(length >= size // 2 for length in lengths)


def test_cuts_stand_where_few_values_cross() -> None:
    alive = [5] * 100
    alive[43] = alive[88] = 1
    assert cut_points(alive, 40) == [44]
    assert cut_points(alive * 3, 40)[:2] == [44, 89]


def test_there_are_about_as_many_segments_as_things_in_one() -> None:
    assert segment_size(400) == 40
    assert segment_size(1_000_000) == 1000
