"""Passes over the data: every value once, within the budget, as few passes as that allows."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph.errors import DataError
from mpgraph.runtime.observation import ObservationPass, ValueSize, plan_passes

sizes = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=4),
    st.builds(ValueSize, st.integers(0, 1000), st.booleans()),
    max_size=12,
)


def cost(one: ObservationPass, found: dict[str, ValueSize], part: int) -> int:
    return sum(found[name].bytes for name in one.whole) + len(one.reduced) * (32 + 4 * part)


@settings(max_examples=60)
@given(found=sizes, budget=st.integers(1000, 4000), part=st.sampled_from([0, 40]))
def test_each_value_once_and_no_pass_above_the_budget(
    found: dict[str, ValueSize], budget: int, part: int
) -> None:
    passes = plan_passes(found, budget, part=part, reducible=True)
    names = [name for one in passes for name in one.names]
    assert sorted(names) == sorted(found)
    for one in passes:
        assert cost(one, found, part) == one.bytes <= budget
        assert all(found[name].reducible for name in one.reduced)
    if sum(size.bytes for size in found.values()) <= budget:
        assert len(passes) == bool(found)
        assert not any(one.reduced for one in passes)


def test_the_largest_values_are_reduced_first() -> None:
    found = {"small": ValueSize(100), "large": ValueSize(900), "fixed": ValueSize(800, False)}
    (one,) = plan_passes(found, 1000, part=0, reducible=True)
    assert (one.whole, one.reduced) == (("small", "fixed"), ("large",))
    first, second = plan_passes(found, 1000, part=0, reducible=False)
    assert (first.whole, second.whole) == (("small", "large"), ("fixed",))


def test_what_cannot_be_reduced_has_to_fit() -> None:
    with pytest.raises(DataError, match=r"'fixed': takes .*give at least 3MB of memory"):
        plan_passes({"fixed": ValueSize(2_500_000, False)}, 1000, part=0, reducible=True)


def test_values_of_bodies_count_by_their_rows() -> None:
    passes = plan_passes(
        {"a": ValueSize(600)}, 1000, part=0, reducible=False, rows={"b": 0, "c": 500, "d": 500}
    )
    assert [(one.whole, one.bodies) for one in passes] == [(("a",), ("b",)), ((), ("c", "d"))]


def test_a_pass_without_some_of_its_values() -> None:
    one = ObservationPass(("a", "b"), ("c",), ("d", "e"))
    assert one.without({"b", "c", "e"}) == ObservationPass(("a",), (), ("d",))
    assert one.names == ("a", "b", "c", "d", "e")
