"""Groups of neighbours, on nodes that are made up."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from mpgraph.quant import PlannedNode
from mpgraph.quant.sensitivity import neighbours


def nodes_of(counts, graph="main"):
    return [
        PlannedNode(f"{graph}#{place}", "", "Conv" if one else "Add", "", "int8", "static", one, "")
        for place, one in enumerate(counts)
    ]


def test_what_hands_numbers_on_belongs_to_the_product_before_it():
    nodes = nodes_of([True, False, False, True, True, False])
    assert neighbours(nodes, 64) == [(0, 1, 2), (3,), (4, 5)]


def test_groups_that_follow_each_other_are_joined_where_they_are_too_many():
    assert neighbours(nodes_of([True] * 7), 3) == [(0, 1, 2), (3, 4), (5, 6)]
    assert neighbours([], 3) == []


def test_nodes_of_two_graphs_are_never_together():
    nodes = [*nodes_of([True, False]), *nodes_of([False, True], "main/0/body")]
    assert neighbours(nodes, 64) == [(0, 1), (2,), (3,)]
    assert neighbours(nodes, 1) == [(0, 1), (2, 3)]


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 20))
@settings(max_examples=60)
def test_every_node_is_in_one_group_of_about_the_same_size(counts, most):
    groups = neighbours(nodes_of(counts), most)
    assert [place for group in groups for place in group] == list(range(len(counts)))
    assert len(groups) <= most
    products = [sum(counts[place] for place in group) for group in groups[1:]]
    assert all(abs(one - other) <= 1 for one, other in pairwise(products))
