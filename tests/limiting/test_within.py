"""What is kept for the sake of the error, on errors and gains that are made up."""

from __future__ import annotations

from mpgraph.limiting.settings import Settings
from mpgraph.limiting.within import within_limit
from tests.limiting.made_up import MadeUp

SETTINGS = Settings(0.03, 4, 2.0, False, "cpu")


def test_the_most_harmful_for_what_it_gains_is_kept():
    trials = MadeUp([0.02, 0.01, 0.025], [(1, 0.2), (1, 0.2), (9, 1)])
    choices, evidence = within_limit(trials, trials, SETTINGS)
    assert choices == [{0}]
    assert evidence.errors == {0: 0.02, 1: 0.01, 2: 0.025}
    assert "quantized by itself" in evidence.reasons[0]


def test_a_node_that_gains_nothing_stays_quantized_between_others_where_little_is_lost():
    trials = MadeUp([0.02, 0.001, 0.025], [(0.3, 0.1), (1, 1.2), (9, 1)])
    choices, _ = within_limit(trials, trials, SETTINGS)
    assert choices == [{0}]


def test_where_most_of_the_gain_is_lost_what_gains_nothing_is_also_tried_in_float():
    errors = [0.5, 0.0285, 0.005, 0.005, 0.005, 0.005]
    gains = [(9, 1), (4, 1), *[(1, 1.2)] * 4]
    trials = MadeUp(errors, gains)
    choices, evidence = within_limit(trials, trials, SETTINGS)
    assert choices[0] >= {0}
    assert any(1 not in kept for kept in choices)
    assert all(trials.error(trials.everything - kept) <= 0.03 for kept in choices)
    assert (
        "gains next to no time quantized (1 ms in float, 1.2 ms quantized)" in (evidence.reasons[2])
    )


def test_errors_alone_decide_where_times_are_not_known():
    trials = MadeUp([0.02, 0.001, 0.025])
    choices, evidence = within_limit(trials, trials, SETTINGS)
    assert choices == [{2}]
    assert evidence.reasons[2].endswith("with the others by more than 0.03")
