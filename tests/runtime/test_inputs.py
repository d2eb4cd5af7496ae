"""The data that a pass runs a model on."""

from __future__ import annotations

import numpy as np

from mpgraph import ir
from mpgraph.runtime import input_specs, load_data
from mpgraph.runtime.inputs import data_for
from tests.runtime.builders import build


def halved(model):
    """The model with a float16 input."""
    lowered = ir.clone(model)
    ir.set_dtype(lowered.graph.inputs[0], ir.DataType.FLOAT16)
    return lowered


def test_given_data_is_rounded_to_the_inputs_and_a_file_comes_first(tmp_path):
    model = build("g (float[2] x) => (float[2] y) { y = Relu (x) }")
    given = load_data([{"x": np.float32([1.0, 1 / 3])}], input_specs(model))
    (feed,) = data_for(halved(model), "", given)
    assert feed["x"].dtype == np.float16

    path = tmp_path / "one.npz"
    np.savez(path, x=np.float32([5.0, 6.0]))
    (feed,) = data_for(model, str(path), given)
    np.testing.assert_array_equal(feed["x"], [5.0, 6.0])
    assert data_for(model, "", None) is None
