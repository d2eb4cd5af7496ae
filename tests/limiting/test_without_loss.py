"""What is kept for the sake of time, on times that are made up."""

from __future__ import annotations

from dataclasses import replace

from mpgraph.limiting.settings import Settings
from mpgraph.limiting.within import Evidence
from mpgraph.limiting.without_loss import fastest, without_loss
from tests.limiting.made_up import MadeUp

SETTINGS = Settings(0.03, 4, 2.0, False, "cpu")
NOTHING = frozenset()


def run(trials, settings=SETTINGS):
    evidence = Evidence()
    kept, latency = without_loss(trials, settings, NOTHING, trials.latency(NOTHING), evidence)
    return kept, latency, evidence


def test_the_fastest_of_several_choices_is_taken():
    trials = MadeUp([0.0] * 3, latency=lambda quantized: 1 - 0.1 * len(quantized))
    kept, latency = fastest(trials, [frozenset({0, 1}), frozenset({0}), frozenset({0, 1, 2})])
    assert kept == {0}
    assert latency.ratio == 0.8


def test_the_first_is_taken_where_no_time_is_known():
    assert fastest(MadeUp([0.0] * 3), [frozenset({1}), NOTHING]) == ({1}, None)


def test_a_node_that_loses_time_is_kept_where_the_model_gains_by_that():
    trials = MadeUp([0.0, 0.0], [(4, 1), (1, 2)], lambda quantized: 0.5 if 1 in quantized else 0.4)
    kept, latency, evidence = run(trials)
    assert kept == {1}
    assert latency.ratio == 0.4
    assert "1 ms in float, 2 ms quantized" in evidence.reasons[1]


def test_it_stays_quantized_where_the_model_does_not():
    trials = MadeUp(
        [0.0, 0.0], [(4, 1), (1, 2)], lambda quantized: 0.6 if len(quantized) < 2 else 0.5
    )
    assert run(trials)[0] == NOTHING


def test_what_gains_little_is_kept_only_where_the_model_would_lose_time():
    gains = [(4, 1), (1, 0.95)]
    slow = MadeUp([0.0, 0.0], gains, lambda quantized: 1.1 if 1 in quantized else 0.8)
    assert run(slow)[0] == {1}
    fast = MadeUp([0.0, 0.0], gains, lambda quantized: 0.9 if 1 in quantized else 0.8)
    assert run(fast)[0] == NOTHING
    assert fast.timed == [NOTHING]


def test_everything_is_kept_where_nothing_makes_the_model_faster():
    trials = MadeUp([0.0, 0.0], [(4, 1), (1, 2)], lambda quantized: 1.02)
    kept, latency, evidence = run(trials)
    assert kept == {0, 1}
    assert latency.ratio == 1.02
    assert set(evidence.reasons.values()) == {"the model as a whole gains no time quantized"}


def test_what_would_be_beyond_the_limit_is_not_timed():
    trials = MadeUp([0.0, 0.0], [(4, 1), (1, 2)], lambda quantized: 1.1 if 1 in quantized else 0.8)
    kept, _, _ = run(trials, replace(SETTINGS, limit=-1.0))
    assert kept == {0, 1}
    assert trials.timed == [NOTHING]
