from __future__ import annotations

import math

import pytest

from mpgraph.report.units import (
    byte_text,
    cosine_text,
    error_text,
    node_text,
    ratio_text,
    sqnr_text,
    time_text,
)


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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 ns"),
        (85e-9, "85 ns"),
        (1.234e-6, "1.23 us"),
        (0.0124, "12.4 ms"),
        (0.99996, "1.00 s"),
        (75.4, "75.4 s"),
    ],
)
def test_times_have_three_digits(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def test_only_exact_agreement_has_cosine_1() -> None:
    assert (cosine_text(1.0), cosine_text(0.99999999)) == ("1", "0.999999")
    assert cosine_text(-0.5) == "-0.500000"
