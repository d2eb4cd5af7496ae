from __future__ import annotations

import math

import pytest

from mpgraph.report.units import byte_text, error_text, node_text, ratio_text, sqnr_text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (1_149_256, "1.15 MB"),
        (9_996_000, "10.0 MB"),
        (99_960_000, "100 MB"),
        (999_999, "1.00 MB"),
        (2_950_000_000, "2.95 GB"),
    ],
)
def test_bytes_have_three_digits(count: int, text: str) -> None:
    assert byte_text(count) == text


def test_other_numbers() -> None:
    assert (ratio_text(1, 2), ratio_text(1, 0)) == ("50 %", "")
    assert (error_text(0.0), error_text(0.00057)) == ("exact", "5.7e-04")
    assert (sqnr_text(68.19), sqnr_text(math.inf)) == ("68.2", "inf")
    assert (node_text(1), node_text(2)) == ("1 node", "2 nodes")
