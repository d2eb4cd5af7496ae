"""The search for parts to keep, on errors that are made up."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph.quant.sensitivity import Part, choose_kept, measure_alone, release, search_kept

LIMIT = 0.03


class Errors:
    """Independent errors of parts, which add up in squares; some pairs do more together."""

    def __init__(self, alone, pairs=()):
        self.alone, self.pairs = alone, dict(pairs)
        self.asked = Counter()

    def __call__(self, quantized):
        self.asked[quantized] += 1
        energy = sum(self.alone[part] ** 2 for part in quantized)
        energy += sum(more**2 for pair, more in self.pairs.items() if pair <= quantized)
        return math.sqrt(energy)


def parts_of(alone, gains=None):
    return [Part(*one) for one in zip(alone, gains or [1.0] * len(alone), strict=True)]


ALONE = st.lists(st.sampled_from([0.0, 1e-4, 1e-3, 0.01, 0.02, 0.05, 0.4]), min_size=1, max_size=20)


@given(ALONE)
@settings(max_examples=60)
def test_what_is_left_is_within_the_limit_and_no_kept_part_could_be_let_go(alone):
    errors = Errors(alone)
    everything = frozenset(range(len(alone)))
    kept = choose_kept(errors, parts_of(alone), LIMIT)
    assert errors(everything - kept) <= LIMIT
    for part in kept:
        assert errors((everything - kept) | {part}) > LIMIT


@given(ALONE)
@settings(max_examples=60)
def test_a_search_is_verified_and_gives_the_same_every_time(alone):
    # What is built is off by more than what is estimated.
    built = Errors([1.5 * error for error in alone])
    estimate = Errors(alone)
    everything = frozenset(range(len(alone)))
    parts = parts_of(alone)
    kept = search_kept(estimate, built, parts, LIMIT)
    assert built.asked[everything - kept] or kept == everything
    assert built(everything - kept) <= LIMIT
    assert search_kept(Errors(alone), Errors(built.alone), parts, LIMIT) == kept


def test_one_harmful_part_is_found():
    alone = [1e-3] * 7 + [0.5] + [1e-3] * 8
    assert choose_kept(Errors(alone), parts_of(alone), LIMIT) == {7}


def test_harm_is_weighed_by_what_a_part_gains():
    alone = [0.025, 0.025]
    assert choose_kept(Errors(alone), parts_of(alone, [1.0, 8.0]), LIMIT) == {0}
    assert choose_kept(Errors(alone), parts_of(alone, [8.0, 1.0]), LIMIT) == {1}


def test_what_turns_out_not_to_matter_is_let_go():
    # Part 1 comes before part 2 in the order of harm, and part 2 is what must be kept.
    alone = [0.001, 0.02, 0.029]
    kept = choose_kept(Errors(alone), parts_of(alone, [1.0, 0.01, 1.0]), LIMIT)
    assert kept == {1}
    pairs = [(frozenset({0, 2}), 0.1)]
    kept = choose_kept(Errors(alone, pairs), parts_of(alone, [1.0, 0.01, 1.0]), LIMIT)
    assert kept == {2}


def test_nothing_is_kept_where_everything_is_fine():
    alone = [0.01, 0.01]
    assert choose_kept(Errors(alone), parts_of(alone), LIMIT) == frozenset()


def test_everything_is_kept_where_each_part_is_too_much():
    alone = [0.1, 0.2, 0.3]
    assert choose_kept(Errors(alone), parts_of(alone), LIMIT) == {0, 1, 2}


def test_builds_that_say_otherwise_than_estimates_are_believed():
    alone = [0.001] * 8
    built = Errors(alone, [(frozenset({2, 3}), 0.5)])
    kept = search_kept(Errors(alone), built, parts_of(alone), LIMIT)
    assert built(frozenset(range(8)) - kept) <= LIMIT
    assert kept & {2, 3}
    assert sum(built.asked.values()) < 20


def test_few_sets_are_measured_where_most_parts_do_nothing():
    alone = [0.0] * 40 + [0.2] + [0.0] * 87
    errors = Errors(alone)
    assert measure_alone(errors, len(alone), LIMIT) == alone
    assert len(errors.asked) < 20


def test_what_is_measured_of_each_part_is_its_own_error():
    alone = [0.01, 0.02, 0.03, 0.04, 0.05]
    assert measure_alone(Errors(alone), len(alone), LIMIT) == pytest.approx(alone)
    assert measure_alone(Errors([]), 0, LIMIT) == []


def test_hardly_more_sets_than_parts_are_measured_where_all_are_harmful():
    errors = Errors([0.1] * 128)
    assert measure_alone(errors, 128, LIMIT) == pytest.approx([0.1] * 128)
    assert sum(errors.asked.values()) < 1.2 * 128


def test_parts_that_do_their_share_and_no_more_are_not_taken_apart():
    alone = [0.9 * LIMIT / math.sqrt(32)] * 32
    errors = Errors(alone)
    assert measure_alone(errors, 32, LIMIT) == pytest.approx(alone)
    assert len(errors.asked) == 4


@given(ALONE, st.data())
@settings(max_examples=60)
def test_what_is_released_is_within_the_limit(alone, data):
    everything = frozenset(range(len(alone)))
    kept = data.draw(st.frozensets(st.sampled_from(sorted(everything))))
    errors = Errors(alone)
    found = release(errors, errors, parts_of(alone), kept, LIMIT)
    assert found <= kept
    assert errors(everything - found) <= LIMIT or found == kept
    # What is built decides.
    assert release(errors, Errors([1.0] * len(alone)), parts_of(alone), kept, LIMIT) == kept


def test_what_can_be_quantized_after_all_is_found_in_few_tries():
    alone = [0.2] * 8 + [1e-4] * 56
    errors = Errors(alone)
    everything = frozenset(range(64))
    assert release(errors, errors, parts_of(alone), everything, LIMIT) == frozenset(range(8))
    assert len(errors.asked) < 20
