"""What a person reads about a calibration."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from mpgraph.quant.calibration import Calibration
from mpgraph.quant.observers import METHODS, Observer
from mpgraph.report.calibration import describe_ranges, range_lines
from mpgraph.report.text import render_calibration


def calibration(arrays, observer=None, **fields):
    observer = observer or Observer()
    found = {}
    for name, array in arrays.items():
        found[name] = observer.accumulator()
        found[name].update(np.asarray(array, np.float32))
    return Calibration("f", observer, found, **fields)


def text(found, **options):
    stream = io.StringIO()
    render_calibration(found, Console(file=stream, width=120), **options)
    return stream.getvalue()


def logits():
    return np.random.default_rng(0).standard_normal(4000)


def test_odd_ranges_come_first_with_what_is_odd():
    masked = logits()
    masked[::4] = -1e9
    spiked = logits()
    spiked[7] = 900
    broken = logits()
    broken[:3] = np.nan
    said = text(
        calibration(
            {"plain": logits(), "m": masked, "s": spiked, "b": broken, "zero": np.zeros(9)},
            aliases={"other": "plain"},
            missing={"cold": "was never computed on this data"},
            samples=1,
            label="d.npz",
        )
    )
    assert "data: d.npz, 1 sample\n" in said
    assert "5 tensors, and 1 more that hold the same elements" in said
    assert "skipped: 3 in 1 tensor\n" in said
    assert "left out: 1.00 k in 1 tensor\n" in said
    assert "without a range: cold (was never computed on this data)" in said
    odd, _, wide = said.partition("widest ranges")
    order = [line.split()[0] for line in odd.partition("odd ranges")[2].splitlines()[2:] if line]
    assert order == ["m", "b", "s", "zero"]
    assert "1000 masks from -1e+09 to -1e+09 left out" in odd
    assert "1 of 4000 elements are 8 times beyond the rest" in odd
    assert "always the same" in odd
    assert "plain" in wide


def test_no_more_rows_than_a_screen_holds():
    arrays = {f"v{index}": logits() * (index + 1) for index in range(300)}
    said = text(calibration(arrays))
    assert "widest ranges (300)" in said
    assert len(said.splitlines()) < 20
    assert "v299" in said and "v100 " not in said


def test_values_that_were_always_empty_have_no_line():
    found = calibration({"a": logits(), "e": np.zeros(0)})
    assert [line.name for line in range_lines(found)] == ["a"]
    assert "without a range: e (was always empty)" in text(found)


@pytest.mark.parametrize("method", METHODS)
def test_as_data(method):
    found = calibration({"a": logits()}, Observer(method=method))
    (one,) = describe_ranges(found)["values"]
    assert one["name"] == "a" and one["low"] < 0 < one["high"] and one["elements"] == 4000


def test_channels_show_their_widest():
    found = calibration({"a": [[1, 2], [-5, 9]]}, Observer(axis=0))
    (line,) = range_lines(found)
    assert (line.low, line.high) == (-5, 9)
