"""Errors of products by the form of quantization, against what onnxruntime computes."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.quant.tuning import (
    Rows,
    approximated,
    form_errors,
    product_error,
    row_error,
    weight_rounded,
)
from mpgraph.runtime import create_session, run
from tests.runtime.builders import build

RNG = np.random.default_rng(5)
MATRIX = RNG.normal(size=(32, 16)).astype(np.float32)


def rows_of(*samples):
    """All rows of some activations [rows, channels]."""
    index = np.concatenate([np.full(len(one), at, np.int64) for at, one in enumerate(samples)])
    low, high = (np.stack([take(one, axis=0) for one in samples]) for take in (np.min, np.max))
    return Rows(np.concatenate(samples), index, low, high)


def sample(scale=1.0, rows=6):
    return (RNG.normal(size=(rows, 32)) * scale).astype(np.float32)


def test_the_error_counts_every_row_the_same():
    exact = np.array([[100.0, 0], [0, 1], [0, 0]])
    found = np.array([[100.0, 0], [0, 0], [5, 5]])
    assert row_error(exact, found) == 0.5
    assert row_error(np.zeros((2, 3)), np.ones((2, 3))) == 0.0


def test_a_range_per_sample_is_that_of_dynamic_quantization():
    rows = rows_of(sample(), sample(20))
    model = build(
        "g (float[6,32] x) => (uint8[6,32] q, float s, uint8 z) { q, s, z = DynamicQuantizeLinear (x) }"
    )
    session = create_session(model)
    for index in range(2):
        values = rows.values[rows.sample == index]
        found = run(session, {"x": values})
        expected = (found["q"].astype(np.float32) - np.float32(found["z"])) * found["s"]
        np.testing.assert_allclose(
            approximated(rows, "dynamic")[rows.sample == index], expected, rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize(("form", "rows"), [("static", 12), ("dynamic", 6), ("dynamic_rows", 1)])
def test_a_step_is_that_of_the_rows_that_share_a_range(form, rows):
    known = rows_of(sample(), sample(20))
    found = approximated(known, form)
    for start in range(0, 12, rows):
        exact = known.values[start : start + rows]
        step = (max(exact.max(), 0) - min(exact.min(), 0)) / 255
        if form == "dynamic_rows":
            step = np.abs(exact).max() / 127
        assert np.abs(found[start : start + rows] - exact).max() <= step * 0.501


def test_weights_have_a_step_per_column():
    steps = np.abs(MATRIX).max(axis=0)
    for bits, highest in ((8, 127), (7, 63)):
        rounded = weight_rounded(MATRIX, bits)
        assert (np.abs(rounded - MATRIX) <= steps / highest * 0.501).all()
        assert len(np.unique(rounded[:, 0])) > 8


def test_finer_ranges_are_closer_where_rows_differ():
    found = form_errors(rows_of(sample(), sample(100), sample(0.01)), MATRIX, 8)
    assert found.dynamic_rows <= found.dynamic < found.static
    assert found.static > 0.1


def test_forms_are_measured_one_by_one_as_together():
    rows = rows_of(sample(), sample(3))
    found = form_errors(rows, MATRIX, 7)
    for form in ("static", "dynamic", "dynamic_rows"):
        assert getattr(found, form) == product_error(rows, MATRIX, form, 7)


def test_rows_times_factors():
    factors = np.exp2(np.arange(32) % 5 - 2).astype(np.float32)
    rows = rows_of(sample())
    scaled = rows.times(factors)
    assert np.array_equal(scaled.values, rows.values * factors)
    assert np.array_equal(scaled.high.max(axis=0), scaled.values.max(axis=0))
