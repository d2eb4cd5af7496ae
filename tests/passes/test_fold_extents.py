"""Extents that are known become constants; those that are not are computed as before."""

from __future__ import annotations

import numpy as np
import pytest

from mpgraph import ir
from mpgraph.runtime import create_session
from tests.pipelines import run
from tests.runtime.builders import build

HALVES = """g (float[n,6] x) => (float[n,3] y) {
    shape = Shape (x)
    width = Gather (shape, one)
    half = Div (width, two)
    y = Slice (x, zero, half, axis)
}"""
X = np.arange(12, dtype=np.float32).reshape(2, 6)


def halves(index=1):
    numbers = {"one": [index], "two": [2], "zero": [0], "axis": [1]}
    return build(HALVES, **{name: np.array(one, np.int64) for name, one in numbers.items()})


def operators(model):
    return [node.op_type for node in model.graph]


@pytest.mark.parametrize("index", [1, -1])
def test_a_known_extent_is_a_constant_beside_an_unknown_one(index):
    model = halves(index)
    assert run(model, "fold-extents")
    ir.verify_structure(model)
    ir.check_model(model)
    assert operators(model) == ["Div", "Slice"]
    (found,) = create_session(model).run(None, {"x": X})
    np.testing.assert_array_equal(found, X[:, :3])
    assert not run(model, "fold-extents")


def test_an_unknown_extent_stays_computed():
    model = halves(0)
    assert not run(model, "fold-extents")
    assert operators(model) == ["Shape", "Gather", "Div", "Slice"]


def test_a_shape_that_others_read_stays():
    model = build(
        """g (float[n,6] x) => (int64 w, int64[2] s) {
            s = Shape (x) width = Gather (s, one) w = Neg (width) }""",
        one=np.array(1, np.int64),
    )
    assert run(model, "fold-extents")
    assert operators(model) == ["Shape", "Neg"]
    width, shape = create_session(model).run(None, {"x": X})
    assert (int(width), shape.tolist()) == (-6, [2, 6])


def test_several_extents_of_which_one_is_unknown_stay():
    model = build(
        "g (float[n,6] x) => (int64[2] y) { s = Shape (x) g = Gather (s, both) y = Neg (g) }",
        both=np.array([0, 1], np.int64),
    )
    assert not run(model, "fold-extents")
