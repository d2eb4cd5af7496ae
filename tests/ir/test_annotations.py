"""Notes in the metadata of nodes and values."""

from __future__ import annotations

import models
from mpgraph import ir


def first_node() -> ir.Node:
    return next(iter(ir.load(models.build("mlp")).graph))


def test_a_note_is_read_back_and_told_once() -> None:
    node = first_node()
    for place in (node, node.outputs[0]):
        assert ir.annotation(place) == ("", "")
        assert ir.note_dtype(place, ir.DataType.BFLOAT16) is True
        assert ir.note_dtype(place, ir.DataType.BFLOAT16) is False
        assert ir.annotation(place) == ("bfloat16", "")
    assert ir.note_reason(node, "asked for") is True
    assert ir.note_reason(node, "asked for") is False
    assert ir.annotation(node) == ("bfloat16", "asked for")


def test_an_unknown_dtype_takes_the_note_away() -> None:
    node = first_node()
    ir.note_dtype(node, ir.DataType.FLOAT16)
    ir.note_reason(node, "asked for")
    assert ir.note_dtype(node, None) is True
    assert ir.note_dtype(node, None) is False
    assert ir.annotation(node) == ("", "asked for")


def test_other_metadata_stays() -> None:
    node = first_node()
    node.metadata_props["namespace"] = "a/b"
    ir.stamp(node, "some-pass", "a rule")
    ir.note_dtype(node, ir.DataType.FLOAT16)
    assert ir.origin(node) == ("some-pass", "a rule")
    assert node.metadata_props["namespace"] == "a/b"
