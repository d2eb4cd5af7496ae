"""Cast placement beside exhaustive search on random small problems."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph import ir
from mpgraph.analysis import Traffic, modelled_bytes, place
from mpgraph.analysis.cost import Edge

F32, F16, BF16, F64 = (
    ir.DataType.FLOAT,
    ir.DataType.FLOAT16,
    ir.DataType.BFLOAT16,
    ir.DataType.DOUBLE,
)


@st.composite
def problems(draw, free, pinned, cells=7):
    """Traffic, starting labels and allowed dtypes of a few cells.

    ``free`` are the choices of a free cell, whose label is the first of them; ``pinned`` the dtypes
    of the others.
    """
    count = draw(st.integers(2, cells))
    cell = st.integers(0, count - 1)
    edge = st.builds(
        Edge,
        st.integers(0, 50),
        cell,
        st.lists(cell, min_size=1, max_size=4, unique=True).map(lambda found: tuple(sorted(found))),
    )
    choices = draw(
        st.lists(
            st.sampled_from([*free, *((dtype,) for dtype in pinned)]),
            min_size=count,
            max_size=count,
        )
    )
    traffic = Traffic(
        tuple(draw(st.lists(st.integers(0, 50), min_size=count, max_size=count))),
        tuple(draw(st.lists(edge, max_size=9))),
        draw(st.sampled_from([0, 40, 300])),
    )
    return traffic, [choice[0] for choice in choices], [frozenset(choice) for choice in choices]


def labellings(allowed):
    return product(*(sorted(choice) for choice in allowed))


def changes(labels, found):
    return sum(one != other for one, other in zip(labels, found, strict=True))


@settings(max_examples=250, deadline=None, derandomize=True)
@given(problems([(F32, F16)], [F32, F16, F64, BF16]))
def test_one_low_dtype_is_placed_as_well_as_exhaustive_search_can(problem):
    traffic, labels, allowed = problem
    found = place(traffic, labels, allowed)
    assert all(label in choice for label, choice in zip(found, allowed, strict=True))
    costs = {one: modelled_bytes(traffic, one) for one in labellings(allowed)}
    best = min(costs.values())
    assert modelled_bytes(traffic, found) == best
    fewest = min(changes(labels, one) for one, cost in costs.items() if cost == best)
    assert changes(labels, found) == fewest, "a tie keeps the current label"


@settings(max_examples=100, deadline=None, derandomize=True)
@given(problems([(F32, F16), (F32, BF16), (F32, F16, BF16)], [F32, F16, BF16], cells=6))
def test_several_low_dtypes_leave_no_better_expansion(problem):
    traffic, labels, allowed = problem
    found = place(traffic, labels, allowed)
    cost = modelled_bytes(traffic, found)
    assert all(label in choice for label, choice in zip(found, allowed, strict=True))
    assert cost <= modelled_bytes(traffic, labels)
    for low in (F16, BF16):
        moves = [
            {label, low} if low in choice else {label}
            for label, choice in zip(found, allowed, strict=True)
        ]
        assert cost <= min(modelled_bytes(traffic, one) for one in labellings(moves))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems([(F32, F16)], [F32, F16]))
def test_never_worse_than_only_the_pins_or_everything_low(problem):
    traffic, labels, allowed = problem
    cost = modelled_bytes(traffic, place(traffic, labels, allowed))
    all_low = [F16 if F16 in choice else F32 for choice in allowed]
    assert cost <= min(modelled_bytes(traffic, labels), modelled_bytes(traffic, all_low))


@pytest.mark.parametrize("low", [F16, BF16])
def test_what_is_pinned_stays(low):
    edges = tuple(Edge(10, cell, (cell + 1,)) for cell in range(3))
    traffic = Traffic((100,) * 4, edges, 0)
    assert place(traffic, [F32] * 4, [frozenset({F32})] * 4) == [F32] * 4
    mixed = [F32, low, F32, low]
    assert place(traffic, mixed, [frozenset({one}) for one in mixed]) == mixed


def test_a_cast_to_another_dtype_is_cheaper_behind_a_low_producer():
    """The pinned double consumer needs a cast either way: from float16 it reads half as much."""
    traffic = Traffic((0, 0), (Edge(1, 0, (1,)),), 0)
    allowed = [frozenset({F32, F16}), frozenset({F64})]
    assert place(traffic, [F32, F64], allowed) == [F16, F64]


def test_a_shared_cast_is_paid_once():
    """Three pinned consumers share one cast; a fourth, free, joins them rather than the producer."""
    edge = Edge(10, 0, (1, 2, 3, 4))
    traffic = Traffic((0, 0, 0, 0, 10), (edge,), 0)
    allowed = [frozenset({F32}), *[frozenset({F16})] * 3, frozenset({F32, F16})]
    labels = [F32, F16, F16, F16, F32]
    assert place(traffic, labels, allowed)[4] == F16
    assert modelled_bytes(traffic, [F32, F16, F16, F16, F16]) == 10 * (4 + 2) + 10 * 2


def test_an_expensive_kernel_keeps_a_small_node_wide():
    edges = (Edge(8, 0, (1,)), Edge(8, 1, (2,)))
    allowed = [frozenset({F32}), frozenset({F32, F16}), frozenset({F32})]
    cheap, dear = Traffic((0, 1000, 0), edges, 0), Traffic((0, 1000, 0), edges, 10_000)
    assert place(cheap, [F32] * 3, allowed) == [F32, F16, F32]
    assert place(dear, [F32] * 3, allowed) == [F32] * 3


def test_a_long_chain_of_free_cells_is_settled_at_once():
    count = 3000
    edges = tuple(Edge(4, cell, (cell + 1,)) for cell in range(count - 1))
    traffic = Traffic((8,) * count, edges, 16)
    allowed = [frozenset({F16}), *[frozenset({F32, F16})] * (count - 2), frozenset({F16})]
    labels = [F16, *[F32] * (count - 2), F16]
    assert set(place(traffic, labels, allowed)) == {F16}
