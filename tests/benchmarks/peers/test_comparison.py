"""What counts as better, and how growth is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.benchmarks.peers.comparison import where_others_are_better
from tests.benchmarks.peers.growth import exponent, growths
from tests.benchmarks.peers.plot import points_of
from tests.benchmarks.peers.result import Latency, Result

_OWN = Result(
    "float16",
    "model",
    "mpgraph",
    "mixed",
    verdict="right",
    sqnr_db=60.0,
    low=10,
    casts_before=0,
    casts_after=4,
    off_target_before=0,
    off_target_after=0,
    cast_bytes_before=0,
    cast_bytes_after=100,
    orphans=0,
    latency={"cpu": Latency(1.0, 0.9, 1.1)},
)
_OTHER = replace(_OWN, tool="other", policy="theirs")


def cells(own: Result, other: Result) -> list[str]:
    return [better.cell for better in where_others_are_better([own, other])]


def test_equal_is_not_better() -> None:
    assert cells(_OWN, _OTHER) == []


def test_each_cell() -> None:
    other = replace(
        _OTHER,
        sqnr_db=70.0,
        casts_after=2,
        cast_bytes_after=50,
        latency={"cpu": Latency(0.5, 0.4, 0.6)},
    )
    expected = ["accuracy", "casts and copies", "cast bytes", "latency on cpu"]
    assert cells(_OWN, other) == expected


def test_a_latency_inside_the_noise_is_not_better() -> None:
    assert cells(_OWN, replace(_OTHER, latency={"cpu": Latency(0.8, 0.7, 0.95)})) == []


def test_fewer_casts_at_the_price_of_nodes_off_the_target() -> None:
    assert cells(_OWN, replace(_OTHER, casts_after=2, off_target_after=5)) == []


def test_who_converts_little_is_not_more_accurate() -> None:
    assert cells(_OWN, replace(_OTHER, sqnr_db=90.0, low=2)) == []
    quantized = replace(_OWN, suite="int8", size_after=100)
    larger = replace(_OTHER, suite="int8", size_after=300, sqnr_db=90.0)
    assert cells(quantized, larger) == []
    assert cells(quantized, replace(larger, size_after=100)) == ["accuracy"]


def test_right_is_better_than_broken() -> None:
    (better,) = where_others_are_better([replace(_OWN, verdict="broken"), _OTHER])
    assert (better.cell, better.own, better.theirs) == ("validity", "broken", "right")


@pytest.mark.parametrize("verdict", ["broken", "wrong values", "untouched"])
def test_what_is_not_right_is_never_better(verdict: str) -> None:
    assert cells(_OWN, replace(_OTHER, verdict=verdict, sqnr_db=90.0, casts_after=0)) == []  # type: ignore[arg-type]


def test_the_exponent_of_a_power() -> None:
    sizes = [1000, 2000, 5000]
    assert exponent(sizes, [size**1.5 for size in sizes]) == pytest.approx(1.5)
    assert exponent([1000], [1.0]) != exponent([1000], [1.0])


def test_growth_along_a_ladder() -> None:
    rungs = [
        replace(_OWN, suite="chain", model=f"chain {size}", size=size, seconds=size / 1000)
        for size in (1000, 2000, 4000)
    ]
    peaks = [replace(one, peak_bytes=100 + at * 10) for at, one in enumerate(rungs)]
    late = replace(peaks[2], verdict="broken", seconds=None)
    (found,) = growths([peaks[1], late, peaks[0]])
    assert (found.rungs, found.right, found.largest) == (2, 2, 2000)
    assert found.exponent == pytest.approx(1.0)
    assert found.memory_ratio == pytest.approx(1.1)


def test_points_hold_what_came_out_right() -> None:
    slow = replace(_OWN, model="other", sqnr_db=20.0, latency={"cpu": Latency(4.0, 3.9, 4.1)})
    broken = replace(_OWN, model="third", verdict="broken")
    ((tool, label, ratio, decibels, each),) = points_of([_OWN, slow, broken], "cpu")
    assert (tool, label) == ("mpgraph", "mixed (2/3 right)")
    assert ratio == pytest.approx(2.0)
    assert (decibels, len(each)) == (40.0, 2)
