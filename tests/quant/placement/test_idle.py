"""Cells of a region that nothing which multiplies takes from."""

from __future__ import annotations

from mpgraph import ir
from mpgraph.analysis.cost import Edge
from mpgraph.quant.placement.idle import without_idle

FLOAT, NUMBERS = ir.DataType.FLOAT, ir.DataType.UINT8
FIXED = 1


def kept(quantized, *edges):
    """The cells from 2 to 6 that stay quantized."""
    labels = [FLOAT, NUMBERS, *(NUMBERS if cell in quantized else FLOAT for cell in range(2, 7))]
    found = without_idle(labels, [Edge(1, *edge) for edge in edges], NUMBERS, {FIXED})
    assert found[:2] == labels[:2]
    return {cell for cell in range(2, 7) if found[cell] == NUMBERS}


def test_a_chain_between_nodes_that_multiply_stays():
    assert kept({2, 3}, (FIXED, (2,)), (2, (3,)), (3, (FIXED,))) == {2, 3}


def test_a_chain_that_nothing_multiplies_becomes_float():
    assert kept({2, 3}, (0, (2,)), (2, (3,)), (3, (0,))) == set()


def test_one_end_is_enough_and_keeps_the_whole_part():
    assert kept({2, 3, 4}, (0, (2,)), (2, (3, 4)), (4, (FIXED,))) == {2, 3, 4}


def test_parts_are_judged_apart():
    assert kept({2, 3, 5}, (0, (2,)), (2, (3,)), (3, (FIXED,)), (0, (5,))) == {2, 3}


def test_a_float_cell_in_between_parts_them():
    assert kept({2, 4}, (FIXED, (2,)), (2, (3,)), (3, (4,)), (4, (0,))) == {2}


def test_siblings_that_read_one_value_hold_together():
    assert kept({2, 3}, (0, (2, 3)), (2, (FIXED,)), (3, (0,))) == {2, 3}
