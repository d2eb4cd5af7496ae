"""Rows of activations, against what the model computes."""

from __future__ import annotations

import numpy as np
import pytest

import models
from mpgraph import ir
from mpgraph.calibration import capture_rows
from mpgraph.errors import DataError
from mpgraph.runtime import input_specs, load_data
from tests.runtime.builders import build

TEXT = """g (float[n,4] x, float s) => (float[n,4] y) {
    h = Mul (x, two)
    k = Mul (h, s)
    y = Add (k, h)
}"""


def model():
    return build(TEXT, two=np.array(2, np.float32))


def feeds(*extents):
    rng = np.random.default_rng(3)
    return [
        {"x": rng.normal(size=(rows, 4)).astype(np.float32), "s": np.array(3, np.float32)}
        for rows in extents
    ]


def captured(given, names, **options):
    one = model()
    return capture_rows(one, load_data(given, input_specs(one)), names, **options)


def test_rows_and_extremes_of_values_and_inputs():
    given = feeds(5, 3)
    found = captured(given, ["x", "h", "x"])
    assert not found.missing and found.values.keys() == {"x", "h"}
    rows = found.values["h"]
    exact = [2 * feed["x"] for feed in given]
    assert np.array_equal(rows.values, np.concatenate(exact))
    assert rows.sample.tolist() == [0] * 5 + [1] * 3
    assert np.array_equal(rows.low, [one.min(axis=0) for one in exact])
    assert np.array_equal(rows.high, [one.max(axis=0) for one in exact])
    assert np.array_equal(found.values["x"].values * 2, rows.values)


def test_few_rows_are_kept_and_extremes_of_all():
    (feed,) = feeds(1000)
    rows = captured([feed], ["h"], rows=10).values["h"]
    assert rows.values.shape == (10, 4)
    assert np.array_equal(rows.high[0], 2 * feed["x"].max(axis=0))
    assert np.array_equal(rows.values[[0, -1]], 2 * feed["x"][[0, -1]])


def test_samples_and_memory_are_bounded():
    given = feeds(64, 64, 64)
    rows = captured(given, ["h", "k"], samples=2, memory="2KB").values
    assert all(one.low.shape[0] == 2 for one in rows.values())
    assert np.array_equal(rows["k"].values, rows["h"].values * 3)
    with pytest.raises(DataError):
        captured(given, ["h"], memory="16B")


@pytest.mark.parametrize(("bad", "why"), [(np.nan, "NaN"), (np.inf, "infinities")])
def test_values_that_are_not_finite_are_left_out(bad, why):
    given = feeds(4, 4)
    given[1]["x"][2, 1] = bad
    found = captured(given, ["h", "x"])
    assert not found.values
    assert all(why in reason for reason in found.missing.values())


def test_what_has_no_rows_says_why():
    found = captured(feeds(0), ["h", "s"])
    assert not found.values
    assert found.missing["h"] == found.missing["s"] == "it is empty on this data"


def test_values_of_bodies_are_not_reached():
    one = ir.load(models.build("loop_state"))
    inner = [
        value
        for scope in ir.graphs(one)
        if scope.owner
        for node in scope.graph
        for value in node.outputs
    ]
    names = [value.name for value in inner if value.dtype in ir.FLOATS][:1]
    found = capture_rows(one, load_data(models.feeds("loop_state"), input_specs(one)), names)
    assert found.missing == {names[0]: "it is not computed in the main graph"}
