"""Errors of variants against one reference."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph.runtime import compare_models, input_specs, load_data
from mpgraph.runtime import output_errors as module
from mpgraph.runtime.output_errors import OutputErrors
from tests.runtime.builders import build

TEXT = "g (float[3] x) => (float[3] y, float[3] z) { y = Mul (x, f)  z = Add (x, x) }"


def model(factor):
    return build(TEXT, f=np.float32(factor))


def feeds():
    return [{"x": np.array(row, np.float32)} for row in ([0, 1, 2], [-4, 0, 4], [1, 1, 1])]


def errors(data):
    reference = model(1)
    return OutputErrors(reference, load_data(data, input_specs(reference)))


def test_the_error_is_that_of_verify():
    found = errors(feeds()).of(model(1.125))
    assert found == pytest.approx(compare_models(model(1), model(1.125), feeds()).max_relative)
    assert found == pytest.approx(0.125)


def test_samples_bound_what_is_run():
    measured = errors(feeds())
    assert measured.of(model(2), samples=1) == pytest.approx(1.0)
    # As verify runs it, and as the target does.
    assert (measured.runs, measured.samples) == (2, 1)


def test_no_more_is_run_than_is_needed_to_know_that_an_error_is_too_large():
    measured = errors(feeds())
    assert 0.1 < measured.of(model(2), enough=0.1) <= errors(feeds()).of(model(2))
    assert measured.runs == 1
    assert measured.of(model(1), enough=0.1) == 0
    assert (measured.runs, measured.samples) == (7, 3)


def test_what_does_not_fit_into_memory_is_computed_again(monkeypatch):
    expected = errors(feeds()).of(model(1.5))
    monkeypatch.setattr(module, "_CACHE_BYTES", 30)
    measured = errors(feeds())
    assert [measured.of(model(1.5)) for _ in range(3)] == [expected] * 3


def test_nan_is_an_infinite_error():
    assert errors(feeds()).of(model(np.nan)) == np.inf
