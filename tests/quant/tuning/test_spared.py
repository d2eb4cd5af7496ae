"""The parts that stay in float, for errors that add up and for errors that do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph.quant.tuning import spared_parts


class Errors:
    """Errors that add up, times what parts do to each other."""

    def __init__(self, alone, together=1.0):
        self.alone = alone
        self.together = together
        self.calls = 0

    def __call__(self, parts):
        self.calls += 1
        factor = self.together if len(parts) > 1 else 1.0
        return factor * sum(self.alone[part] for part in parts)


def test_one_run_where_all_is_fine():
    errors = Errors([1e-5] * 10)
    assert spared_parts(errors, range(10), 1e-3) == {}
    assert errors.calls == 1


def test_the_worst_parts_are_spared_with_their_errors():
    errors = Errors([1e-5, 2e-3, 1e-5, 5e-3])
    assert spared_parts(errors, range(4), 1e-3) == {1: 2e-3, 3: 5e-3}


def test_more_is_tolerated_as_long_as_nothing_is_spared():
    errors = Errors([1e-3, 0.5e-3])
    assert spared_parts(errors, range(2), 1e-3, tolerated=2e-3) == {}
    assert spared_parts(errors, range(2), 1e-3, tolerated=1e-3) == {0: 1e-3}


def test_parts_that_do_more_together_are_spared_further():
    errors = Errors([1e-4] * 8 + [1], together=4.0)
    spared = spared_parts(errors, range(9), 1e-3)
    assert errors([part for part in range(9) if part not in spared]) <= 1e-3
    assert 1 < len(spared) < 9


def test_parts_that_gain_more_for_their_error_are_rounded_first():
    errors = Errors([6e-4, 5e-4, 3e-4])
    assert spared_parts(errors, range(3), 1e-3).keys() == {0}
    assert spared_parts(errors, range(3), 1e-3, gains=[9.0, 1.0, 1.0]).keys() == {1}
    assert spared_parts(errors, range(3), 1e-3, gains=[0.0, 0.0, 0.0]).keys() == {0}


def test_only_the_given_parts_are_tried():
    errors = Errors([1.0, 2e-3, 1e-5])
    assert spared_parts(errors, [1, 2], 1e-3, gains=[9.0, 1.0, 1.0]) == {1: 2e-3}


def test_an_infinite_error_spares_its_part():
    assert spared_parts(Errors([0.0, float("inf")]), range(2), 1e-3) == {1: float("inf")}


@pytest.mark.parametrize("count", [0, 1])
def test_few_parts(count):
    assert len(spared_parts(Errors([1.0]), range(count), 1e-3)) == count


@settings(max_examples=50, deadline=None, derandomize=True)
@given(exponents=st.lists(st.floats(-9, 0), min_size=1, max_size=20))
def test_what_is_rounded_stays_within_the_limit(exponents):
    alone = list(10 ** np.array(exponents))
    spared = spared_parts(Errors(alone), range(len(alone)), 1e-3)
    rounded = [error for part, error in enumerate(alone) if part not in spared]
    assert sum(rounded) <= 1e-3
    if spared and rounded:
        assert min(spared.values()) >= max(rounded)
